/* Ahead-of-time compilation: a plan as a C project of its own (`nereid build`).
 *
 * This folder owns the project's text.  It takes a plan, the weights and targets, and gives a
 * folder that a C compiler alone builds: the files of model/aot/runtime/ and a few headers of
 * Nereid's own runtime, which are the same for all models and embedded as text (PROJECT_FILES in
 * the Makefile), then the plan and the kernels as C, and the weights.
 *
 * All kernels are compiled here: a plan's integers are specialized on the ranges of their
 * expressions (planner/compile/plan_kernels.h), so no run needs another kernel.  Symbols without an
 * upper limit get one, so that no expression of sizes overflows in the 64 bits of the C text. */
#ifndef NEREID_MODEL_AOT_PROJECT_H
#define NEREID_MODEL_AOT_PROJECT_H

#include "graph/ir/weight_list.h"
#include "planner/compile/compile_count.h"
#include "planner/plan/plan.h"
#include "runtime/nereid.h"

typedef struct {
  const char *dir;
  const char *targets; /* "sm_90a,sm_80", or "cpu" */
  const char *model;   /* the file, for comments */
  const char *name;    /* bert: functions are bert_run() ...; NULL: model_run() */
  bool replay;        /* mode reduce-overhead: runs become CUDA graphs */
  bool embed_weights;  /* `make` links them into the program, unless told otherwise */
  bool ptx_only;       /* no machine code, even if there is an assembler */
  CompileCount count;  /* called with the number of compiled kernels */
} ProjectOptions;

/* Are all targets GPUs, or is it one CPU?  Fails for others. */
int project_targets(const char *targets, bool *gpu);

typedef struct Project Project;

/* A project of the plan, after all is checked that can be without compiling: the name and the
 * folder, the sizes, and the weights (which may be NULL).  All that is passed must outlive it. */
int project_new(Project **out, Plan *p, const Weights *weights, const ProjectOptions *o);
/* Compiles the plan's kernels, in the tiles that its steps have now, and writes the project; the
 * folder appears when it is complete. */
int project_write(Project *p);
/* The project may be NULL. */
void project_free(Project *p);

#endif
