/* Modules that host code looks for by their names: importlib, __import__ and sys.modules.
 *
 * A module stands for its specification and for its loader, too: finding and loading it give the
 * same value. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/python_host.h"

static Value space_value(Name path) { return (Value){.kind = V_SPACE, .u.s = path}; }

/* V_ABSENT if the language or the files at hand should have it, and don't; other packages are host
 * names. */
static Value find_module(Sema *S, Name path) {
  path = language_path(S->names, path);
  if (language_is_space(path)) return space_value(path);
  ModuleInfo *m = program_import(S->p, S->frame->module, 0, path);
  if (m) return (Value){.kind = V_MODULE, .u.module = m};
  Name space = language_vendored(S->names, path);
  if (space) return space_value(space);
  if (!strncmp(path, "triton.", 7)) return value_of(V_ABSENT);
  return (Value){.kind = V_EXTERN, .u.s = path};
}

/* `name` of an import from a package: ".math" of "triton.language" is "triton.language.math". */
static Name absolute_name(Sema *S, const CallArgs *args, Name name) {
  const Value *package = args->npos > 1 ? &args->pos[1] : args->nnamed ? &args->named[0] : NULL;
  if (name[0] != '.' || !package || package->kind != V_STR) return name;
  return pool_name(S->names, arena_printf(S->arena, "%s%s", package->u.s, name));
}

static Value import_error(Sema *S, Name name, Span at) {
  sema_error(S, at, E_SEMA_RAISE, arena_printf(S->arena, "ImportError: no module '%s'", name));
  return value_error();
}

static Value import_module(Sema *S, Name name, Span at) {
  Value v = find_module(S, name);
  return v.kind == V_ABSENT ? import_error(S, name, at) : v;
}

/* __import__("a.b") is a, and with a list of names a.b. */
static Value import_function(Sema *S, const CallArgs *args) {
  Name name = args->pos[0].u.s;
  bool listed = args->npos > 3;
  for (uint32_t i = 0; i < args->nnamed; i++) listed |= !strcmp(args->names[i], "fromlist");
  return import_module(S, listed ? name : pool_namen(S->names, name, strcspn(name, ".")),
                       args->at);
}

bool host_import(Sema *S, Name path, const CallArgs *args, Value *out) {
  if (!args->npos) return false;
  Value first = args->pos[0];
  bool named = first.kind == V_STR;
  bool module = first.kind == V_SPACE || first.kind == V_MODULE || first.kind == V_EXTERN;
  if (named && !strcmp(path, "importlib.util.find_spec")) {
    *out = find_module(S, absolute_name(S, args, first.u.s));
    if (out->kind == V_ABSENT) *out = value_none();
  } else if (named && !strcmp(path, "importlib.import_module")) {
    *out = import_module(S, absolute_name(S, args, first.u.s), args->at);
  } else if (named && !strcmp(path, "builtins.__import__")) {
    *out = import_function(S, args);
  } else if (module && (!strcmp(path, "importlib.util.module_from_spec") ||
                        !strcmp(path, "importlib.reload"))) {
    *out = first;
  } else {
    return false;
  }
  return true;
}

Value host_loaded_module(Sema *S, Name name) {
  Value v = find_module(S, name);
  return v.kind == V_ABSENT ? value_error() : v;
}

bool host_spec_attribute(Sema *S, Value module, Name name, Value *out) {
  if (!strcmp(name, "loader") || !strcmp(name, "__spec__")) *out = module;
  else if (!strcmp(name, "exec_module") || !strcmp(name, "load_module"))
    *out = method_value(S, module, name);
  else return false;
  return true;
}

Value host_spec_method(Value module, Name name) {
  return name[0] == 'e' ? value_none() : module;
}
