/* The state of an evaluation, and the interfaces between the folders of sema/.
 *
 * A Program owns modules and the tables of the language; a Sema evaluates one kernel.  Names are
 * looked up in the Frame of the running function, then in its enclosing functions, then in its
 * module, then among Python's own.  Nothing here is global: everything hangs on a Sema or its
 * Program, and lives in the Program's arena.
 *
 * Each folder, with its input and output:
 *
 *   module/     owns the files of a program and their names; from a name to its value
 *     imports.c      opening files, imports        module_names.c   names of a module, on demand
 *     language.c     names of the language, and of its library lang/std
 *     reexports.c    names of the language that other packages pass on
 *     enclosing.c    host functions around kernels    outside.c     names that the caller knows
 *     given_names.c  values that a request gives names
 *   eval/       owns the evaluation of functions; from a syntax tree to a value and tile IR
 *     statements.c   statements, assignments and early exits
 *     branch.c       branches, and the join of the values of their sides
 *     loops.c        for and while                 carried.c        which names a loop assigns
 *     expressions.c  expressions, containers       subscripts.c     x[index]
 *     call.c         calls, of functions inlined      classes.c   named tuples and aggregates
 *     operators.c    operators on run-time values  fma.c            products that fuse with sums
 *     attributes.c   x.dtype, x.shape, methods     given_layouts.c  Gluon's layouts of tiles
 *     shared.c       Gluon's shared memory         remedies.c       what to write instead
 *   builtins/   owns the functions of the language (builtins.h); from argument values to a result
 *   value/      owns values (value.h); from values to values
 *     scope.c        variables                     types.c          promotion and casts
 *     constant_arith.c   Python's arithmetic       sema_diag.c      errors and their call chains
 *   autotune/   owns host code and decorators; from a kernel to its configurations (sema/tuned.h)
 */
#ifndef NEREID_SEMA_VALUE_CONTEXT_H
#define NEREID_SEMA_VALUE_CONTEXT_H

#include "sema/sema.h"
#include "sema/value/value.h"

/* Resource limits of one compilation; each is an error, never a crash. */
enum {
  EVAL_DEPTH_MAX = 2000,   /* nested expressions, statements and calls together */
  CALL_DEPTH_MAX = 100,    /* inlined calls */
  UNROLL_MAX = 1 << 18,    /* statements executed in unrolled and compile-time loops */
  UNSETTLED_MAX = 1 << 12, /* values of names of modules that are not kept */
  EVAL_MB_MAX = 512,       /* what one evaluation may take of memory */
  EVAL_SPENT_MAX = 4,      /* evaluations of a program that have taken so much */
  ITEMS_MAX = 1 << 26,     /* items of containers that a program goes through */
  TUPLE_MAX = 1 << 16,     /* elements of a tuple made by repetition */
  ROWS_MAX = 1 << 20,      /* elements of all tuples that zip() and product() make */
  STR_MAX = VALUE_TEXT_MAX
};

/* ---- programs and modules ---- */

/* A statement that binds a name, and the conditions around it. */
typedef struct Guard {
  const struct Guard *outer;
  const Stmt *stmt; /* ST_IF */
  bool orelse;
} Guard;

typedef struct Binding {
  struct Binding *next; /* what counts if this one does not: see module_names.c */
  const Stmt *stmt;
  uint32_t index;       /* which import, or which target */
  const Guard *guard;
  bool busy;            /* being evaluated */
} Binding;

typedef struct {
  Name name;
  Binding *first, *last;
  Value value;
  bool done;
  bool unsure; /* an unknown condition decides between this value and another one */
} Global;

/* A table from interned names to indices. */
typedef struct {
  struct {
    Name key;
    uint32_t value;
  } *slots;
  uint32_t nslots, count;
} NameMap;
bool map_get(const NameMap *m, Name key, uint32_t *value);
void map_set(Arena *a, NameMap *m, Name key, uint32_t value);

