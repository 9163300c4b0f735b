/* Configurations that earlier runs have measured, whatever space those had. */
#include <string.h>

#include "runtime/tune/tuning.h"

/* What the request fixes is not chosen. */
static bool is_open(const Tuning *t, const Config *c) {
  for (int i = 0; i < c->n; i++) {
    const char *name = c->settings[i].name;
    bool known = config_is_option(name) || arguments_param(t->problem.info, name);
    if (!known || problem_fixed(&t->problem, name)) return false;
  }
  return true;
}

static bool is_there(const Tuning *t, const Config *c) {
  for (size_t i = 0; i < t->configs.len; i++)
    if (config_equal(&t->configs.data[i], c)) return true;
  return false;
}

void tune_recorded(Tuning *t) {
  RecordList list = {0};
  tuner_recorded(&t->search, &t->found, &list);
  for (size_t i = 0; i < list.len; i++) {
    Config c;
    if (config_read(&c, t->arena, list.data[i].config) && is_open(t, &c) && !is_there(t, &c))
      vec_push(t->arena, &t->configs, c);
  }
}
