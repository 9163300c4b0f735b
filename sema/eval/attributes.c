/* x.name, of every kind of value. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"
#include "sema/value/python_host.h"

/* ---- of dtypes: x.dtype.is_fp8(), tl.float32.primitive_bitwidth, finfo(...).max ---- */

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

/* The limits of torch.finfo and torch.iinfo; finfo(dtype) is the dtype itself here. */
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

/* The layout of a tile's type; AutoLayout() where the compiler chooses. */
static Value layout_of_type(Sema *S, DTypeValue d) {
  Span nowhere = {0};
  return d.layout ? layout_numbered(S, d.layout)
                  : call_with(S, gluon_value(S, "AutoLayout"), NULL, 0, nowhere);
}

static bool dtype_attribute(Sema *S, Value v, Name name, Value *out) {
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
  else if (!strcmp(name, "layout") && t.rank) *out = layout_of_type(S, v.u.dtype);
  else return dtype_limit(e, name, out);
  return true;
}

/* ---- tiles ---- */

Value shape_value(Sema *S, Type t) {
  Value items[MAX_RANK];
  for (int i = 0; i < t.rank; i++) items[i] = value_int(t.shape[i]);
  Value v = value_tuple(S->arena, items, t.rank);
  v.u.tuple->is_list = true; /* x.shape[:1] + [2] and (2,) + x.shape are both written */
  return v;
}

Value bind_self(Sema *S, Value fn, Value self) {
  Value *first = ARENA_NEW(S->arena, Value);
  *first = self;
  if (fn.kind == V_BUILTIN) {
    fn.u.builtin.self = first;
    return fn;
  }
  Func *f = ARENA_NEW(S->arena, Func);
  *f = *fn.u.func;
  f->self = first;
  return (Value){.kind = V_FUNC, .u.func = f};
}

static bool tile_method(Sema *S, Value v, Name name, Value *out) {
  Value fn;
  if (!language_method(S, name, &fn) || (fn.kind != V_BUILTIN && fn.kind != V_FUNC)) return false;
  *out = bind_self(S, fn, v);
  return true;
}

static Value type_of_tile(Sema *S, Value v) {
  Value type = value_dtype(value_type(v));
  if (value_is_block(v)) type.u.dtype.layout = given_layout(S, v.u.tile);
  return type;
}

static bool tile_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  Type t = value_type(v);
  if (!strcmp(name, "dtype")) *out = value_dtype(type_element(t));
  else if (!strcmp(name, "type")) *out = type_of_tile(S, v);
  else if (!strcmp(name, "shape")) *out = shape_value(S, t);
  else if (!strcmp(name, "numel")) *out = value_int(type_numel(t));
  else if (!strcmp(name, "value") && v.kind == V_CONST) *out = undecay(v);
  else if (!strcmp(name, "T")) {
    Value trans;
    language_method(S, pool_name(S->names, "trans"), &trans);
    *out = call_with(S, trans, &v, 1, at);
  } else {
    return tile_method(S, v, name, out);
  }
  return true;
}

/* ---- classes and tuples ---- */

static Value tuple_type(Sema *S, const Tuple *t, Span at);

static bool tuple_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  const Tuple *t = v.u.tuple;
  for (uint32_t i = 0; t->fields && i < t->len; i++)
    if (t->fields[i] == name) {
      *out = t->data[i];
      return true;
    }
  if (t->cls && object_attribute(S, v, name, at, out)) return true;
  if (t->is_aggregate && (strcmp(name, "value") || !t->cls->u.cls.module->is_std)) return false;
  if (!strcmp(name, "type") && has_leaves(S, v, at)) {
    *out = tuple_type(S, t, at);
    return true;
  }
  static const char *const methods[] = {"append", "index", "count", "values", "value", "types"};
  bool grows = t->is_list && S->frame->host;
  for (size_t i = !grows; i < sizeof methods / sizeof *methods; i++)
    if (!strcmp(methods[i], name)) {
      *out = i >= 3 ? v : method_value(S, v, name);
      return true;
    }
  return false;
}

static bool find_descriptor_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  if (descriptor_attribute(S, v, name, at, out)) return true;
  Value fn;
  bool found = language_descriptor_method(S, name, &fn) && fn.kind == V_FUNC;
  if (found) *out = bind_self(S, fn, v);
  return found;
}

static bool block_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  if (v.u.block->descriptor) return find_descriptor_attribute(S, v, name, at, out);
  Type t = v.u.block->type;
  if (!strcmp(name, "dtype") || !strcmp(name, "type")) *out = value_dtype(type_ptr((DType)t.dtype));
  else if (!strcmp(name, "block_shape") || !strcmp(name, "shape")) *out = shape_value(S, t);
  else return tile_method(S, v, name, out);
  return true;
}

/* ---- anything ---- */

static bool text_or_dict_method(Value v, Name name) {
  static const char *const str[] = {"startswith", "endswith", "lower",  "upper", "strip",
                                    "split",      "replace",  "format", "join"};
  static const char *const dict[] = {"get", "keys", "values", "items", "pop", "update"};
  for (size_t i = 0; v.kind == V_STR && i < sizeof str / sizeof *str; i++)
    if (!strcmp(str[i], name)) return true;
  for (size_t i = 0; v.kind == V_DICT && i < sizeof dict / sizeof *dict; i++)
    if (!strcmp(dict[i], name)) return true;
  return v.kind == V_INT && !strcmp(name, "bit_length");
}

