/* Pass bind: level nest becomes level thread, mechanically.
 *
 * lower/bind owns the distribution of statements over threads.  It takes a nest of level nest, in
 * which every tile has a layout, and gives the program of one thread, of level thread.  Its one
 * entry is pass_bind (lower/passes.h); this header is shared by the bind_*.c files.
 *
 * Hardware dimensions become ids: a NEST's lane and warp digits are parts of the thread's number,
 * its register digits become `unroll` loops, its serial digits `serial` loops.  Integer expressions
 * of a body are kept as *forms*, linear in digits and uniform variables, as long as they are
 * linear:
 *
 *   sum over groups g of  var_g * (c_g + sum over dims d of coef_g[d] * digit_d)      (var NULL: 1)
 *
 * so that an address splits into a uniform part, a part of the thread (computed once a kernel), and
 * constants of the unroll indices, which become the immediate offsets of loads and stores.
 * A nonlinear value is computed into a register array over just the digits that it depends on.
 */
#ifndef NEREID_LOWER_BIND_BIND_H
#define NEREID_LOWER_BIND_BIND_H

#include "lower/target/atoms.h"
#include "lower/lower.h"

enum { MAX_DIMS = 40, MAX_GROUPS = 8 };

/* A digit of the nest at hand. */
typedef struct {
  int axis;       /* -1: replication */
  int64_t weight; /* along the axis */
  int32_t extent;
  HwDim hw;
  int32_t stride;   /* in the coordinate of `hw` */
  NestIndex *index; /* REG and SERIAL */
} Dim;

typedef struct {
  NestVar *var; /* NULL: 1 */
  int64_t c;
  int64_t coef[MAX_DIMS];
} Group;

typedef struct {
  int n;
  Group g[MAX_GROUPS];
} Form;

typedef uint64_t DimMask;

/* A value in a nest: a form, or a reference whose subscript is affine in the indices of the dims in
 * `mask`.  An address, and an offset that feeds one, may be both, a form and a reference that is
 * added to it (of an address in bytes, i64; of an offset in its type): what is not linear depends
 * on few dims then, and the form still says along which axis neighbours are. */
typedef struct {
  bool is_form;
  Form form;
  Ref ref;
  DimMask mask;
  DType type;
} Value;

/* The elements that a value is evaluated at: the elements of the thread, ... */
typedef struct {
  DimMask first; /* the digits of these dims being 0 */
  int before;    /* if not 0, one element earlier along axis before - 1 */
} Where;

typedef struct {
  uint32_t nest; /* which nest computed it */
  Where at;
  bool address, reads_registers;
  Value *value;
} Known;

/* A thread constant computed at the kernel's entry: a linear form of lane and warp digits. */
typedef struct {
  Text key;
  NestVar *var;
} ThreadConst;

typedef struct {
  NestVar *from, *to;
} Widened;

typedef struct Bind {
  Unit *u;
  Arena *scratch;
  Nest *nest;
  NestBuilder b;     /* where statements go */
  NestBuilder entry; /* the kernel's first statements */
  NestVar *lane, *warp;
  NestVar *rank;     /* of the thread block in its cluster */
  bool joined;       /* a reduction before has waited for all thread blocks to begin */
  NestVar *leader;   /* is this the program's first thread? */
  NestVar *first_lane; /* ..., its warp's? */
  NestVar *once_if;  /* the guard of the statements just before that one thread executes, ... */
  NestVar *once;     /* ..., with `leader` */
  VEC(ThreadConst) consts;
  /* the nest at hand */
  NestStmt *stmt;
  Dim dims[MAX_DIMS];
  int ndims;
  uint32_t id;       /* of the nest */
  Where at;          /* of the value at hand */
  bool reads_registers; /* what was evaluated reads registers of other nests */
  int64_t lane_cuts;  /* powers of two, added up: digits of a vector's lanes end there */
  uint32_t nsigned;   /* variables before the pass, */
  bool *not_negative; /* of which some never are, by var id */
  uint32_t var_room; /* size of the arrays below */
  NestStmt **def;    /* by var id: the OP that defines a temp of this nest */
  uint32_t *def_nest;
  Known *known;    /* by var id */
  uint8_t *chain;  /* by var id: of such a temp, the temps on its longest way down */
  NestVar **array; /* by var id: the register array of a temp that is loaded or moved */
  uint32_t *array_nest;
  uint8_t *depth; /* by var id: loops around its deepest definition */
  uint8_t loops;  /* around the builder */
  jmp_buf *refused;
} Bind;

/* Ends the pass with an error at the current statement.  Nests made by build are never refused;
 * nests read from text may verify and yet need a distribution over threads that bind lacks. */
_Noreturn void bind_refuse(const Bind *s, const char *why);
extern const char bind_too_many_digits[];

/* Is this the program's first thread?  An i1 that is computed at the kernel's start. */
Ref bind_leader(Bind *s);
Ref bind_first_lane(Bind *s);

/* ---- bind_form.c ---- */
Form form_const(int64_t c);
Form form_var(NestVar *v);
bool form_add(Form *a, const Form *b, int64_t scale); /* a += scale * b; false: too many groups */
bool form_mul(const Form *a, const Form *b, Form *out);
/* Multiplies forms that both have variables, where one is a variable times a constant: the builder
 * computes products of variables, in t. */
