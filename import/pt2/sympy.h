/* Sizes as exported programs write them: sympy's srepr text of an integer expression,
 *
 *   Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(-1))
 */
#ifndef NEREID_IMPORT_PT2_SYMPY_H
#define NEREID_IMPORT_PT2_SYMPY_H

#include "graph/ir/dim.h"

/* NULL if the text is malformed or not of integers: *why then says what is wrong, in `a`.  What
 * the text says of a symbol's sign becomes a limit of it. */
Dim sympy_read(Dims *d, Arena *a, const char *text, const char **why);

/* A comparison of two such expressions as sympy's str prints it, "s0 >= 2"; NULL for all else. */
Name sympy_relation(Dims *d, Arena *a, const char *text);

#endif
