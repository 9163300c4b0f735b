/* Pass choose_libraries: products of matrices become nereid.library_product where a library is to
 * compute them: the LibraryChooser of the graph says which.
 *
 * A library takes operands through views that have strides, one of which is 1, so that transposed
 * weights need no copy.  It adds a bias, applies an activation and casts if its row says so; the
 * other pointwise ops after a product become a kernel of their own.  The result may have any shape:
 * views of a product that has no other use are part of it. */
#include "graph/analysis/library_problem.h"

#include <string.h>

#include "graph/analysis/dce.h"
#include "graph/analysis/strided.h"
#include "graph/analysis/weight_constants.h"
#include "graph/builders/node_builder.h"
#include "planner/passes.h"

/* Uses of a value and of its views, at the same level. */
typedef enum {
  USE_STORED = 1,   /* it must be in memory */
  USE_FOLLOWED = 2, /* a pointwise operator reads it, whose result must be in memory */
  USE_REDUCED = 4   /* a reduction reads it, or what pointwise operators make of it */
} ValueUse;

typedef struct {
  Graph *g;
  bool *constant;      /* by node id */
  uint32_t *use_count; /* by node id */
  Node **user;         /* by node id: the last one that uses it */
  uint8_t *uses;       /* by node id: bits of ValueUse */
  bool *returned;      /* by node id */
  uint32_t *level;     /* by node id: kernels that are one after another to compute it, about */
  Node **host;         /* by node id: the product whose tiles it would be computed on; or NULL */
  uint32_t *place;     /* by node id: in the order of the graph */
  bool *read_again;    /* by node id: a product that another one's kernel reads */
  uint32_t nids;
} Chooser;

/* ---- operands ---- */

/* Rows of contiguous elements that do not overlap. */
static bool are_rows(Graph *g, Dim rows, Dim columns, Dim row, Dim column) {
  if (!dim_is(column, 1) && !dim_is(columns, 1)) return false;
  return dim_is(rows, 1) || dim_at_most(g->dims, columns, row);
}

static bool is_matrix(Graph *g, Node *n) {
  Strided s;
  if (!strided_of(g, n, &s)) return false;
  const Dim *size = n->type.shape + n->type.rank - 2, *stride = s.stride + n->type.rank - 2;
  return are_rows(g, size[0], size[1], stride[0], stride[1]) ||
         are_rows(g, size[1], size[0], stride[1], stride[0]);
}

static bool is_product_of_matrices(Graph *g, const Node *n) {
  if (!graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default, OP_aten_bmm_dtype)) return false;
  Node *a = n->args[0].node, *b = n->args[1].node;
  Dim k = a->type.shape[a->type.rank - 1];
  return dim_range(g->dims, k).lo >= 1 && is_matrix(g, a) && is_matrix(g, b);
}

/* ---- what a product is computed with ---- */

typedef struct {
  const LibraryFunction *function;
  Node *product, *end; /* `end` has the value of all of it */
  Node *bias;          /* NULL: none */
  LibraryActivation activation;
  DType out;
} Call;

static Node *only_user(const Chooser *c, const Node *n) {
  bool alone = n->id < c->nids && c->use_count[n->id] == 1;
  Node *user = alone ? c->user[n->id] : NULL;
  return user && user->kind == NODE_CALL ? user : NULL;
}

static bool takes(const Call *call, DType out, DType bias, LibraryActivation activation) {
  return library_takes(call->function, call->product->args[0].node->type.dtype, out, bias,
                       activation);
}

/* A vector along the last axis, in memory as it is. */
static bool is_bias(Graph *g, Node *x, Dim columns) {
  uint32_t rank = x->type.rank;
  Strided s;
  if (rank == 0 || rank > STRIDED_RANK_MAX || x->type.shape[rank - 1] != columns) return false;
  for (uint32_t i = 0; i + 1 < rank; i++)
    if (!dim_is(x->type.shape[i], 1)) return false;
  bool dense = strided_of(g, x, &s) && dim_is(s.offset, 0);
  return dense && (dim_is(columns, 1) || dim_is(s.stride[rank - 1], 1));
}

