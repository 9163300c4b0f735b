/* A request's run-time arguments and grid on the command line: NAME=VALUE... --grid X,Y,Z.
 *
 * Functions return a status, after a message if it is not STATUS_OK. */
#ifndef NEREID_CLI_ARGUMENTS_REQUEST_ARGS_H
#define NEREID_CLI_ARGUMENTS_REQUEST_ARGS_H

#include "cli/arguments/request.h"
#include "runtime/launch/argument_texts.h"

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
