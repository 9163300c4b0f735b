/* The tile IR: the computation of a kernel, one program at a time.
 *
 * lang/tile owns this IR: its table of ops (tile_ops.h), its text, its verifier (tile_check.h), and
 * the arithmetic of its scalars (scalar.h), which constant folding and the interpreters share.  It
 * takes calls of a builder, or text, and gives a TileFunc, or text.
 *
 * A TileFunc is one kernel for one specialization: everything is inlined, constexprs are gone,
 * tuples are flattened.  Values are SSA scalars and tiles of static shape.  Control flow is
 * structured: FOR, WHILE and IF own blocks, and carry values through block parameters and YIELD.
 * A block is a list of ops, the last one a terminator.  There are no layouts, threads or spaces.
 *
 * Everything lives in the function's arena.  Value ids are dense, below fn->nvalues, and never
 * reused, so that passes keep side tables indexed by id.  The interpreter (lang/interp/interp.h)
 * defines what each op means; lang/tile/tile_ops.h states it in a line.
 *
 * Text form (tile_print, tile_parse; print, parse, print gives the same text):
 *
 *   kernel @add(%x_ptr: *f32 {arg 0, div 16}, %n: i32 {arg 3}) {num_warps 4, target "sm_90a"} {
 *     %pid = program_id {axis 0} : i32 @"add.py":7:11
 *     %block = const {value 1024} : i32 @8
 *     %acc, %k = for %i = %lo to %hi step %st carry (%a = %zero, %b = %k0) {num_stages 2}
 *         : f32[64], i32 {
 *       ...
 *       yield %a1, %b1
 *     }
 *     %s = reduce %v {axis 0, combine "add"} : f32
 *     %m, %j = reduce %v, %i {axis 0} : f32, i32 (%a: f32, %b: i32, %c: f32, %d: i32) {
 *       ...
 *       yield %e, %f
 *     }
 *     %x = load %p mask %m other %z {cache ".cg"} : f32[64]
 *     %t = view_load %base [%o0, %o1] [%n0, %n1] [%s0, %s1] {check [0, 1]} : f32[32,16]
 *     store %p, %x mask %m
 *     %w = while carry (%a = %x) : f32 {
 *       ...
 *       condition %go, %a
 *     } do (%b: f32) {
 *       ...
 *       yield %c
 *     }
 *     %u = if %m : f32 {
 *       yield %a
 *     } else {
 *       yield %b
 *     }
 *     return
 *   }
 *
 * A location is @"file":line:col; parts equal to the last printed location are left out from the
 * left (@line:col on the same file, @col on the same line).  Arguments that are absent are not
 * printed; present optional ones follow their word (mask, other).  An `else` that only yields
 * nothing is left out.  The header has every option that is not the default, and always num_warps
 * and target.
 */
#ifndef NEREID_LANG_TILE_TILE_H
#define NEREID_LANG_TILE_TILE_H

#include "lang/base/diag.h"
#include "lang/base/dtype.h"
#include "lang/base/options.h"
#include "lang/tile/tile_ops.h"

typedef enum {
#define X(id, args, results, rule, flags, attrs, doc) TILE_##id,
  TILE_OPS(X)
#undef X
  TILE_OP_COUNT
} TileCode;

enum {
  TILE_PURE = 1, TILE_ELEM = 2, TILE_COMM = 4, TILE_READ = 8, TILE_WRITE = 16,
  TILE_REGION = 32, TILE_TERM = 64, TILE_APPROX = 128
};

typedef enum {
#define X(name, kind) TA_##name,
  TILE_ATTRS(X)
#undef X
  TA_COUNT
} TileAttrKey;

typedef enum { TAK_int, TAK_bool, TAK_str, TAK_ints, TAK_num } TileAttrKind;

typedef struct {
  uint8_t key; /* TileAttrKey; its kind follows */
  int64_t i;   /* int, bool; num of an integer dtype (u64 by its bits) */
  double f;    /* num of a float dtype: the value as it is after rounding to the dtype */
  Name s;      /* str */
  int64_t *list;
  uint32_t len;
} TileAttr;

typedef struct TileOp TileOp;
typedef struct TileBlock TileBlock;
typedef struct TileFunc TileFunc;