/* The bias that n adds to `x`; NULL: it does something else. */
static Node *added_bias(Graph *g, const Call *call, const Node *n, const Node *x) {
  bool plain = graph_is(n, OP_aten_add_Tensor) && n->nargs == 2 && n->nnamed == 0;
  if (!plain || call->product->type.rank != 2 || !value_type_eq(&n->type, &x->type)) return NULL;
  int other = n->args[0].kind == ARG_NODE && n->args[0].node == x;
  const Arg *a = &n->args[other];
  if (a->kind != ARG_NODE || a->node == x || a->node->type.kind != VALUE_TENSOR) return NULL;
  bool fits = a->node->type.dtype == x->type.dtype && x->type.rank &&
              x->type.shape[x->type.rank - 1] == call->product->type.shape[1] &&
              is_bias(g, a->node, x->type.shape[x->type.rank - 1]);
  return fits ? a->node : NULL;
}

static LibraryActivation activation_of(Graph *g, const Node *n) {
  if (graph_is(n, OP_aten_relu_default)) return ACTIVATION_RELU;
  if (!graph_is(n, OP_aten_gelu_default)) return ACTIVATION_NONE;
  bool tanh = !strcmp(graph_arg(g, n, "approximate").name, "tanh");
  return tanh ? ACTIVATION_GELU_TANH : ACTIVATION_NONE;
}

/* A cast to a wider type that is in memory, as f32 gradients of weights in bf16 are: the library
 * writes its sums in that.  Kernels read other values in fewer bytes, and cast them. */
static bool is_widening(const Chooser *c, const Call *call, const Node *n) {
  return graph_is_any(n, OP_aten_to_dtype, OP_aten__to_copy_default) &&
         dtype_bytes(n->type.dtype) > dtype_bytes(call->out) &&
         (c->returned[n->id] || c->uses[n->id] & USE_STORED);
}

/* Is n, which uses `x`, computed by the call? */
static bool joins_call(const Chooser *c, Call *call, const Node *n, const Node *x) {
  DType had = call->bias ? call->bias->type.dtype : DT_NONE;
  LibraryActivation activation = activation_of(c->g, n);
  Node *bias = added_bias(c->g, call, n, x);
  if (is_widening(c, call, n) && takes(call, n->type.dtype, had, call->activation))
    return call->out = n->type.dtype, true;
  if (call->activation) return false;
  if (activation && takes(call, call->out, had, activation)) call->activation = activation;
  else if (bias && !call->bias && takes(call, call->out, bias->type.dtype, ACTIVATION_NONE))
    call->bias = bias;
  else return false;
  return true;
}

/* Follows views, one bias, one activation and casts to f32, as far as the library goes.  A view
 * that comes last stays one, unless the model returns it: that would be a copy. */
static void find_epilogue(const Chooser *c, Call *call) {
  call->end = call->product;
  Node *x = call->end;
  for (Node *n; (n = only_user(c, x)); x = n) {
    bool view = graph_is(n, OP_aten_view_default);
    if (!view && !joins_call(c, call, n, x)) return;
    if (!view || c->returned[n->id]) call->end = n;
  }
}

static void make_call(Graph *g, const Call *call) {
  Node *end = call->end, *product = call->product;
  Build b = build_at(g, end);
  Arg args[] = {
      product->args[0],
      product->args[1],
      call->bias ? arg_node(call->bias) : arg_none(),
      arg_dims(g, end->type.rank, end->type.shape),
      {.kind = ARG_STRING, .name = pool_name(g->names, library_name(call->function))},
      {.kind = ARG_STRING, .name = pool_name(g->names, library_activation_name(call->activation))},
      arg_dtype(end->type.dtype)};
  end->rounds = product->rounds;
  build_become(&b, OP_nereid_library_product_default, sizeof args / sizeof *args, args);
}

