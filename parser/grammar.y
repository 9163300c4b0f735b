/* The grammar of one logical line of Python: simple statements, the head of a block, or a
 * decorator.  Blocks are put together in module.c, by indentation.  Operators in arithmetic have
 * precedences; the levels above (comparison, not, and, or, if-else, lambda) are rules, as in
 * Python's own grammar, since they don't stand everywhere.
 *
 * The stack has a fixed size: deep nesting ends in a message, not in more memory.
 */
%code requires {
#include "parser/ast_build.h"

/* A list and whether a comma stood after its last item. */
typedef struct {
  ExprList items;
  bool comma;
} Sequence;
}

%code {
#include <string.h>

#include "parser/messages.h"
#include "parser/literal.h"
#include "parser/syntax.h"

#define YYINITDEPTH 4000
#define YYMAXDEPTH YYINITDEPTH

/* A location spans its first token to its last; an empty one is the point where the last token
 * ended. */
#define YYLLOC_DEFAULT(cur, rhs, n)                                            \
  do {                                                                         \
    (cur) = YYRHSLOC(rhs, (n) ? 1 : 0);                                        \
    if (n) (cur).end = YYRHSLOC(rhs, n).end;                                   \
    else (cur).col += (cur).end - (cur).pos, (cur).pos = (cur).end;            \
  } while (0)

/* Builders return NULL after an error. */
#define OK(x)            \
  do {                   \
    if (!(x)) YYABORT;   \
  } while (0)
#define PUSH(list, item) list_push(p->arena, (list), (item))

static void grammar_error(const Loc *at, Parser *p, const char *text);
int feed_token(GRAMMAR_STYPE *value, Loc *at, Parser *p);
#define grammar_lex feed_token
}

%define api.pure full
%define api.prefix {grammar_}
%define api.token.prefix {T_}
%define api.location.type {Loc}
%define parse.error custom
%locations
%param {Parser *p}
%expect 0

%union {
  const Token *tok;
  Name name;
  Expr *e;
  Stmt *s;
  ExprList list;
  Sequence seq;
  ArgList args;
  CallArg arg;
  ParamList params;
  Param param;
  CompList fors;
  CompFor comp;
  ImportList imports;
  Import import;
  NameList names;
  StmtList stmts;
  uint32_t count;
  AstOp op;
}

%token NEWLINE INDENT DEDENT ERROR
%token <name> NAME "a name"
%token <e> NUMBER STRING
%token FSTR_START FSTR_OPEN FSTR_SPEC FSTR_CLOSE FSTR_END
%token <e> FSTR_TEXT
%token <count> FSTR_CONV
%token AND AS ASSERT ASYNC AWAIT BREAK CLASS CONTINUE DEF DEL ELIF ELSE EXCEPT FINALLY FOR FROM
%token GLOBAL IF IMPORT IN IS LAMBDA NONLOCAL NOT OR PASS RAISE RETURN TRY WHILE WITH YIELD
%token FALSE NONE TRUE
%token WALRUS POW FLOORDIV SHL SHR LE GE EQ NE ARROW ELLIPSIS
%token <op> AUGASSIGN

%type <list> strings names_list for_list subscript_list dict_items targets_list assign_chain
%type <list> conds with_items opt_bases
%type <seq> seq plain_seq for_targets subscripts
%type <e> fstring test or_test and_test not_test comparison expr primary atom named element
%type <e> yield statement_value opt_test subscript slice for_target opt_spec field_value
%type <list> field fstring_parts
%type <s> simple expr_stmt head except_head opt_async_head def_head import_stmt raise_stmt
%type <args> args
%type <arg> arg
%type <params> params params_list lambda_params lambda_list
%type <param> param lambda_param
%type <fors> comp_fors
%type <comp> comp_for
%type <imports> import_modules import_names
%type <import> import_module import_name
%type <names> names dotted opt_dotted
%type <stmts> simples simple_line
%type <count> opt_conv opt_equal dots
%type <e> opt_annotation opt_default opt_returns with_item_target
%type <op> comp_op

%left '|'
%left '^'
%left '&'
%left SHL SHR
%left '+' '-'
%left '*' '/' FLOORDIV '%' '@'
%precedence UNARY
%right POW

