/* Kernels of nereid.fourier (graph/ops/fourier_form.h): a program does block after block of
 * neighbours, whose transforms are lanes of vectors.  It copies its operands into its
 * scratch, so that transforms along memory are transposed once, replaces them there radix by radix,
 * and copies the spectrum out.  Where lanes are neighbours in memory the first radix takes operands
 * from there, and the last one gives results to it. */
#include "graph/ops/fourier_form.h"
#include "planner/kernels/fourier/fourier_memory.h"
#include "planner/kernels/fourier/fourier_sweep.h"

enum { CHUNK = 16 }; /* vectors that are copied at a time */

static void read_places(Fourier *f, const char *name, Places *out) {
  Arg list = fourier_argument(f, name);
  for (uint32_t i = 0; i < 4; i++) out->at[i] = list.items[i].dim;
}

static const char *index_of(Fourier *f, Dim x) { return kernel_operand(f->k, x); }

/* ---- in ---- */

static const char *address(Fourier *f, const char *base, int64_t vectors) {
  return arena_printf(f->a, "%s + %lld", base, (long long)(vectors * f->f.lanes));
}

static Signal in_scratch(Fourier *f, const char *base, int64_t vectors) {
  return (Signal){NULL, false, address(f, base, vectors)};
}

static void put_at(Fourier *f, const char *base, int64_t vectors, Signal x) {
  kernel_line(f->k, "tl.store(%s, %s)", address(f, base, vectors), codelet_text(&f->c, x));
}

/* Vectors of the scratch between rows of elements: each has two rows if it has two parts. */
static int64_t rows_apart(const Fourier *f) { return f->f.half ? f->f.row : 2 * f->f.row; }

/* The scratch's address of element `at`, where rows that are columns long follow each other in
 * memory. */
static const char *slot_of(Fourier *f, const char *at) {
  long long more = (long long)(rows_apart(f) - f->f.columns);
  int lanes = (int)f->f.lanes;
  const char *slot = more ? arena_printf(f->a, "base + (%s + %s // %lld * %lld) * %d", at, at,
                                         (long long)f->f.columns, more, lanes)
                          : arena_printf(f->a, "base + %s * %d", at, lanes);
  return codelet_signal(&f->c, "%s", slot).name;
}

/* Does one of these numbers divide the other? */
static bool divides(int64_t x, int64_t y) { return x % y == 0 || y % x == 0; }

/* The slots of `count` elements from `first` on, a multiple of CHUNK.  Where chunks are parts of
 * rows, or some rows, the slots are constants apart. */
static void name_slots(Fourier *f, const char *first, int64_t count, const char **slots) {
  int64_t columns = f->f.columns, more = rows_apart(f) - columns;
  bool apart = divides(columns, CHUNK);
  const char *room = apart ? slot_of(f, first) : NULL;
  for (int64_t i = 0; i < count; i++)
    slots[i] = apart ? address(f, room, i + i / columns * more)
                     : slot_of(f, codelet_signal(&f->c, "%s + %lld", first, (long long)i).name);
}

/* Products of elements from `first` on with their window. */
static void put_windows(Fourier *f, const char *first, int64_t count, Wave *x) {
  Arg window = fourier_argument(f, "window");
  if (window.kind != ARG_NODE) return;
  const char *weights = kernel_buffer(f->k, window.node);
  for (int64_t i = 0; i < count; i++) {
    const char *w =
        codelet_signal(&f->c, "tl.load(%s + %s + %lld)", weights, first, (long long)i).name;
    x[i].re = codelet_signal(&f->c, "%s * %s", x[i].re.name, w);
    if (x[i].im.name) x[i].im = codelet_signal(&f->c, "%s * %s", x[i].im.name, w);
  }
}

