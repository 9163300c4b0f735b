#include "planner/kernels/fourier/fourier_codelet.h"

#include <math.h>
#include <stdarg.h>

#include "graph/ops/fourier_form.h"

/* ---- tiles ---- */

static Signal signal_of(Codelet *c, const char *expression) {
  const char *name = arena_printf(c->k->arena, "v%u", c->taken++);
  kernel_line(c->k, "%s = %s", name, expression);
  return (Signal){name, false, NULL};
}

Signal codelet_signal(Codelet *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *expression = arena_vprintf(c->k->arena, fmt, ap);
  va_end(ap);
  return signal_of(c, expression);
}

void codelet_fetch(Codelet *c, Signal *x) {
  bool negative = x->negative;
  if (!x->address) return;
  *x = codelet_signal(c, "tl.load(%s)", x->address);
  x->negative = negative;
}

static void fetch(Codelet *c, Wave *x) {
  if (x->later) *x = c->make(c->maker, x->later - 1);
  codelet_fetch(c, &x->re);
  codelet_fetch(c, &x->im);
}

const char *codelet_text(Codelet *c, Signal x) {
  if (!x.name) return "zero";
  return x.negative ? arena_printf(c->k->arena, "-%s", x.name) : x.name;
}

static const char *number(Codelet *c, double v) {
  Arg a = {.kind = ARG_FLOAT, .number = v};
  const char *text = kernel_literal(c->k, &a, c->dtype);
  return c->dtype == DT_F64 ? arena_printf(c->k->arena, "tl.full([1], %s, tl.float64)", text)
                            : text;
}

static Signal negative(Signal x) { return (Signal){x.name, x.name && !x.negative, NULL}; }

static Signal sum(Codelet *c, Signal x, Signal y) {
  if (!x.name) return y;
  if (!y.name) return x;
  if (x.negative == y.negative) {
    Signal s = codelet_signal(c, "%s + %s", x.name, y.name);
    return x.negative ? negative(s) : s;
  }
  return x.negative ? codelet_signal(c, "%s - %s", y.name, x.name)
                    : codelet_signal(c, "%s - %s", x.name, y.name);
}

static Signal difference(Codelet *c, Signal x, Signal y) { return sum(c, x, negative(y)); }

static Signal times(Codelet *c, Signal x, double by) {
  if (!x.name || by == 0) return (Signal){0};
  if (by == 1) return x;
  if (by == -1) return negative(x);
  Signal y = codelet_signal(c, "%s * %s", x.name, number(c, by));
  y.negative = x.negative;
  return y;
}

/* x by + y */
static Signal times_plus(Codelet *c, Signal x, double by, Signal y) {
  if (!x.name || by == 0) return y;
  if (!y.name) return times(c, x, by);
  if (by == 1) return sum(c, x, y);
  if (by == -1) return difference(c, y, x);
  Signal s = codelet_signal(c, "tl.fma(%s, %s, %s)", x.name,
                            number(c, x.negative == y.negative ? by : -by), y.name);
  s.negative = y.negative;
  return s;
}

/* ---- pairs of them ---- */

static Wave wave_sum(Codelet *c, Wave x, Wave y) {
  return WAVE(sum(c, x.re, y.re), sum(c, x.im, y.im));
}

static Wave wave_difference(Codelet *c, Wave x, Wave y) {
  return WAVE(difference(c, x.re, y.re), difference(c, x.im, y.im));
}

static Wave conjugate(Wave x) { return WAVE(x.re, negative(x.im)); }

/* i x, or -i x. */
static Wave quarter_turn(Wave x, bool back) {
  return back ? WAVE(x.im, negative(x.re)) : WAVE(negative(x.im), x.re);
}

/* exp(+-2 pi i t / n), exact where a part is 0, 1/2 or 1. */
typedef struct {
  double cosine, sine;
} Turn;

static double clean(double v) {
  double twice = round(2 * v);
  return fabs(2 * v - twice) < 1e-14 ? twice / 2 : v;
}

static Turn turn_of(const Codelet *c, int64_t t, int64_t n) {
  double angle = 2 * M_PI * (double)(t % n) / (double)n;
  return (Turn){clean(cos(angle)), clean(c->inverse ? sin(angle) : -sin(angle))};
}

static Wave turned_by(Codelet *c, Wave x, int64_t t, int64_t n) {
  Turn w = turn_of(c, t, n);
  if (w.sine == 0) return WAVE(times(c, x.re, w.cosine), times(c, x.im, w.cosine));
  if (w.cosine == 0) return WAVE(times(c, negative(x.im), w.sine), times(c, x.re, w.sine));
  if (8 * t % n == 0) { /* both parts have one size */
    double sign = w.sine / w.cosine < 0 ? -1 : 1;
    return WAVE(times(c, times_plus(c, x.im, -sign, x.re), w.cosine),
                times(c, times_plus(c, x.re, sign, x.im), w.cosine));
  }
  return WAVE(times_plus(c, x.im, -w.sine, times(c, x.re, w.cosine)),
              times_plus(c, x.re, w.sine, times(c, x.im, w.cosine)));
}

