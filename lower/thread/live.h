/* How many registers a thread will take, about: those whose values are needed later, at the place
 * where there are most of them.  The assembler may do better or worse. */
#ifndef NEREID_LOWER_THREAD_LIVE_H
#define NEREID_LOWER_THREAD_LIVE_H

#include "lower/nest/nest.h"

/* Of level thread, in 32-bit registers. */
int live_registers(Arena *a, const Nest *n);

#endif
