/* A load or a store of a tile as a box of a tensor: what the hardware's bulk copies can take.
 *
 * The address of an access and the bounds in its mask are expanded into sums of products:
 * constants, parameters, and at most one symbol each (an axis of the tile, a scalar, or the number
 * of the loop's turn; what a loop carries and moves by an invariant step is a form of that number).
 * The coefficients of the tile's axes in the address are the tensor's strides; a bound `i + x < n`
 * says that the axis has n elements and the box begins at x.  The axis that is not contiguous may
 * be cut into digits, `i // 8` and `i % 8`, each of which is an axis of the tensor: so rows of a
 * tile are the positions in a part of an image, which is how convolutions read theirs. */
#ifndef NEREID_LOWER_ANALYSIS_BOX_ACCESS_H
#define NEREID_LOWER_ANALYSIS_BOX_ACCESS_H

#include "lower/nest/nest.h"

typedef enum { SYMBOL_NONE, SYMBOL_AXIS, SYMBOL_VAR, SYMBOL_TURN } SymbolKind;

/* i / unit % extent, where i is the index along an axis of the tile. */
typedef struct {
  int axis;
  int32_t unit, extent;
} AxisDigit;

enum { MAX_FACTORS = 2, MAX_SUM = 16 };

/* coef * factors * symbol */
typedef struct {
  int64_t coef;
  NestVar *factors[MAX_FACTORS]; /* parameters, NULL at the end */
  SymbolKind kind;
  AxisDigit digit; /* SYMBOL_AXIS */
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

/* definitions.c */
void definitions_find(Definitions *d, Arena *a, const Nest *n);

typedef struct {
  TensorMap map;        /* without a name; axis 0 is the tile's contiguous one, its box not set;
                           the next `digits` are those of the other one */
  int digits;
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
 * variable id; of other parameters nothing is known.  Both may be NULL.  A divisor counts as
 * positive where launches are checked, that is with `assumed`, and no number wraps. */
bool *not_negative(Arena *a, const Nest *n, const TensorMap *m, const bool *assumed);
/* Is the statement n - 1 - x % n, n - 1 - x % (n * t) / t, or that of the program's number in n, as
 * where a grid is walked from its end?  It is not negative where n is not. */
bool counts_down(Ref *n, const Definitions *d, const NestStmt *st);
/* Is a reference one of these, or a constant or an index that is never negative? */
bool ref_is_not_negative(const bool *holds, const Ref *r);

#endif
