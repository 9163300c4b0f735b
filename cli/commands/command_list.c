/* nereid list: the kernels of a file. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/list_configs.h"
#include "cli/messages.h"

enum { OPT_CONFIGS = REQUEST_OPTIONS_END };

static const Option options[] = {
    {OPT_CONFIGS, "--configs", NULL, "lists the configurations to tune over, for these arguments"},
    REQUEST_OPTIONS,
    {0},
};

static void print_param(const nereid_param *p) {
  printf("%s: %s", p->name,
         p->kind == NEREID_PARAM_CONSTEXPR ? "constexpr"
         : p->type                         ? p->type
                                           : "arg");
  if (p->tuned) fputs(" tuned", stdout);
  if (p->has_default) fputs(" optional", stdout);
}

static void print_kernel(const nereid_kernel_info *k) {
  fputs(k->name, stdout);
  if (k->is_shadowed) printf("@%d", k->line);
  putchar('(');
  for (int i = 0; i < k->nparams; i++) {
    if (i) fputs(", ", stdout);
    print_param(&k->params[i]);
  }
  printf(")  %s:%d\n", k->file, k->line);
}

static int list(const nereid_source *source) {
  nereid_module *m;
  const nereid_kernel_info *none;
  int code = nereid_module_open(&m, source, args_on_message, NULL);
  if (code) return args_failed(code);
  for (int i = 0; i < nereid_module_count(m); i++) print_kernel(nereid_module_kernel(m, i));
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

static int take(List *l, int id, const char *value) {
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

static int run(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  List l = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take(&l, id, value);
  if (status == STATUS_OK && l.of_configs && !l.configs)
    status = args_error(E_CLI_NEEDS, l.of_configs, "--configs");
  if (status == STATUS_OK) status = request_finish(&l.request);
  if (status == STATUS_OK)
    status = l.configs ? list_configs(&l.request, &l.values) : list(&l.request.api.source);
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
    run,
    operands,
};
