/* Kernels of attention's gradients: one of the query, which walks keys as the attention does, and
 * one of keys and values, which walks rows.  Both compute the shares of keys again, from scores and
 * the sums that the attention left; or that of keys keeps gradients of scores, which another kernel
 * of the query's gradient multiplies by keys. */
#include <string.h>

#include "graph/ops/attention_blocks.h"
#include "planner/kernels/kernel_attention_grad.h"
#include "planner/kernels/kernel_product.h"

AttentionEnds attention_ends(AttentionWriter *w) {
  Kernel *k = w->k;
  AttentionEnds ends = {attention_within(k, "d", w->x.width, w->shape->bd),
               attention_within(k, "e", w->x.columns, w->shape->be), .n = NULL};
  if (w->ragged) {
    ends.n = arena_printf(k->arena, "(n < %s)", w->walked);
    ends.s = arena_printf(k->arena, "(s < %s)", w->walked);
    if (w->x.block_rows) ends.inner_n = ends.n, ends.inner_s = ends.s;
  }
  return ends;
}

const char *attention_row_pointers(AttentionWriter *w, Node *operand, const char *row,
                                   unsigned axis) {
  Kernel *k = w->k;
  ConcatSource p = {.operand = operand};
  attention_query_index(k->graph, &w->x, k->group->index[0], w->head, w->row, NULL, p.index);
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  unsigned axes = 0;
  const char *index =
      kernel_index(k, linear_of_index(k->graph->dims, p.index, t->shape, t->rank), &axes);
  const char *zero = axes & axis ? "" : arena_printf(k->arena, " + %s * 0", row);
  return arena_printf(k->arena, "%s + %s%s", kernel_buffer(k, p.operand), index, zero);
}

const char *attention_and_mask(Kernel *k, const char *condition) {
  return condition ? arena_printf(k->arena, " & %s", condition) : "";
}

const char *attention_kept_line(AttentionWriter *w) {
  if (!w->x.seed) return "";
  return arena_printf(w->k->arena, "        dp = tl.where(keep, dp * %.17g, 0.0)\n",
                      attention_growth(w));
}

const char *attention_precision(const AttentionWriter *w) {
  return product_precision(w->k->graph, w->x.query->type.dtype, ROUNDS_AS_PRODUCT);
}

const char *attention_grad_chain(AttentionWriter *w) {
  const char *text = attention_chain_text(w);
  w->k->memo.len = 0;
  return text;
}

/* ---- of the query ---- */

static void call_keys(AttentionWriter *w, const char *from, const char *to, bool edge) {
  Kernel *k = w->k;
  kernel_line(k,
              "acc = %s_keys(%s, query, grad, sums, delta, m, batch, %s%s, %s, %sacc, %s, BD, BE, "
              "%s)",
              KERNEL_NAME, kernel_parameters(k), attention_table(w), from, to,
              attention_bounds_of_call(w, edge), attention_block(w), edge ? "True" : "False");
}

/* The statement that stores gradients of a tile of scores. */
static const char *store_scores(AttentionWriter *w, Node *n) {
  Kernel *k = w->k;
  if (!n) return "";
  Dim at[4];
  attention_query_index(k->graph, &w->x, k->group->index[0], NULL, w->row, w->key, at);
  unsigned axes = 0;
  Dim offset = linear_of_index(k->graph->dims, at, n->type.shape, n->type.rank);
  const char *index = kernel_index(k, offset, &axes);
  index = product_pointers(k, index, axes, "m", "n");
  return arena_printf(k->arena, "        tl.store(%s + %s, %s, mask=(m < %s) & (n < %s))\n",
                      kernel_buffer(k, n), index,
                      kernel_cast(k, (Value){"ds", w->x.wide}, n->type.dtype), w->own, w->walked);
}

/* All keys, at edges all of them. */
static void walk_at_once(AttentionWriter *w) {
  w->whole = w->walked;
  w->edge = w->walked;
  call_keys(w, "0", w->walked, true);
}

