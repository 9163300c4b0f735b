/* Vectors along a row: the first radices take neighbouring columns, the last one neighbouring rows
 * of the scratch, whose columns are loaded as rows and transposed. */
#include "planner/kernels/fourier/fourier_sweep.h"

const char *fourier_at(Fourier *f, const char *base, int64_t elements) {
  return arena_printf(f->a, "%s + %lld", base, (long long)elements);
}

int64_t fourier_ordered(const Fourier *f) { return (f->f.scratch - 2 * f->f.plane) / 2; }

const char *fourier_near(const Fourier *f) {
  return f->f.along == 1 ? "lanes" : arena_printf(f->a, "lanes %% %d", (int)f->f.near);
}

/* The elements from a signal's lane to that of the next signal, added to `text`. */
static const char *with_signals(Fourier *f, const char *text, const char *elements) {
  if (f->f.along == 1) return text;
  return arena_printf(f->a, "%s + lanes // %d%s * %s", text, (int)f->f.near, kernel_wide(f->k),
                      elements);
}

static Wave in_planes(Fourier *f, const char *base, int64_t elements, int64_t plane) {
  return (Wave){.re.address = fourier_at(f, base, elements),
                .im.address = fourier_at(f, base, elements + plane)};
}

static void put(Fourier *f, const char *base, int64_t elements, int64_t plane, Wave x) {
  kernel_line(f->k, "tl.store(%s, %s)", fourier_at(f, base, elements), codelet_text(&f->c, x.re));
  kernel_line(f->k, "tl.store(%s, %s)", fourier_at(f, base, elements + plane),
              codelet_text(&f->c, x.im));
}

Signal fourier_load(Fourier *f, const char *address) {
  return codelet_signal(&f->c, "tl.load(%s)", address);
}

void fourier_point_after(Sweep *s) {
  Fourier *f = s->f;
  const Places *parts[] = {&f->re, &f->im};
  for (int i = 0; i < (fourier_takes_real(f) || f->im.after ? 1 : 2); i++)
    kernel_line(f->k, "from_%d = %s + after%s * %lld", i, parts[i]->base, kernel_wide(f->k),
                (long long)s->stride);
}

/* ---- radices ---- */

/* Stores x, turned by the factors of its column, `step` elements after each other. */
static void put_turned(const Sweep *s, Wave *x, int64_t radix, int64_t apart, int64_t step) {
  Fourier *f = s->f;
  for (int64_t k = 0; k < radix; k++) {
    if (k) {
      int64_t table = step * f->f.along;
      Signal cosine = fourier_load(f, fourier_at(f, "turn", 2 * (k - 1) * table));
      Signal sine = fourier_load(f, fourier_at(f, "turn", (2 * k - 1) * table));
      if (s->conjugated) sine.name = arena_printf(f->a, "(-%s)", sine.name);
      x[k] = codelet_turned(&f->c, x[k], cosine.name, sine.name);
    }
    put(f, "at", k * apart, f->f.plane, x[k]);
  }
}

static Wave make_of_sweep(void *sweep, int64_t t) {
  Sweep *s = sweep;
  return s->make(s, t);
}

static void first_radix(Sweep *s) {
  Fourier *f = s->f;
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX] = {0};
  int64_t radix = f->f.radix[0];
  int lanes = (int)f->f.lanes;
  f->c.make = make_of_sweep;
  f->c.maker = s;
  fourier_open_loop(f, "column", f->f.columns / f->f.near);
  kernel_line(f->k, "after = column * %d + %s", (int)f->f.near, fourier_near(f));
  s->start(s);
  kernel_line(f->k, "at = base + column * %d", lanes);
  kernel_line(f->k, "turn = turns + column * %d", lanes);
  for (int64_t t = 0; t < radix; t++)
    x[t] = (Wave){.later = t * f->f.columns < s->operands ? t + 1 : 0};
  codelet_transform(&f->c, x, 1, radix, y);
  put_turned(s, y, radix, f->f.row, f->f.columns);
  fourier_close_loop(f);
}

