/* nereid info: devices, targets, tools, cache. */
#include <stdio.h>

#include "cli/commands.h"

static const Option options[] = {{0}};

static int run(int argc, char **argv) {
  (void)argv;
  if (argc) return args_error(E_CLI_EXTRA_FILE, argv[0], "");
  fputs("targets\n ", stdout);
  for (int i = 0; nereid_target(i); i++) printf(" %s", nereid_target(i));
  putchar('\n');
  return STATUS_OK;
}

const Command command_info = {"info", "", "Lists devices, targets, tools found and the cache.",
                              options, run};
