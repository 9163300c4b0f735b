/* Atoms: matrix instructions as rows of data.
 *
 * A row gives the instruction, who can run it, and the layout of its operands in the registers of a
 * warp, as digits over lanes and registers (register numbers count elements of the fragment).
 * Layouts are those of the PTX ISA, "Matrix Fragments for mma.m16n8k*": with group = lane / 4 and t
 * = lane % 4, for 16-bit operands
 *   A[16 x 16]: row = 8*(r/2%2) + group, column = 8*(r/4) + 2*t + r%2      (8 elements a lane)
 *   B[16 x 8]:  row = 8*(r/2) + 2*t + r%2, column = group                   (4)
 *   C[16 x 8]:  row = 8*(r/2) + group,     column = 2*t + r%2               (4)
 *
 * A warpgroup's instruction (`warps` 4) is asynchronous.  Its warps have 16 rows of C each; n is
 * the least number of columns: it computes any multiple, up to 256, whose fragments follow each
 * other in a lane's registers.  B comes from shared memory, A too or from registers
 * (lower/target/wgmma_layout.h).
 * PTX ISA, "Register Fragments and Shared Memory Matrix Layouts" of wgmma.
 */
#ifndef NEREID_LOWER_TARGET_ATOMS_H
#define NEREID_LOWER_TARGET_ATOMS_H

#include "lang/tile/tile.h"
#include "lower/nest/layout.h"

typedef struct {
  const char *name;   /* "m16n8k16.f16": the `atom` attribute of MMA and DOT */
  const char *ptx;    /* "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"; of a warpgroup's what
                         follows the shape, "f32.f16.f16" */
  DType a, b, c;      /* element types (b's is a's unless they differ); DT_F32: see tf32 */
  Tf32 tf32;          /* of f32 operands */
  int m, n, k;
  int sm;             /* the first target that has it */
  int ptx_version;    /* 10 * major + minor */
  const char *la, *lb, *lc; /* layouts of A [m,k], B [k,n], C [m,n] over one warp, as text; of a
                               warpgroup's the 16 rows of one warp, and no B */
  int warps;          /* that execute it together, along M: 1 or 4 */
  bool pairs;         /* a warpgroup's: the two rows of a thread follow each other */
} Atom;

enum { WARPGROUP = 4 };

const Atom *atom_find(const char *name);
const Atom *atom_list(int *n);
/* The row for these operand types on that machine; NULL if it has none. */
const Atom *atom_choose(DType a, DType b, DType c, Tf32 tf32, int sm);
/* Chooses an instruction for a warpgroup's rows, which one machine has and later ones do not; of 8
 * bits also one with `pairs`. */
const Atom *atom_choose_group(DType a, DType b, DType c, Tf32 tf32, int sm, bool pairs);
/* Elements of an operand, or of the result, that a lane holds; which as below. */
int atom_registers(const Atom *atom, int which);
/* An operand's layout as digits; which: 0 A, 1 B, 2 C. */
Layout atom_layout(const Atom *atom, int which);

#endif
