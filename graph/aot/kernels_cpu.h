/* Kernels as C functions. */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stdint.h>

#define MODEL_TARGET "{{target}}"

/* Runs all programs of a grid; `args` has 8 bytes an argument. */
typedef void Kernel(const void *args, const uint32_t grid[3], int threads);

extern Kernel *const model_kernels[]; /* as many as model_plan.nkernels */

#endif
