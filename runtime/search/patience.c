#include "runtime/search/patience.h"
#include "runtime/support/host_machine.h"

/* LEAST is for loading a kernel and looking at its results, and MOST for one of which nobody knows
 * how long it takes. */
static const double SECONDS_LEAST = 2, SECONDS_MOST = 20, FAR = 100;

/* A hundred times the best is hopeless.  Without one it is a hundred times what the model says at
 * worst, unless that is long anyway: no kernel that the model understands is that far off. */
double patience_wanted(const Candidate *c, int runs, double best_us, bool doubtful) {
  if (best_us > 0) return SECONDS_LEAST + FAR * 1e-6 * best_us;
  double predicted = 1e-6 * c->predicted.high_us * (2 + runs), most = SECONDS_MOST + 10 * predicted;
  if (predicted <= 0 || doubtful) return most;
  return SECONDS_LEAST + FAR * predicted < most ? SECONDS_LEAST + FAR * predicted : most;
}

double patience_left(const Search *s, double wanted) {
  double left = s->end > 0 ? s->end - host_now() : wanted;
  if (left < SECONDS_LEAST) left = SECONDS_LEAST;
  return left < wanted ? left : wanted;
}

int patience_runs(const Search *s, const Candidate *c, int runs) {
  double fits = 1e6 * (s->end - host_now()) / c->median_us;
  if (s->end <= 0 || fits >= runs) return runs;
  return fits > 1 ? (int)fits : 1;
}
