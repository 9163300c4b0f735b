#include "model/report/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "planner/plan/buffer_pool.h"
#include "planner/plan/memory_report.h"

enum { LINE = 100, COLUMNS = 9, CELL = 24 };

/* ---- floors ---- */

/* A plan that was read tells the buffers of its steps, not which parts of them are used. */
static bool buffers_moved(const Explanation *x, const PlanStep *s, int64_t *bytes) {
  *bytes = 0;
  for (uint32_t i = 0; i < s->nargs; i++) {
    int64_t size;
    if (s->args[i].kind != STEP_BUFFER) continue;
    Dim all = memory_bytes(x->plan->graph->dims, &x->plan->buffers[s->args[i].buffer]);
    if (!sizes_eval(x->sizes, all, &size) || __builtin_add_overflow(*bytes, size, bytes))
      return false;
  }
  return true;
}

bool explain_floor(const Explanation *x, const PlanStep *s, StepFloor *out) {
  const StepCost *c = s->cost;
  *out = (StepFloor){0};
  bool known = c ? sizes_eval(x->sizes, c->read, &out->read) &&
                       sizes_eval(x->sizes, c->written, &out->written) &&
                       sizes_eval(x->sizes, c->given, &out->given) &&
                       sizes_eval(x->sizes, c->operations, &out->operations)
                 : buffers_moved(x, s, &out->read);
  if (!known) return false;
  const DevicePeaks *r = &x->peaks;
  bool product = c && c->product != DT_NONE;
  double rate = product ? peaks_of_product(r, c->product) : r->operations;
  double bytes = (double)out->read + (double)out->written;
  if (r->bandwidth > 0) out->memory_us = 1e6 * bytes / r->bandwidth;
  if (rate > 0) out->compute_us = 1e6 * (double)out->operations / rate;
  return true;
}

static double floor_us(const StepFloor *f) {
  return f->memory_us > f->compute_us ? f->memory_us : f->compute_us;
}

/* ---- numbers ---- */

/* 1.23 k, 45.6 M, 789 G: three digits, and a unit. */
static void quantity(char cell[CELL], double v, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t i = 0;
  for (; v >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++) v /= 1000;
  int digits = i == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
  const char *space = *prefixes[i] || *unit ? " " : "";
  snprintf(cell, CELL, "%.*f%s%s%s", digits, v, space, prefixes[i], unit);
}

static void microseconds(char cell[CELL], double us) {
  snprintf(cell, CELL, "%.*f", us < 10 ? 2 : us < 100 ? 1 : 0, us);
}

/* ---- the table ---- */

typedef struct {
  char cells[COLUMNS][CELL];
  const char *name;
} Row;

static const char *const heads[COLUMNS] = {"read",    "written", "ops",   "floor us", "by",
                                           "time us", "reached", "share", ""};

/* The time of a run above that of its inputs and results at the device's bandwidth: us by cause. */
typedef struct {
  double given;             /* bytes of inputs and results */
  double between, computed; /* the floors: bytes between kernels, arithmetic */
  double small, above;      /* the times beyond the floors: of small kernels, of others */
  uint32_t nsmall, nabove;
} Causes;

enum { SMALL_US = 2 }; /* a kernel with a lower floor is about its launch and latency */

typedef struct {
  Arena *arena;
  const Explanation *x;
  Row *rows; /* of the steps, then the sum */
  int columns;
  double read, written, operations, floor, steps; /* sums */
  Causes causes;
  bool cached, faster; /* kernels are faster than their floor, for what print_exceeded tells */
} Table;

static bool exceeds(double us, double floor) { return us > 0 && 100 * floor / us >= 100.5; }

/* More than 100% has a mark, and a reason below the table. */
static void fill_times(Table *t, Row *r, double us, double floor) {
  if (!t->x->times.steps) return;
  microseconds(r->cells[5], us);
  if (floor > 0 && us > 0)
    snprintf(r->cells[6], CELL, "%.0f%%%s", 100 * floor / us, exceeds(us, floor) ? "*" : "");
  if (t->x->times.run > 0) snprintf(r->cells[7], CELL, "%.1f%%", 100 * us / t->x->times.run);
}

