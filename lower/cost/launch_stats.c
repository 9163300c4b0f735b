#include "lower/cost/launch_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lower/target/machine.h"

enum {
  SAMPLES = 4,    /* programs that are simulated in full */
  SPREAD = 20,    /* programs all over the grid, for the extent of arrays */
  WAVE_MOST = 64, /* programs that run together, to count the bytes that they share */
  SECTOR = 32,
  PIECE = 256,      /* bytes that memory reads as fast as more */
  SOON = 8,         /* programs that follow */
  BLOCKS_MOST = 32, /* programs of a multiprocessor */
  SHARED_OWN = 1024 /* bytes that a program takes beside its own */
};
static const double CACHE_SHARE = 0.7;     /* of the cache that can be counted on */
static const double UNEVEN = 0.01;         /* by which programs differ that are alike */
static const double REGISTERS_SAVED = 0.9; /* of those needed, at the least */

/* Statistics of a site, over all samples. */
typedef struct {
  double bytes;           /* of a program, between cache and processor */
  double owners;          /* warps of a program that share nothing there */
  double span;            /* bytes from the first to the last one that a program touches */
  double before, behind;  /* where these are, from the first address on */
  double touched, pieces; /* sectors, and aligned blocks of 256 bytes, of warps' accesses */
  double step;            /* from the first address of the first program to that of the second */
  double lo, hi;          /* first addresses in the grid */
  bool bounded;           /* lo and hi are set */
  double fresh; /* of programs that run together: share that begin at an address of their own */
} Reach;

typedef struct {
  const EstimateInput *in;
  Simulation *sim;
  LaunchStats *stats;
  Reach reaches[SIM_SITES];
  int samples;
  double bytes_most; /* between cache and processor, of one of the samples */
} Gathering;

/* ---- programs ---- */

static void unlinearize_program(int64_t pid[3], const int64_t grid[3], int64_t linear) {
  pid[0] = linear % grid[0];
  pid[1] = linear / grid[0] % grid[1];
  pid[2] = linear / grid[0] / grid[1];
}

/* Programs in the middle of equal parts of each axis; along axes other than the first in another
 * order, so that not only the diagonal is seen. */
static void spread_program(int64_t pid[3], const int64_t grid[3], int i, int n) {
  for (int d = 0; d < 3; d++) {
    int k = d == 0 ? i : (i * (d == 1 ? 5 : 7) + n / 2) % n;
    pid[d] = grid[d] * (2 * k + 1) / (2 * n);
  }
}

/* ---- samples in full ---- */

static void add_counts(SimCounts *sum, const SimCounts *c, double times) {
  double *to = (double *)sum;
  const double *from = (const double *)c;
  for (size_t i = 0; i < sizeof *c / sizeof(double); i++) to[i] += times * from[i];
}
_Static_assert(sizeof(SimCounts) % sizeof(double) == 0, "numbers only");

/* How many times a warp's new sectors are new to its program: all warps share them, or each has its
 * own, or something between. */
static double owners_of(const SimSite *s, int simulated, int warps) {
  if (s->program_sectors <= 0 || s->once) return 1;
  double owners = simulated * s->program_sectors / s->warp_sectors; /* 1 to simulated */
  return simulated > 1 ? 1 + (owners - 1) / (simulated - 1) * (warps - 1) : warps;
}

static void take_sites(Gathering *g, int simulated, int warps) {
  for (int i = 0; i < g->sim->nsites; i++) {
    const SimSite *s = &g->sim->sites[i];
    Reach *p = &g->reaches[i];
    if (simulated > 1 || p->owners <= 0) p->owners = owners_of(s, simulated, warps);
    double bytes = SECTOR * s->warp_sectors / (s->once ? 1 : simulated) * p->owners;
    p->bytes += bytes;
    p->touched += s->touched_sectors;
    p->pieces += s->pieces;
    /* Stores pass the first cache as they come. */
    if (s->store) g->stats->stored += SECTOR * s->touched_sectors * warps / simulated;
    else g->stats->loaded += bytes;
    if (!s->touched) continue;
    p->span = fmax(p->span, (double)s->hi - (double)s->lo);
    p->before = fmin(p->before, (double)s->lo - (double)s->first);
    p->behind = fmax(p->behind, (double)s->hi - (double)s->first);
  }
}

