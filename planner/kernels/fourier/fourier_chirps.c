/* Transforms as convolutions with chirps (graph/ops/fourier_form.h): a sweep of radices there,
 * whose results are multiplied by the filter, and one back. */
#include "planner/kernels/fourier/fourier_sweep.h"

/* Both parts of the chirp come last among the factors. */
static int64_t chirp_size(const Fourier *f) {
  return (f->f.size + f->f.lanes - 1) / f->f.lanes * f->f.lanes;
}

static const char *chirp_pointer(Fourier *f, const char *index) {
  return codelet_signal(&f->c, "turns + (%s + %lld)", index,
                        (long long)(f->f.factors - 2 * chirp_size(f)))
      .name;
}

/* The mask of the lanes of index + by that are below `size`, as an argument: "" for all of them. */
static const char *mask_below(Fourier *f, const char *index, int64_t by, int64_t count,
                              int64_t size) {
  if (by + count <= size) return f->mask;
  Signal below = codelet_signal(&f->c, "%s < %lld", index, (long long)(size - by));
  if (*f->mask) below = codelet_signal(&f->c, "%s & inside", below.name);
  return arena_printf(f->a, ", mask=%s", below.name);
}

static Signal load_some(Fourier *f, const char *address, const char *mask) {
  return codelet_signal(&f->c, "tl.load(%s%s%s)", address, mask, *mask ? ", other=0.0" : "");
}

/* x times the chirp's element at from + by. */
static Wave chirped(Fourier *f, const char *from, int64_t by, const char *mask, Wave x) {
  Signal cosine = load_some(f, fourier_at(f, from, by), mask);
  Signal sine = load_some(f, fourier_at(f, from, by + chirp_size(f)), mask);
  return codelet_turned(&f->c, x, cosine.name, sine.name);
}

/* Which of the `count` elements index + by of half a spectrum have no conjugate in the other half?
 * NULL: all have one. */
static const char *alone(Fourier *f, const char *index, int64_t by, int64_t count) {
  int64_t n = f->f.size, middle = n % 2 ? -1 : n / 2;
  bool first = !by, last = by <= middle && middle < by + count;
  if (!first && !last) return NULL;
  Signal x = {0}, y = {0};
  if (first) x = codelet_signal(&f->c, "%s == 0", index);
  if (last) y = codelet_signal(&f->c, "%s == %lld", index, (long long)(middle - by));
  if (first && last) x = codelet_signal(&f->c, "%s | %s", x.name, y.name);
  return first ? x.name : y.name;
}

/* An element of half a spectrum stands for its conjugate, too. */
static Wave doubled(Fourier *f, int64_t by, Wave x) {
  const char *some = alone(f, "after", by, f->f.columns);
  Wave y = {.re = codelet_signal(&f->c, "%s + %s", x.re.name, x.re.name),
            .im = codelet_signal(&f->c, "%s + %s", x.im.name, x.im.name)};
  if (!some) return y;
  y.re = codelet_signal(&f->c, "tl.where(%s, %s, %s)", some, x.re.name, y.re.name);
  y.im = codelet_signal(&f->c, "tl.where(%s, 0.0, %s)", some, y.im.name);
  return y;
}

static void start_chirps(Sweep *s) {
  fourier_point_after(s);
  s->weights = chirp_pointer(s->f, arena_printf(s->f->a, "column * %d", (int)s->f->f.lanes));
}

static Wave make_chirped(Sweep *s, int64_t t) {
  Fourier *f = s->f;
  Dims *d = f->k->graph->dims;
  int64_t by = t * f->f.columns;
  const char *mask = mask_below(f, "after", by, f->f.columns, f->f.operand);
  Dim offset = dim_int(d, by * s->stride), second = offset;
  if (f->im.after) second = dim_add(d, offset, f->im.after);
  Wave x = {
      .re = load_some(f, arena_printf(f->a, "from_0 + %s", kernel_operand(f->k, offset)), mask)};
  if (!fourier_takes_real(f))
    x.im = load_some(
        f, arena_printf(f->a, "from_%d + %s", f->im.after ? 0 : 1, kernel_operand(f->k, second)),
        mask);
  if (fourier_gives_real(f)) x = doubled(f, by, x);
  return chirped(f, s->weights, by, mask, x);
}

static void end_filtered(Sweep *s, Wave *y, int64_t radix, int64_t apart) {
  Fourier *f = s->f;
  const char *filter = kernel_buffer(f->k, fourier_argument(f, "filter").node);
  kernel_line(f->k, "to = ordered + (element + k * %d)", (int)f->f.lanes);
  kernel_line(f->k, "factor = %s + (element + row)", filter);
  for (int64_t k = 0; k < radix; k++) {
    Signal re = load_some(f, fourier_at(f, "factor", k * apart), f->mask);
    Signal im = load_some(f, fourier_at(f, "factor", k * apart + f->f.points), f->mask);
    Wave x = codelet_turned(&f->c, y[k], re.name, im.name);
    for (int part = 0; part < 2; part++)
      kernel_line(f->k, "tl.store(%s, %s%s)",
                  fourier_at(f, "to", k * apart + part * fourier_ordered(f)),
                  codelet_text(&f->c, part ? x.im : x.re), f->mask);
  }
}

static void start_filtered(Sweep *s) {
  kernel_line(s->f->k, "from_0 = ordered + column * %d", (int)s->f->f.lanes);
}

static Wave make_filtered(Sweep *s, int64_t t) {
  Fourier *f = s->f;
  int64_t by = t * f->f.columns;
  Signal re = fourier_load(f, fourier_at(f, "from_0", by));
  return WAVE(re, fourier_load(f, fourier_at(f, "from_0", by + fourier_ordered(f))));
}

static void end_chirped(Sweep *s, Wave *y, int64_t radix, int64_t apart) {
  Fourier *f = s->f;
  const char *own = f->mask, *element = kernel_operand(f->k, s->to.element);
  kernel_line(f->k, "after = element + row");
  const char *chirp = chirp_pointer(f, arena_printf(f->a, "element + k * %d", (int)f->f.lanes));
  for (int64_t k = 0; k < radix && k * apart < f->f.result; k++) {
    f->mask = mask_below(f, "after", k * apart, apart, f->f.result);
    Wave x = chirped(f, chirp, k * apart, f->mask, y[k]);
    kernel_line(f->k, "spectrum = result + (after + %lld)%s * %s", (long long)(k * apart),
                kernel_wide(f->k), element);
    const char *some = alone(f, "after", k * apart, apart);
    if (some && fourier_takes_real(f))
      x.im = codelet_signal(&f->c, "tl.where(%s, 0.0, %s)", some, codelet_text(&f->c, x.im));
    if (fourier_gives_real(f)) fourier_store_part(f, &s->to, 0, false, fourier_scaled(f, x.re));
    else fourier_store_waves(f, &s->to, &x, 1);
    f->mask = own;
  }
}

void fourier_by_chirps(Fourier *f, const Strides *s) {
  fourier_open_rows(f, s);
  Sweep sweep = {.f = f,
                 .stride = f->re.at[2]->value,
                 .operands = f->f.operand,
                 .to = *s,
                 .start = start_chirps,
                 .make = make_chirped,
                 .end = end_filtered};
  fourier_sweep(&sweep);
  sweep = (Sweep){.f = f,
                  .conjugated = true,
                  .operands = f->f.points,
                  .to = *s,
                  .start = start_filtered,
                  .make = make_filtered,
                  .end = end_chirped};
  f->c.inverse = !f->c.inverse;
  fourier_sweep(&sweep);
}
