/* Expansions of convolutions under other names and with other arguments: those of one algorithm,
 * of libraries, and of a padding by name. */
#include "graph/expand/arithmetic.h"
#include "graph/messages.h"

/* A list of n integers; one integer is repeated. */
static Arg per_axis(Build *b, const char *param, uint32_t n, int64_t otherwise) {
  Dim sizes[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < n; i++) sizes[i] = build_const(b, otherwise);
  if (infer_takes(&b->in, param)) {
    uint32_t given = infer_sizes(&b->in, param, sizes);
    if (given != 1 && given != n)
      infer_fail(&b->in, E_GRAPH_PER_AXIS, param, given, n);
    for (uint32_t i = given; i < n; i++) sizes[i] = sizes[0];
  }
  return arg_dims(b->in.g, n, sizes);
}

static Node *convolve(Build *b, bool transposed, Arg groups) {
  Node *x = build_self(b), *weight = build_input(b, "weight");
  Arg bias = infer_takes(&b->in, "bias") ? build_arg(b, "bias") : arg_none();
  infer_rank(&b->in, &weight->type, 3, 5);
  uint32_t n = rank_of(weight) - 2;
  infer_rank(&b->in, &x->type, n + 1, n + 2);
  bool single = rank_of(x) == n + 1;
  if (single) x = build_unsqueeze(b, x, 0);
  Arg args[] = {arg_node(x),
                arg_node(weight),
                bias,
                per_axis(b, "stride", n, 1),
                per_axis(b, "padding", n, 0),
                per_axis(b, "dilation", n, 1),
                arg_bool(transposed),
                per_axis(b, "output_padding", n, 0),
                groups};
  Node *y = build(b, OP_aten_convolution_default, sizeof args / sizeof *args, args);
  return single ? build_squeeze(b, y, 1u << 0) : y;
}

static Arg groups_of(Build *b) {
  return infer_takes(&b->in, "groups") ? build_arg(b, "groups") : build_int(b, 1);
}

Node *expand_convolution(Build *b) {
  bool transposed = infer_takes(&b->in, "transposed") && infer_bool(&b->in, "transposed");
  return convolve(b, transposed, groups_of(b));
}

Node *expand_convolution_transposed(Build *b) { return convolve(b, true, groups_of(b)); }

/* Each channel by itself. */
Node *expand_convolution_depthwise(Build *b) {
  Node *x = build_self(b), *weight = build_input(b, "weight");
  infer_rank(&b->in, &weight->type, 3, 5);
  infer_rank(&b->in, &x->type, rank_of(weight) - 1, rank_of(weight));
  return convolve(b, false, arg_dim(size_from_end(x, rank_of(weight) - 1)));
}

static Node *relu(Build *b, Node *x) { return build_op1(b, OP_aten_relu_default, x); }

Node *expand_convolution_relu(Build *b) { return relu(b, expand_convolution(b)); }

Node *expand_convolution_add_relu(Build *b) {
  Node *z = build_input(b, "z"), *y = expand_convolution(b);
  if (infer_has(&b->in, "alpha")) z = build_with(b, OP_aten_mul_Tensor, z, build_arg(b, "alpha"));
  return relu(b, build_add(b, y, build_to(b, z, y->type.dtype)));
}

/* The padding is a name. */
Node *expand_convolution_mode(Build *b) {
  static const OpId ops[] = {OP_aten_conv1d_padding, OP_aten_conv2d_padding,
                             OP_aten_conv3d_padding};
  Node *weight = build_input(b, "weight");
  infer_rank(&b->in, &weight->type, 3, 5);
  static const char *const params[] = {"input",   "weight",   "bias",  "stride",
                                       "padding", "dilation", "groups"};
  enum { PARAMS = sizeof params / sizeof *params };
  Arg args[PARAMS];
  for (int i = 0; i < PARAMS; i++) args[i] = build_arg(b, params[i]);
  return build(b, ops[rank_of(weight) - 3], PARAMS, args);
}

/* Sequences [T, B, C] are convolved by a weight [K, C, D]. */
Node *expand_conv_tbc(Build *b) {
  static const uint32_t batch_first[] = {1, 2, 0}, weight_first[] = {2, 1, 0},
                        back[] = {2, 0, 1};
  infer_rank(&b->in, infer_self(&b->in), 3, 3);
  infer_rank(&b->in, &build_input(b, "weight")->type, 3, 3);
  Node *x = build_permute(b, build_self(b), batch_first);
  Node *weight = build_permute(b, build_input(b, "weight"), weight_first);
  Arg pad = arg_list(b->in.g, 1);
  pad.items[0] = build_arg(b, "pad");
  Arg one = arg_dims(b->in.g, 1, (Dim[]){build_const(b, 1)});
  Node *y = build(b, OP_aten_conv1d_default,
                  ARGS(arg_node(x), arg_node(weight), build_arg(b, "bias"), one, pad));
  return build_permute(b, y, back);
}
