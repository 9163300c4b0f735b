/* Products of matrices. */
#include <ctype.h>
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/infer_rules.h"
#include "runtime/library/library.h"

static const char *const INNER = "the inner axes", *const BATCHES = "the batch axes";

/* Two lists of leading axes, broadcast; returns how many. */
static uint32_t batch_axes(Infer *in, const ValueType *a, uint32_t na, const ValueType *b,
                           uint32_t nb, Dim *shape) {
  Operand x[] = {{.dtype = a->dtype, .rank = na, .shape = a->shape},
                 {.dtype = b->dtype, .rank = nb, .shape = b->shape}};
  return infer_broadcast(in, x, 2, shape);
}

/* [m, k] x [k, n], both with one more axis for bmm. */
static ValueType matmul_type(Infer *in, const ValueType *a, const ValueType *b, uint32_t rank) {
  infer_rank(in, a, rank, rank);
  infer_rank(in, b, rank, rank);
  infer_same_dtype(in, a, b);
  infer_same_size(in, a->shape[rank - 1], b->shape[rank - 2], INNER);
  Dim shape[3] = {a->shape[0]};
  if (rank == 3) shape[0] = infer_same_size(in, a->shape[0], b->shape[0], BATCHES);
  shape[rank - 2] = a->shape[rank - 2];
  shape[rank - 1] = b->shape[rank - 1];
  return infer_type(in, a->dtype, rank, shape);
}

/* The sums are f32, whatever the operands. */
void infer_mm_dtype(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  ValueType t = matmul_type(in, a, b, a->rank == 3 ? 3 : 2);
  in->result = infer_type(in, infer_dtype(in, "out_dtype", t.dtype), t.rank, t.shape);
}

void infer_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  in->result = matmul_type(in, a, b, a->rank == 3 ? 3 : 2);
}

/* A bmm whose rows from ends[batch] on are zeros. */
void infer_ended_bmm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  const ValueType *ends = infer_tensor(in, "ends");
  in->result = matmul_type(in, a, b, 3);
  infer_rank(in, ends, 1, 1);
  infer_same_size(in, a->shape[0], ends->shape[0], BATCHES);
  if (ends->dtype != DT_I32) infer_fail(in, E_GRAPH_OFFSETS_DTYPE, dtype_name(ends->dtype));
}

/* A product whose sum is in parts, in f32, for a reduction to add. */
void infer_parted_mm(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  ValueType t = matmul_type(in, a, b, 2);
  int64_t parts = infer_int(in, "parts");
  if (parts <= 0) infer_fail(in, E_GRAPH_STEP, (long long)parts);
  Dim shape[] = {infer_const(in, parts), t.shape[0], t.shape[1]};
  infer_set(in, DT_F32, 3, shape);
}

/* A product of a library: rows of the result, in any shape. */
void infer_library_product(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  const char *function = infer_string(in, "function");
  const LibraryFunction *f = library_find(function);
  if (!f || library_work(f) != LIBRARY_PRODUCT) infer_fail(in, E_GRAPH_NO_LIBRARY, function);
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "mat2");
  ValueType right = *b;
  if (dtype_is_float(a->dtype) && dtype_bits(a->dtype) == 8) right.dtype = a->dtype;
  ValueType t = matmul_type(in, a, &right, a->rank == 3 ? 3 : 2);
  uint32_t n = infer_sizes(in, "size", sizes);
  infer_same_size(in, value_numel(in->g, &t), infer_product(in, sizes, n), "the elements");
  infer_set(in, infer_dtype(in, "dtype", t.dtype), n, sizes);
}

/* A convolution of a library, or a gradient of one: all tensors have four axes. */
void infer_library_conv(Infer *in) {
  Dim sizes[GRAPH_RANK_MAX];
  const LibraryFunction *f = library_find(infer_string(in, "function"));
  if (!f || library_work(f) == LIBRARY_PRODUCT)
    infer_fail(in, E_GRAPH_NO_LIBRARY, infer_string(in, "function"));
  const ValueType *a = infer_tensor(in, "a"), *b = infer_tensor(in, "b");
  infer_rank(in, a, 4, 4);
  infer_rank(in, b, 4, 4);
  infer_same_dtype(in, a, b);
  if (infer_sizes(in, "size", sizes) != 4) infer_fail(in, E_GRAPH_PER_AXIS, "size", 4, 4);
  infer_set(in, a->dtype, 4, sizes);
}

