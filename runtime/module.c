/* What a kernel file holds: its kernels and their parameters. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile.h"

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
                              .params = params,
                              .nparams = (int)k->nparams};
}

static void read_kernels(nereid_module *m) {
  m->n = (int)sema_kernels(m->c.program, &m->kernels);
  m->infos = ARENA_ARRAY(m->c.arena, nereid_kernel_info, (size_t)m->n);
  for (int i = 0; i < m->n; i++) m->infos[i] = kernel_info(&m->c, &m->kernels[i]);
}

/* ---- IR text: one kernel whose parameters have their types ---- */

static nereid_param ir_param(Arena *a, Name name, Type type, int64_t div) {
  if (name && *name == '%') name++;
  return (nereid_param){.name = name ? name : "",
                        .is_pointer = type.dtype == DT_PTR,
                        .type = type_text(a, type),
                        .divisor = div < 1 ? 1 : div,
                        .annotation = ""};
}

static void read_ir(nereid_module *m) {
  const Unit *u = m->c.unit;
  Arena *a = m->c.arena;
  uint32_t n = u->nest ? u->nest->nparams : u->tile->nparams;
  nereid_param *params = ARENA_ARRAY(a, nereid_param, n);
  for (uint32_t i = 0; i < n; i++) {
    if (u->nest) {
      const NestVar *v = u->nest->params[i];
      Type type = v->dtype == DT_PTR ? type_ptr(v->elem) : type_scalar(v->dtype);
      params[i] = ir_param(a, v->name, type, v->div);
    } else {
      const TileParam *p = &u->tile->params[i];
      params[i] = ir_param(a, p->value->name, p->value->type, p->div);
    }
  }
  m->n = 1;
  m->infos = ARENA_NEW(a, nereid_kernel_info);
  *m->infos = (nereid_kernel_info){.name = u->nest ? u->nest->name : u->tile->name,
                                   .file = diag_file(m->c.diags, 1)->name,
                                   .line = 1,
                                   .params = params,
                                   .nparams = (int)n};
}

/* ---- the API ---- */

static int read_body(void *arg) {
  nereid_module *m = arg;
  if (m->c.from_ir) read_ir(m);
  else read_kernels(m);
  return 0;
}

int nereid_module_open(nereid_module **out, const nereid_source *source,
                       nereid_message_fn on_message, void *context) {
  *out = NULL;
  nereid_module *m = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  int code = compile_open(&m->c, source, false);
  if (!code) code = error_guard(m->c.arena, read_body, m);
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

int nereid_module_count(const nereid_module *m) { return m->n; }
int nereid_module_is_ir(const nereid_module *m) { return m->c.from_ir; }

const nereid_kernel_info *nereid_module_kernel(const nereid_module *m, int i) {
  return i >= 0 && i < m->n ? &m->infos[i] : NULL;
}

typedef struct {
  nereid_module *m;
  const char *which;
  const nereid_kernel_info *found;
} Finding;

static int find_body(void *arg) {
  Finding *f = arg;
  const Kernel *k = sema_find(f->m->c.program, f->which);
  if (k) f->found = &f->m->infos[k - f->m->kernels];
  return k ? 0 : NEREID_E_USAGE;
}

int nereid_module_find(const nereid_kernel_info **out, nereid_module *m, const char *which) {
  *out = NULL;
  if (m->c.from_ir) {
    if (which && *which && strcmp(which, m->infos[0].name))
      return error_set(NEREID_E_USAGE, E_RUN_IR_KERNEL, which, m->infos[0].name);
    *out = m->infos;
    return 0;
  }
  Finding f = {m, which, NULL};
  int code = error_guard(m->c.arena, find_body, &f);
  *out = f.found;
  if (code == NEREID_E_USAGE) {
    compile_report(&m->c, code, NULL, NULL);
    return error_set(NEREID_E_USAGE, "%s", nereid_error_message());
  }
  return code;
}
