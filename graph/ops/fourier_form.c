#include "graph/ops/fourier_form.h"

int64_t fourier_step(const FourierForm *f, uint32_t i) {
  int64_t step = 1;
  while (++i < f->n) step *= f->radix[i];
  return step;
}

int64_t fourier_factors(const FourierForm *f, uint32_t i) {
  return i ? f->radix[i] - 1 : f->half ? f->kept - 1 : f->radix[0] - 1;
}

bool fourier_form(uint32_t n, const int64_t *radices, bool half, bool inverse, DType t,
                  FourierForm *out) {
  FourierForm f = {.n = n, .half = half, .inverse = inverse, .size = 1, .scratch = 1, .factors = 0};
  if (n < 1 || n > FOURIER_RADICES_MAX) return false;
  for (uint32_t i = 0; i < n; i++) {
    if (radices[i] < 2 || radices[i] > FOURIER_RADIX_MAX) return false;
    f.size *= f.radix[i] = radices[i];
  }
  if (f.size > FOURIER_SIZE_MAX) return false;
  f.result = half && !inverse ? f.size / 2 + 1 : f.size;
  f.operand = half && inverse ? f.size / 2 + 1 : f.size;
  f.kept = half ? radices[0] / 2 + 1 : radices[0];
  f.columns = f.size / radices[0];
  f.row = f.columns | 1;
  f.lanes = FOURIER_LANE_BYTES / (int64_t)dtype_bytes(t);
  if (n > 1) f.scratch = 2 * f.kept * f.row * f.lanes;
  for (uint32_t i = 0; i + 1 < n; i++)
    f.factors += 2 * fourier_factors(&f, i) * fourier_step(&f, i);
  *out = f;
  return true;
}
