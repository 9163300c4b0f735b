/* See lexer.h. */
#include "parser/lexer.h"

#include <string.h>

#include "parser/messages.h"
#include "parser/parse.h"
#include "parser/grammar.h"

/* An open bracket or string.  Kinds: ( [ { ; f the text of an f-string, F the expression of one of
 * its fields, S the format of one of its fields. */
typedef struct {
  uint32_t tok;
  char kind;
  char quote; /* f F S: of the f-string */
  uint8_t flags;
} Open;

typedef struct {
  Arena *arena;
  Diags *diags;
  uint32_t file;
  const char *text, *end;
  const char *at;    /* next character */
  const char *begin; /* of the current token; it starts on line tok_line */
  const char *line_start;
  uint32_t line;
  uint32_t tok_line, tok_col;
  bool fresh; /* at the start of a logical line */
  Tokens toks;
  struct {
    uint32_t col, alt; /* tabs to 8, tabs as 1 */
  } indents[INDENTS_MAX + 1];
  uint32_t nindents; /* indents[nindents] is the innermost */
  Open open[BRACKETS_MAX];
  uint32_t nopen;
  uint32_t excess; /* brackets past the limit */
  uint32_t pairs[128]; /* how many of each kind are open */
} Lexer;

static char top(const Lexer *l) {
  return l->nopen ? l->open[l->nopen - 1].kind : 0;
}

/* ---- tokens ---- */

static void begin_token(Lexer *l) {
  l->begin = l->at;
  l->tok_line = l->line;
  l->tok_col = (uint32_t)(l->at - l->line_start) + 1;
}

static Token *push(Lexer *l, int kind) {
  Token t = {.kind = (uint16_t)kind, .line = l->tok_line, .col = l->tok_col};
  t.pos = (uint32_t)(l->begin - l->text);
  t.len = (uint32_t)(l->at - l->begin);
  vec_push(l->arena, &l->toks, t);
  return &vec_last(&l->toks);
}

static void push_error(Lexer *l, LexError why) {
  push(l, T_ERROR)->flags = (uint16_t)why;
}

/* A token of no length after the last one. */
static void push_mark(Lexer *l, int kind) {
  Token t = {.kind = (uint16_t)kind, .line = l->line, .pos = (uint32_t)(l->at - l->text)};
  t.col = (uint32_t)(l->at - l->line_start) + 1;
  if (kind == T_NEWLINE && l->toks.len) {
    const Token *last = &vec_last(&l->toks);
    bool same = last->pos >= (size_t)(l->line_start - l->text);
    if (same) t.pos = last->pos + last->len, t.line = last->line, t.col = last->col + last->len;
  }
  vec_push(l->arena, &l->toks, t);
}

static void next_line(Lexer *l) {
  l->line++;
  l->line_start = l->at;
}

/* Past a line end at `at`: \n, \r\n or \r.  Lines are counted by \n, as in lang/diag. */
static void skip_newline(Lexer *l) {
  if (*l->at == '\r' && l->at[1] != '\n') l->at++;
  else {
    l->at += *l->at == '\r' ? 2 : 1;
    next_line(l);
  }
}

static void skip_comment(Lexer *l) {
  while (l->at < l->end && *l->at != '\n' && *l->at != '\r') l->at++;
}

/* ---- brackets ---- */

static void open_bracket(Lexer *l, int token, char kind, char quote, unsigned flags) {
  if (l->nopen == BRACKETS_MAX) {
    if (!l->excess++) push_error(l, LEX_BRACKETS_MAX);
    return;
  }
  push(l, token)->flags = (uint16_t)flags;
  Open o = {(uint32_t)l->toks.len - 1, kind, quote, (uint8_t)flags};
  l->open[l->nopen++] = o;
  l->pairs[(unsigned char)kind]++;
}

static Open pop(Lexer *l) {
  Open o = l->open[--l->nopen];
  l->pairs[(unsigned char)o.kind]--;
  return o;
}

/* The token just pushed closes `o`. */
static void pair(Lexer *l, Open o) {
  uint32_t me = (uint32_t)l->toks.len - 1;
  l->toks.data[me].aux = o.tok;
  l->toks.data[o.tok].aux = me;
}

static void close_field(Lexer *l) {
  Open o = pop(l);
  push(l, T_FSTR_CLOSE);
  pair(l, o);
}

