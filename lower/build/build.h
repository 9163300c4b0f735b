/* Pass build: a tile function and its schedule become level nest.
 *
 * lower/build owns the lowering of ops on tiles to statements over layouts, the relayouts between
 * them, and the barriers that order global memory.  It takes a tile function with its schedule, and
 * gives a nest of level nest.  Its one entry is pass_build (lower/passes.h); this header is shared
 * by the build_*.c files.
 *
 * Scalars become uniform variables or immediates.  A held tile becomes a variable in its layout; an
 * index-only tile, a shape op that only renames positions, and an elementwise op with one use
 * become expressions inside the nests that use them (build_value_at).  Control flow updates
 * variables in place.
 */
#ifndef NEREID_LOWER_BUILD_BUILD_H
#define NEREID_LOWER_BUILD_BUILD_H

#include "lower/schedule/schedule.h"

/* An operand that was asked for in another layout than it is held in. */
typedef struct {
  uint32_t value;
  NestVar *var;
} Converted;

/* An expression that the current nest has computed. */
typedef struct {
  uint32_t nest; /* number of the nest; 0: none */
  Affine axes[MAX_RANK];
  Ref ref;
} Memo;

/* The position that the statements of a tile block go to. */
typedef struct {
  const TileBlock *tile;
  NestBlock *nest;
} BlockPair;

/* The layout of a dot's operand in shared memory: for multiply-add, for ldmatrix, for a
 * descriptor. */
typedef enum { OPERAND_PLAIN, OPERAND_ROWS, OPERAND_PANELS } OperandForm;

/* A dot's operand in shared memory. */
typedef struct {
  const TileValue *value, *stored; /* the operand, and the tile that it is, or the transpose of */
  bool swapped;                    /* it is the transpose */
  Type room;
  OperandForm form;
  int fast; /* the contiguous axis of the buffer; asked for: -1 if any may be */
  bool pairs; /* its K is in the order of wgmma_pairs */
  NestBuffer *buffer;
  NestBlock *block; /* in which it was stored */
} Staged;

/* The buffer of a slot of shared memory. */
typedef struct {
  int64_t slot;
  NestBuffer *buffer;
} Park;

/* A global access since the last barrier. */
typedef struct {
  int64_t base; /* the parameter's id; -1: unknown */
  const TileOp *op;
  Layout layout;
  bool write;
} Pending;
/* The accesses that were pending at a time, as a range of Build.pending.  While a mark may be
 * joined yet, nothing before its end changes there. */
typedef struct {
  size_t from, to;
} PendingMark;
/* The accesses that one side of a branch leaves pending. */
typedef struct {
  PendingMark before; /* the branch ... */
  bool keeps_before;  /* ... of which all is pending still, or (after a barrier) nothing */
  Pending *made;      /* on this side */
  size_t n;
} PendingSide;

typedef struct Build {
  Unit *u;
  Arena *scratch;
  Nest *nest;
  NestBuilder b;
  AxisInfo *axis;
  uint32_t *uses;
  TileOp **user;   /* by value id: the last one */
  bool *inlined;   /* by value id: an elementwise op that its one user computes */
  Ref *scalar;     /* by value id */
  NestVar **var;   /* by value id: held tiles */
  Memo *memo;      /* by value id */
  uint32_t nests, current; /* numbers of the last nest, and of the open one */
  VEC(Converted) converted; /* in the block at hand, and in those around it */
  VEC(Pending) pending; /* from pending_from on; those before are only of marks */
  size_t pending_from;
  struct Pointers *pointers; /* of build_order.c: the parameters that accesses go through */
  VEC(BlockPair) blocks;
  VEC(Staged) staged;
  VEC(Park) parks;
  uint32_t next_store;
  bool met;     /* a loop before has waited for all thread blocks to begin */
  bool failed;
} Build;


/* ---- build_value.c: expressions and layouts ---- */

/* An open NEST: its axes as affine forms, and where the builder stood. */
typedef struct {
  NestStmt *stmt;
  Affine axes[MAX_RANK];
  NestBlock *outer;
  NestStmt *outer_before;
  uint32_t outer_nest;
} Open;

