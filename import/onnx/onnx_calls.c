/* Queries of rules about their call, and their error messages. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/onnx/onnx_read.h"

/* ---- inputs ---- */

bool onnx_has(const OnnxCall *c, uint32_t i) { return i < c->nin && c->in[i]; }

static OnnxValue *need_value(OnnxCall *c, uint32_t i) {
  if (!onnx_has(c, i)) onnx_fail(c, E_ONNX_INPUT, i + 1);
  if (c->in[i]->type.kind == VALUE_LIST) onnx_lack(c, "a sequence");
  return c->in[i];
}

/* An image in blocks of channels, in the order of the file. */
static Node *in_blocks(OnnxCall *c, const OnnxValue *v) {
  static const uint32_t axes[] = {0, 1, 3, 4, 2};
  Build *b = &c->b;
  const Dim *s = v->channels->type.shape;
  Dim block = build_const(b, v->block);
  Dim parts[] = {s[0], dim_floordiv(onnx_dims(c), s[1], block), block, s[2], s[3]};
  Node *x = build_permute(b, build_view(b, v->channels, 5, parts), axes);
  return build_view(b, x, v->type.rank, v->type.shape);
}

Node *onnx_node_of(OnnxCall *c, OnnxValue *v) {
  if (v->type.kind == VALUE_LIST) onnx_lack(c, "a sequence");
  if (v->absent) onnx_lack(c, "an optional value that is absent");
  if (v->keys) onnx_lack(c, "maps");
  if (v->channels && !v->node) v->node = in_blocks(c, v);
  Node *n = onnx_value_node(c->r, v);
  if (!n) longjmp(c->b.in.failed, 1);
  return n;
}

Node *onnx_in(OnnxCall *c, uint32_t i) { return onnx_node_of(c, need_value(c, i)); }

Node *onnx_optional(OnnxCall *c, uint32_t i) { return onnx_has(c, i) ? onnx_in(c, i) : NULL; }

const ValueType *onnx_type(OnnxCall *c, uint32_t i) { return &need_value(c, i)->type; }

static const OnnxKnown *known_elements(OnnxCall *c, OnnxValue *v, bool demand) {
  size_t errors = diag_errors(c->r->diags);
  const OnnxKnown *k = onnx_value_known(c->r, v, demand);
  if (diag_errors(c->r->diags) > errors) longjmp(c->b.in.failed, 1);
  return k;
}

const OnnxKnown *onnx_known(OnnxCall *c, uint32_t i) {
  return onnx_has(c, i) ? known_elements(c, c->in[i], c->demanding) : NULL;
}

bool onnx_is_of_run(const OnnxCall *c, uint32_t i) {
  return c->r->given.fixes_sizes && onnx_has(c, i) && onnx_value_source(c->in[i]);
}

const OnnxKnown *onnx_need(OnnxCall *c, uint32_t i) {
  OnnxValue *v = need_value(c, i);
  const OnnxKnown *k = known_elements(c, v, true);
  if (k) return k;
  if (c->r->given.fixes_sizes) onnx_want_input(c, i);
  const Node *input = onnx_value_source(v);
  c->r->found->needs_value |= input != NULL;
  if (input) onnx_fail(c, E_ONNX_NEEDS_VALUE, v->name, graph_passed_name(input));
  onnx_fail(c, E_ONNX_UNKNOWN, v->name);
}

const OnnxKnown *onnx_need_list(OnnxCall *c, uint32_t i) {
  const OnnxKnown *k = onnx_need(c, i);
  if (k->rank > 1 || dtype_is_float(k->dtype)) onnx_fail(c, E_ONNX_VECTOR, c->in[i]->name);
  return k;
}

uint32_t onnx_need_dims(OnnxCall *c, uint32_t i, Dim *out) {
  const OnnxKnown *k = onnx_need_list(c, i);
  if (k->n > GRAPH_RANK_MAX) onnx_fail(c, E_ONNX_RANK, (size_t)k->n, GRAPH_RANK_MAX);
  for (uint32_t j = 0; j < k->n; j++) out[j] = k->at[j].dim;
  return k->n;
}

static int64_t literal_element(OnnxCall *c, uint32_t i, Dim d) {
  if (!dim_is_int(d)) onnx_fail(c, E_ONNX_SYMBOLIC, c->in[i]->name, infer_dim_text(&c->b.in, d));
  return d->value;
}

uint32_t onnx_need_ints(OnnxCall *c, uint32_t i, int64_t *out) {
  Dim dims[GRAPH_RANK_MAX];
  uint32_t n = onnx_need_dims(c, i, dims);
  for (uint32_t j = 0; j < n; j++) out[j] = literal_element(c, i, dims[j]);
  return n;
}

Dim onnx_need_dim(OnnxCall *c, uint32_t i) {
  const OnnxKnown *k = onnx_need_list(c, i);
  if (k->n != 1) onnx_fail(c, E_ONNX_SINGLE, c->in[i]->name);
  return k->at[0].dim;
}

int64_t onnx_need_int(OnnxCall *c, uint32_t i) {
  return literal_element(c, i, onnx_need_dim(c, i));
}

