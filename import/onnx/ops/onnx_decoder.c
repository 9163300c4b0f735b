/* Attention as com.microsoft has it: projections, packed operands, caches. */
#include <math.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/ops/onnx_shared.h"

/* ---- masks ---- */

/* 0 where a key is kept, else attribute mask_filter_value, as four axes. */
static Node *filtered(OnnxCall *c, Node *keep) {
  Build *b = &c->b;
  Arg low = arg_float(onnx_float(c, "mask_filter_value", -10000));
  Node *x = build_where(b, keep, arg_float(0), low);
  while (rank_of(x) < 4) x = build_unsqueeze(b, x, 1);
  return x;
}

/* Keys from a start on, and before an end: one or two numbers of each batch. */
static Node *keys_between(OnnxCall *c, Node *numbers, Dim batch, Dim keys) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Dim n = numbers->type.shape[0], two = dim_mul(d, batch, build_const(b, 2));
  if (n != batch && n != two) onnx_lack(c, "a mask of so many numbers, or of an open size");
  Node *key = build_arange(b, keys);
  Node *ends = build_slice(b, numbers, 0, build_const(b, 0), batch, 1);
  Node *keep = build_op2(b, OP_aten_lt_Tensor, key, build_unsqueeze(b, ends, 1));
  if (n == batch) return keep;
  Node *starts = build_unsqueeze(b, build_slice(b, numbers, 0, batch, two, 1), 1);
  return build_and(b, keep, build_op2(b, OP_aten_ge_Tensor, key, starts));
}

/* The numbers of input `i` that are added to the scores; NULL: it is left out. */
static Node *mask_input(OnnxCall *c, uint32_t i, const OnnxHeads *h) {
  Build *b = &c->b;
  if (!onnx_has(c, i)) return NULL;
  Node *mask = onnx_in(c, i);
  Dim batch = h->query->type.shape[0], keys = h->key->type.shape[2];
  if (rank_of(mask) == 1) return filtered(c, keys_between(c, mask, batch, keys));
  if (rank_of(mask) != 2 && rank_of(mask) != 3) onnx_lack(c, "a mask of %u axes", rank_of(mask));
  return filtered(c, build_with(b, OP_aten_gt_Scalar, mask, build_int(b, 0)));
}

/* ---- operands ---- */

/* The past, [2, batch, heads, length, size], comes before keys and values. */
static void add_past(OnnxCall *c, OnnxHeads *h, uint32_t input) {
  Build *b = &c->b;
  if (onnx_has(c, input)) {
    Node *past = onnx_in(c, input);
    infer_rank(&b->in, &past->type, 5, 5);
    h->past = past->type.shape[3];
    Node *keys[] = {build_select(b, past, 0, build_const(b, 0)), h->key};
    Node *values[] = {build_select(b, past, 0, build_const(b, 1)), h->value};
    h->key = build_cat(b, 2, keys, 2);
    h->value = build_cat(b, 2, values, 2);
  }
  if (!onnx_wants(c, 1)) return;
  Node *both[] = {build_unsqueeze(b, h->key, 0), build_unsqueeze(b, h->value, 0)};
  onnx_set(c, 1, build_cat(b, 2, both, 0));
}

/* Queries see keys up to their own; the key's number less that of the query. */
static Node *distance(Build *b, const OnnxHeads *h) {
  Node *at = build_unsqueeze(b, build_arange(b, h->query->type.shape[2]), 1);
  at = build_with(b, OP_aten_add_Tensor, at, arg_dim(h->past));
  return build_sub(b, build_arange(b, h->key->type.shape[2]), at);
}

static void attend(OnnxCall *c, OnnxHeads *h, Node *mask, uint32_t bias) {
  Build *b = &c->b;
  h->bias = mask;
  if (onnx_has(c, bias)) h->bias = mask ? build_add(b, mask, onnx_in(c, bias)) : onnx_in(c, bias);
  if (onnx_flag(c, "unidirectional", false))
    h->keep = build_with(b, OP_aten_le_Scalar, distance(b, h), build_int(b, 0));
  onnx_set(c, 0, onnx_join_heads(b, onnx_attend(c, h)));
}

static OnnxHeads no_heads(OnnxCall *c) {
  return (OnnxHeads){.past = build_const(&c->b, 0), .products = -1};
}

/* ---- Attention, QAttention ---- */

