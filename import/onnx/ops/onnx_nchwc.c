/* com.microsoft.nchwc: convolutions and pools of images in blocks of channels
 * (import/onnx/onnx_blocks.c), as ONNX Runtime writes them where it saves a model that it optimized
 * for a CPU. */
#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* Images become whole blocks by channels of zeros. */
void onnx_op_reorder_input(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  int64_t block = onnx_block(c);
  infer_rank(&b->in, &x->type, 4, 4);
  if (onnx_flag(c, "channels_last", false)) x = onnx_move_channels(c, x, false);
  Dim channels = x->type.shape[1];
  if (!dim_is_int(channels)) onnx_lack(c, "an open number of channels");
  int64_t lacking = (block - channels->value % block) % block;
  Arg pads = arg_list(b->in.g, 6);
  for (uint32_t i = 0; i < pads.n; i++) pads.items[i] = build_int(b, i == 5 ? lacking : 0);
  if (lacking) x = build(b, OP_aten_constant_pad_nd_default, ARGS(arg_node(x), pads, arg_float(0)));
  onnx_set(c, 0, x);
  onnx_blocks_made(c);
}

void onnx_op_reorder_output(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_channels(c, 0);
  int64_t channels = onnx_int(c, "channels", 0);
  Dim most = x->type.shape[1];
  if (channels < 1 || (dim_is_int(most) && channels > most->value))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "channels", "no number of the image's channels");
  x = build_slice(b, x, 1, build_const(b, 0), build_const(b, channels), 1);
  onnx_set(c, 0, onnx_flag(c, "channels_last", false) ? onnx_move_channels(c, x, true) : x);
}

/* Weights have the block of their results last, and before it that of the channels that they take,
 * if these are in blocks and more than one a group. */
static Node *plain_weight(OnnxCall *c, Node *w, bool both) {
  static const uint32_t one[] = {0, 4, 1, 2, 3}, two[] = {0, 5, 1, 4, 2, 3};
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  const Dim *s = w->type.shape;
  Dim block = build_const(b, onnx_block(c)), rows = dim_floordiv(d, s[0], block);
  Dim of_one[] = {rows, s[1], s[2], s[3], block};
  Dim of_two[] = {rows, dim_floordiv(d, s[1], block), s[2], s[3], block, block};
  Node *x = both ? build_permute(b, build_view(b, w, 6, of_two), two)
                 : build_permute(b, build_view(b, w, 5, of_one), one);
  return build_view(b, x, 4, s);
}

void onnx_op_blocked_conv(OnnxCall *c) {
  Build *b = &c->b;
  int64_t block = onnx_block(c), groups = onnx_int(c, "group", 1);
  Node *w = onnx_in(c, 1);
  infer_rank(&b->in, &w->type, 4, 4);
  infer_rank(&b->in, onnx_type(c, 0), 4, 4);
  Dim channels = onnx_type(c, 0)->shape[1];
  const Dim *sizes = w->type.shape;
  if (!dim_is_int(channels) || !dim_is_int(sizes[0]) || !dim_is_int(sizes[1]) || groups < 1 ||
      sizes[0]->value % block)
    onnx_lack(c, "weights that fill no blocks of %lld", (long long)block);
  bool plain = channels->value < block, both = channels->value / groups >= block;
  bool each = groups == channels->value && groups == sizes[0]->value;
  if ((!plain && !both && !each) || (both && sizes[1]->value % block))
    onnx_lack(c, "groups of channels that fill no blocks of %lld", (long long)block);
  onnx_put(c, 0, plain ? onnx_in(c, 0) : onnx_channels(c, 0));
  onnx_put(c, 1, plain_weight(c, w, both));
  if (onnx_has(c, 3)) onnx_put(c, 3, onnx_channels(c, 3));
  onnx_op_fused_conv(c);
  onnx_blocks_made(c);
}

static void on_channels(OnnxCall *c, void (*rule)(OnnxCall *)) {
  onnx_put(c, 0, onnx_channels(c, 0));
  rule(c);
  onnx_blocks_made(c);
}

void onnx_op_blocked_max_pool(OnnxCall *c) { on_channels(c, onnx_op_max_pool); }
void onnx_op_blocked_average_pool(OnnxCall *c) { on_channels(c, onnx_op_average_pool); }
void onnx_op_blocked_global_pool(OnnxCall *c) { on_channels(c, onnx_op_global_pool); }
void onnx_op_blocked_upsample(OnnxCall *c) { on_channels(c, onnx_op_upsample); }
