#include "planner/tiling/near_columns.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/prims.h"
#include "planner/tiling/panels.h"

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

enum { ROWS_LEAST = 16, COLUMNS_LEAST = 8, DEPTH_LEAST = 16, DEPTH_MOST = 1024 };

/* Is a panel the whole matrix, with rows next to each other?  Rows that are apart are in few sets
 * of a cache. */
static bool is_panel(const Product *p, int width, const Dim stride[2]) {
  return p->n == width && dim_is(stride[1], 1) && dim_is(stride[0], width);
}

/* A program copies its columns for so many rows at least: a twentieth of its time, or less; more
 * than ROWS_MOST are more programs, for threads of any number. */
static int64_t rows_of_program(const Product *p, bool turned, const Tile *t) {
  enum { PROGRAMS = 16, ROWS = 84, ROWS_TURNED = 128, ROWS_MOST = 512 };
  int64_t panels = (p->n + t->bn - 1) / t->bn * p->batch, blocks = (p->m + t->bm - 1) / t->bm;
  int64_t bands = (PROGRAMS + panels - 1) / panels, most = p->m / (turned ? ROWS_TURNED : ROWS);
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
                       .vectors = panels_vectors(width, p->dtype)};
  Tile t = tiling_panels(&each);
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
  p->k = k->value;
  return p->batch >= 1 && p->m >= ROWS_LEAST && p->n >= COLUMNS_LEAST && p->k >= DEPTH_LEAST &&
         p->k <= DEPTH_MOST;
}

bool near_columns_of(Graph *g, const Node *n, NearColumns *out) {
  Product p = {0};
  Dim left[2], right[2];
  if (!g->host || !graph_is_any(n, OP_aten_mm_default, OP_aten_bmm_default)) return false;
  Node *x = n->args[0].node, *y = n->args[1].node;
  bool real = x->type.dtype == DT_F32 || x->type.dtype == DT_F64;
  if (!real || y->type.dtype != x->type.dtype || n->type.dtype != x->type.dtype) return false;
  if (!known_sizes(n, &p) || !matrix_strides(g, x, left) || !matrix_strides(g, y, right))
    return false;
  int64_t bytes = dtype_bytes(p.dtype);
  int width = panels_width_for(p.n, p.dtype);
  bool beside = dim_is(right[1], 1), turned = dim_is(right[0], 1);
  if (!dim_is(left[1], 1) || (!beside && !turned)) return false;
  if (p.n > width && p.m * p.k * bytes > tiling_near_bytes()) return false;
  out->in_place = is_panel(&p, width, right);
  out->tile = tile_of(&p, width);
  out->rows = rows_of_program(&p, !beside, &out->tile);
  return true;
}