/* All parameters of the kernel are known now.  Gradients of scores are 0 where no key is seen. */
static void walk_keys(AttentionWriter *w, const Node *scores) {
  attention_find_tables(w);
  if (w->x.block_rows) attention_walk_blocks(w, call_keys);
  else if (scores) walk_at_once(w);
  else if (w->x.high || w->x.low) attention_walk_seen(w, call_keys);
  else attention_walk_all(w, call_keys);
}

static void kernel_of_query(Text *out, AttentionWriter *w, Node *scores) {
  Kernel *k = w->k;
  const Attention *x = &w->x;
  AttentionEnds ends = attention_ends(w);
  Dim d = attention_bind(w, "dq", x->width, "d", AXIS_N);
  Dim e = attention_bind(w, "eg", x->columns, "e", AXIS_N);
  Dim s = attention_bind(w, "s", x->keys, "s", AXIS_M);
  const char *mask = attention_mask_text(w), *read = attention_read_text(w);
  const char *chain = attention_grad_chain(w);
  Slot slots[] = {
      {"own", w->own},
      {"width", kernel_index(k, x->width, NULL)},
      {"place", attention_place(w)},
      {"own_cut", attention_own_cut(w)},
      {"walked_cut", attention_walked_cut(w)},
      {"query", attention_query_pointers(w, x->query, w->row, d, "m", "d")},
      {"query_mask", attention_and_mask(k, ends.width)},
      {"grad", attention_query_pointers(w, x->grad, w->row, e, "m", "e")},
      {"grad_mask", attention_and_mask(k, ends.columns)},
      {"sums", attention_row_pointers(w, x->sums, "m", AXIS_M)},
      {"delta", attention_row_pointers(w, x->delta, "m", AXIS_M)},
      {"key", attention_key_pointers(w, x->key, s, d, "s", "d")},
      {"loop", attention_loop(w)},
      {"table", x->block_rows ? "table, " : ""},
      {"read", read},
      {"chain", chain},
      {"key_mask", attention_masked_by(k, attention_and(k, ends.inner_s, ends.width))},
      {"key_edge", attention_masked_by(k, attention_and(k, ends.s, ends.width))},
      {"value", attention_key_pointers(w, x->value, s, e, "s", "e")},
      {"value_mask", attention_masked_by(k, attention_and(k, ends.inner_s, ends.columns))},
      {"value_edge", attention_masked_by(k, attention_and(k, ends.s, ends.columns))},
      {"scale", attention_scale_text(w)},
      {"share", attention_share_of(w, attention_exp(w), "scores - sums")},
      {"unit", w->added ? "" : " * 1.4426950408889634"},
      {"mask", mask},
      {"hide", attention_hide(w)},
      {"bounds", attention_bounds(w)},
      {"wide", dtype_lang_name(x->wide)},
      {"seed", attention_seed_text(w)},
      {"keep", attention_keep_text(w)},
      {"kept", attention_kept_line(w)},
      {"store", store_scores(w, scores)},
      {"precision", attention_precision(w)}};
  attention_set_masks(k, "mmask", ends.width ? "dmask" : NULL);
  kernel_line(k, "acc = acc * %s", attention_float(k, x->scale));
  product_epilogue(k);
  const char *end = attention_take_body(k);
  walk_keys(w, scores);
  text_puts(&k->body, end);
  kernel_emit(out, k, "attention_grad_query.py", slots, sizeof slots / sizeof *slots);
}

/* ---- kept gradients of scores ----
 *
 * A CPU's are in blocks of rows, in which a tile's keys follow each other: a page of memory has 32
 * keys of a block, and rows one after the other would have a key in each of their pages. */

static Dim kept_rows(const Kernel *k, const Node *kept) {
  if (!k->graph->host) return kept->type.shape[3];
  Dims *d = k->graph->dims;
  return dim_mul(d, kept->type.shape[2], dim_int(d, ATTENTION_KEPT_ROWS));
}