/* Elements from `first` on, into the scratch. */
static void copy_elements(Fourier *f, const char *first, int64_t count) {
  Wave x[CHUNK];
  const char *slots[CHUNK], *const from[] = {"from_0", "from_1"};
  fourier_point_at(f, from, first);
  name_slots(f, first, count, slots);
  fourier_load_waves(f, from, count, x);
  put_windows(f, first, count, x);
  for (int64_t i = 0; i < count; i++) put_at(f, slots[i], 0, x[i].re);
  for (int64_t i = 0; !fourier_takes_real(f) && i < count; i++)
    put_at(f, slots[i], f->f.row, x[i].im);
}

/* Chunks of `count` elements. */
static void each_chunk(Fourier *f, int64_t count,
                       void (*copy)(Fourier *f, const char *first, int64_t count)) {
  int64_t whole = count / CHUNK, rest = count % CHUNK;
  if (whole) {
    fourier_open_loop(f, "chunk", whole);
    kernel_line(f->k, "first = chunk * %d", CHUNK);
    copy(f, "first", CHUNK);
    fourier_close_loop(f);
  }
  if (!rest) return;
  kernel_line(f->k, "last = %lld", (long long)(whole * CHUNK));
  copy(f, "last", rest);
}

/* ---- radices ---- */

/* x times the factor of k, where the column has factors. */
static Wave turned(Fourier *f, uint32_t radix, int64_t k, Wave x) {
  if (radix + 1 == f->f.n || !k) return x;
  long long i = 2 * (k - 1);
  codelet_fetch(&f->c, &x.re);
  codelet_fetch(&f->c, &x.im);
  Signal cosine = codelet_signal(&f->c, "tl.load(turn + %lld)", i);
  Signal sine = codelet_signal(&f->c, "tl.load(turn + %lld)", i + 1);
  return codelet_turned(&f->c, x, cosine.name, sine.name);
}

/* The spectrum's element k takes the place of element k, after its factor. */
static void put_results(Fourier *f, uint32_t radix, const Wave *y, int64_t count, int64_t step,
                        int64_t imaginary) {
  for (int64_t k = 0; k < count; k++) {
    Wave x = turned(f, radix, k, y[k]);
    put_at(f, "at", k * step, x.re);
    put_at(f, "at", k * step + imaginary, x.im);
  }
}

/* The results of all columns, each of a row. */
static void give_real(Fourier *f, Signal *y) {
  Strides s = fourier_strides(f);
  kernel_line(f->k, "spectrum = result + column%s * %s", kernel_wide(f->k), index_of(f, s.element));
  for (int64_t t = 0; t < f->f.radix[0]; t++)
    fourier_store_part(f, &s, t * f->f.columns, false, fourier_scaled(f, y[t]));
}

static void rows_to_real(Fourier *f) {
  Wave x[FOURIER_RADIX_MAX];
  Signal y[FOURIER_RADIX_MAX];
  int64_t row = f->f.row;
  for (int64_t k = 0; k < f->f.kept; k++)
    x[k] = turned(f, 0, k,
                  WAVE(in_scratch(f, "at", 2 * k * row), in_scratch(f, "at", (2 * k + 1) * row)));
  codelet_real(&f->c, x, f->f.radix[0], y);
  if (f->writes) give_real(f, y);
  for (int64_t t = 0; !f->writes && t < f->f.radix[0]; t++) put_at(f, "at", t * row, y[t]);
}

static void rows_to_waves(Fourier *f) {
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX];
  const char *const from[] = {"from_0", "from_1"};
  int64_t row = f->f.row, radix = f->f.radix[0];
  if (f->reads) fourier_point_at(f, from, "column");
  for (int64_t t = 0; t < radix; t++) {
    bool real = fourier_takes_real(f);
    if (f->reads) {
      x[t] = fourier_in_memory(f, from, t * f->f.columns);
      continue;
    }
    x[t] = (Wave){.re = in_scratch(f, "at", real ? t * row : 2 * t * row)};
    if (!real) x[t].im = in_scratch(f, "at", (2 * t + 1) * row);
  }
  codelet_transform(&f->c, x, 1, radix, y);
  put_results(f, 0, y, f->f.kept, 2 * row, row);
}

