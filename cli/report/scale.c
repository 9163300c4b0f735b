#include "cli/report/scale.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- positions ---- */

/* 1, 2 or 5 times a power of ten, not less than `least`. */
static double round_step(double least) {
  double power = pow(10, floor(log10(least)));
  double digit = least / power;
  /* A quotient that is a rounding error above 2 is 2. */
  return power * (digit <= 1 + 1e-9 ? 1 : digit <= 2 + 1e-9 ? 2 : digit <= 5 + 1e-9 ? 5 : 10);
}

static Scale linear_around(ScaleKind kind, double lo, double hi) {
  enum { STEPS = 6 };
  if (kind == SCALE_FROM_ZERO && lo > 0) lo = 0;
  if (hi - lo <= 1e-9 * fmax(fabs(lo), fabs(hi)) || hi - lo < 1e-100) {
    double half = fabs(lo) < 1e-9 ? 1 : fabs(lo) / 2;
    lo -= kind == SCALE_FROM_ZERO ? 0 : half;
    hi += half;
  }
  double step = round_step((hi - lo) / STEPS);
  return (Scale){kind, floor(lo / step + 1e-9) * step, ceil(hi / step - 1e-9) * step, 0, 0};
}

static bool is_linear(ScaleKind kind) { return kind == SCALE_LINEAR || kind == SCALE_FROM_ZERO; }

Scale scale_around(ScaleKind kind, double lo, double hi) {
  if (is_linear(kind)) return linear_around(kind, lo, hi);
  lo = fmin(fmax(lo, 1e-30), 1e30), hi = fmin(fmax(hi, 1e-30), 1e30);
  double room = kind == SCALE_BINARY ? 0.04 : 0.06;
  double share = hi > lo ? pow(hi / lo, room) : 1.2;
  return (Scale){kind, lo / share, hi * share, 0, 0};
}

double scale_position(const Scale *s, double v) {
  double share =
      is_linear(s->kind) ? (v - s->lo) / (s->hi - s->lo) : log(v / s->lo) / log(s->hi / s->lo);
  return s->from + share * (s->to - s->from);
}

/* ---- labels ---- */

static void label_with(char out[16], double v, double thousand, const char *const prefixes[]) {
  int i = 0;
  while (fabs(v) >= thousand && prefixes[i + 1]) {
    v /= thousand;
    i++;
  }
  snprintf(out, 16, "%.3g%s", v, prefixes[i]);
}

/* 950, 12k, 3.5M: digits of a value, with the prefix of its thousands. */
static void scale_label(char out[16], double v) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", NULL};
  if (fabs(v) < 1e4) snprintf(out, 16, "%.4g", v);
  else label_with(out, v, 1e3, prefixes);
}

/* Sizes of six digits and more are told in units of 1024, as their users call them. */
static void binary_label(char out[16], double v, bool large) {
  static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E", NULL};
  if (large) label_with(out, v, 1024, prefixes);
  else snprintf(out, 16, "%.7g", v);
}

/* ---- ticks ---- */

static bool scale_holds(const Scale *s, double v) {
  double slack = 1e-9 * (s->hi - s->lo);
  return v >= s->lo - slack && v <= s->hi + slack;
}

static int add_tick(Tick out[], int n, int most, const Scale *s, double v) {
  if (n >= most || !scale_holds(s, v)) return n;
  out[n].value = v;
  scale_label(out[n].label, v);
  return n + 1;
}

static int even_ticks(Tick out[], const Scale *s, int most) {
  double step = round_step((s->hi - s->lo) / (most - 1));
  int n = 0;
  /* 0 is added since a number below it may be rounded to -0. */
  for (double k = ceil(s->lo / step - 1e-9) + 0.0; n < most && scale_holds(s, k * step); k++)
    n = add_tick(out, n, most, s, k * step);
  return n;
}

/* Powers of ten, every one or every second, third, ... */
static int decade_ticks(Tick out[], const Scale *s, int most) {
  int first = (int)ceil(log10(s->lo) - 1e-9), last = (int)floor(log10(s->hi) + 1e-9), n = 0;
  int stride = (last - first + most) / most;
  for (int k = first; k <= last; k += stride) n = add_tick(out, n, most, s, pow(10, k));
  return n;
}

/* 1, 2, 5, 10, 20, ... */
static int digit_ticks(Tick out[], const Scale *s, int most) {
  static const double digits[] = {1, 2, 5};
  int n = 0;
  for (int k = (int)floor(log10(s->lo)); pow(10, k) <= s->hi; k++)
    for (int d = 0; d < 3; d++) n = add_tick(out, n, most, s, digits[d] * pow(10, k));
  return n;
}

static int log_ticks(Tick out[], const Scale *s, int most) {
  double decades = log10(s->hi / s->lo);
  if (decades < 1) return even_ticks(out, s, most);
  return 3 * decades < most ? digit_ticks(out, s, most) : decade_ticks(out, s, most);
}

static int binary_ticks(Tick out[], const Scale *s, int most) {
  int first = (int)ceil(log2(s->lo) - 1e-9), last = (int)floor(log2(s->hi) + 1e-9), n = 0;
  int stride = (last - first + most) / most;
  for (int k = first; k <= last && n < most; k += stride) {
    out[n].value = exp2(k);
    binary_label(out[n++].label, exp2(k), last > 16);
  }
  return n;
}

int scale_ticks(Tick out[TICKS_MOST], const Scale *s, int most) {
  if (most > TICKS_MOST) most = TICKS_MOST;
  switch (s->kind) {
    case SCALE_BINARY: return binary_ticks(out, s, most);
    case SCALE_LOG: return log_ticks(out, s, most);
    default: return even_ticks(out, s, most);
  }
}