/* Two warps of the first program are simulated, to find what warps share. */
static void sample(Gathering *g, const int64_t pid[3]) {
  Simulation *sim = g->sim;
  LaunchStats *f = g->stats;
  int warps = sim->nest->warps, n = warps > 1 && g->samples == 0 ? 2 : 1;
  double before = f->loaded + f->stored;
  simulation_start(sim, pid);
  for (int i = 0; i < n; i++) {
    memset(&sim->counts, 0, sizeof sim->counts);
    sim->timing = i == 0;
    simulate_warp(sim, i * (warps - 1));
    add_counts(&f->counts, &sim->counts, (double)warps / n);
    if (!sim->timing) continue;
    f->clocks += sim->time;
    f->waits += sim->waits;
    f->early += sim->early;
    f->clocks_most = fmax(f->clocks_most, sim->time);
  }
  take_sites(g, n, warps);
  g->bytes_most = fmax(g->bytes_most, f->loaded + f->stored - before);
  g->samples++;
}

/* Do the programs that were simulated so far take equally long, and move as much? */
static bool is_even(const Gathering *g) {
  const LaunchStats *f = g->stats;
  double clocks = f->clocks / g->samples, bytes = (f->loaded + f->stored) / g->samples;
  return f->clocks_most <= (1 + UNEVEN) * clocks && g->bytes_most <= (1 + UNEVEN) * bytes;
}

/* If the first and the last one are alike, those between are as well. */
static void sample_programs(Gathering *g) {
  static const int order[SAMPLES] = {0, SAMPLES - 1, 1, 2};
  const int64_t *grid = g->in->grid;
  int n = g->stats->programs < SAMPLES ? (int)g->stats->programs : SAMPLES;
  for (int i = 0; i < n && (g->samples < 2 || !is_even(g)); i++) {
    int64_t pid[3];
    if (g->stats->programs <= SAMPLES) unlinearize_program(pid, grid, i);
    else spread_program(pid, grid, order[i], n);
    sample(g, pid);
  }
}

static void sample_all(Gathering *g) {
  LaunchStats *f = g->stats;
  sample_programs(g);
  SimCounts sum = f->counts;
  memset(&f->counts, 0, sizeof f->counts);
  add_counts(&f->counts, &sum, 1.0 / g->samples);
  f->clocks /= g->samples;
  f->waits /= g->samples;
  f->early /= g->samples;
  f->loaded /= g->samples;
  f->stored /= g->samples;
  for (int i = 0; i < g->sim->nsites; i++) g->reaches[i].bytes /= g->samples;
}

/* ---- where programs begin ---- */

static void survey_program(Gathering *g, const int64_t pid[3]) {
  simulation_start(g->sim, pid);
  simulate_warp(g->sim, 0);
}

static void take_firsts(Gathering *g) {
  for (int i = 0; i < g->sim->nsites; i++) {
    const SimSite *s = &g->sim->sites[i];
    Reach *p = &g->reaches[i];
    if (!s->simulated) continue;
    p->lo = p->bounded ? fmin(p->lo, (double)s->first) : (double)s->first;
    p->hi = p->bounded ? fmax(p->hi, (double)s->first) : (double)s->first;
    p->bounded = true;
  }
}

/* From the program that was surveyed, the first one, to the nearest of those that follow soon,
 * which run at the same time. */
static void find_steps(Gathering *g) {
  int64_t first[SIM_SITES], pid[3];
  for (int i = 0; i < g->sim->nsites; i++) first[i] = g->sim->sites[i].first;
  for (int n = 1; n <= SOON && n < g->stats->programs; n *= 2) {
    unlinearize_program(pid, g->in->grid, n);
    survey_program(g, pid);
    for (int i = 0; i < g->sim->nsites; i++) {
      double step = fabs((double)g->sim->sites[i].first - (double)first[i]);
      if (step > 0 && (g->reaches[i].step <= 0 || step < g->reaches[i].step))
        g->reaches[i].step = step;
    }
  }
}

