/* Kernels of GROUP_MATMUL: one product of matrices or one convolution, with the pointwise nodes
 * behind it computed on its tiles.  Operands are read through views, whatever their strides. */
#include "graph/kernel.h"
#include "graph/window.h"

Access kernel_access(Kernel *k, Piece *p, const char *first, const char *second) {
  Node *n = p->operand;
  Dim from[GRAPH_RANK_MAX];
  while (!k->f->of[n->id] && n->kind != NODE_INPUT) {
    view_place(k->graph, n, p->place, from);
    n = view_operand(n);
    for (uint32_t i = 0; i < n->type.rank; i++) p->place[i] = from[i];
  }
  Dim offset = linear_of_place(k->graph->dims, p->place, n->type.shape, n->type.rank);
  unsigned axes = 0;
  const char *index = kernel_index(k, offset, &axes), *pointers = kernel_buffer(k, n);
  const char *text = arena_printf(k->arena, "%s + %s", pointers, index);
  if (!(axes & AXIS_M)) text = arena_printf(k->arena, "%s + %s * 0", text, first);
  if (!(axes & AXIS_N)) text = arena_printf(k->arena, "%s + %s * 0", text, second);
  const char *limits = kernel_limits(k, p);
  return (Access){text, *limits ? arena_printf(k->arena, " & %s", limits) : ""};
}

/* Element (batch, row, column) of an operand of mm or bmm. */
static Access matrix(Kernel *k, Node *n, Dim batch, Dim row, Dim column, bool left) {
  Piece p = {.operand = n, .place = {batch, row, column}};
  if (n->type.rank == 2) {
    p.place[0] = row;
    p.place[1] = column;
  }
  return kernel_access(k, &p, left ? "m" : "kb", left ? "ka" : "n");
}

/* ---- convolutions: rows are positions, what is summed up are channels and window ---- */

static void split_summed(Kernel *k, const Node *n, Dim index, Dim *at) {
  const ValueType *w = &n->args[1].node->type;
  place_of_linear(k->graph->dims, index, w->shape + 1, w->rank - 1, at);
}

/* Channel `at` of the group's own. */
static Dim channel(Kernel *k, Dim per_group, Dim at) {
  Dims *d = k->graph->dims;
  return dim_add(d, dim_mul(d, k->group->index[0], per_group), at);
}

static Access patch(Kernel *k, const Node *n, Dim index) {
  Window w = window_of(k->graph, n);
  Dim at[GRAPH_RANK_MAX], lead[2];
  Piece p;
  split_summed(k, n, index, at);
  lead[0] = k->group->place[0];
  lead[1] = channel(k, n->args[1].node->type.shape[1], at[0]);
  window_piece(k->graph, &w, lead, k->group->place + 2, at + 1, &p);
  return kernel_access(k, &p, "m", "ka");
}

static Access filter(Kernel *k, const Node *n, Dim index) {
  Piece p = {.operand = n->args[1].node};
  p.place[0] = k->group->place[1];
  split_summed(k, n, index, p.place + 1);
  return kernel_access(k, &p, "kb", "n");
}

static void add_bias(Kernel *k, const Node *n) {
  if (n->nargs < 3 || n->args[2].kind != ARG_NODE) return;
  Value bias = kernel_value(k, n->args[2].node, &k->group->place[1]);
  kernel_line(k, "acc = acc + %s", kernel_cast(k, bias, DT_F32));
}

/* ---- both ---- */

static void bind_axes(Kernel *k, Dim left_k, Dim right_k) {
  const Group *g = k->group;
  kernel_bind(k, g->index[0], "batch", AXIS_B);
  kernel_bind(k, g->index[1], "m", AXIS_M);
  kernel_bind(k, g->index[2], "n", AXIS_N);
  kernel_bind(k, left_k, "ka", AXIS_N);
  kernel_bind(k, right_k, "kb", AXIS_M);
  static const char *const masks[] = {NULL, "mmask", "nmask", "mmask & nmask"};
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = masks[axes & 3];
}

static void epilogue(Kernel *k) {
  const Group *g = k->group;
  Dim place[GRAPH_RANK_MAX];
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    group_place(k->f, g, n, place);
    if (i == 0) kernel_remember(k, n, place, (Value){"acc", DT_F32});
    Value v = kernel_value(k, n, place);
    if (k->f->stored[n->id]) kernel_store(k, n, v);
  }
}

void kernel_matmul(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Node *n = g->nodes.data[0], *left = n->args[0].node, *right = n->args[1].node;
  bool conv = prim_kind(n->op) == PRIM_CONVOLUTION;
  Dim left_k = dim_shared_index(d, "ka", g->extent[3]),
      right_k = dim_shared_index(d, "kb", g->extent[3]);
  bind_axes(k, left_k, right_k);
  Access a = conv ? patch(k, n, left_k) : matrix(k, left, g->index[0], g->index[1], left_k, true);
  Access b =
      conv ? filter(k, n, right_k) : matrix(k, right, g->index[0], right_k, g->index[2], false);
  Slot slots[] = {{"m", kernel_index(k, g->extent[1], NULL)},
                  {"n", kernel_index(k, g->extent[2], NULL)},
                  {"k", kernel_index(k, g->extent[3], NULL)},
                  {"left", a.pointers},
                  {"left_condition", a.condition},
                  {"right", b.pointers},
                  {"precision", left->type.dtype == DT_F32 ? ", input_precision=\"ieee\"" : ""}};
  if (conv) add_bias(k, n);
  epilogue(k);
  kernel_emit(out, k, "matmul.py", slots, sizeof slots / sizeof *slots);
}