static ValueType matvec_type(Infer *in, const ValueType *a, const ValueType *v) {
  infer_rank(in, a, 2, 2);
  infer_rank(in, v, 1, 1);
  infer_same_dtype(in, a, v);
  infer_same_size(in, a->shape[1], v->shape[0], INNER);
  return infer_type(in, a->dtype, 1, a->shape);
}

void infer_mv(Infer *in) {
  in->result = matvec_type(in, infer_tensor(in, "self"), infer_tensor(in, "vec"));
}

void infer_dot(Infer *in) {
  const ValueType *a = infer_self(in), *b = infer_tensor(in, in->schema->params[1].name);
  infer_rank(in, a, 1, 1);
  infer_rank(in, b, 1, 1);
  infer_same_dtype(in, a, b);
  infer_same_size(in, a->shape[0], b->shape[0], INNER);
  infer_set(in, a->dtype, 0, NULL);
}

/* Integers times a float would be floats. */
static void check_factor(Infer *in, const char *param, DType t) {
  Arg a = graph_arg(in->g, in->n, param);
  bool number = a.kind == ARG_FLOAT || (a.kind == ARG_NODE && a.node->type.kind == VALUE_FLOAT);
  if (number && !dtype_is_float(t)) infer_fail(in, E_GRAPH_NEEDS_INTEGER, "a float");
}

/* addmm, baddbmm, addmv: the factors are parameters 1 and 2; self is expanded to the product. */
void infer_addmm(Infer *in) {
  const ValueType *self = infer_self(in);
  const ValueType *a = infer_tensor(in, in->schema->params[1].name);
  const ValueType *b = infer_tensor(in, in->schema->params[2].name);
  in->result = b->rank == 1 ? matvec_type(in, a, b) : matmul_type(in, a, b, a->rank == 3 ? 3 : 2);
  infer_same_dtype(in, self, a);
  check_factor(in, "alpha", a->dtype);
  check_factor(in, "beta", a->dtype);
  Operand added = infer_tensor_operand(self);
  infer_fits(in, &added, in->result.shape, in->result.rank);
}

/* A vector on the left is a row, on the right a column; its axis of 1 is dropped. */
void infer_matmul(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "other");
  infer_rank(in, a, 1, GRAPH_RANK_MAX);
  infer_rank(in, b, 1, GRAPH_RANK_MAX);
  infer_same_dtype(in, a, b);
  uint32_t na = a->rank > 1 ? a->rank - 2 : 0, nb = b->rank > 1 ? b->rank - 2 : 0;
  infer_same_size(in, a->shape[a->rank - 1], b->shape[nb], INNER);
  Dim shape[GRAPH_RANK_MAX + 2];
  uint32_t n = batch_axes(in, a, na, b, nb, shape);
  if (a->rank > 1) shape[n++] = a->shape[na];
  if (b->rank > 1) shape[n++] = b->shape[nb + 1];
  infer_set(in, a->dtype, n, shape);
}

void infer_linear(Infer *in) {
  const ValueType *x = infer_tensor(in, "input"), *w = infer_tensor(in, "weight");
  const ValueType *bias = infer_optional_tensor(in, "bias");
  infer_rank(in, x, 1, GRAPH_RANK_MAX);
  infer_rank(in, w, 1, 2);
  infer_same_dtype(in, x, w);
  infer_same_size(in, x->shape[x->rank - 1], w->shape[w->rank - 1], INNER);
  Dim shape[GRAPH_RANK_MAX];
  infer_copy_shape(x, shape);
  if (w->rank == 2) shape[x->rank - 1] = w->shape[0];
  infer_set(in, x->dtype, x->rank - (w->rank == 1), shape);
  if (!bias) return;
  infer_same_dtype(in, x, bias);
  Operand added = infer_tensor_operand(bias);
  infer_fits(in, &added, in->result.shape, in->result.rank);
}

void infer_outer(Infer *in) {
  const ValueType *a = infer_tensor(in, "self"), *b = infer_tensor(in, "vec2");
  infer_rank(in, a, 1, 1);
  infer_rank(in, b, 1, 1);
  Operand x[] = {infer_tensor_operand(a), infer_tensor_operand(b)};
  Dim shape[] = {a->shape[0], b->shape[0]};
  infer_set(in, infer_promote(in, x, 2), 2, shape);
}

