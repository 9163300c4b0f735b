/* The proof that rings are in order: a model checker of level thread.
 *
 * Copies into shared memory and products of warpgroups run while threads go on.  The checker
 * explores all executions of a kernel that differ in what the order of these accesses depends on,
 * and shows for each that no access meets bytes or registers that another one may still be using,
 * and that no wait is for something that never comes.
 *
 *   Program  The statements that matter, as a tree of steps: synchronization, accesses of shared
 *            memory, uses of products' registers, and the integers from which addresses, guards
 *            and parities of these are computed (ring_program.c).
 *   State    Ranges of these integers, and what has not ended: reads and writes since the last
 *            barrier, copies and products in flight with the number of groups after them,
 *            writes without a proxy fence, the phase of each mbarrier (ring_order.c).
 *   Loops    A range may be relative to a variable of unknown value, such as the index of the loop.
 *            When an iteration ends, what is relative to the index moves by the step, so that the
 *            state of a ring repeats after its period; a comparison that the state does not decide
 *            gives two states, which remember the outcome (ring_values.c).  A loop is explored
 *            until its head has no new state: that is the induction over any number of iterations.
 *
 * Control is uniform, so one execution is that of all threads; two accesses without a barrier
 * between them come in any order.  Integers are taken not to overflow, and a thread's own part of
 * an address to be within the tile of one slot, as that of the same access of level nest is. */
#ifndef NEREID_LOWER_VERIFY_RING_H
#define NEREID_LOWER_VERIFY_RING_H

#include "lower/lower.h"
#include "lower/nest/nest_access.h"
#include "lower/target/atoms.h"

/* ---- values ---- */

enum { NO_SYMBOL = -1, UNSET = -2, LEADER = -3, EACH_WARP = -4 };

/* `symbol` + lo..hi, where the symbol is a variable's id, or none.  UNSET: not assigned yet;
 * LEADER: an i1 that is true in one thread, the first; EACH_WARP: in the first of each warp.
 * `bits` has the bits that may be set in a number of 32 bits without a symbol: swizzled addresses
 * are sums and differences of bits.  `split`: the number is `shift`, which all threads add, and a
 * thread's own part. */
typedef struct {
  int64_t lo, hi;
  int32_t symbol;
  uint32_t bits;
  int32_t shift;
  uint32_t split;
} Range;

/* lo <= value of b - value of a <= hi; a < b. */
typedef struct {
  int64_t lo, hi;
  int32_t a, b;
} Fact;

/* ---- what has not ended ---- */

typedef enum { BY_NONE, BY_LEADER, BY_EACH_WARP, BY_ALL, BY_UNKNOWN } Who;

typedef enum {
  RING_READ,      /* by threads, since the last barrier */
  RING_WRITE,     /* the same */
  RING_ATOMIC,
  RING_WRITTEN,   /* before the last barrier, without a fence between */
  RING_COPYING,   /* cp.async; age: groups committed since, 0 before its own */
  RING_BOX,       /* bulk.copy, until its mbarrier's phase ends */
  RING_SENT,      /* bulk.store reads; age: its thread's groups, as above */
  RING_PRODUCT,   /* wgmma reads; age as above */
  RING_RESULT,    /* wgmma writes registers */
  RING_FRAGMENT   /* wgmma reads registers */
} PendingKind;

typedef struct {
  int32_t lo, hi; /* bytes of shared memory, or registers of variable `of` */
  uint32_t of;    /* RING_BOX: its mbarrier's number */
  uint32_t told;  /* bits of mbarriers at which those that did it have arrived since */
  uint16_t step, age;
  uint8_t kind;
  bool leader, fenced;
  bool known;     /* the first thread has waited for such an arrival: for it, this has ended */
} Pending;

typedef struct {
  int32_t expected, started; /* bytes of the phase */
  uint16_t count, missing;   /* arrivals of each phase, and those that this one lacks */
  uint32_t told;             /* as above, of those that have waited for the last phase */
  uint8_t parity;            /* of the phase that is not waited for yet */
  uint8_t waited;            /* Who has, where others may not know it yet; BY_NONE: nobody */
  bool made, known;
  bool ended;                /* all have arrived, and there was a barrier since; no bytes */
  uint8_t unused[3];
} Phase;

enum { MOST_FACTS = 8, MOST_PENDING = 128, MOST_PHASES = 32 };

/* Unused parts are zero: states are compared as bytes. */
typedef struct {
  uint64_t dirty; /* bits of products' variables: accessed since the last fence of kind mma */
  uint32_t nfacts, npending;
  Fact facts[MOST_FACTS];
  Phase phases[MOST_PHASES];
  Pending pending[MOST_PENDING];
  Range values[];
} State;

