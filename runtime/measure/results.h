/* Do two kernels that compute the same give the same?  Sums in another order differ in the last
 * places of their dtype; all else is another result. */
#ifndef NEREID_RUNTIME_MEASURE_RESULTS_H
#define NEREID_RUNTIME_MEASURE_RESULTS_H

#include <stdbool.h>

#include "lang/base/dtype.h"

/* n elements each.  Floats: |a - b| is at most the dtype's tolerance times |b| and the root mean
 * square of b together (1e-3 for f32, whose products may be rounded to tf32; 2e-2 for bf16; 4e-3
 * for f16; a quarter for 8 bits; 1e-9 for f64), and what is not finite is the same.  Other dtypes:
 * bit by bit. */
bool results_same(DType t, const void *a, const void *b, int64_t n);

#endif
