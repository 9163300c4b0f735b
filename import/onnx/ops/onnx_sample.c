/* Sampling images at points, cutting them out and putting them together. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

static int64_t enum_attribute(OnnxCall *c, const char *attribute, const char *const *names,
                              size_t n) {
  Name name = onnx_string(c, attribute, names[0]);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(name, names[i])) return (int64_t)(i % 3);
  onnx_fail(c, E_ONNX_ATTR_VALUE, attribute, name);
}

void onnx_op_grid_sample(OnnxCall *c) {
  static const char *const modes[] = {"bilinear", "nearest", "bicubic", "linear", "", "cubic"};
  static const char *const paddings[] = {"zeros", "border", "reflection"};
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  Arg mode = build_int(b, enum_attribute(c, "mode", modes, 6));
  Arg padding = build_int(b, enum_attribute(c, "padding_mode", paddings, 3));
  Arg corners = arg_bool(onnx_flag(c, "align_corners", false));
  OpId op = rank_of(x) == 5 ? OP_aten_grid_sampler_3d_default : OP_aten_grid_sampler_2d_default;
  Arg args[] = {arg_node(x), arg_node(onnx_in(c, 1)), mode, padding, corners};
  onnx_set(c, 0, build(b, op, 5, args));
}

void onnx_op_einsum(OnnxCall *c) {
  Arg list = arg_list(c->b.in.g, c->nin);
  for (uint32_t i = 0; i < c->nin; i++) list.items[i] = arg_node(onnx_in(c, i));
  Arg equation = {.kind = ARG_STRING, .name = onnx_string(c, "equation", "")};
  onnx_set(c, 0, build(&c->b, OP_aten_einsum_default, ARGS(equation, list)));
}

/* The points of a grid over the image, under an affine map. */
void onnx_op_affine_grid(OnnxCall *c) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = onnx_need_dims(c, 1, size);
  Arg args[] = {arg_node(onnx_in(c, 0)), arg_dims(c->b.in.g, n, size),
                arg_bool(onnx_flag(c, "align_corners", false))};
  onnx_set(c, 0, build(&c->b, OP_aten_affine_grid_generator_default, 3, args));
}

/* The middle of x along an axis, or x in the middle of zeros. */
static Node *centered(OnnxCall *c, Node *x, uint32_t axis, Dim wanted) {
  Build *b = &c->b;
  Dim size = x->type.shape[axis];
  if (!dim_is_int(size) || !dim_is_int(wanted)) onnx_lack(c, "symbolic sizes");
  if (wanted->value < 0) onnx_fail(c, E_ONNX_NEGATIVE, (long long)wanted->value);
  int64_t more = wanted->value - size->value;
  if (more <= 0) {
    Dim first = build_const(b, -more / 2);
    return build_slice(b, x, axis, first, dim_add(onnx_dims(c), first, wanted), 1);
  }
  Dim pad[2 * GRAPH_RANK_MAX];
  uint32_t behind = rank_of(x) - 1 - axis;
  for (uint32_t i = 0; i < 2 * behind; i++) pad[i] = build_const(b, 0);
  pad[2 * behind] = build_const(b, more / 2);
  pad[2 * behind + 1] = build_const(b, more - more / 2);
  Arg args[] = {arg_node(x), arg_dims(b->in.g, 2 * behind + 2, pad)};
  return build(b, OP_aten_constant_pad_nd_default, 2, args);
}

void onnx_op_center_crop_pad(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  Dim wanted[GRAPH_RANK_MAX];
  uint32_t n = onnx_need_dims(c, 1, wanted), count = 0, rank = rank_of(x);
  const int64_t *axes = onnx_ints(c, "axes", &count);
  if (n != (axes ? count : rank)) onnx_fail(c, E_ONNX_ATTR_COUNT, "axes", axes ? count : rank, n);
  for (uint32_t i = 0; i < n; i++)
    x = centered(c, x, axes ? onnx_axis(c, axes[i], rank) : i, wanted[i]);
  onnx_set(c, 0, x);
}

/* ---- Col2Im ---- */

/* An axis of the image: how many windows are along it, and where they begin. */
typedef struct {
  int64_t size, block, count, stride, dilation, pad;
} ImageAxis;

static Node *constant_vector(OnnxCall *c, DType t, int64_t n, const int64_t *at) {
  OnnxKnown *k = onnx_known_new(c, t, 1, &n);
  if (!k) onnx_lack(c, "images that are so large");
  for (int64_t i = 0; i < n; i++) k->at[i].dim = build_const(&c->b, at[i]);
  return onnx_constant(c, k);
}

/* Element `of` of each window along an axis, where the image has it, else zeros; x has one axis for
 * the windows. */