%start line

%%

/* ---- lines ---- */

line:
  simple_line NEWLINE { p->line.stmts = $1; }
| head ':' NEWLINE { p->line.head = $1; }
| head ':' simple_line NEWLINE { p->line.head = $1, p->line.stmts = $3; }
| '@' named NEWLINE { p->line.decorator = $2; }
;

simple_line: simples | simples ';';

simples:
  simple { $$ = (StmtList){0}; PUSH(&$$, $1); }
| simples ';' simple { $$ = $1; PUSH(&$$, $3); }
;

/* ---- simple statements ---- */

simple:
  expr_stmt
| import_stmt
| raise_stmt
| PASS { $$ = build_stmt(p, ST_PASS, @$, NULL); }
| BREAK { $$ = build_stmt(p, ST_BREAK, @$, NULL); }
| CONTINUE { $$ = build_stmt(p, ST_CONTINUE, @$, NULL); }
| RETURN { $$ = build_stmt(p, ST_RETURN, @$, NULL); }
| RETURN statement_value { $$ = build_stmt(p, ST_RETURN, @$, $2); }
| ASSERT test { $$ = build_stmt(p, ST_ASSERT, @$, $2); }
| ASSERT test ',' test { $$ = build_stmt(p, ST_ASSERT, @$, $2); $$->msg = $4; }
| DEL plain_seq {
    Expr *e;
    OK(e = build_sequence(p, @2, $2.items, $2.comma));
    OK(build_check_target(p, e, true));
    $$ = build_stmt(p, ST_DEL, @$, NULL);
    $$->targets = $2.items;
  }
| global names {
    $$ = build_stmt(p, ST_GLOBAL, @$, NULL);
    $$->names = $2.data, $$->nnames = $2.len;
  }
;

global: GLOBAL | NONLOCAL;

names:
  NAME { $$ = (NameList){0}; PUSH(&$$, $1); }
| names ',' NAME { $$ = $1; PUSH(&$$, $3); }
;

raise_stmt:
  RAISE { $$ = build_stmt(p, ST_RAISE, @$, NULL); }
| RAISE test { $$ = build_stmt(p, ST_RAISE, @$, $2); }
| RAISE test FROM test { $$ = build_stmt(p, ST_RAISE, @$, $2); $$->msg = $4; }
;

expr_stmt:
  statement_value { $$ = build_stmt(p, ST_EXPR, @$, $1); }
| assign_chain {
    ExprList l = $1;
    $$ = build_stmt(p, ST_ASSIGN, @$, l.data[l.len - 1]);
    l.len--;
    for (uint32_t i = 0; i < l.len; i++) OK(build_check_target(p, l.data[i], true));
    $$->targets = l;
  }
| statement_value AUGASSIGN statement_value {
    OK(build_check_target(p, $1, false));
    $$ = build_stmt(p, ST_AUGASSIGN, @$, $3);
    $$->op = $2;
    PUSH(&$$->targets, $1);
  }
| statement_value ':' test {
    OK(build_check_target(p, $1, false));
    $$ = build_stmt(p, ST_ANNASSIGN, @$, NULL);
    $$->annotation = parse_annotation(p, $3);
    PUSH(&$$->targets, $1);
  }
| statement_value ':' test '=' statement_value {
    OK(build_check_target(p, $1, false));
    $$ = build_stmt(p, ST_ANNASSIGN, @$, $5);
    $$->annotation = parse_annotation(p, $3);
    PUSH(&$$->targets, $1);
  }
;

assign_chain:
  statement_value '=' statement_value { $$ = (ExprList){0}; PUSH(&$$, $1); PUSH(&$$, $3); }
| assign_chain '=' statement_value { $$ = $1; PUSH(&$$, $3); }
;

statement_value:
  plain_seq { OK($$ = build_sequence(p, @$, $1.items, $1.comma)); }
| yield
;

yield:
  YIELD { OK($$ = build_named(p, EX_AWAIT, @$, pool_name(p->names, "yield"), NULL)); }
| YIELD plain_seq {
    Expr *e;
    OK(e = build_sequence(p, @2, $2.items, $2.comma));
    OK($$ = build_named(p, EX_AWAIT, @$, pool_name(p->names, "yield"), e));
  }
