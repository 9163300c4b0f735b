/* Printing level thread as C.
 *
 * codegen/c owns the text of C: variables, helper functions, entry functions.  It takes a nest of
 * level thread and a machine, and gives Code (codegen/codegen.h) through its one entry, c_print.
 * This header is shared by its files:
 *
 *   print.c    the unit: head, one program, the entry functions
 *   spread.c   how the value of each variable differs between lanes
 *   expand.c   which loops the C compiler is told to unroll
 *   scopes.c   in which C block a variable is declared
 *   identifier.c  identifiers of C for a user's names
 *   names.c    the names of a unit, constants, operands
 *   ops.c      elementwise ops, by a table of (op, types, templates), and conversions
 *   memory.c   loads, stores, atomics;  stream.c which stores go around the caches
 *   waits.c    which loops may wait for other programs
 *   owners.c   which argument an address is computed from
 *   products.c  loops that add products to blocks of sums, as calls;  sums.c where these begin, end
 *   along.c    products of few rows that are summed along lanes
 *   asm.c      inline assembly
 *   stmt.c     statements, control, lines of device_print
 *   cost.c     about how long a program takes, as a C expression
 *   prelude.c  which helper functions a text needs;  prelude_*.c the helpers
 *
 * A thread is a SIMD lane, and the statements of one program run for all lanes together, so that
 * one C function is one program.  A variable's *spread* determines its C type:
 *
 *   linear, step 0   the same in all lanes: a C scalar
 *   linear, step s   lane l has x + s*l: a C scalar, the value of lane 0
 *   first            of i1: true in the first x lanes: an int, the number of lanes
 *   vector           anything else: a vector of LANES elements (vf32, vi64, ...); how its lanes
 *                    differ may be known, as those of lane / 2 do
 *
 * i1 vectors are masks of 32-bit elements, 0 or -1, for operands of any type.  bf16, f16 and f8
 * values are kept as floats that are already rounded to their format.  Pointers are char *, in
 * vectors 64-bit numbers.  Addresses of loads and stores with a step of an element become vector
 * accesses, with step 0 one access, all others go lane by lane.
 *
 * Helpers are named by their operation and the dtype (`vload_f32`, `div_i32`); a leading v works on
 * vectors.  A unit has those that it uses, each in an #ifndef, so that the texts of several
 * kernels (of one number of lanes) can be joined into one unit.
 */
#ifndef NEREID_CODEGEN_C_C_H
#define NEREID_CODEGEN_C_C_H

#include "codegen/codegen.h"

enum { MAX_LANES = 64 }; /* of vectors whose lanes are looked at one by one */

typedef enum { SPREAD_UNSEEN, SPREAD_LINEAR, SPREAD_FIRST, SPREAD_VECTOR } SpreadKind;

typedef struct {
  uint8_t kind;
  bool known;    /* lane 0 is the constant `start`; of a vector with `lanes` or linear ones */
  int64_t step;  /* linear */
  int64_t start;
  const int64_t *lanes; /* vector: what each lane is more than lane 0; NULL: not known */
} Spread;

/* The origin of a pointer: parameter `param` of the kernel, where that is known. */
typedef struct {
  uint8_t kind;
  uint16_t param;
} Owner;

/* A variable that is declared at the head of a block; a list by block. */
typedef struct Declared {
  struct Declared *next;
  const NestVar *var;
} Declared;

enum { COLUMNS_MAX = 4 }; /* stores of a transposed loop */
typedef struct AlongLanes AlongLanes;

/* Stores of a loop that exchanges rows and columns (transpose.c), or its load, and the names of
 * their vectors. */
typedef struct {
  const NestStmt *inner; /* a loop within it that has them; NULL: the loop itself does */
  const NestStmt *access[COLUMNS_MAX];
  const char *rows[COLUMNS_MAX];
  int n;
  const Ref *guard; /* a mask of lanes, in all iterations: whole vectors are exchanged; or NULL */
  const AlongLanes *along; /* products that take the place of the stores; NULL: none do */
} Columns;

/* A loop that adds products to sums which the statement `zeros` makes, and which `store` stores, if
 * it is not NULL, by st for each row and vector (sums.c). */
typedef struct {
  const NestStmt *loop, *zeros, *store, *st;
  const NestIndex *row, *vector; /* of the stores; NULL: one */
} ProductSums;

