/* Inputs of a model: their sizes and types; sequences and optional values. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"
#include "runtime/support/array.h"

/* ---- types ---- */

/* A new symbol, named `wish` or something like it. */
static Dim new_symbol(Onnx *r, const char *wish) {
  Name name = pool_name(r->names, wish);
  void **slot = namemap_put(r->scratch, &r->wishes, name);
  uintptr_t tried = (uintptr_t)*slot;
  while (dims_symbol_named(r->graph->dims, name))
    name = pool_name(r->names, arena_printf(r->arena, "%s_%u", wish, (unsigned)++tried));
  *slot = (void *)tried;
  return dim_symbol(r->graph->dims, name);
}

/* Two names of the file may be one identifier, but stay two symbols. */
static Dim symbol_of(Onnx *r, const char *param) {
  void **slot = namemap_put(r->scratch, &r->symbols, pool_name(r->names, param));
  if (!*slot) *slot = (void *)(uintptr_t)new_symbol(r, onnx_identifier(r, param, "size"));
  return *slot;
}

/* A size that the file leaves open is a symbol: by its name there, or one of its own.  Tensors of a
 * sequence may differ in it, whatever its name. */
static Dim read_dimension(Onnx *r, const Onnx__Dimension *d, const char *input, size_t axis,
                          bool is_item) {
  bool stated = d->has_dim_value && d->dim_value >= 0; /* exporters write -1 for an open one */
  if (stated) return dim_int(r->graph->dims, d->dim_value);
  const char *param = onnx_text(d->dim_param);
  bool named = *param && strcmp(param, "?") != 0; /* exporters write that for no name */
  return named && !is_item ? symbol_of(r, param)
                            : new_symbol(r, arena_printf(r->arena, "%s_size%zu", input, axis));
}

/* NULL: a tensor, whose number of axes may be open. */
static const char *type_kind_name(const Onnx__Type *t) {
  return !t                      ? "no type"
         : t->sequence_type      ? "type sequence"
         : t->map_type           ? "type map"
         : t->optional_type      ? "type optional"
         : t->sparse_tensor_type ? "type sparse tensor"
         : !t->tensor_type       ? "an unknown type"
                                 : NULL;
}

typedef struct {
  uint32_t rank;
  Dim shape[GRAPH_RANK_MAX];
} Shape;

static bool stated_shape(Onnx *r, const Onnx__Shape *t, const char *input, bool is_item,
                         Shape *out) {
  const char *where = arena_printf(r->arena, "input %s", input);
  if (t->n_dim > GRAPH_RANK_MAX) return onnx_error(r, where, E_ONNX_RANK, t->n_dim, GRAPH_RANK_MAX);
  out->rank = (uint32_t)t->n_dim;
  for (size_t i = 0; i < t->n_dim; i++)
    out->shape[i] = read_dimension(r, t->dim[i], input, i, is_item);
  return true;
}

/* Open sizes become those of the caller's tensor. */
static void fix_sizes(Onnx *r, const OnnxValue *v, Shape *shape) {
  const nereid_tensor *t = r->given.fixes_sizes ? onnx_given_tensor(r, v) : NULL;
  if (!t || t->ndim != (int32_t)shape->rank) return;
  for (uint32_t i = 0; i < shape->rank; i++)
    if (!dim_is_int(shape->shape[i])) shape->shape[i] = dim_int(r->graph->dims, t->shape[i]);
}

/* The shape of an input of any rank: the caller's tensor gives the rank, the sizes are open. */
static bool given_shape(Onnx *r, const OnnxValue *v, const char *input, Shape *out) {
  const nereid_tensor *t = onnx_given_tensor(r, v);
  if (!t || t->ndim < 0 || t->ndim > GRAPH_RANK_MAX) return false;
  out->rank = (uint32_t)t->ndim;
  for (uint32_t i = 0; i < out->rank; i++)
    out->shape[i] = new_symbol(r, arena_printf(r->arena, "%s_size%u", input, i));
  return true;
}

static bool input_type(Onnx *r, const Onnx__Type *type, const char *input, bool is_item,
                       OnnxValue *v) {
  Shape shape;
  const char *where = arena_printf(r->arena, "input %s", input), *kind = type_kind_name(type);
  const Onnx__TensorType *t = kind ? NULL : type->tensor_type;
  v->type = (ValueType){.kind = VALUE_UNKNOWN};
  if (t && !t->shape && !given_shape(r, v, input, &shape)) kind = N_ONNX_RANK;
  if (kind) {
    onnx_note_lack(r, arena_printf(r->arena, "inputs of %s", kind), where);
    return true;
  }
  if (t->shape && !stated_shape(r, t->shape, input, is_item, &shape)) return false;
  fix_sizes(r, v, &shape);
  v->is_text = t->elem_type == ONNX_STRING;
  DType dtype = v->is_text ? DT_I64 : onnx_narrow_dtype(t->elem_type, &v->form);
  ValueType tensor = value_tensor(r->graph, dtype, shape.rank, shape.shape);
  if (!value_is_countable(r->graph, &tensor))
    return onnx_error(r, where, E_GRAPH_HUGE, "the number of elements");
  if (dtype) v->type = tensor;
  else
    onnx_note_unknown(r, onnx_lacking_dtype(r, t->elem_type), where);
  return true;
}

