/* The inside of the reference interpreter (lang/interp/interp.h), shared by its files interp*.c.
 *
 * Before a launch the function becomes Code: for each block its ops in an array, each with the
 * function that executes it and the values that die after it.  A Prog is a program that runs: the
 * values it holds, and a stack of frames, one for each block it is inside of.  Each op is executed
 * for a whole tile; storage is counted by reference and given back when a value dies.
 *
 *   Frame         block     owner
 *   body          fn->body  none
 *   region of IF  regions[k] the IF;  FOR and WHILE the same, REDUCE and SCAN run inside
 *
 * Elements carry flags: UNDEF (an UNDEF, or loaded where the mask was false and there was no
 * `other`) and WRAPPED (a signed add, sub or mul that feeds an address has overflowed).  Flags
 * travel with values and are reported where they reach memory or control flow.
 *
 * Regions of REDUCE and SCAN are scalar code.  Where they are elementwise they are executed for
 * many lanes at once: then a value of the region has `lanes` elements, and a scalar from outside,
 * which has one, is broadcast to all lanes. */
#ifndef NEREID_LANG_INTERP_INTERP_RUN_H
#define NEREID_LANG_INTERP_INTERP_RUN_H

#include <setjmp.h>

#include "lang/interp/findings.h"
#include "lang/interp/interp.h"

enum { FLAG_UNDEF = 1, FLAG_WRAPPED = 2 };
/* Programs that run at a time, unless all of them wait; they start in an order that is shuffled
 * within windows of as many. */
enum { INTERP_WINDOW = 64 };

/* A value of a program.  x and flags are counted blocks (interp_alloc). */
typedef struct {
  Scalar *x;
  uint8_t *flags; /* NULL: none set */
  uint32_t n;
  int32_t arg;           /* of pointers: the argument they come by, or MEMORY_NO_ARG */
  const TileOp *undef;   /* an op that made an element UNDEF, for the message */
  const TileOp *wrapped; /* the same for WRAPPED */
} Val;

typedef struct Prog Prog;
typedef struct Inst Inst;
typedef void Exec(Prog *p, const Inst *in);

typedef struct {
  const TileBlock *block;
  Inst *insts;
  uint32_t ninsts;
  bool elementwise; /* only ELEM ops and the terminator: lanes may run together */
} Code;

struct Inst {
  const TileOp *op;
  Exec *exec;
  const void *data; /* of inline assembly: its AsmRunner */
  Code **regions;
  uint32_t *dead; /* ids of values that nothing uses after this op */
  uint32_t ndead;
  bool transfers; /* control goes elsewhere: who brings it back buries the dead */
};

/* A slot in which a program parks elements. */
typedef struct {
  int64_t slot;
  Val elements;
} Parked;

/* The values that a program's thread blocks bring to a reduction that joins them, in their order,
 * as they arrive: operand by operand. */
typedef struct {
  uint64_t program, number; /* number: of the joins that the program's blocks have had before */
  Val *results;
  uint32_t arrived, left;
  bool has[TILE_CLUSTER_MOST];
} Join;

/* A block that is being executed. */
typedef struct {
  const Code *code;
  uint32_t next;        /* instruction */
  const Inst *owner;    /* NULL: the function's body */
  uint64_t left;        /* FOR: iterations after this one */
  int64_t index, step;  /* FOR: of this iteration */
  Val *carried;         /* WHILE: the values that an earlier iteration began with */
  uint64_t changes;     /* WHILE: of memory, when that iteration began */
  uint64_t iterations;  /* WHILE: since memory changed */
} Frame;

typedef enum { PROG_READY, PROG_WAITS } ProgState;

/* Blocks of storage, by the logarithm of their size; `free` lists are linked through the blocks. */
enum { STORE_CLASSES = 40 };
typedef struct StoreBlock StoreBlock;

typedef struct {
  Arena *arena; /* of this launch */
  jmp_buf stop; /* at a limit, with the message given */
  Diags *diags;
  const TileFunc *fn;
  const InterpArg *args;
  uint32_t grid[3];
  uint64_t nprograms;
  Memory *memory;
  Findings *findings;
  const Code *body;
  const uint8_t *feeds_address; /* by value id */
  StoreBlock *free[STORE_CLASSES];
  uint64_t steps, iterations; /* see InterpOptions */
  InterpOptions options;
  VEC(Prog *) live;
  VEC(Prog *) retired; /* to be used again */
  VEC(Join) joins;
  uint32_t cluster;    /* Progs of a program, one after another; 1: it has no thread blocks */
  uint64_t started;
  uint8_t order[INTERP_WINDOW]; /* in which programs of a window start */
  size_t turn;    /* the next of `live` to look at */
  uint64_t quiet; /* turns since memory changed or a program began or ended */
  uint64_t seen, seen_started; /* memory_changes and `started` after the last turn */
} Run;

