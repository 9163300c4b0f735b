/* Atoms: matrix instructions as rows of data.
 *
 * A row gives the instruction, who can run it, and how its operands lie in the registers of a warp,
 * as digits over lanes and registers (register numbers count elements of the fragment).
 * Layouts are those of the PTX ISA, "Matrix Fragments for mma.m16n8k*": with group = lane / 4 and
 * t = lane % 4, for 16-bit operands
 *   A[16 x 16]: row = 8*(r/2%2) + group, column = 8*(r/4) + 2*t + r%2      (8 elements a lane)
 *   B[16 x 8]:  row = 8*(r/2) + 2*t + r%2, column = group                   (4)
 *   C[16 x 8]:  row = 8*(r/2) + group,     column = 2*t + r%2               (4)
 */
#ifndef NEREID_LOWER_ATOMS_H
#define NEREID_LOWER_ATOMS_H

#include "lower/layout.h"

typedef struct {
  const char *name;   /* "m16n8k16.f16": the `atom` attribute of MMA and DOT */
  const char *ptx;    /* "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" */
  DType a, b, c;      /* element types (b's is a's unless they differ); DT_F32 with tf32 below */
  bool tf32;          /* f32 operands, of which the upper 19 bits count */
  int m, n, k;
  int sm;             /* the first target that has it */
  int ptx_version;    /* 10 * major + minor */
  const char *la, *lb, *lc; /* layouts of A [m,k], B [k,n], C [m,n] over one warp, as text */
} Atom;

const Atom *atom_find(const char *name);
const Atom *atom_list(int *n);
/* The row for these operand types on that machine; NULL if it has none. */
const Atom *atom_choose(DType a, DType b, DType c, bool tf32, int sm);
/* An operand's layout as digits; which: 0 A, 1 B, 2 C. */
Layout atom_layout(const Atom *atom, int which);

#endif
