/* The text of `--help`, made from the tables of the commands. */
#ifndef NEREID_CLI_COMMANDS_HELP_H
#define NEREID_CLI_COMMANDS_HELP_H

#include <stdio.h>

#include "cli/terminal/args.h"

void help_program(FILE *out);
void help_command(FILE *out, const Command *c);

#endif
