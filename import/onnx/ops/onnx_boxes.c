/* Boxes in images: those to keep of many, and what an image has in each. */
#include <math.h>
#include <string.h>

#include "graph/builders/boxes_builder.h"
#include "import/messages.h"
#include "import/onnx/onnx_op.h"
#include "import/onnx/ops/onnx_shared.h"

/* ---- NonMaxSuppression ---- */

/* [lower corner, upper corner], in the order of axes that the model has, of the boxes along the
 * last axis: two corners in any order, or a center and sizes. */
static Node *corners_of(OnnxCall *c, Node *boxes) {
  Build *b = &c->b;
  uint32_t last = rank_of(boxes) - 1;
  Dim zero = build_const(b, 0), two = build_const(b, 2), four = build_const(b, 4);
  Node *first = build_slice(b, boxes, last, zero, two, 1);
  Node *second = build_slice(b, boxes, last, two, four, 1);
  Node *ends[] = {first, second};
  if (onnx_flag(c, "center_point_box", false)) {
    Node *half = build_with(b, OP_aten_mul_Tensor, second, arg_float(0.5));
    ends[0] = build_sub(b, first, half);
    ends[1] = build_add(b, first, half);
  } else {
    ends[0] = build_op2(b, OP_aten_minimum_default, first, second);
    ends[1] = build_op2(b, OP_aten_maximum_default, first, second);
  }
  return build_cat(b, 2, ends, last);
}

/* A number, which defaults to 0. */
static Node *threshold_of(OnnxCall *c, uint32_t i, DType t) {
  if (!onnx_has(c, i)) return onnx_scalar(c, 0, t);
  return build_to(&c->b, build_view(&c->b, onnx_in(c, i), 0, NULL), t);
}

/* -1 for boxes that may be chosen, for each of `rows` rows. */
static Node *candidates(OnnxCall *c, Node *scores) {
  Build *b = &c->b;
  Node *waits = onnx_scalar(c, -1, DT_I32), *out = onnx_scalar(c, -2, DT_I32);
  if (!onnx_has(c, 4)) return build_full(b, 2, scores->type.shape, build_int(b, -1), DT_I32);
  Node *least = threshold_of(c, 4, scores->type.dtype);
  Node *high = build_op2(b, OP_aten_gt_Tensor, scores, least);
  return build_where(b, high, arg_node(waits), arg_node(out));
}

/* [batch, class, box] for each of the elements that hold the number of a box. */
static Node *named_boxes(Build *b, Node *boxes, Dim most, Dim classes) {
  Node *full = build_with(b, OP_aten_ge_Scalar, boxes, build_int(b, 0));
  Node *index = build_select(b, build_op1(b, OP_aten_nonzero_default, full), 1, build_const(b, 0));
  Arg args[] = {arg_node(boxes), build_int(b, 0), arg_node(index)};
  Node *row = build_with(b, OP_aten_floor_divide_default, index, arg_dim(most));
  Node *columns[] = {build_with(b, OP_aten_floor_divide_default, row, arg_dim(classes)),
                     build_with(b, OP_aten_remainder_Tensor, row, arg_dim(classes)),
                     build(b, OP_aten_index_select_default, 3, args)};
  for (int i = 0; i < 3; i++) columns[i] = build_unsqueeze(b, columns[i], 1);
  return build_cat(b, 3, columns, 1);
}

/* Scores are [batch, class, box]. */
void onnx_op_non_max_suppression(OnnxCall *c) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *boxes = onnx_in(c, 0), *scores = onnx_in(c, 1);
  infer_rank(&b->in, &boxes->type, 3, 3);
  infer_rank(&b->in, &scores->type, 3, 3);
  Dim zero = build_const(b, 0), none[] = {zero, build_const(b, 3)};
  Dim batches = scores->type.shape[0], classes = scores->type.shape[1], n = scores->type.shape[2];
  Dim most = onnx_has(c, 2) ? dim_max(d, zero, dim_min(d, onnx_need_dim(c, 2), n)) : zero;
  Dim rows[] = {dim_mul(d, batches, classes), n};
  Node *corners = corners_of(c, boxes);
  if (dim_is(most, 0) || dim_is(rows[0], 0)) {
    onnx_set(c, 0, build_full(b, 2, none, build_int(b, 0), DT_I64));
    return;
  }
  scores = build_view(b, scores, 2, rows);
  Node *batch =
      build_with(b, OP_aten_floor_divide_default, build_arange(b, rows[0]), arg_dim(classes));
  Node *chosen = build(
      b, OP_nereid_suppress_default,
      ARGS(arg_node(candidates(c, scores)), arg_node(batch), arg_node(scores), arg_node(corners),
           arg_node(threshold_of(c, 3, scores->type.dtype)), arg_dim(most)));
  onnx_set(c, 0, named_boxes(b, build_chosen_boxes(b, chosen, most), most, classes));
}