| YIELD FROM test {
    OK($$ = build_named(p, EX_AWAIT, @$, pool_name(p->names, "yield from"), $3));
  }
;

/* ---- imports ---- */

import_stmt:
  IMPORT import_modules {
    $$ = build_stmt(p, ST_IMPORT, @$, NULL);
    $$->imports = $2.data, $$->nimports = $2.len;
  }
| FROM dots opt_dotted IMPORT import_names {
    if (!$2 && !$3.len) {
      PARSE_ERROR(p, @4, E_PARSE_FROM);
      YYABORT;
    }
    $$ = build_import_from(p, @$, $2, $3, $5);
  }
| FROM dots opt_dotted IMPORT '(' import_names ')' { $$ = build_import_from(p, @$, $2, $3, $6); }
| FROM dots opt_dotted IMPORT '(' import_names ',' ')' {
    $$ = build_import_from(p, @$, $2, $3, $6);
  }
| FROM dots opt_dotted IMPORT '*' {
    ImportList all = {0};
    Name star = pool_name(p->names, "*");
    Import i = {.name = star, .as = star, .span = parse_span(p, @5)};
    PUSH(&all, i);
    $$ = build_import_from(p, @$, $2, $3, all);
  }
;

dots:
  %empty { $$ = 0; }
| dots '.' { $$ = $1 + 1; }
| dots ELLIPSIS { $$ = $1 + 3; }
;

dotted:
  NAME { $$ = (NameList){0}; PUSH(&$$, $1); }
| dotted '.' NAME { $$ = $1; PUSH(&$$, $3); }
;

opt_dotted: %empty { $$ = (NameList){0}; } | dotted;

import_modules:
  import_module { $$ = (ImportList){0}; PUSH(&$$, $1); }
| import_modules ',' import_module { $$ = $1; PUSH(&$$, $3); }
;

import_module:
  dotted {
    $$ = (Import){.module = build_dotted(p, $1), .as = $1.data[0], .span = parse_span(p, @$)};
  }
| dotted AS NAME {
    $$ = (Import){.module = build_dotted(p, $1), .as = $3, .renamed = true,
                  .span = parse_span(p, @$)};
  }
;

import_names:
  import_name { $$ = (ImportList){0}; PUSH(&$$, $1); }
| import_names ',' import_name { $$ = $1; PUSH(&$$, $3); }
;

import_name:
  NAME { $$ = (Import){.name = $1, .as = $1, .span = parse_span(p, @$)}; }
| NAME AS NAME {
    $$ = (Import){.name = $1, .as = $3, .renamed = true, .span = parse_span(p, @$)};
  }
;

/* ---- heads of blocks ---- */

head:
  IF named { $$ = build_stmt(p, ST_IF, @$, $2); }
| ELIF named { $$ = build_stmt(p, ST_IF, @$, $2); }
| ELSE { $$ = build_stmt(p, ST_PASS, @$, NULL); }
| TRY { $$ = build_stmt(p, ST_TRY, @$, NULL); }
| FINALLY { $$ = build_stmt(p, ST_PASS, @$, NULL); }
| WHILE named { $$ = build_stmt(p, ST_WHILE, @$, $2); }
| except_head
| opt_async_head
| ASYNC opt_async_head {
    $$ = $2;
    $$->span = parse_span(p, @$);
    if ($$->func) $$->func->is_async = true;
  }
| CLASS NAME { $$ = build_stmt(p, ST_CLASS, @2, NULL); $$->name = $2; }
| CLASS NAME '(' opt_bases ')' {
    $$ = build_stmt(p, ST_CLASS, @2, NULL);
    $$->name = $2;
    $$->bases = $4;
  }
;

except_head:
  EXCEPT { $$ = build_stmt(p, ST_EXPR, @$, NULL); }
| EXCEPT opt_star test { $$ = build_stmt(p, ST_EXPR, @$, $3); }
| EXCEPT opt_star test AS NAME { $$ = build_stmt(p, ST_EXPR, @$, $3); }
;

opt_star: %empty | '*';

opt_async_head:
  FOR for_targets IN statement_value {
    Expr *target;
    OK(target = build_sequence(p, @2, $2.items, $2.comma));
    OK(build_check_target(p, target, true));
    $$ = build_stmt(p, ST_FOR, @$, $4);
    PUSH(&$$->targets, target);
  }
