/* Support vector machines of ai.onnx.ml: kernels of rows and vectors, and sums of them. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

enum { CLASSES_MAX = 64, VECTORS_MAX = 1 << 24 };

/* ---- kernels ---- */

/* Attribute `name` as rows of so many columns. */
static Node *rows_of(OnnxCall *c, const char *name, uint32_t rows, uint32_t *columns) {
  uint32_t n;
  const float *list = onnx_floats(c, name, &n);
  if (!list || !n || n % rows) onnx_fail(c, E_ONNX_ATTR_COUNT, name, n, rows);
  *columns = n / rows;
  return onnx_table(c, DT_F32, 2, (int64_t[]){rows, *columns}, list);
}

static Node *input_rows(OnnxCall *c, uint32_t columns) {
  Build *b = &c->b;
  Node *x = build_to(b, onnx_in(c, 0), DT_F32);
  if (rank_of(x) == 1) x = build_unsqueeze(b, x, 0);
  infer_rank(&b->in, &x->type, 2, 2);
  if (dim_is_int(x->type.shape[1]) && !dim_is(x->type.shape[1], columns))
    onnx_lack(c, "vectors of %u columns for rows of %lld", columns,
              (long long)x->type.shape[1]->value);
  return x;
}

static Node *products(Build *b, Node *x, Node *vectors) {
  return build_product(b, OP_aten_mm_default, x, build_transpose(b, vectors, 0, 1), ROUNDS_NEVER);
}

/* The squares of distances, of differences: products would lose what near ones have. */
static Node *distances(Build *b, Node *x, Node *vectors) {
  Node *d = build_sub(b, build_unsqueeze(b, x, 1), build_unsqueeze(b, vectors, 0));
  return build_sum(b, build_mul(b, d, d), 1u << 2, false);
}

/* The kernel of each row of x and each vector: [rows, vectors]. */
static Node *kernel(OnnxCall *c, Node *x, Node *vectors) {
  Build *b = &c->b;
  uint32_t n;
  Name type = onnx_string(c, "kernel_type", "LINEAR");
  const float *list = onnx_floats(c, "kernel_params", &n);
  if (list && n && n != 3) onnx_fail(c, E_ONNX_ATTR_COUNT, "kernel_params", n, 3);
  double gamma = n ? (double)list[0] : 0, coef = n ? (double)list[1] : 0;
  double degree = n ? (double)list[2] : 0;
  if (!strcmp(type, "RBF")) {
    Node *y = build_with(b, OP_aten_mul_Tensor, distances(b, x, vectors), arg_float(-gamma));
    return build_op1(b, OP_aten_exp_default, y);
  }
  Node *y = products(b, x, vectors);
  if (!strcmp(type, "LINEAR")) return y;
  y = build_with(b, OP_aten_mul_Tensor, y, arg_float(gamma));
  y = build_with(b, OP_aten_add_Tensor, y, arg_float(coef));
  if (!strcmp(type, "SIGMOID")) return build_op1(b, OP_aten_tanh_default, y);
  if (strcmp(type, "POLY") != 0) onnx_fail(c, E_ONNX_ATTR_VALUE, "kernel_type", type);
  return build_with(b, OP_aten_pow_Tensor_Scalar, y, arg_float(degree));
}

static const float *rho_of(OnnxCall *c, uint32_t least) {
  uint32_t n;
  const float *rho = onnx_floats(c, "rho", &n);
  if (!rho || n < least) onnx_fail(c, E_ONNX_ATTR_COUNT, "rho", n, least);
  return rho;
}

/* ---- SVMRegressor ---- */

void onnx_op_svm_regressor(OnnxCall *c) {
  Build *b = &c->b;
  uint32_t columns, n;
  int64_t vectors = onnx_int(c, "n_supports", 0);
  if (vectors < 0 || vectors > VECTORS_MAX) onnx_lack(c, "n_supports %lld", (long long)vectors);
  double rho = (double)rho_of(c, 1)[0];
  Node *k;
  if (vectors) {
    Node *v = rows_of(c, "support_vectors", (uint32_t)vectors, &columns);
    Node *weights = rows_of(c, "coefficients", 1, &n);
    if (n != vectors) onnx_fail(c, E_ONNX_ATTR_COUNT, "coefficients", n, (unsigned)vectors);
    k = products(b, kernel(c, input_rows(c, columns), v), weights);
  } else {
    Node *weights = rows_of(c, "coefficients", 1, &columns);
    onnx_ignore(c, "kernel_type");
    onnx_ignore(c, "kernel_params");
    onnx_ignore(c, "support_vectors");
    k = products(b, input_rows(c, columns), weights);
  }
  Node *y = build_with(b, OP_aten_add_Tensor, k, arg_float(rho));
  if (onnx_flag(c, "one_class", false)) {
    Node *in = build_with(b, OP_aten_gt_Scalar, y, arg_float(0));
    y = build_where(b, in, arg_float(1), arg_float(-1));
  }
  onnx_set(c, 0, onnx_transformed(c, build_to(b, y, DT_F32)));
}

