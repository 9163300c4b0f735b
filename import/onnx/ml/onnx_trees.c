/* Ensembles of decision trees of ai.onnx.ml, as tables: each row goes down all trees at once, a
 * level a step, by the number of the node where it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { LEVELS_MAX = 64, NODES_MAX = 1 << 24, TABLE_MAX = 1 << 26 };

typedef enum { BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, LEAF } Mode;

/* Bits of a condition: it holds for elements that are below the node's value, equal, above, NaN. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, NAN_TOO = 8, CONDITION_BITS = 4 };

static const struct {
  const char *name;
  uint32_t holds;
} modes[] = {{"BRANCH_LEQ", LESS | EQUAL}, {"BRANCH_LT", LESS},
             {"BRANCH_GTE", GREATER | EQUAL}, {"BRANCH_GT", GREATER},
             {"BRANCH_EQ", EQUAL}, {"BRANCH_NEQ", LESS | GREATER | NAN_TOO}};

/* Nodes by their numbers in the attributes' order. */
typedef struct {
  OnnxCall *c;
  uint32_t n, ntrees, levels;
  const int64_t *tree, *id; /* which name a node */
  uint32_t *order;          /* all nodes, by tree and id */
  int64_t *yes, *no;        /* the next node; of a leaf itself */
  int64_t *root;            /* of each tree */
  uint32_t *place; /* of each node in the tables: roots first, then a level after the other */
  Mode *mode;
  const int64_t *feature, *missing; /* of each node; missing NULL: none takes NaN as true */
  const double *value;
  DType dtype; /* of the values: f32 or f64 */
} Trees;

/* ---- reading ---- */

/* Numbers of an attribute that is a list of f32, or of one that is a tensor of f32 or f64, whose
 * dtype they are computed in; NULL: neither is there.  `list` may be NULL. */
static const double *numbers_of(OnnxCall *c, const char *list, const char *tensor, uint32_t *n,
                                DType *t) {
  const float *x = NULL;
  *n = 0;
  if (onnx_has_attr(c, tensor)) {
    *t = onnx_tensor(c, tensor)->type.dtype;
    if (*t == DT_F64) return onnx_elements_attr(c, tensor, DT_F64, n);
    x = onnx_elements_attr(c, tensor, DT_F32, n);
  } else if (list) {
    x = onnx_floats(c, list, n);
  }
  *t = DT_F32;
  double *wide = x ? ARENA_ARRAY(c->b.in.g->arena, double, *n) : NULL;
  for (uint32_t i = 0; x && i < *n; i++) wide[i] = x[i];
  return wide;
}

static Node *number_table(OnnxCall *c, DType t, int rank, const int64_t *shape, const double *x) {
  if (t == DT_F64) return onnx_table(c, t, rank, shape, x);
  size_t n = 1;
  for (int i = 0; i < rank; i++) n *= (size_t)shape[i];
  float *narrow = ARENA_ARRAY(c->b.in.g->arena, float, n);
  for (size_t i = 0; i < n; i++) narrow[i] = (float)x[i];
  return onnx_table(c, t, rank, shape, narrow);
}

typedef struct {
  int64_t tree, id;
  uint32_t at;
} NodeKey;

