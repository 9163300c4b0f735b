/* The value of an expression, as sema evaluates it.
 *
 * sema/value owns values, the variables that hold them, their types and Python's arithmetic.  It
 * takes values, and gives values, or an error in the Diags; context.h has the state that it needs.
 *
 * A tagged union covers what exists at compile time (Python numbers, strings, tuples, dtypes,
 * functions, modules) and what exists at run time (tiles and scalars of the tile IR).  Three kinds
 * of number differ in how they are typed:
 *
 *   V_INT V_BOOL V_FLOAT  constexprs: Python's arithmetic; they take the type of a typed operand
 *   V_CONST               a run-time scalar whose value is known: it has a dtype and takes part in
 *                         promotion, folds like the tile op would, and becomes a CONST where used
 *   V_TILE                a value of the tile IR
 *
 * `x = 5` in a kernel makes a V_CONST, as the language says (plain assignment gives a run-time
 * value); where a compile-time value is needed, a V_CONST serves as well as a V_INT.
 *
 * Values are small, passed by copy, and live as long as the Program's arena.
 */
#ifndef NEREID_SEMA_VALUE_VALUE_H
#define NEREID_SEMA_VALUE_VALUE_H

#include "lang/interp/interp.h"
#include "lang/tile/tile.h"
#include "parser/ast.h"

/* Integers of constexprs: Python's are unbounded, ours end with an error at 128 bits. */
typedef __int128 BigInt;

typedef struct Frame Frame;
typedef struct ModuleInfo ModuleInfo;
typedef struct Builtin Builtin;
typedef struct Value Value;
typedef struct BlockPtr BlockPtr;
typedef struct Range Range;

typedef enum {
  V_ERROR,     /* something was reported already: what follows from it is silent */
  V_ABSENT,    /* an argument that was not given */
  V_NONE,
  V_INT,
  V_BOOL,
  V_FLOAT,
  V_STR,
  V_ELLIPSIS,
  V_TUPLE,     /* also lists and named tuples */
  V_DICT,
  V_SLICE,
  V_DTYPE,     /* a dtype, a pointer type, or a block type */
  V_CONST,
  V_TILE,
  V_BLOCKPTR,
  V_FUNC,      /* a `def` or a lambda */
  V_BUILTIN,   /* a row of the table, perhaps bound to a first argument */
  V_RANGE,     /* range(), tl.range(), tl.static_range() */
  V_CONDITION, /* tl.condition(): a loop condition with attributes */
  V_CLASS,
  V_SPACE,     /* a namespace of the language: "triton.language.math" */
  V_MODULE,    /* another file */
  V_EXTERN     /* a host name that can't be evaluated here: "torch.nn" */
} ValueKind;

typedef struct {
  Value *data;
  uint32_t len, cap;
  bool is_list;
  const Name *fields; /* of a named tuple: len names */
  const Value *cls;   /* its class, or NULL */
  bool is_aggregate;  /* an object with methods: it has no indices */
  bool is_open;       /* its __init__ runs, which assigns its fields, only in this place: */
  const struct TileBlock *made_in;
  const struct Choice *choice;
} Tuple;

typedef struct {
  Value *data; /* key, value, key, value ... */
  uint32_t len, cap; /* pairs */
} Dict;

typedef struct {
  const FuncDef *def;    /* NULL: a lambda */
  const Expr *lambda;
  ModuleInfo *module;    /* where its free names are looked up ... */
  Frame *closure;        /* ... after the running function around it, or NULL */
  bool jit;              /* assignments give run-time values */
  bool bound;            /* `self` is the first argument */
  const Value *owner;    /* the class whose method it is, or NULL */
  Value *self;
} Func;

typedef struct {
  Type type;   /* DT_NONE: void.  DT_PTR: a pointer type; rank > 0: a block type */
  bool is_const; /* tl.const pointers */
  uint16_t layout; /* of a tile's type, as given_layout() numbers them; 0: none */
  const Value *constant; /* the type of that constexpr alone: tl.constexpr_type(3) */
} DTypeValue;

struct Value {
  uint8_t kind; /* ValueKind */
  union {
    BigInt i;             /* INT, BOOL */
    double f;             /* FLOAT */
    Name s;               /* STR, SPACE, EXTERN */
    TileValue *tile;      /* TILE */
    Tuple *tuple;
    Dict *dict;
    Value *slice;         /* SLICE: start, stop, step */
    DTypeValue dtype;
    struct {
      DType dtype;
      Scalar v;
    } c;                  /* CONST */
    BlockPtr *block;
    Func *func;
    struct {
      const Builtin *fn;
      Value *self;        /* NULL: none */
    } builtin;
    Range *range;
    Value *condition;     /* CONDITION */
    struct {
      const Stmt *def;
      ModuleInfo *module;
      Frame *closure; /* the running host function around it, or NULL */
    } cls;
    ModuleInfo *module;
  } u;
};

struct BlockPtr {
  Value base;                    /* a scalar pointer: V_TILE */
  Type type;                     /* of a loaded tile: element type and block shape */
  Value sizes[MAX_RANK], strides[MAX_RANK], offsets[MAX_RANK]; /* i64: V_TILE or V_CONST */
  bool descriptor;     /* a tensor descriptor: accesses say where, and are checked */
  const char *padding; /* of its loads: "zero", "nan", "" */
};

