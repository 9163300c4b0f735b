/* extern_elementwise: functions of other libraries.  The functions of NVIDIA's libdevice exist here
 * already, and are found by their symbols. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- symbols of libdevice ----
 *
 * "__nv_" and the name of the function of f64 or of integers, which an f follows for f32, and ll
 * for i64; NVIDIA's manual of libdevice has them all. */

static const struct {
  const char *symbol, *name;
} irregular[] = {
    {"mul64hi", "mulhi"},
    {"umul64hi", "mulhi"},
    {"fabsf", "abs"},
    {"fmaf_rn", "fma_rn"},
    {"fmaf_rz", "fma_rz"},
    {"fmaf_rd", "fma_rd"},
    {"fmaf_ru", "fma_ru"},
    {"isnand", "isnan"},
    {"signbitd", "signbit"},
    {"isinfd", "isinf"},
    {"powif", "pow"},
    {"powi", "pow"},
    {"fast_fdividef", "fast_dividef"},
};

static bool libdevice_get(Sema *S, const char *name, size_t n, Value *fn) {
  Name space = pool_name(S->names, "triton.language.extra.cuda.libdevice");
  return n && language_get(S, space, pool_namen(S->names, name, n), fn) && fn->kind == V_FUNC;
}

/* The function of a symbol without its "__nv_". */
static bool libdevice_function(Sema *S, const char *s, Value *fn) {
  size_t n = strlen(s);
  for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
    if (!strcmp(irregular[i].symbol, s))
      return libdevice_get(S, irregular[i].name, strlen(irregular[i].name), fn);
  if (libdevice_get(S, s, n, fn)) return true;
  if (n > 1 && s[n - 1] == 'f' && libdevice_get(S, s, n - 1, fn)) return true;
  if (n > 2 && !strcmp(s + n - 2, "ll") && libdevice_get(S, s, n - 2, fn)) return true;
  if (strchr("fdu", s[0]) && libdevice_get(S, s + 1, n - 1, fn)) return true;
  return !strncmp(s, "ll", 2) && libdevice_get(S, s + 2, n - 2, fn);
}

/* ---- the call ---- */

/* The (symbol, dtype) for operands of these dtypes; NULL if there is none. */
static const Tuple *symbol_row(const Dict *d, const Value *args, uint32_t n) {
  for (uint32_t i = 0; i < d->len; i++) {
    const Value *key = &d->data[2 * i], *row = &d->data[2 * i + 1];
    if (key->kind != V_TUPLE || key->u.tuple->len != n || row->kind != V_TUPLE) continue;
    bool same = row->u.tuple->len == 2 && row->u.tuple->data[0].kind == V_STR &&
                row->u.tuple->data[1].kind == V_DTYPE;
    for (uint32_t k = 0; k < n && same; k++) {
      Value t = key->u.tuple->data[k];
      same = t.kind == V_DTYPE && t.u.dtype.type.dtype == value_type(args[k]).dtype;
    }
    if (same) return row->u.tuple;
  }
  return NULL;
}

static const char *dtypes_text(Sema *S, const Value *args, uint32_t n) {
  Text t = text_new(S->arena);
  for (uint32_t i = 0; i < n; i++)
    text_printf(&t, "%s%s", i ? ", " : "", type_text(S->arena, type_element(value_type(args[i]))));
  return t.data;
}

/* sin is of f64, sinf of f32: with the other, the symbol would be called wrongly. */
static bool fits_symbol(Sema *S, const char *s, const Value *args, uint32_t n) {
  Value whole;
  size_t len = strlen(s);
  bool narrow = s[len - 1] == 'f' && libdevice_get(S, s, len - 1, &whole);
  bool wide = !narrow && libdevice_get(S, arena_printf(S->arena, "%s", s), len, &whole) &&
              s[len - 1] != 'f' && strncmp(s, "float", 5) && !strstr(s, "2float");
  for (uint32_t i = 0; i < n; i++) {
    DType t = (DType)value_type(args[i]).dtype;
    if ((narrow && t == DT_F64) || (wide && t == DT_F32)) return false;
  }
  return true;
}

Value builtin_extern_elementwise(Sema *S, Call *c) {
  const Value *items;
  uint32_t n;
  if (c->args[3].kind != V_DICT) {
    refuse_argument(S, c->args[3], "arg_type_symbol_dict", "a dict", c->spans[3]);
    return value_error();
  }
  if (!iterate(S, c->args[2], c->spans[2], &items, &n)) return value_error();
  Value *args = ARENA_ARRAY(S->arena, Value, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    args[i] = typed(S, items[i], c->spans[2]);
    if (args[i].kind == V_ERROR) return args[i];
  }
  const Tuple *row = symbol_row(c->args[3].u.dict, args, n);
  if (!row) {
    sema_error(S, c->at, E_SEMA_EXTERN_TYPES, dtypes_text(S, args, n));
    return value_error();
  }
  const char *symbol = row->data[0].u.s;
  Value fn;
  bool known = !strncmp(symbol, "__nv_", 5) && symbol[5] && libdevice_function(S, symbol + 5, &fn);
  if (!known || !fits_symbol(S, symbol + 5, args, n)) {
    sema_error(S, c->at, known ? E_SEMA_EXTERN_OPERANDS : E_SEMA_EXTERN_SYMBOL, symbol,
               dtypes_text(S, args, n));
    if (!known) sema_hint(S, H_SEMA_EXTERN_SYMBOL);
    return value_error();
  }
  if (n && !broadcast_all(S, args, n, c->at)) return value_error();
  return cast_to(S, call_with(S, fn, args, n, c->at), row->data[1].u.dtype.type, false, c->at);
}