/* The number of groups: of the ends, and of the matrices where one operand has one for each. */
static Dim group_count(Infer *in, const ValueType *a, const ValueType *b, const ValueType *offs) {
  bool batched = a->rank == 3 && b->rank == 3;
  if (batched == (offs != NULL)) infer_fail(in, E_GRAPH_OFFSETS);
  if (batched) return infer_same_size(in, a->shape[0], b->shape[0], BATCHES);
  infer_rank(in, offs, 1, 1);
  if (offs->dtype != DT_I32) infer_fail(in, E_GRAPH_OFFSETS_DTYPE, dtype_name(offs->dtype));
  if (a->rank == b->rank) return offs->shape[0];
  return infer_same_size(in, offs->shape[0], (a->rank == 3 ? a : b)->shape[0], BATCHES);
}

/* Groups of rows, of columns or of what is summed up, whose ends are in offs, each by a matrix of
 * its own.  Returns how many there are. */
static Dim infer_groups(Infer *in, DType otherwise) {
  const ValueType *a = infer_self(in), *b = infer_tensor(in, in->schema->params[1].name);
  infer_rank(in, a, 2, 3);
  infer_rank(in, b, 2, 3);
  infer_same_dtype(in, a, b);
  if (infer_takes(in, "bias") && infer_has(in, "bias")) infer_fail(in, E_GRAPH_GROUPED_BIAS);
  infer_same_size(in, a->shape[a->rank - 1], b->shape[b->rank - 2], INNER);
  Dim shape[3], groups = group_count(in, a, b, infer_optional_tensor(in, "offs"));
  uint32_t n = 0;
  if (a->rank == b->rank) shape[n++] = groups;
  shape[n++] = a->shape[a->rank - 2];
  shape[n++] = b->shape[b->rank - 1];
  infer_set(in, infer_dtype(in, "out_dtype", otherwise), n, shape);
  return groups;
}

void infer_grouped_mm(Infer *in) {
  DType t = infer_self(in)->dtype;
  bool primitive = graph_is_any(in->n, OP_nereid_grouped_mm_default,
                                OP_nereid_packed_grouped_mm_default);
  if (!dtype_is_float(t) || (dtype_bits(t) < 16 && !primitive))
    infer_fail(in, E_GRAPH_GROUPED_DTYPE, "16 bits or more", dtype_name(t));
  infer_groups(in, t);
}

/* Each row of the left operand has a scale, and each column of the right one; in each group, if
 * there is a matrix for each, or the sum is in groups. */
void infer_scaled_grouped_mm(Infer *in) {
  const ValueType *a = infer_self(in), *b = infer_tensor(in, "mat2");
  if (!dtype_is_float(a->dtype) || dtype_bits(a->dtype) != 8)
    infer_fail(in, E_GRAPH_GROUPED_DTYPE, "8 bits", dtype_name(a->dtype));
  Dim groups = infer_groups(in, DT_BF16);
  const ValueType *t = &in->result, *scales[] = {infer_tensor(in, "scale_a"),
                                                 infer_tensor(in, "scale_b")};
  if (infer_has(in, "scale_result")) infer_fail(in, E_GRAPH_GROUPED_BIAS);
  for (uint32_t i = 0; i < 2; i++) {
    bool alone = (i ? b : a)->rank == 2 && (i ? a : b)->rank == 3;
    Dim size = t->shape[t->rank - 2 + i], all = alone ? size : dim_mul(in->g->dims, groups, size);
    infer_same_size(in, value_numel(in->g, scales[i]), all, "the scales and what they are of");
    if (scales[i]->dtype != DT_F32)
      infer_fail(in, E_GRAPH_SCALES_DTYPE, dtype_name(scales[i]->dtype));
  }
}

/* ---- einsum ---- */

enum { LETTERS = 52 };

typedef struct {
  Infer *in;
  Dim sizes[LETTERS];       /* NULL: not met */
  Dim rest[GRAPH_RANK_MAX]; /* of the ellipsis, broadcast */
  uint32_t nrest;
  unsigned count[LETTERS]; /* uses in the operands */
} Einsum;

static int label_number(char c) { return islower((unsigned char)c) ? c - 'a' + 26 : c - 'A'; }

