/* From syntax to tile IR: names, constexprs, specialization, inlining, types and shapes.
 *
 * The room owns the semantics of the kernel language: its names and builtins, the evaluation of
 * functions, Python's values, and the configurations that decorators declare (tuned.h).  It takes
 * source text, which it has parsed, and for one kernel the types and constants of its arguments; it
 * gives a TileFunc.  sema/value/context.h has the folders.
 *
 * A Program holds the modules that a kernel file reaches (itself, and the files that its imports
 * name, read on demand).  sema_kernels() lists what is in the file; sema_compile() evaluates one
 * kernel for one specialization and gives a TileFunc.
 *
 * Sema is an evaluator over one tagged value (constexpr, run-time value, tuple, function, dtype,
 * none, module, type ...).  Constant branches vanish before they are checked; `jit` helpers are
 * inlined.  Errors are collected in the Diags, each with the chain of calls that led to it as
 * notes.  Nothing here knows targets or layouts (is_cuda() and the like ask Options.target's name).
 */
#ifndef NEREID_SEMA_SEMA_H
#define NEREID_SEMA_SEMA_H

#include "lang/tile/tile.h"
#include "parser/ast.h"

typedef struct Program Program;

/* A text, and its place in the file that it is part of. */
typedef struct {
  const char *path;  /* what diagnostics call it */
  const char *text;
  size_t len;
  uint32_t line;     /* of its first line, from 1 */
  uint32_t column;   /* columns that were cut from each line */
  const void *scope; /* where names are looked up that it doesn't bind */
} SourceText;

/* Answers for a name from outside of all texts: see module/outside.c. */
typedef enum {
  OUTSIDE_NONE,
  OUTSIDE_VALUE, /* `text` is an expression over literals, the language's full names, and names
                    that are looked up in source.scope (NULL: none) */
  OUTSIDE_SCOPE, /* `text` is its name; its attributes are looked up in source.scope */
  OUTSIDE_JIT,   /* `text` is the name of what `source` defines, which ends in a NUL: a function */
  OUTSIDE_HOST,  /* a function evaluated at compile time */
  OUTSIDE_CLASS,
  OUTSIDE_OTHER  /* nothing for a kernel; `text` says what it is */
} OutsideKind;

typedef struct {
  OutsideKind kind;
  const char *text;
  SourceText source;
} OutsideName;

/* Fills *out and returns 0; or another number, which ends the compilation. */
typedef int (*NameLookup)(void *context, const void *scope, const char *name, OutsideName *out);

/* Parses a text.  Relative imports are searched in the folder of its path, absolute ones also in
 * the n folders of `import_path`.  If there is a `lookup` (not NULL), the text may begin with a
 * kernel's `def`, without a decorator. */
Program *program_from_text(Arena *a, Pool *names, Diags *d, const SourceText *text,
                           NameLookup lookup, void *context, const char *const *import_path, int n);
/* The number that the lookup of *name returned when it failed; 0 if none failed. */
int sema_lookup_failure(const Program *p, const char **name);

typedef enum {
  KP_RUNTIME,   /* a run-time argument */
  KP_CONSTEXPR, /* annotated tl.constexpr */
} KernelParamKind;

typedef struct {
  Name name;
  KernelParamKind kind;
  bool has_default;
  bool tuned;            /* set by an autotune config or a heuristic of the file */
  bool do_not_specialize;/* listed in jit(do_not_specialize=...): no ==1, no divisibility */
  DType declared;        /* from an annotation such as tl.int64; DT_NONE if it says nothing */
  bool is_const;         /* annotated tl.const */
  const char *text;      /* the annotation as written, or "" */
} KernelParam;

typedef struct {
  Name name;   /* NAME or Class.NAME */
  Span span;
  KernelParam *params;
  uint32_t nparams;
  const FuncDef *def;
  bool helper;   /* called by another jit function of the file, or returning a value: listed after
                    the entry kernels */
  bool decorated; /* by more than jit */
  bool shadowed; /* another definition has the name at the end of the file */
  const Expr *alias; /* found as `tuned = autotune(...)(kernel)`: the value; else NULL */
} Kernel;