struct ModuleInfo {
  Name path;        /* of the file, as diagnostics call it */
  const Module *ast;
  bool is_package;  /* __init__.py */
  bool is_std;
  uint32_t std_file;
  NameMap index;    /* into globals */
  VEC(Global) globals;
  VEC(const Stmt *) stars; /* from x import * */
  bool busy;        /* a star import is looking here */
  bool asks;         /* names that it doesn't bind are asked of the caller, ... */
  const void *scope; /* ... in this scope */
  bool has_language; /* it knows full names of the language as well: triton, math */
  const FuncDef *def; /* the function that its text begins with, whose names are asked for */
  bool is_scope;     /* it is nothing but a scope, and `path` its name */
  bool is_class;     /* its text is a class, perhaps without the decorator */
  ModuleInfo *outer; /* of a host function's body: where names that it doesn't bind are looked up */
  const FuncDef *body_of; /* that function */
};

typedef struct StdIndex StdIndex;
typedef struct Outside Outside;

struct Program {
  Arena *arena;
  Pool *names;
  Diags *diags;
  const char *const *import_path;
  int nimport;
  ModuleInfo *main;
  VEC(ModuleInfo *) modules;
  Kernel *kernels;
  uint32_t nkernels;
  bool listed;
  NameMap builtins;  /* name -> first row of that name in the table */
  const void **signatures; /* of builtins, by row, once parsed */
  NameMap operand_dtypes;  /* functions of the library -> rows of their operands' dtypes */
  TileFunc *unfinished; /* that the last compilation makes, or has made */
  uint64_t steps; /* of unrolled loops in the last compilation */
  uint32_t spent; /* evaluations that have taken EVAL_MB_MAX */
  uint64_t items; /* of containers that were gone through, to look one up for example */
  const Name *config_fields, *tensor_fields; /* by which objects are told: see host.h */
  StdIndex *std;
  Outside *outside; /* NULL: the caller knows no names */
  const KernelArg *given; /* of sema_give() */
  uint32_t ngiven;
};

/* The module that an import names: `dots` leading dots and a dotted path, seen from `from`.
 * NULL if it is not among the files at hand. */
ModuleInfo *program_import(Program *p, const ModuleInfo *from, uint32_t dots, Name path);
/* A module of a text; is_kernel: its first function is one, and needs no decorator. */
ModuleInfo *program_add_text(Program *p, const SourceText *text, bool is_kernel);
/* A module of `stmts` (what program_load does with a file's body). */
void module_index(Program *p, ModuleInfo *m, const StmtList *body);

/* "kernel" of "Class.kernel". */
Name last_part_of(Program *p, Name name);

/* ---- evaluation ---- */

typedef enum {
  VAR_UNSET,
  VAR_SET,
  VAR_PARTIAL,  /* set on some paths only */
  VAR_CONFLICT, /* set to values that have no common type */
  VAR_LOOP,     /* set in a loop that may not run */
  VAR_DEFAULT   /* a parameter whose default has no value here */
} VarState;

typedef struct {
  Name name;
  Value value;
  Span at;            /* where it was set */
  Span other;         /* PARTIAL, CONFLICT: the other place */
  const char *types;  /* CONFLICT: what the two are */
  uint8_t state;      /* VarState */
} Var;

typedef struct {
  uint32_t var;
  Var old;
} TrailEntry;

/* The values of the variable <state>: what became of the statements so far. */
enum { STATE_RUN, STATE_CONTINUE, STATE_BREAK, STATE_RETURN };
/* The variables that every frame has. */
enum { VAR_STATE, VAR_RETURN, VAR_RESULT, VAR_FIRST_NAMED };

