/* Values as text: as Python's str() and repr() write them, and what messages call them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sema/value/builtins.h"
#include "sema/value/value.h"

static void print_int(Text *out, BigInt i) {
  char digits[48];
  int n = sizeof digits;
  unsigned __int128 u = i < 0 ? -(unsigned __int128)i : (unsigned __int128)i;
  do digits[--n] = (char)('0' + (int)(u % 10));
  while (u /= 10);
  if (i < 0) digits[--n] = '-';
  text_putn(out, digits + n, sizeof digits - (size_t)n);
}

/* The shortest text that reads back as the same double, as Python prints floats. */
static void print_python_float(Text *out, double f) {
  char s[40];
  if (isnan(f)) text_puts(out, "nan");
  else if (isinf(f)) text_puts(out, f < 0 ? "-inf" : "inf");
  else {
    for (int digits = 1; digits <= 17; digits++) {
      snprintf(s, sizeof s, "%.*g", digits, f);
      double back;
      if (sscanf(s, "%lf", &back) == 1 && back == f) break;
    }
    text_puts(out, s);
    if (!strpbrk(s, ".en")) text_puts(out, ".0");
  }
}

static void print_dtype(Text *out, DTypeValue d) {
  Type t = d.type;
  if (t.dtype == DT_PTR) {
    text_printf(out, "pointer<%s>", t.elem == DT_PTR ? "pointer" : dtype_lang_name(t.elem));
  } else {
    DType e = (DType)t.dtype;
    /* Floats print by their short names, as the language's dtypes do. */
    static const char *const floats[DT_COUNT] = {
        [DT_F16] = "fp16",   [DT_BF16] = "bf16",      [DT_F32] = "fp32",        [DT_F64] = "fp64",
        [DT_F8E5] = "fp8e5", [DT_F8E4NV] = "fp8e4nv", [DT_F8E4B15] = "fp8e4b15"};
    text_puts(out, floats[e] ? floats[e] : dtype_lang_name(e));
  }
  for (int i = 0; i < t.rank; i++) text_printf(out, "%s%d", i ? ", " : "[", t.shape[i]);
  if (t.rank) text_puts(out, "]");
}

static void print_python_value(Text *out, Value v, bool repr, int depth);

static bool is_long(const Text *out) { return out->len > VALUE_TEXT_MAX; }

static void print_tuple(Text *out, const Tuple *t, int depth) {
  if (t->is_aggregate) text_puts(out, t->cls->u.cls.def->name);
  text_puts(out, t->is_list ? "[" : "(");
  for (uint32_t i = 0; i < t->len && !is_long(out); i++) {
    if (i) text_puts(out, ", ");
    if (t->is_aggregate) text_printf(out, "%s=", t->fields[i]);
    print_python_value(out, t->data[i], true, depth);
  }
  text_puts(out, t->is_list ? "]" : t->len == 1 && !t->is_aggregate ? ",)" : ")");
}

static void print_dict(Text *out, const Dict *d, int depth) {
  text_puts(out, "{");
  for (uint32_t i = 0; i < d->len && !is_long(out); i++) {
    if (i) text_puts(out, ", ");
    print_python_value(out, d->data[2 * i], true, depth);
    text_puts(out, ": ");
    print_python_value(out, d->data[2 * i + 1], true, depth);
  }
  text_puts(out, "}");
}

static void print_container(Text *out, Value v, int depth) {
  if (depth == VALUE_DEPTH_MAX) text_puts(out, "...");
  else if (v.kind == V_TUPLE) print_tuple(out, v.u.tuple, depth + 1);
  else print_dict(out, v.u.dict, depth + 1);
}

static void print_python_value(Text *out, Value v, bool repr, int depth) {
  switch (v.kind) {
    case V_NONE: text_puts(out, "None"); break;
    case V_INT: print_int(out, v.u.i); break;
    case V_BOOL: text_puts(out, v.u.i ? "True" : "False"); break;
    case V_FLOAT: print_python_float(out, v.u.f); break;
    case V_STR: text_printf(out, repr ? "'%s'" : "%s", v.u.s); break;
    case V_ELLIPSIS: text_puts(out, "Ellipsis"); break;
    case V_TUPLE:
    case V_DICT: print_container(out, v, depth); break;
    case V_DTYPE:
      if (!v.u.dtype.constant) print_dtype(out, v.u.dtype);
      else text_printf(out, "constexpr_type[%s]", value_text(out->arena, *v.u.dtype.constant));
      break;
    case V_CONST:
    case V_TILE: type_print(out, value_type(v)); break;
    case V_FUNC: text_puts(out, v.u.func->def ? v.u.func->def->name : "lambda"); break;
    case V_BUILTIN: text_puts(out, v.u.builtin.fn->name); break;
    case V_CLASS: text_puts(out, v.u.cls.def->name); break;
    case V_SPACE:
    case V_EXTERN: text_puts(out, v.u.s); break;
    default: text_puts(out, value_describe(out->arena, v)); break;
  }
}

void value_print(Text *out, Value v, bool repr) { print_python_value(out, v, repr, 0); }

const char *value_text(Arena *a, Value v) {
  Text t = text_new(a);
  value_print(&t, v, false);
  return t.data;
}

const char *value_describe(Arena *a, Value v) {
  switch (v.kind) {
    case V_ERROR: return "an erroneous value";
    case V_ABSENT: return "nothing";
    case V_NONE: return "None";
    case V_INT:
    case V_BOOL:
    case V_FLOAT: return arena_printf(a, "the constant %s", value_text(a, v));
    case V_STR: {
      enum { MOST = 60 };
      bool is_long_text = strlen(v.u.s) > MOST;
      return arena_printf(a, "the string '%.*s%s'", MOST, v.u.s, is_long_text ? "..." : "");
    }
    case V_ELLIPSIS: return "...";
    case V_TUPLE:
      if (v.u.tuple->is_aggregate) return arena_printf(a, "a %s", v.u.tuple->cls->u.cls.def->name);
      return v.u.tuple->is_list ? "a list" : "a tuple";
    case V_DICT: return "a dict";
    case V_SLICE: return "a slice";
    case V_DTYPE: return arena_printf(a, "the type %s", value_text(a, v));
    case V_CONST:
    case V_TILE: return type_text(a, value_type(v));
    case V_BLOCKPTR:
      return arena_printf(a, "a %s %s",
                          v.u.block->descriptor ? "tensor descriptor of" : "block pointer to",
                          type_text(a, v.u.block->type));
    case V_FUNC:
    case V_BUILTIN: return arena_printf(a, "the function '%s'", value_text(a, v));
    case V_RANGE: return "a range";
    case V_CONDITION: return "a loop condition";
    case V_CLASS: return arena_printf(a, "the class '%s'", v.u.cls.def->name);
    case V_SPACE: return arena_printf(a, "the module '%s'", v.u.s);
    case V_MODULE: return "a module";
    default: return arena_printf(a, "'%s'", v.u.s);
  }
}
