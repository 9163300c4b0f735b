/* The part of device cuda that others ask for. */
#ifndef NEREID_RUNTIME_DEVICE_CUDA_DEVICE_H
#define NEREID_RUNTIME_DEVICE_CUDA_DEVICE_H

#include "runtime/device/device.h"

/* PTX to machine code by the driver, for the device's own target only.  *out is malloc'ed. */
int cuda_assemble(nereid_device *d, char **out, size_t *size, const char *ptx, size_t len,
                  const char *target);

#endif
