/* A loop whose copies run ahead, as pass pipeline makes it. */
#ifndef NEREID_LOWER_PIPELINE_PIPE_H
#define NEREID_LOWER_PIPELINE_PIPE_H

#include "lower/pipeline/bulk.h"

/* A load from global memory, and the store of the loaded tile to shared memory. */
typedef struct {
  NestStmt *load, *store; /* NESTs: global to a variable, the variable to a buffer */
  NestStmt *ld, *st;      /* their LD and ST; store and st are NULL until the pair is staged */
  BulkLoad *bulk;         /* NULL: each thread copies */
  bool steady;            /* of memory that the kernel before this one does not write */
} Pair;

/* A tile that is loaded before the loop and stored for its products as it is. */
typedef struct {
  NestStmt *load, *store; /* NESTs, as of a Pair */
  BulkLoad bulk;
} Once;

typedef enum { COPIES_ALL, COPIES_STEADY, COPIES_REST } Copies;

/* Two products, the second of which takes what is made of the first one's result, as in attention;
 * NULL: the loop isn't rotated. */
typedef struct {
  NestStmt *first;  /* iteration i+1's starts in iteration i */
  NestStmt *second; /* still runs in the next iteration */
  NestStmt *turn;   /* makes that one's second operand of a ring's tile; or NULL */
  const NestBuffer *ring; /* that the second one or `turn` reads */
  NestStmt *needs;  /* the body's first statement that touches what that one reads or adds to */
  NestStmt *place;  /* the first that touches its sum: the first product goes before it */
} Rotation;

/* Several products of boxes without a barrier; NULL: there is one. */
typedef struct {
  NestStmt *first; /* of the products */
  NestStmt *waits; /* the product after which threads wait for all */
  NestStmt *place; /* the last one */
  NestStmt *open;  /* the first of those that run on into the next iteration; NULL: none does */
} Release;

typedef struct {
  Unit *u;
  Nest *n;
  Arena *scratch;
  NestStmt *loop;
  VEC(Pair) pairs;
  VEC(NestStmt *) slice; /* statements of the body that the copies' addresses need, in order */
  bool *needed;          /* by var id */
  NestVar **ahead;       /* by var id: the variable that runs ahead */
  uint32_t nvars;        /* size of these two */
  int depth;
  bool rings_alone; /* shared memory is theirs alone */
  NestStmt *dot;      /* the first that runs on into the next iteration; NULL: none does */
  Rotation rotation;
  Release release;
  VEC(NestBuffer *) made; /* operands of it that the body computes and stores */
  bool through_proxy; /* some dot reads through a descriptor what threads copied */
  int nbulk;          /* pairs that are copied by boxes */
  int nrings;         /* 2: the second one has what the rotation's second dot reads */
  BulkRing ring[2];   /* of these */
  VEC(Once) once;     /* that boxes bring (once.c) */
  BulkRing own;       /* ..., their mbarrier: a ring of one slot */
  NestVar *own_slot;  /* ..., 0 */
  bool splits;        /* the first copies are those of steady memory, then the others */
  Copies copies;      /* which are made now */
  NestStmt *tiles;    /* the loop around it whose next iteration's copies run ahead, or NULL */
  VEC(NestStmt *) coordinates; /* statements of its body for these copies, in order */
} Pipe;

typedef struct {
  NestVar *index;           /* the loop's index, ahead */
  NestVar *slot_w, *slot_r; /* the slot to fill, the slot to read */
  NestVar *in_range;
  NestVar *freed, *freed_phase; /* the turn in which warps free the slot to fill; or NULL */
  BulkRing *only;               /* whose copies these are; NULL: all of the loop's */
  NestVar **vars;               /* ..., and their Pipe.ahead; NULL: that of the loop */
  NestVar *tile, *is_tile;  /* the next tile's index, and whether there is one; or NULL */
} Ahead;

/* Some pair is copied by all threads, in groups. */
bool pipe_has_groups(const Pipe *p);
bool pipe_in_ring(const Pipe *p, const NestBuffer *b);
/* It is in another loop. */
bool pipe_is_repeated(const NestStmt *loop);

/* Makes the variables of the slice that runs ahead; they start with the values that their originals
 * have before the loop. */
