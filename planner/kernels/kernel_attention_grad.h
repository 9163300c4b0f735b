/* Parts that the kernels of attention's gradients share. */
#ifndef NEREID_PLANNER_KERNELS_KERNEL_ATTENTION_GRAD_H
#define NEREID_PLANNER_KERNELS_KERNEL_ATTENTION_GRAD_H

#include "planner/kernels/kernel_attention.h"

/* Conditions at the ends of axes; NULL: blocks divide them. */
typedef struct {
  const char *width, *columns;   /* of d, of e */
  const char *n, *s;             /* of what is walked, along either axis of a tile */
  const char *inner_n, *inner_s; /* the same of all blocks, also those not at an edge */
} AttentionEnds;

AttentionEnds attention_ends(AttentionWriter *w);
/* The pointers to a number of each row, [B, H, T]; rows are along `axis` of a tile. */
const char *attention_row_pointers(AttentionWriter *w, Node *operand, const char *row,
                                   unsigned axis);
/* " & condition"; "" for NULL. */
const char *attention_and_mask(Kernel *k, const char *condition);
/* The arguments of a load of rows' sums: rows that are none have shares of 0. */
const char *attention_masked_sums(Kernel *k, const char *within);
/* The argument of a product of operands in their own dtype. */
const char *attention_precision(const AttentionWriter *w);
/* The statement that makes `ds` the gradient of scores before their function, and the one that
 * drops gradients of shares that dropout has dropped; "": there is none. */
const char *attention_grad_chain(AttentionWriter *w);
const char *attention_kept_line(AttentionWriter *w);
/* The shares of a block's scores, by the sums that the forward pass kept; a key's share after
 * dropout. */
const char *attention_share_of_scores(AttentionWriter *w);
const char *attention_kept_share(const AttentionWriter *w);
/* The statements that store `dk`, the gradient of keys (NULL: none is stored), of columns `d`, and
 * `acc`, that of values. */
const char *attention_grad_results(AttentionWriter *w, Node *keys, Dim d, const char *width);
/* Prints the calls for the rows that see keys of a program's block. */
void attention_walk_rows(AttentionWriter *w, AttentionCall *call);

/* A kernel of the query's gradient, or one of those of keys and values. */
void attention_gradients_apart(Text *out, AttentionWriter *w);

#endif
