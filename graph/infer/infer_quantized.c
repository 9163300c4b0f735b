/* Products of quantized matrices, and quantization by blocks. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"

static void set_product(Infer *in, const ValueType *a, const ValueType *b, DType t, bool turned) {
  infer_rank(in, a, 2, 2);
  infer_rank(in, b, 2, 2);
  infer_same_size(in, a->shape[1], b->shape[turned], "the inner axes");
  infer_set(in, t, 2, (Dim[]){a->shape[0], b->shape[!turned]});
}

static void need_dtype(Infer *in, const ValueType *x, DType t) {
  if (x->dtype != t) infer_fail(in, E_GRAPH_DTYPE_WANTED, dtype_name(t), infer_type_text(in, x));
}

void infer_int_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  need_dtype(in, a, DT_I8);
  need_dtype(in, b, DT_I8);
  set_product(in, a, b, DT_I32, false);
}

void infer_int8pack_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  const ValueType *scales = infer_tensor(in, "scales");
  infer_need_float(in, a->dtype);
  need_dtype(in, b, DT_I8);
  infer_rank(in, scales, 1, 1);
  infer_rank(in, b, 2, 2);
  infer_same_size(in, scales->shape[0], b->shape[0], "the scales and the columns");
  set_product(in, a, b, a->dtype, true);
}

/* Groups of the sum, of `depth` elements, of which each of n columns has a scale and a zero. */
static void check_groups(Infer *in, Dim depth, Dim n) {
  const ValueType *scales = infer_tensor(in, "qScaleAndZeros");
  int64_t group = infer_int(in, "qGroupSize");
  if (group != 32 && group != 64 && group != 128 && group != 256)
    infer_fail(in, E_GRAPH_GROUP_SIZE, (long long)group);
  infer_rank(in, scales, 3, 3);
  infer_same_size(in, scales->shape[0], infer_exact_div(in, depth, group), "the groups");
  infer_same_size(in, scales->shape[1], n, "the scales and the columns");
  infer_same_size(in, scales->shape[2], dim_int(in->g->dims, 2), "a scale and a zero");
}

/* The weight of tensor cores' tiles: see decompose_int4pack_mm. */
void infer_int4pack_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  Dims *d = in->g->dims;
  infer_rank(in, a, 2, 2);
  infer_rank(in, b, 4, 4);
  need_dtype(in, a, DT_BF16);
  need_dtype(in, b, DT_I32);
  need_dtype(in, infer_tensor(in, "qScaleAndZeros"), DT_BF16);
  infer_same_size(in, b->shape[2], dim_int(d, 32), "the packed weight's lanes");
  int64_t words = dim_is_int(b->shape[3]) ? b->shape[3]->value : 0;
  if (words != 1 && words != 2 && words != 4)
    infer_same_size(in, b->shape[3], dim_int(d, 4), "the packed weight's words");
  Dim n = dim_mul(d, b->shape[0], dim_int(d, 8));
  infer_same_size(in, a->shape[1], dim_mul(d, b->shape[1], dim_int(d, 32 * words)),
                  "the inner axes");
  check_groups(in, a->shape[1], n);
  infer_set(in, a->dtype, 2, (Dim[]){a->shape[0], n});
}

/* Two columns a byte: see decompose_int4pack_mm_for_cpu. */
void infer_int4pack_mm_for_cpu(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  infer_need_float(in, a->dtype);
  infer_rank(in, a, 2, 2);
  infer_rank(in, b, 2, 2);
  need_dtype(in, b, DT_U8);
  need_dtype(in, infer_tensor(in, "qScaleAndZeros"), a->dtype);
  infer_same_size(in, a->shape[1], dim_mul(in->g->dims, b->shape[1], dim_int(in->g->dims, 2)),
                  "the inner axes");
  check_groups(in, a->shape[1], b->shape[0]);
  infer_set(in, a->dtype, 2, (Dim[]){a->shape[0], b->shape[0]});
}

/* Integers, [n, k], of which two are a byte, [n, k / 2]. */
void infer_int4_packed_for_cpu(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, 2);
  need_dtype(in, x, DT_I32);
  infer_exact_div(in, x->shape[0], 16);
  infer_set(in, DT_U8, 2, (Dim[]){x->shape[0], infer_exact_div(in, x->shape[1], 2)});
}

/* Bytes of two fields, [n, k / 2], in tensor cores' tiles. */
void infer_int4_packed(Infer *in) {
  const ValueType *x = infer_self(in);
  Dims *d = in->g->dims;
  int64_t steps = infer_int(in, "innerKTiles");
  infer_rank(in, x, 2, 2);
  need_dtype(in, x, DT_U8);
  if (steps != 2 && steps != 4 && steps != 8)
    infer_fail(in, E_GRAPH_INNER_TILES, (long long)steps);
  Dim n = infer_exact_div(in, x->shape[0], 8), k = infer_exact_div(in, x->shape[1], 8 * steps);
  infer_set(in, DT_I32, 4, (Dim[]){n, k, dim_int(d, 32), dim_int(d, steps / 2)});
}

static bool is_float8(const ValueType *x) {
  return dtype_is_float(x->dtype) && dtype_bits(x->dtype) == 8;
}

enum { BLOCK = 128 };

