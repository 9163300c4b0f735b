/* Passes on permutations.
 *
 * Pass merge_turned: for GPUs, what is computed of a tensor and of a permutation of it is computed
 * once.
 *
 * Training in 8-bit floats casts a tensor along both axes, once for each product that reads it:
 *
 *   y = mul(x, s), z = mul(permute(x), s)   ->   y = mul(x, s), z = permute(y)
 *   amax(abs(permute(x)))                   ->   amax(abs(x))
 *
 * A key is a node, or an elementwise one whose operands are seen through permutations.  The first
 * node of a key computes; others with that key are permutations of it.  A reduction of all axes, in
 * whatever order, reads memory as it lies.
 *
 * Pass order_reductions: on CPUs reductions go along axes in the order that memory has them in.
 *
 * Rows and columns of a reduction's kernel are axes as the graph has them.  Where operands are
 * permuted, as inputs with strides of their own are, a vector would take elements one by one:
 *
 *   sum(exp(permute(x, [1, 0])), 1)   ->   sum(exp(x), 0)
 *
 * The result is permuted instead, if it has several axes.  What is computed between the two is
 * computed of operands in memory's order. */
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"
#include "planner/passes/node_equality.h"

/* ---- merge_turned ---- */

typedef struct {
  Node *key;                     /* NULL: the slot is free */
  Node *node;                    /* the first one that has it */
  uint32_t axes[GRAPH_RANK_MAX]; /* axis i of the node is this one of the key */
} TurnedEntry;

typedef struct {
  Graph *g;
  Arena *scratch;
  ReplacementMap replacements;
  TurnedEntry *table; /* open addressing */
  uint32_t mask;
  uint32_t nids;  /* of the nodes that there were */
  uint32_t *uses; /* by id of these */
} MergeTurned;

static bool same_shape(const Node *a, const Node *b) {
  if (a->type.rank != b->type.rank) return false;
  for (uint32_t i = 0; i < a->type.rank; i++)
    if (a->type.shape[i] != b->type.shape[i]) return false;
  return true;
}

static bool is_elementwise(const Node *n) {
  return n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE && n->type.rank > 0 &&
         n->type.kind == VALUE_TENSOR && !n->op->random && !prim_checks(n);
}

/* The key of n, which is elementwise, and its axes.  NULL: its operands have different axes. */
static Node *key_of(MergeTurned *m, Node *n, uint32_t *axes) {
  Node *key = ARENA_NEW(m->scratch, Node);
  *key = *n;
  key->args = ARENA_ARRAY(m->scratch, Arg, n->nargs);
  memcpy(key->args, n->args, n->nargs * sizeof *n->args);
  bool any = false;
  for (uint32_t i = 0; i < n->nargs; i++) {
    Node *x = n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
    if (n->args[i].kind == ARG_LIST) return NULL;
    if (!x || x->type.kind != VALUE_TENSOR || dim_is(value_numel(m->g, &x->type), 1)) continue;
    uint32_t own[GRAPH_RANK_MAX];
    if (!same_shape(x, n)) return NULL;
    key->args[i].node = strided_unpermuted(x, own);
    if (any && memcmp(own, axes, n->type.rank * sizeof *own)) return NULL;
    memcpy(axes, own, n->type.rank * sizeof *own);
    any = true;
  }
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; any && i < n->type.rank; i++) shape[axes[i]] = n->type.shape[i];
  key->type = value_tensor(m->g, n->type.dtype, n->type.rank, shape);
  return any ? key : NULL;
}

static TurnedEntry *entry_of(MergeTurned *m, const Node *key) {
  uint64_t i = node_hash(key);
  TurnedEntry *e = &m->table[i & m->mask];
  while (e->key && !node_equal(e->key, key)) e = &m->table[++i & m->mask];
  return e;
}

/* n as a permutation of the first node of its key; NULL: it is that node. */
static Node *turned_first(MergeTurned *m, Node *n) {
  uint32_t axes[GRAPH_RANK_MAX], turn[GRAPH_RANK_MAX], rank = n->type.rank;
  Node *key = is_elementwise(n) ? key_of(m, n, axes) : NULL;
  for (uint32_t i = 0; i < rank && !key; i++) axes[i] = i;
  if (!key) key = n;
  TurnedEntry *e = entry_of(m, key);
  if (!e->key) {
    e->key = key;
    e->node = n;
    memcpy(e->axes, axes, rank * sizeof *axes);
    return NULL;
  }
  for (uint32_t k = 0; k < rank; k++)
    for (uint32_t of = 0; of < rank; of++)
      if (e->axes[of] == axes[k]) turn[k] = of;
  if (e->node->id < m->nids) m->uses[e->node->id]++;
  if (key == n) return e->node;
  Build b = build_at(m->g, n);
  return setjmp(b.in.failed) ? NULL : build_permute(&b, e->node, turn);
}

