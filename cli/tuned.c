#include "cli/tuned.h"

#include <stdio.h>
#include <string.h>

#include "cli/heuristics.h"
#include "cli/messages.h"
#include "runtime/config.h"
#include "runtime/nereid_tune.h"

/* A constexpr without a value that the file does not give either; NULL: there is none. */
static const char *open_constexpr(const Tuned *t) {
  const nereid_kernel_info *kernel = t->args->kernel;
  for (int i = 0; i < kernel->nparams; i++) {
    const nereid_param *p = &kernel->params[i];
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

/* `open` is a constexpr without a value. */
static int add_best(const Tuned *t, const nereid_tuning *tuning, const char *open) {
  const nereid_candidate *best = nereid_tuning_candidate(tuning, 0);
  int status = STATUS_OK;
  if (best->status != NEREID_TUNE_OK) {
    args_error(E_CLI_UNTUNED, open, t->args->kernel->name, open);
    return STATUS_PROBLEM;
  }
  for (int i = 0; i < best->nsettings && !status; i++)
    status = add_setting(t->request, &best->settings[i]);
  return status;
}

/* Interpreters measure nothing, and IR text has nothing to tune. */
static bool can_tune(const Tuned *t, nereid_device_info *info) {
  nereid_device_get_info(info, t->device);
  return (info->kind == NEREID_PTX || info->kind == NEREID_C) && !nereid_module_is_ir(t->module);
}

/* The tuner's own message, and what else may be done. */
static int untuned(const Tuned *t, const char *open, int code) {
  int status = args_failed(code);
  if (open) message_print("note", N_CLI_OPEN, open, t->args->kernel->name, open);
  return status;
}

static int add_tuned(const Tuned *t) {
  nereid_tuning *tuning;
  nereid_device_info info;
  const char *name = open_constexpr(t);
  if (!can_tune(t, &info) || (!name && !t->tune)) return STATUS_OK;
  int status = t->grid ? request_check_args(t->request, t->args) : args_error(E_RUN_GRID_NONE);
  if (status) return status;
  nereid_tune_request r = {.kernel = t->request->api,
                           .args = t->values->data,
                           .nargs = t->values->len,
                           .grid = t->grid,
                           .device = info.name,
                           .records_only = !t->tune};
  int code = nereid_tune(&tuning, &r);
  if (code) return untuned(t, name, code);
  status = add_best(t, tuning, name);
  nereid_tuning_free(tuning);
  return status;
}

/* Some heuristics are of what was tuned. */
int tuned_add(const Tuned *t) {
  int status = heuristics_add(t->request, t->args, t->device);
  if (!status) status = add_tuned(t);
  return status ? status : heuristics_add(t->request, t->args, t->device);
}