double onnx_need_number(OnnxCall *c, uint32_t i) {
  const OnnxKnown *k = onnx_need(c, i);
  if (k->n != 1) onnx_fail(c, E_ONNX_SINGLE, c->in[i]->name);
  return dtype_is_float(k->dtype) ? k->at[0].number : (double)literal_element(c, i, k->at[0].dim);
}

/* ---- axes ---- */

uint32_t onnx_axis(OnnxCall *c, int64_t axis, uint32_t rank) {
  int64_t n = rank;
  if (axis < -n || axis >= n) onnx_fail(c, E_GRAPH_AXIS, (long long)axis, rank);
  return (uint32_t)(axis < 0 ? axis + n : axis);
}

uint32_t onnx_axis_attr(OnnxCall *c, const char *name, int64_t otherwise, uint32_t rank) {
  return onnx_axis(c, onnx_int(c, name, otherwise), rank);
}

uint32_t onnx_axis_set(OnnxCall *c, const int64_t *axes, uint32_t n, uint32_t rank) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t bit = 1u << onnx_axis(c, axes[i], rank);
    if (set & bit) onnx_fail(c, E_GRAPH_AXIS_TWICE, (long long)axes[i]);
    set |= bit;
  }
  return set;
}

/* ---- results ---- */

bool onnx_wants(const OnnxCall *c, uint32_t i) { return i < c->nout && c->out[i]; }

/* A node that the rule made takes the name of the value that it is. */
static void rename_result(OnnxCall *c, Node *n, const char *name) {
  if (n->id < c->first_id || n->kind == NODE_INPUT) return;
  graph_forget_name(c->r->graph, n);
  graph_fresh_name(c->r->graph, n, onnx_identifier(c->r, name, "value"));
}

/* An operator's result of bytes has elements of its operands' form: those that change elements, not
 * only where they are, say what they make (onnx_set_form). */
static void keep_form(OnnxCall *c, OnnxValue *v) {
  for (uint32_t i = 0; i < c->nin; i++)
    if (c->in[i] && c->in[i]->form && c->in[i]->type.dtype == v->type.dtype)
      v->form = c->in[i]->form;
}

void onnx_set_form(OnnxCall *c, uint32_t i, OnnxForm form) {
  if (onnx_wants(c, i)) c->out[i]->form = form;
}

void onnx_set(OnnxCall *c, uint32_t i, Node *n) {
  if (!onnx_wants(c, i)) return;
  OnnxValue *v = c->out[i];
  v->node = n;
  v->type = n->type;
  keep_form(c, v);
  onnx_keep_text(c, v);
  rename_result(c, n, v->name);
}

void onnx_set_alias(OnnxCall *c, uint32_t i, const OnnxValue *v) {
  if (!onnx_wants(c, i)) return;
  Name name = c->out[i]->name;
  *c->out[i] = *v;
  c->out[i]->name = name;
}

void onnx_set_absent(OnnxCall *c, uint32_t i) {
  if (onnx_wants(c, i)) c->out[i]->absent = true;
}

void onnx_set_known(OnnxCall *c, uint32_t i, const OnnxKnown *k) {
  if (!onnx_wants(c, i)) return;
  onnx_value_set_known(c->r, c->out[i], k);
  keep_form(c, c->out[i]);
  onnx_keep_text(c, c->out[i]);
}

Node *onnx_constant(OnnxCall *c, const OnnxKnown *k) {
  OnnxValue *v = onnx_value_new(c->r, c->stand.name);
  v->maker = c;
  onnx_value_set_known(c->r, v, k);
  Node *n = onnx_value_node(c->r, v);
  if (!n) longjmp(c->b.in.failed, 1);
  return n;
}

Node *onnx_scalar(OnnxCall *c, double value, DType t) {
  bool whole = !dtype_is_float(t) && value == floor(value) && fabs(value) < 9e15;
  Arg a = whole ? build_int(&c->b, (int64_t)value) : arg_float(value);
  return build_full(&c->b, 0, NULL, a, t);
}

/* The name of the call's argument that is the function's parameter `name`; NULL: it is none. */
static Name argument_of(const OnnxScope *s, Name name) {
  for (size_t i = 0; s->function && i < s->function->n_input; i++)
    if (!strcmp(s->function->input[i], name))
      return i < s->caller->nin ? s->caller->proto->input[i] : NULL;
  return NULL;
}

/* The scope whose node makes the value, which has the name *name there; NULL: none is known. */
static const OnnxScope *scope_of(const Onnx *r, const OnnxScope *s, Name *name) {
  for (Name argument;; s = s->caller->scope, *name = argument) {
    *name = pool_name(r->names, *name);
    while (s && !namemap_get(&s->values, *name)) s = s->outer;
    if (!s || !(argument = argument_of(s, *name))) return s;
  }
}

void onnx_want_input(OnnxCall *c, uint32_t i) {
  Onnx *r = c->r;
  const OnnxValue *v = i < c->nin ? c->in[i] : NULL;
  if (!c->scope->path || !v || v->input || v->tensor || v->is_text) return;
  if (r->found->wanted.value) return;
  Name name = c->proto->input[i];
  const OnnxScope *s = scope_of(r, c->scope, &name);
  if (!s || !s->path) return;
  name = onnx_path_name(r, s, name);
  r->found->wanted.value = arena_strndup(r->arena, name, strlen(name));
  r->found->wanted.place = onnx_body_path(c, 0);
}