/* A closing bracket that isn't for the innermost open one. */
static void close_wrong(Lexer *l, char want) {
  uint32_t inner = l->nopen ? l->open[l->nopen - 1].tok : 0;
  bool in_field = l->pairs['F'] + l->pairs['S'];
  push_error(l, l->nopen ? LEX_MISMATCH : LEX_STRAY);
  vec_last(&l->toks).aux = inner;
  if (in_field || !l->pairs[(unsigned char)want]) return;
  while (pop(l).kind != want) continue;
}

static void close_bracket(Lexer *l, char c) {
  char want = c == ')' ? '(' : c == ']' ? '[' : '{';
  if (l->excess) {
    l->excess--;
  } else if (c == '}' && top(l) == 'F') {
    close_field(l);
  } else if (top(l) == want) {
    Open o = pop(l);
    push(l, c);
    pair(l, o);
  } else {
    close_wrong(l, want);
  }
}

/* ---- lines ---- */

static void end_line(Lexer *l) {
  push_mark(l, T_NEWLINE);
  l->fresh = true;
}

static void on_newline(Lexer *l) {
  l->at = l->begin;
  if (!l->nopen && !l->excess) end_line(l);
  skip_newline(l);
}

/* Measures the blanks at the start of a line. */
static void measure_line(Lexer *l, uint32_t *col, uint32_t *alt) {
  *col = *alt = 0;
  for (;; l->at++) {
    if (*l->at == ' ') ++*col, ++*alt;
    else if (*l->at == '\t') *col = (*col / 8 + 1) * 8, ++*alt;
    else if (*l->at == '\f') *col = *alt = 0;
    else break;
  }
}

/* Measures the indentation of a line that follows lines with only a backslash: the first of them
 * counts. */
static void measure(Lexer *l, uint32_t *col, uint32_t *alt) {
  measure_line(l, col, alt);
  while (*l->at == '\\' && (l->at[1] == '\n' || l->at[1] == '\r')) {
    uint32_t more_col, more_alt;
    l->at++;
    skip_newline(l);
    measure_line(l, &more_col, &more_alt);
    if (!*col) *col = more_col, *alt = more_alt;
  }
}

static void indent_to(Lexer *l, uint32_t col, uint32_t alt) {
  if (l->nindents == INDENTS_MAX) {
    push_error(l, LEX_INDENTS_MAX);
    return;
  }
  if (alt <= l->indents[l->nindents].alt) push_error(l, LEX_TABS);
  l->nindents++;
  l->indents[l->nindents].col = col;
  l->indents[l->nindents].alt = alt;
  push_mark(l, T_INDENT);
}

/* A line that fits no level is taken to belong to the block it comes nearest to. */
static void dedent_to(Lexer *l, uint32_t col, uint32_t alt) {
  while (l->nindents && l->indents[l->nindents - 1].col >= col) {
    l->nindents--;
    push_mark(l, T_DEDENT);
  }
  if (l->indents[l->nindents].col != col) {
    push_error(l, LEX_DEDENT);
    l->indents[l->nindents].col = col;
    l->indents[l->nindents].alt = alt;
  } else if (l->indents[l->nindents].alt != alt) {
    push_error(l, LEX_TABS);
  }
}

/* The start of a logical line: blank lines go, indentation is compared. */
static void start_line(Lexer *l) {
  uint32_t col, alt;
  measure(l, &col, &alt);
  if (*l->at == '#') skip_comment(l);
  if (l->at == l->end) return;
  if (*l->at == '\n' || *l->at == '\r') {
    skip_newline(l);
    return;
  }
  begin_token(l);
  l->fresh = false;
  uint32_t now = l->indents[l->nindents].col;
  if (col > now) indent_to(l, col, alt);
  else if (col < now) dedent_to(l, col, alt);
  else if (alt != l->indents[l->nindents].alt) push_error(l, LEX_TABS);
}

/* A keyword that can't stand in brackets starts a line while some are open: they were never
 * closed.  The line is ended before it, and read again as the start of a statement. */
static bool unstick(Lexer *l) {
  if ((!l->nopen && !l->excess) || !l->toks.len) return false;
  if (vec_last(&l->toks).pos >= (size_t)(l->line_start - l->text)) return false;
  for (const char *p = l->line_start; p < l->begin; p++)
    if (*p != ' ' && *p != '\t' && *p != '\f') return false;
  while (l->nopen) pop(l);
  l->excess = 0;
  l->at = l->line_start;
  end_line(l);
  return true;
}

