/* The standard library as modules: lang/std/NAME.py, of which only the definitions that a kernel
 * reaches are parsed. */
#ifndef NEREID_SEMA_MODULE_STDLIB_H
#define NEREID_SEMA_MODULE_STDLIB_H

#include "sema/value/context.h"

/* The module of a file of lang/std ("math.py"); NULL if there is none. */
ModuleInfo *std_module(Program *p, const char *file);
/* Parses what defines `name` in a module of the library, if it was not yet. */
void std_need(Program *p, ModuleInfo *m, Name name);
/* A function of the library, looked for in the files given (NULL-terminated). */
bool std_get(Sema *S, const char *const *files, Name name, Value *out);
/* Offers the names of a file, for "did you mean". */
void std_offer(Program *p, const char *file, Name name, Nearest *n);

#endif
