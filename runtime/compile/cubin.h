/* PTX to machine code: by ptxas where it is found, else by the driver. */
#ifndef NEREID_RUNTIME_COMPILE_CUBIN_H
#define NEREID_RUNTIME_COMPILE_CUBIN_H

#include <stdbool.h>

#include "runtime/support/error.h"

/* *out is malloc'ed.  `target` is a machine's name, such as sm_90a.  fn may be NULL. */
int cubin_assemble(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   nereid_message_fn fn, void *context);

#endif