/* The first radix, along rows. */
static void replace_rows(Fourier *f) {
  fourier_open_loop(f, "column", f->f.columns);
  kernel_line(f->k, "at = base + column * %d", (int)f->f.lanes);
  kernel_line(f->k, "turn = turns + column * %lld", (long long)(2 * fourier_factors(&f->f, 0)));
  (fourier_gives_real(f) ? rows_to_real : rows_to_waves)(f);
  fourier_close_loop(f);
}

/* Another one, along columns `step` apart.  `table`: of its factors. */
static void replace_columns(Fourier *f, uint32_t i, int64_t table) {
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX];
  int64_t step = fourier_step(&f->f, i), radix = f->f.radix[i];
  int64_t groups = f->f.columns / (step * radix);
  fourier_open_loop(f, "k", f->f.kept);
  if (groups > 1) fourier_open_loop(f, "group", groups);
  if (step > 1) fourier_open_loop(f, "column", step);
  kernel_line(f->k, "at = base + (k * %lld%s%s) * %d", (long long)(2 * f->f.row),
              groups > 1 ? arena_printf(f->a, " + group * %lld", (long long)(step * radix)) : "",
              step > 1 ? " + column" : "", (int)f->f.lanes);
  if (step > 1)
    kernel_line(f->k, "turn = turns + (column * %lld + %lld)",
                (long long)(2 * fourier_factors(&f->f, i)), (long long)table);
  for (int64_t t = 0; t < radix; t++) {
    x[t] = WAVE(in_scratch(f, "at", t * step), in_scratch(f, "at", t * step + f->f.row));
    if (fourier_gives_real(f)) x[t] = turned(f, i, t, x[t]);
  }
  codelet_transform(&f->c, x, 1, radix, y);
  put_results(f, fourier_gives_real(f) ? f->f.n - 1 : i, y, radix, step, f->f.row);
  for (int loops = 1 + (groups > 1) + (step > 1); loops; loops--) fourier_close_loop(f);
}

static void last_in_memory(Fourier *f) {
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX];
  int64_t radix = f->f.radix[f->f.n - 1];
  bool back = fourier_gives_real(f);
  fourier_open_loop(f, "k", f->f.kept);
  int loops = 1 + fourier_open_middles(f);
  kernel_line(f->k, "at = base + (k * %lld + column) * %d", (long long)(2 * f->f.row),
              (int)f->f.lanes);
  for (int64_t t = 0; t < radix; t++)
    x[t] = WAVE(in_scratch(f, "at", t), in_scratch(f, "at", t + f->f.row));
  if (back) fourier_take_spectrum(f, x);
  codelet_transform(&f->c, x, 1, radix, y);
  if (back) put_results(f, f->f.n - 1, y, radix, 1, f->f.row);
  else fourier_give_spectrum(f, y);
  for (; loops; loops--) fourier_close_loop(f);
}

static int64_t table_of(const Fourier *f, uint32_t radix) {
  int64_t table = 0;
  for (uint32_t i = 0; i < radix; i++)
    table += 2 * fourier_factors(&f->f, i) * fourier_step(&f->f, i);
  return table;
}

static void replace_all(Fourier *f) {
  bool back = fourier_gives_real(f);
  if (!back) replace_rows(f);
  for (uint32_t i = 1; i < f->f.n; i++) {
    uint32_t radix = back ? f->f.n - i : i;
    bool in_memory = radix + 1 == f->f.n && (back ? f->reads : f->writes);
    if (in_memory) last_in_memory(f);
    else replace_columns(f, radix, table_of(f, radix));
  }
  if (back) replace_rows(f);
}

/* ---- out ---- */

