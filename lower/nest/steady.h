/* Steady memory: that of the parameters of option `steady`, which no kernel writes that may still
 * run when this one starts.  A dependent launch reads it before its wait. */
#ifndef NEREID_LOWER_NEST_STEADY_H
#define NEREID_LOWER_NEST_STEADY_H

#include "lower/nest/nest.h"

/* Indexed by variable id: pointers to steady memory, whatever path their values took. */
bool *steady_pointers(Arena *a, const Nest *n);
/* The statement, with those inside it, reads no global memory but steady one, writes none, and has
 * no effect that other programs or kernels see. */
bool steady_alone(const Nest *n, const bool *steady, const NestStmt *st);
/* The wait for the kernel before this one, a statement of the kernel's body; NULL: it has none. */
NestStmt *steady_wait(const Nest *n);

#endif
