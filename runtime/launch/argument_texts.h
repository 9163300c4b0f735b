/* A kernel's run-time arguments as NAME=VALUE texts, and what follows from them: the types that it
 * is compiled for, integers for expressions, and the grid.
 *
 * runtime/launch owns the way from an image to a running kernel: loading (load.c), launches with
 * their checks (launch.c), values and their texts (argument_value.h, and here), and the
 * configurations of a kernel for its arguments (decorators.h).  It takes images, values and a grid,
 * and gives launches on a device.
 *
 * Functions that return an int return 0 or a nereid_code. */
#ifndef NEREID_RUNTIME_LAUNCH_ARGUMENT_TEXTS_H
#define NEREID_RUNTIME_LAUNCH_ARGUMENT_TEXTS_H

#include "runtime/support/error.h"
#include "runtime/nereid_tune.h"

typedef struct {
  const char *name, *text; /* of the setting that it was read from */
  char *made_name, *made_text; /* the same of a descriptor's extent or stride */
  int divisor; /* of a stride: what is known of it */
  const nereid_param *param;
  nereid_value *value;       /* of the parameter's type, where the kernel fixes that */
  const nereid_value *array; /* its own, or another argument's; NULL for numbers */
  size_t offset;             /* bytes of another argument's array before this one begins */
  void *data;                /* of the argument, where a user of this has put it */
  bool zeroed;               /* the memory is zeroed before the launch, as a hook asks */
} Argument;

typedef struct {
  const nereid_kernel_info *kernel;
  Argument *data; /* in the kernel's order, whatever order they are given in */
  int len;
} Arguments;

/* Kernel and settings must outlive the arguments.  outline: arrays have a type and a shape, and no
 * elements.  To be freed after a failure, too. */
int arguments_read(Arguments *out, const nereid_kernel_info *kernel, const nereid_setting *settings,
                   int n, bool outline);
void arguments_free(Arguments *a);
/* NULL if there is none of that name. */
const nereid_param *arguments_param(const nereid_kernel_info *kernel, const char *name);
Argument *arguments_find(const Arguments *a, const char *name);
/* Has every run-time parameter a value, here and not as a constant of the request?  Constexprs are
 * for the compiler to miss. */
int arguments_check(const Arguments *a, const nereid_request *r);

/* The dtype that a number's text is cast to; "": it keeps its own. */
const char *argument_cast(const Argument *a);
/* The type that the kernel is compiled for. */
enum { ARGUMENT_TYPE = 64 };
int argument_type(char out[ARGUMENT_TYPE], const Argument *a);

/* The integers among arguments and the request's constexprs: at most a->len + r->nargs.  Returns
 * their number. */
int arguments_bind(nereid_binding *out, const Arguments *a, const nereid_request *r);
/* The grid, one to three expressions over names with these values. */
int arguments_grid(uint32_t out[3], const char *grid, const nereid_binding *names, int n);

#endif