Wave codelet_turned(Codelet *c, Wave x, const char *cosine, const char *sine) {
  if (!x.im.name)
    return WAVE(codelet_signal(c, "%s * %s", codelet_text(c, x.re), cosine),
                codelet_signal(c, "%s * %s", codelet_text(c, x.re), sine));
  const char *re = codelet_text(c, x.re), *im = codelet_text(c, x.im);
  return WAVE(codelet_signal(c, "tl.fma(%s, %s, %s * %s)", codelet_text(c, negative(x.im)), sine,
                             re, cosine),
              codelet_signal(c, "tl.fma(%s, %s, %s * %s)", re, sine, im, cosine));
}

/* ---- transforms ---- */

static void transform_2(Codelet *c, Wave *x, int64_t step, Wave *out) {
  fetch(c, &x[0]);
  fetch(c, &x[step]);
  out[0] = wave_sum(c, x[0], x[step]);
  out[1] = wave_difference(c, x[0], x[step]);
}

static void transform_4(Codelet *c, Wave *x, int64_t step, Wave *out) {
  for (int64_t t = 0; t < 4; t++) fetch(c, &x[t * step]);
  Wave s = wave_sum(c, x[0], x[2 * step]), d = wave_difference(c, x[0], x[2 * step]);
  Wave u = wave_sum(c, x[step], x[3 * step]);
  Wave v = quarter_turn(wave_difference(c, x[step], x[3 * step]), !c->inverse);
  out[0] = wave_sum(c, s, u);
  out[1] = wave_sum(c, d, v);
  out[2] = wave_difference(c, s, u);
  out[3] = d.im.name || v.re.name ? wave_difference(c, d, v) : conjugate(out[1]);
}

/* Elements t and p - t are added and subtracted: cosines multiply the one, sines the other. */
static void transform_prime(Codelet *c, Wave *x, int64_t step, int64_t p, Wave *out) {
  Wave even[FOURIER_RADIX_MAX / 2], odd[FOURIER_RADIX_MAX / 2];
  int64_t half = (p - 1) / 2;
  fetch(c, &x[0]);
  out[0] = x[0];
  for (int64_t t = 1; t <= half; t++) {
    fetch(c, &x[t * step]);
    fetch(c, &x[(p - t) * step]);
    even[t - 1] = wave_sum(c, x[t * step], x[(p - t) * step]);
    odd[t - 1] = wave_difference(c, x[t * step], x[(p - t) * step]);
    out[0] = wave_sum(c, out[0], even[t - 1]);
  }
  for (int64_t k = 1; k <= half; k++) {
    Wave a = x[0], b = {0};
    for (int64_t t = 1; t <= half; t++) {
      Turn w = turn_of(c, t * k, p);
      a = WAVE(times_plus(c, even[t - 1].re, w.cosine, a.re),
               times_plus(c, even[t - 1].im, w.cosine, a.im));
      b = WAVE(times_plus(c, odd[t - 1].re, w.sine, b.re),
               times_plus(c, odd[t - 1].im, w.sine, b.im));
    }
    b = quarter_turn(b, false);
    out[k] = wave_sum(c, a, b);
    out[p - k] = a.im.name || b.re.name ? wave_difference(c, a, b) : conjugate(out[k]);
  }
}

static bool is_real(Wave *x, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (x[i * step].later || x[i * step].im.name || x[i * step].im.address) return false;
  return true;
}

/* The radix that is taken first of n: n itself if it has no other. */
static int64_t first_radix(int64_t n) {
  if (n % 4 == 0 && n != 8) return 4;
  for (int64_t i = 2; i * i <= n; i++)
    if (n % i == 0) return i;
  return n;
}

/* Two radices; the k1 above a / 2 of real elements are those of conjugates. */
static void transform_product(Codelet *c, Wave *x, int64_t step, int64_t a, int64_t b, Wave *out) {
  Wave first[FOURIER_RADIX_MAX], row[FOURIER_RADIX_MAX], second[FOURIER_RADIX_MAX];
  bool real = is_real(x, step, a * b);
  for (int64_t t = 0; t < b; t++) codelet_transform(c, x + t * step, b * step, a, first + t * a);
  for (int64_t k1 = 0; k1 < (real ? a / 2 + 1 : a); k1++) {
    for (int64_t t = 0; t < b; t++) row[t] = turned_by(c, first[t * a + k1], t * k1, a * b);
    codelet_transform(c, row, 1, b, second);
    for (int64_t k2 = 0; k2 < b; k2++) {
      int64_t k = k1 + a * k2;
      out[k] = second[k2];
      if (real && k1 && 2 * k1 != a) out[a * b - k] = conjugate(second[k2]);
    }
  }
}

