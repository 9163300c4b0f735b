/* Rules of pass check_arguments on operands: dtypes and sizes that PyTorch refuses when an operator
 * runs, and that the rules of inference allow. */
#include <ctype.h>
#include <string.h>

#include "graph/messages.h"
#include "planner/messages.h"
#include "planner/passes/checks/limits.h"

static bool is_mode(Build *b, const char *mode) {
  return !strcmp(infer_string(&b->in, "mode"), mode);
}

static const ValueType *optional(Build *b, const char *param) {
  return infer_takes(&b->in, param) ? infer_optional_tensor(&b->in, param) : NULL;
}

/* ---- dtypes ---- */

static void need_float(Build *b, const ValueType *x) { infer_need_float(&b->in, x->dtype); }

/* Scales and statistics have the input's dtype, or f32 beside floats of 16 bits.  Those of ONNX
 * are cast. */
void limit_scales(Build *b) {
  static const char *const params[] = {"weight", "bias", "running_mean", "running_var"};
  const ValueType *x = infer_self(&b->in);
  if (b->in.g->extremes_of_none) return;
  bool narrow = dtype_is_half(x->dtype);
  for (int i = 0; i < 4; i++) {
    const ValueType *scale = optional(b, params[i]);
    if (scale && !(narrow && scale->dtype == DT_F32)) infer_same_dtype(&b->in, x, scale);
  }
}

/* Statistics of no elements. */
void limit_statistics(Build *b) {
  const ValueType *x = infer_self(&b->in);
  limit_scales(b);
  if (!infer_bool(&b->in, "training")) return;
  for (uint32_t i = 0; i < x->rank; i++)
    if (dim_is_int(x->shape[i]) && x->shape[i]->value == 0)
      infer_fail(&b->in, E_GRAPH_NO_AXIS, i, infer_type_text(&b->in, x));
}

/* What is kept of integers would have to be multiplied by a fraction. */
void limit_dropped(Build *b) {
  double p;
  bool trains = build_arg(b, "train").kind == ARG_NONE || infer_bool(&b->in, "train");
  if (trains || b->in.n->type.kind != VALUE_LIST) limit_probability(b);
  if (trains && limit_number(b, "p", &p) && p > 0 && p < 1) need_float(b, infer_self(&b->in));
}

/* Integers that are divided by each other would be rounded. */
void limit_quotients(Build *b) {
  const ValueType *up = infer_tensor(&b->in, "tensor1"), *down = infer_tensor(&b->in, "tensor2");
  need_float(b, &b->in.n->type);
  if (!up->is_complex && !dtype_is_float(up->dtype) && !down->is_complex) need_float(b, down);
}

/* Along the first or the last axis; other axes have the form of a composite. */
void limit_one_weight(Build *b) {
  const ValueType *x = infer_tensor(&b->in, "v");
  uint32_t axis = x->rank ? infer_axis_arg(&b->in, "dim", x->rank) : 0;
  if (axis && axis + 1 < x->rank) return;
  infer_same_dtype(&b->in, infer_tensor(&b->in, "v"), infer_tensor(&b->in, "g"));
}

void limit_distances(Build *b) {
  limit_distance(b);
  need_float(b, infer_self(&b->in));
}

/* A norm is computed in a dtype that holds the operand's; of no elements there is none that is
 * the least or the largest. */
void limit_norm(Build *b) {
  const ValueType *x = infer_self(&b->in);
  double order = 2;
  limit_floats(b);
  Operand both[] = {infer_tensor_operand(x), infer_tensor_operand(x)};
  both[1].dtype = infer_dtype(&b->in, "dtype", x->dtype);
  if (infer_promote(&b->in, both, 2) != both[1].dtype)
    infer_fail(&b->in, E_GRAPH_IN_PLACE, dtype_name(x->dtype), dtype_name(both[1].dtype));
  const char *param = infer_takes(&b->in, "ord") ? "ord" : "p";
  if (!limit_number(b, param, &order) || (order >= 0 && order <= 1e300)) return;
  uint32_t axes = infer_takes(&b->in, "dim") ? infer_axes_arg(&b->in, "dim", x->rank) : ~0u;
  for (uint32_t i = 0; i < x->rank; i++)
    if (axes >> i & 1 && dim_is_int(x->shape[i]) && x->shape[i]->value == 0)
      infer_fail(&b->in, E_GRAPH_NOTHING, i, infer_type_text(&b->in, x));
}

void limit_integer_pivots(Build *b) {
  const ValueType *pivots = infer_tensor(&b->in, "pivots");
  if (pivots->dtype == DT_I1 || dtype_is_float(pivots->dtype))
    infer_fail(&b->in, E_GRAPH_NEEDS_INTEGER, dtype_name(pivots->dtype));
}