typedef struct {
  Arena *arena;
  const Nest *nest;
  int regs; /* vector registers of the processor */
  Diags *d;
  Spread *spread;         /* by variable id */
  bool *address_only;     /* by variable id: it feeds nothing but addresses */
  bool *read;             /* by variable id: a load is among its operands, or theirs */
  bool *at_definition;    /* by variable id: declared where it is computed */
  bool *filled;           /* by variable id: a guarded load alone writes it, else it is zero */
  bool *expanded;         /* by index id: a loop that the C compiler is told to unroll */
  bool holds_sums;        /* a loop adds to vectors of sums that registers are to hold */
  bool *large;            /* by variable id: an array that is too large for a thread's stack */
  Declared **heads;       /* by block, numbered in the order of printing */
  uint32_t block;         /* the next one */
  const char **names;     /* by variable id */
  const char **indices;   /* by index id: those of the loops around */
  VEC(const char *) open; /* made names of the blocks around: the loops' indices and bounds */
  IrMap taken;            /* names that variables have, and functions */
  IrMap first_free;       /* by name, an int: from which number on they may not have it */
  Text out;
  int depth;              /* of indentation */
  Span said;              /* the last location printed as a comment */
  Span span;              /* the statement's */
  bool uses_pid[3], uses_nprog[3];
  bool *streams;          /* by variable id, of parameters: stores through it may stream */
  const char *entry;      /* the kernel's name */
  bool tiles;             /* the machine has a unit for tiles of matrices */
  bool multiplies_tiles;  /* the program has calls of that unit, which share its tiles' shape */
  bool far_streams;       /* it reads memory faster if it is asked far ahead */
  bool knows_thread;      /* the kernel asks for the number of its thread */
  VEC(const char *) functions; /* of products: their definitions */
  const NestVar **roots;  /* by variable id, of pointers: the parameter, NULL if not known */
  int64_t stream_bytes;   /* that a program writes so; 0: nothing streams */
  bool waits;             /* programs may wait for others */
  const Columns *columns; /* of the transposed loop that is printed; NULL: none is */
  const char *row;        /* the iteration of its block that is printed; NULL: its rows are */
  Owner *owners;          /* by variable id, with option debug; else NULL */
  VEC(ProductSums) sums;  /* of products: their loops, zeros and stores */
  VEC(AlongLanes *) along; /* loops of stores that are products instead */
  const NestStmt **renamed; /* by variable id: the bitcast whose operand it is; NULL: none */
  const char *results;    /* what the call of a product that stores its sums is given first */
  const char *less;       /* what all blocks of bytes take off their sums; NULL: each computes it */
  struct ProductSteps *steps; /* of the loop over a counter that is being printed; NULL: none */
  bool failed;
} Gen;

/* ---- spread.c ---- */
void c_find_spreads(Gen *g);
Spread c_ref_spread(const Gen *g, const Ref *r);
Spread c_stmt_spread(const Gen *g, const NestStmt *s); /* of the result */
Spread c_mem_spread(const Gen *g, const Mem *m);       /* of the address */
static inline bool c_uniform(Spread s) { return s.kind == SPREAD_LINEAR && s.step == 0; }

/* ---- expand.c ---- */
void c_find_expanded(Gen *g);

/* ---- scopes.c ---- */
void c_find_scopes(Gen *g);
uint32_t c_count_blocks(const NestBlock *b); /* it, and those in it */

/* ---- identifier.c ---- */
/* c_identifier of a kernel's name, or another one if the C library has a function of that name. */
const char *c_function_name(Arena *a, const char *name);

/* ---- names.c ---- */
/* Names the variables and the kernel.  No name is a word of C or of a helper, no name looks like
 * a macro, and no two are equal; those below are new ones besides. */
