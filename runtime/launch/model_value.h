/* Values of models' inputs and outputs. */
#ifndef NEREID_RUNTIME_LAUNCH_MODEL_VALUE_H
#define NEREID_RUNTIME_LAUNCH_MODEL_VALUE_H

#include "runtime/nereid.h"

/* nereid_value_parse() that reads arrays of complex numbers as well, of which kernels have no
 * parameters. */
int value_parse_complex(nereid_value **out, const char *text);

#endif