/* ---- sizes ---- */

void limit_sampled(Build *b) { limit_empty(b, infer_self(&b->in), 2); }

void limit_strides(Build *b) {
  int64_t strides[GRAPH_RANK_MAX], sizes[GRAPH_RANK_MAX];
  uint32_t n = limit_literals(b, "size", sizes);
  if (limit_literals(b, "stride", strides) != n) return;
  for (uint32_t i = 0; i < n; i++)
    if (!sizes[i]) return;
  for (uint32_t i = 0; i < n; i++)
    limit_unless(b, strides[i] >= 0 || sizes[i] == 1, "stride", (double)strides[i], "at least 0");
}

/* Sizes that are cut off are there. */
void limit_cut(Build *b) {
  Arg list = build_arg(b, "pad");
  const ValueType *x = infer_self(&b->in);
  for (uint32_t i = 0; list.kind == ARG_LIST && i + 1 < list.n && i / 2 < x->rank; i += 2) {
    Dim size = x->shape[x->rank - 1 - i / 2];
    for (uint32_t k = i; k < i + 2; k++) {
      Dim more = infer_dim_of(&b->in, &list.items[k]);
      if (!dim_is_int(size) || !dim_is_int(more)) break;
      size = build_const(b, size->value + (more->value < 0 || k == i + 1 ? more->value : 0));
      if (more->value < 0 && size->value < 0)
        infer_fail(&b->in, E_GRAPH_NEGATIVE, infer_dim_text(&b->in, size));
    }
  }
}

/* By the mode: what is cut off, what is reflected. */
void limit_pad(Build *b) {
  Arg list = build_arg(b, "pad");
  const ValueType *x = infer_self(&b->in);
  if (is_mode(b, "constant")) limit_cut(b);
  if (!is_mode(b, "reflect") || list.kind != ARG_LIST) return;
  limit_empty(b, x, x->rank > list.n / 2 + 1);
  for (uint32_t i = 0; i < list.n && i / 2 < x->rank; i++) {
    Dim more = infer_dim_of(&b->in, &list.items[i]), size = x->shape[x->rank - 1 - i / 2];
    if (dim_is_int(more) && dim_is_int(size) && more->value >= size->value)
      infer_fail(&b->in, E_GRAPH_REFLECT, infer_dim_text(&b->in, more),
                 infer_dim_text(&b->in, size));
  }
}

/* Windows of three axes are no larger than the image, also where it is padded. */
void limit_pool3d(Build *b) {
  const ValueType *x = infer_self(&b->in);
  int64_t window[GRAPH_RANK_MAX];
  uint32_t n = limit_literals(b, "kernel_size", window);
  limit_divisor(b);
  for (uint32_t i = 0; i < 3 && n && x->rank > 3; i++) {
    Dim size = x->shape[x->rank - 3 + i];
    int64_t reach = window[n == 1 ? 0 : i < n ? i : n - 1];
    if (dim_is_int(size) && size->value < reach)
      infer_fail(&b->in, E_GRAPH_WINDOW, infer_dim_text(&b->in, build_const(b, reach)),
                 infer_dim_text(&b->in, size));
  }
}

/* A matrix for each image, of as many rows as the image has axes. */
void limit_grid_of_batch(Build *b) {
  Dim sizes[GRAPH_RANK_MAX];
  const ValueType *x = infer_self(&b->in);
  uint32_t n = infer_sizes(&b->in, "size", sizes);
  infer_rank(&b->in, x, 3, 3);
  infer_same_size(&b->in, x->shape[0], sizes[0], "sizes of the batch");
  infer_same_size(&b->in, x->shape[1], build_const(b, n - 2), "rows and axes");
  infer_same_size(&b->in, x->shape[2], build_const(b, n - 1), "columns and axes");
}

/* An index of an axis without elements is out of range. */
void limit_along(Build *b) {
  const ValueType *x = infer_self(&b->in), *r = &b->in.n->type;
  if (build_arg(b, "dim").kind == ARG_NONE || !x->rank) return;
  uint32_t axis = infer_axis_arg(&b->in, "dim", x->rank);
  if (!dim_is_int(x->shape[axis]) || x->shape[axis]->value) return;
  for (uint32_t i = 0; i < r->rank; i++)
    if (dim_is_int(r->shape[i]) && !r->shape[i]->value) return;
  infer_fail(&b->in, E_GRAPH_NOTHING, axis, infer_type_text(&b->in, x));
}

void limit_repeats(Build *b) {
  double size, repeats;
  const ValueType *x = infer_self(&b->in);
  if (!limit_number(b, "output_size", &size) || !limit_number(b, "repeats", &repeats)) return;
  Dim n = value_numel(b->in.g, x);
  if (build_arg(b, "dim").kind != ARG_NONE)
    n = infer_axis_size(&b->in, x, infer_axis_arg(&b->in, "dim", x->rank));
  if (dim_is_int(n))
    limit_unless(b, size == repeats * (double)n->value, "output_size", size,
                 "that of the repetitions");
}