/* Columns of queries, keys and values, each of so many heads. */
static void split_projection(OnnxCall *c, Node *x, OnnxHeads *h) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  uint32_t n;
  const int64_t *sizes = onnx_ints(c, "qkv_hidden_sizes", &n);
  int64_t heads = onnx_int(c, "num_heads", 0);
  if (sizes && n != 3) onnx_fail(c, E_ONNX_ATTR_COUNT, "qkv_hidden_sizes", n, 3);
  Dim third = dim_floordiv(d, x->type.shape[2], build_const(b, 3)), at = build_const(b, 0);
  Node **parts[] = {&h->query, &h->key, &h->value};
  for (uint32_t i = 0; i < 3; i++) {
    Dim end = dim_add(d, at, sizes ? build_const(b, sizes[i]) : third);
    *parts[i] = onnx_heads_of(c, build_slice(b, x, 2, at, end, 1), heads);
    at = end;
  }
  h->scale = onnx_heads_scale(c, h->query);
}

static void check_plain(OnnxCall *c) {
  if (onnx_flag(c, "do_rotary", false)) onnx_lack(c, "do_rotary");
  if (onnx_flag(c, "past_present_share_buffer", false)) onnx_lack(c, "a cache that is shared");
  onnx_ignore(c, "rotary_embedding_dim");
}

void onnx_op_projected_attention(OnnxCall *c) {
  Build *b = &c->b;
  OnnxHeads h = no_heads(c);
  check_plain(c);
  infer_rank(&b->in, onnx_type(c, 0), 3, 3);
  Node *x = build_op2(b, OP_aten_matmul_default, onnx_in(c, 0), onnx_in(c, 1));
  if (onnx_has(c, 2)) x = build_add(b, x, onnx_in(c, 2));
  split_projection(c, x, &h);
  add_past(c, &h, 4);
  attend(c, &h, mask_input(c, 3, &h), 5);
}

void onnx_op_quantized_attention(OnnxCall *c) {
  enum { NONE = 99 };
  Build *b = &c->b;
  OnnxHeads h = no_heads(c);
  check_plain(c);
  infer_rank(&b->in, onnx_type(c, 0), 3, 3);
  OnnxFactor left = {onnx_in(c, 0), onnx_columns(c, 6, true), onnx_is_from_zero(c, 6)};
  OnnxFactor right = {onnx_in(c, 1), onnx_columns(c, 7, true), onnx_is_from_zero(c, 7)};
  Node *x = build_to(b, onnx_integer_product(c, left, right), DT_F32);
  x = build_mul(b, x, build_mul(b, onnx_columns(c, 3, false), onnx_columns(c, 4, false)));
  split_projection(c, build_add(b, x, onnx_in(c, 2)), &h);
  add_past(c, &h, 8);
  attend(c, &h, mask_input(c, 5, &h), NONE);
}

/* ---- MultiHeadAttention ---- */

/* Part `i` of [batch, length, heads, parts, size], as heads. */
static Node *packed_part(Build *b, Node *x, uint32_t i) {
  return build_transpose(b, build_select(b, x, 3, build_const(b, i)), 1, 2);
}

/* Heads with their part of input 3, which begins at *at. */
static Node *biased(OnnxCall *c, Node *x, Dim *at) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  const Dim *s = x->type.shape;
  Dim end = dim_add(d, *at, dim_mul(d, s[1], s[3])), shape[] = {s[1], build_const(b, 1), s[3]};
  if (!onnx_has(c, 3)) return x;
  Node *part = build_slice(b, onnx_in(c, 3), 0, *at, end, 1);
  *at = end;
  return build_add(b, x, build_view(b, part, 3, shape));
}

/* Four axes are a cache of keys or values, which has its bias already. */
static Node *cached_or_heads(OnnxCall *c, Node *x, int64_t heads, Dim *at) {
  return rank_of(x) == 4 ? x : biased(c, onnx_heads_of(c, x, heads), at);
}

static void read_operands(OnnxCall *c, OnnxHeads *h) {
  Build *b = &c->b;
  Node *query = onnx_in(c, 0), *key = onnx_optional(c, 1);
  int64_t heads = onnx_int(c, "num_heads", 0);
  Dim at = build_const(b, 0);
  bool all = rank_of(query) == 5, both = key && rank_of(key) == 5;
  h->query = biased(c, all ? packed_part(b, query, 0) : onnx_heads_of(c, query, heads), &at);
  if (all || both) {
    Node *from = all ? query : key;
    h->key = biased(c, packed_part(b, from, all), &at);
    h->value = biased(c, packed_part(b, from, all + 1), &at);
  } else {
    h->key = cached_or_heads(c, onnx_in(c, 1), heads, &at);
    h->value = cached_or_heads(c, onnx_in(c, 2), heads, &at);
  }
}

static Node *with_past(OnnxCall *c, uint32_t input, uint32_t result, Node *x) {
  if (onnx_has(c, input)) x = build_cat(&c->b, 2, (Node *[]){onnx_in(c, input), x}, 2);
  if (onnx_wants(c, result)) onnx_set(c, result, x);
  return x;
}