/* A decorator at or left of the statement that is stuck; elsewhere @ is an operator. */
static bool unstick_at(Lexer *l) {
  return l->tok_col - 1 <= l->indents[l->nindents].col && unstick(l);
}

/* ---- strings ---- */

/* Past the body of a plain string and its closing quotes; false if there are none. */
static bool skip_string(Lexer *l, char quote, bool triple) {
  while (l->at < l->end) {
    char c = *l->at;
    if (c == '\n' || c == '\r') {
      if (!triple) return false;
      skip_newline(l);
    } else if (c == '\\' && l->at + 1 < l->end) {
      l->at++;
      if (*l->at == '\n' || *l->at == '\r') skip_newline(l);
      else l->at++;
    } else if (c == quote && (!triple || (l->at[1] == quote && l->at[2] == quote))) {
      l->at += triple ? 3 : 1;
      return true;
    } else {
      l->at++;
    }
  }
  return false;
}

static void triple_error(Lexer *l) {
  push_error(l, LEX_TRIPLE);
  Span at = {l->file, l->tok_line, l->tok_col, 3};
  diag_error(l->diags, at, E_PARSE_TRIPLE);
}

/* An unterminated string in an f-string's field that starts with the quote of the f-string ends the
 * f-string, and the field lacks its brace. */
static bool ends_fstring(Lexer *l, char quote, const char *after) {
  uint32_t n = l->nopen;
  while (n && l->open[n - 1].kind != 'f') n--;
  if (!n || l->open[n - 1].quote != quote || l->open[n - 1].flags & STR_TRIPLE) return false;
  l->at = after;
  l->line = l->tok_line;
  l->line_start = l->begin - (l->tok_col - 1);
  push_error(l, LEX_FIELD);
  while (l->nopen >= n) pop(l);
  return true;
}

/* At the quote of a string with a prefix of `n` letters. */
static void string(Lexer *l, size_t n) {
  unsigned flags = 0;
  bool format = false;
  for (size_t i = 0; i < n; i++) {
    char c = (char)(l->begin[i] | 32);
    if (c == 'r') flags |= STR_RAW;
    if (c == 'f' || c == 't') format = true;
  }
  char quote = l->begin[n];
  bool triple = l->begin[n + 1] == quote && l->begin[n + 2] == quote;
  if (triple) flags |= STR_TRIPLE;
  l->at = l->begin + n + (triple ? 3 : 1);
  if (format) {
    open_bracket(l, T_FSTR_START, 'f', quote, flags);
    return;
  }
  const char *after = l->at;
  if (skip_string(l, quote, triple)) push(l, T_STRING)->flags = (uint16_t)(flags | STR_QUOTED);
  else if (triple) triple_error(l);
  else if (n || !ends_fstring(l, quote, after)) push_error(l, LEX_STRING);
}

/* ---- f-strings ---- */

static void field_open(Lexer *l, Open f) {
  begin_token(l);
  l->at++;
  open_bracket(l, T_FSTR_OPEN, 'F', f.quote, f.flags);
}

/* Skips the text of an f-string, up to a brace or the closing quote. */
static void fstring_text(Lexer *l, Open f, bool spec) {
  bool triple = f.flags & STR_TRIPLE;
  for (; l->at < l->end; l->at++) {
    char c = *l->at;
    if (c == f.quote && (!triple || (l->at[1] == c && l->at[2] == c))) return;
    if ((c == '{' || c == '}') && (spec || l->at[1] != c)) return;
    if (c == '{' || c == '}') {
      l->at++;
    } else if (c == '\n') {
      if (!triple) return;
      l->at++, next_line(l), l->at--;
    } else if (c == '\r' && !triple) {
      return;
    } else if (c == '\\' && l->at + 1 < l->end) {
      if (!(f.flags & STR_RAW) && !strncmp(l->at, "\\N{", 3)) {
        while (l->at[1] && l->at[1] != '}' && l->at[1] != '\n' && l->at[1] != f.quote) l->at++;
        if (l->at[1] == '}') l->at++;
      } else if (l->at[1] == '\r' && l->at[2] == '\n') {
        l->at += 3, next_line(l), l->at--;
      } else if (l->at[1] == '\n') {
        l->at += 2, next_line(l), l->at--;
      } else if (l->at[1] != '{' && l->at[1] != '}') {
        l->at++;
      }
    }
  }
}