/* ---- products of 8-bit floats, with what scales their sums after them ---- */

/* A nereid.float8_mm, and what is computed with it. */
typedef struct {
  const LibraryFunction *function;
  Node *product, *end; /* `end` has the value of all of it */
  Node *scale[2];      /* of a and b */
  Node *bias;          /* NULL: none */
  LibraryScales scales;
} Float8Call;

enum { BLOCK = 128, ALIGNED = 16 }; /* bytes of rows of memory */

/* The tensor in f32 by which n multiplies x; NULL: it does something else. */
static Node *multiplier(const Node *n, const Node *x) {
  if (!graph_is(n, OP_aten_mul_Tensor) || n->nargs != 2 || n->type.dtype != DT_F32) return NULL;
  int other = n->args[0].kind == ARG_NODE && n->args[0].node == x;
  const Arg *a = &n->args[other];
  bool tensor = a->kind == ARG_NODE && a->node != x && a->node->type.kind == VALUE_TENSOR;
  return tensor && a->node->type.dtype == DT_F32 ? a->node : NULL;
}

/* Is it a vector along that axis of a matrix? */
static bool is_vector(const Node *scale, uint32_t axis, Dim size) {
  const ValueType *t = &scale->type;
  return t->rank == 2 && t->shape[axis] == size && dim_is(t->shape[1 - axis], 1);
}

/* Notes one of the two scales after the product; false: it is none that the library has. */
static bool add_scale(Graph *g, Float8Call *c, Node *scale) {
  const Dim *shape = c->product->type.shape;
  bool whole = dim_is(value_numel(g, &scale->type), 1);
  bool row = !whole && is_vector(scale, 0, shape[0]);
  bool column = !whole && is_vector(scale, 1, shape[1]);
  LibraryScales form = whole ? SCALES_WHOLE : row || column ? SCALES_ROWS : SCALES_NONE;
  if (!form || (c->scales && c->scales != form)) return false;
  int which = whole ? c->scale[0] != NULL : column;
  if (c->scale[which]) return false;
  c->scale[which] = scale;
  c->scales = form;
  return true;
}

/* The vector of 16-bit floats that n adds to x, widened; NULL: it does something else. */
static Node *widened_bias(Graph *g, const Node *n, const Node *x) {
  if (!graph_is(n, OP_aten_add_Tensor) || n->nargs != 2 || n->nnamed) return NULL;
  const Arg *a = &n->args[n->args[0].kind == ARG_NODE && n->args[0].node == x];
  Node *wide = a->kind == ARG_NODE ? a->node : NULL;
  if (!wide || !graph_is_any(wide, OP_aten_to_dtype, OP_aten__to_copy_default)) return NULL;
  Node *bias = wide->args[0].node;
  bool half = wide->type.dtype == DT_F32 && dtype_is_half(bias->type.dtype);
  return half && is_bias(g, bias, x->type.shape[1]) ? bias : NULL;
}

static bool is_cast_to(const Float8Call *c, const Node *n, DType bias) {
  return n && graph_is_any(n, OP_aten_to_dtype, OP_aten__to_copy_default) &&
         (!bias || n->type.dtype == bias) &&
         library_takes(c->function, c->product->args[0].node->type.dtype, n->type.dtype, bias,
                       ACTIVATION_NONE);
}

