#include "graph/import/onnx/onnx.h"

#include <stdarg.h>
#include <string.h>

#include "graph/import/onnx/onnx_read.h"
#include "graph/messages.h"

/* ---- messages ---- */

bool onnx_error(Onnx *r, const char *where, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_error(r->diags, r->location, "%s: %s", where, arena_vprintf(r->arena, fmt, ap));
  va_end(ap);
  return false;
}

void onnx_note_lack(Onnx *r, const char *what, const char *node) {
  for (size_t i = 0; i < r->lacks.len; i++) {
    if (strcmp(r->lacks.data[i].what, what)) continue;
    r->lacks.data[i].nodes++;
    return;
  }
  if (r->lacks.len < ONNX_LACKS_MAX) vec_push(r->scratch, &r->lacks, ((OnnxLack){what, node, 1}));
}

static bool report_lacks(Onnx *r) {
  if (!r->lacks.len) return true;
  diag_error(r->diags, r->location, E_ONNX_LACKS, r->lacks.len);
  for (size_t i = 0; i < r->lacks.len; i++) {
    const OnnxLack *l = &r->lacks.data[i];
    diag_note(r->diags, r->location, N_GRAPH_UNSUPPORTED, l->what, l->nodes,
              l->nodes == 1 ? "" : "s", l->first, "");
  }
  return false;
}

/* ---- initializers and inputs ---- */

bool onnx_initializers(Onnx *r, OnnxScope *s, const Onnx__Graph *g) {
  for (size_t i = 0; i < g->n_initializer; i++) {
    Name name = pool_name(r->names, onnx_text(g->initializer[i]->name));
    OnnxValue *v = onnx_value_of_tensor(r, g->initializer[i], name);
    if (!v || !onnx_scope_define(r, s, v)) return false;
  }
  for (size_t i = 0; i < g->n_sparse_initializer; i++) {
    const Onnx__Tensor *t = g->sparse_initializer[i]->values;
    onnx_note_lack(r, "sparse tensors", t ? onnx_text(t->name) : "?");
  }
  return true;
}

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

/* A size that the file leaves open is a symbol: by its name there, or one of its own. */
static Dim read_dimension(Onnx *r, const Onnx__Dimension *d, const char *input, size_t axis) {
  if (d->has_dim_value) return dim_int(r->graph->dims, d->dim_value);
  const char *param = onnx_text(d->dim_param);
  return *param ? symbol_of(r, param)
                : new_symbol(r, arena_printf(r->arena, "%s_size%zu", input, axis));
}

static const char *type_kind_name(const Onnx__Type *t) {
  return !t                       ? "no type"
         : t->sequence_type       ? "type sequence"
         : t->map_type            ? "type map"
         : t->optional_type       ? "type optional"
         : t->sparse_tensor_type  ? "type sparse tensor"
         : !t->tensor_type        ? "an unknown type"
         : !t->tensor_type->shape ? "an unknown number of axes"
                                  : NULL;
}

/* An optional input is one that is given. */
static const Onnx__Type *given_type(const Onnx__Type *t) {
  return t && t->optional_type && t->optional_type->elem_type ? t->optional_type->elem_type : t;
}

static bool input_type(Onnx *r, const Onnx__ValueInfo *info, const char *input, ValueType *out,
                       uint8_t *bits) {
  Dim shape[GRAPH_RANK_MAX];
  const Onnx__Type *type = given_type(info->type);
  const char *kind = type_kind_name(type), *where = arena_printf(r->arena, "input %s", input);
  *out = (ValueType){.kind = VALUE_UNKNOWN};
  if (kind) {
    onnx_note_lack(r, arena_printf(r->arena, "inputs of %s", kind), where);
    return true;
  }
  const Onnx__TensorType *t = type->tensor_type;
  if (t->shape->n_dim > GRAPH_RANK_MAX)
    return onnx_error(r, where, E_ONNX_RANK, t->shape->n_dim, GRAPH_RANK_MAX);
  for (size_t i = 0; i < t->shape->n_dim; i++) {
    shape[i] = read_dimension(r, t->shape->dim[i], input, i);
    if (dim_is_int(shape[i]) && shape[i]->value < 0)
      return onnx_error(r, where, E_ONNX_NEGATIVE, (long long)shape[i]->value);
  }
  DType dtype = onnx_narrow_dtype(t->elem_type, bits);
  ValueType tensor = value_tensor(r->graph, dtype, (uint32_t)t->shape->n_dim, shape);
  if (!value_is_countable(r->graph, &tensor))
    return onnx_error(r, where, E_GRAPH_HUGE, "the number of elements");
  if (dtype) *out = tensor;
  else
    onnx_note_lack(r, arena_printf(r->arena, "tensors of %s", onnx_dtype_name(r, t->elem_type)),
                   where);
  return true;
}