Value constexpr_type(Sema *S, Value v, Span at) {
  Value *constant = ARENA_NEW(S->arena, Value), number = {0};
  *constant = v;
  if (value_is_number(v)) number = typed(S, v, at);
  if (value_is_number(v) && number.kind == V_ERROR) return number;
  Value type = value_dtype(value_is_number(v) ? value_type(number) : type_scalar(DT_NONE));
  type.u.dtype.constant = constant;
  return type;
}

/* A tuple of the types of its items. */
static Value tuple_type(Sema *S, const Tuple *t, Span at) {
  Value types = value_tuple(S->arena, NULL, 0);
  for (uint32_t i = 0; i < t->len; i++) {
    bool constant = t->data[i].kind == V_DTYPE || t->data[i].kind == V_BUILTIN;
    Value type = constant ? constexpr_type(S, t->data[i], at)
                          : get_attribute(S, t->data[i], pool_name(S->names, "type"), at);
    if (type.kind == V_ERROR) return type;
    value_append(S->arena, types.u.tuple, type);
  }
  types.u.tuple->fields = t->fields;
  return types;
}

static bool is_constexpr_kind(Value v) {
  return value_is_number(v) || v.kind == V_STR || v.kind == V_NONE || v.kind == V_FUNC;
}

static bool number_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  if (!S->frame->is_std && !strcmp(name, "type")) {
    *out = constexpr_type(S, v, at);
    return true;
  }
  if (!strcmp(name, "dtype") || !strcmp(name, "type") || !strcmp(name, "shape") ||
      (S->frame->is_std && strcmp(name, "value")) || !strcmp(name, "to"))
    return tile_attribute(S, typed(S, v, at), name, at, out);
  return false;
}

static bool module_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  ModuleInfo *m = v.u.module;
  if (module_get(S, m, name, at, out)) return true;
  if (m->is_scope) return false;
  ModuleInfo *sub = m->is_package ? program_import(S->p, m, 1, name) : NULL;
  if (sub) *out = (Value){.kind = V_MODULE, .u.module = sub};
  return sub || (S->host && host_spec_attribute(S, v, name, out));
}

bool find_attribute(Sema *S, Value v, Name name, Span at, Value *out) {
  if (is_constexpr_kind(v) && (!strcmp(name, "value") || !strcmp(name, "fn"))) {
    *out = v;
    return true;
  }
  if (is_constexpr_kind(v) && !value_is_number(v) && !strcmp(name, "type")) {
    *out = constexpr_type(S, v, at);
    return true;
  }
  bool module = v.kind == V_SPACE || v.kind == V_MODULE || v.kind == V_EXTERN;
  if (text_or_dict_method(v, name) || (S->host && !module && host_method_known(S, v, name))) {
    *out = method_value(S, v, name);
    return true;
  }
  if (value_is_operand(v) && special_method_known(name)) {
    *out = method_value(S, v, name);
    return true;
  }
  switch (v.kind) {
    case V_TILE:
    case V_CONST: return tile_attribute(S, v, name, at, out);
    case V_INT:
    case V_BOOL:
    case V_FLOAT: return number_attribute(S, v, name, at, out);
    case V_DTYPE: return dtype_attribute(S, v, name, out);
    case V_BLOCKPTR: return block_attribute(S, v, name, at, out);
    case V_TUPLE: return tuple_attribute(S, v, name, at, out);
    case V_SPACE:
      return language_get(S, v.u.s, name, out) || (S->host && host_spec_attribute(S, v, name, out));
    case V_CLASS: return class_attribute(S, v, name, out);
    case V_EXTERN:
      if (!S->host || !host_spec_attribute(S, v, name, out))
        *out = extern_attribute(S, v.u.s, name);
      return true;
    case V_MODULE: return module_attribute(S, v, name, at, out);
    default: return false;
  }
}

/* The methods of a pointer for which the host passes a tensor descriptor. */
static bool is_descriptor_method(Value v, Name name) {
  if (!value_is_pointer(v) || value_is_block(v)) return false;
  return !strcmp(name, "load") || !strcmp(name, "store") || !strcmp(name, "scatter");
}

static void no_attribute(Sema *S, Value v, Name name, Span at) {
  sema_error(S, at, E_SEMA_NO_ATTRIBUTE, value_describe(S->arena, v), name);
  if (is_descriptor_method(v, name)) sema_hint(S, H_SEMA_DESCRIPTOR);
  else hint_method(S, v, name);
}

Value get_attribute(Sema *S, Value v, Name name, Span at) {
  Value out;
  if (v.kind == V_ERROR || find_attribute(S, v, name, at, &out)) return v.kind == V_ERROR ? v : out;
  if (v.kind == V_SPACE) language_unknown(S, v.u.s, name, at);
  else if (v.kind == V_MODULE)
    sema_error(
        S, at, E_SEMA_NO_ATTRIBUTE,
        arena_printf(S->arena, v.u.module->is_scope ? "'%s'" : "module %s", v.u.module->path),
        name);
  else no_attribute(S, v, name, at);
  return value_error();
}
