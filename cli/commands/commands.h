/* The commands of the program, and the statuses that it ends with.
 *
 * cli/commands owns one file a command: its options, its help and its function.  A command takes
 * the words after its name, writes its results to standard output or files, and gives a status. */
#ifndef NEREID_CLI_COMMANDS_COMMANDS_H
#define NEREID_CLI_COMMANDS_COMMANDS_H

#include "cli/terminal/args.h"

extern const Command command_compile, command_run, command_tune, command_bench, command_list,
    command_info, command_explain, command_graph, command_build, command_records, command_estimate,
    command_completion, command_cache, command_man, command_worker;

/* The commands in the order of the help; the last one is NULL. */
extern const Command *const commands[];

/* The last one has no doc. */
typedef struct {
  int code;
  const char *doc;
} ExitStatus;

extern const ExitStatus exit_statuses[];

/* Finds one of these, or a command that programs call: the tuner's worker, and the manual's writer.
 * NULL, after a message: there is none of that name. */
const Command *commands_find(const char *name);

#endif
