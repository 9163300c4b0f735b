/* Few rows times a weight that memory has along the sum or along columns, as CPUs compute them
 * (kernel_few_rows.c).
 *
 * Along the sum a vector has `width` elements of memory next to each other, each of which has
 * `fields` elements of the weight: two of four bits in a byte, eight in a word, which may be four
 * bytes of memory.  Pass order_few_rows writes the left operand x[m, k] in f32 as
 * [k / fields / width, m, fields, width], so that the elements of x that a field of a vector meets
 * are a vector too, and has views around it and around the weight that make the product the same.
 *
 * Across it, a program has `width` columns, and elements of x are numbers.  Where an element of
 * memory has several fields x is written as [m, k / fields, fields]. */
#ifndef NEREID_TILING_FEW_ROWS_H
#define NEREID_TILING_FEW_ROWS_H

#include "graph/builders/node_builder.h"

enum { FEW_ROWS_MOST = 8, FEW_ROWS_FIELDS = 16 /* at most, in an element of memory */ };
/* Bytes of so many fields are read as words of so many bytes. */
enum { FEW_ROWS_BYTE = 2, FEW_ROWS_BYTES = 4 };
/* Up to so many rows multiply weights of few bits that no matrix of theirs is made for: in panels
 * (panels_turn) where they are more than FEW_ROWS_MOST. */
enum { FEW_ROWS_TURNED = 64 };

typedef struct {
  int64_t fields, width;
  bool across;
} FewRows;

/* Vectors for so many rows and k elements of the sum; width 0: k is no multiple of one. */
FewRows few_rows_vectors(int64_t rows, int64_t k, int64_t fields);
/* Are bytes of so many fields, from the element `offset` of memory on, read as words? */
bool few_rows_joins(int64_t rows, int64_t fields, const Node *memory, Dim offset);
/* x[m, k] and y[k, n] in that order of the sum; `across`: x alone, for its fields. */
Node *few_rows_left(Build *b, Node *x, const FewRows *f);
Node *few_rows_right(Build *b, Node *y, const FewRows *f);
/* Is n a nereid.packed_mm that is computed so, on a CPU? */
bool few_rows_suit(const Node *n);
/* Its vectors. */
FewRows few_rows_of(const Node *product);
/* How many of the result's columns a program has that goes along the sum, and how many at once. */
enum { FEW_ROWS_COLUMNS = 16 };
int few_rows_at_once(int64_t rows, const FewRows *f);
/* Vectors of the sum that all columns of a program multiply, one after the other, before the next
 * ones: of x the nearest cache holds as many beside the weights.  0: all. */
int64_t few_rows_part(int64_t rows, const FewRows *f);

#endif
