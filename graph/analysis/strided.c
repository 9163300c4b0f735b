#include "graph/analysis/strided.h"

#include <math.h>
#include <string.h>

/* A term of the offset: what it multiplies one of the indices by; the number of that index, the
 * rank if it has none, or -1 if it is no such term. */
static int term_stride(Dims *d, Dim term, const Dim *index, int rank, Dim *stride) {
  *stride = term;
  if (!term->indexed) return rank;
  for (int i = 0; i < rank; i++)
    if (term == index[i]) {
      *stride = dim_int(d, 1);
      return i;
    }
  if (term->kind != DIM_PRODUCT) return -1;
  int found = -1;
  *stride = dim_int(d, term->value);
  for (uint32_t k = 0; k < term->n; k++) {
    int at = 0;
    while (at < rank && index[at] != term->args[k]) at++;
    bool is_index = at < rank;
    if (is_index ? found >= 0 : term->args[k]->indexed) return -1;
    if (is_index) found = at;
    else *stride = dim_mul(d, *stride, term->args[k]);
  }
  return found;
}

bool strided_offset(Dims *d, Dim offset, const Dim *index, int rank, Strided *out) {
  Dim constant = dim_int(d, offset->kind == DIM_SUM ? offset->value : 0);
  uint32_t terms = offset->kind == DIM_SUM ? offset->n : 1;
  out->offset = constant;
  for (int i = 0; i < rank; i++) out->stride[i] = dim_int(d, 0);
  for (uint32_t i = 0; i < terms; i++) {
    Dim stride;
    int axis =
        term_stride(d, offset->kind == DIM_SUM ? offset->args[i] : offset, index, rank, &stride);
    if (axis < 0) return false;
    Dim *to = axis == rank ? &out->offset : &out->stride[axis];
    *to = dim_add(d, *to, stride);
  }
  return true;
}

void strided_index(Dims *d, const Dim *shape, uint32_t rank, Dim *index) {
  static const char *const names[STRIDED_RANK_MAX] = {"i0", "i1", "i2", "i3", "i4"};
  for (uint32_t i = 0; i < rank; i++)
    index[i] = dim_is(shape[i], 1) ? dim_int(d, 0) : dim_shared_index(d, names[i], shape[i]);
}

bool strided_of(Graph *g, Node *n, Strided *out) {
  Dims *d = g->dims;
  Dim index[STRIDED_RANK_MAX], at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  uint32_t rank = n->type.rank;
  if (rank > STRIDED_RANK_MAX) return false;
  strided_index(d, n->type.shape, rank, index);
  memcpy(at, index, rank * sizeof *at);
  for (; prim_is_view(n) && view_has_index(n); n = view_operand(n)) {
    view_index(g, n, at, from);
    memcpy(at, from, sizeof at);
  }
  out->memory = n;
  return strided_offset(d, linear_of_index(d, at, n->type.shape, n->type.rank), index, (int)rank,
                        out);
}

bool strided_is_dense(Graph *g, Node *n) {
  Strided s;
  Dim stride = dim_int(g->dims, 1);
  if (!strided_of(g, n, &s) || !dim_is(s.offset, 0)) return false;
  for (uint32_t i = n->type.rank; i-- > 0;) {
    if (!dim_is(n->type.shape[i], 1) && s.stride[i] != stride) return false;
    stride = dim_mul(g->dims, stride, n->type.shape[i]);
  }
  return true;
}

static bool is_permutation(const Node *n) {
  if (!graph_is(n, OP_aten_permute_default) || n->nargs != 2) return false;
  const Arg *dims = &n->args[1];
  bool known = dims->kind == ARG_LIST && dims->n == n->type.rank;
  for (uint32_t i = 0; known && i < dims->n; i++)
    known = dims->items[i].kind == ARG_INT && dim_is_int(dims->items[i].dim);
  return known;
}

Node *strided_unpermuted(Node *n, uint32_t *axes) {
  for (uint32_t i = 0; i < n->type.rank; i++) axes[i] = i;
  for (; is_permutation(n); n = n->args[0].node)
    for (uint32_t i = 0; i < n->type.rank; i++) {
      int64_t axis = n->args[1].items[axes[i]].dim->value;
      axes[i] = (uint32_t)(axis < 0 ? axis + n->type.rank : axis);
    }
  return n;
}

static bool is_zero_arg(const Arg *a) {
  bool integer = a->kind == ARG_INT && dim_is(a->dim, 0);
  return integer || (a->kind == ARG_FLOAT && a->number == 0 && !signbit(a->number));
}

Node *strided_unpadded(Graph *g, const Node *n) {
  if (!graph_is(n, OP_aten_constant_pad_nd_default)) return NULL;
  Arg pad = graph_arg(g, n, "pad"), value = graph_arg(g, n, "value");
  bool last = pad.kind == ARG_LIST && pad.n == 2 && pad.items[0].kind == ARG_INT &&
              dim_is(pad.items[0].dim, 0) && pad.items[1].kind == ARG_INT &&
              dim_is_int(pad.items[1].dim) && pad.items[1].dim->value >= 0;
  return last && is_zero_arg(&value) ? n->args[0].node : NULL;
}

int64_t strided_word(DType t) { return t == DT_I8 ? STRIDED_WORD : t == DT_BF16 ? 2 : 1; }

bool strided_sums_words(Graph *g, const Node *product) {
  if (!g->host || product->args[0].kind != ARG_NODE) return false;
  DType t = product->args[0].node->type.dtype;
  bool bytes = graph_is(product, OP_nereid_int8_mm_default);
  if (!bytes && (t != DT_BF16 || !graph_is(product, OP_aten_mm_default))) return false;
  for (uint32_t i = 0; i < 2; i++) {
    Strided s;
    Node *x = product->args[i].node;
    uint32_t along = 1 - i;
    bool whole = dim_divisible(x->type.shape[along], strided_word(t));
    if (!whole || x->type.dtype != t || !strided_of(g, x, &s)) return false;
    bool gathered = s.memory->kind == NODE_CALL && prim_kind(s.memory->op) == PRIM_GATHER;
    if (gathered || !dim_is(s.stride[along], 1)) return false;
  }
  return true;
}
