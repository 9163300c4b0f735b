/* Reductions, scans, sorts and normalizations. */
#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

/* ---- reductions ---- */

/* x without the axes of `set`, or with them as 1. */
static ValueType reduced_type(Infer *in, const ValueType *x, DType dtype, uint32_t set, bool keep) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    bool gone = set >> i & 1;
    if (!gone || keep) shape[n++] = gone ? infer_const(in, 1) : x->shape[i];
  }
  return infer_type(in, dtype, n, shape);
}

static ValueType reduce_to(Infer *in, DType dtype) {
  const ValueType *x = infer_self(in);
  uint32_t set = infer_takes(in, "dim") ? infer_axes_arg(in, "dim", x->rank) : UINT32_MAX;
  return reduced_type(in, x, dtype, set, infer_bool(in, "keepdim"));
}

/* The largest of nothing is nothing. */
static ValueType reduce_nonempty(Infer *in, DType dtype) {
  const ValueType *x = infer_self(in);
  uint32_t set = infer_takes(in, "dim") ? infer_axes_arg(in, "dim", x->rank) : UINT32_MAX;
  for (uint32_t i = 0; i < x->rank; i++)
    if ((set >> i & 1) && !infer_at_least(in, x->shape[i], infer_const(in, 1)))
      infer_fail(in, E_GRAPH_NOTHING, i, infer_type_text(in, x));
  return reduce_to(in, dtype);
}

/* Sums and products of integers are i64. */
static DType sum_result_dtype(Infer *in, DType t) {
  return infer_dtype(in, "dtype", dtype_is_float(t) ? t : DT_I64);
}

void infer_sum(Infer *in) {
  in->result = reduce_to(in, sum_result_dtype(in, infer_self(in)->dtype));
}

void infer_mean(Infer *in) {
  DType t = infer_dtype(in, "dtype", infer_self(in)->dtype);
  infer_need_float(in, t);
  in->result = reduce_to(in, t);
}

/* Variances and norms. */
static DType moment_dtype(Infer *in) {
  DType t = infer_dtype(in, "dtype", infer_self(in)->dtype);
  infer_need_float(in, t);
  return t;
}

void infer_moment(Infer *in) { in->result = reduce_to(in, moment_dtype(in)); }

void infer_moment_mean(Infer *in) {
  ValueType t = reduce_to(in, moment_dtype(in));
  infer_set_pair(in, t, t);
}

void infer_logsumexp(Infer *in) {
  in->result = reduce_to(in, infer_to_float(infer_self(in)->dtype));
}

void infer_extreme(Infer *in) {
  DType t = infer_self(in)->dtype;
  in->result = in->g->extremes_of_none ? reduce_to(in, t) : reduce_nonempty(in, t);
}

/* The exclusive or of the elements' bits, each as 64 bits. */
void infer_hash_tensor(Infer *in) { in->result = reduce_nonempty(in, DT_U64); }

void infer_xor_sum(Infer *in) { in->result = reduce_to(in, infer_self(in)->dtype); }

void infer_aminmax(Infer *in) {
  ValueType t = reduce_nonempty(in, infer_self(in)->dtype);
  infer_set_pair(in, t, t);
}

void infer_max_all(Infer *in) { infer_extreme(in); }

void infer_max_dim(Infer *in) {
  infer_set_pair(in, reduce_nonempty(in, infer_self(in)->dtype), reduce_nonempty(in, DT_I64));
}

void infer_arg(Infer *in) { in->result = reduce_nonempty(in, DT_I64); }
void infer_count_nonzero(Infer *in) { in->result = reduce_to(in, DT_I64); }

/* The result for u8 is u8, for old programs. */
void infer_any(Infer *in) {
  in->result = reduce_to(in, infer_self(in)->dtype == DT_U8 ? DT_U8 : DT_I1);
}

void infer_histc(Infer *in) {
  Dim bins = infer_size(in, "bins");
  infer_set(in, infer_self(in)->dtype, 1, &bins);
}