static int compare_keys(const void *a, const void *b) {
  const NodeKey *x = a, *y = b;
  if (x->tree != y->tree) return x->tree < y->tree ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

_Noreturn static void bad_node(const Trees *t, uint32_t i, const char *fault) {
  onnx_fail(t->c, E_ONNX_TREE, (long long)t->tree[i], (long long)t->id[i], fault);
}

static void sort_nodes(Trees *t) {
  Arena *a = t->c->b.in.g->arena;
  NodeKey *keys = ARENA_ARRAY(a, NodeKey, t->n);
  for (uint32_t i = 0; i < t->n; i++) keys[i] = (NodeKey){t->tree[i], t->id[i], i};
  qsort(keys, t->n, sizeof *keys, compare_keys);
  t->order = ARENA_ARRAY(a, uint32_t, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    t->order[i] = keys[i].at;
    if (i && !compare_keys(&keys[i - 1], &keys[i]))
      bad_node(t, keys[i].at, "is there twice");
  }
}

static uint32_t find_node(const Trees *t, int64_t tree, int64_t id) {
  NodeKey wanted = {tree, id, 0};
  uint32_t low = 0, high = t->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2, at = t->order[middle];
    int order = compare_keys(&wanted, &(NodeKey){t->tree[at], t->id[at], 0});
    if (!order) return at;
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  onnx_fail(t->c, E_ONNX_TREE, (long long)tree, (long long)id, "is missing");
}

/* A list of an attribute that has an item for each node. */
static const int64_t *node_ints(Trees *t, const char *name) {
  uint32_t n;
  const int64_t *list = onnx_ints(t->c, name, &n);
  if (!list) onnx_fail(t->c, E_ONNX_ATTR_MISSING, name);
  if (n != t->n) onnx_fail(t->c, E_ONNX_ATTR_COUNT, name, n, t->n);
  return list;
}

static void read_modes(Trees *t) {
  uint32_t n;
  const char *const *names = onnx_strings(t->c, "nodes_modes", &n);
  if (n != t->n) onnx_fail(t->c, E_ONNX_ATTR_COUNT, "nodes_modes", n, t->n);
  t->mode = ARENA_ARRAY(t->c->b.in.g->arena, Mode, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t m = 0;
    while (m < LEAF && strcmp(names[i], modes[m].name)) m++;
    if (m == LEAF && strcmp(names[i], "LEAF"))
      onnx_fail(t->c, E_ONNX_ATTR_VALUE, "nodes_modes", names[i]);
    t->mode[i] = (Mode)m;
  }
}

/* Nodes that none leads to are the roots, one of each tree; levels are counted down from them.  A
 * node that two lead to, or that leads back, is no tree. */
static void find_roots(Trees *t) {
  Arena *a = t->c->b.in.g->arena;
  bool *led = ARENA_ARRAY(a, bool, t->n);
  uint32_t *at = ARENA_ARRAY(a, uint32_t, t->n), end = 0, begin = 0;
  t->root = ARENA_ARRAY(a, int64_t, t->n);
  t->place = ARENA_ARRAY(a, uint32_t, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    int64_t next[] = {t->yes[i], t->no[i]};
    for (int k = 0; k < 2 && t->mode[i] != LEAF; k++) {
      if (led[next[k]]) bad_node(t, (uint32_t)next[k], "follows two others");
      led[next[k]] = true;
    }
  }
  for (uint32_t k = 0; k < t->n; k++) {
    uint32_t i = t->order[k];
    if (led[i]) continue;
    if (t->ntrees && t->tree[t->root[t->ntrees - 1]] == t->tree[i])
      bad_node(t, i, "is a second root");
    t->root[t->ntrees++] = at[end++] = i;
  }
  for (uint32_t level = end; begin < end; begin++) {
    uint32_t i = at[begin];
    led[i] = false;
    t->place[i] = begin;
    if (begin == level) level = end, t->levels++;
    if (t->mode[i] == LEAF) continue;
    at[end++] = (uint32_t)t->yes[i];
    at[end++] = (uint32_t)t->no[i];
  }
  for (uint32_t i = 0; i < t->n; i++)
    if (led[i]) bad_node(t, i, "follows itself");
  if (t->levels > LEVELS_MAX) onnx_lack(t->c, "trees of more than %d levels", LEVELS_MAX);
}

static Trees read_trees(OnnxCall *c) {
  Trees t = {.c = c};
  t.tree = onnx_ints(c, "nodes_treeids", &t.n);
  if (!t.tree || !t.n || t.n > NODES_MAX) onnx_lack(c, "%u nodes of trees", t.n);
  t.id = node_ints(&t, "nodes_nodeids");
  const int64_t *yes = node_ints(&t, "nodes_truenodeids");
  const int64_t *no = node_ints(&t, "nodes_falsenodeids");
  Arena *a = c->b.in.g->arena;
  t.yes = ARENA_ARRAY(a, int64_t, t.n);
  t.no = ARENA_ARRAY(a, int64_t, t.n);
  read_modes(&t);
  sort_nodes(&t);
  for (uint32_t i = 0; i < t.n; i++) {
    bool leaf = t.mode[i] == LEAF;
    t.yes[i] = leaf ? i : find_node(&t, t.tree[i], yes[i]);
    t.no[i] = leaf ? i : find_node(&t, t.tree[i], no[i]);
  }
  find_roots(&t);
  onnx_ignore(c, "nodes_hitrates");
  onnx_ignore(c, "nodes_hitrates_as_tensor");
  uint32_t n;
  t.feature = node_ints(&t, "nodes_featureids");
  t.value = numbers_of(c, "nodes_values", "nodes_values_as_tensor", &n, &t.dtype);
  if (!t.value || n != t.n) onnx_fail(c, E_ONNX_ATTR_COUNT, "nodes_values", n, t.n);
  t.missing = onnx_ints(c, "nodes_missing_value_tracks_true", &n);
  if (t.missing && n != t.n && n)
    onnx_fail(c, E_ONNX_ATTR_COUNT, "nodes_missing_value_tracks_true", n, t.n);
  if (!n) t.missing = NULL;
  return t;
}

/* ---- going down ---- */

/* Elements, or rows, of a table for numbers of nodes. */
static Node *looked_up(Build *b, Node *table, Node *at) {
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(at);
  return build_with(b, OP_aten_index_Tensor, table, list);
}

static int bits_of(uint64_t most) {
  int bits = 0;
  while (most >> bits) bits++;
  return bits;
}

/* No element is below NaN, equal, or NaN without being so itself; the kernel takes others to be
 * above. */
static uint64_t condition(const Trees *t, uint32_t i) {
  uint32_t holds = modes[t->mode[i]].holds;
  if (isnan(t->value[i])) holds = holds & NAN_TOO ? GREATER | NAN_TOO : 0;
  return holds | (t->missing && t->missing[i] ? NAN_TOO : 0);
}

/* nereid.tree_leaf has a node's form: `threshold` in the lower half of its bits, or none. */
static int64_t *node_words(const Trees *t, int bits, bool threshold) {
  int64_t *words = ARENA_ARRAY(t->c->b.in.g->arena, int64_t, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    bool leaf = t->mode[i] == LEAF;
    float value = leaf ? 0 : (float)t->value[i];
    uint64_t word = (uint64_t)1 << (threshold ? 31 : 63);
    uint32_t low;
    if (!leaf)
      word = ((uint64_t)t->place[t->yes[i]] << bits | (uint64_t)t->feature[i]) << CONDITION_BITS |
             condition(t, i);
    memcpy(&low, &value, sizeof low);
    words[t->place[i]] = (int64_t)(threshold ? word << 32 | low : word);
  }
  return words;
}

/* The highest column that a node reads. */
static int64_t last_feature(const Trees *t) {
  int64_t last = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->mode[i] == LEAF) continue;
    if (t->feature[i] < 0 || t->feature[i] >= INT32_MAX) bad_node(t, i, "reads no column");
    if (t->feature[i] > last) last = t->feature[i];
  }
  return last;
}

