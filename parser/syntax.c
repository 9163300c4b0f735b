#include "parser/syntax.h"

#include <string.h>

#include "lang/messages.h"
#include "parser/grammar.h"
#include "parser/messages.h"

void syntax_too_deep(Parser *p, Loc at) { PARSE_ERROR(p, at, E_PARSE_DEPTH, AST_DEPTH_MAX); }

const char *syntax_text(Parser *p, const Token *t) {
  enum { LONGEST = 40 };
  uint32_t n = t->len;
  bool cut = n > LONGEST;
  if (cut)
    for (n = LONGEST; n && (p->text[t->pos + n] & 0xc0) == 0x80;) n--;
  return arena_printf(p->scratch, "%.*s%s", (int)n, p->text + t->pos, cut ? "..." : "");
}

/* ---- what the lexer found ---- */

static uint32_t code_point(const char *s, uint32_t len) {
  const unsigned char *u = (const unsigned char *)s;
  if (len < 2) return u[0];
  uint32_t c = u[0] & (0x7f >> len);
  for (uint32_t i = 1; i < len; i++) c = c << 6 | (u[i] & 63);
  return c;
}

static void bad_character(Parser *p, const Token *t) {
  const char *s = p->text + t->pos;
  uint32_t c = code_point(s, t->len);
  if (c < 32 || c == 127 || c == 0xa0 || (c >= 0x2000 && c < 0x2010))
    PARSE_ERROR(p, parse_token_loc(t), E_PARSE_CHAR_CODE, c);
  else PARSE_ERROR(p, parse_token_loc(t), E_PARSE_CHAR, (int)t->len, s, c);
  if (!p->loud) return;
  if (c == '!') diag_hint(p->diags, H_PARSE_NOT);
  else if (c == '?') diag_hint(p->diags, H_PARSE_IFEXP);
  else if (c >= 0x2018 && c <= 0x201f) diag_hint(p->diags, H_PARSE_QUOTES);
  else if (c == 0xa0 || (c >= 0x2000 && c < 0x2010)) diag_hint(p->diags, H_PARSE_SPACE);
  else if (c == 0x2212 || c == 0x2013) diag_hint(p->diags, H_PARSE_MINUS);
}

static void mismatch(Parser *p, const Token *t) {
  const Token *open = &p->toks[t->aux];
  PARSE_ERROR(p, parse_token_loc(t), E_PARSE_MISMATCH, syntax_text(p, t), syntax_text(p, open));
  if (p->loud)
    diag_note(p->diags, parse_span(p, parse_token_loc(open)), N_PARSE_OPENED, syntax_text(p, open));
}

void syntax_lexical(Parser *p, const Token *t) {
  Loc at = parse_token_loc(t);
  p->failed = true;
  switch ((LexError)t->flags) {
    case LEX_STRING: PARSE_ERROR(p, at, E_TILE_STRING_END); break;
    case LEX_TRIPLE: break;
    case LEX_FIELD: PARSE_ERROR(p, at, E_PARSE_FIELD); break;
    case LEX_BRACE: PARSE_ERROR(p, at, E_PARSE_BRACE); break;
    case LEX_CHAR: bad_character(p, t); break;
    case LEX_BYTE: PARSE_ERROR(p, at, E_PARSE_BYTE, (unsigned char)p->text[t->pos]); break;
    case LEX_NUL: PARSE_ERROR(p, at, E_PARSE_NUL); break;
    case LEX_BACKSLASH: PARSE_ERROR(p, at, E_PARSE_BACKSLASH); break;
    case LEX_NUMBER:
      PARSE_ERROR(p, at, E_PARSE_NUMBER, syntax_text(p, t), "letters stick to it");
      break;
    case LEX_STRAY: PARSE_ERROR(p, at, E_PARSE_STRAY, syntax_text(p, t)); break;
    case LEX_MISMATCH: mismatch(p, t); break;
    case LEX_DEDENT: PARSE_ERROR(p, at, E_PARSE_DEDENT); break;
    case LEX_TABS: PARSE_ERROR(p, at, E_PARSE_TABS); break;
    case LEX_INDENTS_MAX: PARSE_ERROR(p, at, E_PARSE_INDENTS, INDENTS_MAX); break;
    case LEX_BRACKETS_MAX: PARSE_ERROR(p, at, E_PARSE_BRACKETS, BRACKETS_MAX); break;
  }
}

