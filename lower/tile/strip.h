/* The plan of pass strip_rows: loops over strips of rows.  Private to this folder. */
#ifndef NEREID_LOWER_TILE_STRIP_H
#define NEREID_LOWER_TILE_STRIP_H

#include "lower/lower.h"

enum {
  STRIP_PAIRS_MOST = 64,
  STRIP_PARKED_MOST = 64, /* slots of a ring */
  STRIP_SHARED_LEFT = 4096 /* bytes of shared memory for what reductions exchange */
};

/* A loop over the strips of a row. */
typedef struct {
  VEC(TileOp *) sinks; /* reductions, stores and fixed loads, in program order */
  VEC(TileOp *) late;  /* narrow ops that wait for its reductions, in program order */
  TileOp *place;       /* the loop goes before this op */
} StripLoop;

/* Two pointer parameters through which accesses change their order. */
typedef struct {
  TileValue *a, *b;
  bool or_same; /* they may hold one address */
} StripPair;

/* A load that loops need, of which a slot of shared memory keeps the first strips. */
typedef struct {
  TileOp *load;
  bool fixed;     /* it is loaded in one place alone */
  bool chained;   /* its address or mask needs what another loads */
  size_t first;   /* the loop before which they are parked */
  size_t last;    /* that needs it */
  int64_t strips; /* at most all of a row */
  uint32_t loops; /* that need it */
} StripPark;

typedef struct {
  Unit *u;
  TileFunc *f;
  Arena *scratch;
  int64_t row, strip; /* elements */
  uint32_t nvalues;   /* of the function before the pass */
  VEC(StripLoop *) loops;
  VEC(StripPark) parks;
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