/* The columns that nodes read: x, which has them, or a copy, whose indices are checked. */
static Node *read_columns(const Trees *t, Node *x, int64_t last) {
  OnnxCall *c = t->c;
  Dim columns = x->type.shape[1];
  if (dim_is_int(columns) && columns->value > last) return x;
  if (last >= ONNX_KNOWN_MAX) onnx_lack(c, "column %lld", (long long)last);
  int64_t *all = ARENA_ARRAY(c->b.in.g->arena, int64_t, (size_t)last + 1);
  for (int64_t i = 0; i <= last; i++) all[i] = i;
  return build(&c->b, OP_aten_index_select_default,
               ARGS(arg_node(x), build_int(&c->b, 1),
                    arg_node(onnx_table(c, DT_I64, 1, (int64_t[]){last + 1}, all))));
}

/* The leaf of each tree for each row of x, by its place: [rows, trees]. */
static Node *leaves(const Trees *t, Node *x) {
  OnnxCall *c = t->c;
  Build *b = &c->b;
  Arena *a = b->in.g->arena;
  infer_rank(&b->in, &x->type, 2, 2);
  if (x->type.dtype != DT_F64) x = build_to(b, x, t->dtype);
  int64_t n = t->n, trees = t->ntrees, last = last_feature(t);
  int bits = bits_of((uint64_t)last);
  bool single = x->type.dtype == DT_F32 && bits + bits_of(t->n) + CONDITION_BITS <= 31;
  double *value = ARENA_ARRAY(a, double, t->n);
  int32_t *root = ARENA_ARRAY(a, int32_t, t->ntrees);
  for (uint32_t i = 0; i < t->n; i++) value[t->place[i]] = t->value[i];
  for (uint32_t i = 0; i < t->ntrees; i++) root[i] = (int32_t)i;
  Node *values = single ? NULL : number_table(c, t->dtype, 1, &n, value);
  if (values && x->type.dtype == DT_F64) values = build_to(b, values, DT_F64);
  Node *nodes = onnx_table(c, DT_I64, 1, &n, node_words(t, bits, single));
  return build(b, OP_nereid_tree_leaf_default,
               ARGS(arg_node(read_columns(t, x, last)), arg_node(nodes),
                    values ? arg_node(values) : arg_none(),
                    arg_node(onnx_table(c, DT_I32, 1, &trees, root)), build_int(b, bits)));
}

