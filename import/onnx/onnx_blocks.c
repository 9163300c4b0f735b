/* Images as ONNX Runtime's optimizer has them on CPUs, com.microsoft.nchwc: channels in blocks,
 * those of one next to each other.  The shape is that of [N, C, H, W], C filled up to whole blocks,
 * but elements are in the order of [N, C / block, H, W, block].
 *
 * The value of such an image is its channels in plain order, so that a graph is that of the file
 * before it was optimized.  The order of the file is made only for operators that are not known to
 * do the same in both. */
#include <string.h>

#include "import/onnx/onnx_read.h"

enum { BLOCK_AXES = 5, WIDE = 16, NARROW = 8 };

/* ---- the number of channels in a block, which a file does not have ---- */

/* Channels that a convolution of that domain makes, whole blocks; 0: not known. */
static int64_t made_channels(const Onnx *r, const Onnx__Node *n) {
  if (strcmp(onnx_text(n->op_type), "Conv") != 0 || n->n_input < 2) return 0;
  const OnnxValue *w = onnx_scope_find(r->top, pool_name(r->names, n->input[1]));
  return w && w->tensor && w->tensor->n_dims ? w->tensor->dims[0] : 0;
}

static int64_t channels_attribute(const Onnx__Node *n) {
  for (size_t i = 0; i < n->n_attribute; i++)
    if (!strcmp(onnx_text(n->attribute[i]->name), "channels")) return n->attribute[i]->i;
  return 0;
}

/* The block of ONNX Runtime on this machine. */
static uint32_t block_of_machine(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") ? WIDE : NARROW;
#else
  return WIDE;
#endif
}

/* A block is 8 or 16 channels, by the machine that wrote the file.  Weights of half a block of 16
 * are of blocks of 8, and those of 8 channels more than the image has are of 16; where neither is
 * there, the file is as it stands right for this machine, as for ONNX Runtime. */
static uint32_t block_of_file(Onnx *r) {
  NameMap made = {0};
  const Onnx__Graph *g = r->model->graph;
  for (size_t i = 0; i < g->n_node; i++) {
    const Onnx__Node *n = g->node[i];
    if (strcmp(onnx_text(n->domain), "com.microsoft.nchwc") != 0) continue;
    int64_t whole = made_channels(r, n);
    if (whole % WIDE == NARROW) return NARROW;
    if (whole && n->n_output)
      *namemap_put(r->scratch, &made, pool_name(r->names, n->output[0])) = g->node[i];
    if (strcmp(onnx_text(n->op_type), "ReorderOutput") != 0 || n->n_input < 1) continue;
    const Onnx__Node *maker = namemap_get(&made, pool_name(r->names, n->input[0]));
    if (maker && made_channels(r, maker) - channels_attribute(n) >= NARROW) return WIDE;
  }
  return block_of_machine();
}

uint32_t onnx_block(OnnxCall *c) {
  if (!c->r->block) c->r->block = block_of_file(c->r);
  return c->r->block;
}

/* ---- orders ---- */

/* The sizes of a tensor in blocks, [N, C / block, H, W, block]. */
static void split_sizes(OnnxCall *c, const ValueType *channels, uint32_t block, Dim *out) {
  const Dim *x = channels->shape;
  Dim sizes[] = {x[0], dim_floordiv(onnx_dims(c), x[1], build_const(&c->b, block)), x[2], x[3],
                 build_const(&c->b, block)};
  memcpy(out, sizes, sizeof sizes);
}

static void check_blocks(OnnxCall *c, Dim channels, uint32_t block) {
  if (!dim_is_int(channels) || channels->value % block)
    onnx_lack(c, "channels that fill no blocks of %u", block);
}

Node *onnx_channels(OnnxCall *c, uint32_t i) {
  static const uint32_t axes[] = {0, 1, 4, 2, 3};
  Build *b = &c->b;
  uint32_t block = onnx_block(c);
  infer_rank(&b->in, onnx_type(c, i), 4, 4);
  if (c->in[i]->channels) return c->in[i]->channels;
  Node *x = onnx_in(c, i);
  Dim s[BLOCK_AXES];
  check_blocks(c, x->type.shape[1], block);
  split_sizes(c, &x->type, block, s);
  Node *y = build_permute(b, build_view(b, x, BLOCK_AXES, s), axes);
  return build_view(b, y, 4, x->type.shape);
}

/* ---- calls whose operands are channels ---- */

void onnx_put(OnnxCall *c, uint32_t i, Node *x) {
  c->in[i] = onnx_value_new(c->r, x->name);
  c->in[i]->node = x;
  c->in[i]->type = x->type;
}