void onnx_op_multi_head_attention(OnnxCall *c) {
  OnnxHeads h = no_heads(c);
  if (onnx_wants(c, 3)) onnx_lack(c, "the result qk");
  if (onnx_has(c, 8) || onnx_has(c, 9)) onnx_lack(c, "a cache that is shared");
  read_operands(c, &h);
  h.scale = onnx_heads_scale(c, h.query);
  h.key = with_past(c, 6, 1, h.key);
  h.value = with_past(c, 7, 2, h.value);
  if (onnx_has(c, 6)) h.past = onnx_in(c, 6)->type.shape[2];
  attend(c, &h, mask_input(c, 4, &h), 5);
}

/* ---- GroupQueryAttention ---- */

typedef struct {
  Node *past;   /* how many tokens of each batch were there, [batch], i64 */
  Node *last;   /* the last token of each batch that is no padding, [batch], i64 */
  Dim length;   /* of new tokens */
  Dim capacity; /* of the caches that are results */
  bool shared;  /* results are the caches, in which new tokens are written */
} Cache;

enum { NO_INPUT = 99 };

/* Which inputs of an operator with a cache are lengths and angles. */
typedef struct {
  uint32_t lengths; /* of each batch, with the new tokens */
  int64_t less;     /* how many tokens these are below the number */
  uint32_t total;   /* the largest of them, a value that must be known */
  uint32_t cosine, sine, positions;
} CacheInputs;

/* Queries, keys and values: three inputs, or columns of the first. */
static void read_groups(OnnxCall *c, OnnxHeads *h) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  int64_t heads = onnx_int(c, "num_heads", 0), groups = onnx_int(c, "kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "kv_num_heads", "no divisor of num_heads");
  Node *x = onnx_in(c, 0), *key = onnx_optional(c, 1), *value = onnx_optional(c, 2);
  infer_rank(&b->in, &x->type, 3, 3);
  if (!key) {
    Dim whole = x->type.shape[2];
    Dim size = dim_floordiv(d, whole, build_const(b, heads + 2 * groups));
    Dim first = dim_mul(d, size, build_const(b, heads));
    Dim second = dim_mul(d, size, build_const(b, heads + groups));
    key = build_slice(b, x, 2, first, second, 1);
    value = build_slice(b, x, 2, second, whole, 1);
    x = build_slice(b, x, 2, build_const(b, 0), first, 1);
  } else if (!value) {
    onnx_lack(c, "keys without values");
  }
  h->query = onnx_heads_of(c, x, heads);
  h->key = onnx_heads_of(c, key, groups);
  h->value = onnx_heads_of(c, value, groups);
}

/* Each token's position, [batch, length]. */
static Node *token_positions(OnnxCall *c, const Cache *k) {
  Build *b = &c->b;
  return build_add(b, build_unsqueeze(b, k->past, 1), build_arange(b, k->length));
}

static void rotate_groups(OnnxCall *c, OnnxHeads *h, const Cache *k, const CacheInputs *in) {
  Build *b = &c->b;
  if (!onnx_flag(c, "do_rotary", false)) return;
  bool given = onnx_has(c, in->positions);
  Node *at = given ? onnx_in(c, in->positions) : token_positions(c, k);
  Node *cosine = onnx_in(c, in->cosine), *sine = onnx_in(c, in->sine);
  OnnxRotation r = {onnx_angles(b, cosine, at), onnx_angles(b, sine, at), NULL,
                    onnx_flag(c, "rotary_interleaved", false)};
  r.size = dim_mul(onnx_dims(c), cosine->type.shape[1], build_const(b, 2));
  h->query = onnx_rotate(c, h->query, &r);
  h->key = onnx_rotate(c, h->key, &r);
}

/* The cache with the new tokens after each batch's past, and zeros after these, or what was there
 * if it is shared: each place takes a row of both. */
static Node *updated_cache(OnnxCall *c, uint32_t input, uint32_t result, Node *x, const Cache *k) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Dim zero = build_const(b, 0), before = zero, all = k->capacity;
  const Dim *s = x->type.shape;
  Node *both = x, *place = build_arange(b, all);
  if (onnx_has(c, input)) {
    Node *past = onnx_in(c, input);
    infer_rank(&b->in, &past->type, 4, 4);
    before = past->type.shape[2];
    both = build_cat(b, 2, (Node *[]){past, x}, 2);
  }
  Node *from = build_sub(b, place, build_unsqueeze(b, k->past, 1)); /* number among the new ones */
  Node *is_new = build_and(b, build_with(b, OP_aten_ge_Scalar, from, build_int(b, 0)),
                           build_with(b, OP_aten_lt_Scalar, from, arg_dim(k->length)));
  Node *moved = build_with(b, OP_aten_add_Tensor, from, arg_dim(before));
  Arg last = arg_dim(dim_max(d, zero, dim_sub(d, before, build_const(b, 1))));
  Node *kept = build(b, OP_aten_clamp_default, ARGS(arg_node(place), arg_none(), last));
  Node *index = build_where(b, is_new, arg_node(moved), arg_node(kept));
  Dim shape[] = {s[0], s[1], all, s[3]};
  index = build_expand(b, build_unsqueeze(b, build_unsqueeze(b, index, 1), 3), 4, shape);
  Node *y =
      build(b, OP_aten_gather_default, ARGS(arg_node(both), build_int(b, 2), arg_node(index)));
  if (k->shared) return onnx_set(c, result, y), y;
  Node *over = build_with(b, OP_aten_ge_Scalar, from, arg_dim(k->length));
  over = build_unsqueeze(b, build_unsqueeze(b, over, 1), 3);
  y = build_where(b, over, arg_float(0), arg_node(y));
  if (onnx_wants(c, result)) onnx_set(c, result, y);
  return y;
}

