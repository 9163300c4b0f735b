/* The names of the language: which namespace has which, and where it comes from (the table of
 * builtins, a dtype, or the standard library). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/std/std.h"
#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- the library: lang/std/NAME.py, of which only what a kernel reaches is parsed ---- */

/* A top-level statement of a file, by the name that it binds. */
typedef struct {
  const char *start;
  size_t len;
  bool parsed;
} Chunk;

typedef struct {
  const EmbeddedFile *file;
  ModuleInfo *module;
  NameMap names;
  VEC(Chunk) chunks;
} StdFile;

struct StdIndex {
  StdFile *files;
  uint32_t n;
};

/* The start of the text after a top-level statement: the next line that begins in column 1 with
 * something other than a closing bracket. */
static const char *statement_end(const char *p) {
  bool quoted = false;
  for (;;) {
    const char *end = strchr(p, '\n');
    for (const char *q = p; (q = strstr(q, "\"\"\"")) && (!end || q < end); q += 3)
      quoted = !quoted;
    if (!end) return p + strlen(p);
    p = end + 1;
    if (!quoted && *p && !strchr(" \t\r\n)]}#", *p)) return p;
    if (!*p) return p;
  }
}

static bool starts_with(const char *p, const char *word) { return !strncmp(p, word, strlen(word)); }

/* The name that a chunk defines: after `def ` or `class `, or before ` =` or `:`; its length in
 * *len. */
static const char *defined_name(const char *p, const char *end, size_t *len) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  while (p && starts_with(p, "@")) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (p) p++;
  }
  if (!p) return NULL;
  if (starts_with(p, "def ")) p += 4;
  if (starts_with(p, "class ")) p += 6;
  *len = strspn(p, letters);
  return *len ? p : NULL;
}

static void parse_chunk(Program *p, ModuleInfo *m, const char *start, size_t len) {
  const char *text = arena_strndup(p->arena, start, len);
  size_t word = strcspn(text, " (:\n");
  Name name =
      arena_printf(p->arena, "%s(%u %.*s)", m->path, (unsigned)m->globals.len, (int)word, text);
  uint32_t file = diag_source(p->diags, name, text, len);
  const Module *ast = parse(p->arena, p->names, p->diags, file);
  module_index(p, m, &ast->body);
}

static bool starts_definition(const char *p) {
  return starts_with(p, "@") || starts_with(p, "def ") || starts_with(p, "class ");
}

static bool has_definition(const char *p, const char *end) {
  return memmem(p, (size_t)(end - p), "\ndef ", 5) || memmem(p, (size_t)(end - p), "\nclass ", 7);
}

/* Cuts a file into chunks; imports are read at once. */
static void index_file(Program *p, StdFile *f) {
  const char *at = f->file->text;
  while (*at && strchr(" \t\r\n#", *at)) at = statement_end(at);
  while (*at) {
    const char *end = at;
    do end = statement_end(end); /* decorators belong to the function after them */
    while (starts_with(at, "@") && *end && starts_definition(end) && !has_definition(at, end));
    size_t len;
    const char *name = defined_name(at, end, &len);
    if (starts_with(at, "from ") || starts_with(at, "import ")) {
      parse_chunk(p, f->module, at, (size_t)(end - at));
    } else if (name) {
      Chunk c = {at, (size_t)(end - at), false};
      map_set(p->arena, &f->names, pool_namen(p->names, name, len), (uint32_t)f->chunks.len);
      vec_push(p->arena, &f->chunks, c);
    }
    at = end;
  }
}

static StdIndex *std_index(Program *p) {
  if (p->std) return p->std;
  StdIndex *x = p->std = ARENA_NEW(p->arena, StdIndex);
  while (std_files[x->n].name) x->n++;
  x->files = ARENA_ARRAY(p->arena, StdFile, x->n);
  for (uint32_t i = 0; i < x->n; i++) x->files[i].file = &std_files[i];
  return x;
}

static StdFile *std_file(Program *p, const char *file) {
  StdIndex *x = std_index(p);
  for (uint32_t i = 0; i < x->n; i++) {
    StdFile *f = &x->files[i];
    if (strcmp(f->file->name, file)) continue;
    if (f->module) return f;
    f->module = ARENA_NEW(p->arena, ModuleInfo);
    f->module->is_std = true;
    f->module->std_file = i;
    f->module->path = pool_name(p->names, arena_printf(p->arena, "lang/std/%s", file));
    index_file(p, f);
    return f;
  }
  return NULL;
}

