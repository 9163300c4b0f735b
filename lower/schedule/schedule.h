/* The schedule: the layout of each tile of a kernel, as a table beside the tile IR.
 *
 * lower/schedule owns the choice of layouts and of matrix instructions, the schedule's text, and
 * its verifier.  It takes a tile function, with the facts of lower/analysis, and a machine; it
 * gives a Schedule, which lower/build reads.
 *
 * A tile value is either held in registers in a layout, or is *index-only*: a cheap expression of
 * positions and scalars (arange, masks, pointers to a block, constants), recomputed where it is
 * used and never stored; of a chain of more than some hundred such ops the end is held.  Stores
 * have a layout of their own.
 *
 * The pass `schedule` chooses it.  Values that elementwise ops tie together form a group with one
 * layout.  Groups with an anchor choose first: matrix instructions, then the widest global access;
 * the rest follows a neighbour across reductions and shape ops, or takes the plain blocked layout.
 * If an operand has another layout than its op needs, build inserts a relayout.
 *
 * Text form, after the kernel that it belongs to (values by their printed names):
 *
 *   schedule @softmax {
 *     %x: reg [1024 = 2@reg:4 4@warp:1 32@lane:1 4@reg:1]
 *     %acc: reg [...] atom m16n8k16.f16
 *     store 0: [1024 = ...]
 *   }
 */
#ifndef NEREID_LOWER_SCHEDULE_SCHEDULE_H
#define NEREID_LOWER_SCHEDULE_SCHEDULE_H

#include "lower/target/atoms.h"
#include "lower/analysis/axis.h"
#include "lower/lower.h"

typedef struct {
  bool held;        /* in registers; otherwise index-only (or a scalar) */
  Layout layout;
  const Atom *atom; /* of a dot's result; NULL: by multiply-add */
  bool ahead;       /* a load that shall run ahead of its loop, through shared memory */
  bool turned;      /* a load that is copied to shared memory as memory has it, and turned there */
} ValuePlan;

struct Schedule {
  ValuePlan *values; /* by value id */
  uint32_t nvalues;
  Layout *stores;    /* of STORE and VIEW_STORE on tiles, in program order */
  uint32_t nstores;
};

/* True if v is a cheap expression of positions and scalars (see above), as an array by value id. */
bool *schedule_index_only(const TileFunc *f, Arena *a);

/* True if v's op only renames positions, so that nests read through it. */
bool schedule_renames(const TileValue *v);

/* The axes that op, a slice, turns round whole while it keeps the others whole, as bits; 0 if it is
 * no such slice. */
unsigned schedule_flipped_axes(const TileOp *op);

/* The plain layout of a tile: `order` lists its axes from the fastest on; a thread holds `vector`
 * neighbours along order[0]; then come lanes, warps, and what is left. */
Layout schedule_blocked(const Type *tile, const int *order, int vector, int warps, int lanes);

/* An axis spelled by warps, lanes and one register digit, in that order; a thread holds at least
 * `run` elements.  The axis has the warps that other axes leave. */
Layout schedule_runs(const Type *t, int axis, int64_t run, int warps, int lanes);

/* Two axes, along each of which a thread has neighbours, of so many bytes each. */
typedef struct {
  int axis[2];
  int64_t vector[2];
  unsigned bytes[2];
} Cross;
/* A thread holds vectors along both axes, the first one's in neighbouring registers; a warp's lanes
 * are along both. */
Layout schedule_crossed(const Type *tile, const Cross *x, int warps, int lanes);
/* Layout l with a thread's registers reordered: neighbours along the axis are neighbours. */
Layout schedule_vectors_along(const Layout *l, int axis);
/* Layout l, reordered so for all that a thread has beside each other along the axis. */
Layout schedule_runs_along(const Layout *l, int axis);
/* A thread holds n elements along `axis`, and lanes follow axis `first`, then the last ones. */
Layout schedule_repeated(const Type *tile, int first, int axis, int n, int warps, int lanes);
/* The layout in which registers spell the least significant digits of the axis. */
Layout schedule_registers_last(const Layout *l, int axis);
/* The layout in which warps along `axis` change places with registers along another one, as far as
 * these go: a thread has more elements along `axis`, and accesses are as long as before. */
Layout schedule_warps_from(const Layout *l, int axis);

/* The axes of a tile, the last one first. */
void schedule_order(const Type *t, int *order);
/* How often an atom of `step` is repeated along an axis. */
int schedule_repeats(int extent, int step);

/* So many of the warps compute different matrices of a batch. */
int schedule_batch_warps(const Type *tile, int warps);
/* Layouts of the accumulator and the operands of a dot: wm times the atom's warps along M, and wn
 * along N.  which: 0 A [..,M,K], 1 B [..,K,N] (not of a warpgroup's), 2 C [..,M,N]. */
Layout schedule_fragment(const Atom *atom, int which, const Type *tile, int wm, int wn, int warps);
/* The shape in which operand `which` (0 A, 1 B) of a dot by multiply-add is stored: every thread
 * reads the rows and columns of its outputs, those of the accumulator's padding too. */
Type schedule_operand_room(const TileValue *x, const Layout *acc, int which);
/* How the warps of an accumulator's layout are split. */
void schedule_warp_split(const Atom *atom, const Layout *acc, int *wm, int *wn);

/* Can a warpgroup's atom compute this dot? All warps have a part of the result, a matrix descriptor
 * knows the operands' layouts, and a thread has registers for an instruction. */
bool schedule_group_fits(const Unit *u, const Atom *atom, const TileOp *op, int wm, int wn);

/* Are the columns of each of `wn` groups whole panels of a second operand that is contiguous along
 * them? If not, it must be contiguous along K. */
bool schedule_has_panels(const Type *result, int wn);

/* Has a thread of so many warps registers for these accumulators, and for as many others as the
 * assembler keeps for a warpgroup's instruction? */
bool schedule_accumulators_fit(const Machine *m, int warps, int maxnreg, int accumulators);

/* The layout in which a tile is copied to a slot of shared memory, or read from it, that begins
 * there at a multiple of so many bytes. */
Layout schedule_slot(const Unit *u, const Type *tile, int64_t align);
/* Warps of a program: a CPU has one, whatever the kernel asks for. */
int schedule_warps(const Unit *u);
/* Every tile that needs a layout has one, and every atom fits its dot; errors go to u->diags. */
bool schedule_verify(const Unit *u);
void schedule_print(Text *out, const Unit *u);
/* Reads a schedule for u->tile from *at on; false after errors.  Leaves u->schedule NULL if the
 * text holds none there. */
bool schedule_parse(Unit *u, uint32_t file, size_t *at);

#endif
