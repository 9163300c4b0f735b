/* Arrays in host memory: what values and NumPy files are made of. */
#ifndef NEREID_RUNTIME_SUPPORT_ARRAY_H
#define NEREID_RUNTIME_SUPPORT_ARRAY_H

#include <stdbool.h>

#include "lang/base/dtype.h"
#include "runtime/support/error.h"

enum { ARRAY_MAX_RANK = 32 };

/* Compact, row-major; `data` is aligned to 256 bytes and freed with free(). */
typedef struct {
  DType dtype;
  int rank;
  int64_t shape[ARRAY_MAX_RANK];
  bool is_complex; /* the last axis has the two parts of complex numbers */
  int64_t count;   /* of elements */
  size_t bytes;
  void *data;
} Array;

/* Sets count and bytes from the shape. */
int array_measure(Array *a);
/* Measures and allocates; the contents are unset. */
int array_new(Array *a);
/* The dtype changes, numbers stay: floats are rounded, integers must fit. */
int array_convert(Array *a, DType to);
double array_get(const Array *a, int64_t i);

/* The dtype as DLPack says it, and the other way round (DT_NONE: we have none). */
nereid_dl_dtype array_dl_dtype(DType t);
DType array_dtype(nereid_dl_dtype dl);
/* The dtype of the parts of complex numbers; DT_NONE of others. */
DType array_complex_part(nereid_dl_dtype dl);
nereid_dl_dtype array_complex_dl_dtype(DType part);

/* Runs fill(context, begin, end) over 0 <= begin < end <= n in pieces, on all cores if it is
 * much.  Pieces begin at even numbers. */
void array_for(int64_t n, void (*fill)(void *context, int64_t begin, int64_t end), void *context);

/* ---- npy.c ---- */

/* Reads a NumPy file (versions 1 to 3). */
int npy_read(Array *out, const char *path);
/* Writes one under a temporary name and renames it; bf16 and fp8 are widened to f32. */
int npy_write(const Array *a, const char *path);

#endif
