/* Kernels of GROUP_ATTENTION: one nereid.attention, with the pointwise nodes after it computed on
 * its tiles.  Operands are read through views, whatever their strides; a mask that has no buffer is
 * computed where it is needed. */
#include "planner/kernels/kernel_attention.h"

#include <math.h>
#include <string.h>

#include "graph/ops/attention_blocks.h"
#include "planner/kernels/kernel_product.h"

/* ---- small pieces of text ---- */

const char *attention_float(Kernel *k, double v) { return arena_printf(k->arena, "%.17g", v); }

const char *attention_and(Kernel *k, const char *a, const char *b) {
  return a && b ? arena_printf(k->arena, "%s & %s", a, b) : a ? a : b;
}

const char *attention_masked_by(Kernel *k, const char *condition) {
  return condition ? arena_printf(k->arena, ", mask=%s, other=0.0", condition) : "";
}

const char *attention_within(Kernel *k, const char *index, Dim size, int64_t block) {
  bool whole = dim_divisible(size, block) && (dim_is_int(size) ? size->value >= block : true);
  if (whole) return NULL;
  return arena_printf(k->arena, "(%s < %s)", index, kernel_index(k, size, NULL));
}

const char *attention_offset_by(Kernel *k, const char *base, Dim by) {
  if (dim_is(by, 0)) return base;
  return arena_printf(k->arena, "%s + (%s)", base, kernel_index(k, by, NULL));
}

/* Without a mask that is added, scores are in units of log 2: they need a factor anyway. */
const char *attention_scale_text(const AttentionWriter *w) {
  return attention_float(w->k, w->added ? w->x.scale : w->x.scale * M_LOG2E);
}

const char *attention_exp(const AttentionWriter *w) { return w->added ? "tl.exp" : "tl.exp2"; }

/* ---- operands ---- */

static const char *pointers_at(AttentionWriter *w, Node *operand, const Dim *index,
                               const char *first, const char *second) {
  ConcatSource p = {.operand = operand};
  memcpy(p.index, index, operand->type.rank * sizeof *index);
  return kernel_access(w->k, &p, first, second).pointers;
}

const char *attention_query_pointers(AttentionWriter *w, Node *operand, Dim row, Dim column,
                                     const char *first, const char *second) {
  Dim index[4];
  attention_query_index(w->k->graph, &w->x, w->k->group->index[0], w->head, row, column, index);
  return pointers_at(w, operand, index, first, second);
}

const char *attention_key_pointers(AttentionWriter *w, Node *operand, Dim row, Dim column,
                                   const char *first, const char *second) {
  Dim index[4];
  attention_key_index(w->k->graph, &w->x, w->k->group->index[0], row, column, index);
  return pointers_at(w, operand, index, first, second);
}

Dim attention_bind(AttentionWriter *w, const char *name, Dim size, const char *text,
                   unsigned axis) {
  Dim symbol = dim_shared_index(w->k->graph->dims, name, size);
  kernel_bind(w->k, symbol, text, axis);
  return symbol;
}

static void bind_axes(AttentionWriter *w) {
  Kernel *k = w->k;
  const Group *g = k->group;
  Dim walked = attention_bind(w, "n", w->x.walked, "n", AXIS_N);
  bool of_values = w->x.kind == ATTENTION_GRAD_VALUE;
  w->row = of_values ? walked : g->index[1];
  w->key = of_values ? g->index[1] : walked;
  w->column = g->index[2];
  kernel_bind(k, g->index[0], "batch", AXIS_B);
  kernel_bind(k, g->index[1], "m", AXIS_M);
  if (w->x.kind == ATTENTION_GRAD_QUERY) k->column = "d";
  kernel_bind(k, w->column, k->column ? k->column : "e", AXIS_N);
  const char *share = arena_printf(k->arena, "tl.program_id(1)%s", kernel_wide(k));
  if (w->x.splits > 1) kernel_bind(k, g->element[0], share, AXIS_B);
  if (!of_values || w->x.heads == w->x.key_heads) return;
  w->head = attention_bind(w, "head", w->x.sharing, "head", AXIS_B);
}

void attention_set_masks(Kernel *k, const char *rows, const char *columns) {
  const char *both = attention_and(k, rows, columns);
  const char *masks[] = {NULL, rows, columns, both};
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = masks[axes & 3];
}

const char *attention_take_body(Kernel *k) {
  const char *text = k->body.data;
  k->body = text_new(k->arena);
  return text ? text : "";
}

/* ---- the mask ---- */

static bool cuts(int64_t block) { return block && !attention_tiles_divide(block); }

/* Has each tile BM rows that are there?  What a row reads at a distance needs no mask then, and is
 * loaded once for rows that are neighbors. */
static bool rows_are_whole(const AttentionWriter *w) {
  const Attention *x = &w->x;
  bool blocks = !x->own_block || (dim_divisible(x->own_rows, x->own_block) && !cuts(x->own_block));
  return blocks && !attention_within(w->k, "m", x->own_rows, w->shape->bm);
}

/* Products of gradients take scores out of range, too: shares of 0, but not what is no number. */
static void begin_scores(AttentionWriter *w) {
  Kernel *k = w->k;
  k->fills = w->x.kind != ATTENTION_FORWARD;
  attention_set_masks(k, rows_are_whole(w) ? NULL : "mmask", w->ragged ? "nmask" : NULL);
  k->indent = w->indent;
  kernel_line(k, "mmask = m < %s", w->own);
  if (w->ragged) kernel_line(k, "nmask = n < %s", w->walked);
}

static const char *end_scores(AttentionWriter *w) {
  w->k->indent = 4;
  w->k->fills = false;
  return attention_take_body(w->k);
}

/* Are masked blocks and whole ones of tables in one loop? */
static bool tables_in_one_loop(const AttentionWriter *w) {
  return w->shape->one_loop && w->x.counts[0] && w->x.counts[1];
}

/* The mask of rows and keys that memory has, as a function of both: its tile has a row for each row
 * of the query, so that memory gives vectors of keys, and is turned then. */
static void print_turned_mask(AttentionWriter *w) {
  Kernel *k = w->k;
  const char *before = attention_take_body(k);
  size_t known = k->memo.len;
  int indent = k->indent;
  k->indent = 4;
  kernel_line(k, "mmask = m < %s", w->own);
  if (w->ragged) kernel_line(k, "nmask = n < %s", w->walked);
  Value v = attention_value_of_scores(w, w->x.mask);
  bool added = w->x.mask->type.dtype != DT_I1;
  if (added) kernel_line(k, "return %s", kernel_cast(k, v, w->x.wide));
  else kernel_line(k, "return tl.where(%s, 1.0, 0.0)", v.text);
  w->turned_mask = attention_take_body(k);
  k->memo.len = known;
  k->indent = indent;
  text_puts(&k->body, before);
  if (added) kernel_line(k, "scores = scores + mask");
  else kernel_line(k, "scores = tl.where(mask != 0.0, scores, float(\"-inf\"))");
}