/* Follows the two scales, a bias and a cast. */
static bool find_scales(const Chooser *chooser, Float8Call *c) {
  Graph *g = chooser->g;
  Node *x = c->product;
  for (int i = 0; i < 2 && c->scales != SCALES_BLOCKS; i++) {
    Node *n = only_user(chooser, x), *scale = n ? multiplier(n, x) : NULL;
    bool same = scale && value_type_eq(&n->type, &c->product->type);
    if (!same || !add_scale(g, c, scale)) return false;
    x = n;
  }
  Node *cast = only_user(chooser, x);
  Node *bias = cast && c->scales == SCALES_WHOLE ? widened_bias(g, cast, x) : NULL;
  Node *after = bias ? only_user(chooser, cast) : NULL;
  if (bias && is_cast_to(c, after, bias->type.dtype)) {
    c->bias = bias;
    c->end = after;
  } else {
    c->end = is_cast_to(c, cast, DT_NONE) ? cast : x;
  }
  return true;
}

/* Next to each other along the sum, in rows that begin at multiples of 16 bytes. */
static bool is_along_sum(Graph *g, Node *x, int which) {
  Strided s;
  if (!strided_of(g, x, &s) || !dim_is(s.stride[which ? 0 : 1], 1)) return false;
  Dim pitch = s.stride[which ? 1 : 0];
  return dim_is_int(pitch) && pitch->value % ALIGNED == 0 && dim_is_int(s.offset) &&
         s.offset->value % ALIGNED == 0;
}

static bool has_known_blocks(const Node *n) {
  const Dim *k = &n->args[0].node->type.shape[1];
  return dim_is_int(*k) && (*k)->value % (4 * BLOCK) == 0; /* a row of scales has 16 bytes */
}

static bool takes_operands(Graph *g, const Node *n) {
  Node *a = n->args[0].node, *b = n->args[1].node;
  Dim columns = b->type.shape[1], k = a->type.shape[1];
  bool both_wide = a->type.dtype == DT_F8E5 && b->type.dtype == DT_F8E5;
  return !both_wide && dim_is_int(columns) && columns->value % ALIGNED == 0 && dim_is_int(k) &&
         k->value % ALIGNED == 0 && is_along_sum(g, a, 0) && is_along_sum(g, b, 1);
}

static bool float8_call_of(const Chooser *c, const LibraryFunction *f, Node *n, Float8Call *out) {
  Graph *g = c->g;
  *out = (Float8Call){.function = f, .product = n};
  if (!takes_operands(g, n)) return false;
  if (n->args[2].kind == ARG_NODE) {
    bool fits = graph_arg(g, n, "rows").dim->value == 1 &&
                graph_arg(g, n, "columns").dim->value == BLOCK && has_known_blocks(n);
    if (!fits) return false;
    out->scales = SCALES_BLOCKS;
    for (int i = 0; i < 2; i++) out->scale[i] = n->args[2 + i].node;
  }
  return find_scales(c, out) &&
         library_takes(f, n->args[0].node->type.dtype, out->end->type.dtype,
                       out->bias ? out->bias->type.dtype : DT_NONE, ACTIVATION_NONE);
}

/* The scales in memory as the library reads them: those of blocks by their columns. */
static Node *scale_in_memory(Build *b, const Float8Call *c, int which) {
  Node *x = c->scale[which];
  if (c->scales == SCALES_BLOCKS) x = build_transpose(b, x, 0, 1);
  Node *of = x;
  while (prim_is_view(of)) of = view_operand(of);
  bool computed = of->kind == NODE_CALL && prim_kind(of->op) != PRIM_CREATE;
  bool there = (of->kind == NODE_INPUT || computed) && strided_is_dense(b->in.g, x);
  return there ? x : build_op1(b, OP_nereid_dense_default, x);
}

static void make_float8_call(Graph *g, const Float8Call *c) {
  Node *end = c->end, *product = c->product;
  bool fast = !graph_arg(g, product, "promotes").flag;
  Build b = build_at(g, end);
  Node *scale[] = {scale_in_memory(&b, c, 0), scale_in_memory(&b, c, 1)};
  Arg args[] = {
      product->args[0],
      product->args[1],
      c->bias ? arg_node(c->bias) : arg_none(),
      arg_dims(g, end->type.rank, end->type.shape),
      {.kind = ARG_STRING, .name = pool_name(g->names, library_name(c->function))},
      {.kind = ARG_STRING, .name = pool_name(g->names, library_activation_name(ACTIVATION_NONE))},
      arg_dtype(end->type.dtype),
      arg_node(scale[0]),
      arg_node(scale[1]),
      {.kind = ARG_STRING, .name = pool_name(g->names, library_scales_name(c->scales))},
      arg_bool(fast)};
  build_become(&b, OP_nereid_library_product_default, sizeof args / sizeof *args, args);
}

