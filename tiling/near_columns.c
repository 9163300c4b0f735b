#include "tiling/near_columns.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/prims.h"
#include "tiling/panels.h"

/* ---- operands ---- */

/* The strides of a matrix, or of each one of a batch, along rows and columns; false: they are in no
 * such order, or its elements are computed. */
static bool matrix_strides(Graph *g, Node *n, Dim stride[2]) {
  Dims *d = g->dims;
  Strided s;
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX], index[2];
  uint32_t matrix = n->type.rank - 2;
  strided_index(d, n->type.shape + matrix, 2, index);
  for (uint32_t i = 0; i < matrix; i++) at[i] = dim_int(d, 0);
  memcpy(at + matrix, index, sizeof index);
  for (; prim_is_view(n); n = view_operand(n)) {
    view_index(g, n, at, from);
    memcpy(at, from, sizeof at);
  }
  if (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_GATHER) return false;
  Dim offset = linear_of_index(d, at, n->type.shape, n->type.rank);
  if (!strided_offset(d, offset, index, 2, &s)) return false;
  memcpy(stride, s.stride, 2 * sizeof *stride);
  return true;
}

/* ---- the choice ---- */

enum { ROWS_LEAST = 16, COLUMNS_LEAST = 8, DEPTH_LEAST = 8, DEPTH_MOST = 1024 /* words */ };

/* Is a panel the whole matrix, with rows next to each other?  A dot copies rows that are apart. */
static bool is_panel(const Product *p, int width, const Dim stride[2]) {
  return p->n == width && dim_is(stride[1], 1) && dim_is(stride[0], width);
}

/* A program copies its columns for so many rows at least: a twentieth of its time, or less, and a
 * fifth where they are made into words or computed; more than ROWS_MOST are more programs, for
 * threads of any number. */
static int64_t rows_of_program(const Product *p, NearOrder order, const Tile *t) {
  enum { PROGRAMS = 16, ROWS_MOST = 512 };
  static const int64_t least[] = {
      [NEAR_ROWS] = 84, [NEAR_COLUMNS] = 128, [NEAR_WORDS] = 256, [NEAR_COMPUTED] = 256};
  int64_t panels = (p->n + t->bn - 1) / t->bn * p->batch, blocks = (p->m + t->bm - 1) / t->bm;
  int64_t bands = (PROGRAMS + panels - 1) / panels, most = p->m / least[order];
  if (bands > most) bands = most > 1 ? most : 1;
  if (p->m / bands > ROWS_MOST) bands = (p->m + ROWS_MOST - 1) / ROWS_MOST;
  return (blocks + bands - 1) / bands * t->bm;
}

static Tile tile_of(const Product *p, int width) {
  PanelProduct each = {.batch = p->batch,
                       .m = p->m,
                       .n = p->n,
                       .k = p->k,
                       .run = p->k,
                       .width = width,
                       .vectors = panels_vectors(width, p->dtype),
                       .tiles = p->tiles};
  Tile t = tiling_panels(&each);
  if (t.bm > TILING_UNIT_ROWS && p->tiles) t.bm = TILING_UNIT_ROWS;
  t.bk = (int)p->k;
  return t;
}

static bool known_sizes(const Node *n, Product *p) {
  const ValueType *left = &n->args[0].node->type, *to = &n->type;
  Dim m = to->shape[to->rank - 2], columns = to->shape[to->rank - 1];
  Dim k = left->shape[left->rank - 1], batch = to->rank == 3 ? to->shape[0] : NULL;
  if (!dim_is_int(m) || !dim_is_int(columns) || !dim_is_int(k)) return false;
  p->dtype = left->dtype;
  p->batch = batch && dim_is_int(batch) ? batch->value : 1;
  p->m = m->value;
  p->n = columns->value;
  int64_t word = strided_word(p->dtype);
  p->k = k->value / word;
  p->tiles = tiling_has_tiles(word);
  return p->batch >= 1 && p->m >= ROWS_LEAST && p->n >= COLUMNS_LEAST && p->k >= DEPTH_LEAST &&
         p->k <= DEPTH_MOST;
}

/* Operands and results of products that have words, or elements of 32 or 64 bits. */
static bool has_dtypes(const Node *n, bool computes) {
  DType x = n->args[0].node->type.dtype, y = n->args[1].node->type.dtype, to = n->type.dtype;
  if (graph_is(n, OP_nereid_int8_mm_default))
    return !computes && x == DT_I8 && y == DT_I8 && to == DT_I32;
  bool real = x == DT_F32 || x == DT_F64;
  return x == y && x == to && (real || (x == DT_BF16 && !computes));
}