| WITH with_items { $$ = build_stmt(p, ST_WITH, @$, NULL); $$->targets = $2; }
| def_head
;

with_items:
  named with_item_target { $$ = (ExprList){0}; PUSH(&$$, $1); PUSH(&$$, $2); }
| with_items ',' named with_item_target { $$ = $1; PUSH(&$$, $3); PUSH(&$$, $4); }
;

with_item_target:
  %empty { $$ = NULL; }
| AS expr { OK(build_check_target(p, $2, true)); $$ = $2; }
;

/* Bases and keywords (metaclass=M); the keywords' values count as bases. */
opt_bases:
  %empty { $$ = (ExprList){0}; }
| args { $$ = build_bases(p, $1); }
| args ',' { $$ = build_bases(p, $1); }
;

def_head:
  DEF NAME '(' params ')' opt_returns {
    ParamList params = $4;
    OK(build_check_params(p, &params));
    $$ = build_func(p, @$, @2, $2, params, $6);
  }
;

opt_returns: %empty { $$ = NULL; } | ARROW plain_seq {
    OK($$ = build_sequence(p, @2, $2.items, $2.comma));
  };

params:
  %empty { $$ = (ParamList){0}; }
| params_list
| params_list ','
;

params_list:
  param { $$ = (ParamList){0}; PUSH(&$$, $1); }
| params_list ',' param { $$ = $1; PUSH(&$$, $3); }
;

/* `*` and `/` alone are parameters without a name until build_check_params takes them out. */
param:
  NAME opt_annotation opt_default { $$ = build_param(p, @1, PARAM_PLAIN, $1, $2, $3); }
| '*' NAME opt_annotation { $$ = build_param(p, @2, PARAM_STAR, $2, $3, NULL); }
| '*' NAME ':' '*' expr {
    Expr *star;
    OK(star = build_node(p, EX_STARRED, @4, $5, NULL, NULL));
    $$ = build_param(p, @2, PARAM_STAR, $2, star, NULL);
  }
| POW NAME opt_annotation { $$ = build_param(p, @2, PARAM_STARSTAR, $2, $3, NULL); }
| '*' { $$ = build_param(p, @1, PARAM_STAR, NULL, NULL, NULL); }
| '/' { $$ = build_param(p, @1, PARAM_PLAIN, NULL, NULL, NULL); }
;

opt_annotation: %empty { $$ = NULL; } | ':' test { $$ = parse_annotation(p, $2); };
opt_default: %empty { $$ = NULL; } | '=' test { $$ = $2; };

lambda_params:
  %empty { $$ = (ParamList){0}; }
| lambda_list
| lambda_list ','
;

lambda_list:
  lambda_param { $$ = (ParamList){0}; PUSH(&$$, $1); }
| lambda_list ',' lambda_param { $$ = $1; PUSH(&$$, $3); }
;

lambda_param:
  NAME opt_default { $$ = build_param(p, @1, PARAM_PLAIN, $1, NULL, $2); }
| '*' NAME { $$ = build_param(p, @2, PARAM_STAR, $2, NULL, NULL); }
| POW NAME { $$ = build_param(p, @2, PARAM_STARSTAR, $2, NULL, NULL); }
| '*' { $$ = build_param(p, @1, PARAM_STAR, NULL, NULL, NULL); }
| '/' { $$ = build_param(p, @1, PARAM_PLAIN, NULL, NULL, NULL); }
;

/* ---- lists of expressions ---- */

/* A sequence in brackets may contain := */
seq:
  names_list { $$.items = $1, $$.comma = false; }
| names_list ',' { $$.items = $1, $$.comma = true; }
;

names_list:
  element { $$ = (ExprList){0}; PUSH(&$$, $1); }
| names_list ',' element { $$ = $1; PUSH(&$$, $3); }
;

element:
  named
| '*' expr { OK($$ = build_node(p, EX_STARRED, @$, $2, NULL, NULL)); }
;

named:
  test
| NAME WALRUS test { OK($$ = build_named(p, EX_WALRUS, @$, $1, $3)); }
;

