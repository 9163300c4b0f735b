/* The choice of recomputed values, from groups that exist.
 *
 * A stored value costs its bytes once to write, and once for each group that reads it.  Computed
 * again, it costs the bytes of its operands for each of these groups that does not read them
 * already.  Nodes are visited from the last to the first, so that the readers of an operand include
 * those that a recomputed value adds. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "planner/fuse/fuse_state.h"

enum {
  LEAVES_MAX = 8,      /* operands in memory of a recomputed value */
  INNER_MAX = 8,       /* values of a kernel's that are computed again with it */
  LOAD_WEIGHT = 8,     /* of a load that a cache answers */
  WALKED_MAX = 64,     /* nodes that are noted, of those that compute it */
  DRAW_WEIGHT = 64,    /* of a random number */
  WORK_PER_BYTE = 6,   /* additions that cost no more than a byte of memory traffic */
  SMALL_PART = 4       /* a concatenation is computed again from parts that are so much smaller */
};

typedef VEC(const Group *) Readers;

typedef struct {
  const Fusion *f;
  const bool *kept;
  const Group *reader;
  Readers *readers; /* by node id: each group once, in the order of groups at first */
  Readers *again;   /* by node id: groups that compute it for a value that is computed again */
  bool *stored;     /* by node id */
  FusePlace *place; /* by node id */
  bool any;
} Recompute;

static bool has_group(const Readers *list, const Group *g) {
  for (size_t i = list->len; i-- > 0;)
    if (list->data[i] == g) return true;
  return false;
}

static bool has_reader(const Recompute *r, const Node *n, const Group *g) {
  return has_group(&r->readers[n->id], g);
}

static void add_group(const Recompute *r, Readers *list, const Group *g) {
  if (!has_group(list, g)) vec_push(r->f->arena, list, g);
}

static void add_reader(Recompute *r, const Node *n, const Group *g) {
  if (r->f->of[n->id] != g) add_group(r, &r->readers[n->id], g);
}

static void note_reader(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  Recompute *r = ctx;
  add_reader(r, operand, r->reader);
}

/* INT64_MAX: not known. */
static int64_t value_bytes(Graph *g, const Node *n) {
  Dim elements = value_numel(g, &n->type);
  int64_t bytes;
  bool known = dim_is_int(elements) &&
               !__builtin_mul_overflow(elements->value, dtype_bytes(n->type.dtype), &bytes);
  return known ? bytes : INT64_MAX;
}

/* ---- the expression of a value over operands that are in memory ---- */

typedef struct {
  const Recompute *r;
  const Readers *readers; /* the groups that would compute it */
  const Group *whole;     /* all of whose values they would compute; NULL: none */
  Node *items[LEAVES_MAX];
  uint32_t n;
  Node *inner[INNER_MAX]; /* no memory has them: they are used by the group that computes them */
  uint32_t ninner;
  const Node *walked[WALKED_MAX]; /* each as often as it is reached */
  uint32_t nwalked;
  uint32_t work; /* of an element, in additions */
  bool joins;    /* a concatenation is among it */
  bool bad;
} Leaves;

static void add_leaf(Leaves *l, Node *n) {
  for (uint32_t i = 0; i < l->n; i++)
    if (l->items[i] == n) return;
  l->bad |= l->n == LEAVES_MAX;
  if (!l->bad) l->items[l->n++] = n;
}

static void find_leaves(Leaves *l, Node *n);

static bool is_walked(const Leaves *l, const Node *n) {
  for (uint32_t i = 0; i < l->nwalked; i++)
    if (l->walked[i] == n) return true;
  return false;
}

/* A value that its own group alone uses.  If it were a leaf, it would be stored for the sake of
 * another. */
static bool is_inner(const Leaves *l, const Node *n) {
  return !l->r->stored[n->id] && prim_kind(n->op) == PRIM_POINTWISE && l->ninner < INNER_MAX;
}

static void reach_leaf(Node **operand, void *ctx) {
  Leaves *l = ctx;
  Node *n = *operand;
  if (n->type.kind != VALUE_TENSOR || l->bad) return;
  const Group *of = n->kind == NODE_INPUT ? NULL : l->r->f->of[n->id];
  bool grouped = n->kind == NODE_INPUT || of;
  if (l->whole && is_walked(l, n)) return;
  if (!grouped || (of && of == l->whole)) return find_leaves(l, n);
  for (uint32_t i = 0; i < l->ninner; i++)
    if (l->inner[i] == n) return;
  if (n->kind == NODE_INPUT || !is_inner(l, n)) return add_leaf(l, n);
  Leaves before = *l;
  l->inner[l->ninner++] = n;
  find_leaves(l, n);
  if (!l->bad) return;
  *l = before;
  add_leaf(l, n);
}

/* Do all the groups compute n anyway? */
static bool is_shared(const Leaves *l, const Node *n) {
  for (size_t i = 0; i < l->readers->len; i++)
    if (!has_group(&l->r->again[n->id], l->readers->data[i])) return false;
  return l->readers->len > 0;
}

