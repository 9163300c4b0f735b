#include "cli/arguments/tuned_constexprs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/request.h"
#include "cli/messages.h"
#include "cli/terminal/diagnostics.h"
#include "runtime/compile/config.h"
#include "runtime/compile/spec.h"
#include "runtime/launch/decorators.h"
#include "runtime/messages.h"
#include "runtime/nereid_tune.h"
#include "runtime/support/log.h"

/* Is there anything that a decorator sets, and nobody has set?  `any`: or a constexpr without a
 * value, which a decorator that can't be read may set. */
static bool has_open_constexpr(const Request *r, const Arguments *args, bool any) {
  for (int i = 0; i < args->kernel->nparams; i++) {
    const nereid_param *p = &args->kernel->params[i];
    bool open = p->tuned || (any && p->kind == NEREID_PARAM_CONSTEXPR && !p->has_default);
    if (open && !request_has(r, p->name) && !arguments_find(args, p->name)) return true;
  }
  return false;
}

typedef int Asking(Request *r, Arguments *args, Decorators *d);

static int ask_with(Request *r, Arguments *args, const DecoratorArg *given, const nereid_device *d,
                    Asking *add) {
  nereid_device_info info;
  Decorators *decorators;
  nereid_device_get_info(&info, d);
  int code = decorators_open(&decorators, &r->api, given, args->len, &info);
  if (code) return args_failed(code);
  int status = add(r, args, decorators);
  decorators_free(decorators);
  return status;
}

static int ask_decorators(Request *r, Arguments *args, const nereid_device *d, Asking *add) {
  int status = request_finish(r);
  if (status) return status;
  DecoratorArg *given = calloc((size_t)args->len + 1, sizeof *given);
  if (!given) return args_out_of_memory();
  for (int i = 0; i < args->len; i++) {
    const Argument *a = &args->data[i];
    given[i] = decorator_arg(a);
  }
  status = ask_with(r, args, given, d, add);
  free(given);
  return status;
}

static void log_setting(const nereid_setting *s, const char *why) {
  LOG(log_read(), LOG_TUNE, "%s=%s (%s)", s->name, s->value, why);
}

static int add_config_settings(Request *r, const Config *c, const char *why) {
  int status = STATUS_OK;
  for (int i = 0; i < c->n && !status; i++) {
    const nereid_setting *s = &c->settings[i];
    int *option = config_option(&r->api, s->name);
    bool open = option ? !*option : !request_has(r, s->name);
    if (!open) continue;
    log_setting(s, why);
    if (option) *option = atoi(s->value);
    else status = request_add(r, s->name, NULL, s->value);
  }
  return status ? status : request_finish(r);
}

/* ---- heuristics ---- */

static int add_known(Request *r, Arguments *args, Decorators *d) {
  (void)args;
  Config known;
  int code = decorators_known(&known, d);
  return code ? args_failed(code) : add_config_settings(r, &known, "heuristics");
}

/* Adds to the request what heuristics give and nobody has given.  Returns a status. */
static int decorated_heuristics(Request *r, Arguments *args, const nereid_device *d) {
  return has_open_constexpr(r, args, false) ? ask_decorators(r, args, d, add_known) : STATUS_OK;
}

/* ---- autotune ---- */

/* Notes that c is taken, unmeasured, among several configurations. */
static int note_taken(const char *kernel, const DecoratorSpace *s, const Config *c) {
  char *text = NULL;
  size_t size;
  if (s->configs.len < 2) return STATUS_OK;
  FILE *out = open_memstream(&text, &size);
  if (!out) return args_out_of_memory();
  for (int i = 0; i < c->n; i++) fprintf(out, " %s=%s", c->settings[i].name, c->settings[i].value);
  fclose(out);
  if (text) message_print("note", N_CLI_FIRST, kernel, (int)s->configs.len, text);
  free(text);
  return STATUS_OK;
}

static int add_first(Request *r, Arguments *args, Decorators *d) {
  DecoratorSpace s;
  int code = decorators_declared(&s, d);
  if (code) return args_failed(code);
  if (s.source != SPACE_AUTOTUNE) return STATUS_OK;
  const Config *first = &s.configs.data[0];
  int status = note_taken(args->kernel->name, &s, first);
  return status ? status : add_config_settings(r, first, "first of autotune");
}

/* Adds the values of autotune's first configuration, with a note that says so. */
static int decorated_first(Request *r, Arguments *args, const nereid_device *d) {
  return has_open_constexpr(r, args, true) ? ask_decorators(r, args, d, add_first) : STATUS_OK;
}

