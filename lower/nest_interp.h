/* The interpreter of level thread (`--device nest`): runs the very statements that PTX and C are
 * printed from, warps and lanes.
 *
 * It is adversarial.  Warps of a program run in a seeded order and switch at every shared or
 * global access of consequence, barrier and wait; an asynchronous copy reads its source and writes
 * its target as late as its wait allows, and both are poison meanwhile; registers start as
 * poison, and poison that reaches an address, a guard, a branch or global memory is reported.
 * Shared memory keeps for every byte who accessed it since which barrier: two warps (or two lanes)
 * that access one byte, at least one writing, without a barrier between, are a race, reported
 * with both places.  A barrier that not all its warps reach, and a launch in which nothing moves any
 * more, is a deadlock, reported with where each warp waits.  Global memory goes through
 * lang/memory.h.
 */
#ifndef NEREID_LOWER_NEST_INTERP_H
#define NEREID_LOWER_NEST_INTERP_H

#include "lang/interp.h"
#include "lower/nest.h"

/* Runs the grid; args by nest parameter.  Returns 0, or -1 if it had to stop. */
int nest_interp(const Nest *n, const InterpArg *args, const uint32_t grid[3], Memory *m, Diags *d,
                uint64_t max_steps);

#endif
