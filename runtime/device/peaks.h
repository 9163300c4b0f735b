/* The peaks of devices (lower/target/device_peaks.h): the floor of a kernel's time is computed from
 * them, a GPU's tiles are chosen by them, and the cost model (lower/cost/estimate.h) reads
 * them. */
#ifndef NEREID_RUNTIME_DEVICE_PEAKS_H
#define NEREID_RUNTIME_DEVICE_PEAKS_H

#include "lang/base/dtype.h"
#include "lower/target/device_peaks.h"
#include "runtime/nereid.h"

/* The peaks of a device.  The CPU's are measured, which takes half a second, and kept in the cache
 * with the date.  The interpreters have no peaks. */
void peaks_of_device(DevicePeaks *out, nereid_device *d);
/* The peaks of a device by its name.  Where there is no GPU, "cuda" has an H200's. */
void peaks_of_name(DevicePeaks *out, const char *device);
/* The peaks of one GPU of that architecture ("sm_80": an A100); an H200's for an unknown one. */
void peaks_of_target(DevicePeaks *out, const char *target);
/* The CPU's (runtime/device/peaks_cpu.c). */
void peaks_of_cpu(DevicePeaks *out);

/* Multiplications and additions a second of products whose operands have that dtype. */
double peaks_of_product(const DevicePeaks *r, DType t);
/* Operations of a multiprocessor in a clock, relative to an H200's. */
double peaks_of_processor(const DevicePeaks *r, DType t);

#endif
