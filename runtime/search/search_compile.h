/* Compiling a search's candidates on all cores, ahead of their being measured. */
#ifndef NEREID_RUNTIME_SEARCH_SEARCH_COMPILE_H
#define NEREID_RUNTIME_SEARCH_SEARCH_COMPILE_H

#include "runtime/search/search.h"

typedef struct SearchCompiler SearchCompiler;

typedef struct {
  size_t candidate; /* of its problem */
  bool pruned;      /* the model says that it is slower than the limit; it was not compiled */
  char *code;       /* the bytes of an image, for nereid_text_free(); NULL: it can't be compiled */
  size_t size;
  CacheKey key;  /* of the code, as the compiler wrote it */
  int failure;   /* nereid_code */
  char *message; /* malloc'ed */
} CompiledCandidate;

/* Starts with the candidates that are not known, problem by problem. */
int search_compiler_start(SearchCompiler **out, const Search *s);
/* Waits for the problem's next one that is ready; false: there are no more.  At the search's end it
 * stops. */
bool search_compiler_next(SearchCompiler *c, const SearchProblem *p, CompiledCandidate *out);
/* Candidates of the problem that take longer, whatever the model's error, are not compiled any
 * more. */
void search_compiler_limit(SearchCompiler *c, const SearchProblem *p, double us);
/* No further candidate is begun; those that were are given up. */
void search_compiler_stop(SearchCompiler *c);
/* The machine code of each problem's best goes to the cache. */
void search_compiler_keep(SearchCompiler *c);
void search_compiler_free(SearchCompiler *c);

#endif
