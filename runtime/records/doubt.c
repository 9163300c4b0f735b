#include "runtime/records/doubt.h"

#include <stdio.h>

#include "runtime/messages.h"

/* FAR times off the prediction needs CONFIRMED runs, or that many seconds of them.  The model may
 * be wrong, as about loops whose length is in memory; then further runs agree. */
enum { CONFIRMED = 20 };
static const double WIDE = 0.5, FAR = 15, CONFIRMED_US = 1e6;
/* Less than a launch costs: nobody gains by another choice, and the model's idea of a launch may be
 * off by as much. */
static const double NARROW_US = 1, LAUNCH_US = 2;

static bool is_far(const TimeTaken *t) {
  double slow = t->median_us, fast = t->predicted_us;
  if (slow < fast) slow = t->predicted_us, fast = t->median_us;
  return t->predicted_us > 0 && slow > FAR * fast && slow - fast > LAUNCH_US;
}

static bool is_confirmed(const TimeTaken *t) {
  return t->runs >= CONFIRMED || t->runs * t->median_us >= CONFIRMED_US;
}

Doubt doubt_of(const TimeTaken *t) {
  if (t->runs < DOUBT_RUNS) return DOUBT_FEW;
  if (t->spread_us > WIDE * t->median_us && t->spread_us > NARROW_US) return DOUBT_SPREAD;
  return is_far(t) && !is_confirmed(t) ? DOUBT_FAR : DOUBT_NONE;
}

int doubt_runs(const TimeTaken *t) {
  int runs = t->runs < DOUBT_RUNS && !is_far(t) ? DOUBT_RUNS - t->runs : CONFIRMED - t->runs;
  return runs < DOUBT_RUNS ? DOUBT_RUNS : runs;
}

void doubt_print(char *out, size_t size, const TimeTaken *t) {
  *out = 0;
  switch (doubt_of(t)) {
    case DOUBT_NONE: break;
    case DOUBT_FEW: snprintf(out, size, N_TUNE_FEW, t->runs, t->runs == 1 ? "" : "s"); break;
    case DOUBT_SPREAD: snprintf(out, size, N_TUNE_WIDE, 100 * t->spread_us / t->median_us); break;
    case DOUBT_FAR: snprintf(out, size, N_TUNE_FAR, t->predicted_us); break;
  }
}
