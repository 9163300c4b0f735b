/* The interface of the rules of type inference: arguments, axes, sizes, operands, results.
 *
 * A rule is called after ops_check, so its arguments are of the kinds that the schema says.  It
 * reports with infer_fail, which does not return: it jumps out of the rule.  Rules own nothing
 * but memory of the arena. */
#ifndef NEREID_GRAPH_OPS_INFER_RULES_H
#define NEREID_GRAPH_OPS_INFER_RULES_H

#include <setjmp.h>

#include "graph/ops/infer.h"

struct Infer {
  Graph *g;
  Node *n;
  const OpSchema *schema; /* NULL for a getitem */
  const char *foreign;    /* another format's op, which n replaces */
  ValueType result;       /* what the rule sets */
  jmp_buf failed;
};

#define OP(library, name, overload, rule, ...) void infer_##rule(Infer *in);
#define FUNCTION(library, name, rule, ...) void infer_##rule(Infer *in);
#include "graph/ops/op_table.def"

/* Reports a message E_GRAPH_..., after the node's name and its op. */
_Noreturn void infer_fail(Infer *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- arguments ---- */

bool infer_takes(const Infer *in, const char *param); /* does the schema have it? */
bool infer_has(Infer *in, const char *param);         /* is it there, and not None? */
/* A tensor; a number in its place is an error. */
const ValueType *infer_tensor(Infer *in, const char *param);
/* NULL for None. */
const ValueType *infer_optional_tensor(Infer *in, const char *param);
/* The first parameter, on which most ops work. */
const ValueType *infer_self(Infer *in);
/* The list; items that are None are NULL. */
const ValueType **infer_tensors(Infer *in, const char *param, uint32_t *n);
Dim infer_size(Infer *in, const char *param);
/* The size that one item of a list gives. */
Dim infer_dim_of(Infer *in, const Arg *a);
/* At most GRAPH_RANK_MAX of them.  A single integer for `int[N]` is repeated N times. */
uint32_t infer_sizes(Infer *in, const char *param, Dim *out);
/* Literals: a symbolic one is an error. */
int64_t infer_int(Infer *in, const char *param);
uint32_t infer_ints(Infer *in, const char *param, int64_t *out);
bool infer_bool(Infer *in, const char *param); /* false also if the schema lacks it */
double infer_number(Infer *in, const char *param);
/* The type of one item of a list. */
double infer_number_of(Infer *in, const Arg *a, const char *param);
Name infer_string(Infer *in, const char *param);
/* `otherwise` for None, and if the schema lacks it. */
DType infer_dtype(Infer *in, const char *param, DType otherwise);

/* ---- axes ---- */

/* dim, which counts from the end if it is negative, as a number below rank.  A tensor without
 * axes counts as having one. */
uint32_t infer_axis(Infer *in, int64_t dim, uint32_t rank);
uint32_t infer_axis_arg(Infer *in, const char *param, uint32_t rank);
/* A bit for each axis that an int or a list names; all for None, an empty list, no parameter. */
uint32_t infer_axes_arg(Infer *in, const char *param, uint32_t rank);
/* x has at least, or at most, so many axes. */
void infer_rank(Infer *in, const ValueType *x, uint32_t least, uint32_t most);

/* ---- sizes ---- */

static inline Dim infer_const(Infer *in, int64_t value) { return dim_int(in->g->dims, value); }
/* A symbol for a number that data decides. */
Dim infer_new_symbol(Graph *g);
Dim infer_unknown(Infer *in);
/* Is there a value of the symbols that makes them equal? */
bool infer_may_equal(Graph *g, Dim a, Dim b);
/* Are the sizes equal?  A rule takes them to be equal from then on, and every run is held to it. */
bool infer_equal(Infer *in, Dim a, Dim b);
/* Every run is held to it, if g->notes_relations; `node` takes them to be equal. */
void infer_note_equal(Graph *g, Dim a, Dim b, Name node);
/* A rule takes a to be no less than b. */
bool infer_at_least(Infer *in, Dim a, Dim b);
/* A rule takes a and b to differ. */
bool infer_differs(Infer *in, Dim a, Dim b);
/* Fails if the last n axes get `sizes` elements that are made of those of x, and x has none. */
void infer_some(Infer *in, const ValueType *x, uint32_t n, const Dim *sizes);
/* The one that says more of two sizes that should be equal; `what` names them in the error. */
Dim infer_same_size(Infer *in, Dim a, Dim b, const char *what);
Dim infer_product(Infer *in, const Dim *sizes, uint32_t n);
/* a // b; a remainder that is known is an error.  b > 0. */
Dim infer_exact_div(Infer *in, Dim a, int64_t b);
/* Rounded up; b > 0. */
Dim infer_ceil_div(Infer *in, Dim a, Dim b);
const char *infer_dim_text(Infer *in, Dim d);
const char *infer_shape_text(Infer *in, const Dim *shape, uint32_t rank); /* "[2, s0]" */
const char *infer_type_text(Infer *in, const ValueType *t);

/* ---- operands of pointwise ops ---- */

typedef struct {
  DType dtype;
  bool number; /* a Python number: gives way in promotion */
  uint32_t rank;
  const Dim *shape;
} Operand;

Operand infer_operand(Infer *in, const char *param);
Operand infer_tensor_operand(const ValueType *x);
DType infer_promote(Infer *in, const Operand *x, uint32_t n);
/* Returns the rank. */
uint32_t infer_broadcast(Infer *in, const Operand *x, uint32_t n, Dim *shape);
/* Can x be expanded to that shape? */
bool infer_expands(Infer *in, const Operand *x, const Dim *shape, uint32_t rank);
/* Fails if it cannot. */
void infer_fits(Infer *in, const Operand *x, const Dim *shape, uint32_t rank);
DType infer_to_float(DType t); /* integers become f32 */
/* The largest number of a float dtype; that of f32 for others. */
double dtype_largest_finite(DType t);
void infer_need_float(Infer *in, DType t);
/* Is a loss the mean or the sum of all, as `reduction` says? */
bool infer_reduces(Infer *in);
/* The dtypes must be equal, as PyTorch's matrix products and convolutions need. */
void infer_same_dtype(Infer *in, const ValueType *a, const ValueType *b);

/* ---- scales ---- */

/* How many rows of the left operand of a product, and columns of the right one, share a scale.
 * With blocks, 128 elements along the sum have scales of their own. */
typedef struct {
  int64_t rows, columns;
  bool blocks;
} ScaleForm;

/* The form of scale_a and scale_b for self and mat2; fails if they fit in no form. */
ScaleForm infer_scale_form(Infer *in);

/* ---- results ---- */

void infer_set(Infer *in, DType dtype, uint32_t rank, const Dim *shape);
void infer_set_like(Infer *in, DType dtype, const ValueType *x);
ValueType infer_type(Infer *in, DType dtype, uint32_t rank, const Dim *shape);
void infer_set_list(Infer *in, uint32_t n, const ValueType *items);
void infer_set_pair(Infer *in, ValueType a, ValueType b);

/* A copy of x's sizes to change; returns x's rank. */
uint32_t infer_copy_shape(const ValueType *x, Dim *shape);
/* The size of an axis; 1 for a tensor without axes. */
Dim infer_axis_size(Infer *in, const ValueType *x, uint32_t axis);
/* Results like x, with another size along an axis, one axis more, or without a set of axes. */
void infer_set_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size);
void infer_insert_axis(Infer *in, const ValueType *x, uint32_t axis, Dim size);
void infer_remove_axes(Infer *in, const ValueType *x, uint32_t set);

#endif
