/* The table of elementwise ops; a test walks it. */
#ifndef NEREID_CODEGEN_PTX_OPS_H
#define NEREID_CODEGEN_PTX_OPS_H

#include "codegen/ptx/ptx.h"

/* How 8- and 16-bit integers are done where the 32-bit instruction does not serve. */
typedef enum { SMALL_NONE, SMALL_MULHI, SMALL_POPC, SMALL_CLZ, SMALL_BREV, SMALL_COUNT } SmallOp;

/* Templates (ptx_emit).  Float types without one are widened to f32 and rounded; integers of 8 and
 * 16 bits are done by the 32-bit template. */
typedef struct {
  const char *s32, *u32, *s64, *u64, *i1, *f32, *f64, *f16, *bf16, *f8;
  const char *bf16_90; /* from sm_90 on */
  const char *narrow;  /* instead of f32, for what is widened to it */
  uint8_t small;       /* SmallOp */
  bool wraps;          /* results of 8 and 16 bits are to be extended anew */
  bool shift;
  bool no_f64;         /* PTX has no such instruction, and the language does not ask for it */
} OpRow;

const OpRow *ptx_op_row(TileCode op);

/* d = a op b, for registers that don't come from a statement. */
void ptx_apply(Ptx *p, TileCode op, DType t, Operand d, Operand a, Operand b);

enum { MAX_RUN = 128 };

/* d, or the statement's own destination if d is nothing.  To be called after all sources were
 * read. */
Operand ptx_dest_of(Ptx *p, const NestStmt *s, Operand d);
/* Moves a value to the statement's destination where its guard holds. */
void ptx_assign(Ptx *p, const NestStmt *s, Operand from);

#endif