static void middle_radix(const Sweep *s, uint32_t i, int64_t table) {
  Fourier *f = s->f;
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX] = {0};
  int64_t step = fourier_step(&f->f, i), radix = f->f.radix[i];
  int64_t groups = f->f.columns / (step * radix);
  fourier_open_loop(f, "k", f->f.radix[0]);
  fourier_open_loop(f, "group", groups);
  fourier_open_loop(f, "column", step / f->f.near);
  kernel_line(f->k, "at = base + (k * %lld + group * %lld + column * %d)", (long long)f->f.row,
              (long long)(step * radix * f->f.along), (int)f->f.lanes);
  kernel_line(f->k, "turn = turns + (column * %d + %lld)", (int)f->f.lanes, (long long)table);
  for (int64_t t = 0; t < radix; t++)
    x[t] = in_planes(f, "at", t * step * f->f.along, f->f.plane);
  codelet_transform(&f->c, x, 1, radix, y);
  put_turned(s, y, radix, step * f->f.along, step);
  for (int loops = 0; loops < 3; loops++) fourier_close_loop(f);
}

int fourier_open_middles(Fourier *f) {
  int loops = 0;
  int64_t below = f->f.radix[0];
  Text column = text_new(f->a), element = text_new(f->a);
  for (uint32_t i = 1; i + 1 < f->f.n; i++, loops++) {
    const char *name = arena_printf(f->a, "j%u", i);
    fourier_open_loop(f, name, f->f.radix[i]);
    text_printf(&column, "%s%s * %lld", loops ? " + " : "", name,
                (long long)fourier_step(&f->f, i));
    text_printf(&element, "%s%s * %lld", loops ? " + " : "", name, (long long)below);
    below *= f->f.radix[i];
  }
  kernel_line(f->k, "column = %s", loops ? column.data : "0");
  kernel_line(f->k, "element = %s", loops ? element.data : "0");
  return loops;
}

/* Elements of a row of the scratch from its first column to another one. */
static int64_t column_at(const Fourier *f, int64_t t) {
  return t / f->f.near * f->f.near * f->f.along + t % f->f.near;
}

/* Rows may be fewer than lanes. */
static Signal load_row(Fourier *f, int64_t by) {
  return codelet_signal(&f->c, "tl.load(%s%s%s)", fourier_at(f, "from_0", by), f->mask,
                        *f->mask ? ", other=0.0" : "");
}

static void last_radix(Sweep *s) {
  Fourier *f = s->f;
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX] = {0};
  int64_t near = f->f.near, radix = f->f.radix[f->f.n - 1], rows = f->f.radix[0];
  int loops = fourier_open_middles(f);
  fourier_open_loop(f, "k", (rows + near - 1) / near);
  kernel_line(f->k, "from_0 = rows + (k * %lld + column%s)", (long long)(near * f->f.row),
              f->f.along > 1 ? arena_printf(f->a, " * %d", (int)f->f.along) : "");
  kernel_line(f->k, "row = k * %lld + %s", (long long)near, fourier_near(f));
  f->mask = rows % near ? ", mask=inside" : "";
  if (*f->mask) kernel_line(f->k, "inside = row < %lld", (long long)rows);
  for (int64_t t = 0; t < radix; t++) x[t].re = load_row(f, column_at(f, t));
  for (int64_t t = 0; t < radix; t++)
    x[t] = WAVE(x[t].re, load_row(f, column_at(f, t) + f->f.plane));
  codelet_transform(&f->c, x, 1, radix, y);
  s->end(s, y, radix, f->f.points / radix);
  f->mask = "";
  for (loops++; loops; loops--) fourier_close_loop(f);
}