bool form_scale_by(Bind *s, const Form *a, const Form *b, DType t, Form *out);
bool form_is_const(const Form *f, int64_t *c);
bool form_divide(const Bind *s, const Form *f, int64_t by, bool rem, Form *out);
/* Divides every value of the form, dims in `skip` left out. */
int64_t form_divisor(const Form *f, DimMask skip);
/* Dims in REG or SERIAL with a coefficient in a group with a variable (vars), or in any (all). */
DimMask form_mask(const Bind *s, const Form *f, bool all);
Affine form_immediate(const Bind *s, const Form *f);
/* The form without the constants that form_immediate gives, as a reference of type t. */
Ref form_base(Bind *s, const Form *f, DType t, DType elem, DimMask *mask);
Ref form_value(Bind *s, const Form *f, DType t, DType elem, DimMask *mask);

/* ---- bind_nest.c ---- */
void bind_nest(Bind *s, const NestStmt *st);
/* A nest whose load from global and store to shared memory are one asynchronous copy. */
void bind_copy(Bind *s, const NestStmt *st);

/* ---- bind_dims.c ---- */
void bind_start(Bind *s, const NestStmt *st, const Layout *l); /* dims of a layout, with indices */
/* Cuts register dim d in two, of which the inner one, d + 1, has the extent `low`; leaves it as it
 * is where that does not divide its extent, or is all of it. */
void bind_split_dim(Bind *s, int d, int32_t low);
NestVar *bind_var(Bind *s, const char *name, DType t, DType elem, uint32_t count, bool uniform);
/* Opens unroll loops over the dims of a mask; what is emitted until bind_close is inside. */
NestBuilder bind_open(Bind *s, DimMask mask);
void bind_close(Bind *s, NestBuilder outer);
/* Opens an UNROLL or SERIAL loop over an index: statements emitted from now on are its body. */
void bind_loop(Bind *s, NestCode code, NestIndex *index);
void bind_unroll(Bind *s, NestIndex *index); /* NULL: nothing happens */
/* Loops over register (unroll) and serial dims alike. */
NestBuilder bind_open_loops(Bind *s, DimMask mask);
/* a += coef * index; NULL: nothing. */
void bind_add_index(Affine *a, NestIndex *index, int64_t coef);
DimMask bind_reg_dims(const Bind *s);
/* A register array over the dims of a mask, and its subscript. */
NestVar *bind_array(Bind *s, const char *name, DType t, DType elem, DimMask mask, Affine *sub);
/* A value linear in digits of lanes and warps. */
typedef struct {
  Dim dims[MAX_DIMS];
  int64_t coef[MAX_DIMS];
  int n;
} ThreadForm;
void thread_form_add(ThreadForm *f, const Dim *dim, int64_t coef);
/* The form as an i32, computed once at the kernel's entry; REF_NONE if it has no digits. */
Ref bind_thread_const(Bind *s, const ThreadForm *f);
/* i1: all replication digits in lanes and warps are 0; REF_NONE if there are none. */
Ref bind_first_replica(Bind *s);
Ref bind_op(Bind *s, TileCode op, DType t, Ref x, Ref y); /* at the builder, into a new scalar */

/* ---- bind_nest.c: addresses ---- */
/* sum + x for every element over a mask (i32). */
Ref bind_add_scalar(Bind *s, Ref sum, Ref x, DimMask mask);
/* A byte offset in a buffer of this layout, its xor applied: base plus an affine immediate. */
/* ..., with `also`, a computed number of bytes, if there is one. */
Ref bind_swizzle_with(Bind *s, const Form *at, Ref also, const Layout *l, Affine *bytes,
                      DimMask *base_mask);
Ref bind_swizzle(Bind *s, const Form *at, const Layout *l, Affine *bytes, DimMask *base_mask);

/* The type of elements in shared memory: pointers as i64. */
DType bind_stored(DType t);
NestStmt *bind_st_shared(Bind *s, Ref src, DType t, NestBuffer *buf, Ref base, Affine bytes,
                         Ref guard);
NestStmt *bind_ld_shared(Bind *s, Ref dst, DType t, NestBuffer *buf, Ref base, Affine bytes,
                         int64_t n);

/* ---- bind_reduce.c ---- */
void bind_reduce(Bind *s, const NestStmt *st);

/* ---- bind_scan.c ---- */
void bind_scan(Bind *s, const NestStmt *st);

/* ---- bind_dot.c ---- */
void bind_dot(Bind *s, const NestStmt *st);

/* ---- bind_turn.c ---- */
/* An operand that is turned in shared memory. */
void bind_turn(Bind *s, const NestStmt *st);
/* The row of 32 whose 16 bytes a lane gives to an LDMATRIX of bytes, times so many bytes. */
Ref bind_matrix_row(Bind *s, int64_t row_bytes);

/* ---- bind_group.c ---- */
/* A dot by a warpgroup's atom. */
void bind_group_dot(Bind *s, const NestStmt *st, const Atom *atom);

#endif
