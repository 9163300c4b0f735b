/* Attributes of nodes.  Each that is asked for is noted: onnx_check_asked names the others. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"

enum { FLOAT = 1, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS, SPARSE_TENSOR = 11,
       ASKED_MAX = 64 };

/* The attribute to which one in a function's body refers: the call's, or the function's default.
 * NULL if the call has none. */
static const Onnx__Attribute *resolve_attribute(const OnnxScope *s, const Onnx__Attribute *a) {
  for (unsigned depth = 0; a && *onnx_text(a->ref_attr_name); depth++) {
    while (s && s->outer) s = s->outer;
    if (!s || !s->caller || depth > ONNX_BODIES_MAX) return NULL;
    const Onnx__Node *call = s->caller->proto;
    const char *name = a->ref_attr_name;
    a = NULL;
    for (size_t i = 0; i < call->n_attribute && !a; i++)
      if (!strcmp(onnx_text(call->attribute[i]->name), name)) a = call->attribute[i];
    const Onnx__Function *f = s->function;
    for (size_t i = 0; i < f->n_attribute_proto && !a; i++)
      if (!strcmp(onnx_text(f->attribute_proto[i]->name), name)) return f->attribute_proto[i];
    s = s->caller->scope;
  }
  return a;
}

static const Onnx__Attribute *find_node_attribute(OnnxCall *c, const char *name) {
  for (size_t i = 0; i < c->proto->n_attribute; i++) {
    const Onnx__Attribute *a = c->proto->attribute[i];
    if (strcmp(onnx_text(a->name), name)) continue;
    if (i < ASKED_MAX) c->asked |= (uint64_t)1 << i;
    return resolve_attribute(c->scope, a);
  }
  return NULL;
}

/* The oldest files have no types of attributes. */
static const Onnx__Attribute *find_typed_attribute(OnnxCall *c, const char *name, int type) {
  const Onnx__Attribute *a = find_node_attribute(c, name);
  if (a && a->type && a->type != type) onnx_fail(c, E_ONNX_ATTR_TYPE, name);
  return a;
}

void onnx_check_asked(OnnxCall *c) {
  for (size_t i = 0; i < c->proto->n_attribute && i < ASKED_MAX; i++)
    if (!(c->asked >> i & 1))
      onnx_note_lack(c->r,
                     arena_printf(c->r->arena, "%s: attribute %s", onnx_text(c->proto->op_type),
                                  onnx_text(c->proto->attribute[i]->name)),
                     onnx_where(c->r, c->proto));
}

bool onnx_has_attr(OnnxCall *c, const char *name) { return find_node_attribute(c, name); }
void onnx_ignore(OnnxCall *c, const char *name) { find_node_attribute(c, name); }

int64_t onnx_int(OnnxCall *c, const char *name, int64_t otherwise) {
  const Onnx__Attribute *a = find_typed_attribute(c, name, INT);
  return a ? a->i : otherwise;
}

bool onnx_flag(OnnxCall *c, const char *name, bool otherwise) {
  return onnx_int(c, name, otherwise) != 0;
}

double onnx_float(OnnxCall *c, const char *name, double otherwise) {
  const Onnx__Attribute *a = find_typed_attribute(c, name, FLOAT);
  return a ? (double)a->f : otherwise;
}

Name onnx_string(OnnxCall *c, const char *name, const char *otherwise) {
  const Onnx__Attribute *a = find_typed_attribute(c, name, STRING);
  Pool *names = c->r->names;
  if (!a || !a->s.len) return pool_name(names, otherwise);
  return pool_name(names, arena_strndup(c->r->arena, (const char *)a->s.data, a->s.len));
}

const int64_t *onnx_ints(OnnxCall *c, const char *name, uint32_t *n) {
  static const int64_t none[1];
  const Onnx__Attribute *a = find_typed_attribute(c, name, INTS);
  *n = a ? (uint32_t)a->n_ints : 0;
  return !a ? NULL : a->n_ints ? a->ints : none;
}

const float *onnx_floats(OnnxCall *c, const char *name, uint32_t *n) {
  static const float none[1];
  const Onnx__Attribute *a = find_typed_attribute(c, name, FLOATS);
  *n = a ? (uint32_t)a->n_floats : 0;
  return !a ? NULL : a->n_floats ? a->floats : none;
}

const char *const *onnx_strings(OnnxCall *c, const char *name, uint32_t *n) {
  const Onnx__Attribute *a = find_typed_attribute(c, name, STRINGS);
  *n = a ? (uint32_t)a->n_strings : 0;
  const char **list = a ? ARENA_ARRAY(c->r->arena, const char *, *n + 1) : NULL;
  for (uint32_t i = 0; i < *n; i++) {
    ProtobufCBinaryData s = a->strings[i];
    list[i] = pool_name(c->r->names, arena_strndup(c->r->arena, (const char *)s.data, s.len));
  }
  return list;
}

void onnx_ints_of(OnnxCall *c, const char *name, uint32_t n, int64_t otherwise, int64_t *out) {
  uint32_t count;
  const int64_t *given = onnx_ints(c, name, &count);
  if (given && count != n) onnx_fail(c, E_ONNX_ATTR_COUNT, name, count, n);
  for (uint32_t i = 0; i < n; i++) out[i] = given ? given[i] : otherwise;
}