/* Blocks at an EDGE have a mask, in one loop the first ones. */
static void print_mask(AttentionWriter *w) {
  Kernel *k = w->k;
  if (w->shape->turned && attention_loads_table(w, w->x.mask)) {
    print_turned_mask(w);
    return;
  }
  if (tables_in_one_loop(w)) kernel_line(k, "if i < edge:");
  else if (w->x.block_rows) kernel_line(k, "if EDGE:");
  if (w->x.block_rows) k->indent += 4;
  Value v = attention_value_of_scores(w, w->x.mask);
  bool added = w->x.mask->type.dtype != DT_I1;
  const char *text = added ? kernel_cast(k, v, w->x.wide) : v.text;
  if (added) kernel_line(k, "scores = scores + %s", text);
  else kernel_line(k, "scores = tl.where(%s, scores, float(\"-inf\"))", text);
}

const char *attention_mask_text(AttentionWriter *w) {
  Kernel *k = w->k;
  bool cut = w->x.block_rows && w->ragged;
  if (!w->x.mask && !w->x.scores && !w->raw && !cut) return "";
  begin_scores(w);
  if (w->raw) kernel_line(k, "raw = scores");
  if (w->x.scores) kernel_line(k, "scores = %s", attention_text_of_scores(w, w->x.scores));
  if (w->bounded && w->below > 0)
    kernel_line(k, "scores = scores * %.17g - %.17g", w->later, w->below);
  else if (w->bounded) kernel_line(k, "scores = scores * %.17g", w->later);
  size_t known = k->memo.len;
  if (cut && w->shape->one_loop) kernel_line(k, "if start + BN > %s:", w->walked);
  if (cut)
    kernel_line(k, "%sscores = tl.where(nmask, scores, float(\"-inf\"))",
                w->shape->one_loop ? "    " : "");
  if (w->x.mask) print_mask(w);
  k->memo.len = known; /* the chain uses them again, but not what an EDGE has alone */
  return end_scores(w);
}

const char *attention_chain_text(AttentionWriter *w) {
  Kernel *k = w->k;
  if (!w->x.chain) return "";
  begin_scores(w);
  Value v = attention_value_of_scores(w, w->x.chain);
  kernel_line(k, "ds = tl.where(p != 0.0, %s, 0.0)", kernel_cast(k, v, w->x.wide));
  return end_scores(w);
}

/* Adds up, along the axes that an index does not depend on, what goes to one element; the others by
 * atomics.  Scores that nobody sees add nothing. */
static void add_read(AttentionWriter *w, Node *n) {
  enum { INDEX = 2, SOURCE = 3, ROWS = 2 };
  Kernel *k = w->k;
  Node *at = n->args[INDEX].node;
  Value v = attention_value_of_scores(w, n->args[SOURCE].node);
  Value index = attention_value_of_scores(w, at);
  uint32_t rank = at->type.rank;
  bool each_row = rank >= ROWS && !dim_is(at->type.shape[rank - ROWS], 1);
  bool each_key = rank && !dim_is(at->type.shape[rank - 1], 1);
  const char *place = kernel_fresh(k, "place"), *more = kernel_fresh(k, "more");
  kernel_line(k, "%s = tl.where((m < %s) & (n < %s), %s, 0.0)", more, w->own, w->walked,
              kernel_cast(k, v, n->type.dtype));
  if (!each_key) kernel_line(k, "%s = tl.sum(%s, 1, keep_dims=True)", more, more);
  if (!each_row) kernel_line(k, "%s = tl.sum(%s, 0, keep_dims=True)", more, more);
  kernel_line(k, "%s = tl.broadcast_to(%s, %s.shape)", place, kernel_cast(k, index, DT_I64), more);
  const char *size = kernel_index(k, n->type.shape[0], NULL);
  kernel_line(k,
              "tl.atomic_add(%s + %s, %s, mask=(%s != 0.0) & (%s >= 0) & (%s < %s), "
              "sem=\"relaxed\")",
              kernel_buffer(k, n->args[0].node), place, more, more, place, place, size);
}

const char *attention_read_text(AttentionWriter *w) {
  const Group *g = w->k->group;
  if (!attention_part(w->k, OP_nereid_attention_grad_read_default)) return "";
  begin_scores(w);
  for (size_t i = 0; i < g->nodes.len; i++)
    if (graph_is(g->nodes.data[i], OP_nereid_attention_grad_read_default))
      add_read(w, g->nodes.data[i]);
  return end_scores(w);
}

/* ---- dropout ---- */

const char *attention_seed_text(AttentionWriter *w) {
  Kernel *k = w->k;
  if (!w->x.seed) return "";
  Dim at[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < GRAPH_RANK_MAX; i++) at[i] = dim_int(k->graph->dims, 0);
  ConcatSource p = {.operand = w->x.seed};
  memcpy(p.index, at, sizeof at);
  product_source(k, &p);
  Dim offset =
      linear_of_index(k->graph->dims, p.index, p.operand->type.shape, p.operand->type.rank);
  return arena_printf(k->arena, "    seed = tl.load(%s + %s)\n", kernel_buffer(k, p.operand),
                      kernel_index(k, offset, NULL));
}

double attention_growth(const AttentionWriter *w) {
  return w->x.dropout < 1 ? 1 / (1 - w->x.dropout) : 0;
}

/* The row of a score within its head. */
static const char *row_in_head(AttentionWriter *w) {
  if (w->x.kind == ATTENTION_GRAD_VALUE) return "n";
  if (!w->x.packed) return "m";
  return dim_is(w->x.rows, 1) ? "(m * 0)" : arena_printf(w->k->arena, "(m %% %s)", w->rows);
}

/* Philox gives four numbers: those of a row and four keys.  The counter has these keys, the row,
 * and which matrix of scores it is.  A tile has whole fours of keys: its blocks begin at multiples
 * of 16. */
const char *attention_keep_text(AttentionWriter *w) {
  enum { BITS = 24 };
  Kernel *k = w->k;
  Dims *d = k->graph->dims;
  bool of_values = w->x.kind == ATTENTION_GRAD_VALUE, turned = of_values && !w->parts;
  if (!w->x.seed) return "";
  Dim at[4];
  attention_query_index(k->graph, &w->x, k->group->index[0], w->head, w->row, w->key, at);
  Dim matrix = dim_add(d, dim_mul(d, at[0], w->x.heads), at[1]);
  const char *number = kernel_index(k, matrix, NULL);
  if (!dim_is_int(matrix)) number = arena_printf(k->arena, "(%s).to(tl.uint32)", number);
  long long least = (long long)ceil(w->x.dropout * (1 << BITS));
  Text t = text_new(k->arena);
  if (turned)
    text_puts(&t, "        fours = tl.min(tl.reshape(m, [m.shape[0] // 4, 4]), 1)[:, None] // 4\n");
  else if (of_values)
    text_puts(&t, "        fours = tl.min(tl.reshape(m, [m.shape[1] // 4, 4]), 1)[None, :] // 4\n");
  else text_puts(&t, "        fours = start // 4 + tl.arange(0, BN // 4)[None, :]\n");
  text_printf(&t,
              "        b0, b1, b2, b3 = tl.philox(seed, fours.to(tl.uint32), "
              "%s.to(tl.uint32), %s, 0)\n",
              row_in_head(w), number);
  for (int i = 0; i < 4; i++)
    text_printf(&t, "        b%d = (b%d >> %d) >= %lld\n", i, i, 32 - BITS, least);
  text_printf(&t, "        keep = tl.join(tl.join(b0, b2), tl.join(b1, b3))%s\n",
              turned ? ".permute(0, 2, 3, 1)" : "");
  text_puts(&t, "        keep = tl.reshape(keep, scores.shape)\n");
  return t.data;
}

