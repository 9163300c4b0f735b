/* Boxes in images: those to keep of many, and what an image has in each. */
#include <string.h>

#include "graph/decompose/scatter.h"
#include "graph/import/onnx/onnx_op.h"
#include "graph/messages.h"

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

/* One number, which is 0 where it is left out. */
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

/* For each row the indices of the chosen boxes in order, padded with -1 to `most`. */
static Node *chosen_in_order(Build *b, Node *chosen, Dim most) {
  Dims *d = b->in.g->dims;
  Dim rows = chosen->type.shape[0], all = dim_mul(d, rows, most);
  Node *row = build_unsqueeze(b, build_arange(b, rows), 1);
  Node *index = build_with(b, OP_aten_mul_Tensor, row, arg_dim(most));
  index = build_add(b, index, build_to(b, chosen, DT_I64));
  Node *is_chosen = build_with(b, OP_aten_ge_Scalar, chosen, build_int(b, 0));
  index = build_where(b, is_chosen, arg_node(index), build_int(b, -1));
  Node *number = build_expand(b, build_arange(b, chosen->type.shape[1]), 2, chosen->type.shape);
  Node *none = build_full(b, 1, &all, build_int(b, -1), DT_I64);
  Arg how = {.kind = ARG_STRING, .name = "amax"};
  return build(b, OP_nereid_scatter_default,
               ARGS(arg_node(none), arg_node(index), arg_node(number), how));
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
  onnx_set(c, 0, named_boxes(b, chosen_in_order(b, chosen, most), most, classes));
}

/* ---- RoiAlign ---- */

/* Along one axis of the image, for each sample: the two elements that it is between, and the weight
 * of each.  Samples are [boxes, out, samples]. */
typedef struct {
  Node *at[2], *weight[2];
} Samples;

/* A sample more than one element beyond the image counts nothing. */
static Samples interpolate_between(Build *b, Node *index, Dim size) {
  Dims *d = b->in.g->dims;
  Dim last = dim_sub(d, size, build_const(b, 1));
  Node *near = build_op2(b, OP_aten_logical_and_default,
                         build_with(b, OP_aten_ge_Scalar, index, arg_float(-1)),
                         build_with(b, OP_aten_le_Scalar, index, arg_dim(size)));
  index = build(b, OP_aten_clamp_default, ARGS(arg_node(index), arg_float(0), arg_dim(last)));
  Node *low = build_op1(b, OP_aten_floor_default, index), *part = build_sub(b, index, low);
  Samples s = {.weight = {build_with(b, OP_aten_rsub_Scalar, part, arg_float(1)), part}};
  s.at[0] = build_to(b, low, DT_I64);
  Node *next = build_with(b, OP_aten_add_Tensor, s.at[0], build_int(b, 1));
  s.at[1] = build_with(b, OP_aten_clamp_max_default, next, arg_dim(last));
  for (int i = 0; i < 2; i++)
    s.weight[i] = build_where(b, near, arg_node(s.weight[i]), arg_float(0));
  return s;
}

/* The samples along an axis whose coordinates in a box are columns `begin` and begin + 2. */
static Samples samples_of(OnnxCall *c, Node *rois, uint32_t begin, Dim size, int64_t out,
                          int64_t count) {
  Build *b = &c->b;
  double scale = onnx_float(c, "spatial_scale", 1);
  static const char *const names[] = {"half_pixel", "output_half_pixel"};
  Name mode = onnx_string(c, "coordinate_transformation_mode", names[c->opset < 16]);
  bool half = !strcmp(mode, names[0]);
  if (!half && strcmp(mode, names[1]))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "coordinate_transformation_mode", mode);
  Node *end[2];
  for (uint32_t i = 0; i < 2; i++) {
    end[i] = build_select(b, rois, 1, build_const(b, begin + 2 * i));
    end[i] = build_with(b, OP_aten_mul_Tensor, end[i], arg_float(scale));
    if (half) end[i] = build_with(b, OP_aten_sub_Tensor, end[i], arg_float(0.5));
  }
  Node *extent = build_sub(b, end[1], end[0]);
  if (!half) extent = build_with(b, OP_aten_clamp_min_default, extent, arg_float(1));
  /* Positions of the samples in a box, as parts of its extent. */
  Dim all = build_const(b, out * count), shape[] = {build_const(b, out), build_const(b, count)};
  Node *part = build_to(b, build_arange(b, all), rois->type.dtype);
  part = build_with(b, OP_aten_add_Tensor, part, arg_float(0.5));
  part = build_with(b, OP_aten_div_Tensor, part, arg_float((double)(out * count)));
  part = build_view(b, part, 2, shape);
  Node *index = build_mul(b, build_along(b, extent, 0, 3), part);
  return interpolate_between(b, build_add(b, index, build_along(b, end[0], 0, 3)), size);
}

/* x, of [boxes, out, samples], as it broadcasts to [boxes, rows, samples, columns, samples]. */
static Node *expand_boxes(Build *b, Node *x, bool columns) {
  for (int i = 0; i < 2; i++) x = build_unsqueeze(b, x, columns ? 1 : rank_of(x));
  return x;
}

/* The elements at corner (i, j) of each sample, times their weights: [..., channels]. */
static Node *corner(Build *b, Node *x, Node *batch, const Samples *rows, const Samples *columns,
                    int i, int j) {
  Arg list = arg_list(b->in.g, 4);
  list.items[0] = arg_node(build_along(b, batch, 0, 5));
  list.items[1] = arg_none();
  list.items[2] = arg_node(expand_boxes(b, rows->at[i], false));
  list.items[3] = arg_node(expand_boxes(b, columns->at[j], true));
  Node *weight = build_mul(b, expand_boxes(b, rows->weight[i], false),
                           expand_boxes(b, columns->weight[j], true));
  return build_mul(b, build_with(b, OP_aten_index_Tensor, x, list), build_unsqueeze(b, weight, 5));
}

/* ONNX's maximum is that of the four weighted elements of each sample. */
static Node *pooled(OnnxCall *c, Node *const *corners) {
  Build *b = &c->b;
  enum { SAMPLES = 1 << 2 | 1 << 4 };
  Name mode = onnx_string(c, "mode", "avg");
  bool max = !strcmp(mode, "max");
  if (!max && strcmp(mode, "avg")) onnx_fail(c, E_ONNX_ATTR_VALUE, "mode", mode);
  Node *y = corners[0];
  for (int i = 1; i < 4; i++)
    y = max ? build_op2(b, OP_aten_maximum_default, y, corners[i]) : build_add(b, y, corners[i]);
  return max ? build_reduce(b, OP_aten_amax_default, y, SAMPLES, false)
             : build_mean(b, y, SAMPLES, false);
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
  Samples rows = samples_of(c, rois, 1, x->type.shape[2], height, count);
  Samples columns = samples_of(c, rois, 0, x->type.shape[3], width, count);
  Node *corners[4];
  for (int i = 0; i < 4; i++) corners[i] = corner(b, x, batch, &rows, &columns, i / 2, i % 2);
  onnx_set(c, 0, build_permute(b, pooled(c, corners), (uint32_t[]){0, 3, 1, 2}));
}
