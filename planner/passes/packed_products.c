/* Passes packed_products, few_rows and order_few_rows, for products that compute their right
 * operand themselves.
 *
 * Pass packed_products: for GPUs, products whose right operand is computed from packed weights read
 * these, and compute the operand's tiles themselves.
 *
 * A weight of few bits is an expression of what memory has: integers of several fields or narrow
 * numbers, shifts and masks, zero points and scales of groups.
 * How it is spelled does not matter; its cost does:
 *
 *   mm(x, w)  =  packed_mm(x, w)     where w's expression reads at most a bit more than half of
 *                                    w's bytes, most of them integers or numbers of 8 bits; bmm
 *                                    as well
 *
 * A kernel reads such a weight once for each of its tiles of rows, and computes it as often: many
 * rows are faster with a weight in memory.
 *
 * Pass few_rows: for CPUs, the same of products of few rows whose weight memory has along the sum
 * or along columns, packed or as it is.  Pass order_few_rows puts their operands in the order in
 * which vectors read them (tiling/few_rows.h), when copies are not removed any more. */
#include "graph/analysis/weight_constants.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "planner/passes.h"
#include "tiling/few_rows.h"
#include "tiling/panels.h"
#include "tiling/shared_operands.h"
#include "tiling/tiling.h"

/* The rows of a product with which a weight that is written to memory takes as long, as measured on
 * an H200. */
enum { ROWS_MOST = 512 };

enum {
  DEPTH_LEAST = 64, COLUMNS_LEAST = 16,
  NODES_MOST = 128 /* of an expression */
};

static const double BYTES_MOST = 0.6; /* of the weight's own that memory may have of it */

/* ---- the expression of a weight ---- */

typedef struct {
  Graph *g;
  const uint32_t *uses; /* by node id */
  double elements;      /* of the weight */
  double bytes, packed; /* read of memory; those of integers and of numbers of 8 bits */
  bool fields;          /* integers have several elements each */
  uint32_t nodes;
  bool whole; /* it has no parts of tiles */
  bool bad;
} Weight;

static double elements_of(Graph *g, const Node *n) {
  Dim elements = value_numel(g, &n->type);
  return dim_is_int(elements) ? (double)elements->value : -1;
}

static void add_memory(Weight *w, const Node *n) {
  double elements = elements_of(w->g, n), bytes = elements * dtype_bytes(n->type.dtype);
  DType t = n->type.dtype;
  w->bad |= elements < 0;
  w->bytes += bytes;
  if (dtype_bits(t) > 8 && !dtype_is_int(t)) return;
  w->packed += bytes;
  w->fields |= elements < w->elements && 4 * elements > w->elements / 8;
}

static void read_weight(Weight *w, Node *n);

static void read_operand(Node **operand, void *ctx) {
  if ((*operand)->type.kind == VALUE_TENSOR) read_weight(ctx, *operand);
}

/* A large value that others use too is in memory anyway. */
static bool is_computed(const Weight *w, const Node *n) {
  if (n->kind != NODE_CALL || prim_checks(n)) return false;
  PrimKind k = prim_kind(n->op);
  if (k == PRIM_VIEW) return !prim_reads_size(n);
  if (k == PRIM_CREATE) return n->op->id != OP_nereid_random_default;
  bool element = k == PRIM_GATHER || k == PRIM_CONCAT || (k == PRIM_POINTWISE && !prim_branches(n));
  return element && (w->uses[n->id] <= 1 || 4 * elements_of(w->g, n) <= w->elements);
}

/* A field of a byte chooses from 16 numbers of 16 bits, which registers hold (bytes_of_table), in a
 * weight of whole tiles. */
static bool chooses_from_few(const Weight *w, const Node *n) {
  enum { ENTRIES = 16 };
  if (!graph_is(n, OP_aten_index_Tensor) || n->args[1].n != 1 || !w->whole) return false;
  const ValueType *t = &n->args[0].node->type;
  return t->rank == 1 && dim_is(t->shape[0], ENTRIES) && dtype_is_half(t->dtype);
}