/* The module of a file of lang/std ("math.py"); NULL if there is none. */
static ModuleInfo *std_module(Program *p, const char *file) {
  StdFile *f = std_file(p, file);
  return f ? f->module : NULL;
}

void std_need(Program *p, ModuleInfo *m, Name name) {
  StdFile *f = &std_index(p)->files[m->std_file];
  uint32_t i;
  if (!map_get(&f->names, name, &i) || f->chunks.data[i].parsed) return;
  f->chunks.data[i].parsed = true;
  parse_chunk(p, m, f->chunks.data[i].start, f->chunks.data[i].len);
}

/* A function of the library, looked for in the files given (NULL-terminated). */
static bool std_get(Sema *S, const char *const *files, Name name, Value *out) {
  Span nowhere = {0};
  for (; *files; files++) {
    StdFile *f = std_file(S->p, *files);
    uint32_t i;
    if (f && map_get(&f->names, name, &i)) return module_get(S, f->module, name, nowhere, out);
  }
  return false;
}

/* Offers the names of a file, for "did you mean". */
static void std_offer(Program *p, const char *file, Name name, Nearest *n) {
  StdFile *f = std_file(p, file);
  for (uint32_t i = 0; f && i < f->names.nslots; i++)
    if (f->names.slots[i].key && f->names.slots[i].key[0] != '_')
      nearest_offer(n, name, f->names.slots[i].key);
}

/* ---- the table ---- */

const Builtin builtin_table[] = {
#define X(name, where, params, handler, code) {#name, where, params, handler, code},
    BUILTINS(X) BUILTIN_EXTRAS(X)
#undef X
};
const uint32_t builtin_count = sizeof builtin_table / sizeof *builtin_table;

static const Builtin *builtin_row(Sema *S, Name name, const char *where) {
  uint32_t i;
  if (!map_get(&S->p->builtins, name, &i)) return NULL;
  return strpbrk(builtin_table[i].where, where) ? &builtin_table[i] : NULL;
}

