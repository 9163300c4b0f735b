/* nereid explain: a message by its id, from the table of all messages (lang/base/diag.h). */
#include <stdio.h>
#include <strings.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "lang/base/diag.h"

static const Option options[] = {{0}};

static const char *severity_of(const char *id) {
  return diag_severity_name(id[0] == 'E' ? DIAG_ERROR : id[0] == 'W' ? DIAG_WARNING
                            : id[0] == 'H' ? DIAG_HINT : DIAG_NOTE);
}

static void print_message(const MessageRow *m) {
  printf("%s: %s\n%s\n", m->id, severity_of(m->id), m->format);
  if (m->remedy) printf("remedy: %s\n", m->remedy);
}

static int run_explain(int argc, char **argv) {
  if (!argc) return args_error(E_CLI_MESSAGE, "");
  if (argc > 1) return args_error(E_CLI_EXTRA_FILE, argv[1], "");
  for (const MessageRow *m = message_rows; m->id; m++)
    if (!strcasecmp(m->id, argv[0])) {
      print_message(m);
      return STATUS_OK;
    }
  return args_error(E_CLI_MESSAGE, argv[0]);
}

static const Operand operands[] = {{"ID", "as `--diagnostics ids` prints it"}, {0}};

const Command command_explain = {
    "explain", "ID",        "Prints the text of a message by its id, and what to do about it.",
    options,   run_explain, operands,
};
