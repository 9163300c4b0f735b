#include "cli/commands/commands.h"
#include "cli/messages.h"

#include <string.h>

const Command *const commands[] = {
    &command_compile, &command_run,        &command_tune, &command_bench,   &command_graph,
    &command_build,   &command_estimate,   &command_list, &command_records, &command_cache,
    &command_info,    &command_explain,    &command_completion, NULL,
};
enum { COMMANDS = sizeof commands / sizeof *commands - 1 };

const ExitStatus exit_statuses[] = {
    {STATUS_OK, "success"},
    {STATUS_PROBLEM, "a problem of the kernel, the model, or the run"},
    {STATUS_USAGE, "wrong usage: of the program, an option, or a value"},
    {STATUS_INTERNAL, "a fault of nereid itself, with a report to send"},
    {0, NULL},
};

static const Command *const hidden[] = {&command_man, &command_worker};

const Command *commands_find(const char *name) {
  const char *names[COMMANDS];
  char hint[96];
  for (int i = 0; i < COMMANDS; i++) {
    names[i] = commands[i]->name;
    if (!strcmp(names[i], name)) return commands[i];
  }
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (!strcmp(hidden[i]->name, name)) return hidden[i];
  args_error(E_CLI_UNKNOWN_COMMAND, name, error_suggest(hint, sizeof hint, name, names, COMMANDS));
  return NULL;
}
