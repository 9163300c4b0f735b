/* The policy of every search: how often candidates are timed, which are given up or not run at all,
 * and when a time is doubtful and is taken again.
 *
 * Who times them doesn't matter: a worker of the tuner (search.c), or a program that calls its
 * kernel itself, as Python's autotune does (nereid_tune_round, which has the rounds' meaning). */
#ifndef NEREID_RUNTIME_SEARCH_POLICY_H
#define NEREID_RUNTIME_SEARCH_POLICY_H

#include <stdbool.h>

#include "runtime/nereid_tune.h"

int policy_round(int *runs, double *limit_us, const nereid_tune_timing *t, size_t n, int round);
/* The runs of one that was not timed yet. */
int policy_first_runs(void);
/* A candidate whose run takes longer is not run again in its round. */
double policy_limit_us(double best_us);
/* Is a candidate that takes low_us at least, as the cost model expects, too slow to win against a
 * best with these times?  best_us is 0: there is none. */
bool policy_is_slow(double low_us, double best_us, double best_predicted_us);
double policy_slow_us(double best_us, double best_predicted_us);

#endif
