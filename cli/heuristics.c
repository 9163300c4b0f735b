#include "cli/heuristics.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/decorators.h"

/* Is there anything that a decorator sets, and nobody has set? */
static bool is_open(const Request *r, const Arguments *args) {
  for (int i = 0; i < args->kernel->nparams; i++) {
    const nereid_param *p = &args->kernel->params[i];
    if (p->tuned && !request_has(r, p->name) && !arguments_find(args, p->name)) return true;
  }
  return false;
}

static int add_config(Request *r, const Config *c) {
  int status = STATUS_OK;
  for (int i = 0; i < c->n && !status; i++) {
    const nereid_setting *s = &c->settings[i];
    int *option = config_option(&r->api, s->name);
    if (!option) status = request_add(r, s->name, NULL, s->value);
    else if (!*option) *option = atoi(s->value);
  }
  return status ? status : request_finish(r);
}

int heuristics_add(Request *r, const Arguments *args, const nereid_device *d) {
  nereid_device_info info;
  Decorators *decorators;
  Config known;
  if (!is_open(r, args)) return STATUS_OK;
  int status = request_finish(r);
  if (status) return status;
  DecoratorArg *given = calloc((size_t)args->len + 1, sizeof *given);
  if (!given) return args_out_of_memory();
  for (int i = 0; i < args->len; i++) {
    const Argument *a = &args->data[i];
    given[i] = (DecoratorArg){a->name, a->array ? a->array : a->value};
  }
  nereid_device_get_info(&info, d);
  int code = decorators_open(&decorators, &r->api, given, args->len, &info);
  if (!code) code = decorators_known(&known, decorators);
  status = code ? args_failed(code) : add_config(r, &known);
  decorators_free(code ? NULL : decorators);
  free(given);
  return status;
}
