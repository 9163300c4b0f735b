#include "import/onnx/onnx.h"

#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"

static bool report_lacks(Onnx *r) {
  if (!r->lacks.len) return true;
  r->found->lacks = true;
  diag_error(r->diags, r->location, E_ONNX_LACKS, r->lacks.len);
  for (size_t i = 0; i < r->lacks.len; i++) {
    const OnnxLack *l = &r->lacks.data[i];
    diag_note(r->diags, r->location, N_GRAPH_UNSUPPORTED, l->what, l->nodes,
              l->nodes == 1 ? "" : "s", l->first, "");
  }
  diag_hint(r->diags, "%s", r->has_strings ? H_ONNX_STRINGS : H_ONNX_LACKS);
  return false;
}

/* ---- initializers ---- */

static bool graph_reads(const Onnx__Graph *g, const char *name);

static bool node_reads(const Onnx__Node *n, const char *name) {
  for (size_t i = 0; i < n->n_input; i++)
    if (!strcmp(onnx_text(n->input[i]), name)) return true;
  for (size_t i = 0; i < n->n_attribute; i++)
    if (n->attribute[i]->g && graph_reads(n->attribute[i]->g, name)) return true;
  return false;
}

static bool graph_reads(const Onnx__Graph *g, const char *name) {
  for (size_t i = 0; i < g->n_output; i++)
    if (!strcmp(onnx_text(g->output[i]->name), name)) return true;
  for (size_t i = 0; i < g->n_node; i++)
    if (node_reads(g->node[i], name)) return true;
  return false;
}

/* A table of names beside the model, as of classes, that no node reads. */
static bool is_unread(const Onnx__Graph *g, const Onnx__Tensor *t) {
  OnnxForm form;
  return !onnx_narrow_dtype(t->data_type, &form) && !graph_reads(g, onnx_text(t->name));
}

static bool define_sparse(Onnx *r, OnnxScope *s, const Onnx__SparseTensor *sparse) {
  Name name = pool_name(r->names, sparse->values ? onnx_text(sparse->values->name) : "?");
  const Onnx__Tensor *t;
  if (!onnx_dense(r, sparse, name, &t)) return false;
  OnnxValue *v = t ? onnx_value_of_tensor(r, t, name) : NULL;
  return !t || (v && onnx_scope_define(r, s, v));
}

bool onnx_initializers(Onnx *r, OnnxScope *s, const Onnx__Graph *g) {
  for (size_t i = 0; i < g->n_initializer; i++) {
    if (is_unread(g, g->initializer[i])) continue;
    Name name = pool_name(r->names, onnx_text(g->initializer[i]->name));
    OnnxValue *v = onnx_value_of_tensor(r, g->initializer[i], name);
    if (!v || !onnx_scope_define(r, s, v)) return false;
  }
  for (size_t i = 0; i < g->n_sparse_initializer; i++)
    if (!define_sparse(r, s, g->sparse_initializer[i])) return false;
  return true;
}

/* ---- outputs ---- */

typedef VEC(OnnxValue *) Values;

/* A sequence that the model returns is its tensors, one after the other; an optional value that is
 * absent is None. */
static bool find_outputs(Onnx *r, const OnnxScope *s, const Onnx__Graph *g, Values *out) {
  for (size_t i = 0; i < g->n_output; i++) {
    OnnxValue *v;
    const char *name = onnx_text(g->output[i]->name);
    if (!onnx_lookup(r, s, name, "outputs", &v)) return false;
    bool absent = !v && *name;
    if (!v && !absent) return onnx_error(r, "outputs", E_GRAPH_UNDEFINED, name);
    if (absent || v->type.kind != VALUE_LIST) vec_push(r->scratch, out, v);
    else
      for (uint32_t k = 0; k < v->nitems; k++) vec_push(r->scratch, out, v->items[k]);
  }
  return true;
}

static bool read_graph_outputs(Onnx *r, const OnnxScope *s, const Onnx__Graph *g) {
  Values values = {0};
  if (!find_outputs(r, s, g, &values)) return false;
  Arg list = arg_list(r->graph, (uint32_t)values.len);
  Name *names = ARENA_ARRAY(r->arena, Name, list.n + 1);
  list.tuple = true;
  for (uint32_t i = 0; i < list.n; i++) {
    OnnxValue *v = values.data[i];
    Node *n = v && v->type.kind == VALUE_TENSOR ? onnx_value_node(r, v) : NULL;
    if (v && v->channels) onnx_note_lack(r, "results in blocks of channels", v->name);
    if (v && !n && !r->lacks.len) return onnx_error(r, "outputs", E_GRAPH_UNDEFINED, v->name);
    list.items[i] = n ? arg_node(n) : arg_none();
    if (n && *v->name && strcmp(v->name, n->name) != 0) names[i] = v->name;
    if (v && v->is_padded) onnx_note_lack(r, E_ONNX_LACK_PARTS, v->name);
    if (v && (v->is_text || v->keys))
      vec_push(r->arena, &r->found->texts.outputs, ((OnnxTextOutput){i, v->is_text, v->keys}));
  }
  Node *n = graph_node(r->graph, NODE_OUTPUT, NULL, 1, 0);
  n->location = r->location;
  n->args[0] = list;
  r->graph->output_names = names;
  graph_fresh_name(r->graph, n, "output");
  return true;
}

