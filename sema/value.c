#include "sema/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sema/builtins.h"

/* ---- containers ---- */

static Value make_tuple(Arena *a, const Value *items, uint32_t n, bool is_list) {
  Tuple *t = ARENA_NEW(a, Tuple);
  t->data = ARENA_ARRAY(a, Value, n);
  for (uint32_t i = 0; i < n; i++) t->data[i] = items[i];
  t->len = t->cap = n;
  t->is_list = is_list;
  return (Value){.kind = V_TUPLE, .u.tuple = t};
}

Value value_tuple(Arena *a, const Value *items, uint32_t n) {
  return make_tuple(a, items, n, false);
}

Value value_list(Arena *a, const Value *items, uint32_t n) { return make_tuple(a, items, n, true); }

void value_append(Arena *a, Tuple *t, Value v) {
  if (t->len == t->cap) {
    uint32_t cap = t->cap ? t->cap * 2 : 4;
    t->data = arena_grow(a, t->data, t->len * sizeof(Value), cap * sizeof(Value));
    t->cap = cap;
  }
  t->data[t->len++] = v;
}

const Value *value_dict_get(const Dict *d, Value key) {
  for (uint32_t i = 0; i < d->len; i++) {
    bool known;
    if (value_equal(d->data[2 * i], key, &known) && known) return &d->data[2 * i + 1];
  }
  return NULL;
}

void value_dict_set(Arena *a, Dict *d, Value key, Value v) {
  Value *old = (Value *)value_dict_get(d, key);
  if (old) {
    *old = v;
    return;
  }
  if (d->len == d->cap) {
    uint32_t cap = d->cap ? d->cap * 2 : 4;
    d->data = arena_grow(a, d->data, 2 * d->len * sizeof(Value), 2 * cap * sizeof(Value));
    d->cap = cap;
  }
  d->data[2 * d->len] = key;
  d->data[2 * d->len + 1] = v;
  d->len++;
}

Value value_set(Arena *a, const Value *items, uint32_t n) {
  Dict seen = {0};
  for (uint32_t i = 0; i < n; i++) value_dict_set(a, &seen, items[i], value_none());
  Value out = value_list(a, NULL, 0);
  for (uint32_t i = 0; i < seen.len; i++) value_append(a, out.u.tuple, seen.data[2 * i]);
  return out;
}

/* ---- questions ---- */

Type value_type(Value v) { return v.kind == V_TILE ? v.u.tile->type : type_scalar(v.u.c.dtype); }

bool value_as_int(Value v, BigInt *out) {
  if (v.kind == V_INT || v.kind == V_BOOL) *out = v.u.i;
  else if (v.kind == V_CONST && v.u.c.dtype == DT_U64) *out = (uint64_t)v.u.c.v.i;
  else if (v.kind == V_CONST && dtype_is_int(v.u.c.dtype)) *out = v.u.c.v.i;
  else return false;
  return true;
}

bool value_as_float(Value v, double *out) {
  BigInt i;
  if (v.kind == V_FLOAT) *out = v.u.f;
  else if (v.kind == V_CONST && dtype_is_float(v.u.c.dtype)) *out = v.u.c.v.f;
  else if (value_as_int(v, &i)) *out = (double)i;
  else return false;
  return true;
}

bool value_truth(Value v, bool *out) {
  BigInt i;
  double f;
  switch (v.kind) {
    case V_NONE: *out = false; return true;
    case V_STR: *out = v.u.s[0] != 0; return true;
    case V_TUPLE: *out = v.u.tuple->len != 0; return true;
    case V_DICT: *out = v.u.dict->len != 0; return true;
    case V_DTYPE:
    case V_FUNC:
    case V_BUILTIN:
    case V_CLASS:
    case V_SPACE:
    case V_MODULE:
    case V_ELLIPSIS:
    case V_SLICE: *out = true; return true;
    default: break;
  }
  if (value_as_int(v, &i)) *out = i != 0;
  else if (value_as_float(v, &f)) *out = f != 0;
  else return false;
  return true;
}

static bool equal_dtypes(DTypeValue a, DTypeValue b) {
  return type_eq(a.type, b.type) && a.is_const == b.is_const;
}

static bool equal_tuples(const Tuple *a, const Tuple *b, bool *known) {
  if (a->len != b->len) return false;
  for (uint32_t i = 0; i < a->len; i++)
    if (!value_equal(a->data[i], b->data[i], known)) return false;
  return true;
}

static bool equal_dicts(const Dict *a, const Dict *b, bool *known) {
  if (a->len != b->len) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    const Value *v = value_dict_get(b, a->data[2 * i]);
    if (!v || !value_equal(a->data[2 * i + 1], *v, known)) return false;
  }
  return true;
}