/* The place of a key and a row. */
static Dim kept_offset(const AttentionWriter *w, const Node *kept, Dim key, Dim row) {
  Graph *g = w->k->graph;
  Dims *d = g->dims;
  Dim at[4], block = dim_int(d, ATTENTION_KEPT_ROWS);
  attention_query_index(g, &w->x, w->k->group->index[0], w->head, key, row, at);
  if (g->host) {
    at[2] = dim_floordiv(d, row, block);
    at[3] = dim_add(d, dim_mul(d, key, block), dim_mod(d, row, block));
  }
  return linear_of_index(d, at, kept->type.shape, kept->type.rank);
}

static const char *kept_pointers(AttentionWriter *w, Node *kept, Dim key, Dim row) {
  Kernel *k = w->k;
  unsigned axes = 0;
  const char *index = kernel_index(k, kept_offset(w, kept, key, row), &axes);
  index = product_pointers(k, index, axes, "s", "r");
  return arena_printf(k->arena, "%s + %s", kernel_buffer(k, kept), index);
}

/* ---- of the query, by kept gradients of scores ---- */

static void call_kept(AttentionWriter *w, const char *from, const char *to, bool edge) {
  Kernel *k = w->k;
  kernel_line(k, "acc = %s_keys(%s, m, r, batch, %s%s, %s, %sacc, BN, BD)", KERNEL_NAME,
              kernel_parameters(k), attention_table(w), from, to,
              attention_bounds_of_call(w, edge));
}

/* Gradients that are kept are there as far as rows of a tile see keys. */
static void walk_kept(AttentionWriter *w) {
  Kernel *k = w->k;
  attention_find_tables(w);
  if (w->x.block_rows) {
    attention_walk_blocks(w, call_kept);
    return;
  }
  kernel_line(k, "last = %s", w->walked);
  if (w->x.high) kernel_line(k, "last = tl.minimum(last, start + BM)");
  call_kept(w, "0", "last", true);
}

static void kernel_by_kept(Text *out, AttentionWriter *w) {
  Kernel *k = w->k;
  const Attention *x = &w->x;
  AttentionEnds ends = attention_ends(w);
  Dim d = attention_bind(w, "dq", x->width, "d", AXIS_N);
  Dim s = attention_bind(w, "s", x->keys, "s", AXIS_M);
  Dim r = attention_bind(w, "r", x->rows, "r", AXIS_N);
  const char *rows = attention_within(k, "r", kept_rows(k, x->kept), w->shape->bm);
  Slot slots[] = {
      {"order", k->graph->host ? "p" : "(p // 32 * 32 + p // 2 % 4 * 8 + p // 8 % 4 * 2 + p % 2)"},
      {"own", w->own},
      {"width", kernel_index(k, x->width, NULL)},
      {"place", attention_place(w)},
      {"key", attention_key_pointers(w, x->key, s, d, "s", "d")},
      {"key_mask", attention_masked_by(k, attention_and(k, ends.s, ends.width))},
      {"kept", kept_pointers(w, x->kept, s, r)},
      {"kept_mask", attention_masked_by(k, attention_and(k, ends.s, rows))},
      {"loop", attention_loop(w)},
      {"table", x->block_rows ? "table, " : ""},
      {"bounds", attention_bounds(w)},
      {"wide", dtype_lang_name(x->wide)},
      {"precision", attention_precision(w)}};
  attention_set_masks(k, "mmask", ends.width ? "dmask" : NULL);
  kernel_line(k, "acc = acc * %s", attention_float(k, x->scale));
  product_epilogue(k);
  const char *end = attention_take_body(k);
  walk_kept(w);
  text_puts(&k->body, end);
  kernel_emit(out, k, "attention_grad_kept.py", slots, sizeof slots / sizeof *slots);
}

/* ---- of keys and values ---- */

static void call_rows(AttentionWriter *w, const char *from, const char *to, bool edge) {
  Kernel *k = w->k;
  kernel_line(k,
              "dk, acc = %s_rows(%s, key, value, m, batch, %s, %s%s, %s, %sdk, acc, %s, BD, BE, "
              "%s)",
              KERNEL_NAME, kernel_parameters(k), w->head ? "head" : "0", attention_table(w), from,
              to, attention_bounds_of_call(w, edge), attention_block(w), edge ? "True" : "False");
}

/* Rows from first to last, as far as they see keys of the block; from begin to end all see all.
 * Kept elements are there for whole tiles of their reader. */
