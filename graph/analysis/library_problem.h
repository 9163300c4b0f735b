/* Products and convolutions that a library could compute (runtime/library/library.h), and who
 * chooses those that it does. */
#ifndef NEREID_GRAPH_ANALYSIS_LIBRARY_PROBLEM_H
#define NEREID_GRAPH_ANALYSIS_LIBRARY_PROBLEM_H

#include "graph/ir/graph.h"
#include "runtime/library/library.h"
#include "runtime/library/library_times.h"

typedef struct {
  const LibraryFunction *function;
  /* The names that records use. */
  const char *signature; /* "bf16 by bf16 to bf16, bias, relu" */
  const char *sizes;     /* "batch=1 m=8192 n=768 k=768 a=768,1 b=1,768"; * for open ones */
  /* The problem for comparisons with others; open sizes are large. */
  TimedProblem timed;
  int capability; /* of the GPU */
  bool open;      /* some size is */
  bool packed;    /* b is a constant, which kernels of ours pack once */
  double copied;  /* bytes that kernels before and after the call move, and a kernel of ours not */
  double speed;   /* bytes a microsecond of the GPU's memory */
  double slower;  /* so many times as long take kernels of ours for its form as for the timed one */
} LibraryProblem;

/* Who decides for each of them. */
typedef struct LibraryChooser {
  nereid_kind kind; /* of the device's code */
  bool (*wants)(void *context, const LibraryProblem *p); /* NULL: all are taken */
  void *context;
} LibraryChooser;

/* The problem of n, a nereid.library_product or a nereid.library_conv. */
LibraryProblem library_problem(Graph *g, Node *n);
/* Bytes of a tensor; of open sizes large ones. */
double library_bytes(const Graph *g, const ValueType *t);
/* Does the graph's chooser want that problem? */
bool library_is_wanted(const Graph *g, const LibraryProblem *p);

/* The tensors of a nereid.library_conv, whatever it computes of them: x[images, height, width,
 * channels], w[features, window, channels of a group], y[images, out, features]. */
typedef struct {
  const ValueType *x, *w, *y;
  Dim stride[2], padding[2], dilation[2], groups;
} LibraryConv;

LibraryConv library_conv_of(Graph *g, const Node *n);
/* May it round its operands, of f32, to TF32? */
bool library_rounds(const Graph *g, const Node *n);

#endif
