/* Steps of optimizers on lists of tensors, and scaling of gradients.
 *
 * An operator whose result is several lists leaves a nereid.list for each, which is taken apart
 * when it is visited. */
#include <string.h>

#include "decompose/decompose.h"
#include "graph/infer/foreach.h"

/* ---- lists ---- */

static Node *set_items(Build *b, uint32_t n, Node **items) {
  b->items = items;
  b->nitems = n;
  return NULL;
}

Node *decompose_list(Build *b) {
  uint32_t n;
  Node **items = build_inputs(b, "tensors", &n);
  return set_items(b, n, items);
}

static Node *item_of_list(void *ctx, Node *list, uint32_t i) { return build_item(ctx, list, i); }

Node *decompose_foreach(Build *b) {
  uint32_t count = foreach_count(&b->in);
  Node **items = ARENA_ARRAY(b->in.g->arena, Node *, count);
  for (uint32_t i = 0; i < count; i++) {
    ForeachCall c = foreach_call(&b->in, i, item_of_list, b);
    items[i] = build_with_all(b, c.op->id, c.nargs, c.args, c.nnamed, c.named);
  }
  return set_items(b, count, items);
}

/* self + scalars[i] * (tensor1 combined with tensor2) */
static Node *foreach_scaled(Build *b, OpId combine) {
  uint32_t n, m;
  Node **x = build_inputs(b, "self", &n), **y = build_inputs(b, "tensor1", &m);
  Node **z = build_inputs(b, "tensor2", &m), *scalars = build_input(b, "scalars");
  Node **items = ARENA_ARRAY(b->in.g->arena, Node *, n);
  for (uint32_t i = 0; i < n; i++) {
    Node *by = build_select(b, scalars, 0, build_const(b, i));
    Node *more = build_mul(b, build_to(b, by, x[i]->type.dtype), build_op2(b, combine, y[i], z[i]));
    items[i] = build_to(b, build_add(b, x[i], more), x[i]->type.dtype);
  }
  return set_items(b, n, items);
}

Node *decompose_foreach_addcmul(Build *b) { return foreach_scaled(b, OP_aten_mul_Tensor); }
Node *decompose_foreach_addcdiv(Build *b) { return foreach_scaled(b, OP_aten_div_Tensor); }

Node *decompose_foreach_norm(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "self", &n), **items = ARENA_ARRAY(b->in.g->arena, Node *, n);
  const ValueType *t = b->in.n->type.items;
  for (uint32_t i = 0; i < n; i++)
    items[i] =
        build_with_named(b, OP_aten_linalg_vector_norm_default,
                         ARGS(arg_node(x[i]), build_arg(b, "ord")), "dtype", arg_dtype(t[i].dtype));
  return set_items(b, n, items);
}

/* ---- numbers ---- */

static Node *times(Build *b, Node *x, double by) {
  return build_with(b, OP_aten_mul_Tensor, x, arg_float(by));
}

/* 1 - x */
static Node *complement(Build *b, Node *x) {
  return build_with(b, OP_aten_rsub_Scalar, x, arg_float(1));
}

/* x + by * (y - x), as the tensor that is mixed in PyTorch's order. */
static Node *mixed(Build *b, Node *x, Node *y, double by) {
  return build(b, OP_aten_lerp_Scalar, ARGS(arg_node(x), arg_node(y), arg_float(by)));
}

/* ---- steps ---- */

typedef struct {
  Build *b;
  uint32_t n;
  Node *found_inf; /* of the gradients: nothing changes if it is 1; NULL: it is 0 */
  Node ***lists;   /* the new values of the lists of parameters */
} Step;

/* x, in the dtype of the old value, unless nothing changes. */
static Node *stepped(const Step *s, Node *x, Node *old) {
  Build *b = s->b;
  x = build_to(b, x, old->type.dtype);
  if (!s->found_inf) return x;
  Node *skips = build_with(b, OP_aten_eq_Scalar, s->found_inf, arg_float(1));
  skips = build_view(b, skips, 0, NULL);
  return build_where(b, skips, arg_node(old), arg_node(x));
}

static Step step_new(Build *b) {
  Step s = {.b = b, .found_inf = build_input(b, "found_inf")};
  uint32_t lists = b->in.n->type.nitems, n;
  build_inputs(b, "self", &s.n);
  s.lists = ARENA_ARRAY(b->in.g->arena, Node **, lists);
  for (uint32_t i = 0; i < lists; i++)
    s.lists[i] = build_inputs(b, b->in.schema->params[i].name, &n);
  return s;
}

static Node *step_finish(Step *s) {
  Build *b = s->b;
  uint32_t lists = b->in.n->type.nitems;
  Node **items = ARENA_ARRAY(b->in.g->arena, Node *, lists);
  for (uint32_t i = 0; i < lists; i++) {
    Arg list = arg_list(b->in.g, b->in.n->type.items[i].nitems);
    for (uint32_t k = 0; k < list.n; k++) list.items[k] = arg_node(s->lists[i][k]);
    items[i] = build(b, OP_nereid_list_default, 1, &list);
  }
  return set_items(b, lists, items);
}

