#include <string.h>

#include "graph/builders/node_builder.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"
#include "lang/interp/interp.h"
#include "runtime/support/array.h"

/* ---- TensorProtos: their types and elements ---- */

/* ---- dtypes ---- */

static const struct {
  DType dtype;
  const char *name;
} dtypes[] = {{DT_NONE, "undefined"},
              {DT_F32, "float"},
              {DT_U8, "uint8"},
              {DT_I8, "int8"},
              {DT_U16, "uint16"},
              {DT_I16, "int16"},
              {DT_I32, "int32"},
              {DT_I64, "int64"},
              {DT_NONE, "string"},
              {DT_I1, "bool"},
              {DT_F16, "float16"},
              {DT_F64, "double"},
              {DT_U32, "uint32"},
              {DT_U64, "uint64"},
              {DT_NONE, "complex64"},
              {DT_NONE, "complex128"},
              {DT_BF16, "bfloat16"},
              {DT_F8E4NV, "float8e4m3fn"},
              {DT_NONE, "float8e4m3fnuz"},
              {DT_F8E5, "float8e5m2"},
              {DT_NONE, "float8e5m2fnuz"},
              {DT_NONE, "uint4"},
              {DT_NONE, "int4"},
              {DT_NONE, "float4e2m1"},
              {DT_NONE, "float8e8m0"},
              {DT_NONE, "uint2"},
              {DT_NONE, "int2"}};

/* Dtypes whose elements are bytes. */
static const struct {
  int number;
  OnnxForm form;
  DType bytes;
} forms[] = {{18, FORM_E4M3FNUZ, DT_U8}, {20, FORM_E5M2FNUZ, DT_U8}, {21, FORM_INT4, DT_U8},
             {22, FORM_INT4, DT_I8},     {23, FORM_E2M1, DT_U8},     {24, FORM_E8M0, DT_U8},
             {25, FORM_INT2, DT_U8},     {26, FORM_INT2, DT_I8}};

enum { DTYPES_COUNT = sizeof dtypes / sizeof *dtypes, EXTERNAL = 1 };

DType onnx_dtype(int64_t number) {
  return number >= 0 && number < DTYPES_COUNT ? dtypes[number].dtype : DT_NONE;
}

static const char *dtype_name_of(Onnx *r, int64_t number) {
  if (number >= 0 && number < DTYPES_COUNT) return dtypes[number].name;
  return arena_printf(r->arena, "number %lld", (long long)number);
}

const char *onnx_lacking_dtype(Onnx *r, int64_t number) {
  r->has_strings |= number == ONNX_STRING;
  return arena_printf(r->arena, E_ONNX_LACK_DTYPE, dtype_name_of(r, number));
}

DType onnx_narrow_dtype(int64_t number, OnnxForm *form) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (forms[i].number == number) return *form = forms[i].form, forms[i].bytes;
  *form = FORM_PLAIN;
  return onnx_dtype(number);
}

/* ---- types ---- */

static bool onnx_tensor_type(Onnx *r, const Onnx__Tensor *t, const char *where, ValueType *type) {
  Dim shape[GRAPH_RANK_MAX];
  int64_t bytes = 8;
  *type = (ValueType){.kind = VALUE_UNKNOWN};
  if (t->n_dims > GRAPH_RANK_MAX)
    return onnx_error(r, where, E_ONNX_RANK, t->n_dims, GRAPH_RANK_MAX);
  for (size_t i = 0; i < t->n_dims; i++) {
    if (t->dims[i] < 0) return onnx_error(r, where, E_ONNX_NEGATIVE, (long long)t->dims[i]);
    if (t->dims[i] && __builtin_mul_overflow(bytes, t->dims[i], &bytes))
      return onnx_error(r, where, E_ONNX_TOO_LARGE);
    shape[i] = dim_int(r->graph->dims, t->dims[i]);
  }
  OnnxForm form;
  DType dtype = onnx_narrow_dtype(t->data_type, &form);
  if (t->data_type == ONNX_STRING) dtype = DT_I64;
  if (dtype) *type = value_tensor(r->graph, dtype, (uint32_t)t->n_dims, shape);
  else
    onnx_note_unknown(r, onnx_lacking_dtype(r, t->data_type), where);
  return true;
}

static uint64_t shape_numel(const ValueType *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->shape[i]->value;
  return n;
}

/* ---- bytes ---- */

/* Decimal digits, as external_data has its numbers; false if it is none. */
static bool read_decimal(const char *text, uint64_t *out) {
  *out = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    if (__builtin_mul_overflow(*out, 10, out)) return false;
    if (__builtin_add_overflow(*out, (uint64_t)(*text - '0'), out)) return false;
  }
  return true;
}

