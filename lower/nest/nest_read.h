/* What the files share that read loop nests: nest_read.c (statements), nest_read_ref.c (operands),
 * nest_read_head.c (the header, declarations).
 */
#ifndef NEREID_LOWER_NEST_NEST_READ_H
#define NEREID_LOWER_NEST_NEST_READ_H

#include "lower/nest/nest_text.h"

typedef struct {
  IrReader r;
  Nest *n;
  IrMap vars, buffers;
  VEC(NestIndex *) open; /* indices of the loops around, outermost first */
  int depth;
} NestReader;

/* Each reports what it does not find; from then on p->r.failed is set. */
Affine nest_read_affine(NestReader *p);
NestVar *nest_read_var_name(NestReader *p); /* a variable that is declared */
Ref nest_read_var(NestReader *p);           /* with its subscript */
Ref nest_read_ref(NestReader *p);
Mem nest_read_mem(NestReader *p); /* [@buffer + %base + affine], [%pointer + affine] */
/* Statements up to `}`. */
void nest_read_block(NestReader *p, NestBlock *b);

#endif
