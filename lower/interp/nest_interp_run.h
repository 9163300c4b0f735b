/* The inside of the interpreter of level thread (lower/interp/nest_interp.h), shared by its files
 * nest_interp*.c.
 *
 * Before a launch the nest becomes a flat array of instructions: loops and branches are jumps,
 * operands are offsets in a warp's register file.  A Warp has a program counter, registers (each
 * `lanes` elements, with a bit a lane that says whether it is poison), indices of loops, and a
 * clock; control is uniform, so lanes need nothing of their own.  An instruction is executed for
 * all lanes of its warp; one whose result is uniform once, and the result is repeated.
 *
 * Ordering (nest_interp_race.c).  Each warp counts epochs, which its barriers end, and knows how
 * far it has seen the epochs of the others: `clock[w]` is the first epoch of warp w that this warp
 * does not know.  An access of a thread comes before what another thread does now if the epoch in
 * which it was made is known.  Threads of one warp are different threads here: they too need a
 * barrier.  On a CPU, where the lanes are a vector's, each statement ends an epoch.
 *
 *                      program order        BAR of both warps
 *   warp 0  epoch 4:   st [@a]   ...........|  epoch 5
 *   warp 1  epoch 7:   .................... |  ld [@a]: the epoch 4 < clock[0] = 5, so in order
 */
#ifndef NEREID_LOWER_INTERP_NEST_INTERP_RUN_H
#define NEREID_LOWER_INTERP_NEST_INTERP_RUN_H

#include <setjmp.h>

#include "lang/interp/asm_runner.h"
#include "lang/interp/findings.h"
#include "lower/target/atoms.h"
#include "lower/interp/nest_interp.h"

enum { MOST_LANES = 32, ANY_LANE = 63, LANE_BITS = 6, MOST_WARPS = 128 };

typedef struct Warp Warp;
typedef struct Inst Inst;
typedef struct Prog Prog;
typedef void Exec(Warp *w, const Inst *in);

/* c + sum of coef * index of the warp's loops */
typedef struct {
  int64_t c;
  uint32_t n;
  const struct Term {
    uint32_t index;
    int64_t coef;
  } *t;
} Form;

typedef enum { OPERAND_NONE, OPERAND_REG, OPERAND_CONST, OPERAND_FORM } OperandKind;

typedef struct {
  uint8_t kind;
  bool uniform;
  DType type;       /* OPERAND_FORM: what the value is wrapped to */
  uint32_t reg;     /* OPERAND_REG: the variable's first register */
  Form sub;         /* added to it; OPERAND_FORM: the value */
  const Scalar *x;  /* OPERAND_CONST: the value, once a lane */
} Operand;

typedef struct {
  const NestBuffer *buffer; /* NULL: global */
  int64_t offset, size;     /* of the buffer */
  Operand base;
  Form bytes;
  int32_t arg;  /* global: the argument it comes by, or MEMORY_NO_ARG */
  bool tracked; /* global: threads of one program may conflict there */
} Spot;

/* The positions of a fragment's elements: lane and register of row-major position i. */
typedef struct {
  const uint8_t *lane, *reg;
} Fragment;

/* Registers that a WHILE writes. */
typedef struct {
  uint32_t first, count;
} Written;

/* Inline assembly, and scratch for a call: elements by argument, by result, and by result and
 * lane. */
typedef struct {
  AsmTypes types;
  AsmRunner *runner;
  Scalar *in, *out, *lanes;
} NestAsm;

struct Inst {
  Exec *exec;
  const NestStmt *stmt;
  Operand *dsts, *srcs;
  Operand guard;
  Spot *mems;
  DType type, to;
  bool uniform;    /* the result: executed for lane 0, then repeated */
  bool rtz, is_volatile;
  bool everywhere; /* ST: to the shared memory of all thread blocks */
  uint32_t n;      /* consecutive registers */
  uint32_t bytes;  /* of an access of one lane: n elements, or CP_ASYNC's */
  uint32_t target; /* jumps */
  uint32_t slot;   /* of a loop: its index (UNROLL, SERIAL) or its Loop (FOR) */
  int64_t a, b;    /* by instruction */
  NestAsm *inline_asm;
  const Atom *atom;
  const Fragment *fragments; /* MMA: of a, b, c */
  const Written *written;    /* WHILE: so many */
  uint32_t nwritten;
};

/* A FOR in progress. */
typedef struct {
  uint64_t left;
  int64_t index, step;
} Loop;

/* A WHILE in progress, and what an earlier iteration left. */
typedef struct {
  uint64_t iterations;              /* since memory changed */
  uint64_t changes, shared_changes; /* of memory */
  Scalar *x;                        /* of the registers that it writes */
  uint32_t *bad;
} Iteration;