/* ---- options and hooks of a configuration whose constexprs are known ---- */

static bool has_open_option(Request *r, const Config *c) {
  bool some = false;
  for (int i = 0; i < c->n; i++) {
    const int *option = config_option(&r->api, c->settings[i].name);
    some |= option && !*option;
  }
  return some;
}

/* No option is given that the configuration has otherwise. */
static bool config_agrees_with_request(Request *r, const Config *c) {
  for (int i = 0; i < c->n; i++) {
    const int *option = config_option(&r->api, c->settings[i].name);
    if (option && *option && *option != atoi(c->settings[i].value)) return false;
  }
  return true;
}

static void mark_zeroed(Arguments *args, const ArrayNames *zeroed) {
  for (int i = 0; i < zeroed->len; i++) {
    Argument *a = arguments_find(args, zeroed->data[i]);
    if (!a || !a->array) continue;
    a->zeroed = true;
    LOG(log_read(), LOG_TUNE, "%s is zeroed (pre_hook)", a->name);
  }
}

/* A list that can't be evaluated is no error here: all constexprs are known. */
static const Config *config_at_hand(Request *r, Decorators *d, DecoratorSpace *s) {
  if (decorators_declared(s, d) || s->source != SPACE_AUTOTUNE) return NULL;
  for (size_t i = 0; i < s->configs.len; i++)
    if (config_agrees_with_request(r, &s->configs.data[i])) return &s->configs.data[i];
  return NULL;
}

static int add_rest_of_config(Request *r, Arguments *args, Decorators *d) {
  DecoratorSpace s;
  const Config *c = config_at_hand(r, d, &s);
  if (!c) return STATUS_OK;
  int status = has_open_option(r, c) ? note_taken(args->kernel->name, &s, c) : STATUS_OK;
  mark_zeroed(args, &s.zeroed[c - s.configs.data]);
  return status ? status : add_config_settings(r, c, "autotune");
}

enum { OPTIONS_OPEN = -1 }; /* instead of a status */

static int find_open_options(Request *r, Arguments *args, Decorators *d) {
  DecoratorSpace s;
  const Config *c = config_at_hand(r, d, &s);
  (void)args;
  return c && s.configs.len > 1 && has_open_option(r, c) ? OPTIONS_OPEN : STATUS_OK;
}

/* Without the warnings of decorators. */
static int ask_quietly(Request *r, Arguments *args, const nereid_device *d, Asking *asking) {
  nereid_message_fn told = r->api.on_message;
  if (!args->kernel->is_decorated) return STATUS_OK;
  r->api.on_message = NULL;
  int status = ask_decorators(r, args, d, asking);
  r->api.on_message = told;
  return status;
}

/* Are all constexprs known, but options to be chosen? */
static bool decorated_options_open(Request *r, Arguments *args, const nereid_device *d) {
  return !has_open_constexpr(r, args, true) &&
         ask_quietly(r, args, d, find_open_options) == OPTIONS_OPEN;
}

/* If all constexprs are known: adds the options of the configuration that has them, and notes which
 * arrays its pre_hook zeroes. */
static int decorated_rest(Request *r, Arguments *args, const nereid_device *d) {
  return ask_quietly(r, args, d, add_rest_of_config);
}

static int add_blocks(Request *r, Arguments *args, Decorators *d) {
  DecoratorSpace s;
  const Config *c = config_at_hand(r, d, &s);
  int status = STATUS_OK;
  (void)args;
  for (int i = 0; c && i < c->n && !status; i++) {
    const nereid_setting *set = &c->settings[i];
    if (spec_begins_descriptor(set->value) && !request_has(r, set->name))
      status = request_add(r, set->name, NULL, set->value);
  }
  return status ? status : request_finish(r);
}

/* Adds only the blocks that the configuration's pre_hook gives to tensor descriptors. */
static int decorated_blocks(Request *r, Arguments *args, const nereid_device *d) {
  return ask_quietly(r, args, d, add_blocks);
}

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

static int add_first_config(const Tuned *t) {
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

/* Heuristics may depend on tuned constexprs. */
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
  if (!status && !found) status = add_first_config(t);
  if (!status) status = decorated_heuristics(t->request, t->args, t->device);
  if (!status && measures) status = check_open(t);
  if (status) return status;
  return (t->first ? decorated_rest : decorated_blocks)(t->request, t->args, t->device);
}
