/* nereid completion: commands and options for a shell, from the tables that the help is made of. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"

static const Option options[] = {{0}};

/* ---- bash ---- */

static void print_option_names(const Option *list) {
  for (const Option *o = list; o->id; o++)
    printf("%s%s %s", o->alias ? " " : "", o->alias ? o->alias : "", o->name);
}

static void bash_values(const Command *c) {
  for (const Option *o = c ? c->options : args_common; o->id; o++)
    if (o->choices)
      printf("    %s%s%s) words='%s' ;;\n", c ? c->name : "*", ":", o->name, o->choices);
}

static void print_bash(void) {
  fputs(
      "_nereid() {\n"
      "  local now=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  local command=${COMP_WORDS[1]}\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    words='help",
      stdout);
  for (const Command *const *c = commands; *c; c++) printf(" %s", (*c)->name);
  fputs(
      "'\n"
      "  else case $command:$last in\n",
      stdout);
  for (const Command *const *c = commands; *c; c++) bash_values(*c);
  bash_values(NULL);
  fputs("    *) if [[ $now == -* ]]; then case $command in\n", stdout);
  for (const Command *const *c = commands; *c; c++) {
    printf("      %s) words='", (*c)->name);
    print_option_names((*c)->options);
    print_option_names(args_common);
    fputs("' ;;\n", stdout);
  }
  fputs(
      "    esac; fi ;;\n"
      "  esac; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n"
      "}\n"
      "complete -o default -F _nereid nereid\n",
      stdout);
}

/* ---- fish ---- */

/* Text in single quotes. */
static void print_quoted(const char *text) {
  putchar('\'');
  for (; *text; text++) printf(strchr("'\\", *text) ? "\\%c" : "%c", *text);
  putchar('\'');
}

static void fish_options(const char *when, const Option *list) {
  for (const Option *o = list; o->id; o++) {
    bool is_long = o->name[1] == '-';
    printf("complete -c nereid -n '%s' ", when);
    if (o->alias) printf("-s %s ", o->alias + 1);
    printf("%s %s -d ", is_long ? "-l" : "-s", o->name + 1 + is_long);
    print_quoted(o->doc);
    if (o->value) fputs(o->choices ? " -xa " : " -r", stdout);
    if (o->choices) print_quoted(o->choices);
    putchar('\n');
  }
}

static void print_fish(void) {
  char when[64];
  for (const Command *const *c = commands; *c; c++) {
    printf("complete -c nereid -n __fish_use_subcommand -xa %s -d ", (*c)->name);
    print_quoted((*c)->doc);
    putchar('\n');
    snprintf(when, sizeof when, "__fish_seen_subcommand_from %s", (*c)->name);
    fish_options(when, (*c)->options);
  }
  fish_options("true", args_common);
}

/* ---- zsh, which reads bash's ---- */

static void print_zsh(void) {
  fputs("#compdef nereid\nautoload -U +X bashcompinit && bashcompinit\n", stdout);
  print_bash();
}

static const struct {
  const char *name;
  void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int run_completion(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  const char *shell, *more;
  int id = args_next(&args, &shell);
  if (id == ARGS_ERROR) return STATUS_USAGE;
  if (id == ARGS_END) return args_error(E_CLI_SHELL, "");
  if (args_next(&args, &more) == ARGS_POSITIONAL) return args_error(E_CLI_EXTRA_FILE, more, "");
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
    if (!strcmp(shells[i].name, shell)) {
      shells[i].print();
      return STATUS_OK;
    }
  return args_error(E_CLI_SHELL, shell);
}

static const Operand operands[] = {{"SHELL", "bash, zsh or fish"}, {0}};

const Command command_completion = {
    "completion", "SHELL",        "Prints the completion of commands and options for a shell.",
    options,      run_completion, operands,
};