/* ---- RoiAlign ---- */

static bool is_one_of(OnnxCall *c, const char *attribute, Name word, const char *yes,
                      const char *no) {
  bool found = !strcmp(word, yes);
  if (!found && strcmp(word, no)) onnx_fail(c, E_ONNX_ATTR_VALUE, attribute, word);
  return found;
}

void onnx_op_roi_align(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *rois = onnx_in(c, 1), *batch = build_to(b, onnx_in(c, 2), DT_I64);
  infer_rank(&b->in, &x->type, 4, 4);
  int64_t count = onnx_int(c, "sampling_ratio", 0);
  if (count <= 0) onnx_lack(c, "as many samples as a box is large (sampling_ratio 0)");
  int64_t height = onnx_int(c, "output_height", 1), width = onnx_int(c, "output_width", 1);
  if (count > INT32_MAX || height > INT32_MAX || width > INT32_MAX)
    onnx_lack(c, "more than 2^31 samples");
  if (height < 0 || width < 0)
    onnx_fail(c, E_ONNX_NEGATIVE, (long long)(height < width ? height : width));
  const char *half = "half_pixel", *no_half = "output_half_pixel";
  Name place = onnx_string(c, "coordinate_transformation_mode", c->opset < 16 ? no_half : half);
  RoiAlign r = {.scale = onnx_float(c, "spatial_scale", 1),
                .half = is_one_of(c, "coordinate_transformation_mode", place, half, no_half),
                .max = is_one_of(c, "mode", onnx_string(c, "mode", "avg"), "max", "avg"),
                .height = height,
                .width = width,
                .count = count};
  onnx_set(c, 0, build_roi_align(b, x, rois, batch, &r));
}

/* ---- MaxRoiPool ---- */

/* Which of `size` places each of n parts of [from, to] has: [boxes, n, size]. */
static Node *places_of_parts(Build *b, Node *from, Node *to, int64_t n, Dim size) {
  Node *one = build_full(b, 0, NULL, arg_float(1), DT_F32);
  Node *all = build_add(b, build_sub(b, to, from), one);
  Node *step = build_with(b, OP_aten_div_Tensor, build_op2(b, OP_aten_maximum_default, all, one),
                          arg_float((double)n));
  Node *part = build_to(b, build_arange(b, build_const(b, n)), DT_F32);
  step = build_unsqueeze(b, step, 1);
  from = build_unsqueeze(b, from, 1);
  Node *begin = build_op1(b, OP_aten_floor_default, build_mul(b, part, step));
  Node *end = build_op1(b, OP_aten_ceil_default,
                        build_mul(b, build_add(b, part, one), step));
  Node *at = build_to(b, build_arange(b, size), DT_F32);
  begin = build_unsqueeze(b, build_add(b, begin, from), 2);
  end = build_unsqueeze(b, build_add(b, end, from), 2);
  return build_and(b, build_op2(b, OP_aten_ge_Tensor, at, begin),
                   build_op2(b, OP_aten_lt_Tensor, at, end));
}

/* The largest of x[boxes, C, ..., size] among the places of each part, along the last axis, which
 * goes to the third. */
static Node *largest_of_parts(Build *b, Node *x, Node *places) {
  Node *p = build_unsqueeze(b, build_unsqueeze(b, places, 1), 3);
  x = build_where(b, p, arg_node(build_unsqueeze(b, x, 2)), arg_float(-INFINITY));
  return build_reduce(b, OP_aten_amax_default, x, 1u << 4, false);
}

/* Has a part any places?  [boxes, n]. */
static Node *has_places(Build *b, Node *places) {
  return build_with(b, OP_aten_any_dim, places, build_int(b, 2));
}

/* Corners are rounded away from 0 where they are between two numbers. */
static Node *corner_of(OnnxCall *c, Node *rois, uint32_t i) {
  Build *b = &c->b;
  Node *x = build_to(b, build_select(b, rois, 1, build_const(b, i)), DT_F32);
  x = build_with(b, OP_aten_mul_Tensor, x, arg_float(onnx_float(c, "spatial_scale", 1)));
  Node *size = build_with(b, OP_aten_add_Tensor, build_op1(b, OP_aten_abs_default, x),
                          arg_float(0.5));
  return build_mul(b, build_op1(b, OP_aten_sign_default, x),
                   build_op1(b, OP_aten_floor_default, size));
}

