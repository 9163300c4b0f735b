#include "graph/ops/fourier_form.h"

int64_t fourier_step(const FourierForm *f, uint32_t i) {
  int64_t step = 1;
  while (++i < f->n) step *= f->radix[i];
  return step;
}

int64_t fourier_factors(const FourierForm *f, uint32_t i) {
  bool some = !i && f->half && !f->along;
  return (some ? f->kept : f->radix[i]) - 1;
}

static int64_t rounded(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

static int64_t half_of(int64_t size) { return size / 2 + 1; }

/* Sizes of a convolution that no operand or result meets twice. */
static bool size_chirps(FourierForm *f) {
  int64_t length = f->half ? f->size + half_of(f->size) : 2 * f->size;
  f->scratch += 2 * rounded(f->points, f->lanes);
  f->factors += 2 * rounded(f->size, f->lanes);
  return f->n > 1 && length - 1 <= f->points;
}

/* Rows are padded, so that a column's elements are not all in one set of a cache. */
static bool size_rows(FourierForm *f) {
  int64_t own = f->half ? 2 * f->points : f->points;
  if (f->points > FOURIER_ALONG_MAX || f->radix[f->n - 1] % f->near) return false;
  bool unfolds = f->half && !f->inverse;
  if (f->along > 1 && (unfolds || f->radix[0] % f->near)) return false;
  f->kept = f->radix[0];
  f->row = f->columns * f->along + f->lanes;
  f->plane = rounded(f->radix[0], f->near) * f->row;
  f->scratch = 2 * f->plane;
  if (!f->size) f->size = own;
  f->chirps = f->size != own;
  if (f->chirps) return f->along == 1 && size_chirps(f);
  if (unfolds) f->scratch += 2 * rounded(f->points + 1, f->lanes);
  if (f->half) f->factors += 2 * f->points * f->along;
  return f->n > 1;
}

static bool size_columns(FourierForm *f) {
  if (!f->size) f->size = f->points;
  f->kept = f->half ? f->radix[0] / 2 + 1 : f->radix[0];
  f->row = f->columns | 1;
  f->scratch = f->n > 1 ? 2 * f->kept * f->row * f->lanes : 1;
  return f->points <= FOURIER_SIZE_MAX && f->size == f->points;
}

bool fourier_form(FourierForm *f, DType t) {
  if (f->n < 1 || f->n > FOURIER_RADICES_MAX) return false;
  f->points = 1;
  f->factors = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->radix[i] < 2 || f->radix[i] > FOURIER_RADIX_MAX) return false;
    f->points *= f->radix[i];
  }
  f->columns = f->points / f->radix[0];
  f->lanes = FOURIER_LANE_BYTES / (int64_t)dtype_bytes(t);
  if (f->along < 0 || f->along > FOURIER_SIGNALS_MAX) return false;
  f->near = f->lanes / (f->along ? f->along : 1);
  f->chirps = false;
  if (!(f->along ? size_rows : size_columns)(f)) return false;
  f->result = f->half && !f->inverse ? half_of(f->size) : f->size;
  f->operand = f->half && f->inverse ? half_of(f->size) : f->size;
  int64_t each = 2 * (f->along ? f->along : 1);
  for (uint32_t i = 0; i + 1 < f->n; i++)
    f->factors += each * fourier_factors(f, i) * fourier_step(f, i);
  return true;
}