/* ---- the walk ---- */

/* Bytes that are moved because a pointwise operator after the call is a kernel of its own, where
 * one of ours has it on its tiles: the result is read again.  The kernel of a reduction, which no
 * product has, computes such operators too. */
static double bytes_after(const Chooser *c, const Node *product, const Node *end) {
  uint8_t uses = end->id < c->nids ? c->uses[end->id] : 0;
  if (c->read_again[product->id]) return 0;
  bool kernel = uses & USE_FOLLOWED && !(uses & USE_REDUCED);
  return kernel ? 2 * library_bytes(c->g, &end->type) : 0;
}

/* The node becomes the call before it is known whether it is wanted, since a problem is that of a
 * call; else it is what it was. */
static bool try_call(Chooser *c, Call *call) {
  Node before = *call->end, *product = call->product;
  make_call(c->g, call);
  LibraryProblem p = library_problem(c->g, call->end);
  p.copied += bytes_after(c, product, call->end);
  p.packed = c->constant[product->args[1].node->id];
  if (library_is_wanted(c->g, &p)) return true;
  *call->end = before;
  return false;
}

static void choose(Chooser *c, Node *n) {
  const LibraryFunction *f;
  bool once = c->constant[n->args[0].node->id] && c->constant[n->args[1].node->id];
  if (once) return;
  for (int i = 0; (f = library_of_kind(c->g->libraries->kind, i)); i++) {
    Call call = {.function = f, .product = n, .out = n->type.dtype};
    if (!takes(&call, call.out, DT_NONE, ACTIVATION_NONE)) continue;
    find_epilogue(c, &call);
    if (try_call(c, &call)) return;
  }
}

/* Chooses libraries for 8-bit floats, whose scales are a part of the call. */
static void choose_float8(Chooser *c, Node *n) {
  const LibraryFunction *f;
  for (int i = 0; (f = library_of_kind(c->g->libraries->kind, i)); i++) {
    Float8Call call;
    if (!library_takes(f, n->args[0].node->type.dtype, DT_BF16, DT_NONE, ACTIVATION_NONE)) continue;
    if (!float8_call_of(c, f, n, &call)) continue;
    Node before = *call.end;
    make_float8_call(c->g, &call);
    LibraryProblem p = library_problem(c->g, call.end);
    p.copied += bytes_after(c, n, call.end);
    if (library_is_wanted(c->g, &p)) return;
    before.prev = call.end->prev; /* which has the scales in memory before it, for no one */
    before.next = call.end->next;
    *call.end = before;
  }
}

typedef struct {
  Chooser *c;
  Node *user;
  uint8_t uses;   /* bits for each operand */
  uint32_t level; /* the largest of the operands */
} Use;

static void note_level(Node **operand, void *ctx) {
  Use *use = ctx;
  uint32_t level = use->c->level[(*operand)->id];
  if (level > use->level) use->level = level;
}

/* What also reads values of a higher level may depend on them: it is in no kernel of the
 * product. */
static void note_user(Node **operand, void *ctx) {
  const Use *use = ctx;
  uint32_t id = (*operand)->id;
  if (!use->c->user[id]) use->c->user[id] = use->user;
  if (use->c->level[id] == use->level) use->c->uses[id] |= use->uses;
}

static bool is_pointwise(const Node *n) { return prim_kind(n->op) == PRIM_POINTWISE; }

