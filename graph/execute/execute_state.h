/* What an Executable is made of: shared by execute*.c. */
#ifndef NEREID_GRAPH_EXECUTE_EXECUTE_STATE_H
#define NEREID_GRAPH_EXECUTE_EXECUTE_STATE_H

#include "graph/execute/execute.h"
#include "graph/compile/plan_kernels.h"
#include "graph/plan/buffer_pool.h"
#include "graph/execute/recording.h"
#include "runtime/device/device.h"

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
  bool written;  /* by a kernel or an update */
  bool aimed;    /* an output that has its memory for this run */
} BufferState;

typedef struct {
  PlanKernel *kernel;
  PlanKernel *launched; /* of which the launch is */
  nereid_launch *launch;
  int *at;    /* the image's parameter of each argument; -1: it takes none */
  bool empty; /* an axis of the grid is 0: nothing to do */
} StepState;

struct Executable {
  Arena *arena;
  const Plan *plan;
  const Weights *weights;
  Stages *stages; /* NULL: nobody wants to know */
  nereid_device *device;
  bool on_host;    /* the device's memory is the host's */
  bool interprets; /* it checks accesses: each temporary has memory of its own */
  PlanKernels kernels;
  Sizes *sizes;
  BufferState *buffers;
  StepState *steps;
  MemoryItem *items; /* of temporaries */
  char *pool;
  int64_t pool_bytes, pool_used;
  nereid_event **marks; /* recorded before the first step and behind each; NULL: nobody asked */
  bool settled; /* the constant part has run */
  bool ready;   /* for symbols with the values of `prepared` */
  int64_t *prepared;
  bool moved;    /* launches were changed since they were last started */
  int64_t *records; /* of all checks of indices; NULL: there are none */
  uint32_t nrecords;
  DeviceWatch watch;
  bool replays;  /* mode reduce-overhead */
  Recordings recordings;
};

/* ---- execute.c ---- */

/* Makes the steps from `first` on ready for sizes that have changed; memory stays where it is. */
int execute_resize(Executable *e, uint32_t first);

/* ---- execute_memory.c: after sizes are bound ---- */

/* Shapes and bytes of all buffers, for the sizes that are bound. */
int execute_measure(Executable *e);
/* The same, and more memory for those that have grown since they were placed: sizes that are read
 * may be taken off others. */
int execute_measure_again(Executable *e);

/* The weights that the plan names, of the right types. */
int execute_find_weights(Executable *e);
/* Shapes and bytes of all buffers, and memory for weights and temporaries. */
int execute_place(Executable *e);
/* After the constant part has run: what it alone uses is freed. */
void execute_release(Executable *e);
/* Memory of the buffer's own, of b->bytes. */
int execute_own(Executable *e, BufferState *b);
void execute_free_memory(Executable *e);

/* ---- execute_records.c: indices that were out of range ---- */

/* Memory for the records of all checks, which says that there are none. */
int execute_place_records(Executable *e);
/* Reports the first index that runs since the last report found out of range.  What they started
 * has ended. */
int execute_check_records(Executable *e);
void execute_free_records(Executable *e);

/* ---- execute_tensors.c: what the caller passes ---- */

/* Can a run use the tensor's data for input i, as far as that shows without kernels? */
int execute_check_input(const Executable *e, uint32_t i, const nereid_tensor *t);
/* Makes the buffer of input i the tensor's elements: where they are, or a copy. */
int execute_take_input(Executable *e, uint32_t i, const nereid_tensor *t, nereid_stream *s);
/* After the run: an input that was copied and is written by the model. */
int execute_write_back(Executable *e, uint32_t i, const nereid_tensor *t, nereid_stream *s);
/* Before the run: where output i is written. */
int execute_aim_output(Executable *e, uint32_t i, const nereid_tensor *t);
int execute_give_output(Executable *e, uint32_t i, nereid_tensor *t, nereid_stream *s);

/* ---- execute_start.c: from buffers to running launches ---- */

/* Once: which arguments each buffer is. */
void execute_find_uses(Executable *e);
/* After launches were made: each gets the places of all buffers that have one. */
int execute_point_all(Executable *e);
/* Steps `from` to `to`, which know their buffers. */
int execute_steps(Executable *e, uint32_t from, uint32_t to, nereid_stream *s);
/* All that a run does between its inputs and its outputs. */
int execute_start(Executable *e, nereid_stream *s);

static inline BufferState *execute_output(const Executable *e, uint32_t i) {
  return &e->buffers[e->plan->outputs[i]];
}

#endif
