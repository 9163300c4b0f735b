/* Tensors made from sizes and numbers. */
#include <math.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

#define NUMBER_DTYPE DT_F32 /* of a float, and where no dtype is said */

/* The dtype of a Python number that fills a tensor. */
static DType fill_dtype(Infer *in, const char *param) {
  if (!infer_takes(in, param)) return NUMBER_DTYPE;
  return infer_operand(in, param).dtype;
}

void infer_filled(Infer *in) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  infer_set(in, infer_dtype(in, "dtype", fill_dtype(in, "fill_value")), n, size);
}

void infer_like(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_set_like(in, infer_dtype(in, "dtype", x->dtype), x);
}

void infer_new(Infer *in) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  infer_set(in, infer_dtype(in, "dtype", infer_self(in)->dtype), n, size);
}

void infer_randint(Infer *in) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  infer_set(in, infer_dtype(in, "dtype", NUMBER_DTYPE), n, size);
}

/* uniform: in [0, 1); normal: of mean 0 and deviation 1; bits: 32 of them; bits64. */
static DType drawn_dtype(Infer *in) {
  Name kind = infer_string(in, "kind");
  bool bits = !strcmp(kind, "bits");
  if (!strcmp(kind, "bits64")) return DT_I64;
  if (!bits && strcmp(kind, "uniform") && strcmp(kind, "normal"))
    infer_fail(in, E_GRAPH_RANDOM, kind);
  return bits ? DT_I32 : DT_F32;
}

void infer_random(Infer *in) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  DType t = drawn_dtype(in);
  infer_int(in, "seed");
  infer_set(in, t, n, size);
}

void infer_draw(Infer *in) {
  Dim shape[GRAPH_RANK_MAX];
  Operand x[] = {infer_operand(in, "seed"), infer_operand(in, "counter")};
  for (int i = 0; i < 2; i++)
    if (!dtype_is_int(x[i].dtype)) infer_fail(in, E_GRAPH_DRAW, dtype_name(x[i].dtype));
  DType t = drawn_dtype(in);
  infer_set(in, t, infer_broadcast(in, x, 2, shape), shape);
}

void infer_inductor_lookup_seed(Infer *in) {
  infer_int(in, "index");
  infer_set(in, infer_tensor(in, "seeds")->dtype, 0, NULL);
}

/* The rule of rand, randn and randint. */
void infer_inductor_random(Infer *in) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  bool integers = infer_takes(in, "high");
  if (integers) infer_size(in, "low"), infer_size(in, "high");
  infer_tensor(in, "seed");
  infer_set(in, integers ? DT_I64 : DT_F32, n, size);
}

void infer_nereid_empty(Infer *in) {
  Dim size[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "size", size);
  infer_bool(in, "once");
  infer_set(in, infer_dtype(in, "dtype", DT_F32), n, size);
}

void infer_randperm(Infer *in) {
  Dim n = infer_size(in, "n");
  infer_set(in, infer_dtype(in, "dtype", NUMBER_DTYPE), 1, &n);
}

void infer_scalar_tensor(Infer *in) {
  infer_set(in, infer_dtype(in, "dtype", NUMBER_DTYPE), 0, NULL);
}

void infer_linspace(Infer *in) {
  Dim n = infer_size(in, "steps");
  infer_set(in, infer_dtype(in, "dtype", NUMBER_DTYPE), 1, &n);
}

void infer_eye(Infer *in) {
  Dim n = infer_size(in, "n");
  Dim shape[] = {n, infer_takes(in, "m") ? infer_size(in, "m") : n};
  infer_set(in, infer_dtype(in, "dtype", NUMBER_DTYPE), 2, shape);
}

void infer_multinomial(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 1, 2);
  Dim shape[2] = {x->shape[0]};
  shape[x->rank - 1] = infer_size(in, "num_samples");
  infer_set(in, DT_I64, x->rank, shape);
}

/* ---- arange ---- */

static bool is_float_arg(Infer *in, const char *param) {
  return infer_takes(in, param) && dtype_is_float(infer_operand(in, param).dtype);
}

static Dim integer_or(Infer *in, const char *param, int64_t otherwise) {
  return infer_takes(in, param) ? infer_size(in, param) : infer_const(in, otherwise);
}

/* For a result of i64, numbers are cut to integers first. */
static double float_or(Infer *in, const char *param, double otherwise) {
  double x = infer_takes(in, param) ? infer_number(in, param) : otherwise;
  return infer_dtype(in, "dtype", NUMBER_DTYPE) == DT_I64 ? trunc(x) : x;
}

/* ceil((end - start) / step) */
static Dim integer_steps(Infer *in) {
  Dims *d = in->g->dims;
  Dim start = integer_or(in, "start", 0), end = infer_size(in, "end");
  Dim n = dim_sub(d, end, start), step = integer_or(in, "step", 1);
  if (dim_is(step, 0)) infer_fail(in, E_GRAPH_STEP, 0LL);
  if (dim_is(step, 1)) return n;
  Dim back = dim_floordiv(d, dim_sub(d, infer_const(in, 0), n), step);
  return dim_sub(d, infer_const(in, 0), back);
}

static Dim float_steps(Infer *in) {
  double step = float_or(in, "step", 1);
  double n = ceil((float_or(in, "end", 0) - float_or(in, "start", 0)) / step);
  if (!(n >= 0 && n < 0x1p62)) infer_fail(in, E_GRAPH_ARANGE, n);
  return infer_const(in, (int64_t)n);
}

void infer_iota(Infer *in) {
  Dim n = infer_size(in, "length");
  if (dim_is(infer_size(in, "step"), 0)) infer_fail(in, E_GRAPH_STEP, 0LL);
  infer_set(in, infer_dtype(in, "dtype", DT_I64), 1, &n);
}

void infer_arange(Infer *in) {
  bool floats = is_float_arg(in, "start") || is_float_arg(in, "end") || is_float_arg(in, "step");
  Dim n = floats ? float_steps(in) : integer_steps(in);
  infer_set(in, infer_dtype(in, "dtype", floats ? NUMBER_DTYPE : DT_I64), 1, &n);
}