/* ---- inputs ---- */

typedef struct {
  Onnx *r;
  OnnxScope *scope;
  const Onnx__Graph *g;
  uint32_t number; /* of the next of the user's inputs */
} Inputs;

/* The user's input of that name.  NULL after an error. */
static OnnxValue *new_input(Inputs *in, const Onnx__Type *type, const char *name, bool is_item) {
  Onnx *r = in->r;
  const char *identifier = onnx_identifier(r, name, "input");
  OnnxValue *v = onnx_value_new(r, pool_name(r->names, name));
  Node *n = graph_node(r->graph, NODE_INPUT, NULL, 0, 0);
  n->name = pool_name(r->names, identifier); /* until symbols have theirs */
  v->node = v->input = n;
  v->number = in->number++;
  if (!input_type(r, type, identifier, is_item, v)) return NULL;
  graph_fresh_name(r->graph, n, identifier);
  n->location = r->location;
  n->input.target = n->name;
  if (strcmp(name, n->name) != 0) n->input.tensor = v->name;
  n->type = v->type;
  if (v->is_text) vec_push(r->arena, &r->found->texts.inputs, n->name);
  return r->last_input = n, v;
}

/* ---- sequences and optional values ----
 *
 * A sequence of n tensors is n inputs, NAME_0, NAME_1 ...  The caller states n, or names each of
 * them. */

enum { ITEMS_MAX = 4096, NOT_STATED = -2 };

/* NAME, or another if an input looks like one of its items, lest one is taken for the other. */
static const char *item_prefix(const Inputs *in, const char *name) {
  const char *prefix = arena_printf(in->r->arena, "%s_", onnx_identifier(in->r, name, "input"));
  size_t len = strlen(prefix);
  bool alike = false;
  for (size_t k = 0; k < in->g->n_input; k++) {
    const char *other = onnx_identifier(in->r, onnx_text(in->g->input[k]->name), "input");
    alike |= !strncmp(other, prefix, len) && other[len] &&
             !other[len + strspn(other + len, "0123456789")];
  }
  return alike ? arena_printf(in->r->arena, "%s_item", name) : name;
}

static const char *item_name(const Inputs *in, const char *prefix, size_t i) {
  return arena_printf(in->r->arena, "%s_%zu", prefix, i);
}

static bool is_named(const Inputs *in, const char *stated, const char *name) {
  return !strcmp(stated, name) || !strcmp(stated, onnx_identifier(in->r, name, "input"));
}

/* How many items the caller says there are, or names; NOT_STATED if neither. */
static int64_t items_of(const Inputs *in, const char *name) {
  const OnnxGiven *given = &in->r->given;
  int64_t n = 0;
  for (uint32_t i = 0; i < given->nitems; i++)
    if (is_named(in, given->items[i].input, name)) return given->items[i].n;
  const char *prefix = item_prefix(in, name);
  for (bool more = given->names; more && n < ITEMS_MAX; n += more) {
    const char *item = item_name(in, prefix, (size_t)n);
    more = false;
    for (uint32_t i = 0; i < given->n && !more; i++)
      more = given->names[i] && is_named(in, given->names[i], item);
  }
  return n ? n : NOT_STATED;
}

static bool bad_items(const Inputs *in, const char *name, int64_t n, const char *expected) {
  const char *where = arena_printf(in->r->arena, "input %s", name);
  const char *stated = n == NOT_STATED      ? "is not known"
                       : n == ONNX_ABSENT   ? "is none"
                                            : arena_printf(in->r->arena, "is %lld", (long long)n);
  return onnx_error(in->r, where, E_ONNX_ITEMS, stated, expected, name);
}

static OnnxValue *new_sequence(Inputs *in, const Onnx__Type *item, const char *name, int64_t n) {
  OnnxValue *v = onnx_value_new(in->r, pool_name(in->r->names, name));
  if (n < 0 || n > ITEMS_MAX) {
    bad_items(in, name, n, arena_printf(in->r->arena, "0 to %d", ITEMS_MAX));
    return NULL;
  }
  const char *prefix = item_prefix(in, name);
  v->type = (ValueType){.kind = VALUE_LIST};
  v->nitems = (uint32_t)n;
  v->items = ARENA_ARRAY(in->r->scratch, OnnxValue *, v->nitems + 1);
  for (uint32_t i = 0; i < v->nitems; i++)
    if (!(v->items[i] = new_input(in, item, item_name(in, prefix, i), true))) return NULL;
  return v;
}