static Dim block_count(Infer *in, Dim n) {
  Dims *d = in->g->dims;
  return dim_floordiv(d, dim_add(d, n, dim_int(d, BLOCK - 1)), dim_int(d, BLOCK));
}

/* Elements along an axis that share one of its scales; 0: it has another number of them. */
static int64_t shared_by(Infer *in, Dim scales, Dim n) {
  return scales == n ? 1 : scales == block_count(in, n) ? BLOCK : 0;
}

static bool is_one(Infer *in, const ValueType *x) { return dim_is(value_numel(in->g, x), 1); }

_Noreturn static void fail_scales(Infer *in) {
  infer_fail(in, E_GRAPH_SCALES_SHAPE, infer_type_text(in, infer_tensor(in, "scale_a")),
             infer_type_text(in, infer_tensor(in, "scale_b")),
             infer_type_text(in, infer_tensor(in, "self")),
             infer_type_text(in, infer_tensor(in, "mat2")));
}

ScaleForm infer_scale_form(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  const ValueType *sa = infer_tensor(in, "scale_a"), *sb = infer_tensor(in, "scale_b");
  ScaleForm f = {1, 1, false};
  if (is_one(in, sa) && is_one(in, sb)) return f;
  if (sa->rank == 2 && sb->rank == 2) {
    if (sa->shape[0] == a->shape[0] && sb->shape[1] == b->shape[1] && dim_is(sa->shape[1], 1) &&
        dim_is(sb->shape[0], 1))
      return f;
    Dim blocks = block_count(in, a->shape[1]);
    f.rows = shared_by(in, sa->shape[0], a->shape[0]);
    f.columns = shared_by(in, sb->shape[1], b->shape[1]);
    f.blocks = sa->shape[1] == blocks && sb->shape[0] == blocks;
    if (f.blocks && f.rows && f.columns && (f.rows == 1 || f.columns == 1)) return f;
  }
  fail_scales(in);
}

void infer_scaled_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  if (!is_float8(a)) need_dtype(in, a, DT_F8E4NV);
  if (!is_float8(b)) need_dtype(in, b, DT_F8E4NV);
  need_dtype(in, infer_tensor(in, "scale_a"), DT_F32);
  need_dtype(in, infer_tensor(in, "scale_b"), DT_F32);
  set_product(in, a, b, infer_dtype(in, "out_dtype", a->dtype), false);
  infer_scale_form(in);
}

/* The sums, in f32, of a nereid.float8_mm; its scales are of blocks. */
void infer_float8_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  if (!is_float8(a)) need_dtype(in, a, DT_F8E4NV);
  if (!is_float8(b)) need_dtype(in, b, DT_F8E4NV);
  set_product(in, a, b, DT_F32, false);
  if (!infer_has(in, "scale_a") && !infer_has(in, "scale_b")) return;
  need_dtype(in, infer_tensor(in, "scale_a"), DT_F32);
  need_dtype(in, infer_tensor(in, "scale_b"), DT_F32);
  ScaleForm f = infer_scale_form(in);
  if (!f.blocks || f.rows != infer_int(in, "rows") || f.columns != infer_int(in, "columns"))
    fail_scales(in);
}

void infer_dequantize_affine(Infer *in) {
  infer_set_like(in, infer_dtype(in, "output_dtype", DT_F32), infer_self(in));
}

void infer_quantize_affine(Infer *in) {
  infer_set_like(in, infer_dtype(in, "output_dtype", DT_I8), infer_self(in));
}

/* Without the axes that are within a block. */
void infer_choose_qparams_affine(Infer *in) {
  const ValueType *x = infer_self(in);
  Dim sizes[GRAPH_RANK_MAX], shape[GRAPH_RANK_MAX];
  const char *type = infer_string(in, "mapping_type"),
             *domain = infer_string(in, "zero_point_domain");
  bool symmetric = !strcmp(type, "SYMMETRIC") || !strcmp(type, "SYMMETRIC_NO_CLIPPING_ERR");
  bool keeps = infer_bool(in, "keepdim");
  if (!symmetric && strcmp(type, "ASYMMETRIC") != 0) infer_fail(in, E_GRAPH_MAPPING, type);
  if (!infer_bool(in, "preserve_zero") || !strcmp(domain, "FLOAT"))
    infer_fail(in, E_GRAPH_MAPPING, "without preserve_zero");
  infer_need_float(in, x->dtype);
  uint32_t n = infer_sizes(in, "block_size", sizes), rank = 0;
  if (n != x->rank) infer_fail(in, E_GRAPH_BLOCKS, n, x->rank);
  for (uint32_t i = 0; i < n; i++) {
    if (dim_is(sizes[i], 1)) shape[rank++] = x->shape[i];
    else if (keeps || sizes[i] != x->shape[i])
      shape[rank++] = infer_exact_div(in, x->shape[i], dim_is_int(sizes[i]) ? sizes[i]->value : 1);
  }
  ValueType scale = infer_type(in, infer_dtype(in, "scale_dtype", x->dtype), rank, shape);
  infer_set_pair(in, scale,
                 infer_type(in, infer_dtype(in, "zero_point_dtype", symmetric ? x->dtype : DT_I32),
                            rank, shape));
}
