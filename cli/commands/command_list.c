/* nereid list: the kernels of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/request.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "runtime/launch/decorators.h"

typedef struct {
  Request *request;
  Arguments args;
  DecoratorArg *given;
  int ngiven;
} Listing;

static void print_name_list(const char *what, const char **names, int n) {
  for (int i = 0; i < n; i++) printf("%s%s", i ? ", " : what, names[i]);
}

static void print_space_head(const char *kernel, const DecoratorSpace *s) {
  static const char *const sources[] = {"nothing declared", "autotune", "derived"};
  printf("%s: %s, %d configuration%s", kernel, sources[s->source], (int)s->configs.len,
         s->configs.len == 1 ? "" : "s");
  print_name_list("; key ", s->key, s->nkey);
  print_name_list("; zeroed ", s->reset_to_zero, s->nreset_to_zero);
  print_name_list("; restored ", s->restore_value, s->nrestore_value);
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
  print_space_head(kernel, &s);
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
    l->given[l->ngiven++] = decorator_arg(a);
  }
  return status;
}

/* Lists each kernel of a file, also after one that can't be listed. */
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

/* Prints, for the kernel (or each entry kernel of the file), the configurations that decorators
 * give or that follow from the kernel.  Heuristics add their constexprs if arguments are given. */
static int list_configs(Request *r, const Settings *values) {
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

enum { OPT_CONFIGS = REQUEST_OPTIONS_END };

static const Option options[] = {
    {OPT_CONFIGS, "--configs", NULL, "lists the configurations to tune over, for these arguments"},
    REQUEST_OPTIONS,
    {0},
};

static void print_kernel_param(const nereid_param *p) {
  printf("%s: %s", p->name,
         p->kind == NEREID_PARAM_CONSTEXPR ? "constexpr"
         : p->type                         ? p->type
                                           : "arg");
  if (p->tuned) fputs(" tuned", stdout);
  if (p->has_default) fputs(" optional", stdout);
}

static void print_kernel_line(const nereid_kernel_info *k) {
  fputs(k->name, stdout);
  if (k->is_shadowed) printf("@%d", k->line);
  putchar('(');
  for (int i = 0; i < k->nparams; i++) {
    if (i) fputs(", ", stdout);
    print_kernel_param(&k->params[i]);
  }
  printf(")  %s:%d\n", k->file, k->line);
}

static int list_source(const nereid_source *source) {
  nereid_module *m;
  const nereid_kernel_info *none;
  int code = nereid_module_open(&m, source, args_on_message, NULL);
  if (code) return args_failed(code);
  for (int i = 0; i < nereid_module_count(m); i++) print_kernel_line(nereid_module_kernel(m, i));
  if (!nereid_module_count(m)) code = nereid_module_find(&none, m, NULL);
  nereid_module_free(m);
  return code ? args_failed(code) : STATUS_OK;
}

typedef struct {
  Request request;
  Settings values;
  bool configs;
  const char *of_configs; /* an option that is for --configs only, and was given; NULL: none */
} List;

static int take_list_option(List *l, int id, const char *value) {
  switch (id) {
    case OPT_CONFIGS: l->configs = true; return STATUS_OK;
    case ARGS_POSITIONAL:
      if (!*value) return args_error(E_CLI_NO_FILE);
      if (!l->request.file) return request_file(&l->request, value);
      if (!l->configs) return args_error(E_CLI_EXTRA_FILE, value, "");
      return settings_add_value(&l->values, value);
    case OPT_IMPORT_PATH: break;
    default: l->of_configs = args_option_name(options, id); break;
  }
  return request_option(&l->request, id, value);
}

static int run_list(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  List l = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_list_option(&l, id, value);
  if (status == STATUS_OK && l.of_configs && !l.configs)
    status = args_error(E_CLI_NEEDS, l.of_configs, "--configs");
  if (status == STATUS_OK) status = request_finish(&l.request);
  if (status == STATUS_OK)
    status = l.configs ? list_configs(&l.request, &l.values) : list_source(&l.request.api.source);
  settings_free(&l.values);
  request_free(&l.request);
  return status;
}

static const Operand operands[] = {
    {"FILE[:KERNEL]", "a Python file, text of --emit, or -; KERNEL is for --configs"},
    OPERAND_VALUES,
    {0},
};

const Command command_list = {
    "list",
    "FILE [--configs [NAME=VALUE]... [-D NAME=VALUE]...] [OPTION]...",
    "Lists the kernels of a file, one a line.",
    options,
    run_list,
    operands,
};
