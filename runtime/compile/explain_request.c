#include "runtime/compile/explain_request.h"

#include <string.h>

#include "runtime/compile/compilation.h"

typedef struct {
  Compilation *compilation;
  const EstimateLaunch *launch;
  void (*show)(Text *out, const Explained *e);
  Explained out;
  Text text;
} Explaining;

/* The last texts of their levels; a kernel that is compiled once more has later ones. */
static void keep_stage(void *context, const char *pass, const char *ir, double seconds) {
  Explaining *x = context;
  Arena *a = x->compilation->arena;
  PassList list = lower_passes();
  const Pass *p = pass_find(list, pass, strlen(pass));
  (void)seconds;
  if (!ir || !p) return;
  const char **to = p->gives == LEVEL_NEST     ? &x->out.nest
                    : p->gives == LEVEL_THREAD ? &x->out.thread
                                               : &x->out.tile;
  *to = arena_strndup(a, ir, strlen(ir));
}

static int explain_body(void *arg) {
  Explaining *x = arg;
  const EstimateLaunch *l = x->launch;
  Unit *u = x->compilation->unit;
  Arena *a = x->compilation->arena;
  EstimateValue *values = ARENA_ARRAY(a, EstimateValue, (size_t)l->nints + 1);
  EstimateInput in = {.peaks = l->peaks, .values = values, .nvalues = l->nints};
  for (int i = 0; i < 3; i++) in.grid[i] = l->grid[i] ? l->grid[i] : 1;
  for (int i = 0; i < l->nints; i++) values[i] = (EstimateValue){l->ints[i].name, l->ints[i].value};
  x->out.explanation = explain_unit(a, u, &in, l->grid[0] != 0);
  x->out.peaks = l->peaks;
  x->out.source = diag_file(u->diags, u->nest->span.file);
  x->text = text_new(a);
  x->show(&x->text, &x->out);
  return 0;
}

static int explain_stages(Explaining *x, const nereid_request *r) {
  Compilation *c = x->compilation;
  Code code_text = {0};
  int code = compile_specialize(c, r);
  if (!code) code = compile_lower(c, r, LEVEL_THREAD);
  if (code) return code;
  bool cpu = c->unit->machine->kind == MACHINE_CPU;
  code = compile_generate(c, cpu ? NEREID_C : NEREID_PTX, &code_text);
  x->out.ptx = code_text.text;
  return code ? code : compile_guard(c, COMPILE_CODE, explain_body, x);
}

int explain_kernel(const EstimateLaunch *l, void (*show)(Text *out, const Explained *e),
                   char **text, size_t *size) {
  Compilation c;
  Explaining x = {.compilation = &c, .launch = l, .show = show};
  nereid_request r = *l->request;
  r.dump_after = "all";
  r.on_pass = keep_stage;
  r.context = &x;
  r.on_message = NULL;
  int code = compile_open(&c, &r.source, false);
  if (!code) code = explain_stages(&x, &r);
  if (!code) code = owned_copy(text, size, x.text.data, x.text.len);
  code = compile_report(&c, code, l->request->on_message, l->request->context);
  compile_close(&c);
  return code;
}
