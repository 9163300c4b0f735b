/* The elements of PRIM_WINDOW: the positions of the window one after the other, written out or, of
 * large windows, in a loop: over all positions, or over those of the leading axes, with the last
 * axis written out.  Terms that depend on the index alone are computed once for all.
 *
 * The parts of a strip are summed up together: elements that several of them read, and weights, are
 * loaded once for each row of the window.  Strips of a row of an image (group_row_strip) have
 * loops over the rows of the window that are within the image. */
#include <string.h>

#include "graph/ops/window.h"
#include "planner/kernels/kernel.h"

/* The most unrolled positions.  If each element of a tile has its own row, there are as many
 * addresses and conditions as elements for each position.  On a CPU a loop over the rows of a
 * window is faster (3x3 and 5x5: 0.7 to 0.95 of the time), and half of the code. */
enum { POSITIONS_MAX = 32, FLAT_POSITIONS_MAX = 9, HOST_POSITIONS_MAX = 4, LAST_AXIS_MAX = 9 };

typedef struct {
  Kernel *k;
  Node *node;
  const Dim *index[WINDOW_SUMS_MAX]; /* of each part */
  uint32_t parts, across; /* and those of one row of the window's result */
  Window w;
  DType dtype; /* in which it is summed up */
  bool max;
  bool strip;       /* the parts' elements and weights are shared */
  Dim base;         /* the first position along the last axis of those that are written out */
  int64_t positions; /* and their number */
  bool edges; /* rows that some parts have not are gone through; of the others all have all */
  const char *acc[WINDOW_SUMS_MAX];
} Sliding;

/* Have parts rows of the input of their own, of which some may be none? */
static bool has_edges(const Sliding *s) { return s->parts > s->across && s->edges; }

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

/* Is a limit broken, whatever the symbols are? */
static bool is_outside(const Kernel *k, const ConcatSource *p) {
  Dims *d = k->graph->dims;
  bool outside = false;
  for (uint32_t i = 0; i < p->nlimits; i++) {
    Dim x = p->limits[i].x, lo = p->limits[i].lo, hi = p->limits[i].hi;
    outside |= lo && dim_at_most(d, x, dim_sub(d, lo, dim_int(d, 1)));
    outside |= hi && dim_at_most(d, hi, x);
  }
  return outside;
}

/* The element of the input at a position of a part's window; NULL: in a strip of a row, no part has
 * one there. */
static const char *window_element(Sliding *s, uint32_t part, const Dim *at) {
  Kernel *k = s->k;
  ConcatSource p;
  window_piece(k->graph, &s->w, s->index[part], at, &p);
  if (k->row_strips && s->strip && is_outside(k, &p)) return NULL;
  const char *condition = kernel_piece_condition(k, &p);
  bool zero = !s->max && condition && will_load(k, &p);
  const char *v = kernel_piece_value(k, &p, condition, s->dtype);
  const char *none = !s->max ? "0" : kernel_neutral(k, "least", s->dtype);
  if (condition && !zero) v = arena_printf(k->arena, "tl.where(%s, %s, %s)", condition, v, none);
  return v;
}

static const char *named(Kernel *k, const char *base, const char *value) {
  if (!strchr(value, '(')) return value;
  const char *name = kernel_fresh(k, base);
  kernel_line(k, "%s = %s", name, value);
  return name;
}

/* The weight at a position; NULL: there are none.  Where a part's row of the input is none, so is
 * the weight: it may be infinite. */