/* Nothing but one other node uses it. */
static bool is_used_once(const MergeTurned *m, const Node *x) {
  return x->id < m->nids && m->uses[x->id] == 1;
}

/* Nothing but the reader of n, a permutation of `of`, sees that one's axes. */
static bool is_read_alone(const MergeTurned *m, const Node *n, const Node *of) {
  for (; n != of; n = n->args[0].node)
    if (!is_used_once(m, n)) return false;
  return true;
}

/* The operand with all of x's elements; NULL: there are several. */
static Node *single_operand(const Node *x) {
  Node *found = NULL;
  for (uint32_t i = 0; i < x->nargs; i++) {
    Node *of = x->args[i].kind == ARG_NODE ? x->args[i].node : NULL;
    if (!of || of->type.kind != VALUE_TENSOR || !same_shape(of, x)) continue;
    if (found) return NULL;
    found = of;
  }
  return found;
}

/* Lets x, of which a reduction reads `axes`, be computed of operands without their permutations, as
 * far as nothing but the reduction needs the nodes.  Axis i of its operand is then `axes[i]`. */
static void put_in_order(MergeTurned *m, Node *x, uint32_t *axes) {
  enum { CHAIN_MAX = 16 };
  TurnedEntry *chain[CHAIN_MAX];
  uint32_t outer[GRAPH_RANK_MAX], inner[GRAPH_RANK_MAX];
  Node *key = NULL;
  int n = 0;
  memcpy(outer, axes, sizeof outer);
  for (Node *at = x; at && n < CHAIN_MAX && is_used_once(m, at); at = single_operand(at)) {
    Node *own = is_elementwise(at) ? key_of(m, at, inner) : NULL;
    TurnedEntry *e = own ? entry_of(m, own) : NULL;
    if (!e || e->node != at) break;
    chain[n++] = e;
    key = own;
    for (uint32_t i = 0; i < x->type.rank; i++) axes[i] = inner[outer[i]];
  }
  if (!n) return;
  memcpy(chain[n - 1]->node->args, key->args, key->nargs * sizeof *key->args);
  for (int i = 0; i < n; i++) {
    ValueType *t = &chain[i]->node->type;
    *t = value_tensor(m->g, t->dtype, t->rank, key->type.shape);
    chain[i]->key->type = *t;
    for (uint32_t k = 0; k < t->rank; k++) chain[i]->axes[k] = k;
  }
}

/* Extremes and sums of all elements are those of a permutation of them; others are of a permutation
 * that comes last. */
static void read_in_order(MergeTurned *m, Node *n) {
  Graph *g = m->g;
  if (!graph_is_any(n, OP_aten_amax_default, OP_aten_amin_default, OP_aten_sum_dim_IntList)) return;
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return;
  uint32_t axes[GRAPH_RANK_MAX];
  Node *x = n->args[0].node;
  bool all = infer_axes_arg(&b.in, "dim", rank_of(x)) == all_axes(x);
  Node *before = strided_unpermuted(x, axes);
  bool alone = is_read_alone(m, x, before);
  if (alone) put_in_order(m, before, axes);
  if (all || alone) n->args[0].node = all ? before : build_permute(&b, before, axes);
}

static void merge_node(MergeTurned *m, Node *n) {
  replacements_apply(&m->replacements, n);
  bool call = n->kind == NODE_CALL;
  if ((!call && n->kind != NODE_GETITEM) || (call && n->op->random)) return;
  if (call) read_in_order(m, n);
  Node *same = turned_first(m, n);
  if (same) replacement_of(&m->replacements, n)->node = same;
}

bool pass_merge_turned(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  MergeTurned m = {.g = g, .scratch = scratch, .replacements = replacements_new(g, scratch)};
  uint32_t size = 16;
  while (size / 2 <= g->nids) size *= 2;
  m.table = ARENA_ARRAY(scratch, TurnedEntry, size);
  m.mask = size - 1;
  m.nids = g->nids;
  m.uses = graph_use_counts(g, scratch);
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    merge_node(&m, n);
  }
  graph_dce(g);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}

