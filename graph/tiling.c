#include "graph/tiling.h"

#include <math.h>
#include <stdbool.h>

/* The model's figures, fitted to tiles of this list measured on an H200 (all times in us); other
 * GPUs have other numbers of multiprocessors, which do other shares of that in a clock.  A
 * multiprocessor holds several programs; a step of one, BK deep, takes at least its latency, and
 * all steps together no less than the multiprocessor's rate allows. */
typedef struct {
  Tile tile;
  double rate;  /* flops a us of one multiprocessor that runs this tile alone */
  int resident; /* programs that fit one multiprocessor */
} Candidate;

static const double LAUNCH = 4, REACHED = 4.0 / 4.8 /* of the bandwidth */;
static const double EPILOGUE = 2 /* of 128x128 */, STEP_LATENCY = 0.21 /* of 64 in k */;
static const double OVERLAP = 0.77;

/* The first of each list is taken where sizes are open. */
static const Candidate halves[] = {
    {{64, 128, 64, 4, 3}, 4.16e6, 3},  {{128, 128, 64, 4, 3}, 5.69e6, 2},
    {{128, 256, 64, 8, 3}, 7.79e6, 1}, {{128, 64, 64, 4, 4}, 3.84e6, 2},
    {{64, 128, 128, 4, 3}, 8.1e6, 1},  {{64, 64, 64, 4, 4}, 2.81e6, 3},
    {{64, 32, 128, 4, 4}, 2.6e6, 2},   {{32, 64, 64, 4, 4}, 1.62e6, 4},
    {{32, 32, 128, 4, 4}, 0.9e6, 3},   {{16, 64, 64, 4, 5}, 0.8e6, 4},
    {{16, 32, 128, 4, 4}, 0.5e6, 3},
};
/* f32 is multiplied without tensor cores. */
static const Candidate singles[] = {
    {{64, 64, 32, 4, 3}, 0.110e6, 4},  {{128, 64, 32, 8, 3}, 0.110e6, 2},
    {{32, 128, 32, 4, 3}, 0.117e6, 3}, {{32, 64, 32, 4, 3}, 0.101e6, 4},
    {{32, 32, 32, 4, 3}, 0.085e6, 4},  {{16, 64, 32, 4, 3}, 0.085e6, 4},
};

enum { MAX_PARTS = 16, LEAST_STEPS = 4 };

static double ceil_div(double a, double b) { return ceil(a / b); }

static double most(double a, double b) { return a > b ? a : b; }

/* The time of a step of `n` programs on one multiprocessor. */
static double step_time(const Candidate *c, const Product *p, double n) {
  double rate = c->rate * rates_of_processor(p->gpu, p->dtype);
  double work = 2.0 * c->tile.bm * c->tile.bn * c->tile.bk / rate;
  return most(STEP_LATENCY * c->tile.bk / 64 + OVERLAP * work, n * work);
}

static double memory_time(const Product *p, double bytes) {
  return bytes / (1e-6 * REACHED * p->gpu->bandwidth);
}

static double bytes_of(const Product *p) {
  double element = dtype_bits(p->dtype) / 8;
  return (double)p->batch * element *
         ((double)p->m * (double)p->k + (double)p->k * (double)p->n + (double)p->m * (double)p->n);
}

static double time_of(const Candidate *c, const Product *p) {
  double programs =
      (double)p->batch * ceil_div((double)p->m, c->tile.bm) * ceil_div((double)p->n, c->tile.bn);
  double steps = ceil_div((double)p->k, c->tile.bk), rest = ceil_div(programs, p->gpu->processors);
  double full = floor(rest / c->resident), time = LAUNCH;
  double end = EPILOGUE * c->tile.bm * c->tile.bn / (128 * 128);
  time += full * (steps * step_time(c, p, c->resident) + end);
  rest -= full * c->resident;
  if (rest > 0) time += steps * step_time(c, p, rest) + end;
  return most(time, LAUNCH + memory_time(p, bytes_of(p)));
}

static const Candidate *candidates(DType t, int *n) {
  bool half = dtype_bits(t) <= 16;
  *n = half ? sizeof halves / sizeof *halves : sizeof singles / sizeof *singles;
  return half ? halves : singles;
}

static const Candidate *best(const Product *p, double *time) {
  int n;
  const Candidate *list = candidates(p->dtype, &n), *found = list;
  *time = time_of(list, p);
  for (int i = 1; i < n; i++) {
    double t = time_of(&list[i], p);
    if (t >= *time) continue;
    *time = t;
    found = &list[i];
  }
  return found;
}

int tiling_list(DType t, const Product *p, Tile out[TILING_MAX]) {
  int n;
  double times[TILING_MAX];
  const Candidate *list = candidates(t, &n);
  for (int i = 0; i < n; i++) {
    int at = i;
    double time = p ? time_of(&list[i], p) : i;
    for (; at > 0 && times[at - 1] > time; at--) {
      times[at] = times[at - 1];
      out[at] = out[at - 1];
    }
    times[at] = time;
    out[at] = list[i].tile;
  }
  return n;
}

/* The parts are written in f32, and read by the kernel that adds them. */
static double adding(const Product *p, int parts) {
  double elements = (double)p->batch * (double)p->m * (double)p->n;
  return LAUNCH + memory_time(p, elements * (8.0 * parts + 2));
}

int tiling_parts(const Product *p) {
  double time;
  int parts = 1;
  const Candidate *whole = best(p, &time);
  if (p->k < 2 * LEAST_STEPS * whole->tile.bk) return 1;
  for (int n = 2; n <= MAX_PARTS; n *= 2) {
    double t;
    Product part = *p;
    if (p->k % n) break;
    part.batch *= n;
    part.k /= n;
    const Candidate *c = best(&part, &t);
    if (part.k < LEAST_STEPS * c->tile.bk) break;
    t += adding(p, n);
    if (t >= 0.95 * time) continue;
    time = t;
    parts = n;
  }
  return parts;
}