/* ---- what leaves give ---- */

typedef struct {
  uint32_t n, columns;        /* of the lists, of the result */
  const int64_t *tree, *node; /* which leaf */
  const int64_t *column;
  const double *weight;
  DType dtype; /* of the weights */
} Votes;

static const int64_t *vote_ints(OnnxCall *c, const char *name, uint32_t n) {
  uint32_t count;
  const int64_t *list = onnx_ints(c, name, &count);
  if (count != n || !list) onnx_fail(c, E_ONNX_ATTR_COUNT, name, count, n);
  return list;
}

static Votes read_votes(OnnxCall *c, const char *const names[5], uint32_t columns) {
  Votes v = {.columns = columns};
  v.weight = numbers_of(c, names[3], names[4], &v.n, &v.dtype);
  v.tree = vote_ints(c, names[0], v.n);
  v.node = vote_ints(c, names[1], v.n);
  v.column = vote_ints(c, names[2], v.n);
  for (uint32_t i = 0; i < v.n; i++)
    if (v.column[i] < 0 || v.column[i] >= columns)
      onnx_fail(c, E_ONNX_ATTR_VALUE, names[2], "a number that is not there");
  return v;
}

/* A row of weights for each place of a node; a leaf may have several of one column. */
static Node *weight_table(const Trees *t, const Votes *v) {
  OnnxCall *c = t->c;
  if ((uint64_t)t->n * v->columns > TABLE_MAX) onnx_lack(c, "so many leaves and classes");
  double *table = ARENA_ARRAY(c->b.in.g->arena, double, (size_t)t->n * v->columns);
  for (uint32_t i = 0; i < v->n; i++)
    table[(size_t)t->place[find_node(t, v->tree[i], v->node[i])] * v->columns +
          (size_t)v->column[i]] += v->weight[i];
  return number_table(c, v->dtype, 2, (int64_t[]){t->n, v->columns}, table);
}

/* base_values are added to the columns; NULL: there are none. */
static Node *base_values(OnnxCall *c, uint32_t columns) {
  uint32_t n;
  DType t;
  const double *base = numbers_of(c, "base_values", "base_values_as_tensor", &n, &t);
  if (!base || !n) return NULL;
  if (n != columns) onnx_lack(c, "%u base_values for %u columns", n, columns);
  return number_table(c, t, 1, (int64_t[]){n}, base);
}

/* Sums of weights over trees: [rows, columns]. */
static Node *summed(const Trees *t, const Votes *v, Node *at) {
  Build *b = &t->c->b;
  return build_sum(b, looked_up(b, weight_table(t, v), at), 2, false);
}

/* Does a row always have a score of the column?  So it is where each leaf of some tree votes. */
static bool votes_always(const Trees *t, const Votes *v, uint32_t column) {
  Arena *a = t->c->b.in.g->arena;
  bool *votes = ARENA_ARRAY(a, bool, t->n);
  for (uint32_t i = 0; i < v->n; i++)
    if (v->column[i] == column) votes[find_node(t, v->tree[i], v->node[i])] = true;
  bool whole = true, found = false;
  for (uint32_t k = 0; k <= t->n && !found; k++) {
    uint32_t i = k < t->n ? t->order[k] : 0;
    if (k == t->n || (k && t->tree[i] != t->tree[t->order[k - 1]])) found = whole, whole = true;
    whole &= k == t->n || t->mode[i] != LEAF || votes[i];
  }
  return found;
}