/* A sequence in a statement may not contain := */
plain_seq:
  targets_list { $$.items = $1, $$.comma = false; }
| targets_list ',' { $$.items = $1, $$.comma = true; }
;

targets_list:
  test { $$ = (ExprList){0}; PUSH(&$$, $1); }
| '*' expr {
    Expr *star;
    OK(star = build_node(p, EX_STARRED, @$, $2, NULL, NULL));
    $$ = (ExprList){0};
    PUSH(&$$, star);
  }
| targets_list ',' test { $$ = $1; PUSH(&$$, $3); }
| targets_list ',' '*' expr {
    Expr *star;
    OK(star = build_node(p, EX_STARRED, @3, $4, NULL, NULL));
    $$ = $1;
    PUSH(&$$, star);
  }
;

/* Before `in`: without comparisons. */
for_targets:
  for_list { $$.items = $1, $$.comma = false; }
| for_list ',' { $$.items = $1, $$.comma = true; }
;

for_list:
  for_target { $$ = (ExprList){0}; PUSH(&$$, $1); }
| for_list ',' for_target { $$ = $1; PUSH(&$$, $3); }
;

for_target:
  expr
| '*' expr { OK($$ = build_node(p, EX_STARRED, @$, $2, NULL, NULL)); }
;

/* ---- expressions ---- */

test:
  or_test
| or_test IF or_test ELSE test {
    ExprList items = {0};
    PUSH(&items, $1);
    PUSH(&items, $3);
    PUSH(&items, $5);
    OK($$ = build_list(p, EX_IFEXP, @$, items));
  }
| LAMBDA lambda_params ':' test {
    ParamList params = $2;
    OK(build_check_params(p, &params));
    OK($$ = build_lambda(p, @$, params, $4));
  }
;

or_test:
  and_test
| or_test OR and_test { OK($$ = build_logic(p, EX_OR, @$, $1, $3)); }
;

and_test:
  not_test
| and_test AND not_test { OK($$ = build_logic(p, EX_AND, @$, $1, $3)); }
;

not_test:
  comparison
| NOT not_test { OK($$ = build_unary(p, @$, OP_NOT, $2)); }
;

comparison:
  expr
| comparison comp_op expr { OK($$ = build_compare(p, @$, $2, $1, $3)); }
;

comp_op:
  '<' { $$ = OP_LT; }
| '>' { $$ = OP_GT; }
| LE { $$ = OP_LE; }
| GE { $$ = OP_GE; }
| EQ { $$ = OP_EQ; }
| NE { $$ = OP_NE; }
| IN { $$ = OP_IN; }
| NOT IN { $$ = OP_NOT_IN; }
| IS { $$ = OP_IS; }
| IS NOT { $$ = OP_IS_NOT; }
;

expr:
  primary
| AWAIT primary { OK($$ = build_named(p, EX_AWAIT, @$, pool_name(p->names, "await"), $2)); }
| '-' expr %prec UNARY { OK($$ = build_unary(p, @$, OP_NEG, $2)); }
| '+' expr %prec UNARY { OK($$ = build_unary(p, @$, OP_POS, $2)); }
| '~' expr %prec UNARY { OK($$ = build_unary(p, @$, OP_INVERT, $2)); }
| expr '|' expr { OK($$ = build_binary(p, @$, OP_OR, $1, $3)); }
| expr '^' expr { OK($$ = build_binary(p, @$, OP_XOR, $1, $3)); }
| expr '&' expr { OK($$ = build_binary(p, @$, OP_AND, $1, $3)); }
| expr SHL expr { OK($$ = build_binary(p, @$, OP_SHL, $1, $3)); }
| expr SHR expr { OK($$ = build_binary(p, @$, OP_SHR, $1, $3)); }
| expr '+' expr { OK($$ = build_binary(p, @$, OP_ADD, $1, $3)); }
| expr '-' expr { OK($$ = build_binary(p, @$, OP_SUB, $1, $3)); }
| expr '*' expr { OK($$ = build_binary(p, @$, OP_MUL, $1, $3)); }
| expr '/' expr { OK($$ = build_binary(p, @$, OP_DIV, $1, $3)); }
| expr FLOORDIV expr { OK($$ = build_binary(p, @$, OP_FLOORDIV, $1, $3)); }
| expr '%' expr { OK($$ = build_binary(p, @$, OP_MOD, $1, $3)); }
| expr '@' expr { OK($$ = build_binary(p, @$, OP_MATMUL, $1, $3)); }
| expr POW expr { OK($$ = build_binary(p, @$, OP_POW, $1, $3)); }
;

