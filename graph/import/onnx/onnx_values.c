#include <string.h>

#include "graph/import/onnx/onnx_read.h"
#include "graph/infer/node_builder.h"
#include "graph/messages.h"
#include "runtime/support/array.h"

/* ---- scopes ---- */

OnnxValue *onnx_value_new(Onnx *r, Name name) {
  OnnxValue *v = ARENA_NEW(r->scratch, OnnxValue);
  v->name = name;
  return v;
}

OnnxValue *onnx_value_of_tensor(Onnx *r, const Onnx__Tensor *t, Name name) {
  OnnxValue *v = onnx_value_new(r, name);
  v->tensor = t;
  return onnx_tensor_type(r, t, name, &v->type) ? v : NULL;
}

OnnxValue *onnx_scope_find(const OnnxScope *s, Name name) {
  OnnxValue *v = NULL;
  for (; s && !v; s = s->outer) v = namemap_get(&s->values, name);
  return v;
}

bool onnx_scope_define(Onnx *r, OnnxScope *s, OnnxValue *v) {
  void **slot = namemap_put(r->scratch, &s->values, v->name);
  if (*slot) return onnx_error(r, v->name, E_ONNX_TWICE);
  *slot = v;
  return true;
}

/* ---- elements that are known ---- */

void onnx_value_set_known(Onnx *r, OnnxValue *v, const OnnxKnown *k) {
  Dim shape[GRAPH_RANK_MAX];
  v->known = k;
  if (v->type.kind == VALUE_TENSOR) return;
  for (uint32_t i = 0; i < k->rank; i++) shape[i] = dim_int(r->graph->dims, k->shape[i]);
  v->type = value_tensor(r->graph, k->dtype, k->rank, shape);
}

/* A compact host tensor of that type? */
static bool tensor_fits_type(const nereid_tensor *t, const ValueType *type) {
  if (!t->data || t->device.device_type != 1) return false;
  if (array_dtype(t->dtype) != type->dtype || (uint32_t)t->ndim != type->rank) return false;
  int64_t step = 1;
  for (uint32_t i = type->rank; i--; step *= t->shape[i]) {
    if (t->shape[i] < 0 || t->shape[i] > ONNX_KNOWN_MAX || step > ONNX_KNOWN_MAX) return false;
    if (dim_is_int(type->shape[i]) && !dim_is(type->shape[i], t->shape[i])) return false;
    if (t->strides && t->shape[i] != 1 && t->strides[i] != step) return false;
  }
  return step <= ONNX_KNOWN_MAX;
}

/* From now on the graph is for this value of the input. */
static void fix_input(Onnx *r, Node *input, const OnnxKnown *k) {
  InputValue *fixed = ARENA_NEW(r->arena, InputValue);
  fixed->n = k->n;
  if (dtype_is_float(k->dtype)) fixed->floats = ARENA_ARRAY(r->arena, double, k->n);
  else fixed->ints = ARENA_ARRAY(r->arena, int64_t, k->n);
  for (uint32_t i = 0; i < k->n; i++)
    if (fixed->floats) fixed->floats[i] = k->at[i].number;
    else fixed->ints[i] = k->at[i].dim->value;
  input->input.fixed = fixed;
}

/* The tensor that the caller gave for an input, by its place or its name; NULL if there is none. */
static const nereid_tensor *given_tensor(const Onnx *r, const OnnxValue *v) {
  const OnnxGiven *given = &r->given;
  for (uint32_t i = 0; i < given->n; i++) {
    const char *name = given->names ? given->names[i] : NULL;
    if (name ? !strcmp(name, v->name) || !strcmp(name, v->input->name) : i == v->number)
      return &given->tensors[i];
  }
  return NULL;
}

/* The value that the caller gave for an input; NULL if there is none that fits. */
static const OnnxKnown *given_value(Onnx *r, const OnnxValue *v) {
  const nereid_tensor *t = given_tensor(r, v);
  if (!t || !tensor_fits_type(t, &v->type)) return NULL;
  OnnxKnown *k = ARENA_NEW(r->arena, OnnxKnown);
  int64_t *shape = ARENA_ARRAY(r->arena, int64_t, v->type.rank);
  *k = (OnnxKnown){.dtype = v->type.dtype, .rank = v->type.rank, .shape = shape, .n = 1};
  for (uint32_t i = 0; i < k->rank; i++) k->n *= (uint32_t)(shape[i] = t->shape[i]);
  k->at = ARENA_ARRAY(r->arena, OnnxElement, k->n);
  const uint8_t *bytes = (const uint8_t *)t->data + t->byte_offset;
  if (!onnx_elements(r, k->dtype, bytes, k->n, k->at)) return NULL;
  fix_input(r, v->input, k);
  return k;
}

/* Evaluates the node that made a value, whose inputs are asked for their values in turn. */
static void evaluate(Onnx *r, OnnxCall *c) {
  if (!c->op || !c->op->fold || r->demands == ONNX_DEMAND_MAX) return;
  r->demands++;
  c->demanding = true;
  if (!setjmp(c->b.in.failed)) c->op->fold(c);
  c->demanding = false;
  r->demands--;
}

const OnnxKnown *onnx_value_known(Onnx *r, OnnxValue *v, bool demand) {
  if (v->known || v->type.kind != VALUE_TENSOR) return v->known;
  if (v->tensor && !v->evaluated) {
    v->evaluated = true;
    v->known = onnx_tensor_known(r, v->tensor, v->name);
  } else if (demand && v->input) {
    v->known = given_value(r, v);
  } else if (demand && v->maker && !v->evaluated) {
    v->evaluated = true;
    evaluate(r, v->maker);
  }
  return v->known;
}

