/* Passes freeze and pack: work moves from each run to nodes that are computed once, from weights
 * (weight_constants.h).
 *
 *   scales  a product with constant weights, times a constant number for each output channel (batch
 *           norm in inference, layer scale), is the product with scaled weights
 *   order   weights of convolutions that are read in another order than that of memory are
 *           copied in the order in which they are read, also those that each run is given */
#include <setjmp.h>
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/strided.h"
#include "graph/analysis/weight_constants.h"
#include "graph/builders/node_builder.h"
#include "graph/builders/round_once.h"
#include "graph/ops/prims.h"
#include "graph/ops/window.h"
#include "planner/passes.h"
#include "tiling/few_rows.h"
#include "tiling/near_columns.h"
#include "tiling/panels.h"
#include "tiling/shared_operands.h"
#include "tiling/weight_rows.h"

/* Fewer rows are few tiles, each of which copies the operand: words by their elements.  Panels that
 * the second cache holds pay for fewer (is_packed). */
enum { ROWS_PACKED = 256, ROWS_OF_WORDS = 32 };
enum { WINDOWS_PACKED = 128 }; /* of a convolution, which copies its weight in any case */

typedef struct {
  Graph *g;
  ReplacementMap replacements;
  bool *constant; /* by id, of the nodes that there were */
  uint32_t *uses;
  Node **packed; /* by id, of a weight: packed; NULL: not yet */
  Node **turned; /* by id, of a left operand: in panels of its rows; NULL: not yet */
  SharedOperands shared;
  uint32_t nids;
  jmp_buf failed;
} Freeze;

static Build freeze_build(const Freeze *f, Node *n) {
  Build b = build_at(f->g, n);
  memcpy(b.in.failed, f->failed, sizeof f->failed);
  return b;
}

static bool is_constant_arg(const Freeze *f, const Arg *a) {
  return a->kind == ARG_NODE && a->node->id < f->nids && f->constant[a->node->id];
}

/* ---- scales ---- */

/* Does x differ along the last axis of `like` alone? */
static bool is_per_channel(const Node *x, const Node *like) {
  uint32_t rank = rank_of(x);
  if (rank == 0 || rank > rank_of(like)) return false;
  for (uint32_t i = 0; i + 1 < rank; i++)
    if (!dim_is(x->type.shape[i], 1)) return false;
  return x->type.shape[rank - 1] == like->type.shape[rank_of(like) - 1];
}

static bool is_weighted(const Node *n) {
  return graph_is(n, OP_aten_mm_default) || graph_is(n, OP_nereid_conv_default) ||
         graph_is(n, OP_nereid_conv_depthwise_default);
}

static bool keeps_channels(const Node *n) {
  const Node *x = n->args[0].node;
  return graph_is(n, OP_aten_view_default) && rank_of(n) && rank_of(x) &&
         n->type.shape[rank_of(n) - 1] == x->type.shape[rank_of(x) - 1];
}

/* The constant that n adds to its first operand for each channel, or NULL. */
static Node *constant_addend(const Freeze *f, const Node *n) {
  bool plain = graph_is(n, OP_aten_add_Tensor) && n->nargs == 2 && n->nnamed == 0;
  if (!plain || n->args[0].kind != ARG_NODE || !is_constant_arg(f, &n->args[1])) return NULL;
  Node *x = n->args[1].node;
  return is_per_channel(x, n) && value_type_eq(&n->type, &n->args[0].node->type) ? x : NULL;
}

enum { CHAIN_MAX = 8 };

/* Scaling must not move before a cast that rounds: it would change the rounding. */
static bool is_widening(const Node *n) {
  return graph_is(n, OP_aten_to_dtype) &&
         dtype_represents(n->type.dtype, n->args[0].node->type.dtype);
}

/* Is n a product with constant weights that nothing else uses, up to views, casts and what is
 * added? */
static bool can_scale(const Freeze *f, const Node *n) {
  for (int i = 0; i < CHAIN_MAX && n->kind == NODE_CALL; i++) {
    if (n->id >= f->nids || f->uses[n->id] != 1) return false;
    if (is_weighted(n)) return is_constant_arg(f, &n->args[1]);
    if (!keeps_channels(n) && !is_widening(n) && !constant_addend(f, n)) return false;
    n = n->args[0].node;
  }
  return false;
}

