/* Nodes of the model, each translated by the rule of its operator; functions of the model, whose
 * bodies replace their calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"

static const OnnxOp ops[] = {
#define ONNX(text, opset, rule, ...) \
  {.id = ONNX_##text, .name = #text, .since = opset, .translate = onnx_op_##rule, __VA_ARGS__},
#define ATEN(op) .aten = OP_##op,
#define FOLD(rule) .fold = onnx_fold_##rule,
#define TEXT(use) .text = TEXT_##use,
#define DOMAIN(name) .domain = #name,
#include "import/onnx/onnx_table.def"
};

static int compare_op_name(const void *name, const void *op) {
  return strcmp(name, ((const OnnxOp *)op)->name);
}

/* The row of that operator, NULL if it is not supported; com_microsoft_Gelu of com.microsoft. */
static const OnnxOp *onnx_op_find(const char *domain, const char *name) {
  char row[256];
  int n = snprintf(row, sizeof row, "%s%s%s", domain, *domain ? "_" : "", name);
  if (n < 0 || (size_t)n >= sizeof row) return NULL;
  for (size_t i = 0; domain[i]; i++)
    if (row[i] == '.') row[i] = '_';
  const OnnxOp *op = bsearch(row, ops, sizeof ops / sizeof *ops, sizeof *ops, compare_op_name);
  return op && !strcmp(op->domain ? op->domain : "", domain) ? op : NULL;
}

/* ---- functions of the model, which are inlined ---- */

/* "ai.onnx" is the same domain as "". */
static const char *onnx_domain(const char *domain) {
  domain = onnx_text(domain);
  return strcmp(domain, "ai.onnx") ? domain : "";
}

static Name key_of(const Onnx *r, const char *domain, const char *name, const char *overload) {
  return pool_name(r->names, arena_printf(r->scratch, "%s:%s:%s", onnx_domain(domain),
                                          onnx_text(name), onnx_text(overload)));
}

void onnx_find_functions(Onnx *r) {
  for (size_t i = 0; i < r->model->n_functions; i++) {
    Onnx__Function *f = r->model->functions[i];
    void **slot =
        namemap_put(r->scratch, &r->functions, key_of(r, f->domain, f->name, f->overload));
    if (!*slot) *slot = f;
  }
}

/* The function of that name, NULL if the model has none. */
static const Onnx__Function *onnx_function(const Onnx *r, const Onnx__Node *n) {
  if (!r->model->n_functions) return NULL;
  return namemap_get(&r->functions, key_of(r, n->domain, n->op_type, n->overload));
}

/* Inputs that the call leaves out are left out in the body: their names stand for nothing. */
static bool bind_inputs(Onnx *r, OnnxScope *s, const OnnxCall *c) {
  for (size_t i = 0; i < s->function->n_input; i++) {
    void **slot = namemap_put(r->scratch, &s->values, pool_name(r->names, s->function->input[i]));
    *slot = i < c->nin ? c->in[i] : NULL;
    if (*slot) continue;
    OnnxValue *v = *slot = ARENA_NEW(r->scratch, OnnxValue);
    v->absent = true;
  }
  return true;
}

/* A call of a function of the model: its body takes the call's place. */
static bool onnx_inline(Onnx *r, OnnxCall *c, const Onnx__Function *f) {
  const char *where = onnx_where(r, c->proto);
  OnnxScope s = {.opsets = f->opset_import, .nopsets = f->n_opset_import, .caller = c};
  s.path = onnx_body_path(c, 'f');
  s.function = f;
  if (++r->depth > ONNX_BODIES_MAX) return onnx_error(r, where, E_ONNX_BODIES, ONNX_BODIES_MAX);
  if (!onnx_spell(r, f->input, f->n_input) || !onnx_spell(r, f->output, f->n_output)) return false;
  if (!bind_inputs(r, &s, c) || !onnx_nodes(r, &s, f->node, f->n_node)) return false;
  for (uint32_t i = 0; i < c->nout && i < f->n_output; i++) {
    OnnxValue *v;
    if (!onnx_lookup(r, &s, f->output[i], where, &v)) return false;
    if (v) onnx_set_alias(c, i, v);
    else onnx_set_absent(c, i);
  }
  r->depth--;
  return true;
}

