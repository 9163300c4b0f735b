/* Element types and tile types.
 *
 * All texts use one set of names: the first name is printed, the aliases are read (`fp32`,
 * `float32` and `f32` are one type; the language writes `tl.float32`).  Signedness is part of the
 * type, so that `div` on u32 is the unsigned division; there is one op, not two.
 */
#ifndef NEREID_LANG_BASE_DTYPE_H
#define NEREID_LANG_BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/strings.h"

/*      id       name       kind     bits  language name, further aliases (comma-separated) */
#define DTYPES(X)                                              \
  X(I1,      "i1",      BOOL,   1,  "int1",       "bool,b1,u1")\
  X(I8,      "i8",      INT,    8,  "int8",       "")          \
  X(I16,     "i16",     INT,    16, "int16",      "")          \
  X(I32,     "i32",     INT,    32, "int32",      "")          \
  X(I64,     "i64",     INT,    64, "int64",      "")          \
  X(U8,      "u8",      UINT,   8,  "uint8",      "")          \
  X(U16,     "u16",     UINT,   16, "uint16",     "")          \
  X(U32,     "u32",     UINT,   32, "uint32",     "")          \
  X(U64,     "u64",     UINT,   64, "uint64",     "")          \
  X(F8E5,    "f8e5",    FLOAT,  8,  "float8e5",   "fp8e5,float8_e5m2")          \
  X(F8E4NV,  "f8e4nv",  FLOAT,  8,  "float8e4nv", "fp8e4nv,float8_e4m3fn")      \
  X(F8E4B15, "f8e4b15", FLOAT,  8,  "float8e4b15","fp8e4b15")  \
  X(F16,     "f16",     FLOAT,  16, "float16",    "fp16,half") \
  X(BF16,    "bf16",    FLOAT,  16, "bfloat16",   "")          \
  X(F32,     "f32",     FLOAT,  32, "float32",    "fp32,float")\
  X(F64,     "f64",     FLOAT,  64, "float64",    "fp64,double")

typedef enum {
  DT_NONE,
#define X(id, name, kind, bits, lang, aliases) DT_##id,
  DTYPES(X)
#undef X
  DT_PTR, /* a global pointer; Type.elem is its element type */
  DT_COUNT
} DType;

typedef enum { DK_NONE, DK_BOOL, DK_INT, DK_UINT, DK_FLOAT, DK_PTR } DKind;

const char *dtype_name(DType t);      /* "f32" */
const char *dtype_lang_name(DType t); /* "float32", as the kernel language writes it */
DKind dtype_kind(DType t);
unsigned dtype_bits(DType t);  /* pointers: 64 */
unsigned dtype_bytes(DType t); /* in memory: i1 takes a byte */
/* The dtype of that name or alias, else DT_NONE. */
DType dtype_parse(const char *name, size_t len);
static inline bool dtype_is_float(DType t) { return dtype_kind(t) == DK_FLOAT; }
/* i1 counts as an integer here, as it does in the language's promotion rules. */
static inline bool dtype_is_int(DType t) {
  DKind k = dtype_kind(t);
  return k == DK_INT || k == DK_UINT || k == DK_BOOL;
}
/* f16 or bf16, which matrix units multiply with sums in f32. */
static inline bool dtype_is_half(DType t) { return dtype_is_float(t) && dtype_bits(t) == 16; }
static inline bool dtype_is_signed(DType t) { return dtype_kind(t) == DK_INT; }
/* Is each value of `from` one of t, so that a cast to t changes nothing? */
bool dtype_represents(DType t, DType from);
/* The integer dtype of that width and signedness; DT_NONE if there is none. */
DType dtype_int(unsigned bits, bool is_signed);

enum { MAX_RANK = 8 };
/* The largest number of elements in a tile (Triton's TRITON_MAX_TENSOR_NUMEL). */
enum { MAX_TILE = 1048576 };

/* A scalar (rank 0) or a tile of static shape.  Extents are positive, any number, not only powers
 * of two. */
typedef struct {
  uint8_t dtype; /* DType */
  uint8_t elem;  /* of DT_PTR: the pointee's DType (DT_PTR itself: pointer to 64-bit pointers) */
  uint8_t rank;
  int32_t shape[MAX_RANK];
} Type;

static inline Type type_scalar(DType t) { return (Type){.dtype = (uint8_t)t}; }
static inline Type type_ptr(DType elem) { return (Type){.dtype = DT_PTR, .elem = (uint8_t)elem}; }
/* `t`'s element type with the shape of `like`. */
Type type_like(Type t, Type like);
Type type_element(Type t); /* the same without a shape */
bool type_eq(Type a, Type b);
bool type_same_shape(Type a, Type b);
int64_t type_numel(Type t); /* 1 for a scalar */
/* `f32`, `*bf16`, `f32[128,64]`, `*f32[64]`. */
void type_print(Text *out, Type t);
const char *type_text(Arena *a, Type t);

#endif