/* ---- order_reductions ---- */

enum { DEPTH_MAX = 16 };

typedef struct {
  Graph *g;
  const uint32_t *uses; /* by id of the nodes that there were */
  uint32_t nids;
  uint32_t rank;
  const Dim *shape; /* of what is reduced */
  bool known;
  uint32_t axes[GRAPH_RANK_MAX]; /* axis i of memory's order is this one */
} Ordered;

static bool has_shape(const Ordered *o, const Node *n) {
  if (n->type.kind != VALUE_TENSOR || n->type.rank != o->rank) return false;
  return !memcmp(n->type.shape, o->shape, o->rank * sizeof *o->shape);
}

/* The first argument of n that is the node of argument i: an operand may come twice. */
static uint32_t first_argument(const Node *n, uint32_t i) {
  uint32_t k = 0;
  while (n->args[k].kind != ARG_NODE || n->args[k].node != n->args[i].node) k++;
  return k;
}

static uint32_t uses_by(const Node *user, const Node *x) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < user->nargs; i++)
    n += user->args[i].kind == ARG_NODE && user->args[i].node == x;
  return n;
}

/* Is x computed for its user alone, or so briefly that others may compute it again? */
static bool is_between(const Ordered *o, const Node *x, const Node *user) {
  bool elements = x->kind == NODE_CALL && prim_kind(x->op) == PRIM_POINTWISE && !x->op->random &&
                  !prim_checks(x);
  if (!elements || x->id >= o->nids) return false;
  bool cast = graph_is_any(x, OP_aten_to_dtype, OP_aten__to_copy_default);
  return cast || o->uses[x->id] == uses_by(user, x);
}

/* The axes of x by their strides in memory, the largest first; false: they are not known, or
 * elements are read several times. */
static bool memory_order(const Ordered *o, Node *x, uint32_t *axes) {
  Strided s;
  for (uint32_t i = 0; i < o->rank; i++) axes[i] = i;
  if (!prim_is_view(x)) return true;
  if (o->rank > STRIDED_RANK_MAX || !strided_of(o->g, x, &s)) return false;
  uint32_t n = 0;
  for (uint32_t i = 0; i < o->rank; i++) {
    bool one = dim_is(o->shape[i], 1);
    if (!dim_is_int(o->shape[i]) || !dim_is_int(s.stride[i])) return false;
    if (!one && s.stride[i]->value <= 0) return false;
    uint32_t at = n++;
    for (; at && !one && s.stride[axes[at - 1]]->value < s.stride[i]->value; at--)
      axes[at] = axes[at - 1];
    axes[at] = i;
  }
  return true;
}

/* Have all operands of x's elements one order of memory? */
static bool note_order(Ordered *o, Node *x, const Node *user, uint32_t depth) {
  if (!is_between(o, x, user)) {
    uint32_t axes[GRAPH_RANK_MAX];
    if (!memory_order(o, x, axes)) return false;
    if (!o->known) memcpy(o->axes, axes, sizeof axes);
    bool same = !o->known || !memcmp(o->axes, axes, o->rank * sizeof *axes);
    o->known = true;
    return same;
  }
  if (depth == DEPTH_MAX) return false;
  for (uint32_t i = 0; i < x->nargs; i++) {
    const Arg *a = &x->args[i];
    if (a->kind == ARG_LIST) return false;
    if (a->kind != ARG_NODE || a->node->type.kind != VALUE_TENSOR || !a->node->type.rank) continue;
    if (a->node->type.rank != o->rank) return false;
    if (first_argument(x, i) < i || !has_shape(o, a->node)) continue;
    if (!note_order(o, a->node, x, depth + 1)) return false;
  }
  return true;
}

/* Does the order end with another axis than the tensor does? */
static bool is_turned(const Ordered *o) {
  uint32_t last = o->rank, in_memory = o->rank;
  while (last && dim_is(o->shape[last - 1], 1)) last--;
  while (in_memory && dim_is(o->shape[o->axes[in_memory - 1]], 1)) in_memory--;
  return last && o->axes[in_memory - 1] != last - 1;
}

