/* The nereid program: finds the command, and helps. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/args.h"
#include "cli/terminal/diagnostics.h"
#include "cli/terminal/output.h"
#include "runtime/messages.h"
#include "runtime/store/cache.h"
#include "runtime/support/log.h"

/* ---- the text of --help, made from the tables of the commands ---- */

enum { INDENT = 27, WIDTH = 100 };

/* Prints lines of at most WIDTH columns, if no word is longer; the first one has begun. */
static void print_wrapped(FILE *out, const char *doc) {
  for (size_t at = INDENT; *doc;) {
    size_t blank = *doc == ' ', n = blank + strcspn(doc + blank, " ");
    if (blank && at + n > WIDTH) {
      at = (size_t)fprintf(out, "\n%*s", INDENT, "") - 1;
      doc += blank, n -= blank;
    }
    fwrite(doc, 1, n, out);
    at += n, doc += n;
  }
  putc('\n', out);
}

static void print_row(FILE *out, const char *left, const char *doc) {
  if (strlen(left) > 24) fprintf(out, "  %s\n%*s", left, INDENT, "");
  else fprintf(out, "  %-24s ", left);
  print_wrapped(out, doc);
}

static void print_option(FILE *out, const Option *o) {
  char left[64], doc[512];
  snprintf(left, sizeof left, "%s%s%s%s%s", o->alias ? o->alias : "", o->alias ? ", " : "", o->name,
           o->value ? " " : "", o->value ? o->value : "");
  snprintf(doc, sizeof doc, "%s%s", o->doc, o->repeats ? " (repeatable)" : "");
  print_row(out, left, doc);
}

static void print_status(FILE *out) {
  fputs("\nExit status:\n", out);
  for (const ExitStatus *s = exit_statuses; s->doc; s++)
    fprintf(out, "  %d  %s\n", s->code, s->doc);
}

static void help_program(FILE *out) {
  fputs("usage: nereid COMMAND ...\n\n", out);
  for (const Command *const *c = commands; *c; c++)
    fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->doc);
  print_status(out);
  fputs("\n`nereid help COMMAND` says more; `nereid --version` prints the version.\n", out);
}

static void help_command(FILE *out, const Command *c) {
  fprintf(out, "usage: nereid %s%s%s\n\n%s\n", c->name, *c->synopsis ? " " : "", c->synopsis,
          c->doc);
  if (c->operands) fputs("\nArguments:\n", out);
  for (const Operand *o = c->operands; o && o->name; o++) print_row(out, o->name, o->doc);
  fputs("\nOptions:\n", out);
  for (const Option *o = c->options; o->id; o++) print_option(out, o);
  for (const Option *o = args_common; o->id; o++) print_option(out, o);
  print_status(out);
}

/* ---- finding the command ---- */

static int show_help(int argc, char **argv) {
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
static bool is_option_choice(const Option *o, const char *value) {
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
static int apply_common_option(int id, const char *value) {
  const Option *o = args_common;
  while (o->id != id) o++;
  if (!is_option_choice(o, value)) return args_error(E_CLI_CHOICE, o->name, o->choices, value);
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
    else if (id > COMMON_VERBOSE) status = apply_common_option(id, value);
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
  if (is_help(argv[1])) return show_help(argc - 2, argv + 2);
  if (!strcmp(argv[1], "--version")) {
    printf("nereid %s (%s)\n", nereid_version(), nereid_build_id());
    return STATUS_OK;
  }
  const Command *c = commands_find(argv[1]);
  if (!c) return STATUS_USAGE;
  bool asks_for_help = false;
  int status = apply_common(c, argc - 2, argv + 2, &asks_for_help);
  if (status) return status;
  if (asks_for_help) return show_help(1, argv + 1);
  check_environment();
  return c->run(argc - 2, argv + 2);
}

/* The words as a shell takes them. */
static void print_command(int argc, char **argv) {
  char text[4096];
  size_t n = 0;
  for (int i = 1; i < argc && n < sizeof text; i++) {
    bool quoted = strpbrk(argv[i], " \t\n'\"\\$`*?[]{}()<>|&;#~!") || !*argv[i];
    n += (size_t)snprintf(text + n, sizeof text - n, quoted ? " '%s'" : " %s", argv[i]);
  }
  if (n) message_print("note", N_CLI_COMMAND, text);
}

/* An internal error that no part of the library has caught is reported here. */
static int dispatch_guarded(int argc, char **argv) {
  JumpPlace place;
  int status;
  bug_catch(&place);
  if (!setjmp(place.jump)) status = dispatch(argc, argv);
  else status = args_failed(error_internal());
  bug_release(&place);
  if (status == STATUS_INTERNAL) print_command(argc, argv);
  return status;
}

int main(int argc, char **argv) {
  /* A closed pipe is an output that can't be written, not a signal. */
  signal(SIGPIPE, SIG_IGN);
  int status = dispatch_guarded(argc, argv);
  errno = EIO; /* where an earlier write failed, whose error is lost */
  bool failed = fflush(stdout) || ferror(stdout);
  return failed && status == STATUS_OK ? output_failed(errno) : status;
}