/* ---- SVMClassifier ---- */

typedef struct {
  uint32_t classes, pairs, vectors;
  const int64_t *of; /* vectors of each class */
  const int64_t *labels;
} Machine;

/* How much each vector counts for each pair of classes: [pairs, vectors]. */
static Node *pair_weights(OnnxCall *c, const Machine *m) {
  uint32_t n, pair = 0;
  const float *list = onnx_floats(c, "coefficients", &n);
  if (!list || n != (m->classes - 1) * m->vectors)
    onnx_fail(c, E_ONNX_ATTR_COUNT, "coefficients", n, (m->classes - 1) * m->vectors);
  float *w = ARENA_ARRAY(c->b.in.g->arena, float, (size_t)m->pairs * m->vectors);
  uint32_t begin[CLASSES_MAX + 1] = {0};
  for (uint32_t i = 0; i < m->classes; i++) begin[i + 1] = begin[i] + (uint32_t)m->of[i];
  for (uint32_t i = 0; i < m->classes; i++)
    for (uint32_t j = i + 1; j < m->classes; j++, pair++) {
      float *row = w + (size_t)pair * m->vectors;
      for (uint32_t v = begin[i]; v < begin[i + 1]; v++) row[v] = list[(j - 1) * m->vectors + v];
      for (uint32_t v = begin[j]; v < begin[j + 1]; v++) row[v] = list[i * m->vectors + v];
    }
  return onnx_table(c, DT_F32, 2, (int64_t[]){m->pairs, m->vectors}, w);
}

static Node *pair_scores(OnnxCall *c, const Machine *m) {
  Build *b = &c->b;
  uint32_t columns;
  Node *v = rows_of(c, "support_vectors", m->vectors, &columns);
  Node *k = kernel(c, input_rows(c, columns), v);
  Node *rho = onnx_table(c, DT_F32, 1, (int64_t[]){m->pairs}, rho_of(c, m->pairs));
  return build_add(b, products(b, k, pair_weights(c, m)), rho);
}

static Node *column(Build *b, Node *x, uint32_t i) {
  return build_slice(b, x, 1, build_const(b, i), build_const(b, i + 1), 1);
}

/* The class that wins most pairs, the first of them. */
static Node *voted(OnnxCall *c, const Machine *m, Node *scores) {
  Build *b = &c->b;
  float *first = ARENA_ARRAY(b->in.g->arena, float, (size_t)m->classes * m->pairs);
  float *second = ARENA_ARRAY(b->in.g->arena, float, (size_t)m->classes * m->pairs);
  for (uint32_t i = 0, pair = 0; i < m->classes; i++)
    for (uint32_t j = i + 1; j < m->classes; j++, pair++) {
      first[i * m->pairs + pair] = 1;
      second[j * m->pairs + pair] = 1;
    }
  int64_t shape[] = {m->classes, m->pairs};
  Node *won = build_to(b, build_with(b, OP_aten_gt_Scalar, scores, arg_float(0)), DT_F32);
  Node *lost = build_with(b, OP_aten_rsub_Scalar, won, arg_float(1));
  Node *votes = build_add(b, products(b, won, onnx_table(c, DT_F32, 2, shape, first)),
                          products(b, lost, onnx_table(c, DT_F32, 2, shape, second)));
  return build_with(b, OP_aten_argmax_default, votes, build_int(b, 1));
}

static void set_label(OnnxCall *c, const Machine *m, Node *number) {
  Node *table = onnx_table(c, DT_I64, 1, (int64_t[]){m->classes}, m->labels);
  Arg list = arg_list(c->b.in.g, 1);
  list.items[0] = arg_node(number);
  onnx_set(c, 0, build_with(&c->b, OP_aten_index_Tensor, table, list));
}

/* ---- probabilities ---- */

