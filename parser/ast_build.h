/* Makers of nodes, and the rules that a grammar can't express (targets, order of arguments).  A
 * maker that returns a pointer or a bool returns NULL or false after an error.  All of them set the
 * depth of an expression and refuse one that is too deep. */
#ifndef NEREID_PARSER_AST_BUILD_H
#define NEREID_PARSER_AST_BUILD_H

#include "parser/parse.h"

typedef struct {
  CallArg *data;
  uint32_t len;
} ArgList;

typedef struct {
  CompFor *data;
  uint32_t len;
} CompList;

typedef struct {
  Import *data;
  uint32_t len;
} ImportList;

typedef struct {
  Name *data;
  uint32_t len;
} NameList;

/* Lists have no capacity: they grow when their length is a power of two. */
#define list_push(arena, list, item)                                                           \
  do {                                                                                         \
    size_t n_ = (list)->len, size_ = sizeof *(list)->data;                                     \
    if (!(n_ & (n_ - 1)))                                                                      \
      (list)->data = arena_grow((arena), (list)->data, n_ * size_, (n_ ? 2 * n_ : 1) * size_); \
    (list)->data[(list)->len++] = (item);                                                      \
  } while (0)

Expr *build_expr(Parser *p, ExprKind kind, Loc at);
Expr *build_node(Parser *p, ExprKind kind, Loc at, Expr *a, Expr *b, Expr *c);
Expr *build_list(Parser *p, ExprKind kind, Loc at, ExprList items);
Expr *build_named(Parser *p, ExprKind kind, Loc at, Name name, Expr *a);
Expr *build_unary(Parser *p, Loc at, AstOp op, Expr *a);
Expr *build_binary(Parser *p, Loc at, AstOp op, Expr *a, Expr *b);
/* `and` and `or`; comparisons.  `a` is extended when it is of the same kind. */
Expr *build_logic(Parser *p, ExprKind kind, Loc at, Expr *a, Expr *b);
Expr *build_compare(Parser *p, Loc at, AstOp op, Expr *a, Expr *b);
Expr *build_call(Parser *p, Loc at, Expr *callee, ArgList args);
Expr *build_comp(Parser *p, Loc at, char bracket, Expr *a, Expr *b, CompList fors);
Expr *build_lambda(Parser *p, Loc at, ParamList params, Expr *body);
/* A tuple, or the item itself if it is one without a comma. */
Expr *build_sequence(Parser *p, Loc at, ExprList items, bool comma);
Expr *build_paren(Parser *p, Loc at, ExprList items, bool comma);

Param build_param(Parser *p, Loc name_at, ParamKind kind, Name name, Expr *annotation,
                  Expr *dflt);
/* Takes out the marks `*` and `/`, which have no name. */
bool build_check_params(Parser *p, ParamList *params);
/* `many`: tuples, lists and starred names in them are targets too. */
bool build_check_target(Parser *p, const Expr *e, bool many);

Stmt *build_stmt(Parser *p, StmtKind kind, Loc at, Expr *value);
Stmt *build_func(Parser *p, Loc at, Loc name_at, Name name, ParamList params, Expr *returns);
Stmt *build_import_from(Parser *p, Loc at, uint32_t level, NameList module, ImportList names);
Name build_dotted(Parser *p, NameList parts);
ExprList build_bases(Parser *p, ArgList args);

#endif
