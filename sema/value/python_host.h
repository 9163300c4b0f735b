/* Host code: the parts of Python that decorators and module values need and kernels do not have.
 *
 * A Sema with a Host evaluates host code of the file.  Names of modules that are not at hand
 * (torch, os, itertools, triton's runtime) are answered here, for the device tuned for, as far as
 * lists of configurations ask for them.  Such code is evaluated quietly: the first failure is kept,
 * with its location, so that a message can say why. */
#ifndef NEREID_SEMA_VALUE_PYTHON_HOST_H
#define NEREID_SEMA_VALUE_PYTHON_HOST_H

#include "sema/value/context.h"
#include "sema/tuned.h"

struct Host {
  const TunedQuery *query;
  uint32_t line; /* of the kernel's file, where names have what was bound above; 0: at the end */
  bool raised;   /* the last failure is an exception of Python's, not a gap of ours */
  Span why_at;   /* the first thing that could not be evaluated; file 0: nothing */
  const char *why;
  VEC(Name) zeroed; /* tensors whose zero_() was called: what a pre_hook resets */
};
typedef struct Host Host;

/* An attribute or a call of a dotted host name; false if it is none of those known. */
bool host_attribute(Sema *S, Name path, Value *out);
bool host_call(Sema *S, Name path, const CallArgs *args, Value *out);
bool host_library(Sema *S, Name path, const CallArgs *args, Value *out);
/* Calls of importlib and its like. */
bool host_import(Sema *S, Name path, const CallArgs *args, Value *out);
/* sys.modules[NAME] */
Value host_loaded_module(Sema *S, Name name);
/* spec.loader and loader.exec_module, where a module stands for its specification and loader. */
bool host_spec_attribute(Sema *S, Value module, Name name, Value *out);
Value host_spec_method(Value module, Name name);
/* A row of the table of builtins, bound to its first argument. */
Value host_bound(Sema *S, const char *row, Value self);
/* The function that a name of the program's file means on a target (NULL: any); NULL if none. */
const FuncDef *host_function_named(Program *p, Name name, const char *target);
Value host_function(Value f);       /* what functools.partial() was given; else f */
Value value_copy(Sema *S, Value v); /* of lists, dicts, configurations */
Value host_sorted(Sema *S, Value list, Value key, bool reverse, Span at);
/* Into a dict: dicts and pairs, then named arguments (NULL: none). */
bool host_update(Sema *S, Dict *d, const Value *from, uint32_t n, const CallArgs *named, Span at);
/* Methods of lists, dicts, configurations and tensors beyond those of kernels. */
bool host_method_known(Sema *S, Value self, Name name);
Value host_method(Sema *S, Value self, Name name, const Value *args, uint32_t n, Span at);
/* False for statements of the kernel's file below the decorator that is evaluated. */
bool host_sees(const Sema *S, const ModuleInfo *m, const Stmt *s);
/* A list or a dict as the statements of its module leave it that change it after it was bound:
 * `configs.append(...)`. */
Value host_settle(Sema *S, ModuleInfo *m, Name name, Value v);
/* try: its body, and its handlers where that raises.  A failed evaluation is no exception. */
void host_try(Sema *S, const Stmt *s);

/* Objects with named fields.  Objects of one kind share `fields`. */
bool value_is_config(const Sema *S, Value v);
bool value_is_tensor(const Sema *S, Value v);
enum {
  CONFIG_KWARGS,
  CONFIG_WARPS,
  CONFIG_STAGES,
  CONFIG_CTAS,
  CONFIG_MAXNREG,
  CONFIG_HOOK,
  CONFIG_FIELDS
};
/* An item of an enumeration by its name. */
Value host_class_item(Sema *S, Value cls, Value name, Span at);
/* What a tensor and a tensor descriptor have on the host. */
enum { TENSOR_RANK = 4, TENSOR_STRIDES = 6, TENSOR_BLOCK = 8, TENSOR_FIELDS };
Value host_tensor(Sema *S, const TunedArg *arg);
bool value_is_host_descriptor(const Sema *S, Value v);

#endif
