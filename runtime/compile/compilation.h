/* A compilation: from source or IR text to a stage.
 *
 * runtime/compile owns requests: it drives parser, sema, lower and codegen for one kernel.  It
 * takes a source with types, constants, options and a target, and gives an image, the text of a
 * stage, or an estimate; errors go to the caller as messages.
 *
 * A Compilation owns an arena with everything in it.  It is opened on a source, then brought to a
 * tile function (compile_specialize), and then to a stage (compile_lower).  Messages are collected
 * in `diags`; compile_report hands them to the caller and keeps the errors. */
#ifndef NEREID_RUNTIME_COMPILE_COMPILATION_H
#define NEREID_RUNTIME_COMPILE_COMPILATION_H

#include "codegen/codegen.h"
#include "lower/lower.h"
#include "runtime/support/error.h"
#include "runtime/support/log.h"
#include "sema/sema.h"

typedef enum {
  COMPILE_PARSE,
  COMPILE_SEMA,
  COMPILE_PASSES,
  COMPILE_CODE,
  COMPILE_STAGES
} CompileStage;

/* The kernels of a file of IR text. */
typedef struct {
  Unit **data;
  uint32_t len;
  uint32_t file;
} Units;

typedef struct {
  Arena *arena;
  ArenaUse limits; /* bytes of the compilation, steps of each stage */
  Log log;
  double seconds[COMPILE_STAGES]; /* that each took, where the log wants to know */
  Pool *names;
  Diags *diags;
  Module *module;       /* of source text that is opened for its syntax only */
  Program *program;     /* of source text; NULL for IR */
  const Kernel *kernel; /* after compile_specialize */
  Units units;          /* of IR */
  Unit *unit;           /* after compile_specialize */
  const KernelArg *args;
  uint32_t nargs;
  const KernelArg *given; /* values of names that are no parameters */
  uint32_t ngiven;
  bool from_ir;
  const char *path;              /* of the source */
  const nereid_request *request; /* after compile_specialize has begun */
  const char *preferred; /* the target where neither the request nor scheduled IR names one */
} Compilation;

/* NEREID_E_USAGE: arguments, or the name of one, are NULL. */
int compile_check(const nereid_request *r);
/* body(arg), which belongs to a stage and is timed with it: NEREID_E_MEMORY if it runs out of
 * memory, and NEREID_E_RESOURCES past a limit of the compilation. */
int compile_guard(Compilation *c, CompileStage stage, int (*body)(void *), void *arg);
/* After an internal error: the command that repeats it, as a note. */
void compile_add_repeat(const Compilation *c);
/* Opens a source.  `c` must be closed in any case.  syntax_only: of a source file no more than its
 * syntax tree, in c->module. */
int compile_open(Compilation *c, const nereid_source *source, bool syntax_only);
void compile_close(Compilation *c);
/* The failure where sema_find() finds nothing: the caller's, or, of a file without kernels, the
 * file's. */
int compile_not_found(Program *p);
/* A kernel of IR text by NAME, NAME@LINE, or NULL/"" for the only one: of two with one name the
 * last counts.  NULL, after an error that lists the kernels, if none or several match. */
Unit *units_find(const Units *units, Diags *d, const char *which);
/* Is there a later one of the same name? */
bool units_shadowed(const Units *units, uint32_t i);
/* Fails for an argument that is no parameter of the kernel and gives no name of a file its value,
 * as a constant may.  If a parameter has a similar name, a misspelling is found at once, otherwise
 * after the files are read (`read`). */
int compile_check_name(Program *p, const Kernel *k, const char *name, bool constant, bool read);
/* Checks a name of a kernel of a module, whose imports were not followed. */
int module_check_name(nereid_module *m, const nereid_kernel_info *kernel, const char *name);
/* Sema: the kernel for the request's arguments, as a unit at LEVEL_TILE; or checks that IR text
 * agrees with the request. */
int compile_specialize(Compilation *c, const nereid_request *r);
/* Runs the passes up to `until`. */
int compile_lower(Compilation *c, const nereid_request *r, Level until);
/* PTX or C. */
int compile_generate(Compilation *c, nereid_kind kind, Code *out);
/* After errors: keeps all messages and returns `code` (NEREID_E_KERNEL if it is 0), or
 * NEREID_E_RESOURCES if the device is too small for the kernel and nothing else is wrong.  Without:
 * hands warnings to the callback and returns `code`. */
int compile_report(Compilation *c, int code, nereid_message_fn fn, void *context);

#endif
