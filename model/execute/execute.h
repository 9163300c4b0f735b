/* Running plans.
 *
 * model/execute owns the memory, the loaded kernels and the recordings of a plan on a device.  It
 * takes a plan (planner/plan/plan.h), weights and the caller's tensors, and gives outputs, measured
 * times, and the fastest choices of a plan's steps (model/execute/tune_plan.h).
 *
 * An Executable is a plan on a device: its kernels and weights loaded.  An Execution runs it, and
 * has what runs change: launches with their arguments, and temporaries in one pool.  All that
 * depends on sizes is made when a run's inputs have other shapes than the run before; otherwise a
 * run starts its launches and nothing else.
 *
 * An Executable is used by several threads at once, each with an Execution of its own, which are
 * freed before it.  Kernels and weights are theirs together.
 *
 * On the host's devices weights stay where their file is mapped, unless a kernel writes to them.
 *
 * The plan's constant part runs when the first run is prepared; weights that nothing else reads
 * leave the device's memory then. */
#ifndef NEREID_MODEL_EXECUTE_EXECUTE_H
#define NEREID_MODEL_EXECUTE_EXECUTE_H

#include "graph/ir/weight_list.h"
#include "model/nereid_graph.h"
#include "planner/compile/plan_kernels.h"
#include "planner/compile/stages.h"
#include "runtime/nereid.h"

typedef struct Executable Executable;
typedef struct Execution Execution;

/* Which runs start all of their launches at once, where the device can. */
typedef enum {
  REPLAY_NEVER,
  REPLAY_REPEATED, /* those whose sizes come again */
  REPLAY_ALWAYS,   /* mode reduce-overhead */
} ReplayUse;

typedef struct {
  ReplayUse replay;
  bool defer;     /* kernels are compiled when inputs are prepared */
  Stages *stages; /* told of compiling; NULL: nobody is */
  CompileCount count; /* whom to tell how many kernels are compiled */
  const KernelImages *images; /* of kernels that are compiled already; NULL: there are none */
} ExecuteOptions;

/* All that is passed must outlive it; `weights` may be NULL if the plan needs none.  Codes and
 * messages are those of nereid.h. */
int executable_new(Executable **out, const Plan *p, const Weights *weights, nereid_device *d,
                   const ExecuteOptions *options);
void executable_free(Executable *e);
/* Input i is the same tensor in all runs of an execution that come later. */
void executable_set_static(Executable *e, uint32_t i);
/* Its kernels, which are used under its lock. */
void executable_lock(Executable *e);
void executable_unlock(Executable *e);
PlanKernels *executable_kernels(Executable *e);
/* All that do not depend on sizes are compiled, if they were not.  Under the lock. */
int executable_compile(Executable *e);
/* The images of the options are gone. */
void executable_forget_images(Executable *e);
/* The execution that an executable is made with. */
Execution *executable_main(const Executable *e);
/* Another one. */
int execution_new(Execution **out, Executable *of);
/* The execution may be NULL. */
void execution_free(Execution *e);

/* ---- inputs and outputs ---- */

uint32_t executable_inputs(const Executable *e);
uint32_t executable_outputs(const Executable *e);
/* The buffer of an input, NULL if the plan does not use it. */
const PlanBuffer *executable_input(const Executable *e, uint32_t i);
const PlanBuffer *executable_output(const Executable *e, uint32_t i);
/* The sizes of input i, or of a number the number, where the first n inputs are as given, if they
 * have a dtype; what these leave open is chosen. */
int execution_input_follows(Execution *e, const nereid_tensor *given, int n, uint32_t i);
int execution_input_shape(Execution *e, const nereid_tensor *given, int n, uint32_t i,
                          int64_t *shape);

/* ---- running ---- */

/* Refuses inputs that no run takes, before anything is compiled: other dtypes and axes than the
 * plan's, sizes that contradict each other or are too large, and where `data` says so tensors whose
 * data a run could not use.  Outputs can be described then, but have no memory yet. */
int execution_check(Execution *e, const nereid_tensor *inputs, int n, bool data);
/* Did the last check, preparation or run fail as the plan does not hold for these sizes, or for
 * these values of inputs?  Nothing ran then. */
bool execution_refused(const Execution *e);
/* Was it prepared for the last inputs that it was asked about? */
bool execution_is_ready(const Execution *e);
/* Makes all ready for inputs of these shapes (their data is not looked at, but for values on the
 * host for which alone the plan is). */
int execution_prepare(Execution *e, const nereid_tensor *inputs, int n);
/* Describes an output, after execution_check or execution_prepare: dtype and shape, which is valid
 * until the next one; its data is NULL. */
void execution_describe(const Execution *e, uint32_t i, nereid_tensor *out);

/* May a run write to input i?  Known after execution_prepare. */
bool execution_writes(const Execution *e, uint32_t i);

/* Memory of the caller's for the temporaries of one run; zeros: the execution's. */
typedef struct {
  void *pool; /* at a multiple of 256 bytes; NULL: none */
  int64_t pool_bytes;
} ExecutionMemory;

/* Memory that runs take step by step, before the first execution_prepare. */
void execution_set_memory(Execution *e, const nereid_run_memory *m);

/* The inputs that execution_run takes. */
typedef struct {
  const nereid_tensor *inputs;
  int ninputs;
  nereid_tensor *outputs;
  int noutputs;
  nereid_stream *stream;
  ExecutionMemory memory;
} ExecutionCall;

/* Runs the plan.  An output whose data is NULL becomes memory of the execution, valid until its
 * next run. */
int execution_run(Execution *e, const ExecutionCall *c);

/* ---- how long it takes ---- */

/* Both run the plan some times with an event after each step, so that the steps run one by one,
 * also where a run would replay a recording, and print to `out`: a table with the middle one of
 * each step's times (model/report/explain.h), and the first runs as a trace
 * (model/report/trace.h). */
int execution_explain(Execution *e, const ExecutionCall *c, const char *mode, Text *out);
int execution_trace(Execution *e, const ExecutionCall *c, Text *out);

/* Times the same runs: the median of each step's times in us, without the steps `once`. */
int execution_step_times(Execution *e, const ExecutionCall *c, double *us, int *runs);

/* ---- what it takes ---- */

typedef struct {
  int64_t pool;        /* temporaries, all together: exactly the peak */
  int64_t temporaries; /* the same without reuse */
  int64_t weights;     /* copied to the device, or computed from weights once */
  int64_t mapped;      /* used where their file is mapped */
  int64_t inputs, outputs;
  uint32_t kernels, launches;
} ExecutionStatistics;

/* The statistics of the last execution_prepare. */
ExecutionStatistics execution_statistics(const Execution *e);

#endif
