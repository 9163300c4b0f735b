/* The names of the language: which namespace has which, and where it comes from (the table of
 * builtins, a dtype, or the standard library). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/module/stdlib.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- the table ---- */

const Builtin builtin_table[] = {
#define X(name, where, params, handler, code) {#name, where, params, handler, code},
    BUILTINS(X) BUILTIN_EXTRAS(X)
#undef X
};
const uint32_t builtin_count = sizeof builtin_table / sizeof *builtin_table;

static const Builtin *row_of(Sema *S, Name name, const char *where) {
  uint32_t i;
  if (!map_get(&S->p->builtins, name, &i)) return NULL;
  return strpbrk(builtin_table[i].where, where) ? &builtin_table[i] : NULL;
}

/* A row by its name in our own code. */
static const Builtin *extra_row(const char *name) {
  for (uint32_t i = builtin_count; i-- > 0;)
    if (!strcmp(builtin_table[i].name, name)) return &builtin_table[i];
  BUG("no builtin %s", name);
}

static Value builtin_value(const Builtin *fn) {
  return (Value){.kind = V_BUILTIN, .u.builtin = {fn, NULL}};
}

/* A row whose first argument says what it is. */
static Value bound_extra(Sema *S, const char *row, Value self) {
  Value *first = ARENA_NEW(S->arena, Value);
  *first = self;
  return (Value){.kind = V_BUILTIN, .u.builtin = {extra_row(row), first}};
}

Value host_bound(Sema *S, const char *row, Value self) { return bound_extra(S, row, self); }

Value method_value(Sema *S, Value self, Name name) {
  Value both[] = {self, value_str(name)};
  return bound_extra(S, "method", value_tuple(S->arena, both, 2));
}

/* ---- namespaces ---- */

typedef enum {
  SP_NONE,
  SP_TRITON,
  SP_LANGUAGE,
  SP_MATH,
  SP_EXTRA,
  SP_LIBDEVICE,
  SP_TARGET,
  SP_NAN,
  SP_HOST,
  SP_NEREID,
  SP_CORE
} Space;

static Space classify(const char *path) {
  static const struct {
    const char *path;
    Space space;
  } rows[] = {
      {"triton", SP_TRITON},
      {"triton.language", SP_LANGUAGE},
      {"triton.language.core", SP_LANGUAGE},
      {"triton.language.standard", SP_LANGUAGE},
      {"triton.language.random", SP_LANGUAGE},
      {"triton.language.math", SP_MATH},
      {"triton.language.libdevice", SP_LIBDEVICE},
      {"triton.language.extra", SP_EXTRA},
      {"triton.language.extra.cuda", SP_EXTRA},
      {"triton.language.extra.hip", SP_EXTRA},
      {"triton.language.extra.intel", SP_EXTRA},
      {"triton.language.extra.libdevice", SP_LIBDEVICE},
      {"triton.language.extra.cuda.libdevice", SP_LIBDEVICE},
      {"triton.language.extra.hip.libdevice", SP_LIBDEVICE},
      {"triton.language.extra.intel.libdevice", SP_LIBDEVICE},
      {"triton.language.target_info", SP_TARGET},
      {"triton.language.PropagateNan", SP_NAN},
      {"triton.runtime", SP_HOST},
      {"triton.runtime.jit", SP_TRITON},
      {"triton.runtime.autotuner", SP_TRITON},
      {"nereid", SP_NEREID},
      {"nereid.core", SP_CORE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].path, path)) return rows[i].space;
  return SP_NONE;
}

bool language_is_space(const char *path) {
  if (path[0] != 't' && path[0] != 'n') return false;
  return classify(path) != SP_NONE;
}

static bool sub_space(Sema *S, Name space, Name name, Value *out) {
  char path[64];
  if ((size_t)snprintf(path, sizeof path, "%s.%s", space, name) >= sizeof path) return false;
  if (classify(path) == SP_NONE) return false;
  *out = (Value){.kind = V_SPACE, .u.s = pool_name(S->names, path)};
  return true;
}