/* A query sees keys up to its own that are no padding, and the last ones of those up to its own
 * where there is a window. */
static Node *seen_keys(OnnxCall *c, const Cache *k) {
  Build *b = &c->b;
  int64_t window = onnx_int(c, "local_window_size", -1);
  Dim one = build_const(b, 1);
  Node *at = build_unsqueeze(b, build_unsqueeze(b, token_positions(c, k), 1), 3);
  Node *behind = build_sub(b, build_arange(b, k->capacity), at);
  Node *keep = build_with(b, OP_aten_le_Scalar, behind, build_int(b, 0));
  Node *last = build_view(b, k->last, 4, (Dim[]){k->last->type.shape[0], one, one, one});
  keep = build_and(b, keep, build_op2(b, OP_aten_le_Tensor, build_arange(b, k->capacity), last));
  if (window < 1) return keep;
  return build_and(b, keep, build_with(b, OP_aten_gt_Scalar, behind, build_int(b, -window)));
}

/* How many tokens of each batch are old and new. */
static Cache lengths_of(OnnxCall *c, const OnnxHeads *h, const CacheInputs *in) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Cache k = {.length = h->query->type.shape[2]};
  Node *lengths = build_flat(b, build_to(b, onnx_in(c, in->lengths), DT_I64));
  if (in->less) lengths = build_with(b, OP_aten_sub_Tensor, lengths, build_int(b, in->less));
  k.last = lengths;
  Dim before = dim_sub(d, build_const(b, 1), k.length);
  Node *past = build_with(b, OP_aten_add_Tensor, lengths, arg_dim(before));
  k.past = build_with(b, OP_aten_clamp_min_default, past, build_int(b, 0)); /* a padded prompt's */
  return k;
}

static Cache cache_of(OnnxCall *c, const OnnxHeads *h, const CacheInputs *in) {
  Cache k = lengths_of(c, h, in);
  k.capacity = onnx_need_dim(c, in->total);
  if (onnx_has(c, 3))
    k.capacity = dim_max(onnx_dims(c), onnx_in(c, 3)->type.shape[2], k.capacity);
  return k;
}

static void check_groups(OnnxCall *c) {
  static const char *const names[] = {"k_quant_type", "v_quant_type"};
  enum { SCALES = 12, QUERY_LENGTHS = 16 };
  for (uint32_t i = SCALES; i <= QUERY_LENGTHS; i++)
    if (onnx_has(c, i)) onnx_lack(c, "the input %u", i);
  for (int i = 0; i < 2; i++)
    if (strcmp(onnx_string(c, names[i], "NONE"), "NONE") != 0) onnx_lack(c, "%s", names[i]);
  if (!onnx_flag(c, "causal", true)) onnx_lack(c, "causal 0");
  if (onnx_int(c, "qk_output", 0) || onnx_wants(c, 3)) onnx_lack(c, "the result output_qk");
  onnx_ignore(c, "kv_cache_bit_width");
  onnx_ignore(c, "qk_norm_epsilon");
}

/* Each head has a score of its own that no key has; smooth_softmax is that score 0. */
static Node *head_sink(OnnxCall *c, const OnnxHeads *h) {
  if (onnx_has(c, 11)) return onnx_in(c, 11);
  if (onnx_int(c, "smooth_softmax", 0) <= 0) return NULL;
  return build_full(&c->b, 1, &h->query->type.shape[1], arg_float(0), h->query->type.dtype);
}

/* ---- caches of a window's size ----
 *
 * Rows of the caches are the last positions in order, from row 0 on: all of them, until the rows
 * are full.  Then as many positions leave at once as there are rows beyond the window, and one. */

