/* The nereid program: finds the command, and helps. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"

static const Command *const commands[] = {
    &command_compile,
    &command_run,
    &command_tune,
    &command_bench,
    &command_graph,
    &command_build,
    &command_estimate,
    &command_list,
    &command_records,
    &command_info,
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const Command *find_command(const char *name) {
  for (int i = 0; i < COMMANDS; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

static int unknown_command(const char *name) {
  const char *names[COMMANDS];
  for (int i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
  char hint[96];
  return args_error(E_CLI_UNKNOWN_COMMAND, name,
                    error_suggest(hint, sizeof hint, name, names, COMMANDS));
}

static void help_all(FILE *out) {
  fputs("usage: nereid COMMAND ...\n\n", out);
  for (int i = 0; i < COMMANDS; i++)
    fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->doc);
  fputs("\n`nereid help COMMAND` says more; `nereid --version` prints the version.\n", out);
}

static void help_command(const Command *c) {
  printf("usage: nereid %s %s\n\n%s\n", c->name, c->synopsis, c->doc);
  if (c->options->id) putchar('\n');
  for (const Option *o = c->options; o->id; o++) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", o->name, o->value ? o->value : "");
    printf("  %-24s %s\n", left, o->doc);
  }
}

static int help(int argc, char **argv) {
  if (argc == 0) {
    help_all(stdout);
    return STATUS_OK;
  }
  const Command *c = find_command(argv[0]);
  if (!c) return unknown_command(argv[0]);
  help_command(c);
  return STATUS_OK;
}

static bool is_help(const char *arg) { return !strcmp(arg, "--help") || !strcmp(arg, "-h"); }

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    help_all(stderr);
    return STATUS_USAGE;
  }
  if (is_help(argv[1]) || !strcmp(argv[1], "help")) return help(argc - 2, argv + 2);
  if (!strcmp(argv[1], "--version")) {
    printf("nereid %s (%s)\n", nereid_version(), nereid_build_id());
    return STATUS_OK;
  }
  const Command *c = find_command(argv[1]);
  if (!strcmp(argv[1], command_worker.name)) c = &command_worker; /* for no user to call */
  if (!c) return unknown_command(argv[1]);
  for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
    if (is_help(argv[i])) return help(1, argv + 1);
  return c->run(argc - 2, argv + 2);
}

int main(int argc, char **argv) {
  /* A closed pipe is an output that can't be written, not a signal. */
  signal(SIGPIPE, SIG_IGN);
  int status = dispatch(argc, argv);
  errno = EIO; /* where an earlier write failed, whose error is lost */
  bool failed = fflush(stdout) || ferror(stdout);
  return failed && status == STATUS_OK ? output_failed(errno) : status;
}
