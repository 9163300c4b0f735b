/* Shared by the printers of statements and expressions. */
#ifndef NEREID_PARSER_AST_PRINT_H
#define NEREID_PARSER_AST_PRINT_H

#include "parser/ast.h"

/* A string in double quotes. */
void print_string(Text *out, Name s);
/* `name: annotation = default` */
void print_param(Text *out, const Param *a);

#endif