static bool dtype_get(Name name, Value *out) {
  if (!strcmp(name, "void")) {
    *out = value_dtype(type_scalar(DT_NONE));
    return true;
  }
  if (!strcmp(name, "pi32_t")) {
    *out = value_dtype(type_ptr(DT_I32));
    return true;
  }
  for (int t = DT_NONE + 1; t < DT_PTR; t++)
    if (!strcmp(dtype_lang_name((DType)t), name)) {
      *out = value_dtype(type_scalar((DType)t));
      return true;
    }
  return false;
}

static const char *const language_files[] = {"standard.py", "math.py", "random.py", NULL};
static const char *const math_files[] = {"math.py",    "libdevice.py", "integer.py",
                                         "convert.py", "standard.py",  NULL};
static const char *const libdevice_files[] = {"libdevice.py", "integer.py", "convert.py", "math.py",
                                              NULL};
static const char *const target_files[] = {"target_info.py", NULL};

static bool language_name(Sema *S, Name name, Value *out) {
  const Builtin *fn = row_of(S, name, "L");
  if (fn) {
    *out = builtin_value(fn);
    return true;
  }
  if (dtype_get(name, out) || sub_space(S, pool_name(S->names, "triton.language"), name, out))
    return true;
  if (!strcmp(name, "TRITON_MAX_TENSOR_NUMEL")) {
    *out = value_int(MAX_TILE);
    return true;
  }
  if (!strcmp(name, "CONSTEXPR_0")) {
    *out = value_int(0);
    return true;
  }
  return std_get(S, language_files, name, out);
}

/* tl.math.max is the elementwise one. */
static bool math_name(Sema *S, Name name, Value *out) {
  if (!strcmp(name, "max")) name = pool_name(S->names, "maximum");
  if (!strcmp(name, "min")) name = pool_name(S->names, "minimum");
  return std_get(S, math_files, name, out) || language_name(S, name, out);
}

static bool triton_name(Sema *S, Name space, Name name, Value *out) {
  const Builtin *fn = row_of(S, name, "T");
  if (fn) *out = builtin_value(fn);
  else if (!strcmp(name, "cdiv")) *out = builtin_value(extra_row("cdiv"));
  else if (!strcmp(name, "__version__")) *out = value_str(pool_name(S->names, "3.6.0"));
  else return sub_space(S, space, name, out);
  return true;
}

/* core.NAME: the elementwise op of the tile IR of that name. */
static bool core_name(Sema *S, Name name, Value *out) {
  TileCode code = tile_op_parse(name, strlen(name));
  if (code == TILE_OP_COUNT || !(tile_op_flags(code) & TILE_ELEM)) return false;
  *out = bound_extra(S, "core_op", value_int(code));
  return true;
}

static bool nereid_name(Sema *S, Name name, Value *out) {
  if (sub_space(S, pool_name(S->names, "nereid"), name, out)) return true;
  ModuleInfo *m = std_module(S->p, arena_printf(S->arena, "%s.py", name));
  if (m) *out = (Value){.kind = V_MODULE, .u.module = m};
  return m != NULL;
}

bool language_get(Sema *S, Name space, Name name, Value *out) {
  const Builtin *fn;
  switch (classify(space)) {
    case SP_TRITON: return triton_name(S, space, name, out);
    case SP_LANGUAGE: return sub_space(S, space, name, out) || language_name(S, name, out);
    case SP_MATH: return math_name(S, name, out);
    case SP_LIBDEVICE: return std_get(S, libdevice_files, name, out) || math_name(S, name, out);
    case SP_EXTRA:
      fn = row_of(S, name, "C");
      if (fn) *out = builtin_value(fn);
      return fn || sub_space(S, space, name, out) || std_get(S, libdevice_files, name, out);
    case SP_TARGET:
      fn = row_of(S, name, "I");
      if (fn) *out = builtin_value(fn);
      return fn || std_get(S, target_files, name, out);
    case SP_NAN: *out = value_str(name); return !strcmp(name, "ALL") || !strcmp(name, "NONE");
    case SP_HOST:
      if (sub_space(S, space, name, out) || triton_name(S, space, name, out)) return true;
      if (S->host) *out = extern_attribute(S, space, name);
      return S->host != NULL;
    case SP_NEREID: return nereid_name(S, name, out);
    case SP_CORE: return core_name(S, name, out);
    default: return false;
  }
}

