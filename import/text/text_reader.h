/* The reader of graphs as text, for what needs more than one node of a statement: operators whose
 * arguments are graphs, printed as classes within the module's. */
#ifndef NEREID_IMPORT_TEXT_TEXT_READER_H
#define NEREID_IMPORT_TEXT_TEXT_READER_H

#include "graph/ops/ops.h"
#include "parser/ast.h"

/* Numbers that a function of scores' gradient adds to elements of one tensor: flex_lib's
 * zeros_and_scatter, or the sum of several of these. */
typedef struct TextAdded {
  Node *place, *number; /* of each score: the element, or -1 for none; what is added to it */
  const struct TextAdded *next;
} TextAdded;

/* What a name means where it is no node of the graph. */
typedef struct TextName {
  Name name;
  const Expr *value;      /* of a submodule: self.NAME */
  Node *node;             /* of a value within a submodule */
  const TextAdded *added; /* of a gradient within a submodule */
  Node **items;           /* of the list that a call has among its results; NULL: no such one */
  uint32_t nitems;
  const struct TextName *next;
} TextName;

typedef struct Reader {
  Graph *g;
  const Module *module;
  const Source *source;
  const char *line;     /* of the source: where number `line_number` begins */
  uint32_t line_number; /* all comments before it have been seen */
  Name origin;          /* of the nodes that follow */
  Node *output;
  ValueType *types; /* that annotations say, by statement */
  uint32_t at;      /* the statement */
  bool listing;     /* print(graph): see import/text/text_forms.h */
  Node *last_input; /* of a listing */
  const TextName *submodules;
  bool within;            /* a submodule, whose names are its own */
  const TextName *values; /* these */
  const TextName *lists;  /* results of calls, and names of results, that are lists */
  Arg (*read_arg)(struct Reader *r, const Expr *e);
  /* The node of a call, x[0], or a + b; NULL: it was reported. */
  Node *(*read_node)(struct Reader *r, const Expr *e);
  /* A new call, whose arguments are not set. */
  Node *(*make_call)(struct Reader *r, const Expr *e, const char *target, uint32_t n,
                     uint32_t named);
} Reader;

/* The first parameter of a method; `self.weight` is an attribute, never a part of a value. */
#define MODULE "self"

#define FAIL(r, span, ...) diag_error((r)->g->diags, (span), __VA_ARGS__)

/* The node of that name where the reader is; NULL: there is none. */
Node *text_named(const Reader *r, Name name);
void text_note(Reader *r, const TextName **list, Name name, const Expr *value, Node *node);
/* self.NAME */
bool text_is_submodule(const Expr *e);
/* The forward of the submodule that an argument names; NULL: it was reported. */
const FuncDef *text_submodule(Reader *r, const Expr *e);
/* torch.ops.higher_order.flex_attention, and flex_attention_backward. */
Node *text_flex_attention(Reader *r, const Expr *e);
Node *text_flex_backward(Reader *r, const Expr *e);
/* Is `name = value` a name for the gradients of what a function of scores reads, a list in the list
 * of results?  Then it is noted. */
bool text_flex_list(Reader *r, Name name, const Expr *value);
/* The list that an expression names; NULL: it names none. */
const TextName *text_list(const Reader *r, const Expr *e);

#endif
