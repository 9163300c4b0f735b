/* The elements of PRIM_WINDOW: the positions of the window one after the other, written out or, of
 * large windows, in a loop: over all positions, or over those of the leading axes, with the last
 * axis written out.  Terms that depend on the index alone are computed once for all.
 *
 * The parts of a strip are summed up together: elements that several of them read, and weights, are
 * loaded once for each row of the window. */
#include <string.h>

#include "graph/ops/window.h"
#include "planner/kernels/kernel.h"

/* The most unrolled positions.  If each element of a tile has its own row, there are as many
 * addresses and conditions as elements for each position. */
enum { POSITIONS_MAX = 32, FLAT_POSITIONS_MAX = 9, LAST_AXIS_MAX = 9 };

typedef struct {
  Kernel *k;
  Node *node;
  const Dim *index[STRIP_MAX]; /* of each part */
  uint32_t parts;
  Window w;
  DType dtype; /* in which it is summed up */
  bool max;
  const char *acc[STRIP_MAX];
} Sliding;

/* Will the piece's element be loaded, so that outside of its limits it is 0?  What this kernel
 * computes itself is not, nor is the first of all elements, which is loaded whatever the limits,
 * nor what the kernel loaded before: along an axis of one element, places in the padding have its
 * index. */
static bool will_load(const Kernel *k, const ConcatSource *p) {
  const Node *n = p->operand;
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  memcpy(at, p->index, n->type.rank * sizeof *at);
  while (!k->f->of[n->id] && n->kind == NODE_CALL) {
    bool view = prim_kind(n->op) == PRIM_VIEW;
    if ((!view && n->op->id != OP_aten_to_dtype) || kernel_remembers(k, n, at)) return false;
    if (view) view_index(k->graph, n, at, from);
    n = view ? view_operand(n) : n->args[0].node;
    if (view) memcpy(at, from, n->type.rank * sizeof *at);
  }
  if (kernel_remembers(k, n, at)) return false;
  Dim offset = linear_of_index(k->graph->dims, at, n->type.shape, n->type.rank);
  return kernel_loads(k, n) && !dim_is(offset, 0);
}

/* The element of the input at a position of a part's window. */
static const char *window_element(Sliding *s, uint32_t part, const Dim *at) {
  Kernel *k = s->k;
  ConcatSource p;
  window_piece(k->graph, &s->w, s->index[part], at, &p);
  const char *condition = kernel_piece_condition(k, &p);
  bool zero = !s->max && condition && will_load(k, &p);
  const char *v = kernel_piece_value(k, &p, condition, s->dtype);
  const char *none = !s->max ? "0" : kernel_neutral(k, "least", s->dtype);
  if (condition && !zero) v = arena_printf(k->arena, "tl.where(%s, %s, %s)", condition, v, none);
  return v;
}

/* The weight at a position; NULL: there are none. */
static const char *window_weight(Sliding *s, const Dim *at) {
  Dim of[GRAPH_RANK_MAX];
  if (!s->w.weight) return NULL;
  memcpy(of, at, s->w.n * sizeof *of);
  of[s->w.n] = s->index[0][s->node->type.rank - 1];
  return kernel_cast(s->k, kernel_value(s->k, s->w.weight, of), s->dtype);
}

/* The first term begins the accumulator, which has the shape of its tile. */
static void add_window_term(Sliding *s, uint32_t part, const char *element, const char *weight,
                            bool first) {
  Kernel *k = s->k;
  const char *acc = s->acc[part];
  const char *v = weight ? arena_printf(k->arena, "%s * %s", element, weight) : element;
  if (first) kernel_line(k, "%s = %s", acc, v);
  else if (s->max) kernel_line(k, "%s = maximum(%s, %s)", acc, acc, v);
  else kernel_line(k, "%s = %s + %s", acc, acc, v);
}

static void add_position(Sliding *s, const Dim *at, bool first) {
  size_t memo = s->k->memo.len;
  const char *element = window_element(s, 0, at);
  add_window_term(s, 0, element, window_weight(s, at), first);
  s->k->memo.len = memo;
}

/* ---- strips ---- */

/* The position of the last axis at which a part reads what is `place` elements after the first that
 * the strip reads; -1: it does not. */
static int64_t position_at(const Sliding *s, uint32_t part, int64_t place) {
  uint32_t last = s->w.n - 1;
  int64_t step = s->w.dilation[last]->value, from = place - part * s->w.stride[last]->value;
  if (from < 0 || from % step || from / step >= s->w.size[last]->value) return -1;
  return from / step;
}

static const char *named(Kernel *k, const char *value) {
  if (!strchr(value, '(')) return value;
  const char *name = kernel_fresh(k, "element");
  kernel_line(k, "%s = %s", name, value);
  return name;
}