static Node *copy_node(Graph *g, const Node *n, Node *before, uint32_t rank, const Dim *shape) {
  Node *copy = graph_node(g, NODE_CALL, before, n->nargs, n->nnamed);
  copy->op = n->op;
  memcpy(copy->args, n->args, n->nargs * sizeof *n->args);
  memcpy(copy->named, n->named, n->nnamed * sizeof *n->named);
  copy->type = value_tensor(g, n->type.dtype, rank, shape);
  copy->location = n->location;
  copy->origin = n->origin;
  graph_fresh_name(g, copy, n->name);
  return copy;
}

static Node *permuted(Build *b, Node *x, const uint32_t *axes) {
  uint32_t own[GRAPH_RANK_MAX], all[GRAPH_RANK_MAX];
  bool same = true;
  Node *of = strided_unpermuted(x, own);
  for (uint32_t i = 0; i < x->type.rank; i++) {
    all[i] = own[axes[i]];
    same &= all[i] == i;
  }
  return same ? of : build_permute(b, of, all);
}

static Node *in_order(const Ordered *o, Build *b, Node *x, const Node *user) {
  if (!has_shape(o, x) || !is_between(o, x, user)) return permuted(b, x, o->axes);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < o->rank; i++) shape[i] = o->shape[o->axes[i]];
  Node **operands = ARENA_ARRAY(o->g->arena, Node *, x->nargs);
  for (uint32_t i = 0; i < x->nargs; i++) {
    Node *of = x->args[i].kind == ARG_NODE ? x->args[i].node : NULL;
    if (!of || of->type.kind != VALUE_TENSOR || !of->type.rank) continue;
    uint32_t first = first_argument(x, i);
    operands[i] = first < i ? operands[first] : in_order(o, b, of, x);
  }
  Node *copy = copy_node(o->g, x, b->before, o->rank, shape);
  for (uint32_t i = 0; i < x->nargs; i++)
    if (operands[i]) copy->args[i].node = operands[i];
  return copy;
}

/* The reduction of axes `set` in that order, with the axes of n's result. */
static Node *reduced(const Ordered *o, Build *b, Node *n, uint32_t set, bool keepdim) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t along = 0, rank = 0, place[GRAPH_RANK_MAX], back[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < o->rank; i++) {
    uint32_t axis = o->axes[i];
    bool reduces = set >> axis & 1;
    if (reduces) along |= 1u << i;
    if (reduces && !keepdim) continue;
    place[axis] = rank;
    shape[rank++] = reduces ? build_const(b, 1) : o->shape[axis];
  }
  for (uint32_t axis = 0, k = 0; axis < o->rank; axis++)
    if (keepdim || !(set >> axis & 1)) back[k++] = place[axis];
  Node *x = in_order(o, b, n->args[0].node, n);
  Node *made = copy_node(o->g, n, b->before, rank, shape);
  made->args[0].node = x;
  if (made->nargs > 1 && made->args[1].kind == ARG_INT)
    made->args[1] = build_int(b, __builtin_ctz(along));
  else if (made->nargs > 1) made->args[1] = arg_axes(o->g, along);
  return permuted(b, made, back);
}

/* Is that argument the axes of a reduction, as all of them have? */
static bool has_axes(const Node *n) {
  if (n->args[0].kind != ARG_NODE || n->nargs < 2) return false;
  const Arg *dim = &n->args[1];
  return dim->kind == ARG_INT || dim->kind == ARG_LIST;
}

static Node *ordered_reduction(const Ordered *facts, Node *n) {
  Node *x = n->args[0].node;
  Ordered o = *facts;
  o.rank = x->type.rank;
  o.shape = x->type.shape;
  if (o.rank < 2 || !note_order(&o, x, n, 0) || !o.known || !is_turned(&o)) return NULL;
  Build b = build_at(o.g, n);
  if (setjmp(b.in.failed)) return NULL;
  uint32_t set = infer_axes_arg(&b.in, "dim", o.rank);
  return reduced(&o, &b, n, set, graph_arg(o.g, n, "keepdim").flag);
}

bool pass_order_reductions(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  ReplacementMap replacements = replacements_new(g, scratch);
  Ordered facts = {.g = g, .uses = graph_use_counts(g, scratch), .nids = g->nids};
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    replacements_apply(&replacements, n);
    bool reduces = n->kind == NODE_CALL && prim_kind(n->op) == PRIM_REDUCE && has_axes(n);
    Node *made = reduces ? ordered_reduction(&facts, n) : NULL;
    if (made) replacement_of(&replacements, n)->node = made;
  }
  graph_dce(g);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
