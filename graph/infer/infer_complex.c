/* Ops that make complex numbers, or take them apart.  Rules give the dtype of the parts; which
 * results are complex is said by the operators' rows. */
#include "graph/infer/places.h"
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* f32 or f64, the parts of complex numbers that we have. */
static void check_part_dtype(Infer *in, const ValueType *x) {
  if (x->dtype != DT_F32 && x->dtype != DT_F64)
    infer_fail(in, E_GRAPH_COMPLEX_PARTS, infer_type_text(in, x));
}

static void check_complex(Infer *in, const ValueType *x) {
  if (!x->is_complex) infer_fail(in, E_GRAPH_COMPLEX_WANTED, infer_type_text(in, x));
}

void infer_view_as_complex(Infer *in) {
  const ValueType *x = infer_self(in);
  check_part_dtype(in, x);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_same_size(in, x->shape[x->rank - 1], infer_const(in, 2), "the last axis and two parts");
  infer_remove_axes(in, x, 1u << (x->rank - 1));
}

void infer_view_as_real(Infer *in) {
  const ValueType *x = infer_self(in);
  check_complex(in, x);
  infer_insert_axis(in, x, x->rank, infer_const(in, 2));
}

void infer_imag(Infer *in) {
  check_complex(in, infer_self(in));
  in->result = *infer_self(in);
}

/* A complex number of a real and an imaginary part, or of a length and an angle. */
void infer_complex(Infer *in) {
  Dim shape[GRAPH_RANK_MAX];
  Operand parts[2];
  for (int i = 0; i < 2; i++) {
    const char *param = in->schema->params[i].name;
    check_part_dtype(in, infer_tensor(in, param));
    parts[i] = infer_operand(in, param);
  }
  uint32_t rank = infer_broadcast(in, parts, 2, shape);
  infer_same_dtype(in, infer_tensor(in, in->schema->params[0].name),
                   infer_tensor(in, in->schema->params[1].name));
  infer_set(in, parts[0].dtype, rank, shape);
}

/* A copy of pairs in another order of axes: the axes of `self`, of which the last has both parts,
 * have those strides in `source`. */
void infer_turned_pairs(Infer *in) {
  const ValueType *to = infer_self(in), *from = infer_tensor(in, "source");
  Dim at[GRAPH_RANK_MAX];
  check_part_dtype(in, from);
  infer_rank(in, infer_tensor(in, "row"), 1, 1);
  infer_rank(in, to, 2, GRAPH_RANK_MAX);
  infer_same_dtype(in, to, from);
  uint32_t n = infer_sizes(in, "at", at);
  for (uint32_t i = 0; i < n; i++) infer_exact_div(in, at[i], 2);
  infer_same_size(in, to->shape[to->rank - 1], infer_const(in, 2), "the last axis and two parts");
  infer_places(in, "at", from, to->rank - 1, to->shape);
  in->result = *to;
}
