/* A replay: launches, calls and copies in order that are started together; on a GPU a CUDA graph.
 *
 * A Replay is made from items and keeps their arguments, grid and variant (of a launch), addresses
 * (of a copy), or the work that it started when it was captured (of a call).  Where an item has
 * changed since, replay_set changes its node in place, which costs the host a little for that node
 * alone: inputs at another address are not copied.  Launches must outlive it. */
#ifndef NEREID_RUNTIME_DEVICE_REPLAY_H
#define NEREID_RUNTIME_DEVICE_REPLAY_H

#include "runtime/device/device.h"

/* A function that starts work of its own on a stream: what it started is recorded. */
typedef struct {
  int (*start)(void *context, void *stream);
  void *context;
  uint64_t version; /* another number: it starts something else now */
} ReplayCall;

struct ReplayItem {
  nereid_launch *launch;  /* NULL: a call or a copy */
  const ReplayCall *call; /* NULL: a copy within the device's memory */
  void *to;
  const void *from;
  size_t size;
};

typedef struct Replay Replay;

/* Does the device start many launches at once? */
bool replay_is_supported(const nereid_device *d);

int replay_new(Replay **out, nereid_device *d, const ReplayItem *items, int n);
void replay_free(Replay *r);
/* Are these items of the same kinds, launches of the same kernels, copies of the same sizes? */
bool replay_fits(const Replay *r, const ReplayItem *items, int n);
/* The items, which fit, as they are now. */
int replay_set(Replay *r, const ReplayItem *items, int n);
/* The host's cost of replay_set for these items, in launches: *out. */
int replay_effort(const Replay *r, const ReplayItem *items, int n, int *out);
int replay_run(Replay *r, nereid_stream *s);

#endif