static bool equal_functions(const Func *a, const Func *b) {
  return a->def == b->def && a->lambda == b->lambda;
}

bool value_equal(Value a, Value b, bool *known) {
  *known = true;
  BigInt i, j;
  double f, g;
  if (a.kind == V_TILE || b.kind == V_TILE) {
    *known = value_is_operand(a) != value_is_operand(b);
    return false;
  }
  if (value_as_int(a, &i) && value_as_int(b, &j)) return i == j;
  if (value_as_float(a, &f) && value_as_float(b, &g)) return f == g;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case V_NONE:
    case V_ELLIPSIS: return true;
    case V_STR: return !strcmp(a.u.s, b.u.s);
    case V_SPACE:
    case V_EXTERN: return a.u.s == b.u.s;
    case V_TUPLE: return equal_tuples(a.u.tuple, b.u.tuple, known);
    case V_DICT: return equal_dicts(a.u.dict, b.u.dict, known);
    case V_DTYPE: return equal_dtypes(a.u.dtype, b.u.dtype);
    case V_FUNC: return equal_functions(a.u.func, b.u.func);
    case V_BUILTIN: return a.u.builtin.fn == b.u.builtin.fn;
    case V_CLASS: return a.u.cls.def == b.u.cls.def;
    case V_MODULE: return a.u.module == b.u.module;
    default: return false;
  }
}

bool blocks_alike(const BlockPtr *a, const BlockPtr *b) {
  return type_eq(a->type, b->type) && a->descriptor == b->descriptor &&
         (!a->descriptor || !strcmp(a->padding, b->padding));
}

static bool same_blocks(const BlockPtr *a, const BlockPtr *b) {
  if (!value_same(a->base, b->base) || !blocks_alike(a, b)) return false;
  for (int i = 0; i < a->type.rank; i++)
    if (!value_same(a->sizes[i], b->sizes[i]) || !value_same(a->strides[i], b->strides[i]) ||
        !value_same(a->offsets[i], b->offsets[i]))
      return false;
  return true;
}

bool value_same(Value a, Value b) {
  if (a.kind != b.kind) return false;
  bool known;
  switch (a.kind) {
    case V_ERROR: return true;
    case V_TILE: return a.u.tile == b.u.tile;
    case V_FLOAT: return !memcmp(&a.u.f, &b.u.f, sizeof(double));
    case V_CONST: return a.u.c.dtype == b.u.c.dtype && a.u.c.v.i == b.u.c.v.i;
    case V_BLOCKPTR: return a.u.block == b.u.block || same_blocks(a.u.block, b.u.block);
    case V_TUPLE:
      if (a.u.tuple->len != b.u.tuple->len) return false;
      for (uint32_t i = 0; i < a.u.tuple->len; i++)
        if (!value_same(a.u.tuple->data[i], b.u.tuple->data[i])) return false;
      return true;
    default: return value_equal(a, b, &known) && known;
  }
}

/* ---- text ---- */

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
static void print_float(Text *out, double f) {
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

static void print_tuple(Text *out, const Tuple *t) {
  text_puts(out, t->is_list ? "[" : "(");
  for (uint32_t i = 0; i < t->len; i++) {
    if (i) text_puts(out, ", ");
    value_print(out, t->data[i], true);
  }
  text_puts(out, t->is_list ? "]" : t->len == 1 ? ",)" : ")");
}

static void print_dict(Text *out, const Dict *d) {
  text_puts(out, "{");
  for (uint32_t i = 0; i < d->len; i++) {
    if (i) text_puts(out, ", ");
    value_print(out, d->data[2 * i], true);
    text_puts(out, ": ");
    value_print(out, d->data[2 * i + 1], true);
  }
  text_puts(out, "}");
}

void value_print(Text *out, Value v, bool repr) {
  switch (v.kind) {
    case V_NONE: text_puts(out, "None"); break;
    case V_INT: print_int(out, v.u.i); break;
    case V_BOOL: text_puts(out, v.u.i ? "True" : "False"); break;
    case V_FLOAT: print_float(out, v.u.f); break;
    case V_STR: text_printf(out, repr ? "'%s'" : "%s", v.u.s); break;
    case V_ELLIPSIS: text_puts(out, "Ellipsis"); break;
    case V_TUPLE: print_tuple(out, v.u.tuple); break;
    case V_DICT: print_dict(out, v.u.dict); break;
    case V_DTYPE: print_dtype(out, v.u.dtype); break;
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
    case V_STR: return arena_printf(a, "the string '%s'", v.u.s);
    case V_ELLIPSIS: return "...";
    case V_TUPLE: return v.u.tuple->is_list ? "a list" : "a tuple";
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
