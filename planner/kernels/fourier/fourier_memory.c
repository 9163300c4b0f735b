/* Operands and results in memory of transforms whose lanes are signals (kernel_fourier.c). */
#include "planner/kernels/fourier/fourier_memory.h"

Strides fourier_strides(const Fourier *f) {
  Dims *d = f->k->graph->dims;
  Dim one = dim_int(d, f->pairs && !fourier_gives_real(f) ? 2 : 1),
      result = dim_int(d, f->f.result);
  Dim all = dim_mul(d, dim_mul(d, one, result), f->lanes);
  return (Strides){f->pairs ? dim_int(d, 1) : dim_mul(d, all, f->batch),
                   f->columns ? dim_mul(d, one, f->lanes) : one,
                   f->columns ? one : dim_mul(d, one, result), all};
}

bool fourier_has_near_lanes(const Fourier *f) {
  Dim re = f->re.at[3], im = f->im.at[3];
  return re == im && (dim_is(re, 1) || (f->im.after && dim_is(f->im.after, 1) && dim_is(re, 2)));
}

/* Where the element `t` after those of address `from` is, and how it is loaded. */
static const char *place_of(Fourier *f, const Places *p, const char *from, int64_t t, bool after) {
  Dims *d = f->k->graph->dims;
  Dim offset = dim_mul(d, p->at[2], dim_int(d, t));
  if (after) offset = dim_add(d, offset, f->im.after);
  bool rows = !*f->mask && dim_is(f->batch, 1) && !fourier_has_near_lanes(f);
  const char *once = rows ? ", eviction_policy=\"evict_first\"" : "";
  return arena_printf(f->a, "%s + %s%s%s%s", from, kernel_operand(f->k, offset), f->mask,
                      *f->mask ? ", other=0.0" : "", once);
}

Wave fourier_in_memory(Fourier *f, const char *const from[2], int64_t t) {
  Wave x = {.re.address = place_of(f, &f->re, from[0], t, false)};
  if (f->im.after) x.im.address = place_of(f, &f->re, from[0], t, true);
  else if (!fourier_takes_real(f)) x.im.address = place_of(f, &f->im, from[1], t, false);
  return x;
}

void fourier_load_waves(Fourier *f, const char *const from[2], int64_t count, Wave *x) {
  bool pairs = f->im.after && dim_is(f->im.after, 1);
  for (int64_t t = 0; t < count; t++) {
    x[t] = fourier_in_memory(f, from, t);
    codelet_fetch(&f->c, &x[t].re);
    if (pairs) codelet_fetch(&f->c, &x[t].im);
  }
  for (int64_t t = 0; t < count; t++) codelet_fetch(&f->c, &x[t].im);
}

void fourier_point_at(Fourier *f, const char *const names[2], const char *index) {
  const Places *parts[] = {&f->re, &f->im};
  for (int i = 0; i < (fourier_takes_real(f) || f->im.after ? 1 : 2); i++)
    kernel_line(f->k, "%s = %s + (%s)%s * %s", names[i], parts[i]->base, index, kernel_wide(f->k),
                kernel_operand(f->k, parts[i]->at[2]));
}

/* ---- the last radix and memory ---- */

/* Elements of the spectrum from one of a column's to the next. */
static int64_t apart(const Fourier *f) { return f->f.points / f->f.radix[f->f.n - 1]; }

/* Where element `k` + `element` + t apart() of a spectrum is, of which with `half` the first half
 * is in memory: as such, as the conjugate of its mirror, or as either. */
typedef enum { SIDE_UP, SIDE_DOWN, SIDE_EITHER } Side;

static Side side_of(const Fourier *f, int64_t t) {
  int64_t first = t * apart(f), last = first + apart(f) - f->f.radix[0] + f->f.kept - 1;
  if (!f->f.half || 2 * last <= f->f.size) return SIDE_UP;
  return 2 * first >= f->f.size ? SIDE_DOWN : SIDE_EITHER;
}

/* Names the number of the element in memory, of an element that may be at either side, and the sign
 * of its imaginary part. */
static const char *name_either(Fourier *f, int64_t t, const char **sign) {
  long long size = (long long)f->f.size;
  const char *at = codelet_signal(&f->c, "k + element + %lld", (long long)(t * apart(f))).name;
  const char *up = codelet_signal(&f->c, "%s <= %lld", at, size / 2).name;
  *sign = codelet_signal(&f->c, "tl.where(%s, 1.0, -1.0).to(tl.%s)", up,
                         dtype_lang_name(f->c.dtype))
              .name;
  return codelet_signal(&f->c, "tl.where(%s, %s, %lld - %s)", up, at, size, at).name;
}

void fourier_take_spectrum(Fourier *f, Wave *x) {
  const char *const up[] = {"from_0", "from_1"}, *const down[] = {"back_0", "back_1"};
  int64_t radix = f->f.radix[f->f.n - 1], many = f->f.size - (radix - 1) * apart(f);
  fourier_point_at(f, up, "k + element");
  fourier_point_at(f, down, arena_printf(f->a, "%lld - k - element", (long long)many));
  for (int64_t t = 0; t < radix; t++) {
    Side side = side_of(f, t);
    const char *const *from = side == SIDE_UP ? up : down, *sign;
    if (side != SIDE_EITHER) {
      x[t] = fourier_in_memory(f, from, (side == SIDE_UP ? t : radix - 1 - t) * apart(f));
      x[t].im.negative = side == SIDE_DOWN;
      continue;
    }
    const char *const either[] = {"either_0", "either_1"};
    fourier_point_at(f, either, name_either(f, t, &sign));
    x[t] = fourier_in_memory(f, either, 0);
    codelet_fetch(&f->c, &x[t].re);
    codelet_fetch(&f->c, &x[t].im);
    x[t].im = codelet_signal(&f->c, "%s * %s", x[t].im.name, sign);
  }
}

static Signal negated(Signal x) {
  if (x.name) x.negative = !x.negative;
  return x;
}

static void give_from(Fourier *f, const Strides *s, const char *element, Wave *y, int64_t count) {
  kernel_line(f->k, "spectrum = result + (%s)%s * %s", element, kernel_wide(f->k),
              kernel_operand(f->k, s->element));
  Strides far = *s;
  far.element = dim_mul(f->k->graph->dims, s->element, dim_int(f->k->graph->dims, apart(f)));
  fourier_store_waves(f, &far, y, count);
}

void fourier_give_spectrum(Fourier *f, Wave *y) {
  Strides s = fourier_strides(f);
  Wave down[FOURIER_RADIX_MAX];
  const char *sign;
  int64_t radix = f->f.radix[f->f.n - 1], ups = 0, downs = 0;
  while (ups < radix && side_of(f, ups) == SIDE_UP) ups++;
  for (int64_t t = radix; t-- > 0 && side_of(f, t) == SIDE_DOWN;) {
    down[downs] = y[t];
    down[downs++].im = negated(y[t].im);
  }
  give_from(f, &s, "k + element", y, ups);
  for (int64_t t = ups; t < radix - downs; t++) {
    const char *at = name_either(f, t, &sign);
    y[t].im = codelet_signal(&f->c, "%s * %s", codelet_text(&f->c, y[t].im), sign);
    give_from(f, &s, at, &y[t], 1);
  }
  long long least = (long long)(f->f.size - (radix - 1) * apart(f));
  if (downs)
    give_from(f, &s, arena_printf(f->a, "%lld - k - element", least), down, downs);
}
