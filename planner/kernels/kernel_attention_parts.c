/* One kernel of all gradients of attention, by parts of the keys.
 *
 * On a CPU a tile of scores has a row for each row of the query, so that no operand is turned for
 * a tile.  A program has the gradients of its keys in registers, and adds to its own gradient of
 * the query in memory: five products for each tile, where two kernels do seven. */
#include "planner/kernels/kernel_attention_grad.h"
#include "planner/kernels/kernel_product.h"

static void call_rows(AttentionWriter *w, const char *from, const char *to, bool edge) {
  Kernel *k = w->k;
  kernel_line(k,
              "dk, acc = %s_rows(%s, key, value, scaled, tl.trans(m), batch, %s, part, %s, %s, dk, "
              "acc, %s, BD, BE, %s, END)",
              KERNEL_NAME, kernel_parameters(k), w->head ? "head" : "0", from, to,
              attention_block(w), edge ? "True" : "False");
}

/* The pointers to the program's gradient of the query. */
static const char *part_pointers(AttentionWriter *w, Node *parts, Dim row, Dim column) {
  enum { RANK = 5, ROWS = 2, HEADS = 3 };
  Kernel *k = w->k;
  Dim at[RANK];
  attention_query_index(k->graph, &w->x, k->group->index[0], w->head, row, column, at + 1);
  at[0] = attention_bind(w, "part", parts->type.shape[0], "part", AXIS_B);
  if (!w->x.heads_first) {
    Dim head = at[ROWS];
    at[ROWS] = at[HEADS];
    at[HEADS] = head;
  }
  unsigned axes = 0;
  Dim offset = linear_of_index(k->graph->dims, at, parts->type.shape, RANK);
  const char *index = kernel_index(k, offset, &axes);
  return arena_printf(k->arena, "%s + %s", kernel_buffer(k, parts),
                      product_pointers(k, index, axes, "n", "d"));
}

static const char *place_of_part(AttentionWriter *w, const Node *parts) {
  Kernel *k = w->k;
  const char *n = kernel_index(k, parts->type.shape[0], NULL), *wide = kernel_wide(k);
  if (!w->shape->part)
    return arena_printf(k->arena,
                        "    batch = tl.program_id(0)%s\n    part = 0\n    first = 0\n"
                        "    last = %s",
                        wide, w->own);
  return arena_printf(k->arena,
                      "    batch = tl.program_id(0)%s // %s\n    part = tl.program_id(0)%s %% %s\n"
                      "    first = part * %lld\n    last = tl.minimum(first + %lld, %s)",
                      wide, n, wide, n, (long long)w->shape->part, (long long)w->shape->part,
                      w->own);
}

/* Does one tile have all keys that rows see?  Its gradient of the query is the program's. */
static bool has_one_tile(const AttentionWriter *w) {
  const Attention *x = &w->x;
  return dim_is_int(x->keys) && x->keys->value > 0 && x->keys->value <= w->shape->bm && !x->low &&
         !x->high;
}

/* "older + " */
static const char *older_of_part(const AttentionWriter *w, const char *pointers, const char *mask) {
  if (has_one_tile(w)) return "";
  return arena_printf(w->k->arena, "tl.load(%s%s) + ", pointers, attention_masked_by(w->k, mask));
}

/* The statements that make the program's gradient of the query 0, of all heads that it has. */
static const char *zeros_of_part(AttentionWriter *w, const char *pointers, const char *mask) {
  Kernel *k = w->k;
  const char *wide = kernel_wide(k);
  if (has_one_tile(w)) return "";
  k->indent = 4;
  if (w->head) kernel_line(k, "for head in range(0, %s):", kernel_index(k, w->x.sharing, NULL));
  if (w->head) k->indent += 4;
  kernel_line(k, "for start in range(0, %s, BN):", w->walked);
  k->indent += 4;
  kernel_line(k, "n = start%s + tl.arange(0, BN)[:, None]", wide);
  kernel_line(k, "tl.store(%s, tl.zeros([BN, BD], tl.%s), mask=(n < %s)%s)", pointers,
              dtype_lang_name(w->x.wide), w->walked, attention_and_mask(k, mask));
  k->indent = 4;
  return attention_take_body(k);
}

/* The calls for the program's tiles of keys. */
static const char *blocks_of_part(AttentionWriter *w) {
  Kernel *k = w->k;
  const AttentionShape *s = w->shape;
  const char *params = kernel_parameters(k);
  bool ends = attention_within(k, "m", w->x.own_rows, s->bm) != NULL;
  long long whole = s->rest ? (long long)(w->x.keys->value / s->bm * s->bm) : 0;
  const char *last = whole ? arena_printf(k->arena, "tl.minimum(last, %lld)", whole) : "last";
  kernel_line(k, "for start in range(first, %s, BM):", last);
  kernel_line(k, "    %s_keys(%s, batch, part, start, BM, BN, BD, BE, %s)", KERNEL_NAME, params,
              ends && !s->rest ? "True" : "False");
  if (s->rest) {
    kernel_line(k, "if last == %s:", w->own);
    kernel_line(k, "    %s_keys(%s, batch, part, %lld, %lld, BN, BD, BE, True)", KERNEL_NAME,
                params, whole, (long long)s->rest);
  }
  return attention_take_body(k);
}

