/* The parts of an Executable and of an Execution: shared by execute*.c. */
#ifndef NEREID_MODEL_EXECUTE_EXECUTE_STATE_H
#define NEREID_MODEL_EXECUTE_EXECUTE_STATE_H

#include "model/execute/execute.h"
#include "model/execute/recordings.h"
#include "planner/compile/plan_kernels.h"
#include "planner/plan/buffer_pool.h"
#include "planner/plan/call.h"
#include "runtime/device/device.h"
#include "runtime/library/library.h"

/* An argument of a step that is a buffer. */
typedef struct {
  uint32_t step, arg;
} BufferUse;

typedef struct {
  const PlanBuffer *plan;
  int64_t *shape;
  int64_t bytes;
  int64_t room;      /* bytes that there are at `data` */
  char *data; /* where its elements are in this run */
  const char *pointed; /* where the launches have it; NULL: they have it nowhere */
  BufferUse *uses;
  uint32_t nuses;
  char *own;  /* memory that was allocated for it alone; NULL: none yet */
  int64_t own_bytes;
  const Weight *weight;
  bool released; /* a weight that the constant part alone used: its memory is gone */
  bool mapped;   /* a weight that is used where the file is mapped */
  int64_t offset; /* of a temporary: from the pool's start */
  bool written;  /* by a kernel or an update */
  int64_t number; /* of an output that is one: what it is in this run */
  bool aimed;    /* an output that has its memory for this run */
  bool lent;     /* the caller has its memory, before its first step or after its last one */
  void *handle;  /* of a temporary that has such memory */
  uint32_t caller; /* which of the caller's inputs or outputs a lent one is */
} BufferState;

/* A step is a launch of a kernel, or a call of a library. */
typedef struct {
  LibraryCall *call; /* NULL: none was prepared yet */
  int64_t numbers[CALL_ARGS]; /* that it was prepared for */
  LibraryPointers at;
  ReplayCall replay; /* the same for recordings */
  PlanKernel *kernel;
  PlanKernel *launched; /* of which the launch is */
  nereid_launch *launch;
  int *param; /* the image's parameter of each argument; -1: it takes none */
  bool empty; /* an axis of the grid is 0: nothing to do */
} StepState;

/* Memory of a weight or a constant, for all executions. */
typedef struct {
  char *data;
  char *own; /* allocated for it; NULL: `data` is where the file is mapped */
  bool released;
} KeptMemory;

/* `lock` protects `kernels` with the arena, `settled`, `kept`, `stages` and `captured`. */
struct Executable {
  Arena *arena;
  const Plan *plan;
  const Weights *weights;
  Stages *stages; /* NULL: nobody wants to know */
  nereid_device *device;
  bool on_host;    /* the device's memory is the host's */
  bool interprets; /* it checks accesses: each temporary has memory of its own */
  ReplayUse replay;
  pthread_mutex_t lock;
  PlanKernels kernels;
  bool settled;     /* the constant part has run, and `kept` is filled */
  KeptMemory *kept; /* of each buffer */
  const void **borrowed; /* of each buffer: memory of a file, to be returned; NULL: none */
  bool *is_static;  /* of each input: its tensor is the same in all runs */
  Execution *captured; /* the first of those that graphs of the caller's run */
  Execution *main;
};

struct Execution {
  Executable *of;
  Arena *arena;
  const Plan *plan;
  nereid_device *device;
  bool on_host, interprets;
  Sizes *sizes;
  BufferState *buffers;
  StepState *steps;
  MemoryItem *items; /* of temporaries */
  char *pool;        /* of all temporaries; NULL: there is none yet, or the caller has it, or no run
                        goes on, on the host (pools.h) */
  int64_t pool_bytes, pool_used;
  char *pool_at;   /* where temporaries are */
  bool pool_moved; /* launches have them elsewhere */
  nereid_event **marks; /* events before the first step and after each; NULL: not wanted */
  bool settled; /* weights and constants have their memory */
  bool ready;   /* for symbols with the values of `prepared` */
  bool bound;   /* static inputs have their memory */
  bool capturing; /* the run's stream is captured */
  bool captured;  /* a run's was: it is in the executable's list */
  Execution *next_captured;
  bool writes_inputs; /* a kernel or an update writes one */
  int64_t *prepared;
  bool moved;    /* launches were changed since they were last started */
  int64_t *records; /* of all checks of indices; NULL: there are none */
  uint32_t nrecords;
  DeviceWatch watch;
  nereid_run_memory memory; /* zeros: all of it is there before the steps */
  bool lends;               /* memory is taken step by step */
  nereid_tensor *outputs;   /* of a run that lends */
  Recordings recordings;
};