/* The last access to a granule of memory: an access by a thread in an epoch. */
typedef struct {
  uint16_t thread; /* warp << LANE_BITS | lane; NO_THREAD */
  uint32_t epoch;
  uint32_t inst;
} Mark;
enum { NO_THREAD = 0xffff };

typedef struct {
  Mark write;
  Mark read;        /* the last one, if all others are ordered before it */
  uint32_t readers; /* else a mark for each warp: index into Prog.marks, 0 for none */
  uint32_t atomics; /* the same for atomics since the last write */
  uint32_t polls;   /* the same for volatile reads, which may meet atomics but no write */
  uint32_t in_flight : 1; /* an asynchronous copy, `write`, has not ended */
  uint32_t fences : 31;   /* the writer's, when it wrote */
} Cell;

/* A copy of all lanes of a warp that has not ended. */
typedef struct {
  const Inst *inst;
  uint64_t group;
  uint32_t lanes, reads; /* bits: of lanes that copy at all, and not just zeros */
  int64_t to[MOST_LANES];
  uint64_t from[MOST_LANES];
  uint8_t seen[MOST_LANES][16]; /* what there was when the copy began */
} Copy;

/* A copy of a box that has not ended. */
typedef struct {
  const Inst *inst;
  const TensorMap *map;
  uint16_t thread;          /* as a Mark has it */
  int64_t to;               /* in shared memory */
  int64_t at[MAX_MAP_RANK]; /* coordinates */
} Box;

/* A box on its way to global memory, and the bytes that it takes there. */
typedef struct {
  Box box;                  /* `to` is where it comes from */
  uint32_t lane;
  uint64_t group;           /* of its warp */
  bool has_read, has_written;
  uint8_t *bytes;           /* in the order of the box */
} BoxStore;

typedef struct {
  int64_t at;                   /* in shared memory */
  uint32_t count, left;         /* arrivals of a phase, those that are missing */
  int64_t expected, started;    /* bytes of the phase */
  uint64_t phase;               /* phases that have ended */
  uint32_t clock[MOST_WARPS];   /* what all knew that arrived, ... */
  uint32_t ended[MOST_WARPS];   /* ... when the last phase ended */
  VEC(Box) boxes;               /* of the phase */
} Mbarrier;

/* A WGMMA that has not ended: its result's first register, that of a fragment of A, and where the
 * operands begin in their buffers. */
typedef struct {
  const Inst *inst;
  uint64_t group;
  uint32_t acc, a;
  int64_t at[2];
} Flight;

/* A warp's global accesses in its last epoch that had any, and its last atomics that release or
 * acquire.  `at` counts instructions: control is uniform, so the same count in two warps of a role
 * is the same statement of the program. */
typedef struct {
  uint64_t first, last; /* at; 0 if there was none */
  Mark mark;            /* of the first; ANY_LANE for several lanes */
} Accesses;
typedef struct {
  uint64_t at;
  Mark mark;
} Sync;

typedef enum {
  WARP_READY, WARP_AT_BARRIER, WARP_AT_MBARRIER, WARP_AT_CLUSTER, WARP_AT_EXCHANGE, WARP_ENDED
} WarpState;

struct Warp {
  Prog *prog;
  uint32_t id;
  uint32_t block; /* its thread block in the cluster */
  uint32_t role_first, role_warps, role; /* the warps of its role; role 0 is the whole block */
  uint32_t pc;
  WarpState state;
  bool yields;       /* another warp gets a turn after this instruction */
  Scalar *x;         /* by register, `lanes` each */
  uint32_t *bad;     /* by register, a bit a lane: poison */
  const Inst **why;  /* by register: what made it so */
  int64_t *index;    /* by slot */
  Loop *loops;
  Iteration *whiles; /* by slot */
  const Inst *still; /* the WHILE that comes to where it was before; NULL: it goes on */
  uint32_t *clock;   /* by warp */
  uint32_t settled;  /* its own first epoch that its lanes need not know of each other */
  VEC(Copy) copies;
  uint64_t groups;   /* committed */
  VEC(Flight) flights;
  uint64_t mma_groups;
  uint64_t store_groups; /* committed, of boxes */
  uint32_t *held;    /* by register: of those in flight, which lanes were poison before */
  int64_t waits_at;  /* AT_MBARRIER: its address, and which phase */
  const NestStmt *exchange; /* AT_EXCHANGE */
  const struct Barrier *barrier; /* AT_BARRIER */
  uint32_t waits_parity;
  uint32_t fences;   /* of kind proxy, until now */
  uint64_t at, role_at; /* instructions until now, and until the role began */
  Accesses accesses;
  Sync release, acquire;
  uint32_t iterations;
  uint32_t waits; /* at the cluster's barrier, for which it has arrived as often */
};