/* A row of rois is the number of an image and two corners; parts without elements give 0, and those
 * without numbers above it the least finite one, as of ONNX Runtime and torchvision. */
void onnx_op_max_roi_pool(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *rois = onnx_in(c, 1);
  int64_t parts[2];
  if (!onnx_has_attr(c, "pooled_shape")) onnx_fail(c, E_ONNX_ATTR_MISSING, "pooled_shape");
  onnx_ints_of(c, "pooled_shape", 2, 1, parts);
  infer_rank(&b->in, &x->type, 4, 4);
  infer_rank(&b->in, &rois->type, 2, 2);
  if (parts[0] < 1 || parts[1] < 1 || parts[0] > INT32_MAX || parts[1] > INT32_MAX)
    onnx_lack(c, "pooled_shape %lld", (long long)parts[0]);
  DType t = x->type.dtype;
  Node *image = build_to(b, build_select(b, rois, 1, build_const(b, 0)), DT_I64);
  Node *high = places_of_parts(b, corner_of(c, rois, 2), corner_of(c, rois, 4), parts[0],
                               x->type.shape[2]);
  Node *wide = places_of_parts(b, corner_of(c, rois, 1), corner_of(c, rois, 3), parts[1],
                               x->type.shape[3]);
  Arg list = arg_list(b->in.g, 1), least = arg_float(-dtype_largest_finite(t));
  list.items[0] = arg_node(image);
  x = build_where(b, build_with(b, OP_aten_gt_Scalar, x, least), arg_node(x), least);
  x = build_with(b, OP_aten_index_Tensor, x, list);
  x = largest_of_parts(b, x, wide);
  x = largest_of_parts(b, x, high); /* [boxes, C, height, width] */
  Node *some = build_and(b, build_unsqueeze(b, has_places(b, high), 2),
                         build_unsqueeze(b, has_places(b, wide), 1));
  some = build_unsqueeze(b, some, 1);
  onnx_set(c, 0, build_to(b, build_where(b, some, arg_node(x), arg_float(0)), t));
}

/* ---- CropAndResize ---- */

/* Where `count` samples from a corner to the other are, of each box: [boxes, count]. */
static Node *samples_between(OnnxCall *c, Node *rois, uint32_t axis, Dim size, int64_t count) {
  Build *b = &c->b;
  Arg most = arg_dim(dim_sub(onnx_dims(c), size, build_const(b, 1)));
  Node *from = build_slice(b, rois, 1, build_const(b, axis), build_const(b, axis + 1), 1);
  Node *to = build_slice(b, rois, 1, build_const(b, axis + 2), build_const(b, axis + 3), 1);
  if (count == 1) {
    Node *both = build_to(b, build_add(b, from, to), DT_F64);
    both = build_with(b, OP_aten_mul_Tensor, both, arg_float(0.5));
    return build_to(b, build_with(b, OP_aten_mul_Tensor, both, most), DT_F32);
  }
  Node *step = build_with(b, OP_aten_mul_Tensor, build_sub(b, to, from), most);
  step = build_with(b, OP_aten_div_Tensor, step, build_int(b, count - 1));
  Node *i = build_arange(b, build_const(b, count));
  Node *first = build_with(b, OP_aten_mul_Tensor, from, most);
  Node *x = build_add(b, first, build_mul(b, build_to(b, i, DT_F32), step));
  Node *is_last = build_with(b, OP_aten_eq_Scalar, i, build_int(b, count - 1));
  Node *last = build_with(b, OP_aten_mul_Tensor, to, most);
  return build_where(b, is_last, arg_node(last), arg_node(x));
}

/* An axis of the crops: samples, the pixels before and after them, the part of the second, and
 * which samples are in the image; a nearest pixel is the first of both. */
typedef struct {
  Node *low, *high, *part, *inside;
} Samples;

static Node *pixel(OnnxCall *c, Node *x, Dim size) {
  Build *b = &c->b;
  Arg last = arg_dim(dim_sub(onnx_dims(c), size, build_const(b, 1)));
  x = build_to(b, x, DT_I64);
  return build(b, OP_aten_clamp_default, ARGS(arg_node(x), build_int(b, 0), last));
}

