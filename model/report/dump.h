/* The results of a compilation, as files of a folder (planner/compile/stages.h). */
#ifndef NEREID_MODEL_REPORT_DUMP_H
#define NEREID_MODEL_REPORT_DUMP_H

#include "planner/compile/plan_kernels.h"
#include "planner/compile/stages.h"

/* The graph as it was read, and drawn. */
void dump_import(Stages *s, const Graph *g);
/* The plan, its fusion and its kernel file; the graph drawn with its kernels. */
void dump_plan(Stages *s, const Plan *p);
/* Kernels were compiled since `begin`.  Each one that is new since the last call is dumped in its
 * stages up to the code that the device runs: "12_k0_add.tile", "13_k0_add.nest", ...  `s` may be
 * NULL. */
int dump_kernels(Stages *s, PlanKernels *k, double begin);

#endif
