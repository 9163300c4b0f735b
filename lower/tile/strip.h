/* The plan of pass strip_rows: loops over strips of rows.  Private to this folder. */
#ifndef NEREID_LOWER_TILE_STRIP_H
#define NEREID_LOWER_TILE_STRIP_H

#include "lower/lower.h"

enum {
  /* Elements of a strip that a thread has: an accumulator and what is loaded for it leave room
   * in 64 registers, with which two programs of 512 threads, or one of 1,024, fit a
   * multiprocessor. */
  STRIP_THREAD_ELEMENTS = 16,
  STRIP_PAIRS_MOST = 64,
  STRIP_PARKED_MOST = 64, /* slots of a ring */
  STRIP_WAITS_MOST = 16,  /* strips with a wait each, and so with statements of their own */
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
  int64_t held;   /* so many strips after these are in registers from there on */
  uint32_t loops; /* that need it */
} StripPark;

typedef struct {
  Unit *u;
  TileFunc *f;
  Arena *scratch;
  int64_t row, strip; /* elements */
  uint32_t nvalues;   /* of the function before the pass */
  int registers;      /* a thread's, where two programs share a multiprocessor; 0: no limit */
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
