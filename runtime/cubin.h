/* PTX to machine code: by ptxas where it is found, else by the driver. */
#ifndef NEREID_RUNTIME_CUBIN_H
#define NEREID_RUNTIME_CUBIN_H

#include <stdbool.h>

#include "runtime/error.h"

/* *out is malloc'ed.  `target` is a machine's name, such as sm_90a.  fn may be NULL. */
int cubin_assemble(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   nereid_message_fn fn, void *context);

/* The same by that ptxas, given up when *stop is true (tool_run_until). */
int cubin_by_ptxas(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   const char *ptxas, const bool *stop);

#endif
