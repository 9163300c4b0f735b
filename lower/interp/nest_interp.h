/* The interpreter of level thread (`--device nest`): runs the very statements that PTX and C are
 * printed from, warps and lanes.
 *
 * lower/interp owns the meaning of each statement of level thread, and the detection of races,
 * deadlocks and poison.  It takes a nest, arguments and a grid, and gives the contents of memory
 * and diagnostics.
 *
 * It is adversarial.
 *   Order       Warps of a program run in a seeded order and switch at barriers, waits, atomics and
 *               iterations.  Programs that poll let others run, and others start.
 *   Async       A copy reads its source and writes its target as late as its wait allows; whoever
 *               touches the target before is reported.
 *   Poison      Registers and shared memory start as poison.  It travels with values, and is
 *               reported where it reaches an address, a guard, a branch or global memory.
 *   Races       Two threads (lanes of one warp too) that access one byte, at least one writing,
 *               without a barrier between: reported with both locations.  Threads may store one
 *               value to one address of global memory.  An atomic that releases comes after all
 *               that its program accessed before, one that acquires before all after: another
 *               thread's access needs a barrier, which is reported if there is none.
 *   Deadlock    A barrier that not all its warps reach, reported with where each warp waits; a
 *               launch in which nothing moves any more; a loop whose values come again.
 * On a CPU (target "cpu"), lanes are those of a vector: statements are done one after the other,
 * and only the lanes of one statement can race.  Global memory goes through
 * lang/interp/checked_memory.h; Access.arg is a parameter's `arg`.
 */
#ifndef NEREID_LOWER_INTERP_NEST_INTERP_H
#define NEREID_LOWER_INTERP_NEST_INTERP_H

#include "lang/interp/interp.h"
#include "lower/nest/nest.h"

/* Runs the grid of a nest that nest_verify accepts; args by nest parameter.  Returns 0, or -1 if it
 * had to stop. */
int nest_interp(const Nest *n, const InterpArg *args, const uint32_t grid[3], Memory *m, Diags *d,
                InterpOptions options);

#endif
