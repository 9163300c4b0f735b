#include "runtime/support/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/messages.h"
#include "runtime/support/host_machine.h"
#include "runtime/support/parallel.h"

int array_measure(Array *a) {
  int64_t count = 1;
  size_t bytes;
  bool overflow = false;
  for (int i = 0; i < a->rank; i++) overflow |= __builtin_mul_overflow(count, a->shape[i], &count);
  overflow |= count < 0;
  overflow |= __builtin_mul_overflow((size_t)count, (size_t)dtype_bytes(a->dtype), &bytes);
  if (overflow || bytes > (size_t)1 << 48) return error_set(NEREID_E_MEMORY, E_RUN_ARRAY_LARGE);
  a->count = count;
  a->bytes = bytes;
  return 0;
}

int array_new(Array *a) {
  int code = array_measure(a);
  return code ? code : host_alloc(NULL, &a->data, a->bytes);
}

double array_get(const Array *a, int64_t i) {
  const char *p = (const char *)a->data + (size_t)i * dtype_bytes(a->dtype);
  Scalar s = scalar_load(a->dtype, p);
  if (dtype_is_float(a->dtype)) return s.f;
  return a->dtype == DT_U64 ? (double)(uint64_t)s.i : (double)s.i;
}

/* ---- dtypes as DLPack has them ---- */

nereid_dl_dtype array_dl_dtype(DType t) {
  enum {
    DL_INT,
    DL_UINT,
    DL_FLOAT,
    DL_OPAQUE,
    DL_BFLOAT,
    DL_BOOL = 6,
    DL_E4M3FN = 10,
    DL_E5M2 = 12
  };
  uint8_t bits = (uint8_t)(dtype_bytes(t) * 8);
  uint8_t code = DL_FLOAT;
  switch (t) {
    case DT_I1: code = DL_BOOL; break;
    case DT_BF16: code = DL_BFLOAT; break;
    case DT_F8E5: code = DL_E5M2; break;
    case DT_F8E4NV: code = DL_E4M3FN; break;
    case DT_F8E4B15: code = DL_OPAQUE; break;
    default:
      if (!dtype_is_float(t)) code = dtype_is_signed(t) ? DL_INT : DL_UINT;
  }
  return (nereid_dl_dtype){code, bits, 1};
}

DType array_dtype(nereid_dl_dtype dl) {
  for (DType t = DT_NONE + 1; t < DT_PTR; t++) {
    nereid_dl_dtype own = array_dl_dtype(t);
    if (own.code == dl.code && own.bits == dl.bits && own.lanes == dl.lanes) return t;
  }
  return DT_NONE;
}

enum { DL_COMPLEX = 5 };

nereid_dl_dtype array_complex_dl_dtype(DType part) {
  return (nereid_dl_dtype){DL_COMPLEX, (uint8_t)(2 * dtype_bits(part)), 1};
}

DType array_complex_part(nereid_dl_dtype dl) {
  if (dl.code != DL_COMPLEX || dl.lanes != 1) return DT_NONE;
  return dl.bits == 64 ? DT_F32 : dl.bits == 128 ? DT_F64 : DT_NONE;
}

/* ---- many elements at once ---- */

typedef struct {
  void (*fill)(void *context, int64_t begin, int64_t end);
  void *context;
  int64_t n, each;
} Pieces;

static void fill_piece(void *context, size_t i) {
  const Pieces *p = context;
  int64_t begin = p->each * (int64_t)i, end = begin + p->each;
  if (begin < p->n) p->fill(p->context, begin, end < p->n ? end : p->n);
}

void array_for(int64_t n, void (*fill)(void *context, int64_t begin, int64_t end), void *context) {
  enum { WORTH_A_THREAD = 1 << 16 };
  int64_t want = n / WORTH_A_THREAD + 1;
  int cores = host_cores(), pieces = want < cores ? (int)want : cores;
  Pieces p = {fill, context, n, (n / pieces + 2) & ~(int64_t)1};
  parallel_for((size_t)pieces, fill_piece, &p);
}

/* ---- conversion ---- */

typedef struct {
  const Array *from;
  Array *to;
  int misfit; /* 1 if an integer did not fit */
} Conversion;

/* False if a float is no such integer. */
static bool to_integer(DType t, double v, Scalar *out) {
  double limit = ldexp(1, (int)dtype_bits(t) - (dtype_is_signed(t) ? 1 : 0));
  if (!(v == rint(v)) || v >= limit || v < (dtype_is_signed(t) ? -limit : 0)) return false;
  out->i = t == DT_U64 ? (int64_t)(uint64_t)v : (int64_t)v;
  return true;
}

static bool convert_scalar(DType from, DType to, Scalar *s) {
  if (dtype_is_float(to)) {
    double v = dtype_is_float(from) ? s->f : from == DT_U64 ? (double)(uint64_t)s->i : (double)s->i;
    s->f = to == DT_F64 ? v : scalar_round(to, v);
    return true;
  }
  if (dtype_is_float(from)) return to_integer(to, s->f, s);
  if (dtype_bits(to) == 64) return from != DT_U64 || to == DT_U64 || s->i >= 0;
  if (from == DT_U64 && s->i < 0) return false;
  return to_integer(to, (double)s->i, s);
}

static void convert_elements(void *context, int64_t begin, int64_t end) {
  Conversion *c = context;
  DType from = c->from->dtype, to = c->to->dtype;
  const char *in = (const char *)c->from->data + (size_t)begin * dtype_bytes(from);
  char *out = (char *)c->to->data + (size_t)begin * dtype_bytes(to);
  for (int64_t i = begin; i < end; i++, in += dtype_bytes(from), out += dtype_bytes(to)) {
    Scalar s = scalar_load(from, in);
    if (!convert_scalar(from, to, &s)) {
      __atomic_store_n(&c->misfit, 1, __ATOMIC_RELAXED);
      s = (Scalar){0};
    }
    scalar_store(to, s, out);
  }
}

int array_convert(Array *a, DType to) {
  if (a->dtype == to) return 0;
  Array out = *a;
  out.dtype = to;
  int code = array_new(&out);
  if (code) return code;
  Conversion c = {a, &out, 0};
  array_for(a->count, convert_elements, &c);
  if (c.misfit) {
    free(out.data);
    return error_set(NEREID_E_USAGE, E_RUN_ARRAY_MISFIT, dtype_name(a->dtype), dtype_name(to));
  }
  free(a->data);
  *a = out;
  return 0;
}