static void find_rows(AttentionWriter *w) {
  Kernel *k = w->k;
  Dim zero = dim_int(k->graph->dims, 0);
  kernel_line(k, "first = 0");
  kernel_line(k, "begin = 0");
  kernel_line(k, "last = %s", w->walked);
  kernel_line(k, "end = %s", w->walked);
  if (w->x.high) {
    const char *first = attention_offset_by(k, "start", dim_sub(k->graph->dims, zero, w->x.high));
    bool keeps = attention_part(k, OP_nereid_attention_grad_kept_default) != NULL;
    const char *tile = keeps ? arena_printf(k->arena, "%d", ATTENTION_KEPT_TILE) : "BN";
    kernel_line(k, "first = tl.maximum(%s, 0) // %s * %s", first, tile, tile);
    kernel_line(k, "begin = tl.cdiv(tl.maximum(%s + BM - 1, 0), BN) * BN", first);
  }
  if (w->x.low) {
    const char *end = attention_offset_by(k, "start", dim_sub(k->graph->dims, zero, w->x.low));
    kernel_line(k, "last = tl.minimum(last, %s + BM)", end);
    kernel_line(k, "end = tl.minimum(end, %s + 1)", end);
  }
  kernel_line(k, "begin = tl.minimum(begin, last)");
  kernel_line(k, "end = tl.maximum(tl.minimum(end, last) // BN * BN, begin)");
}

static void walk_rows(AttentionWriter *w, AttentionCall *call) {
  Kernel *k = w->k;
  bool limits = w->x.high || w->x.low;
  if (limits) find_rows(w);
  if (w->head) {
    kernel_line(k, "for head in range(0, %s):", kernel_index(k, w->x.sharing, NULL));
    k->indent += 4;
  }
  if (w->x.block_rows) {
    attention_walk_blocks(w, call);
  } else if (limits && w->shape->one_loop) {
    w->whole = "begin";
    w->edge = "end";
    call(w, "first", "last", true);
  } else if (limits) {
    if (w->x.high) call(w, "first", "begin", true);
    call(w, "begin", "end", false);
    if (w->x.low || w->ragged) call(w, "end", "last", true);
  } else {
    attention_walk_all(w, call);
  }
  k->indent = 4;
}

static Value grad_key_value(const AttentionWriter *w) {
  return (Value){arena_printf(w->k->arena, "(dk * %.17g)", w->x.scale), w->x.wide};
}

/* Slices that the kernel writes take the gradient from the index that it has in that of values. */
static void remember_grad_key(AttentionWriter *w, Node *n) {
  Dim index[GRAPH_RANK_MAX];
  group_index(w->k->f, w->k->group, n, index);
  kernel_remember(w->k, n, index, grad_key_value(w));
}

static void store_grad_key(AttentionWriter *w, Node *n, Dim column, const char *width) {
  Kernel *k = w->k;
  Dim at[4];
  attention_result_index(k->graph, &w->x, NULL, k->group->index[0], w->key, column, at);
  unsigned axes = 0;
  Dim offset = linear_of_index(k->graph->dims, at, n->type.shape, n->type.rank);
  const char *index = kernel_index(k, offset, &axes);
  index = product_pointers(k, index, axes, "m", "d");
  kernel_line(k, "tl.store(%s + %s, %s, mask=%s)", kernel_buffer(k, n), index,
              kernel_cast(k, grad_key_value(w), n->type.dtype), width ? "mmask & dmask" : "mmask");
}

