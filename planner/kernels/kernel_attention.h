/* Parts that kernels of GROUP_ATTENTION share: the attention and its gradients.  A program has a
 * block of rows `m` of its result, and walks blocks of `n`: keys, or of the gradient of keys and
 * values rows of the query. */
#ifndef NEREID_PLANNER_KERNELS_KERNEL_ATTENTION_H
#define NEREID_PLANNER_KERNELS_KERNEL_ATTENTION_H

#include "planner/kernels/kernel.h"

typedef struct {
  Kernel *k;
  Attention x;
  const AttentionShape *shape;
  Dim row, key, column; /* index symbols: of rows, of keys, of columns of the result */
  Dim head;             /* of the query's heads that share one of the keys; NULL: there is one */
  bool raw;             /* scores are used as they were before their function, too */
  bool added;           /* the mask is added to the scores */
  bool ragged;          /* what is walked ends within a block */
  bool may_see_nothing; /* there may be rows that see no key */
  const char *own, *walked; /* how many of m and of n there are */
  const char *rows;         /* how many rows a head of the query has */
  const char *results;      /* how many independent results take turns; NULL: none do */
  const char *whole, *edge; /* expressions, of one loop: blocks between them are seen whole */
  const char *seen;         /* statements that find the keys that rows see; NULL: none do */
  double later;             /* the factor of scores in units of log 2, of a cap; 0: there is none */
  bool bounded;             /* a cap's scores: shares are relative to 2^below, not to a maximum */
  double below;
  int shrunk;               /* the query is multiplied by 2^-shrunk */
  bool exact;               /* a last block has as many keys as there are */
  int indent;               /* of the statements that make scores */
  const char *turned_mask;  /* statements of a function of rows and keys; NULL: there is none */
  int64_t rest;             /* of n in the block that is walked now; 0: BN */
  Node *parts;              /* gradients of the query, which programs have; NULL: they don't */
  const char *table;        /* pointer to the blocks that are walked now; NULL: there are none */
} AttentionWriter;

AttentionWriter attention_writer_new(Kernel *k, const AttentionShape *shape);

/* ---- small pieces of text ---- */

/* "a & b"; either may be NULL. */
const char *attention_and(Kernel *k, const char *a, const char *b);
/* ", mask=..., other=0.0"; "" for NULL. */
const char *attention_masked_by(Kernel *k, const char *condition);
/* The condition that an index of a tile is within its axis; NULL: it always is. */
const char *attention_within(Kernel *k, const char *index, Dim size, int64_t block);
const char *attention_float(Kernel *k, double v);
/* The subscript by which numbers of rows become a column, or a row of a turned tile. */
static inline const char *attention_of_rows(const AttentionWriter *w) {
  return w->shape->turned ? "[None, :]" : "[:, None]";
}
/* "m + (3)" */
const char *attention_offset_by(Kernel *k, const char *base, Dim by);
/* The factor of scores, and the function whose values of them are shares. */
const char *attention_scale_text(const AttentionWriter *w);
const char *attention_exp(const AttentionWriter *w);
/* The share of a key by its score less a row's sum or maximum.  Hidden keys, whose mask adds -100,
 * have shares that are no normal numbers: products of those take a hundred cycles each on some
 * CPUs.  They are 0. */
const char *attention_share_of(const AttentionWriter *w, const char *exp, const char *score);
/* The masks of loads at rows and columns of a tile. */
void attention_set_masks(Kernel *k, const char *rows, const char *columns);

/* ---- parts of kernels ---- */

/* A new index symbol, bound to `text` along that axis of its tile. */
Dim attention_bind(AttentionWriter *w, const char *name, Dim size, const char *text, unsigned axis);
/* The pointers to elements of an operand with heads, whose index is in terms of `row` and
 * `column`; `first` and `second` index the axes of the tile. */
const char *attention_query_pointers(AttentionWriter *w, Node *operand, Dim row, Dim column,
                                     const char *first, const char *second);
const char *attention_key_pointers(AttentionWriter *w, Node *operand, Dim row, Dim column,
                                   const char *first, const char *second);
/* The pointers to words of so many elements of an operand that is in memory, or to numbers of that
 * type, from the element of that index on. */
