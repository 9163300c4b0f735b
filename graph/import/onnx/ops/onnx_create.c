/* Operators that make tensors of nothing. */
#include <string.h>

#include "graph/import/onnx/onnx_read.h"
#include "graph/messages.h"

void onnx_op_constant(OnnxCall *c) {
  static const char *const names[] = {"value",      "value_float",  "value_floats", "value_int",
                                      "value_ints", "value_string", "value_strings"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!onnx_has_attr(c, names[i])) continue;
    OnnxValue *v = onnx_tensor(c, names[i]);
    if (!onnx_wants(c, 0)) return;
    c->out[0]->type = v->type;
    c->out[0]->tensor = v->tensor;
    c->out[0]->known = v->known;
    return;
  }
  if (onnx_has_attr(c, "sparse_value")) onnx_lack(c, "sparse tensors");
  onnx_fail(c, E_ONNX_ATTR_MISSING, "value");
}

void onnx_op_constant_of_shape(OnnxCall *c) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = onnx_need_dims(c, 0, shape);
  Arg fill = arg_float(0);
  DType t = DT_F32;
  if (onnx_has_attr(c, "value")) {
    const OnnxKnown *k = onnx_tensor_known_attr(c, "value");
    if (!k || k->n != 1) onnx_fail(c, E_ONNX_SINGLE, "value");
    t = k->dtype;
    fill = dtype_is_float(t) ? arg_float(k->at[0].number) : arg_dim(k->at[0].dim);
    if (t == DT_I1) fill = arg_bool(k->at[0].dim->value);
  }
  onnx_set(c, 0, build_full(&c->b, rank, shape, fill, t));
}

static Arg number_attribute_arg(OnnxCall *c, uint32_t i) {
  const OnnxKnown *k = onnx_need(c, i);
  if (k->n != 1) onnx_fail(c, E_ONNX_SINGLE, c->in[i]->name);
  return dtype_is_float(k->dtype) ? arg_float(k->at[0].number) : arg_dim(k->at[0].dim);
}

void onnx_op_range(OnnxCall *c) {
  Arg args[] = {number_attribute_arg(c, 0), number_attribute_arg(c, 1), number_attribute_arg(c, 2)};
  DType t = onnx_type(c, 0)->dtype;
  onnx_set(c, 0,
           build_with_named(&c->b, OP_aten_arange_start_step, 3, args, "dtype", arg_dtype(t)));
}

/* The upper or lower triangle of the last two axes, from the diagonal that input 1 says. */
void onnx_op_trilu(OnnxCall *c) {
  bool upper = onnx_flag(c, "upper", true);
  Arg k = build_int(&c->b, onnx_has(c, 1) ? onnx_need_int(c, 1) : 0);
  OpId op = upper ? OP_aten_triu_default : OP_aten_tril_default;
  onnx_set(c, 0, build_with(&c->b, op, onnx_in(c, 0), k));
}