/* Axes of one operand with one letter have one size. */
void limit_subscripts(Build *b) {
  uint32_t n;
  const ValueType **tensors = infer_tensors(&b->in, "tensors", &n);
  const char *c = infer_string(&b->in, "equation");
  for (uint32_t i = 0; i < n; i++, c++) {
    Dim sizes[128] = {NULL};
    uint32_t axis = 0;
    bool rest = false; /* axes after an ellipsis are not counted */
    for (; *c && *c != ',' && *c != '-'; c++) {
      rest |= *c == '.';
      if (!isalpha((unsigned char)*c) || rest || axis >= tensors[i]->rank) continue;
      Dim *size = &sizes[(unsigned char)*c & 127], own = tensors[i]->shape[axis++];
      *size = *size ? infer_same_size(&b->in, *size, own, "axes of one letter") : own;
    }
    if (*c != ',') return;
  }
}

static void same_sizes(Build *b, const ValueType *a, const ValueType *other, const char *what) {
  infer_rank(&b->in, other, a->rank, a->rank);
  for (uint32_t i = 0; i < a->rank; i++)
    infer_same_size(&b->in, a->shape[i], other->shape[i], what);
}

static bool same_size(Dim a, Dim b) {
  return !dim_is_int(a) || !dim_is_int(b) || a->value == b->value;
}

/* PyTorch leaves out axes of one element, so that what is broadcast is before the rest. */
static void broadcast_first(Build *b, const ValueType *x, const ValueType *target) {
  bool first = true;
  infer_rank(&b->in, target, x->rank, x->rank);
  for (uint32_t i = 0; i < x->rank; i++) {
    bool one = dim_is_int(target->shape[i]) && target->shape[i]->value == 1;
    if (!same_size(x->shape[i], target->shape[i]) && !(one && first))
      infer_fail(&b->in, E_GRAPH_SIZES, "the input and the target",
                 infer_type_text(&b->in, x), infer_type_text(&b->in, target));
    first &= one;
  }
}

/* Logits and weights are as large as the targets, or expanded to them. */
void limit_loss_of_logits(Build *b) {
  const ValueType *target = infer_tensor(&b->in, "target");
  limit_loss_of_floats(b);
  static const char *const params[] = {"self", "weight", "pos_weight"};
  for (int i = 0; i < 3; i++) {
    if (i && !infer_optional_tensor(&b->in, params[i])) continue;
    Operand x = infer_operand(&b->in, params[i]);
    infer_fits(&b->in, &x, target->shape, target->rank);
  }
}

void limit_loss_of_one_type(Build *b) {
  const ValueType *x = infer_self(&b->in), *target = infer_tensor(&b->in, "target");
  limit_floats(b);
  infer_same_dtype(&b->in, x, target);
  broadcast_first(b, x, target);
}

void limit_sorter(Build *b) {
  const ValueType *sorter = infer_optional_tensor(&b->in, "sorter");
  if (sorter)
    same_sizes(b, infer_tensor(&b->in, "sorted_sequence"), sorter, "the sequence and its sorter");
}

/* Reflections are of no more rows than the matrix has. */
void limit_reflections(Build *b) {
  const ValueType *x = infer_self(&b->in);
  Dim rows = x->shape[x->rank - 2], columns = x->shape[x->rank - 1];
  if (dim_is_int(rows) && dim_is_int(columns) && rows->value < columns->value)
    infer_fail(&b->in, E_GRAPH_REFLECTIONS, infer_dim_text(&b->in, columns),
               infer_dim_text(&b->in, rows));
}

/* Sizes that are given beside the tensor whose sizes they are. */
void limit_groups(Build *b) {
  limit_scales(b);
  const ValueType *x = infer_self(&b->in);
  Dim n = infer_size(&b->in, "N"), channels = infer_size(&b->in, "C");
  int64_t groups = infer_int(&b->in, "group");
  Dim all[] = {n, channels, infer_size(&b->in, "HxW")};
  infer_same_size(&b->in, value_numel(b->in.g, x), infer_product(&b->in, all, 3), "elements");
  limit_unless(b, groups > 0, "group", (double)groups, "at least 1");
  infer_exact_div(&b->in, channels, groups);
  static const char *const scales[] = {"weight", "bias"};
  for (int i = 0; i < 2; i++) {
    const ValueType *scale = infer_optional_tensor(&b->in, scales[i]);
    if (scale) infer_same_size(&b->in, value_numel(b->in.g, scale), channels, "channels");
  }
}
