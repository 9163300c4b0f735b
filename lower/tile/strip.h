/* The plan of pass strip_rows: loops over strips of rows.  Private to this folder. */
#ifndef NEREID_LOWER_TILE_STRIP_H
#define NEREID_LOWER_TILE_STRIP_H

#include "lower/analysis/axis.h"
#include "lower/lower.h"

enum {
  /* Elements of a strip that a thread has: an accumulator and what is loaded for it leave room
   * in 64 registers, with which two programs of 512 threads, or one of 1,024, fit a
   * multiprocessor. */
  STRIP_THREAD_ELEMENTS = 16,
  STRIP_PAIRS_MOST = 64,
  STRIP_PARKED_MOST = 64, /* slots of a ring */
  STRIP_WAITS_MOST = 16,  /* strips with a wait each, and so with statements of their own */
  STRIP_BRANCHES_MOST = 8, /* one after the other: pass prove_rings takes all of their ways */
  STRIP_COMPARED_MOST = 256, /* values of two addresses */
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
  bool early;     /* each strip that registers keep is loaded one strip before it is needed */
} StripPark;

/* The part of the rows that stays on the processor where several loops need it. */
typedef enum { STRIPS_LOAD_AGAIN, STRIPS_WHOLE, STRIPS_TWO, STRIPS_THREE } StripsFit; /* programs */

typedef struct {
  Unit *u;
  TileFunc *f;
  Arena *scratch;
  int64_t row, strip; /* elements */
  int64_t held;       /* registers of a thread for rows that live from a reduction to the next */
  int cluster;        /* thread blocks, each of which has a part of the row; 1: the row is whole */
  TileBlock *body;    /* the function's; of a ragged row, that of one version */
  bool ragged;        /* registers keep all strips: */
  TileValue *limit;   /* columns before it have a true mask, ... */
  int64_t full;       /* ... all columns of so many strips, ... */
  int64_t live;       /* ... and none after so many */
  bool by_elements;   /* no vector loads it */
  bool versions;      /* this is one of several versions of the kernel */
  TileOp *loop;       /* takes rows one by one; NULL: the body has a row */
  bool ahead;         /* registers hold the next row of the loop, too */
  bool shifted;       /* versions have: */
  TileValue *shift;   /* columns begin a column early where this offset of a row is odd; or NULL */
  TileValue *stride;  /* of a loop, whose first row's number times it is the offset */
  TileValue *odd, *even; /* its remainder by two, and the rest, but of a loop */
  TileValue *before;     /* minus that remainder */
  StripsFit fit;
  const AxisInfo *axis; /* of the function before the pass */
  uint32_t nvalues;   /* of the function before the pass */
  int registers;      /* a thread's, where two programs share a multiprocessor; 0: no limit */
  VEC(StripLoop *) loops;
  VEC(StripPark) parks;
  StripPair pairs[STRIP_PAIRS_MOST];
  int npairs;
} Strips;

/* A tile whose elements are along one axis, as many as a row has. */
bool strip_is_row(const Strips *s, const TileValue *v);
/* Strips of a thread block. */
static inline int64_t strip_count(const Strips *s) { return s->row / s->strip / s->cluster; }
/* The parameter that an address comes from; NULL if it can't be told. */
TileValue *strip_root(TileValue *address);
/* The numbers of a row's columns. */
bool strip_is_columns(const Strips *s, const TileValue *v);
/* Elements of a row that follow each other in memory are at addresses of their own. */
bool strip_is_injective(const Strips *s, const AxisInfo *axis, const TileValue *pointer);
/* Accesses through a and b change their order; false if the kernel does not let them. */
bool strip_assume_apart(Strips *s, TileValue *a, TileValue *b, bool or_same);
/* The scalar, of ragged rows a constant, too, before which all columns of a row are where the mask
 * is true; NULL: it is no such mask. */
TileValue *strip_limit(const Strips *s, const TileValue *mask);
/* Is the mask, or a part of it, false from that limit on? */
bool strip_has_limit(const Strips *s, const TileValue *limit, const TileValue *mask);
/* Is the value one constant, and is it +0, in all places? */
bool strip_is_constant(const TileValue *v);
bool strip_is_zero(const TileValue *v);
/* The limit of a mask that the loop needs; NULL: it needs none. */
TileValue *strip_loop_limit(const Strips *s, const StripLoop *l);
/* May thread blocks each do a part of each row?  Notes what a launch has to check. */
bool strip_shares_rows(Strips *s, const AxisInfo *axis);
/* The blocks of a cluster execute the function, the first one its stores of what is no row.  The
 * result: where the block's part of a row begins. */
TileValue *strip_build_blocks(Strips *s);
/* A launch checks what was noted. */
void strip_build_pairs(Strips *s);
/* Programs of a kernel with versions may share a multiprocessor as often as that number of a
 * thread's registers allows; false: not even one fits. */
bool strip_share_registers(Strips *s, int64_t registers);
/* The one loop of the body; NULL: there is none, or several. */
TileOp *strip_find_loop(const TileBlock *body);
/* The length of the rows that its iterations reduce; 0: there are none. */
int64_t strip_loop_row(const TileBlock *body);
/* Is an operand or a result of the op a row? */
bool strip_touches_rows(const Strips *s, const TileOp *op);
/* Can the ops of a kernel with a loop be made for each strip? */
bool strip_loop_plan(Strips *s);
/* Are the rows that iterations of the loop store apart, if the store is there? */
bool strip_stores_apart(const Strips *s, const TileOp *store);
/* Makes them. */
void strip_loop_build(Strips *s);
/* Versions of the kernel for ragged rows: loaded by elements, up to a limit.  False if the kernel
 * stays as it is; `s` has the length of the row. */
bool strip_ragged(Strips *s);
/* Finds the offset of rows by which their columns may be shifted; false: they may not. */
bool strip_find_shift(Strips *s);
/* Makes its remainder by two, and the rest. */
void strip_build_shift(Strips *s);
/* The address to which a row's pointer adds columns if these are shifted, as a tile of type t, and
 * the op that makes the columns; NULL: it is no such pointer. */
TileValue *strip_row_start(const Strips *s, TileBuilder *b, const TileValue *pointer, Type t,
                           const TileOp **columns);
/* Finds the loops for `cluster` thread blocks; false if the kernel stays as it is. */
bool strip_plan(Strips *s);
/* Makes them. */
void strip_build(Strips *s);

#endif
