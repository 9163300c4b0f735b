/* What the printers of statements and expressions share. */
#ifndef NEREID_PARSER_PRINT_H
#define NEREID_PARSER_PRINT_H

#include "parser/ast.h"

/* `name: annotation = default` */
void print_param(Text *out, const Param *a);

#endif
