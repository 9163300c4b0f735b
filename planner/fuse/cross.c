/* Elements that are read along one axis and written along another: permutations, and what is made
 * of their elements.
 *
 * Programs that take runs of elements reach either side one by one, in as many sectors of memory.
 * Such a group gets columns: the axes that an operand, or a turned result, has next to each other.
 * Its programs take tiles of both, of which each side is in runs. */
#include <string.h>

#include "graph/analysis/strided.h"
#include "lower/nest/layout.h"
#include "lower/target/machine.h"
#include "planner/fuse/fuse_state.h"

enum { CROSSED_LEAST = 8 }; /* elements of an axis, or all of its sectors are read anyway */
enum { CROSSED_RANK_MAX = 4 };

typedef struct {
  const Fusion *f;
  const Group *own, *group; /* the group, and itself by the indices of its axes */
  const Dim *index;
  uint32_t columns; /* axes next to each other in an operand, and not in the result; 0: none */
  bool along;       /* an operand or a result is along the last axis */
  bool fields;      /* several elements read one of memory, as fields read a word */
  bool fits;
} Crossed;

static bool is_long(Dims *d, Dim size) {
  return dim_is_int(size) ? size->value >= CROSSED_LEAST : dim_likely(d, size) >= CROSSED_LEAST;
}

/* The last axis of more than one element; -1: there is none. */
static int last_axis(const Group *g) {
  int a = (int)g->rank - 1;
  while (a >= 0 && dim_is(g->shape[a], 1)) a--;
  return a;
}

static bool is_quotient(Dim offset) {
  bool found = offset->kind == DIM_FLOORDIV;
  for (uint32_t i = 0; i < offset->n && !found; i++) found = is_quotient(offset->args[i]);
  return found;
}

/* May the axis be columns?  A CPU goes through a large array once for each element of a short one,
 * as windows of weights are: 512x512x3x3 took 4.4 ms on a Sapphire Rapids, and 0.9 in tiles. */
static bool is_unit(const Crossed *c, int axis) {
  enum { LARGE = 1 << 16 };
  Dims *d = c->f->graph->dims;
  const Group *g = c->group;
  return is_long(d, g->shape[axis]) || (c->f->graph->host && dim_likely(d, g->x) >= LARGE);
}

/* Memory of which all of the group's elements are read or written, at this offset. */
static void note_offset(Crossed *c, Dim offset) {
  Dims *d = c->f->graph->dims;
  const Group *g = c->group;
  int last = last_axis(g), unit = -1;
  Strided s = {0};
  if (!strided_offset(d, offset, c->index, (int)g->rank, &s)) {
    c->fields |= is_quotient(offset);
    return;
  }
  for (int a = 0; a < (int)g->rank; a++) {
    if (dim_is(g->shape[a], 1)) continue;
    if (dim_is(s.stride[a], 0)) return;
    if (dim_is(s.stride[a], 1) || dim_is(s.stride[a], -1)) unit = a;
  }
  if (unit == last) c->along = true;
  if (unit < 0 || unit == last || c->columns || !is_unit(c, unit)) return;
  c->columns = 1u << unit;
  Dim stride = dim_mul(d, s.stride[unit], g->shape[unit]);
  for (int a = unit - 1; a >= 0; a--) { /* axes that continue it */
    if (dim_is(g->shape[a], 1)) continue;
    if (s.stride[a] != stride) return;
    c->columns |= 1u << a;
    stride = dim_mul(d, stride, g->shape[a]);
  }
}

/* Gives the group the elements at the indices of its axes, instead of those of x. */
static bool index_by_axes(Crossed *c, Group *g) {
  Dim *index = ARENA_ARRAY(c->f->arena, Dim, CROSSED_RANK_MAX);
  strided_index(c->f->graph->dims, g->shape, g->rank, index);
  c->index = g->element = index;
  return last_axis(g) >= 1;
}

static void note_memory(Node *operand, const Dim *index, void *ctx) {
  Crossed *c = ctx;
  if (c->f->of[operand->id] == c->own || !is_tensor(operand)) return;
  const ValueType *t = &operand->type;
  note_offset(c, linear_of_index(c->f->graph->dims, index, t->shape, t->rank));
}

