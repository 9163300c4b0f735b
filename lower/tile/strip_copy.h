/* Copies of ops on rows for one strip of them.  Private to this folder. */
#ifndef NEREID_LOWER_TILE_STRIP_COPY_H
#define NEREID_LOWER_TILE_STRIP_COPY_H

#include "lower/tile/strip.h"

typedef struct {
  Strips *s;
  TileBuilder b;
  TileValue *first; /* element of the strip at hand, in the block's part of the row; NULL: 0 */
  TileValue *part;  /* where that begins; NULL: the block has the whole row */
  TileValue *limit; /* columns before it have a true mask in this loop; NULL: there is none */
  bool full;        /* all columns of the strip at hand are before it, ... */
  bool empty;       /* ... or none is */
  int64_t from;     /* the loop's first strip */
  size_t loop;      /* number of the loop at hand */
  int64_t waits;    /* its strips, the first ones, that are waited for one by one */
  TileValue **copy; /* by value id: the strip of a row ... */
  uint32_t *round;  /* ... of that round */
  uint32_t rounds;
  bool again;         /* casts of the strip are told from those before */
  TileValue ***held; /* by park and strip after the parked ones: what registers keep */
} StripBuilder;

/* The type of a strip of rows of that type. */
Type strip_type(const Strips *s, Type t);
/* The op on other operands, at the builder's place. */
TileOp *strip_copy_op(StripBuilder *x, const TileOp *op, TileValue *const *args,
                      const Type *types);
/* Notes where the strip at hand of a ragged row is.  The first one may begin before the row. */
void strip_set_place(StripBuilder *x);
/* The park that has the strip at hand of a load; NULL if none has. */
const StripPark *strip_park_of(const StripBuilder *x, const TileOp *load);
/* Copies the strip at hand to shared memory. */
TileOp *strip_park(StripBuilder *x, const StripPark *park);
/* The strip of a row; other values, and none, are what they are. */
TileValue *strip_of(StripBuilder *x, TileValue *v);
/* Stores the strip at hand, unless its mask is false.  All strips of one store, which have a number
 * of their own, are apart. */
void strip_store(StripBuilder *x, const TileOp *op, int64_t part);
/* Combines accumulators with the elements of the strip at hand. */
void strip_combine(StripBuilder *x, const TileOp *reduce, TileValue **acc, TileValue *const *with);

#endif
