/* Pass dense_operands: for GPUs, operands of products become matrices in memory where the kernel
 * that computes them anyway can write them so.  For CPUs those that are concatenated do, whose
 * kernels write their slices, and, as for tensor copies, images of convolutions are copied, also
 * where their places are computed.
 *
 * A product reads an operand through views.  Axes that are exchanged and then joined, as the
 * gradients of queries, keys and values of all heads are, leave no matrix: an address takes
 * quotients and remainders of the row and the column, no copy of a tile is a box of memory, and no
 * library takes it.
 *
 *   mm(view(permute(cat(..))), y)  =  mm(dense(view(permute(cat(..)))), y)
 *
 * What is concatenated or computed element by element, and read through these views alone, is
 * fused with its copy.  A copy of anything else would be a kernel.
 *
 * Axes over which a product sums may come in any order: they get that of an operand in memory, if
 * more operands are matrices then.
 *
 *   mm(view(permute(x, [0, 2, 1])), view(permute(y, [1, 0, 2])))  =  mm(view(x), view(y))
 *
 * Operands of nereid.float8_mm and nereid.int8_mm whose elements along the sum are apart are copied
 * in any case, and so are those of nereid.grouped_mm if they are 8-bit floats whose sum is in
 * groups. */
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/prims.h"
#include "graph/ops/window.h"
#include "lower/target/device_peaks.h"
#include "planner/passes.h"
#include "tiling/near_columns.h"

typedef struct {
  Graph *g;
  uint32_t *uses; /* by node id */
  Node **user;    /* by node id: the last one that uses it */
  uint32_t nids;
  Node *at; /* whose operands are noted */
} Users;

static bool is_written_by_element(const Graph *g, const Node *n) {
  if (n->kind != NODE_CALL) return false;
  PrimKind k = prim_kind(n->op);
  bool computed = k == PRIM_POINTWISE && !g->host && !graph_is(n, OP_nereid_dense_default);
  return k == PRIM_CONCAT || computed;
}

/* The last of the views that follow on n, each the only use of the one before. */
static Node *end_of_views(const Users *u, Node *n) {
  while (n->id < u->nids && u->uses[n->id] == 1 && prim_is_view(u->user[n->id]) &&
         !prim_reads_size(u->user[n->id]))
    n = u->user[n->id];
  return n;
}

/* Has it rows, or columns, of elements next to each other? */
static bool is_matrix(Graph *g, Node *n) {
  Strided s;
  uint32_t rank = rank_of(n);
  return rank >= 2 && strided_of(g, n, &s) &&
         (dim_is(s.stride[rank - 1], 1) || dim_is(s.stride[rank - 2], 1));
}

static void write_as_is(Graph *g, Node *n) {
  Build b = build_at(g, n->next);
  graph_replace_later(n, build_op1(&b, OP_nereid_dense_default, n), NULL);
}

static void order_operand(Users *u, Node *operand) {
  if (is_matrix(u->g, operand)) return;
  Node *source = operand;
  while (source->kind == NODE_CALL && prim_kind(source->op) == PRIM_VIEW)
    source = view_operand(source);
  if (!is_written_by_element(u->g, source)) return;
  Node *end = end_of_views(u, source);
  bool passed = false;
  for (Node *n = operand; n != source && !passed; n = view_operand(n)) passed = n == end;
  if (passed && !strided_is_dense(u->g, end)) write_as_is(u->g, end);
}

/* ---- the order of a sum ---- */

/* An operand is a view that joins axes of another node to the sum's axis. */
typedef struct {
  Node *operand, *from;
  uint32_t sum[STRIDED_RANK_MAX], n; /* axes of `from`, but those of one element */
  uint32_t own;                      /* the axis that is not summed */
} JoinedSum;

static bool is_joined(Node *operand, bool right, JoinedSum *j) {
  if (!graph_is(operand, OP_aten_view_default)) return false;
  *j = (JoinedSum){.operand = operand, .from = view_operand(operand)};
  uint32_t rank = rank_of(j->from), n = 0, axes[STRIDED_RANK_MAX];
  if (rank > STRIDED_RANK_MAX || (rank_of(operand) == 3 && !dim_is(operand->type.shape[0], 1)))
    return false;
  for (uint32_t i = 0; i < rank; i++)
    if (!dim_is(j->from->type.shape[i], 1)) axes[n++] = i;
  if (n < 3) return false;
  j->own = axes[right ? n - 1 : 0];
  j->n = n - 1;
  for (uint32_t i = 0; i < j->n; i++) j->sum[i] = axes[i + !right];
  return j->from->type.shape[j->own] == size_from_end(operand, right ? 1 : 2);
}