/* A row by its name in our own code. */
static const Builtin *extra_row(const char *name) {
  uint32_t i = builtin_count;
  while (i && strcmp(builtin_table[i - 1].name, name) != 0) i--;
  BUG_IF(!i, "no builtin %s", name);
  return &builtin_table[i - 1];
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
  SP_TOOLS,
  SP_RAGGED,
  SP_NAN,
  SP_HOST,
  SP_NEREID,
  SP_CORE,
  SP_EXPERIMENTAL,
  SP_GLUON,
  SP_GLUON_LANGUAGE,
  SP_GLUON_AMPERE
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
      {"triton.tools", SP_TOOLS},
      {"triton.tools.ragged_tma", SP_RAGGED},
      {"triton.runtime", SP_HOST},
      {"triton.runtime.jit", SP_TRITON},
      {"triton.runtime.autotuner", SP_TRITON},
      {"triton.experimental", SP_EXPERIMENTAL},
      {"triton.experimental.gluon", SP_GLUON},
      {"triton.experimental.gluon.language", SP_GLUON_LANGUAGE},
      {"triton.experimental.gluon.language._core", SP_GLUON_LANGUAGE},
      {"triton.experimental.gluon.language._layouts", SP_GLUON_LANGUAGE},
      {"triton.experimental.gluon.language.nvidia", SP_EXPERIMENTAL},
      {"triton.experimental.gluon.language.nvidia.ampere", SP_GLUON_AMPERE},
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

Name language_path(Pool *names, Name path) {
  static const char own[] = "nereid";
  size_t n = sizeof own - 1;
  if (strncmp(path, own, n) || (path[n] && path[n] != '.')) return path;
  char longer[256];
  int len = snprintf(longer, sizeof longer, "triton%s", path + n);
  return (size_t)len < sizeof longer ? pool_name(names, longer) : path;
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

static const char *const language_files[] = {"standard.py", "math.py", "random.py", "scaled.py",
                                             NULL};
static const char *const math_files[] = {"math.py",    "libdevice.py", "integer.py",
                                         "convert.py", "standard.py",  NULL};
static const char *const libdevice_files[] = {"libdevice.py", "integer.py", "convert.py", "math.py",
                                              NULL};
static const char *const gluon_files[] = {"gluon.py", "layouts.py", NULL};
static const char *const ampere_files[] = {"gluon_ampere.py", NULL};
static const char *const ragged_files[] = {"ragged_tma.py", NULL};

static bool language_name(Sema *S, Name name, Value *out) {
  const Builtin *fn = builtin_row(S, name, "L");
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

static const char *version_text(const Sema *S) {
  return S->language >= LANGUAGE_3_9 ? "3.9.0" : "3.6.0";
}

static bool triton_name(Sema *S, Name space, Name name, Value *out) {
  const Builtin *fn = builtin_row(S, name, "T");
  if (fn) *out = builtin_value(fn);
  else if (!strcmp(name, "cdiv")) *out = builtin_value(extra_row("cdiv"));
  else if (!strcmp(name, "__version__")) *out = value_str(pool_name(S->names, version_text(S)));
  else return sub_space(S, space, name, out);
  return true;
}

/* core.NAME: the elementwise op of the tile IR of that name, or a builtin of the library's own;
 * core.TRITON_3_9: whether it is the language. */
static bool core_name(Sema *S, Name name, Value *out) {
  if (!strcmp(name, "TRITON_3_9")) {
    *out = value_bool(S->language >= LANGUAGE_3_9);
    return true;
  }
  const Builtin *fn = builtin_row(S, name, "N");
  if (fn) *out = builtin_value(fn);
  if (fn) return true;
  TileCode code = tile_op_parse(name, strlen(name));
  if (code == TILE_OP_COUNT || !(tile_op_flags(code) & TILE_ELEM)) return false;
  *out = bound_extra(S, "core_op", value_int(code));
  return true;
}

static bool gluon_name(Sema *S, Name space, Name name, Value *out) {
  const Builtin *fn = builtin_row(S, name, "G");
  if (fn) *out = builtin_value(fn);
  return fn || sub_space(S, space, name, out) ||
         (name[0] != '_' && std_get(S, gluon_files, name, out)) || language_name(S, name, out);
}

static bool nereid_name(Sema *S, Name name, Value *out) {
  if (sub_space(S, pool_name(S->names, "nereid"), name, out)) return true;
  ModuleInfo *m = std_module(S->p, arena_printf(S->arena, "%s.py", name));
  if (m) *out = (Value){.kind = V_MODULE, .u.module = m};
  return m != NULL;
}

/* Questions about machines that kernels are not compiled for, is_hip_cdna4() and the like: each
 * version has others. */
static bool target_name(Sema *S, Name name, Value *out) {
  const Builtin *fn = builtin_row(S, name, "I");
  bool other = starts_with(name, "is_hip_") || starts_with(name, "is_xpu") ||
               starts_with(name, "hip_supports_") || starts_with(name, "get_hip_");
  if (!fn && other) fn = builtin_row(S, pool_name(S->names, "is_hip"), "I");
  if (fn) *out = builtin_value(fn);
  return fn != NULL;
}

/* Most of triton.tools is the host's. */
static bool tools_name(Sema *S, Name space, Name name, Value *out) {
  if (sub_space(S, space, name, out)) return true;
  Name path = pool_name(S->names, arena_printf(S->arena, "%s.%s", space, name));
  *out = (Value){.kind = V_EXTERN, .u.s = path};
  return true;
}

bool language_get(Sema *S, Name space, Name name, Value *out) {
  const Builtin *fn;
  switch (classify(space)) {
    case SP_TRITON: return triton_name(S, space, name, out);
    case SP_LANGUAGE: return sub_space(S, space, name, out) || language_name(S, name, out);
    case SP_MATH: return math_name(S, name, out);
    case SP_LIBDEVICE: return std_get(S, libdevice_files, name, out) || math_name(S, name, out);
    case SP_EXTRA:
      fn = builtin_row(S, name, "C");
      if (fn) *out = builtin_value(fn);
      return fn || sub_space(S, space, name, out) || std_get(S, libdevice_files, name, out);
    case SP_TARGET: return target_name(S, name, out);
    case SP_TOOLS: return tools_name(S, space, name, out);
    case SP_RAGGED: return name[0] != '_' && std_get(S, ragged_files, name, out);
    case SP_NAN: *out = value_str(name); return !strcmp(name, "ALL") || !strcmp(name, "NONE");
    case SP_HOST:
      if (sub_space(S, space, name, out) || triton_name(S, space, name, out)) return true;
      if (S->host) *out = extern_attribute(S, space, name);
      return S->host != NULL;
    case SP_NEREID: return nereid_name(S, name, out);
    case SP_CORE: return core_name(S, name, out);
    case SP_EXPERIMENTAL: return sub_space(S, space, name, out);
    case SP_GLUON: return sub_space(S, space, name, out) || triton_name(S, space, name, out);
    case SP_GLUON_LANGUAGE: return gluon_name(S, space, name, out);
    case SP_GLUON_AMPERE: return std_get(S, ampere_files, name, out);
    default: return false;
  }
}

Nearest language_nearest(Sema *S, Name space, Name name) {
  Nearest n = {0};
  for (uint32_t i = 0; i < builtin_count; i++)
    if (strpbrk(builtin_table[i].where, "LT")) nearest_offer(&n, name, builtin_table[i].name);
  for (int t = DT_NONE + 1; t < DT_PTR; t++) nearest_offer(&n, name, dtype_lang_name((DType)t));
  Space kind = classify(space);
  const char *const *files = kind == SP_LIBDEVICE        ? libdevice_files
                             : kind == SP_MATH           ? math_files
                             : kind == SP_GLUON_LANGUAGE ? gluon_files
                             : kind == SP_RAGGED         ? ragged_files
                                                         : language_files;
  for (; *files; files++) std_offer(S->p, *files, name, &n);
  return n;
}

/* Names of Gluon's that are not here; of what is NVIDIA's or AMD's alone, all others. */
static bool is_of_gluon(Name space, Name name) {
  static const char *const names[] = {
      "warp_specialize", "bank_conflicts", "to_linear_layout", "nvidia", "amd", "extra"};
  Space kind = classify(space);
  if (kind == SP_EXPERIMENTAL || kind == SP_GLUON_AMPERE) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((kind == SP_GLUON_LANGUAGE || kind == SP_GLUON) && !strcmp(names[i], name)) return true;
  return false;
}

void language_unknown(Sema *S, Name space, Name name, Span at) {
  if (strstr(name, "experimental_")) {
    const char *path = arena_printf(S->arena, "%s.%s", space, name);
    sema_error(S, at, E_SEMA_UNSUPPORTED, path);
    return;
  }
  if (is_of_gluon(space, name)) {
    sema_error(S, at, E_SEMA_UNSUPPORTED, arena_printf(S->arena, "%s.%s", space, name));
    sema_hint(S, H_SEMA_GLUON);
    return;
  }
  if (!strcmp(name, "float8e4b8") || !strcmp(name, "float8e5b16")) {
    sema_error(S, at, E_SEMA_FP8, name);
    return;
  }
  sema_error(S, at, E_SEMA_UNKNOWN_NAME, space, name);
  if (diag_errors(S->diags) > DIAG_LIMIT) return; /* no one will read the hint */
  Nearest n = language_nearest(S, space, name);
  if (n.best) sema_hint(S, n.distance ? H_SEMA_NEAREST : H_SEMA_LANGUAGE, n.best);
}

/* ---- methods of tiles ---- */

bool language_method(Sema *S, Name name, Value *out) {
  const Builtin *fn = builtin_row(S, name, "M");
  if (fn) *out = builtin_value(fn);
  return fn || (name[0] != '_' && std_get(S, language_files, name, out));
}

bool language_descriptor_method(Sema *S, Name name, Value *out) {
  static const char *const files[] = {"descriptor.py", NULL};
  return name[0] != '_' && std_get(S, files, name, out);
}

/* ---- Python ---- */

bool python_builtin(Sema *S, Name name, Value *out) {
  static const char *const other[] = {"max", "min", "abs", "sum"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(name, other[i])) {
      *out = builtin_value(extra_row(arena_printf(S->arena, "py_%s", name)));
      return true;
    }
  if (!strcmp(name, "__import__")) {
    *out = (Value){.kind = V_EXTERN, .u.s = pool_name(S->names, "builtins.__import__")};
    return true;
  }
  const Builtin *fn = builtin_row(S, name, "P");
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
  Name space = language_passed_on(S->names, path, name);
  if (space) return (Value){.kind = V_SPACE, .u.s = space};
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
