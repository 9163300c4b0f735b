/* The start of a kernel: from arguments and a grid to what the device takes.
 *
 * A launch object keeps its Start from one time to the next; nereid_kernel_run() has one for the
 * length of a call, in memory of its own. */
#ifndef NEREID_RUNTIME_LAUNCH_START_H
#define NEREID_RUNTIME_LAUNCH_START_H

#include "runtime/device/device.h"

#define LAUNCH_FLAGS ((unsigned)(NEREID_LAUNCH_PDL | NEREID_LAUNCH_COOPERATIVE))

/* The most slots that a variant of the kernel has. */
int start_slots(const nereid_kernel *k);
/* Bytes of a start's arrays. */
size_t start_bytes(const nereid_kernel *k);
/* Arrays in that memory, which is aligned for 8 bytes; their contents are left as they are. */
void start_init(Start *s, nereid_kernel *k, void *memory);

/* The address of `bytes` bytes for that slot of the chosen variant. */
typedef int ProvideScratch(void *context, void **out, int slot, size_t bytes, bool zeroed);

/* Chooses the variant and fills its slots, after arguments, values, extents and the grid. */
int start_prepare(Start *s, ProvideScratch *provide, void *context);

#endif