static const char *window_weight(Sliding *s, uint32_t part, const Dim *at) {
  Kernel *k = s->k;
  Window rows = s->w;
  ConcatSource p, weight = {.operand = s->w.weight};
  if (!s->w.weight) return NULL;
  rows.n -= has_edges(s);
  window_piece(k->graph, &rows, s->index[part], at, &p);
  window_weight_index(&s->w, &p, at, s->index[0][s->w.channels], weight.index);
  if (rows.n == s->w.n || !p.nlimits)
    return kernel_cast(k, kernel_value(k, s->w.weight, weight.index), s->dtype);
  weight.nlimits = p.nlimits;
  memcpy(weight.limits, p.limits, sizeof p.limits);
  const char *condition = kernel_piece_condition(k, &weight);
  bool zero = condition && will_load(k, &weight);
  const char *v = kernel_piece_value(k, &weight, condition, s->dtype);
  if (condition && !zero) v = arena_printf(k->arena, "tl.where(%s, %s, 0)", condition, v);
  return named(k, "weight", v);
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
  add_window_term(s, 0, element, window_weight(s, 0, at), first);
  s->k->memo.len = memo;
}

/* ---- strips ---- */

/* The position of the last axis, after the first one, at which a part reads what is `place`
 * elements after the first that the strip reads; -1: it does not. */
static int64_t position_at(const Sliding *s, uint32_t part, int64_t place) {
  uint32_t last = s->w.n - 1, column = part % s->across;
  int64_t step = s->w.dilation[last]->value, from = place - column * s->w.stride[last]->value;
  if (from < 0 || from % step || from / step >= s->positions) return -1;
  return from / step;
}

/* Adds to all parts what they read in a row of the window, whose leading axes `at` has. */
static void add_row(Sliding *s, Dim *at, bool first) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  uint32_t last = s->w.n - 1;
  int64_t last_part = (s->across - 1) * s->w.stride[last]->value;
  int64_t places = last_part + (s->positions - 1) * s->w.dilation[last]->value + 1;
  size_t memo = k->memo.len;
  const char *weights[STRIP_WINDOW_MAX * WINDOW_SUMS_MAX] = {NULL};
  bool begun[WINDOW_SUMS_MAX] = {false};
  for (int64_t place = 0; place < places; place++) {
    const char *element = NULL;
    bool outside = false;
    for (uint32_t part = 0; part < s->parts; part++) {
      int64_t position = position_at(s, part, place);
      if (part % s->across == 0) element = NULL, outside = false;
      if (position < 0 || outside) continue;
      at[last] = dim_add(d, s->base, dim_int(d, position));
      if (!element) element = window_element(s, part, at);
      outside = !element;
      if (outside) continue;
      element = named(k, "element", element);
      const char **weight = &weights[part / s->across * STRIP_WINDOW_MAX + position];
      if (!*weight) *weight = window_weight(s, part, at);
      add_window_term(s, part, element, *weight, first && !begun[part]);
      begun[part] = true;
    }
  }
  k->memo.len = memo;
}

/* ---- written out, or in a loop ---- */

/* The shape of the accumulator's tile: a row has a column only if the index depends on it. */
static const char *tile_shape(const Sliding *s) {
  const ValueType *t = &s->node->type;
  if (s->k->slide) return arena_printf(s->k->arena, "[%s]", s->k->slide);
  unsigned axes = 0;
  kernel_index(s->k, linear_of_index(s->k->graph->dims, s->index[0], t->shape, t->rank), &axes);
  if (dim_is(s->k->group->r, 1)) return "[XBLOCK]";
  return axes & AXIS_R ? "[XBLOCK, RBLOCK]" : "[XBLOCK, 1]";
}

static void begin_accumulators(Sliding *s) {
  Kernel *k = s->k;
  const char *zero = s->max ? kernel_neutral(k, "least", s->dtype) : "0";
  for (uint32_t i = 0; i < s->parts; i++)
    kernel_line(k, "%s = tl.full(%s, %s, tl.%s)", s->acc[i], tile_shape(s), zero,
                dtype_lang_name(s->dtype));
}

static void write_out(Sliding *s, int64_t count) {
  Dims *d = s->k->graph->dims;
  bool begun = s->k->row_strips && s->strip; /* a part may have no element */
  if (begun) begin_accumulators(s);
  for (int64_t i = 0; i < count; i++) {
    Dim at[WINDOW_AXES + 1];
    index_of_linear(d, dim_int(d, i), s->w.size, s->w.n - s->strip, at);
    if (s->strip) add_row(s, at, i == 0 && !begun);
    else add_position(s, at, i == 0);
  }
}

