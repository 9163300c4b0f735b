/* Kernels as C functions. */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stdint.h>

/* Runs all programs of a grid; `args` has 8 bytes an argument, and team.h says who runs them. */
struct Team;
typedef void Kernel(const void *args, const uint32_t grid[3], struct Team *team);

typedef struct {
  const char *name;        /* "cpu:8"; NULL ends them */
  Kernel *const *kernels; /* as many as model_plan.nkernels */
} Target;

extern const Target model_targets[];

#endif