/* ---- what the grammar found ---- */

/* The token that doesn't fit, and those around it. */
typedef struct {
  Parser *p;
  uint32_t i;
  const Token *at;
  const Token *prev; /* NULL at the start of the line */
  int first;         /* kind of the line's first token */
  Wanted wanted;
} Place;

static bool is_opener(int kind) {
  return kind == '(' || kind == '[' || kind == '{' || kind == T_FSTR_OPEN || kind == T_FSTR_START;
}

static bool is_closer(int kind) {
  return kind == ')' || kind == ']' || kind == '}' || kind == T_FSTR_CLOSE || kind == T_FSTR_END;
}

static bool is_keyword(int kind) { return kind >= T_AND && kind <= T_TRUE; }

/* A head whose colon may be missing. */
static bool is_head(int kind) {
  switch (kind) {
    case T_IF:
    case T_ELIF:
    case T_ELSE:
    case T_WHILE:
    case T_FOR:
    case T_WITH:
    case T_DEF:
    case T_CLASS:
    case T_TRY:
    case T_EXCEPT:
    case T_FINALLY:
    case T_ASYNC: return true;
    default: return false;
  }
}

static bool begins_operand(int kind) {
  return kind == T_NAME || kind == T_NUMBER || kind == T_STRING || kind == T_FSTR_START ||
         kind == T_NONE || kind == T_TRUE || kind == T_FALSE;
}

static bool ends_operand(int kind) {
  return kind == T_NAME || kind == T_NUMBER || kind == T_STRING || is_closer(kind) ||
         kind == T_NONE || kind == T_TRUE || kind == T_FALSE;
}

/* The bracket around the place that is never closed; NULL if all are. */
static const Token *unclosed(const Place *e) {
  for (uint32_t i = e->i; i-- > e->p->first;) {
    const Token *t = &e->p->toks[i];
    if (is_opener(t->kind) && !t->aux) return t;
  }
  return NULL;
}

/* The innermost bracket around the place; 0 if there is none. */
static uint32_t enclosing(const Place *e) {
  for (uint32_t i = e->i; i-- > e->p->first;) {
    const Token *t = &e->p->toks[i];
    if (is_opener(t->kind)) return i;
    if (is_closer(t->kind) && t->aux >= e->p->first) i = t->aux;
  }
  return 0;
}

static bool in_call(const Place *e) {
  uint32_t i = enclosing(e);
  if (i <= e->p->first || e->p->toks[i].kind != '(') return false;
  int before = e->p->toks[i - 1].kind;
  return before == T_NAME || before == ')' || before == ']';
}

/* Two tokens that touch. */
static bool tokens_touch(const Token *a, const Token *b) { return a->pos + a->len == b->pos; }

static Loc loc_after_token(const Token *t) {
  Loc at = parse_token_loc(t);
  at.col += t->len;
  at.pos = at.end;
  return at;
}

static void say_assign(const Place *e) {
  Loc at = parse_token_loc(e->at);
  if (in_call(e)) PARSE_ERROR(e->p, at, E_PARSE_KEYWORD_ARG);
  else if (e->first == T_IF || e->first == T_ELIF || e->first == T_WHILE || e->first == T_ASSERT)
    PARSE_ERROR(e->p, at, E_PARSE_COND_ASSIGN);
  else PARSE_ERROR(e->p, at, E_PARSE_ASSIGN);
}

static bool say_c_habits(const Place *e) {
  Parser *p = e->p;
  int kind = e->at->kind;
  if (!e->prev) return false;
  if (e->first == T_ELSE && kind == T_IF) {
    PARSE_ERROR(p, parse_token_loc(e->at), E_PARSE_ELSE_IF);
    return true;
  }
  if ((kind == '&' || kind == '|') && e->prev->kind == kind && tokens_touch(e->prev, e->at)) {
    PARSE_ERROR(p, parse_token_loc(e->prev), E_PARSE_C_LOGIC, kind == '&' ? "and" : "or",
                kind == '&' ? "&&" : "||");
    return true;
  }
  const Token *two = e->i >= p->first + 2 ? e->prev - 1 : NULL;
  if (kind == T_NEWLINE && two && (e->prev->kind == '+' || e->prev->kind == '-') &&
      two->kind == e->prev->kind && tokens_touch(two, e->prev)) {
    PARSE_ERROR(p, parse_token_loc(two), E_PARSE_INCREMENT, two->kind, two->kind, two->kind);
    return true;
  }
  return false;
}