/* How many positions of the last axis are written out in the loop over the others: neighbours share
 * rows of addresses and conditions, and their loads are in flight together. */
static int64_t written_in_loop(const Sliding *s) {
  if (s->w.n < 2) return 1;
  Dim last = s->w.size[s->w.n - 1];
  return dim_is_int(last) && last->value <= LAST_AXIS_MAX ? last->value : 1;
}

/* Loops in which nothing was written since the body was `inside` long are no text. */
static void drop_empty_loops(Kernel *k, size_t before, size_t inside) {
  if (k->body.len == inside) k->body.data[k->body.len = before] = '\0';
}

/* A loop over `count` positions, or over rows of the window whose last axis has `inner` ones. */
static void write_loop(Sliding *s, Dim count, int64_t inner) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  Dim at[WINDOW_AXES + 1], position = dim_shared_index(d, "position", count);
  const char *name = kernel_fresh(k, "position");
  begin_accumulators(s);
  size_t before = k->body.len;
  kernel_line(k, "for %s in range(0, %s):", name, kernel_index(k, count, NULL));
  size_t taken = k->taken.len, bindings = k->bindings.len, inside = k->body.len;
  k->indent += 4;
  kernel_bind(k, position, name, 0);
  index_of_linear(d, position, s->w.size, s->w.n - (inner > 1), at);
  if (s->strip) add_row(s, at, false);
  for (int64_t i = 0; i < inner && !s->strip; i++) {
    if (inner > 1) at[s->w.n - 1] = dim_int(d, i);
    add_position(s, at, false);
  }
  drop_empty_loops(k, before, inside);
  k->indent -= 4;
  k->bindings.len = bindings; /* another window's loop may share the symbol */
  kernel_forget(k, taken);
}

/* ---- in loops over what is within the input ---- */

/* Are axes before the last one gone through in loops, whose bounds are where the input ends? */
static bool has_rows_inside(const Sliding *s) {
  const Window *w = &s->w;
  bool rows = s->k->row_strips && s->strip && w->n > 1;
  for (uint32_t i = 0; i + 1 < w->n; i++) {
    bool plain = dim_is(w->stride[i], 1) && dim_is(w->dilation[i], 1) && dim_is_int(w->spread[i]);
    rows = rows && dim_is_int(w->dilation[i]) && (dim_is(w->spread[i], 1) || plain);
  }
  return rows;
}

/* x / step, rounded up, if that is more than 0. */
static const char *steps_to(Kernel *k, Dim x, int64_t step) {
  const char *text = kernel_index(k, x, NULL);
  if (step == 1) return text;
  return arena_printf(k->arena, "(tl.maximum(0, %s) + %lld) // %lld", text, (long long)(step - 1),
                      (long long)step);
}

/* The first position from which a spread element is met, of those from `from` on. */
static const char *first_spread(Kernel *k, Dim from, int64_t spread) {
  Dims *d = k->graph->dims;
  long long by = spread;
  const char *back = kernel_index(k, dim_sub(d, dim_int(d, 0), from), NULL);
  return arena_printf(k->arena, "(%lld - tl.maximum(0, %s) %% %lld) %% %lld", by, back, by, by);
}

/* The positions along axis i that are within the input: from begin until end.  Of parts with rows
 * of their own, those of all. */
typedef struct {
  const char *begin, *end;
} Inside;