/* ---- which keys ---- */

/* The number of tiles of a block. */
static const char *tiles_of(AttentionWriter *w, int64_t block, const char *tile) {
  const char *form = cuts(block) ? "tl.cdiv(%lld, %s)" : "(%lld // %s)";
  return arena_printf(w->k->arena, form, (long long)block, tile);
}

const char *attention_place(AttentionWriter *w) {
  const Attention *x = &w->x;
  Arena *a = w->k->arena;
  const char *results = w->results, *tiles = tiles_of(w, x->own_block, "BM");
  bool high = x->high || x->block_rows, last_first = high && x->kind != ATTENTION_GRAD_VALUE;
  bool cut = cuts(x->own_block);
  long long turns = (long long)w->shape->turns;
  const char *wide = kernel_wide(w->k);
  Text t = text_new(a);
  if (cut)
    text_printf(&t, "    blocks = tl.cdiv(%s, %lld) * %s\n", w->own, (long long)x->own_block,
                tiles);
  else text_printf(&t, "    blocks = tl.cdiv(%s, BM)\n", w->own);
  const char *block = "tl.program_id(0) % blocks";
  long long alike = (long long)attention_table_batches(w);
  if (alike > 1) {
    text_printf(&t, "    place = tl.program_id(0)%s // %lld\n", wide, alike);
    text_printf(&t, "    batch = tl.program_id(0) %% %lld * %s + place // blocks\n", alike,
                kernel_operand(w->k, x->own_heads));
    block = "place % blocks";
  } else if (turns == 1) {
    text_printf(&t, "    batch = tl.program_id(0)%s // blocks\n", wide);
  } else if (dim_is_int(x->batches) && x->batches->value <= turns) {
    text_printf(&t, "    batch = tl.program_id(0)%s %% %s\n", wide, results);
    block = arena_printf(a, "tl.program_id(0) // %s", results);
  } else {
    text_printf(&t, "    batch = tl.program_id(0)%s // (blocks * %lld) * %lld\n", wide, turns,
                turns);
    text_printf(&t, "    turns = tl.minimum(%s - batch, %lld)\n", results, turns);
    text_printf(&t, "    place = tl.program_id(0) %% (blocks * %lld)\n", turns);
    text_puts(&t, "    batch = batch + place % turns\n");
    block = "place // turns";
  }
  block = arena_printf(a, last_first ? "(blocks - 1 - %s)" : "(%s)", block);
  if (cut)
    text_printf(&t,
                "    block = %s\n    begin = block // %s * %lld\n"
                "    start = begin + block %% %s * BM",
                block, tiles, (long long)x->own_block, tiles);
  else text_printf(&t, "    start = %s * BM", block);
  if (*wide) text_puts(&t, "\n    start = start.to(tl.int64)");
  return t.data;
}

const char *attention_own_cut(AttentionWriter *w) {
  if (!cuts(w->x.own_block)) return "";
  return arena_printf(w->k->arena, "    m = tl.where(m < begin + %lld, m, %s)",
                      (long long)w->x.own_block, w->own);
}

const char *attention_walked_cut(AttentionWriter *w) {
  if (!cuts(w->x.walked_block)) return "";
  return arena_printf(w->k->arena,
                      "        n = tl.where(n < begin + %lld, n, %s)\n"
                      "        s = tl.where(s < begin + %lld, s, %s)",
                      (long long)w->x.walked_block, w->walked, (long long)w->x.walked_block,
                      w->walked);
}

/* The statement that finds block `i` of both tables. */
static const char *start_in_tables(AttentionWriter *w, long long size) {
  const char *at = "tl.where(i < edge, table + i, full_table + (i - edge))", *rest = "";
  if (size != w->shape->bn) {
    at = arena_printf(w->k->arena,
                      "tl.where(i < edge, table + i // (%lld // BN), "
                      "full_table + (i - edge) // (%lld // BN))",
                      size, size);
    rest = arena_printf(w->k->arena, " + i %% (%lld // BN) * BN", size);
  }
  return arena_printf(w->k->arena,
                      "    for i in range(first, last):\n"
                      "        start = tl.load(%s) * %lld%s",
                      at, size, rest);
}

/* The statements that find where a block begins. */
static const char *find_start(AttentionWriter *w) {
  const Attention *x = &w->x;
  long long size = (long long)x->walked_block;
  if (!size && *kernel_wide(w->k))
    return "    for at in range(first, last, BN):\n        start = at";
  if (!size) return "    for start in range(first, last, BN):";
  if (tables_in_one_loop(w)) return start_in_tables(w, size);
  if (size == w->shape->bn)
    return arena_printf(w->k->arena,
                        "    for i in range(first, last):\n"
                        "        start = tl.load(table + i) * %lld",
                        size);
  const char *tiles = tiles_of(w, size, "BN");
  if (cuts(size))
    return arena_printf(w->k->arena,
                        "    for i in range(first, last):\n"
                        "        begin = tl.load(table + i // %s) * %lld\n"
                        "        start = begin + i %% %s * BN",
                        tiles, size, tiles);
  return arena_printf(w->k->arena,
                      "    for i in range(first, last):\n"
                      "        start = tl.load(table + i // (%lld // BN)) * %lld + "
                      "i %% (%lld // BN) * BN",
                      size, size, size);
}

/* The loop over blocks of n, which begin at `start`. */
const char *attention_loop(AttentionWriter *w) {
  const char *start = find_start(w);
  if (!*kernel_wide(w->k)) return start;
  return arena_printf(w->k->arena, "%s\n        start = start.to(tl.int64)", start);
}

const char *attention_edge(AttentionWriter *w) {
  Kernel *k = w->k;
  bool of_values = w->x.kind == ATTENTION_GRAD_VALUE;
  const char *row = row_in_head(w), *key = of_values ? "m" : "n";
  const char *text = w->ragged ? arena_printf(k->arena, "(n < %s)", w->walked) : NULL;
  if (w->x.high) {
    const char *high = attention_offset_by(k, row, w->x.high);
    text = attention_and(k, text, arena_printf(k->arena, "(%s <= %s)", key, high));
  }
  if (w->x.low) {
    const char *low = attention_offset_by(k, row, w->x.low);
    text = attention_and(k, text, arena_printf(k->arena, "(%s >= %s)", key, low));
  }
  return text ? text : "n >= 0";
}

const char *attention_hide(AttentionWriter *w) {
  const char *seen = attention_edge(w);
  const char *when = "if EDGE:";
  if (w->shape->one_loop && w->x.block_rows) return "";
  if (w->shape->one_loop)
    when = "if EDGE:\n            if (start < whole) | (start >= edge):";
  return arena_printf(w->k->arena,
                      "%*s%s\n%s%*sscores = tl.where(%s, scores, float(\"-inf\"))\n", w->indent,
                      "", when, w->shape->one_loop ? "    " : "", w->indent + 4, "", seen);
}