Open build_open(Build *s, const Layout *layout);
void build_close(Build *s, const Open *o);
/* The element of v at these axes, inside the open nest over `layout`. */
Ref build_value_at(Build *s, const TileValue *v, const Affine *axes, const Layout *layout);
/* A mask (NULL: none) as a guard: none if it is true, else a variable. */
Ref build_guard_at(Build *s, const TileValue *mask, const Affine *axes, const Layout *layout);
/* A variable with v's elements in exactly this layout. */
NestVar *build_held(Build *s, const TileValue *v, const Layout *layout);
/* A variable with v's elements in the layout that the schedule gives v (or a plain one). */
NestVar *build_own(Build *s, const TileValue *v);
Layout build_layout_of(Build *s, const TileValue *v);
/* from, a var, in another layout; both hold the same elements in row-major order. */
/* The bytes from a row to the next by which the threads of both layouts wait least for banks: those
 * of `pitch`, unless others are better. */
int64_t build_pitch_of_turns(const NestVar *from, const NestVar *to, int64_t columns, int64_t size,
                             int64_t pitch);
NestVar *build_relayout(Build *s, NestVar *from, const Type *tile, const Layout *to);
bool build_same_threads(const Layout *a, const Layout *b);
/* A reference to a tile variable at axes. */
Ref build_tile_ref(Build *s, NestVar *v, const Affine *axes);
Ref build_scalar(Build *s, const TileValue *v);
/* The block in which v has its value, if the builder is in that block or inside it (else the
 * builder's own), with the builder moved there: after what is in it so far, before the statement
 * that leads to where the builder was. */
NestBuilder build_at_definition(Build *s, const TileValue *v);
/* A uniform variable for a scalar result; a tile variable for a held one. */
NestVar *build_result(Build *s, const TileValue *v);
NestVar *build_temp(Build *s, DType t, DType elem);
void build_copy_tile(Build *s, NestVar *to, const TileValue *from);
/* The statement of inline assembly. */
void build_asm_stmt(Build *s, const TileOp *op, const Ref *srcs, NestVar *const *made);
Ref build_op(Build *s, TileCode code, DType type, Ref x, Ref y, Ref z); /* a new temp */
Ref build_cast(Build *s, Ref x, DType from, DType to);                  /* the same */
/* Row-major byte offset of `axes` in a buffer of `shape`, as a form in the open nest. */
Affine build_linear(const Type *tile, const Affine *axes, int64_t elem_bytes);
/* dst := op(x), an elementwise op with the types and the rounding of `op`. */
void build_elementwise(Build *s, const TileOp *op, Ref dst, const Ref *x);
NestBuffer *build_tile_buffer(Build *s, const char *name, const Type *tile);
NestStmt *build_ld_shared(Build *s, Ref dst, DType t, NestBuffer *buf, Ref base, Affine bytes);
NestStmt *build_st_shared(Build *s, Ref src, DType t, NestBuffer *buf, Ref base, Affine bytes);
/* Stores a whole variable to a row-major buffer of its own. */
NestBuffer *build_to_buffer(Build *s, NestVar *v, const Type *tile);

/* ---- build_mem.c: loads, stores, atomics; slots of shared memory ---- */
void build_memory(Build *s, const TileOp *op);
void build_slot(Build *s, const TileOp *op);

/* ---- build_order.c: barriers between accesses ---- */
void build_barrier(Build *s);
/* Before an access that may meet an earlier one of another thread: a barrier. */
void build_order(Build *s, const TileOp *access, const Layout *l);
/* Copies of elements that other threads may have written come after a barrier. */
void build_order_copies(Build *s);
/* At the start of a loop's body: a barrier if an iteration may meet the one before it. */
void build_loop_barrier(Build *s, const TileOp *loop);
/* Before all others: finds what is written to. */
void build_plan_order(Build *s);
/* Before a loop: decides which of its loads may run ahead of their iteration (build_is_pinned),
 * and puts a barrier there if one of these meets an earlier access. */
void build_plan_ahead(Build *s, const TileOp *loop);
/* True if the load must keep its order among the accesses of its loop. */
bool build_is_pinned(const Build *s, const TileOp *load);
/* The accesses that are pending now, and after control flow joins. */
PendingMark build_pending(const Build *s);
void build_join_pending(Build *s, PendingMark before); /* a loop: as before it, too */
/* Between the sides of a branch: what was pending before it is again. */
PendingSide build_pending_else(Build *s, PendingMark before);
void build_join_sides(Build *s, const PendingSide *then);
Layout build_whole_program(const Build *s); /* of a scalar: in all threads */

/* ---- build_fold.c, build_shape.c, build_dot.c ---- */
void build_fold_op(Build *s, const TileOp *op, NestCode code); /* NEST_REDUCE or NEST_SCAN */
void build_shape_op(Build *s, const TileOp *op);
void build_dot_op(Build *s, const TileOp *op);

#endif
