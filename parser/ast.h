/* The syntax tree of a Python source file, as far as kernels need it.
 *
 * The room owns Python's syntax: lexer, grammar, literals and the messages on syntax errors
 * (parse.h has its files).  It takes the text of a file, and gives a Module: parse(), at the end.
 *
 * The parser reads a whole file unmodified.  The part that it understands becomes nodes: imports,
 * assignments, function definitions under decorators, and the classes, `if`s and `try`s around
 * them.  The rest of a module (host code) is skipped by indentation and bracket depth and leaves a
 * ST_SKIPPED node.  A function that is no kernel has its body skipped as well (`body` NULL,
 * `skipped` true) unless it is small enough to parse: host helpers such as `def is_cuda(): return
 * ...` are parsed when their body is in our subset, and skipped silently when it is not.  Syntax
 * errors are reported only in kernels, in their decorators, and in imports outside functions; of
 * the checks that Python makes after parsing, the parser also makes those for `break` and
 * `continue` outside loops, targets that can't be assigned to, wrong orders of parameters and
 * arguments, and `await` and `yield` in kernels.
 *
 * Every node has a span.  Names are interned.  Nodes live in the arena that was given to parse().
 * Lists are NULL-terminated by their counts, never by sentinels.
 */
#ifndef NEREID_PARSER_AST_H
#define NEREID_PARSER_AST_H

#include "lang/base/diag.h"

/* How deep an expression may nest, and how deep statements may (a chain of elif counts each). */
enum { AST_DEPTH_MAX = 1000 };

typedef struct Expr Expr;
typedef struct Stmt Stmt;

typedef struct {
  Expr **data;
  uint32_t len;
} ExprList;

typedef struct {
  Stmt **data;
  uint32_t len;
} StmtList;

typedef enum {
  EX_NAME,      /* x */
  EX_INT,       /* 12, 0xff, 1_000: `big` when it does not fit u64 */
  EX_FLOAT,     /* 1.5, 1e-6 */
  EX_STR,       /* 'a' "b" juxtaposed, raw and bytes strings; escapes decoded to UTF-8 (a NUL as
                   the bytes c0 80, since a Name holds none) */
  EX_FSTR,      /* f"a{x}b": items are EX_STR and EX_FORMAT in order; `{x=}` is the text "x=" and
                   x with conversion r */
  EX_FORMAT,    /* {value!conv:spec} inside an EX_FSTR */
  EX_TRUE,
  EX_FALSE,
  EX_NONE,
  EX_ELLIPSIS,  /* ... */
  EX_TUPLE,     /* (a, b) or a, b */
  EX_LIST,      /* [a, b] */
  EX_DICT,      /* {k: v}: items are k0 v0 k1 v1; a `**d` has a NULL key */
  EX_SET,       /* {a, b} */
  EX_COMP,      /* [x for t in it if c]: see Comp; also generators, sets and dicts */
  EX_UNARY,     /* - + ~ not */
  EX_BINARY,    /* + - * / // % ** @ & | ^ << >> */
  EX_COMPARE,   /* a < b < c: items a b c, ops between them */
  EX_AND,       /* items */
  EX_OR,        /* items */
  EX_IFEXP,     /* items: then, cond, else   (`then if cond else els`) */
  EX_CALL,      /* f(a, *b, k=v, **d) */
  EX_ATTR,      /* value.name */
  EX_SUBSCRIPT, /* value[index]; several indices are an EX_TUPLE */
  EX_SLICE,     /* lo:hi:step inside a subscript, any of them NULL */
  EX_STARRED,   /* *a in a call, a list, or an assignment target */
  EX_LAMBDA,    /* lambda params: body */
  EX_WALRUS,    /* (name := value) */
  EX_AWAIT      /* await / yield forms: parsed in host code only, never evaluated.  name is
                   "await", "yield" or "yield from", a the operand or NULL */
} ExprKind;

typedef enum {
  OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_FLOORDIV, OP_MOD, OP_POW, OP_MATMUL,
  OP_AND, OP_OR, OP_XOR, OP_SHL, OP_SHR,
  OP_NEG, OP_POS, OP_INVERT, OP_NOT,
  OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_IS, OP_IS_NOT, OP_IN, OP_NOT_IN
} AstOp;

typedef struct {
  Name name;   /* NULL: positional (EX_STARRED for *args); "**": keyword unpacking */
  Expr *value;
  Span span;
} CallArg;

typedef enum { PARAM_PLAIN, PARAM_STAR, PARAM_STARSTAR } ParamKind;

typedef struct {
  Name name;
  Expr *annotation; /* NULL if none */
  Expr *dflt;       /* NULL if none */
  ParamKind kind;
  bool keyword_only;
  Span span;
} Param;

typedef struct {
  Param *data;
  uint32_t len;
} ParamList;

/* A clause `for target in iter if conds...` of a comprehension. */
typedef struct {
  Expr *target, *iter;
  ExprList conds;
} CompFor;