/* Has a row a score of each column?  [rows, columns], or of `each` tree [rows, trees, columns];
 * NULL: always. */
static Node *has_scores(const Trees *t, const Votes *v, Node *at, bool each) {
  OnnxCall *c = t->c;
  bool always = !each;
  for (uint32_t i = 0; i < v->columns && always; i++) always = votes_always(t, v, i);
  if (always) return NULL;
  double *ones = ARENA_ARRAY(c->b.in.g->arena, double, v->n);
  Votes count = *v;
  for (uint32_t i = 0; i < v->n; i++) ones[i] = 1;
  count.weight = ones;
  Node *votes = each ? looked_up(&c->b, weight_table(t, &count), at) : summed(t, &count, at);
  return build_with(&c->b, OP_aten_gt_Scalar, votes, arg_float(0));
}

/* The least or largest weight among the trees.  A tree whose leaf doesn't vote counts as 0 where
 * there is a single column, and not at all where there are several. */
static Node *extreme(const Trees *t, const Votes *v, Node *at, bool least) {
  Build *b = &t->c->b;
  Node *votes = looked_up(b, weight_table(t, v), at);
  if (v->columns > 1)
    votes = build_where(b, has_scores(t, v, at, true), arg_node(votes),
                        arg_float(least ? INFINITY : -INFINITY));
  return build_reduce(b, least ? OP_aten_amin_default : OP_aten_amax_default, votes, 2, false);
}

/* ONNX Runtime adds the base value to a single target always and does not transform it; several
 * targets are 0 where a row has no vote. */
static Node *targets(const Trees *t, const Votes *v, const char *how) {
  OnnxCall *c = t->c;
  Build *b = &c->b;
  Node *at = leaves(t, onnx_in(c, 0)), *y;
  bool least = !strcmp(how, "MIN"), most = !strcmp(how, "MAX"), mean = !strcmp(how, "AVERAGE");
  if (!least && !most && !mean && strcmp(how, "SUM") != 0)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "aggregate_function", how);
  y = least || most ? extreme(t, v, at, least) : summed(t, v, at);
  if (mean) y = build_with(b, OP_aten_div_Tensor, y, arg_float(t->ntrees));
  Node *base = base_values(c, v->columns);
  if (base) y = build_add(b, y, base);
  Node *has = v->columns > 1 && (base || least || most) ? has_scores(t, v, at, false) : NULL;
  return has ? build_where(b, has, arg_node(y), arg_float(0)) : y;
}

static uint32_t count_of_targets(OnnxCall *c) {
  int64_t n = onnx_int(c, "n_targets", 1);
  if (n < 1 || n > ONNX_KNOWN_MAX) onnx_lack(c, "n_targets %lld", (long long)n);
  return (uint32_t)n;
}

void onnx_op_tree_regressor(OnnxCall *c) {
  static const char *const names[] = {"target_treeids", "target_nodeids", "target_ids",
                                      "target_weights", "target_weights_as_tensor"};
  Name how = onnx_string(c, "aggregate_function", "SUM");
  Trees t = read_trees(c);
  Votes v = read_votes(c, names, count_of_targets(c));
  onnx_set(c, 0, build_to(&c->b, onnx_transformed(c, targets(&t, &v, how)), DT_F32));
}

/* ---- TreeEnsemble, of version 5 ----
 *
 * Nodes and leaves are numbered apart.  A leaf is a node of each that leads to it; a set of values
 * is a chain of nodes that ask for one each. */

enum { MEMBER = 6 };

typedef struct {
  Trees t;
  Votes v;
  const int64_t *feature, *yes, *no, *yes_leaf, *no_leaf, *target, *missing;
  const double *split, *weight, *member;
  const uint8_t *mode;
  uint32_t nodes, leaves, members, room;
  uint32_t *first; /* of each node, its number among t's */
  int64_t *to_feature, *to_missing, *to_column;
  double *to_value, *to_weight;
} Ensemble;

