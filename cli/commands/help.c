#include "cli/commands/help.h"

#include <string.h>

#include "cli/commands/commands.h"

enum { INDENT = 27, WIDTH = 100 };

/* In lines of at most WIDTH columns, if no word is longer; the first one has begun. */
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
  fprintf(out, "  %-24s ", left);
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

void help_program(FILE *out) {
  fputs("usage: nereid COMMAND ...\n\n", out);
  for (const Command *const *c = commands; *c; c++)
    fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->doc);
  print_status(out);
  fputs("\n`nereid help COMMAND` says more; `nereid --version` prints the version.\n", out);
}

void help_command(FILE *out, const Command *c) {
  fprintf(out, "usage: nereid %s%s%s\n\n%s\n", c->name, *c->synopsis ? " " : "", c->synopsis,
          c->doc);
  if (c->operands) fputs("\nArguments:\n", out);
  for (const Operand *o = c->operands; o && o->name; o++) print_row(out, o->name, o->doc);
  fputs("\nOptions:\n", out);
  for (const Option *o = c->options; o->id; o++) print_option(out, o);
  for (const Option *o = args_common; o->id; o++) print_option(out, o);
  print_status(out);
}
