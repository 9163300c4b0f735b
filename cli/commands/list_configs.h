/* nereid list --configs: what a tuner would choose from. */
#ifndef NEREID_CLI_COMMANDS_LIST_CONFIGS_H
#define NEREID_CLI_COMMANDS_LIST_CONFIGS_H

#include "cli/arguments/request_args.h"

/* Prints, for the kernel (or each entry kernel of the file), the configurations that decorators
 * give or that follow from the kernel, with what heuristics add where arguments are given. */
int list_configs(Request *r, const Settings *values);

#endif
