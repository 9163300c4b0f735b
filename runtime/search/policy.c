#include "runtime/nereid_tune.h"
#include "runtime/search/search.h"
#include "runtime/support/error.h"

static const double FAR_FROM_BEST = 3; /* a run that takes so many times the best is the last one */

/* A hundred runs tell two candidates apart whose times differ by 2%. */
static const struct {
  double within; /* of the best time; 0: all that were not timed yet */
  int runs;
} rounds[] = {{0, 3}, {1.3, 7}, {1.1, 15}, {1.04, 25}, {1.02, 50}};

/* A round spends so long on a candidate, but for the least number of runs. */
static const double ROUND_US = 200000;
enum { RUNS_LEAST = 3 };

static int runs_of(int most, double median_us) {
  double fit = median_us > 0 ? ROUND_US / median_us : most;
  return fit >= most ? most : fit > RUNS_LEAST ? (int)fit : RUNS_LEAST;
}

double policy_limit_us(double best_us) { return best_us > 0 ? FAR_FROM_BEST * best_us : 1e18; }

int policy_round(int *runs, const double *median_us, size_t n, double best_us, int round) {
  size_t in = 0;
  if (round < 0 || (size_t)round >= sizeof rounds / sizeof *rounds) return 0;
  for (size_t i = 0; i < n; i++) {
    double us = median_us[i];
    bool timed = round ? us > 0 && us <= rounds[round].within * best_us : us == 0;
    runs[i] = timed ? runs_of(rounds[round].runs, us) : 0;
    in += timed;
  }
  return round > 1 ? in > 1 : in > 0; /* one alone has won */
}

int nereid_tune_round(int *runs, double *limit_us, const double *median_us, size_t n, int round) {
  if (n && !runs) return error_null("nereid_tune_round", "runs");
  if (n && !median_us) return error_null("nereid_tune_round", "median_us");
  double best = 0;
  for (size_t i = 0; i < n; i++)
    if (median_us[i] > 0 && (best <= 0 || median_us[i] < best)) best = median_us[i];
  if (limit_us) *limit_us = policy_limit_us(best);
  return policy_round(runs, median_us, n, best, round);
}