const char *attention_bounds(const AttentionWriter *w) {
  if (!w->x.block_rows) return w->shape->one_loop ? "whole, edge, " : "";
  return tables_in_one_loop(w) ? "full_table, edge, " : "";
}

const char *attention_bounds_of_call(const AttentionWriter *w, bool edge) {
  bool tables = w->x.block_rows > 0;
  if (tables ? !tables_in_one_loop(w) : !w->shape->one_loop) return "";
  return edge ? arena_printf(w->k->arena, "%s, %s, ", w->whole, w->edge) : "0, 0, ";
}

/* Blocks of BN keys, or of `keys`, in which case there is one. */
static void call_blocks(AttentionWriter *w, const char *from, const char *to, const char *keys,
                        bool edge) {
  Kernel *k = w->k;
  kernel_line(k,
              "most, total, acc = %s_keys(%s, query, m, batch, %s%s, %s, %smost, total, acc, %s, "
              "BD, BE, %s)",
              KERNEL_NAME, kernel_parameters(k), attention_table(w), from, to,
              attention_bounds_of_call(w, edge), keys, edge ? "True" : "False");
}

static void call_keys(AttentionWriter *w, const char *from, const char *to, bool edge) {
  call_blocks(w, from, to, "BN", edge);
}

/* Whole blocks, and the rest as a block of its own size: nothing is masked, but in words what is
 * behind the last key of a block of tiles. */
static void walk_exactly(AttentionWriter *w) {
  enum { KEYS_OF_TILES = 32 };
  long long keys = (long long)w->x.walked->value, whole = keys - keys % w->shape->bn;
  const char *from = arena_printf(w->k->arena, "%lld", whole);
  if (whole) call_keys(w, "0", from, false);
  if (whole == keys) return;
  long long rest = keys - whole, most = rest;
  if (w->shape->words) most = (rest + KEYS_OF_TILES - 1) / KEYS_OF_TILES * KEYS_OF_TILES;
  call_blocks(w, from, w->walked, arena_printf(w->k->arena, "%lld", most), most > rest);
}

/* The pointer to the entry of a table for the program's rows or keys: its first, of several. */
static const char *table_pointer(AttentionWriter *w, Node *table) {
  Kernel *k = w->k;
  Dims *d = k->graph->dims;
  long long size = (long long)w->x.own_block;
  ConcatSource p = {.operand = table};
  Dim at[4];
  attention_query_index(k->graph, &w->x, k->group->index[0], w->head, w->row, w->key, at);
  const ValueType *t = &table->type;
  for (uint32_t i = 0; i < t->rank; i++) p.index[i] = dim_int(d, 0);
  for (uint32_t i = 0; i < 2; i++)
    if (!dim_is(t->shape[i], 1)) p.index[i] = at[i];
  if (!dim_is(t->shape[2], 1) && !w->x.packed) {
    const char *block = arena_printf(k->arena, "(start // %lld)", size);
    p.index[2] = attention_bind(w, "block", t->shape[2], block, AXIS_B);
  }
  product_source(k, &p);
  const ValueType *from = &p.operand->type;
  Dim offset = linear_of_index(d, p.index, from->shape, from->rank);
  return arena_printf(k->arena, "%s + (%s)", kernel_buffer(k, p.operand),
                      kernel_index(k, offset, NULL));
}

/* The program's share of `last` blocks. */
static void walk_share(Kernel *k, long long splits) {
  kernel_line(k, "first = tl.program_id(1) * last // %lld", splits);
  kernel_line(k, "last = (tl.program_id(1) + 1) * last // %lld", splits);
}

/* Masked blocks, and then whole ones. */
static void walk_both_tables(AttentionWriter *w, AttentionCall *call, const char *tiles) {
  Kernel *k = w->k;
  const char *counts[2];
  for (int i = 0; i < 2; i++) counts[i] = table_pointer(w, w->x.counts[i]);
  kernel_line(k, "edge = tl.load(%s) * %s", counts[0], tiles);
  kernel_line(k, "last = edge + tl.load(%s) * %s", counts[1], tiles);
  if (w->x.splits > 1) walk_share(k, (long long)w->x.splits);
  w->table = table_pointer(w, w->x.indices[0]);
  w->whole = table_pointer(w, w->x.indices[1]);
  w->edge = "edge";
  call(w, w->x.splits > 1 ? "first" : "0", "last", true);
}

void attention_walk_blocks(AttentionWriter *w, AttentionCall *call) {
  Kernel *k = w->k;
  const char *tiles = tiles_of(w, w->x.walked_block, "BN");
  if (tables_in_one_loop(w)) {
    walk_both_tables(w, call, tiles);
    return;
  }
  for (int i = 0; i < 2; i++) {
    if (!w->x.counts[i]) continue;
    const char *count = table_pointer(w, w->x.counts[i]);
    w->table = table_pointer(w, w->x.indices[i]);
    kernel_line(k, "last = tl.load(%s) * %s", count, tiles);
    if (w->x.splits > 1) walk_share(k, (long long)w->x.splits);
    call(w, w->x.splits > 1 ? "first" : "0", "last", i == 0);
  }
}

void attention_find_tables(AttentionWriter *w) {
  for (int i = 0; i < 2; i++) {
    if (!w->x.counts[i]) continue;
    table_pointer(w, w->x.counts[i]);
    table_pointer(w, w->x.indices[i]);
  }
}

const char *attention_table(const AttentionWriter *w) {
  return w->x.block_rows ? arena_printf(w->k->arena, "%s, ", w->table) : "";
}

const char *attention_block(const AttentionWriter *w) {
  return w->rest ? arena_printf(w->k->arena, "%lld", (long long)w->rest) : "BN";
}

/* On a CPU the last block of gradients has as many of n as fill the vectors that they need, or the
 * blocks of registers where they are no lanes. */
static int64_t size_of_rest(const AttentionWriter *w) {
  enum { LANES = 16, ROWS = 4 };
  if (!w->k->graph->host || !dim_is_int(w->x.walked) || w->x.kind == ATTENTION_FORWARD) return 0;
  int64_t rest = w->x.walked->value % w->shape->bn, each = w->parts ? ROWS : LANES;
  if (w->shape->words) each *= 2; /* of both halves */
  rest = (rest + each - 1) / each * each;
  return rest < w->shape->bn ? rest : 0;
}

void attention_walk_all(AttentionWriter *w, AttentionCall *call) {
  Kernel *k = w->k;
  const char *whole = arena_printf(k->arena, "%s // BN * BN", kernel_operand(k, w->x.walked));
  if (dim_is_int(w->x.walked)) {
    int64_t n = w->x.walked->value / w->shape->bn * w->shape->bn;
    whole = n ? arena_printf(k->arena, "%lld", (long long)n) : NULL;
  }
  if (!w->ragged) whole = w->walked;
  if (w->shape->one_loop && w->ragged) {
    w->whole = "0";
    w->edge = whole ? whole : "0";
    call(w, "0", w->walked, true);
    return;
  }
  if (whole) call(w, "0", whole, false);
  w->rest = size_of_rest(w);
  if (w->ragged) call(w, whole ? whole : "0", w->walked, true);
  w->rest = 0;
}

/* Few rows look for the keys that they see first: a step of decoding has a mask whose keys after
 * the position are all hidden, and to read it takes a hundredth of the time of keys and values. */
