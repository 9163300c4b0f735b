/* A load or a store of a tile as a box of a tensor: what the hardware's bulk copies can take.
 *
 * The address of an access and the bounds in its mask are expanded into sums of products:
 * constants, parameters, and at most one symbol each (an axis of the tile, a scalar, or the number
 * of the loop's turn; what a loop carries and moves by an invariant step is a form of that number).
 * The coefficients of the tile's axes in the address are the tensor's strides; a bound `i + x < n`
 * says that the axis has n elements and the box begins at x. */
#ifndef NEREID_LOWER_ANALYSIS_BOX_ACCESS_H
#define NEREID_LOWER_ANALYSIS_BOX_ACCESS_H

#include "lower/nest/nest.h"

typedef enum { SYMBOL_NONE, SYMBOL_AXIS, SYMBOL_VAR, SYMBOL_TURN } SymbolKind;

enum { MAX_FACTORS = 2, MAX_SUM = 12 };

/* coef * factors * symbol */
typedef struct {
  int64_t coef;
  NestVar *factors[MAX_FACTORS]; /* parameters, NULL at the end */
  SymbolKind kind;
  int axis;     /* SYMBOL_AXIS: of the tile */
  NestVar *var; /* SYMBOL_VAR: uniform */
  bool wide;    /* multiplied in 64 bits */
} Product;

typedef struct {
  int n;
  Product t[MAX_SUM];
} Sum;

/* The definitions of a nest's variables. */
typedef struct {
  Arena *arena;
  const Nest *n;
  uint32_t *count;          /* by variable id: statements that write it */
  NestStmt **first, **last; /* the first and the last of these in the text */
} Definitions;

void definitions_find(Definitions *d, Arena *a, const Nest *n);

typedef struct {
  TensorMap map;        /* without a name; axes 0 and 1 are the tile's, the contiguous one first */
  Sum at[MAX_MAP_RANK]; /* coordinates of the box, in elements */
  int fast;             /* the tile's contiguous axis, which the caller gives */
} BoxAccess;

/* Is the one LD of `nest`, in the body of `loop`, a box of a tensor?  The tile has two axes.  Known
 * for every launch: the base is a multiple of 16 bytes, and with option known_rows all strides are,
 * which else the launch checks, as it checks the signs of some arguments; no coordinate is negative
 * that the mask lets through; the kernel writes nothing by way of the base. */
bool box_access(BoxAccess *out, const Definitions *d, const NestStmt *loop, const NestStmt *nest);

/* Is the one ST of `nest` a box of a tensor?  Nothing is said of other accesses to it. */
bool box_store_access(BoxAccess *out, const Definitions *d, const NestStmt *nest);

/* The parameter by which a statement accesses global memory, whatever the steps from it; NULL:
 * unknown. */
NestVar *box_root(const Definitions *d, const NestStmt *st);

/* not_negative.c: integer variables that are never negative, by variable id.  A launch makes `m` of
 * positive extents and strides, whose parameters therefore are, and so are those in `assumed`, by
 * variable id; of other parameters nothing is known.  A divisor counts as positive, and no number
 * wraps. */
bool *not_negative(Arena *a, const Nest *n, const TensorMap *m, const bool *assumed);

#endif
