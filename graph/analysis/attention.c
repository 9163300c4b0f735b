#include "graph/analysis/attention.h"

static int64_t rows_fitting(Dim rows, int64_t most) {
  if (!dim_is_int(rows)) return most;
  int64_t p = power_of_2(rows->value, 16);
  return p < most ? p : most;
}

/* How many programs there are with blocks of that many rows; INT64_MAX: sizes leave it open. */
static int64_t programs(const Attention *x, int64_t bm) {
  if (!dim_is_int(x->rows) || !dim_is_int(x->batches)) return INT64_MAX;
  int64_t blocks = (x->rows->value + bm - 1) / bm, n;
  return __builtin_mul_overflow(blocks, x->batches->value, &n) ? INT64_MAX : n;
}

/* Keys of a block: more of them where there are many, so that a block's maximum costs less. */
static int keys_of_block(const Attention *x) {
  enum { MANY = 1024, FEW = 64 };
  return !dim_is_int(x->keys) || x->keys->value >= MANY ? 2 * FEW : FEW;
}

/* Blocks that were best on an H200 of those with 64 and 128 rows: several programs with few rows
 * each overlap, where a row's output fits their registers. */
static void shape_of_halves(const Attention *x, int64_t width, int processors, AttentionShape *s) {
  enum { NARROW = 64, WIDE = 128 };
  s->bm = rows_fitting(x->rows, 64);
  s->bn = 64;
  if (s->bm < 64 || width > WIDE) return;
  if (width <= NARROW) s->bn = keys_of_block(x);
  else if (programs(x, 128) >= processors) s->bm = s->bn = 128, s->warps = 8;
}

/* On a CPU blocks may have any number of rows: as few blocks as with `most`, and as equal as those
 * can be that are cut into register blocks of several rows. */
static int64_t even_rows(Dim rows, int64_t most) {
  enum { LEAST = 16 };
  if (!dim_is_int(rows) || rows->value <= LEAST) return rows_fitting(rows, most);
  int64_t blocks = (rows->value + most - 1) / most, bm = (rows->value + blocks - 1) / blocks;
  while (bm % 4 && bm % 5 && bm % 6) bm++;
  return bm;
}

AttentionShape attention_shape(const Attention *x, int processors) {
  AttentionShape s = {.bd = power_of_2(x->width->value, 16),
                      .be = power_of_2(x->columns->value, 16),
                      .warps = 4,
                      .stages = 2};
  int64_t width = s.bd > s.be ? s.bd : s.be;
  bool f32 = x->query->type.dtype == DT_F32;
  s.bn = f32 || width > 128 ? 32 : 64;
  int64_t most = f32 || width > 128 ? 64 : 128;
  s.bm = processors ? rows_fitting(x->rows, most) : even_rows(x->rows, most);
  if (processors && !f32) shape_of_halves(x, width, processors, &s);
  if (s.bm <= 32) s.stages = 3;
  return s;
}

static bool width_fits(const Node *x) {
  Dim w = x->type.shape[x->type.rank - 1];
  return dim_is_int(w) && w->value >= 1 && w->value <= ATTENTION_WIDTH_MAX;
}

bool attention_fits(const Node *query, const Node *value) {
  DType t = query->type.dtype;
  bool dtype = t == DT_F32 || t == DT_F16 || t == DT_BF16;
  return dtype && width_fits(query) && width_fits(value);
}

static Dim given(Graph *g, const Node *n, const char *param) {
  Arg a = graph_arg(g, n, param);
  if (a.kind == ARG_NODE) return a.node->type.value;
  return a.kind == ARG_INT ? a.dim : NULL;
}

static double literal_value(const Arg *a) {
  return a->kind == ARG_FLOAT ? a->number : (double)a->dim->value;
}

Attention attention_of(Graph *g, const Node *n) {
  Arg mask = graph_arg(g, n, "mask"), scale = graph_arg(g, n, "scale");
  Attention x = {.query = graph_arg(g, n, "query").node,
                 .key = graph_arg(g, n, "key").node,
                 .value = graph_arg(g, n, "value").node,
                 .mask = mask.kind == ARG_NODE ? mask.node : NULL,
                 .scale = literal_value(&scale),
                 .low = given(g, n, "low"),
                 .high = given(g, n, "high"),
                 .splits = graph_arg(g, n, "splits").dim->value};
  const Dim *q = x.query->type.shape, *v = x.value->type.shape;
  x.batches = dim_mul(g->dims, q[0], q[1]);
  x.heads = q[1];
  x.rows = q[2];
  x.keys = v[2];
  x.width = q[3];
  x.columns = v[3];
  return x;
}

bool attention_reads(Graph *g, const Node *n, const Node *operand) {
  static const char *const read[] = {"query", "key", "value"};
  for (size_t i = 0; i < sizeof read / sizeof *read; i++)
    if (graph_arg(g, n, read[i]).node == operand) return true;
  return false;
}

void attention_operand_index(Graph *g, const Attention *x, Dim batch, Dim row, Dim column,
                             Dim *index) {
  Dim leading[] = {x->query->type.shape[0], x->heads};
  index_of_linear(g->dims, batch, leading, 2, index);
  index[2] = row;
  index[3] = column;
}

bool attention_limits_leave(Dims *d, Dim low, Dim high, Dim rows, Dim keys) {
  Dim zero = dim_int(d, 0);
  if (!dim_at_most(d, dim_int(d, 1), keys)) return false;
  if (high && !dim_at_most(d, zero, high)) return false;
  /* With a lower limit, the key at the row's own index must be there. */
  return !low || (dim_at_most(d, low, zero) && dim_at_most(d, rows, keys));
}

void attention_mask_index(Graph *g, const Attention *x, const Dim *at, Dim *index) {
  const ValueType *t = &x->mask->type;
  for (uint32_t i = 0; i < t->rank; i++)
    index[i] = dim_is(t->shape[i], 1) ? dim_int(g->dims, 0) : at[4 - t->rank + i];
}

void attention_result_index(Graph *g, const Attention *x, Dim split, Dim batch, Dim row, Dim column,
                            Dim *index) {
  Dim at[4];
  attention_operand_index(g, x, batch, row, column, at);
  if (split) *index++ = split;
  index[0] = at[0];
  index[1] = at[2];
  index[2] = at[1];
  index[3] = at[3];
}