/* The kernels of the file, in order.  Returns their number. */
uint32_t sema_kernels(Program *p, const Kernel **out);
/* KERNEL of the command line: NAME, Class.NAME, NAME@LINE, or NULL/"" for the only one.  If a name
 * has several definitions, it is the one that the file leaves on the target (NULL: any).  Returns
 * NULL after an error (which lists the kernels) if there is none or several. */
const Kernel *sema_find(Program *p, const char *which, const char *target);

typedef enum {
  ARG_TYPE,      /* a run-time argument of `type`, divisible by `div` */
  ARG_ONE,       /* an integer known to be 1: becomes a constant, not a parameter */
  ARG_NONE,      /* None */
  ARG_INT,       /* constexprs: */
  ARG_BOOL,
  ARG_FLOAT,
  ARG_STR,
  ARG_DTYPE,
  ARG_NAME,      /* the value that `s` names in the file, or outside: a jit function, anything */
  ARG_TUPLE      /* of the items that follow by name; `s` names its class, NULL: a plain one */
} ArgKind;

/* Each item of a tuple is an argument: `shape.0`, `shape.1`, and `shape.1.0` for a nested tuple.
 * An argument of kind ARG_TUPLE, with the tuple's own name, is a tuple without items, or adds a
 * class to one that has items. A tensor descriptor `d` is the pointer `d` with the integers
 * `d.shape.0`, `d.shape.1`, ..., `d.strides.0`, `d.strides.1`, ...  Missing ones are i32 and i64,
 * with strides of multiples of 16 bytes, and the last stride is 1. */
typedef struct {
  Name name;
  ArgKind kind;
  Type type;   /* ARG_TYPE: a scalar or a pointer (ARG_ONE: its integer dtype); ARG_DTYPE: dtype */
  int64_t div; /* ARG_TYPE */
  Type block;  /* ARG_TYPE of a pointer: of a tensor descriptor, else without a rank */
  const char *padding; /* of a tensor descriptor: "zero" or "nan" */
  int64_t i;   /* ARG_INT, ARG_BOOL */
  double f;    /* ARG_FLOAT */
  const char *s; /* ARG_STR, ARG_NAME, ARG_TUPLE */
  bool is_constexpr; /* a constant for which the kernel may branch, though its parameter is none */
} KernelArg;

/* Bytes that the base of a descriptor is aligned to, and each stride but the last. */
enum { DESCRIPTOR_ALIGNMENT = 16, DESCRIPTOR_RANK = 5 /* at most */ };
bool sema_is_descriptor(const KernelArg *arg);

/* Is the argument `name` the parameter `param`, or an item of it? */
bool sema_is_item(const char *name, const char *param);
/* The parameter that an argument of this name belongs to; NULL if there is none. */
const KernelParam *sema_param_of(const Kernel *k, const char *name);

/* Values of names of files for the evaluations that follow: of constants that only Python can
 * compute, and of names of the host function around a kernel. */
void sema_give(Program *p, const KernelArg *args, uint32_t n);
/* Does a file that was read bind the name, or a host function around the kernel? */
bool sema_binds(Program *p, const Kernel *k, const char *name);

typedef struct {
  const char *name;     /* of the parameter, or of an item */
  uint32_t param;       /* which one of the kernel */
  const KernelArg *arg; /* NULL if it is left out */
} KernelInput;

/* The values of the parameters, in their order, with all items of tuples and of tensor descriptors.
 * A TileParam's `arg` is an index into this list.  Returns its length. */
uint32_t sema_inputs(Arena *a, const Kernel *k, const KernelArg *args, uint32_t nargs,
                     const KernelInput **out);

/* Compiles `k` with these arguments (any order; parameters left out take their defaults).
 * Launch options given as parameters of the options struct.  NULL after errors. */
TileFunc *sema_compile(Program *p, const Kernel *k, const KernelArg *args, uint32_t nargs,
                       Options options);
/* The tile function of the last compilation, as far as that came; NULL before one. */
const TileFunc *sema_unfinished(const Program *p);

#endif
