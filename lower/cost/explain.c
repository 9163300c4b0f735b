#include "lower/cost/explain.h"

#include <string.h>

#include "lower/cost/launch_stats.h"
#include "lower/schedule/schedule.h"

enum { SECTOR = 32, WIDEST = 16 /* bytes of an access, at most */ };

typedef struct {
  Arena *arena;
  Explanation *out;
  const Nest *nest;
  LineReport *lines; /* by line */
  uint32_t nlines;
  SimCounts *counts; /* by line, of one warp */
  double *bytes;     /* by line, between the cache and a program */
  double *memory;    /* by line, the part of memory's time */
  double *registers; /* by line */
  int *access;       /* by line, the bytes of a thread's accesses of global memory; 0: none */
  int *held;         /* by line, the bytes that a thread loads or stores */
  bool *seen;        /* by buffer id */
} Explaining;

/* ---- facts ---- */

static void add_fact(Explaining *x, Span at, const char *name, const char *text) {
  if (at.file != x->out->file) return;
  LineReport *r = &x->lines[at.line];
  for (size_t i = 0; i < r->facts.len; i++)
    if (!strcmp(r->facts.data[i].name, name) && !strcmp(r->facts.data[i].text, text)) return;
  LineFact f = {name, text};
  vec_push(x->arena, &r->facts, f);
}

static uint32_t last_line(const NestBlock *b) {
  uint32_t most = 0;
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (s->span.line > most) most = s->span.line;
    for (uint32_t r = 0; r < s->nregions; r++) {
      uint32_t in = last_line(s->regions[r]);
      if (in > most) most = in;
    }
  }
  return most;
}

/* ---- layouts ---- */

static void add_layout(Explaining *x, const TileOp *op, const char **names) {
  const Unit *u = x->out->unit;
  for (uint32_t i = 0; i < op->nresults; i++) {
    const TileValue *v = op->results[i];
    const ValuePlan *plan = &u->schedule->values[v->id];
    if (!plan->held || op->span.line >= x->nlines) continue;
    Text t = text_new(x->arena);
    text_printf(&t, "%%%s ", names[v->id]);
    layout_print(&t, &plan->layout);
    add_fact(x, op->span, "layout", t.data);
  }
}

typedef struct {
  Explaining *x;
  const char **names;
} Layouts;

/* The part of a tile that a thread loads or stores. */
static void add_held(Explaining *x, const TileOp *op) {
  const TileValue *v = op->code == TILE_LOAD ? op->results[0] : op->args[1];
  const ValuePlan *plan = &x->out->unit->schedule->values[v->id];
  if (!plan->held || op->span.file != x->out->file || op->span.line >= x->nlines) return;
  int bytes = layout_registers(&plan->layout) * dtype_bytes(v->type.dtype);
  if (bytes > x->held[op->span.line]) x->held[op->span.line] = bytes;
}

static void visit_op(TileOp *op, void *context) {
  Layouts *l = context;
  if (op->code == TILE_LOAD || op->code == TILE_STORE) add_held(l->x, op);
  bool moves = op->code == TILE_LOAD || op->code == TILE_DOT || op->code == TILE_VIEW_LOAD;
  if (moves) add_layout(l->x, op, l->names);
}

static void add_layouts(Explaining *x) {
  const Unit *u = x->out->unit;
  if (!u->schedule) return;
  Layouts l = {x, tile_value_names(u->tile, x->arena)};
  tile_walk(u->tile->body, visit_op, &l);
}

/* ---- accesses and products ---- */

static const char *ring_text(Arena *a, const NestBuffer *b) {
  if (b->slots < 2) return arena_printf(a, "to @%s", b->name);
  return arena_printf(a, "to @%s, %d slots, %d iterations ahead", b->name, b->slots, b->slots - 1);
}

/* A box belongs to the load that it is copied for. */
static Span place_of(const Explaining *x, const NestStmt *s) {
  const TensorMap *m = s->code == NEST_BULK_COPY ? nest_map_of(x->nest, s) : NULL;
  return m && m->span.line ? m->span : s->span;
}

static void add_box(Explaining *x, const NestStmt *s) {
  const TensorMap *m = nest_map_of(x->nest, s);
  Text t = text_new(x->arena);
  text_printf(&t, "%s, boxes of ", dtype_name(m->dtype));
  for (int i = 0; i < m->rank; i++) text_printf(&t, i ? " x %d" : "%d", m->axes[i].box);
  text_printf(&t, " by one thread %s", ring_text(x->arena, s->mems[0].buffer));
  add_fact(x, place_of(x, s), "copy", t.data);
}

