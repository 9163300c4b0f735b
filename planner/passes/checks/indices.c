/* Pass check_indices: indices of which it is not known that they are in range get a
 * nereid.check_index, as PyTorch checks them.
 *
 * A check is a node at the end of the graph, or of a loop that data ends, and nothing uses it: so
 * what reads and writes at the indices is compiled as if there were none, and is safe without it,
 * for an index that is out of range reads the element next to it and writes nothing.  Fusion has
 * checks join kernels that go through as many rows or elements (planner/fuse/fuse.c). */
#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/index_range.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"

/* ---- how many elements an index chooses of ---- */

static const ValueType *first_operand(Build *b) {
  return infer_tensor(&b->in, b->in.schema->params[0].name);
}

static Dim axis_size(Build *b, const ValueType *x, uint32_t axis) {
  return x->rank ? x->shape[axis] : build_const(b, 1);
}

static Dim size_rows(Build *b) { return axis_size(b, first_operand(b), 0); }

static Dim size_last_axis(Build *b) {
  return axis_size(b, first_operand(b), first_operand(b)->rank - 1);
}

static Dim size_along_dim(Build *b) {
  const ValueType *x = first_operand(b);
  return axis_size(b, x, infer_axis_arg(&b->in, "dim", x->rank));
}

/* Along an axis PyTorch takes the remainder. */
static Dim size_all_elements(Build *b) {
  return infer_has(&b->in, "dim") ? NULL : value_numel(b->in.g, first_operand(b));
}

static Dim size_classes(Build *b) {
  return axis_size(b, first_operand(b), first_operand(b)->rank > 1);
}

static Dim size_result_classes(Build *b) {
  const ValueType *t = &b->in.n->type;
  return axis_size(b, t, t->rank - 1);
}

/* The elements of a plane of the result. */
static Dim size_plane(Build *b) {
  const ValueType *t = &b->in.n->type;
  uint32_t axes = infer_takes(&b->in, "stride") ? 3 : 2;
  return infer_product(&b->in, t->shape + t->rank - axes, axes);
}

/* Boundaries of elements, where parts begin or end: there is one more of these. */
static Dim size_plus_one(Build *b, Dim size) {
  return dim_add(b->in.g->dims, size, build_const(b, 1));
}

static Dim size_bag_offsets(Build *b) {
  return size_plus_one(b, axis_size(b, infer_tensor(&b->in, "indices"), 0));
}

/* Groups are of the rows of one matrix, of the columns of the other, or of the summed axis. */
static Dim size_group_ends(Build *b) {
  const ValueType *x = first_operand(b), *y = infer_tensor(&b->in, b->in.schema->params[1].name);
  if (x->rank == 3) return size_plus_one(b, y->shape[y->rank - 1]);
  return size_plus_one(b, x->shape[y->rank == 3 ? 0 : 1]);
}

/* ---- which ops take indices ---- */

typedef struct {
  const char *index;     /* the parameter; its argument is None or a tensor */
  Dim (*size)(Build *b); /* NULL: all indices are in range */
  bool negative;         /* they may count from the end */
} IndexParam;

static const struct {
  IndexParam params[3]; /* the last has no name */
} takers[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = {{__VA_ARGS__}},
#define INDICES(param, size, negative) {param, size_##size, negative},
#include "graph/ops/op_table.def"
};

