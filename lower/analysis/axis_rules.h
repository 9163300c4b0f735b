/* What the files of the axis analysis share: axis.c (control flow), axis_facts.c, axis_rules.c.
 * The facts are explained in axis.h.
 */
#ifndef NEREID_LOWER_ANALYSIS_AXIS_RULES_H
#define NEREID_LOWER_ANALYSIS_AXIS_RULES_H

#include "lower/analysis/axis.h"

#define AXIS_DIV_MAX (INT64_C(1) << 30)

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline unsigned axes_of(const TileValue *v) { return v->type.rank ? v->type.rank : 1; }

/* ---- axis_facts.c ---- */
int64_t axis_gcd(int64_t a, int64_t b);
/* The largest power of two that divides v; AXIS_DIV_MAX for 0. */
int64_t axis_low_bit(int64_t v);
int64_t axis_extent(const TileValue *v, unsigned axis);
void axis_type_bounds(Type t, int64_t *lo, int64_t *hi);
AxisInfo axis_unknown(const TileValue *v);
AxisInfo axis_constant(const TileValue *v, int64_t c);
/* What holds of a value that is one or the other. */
AxisInfo axis_meet(const AxisInfo *a, const AxisInfo *b);
/* Clamps an interval that left the dtype's range: the value may have wrapped. */
void axis_settle(AxisInfo *x, const TileValue *v);

/* ---- axis_rules.c: what holds of an op's result, by what holds of its operands ---- */
AxisInfo axis_elementwise(const TileOp *op, const AxisInfo *info);
AxisInfo axis_shape_rule(const TileOp *op, const AxisInfo *info);
AxisInfo axis_arange(const TileOp *op);

#endif