Nearest language_nearest(Sema *S, Name space, Name name) {
  Nearest n = {0};
  for (uint32_t i = 0; i < builtin_count; i++)
    if (strpbrk(builtin_table[i].where, "LT")) nearest_offer(&n, name, builtin_table[i].name);
  for (int t = DT_NONE + 1; t < DT_PTR; t++) nearest_offer(&n, name, dtype_lang_name((DType)t));
  Space kind = classify(space);
  const char *const *files = kind == SP_LIBDEVICE ? libdevice_files
                             : kind == SP_MATH    ? math_files
                                                  : language_files;
  for (; *files; files++) std_offer(S->p, *files, name, &n);
  return n;
}

void language_unknown(Sema *S, Name space, Name name, Span at) {
  if (strstr(name, "experimental_")) {
    const char *path = arena_printf(S->arena, "%s.%s", space, name);
    sema_error(S, at, E_SEMA_UNSUPPORTED, path);
    return;
  }
  sema_error(S, at, E_SEMA_UNKNOWN_NAME, space, name);
  if (diag_errors(S->diags) > DIAG_LIMIT) return; /* no one will read the hint */
  Nearest n = language_nearest(S, space, name);
  if (n.best) sema_hint(S, n.distance ? H_SEMA_NEAREST : H_SEMA_LANGUAGE, n.best);
}

/* ---- methods of tiles ---- */

bool language_method(Sema *S, Name name, Value *out) {
  const Builtin *fn = row_of(S, name, "M");
  if (fn) *out = builtin_value(fn);
  return fn || (name[0] != '_' && std_get(S, language_files, name, out));
}

/* ---- Python ---- */

bool python_builtin(Sema *S, Name name, Value *out) {
  static const char *const other[] = {"max", "min", "abs", "sum"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(name, other[i])) {
      *out = builtin_value(extra_row(arena_printf(S->arena, "py_%s", name)));
      return true;
    }
  const Builtin *fn = row_of(S, name, "P");
  if (!fn) return false;
  *out = builtin_value(fn);
  return true;
}

/* ---- host modules of which a little is known ---- */

static bool math_constant(const char *name, double *out) {
  static const struct {
    const char *name;
    double value;
  } rows[] = {{"pi", 0x1.921fb54442d18p1},
              {"e", 0x1.5bf0a8b145769p1},
              {"tau", 0x1.921fb54442d18p2},
              {"inf", INFINITY},
              {"nan", NAN},
              {"Inf", INFINITY},
              {"NaN", NAN}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name)) {
      *out = rows[i].value;
      return true;
    }
  return false;
}

static DType torch_dtype(const char *name) {
  static const struct {
    const char *name;
    DType t;
  } rows[] = {{"half", DT_F16},  {"float", DT_F32},        {"double", DT_F64},
              {"short", DT_I16}, {"int", DT_I32},          {"long", DT_I64},
              {"bool", DT_I1},   {"float8_e5m2", DT_F8E5}, {"float8_e4m3fn", DT_F8E4NV}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name)) return rows[i].t;
  for (int t = DT_NONE + 1; t < DT_PTR; t++)
    if (!strcmp(dtype_lang_name((DType)t), name)) return (DType)t;
  return DT_NONE;
}

Value extern_attribute(Sema *S, Name path, Name name) {
  bool numpy = !strcmp(path, "numpy"), torch = !strcmp(path, "torch");
  double f;
  if ((!strcmp(path, "math") || numpy || torch) && math_constant(name, &f)) return value_float(f);
  if ((numpy || torch) && torch_dtype(name) != DT_NONE)
    return value_dtype(type_scalar(torch_dtype(name)));
  if ((!strcmp(path, "math") || numpy) && math_function_known(name))
    return bound_extra(S, "math_fn", value_str(name));
  Name whole = pool_name(S->names, *path ? arena_printf(S->arena, "%s.%s", path, name) : name);
  Value known;
  if (host_attribute(S, whole, &known)) return known;
  return (Value){.kind = V_EXTERN, .u.s = whole};
}
