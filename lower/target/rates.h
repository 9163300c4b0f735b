/* How fast a device can be: one record, filled by runtime/device/rates.h, read by all that predicts
 * or explains times.  What a processor (a multiprocessor, a core) does in a clock counts a fused
 * multiply-add as two operations. */
#ifndef NEREID_LOWER_TARGET_RATES_H
#define NEREID_LOWER_TARGET_RATES_H

#include <stdint.h>

typedef struct Rates {
  char device[128];  /* "NVIDIA H100 80GB HBM3", "cpu, 16 cores" */
  const char *from;  /* how the bandwidth is known: "declared", "measured by copying" */
  double bandwidth;  /* bytes a second; 0: not known */
  double operations; /* a second, of f32 outside of products; 0: not known */
  int sm;            /* of a GPU, else 0 */
  int processors;
  double clock;      /* theirs, in Hz; 0: not known */
  double f32, f16, f8; /* a processor's in a clock, products of that dtype; of a GPU */
  int64_t cache;     /* bytes of the last cache before memory; 0: not known */
  int64_t shared;    /* bytes of shared memory of a multiprocessor */
  int threads;       /* that a multiprocessor holds */
} Rates;

#endif