static Node *scaled_constant(Build *b, Node *x, Node *scale) {
  return build_to(b, build_mul(b, build_widen(b, x), scale), x->type.dtype);
}

/* n, for which can_scale holds, times the vector; it takes n's name, since n goes. */
static Node *scale_operand(Build *b, Node *n, Node *scale) {
  Arg args[8];
  memcpy(args, n->args, n->nargs * sizeof *args);
  b->in.n = n;
  if (is_weighted(n)) {
    args[1] = arg_node(scaled_constant(b, n->args[1].node, scale));
  } else {
    args[0] = arg_node(scale_operand(b, n->args[0].node, scale));
    b->in.n = n;
    if (graph_is(n, OP_aten_add_Tensor))
      args[1] = arg_node(scaled_constant(b, n->args[1].node, scale));
  }
  Node *by = build(b, n->op->id, n->nargs, args);
  graph_forget_name(b->in.g, by);
  graph_forget_name(b->in.g, n);
  graph_set_name(b->in.g, by, n->name);
  return by;
}

static void fold_scale(Freeze *f, Node *n) {
  if (n->nargs != 2 || n->args[0].kind != ARG_NODE || n->args[1].kind != ARG_NODE) return;
  for (int side = 0; side < 2; side++) {
    Node *x = n->args[side].node, *scale = n->args[1 - side].node;
    if (!is_constant_arg(f, &n->args[1 - side]) || !value_type_eq(&n->type, &x->type)) continue;
    if (!is_per_channel(scale, n) || !can_scale(f, x)) continue;
    Build b = freeze_build(f, n);
    scale = build_view(&b, scale, 1, &scale->type.shape[rank_of(scale) - 1]);
    replacement_of(&f->replacements, n)->node = scale_operand(&b, x, scale);
    return;
  }
}

/* ---- order ---- */

/* Is it read in another order than its elements have in memory? */
static bool is_reordered(const Node *n) {
  bool found = false;
  for (; n->kind == NODE_CALL && prim_kind(n->op) == PRIM_VIEW; n = view_operand(n))
    found |= !graph_is(n, OP_aten_view_default);
  return found;
}

static void pack_weight(Freeze *f, Node *n) {
  if (!is_reordered(n->args[1].node)) return;
  Build b = freeze_build(f, n);
  n->args[1] = arg_node(build_op1(&b, OP_aten_clone_default, n->args[1].node));
}

/* ---- convolutions of panels ---- */

/* Has the image its elements next to each other in memory, in a buffer of its own, maybe under
 * another shape? */
static bool is_dense_image(Graph *g, Node *x) {
  Strided s;
  if (!strided_is_dense(g, x) || !strided_of(g, x, &s)) return false;
  const Node *memory = s.memory;
  return memory->kind == NODE_INPUT || (memory->kind == NODE_CALL && !prim_is_view(memory) &&
                                        prim_kind(memory->op) != PRIM_GATHER);
}

/* The dtype of a convolution's panels: its sums', so that operands of 16 bits are copied in f32. */
static DType panels_dtype(const Node *n) {
  return dtype_is_float(n->type.dtype) ? DT_F32 : n->args[1].node->type.dtype;
}

/* Is it a convolution whose sums are those of rows of the image? */
static bool has_window_of_rows(const Freeze *f, const Node *n, const Window *w) {
  DType t = w->input->type.dtype;
  bool rows = f->g->host && (t == DT_I8 || build_wide(t) == DT_F32) &&
              w->input->type.rank <= STRIDED_RANK_MAX &&
              dim_is_int(graph_arg(f->g, n, "groups").dim) &&
              panels_suit_window(f->g, n, panels_dtype(n));
  Arg padding = graph_arg(f->g, n, "padding");
  for (uint32_t i = 0; i < w->n && rows; i++) {
    rows = dim_is(w->spread[i], 1) && dim_is_int(w->stride[i]) && dim_is_int(w->dilation[i]);
    for (int end = 0; end < 2 && rows; end++) {
      Dim more = padding.items[2 * i + end].dim;
      rows = more && dim_is_int(more) && more->value >= 0;
    }
  }
  return rows;
}

/* x with so many zeros before and after its last axes, `sizes` of them, in memory.  Rows there are
 * whole vectors, so that no vector of the copy has elements of two rows. */
