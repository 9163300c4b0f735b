/* From a graph to a plan: passes, fusion, kernels, memory.
 *
 * planner/compile owns the order of the stages and the compiled kernels of a plan.  It takes a
 * graph with types and the options, and gives a plan (planner/plan/plan.h). */
#ifndef NEREID_PLANNER_COMPILE_COMPILE_PLAN_H
#define NEREID_PLANNER_COMPILE_COMPILE_PLAN_H

#include "planner/compile/stages.h"
#include "runtime/device/peaks.h"

typedef enum { TARGET_GPU, TARGET_CPU } GraphTarget;

typedef struct {
  GraphTarget target; /* for the shapes of tiles */
  const DevicePeaks *gpu;   /* the GPU that it is for; NULL: an H200 */
  bool fuse;          /* false: each node a kernel of its own (mode eager) */
  bool freeze;        /* what depends on weights alone is computed once */
  bool unchecked;     /* indices are not checked */
  bool deterministic; /* sums of floats have one order */
  bool asserts;       /* one that is out of range ends the launch */
  bool saves_memory;  /* runs take memory step by step */
  bool early_loads;   /* kernels load what is steady before the one before them has ended */
  Stages *stages;     /* called for each step of the compilation, or NULL */
  const struct LibraryChooser *libraries; /* which products libraries compute; NULL: none */
  unsigned tf32;      /* bits as in Graph; of GPUs alone */
  bool tune;          /* steps have all their choices (mode max-autotune) */
} CompileOptions;

/* The names of the passes that run, with commas between. */
const char *graph_pass_names(Arena *a, const CompileOptions *o);
/* Compiles g, which it changes; g's arena owns the plan.  False after errors (g->diags). */
bool graph_compile(Graph *g, const CompileOptions *options, Plan *out);

#endif
