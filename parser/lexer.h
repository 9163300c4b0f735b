/* Tokens of a Python source, as one array for the whole file.
 *
 * The lexer never fails: what it can't read becomes a T_ERROR token in the place where it stood, so
 * that the parser reports it only where it matters (host code is skipped in silence).  Only an
 * unterminated triple-quoted string is reported at once: it swallows the rest of the file.
 *
 * Indentation gives T_INDENT and T_DEDENT, a logical line ends in T_NEWLINE; neither occurs inside
 * brackets.  The two brackets of a pair know each other by `aux`.  When a bracket is never closed,
 * a keyword that can only start a statement ends the line that is stuck.
 *
 * Names, numbers and strings are kept as places in the text and decoded when the grammar asks for
 * them: most of a file is skipped.  An f-string is a run of tokens: T_FSTR_START, then T_FSTR_TEXT
 * and fields (T_FSTR_OPEN, an expression, T_FSTR_CONV, T_FSTR_SPEC with text and fields,
 * T_FSTR_CLOSE), then T_FSTR_END.
 */
#ifndef NEREID_PARSER_LEXER_H
#define NEREID_PARSER_LEXER_H

#include "lang/base/arena.h"
#include "lang/base/diag.h"

enum {
  BRACKETS_MAX = 200, /* open brackets, f-strings and their fields at one place */
  INDENTS_MAX = 100   /* nested blocks */
};

typedef struct {
  uint16_t kind; /* grammar_token_kind_t: T_..., or the character of an operator */
  uint16_t flags; /* of strings; T_ERROR: a LexError */
  uint32_t pos, len, line, col;
  uint32_t aux; /* brackets: index of the partner, 0 if none */
} Token;

/* Flags of strings and parts of f-strings. */
enum { STR_RAW = 1, STR_TRIPLE = 2, STR_SPEC = 4, STR_QUOTED = 8 };

typedef enum {
  LEX_STRING,      /* unterminated */
  LEX_TRIPLE,      /* unterminated; reported already */
  LEX_FIELD,       /* { of an f-string without } */
  LEX_BRACE,       /* single } in an f-string */
  LEX_CHAR,        /* no Python character */
  LEX_BYTE,        /* not UTF-8 */
  LEX_NUL,
  LEX_BACKSLASH,   /* not at the end of the line */
  LEX_NUMBER,      /* letters stick to a number */
  LEX_STRAY,       /* closes nothing */
  LEX_MISMATCH,    /* closes another kind of bracket than the one that `aux` opens */
  LEX_DEDENT,      /* matches no outer level */
  LEX_TABS,        /* tabs and spaces disagree */
  LEX_INDENTS_MAX,
  LEX_BRACKETS_MAX
} LexError;

typedef struct {
  Token *data;
  size_t len, cap;
} Tokens;

/* `text` ends in a NUL at text[len], which doesn't count.  len is below UINT32_MAX.  Each line
 * begins with `margin` blanks that are no indentation.  The last token is T_YYEOF, at which dedents
 * are complete. */
Tokens lex(Arena *scratch, const char *text, size_t len, uint32_t margin, Diags *d, uint32_t file);

#endif
