/* The rules of LIMITS in the operator table (pass check_arguments): limit_RULE refuses arguments of
 * its node that PyTorch refuses when the operator runs. */
#ifndef NEREID_PLANNER_PASSES_CHECKS_LIMITS_H
#define NEREID_PLANNER_PASSES_CHECKS_LIMITS_H

#include "graph/builders/node_builder.h"

#define OP(library, name, overload, rule, schema, ...) __VA_ARGS__
#define LIMITS(rule) void limit_##rule(Build *b);
#include "graph/ops/op_table.def"

/* A literal; false: a tensor, a size, or None. */
bool limit_number(Build *b, const char *param, double *out);
void limit_unless(Build *b, bool right, const char *param, double v, const char *wanted);
/* The literals of a list or an integer; others are left out. */
uint32_t limit_literals(Build *b, const char *param, int64_t *out);
/* None of the axes from `first` on is empty. */
void limit_empty(Build *b, const ValueType *x, uint32_t first);

#endif
