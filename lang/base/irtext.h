/* Reading and writing the text of an IR: the lexical rules and the parts that the tile IR, the
 * loop-nest IR and records share.
 *
 * An IrReader is a cursor over a file registered in a Diags, with one token of lookahead.  It is a
 * plain struct: a copy of it is a bookmark, and reading on from the copy is unlimited lookahead.
 *
 *   IrReader r = ir_open(arena, names, diags, file, 0);
 *   while (ir_accept(&r, "var")) {
 *     Name name = ir_value(&r);
 *     ir_expect(&r, ":");
 *     Type type = ir_type(&r);
 *     if (!name || r.failed) return NULL;
 *   }
 *
 * Errors: the first one is reported with its location; from then on the next token is IT_END,
 * `failed` is set and further errors are silent.  So a loop that ends at IT_END ends, and code may
 * ask for `failed` once for many calls.  Functions that give a pointer give NULL, others a zero.
 *
 * Lexical rules.  White space and line ends separate tokens and mean nothing else (a token knows
 * whether it is the first on its line).  `#` and `//` begin a comment.
 *   word     ident, ld.v4, ex2.approx: letters, digits, _ and $; dots between those
 *   %name    a value; also %12, %x.1
 *   @name    a symbol; `@` before a digit or a quote is punctuation and begins a location
 *   number   12, 0x1f, 1.5, 1e-3, 0x1.8p3, unsigned: a minus is punctuation
 *   "text"   with the escapes of text_quote; on one line
 *   else     punctuation: -> .. += == != <= >= << >> && || or one character
 *
 * A location is @"file":line:col, @line:col in the file of the location before, or @col on its
 * line.  Nothing recurses; all memory is in proportion to the text.
 */
#ifndef NEREID_LANG_BASE_IRTEXT_H
#define NEREID_LANG_BASE_IRTEXT_H

#include "lang/base/diag.h"
#include "lang/base/dtype.h"

typedef enum {
  IT_END, IT_WORD, IT_VALUE, IT_SYMBOL, IT_INT, IT_FLOAT, IT_STRING, IT_PUNCT
} IrTokenKind;

typedef struct {
  IrTokenKind kind;
  bool first;       /* on its line */
  Span span;
  const char *text; /* in the source; of values and symbols without the sigil */
  uint32_t len;
  uint64_t i;       /* IT_INT */
  double f;         /* IT_FLOAT, and IT_INT as a double */
  Name s;           /* IT_STRING: what it says */
} IrToken;

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  uint32_t file;
  const char *text;
  size_t len;
  size_t at;             /* the byte after the token */
  uint32_t line;         /* of `at` */
  size_t line_start;
  IrToken token;         /* the next one */
  Span place;            /* the last location read; file 0 if there was none */
  bool failed;
} IrReader;

/* At byte `at` of the file, which must have text. */
IrReader ir_open(Arena *a, Pool *names, Diags *d, uint32_t file, size_t at);
size_t ir_offset(const IrReader *r); /* where the next token begins: goes on with ir_open */

/* Reports at `span`, unless an error was reported before, and stops the reader. */
void ir_error(IrReader *r, Span span, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "expected WHAT, found ..." at the next token.  WHAT is words: "a type", "`{`". */
void ir_expected(IrReader *r, const char *what);

/* ---- tokens ---- */
IrToken ir_next(IrReader *r);
static inline const IrToken *ir_peek(const IrReader *r) { return &r->token; }
/* Is the next token of that kind?  Is it this word or punctuation? */
static inline bool ir_at_kind(const IrReader *r, IrTokenKind k) { return r->token.kind == k; }
bool ir_at(const IrReader *r, const char *s);
bool ir_accept(IrReader *r, const char *s); /* the same, and takes it */
bool ir_expect(IrReader *r, const char *s);

/* ---- pieces; each reports what it does not find ---- */
Name ir_word(IrReader *r, const char *what); /* `what` for the message: "an attribute" */
Name ir_value(IrReader *r);                  /* %name, without the % */
Name ir_symbol(IrReader *r);                 /* @name, without the @ */
Name ir_string(IrReader *r);
int64_t ir_int(IrReader *r);                 /* with an optional minus; within int64_t */
int64_t ir_int_in(IrReader *r, int64_t lo, int64_t hi);
Type ir_type(IrReader *r);                   /* f32[128,64]; dtype DT_NONE on error */
/* A place if the next token is `@`: true, and it is in *out and r->place. */
bool ir_place(IrReader *r, Span *out);

/* ---- attribute lists: {axis 0, flag, value -1.5, list [1, -2], name "str"} ---- */
typedef enum {
  IA_FLAG, /* alone, or with `true` (i is 1) or `false` (0) */
  IA_INT,  /* i, wide: over INT64_MAX, i has its bits as a uint64_t; f has it too */
  IA_NUM,  /* f: a float, inf, nan, with an optional minus */
  IA_STR, IA_INTS
} IrAttrKind;

typedef struct {
  Name key;
  IrAttrKind kind;
  bool wide, f32;    /* f32: when printed, f is rounded to f32 by who reads it */
  int64_t i;
  double f;
  Name s;
  const int64_t *list;
  uint32_t len;
  Span span; /* of the key */
} IrAttr;

/* Reads a list if the next token is `{`; *n is the number (0 if there is no list).  Keys are
 * different from each other, at most IR_MAX_ATTRS. */
enum { IR_MAX_ATTRS = 64 };
IrAttr *ir_attrs(IrReader *r, uint32_t *n);
/* " {...}", with the space before it; nothing for n = 0. */
void ir_print_attrs(Text *out, const IrAttr *attrs, uint32_t n);
/* "expected a string for attribute `combine`": for users who check kinds themselves. */
void ir_attr_wrong(IrReader *r, const IrAttr *a, const char *what);

/* ---- printing ---- */
/* The shortest decimal that reads back as `v` (f32: once it is rounded to f32), always with a
 * point or an exponent; inf, -inf, nan. */
void ir_print_float(Text *out, double v, bool f32);
/* " @..." relative to *last, which it updates.  Nothing for a span of file 0 or `own_file`. */
void ir_print_place(Text *out, const Diags *d, Span at, Span *last, uint32_t own_file);
/* `hint` as the characters of a value's name: others become _; "" if nothing is left or it looks
 * like a number, so that it can't be told from a numbered value. */
Name ir_clean_name(Arena *a, const char *hint);

/* ---- names to things ---- */
/* A map from interned names; one owner, no removal. */
typedef struct {
  Arena *arena;
  struct IrSlot *slots;
  uint32_t nslots, count;
} IrMap;

IrMap ir_map_new(Arena *a);
void *ir_map_get(const IrMap *m, Name name); /* NULL if it is not there */
/* False, with nothing changed, if the name is there already. */
bool ir_map_put(IrMap *m, Name name, void *thing);

/* Hands out unique printed names: the hint, else hint.1, hint.2, ...; numbers without a hint. */
typedef struct {
  Pool *names;
  IrMap taken, counters;
  uint32_t next;
} IrNamer;

IrNamer ir_namer_new(Arena *a, Pool *names);
Name ir_namer_give(IrNamer *n, Name hint);

#endif
