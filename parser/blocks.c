/* A whole file: blocks by indentation, and the host code in them.
 *
 * The grammar parses each logical line once.  Errors in kernels are reported; a line of host code
 * that the grammar doesn't accept becomes an ST_SKIPPED and makes its function incomplete.  The
 * parser continues with the next line in both cases, so that one run shows several errors and a
 * kernel is found anywhere in the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ast_build.h"
#include "parser/grammar.h"
#include "parser/messages.h"
#include "parser/syntax.h"

enum { FILE_MAX_MIB = 1024 };

static void parse_block(Parser *p, StmtList *out);
static void parse_statement(Parser *p, StmtList *out);

/* ---- tokens ---- */

static int peek_token(const Parser *p) { return p->toks[p->at].kind; }

static Loc loc_here(const Parser *p) { return parse_token_loc(&p->toks[p->at]); }

static bool is_text(const Parser *p, const Token *t, const char *text) {
  return t->kind == T_NAME && t->len == strlen(text) && !memcmp(p->text + t->pos, text, t->len);
}

static Name token_name(Parser *p, const Token *t) {
  return pool_namen(p->names, p->text + t->pos, t->len);
}

/* Past the end of the logical line. */
static void skip_line(Parser *p) {
  while (peek_token(p) != T_NEWLINE && peek_token(p) != T_YYEOF) p->at++;
  if (peek_token(p) == T_NEWLINE) p->at++;
}

/* Past an indented block, if there is one here. */
static void skip_block(Parser *p) {
  if (peek_token(p) != T_INDENT) return;
  for (uint32_t depth = 0;; p->at++) {
    if (peek_token(p) == T_INDENT) depth++;
    else if (peek_token(p) == T_DEDENT && !--depth) break;
  }
  p->at++;
}

/* ---- lines ---- */

/* Gives the line here to the grammar: its result is p->line.  False after an error. */
static bool parse_line(Parser *p) {
  p->line = (Line){0};
  p->first = p->at;
  p->skip[0] = p->skip[1] = p->skip[2] = 0;
  p->failed = false;
  bool ok = !grammar_parse(p) && !p->failed;
  p->at = p->first;
  skip_line(p);
  if (!ok) p->line = (Line){0};
  return ok;
}

/* Errors of indentation stand before the line that has them.  Past the limit of indentation there
 * are no blocks any more: all is skipped.  False if that happened. */
static bool indentation_errors(Parser *p) {
  for (; peek_token(p) == T_ERROR; p->at++) {
    LexError why = (LexError)p->toks[p->at].flags;
    if (why != LEX_DEDENT && why != LEX_TABS && why != LEX_INDENTS_MAX) return true;
    syntax_lexical(p, &p->toks[p->at]);
    p->incomplete = true;
    if (why != LEX_INDENTS_MAX) continue;
    while (peek_token(p) != T_DEDENT && peek_token(p) != T_YYEOF) skip_line(p);
    return false;
  }
  return true;
}

/* ---- host code ---- */

static void append_statements(Parser *p, StmtList *out, StmtList more) {
  for (uint32_t i = 0; i < more.len; i++) list_push(p->arena, out, more.data[i]);
}

/* A line that was not understood, with the block below it. */
static void skipped(Parser *p, StmtList *out, Loc at, StmtList below, uint32_t kernels) {
  p->incomplete = true;
  bool more = p->kernels > kernels;
  Stmt *last = out->len ? out->data[out->len - 1] : NULL;
  if (last && last->kind == ST_SKIPPED && !more && !last->body.len) return;
  Stmt *s = build_stmt(p, ST_SKIPPED, at, NULL);
  if (more) s->body = below;
  list_push(p->arena, out, s);
}

/* ---- simple statements ---- */

static void check_loops(Parser *p, const StmtList *l) {
  for (uint32_t i = 0; i < l->len && !p->loops; i++) {
    const Stmt *s = l->data[i];
    if (s->kind != ST_BREAK && s->kind != ST_CONTINUE) continue;
    Loc at = {0, s->span.len, s->span.line, s->span.col};
    PARSE_ERROR(p, at, E_PARSE_LOOP, s->kind == ST_BREAK ? "break" : "continue");
  }
}