/* The version of a domain in that scope, 0 if it is not imported. */
static int64_t onnx_opset(const OnnxScope *s, const char *domain) {
  while (s->outer) s = s->outer;
  for (size_t i = 0; i < s->nopsets; i++)
    if (!strcmp(onnx_domain(s->opsets[i]->domain), domain)) return s->opsets[i]->version;
  return 0;
}

bool onnx_lookup(Onnx *r, const OnnxScope *s, const char *name, const char *where,
                 OnnxValue **out) {
  *out = NULL;
  if (!*name) return true;
  OnnxValue *v = onnx_scope_find(s, pool_name(r->names, name));
  if (!v) return onnx_error(r, where, E_GRAPH_UNDEFINED, name);
  *out = v->absent ? NULL : v;
  return true;
}

bool onnx_spell(Onnx *r, char *const *names, size_t n) {
  enum { LONG = 64 };
  for (size_t i = 0; i < n && r->spelled <= ONNX_NAMES_MAX; i++)
    r->spelled += 1 + strlen(onnx_text(names[i])) / LONG;
  if (r->spelled <= ONNX_NAMES_MAX) return true;
  return onnx_error(r, "functions and bodies", E_ONNX_NAMES, ONNX_NAMES_MAX);
}

static bool spell_node(Onnx *r, const Onnx__Node *n) {
  r->spelled += n->n_attribute;
  return onnx_spell(r, (char *const[]){n->name, n->op_type}, 2) &&
         onnx_spell(r, n->input, n->n_input) && onnx_spell(r, n->output, n->n_output);
}

/* ---- a call ---- */

static bool find_call_inputs(Onnx *r, OnnxScope *s, OnnxCall *c, const char *where) {
  c->nin = (uint32_t)c->proto->n_input;
  c->in = ARENA_ARRAY(r->scratch, OnnxValue *, c->nin);
  for (uint32_t i = 0; i < c->nin; i++)
    if (!onnx_lookup(r, s, c->proto->input[i], where, &c->in[i])) return false;
  return true;
}

/* ---- values that a run computes first ---- */

/* The caller's input that takes the place of that value; NULL: there is none. */
static OnnxValue *stage_of(const Onnx *r, const OnnxScope *s, const char *name) {
  if (!r->given.nstages || !s->path || !*name) return NULL;
  name = onnx_path_name(r, s, name);
  for (uint32_t i = 0; i < r->given.nstages; i++)
    if (!(r->given.absent >> i & 1) && !strcmp(r->given.stages[i].value, name))
      return onnx_scope_find(r->top, pool_name(r->names, name));
  return NULL;
}

/* Its name in the body is the value's own. */
static bool define_stage(Onnx *r, OnnxScope *s, const char *name) {
  const OnnxValue *stage = stage_of(r, s, name);
  if (!stage || s == r->top) return true;
  OnnxValue *v = onnx_value_new(r, pool_name(r->names, name));
  Name own = v->name;
  *v = *stage;
  v->name = own;
  return onnx_scope_define(r, s, v);
}

/* Reading ends with the value that is returned alone, if it could be read. */
static bool is_result(const Onnx *r, const OnnxScope *s, const OnnxValue *v) {
  return r->given.result && s->path && v->type.kind == VALUE_TENSOR &&
         !strcmp(onnx_path_name(r, s, v->name), r->given.result->value);
}

static void make_outputs(Onnx *r, OnnxCall *c) {
  c->nout = (uint32_t)c->proto->n_output;
  c->out = ARENA_ARRAY(r->scratch, OnnxValue *, c->nout);
  for (uint32_t i = 0; i < c->nout; i++) {
    if (!*c->proto->output[i] || stage_of(r, c->scope, c->proto->output[i])) continue;
    c->out[i] = onnx_value_new(r, pool_name(r->names, c->proto->output[i]));
    c->out[i]->maker = c;
    c->out[i]->number = i;
  }
}

/* Names of values that a body computes are visible after the call only. */
static bool define_outputs(Onnx *r, OnnxScope *s, const OnnxCall *c) {
  for (uint32_t i = 0; i < c->nout; i++) {
    if (c->out[i] && is_result(r, s, c->out[i])) return r->reached = c->out[i], false;
    if (c->out[i] ? !onnx_scope_define(r, s, c->out[i])
                  : !define_stage(r, s, c->proto->output[i]))
      return false;
  }
  return true;
}

