/* Sequences and optional values.  The number of tensors of a sequence, the position of each, and
 * whether there is an optional value are known when the model is read, so that none is left in the
 * graph. */
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"

/* ---- items ---- */

/* The items of an input that is a sequence. */
static OnnxValue **onnx_items(OnnxCall *c, uint32_t i, uint32_t *n) {
  if (!onnx_has(c, i)) onnx_fail(c, E_ONNX_INPUT, i + 1);
  const OnnxValue *v = c->in[i];
  if (v->type.kind != VALUE_LIST) onnx_lack(c, "a tensor where a sequence is expected");
  *n = v->nitems;
  return v->items;
}

static void onnx_set_items(OnnxCall *c, uint32_t i, OnnxValue **items, uint32_t n) {
  if (!onnx_wants(c, i)) return;
  c->out[i]->type = (ValueType){.kind = VALUE_LIST};
  c->out[i]->items = items;
  c->out[i]->nitems = n;
}

enum { ITEMS_MAX = 1 << 22 }; /* of all sequences that a model makes */

static OnnxValue **sequence_room(OnnxCall *c, uint32_t n) {
  c->r->items += n;
  if (c->r->items > ITEMS_MAX) onnx_lack(c, "sequences of more than %d items", ITEMS_MAX);
  return ARENA_ARRAY(c->r->scratch, OnnxValue *, n + 1);
}

/* Position `i` among n, `otherwise` if it is left out; negative ones count from the end. */
static uint32_t sequence_index(OnnxCall *c, uint32_t input, uint32_t n, int64_t otherwise) {
  int64_t at = onnx_has(c, input) ? onnx_need_int(c, input) : otherwise;
  if (at < 0) at += n;
  if (at < 0 || at >= n) onnx_fail(c, E_ONNX_ITEM, (long long)at, n);
  return (uint32_t)at;
}

static void set_scalar(OnnxCall *c, DType t, int64_t value) {
  OnnxKnown *k = onnx_known_new(c, t, 0, NULL);
  k->at[0].dim = build_const(&c->b, value);
  onnx_set_known(c, 0, k);
}

/* ---- sequences ---- */

void onnx_op_sequence_construct(OnnxCall *c) {
  OnnxValue **items = sequence_room(c, c->nin);
  onnx_ignore(c, "dtype"); /* of SequenceEmpty */
  for (uint32_t i = 0; i < c->nin; i++) {
    onnx_type(c, i);
    items[i] = c->in[i];
  }
  onnx_set_items(c, 0, items, c->nin);
}

void onnx_op_sequence_insert(OnnxCall *c) {
  uint32_t n;
  OnnxValue **old = onnx_items(c, 0, &n), **items = sequence_room(c, n + 1);
  uint32_t at = onnx_has(c, 2) && onnx_need_int(c, 2) != n ? sequence_index(c, 2, n, 0) : n;
  onnx_type(c, 1);
  memcpy(items, old, at * sizeof *items);
  items[at] = c->in[1];
  memcpy(items + at + 1, old + at, (n - at) * sizeof *items);
  onnx_set_items(c, 0, items, n + 1);
}

void onnx_op_sequence_erase(OnnxCall *c) {
  uint32_t n;
  OnnxValue **old = onnx_items(c, 0, &n), **items = sequence_room(c, n);
  uint32_t at = sequence_index(c, 1, n, -1);
  memcpy(items, old, at * sizeof *items);
  memcpy(items + at, old + at + 1, (n - at - 1) * sizeof *items);
  onnx_set_items(c, 0, items, n - 1);
}

void onnx_op_sequence_at(OnnxCall *c) {
  uint32_t n;
  OnnxValue **items = onnx_items(c, 0, &n);
  onnx_set_alias(c, 0, items[sequence_index(c, 1, n, 0)]);
}

void onnx_op_sequence_length(OnnxCall *c) {
  uint32_t n;
  onnx_items(c, 0, &n);
  set_scalar(c, DT_I64, n);
}

void onnx_op_concat_from_sequence(OnnxCall *c) {
  Build *b = &c->b;
  uint32_t n;
  OnnxValue **items = onnx_items(c, 0, &n);
  bool new_axis = onnx_flag(c, "new_axis", false);
  if (!n) onnx_lack(c, "a sequence without tensors");
  Node **tensors = ARENA_ARRAY(c->r->scratch, Node *, n);
  for (uint32_t i = 0; i < n; i++) tensors[i] = onnx_node_of(c, items[i]);
  uint32_t rank = rank_of(tensors[0]);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank + new_axis);
  for (uint32_t i = 0; i < n && new_axis; i++) {
    infer_rank(&b->in, &tensors[i]->type, rank, rank);
    tensors[i] = build_unsqueeze(b, tensors[i], axis);
  }
  onnx_set(c, 0, build_cat(b, n, tensors, axis));
  onnx_set_form(c, 0, items[0]->form);
}

/* ---- SplitToSequence ---- */