static Node *with_zeros(Build *b, Node *x, const Dim *before, const Dim *after, uint32_t sizes) {
  enum { VECTOR = 16 };
  Dims *d = b->in.g->dims;
  uint32_t last = rank_of(x) - 1;
  Dim lengths[2 * STRIDED_RANK_MAX];
  bool any = false;
  for (uint32_t i = 0; i < sizes; i++) {
    lengths[2 * i] = before[sizes - 1 - i];
    lengths[2 * i + 1] = after[sizes - 1 - i];
    any |= !dim_is(lengths[2 * i], 0) || !dim_is(lengths[2 * i + 1], 0);
  }
  if (!any && is_dense_image(b->in.g, x)) return x;
  Dim row = dim_add(d, x->type.shape[last], dim_add(d, lengths[0], lengths[1]));
  if (dim_is_int(row)) lengths[1] = dim_add(d, lengths[1], dim_int(d, -row->value & (VECTOR - 1)));
  Arg zeros = arg_dims(b->in.g, 2 * sizes, lengths);
  x = build(b, OP_aten_constant_pad_nd_default, 2, (Arg[]){arg_node(x), zeros});
  return build_slice(b, build_op1(b, OP_nereid_dense_default, x), last, build_const(b, 0), row, 1);
}

/* An image [N, sizes, C] with the padding of a convolution.  A row of the image is one axis: zeros
 * on its sides are not a matter of each channel. */
static Node *rows_with_zeros(Build *b, const Window *w, const Dim *after) {
  Dims *d = b->in.g->dims;
  Node *x = w->input;
  bool any = false;
  for (uint32_t i = 0; i < w->n; i++) any |= !dim_is(w->before[i], 0) || !dim_is(after[i], 0);
  if (!any && is_dense_image(b->in.g, x)) return x;
  Dim shape[GRAPH_RANK_MAX], before[WINDOW_AXES], more[WINDOW_AXES], channels = size_from_end(x, 1);
  uint32_t last = w->n - 1;
  memcpy(shape, x->type.shape, (w->n + 1) * sizeof *shape);
  memcpy(before, w->before, sizeof before);
  memcpy(more, after, sizeof more);
  shape[w->n] = dim_mul(d, shape[w->n], channels);
  before[last] = dim_mul(d, before[last], channels);
  more[last] = dim_mul(d, more[last], channels);
  Node *y = with_zeros(b, build_view(b, x, w->n + 1, shape), before, more, w->n);
  for (uint32_t i = 0; i < w->n; i++)
    shape[i + 1] = dim_add(d, x->type.shape[i + 1], dim_add(d, w->before[i], after[i]));
  shape[w->n + 1] = channels;
  return build_view(b, y, w->n + 2, shape);
}

/* A convolution of panels has its padding in memory: then a row of a window is elements next to
 * each other, and the kernel is that of a product of panels, whose rows overlap. */
static void use_panels(Build *b, Node *n) {
  Graph *g = b->in.g;
  Window w = window_of(g, n);
  Arg padding = graph_arg(g, n, "padding");
  Dim zeros[2 * WINDOW_AXES], after[WINDOW_AXES];
  for (uint32_t i = 0; i < 2 * w.n; i++) zeros[i] = build_const(b, 0);
  for (uint32_t i = 0; i < w.n; i++) after[i] = padding.items[2 * i + 1].dim;
  Node *panels = panels_pack_window(b, n);
  n->args[1] = arg_node(panels);
  if (panels_clip(g, n)) {
    if (!is_dense_image(g, w.input))
      n->args[0] = arg_node(build_op1(b, OP_nereid_dense_default, w.input));
    return;
  }
  n->args[0] = arg_node(rows_with_zeros(b, &w, after));
  n->args[ops_param(ops_schema(g, n->op), "padding")] = arg_dims(g, 2 * w.n, zeros);
}