static bool external_bytes(Onnx *r, const Onnx__Tensor *t, const char *where, uint64_t need,
                           WeightBytes *out) {
  const char *location = "";
  uint64_t at = 0, size = need;
  for (size_t i = 0; i < t->n_external_data; i++) {
    const char *key = onnx_text(t->external_data[i]->key);
    const char *value = onnx_text(t->external_data[i]->value);
    bool ok = true;
    if (!strcmp(key, "location")) location = value;
    else if (!strcmp(key, "offset")) ok = read_decimal(value, &at);
    else if (!strcmp(key, "length")) ok = read_decimal(value, &size);
    if (!ok) return onnx_error(r, where, E_ONNX_EXTERNAL_NUMBER, key);
  }
  return onnx_external(r->file, where, location, at, size, out);
}

/* The field that holds elements of that dtype, other than raw_data: their number, and what one of
 * them takes there. */
static const void *typed_data(const Onnx__Tensor *t, DType dtype, size_t *n, size_t *size) {
  switch (dtype) {
    case DT_F32: return *n = t->n_float_data, *size = 4, t->float_data;
    case DT_F64: return *n = t->n_double_data, *size = 8, t->double_data;
    case DT_I64: return *n = t->n_int64_data, *size = 8, t->int64_data;
    case DT_U32:
    case DT_U64: return *n = t->n_uint64_data, *size = 8, t->uint64_data;
    default: return *n = t->n_int32_data, *size = 4, t->int32_data;
  }
}

/* On a little-endian machine an element's low bytes are the element. */
static bool typed_bytes(Onnx *r, const Onnx__Tensor *t, const ValueType *type, WeightBytes *out) {
  size_t n, from, to = dtype_bytes(type->dtype);
  const uint8_t *data = typed_data(t, type->dtype, &n, &from);
  uint8_t *copy = arena_array(r->arena, n, to);
  for (size_t i = 0; i < n; i++) memcpy(copy + i * to, data + i * from, to);
  *out = (WeightBytes){copy, n * to, "the model"};
  return true;
}

static bool raw_bytes(Onnx *r, const Onnx__Tensor *t, const ValueType *type, WeightBytes *out) {
  if (t->has_raw_at) return onnx_bytes(r->file, t->raw_at, t->raw_size, out);
  if (!t->has_raw_data) return typed_bytes(r, t, type, out);
  void *copy = arena_alloc(r->arena, t->raw_data.len);
  if (t->raw_data.len) memcpy(copy, t->raw_data.data, t->raw_data.len);
  *out = (WeightBytes){copy, t->raw_data.len, "the model"};
  return true;
}

/* Elements of so few bits, the first in the lowest, become bytes. */
static void unpack_elements(Onnx *r, uint64_t n, unsigned bits, bool is_signed,
                            WeightBytes *bytes) {
  const uint8_t *packed = (const uint8_t *)bytes->data;
  uint8_t *out = ARENA_ARRAY(r->arena, uint8_t, n), sign = is_signed ? 1 << (bits - 1) : 0;
  for (uint64_t i = 0; i < n; i++) {
    uint8_t x = packed[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
    out[i] = (uint8_t)((x ^ sign) - sign);
  }
  bytes->data = out;
  bytes->size = n;
}

/* Its elements in memory; false after an error. */
static bool onnx_tensor_bytes(Onnx *r, const Onnx__Tensor *t, const char *where,
                              const ValueType *type, WeightBytes *out) {
  OnnxForm form;
  onnx_narrow_dtype(t->data_type, &form);
  unsigned bits = onnx_form_bits(form);
  uint64_t n = shape_numel(type), need = n * dtype_bytes(type->dtype);
  if (bits) need = (n * bits + 7) / 8;
  bool external = t->data_location == EXTERNAL;
  bool ok = t->data_type == ONNX_STRING ? onnx_text_bytes(r, t, n, out)
            : external                  ? external_bytes(r, t, where, need, out)
                                        : raw_bytes(r, t, type, out);
  if (!ok) return false;
  if (out->size != need) return onnx_error(r, where, E_ONNX_BYTES, (size_t)need, out->size);
  if (bits) unpack_elements(r, n, bits, dtype_is_signed(type->dtype), out);
  return true;
}

/* ---- elements ---- */

static bool onnx_elements(Onnx *r, DType t, const uint8_t *bytes, uint32_t n, OnnxElement *out) {
  for (uint32_t i = 0; i < n; i++, bytes += dtype_bytes(t)) {
    Scalar x = scalar_load(t, bytes);
    if (dtype_is_float(t)) out[i].number = x.f;
    else if (t == DT_U64 && x.i < 0) return false;
    else out[i].dim = dim_int(r->graph->dims, t == DT_I1 ? x.i != 0 : x.i);
  }
  return true;
}

static void onnx_element_store(DType t, OnnxElement e, uint8_t *to) {
  if (dtype_is_float(t)) scalar_store(t, (Scalar){.f = scalar_round(t, e.number)}, to);
  else scalar_store(t, (Scalar){.i = e.dim->value}, to);
}

/* Is a tensor of that shape small enough?  Of its parts the same holds, whatever axis is 0. */
static bool onnx_can_know(uint32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] < 0 || shape[i] > ONNX_KNOWN_MAX) return false;
    if (shape[i]) n *= shape[i];
    if (n > ONNX_KNOWN_MAX) return false;
  }
  return true;
}

