/* Matrix operands of a warpgroup's instructions: their layout in shared memory.
 *
 * `wgmma` reads an operand through a descriptor, which knows few layouts.  Nereid uses these: rows
 * of 32, 64 or 128 bytes along the operand's contiguous axis, their 16-byte chunks swizzled; an
 * axis longer than that is cut into panels of all rows each.  A [128, 128] tile of 16-bit elements:
 *
 *   [128 = 128@byte:128, 128 = 2@byte:16384 64@byte:2] xor 3,4,3
 *
 * Of 16-bit elements any axis may be contiguous, of others only K; a first operand of others that
 * is contiguous along M is read by threads, which hand its fragments over.
 *
 * PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and "Matrix Descriptor
 * Format". */
#ifndef NEREID_LOWER_TARGET_WGMMA_LAYOUT_H
#define NEREID_LOWER_TARGET_WGMMA_LAYOUT_H

#include "lower/nest/nest.h"

/* The layout of a rank 2 tile whose axis `fast` is contiguous, and its bytes. */
Layout wgmma_layout(const Type *tile, int fast, int64_t *bytes);
/* A layout of that kind in panels with rows of so many bytes: 32, 64 or 128, which divide the
 * axis. */
Layout wgmma_panels(const Type *tile, int fast, int64_t row);

/* The axis of operand `which` (0 A [M, K], 1 B [K, N]) that must be contiguous for a descriptor;
 * -1: any may be. */
int wgmma_fast_axis(DType t, int which);

/* Operand `which` may be contiguous along any axis: a descriptor knows that, or else its fragments
 * are loaded to registers, from which the instruction takes its first operand. */
bool wgmma_takes_any_axis(DType t, int which);

/* Has the tile of operand `which` such a layout?  Its axes are whole groups of 8 rows and whole
 * rows of 32 bytes or more. */
bool wgmma_fits(const Type *tile, int which);

/* A lane has two columns of a product's sum that are next to each other, and four of a first
 * operand of bytes: where both operands of the next product have K in another order, sums are its
 * fragments as they are.  16 elements along `axis`: 0 1 8 9, 2 3 10 11, 4 5 12 13 and 6 7 14 15
 * have the places of 0 to 15 in `l`, the layout of a fragment or of a second operand.  False if the
 * digits can't be cut like that. */
bool wgmma_pairs(const Layout *l, int axis, Layout *out);
/* Has the second operand's buffer K in that order? */
bool wgmma_has_pairs(const NestBuffer *b);
/* Has a fragment the axis in that order? */
bool wgmma_lanes_have_pairs(const Layout *l, int axis);

/* An operand as a dot's statement reads it from shared memory: tile and layout of its buffer, or
 * with the axes exchanged where that holds its transpose. */
typedef struct {
  Type tile;
  Layout layout;
} WgmmaOperand;

/* Mem `which` of a DOT or WGMMA; it has a buffer, or else the result is undefined. */
WgmmaOperand wgmma_operand(const NestStmt *dot, int which);

typedef struct {
  bool transposed;         /* the contiguous axis is M or N, not K */
  int row;                 /* bytes of a row: 32, 64 or 128 */
  int64_t leading, stride; /* the descriptor's byte offsets: between panels, between 8 rows */
} WgmmaForm;

/* How the operand `which` is described; false if its buffer has a layout that no descriptor
 * knows. */
bool wgmma_form(const WgmmaOperand *x, int which, WgmmaForm *out);

/* Elements along an axis that are within a panel. */
int64_t wgmma_panel(const WgmmaOperand *x, int axis);

/* Bytes from one element to the one `count` further along an axis.  `count` divides the axis's
 * part within a panel, or is a multiple of it. */
int64_t wgmma_step(const WgmmaOperand *x, int axis, int64_t count);

/* How a program's warps turn an operand in shared memory, which is contiguous along `fast`, so that
 * the other axis is: in units of `step` elements along each of two axes, of which a warp takes
 * `units`.  Warps go along axis[0] first. */
typedef struct {
  int axis[2];
  int step[2], warps[2], units[2];
  bool pairs; /* the result's K is in the order of wgmma_pairs */
} WgmmaTurn;

/* False if the tile is no whole number of units for each warp. */
bool wgmma_turn(const Type *tile, int fast, int warps, WgmmaTurn *out);
/* The one of a statement TURN; false if its buffers have no such layouts. */
bool wgmma_turn_of(const NestStmt *turn, int warps, WgmmaTurn *out);

/* The byte offset of an element from the start of the tile. */
int64_t wgmma_offset(const WgmmaOperand *x, int64_t row, int64_t column);

#endif