/* `computes`: the program computes the right operand. */
static bool columns_of(Graph *g, const Node *n, bool computes, NearColumns *out) {
  Product p = {0};
  Dim left[2], right[2];
  if (!g->host || !has_dtypes(n, computes)) return false;
  Node *x = n->args[0].node, *y = n->args[1].node;
  if (!known_sizes(n, &p) || !matrix_strides(g, x, left)) return false;
  if (!computes && !matrix_strides(g, y, right)) return false;
  int64_t bytes = dtype_bytes(p.dtype), word = strided_word(p.dtype);
  int width = panels_width_for(0, p.n, p.dtype);
  bool turned = !computes && dim_is(right[0], 1), beside = computes || dim_is(right[1], 1);
  if (!dim_is(left[1], 1) || (!beside && !turned)) return false;
  if (turned && !dim_divisible(right[1], word)) return false;
  if (p.n > width && p.m * p.k * word * bytes > tiling_near_bytes()) return false;
  out->order = computes ? NEAR_COMPUTED : turned ? NEAR_COLUMNS : word > 1 ? NEAR_WORDS : NEAR_ROWS;
  out->in_place = word == 1 && !computes && is_panel(&p, width, right);
  out->tile = tile_of(&p, width);
  out->rows = rows_of_program(&p, out->order, &out->tile);
  return true;
}

bool near_columns_of(Graph *g, const Node *n, NearColumns *out) {
  bool computes = prim_unpacks(n) && prim_groups(n) == GROUPS_NONE;
  bool plain = graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default, OP_nereid_int8_mm_default);
  return (plain || computes) && columns_of(g, n, computes, out);
}

/* ---- right operands that programs compute ---- */

typedef struct {
  Graph *g;
  const uint32_t *uses; /* by node id */
  uint32_t nids, nodes;
  bool bad;
} Computed;

static void look_at(Computed *c, Node *n);

static void look_at_operand(Node **operand, void *ctx) {
  if ((*operand)->type.kind == VALUE_TENSOR) look_at(ctx, *operand);
}

/* Does an element cost less than in memory? */
static bool is_cheap(Graph *g, const Node *n) {
  enum { PIECES_MOST = 4 };
  PrimKind k = prim_kind(n->op);
  if (k == PRIM_VIEW) return !prim_reads_size(n);
  if (graph_is(n, OP_aten_constant_pad_nd_default)) return true;
  if (graph_is(n, OP_aten_cat_default)) return graph_arg(g, n, "tensors").n <= PIECES_MOST;
  return graph_is_any(n, OP_aten_neg_default, OP_aten_to_dtype);
}

/* Goes through what programs compute. */
static void look_at(Computed *c, Node *n) {
  enum { NODES_MOST = 32 };
  bool mine = n->kind == NODE_CALL && n->id < c->nids && is_cheap(c->g, n);
  if (!mine || c->bad) return;
  c->bad |= c->uses[n->id] > 1 && prim_kind(n->op) != PRIM_VIEW;
  c->bad |= ++c->nodes > NODES_MOST;
  graph_each_use(n, look_at_operand, c);
}

static Node *view_source(Node *n) {
  while (prim_is_view(n) && !prim_reads_size(n)) n = view_operand(n);
  return n;
}

/* Windows of a signal, which overlap, or one with its padding. */
static bool is_windows(Graph *g, Node *right) {
  Dim stride[2];
  bool unfolds = false;
  Node *n = right;
  for (; n->kind == NODE_CALL && prim_is_view(n) && !prim_reads_size(n); n = view_operand(n))
    unfolds |= graph_is(n, OP_aten_unfold_default);
  bool pads = graph_is(n, OP_aten_constant_pad_nd_default);
  return unfolds && (pads || (n->kind == NODE_INPUT && !matrix_strides(g, right, stride)));
}

bool near_columns_computes(Graph *g, const Node *n, const uint32_t *uses, uint32_t nids) {
  Node *source = view_source(n->args[1].node);
  bool concat = graph_is(source, OP_aten_cat_default);
  bool widens =
      graph_is(source, OP_aten_to_dtype) && view_source(source->args[0].node)->kind == NODE_INPUT;
  bool windows = is_windows(g, n->args[1].node);
  Computed c = {.g = g, .uses = uses, .nids = nids};
  NearColumns near;
  if ((!concat && !widens && !windows) || !columns_of(g, n, true, &near)) return false;
  /* Lanes of several pieces would be loaded one by one. */
  if (concat && n->type.shape[n->type.rank - 1]->value % near.tile.bn) return false;
  look_at(&c, n->args[1].node);
  return !c.bad;
}
