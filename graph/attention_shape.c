#include "graph/attention.h"

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

AttentionShape attention_shape(const Attention *x, int processors) {
  bool wide = x->query->type.dtype == DT_F32;
  AttentionShape s = {.bd = power_of_2(x->width->value, 16),
                      .be = power_of_2(x->columns->value, 16),
                      .warps = 4,
                      .stages = 2};
  int64_t width = s.bd > s.be ? s.bd : s.be;
  s.bn = wide || width > 128 ? 32 : 64;
  s.bm = rows_fitting(x->rows, wide || width > 128 ? 64 : 128);
  while (s.bm > 64 && programs(x, s.bm) < processors) s.bm /= 2;
  if (s.bm <= 32) s.stages = 3;
  return s;
}