Ahead pipe_make_ahead(Pipe *p, NestBuilder *b);
/* Variables of their own for the copies of one ring, which run further ahead than the others. */
Ahead pipe_make_lead(Pipe *p, const Ahead *others, BulkRing *ring);
/* The copies of the loop's first iterations. */
void pipe_first_copies(Pipe *p, NestBuilder *b, const Ahead *a);
/* A copy of the statement on the variables that run ahead. */
NestStmt *pipe_clone(const Pipe *p, NestBuilder *b, const NestStmt *st);
/* The copies of an iteration, if there is such a one. */
void pipe_issue_copies(Pipe *p, NestBuilder *b, const Ahead *a);
void pipe_ring_wait(Pipe *p, NestBuilder *b, int groups);
void pipe_fence_proxy(Pipe *p, NestBuilder *b);
/* slot := (slot + 1) % depth; the result: does it begin again? */
Ref pipe_advance_slot(Pipe *p, NestBuilder *b, NestVar *slot);
/* How often statements of the block, and of those within, read the variable; name the buffer. */
uint32_t pipe_count_reads(const NestBlock *b, const NestVar *v);
int pipe_count_uses(const NestBlock *b, const NestBuffer *buffer);
/* The address of a ring's buffer that a statement reads becomes that of the slot. */
void pipe_read_slot(Pipe *p, NestVar *slot, NestBuilder *before, NestStmt *st);
Ref pipe_scalar(Pipe *p, const char *name, DType t);
Ref pipe_op(NestBuilder *b, TileCode op, DType t, Ref dst, Ref x, Ref y);

/* Programs of so many registers a thread and bytes of shared memory that a multiprocessor holds. */
int pipe_programs(const Pipe *p, int registers, int64_t shared);
/* No elements of several warps become one. */
bool pipe_reduces_in_warps(const NestStmt *st);

/* ---- several products without a barrier (release.c) ---- */

/* Sets p->release. */
void release_find(Pipe *p);
/* Does a multiprocessor hold as many programs with `shared` bytes as with those `before`? */
bool release_fits(const Pipe *p, int64_t before, int64_t shared);
/* Statements of the body that a loop with a barrier lacks. */
void release_body(Pipe *p, const Ahead *a);

/* ---- rotated loops (rotate.c) ---- */

/* The second product's slot is read while the next but one is filled; boxes for the first product
 * fill a slot of their own ring. */
enum { ROTATION_DEPTH = 3, ROTATION_DEPTH_OF_BOXES = 2 };
/* Sets p->rotation. */
void rotation_find(Pipe *p);
/* Bytes of the second slot of a turned operand. */
int64_t rotation_more_bytes(const Rotation *r);
/* Are the copies of the first product's operand one iteration further ahead than the others? */
bool rotation_leads(const Pipe *p);
/* Do registers and shared memory, so many bytes a program, hold what a rotated loop needs, for as
 * many programs a multiprocessor as before? */
bool rotation_fits(const Pipe *p, int64_t shared_before, int64_t shared);
/* The body, and what goes `before` the loop, after the first copies.  `lead`: where it leads. */
void rotation_body(Pipe *p, const Ahead *a, const Ahead *lead, NestBuilder *before);

/* ---- what boxes bring before the loop (once.c) ---- */

/* The LD of a nest that loads a tile from global memory and does nothing else; what is masked off
 * must be zero, as a copy fills it. */
NestStmt *pipe_plain_load(const NestStmt *nest);
/* Does the NEST store a tile, which one before it in the block has loaded, to shared memory as it
 * is? */
bool pipe_stores_loaded(const NestStmt *st);
/* Removes the fence after a store that has become a copy: copies have their own. */
void pipe_remove_fence(const NestStmt *store);
/* Sets p->once, in a loop whose operands all are boxes without a barrier. */
void once_find(Pipe *p);
/* The mbarrier, at the kernel's start, after those of the rings have been made. */
void once_start(Pipe *p);
/* Do the copies come after the loop's first ones, which may be of memory that is there earlier? */
bool once_is_late(const Pipe *p);
void once_copy(Pipe *p, NestBuilder *b);
/* The wait, right before the loop, in place of loads and stores. */
void once_wait(Pipe *p);

/* open_products.c: lets a loop's last products run on while threads work on the result of the one
 * before them. */
void open_products(Pipe *p);

#endif
