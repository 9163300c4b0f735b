/* The plan of pass strip_rows: loops over strips of rows.  Private to this folder. */
#ifndef NEREID_LOWER_TILE_STRIP_H
#define NEREID_LOWER_TILE_STRIP_H

#include "lower/lower.h"

enum { STRIP_PAIRS_MOST = 64 };

/* A loop over the strips of a row. */
typedef struct {
  VEC(TileOp *) sinks; /* reductions, stores and fixed loads, in program order */
  VEC(TileOp *) late;  /* narrow ops that wait for its reductions, in program order */
  TileOp *place;       /* the loop goes before this op */
} StripLoop;

/* Two pointer parameters through which accesses change their order. */
typedef struct {
  TileValue *a, *b;
} StripPair;

typedef struct {
  Unit *u;
  TileFunc *f;
  Arena *scratch;
  int64_t row, strip; /* elements */
  uint32_t nvalues;   /* of the function before the pass */
  VEC(StripLoop *) loops;
  StripPair pairs[STRIP_PAIRS_MOST];
  int npairs;
} Strips;

/* A tile whose elements are along one axis, as many as a row has. */
bool strip_is_row(const Strips *s, const TileValue *v);
/* Finds the loops; false if the kernel stays as it is. */
bool strip_plan(Strips *s);
/* Makes them. */
void strip_build(Strips *s);

#endif
