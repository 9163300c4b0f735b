/* The peaks of a device, its greatest rates: one record, filled by runtime/device/peaks.h, read by
 * everything that predicts or explains times.  The rates of a processor (a multiprocessor, a core)
 * are operations in a clock; a fused multiply-add counts as two. */
#ifndef NEREID_LOWER_TARGET_DEVICE_PEAKS_H
#define NEREID_LOWER_TARGET_DEVICE_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct DevicePeaks {
  char device[128];  /* "NVIDIA H100 80GB HBM3", "cpu, 16 cores" */
  char from[32];     /* how the bandwidth is known: "declared", "measured 2026-11-28" */
  double bandwidth;  /* bytes a second; 0: not known */
  double operations; /* a second, of f32 outside of products; 0: not known */
  int sm;            /* of a GPU, else 0 */
  int processors;
  double clock;      /* theirs, in Hz; 0: not known */
  double f32, f16, f8; /* a processor's in a clock, products of that dtype; of a GPU */
  int64_t cache;     /* bytes of the last cache before memory; 0: not known */
  int64_t shared;    /* bytes of shared memory of a multiprocessor */
  int threads;       /* that a multiprocessor holds */
} DevicePeaks;

enum { SM_HOPPER = 90 };

/* Has the GPU products of warpgroups (wgmma)?  Hopper alone has. */
static inline bool device_has_warpgroups(const DevicePeaks *d) { return d->sm == SM_HOPPER; }

#endif
