/* Rings that bulk copies of boxes fill: which loads they can replace, and their statements.
 *
 * A ring of D slots has D mbarriers, each of whose phases is one filling of its slot: one thread
 * expects the bytes and starts the copies, and every thread waits for the phase before it reads.
 * The mbarriers are made once, at the start of the kernel.  Slots and phase go on where a loop has
 * left them, so that a loop that runs again needs no new ones. */
#ifndef NEREID_LOWER_PIPELINE_BULK_H
#define NEREID_LOWER_PIPELINE_BULK_H

#include "lower/analysis/box_access.h"
#include "lower/lower.h"

/* A load whose tile is copied by boxes of whole rows: `panels` of them, one after the other in
 * memory, each further along the contiguous axis. */
typedef struct {
  BoxAccess access;
  NestBuffer *buffer;
  TensorMap *map; /* declared by bulk_start */
  int panels;
  int64_t panel_bytes;
} BulkLoad;

/* Can boxes fill the buffer to which `store` stores the tile that `load` loads, in the body of
 * `loop`? */
bool bulk_load(BulkLoad *out, const Definitions *d, const NestStmt *loop, const NestStmt *load,
               const NestStmt *store);

typedef struct {
  NestBuffer *full;  /* mbarriers */
  NestBuffer *empty; /* ..., at which warps arrive that have read; NULL: the loop has a barrier */
  NestVar *phase;   /* parity of the slot that is read */
  NestVar *turn;    /* of the copy: the loop's iteration */
  int64_t bytes;    /* of all copies of a slot */
} BulkRing;

/* Makes the mbarriers of `slots` slots of each ring at the kernel's start.  Rings are filled
 * together, and share phase and turn; if warps `arrive`, the last one's are `empty`, too. */
void bulk_start(BulkRing *rings, int count, NestBuilder *top, int slots, bool arrive);
void bulk_declare(BulkRing *r, Nest *n, BulkLoad *x);
/* Says that the copies of slot `slot` come, if `more`; NULL: they always do. */
void bulk_expect(const BulkRing *r, NestBuilder *b, NestVar *slot, NestVar *more);
/* The copies of one load to the slot at byte `at` of its buffer.  `ahead`, by variable id, has the
 * variables that run ahead. */
void bulk_copy(const BulkRing *r, NestBuilder *b, const BulkLoad *x, Ref at, NestVar *slot,
               NestVar *more, NestVar *const *ahead);
/* A coordinate: a variable, or a constant.  `turn` is the number of the loop's iteration, `ahead`
 * may be NULL. */
Ref bulk_coordinate(NestBuilder *b, const Sum *s, NestVar *turn, NestVar *const *ahead);
/* The coordinate of box `n` along an axis of a map, where `first` is that of box 0. */
Ref bulk_box(NestBuilder *b, const MapAxis *axis, Ref first, int n);
void bulk_wait(const BulkRing *r, NestBuilder *b, NestVar *slot);
/* Each warp is done with what it reads of the ring in its `slot`th turn, ... */
void bulk_release(const BulkRing *r, NestBuilder *b, NestVar *slot);
/* ..., for which the thread waits that copies, if `more`. */
void bulk_wait_empty(const BulkRing *r, NestBuilder *b, NestVar *slot, NestVar *phase,
                     NestVar *more);
/* The phase changes where the slot that is read wraps around. */
void bulk_next_phase(const BulkRing *r, NestBuilder *b, Ref wraps);

/* box_stores.c: makes stores of tiles in loops boxes, where nothing else accesses their tensors. */
void box_stores(Unit *u);

#endif