static void survey_grid(Gathering *g) {
  const int64_t *grid = g->in->grid;
  int64_t first[3] = {0, 0, 0}, last[3] = {grid[0] - 1, grid[1] - 1, grid[2] - 1};
  survey_program(g, first);
  take_firsts(g);
  find_steps(g);
  survey_program(g, last);
  take_firsts(g);
  for (int i = 0; i < SPREAD && i < g->stats->programs; i++) {
    int64_t pid[3];
    spread_program(pid, grid, i, SPREAD);
    survey_program(g, pid);
    take_firsts(g);
  }
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static double distinct(int64_t *v, int n) {
  int found = 0;
  qsort(v, (size_t)n, sizeof *v, by_value);
  for (int i = 0; i < n; i++) found += i == 0 || v[i] != v[i - 1];
  return found;
}

/* The first programs, as many as run at a time. */
static void survey_wave(Gathering *g) {
  Simulation *sim = g->sim;
  double wave = (double)g->stats->occupancy * g->in->peaks->processors;
  int n = (int)fmin(fmin(wave, g->stats->programs), WAVE_MOST);
  int64_t *firsts = ARENA_ARRAY(sim->arena, int64_t, (size_t)(sim->nsites * n + 1));
  for (int i = 0; i < n; i++) {
    int64_t pid[3];
    unlinearize_program(pid, g->in->grid, i);
    survey_program(g, pid);
    for (int k = 0; k < sim->nsites; k++) firsts[k * n + i] = sim->sites[k].first;
  }
  for (int k = 0; k < sim->nsites; k++) g->reaches[k].fresh = distinct(firsts + k * n, n) / n;
}

/* ---- memory ---- */

/* The demand of all sites of one array, loads or stores. */
typedef struct {
  double asked;    /* of the cache by all programs */
  double together; /* of memory, if only programs that run at a time shared */
  double unique;   /* different bytes */
  double again;    /* asked by a program for each of its different bytes */
  double slow;     /* run_cost, on average */
} Traffic;

/* Memory's time for a byte of this site, relative to a byte of a long run: memory opens pages, so
 * short runs of consecutive bytes cost more.  A run goes on in the next program, which runs at the
 * same time, if that one starts where it ends. */
static double run_cost(const Reach *p) {
  static const double COSTS[] = {1.75, 1.5, 1.1, 1}; /* of 32, 64, 128, 256 bytes */
  if (p->pieces <= 0 || (p->step > 0 && p->step < PIECE)) return 1;
  double at = log2(fmax(1, p->touched / p->pieces));
  int below = at < 2 ? (int)at : 2;
  return COSTS[below] + (at - below) * (COSTS[below + 1] - COSTS[below]);
}

static Traffic traffic_of(const Gathering *g, int array, bool store) {
  Traffic t = {0};
  double programs = g->stats->programs, own_span = 0, own = 0;
  double lo = INFINITY, hi = -INFINITY;
  for (int i = 0; i < g->sim->nsites; i++) {
    const SimSite *s = &g->sim->sites[i];
    const Reach *p = &g->reaches[i];
    if (s->array != array || s->store != store) continue;
    t.asked += p->bytes * programs;
    t.together += p->bytes * programs * p->fresh;
    t.slow += p->bytes * programs * run_cost(p);
    own += p->bytes;
    own_span = fmax(own_span, p->span);
    if (p->bounded) lo = fmin(lo, p->lo + p->before);
    if (p->bounded) hi = fmax(hi, p->hi + p->behind);
  }
  t.unique = array >= 0 && hi > lo ? fmin(hi - lo, t.asked) : t.asked;
  /* Dense reads of a program are one run; writes gather in the cache. */
  static const double DENSE = 0.9;
  t.slow = store || own >= DENSE * own_span ? 1 : t.slow / t.asked;
  t.again = own_span > 0 && own > own_span ? own / own_span : 1;
  return t;
}

/* Each site of an array has the part of its traffic that it asks for. */
static void share_traffic(const Gathering *g, int array, bool store, const Traffic *t,
                          double busy) {
  LaunchStats *f = g->stats;
  f->nsites = g->sim->nsites;
  for (int i = 0; i < f->nsites; i++) {
    const SimSite *s = &g->sim->sites[i];
    if (s->array != array || s->store != store || t->asked <= 0) continue;
    f->sites[i] = (SiteTraffic){s->stmt, busy * g->reaches[i].bytes * f->programs / t->asked};
  }
}

/* Bytes from or to memory.  If all arrays fit into the cache, each byte is transferred once.
 * Otherwise only programs that run at the same time share bytes, and a byte that a program reads
 * again is still cached with some probability: the cache evicts lines at random. */
static void sum_memory(Gathering *g) {
  LaunchStats *f = g->stats;
  double cache = CACHE_SHARE * (double)g->in->peaks->cache, all = 0;
  for (int pass = 0; pass < 2; pass++) {
    double running = fmin(f->programs, (double)f->occupancy * g->in->peaks->processors);
    double hit = all > 0 ? fmin(1, cache / all) : 1;
    double kept = cache > 0 ? exp(-running / f->programs * all / cache) : 0;
    for (int i = -1; i < g->sim->narrays; i++)
      for (int store = 0; store < 2; store++) {
        Traffic t = traffic_of(g, i, store);
        if (pass == 0) all += t.unique;
        if (pass == 0) continue;
        double again = kept / t.again + 1 - kept;
        double missed = fmax(t.unique, t.together * again);
        double bytes = t.unique + (missed - t.unique) * (1 - hit);
        *(store ? &f->written : &f->read) += bytes;
        f->busy += bytes * t.slow;
        share_traffic(g, i, store, &t, bytes * t.slow);
      }
    if (pass == 0 && all > cache) survey_wave(g);
  }
}

/* ---- resources ---- */

static int by_shared(const LaunchStats *f, const DevicePeaks *r) {
  return (int)(r->shared / (f->shared + SHARED_OWN));
}

/* Registers are given to a warp in units of 256. */
int launch_stats_occupancy(const LaunchStats *f, const DevicePeaks *r) {
  int registers = (f->registers + 7) / 8 * 8, most = BLOCKS_MOST;
  int by_threads = r->threads / (f->warps * SIM_LANES);
  int by_registers = REGISTER_FILE / (registers * f->warps * SIM_LANES);
  if (by_threads < most) most = by_threads;
  if (by_registers < most) most = by_registers;
  if (by_shared(f, r) < most) most = by_shared(f, r);
  return most > 1 ? most : 1;
}

const char *launch_stats_limit(const LaunchStats *f, const DevicePeaks *r) {
  LaunchStats free = *f;
  int programs = launch_stats_occupancy(f, r);
  free.registers = 1;
  if (programs == BLOCKS_MOST) return "the device's most";
  if (launch_stats_occupancy(&free, r) > programs) return "registers";
  return by_shared(f, r) <= programs ? "shared memory" : "warps";
}

/* The registers of a thread, if a processor shall hold that many programs. */
static int registers_for(int programs, int warps) {
  return REGISTER_FILE / (programs * warps * SIM_LANES) / REGISTER_STEP * REGISTER_STEP;
}

/* The assembler does with a few registers less where a processor then holds a program more. */
static int assigned_registers(int needed, int warps) {
  int most = BLOCKS_MOST;
  while (most > 1 && registers_for(most, warps) < REGISTERS_SAVED * needed) most--;
  int enough = registers_for(most, warps);
  return needed < enough ? needed : enough;
}

static void find_resources(Arena *a, LaunchStats *f, const Simulation *sim, const DevicePeaks *r) {
  const Nest *n = sim->nest;
  const Machine *m = machine_find(n->options.target);
  int limit = m && m->regs > 0 ? m->regs : 255, needed = register_pressure(a, n);
  if (n->options.maxnreg && n->options.maxnreg < limit) limit = n->options.maxnreg;
  int given = registers_for(1, n->warps);
  if (given < limit) limit = given;
  f->warps = n->warps;
  f->registers = assigned_registers(needed < limit ? needed : limit, n->warps);
  f->spilled = needed > limit ? needed - limit : 0;
  f->shared = n->shared_bytes;
  f->stages = sim->ring;
  f->occupancy = r->sm ? launch_stats_occupancy(f, r) : 1;
}

/* ---- all ---- */

void simulation_set_parameters(Simulation *sim, const EstimateInput *in) {
  for (uint32_t i = 0; i < sim->nest->nparams; i++)
    for (int k = 0; k < in->nvalues; k++)
      if (sim->nest->params[i]->dtype != DT_PTR &&
          !strcmp(sim->nest->params[i]->name, in->values[k].name))
        simulation_set(sim, i, in->values[k].value);
}

/* Thread blocks of a cluster are programs to the processors; each does what the first one does,
 * which was simulated, with memory of its own. */
static void count_blocks(LaunchStats *f, double cluster) {
  f->programs *= cluster;
  f->read *= cluster;
  f->written *= cluster;
  f->busy *= cluster;
}

LaunchStats launch_stats_gather(Arena *a, const Nest *n, const EstimateInput *in) {
  LaunchStats f = {.programs = (double)in->grid[0] * (double)in->grid[1] * (double)in->grid[2]};
  Gathering *g = ARENA_NEW(a, Gathering);
  memset(g, 0, sizeof *g);
  g->in = in;
  g->stats = &f;
  g->sim = simulation_new(a, n, in->peaks, in->grid);
  simulation_set_parameters(g->sim, in);
  find_resources(a, &f, g->sim, in->peaks);
  sample_all(g);
  g->sim->counting = g->sim->timing = false;
  g->sim->lanes = 1;
  for (int i = 0; i < SIM_SITES; i++) g->reaches[i].fresh = 1;
  survey_grid(g);
  sum_memory(g);
  count_blocks(&f, n->cluster);
  return f;
}
