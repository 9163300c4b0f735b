/* Transforms by radices along a row, of complex elements, of pairs of real ones, or to them
 * (graph/ops/fourier_form.h). */
#include "planner/kernels/fourier/fourier_sweep.h"

static const char *operand(Fourier *f, Dim x) { return kernel_operand(f->k, x); }

static int64_t whole(const Fourier *f) { return f->f.points; }

/* The two tables of the spectrum of real elements come last. */
static int64_t table_of_halves(const Fourier *f) {
  return f->f.factors - 2 * whole(f) * f->f.along;
}

/* ---- operands ---- */

/* Rows that follow each other are asked for ahead where they leave caches first (pass
 * prefetch_steps). */
static Signal load_once(Fourier *f, const char *from, Dim offset) {
  return codelet_signal(&f->c, "tl.load(%s + %s, eviction_policy=\"evict_first\")", from,
                        operand(f, offset));
}

/* Elements `by` after those of lanes `after`: two real elements are one complex one. */
static Wave load_wave(const Sweep *s, const char *from_0, const char *from_1, int64_t by) {
  Fourier *f = s->f;
  Dims *d = f->k->graph->dims;
  Dim offset = dim_int(d, by * s->stride), part = f->im.after;
  if (fourier_takes_real(f)) part = dim_int(d, 1);
  Wave x = {.re = load_once(f, from_0, offset)};
  x.im = load_once(f, part ? from_0 : from_1, part ? dim_add(d, offset, part) : offset);
  return x;
}

/* Both elements that a wave has are multiplied by theirs of the window. */
static Wave weighted(const Sweep *s, int64_t t, Wave x) {
  Fourier *f = s->f;
  if (!s->weights) return x;
  int64_t by = t * f->f.columns;
  Signal w = fourier_load(f, fourier_at(f, "weight", fourier_takes_real(f) ? 2 * by : by)), v = w;
  if (fourier_takes_real(f)) v = fourier_load(f, fourier_at(f, "weight", 2 * by + 1));
  Signal re = codelet_signal(&f->c, "%s * %s", x.re.name, w.name);
  return WAVE(re, codelet_signal(&f->c, "%s * %s", x.im.name, v.name));
}

static Signal summed(Fourier *f, const char *x, char sign, const char *y) {
  return codelet_signal(&f->c, "%s %c %s", x, sign, y);
}

/* X[k] + conj X[n - k] + i w^k (X[k] - conj X[n - k]), of which the one at 0 takes real parts. */
static Wave folded(const Sweep *s, int64_t t, Wave x) {
  Fourier *f = s->f;
  int64_t by = t * f->f.columns * f->f.along;
  Wave y = load_wave(s, "back_0", "back_1", -t * f->f.columns);
  if (!t)
    for (int i = 0; i < 2; i++) {
      Signal *part = i ? &y.im : &x.im;
      *part = codelet_signal(&f->c, "tl.where(first, 0.0, %s)", part->name);
    }
  Signal re = summed(f, x.re.name, '+', y.re.name), im = summed(f, x.im.name, '-', y.im.name);
  Signal dr = summed(f, x.re.name, '-', y.re.name), di = summed(f, x.im.name, '+', y.im.name);
  Signal w = fourier_load(f, fourier_at(f, "factor", by));
  Signal v = fourier_load(f, fourier_at(f, "factor", by + whole(f) * f->f.along));
  re = codelet_signal(&f->c, "tl.fma(-%s, %s, %s)", w.name, di.name, re.name);
  im = codelet_signal(&f->c, "tl.fma(%s, %s, %s)", w.name, dr.name, im.name);
  re = codelet_signal(&f->c, "tl.fma(-%s, %s, %s)", v.name, dr.name, re.name);
  return WAVE(re, codelet_signal(&f->c, "tl.fma(-%s, %s, %s)", v.name, di.name, im.name));
}

static Wave make_operand(Sweep *s, int64_t t) {
  Wave x = load_wave(s, "from_0", "from_1", t * s->f->f.columns);
  return fourier_gives_real(s->f) ? folded(s, t, x) : weighted(s, t, x);
}

static void start_operands(Sweep *s) {
  Fourier *f = s->f;
  const Places *parts[] = {&f->re, &f->im};
  fourier_point_after(s);
  if (s->weights)
    kernel_line(f->k, "weight = %s + after%s", s->weights, fourier_takes_real(f) ? " * 2" : "");
  if (!fourier_gives_real(f)) return;
  for (int i = 0; i < (f->im.after ? 1 : 2); i++)
    kernel_line(f->k, "back_%d = %s + (%lld - after)%s * %lld", i, parts[i]->base,
                (long long)whole(f), kernel_wide(f->k), (long long)s->stride);
  kernel_line(f->k, "factor = turns + (column * %d + %lld)", (int)f->f.lanes,
              (long long)table_of_halves(f));
  kernel_line(f->k, "first = after == 0");
}

/* ---- results ---- */