/* How many rows hold a position after so many tokens of each batch. */
static Node *resident_rows(OnnxCall *c, Node *tokens, Dim capacity, int64_t window) {
  Build *b = &c->b;
  Dim leave = dim_sub(onnx_dims(c), capacity, build_const(b, window - 1));
  Node *times = build_with(b, OP_aten_sub_Tensor, tokens, build_int(b, window));
  times = build_with(b, OP_aten_floor_divide_default, times, arg_dim(leave));
  times = build_with(b, OP_aten_clamp_min_default, times, build_int(b, 0));
  return build_sub(b, tokens, build_with(b, OP_aten_mul_Tensor, times, arg_dim(leave)));
}

typedef struct {
  int64_t window;
  Dim capacity;
  Node *first[2]; /* positions of row 0, [batch], before and after the new tokens */
  Node *before;   /* rows that hold a position before them */
} WindowCache;

static WindowCache window_cache_of(OnnxCall *c, const Cache *k) {
  Build *b = &c->b;
  if (!onnx_has(c, 3) || !onnx_has(c, 4)) onnx_lack(c, "sliding_window_cache without a past");
  WindowCache w = {.window = onnx_int(c, "local_window_size", -1)};
  Node *past = onnx_in(c, 3);
  infer_rank(&b->in, &past->type, 4, 4);
  w.capacity = past->type.shape[2];
  bool small = dim_is_int(w.capacity) && w.capacity->value < w.window;
  if (w.window < 1 || small)
    onnx_fail(c, E_ONNX_ATTR_VALUE, "local_window_size", "less than 1, or above the caches' rows");
  if (!dim_is_int(w.capacity)) {
    Node *rows = build_full(b, 0, NULL, arg_dim(w.capacity), DT_I64);
    build_check_data(b, build_with(b, OP_aten_lt_Scalar, rows, build_int(b, w.window)),
                     M_ONNX_WINDOW, b->in.n->name);
  }
  Node *tokens = build_with(b, OP_aten_add_Tensor, k->last, build_int(b, 1));
  w.before = resident_rows(c, k->past, w.capacity, w.window);
  w.first[0] = build_sub(b, k->past, w.before);
  w.first[1] = build_sub(b, tokens, resident_rows(c, tokens, w.capacity, w.window));
  return w;
}

/* The cache's rows and the new ones; the result is those that stay. */
static Node *moved_window(OnnxCall *c, uint32_t input, uint32_t result, Node *x, const Cache *k,
                          const WindowCache *w) {
  Build *b = &c->b;
  Node *both = build_cat(b, 2, (Node *[]){onnx_in(c, input), x}, 2);
  if (!onnx_wants(c, result)) return both;
  const Dim *s = both->type.shape;
  Node *at = build_add(b, build_unsqueeze(b, w->first[1], 1), build_arange(b, w->capacity));
  Node *of_new = build_sub(b, at, build_unsqueeze(b, k->past, 1));
  Node *is_new = build_with(b, OP_aten_ge_Scalar, of_new, build_int(b, 0));
  of_new = build_with(b, OP_aten_add_Tensor, of_new, arg_dim(w->capacity));
  Node *of_old = build_sub(b, at, build_unsqueeze(b, w->first[0], 1));
  Node *index = build_where(b, is_new, arg_node(of_new), arg_node(of_old));
  Arg last = arg_dim(dim_sub(onnx_dims(c), s[2], build_const(b, 1)));
  index = build(b, OP_aten_clamp_default, ARGS(arg_node(index), build_int(b, 0), last));
  Dim shape[] = {s[0], s[1], w->capacity, s[3]};
  index = build_expand(b, build_unsqueeze(b, build_unsqueeze(b, index, 1), 3), 4, shape);
  onnx_set(c, result, build(b, OP_aten_gather_default,
                            ARGS(arg_node(both), build_int(b, 2), arg_node(index))));
  return both;
}

/* Which of the cache's rows, and of the new ones after them, each query sees. */
static Node *seen_in_window(OnnxCall *c, const Cache *k, const WindowCache *w) {
  Build *b = &c->b;
  Node *row = build_arange(b, w->capacity), *fresh = token_positions(c, k);
  Node *old = build_add(b, build_unsqueeze(b, w->first[0], 1), row);
  Node *held = build_op2(b, OP_aten_lt_Tensor, row, build_unsqueeze(b, w->before, 1));
  Node *real = build_op2(b, OP_aten_le_Tensor, fresh, build_unsqueeze(b, k->last, 1));
  old = build_where(b, held, arg_node(old), build_int(b, INT64_MAX / 2));
  Node *new = build_where(b, real, arg_node(fresh), build_int(b, INT64_MAX / 2));
  Node *key = build_cat(b, 2, (Node *[]){old, new}, 1);
  key = build_unsqueeze(b, build_unsqueeze(b, key, 1), 2);
  Node *behind = build_sub(b, key, build_unsqueeze(b, build_unsqueeze(b, fresh, 1), 3));
  return build_and(b, build_with(b, OP_aten_le_Scalar, behind, build_int(b, 0)),
                   build_with(b, OP_aten_gt_Scalar, behind, build_int(b, -w->window)));
}

