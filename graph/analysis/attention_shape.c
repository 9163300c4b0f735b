#include "graph/analysis/attention.h"

/* At least n, but for what is beyond all tiles. */
static int64_t power_of_2(int64_t n, int64_t least) {
  int64_t p = least;
  while (p < n && p < INT64_MAX / 2) p *= 2;
  return p;
}

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
