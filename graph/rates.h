/* How fast a device can be: what the floor of a kernel's time is computed from, and what a GPU's
 * tiles are chosen by. */
#ifndef NEREID_GRAPH_RATES_H
#define NEREID_GRAPH_RATES_H

#include "lang/dtype.h"
#include "runtime/nereid.h"

typedef struct Rates {
  char device[128];  /* "NVIDIA H100 80GB HBM3", "cpu, 16 cores" */
  const char *from;  /* how the bandwidth is known: "declared", "measured by copying" */
  double bandwidth;  /* bytes a second; 0: not known */
  double operations; /* a second, of f32 outside of products; 0: not known */
  int sm;            /* of a GPU, else 0 */
  int processors;    /* its multiprocessors */
  double clock;      /* theirs, in Hz */
} Rates;

/* Of an open device.  On a CPU this takes some tens of milliseconds, for it is measured.  The
 * interpreters have no rates. */
void rates_of_device(Rates *out, nereid_device *d);
/* Of a device by its name.  Where there is no GPU, those of "cuda" are an H200's. */
void rates_of_name(Rates *out, const char *device);
/* Of one GPU of that architecture ("sm_80": an A100); an H200's for one that is not known. */
void rates_of_target(Rates *out, const char *target);
/* The CPU's (graph/rates_cpu.c). */
void rates_of_cpu(Rates *out);

/* Multiplications and additions a second of products whose operands have that dtype. */
double rates_of_product(const Rates *r, DType t);
/* What a multiprocessor does in a clock, as a share of what an H200's does. */
double rates_of_processor(const Rates *r, DType t);

#endif
