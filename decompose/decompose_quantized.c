/* Products of quantized matrices, and quantization by blocks, as torchao has it: a block is the
 * elements that share a scale. */
#include <math.h>
#include <string.h>

#include "decompose/decompose.h"
#include "decompose/messages.h"
#include "graph/analysis/strided.h"
#include "graph/messages.h"
#include "lower/target/device_peaks.h"

/* ---- products ---- */

/* Zeros after the last of n elements along that axis of a matrix. */
static Node *fill_up(Build *b, Node *x, uint32_t axis, Dim n) {
  Dims *d = b->in.g->dims;
  Dim more = dim_sub(d, n, x->type.shape[axis]), none = build_const(b, 0);
  Dim lengths[] = {none, none, none, none};
  lengths[axis ? 1 : 3] = more;
  Arg args[] = {arg_node(x), arg_dims(b->in.g, 4, lengths)};
  return build(b, OP_aten_constant_pad_nd_default, 2, args);
}

/* Multiplies integers of 8 bits, with sums in i32: on a CPU in words of four along the sum. */
Node *decompose_int_mm(Build *b) {
  Dims *d = b->in.g->dims;
  Node *x = build_self(b), *y = build_input(b, "mat2");
  Dim k = x->type.shape[1], word = build_const(b, STRIDED_WORD);
  if (b->in.g->host && !dim_divisible(k, STRIDED_WORD)) {
    Dim more = build_const(b, STRIDED_WORD - 1);
    k = dim_mul(d, dim_floordiv(d, dim_add(d, k, more), word), word);
    x = fill_up(b, x, 1, k);
    y = fill_up(b, y, 0, k);
  }
  return build_op2(b, OP_nereid_int8_mm_default, x, y);
}

/* x @ w^T, each column times its scale. */
Node *decompose_int8pack_mm(Build *b) {
  Node *x = build_self(b);
  DType t = x->type.dtype;
  Node *w = build_transpose(b, build_to(b, build_input(b, "mat2"), t), 0, 1);
  Node *y = build_widen(b, build_op2(b, OP_aten_mm_default, x, w));
  return build_to_result(b, build_mul(b, y, build_widen(b, build_input(b, "scales"))));
}

/* 0, 1, ... n - 1 along one of so many axes, times a step. */
static Node *bit_of(Build *b, int64_t n, uint32_t axis, uint32_t rank, int64_t step) {
  Node *at = build_to(b, build_arange(b, build_const(b, n)), DT_I32);
  return build_along(b, build_with(b, OP_aten_mul_Tensor, at, build_int(b, step)), axis, rank);
}

/* Weights in the order of tensor cores' operands: [n / 8, k / (32 * words), 32, words] integers of
 * eight fields.  A lane, 4 * column + pair, has two neighbors in k of each 8, and a word 32 of k:
 * the fields are, from the lowest bit, those at 0, 8, 16 and 24, then their neighbors. */
static Node *tile_fields(Build *b, Node *packed, Dim n, Dim k) {
  enum { COLUMNS, STEPS, COLUMN, PAIR, WORD, SECOND, EIGHTH, RANK };
  const Dim *t = packed->type.shape;
  Dim one = build_const(b, 1);
  Dim shape[] = {t[0], t[1], build_const(b, 8), build_const(b, 4), t[3], one, one};
  Node *x = build_view(b, packed, RANK, shape);
  Node *shift = build_add(b, bit_of(b, 2, SECOND, RANK, 16), bit_of(b, 4, EIGHTH, RANK, 4));
  x = build_op2(b, OP_aten_bitwise_right_shift_Tensor, x, shift);
  x = build_with(b, OP_aten_bitwise_and_Tensor, x, build_int(b, 15));
  x = build_permute(b, x, (uint32_t[]){COLUMNS, COLUMN, STEPS, WORD, EIGHTH, PAIR, SECOND});
  return build_view(b, x, 2, (Dim[]){n, k});
}

