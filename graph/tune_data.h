/* Memory for the buffers of one step, to run its kernel by itself. */
#ifndef NEREID_GRAPH_TUNE_DATA_H
#define NEREID_GRAPH_TUNE_DATA_H

#include "graph/sizes.h"

typedef struct {
  const PlanBuffer *plan;
  char *data;    /* on the device; all bytes are there, though the first may do */
  size_t bytes;
  bool written;  /* by the kernel */
  void *results; /* on the host: what the first choice wrote; NULL: nothing yet */
} TuneBuffer;

typedef struct {
  nereid_device *device;
  TuneBuffer *buffers; /* by argument of the step; those that are no buffers have no memory */
  uint32_t n;
} TuneData;

/* For a step of the plan, at the sizes that are bound; `image` says what the kernel writes. */
int tune_data_new(TuneData *t, Arena *a, nereid_device *d, const Sizes *sizes, const PlanStep *s,
                  const nereid_image *image);
void tune_data_free(TuneData *t);
/* Floats become normal numbers, the same in each call, all else zeros: an index that each table
 * has. */
int tune_data_fill(TuneData *t);
/* Keeps what was written. */
int tune_data_keep(TuneData *t);
/* Is what was written now what was kept, but for the rounding of another order? */
int tune_data_compare(bool *same, const TuneData *t);

#endif
