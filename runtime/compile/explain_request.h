/* Explanations of kernels (lower/cost/explain.h), for requests. */
#ifndef NEREID_RUNTIME_COMPILE_EXPLAIN_REQUEST_H
#define NEREID_RUNTIME_COMPILE_EXPLAIN_REQUEST_H

#include "lower/cost/explain.h"
#include "runtime/compile/estimate_request.h"

/* A compiled kernel, for the time of a call. */
typedef struct {
  const Explanation *explanation;
  const DevicePeaks *peaks;
  const Source *source; /* NULL: its text is not at hand */
  const char *tile, *nest, *thread, *ptx; /* texts of its stages; NULL: there is none */
} Explained;

/* Compiles, and calls `show` with the result, whose text it writes.  A launch whose grid is 0 is
 * not known: then there are no times. */
int explain_kernel(const EstimateLaunch *l, void (*show)(Text *out, const Explained *e),
                   char **text, size_t *size);

#endif