static void read_ensemble(OnnxCall *c, Ensemble *e) {
  uint32_t n[7], k = 0;
  e->feature = onnx_ints(c, "nodes_featureids", &e->nodes);
  e->yes = onnx_ints(c, "nodes_truenodeids", &n[k++]);
  e->no = onnx_ints(c, "nodes_falsenodeids", &n[k++]);
  e->yes_leaf = onnx_ints(c, "nodes_trueleafs", &n[k++]);
  e->no_leaf = onnx_ints(c, "nodes_falseleafs", &n[k++]);
  e->mode = onnx_elements_attr(c, "nodes_modes", DT_U8, &n[k++]);
  e->split = numbers_of(c, NULL, "nodes_splits", &n[k++], &e->t.dtype);
  for (uint32_t i = 0; i < k; i++)
    if (n[i] != e->nodes) onnx_fail(c, E_ONNX_ATTR_COUNT, "nodes_splits", n[i], e->nodes);
  e->target = onnx_ints(c, "leaf_targetids", &e->leaves);
  e->weight = numbers_of(c, NULL, "leaf_weights", &n[0], &e->v.dtype);
  if (n[0] != e->leaves) onnx_fail(c, E_ONNX_ATTR_COUNT, "leaf_weights", n[0], e->leaves);
  DType t;
  e->member = numbers_of(c, NULL, "membership_values", &e->members, &t);
  e->missing = onnx_ints(c, "nodes_missing_value_tracks_true", &n[0]);
  if (e->missing && n[0] && n[0] != e->nodes)
    onnx_fail(c, E_ONNX_ATTR_COUNT, "nodes_missing_value_tracks_true", n[0], e->nodes);
  if (!n[0]) e->missing = NULL;
  onnx_ignore(c, "nodes_hitrates");
  if (!e->nodes || !e->leaves || e->nodes > NODES_MAX) onnx_lack(c, "%u nodes of trees", e->nodes);
}

/* Room for as many nodes as there can be: those of sets, and two leaves of each. */
static void make_room(OnnxCall *c, Ensemble *e) {
  Arena *a = c->b.in.g->arena;
  Trees *t = &e->t;
  size_t n = 3 * ((size_t)e->nodes + e->members);
  int64_t *ids = ARENA_ARRAY(a, int64_t, n);
  t->c = c;
  t->tree = t->id = ids;
  t->yes = ARENA_ARRAY(a, int64_t, n);
  t->no = ARENA_ARRAY(a, int64_t, n);
  t->mode = ARENA_ARRAY(a, Mode, n);
  t->order = ARENA_ARRAY(a, uint32_t, n);
  e->first = ARENA_ARRAY(a, uint32_t, e->nodes);
  t->feature = e->to_feature = ARENA_ARRAY(a, int64_t, n);
  t->missing = e->to_missing = ARENA_ARRAY(a, int64_t, n);
  t->value = e->to_value = ARENA_ARRAY(a, double, n);
  e->v = (Votes){.column = e->to_column = ARENA_ARRAY(a, int64_t, n),
                 .weight = e->to_weight = ARENA_ARRAY(a, double, n),
                 .columns = count_of_targets(c), .dtype = e->v.dtype};
  for (size_t i = 0; i < n; i++) ids[i] = (int64_t)i, t->order[i] = (uint32_t)i;
}

static uint32_t new_node(Ensemble *e, Mode mode) {
  uint32_t i = e->t.n++;
  e->t.mode[i] = mode;
  e->t.yes[i] = e->t.no[i] = i;
  return i;
}

/* Numbers the nodes: a test of a set becomes one node for each member. */
static void number_nodes(OnnxCall *c, Ensemble *e) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < e->nodes; i++) {
    e->first[i] = e->t.n;
    if (e->mode[i] > MEMBER) onnx_fail(c, E_ONNX_ATTR_VALUE, "nodes_modes", "too large a number");
    if (e->mode[i] < MEMBER) {
      e->to_value[new_node(e, (Mode)e->mode[i])] = e->split[i];
    } else { /* sets end with NaN */
      do {
        if (at >= e->members) onnx_fail(c, E_ONNX_ATTR_COUNT, "membership_values", at, at + 1);
        e->to_value[new_node(e, BRANCH_EQ)] = e->member[at];
      } while (!isnan(e->member[at++]));
    }
    for (uint32_t k = e->first[i]; k < e->t.n; k++) {
      e->to_feature[k] = e->feature[i];
      e->to_missing[k] = e->missing ? e->missing[i] : 0;
    }
  }
}