static void add_causes(Causes *c, const DevicePeaks *r, const StepFloor *f, double us) {
  double floor = floor_us(f), moved = (double)f->read + (double)f->written - (double)f->given;
  c->given += (double)f->given;
  if (r->bandwidth > 0) c->between += 1e6 * moved / r->bandwidth;
  c->computed += floor - f->memory_us;
  if (us <= floor) return;
  if (floor < SMALL_US) c->small += us - floor, c->nsmall++;
  else c->above += us - floor, c->nabove++;
}

static void fill_row(Table *t, uint32_t i) {
  const PlanStep *s = &t->x->plan->steps[i];
  Row *r = &t->rows[i];
  StepFloor f;
  r->name = s->kernel;
  bool known = explain_floor(t->x, s, &f);
  double floor = known ? floor_us(&f) : 0, us = t->x->times.steps ? t->x->times.steps[i] : 0;
  if (known) {
    quantity(r->cells[0], (double)f.read, "B");
    if (s->cost) quantity(r->cells[1], (double)f.written, "B");
    if (s->cost) quantity(r->cells[2], (double)f.operations, "");
  }
  if (floor > 0) {
    microseconds(r->cells[3], floor);
    snprintf(r->cells[4], CELL, "%s", f.memory_us >= f.compute_us ? "memory" : "compute");
  }
  if (s->once) {
    r->name = arena_printf(t->arena, "%s (once, before the first run)", s->kernel);
    return;
  }
  fill_times(t, r, us, floor);
  if (t->x->times.steps && exceeds(us, floor)) {
    bool fits = f.memory_us >= f.compute_us && f.read + f.written <= t->x->peaks.cache;
    t->cached |= fits;
    t->faster |= !fits;
  }
  if (known) add_causes(&t->causes, &t->x->peaks, &f, us);
  t->read += (double)f.read;
  t->written += (double)f.written;
  t->operations += (double)f.operations;
  t->floor += floor;
  t->steps += us;
}

static void fill_sum(Table *t) {
  Row *r = &t->rows[t->x->plan->nsteps];
  r->name = "all kernels";
  quantity(r->cells[0], t->read, "B");
  quantity(r->cells[1], t->written, "B");
  quantity(r->cells[2], t->operations, "");
  if (t->floor > 0) microseconds(r->cells[3], t->floor);
  fill_times(t, r, t->steps, t->floor);
}

/* Numbers to the right, words to the left; no blanks after the last word. */
static void print_line(Text *out, const Row *r, const int *width, int columns, int number) {
  Text line = text_new(out->arena);
  if (number >= 0) text_printf(&line, "%4d", number);
  else text_printf(&line, "%4s", number == -1 ? "#" : "");
  for (int i = 0; i < columns; i++) {
    bool word = i == 4;
    text_printf(&line, word ? "  %-*s" : "  %*s", width[i], r->cells[i]);
  }
  text_printf(out, "%s  %s\n", line.data, r->name);
}

static void print_aligned(Text *out, const Table *t) {
  int width[COLUMNS];
  Row head = {.name = "kernel"};
  uint32_t n = t->x->plan->nsteps;
  for (int c = 0; c < t->columns; c++) {
    snprintf(head.cells[c], CELL, "%s", heads[c]);
    width[c] = (int)strlen(heads[c]);
    for (uint32_t i = 0; i <= n; i++)
      if ((int)strlen(t->rows[i].cells[c]) > width[c]) width[c] = (int)strlen(t->rows[i].cells[c]);
  }
  print_line(out, &head, width, t->columns, -1);
  for (uint32_t i = 0; i < n; i++) print_line(out, &t->rows[i], width, t->columns, (int)i);
  print_line(out, &t->rows[n], width, t->columns, -2);
}

/* ---- what is not in the table ---- */

