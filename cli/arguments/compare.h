/* How far an array is from the one that is expected. */
#ifndef NEREID_CLI_ARGUMENTS_COMPARE_H
#define NEREID_CLI_ARGUMENTS_COMPARE_H

#include <stdbool.h>

#include "runtime/nereid.h"

typedef struct {
  double absolute; /* the largest |got - expected| */
  double relative; /* the largest |got - expected| / |expected| where that is not 0 */
  double norm;     /* |got - expected| / |expected|, as vectors */
  bool exact;      /* all elements are equal */
} Difference;

/* False if their shapes differ.  Equal NaNs and infinities are equal; a NaN or an infinity in one
 * alone is an infinite error. */
bool compare_arrays(Difference *out, const nereid_value *got, const nereid_value *expected);

enum { COMPARE_SHAPE_SIZE = 400 };
/* "[2, 3]", for messages. */
void compare_shape(char out[COMPARE_SHAPE_SIZE], const nereid_value *v);

#endif