static bool pack_window(Freeze *f, Node *n) {
  Window w = window_of(f->g, n);
  if (!has_window_of_rows(f, n, &w)) return false;
  Build b = freeze_build(f, n);
  if (n->args[1].node->type.dtype == panels_dtype(n)) {
    use_panels(&b, n);
    return true;
  }
  enum { ARGS_MAX = 16 };
  Arg args[ARGS_MAX];
  BUG_IF(n->nargs > ARGS_MAX, "a convolution has more arguments");
  memcpy(args, n->args, n->nargs * sizeof *args);
  for (int i = 0; i < 2; i++) args[i] = arg_node(build_to(&b, args[i].node, panels_dtype(n)));
  Node *wide = build(&b, OP_nereid_conv_default, n->nargs, args);
  Build before = freeze_build(f, wide);
  use_panels(&before, wide);
  round_once(&b, wide);
  return true;
}

/* x[N, windows, O] in memory, with so many zeros behind the last windows, and behind O if they are
 * vectors, up to whole ones: a product reads whole tiles. */
static Node *whole_channels(Build *b, Node *x, Dim windows, bool vectors) {
  Dim zero = build_const(b, 0);
  Dim more = vectors ? build_const(b, weight_channels_more(&x->type)) : zero;
  bool any = !dim_is(more, 0) || !dim_is(windows, 0);
  if (!any && is_dense_image(b->in.g, x)) return x;
  Dim channels = size_from_end(x, 1), zeros[] = {zero, more, zero, windows};
  if (any)
    x = build(b, OP_aten_constant_pad_nd_default, 2,
              (Arg[]){arg_node(x), arg_dims(b->in.g, 4, zeros)});
  x = build_op1(b, OP_nereid_dense_default, x);
  return dim_is(more, 0) ? x : build_slice(b, x, rank_of(x) - 1, zero, channels, 1);
}

/* The image of a weight's gradient by rows, too.  Steps are whole also where windows are open. */
static void pad_weight_gradient(Freeze *f, Node *n) {
  Window w = window_of(f->g, n);
  if (!f->g->host || !weight_rows_suit(&n->args[0].node->type, &w)) return;
  Build b = freeze_build(f, n);
  bool last = window_outputs_last(f->g, n);
  Dim zeros[WINDOW_AXES], after[WINDOW_AXES];
  for (uint32_t i = 0; i < w.n; i++) zeros[i] = build_const(&b, 0);
  memcpy(after, w.before, sizeof after);
  Dims *d = f->g->dims;
  Dim windows = weight_windows_more(d, &n->args[0].node->type, &w), *right = &after[w.n - 1];
  n->args[0] = arg_node(whole_channels(&b, n->args[0].node, windows, last));
  *right = dim_add(d, *right, dim_mul(d, windows, w.stride[w.n - 1]));
  if (!last && weight_row_more(&w)) {
    int64_t channels = size_from_end(w.input, 1)->value, more = weight_row_more(&w);
    *right = dim_add(d, *right, build_const(&b, (more + channels - 1) / channels));
  }
  n->args[1] = arg_node(rows_with_zeros(&b, &w, after));
  n->args[ops_param(ops_schema(f->g, n->op), "padding")] = arg_dims(f->g, w.n, zeros);
}

/* Channels of a tile of a convolution, and of a vector. */
enum { TILE_CHANNELS = 64, VECTOR_CHANNELS = 16 };

/* The weight [window, C, O] of a convolution, or [window, C] of one of each channel, in blocks of
 * so many of its last axis, each of which a CPU's tile reads from its begin to its end: rows of all
 * of the axis are far apart, and meet in few sets of a cache. */
static bool pack_blocks(Freeze *f, Node *n, int64_t width) {
  Node *w = n->args[1].node;
  uint32_t rank = rank_of(w), axes[GRAPH_RANK_MAX], back[GRAPH_RANK_MAX];
  Dim last = w->type.shape[rank - 1], shape[GRAPH_RANK_MAX];
  bool fits = f->g->host && rank < GRAPH_RANK_MAX && dim_is_int(last) && last->value > width &&
              last->value % width == 0;
  if (!fits) return false;
  Build b = freeze_build(f, n);
  memcpy(shape, w->type.shape, rank * sizeof *shape);
  shape[rank - 1] = build_const(&b, last->value / width);
  shape[rank] = build_const(&b, width);
  for (uint32_t i = 0; i <= rank; i++) {
    axes[i] = !i ? rank - 1 : i < rank ? i - 1 : rank;
    back[i] = i + 1 < rank ? i + 1 : i < rank ? 0 : rank;
  }
  Node *x = build_permute(&b, build_view(&b, w, rank + 1, shape), axes);
  x = build_permute(&b, build_op1(&b, OP_aten_clone_default, x), back);
  n->args[1] = arg_node(build_view(&b, x, rank, w->type.shape));
  return true;
}