void fourier_sweep(Sweep *s) {
  Fourier *f = s->f;
  first_radix(s);
  int64_t table = 2 * fourier_factors(&f->f, 0) * f->f.columns * f->f.along;
  for (uint32_t i = 1; i + 1 < f->f.n; i++) {
    middle_radix(s, i, table);
    table += 2 * fourier_factors(&f->f, i) * fourier_step(&f->f, i) * f->f.along;
  }
  last_radix(s);
}

/* ---- rows ---- */

/* Do rows of one batch and the next follow each other as others do? */
static bool are_even(Fourier *f, Dim batch, Dim lane, Dim blocks) {
  return dim_is(f->batch, 1) || batch == dim_mul(f->k->graph->dims, lane, blocks);
}

static void point_at_row(Fourier *f, const char *name, Node *memory, Dim start, Dim batch,
                         Dim lane) {
  Dims *d = f->k->graph->dims;
  const char *wide = kernel_wide(f->k), *next = kernel_operand(f->k, lane);
  Dim blocks = dim_floordiv(d, f->lanes, dim_int(d, f->f.along));
  kernel_line(f->k, "%s = %s + %s", name, kernel_buffer(f->k, memory),
              kernel_operand(f->k, start));
  lane = dim_mul(d, lane, dim_int(d, f->f.along));
  if (are_even(f, batch, lane, blocks))
    kernel_line(f->k, "%s = %s + block%s * %s", name, name, wide, kernel_operand(f->k, lane));
  else
    kernel_line(f->k, "%s = %s + (block // %s)%s * %s + (block %% %s)%s * %s", name, name,
                kernel_operand(f->k, blocks), wide, kernel_operand(f->k, batch),
                kernel_operand(f->k, blocks), wide, kernel_operand(f->k, lane));
  if (f->f.along > 1) kernel_line(f->k, "%s = %s", name, with_signals(f, name, next));
}

static void find_row(Fourier *f, Places *p, const char *name, const char *arg) {
  p->base = name;
  point_at_row(f, name, fourier_argument(f, arg).node, p->at[0], p->at[1], p->at[3]);
}

static void name_scratch(Fourier *f) {
  kernel_line(f->k, "room = %s + tl.extra.cuda.smid() * %lld",
              kernel_buffer(f->k, fourier_argument(f, "scratch").node), (long long)f->f.scratch);
  kernel_line(f->k, "base = room + lanes");
  if (f->f.along == 1) kernel_line(f->k, "rows = room + lanes * %lld", (long long)f->f.row);
  else
    kernel_line(f->k, "rows = room + (lanes // %d * %d + lanes %% %d * %lld)", (int)f->f.near,
                (int)f->f.near, (int)f->f.near, (long long)f->f.row);
  if (fourier_ordered(f))
    kernel_line(f->k, "ordered = room + (lanes + %lld)", 2 * (long long)f->f.plane);
  kernel_line(f->k, "turns = %s + lanes", kernel_buffer(f->k, fourier_argument(f, "factors").node));
}

void fourier_open_rows(Fourier *f, const Strides *s) {
  Dims *d = f->k->graph->dims;
  f->mask = "";
  name_scratch(f);
  Dim blocks = dim_floordiv(d, f->lanes, dim_int(d, f->f.along));
  Dim rows = dim_mul(d, blocks, f->batch), programs = f->n->args[1].node->type.shape[0];
  Dim each = dim_floordiv(d, dim_add(d, rows, dim_sub(d, programs, dim_int(d, 1))), programs);
  kernel_line(f->k, "start = tl.program_id(0) * %s", kernel_operand(f->k, each));
  kernel_line(f->k, "for block in range(start, min(start + %s, %s)):", kernel_operand(f->k, each),
              kernel_operand(f->k, rows));
  f->k->indent += 4;
  find_row(f, &f->re, "real", "re");
  if (!fourier_takes_real(f) && !f->im.after) find_row(f, &f->im, "imaginary", "im");
  point_at_row(f, "result", f->n->args[0].node, dim_int(d, 0), s->batch, s->lane);
}
