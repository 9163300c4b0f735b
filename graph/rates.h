/* How fast a device can be: what the floor of a kernel's time is computed from. */
#ifndef NEREID_GRAPH_RATES_H
#define NEREID_GRAPH_RATES_H

#include "lang/dtype.h"
#include "runtime/nereid.h"

typedef struct {
  char device[128];    /* "NVIDIA H100 80GB HBM3", "cpu, 16 cores" */
  const char *from;    /* how the bandwidth is known: "declared", "measured by copying" */
  double bandwidth;    /* bytes a second; 0: not known */
  double operations;   /* a second, of f32 outside of products; 0: not known */
  int sm;              /* of a GPU, else 0 */
  double clocks;       /* a second, of all its multiprocessors together */
} Rates;

/* Of an open device.  On a CPU this takes some tens of milliseconds, for it is measured.  The
 * interpreters have no rates. */
void rates_of_device(Rates *out, nereid_device *d);
/* Of a device by its name.  Where there is no GPU, those of "cuda" are an H100's. */
void rates_of_name(Rates *out, const char *device);

/* Multiplications and additions a second of products whose operands have that dtype. */
double rates_of_product(const Rates *r, DType t);

#endif