static Samples samples_of(OnnxCall *c, Node *rois, uint32_t axis, Dim size, int64_t count,
                          bool nearest) {
  Build *b = &c->b;
  Node *x = samples_between(c, rois, axis, size, count);
  Arg last = arg_dim(dim_sub(onnx_dims(c), size, build_const(b, 1)));
  Node *inside = build_and(b, build_with(b, OP_aten_ge_Scalar, x, build_int(b, 0)),
                           build_with(b, OP_aten_le_Scalar, x, last));
  x = build_where(b, inside, arg_node(x), arg_float(0)); /* also where it is no number */
  Node *low = build_op1(b, OP_aten_floor_default, x), *part = build_sub(b, x, low);
  Node *up = build_with(b, OP_aten_ge_Scalar, part, arg_float(0.5));
  if (nearest) low = build_add(b, low, build_to(b, up, DT_F32));
  return (Samples){pixel(c, low, size), pixel(c, build_op1(b, OP_aten_ceil_default, x), size),
                   part, inside};
}

/* x[image, y, x] of all channels, which come last: [boxes, height, width, C]. */
static Node *pixels_at(Build *b, Node *x, Node *image, Node *high, Node *wide) {
  Arg list = arg_list(b->in.g, 3);
  list.items[0] = arg_node(build_unsqueeze(b, build_unsqueeze(b, image, 1), 2));
  list.items[1] = arg_node(build_unsqueeze(b, high, 2));
  list.items[2] = arg_node(build_unsqueeze(b, wide, 1));
  return build_with(b, OP_aten_index_Tensor, x, list);
}

static Node *between(Build *b, Node *x, Node *y, Node *part) {
  return build_add(b, x, build_mul(b, build_sub(b, y, x), part));
}

void onnx_op_crop_and_resize(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *rois = onnx_in(c, 1), *image = build_to(b, onnx_in(c, 2), DT_I64);
  int64_t crop[GRAPH_RANK_MAX];
  infer_rank(&b->in, &x->type, 4, 4);
  infer_rank(&b->in, &rois->type, 2, 2);
  bool nearest =
      is_one_of(c, "mode", onnx_string(c, "mode", "bilinear"), "nearest", "bilinear");
  if (onnx_need_ints(c, 3, crop) != 2 || crop[0] < 1 || crop[1] < 1 || crop[0] > INT32_MAX ||
      crop[1] > INT32_MAX)
    onnx_lack(c, "a crop_size that is not two positive numbers");
  Samples y = samples_of(c, rois, 0, x->type.shape[2], crop[0], nearest);
  Samples z = samples_of(c, rois, 1, x->type.shape[3], crop[1], nearest);
  x = build_permute(b, x, (uint32_t[]){0, 2, 3, 1});
  Node *crops = pixels_at(b, x, image, y.low, z.low);
  if (!nearest) {
    Node *wide = build_unsqueeze(b, build_unsqueeze(b, z.part, 1), 3);
    Node *high = build_unsqueeze(b, build_unsqueeze(b, y.part, 2), 3);
    crops = between(b, crops, pixels_at(b, x, image, y.low, z.high), wide);
    Node *below = between(b, pixels_at(b, x, image, y.high, z.low),
                          pixels_at(b, x, image, y.high, z.high), wide);
    crops = between(b, crops, below, high);
  }
  Node *inside = build_and(b, build_unsqueeze(b, y.inside, 2), build_unsqueeze(b, z.inside, 1));
  crops = build_where(b, build_unsqueeze(b, inside, 3), arg_node(crops),
                      arg_float(onnx_float(c, "extrapolation_value", 0)));
  onnx_set(c, 0, build_permute(b, crops, (uint32_t[]){0, 3, 1, 2}));
}

/* ---- DeformConv ---- */

void onnx_op_deform_conv(OnnxCall *c) {
  Node *x = onnx_in(c, 0), *weight = onnx_in(c, 1), *offset = onnx_in(c, 2);
  DeformConv d = {.groups = onnx_int(c, "group", 1),
                  .offset_groups = onnx_int(c, "offset_group", 1)};
  if (rank_of(x) != 4 || rank_of(weight) != 4) onnx_lack(c, "other than two axes");
  OnnxWindow w = onnx_window(c, x, weight->type.shape + 2);
  bool even = onnx_window_is_even(&w);
  /* Samples outside of x are 0, as those in its padding are. */
  if (!even) x = onnx_window_pad(c, &w, x, build_int(&c->b, 0), false);
  for (int i = 0; i < 2; i++) {
    d.stride[i] = w.stride[i];
    d.dilation[i] = w.dilation[i];
    d.pad[i] = even ? w.before[i] : 0;
  }
  onnx_set(
      c, 0,
      build_deform_conv(&c->b, x, weight, offset, onnx_optional(c, 4), onnx_optional(c, 3), &d));
}
