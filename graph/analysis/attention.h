/* Attention that has a kernel of its own, nereid.attention:
 *
 *   softmax(scale * query key^T + mask) value     of query [B, H, T, D], key [B, H, S, D],
 *                                                 value [B, H, S, E]
 *
 * The result is [B, T, H, E]: heads come after rows, the order in which nearly every user reads
 * them, so that no transpose follows.  `mask` broadcasts to [B, H, T, S]; a mask of booleans
 * selects the keys of a row, a mask of floats is added to the scores.  `low` and `high` select a
 * band of keys at less cost: row t attends to the keys t + low to t + high.  A row without keys is
 * 0.
 *
 * With `splits` P > 1, programs share the keys of a row, so that few rows keep a GPU busy.  The
 * result is then f32 [P, B, T, H, E + 1]: for each share its own result, followed by the logarithm
 * of the sum of the exponentials of its scores, by which the shares are combined. */
#ifndef NEREID_GRAPH_ANALYSIS_ATTENTION_H
#define NEREID_GRAPH_ANALYSIS_ATTENTION_H

#include "graph/ops/prims.h"

typedef struct {
  Node *query, *key, *value, *mask; /* mask may be NULL */
  double scale;
  Dim low, high; /* NULL: no limit */
  int64_t splits;
  Dim batches; /* B * H: independent attentions */
  Dim heads, rows, keys, width, columns; /* H, T, S, D, E */
} Attention;

enum { ATTENTION_WIDTH_MAX = 256 }; /* of D and E, in the kernel */

/* Does the kernel compute attention of that query and value?  Their last axes are as in the op. */
bool attention_fits(const Node *query, const Node *value);
/* n is a nereid.attention. */
Attention attention_of(Graph *g, const Node *n);
/* Does n, an attention, read `operand` from memory, and not as its mask alone? */
bool attention_reads(Graph *g, const Node *n, const Node *operand);

/* The index in query, key, value and scores of an element of theirs, of which batch (0 <= batch <
 * batches), row and column are given. */
void attention_operand_index(Graph *g, const Attention *x, Dim batch, Dim row, Dim column,
                             Dim *index);
/* The index in the mask, which broadcasts, of element `at` of the scores [B, H, T, S]. */
void attention_mask_index(Graph *g, const Attention *x, const Dim *at, Dim *index);
/* The index in the result; `split` is NULL where there are no shares. */
void attention_result_index(Graph *g, const Attention *x, Dim split, Dim batch, Dim row, Dim column,
                            Dim *index);

/* Do limits leave each row a key, whatever the sizes are? */
bool attention_limits_leave(Dims *d, Dim low, Dim high, Dim rows, Dim keys);

/* A tile of the kernel: rows, keys, and the widths of keys and values. */
typedef struct {
  int64_t bm, bn, bd, be;
  uint32_t warps, stages;
} AttentionShape;

/* For a GPU with so many multiprocessors; 0: a CPU. */
AttentionShape attention_shape(const Attention *x, int processors);

#endif
