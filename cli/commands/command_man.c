/* nereid man: manual pages, from the tables that the help is made of.  For `make`, not for people:
 * one page of the program, and one of each command, as git has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/output.h"
#include "runtime/records/records.h"
#include "runtime/store/cache.h"
#include "runtime/support/environment.h"
#include "runtime/support/version.h"

enum { OPT_FOLDER = 1 };

static const Option options[] = {
    {OPT_FOLDER, "-o", "DIR", "writes all pages into a folder, which must be there"},
    {0},
};

/* ---- text as roff ---- */

/* The text of [text](link): the link, which names a page of the sources, is left out. */
static const char *skip_link(const char *at) {
  const char *end = strchr(at, ')');
  return at[0] == ']' && at[1] == '(' && end ? end : NULL;
}

/* Markdown of one paragraph: `code` is bold.  The line that it continues has begun. */
static void put_man_text(FILE *out, const char *text) {
  bool bold = false, linked = false;
  for (const char *p = text; *p; p++) {
    const char *end = linked ? skip_link(p) : NULL;
    if (end) {
      linked = false;
      p = end;
    } else if (*p == '[' && strstr(p, "](")) linked = true;
    else if (*p == '`') fputs((bold = !bold) ? "\\fB" : "\\fR", out);
    else if (*p == '\\') fputs("\\e", out);
    else if (*p == '-') fputs("\\-", out);
    else if (*p == '~') fputs("\\(ti", out);
    else if (*p == '^') fputs("\\(ha", out);
    else if (*p == '\'') fputs("\\(aq", out);
    else putc(*p, out);
  }
}

/* A line of its own, which no control character begins. */
static void put_man_line(FILE *out, const char *text) {
  fputs("\\&", out);
  put_man_text(out, text);
  putc('\n', out);
}

static void put_heading(FILE *out, const char *text) { fprintf(out, ".SH %s\n", text); }

/* A name in bold, a value in italics (NULL or "": none), and their meaning. */
static void put_man_row(FILE *out, const char *name, const char *value, const char *doc) {
  fputs(".TP\n\\fB", out);
  put_man_text(out, name);
  fputs("\\fR", out);
  if (value && *value) {
    fputs(" \\fI", out);
    put_man_text(out, value);
    fputs("\\fR", out);
  }
  putc('\n', out);
  put_man_line(out, doc);
}

/* ---- parts of pages ---- */

static void put_man_title(FILE *out, const char *page, const char *doc) {
  fprintf(out, ".\\\" Made by nereid man.\n.TH ");
  for (const char *p = page; *p; p++) putc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
  fprintf(out, " 1 \"%s\" \"Nereid %s\" \"Nereid\"\n", release_date(), nereid_version());
  put_heading(out, "NAME");
  put_man_text(out, page);
  fputs(" \\- ", out);
  /* The first sentence, as apropos shows it. */
  const char *end = strstr(doc, ".  ");
  char *first = strndup(doc, end ? (size_t)(end - doc) : strlen(doc) - 1);
  if (first) put_man_text(out, first);
  putc('\n', out);
  free(first);
}

static void put_options(FILE *out, const Option *list) {
  for (const Option *o = list; o->id; o++) {
    char name[64], doc[640];
    snprintf(name, sizeof name, "%s%s%s", o->alias ? o->alias : "", o->alias ? ", " : "", o->name);
    snprintf(doc, sizeof doc, "%s%s", o->doc, o->repeats ? " (repeatable)" : "");
    put_man_row(out, name, o->value, doc);
  }
}

/* Names that begin with blanks are forms of the value before them. */
static void put_operands(FILE *out, const Operand *list) {
  bool inside = false;
  for (const Operand *o = list; o && o->name; o++) {
    bool form = *o->name == ' ';
    if (form != inside) fputs(form ? ".RS\n" : ".RE\n", out);
    inside = form;
    put_man_row(out, o->name + strspn(o->name, " "), NULL, o->doc);
  }
  if (inside) fputs(".RE\n", out);
}

static void put_statuses(FILE *out) {
  char code[16];
  put_heading(out, "EXIT STATUS");
  for (const ExitStatus *s = exit_statuses; s->doc; s++) {
    snprintf(code, sizeof code, "%d", s->code);
    put_man_row(out, code, NULL, s->doc);
  }
}