/* The operand with the sum's axes in that order. */
static Node *in_order(Build *b, const JoinedSum *j, const uint32_t *order, bool right) {
  uint32_t axes[STRIDED_RANK_MAX], n = 0;
  if (!right) axes[n++] = j->own;
  for (uint32_t i = 0; i < j->n; i++) axes[n++] = j->sum[order[i]];
  if (right) axes[n++] = j->own;
  for (uint32_t i = 0; i < rank_of(j->from); i++)
    if (dim_is(j->from->type.shape[i], 1)) axes[n++] = i;
  const ValueType *t = &j->operand->type;
  return build_view(b, build_permute(b, j->from, axes), t->rank, t->shape);
}

/* The sum's axes from the largest stride of x to the least; false: they are in that order. */
static bool order_of(Graph *g, const JoinedSum *x, uint32_t *order) {
  Strided s;
  bool other = false;
  if (!strided_of(g, x->from, &s)) return false;
  for (uint32_t i = 0; i < x->n; i++) {
    if (!dim_is_int(s.stride[x->sum[i]])) return false;
    uint32_t at = i;
    for (; at > 0 && s.stride[x->sum[order[at - 1]]]->value < s.stride[x->sum[i]]->value; at--)
      order[at] = order[at - 1];
    order[at] = i;
    other |= at != i;
  }
  return other;
}

static void order_sum(Build *b, Node *product) {
  Graph *g = b->in.g;
  JoinedSum j[2];
  for (int i = 0; i < 2; i++)
    if (!is_joined(product->args[i].node, i == 1, &j[i])) return;
  if (j[0].n != j[1].n) return;
  for (uint32_t i = 0; i < j[0].n; i++)
    if (j[0].from->type.shape[j[0].sum[i]] != j[1].from->type.shape[j[1].sum[i]]) return;
  int before = is_matrix(g, j[0].operand) + is_matrix(g, j[1].operand);
  for (int by = 0; by < 2; by++) {
    uint32_t order[STRIDED_RANK_MAX];
    if (!order_of(g, &j[by], order)) continue;
    Node *x = in_order(b, &j[0], order, false), *y = in_order(b, &j[1], order, true);
    if (is_matrix(g, x) + is_matrix(g, y) <= before) continue;
    product->args[0].node = x;
    product->args[1].node = y;
    return;
  }
}

/* ---- 8-bit elements ---- */

/* Units of 8-bit elements read operands whose elements along the sum are next to each other; a
 * kernel would transpose each tile of another, byte by byte, as often as a tile is read. */
static void write_along_sum(Build *b, Node *product, int operand) {
  Node *x = product->args[operand].node;
  uint32_t axis = operand ? 0 : 1;
  Strided s;
  if (strided_of(b->in.g, x, &s) && (dim_is(s.stride[axis], 1) || dim_is(x->type.shape[axis], 1)))
    return;
  if (operand) x = build_transpose(b, x, 0, 1);
  x = build_op1(b, OP_nereid_dense_default, x);
  product->args[operand].node = operand ? build_transpose(b, x, 0, 1) : x;
}

static bool multiplies_bytes(const Node *n) {
  if (graph_is_any(n, OP_nereid_float8_mm_default, OP_nereid_int8_mm_default)) return true;
  return graph_is(n, OP_nereid_grouped_mm_default) && prim_groups(n) == GROUPS_OF_SUM &&
         dtype_bits(n->args[0].node->type.dtype) == 8;
}

/* ---- images ---- */

enum { CHANNELS_LEAST = 8, READS_LEAST = 2 /* of each element of a copy */ };

/* Channels of an image are next to each other where the places of a window read them as vectors, or
 * a GPU's tensor copies as boxes: a copy gathers each element once, the kernel for each place that
 * reads it. */
static void write_channels(Build *b, Node *n, int operand) {
  Graph *g = b->in.g;
  Node *x = n->args[operand].node;
  Strided s;
  Window w = window_of(g, n);
  Dim count = window_count(g, &w), channels = size_from_end(x, 1);
  if (dim_is(count, 1) || !dim_is_int(channels) || channels->value < CHANNELS_LEAST) return;
  if (!strided_of(g, x, &s) || dim_is(s.stride[rank_of(x) - 1], 1)) return;
  if (g->host && dim_is(s.stride[rank_of(x) - 1], 0)) return; /* a vector of one element */
  n->args[operand].node = build_op1(b, OP_nereid_dense_default, x);
}

static bool is_view(const Node *x) {
  return x->kind == NODE_CALL && prim_kind(x->op) == PRIM_VIEW && !prim_reads_size(x);
}

/* The node below views whose places are computed: it gathers, as a reflection at borders does; and
 * *reader, the view on it, NULL: there is none.  NULL: places are those of memory. */
