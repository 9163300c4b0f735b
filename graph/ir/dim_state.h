/* The insides of dim.h: expressions are interned in dim.c and made in dim_arithmetic.c; dim_range.c
 * has the ranges of their values. */
#ifndef NEREID_GRAPH_IR_DIM_STATE_H
#define NEREID_GRAPH_IR_DIM_STATE_H

#include "graph/ir/dim.h"
#include "lang/base/integers.h"

/* Terms of a sum, and nodes of a tree: what has more is as good as unknown. */
enum { TERMS_MAX = 256, DEPTH_MAX = 64, SIZE_LIMIT = 1 << 14 };

/* The lower end of a symbol's range before it was assumed to be positive. */
typedef struct {
  uint32_t symbol;
  int64_t lo;
} Assumed;

/* The index of a name and size that kernels share. */
typedef struct {
  Name name;
  Dim size, symbol;
} SharedIndex;

typedef enum { OP_ADD, OP_SUB, OP_MUL, OP_FLOORDIV, OP_MOD } BinaryOp;

/* The cached result of `a op b`. */
typedef struct {
  Dim a, b, result;
  BinaryOp op;
} Result;

enum { RESULTS = 1 << 12 };

struct Dims {
  Arena *arena;
  Pool *names;
  Dim *table; /* open addressing */
  uint32_t mask, used;
  VEC(Dim) symbols;
  VEC(DimRange) ranges; /* of symbols */
  VEC(int64_t) likely;  /* of symbols; 0: not known */
  VEC(Dim) limits;      /* the sizes of indices; NULL for other symbols */
  VEC(Assumed) assumed;
  SharedIndex *shared; /* open addressing */
  uint32_t shared_mask, nshared;
  Result *results; /* by a hash of the operands; valid while nothing is assumed */
  Dim huge;
};

/* ---- dim.c ---- */

/* The expression, which is made if there is none like it; dim_huge() where it is too large. */
Dim dim_intern(Dims *d, DimExpr x);
/* compute(d, a, b), or what that gave before. */
Dim dim_known(Dims *d, BinaryOp op, Dim a, Dim b, Dim (*compute)(Dims *, Dim, Dim));
/* An order of expressions that does not depend on the order of their creation. */
int dim_compare(Dim a, Dim b);

#endif
