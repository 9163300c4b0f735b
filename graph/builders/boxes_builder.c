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
  Node *inside[2]; /* of deformable convolutions: 1 for elements of the image, and 0 */
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

/* ---- gradients of elements in boxes: each sample adds to the four that it is between ---- */

/* Adds `parts`, [..., channels], to the elements of an image whose elements are rows,
 * [elements, channels], that `places` [...] names. */
static Node *added_to_image(Build *b, Node *image, Node *places, Node *parts) {
  Dim all = value_numel(b->in.g, &places->type), shape[] = {all, image->type.shape[1]};
  places = build(b, OP_aten_reshape_default,
                 ARGS(arg_node(places), arg_dims(b->in.g, 1, &all)));
  parts = build(b, OP_aten_reshape_default,
                ARGS(arg_node(parts), arg_dims(b->in.g, 2, shape)));
  return build(b, OP_aten_index_add_default,
               ARGS(arg_node(image), build_int(b, 0), arg_node(places), arg_node(parts)));
}

/* The number of an element among those of all images. */
static Node *place_of(Build *b, Node *batch, Node *row, Node *column, const Dim *shape) {
  Node *place = build_add(b, build_mul_dim(b, batch, shape[2]), row);
  return build_add(b, build_mul_dim(b, place, shape[3]), column);
}

/* [batch * rows * columns, channels] as [batch, channels, rows, columns]. */
static Node *as_images(Build *b, Node *flat, const Dim *shape) {
  Dim last[] = {shape[0], shape[2], shape[3], shape[1]};
  return build_permute(b, build_view(b, flat, 4, last), (uint32_t[]){0, 3, 1, 2});
}

static Node *no_gradient(Build *b, const Dim *shape, DType t) {
  Dim elements = dim_mul(build_dims(b), shape[0], dim_mul(build_dims(b), shape[2], shape[3]));
  return build_full(b, 2, (Dim[]){elements, shape[1]}, build_int(b, 0), t);
}

