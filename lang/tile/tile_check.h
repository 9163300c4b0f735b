/* The inside of the verifier: checks that tile_verify.c (structure, scopes, rules of the table) and
 * tile_check.c (the ops whose rule is `given`) share, which are in the latter.  Others use
 * tile_verify of lang/tile/tile.h.
 *
 * Each check reports its error at the op's location; it returns true if it holds. */
#ifndef NEREID_LANG_TILE_TILE_CHECK_H
#define NEREID_LANG_TILE_TILE_CHECK_H

#include "lang/tile/tile.h"

typedef struct {
  const TileFunc *fn;
  Diags *diags;
  uint8_t *seen; /* by value id: 0 not yet, 1 visible, 2 out of scope */
  const char **names;
  int depth;
  int combines; /* blocks of REDUCE and SCAN around the place */
} TileCheck;

/* Operand and result numbers count from 0 here, from 1 in messages.  `what` is what is expected;
 * the condition is the caller's. */
bool tile_check_operand(TileCheck *c, const TileOp *op, uint32_t i, bool good, const char *what);
bool tile_check_operand_is(TileCheck *c, const TileOp *op, uint32_t i, Type want);
bool tile_check_result_is(TileCheck *c, const TileOp *op, uint32_t i, Type want);

/* The ops with rule `given`; operand counts, scopes and attribute names hold already. */
void tile_check_given(TileCheck *c, const TileOp *op);

#endif
