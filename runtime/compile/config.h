/* Configurations: what a tuner may choose of a kernel, as names with values in text.
 *
 * The first OPTION_TUNED names of lang/base/options.h are options of compiling; all others are
 * constexprs.  The text of a configuration, "BLOCK_M=128 BLOCK_N=64 num_warps=4", is what records,
 * tables and messages call it. */
#ifndef NEREID_RUNTIME_COMPILE_CONFIG_H
#define NEREID_RUNTIME_COMPILE_CONFIG_H

#include <stdbool.h>

#include "lang/base/options.h"
#include "lang/base/strings.h"
#include "runtime/nereid_tune.h"

typedef struct {
  nereid_setting *settings; /* constexprs in the kernel's order, then options in the order above */
  int n;
} Config;

typedef struct {
  Config *data;
  size_t len, cap;
} Configs;

/* The option's place in a request; NULL if the name is none of an option of a configuration. */
int *config_option(nereid_request *r, const char *name);
/* The number or the text of a request that an option's row is for. */
int *request_number(nereid_request *r, const OptionRow *row); /* NULL: it is a text */
const char **request_word(nereid_request *r, const OptionRow *row); /* NULL: it is a number */
/* An error unless an INT admits the value. */
int config_check(const OptionRow *row, int value);
bool config_is_option(const char *name);
void config_print(Text *out, const Config *c);
/* Reads what config_print has written; false if it is none of that, as with a value that has a
 * space. */
bool config_read(Config *out, Arena *a, const char *text);
bool config_equal(const Config *a, const Config *b);

#endif