_Noreturn static void bad_equation(Einsum *e) {
  infer_fail(e->in, E_GRAPH_EINSUM, infer_string(e->in, "equation"));
}

static void take_letter(Einsum *e, char c, Dim size) {
  Dim *at = &e->sizes[label_number(c)];
  e->count[label_number(c)]++;
  if (!*at || dim_is(*at, 1)) *at = size;
  else if (!dim_is(size, 1)) *at = infer_same_size(e->in, *at, size, "the axes of one letter");
}

static void take_rest(Einsum *e, const Dim *sizes, uint32_t n) {
  Dim shape[GRAPH_RANK_MAX];
  Operand x[] = {{.rank = e->nrest, .shape = e->rest}, {.rank = n, .shape = sizes}};
  e->nrest = infer_broadcast(e->in, x, 2, shape);
  memcpy(e->rest, shape, e->nrest * sizeof *shape);
}

static uint32_t count_letters(const char *term, size_t len) {
  uint32_t n = 0;
  for (size_t i = 0; i < len; i++) n += isalpha((unsigned char)term[i]) != 0;
  return n;
}

static void take_operand(Einsum *e, const char *term, size_t len, const ValueType *x) {
  uint32_t axis = 0, letters = count_letters(term, len);
  if (letters > x->rank) bad_equation(e);
  for (size_t i = 0; i < len; i++) {
    if (isalpha((unsigned char)term[i])) {
      if (axis >= x->rank) bad_equation(e);
      take_letter(e, term[i], x->shape[axis++]);
    } else if (i + 2 < len && !strncmp(term + i, "...", 3) &&
               axis + (x->rank - letters) <= x->rank) {
      take_rest(e, x->shape + axis, x->rank - letters);
      axis += x->rank - letters;
      i += 2;
    } else if (term[i] != ' ') {
      bad_equation(e);
    }
  }
  if (axis != x->rank) bad_equation(e);
}

static uint32_t put_rest(Einsum *e, Dim *shape) {
  memcpy(shape, e->rest, e->nrest * sizeof *shape);
  return e->nrest;
}

/* Without `->`: letters that occur once, in the alphabet's order, after the ellipsis. */
static uint32_t implicit_output(Einsum *e, Dim *shape) {
  uint32_t n = put_rest(e, shape);
  for (int i = 0; i < LETTERS; i++) {
    if (e->count[i] != 1) continue;
    if (n == GRAPH_RANK_MAX) bad_equation(e);
    shape[n++] = e->sizes[i];
  }
  return n;
}

static uint32_t explicit_output(Einsum *e, const char *term, Dim *shape) {
  uint32_t n = 0;
  for (; *term; term++) {
    bool rest = !strncmp(term, "...", 3);
    if (*term == ' ') continue;
    if (n + (rest ? e->nrest : 1) > GRAPH_RANK_MAX) bad_equation(e);
    if (rest) {
      n += put_rest(e, shape + n);
      term += 2;
    } else {
      if (!isalpha((unsigned char)*term) || !e->sizes[label_number(*term)]) bad_equation(e);
      shape[n++] = e->sizes[label_number(*term)];
    }
  }
  return n;
}

void infer_einsum(Infer *in) {
  Einsum e = {.in = in};
  uint32_t n;
  const ValueType **x = infer_tensors(in, "tensors", &n);
  const char *at = infer_string(in, "equation"), *arrow = strstr(at, "->");
  const char *end = arrow ? arrow : at + strlen(at);
  for (uint32_t i = 0; i < n; i++) {
    if (at > end) bad_equation(&e);
    size_t len = strcspn(at, ",");
    if (at + len > end) len = (size_t)(end - at);
    take_operand(&e, at, len, x[i]);
    at += len + 1;
    infer_same_dtype(in, x[0], x[i]);
  }
  if (!n || at != end + 1) bad_equation(&e);
  Dim shape[GRAPH_RANK_MAX];
  uint32_t rank = arrow ? explicit_output(&e, arrow + 2, shape) : implicit_output(&e, shape);
  infer_set(in, x[0]->dtype, rank, shape);
}

/* ---- attention and distances ---- */

static bool is_multiple_of(Infer *in, Dim a, Dim b) {
  if (a == b) return true;
  if (dim_is_int(b) && b->value <= 0) return false;
  if (dim_is_int(a) && dim_is_int(b)) return a->value % b->value == 0;
  Dims *d = in->g->dims;
  return infer_equal(in, a, dim_mul(d, dim_floordiv(d, a, b), b));
}

