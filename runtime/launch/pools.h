/* Memory of temporaries that those who run one after the other have in turn: a step of training is
 * two graphs, which need theirs at different times. */
#ifndef NEREID_RUNTIME_LAUNCH_POOLS_H
#define NEREID_RUNTIME_LAUNCH_POOLS_H

#include "runtime/device/device.h"

/* One more, and one less, who may take memory: with the last one all of it goes. */
void pools_join(nereid_device *d);
void pools_leave(nereid_device *d);
/* At least `size` bytes of the device that nobody else has until they are given back, *has of them:
 * by one thread those that the last one gave back.  Their contents are anything.  By any thread. */
int pools_take(nereid_device *d, int64_t size, char **out, int64_t *has);
void pools_give_back(nereid_device *d, char *data, int64_t has);

#endif
