/* The functions of nereid.matrix, which kernels/templates/matrix.py and select.py define.  Each
 * takes literal sizes, and reads and writes so many elements for each matrix, or row. */
#ifndef NEREID_GRAPH_OPS_MATRIX_FUNCTIONS_H
#define NEREID_GRAPH_OPS_MATRIX_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MATRIX_ROWS_MAX = 32,   /* rows, and columns: a tile of two axes is one program's */
  SELECT_ROW_MAX = 32768, /* elements of a row that a program selects of: 32 of 1,024 threads */
  MATRIX_SIZES_MAX = 5
};

typedef struct {
  int64_t out, a, with; /* elements; `with` is 0 where the second matrix is not read */
} MatrixElements;

/* False: there is no such function, or the sizes are none of its. */
bool matrix_elements(const char *function, size_t n, const int64_t *sizes, MatrixElements *out);

#endif
