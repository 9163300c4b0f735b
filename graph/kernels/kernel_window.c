/* The elements of PRIM_WINDOW: the positions of the window one after the other, written out or, of
 * large windows, in a loop: over all positions, or over those of the leading axes, with the last
 * axis written out.  Terms that depend on the index alone are computed once for all. */
#include <string.h>

#include "graph/kernels/kernel.h"
#include "graph/ops/window.h"

/* That are written out.  Where each element of a tile has a row of its own, there are as many
 * addresses and conditions as elements for each position. */
enum { POSITIONS_MAX = 32, FLAT_POSITIONS_MAX = 9, LAST_AXIS_MAX = 9 };

typedef struct {
  Kernel *k;
  Node *node;
  const Dim *index;
  Window w;
  DType dtype; /* in which it is summed up */
  bool max;
  const char *acc;
} Sliding;

/* Is the piece's element loaded, so that outside of its limits it is 0 already?  What this kernel
 * computes itself is not. */
static bool is_loaded(const Kernel *k, const ConcatSource *p) {
  const Node *n = p->operand;
  while (!k->f->of[n->id] && n->kind == NODE_CALL) {
    bool view = prim_kind(n->op) == PRIM_VIEW;
    if (!view && n->op->id != OP_aten_to_dtype) return false;
    n = view ? view_operand(n) : n->args[0].node;
  }
  return n->kind == NODE_INPUT || (k->f->of[n->id] && k->f->of[n->id] != k->group);
}

/* The window's value at a position: an element, times a weight. */
static const char *window_term(Sliding *s, const Dim *at) {
  Kernel *k = s->k;
  ConcatSource p;
  window_piece(k->graph, &s->w, s->index, at, &p);
  const char *condition = kernel_piece_condition(k, &p);
  const char *v = kernel_piece_value(k, &p, condition, s->dtype);
  const char *none = !s->max ? "0" : kernel_neutral(k, "least", s->dtype);
  bool zero = !s->max && is_loaded(k, &p);
  if (condition && !zero) v = arena_printf(k->arena, "tl.where(%s, %s, %s)", condition, v, none);
  if (!s->w.weight) return v;
  Dim of[GRAPH_RANK_MAX];
  memcpy(of, at, s->w.n * sizeof *of);
  of[s->w.n] = s->index[s->node->type.rank - 1];
  const char *weight = kernel_cast(k, kernel_value(k, s->w.weight, of), s->dtype);
  return arena_printf(k->arena, "%s * %s", v, weight);
}

/* The first term begins the accumulator, which has the shape of its tile. */
static void add_window_term(Sliding *s, const Dim *at, bool first) {
  Kernel *k = s->k;
  size_t memo = k->memo.len;
  const char *v = window_term(s, at);
  if (first) kernel_line(k, "%s = %s", s->acc, v);
  else if (s->max) kernel_line(k, "%s = maximum(%s, %s)", s->acc, s->acc, v);
  else kernel_line(k, "%s = %s + %s", s->acc, s->acc, v);
  k->memo.len = memo;
}

static void write_out(Sliding *s, int64_t count) {
  Dims *d = s->k->graph->dims;
  for (int64_t i = 0; i < count; i++) {
    Dim at[WINDOW_AXES + 1];
    index_of_linear(d, dim_int(d, i), s->w.size, s->w.n, at);
    add_window_term(s, at, i == 0);
  }
}

/* Of the accumulator: a row has a column only if the index depends on it. */
static const char *tile_shape(const Sliding *s) {
  const ValueType *t = &s->node->type;
  unsigned axes = 0;
  kernel_index(s->k, linear_of_index(s->k->graph->dims, s->index, t->shape, t->rank), &axes);
  if (dim_is(s->k->group->r, 1)) return "[XBLOCK]";
  return axes & AXIS_R ? "[XBLOCK, RBLOCK]" : "[XBLOCK, 1]";
}

/* How many positions of the last axis are written out in the loop over the others: neighbours share
 * rows of addresses and conditions, and their loads are in flight together. */
static int64_t written_in_loop(const Sliding *s) {
  if (s->w.n < 2) return 1;
  Dim last = s->w.size[s->w.n - 1];
  return dim_is_int(last) && last->value <= LAST_AXIS_MAX ? last->value : 1;
}

static void write_loop(Sliding *s, Dim count) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  int64_t inner = written_in_loop(s);
  count = dim_floordiv(d, count, dim_int(d, inner));
  Dim at[WINDOW_AXES + 1], position = dim_shared_index(d, "position", count);
  const char *name = kernel_fresh(k, "position");
  kernel_line(k, "%s = tl.full(%s, %s, tl.%s)", s->acc, tile_shape(s),
              s->max ? kernel_neutral(k, "least", s->dtype) : "0", dtype_lang_name(s->dtype));
  kernel_line(k, "for %s in range(0, %s):", name, kernel_index(k, count, NULL));
  size_t taken = k->taken.len;
  k->indent += 4;
  kernel_bind(k, position, name, 0);
  index_of_linear(d, position, s->w.size, s->w.n - (inner > 1), at);
  for (int64_t i = 0; i < inner; i++) {
    if (inner > 1) at[s->w.n - 1] = dim_int(d, i);
    add_window_term(s, at, false);
  }
  k->indent -= 4;
  kernel_forget(k, taken);
}

Value kernel_window(Kernel *k, Node *n, const Dim *index) {
  Sliding s = {.k = k, .node = n, .index = index, .w = window_of(k->graph, n)};
  s.dtype = kernel_held(n->type.dtype);
  s.max = n->op->id == OP_nereid_pool_max_default;
  s.acc = kernel_fresh_for(k, n);
  Dim count = window_count(k->graph, &s.w);
  int64_t most = dim_is(k->group->r, 1) ? FLAT_POSITIONS_MAX : POSITIONS_MAX;
  if (dim_is_int(count) && count->value <= most) write_out(&s, count->value);
  else write_loop(&s, count);
  Value v = {s.acc, s.dtype};
  kernel_remember(k, n, index, v);
  return v;
}
