#include "cli/tuned.h"

#include <string.h>

#include "runtime/config.h"
#include "runtime/nereid_tune.h"

/* A constexpr without a value that the file does not give either; NULL: there is none. */
static const char *open_constexpr(const Tuned *t) {
  for (int i = 0; i < t->kernel->nparams; i++) {
    const nereid_param *p = &t->kernel->params[i];
    bool constexpr = p->kind == NEREID_PARAM_CONSTEXPR || p->tuned;
    if (constexpr && !p->has_default && !request_has(t->request, p->name)) return p->name;
  }
  return NULL;
}

static int add_setting(Request *r, const nereid_setting *s) {
  int *option = config_option(&r->api, s->name);
  if (option) return args_number(option, s->name, s->value, 1, 1024) ? 0 : STATUS_USAGE;
  return request_has(r, s->name) ? STATUS_OK : request_add(r, s->name, NULL, s->value);
}

static int add_best(const Tuned *t, const nereid_tuning *tuning) {
  const nereid_candidate *best = nereid_tuning_candidate(tuning, 0);
  int status = STATUS_OK;
  for (int i = 0; i < best->nsettings && !status; i++)
    status = add_setting(t->request, &best->settings[i]);
  return status;
}

int tuned_add(const Tuned *t) {
  nereid_tuning *tuning;
  const char *name = open_constexpr(t);
  if (!name && !t->tune) return STATUS_OK;
  int status = request_finish(t->request);
  if (status) return status;
  nereid_tune_request r = {.kernel = t->request->api,
                           .args = t->values->data,
                           .nargs = t->values->len,
                           .grid = t->grid,
                           .device = t->device,
                           .records_only = !t->tune};
  int code = nereid_tune(&tuning, &r);
  if (code && t->tune) return args_failed(code);
  if (code) {
    args_error(E_CLI_UNTUNED, name, t->kernel->name, name);
    return STATUS_PROBLEM;
  }
  status = add_best(t, tuning);
  nereid_tuning_free(tuning);
  return status;
}
