#include "cli/arguments/tuned_constexprs.h"

#include <stdio.h>
#include <string.h>

#include "cli/arguments/decorated.h"
#include "cli/messages.h"
#include "cli/terminal/diagnostics.h"
#include "runtime/compile/config.h"
#include "runtime/messages.h"
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

static int add_best(const Tuned *t, const nereid_candidate *best) {
  int status = STATUS_OK;
  for (int i = 0; i < best->nsettings && !status; i++)
    status = add_setting(t->request, &best->settings[i]);
  return status;
}

/* Interpreters measure nothing. */
static bool can_measure(const Tuned *t, nereid_device_info *info) {
  nereid_device_get_info(info, t->device);
  return info->kind == NEREID_PTX || info->kind == NEREID_C;
}

/* After a message why nothing is known of a constexpr: what else may be done. */
static int note_open(const Tuned *t, const char *open, int status) {
  if (open) message_print("note", N_CLI_OPEN, open, t->args->kernel->name, open);
  return status;
}

/* *found: the values of a run that was measured, now or before, were added. */
static int add_measured(const Tuned *t, const nereid_device_info *info, const char *open,
                        bool *found) {
  nereid_tuning *tuning;
  int status = t->grid ? request_check_args(t->request, t->args) : args_error(E_RUN_GRID_NONE);
  if (status) return status;
  nereid_tune_request r = {.kernel = t->request->api,
                           .args = t->values->data,
                           .nargs = t->values->len,
                           .grid = t->grid,
                           .device = info->name,
                           .records_only = !t->tune};
  int code = nereid_tune(&tuning, &r);
  if (code) return note_open(t, open, args_failed(code));
  const nereid_candidate *best = nereid_tuning_candidate(tuning, 0);
  *found = best->status == NEREID_TUNE_OK;
  if (*found) status = add_best(t, best);
  nereid_tuning_free(tuning);
  return status;
}

static int add_first(const Tuned *t) {
  int status = t->first && !t->tune ? decorated_first(t->request, t->args, t->device) : STATUS_OK;
  return status ? note_open(t, open_constexpr(t), status) : STATUS_OK;
}

/* A constexpr is open still: a compiler would miss it as well, but not name --tune. */
static int check_open(const Tuned *t) {
  const char *open = open_constexpr(t);
  if (!open) return STATUS_OK;
  args_error(E_CLI_UNTUNED, open, t->args->kernel->name, open);
  return STATUS_PROBLEM;
}

/* Some heuristics are of what was tuned. */
int tuned_add(const Tuned *t) {
  nereid_device_info info;
  if (nereid_module_is_ir(t->module)) return STATUS_OK;
  int status = decorated_heuristics(t->request, t->args, t->device);
  const char *open = open_constexpr(t);
  bool measures = can_measure(t, &info), found = false;
  bool chosen = open || t->tune;
  if (!status && measures && !chosen && t->first)
    chosen = decorated_options_open(t->request, t->args, t->device);
  if (!status && measures && chosen) status = add_measured(t, &info, open, &found);
  if (!status && !found) status = add_first(t);
  if (!status) status = decorated_heuristics(t->request, t->args, t->device);
  if (!status && measures) status = check_open(t);
  return status || !t->first ? status : decorated_rest(t->request, t->args, t->device);
}
