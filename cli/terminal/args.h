/* Command lines: options by table, and the small languages of their values.
 *
 * cli/terminal owns the terminal: options, messages (diagnostics.h), progress, and faults of
 * kernels.  It takes the words of a command line by the tables of its command, and gives ids with
 * values; and it takes text, and prints it. */
#ifndef NEREID_CLI_TERMINAL_ARGS_H
#define NEREID_CLI_TERMINAL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/support/error.h"
#include "runtime/nereid_tune.h"

enum { STATUS_OK, STATUS_PROBLEM, STATUS_USAGE, STATUS_INTERNAL };

/* Rows of the tables below end where the rest is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Help, man pages and completions of shells are made from these tables. */
typedef struct {
  int id;            /* what args_next returns; above 0 */
  const char *name;  /* "--target" or "-D" */
  const char *value; /* what the help calls its value; NULL: a flag */
  const char *doc;
  bool repeats;        /* has a value each time it is given; others with a value are given once */
  const char *choices; /* the values there are, with blanks between; NULL: not that few */
  const char *alias;   /* another name, "-h"; NULL: none */
} Option;

/* A positional argument, and the form of its values. */
typedef struct {
  const char *name, *doc;
} Operand;

/* A command of the program.  Options end in a row with id 0, operands in one without a name. */
typedef struct {
  const char *name, *synopsis, *doc;
  const Option *options;
  int (*run)(int argc, char **argv); /* argv without the command's name */
  const Operand *operands;
} Command;

enum { OPTIONS_MOST = 64 }; /* of a command */

typedef struct {
  const Option *options;
  char **argv;
  int argc, at;
  bool only_positional; /* after -- */
  bool quiet;           /* what is wrong is left for another walk to tell */
  bool seen[OPTIONS_MOST];
} Args;

/* Options of every command, which main.c applies; args_next passes over them.  They end in a row
 * with id 0. */
enum { COMMON_HELP = 1000, COMMON_VERBOSE, COMMON_COLOR, COMMON_DIAGNOSTICS };
extern const Option args_common[];

enum { ARGS_END = -1, ARGS_ERROR = -2, ARGS_POSITIONAL = 0 };

/* The next option's id, ARGS_POSITIONAL, ARGS_END, or ARGS_ERROR (printed).  *value is its value or
 * the positional argument. */
int args_next(Args *a, const char **value);
/* Reads the next option, where the options of every command are allowed too. */
int args_next_common(Args *a, const char **value);

/* The name of the option of that id, which the table has. */
const char *args_option_name(const Option *options, int id);

/* Finds a command's verb among n rows of `size` bytes, each of which begins with its name.  Returns
 * a status; an unknown verb is an error: `message`, with the verb and a suggestion. */
int args_verb(int *row, const char *verb, const void *rows, size_t size, int n,
              const char *message);

/* Prints `nereid: error: ...` and returns STATUS_USAGE. */
int args_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints the last failure of the API, and returns the status for its code. */
int args_failed(int code);
/* The exit status of a code of the API that is no success. */
int args_status(int code);
/* The status when the program itself runs out of memory. */
int args_out_of_memory(void);
/* Prints a note of the API as it is. */
void args_on_message(void *context, const char *text);

/* A growing list of strings that it owns. */
typedef struct {
  char **data;
  int len;
} Strings;

bool strings_add(Strings *s, const char *text, size_t len); /* false (printed): out of memory */
void strings_free(Strings *s);
/* Adds a folder of imports, which must be there.  Returns a status. */
int strings_add_folder(Strings *s, const char *path);

/* A growing list of NAME=VALUE texts that it owns. */
typedef struct {
  nereid_setting *data;
  int len;
} Settings;

/* `what` names the value in messages.  Returns a status. */
int settings_add(Settings *s, const char *pair, const char *what);
/* NAME=VALUE; of NAME=(VALUE,VALUE) each item, as NAME.0 and NAME.1. */
int settings_add_value(Settings *s, const char *pair);
void settings_free(Settings *s);

/* Splits at commas outside brackets, parentheses and quotes. */
bool args_split(Strings *out, const char *text);
typedef int (*ArgsPair)(void *context, const char *pair); /* returns a status */
/* Calls `each` with NAME=TEXT, or, of NAME=(A,B), with NAME.0=A and NAME.1=B; of NAME=Class(A,B)
 * with NAME=class:Class before these. */
int args_each_item(const char *pair, ArgsPair each, void *context);
/* Splits NAME=VALUE in place: returns VALUE, or NULL (printed). */
char *args_value(char *pair, const char *what);
/* Splits FILE[:KERNEL] in place: returns KERNEL or NULL. */
char *args_kernel(char *file);
bool args_number(int *out, const char *option, const char *text, int lo, int hi);

#endif
