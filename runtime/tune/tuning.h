/* The state of a tuning in progress, shared by the files tune*.c.
 *
 * runtime/tune owns the API of runtime/nereid_tune.h.  It takes a kernel with its arguments and a
 * space of configurations, makes a problem and candidates of them for runtime/search,
 * and gives the candidates ranked. */
#ifndef NEREID_RUNTIME_TUNE_TUNING_H
#define NEREID_RUNTIME_TUNE_TUNING_H

#include "runtime/compile/config.h"
#include "runtime/launch/argument_texts.h"
#include "runtime/launch/decorators.h"
#include "runtime/search/tuner.h"

/* The problem of a tuner: a kernel, its arguments, and its grid. */
typedef struct {
  Arena *arena;
  nereid_request request; /* as it was asked for */
  nereid_module *module;
  const nereid_kernel_info *info;
  Arguments args;     /* outlines */
  const char **types; /* of each: what the kernel is compiled for */
  const char *grid;
} Problem;

/* The arguments are checked against the kernel's parameters. */
int problem_open(Problem *p, Arena *a, const nereid_tune_request *r);
void problem_close(Problem *p);

typedef struct {
  const nereid_tune_request *request;
  Arena *arena;
  Problem problem;
  nereid_device *device;  /* described: it runs nothing */
  nereid_tune_axis *axes; /* of the request, those that count on the device */
  int naxes;
  Decorators *decorators;
  DecoratorSpace space; /* of the kernel's decorators; empty unless it was asked for */
  Configs configs;
  Candidate *candidates; /* of each configuration */
  SearchProblem found;   /* what is searched, and what was found */
  Search search;         /* of that problem alone */
  DevicePeaks peaks;           /* of the device, where the model was asked; else zeros */
  double begin;
} Tuning;

/* Names what is searched as records do. */
void tune_name(Tuning *t);
/* Finds its candidates, and what they are measured with. */
int tune_candidates(Tuning *t);

#endif