/* An optional tensor is given unless the caller says that it is absent. */
static bool read_graph_input(Inputs *in, const Onnx__ValueInfo *info) {
  const char *name = onnx_text(info->name);
  const Onnx__Type *type = info->type;
  bool optional = type && type->optional_type && type->optional_type->elem_type;
  if (optional) type = type->optional_type->elem_type;
  bool list = type && type->sequence_type && type->sequence_type->elem_type;
  int64_t n = optional || list ? items_of(in, name) : 1;
  if (optional || list)
    vec_push(in->r->arena, &in->r->found->items,
             ((OnnxItems){pool_name(in->r->names, name), n == NOT_STATED ? 1 : n}));
  OnnxValue *v;
  if (optional && n == ONNX_ABSENT) {
    v = onnx_value_new(in->r, pool_name(in->r->names, name));
    v->absent = true;
  } else if (list) {
    v = new_sequence(in, type->sequence_type->elem_type, name, n);
  } else {
    if (n != 1 && n != NOT_STATED) return bad_items(in, name, n, "1 or none");
    v = new_input(in, type, name, false);
  }
  return v && onnx_scope_define(in->r, in->scope, v);
}

/* Each statement is about a sequence or an optional value. */
static bool check_items(const Inputs *in) {
  for (uint32_t k = 0; k < in->r->given.nitems; k++) {
    const char *stated = in->r->given.items[k].input;
    bool found = false;
    for (size_t i = 0; i < in->g->n_input && !found; i++) {
      const Onnx__Type *t = in->g->input[i]->type;
      found = t && (t->sequence_type || t->optional_type) &&
              is_named(in, stated, onnx_text(in->g->input[i]->name));
    }
    if (!found) return onnx_error(in->r, "inputs", E_ONNX_NO_ITEMS, stated);
  }
  return true;
}

/* A value of the file that the caller computes. */
static bool read_stage(Inputs *in, const char *name) {
  Onnx *r = in->r;
  Dim shape[GRAPH_RANK_MAX];
  OnnxValue *v = onnx_value_new(r, pool_name(r->names, name));
  Node *n = graph_node(r->graph, NODE_INPUT, NULL, 0, 0);
  v->node = v->input = n;
  v->number = in->number++;
  const nereid_tensor *t = onnx_given_tensor(r, v);
  if (!t || t->ndim < 0 || t->ndim > GRAPH_RANK_MAX)
    return onnx_error(r, "inputs", E_GRAPH_UNDEFINED, name);
  for (int32_t i = 0; i < t->ndim; i++) shape[i] = dim_int(r->graph->dims, t->shape[i]);
  v->type = value_tensor(r->graph, array_dtype(t->dtype), (uint32_t)t->ndim, shape);
  graph_fresh_name(r->graph, n, onnx_identifier(r, name, "value"));
  n->location = r->location;
  n->input.target = n->name;
  if (strcmp(name, n->name) != 0) n->input.tensor = v->name;
  n->type = v->type;
  r->last_input = n;
  return onnx_scope_define(r, in->scope, v);
}

/* Old files name initializers among the inputs; their values are those of the file. */
bool onnx_graph_inputs(Onnx *r, OnnxScope *s, const Onnx__Graph *g) {
  Inputs in = {r, s, g, 0};
  if (!check_items(&in)) return false;
  for (size_t i = 0; i < g->n_input; i++) {
    Name name = pool_name(r->names, onnx_text(g->input[i]->name));
    if (namemap_get(&s->values, name)) continue;
    if (!read_graph_input(&in, g->input[i])) return false;
  }
  for (uint32_t i = 0; i < r->given.nstages; i++)
    if (!read_stage(&in, r->given.stages[i].value)) return false;
  return true;
}

/* ---- results, as they are declared ---- */

OnnxOutput onnx_declared_output(Onnx *r, const Onnx__ValueInfo *info) {
  const Onnx__TensorType *t = info->type ? info->type->tensor_type : NULL;
  OnnxForm form;
  OnnxOutput o = {.name = pool_name(r->names, onnx_text(info->name)), .rank = -1};
  o.dtype = t ? onnx_narrow_dtype(t->elem_type, &form) : DT_NONE;
  if (t && t->elem_type == ONNX_STRING) o.dtype = DT_I64;
  Text text = text_new(r->arena);
  text_puts(&text, value_dtype_name(&(ValueType){.kind = VALUE_TENSOR, .dtype = o.dtype}));
  if (o.dtype && t->shape) o.rank = (int)t->shape->n_dim;
  for (int i = 0; i < o.rank; i++) {
    const Onnx__Dimension *d = t->shape->dim[i];
    text_puts(&text, i ? ", " : "[");
    if (d->has_dim_value && d->dim_value >= 0) text_printf(&text, "%lld", (long long)d->dim_value);
    else text_puts(&text, *onnx_text(d->dim_param) ? d->dim_param : "?");
  }
  if (o.rank >= 0) text_puts(&text, o.rank ? "]" : "[]");
  o.type = text.data;
  return o;
}
