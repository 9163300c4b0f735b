/* The problem of a tuner: a kernel, its arguments, and its grid. */
#ifndef NEREID_RUNTIME_TUNE_PROBLEM_H
#define NEREID_RUNTIME_TUNE_PROBLEM_H

#include "runtime/launch/argument_texts.h"
#include "runtime/compile/config.h"

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

/* The constexpr's value, where the request fixes it; else NULL. */
const char *problem_fixed(const Problem *p, const char *name);

/* A complete request for one configuration, in the problem's arena. */
nereid_request problem_request(const Problem *p, const Config *c);
/* Integers among arguments and constexprs of a complete request; *n of them. */
const nereid_binding *problem_bindings(const Problem *p, const nereid_request *r, int *n);

#endif