static void attend_in_window(OnnxCall *c, OnnxHeads *h, Cache *k, const CacheInputs *in) {
  if (onnx_has(c, 10)) onnx_lack(c, "a bias with sliding_window_cache");
  WindowCache w = window_cache_of(c, k);
  rotate_groups(c, h, k, in);
  h->key = moved_window(c, 3, 1, h->key, k, &w);
  h->value = moved_window(c, 4, 2, h->value, k, &w);
  h->keep = seen_in_window(c, k, &w);
  onnx_set(c, 0, onnx_join_heads(&c->b, onnx_attend(c, h)));
}

void onnx_op_group_query_attention(OnnxCall *c) {
  Build *b = &c->b;
  OnnxHeads h = no_heads(c);
  check_groups(c);
  read_groups(c, &h);
  static const CacheInputs in = {5, 0, 6, 7, 8, 9};
  h.scale = onnx_heads_scale(c, h.query);
  h.cap = onnx_float(c, "softcap", 0);
  h.sink = head_sink(c, &h);
  if (onnx_flag(c, "sliding_window_cache", false)) {
    Cache k = lengths_of(c, &h, &in);
    attend_in_window(c, &h, &k, &in);
    return;
  }
  Cache k = cache_of(c, &h, &in);
  rotate_groups(c, &h, &k, &in);
  h.key = updated_cache(c, 3, 1, h.key, &k);
  h.value = updated_cache(c, 4, 2, h.value, &k);
  h.keep = seen_keys(c, &k);
  if (onnx_has(c, 10)) {
    h.bias = onnx_in(c, 10);
    infer_rank(&b->in, &h.bias->type, 4, 4);
    Dim pad[] = {build_const(b, 0), dim_sub(onnx_dims(c), k.capacity, h.bias->type.shape[3])};
    if (!dim_is(pad[1], 0))
      h.bias = build(b, OP_aten_constant_pad_nd_default,
                     ARGS(arg_node(h.bias), arg_dims(b->in.g, 2, pad), arg_float(0)));
  }
  onnx_set(c, 0, onnx_join_heads(b, onnx_attend(c, &h)));
}

/* ---- SparseAttention ---- */

/* The blocks of keys that a block of queries has in each layout, [layouts, rows, rows], from the
 * ends of its rows and the numbers of the columns; numbers after the last row's end are padding. */
static Node *block_layouts(OnnxCall *c) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *ends = build_to(b, onnx_in(c, 5), DT_I64), *columns = build_to(b, onnx_in(c, 6), DT_I64);
  infer_rank(&b->in, &ends->type, 2, 2);
  infer_rank(&b->in, &columns->type, 2, 2);
  Dim one = build_const(b, 1), all = ends->type.shape[1], rows = dim_sub(d, all, one);
  Node *at = build_arange(b, columns->type.shape[1]);
  ends = build_unsqueeze(b, build_slice(b, ends, 1, one, all, 1), 1);
  Node *before = build_op2(b, OP_aten_le_Tensor, ends, build_unsqueeze(b, at, 1));
  Node *row = build_sum(b, build_to(b, before, DT_I64), 1u << 2, false); /* of each column */
  Node *block = build_arange(b, rows);
  Node *in_row = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, row, 2), block);
  Node *in_column = build_op2(b, OP_aten_eq_Tensor, build_unsqueeze(b, columns, 2), block);
  Node *has = build_and(b, build_unsqueeze(b, in_row, 3), build_unsqueeze(b, in_column, 2));
  return build_with(b, OP_aten_any_dim, has, build_int(b, 1));
}

/* Numbers below `size` as the numbers of their blocks. */
static Node *block_of(OnnxCall *c, Node *at, int64_t size) {
  return build_with(&c->b, OP_aten_floor_divide_default, at, build_int(&c->b, size));
}

/* The least number for keys whose block the query's does not have: [batch, heads, length, keys].
 * Heads take the layouts in turns. */
static Node *block_bias(OnnxCall *c, const OnnxHeads *h, const Cache *k) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  int64_t size = onnx_int(c, "sparse_block_size", 0);
  if (size < 1) onnx_fail(c, E_ONNX_ATTR_VALUE, "sparse_block_size", "less than 1");
  Node *layouts = block_layouts(c), *head = build_arange(b, h->query->type.shape[1]);
  head = build_with(b, OP_aten_remainder_Tensor, head, arg_dim(layouts->type.shape[0]));
  Dim last = dim_sub(d, layouts->type.shape[1], build_const(b, 1));
  Node *query = block_of(c, token_positions(c, k), size); /* [batch, length] */
  Node *key = block_of(c, build_arange(b, k->capacity), size);
  key = build(b, OP_aten_clamp_default, ARGS(arg_node(key), arg_none(), arg_dim(last)));
  query = build_unsqueeze(b, build_unsqueeze(b, query, 1), 3);
  Arg list = arg_list(b->in.g, 3);
  list.items[0] = arg_node(build_unsqueeze(b, build_unsqueeze(b, head, 1), 2));
  list.items[1] = arg_node(query);
  list.items[2] = arg_node(key);
  Node *keep = build_with(b, OP_aten_index_Tensor, layouts, list);
  DType t = h->query->type.dtype;
  return build_to(b, build_where(b, keep, arg_float(0), arg_float(-dtype_largest_finite(t))), t);
}

