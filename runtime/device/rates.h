/* The rates of devices (lower/target/rates.h): what the floor of a kernel's time is computed from,
 * what a GPU's tiles are chosen by, and what the model of times (lower/cost/estimate.h) goes by. */
#ifndef NEREID_RUNTIME_DEVICE_RATES_H
#define NEREID_RUNTIME_DEVICE_RATES_H

#include "lang/base/dtype.h"
#include "lower/target/rates.h"
#include "runtime/nereid.h"

/* Of a device.  A CPU's take some tens of milliseconds, for they are measured, and then kept in the
 * cache.  The interpreters have no rates. */
void rates_of_device(Rates *out, nereid_device *d);
/* Of a device by its name.  Where there is no GPU, those of "cuda" are an H200's. */
void rates_of_name(Rates *out, const char *device);
/* Of one GPU of that architecture ("sm_80": an A100); an H200's for one that is not known. */
void rates_of_target(Rates *out, const char *target);
/* The CPU's (runtime/device/rates_cpu.c). */
void rates_of_cpu(Rates *out);

/* Multiplications and additions a second of products whose operands have that dtype. */
double rates_of_product(const Rates *r, DType t);
/* What a multiprocessor does in a clock, as a share of what an H200's does. */
double rates_of_processor(const Rates *r, DType t);

#endif