/* An indented block where none belongs: below a line that was not understood, or a mistake. */
static void stray_block(Parser *p, StmtList *out, bool mistake) {
  if (peek_token(p) != T_INDENT) return;
  if (mistake) PARSE_ERROR(p, loc_here(p), E_PARSE_INDENT);
  parse_block(p, out);
}

static void simple(Parser *p, StmtList *out) {
  Loc at = loc_here(p);
  uint32_t kernels = p->kernels;
  bool import = peek_token(p) == T_IMPORT || peek_token(p) == T_FROM;
  bool loud = p->loud;
  if (import && !p->functions) p->loud = true;
  bool ok = parse_line(p);
  p->loud = loud;
  if (ok) {
    check_loops(p, &p->line.stmts);
    append_statements(p, out, p->line.stmts);
    stray_block(p, out, true);
    return;
  }
  StmtList below = {0};
  stray_block(p, &below, false);
  skipped(p, out, at, below, kernels);
}

/* ---- compound statements ---- */

/* The suite of a head: the rest of its line, or a block. */
static void suite(Parser *p, StmtList *out, bool ok, const Token *head) {
  StmtList inline_stmts = p->line.stmts;
  if (ok && inline_stmts.len) {
    check_loops(p, &inline_stmts);
    append_statements(p, out, inline_stmts);
    stray_block(p, out, true);
    return;
  }
  if (!indentation_errors(p)) return;
  if (peek_token(p) == T_INDENT) {
    parse_block(p, out);
  } else if (ok) {
    p->incomplete = true;
    PARSE_ERROR(p, loc_here(p), E_PARSE_BLOCK, syntax_text(p, head));
    if (p->loud) diag_note(p->diags, parse_span(p, parse_token_loc(head)), N_PARSE_HEAD);
  }
}

/* A head and its block.  NULL if the head is wrong; the block is in `below` then. */
static Stmt *compound(Parser *p, StmtList *below, bool loop) {
  const Token *head = &p->toks[p->at];
  bool ok = parse_line(p) && p->line.head;
  Stmt *s = p->line.head;
  p->loops += loop;
  suite(p, s ? &s->body : below, ok, head);
  p->loops -= loop;
  return s;
}

/* An if statement.  Each elif is an ST_IF in the orelse of the one before it. */
static void if_statement(Parser *p, StmtList *out) {
  Loc at = loc_here(p);
  uint32_t kernels = p->kernels, depth = p->depth;
  StmtList below = {0}, *into = out;
  Stmt *last = compound(p, &below, false);
  if (last) list_push(p->arena, out, last);
  while (peek_token(p) == T_ELIF || peek_token(p) == T_ELSE) {
    bool is_elif = peek_token(p) == T_ELIF;
    if (last) into = &last->orelse;
    if (is_elif && ++p->depth > AST_DEPTH_MAX) {
      if (p->depth == AST_DEPTH_MAX + 1) PARSE_ERROR(p, loc_here(p), E_PARSE_BLOCKS, AST_DEPTH_MAX);
      p->incomplete = true;
      skip_line(p);
      skip_block(p);
      continue;
    }
    Stmt *s = compound(p, &below, false);
    if (!s || !last) p->incomplete = true;
    if (is_elif && s && last) list_push(p->arena, into, s);
    else if (s) append_statements(p, last ? into : &below, s->body);
    if (is_elif && s && last) last = s;
    if (!is_elif) break;
  }
  p->depth = depth;
  if (!last) skipped(p, out, at, below, kernels);
  else if (below.len) append_statements(p, out, below);
}

/* for, while, with, try: with the blocks that may follow, which all end up in orelse. */
static void block_statement(Parser *p, StmtList *out, bool loop) {
  Loc at = loc_here(p);
  uint32_t kernels = p->kernels;
  bool is_try = peek_token(p) == T_TRY;
  StmtList below = {0};
  Stmt *s = compound(p, &below, loop);
  while ((is_try && (peek_token(p) == T_EXCEPT || peek_token(p) == T_FINALLY)) ||
         ((is_try || loop) && peek_token(p) == T_ELSE)) {
    Stmt *more = compound(p, &below, false);
    if (!more) p->incomplete = true;
    else append_statements(p, s ? &s->orelse : &below, more->body);
  }
  if (!s) {
    skipped(p, out, at, below, kernels);
    return;
  }
  list_push(p->arena, out, s);
  append_statements(p, &s->orelse, below);
}