static bool finds_seen(const AttentionWriter *w) {
  enum { ROWS = 16, KEYS = 256 };
  const Attention *x = &w->x;
  return x->kind == ATTENTION_FORWARD && x->mask && !x->block_rows && !x->low && !x->high &&
         dim_is_int(x->own_rows) && x->own_rows->value <= ROWS &&
         !(dim_is_int(x->keys) && x->keys->value < KEYS);
}

/* The statements that find the first key that a row sees, and the one after the last. */
static const char *seen_text(AttentionWriter *w) {
  enum { OF_ROW = 2048, OF_ROWS = 256 };
  Kernel *k = w->k;
  const ValueType *t = &w->x.mask->type;
  bool one = t->rank < 2 || dim_is(t->shape[t->rank - 2], 1);
  if (w->x.packed && t->rank > 2) one = one && dim_is(t->shape[t->rank - 3], 1);
  const char *own = one ? "" : " & mmask";
  int64_t most = one ? OF_ROW : OF_ROWS, keys = most;
  if (dim_is_int(w->x.keys)) keys = power_of_2(w->x.keys->value, 1);
  long long width = (long long)(keys < most ? keys : most);
  kernel_line(k, "seen_first = %s", w->walked);
  kernel_line(k, dim_is_int(w->x.keys) ? "seen_last = 0" : "seen_last = seen_first * 0");
  kernel_line(k, "for start in range(0, %s, %lld):", w->walked, width);
  k->indent += 4;
  kernel_line(k, "n = start + tl.arange(0, %lld)[None, :]", width);
  kernel_line(k, "nmask = n < %s", w->walked);
  attention_set_masks(k, "mmask", "nmask");
  Value v = attention_value_of_scores(w, w->x.mask);
  bool added = w->x.mask->type.dtype != DT_I1;
  const char *seen = added ? arena_printf(k->arena, "(%s != float(\"-inf\"))", v.text) : v.text;
  kernel_line(k, "seen = %s & nmask%s", seen, own);
  kernel_line(k, "seen_last = tl.maximum(seen_last, tl.max(tl.where(seen, n + 1, 0)))");
  kernel_line(k, "seen_first = tl.minimum(seen_first, tl.min(tl.where(seen, n, %s)))", w->walked);
  k->indent -= 4;
  k->memo.len = 0;
  return attention_take_body(k);
}

/* The first row of the block in its head, and how many follow it: of packed rows any may. */
static const char *first_row(const AttentionWriter *w) { return w->x.packed ? "0" : "start"; }

static const char *rows_of_block(const AttentionWriter *w) { return w->x.packed ? w->rows : "BM"; }

/* Walks keys from first to last, as far as rows of the block see them; from begin to end all rows
 * see all.  first is a multiple of BN. */
void attention_walk_seen(AttentionWriter *w, AttentionCall *call) {
  Kernel *k = w->k;
  kernel_line(k, w->seen ? "first = seen_first // BN * BN" : "first = 0");
  if (w->seen) kernel_line(k, "last = tl.minimum(tl.cdiv(seen_last, BN) * BN, %s)", w->walked);
  else kernel_line(k, "last = %s", w->walked);
  if (w->seen) kernel_line(k, "last = tl.maximum(last, first)");
  if (w->x.splits > 1) {
    long long n = (long long)w->x.splits;
    kernel_line(k, "share = tl.cdiv(tl.cdiv(%s, BN), %lld) * BN",
                w->seen ? "last - first" : w->walked, n);
    kernel_line(k, "first = %stl.program_id(1) * share", w->seen ? "first + " : "");
    kernel_line(k, "last = tl.minimum(first + share, %s)", w->seen ? "last" : w->walked);
    if (w->seen) kernel_line(k, "last = tl.maximum(last, first)");
  }
  if (w->x.low) {
    const char *low = attention_offset_by(k, first_row(w), w->x.low), *more = rows_of_block(w);
    kernel_line(k, "begin = tl.cdiv(tl.maximum(%s + %s - 1, first), BN) * BN", low, more);
    kernel_line(k, "first = tl.maximum(first, (%s) // BN * BN)", low);
  }
  if (w->x.high) {
    const char *high = attention_offset_by(k, first_row(w), w->x.high);
    kernel_line(k, "end = (%s + 1) // BN * BN", high);
    kernel_line(k, "last = tl.minimum(last, %s + %s)", high, rows_of_block(w));
  }
  kernel_line(k, w->x.low ? "begin = tl.minimum(begin, last)" : "begin = first");
  kernel_line(k, "end = tl.maximum(%s, begin)",
              w->x.high ? "tl.minimum(end, last // BN * BN)" : "last // BN * BN");
  if (w->shape->one_loop) {
    w->whole = "begin";
    w->edge = "end";
    call(w, "first", "last", true);
    return;
  }
  if (w->x.low) call(w, "first", "begin", true);
  call(w, "begin", "end", false);
  if (w->x.high || w->ragged) call(w, "end", "last", true);
}

/* ---- results ---- */

/* A share's result, followed by the logarithm of its sum. */
static void store_share(AttentionWriter *w) {
  Kernel *k = w->k;
  Node *n = k->group->nodes.data[0];
  Dim index[GRAPH_RANK_MAX];
  memcpy(index, k->group->element, n->type.rank * sizeof *index);
  kernel_store(k, n, (Value){"acc", w->x.wide});
  index[4] = w->x.columns;
  Dim at = linear_of_index(k->graph->dims, index, n->type.shape, n->type.rank);
  const char *log = w->added ? "most + tl.log(sum)" : "(most + tl.log2(sum)) * 0.6931471805599453";
  kernel_line(k, "log = tl.where(total == 0.0, float(\"-inf\"), %s)", log);
  const char *to = kernel_buffer(k, n), *column = kernel_index(k, at, NULL);
  /* On a GPU as a column of a tile: a column alone has a layout of its own, to which all that it is
   * made of goes through shared memory. */
  if (k->graph->host)
    kernel_line(k, "tl.store(%s + %s + m * 0, log[:, None], mask=mmask)", to, column);
  else
    kernel_line(k,
                "tl.store(%s + %s + m * 0 + e, tl.where(e < 1, log[:, None], acc), "
                "mask=mmask & (e < 1))",
                to, column);
}

Node *attention_part(const Kernel *k, OpId op) {
  for (size_t i = 0; i < k->group->nodes.len; i++)
    if (graph_is(k->group->nodes.data[i], op)) return k->group->nodes.data[i];
  return NULL;
}

/* Stores `log`, a number for each row. */
static void store_log(AttentionWriter *w, Node *n) {
  Kernel *k = w->k;
  Dim at[4];
  attention_query_index(k->graph, &w->x, k->group->index[0], NULL, w->row, NULL, at);
  Dim offset = linear_of_index(k->graph->dims, at, n->type.shape, n->type.rank);
  kernel_line(k, "tl.store(%s + %s + m * 0, log[:, None], mask=mmask)", kernel_buffer(k, n),
              kernel_index(k, offset, NULL));
}