static void add_access(Explaining *x, const NestStmt *s) {
  bool copy = s->code == NEST_CP_ASYNC, shared = !copy && s->mems[0].buffer;
  bool writes = nest_flags(s) & NEST_IS_WRITE, atomic = nest_flags(s) & NEST_IS_ATOMIC;
  int64_t bytes = copy ? nest_int(s, NA_bytes, 0) : nest_int(s, NA_n, 1) * dtype_bytes(s->type);
  const char *name = copy ? "copy" : atomic ? "atomic" : writes ? "store" : "load";
  bool here = s->span.file == x->out->file && !shared && !atomic;
  if (here) x->access[s->span.line] = (int)bytes;
  Text t = text_new(x->arena);
  text_printf(&t, "%s, %lld bytes a thread", dtype_name(s->type), (long long)bytes);
  if (copy) text_printf(&t, " by cp.async %s", ring_text(x->arena, s->mems[0].buffer));
  if (shared) text_printf(&t, " %s @%s", writes ? "to" : "from", s->mems[0].buffer->name);
  add_fact(x, s->span, name, t.data);
}

static void add_matrices(Explaining *x, const NestStmt *s) {
  long long bytes = 16 * nest_int(s, NA_n, 1);
  add_fact(x, s->span, "load",
           arena_printf(x->arena, "%s, matrices of %lld bytes a thread from @%s",
                        dtype_name(s->type), bytes, s->mems[0].buffer->name));
}

static void add_product(Explaining *x, const NestStmt *s) {
  const char *atom = nest_str(s, NA_atom, "");
  if (s->code == NEST_MMA) {
    add_fact(x, s->span, "product", atom);
    return;
  }
  add_fact(x, s->span, "product",
           arena_printf(x->arena, "%s, %lld columns, left operand from %s", atom,
                        (long long)nest_int(s, NA_columns, 0),
                        s->mems[0].buffer ? "shared memory" : "registers"));
}

static void add_wait(Explaining *x, const NestStmt *s) {
  long long groups = nest_int(s, NA_groups, 0);
  const char *what = s->code == NEST_MMA_WAIT ? "products" : "copies";
  if (s->code == NEST_BAR || s->code == NEST_CLUSTER_WAIT || s->code == NEST_EXCHANGE)
    add_fact(x, s->span, "waits", "for all threads");
  else if (s->code == NEST_MBAR_WAIT) add_fact(x, s->span, "waits", "for the slot's boxes");
  else if (!groups) add_fact(x, s->span, "waits", arena_printf(x->arena, "for all %s", what));
  else
    add_fact(x, s->span, "waits",
             arena_printf(x->arena, "for %s but those of the last %lld groups", what, groups));
}

static void add_buffers(Explaining *x, const NestStmt *s) {
  for (uint32_t i = 0; i < s->nmems; i++) {
    const NestBuffer *b = s->mems[i].buffer;
    if (!b || x->seen[b->id]) continue;
    x->seen[b->id] = true;
    add_fact(x, place_of(x, s), "shared",
             arena_printf(x->arena, "@%s, %lld bytes from %lld on", b->name, (long long)b->bytes,
                          (long long)b->offset));
  }
}

static void add_statement(Explaining *x, const NestStmt *s) {
  add_buffers(x, s);
  switch (s->code) {
    case NEST_LD: case NEST_ST: case NEST_ATOM: case NEST_ATOM_CAS: case NEST_RED:
    case NEST_CP_ASYNC: add_access(x, s); break;
    case NEST_BULK_COPY: add_box(x, s); break;
    case NEST_LDMATRIX: add_matrices(x, s); break;
    case NEST_MMA: case NEST_WGMMA: add_product(x, s); break;
    case NEST_BAR: case NEST_CP_WAIT: case NEST_MMA_WAIT: case NEST_MBAR_WAIT:
      add_wait(x, s);
      break;
    default: break;
  }
}

/* ---- rings ---- */

static void inspect_ring(RingReport *r, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    bool box = s->code == NEST_BULK_COPY, copy = box || s->code == NEST_CP_ASYNC;
    if (copy && s->mems[0].buffer->slots > r->slots) {
      r->slots = s->mems[0].buffer->slots;
      r->form = box ? "boxes" : "cp.async";
    }
    int groups = s->code == NEST_MMA_WAIT ? (int)nest_int(s, NA_groups, 0) : 0;
    if (groups > r->in_flight) r->in_flight = groups;
    for (uint32_t i = 0; i < s->nregions; i++)
      if (s->regions[i] && s->code != NEST_FOR) inspect_ring(r, s->regions[i]);
  }
}

static void walk(Explaining *x, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    add_statement(x, s);
    RingReport r = {.line = s->span.line};
    if (s->code == NEST_FOR) inspect_ring(&r, s->regions[0]);
    if (r.slots > 1) {
      vec_push(x->arena, &x->out->rings, r);
      add_fact(x, s->span, "ring",
               arena_printf(x->arena, "%d slots, filled %d iterations ahead by %s%s", r.slots,
                            r.slots - 1, r.form,
                            r.in_flight ? ", products run on into the next iteration" : ""));
    }
    for (uint32_t i = 0; i < s->nregions; i++) walk(x, s->regions[i]);
  }
}

