/* nereid records: what was measured, as a list and as files. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/output.h"
#include "runtime/nereid_tune.h"

enum { OPT_OUTPUT = 1 };

static const Option options[] = {
    {OPT_OUTPUT, "-o", "FILE", "output file of merge; standard output is the default"},
    {0},
};

typedef struct {
  const char *verb; /* NULL: none was given */
  Strings files;
  const char *output;
} Asked;

/* Writes the text that a call has made. */
static int write_text(int code, const char *path, char *text, size_t size) {
  int status = code ? args_failed(code) : output_write(path, text, size);
  nereid_text_free(text);
  return status;
}

static int list_records(void) {
  char where[8192], *text;
  size_t size;
  nereid_records_describe(where, sizeof where);
  int code = nereid_records_list(&text, &size);
  if (!code) puts(where);
  return write_text(code, NULL, text, size);
}

static int export(const Asked *a) {
  char *text;
  size_t size;
  int code = nereid_records_export(&text, &size);
  return write_text(code, a->files.data[0], text, size);
}

static int import(const Asked *a) {
  nereid_records_change c;
  int code = nereid_records_import(&c, a->files.data[0], args_on_message, NULL);
  if (code) return args_failed(code);
  printf("%zu records read: %zu new, %zu better than earlier ones, %zu known\n", c.read, c.added,
         c.replaced, c.read - c.added - c.replaced);
  return STATUS_OK;
}

static int merge_records(const Asked *a) {
  char *text;
  size_t size;
  int code = nereid_records_merge(&text, &size, (const char *const *)a->files.data, a->files.len);
  return write_text(code, a->output, text, size);
}

static const struct {
  const char *name, *files;
  int least, most;
  int (*run)(const Asked *a);
} verbs[] = {
    {"export", "one file", 1, 1, export},
    {"import", "one file", 1, 1, import},
    {"merge", "one file or more", 1, 1 << 20, merge_records},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static int run_records_verb(const Asked *a) {
  if (a->output && (!a->verb || strcmp(a->verb, "merge")))
    return args_error(E_CLI_NEEDS, "-o", "merge");
  if (!a->verb) return list_records();
  int i, status = args_verb(&i, a->verb, verbs, sizeof *verbs, VERBS, E_CLI_RECORDS_VERB);
  if (status) return status;
  if (a->files.len < verbs[i].least || a->files.len > verbs[i].most)
    return args_error(E_CLI_RECORDS_FILES, a->verb, verbs[i].files, a->files.len);
  return verbs[i].run(a);
}

static int take_records_option(Asked *a, int id, const char *value) {
  if (id == ARGS_ERROR) return STATUS_USAGE;
  if (id == OPT_OUTPUT) a->output = value;
  else if (!a->verb) a->verb = value;
  else if (!strings_add(&a->files, value, strlen(value))) return STATUS_PROBLEM;
  return STATUS_OK;
}

static int run_records(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Asked asked = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = take_records_option(&asked, id, value);
  if (status == STATUS_OK) status = run_records_verb(&asked);
  strings_free(&asked.files);
  return status;
}

static const Operand operands[] = {
    {"export FILE", "writes all records to a file, sorted"},
    {"import FILE", "adds those of a file, where they are new or better"},
    {"merge FILE...", "prints those of several files as one"},
    {0},
};

const Command command_records = {
    "records",
    "[export FILE | import FILE | merge FILE... [-o FILE]]",
    "Lists measurements of kernels, and moves them between machines.",
    options,
    run_records,
    operands,
};