static bool read_graph_input(Onnx *r, OnnxScope *s, const Onnx__ValueInfo *info, uint32_t number) {
  const char *name = onnx_identifier(r, onnx_text(info->name), "input");
  OnnxValue *v = onnx_value_new(r, pool_name(r->names, onnx_text(info->name)));
  if (!input_type(r, info, name, &v->type, &v->bits)) return false;
  Node *n = graph_node(r->graph, NODE_INPUT, NULL, 0, 0);
  graph_fresh_name(r->graph, n, name);
  n->location = r->location;
  n->input.target = n->name;
  n->type = v->type;
  v->node = v->input = r->last_input = n;
  v->number = number;
  return onnx_scope_define(r, s, v);
}

/* Old files name initializers among the inputs; their values are those of the file. */
static bool read_graph_inputs(Onnx *r, OnnxScope *s, const Onnx__Graph *g) {
  uint32_t number = 0;
  for (size_t i = 0; i < g->n_input; i++) {
    Name name = pool_name(r->names, onnx_text(g->input[i]->name));
    if (namemap_get(&s->values, name)) continue;
    if (!read_graph_input(r, s, g->input[i], number++)) return false;
  }
  return true;
}

/* ---- outputs ---- */

static bool read_graph_outputs(Onnx *r, const OnnxScope *s, const Onnx__Graph *g) {
  uint32_t count = (uint32_t)g->n_output;
  Arg list = arg_list(r->graph, count);
  list.tuple = true;
  for (uint32_t i = 0; i < count; i++) {
    OnnxValue *v;
    const char *name = onnx_text(g->output[i]->name);
    if (!onnx_lookup(r, s, name, "outputs", &v)) return false;
    if (!v) return onnx_error(r, "outputs", E_ONNX_UNDEFINED, name);
    if (v->type.kind == VALUE_LIST) onnx_note_lack(r, "outputs of type sequence", name);
    Node *n = v->type.kind == VALUE_TENSOR ? onnx_value_node(r, v) : NULL;
    if (!n && !r->lacks.len) return onnx_error(r, "outputs", E_ONNX_UNDEFINED, name);
    list.items[i] = n ? arg_node(n) : arg_none();
  }
  Node *n = graph_node(r->graph, NODE_OUTPUT, NULL, 1, 0);
  n->location = r->location;
  n->args[0] = list;
  graph_fresh_name(r->graph, n, "output");
  return true;
}

/* ---- the model ---- */

static bool read_model(void *reader) {
  Onnx *r = reader;
  r->model = onnx_unpack(r->file, r->scratch);
  if (!r->model) return false;
  const Onnx__Graph *g = r->model->graph;
  onnx_find_functions(r);
  OnnxScope s = {.opsets = r->model->opset_import, .nopsets = r->model->n_opset_import};
  bool ok = onnx_initializers(r, &s, g) && read_graph_inputs(r, &s, g) &&
            onnx_nodes(r, &s, g->node, g->n_node) && read_graph_outputs(r, &s, g);
  graph_part_names(r->graph);
  return report_lacks(r) && ok;
}

Graph *onnx_read(Arena *a, Pool *names, Diags *d, OnnxFile *f, OnnxGiven given, Weights *w) {
  Onnx r = {.arena = a, .names = names, .diags = d, .file = f, .location = onnx_location(f)};
  r.scratch = arena_child(a);
  r.given = given;
  r.weights = w;
  r.graph = graph_new(a, names, d);
  r.graph->extremes_of_none = true;
  bool ok = read_model(&r);
  arena_free(r.scratch);
  return ok ? r.graph : NULL;
}
