/* Mode reduce-overhead: the launches of a run are recorded for each combination of sizes, and
 * started all at once.
 *
 * A recording takes in what a run does between its inputs and its outputs: launches and updates.
 * When a tensor lies elsewhere than in the run before, the nodes that take it are changed; the
 * tensor is not copied.  So many recordings are kept as RECORDINGS_MAX says, and what was not used
 * for longest makes way. */
#ifndef NEREID_GRAPH_EXECUTE_RECORDING_H
#define NEREID_GRAPH_EXECUTE_RECORDING_H

#include "runtime/device/replay.h"

enum { RECORDINGS_MAX = 16 };

typedef struct {
  int64_t *sizes; /* values of all symbols; NULL: free */
  Replay *replay;
  uint64_t used; /* when it was last */
} Recording;

typedef struct {
  nereid_device *device;
  uint32_t nsizes;
  Recording list[RECORDINGS_MAX];
  const Recording *last; /* of the run before */
  uint64_t clock;
  ReplayItem *items; /* of the run that is being started */
  int nitems;
} Recordings;

/* `items` has room for all launches and copies of a run. */
void recordings_new(Recordings *r, nereid_device *d, uint32_t nsizes, ReplayItem *items);
void recordings_free(Recordings *r);

/* Starts r->items.  `moved`: something of them has changed since the run before. */
int recordings_run(Recordings *r, const int64_t *sizes, bool moved, nereid_stream *s);

/* How many are kept. */
int recordings_count(const Recordings *r);

#endif
