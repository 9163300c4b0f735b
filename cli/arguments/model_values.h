/* Values of models: inputs that are numbers on the command line (n=5), and how far an array is from
 * the one that is expected. */
#ifndef NEREID_CLI_ARGUMENTS_MODEL_VALUES_H
#define NEREID_CLI_ARGUMENTS_MODEL_VALUES_H

#include <stdbool.h>

#include "model/nereid_graph.h"
#include "runtime/nereid.h"

/* Is it a name, an equals sign and an integer? */
bool number_is(const char *text);
/* Is the name that one? */
bool number_is_for(const char *text, const char *name);
/* The integer, as an i64 array without axes.  Returns a status, after a message if it is not
 * STATUS_OK. */
int number_make(nereid_value **out, const char *text);
int number_of(nereid_value **out, int64_t value);

/* ---- comparison ---- */

typedef struct {
  double absolute; /* the largest |got - expected| */
  double relative; /* the largest |got - expected| / |expected| where that is not 0 */
  double norm;     /* |got - expected| / |expected|, as vectors */
  bool exact;      /* all elements are equal */
  bool of_shapes;  /* these differ, and nothing else is known */
} Difference;

/* Equal NaNs and infinities are equal; a NaN or an infinity in one alone is an infinite error.  Not
 * 0: an internal error. */
int compare_arrays(Difference *out, const nereid_value *got, const nereid_value *expected);

enum { COMPARE_SHAPE_SIZE = 400 };
/* "[2, 3]", for messages. */
void compare_shape(char out[COMPARE_SHAPE_SIZE], const nereid_value *v);

/* Prints inputs and outputs with their types, the sizes that are open, and commands that run the
 * model of that path. */
void model_interface_print(const nereid_executable *e, const char *path);

#endif
