/* Chrome's trace format: what chrome://tracing and Perfetto show.  Stages of the compilation and
 * its kernels are tracks of one process, runs of the model are one of another. */
#ifndef NEREID_MODEL_REPORT_TRACE_H
#define NEREID_MODEL_REPORT_TRACE_H

#include "model/report/explain.h"
#include "planner/compile/plan_kernels.h"
#include "planner/compile/stages.h"

/* A run: when its first step began, and how long each step took, one after the other. */
typedef struct {
  double begin;     /* stages_now() */
  const double *us; /* of all steps and the updates; steps that run once count nothing */
} TraceRun;

typedef struct {
  const Stages *stages;
  const PlanKernels *kernels;
  const Explanation *explanation;
  const TraceRun *runs;
  uint32_t nruns;
} Trace;

void trace_print(Text *out, const Trace *t);

#endif