static void fstring_unterminated(Lexer *l, Open f) {
  const Token *start = &l->toks.data[f.tok];
  while (top(l) != 'f') pop(l);
  start = &l->toks.data[pop(l).tok];
  l->tok_line = start->line;
  l->tok_col = start->col;
  l->begin = l->text + start->pos;
  if (f.flags & STR_TRIPLE) triple_error(l);
  else push_error(l, LEX_STRING);
}

/* A part of an f-string outside its expressions. */
static void fstring(Lexer *l) {
  Open f = l->open[l->nopen - 1];
  bool spec = f.kind == 'S';
  begin_token(l);
  fstring_text(l, f, spec);
  if (l->at > l->begin) push(l, T_FSTR_TEXT)->flags = (uint16_t)(f.flags | (spec ? STR_SPEC : 0));
  begin_token(l);
  if (l->at == l->end || *l->at == '\n' || *l->at == '\r') {
    fstring_unterminated(l, f);
  } else if (*l->at == '{') {
    field_open(l, f);
  } else if (*l->at == '}') {
    l->at++;
    if (spec) close_field(l);
    else push_error(l, LEX_BRACE);
  } else if (spec) {
    if (!ends_fstring(l, f.quote, l->at + 1)) fstring_unterminated(l, f);
  } else {
    l->at += f.flags & STR_TRIPLE ? 3 : 1;
    push(l, T_FSTR_END);
    pair(l, pop(l));
  }
}

/* ---- the rest ---- */