/* The probability of the first class of each pair: [rows, pairs]. */
static Node *pair_probabilities(OnnxCall *c, const Machine *m, Node *scores) {
  Build *b = &c->b;
  uint32_t na, nb;
  const float *a = onnx_floats(c, "prob_a", &na), *o = onnx_floats(c, "prob_b", &nb);
  if (!a || !o || na < m->pairs || nb < m->pairs)
    onnx_fail(c, E_ONNX_ATTR_COUNT, "prob_b", nb, m->pairs);
  Node *y = build_mul(b, scores, onnx_table(c, DT_F32, 1, (int64_t[]){m->pairs}, a));
  y = build_add(b, y, onnx_table(c, DT_F32, 1, (int64_t[]){m->pairs}, o));
  y = build_op1(b, OP_aten_sigmoid_default, build_op1(b, OP_aten_neg_default, y));
  Arg limits[] = {arg_node(y), arg_float(1e-7), arg_float(1 - 1e-7)};
  return build(b, OP_aten_clamp_default, 3, limits);
}

/* p, [rows, classes], in a step of Wu, Lin and Weng's second method: one class after another. */
typedef struct {
  Node *p, *next, *q[CLASSES_MAX]; /* probabilities, Q p, and the rows of Q */
} Coupling;

static Node *row_sum(Build *b, Node *x) { return build_sum(b, x, 1u << 1, true); }

static void read_pairs(OnnxCall *c, const Machine *m, Node *r, Coupling *k) {
  Build *b = &c->b;
  Node *of[CLASSES_MAX][CLASSES_MAX];
  for (uint32_t i = 0, pair = 0; i < m->classes; i++)
    for (uint32_t j = i + 1; j < m->classes; j++, pair++) {
      of[i][j] = column(b, r, pair);
      of[j][i] = build_with(b, OP_aten_rsub_Scalar, of[i][j], arg_float(1));
    }
  for (uint32_t i = 0; i < m->classes; i++) {
    Node *row[CLASSES_MAX], *sum = NULL;
    for (uint32_t j = 0; j < m->classes; j++) {
      if (i == j) continue;
      Node *square = build_mul(b, of[j][i], of[j][i]);
      sum = sum ? build_add(b, sum, square) : square;
      row[j] = build_op1(b, OP_aten_neg_default, build_mul(b, of[j][i], of[i][j]));
    }
    row[i] = sum;
    k->q[i] = build_cat(b, m->classes, row, 1);
  }
}

static Node *times_q(Build *b, const Machine *m, const Coupling *k, Node *p) {
  Node *sum = NULL;
  for (uint32_t i = 0; i < m->classes; i++) {
    Node *part = build_mul(b, k->q[i], column(b, p, i));
    sum = sum ? build_add(b, sum, part) : part;
  }
  return sum;
}

/* A step of all classes; rows that are near enough keep what they have.  *far: some are not. */
static Node *coupled(OnnxCall *c, const Machine *m, const Coupling *k, Node *p, Node **far) {
  Build *b = &c->b;
  Node *start = p, *qp = times_q(b, m, k, p), *whole = row_sum(b, build_mul(b, p, qp));
  Node *error = build_op1(b, OP_aten_abs_default, build_sub(b, qp, whole));
  error = build_reduce(b, OP_aten_amax_default, error, 1u << 1, true);
  Node *near = build_with(b, OP_aten_lt_Scalar, error, arg_float(0.005 / m->classes));
  for (uint32_t i = 0; i < m->classes; i++) {
    Node *own = column(b, k->q[i], i), *at = column(b, qp, i), *all[CLASSES_MAX];
    Node *d = build_div(b, build_sub(b, whole, at), own);
    Node *scale = build_with(b, OP_aten_add_Tensor, d, arg_float(1));
    Node *twice = build_with(b, OP_aten_mul_Tensor, at, arg_float(2));
    whole = build_add(b, whole, build_mul(b, d, build_add(b, build_mul(b, d, own), twice)));
    whole = build_div(b, build_div(b, whole, scale), scale);
    for (uint32_t j = 0; j < m->classes; j++)
      all[j] = j == i ? build_add(b, column(b, p, j), d) : column(b, p, j);
    p = build_div(b, build_cat(b, m->classes, all, 1), scale);
    qp = build_div(b, build_add(b, qp, build_mul(b, k->q[i], d)), scale);
  }
  *far = build_op1(b, OP_aten_any_default, build_op1(b, OP_aten_logical_not_default, near));
  return build_where(b, near, arg_node(start), arg_node(p));
}

