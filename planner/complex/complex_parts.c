/* Operands of the rules, and operators that treat both parts alike: views, sums, copies. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "planner/complex/complex.h"

/* ---- operands ---- */

Parts split_value(const Split *s, Node *n) {
  if (n->id < s->n && s->of[n->id].re) return s->of[n->id];
  return (Parts){n, NULL};
}

/* The dtype of the parts of the node's value. */
static DType part_dtype(Split *s) { return build_result_dtype(&s->b); }

static bool is_tensor_arg(const Arg *a) {
  return a->kind == ARG_NODE && a->node->type.kind == VALUE_TENSOR;
}

Parts split_arg(Split *s, const char *param) {
  Arg a = build_arg(&s->b, param);
  if (is_tensor_arg(&a)) return split_value(s, a.node);
  return (Parts){build_full(&s->b, 0, NULL, a, part_dtype(s)), NULL};
}

Parts split_self(Split *s) { return split_arg(s, s->b.in.schema->params[0].name); }

static Node *zeros_of(Build *b, const Node *x) {
  return build_full(b, rank_of(x), x->type.shape, build_int(b, 0), x->type.dtype);
}

Node *split_imaginary(Split *s, Parts x) { return x.im ? x.im : zeros_of(&s->b, x.re); }

static bool is_part(const Node *x, int64_t part) {
  if (!x || !graph_is(x, OP_aten_select_int) || x->args[2].kind != ARG_INT) return false;
  const Node *whole = x->args[0].node;
  int64_t axis = x->args[1].kind == ARG_INT ? x->args[1].dim->value : 0;
  return rank_of(x) + 1 == rank_of(whole) && axis == rank_of(x) && dim_is(x->args[2].dim, part) &&
         dim_is(size_from_end(whole, 1), 2);
}

/* Are they parts of one tensor, in its last axis?  NULL: they are not. */
static Node *whole_of(Parts x) {
  if (!is_part(x.re, 0) || !is_part(x.im, 1)) return NULL;
  Node *whole = x.re->args[0].node;
  return whole == x.im->args[0].node ? whole : NULL;
}

Node *split_join(Split *s, Parts x) {
  Build *b = &s->b;
  Parts made = fourier_copied(b, x);
  if (!made.re) made = complex_turned(b, x);
  Node *whole = whole_of(made.re ? made : x);
  if (whole) return whole;
  uint32_t rank = rank_of(x.re);
  Node *both[] = {build_unsqueeze(b, x.re, rank), build_unsqueeze(b, split_imaginary(s, x), rank)};
  return build_cat(b, 2, both, rank);
}

/* ---- the same call of each part ---- */

