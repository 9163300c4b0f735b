/* The rounds of a search for one of its problems. */
#ifndef NEREID_RUNTIME_SEARCH_SEARCH_ROUNDS_H
#define NEREID_RUNTIME_SEARCH_SEARCH_ROUNDS_H

#include "runtime/search/search_progress.h"
#include "runtime/search/search_compile.h"

/* Shared by the problems of a search. */
typedef struct {
  Search *search;
  Measurer *measurer;
  SearchCompiler *compiler;
  size_t done, measured; /* candidates of all problems */
  Told told;
} SearchWork;

/* Measures the problem's candidates that are not known, as they are compiled. */
int search_rounds(SearchWork *w, SearchProblem *p);
/* Is the candidate slower for the model than what can win against one with these times?  0: there
 * is none, or the model says nothing of it. */
bool search_is_slow(const Candidate *c, double best_us, double best_predicted_us);

#endif
