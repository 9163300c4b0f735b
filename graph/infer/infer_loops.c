/* Loops whose data decides how often they run (graph/analysis/loops.h). */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

void infer_loop_test(Infer *in) {
  const ValueType *t = infer_tensor(in, "condition");
  if (t->dtype != DT_I1 || t->rank) infer_fail(in, E_GRAPH_LOOP_TEST, infer_type_text(in, t));
  in->result = *t;
}

/* Each carried value has the type of the next one, whose elements are copied to its memory. */
void infer_loop_end(Infer *in) {
  uint32_t n, nnext;
  const ValueType **x = infer_tensors(in, "carried", &n);
  const ValueType **next = infer_tensors(in, "next", &nnext);
  if (!n || n != nnext) infer_fail(in, E_GRAPH_LOOP_COUNT, n, nnext);
  for (uint32_t i = 0; i < n; i++) {
    bool same = x[i]->dtype == next[i]->dtype && x[i]->rank == next[i]->rank;
    for (uint32_t k = 0; same && k < x[i]->rank; k++)
      same = infer_equal(in, x[i]->shape[k], next[i]->shape[k]);
    if (!same || x[i]->is_complex)
      infer_fail(in, E_GRAPH_LOOP_CARRIED, i, infer_type_text(in, x[i]),
                 infer_type_text(in, next[i]));
  }
  in->g->has_loops = true;
  in->result = *infer_tensor(in, "test");
}

void infer_loop_result(Infer *in) {
  infer_tensor(in, "end");
  in->result = *infer_self(in);
}
