/* The type of nereid.attention (graph/analysis/attention.h). */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

static const ValueType *attention_operand(Infer *in, const char *param, const ValueType *query) {
  const ValueType *x = infer_tensor(in, param);
  infer_rank(in, x, 4, 4);
  if (!query) return x;
  infer_same_dtype(in, query, x);
  infer_same_size(in, query->shape[0], x->shape[0], "the batches");
  infer_same_size(in, query->shape[1], x->shape[1], "the heads");
  return x;
}

static void check_attention_mask(Infer *in, const ValueType *q, const ValueType *k) {
  const ValueType *mask = infer_optional_tensor(in, "mask");
  if (!mask) return;
  Operand m = infer_tensor_operand(mask);
  Dim scores[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  infer_fits(in, &m, scores, 4);
}

void infer_fused_attention(Infer *in) {
  const ValueType *q = attention_operand(in, "query", NULL);
  const ValueType *k = attention_operand(in, "key", q), *v = attention_operand(in, "value", q);
  infer_need_float(in, q->dtype);
  infer_same_size(in, q->shape[3], k->shape[3], "the axes of query and key");
  infer_same_size(in, k->shape[2], v->shape[2], "the lengths of key and value");
  check_attention_mask(in, q, k);
  infer_number(in, "scale");
  if (infer_has(in, "low")) infer_size(in, "low");
  if (infer_has(in, "high")) infer_size(in, "high");
  int64_t splits = infer_int(in, "splits");
  if (splits <= 0) infer_fail(in, E_GRAPH_STEP, (long long)splits);
  Dim one = infer_const(in, 1);
  Dim columns = splits == 1 ? v->shape[3] : dim_add(in->g->dims, v->shape[3], one);
  Dim shape[] = {infer_const(in, splits), q->shape[0], q->shape[2], q->shape[1], columns};
  if (splits == 1) infer_set(in, q->dtype, 4, shape + 1);
  else infer_set(in, DT_F32, 5, shape);
}
