/* Which statements access a variable, and which accesses of shared memory by threads of a program
 * must be ordered by a barrier. */
#ifndef NEREID_LOWER_NEST_NEST_ACCESS_H
#define NEREID_LOWER_NEST_NEST_ACCESS_H

#include "lower/nest/nest.h"

/* Does the statement, or one inside of it, assign the variable; take its value; either? */
bool nest_sets(const NestStmt *st, const NestVar *v);
bool nest_reads(const NestStmt *st, const NestVar *v);
bool nest_touches(const NestStmt *st, const NestVar *v);
/* How often a variable is defined, by its id: more than once inside of blocks. */
const uint32_t *nest_count_defs(Arena *a, const Nest *n);
/* Do the accesses conflict, where one thread does `a` and another one `b`, of overlapping buffers?
 * Writes of one buffer go to different bytes (each element has one writer), and atomics are ordered
 * among themselves: accesses of one kind to one buffer do not wait for each other, others do,
 * unless a thread loads what it has stored itself. */
bool nest_accesses_conflict(const uint32_t *defs, const NestStmt *a, const NestStmt *b,
                            bool one_buffer);
bool nest_buffers_overlap(const NestBuffer *a, const NestBuffer *b);

#endif
