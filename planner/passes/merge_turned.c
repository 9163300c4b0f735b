/* Pass merge_turned: for GPUs, what is computed of a tensor and of a permutation of it is computed
 * once.
 *
 * Training in 8-bit floats casts a tensor along both axes, once for each product that reads it:
 *
 *   y = mul(x, s), z = mul(permute(x), s)   ->   y = mul(x, s), z = permute(y)
 *   amax(abs(permute(x)))                   ->   amax(abs(x))
 *
 * A key is a node, or an elementwise one whose operands are seen through permutations.  The first
 * node of a key computes; others with that key are permutations of it.  A reduction of all axes, in
 * whatever order, reads memory as it lies. */
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"
#include "planner/passes/node_equality.h"

typedef struct {
  Node *key;  /* NULL: the slot is free */
  Node *node; /* the first one that has it */
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
