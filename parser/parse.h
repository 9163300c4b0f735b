/* Shared by the parts of the parser: the state of one parse, and the makers of nodes.
 *
 *   lexer.re    text -> tokens
 *   grammar.y   one logical line -> Line; a line is never parsed twice
 *   feed.c      tokens -> grammar, with the values of names
 *   literal.c   numbers and strings
 *   ast_build.c nodes, and the rules that a grammar can't express (targets, order of arguments)
 *   syntax.c    messages on a line that the grammar rejects
 *   blocks.c    blocks by indentation, functions, classes; the distinction of host code
 *
 * Errors in host code are silent: they only set `failed`.
 */
#ifndef NEREID_PARSER_PARSE_H
#define NEREID_PARSER_PARSE_H

#include <locale.h>

#include "parser/ast.h"
#include "parser/lexer.h"

/* A place in the text: where it starts, and where it ends. */
typedef struct {
  uint32_t pos, end, line, col;
} Loc;

/* The grammar's result for a logical line. */
typedef struct {
  Stmt *head;      /* of `if x:` and so on: ST_IF also for elif, ST_PASS for else, try, finally;
                      ST_EXPR for except (value NULL if bare) */
  StmtList stmts;  /* simple statements, or those after the colon of a head */
  Expr *decorator; /* of an @ line */
} Line;

typedef struct Parser {
  Arena *arena;
  Arena *scratch;
  Pool *names;
  Diags *diags;
  uint32_t file;
  locale_t c_locale; /* numbers read the same everywhere */
  const char *text;
  const Token *toks;
  uint32_t at;       /* the next token */
  uint32_t first;    /* of the line that is being parsed */
  uint32_t skip[3];  /* tokens of it that the grammar doesn't see */
  bool in_kernel;    /* the next `def` is a kernel's, though it has no decorator */
  bool loud;         /* errors are reported */
  bool failed;       /* this line */
  bool incomplete;   /* a line of this function failed */
  uint32_t functions, loops; /* around this place */
  uint32_t depth;    /* of statements */
  uint32_t kernels;  /* jit functions so far */
  const Name *jitted; /* names that calls of jit() mention, sorted by address */
  size_t njitted;
  const Name *aliases; /* other names of jit in this file, sorted by address */
  size_t naliases;
  const Name *constexprs; /* other names of constexpr in this file, sorted by address */
  size_t nconstexprs;
  Name owner;        /* classes around this place */
  Line line;
} Parser;

/* grammar.y: parses the line at p->at; 0 if it is well formed. */
int grammar_parse(Parser *p);

/* An annotation. A name that stands for constexpr in this file becomes `constexpr`. */
Expr *parse_annotation(Parser *p, Expr *e);

Span parse_span(const Parser *p, Loc at);
Loc parse_token_loc(const Token *t);

/* Reports an error unless the code is host code, and fails the line. */
#define PARSE_ERROR(p, at, ...)                                                  \
  ((p)->failed = true,                                                           \
   (p)->loud ? diag_error((p)->diags, parse_span((p), (at)), __VA_ARGS__) : (void)0)

#endif