/* The barrier of all warps of a cluster, where arriving and waiting are apart. */
typedef struct {
  uint32_t missing, phases;     /* arrivals of this phase; phases that have ended */
  uint32_t clock[MOST_WARPS];   /* what all knew that arrived, ... */
  uint32_t ended[MOST_WARPS];   /* ... when the last phase ended */
} ClusterBarrier;

/* An exchange of all warps of the cluster. */
typedef struct {
  const NestStmt *stmt;
  uint32_t missing; /* stores: one a warp */
} Exchange;

typedef struct Barrier {
  uint32_t arrived, expected; /* warps */
} Barrier;
enum { NAMED_BARRIERS = 16, BARRIERS = NAMED_BARRIERS + MOST_WARPS + 1 };

/* Cells of global memory, by granule address; open addressing. */
typedef struct {
  uint64_t *keys; /* granule + 1, 0 for none */
  Cell *cells;
  uint32_t size, count;
} CellMap;

typedef struct Run Run;

struct Prog {
  Run *run;
  uint64_t index;
  uint32_t id[3];
  Warp *warps;
  uint32_t live;  /* warps that have not ended */
  bool yields;    /* other programs get a turn */
  uint32_t iterations;
  uint64_t random;
  Barrier barriers[BARRIERS];
  ClusterBarrier cluster;
  VEC(Mbarrier) mbarriers;
  VEC(Exchange) exchanges;
  VEC(BoxStore) stores;
  uint8_t *shared;
  uint8_t *bad_bytes;
  uint64_t shared_changes; /* stores that changed something there, and copies */
  Cell *cells;
  CellMap global;
  VEC(Mark) marks; /* in groups of as many as there are warps; group 0 is none */
};

struct Run {
  Arena *arena;
  jmp_buf stop; /* at a limit, with the message given */
  Diags *diags;
  Findings *findings;
  Memory *memory;
  const Nest *nest;
  const InterpArg *args;
  uint32_t grid[3];
  uint64_t nprograms;
  uint32_t lanes, warps;  /* of a program */
  uint32_t block_warps;   /* of a thread block; a program has several if it is a cluster */
  uint32_t full;   /* bits of all lanes */
  bool lockstep;   /* a CPU */
  Inst *insts;
  uint32_t ninsts;
  uint32_t registers, indices, loops, whiles;
  const uint32_t *first; /* by variable id: its first register */
  int64_t shared_bytes;   /* of a thread block, ... */
  int64_t block_bytes;    /* ... and from one's first byte to the next one's */
  const int64_t *offsets; /* by buffer id */
  uint32_t shared_granule, global_granule; /* bytes, powers of two */
  uint64_t steps, iterations; /* see InterpOptions; iterations of all warps */
  InterpOptions options;
  VEC(Prog *) live;
  VEC(Prog *) retired;
  uint64_t started;
  uint64_t window, most_live; /* programs alive at a time; when all of these poll */
  size_t turn;
  uint64_t quiet, seen, seen_started;
  Scalar scratch[4][MOST_LANES];
};

/* ---- code (nest_interp_code.c) ---- */
/* Fills run's fields from `insts` on; false, and reported, if the nest takes too much memory. */
bool nest_code(Run *r);
static inline uint32_t nest_blocks(const Run *r) { return r->warps / r->block_warps; }

/* ---- operands (nest_interp_exec.c) ---- */
static inline int64_t form_value(const Warp *w, const Form *f) {
  int64_t v = f->c;
  for (uint32_t i = 0; i < f->n; i++)
    v = (int64_t)((uint64_t)v + (uint64_t)f->t[i].coef * (uint64_t)w->index[f->t[i].index]);
  return v;
}
static inline uint32_t operand_reg(const Warp *w, const Operand *o) {
  return o->reg + (uint32_t)form_value(w, &o->sub);
}
static inline Scalar *reg_lanes(const Warp *w, uint32_t reg) {
  return w->x + (size_t)reg * MOST_LANES;
}

/* An operand's value in all lanes. */
typedef struct {
  const Scalar *x;
  uint32_t bad;
  const Inst *why;
} Vec;

/* Register `k` after the operand's; scratch row `row` may be used. */
Vec operand_vec(Warp *w, const Operand *o, uint32_t k, int row);
/* The lanes in which the instruction acts: those of its guard.  Only bit 0 for uniform ones. */
uint32_t guard_lanes(Warp *w, const Inst *in);
/* Sets register dst+k in `lanes` to x by lane (uniform: to x[0]), and to poison where `bad`. */
void set_reg(Warp *w, const Inst *in, uint32_t k, const Scalar *x, uint32_t lanes, uint32_t bad,
             const Inst *why);