/* The axes of keys or values before the last two, with as many heads as the query has: groups of
 * those share one. */
static const Dim *repeated_heads(Infer *in, const ValueType *q, const ValueType *kv) {
  Dim a = q->shape[q->rank - 3], b = kv->shape[kv->rank - 3];
  if (!is_multiple_of(in, a, b))
    infer_fail(in, E_GRAPH_HEADS, infer_type_text(in, q), infer_type_text(in, kv));
  Dim *shape = ARENA_ARRAY(in->g->arena, Dim, kv->rank);
  memcpy(shape, kv->shape, kv->rank * sizeof *shape);
  shape[kv->rank - 3] = a;
  return shape;
}

static uint32_t attention_batch(Infer *in, const ValueType *q, const ValueType *k,
                                const ValueType *v, Dim *shape) {
  const ValueType *all[] = {q, k, v};
  bool groups = infer_bool(in, "enable_gqa") || !infer_takes(in, "enable_gqa");
  Operand x[3];
  for (int i = 0; i < 3; i++) {
    if (groups) infer_rank(in, all[i], 3, GRAPH_RANK_MAX);
    const Dim *own = groups && i ? repeated_heads(in, q, all[i]) : all[i]->shape;
    x[i] = (Operand){.dtype = q->dtype, .rank = all[i]->rank - 2, .shape = own};
  }
  return infer_broadcast(in, x, 3, shape);
}

/* The parameter that has the mask; NULL: there is none. */
static const char *mask_parameter(const Infer *in) {
  if (infer_takes(in, "attn_mask")) return "attn_mask";
  return infer_takes(in, "attn_bias") ? "attn_bias" : NULL;
}

void infer_attention(Infer *in) {
  const char *param = mask_parameter(in);
  const ValueType *q = infer_tensor(in, "query"), *k = infer_tensor(in, "key");
  const ValueType *v = infer_tensor(in, "value");
  const ValueType *mask = param ? infer_optional_tensor(in, param) : NULL;
  infer_rank(in, q, 2, GRAPH_RANK_MAX);
  infer_rank(in, k, 2, GRAPH_RANK_MAX);
  infer_rank(in, v, 2, GRAPH_RANK_MAX);
  infer_same_dtype(in, q, k);
  infer_same_dtype(in, q, v);
  infer_same_size(in, q->shape[q->rank - 1], k->shape[k->rank - 1], "the axes of query and key");
  infer_same_size(in, k->shape[k->rank - 2], v->shape[v->rank - 2], "the lengths of key and value");
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = attention_batch(in, q, k, v, shape);
  shape[n++] = q->shape[q->rank - 2];
  shape[n++] = k->shape[k->rank - 2];
  if (mask) {
    Operand m = infer_tensor_operand(mask);
    infer_fits(in, &m, shape, n);
  }
  shape[n - 1] = v->shape[v->rank - 1];
  infer_set(in, q->dtype, n, shape);
}

void infer_cdist(Infer *in) {
  const ValueType *a = infer_tensor(in, "x1"), *b = infer_tensor(in, "x2");
  infer_rank(in, a, 2, GRAPH_RANK_MAX);
  infer_rank(in, b, 2, GRAPH_RANK_MAX);
  infer_need_float(in, a->dtype);
  infer_same_dtype(in, a, b);
  infer_same_size(in, a->shape[a->rank - 1], b->shape[b->rank - 1], INNER);
  Dim shape[GRAPH_RANK_MAX];
  uint32_t n = batch_axes(in, a, a->rank - 2, b, b->rank - 2, shape);
  shape[n++] = a->shape[a->rank - 2];
  shape[n++] = b->shape[b->rank - 2];
  infer_set(in, a->dtype, n, shape);
}

/* The distance of each pair of rows. */
void infer_pdist(Infer *in) {
  const ValueType *x = infer_self(in);
  infer_rank(in, x, 2, 2);
  Dims *d = in->g->dims;
  Dim n = x->shape[0], before = dim_sub(d, n, infer_const(in, 1));
  Dim pairs = dim_floordiv(d, dim_mul(d, n, before), infer_const(in, 2));
  infer_set(in, x->dtype, 1, &pairs);
}