/* ---- execute_memory.c: after sizes are bound, and tensors that the caller passes ---- */

/* Shapes and bytes of all buffers, for the sizes that are bound. */
int execute_measure(Execution *e);
/* Measures again, and allocates more memory for buffers that have grown: sizes that are read may be
 * subtracted from others. */
int execute_measure_again(Execution *e);

/* The weights that the plan names, of the right types. */
int execute_find_weights(Execution *e);
/* Shapes and bytes of all buffers, and memory for weights and temporaries. */
int execute_allocate_buffers(Execution *e);
/* The pool of the caller's that has room for temporaries, or one of ours. */
int execute_place_temporaries(Execution *e, ExecutionMemory given);
/* After a run, or the constant part. */
void execute_leave_pool(Execution *e);
/* After the constant part has run: what it alone uses is freed. */
void execute_release(Execution *e);
/* Weights and constants are the executable's from now on, for all executions.  Under the lock. */
void execute_keep(Execution *e);
/* Takes the addresses of those that are kept.  Under the lock. */
void execute_take_kept(Execution *e);
void execute_free_memory(Execution *e);

/* Reports the first index that runs since the last report found out of range.  What they started
 * has ended. */
int execute_check_records(Execution *e);
/* Checks the executions of this executable that the caller's graphs run. */
int execute_check_captured(Execution *e);
/* The run is captured: others look at its records from now on. */
void execute_note_captured(Execution *e);

/* Can a run use the tensor's data for input i, as far as that shows without kernels? */
int execute_check_input(const Execution *e, uint32_t i, const nereid_tensor *t);
/* The values on the host for which alone the plan is. */
int execute_check_values(const Execution *e, const nereid_tensor *inputs);
/* Makes the buffer of input i the tensor's elements: where they are, or a copy. */
int execute_take_input(Execution *e, uint32_t i, const nereid_tensor *t, nereid_stream *s);
/* After the run: an input that was copied and is written by the model. */
int execute_write_back(Execution *e, uint32_t i, const nereid_tensor *t, nereid_stream *s);
/* Before the run: where output i is written. */
int execute_aim_output(Execution *e, uint32_t i, const nereid_tensor *t);
int execute_give_output(Execution *e, uint32_t i, nereid_tensor *t, nereid_stream *s);

/* ---- lent_memory.c: memory that the caller lends step by step ---- */

typedef int LentMoved(Execution *e, BufferState *b);

bool execute_may_lend(const Execution *e);
/* After inputs have their memory.  Outputs that no step writes, or that are copies, get theirs. */
int execute_lend_begin(Execution *e, nereid_tensor *outputs);
/* Takes memory for the values that step i is the first to use; reports each to `moved`. */
int execute_lend_step(Execution *e, uint32_t i, LentMoved *moved);
/* Gives back the memory of the values that step i was the last to use. */
void execute_lend_end_step(Execution *e, uint32_t i);
/* All that was taken is given back, also after a failure. */
void execute_lend_finish(Execution *e);

/* Is the tensor in memory that is the host's alone? */
bool execute_is_on_host(const nereid_tensor *t);

/* A number's value is known without its kernel. */
bool execute_is_number(const BufferState *b);

static inline BufferState *execute_output(const Execution *e, uint32_t i) {
  return &e->buffers[e->plan->outputs[i]];
}

#endif