/* A number may touch a keyword (`1if x else 2`), nothing else. */
static void number(Lexer *l) {
  static const char *const keywords[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
  size_t n = 0;
  while (text_is_name_char(l->at[n])) n++;
  bool ok = n == 0;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (n == strlen(keywords[i]) && !memcmp(l->at, keywords[i], n)) ok = true;
  if (ok) {
    push(l, T_NUMBER);
  } else {
    l->at += n;
    push_error(l, LEX_NUMBER);
  }
}

/* A keyword that only starts statements. */
static void starter(Lexer *l, int kind) {
  if (!unstick(l)) push(l, kind);
}

static void colon(Lexer *l) {
  if (top(l) != 'F') {
    push(l, ':');
    return;
  }
  l->at = l->begin + 1;
  push(l, T_FSTR_SPEC);
  l->open[l->nopen - 1].kind = 'S';
  l->pairs['F']--;
  l->pairs['S']++;
}

static void exclamation(Lexer *l) {
  bool letter = l->at - l->begin == 2;
  if (top(l) == 'F' && letter && !text_is_name_char(*l->at)) {
    push(l, T_FSTR_CONV);
  } else {
    l->at = l->begin + 1;
    push_error(l, LEX_CHAR);
  }
}

/* Scans one token, or some blanks. */
static void scan(Lexer *l) {
  const char *YYMARKER;
  begin_token(l);
#define IS(kind)     \
  do {               \
    push(l, (kind)); \
    return;          \
  } while (0)
#define STARTS(kind)    \
  do {                  \
    starter(l, (kind)); \
    return;             \
  } while (0)
  /*!re2c
  re2c:define:YYCTYPE = "unsigned char";
  re2c:define:YYCURSOR = "l->at";
  re2c:define:YYLIMIT = "l->end";
  re2c:yyfill:enable = 0;
  re2c:eof = 0;
  re2c:flags:utf-8 = 1;
  re2c:flags:case-ranges = 1;

  // Letters beyond ASCII: all but the blocks of signs, spaces and symbols.
  other = [\u00aa\u00b5\u00b7\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2070-\u209f]
        | [\u20d0-\u218f\u2c00-\u2dff\u3005-\u3007\u3021-\ud7ff\uf900-\ufdff\ufe20-\ufefe]
        | [\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc]
        | [\U00010000-\U0001efff\U00020000-\U000e0fff];
  start = [a-zA-Z_] | other;
  name = start (start | [0-9])*;
  digits = [0-9] [0-9_]*;
  exponent = [eE] [+-]? digits;
  prefix = [rR] [bBfFtT]? | [bBfFtT] [rR]? | [uU];

  $ { return; }
  [ \t\f]+ { return; }
  "#" { skip_comment(l); return; }
  [\r\n] { on_newline(l); return; }
  "\\" / [\r\n] { skip_newline(l); return; }
  "\\" { push_error(l, LEX_BACKSLASH); return; }
  "\x00" { push_error(l, LEX_NUL); return; }

  prefix? ['"] { string(l, (size_t)(l->at - l->begin) - 1); return; }
  "0" [xX] [0-9a-fA-F_]* | "0" [oObB] [0-9_]* { number(l); return; }
  (digits ("." digits?)? | "." digits) exponent? [jJ]? { number(l); return; }

  "and" { IS(T_AND); }
  "as" { IS(T_AS); }
  "assert" { STARTS(T_ASSERT); }
  "async" { IS(T_ASYNC); }
  "await" { IS(T_AWAIT); }
  "break" { STARTS(T_BREAK); }
  "class" { STARTS(T_CLASS); }
  "continue" { STARTS(T_CONTINUE); }
  "def" { STARTS(T_DEF); }
  "del" { STARTS(T_DEL); }
  "elif" { STARTS(T_ELIF); }
  "else" { IS(T_ELSE); }
  "except" { STARTS(T_EXCEPT); }
  "finally" { STARTS(T_FINALLY); }
  "for" { IS(T_FOR); }
  "from" { IS(T_FROM); }
  "global" { STARTS(T_GLOBAL); }
  "if" { IS(T_IF); }
  "import" { STARTS(T_IMPORT); }
  "in" { IS(T_IN); }
  "is" { IS(T_IS); }
  "lambda" { IS(T_LAMBDA); }
  "nonlocal" { STARTS(T_NONLOCAL); }
  "not" { IS(T_NOT); }
  "or" { IS(T_OR); }
  "pass" { STARTS(T_PASS); }
  "raise" { STARTS(T_RAISE); }
  "return" { STARTS(T_RETURN); }
  "try" { STARTS(T_TRY); }
  "while" { STARTS(T_WHILE); }
  "with" { STARTS(T_WITH); }
  "yield" { IS(T_YIELD); }
  "False" { IS(T_FALSE); }
  "None" { IS(T_NONE); }
  "True" { IS(T_TRUE); }
  name { IS(T_NAME); }

  [([{] { open_bracket(l, *l->begin, *l->begin, 0, 0); return; }
  [)}\]] { close_bracket(l, *l->begin); return; }
  ":" { colon(l); return; }
  ":=" {
    if (top(l) == 'F') colon(l);
    else push(l, T_WALRUS);
    return;
  }
  "!" [a-zA-Z]? { exclamation(l); return; }
  "@" { if (!unstick_at(l)) push(l, '@'); return; }
  [-+*/%&|^~<>=.,;] { IS(*l->begin); }
  "**" { IS(T_POW); }
  "//" { IS(T_FLOORDIV); }
  "<<" { IS(T_SHL); }
  ">>" { IS(T_SHR); }
  "<=" { IS(T_LE); }
  ">=" { IS(T_GE); }
  "==" { IS(T_EQ); }
  "!=" { IS(T_NE); }
  "->" { IS(T_ARROW); }
  "..." { IS(T_ELLIPSIS); }
  [-+*/%&|^@] "=" | ("**" | "//" | "<<" | ">>") "=" { IS(T_AUGASSIGN); }

  [^] { push_error(l, LEX_CHAR); return; }
  * { push_error(l, LEX_BYTE); return; }
  */
#undef IS
#undef STARTS
}

Tokens lex(Arena *scratch, const char *text, size_t len, uint32_t margin, Diags *d, uint32_t file) {
  Lexer *l = ARENA_NEW(scratch, Lexer);
  l->arena = scratch;
  l->diags = d;
  l->file = file;
  l->text = l->at = l->line_start = text;
  l->end = text + len;
  l->line = 1;
  l->fresh = true;
  l->indents[0].col = l->indents[0].alt = margin;
  if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) l->at += 3;
  while (l->at < l->end || top(l) == 'f' || top(l) == 'S') {
    if (top(l) == 'f' || top(l) == 'S') fstring(l);
    else if (l->fresh) start_line(l);
    else scan(l);
  }
  if (!l->fresh) end_line(l);
  for (; l->nindents; l->nindents--) push_mark(l, T_DEDENT);
  push_mark(l, T_YYEOF);
  return l->toks;
}
