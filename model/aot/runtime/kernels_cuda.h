/* Kernels as code for GPUs. */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stddef.h>

/* A number of a launch: `scale`, times an integer argument if there is one. */
typedef struct {
  long long scale;
  int arg; /* -1: none */
} MapNumber;

/* A tensor of which the kernel copies boxes (boxed_tensor.h). */
typedef struct {
  int pointer; /* an argument */
  int bytes;   /* of an element */
  int rank;
  unsigned box[5];     /* elements, innermost axis first; so are the next */
  MapNumber extent[5]; /* elements */
  MapNumber stride[5]; /* bytes */
  int natural[4], nnatural; /* arguments from 0 to 2^30 */
} Map;

typedef struct Kernel Kernel;
struct Kernel {
  const char *entry;          /* the function's name in the code */
  const char *ptx;
  const unsigned char *cubin; /* machine code for the target alone; NULL: there is none */
  int threads;                /* of a thread block */
  int cluster;                /* thread blocks of a program */
  int shared;                 /* bytes of shared memory of a thread block */
  const Map *maps;            /* the kernel takes them after its arguments */
  int nmaps;
  const Kernel *plain; /* the kernel without maps, for launches whose tensors the hardware does not
                          take; NULL: it has no maps */
};

typedef struct {
  const char *name; /* "sm_90a" */
  int sm;           /* 90 */
  int exact;        /* for that architecture alone */
  const Kernel *kernels; /* as many as model_plan.nkernels */
} Target;

extern const Target model_targets[]; /* ends in a NULL name */

#endif
