/* Properties of a GPU, cached by an earlier run: its driver takes a fifth of a second to be asked.
 *
 * The answer of the driver is kept in the cache under all that it can depend on: the driver's
 * version, the GPUs and their partitions as the system lists them in /proc/driver/nvidia, and the
 * variables that choose among them.  Where there is no such list, nothing is known. */
#ifndef NEREID_RUNTIME_DEVICE_CUDA_KNOWN_H
#define NEREID_RUNTIME_DEVICE_CUDA_KNOWN_H

#include "runtime/device/device.h"

/* Fills in the information, description, target and name of that GPU; false: it is not known. */
bool cuda_known(nereid_device *d, int ordinal);
/* Keeps them for later runs. */
void cuda_know(const nereid_device *d, int ordinal);

#endif