/* The weight [window, C] of channels that come first, one number of which meets a vector at a time,
 * in the order in which models have it, if it is computed. */
static void write_window_last(Freeze *f, Node *n) {
  Strided s;
  Node *w = n->args[1].node;
  uint32_t rank = rank_of(w), axes[GRAPH_RANK_MAX], back[GRAPH_RANK_MAX];
  if (strided_of(f->g, w, &s)) return;
  Build b = freeze_build(f, n);
  for (uint32_t i = 0; i < rank; i++) {
    axes[i] = i ? i - 1 : rank - 1;
    back[i] = (i + 1) % rank;
  }
  w = build_op1(&b, OP_aten_clone_default, build_permute(&b, w, axes));
  n->args[1] = arg_node(build_permute(&b, w, back));
}

/* Have tensor cores the weight as it is in memory, with C next to each other in rows that begin at
 * multiples of 16 bytes? */
static bool has_rows_of_channels(Graph *g, Node *w) {
  enum { ROW = 8 };
  Strided s;
  uint32_t rank = rank_of(w), channels = rank - 2;
  if (g->host || !dtype_is_half(w->type.dtype) || rank > STRIDED_RANK_MAX) return false;
  if (!strided_of(g, w, &s) || !dim_is(s.stride[channels], 1)) return false;
  for (uint32_t i = 0; i < rank; i++)
    if (i != channels && (!dim_is_int(s.stride[i]) || s.stride[i]->value % ROW)) return false;
  return dim_is_int(s.offset) && s.offset->value % ROW == 0;
}

/* Is w[.., C, O] nearer in memory along O, as a turned weight is, than along C? */
static bool is_near_along_outputs(Graph *g, Node *w) {
  Strided s;
  uint32_t rank = rank_of(w);
  if (!g->host || rank > STRIDED_RANK_MAX || !strided_of(g, w, &s)) return false;
  Dim c = s.stride[rank - 2], o = s.stride[rank - 1];
  return dim_is_int(c) && dim_is_int(o) && c->value > o->value && o->value > 0;
}

/* The axes along which it goes backwards in memory. */
static uint32_t backward_axes(Graph *g, Node *w) {
  Strided s;
  uint32_t set = 0;
  if (!strided_of(g, w, &s)) return 0;
  for (uint32_t i = 0; i < rank_of(w); i++)
    if (dim_is_int(s.stride[i]) && s.stride[i]->value < 0) set |= 1u << i;
  return set;
}

static Node *flipped(Build *b, Node *x, uint32_t axes) {
  return axes ? build_with(b, OP_aten_flip_default, x, arg_axes(b->in.g, axes)) : x;
}

/* The weight [window, C, O] of a convolution that each run is given: copied with C, not O, next to
 * each other, where that is nearer to the order [O, C, window] in which models have it. */
static void pack_given_weight(Freeze *f, Node *n) {
  Node *w = n->args[1].node;
  if (!is_reordered(w) || has_rows_of_channels(f->g, w)) return;
  Build b = freeze_build(f, n);
  uint32_t rank = rank_of(w);
  if (is_near_along_outputs(f->g, w)) {
    uint32_t back = backward_axes(f->g, w);
    w = flipped(&b, build_op1(&b, OP_aten_clone_default, flipped(&b, w, back)), back);
    n->args[1] = arg_node(w);
    return;
  }
  w = build_op1(&b, OP_aten_clone_default, build_transpose(&b, w, rank - 2, rank - 1));
  n->args[1] = arg_node(build_transpose(&b, w, rank - 2, rank - 1));
}

/* ---- the walks: weights that are scaled are in order ---- */

static void walk_scales(Freeze *f) {
  for (Node *n = f->g->first, *next; n; n = next) {
    next = n->next;
    replacements_apply(&f->replacements, n);
    if (graph_is(n, OP_aten_mul_Tensor)) fold_scale(f, n);
  }
  graph_dce(f->g);
}