static void print_exceeded(Text *out, const Table *t) {
  const DevicePeaks *r = &t->x->peaks;
  char cache[CELL];
  quantity(cache, (double)r->cache, "B");
  if (t->cached)
    text_printf(out, "* above 100%%: the floor is that of memory, and the data fits in the cache "
                     "(%s)\n", cache);
  if (t->faster)
    text_printf(out, "* above 100%%: the device is faster than the rates above (%s)%s\n", r->from,
                r->sm ? "" : "; `nereid cache clear --kind device` has them measured again");
}

static void print_cause(Text *out, double us, const char *format, uint32_t n) {
  char cell[CELL];
  microseconds(cell, us);
  if (us < 0.005) return;
  text_printf(out, "          %8s us  ", cell);
  text_printf(out, format, n, n == 1 ? "" : "s");
  text_puts(out, "\n");
}

/* The time of what any plan moves, and the rest of a run by cause. */
static void print_causes(Text *out, const Table *t) {
  const Causes *c = &t->causes;
  const StepTimes *times = &t->x->times;
  char bytes[CELL], us[CELL];
  if (t->x->peaks.bandwidth <= 0 || c->given <= 0) return;
  double least = 1e6 * c->given / t->x->peaks.bandwidth;
  quantity(bytes, c->given, "B");
  microseconds(us, least);
  text_printf(out, "\nmust move %s of inputs and results, in %s us", bytes, us);
  if (times->run > 0) text_printf(out, ": %.0f%% of the run", 100 * least / times->run);
  text_puts(out, "\n");
  print_cause(out, c->between, "more for bytes between kernels, and inputs that are read again", 0);
  print_cause(out, c->computed, "more for arithmetic", 0);
  if (!times->steps) return;
  print_cause(out, c->small, "more for launches and latency of %u small kernel%s", c->nsmall);
  print_cause(out, c->above, "more for %u kernel%s above the floor", c->nabove);
  print_cause(out, times->updates, "more for copies to inputs and weights", 0);
  print_cause(out, times->run - t->steps - times->updates, "more between kernels", 0);
}

static void print_bound_sizes(Text *out, const Explanation *x) {
  const Dims *d = x->plan->graph->dims;
  const char *separator = "sizes    ";
  for (uint32_t i = 0; i < dims_symbols(d); i++) {
    Dim s = dims_symbol_at(d, i);
    int64_t value;
    if (dim_is_index(s) || !sizes_eval(x->sizes, s, &value)) continue;
    text_printf(out, "%s %s = %" PRId64, separator, s->name, value);
    separator = ",";
  }
  if (*separator == ',') text_puts(out, "\n");
}

static void print_peaks(Text *out, const DevicePeaks *r) {
  char bandwidth[CELL], operations[CELL], product[CELL];
  text_printf(out, "device    %s", r->device);
  quantity(bandwidth, r->bandwidth, "B/s");
  quantity(operations, r->operations, "op/s");
  quantity(product, peaks_of_product(r, DT_F16), "op/s");
  if (r->bandwidth > 0) text_printf(out, "; %s (%s)", bandwidth, r->from);
  if (r->operations > 0) text_printf(out, "; %s in f32", operations);
  if (r->sm) text_printf(out, ", %s in products of f16", product);
  text_puts(out, "\n");
}

static void print_memory(Text *out, const Explanation *x) {
  MemoryUse m;
  char part[5][CELL];
  if (!memory_use(x->plan, x->sizes, &m)) return;
  const int64_t bytes[] = {m.weights, m.inputs, m.outputs, m.pool, m.temporaries};
  for (int i = 0; i < 5; i++) quantity(part[i], (double)bytes[i], "B");
  text_printf(out, "memory    %s of weights, %s of inputs, %s of outputs, %s of temporaries",
              part[0], part[1], part[2], part[3]);
  text_printf(out, " (%s without reuse)\n", part[4]);
  text_printf(out, "peak      %" PRId64 " bytes\n", m.weights + m.inputs + m.outputs + m.pool);
}

/* Words after a head, wrapped. */
typedef struct {
  Text *out;
  size_t line; /* where it begins in out */
  bool first;
} Words;

static Words words_new(Text *out, const char *head) {
  Words w = {out, out->len, true};
  text_printf(out, "  %-8s", head);
  return w;
}

