/* Kernels' code in the cache on disk, from before the driver or the C compiler: a model that is
 * compiled again finds its kernels there, by all that they are made from. */
#ifndef NEREID_GRAPH_COMPILE_KERNEL_CACHE_H
#define NEREID_GRAPH_COMPILE_KERNEL_CACHE_H

#include "graph/compile/plan_kernels.h"

/* Opens it where the device runs code that is worth keeping. */
void kernel_cache_open(PlanKernels *k);
/* NULL: it is not there, or cannot be, as what is compiled from a file that may import others. */
nereid_image *kernel_cache_get(const PlanKernels *k, const PlanKernel *p);
/* Keeps the images that were made: those of p[i] that the cache takes and did not have. */
void kernel_cache_put(const PlanKernels *k, PlanKernel *const *p, nereid_image *const *images,
                      size_t n);

#endif