static void note_node(Crossed *c, Node *n) {
  const ValueType *t = &n->type;
  PrimKind k = prim_kind(n->op);
  Dim at[GRAPH_RANK_MAX];
  c->fits &= k == PRIM_POINTWISE && c->f->role[n->id] == ROLE_FULL && !prim_checks(n);
  if (!c->fits) return;
  group_index(c->f, c->group, n, at);
  each_use_at(c->f, n, at, note_memory, c);
  if (c->f->stored[n->id])
    note_offset(c, linear_of_index(c->f->graph->dims, at, t->shape, t->rank));
}

/* ---- nodes that would join ---- */

bool fuse_reads_across(const Fusion *f, Node *n) {
  Group own = {0};
  fuse_set_domain(f, &own, n);
  Crossed c = {.f = f, .own = NULL, .group = &own};
  if (own.rank < 2 || own.rank > CROSSED_RANK_MAX || !index_by_axes(&c, &own)) return false;
  each_use_at(f, n, own.element, note_memory, &c);
  return c.columns && is_long(f->graph->dims, own.shape[last_axis(&own)]);
}

/* Have rows of tiles, which are the axes after the last of the columns, many elements?  A window of
 * weights is continued by their channels. */
static bool has_long_rows(Dims *d, const Group *g, uint32_t columns) {
  Dim size = dim_int(d, 1);
  for (uint32_t a = g->rank; a-- > 0 && !(columns >> a & 1);) size = dim_mul(d, size, g->shape[a]);
  return is_long(d, size);
}

typedef struct {
  const Fusion *f;
  const Group *group;
  const Node *operand;
  Dim linear;
  bool shared;
} Shared;

static Dim linear_use(const Fusion *f, const Node *operand, const Dim *index) {
  return linear_of_index(f->graph->dims, index, operand->type.shape, operand->type.rank);
}

static void note_same_use(Node *operand, const Dim *index, void *ctx) {
  Shared *s = ctx;
  if (operand == s->operand) s->shared |= linear_use(s->f, operand, index) == s->linear;
}

/* A scalar is shared with all. */
static void note_shared_use(Node *operand, const Dim *index, void *ctx) {
  Shared *s = ctx;
  if (s->shared || !is_tensor(operand)) return;
  s->operand = operand;
  s->linear = linear_use(s->f, operand, index);
  if (!s->linear->indexed) return;
  if (s->f->of[operand->id] == s->group) s->shared = true;
  for (size_t i = 0; i < s->group->nodes.len && !s->shared; i++) {
    Node *m = s->group->nodes.data[i];
    Dim at[GRAPH_RANK_MAX];
    if (prim_has_template(prim_kind(m->op)) || prim_of_kernel(m)) continue;
    group_read_index(s->f, s->group, m, at);
    each_use_at(s->f, m, at, note_same_use, s);
  }
}

bool fuse_shares_element(const Fusion *f, const Group *g, Node *n) {
  Shared s = {.f = f, .group = g};
  Dim at[GRAPH_RANK_MAX];
  group_read_index(f, g, n, at);
  each_use_at(f, n, at, note_shared_use, &s);
  return s.shared;
}

/* ---- groups ---- */

/* Places of words cost quotients and remainders for each of a run of elements, and one for each row
 * and each column of a tile.  A GPU has many programs nonetheless. */
static bool is_large(const Fusion *f, const Group *g, int last) {
  enum { COLUMNS_LEAST = 256, ELEMENTS_LEAST = 1 << 20 };
  Dim columns = g->shape[last];
  return !f->graph->host && dim_is_int(columns) && columns->value >= COLUMNS_LEAST &&
         dim_is_int(g->x) && g->x->value >= ELEMENTS_LEAST;
}