static bool is_among_names(const char *name, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

/* Parameters that choose elements: both parts have the same. */
static bool chooses(const char *param) {
  static const char *const names[] = {"condition", "mask", "index", "indices", "repeats"};
  return is_among_names(param, names, sizeof names / sizeof *names);
}

/* Parameters whose numbers are values. */
static bool is_value_param(const char *param) {
  static const char *const names[] = {"self", "other", "value", "fill_value"};
  return is_among_names(param, names, sizeof names / sizeof *names);
}

static Arg part_of_operand(Split *s, Node *n, bool imaginary) {
  Parts x = split_value(s, n);
  return arg_node(!imaginary ? x.re : split_imaginary(s, x));
}

static Arg part_of_arg(Split *s, const Arg *a, const char *param, bool imaginary) {
  if (a->kind == ARG_DTYPE && a->is_complex) return arg_dtype(a->dtype);
  if (chooses(param)) return *a;
  if (is_tensor_arg(a)) return part_of_operand(s, a->node, imaginary);
  bool number = a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
  if (number && imaginary && is_value_param(param)) return build_int(&s->b, 0);
  if (a->kind != ARG_LIST) return *a;
  Arg list = arg_list(s->b.in.g, a->n);
  for (uint32_t i = 0; i < a->n; i++)
    list.items[i] =
        is_tensor_arg(&a->items[i]) ? part_of_operand(s, a->items[i].node, imaginary) : a->items[i];
  return list;
}

/* The Build's node with other operands: `re` or the imaginary parts for complex ones; real values
 * that are added to imaginary parts are 0. */
static Node *split_again(Split *s, bool imaginary) {
  const Node *n = s->b.in.n;
  const OpSchema *schema = s->b.in.schema;
  Arena *a = s->b.in.g->arena;
  Arg *args = ARENA_ARRAY(a, Arg, n->nargs + 1);
  NamedArg *named = ARENA_ARRAY(a, NamedArg, n->nnamed + 1);
  for (uint32_t i = 0; i < n->nargs; i++)
    args[i] = part_of_arg(s, &n->args[i], schema->params[i].name, imaginary);
  for (uint32_t i = 0; i < n->nnamed; i++) {
    Arg value = part_of_arg(s, &n->named[i].value, n->named[i].name, imaginary);
    named[i] = (NamedArg){n->named[i].name, value};
  }
  return build_with_all(&s->b, n->op->id, n->nargs, args, n->nnamed, named);
}

/* A list of both parts becomes a list of pairs. */
static Parts split_lists(Split *s, Node *re, Node *im) {
  s->nitems = re->type.nitems;
  s->items = ARENA_ARRAY(s->b.in.g->arena, Parts, s->nitems);
  for (uint32_t i = 0; i < s->nitems; i++)
    s->items[i] = (Parts){build_item(&s->b, re, i), build_item(&s->b, im, i)};
  return (Parts){re, im};
}

Parts split_each(Split *s) {
  Node *re = split_again(s, false);
  const ValueType *t = &s->b.in.n->type;
  bool list = t->kind == VALUE_LIST;
  if (!list && !t->is_complex) return (Parts){re, NULL};
  Node *im = split_again(s, true);
  return list ? split_lists(s, re, im) : (Parts){re, im};
}

Parts split_clone(Split *s) {
  Parts x = fourier_copied(&s->b, split_self(s));
  if (!x.re) x = complex_turned(&s->b, split_self(s));
  return x.re ? x : split_each(s);
}

/* A number is true if one of its parts is not 0. */
Parts split_cast(Split *s) {
  Build *b = &s->b;
  Parts x = split_self(s);
  if (!x.im || build_result_dtype(b) != DT_I1) return split_each(s);
  Node *re = build_with(b, OP_aten_ne_Scalar, x.re, build_int(b, 0));
  Node *im = build_with(b, OP_aten_ne_Scalar, x.im, build_int(b, 0));
  return (Parts){build_op2(b, OP_aten_logical_or_default, re, im), NULL};
}

/* ---- making them, and taking them apart ---- */

Parts split_view_as_complex(Split *s) {
  Build *b = &s->b;
  Node *x = build_self(b);
  uint32_t last = rank_of(x) - 1;
  Node *re = build_select(b, x, last, build_const(b, 0));
  return (Parts){re, build_select(b, x, last, build_const(b, 1))};
}

Parts split_view_as_real(Split *s) { return (Parts){split_join(s, split_self(s)), NULL}; }

Parts split_real(Split *s) { return (Parts){split_self(s).re, NULL}; }

Parts split_imag(Split *s) { return (Parts){split_imaginary(s, split_self(s)), NULL}; }

Parts split_same(Split *s) { return split_self(s); }

Parts split_conj(Split *s) {
  Parts x = split_self(s);
  if (x.im) x.im = build_op1(&s->b, OP_aten_neg_default, x.im);
  return x;
}

static Node *in_shape(Split *s, Node *x) {
  const ValueType *t = &s->b.in.n->type;
  return build_expand(&s->b, x, t->rank, t->shape);
}

Parts split_complex(Split *s) {
  Node *re = in_shape(s, split_arg(s, "real").re);
  return (Parts){re, in_shape(s, split_arg(s, "imag").re)};
}

/* A number for all elements. */
Parts split_filled(Split *s) {
  Build *b = &s->b;
  const char *param = infer_takes(&b->in, "s") ? "s" : "fill_value";
  if (!s->b.in.n->type.is_complex) return split_each(s);
  Parts x = split_arg(s, param);
  DType t = part_dtype(s);
  return (Parts){in_shape(s, build_to(b, x.re, t)),
                 x.im ? in_shape(s, build_to(b, x.im, t)) : NULL};
}

Parts split_polar(Split *s) {
  Build *b = &s->b;
  Node *length = split_arg(s, "abs").re, *angle = split_arg(s, "angle").re;
  Node *re = build_mul(b, length, build_op1(b, OP_aten_cos_default, angle));
  return (Parts){re, build_mul(b, length, build_op1(b, OP_aten_sin_default, angle))};
}

/* The imaginary parts of ones are none. */
Parts split_ones(Split *s) { return (Parts){split_again(s, false), NULL}; }

/* Transposed and conjugated. */
Parts split_adjoint(Split *s) {
  Parts x = split_each(s);
  if (x.im) x.im = build_op1(&s->b, OP_aten_neg_default, x.im);
  return x;
}
