/* The kernels of a file and their parameters. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compilation.h"

struct nereid_module {
  Compilation c;
  const Kernel *kernels;     /* of source text */
  nereid_kernel_info *infos; /* for each */
  int n;
};

/* ---- source text ---- */

static nereid_param param_info(Arena *a, const KernelParam *p) {
  nereid_param out = {.name = p->name,
                      .has_default = p->has_default,
                      .tuned = p->tuned,
                      .do_not_specialize = p->do_not_specialize,
                      .divisor = 1,
                      .annotation = p->text ? p->text : ""};
  out.kind = p->kind == KP_CONSTEXPR ? NEREID_PARAM_CONSTEXPR : NEREID_PARAM_RUNTIME;
  if (p->declared != DT_NONE) out.type = type_text(a, type_scalar(p->declared));
  return out;
}

static nereid_kernel_info kernel_info(Compilation *c, const Kernel *k) {
  nereid_param *params = ARENA_ARRAY(c->arena, nereid_param, k->nparams);
  for (uint32_t i = 0; i < k->nparams; i++) params[i] = param_info(c->arena, &k->params[i]);
  const Source *file = diag_file(c->diags, k->span.file);
  return (nereid_kernel_info){.name = k->name,
                              .file = file ? file->name : "",
                              .line = (int)k->span.line,
                              .is_helper = k->helper,
                              .is_shadowed = k->shadowed,
                              .is_decorated = k->decorated,
                              .params = params,
                              .nparams = (int)k->nparams};
}

static void read_kernels(nereid_module *m) {
  m->n = (int)sema_kernels(m->c.program, &m->kernels);
  m->infos = ARENA_ARRAY(m->c.arena, nereid_kernel_info, (size_t)m->n);
  for (int i = 0; i < m->n; i++) m->infos[i] = kernel_info(&m->c, &m->kernels[i]);
}

/* ---- IR text: kernels whose parameters have their types ---- */

static nereid_param ir_param(Arena *a, Name name, Type type, int64_t div) {
  if (name && *name == '%') name++;
  return (nereid_param){.name = name ? name : "",
                        .is_pointer = type.dtype == DT_PTR,
                        .type = type_text(a, type),
                        .divisor = div < 1 ? 1 : div,
                        .annotation = ""};
}

static nereid_param unit_param(Arena *a, const Unit *u, uint32_t i) {
  if (!u->nest) {
    const TileParam *p = &u->tile->params[i];
    return ir_param(a, p->value->name, p->value->type, p->div);
  }
  const NestVar *v = u->nest->params[i];
  Type type = v->dtype == DT_PTR ? type_ptr(v->elem) : type_scalar(v->dtype);
  return ir_param(a, v->name, type, v->div);
}

static nereid_kernel_info unit_info(Compilation *c, uint32_t which) {
  const Unit *u = c->units.data[which];
  uint32_t n = u->nest ? u->nest->nparams : u->tile->nparams;
  nereid_param *params = ARENA_ARRAY(c->arena, nereid_param, n);
  for (uint32_t i = 0; i < n; i++) params[i] = unit_param(c->arena, u, i);
  return (nereid_kernel_info){.name = lower_name(u),
                              .file = diag_file(c->diags, c->units.file)->name,
                              .line = (int)u->span.line,
                              .is_shadowed = units_shadowed(&c->units, which),
                              .params = params,
                              .nparams = (int)n};
}

static void read_units(nereid_module *m) {
  m->n = (int)m->c.units.len;
  m->infos = ARENA_ARRAY(m->c.arena, nereid_kernel_info, (size_t)m->n);
  for (int i = 0; i < m->n; i++) m->infos[i] = unit_info(&m->c, (uint32_t)i);
}

static const nereid_kernel_info *info_of_unit(const nereid_module *m, const Unit *u) {
  for (int i = 0; u && i < m->n; i++)
    if (m->c.units.data[i] == u) return &m->infos[i];
  return NULL;
}

int module_check_name(nereid_module *m, const nereid_kernel_info *kernel, const char *name) {
  const Kernel *k = m->c.from_ir ? NULL : &m->kernels[kernel - m->infos];
  if (!k || sema_param_of(k, name)) return 0;
  return compile_check_name(m->c.program, k, name, true, false);
}

/* ---- the API ---- */

static int read_module_body(void *arg) {
  nereid_module *m = arg;
  if (m->c.from_ir) read_units(m);
  else read_kernels(m);
  return 0;
}

int nereid_module_open(nereid_module **out, const nereid_source *source,
                       nereid_message_fn on_message, void *context) {
  REQUIRE_OUT(out);
  REQUIRE(source);
  nereid_module *m = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  int code = compile_open(&m->c, source, false);
  if (!code) code = compile_guard(&m->c, COMPILE_PARSE, read_module_body, m);
  code = compile_report(&m->c, code, on_message, context);
  if (code) nereid_module_free(m);
  else *out = m;
  return code;
}

void nereid_module_free(nereid_module *m) {
  if (!m) return;
  compile_close(&m->c);
  free(m);
}

int nereid_module_count(const nereid_module *m) {
  REQUIRE(m);
  return m->n;
}
int nereid_module_is_ir(const nereid_module *m) {
  REQUIRE(m);
  return m->c.from_ir;
}

const nereid_kernel_info *nereid_module_kernel(const nereid_module *m, int i) {
  REQUIRE_OR(m, NULL);
  return i >= 0 && i < m->n ? &m->infos[i] : NULL;
}

typedef struct {
  nereid_module *m;
  const char *which;
  const nereid_kernel_info *found;
} Finding;

/* Finds the kernel by its definition: it may have been found by the name of a decorated wrapper. */
static const nereid_kernel_info *info_of_kernel(const nereid_module *m, const Kernel *k) {
  for (int i = 0; k && i < m->n; i++)
    if (m->kernels[i].def == k->def && m->kernels[i].name == k->name) return &m->infos[i];
  return NULL;
}

static int find_body(void *arg) {
  Finding *f = arg;
  nereid_module *m = f->m;
  if (m->c.from_ir) {
    f->found = info_of_unit(m, units_find(&m->c.units, m->c.diags, f->which));
  } else {
    f->found = info_of_kernel(m, sema_find(m->c.program, f->which, NULL));
  }
  if (f->found) return 0;
  return m->c.from_ir ? NEREID_E_USAGE : compile_not_found(m->c.program);
}

int nereid_module_find(const nereid_kernel_info **out, nereid_module *m, const char *which) {
  REQUIRE_OUT(out);
  REQUIRE(m);
  Finding f = {m, which, NULL};
  size_t before = diag_count(m->c.diags);
  int code = compile_guard(&m->c, COMPILE_PARSE, find_body, &f);
  *out = f.found;
  if (code == NEREID_E_USAGE || code == NEREID_E_KERNEL)
    code = compile_report(&m->c, code, NULL, NULL);
  diag_rewind(m->c.diags, before);
  return code;
}
