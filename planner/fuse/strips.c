#include "planner/fuse/strips.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "planner/fuse/fuse_state.h"

/* How many threads, of 16 bytes each, are enough: fewer gain less by loads in common than they lose
 * by waiting for them. */
enum { THREADS_MIN = 1 << 13, THREAD_BYTES = 16 };
/* The parts of a thread's strip at most. */
enum { THREAD_STRIP_MAX = 7 };

/* What is also written to a slice of a concatenation is stored twice. */
static bool is_simple(const Node *n) {
  PrimKind k = prim_kind(n->op);
  return k == PRIM_WINDOW || k == PRIM_POINTWISE || k == PRIM_REDUCE || k == PRIM_INSERT;
}

/* The window that goes through the group's elements, if the other nodes can be computed for several
 * of them at once. */
static const Node *strip_window(const Group *g) {
  const Node *window = NULL;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (!is_simple(n)) return NULL;
    if (prim_kind(n->op) == PRIM_WINDOW) window = n;
  }
  if (!window || window->type.rank != g->rank) return NULL;
  for (uint32_t i = 0; i < g->rank; i++)
    if (window->type.shape[i] != g->shape[i]) return NULL;
  return window;
}

static bool reduces(const Group *g) {
  bool any = false;
  for (size_t i = 0; i < g->nodes.len; i++) any |= prim_kind(g->nodes.data[i]->op) == PRIM_REDUCE;
  return any;
}

/* Are the axis's elements next to each other among those that the group's x, or its r, has? */
static bool is_innermost(const Group *g, uint32_t axis) {
  uint32_t in_r = g->columns >> axis & 1;
  for (uint32_t i = axis + 1; i < g->rank; i++)
    if ((g->columns >> i & 1) == in_r && !dim_is(g->shape[i], 1)) return false;
  return true;
}

bool window_has_strips(const Window *w) {
  uint32_t last = w->n - 1;
  Dim size = w->size[last], stride = w->stride[last];
  if (!w->weight || !dim_is(w->spread[last], 1) || !dim_is_int(w->dilation[last])) return false;
  if (!dim_is_int(size) || !dim_is_int(stride) || size->value > STRIP_WINDOW_MAX) return false;
  return stride->value < size->value;
}

/* The most parts that fill the axis. */
static uint32_t strip_of(const Group *g, const Node *window, uint32_t axis) {
  int64_t bytes = g->x->value * g->r->value * (int64_t)dtype_bytes(window->type.dtype);
  for (uint32_t strip = THREAD_STRIP_MAX; strip > 1; strip--)
    if (g->shape[axis]->value % strip == 0 && bytes / THREAD_BYTES / strip >= THREADS_MIN)
      return strip;
  return 1;
}

static void choose_strip(Fusion *f, Group *g) {
  bool rows = g->kind == GROUP_LOOPS && dim_is_int(g->x) && dim_is_int(g->r) && !dim_is(g->r, 1);
  const Node *n = rows ? strip_window(g) : NULL;
  if (!n) return;
  Window w = window_of(f->graph, n);
  uint32_t axis = w.first + w.n - 1;
  if (!window_has_strips(&w) || !is_innermost(g, axis)) return;
  g->strip = strip_of(g, n, axis);
  g->strip_axis = g->columns >> axis & 1;
}

void fuse_choose_strips(Fusion *f) {
  for (size_t i = 0; i < f->groups.len; i++) choose_strip(f, f->groups.data[i]);
}

/* ---- copies into panels ---- */

/* The axes of panels. */
enum { PANEL, STEP, COLUMN, ELEMENT, PANEL_AXES };

/* The strides within the first panel of what is copied, before columns that are none; false: it
 * has none. */