struct Prog {
  Run *run;
  uint64_t index;
  uint32_t id[3];
  int32_t rank; /* among the thread blocks of the program */
  uint64_t joins; /* of the blocks' reductions, until now */
  Val *vals; /* by value id */
  VEC(Frame) frames;
  VEC(Parked) parked;
  uint32_t lanes;      /* 1, or those of the region that is executed */
  uint32_t iterations; /* of loops in this turn */
  bool yields;         /* the turn ends after this instruction */
  ProgState state;
  uint64_t waits_at;   /* PROG_WAITS: memory_changes; the program runs on when it differs */
  const TileOp *waits_in; /* the WHILE */
  Val *returned;       /* what the YIELD of a REDUCE's or SCAN's region gave */
};

/* ---- storage (interp_store.c) ---- */
void *interp_alloc(Run *r, size_t bytes); /* not zeroed */
void interp_drop(Run *r, void *block);
Val interp_share(const Val *v);           /* a copy with references of its own */
void interp_clear(Run *r, Val *v);        /* gives the storage back; v->x becomes NULL */
Val interp_new(Run *r, uint32_t n);
void interp_set(Prog *p, const TileValue *v, Val x); /* takes x's references */
/* Fresh storage for result `i`: `n` elements, no flags. */
Val *interp_result(Prog *p, const Inst *in, uint32_t i, uint32_t n);
static inline Val *interp_val(Prog *p, const TileValue *v) { return &p->vals[v->id]; }
static inline Val *interp_arg(Prog *p, const Inst *in, uint32_t i) {
  return i < in->op->nargs && in->op->args[i] ? interp_val(p, in->op->args[i]) : NULL;
}
static inline Type interp_type(const Inst *in, uint32_t result) {
  return in->op->results[result]->type;
}
static inline uint8_t interp_flag(const Val *v, uint32_t i) { return v->flags ? v->flags[i] : 0; }
uint8_t *interp_flags(Run *r, Val *v);  /* v's flags, zeroed if there were none */
void interp_blame(Val *to, const Val *from); /* where flags come from, if `to` knows none */
/* Marks element i UNDEF, with contents that catch the eye. */
void interp_undef(Run *r, Val *v, uint32_t i, DType t, const TileOp *why);
Scalar interp_poison(DType t);

/* ---- code (interp_code.c) ---- */
const Code *interp_compile(Run *r);
/* Flags by value id: an address depends on the value through add, sub, mul and the like. */
const uint8_t *interp_feeds_address(Run *r);

/* ---- running ---- */
void interp_push(Prog *p, const Inst *owner, const Code *code);
/* Executes until the frame stack is `depth` high; stops at a yield only if `may_yield`. */
void interp_go(Prog *p, size_t depth, bool may_yield);
/* The region of `in` on `ins` (which keep their references) for `lanes` lanes; outs are fresh. */
void interp_region(Prog *p, const Inst *in, const Val *ins, Val *outs, uint32_t lanes);

/* ---- findings ---- */
typedef enum {
  FOUND_UNDEF = 1000, FOUND_WRAP, FOUND_GATHER, FOUND_ASSERT, FOUND_ASSUME, FOUND_HINT, FOUND_STEP,
  FOUND_ASM
} FoundKind;
/* Counts a finding; true if it is new, and has to be described. */
bool interp_found(Prog *p, FoundKind kind, Span at, const void *subject);
void interp_found_undef(Prog *p, const Inst *in, const Val *v, const char *what);
void interp_found_wrap(Prog *p, const Inst *in, const Val *v);
/* True, and reported, if element i is UNDEF.  `what`: "the address", "the mask". */
static inline bool interp_is_undef(Prog *p, const Inst *in, const Val *v, uint32_t i,
                                   const char *what) {
  if (!(interp_flag(v, i) & FLAG_UNDEF)) return false;
  interp_found_undef(p, in, v, what);
  return true;
}
/* Reports an address that comes from overflowed arithmetic. */
static inline void interp_check_wrap(Prog *p, const Inst *in, const Val *v, uint32_t i) {
  if (interp_flag(v, i) & FLAG_WRAPPED) interp_found_wrap(p, in, v);
}

/* ---- ops ---- */
Exec interp_const, interp_undefined, interp_program_id, interp_num_programs, interp_cluster_rank,
    interp_special, interp_arange;
Exec interp_elementwise, interp_select, interp_ptr_add, interp_hint;
Exec interp_splat, interp_reshape, interp_broadcast, interp_trans, interp_join, interp_split,
    interp_cat, interp_slice, interp_gather;
Exec interp_dot, interp_reduce, interp_scan, interp_histogram;
Exec interp_load, interp_store, interp_view_load, interp_view_store, interp_atomic_rmw,
    interp_atomic_cas, interp_park, interp_unpark, interp_nothing, interp_assert, interp_print,
    interp_assume,
    interp_asm;
/* Before the launch: the op's AsmRunner; ends the launch, and reports, if it runs on GPUs only. */
const void *interp_asm_code(Run *r, const TileOp *op);
Exec interp_for, interp_while, interp_if, interp_yield, interp_condition, interp_return;

#endif
