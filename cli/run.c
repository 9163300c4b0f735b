/* nereid run */
#include "cli/commands.h"
static const Option options[] = {{0}};
static int run(int argc, char **argv) { (void)argc; (void)argv; return args_error("not there yet"); }
const Command command_run = {"run", "FILE", "Compiles a kernel, runs it and prints what it wrote.", options, run};