static void put_environment(FILE *out) {
  put_heading(out, "ENVIRONMENT");
  put_man_line(out, "An option of the command line goes before its variable.");
#define VARIABLE(name, doc) put_man_row(out, #name, NULL, doc);
  ENVIRONMENT(VARIABLE)
#undef VARIABLE
}

static const Operand files[] = {
    {"~/.cache/nereid/" CACHE_FILE,
     "the cache of compiled code; NEREID_CACHE_DIR moves its folder"},
    {"~/.cache/nereid/" RECORDS_FILE, "the records of measurements, in the same folder"},
    {"/tmp/nereid-*", "temporary folders of compilers; TMPDIR names another folder"},
    {0},
};

/* ---- pages ---- */

static void print_program_page(FILE *out) {
  static const char doc[] = "compile, tune and run Triton kernels and tensor graphs.";
  put_man_title(out, "nereid", doc);
  put_heading(out, "SYNOPSIS");
  fputs("\\fBnereid\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n", out);
  put_heading(out, "DESCRIPTION");
  put_man_line(
      out,
      "Nereid compiles kernels that are written in Triton's language, and whole tensor graphs,"
      " to PTX and to C, and runs them on NVIDIA GPUs, on CPUs, and on two interpreters that"
      " check what a kernel does.");
  put_heading(out, "COMMANDS");
  for (const Command *const *c = commands; *c; c++) put_man_row(out, (*c)->name, NULL, (*c)->doc);
  put_heading(out, "OPTIONS");
  put_man_line(out, "Every command has these; its own page has the others.");
  put_options(out, args_common);
  put_man_row(out, "--version", NULL, "prints the version; of the program alone");
  put_statuses(out);
  put_environment(out);
  put_heading(out, "FILES");
  for (const Operand *f = files; f->name; f++) put_man_row(out, f->name, NULL, f->doc);
  put_heading(out, "SEE ALSO");
  for (const Command *const *c = commands; *c; c++)
    fprintf(out, "\\fBnereid\\-%s\\fR(1)%s\n", (*c)->name, c[1] ? "," : "");
}

static void print_command(FILE *out, const Command *c) {
  char page[64];
  snprintf(page, sizeof page, "nereid-%s", c->name);
  put_man_title(out, page, c->doc);
  put_heading(out, "SYNOPSIS");
  fprintf(out, "\\fBnereid %s\\fR%s", c->name, *c->synopsis ? " " : "");
  put_man_text(out, c->synopsis);
  putc('\n', out);
  put_heading(out, "DESCRIPTION");
  put_man_line(out, c->doc);
  if (c->operands) put_heading(out, "ARGUMENTS");
  put_operands(out, c->operands);
  put_heading(out, "OPTIONS");
  put_options(out, c->options);
  put_options(out, args_common);
  put_statuses(out);
  put_heading(out, "SEE ALSO");
  fputs("\\fBnereid\\fR(1), with the variables of the environment and the files\n", out);
}

/* ---- the command ---- */

static void print_page(FILE *out, const Command *c) {
  if (c) print_command(out, c);
  else print_program_page(out);
}

static int write_page(const char *folder, const Command *c) {
  char *text = NULL, *path = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return args_out_of_memory();
  print_page(out, c);
  fclose(out);
  int n = asprintf(&path, "%s/nereid%s%s.1", folder, c ? "-" : "", c ? c->name : "");
  int status = n < 0 ? args_out_of_memory() : output_write(path, text, size);
  if (n >= 0) free(path);
  free(text);
  return status;
}

static int write_pages(const char *folder) {
  int status = write_page(folder, NULL);
  for (const Command *const *c = commands; *c && !status; c++) status = write_page(folder, *c);
  return status;
}

static int run_man(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  const char *value, *folder = NULL, *name = NULL;
  for (int id; (id = args_next(&args, &value)) != ARGS_END;) {
    if (id == ARGS_ERROR) return STATUS_USAGE;
    if (id == ARGS_POSITIONAL && name) return args_error(E_CLI_EXTRA_FILE, value, "");
    *(id == OPT_FOLDER ? &folder : &name) = value;
  }
  const Command *c = name ? commands_find(name) : NULL;
  if (name && !c) return STATUS_USAGE;
  if (folder) return write_pages(folder);
  print_page(stdout, c);
  return STATUS_OK;
}

static const Operand operands[] = {
    {"COMMAND", "the page of a command; without it, that of the program"}, {0}};

const Command command_man = {
    "man", "[COMMAND] [-o DIR]", "Prints a manual page as roff.", options, run_man, operands,
};