Node *build_roi_align_gradient(Build *b, Node *grad, Node *boxes, Node *batch, const Dim *shape,
                               const RoiAlign *r) {
  Samples rows = samples_of(b, boxes, 1, shape[2], r->height, r);
  Samples columns = samples_of(b, boxes, 0, shape[3], r->width, r);
  Node *sum = no_gradient(b, shape, grad->type.dtype);
  grad = build_permute(b, grad, (uint32_t[]){0, 2, 3, 1});
  grad = build_unsqueeze(b, build_unsqueeze(b, grad, 3), 2);
  grad = build_with(b, OP_aten_div_Tensor, grad, arg_float((double)(r->count * r->count)));
  for (int i = 0; i < 4; i++) {
    Node *row = expand_boxes(b, rows.at[i / 2], false);
    Node *column = expand_boxes(b, columns.at[i % 2], true);
    Node *weight = build_mul(b, expand_boxes(b, rows.weight[i / 2], false),
                             expand_boxes(b, columns.weight[i % 2], true));
    Node *places = place_of(b, build_along(b, batch, 0, 5), row, column, shape);
    sum = added_to_image(b, sum, places, build_mul(b, grad, build_unsqueeze(b, weight, 5)));
  }
  return as_images(b, sum, shape);
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
    s.inside[i] = build_to(b, inside, at->type.dtype);
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

/* The operands of a convolution and its gradients: x cut into groups of offsets, and the places of
 * its samples. */
typedef struct {
  int64_t kernel, channels, out;
  Dim rows, columns;
  Node *x;             /* [batch, offset groups, channels of a group, rows, columns] */
  Node *mask;          /* [batch, offset groups, kernel, rows, columns, 1]; NULL: none */
  Samples at[2];       /* along rows and columns */
  Node *sampled;       /* [batch, offset groups, kernel, rows, columns, channels of a group] */
} Deformed;

static Deformed deform(Build *b, Node *x, Node *weight, Node *offset, Node *mask,
                       const DeformConv *d) {
  const Dim *w = weight->type.shape, *size = x->type.shape;
  int64_t width = fixed_size(b, w[3]);
  Deformed v = {.kernel = fixed_size(b, w[2]) * width,
                .channels = fixed_size(b, size[1]),
                .out = fixed_size(b, w[0])};
  infer_rank(&b->in, &offset->type, 4, 4);
  if (d->offset_groups < 1 || v.channels % d->offset_groups || d->groups < 1 ||
      v.out % d->groups || fixed_size(b, w[1]) * d->groups != v.channels)
    infer_fail(&b->in, E_GRAPH_DEFORM, (long long)d->groups, (long long)d->offset_groups,
               (long long)v.channels);
  v.rows = offset->type.shape[2];
  v.columns = offset->type.shape[3];
  Node *window = build_arange(b, build_const(b, v.kernel));
  offset = cut_offsets(b, build_widen(b, offset), d->offset_groups, v.kernel, 2);
  for (int i = 0; i < 2; i++) {
    Node *part = build_select(b, offset, 3, build_const(b, i));
    v.at[i] = neighbours(b, deformed(b, part, i, width, d, window), size[2 + i]);
  }
  Dim cut[] = {size[0], build_const(b, d->offset_groups),
               build_const(b, v.channels / d->offset_groups), size[2], size[3]};
  v.x = build_view(b, build_widen(b, x), 5, cut);
  v.sampled = sampled(b, v.x, &v.at[0], &v.at[1]);
  if (mask) {
    mask = cut_offsets(b, build_widen(b, mask), d->offset_groups, v.kernel, 1);
    v.mask = build_permute(b, mask, (uint32_t[]){0, 1, 2, 4, 5, 3});
  }
  return v;
}

static Node *reshaped(Build *b, Node *x, uint32_t rank, const Dim *shape) {
  return build(b, OP_aten_reshape_default, ARGS(arg_node(x), arg_dims(b->in.g, rank, shape)));
}

DeformConv build_deform_options(Build *b) {
  Infer *in = &b->in;
  return (DeformConv){.stride = {infer_int(in, "stride_h"), infer_int(in, "stride_w")},
                      .pad = {infer_int(in, "pad_h"), infer_int(in, "pad_w")},
                      .dilation = {infer_int(in, "dilation_h"), infer_int(in, "dilation_w")},
                      .groups = infer_int(in, "groups"),
                      .offset_groups = infer_int(in, "offset_groups")};
}

/* The columns of the product, [batch, groups, channels of a group * kernel, rows * columns]. */
static Node *deformed_columns(Build *b, const Deformed *v, const DeformConv *d) {
  Node *y = v->mask ? build_mul(b, v->sampled, v->mask) : v->sampled;
  y = build_permute(b, y, (uint32_t[]){0, 1, 5, 2, 3, 4});
  Dim inner = build_const(b, v->channels / d->groups * v->kernel);
  Dim places = dim_mul(build_dims(b), v->rows, v->columns);
  return reshaped(b, y, 4, (Dim[]){v->x->type.shape[0], build_const(b, d->groups), inner, places});
}

/* The weight as [groups, channels that are made in a group, channels of a group * kernel]. */
static Node *grouped_weight(Build *b, Node *weight, const Deformed *v, const DeformConv *d) {
  Dim shape[] = {build_const(b, d->groups), build_const(b, v->out / d->groups),
                 build_const(b, v->channels / d->groups * v->kernel)};
  return reshaped(b, build_widen(b, weight), 3, shape);
}

Node *build_deform_conv(Build *b, Node *x, Node *weight, Node *offset, Node *mask, Node *bias,
                        const DeformConv *d) {
  Deformed v = deform(b, x, weight, offset, mask, d);
  Node *y = build_op2(b, OP_aten_matmul_default, grouped_weight(b, weight, &v, d),
                      deformed_columns(b, &v, d));
  y = reshaped(b, y, 4, (Dim[]){x->type.shape[0], weight->type.shape[0], v.rows, v.columns});
  if (bias) y = build_add(b, y, build_along(b, build_widen(b, bias), 1, 4));
  return build_to(b, y, x->type.dtype);
}

/* ---- gradients of deformable convolutions ---- */

/* The gradient of the image: each sample adds to the four elements that it is between. */
static Node *deformed_image_gradient(Build *b, const Deformed *v, Node *grad) {
  const Dim *cut = v->x->type.shape;
  Dims *dims = build_dims(b);
  Dim shape[] = {dim_mul(dims, cut[0], cut[1]), cut[2], cut[3], cut[4]};
  Node *sum = no_gradient(b, shape, grad->type.dtype);
  Node *batch = build_mul_dim(b, build_along(b, build_arange(b, cut[0]), 0, 5), cut[1]);
  batch = build_add(b, batch, build_along(b, build_arange(b, cut[1]), 1, 5));
  for (int i = 0; i < 4; i++) {
    Node *weight = build_mul(b, v->at[0].weight[i / 2], v->at[1].weight[i % 2]);
    Node *places = place_of(b, batch, v->at[0].at[i / 2], v->at[1].at[i % 2], shape);
    sum = added_to_image(b, sum, places, build_mul(b, grad, build_unsqueeze(b, weight, 5)));
  }
  return as_images(b, sum, shape);
}

/* The gradient of the offsets: a sample changes by the difference of its neighbours along an
 * axis, [batch, offset groups * kernel * 2, rows, columns]. */
static Node *offset_gradient(Build *b, const Deformed *v, Node *grad, const Dim *shape) {
  Node *parts[2];
  for (int axis = 0; axis < 2; axis++) {
    Samples at[2] = {v->at[0], v->at[1]};
    at[axis].weight[0] = build_op1(b, OP_aten_neg_default, v->at[axis].inside[0]);
    at[axis].weight[1] = v->at[axis].inside[1];
    Node *slope = build_mul(b, sampled(b, v->x, &at[0], &at[1]), grad);
    parts[axis] = build_unsqueeze(b, build_sum(b, slope, 1u << 5, false), 3);
  }
  return reshaped(b, build_cat(b, 2, parts, 3), 4, shape);
}

Node *build_deform_conv_gradients(Build *b, Node *grad, Node *x, Node *weight, Node *offset,
                                  Node *mask, Node *bias, const DeformConv *d) {
  Deformed v = deform(b, x, weight, offset, mask, d);
  const Dim *size = x->type.shape, *cut = v.x->type.shape;
  Node *wide = build_widen(b, grad), *columns = deformed_columns(b, &v, d);
  Dim places = columns->type.shape[3], groups = build_const(b, d->groups);
  Dim each = build_const(b, v.out / d->groups);
  Node *outer = reshaped(b, wide, 4, (Dim[]){size[0], groups, each, places});
  Node *of_weight = build_op2(b, OP_aten_matmul_default, outer, build_transpose(b, columns, 2, 3));
  of_weight = build_sum(b, of_weight, 1, false);
  Node *turned = build_transpose(b, grouped_weight(b, weight, &v, d), 1, 2);
  Node *of_columns = build_op2(b, OP_aten_matmul_default, turned, outer);
  Dim spread[] = {cut[0], cut[1], cut[2], build_const(b, v.kernel), v.rows, v.columns};
  of_columns = build_permute(b, reshaped(b, of_columns, 6, spread),
                             (uint32_t[]){0, 1, 3, 4, 5, 2});
  Node *of_samples = v.mask ? build_mul(b, of_columns, v.mask) : of_columns;
  Node *of_mask = NULL;
  if (mask) of_mask = build_sum(b, build_mul(b, of_columns, v.sampled), 1u << 5, false);
  Node *results[] = {deformed_image_gradient(b, &v, of_samples), of_weight,
                     offset_gradient(b, &v, of_samples, offset->type.shape), of_mask,
                     build_sum(b, wide, 1u | 1u << 2 | 1u << 3, false)};
  Node *of[] = {x, weight, offset, build_input(b, "mask"), bias};
  b->items = ARENA_ARRAY(b->in.g->arena, Node *, 5);
  b->nitems = 5;
  for (uint32_t i = 0; i < 5; i++) {
    const ValueType *t = &of[i]->type;
    b->items[i] = results[i] ? build_to(b, reshaped(b, results[i], t->rank, t->shape), t->dtype)
                             : build_full(b, t->rank, t->shape, build_int(b, 0), t->dtype);
  }
  return NULL;
}
