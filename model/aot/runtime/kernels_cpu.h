/* Kernels as C functions. */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stdint.h>

#define MODEL_TARGET "{{target}}"

/* Runs all programs of a grid; `args` has 8 bytes an argument, and team.h says who runs them. */
struct Team;
typedef void Kernel(const void *args, const uint32_t grid[3], struct Team *team);

extern Kernel *const model_kernels[]; /* as many as model_plan.nkernels */

#endif