struct Frame {
  Frame *caller;
  const Func *func;      /* NULL: a module */
  Name name;             /* of the function */
  Span call;             /* where it was called */
  ModuleInfo *module;
  Frame *closure;
  bool host;             /* Python's own semantics: assignments keep constexprs */
  bool is_std;           /* errors and places are those of the caller */
  uint32_t loops;        /* run-time loops around this place, in this function */
  NameMap index;
  VEC(Var) vars;
  VEC(TrailEntry) trail;
  VEC(uint32_t) stamps;  /* by variable: the last capture that met it */
  uint32_t captures;
  VEC(Name) constexprs;  /* `x: tl.constexpr` without a value */
};

typedef struct {
  TileValue *from, *to;
} Replacement;

/* A choice by element: both sides are computed for all elements. */
typedef struct Choice {
  Value condition; /* i1, of each element */
  bool otherwise;  /* the side of those for which it is false */
  const struct Choice *outer;
} Choice;

struct Sema {
  Program *p;
  Arena *arena;
  Pool *names;
  Diags *diags;
  TileFunc *fn;
  Language language; /* where versions differ */
  TileBuilder b;
  Frame *frame;
  uint32_t depth, calls;
  uint64_t unrolled;
  bool unsure;        /* a name was read whose value an unknown condition decides */
  uint32_t unsettled; /* values of names of modules that could not be kept */
  size_t memory;      /* the arena's size when counting began */
  int quiet;          /* > 0: a trial; errors set `failed`, nothing is emitted */
  bool failed;
  int elementwise;    /* > 0: `if` on a tile becomes a choice by element */
  int combining;      /* > 0: in a combining function, where every `if` becomes a choice */
  Type element_shape; /* of the tiles whose elements the choices are of */
  const Choice *choice; /* whose side this is; NULL: none */
  bool out_of_depth;
  bool spent;         /* EVAL_MB_MAX is taken: nothing more is evaluated */
  bool muted;         /* the last error was not new: its notes and hints go too */
  VEC(Replacement) replaced;
  VEC(Value) layouts;           /* that the program gives tiles, each once */
  VEC(uint16_t) layout_numbers; /* of tile values, by id: which of them, from 1; 0: none */
  uint32_t shared;              /* tiles in shared memory */
  VEC(Span) reported;
  struct Host *host; /* NULL: a kernel is compiled; else decorators are evaluated: see host.h */
};
typedef struct Sema Sema;

