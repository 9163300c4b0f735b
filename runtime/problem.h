/* What a tuner looks for the fastest form of: a kernel, its arguments, and its grid. */
#ifndef NEREID_RUNTIME_PROBLEM_H
#define NEREID_RUNTIME_PROBLEM_H

#include "runtime/config.h"
#include "runtime/error.h"

typedef struct {
  const char *name, *text;    /* NAME=VALUE */
  nereid_value *value;        /* an outline: arrays have no elements */
  const nereid_value *array;  /* its own, or of the argument that it is an alias of */
  const nereid_param *param;
  const char *type;           /* what the kernel is compiled for */
} ProblemArg;

typedef struct {
  Arena *arena;
  nereid_request request;     /* as it was asked for */
  nereid_module *module;
  const nereid_kernel_info *info;
  ProblemArg *args; /* in the kernel's order */
  int nargs;
  const char *grid;
} Problem;

/* The arguments are checked against the kernel's parameters. */
int problem_open(Problem *p, Arena *a, const nereid_tune_request *r);
void problem_close(Problem *p);

/* The dtype that a number's text is cast to: "" if it keeps its own. */
const char *problem_cast(const ProblemArg *a);
/* The constexpr's value, where the request fixes it; else NULL. */
const char *problem_fixed(const Problem *p, const char *name);

/* A complete request for one configuration, in the problem's arena. */
nereid_request problem_request(const Problem *p, const Config *c);
/* The grid of a complete request. */
int problem_grid(const Problem *p, const nereid_request *r, uint32_t grid[3]);
/* Integers among arguments and constexprs of a complete request; *n of them. */
nereid_binding *problem_bindings(const Problem *p, const nereid_request *r, int *n);

#endif
