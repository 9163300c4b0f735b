/* Operators of ai.onnx.ml on numbers, as scikit-learn's models have them. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* A list of floats as a vector; NULL where there is none. */
static Node *float_vector(OnnxCall *c, const char *name) {
  uint32_t n;
  const float *list = onnx_floats(c, name, &n);
  return list && n ? onnx_table(c, DT_F32, 1, (int64_t[]){n}, list) : NULL;
}

static Node *real_rows(OnnxCall *c) {
  Node *x = onnx_in(c, 0);
  return x->type.dtype == DT_F64 ? x : build_to(&c->b, x, DT_F32);
}

/* ---- linear models ---- */

/* x times the rows of attribute coefficients, plus the intercepts: [rows, columns], in f32. */
static Node *linear(OnnxCall *c, uint32_t columns) {
  Build *b = &c->b;
  uint32_t n;
  const float *list = onnx_floats(c, "coefficients", &n);
  if (!list || n % columns) onnx_fail(c, E_ONNX_ATTR_COUNT, "coefficients", n, columns);
  Node *weight = onnx_table(c, DT_F32, 2, (int64_t[]){columns, n / columns}, list);
  Node *x = build_to(b, onnx_in(c, 0), DT_F32), *bias = float_vector(c, "intercepts");
  if (rank_of(x) == 1) x = build_unsqueeze(b, x, 0);
  infer_rank(&b->in, &x->type, 2, 2);
  return build(b, OP_aten_linear_default,
               ARGS(arg_node(x), arg_node(weight), bias ? arg_node(bias) : arg_none()));
}

Node *onnx_transformed(OnnxCall *c, Node *s) {
  return onnx_transformed_by(c, s, onnx_string(c, "post_transform", "NONE"));
}

Node *onnx_transformed_by(OnnxCall *c, Node *s, const char *how) {
  Build *b = &c->b;
  bool known = !strcmp(how, "LOGISTIC") || !strncmp(how, "SOFTMAX", 7);
  if (known && dim_is(s->type.shape[1], 1)) return s;
  if (!strcmp(how, "LOGISTIC")) return build_op1(b, OP_aten_sigmoid_default, s);
  if (!strcmp(how, "SOFTMAX")) return build_with(b, OP_aten_softmax_int, s, build_int(b, 1));
  if (strcmp(how, "NONE") != 0) onnx_lack(c, "post_transform %s", how);
  return s;
}

void onnx_op_linear_regressor(OnnxCall *c) {
  int64_t n = onnx_int(c, "targets", 1);
  if (n < 1 || n > ONNX_KNOWN_MAX) onnx_lack(c, "targets %lld", (long long)n);
  onnx_set(c, 0, onnx_transformed(c, linear(c, (uint32_t)n)));
}

void onnx_op_linear_classifier(OnnxCall *c) {
  Build *b = &c->b;
  uint32_t classes, rows;
  const int64_t *labels = onnx_labels(c, "classlabels_ints", "classlabels_strings", &classes);
  onnx_floats(c, "intercepts", &rows);
  onnx_ignore(c, "multi_class"); /* how the model was trained */
  if (!labels || classes < 2 || rows != classes)
    onnx_lack(c, "%u rows for %u classes", rows, classes);
  Node *s = linear(c, classes);
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(build_with(b, OP_aten_argmax_default, s, build_int(b, 1)));
  Node *table = onnx_table(c, DT_I64, 1, (int64_t[]){classes}, labels);
  onnx_set(c, 0, build_with(b, OP_aten_index_Tensor, table, list));
  onnx_set(c, 1, onnx_transformed(c, s));
}

/* ---- features ---- */

/* (x - offset) * scale, each one or a list. */
void onnx_op_scaler(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = real_rows(c), *offset = float_vector(c, "offset"), *scale = float_vector(c, "scale");
  DType t = x->type.dtype;
  if (offset) x = build_sub(b, x, build_to(b, offset, t));
  if (scale) x = build_mul(b, x, build_to(b, scale, t));
  onnx_set(c, 0, build_to(b, x, DT_F32));
}

/* Rows divided by a norm, but not by 0. */
void onnx_op_normalizer(OnnxCall *c) {
  Build *b = &c->b;
  Name how = onnx_string(c, "norm", "MAX");
  Node *x = build_to(b, onnx_in(c, 0), DT_F32), *norm;
  infer_rank(&b->in, &x->type, 1, 2);
  uint32_t last = 1u << (rank_of(x) - 1);
  if (!strcmp(how, "MAX")) {
    norm = build_reduce(b, OP_aten_amax_default, x, last, true);
  } else if (!strcmp(how, "L1")) {
    norm = build_sum(b, build_op1(b, OP_aten_abs_default, x), last, true);
  } else {
    if (strcmp(how, "L2") != 0) onnx_fail(c, E_ONNX_ATTR_VALUE, "norm", how);
    norm = build_op1(b, OP_aten_sqrt_default, build_sum(b, build_mul(b, x, x), last, true));
  }
  Node *none = build_with(b, OP_aten_eq_Scalar, norm, build_int(b, 0));
  onnx_set(c, 0, build_where(b, none, arg_node(x), arg_node(build_div(b, x, norm))));
}

