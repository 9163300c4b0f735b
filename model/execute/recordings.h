/* Recordings: the launches of a run, as they are for a combination of sizes, started all at once.
 *
 * A recording has the work of a run between its inputs and its outputs: launches and updates.  When
 * a tensor has another address than in the run before, the recording's nodes that take it are
 * changed; the tensor is not copied.  At most RECORDINGS_MAX recordings are kept; the least
 * recently used one is evicted. */
#ifndef NEREID_MODEL_EXECUTE_RECORDINGS_H
#define NEREID_MODEL_EXECUTE_RECORDINGS_H

#include "model/execute/execute.h"
#include "runtime/device/replay.h"

enum { RECORDINGS_MAX = 16 };

typedef struct {
  int64_t *sizes; /* values of all symbols; NULL: free */
  Replay *replay; /* NULL: none was made yet */
  uint64_t used;  /* when it was last */
  uint64_t runs;  /* of these sizes, also those that were not replayed */
  int patience, waited; /* runs that it is left as it is, and those that it was */
} Recording;

typedef struct {
  nereid_device *device;
  uint32_t nsizes;
  ReplayUse use;
  bool refused; /* the device could not record what it may run */
  Recording list[RECORDINGS_MAX];
  const Recording *last; /* whose nodes are as the items of the run before */
  uint64_t clock;
  ReplayItem *items; /* of the run that is being started */
  int nitems;
} Recordings;

/* `items` has room for all launches and copies of a run. */
void recordings_new(Recordings *r, nereid_device *d, ReplayUse use, uint32_t nsizes,
                    ReplayItem *items);
void recordings_free(Recordings *r);
/* Starts r->items, which are of these sizes.  *started is false where it is for the caller to start
 * them one by one: with REPLAY_REPEATED the first runs of their sizes, those whose memory is
 * elsewhere each time, and all if the device can't record them.  `moved`: something of them has
 * changed since the run before. */
int recordings_run(Recordings *r, const int64_t *sizes, bool moved, nereid_stream *s,
                   bool *started);

#endif