const Node *onnx_value_source(const OnnxValue *v) {
  for (uint32_t i = 0; v && i < ONNX_DEMAND_MAX; i++) {
    if (v->input) return v->input;
    const OnnxCall *c = v->maker;
    const OnnxValue *from = NULL;
    for (uint32_t k = 0; c && c->op && c->op->fold && k < c->nin && !from; k++)
      if (c->in[k] && !c->in[k]->known) from = c->in[k];
    v = from;
  }
  return NULL;
}

/* ---- nodes of values ---- */

/* A node for a tensor of the file, or one that was computed while it was read. */
static Node *stored_node(Onnx *r, const OnnxValue *v, const char *prefix, InputKind kind) {
  Node *before = r->last_input ? r->last_input->next : r->graph->first;
  Node *n = graph_node(r->graph, NODE_INPUT, before, 0, 0);
  const char *name = onnx_identifier(r, v->name, "tensor");
  graph_fresh_name(r->graph, n, arena_printf(r->arena, "%s_%s", prefix, name));
  n->place = r->place;
  n->input.kind = kind;
  n->input.target = n->name;
  n->type = v->type;
  return r->last_input = n;
}

/* What messages and models call a tensor: its name in the file, if no other has it. */
static Name tensor_name(Onnx *r, const OnnxValue *v, const Node *n) {
  bool free = *v->name && !weights_find(r->weights, v->name);
  return free ? v->name : pool_name(r->names, arena_printf(r->arena, "%s (%s)", n->name, v->name));
}

static Node *bind(Onnx *r, const OnnxValue *v, Node *n, WeightBytes bytes) {
  int64_t shape[GRAPH_RANK_MAX], strides[GRAPH_RANK_MAX], step = 1;
  for (uint32_t i = v->type.rank; i--; step *= shape[i] ? shape[i] : 1) {
    shape[i] = v->type.shape[i]->value;
    strides[i] = step;
  }
  Weight w = {.name = tensor_name(r, v, n), .dtype = v->type.dtype, .rank = v->type.rank};
  w.shape = shape;
  w.strides = strides;
  if ((uintptr_t)bytes.data % dtype_bytes(w.dtype)) {
    void *copy = arena_alloc(r->arena, bytes.size);
    bytes.data = memcpy(copy, bytes.data, bytes.size);
  }
  n->input.tensor = w.name;
  Weight *added = weights_add(r->weights, r->diags, r->place, w, 0, bytes);
  if (added) weights_bind(r->weights, added, n->input.target);
  return added ? n : NULL;
}

/* A body's tensor is one for all its turns. */
static Node *tensor_node(Onnx *r, const OnnxValue *v) {
  WeightBytes bytes;
  void **slot = namemap_put(r->scratch, &r->stored, (const char *)v->tensor);
  if (*slot) return *slot;
  if (!onnx_tensor_bytes(r, v->tensor, v->name, &v->type, &bytes)) return NULL;
  return *slot = bind(r, v, stored_node(r, v, "p", INPUT_PARAMETER), bytes);
}

static Arg element_arg(const OnnxKnown *k, uint32_t i) {
  if (k->dtype == DT_I1 && dim_is_int(k->at[i].dim)) return arg_bool(k->at[i].dim->value);
  return dtype_is_float(k->dtype) ? arg_float(k->at[i].number) : arg_dim(k->at[i].dim);
}

static bool same_element(const OnnxKnown *k, uint32_t i, uint32_t j) {
  if (!dtype_is_float(k->dtype)) return k->at[i].dim == k->at[j].dim;
  return !memcmp(&k->at[i].number, &k->at[j].number, sizeof k->at[i].number);
}

/* Elements with symbols are computed, each for itself. */
static Node *symbolic_node(Build *b, const OnnxValue *v) {
  const OnnxKnown *k = v->known;
  Node **items = ARENA_ARRAY(b->in.g->arena, Node *, k->n);
  Dim one = build_const(b, 1);
  for (uint32_t i = 0; i < k->n; i++)
    items[i] = build_full(b, 1, &one, element_arg(k, i), k->dtype);
  return build_view(b, build_cat(b, k->n, items, 0), v->type.rank, v->type.shape);
}

static Node *literal_node(Onnx *r, const OnnxValue *v) {
  const OnnxKnown *k = v->known;
  size_t size = dtype_bytes(k->dtype);
  uint8_t *bytes = arena_array(r->arena, k->n, size);
  for (uint32_t i = 0; i < k->n; i++) onnx_element_store(k->dtype, k->at[i], bytes + i * size);
  Node *n = stored_node(r, v, "c", INPUT_CONSTANT);
  return bind(r, v, n, (WeightBytes){bytes, k->n * size, "the model"});
}

static Node *known_node(Onnx *r, const OnnxValue *v) {
  const OnnxKnown *k = v->known;
  Node stand = {.name = onnx_identifier(r, v->name, "value"), .place = r->place};
  if (v->maker) stand.origin = v->maker->stand.origin;
  Build b = {.in = {.g = r->graph, .n = &stand}};
  bool literal = true, equal = k->n > 0;
  for (uint32_t i = 0; i < k->n; i++) {
    literal &= dtype_is_float(k->dtype) || dim_is_int(k->at[i].dim);
    equal &= same_element(k, 0, i);
  }
  if (setjmp(b.in.failed)) return NULL;
  if (equal) return build_full(&b, v->type.rank, v->type.shape, element_arg(k, 0), k->dtype);
  return literal ? literal_node(r, v) : symbolic_node(&b, v);
}

Node *onnx_value_node(Onnx *r, OnnxValue *v) {
  if (v->node) return v->node;
  bool single = v->tensor && v->type.rank == 0;
  if (v->known || (single && onnx_value_known(r, v, false))) v->node = known_node(r, v);
  else if (v->tensor) v->node = tensor_node(r, v);
  return v->node;
}