static void read_weight(Weight *w, Node *n) {
  if (w->nodes++ == NODES_MOST) w->bad = true;
  if (w->bad) return;
  /* An element of a table for each of the weight: registers are few for so many addresses. */
  w->bad |= n->kind == NODE_CALL && prim_kind(n->op) == PRIM_GATHER &&
            elements_of(w->g, n) >= w->elements && !chooses_from_few(w, n);
  if (is_computed(w, n)) graph_each_use(n, read_operand, w);
  else add_memory(w, n);
}

static Node *source_of(Node *n) {
  while (prim_is_view(n) && n->kind == NODE_CALL && !prim_reads_size(n)) n = view_operand(n);
  return n;
}

/* ---- the pass ---- */

static int64_t likely(Graph *g, Dim x) { return dim_is_int(x) ? x->value : dim_likely(g->dims, x); }

/* Rows that are multiplied by one matrix; of groups as many as they have in the mean. */
static bool has_few_rows(Graph *g, const Node *n) {
  int64_t rows = likely(g, n->type.shape[n->type.rank - 2]);
  if (prim_groups(n) == GROUPS_NONE) return rows <= ROWS_MOST;
  int64_t groups = likely(g, n->args[2].node->type.shape[0]);
  return rows <= ROWS_MOST * (groups > 1 ? groups : 1);
}

static bool is_product(Graph *g, const Node *n) {
  bool groups = graph_is(n, OP_nereid_grouped_mm_default) && prim_groups(n) == GROUPS_OF_ROWS;
  if (!groups && !graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default)) return false;
  const ValueType *t = &n->args[1].node->type;
  Dim depth = t->shape[t->rank - 2], columns = t->shape[t->rank - 1];
  return dim_is_int(depth) && depth->value >= DEPTH_LEAST && dim_is_int(columns) &&
         columns->value >= COLUMNS_LEAST && build_wide(t->dtype) == DT_F32 &&
         has_few_rows(g, n);
}

/* One row of 32-bit floats times columns whose elements are each in memory: a sum is as good
 * (gemv_to_reduction).  Of 16-bit floats the units that multiply matrices do that in a third of a
 * sum's instructions. */
static bool is_sum_of_rows(Graph *g, const Node *n, const Weight *w) {
  return n->type.rank == 2 && dim_is(n->type.shape[0], 1) && !w->fields &&
         dtype_bits(n->args[0].node->type.dtype) > 16 && view_stride(g, n->args[1].node, 0) == 1;
}

static void become_packed(Graph *g, Node *n) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return;
  Arg args[] = {n->args[0], n->args[1], arg_dtype(n->type.dtype)};
  build_become(&b, OP_nereid_packed_mm_default, 3, args);
}

static void choose(Graph *g, Node *n, const uint32_t *uses) {
  Node *right = n->args[1].node, *source = source_of(right);
  if (source->kind != NODE_CALL) return;
  Weight w = {.g = g, .uses = uses, .elements = elements_of(g, right)};
  const Dim *sizes = right->type.shape + right->type.rank - 2;
  w.whole = tiling_packed_most(sizes[0]->value, 0) && tiling_packed_most(sizes[1]->value, 1);
  read_weight(&w, right);
  double own = w.elements * dtype_bytes(right->type.dtype);
  bool wanted = !w.bad && is_computed(&w, source) && w.bytes <= BYTES_MOST * own &&
                2 * w.packed >= w.bytes && !is_sum_of_rows(g, n, &w);
  if (!wanted) return;
  if (prim_groups(n) != GROUPS_NONE) {
    n->op = ops_at(OP_nereid_packed_grouped_mm_default);
    return;
  }
  become_packed(g, n);
}