/* Gradient i, widened and without its scale, which is stored. */
static Node *unscaled_gradient(const Step *s, uint32_t i) {
  Build *b = s->b;
  Node *old = s->lists[1][i], *grad = build_widen(b, old), *scale = build_input(b, "grad_scale");
  if (scale) {
    scale = build_view(b, build_to(b, scale, grad->type.dtype), 0, NULL);
    grad = build_div(b, grad, scale);
    s->lists[1][i] = stepped(s, grad, old);
  }
  return infer_bool(&b->in, "maximize") ? build_op1(b, OP_aten_neg_default, grad) : grad;
}

/* The learning rate in f64, a number or a tensor. */
static Node *learning_rate(Build *b) {
  return build_view(b, build_scalar_arg(b, "lr", DT_F64), 0, NULL);
}

/* x scaled by a number in f64, in x's dtype. */
static Node *scaled_by(Build *b, Node *x, Node *by) {
  return build_mul(b, x, build_to(b, by, x->type.dtype));
}

static Node *with_decay(Build *b, Node *grad, Node *param) {
  double decay = infer_number(&b->in, "weight_decay");
  return decay == 0 ? grad : build_add(b, grad, times(b, param, decay));
}

/* 1 - beta ** step, in f64. */
static Node *bias_correction(Build *b, double beta, Node *step) {
  Node *power = build(b, OP_aten_pow_Scalar, ARGS(arg_float(beta), arg_node(step)));
  return complement(b, power);
}

enum { PARAMS, GRADS, MEANS, SQUARES, LARGEST };

static void adam_step(Step *s, uint32_t i, Node *count, bool decoupled) {
  Build *b = s->b;
  Node *param = build_widen(b, s->lists[PARAMS][i]), *grad = unscaled_gradient(s, i);
  Node *rate = learning_rate(b), *step = build_view(b, build_to(b, count, DT_F64), 0, NULL);
  double beta1 = infer_number(&b->in, "beta1"), beta2 = infer_number(&b->in, "beta2");
  double decay = infer_number(&b->in, "weight_decay");
  if (!decoupled) grad = with_decay(b, grad, param);
  else if (decay != 0) param = scaled_by(b, param, complement(b, times(b, rate, decay)));
  Node *mean = mixed(b, build_widen(b, s->lists[MEANS][i]), grad, 1 - beta1);
  Node *square = times(b, build_widen(b, s->lists[SQUARES][i]), beta2);
  square = build_add(b, square, times(b, build_mul(b, grad, grad), 1 - beta2));
  Node *largest = square;
  if (infer_bool(&b->in, "amsgrad")) {
    Node *before = s->lists[LARGEST][i];
    largest = build_op2(b, OP_aten_maximum_default, build_widen(b, before), square);
    s->lists[LARGEST][i] = stepped(s, largest, before);
  }
  Node *size = build_div(b, rate, bias_correction(b, beta1, step));
  Node *root = build_op1(b, OP_aten_sqrt_default, bias_correction(b, beta2, step));
  Node *spread = build_op1(b, OP_aten_sqrt_default, largest);
  spread = build_div(b, spread, build_to(b, root, spread->type.dtype));
  spread = build_with(b, OP_aten_add_Tensor, spread, build_arg(b, "eps"));
  Node *moved = build_sub(b, param, build_div(b, scaled_by(b, mean, size), spread));
  s->lists[PARAMS][i] = stepped(s, moved, s->lists[PARAMS][i]);
  s->lists[MEANS][i] = stepped(s, mean, s->lists[MEANS][i]);
  s->lists[SQUARES][i] = stepped(s, square, s->lists[SQUARES][i]);
}

static Node *fused_adam(Build *b, bool decoupled) {
  Step s = step_new(b);
  uint32_t n;
  Node **counts = build_inputs(b, "state_steps", &n);
  for (uint32_t i = 0; i < s.n; i++) adam_step(&s, i, counts[i], decoupled);
  return step_finish(&s);
}

Node *decompose_fused_adam(Build *b) { return fused_adam(b, false); }
Node *decompose_fused_adamw(Build *b) { return fused_adam(b, true); }

