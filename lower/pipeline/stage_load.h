/* Loaded tiles that go through shared memory, so that pass pipeline can load them ahead. */
#ifndef NEREID_LOWER_PIPELINE_STAGE_LOAD_H
#define NEREID_LOWER_PIPELINE_STAGE_LOAD_H

#include "lower/nest/nest.h"

/* Stores what `load`, a NEST whose LD is `ld`, loads to a buffer, from which each thread reads its
 * part again; the loop's statements read that.  Returns the NEST that stores it. */
NestStmt *stage_load(Nest *n, const NestStmt *loop, NestStmt *load, const NestStmt *ld);
/* The bytes of the buffer. */
int64_t stage_bytes(const NestVar *loaded);

#endif