typedef struct TileValue {
  Type type;
  TileOp *def;      /* NULL for a block's parameter */
  TileBlock *block; /* of a parameter; NULL otherwise */
  uint32_t index;   /* which result or parameter */
  uint32_t id;
  Name name;        /* the user's name for it, a hint for printing; or NULL */
} TileValue;

struct TileOp {
  TileCode code;
  Span span;
  TileOp *prev, *next;
  TileBlock *parent;
  TileValue **args; /* NULL entries: absent optional operands */
  uint32_t nargs;
  TileValue **results;
  uint32_t nresults;
  TileAttr *attrs;  /* in the order of the table; defaults are left out */
  uint32_t nattrs;
  TileBlock **regions;
  uint32_t nregions;
};

struct TileBlock {
  TileValue **params;
  uint32_t nparams;
  TileOp *first, *last;
  TileOp *owner; /* NULL for the body of the function */
};

typedef struct {
  TileValue *value;
  uint32_t arg;   /* its place among the kernel's declared parameters (constexprs counted) */
  int64_t div;    /* known to be divisible by this (pointers: bytes); 1 if nothing is known */
  bool is_const;  /* a pointer that is only read, by declaration (tl.const) */
} TileParam;

struct TileFunc {
  Arena *arena;
  Pool *names;
  Name name;
  Span span;
  TileParam *params;
  uint32_t nparams;
  TileBlock *body;
  Options options;
  int cluster;      /* thread blocks of a program, each of which executes the body; 0: one */
  uint32_t nvalues;
  uint32_t ir_file; /* the IR text it was read from, 0 if none: what states no place has its own
                       place there, which is not printed */
};

/* Thread blocks of a program; all machines that have clusters take as many. */
enum { TILE_CLUSTER_MOST = 8 };

/* Blocks nest this deep at most (the reader and the verifier refuse more), so walks may recurse. */
enum { TILE_MAX_DEPTH = 200 };

/* ---- the tables ---- */
const char *tile_op_name(TileCode c);  /* "program_id" */
TileCode tile_op_parse(const char *name, size_t len); /* TILE_OP_COUNT if there is none */
unsigned tile_op_flags(TileCode c);
const char *tile_op_doc(TileCode c);
const char *tile_op_args(TileCode c);  /* the letters of the table */
const char *tile_op_results(TileCode c);
const char *tile_op_rule(TileCode c);  /* "same", "given", ... */
/* NULL if operands of an elementwise op may have that dtype by the op's rule, else words for those
 * that may: "a float type". */
const char *tile_op_refuses(TileCode c, DType t);
const char *tile_op_attrs(TileCode c); /* names, separated by spaces */
bool tile_op_takes(TileCode c, TileAttrKey k); /* is the attribute one of the op's row? */
const char *tile_attr_name(TileAttrKey k);
TileAttrKind tile_attr_kind(TileAttrKey k);

/* ---- attributes ---- */
const TileAttr *tile_attr(const TileOp *op, TileAttrKey k); /* NULL if it is not there */
int64_t tile_int(const TileOp *op, TileAttrKey k, int64_t dflt);
Name tile_str(const TileOp *op, TileAttrKey k, Name dflt);

/* How a DOT takes operands of f32: TF32_NONE as they are (or its operands are no f32), else the
 * upper 19 bits, cut or rounded to nearest with ties away from zero. */
typedef enum { TF32_NONE, TF32_CUT, TF32_ROUNDED } Tf32;
Tf32 tile_dot_tf32(const TileOp *op);
/* The op on elements of products of words: DOT4 or DOT2; DOT: elements are no words. */
TileCode tile_dot_of_words(const char *precision);
bool tile_dots_words(const TileOp *op); /* elements are four bytes each, or two bf16 */
void tile_set_int(TileFunc *f, TileOp *op, TileAttrKey k, int64_t v); /* also bool */
void tile_set_str(TileFunc *f, TileOp *op, TileAttrKey k, const char *v);
void tile_set_ints(TileFunc *f, TileOp *op, TileAttrKey k, const int64_t *v, uint32_t n);
void tile_set_num(TileFunc *f, TileOp *op, int64_t i, double v); /* `value` of a CONST */