bool pass_packed_products(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  const uint32_t *uses = graph_use_counts(g, scratch);
  for (Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && is_product(g, n)) choose(g, n, uses);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}

/* ---- few rows on a CPU ---- */

/* The largest tensor in memory of a weight's expression, and the element that an index reads. */
typedef struct {
  const Node *memory; /* NULL: it is not known */
  Dim offset;
  double bytes;
} Place;

typedef struct {
  Weight *w;
  const Node *user;
  const Dim *index;
  Place *place;
} Placing;

static void find_place(Weight *w, Node *n, const Dim *index, Place *p);

static void place_operand(Node **operand, void *ctx) {
  const Placing *p = ctx;
  Dim at[GRAPH_RANK_MAX];
  if ((*operand)->type.kind != VALUE_TENSOR) return;
  broadcast_index(p->w->g, p->user, p->index, *operand, at);
  find_place(p->w, *operand, at, p->place);
}

static void find_place(Weight *w, Node *n, const Dim *index, Place *p) {
  if (!is_computed(w, n)) {
    double bytes = elements_of(w->g, n) * dtype_bytes(n->type.dtype);
    if (bytes <= p->bytes) return;
    *p = (Place){n, linear_of_index(w->g->dims, index, n->type.shape, n->type.rank), bytes};
    return;
  }
  PrimKind k = prim_kind(n->op);
  if (prim_is_view(n)) {
    Dim from[GRAPH_RANK_MAX];
    view_index(w->g, n, index, from);
    find_place(w, view_operand(n), from, p);
  } else if (k == PRIM_POINTWISE) {
    Placing all = {w, n, index, p};
    graph_each_use(n, place_operand, &all);
  } else if (k != PRIM_CREATE) {
    w->bad = true;
  }
}

/* Do so many elements along the sum share each element of memory, and are these next to each other
 * along the sum, or (`across`) along columns? */
static bool has_fields(Weight *w, Node *right, int64_t fields, bool across, Place *p) {
  Dims *d = w->g->dims;
  const Dim *shape = right->type.shape;
  if (shape[0]->value % fields) return false;
  Dim lane = dim_shared_index(d, "lane", dim_int(d, shape[0]->value / fields));
  Dim field = dim_shared_index(d, "field", dim_int(d, fields));
  Dim column = dim_shared_index(d, "n", shape[1]), by = across ? column : lane;
  Dim k = dim_add(d, dim_mul(d, lane, dim_int(d, fields)), field);
  *p = (Place){0};
  find_place(w, right, (Dim[]){k, column}, p);
  if (w->bad || !p->offset || (fields > 1 && dim_mentions(p->offset, field))) return false;
  p->offset = dim_sub(d, p->offset, by);
  return !dim_mentions(p->offset, by);
}

/* `p`: where lane 0, or column 0, is. */
static int64_t fields_of(Weight *w, Node *right, bool across, Place *p) {
  for (int64_t fields = 1; fields <= FEW_ROWS_FIELDS; fields *= 2)
    if (has_fields(w, right, fields, across, p)) return fields;
  return 0;
}

/* Pass pack makes panels of constant weights, but for one row of large ones and of 16 bits. */
static bool is_packed(const Node *n, const Node *source, const bool *constant) {
  enum { BYTES_MOST = 1 << 23 };
  const ValueType *t = &n->args[1].node->type;
  int64_t bytes = t->shape[0]->value * t->shape[1]->value * dtype_bytes(t->dtype);
  bool one = dim_is(n->type.shape[0], 1);
  return constant[source->id] && (!one || (bytes <= BYTES_MOST && !dtype_is_half(t->dtype)));
}

