/* Numbers and strings: from their text to their values.  NULL or false after an error. */
#ifndef NEREID_PARSER_LITERAL_H
#define NEREID_PARSER_LITERAL_H

#include "parser/parse.h"

Expr *literal_number(Parser *p, const Token *t);
/* A string, or the text between the fields of an f-string. */
Expr *literal_string(Parser *p, const Token *t);
/* Juxtaposed strings: one EX_STR, or an EX_FSTR. */
Expr *literal_join(Parser *p, Loc at, ExprList pieces);
/* Adds the items of `{value=!c:spec}` to `out`; `debug` is the place of `value=`, or NULL. */
bool literal_field(Parser *p, ExprList *out, Loc at, Expr *value, const Loc *debug, char conv,
                   Expr *spec);

#endif