/* x @ w^T, w = (field - 8) * scale + zero, rounded once. */
static Node *fields_product(Build *b, Node *w) {
  Node *x = build_self(b), *scales = build_input(b, "qScaleAndZeros"), *of[2];
  Dim k = x->type.shape[1], n = b->in.n->type.shape[1], groups = scales->type.shape[0];
  Dim one = build_const(b, 1), size = build_const(b, infer_int(&b->in, "qGroupSize"));
  for (int i = 0; i < 2; i++) {
    Node *part = build_transpose(b, build_select(b, scales, 2, build_const(b, i)), 0, 1);
    of[i] = build_view(b, part, 3, (Dim[]){n, groups, one});
  }
  w = build_with(b, OP_aten_sub_Tensor, w, build_int(b, 8));
  w = build_view(b, w, 3, (Dim[]){n, groups, size});
  w = build_add(b, build_mul(b, w, of[0]), of[1]);
  w = build_view(b, w, 2, (Dim[]){n, k});
  return build_op2(b, OP_aten_mm_default, x, build_transpose(b, w, 0, 1));
}

Node *decompose_int4pack_mm(Build *b) {
  Dim k = build_self(b)->type.shape[1], n = b->in.n->type.shape[1];
  return fields_product(b, tile_fields(b, build_input(b, "mat2"), n, k));
}

/* Columns that PyTorch packs together on this host: those of four of its vectors of f32; 0: it has
 * no such vectors. */