static bool strides_of_panel(const Fusion *f, Node *x, Strided *out) {
  Graph *g = f->graph;
  Dim index[PANEL_AXES], at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX], shape[PANEL_AXES];
  memcpy(shape, x->type.shape, sizeof shape);
  shape[PANEL] = dim_int(g->dims, 1);
  strided_index(g->dims, shape, PANEL_AXES, index);
  memcpy(at, index, sizeof index);
  for (Node *whole; (whole = strided_unpadded(g, x)) || prim_is_view(x); x = whole) {
    if (whole) continue;
    view_index(g, x, at, from);
    memcpy(at, from, sizeof at);
    whole = view_operand(x);
  }
  Dim offset = linear_of_index(g->dims, at, x->type.shape, x->type.rank);
  return strided_offset(g->dims, offset, index, PANEL_AXES, out);
}

static bool copies_panels(const Group *g) {
  const Node *n = g->nodes.data[0];
  const ValueType *t = &n->type;
  bool suits = strided_word(t->dtype) > 1 || t->dtype == DT_F32 || t->dtype == DT_F64;
  return g->kind == GROUP_LOOPS && g->nodes.len == 1 && graph_is(n, OP_aten_clone_default) &&
         suits && t->rank == PANEL_AXES && dim_is(t->shape[ELEMENT], strided_word(t->dtype)) &&
         dim_is(g->r, 1) && !g->crossed && fuse_same_shape(g, t->rank, t->shape) &&
         !dim_is(t->shape[COLUMN], 1);
}

void fuse_find_panels(const Fusion *f, Group *g) {
  Strided s;
  Node *n = g->nodes.data[0];
  if (!copies_panels(g) || !strides_of_panel(f, n->args[0].node, &s)) return;
  int64_t word = strided_word(n->type.dtype);
  bool along = dim_is(s.stride[STEP], word) && (word == 1 || dim_is(s.stride[ELEMENT], 1));
  if (!along && !dim_is(s.stride[COLUMN], 1)) return;
  g->words = word > 1;
  g->strip = (uint32_t)word;
  g->strip_axis = 1;
  uint32_t columns = along ? 1u << STEP : 1u << PANEL | 1u << COLUMN;
  fuse_axes_domain(f, g, &n->type, columns | 1u << ELEMENT);
  g->crossed = true;
  g->rows = !along;
}

void fuse_find_dense_rows(const Fusion *f, Group *g) {
  enum { ROW_LEAST = 16, ROW_ENOUGH = 256, ROW_MOST = 1 << 14 };
  const Node *n = g->nodes.data[0];
  const ValueType *t = &n->type;
  bool copies = f->graph->host && g->kind == GROUP_LOOPS && g->nodes.len == 1 &&
                graph_is(n, OP_nereid_dense_default) && dim_is(g->r, 1) && !g->crossed &&
                g->strip <= 1 && t->rank > 1 && fuse_same_shape(g, t->rank, t->shape);
  for (uint32_t i = 0; i < t->rank; i++) copies = copies && dim_is_int(t->shape[i]);
  if (!copies) return;
  uint32_t first = t->rank - 1, columns = 1u << first;
  int64_t row = t->shape[first]->value;
  while (first > 1 && row < ROW_ENOUGH && row * t->shape[first - 1]->value <= ROW_MOST) {
    row *= t->shape[--first]->value;
    columns |= 1u << first;
  }
  if (row < ROW_LEAST) return;
  fuse_axes_domain(f, g, t, columns);
  g->crossed = g->rows = true;
}

/* Has the window known sizes, and few positions along its last axis, or loops over them? */
static bool suits_rows(const Window *w) {
  uint32_t last = w->n - 1;
  bool known = dim_is_int(w->size[last]) && dim_is_int(w->stride[last]) &&
               dim_is_int(w->dilation[last]) && dim_is_int(w->spread[last]) &&
               w->spread[last]->value <= STRIP_MAX;
  for (uint32_t i = 0; i < w->n; i++) known &= !w->of_images || dim_is_int(w->dilation[i]);
  return known && (w->size[last]->value <= STRIP_WINDOW_MAX || w->of_images);
}

