/* Which products are calls of a library (runtime/library/library.h). */
#ifndef NEREID_GRAPH_PASSES_CHOOSE_LIBRARIES_H
#define NEREID_GRAPH_PASSES_CHOOSE_LIBRARIES_H

#include "graph/ir/graph.h"
#include "runtime/library/library.h"

/* A product that a library could take, as records call it. */
typedef struct {
  const LibraryFunction *function;
  const char *signature; /* "bf16 by bf16 to bf16, bias, relu" */
  const char *sizes;     /* "batch=1 m=8192 n=768 k=768 a=768,1 b=1,768"; * for open ones */
} LibraryProblem;

/* Who decides for each of them. */
typedef struct LibraryChooser {
  nereid_kind kind; /* of the device's code */
  bool (*wants)(void *context, const LibraryProblem *p); /* NULL: all are taken */
  void *context;
} LibraryChooser;

/* The problem of n, a nereid.library_product. */
LibraryProblem library_problem(Graph *g, Node *n);

#endif