void onnx_op_sparse_attention(OnnxCall *c) {
  Build *b = &c->b;
  OnnxHeads h = no_heads(c);
  static const CacheInputs in = {8, 1, 7, 9, 10, NO_INPUT};
  read_groups(c, &h);
  Cache k = cache_of(c, &h, &in);
  k.shared = true;
  rotate_groups(c, &h, &k, &in);
  h.scale = onnx_heads_scale(c, h.query);
  h.key = updated_cache(c, 3, 1, h.key, &k);
  h.value = updated_cache(c, 4, 2, h.value, &k);
  h.keep = seen_keys(c, &k);
  h.bias = block_bias(c, &h, &k);
  onnx_set(c, 0, onnx_join_heads(b, onnx_attend(c, &h)));
}

/* ---- DecoderMaskedMultiHeadAttention ---- */

/* A new row, [batch, heads, 1, size], in the place of the cache that has that number. */
static Node *cache_with_row(OnnxCall *c, uint32_t input, uint32_t result, Node *x, Node *place) {
  Build *b = &c->b;
  Node *cache = onnx_in(c, input);
  infer_rank(&b->in, &cache->type, 4, 4);
  Node *at = build_op2(b, OP_aten_eq_Tensor, build_arange(b, cache->type.shape[2]), place);
  cache = build_where(b, build_unsqueeze(b, at, 1), arg_node(x), arg_node(cache));
  if (onnx_wants(c, result)) onnx_set(c, result, cache);
  return cache;
}

/* Keys of the cache that count: as many as the mask or the bias has, or all. */
static Node *counted_keys(OnnxCall *c, Node *cache) {
  Build *b = &c->b;
  Dim keys = cache->type.shape[2];
  if (onnx_has(c, 3)) keys = size_from_end(onnx_in(c, 3), 1);
  else if (onnx_has(c, 4)) keys = size_from_end(onnx_in(c, 4), 1);
  return build_slice(b, cache, 2, build_const(b, 0), keys, 1);
}

/* A token of each batch, whose key and value go into the cache after those of the past. */
static void attend_to_cache(OnnxCall *c, OnnxHeads *h) {
  Build *b = &c->b;
  if (!onnx_flag(c, "past_present_share_buffer", false))
    onnx_lack(c, "a past without past_present_share_buffer");
  Node *past = build_to(b, build_view(b, onnx_in(c, 7), 0, NULL), DT_I64);
  h->key = counted_keys(c, cache_with_row(c, 5, 1, h->key, past));
  h->value = counted_keys(c, cache_with_row(c, 6, 2, h->value, past));
  h->keep = build_op2(b, OP_aten_le_Tensor, build_arange(b, h->key->type.shape[2]), past);
}

static Node *decoder_heads(OnnxCall *c, uint32_t i, Dim *at) {
  Build *b = &c->b;
  Node *x = onnx_in(c, i);
  if (rank_of(x) == 4) return x; /* keys or values of an encoder, without a bias */
  infer_rank(&b->in, &x->type, 3, 3);
  Dim size = x->type.shape[2], end = dim_add(onnx_dims(c), *at, size);
  if (onnx_has(c, 10)) x = build_add(b, x, build_slice(b, onnx_in(c, 10), 0, *at, end, 1));
  *at = end;
  return onnx_heads_of(c, x, onnx_int(c, "num_heads", 0));
}

void onnx_op_decoder_masked_attention(OnnxCall *c) {
  OnnxHeads h = no_heads(c);
  Dim at = build_const(&c->b, 0);
  if (!onnx_has(c, 1)) onnx_lack(c, "queries, keys and values in one input");
  if (onnx_has(c, 9)) onnx_lack(c, "cache_indirection, caches of several beams");
  if (onnx_wants(c, 3) || onnx_flag(c, "output_qk", false)) onnx_lack(c, "the result qk");
  h.query = decoder_heads(c, 0, &at);
  h.key = decoder_heads(c, 1, &at);
  h.value = decoder_heads(c, 2, &at);
  h.scale = onnx_heads_scale(c, h.query);
  if (onnx_has(c, 5)) attend_to_cache(c, &h);
  Node *mask = mask_input(c, 3, &h);
  attend(c, &h, mask, 4);
}