/* elif, else, except, finally that belong to nothing. */
static void orphan(Parser *p, StmtList *out) {
  Loc at = loc_here(p);
  uint32_t kernels = p->kernels;
  PARSE_ERROR(p, at, E_PARSE_ORPHAN, syntax_text(p, &p->toks[p->at]));
  skip_line(p);
  StmtList below = {0};
  stray_block(p, &below, false);
  skipped(p, out, at, below, kernels);
}

/* ---- functions and classes ---- */

static int name_by_address(const void *a, const void *b) {
  uintptr_t x = (uintptr_t) * (const Name *)a, y = (uintptr_t) * (const Name *)b;
  return x < y ? -1 : x > y;
}

/* True if a call of jit() in this file names the function whose `def` is at token `i`. */
static bool is_jitted(Parser *p, uint32_t i) {
  const Token *t = &p->toks[i + 1];
  if (t->kind != T_NAME || !p->njitted) return false;
  Name name = token_name(p, t);
  return bsearch(&name, p->jitted, p->njitted, sizeof name, name_by_address);
}

static bool has_name(const Name *sorted, size_t n, Name name) {
  return n && bsearch(&name, sorted, n, sizeof name, name_by_address);
}

static bool is_alias(const Parser *p, Name name) { return has_name(p->aliases, p->naliases, name); }

Expr *parse_annotation(Parser *p, Expr *e) {
  if (e->kind == EX_NAME && has_name(p->constexprs, p->nconstexprs, e->name))
    e->name = pool_name(p->names, "constexpr");
  return e;
}

static bool has_jit(const Parser *p, FuncDef *f) {
  for (uint32_t i = 0; i < f->decorators.len; i++) {
    const Expr *e = f->decorators.data[i];
    while (e->kind == EX_CALL) e = e->a;
    f->jit_alias |= e->kind == EX_NAME && is_alias(p, e->name);
  }
  return ast_is_jit(f);
}

/* Keeps of a host function what is of use: all of it, or the kernels in it. */
static void trim(FuncDef *f, bool incomplete, bool kernels) {
  if (!incomplete) return;
  f->skipped = true;
  if (!kernels) f->body = (StmtList){0};
}

static void function(Parser *p, StmtList *out, ExprList decorators) {
  Parser saved = *p;
  Loc at = loc_here(p);
  uint32_t def = p->at + (peek_token(p) == T_ASYNC);
  FuncDef head = {.decorators = decorators};
  head.jit_alias = p->in_kernel;
  bool kernel = has_jit(p, &head) || is_jitted(p, def);
  p->in_kernel = false;
  p->loud |= kernel;
  p->incomplete = false;
  p->functions++;
  p->loops = 0;
  StmtList below = {0};
  Stmt *s = compound(p, &below, false);
  bool incomplete = p->incomplete, more = p->kernels > saved.kernels;
  p->loud = saved.loud;
  p->functions = saved.functions;
  p->loops = saved.loops;
  p->incomplete = saved.incomplete;
  p->kernels += kernel;
  if (!s) {
    skipped(p, out, at, below, saved.kernels);
    return;
  }
  FuncDef *f = s->func;
  f->decorators = decorators;
  f->jit_alias = head.jit_alias;
  f->body = s->body;
  s->body = (StmtList){0};
  if (!kernel && !p->loud) trim(f, incomplete, more);
  list_push(p->arena, out, s);
}

static void class(Parser *p, StmtList *out, ExprList decorators) {
  Loc at = loc_here(p);
  const Token *t = &p->toks[p->at + 1];
  uint32_t kernels = p->kernels, loops = p->loops;
  Name owner = p->owner;
  if (t->kind == T_NAME) {
    Name name = token_name(p, t);
    const char *path = owner ? arena_printf(p->scratch, "%s.%s", owner, name) : name;
    p->owner = pool_name(p->names, path);
  }
  p->loops = 0;
  StmtList below = {0};
  Stmt *s = compound(p, &below, false);
  p->owner = owner;
  p->loops = loops;
  if (s) {
    s->decorators = decorators;
    list_push(p->arena, out, s);
  } else {
    skipped(p, out, at, below, kernels);
  }
}