typedef struct {
  State **data;
  size_t len, cap;
} States;

/* ---- the program ---- */

typedef struct Step Step;
struct Step {
  const NestStmt *st;
  Step *next, *prev, *kids[NEST_MAX_REGIONS];
  uint16_t id;
  bool uses;      /* registers of a product */
  bool exact;     /* UNROLL: each iteration is a step of its own */
  bool covers;    /* assigns all registers of its variable */
  /* FOR, WHILE, SERIAL: bits of variables, by place, that are read later where an iteration begins,
   * and where the loop has ended; after these, bits of the buffers that are accessed later. */
  uint64_t *live_head, *live_out;
  /* FOR: the comparison whose result, at an iteration's end, says whether there is another one; or
   * NULL. */
  const NestStmt *told;
};

typedef struct {
  Unit *u;
  const Nest *n;
  Arena *arena;
  /* Arrays by variable id. */
  int32_t *place;         /* in State.values; -1: not tracked */
  int32_t *product;       /* bit of State.dirty; -1: no register of a product */
  const NestStmt **def;   /* its one definition; NULL: none, or several */
  const uint32_t *ndefs;  /* nest_count_defs */
  int32_t *symbols;       /* by place: the variable */
  uint32_t nvalues, nproducts, nphases;
  VEC(Step *) steps;      /* by id */
  int32_t phase_at[MOST_PHASES]; /* addresses of mbarriers */
  uint32_t phase_buffer[MOST_PHASES]; /* their buffers' ids */
  size_t state_bytes;
  Step *body;
  int64_t *offset;        /* by buffer id, in shared memory */
  Range *index;           /* by index id: of unrolled loops that are open */
  bool proxies;           /* some statement reads or writes through the asynchronous proxy */
  uint32_t live_words;    /* of a set of variables, by place, and buffers, by id after these */
  bool *mixed;            /* by variable: its registers have no common range */
  States spare;           /* freed */
  size_t depth;           /* of loops */
  VEC(void *) rooms;      /* by depth */
  bool again;             /* an unrolled loop's second iteration stands for the others */
  uint32_t heads;         /* states at the heads of loops until now */
  /* The first thing that is not proven. */
  const char *fault;
  Span at, other;
} Check;

/* Finds the steps and the variables; false if the kernel has nothing asynchronous. */
bool ring_program(Check *c);

/* ---- values (ring_values.c) ---- */
Range range_const(int64_t v);
Range range_indices(const NestIndex *i); /* all values */
Range range_affine(const Check *c, const Affine *a);
Range range_of(const Check *c, const State *s, const Ref *r);
/* x + y, where at most one has a symbol. */
Range range_add(Range x, Range y);
bool range_is_const(const Range *r, int64_t v);
/* Is x op y (a comparison) in this state?  1 and 0; -1: unknown, and then `other` may be given, a
 * copy of the state: here it is true, there false. */
int ring_decide(State *s, State *other, TileCode op, Range x, Range y);
/* The assignment of an integer.  A state that must be split gets a copy in `forks`. */
void ring_assign(Check *c, State *s, const Step *step, States *forks);
void ring_set(Check *c, State *s, int32_t place, Range v);
void ring_set_unknown(Check *c, State *s, int32_t place);
/* Forgets what is known relative to a variable that gets another value. */
void ring_forget(Check *c, State *s, int32_t symbol);
/* Which distances between variables are told apart: up to `most`, where that to the symbol of
 * `limit`, a loop's, counts from the limit on. */
typedef struct {
  Range limit;
  int64_t most;
} Near;

/* The variable's value grows by `by` and all that is relative to it stays as it is. */
void ring_move(Check *c, State *s, int32_t symbol, int64_t by, Near near);
/* A loop's index `to` begins with the value `from`: what is known of its distance to `limit`, and
 * the variable at `place`, if it is as far away, are from now on relative to the index. */
void ring_rebase_fact(State *s, Range from, Range limit, int32_t to);
void ring_link(State *s, int32_t place, Range from, int32_t to);
State *ring_copy(Check *c, const State *s);
void ring_drop(Check *c, State *s);

/* ---- order (ring_order.c) ---- */
/* A step that is no control flow and no assignment. */
void ring_access(Check *c, State *s, const Step *step);
/* A statement reads or writes registers of products. */
void ring_use(Check *c, State *s, const Step *step);
void ring_end(Check *c, State *s);
bool ring_is_ordering(const NestStmt *st);

/* Keeps the first fault. */
void ring_fault(Check *c, const char *fault, Span at, Span other);

#endif
