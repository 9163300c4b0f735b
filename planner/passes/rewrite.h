/* Rewrite rules: a pattern of calls and its replacement, both as small functions in Python's syntax
 * (docs/rewrites.md).
 *
 *   class silu:
 *       def pattern(x):
 *           return x * aten.sigmoid(x)
 *       def replacement(x):
 *           return aten.silu(x)
 *
 * A rule file is read into terms: trees (a value that is used twice is one term) whose leaves are
 * slots and literals.  A slot is a parameter, a size in a parameter's annotation, or a call of the
 * pattern; a match gives each of them a value. */
#ifndef NEREID_PLANNER_PASSES_REWRITE_H
#define NEREID_PLANNER_PASSES_REWRITE_H

#include "graph/ops/ops.h"
#include "parser/ast.h"

typedef enum {
  TERM_SLOT,    /* of a parameter or a size */
  TERM_CALL,    /* op(args); in a pattern its node goes to the slot */
  TERM_CAST,    /* cast(x), cast(x, dtype): in a pattern x in a wider dtype, or x itself */
  TERM_NARROW,  /* narrow(x), narrow(x, dtype): x in any other dtype, or x itself */
  TERM_EITHER,  /* of a pattern: the first of args that matches */
  TERM_ITEM,    /* args[0][literal] of a call with several results */
  TERM_LITERAL,
  TERM_LIST,    /* also tuples */
  TERM_ANY,     /* ... */
  TERM_DTYPE,   /* args[0].dtype */
  TERM_SHAPE,   /* args[0].shape */
  TERM_RANK,    /* args[0].ndim */
  TERM_INDEX,   /* args[0][args[1]] of a shape or a list */
  TERM_SCALAR,  /* arithmetic on numbers: args[0] op args[1], or op args[0] */
  TERM_COMPARE, /* args[0] op args[1] */
  TERM_AND,     /* of all args */
  TERM_OR,
  TERM_NOT
} TermKind;

typedef struct Term Term;
struct Term {
  TermKind kind;
  AstOp operator; /* SCALAR, COMPARE */
  Span span;
  uint32_t size; /* terms of the tree, those that are used twice counted twice: it is bounded */
  uint32_t slot;
  Name op;     /* CALL: "aten.add", or with its overload "aten.add.Tensor" */
  Arg literal; /* LITERAL, ITEM */
  Term **args;
  Name *names; /* CALL: of named arguments, NULL of others */
  uint32_t nargs;
};

typedef enum {
  SLOT_TENSOR,
  SLOT_NUMBER,
  SLOT_INT,
  SLOT_BOOL,
  SLOT_LIST,
  SLOT_ANY, /* any argument, also None */
  SLOT_SIZE
} SlotKind;

/* The type that a tensor parameter must have. */
typedef struct {
  bool given, shaped, open; /* open: any axes before those of `shape` */
  DType dtype;              /* DT_NONE: any */
  bool floats, ints;        /* any of these */
  Term **shape;             /* slots and literals */
  uint32_t rank;
} SlotType;

typedef struct {
  Name name;
  SlotKind kind;
  SlotType type; /* TENSOR */
} RewriteSlot;

enum { REWRITE_SLOTS_MAX = 64, REWRITE_ASSERTS_MAX = 16, REWRITE_SIZE_MAX = 500 };

/* A pattern: one spelling of what a rule replaces. */
typedef struct {
  Name rule;
  Term *root;
  Term *replacement;
  RewriteSlot slots[REWRITE_SLOTS_MAX];
  uint32_t nslots;
  Term *asserts[REWRITE_ASSERTS_MAX];
  uint32_t nasserts;
  Span span;
  bool own; /* the compiler's: what makes another type is no match */
} Rewrite;

typedef VEC(Rewrite *) RewriteList;

/* Adds the rules of a source of g->diags; false after errors. */
bool rewrite_read(Graph *g, uint32_t file, bool own, RewriteList *out);

/* ---- matching ---- */

typedef struct {
  Graph *g;
  const Rewrite *rule;
  const uint32_t *uses; /* by node id */
  Arg bound[REWRITE_SLOTS_MAX];
  bool is_bound[REWRITE_SLOTS_MAX];
  uint32_t times[REWRITE_SLOTS_MAX]; /* CALL: how often the pattern reached it */
  uint32_t steps;
} Match;

/* The value of a term that is no call; false if it has none. */
bool rewrite_eval(const Match *m, const Term *t, Arg *out);
/* Is n's op the one that the term names? */
bool rewrite_names_op(const Term *t, const GraphOp *op);

#endif