static void return_inputs(Onnx *r) {
  uint32_t n = 0;
  for (const Node *x = r->graph->first; x; x = x->next) n++;
  Arg list = arg_list(r->graph, n);
  list.tuple = true;
  n = 0;
  for (Node *x = r->graph->first; x; x = x->next) list.items[n++] = arg_node(x);
  Node *output = graph_node(r->graph, NODE_OUTPUT, NULL, 1, 0);
  output->location = r->location;
  output->args[0] = list;
  graph_fresh_name(r->graph, output, "output");
}

/* ---- the model ---- */

static void forget_use(Node **use, void *counts) { ((uint32_t *)counts)[(*use)->id]--; }

/* What was read in vain would be run, and checked, like other nodes that nothing uses. */
static void remove_abandoned(Onnx *r) {
  uint32_t *counts = graph_use_counts(r->graph, r->scratch);
  for (Node *n = r->graph->last, *prev; n; n = prev) {
    prev = n->prev;
    if (!n->in_vain || counts[n->id]) continue;
    graph_each_use(n, forget_use, counts);
    graph_forget_name(r->graph, n);
    graph_remove(r->graph, n);
  }
}

/* Are the values known that come before the one that is asked for? */
static bool has_stages(const Onnx *r) {
  for (uint32_t i = 1; i <= r->given.nstages; i++)
    if (!r->given.tensors[r->given.n - i].data) return false;
  return true;
}

/* A value that is returned alone is of a branch that is not taken if all nodes before those that
 * ask for it could be read. */
static bool is_absent(const Onnx *r) {
  const OnnxWish *next = &r->found->wanted;
  if (r->reached || !has_stages(r)) return false;
  return !next->value || strcmp(next->place, r->given.result->place) > 0;
}

/* No elements, for a result that the run does not have. */
static OnnxValue *absent_result(Onnx *r) {
  static const int64_t shape[] = {0};
  OnnxKnown *k = ARENA_NEW(r->scratch, OnnxKnown);
  *k = (OnnxKnown){.dtype = DT_I64, .rank = 1, .shape = shape};
  OnnxValue *v = onnx_value_new(r, pool_name(r->names, "absent"));
  onnx_value_set_known(r, v, k);
  r->found->absent = true;
  return v;
}

/* The value that is asked for, as the only result of the file. */
static bool read_result(Onnx *r, OnnxScope *s, const Onnx__Graph *g) {
  Onnx__ValueInfo result = ONNX__VALUE_INFO__INIT, *list[] = {&result};
  Onnx__Graph part = *g;
  if (!r->reached && !is_absent(r)) return false;
  OnnxValue *v = r->reached ? r->reached : absent_result(r);
  result.name = (char *)(uintptr_t)r->given.result->value;
  part.n_output = 1;
  part.output = list;
  *namemap_put(r->scratch, &s->values, pool_name(r->names, result.name)) = v;
  return read_graph_outputs(r, s, &part);
}

static bool read_model(void *reader) {
  Onnx *r = reader;
  r->model = onnx_unpack(r->file, r->scratch);
  if (!r->model) return false;
  const Onnx__Graph *g = r->model->graph;
  onnx_find_functions(r);
  OnnxScope s = {.opsets = r->model->opset_import, .nopsets = r->model->n_opset_import};
  s.path = "";
  r->top = &s;
  bool ok = onnx_initializers(r, &s, g) && onnx_graph_inputs(r, &s, g);
  bool all = ok && onnx_nodes(r, &s, g->node, g->n_node);
  if (r->given.result) ok = (all || r->reached) && read_result(r, &s, g);
  else ok = all && read_graph_outputs(r, &s, g);
  if (ok) remove_abandoned(r);
  graph_part_names(r->graph);
  return (r->found->absent || report_lacks(r)) && ok;
}

static bool read_inputs_alone(void *reader) {
  Onnx *r = reader;
  r->model = onnx_unpack(r->file, r->scratch);
  if (!r->model) return false;
  const Onnx__Graph *g = r->model->graph;
  OnnxScope s = {.opsets = r->model->opset_import, .nopsets = r->model->n_opset_import};
  bool ok = onnx_initializers(r, &s, g) && onnx_graph_inputs(r, &s, g);
  for (size_t i = 0; i < g->n_output; i++) {
    OnnxOutput o = onnx_declared_output(r, g->output[i]);
    vec_push(r->arena, &r->found->outputs, o);
  }
  if (ok) return_inputs(r);
  graph_part_names(r->graph);
  return report_lacks(r) && ok;
}

static Graph *read_by(bool (*read)(void *), Onnx r) {
  r.location = onnx_location(r.file);
  r.scratch = arena_child(r.arena);
  r.graph = graph_new(r.arena, r.names, r.diags);
  r.graph->extremes_of_none = true;
  r.graph->notes_relations = true; /* rules rely on sizes of which no node is left */
  bool ok = read(&r);
  r.graph->notes_relations = false;
  arena_free(r.scratch);
  return ok ? r.graph : NULL;
}

Graph *onnx_read(Arena *a, Pool *names, Diags *d, OnnxFile *f, OnnxGiven given, Weights *w,
                 OnnxFindings *found) {
  return read_by(read_model, (Onnx){.arena = a,
                                    .names = names,
                                    .diags = d,
                                    .file = f,
                                    .given = given,
                                    .weights = w,
                                    .found = found});
}

Graph *onnx_read_inputs(Arena *a, Pool *names, Diags *d, OnnxFile *f, OnnxGiven given,
                        OnnxFindings *found) {
  return read_by(
      read_inputs_alone,
      (Onnx){.arena = a, .names = names, .diags = d, .file = f, .given = given, .found = found});
}
