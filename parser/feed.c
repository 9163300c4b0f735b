/* Hands the tokens of one logical line to the grammar, with their values. */
#include "parser/ast_build.h"
#include "parser/grammar.h"
#include "parser/literal.h"
#include "parser/syntax.h"

int feed_token(GRAMMAR_STYPE *value, Loc *at, Parser *p);

/* `with (a as b, c as d):` is read as if its parentheses weren't there. */
static void drop_parens(Parser *p) {
  const Token *open = &p->toks[p->at + 1];
  p->skip[0] = p->skip[1] = p->skip[2] = 0;
  if (open->kind != '(' || !open->aux || p->toks[open->aux + 1].kind != ':') return;
  p->skip[0] = p->at + 1;
  p->skip[1] = open->aux;
  if (p->toks[open->aux - 1].kind == ',') p->skip[2] = open->aux - 1;
}

static AstOp augmented(const char *text) {
  switch (text[0]) {
    case '+': return OP_ADD;
    case '-': return OP_SUB;
    case '*': return text[1] == '*' ? OP_POW : OP_MUL;
    case '/': return text[1] == '/' ? OP_FLOORDIV : OP_DIV;
    case '%': return OP_MOD;
    case '@': return OP_MATMUL;
    case '&': return OP_AND;
    case '|': return OP_OR;
    case '^': return OP_XOR;
    case '<': return OP_SHL;
    default: return OP_SHR;
  }
}

/* The value of a token; its kind, or T_GRAMMAR_error after an error (the grammar then gives up). */
static int token_value(GRAMMAR_STYPE *value, Parser *p, const Token *t) {
  const char *text = p->text + t->pos;
  switch (t->kind) {
    case T_NAME: value->name = pool_namen(p->names, text, t->len); break;
    case T_NUMBER: value->e = literal_number(p, t); return value->e ? T_NUMBER : T_GRAMMAR_error;
    case T_STRING:
    case T_FSTR_TEXT: value->e = literal_string(p, t); return value->e ? t->kind : T_GRAMMAR_error;
    case T_FSTR_CONV: value->count = (unsigned char)text[1]; break;
    case T_AUGASSIGN: value->op = augmented(text); break;
    case T_ERROR: syntax_lexical(p, t); return T_GRAMMAR_error;
    default: break;
  }
  return t->kind;
}

int feed_token(GRAMMAR_STYPE *value, Loc *at, Parser *p) {
  if (p->at > p->first && p->toks[p->at - 1].kind == T_NEWLINE) return T_YYEOF;
  while (p->at > p->first && (p->at == p->skip[0] || p->at == p->skip[1] || p->at == p->skip[2]))
    p->at++;
  const Token *t = &p->toks[p->at];
  if (t->kind == T_YYEOF) return T_YYEOF;
  if (t->kind == T_WITH) drop_parens(p);
  *at = parse_token_loc(t);
  p->at++;
  return token_value(value, p, t);
}