static const bool takes_list[OP_COUNT] = {
#define OP(library, name, overload, rule, schema, ...) \
  [OP_##library##_##name##_##overload] = __VA_ARGS__ + 0,
#define INDEX_LIST true
#include "graph/ops/op_table.def"
};

/* ---- checks ---- */

/* A check, and the one of the same index before it. */
typedef struct {
  const Node *check;
  uint32_t before; /* 1 + its number; 0: there is none */
} Made;

typedef struct {
  Graph *g;
  Arena *scratch;
  VEC(Made) made;
  uint32_t *last; /* by id of an index: 1 + the number of its last check */
  uint32_t nids;
} Checker;

/* A cast between integers that loses nothing shows its operand. */
static Node *uncast(Graph *g, Node *n) {
  bool cast = graph_is(n, OP_aten_to_dtype) || graph_is(n, OP_aten__to_copy_default);
  if (!cast) return n;
  Node *x = graph_arg(g, n, "self").node;
  DType from = x->type.dtype, to = n->type.dtype;
  bool whole = dtype_is_int(from) && from != DT_I1 && dtype_is_signed(to);
  return whole && dtype_bits(from) < dtype_bits(to) ? x : n;
}

static bool has_elements(const ValueType *t) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (!dim_is_int(t->shape[i]) || t->shape[i]->value < 1) return false;
  return true;
}

/* A view that repeats elements shows all of them, in their order.  A CPU launches a check of these
 * alone sooner than it looks at each again, as a GPU does beside its loads. */
static Node *unrepeated(Graph *g, Node *n) {
  while (g->host && has_elements(&n->type)) {
    bool repeats = graph_is(n, OP_aten_expand_default) || graph_is(n, OP_aten_unsqueeze_default);
    if (!repeats) break;
    n = graph_arg(g, n, "self").node;
  }
  return n;
}

/* where(x < 0, x + size, x), as those write it who count from the end themselves: x. */
static Node *unwrapped(Graph *g, Node *index, Dim size) {
  if (!graph_is(index, OP_aten_where_self)) return NULL;
  Arg condition = graph_arg(g, index, "condition"), moved = graph_arg(g, index, "self");
  Arg x = graph_arg(g, index, "other");
  bool nodes = condition.kind == ARG_NODE && moved.kind == ARG_NODE && x.kind == ARG_NODE;
  if (!nodes || !graph_is(condition.node, OP_aten_lt_Scalar)) return NULL;
  if (!graph_is(moved.node, OP_aten_add_Tensor)) return NULL;
  Arg below = graph_arg(g, condition.node, "other"), by = graph_arg(g, moved.node, "other");
  Arg a = graph_arg(g, condition.node, "self"), b = graph_arg(g, moved.node, "self");
  bool same = a.kind == ARG_NODE && a.node == x.node && b.kind == ARG_NODE && b.node == x.node;
  bool counts = below.kind == ARG_INT && dim_is(below.dim, 0) && by.kind == ARG_INT;
  return same && counts && by.dim == size ? x.node : NULL;
}

static bool is_same_argument(Graph *g, const Node *a, const Node *b, const char *param) {
  Arg x = graph_arg(g, a, param), y = graph_arg(g, b, param);
  if (x.kind != y.kind) return false;
  if (x.kind == ARG_STRING) return x.name == y.name;
  return x.kind == ARG_INT ? x.dim == y.dim : x.kind == ARG_BOOL ? x.flag == y.flag : true;
}

/* False: the index has such a check already. */
static bool is_new_check(Checker *c, const Node *check) {
  uint32_t id = check->args[0].node->id;
  if (id >= c->nids || c->g->has_loops) return true; /* a loop may not run */
  for (uint32_t i = c->last[id]; i; i = c->made.data[i - 1].before) {
    const Node *old = c->made.data[i - 1].check;
    if (is_same_argument(c->g, old, check, "size") &&
        is_same_argument(c->g, old, check, "negative") &&
        is_same_argument(c->g, old, check, "ignore") &&
        is_same_argument(c->g, old, check, "fault"))
      return false;
  }
  vec_push(c->scratch, &c->made, ((Made){check, c->last[id]}));
  c->last[id] = (uint32_t)c->made.len;
  return true;
}