/* The node that is next, or a new leaf. */
static int64_t next_node(OnnxCall *c, Ensemble *e, int64_t to, bool leaf) {
  if (to < 0 || to >= (leaf ? e->leaves : e->nodes))
    onnx_fail(c, E_ONNX_ATTR_VALUE, "nodes_truenodeids", "a number that is not there");
  if (!leaf) return e->first[to];
  uint32_t i = new_node(e, LEAF);
  e->to_column[i] = e->target[to];
  e->to_weight[i] = e->weight[to];
  if (e->target[to] < 0 || e->target[to] >= e->v.columns)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "leaf_targetids", "a number that is not there");
  return i;
}

/* All nodes of a set lead to one place where one is found: only one of one value can. */
static void join_nodes(OnnxCall *c, Ensemble *e) {
  uint32_t end = e->t.n;
  for (uint32_t i = 0; i < e->nodes; i++) {
    uint32_t from = e->first[i], to = i + 1 < e->nodes ? e->first[i + 1] : end;
    bool set = e->mode[i] == MEMBER;
    if (set && !e->yes_leaf[i]) onnx_lack(c, "a set that leads to no leaf");
    for (uint32_t k = from; k < to; k++) {
      e->t.yes[k] = next_node(c, e, e->yes[i], e->yes_leaf[i] != 0);
      e->t.no[k] = k + 1 < to ? k + 1 : next_node(c, e, e->no[i], e->no_leaf[i] != 0);
    }
  }
}

/* Nodes are named by their root and their number from here on; leaves are the votes. */
static void name_nodes(OnnxCall *c, Ensemble *e) {
  Arena *a = c->b.in.g->arena;
  Trees *t = &e->t;
  int64_t *tree = ARENA_ARRAY(a, int64_t, t->n), *open = ARENA_ARRAY(a, int64_t, t->n);
  int64_t *leaf = ARENA_ARRAY(a, int64_t, t->n), *of = ARENA_ARRAY(a, int64_t, t->n);
  for (uint32_t k = 0; k < t->ntrees; k++) {
    uint32_t n = 0;
    open[n++] = t->root[k];
    while (n) {
      int64_t i = open[--n];
      tree[i] = k;
      if (t->mode[i] == LEAF) continue;
      open[n++] = t->yes[i];
      open[n++] = t->no[i];
    }
  }
  t->tree = tree;
  sort_nodes(t);
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->mode[i] != LEAF) continue;
    leaf[e->v.n] = i;
    of[e->v.n] = tree[i];
    e->to_column[e->v.n] = e->to_column[i];
    e->to_weight[e->v.n++] = e->to_weight[i];
  }
  e->v.tree = of;
  e->v.node = leaf;
}

