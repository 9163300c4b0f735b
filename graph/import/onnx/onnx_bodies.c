/* Functions of the model: their bodies take the place of their calls. */
#include <string.h>

#include "graph/import/onnx/onnx_read.h"
#include "graph/messages.h"

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

const Onnx__Function *onnx_function(const Onnx *r, const Onnx__Node *n) {
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

bool onnx_inline(Onnx *r, OnnxCall *c, const Onnx__Function *f) {
  const char *where = onnx_where(r, c->proto);
  OnnxScope s = {.opsets = f->opset_import, .nopsets = f->n_opset_import, .caller = c};
  s.function = f;
  if (++r->depth > ONNX_BODIES_MAX) return onnx_error(r, where, E_ONNX_BODIES, ONNX_BODIES_MAX);
  if (!onnx_spell(r, f->input, f->n_input) || !onnx_spell(r, f->output, f->n_output)) return false;
  if (!bind_inputs(r, &s, c) || !onnx_nodes(r, &s, f->node, f->n_node)) return false;
  for (uint32_t i = 0; i < c->nout && i < f->n_output; i++) {
    OnnxValue *v;
    if (!onnx_lookup(r, &s, f->output[i], where, &v)) return false;
    if (v) onnx_set_alias(c, i, v);
  }
  r->depth--;
  return true;
}