const char *attention_pointers_as(AttentionWriter *w, Node *operand, const Dim *index,
                                  int64_t word, const char *type, const char *first,
                                  const char *second);
/* The function KERNEL_NAME_power, which gives shares that become floats of 16 bits. */
const char *attention_power_function(const AttentionWriter *w);
/* Takes factors out of the function of scores (kernel_scores.c). */
void attention_fold_factors(AttentionWriter *w);
/* The statements that make shares, and the factor of older ones, of scores by `factor` ("": 1). */
/* Finds whether a cap bounds the scores, and the query's factor; not if maxima are a result. */
void attention_bound_scores(AttentionWriter *w, bool needs_most);
const char *attention_shares(const AttentionWriter *w, const char *factor, const char *exp);
/* The tile of a mask, or of a function of scores, which may have one row or key where all are
 * alike; and a function of scores as a whole tile in the dtype of scores. */
Value attention_value_of_scores(AttentionWriter *w, Node *n);
const char *attention_text_of_scores(AttentionWriter *w, Node *n);
/* The statements that apply the function of scores and the mask to a tile of scores. */
const char *attention_mask_text(AttentionWriter *w);
/* The statements that add to gradients of what the function of scores reads; "": there are none. */
const char *attention_read_text(AttentionWriter *w);
/* The statement that makes `ds` the gradient of the scores before their function; "": none. */
const char *attention_chain_text(AttentionWriter *w);
/* The statements that find a program's result and the `start` of its block of rows. */
const char *attention_place(AttentionWriter *w);
/* Is the value of scores made of a tensor of rows and keys that is loaded for each score? */
bool attention_loads_table(const AttentionWriter *w, Node *n);
/* The number of batches that add one table of rows and keys to their scores. */
int64_t attention_table_batches(const AttentionWriter *w);
/* The statements that make the numbers of a block's keys: n along columns, s along rows. */
const char *attention_keys(AttentionWriter *w);
/* The head of the loop over n. */
const char *attention_loop(AttentionWriter *w);
/* The statements that take rows after the block's end, and what is walked after that, out of range;
 * "": tiles divide blocks. */
const char *attention_own_cut(AttentionWriter *w);
const char *attention_walked_cut(AttentionWriter *w);
/* The condition that a key is seen, at an edge. */
const char *attention_edge(AttentionWriter *w);
/* The statements that hide scores at an edge: of all blocks of an EDGE, or in one loop of those
 * before `whole` and from `edge` on, which are parameters then. */
const char *attention_hide(AttentionWriter *w);
/* These parameters, and what a call of all blocks passes for them; "": they are several loops. */
const char *attention_bounds(const AttentionWriter *w);
const char *attention_bounds_of_call(const AttentionWriter *w, bool edge);
/* The statement that loads the seed, and the one that finds out which shares dropout keeps; "":
 * there is no dropout. */
const char *attention_seed_text(AttentionWriter *w);
const char *attention_keep_text(AttentionWriter *w);
/* The factor of shares that dropout keeps. */
double attention_growth(const AttentionWriter *w);
/* What the statements printed since then are; the body is empty again. */
const char *attention_take_body(Kernel *k);
/* No variable gets the names that the templates use. */
void attention_reserve_names(Kernel *k);

/* A call for each range of keys: `calls` prints the statement for keys from..to. */
typedef void AttentionCall(AttentionWriter *w, const char *from, const char *to, bool edge);
/* The blocks of both tables.  `table` is the pointer that a call passes on, followed by a comma;
 * "" without blocks.  Tables are parameters, found before the first call. */
void attention_walk_blocks(AttentionWriter *w, AttentionCall *call);
void attention_find_tables(AttentionWriter *w);
const char *attention_table(const AttentionWriter *w);
/* All keys: those of whole blocks first. */
void attention_walk_all(AttentionWriter *w, AttentionCall *call);
/* The size of blocks that a call walks. */
const char *attention_block(const AttentionWriter *w);
/* Keys as far as rows of the block see them, with edges where not all rows see all. */
void attention_walk_seen(AttentionWriter *w, AttentionCall *call);

/* Another result of the group's kernel that has users; NULL: there is none. */
Node *attention_part(const Kernel *k, OpId op);

#endif
