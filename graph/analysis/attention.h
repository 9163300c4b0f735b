/* Attention that has a kernel of its own, nereid.attention:
 *
 *   softmax(scale * query key^T + mask) value     of query [B, H, T, D], key [B, H, S, D],
 *                                                 value [B, H, S, E]
 *
 * The result is [B, T, H, E]: heads come after rows, the order in which nearly every user reads
 * them, so that no transpose follows; with `heads_first` it is [B, H, T, E], and gradients alike.
 * `mask` broadcasts to [B, H, T, S]; a mask of booleans selects the keys of a row, a mask of floats
 * is added to the scores.  `low` and `high` select a band of keys at less cost: row t attends to
 * the keys t + low to t + high.  A row without keys is 0.
 *
 * Keys and values may have fewer heads, K, than the query: each serves the next H / K of its heads,
 * whose rows are packed: a program has rows of all of them, so that it reads keys once for them.
 *
 * If `splits` P > 1, programs share the keys of a row, so that few rows keep a GPU busy.  The
 * result is then f32 [P, B, T, H, E + 4]: for each share its own result, followed by the logarithm
 * of the sum of the exponentials of its scores, by which the shares are combined, and by three
 * elements that nothing reads, so that rows begin at multiples of 16 bytes.  Where it says f32,
 * operands of f64 have f64.
 *
 * If `dropout` p > 0, each share of a value in a row is 0 with probability p, and else divided by 1
 * - p.  The random numbers are Philox's for `seed`, a tensor of one integer, and for the index of
 * the score, so that gradients know which shares were kept.
 *
 * For training, nereid.attention_sums is a second result of the same kernel: f32 [B, H, T], the
 * logarithm of the sum of the exponentials of a row's scores, and infinity for a row without keys,
 * so that exp(score - sum) is a key's share in all rows.  nereid.attention_most is a third one: the
 * largest of a row's scores, and minus infinity for a row without keys.
 *
 * `scores` [B, H, T, S] replaces the scores by a function of them: nereid.attention_scores is the
 * product before the mask in it, a value that only the kernel has.  `block_rows` and `block_keys`
 * cut the scores into blocks, of which those in two tables are computed, the rest is not seen:
 * for block i of rows the `counts` [B, H, i] blocks of keys `indices` [B, H, i, ..], in which the
 * mask says what is seen, and as many by `full_counts` and `full_indices`, which are seen whole.
 * Axes B and H of a table may be 1.
 *
 * Gradients, of which keys and values may have fewer heads, too:
 *
 *   share = exp(score - sums)      kept = share * (0 or 1 / (1 - p))
 *   nereid.attention_grad_value    [B, S, K, E]   kept^T grad
 *   nereid.attention_grad_query    [B, T, H, D]   scale * (share * (grad value^T * .. - delta)) key
 *   nereid.attention_grad_key      [B, S, K, D]   of the kernel of grad_value
 *   nereid.attention_grad_scores   [B, H, T, S]   of the kernel of grad_query: of the mask that is
 *                                                 added, before it broadcasts
 *
 *   nereid.attention_grad_added    [B, H, T, D]   of the kernel of grad_value: grad_query without
 *                                                 its scale, added to memory in another order
 *   nereid.attention_grad_parts    [P, B, T, H, D] of the kernel of grad_value: grad_query of P
 *                                                 parts of the keys, in f32, whose sum it is
 *   nereid.attention_grad_kept     [B, H, S, T]   of the kernel of grad_value: what multiplies
 *                                                 keys above, in the dtype of the query; T is
 *                                                 padded to a multiple of 32, and of each 32 rows
 *                                                 8b + 2q + c is at 8q + 2b + c, so that a thread
 *                                                 stores vectors; on a CPU each is at its own
 *                                                 place.  By `kept` grad_query does not
 *                                                 compute it again, where grad_value's kernel has
 *                                                 been: with tables both have those of one mask
 *
 * `chain` [B, H, T, S] is the gradient of the scores before their function, in terms of the one
 * after it, nereid.attention_scores_grad.  The tables of attention_grad_value have blocks of rows
 * for each block of keys.
 *
 * `grad` [B, H, T, E] is the result's gradient, and `delta` [B, H, T] the sum along E of grad times
 * the result.  Each sum is made by one program in one order, so gradients are deterministic. */
#ifndef NEREID_GRAPH_ANALYSIS_ATTENTION_H
#define NEREID_GRAPH_ANALYSIS_ATTENTION_H

#include "graph/ops/prims.h"

typedef enum { ATTENTION_FORWARD, ATTENTION_GRAD_QUERY, ATTENTION_GRAD_VALUE } AttentionKind;