struct Range {
  Value start, stop, step;
  bool is_static;
  /* attributes of tl.range, -1 or false where not given */
  int64_t num_stages, unroll;
  bool flatten, warp_specialize, disallow_acc_multi_buffer, disable_licm;
};

/* Lists may hold themselves, and tuples each other more often than anyone can count: what goes
 * through a value ends at these bounds. */
enum {
  VALUE_DEPTH_MAX = 100,     /* containers in each other */
  VALUE_ITEMS_MAX = 1 << 20, /* items of all of them; one that occurs twice counts twice */
  VALUE_TEXT_MAX = 1 << 20   /* of value_print: the rest of a longer text is left out */
};
typedef struct {
  uint32_t depth, items; /* so far */
} Walk;
/* Enters a container of `items`; false if that is past the bounds.  Leave what was entered. */
static inline bool walk_enter(Walk *w, uint32_t items) {
  if (w->depth == VALUE_DEPTH_MAX || items > VALUE_ITEMS_MAX - w->items) return false;
  w->depth++;
  w->items += items;
  return true;
}
static inline void walk_leave(Walk *w) { w->depth--; }

static inline Value value_of(ValueKind k) { return (Value){.kind = (uint8_t)k}; }
static inline Value value_error(void) { return value_of(V_ERROR); }
static inline Value value_none(void) { return value_of(V_NONE); }
static inline Value value_int(BigInt i) { return (Value){.kind = V_INT, .u.i = i}; }
static inline Value value_bool(bool b) { return (Value){.kind = V_BOOL, .u.i = b}; }
static inline Value value_float(double f) { return (Value){.kind = V_FLOAT, .u.f = f}; }
static inline Value value_str(Name s) { return (Value){.kind = V_STR, .u.s = s}; }
static inline Value value_tile(TileValue *t) { return (Value){.kind = V_TILE, .u.tile = t}; }
static inline Value value_dtype(Type t) {
  return (Value){.kind = V_DTYPE, .u.dtype = {.type = t}};
}
static inline Value value_const(DType t, Scalar v) {
  return (Value){.kind = V_CONST, .u.c = {t, v}};
}
Value value_tuple(Arena *a, const Value *items, uint32_t n); /* copies the items */
Value value_list(Arena *a, const Value *items, uint32_t n);
void value_append(Arena *a, Tuple *t, Value v);
const Value *value_dict_get(const Dict *d, Value key);
void value_dict_set(Arena *a, Dict *d, Value key, Value v);
bool blocks_alike(const BlockPtr *a, const BlockPtr *b); /* of one type, with other values */

/* Are its tuples within the bounds?  Only of such values there are leaves and clones. */
bool value_fits(Value v);

/* The leaves of a value, in order: those of a tuple's items, a block pointer's parts, or the value
 * itself. */
typedef VEC(Value *) ValueLeaves;
void value_leaves(Arena *a, Value *v, ValueLeaves *out);
/* A copy whose leaves can be replaced: tuples and block pointers in it are its own. */
Value value_clone(Arena *a, Value v);
/* Are both aggregates of one class, or both no aggregates? */
bool same_class(const Tuple *a, const Tuple *b);
/* Do both have the same leaves, whatever these are? */
bool value_alike(Value a, Value b);

static inline bool value_is(Value v, ValueKind k) { return v.kind == k; }
/* A Python number: int, bool or float. */
static inline bool value_is_number(Value v) {
  return v.kind == V_INT || v.kind == V_BOOL || v.kind == V_FLOAT;
}
/* A value with a dtype: V_CONST or V_TILE. */
static inline bool value_is_typed(Value v) { return v.kind == V_CONST || v.kind == V_TILE; }
/* Anything that can be an operand of run-time arithmetic. */
static inline bool value_is_operand(Value v) { return value_is_number(v) || value_is_typed(v); }
Type value_type(Value v); /* of a typed value */
static inline bool value_is_pointer(Value v) {
  return v.kind == V_TILE && v.u.tile->type.dtype == DT_PTR;
}
static inline bool value_is_block(Value v) { return v.kind == V_TILE && v.u.tile->type.rank > 0; }

/* A compile-time integer (also bools and known run-time integers). */
bool value_as_int(Value v, BigInt *out);
bool value_as_float(Value v, double *out);
/* The truth of a compile-time value; false if it has none (a run-time value). */
bool value_truth(Value v, bool *out);
/* Python's == on compile-time values; `*known` false if a run-time value takes part, or more than
 * can be compared. */
bool value_equal(Value a, Value b, bool *known);
bool value_equal_in(Value a, Value b, bool *known, Walk *w); /* as a part of a longer walk */
/* The very same value: the same SSA value, or equal constants of one kind. */
bool value_same(Value a, Value b);

/* Prints a value as Python's str() and repr() do; run-time values print their type. */
void value_print(Text *out, Value v, bool repr);
const char *value_text(Arena *a, Value v);
/* The value's description in messages: "f32[64,32]", "the constant 5", "a string", "None". */
const char *value_describe(Arena *a, Value v);

#endif