static Inside positions_inside(Sliding *s, uint32_t i) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  const Window *w = &s->w;
  Dim zero = dim_int(d, 0), one = dim_int(d, 1), size = w->size[i];
  Dim length = w->input->type.shape[w->first + i];
  int64_t step = w->dilation[i]->value, spread = w->spread[i]->value;
  const Dim *low = s->index[0], *high = s->index[s->parts - 1];
  Dim first = dim_sub(d, dim_mul(d, low[w->first + i], w->stride[i]), w->before[i]);
  Dim last = dim_sub(d, dim_mul(d, high[w->first + i], w->stride[i]), w->before[i]);
  length = dim_add(d, dim_mul(d, dim_sub(d, length, one), w->spread[i]), one);
  Dim from = dim_sub(d, zero, first), to = dim_sub(d, length, last);
  Dim reach = dim_mul(d, dim_sub(d, size, one), w->dilation[i]);
  Inside in = {spread > 1 ? first_spread(k, from, spread) : "0", kernel_index(k, size, NULL)};
  if (!dim_at_most(d, from, zero))
    in.begin = arena_printf(k->arena, "tl.maximum(%s, %s)", in.begin, steps_to(k, from, step));
  if (!dim_at_most(d, dim_add(d, reach, one), to))
    in.end = arena_printf(k->arena, "tl.minimum(%s, %s)", in.end, steps_to(k, to, step));
  return in;
}

/* A loop over the positions along axis i that are within the input; the position. */
static Dim open_axis(Sliding *s, uint32_t i) {
  static const char *const names[WINDOW_AXES] = {"position", "position1", "position2"};
  Kernel *k = s->k;
  int64_t spread = s->w.spread[i]->value;
  Inside in = positions_inside(s, i);
  const char *by = spread > 1 ? arena_printf(k->arena, ", %lld", (long long)spread) : "";
  const char *name = kernel_fresh(k, "position");
  if (has_edges(s) && i + 2 == s->w.n) {
    const char *size = kernel_index(k, s->w.size[i], NULL), *edge = kernel_fresh(k, "edge");
    const char *low = named(k, "low", arena_printf(k->arena, "tl.minimum(%s, %s)", in.begin, size));
    const char *high = named(k, "high", arena_printf(k->arena, "tl.maximum(%s, %s)", in.end, low));
    kernel_line(k, "for %s in range(0, %s - %s + %s):", edge, size, high, low);
    k->indent += 4;
    kernel_line(k, "%s = tl.where(%s < %s, %s, %s - %s + %s)", name, edge, low, edge, edge, low,
                high);
  } else {
    kernel_line(k, "for %s in range(%s, %s%s):", name, in.begin, in.end, by);
    k->indent += 4;
  }
  Dim at = dim_shared_index(k->graph->dims, names[i], s->w.size[i]);
  kernel_bind(k, at, name, 0);
  return at;
}

/* All positions along the last axis, a few of them at a time: of the first and the last of them it
 * is known which are within the input. */
static void write_last_axis(Sliding *s, Dim *at) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  int64_t all = s->positions, times = (all + STRIP_AT_A_TIME - 1) / STRIP_AT_A_TIME;
  if (!s->w.of_images || times == 1) {
    add_row(s, at, false);
    return;
  }
  int64_t each = s->positions = (all + times - 1) / times, last = all - (times - 1) * each;
  add_row(s, at, false);
  const char *name = kernel_fresh(k, "position");
  size_t before = k->body.len;
  kernel_line(k, "for %s in range(0, %lld):", name, (long long)(times - 2));
  size_t inside = k->body.len;
  Dim some = dim_shared_index(d, "positions", dim_int(d, times - 2));
  k->indent += 4;
  kernel_bind(k, some, name, 0);
  s->base = dim_mul(d, dim_add(d, some, dim_int(d, 1)), dim_int(d, each));
  add_row(s, at, false);
  k->indent -= 4;
  drop_empty_loops(k, before, inside);
  s->base = dim_int(d, all - last);
  s->positions = last;
  add_row(s, at, false);
  s->base = dim_int(d, 0);
  s->positions = all;
}