/* The statements that keep gradients of a tile of scores, in a thread's order. */
static const char *keep_scores(AttentionWriter *w, Node *n) {
  Kernel *k = w->k;
  if (!n) return "";
  unsigned axes = 0;
  const char *index = kernel_index(k, kept_offset(w, n, w->key, w->row), &axes);
  index = product_pointers(k, index, axes, "m", "n");
  const char *keys = attention_within(k, "m", w->x.own_rows, w->shape->bm);
  const char *end = kernel_index(k, kept_rows(k, n), NULL);
  const char *rows = w->ragged ? arena_printf(k->arena, "(n < %s)", end) : NULL;
  const char *inside = attention_and(k, keys, rows);
  if (k->graph->host)
    return arena_printf(k->arena, "        tl.store(%s + %s, ds%s%s)\n", kernel_buffer(k, n), index,
                        inside ? ", mask=" : "", inside ? inside : "");
  return arena_printf(k->arena,
                      "        kept = tl.reshape(%s, [m.shape[0], BN // 32, 4, 4, 2])\n"
                      "        kept = tl.reshape(tl.permute(kept, [0, 1, 3, 2, 4]), scores.shape)\n"
                      "        tl.store(%s + %s, kept%s%s)\n",
                      kernel_cast(k, (Value){"ds", w->x.wide}, n->type.dtype),
                      kernel_buffer(k, n), index, inside ? ", mask=" : "", inside ? inside : "");
}

const char *attention_masked_sums(Kernel *k, const char *within) {
  return within ? arena_printf(k->arena, ", mask=%s, other=float(\"inf\")", within) : "";
}

const char *attention_kept_share(const AttentionWriter *w) {
  if (!w->x.seed) return "p";
  return arena_printf(w->k->arena, "tl.where(keep, p * %.17g, 0.0)", attention_growth(w));
}

/* Stores what the kernel has computed; `keys`: the gradient of keys, or NULL. */
static void store_results(AttentionWriter *w, Node *keys, Dim column, const char *width) {
  bool stored = keys && w->k->f->stored[keys->id];
  if (keys) remember_grad_key(w, keys);
  product_epilogue(w->k);
  if (stored) store_grad_key(w, keys, column, width);
}

/* The products after scores and their gradients. */
typedef struct {
  const char *first, *last; /* before the gradient of scores, after it */
} KeyProducts;

static KeyProducts products_of_keys(const AttentionWriter *w) {
  Arena *a = w->k->arena;
  const char *share = attention_kept_share(w), *precision = attention_precision(w);
  return (KeyProducts){
    arena_printf(a, "        acc = tl.dot(%s.to(grad.dtype), grad, acc%s)\n", share, precision),
    arena_printf(a, "        dk = tl.dot(ds.to(query.dtype), query, dk%s)\n", precision)};
}

/* The gradient of the query is added to memory while the other products run.  A thread's numbers of
 * 16 rows and eight columns are four neighbors there, so that memory adds vectors of whole lines:
 * whoever reads them knows the order (attention_added_order). */
static KeyProducts products_of_all(AttentionWriter *w, const Node *added) {
  Kernel *k = w->k;
  Dim at[4], zero = dim_int(k->graph->dims, 0);
  Dim first = attention_bind(w, "first", w->x.rows, "start", AXIS_B);
  Node *memory = added->args[0].node;
  attention_query_index(k->graph, &w->x, k->group->index[0], w->head, first, zero, at);
  Dim offset = linear_of_index(k->graph->dims, at, memory->type.shape, memory->type.rank);
  long long columns = (long long)w->x.width->value;
  const char *precision = attention_precision(w);
  return (KeyProducts){
    "",
    arena_printf(
      k->arena,
      "        ds = ds.to(query.dtype)\n"
      "        share = %s.to(grad.dtype)\n"
      "        dq = tl.dot(tl.trans(ds), key%s)\n"
      "        acc = tl.dot(share, grad, acc%s)\n"
      "        dk = tl.dot(ds, query, dk%s)\n"
      "        i = tl.arange(0, BN)[:, None]\n"
      "        place = i // 16 * %lld + d // 8 * 128 + i %% 8 * 16\n"
      "        place += d %% 8 // 2 * 4 + i // 8 %% 2 * 2 + d %% 2\n"
      "        tl.atomic_add(%s + (%s) + place, dq, sem=\"relaxed\")\n",
      attention_kept_share(w), precision, precision, precision, 16 * columns,
      kernel_buffer(k, memory), kernel_index(k, offset, NULL))};
}

const char *attention_share_of_scores(AttentionWriter *w) {
  const char *least = w->added ? "scores - sums" : "scores - sums * 1.4426950408889634";
  return attention_share_of(w, attention_exp(w), least);
}