void onnx_op_binarizer(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0);
  Arg limit = arg_float(onnx_float(c, "threshold", 0));
  onnx_set(c, 0, build_to(b, build_with(b, OP_aten_gt_Scalar, x, limit), x->type.dtype));
}

/* Elements that equal a value, which may be NaN, become others, one or one of each column. */
void onnx_op_imputer(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *put;
  bool floats = dtype_is_float(x->type.dtype);
  uint32_t n;
  if (floats) {
    put = float_vector(c, "imputed_value_floats");
  } else {
    const int64_t *list = onnx_ints(c, "imputed_value_int64s", &n);
    put = list && n ? onnx_table(c, DT_I64, 1, (int64_t[]){n}, list) : NULL;
  }
  if (!put) onnx_fail(c, E_ONNX_ATTR_MISSING, "imputed_value_floats");
  double old = floats ? onnx_float(c, "replaced_value_float", 0) : 0;
  Arg whole = build_int(b, floats ? 0 : onnx_int(c, "replaced_value_int64", 0));
  Node *is = isnan(old) ? build_op1(b, OP_aten_isnan_default, x)
                        : build_with(b, OP_aten_eq_Scalar, x, floats ? arg_float(old) : whole);
  onnx_set(c, 0, build_where(b, is, arg_node(build_to(b, put, x->type.dtype)), arg_node(x)));
}

/* Columns of the last axis. */
void onnx_op_array_feature_extractor(OnnxCall *c) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *at = build_flat(b, build_to(b, onnx_in(c, 1), DT_I64));
  if (rank_of(x) == 1) x = build_unsqueeze(b, x, 0);
  infer_rank(&b->in, &x->type, 2, GRAPH_RANK_MAX);
  onnx_set(c, 0, build(b, OP_aten_index_select_default,
                       ARGS(arg_node(x), build_int(b, rank_of(x) - 1), arg_node(at))));
}

void onnx_op_feature_vectorizer(OnnxCall *c) {
  enum { PARTS_MAX = 256 };
  Node *part[PARTS_MAX];
  if (!c->nin || c->nin > PARTS_MAX) onnx_lack(c, "%u inputs", c->nin);
  uint32_t n = 0;
  const int64_t *sizes = onnx_ints(c, "inputdimensions", &n);
  for (uint32_t i = 0; i < c->nin; i++) {
    part[i] = build_to(&c->b, onnx_in(c, i), DT_F32);
    infer_rank(&c->b.in, &part[i]->type, 2, 2);
    if (i < n && !dim_is(part[i]->type.shape[1], sizes[i]))
      onnx_lack(c, "inputdimensions %lld of other columns", (long long)sizes[i]);
  }
  onnx_set(c, 0, build_cat(&c->b, c->nin, part, 1));
}

/* A further axis of ones where an element is the category.  `zeros`: others are none of them. */
void onnx_op_category_one_hot(OnnxCall *c) {
  Build *b = &c->b;
  uint32_t n;
  Node *x = onnx_in(c, 0);
  const int64_t *list = onnx_texts(c, "cats_strings", &n);
  bool is_text = list && n;
  if (!is_text) list = onnx_ints(c, "cats_int64s", &n);
  onnx_ignore(c, is_text ? "cats_int64s" : "cats_strings");
  if (is_text != c->in[0]->is_text) onnx_lack(c, "categories of another type");
  if (!list || !n) onnx_fail(c, E_ONNX_ATTR_MISSING, "cats_int64s");
  bool zeros = onnx_flag(c, "zeros", true);
  Node *table = onnx_table(c, DT_I64, 1, (int64_t[]){n}, list);
  x = build_to(b, x, DT_I64);
  x = build_unsqueeze(b, x, rank_of(x));
  Node *is = build_op2(b, OP_aten_eq_Tensor, x, table);
  if (!zeros) {
    Node *any = build_with(b, OP_aten_any_dim, is, build_int(b, -1));
    Node *none = build_op1(b, OP_aten_logical_not_default, any);
    build_check_data(b, none, M_ONNX_CATEGORY, c->b.in.n->name);
  }
  onnx_set(c, 0, build_to(b, is, DT_F32));
}

/* ---- LabelEncoder ---- */