/* Adds to all parts what they read in a row of the window, whose leading axes `at` has. */
static void add_row(Sliding *s, Dim *at, bool first) {
  Kernel *k = s->k;
  uint32_t last = s->w.n - 1;
  int64_t size = s->w.size[last]->value;
  int64_t last_part = (s->parts - 1) * s->w.stride[last]->value;
  int64_t places = last_part + (size - 1) * s->w.dilation[last]->value + 1;
  size_t memo = k->memo.len;
  const char *weights[STRIP_WINDOW_MAX] = {NULL};
  bool begun[STRIP_MAX] = {false};
  for (int64_t place = 0; place < places; place++) {
    const char *element = NULL;
    for (uint32_t part = 0; part < s->parts; part++) {
      int64_t position = position_at(s, part, place);
      if (position < 0) continue;
      at[last] = dim_int(k->graph->dims, position);
      if (!element) element = named(k, window_element(s, part, at));
      if (!weights[position]) weights[position] = window_weight(s, at);
      add_window_term(s, part, element, weights[position], first && !begun[part]);
      begun[part] = true;
    }
  }
  k->memo.len = memo;
}

/* ---- written out, or in a loop ---- */

static void write_out(Sliding *s, int64_t count) {
  Dims *d = s->k->graph->dims;
  for (int64_t i = 0; i < count; i++) {
    Dim at[WINDOW_AXES + 1];
    index_of_linear(d, dim_int(d, i), s->w.size, s->w.n - (s->parts > 1), at);
    if (s->parts > 1) add_row(s, at, i == 0);
    else add_position(s, at, i == 0);
  }
}

/* The shape of the accumulator's tile: a row has a column only if the index depends on it. */
static const char *tile_shape(const Sliding *s) {
  const ValueType *t = &s->node->type;
  unsigned axes = 0;
  kernel_index(s->k, linear_of_index(s->k->graph->dims, s->index[0], t->shape, t->rank), &axes);
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

static void begin_accumulators(Sliding *s) {
  Kernel *k = s->k;
  const char *zero = s->max ? kernel_neutral(k, "least", s->dtype) : "0";
  for (uint32_t i = 0; i < s->parts; i++)
    kernel_line(k, "%s = tl.full(%s, %s, tl.%s)", s->acc[i], tile_shape(s), zero,
                dtype_lang_name(s->dtype));
}

/* A loop over `count` positions, or over rows of the window whose last axis has `inner` ones. */
static void write_loop(Sliding *s, Dim count, int64_t inner) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  Dim at[WINDOW_AXES + 1], position = dim_shared_index(d, "position", count);
  const char *name = kernel_fresh(k, "position");
  begin_accumulators(s);
  kernel_line(k, "for %s in range(0, %s):", name, kernel_index(k, count, NULL));
  size_t taken = k->taken.len, bindings = k->bindings.len;
  k->indent += 4;
  kernel_bind(k, position, name, 0);
  index_of_linear(d, position, s->w.size, s->w.n - (inner > 1), at);
  if (s->parts > 1) add_row(s, at, false);
  for (int64_t i = 0; i < inner && s->parts == 1; i++) {
    if (inner > 1) at[s->w.n - 1] = dim_int(d, i);
    add_position(s, at, false);
  }
  k->indent -= 4;
  k->bindings.len = bindings; /* another window's loop may share the symbol */
  kernel_forget(k, taken);
}

static void write_window(Sliding *s) {
  Kernel *k = s->k;
  Dim count = window_count(k->graph, &s->w);
  bool known = dim_is_int(count);
  bool strip = s->parts > 1, flat = dim_is(k->group->r, 1);
  int64_t inner = strip ? s->w.size[s->w.n - 1]->value : written_in_loop(s);
  int64_t most = strip ? inner : flat ? FLAT_POSITIONS_MAX : POSITIONS_MAX;
  if (known && count->value <= most) write_out(s, strip ? count->value / inner : count->value);
  else write_loop(s, dim_floordiv(k->graph->dims, count, dim_int(k->graph->dims, inner)), inner);
}

/* The indices of n's elements for all parts, if `index` is n's own; else only that. */
static void find_parts(Sliding *s, const Dim *index) {
  Kernel *k = s->k;
  Dim *all = ARENA_ARRAY(k->arena, Dim, GRAPH_RANK_MAX * STRIP_MAX);
  s->index[0] = index;
  s->parts = 1;
  if (k->nparts == 1 || !kernel_owns(k, s->node) || !window_has_strips(&s->w)) return;
  for (uint32_t i = 0; i < k->nparts; i++)
    group_index(k->f, k->parts[i], s->node, all + i * GRAPH_RANK_MAX);
  if (memcmp(all, index, s->node->type.rank * sizeof *index) != 0) return;
  s->parts = k->nparts;
  for (uint32_t i = 0; i < s->parts; i++) s->index[i] = all + i * GRAPH_RANK_MAX;
}

Value kernel_window(Kernel *k, Node *n, const Dim *index) {
  Sliding s = {.k = k, .node = n, .w = window_of(k->graph, n)};
  s.dtype = kernel_held(n->type.dtype);
  s.max = n->op->id == OP_nereid_pool_max_default;
  find_parts(&s, index);
  for (uint32_t i = 0; i < s.parts; i++) s.acc[i] = kernel_fresh_for(k, n);
  write_window(&s);
  for (uint32_t i = 0; i < s.parts; i++)
    kernel_remember(k, n, s.index[i], (Value){s.acc[i], s.dtype});
  return (Value){s.acc[0], s.dtype};
}