/* The elements of all its windows are so far apart along the row, or next to each other; 0: not. */
static int64_t spread_of(const Fusion *f, const Group *g) {
  int64_t spread = 1;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (prim_kind(n->op) != PRIM_WINDOW) continue;
    Window w = window_of(f->graph, n);
    if (!suits_rows(&w) || g->columns != 1u << (w.first + w.n - 1)) return 0;
    int64_t by = w.spread[w.n - 1]->value;
    if (by > 1 && spread > 1 && by != spread) return 0;
    if (by > 1) spread = by;
  }
  return spread;
}

/* Does the window of that node of the group slide along the last axis, by known steps? */
static bool slides_along(const Fusion *f, const Group *g, const Node *n) {
  bool fits = graph_is(n, OP_nereid_conv_depthwise_default) && n->type.rank == g->rank;
  if (!fits) return false;
  Window w = window_of(f->graph, n);
  for (uint32_t i = 0; i < w.n; i++)
    fits = fits && dim_is_int(w.size[i]) && dim_is_int(w.stride[i]) && dim_is_int(w.dilation[i]) &&
           dim_is(w.spread[i], 1);
  return fits && w.first + w.n == g->rank;
}

Dim group_slides(const Fusion *f, const Group *g) {
  enum { PLANES_LEAST = 32 };
  const Node *n = f->graph->host && g->kind == GROUP_LOOPS && !g->crossed ? strip_window(g) : NULL;
  if (!n || g->columns != 1u << (g->rank - 1) || reduces(g)) return NULL;
  for (size_t i = 0; i < g->nodes.len; i++) {
    bool window = prim_kind(g->nodes.data[i]->op) == PRIM_WINDOW;
    if (window && !slides_along(f, g, g->nodes.data[i])) return NULL;
  }
  Dims *d = f->graph->dims;
  Dim rows = dim_int(d, 1);
  for (uint32_t i = window_of(f->graph, n).first; i + 1 < g->rank; i++)
    rows = dim_mul(d, rows, g->shape[i]);
  bool many = dim_likely(d, dim_quotient(d, g->x, rows)) >= PLANES_LEAST;
  return many ? rows : dim_int(d, 1);
}

bool group_planes_first(const Group *g) {
  bool first = false;
  for (size_t i = 0; g->plane && i < g->nodes.len; i++)
    first |= graph_is(g->nodes.data[i], OP_nereid_conv_depthwise_weight_default);
  return first;
}

int64_t group_row_strip(const Fusion *f, const Group *g) {
  if (!dim_is_int(g->r) || !group_vector_columns(f, g) || !strip_window(g) || reduces(g)) return 0;
  int64_t columns = g->r->value, spread = spread_of(f, g);
  if (!spread) return 0;
  int64_t strips = (columns + STRIP_MAX - 1) / STRIP_MAX;
  int64_t parts = (columns + strips - 1) / strips;
  parts = (parts + spread - 1) / spread * spread;
  if (parts > STRIP_MAX) parts = STRIP_MAX / spread * spread;
  return parts < columns ? parts : columns;
}

int64_t group_window_rows(const Fusion *f, const Group *g) {
  const Node *n = group_planes_first(g) ? strip_window(g) : NULL;
  if (!n || !graph_is(n, OP_nereid_conv_depthwise_weight_default)) return 1;
  Window w = window_of(f->graph, n);
  uint32_t last = w.n - 1;
  Dim rows = n->type.shape[w.first + last - 1], columns = n->type.shape[w.first + last];
  bool known = w.n > 2 && dim_is_int(rows) && dim_is_int(columns) && rows->value > 1 &&
               dim_is(w.spread[last - 1], 1);
  bool few = known && rows->value * columns->value <= WINDOW_SUMS_MAX;
  return few && group_row_strip(f, g) == columns->value ? rows->value : 1;
}