/* A list of one of the dtypes, or a tensor; NULL if there is none of that kind. */
static Node *value_list(OnnxCall *c, const char *kind, uint32_t *n, bool *is_text) {
  Arena *a = c->b.in.g->arena;
  const char *tensor = arena_printf(a, "%s_tensor", kind);
  if (onnx_has_attr(c, tensor)) {
    OnnxValue *v = onnx_tensor(c, tensor);
    Node *x = build_flat(&c->b, onnx_node_of(c, v));
    *n = (uint32_t)x->type.shape[0]->value;
    *is_text = v->is_text;
    return x;
  }
  const int64_t *whole = onnx_texts(c, arena_printf(a, "%s_strings", kind), n);
  *is_text = whole != NULL;
  if (!whole) whole = onnx_ints(c, arena_printf(a, "%s_int64s", kind), n);
  if (whole) return onnx_table(c, DT_I64, 1, (int64_t[]){*n}, whole);
  const float *real = onnx_floats(c, arena_printf(a, "%s_floats", kind), n);
  return real ? onnx_table(c, DT_F32, 1, (int64_t[]){*n}, real) : NULL;
}

/* The result for elements that equal no key. */
static Arg label_default(OnnxCall *c, bool whole, bool is_text) {
  const char *name = is_text ? "default_string" : whole ? "default_int64" : "default_float";
  onnx_ignore(c, "default_string");
  onnx_ignore(c, "default_int64");
  onnx_ignore(c, "default_float");
  if (onnx_has_attr(c, "default_tensor"))
    return arg_node(build_view(&c->b, onnx_node_of(c, onnx_tensor(c, "default_tensor")), 0, NULL));
  if (is_text) return build_int(&c->b, onnx_call_text(c, onnx_string(c, name, "_Unused")));
  return whole ? build_int(&c->b, onnx_int(c, name, -1)) : arg_float(onnx_float(c, name, -0.0));
}

/* The value of the first key that an element equals, else the default. */
static void set_mapped(OnnxCall *c, Node *keys, Node *values, Arg otherwise, bool to_text) {
  Build *b = &c->b;
  Node *x = onnx_in(c, 0), *wide = build_unsqueeze(b, x, rank_of(x));
  Node *is = build_op2(b, OP_aten_eq_Tensor, wide, keys);
  if (c->opset >= 4 && dtype_is_float(keys->type.dtype)) { /* NaN is a key like others */
    Node *nan = build_op1(b, OP_aten_isnan_default, keys);
    nan = build_and(b, nan, build_op1(b, OP_aten_isnan_default, wide));
    is = build_op2(b, OP_aten_logical_or_default, is, nan);
  }
  Node *hits = build_to(b, is, DT_I32);
  Node *first = build_with(b, OP_aten_argmax_default, hits, build_int(b, -1));
  Node *any = build_reduce(b, OP_aten_amax_default, hits, 1u << rank_of(x), false);
  Arg list = arg_list(b->in.g, 1);
  list.items[0] = arg_node(first);
  Node *value = build_with(b, OP_aten_index_Tensor, values, list);
  any = build_with(b, OP_aten_ne_Scalar, any, build_int(b, 0));
  onnx_set(c, 0, build_to(b, build_where(b, any, arg_node(value), otherwise), values->type.dtype));
  if (to_text) onnx_set_text(c, 0);
}

void onnx_op_label_encoder(OnnxCall *c) {
  uint32_t n, m;
  bool from_text, to_text;
  Node *keys = value_list(c, "keys", &n, &from_text);
  Node *values = value_list(c, "values", &m, &to_text);
  if (!keys || !values) onnx_fail(c, E_ONNX_ATTR_MISSING, keys ? "values_tensor" : "keys_tensor");
  if (n != m || !n) onnx_fail(c, E_ONNX_ATTR_COUNT, "values_int64s", m, n);
  if (from_text != c->in[0]->is_text) onnx_lack(c, "keys of another type");
  Arg otherwise = label_default(c, !dtype_is_float(values->type.dtype), to_text);
  set_mapped(c, keys, values, otherwise, to_text);
}

/* The last one first. */
static Node *turned_table(OnnxCall *c, const int64_t *list, uint32_t n) {
  int64_t *turned = ARENA_ARRAY(c->b.in.g->arena, int64_t, n), shape[] = {n};
  for (uint32_t i = 0; i < n; i++) turned[i] = list[n - 1 - i];
  return onnx_table(c, DT_I64, 1, shape, turned);
}

/* Strings to integers, or integers to strings.  The last of equal keys counts. */
void onnx_op_category_mapper(OnnxCall *c) {
  uint32_t n, m;
  const int64_t *texts = onnx_texts(c, "cats_strings", &n), *ints = onnx_ints(c, "cats_int64s", &m);
  bool to_text = !c->in[0]->is_text;
  if (!texts || !ints) onnx_fail(c, E_ONNX_ATTR_MISSING, texts ? "cats_int64s" : "cats_strings");
  if (n != m || !n) onnx_fail(c, E_ONNX_ATTR_COUNT, "cats_int64s", m, n);
  Node *text = turned_table(c, texts, n), *whole = turned_table(c, ints, n);
  Arg otherwise = label_default(c, true, to_text);
  set_mapped(c, to_text ? whole : text, to_text ? text : whole, otherwise, to_text);
}