/* The column where elements `after` * radix[0] + k1 of the spectrum are. */
static const char *column_of(Fourier *f, const char *after) {
  Text t = text_new(f->a);
  int64_t below = 1;
  for (uint32_t i = 1; i < f->f.n; i++) {
    int64_t step = fourier_step(&f->f, i);
    if (i > 1) text_puts(&t, " + ");
    text_printf(&t, "%s", after);
    if (below > 1) text_printf(&t, " // %lld", (long long)below);
    if (i + 1 < f->f.n) text_printf(&t, " %% %lld", (long long)f->f.radix[i]);
    if (step > 1) text_printf(&t, " * %lld", (long long)step);
    below *= f->f.radix[i];
  }
  return t.data;
}

/* Elements radix[0] * `after` + k of a spectrum for k from `start` on.  The elements of a row that
 * is not kept are conjugates of others. */
static void read_rows(Fourier *f, const char *after, int64_t start, int64_t count, Wave *y) {
  int64_t row = f->f.row, radix = f->f.radix[0];
  const char *up = codelet_signal(&f->c, "%s", column_of(f, after)).name, *down = up;
  if (start + count > f->f.kept)
    down = codelet_signal(&f->c, "base + (%lld - %s) * %d", (long long)(f->f.columns - 1), up,
                          (int)f->f.lanes)
               .name;
  up = codelet_signal(&f->c, "base + %s * %d", up, (int)f->f.lanes).name;
  for (int64_t i = 0; i < count; i++) {
    bool kept = start + i < f->f.kept;
    int64_t k = kept ? start + i : radix - start - i;
    y[i].re = in_scratch(f, kept ? up : down, 2 * k * row);
    y[i].im = in_scratch(f, kept ? up : down, (2 * k + 1) * row);
    codelet_fetch(&f->c, &y[i].re);
    codelet_fetch(&f->c, &y[i].im);
    y[i].im.negative = !kept;
  }
}

/* The scratch's address of element `first` + i of a spectrum, and with `half` the sign of its
 * imaginary part: where a row is not kept, the conjugate of another element is. */
static const char *spectrum_slot(Fourier *f, const char *first, int64_t i, const char **sign) {
  long long radix = (long long)f->f.radix[0], columns = (long long)f->f.columns;
  const char *k = codelet_signal(&f->c, "%s + %lld", first, (long long)i).name;
  const char *after = codelet_signal(&f->c, "%s // %lld", k, radix).name;
  const char *row = codelet_signal(&f->c, "%s - %s * %lld", k, after, radix).name;
  const char *column = codelet_signal(&f->c, "%s", column_of(f, after)).name;
  if (f->f.half) {
    const char *kept = codelet_signal(&f->c, "%s < %lld", row, (long long)f->f.kept).name;
    *sign = codelet_signal(&f->c, "tl.where(%s, 1.0, -1.0).to(tl.%s)", kept,
                           dtype_lang_name(f->c.dtype))
                .name;
    row = codelet_signal(&f->c, "tl.where(%s, %s, %lld - %s)", kept, row, radix, row).name;
    column = codelet_signal(&f->c, "tl.where(%s, %s, %lld - %s)", kept, column, columns - 1, column)
                 .name;
  }
  return codelet_signal(&f->c, "base + (%s * %lld + %s) * %d", row, (long long)(2 * f->f.row),
                        column, (int)f->f.lanes)
      .name;
}

/* Elements from `first` on of the spectrum. */
static void copy_spectrum(Fourier *f, const char *first, int64_t count) {
  Strides s = fourier_strides(f);
  Wave y[CHUNK];
  for (int64_t k = 0; k < count; k++) {
    const char *sign = NULL, *slot = spectrum_slot(f, first, k, &sign);
    y[k] = WAVE(in_scratch(f, slot, 0), in_scratch(f, slot, f->f.row));
    codelet_fetch(&f->c, &y[k].re);
    codelet_fetch(&f->c, &y[k].im);
    if (sign) y[k].im = codelet_signal(&f->c, "%s * %s", y[k].im.name, sign);
  }
  kernel_line(f->k, "spectrum = result + %s%s * %s", first, kernel_wide(f->k),
              index_of(f, s.element));
  fourier_store_waves(f, &s, y, count);
}