void onnx_op_tree_ensemble(OnnxCall *c) {
  static const char *const hows[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  static const char *const transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  Ensemble e = {0};
  uint32_t roots;
  int64_t how = onnx_int(c, "aggregate_function", 1), after = onnx_int(c, "post_transform", 0);
  read_ensemble(c, &e);
  make_room(c, &e);
  number_nodes(c, &e);
  join_nodes(c, &e);
  onnx_ints(c, "tree_roots", &roots);
  find_roots(&e.t);
  if (roots != e.t.ntrees) onnx_lack(c, "nodes that are in no tree");
  if (how < 0 || how > 3) onnx_fail(c, E_ONNX_ATTR_VALUE, "aggregate_function", "too large");
  if (after < 0 || after > 4) onnx_fail(c, E_ONNX_ATTR_VALUE, "post_transform", "too large");
  name_nodes(c, &e);
  onnx_set(c, 0, onnx_transformed_by(c, targets(&e.t, &e.v, hows[how]), transforms[after]));
}

/* ---- classes ---- */

static Node *label_of(OnnxCall *c, Node *number, uint32_t classes) {
  uint32_t n;
  const int64_t *labels = onnx_labels(c, "classlabels_int64s", "classlabels_strings", &n);
  if (!labels || n != classes) onnx_fail(c, E_ONNX_ATTR_COUNT, "classlabels_int64s", n, classes);
  return looked_up(&c->b, onnx_table(c, DT_I64, 1, (int64_t[]){n}, labels), number);
}

/* A single column for two classes is the score of the second one, or decides between them. */
static void set_two_classes(OnnxCall *c, const Trees *t, const Votes *v, Node *at, bool logistic) {
  Build *b = &c->b;
  bool positive = true, second = v->column[0] == 1;
  Votes one = *v;
  int64_t *zeros = ARENA_ARRAY(b->in.g->arena, int64_t, v->n);
  one.columns = 1;
  one.column = zeros;
  for (uint32_t i = 0; i < v->n; i++) positive &= v->weight[i] >= 0;
  Node *s = summed(t, &one, at), *base = base_values(c, 1);
  if (base && second) onnx_lack(c, "base_values of the second class alone");
  if (base) s = build_add(b, s, base);
  Node *yes = build_with(b, OP_aten_gt_Scalar, s, arg_float(positive ? 0.5 : 0));
  onnx_set(c, 0, label_of(c, build_to(b, build_select(b, yes, 1, build_const(b, 0)), DT_I64), 2));
  Node *other = second     ? build_with(b, OP_aten_mul_Tensor, s, arg_float(0))
                : positive && !logistic
                    ? build_with(b, OP_aten_rsub_Scalar, s, arg_float(1))
                    : build_op1(b, OP_aten_neg_default, s);
  Node *both = build_cat(b, 2, (Node *[]){other, s}, 1);
  if (logistic) both = build_op1(b, OP_aten_sigmoid_default, both);
  onnx_set(c, 1, build_to(b, both, DT_F32));
}

/* Are there votes for more than one class? */
static bool votes_differ(const Votes *v) {
  bool differ = false;
  for (uint32_t i = 1; i < v->n; i++) differ |= v->column[i] != v->column[0];
  return differ;
}

/* Where both of two classes have scores, ONNX Runtime takes the second if its score is above 0, as
 * CatBoost's files mean it, and gives 0 and 1 for any labels. */
static Node *is_second(Build *b, Node *scores) {
  Node *second = build_select(b, scores, 1, build_const(b, 1));
  return build_to(b, build_with(b, OP_aten_gt_Scalar, second, build_int(b, 0)), DT_I64);
}

static void check_both(OnnxCall *c, const Node *base) {
  uint32_t n;
  const int64_t *labels = onnx_ints(c, "classlabels_int64s", &n);
  bool usual = labels && n == 2 && labels[0] == 0 && labels[1] == 1;
  if (!usual) onnx_lack(c, "labels other than 0 and 1 of two classes that have scores both");
  if (base) onnx_lack(c, "base_values of two classes that have scores both");
}

void onnx_op_tree_classifier(OnnxCall *c) {
  static const char *const names[] = {"class_treeids", "class_nodeids", "class_ids",
                                      "class_weights", "class_weights_as_tensor"};
  Build *b = &c->b;
  uint32_t classes;
  Name how = onnx_string(c, "post_transform", "NONE");
  bool logistic = !strcmp(how, "LOGISTIC"), softmax = !strcmp(how, "SOFTMAX");
  onnx_labels(c, "classlabels_int64s", "classlabels_strings", &classes);
  if (classes < 2) onnx_lack(c, "%u classes", classes);
  if (!logistic && !softmax && strcmp(how, "NONE") != 0) onnx_lack(c, "post_transform %s", how);
  Trees t = read_trees(c);
  Votes v = read_votes(c, names, classes);
  Node *at = leaves(&t, onnx_in(c, 0));
  bool single = classes == 2 && !votes_differ(&v);
  if (single && softmax) onnx_lack(c, "SOFTMAX of two classes");
  if (single) return set_two_classes(c, &t, &v, at, logistic);
  Node *s = summed(&t, &v, at), *base = base_values(c, classes), *likely = s;
  Node *has = base ? NULL : has_scores(&t, &v, at, false);
  if (classes == 2) check_both(c, base);
  if (base) likely = s = build_add(b, s, base);
  if (has) likely = build_where(b, has, arg_node(s), arg_float(-INFINITY));
  if (classes == 2) likely = is_second(b, s);
  else likely = build_with(b, OP_aten_argmax_default, likely, build_int(b, 1));
  onnx_set(c, 0, label_of(c, likely, classes));
  if (logistic) s = build_op1(b, OP_aten_sigmoid_default, s);
  if (softmax) s = build_with(b, OP_aten_softmax_int, s, build_int(b, 1));
  onnx_set(c, 1, build_to(b, s, DT_F32));
}
