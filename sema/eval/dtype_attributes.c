/* Attributes of dtypes: x.dtype.is_fp8(), tl.float32.primitive_bitwidth, finfo(...).max. */
#include <string.h>

#include "sema/value/context.h"

static const struct {
  const char *name;
  DType t;
} is_rows[] = {{"is_fp8e4nv", DT_F8E4NV}, {"is_fp8e5", DT_F8E5}, {"is_fp8e4b15", DT_F8E4B15},
               {"is_fp16", DT_F16},       {"is_bf16", DT_BF16},  {"is_fp32", DT_F32},
               {"is_fp64", DT_F64},       {"is_int1", DT_I1},    {"is_int8", DT_I8},
               {"is_int16", DT_I16},      {"is_int32", DT_I32},  {"is_int64", DT_I64},
               {"is_uint8", DT_U8},       {"is_uint16", DT_U16}, {"is_uint32", DT_U32},
               {"is_uint64", DT_U64},     {"is_bool", DT_I1},    {"is_fp8e4b8", DT_COUNT},
               {"is_fp8e5b16", DT_COUNT}};

bool dtype_question(DTypeValue d, const char *name, bool *yes) {
  DType t = (DType)d.type.dtype;
  bool f8 = t == DT_F8E5 || t == DT_F8E4NV || t == DT_F8E4B15;
  if (strncmp(name, "is_", 3)) return false;
  for (size_t i = 0; i < sizeof is_rows / sizeof *is_rows; i++)
    if (!strcmp(is_rows[i].name, name)) {
      *yes = t == is_rows[i].t;
      return true;
    }
  if (!strcmp(name, "is_fp8")) *yes = f8;
  else if (!strcmp(name, "is_floating")) *yes = dtype_is_float(t);
  else if (!strcmp(name, "is_standard_floating")) *yes = dtype_is_float(t) && !f8;
  else if (!strcmp(name, "is_int") || !strcmp(name, "is_integer_type")) *yes = dtype_is_int(t);
  else if (!strcmp(name, "is_int_signed")) *yes = dtype_is_signed(t);
  else if (!strcmp(name, "is_int_unsigned")) *yes = dtype_is_int(t) && !dtype_is_signed(t);
  else if (!strcmp(name, "is_ptr")) *yes = t == DT_PTR;
  else if (!strcmp(name, "is_block")) *yes = d.type.rank > 0;
  else if (!strcmp(name, "is_void")) *yes = t == DT_NONE;
  else if (!strcmp(name, "is_const")) *yes = d.is_const;
  else return false;
  return true;
}

static int mantissa_width(DType t) {
  switch (t) {
    case DT_F8E5: return 2;
    case DT_F8E4NV:
    case DT_F8E4B15: return 3;
    case DT_BF16: return 7;
    case DT_F16: return 10;
    case DT_F32: return 23;
    case DT_F64: return 52;
    default: return 0;
  }
}

static double largest_float(DType t) {
  switch (t) {
    case DT_F8E5: return 57344;
    case DT_F8E4NV: return 448;
    case DT_F8E4B15: return 1.75;
    case DT_F16: return 65504;
    case DT_BF16: return 0x1.fep127;
    case DT_F32: return 0x1.fffffep127;
    default: return 0x1.fffffffffffffp1023;
  }
}

/* What torch.finfo and torch.iinfo would say; finfo(dtype) is the dtype itself here. */
static bool dtype_limit(DType t, const char *name, Value *out) {
  bool low = !strcmp(name, "min"), high = !strcmp(name, "max");
  unsigned bits = dtype_bits(t);
  if (dtype_is_float(t) && (low || high)) {
    *out = value_float(low ? -largest_float(t) : largest_float(t));
  } else if (dtype_is_int(t) && (low || high)) {
    BigInt one = 1, half = one << (bits - 1);
    *out = value_int(dtype_is_signed(t) ? (low ? -half : half - 1) : low ? 0 : 2 * half - 1);
  } else if (dtype_is_float(t) && !strcmp(name, "eps")) {
    double eps = 1;
    for (int i = mantissa_width(t); i > 0; i--) eps /= 2;
    *out = value_float(eps);
  } else {
    return false;
  }
  return true;
}

bool dtype_attribute(Sema *S, Value v, Name name, Value *out) {
  Type t = v.u.dtype.type;
  DType e = (DType)t.dtype;
  bool yes;
  if (dtype_question(v.u.dtype, name, &yes) || !strcmp(name, "get_block_shapes") ||
      !strcmp(name, "with_element_ty") || !strcmp(name, "kind") || !strcmp(name, "to")) {
    *out = method_value(S, v, name);
    return true;
  }
  if (!strcmp(name, "element_ty")) {
    if (t.rank) *out = value_dtype(type_element(t));
    else if (e == DT_PTR)
      *out = value_dtype(t.elem == DT_PTR ? type_ptr(DT_U8) : type_scalar((DType)t.elem));
    else return false;
  } else if (!strcmp(name, "scalar")) *out = value_dtype(type_element(t));
  else if (!strcmp(name, "shape")) *out = shape_value(S, t);
  else if (!strcmp(name, "numel")) *out = value_int(type_numel(t));
  else if (!strcmp(name, "dtype")) *out = value_dtype(type_element(t));
  else if (!strcmp(name, "primitive_bitwidth") || !strcmp(name, "bits"))
    *out = value_int(dtype_bits(e));
  else if (!strcmp(name, "int_bitwidth") && dtype_is_int(e)) *out = value_int(dtype_bits(e));
  else if (!strcmp(name, "fp_mantissa_width") && dtype_is_float(e))
    *out = value_int(mantissa_width(e));
  else if (!strcmp(name, "itemsize")) *out = value_int(dtype_bytes(e));
  else if (!strcmp(name, "name")) *out = value_str(pool_name(S->names, value_text(S->arena, v)));
  else if (!strcmp(name, "value")) *out = v;
  else return dtype_limit(e, name, out);
  return true;
}