/* A weight that each run is given, or one of few bits. */
static bool reads_once(Weight *w, const Node *n, const bool *constant) {
  Node *right = n->args[1].node, *source = source_of(right);
  read_weight(w, right);
  double own = w->elements * dtype_bytes(right->type.dtype);
  if (w->bad || w->bytes > own) return false;
  bool few = n->type.shape[0]->value <= FEW_ROWS_MOST;
  if (!is_computed(w, source))
    return few && source->kind == NODE_INPUT && !is_packed(n, source, constant);
  return w->bytes <= BYTES_MOST * own && 2 * w->packed >= w->bytes;
}

static bool has_few_known_rows(const Node *n) {
  enum { COLUMNS_FEWEST = 64, DEPTH_FEWEST = 128 };
  if (!graph_is(n, OP_aten_mm_default)) return false;
  const ValueType *x = &n->args[0].node->type, *t = &n->type;
  bool known = dim_is_int(t->shape[0]) && dim_is_int(t->shape[1]) && dim_is_int(x->shape[1]);
  return known && t->shape[0]->value > 0 && t->shape[0]->value <= FEW_ROWS_TURNED &&
         t->shape[1]->value >= COLUMNS_FEWEST && x->shape[1]->value >= DEPTH_FEWEST &&
         dtype_is_float(x->dtype) && build_wide(x->dtype) == DT_F32;
}

/* The order of the sum; width 0: the weight is not read by vectors. */
static FewRows order_of(Graph *g, const Node *n, const uint32_t *uses) {
  Node *right = n->args[1].node;
  Weight w = {.g = g, .uses = uses, .elements = elements_of(g, right)};
  Place p;
  int64_t fields = fields_of(&w, right, false, &p), rows = n->type.shape[0]->value;
  int64_t k = right->type.shape[0]->value;
  FewRows f = {0};
  if (fields && few_rows_joins(rows, fields, p.memory, p.offset))
    f = few_rows_vectors(rows, k, fields * FEW_ROWS_BYTES);
  if (fields && !f.width) f = few_rows_vectors(rows, k, fields);
  if (f.width) return f;
  fields = fields_of(&w, right, true, &p);
  return fields ? (FewRows){fields, 1, true} : (FewRows){0};
}

static void order_few(Graph *g, Node *n, const uint32_t *uses) {
  FewRows f = order_of(g, n, uses);
  if (!f.width || (f.across && f.fields == 1)) return;
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return;
  n->args[0] = arg_node(few_rows_left(&b, n->args[0].node, &f));
  n->args[1] = arg_node(build_to(&b, few_rows_right(&b, n->args[1].node, &f), DT_F32));
}

/* More rows multiply weights of few bits along the sum, from panels (panels.h). */
static bool suits_turned(Graph *g, const Node *n, const uint32_t *uses) {
  Node *right = n->args[1].node;
  Weight w = {.g = g, .uses = uses, .elements = elements_of(g, right)};
  Place p;
  return panels_turn_suits(n) && fields_of(&w, right, false, &p) > 0;
}

static void choose_few(Graph *g, Node *n, const uint32_t *uses, const bool *constant,
                       const SharedOperands *shared) {
  if (shared_operands_pack(shared, g, n)) return;
  Weight w = {.g = g, .uses = uses, .elements = elements_of(g, n->args[1].node)};
  if (!reads_once(&w, n, constant)) return;
  bool few = n->type.shape[0]->value <= FEW_ROWS_MOST;
  if (few ? order_of(g, n, uses).width > 0 : suits_turned(g, n, uses)) become_packed(g, n);
}

bool pass_few_rows(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  const uint32_t *uses = graph_use_counts(g, scratch);
  const bool *constant = constants_find(g, scratch);
  SharedOperands shared = shared_operands_find(g, scratch);
  for (Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && has_few_known_rows(n)) choose_few(g, n, uses, constant, &shared);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}

bool pass_order_few_rows(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  const uint32_t *uses = graph_use_counts(g, scratch);
  for (Node *n = g->first, *next, *last = g->last; n; n = n == last ? NULL : next) {
    next = n->next;
    if (few_rows_suit(n)) order_few(g, n, uses);
  }
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
