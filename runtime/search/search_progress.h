/* How far a search is, as the API tells it. */
#ifndef NEREID_RUNTIME_SEARCH_SEARCH_PROGRESS_H
#define NEREID_RUNTIME_SEARCH_SEARCH_PROGRESS_H

#include "runtime/compile/config.h"
#include "runtime/search/search.h"

/* The candidate that was told as the best, whose configuration need not be read again. */
typedef struct {
  const Candidate *best;
  Config config;
} Told;

/* A candidate for the API; its texts are kept as long as those of both. */
void candidate_show(nereid_candidate *out, const Candidate *c, const Config *config);
/* Problem p is searched; `done` and `measured` count candidates of all problems. */
void progress_tell(const Search *s, const SearchProblem *p, size_t done, size_t measured,
                   Told *told);

#endif