/* ---- costs ---- */

static void simulate_lines(Explaining *x, const EstimateInput *in) {
  Simulation *sim = simulation_new(x->arena, x->nest, in->peaks, in->grid);
  const int64_t first[3] = {0, 0, 0};
  simulation_set_parameters(sim, in);
  sim->lanes = SIM_LANES;
  sim->counting = sim->timing = true;
  sim->lines = x->counts;
  simulation_start(sim, first);
  simulate_warp(sim, 0);
  for (int i = 0; i < sim->nsites; i++) {
    const SimSite *s = &sim->sites[i];
    Span at = place_of(x, s->stmt);
    double warps = s->once ? 1 : x->nest->warps;
    if (at.line < x->nlines) x->bytes[at.line] += SECTOR * s->touched_sectors * warps;
  }
}

static const char *excess(Arena *a, double least, double turns) {
  if (turns <= least * 1.005) return "none";
  return arena_printf(a, "%.3g times the fewest turns", turns / least);
}

static void find_memory(Explaining *x, const LaunchStats *f) {
  for (int i = 0; i < f->nsites; i++) {
    if (!f->sites[i].stmt || f->busy <= 0) continue;
    Span at = place_of(x, f->sites[i].stmt);
    if (at.file == x->out->file && at.line < x->nlines)
      x->memory[at.line] += f->sites[i].busy / f->busy;
  }
}

/* Integers that address or count, and have no value. */
static void find_unknown(Explaining *x, const EstimateInput *in) {
  const Nest *n = x->nest;
  for (uint32_t i = 0; i < n->nparams && x->out->launch; i++) {
    const NestVar *v = n->params[i];
    bool known = v->dtype != DT_I32 && v->dtype != DT_I64;
    for (int k = 0; k < in->nvalues; k++) known |= !strcmp(v->name, in->values[k].name);
    if (!known) vec_push(x->arena, &x->out->unknown, v->name);
  }
}

static void add_part(Text *t, double us, const char *of) {
  if (us > 0) text_printf(t, "%s%.3g us of %s", t->len ? ", " : "", us, of);
}

static void add_floor(Explaining *x, Span at, const SimCounts *sum, double bytes) {
  const SimCounts *c = &x->counts[at.line];
  const Estimate *e = &x->out->estimate;
  const double *us = e->bound_us;
  if (!x->out->launch) return;
  Text t = text_new(x->arena);
  if (c->tensor > 0 && sum->tensor > 0)
    add_part(&t, us[BOUND_TENSOR] * c->tensor / sum->tensor, "matrix units");
  if (x->memory[at.line] > 0) add_part(&t, us[BOUND_MEMORY] * x->memory[at.line], "memory");
  if (x->bytes[at.line] > 0)
    add_part(&t, us[BOUND_CACHE] * x->bytes[at.line] / bytes, "the cache");
  if (c->issued > 0 && sum->issued > 0)
    add_part(&t, us[BOUND_ISSUE] * c->issued / sum->issued, "instructions");
  if (t.len) add_fact(x, at, "floor", t.data);
}

/* Arguments of which it is not known that they are multiples of 16. */
static const char *odd_arguments(Explaining *x) {
  Text t = text_new(x->arena);
  for (uint32_t i = 0; i < x->nest->nparams; i++) {
    const NestVar *v = x->nest->params[i];
    bool moves = v->dtype == DT_PTR || v->dtype == DT_I32 || v->dtype == DT_I64;
    if (moves && v->div % WIDEST) text_printf(&t, "%s%s", t.len ? ", " : "", v->name);
  }
  return t.len ? t.data : NULL;
}

/* Why a thread that has more elements accesses few of them at once, where lanes are neighbors. */
static void add_width(Explaining *x, Span at, bool scattered) {
  int bytes = x->access[at.line];
  if (!bytes || bytes >= WIDEST || x->held[at.line] <= bytes || scattered) return;
  const char *odd = odd_arguments(x);
  add_fact(x, at, "narrow",
           odd ? arena_printf(x->arena, "not known to be multiples of 16 (:16 in the signature): "
                                        "%s", odd)
               : "a thread's elements are apart, or a mask or stride divides them");
}

