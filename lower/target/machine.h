/* Machine descriptions: limits, capabilities and peaks of a target, as data only.  A new target is
 * a row of machine_table.h.
 *
 * lower/target owns these rows, the matrix instructions (atoms.h) and the layouts of their operands
 * in shared memory (wgmma_layout.h).  It takes a target's name, or shapes and dtypes of a product,
 * and gives the row. */
#ifndef NEREID_LOWER_TARGET_MACHINE_H
#define NEREID_LOWER_TARGET_MACHINE_H

#include "lang/base/options.h"
#include "lower/nest/nest.h"

typedef enum { MACHINE_GPU, MACHINE_CPU } MachineKind; /* its code is PTX, or C */

/* Capabilities, a bit each.  Passes and printers ask for a capability, never for the kind or the
 * number of an architecture; lists of passes are chosen by them (lang/base/pass.h). */
#define CAPABILITIES(X) \
X(ASYNC_COPIES,       "copies from global to shared memory can be asynchronous (cp.async)") \
X(EXPANDED_LOOPS,     "code has a copy of an unrolled loop's body for each of its values; else it stays a loop, and register arrays are memory") \
X(LOCKSTEP,           "all lanes of a program run each statement before the next one") \
X(VECTOR_ACCESSES,    "a lane's access takes several neighbouring elements, up to `vector_bytes`; else one") \
X(COALESCING,         "an access of lanes to neighbouring addresses is one transaction, others are several") \
X(BANKED_SHARED,      "shared memory is memory of its own, in banks; else it is cached like global memory") \
X(SERIAL_PROGRAMS,    "a processor runs the programs of grid axis 0 one after the other") \
X(F8_CONVERSIONS,     "instructions convert to and from 8-bit floats") \
X(BF16_ARITHMETIC,    "instructions add, subtract and multiply bf16") \
X(ASYNC_PROXY,        "asynchronous units read shared memory through a proxy of their own, which fences order") \
X(REGISTER_SHIFTS,    "warpgroups can hand registers to each other (setmaxnreg)") \
X(GRID_DEPENDENCIES,  "a grid may start before the one before it has ended, and wait for it (griddepcontrol)") \
X(CLUSTERS,           "thread blocks of a cluster write to each other's shared memory, and have a barrier") \
X(EXTREMA_OF_THREE,   "the assembler merges two integer min or max into one of three operands") \
X(FAR_STREAMS,        "memory is read faster in order where a program asks for it many lines ahead") \
X(MATRIX_TILES,       "a unit multiplies tiles of 16 rows of words, of four bytes or two bf16 each")

#define X(name, doc) CAPABILITY_##name,
enum { CAPABILITIES(X) CAPABILITY_COUNT };
#undef X
#define X(name, doc) HAS_##name = 1 << CAPABILITY_##name,
enum { CAPABILITIES(X) };
#undef X

/* Registers of a multiprocessor, of all GPUs of the table; threads get them in steps. */
enum { REGISTER_FILE = 65536, REGISTER_STEP = 8 };

/* Peaks of one device of a target; operations are those of a multiprocessor in a clock: a fused
 * multiply-add is two, sums of 16-bit products are in f32. */
typedef struct {
  const char *device; /* "H200"; NULL for a CPU, as the zeros below are */
  int processors;
  double clock, bandwidth; /* Hz, bytes a second */
  double f32, f16, f8;
  int64_t cache;  /* the L2 cache, in bytes */
  int64_t shared; /* bytes of a multiprocessor's shared memory */
  int threads;    /* that a multiprocessor holds */
} MachinePeaks;

/* Bytes that a thread copies asynchronously at once, at least (HAS_ASYNC_COPIES). */
enum { MACHINE_COPY_LEAST = 4 };

typedef struct {
  const char *name;      /* "sm_90a", "cpu" */
  MachineKind kind;
  int sm;                /* 90 of sm_90a; 0 for a CPU */
  int ptx, f8_ptx;       /* the least PTX version, 70 for 7.0; that of F8_CONVERSIONS */
  int lanes;             /* 32; on a CPU: 32-bit elements of a SIMD register, see machine_find */
  int max_warps;         /* a program */
  int regs;              /* 32-bit registers a thread at most */
  int64_t shared;        /* bytes of shared memory a program can have */
  int vector_bytes;      /* widest access of a thread */
  unsigned has;          /* capabilities: HAS_ASYNC_COPIES | ... */
  MachinePeaks peaks;
} Machine;

static inline bool machine_has(const Machine *m, unsigned capabilities) {
  return (m->has & capabilities) == capabilities;
}

/* A dot of so many steps or more, or of a word's, is computed in C by calls of a function that
 * kernels share. */
enum { MACHINE_CALLED_STEPS = 6, MACHINE_CALLED_WORDS = 4 };
/* The most vectors of a row of a dot's block of a wide tile. */
int machine_block_vectors(const Machine *m);
/* How many of a tile's vectors a block has: those that divide them, and five that nothing else
 * does. */
int machine_vectors_of(const Machine *m, int vectors);
/* The most rows of a dot's block that registers hold, of so many vectors each, beside the vectors
 * of a step and one element. */
int machine_block_rows(const Machine *m, int vectors);
/* The block of a dot's tile of so many rows and vectors: numbers that divide them. */
typedef struct {
  int rows, vectors;
} MachineBlock;
MachineBlock machine_block_of(const Machine *m, int rows, int vectors);

/* Rows of a tile (HAS_MATRIX_TILES), and its words along the sum; it is a vector wide. */
enum { MACHINE_TILE = 16 };
/* Fewer rows than these are multiplied by vectors: attention of one row took 121 us of a Sapphire
 * Rapids' core by tiles, and 67. */
enum { MACHINE_TILED_ROWS = 3 };

/* Does the CPU at hand, as far as m uses it, multiply pairs of bf16 by one instruction? */
bool machine_multiplies_pairs(const Machine *m);

/* NULL if there is no such target.  "cpu" gives the CPU at hand, as NEREID_CPU narrows it; "cpu:8"
 * one of 8 lanes. */
const Machine *machine_find(const char *target);
/* The CPU of that name; NULL where the CPU at hand has not all that it has. */
const Machine *machine_asked(const char *name);
const Machine *machine_of_sm(int sm); /* NULL if there is none */
/* The CPU with half of the lanes, whose registers hold as many 64-bit elements; NULL if there is
 * none. */
const Machine *machine_of_half(const Machine *m);
const Machine *machine_list(int *n); /* all, for `nereid info` and messages */

#endif