void c_name_all(Gen *g);
/* `name`, or with a number a name that no variable has and no open name, up to its closing. */
const char *c_open_name(Gen *g, const char *name);
void c_close_names(Gen *g, size_t n); /* the last n that were opened */
const char *c_open_index(Gen *g, const NestIndex *index);
void c_close_index(Gen *g, const NestIndex *index);
const char *c_text(Gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *c_affine(Gen *g, const Affine *a); /* not in parentheses */
const char *c_ref_name(Gen *g, const Ref *r); /* v, or v[4*a + 1] */
const char *c_scalar(Gen *g, const Ref *r, DType t); /* lane 0's; of i1 the same in all lanes */
const char *c_vector(Gen *g, const Ref *r, DType t);
/* The address of lane 0, or, with `lanes`, of all as a vector: base + buffer + bytes. */
const char *c_address(Gen *g, const Mem *m, bool lanes);
/* Text of spread `from` as a value of spread `to`. */
const char *c_convert(Gen *g, const char *text, DType t, Spread from, Spread to);

/* ---- ops.c ---- */
/* The value of an OP, in the spread that c_stmt_spread gives. */
const char *c_op(Gen *g, const NestStmt *s);

/* ---- memory.c ---- */
void c_load(Gen *g, const NestStmt *s);
void c_store(Gen *g, const NestStmt *s);
void c_atomic(Gen *g, const NestStmt *s);
void c_prefetch(Gen *g, const NestStmt *s);

/* ---- transpose.c ---- */
/* The store of a loop of nothing else, LANES of which are as many rows; NULL: it has none. */
const NestStmt *c_column_stores(const Gen *g, const NestStmt *loop);
/* The stores of a loop that exchanges rows and columns, or its load; none: it does not. */
Columns c_transposed(const Gen *g, const NestStmt *loop);
/* Rows that lanes are, `step` bytes apart; apart: bytes from lane 0 to that in the middle, where
 * they begin again; 0: all are one step apart. */
typedef struct {
  int columns; /* that go together: LANES, half as many, both of pairs; 0: none do */
  int64_t step, apart;
} LaneRows;

/* Are both halves of the lanes rows?  columns is 0. */
bool c_find_halves(const Gen *g, Spread at, LaneRows *out);
LaneRows c_lane_rows(const Gen *g, const NestStmt *s);
/* The columns that are loaded or stored together where one is that of `s`: c_lane_rows(). */
int c_columns(const Gen *g, const NestStmt *s);
/* The last of so many loads or stores from `first` on that are columns of LANES rows; NULL: they
 * are none. */
const NestStmt *c_last_column(const Gen *g, const NestStmt *first);
/* The load of the second element of pairs whose first one s loads, with nothing in between that
 * writes memory; NULL: there is none. */
const NestStmt *c_partner(const Gen *g, const NestStmt *s);
/* Is it a constant that the next statement, a load, leaves in lanes that are masked off? */
bool c_initial_value(const NestStmt *x);
/* The next of them after s; statements between them run before stores, or after loads. */
const NestStmt *c_next_column(const Gen *g, const NestStmt *s);

/* ---- renamed.c ---- */
void c_find_renamed(Gen *g);
/* Is it nothing but bitcasts whose results have the elements of their operands? */
bool c_renames(const Gen *g, const NestStmt *s);

/* ---- products.c ---- */
/* A loop over k that adds products to a block of sums,
 *
 *   serial k:256 {
 *     unroll a:6 { %a[a] = ld [%rows[a] + 4*k] }
 *     unroll b:4 { %b[b] = ld [%p + 64*b + 256*k] }
 *     unroll a:6 { unroll b:4 { %acc[4*a + b] = fma %a[a], %b[b], %acc[4*a + b] } } }
 *
 * or without one of its inner loops, where there is one row or one vector. */
typedef struct {
  const NestStmt *loop, *left, *right, *product; /* the loads, and the op: fma, dot2 or dot4 */
  NestIndex *row, *vector, *sum_row, *sum_vector; /* of the loads, and the op; NULL: one */
  bool tiles; /* a unit for tiles computes it */
} ProductLoop;

/* A loop that does nothing but add products to sums, in each iteration those of one such loop, or
 * of blocks that loops around it count:
 *
 *   for %turn = 0 to 3 { %rows[..] = ..; %p = ..; serial m:4 { serial k:192 { .. } } }
 *
 * Addresses of several iterations are kept, so that a call adds up the products of all of them, and
 * sums stay in registers. */
typedef struct ProductSteps {
  const NestStmt *last; /* the iteration's last statement */
  ProductLoop product;
  int most;             /* iterations of a call */
  const char *left, *right, *count; /* names of the kept addresses, and of their number */
  const char *more;     /* the condition that another iteration follows */
  bool calls;           /* the calls are being printed */
} ProductSteps;

/* False: the loop is another one, or is printed as it is. */
bool c_product_loop(const Gen *g, const NestStmt *loop, ProductLoop *out);
void c_serial(Gen *g, const NestStmt *s); /* any serial loop; one whose sums are stored, there */
void c_for(Gen *g, const NestStmt *s);    /* any loop over a counter */
/* The functions that calls of printed loops name. */
void c_product_functions(Gen *g, Text *out);
double c_tiles_ns(const ProductLoop *t); /* about how long a unit for tiles takes */

/* ---- sums.c ---- */
void c_find_sums(Gen *g);
/* The sums whose loop, zeros or store it is; NULL: it is none of these. */
static inline const ProductSums *c_sums(const Gen *g, const NestStmt *s) {
  for (size_t i = 0; i < g->sums.len; i++) {
    const ProductSums *x = &g->sums.data[i];
    if (x->loop == s || x->zeros == s || x->store == s) return x;
  }
  return NULL;
}
/* Is the variable nothing but sums that a call stores? */
static inline bool c_has_stored(const Gen *g, const NestVar *v) {
  for (size_t i = 0; i < g->sums.len; i++)
    if (g->sums.data[i].store && g->sums.data[i].st->srcs[0].var == v) return true;
  return false;
}

/* ---- along.c ---- */
/* A loop that exchanges rows and columns for products alone, one for each of its stores: it is
 * printed as these, summed along lanes, and their loops are no code. */
typedef struct {
  const NestStmt *at;      /* the loop in the block of the other one */
  const NestIndex *blocks; /* of its vectors, which it counts; NULL: it is the product's loop */
  ProductLoop product;
} AlongProduct;
struct AlongLanes {
  const NestStmt *loop;           /* the outer one of two */
  const NestIndex *rows, *strips; /* of LANES elements of a row; NULL: one */
  Columns columns;
  AlongProduct of[COLUMNS_MAX];
};
void c_find_along(Gen *g);
/* The loop and products of which it is one; NULL: it is none. */
static inline const AlongLanes *c_along(const Gen *g, const NestStmt *s) {
  for (size_t i = 0; i < g->along.len; i++) {
    const AlongLanes *x = g->along.data[i];
    if (x->loop == s) return x;
    for (int k = 0; k < COLUMNS_MAX; k++)
      if (x->of[k].at == s) return x;
  }
  return NULL;
}

/* ---- asm.c ---- */
void c_inline_asm(Gen *g, const NestStmt *s);

/* ---- stream.c ---- */
void c_find_streams(Gen *g);
bool c_streams(const Gen *g, const NestStmt *st); /* a vector store */

/* ---- waits.c ---- */
void c_find_waits(Gen *g);
bool c_is_waiting_loop(const NestStmt *s);

/* ---- owners.c ---- */
void c_find_owners(Gen *g);
int c_owner(const Gen *g, const Mem *m); /* the parameter's number; -1: no access to be checked */

/* ---- cost.c ---- */
/* Nanoseconds, over `args` and `grid` as the entry functions have them. */
const char *c_program_cost(Gen *g);

/* ---- print.c ---- */
/* Where the kernel of a unit begins, after the helpers; NULL: c_print did not make the text. */
const char *c_kernel_of(const char *unit);

/* ---- stmt.c ---- */
/* Ends the program if `condition` holds, and who loads the unit hears `what` of the statement. */
void c_fail_if(Gen *g, const char *condition, const char *what);
void c_line(Gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void c_block(Gen *g, const NestBlock *b);
void c_counted_loop(Gen *g, const NestStmt *s);
void c_counter_loop(Gen *g, const NestStmt *s); /* NEST_FOR */
/* The products of a loop of g->columns in the place of store n, for row g->row. */
void c_add_along(Gen *g, const NestStmt *st, int n);
/* dst = text, where text has the spread `from`, under the statement's guard; declares dst if this
 * is its definition. */
void c_assign(Gen *g, const NestStmt *s, const Ref *dst, DType t, const char *text, Spread from);
/* "float x" or "vf32 v[8]". */
const char *c_declaration(Gen *g, const NestVar *v);

/* ---- prelude.c ---- */
/* int32_t, vi32: what values of t are held in; i1 is `bool` and a mask. */
const char *c_scalar_type(DType t);
const char *c_vector_type(DType t);
/* The dtype that helpers are named by: f32 for all narrower floats, u64 for pointers. */
const char *c_compute_name(DType t);
bool c_is_narrow(DType t);
/* Appends the helpers that `text` uses. */
void c_prelude(Text *out, Arena *scratch, const char *text, int lanes);
bool c_is_helper(const char *name); /* a name that the prelude may define */

/* A helper function.  Its text has these words replaced, if it is one for several dtypes:
 *   $t i32   $T int32_t   $V vi32   $b 32   $u u32 (unsigned of that width)
 *   $S its type in memory   $M the same, unsigned
 *   and for a second dtype in the name: $q $Q $W */
typedef struct {
  const char *name;  /* "vdiv_$t", "vtrunc_$t_$q" */
  const char *types; /* for which $t, as "i8 u8", or "i8 u8 from i32" for these $q; NULL: no $t */
  const char *text;
} Helper;
/* Ended by NULL. */
extern const Helper c_helpers_asm[], c_helpers_convert[], c_helpers_core[], c_helpers_math[],
    c_helpers_memory[], c_helpers_print[], c_helpers_threads[], c_helpers_products[];

#endif