/* A weight that each run is given is packed for many windows. */
static bool packs_window(Freeze *f, Node *n) {
  if (!graph_is(n, OP_nereid_conv_default)) return false;
  if (is_constant_arg(f, &n->args[1])) return true;
  Dim windows = n->type.shape[0];
  for (uint32_t i = 1; i + 1 < n->type.rank; i++)
    windows = dim_mul(f->g->dims, windows, n->type.shape[i]);
  return dim_likely(f->g->dims, windows) >= WINDOWS_PACKED;
}

/* A convolution's programs each read the whole weight, so that a copy in every run pays too. */
static void walk_weights(Freeze *f) {
  for (Node *n = f->g->first; n; n = n->next)
    if (packs_window(f, n) && pack_window(f, n)) continue;
    else if (graph_is(n, OP_nereid_conv_weight_default)) pad_weight_gradient(f, n);
    else if (graph_is(n, OP_nereid_conv_default) && !is_constant_arg(f, &n->args[1]))
      pack_given_weight(f, n);
    else if (graph_is(n, OP_nereid_conv_depthwise_default) && window_of(f->g, n).first > 1)
      write_window_last(f, n);
    else if (graph_is(n, OP_nereid_conv_depthwise_default) && !pack_blocks(f, n, VECTOR_CHANNELS))
      pack_weight(f, n);
    else if (graph_is(n, OP_nereid_conv_default) && !pack_blocks(f, n, TILE_CHANNELS))
      pack_weight(f, n);
  graph_dce(f->g);
}

/* Is the left operand in words as the right one's panels are, or of elements of 32 bits? */
static bool has_words(Graph *g, const Node *n) {
  Strided s;
  Node *left = n->args[0].node;
  if (strided_word(left->type.dtype) == 1) return true;
  if (!strided_of(g, left, &s) || !dim_is(s.stride[left->type.rank - 1], 1)) return false;
  return s.memory->kind != NODE_CALL || prim_kind(s.memory->op) != PRIM_GATHER;
}

static bool pack_panels(Freeze *f, Node *n) {
  if (!has_words(f->g, n)) return false;
  Build b = freeze_build(f, n);
  Dim rows = n->type.shape[n->type.rank - 2];
  Node *panels = panels_pack(&b, n->args[1].node, dim_is_int(rows) ? rows->value : 0);
  if (panels) n->args[1] = arg_node(panels);
  return panels != NULL;
}

/* A weight of several products, as a recurrent layer's of all steps, is packed once. */
static void pack_matrix(Freeze *f, Node *n) {
  Node **packed = &f->packed[n->args[1].node->id];
  if (*packed && has_words(f->g, n)) n->args[1] = arg_node(*packed);
  else if (!pack_panels(f, n)) pack_weight(f, n);
  *packed = n->args[1].node;
}

/* Is the right operand of known size, and stays in the second cache? */
static bool is_near(const Node *n) {
  enum { NEAR_BYTES = 1 << 21 };
  const ValueType *t = &n->args[1].node->type;
  bool known = dim_is_int(t->shape[0]) && dim_is_int(t->shape[1]);
  return known && t->shape[0]->value * t->shape[1]->value <= NEAR_BYTES / dtype_bytes(t->dtype);
}

/* Has the product, whose right operand each run is given, rows that pay for panels? */
static bool is_packed(Freeze *f, const Node *n) {
  enum { ROWS_A_BYTE = 16 };
  const ValueType *t = &n->args[1].node->type;
  int64_t rows = dim_likely(f->g->dims, n->type.shape[0]), bytes = dtype_bytes(t->dtype);
  if (shared_operands_pack(&f->shared, f->g, n)) return true;
  if (strided_word(t->dtype) > 1) return rows >= ROWS_OF_WORDS;
  if (!dim_is_int(t->shape[0]) || !dim_is_int(t->shape[1])) return rows >= ROWS_PACKED;
  return rows >= (is_near(n) ? ROWS_A_BYTE * bytes : ROWS_PACKED);
}

/* Does a copy of the right operand take longer than that of the left one, and the transposition of
 * the result's vectors?  Where rows are open, runs of fewer copy as much of the right operand. */
