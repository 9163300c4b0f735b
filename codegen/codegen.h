/* From level thread to text: PTX for GPUs, C for CPUs, by tables.
 *
 * codegen owns the two printers, codegen/ptx and codegen/c.  It takes a nest of level thread and a
 * machine, and gives Code: the text with its entry's name, shared memory and threads. */
#ifndef NEREID_CODEGEN_CODEGEN_H
#define NEREID_CODEGEN_CODEGEN_H

#include "lower/target/machine.h"
#include "lower/nest/nest.h"

typedef struct {
  const char *text; /* NUL-terminated */
  size_t len;
  const char *entry; /* the kernel's symbol */
  int64_t shared_bytes;
  int threads;       /* of a thread block: warps * lanes on a GPU, 1 on a CPU */
  int instructions;  /* PTX: printed instructions, for the budget */
  int cluster;       /* PTX: thread blocks of a program; else 0 */
} Code;

/* PTX for a nest at level thread.  False after errors (in `d`). */
bool ptx_print(Arena *a, const Nest *n, const Machine *m, Diags *d, Code *out);

/* Options that a C compiler must be given: the meaning of the text depends on -ffp-contract and
 * -fwrapv; -fno-math-errno and -fno-trapping-math let functions of vectors become instructions.
 * Without -fno-optimize-sibling-calls, GCC 12 passes a last call's vectors in the caller's own
 * arguments, which are aligned to 16 bytes, by instructions that need 64. */
#define C_MEANING_FLAGS \
  "-ffp-contract=off -fwrapv -fno-math-errno -fno-trapping-math -fno-optimize-sibling-calls " \
  "-Wno-psabi"
/* Flags for code that runs on this machine alone. */
#define C_FLAGS "-O2 -march=native " C_MEANING_FLAGS

/* C for a nest at level thread.  The entry has the type
 *   void NAME_launch(const void *args, const uint32_t grid[3], Team *team)
 * args points at 8 bytes a parameter, in order; it runs all programs of the grid, by the threads
 * of a team (runtime/support/team.h) or, if that is NULL, by the caller's. */
bool c_print(Arena *a, const Nest *n, const Machine *m, Diags *d, Code *out);

/* A user's name as an identifier of C that is no word of C or of its headers, no helper of a unit,
 * and looks like no macro. */
const char *c_identifier(Arena *a, const char *name);

/* The suffixes of the names of a kernel's functions in C. */
#define C_FUNCTIONS "", "_program", "_ns", "_launch"

/* The lanes of a unit that c_print made; 0 for another text. */
int c_lanes(const char *unit);

/* About how many nanoseconds a program of the unit's kernel takes; infinite if its arguments decide
 * it, or for another text. */
double c_program_ns(const char *unit);

/* Adds the unit's kernel products of numbers and vectors by itself, without a function of products,
 * or products of bf16, of words of them or of bytes? */
bool c_adds_products(const char *unit);

/* Appends the unit without comments, and with names of its kernel's functions and parameters that
 * are the same in all units: equal texts have the same code.  Another text is appended as it is. */
void c_canonical(Text *out, Arena *a, const char *unit, const char *entry);

/* Several units that c_print made, as one: common parts are printed once, then kernel by kernel.
 * Their entries must have different names.  False if they are of different numbers of lanes, or not
 * what c_print made. */
bool c_join(Text *out, Arena *a, const char *const *units, size_t n);

#endif