/* "ONNX: Conv layer1.conv"; control characters could end the comment that it is printed in. */
static Name onnx_origin(Onnx *r, const Onnx__Node *n) {
  char *text = arena_printf(r->scratch, "ONNX: %s %s", onnx_text(n->op_type),
                            onnx_node_name(n));
  for (char *p = text; *p; p++)
    if ((unsigned char)*p < ' ' || *p == 127) *p = ' ';
  size_t len = strlen(text);
  while (text[len - 1] == ' ') len--;
  return pool_namen(r->names, text, len);
}

static OnnxCall *onnx_call_new(Onnx *r, OnnxScope *s, const Onnx__Node *n) {
  OnnxCall *c = ARENA_NEW(r->scratch, OnnxCall);
  const char *name = n->n_output && *n->output[0] ? n->output[0] : onnx_text(n->name);
  *c = (OnnxCall){.r = r, .scope = s, .proto = n, .first_id = r->graph->nids};
  c->stand.name = onnx_identifier(r, name, "value");
  c->stand.location = r->location;
  c->stand.origin = onnx_origin(r, n);
  c->b = (Build){.in = {.g = r->graph, .n = &c->stand, .foreign = onnx_text(n->op_type)}};
  return c;
}

static bool is_supported(const OnnxValue *v) {
  bool list = v->type.kind == VALUE_LIST, all = list || v->type.kind == VALUE_TENSOR;
  for (uint32_t i = 0; list && i < v->nitems; i++) all &= is_supported(v->items[i]);
  return all;
}

/* Does it depend on a value that is not supported, which was reported? */
static bool is_behind_lack(const OnnxCall *c) {
  bool all = true;
  for (uint32_t i = 0; i < c->nin; i++) all &= !c->in[i] || is_supported(c->in[i]);
  return !all;
}

static bool find_onnx_op(Onnx *r, OnnxCall *c) {
  const char *domain = onnx_domain(c->proto->domain), *name = onnx_text(c->proto->op_type);
  c->opset = onnx_opset(c->scope, domain);
  c->op = onnx_op_find(domain, name);
  if (c->op && c->opset >= c->op->since) return true;
  const char *whole = *domain ? arena_printf(r->arena, "%s.%s", domain, name) : name;
  if (c->op)
    whole = arena_printf(r->arena, "%s of opset %lld, before %d", whole, (long long)c->opset,
                         c->op->since);
  onnx_note_unknown(r, whole, onnx_where(r, c->proto));
  return c->op = NULL, false;
}

/* A rule that jumped either noted what is not supported, or reported an error. */
static bool translate(OnnxCall *c) {
  Onnx *r = c->r;
  size_t errors = diag_errors(r->diags);
  if (setjmp(c->b.in.failed)) {
    if (r->reached) return false;
    if (diag_errors(r->diags) == errors) return true;
    if (!c->told) diag_note(r->diags, r->location, N_ONNX_NODE, onnx_where(r, c->proto));
    return false;
  }
  onnx_check_texts(c);
  const OnnxValue *blocks = onnx_take_channels(c);
  if (!c->op->fold || !c->op->fold(c)) c->op->translate(c);
  if (blocks) onnx_give_blocks(c, blocks);
  onnx_check_asked(c);
  return true;
}

static bool run_node(Onnx *r, OnnxScope *s, const Onnx__Node *n) {
  if (r->depth && !spell_node(r, n)) return false;
  const char *where = onnx_where(r, n);
  if (++r->calls > ONNX_CALLS_MAX) return onnx_error(r, where, E_ONNX_CALLS, ONNX_CALLS_MAX);
  if (r->graph->nids > ONNX_NODES_MAX) return onnx_error(r, where, E_ONNX_CALLS, ONNX_NODES_MAX);
  OnnxCall *c = onnx_call_new(r, s, n);
  if (!find_call_inputs(r, s, c, where)) return false;
  make_outputs(r, c);
  const Onnx__Function *f = onnx_function(r, n);
  bool ok = true;
  if (f) ok = onnx_inline(r, c, f);
  else if (find_onnx_op(r, c) && !is_behind_lack(c)) ok = translate(c);
  return ok && define_outputs(r, s, c);
}

bool onnx_nodes(Onnx *r, OnnxScope *s, Onnx__Node **nodes, size_t n) {
  for (size_t i = 0; i < n; i++, s->at++)
    if (!run_node(r, s, nodes[i])) return false;
  return true;
}
