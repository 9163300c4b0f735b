/* What a text that is accepted goes through: all that a compilation and a run would do with it. */
#ifndef NEREID_TESTS_FUZZ_PIPELINE_H
#define NEREID_TESTS_FUZZ_PIPELINE_H

#include "lower/lower.h"

/* IR of any level, as `nereid compile` reads it. */
void fuzz_ir(const uint8_t *data, size_t size);

/* Runs `body` with an arena that may run out of memory. */
void fuzz_in_arena(void (*body)(Arena *a, const uint8_t *data, size_t size), const uint8_t *data,
                   size_t size);

/* A unit that was read or compiled without errors: it is verified, run, printed and read again
 * after every pass down to level thread, and printed as code.  Fails if the passes make what does
 * not verify, or the texts differ. */
void fuzz_unit(Unit *u);

#endif