/* How n uses an operand.  A cast alone is computed again by each kernel that reads it. */
static uint8_t uses_by(const Chooser *c, const Node *n) {
  if (n->kind != NODE_CALL) return USE_STORED;
  PrimKind k = prim_kind(n->op);
  uint8_t uses = c->uses[n->id] | (c->returned[n->id] ? USE_STORED : 0);
  if (prim_is_view(n)) return uses;
  if (k == PRIM_REDUCE || k == PRIM_SCAN) return USE_REDUCED;
  bool fused = uses & (USE_FOLLOWED | USE_REDUCED);
  if (!fused && concat_is_computed(c->g, n)) return USE_FOLLOWED; /* its slice is stored there */
  if (!is_pointwise(n)) return USE_STORED;
  bool cast = graph_is_any(n, OP_aten_to_dtype, OP_aten__to_copy_default);
  bool kernel = uses & USE_FOLLOWED || (cast ? c->returned[n->id] : uses & USE_STORED);
  return (uint8_t)((kernel ? USE_FOLLOWED : 0) | (uses & USE_REDUCED));
}

/* The last of several products that a pointwise operator reads computes it on its tiles. */
static void note_host(Node **operand, void *ctx) {
  const Use *use = ctx;
  Node *mine = use->c->host[(*operand)->id], **host = &use->c->host[use->user->id];
  if (!mine || mine == *host || use->c->level[(*operand)->id] != use->level) return;
  bool later = !*host || use->c->place[mine->id] > use->c->place[(*host)->id];
  Node *other = later ? *host : mine;
  if (other) use->c->read_again[other->id] = true;
  if (later) *host = mine;
}

static void find_users(Chooser *c) {
  uint32_t place = 0;
  for (Node *n = c->g->first; n; n = n->next) {
    Use use = {c, n, 0, 0};
    graph_each_use(n, note_level, &use);
    c->place[n->id] = place++;
    bool apart = n->kind == NODE_CALL && !prim_is_view(n) && !is_pointwise(n);
    c->level[n->id] = use.level + apart;
    if (n->kind == NODE_CALL && !apart) graph_each_use(n, note_host, &use);
    else if (n->kind == NODE_CALL && is_product_of_matrices(c->g, n)) c->host[n->id] = n;
  }
  for (Node *n = c->g->last; n; n = n->prev) {
    Use use = {c, n, uses_by(c, n), 0};
    graph_each_use(n, note_level, &use);
    graph_each_use(n, note_user, &use);
  }
}

bool pass_choose_libraries(Graph *g) {
  if (!graph_functional(g, "choose_libraries")) return false;
  if (!g->libraries) return true;
  Arena *scratch = arena_child(g->arena);
  Chooser c = {.g = g, .nids = g->nids};
  c.constant = constants_find(g, scratch);
  c.use_count = graph_use_counts(g, scratch);
  c.user = ARENA_ARRAY(scratch, Node *, g->nids);
  c.uses = ARENA_ARRAY(scratch, uint8_t, g->nids);
  c.level = ARENA_ARRAY(scratch, uint32_t, g->nids);
  c.host = ARENA_ARRAY(scratch, Node *, g->nids);
  c.place = ARENA_ARRAY(scratch, uint32_t, g->nids);
  c.read_again = ARENA_ARRAY(scratch, bool, g->nids);
  const Arg *list = &g->last->args[0];
  c.returned = ARENA_ARRAY(scratch, bool, g->nids);
  for (uint32_t i = 0; i < list->n; i++)
    if (list->items[i].kind == ARG_NODE) c.returned[list->items[i].node->id] = true;
  find_users(&c);
  for (Node *n = g->first; n; n = n->next)
    if (n->kind == NODE_CALL && is_product_of_matrices(g, n)) choose(&c, n);
  for (Node *n = g->first; n; n = n->next)
    if (graph_is(n, OP_nereid_float8_mm_default)) choose_float8(&c, n);
  graph_dce(g);
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