/* The statement after the loop over rows, and the calls that make it, for the program's tiles. */
static const char *text_of_keys(AttentionWriter *w, Node *keys, Dim d, const AttentionEnds *ends) {
  attention_set_masks(w->k, "mmask", ends->columns ? "emask" : NULL);
  const char *end = attention_grad_results(w, keys, d, ends->width);
  attention_walk_rows(w, call_rows);
  text_puts(&w->k->body, end);
  return attention_take_body(w->k);
}

/* What all parameters are known after. */
typedef struct {
  const char *key, *value, *query, *grad, *sums, *delta, *parts, *mask, *chain, *seed, *keep;
} PartTexts;

static PartTexts texts_of_part(AttentionWriter *w, Node *parts, Dim d) {
  const Attention *x = &w->x;
  Dim s = attention_bind(w, "s", x->rows, "n", AXIS_M);
  return (PartTexts){.mask = attention_mask_text(w),
                     .chain = attention_grad_chain(w),
                     .seed = attention_seed_text(w),
                     .keep = attention_keep_text(w),
                     .key = attention_key_pointers(w, x->key, w->key, d, "m", "d"),
                     .value = attention_key_pointers(w, x->value, w->key, w->column, "m", "e"),
                     .query = attention_query_pointers(w, x->query, s, d, "n", "d"),
                     .grad = attention_query_pointers(w, x->grad, s, w->column, "n", "e"),
                     .sums = attention_row_pointers(w, x->sums, "n", AXIS_N),
                     .delta = attention_row_pointers(w, x->delta, "n", AXIS_N),
                     .parts = part_pointers(w, parts, s, d)};
}

static const char *masked(Kernel *k, const char *condition) {
  return condition ? arena_printf(k->arena, ", mask=%s", condition) : "";
}

void attention_all_gradients(Text *out, AttentionWriter *w, Node *keys) {
  Node *parts = w->parts;
  Kernel *k = w->k;
  const Attention *x = &w->x;
  AttentionEnds ends = attention_ends(w);
  const char *n = w->ragged ? arena_printf(k->arena, "(n < %s)", w->walked) : NULL;
  const char *width = ends.width, *columns = ends.columns, *within = attention_and(k, n, width);
  Dim d = attention_bind(w, "dq", x->width, "d", AXIS_N);
  PartTexts t = texts_of_part(w, parts, d);
  const char *body = text_of_keys(w, keys, d, &ends);
  const char *zeros = zeros_of_part(w, t.parts, width), *blocks = blocks_of_part(w);
  text_puts(&k->body, body);
  Slot slots[] = {
      {"own", w->own},
      {"place", place_of_part(w, parts)},
      {"zeros", zeros}, {"blocks", blocks},
      {"width", kernel_index(k, x->width, NULL)},
      {"columns", kernel_index(k, x->columns, NULL)},
      {"key", t.key}, {"key_mask", attention_and_mask(k, width)},
      {"value", t.value}, {"value_mask", attention_and_mask(k, columns)},
      {"factor", attention_float(k, x->scale)},
      {"query", t.query},
      {"query_mask", attention_masked_by(k, width)},
      {"query_edge", attention_masked_by(k, within)},
      {"parts", t.parts},
      {"older", older_of_part(w, t.parts, width)},
      {"older_edge", older_of_part(w, t.parts, within)},
      {"store_mask", masked(k, width)}, {"store_edge", masked(k, within)},
      {"grad", t.grad},
      {"grad_mask", attention_masked_by(k, columns)},
      {"grad_edge", attention_masked_by(k, attention_and(k, n, columns))},
      {"sums", t.sums}, {"sums_edge", attention_masked_sums(k, n)},
      {"delta", t.delta}, {"delta_edge", attention_masked_by(k, n)},
      {"loop", attention_loop(w)},
      {"scale", attention_scale_text(w)},
      {"share", attention_share_of_scores(w)}, {"kept_share", attention_kept_share(w)},
      {"mask", t.mask}, {"hide", attention_hide(w)},
      {"chain", t.chain},
      {"wide", dtype_lang_name(x->wide)},
      {"seed", t.seed}, {"keep", t.keep}, {"kept", attention_kept_line(w)},
      {"precision", attention_precision(w)}};
  kernel_emit(out, k, "attention_grad_parts.py", slots, sizeof slots / sizeof *slots);
}