static bool copies_less_turned(const Graph *g, const Node *n) {
  enum { OPEN_TIMES = 4 };
  const Dim *shape = n->type.shape, depth = n->args[0].node->type.shape[1];
  double rows = (double)dim_likely(g->dims, shape[0]), columns = (double)shape[1]->value;
  double k = dim_is_int(depth) ? (double)depth->value : columns;
  double word = (double)strided_word(n->args[0].node->type.dtype);
  double copied = columns * k / word * (dim_is_int(shape[0]) ? 1 : OPEN_TIMES);
  return rows * k / word + rows * columns / 2 < copied;
}

/* Has the product rows for panels of them?  Where they are open, not with a right operand that
 * programs copy from the second cache. */
static bool has_turned_rows(const Graph *g, const Node *n) {
  enum { ROWS_LEAST = 16, OPEN_LEAST = 4 };
  Dim rows = n->type.shape[0];
  if (dim_is_int(rows)) return rows->value >= ROWS_LEAST;
  return !is_near(n) && dim_likely(g->dims, rows) >= OPEN_LEAST;
}

/* A linear layer whose weight each run is given: rows of the weight are read in place, and the left
 * operand is packed, which is smaller. */
static bool turn_given_matrix(Freeze *f, Node *n) {
  enum { COLUMNS_LEAST = 64 };
  Dim columns = n->type.shape[1];
  if (!dim_is_int(columns) || columns->value < COLUMNS_LEAST) return false;
  if (!has_turned_rows(f->g, n)) return false;
  if (shared_operands_pack(&f->shared, f->g, n)) return false;
  if (is_packed(f, n) && !copies_less_turned(f->g, n)) return false;
  Node *left = n->args[0].node, *panels = left->id < f->nids ? f->turned[left->id] : NULL;
  Build b = freeze_build(f, n);
  bool again = panels != NULL;
  if (!again) panels = panels_turn(&b, n);
  if (!panels) return false;
  n->args[0] = arg_node(panels);
  if (again && !panels_turned(f->g, n)) {
    n->args[0] = arg_node(left);
    return false;
  }
  if (left->id < f->nids) f->turned[left->id] = panels;
  return true;
}

/* A right operand of bytes whose columns pass dense_operands copied, before that copy. */
static Node *before_copy(Node *right) {
  uint32_t axes[GRAPH_RANK_MAX];
  Node *copy = strided_unpermuted(right, axes);
  return copy != right && axes[0] == 1 && graph_is(copy, OP_nereid_dense_default)
             ? copy->args[0].node : NULL;
}

static void pack_given_matrix(Freeze *f, Node *n) {
  Node *left = n->args[0].node, *right = n->args[1].node;
  NearColumns near;
  if (turn_given_matrix(f, n) || near_columns_of(f->g, n, &near)) return;
  if (right->id >= f->nids || !is_packed(f, n)) return;
  if (!has_words(f->g, n) || (!f->packed[right->id] && !pack_panels(f, n))) return;
  if (!f->packed[right->id]) f->packed[right->id] = n->args[1].node;
  n->args[1] = arg_node(f->packed[right->id]);
  Build b = freeze_build(f, n);
  if (is_reordered(left)) n->args[0] = arg_node(build_op1(&b, OP_aten_clone_default, left));
}

/* Bytes whose rows are next to each other are copied in any case: into panels. */
static void pack_given_bytes(Freeze *f, Node *n) {
  Node *right = n->args[1].node, *turned = before_copy(right);
  if (!turned) {
    pack_given_matrix(f, n);
    return;
  }
  Build b = freeze_build(f, n);
  NearColumns near;
  n->args[1].node = build_transpose(&b, turned, 0, 1);
  if (near_columns_of(f->g, n, &near)) return;
  if (!has_words(f->g, n) || !pack_panels(f, n)) n->args[1].node = right;
}

/* A product of f16 becomes one of f32: a vector of f16 is converted in each step else. */
static void widen_halves(Freeze *f, Node *n) {
  enum { ROWS_LEAST = 32 };
  Dim rows = n->type.shape[n->type.rank - 2];
  int64_t least = prim_unpacks(n) ? FEW_ROWS_MOST + 1 : ROWS_LEAST;
  if (n->args[1].node->type.dtype != DT_F16 || !dim_is_int(rows) || rows->value < least) return;
  Build b = freeze_build(f, n);
  Node *x = build_to(&b, n->args[0].node, DT_F32), *y = build_to(&b, n->args[1].node, DT_F32);
  Arg args[] = {arg_node(x), arg_node(y), arg_dtype(DT_F32)};
  Node *wide = build(&b, n->op->id, prim_unpacks(n) ? 3 : 2, args);
  round_once(&b, wide);
}

