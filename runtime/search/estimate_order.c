/* The order in which candidates are tried. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/estimate_request.h"

enum { VARIED = 32 }; /* so many first ones; after them, time alone counts */

/* ALIKE: the penalty on the time of a candidate that equals one tried before.  REACH: the distance,
 * a sum of logarithms of ratios, at which similarity falls to 1/e. */
static const double ALIKE = 0.15, REACH = 1.5;

typedef struct {
  const Estimate *estimate;
  size_t candidate;
  double us;    /* without an estimate, longer than any */
  double alike; /* to the most similar one before it: 0 to 1 */
} Ranked;

static int promising_first(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->us != y->us) return x->us < y->us ? -1 : 1;
  return x->candidate < y->candidate ? -1 : 1;
}

static double log_distance(double x, double y) { return fabs(log(x / y)); }

static double likeness(const Estimate *a, const Estimate *b) {
  static const double OWN_REGISTERS = 8, OWN_SHARED = 4096; /* that all have */
  double d = log_distance(a->programs, b->programs) + log_distance(a->warps, b->warps) +
             log_distance(a->occupancy, b->occupancy) +
             log_distance(a->registers + OWN_REGISTERS, b->registers + OWN_REGISTERS) +
             log_distance((double)a->shared + OWN_SHARED, (double)b->shared + OWN_SHARED);
  return exp(-d / REACH);
}

static void note_tried(Ranked *rest, size_t n, const Estimate *tried) {
  for (size_t i = 0; i < n && tried->us > 0; i++)
    if (rest[i].estimate->us > 0)
      rest[i].alike = fmax(rest[i].alike, likeness(rest[i].estimate, tried));
}

/* Puts the one first that is to be tried next; the others keep their order. */
static void bring_next(Ranked *rest, size_t n) {
  size_t best = 0;
  for (size_t i = 1; i < n; i++)
    if (rest[i].us * (1 + ALIKE * rest[i].alike) < rest[best].us * (1 + ALIKE * rest[best].alike))
      best = i;
  Ranked next = rest[best];
  memmove(rest + 1, rest, best * sizeof *rest);
  rest[0] = next;
}

void estimate_order(size_t *order, const Estimate *const *e, size_t n) {
  Ranked *p = malloc((n + 1) * sizeof *p);
  for (size_t i = 0; i < n; i++) order[i] = i;
  if (!p) return;
  for (size_t i = 0; i < n; i++) p[i] = (Ranked){e[i], i, e[i]->us > 0 ? e[i]->us : 1e300, 0};
  qsort(p, n, sizeof *p, promising_first);
  for (size_t i = 1; i < n && i < VARIED; i++) {
    note_tried(p + i, n - i, p[i - 1].estimate);
    bring_next(p + i, n - i);
  }
  for (size_t i = 0; i < n; i++) order[i] = p[i].candidate;
  free(p);
}