/* Finds leaves of n, and of nodes below it that are computed where they are used. */
static void find_leaves(Leaves *l, Node *n) {
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  bool view = prim_is_view(n) && !prim_reads_size(n);
  l->bad |= !view && k != PRIM_POINTWISE && k != PRIM_CONCAT && k != PRIM_CREATE;
  l->bad |= k == PRIM_POINTWISE && prim_branches(n);
  if (l->bad) return;
  if (l->nwalked < WALKED_MAX) l->walked[l->nwalked++] = n;
  if (k == PRIM_POINTWISE && !is_shared(l, n))
    l->work += fuse_text_work(pointwise_of(l->r->f->graph, n).text);
  if (k == PRIM_CONCAT) l->joins = true, l->work++;
  if (graph_is(n, OP_nereid_random_default)) l->work += DRAW_WEIGHT;
  graph_each_use(n, reach_leaf, l);
}

/* ---- the choice ---- */

static bool may_recompute(const Recompute *r, const Node *n) {
  const Fusion *f = r->f;
  PrimKind k = n->kind == NODE_CALL ? prim_kind(n->op) : PRIM_NONE;
  return (k == PRIM_POINTWISE || k == PRIM_CONCAT) && r->stored[n->id] && !r->kept[n->id] &&
         !f->once[n->id] && !graph_is(n, OP_nereid_dense_default) && r->readers[n->id].len;
}

/* Parts are read under masks, which costs more than memory that has them side by side: only where
 * most of it is no memory's, as in the gradient of a part. */
static bool has_small_parts(const Recompute *r, const Node *n, const Leaves *l) {
  double bytes = 0;
  for (uint32_t i = 0; i < l->n; i++) bytes += (double)value_bytes(r->f->graph, l->items[i]);
  return !l->joins || SMALL_PART * bytes <= (double)value_bytes(r->f->graph, n);
}

static double elements_of(const Recompute *r, const Node *n) {
  return (double)value_bytes(r->f->graph, n) / dtype_bytes(n->type.dtype);
}

/* The bytes that reading its leaves again moves. */
static double bytes_of_leaves(const Recompute *r, const Leaves *l) {
  double again = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    const Node *leaf = l->items[i];
    bool there = leaf->kind == NODE_INPUT || r->stored[leaf->id];
    size_t moves = !there;
    for (size_t k = 0; k < l->readers->len; k++) {
      const Group *reader = l->readers->data[k];
      moves += !has_reader(r, leaf, reader) && r->f->of[leaf->id] != reader;
    }
    again += (double)value_bytes(r->f->graph, leaf) * (double)moves;
  }
  return again;
}

/* The bytes that groups move if n's readers compute it from these; -1: not known, or computing
 * costs more than that saves. */
static double bytes_from(const Recompute *r, const Node *n, const Leaves *l) {
  size_t readers = r->readers[n->id].len;
  double own = (double)value_bytes(r->f->graph, n);
  if (!has_small_parts(r, n, l)) return -1;
  double again = bytes_of_leaves(r, l), saved = own * (double)(1 + readers) - again;
  double work = elements_of(r, n) * l->work * (double)readers;
  return work <= WORK_PER_BYTE * saved ? again : -1;
}

static void compute_again(Recompute *r, Node *n, const Leaves *l) {
  const Readers *readers = &r->readers[n->id];
  r->place[n->id] = PLACE_USERS;
  r->any = true;
  r->stored[n->id] = false;
  for (uint32_t i = 0; i < l->ninner; i++) r->place[l->inner[i]->id] = PLACE_USERS;
  for (uint32_t i = 0; i < l->nwalked; i++)
    for (size_t k = 0; k < readers->len; k++)
      add_group(r, &r->again[l->walked[i]->id], readers->data[k]);
  for (uint32_t i = 0; i < l->n; i++) {
    Node *leaf = l->items[i];
    r->stored[leaf->id] = true;
    if (leaf->kind == NODE_CALL && !r->f->of[leaf->id]) r->place[leaf->id] = PLACE_MEMORY;
    for (size_t k = 0; k < readers->len; k++) add_reader(r, leaf, readers->data[k]);
  }
}

/* The operand of a cast, if it is a pointwise node that no memory has. */
static Node *casted_node(const Recompute *r, const Node *n) {
  if (!graph_is(n, OP_aten_to_dtype) || n->args[0].kind != ARG_NODE) return NULL;
  Node *x = n->args[0].node;
  while (x->kind == NODE_CALL && prim_is_view(x) && !prim_reads_size(x)) x = view_operand(x);
  bool pointwise = x->kind == NODE_CALL && prim_kind(x->op) == PRIM_POINTWISE;
  return pointwise && !r->stored[x->id] ? x : NULL;
}