/* The logarithm of a row's sum; infinity where that is 0. */
static void store_sums(AttentionWriter *w, Node *n) {
  Kernel *k = w->k;
  const char *log =
      w->added ? "most + tl.log(total)" : "(most + tl.log2(total)) * 0.6931471805599453";
  if (w->may_see_nothing)
    log = arena_printf(k->arena, "tl.where(total == 0.0, float(\"inf\"), %s)", log);
  kernel_line(k, "log = %s", log);
  store_log(w, n);
}

/* The largest of a row's scores. */
static void store_most(AttentionWriter *w, Node *n) {
  kernel_line(w->k, "log = %s", w->added ? "most" : "most * 0.6931471805599453");
  store_log(w, n);
}

/* Rows of a turned tile are columns up to here. */
static void turn_rows(AttentionWriter *w) {
  kernel_line(w->k, "m = start + tl.arange(0, BM)[:, None]");
  const char *cut = attention_own_cut(w);
  if (*cut) kernel_line(w->k, "%s", cut + strspn(cut, " "));
  kernel_line(w->k, "mmask = m < %s", w->own);
}

/* The statements after the loop over keys. */
static const char *print_epilogue(AttentionWriter *w) {
  Kernel *k = w->k;
  Node *sums = attention_part(k, OP_nereid_attention_sums_default);
  Node *most = attention_part(k, OP_nereid_attention_most_default);
  if (w->shape->turned) turn_rows(w);
  if (sums) store_sums(w, sums);
  if (most) store_most(w, most);
  if (w->may_see_nothing) kernel_line(k, "sum = tl.where(total == 0.0, 1.0, total)");
  const char *sum = w->may_see_nothing ? "sum" : "total";
  if (w->shape->words) kernel_line(k, "acc = acc.to(tl.float32, bitcast=True)");
  if (w->shape->turned) {
    kernel_line(k, "acc = tl.trans(acc * (1.0 / %s)[None, :])", sum);
    kernel_line(k, "e = tl.arange(0, BE)[None, :]");
    kernel_line(k, "emask = e < %s", kernel_index(k, w->x.columns, NULL));
  } else {
    kernel_line(k, "acc = acc * (1.0 / %s)[:, None]", sum);
  }
  if (w->x.seed) kernel_line(k, "acc = acc * %.17g", attention_growth(w));
  if (w->x.splits > 1) store_share(w);
  else product_epilogue(w->k);
  return attention_take_body(k);
}

/* The function of a turned mask, and the statement that calls it; "": there is none. */
static const char *mask_function(const AttentionWriter *w) {
  if (!w->turned_mask) return "";
  return arena_printf(w->k->arena, "@triton.jit\ndef %s_mask(%s, m, n, batch):\n%s\n\n",
                      KERNEL_NAME, kernel_parameters(w->k), w->turned_mask);
}

static const char *mask_tile(const AttentionWriter *w) {
  if (!w->turned_mask) return "";
  return arena_printf(w->k->arena,
                      "%*smask = tl.trans(%s_mask(%s, tl.trans(m), tl.trans(n), batch))\n",
                      w->indent, "", KERNEL_NAME, kernel_parameters(w->k));
}

/* ---- the kernel ---- */

/* A block of a table is walked whole, also where it begins within the keys and ends after them. */
static int64_t walked_at_once(const Attention *x, const AttentionShape *shape) {
  return x->walked_block ? x->walked_block : shape->bn;
}

static bool walks_exactly(const AttentionWriter *w) {
  const Attention *x = &w->x;
  bool all = !x->block_rows && !x->high && !x->low && x->splits == 1 && !finds_seen(w);
  return w->shape->turned && all && dim_is_int(x->walked);
}

AttentionWriter attention_writer_new(Kernel *k, const AttentionShape *shape) {
  AttentionWriter w = {.k = k, .x = attention_of(k->graph, k->group->nodes.data[0])};
  w.shape = shape;
  w.parts = attention_part(k, OP_nereid_attention_grad_parts_default);
  w.indent = shape->words ? 4 : 8;
  w.own = kernel_index(k, w.x.own_rows, NULL);
  w.rows = kernel_operand(k, w.x.rows);
  w.walked = kernel_index(k, w.x.walked, NULL);
  if (shape->turns > 1) w.results = kernel_operand(k, w.x.batches);
  w.raw = w.x.chain || attention_part(k, OP_nereid_attention_grad_read_default);
  attention_fold_factors(&w);
  attention_bound_scores(&w, attention_part(k, OP_nereid_attention_most_default) != NULL);
  bool scores = w.x.scores && !w.later;
  w.added = scores || w.x.chain || (w.x.mask && w.x.mask->type.dtype != DT_I1);
  w.exact = walks_exactly(&w);
  w.ragged = (!w.exact || shape->words) &&
             (attention_within(k, "n", w.x.walked, walked_at_once(&w.x, shape)) != NULL ||
              cuts(w.x.walked_block));
  bool some = attention_limits_leave(k->graph->dims, w.x.low, w.x.high, w.x.rows, w.x.keys);
  w.may_see_nothing = w.x.mask || w.x.scores || w.x.block_rows || w.x.splits > 1 || !some;
  bind_axes(&w);
  return w;
}