static void sgd_step(Step *s, uint32_t i) {
  enum { MOMENTA = 2 };
  Build *b = s->b;
  Node *param = build_widen(b, s->lists[PARAMS][i]);
  Node *grad = with_decay(b, unscaled_gradient(s, i), param);
  double momentum = infer_number(&b->in, "momentum");
  if (momentum != 0) {
    Node *old = s->lists[MOMENTA][i], *moving = grad;
    double rest = 1 - infer_number(&b->in, "dampening");
    if (!infer_bool(&b->in, "is_first_step"))
      moving = build_add(b, times(b, build_widen(b, old), momentum), times(b, grad, rest));
    s->lists[MOMENTA][i] = stepped(s, moving, old);
    bool nesterov = infer_bool(&b->in, "nesterov");
    grad = nesterov ? build_add(b, grad, times(b, moving, momentum)) : moving;
  }
  Node *moved = build_sub(b, param, scaled_by(b, grad, learning_rate(b)));
  s->lists[PARAMS][i] = stepped(s, moved, s->lists[PARAMS][i]);
}

Node *decompose_fused_sgd(Build *b) {
  Step s = step_new(b);
  for (uint32_t i = 0; i < s.n; i++) sgd_step(&s, i);
  return step_finish(&s);
}

static void adagrad_step(Step *s, uint32_t i, Node *count) {
  enum { SUMS = 2 };
  Build *b = s->b;
  Node *param = build_widen(b, s->lists[PARAMS][i]);
  Node *grad = with_decay(b, unscaled_gradient(s, i), param);
  Node *before = build_view(b, build_to(b, count, DT_F64), 0, NULL);
  before = build_with(b, OP_aten_sub_Tensor, before, arg_float(1));
  Node *slower = times(b, before, infer_number(&b->in, "lr_decay"));
  slower = build_with(b, OP_aten_add_Tensor, slower, arg_float(1));
  Node *sum = build_add(b, build_widen(b, s->lists[SUMS][i]), build_mul(b, grad, grad));
  Node *spread = build_op1(b, OP_aten_sqrt_default, sum);
  spread = build_with(b, OP_aten_add_Tensor, spread, build_arg(b, "eps"));
  Node *size = build_div(b, learning_rate(b), slower);
  Node *moved = build_sub(b, param, build_div(b, scaled_by(b, grad, size), spread));
  s->lists[PARAMS][i] = stepped(s, moved, s->lists[PARAMS][i]);
  s->lists[SUMS][i] = stepped(s, sum, s->lists[SUMS][i]);
}

Node *decompose_fused_adagrad(Build *b) {
  Step s = step_new(b);
  uint32_t n;
  Node **counts = build_inputs(b, "state_steps", &n);
  for (uint32_t i = 0; i < s.n; i++) adagrad_step(&s, i, counts[i]);
  return step_finish(&s);
}

/* ---- scales of gradients ---- */

/* Gradients without their scale, and 1 if one of their elements is not finite. */
Node *decompose_unscale(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "self", &n), *found = build_input(b, "found_inf");
  Node *scale = build_view(b, build_input(b, "inv_scale"), 0, NULL);
  const ValueType *t = &found->type;
  Arg list = arg_list(b->in.g, n);
  for (uint32_t i = 0; i < n; i++) {
    Node *bad =
        build_op1(b, OP_aten_logical_not_default, build_op1(b, OP_aten_isfinite_default, x[i]));
    bad = build_to(b, build_op1(b, OP_aten_any_default, bad), t->dtype);
    found = build_op2(b, OP_aten_maximum_default, found, bad);
    Node *wide = build_widen(b, x[i]);
    Node *grad = build_mul(b, wide, build_to(b, scale, wide->type.dtype));
    list.items[i] = arg_node(build_to(b, grad, x[i]->type.dtype));
  }
  return build_pair(b, build(b, OP_nereid_list_default, 1, &list), found);
}

/* The scale grows after so many steps without an infinite gradient, and falls after one with. */
Node *decompose_update_scale(Build *b) {
  Node *scale = build_self(b), *count = build_input(b, "growth_tracker");
  Node *failed = build_with(b, OP_aten_ne_Scalar, build_input(b, "found_inf"), build_int(b, 0));
  failed = build_view(b, failed, 0, NULL);
  Node *steps = build_with(b, OP_aten_add_Tensor, count, build_int(b, 1));
  Node *grows = build_with(b, OP_aten_eq_Scalar, steps, build_arg(b, "growth_interval"));
  Node *larger = times(b, scale, infer_number(&b->in, "scale_growth_factor"));
  Node *finite = build_op1(b, OP_aten_isfinite_default, larger);
  Node *grown = build_where(b, build_view(b, grows, rank_of(scale), scale->type.shape),
                            arg_node(build_where(b, finite, arg_node(larger), arg_node(scale))),
                            arg_node(scale));
  Node *smaller = times(b, scale, infer_number(&b->in, "scale_backoff_factor"));
  Node *kept = build_where(b, grows, build_int(b, 0), arg_node(steps));
  return build_pair(
      b, build_where(b, failed, arg_node(smaller), arg_node(grown)),
      build_to(b, build_where(b, failed, build_int(b, 0), arg_node(kept)), count->type.dtype));
}