static void end_in_memory(Sweep *s, Wave *y, int64_t radix, int64_t apart) {
  Fourier *f = s->f;
  Dims *d = f->k->graph->dims;
  Strides far = s->to;
  far.element = dim_mul(d, far.element, dim_int(d, apart));
  kernel_line(f->k, "spectrum = result + (element + row)%s * %s", kernel_wide(f->k),
              operand(f, s->to.element));
  fourier_store_waves(f, &far, y, radix);
}

static void end_in_order(Sweep *s, Wave *y, int64_t radix, int64_t apart) {
  Fourier *f = s->f;
  kernel_line(f->k, "to = ordered + (element + k * %d)", (int)f->f.lanes);
  for (int64_t k = 0; k < radix; k++)
    for (int part = 0; part < 2; part++)
      kernel_line(f->k, "tl.store(%s, %s%s)",
                  fourier_at(f, "to", k * apart + part * fourier_ordered(f)),
                  codelet_text(&f->c, part ? y[k].im : y[k].re), f->mask);
}

/* ---- the spectrum of real elements ---- */

/* Elements k of the spectrum from those of complex ones, less a factor of 2. */
static Wave unfolded(Fourier *f) {
  int64_t plane = fourier_ordered(f);
  Signal xr = fourier_load(f, "at"), xi = fourier_load(f, fourier_at(f, "at", plane));
  Signal yr = fourier_load(f, "back"), yi = fourier_load(f, fourier_at(f, "back", plane));
  Signal w = fourier_load(f, "factor"), v = fourier_load(f, fourier_at(f, "factor", whole(f)));
  Signal re = summed(f, xr.name, '+', yr.name), im = summed(f, xi.name, '-', yi.name);
  Signal dr = summed(f, xr.name, '-', yr.name), di = summed(f, xi.name, '+', yi.name);
  re = codelet_signal(&f->c, "tl.fma(%s, %s, %s)", w.name, di.name, re.name);
  im = codelet_signal(&f->c, "tl.fma(-%s, %s, %s)", w.name, dr.name, im.name);
  return WAVE(codelet_signal(&f->c, "tl.fma(%s, %s, %s)", v.name, dr.name, re.name),
              codelet_signal(&f->c, "tl.fma(%s, %s, %s)", v.name, di.name, im.name));
}

/* Element n of both planes is element 0, for the mirror of k = 0. */
static void close_circle(Fourier *f) {
  long long order = 2 * (long long)f->f.plane, plane = (long long)fourier_ordered(f);
  for (int part = 0; part < 2; part++)
    kernel_line(f->k, "tl.store(room + %lld, tl.load(room + %lld))",
                order + part * plane + (long long)whole(f), order + part * plane);
}

/* Element n, which is real. */
static void last_of_spectrum(Fourier *f, const Strides *s) {
  Signal re = fourier_load(f, "ordered"),
         im = fourier_load(f, fourier_at(f, "ordered", fourier_ordered(f)));
  Wave x = {.re = summed(f, re.name, '-', im.name)};
  kernel_line(f->k, "inside = lanes < 1");
  kernel_line(f->k, "spectrum = result + (lanes + %lld)%s * %s", (long long)whole(f),
              kernel_wide(f->k), operand(f, s->element));
  f->mask = ", mask=inside";
  fourier_store_waves(f, s, &x, 1);
}

static void unfold(Fourier *f, const Strides *s) {
  long long lanes = (long long)f->f.lanes, order = 2 * (long long)f->f.plane;
  double scale = f->scale;
  close_circle(f);
  fourier_open_loop(f, "k", whole(f) / f->f.lanes);
  kernel_line(f->k, "at = ordered + k * %lld", lanes);
  kernel_line(f->k, "back = room + (%lld - k * %lld - lanes)", order + (long long)whole(f), lanes);
  kernel_line(f->k, "factor = turns + (k * %lld + %lld)", lanes, (long long)table_of_halves(f));
  kernel_line(f->k, "spectrum = result + (k * %lld + lanes)%s * %s", lanes, kernel_wide(f->k),
              operand(f, s->element));
  Wave x = unfolded(f);
  f->mask = "";
  f->scale = scale / 2;
  fourier_store_waves(f, s, &x, 1);
  fourier_close_loop(f);
  f->scale = scale;
  last_of_spectrum(f, s);
}

/* Two real elements of the result are one complex one. */
static Strides strides_along(Fourier *f, const Strides *s) {
  Dims *d = f->k->graph->dims;
  Strides own = *s;
  if (!fourier_gives_real(f)) return own;
  f->pairs = true;
  own.part = dim_int(d, 1);
  own.element = dim_int(d, 2);
  return own;
}

void fourier_rows_along(Fourier *f, const Strides *s) {
  Arg window = fourier_argument(f, "window");
  fourier_open_rows(f, s);
  Sweep sweep = {.f = f,
                 .stride = (fourier_takes_real(f) ? 2 : 1) * f->re.at[2]->value,
                 .operands = whole(f),
                 .to = strides_along(f, s),
                 .start = start_operands,
                 .make = make_operand,
                 .end = fourier_takes_real(f) ? end_in_order : end_in_memory};
  if (window.kind == ARG_NODE) sweep.weights = kernel_buffer(f->k, window.node);
  fourier_sweep(&sweep);
  if (fourier_takes_real(f)) unfold(f, &sweep.to);
}