DType onnx_dtype_attr(OnnxCall *c, const char *name, DType otherwise) {
  if (!onnx_has_attr(c, name)) return otherwise;
  int64_t number = onnx_int(c, name, 0);
  DType t = onnx_dtype(number);
  if (!t) onnx_lack(c, "%s", onnx_lacking_dtype(c->r, number));
  return t;
}

DType onnx_narrow_attr(OnnxCall *c, const char *name, DType otherwise, OnnxForm *form) {
  *form = FORM_PLAIN;
  DType t = onnx_has_attr(c, name) ? onnx_narrow_dtype(onnx_int(c, name, 0), form) : otherwise;
  return *form ? t : onnx_dtype_attr(c, name, otherwise);
}

const Onnx__Graph *onnx_graph(OnnxCall *c, const char *name) {
  const Onnx__Attribute *a = find_typed_attribute(c, name, GRAPH);
  if (!a || !a->g) onnx_fail(c, E_ONNX_ATTR_MISSING, name);
  return a->g;
}

/* ---- tensors ---- */

static OnnxValue *known_value(OnnxCall *c, const OnnxKnown *k) {
  OnnxValue *v = onnx_value_new(c->r, c->stand.name);
  onnx_value_set_known(c->r, v, k);
  return v;
}

static OnnxKnown *list_new(OnnxCall *c, DType t, size_t n) {
  OnnxKnown *k = onnx_known_new(c, t, 1, (int64_t[]){n > ONNX_KNOWN_MAX ? -1 : (int64_t)n});
  if (!k) onnx_lack(c, E_ONNX_LACK_LIST, ONNX_KNOWN_MAX);
  return k;
}

static OnnxValue *int_list(OnnxCall *c, const int64_t *ints, size_t n) {
  OnnxKnown *k = list_new(c, DT_I64, n);
  for (uint32_t i = 0; i < k->n; i++) k->at[i].dim = build_const(&c->b, ints[i]);
  return known_value(c, k);
}

static OnnxValue *float_list(OnnxCall *c, const float *floats, size_t n) {
  OnnxKnown *k = list_new(c, DT_F32, n);
  for (uint32_t i = 0; i < k->n; i++) k->at[i].number = (double)floats[i];
  return known_value(c, k);
}

static OnnxValue *text_list(OnnxCall *c, const ProtobufCBinaryData *list, size_t n, bool single) {
  OnnxKnown *k = single ? onnx_known_new(c, DT_I64, 0, NULL) : list_new(c, DT_I64, n);
  for (uint32_t i = 0; i < k->n; i++)
    k->at[i].dim = build_const(&c->b, onnx_text_number(c->r, list[i]));
  OnnxValue *v = known_value(c, k);
  v->is_text = true;
  return v;
}

static OnnxValue *single(OnnxCall *c, const Onnx__Attribute *a) {
  OnnxKnown *k = onnx_known_new(c, a->type == INT ? DT_I64 : DT_F32, 0, NULL);
  if (a->type == INT) k->at[0].dim = build_const(&c->b, a->i);
  else k->at[0].number = (double)a->f;
  return known_value(c, k);
}

static OnnxValue *sparse_value(OnnxCall *c, const Onnx__SparseTensor *s) {
  const Onnx__Tensor *t;
  if (!onnx_dense(c->r, s, c->stand.name, &t)) longjmp(c->b.in.failed, 1);
  if (!t) onnx_lack(c, "such a sparse tensor");
  return onnx_value_of_tensor(c->r, t, c->stand.name);
}

OnnxValue *onnx_tensor(OnnxCall *c, const char *name) {
  const Onnx__Attribute *a = find_node_attribute(c, name);
  OnnxValue *v = NULL;
  switch (a ? a->type ? a->type : TENSOR : 0) {
    case INT:
    case FLOAT: return single(c, a);
    case INTS: return int_list(c, a->ints, a->n_ints);
    case FLOATS: return float_list(c, a->floats, a->n_floats);
    case TENSOR:
      if (a->t) v = onnx_value_of_tensor(c->r, a->t, c->stand.name);
      break;
    case SPARSE_TENSOR:
      if (a->sparse_tensor) v = sparse_value(c, a->sparse_tensor);
      break;
    case STRING: return text_list(c, &a->s, 1, true);
    case STRINGS: return text_list(c, a->strings, a->n_strings, false);
  }
  if (!v && a && a->t) longjmp(c->b.in.failed, 1);
  if (!v) onnx_fail(c, E_ONNX_ATTR_MISSING, name);
  if (v->type.kind != VALUE_TENSOR) longjmp(c->b.in.failed, 1);
  return v;
}

const void *onnx_elements_attr(OnnxCall *c, const char *name, DType t, uint32_t *n) {
  *n = 0;
  if (!onnx_has_attr(c, name)) return NULL;
  const OnnxValue *v = onnx_tensor(c, name);
  size_t size = 0;
  if (!v->tensor || v->type.dtype != t)
    onnx_lack(c, "%s of %s", name, dtype_name(v->type.dtype));
  const void *data = onnx_tensor_data(c->r, v, &size);
  if (!data) longjmp(c->b.in.failed, 1);
  *n = (uint32_t)(size / dtype_bytes(t));
  return data;
}

const OnnxKnown *onnx_tensor_known_attr(OnnxCall *c, const char *name) {
  return onnx_value_known(c->r, onnx_tensor(c, name), false);
}
