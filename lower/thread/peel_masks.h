/* Pass peel_masks: mask peeling and early exit of loops over a row that is shorter than its block.
 *
 * The elements of a row are the iterations of chains (lower/thread/chain.h), and its mask is true
 * in the first of them:
 *
 *   unroll a:512 {
 *     %c = add %lane, (8*a)
 *     %in[a] = lt %c, %n
 *     %x[a] = mov 0.0
 *     %x[a] = ld [%p + 32*a] if %in[a]
 *   }
 *
 * Such a loop becomes an unmasked one over the full vectors and a masked remainder.  Bounds are a
 * multiple of `unit` iterations, the same for all loops over the row.
 *
 * Most often all loops over the row may also exit early, soon after its last element
 * (early_exit.c): values computed there are the same in every iteration, only other such loops
 * read them, and a reduction that has seen such a value once has seen it all, or adds zeros. */
#ifndef NEREID_LOWER_THREAD_PEEL_MASKS_H
#define NEREID_LOWER_THREAD_PEEL_MASKS_H

#include "lower/thread/chain.h"
#include "lower/lower.h"

/* ---- between peel_masks.c and early_exit.c ---- */

/* A loop over the row. */
typedef struct {
  NestStmt *st;
  Chain chain;
  int64_t inner; /* iterations in one of the outermost loop */
  bool masked;   /* the mask is a guard or decides a select */
  bool ends;     /* exits after the row's last element */
} RowPart;

typedef struct {
  Nest *nest;
  Arena *scratch;
  uint32_t nvars;
  NestStmt **def;         /* by variable id; of several definitions the last */
  uint32_t *ndefs, *refs; /* by variable id; refs: definitions too */
  /* the row at hand */
  Ref length;
  int64_t total; /* iterations of each part */
  int64_t unit;
  bool *mask;         /* by variable id */
  VEC(RowPart) parts; /* in order, all in one block */
} Row;

enum { STMT_REFS = 16 };
/* The references of a statement, reads first; returns how many. */
uint32_t row_refs(const NestStmt *st, const Ref *refs[STMT_REFS]);
bool row_is_mask(const Row *r, const Chain *c, const Ref *x);
/* Sets `ends` of the parts. */
void find_early_exits(Row *r);

/* acc = op acc, x, for an acc that all iterations of the outermost loop share. */
typedef enum {
  FOLD_NONE,
  FOLD_ONCE, /* the same x once more changes nothing */
  FOLD_ADDS  /* nor does a zero, once there was one */
} FoldKind;
FoldKind fold_kind(const Chain *c, const NestStmt *st);

#endif