/* True if one of the decorators here has the name `jit` in it. */
static bool decorators_have_jit(Parser *p) {
  for (const Token *t = &p->toks[p->at]; t->kind == '@'; t++)
    for (; t->kind != T_NEWLINE; t++)
      if (is_text(p, t, "jit") || (t->kind == T_NAME && is_alias(p, token_name(p, t)))) return true;
  return false;
}

static void decorated(Parser *p, StmtList *out) {
  Loc at = loc_here(p);
  uint32_t kernels = p->kernels;
  ExprList list = {0};
  bool loud = p->loud, jit = decorators_have_jit(p);
  p->loud |= jit;
  while (peek_token(p) == '@') {
    bool ok = parse_line(p) && p->line.decorator;
    if (ok) list_push(p->arena, &list, p->line.decorator);
    indentation_errors(p);
  }
  p->loud = loud;
  bool async_def = peek_token(p) == T_ASYNC && p->toks[p->at + 1].kind == T_DEF;
  if (peek_token(p) == T_DEF || async_def) {
    function(p, out, list);
  } else if (peek_token(p) == T_CLASS) {
    class(p, out, list);
  } else {
    p->loud |= jit;
    PARSE_ERROR(p, at, E_PARSE_DECORATOR);
    p->loud = loud;
    skipped(p, out, at, (StmtList){0}, kernels);
  }
}

/* ---- blocks ---- */

/* `if __name__ == "__main__":` and what hangs on it. */
static bool main_guard(Parser *p, StmtList *out) {
  if (p->functions || peek_token(p) != T_IF || !is_text(p, &p->toks[p->at + 1], "__name__"))
    return false;
  Loc at = loc_here(p);
  do {
    skip_line(p);
    skip_block(p);
  } while (peek_token(p) == T_ELSE || peek_token(p) == T_ELIF);
  skipped(p, out, at, (StmtList){0}, p->kernels);
  return true;
}

static void async_statement(Parser *p, StmtList *out) {
  int next = p->toks[p->at + 1].kind;
  if (next == T_DEF) function(p, out, (ExprList){0});
  else if (next == T_FOR || next == T_WITH) block_statement(p, out, next == T_FOR);
  else simple(p, out);
}

static void parse_statement(Parser *p, StmtList *out) {
  switch (peek_token(p)) {
    case '@': decorated(p, out); break;
    case T_DEF: function(p, out, (ExprList){0}); break;
    case T_CLASS: class(p, out, (ExprList){0}); break;
    case T_ASYNC: async_statement(p, out); break;
    case T_IF:
      if (!main_guard(p, out)) if_statement(p, out);
      break;
    case T_FOR:
    case T_WHILE: block_statement(p, out, true); break;
    case T_WITH:
    case T_TRY: block_statement(p, out, false); break;
    case T_ELIF:
    case T_ELSE:
    case T_EXCEPT:
    case T_FINALLY: orphan(p, out); break;
    case T_INDENT: stray_block(p, out, true); break;
    default: simple(p, out); break;
  }
}

/* At an indent: the statements up to its dedent. */
static void parse_block(Parser *p, StmtList *out) {
  if (p->depth >= AST_DEPTH_MAX) {
    PARSE_ERROR(p, loc_here(p), E_PARSE_BLOCKS, AST_DEPTH_MAX);
    p->incomplete = true;
    skip_block(p);
    return;
  }
  p->depth++;
  p->at++;
  for (;;) {
    indentation_errors(p);
    if (peek_token(p) == T_DEDENT || peek_token(p) == T_YYEOF) break;
    parse_statement(p, out);
  }
  if (peek_token(p) == T_DEDENT) p->at++;
  p->depth--;
}

/* ---- files ---- */

