/* Values that follow from sizes: x=randn:f32[n,2*k] n={N}.
 *
 * What stands in braces is an integer expression (nereid_expr_eval), and so is each entry of a
 * shape in brackets.  Functions return a status, after a message that begins with `name` if it is
 * not STATUS_OK. */
#ifndef NEREID_CLI_ARGUMENTS_SUBSTITUTE_H
#define NEREID_CLI_ARGUMENTS_SUBSTITUTE_H

#include "lang/base/arena.h"
#include "runtime/nereid.h"

typedef struct {
  const nereid_binding *data;
  int n;
} Bindings;

/* The text with each {EXPRESSION} replaced by its value. */
int substitute_braces(Arena *a, const char **out, const char *name, const char *text,
                      const Bindings *b);
/* The same for entries of shapes.  Names of files are left as they are. */
int substitute_shape(Arena *a, const char **out, const char *name, const char *text,
                     const Bindings *b);
/* The text with the value for each word that is the name. */
const char *substitute_word(Arena *a, const char *text, const char *name, int64_t value);
/* Does the name stand in the text, as a word? */
bool substitute_mentions(const char *text, const char *name);

#endif