/* Loops over the rows of the window, of those that all parts have, or of the others. */
static void loop_rows(Sliding *s, bool edges) {
  Kernel *k = s->k;
  int indent = k->indent;
  size_t taken = k->taken.len, bindings = k->bindings.len;
  Dim at[WINDOW_AXES + 1];
  s->edges = edges;
  size_t before = k->body.len;
  for (uint32_t i = 0; i + 1 < s->w.n; i++) at[i] = open_axis(s, i);
  size_t inside = k->body.len;
  s->w.inside = s->w.n - 1 - has_edges(s);
  write_last_axis(s, at);
  s->w.inside = 0;
  drop_empty_loops(k, before, inside);
  k->indent = indent;
  k->bindings.len = bindings;
  kernel_forget(k, taken);
}

/* All positions of vectors that go along the last axis (group_slides). */
static void write_slide(Sliding *s) {
  Kernel *k = s->k;
  Dims *d = k->graph->dims;
  Dim at[WINDOW_AXES + 1];
  uint32_t last = s->w.n - 1;
  int indent = k->indent;
  size_t taken = k->taken.len, bindings = k->bindings.len;
  begin_accumulators(s);
  for (uint32_t i = 0; i < last; i++) at[i] = open_axis(s, i);
  s->w.inside = last + k->within;
  int64_t size = s->w.size[last]->value, written = size <= LAST_AXIS_MAX ? size : 1;
  at[last] = dim_int(d, 0);
  if (written < size) {
    const char *name = kernel_fresh(k, "column");
    kernel_line(k, "for %s in range(0, %lld):", name, (long long)size);
    k->indent += 4;
    at[last] = dim_shared_index(d, "column", s->w.size[last]);
    kernel_bind(k, at[last], name, 0);
  }
  for (int64_t i = 0; i < written; i++) {
    if (written == size) at[last] = dim_int(d, i);
    add_position(s, at, false);
  }
  s->w.inside = 0;
  k->indent = indent;
  k->bindings.len = bindings;
  kernel_forget(k, taken);
}

static void write_window(Sliding *s) {
  Kernel *k = s->k;
  if (k->slide) {
    write_slide(s);
    return;
  }
  if (has_rows_inside(s)) {
    begin_accumulators(s);
    loop_rows(s, false);
    if (s->parts > s->across) loop_rows(s, true);
    return;
  }
  Dim count = window_count(k->graph, &s->w);
  bool known = dim_is_int(count);
  bool strip = s->strip, flat = dim_is(k->group->r, 1);
  int64_t inner = strip ? s->w.size[s->w.n - 1]->value : written_in_loop(s);
  int64_t loose = s->k->graph->host && inner > 1 ? HOST_POSITIONS_MAX : POSITIONS_MAX;
  int64_t most = strip ? inner : flat ? FLAT_POSITIONS_MAX : loose;
  if (known && count->value <= most) write_out(s, strip ? count->value / inner : count->value);
  else write_loop(s, dim_floordiv(k->graph->dims, count, dim_int(k->graph->dims, inner)), inner);
}

/* The indices of n's elements for all parts, if `index` is n's own; else only that. */
static void find_parts(Sliding *s, const Dim *index) {
  Kernel *k = s->k;
  Dim *all = ARENA_ARRAY(k->arena, Dim, GRAPH_RANK_MAX * WINDOW_SUMS_MAX);
  s->index[0] = index;
  s->parts = s->across = 1;
  bool rows = k->row_strips && kernel_owns(k, s->node);
  if (!rows && (k->nparts == 1 || !kernel_owns(k, s->node) || !window_has_strips(&s->w))) return;
  for (uint32_t i = 0; i < k->nparts; i++)
    group_index(k->f, k->parts[i], s->node, all + i * GRAPH_RANK_MAX);
  if (memcmp(all, index, s->node->type.rank * sizeof *index) != 0) return;
  s->parts = k->nparts;
  s->across = k->nparts / k->planes;
  s->strip = true;
  s->base = dim_int(k->graph->dims, 0);
  s->positions = s->w.size[s->w.n - 1]->value;
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