static int64_t packed_columns(void) {
#if defined(__x86_64__)
  bool fma = __builtin_cpu_supports("fma");
  if (fma && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    return 64;
  if (fma && __builtin_cpu_supports("avx2")) return 32;
#endif
  return 0;
}

/* Fields of blocks of columns that are packed together, as [columns, k].  A byte has those of two
 * columns, neighbors or, `apart`, as far from each other as half of a block. */
static Node *fields_of_columns(Build *b, Node *bytes, Dim blocks, Dim together, bool apart) {
  Dims *d = build_dims(b);
  Dim half = dim_floordiv(d, together, build_const(b, 2)), k = build_self(b)->type.shape[1];
  Node *x = build_view(b, bytes, 3, (Dim[]){blocks, k, half}), *of[2];
  of[0] = build_with(b, OP_aten_bitwise_and_Tensor, x, build_int(b, 15));
  of[1] = build_with(b, OP_aten_bitwise_right_shift_Tensor, x, build_int(b, 4));
  for (int i = 0; i < 2; i++) of[i] = build_to(b, of[i], DT_I32);
  uint32_t axis = apart ? 2 : 3;
  for (int i = 0; i < 2; i++) of[i] = build_unsqueeze(b, of[i], axis);
  x = build_cat(b, 2, of, axis);
  x = build_view(b, x, 3, (Dim[]){blocks, k, together});
  Dim columns = dim_mul(d, blocks, together);
  return build_view(b, build_transpose(b, x, 1, 2), 2, (Dim[]){columns, k});
}

/* Weights as the CPU's kernels want them: blocks of columns, and neighbors after the last block. */
Node *decompose_int4pack_mm_for_cpu(Build *b) {
  Dims *d = build_dims(b);
  Node *flat = build_flat(b, build_input(b, "mat2")), *parts[2];
  Dim k = build_self(b)->type.shape[1], n = b->in.n->type.shape[1], two = build_const(b, 2);
  int64_t block = packed_columns();
  Dim zero = build_const(b, 0), one = build_const(b, 1), blocks = zero;
  uint32_t count = 0;
  if (block) blocks = dim_floordiv(d, n, build_const(b, block));
  Dim whole = dim_mul(d, blocks, build_const(b, block)), rest = dim_sub(d, n, whole);
  Dim bytes = dim_floordiv(d, dim_mul(d, whole, k), two);
  if (!dim_is(whole, 0))
    parts[count++] = fields_of_columns(b, build_slice(b, flat, 0, zero, bytes, 1), blocks,
                                       build_const(b, block), true);
  if (!dim_is(rest, 0))
    parts[count++] = fields_of_columns(b, build_slice(b, flat, 0, bytes, flat->type.shape[0], 1),
                                       one, rest, false);
  return fields_product(b, count > 1 ? build_cat(b, count, parts, 0) : parts[0]);
}

/* Pairs of fields along an axis of two, as bytes: the first is the lower one. */
static Node *bytes_of_pairs(Build *b, Node *x, uint32_t axis) {
  Node *low = build_select(b, x, axis, build_const(b, 0));
  Node *high = build_select(b, x, axis, build_const(b, 1));
  high = build_with(b, OP_aten_bitwise_left_shift_Tensor, high, build_int(b, 4));
  return build_to(b, build_op2(b, OP_aten_bitwise_or_Tensor, low, high), DT_U8);
}

/* The inverse of fields_of_columns, for the CPU's kernels. */
Node *decompose_int4_packed_for_cpu(Build *b) {
  Dims *d = build_dims(b);
  Node *x = build_self(b), *parts[2];
  Dim n = x->type.shape[0], k = x->type.shape[1], two = build_const(b, 2);
  int64_t block = packed_columns();
  Dim blocks = block ? dim_floordiv(d, n, build_const(b, block)) : build_const(b, 0);
  Dim whole = dim_mul(d, blocks, build_const(b, block)), rest = dim_sub(d, n, whole);
  uint32_t count = 0;
  if (!dim_is(whole, 0)) {
    Node *of = build_slice(b, x, 0, build_const(b, 0), whole, 1);
    of = build_view(b, of, 4, (Dim[]){blocks, two, build_const(b, block / 2), k});
    parts[count++] = build_flat(b, build_transpose(b, bytes_of_pairs(b, of, 1), 1, 2));
  }
  if (!dim_is(rest, 0)) {
    Node *of = build_slice(b, x, 0, whole, n, 1);
    of = build_view(b, of, 3, (Dim[]){dim_floordiv(d, rest, two), two, k});
    parts[count++] = build_flat(b, build_transpose(b, bytes_of_pairs(b, of, 1), 0, 1));
  }
  Node *all = count > 1 ? build_cat(b, count, parts, 0) : parts[0];
  return build_view(b, all, 2, (Dim[]){n, dim_floordiv(d, k, two)});
}

/* The inverse of tile_fields; a byte's upper field is the first one. */
Node *decompose_int4_packed(Build *b) {
  enum { COLUMNS, COLUMN, STEPS, WORD, EIGHTH, PAIR, RANK };
  const Dim *t = b->in.n->type.shape;
  Dim four = build_const(b, 4);
  Node *x = build_view(b, build_self(b), RANK,
                       (Dim[]){t[0], build_const(b, 8), t[1], t[3], four, four});
  Node *word = NULL;
  x = build_to(b, x, DT_I32);
  for (int64_t eighth = 0; eighth < 4; eighth++)
    for (int64_t second = 0; second < 2; second++) {
      Node *f = build_select(b, x, EIGHTH, build_const(b, eighth));
      if (!second) f = build_with(b, OP_aten_bitwise_right_shift_Tensor, f, build_int(b, 4));
      f = build_with(b, OP_aten_bitwise_and_Tensor, f, build_int(b, 15));
      int64_t at = 16 * second + 4 * eighth;
      f = build_with(b, OP_aten_bitwise_left_shift_Tensor, f, build_int(b, at));
      word = word ? build_op2(b, OP_aten_bitwise_or_Tensor, word, f) : f;
    }
  word = build_permute(b, word, (uint32_t[]){COLUMNS, STEPS, COLUMN, PAIR - 1, WORD});
  return build_view(b, word, 4, t);
}

bool decompose_has_float8_unit(const Graph *g) {
  enum { ADA = 89 };
  return !g->host && g->gpu->sm >= ADA;
}

/* Sums of 8-bit products, by their scales if these are of blocks.  Without use_fast_accum they
 * leave the unit's own precision. */
static Node *float8_product(Build *b, Node *x, Node *y, const ScaleForm *form) {
  Name rows = pool_name(b->in.g->names, "rows"), columns = pool_name(b->in.g->names, "columns");
  NamedArg named[] = {
      {rows, build_int(b, form->rows)},
      {columns, build_int(b, form->columns)},
      {pool_name(b->in.g->names, "promotes"), arg_bool(!infer_bool(&b->in, "use_fast_accum"))}};
  Arg args[] = {arg_node(x), arg_node(y), arg_none(), arg_none()};
  if (form->blocks) {
    args[2] = arg_node(build_input(b, "scale_a"));
    args[3] = arg_node(build_input(b, "scale_b"));
  }
  return build_with_all(b, OP_nereid_float8_mm_default, 4, args, 3, named);
}

/* Sums of products that bf16 holds exactly. */
static Node *widened_product(Build *b, Node *x, Node *y) {
  x = build_to(b, x, DT_BF16);
  y = build_to(b, y, DT_BF16);
  Arg args[] = {arg_node(build_unsqueeze(b, x, 0)), arg_node(build_unsqueeze(b, y, 0)),
                arg_dtype(DT_F32)};
  Node *sum = build_squeeze(b, build(b, OP_aten_bmm_dtype, 3, args), 1);
  return build_view(b, sum, 2, b->in.n->type.shape);
}

/* Each of an axis's scales for as many elements as share it, as far as there are elements. */
static Node *repeated(Build *b, Node *scale, uint32_t axis, int64_t times, Dim size) {
  if (times == 1) return scale;
  Dims *d = build_dims(b);
  Node *y = build_unsqueeze(b, scale, axis + 1);
  Dim shape[3], flat[2] = {scale->type.shape[0], scale->type.shape[1]};
  for (uint32_t i = 0; i < 3; i++) shape[i] = y->type.shape[i];
  shape[axis + 1] = build_const(b, times);
  flat[axis] = dim_mul(d, flat[axis], shape[axis + 1]);
  y = build_view(b, build_expand(b, y, 3, shape), 2, flat);
  return build_slice(b, y, axis, build_const(b, 0), size, 1);
}

/* The product of operands that were multiplied by scales of blocks, in f32. */
static Node *scaled_operands_product(Build *b, Node *x, Node *y, const ScaleForm *form) {
  enum { BLOCK = 128 };
  Node *operands[] = {x, y}, *scales[] = {build_input(b, "scale_a"), build_input(b, "scale_b")};
  int64_t times[2][2] = {{form->rows, BLOCK}, {BLOCK, form->columns}};
  for (int i = 0; i < 2; i++) {
    const Dim *shape = operands[i]->type.shape;
    Node *scale = scales[i];
    for (uint32_t axis = 0; axis < 2; axis++)
      scale = repeated(b, scale, axis, times[i][axis], shape[axis]);
    operands[i] = build_mul(b, build_to(b, operands[i], DT_F32), scale);
  }
  return build_product(b, OP_aten_mm_default, operands[0], operands[1], ROUNDS_NEVER);
}

/* The scale of the whole may have axes of one element. */
static Node *scale_of(Build *b, const char *param) {
  Node *scale = build_input(b, param);
  return rank_of(scale) > 2 ? build_view(b, scale, 0, NULL) : scale;
}

/* Sums in f32, times the scales of the whole or of rows: those of blocks are in the sum. */
Node *decompose_scaled_mm(Build *b) {
  Node *x = build_self(b), *y = build_input(b, "mat2"), *sum;
  ScaleForm form = infer_scale_form(&b->in);
  if (decompose_has_float8_unit(b->in.g)) sum = float8_product(b, x, y, &form);
  else if (form.blocks) sum = scaled_operands_product(b, x, y, &form);
  else sum = widened_product(b, x, y);
  if (!form.blocks) {
    sum = build_mul(b, sum, scale_of(b, "scale_a"));
    sum = build_mul(b, sum, scale_of(b, "scale_b"));
  }
  Node *bias = build_input(b, "bias"), *scale = build_input(b, "scale_result");
  if (bias) sum = build_add(b, sum, build_to(b, bias, DT_F32));
  if (scale) sum = build_mul(b, sum, scale);
  return build_to_result(b, sum);
}

/* ---- blocks ---- */

typedef struct {
  uint32_t rank;
  Dim shape[GRAPH_RANK_MAX]; /* of the operand, each axis cut in blocks */
  Dim kept[GRAPH_RANK_MAX];  /* the same with 1 for the axes within a block */
  uint32_t within;           /* a bit for each of these */
} Blocks;

static void add_axis(Build *b, Blocks *o, Dim size, bool within) {
  if (o->rank == GRAPH_RANK_MAX) infer_fail(&b->in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  o->shape[o->rank] = size;
  o->kept[o->rank] = within ? build_const(b, 1) : size;
  o->within |= (uint32_t)within << o->rank++;
}

static Blocks blocks_of(Build *b, const Node *x) {
  Dim sizes[GRAPH_RANK_MAX];
  Blocks o = {0};
  uint32_t n = infer_sizes(&b->in, "block_size", sizes);
  if (n != rank_of(x)) infer_fail(&b->in, E_GRAPH_BLOCKS, n, rank_of(x));
  for (uint32_t i = 0; i < n; i++) {
    Dim size = x->type.shape[i];
    bool part = sizes[i] != size && !dim_is(sizes[i], 1);
    if (part) {
      if (!dim_is_int(sizes[i]) || sizes[i]->value < 1)
        infer_fail(&b->in, E_GRAPH_STEP, dim_is_int(sizes[i]) ? (long long)sizes[i]->value : 0);
      add_axis(b, &o, infer_exact_div(&b->in, size, sizes[i]->value), false);
      add_axis(b, &o, sizes[i], true);
    } else {
      add_axis(b, &o, size, !dim_is(sizes[i], 1));
    }
  }
  return o;
}

static Node *in_blocks(Build *b, Node *x, const Blocks *o, bool kept) {
  const Dim *shape = kept ? o->kept : o->shape;
  return build(b, OP_aten_reshape_default, ARGS(arg_node(x), arg_dims(b->in.g, o->rank, shape)));
}

/* A number of the dtype, or what is said. */
static double limit(Build *b, const char *param, DType t, bool least) {
  if (infer_has(&b->in, param)) return infer_number(&b->in, param);
  if (dtype_is_float(t)) {
    double most = t == DT_F8E5 ? 57344 : t == DT_F8E4NV ? 448 : INFINITY;
    return least ? -most : most;
  }
  double values = ldexp(1, (int)dtype_bits(t) - dtype_is_signed(t));
  return least ? (dtype_is_signed(t) ? -values : 0) : values - 1;
}

typedef enum { ZERO_INT, ZERO_FLOAT, ZERO_NONE } ZeroDomain;

static ZeroDomain domain_of(Build *b) {
  const char *word = infer_string(&b->in, "zero_point_domain");
  if (!*word || !strcmp(word, "INT")) return ZERO_INT;
  if (!strcmp(word, "FLOAT")) return ZERO_FLOAT;
  if (strcmp(word, "NONE") != 0) infer_fail(&b->in, E_GRAPH_ZERO_DOMAIN, word);
  return ZERO_NONE;
}

/* The integer of a float that has none, half between the limits. */
static double middle(Build *b, DType t) {
  return (limit(b, "quant_max", t, false) + limit(b, "quant_min", t, true) + 1) / 2;
}

Node *decompose_dequantize_affine(Build *b) {
  Node *x = build_self(b), *zero = build_input(b, "zero_point");
  DType from = x->type.dtype, t = b->in.n->type.dtype;
  ZeroDomain domain = domain_of(b);
  Blocks o = blocks_of(b, x);
  Node *scale = in_blocks(b, build_input(b, "scale"), &o, true);
  if (zero) zero = in_blocks(b, zero, &o, true);
  Node *y = in_blocks(b, x, &o, false);
  if (domain == ZERO_INT && !dtype_is_float(from)) {
    y = build_to(b, y, DT_I32);
    if (zero) y = build_sub(b, y, build_to(b, zero, DT_I32));
  }
  if (domain == ZERO_FLOAT)
    y = build_with(b, OP_aten_sub_Tensor, build_to(b, y, DT_F32), arg_float(middle(b, from)));
  y = build_mul(b, build_to(b, y, t), build_to(b, scale, t));
  if (domain == ZERO_FLOAT && zero) y = build_add(b, y, build_to(b, zero, t));
  return build_to_result(b, build_finished(b, y));
}

Node *decompose_quantize_affine(Build *b) {
  Node *x = build_self(b), *zero = build_input(b, "zero_point");
  DType t = b->in.n->type.dtype;
  ZeroDomain domain = domain_of(b);
  Blocks o = blocks_of(b, x);
  Node *scale = in_blocks(b, build_input(b, "scale"), &o, true);
  if (zero) zero = in_blocks(b, zero, &o, true);
  Node *y = in_blocks(b, x, &o, false);
  if (domain == ZERO_FLOAT) {
    Node *low = build_with(b, OP_aten_mul_Tensor, scale, arg_float(middle(b, t)));
    if (zero) low = build_sub(b, zero, low);
    else low = build_op1(b, OP_aten_neg_default, low);
    y = build_op1(b, OP_aten_round_default, build_div(b, build_sub(b, y, low), scale));
  } else {
    y = build_mul(b, y, build_op1(b, OP_aten_reciprocal_default, scale));
    y = build_op1(b, OP_aten_round_default, y);
    if (zero && domain == ZERO_INT) y = build_add(b, y, zero);
  }
  y = build(b, OP_aten_clamp_default,
            ARGS(arg_node(y), arg_float(limit(b, "quant_min", t, true)),
                 arg_float(limit(b, "quant_max", t, false))));
  return build_to_result(b, build_finished(b, y));
}

/* The scales of blocks whose extremes are `low` and `high`, 0 among them. */
static Node *block_scales(Build *b, Node *low, Node *high, double least, double most) {
  const char *type = infer_string(&b->in, "mapping_type");
  if (!strcmp(type, "ASYMMETRIC"))
    return build_with(b, OP_aten_div_Tensor, build_sub(b, high, low), arg_float(most - least));
  if (!strcmp(type, "SYMMETRIC")) {
    Node *far = build_op2(b, OP_aten_maximum_default, build_op1(b, OP_aten_neg_default, low), high);
    return build_with(b, OP_aten_div_Tensor, far, arg_float((most - least) / 2));
  }
  return build_op2(b, OP_aten_maximum_default,
                   build_with(b, OP_aten_div_Tensor, low, arg_float(least)),
                   build_with(b, OP_aten_div_Tensor, high, arg_float(most)));
}

/* The least scale, unless it is given: the smallest normal number. */
static double least_scale(Build *b, DType t) {
  if (infer_has(&b->in, "eps")) return infer_number(&b->in, "eps");
  return t == DT_F16 ? 0x1p-14 : t == DT_F64 ? 0x1p-1022 : 0x1p-126;
}

/* The scales of blocks, and their zero points, so that 0 is a number exactly. */
Node *decompose_choose_qparams_affine(Build *b) {
  Node *x = build_self(b);
  const ValueType *t = b->in.n->type.items;
  DType target = infer_dtype(&b->in, "target_dtype", DT_I8);
  double least = limit(b, "quant_min", target, true), most = limit(b, "quant_max", target, false);
  Blocks o = blocks_of(b, x);
  Node *y = in_blocks(b, x, &o, false), *zero;
  Node *low = build_reduce(b, OP_aten_amin_default, y, o.within, false);
  Node *high = build_reduce(b, OP_aten_amax_default, y, o.within, false);
  low = build(b, OP_aten_clamp_default, ARGS(arg_node(low), arg_none(), arg_float(0)));
  high = build(b, OP_aten_clamp_default, ARGS(arg_node(high), arg_float(0)));
  Node *scale = block_scales(b, low, high, least, most);
  double eps = least_scale(b, x->type.dtype);
  scale = build(b, OP_aten_clamp_default, ARGS(arg_node(scale), arg_float(eps)));
  if (strcmp(infer_string(&b->in, "mapping_type"), "ASYMMETRIC") != 0) {
    zero = build_full(b, rank_of(scale), scale->type.shape,
                      arg_float((double)(int64_t)((most + least + 1) / 2)), scale->type.dtype);
  } else {
    zero = build_op1(b, OP_aten_round_default, build_div(b, low, scale));
    zero = build_with(b, OP_aten_rsub_Scalar, zero, arg_float(least));
    zero = build(b, OP_aten_clamp_default, ARGS(arg_node(zero), arg_float(least), arg_float(most)));
  }
  scale = build_view(b, scale, t[0].rank, t[0].shape);
  zero = build_view(b, zero, t[1].rank, t[1].shape);
  return build_pair(b, build_to(b, scale, t[0].dtype), build_to(b, zero, t[1].dtype));
}
