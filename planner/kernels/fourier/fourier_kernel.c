#include "planner/kernels/fourier/fourier_kernel.h"

Arg fourier_argument(const Fourier *f, const char *name) {
  return graph_arg(f->k->graph, f->n, name);
}

void fourier_open_loop(Fourier *f, const char *name, int64_t n) {
  kernel_line(f->k, "for %s in range(0, %lld):", name, (long long)n);
  f->k->indent += 4;
}

void fourier_close_loop(Fourier *f) { f->k->indent -= 4; }

bool fourier_takes_real(const Fourier *f) { return f->f.half && !f->f.inverse; }

bool fourier_gives_real(const Fourier *f) { return f->f.half && f->f.inverse; }

Signal fourier_scaled(Fourier *f, Signal x) {
  if (!x.name || (f->scale == 1 && !x.negative)) return x;
  if (f->scale == 1) return codelet_signal(&f->c, "-%s", x.name);
  Arg scale = {.kind = ARG_FLOAT, .number = f->scale};
  const char *text = kernel_literal(f->k, &scale, f->c.dtype);
  if (f->c.dtype == DT_F64) text = arena_printf(f->a, "tl.full([1], %s, tl.float64)", text);
  return codelet_signal(&f->c, "%s * %s", codelet_text(&f->c, x), text);
}

void fourier_store_part(Fourier *f, const Strides *s, int64_t k, bool imaginary, Signal x) {
  Dims *d = f->k->graph->dims;
  Dim at = dim_mul(d, s->element, dim_int(d, k));
  if (imaginary) at = dim_add(d, at, s->part);
  kernel_line(f->k, "tl.store(spectrum + %s, %s%s)", kernel_operand(f->k, at),
              codelet_text(&f->c, x), f->mask);
}

/* `count` elements of the spectrum from `spectrum` on. */
void fourier_store_waves(Fourier *f, const Strides *s, Wave *y, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    codelet_fetch(&f->c, &y[k].re);
    codelet_fetch(&f->c, &y[k].im);
    y[k] = WAVE(fourier_scaled(f, y[k].re), fourier_scaled(f, y[k].im));
  }
  for (int64_t k = 0; f->pairs && k < count; k++) {
    fourier_store_part(f, s, k, false, y[k].re);
    fourier_store_part(f, s, k, true, y[k].im);
  }
  for (int part = 0; !f->pairs && part < 2; part++)
    for (int64_t k = 0; k < count; k++) fourier_store_part(f, s, k, part, part ? y[k].im : y[k].re);
}