primary:
  atom
| primary '.' NAME { OK($$ = build_named(p, EX_ATTR, @$, $3, $1)); }
| primary '(' ')' { OK($$ = build_call(p, @$, $1, (ArgList){0})); }
| primary '(' args ')' { OK($$ = build_call(p, @$, $1, $3)); }
| primary '(' args ',' ')' { OK($$ = build_call(p, @$, $1, $3)); }
| primary '(' named comp_fors ')' {
    CallArg arg = {.span = parse_span(p, @3)};
    ArgList args = {0};
    OK(arg.value = build_comp(p, @2, '(', $3, NULL, $4));
    PUSH(&args, arg);
    OK($$ = build_call(p, @$, $1, args));
  }
| primary '[' subscripts ']' {
    Expr *index;
    bool star = $3.items.data[0]->kind == EX_STARRED;
    OK(index = build_sequence(p, @3, $3.items, $3.comma || star));
    OK($$ = build_node(p, EX_SUBSCRIPT, @$, $1, index, NULL));
  }
;

args:
  arg { $$ = (ArgList){0}; PUSH(&$$, $1); }
| args ',' arg { $$ = $1; PUSH(&$$, $3); }
;

arg:
  named { $$ = (CallArg){NULL, $1, parse_span(p, @$)}; }
| NAME '=' test { $$ = (CallArg){$1, $3, parse_span(p, @$)}; }
| '*' test {
    $$ = (CallArg){NULL, NULL, parse_span(p, @$)};
    OK($$.value = build_node(p, EX_STARRED, @$, $2, NULL, NULL));
  }
| POW test { $$ = (CallArg){pool_name(p->names, "**"), $2, parse_span(p, @$)}; }
;

subscripts:
  subscript_list { $$.items = $1, $$.comma = false; }
| subscript_list ',' { $$.items = $1, $$.comma = true; }
;

subscript_list:
  subscript { $$ = (ExprList){0}; PUSH(&$$, $1); }
| subscript_list ',' subscript { $$ = $1; PUSH(&$$, $3); }
;

subscript:
  element
| slice
;

slice:
  test ':' opt_test { OK($$ = build_node(p, EX_SLICE, @$, $1, $3, NULL)); }
| test ':' opt_test ':' opt_test { OK($$ = build_node(p, EX_SLICE, @$, $1, $3, $5)); }
| ':' opt_test { OK($$ = build_node(p, EX_SLICE, @$, NULL, $2, NULL)); }
| ':' opt_test ':' opt_test { OK($$ = build_node(p, EX_SLICE, @$, NULL, $2, $4)); }
;

opt_test: %empty { $$ = NULL; } | test;

atom:
  NAME { OK($$ = build_named(p, EX_NAME, @$, $1, NULL)); }
| NUMBER
| strings { OK($$ = literal_join(p, @$, $1)); }
| NONE { $$ = build_expr(p, EX_NONE, @$); }
| TRUE { $$ = build_expr(p, EX_TRUE, @$); }
| FALSE { $$ = build_expr(p, EX_FALSE, @$); }
| ELLIPSIS { $$ = build_expr(p, EX_ELLIPSIS, @$); }
| '(' ')' { OK($$ = build_list(p, EX_TUPLE, @$, (ExprList){0})); $$->paren = true; }
| '(' yield ')' { $$ = $2; $$->paren = true; }
| '(' seq ')' { OK($$ = build_paren(p, @$, $2.items, $2.comma)); }
| '(' named comp_fors ')' { OK($$ = build_comp(p, @$, '(', $2, NULL, $3)); }
| '[' ']' { OK($$ = build_list(p, EX_LIST, @$, (ExprList){0})); }
| '[' seq ']' { OK($$ = build_list(p, EX_LIST, @$, $2.items)); }
| '[' named comp_fors ']' { OK($$ = build_comp(p, @$, '[', $2, NULL, $3)); }
| '{' '}' { OK($$ = build_list(p, EX_DICT, @$, (ExprList){0})); }
| '{' dict_items '}' { OK($$ = build_list(p, EX_DICT, @$, $2)); }
| '{' dict_items ',' '}' { OK($$ = build_list(p, EX_DICT, @$, $2)); }
| '{' seq '}' { OK($$ = build_list(p, EX_SET, @$, $2.items)); }
| '{' named comp_fors '}' { OK($$ = build_comp(p, @$, '{', $2, NULL, $3)); }
| '{' test ':' test comp_fors '}' { OK($$ = build_comp(p, @$, '{', $2, $4, $5)); }
;

