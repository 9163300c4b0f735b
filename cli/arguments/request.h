/* A request from a command line: a kernel, its constexprs, and the options of compiling.
 *
 * cli/arguments owns the way from option texts to requests and launches.  It takes the options that
 * several commands share (here and in values.h), and gives a nereid_request, values, a grid, and
 * the constexprs that a tuning adds; each function returns a status, after a message. */
#ifndef NEREID_CLI_ARGUMENTS_REQUEST_H
#define NEREID_CLI_ARGUMENTS_REQUEST_H

#include "cli/arguments/request.h"
#include "cli/arguments/values.h"
#include "cli/terminal/args.h"
#include "runtime/launch/argument_texts.h"

enum {
  OPT_DEFINE = 1,
  OPT_TARGET,
  OPT_IMPORT_PATH,
  OPT_LANGUAGE,
#define X(kind, name, ...) OPT_##name, /* in the order of option_rows */
  NEREID_KERNEL_OPTIONS(X, X)
#undef X
  REQUEST_OPTIONS_END
};

#define OPTION_OF_KERNEL(kind, name, dflt, least, most, uses, flag, value, words, help) \
  {OPT_##name, flag, value, help, .choices = words},
#define OPTION_HIDDEN(...)

#define OPTION_IMPORT_PATH                                                                 \
  {                                                                                        \
    OPT_IMPORT_PATH, "--import-path", "DIR", "a folder in which imports are looked for",   \
        .repeats = true                                                                    \
  }

#define REQUEST_OPTIONS                                                                       \
  {OPT_DEFINE, "-D", "NAME=VALUE", "a constexpr: a number, True, tl.float16, fn:NAME, (4,1), text",\
   .repeats = true}, \
      NEREID_KERNEL_OPTIONS(OPTION_OF_KERNEL, OPTION_HIDDEN)                                 \
      {OPT_TARGET, "--target", "T", "the target to compile for; `nereid info` lists targets", \
       .choices = CHOICES_TARGET},                                                            \
      {OPT_LANGUAGE, "--language", "V", "Triton's version; the default is the package's, or 3.6", \
       .choices = "3.6 3.9"},                                                                 \
      OPTION_IMPORT_PATH

typedef struct {
  nereid_request api; /* complete after request_finish */
  char *file;
  Arena *text; /* holds what a stream gave: it is read once */
  Strings folders;
  Strings names, texts; /* of arguments, in order */
  bool *typed;          /* texts[i] is a type, not a constexpr's value */
  nereid_arg *args;
} Request;

int request_option(Request *r, int id, const char *value);
/* The FILE[:KERNEL] argument; - is standard input. */
int request_file(Request *r, const char *value);
/* Has it a value or a type for that argument, or for an item of it? */
bool request_has(const Request *r, const char *name);
/* Adds an argument; either type or value is NULL. */
int request_add(Request *r, const char *name, const char *type, const char *value);
/* NAME=TYPE,NAME=TYPE ... */
int request_signature(Request *r, const char *text);
/* Forgets what was added, for another set of values. */
void request_clear(Request *r);
/* Completes `api`; to be called again if something was added. */
int request_finish(Request *r);
void request_free(Request *r);

/* ---- run-time arguments and grid: NAME=VALUE... --grid X,Y,Z ---- */

/* NAME=VALUE: a constant (None, (), fn:gelu, 3:constexpr) goes to the request, all else to the
 * settings. */
int request_add_value(Request *r, Settings *values, const char *pair);
/* Kernel and settings must outlive the arguments. */
int request_args(Arguments *out, const nereid_kernel_info *kernel, const Settings *settings);
/* Completes the request, in which an argument may have its value as well. */
int request_check_args(Request *r, const Arguments *a);
/* The types that the kernel is compiled for follow from the values.  IR text has its own. */
int request_add_types(Request *r, const Arguments *a, const nereid_module *m);

/* Completes the request.  The integers among arguments and constexprs; the caller frees *out. */
int request_bind(nereid_binding **out, int *n, Request *r, const Arguments *a);
/* A grid over names that have these values. */
int request_extents(uint32_t out[3], const char *grid, const nereid_binding *names, int n);
int request_grid(uint32_t out[3], const char *grid, Request *r, const Arguments *a);

#endif