static void set_blocks(OnnxValue *v, Node *channels, uint32_t block, ValueType type) {
  v->channels = channels;
  v->block = block;
  v->node = NULL;
  v->known = NULL;
  v->type = type;
}

void onnx_blocks_made(OnnxCall *c) {
  OnnxValue *v = onnx_wants(c, 0) ? c->out[0] : NULL;
  if (!v) return;
  check_blocks(c, v->node->type.shape[1], onnx_block(c));
  set_blocks(v, v->node, onnx_block(c), v->node->type);
}

static bool is_split(const OnnxValue *v) { return v->type.rank == BLOCK_AXES; }

/* Does the rule give for each element of images what it gives for theirs? */
static bool is_of_elements(OnnxCall *c) {
  static void (*const rules[])(OnnxCall *) = {
      onnx_op_unary,        onnx_op_binary, onnx_op_variadic,  onnx_op_div,
      onnx_op_clip,         onnx_op_elu,    onnx_op_softplus,  onnx_op_leaky_relu,
      onnx_op_hard_sigmoid, onnx_op_gelu,   onnx_op_quick_gelu};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (c->op->translate == rules[i]) return true;
  return c->op->translate == onnx_op_concat && onnx_int(c, "axis", 1) == 1;
}

/* Operands in blocks whose shapes broadcast as those of their channels do: equal ones, and any
 * where the block is an axis of its own. */
static bool fit_together(const OnnxCall *c, const OnnxValue *first) {
  bool joined = c->op->translate == onnx_op_concat;
  for (uint32_t i = 0; i < c->nin; i++) {
    const OnnxValue *v = c->in[i];
    if (!v || (!v->channels && v->type.kind == VALUE_TENSOR && v->type.rank == 0)) continue;
    if (!v->channels || v->type.rank != first->type.rank) return false;
    if (joined) {
      if (is_split(v)) return false;
      continue;
    }
    for (uint32_t k = 0; k < v->type.rank; k++)
      if (v->type.shape[k] != first->type.shape[k] && (!is_split(v) || k % 4 == 0 || k == 1))
        return false;
  }
  return true;
}

static OnnxValue *first_in_blocks(const OnnxCall *c) {
  for (uint32_t i = 0; i < c->nin; i++)
    if (c->in[i] && c->in[i]->channels) return c->in[i];
  return NULL;
}

const OnnxValue *onnx_take_channels(OnnxCall *c) {
  OnnxValue *first = first_in_blocks(c);
  if (!first || c->nout != 1 || !is_of_elements(c) || !fit_together(c, first)) return NULL;
  for (uint32_t i = 0; i < c->nin; i++)
    if (c->in[i] && c->in[i]->channels) onnx_put(c, i, c->in[i]->channels);
  return first;
}

void onnx_give_blocks(OnnxCall *c, const OnnxValue *like) {
  OnnxValue *v = onnx_wants(c, 0) ? c->out[0] : NULL;
  Dim s[BLOCK_AXES];
  if (!v || !v->node) return;
  ValueType type = v->node->type;
  split_sizes(c, &type, like->block, s);
  if (is_split(like)) type = value_tensor(c->b.in.g, type.dtype, BLOCK_AXES, s);
  set_blocks(v, v->node, like->block, type);
}

/* ONNX Runtime adds images of shapes that may differ with the block as an axis: a Reshape to
 * [0, C / block, 0, 0, block], and back to [0, C, 0, 0]. */
bool onnx_set_split(OnnxCall *c) {
  const OnnxValue *x = onnx_has(c, 0) ? c->in[0] : NULL;
  const OnnxKnown *k = x && x->channels ? onnx_known(c, 1) : NULL;
  Dim s[BLOCK_AXES];
  bool splits = k && !is_split(x);
  if (!k || !onnx_wants(c, 0) || k->n != (splits ? BLOCK_AXES : 4)) return false;
  split_sizes(c, &x->channels->type, x->block, s);
  const Dim *to = splits ? s : x->channels->type.shape;
  for (uint32_t i = 0; i < k->n; i++)
    if (k->at[i].dim != to[i] && !(i % 4 != 1 && i < 4 && dim_is(k->at[i].dim, 0))) return false;
  if (onnx_flag(c, "allowzero", false)) return false;
  ValueType type =
      splits ? value_tensor(c->b.in.g, x->type.dtype, BLOCK_AXES, s) : x->channels->type;
  set_blocks(c->out[0], x->channels, x->block, type);
  return true;
}