/* Counts elements that are evaluated; false after an error: they are too many. */
static bool onnx_count_elements(Onnx *r, const char *where, uint32_t n) {
  r->elements += n;
  if (r->elements <= ONNX_ELEMENTS_MAX) return true;
  return onnx_error(r, where, E_ONNX_ELEMENTS, ONNX_ELEMENTS_MAX);
}

/* Its elements, NULL if there are too many, or after an error. */
static const OnnxKnown *onnx_tensor_known(Onnx *r, const Onnx__Tensor *t, const char *where) {
  ValueType type;
  WeightBytes bytes;
  if (!onnx_tensor_type(r, t, where, &type) || type.kind != VALUE_TENSOR) return NULL;
  if (!onnx_can_know(type.rank, t->dims)) return NULL;
  if (!onnx_tensor_bytes(r, t, where, &type, &bytes)) return NULL;
  OnnxKnown *k = ARENA_NEW(r->arena, OnnxKnown);
  int64_t *shape = ARENA_ARRAY(r->arena, int64_t, type.rank);
  for (uint32_t i = 0; i < type.rank; i++) shape[i] = t->dims[i];
  *k = (OnnxKnown){type.dtype, type.rank, shape, (uint32_t)shape_numel(&type), NULL};
  if (!onnx_count_elements(r, where, k->n)) return NULL;
  k->at = ARENA_ARRAY(r->arena, OnnxElement, k->n);
  return onnx_elements(r, type.dtype, bytes.data, k->n, k->at) ? k : NULL;
}

/* ---- scopes ---- */

OnnxValue *onnx_value_new(Onnx *r, Name name) {
  OnnxValue *v = ARENA_NEW(r->scratch, OnnxValue);
  v->name = name;
  return v;
}