static void put_wrapped_word(Words *w, const char *s) {
  if (!w->first) text_puts(w->out, ",");
  if (!w->first && w->out->len - w->line + strlen(s) + 2 > LINE) {
    text_puts(w->out, "\n");
    w->line = w->out->len;
    text_printf(w->out, "  %-8s", "");
  }
  text_printf(w->out, " %s", s);
  w->first = false;
}

static void print_nodes(Text *out, const char *head, const Node *const *nodes, uint32_t n) {
  if (n == 0) return;
  Words w = words_new(out, head);
  for (uint32_t i = 0; i < n; i++) put_wrapped_word(&w, nodes[i]->name);
  text_puts(out, "\n");
}

static void print_step_origin(Text *out, const PlanStep *s) {
  const char *last = NULL;
  for (uint32_t i = 0; i < s->nnodes; i++) {
    const char *origin = s->nodes[i]->origin;
    if (!origin || origin == last) continue;
    text_printf(out, "  %-8s %s\n", last ? "" : "from", origin);
    last = origin;
  }
}

/* What the step's kernel begins to load before the step before it has ended. */
static void print_early(Text *out, const Explanation *x, const PlanStep *s) {
  Words w = {0};
  for (uint32_t i = 0; i < s->nargs; i++) {
    if (!s->args[i].steady) continue;
    if (!w.out) w = words_new(out, "early");
    put_wrapped_word(&w, x->plan->buffers[s->args[i].buffer].name);
  }
  if (w.out) text_puts(out, "\n");
}

static void print_details(Text *out, const Explanation *x, uint32_t number) {
  const PlanStep *s = &x->plan->steps[number];
  text_printf(out, "\nstep %u: %s\n", number, s->kernel);
  print_step_origin(out, s);
  print_nodes(out, "covers", (const Node *const *)s->nodes, s->nnodes);
  print_early(out, x, s);
  if (!s->cost) return;
  print_nodes(out, "within", s->cost->inlined, s->cost->ninlined);
  for (uint32_t i = 0; i < s->cost->nstops; i++) {
    const StepStop *stop = &s->cost->stops[i];
    text_printf(out, "  %-8s %s from step %u: %s ", i ? "" : "reads", stop->value->name,
                stop->from, stop->at->name);
    if (stop->why) text_printf(out, "%s\n", stop->why);
    else text_printf(out, "also needs step %u, which runs later\n", stop->later);
  }
}

/* Each rule once, with all nodes that it made. */
static void print_rewrites(Text *out, const Graph *g) {
  const GraphRewrite *r = g->rewrites.data;
  for (size_t i = 0; i < g->rewrites.len; i++) {
    bool told = false;
    for (size_t k = 0; k < i && !told; k++) told = r[k].rule == r[i].rule;
    if (told) continue;
    text_printf(out, "\nrule %s\n", r[i].rule);
    Words w = words_new(out, "made");
    for (size_t k = i; k < g->rewrites.len; k++)
      if (r[k].rule == r[i].rule) put_wrapped_word(&w, r[k].node);
    text_puts(out, "\n");
  }
}

void explain_print(Text *out, const Explanation *x) {
  Arena *scratch = arena_child(out->arena);
  uint32_t n = x->plan->nsteps;
  Table t = {.arena = scratch, .x = x, .rows = ARENA_ARRAY(scratch, Row, n + 1)};
  t.columns = x->times.steps ? 8 : 5;
  for (uint32_t i = 0; i < n; i++) fill_row(&t, i);
  fill_sum(&t);
  text_printf(out, "model     %s, mode %s, %u kernel%s\n", x->plan->graph->class_name, x->mode, n,
              n == 1 ? "" : "s");
  print_bound_sizes(out, x);
  print_peaks(out, &x->peaks);
  print_memory(out, x);
  if (x->times.run > 0) text_printf(out, "run       %.2f us\n", x->times.run);
  text_puts(out, "\n");
  print_aligned(out, &t);
  print_exceeded(out, &t);
  print_causes(out, &t);
  for (uint32_t i = 0; i < n; i++) print_details(out, x, i);
  print_rewrites(out, x->plan->graph);
  arena_free(scratch);
}