void fuse_find_crossed(const Fusion *f, Group *g) {
  const ValueType *t = &g->nodes.data[0]->type;
  int last = last_axis(g);
  if (g->kind != GROUP_LOOPS || !dim_is(g->r, 1) || g->rank < 2 || g->rank > CROSSED_RANK_MAX)
    return;
  if (!fuse_same_shape(g, t->rank, t->shape) || last < 1) return;
  Group by_axes = *g;
  Crossed c = {.f = f, .own = g, .group = &by_axes, .fits = true};
  index_by_axes(&c, &by_axes);
  for (size_t i = 0; i < g->nodes.len && c.fits; i++) note_node(&c, g->nodes.data[i]);
  if (!c.fits || !c.along) return;
  if (!c.columns && c.fields && is_large(f, g, last)) c.columns = 1u << last;
  else if (!c.columns || !has_long_rows(f->graph->dims, g, c.columns)) return;
  fuse_axes_domain(f, g, t, c.columns);
  g->crossed = true;
}

/* ---- rows of odd length ---- */

typedef struct {
  const Fusion *f;
  const Group *group;
  bool any, open; /* by a size that the graph leaves open */
  int64_t common; /* the greatest common divisor of the other sizes; 0: there are none */
  bool indexed;   /* an element is made of its index */
  bool tables;    /* tables choose rows, or columns, whose places rows of tiles compute once */
} Divided;

static void note_divisors(Divided *x, Dim index) {
  if (index->kind == DIM_FLOORDIV || index->kind == DIM_MOD) {
    Dim by = index->args[1];
    x->any = true;
    x->open |= !dim_is_int(by);
    if (dim_is_int(by)) x->common = gcd64(x->common, by->value);
  }
  for (uint32_t i = 0; i < index->n; i++) note_divisors(x, index->args[i]);
}

static void note_divided(Node *operand, const Dim *index, void *ctx) {
  Divided *x = ctx;
  if (!is_tensor(operand) || x->f->of[operand->id] == x->group) return;
  note_divisors(x, linear_use(x->f, operand, index));
}

/* What chooses the elements that a gather reads.  Its places as dims are not asked for: they would
 * be new symbols. */
typedef struct {
  const Node *gather;
  uint32_t tables, rank; /* the largest rank of one */
  bool own;              /* one has an index for each element */
  bool computed;         /* none is in memory */
} Tables;

/* Visits of what computes a table, each as often as it is used; one of more is as in memory. */
enum { TABLE_VISITS = 64 };
typedef struct {
  int visits;
  bool memory;
} TableSource;

static void note_source(Node **operand, void *ctx) {
  TableSource *x = ctx;
  const Node *n = *operand;
  x->memory |= ++x->visits > TABLE_VISITS;
  if (x->memory || !is_tensor(n)) return;
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_GATHER;
  if (k == PRIM_POINTWISE || k == PRIM_VIEW) graph_each_use((Node *)n, note_source, x);
  else x->memory = k != PRIM_CREATE;
}

static void note_table(Node **use, void *ctx) {
  Tables *x = ctx;
  const Node *n = *use;
  if (n == x->gather->args[0].node || !is_tensor(n)) return;
  TableSource source = {0};
  note_source(use, &source);
  x->tables++;
  if (n->type.rank > x->rank) x->rank = n->type.rank;
  x->own |= n->type.rank == x->gather->type.rank &&
            !memcmp(n->type.shape, x->gather->type.shape, n->type.rank * sizeof *n->type.shape);
  x->computed &= !source.memory;
}

static Tables tables_of(Node *gather) {
  Tables x = {.gather = gather, .computed = true};
  graph_each_use(gather, note_table, &x);
  return x;
}

/* Has an element of n, or of what is computed where n is, its index as an operand? */
static void note_indexed(Divided *x, const Node *n);

static void note_inlined(Node **operand, void *ctx) {
  Divided *x = ctx;
  const Node *n = *operand;
  if (n->kind == NODE_CALL && is_tensor(n) && !x->f->of[n->id]) note_indexed(x, n);
}

static void note_indexed(Divided *x, const Node *n) {
  PrimKind k = prim_kind(n->op);
  bool many = !dim_is(value_numel(x->f->graph, &n->type), 1);
  x->indexed |= k == PRIM_CONCAT || k == PRIM_GATHER || (k == PRIM_CREATE && many);
  if (!x->indexed) graph_each_use((Node *)n, note_inlined, x);
}

