#include "cli/commands/list_configs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/decorators.h"

typedef struct {
  Request *request;
  Arguments args;
  DecoratorArg *given;
  int ngiven;
} Listing;

static void print_names(const char *what, const char **names, int n) {
  for (int i = 0; i < n; i++) printf("%s%s", i ? ", " : what, names[i]);
}

static void print_head(const char *kernel, const DecoratorSpace *s) {
  static const char *const sources[] = {"nothing declared", "autotune", "derived"};
  printf("%s: %s, %d configuration%s", kernel, sources[s->source], (int)s->configs.len,
         s->configs.len == 1 ? "" : "s");
  print_names("; key ", s->key, s->nkey);
  print_names("; zeroed ", s->reset_to_zero, s->nreset_to_zero);
  print_names("; restored ", s->restore_value, s->nrestore_value);
  putchar('\n');
}

static void print_config(const Config *c) {
  fputs(" ", stdout);
  for (int i = 0; i < c->n; i++) printf(" %s=%s", c->settings[i].name, c->settings[i].value);
  putchar('\n');
}

/* Heuristics look at arguments, and spaces are derived for them: without any, what decorators give
 * is all. */
static int print_space(Decorators *d, const char *kernel, bool complete) {
  DecoratorSpace s;
  int code = complete ? decorators_space(&s, d) : decorators_declared(&s, d);
  if (code) return args_failed(code);
  print_head(kernel, &s);
  for (size_t i = 0; i < s.configs.len; i++) {
    Config c = s.configs.data[i];
    if (complete) code = decorators_complete(&c, d, &s.configs.data[i]);
    if (code) return args_failed(code);
    print_config(&c);
  }
  return STATUS_OK;
}

/* `which`: how the kernel is asked for; `name`: its own. */
static int list_kernel(Listing *l, const char *which, const char *name) {
  Decorators *d;
  l->request->api.kernel = which;
  int code = decorators_open(&d, &l->request->api, l->given, l->ngiven, NULL);
  if (code) return args_failed(code);
  int status = print_space(d, name, l->ngiven > 0);
  decorators_free(d);
  return status;
}

static int give_arguments(Listing *l, const Settings *values, const nereid_kernel_info *k) {
  int status = request_args(&l->args, k, values);
  l->given = status ? NULL : calloc((size_t)l->args.len + 1, sizeof *l->given);
  if (!status && !l->given) return args_out_of_memory();
  for (int i = 0; i < l->args.len && !status; i++) {
    const Argument *a = &l->args.data[i];
    l->given[l->ngiven++] = (DecoratorArg){a->name, a->array ? a->array : a->value};
  }
  return status;
}

/* Of all kernels of a file each is told, also after one that can't be. */
static int list_all(Listing *l, const nereid_module *m) {
  int status = STATUS_OK;
  for (int i = 0; i < nereid_module_count(m); i++) {
    const nereid_kernel_info *k = nereid_module_kernel(m, i);
    if (k->is_helper || k->is_shadowed) continue;
    int one = list_kernel(l, k->name, k->name);
    if (!status) status = one;
  }
  return status;
}

static int list_module(Listing *l, nereid_module *m, const Settings *values) {
  const nereid_kernel_info *k;
  if (!l->request->api.kernel && !values->len) return list_all(l, m);
  const char *which = l->request->api.kernel;
  int code = nereid_module_find(&k, m, which);
  if (code) return args_failed(code);
  int status = give_arguments(l, values, k);
  return status ? status : list_kernel(l, which ? which : k->name, k->name);
}

int list_configs(Request *r, const Settings *values) {
  Listing l = {.request = r};
  nereid_module *m;
  int code = nereid_module_open(&m, &r->api.source, NULL, NULL);
  if (code) return args_failed(code);
  int status = list_module(&l, m, values);
  arguments_free(&l.args);
  free(l.given);
  nereid_module_free(m);
  return status;
}
