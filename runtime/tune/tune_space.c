/* Where a tuner's configurations come from. */
#include <string.h>

#include "runtime/messages.h"
#include "runtime/tune/space.h"
#include "runtime/tune/tuning.h"

int tune_open(Tuning *t) {
  DecoratorArg *args = ARENA_ARRAY(t->arena, DecoratorArg, (size_t)t->problem.args.len);
  for (int i = 0; i < t->problem.args.len; i++) {
    const Argument *a = &t->problem.args.data[i];
    args[i] = (DecoratorArg){a->name, a->array ? a->array : a->value};
  }
  return decorators_open(&t->decorators, &t->problem.request, args, t->problem.args.len,
                         &t->device->info);
}

/* ---- options that are asked for, in place of those that a configuration has ---- */

static bool sets(const nereid_tune_axis *axes, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(axes[i].name, name)) return true;
  return false;
}

static Config with_options(const Tuning *t, const Config *c, const Config *options) {
  Config out = {ARENA_ARRAY(t->arena, nereid_setting, (size_t)(c->n + options->n)), 0};
  for (int i = 0; i < c->n; i++)
    if (!sets(t->axes, t->naxes, c->settings[i].name)) out.settings[out.n++] = c->settings[i];
  for (int i = 0; i < options->n; i++) out.settings[out.n++] = options->settings[i];
  return out;
}

static bool is_in(const Configs *list, const Config *c) {
  for (size_t i = 0; i < list->len; i++)
    if (config_equal(&list->data[i], c)) return true;
  return false;
}

static int combine(Tuning *t) {
  Configs options = {0};
  int code = space_of_axes(&options, &t->problem, t->axes, t->naxes);
  for (size_t i = 0; i < t->space.configs.len && !code; i++) {
    for (size_t j = 0; j < options.len; j++) {
      Config c = with_options(t, &t->space.configs.data[i], &options.data[j]);
      if (!is_in(&t->configs, &c)) vec_push(t->arena, &t->configs, c);
      if (t->configs.len > SPACE_MOST)
        return error_set(NEREID_E_USAGE, E_TUNE_SPACE_LARGE, SPACE_MOST);
    }
  }
  return code;
}

/* ---- all of it ---- */

/* On a CPU, what only a GPU's code depends on is not searched. */
static void choose_axes(Tuning *t) {
  const nereid_tune_request *r = t->request;
  nereid_tune_axis *axes = ARENA_ARRAY(t->arena, nereid_tune_axis, (size_t)r->naxes);
  bool gpu = device_kind(t->device) == NEREID_PTX;
  t->axes = axes;
  for (int i = 0; i < r->naxes; i++)
    if (gpu || !config_is_option(r->axes[i].name)) axes[t->naxes++] = r->axes[i];
}

static bool names_constexprs(const Tuning *t) {
  for (int i = 0; i < t->naxes; i++)
    if (!config_is_option(t->axes[i].name)) return true;
  return false;
}

int tune_space(Tuning *t) {
  int code = space_check(&t->problem, t->request->axes, t->request->naxes);
  if (code) return code;
  choose_axes(t);
  if (names_constexprs(t)) return space_of_axes(&t->configs, &t->problem, t->axes, t->naxes);
  code = decorators_space(&t->space, t->decorators);
  if (code) return code;
  if (t->space.source == SPACE_NONE && !t->naxes)
    return error_set(NEREID_E_USAGE, E_TUNE_SPACE, t->problem.info->name);
  return combine(t);
}

int tune_complete(Tuning *t, const Config *c, nereid_request *out) {
  Config full;
  int code = decorators_complete(&full, t->decorators, c);
  if (!code) *out = problem_request(&t->problem, &full);
  return code;
}