/* ---- sema_diag.c ---- */
void sema_error(Sema *S, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Said once a place and text. */
void sema_warning(Sema *S, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void sema_note(Sema *S, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void sema_hint(Sema *S, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The nearest of the names offered so far to `name`: start with a zeroed Nearest. */
typedef struct {
  Name best;
  uint32_t distance;
} Nearest;
void nearest_offer(Nearest *n, const char *name, const char *candidate);
/* The location of ops made now: the innermost place that is the user's. */
Span sema_place(const Sema *S, Span at);

/* True (and, once, an error) when the evaluation has taken EVAL_MB_MAX: asked before whatever may
 * be evaluated again and again. */
bool memory_spent(Sema *S, Span at);
/* Counts items of a container that are gone through; false, and an error, past ITEMS_MAX. */
bool count_items(Sema *S, uint64_t n, Span at);
/* False, and an error, if a value is past the bounds of value.h. */
bool has_leaves(Sema *S, Value v, Span at);
/* Counts a step of an unrolled loop; true (and, once, an error) after UNROLL_MAX of them, or when
 * memory is spent. */
bool unrolled_too_much(Sema *S, Span at);

/* ---- scope.c ---- */
Frame *frame_new(Sema *S, const Func *func, Span call);
Var *frame_var(Frame *f, Name name); /* NULL: never mentioned */
Var *frame_slot(Sema *S, Frame *f, Name name);
void frame_set(Sema *S, Name name, Value v, Span at);
void frame_set_slot(Sema *S, uint32_t var, Value v, Span at);
void frame_change(Sema *S, uint32_t var, Var now);
void frame_forget(Sema *S, uint32_t var, VarState state, Span at);
static inline Value frame_value(const Sema *S, uint32_t var) {
  return S->frame->vars.data[var].value;
}
/* Changes since frame->trail had `mark` entries, once a variable and in order; then all is
 * undone. */
typedef struct {
  uint32_t var;
  Var after;
} Change;
typedef VEC(Change) Changes;
Changes frame_undo(Sema *S, size_t mark);
const Var *changed_var(const Changes *changes, uint32_t var); /* after them; NULL: unchanged */

/* ---- branch.c ---- */
/* The error that a tile can't be a condition; an error value. */
Value refuse_tile_condition(Sema *S, Span at, Value cond);
/* Evaluates both sides of a run-time condition and joins what they changed.  A side may be NULL.
 * A condition that is known runs one side in place. */
typedef void (*BranchSide)(Sema *S, void *ctx);
void branch(Sema *S, Span at, Value cond, BranchSide then_side, BranchSide else_side, void *ctx);

/* `mask` (V_ABSENT: true) and the conditions of the choices by element around this place. */
Value choice_mask(Sema *S, Value mask, Span at);
/* A device_assert of a condition, where `mask` (V_ABSENT: everywhere) says. */
bool assert_condition(Sema *S, Value cond, Value mask, const char *message, Span at);

/* ---- expressions.c ---- */
Value eval(Sema *S, const Expr *e);
Value eval_quietly(Sema *S, const Expr *e); /* V_ERROR if it is no compile-time value */
/* The truth of `e` as a compile-time value, or as a run-time scalar i1 in *cond. */
bool eval_condition(Sema *S, const Expr *e, Value *cond, bool *truth);

/* Items of anything that can be iterated at compile time; false if it can't. */
bool iterate(Sema *S, Value v, Span at, const Value **items, uint32_t *n);
Value as_set(Sema *S, Value list, Span at);
/* value_dict_get and value_dict_set, counted. */
const Value *dict_find(Sema *S, const Dict *d, Value key, Span at);
void dict_put(Sema *S, Dict *d, Value key, Value v, Span at);
/* A text as a value; an error if it has more than STR_MAX characters. */
Value text_value(Sema *S, const Text *t, Span at);

/* ---- subscripts.c ---- */
Value eval_subscript(Sema *S, Value v, Value index, Span at);

/* ---- statements.c ---- */
void exec_body(Sema *S, const StmtList *body, int tail_state);
int state_now(const Sema *S);  /* STATE_..., or -1 if only the run decides */

void assign(Sema *S, const Expr *target, Value v, Span at);
Value decay(Sema *S, Value v, Span at); /* what plain assignment makes of a constexpr */
/* Calls a value after the first of the user's variables that has it. */
void give_name(const Sema *S, Value v, Name name);
bool is_constexpr_annotation(const Expr *e);

/* ---- loops.c, carried.c ---- */
void exec_for(Sema *S, const Stmt *s);
void exec_while(Sema *S, const Stmt *s);
typedef VEC(Name) NameList;
typedef struct {
  NameList names;  /* assigned somewhere inside, other than only as a constexpr */
  bool has_break, has_return; /* that leave this loop */
  const NameMap *assigned;
} Assigned;
/* `test` is the condition of a while loop, or NULL. */
void assigned_names(Sema *S, const StmtList *body, const Expr *test, Assigned *out);
bool always_leaves(const StmtList *body); /* every path ends in return, break or continue */

/* ---- call.c ---- */
typedef struct CallArgs {
  Value *pos;
  uint32_t npos;
  Name *names;
  Value *named;
  uint32_t nnamed;
  Span at;         /* the call */
  const Span *spans; /* of the positional arguments, or NULL */
  const Span *named_spans; /* of the named ones, or NULL */
} CallArgs;
Value eval_call(Sema *S, const Expr *e);
Value call_value(Sema *S, Value fn, const CallArgs *args);
/* Calls a function of the user with these arguments. */
Value call_with(Sema *S, Value fn, const Value *args, uint32_t n, Span at);

Value func_of(Sema *S, const FuncDef *def, ModuleInfo *m);
Value eval_in_module(Sema *S, ModuleInfo *m, const Expr *e);
/* Evaluates without messages: an error value if the expression can't be evaluated, not even as host
 * code that may query the target device. */
Value eval_in_module_quietly(Sema *S, ModuleInfo *m, const Expr *e);
Value undecay(Value v); /* a V_CONST as the constexpr that it equals */

/* ---- operand_dtypes.c ---- */
/* False, and an error, if a function of the library does not take the dtypes of its arguments,
 * which are bound in S->frame. */
bool operands_fit(Sema *S, const Func *fn, Span at);

/* Arguments of a call into the values of parameters, or of a class's fields, in order. */
bool bind_call(Sema *S, const ParamList *params, Value cls, const CallArgs *args, Value *out);

/* ---- classes.c ---- */
Value class_value(const Stmt *def, ModuleInfo *m, Frame *closure);
bool class_attribute(Sema *S, Value cls, Name name, Value *out);
bool is_subclass(Sema *S, Value cls, Value of);
/* An object of the class: a named tuple or an aggregate. */
Value construct(Sema *S, Value cls, const CallArgs *args);
/* A method or property of an object, or another name of its class; false if there is none. */
bool object_attribute(Sema *S, Value object, Name name, Span at, Value *out);
bool is_aggregate(Value v);
/* super().NAME; false if `e` is something else, or no base has the name. */
bool super_attribute(Sema *S, const Expr *e, Value *out);
/* object.name = v, of an aggregate. */
void assign_object_field(Sema *S, Value object, Name name, Value v, Span at);
/* object.NAME(args), as of `__add__`; false if it is no aggregate or has no such method. */
bool call_special(Sema *S, Value object, const char *name, const Value *args, uint32_t n, Span at,
                  Value *out);
/* The class that collections.namedtuple("P", "x y") makes; false if the call is none of these. */
bool named_tuple_class(Sema *S, Name path, const CallArgs *args, Value *out);

/* ---- builtin_call.c ---- */
Value call_builtin(Sema *S, Value fn, const CallArgs *args);

/* ---- constant_arith.c ---- */
Value const_binary(Sema *S, AstOp op, Value a, Value b, Span at);
Value const_unary(Sema *S, AstOp op, Value a, Span at);
Value const_compare(Sema *S, AstOp op, Value a, Value b, Span at);

/* ---- types.c ---- */
/* A number as the run-time value that it becomes by itself: i32, u32, i64, u64, f32, f64, i1. */
Value typed(Sema *S, Value v, Span at);
/* The type in which two operands are computed; DT_NONE after an error. */
DType common_dtype(Sema *S, Value a, Value b, bool div_or_mod, const char *op, Span at);
/* The common dtype of three values, where numbers are weak among all others (Triton 3.9). */
DType common_dtype3(Sema *S, const Value v[3], const char *op, Span at);
Value cast_to(Sema *S, Value v, Type elem, bool rtz, Span at); /* to the dtype (and pointee) */
Value cast_dtype(Sema *S, Value v, DType t, Span at);
Value bitcast_to(Sema *S, Value v, Type elem, Span at);
Value as_condition(Sema *S, Value v, Span at); /* to i1: v != 0 */

/* ---- operators.c ---- */
Value binary(Sema *S, AstOp op, Value a, Value b, Span at);
Value unary(Sema *S, AstOp op, Value a, Span at);
Value compare(Sema *S, AstOp op, Value a, Value b, Span at);
Value logical(Sema *S, bool is_and, Value a, Value b, Span at);
/* x.__add__(y) and the like, of tiles and numbers. */
bool special_method_known(const char *name);
/* V_ABSENT if it takes other arguments. */
Value special_method(Sema *S, Value self, const char *name, const Value *args, uint32_t n, Span at);
/* An elementwise op on operands of equal dtypes; shapes are broadcast, constants folded. */
Value emit_elementwise(Sema *S, TileCode code, const Value *args, uint32_t n, DType result,
                       Span at);
/* Two or more typed values in one shape.  False after an error. */
bool broadcast_all(Sema *S, Value *values, uint32_t n, Span at);
/* `v` with the shape of `to`: splat, or axes of extent 1 repeated.  V_ERROR after an error. */
Value broadcast_to(Sema *S, Value v, Type to, Span at);
/* The tile value of a typed value (a CONST op for a V_CONST). */
TileValue *materialize(Sema *S, Value v, Span at);
TileOp *emit(Sema *S, TileCode code, TileValue *const *args, uint32_t nargs, const Type *types,
             uint32_t nresults, Span at);
Value emit1(Sema *S, TileCode code, Type type, TileValue *x, TileValue *y, TileValue *z, Span at);
bool can_emit(Sema *S); /* false in a trial, which then has failed */
Value reshape_value(Sema *S, Value v, Type to, Span at);
Value expand_axis(Sema *S, Value v, int axis, Span at);

/* ---- given_layouts.c ---- */
/* A name of triton.experimental.gluon.language. */
Value gluon_value(Sema *S, const char *name);
/* The number of the layout that the program has given a tile value; 0: none. */
uint16_t given_layout(const Sema *S, const TileValue *v);
static inline Value layout_numbered(const Sema *S, uint16_t n) { return S->layouts.data[n - 1]; }
/* Gives `to` the layout of `from`. */
void given_layout_copy(Sema *S, const TileValue *from, TileValue *to);
/* The layouts of an op's results, for ops whose results have the axes of their operands. */
void given_layout_flow(Sema *S, TileOp *op, Span at);
/* These are for ops that add, remove or permute axes. */
void given_layout_expand(Sema *S, const TileValue *from, TileValue *to, int axis, Span at);
void given_layout_reduce(Sema *S, const TileValue *from, TileValue *to, int axis, Span at);
void given_layout_permute(Sema *S, const TileValue *from, TileValue *to, const int64_t *dims,
                          Span at);
/* False, and an error, if both have layouts that differ. */
bool given_layout_agree(Sema *S, const TileValue *a, const TileValue *b, const char *where,
                        Span at);

/* ---- shared.c ---- */
/* Shared memory enters the function that S->frame is of, and leaves it for the caller's frame. */
void shared_enter(Sema *S);
void shared_leave(Sema *S, Frame *callee);
/* The variable of shared memory number `i`, as every frame calls it. */
Name shared_name(Sema *S, uint32_t i);
bool is_shared_name(Name name);

/* ---- module_names.c, language.c ---- */
/* Parses what defines `name` in a module of the library, if it was not yet. */
void std_need(Program *p, ModuleInfo *m, Name name);
/* The value of a module's name; false if it has none. */
bool module_get(Sema *S, ModuleInfo *m, Name name, Span at, Value *out);
/* Evaluates all names of files anew when they are asked for. */
void forget_values(Program *p);
/* The names that an import binds. */
Value module_import(Sema *S, ModuleInfo *m, const Stmt *s, const Import *im);
/* A name in a namespace of the language; false if it has none. */
bool language_get(Sema *S, Name space, Name name, Value *out);
bool language_is_space(const char *path);
/* Maps `nereid` in files of kernels to `triton`: "nereid.language" gives "triton.language". */
Name language_path(Pool *names, Name path);
Nearest language_nearest(Sema *S, Name space, Name name); /* distance 0: it has that name */
void language_unknown(Sema *S, Name space, Name name, Span at);
bool python_builtin(Sema *S, Name name, Value *out);
/* A method of tiles: a builtin or a function of the standard library that takes one first. */
bool language_method(Sema *S, Name name, Value *out);
/* The method of tensor descriptors that lang/std/descriptor.py has. */
bool language_descriptor_method(Sema *S, Name name, Value *out);
Value extern_attribute(Sema *S, Name path, Name name);

/* ---- reexports.c ---- */
/* The namespace of the language that `name` of a module which is not at hand stands for; NULL:
 * none. */
Name language_passed_on(Pool *names, Name parent, Name name);
/* Maps a whole path, as an import writes it. */
Name language_vendored(Pool *names, Name path);

/* A method of a compile-time value, bound to it: see builtins_methods.c. */
Value method_value(Sema *S, Value self, Name name);
DType python_dtype(Value v); /* of int, float, bool; else DT_NONE */
bool math_function_known(const char *name);

/* ---- descriptor.c ---- */
bool descriptor_attribute(Sema *S, Value v, Name name, Span at, Value *out);

/* ---- attributes.c ---- */
/* The questions that a dtype answers, as is_fp8(); false if `name` is none of them. */
bool dtype_question(DTypeValue d, const char *name, bool *yes);
Value constexpr_type(Sema *S, Value v, Span at); /* the type that a constant has alone */
Value shape_value(Sema *S, Type t);
Value get_attribute(Sema *S, Value v, Name name, Span at);
Value bind_self(Sema *S, Value fn, Value self); /* a method as a function of its other arguments */
/* Finds an attribute without messages: false if there is none. */
bool find_attribute(Sema *S, Value v, Name name, Span at, Value *out);

/* ---- remedies.c: hints after an error ---- */
/* What a kernel writes for a host's function, "numpy.maximum". */
void hint_function(Sema *S, Name path);
/* Hints at the remedy for a method that `v` lacks. */
void hint_method(Sema *S, Value v, Name name);
/* Hints at the remedy for two tiles whose shapes don't match. */
void hint_broadcast(Sema *S, Type a, Type b);

/* ---- outside.c ---- */
void outside_open(Program *p, NameLookup lookup, void *context);
/* Adds a text as program_add_text() does; its other names are looked up in the caller's scope. */
ModuleInfo *outside_module(Program *p, const SourceText *text, bool is_kernel);
/* The value of a name that the caller knows; false if there is none. */
bool outside_get(Sema *S, const ModuleInfo *m, Name name, Span at, Value *out);

/* The value that the caller has for the default of a parameter of a module's own function: what the
 * expression meant when the function was defined. */
bool outside_default(Sema *S, const ModuleInfo *m, const FuncDef *def, const Param *p, Value *out);

/* The result of calling a function of the caller's with constants, if the caller can call it. */
bool outside_call(Sema *S, const Func *fn, const CallArgs *args, Value *out);

/* ---- given_names.c ---- */
/* The value that the request gives a name that `m` binds; false if it gives none. */
bool given_get(Sema *S, ModuleInfo *m, Name name, Span at, Value *out);
/* Is it a parameter of a host function around what is evaluated? */
bool is_host_parameter(const ModuleInfo *m, Name name);

/* ---- enclosing.c ---- */
/* The scope of a kernel's free names: its file, or the host function around it. */
ModuleInfo *kernel_module(Program *p, const Kernel *k);
bool module_get_path(Sema *S, ModuleInfo *m, const char *path, Span at, Value *out);

/* ---- inputs.c ---- */
/* The name of a tuple's item as an argument. */
const char *item_name(Arena *a, const char *tuple, uint32_t i);

/* ---- compile.c ---- */
/* An argument's value as it was given; V_ABSENT for a type or a function's name. */
Value constant_arg(Sema *S, const KernelArg *arg);

/* ---- fma.c ---- */
/* Products that feed one sum become fused multiply-adds. */
void fuse_products(Sema *S);

/* ---- compile-time arguments ---- */
/* Each reports what was wanted and returns false if the value is something else. */
bool want_int(Sema *S, Value v, const char *what, Span at, int64_t *out);
bool want_bool(Sema *S, Value v, const char *what, Span at, bool *out);
bool want_shape(Sema *S, Value v, Span at, Type *out);
bool want_dtype(Sema *S, Value v, Span at, DTypeValue *out);
bool want_ints(Sema *S, Value v, const char *what, Span at, int64_t *out, uint32_t max,
               uint32_t *n);

#endif
