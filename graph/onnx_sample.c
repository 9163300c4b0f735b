/* Sampling images at points, and putting pooled elements back. */
#include <string.h>

#include "graph/onnx_window.h"

static int64_t number_of(OnnxCall *c, const char *attribute, const char *const *names, size_t n) {
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
  Arg mode = build_int(b, number_of(c, "mode", modes, 6));
  Arg padding = build_int(b, number_of(c, "padding_mode", paddings, 3));
  Arg corners = arg_bool(onnx_flag(c, "align_corners", false));
  const char *target =
      rank_of(x) == 5 ? "aten.grid_sampler_3d.default" : "aten.grid_sampler_2d.default";
  Arg args[] = {arg_node(x), arg_node(onnx_in(c, 1)), mode, padding, corners};
  onnx_set(c, 0, build(b, target, 5, args));
}

void onnx_op_einsum(OnnxCall *c) {
  Arg list = arg_list(c->b.in.g, c->nin);
  for (uint32_t i = 0; i < c->nin; i++) list.items[i] = arg_node(onnx_in(c, i));
  Arg equation = {.kind = ARG_STRING, .name = onnx_string(c, "equation", "")};
  onnx_set(c, 0, build(&c->b, "aten.einsum.default", ARGS(equation, list)));
}
