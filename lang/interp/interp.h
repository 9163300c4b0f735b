/* The reference interpreter of the tile IR: it defines what every op means (`--device interp`).
 *
 * lang/interp owns the meaning of every op, and the checked memory (checked_memory.h) in which both
 * interpreters find races and bad accesses.  It takes a TileFunc, its arguments and a grid, and
 * gives the contents of memory, and findings as diagnostics.
 *
 * It evaluates ops element by element in the op's own dtype and shares no code with lowering or the
 * code generators.  What the op table leaves open, it settles so:
 *   integer division  by zero: all bits one; remainder by zero: the dividend; the smallest number
 *                     by -1 wraps.  Shift amounts count as unsigned.
 *   min, max          -0 is less than +0
 *   fma               f16, bf16 and f8 like all ops: rounded to f32, then to the dtype
 *   cast              to f8 saturates at the largest finite number, infinities too (cvt.satfinite);
 *                     f8e4b15 goes by way of f16, ties away from zero, has no NaN (Triton's code);
 *                     integers to floats round once
 *   reduce, scan      trees over neighbours (lang/interp/interp_reduce.c): operands keep their
 *                     order.  For floats the order is free for other executors, so results differ
 *                     by rounding; combine functions must be associative, not commutative.
 *   dot               lang/interp/interp_dot.c; `precision` left out is tf32; the split forms
 * (tf32x3, bf16x3, bf16x6) count as the precision they approximate: ieee
 *   gather            an index outside is reported, the element undefined
 *   load              an element masked off without `other` is undefined
 *   sem, scope        left out: acq_rel, gpu; scope cta orders nothing between programs
 *
 * Programs have explicit frames, not the host's stack, so a program that spins on an atomic yields
 * to the others; programs run round-robin in a seeded order.  Up to 64 are alive at a time, more
 * when all of these wait.
 * Findings (see lang/interp/checked_memory.h), failed device_asserts, undefined values that reach
 * memory or control flow, integer wraps that reach an address, deadlocks and infinite loops go to
 * `d` with their location in the kernel's source.
 */
#ifndef NEREID_LANG_INTERP_INTERP_H
#define NEREID_LANG_INTERP_INTERP_H

#include "lang/interp/checked_memory.h"
#include "lang/tile/scalar.h"
#include "lang/tile/tile.h"

/* A launch argument's bits, by tile parameter (TileFunc.params order): integers sign- or
 * zero-extended, f16/bf16/f32/f64 as their own bits, pointers as host addresses.
 * The Memory's arguments are numbered likewise, from 0. */
typedef struct {
  uint64_t bits;
} InterpArg;

/* Limits of a launch in either interpreter, and the receiver of the lines that it prints. */
typedef struct {
  uint64_t steps;      /* operations; 0: any number */
  uint64_t iterations; /* of `while` loops since a program began or ended; 0: INTERP_ITERATIONS */
  /* Gets each line of device_print, with its newline; NULL: C's stdout does. */
  void (*print)(void *context, const char *line);
  void *context;
} InterpOptions;
enum { INTERP_ITERATIONS = 1 << 24 }; /* some seconds */

/* The number of the machine that op SPECIAL of this kind gives, in either interpreter. */
int64_t interp_special_number(const char *kind, const uint32_t id[3], const uint32_t grid[3]);

/* Reports that either interpreter ran out of memory, and returns -1. */
int interp_out_of_memory(Memory *m, Diags *d, Span kernel);
/* Runs the whole grid of a function that tile_verify accepts.  Returns 0, or -1 if it had to stop
 * (deadlock, an endless loop, or a limit); findings alone do not stop it. */
int tile_interp(const TileFunc *f, const InterpArg *args, const uint32_t grid[3], Memory *m,
                Diags *d, InterpOptions options);

#endif