/* Rows from 0 on of elements radix[0] * `after` on of the spectrum, a chunk at a time. */
static void copy_rows(Fourier *f, const char *after, int64_t count) {
  Dims *d = f->k->graph->dims;
  Strides s = fourier_strides(f);
  const char *from = codelet_signal(&f->c, "result + %s%s * %s", after, kernel_wide(f->k),
                                    index_of(f, dim_mul(d, s.element, dim_int(d, f->f.radix[0]))))
                         .name;
  for (int64_t start = 0; start < count; start += CHUNK) {
    int64_t some = count - start < CHUNK ? count - start : CHUNK;
    Wave y[CHUNK];
    read_rows(f, after, start, some, y);
    kernel_line(f->k, "spectrum = %s + %s", from,
                index_of(f, dim_mul(d, s.element, dim_int(d, start))));
    fourier_store_waves(f, &s, y, some);
  }
}

/* Groups of a spectrum of `count` elements, each of which has one of each row. */
static void each_group(Fourier *f, int64_t count,
                       void (*copy)(Fourier *f, const char *after, int64_t count)) {
  int64_t whole = count / f->f.radix[0], rest = count % f->f.radix[0];
  if (whole) {
    fourier_open_loop(f, "after", whole);
    copy(f, "after", f->f.radix[0]);
    fourier_close_loop(f);
  }
  if (!rest) return;
  kernel_line(f->k, "rest = %lld", (long long)whole);
  copy(f, "rest", rest);
}

/* Elements from `first` on, out of the scratch. */
static void copy_real(Fourier *f, const char *first, int64_t count) {
  Signal x[CHUNK];
  const char *slots[CHUNK];
  Strides s = fourier_strides(f);
  name_slots(f, first, count, slots);
  kernel_line(f->k, "spectrum = result + %s%s * %s", first, kernel_wide(f->k),
              index_of(f, s.element));
  for (int64_t i = 0; i < count; i++) {
    x[i] = in_scratch(f, slots[i], 0);
    codelet_fetch(&f->c, &x[i]);
    x[i] = fourier_scaled(f, x[i]);
  }
  for (int64_t i = 0; i < count; i++) fourier_store_part(f, &s, i, false, x[i]);
}

/* ---- a spectrum in ---- */

static void put_wave(Fourier *f, const char *base, int64_t k1, Wave x, bool conjugate) {
  if (conjugate) x.im.negative = !x.im.negative;
  put_at(f, base, 2 * k1 * f->f.row, x.re);
  put_at(f, base, (2 * k1 + 1) * f->f.row, x.im);
}

/* Elements radix[0] * after + k1 for k1 below `count`, and the conjugates of them that are in rows
 * which are kept.  A number that is its own conjugate has no imaginary part that counts. */
static void copy_half(Fourier *f, const char *after, int64_t count) {
  Wave x[FOURIER_RADIX_MAX];
  const char *const from[] = {"from_0", "from_1"};
  const Places *parts[] = {&f->re, &f->im};
  int64_t radix = f->f.radix[0], columns = f->f.columns;
  for (int i = 0; i < (f->im.after ? 1 : 2); i++)
    kernel_line(f->k, "%s = %s + %s%s * %s", from[i], parts[i]->base, after, kernel_wide(f->k),
                index_of(f, dim_mul(f->k->graph->dims, parts[i]->at[2],
                                    dim_int(f->k->graph->dims, radix))));
  kernel_line(f->k, "column = %s", column_of(f, after));
  kernel_line(f->k, "up = base + column * %d", (int)f->f.lanes);
  kernel_line(f->k, "down = base + (%lld - column) * %d", (long long)(columns - 1),
              (int)f->f.lanes);
  kernel_line(f->k, "back = (%lld - %s) %% %lld", (long long)columns, after, (long long)columns);
  kernel_line(f->k, "mirror = base + (%s) * %d", column_of(f, "back"), (int)f->f.lanes);
  fourier_load_waves(f, from, count, x);
  for (int64_t k = 0; k < count; k++) {
    if (k < f->f.kept) put_wave(f, "up", k, x[k], false);
    if (!k) put_wave(f, "mirror", 0, x[0], true);
    else if (radix - k < f->f.kept) put_wave(f, "down", radix - k, x[k], true);
  }
}