struct Expr {
  ExprKind kind;
  AstOp op;          /* EX_UNARY, EX_BINARY */
  Span span;
  Name name;         /* EX_NAME, EX_ATTR, EX_WALRUS; the text of EX_STR (interned) */
  uint64_t ival;     /* EX_INT */
  bool big;          /* EX_INT past u64: the value is not kept, using it is an error */
  bool paren;        /* stood in parentheses (a tuple in parentheses is one target) */
  uint16_t depth;    /* of the tree below, at most AST_DEPTH_MAX: recursion over it is safe */
  double fval;       /* EX_FLOAT */
  Expr *a, *b, *c;   /* operands: UNARY a; BINARY a b; ATTR a; SUBSCRIPT a b; SLICE a b c;
                        STARRED a; WALRUS a (value); LAMBDA a (body); CALL a (callee);
                        COMP a (element) b (value of a dict comprehension); FORMAT a and spec b
                        (EX_STR or EX_FSTR, NULL if none) */
  ExprList items;    /* TUPLE LIST DICT SET COMPARE AND OR IFEXP FSTR */
  AstOp *ops;        /* COMPARE: items.len - 1 of them */
  CallArg *args;         /* CALL */
  uint32_t nargs;
  ParamList params;  /* LAMBDA */
  CompFor *fors;     /* COMP */
  uint32_t nfors;
  char bracket;      /* COMP: '[' '(' '{' ; FORMAT: the conversion letter or 0 */
};

typedef enum {
  ST_EXPR,     /* value */
  ST_ASSIGN,   /* targets = ... = value */
  ST_AUGASSIGN,/* targets[0] op= value */
  ST_ANNASSIGN,/* targets[0] : annotation = value (value may be NULL) */
  ST_RETURN,   /* value or NULL */
  ST_IF,       /* value (test), body, orelse; an elif is an ST_IF alone in orelse */
  ST_FOR,      /* targets[0] in value: body, orelse */
  ST_WHILE,    /* value: body, orelse */
  ST_WITH,     /* targets are pairs: value, target (or NULL), value, target...; body */
  ST_PASS,
  ST_BREAK,
  ST_CONTINUE,
  ST_ASSERT,   /* value, msg */
  ST_RAISE,    /* value or NULL */
  ST_DEL,      /* targets */
  ST_GLOBAL,   /* names: global or nonlocal */
  ST_IMPORT,   /* import a.b as c, ...: see Import */
  ST_FROM,     /* from ..m import x as y, ... */
  ST_FUNC,     /* func */
  ST_CLASS,    /* name, body */
  ST_TRY,      /* body; handlers are in orelse (their bodies one after the other), finally too */
  ST_SKIPPED   /* host code that was not parsed, one for consecutive lines; span covers its first
                  line; body: the blocks below it, if they hold kernels */
} StmtKind;

typedef struct {
  Name module;    /* dotted path "triton.language", of each alias; "" in `from . import x` */
  Name name;      /* ST_FROM: what is imported ("*" for all); ST_IMPORT: NULL */
  Name as;        /* the name bound; for `import a.b` without `as` it is "a" */
  bool renamed;   /* an `as` was given */
  Span span;
} Import;

typedef struct FuncDef {
  Name name;
  Name owner;           /* the classes around it, "Outer.Inner", or NULL */
  ParamList params;
  Expr *returns;        /* annotation or NULL */
  ExprList decorators;
  StmtList body;
  bool skipped;         /* the body was not parsed as a whole: it is empty, or, if there are
                           kernels in it, what was understood with ST_SKIPPED between */
  bool is_async;
  bool jit_alias;       /* decorated with another name of jit: see ast_is_jit */
  Span span;            /* of the name after `def` */
} FuncDef;

struct Stmt {
  StmtKind kind;
  AstOp op;             /* AUGASSIGN */
  Span span;
  Expr *value;
  Expr *msg;            /* ASSERT message; RAISE ... from */
  Expr *annotation;     /* ANNASSIGN */
  ExprList targets;     /* ASSIGN (each of a = b = v), AUGASSIGN, ANNASSIGN, FOR, DEL; WITH pairs */
  StmtList body, orelse;
  Name *names;          /* GLOBAL */
  uint32_t nnames;
  Import *imports;      /* IMPORT, FROM */
  uint32_t nimports;
  uint32_t level;       /* FROM: number of leading dots */
  Name name;            /* CLASS */
  ExprList decorators;  /* CLASS */
  ExprList bases;       /* CLASS */
  FuncDef *func;
};

typedef struct {
  uint32_t file; /* diag_source number */
  StmtList body;
} Module;

/* Parses a file's text.  Errors go to `d`; the result is never NULL (what could be read). */
Module *parse(Arena *a, Pool *names, Diags *d, uint32_t file);
/* Parses a text that is a kernel from its `def` on: its first function needs no decorator. */
Module *parse_kernel(Arena *a, Pool *names, Diags *d, uint32_t file);
/* Parses a text without host code: every line is parsed, and a line that the grammar refuses is an
 * error.  It is for texts of our own grammar: graphs, rewrite rules. */
Module *parse_all(Arena *a, Pool *names, Diags *d, uint32_t file);

/* True if `f` is decorated as a kernel: `jit`, `triton.jit`, `jit(...)`, `x.jit(...)`, or any
 * further decorator around it.  (`f = triton.jit(g)` is for sema: the module's assignment.)
 * Other names that the file's imports and assignments give to `jit` count as well;
 * `jax.jit`, `numba.jit`, `nb.jit` and `cuda.jit` are other compilers' and don't count.
 * The parser parses in full the body of every function that a `jit(...)` call or decorator of its
 * file names. */
bool ast_is_jit(const FuncDef *f);

/* The tree as indented text, one node a line: what `--emit ast` prints. */
void ast_print(Text *out, const Module *m);
void ast_print_expr(Text *out, const Expr *e); /* as source text, for messages */

const char *ast_op_text(AstOp op); /* "+", "//", "is not" */

/* ---- ast_print.c ---- */

/* A string in double quotes. */
void print_string(Text *out, Name s);

#endif
