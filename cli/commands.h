/* The commands of the program; main.c lists them. */
#ifndef NEREID_CLI_COMMANDS_H
#define NEREID_CLI_COMMANDS_H

#include "cli/args.h"

extern const Command command_compile, command_run, command_tune, command_bench, command_list,
    command_info, command_graph, command_build, command_records, command_estimate, command_worker;

#endif