/* ---- building ---- */
/* Ops go before `before`, or to the end of `block` if it is NULL. */
typedef struct {
  TileFunc *fn;
  TileBlock *block;
  TileOp *before;
  Span span;
} TileBuilder;

TileFunc *tile_func_new(Arena *a, Pool *names, Name name, Span span, Options options);
TileValue *tile_add_param(TileFunc *f, Name name, Type type, uint32_t arg, int64_t div);
TileBlock *tile_block_new(TileFunc *f, TileOp *owner);
TileValue *tile_block_param(TileFunc *f, TileBlock *b, Type type, Name name);
/* Adds `n` parameters at once, to a block that has none. */
void tile_block_params(TileFunc *f, TileBlock *b, const Type *types, const Name *names, uint32_t n);
/* A new op at the builder's place, its operands copied, with fresh results of the given types. */
TileOp *tile_build(TileBuilder *b, TileCode code, TileValue *const *args, uint32_t nargs,
                   const Type *types, uint32_t nresults);
TileValue *tile_build1(TileBuilder *b, TileCode code, Type type, TileValue *x, TileValue *y,
                       TileValue *z); /* one result; trailing operands NULL */
TileBlock *tile_add_region(TileFunc *f, TileOp *op);
/* A constant of type `t` (a tile: splatted).  ints: `i` is wrapped to the dtype; floats: `v` is
 * rounded to it. */
TileValue *tile_const_int(TileBuilder *b, Type t, int64_t i);
TileValue *tile_const_float(TileBuilder *b, Type t, double v);

/* ---- changing ---- */
void tile_remove(TileOp *op); /* unlinks it; its results must have no uses */
void tile_move_before(TileOp *op, TileOp *place);
/* Every use of values v with map[v->id] != NULL becomes that one (followed to the end). */
void tile_substitute(TileFunc *f, TileValue **map);
/* A walk in program order, into regions after the op itself.  The visitor may remove `op`. */
void tile_walk(TileBlock *b, void (*visit)(TileOp *op, void *ctx), void *ctx);
/* How often each value is used: an array of fn->nvalues counts in `a`. */
uint32_t *tile_count_uses(const TileFunc *f, Arena *a);

/* ---- helpers on views ---- */
/* VIEW_LOAD: args = base, mask, other, offsets..., sizes..., strides...;
 * VIEW_STORE: args = base, value, mask, offsets..., sizes..., strides... */
enum { VIEW_FIXED = 3 };
static inline uint32_t tile_view_rank(const TileOp *op) { return (op->nargs - VIEW_FIXED) / 3; }
static inline TileValue *tile_view_offset(const TileOp *op, uint32_t axis) {
  return op->args[VIEW_FIXED + axis];
}
static inline TileValue *tile_view_size(const TileOp *op, uint32_t axis) {
  return op->args[VIEW_FIXED + tile_view_rank(op) + axis];
}
static inline TileValue *tile_view_stride(const TileOp *op, uint32_t axis) {
  return op->args[VIEW_FIXED + 2 * tile_view_rank(op) + axis];
}
bool tile_view_checked(const TileOp *op, uint32_t axis); /* axis is listed in `check` */

/* A constant's value if `v` is defined by a CONST of an integer (or i1) dtype. */
bool tile_const_value(const TileValue *v, int64_t *out);
/* Is `v` a constant zero, or a tile of it? */
bool tile_is_zero(const TileValue *v);
/* Is it an op on the shape of a scalar?  That has no axes, so its result is the scalar itself. */
bool tile_is_same_scalar(const TileOp *op);

/* ---- text, checking ---- */
/* Gives every value its printed name (unique in the function, from its hint or its number) and
 * returns the names, indexed by id.  tile_print and the printer of schedules use the same names. */
const char **tile_value_names(const TileFunc *f, Arena *a);
/* `d` gives file names to spans. */
void tile_print(Text *out, const TileFunc *f, const Diags *d);
/* Reads the next kernel of an IR file's text, from *at on; NULL at a word other than `kernel`, at
 * the end, or after an error, which is in `d`. */
TileFunc *tile_parse(Arena *a, Pool *names, Diags *d, uint32_t file, size_t *at);
/* Checks structure, dominance, types and attributes; errors go to `d` with the op's location.  True
 * if all holds. */
bool tile_verify(const TileFunc *f, Diags *d);

#endif