/* ---- scans and sorts ---- */

static const ValueType *tensor_with_axis(Infer *in, uint32_t *axis) {
  const ValueType *x = infer_self(in);
  *axis = infer_axis_arg(in, "dim", x->rank);
  return x;
}

void infer_scan(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_with_axis(in, &axis);
  infer_set_like(in, sum_result_dtype(in, x->dtype), x);
}

void infer_scan_float(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_with_axis(in, &axis);
  infer_set_like(in, infer_to_float(x->dtype), x);
}

static void set_with_indices(Infer *in, const ValueType *x) {
  ValueType indices = *x;
  indices.dtype = DT_I64;
  infer_set_pair(in, *x, indices);
}

void infer_scan_indices(Infer *in) {
  uint32_t axis;
  set_with_indices(in, tensor_with_axis(in, &axis));
}

void infer_sort(Infer *in) {
  uint32_t axis;
  set_with_indices(in, tensor_with_axis(in, &axis));
}

void infer_argsort(Infer *in) {
  uint32_t axis;
  infer_set_like(in, DT_I64, tensor_with_axis(in, &axis));
}

/* The result has the same elements in another order along an axis. */
void infer_sorted(Infer *in) {
  uint32_t axis;
  in->result = *tensor_with_axis(in, &axis);
}

/* An index along an axis for each element. */
void infer_index_like(Infer *in) {
  uint32_t axis;
  infer_set_like(in, DT_I64, tensor_with_axis(in, &axis));
}

/* Integers as wide as the float, but no less than 32 bits. */
void infer_sort_key(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_need_float(in, x->dtype);
  infer_set_like(in, x->dtype == DT_F64 ? DT_I64 : DT_I32, x);
}

/* The float of a key. */
void infer_of_sort_key(Infer *in) {
  const ValueType *x = infer_self(in);
  if (x->dtype != DT_I64 && x->dtype != DT_I32)
    infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(x->dtype));
  infer_set_like(in, x->dtype == DT_I64 ? DT_F64 : DT_F32, x);
}

/* Along the last axis, runs of `run` by twos. */
void infer_merge(Infer *in) {
  const ValueType *x = infer_self(in);
  int64_t run = infer_int(in, "run");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  if (run < 1 || run >= 1 << 30) infer_fail(in, E_GRAPH_STEP, (long long)run);
  bool keys = x->dtype == DT_I64 || x->dtype == DT_I32;
  if (!keys) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(x->dtype));
  in->result = *x;
}

void infer_kthvalue(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_with_axis(in, &axis);
  Dim k = infer_size(in, "k"), most = infer_axis_size(in, x, axis);
  if ((dim_is_int(k) && k->value < 1) || !infer_at_least(in, most, k))
    infer_fail(in, E_GRAPH_TOPK, infer_dim_text(in, k), infer_type_text(in, x), axis);
  infer_max_dim(in);
}

void infer_topk(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_with_axis(in, &axis);
  Dim k = infer_size(in, "k"), most = infer_axis_size(in, x, axis);
  if (!infer_at_least(in, most, k))
    infer_fail(in, E_GRAPH_TOPK, infer_dim_text(in, k), infer_type_text(in, x), axis);
  infer_set_axis(in, x, axis, k);
  ValueType values = in->result;
  set_with_indices(in, &values);
}

void infer_softmax(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_with_axis(in, &axis);
  DType t = infer_bool(in, "half_to_float") ? DT_F32 : infer_dtype(in, "dtype", x->dtype);
  infer_need_float(in, t);
  infer_set_like(in, t, x);
}

