/* The command that repeats a compilation, for reports of internal errors. */
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/compile/config.h"
#include "runtime/messages.h"

/* A word of a shell's command line, and what goes before it. */
static void add_word(const char *before, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=,.:/@%*";
  bool quoted = word[strspn(word, plain)] || !*word;
  error_add("%s%s%s%s", before, quoted ? "'" : "", word, quoted ? "'" : "");
}

static void add_args(const nereid_request *r) {
  int types = 0;
  for (int i = 0; i < r->nargs; i++) {
    if (!r->args[i].type) continue;
    error_add("%s%s=%s", types++ ? "," : " --sig '", r->args[i].name, r->args[i].type);
  }
  if (types) error_add("'");
  for (int i = 0; i < r->nargs; i++) {
    if (r->args[i].type) continue;
    add_word(" -D ", r->args[i].name);
    add_word("=", r->args[i].value ? r->args[i].value : "None");
  }
}

static void add_options(const nereid_request *r) {
  nereid_request of = *r;
  for (int i = 0; i < OPTION_COUNT; i++) {
    const OptionRow *row = &option_rows[i];
    const int *number = request_number(&of, row);
    const char **word = request_word(&of, row);
    if (!row->flag || (number ? !*number : !*word)) continue;
    error_add(" %s", row->flag);
    if (word) add_word(" ", *word);
    else if (row->kind == OPTION_INT) error_add(" %d", *number);
  }
}

void compile_add_repeat(const Compilation *c) {
  const nereid_request *r = c->request;
  error_add_note(N_RUN_REPEAT);
  add_word(" ", c->path);
  if (r && r->kernel && *r->kernel) add_word(":", r->kernel);
  if (r) add_args(r);
  const char *target = r && r->target ? r->target : c->preferred;
  const Machine *machine = target ? machine_find(target) : NULL;
  if (target) add_word(" --target ", target);
  if (machine && machine->kind == MACHINE_CPU) error_add(" --emit c");
  if (r) add_options(r);
  if (r && r->run_passes) add_word(" --run-passes ", r->run_passes);
  error_add("\n");
  if (c->kernel) error_of_kernel(c->kernel->name);
}