static void copy_in(Fourier *f) {
  if (fourier_gives_real(f)) each_group(f, f->f.operand, copy_half);
  else each_chunk(f, f->f.size, copy_elements);
}

static void copy_out(Fourier *f) {
  if (fourier_gives_real(f)) each_chunk(f, f->f.size, copy_real);
  else if (f->f.radix[0] % CHUNK == 0) each_group(f, f->f.result, copy_rows);
  else each_chunk(f, f->f.result, copy_spectrum);
}

/* ---- blocks ---- */

/* A single radix needs no scratch. */
static void transform_once(Fourier *f) {
  Wave x[FOURIER_RADIX_MAX], y[FOURIER_RADIX_MAX] = {0};
  Signal real[FOURIER_RADIX_MAX];
  Strides s = fourier_strides(f);
  fourier_load_waves(f, (const char *const[]){f->re.base, f->im.base}, f->f.operand, x);
  put_windows(f, "0", f->f.operand, x);
  kernel_line(f->k, "spectrum = result");
  if (fourier_gives_real(f)) {
    codelet_real(&f->c, x, f->f.size, real);
    for (int64_t t = 0; t < f->f.size; t++) real[t] = fourier_scaled(f, real[t]);
    for (int64_t t = 0; t < f->f.size; t++) fourier_store_part(f, &s, t, false, real[t]);
  } else {
    codelet_transform(&f->c, x, 1, f->f.size, y);
    fourier_store_waves(f, &s, y, f->f.result);
  }
}

static void find_base(Fourier *f, Places *p, const char *name, const char *arg) {
  Node *memory = graph_arg(f->k->graph, f->n, arg).node;
  p->base = name;
  kernel_line(f->k, "%s = %s + (batch%s * %s + %s) + lane%s * %s", name,
              kernel_buffer(f->k, memory), kernel_wide(f->k), index_of(f, p->at[1]),
              index_of(f, p->at[0]), kernel_wide(f->k), index_of(f, p->at[3]));
}

static void open_blocks(Fourier *f, const Strides *s) {
  Dims *d = f->k->graph->dims;
  Dim many =
      dim_floordiv(d, dim_add(d, f->lanes, dim_int(d, f->f.lanes - 1)), dim_int(d, f->f.lanes));
  const char *across = index_of(f, many);
  Dim blocks = dim_mul(d, many, f->batch), programs = f->n->args[1].node->type.shape[0];
  Dim each = dim_floordiv(d, dim_add(d, blocks, dim_sub(d, programs, dim_int(d, 1))), programs);
  kernel_line(f->k, "start = tl.program_id(0) * %s", index_of(f, each));
  kernel_line(f->k, "for block in range(start, min(start + %s, %s)):", index_of(f, each),
              index_of(f, blocks));
  f->k->indent += 4;
  if (dim_is(f->batch, 1)) {
    kernel_line(f->k, "batch = block * 0");
    kernel_line(f->k, "lane = block * %d + lanes", (int)f->f.lanes);
  } else {
    kernel_line(f->k, "batch = block // %s", across);
    kernel_line(f->k, "lane = block %% %s * %d + lanes", across, (int)f->f.lanes);
  }
  if (*f->mask) kernel_line(f->k, "inside = lane < %s", index_of(f, f->lanes));
  find_base(f, &f->re, "real", "re");
  if (!fourier_takes_real(f) && !f->im.after) find_base(f, &f->im, "imaginary", "im");
  kernel_line(f->k, "result = %s + batch%s * %s + lane%s * %s",
              kernel_buffer(f->k, f->n->args[0].node), kernel_wide(f->k), index_of(f, s->batch),
              kernel_wide(f->k), index_of(f, s->lane));
}

