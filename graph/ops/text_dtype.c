#include <string.h>

#include "graph/ops/graph_text.h"

static const struct {
  DType dtype;
  const char *torch, *fx;
} dtypes[] = {
    {DT_I1, "bool", "b8"},      {DT_U8, "uint8", "u8"},
    {DT_I8, "int8", "i8"},      {DT_U16, "uint16", "u16"},
    {DT_I16, "int16", "i16"},   {DT_U32, "uint32", "u32"},
    {DT_I32, "int32", "i32"},   {DT_U64, "uint64", "u64"},
    {DT_I64, "int64", "i64"},   {DT_F8E5, "float8_e5m2", "f8e5m2"},
    {DT_F16, "float16", "f16"}, {DT_F8E4NV, "float8_e4m3fn", "f8e4m3fn"},
    {DT_F32, "float32", "f32"}, {DT_BF16, "bfloat16", "bf16"},
    {DT_F64, "float64", "f64"},
};

enum { COUNT = sizeof dtypes / sizeof *dtypes };

static bool equals_name(const char *s, const char *name, size_t len) {
  return strlen(s) == len && !memcmp(s, name, len);
}

const char *dtype_torch_name(DType t) {
  for (int i = 0; i < COUNT; i++)
    if (dtypes[i].dtype == t) return dtypes[i].torch;
  return "unknown";
}

const char *dtype_fx_name(DType t) {
  for (int i = 0; i < COUNT; i++)
    if (dtypes[i].dtype == t) return dtypes[i].fx;
  return "unknown";
}

DType dtype_from_torch(const char *name, size_t len) {
  for (int i = 0; i < COUNT; i++)
    if (equals_name(dtypes[i].torch, name, len)) return dtypes[i].dtype;
  return DT_NONE;
}

DType dtype_from_fx(const char *name, size_t len) {
  for (int i = 0; i < COUNT; i++)
    if (equals_name(dtypes[i].fx, name, len)) return dtypes[i].dtype;
  return DT_NONE;
}
