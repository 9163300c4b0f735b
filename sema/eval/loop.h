/* Shared by the files on loops: loops.c, loop_values.c, unroll.c.
 *
 * A run-time loop carries the variables that its body assigns and that are set before it.  Their
 * leaves (value_leaves) become parameters of its blocks; leaves that come back unchanged are taken
 * out again before the op is made.  Variables that are first set inside are gone after it.
 *
 *   loop_carry      each variable that the body assigns; loop_add_leaf for what has no name
 *   loop_open       a block begins: variables are its parameters
 *   loop_hand_on    the last block ends: its values are yielded to the next iteration
 *   loop_results    after the op: variables are its results
 */
#ifndef NEREID_SEMA_EVAL_LOOP_H
#define NEREID_SEMA_EVAL_LOOP_H

#include "sema/value/context.h"

typedef struct {
  Name name;
  Value before;         /* V_TILE or V_CONST */
  TileValue *init;      /* the same as an operand of the op */
  TileValue *params[2]; /* by block; NULL: not opened */
  TileValue *next;      /* what the body hands on */
} Leaf;

typedef struct {
  uint32_t var;
  Var before;
  uint32_t first, count; /* leaves */
} Carried;

typedef struct {
  Span at;
  VEC(Leaf) leaves;
  VEC(Carried) vars;
  TileBlock *blocks[2]; /* `for`: the body; `while`: the condition and the body */
  size_t mark;          /* of the trail, before the loop */
} LoopValues;

/* The leaves that change, as the op and its yield have them. */
typedef struct {
  TileValue **inits, **nexts;
  Type *types;
  uint32_t n;
} LoopPassed;

void loop_carry(Sema *S, LoopValues *l, Name name);
uint32_t loop_add_leaf(Sema *S, LoopValues *l, Name name, Value v); /* its index */
TileBlock *loop_open(Sema *S, LoopValues *l, int which);
/* Values of variables at the end of the body; a leaf without a variable has its `next` already. */
void loop_finish_vars(Sema *S, LoopValues *l);
/* Yields what the body hands on.  `ahead`: parameters of its block before those of the leaves. */
LoopPassed loop_hand_on(Sema *S, LoopValues *l, uint32_t ahead);
/* After the loop: `op` gets its blocks, variables its results.  The values of all leaves. */
const Value *loop_results(Sema *S, LoopValues *l, TileOp *op);

/* The target of a `for`, which stays a constexpr where it is one. */
void loop_bind_index(Sema *S, const Stmt *s, Value index);
/* The `else` of a loop. */
void loop_else(Sema *S, const Stmt *s, bool can_break);
void unrolled_loop(Sema *S, const Stmt *s, const Value *items, uint32_t n);
void compile_time_while(Sema *S, const Stmt *s);

#endif
