/* How long a search waits for a kernel that it measures. */
#ifndef NEREID_RUNTIME_SEARCH_PATIENCE_H
#define NEREID_RUNTIME_SEARCH_PATIENCE_H

#include "runtime/search/search.h"

/* In seconds: what takes longer hangs.  best_us: of what has run; 0: nothing.  doubtful: the model
 * is not believed about how long the candidate takes. */
double patience_wanted(const Candidate *c, int runs, double best_us, bool doubtful);
/* What the budget leaves of it. */
double patience_left(const Search *s, double wanted);
/* How many of the runs the budget has room for, of a candidate that has run; at least one. */
int patience_runs(const Search *s, const Candidate *c, int runs);

#endif