/* Differences of neighbours, n times; what is prepended and appended counts. */
void infer_diff(Infer *in) {
  uint32_t axis;
  const ValueType *x = tensor_with_axis(in, &axis);
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  Dims *d = in->g->dims;
  Dim shape[GRAPH_RANK_MAX], *size = &shape[axis];
  Operand all[3] = {infer_tensor_operand(x)};
  uint32_t n = 1;
  infer_copy_shape(x, shape);
  for (const char **p = (const char *[]){"prepend", "append", NULL}; *p; p++) {
    const ValueType *more = infer_optional_tensor(in, *p);
    if (!more) continue;
    infer_rank(in, more, x->rank, x->rank);
    for (uint32_t i = 0; i < x->rank; i++)
      if (i != axis) infer_same_size(in, x->shape[i], more->shape[i], "the other axes");
    *size = dim_add(d, *size, more->shape[axis]);
    all[n++] = infer_tensor_operand(more);
  }
  int64_t times = infer_int(in, "n");
  if (times <= 0) infer_fail(in, E_GRAPH_STEP, (long long)times);
  *size = dim_max(d, dim_sub(d, *size, infer_const(in, times)), infer_const(in, 0));
  infer_set(in, infer_promote(in, all, n), x->rank, shape);
}

/* ---- normalizations ---- */

/* A weight or bias has the shape of the axes that are normalized. */
static void check_norm_weight(Infer *in, const char *param, const Dim *shape, uint32_t rank) {
  const ValueType *w = infer_takes(in, param) ? infer_optional_tensor(in, param) : NULL;
  if (!w) return;
  bool ok = w->rank == rank;
  for (uint32_t i = 0; ok && i < rank; i++) ok = infer_may_equal(in->g, w->shape[i], shape[i]);
  if (!ok)
    infer_fail(in, E_GRAPH_WEIGHT, param, infer_type_text(in, w),
               infer_shape_text(in, shape, rank));
}

/* The number of axes that are normalized: the last ones. */
static uint32_t normalized(Infer *in, const ValueType *x) {
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = infer_sizes(in, "normalized_shape", shape);
  infer_rank(in, x, n, GRAPH_RANK_MAX);
  for (uint32_t i = 0; i < n; i++)
    infer_same_size(in, x->shape[x->rank - n + i], shape[i], "the axis and normalized_shape");
  check_norm_weight(in, "weight", x->shape + x->rank - n, n);
  check_norm_weight(in, "bias", x->shape + x->rank - n, n);
  return n;
}

void infer_layer_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  normalized(in, x);
  infer_need_float(in, x->dtype);
  in->result = *x;
}

/* Statistics are of the weight's dtype, where bf16 or f16 is normalized by weights of f32. */
static DType statistic_dtype(Infer *in, const ValueType *x) {
  const ValueType *w = infer_optional_tensor(in, "weight");
  return w ? w->dtype : x->dtype;
}

/* Mean and deviation keep the normalized axes as 1. */
static ValueType layer_statistic(Infer *in, const ValueType *x) {
  uint32_t n = normalized(in, x), all = (1u << x->rank) - 1;
  return reduced_type(in, x, statistic_dtype(in, x), all & ~((1u << (x->rank - n)) - 1), true);
}

void infer_native_layer_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  ValueType s = layer_statistic(in, x);
  infer_set_list(in, 3, (ValueType[]){*x, s, s});
}

void infer_native_rms_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_set_pair(in, *x, layer_statistic(in, x));
}

static void check_norm_channels(Infer *in, const ValueType *x) {
  static const char *const params[] = {"weight", "bias", "running_mean", "running_var"};
  infer_rank(in, x, 2, GRAPH_RANK_MAX);
  for (int i = 0; i < 4; i++) check_norm_weight(in, params[i], &x->shape[1], 1);
}

void infer_batch_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  check_norm_channels(in, x);
  infer_need_float(in, x->dtype);
  if (!infer_bool(in, "training"))
    infer_tensor(in, "running_mean"), infer_tensor(in, "running_var");
  in->result = *x;
}

void infer_instance_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  check_norm_channels(in, x);
  infer_need_float(in, x->dtype);
  in->result = *x;
}