static bool say_keyword(const Place *e) {
  if (e->at->kind == '=' && e->prev && is_keyword(e->prev->kind)) {
    PARSE_ERROR(e->p, parse_token_loc(e->prev), E_PARSE_KEYWORD, syntax_text(e->p, e->prev));
    return true;
  }
  if (!is_keyword(e->at->kind)) return false;
  int before = e->prev ? e->prev->kind : 0, next = e->at[1].kind;
  bool as_name = before == '.' || before == T_DEF || before == T_CLASS || before == T_AS ||
                 next == '=' || next == T_AUGASSIGN;
  if (!as_name) return false;
  PARSE_ERROR(e->p, parse_token_loc(e->at), E_PARSE_KEYWORD, syntax_text(e->p, e->at));
  return true;
}

static bool say_colon(const Place *e) {
  if (!e->wanted.colon || !is_head(e->first) || !e->prev || enclosing(e)) return false;
  if (e->at->kind != T_NEWLINE && begins_operand(e->at->kind)) {
    /* `if a b:` lacks an operator, `if a b` a colon */
    for (const Token *t = e->at; t->kind != T_NEWLINE && t->kind != T_YYEOF; t++)
      if (t->kind == ':') return false;
  }
  PARSE_ERROR(e->p, loc_after_token(e->prev), E_PARSE_COLON, syntax_text(e->p, e->prev));
  return true;
}

static void say_unexpected(const Place *e) {
  Parser *p = e->p;
  Loc at = parse_token_loc(e->at);
  int kind = e->at->kind, before = e->prev ? e->prev->kind : 0;
  bool ends_field = kind == T_FSTR_CLOSE || kind == T_FSTR_CONV || kind == T_FSTR_SPEC;
  if (before == T_FSTR_OPEN && (ends_field || kind == '='))
    PARSE_ERROR(p, parse_token_loc(e->prev), E_PARSE_FIELD_EMPTY);
  else if (e->prev && e->wanted.orelse && (kind == T_NEWLINE || kind == ',' || is_closer(kind)))
    PARSE_ERROR(p, at, E_PARSE_ELSE);
  else if (kind == T_NEWLINE && e->prev)
    PARSE_ERROR(p, at, E_PARSE_LINE_END, syntax_text(p, e->prev));
  else if (ends_operand(before) && begins_operand(kind))
    PARSE_ERROR(p, at, E_PARSE_ADJACENT, syntax_text(p, e->at), syntax_text(p, e->prev));
  else PARSE_ERROR(p, at, E_PARSE_UNEXPECTED, syntax_text(p, e->at));
  if (p->loud && kind == T_WALRUS) diag_hint(p->diags, H_PARSE_WALRUS);
}

void syntax_unexpected(Parser *p, uint32_t i, Wanted wanted) {
  Place e = {.p = p, .i = i, .at = &p->toks[i], .wanted = wanted};
  if (i > p->first) e.prev = e.at - 1;
  e.first = p->toks[p->first].kind;
  p->failed = true;
  if (!p->loud) return;
  const Token *open = unclosed(&e);
  if (open) {
    PARSE_ERROR(p, parse_token_loc(open), E_PARSE_UNCLOSED, syntax_text(p, open));
    return;
  }
  if (say_c_habits(&e) || say_keyword(&e)) return;
  if (e.at->kind == '=') say_assign(&e);
  else if (!say_colon(&e)) say_unexpected(&e);
}

Span parse_span(const Parser *p, Loc at) {
  uint32_t len = at.end > at.pos ? at.end - at.pos : 1;
  return (Span){p->file, at.line, at.col, len};
}

Loc parse_token_loc(const Token *t) { return (Loc){t->pos, t->pos + t->len, t->line, t->col}; }