/* `jit(f)` and `jit(...)(f)`: the name of f; NULL if there is none at token `i`. */
static Name jit_argument(Parser *p, uint32_t i) {
  const Token *t = &p->toks[i];
  if (!is_text(p, t, "jit") || t[1].kind != '(') return NULL;
  if (t[1].aux && p->toks[t[1].aux + 1].kind == '(') t = &p->toks[t[1].aux];
  bool names = t[2].kind == T_NAME && (t[3].kind == ')' || t[3].kind == ',');
  return names ? token_name(p, &t[2]) : NULL;
}

/* The name in `word as name` and in `name = module.word`; NULL if token `i` starts neither. */
static Name alias_of(Parser *p, uint32_t i, const char *word, const char *module) {
  const Token *t = &p->toks[i];
  if (is_text(p, t, word) && t[1].kind == T_AS && t[2].kind == T_NAME) return token_name(p, &t[2]);
  if (t->kind != T_NAME || t[1].kind != '=' || !is_text(p, &t[2], module)) return NULL;
  bool whole = t[3].kind == '.' && is_text(p, &t[4], word) && t[5].kind == T_NEWLINE;
  return whole ? token_name(p, t) : NULL;
}

typedef VEC(Name) Names;

static void push_name(Parser *p, Names *list, Name name) {
  if (name) vec_push(p->scratch, list, name);
}

static const Name *sorted_names(Names *list) {
  if (list->len) qsort(list->data, list->len, sizeof *list->data, name_by_address);
  return list->data;
}

static void find_jitted(Parser *p, size_t ntoks) {
  Names found = {0}, aliases = {0}, constexprs = {0};
  for (uint32_t i = 0; i + 5 < ntoks; i++) {
    push_name(p, &found, jit_argument(p, i));
    push_name(p, &aliases, alias_of(p, i, "jit", "triton"));
    push_name(p, &constexprs, alias_of(p, i, "constexpr", "tl"));
  }
  p->jitted = sorted_names(&found);
  p->njitted = found.len;
  p->aliases = sorted_names(&aliases);
  p->naliases = aliases.len;
  p->constexprs = sorted_names(&constexprs);
  p->nconstexprs = constexprs.len;
}

static void parse_module(Parser *p, Module *m, const Source *source) {
  Span start = {p->file, 1, 1, 1};
  if (source->len >= (size_t)FILE_MAX_MIB << 20) {
    diag_error(p->diags, start, E_PARSE_TOO_BIG, FILE_MAX_MIB);
    return;
  }
  p->text = arena_strndup(p->scratch, source->text, source->len);
  Tokens toks = lex(p->scratch, p->text, source->len, source->margin, p->diags, p->file);
  p->toks = toks.data;
  find_jitted(p, toks.len);
  for (;;) {
    indentation_errors(p);
    if (peek_token(p) == T_YYEOF) break;
    if (peek_token(p) == T_DEDENT) p->at++;
    else parse_statement(p, &m->body);
  }
}

typedef enum { PARSE_FILE, PARSE_KERNEL, PARSE_ALL } ParseMode;

static Module *parse_file(Arena *a, Pool *names, Diags *d, uint32_t file, ParseMode mode) {
  Arena *scratch = arena_child(a);
  Parser p = {.arena = a, .scratch = scratch, .names = names, .diags = d, .file = file};
  p.loud = mode == PARSE_ALL;
  p.in_kernel = mode == PARSE_KERNEL;
  p.c_locale = newlocale(LC_ALL_MASK, "C", NULL);
  Module *m = ARENA_NEW(a, Module);
  m->file = file;
  const Source *source = diag_file(d, file);
  if (source && source->text) parse_module(&p, m, source);
  freelocale(p.c_locale);
  arena_free(scratch);
  return m;
}

Module *parse(Arena *a, Pool *names, Diags *d, uint32_t file) {
  return parse_file(a, names, d, file, PARSE_FILE);
}

Module *parse_all(Arena *a, Pool *names, Diags *d, uint32_t file) {
  return parse_file(a, names, d, file, PARSE_ALL);
}

Module *parse_kernel(Arena *a, Pool *names, Diags *d, uint32_t file) {
  return parse_file(a, names, d, file, PARSE_KERNEL);
}