typedef struct {
  AttentionKind kind;
  Node *query, *key, *value, *mask; /* mask may be NULL */
  Node *scores, *chain;             /* functions of scores and of their gradient; NULL: none */
  Node *counts[2], *indices[2];     /* tables of blocks: masked ones, whole ones; NULL: all */
  int64_t block_rows, block_keys;   /* 0: no blocks */
  Node *seed;                       /* NULL: no dropout */
  Node *grad, *sums, *delta;        /* of gradients */
  Node *kept;                       /* gradients of scores; NULL: they are computed again */
  double scale, dropout;
  DType wide;    /* of scores and sums: f32, or f64 as the operands */
  Dim low, high; /* NULL: no limit */
  bool heads_first; /* in the result */
  int64_t splits;
  Dim heads, key_heads, rows, keys, width, columns; /* H, K, T, S, D, E */
  Dim sharing;                                      /* H / K: heads that share those of keys */
  bool packed; /* own rows are those of all heads that share keys, one head after the other */
  Dim own_heads, own_rows, own_columns; /* of the result, or of what is packed */
  Dim walked;                                       /* rows or keys that a program goes through */
  int64_t own_block, walked_block; /* of block_rows and block_keys, those along these axes */
  Dim batches;                                      /* B * own_heads: independent results */
  bool in_words; /* bf16, of which a CPU reads columns by two */
  bool adds; /* the kernel of keys adds the gradient of the query to memory: its group knows */
  int64_t parts; /* of the keys, of which its programs have gradients of the query; 0: none do */
} Attention;

/* The most columns of keys and values of a kernel on a GPU of that compute capability (90: Hopper;
 * 0: a CPU) whose operands have so many bits, with gradients and dropout or without. */
typedef struct {
  int64_t keys, values;
} AttentionWidths;
AttentionWidths attention_widths(int sm, uint32_t bits, bool gradients);

/* Does the kernel compute attention of that query and value, and its gradients?  Their last axes
 * are as in the op. */
bool attention_fits(const Node *query, const Node *value);
/* Does it without gradients and dropout?  On Hopper also of the widths of latent attention. */
bool attention_fits_forward(const Graph *g, const Node *query, const Node *value);
/* Does a CPU's kernel of all gradients multiply words of two bf16?  The operands are query, key,
 * value and grad.  Where the CPU at hand has no instruction for pairs, floats take less time. */
bool attention_grads_in_words(Graph *g, Node *const operands[4]);
/* n is a nereid.attention, or one of its gradients that have a kernel of their own. */
Attention attention_of(Graph *g, const Node *n);
/* The operands that its kernel has in memory, NULL for those it has not: their number. */
enum { ATTENTION_OPERANDS = 12 };
uint32_t attention_operands(const Attention *x, Node **out);
/* Does n, an attention, read `operand` from memory, and not as its mask alone? */
bool attention_reads(Graph *g, const Node *n, const Node *operand);

/* Are the operand's elements computed where the kernel of n reads keys or values: from a tensor of
 * a byte an element, for so few rows that it is read once? */
bool attention_unpacks(Graph *g, const Node *n, const Node *operand);

/* The index in an operand of an element of which batch (0 <= batch < batches), row and column are
 * given: in query, grad and scores, or in key and value.  `head` is the one of H / K heads of the
 * query that share the result's; NULL: there is one, or the result is one of theirs. */
void attention_query_index(Graph *g, const Attention *x, Dim batch, Dim head, Dim row, Dim column,
                           Dim *index);
void attention_key_index(Graph *g, const Attention *x, Dim batch, Dim row, Dim column, Dim *index);
/* The index in a mask or the like, which broadcasts, of element `at` of the scores [B, H, T, S]. */
void attention_mask_index(Graph *g, const Node *mask, const Dim *at, Dim *index);
/* The index in the result [B, own_rows, own_heads, ..]; `split`: NULL where there are no shares. */
void attention_result_index(Graph *g, const Attention *x, Dim split, Dim batch, Dim row, Dim column,
                            Dim *index);

/* Do limits leave each row a key, whatever the sizes are? */
bool attention_limits_leave(Dims *d, Dim low, Dim high, Dim rows, Dim keys);

/* A tile of the kernel: rows, keys, and the widths of keys and values. */
typedef struct {
  int64_t bm, bn, bd, be;
  uint32_t warps, stages;
  int64_t turns; /* so many of the independent results take turns; 1: one is after the other */
  bool one_loop; /* over blocks with edges and without: products don't stop between them */
  bool turned;   /* tiles have a column for each row of the query, and a row for each key: on a CPU
                  * a row's maximum and sum are then of registers, not of lanes */
  bool words;    /* products are of words of two bf16 */
  bool streams;  /* keys and values come from memory, for few rows */
  int64_t part;  /* keys of a program that takes several tiles of them; 0: all */
  int64_t rest;  /* of them in the last tile; 0: as many as in others */
} AttentionShape;

/* For a GPU with so many multiprocessors, with warpgroups' products or without; 0: a CPU. */
AttentionShape attention_shape(const Attention *x, int processors, bool groups);

#endif