static Node *spread_element(OnnxCall *c, Node *x, uint32_t axis, const ImageAxis *a, int64_t of) {
  Build *b = &c->b;
  int64_t *from = ARENA_ARRAY(b->in.g->arena, int64_t, (size_t)a->size);
  int64_t *there = ARENA_ARRAY(b->in.g->arena, int64_t, (size_t)a->size);
  for (int64_t i = 0; i < a->size; i++) {
    int64_t at = i + a->pad - of * a->dilation;
    there[i] = at >= 0 && at % a->stride == 0 && at / a->stride < a->count;
    from[i] = there[i] ? at / a->stride : 0;
  }
  Node *index = constant_vector(c, DT_I64, a->size, from);
  Node *mask = build_along(b, constant_vector(c, DT_I1, a->size, there), axis, rank_of(x));
  Arg args[] = {arg_node(x), build_int(b, axis), arg_node(index)};
  Arg zero = dtype_is_float(x->type.dtype) ? arg_float(0) : build_int(b, 0);
  return build_where(b, mask, arg_node(build(b, OP_aten_index_select_default, 3, args)), zero);
}

/* Axis `block` of x goes along the elements of windows, axis `axis` > block along windows. */
static Node *add_windows(OnnxCall *c, Node *x, uint32_t block, uint32_t axis, const ImageAxis *a) {
  Build *b = &c->b;
  Node *sum = NULL;
  for (int64_t i = 0; i < a->block; i++) {
    Node *one = build_select(b, x, block, build_const(b, i));
    Node *spread = spread_element(c, one, axis - 1, a, i);
    sum = sum ? build_add(b, sum, spread) : spread;
  }
  return sum;
}

static void read_image_axes(OnnxCall *c, uint32_t n, const Dim *image, const Dim *block,
                            ImageAxis *out) {
  int64_t stride[GRAPH_RANK_MAX], dilation[GRAPH_RANK_MAX], pads[2 * GRAPH_RANK_MAX];
  onnx_ints_of(c, "strides", n, 1, stride);
  onnx_ints_of(c, "dilations", n, 1, dilation);
  onnx_ints_of(c, "pads", 2 * n, 0, pads);
  for (uint32_t i = 0; i < n; i++) {
    if (!dim_is_int(image[i]) || !dim_is_int(block[i])) onnx_lack(c, "a symbolic image");
    if (stride[i] < 1) onnx_fail(c, E_GRAPH_STEP, (long long)stride[i]);
    int64_t size = image[i]->value, window = dilation[i] * (block[i]->value - 1) + 1;
    int64_t room = size + pads[i] + pads[n + i] - window;
    int64_t count = room < 0 ? 0 : room / stride[i] + 1;
    out[i] = (ImageAxis){size, block[i]->value, count, stride[i], dilation[i], pads[i]};
  }
}

/* Any number of axes, one after the other, and pads that differ. */
static void fold_any(OnnxCall *c, uint32_t n, const Dim *image, const Dim *block) {
  Build *b = &c->b;
  ImageAxis axes[GRAPH_RANK_MAX];
  Node *x = onnx_in(c, 0);
  infer_rank(&b->in, &x->type, 3, 3);
  if (2 * n + 2 > GRAPH_RANK_MAX) onnx_lack(c, "images of %u axes", n);
  read_image_axes(c, n, image, block, axes);
  Dim shape[GRAPH_RANK_MAX], elements = build_const(b, 1);
  for (uint32_t i = 0; i < n; i++) elements = dim_mul(onnx_dims(c), elements, block[i]);
  shape[0] = x->type.shape[0];
  shape[1] = dim_floordiv(onnx_dims(c), x->type.shape[1], elements);
  for (uint32_t i = 0; i < n; i++) shape[2 + i] = block[i];
  for (uint32_t i = 0; i < n; i++) shape[2 + n + i] = build_const(b, axes[i].count);
  x = build_view(b, x, 2 * n + 2, shape);
  for (uint32_t i = 0; i < n; i++) x = add_windows(c, x, 2, 2 + n, &axes[i]);
  onnx_set(c, 0, x);
}

/* Columns, a window's elements each, added up to an image. */
void onnx_op_col2im(OnnxCall *c) {
  Build *b = &c->b;
  Dim image[GRAPH_RANK_MAX], block[GRAPH_RANK_MAX];
  int64_t stride[2], dilation[2], pads[4];
  uint32_t n = onnx_need_dims(c, 1, image);
  if (onnx_need_dims(c, 2, block) != n) onnx_fail(c, E_ONNX_ATTR_COUNT, "block_shape", 0u, n);
  if (n != 2) {
    fold_any(c, n, image, block);
    return;
  }
  onnx_ints_of(c, "strides", 2, 1, stride);
  onnx_ints_of(c, "dilations", 2, 1, dilation);
  onnx_ints_of(c, "pads", 4, 0, pads);
  if (pads[0] != pads[2] || pads[1] != pads[3]) {
    fold_any(c, n, image, block);
    return;
  }
  const int64_t *lists[] = {dilation, pads, stride};
  Arg args[6] = {arg_node(onnx_in(c, 0)), arg_dims(b->in.g, 2, image), arg_dims(b->in.g, 2, block)};
  for (int i = 0; i < 3; i++) {
    Dim pair[] = {build_const(b, lists[i][0]), build_const(b, lists[i][1])};
    args[3 + i] = arg_dims(b->in.g, 2, pair);
  }
  onnx_set(c, 0, build(b, OP_aten_col2im_default, 6, args));
}
