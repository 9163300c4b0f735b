/* Configurations that a kernel's file declares, and those derived from the kernel.
 *
 * Opened once for a kernel with its arguments, then asked: decorators_space() for the search space,
 * decorators_complete() for a candidate with the constexprs that heuristics add.  The results
 * belong to the Decorators and live as long. */
#ifndef NEREID_RUNTIME_LAUNCH_DECORATORS_H
#define NEREID_RUNTIME_LAUNCH_DECORATORS_H

#include "runtime/compile/config.h"
#include "runtime/launch/argument_texts.h"
#include "runtime/launch/argument_value.h"

typedef struct Decorators Decorators;

typedef struct {
  const char *name;
  const nereid_value *value; /* of an alias: the other argument's array */
  const DescriptorValue *descriptor; /* NULL: none */
} DecoratorArg;

DecoratorArg decorator_arg(const Argument *a);

typedef enum {
  SPACE_NONE,     /* nothing is left to choose: one configuration, perhaps an empty one */
  SPACE_AUTOTUNE, /* a decorator gives the configurations: one at least, perhaps an empty one */
  SPACE_AUTOMATIC /* derived from the kernel */
} SpaceSource;

typedef struct {
  const char **data;
  int len;
} ArrayNames;

typedef struct {
  SpaceSource source;
  Configs configs;
  ArrayNames *zeroed; /* for each: arrays that its pre_hook zeroes before a launch */
  const char **key, **reset_to_zero, **restore_value; /* of autotune */
  int nkey, nreset_to_zero, nrestore_value;
} DecoratorSpace;

/* `kernel` has fixed constexprs and options; `device` may be NULL (a GPU of its target).  Questions
 * of the file about the machine answer for the device.  Notes go to kernel->on_message. */
int decorators_open(Decorators **out, const nereid_request *kernel, const DecoratorArg *args,
                    int nargs, const nereid_device_info *device);
void decorators_free(Decorators *d);

/* The space of the decorators alone: no configurations (SPACE_NONE) if there is no autotune. */
int decorators_declared(DecoratorSpace *out, Decorators *d);
/* Fails where a list can't be evaluated or constexprs can't be guessed: the message says what to
 * give by --space or -D. */
int decorators_space(DecoratorSpace *out, Decorators *d);
/* *out: `c` with the constexprs that heuristics give for it, in the kernel's order, then options.
 * An option that is a constexpr of the kernel as well is set as the option alone: compiling gives
 * the constexpr its value. */
int decorators_complete(Config *out, Decorators *d, const Config *c);
/* `kernel` with the settings of a configuration, in the arena. */
nereid_request decorators_request(Arena *a, const nereid_request *kernel,
                                  const nereid_kernel_info *info, const Config *c);
/* The results of heuristics as far as they can be computed; never fails for a kernel's sake. */
int decorators_known(Config *out, Decorators *d);

#endif
