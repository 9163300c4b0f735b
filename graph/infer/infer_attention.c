/* The types of nereid.attention, its gradients, and further results (graph/analysis/attention.h),
 * and of what PyTorch chooses for a device. */
#include <string.h>

#include "graph/messages.h"
#include "graph/ops/attention_blocks.h"
#include "graph/ops/infer_rules.h"

static const ValueType *attention_operand(Infer *in, const char *param, const ValueType *query) {
  const ValueType *x = infer_tensor(in, param);
  infer_rank(in, x, 4, 4);
  if (!query) return x;
  infer_same_dtype(in, query, x);
  infer_same_size(in, query->shape[0], x->shape[0], "the batches");
  return x;
}

/* Key or value, which all batches of the query may share. */
static const ValueType *shared_operand(Infer *in, const char *param, const ValueType *query) {
  const ValueType *x = attention_operand(in, param, NULL);
  infer_same_dtype(in, query, x);
  if (!dim_is(x->shape[0], 1))
    infer_same_size(in, query->shape[0], x->shape[0], "the batches");
  return x;
}

static void check_attention_mask(Infer *in, const ValueType *q, const ValueType *k,
                                 const char *param) {
  const ValueType *mask = infer_optional_tensor(in, param);
  if (!mask) return;
  Operand m = infer_tensor_operand(mask);
  Dim scores[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  infer_fits(in, &m, scores, 4);
}

static void check_block_size(Infer *in, const char *param) {
  int64_t size = infer_int(in, param);
  if (size <= 0) infer_fail(in, E_GRAPH_BLOCK_SIZE, (long long)size);
}

/* Tables of blocks: how many there are of each row of blocks, and which. */
static void check_blocks(Infer *in, const char *counts, const char *indices) {
  const ValueType *n = infer_optional_tensor(in, counts), *of = infer_optional_tensor(in, indices);
  if (!n && !of) return;
  n = infer_tensor(in, counts);
  of = infer_tensor(in, indices);
  infer_rank(in, n, 3, 3);
  infer_rank(in, of, 4, 4);
  for (int i = 0; i < 3; i++)
    infer_same_size(in, n->shape[i], of->shape[i], "the tables of blocks");
  check_block_size(in, "block_rows");
  check_block_size(in, "block_keys");
}

/* What the op and its gradients have in common. */
typedef struct {
  const ValueType *q, *k, *v;
} Operands;

static Operands attention_operands(Infer *in) {
  Operands x = {.q = attention_operand(in, "query", NULL)};
  x.k = attention_operand(in, "key", x.q);
  x.v = attention_operand(in, "value", x.q);
  infer_need_float(in, x.q->dtype);
  infer_same_size(in, x.k->shape[1], x.v->shape[1], "the heads");
  infer_same_size(in, x.q->shape[3], x.k->shape[3], "the axes of query and key");
  infer_same_size(in, x.k->shape[2], x.v->shape[2], "the lengths of key and value");
  check_attention_mask(in, x.q, x.k, "mask");
  check_attention_mask(in, x.q, x.k, "scores");
  if (infer_takes(in, "chain")) check_attention_mask(in, x.q, x.k, "chain");
  check_blocks(in, "counts", "indices");
  check_blocks(in, "full_counts", "full_indices");
  infer_number(in, "scale");
  infer_number(in, "dropout");
  if (infer_has(in, "low")) infer_size(in, "low");
  if (infer_has(in, "high")) infer_size(in, "high");
  return x;
}

/* Rows of heads that share keys are packed, and have one table of blocks, whose first block of rows
 * has them all. */
static void check_packing(Infer *in, const Operands *x) {
  static const char *const tables[] = {"counts", "full_counts"};
  Dim heads = x->q->shape[1], of_keys = x->k->shape[1], one = infer_const(in, 1);
  if (heads == of_keys) return;
  if (!dim_is_int(of_keys) || of_keys->value <= 0 || !dim_divisible(heads, of_keys->value))
    infer_fail(in, E_GRAPH_HEADS, infer_type_text(in, x->q), infer_type_text(in, x->k));
  for (int i = 0; i < 2; i++) {
    const ValueType *t = infer_optional_tensor(in, tables[i]);
    if (!t) continue;
    infer_same_size(in, one, t->shape[1], "the heads of blocks of packed rows");
    infer_same_size(in, one, t->shape[2], "the blocks of packed rows");
  }
}

void infer_fused_attention(Infer *in) {
  Operands x = attention_operands(in);
  check_packing(in, &x);
  int64_t splits = infer_int(in, "splits");
  if (splits <= 0) infer_fail(in, E_GRAPH_STEP, (long long)splits);
  Dim more = infer_const(in, splits == 1 ? 0 : ATTENTION_SHARE_COLUMNS);
  Dim columns = dim_add(in->g->dims, x.v->shape[3], more);
  bool heads = infer_bool(in, "heads_first");
  Dim rows = x.q->shape[heads ? 1 : 2], next = x.q->shape[heads ? 2 : 1];
  Dim shape[] = {infer_const(in, splits), x.q->shape[0], rows, next, columns};
  if (splits == 1) infer_set(in, x.q->dtype, 4, shape + 1);
  else infer_set(in, attention_wide(x.q->dtype), 5, shape);
}

/* ---- gradients ---- */

static Operands gradient_operands(Infer *in) {
  Operands x = attention_operands(in);
  const ValueType *grad = attention_operand(in, "grad", x.q);
  infer_same_size(in, x.q->shape[2], grad->shape[2], "the lengths of query and gradient");
  infer_same_size(in, x.v->shape[3], grad->shape[3], "the axes of value and gradient");
  static const char *const rows[] = {"sums", "delta"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const ValueType *t = infer_tensor(in, rows[i]);
    infer_rank(in, t, 3, 3);
    infer_same_size(in, x.q->shape[1], t->shape[1], "the heads");
    infer_same_size(in, x.q->shape[2], t->shape[2], "the lengths of query and its sums");
  }
  return x;
}

/* [B, H, T, D] as [B, T, H, D], or as it is, by an argument of n. */
static void set_rows_first(Infer *in, const Node *n, const ValueType *x) {
  bool heads = graph_arg(in->g, n, "heads_first").flag;
  Dim shape[] = {x->shape[0], x->shape[heads ? 1 : 2], x->shape[heads ? 2 : 1], x->shape[3]};
  infer_set(in, x->dtype, 4, shape);
}

/* Gradients of scores that the kernel of keys keeps: keys first, rows padded; for a CPU blocks of
 * rows first, of which each key has its own. */
static ValueType kept_type(Infer *in, const ValueType *q, const ValueType *k) {
  Dims *d = in->g->dims;
  Dim block = infer_const(in, ATTENTION_KEPT_ROWS);
  Dim blocks = infer_ceil_div(in, q->shape[2], block);
  bool host = in->g->host;
  Dim shape[] = {q->shape[0], q->shape[1], host ? blocks : k->shape[2],
                 dim_mul(d, host ? k->shape[2] : blocks, block)};
  return infer_type(in, q->dtype, 4, shape);
}

void infer_attention_grad_query(Infer *in) {
  Operands x = gradient_operands(in);
  const ValueType *kept = infer_optional_tensor(in, "kept");
  if (kept) {
    ValueType t = kept_type(in, x.q, x.k);
    infer_rank(in, kept, 4, 4);
    infer_same_dtype(in, x.q, kept);
    for (int i = 0; i < 4; i++)
      infer_same_size(in, t.shape[i], kept->shape[i], "the kept gradients of scores");
  }
  set_rows_first(in, in->n, x.q);
}

void infer_attention_grad_value(Infer *in) { set_rows_first(in, in->n, gradient_operands(in).v); }

/* The type of an argument of the attention whose kernel computes the node, too. */
static const ValueType *argument_of_kernel(Infer *in, OpId op, const char *param) {
  infer_tensor(in, "of"); /* reports what is no tensor */
  Node *of = graph_arg(in->g, in->n, "of").node;
  if (!graph_is(of, op)) infer_fail(in, E_GRAPH_PART, ops_at(op)->target);
  return &graph_arg(in->g, of, param).node->type;
}

void infer_attention_grad_key(Infer *in) {
  const ValueType *key = argument_of_kernel(in, OP_nereid_attention_grad_value_default, "key");
  set_rows_first(in, graph_arg(in->g, in->n, "of").node, key);
}

void infer_attention_grad_kept(Infer *in) {
  const ValueType *q = argument_of_kernel(in, OP_nereid_attention_grad_value_default, "query");
  const ValueType *k = argument_of_kernel(in, OP_nereid_attention_grad_value_default, "key");
  ValueType t = kept_type(in, q, k);
  infer_set(in, t.dtype, t.rank, t.shape);
}

static const ValueType *argument_of_gradient(Infer *in, const char *param) {
  return argument_of_kernel(in, OP_nereid_attention_grad_query_default, param);
}

void infer_attention_grad_scores(Infer *in) {
  const ValueType *q = argument_of_gradient(in, "query"), *k = argument_of_gradient(in, "key");
  Dim shape[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  infer_set(in, q->dtype, 4, shape);
}

void infer_attention_grad_read(Infer *in) {
  const ValueType *memory = infer_self(in), *index = infer_tensor(in, "index");
  infer_rank(in, memory, 1, 1);
  const ValueType *q = argument_of_gradient(in, "query"), *k = argument_of_gradient(in, "key");
  check_attention_mask(in, q, k, "index");
  check_attention_mask(in, q, k, "src");
  if (!dtype_is_int(index->dtype)) infer_fail(in, E_GRAPH_INDEX_DTYPE, dtype_name(index->dtype));
  infer_set(in, memory->dtype, 1, memory->shape);
}

void infer_attention_grad_added(Infer *in) {
  const ValueType *memory = infer_self(in);
  const ValueType *q = argument_of_kernel(in, OP_nereid_attention_grad_value_default, "query");
  infer_rank(in, memory, 4, 4);
  for (uint32_t i = 0; i < 4; i++)
    infer_same_size(in, memory->shape[i], q->shape[i], "the axes of the query and its gradient");
  infer_set(in, memory->dtype, 4, memory->shape);
}

void infer_attention_grad_parts(Infer *in) {
  const ValueType *q = argument_of_kernel(in, OP_nereid_attention_grad_value_default, "query");
  const Node *of = graph_arg(in->g, in->n, "of").node;
  Dim parts = graph_arg(in->g, in->n, "parts").dim;
  bool heads = graph_arg(in->g, of, "heads_first").flag;
  Dim shape[] = {parts, q->shape[0], q->shape[heads ? 1 : 2], q->shape[heads ? 2 : 1], q->shape[3]};
  infer_set(in, attention_wide(q->dtype), 5, shape);
}

void infer_attention_sums(Infer *in) {
  const ValueType *q = argument_of_kernel(in, OP_nereid_attention_default, "query");
  infer_set(in, attention_wide(q->dtype), 3, q->shape);
}

void infer_attention_scores(Infer *in) {
  const ValueType *q = attention_operand(in, "query", NULL);
  const ValueType *k = shared_operand(in, "key", q);
  infer_number(in, "scale");
  Dim shape[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  infer_set(in, attention_wide(q->dtype), 4, shape);
}

/* ---- attention with functions of scores, and blocks ---- */

/* The result in the layout of the query, the logarithms of the rows' sums, and the rows' largest
 * scores. */
void infer_flex_attention(Infer *in) {
  const ValueType *q = attention_operand(in, "query", NULL);
  shared_operand(in, "key", q);
  const ValueType *v = shared_operand(in, "value", q);
  infer_need_float(in, q->dtype);
  Dim shape[] = {q->shape[0], q->shape[1], q->shape[2], v->shape[3]};
  ValueType of_row = infer_type(in, attention_wide(q->dtype), 3, shape);
  ValueType items[] = {infer_type(in, q->dtype, 4, shape), of_row, of_row};
  infer_set_list(in, 3, items);
}

void infer_flex_attention_backward(Infer *in) {
  const ValueType *q = attention_operand(in, "query", NULL);
  const ValueType *k = shared_operand(in, "key", q), *v = shared_operand(in, "value", q);
  uint32_t n, nat, ngrads;
  const ValueType **read = infer_tensors(in, "read", &n);
  infer_tensors(in, "read_at", &nat);
  infer_tensors(in, "read_grad", &ngrads);
  if (n != nat || n != ngrads) infer_fail(in, E_GRAPH_READ_GRADIENTS, n, nat, ngrads);
  ValueType *items = ARENA_ARRAY(in->g->arena, ValueType, n + 3);
  items[0] = *q, items[1] = *k, items[2] = *v;
  for (uint32_t i = 0; i < n; i++) items[i + 3] = *read[i];
  infer_set_list(in, n + 3, items);
}

/* ---- what PyTorch chooses for a device ---- */

/* Rows of the sums are padded to multiples of 32 by _scaled_dot_product_efficient_attention, which
 * has none if nobody asks for them; _scaled_dot_product_cudnn_attention gives them an axis more. */
static ValueType type_of_sums(Infer *in, const ValueType *out) {
  enum { ROWS = 2, MULTIPLE = 32 };
  bool asked = infer_takes(in, "compute_log_sumexp"), cudnn = asked && in->schema->nresults == 9;
  DType t = attention_wide(out->dtype);
  Dim shape[] = {out->shape[0], out->shape[1], out->shape[ROWS], infer_const(in, 1)};
  if (cudnn) return infer_type(in, t, 4, shape);
  if (asked) {
    Dim multiple = infer_const(in, MULTIPLE);
    shape[ROWS] = dim_mul(in->g->dims, infer_ceil_div(in, shape[ROWS], multiple), multiple);
    if (!infer_bool(in, "compute_log_sumexp")) shape[ROWS] = infer_const(in, 0);
  }
  return infer_type(in, t, 3, shape);
}

void infer_attention_parts(Infer *in) {
  infer_attention(in);
  ValueType out = in->result, items[9];
  infer_rank(in, &out, 4, 4);
  Dim zero = infer_const(in, 0), two = infer_const(in, 2);
  bool flash = in->schema->nresults == 9 && !infer_takes(in, "compute_log_sumexp");
  items[0] = out;
  items[1] = type_of_sums(in, &out);
  for (uint32_t i = 2; i < 9; i++) items[i] = infer_type(in, DT_I64, 0, NULL);
  if (in->schema->nresults == 9) {
    const ValueType *q = infer_tensor(in, "query"), *k = infer_tensor(in, "key");
    items[2] = items[3] = infer_type(in, DT_I32, 1, &zero);
    items[4] = (ValueType){.kind = VALUE_INT, .value = q->shape[2]};
    items[5] = (ValueType){.kind = VALUE_INT, .value = k->shape[2]};
    items[8] = infer_type(in, out.dtype, 1, &zero);
  }
  if (flash) items[6] = infer_type(in, DT_U64, 1, &two), items[7] = infer_type(in, DT_U64, 0, NULL);
  infer_set_list(in, in->schema->nresults, items);
}

/* The result, and the shares of keys after dropout. */
void infer_attention_math(Infer *in) {
  infer_attention(in);
  ValueType out = in->result, shares = out;
  const ValueType *k = infer_tensor(in, "key");
  Dim *shape = ARENA_ARRAY(in->g->arena, Dim, out.rank);
  memcpy(shape, out.shape, out.rank * sizeof *shape);
  shape[out.rank - 1] = k->shape[k->rank - 2];
  shares.shape = shape;
  infer_set_pair(in, out, shares);
}

/* Gradients of query, key and value, and of an added mask if it exists and its gradient is
 * wanted. */
void infer_attention_backward(Infer *in) {
  const ValueType *q = attention_operand(in, "query", NULL);
  const ValueType *k = attention_operand(in, "key", q), *v = attention_operand(in, "value", q);
  const ValueType *out = attention_operand(in, "out", q);
  attention_operand(in, infer_takes(in, "grad_out") ? "grad_out" : "grad_out_", out);
  infer_same_size(in, q->shape[3], k->shape[3], "the axes of query and key");
  infer_same_size(in, k->shape[2], v->shape[2], "the lengths of key and value");
  ValueType items[] = {*q, *k, *v, {.kind = VALUE_NONE}};
  if (in->schema->nresults == 4) {
    const ValueType *bias = infer_optional_tensor(in, "attn_bias");
    Arg wanted = graph_arg(in->g, in->n, "grad_input_mask");
    Dim shape[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
    if (bias && wanted.items[3].flag) items[3] = infer_type(in, bias->dtype, 4, shape);
  }
  infer_set_list(in, in->schema->nresults, items);
}
