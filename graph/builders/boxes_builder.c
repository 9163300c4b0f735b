#include "graph/builders/boxes_builder.h"

#include "graph/messages.h"

Node *build_chosen_boxes(Build *b, Node *chosen, Dim most) {
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

/* ---- elements of an image in boxes ---- */

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
static Samples samples_of(Build *b, Node *rois, uint32_t begin, Dim size, int64_t out,
                          const RoiAlign *r) {
  int64_t count = r->count;
  Node *end[2];
  for (uint32_t i = 0; i < 2; i++) {
    end[i] = build_select(b, rois, 1, build_const(b, begin + 2 * i));
    end[i] = build_with(b, OP_aten_mul_Tensor, end[i], arg_float(r->scale));
    if (r->half) end[i] = build_with(b, OP_aten_sub_Tensor, end[i], arg_float(0.5));
  }
  Node *extent = build_sub(b, end[1], end[0]);
  if (!r->half) extent = build_with(b, OP_aten_clamp_min_default, extent, arg_float(1));
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

/* The maximum is that of the four weighted elements of each sample. */
static Node *pooled(Build *b, Node *const *corners, bool max) {
  enum { SAMPLES = 1 << 2 | 1 << 4 };
  Node *y = corners[0];
  for (int i = 1; i < 4; i++)
    y = max ? build_op2(b, OP_aten_maximum_default, y, corners[i]) : build_add(b, y, corners[i]);
  return max ? build_reduce(b, OP_aten_amax_default, y, SAMPLES, false)
             : build_mean(b, y, SAMPLES, false);
}

Node *build_roi_align(Build *b, Node *x, Node *boxes, Node *batch, const RoiAlign *r) {
  Samples rows = samples_of(b, boxes, 1, x->type.shape[2], r->height, r);
  Samples columns = samples_of(b, boxes, 0, x->type.shape[3], r->width, r);
  Node *corners[4];
  for (int i = 0; i < 4; i++) corners[i] = corner(b, x, batch, &rows, &columns, i / 2, i % 2);
  return build_permute(b, pooled(b, corners, r->max), (uint32_t[]){0, 3, 1, 2});
}

/* ---- deformable convolution ---- */

/* Positions along an axis of the image, [batch, offset groups, kernel, rows, columns]. */
static Node *deformed(Build *b, Node *offset, int axis, int64_t extent, const DeformConv *d,
                      Node *window) {
  uint32_t along = 3 + (uint32_t)axis;
  Node *out = build_to(b, build_arange(b, offset->type.shape[along]), offset->type.dtype);
  out = build_with(b, OP_aten_mul_Tensor, out, arg_float((double)d->stride[axis]));
  out = build_with(b, OP_aten_sub_Tensor, out, arg_float((double)d->pad[axis]));
  /* The element of the window, from its number. */
  Node *element = axis ? build_with(b, OP_aten_remainder_Scalar, window, build_int(b, extent))
                       : build_with(b, OP_aten_floor_divide_default, window, build_int(b, extent));
  element = build_to(b, element, offset->type.dtype);
  element = build_with(b, OP_aten_mul_Tensor, element, arg_float((double)d->dilation[axis]));
  Node *at = build_add(b, offset, build_along(b, out, along, 5));
  return build_add(b, at, build_along(b, element, 2, 5));
}

/* The two elements that a position is between, their weights, 0 for those beyond the image. */
static Samples neighbours(Build *b, Node *at, Dim size) {
  Dim last = dim_sub(build_dims(b), size, build_const(b, 1));
  Node *low = build_op1(b, OP_aten_floor_default, at), *part = build_sub(b, at, low);
  Samples s = {.weight = {build_with(b, OP_aten_rsub_Scalar, part, arg_float(1)), part}};
  for (int i = 0; i < 2; i++) {
    Node *index = build_with(b, OP_aten_add_Tensor, low, arg_float(i));
    Node *inside = build_op2(b, OP_aten_logical_and_default,
                             build_with(b, OP_aten_ge_Scalar, index, arg_float(0)),
                             build_with(b, OP_aten_le_Scalar, index, arg_dim(last)));
    index = build(b, OP_aten_clamp_default, ARGS(arg_node(index), arg_float(0), arg_dim(last)));
    s.at[i] = build_to(b, index, DT_I64);
    s.weight[i] = build_where(b, inside, arg_node(s.weight[i]), arg_float(0));
  }
  return s;
}

/* [batch, offset groups, kernel, rows, columns, channels of a group]. */
static Node *sampled(Build *b, Node *x, const Samples *rows, const Samples *columns) {
  Node *sum = NULL;
  Arg list = arg_list(b->in.g, 5);
  list.items[0] = arg_node(build_along(b, build_arange(b, x->type.shape[0]), 0, 5));
  list.items[1] = arg_node(build_along(b, build_arange(b, x->type.shape[1]), 1, 5));
  list.items[2] = arg_none();
  for (int i = 0; i < 4; i++) {
    Arg at = arg_list(b->in.g, 5);
    for (int k = 0; k < 3; k++) at.items[k] = list.items[k];
    at.items[3] = arg_node(rows->at[i / 2]);
    at.items[4] = arg_node(columns->at[i % 2]);
    Node *weight = build_mul(b, rows->weight[i / 2], columns->weight[i % 2]);
    Node *y = build_with(b, OP_aten_index_Tensor, x, at);
    y = build_mul(b, y, build_unsqueeze(b, weight, 5));
    sum = sum ? build_add(b, sum, y) : y;
  }
  return sum;
}

/* Axis 1 in `groups` groups of `within` elements, and these of two parts or one. */
static Node *cut_offsets(Build *b, Node *x, int64_t groups, int64_t kernel, int64_t parts) {
  Dim shape[] = {x->type.shape[0],      build_const(b, groups), build_const(b, kernel),
                 build_const(b, parts), x->type.shape[2],       x->type.shape[3]};
  return build_view(b, x, 6, shape);
}

static int64_t fixed_size(Build *b, Dim x) {
  if (!dim_is_int(x)) infer_fail(&b->in, E_GRAPH_LITERAL, "weight", infer_dim_text(&b->in, x));
  return x->value;
}

Node *build_deform_conv(Build *b, Node *x, Node *weight, Node *offset, Node *mask, Node *bias,
                        const DeformConv *d) {
  Dims *dims = build_dims(b);
  const Dim *w = weight->type.shape, *size = x->type.shape;
  DType t = x->type.dtype;
  int64_t height = fixed_size(b, w[2]), width = fixed_size(b, w[3]), kernel = height * width;
  int64_t channels = fixed_size(b, size[1]), out = fixed_size(b, w[0]);
  infer_rank(&b->in, &offset->type, 4, 4);
  if (d->offset_groups < 1 || channels % d->offset_groups || d->groups < 1 || out % d->groups ||
      fixed_size(b, w[1]) * d->groups != channels)
    infer_fail(&b->in, E_GRAPH_DEFORM, (long long)d->groups, (long long)d->offset_groups,
               (long long)channels);
  Dim rows = offset->type.shape[2], columns = offset->type.shape[3];
  Node *window = build_arange(b, build_const(b, kernel));
  offset = cut_offsets(b, build_widen(b, offset), d->offset_groups, kernel, 2);
  Node *at[2];
  for (int i = 0; i < 2; i++) {
    Node *part = build_select(b, offset, 3, build_const(b, i));
    at[i] = deformed(b, part, i, width, d, window);
  }
  Samples s[] = {neighbours(b, at[0], size[2]), neighbours(b, at[1], size[3])};
  Dim cut[] = {size[0], build_const(b, d->offset_groups),
               build_const(b, channels / d->offset_groups), size[2], size[3]};
  Node *y = sampled(b, build_view(b, build_widen(b, x), 5, cut), &s[0], &s[1]);
  if (mask) {
    mask = cut_offsets(b, build_widen(b, mask), d->offset_groups, kernel, 1);
    y = build_mul(b, y, build_permute(b, mask, (uint32_t[]){0, 1, 2, 4, 5, 3}));
  }
  /* [batch, groups, rows * columns, channels of a group * kernel] */
  y = build_permute(b, y, (uint32_t[]){0, 1, 5, 2, 3, 4});
  Dim places = dim_mul(dims, rows, columns), grouped = build_const(b, d->groups);
  Dim inner = build_const(b, channels / d->groups * kernel);
  y = build(b, OP_aten_reshape_default,
            ARGS(arg_node(y), arg_dims(b->in.g, 4, (Dim[]){size[0], grouped, inner, places})));
  Node *wide = build_widen(b, weight);
  Dim each = build_const(b, out / d->groups);
  wide = build(b, OP_aten_reshape_default,
               ARGS(arg_node(wide), arg_dims(b->in.g, 3, (Dim[]){grouped, each, inner})));
  y = build_op2(b, OP_aten_matmul_default, wide, y);
  y = build(b, OP_aten_reshape_default,
            ARGS(arg_node(y), arg_dims(b->in.g, 4, (Dim[]){size[0], w[0], rows, columns})));
  if (bias) y = build_add(b, y, build_along(b, build_widen(b, bias), 1, 4));
  return build_to(b, y, t);
}