static Node *gathered_image(Node *x, Node **reader) {
  *reader = NULL;
  for (; is_view(x); x = view_operand(x)) *reader = x;
  return x->kind == NODE_CALL && prim_kind(x->op) == PRIM_GATHER ? x : NULL;
}

/* An image whose places are computed is copied on CPUs where windows read most of it
 * more than once: the kernel would compute a place for each window, and for each block of channels.
 */
static void write_places(Graph *g, Node *n) {
  Node *reader, *x = gathered_image(n->args[0].node, &reader);
  Window w = window_of(g, n);
  Dim count = window_count(g, &w), all = value_numel(g, &n->type), channels = size_from_end(n, 1);
  if (!x || !dim_is_int(count) || !dim_is_int(all) || !dim_is_int(channels)) return;
  Dim own = value_numel(g, &x->type), features = size_from_end(n->args[0].node, 1);
  if (!dim_is_int(features) || channels->value < 1 || features->value < 1) return;
  double reads = (double)all->value / (double)channels->value * (double)count->value;
  if (reads * (double)features->value < READS_LEAST * (double)own->value) return;
  Node *user = reader ? reader : n;
  Build b = build_at(g, user);
  user->args[0].node = build_op1(&b, OP_nereid_dense_default, x);
}

/* The view that cuts an image's channels to groups (decompose/windows/small_groups.c), of which a
 * vector of the operand's channels has several; NULL: there is none. */
static Node *view_in_groups(const Node *x) {
  enum { VECTOR = 16 };
  uint32_t rank = rank_of(x);
  if (rank < 4 || !dim_is_int(x->type.shape[1]) || x->type.shape[1]->value >= VECTOR) return NULL;
  for (Node *v = (Node *)x; v->kind == NODE_CALL && prim_is_view(v); v = view_operand(v)) {
    const Node *image = view_operand(v);
    if (graph_is(v, OP_aten_view_default) && rank_of(image) + 1 == rank)
      return size_from_end(image, 1) == size_from_end(x, 1) ? v : NULL;
  }
  return NULL;
}

static void write_groups(Graph *g, const Node *n, int operand) {
  Strided s;
  Node *view = view_in_groups(n->args[operand].node), *image = view ? view_operand(view) : NULL;
  if (!view || !strided_of(g, image, &s) || dim_is(s.stride[rank_of(image) - 1], 1)) return;
  Build b = build_at(g, view);
  view->args[0].node = build_op1(&b, OP_nereid_dense_default, image);
}

static bool reads_channels(const Graph *g, const Node *n) {
  if (g->host)
    return graph_is_any(n, OP_nereid_conv_default, OP_nereid_conv_depthwise_default,
                        OP_nereid_conv_depthwise_weight_default);
  bool boxes = g->gpu && device_has_warpgroups(g->gpu);
  return boxes && graph_is_any(n, OP_nereid_conv_default, OP_nereid_conv_weight_default) &&
         dtype_is_half(n->args[0].node->type.dtype);
}

/* ---- the pass ---- */

static void note_user(Node **use, void *ctx) {
  Users *u = ctx;
  u->user[(*use)->id] = u->at;
}

bool pass_dense_operands(Graph *g) {
  Arena *scratch = arena_child(g->arena);
  Users u = {.g = g, .nids = g->nids};
  u.uses = graph_use_counts(g, scratch);
  u.user = ARENA_ARRAY(scratch, Node *, g->nids);
  for (u.at = g->first; u.at; u.at = u.at->next) graph_each_use(u.at, note_user, &u);
  for (Node *n = g->first; n; n = n->next) {
    Build b = build_at(g, n);
    for (int i = 0; i < 2 && multiplies_bytes(n); i++) write_along_sum(&b, n, i);
    if (g->host && graph_is_any(n, OP_nereid_conv_default, OP_nereid_conv_depthwise_default))
      write_places(g, n);
    if (reads_channels(g, n)) {
      write_channels(&b, n, 0);
      bool gradient = graph_is_any(n, OP_nereid_conv_weight_default,
                                   OP_nereid_conv_depthwise_weight_default);
      if (gradient) write_channels(&b, n, 1);
      if (g->host && !graph_is(n, OP_nereid_conv_default)) write_groups(g, n, gradient);
    }
    if (!graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default, OP_aten_bmm_dtype)) continue;
    if (!g->host && !setjmp(b.in.failed)) order_sum(&b, n);
    bool computes = near_columns_computes(g, n, u.uses, u.nids);
    for (int i = 0; i < 2 - computes; i++) order_operand(&u, n->args[i].node);
  }
  arena_free(scratch);
  return diag_errors(g->diags) == 0;
}
