/* The nereid program: finds the command, and helps. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/help.h"
#include "cli/messages.h"
#include "cli/terminal/diagnostics.h"
#include "cli/terminal/output.h"
#include "runtime/messages.h"
#include "runtime/store/cache.h"
#include "runtime/support/log.h"

static int help(int argc, char **argv) {
  if (argc == 0) {
    help_program(stdout);
    return STATUS_OK;
  }
  const Command *c = commands_find(argv[0]);
  if (!c) return STATUS_USAGE;
  help_command(stdout, c);
  return STATUS_OK;
}

static bool is_help(const char *arg) {
  return !strcmp(arg, "help") || !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

/* Is the value among those of its option? */
static bool is_choice(const Option *o, const char *value) {
  size_t n = strlen(value);
  for (const char *at = o->choices; *at; at += strspn(at, " ")) {
    size_t len = strcspn(at, " ");
    if (len == n && !memcmp(at, value, n)) return true;
    at += len;
  }
  return false;
}

/* `info` beside the topics that the variable names already. */
static void add_log(void) {
  const char *log = getenv("NEREID_LOG");
  char text[512];
  snprintf(text, sizeof text, "%s%sinfo", log ? log : "", log && *log ? "," : "");
  setenv("NEREID_LOG", text, 1);
}

/* Variables of the environment hold them, so that processes that are started have them too. */
static int apply(int id, const char *value) {
  const Option *o = args_common;
  while (o->id != id) o++;
  if (!is_choice(o, value)) return args_error(E_CLI_CHOICE, o->name, o->choices, value);
  setenv(id == COMMON_COLOR ? "NEREID_COLOR" : "NEREID_DIAGNOSTICS", value, 1);
  return STATUS_OK;
}

/* Options of every command, before it begins: the command itself tells what is wrong with its
 * arguments. */
static int apply_common(const Command *c, int argc, char **argv, bool *asks_for_help) {
  Args args = {.options = c->options, .argv = argv, .argc = argc, .quiet = true};
  const char *value;
  int id, status = STATUS_OK;
  while (!status && (id = args_next_common(&args, &value)) != ARGS_END) {
    *asks_for_help |= id == COMMON_HELP;
    if (id == COMMON_VERBOSE) add_log();
    else if (id > COMMON_VERBOSE) status = apply(id, value);
  }
  return status;
}

/* The words that name something stay, so that nothing else tells of the others. */
static void check_log(void) {
  const char *log = getenv("NEREID_LOG");
  char valid[512], unknown[320];
  Log topics;
  if (!log || log_parse(&topics, log, valid, sizeof valid, unknown, sizeof unknown)) return;
  message_print("warning", W_RUN_LOG, unknown);
  setenv("NEREID_LOG", valid, 1);
}

/* Variables whose mistakes are no reason to stop. */
static void check_environment(void) {
  check_log();
  int64_t bytes;
  const char *limit = getenv("NEREID_CACHE_LIMIT");
  if (limit && !cache_read_size(&bytes, limit)) message_print("warning", W_CLI_CACHE_LIMIT, limit);
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    help_program(stderr);
    return STATUS_USAGE;
  }
  if (is_help(argv[1])) return help(argc - 2, argv + 2);
  if (!strcmp(argv[1], "--version")) {
    printf("nereid %s (%s)\n", nereid_version(), nereid_build_id());
    return STATUS_OK;
  }
  const Command *c = commands_find(argv[1]);
  if (!c) return STATUS_USAGE;
  bool asks_for_help = false;
  int status = apply_common(c, argc - 2, argv + 2, &asks_for_help);
  if (status) return status;
  if (asks_for_help) return help(1, argv + 1);
  check_environment();
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