/* ---- findings (nest_findings.c) ---- */
/* Ends the launch with a message about a limit. */
_Noreturn void nest_stop(Run *r, Span at, const char *message, uint64_t count);
typedef enum {
  FOUND_POISON = 2000, FOUND_RACE, FOUND_GLOBAL_RACE, FOUND_ORDER, FOUND_IN_FLIGHT,
  FOUND_COPY_SOURCE,
  FOUND_SHARED_BOUNDS, FOUND_SHARED_ALIGN, FOUND_FAILED_ASSERT, FOUND_ZERO_STEP, FOUND_BARRIER,
  FOUND_PROXY, FOUND_FLIGHT_WRITTEN, FOUND_MBARRIER, FOUND_PLACE, FOUND_STORE_OPEN,
  FOUND_STORE_SOURCE
} NestFinding;
bool nest_found(Warp *w, NestFinding kind, Span at, const void *subject);
/* "the address is undefined here" */
void nest_found_poison(Warp *w, const Inst *in, const Inst *why, const char *what);

/* ---- order of accesses (nest_interp_race.c) ---- */
/* RACE_POLL is a volatile read. */
typedef enum { RACE_READ, RACE_WRITE, RACE_ATOMIC, RACE_POLL, RACE_COPY } RaceVerb;
/* Accesses of one lane (ANY_LANE: of all), to shared memory at byte `at`, ... */
void race_shared(Warp *w, const Inst *in, const Spot *p, RaceVerb verb, uint32_t lane,
                 int64_t at);
/* ... where a copy has ended, ... */
void race_copied(Warp *w, const Inst *in, uint32_t lane, int64_t at);
/* ... or has read another value than there was when it began, ... */
void race_copy_source(Warp *w, const Inst *in);
/* ... where a box has arrived that `thread` expected in that epoch, ... */
void race_arrived(Prog *p, const Inst *in, uint16_t thread, uint32_t epoch, int64_t at,
                  int64_t bytes);
/* ... read or overwritten through the asynchronous proxy, ... */
void race_proxy(Warp *w, const Inst *in, const Spot *p, int64_t at, uint32_t bytes);
/* ... where a box that the lane stored is in global memory, ... */
void race_stored(Warp *w, const Inst *in, uint32_t lane, uint64_t addr, uint32_t bytes);
/* ... and to global memory.  `same`: a store of the value that memory has already. */
void race_global(Warp *w, const Inst *in, const Spot *p, RaceVerb verb, uint32_t lane,
                 uint64_t addr, bool same);
/* Accesses of these lanes to global memory (relaxed atomics too), and an atomic that acquires or
 * releases: the program's accesses before a release come before it, those after an acquire after
 * it, whichever thread does the atomic for all. */
void race_access(Warp *w, const Inst *in, uint32_t lanes);
void race_sync(Warp *w, const Inst *in, uint32_t lanes, bool acquire, bool release);
void race_reset(Prog *p); /* for the program's start */

/* ---- instructions ---- */
Exec nest_exec_op, nest_exec_select, nest_exec_ptr_add, nest_exec_undef, nest_exec_mov,
    nest_exec_pid, nest_exec_nprog, nest_exec_special, nest_exec_lane, nest_exec_warp,
    nest_exec_assert, nest_exec_print, nest_exec_asm,
    nest_exec_nothing, nest_exec_loop, nest_exec_bounds, nest_exec_next, nest_exec_for,
    nest_exec_for_next, nest_exec_while, nest_exec_branch, nest_exec_jump, nest_exec_back,
    nest_exec_role,
    nest_exec_role_end, nest_exec_bar, nest_exec_end, nest_exec_cluster_rank,
    nest_exec_cluster_arrive, nest_exec_cluster_wait, nest_exec_exchange;
Exec nest_exec_ld, nest_exec_st, nest_exec_atom, nest_exec_atom_cas, nest_exec_cp_async,
    nest_exec_cp_commit, nest_exec_cp_wait, nest_exec_ldmatrix;
Exec nest_exec_mbar_init, nest_exec_mbar_arrive, nest_exec_mbar_wait, nest_exec_bulk_copy,
    nest_exec_bulk_store, nest_exec_bulk_commit, nest_exec_bulk_wait;
/* The program's boxes reach global memory, where it ends, unless somebody waited for that. */
void nest_end_stores(Prog *p);
Exec nest_exec_shfl, nest_exec_mma, nest_exec_wgmma, nest_exec_mma_commit, nest_exec_mma_wait,
    nest_exec_fence;

/* ---- shared memory (nest_interp_memory.c) ---- */
/* Is it an aligned address in the buffer?  Reports. */
bool nest_shared_ok(Warp *w, const Inst *in, const Spot *p, int64_t at, uint32_t bytes);
/* An address that all lanes share, from the buffer's start. */
int64_t nest_shared_offset(Warp *w, const Inst *in, const Spot *p);

#endif