static void consider(Recompute *r, Node *n) {
  if (!may_recompute(r, n) || value_bytes(r->f->graph, n) == INT64_MAX) return;
  const Readers *readers = &r->readers[n->id];
  Leaves below = {.r = r, .readers = readers};
  Leaves at = {.r = r, .readers = readers, .n = 1, .work = 1, .items = {casted_node(r, n)}};
  find_leaves(&below, n);
  double from_below = below.bad ? -1 : bytes_from(r, n, &below);
  double from_cast = at.items[0] ? bytes_from(r, n, &at) : -1;
  bool cast = from_cast >= 0 && (from_below < 0 || from_cast < from_below);
  if (cast || from_below >= 0) compute_again(r, n, cast ? &at : &below);
}

/* ---- all values of a group ---- */

static bool same_readers(const Readers *a, const Readers *b) {
  for (size_t i = 0; i < a->len; i++)
    if (!has_group(b, a->data[i])) return false;
  return a->len == b->len;
}

/* The first stored value of a group whose stored values all have the same readers, and may be
 * computed again; NULL: it is no such group. */
static Node *first_of_shared(const Recompute *r, const Group *g) {
  Node *first = NULL;
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    if (!r->stored[n->id]) continue;
    if (!may_recompute(r, n) || value_bytes(r->f->graph, n) == INT64_MAX) return NULL;
    if (first && !same_readers(&r->readers[first->id], &r->readers[n->id])) return NULL;
    first = first ? first : n;
  }
  return first;
}

/* Values of a group may be worth it together where none is by itself: their operands are read
 * once. */
static void consider_group(Recompute *r, const Group *g) {
  Node *first = first_of_shared(r, g);
  if (!first) return;
  Leaves all = {.r = r, .readers = &r->readers[first->id], .whole = g};
  double own = 0, work = 0;
  uint32_t loads = 0;
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    uint32_t before = all.work;
    loads += r->stored[n->id];
    if (!is_walked(&all, n)) find_leaves(&all, n);
    if (r->stored[n->id]) own += (double)value_bytes(r->f->graph, n);
    work += (double)(all.work - before) * elements_of(r, n);
  }
  double again = bytes_of_leaves(r, &all);
  double saved = own * (double)(1 + all.readers->len) - again;
  bool whole = !all.bad && !all.joins && all.nwalked < WALKED_MAX;
  if (!whole || work * (double)all.readers->len > WORK_PER_BYTE * saved) return;
  FusePlace place = all.work <= LOAD_WEIGHT * loads ? PLACE_TOGETHER : PLACE_USERS;
  for (size_t i = 0; i < g->nodes.len; i++) {
    r->place[g->nodes.data[i]->id] = place;
    r->stored[g->nodes.data[i]->id] = false;
  }
  compute_again(r, first, &all);
  r->place[first->id] = place;
}

const FusePlace *fuse_find_places(const Fusion *f, const bool *kept) {
  Recompute r = {.f = f, .kept = kept};
  uint32_t ids = f->graph->nids;
  r.readers = ARENA_ARRAY(f->arena, Readers, ids);
  r.again = ARENA_ARRAY(f->arena, Readers, ids);
  r.place = ARENA_ARRAY(f->arena, FusePlace, ids);
  r.stored = ARENA_ARRAY(f->arena, bool, ids);
  if (ids) memcpy(r.stored, f->stored, ids * sizeof *r.stored);
  for (size_t i = 0; i < f->groups.len; i++) {
    const Group *g = r.reader = f->groups.data[i];
    for (size_t k = 0; k < g->nodes.len; k++) each_operand(f, g->nodes.data[k], note_reader, &r);
  }
  for (size_t i = f->groups.len; i-- > 0;) consider_group(&r, f->groups.data[i]);
  for (Node *n = f->graph->last; n; n = n->prev) consider(&r, n);
  return r.any ? r.place : NULL;
}

/* ---- traffic ---- */

typedef struct {
  const Fusion *f;
  const Group *group;
  const Group **reader; /* by node id: the last group that was seen to read it */
  double bytes;
} Traffic;

static void add_read(Node *operand, const Dim *index, void *ctx) {
  (void)index;
  Traffic *t = ctx;
  int64_t bytes = value_bytes(t->f->graph, operand);
  if (t->f->of[operand->id] == t->group || t->reader[operand->id] == t->group) return;
  t->reader[operand->id] = t->group;
  if (bytes != INT64_MAX) t->bytes += (double)bytes;
}

double fuse_traffic(const Fusion *f) {
  Traffic t = {.f = f, .reader = ARENA_ARRAY(f->arena, const Group *, f->graph->nids)};
  for (size_t i = 0; i < f->groups.len; i++) {
    t.group = f->groups.data[i];
    for (size_t k = 0; k < t.group->nodes.len; k++) {
      Node *n = t.group->nodes.data[k];
      int64_t bytes = f->stored[n->id] ? value_bytes(f->graph, n) : INT64_MAX;
      if (bytes != INT64_MAX) t.bytes += (double)bytes;
      each_operand(f, n, add_read, &t);
    }
  }
  return t.bytes;
}