static void add_costs(Explaining *x) {
  SimCounts sum = {0};
  double bytes = 0;
  for (uint32_t i = 0; i < x->nlines; i++) bytes += x->bytes[i];
  for (uint32_t i = 0; i < x->nlines; i++)
    for (size_t k = 0; k < sizeof sum / sizeof(double); k++)
      ((double *)&sum)[k] += ((double *)&x->counts[i])[k];
  for (uint32_t i = 0; i < x->nlines; i++) {
    const SimCounts *c = &x->counts[i];
    Span at = {.file = x->out->file, .line = i};
    if (!x->lines[i].facts.len) continue;
    if (c->shared_least > 0)
      add_fact(x, at, "conflicts", excess(x->arena, c->shared_least, c->shared));
    bool known = x->out->launch && !x->out->unknown.len;
    bool scattered = known && c->lines > c->lines_least * 1.005;
    if (scattered)
      add_fact(x, at, "scattered",
               arena_printf(x->arena, "%.3g times the fewest 128-byte lines: lanes next to each "
                            "other access elements that are apart", c->lines / c->lines_least));
    add_width(x, at, scattered);
    if (x->registers[i] >= 1)
      add_fact(x, at, "registers", arena_printf(x->arena, "%.0f live", x->registers[i]));
    add_floor(x, at, &sum, bytes);
  }
}

/* The lines are those of statements, and of loads that boxes replace. */
static uint32_t count_lines(const Nest *n) {
  uint32_t last = last_line(n->body);
  for (uint32_t i = 0; i < n->nmaps; i++)
    if (n->maps[i]->span.line > last) last = n->maps[i]->span.line;
  return last + 1;
}

Explanation *explain_unit(Arena *a, const Unit *u, const EstimateInput *in, bool launch) {
  const Nest *n = u->nest;
  Explanation *out = ARENA_NEW(a, Explanation);
  *out = (Explanation){.unit = u, .file = n->span.file, .launch = launch};
  LaunchStats stats = launch_stats_gather(a, n, in);
  out->estimate = estimate_stats(&stats, in->peaks);
  Explaining x = {.arena = a, .out = out, .nest = n, .nlines = count_lines(n)};
  x.lines = ARENA_ARRAY(a, LineReport, x.nlines);
  x.counts = ARENA_ARRAY(a, SimCounts, x.nlines);
  x.bytes = ARENA_ARRAY(a, double, x.nlines);
  x.memory = ARENA_ARRAY(a, double, x.nlines);
  x.access = ARENA_ARRAY(a, int, x.nlines);
  x.held = ARENA_ARRAY(a, int, x.nlines);
  x.registers = ARENA_ARRAY(a, double, x.nlines);
  x.seen = ARENA_ARRAY(a, bool, n->nbuffers + 1);
  walk(&x, n->body);
  add_layouts(&x);
  simulate_lines(&x, in);
  find_memory(&x, &stats);
  find_unknown(&x, in);
  register_pressure_of_lines(a, n, x.registers);
  add_costs(&x);
  for (uint32_t i = 0; i < x.nlines; i++) {
    x.lines[i].line = i;
    if (x.lines[i].facts.len) vec_push(a, &out->lines, x.lines[i]);
  }
  return out;
}

/* ---- text ---- */

static void print_unknown(Text *out, const Explanation *e) {
  for (size_t i = 0; i < e->unknown.len; i++)
    text_printf(out, i ? ", %s" : "no value           %s", e->unknown.data[i]);
  if (e->unknown.len)
    text_printf(out, ": --value gives one; now guards hold, loops run %d times, and addresses "
                     "are scattered\n", UNKNOWN_TRIPS);
}

void explanation_print_totals(Text *out, const Explanation *e) {
  const Nest *n = e->unit->nest;
  text_printf(out, "%s for %s, %d warp%s\n", n->name, n->options.target, n->warps,
              n->warps == 1 ? "" : "s");
  if (e->launch) estimate_print(out, &e->estimate);
  else estimate_print_resources(out, &e->estimate);
  if (!e->launch)
    text_puts(out, "no times           a launch has them: --grid, and --value for each integer "
                   "argument\n");
  print_unknown(out, e);
}

/* A line of the source without its indentation. */
static void print_source_line(Text *out, const Source *s, uint32_t line) {
  const char *at = s ? s->text : NULL;
  for (uint32_t i = 1; at && i < line; i++) {
    at = strchr(at, '\n');
    if (at) at++;
  }
  if (!at) return;
  at += strspn(at, " \t");
  text_putn(out, at, strcspn(at, "\r\n"));
}

void explanation_print(Text *out, const Explanation *e) {
  const Source *s = diag_file(e->unit->diags, e->file);
  explanation_print_totals(out, e);
  for (size_t i = 0; i < e->lines.len; i++) {
    const LineReport *r = &e->lines.data[i];
    text_printf(out, "\n%5u  ", r->line);
    print_source_line(out, s, r->line);
    text_puts(out, "\n");
    for (size_t k = 0; k < r->facts.len; k++)
      text_printf(out, "       %-11s %s\n", r->facts.data[k].name, r->facts.data[k].text);
  }
}
