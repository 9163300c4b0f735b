/* A kernel's arguments and grid on the command line: NAME=VALUE... -D NAME=VALUE... --grid X,Y,Z.
 *
 * Functions that return an int return a status, after a message if it is not STATUS_OK. */
#ifndef NEREID_CLI_ARGUMENTS_H
#define NEREID_CLI_ARGUMENTS_H

#include "cli/request.h"

typedef struct {
  const char *name; /* of the setting that it was read from */
  nereid_value *value;
  const nereid_value *array; /* its own, or another argument's; NULL for numbers */
  void *data;                /* of the array, on the device */
} Argument;

typedef struct {
  const nereid_kernel_info *kernel;
  Argument *data;
  int len;
} Arguments;

/* Values for run-time parameters of the kernel, in the types that its file fixes.  Settings must
 * outlive the arguments; so must the kernel. */
int arguments_read(Arguments *out, const nereid_kernel_info *kernel, const Settings *settings);
void arguments_free(Arguments *a);
/* NULL if there is none of that name. */
Argument *arguments_find(const Arguments *a, const char *name);
/* Has every run-time parameter a value?  Constexprs are for the compiler to miss. */
int arguments_check(const Arguments *a, const Request *r);
/* The types that the kernel is compiled for follow from the values.  IR text has its own. */
int arguments_add_types(const Arguments *a, Request *r, const nereid_module *m);

/* The integers among arguments and constexprs; the caller frees *out. */
int arguments_bind(nereid_binding **out, int *n, const Arguments *a, const Request *r);
/* A grid over names that have these values. */
int arguments_extents(uint32_t out[3], const char *grid, const nereid_binding *names, int n);
int arguments_grid(uint32_t out[3], const char *grid, const Arguments *a, const Request *r);

#endif