static void check_groups(Infer *in, const ValueType *x, int64_t groups) {
  check_norm_channels(in, x);
  infer_need_float(in, x->dtype);
  if (groups <= 0) infer_fail(in, E_GRAPH_STEP, (long long)groups);
  infer_exact_div(in, x->shape[1], groups);
}

void infer_group_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  check_groups(in, x, infer_int(in, "num_groups"));
  in->result = *x;
}

/* Without training the statistics that are returned are empty. */
void infer_native_batch_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  check_norm_channels(in, x);
  Dim n = infer_bool(in, "training") ? x->shape[1] : infer_const(in, 0);
  ValueType s = infer_type(in, statistic_dtype(in, x), 1, &n);
  infer_set_list(in, 3, (ValueType[]){*x, s, s});
}

/* Memory that libraries keep between the passes; we keep none. */
static ValueType no_reserve(Infer *in) {
  Dim none = infer_const(in, 0);
  return infer_type(in, DT_U8, 1, &none);
}

/* The type is FX's: f32 for 16-bit floats. */
static ValueType new_statistic(Infer *in, const char *param) {
  ValueType t = *infer_tensor(in, param);
  if (dtype_is_float(t.dtype) && dtype_bits(t.dtype) < 32) t.dtype = DT_F32;
  return t;
}

/* The result ends in the new running statistics. */
void infer_batch_norm_update(Infer *in) {
  const ValueType *x = infer_self(in);
  check_norm_channels(in, x);
  infer_need_float(in, x->dtype);
  bool always = !infer_takes(in, "training");
  Dim n = always || infer_bool(in, "training") ? x->shape[1] : infer_const(in, 0);
  ValueType s = infer_type(in, statistic_dtype(in, x), 1, &n);
  ValueType mean = new_statistic(in, "running_mean"), var = new_statistic(in, "running_var");
  if (always) infer_set_list(in, 6, (ValueType[]){*x, s, s, no_reserve(in), mean, var});
  else infer_set_list(in, 5, (ValueType[]){*x, s, s, mean, var});
}

void infer_batch_norm_no_update(Infer *in) {
  const ValueType *x = infer_self(in);
  check_norm_channels(in, x);
  infer_need_float(in, x->dtype);
  infer_tensor(in, "running_mean"), infer_tensor(in, "running_var");
  Dim none = infer_const(in, 0);
  ValueType s = infer_type(in, statistic_dtype(in, x), 1, &none);
  infer_set_list(in, 4, (ValueType[]){*x, s, s, no_reserve(in)});
}

void infer_native_group_norm(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim shape[] = {infer_size(in, "N"), infer_size(in, "group")};
  check_groups(in, x, infer_int(in, "group"));
  infer_same_size(in, x->shape[0], shape[0], "the first axis and N");
  ValueType s = infer_type(in, statistic_dtype(in, x), 2, shape);
  infer_set_list(in, 3, (ValueType[]){*x, s, s});
}

/* The lengths broadcast to v. */
void infer_weight_norm(Infer *in) {
  const ValueType *v = infer_tensor(in, "v"), *g = infer_tensor(in, "g");
  infer_need_float(in, v->dtype);
  infer_axis_arg(in, "dim", v->rank);
  Operand lengths = infer_tensor_operand(g);
  if (!infer_expands(in, &lengths, v->shape, v->rank))
    infer_fail(in, E_GRAPH_FITS, infer_type_text(in, g), infer_type_text(in, v));
  in->result = *v;
}

/* The second result has the lengths of v, in f32 for 16-bit floats. */
void infer_weight_norm_interface(Infer *in) {
  infer_weight_norm(in);
  ValueType lengths = *infer_tensor(in, "g");
  if (dtype_bits(lengths.dtype) < 32) lengths.dtype = DT_F32;
  infer_set_pair(in, in->result, lengths);
}

void infer_native_dropout(Infer *in) {
  ValueType mask = *infer_self(in);
  mask.dtype = DT_I1;
  infer_set_pair(in, *infer_self(in), mask);
}
