/* Calls of nereid.matrix, whose programs compute with one small matrix each. */
#ifndef NEREID_DECOMPOSE_LINALG_MATRICES_H
#define NEREID_DECOMPOSE_LINALG_MATRICES_H

#include "graph/builders/node_builder.h"

/* A batch of matrices: tensors of [batch axes, rows, columns]. */
typedef struct {
  uint32_t rank; /* of the batch axes */
  Dim shape[GRAPH_RANK_MAX];
  Dim n; /* how many matrices these are */
} Batch;

Batch batch_of(Build *b, const Node *a);
/* The size of the last axis for back = 1, of the one before it for 2: a number that a kernel's tile
 * has room for. */
int64_t matrix_size(Build *b, const Node *a, uint32_t back);
/* x with those batch axes. */
Node *matrix_expand(Build *b, Node *x, const Batch *batch);
/* The batch axes of both, broadcast. */
Batch batch_of_both(Build *b, const Node *x, const Node *y);

/* A call of `function` on matrices a and `with` (NULL: none), whose result has `count` elements for
 * each matrix. */
Node *matrix_call(Build *b, const char *function, Node *a, Node *with, const Batch *batch,
                  int64_t count, DType t, uint32_t nsizes, const int64_t *sizes);
#define SIZES(...) sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}

/* Elements from `from` on of each row of matrix_call's result: a number, a vector, or a matrix for
 * each matrix, by `rank` sizes. */
Node *matrix_part(Build *b, Node *packed, const Batch *batch, int64_t from, uint32_t rank,
                  const int64_t *sizes);

Node *matrix_transpose(Build *b, Node *a);
/* Ones on the diagonal of each of a batch. */
Node *matrix_identity(Build *b, const Batch *batch, int64_t rows, int64_t columns, DType t);
/* The elements on the diagonal and on one side of it. */
Node *matrix_triangle(Build *b, Node *a, bool upper);
/* The solution x of a x = y of triangular matrices; both have the same batch axes. */
Node *matrix_solve_triangle(Build *b, Node *a, Node *y, bool upper, bool unit);

#endif