void attention_reserve_names(Kernel *k) {
  static const char *const names[] = {
      "query", "key",    "value",   "scores",     "most",     "total", "older", "higher", "shift",
      "p",     "start",  "first",   "last",       "begin",    "end",   "share", "sum",    "log",
      "batch", "blocks", "highest", "whole",      "edge",     "d",     "e",     "s",      "mmask",
      "nmask", "emask",  "BM",      "BN",         "BD",       "BE",    "EDGE",  "grad",   "sums",
      "delta", "seed",   "bits",    "keep",       "kept",     "dp",    "ds",    "dk",     "dmask",
      "head",  "b0",     "b1",      "b2",         "b3",       "raw",   "table", "i",      "block",
      "place", "turns",  "seen",    "seen_first", "seen_last", "full_table", "factor", "base",
      "r",     "order", "at",      "mask",     "lower",      "upper",    "words", "even",
      "lower_value", "upper_value", "part", "dq", "scaled", "END", "q", "dt", "next_query",
      "next_grad", "p_next", "q_next", "ds_next", "dt_next", "keys"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

/* All parameters are known by now, and those who walk pass them on. */
static void print_walk(AttentionWriter *w) {
  const Attention *x = &w->x;
  if (finds_seen(w)) w->seen = seen_text(w);
  if (w->seen) text_puts(&w->k->body, w->seen);
  if (x->block_rows) attention_walk_blocks(w, call_keys);
  else if (x->high || x->low || x->splits > 1 || w->seen) attention_walk_seen(w, call_keys);
  else if (w->exact) walk_exactly(w);
  else attention_walk_all(w, call_keys);
}

/* Below a lower limit, rows see nothing of the block's first keys. */
static const char *attention_shift(const AttentionWriter *w) {
  return w->may_see_nothing || w->x.low ? "tl.where(higher == float(\"-inf\"), 0.0, higher)"
                                        : "higher";
}

/* The maximum that shares are relative to: on a GPU it grows by factors of 2^8 and more, so that
 * warps scale few sums (decision 466). */
static const char *higher_text(const AttentionWriter *w) {
  bool exact = w->k->graph->host || attention_part(w->k, OP_nereid_attention_most_default);
  if (exact) return "tl.maximum(most, highest)";
  return arena_printf(w->k->arena, "tl.where(highest - most > %s, highest, most)",
                      w->added ? "5.545" : "8.0");
}

/* The columns of values, of which a turned tile's sums have none. */
static const char *columns_text(const AttentionWriter *w) {
  if (w->shape->turned) return "";
  return arena_printf(w->k->arena, "    e = tl.arange(0, BE)[None, :]\n    emask = e < %s",
                      kernel_index(w->k, w->x.columns, NULL));
}

/* The statements that find what shares are relative to. */
static const char *find_highest(const AttentionWriter *w, const char *scale_later) {
  if (w->bounded) return "";
  const char *name = KERNEL_NAME;
  int keys = !w->shape->turned;
  if (w->shape->words)
    return arena_printf(w->k->arena,
                        "        highest = %s_larger(tl.reduce(lower, %d, %s_larger),\n"
                        "                           tl.reduce(upper, %d, %s_larger))%s\n"
                        "        higher = %s_larger(most, highest)\n"
                        "        shift = %s\n",
                        name, keys, name, keys, name, scale_later, name, attention_shift(w));
  return arena_printf(w->k->arena,
                      "        highest = tl.max(scores, %d)%s\n"
                      "        higher = %s\n"
                      "        shift = %s\n",
                      !w->shape->turned, scale_later, higher_text(w), attention_shift(w));
}

/* Few rows wait for keys and values that memory has: they are asked for ahead. */
static const char *policy_text(const AttentionWriter *w) {
  return w->shape->streams ? ", eviction_policy=\"evict_first\"" : "";
}

static const char *shrunk_text(const AttentionWriter *w) {
  if (!w->shrunk) return "";
  return arena_printf(w->k->arena,
                      "    query = (query.to(tl.float32) * %.17g).to(query.dtype)\n",
                      ldexp(1, -w->shrunk));
}

/* A positive scale keeps the order of scores: it goes into the exponential's argument. */
static const char *scale_factor(const AttentionWriter *w, bool in_exponential) {
  bool later = !w->added && w->x.scale > 0;
  if (w->later > 0)
    return arena_printf(w->k->arena, " * %.17g", in_exponential ? w->later : w->x.scale);
  if (later != in_exponential) return "";
  return arena_printf(w->k->arena, " * %s", attention_scale_text(w));
}

/* The condition that a key is one; NULL: all are.  A box of a tensor never begins before it, which
 * of a block in a table only the mask says. */
static const char *end_of_keys(const AttentionWriter *w, const char *key) {
  Arena *a = w->k->arena;
  if (w->x.block_rows && w->shape->one_loop)
    return arena_printf(a, "(%s >= 0) & (%s < %s)", key, key, w->walked);
  return w->ragged ? arena_printf(a, "(%s < %s)", key, w->walked) : NULL;
}

/* ---- keys and values ---- */

/* An operand whose tile a step of the loop has. */
typedef struct {
  const char *name;
  Node *operand;
  Dim row, column; /* of its index */
  bool keys_first; /* rows of the tile are keys, not columns */
  const char *first, *second; /* the axes of the tile */
  const char *key_ends, *ends; /* the conditions that a key, and the other index, are within the
                                * operand; NULL: always */
} KeyTile;

static bool is_computed(const AttentionWriter *w, const KeyTile *t) {
  const Node *n = t->operand;
  while (prim_is_view(n)) n = view_operand(n);
  return !kernel_loads(w->k, n) &&
         attention_unpacks(w->k->graph, w->k->group->nodes.data[0], t->operand);
}

/* Turned tiles are of the sums' dtype: a CPU multiplies these, and would widen others for each
 * product. */
static const char *widening(const AttentionWriter *w) {
  bool widens = w->shape->turned && w->x.query->type.dtype != w->x.wide;
  return widens ? arena_printf(w->k->arena, ".to(tl.%s)", dtype_lang_name(w->x.wide)) : "";
}

static void load_tiles(AttentionWriter *w, Text *out, const KeyTile *tiles, bool edge) {
  for (int i = 0; i < 2; i++) {
    const KeyTile *t = &tiles[i];
    if (is_computed(w, t)) continue;
    const char *at = attention_key_pointers(w, t->operand, t->row, t->column, t->first, t->second);
    bool any = edge || w->x.block_rows > 0; /* any block of a table may be the last */
    const char *mask = attention_and(w->k, any ? t->key_ends : NULL, t->ends);
    text_printf(out, "\n            %s = tl.load(%s%s%s)%s", t->name, at,
                attention_masked_by(w->k, mask), policy_text(w), widening(w));
  }
}

/* The tile is computed in registers.  Elements that are none are 0, whatever is made of 0. */
static void compute_tile(AttentionWriter *w, const KeyTile *t) {
  Kernel *k = w->k;
  Dim index[4];
  attention_key_index(k->graph, &w->x, k->group->index[0], t->row, t->column, index);
  if (t->keys_first) attention_set_masks(k, t->key_ends, t->ends);
  else attention_set_masks(k, t->ends, t->key_ends);
  k->fills = true;
  Value v = kernel_value(k, t->operand, index);
  k->fills = false;
  const char *text = kernel_cast(k, v, t->operand->type.dtype);
  const char *within = attention_and(k, t->key_ends, t->ends);
  if (within) kernel_line(k, "%s = tl.where(%s, %s, 0.0)", t->name, within, text);
  else kernel_line(k, "%s = %s", t->name, text);
  k->memo.len = 0;
}

static const char *key_tiles(AttentionWriter *w, const KeyTile *tiles) {
  Kernel *k = w->k;
  Text t = text_new(k->arena);
  bool computed[] = {is_computed(w, &tiles[0]), is_computed(w, &tiles[1])};
  if (!computed[0] || !computed[1]) {
    text_puts(&t, "        if EDGE:");
    load_tiles(w, &t, tiles, true);
    text_puts(&t, "\n        else:");
    load_tiles(w, &t, tiles, false);
  }
  k->indent = 8;
  for (int i = 0; i < 2; i++)
    if (computed[i]) compute_tile(w, &tiles[i]);
  k->indent = 4;
  const char *body = attention_take_body(k);
  size_t size = strlen(body);
  const char *next = computed[0] && computed[1] ? "" : "\n";
  if (size) text_printf(&t, "%s%.*s", next, (int)size - 1, body); /* the slot's line ends itself */
  return t.data;
}

/* Scores have a query a row, or a column where they are turned (AttentionShape). */
typedef struct {
  const char *down, *across, *keys, *query_by_key, *shares_by_value, *sums;
} ScoreOrder;

static const ScoreOrder score_orders[] = {
    {"[:, None]", "[None, :]", "1", "query, key", "p.to(value.dtype), value", "BM, BE"},
    {"[None, :]", "[:, None]", "0", "key, query", "tl.trans(value), p.to(value.dtype)", "BE, BM"}};

enum { SLOTS_MOST = 48 };

/* Adds the slots of maxima and shares after the last one; the result: how many there are then. */
static size_t add_softmax_slots(AttentionWriter *w, Slot slots[SLOTS_MOST]) {
  const Kernel *k = w->k;
  const char *scale = scale_factor(w, true);
  bool bounded = w->bounded;
  Slot own[] = {
      {"scaled", scale_factor(w, false)},
      {"highest", find_highest(w, scale)},
      {"least", bounded ? attention_float(w->k, w->below) : "float(\"-inf\")"},
      {"shrunk", shrunk_text(w)},
      {"older", bounded ? "" : " * older"},
      {"older_sums", bounded ? "" : arena_printf(k->arena, " * older%s", attention_of_rows(w))},
      {"higher", bounded ? "" : "        most = higher\n"},
      {"shares", attention_shares(w, scale, attention_exp(w))}};
  size_t n = 0;
  while (slots[n].slot) n++;
  memcpy(slots + n, own, sizeof own);
  return n + sizeof own / sizeof *own;
}

/* ---- words ---- */

const char *attention_pointers_as(AttentionWriter *w, Node *operand, const Dim *index,
                                  int64_t word, const char *type, const char *first,
                                  const char *second) {
  Kernel *k = w->k;
  Dims *d = k->graph->dims;
  ConcatSource p = {.operand = operand};
  memcpy(p.index, index, operand->type.rank * sizeof *index);
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  Dim offset = linear_of_index(d, p.index, t->shape, t->rank);
  unsigned axes = 0;
  const char *at = kernel_index(k, dim_floordiv(d, offset, dim_int(d, word)), &axes);
  const char *text = arena_printf(k->arena, "%s.to(tl.pointer_type(tl.%s)) + %s",
                                  kernel_buffer(k, p.operand), type, at);
  return product_pointers(k, text, axes, first, second);
}

static const ScoreOrder word_orders[] = {
    {"[:, None]", "[None, :]", "1", "query, key", "words, value", "BM, BE"},
    {"[None, :]", "[:, None]", "0", "key, query", "tl.trans(value), words", "BE, BM"}};

/* Products are of words: of two columns of keys, and of two keys' values. */
static void print_in_words(Text *out, AttentionWriter *w) {
  enum { WORD = 2 };
  Kernel *k = w->k;
  const Attention *x = &w->x;
  Graph *g = k->graph;
  Dim batch = k->group->index[0], word = dim_int(g->dims, WORD), index[4];
  Dim words = dim_floordiv(g->dims, x->width, word);
  Dim dq = attention_bind(w, "dq", words, "d", AXIS_N);
  Dim dk = attention_bind(w, "dk", words, "d", AXIS_M);
  Dim r = attention_bind(w, "r", x->keys, "r", AXIS_N);
  Dim s = attention_bind(w, "s", x->keys, "s", AXIS_M);
  attention_query_index(g, x, batch, w->head, w->row, dim_mul(g->dims, dq, word), index);
  const char *query = attention_pointers_as(w, x->query, index, WORD, "int32", "m", "d");
  attention_key_index(g, x, batch, r, dim_mul(g->dims, dk, word), index);
  const char *key = attention_pointers_as(w, x->key, index, WORD, "int32", "d", "r");
  attention_key_index(g, x, batch, s, w->column, index);
  const char *value = attention_pointers_as(w, x->value, index, 1, "uint16", "s", "e");
  const char *mask = attention_mask_text(w);
  k->memo.len = 0;
  attention_set_masks(k, "mmask", NULL);
  const char *end = print_epilogue(w);
  print_walk(w);
  text_puts(&k->body, end);
  const ScoreOrder *order = &word_orders[w->shape->turned];
  Slot slots[SLOTS_MOST] = {{"rows", w->own},
                            {"walked", w->walked},
                            {"down", order->down},
                            {"across", order->across},
                            {"keys", order->keys},
                            {"query_by_key", order->query_by_key},
                            {"shares_by_value", order->shares_by_value},
                            {"sums", order->sums},
                            {"e", columns_text(w)},
                            {"policy", policy_text(w)},
                            {"power", attention_power_function(w)},
                            {"place", attention_place(w)},
                            {"loop", attention_loop(w)},
                            {"query", query},
                            {"key", key},
                            {"value", value},
                            {"mask_function", mask_function(w)},
                            {"mask_tile", mask_tile(w)},
                            {"mask", mask},
                            {"hide", attention_hide(w)}};
  kernel_emit(out, k, "attention_words.py", slots, add_softmax_slots(w, slots));
}

static void print_in_tiles(Text *out, AttentionWriter *w) {
  Kernel *k = w->k;
  const AttentionShape *shape = w->shape;
  const Attention *x = &w->x;
  Dim dq = attention_bind(w, "dq", x->width, "d", AXIS_N),
      dk = attention_bind(w, "dk", x->width, "d", AXIS_M);
  Dim s = attention_bind(w, "s", x->keys, "s", AXIS_M);
  const char *width = attention_within(k, "d", x->width, shape->bd);
  const char *columns = attention_within(k, "e", x->columns, shape->be);
  const char *n_ends = end_of_keys(w, "n"), *s_ends = end_of_keys(w, "s");
  const char *query = attention_query_pointers(w, x->query, w->row, dq, "m", "d");
  const KeyTile tiles[] = {{"key", x->key, w->key, dk, false, "d", "n", n_ends, width},
                           {"value", x->value, s, w->column, true, "s", "e", s_ends, columns}};
  const char *loads = key_tiles(w, tiles);
  const char *mask = attention_mask_text(w);
  k->memo.len = 0;
  const ScoreOrder *order = &score_orders[shape->turned];
  const char *seed = attention_seed_text(w), *keep = attention_keep_text(w);
  attention_set_masks(k, "mmask", columns ? "emask" : NULL);
  const char *end = print_epilogue(w);
  attention_find_tables(w);
  print_walk(w);
  text_puts(&k->body, end);
  Slot slots[SLOTS_MOST] = {
      {"rows", w->own},
      {"down", order->down},
      {"across", order->across},
      {"keys", order->keys},
      {"e", columns_text(w)},
      {"query_by_key", order->query_by_key},
      {"shares_by_value", order->shares_by_value},
      {"sums", order->sums},
      {"place", attention_place(w)},
      {"own_cut", attention_own_cut(w)},
      {"walked_cut", attention_walked_cut(w)},
      {"query", query},
      {"widening", widening(w)},
      {"query_mask", width ? arena_printf(k->arena, " & %s", width) : ""},
      {"loads", loads},
      {"loop", attention_loop(w)},
      {"key_numbers", attention_keys(w)},
      {"table", x->block_rows ? "table, " : ""},
      {"mask_function", mask_function(w)}, {"mask_tile", mask_tile(w)},
      {"mask", mask},
      {"seed", seed},
      {"keep", keep},
      {"kept", x->seed ? "        p = tl.where(keep, p, 0.0)\n" : ""},
      {"hide", attention_hide(w)},
      {"bounds", attention_bounds(w)},
      {"wide", dtype_lang_name(x->wide)},
      {"precision",
       product_precision(k->graph, shape->turned ? x->wide : x->query->type.dtype,
                         ROUNDS_AS_PRODUCT)}};
  kernel_emit(out, k, "attention.py", slots, add_softmax_slots(w, slots));
}

void kernel_attention(Text *out, Kernel *k, const AttentionShape *shape) {
  attention_reserve_names(k);
  AttentionWriter w = attention_writer_new(k, shape);
  (shape->words ? print_in_words : print_in_tiles)(out, &w);
}