/* Probabilities of classes from those of pairs: [rows, classes]. */
static Node *class_probabilities(OnnxCall *c, const Machine *m, Node *scores) {
  enum { P, TURN, FAR, CARRIED, TURNS_MAX = 100 };
  Build *b = &c->b;
  Coupling k;
  read_pairs(c, m, pair_probabilities(c, m, scores), &k);
  Dim shape[] = {scores->type.shape[0], build_const(b, m->classes)};
  OnnxLoop l = onnx_loop_new(c, CARRIED);
  l.carried[P] = build_full(b, 2, shape, arg_float(1.0 / m->classes), DT_F32);
  l.carried[TURN] = build_full(b, 0, NULL, build_int(b, 0), DT_I64);
  l.carried[FAR] = build_full(b, 0, NULL, arg_bool(true), DT_I1);
  for (uint32_t i = 0; i < CARRIED; i++) l.carried[i] = onnx_carried(c, l.carried[i]);
  Node *more = build_with(b, OP_aten_lt_Scalar, l.carried[TURN], build_int(b, TURNS_MAX));
  Node *test = onnx_loop_test(c, build_and(b, l.carried[FAR], more));
  l.next[P] = coupled(c, m, &k, l.carried[P], &l.next[FAR]);
  l.next[TURN] = build_with(b, OP_aten_add_Tensor, l.carried[TURN], build_int(b, 1));
  onnx_loop_end(c, test, &l);
  return l.carried[P];
}

/* ---- all of it ---- */

/* Without probabilities there is a score of each pair; of two classes that of the second one and
 * its opposite. */
static Node *decisions(OnnxCall *c, const Machine *m, Node *scores) {
  Build *b = &c->b;
  Name how = onnx_string(c, "post_transform", "NONE");
  if (m->classes > 2) return onnx_transformed(c, scores);
  bool logistic = !strcmp(how, "LOGISTIC"), opposite = logistic || !strcmp(how, "NONE");
  if (!opposite && strncmp(how, "SOFTMAX", 7)) onnx_lack(c, "post_transform %s", how);
  Node *other = opposite ? build_op1(b, OP_aten_neg_default, scores)
                         : build_with(b, OP_aten_rsub_Scalar, scores, arg_float(1));
  Node *both = build_cat(b, 2, (Node *[]){other, scores}, 1);
  return logistic ? build_op1(b, OP_aten_sigmoid_default, both) : both;
}

/* Rows of weights for classes, without vectors. */
static void set_linear(OnnxCall *c, const Machine *m) {
  Build *b = &c->b;
  uint32_t columns;
  Node *weights = rows_of(c, "coefficients", m->classes, &columns);
  onnx_ignore(c, "kernel_type");
  onnx_ignore(c, "kernel_params");
  if (m->classes == 2) onnx_lack(c, "two classes without vectors");
  Node *s = products(b, input_rows(c, columns), weights);
  s = build_with(b, OP_aten_add_Tensor, s, arg_float((double)rho_of(c, 1)[0]));
  set_label(c, m, build_with(b, OP_aten_argmax_default, s, build_int(b, 1)));
  onnx_set(c, 1, onnx_transformed(c, s));
}

void onnx_op_svm_classifier(OnnxCall *c) {
  Machine m = {0};
  uint32_t n, probabilities;
  m.labels = onnx_labels(c, "classlabels_ints", "classlabels_strings", &m.classes);
  m.of = onnx_ints(c, "vectors_per_class", &n);
  onnx_floats(c, "prob_a", &probabilities);
  if (m.classes < 2 || m.classes > CLASSES_MAX) onnx_lack(c, "%u classes", m.classes);
  m.pairs = m.classes * (m.classes - 1) / 2;
  for (uint32_t i = 0; i < n; i++) {
    if (m.of[i] < 0 || m.of[i] > VECTORS_MAX || m.vectors > VECTORS_MAX)
      onnx_fail(c, E_ONNX_ATTR_VALUE, "vectors_per_class", "a number of too many");
    m.vectors += (uint32_t)m.of[i];
  }
  if (!m.vectors) {
    set_linear(c, &m);
    return;
  }
  if (n != m.classes) onnx_fail(c, E_ONNX_ATTR_COUNT, "vectors_per_class", n, m.classes);
  Node *scores = pair_scores(c, &m);
  set_label(c, &m, voted(c, &m, scores));
  onnx_set(c, 1, probabilities ? onnx_transformed(c, class_probabilities(c, &m, scores))
                               : decisions(c, &m, scores));
}