dict_items:
  test ':' test { $$ = (ExprList){0}; PUSH(&$$, $1); PUSH(&$$, $3); }
| POW expr { $$ = (ExprList){0}; PUSH(&$$, NULL); PUSH(&$$, $2); }
| dict_items ',' test ':' test { $$ = $1; PUSH(&$$, $3); PUSH(&$$, $5); }
| dict_items ',' POW expr { $$ = $1; PUSH(&$$, NULL); PUSH(&$$, $4); }
;

comp_fors:
  comp_for { $$ = (CompList){0}; PUSH(&$$, $1); }
| comp_fors comp_for { $$ = $1; PUSH(&$$, $2); }
;

comp_for:
  opt_async FOR for_targets IN or_test conds {
    OK($$.target = build_sequence(p, @3, $3.items, $3.comma));
    OK(build_check_target(p, $$.target, true));
    $$.iter = $5;
    $$.conds = $6;
  }
;

opt_async: %empty | ASYNC;

conds:
  %empty { $$ = (ExprList){0}; }
| conds IF or_test { $$ = $1; PUSH(&$$, $3); }
;

/* ---- strings ---- */

strings:
  STRING { $$ = (ExprList){0}; PUSH(&$$, $1); }
| fstring { $$ = (ExprList){0}; PUSH(&$$, $1); }
| strings STRING { $$ = $1; PUSH(&$$, $2); }
| strings fstring { $$ = $1; PUSH(&$$, $2); }
;

fstring: FSTR_START fstring_parts FSTR_END { OK($$ = build_list(p, EX_FSTR, @$, $2)); };

fstring_parts:
  %empty { $$ = (ExprList){0}; }
| fstring_parts FSTR_TEXT { $$ = $1; PUSH(&$$, $2); }
| fstring_parts field {
    $$ = $1;
    for (uint32_t i = 0; i < $2.len; i++) PUSH(&$$, $2.data[i]);
  }
;

field:
  FSTR_OPEN field_value opt_equal opt_conv opt_spec FSTR_CLOSE {
    Loc debug = @2; /* all from the brace to the token after the =, blanks too */
    debug.col -= debug.pos - @1.end;
    debug.pos = @1.end;
    debug.end = $4 ? @4.pos : $5 ? @5.pos : @6.pos;
    $$ = (ExprList){0};
    OK(literal_field(p, &$$, @$, $2, $3 ? &debug : NULL, (char)$4, $5));
  }
;

field_value: statement_value;
opt_equal: %empty { $$ = 0; } | '=' { $$ = 1; };
opt_conv: %empty { $$ = 0; } | FSTR_CONV;
opt_spec:
  %empty { $$ = NULL; }
| FSTR_SPEC fstring_parts { OK($$ = literal_join(p, @$, $2)); }
;

%%

/* Called for a full stack only. */
static void grammar_error(const Loc *at, Parser *p, const char *text) {
  (void)text;
  syntax_too_deep(p, *at);
}

static int yyreport_syntax_error(const yypcontext_t *context, Parser *p) {
  enum { MANY = 100 };
  yysymbol_kind_t expected[MANY];
  int n = yypcontext_expected_tokens(context, expected, MANY);
  Wanted wanted = {0};
  for (int i = 0; i < n; i++) {
    if (!strcmp(yysymbol_name(expected[i]), "':'")) wanted.colon = true;
    if (expected[i] == YYSYMBOL_ELSE) wanted.orelse = true;
  }
  syntax_unexpected(p, p->at - 1, wanted);
  return 0;
}