static OnnxValue *item_value(OnnxCall *c, Node *n) {
  OnnxValue *v = onnx_value_new(c->r, n->name);
  v->node = n;
  v->type = n->type;
  v->form = c->in[0]->form;
  return v;
}

/* The ends of the parts, from a vector of their sizes. */
static uint32_t given_parts(OnnxCall *c, const OnnxKnown *k, Dim size, Dim *end) {
  Dim sum = build_const(&c->b, 0);
  for (uint32_t i = 0; i < k->n; i++) {
    if (dim_range(onnx_dims(c), k->at[i].dim).lo < 0) onnx_lack(c, "parts of negative size");
    end[i] = sum = dim_add(onnx_dims(c), sum, k->at[i].dim);
  }
  infer_same_size(&c->b.in, size, sum, "the parts");
  return k->n;
}

/* Splits into parts of one size, of which the last may be smaller. */
static uint32_t equal_parts(OnnxCall *c, int64_t each, Dim size, Dim *end) {
  if (each < 1) onnx_fail(c, E_GRAPH_STEP, (long long)each);
  if (!dim_is_int(size)) onnx_lack(c, "an axis of symbolic size");
  int64_t n = size->value / each + (size->value % each != 0);
  if (n > ONNX_KNOWN_MAX) onnx_lack(c, "more than %d parts", ONNX_KNOWN_MAX);
  for (int64_t i = 0; i < n; i++) end[i] = build_const(&c->b, (i + 1) * each);
  if (n) end[n - 1] = size;
  return (uint32_t)n;
}

static uint32_t parts_of(OnnxCall *c, Dim size, Dim *end) {
  const OnnxKnown *k = onnx_has(c, 1) ? onnx_need(c, 1) : NULL;
  if (k && k->rank == 1 && !dtype_is_float(k->dtype)) return given_parts(c, k, size, end);
  return equal_parts(c, k ? onnx_need_int(c, 1) : 1, size, end);
}

void onnx_op_split_to_sequence(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  uint32_t axis = onnx_axis_attr(c, "axis", 0, rank_of(x));
  bool keep = onnx_flag(c, "keepdims", true) || onnx_has(c, 1);
  Dim *end = ARENA_ARRAY(c->r->scratch, Dim, ONNX_KNOWN_MAX), at = build_const(b, 0);
  uint32_t n = parts_of(c, x->type.shape[axis], end);
  OnnxValue **items = sequence_room(c, n);
  for (uint32_t i = 0; i < n; at = end[i++]) {
    Node *part = keep ? build_slice(b, x, axis, at, end[i], 1) : build_select(b, x, axis, at);
    items[i] = item_value(c, part);
  }
  onnx_set_items(c, 0, items, n);
}

/* ---- SequenceMap ---- */

/* The body for each item, and for those at the same position in further sequences; a further input
 * that is a tensor is the same for all. */
void onnx_op_sequence_map(OnnxCall *c) {
  uint32_t n, other;
  onnx_items(c, 0, &n);
  const struct Onnx__Graph *body = onnx_graph(c, "body");
  OnnxValue **in = ARENA_ARRAY(c->r->scratch, OnnxValue *, c->nin);
  OnnxValue **out = ARENA_ARRAY(c->r->scratch, OnnxValue *, c->nout);
  OnnxValue ***all = ARENA_ARRAY(c->r->scratch, OnnxValue **, c->nout);
  for (uint32_t k = 0; k < c->nout; k++) all[k] = sequence_room(c, n);
  for (uint32_t k = 0; k < c->nin; k++) {
    if (!onnx_has(c, k)) onnx_fail(c, E_ONNX_INPUT, k + 1);
    if (c->in[k]->type.kind != VALUE_LIST) continue;
    onnx_items(c, k, &other);
    if (other != n) onnx_fail(c, E_ONNX_MAP, k + 1, other, n);
  }
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < c->nin; k++)
      in[k] = c->in[k]->type.kind == VALUE_LIST ? c->in[k]->items[i] : c->in[k];
    onnx_read_body(c, body, in, c->nin, out, c->nout);
    for (uint32_t k = 0; k < c->nout; k++) {
      if (out[k]->type.kind != VALUE_TENSOR) onnx_lack(c, "a body whose result is no tensor");
      all[k][i] = out[k];
    }
  }
  for (uint32_t k = 0; k < c->nout; k++) onnx_set_items(c, k, all[k], n);
}

/* ---- optional values: whether there is one is known ---- */

void onnx_op_optional(OnnxCall *c) {
  onnx_ignore(c, "type");
  if (onnx_has(c, 0)) onnx_set_alias(c, 0, c->in[0]);
  else onnx_set_absent(c, 0);
}

void onnx_op_get_element(OnnxCall *c) {
  if (!onnx_has(c, 0)) onnx_fail(c, E_ONNX_ABSENT);
  onnx_set_alias(c, 0, c->in[0]);
}

void onnx_op_has_element(OnnxCall *c) { set_scalar(c, DT_I1, onnx_has(c, 0)); }