/* Both parts in one memory, an offset that is known apart. */
static void find_after(Fourier *f) {
  Dims *d = f->k->graph->dims;
  bool one =
      !fourier_takes_real(f) && fourier_argument(f, "re").node == fourier_argument(f, "im").node;
  for (int i = 1; i < 4; i++) one &= f->re.at[i] == f->im.at[i];
  Dim after = dim_sub(d, f->im.at[0], f->re.at[0]);
  if (one && dim_is_int(after)) f->im.after = after;
}

static Fourier fourier_of(Kernel *k, Node *n) {
  Fourier f = {.k = k, .a = k->arena, .n = n};
  Arg list = fourier_argument(&f, "radices"), size = fourier_argument(&f, "size");
  f.f = (FourierForm){.n = list.n,
                      .half = fourier_argument(&f, "half").flag,
                      .inverse = fourier_argument(&f, "inverse").flag,
                      .along = fourier_argument(&f, "along").dim->value};
  for (uint32_t i = 0; i < list.n; i++) f.f.radix[i] = list.items[i].dim->value;
  f.f.size = size.items[1].dim->value;
  BUG_IF(!fourier_form(&f.f, n->type.dtype), "radices of no kernel");
  f.c = (Codelet){.k = k, .dtype = n->type.dtype, .inverse = f.f.inverse};
  read_places(&f, "re_at", &f.re);
  read_places(&f, "im_at", &f.im);
  f.batch = size.items[0].dim;
  f.lanes = size.items[2].dim;
  f.mask = dim_divisible(f.lanes, f.f.lanes) ? "" : ", mask=inside";
  find_after(&f);
  f.columns = fourier_argument(&f, "columns").flag;
  f.pairs = fourier_argument(&f, "pairs").flag;
  f.scale = fourier_argument(&f, "scale").number;
  f.reads = fourier_argument(&f, "window").kind != ARG_NODE && fourier_has_near_lanes(&f);
  f.writes = f.columns;
  return f;
}

static void take_names(Kernel *k) {
  static const char *const names[] = {
      "after",  "at",       "base",      "batch",  "block",  "chunk",  "column", "down",  "from_0",
      "from_1", "group",    "imaginary", "inside", "k",      "lane",   "lanes",  "real",  "rest",
      "result", "spectrum", "t",         "to",     "turn",   "turns",  "up",     "whole", "zero",
      "first",  "last",     "mirror",    "back",   "back_0", "back_1", "room",   "rows",  "ordered",
      "factor", "j1",       "j2",        "weight", "row",    "element",  "either_0", "either_1"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

void kernel_fourier(Text *out, Kernel *k) {
  BUG_IF(k->group->nodes.len != 1, "a transform has a kernel of its own");
  take_names(k);
  Fourier f = fourier_of(k, k->group->nodes.data[0]);
  Strides s = fourier_strides(&f);
  const char *type = dtype_lang_name(f.c.dtype);
  kernel_line(k, "lanes = tl.arange(0, %d)", (int)f.f.lanes);
  kernel_line(k, "zero = tl.zeros([%d], tl.%s)", (int)f.f.lanes, type);
  if (f.f.along) {
    (f.f.chirps ? fourier_by_chirps : fourier_rows_along)(&f, &s);
    kernel_emit(out, k, "program.py", NULL, 0);
    return;
  }
  if (f.f.n > 1) {
    kernel_line(k, "base = %s + (tl.extra.cuda.smid() * %lld + lanes)",
                kernel_buffer(k, fourier_argument(&f, "scratch").node), (long long)f.f.scratch);
    kernel_line(k, "turns = %s", kernel_buffer(k, fourier_argument(&f, "factors").node));
  }
  open_blocks(&f, &s);
  if (f.f.n == 1) {
    transform_once(&f);
  } else {
    if (!f.reads) copy_in(&f);
    replace_all(&f);
    if (!f.writes) copy_out(&f);
  }
  kernel_emit(out, k, "program.py", NULL, 0);
}
