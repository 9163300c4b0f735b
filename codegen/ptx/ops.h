/* The table of elementwise ops; a test walks it. */
#ifndef NEREID_CODEGEN_PTX_OPS_H
#define NEREID_CODEGEN_PTX_OPS_H

#include "codegen/ptx/ptx.h"

/* Templates (ptx_emit).  Float types without one are widened to f32 and rounded.  Integers of 8
 * and 16 bits are extended in 32-bit registers: they take the 32-bit template, or their own for
 * an op that depends on all bits of the register. */
typedef struct {
  const char *s32, *u32, *s64, *u64, *i1, *f32, *f64, *f16, *bf16, *f8;
  const char *bf16_native; /* with BF16_ARITHMETIC */
  const char *narrow;  /* instead of f32, for operands that are widened to it */
  const char *small_s, *small_u; /* $c is 32 less the width */
  bool small_width;    /* $c is the width */
  bool wraps;          /* results of 8 and 16 bits are to be extended anew */
  bool shift;
  bool no_f64;         /* PTX has no such instruction, and the language does not ask for it */
} OpRow;

/* d = a op b, for registers that don't come from a statement. */
void ptx_apply(Ptx *p, TileCode op, DType t, Operand d, Operand a, Operand b);

enum { MAX_RUN = 128 };

/* d, or the statement's own destination if d is nothing.  To be called after all sources were
 * read. */
Operand ptx_dest_of(Ptx *p, const NestStmt *s, Operand d);
/* Moves a value to the statement's destination where its guard holds. */
void ptx_assign(Ptx *p, const NestStmt *s, Operand from);

#endif
