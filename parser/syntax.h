/* Diagnostics of syntax errors. */
#ifndef NEREID_PARSER_SYNTAX_H
#define NEREID_PARSER_SYNTAX_H

#include "parser/parse.h"

/* The tokens that the grammar accepts here. */
typedef struct {
  bool colon, orelse;
} Wanted;

/* Reports the lexer's error in `t`. */
void syntax_lexical(Parser *p, const Token *t);
/* Reports token number `i`, which doesn't fit into the line that begins at p->first. */
void syntax_unexpected(Parser *p, uint32_t i, Wanted wanted);
void syntax_too_deep(Parser *p, Loc at);

/* The text of a token for messages: cut when long. */
const char *syntax_text(Parser *p, const Token *t);

#endif