static void walk_halves(Freeze *f) {
  for (Node *n = f->g->first; n; n = n->next)
    if (graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default) ||
        (f->g->host && graph_is(n, OP_nereid_packed_mm_default)))
      widen_halves(f, n);
  graph_dce(f->g);
}

/* Matrices of many rows, or one for the whole batch, read those of a batch from panels. */
static void pack_batch(Freeze *f, Node *n) {
  enum { ROWS_LEAST = 32 };
  Node *left = n->args[0].node;
  while (graph_is_any(left, OP_aten_expand_default, OP_aten_unsqueeze_default))
    left = view_operand(left);
  Dim rows = n->type.shape[1];
  NearColumns near;
  if (!is_constant_arg(f, &n->args[1]) && near_columns_of(f->g, n, &near)) return;
  if (dim_is_int(rows) && rows->value >= ROWS_LEAST && !is_reordered(left))
    pack_panels(f, n);
}

/* Rows by weights that the kernel computes. */
static void pack_left(Freeze *f, Node *n) {
  Build b = freeze_build(f, n);
  Node *panels = prim_groups(n) == GROUPS_NONE && n->type.rank == 2 ? panels_turn(&b, n) : NULL;
  if (panels) n->args[0] = arg_node(panels);
}

/* The kernel computes its right operand, as the matrix of complex numbers, where it would copy it.
 */
static bool compute_right(Freeze *f, Node *n) {
  if (!graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default)) return false;
  if (is_constant_arg(f, &n->args[1]) || !near_columns_computes(f->g, n, f->uses, f->nids))
    return false;
  Build b = freeze_build(f, n);
  Arg args[] = {n->args[0], n->args[1], arg_dtype(n->type.dtype)};
  build_become(&b, OP_nereid_packed_mm_default, 3, args);
  return true;
}

/* Tensor cores take a transposed matrix as it is; a CPU would gather it anew for each tile. */
static void walk_matrices(Freeze *f) {
  for (Node *n = f->g->first; n; n = n->next) {
    if (compute_right(f, n)) continue;
    if (graph_is(n, OP_aten_bmm_default)) pack_batch(f, n);
    if (f->g->host && prim_unpacks(n)) pack_left(f, n);
    if (!graph_is_any(n, OP_aten_mm_default, OP_nereid_int8_mm_default)) continue;
    if (is_constant_arg(f, &n->args[1])) pack_matrix(f, n);
    else if (graph_is(n, OP_aten_mm_default)) pack_given_matrix(f, n);
    else pack_given_bytes(f, n);
  }
}

typedef void Walk(Freeze *f);

/* False after errors. */
static bool walk_safely(Freeze *f, Walk *walk) {
  if (setjmp(f->failed)) return false;
  walk(f);
  return true;
}

static bool run_walks(Graph *g, const char *name, Walk *const *walks) {
  if (!graph_functional(g, name)) return false;
  Arena *scratch = arena_child(g->arena);
  Freeze f = {.g = g, .replacements = replacements_new(g, scratch), .nids = g->nids};
  f.constant = constants_find(g, scratch);
  f.uses = graph_use_counts(g, scratch);
  f.shared = shared_operands_find(g, scratch);
  f.packed = ARENA_ARRAY(scratch, Node *, g->nids);
  f.turned = ARENA_ARRAY(scratch, Node *, g->nids);
  bool ok = true;
  for (; ok && *walks; walks++) ok = walk_safely(&f, *walks);
  arena_free(scratch);
  return ok;
}

/* A scaled weight is a constant of the second walk, on a CPU. */
bool pass_freeze(Graph *g) {
  if (!g->host) return run_walks(g, "freeze", (Walk *const[]){walk_scales, walk_weights, NULL});
  return run_walks(g, "freeze", (Walk *const[]){walk_scales, NULL}) &&
         run_walks(g, "freeze", (Walk *const[]){walk_weights, NULL});
}

bool pass_pack(Graph *g) {
  return run_walks(g, "pack", (Walk *const[]){walk_halves, NULL}) &&
         run_walks(g, "pack", (Walk *const[]){walk_matrices, NULL});
}
