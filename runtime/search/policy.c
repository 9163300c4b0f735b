#include "runtime/search/policy.h"

#include "runtime/records/doubt.h"
#include "runtime/support/error.h"

static const double FAR_FROM_BEST = 3; /* a run that takes so many times the best is the last one */

/* A candidate that the cost model expects to take so many times the best, at least, is not run. */
static const double SLOWER = 1.5;

/* A hundred runs tell two candidates apart whose times differ by 2%. */
static const struct {
  double within; /* of the best time; 0: all that were not timed yet */
  int runs;
} rounds[] = {{0, 3}, {1.3, 7}, {1.1, 15}, {1.04, 25}, {1.02, 50}};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

/* Rounds of the fastest alone, while its time is doubtful. */
enum { DOUBTFUL_MOST = 12 };

/* A round spends so long on a candidate, but for the least number of runs. */
static const double ROUND_US = 200000;
enum { RUNS_LEAST = 3 };

static const double UNLIMITED_US = 1e18;

static int runs_of(int most, double median_us) {
  double fit = median_us > 0 ? ROUND_US / median_us : most;
  return fit >= most ? most : fit > RUNS_LEAST ? (int)fit : RUNS_LEAST;
}

double policy_limit_us(double best_us) {
  return best_us > 0 ? FAR_FROM_BEST * best_us : UNLIMITED_US;
}

/* If the cost model overestimates the best itself, it does so for others as well. */
double policy_slow_us(double best_us, double best_predicted_us) {
  return SLOWER * (best_us > best_predicted_us ? best_us : best_predicted_us);
}

bool policy_is_slow(double low_us, double best_us, double best_predicted_us) {
  return best_us > 0 && low_us > policy_slow_us(best_us, best_predicted_us);
}

int policy_first_runs(void) { return rounds[0].runs; }

static TimeTaken taken(const nereid_tune_timing *t) {
  return (TimeTaken){t->median_us, t->spread_us, t->runs, t->predicted_us};
}

static bool is_doubtful(const nereid_tune_timing *t) {
  TimeTaken time = taken(t);
  return doubt_of(&time) != DOUBT_NONE;
}

/* The first of equals; NULL: none was timed.  sure: of those whose time is not doubtful. */
static const nereid_tune_timing *fastest(const nereid_tune_timing *t, size_t n, bool sure) {
  const nereid_tune_timing *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (t[i].median_us > 0 && (!best || t[i].median_us < best->median_us) &&
        (!sure || !is_doubtful(&t[i])))
      best = &t[i];
  return best;
}

/* Configurations that were not timed and may win, and doubtful times of records that would win. */
static size_t first_round(int *runs, const nereid_tune_timing *t, size_t n) {
  const nereid_tune_timing *best = fastest(t, n, false), *sure = fastest(t, n, true);
  size_t in = 0;
  for (size_t i = 0; i < n; i++) {
    bool wins = t[i].median_us > 0 && (!sure || t[i].median_us < sure->median_us);
    bool slow = best && policy_is_slow(t[i].low_us, best->median_us, best->predicted_us);
    bool runs_now = t[i].median_us == 0 ? !slow : wins && t[i].known;
    runs[i] = runs_now ? rounds[0].runs : 0;
    in += runs_now;
  }
  return in;
}

/* Is it one that can't be told apart from the best? */
static size_t near_best(int *runs, const nereid_tune_timing *t, size_t n, int round) {
  const nereid_tune_timing *best = fastest(t, n, false);
  size_t in = 0;
  for (size_t i = 0; i < n; i++) {
    double us = t[i].median_us;
    bool near = best && us > 0 && !t[i].known && us <= rounds[round].within * best->median_us;
    runs[i] = near ? runs_of(rounds[round].runs, us) : 0;
    in += near;
  }
  return in;
}

/* A winner by noise falls back when it is measured again; the next one is then as doubtful. */
static bool doubtful_best(int *runs, const nereid_tune_timing *t, size_t n) {
  const nereid_tune_timing *best = fastest(t, n, false);
  for (size_t i = 0; i < n; i++) runs[i] = 0;
  if (!best || best->known || !is_doubtful(best)) return false;
  TimeTaken time = taken(best);
  runs[best - t] = doubt_runs(&time);
  return true;
}

int policy_round(int *runs, double *limit_us, const nereid_tune_timing *t, size_t n, int round) {
  const nereid_tune_timing *best = fastest(t, n, false);
  *limit_us = policy_limit_us(best ? best->median_us : 0);
  if (round < 0 || round >= ROUNDS + DOUBTFUL_MOST) return 0;
  if (!round) return first_round(runs, t, n) > 0;
  size_t in = round < ROUNDS ? near_best(runs, t, n, round) : 0;
  if (round == 1 ? in > 0 : in > 1) return 1; /* one alone has won */
  *limit_us = UNLIMITED_US; /* a slow run tells as much as a fast one */
  return doubtful_best(runs, t, n);
}

int nereid_tune_round(int *runs, double *limit_us, const nereid_tune_timing *timings, size_t n,
                      int round) {
  double ignored;
  if (n && !runs) return error_null("nereid_tune_round", "runs");
  if (n && !timings) return error_null("nereid_tune_round", "timings");
  return policy_round(runs, limit_us ? limit_us : &ignored, timings, n, round);
}