/* Are all indices but the first remainders by a size that is not known? */
static bool has_open_rows(const Group *g) {
  bool open = false;
  for (uint32_t a = 1; a < g->rank; a++) open |= !dim_is_int(g->shape[a]);
  return open;
}

/* The divisions of x in places of memory; none if a node of the group is not all elements. */
static Divided divided_elements(const Fusion *f, const Group *g) {
  Divided x = {.f = f, .group = g};
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    PrimKind k = prim_kind(n->op);
    bool fits = k == PRIM_POINTWISE || k == PRIM_CONCAT || k == PRIM_VIEW || k == PRIM_INSERT;
    if (k == PRIM_GATHER) {
      Tables t = tables_of(n);
      bool one = t.tables == 1 && t.rank < n->type.rank;
      x.tables |= one;
      x.any |= t.computed; /* at other places along each axis */
      fits = one || has_open_rows(g) || !t.own || t.computed;
    }
    fits = fits && f->role[n->id] == ROLE_FULL && !prim_checks(n);
    if (!fits || !fuse_same_shape(g, n->type.rank, n->type.shape)) return (Divided){0};
    Dim at[GRAPH_RANK_MAX];
    group_index(f, g, n, at);
    each_use_at(f, n, at, note_divided, &x);
    if (is_insert(n)) note_divisors(&x, insert_index(f->graph, n, at));
    else if (f->stored[n->id]) note_divided(n, at, &x);
    note_indexed(&x, n);
  }
  x.open |= x.indexed && has_open_rows(g);
  return x;
}

/* The axes whose elements follow each other in all memory: from `last` on to the front as long as
 * nothing is divided by another number than a multiple of theirs.  *row: so many elements. */
static uint32_t joined_axes(const Group *g, const Divided *x, int last, int64_t *row) {
  uint32_t axes = 1u << last;
  int64_t size = g->shape[last]->value;
  *row = size;
  for (int a = last - 1; a > 0 && x->common && !x->open; a--) {
    if (!dim_is_int(g->shape[a])) break;
    size *= g->shape[a]->value;
    if (x->common % size) continue;
    for (int i = a; i < last; i++) axes |= 1u << i;
    *row = size;
  }
  return axes;
}

void fuse_find_odd_rows(const Fusion *f, Group *g) {
  const ValueType *t = &g->nodes.data[0]->type;
  int last = last_axis(g);
  int64_t lanes = machine_find("cpu")->lanes;
  bool elements = f->graph->host && g->kind == GROUP_LOOPS && dim_is(g->r, 1) && !g->crossed &&
                  !g->plane && g->strip <= 1 && g->rank > 1 && last > 0;
  if (!elements || !fuse_same_shape(g, t->rank, t->shape)) return;
  Dim row = g->shape[last];
  Divided x = divided_elements(f, g);
  int64_t elements_of_row = 0;
  uint32_t along = dim_is_int(row) ? joined_axes(g, &x, last, &elements_of_row) : 1u << last;
  if (dim_is_int(row) && 2 * elements_of_row <= lanes) return;
  bool odd = elements_of_row % lanes || !dim_is_int(row);
  if (!x.open && !(x.any && odd) && !x.tables) return;
  fuse_axes_domain(f, g, t, along);
  g->crossed = g->rows = true;
}

Dim group_crossed_rows(const Fusion *f, const Group *g) {
  Dims *d = f->graph->dims;
  Dim before = dim_int(d, 1), after = dim_int(d, 1);
  bool first = true;
  if (!f->graph->host || !g->crossed || g->rows || g->strip > 1) return NULL;
  for (uint32_t a = 0; a < g->rank; a++) {
    bool column = g->columns >> a & 1;
    first = first && !column;
    Dim *to = first ? &before : &after;
    if (!column) *to = dim_mul(d, *to, g->shape[a]);
  }
  bool known = dim_is_int(before) && dim_is_int(after) && dim_is_int(g->x);
  return known && !dim_is(before, 1) && before->value * after->value == g->x->value ? after : NULL;
}