OnnxValue *onnx_value_of_tensor(Onnx *r, const Onnx__Tensor *t, Name name) {
  OnnxValue *v = onnx_value_new(r, name);
  v->tensor = t;
  v->is_text = t->data_type == ONNX_STRING;
  onnx_narrow_dtype(t->data_type, &v->form);
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

const nereid_tensor *onnx_given_tensor(const Onnx *r, const OnnxValue *v) {
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
  const nereid_tensor *t = onnx_given_tensor(r, v);
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
static void evaluate_call(Onnx *r, OnnxCall *c) {
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
    const OnnxCall *c = v->maker;
    evaluate_call(r, v->maker);
    bool is_alias = v->number < c->nout && c->out[v->number] && c->out[v->number] != v;
    if (is_alias && !v->known) v->known = c->out[v->number]->known;
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
  n->location = r->location;
  n->input.kind = kind;
  n->input.target = n->name;
  n->type = v->type;
  return r->last_input = n;
}

/* A tensor's name in messages and models: its name in the file, if no other has it. */
static Name tensor_name(Onnx *r, const OnnxValue *v, const Node *n) {
  bool free = *v->name && !weights_find(r->weights, v->name);
  return free ? v->name : pool_name(r->names, arena_printf(r->arena, "%s (%s)", n->name, v->name));
}

static Node *bind_value(Onnx *r, const OnnxValue *v, Node *n, WeightBytes bytes) {
  int64_t shape[GRAPH_RANK_MAX], strides[GRAPH_RANK_MAX], step = 1;
  for (uint32_t i = v->type.rank; i--; step *= shape[i] ? shape[i] : 1) {
    shape[i] = v->type.shape[i]->value;
    strides[i] = step;
  }
  Weight w = {.name = tensor_name(r, v, n), .dtype = v->type.dtype, .rank = v->type.rank};
  w.shape = shape;
  w.strides = strides;
  bytes.data = onnx_aligned(r->file, bytes.data, bytes.size, dtype_bytes(w.dtype));
  w.mapped = onnx_is_mapped(r->file, bytes.data);
  n->input.tensor = w.name;
  Weight *added = weights_add(r->weights, r->diags, r->location, w, 0, bytes);
  if (added) weights_bind(r->weights, added, n->input.target);
  return added ? n : NULL;
}

const void *onnx_tensor_data(Onnx *r, const OnnxValue *v, size_t *size) {
  WeightBytes bytes;
  if (!onnx_tensor_bytes(r, v->tensor, v->name, &v->type, &bytes)) return NULL;
  *size = bytes.size;
  return bytes.size ? memcpy(arena_alloc(r->arena, bytes.size), bytes.data, bytes.size) : "";
}

/* A body's tensor is one for all its turns. */
static Node *tensor_node(Onnx *r, const OnnxValue *v) {
  WeightBytes bytes;
  void **slot = namemap_put(r->scratch, &r->stored, (const char *)v->tensor);
  if (*slot) return *slot;
  if (!onnx_tensor_bytes(r, v->tensor, v->name, &v->type, &bytes)) return NULL;
  return *slot = bind_value(r, v, stored_node(r, v, "p", INPUT_PARAMETER), bytes);
}

static Arg element_arg(const OnnxKnown *k, uint32_t i) {
  if (k->dtype == DT_I1 && dim_is_int(k->at[i].dim)) return arg_bool(k->at[i].dim->value);
  return dtype_is_float(k->dtype) ? arg_float(k->at[i].number) : arg_dim(k->at[i].dim);
}

static bool is_same_element(const OnnxKnown *k, uint32_t i, uint32_t j) {
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
  return bind_value(r, v, n, (WeightBytes){bytes, k->n * size, "the model"});
}

static Node *known_node(Onnx *r, const OnnxValue *v) {
  const OnnxKnown *k = v->known;
  Node stand = {.name = onnx_identifier(r, v->name, "value"), .location = r->location};
  if (v->maker) stand.origin = v->maker->stand.origin;
  Build b = {.in = {.g = r->graph, .n = &stand}};
  bool literal = true, equal = k->n > 0;
  for (uint32_t i = 0; i < k->n; i++) {
    literal &= dtype_is_float(k->dtype) || dim_is_int(k->at[i].dim);
    equal &= is_same_element(k, 0, i);
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

/* ---- elements that rules compute ---- */

Node *onnx_table(OnnxCall *c, DType t, uint32_t rank, const int64_t *shape, const void *data) {
  Onnx *r = c->r;
  Dim dims[GRAPH_RANK_MAX];
  size_t bytes = dtype_bytes(t);
  for (uint32_t i = 0; i < rank; i++) {
    dims[i] = dim_int(r->graph->dims, shape[i]);
    bytes *= (size_t)shape[i];
  }
  OnnxValue v = {.name = c->stand.name, .type = value_tensor(r->graph, t, rank, dims)};
  void *copy = memcpy(arena_alloc(r->arena, bytes + !bytes), data, bytes);
  Node *n = stored_node(r, &v, "c", INPUT_CONSTANT);
  if (!bind_value(r, &v, n, (WeightBytes){copy, bytes, "the model"}))
    longjmp(c->b.in.failed, 1);
  return n;
}

const Weight *onnx_weight_of(OnnxCall *c, const Node *n) {
  bool fixed = n->kind == NODE_INPUT && n->input.kind == INPUT_PARAMETER;
  return fixed ? weights_find_input(c->r->weights, n->input.target) : NULL;
}

void onnx_evaluates(OnnxCall *c, uint32_t n) {
  if (onnx_count_elements(c->r, onnx_where(c->r, c->proto), n)) return;
  c->told = true;
  longjmp(c->b.in.failed, 1);
}

OnnxKnown *onnx_known_new(OnnxCall *c, DType t, uint32_t rank, const int64_t *shape) {
  uint32_t n = 1;
  if (rank > GRAPH_RANK_MAX || !onnx_can_know(rank, shape)) return NULL;
  OnnxKnown *k = ARENA_NEW(c->r->arena, OnnxKnown);
  int64_t *copy = ARENA_ARRAY(c->r->arena, int64_t, rank);
  for (uint32_t i = 0; i < rank; i++) n *= (uint32_t)(copy[i] = shape[i]);
  onnx_evaluates(c, n);
  *k = (OnnxKnown){t, rank, copy, n, NULL};
  k->at = ARENA_ARRAY(c->r->arena, OnnxElement, n);
  return k;
}
