/* Kernels as code for GPUs. */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stddef.h>

typedef struct {
  const char *entry;          /* the function's name in the code */
  const char *ptx;
  const unsigned char *cubin; /* machine code for the target alone; NULL: there is none */
  int threads;                /* of a program */
  int shared;                 /* bytes of shared memory of a program */
} Kernel;

typedef struct {
  const char *name; /* "sm_90a" */
  int sm;           /* 90 */
  int exact;        /* for that architecture alone */
  const Kernel *kernels; /* as many as model_plan.nkernels */
} Target;

extern const Target model_targets[]; /* ends in a NULL name */

#endif
