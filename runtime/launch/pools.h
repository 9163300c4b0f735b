/* Memory of temporaries that those who run one after the other have in turn: a step of training is
 * two graphs, which need theirs at different times. */
#ifndef NEREID_RUNTIME_LAUNCH_POOLS_H
#define NEREID_RUNTIME_LAUNCH_POOLS_H

#include "runtime/device/device.h"

/* Say that one more, or one less, may take memory, all of which goes with the last. */
void pools_join(nereid_device *d);
void pools_leave(nereid_device *d);
/* Gives at least `size` bytes of the device, *has of them, that nobody else has until they are
 * given back; a thread alone gets those that were given back last.  Their contents are anything.
 * Any thread may call it. */
int pools_take(nereid_device *d, int64_t size, char **out, int64_t *has);
void pools_give_back(nereid_device *d, char *data, int64_t has);

#endif