void codelet_transform(Codelet *c, Wave *x, int64_t step, int64_t n, Wave *out) {
  int64_t radix = first_radix(n);
  if (n == 1) out[0] = x[0];
  else if (n == 2) transform_2(c, x, step, out);
  else if (n == 4) transform_4(c, x, step, out);
  else if (radix == n) transform_prime(c, x, step, n, out);
  else transform_product(c, x, step, radix, n / radix, out);
}

/* ---- to real elements ---- */

static Signal doubled(Codelet *c, Signal x) { return times(c, x, 2); }

static void real_2(Codelet *c, Wave *x, Signal *out) {
  for (int k = 0; k < 2; k++) codelet_fetch(c, &x[k].re);
  out[0] = sum(c, x[0].re, x[1].re);
  out[1] = difference(c, x[0].re, x[1].re);
}

static void real_4(Codelet *c, Wave *x, Signal *out) {
  codelet_fetch(c, &x[0].re);
  fetch(c, &x[1]);
  codelet_fetch(c, &x[2].re);
  Signal s = sum(c, x[0].re, x[2].re), d = difference(c, x[0].re, x[2].re);
  Signal re = doubled(c, x[1].re), im = doubled(c, c->inverse ? x[1].im : negative(x[1].im));
  out[0] = sum(c, s, re);
  out[1] = difference(c, d, im);
  out[2] = difference(c, s, re);
  out[3] = sum(c, d, im);
}

static void real_prime(Codelet *c, Wave *x, int64_t p, Signal *out) {
  int64_t half = (p - 1) / 2;
  codelet_fetch(c, &x[0].re);
  out[0] = x[0].re;
  for (int64_t k = 1; k <= half; k++) {
    fetch(c, &x[k]);
    out[0] = times_plus(c, x[k].re, 2, out[0]);
  }
  for (int64_t t = 1; t <= half; t++) {
    Signal a = x[0].re, b = {0};
    for (int64_t k = 1; k <= half; k++) {
      Turn w = turn_of(c, t * k, p);
      a = times_plus(c, x[k].re, 2 * w.cosine, a);
      b = times_plus(c, x[k].im, 2 * w.sine, b);
    }
    out[t] = difference(c, a, b);
    out[p - t] = sum(c, a, b);
  }
}

/* Element k of the whole spectrum of n elements. */
static Wave element_of(Codelet *c, Wave *x, int64_t k, int64_t n) {
  Wave *y = &x[2 * k <= n ? k : n - k];
  fetch(c, y);
  return 2 * k <= n ? *y : conjugate(*y);
}

/* It is transform_product in the other direction: along k2, factors, then along the k1 up to a / 2,
 * which are the spectrum of real elements. */
static void real_product(Codelet *c, Wave *x, int64_t a, int64_t b, Signal *out) {
  Wave row[FOURIER_RADIX_MAX], second[FOURIER_RADIX_MAX / 2 + 1][FOURIER_RADIX_MAX];
  for (int64_t k1 = 0; k1 <= a / 2; k1++) {
    for (int64_t k2 = 0; k2 < (k1 ? b : b / 2 + 1); k2++)
      row[k2] = element_of(c, x, k1 + a * k2, a * b);
    if (k1) {
      codelet_transform(c, row, 1, b, second[k1]);
    } else {
      Signal real[FOURIER_RADIX_MAX];
      codelet_real(c, row, b, real);
      for (int64_t t = 0; t < b; t++) second[0][t] = WAVE(real[t], (Signal){0});
    }
    for (int64_t t = 0; t < b; t++) second[k1][t] = turned_by(c, second[k1][t], t * k1, a * b);
  }
  for (int64_t t = 0; t < b; t++) {
    Signal real[FOURIER_RADIX_MAX];
    for (int64_t k1 = 0; k1 <= a / 2; k1++) row[k1] = second[k1][t];
    codelet_real(c, row, a, real);
    for (int64_t t1 = 0; t1 < a; t1++) out[b * t1 + t] = real[t1];
  }
}

void codelet_real(Codelet *c, Wave *x, int64_t n, Signal *out) {
  int64_t radix = first_radix(n);
  if (n == 1) codelet_fetch(c, &x[0].re), out[0] = x[0].re;
  else if (n == 2) real_2(c, x, out);
  else if (n == 4) real_4(c, x, out);
  else if (radix == n) real_prime(c, x, n, out);
  else real_product(c, x, radix, n / radix, out);
}
