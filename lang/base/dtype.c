#include "lang/base/dtype.h"

#include <string.h>

typedef struct {
  const char *name;
  DKind kind;
  unsigned bits;
  const char *lang;
  const char *aliases;
} Row;

static const Row rows[DT_COUNT] = {
    [DT_NONE] = {"none", DK_NONE, 0, "void", ""},
#define X(id, name, kind, bits, lang, aliases) [DT_##id] = {name, DK_##kind, bits, lang, aliases},
    DTYPES(X)
#undef X
        [DT_PTR] = {"ptr", DK_PTR, 64, "pointer_type", ""},
};

const char *dtype_name(DType t) { return rows[t].name; }
const char *dtype_lang_name(DType t) { return rows[t].lang; }
DKind dtype_kind(DType t) { return rows[t].kind; }
unsigned dtype_bits(DType t) { return rows[t].bits; }
unsigned dtype_bytes(DType t) { return (rows[t].bits + 7) / 8; }

static bool is_in_name_list(const char *list, const char *name, size_t len) {
  while (*list) {
    size_t n = strcspn(list, ",");
    if (n == len && !memcmp(list, name, n)) return true;
    list += n + (list[n] == ',');
  }
  return false;
}

DType dtype_parse(const char *name, size_t len) {
  for (int t = DT_NONE + 1; t < DT_PTR; t++) {
    const Row *r = &rows[t];
    if (is_in_name_list(r->name, name, len) || is_in_name_list(r->lang, name, len) ||
        is_in_name_list(r->aliases, name, len))
      return (DType)t;
  }
  return DT_NONE;
}

typedef struct {
  int precision; /* significant bits */
  int low, high; /* exponents of the least and of the largest power of two */
} Format;

static Format float_format(DType t) {
  switch (t) {
    case DT_F8E5: return (Format){3, -16, 15};
    case DT_F8E4NV: return (Format){4, -9, 8};
    case DT_F8E4B15: return (Format){4, -17, 0};
    case DT_F16: return (Format){11, -24, 15};
    case DT_BF16: return (Format){8, -133, 127};
    case DT_F32: return (Format){24, -149, 127};
    case DT_F64: return (Format){53, -1074, 1023};
    default: break;
  }
  int bits = (int)rows[t].bits;
  bool is_signed = rows[t].kind == DK_INT;
  return (Format){bits - is_signed, 0, bits - 1};
}

bool dtype_represents(DType t, DType from) {
  Format a = float_format(t), b = float_format(from);
  if (t == from) return true;
  if (dtype_is_int(t) && dtype_is_float(from)) return false;
  if (dtype_is_int(t) && dtype_is_signed(from) && !dtype_is_signed(t)) return false;
  return a.precision >= b.precision && a.low <= b.low && a.high >= b.high;
}

DType dtype_int(unsigned bits, bool is_signed) {
  for (int t = DT_I8; t <= DT_U64; t++)
    if (rows[t].bits == bits && (rows[t].kind == DK_INT) == is_signed) return (DType)t;
  return bits == 1 ? DT_I1 : DT_NONE;
}

Type type_like(Type t, Type like) {
  like.dtype = t.dtype;
  like.elem = t.elem;
  return like;
}

Type type_element(Type t) { return (Type){.dtype = t.dtype, .elem = t.elem}; }

bool type_same_shape(Type a, Type b) {
  return a.rank == b.rank && !memcmp(a.shape, b.shape, sizeof a.shape[0] * a.rank);
}

bool type_eq(Type a, Type b) {
  return a.dtype == b.dtype && (a.dtype != DT_PTR || a.elem == b.elem) && type_same_shape(a, b);
}

int64_t type_numel(Type t) {
  int64_t n = 1;
  for (int i = 0; i < t.rank; i++) n *= t.shape[i];
  return n;
}

void type_print(Text *out, Type t) {
  if (t.dtype == DT_PTR) text_printf(out, "*%s", t.elem == DT_PTR ? "*u8" : rows[t.elem].name);
  else text_puts(out, rows[t.dtype].name);
  for (int i = 0; i < t.rank; i++) text_printf(out, "%s%d", i ? "," : "[", t.shape[i]);
  if (t.rank) text_puts(out, "]");
}

const char *type_text(Arena *a, Type t) {
  Text out = text_new(a);
  type_print(&out, t);
  return out.data;
}
