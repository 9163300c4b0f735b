/* nereid list: the kernels of a file. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

enum { OPT_IMPORT_PATH = 1 };

static const Option options[] = {
    {OPT_IMPORT_PATH, "--import-path", "DIR", "a folder in which imports are looked for"},
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
  int code = nereid_module_open(&m, source, args_on_message, NULL);
  if (code) return args_failed(code);
  for (int i = 0; i < nereid_module_count(m); i++) print_kernel(nereid_module_kernel(m, i));
  nereid_module_free(m);
  return STATUS_OK;
}

static int run(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Strings folders = {0};
  nereid_source source = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END) {
    if (id == ARGS_ERROR) status = STATUS_USAGE;
    else if (id == OPT_IMPORT_PATH) status = strings_add_folder(&folders, value);
    else if (!*value) status = args_error(E_CLI_NO_FILE);
    else if (source.path) status = args_error(E_CLI_EXTRA_FILE, value, "");
    else source.path = value;
  }
  if (status == STATUS_OK && !source.path) status = args_error(E_CLI_NO_FILE);
  source.import_path = (const char *const *)folders.data;
  source.n_import_path = folders.len;
  if (status == STATUS_OK) status = list(&source);
  strings_free(&folders);
  return status;
}

const Command command_list = {
    "list", "FILE [--import-path DIR]...", "Lists the kernels of a file, one a line.", options, run,
};