/* ---- RotaryEmbedding ---- */

/* A single position is that of the first token. */
static Node *row_positions(OnnxCall *c, const Node *x) {
  Build *b = &c->b;
  Node *at = onnx_in(c, 1);
  if (rank_of(at) == 2) return at;
  infer_rank(&b->in, &at->type, 1, 1);
  Dim shape[] = {x->type.shape[0], x->type.shape[2]};
  at = build_add(b, build_to(b, at, DT_I64), build_arange(b, shape[1]));
  return build_expand(b, at, 2, shape);
}

typedef Node *AnglesRule(OnnxCall *c, const Node *x, Node *table);

static Node *angles_of_rows(OnnxCall *c, const Node *x, Node *table) {
  return onnx_angles(&c->b, table, row_positions(c, x));
}

static void rotate_positions(OnnxCall *c, AnglesRule *angles) {
  Build *b = &c->b;
  Dims *d = onnx_dims(c);
  Node *x = onnx_in(c, 0), *table = onnx_in(c, 2);
  bool flat = rank_of(x) == 3;
  if (onnx_flag(c, "is_packed_batching", false)) onnx_lack(c, "is_packed_batching");
  infer_rank(&b->in, &table->type, 2, 2);
  Dim size = dim_mul(d, table->type.shape[1], build_const(b, 2));
  int64_t heads = onnx_int(c, "num_heads", 0);
  onnx_ignore(c, "rotary_embedding_dim"); /* twice the table's columns */
  onnx_ignore(c, "scale");
  if (flat && heads < 1) {
    Dim count = dim_floordiv(d, x->type.shape[2], size);
    if (!dim_is_int(count)) onnx_lack(c, "heads of an open number");
    heads = count->value;
  }
  if (flat) x = onnx_heads_of(c, x, heads);
  infer_rank(&b->in, &x->type, 4, 4);
  OnnxRotation r = {angles(c, x, table), angles(c, x, onnx_in(c, 3)), size,
                    onnx_flag(c, "interleaved", false)};
  Node *y = onnx_rotate(c, x, &r);
  onnx_set(c, 0, flat ? onnx_join_heads(b, y) : y);
}

void onnx_op_rotary_positions(OnnxCall *c) { rotate_positions(c, angles_of_rows); }

/* The stream of positions that each column of the table takes: those of time, height and width, in
 * three parts or, of a bounded number of columns, by turns. */
static OnnxKnown *streams_of_columns(OnnxCall *c, int64_t columns) {
  int64_t parts[3];
  onnx_ints_of(c, "mrope_section", 3, 0, parts);
  bool turns = onnx_int(c, "mrope_layout", 0) == 1;
  if (parts[0] < 0 || parts[1] < 0 || parts[2] < 0 || parts[0] + parts[1] + parts[2] != columns)
    onnx_lack(c, "an mrope_section whose sum is not that of %lld columns", (long long)columns);
  OnnxKnown *k = onnx_known_new(c, DT_I64, 1, &columns);
  for (int64_t i = 0; i < columns; i++) {
    int64_t stream = i < parts[0] ? 0 : i < parts[0] + parts[1] ? 1 : 2;
    if (turns) stream = i % 3 && i < 3 * parts[i % 3] ? i % 3 : 0;
    k->at[i].dim = build_const(&c->b, stream);
  }
  return k;
}

/* Each column of the table at the position that its stream has. */
static Node *angles_of_streams(OnnxCall *c, const Node *x, Node *table) {
  Build *b = &c->b;
  Node *at = onnx_in(c, 1);
  (void)x;
  infer_rank(&b->in, &at->type, 3, 3);
  infer_rank(&b->in, &table->type, 2, 2);
  Dim columns = table->type.shape[1];
  if (!dim_is(at->type.shape[0], 3) || !dim_is_int(columns))
    onnx_lack(c, "positions that are not three streams, or a table of open columns");
  Node *stream = onnx_constant(c, streams_of_columns(c, columns->value));
  at = build_permute(b, build_to(b, at, DT_I64), (uint32_t[]){1, 2, 0});
  Arg by_stream[] = {arg_node(at), build_int(b, 2), arg_node(stream)};
  at = build(b, OP_aten_index_select_default, 3, by_stream);
  Arg list = arg_list(b->in.g, 2);
  list.items[0] = arg_node(at);
  list.items[1] = arg_node(build_arange(b, columns));
  table = build_with(b, OP_aten_index_Tensor, table, list);
  double scale = onnx_float(c, "scale", 1);
  if (scale != 1) table = build_with(b, OP_aten_mul_Tensor, table, arg_float(scale));
  return build_unsqueeze(b, table, 1);
}

void onnx_op_rotary_streams(OnnxCall *c) { rotate_positions(c, angles_of_streams); }
