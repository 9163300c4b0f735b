#include "runtime/tune/problem.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/messages.h"
#include "sema/sema.h"

/* ---- arguments ---- */

const char *problem_fixed(const Problem *p, const char *name) {
  for (int i = 0; i < p->request.nargs; i++)
    if (p->request.args[i].value && sema_is_item(p->request.args[i].name, name))
      return p->request.args[i].value;
  return NULL;
}

static int check_fixed(const Problem *p) {
  int code = 0;
  for (int i = 0; i < p->request.nargs && !code; i++)
    code = arguments_check_name(p->info, p->request.args[i].name);
  return code;
}

static int read_problem_args(Problem *p, const nereid_tune_request *r) {
  char type[ARGUMENT_TYPE];
  int code = check_fixed(p);
  if (!code) code = arguments_read(&p->args, p->info, r->args, r->nargs, true);
  p->types = ARENA_ARRAY(p->arena, const char *, (size_t)r->nargs);
  for (int i = 0; i < p->args.len && !code; i++) {
    code = argument_type(type, &p->args.data[i]);
    p->types[i] = arena_strndup(p->arena, type, strlen(type));
  }
  return code ? code : arguments_check(&p->args, &p->request);
}

int problem_open(Problem *p, Arena *a, const nereid_tune_request *r) {
  *p = (Problem){.arena = a, .request = r->kernel, .grid = r->grid};
  if (!r->grid) return error_set(NEREID_E_USAGE, E_RUN_GRID_NONE);
  int code = nereid_module_open(&p->module, &r->kernel.source, NULL, NULL);
  if (!code) code = nereid_module_find(&p->info, p->module, r->kernel.kernel);
  return code ? code : read_problem_args(p, r);
}

void problem_close(Problem *p) {
  arguments_free(&p->args);
  nereid_module_free(p->module);
  *p = (Problem){0};
}

/* ---- one configuration ---- */

nereid_request problem_request(const Problem *p, const Config *c) {
  nereid_request r = p->request;
  int most = r.nargs + p->args.len + c->n;
  nereid_arg *args = ARENA_ARRAY(p->arena, nereid_arg, (size_t)most);
  int n = 0;
  for (int i = 0; i < r.nargs; i++) args[n++] = r.args[i];
  for (int i = 0; i < p->args.len; i++)
    args[n++] = (nereid_arg){.name = p->args.data[i].name, .type = p->types[i]};
  for (int i = 0; i < c->n; i++) {
    const nereid_setting *s = &c->settings[i];
    int *option = config_option(&r, s->name);
    if (option) *option = (int)strtol(s->value, NULL, 10);
    /* A kernel may take num_warps as a constexpr, too. */
    if (!option || arguments_param(p->info, s->name))
      args[n++] = (nereid_arg){.name = s->name, .value = s->value};
  }
  r.args = args;
  r.nargs = n;
  return r;
}

const nereid_binding *problem_bindings(const Problem *p, const nereid_request *r, int *n) {
  nereid_binding *names = ARENA_ARRAY(p->arena, nereid_binding, (size_t)(p->args.len + r->nargs));
  *n = arguments_bind(names, &p->args, r);
  return names;
}
