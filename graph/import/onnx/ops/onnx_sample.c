/* Sampling images at points, cutting them out and putting them together. */
#include <string.h>

#include "graph/import/onnx/ops/onnx_window.h"
#include "graph/messages.h"

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

/* Columns, a window's elements each, added up to an image. */
void onnx_op_col2im(OnnxCall *c) {
  Build *b = &c->b;
  Dim image[GRAPH_RANK_MAX], block[GRAPH_RANK_MAX];
  int64_t stride[2], dilation[2], pads[4];
  if (onnx_need_dims(c, 1, image) != 2 || onnx_need_dims(c, 2, block) != 2)
    onnx_lack(c, "images that have not two axes");
  onnx_ints_of(c, "strides", 2, 1, stride);
  onnx_ints_of(c, "dilations", 2, 1, dilation);
  onnx_ints_of(c, "pads", 4, 0, pads);
  if (pads[0] != pads[2] || pads[1] != pads[3]) onnx_lack(c, "pads that differ");
  const int64_t *lists[] = {dilation, pads, stride};
  Arg args[6] = {arg_node(onnx_in(c, 0)), arg_dims(b->in.g, 2, image), arg_dims(b->in.g, 2, block)};
  for (int i = 0; i < 3; i++) {
    Dim pair[] = {build_const(b, lists[i][0]), build_const(b, lists[i][1])};
    args[3 + i] = arg_dims(b->in.g, 2, pair);
  }
  onnx_set(c, 0, build(b, OP_aten_col2im_default, 6, args));
}