const char *attention_grad_results(AttentionWriter *w, Node *keys, Dim d, const char *width) {
  store_results(w, keys, d, width);
  return attention_take_body(w->k);
}

void attention_walk_rows(AttentionWriter *w, AttentionCall *call) {
  attention_find_tables(w);
  walk_rows(w, call);
}

static void kernel_of_keys(Text *out, AttentionWriter *w, Node *keys, Node *kept) {
  Kernel *k = w->k;
  const Attention *x = &w->x;
  AttentionEnds ends = attention_ends(w);
  Dim d = attention_bind(w, "dq", x->width, "d", AXIS_N);
  Dim s = attention_bind(w, "s", x->rows, "s", AXIS_M);
  const char *mask = attention_mask_text(w), *chain = attention_grad_chain(w);
  Node *added = attention_part(k, OP_nereid_attention_grad_added_default);
  KeyProducts products = added ? products_of_all(w, added) : products_of_keys(w);
  Slot slots[] = {
      {"first", products.first}, {"last", products.last},
      {"own", w->own},
      {"place", attention_place(w)},
      {"own_cut", attention_own_cut(w)}, {"walked_cut", attention_walked_cut(w)},
      {"width", kernel_index(k, x->width, NULL)},
      {"columns", kernel_index(k, x->columns, NULL)},
      {"key", attention_key_pointers(w, x->key, w->key, d, "m", "d")},
      {"key_mask", attention_and_mask(k, ends.width)},
      {"value", attention_key_pointers(w, x->value, w->key, w->column, "m", "e")},
      {"value_mask", attention_and_mask(k, ends.columns)},
      {"query", attention_query_pointers(w, x->query, s, d, "s", "d")},
      {"loop", attention_loop(w)},
      {"table", x->block_rows ? "table, " : ""},
      {"chain", chain},
      {"query_mask", attention_masked_by(k, attention_and(k, ends.inner_s, ends.width))},
      {"query_edge", attention_masked_by(k, attention_and(k, ends.s, ends.width))},
      {"grad", attention_query_pointers(w, x->grad, s, w->column, "s", "e")},
      {"grad_mask", attention_masked_by(k, attention_and(k, ends.inner_s, ends.columns))},
      {"grad_edge", attention_masked_by(k, attention_and(k, ends.s, ends.columns))},
      {"sums", attention_row_pointers(w, x->sums, "n", AXIS_N)},
      {"sums_mask", attention_masked_sums(k, ends.inner_n)},
      {"sums_edge", attention_masked_sums(k, ends.n)},
      {"delta", attention_row_pointers(w, x->delta, "n", AXIS_N)},
      {"delta_mask", attention_masked_by(k, ends.inner_n)},
      {"delta_edge", attention_masked_by(k, ends.n)},
      {"scale", attention_scale_text(w)},
      {"share", attention_share_of_scores(w)},
      {"mask", mask},
      {"hide", attention_hide(w)},
      {"bounds", attention_bounds(w)},
      {"wide", dtype_lang_name(x->wide)},
      {"seed", attention_seed_text(w)},
      {"keep", attention_keep_text(w)},
      {"kept", attention_kept_line(w)},
      {"store", keep_scores(w, kept)},
      {"precision", attention_precision(w)}};
  attention_set_masks(k, "mmask", ends.columns ? "emask" : NULL);
  const char *end = attention_grad_results(w, keys, d, ends.width);
  attention_walk_rows(w, call_rows);
  text_puts(&k->body, end);
  kernel_emit(out, k, "attention_grad_value.py", slots, sizeof slots / sizeof *slots);
}

void attention_gradients_apart(Text *out, AttentionWriter *w) {
  if (w->x.kept) kernel_by_kept(out, w);
  else if (w->x.kind == ATTENTION_GRAD_QUERY)
    kernel_of_query(out, w, attention_part(w->k, OP_nereid_attention_grad_scores_default));
  else
    kernel_of_keys(out, w, attention_part(w->k, OP_nereid_attention_grad_key_default),
                   attention_part(w->k, OP_nereid_attention_grad_kept_default));
}
