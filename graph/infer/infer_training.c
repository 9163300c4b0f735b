/* Operators of training: gradients, and losses as their gradients need them. */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* ---- element by element ---- */

/* The tensors broadcast; a gradient is a float. */
void infer_backward(Infer *in) {
  Operand x[8];
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < in->schema->nparams; i++) {
    const OpParam *p = &in->schema->params[i];
    if (p->type == PARAM_TENSOR && infer_has(in, p->name)) x[n++] = infer_operand(in, p->name);
  }
  DType t = infer_promote(in, x, n);
  infer_need_float(in, t);
  infer_set(in, t, infer_broadcast(in, x, n, shape), shape);
}

/* Of the gradient's type; the mask has the elements that were kept. */
void infer_dropout_backward(Infer *in) {
  const ValueType *grad = infer_self(in);
  Operand mask = infer_operand(in, "mask");
  infer_need_float(in, grad->dtype);
  infer_fits(in, &mask, grad->shape, grad->rank);
  in->result = *grad;
}

/* One for the operand and one for the weight, which was broadcast to it. */
void infer_prelu_backward(Infer *in) {
  infer_backward(in);
  infer_set_pair(in, in->result, in->result);
}

void infer_log_sigmoid_forward(Infer *in) {
  infer_need_float(in, infer_self(in)->dtype);
  infer_set_pair(in, *infer_self(in), *infer_self(in));
}

/* The operand has two halves along an axis, of the gradient's size each. */
void infer_glu_backward(Infer *in) {
  const ValueType *grad = infer_self(in), *x = infer_tensor(in, "self");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_rank(in, grad, x->rank, x->rank);
  infer_need_float(in, x->dtype);
  infer_same_dtype(in, grad, x);
  uint32_t axis = infer_axis_arg(in, "dim", x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    infer_same_size(in, grad->shape[i],
                    i == axis ? infer_exact_div(in, x->shape[i], 2) : x->shape[i],
                    "sizes of the gradient and of a half");
  in->result = *x;
}

/* ---- softmax ---- */

void infer_softmax_backward(Infer *in) {
  const ValueType *grad = infer_self(in);
  Operand y = infer_operand(in, "output");
  infer_axis_arg(in, "dim", grad->rank);
  infer_need_float(in, grad->dtype);
  infer_fits(in, &y, grad->shape, grad->rank);
  infer_set_like(in, infer_dtype(in, "input_dtype", grad->dtype), grad);
}

/* ---- losses ---- */

/* The loss, and the sum of the weights of all rows that count. */
void infer_nll_loss_forward(Infer *in) {
  infer_cross_entropy(in);
  infer_set_pair(in, in->result, infer_type(in, infer_self(in)->dtype, 0, NULL));
}

void infer_nll_loss_backward(Infer *in) {
  const ValueType *x = infer_tensor(in, "self"), *target = infer_tensor(in, "target");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_need_float(in, x->dtype);
  uint32_t axis = x->rank > 1;
  infer_rank(in, target, x->rank - 1, x->rank - 1);
  for (uint32_t i = 0; i < target->rank; i++)
    infer_same_size(in, target->shape[i], x->shape[i < axis ? i : i + 1],
                    "sizes of self and target");
  Operand grad = infer_operand(in, "grad_output");
  infer_fits(in, &grad, target->shape, target->rank);
  in->result = *x;
}