static void add_check(Checker *c, Build *b, Node *index, Dim size, bool negative, Arg ignore) {
  Graph *g = c->g;
  Node *raw = unwrapped(g, index, size);
  negative |= raw != NULL;
  index = uncast(g, unrepeated(g, uncast(g, raw ? raw : index)));
  Dim zero = build_const(b, 0), least = negative ? dim_sub(g->dims, zero, size) : zero;
  if (index_is_inside(g, index, least, size)) return;
  Node *check = build_check_index(b, index, size, negative, ignore, b->in.n->name);
  if (is_new_check(c, check)) return;
  graph_forget_name(g, check);
  graph_remove(g, check);
}

/* ---- nodes ---- */

static void check_row(Checker *c, Build *b, const IndexParam *row) {
  Node *index = build_input(b, row->index);
  if (!index || !dtype_is_int(index->type.dtype)) return; /* of probabilities there is no index */
  bool passes = infer_takes(&b->in, "ignore_index");
  Arg ignore = passes ? build_arg(b, "ignore_index") : arg_none();
  Dim size = row->size(b);
  if (size) add_check(c, b, index, size, row->negative, ignore);
}

static bool is_mask_index(const Node *index) {
  return index->type.dtype == DT_I1 || index->type.dtype == DT_U8;
}

/* x[a, :, b]: a mask indexes as many axes as it has. */
static void check_list(Checker *c, Build *b) {
  const ValueType *x = first_operand(b);
  uint32_t n, axis = 0;
  Node **index = build_inputs(b, "indices", &n);
  for (uint32_t i = 0; i < n; i++) {
    if (index[i] && !is_mask_index(index[i]))
      add_check(c, b, index[i], x->shape[axis], true, arg_none());
    axis += index[i] && is_mask_index(index[i]) ? index[i]->type.rank : 1;
  }
}

static bool is_of_bags(const Node *n) {
  return graph_is(n, OP_aten_embedding_bag_default) ||
         graph_is(n, OP_aten_embedding_bag_padding_idx) ||
         graph_is(n, OP_aten__embedding_bag_default) ||
         graph_is(n, OP_aten__embedding_bag_forward_only_default);
}

/* The first bag begins with the first index. */
static void check_first_bag(Checker *c, Build *b) {
  Node *offsets = build_input(b, "offsets");
  Dim zero = build_const(b, 0), one = build_const(b, 1);
  add_check(c, b, build_slice(b, offsets, 0, zero, one, 1), one, false, arg_none());
}

static bool check_node_indices(Checker *c, Node *n) {
  Build b = build_at(c->g, n);
  if (setjmp(b.in.failed)) return false;
  if (is_of_bags(n)) check_first_bag(c, &b);
  for (const IndexParam *p = takers[n->op->id].params; p->index; p++) check_row(c, &b, p);
  if (takes_list[n->op->id]) check_list(c, &b);
  return true;
}

static void remove_checks(Graph *g) {
  for (Node *n = g->first, *next; n; n = next) {
    next = n->next;
    if (!prim_checks(n)) continue;
    graph_forget_name(g, n);
    graph_remove(g, n);
  }
}

static bool check_nodes(Graph *g, bool only_unused) {
  Checker c = {.g = g, .scratch = arena_child(g->arena), .nids = g->nids};
  const bool *unused = only_unused ? graph_unused(g, c.scratch) : NULL;
  c.last = ARENA_ARRAY(c.scratch, uint32_t, g->nids);
  bool ok = true;
  Node *end = g->last->prev; /* before the checks that are added */
  for (Node *n = g->first; n && ok; n = n == end ? NULL : n->next) {
    if (prim_checks(n)) is_new_check(&c, n);
    else if (n->kind == NODE_CALL && (!unused || unused[n->id])) ok = check_node_indices(&c, n);
  }
  arena_free(c.scratch);
  return ok;
}

/* Eager mode and ONNX Runtime run what nothing uses, too. */
bool pass_check_unused(Graph *g) { return g->unchecked || check_nodes(g, true); }

bool pass_check_indices(Graph *g) {
  if (g->unchecked) remove_checks(g);
  return g->unchecked || check_nodes(g, false);
}
