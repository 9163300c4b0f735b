/* Kernels of GROUP_ATTENTION: one nereid.attention, with the pointwise nodes after it computed on
 * its tiles.  Operands are read through views, whatever their strides; a mask that has no buffer is
 * computed where it is needed. */
#include <math.h>
#include <string.h>

#include "graph/kernels/kernel.h"
#include "graph/kernels/kernel_product.h"

typedef struct {
  Kernel *k;
  Attention x;
  const AttentionShape *shape;
  Dim row, key, column;    /* index symbols: of rows, of keys, of columns of the result */
  bool added;              /* the mask is added to the scores */
  bool ragged;             /* keys end within a block */
  bool may_see_nothing;    /* there may be rows that see no key */
  const char *rows, *keys; /* how many, as text */
} Writer;

/* ---- small pieces of text ---- */

static const char *float_literal(Kernel *k, double v) { return arena_printf(k->arena, "%.17g", v); }

static const char * and (Kernel * k, const char *a, const char *b) {
  return a && b ? arena_printf(k->arena, "%s & %s", a, b) : a ? a : b;
}

static const char *masked_by(Kernel *k, const char *condition) {
  return condition ? arena_printf(k->arena, ", mask=%s, other=0.0", condition) : "";
}

/* The condition that an index of a tile is within its axis; NULL: it always is. */
static const char *is_within_axis(Kernel *k, const char *index, Dim size, int64_t block) {
  bool whole = dim_divisible(size, block) && (dim_is_int(size) ? size->value >= block : true);
  if (whole) return NULL;
  return arena_printf(k->arena, "(%s < %s)", index, kernel_index(k, size, NULL));
}

/* `m + 3`: a row's index and an offset. */
static const char *offset_by(Kernel *k, const char *base, Dim by) {
  if (dim_is(by, 0)) return base;
  return arena_printf(k->arena, "%s + (%s)", base, kernel_index(k, by, NULL));
}

/* ---- operands ---- */

/* The pointers to the operand's elements; its index is in terms of `row` and `column`. */
static const char *operand_pointers(Writer *w, Node *operand, Dim row, Dim column,
                                    const char *first, const char *second) {
  ConcatSource p = {.operand = operand};
  attention_operand_index(w->k->graph, &w->x, w->k->group->index[0], row, column, p.index);
  return kernel_access(w->k, &p, first, second).pointers;
}

/* A new index symbol, bound to `text` along that axis of its tile. */
static Dim bind_index(Writer *w, const char *name, Dim size, const char *text, unsigned axis) {
  Dim symbol = dim_shared_index(w->k->graph->dims, name, size);
  kernel_bind(w->k, symbol, text, axis);
  return symbol;
}

static void bind_axes(Writer *w) {
  Kernel *k = w->k;
  const Group *g = k->group;
  w->row = g->index[1];
  w->column = g->index[2];
  w->key = bind_index(w, "n", w->x.keys, "n", AXIS_N);
  kernel_bind(k, g->index[0], "batch", AXIS_B);
  kernel_bind(k, w->row, "m", AXIS_M);
  kernel_bind(k, w->column, "e", AXIS_N);
  if (w->x.splits > 1) kernel_bind(k, g->element[0], "tl.program_id(1)", AXIS_B);
}

static void set_attention_masks(Kernel *k, const char *rows, const char *columns) {
  const char *both = and(k, rows, columns);
  const char *masks[] = {NULL, rows, columns, both};
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = masks[axes & 3];
}

/* ---- the mask ---- */

static Value mask_value(Writer *w) {
  Graph *g = w->k->graph;
  Dim at[4], index[4];
  attention_operand_index(g, &w->x, w->k->group->index[0], w->row, w->key, at);
  attention_mask_index(g, &w->x, at, index);
  return kernel_value(w->k, w->x.mask, index);
}

/* The statements that apply the mask to a tile of scores. */
static const char *mask_text(Writer *w) {
  Kernel *k = w->k;
  if (!w->x.mask) return "";
  set_attention_masks(k, "mmask", w->ragged ? "nmask" : NULL);
  k->indent = 8;
  kernel_line(k, "mmask = m < %s", w->rows);
  if (w->ragged) kernel_line(k, "nmask = n < %s", w->keys);
  Value v = mask_value(w);
  if (w->added) kernel_line(k, "scores = scores + %s", kernel_cast(k, v, DT_F32));
  else kernel_line(k, "scores = tl.where(%s, scores, float(\"-inf\"))", v.text);
  const char *text = k->body.data;
  k->memo.len = 0;
  k->body = text_new(k->arena);
  k->indent = 4;
  return text;
}

/* ---- which keys ---- */

/* The condition that a key is seen, at an edge. */
static const char *seen(Writer *w) {
  Kernel *k = w->k;
  const char *text = w->ragged ? arena_printf(k->arena, "(n < %s)", w->keys) : NULL;
  if (w->x.high)
    text = and(k, text, arena_printf(k->arena, "(n <= %s)", offset_by(k, "m", w->x.high)));
  if (w->x.low)
    text = and(k, text, arena_printf(k->arena, "(n >= %s)", offset_by(k, "m", w->x.low)));
  return text ? text : "n >= 0";
}

static void emit_key_loop(Writer *w, const char *from, const char *to, bool edge) {
  Kernel *k = w->k;
  kernel_line(k,
              "most, total, acc = %s_keys(%s, query, m, batch, %s, %s, most, total, acc, BN, BD, "
              "BE, %s)",
              KERNEL_NAME, kernel_parameters(k), from, to, edge ? "True" : "False");
}

/* All keys: those of whole blocks first. */
static void walk_all(Writer *w) {
  Kernel *k = w->k;
  const char *whole = arena_printf(k->arena, "%s // BN * BN", w->keys);
  if (dim_is_int(w->x.keys)) {
    int64_t n = w->x.keys->value / w->shape->bn * w->shape->bn;
    whole = n ? arena_printf(k->arena, "%lld", (long long)n) : NULL;
  }
  if (!w->ragged) whole = w->keys;
  if (whole) emit_key_loop(w, "0", whole, false);
  if (w->ragged) emit_key_loop(w, whole ? whole : "0", w->keys, true);
}

/* Those from first to last, as far as rows of the block see them; from begin to end all rows see
 * all.  first is a multiple of BN. */
static void walk_some(Writer *w) {
  Kernel *k = w->k;
  kernel_line(k, "first = 0");
  kernel_line(k, "last = %s", w->keys);
  if (w->x.splits > 1) {
    long long n = (long long)w->x.splits;
    kernel_line(k, "share = tl.cdiv(tl.cdiv(%s, BN), %lld) * BN", w->keys, n);
    kernel_line(k, "first = tl.program_id(1) * share");
    kernel_line(k, "last = tl.minimum(first + share, %s)", w->keys);
  }
  if (w->x.low) {
    const char *low = offset_by(k, "start", w->x.low);
    kernel_line(k, "begin = tl.cdiv(tl.maximum(%s + BM - 1, first), BN) * BN", low);
    kernel_line(k, "first = tl.maximum(first, (%s) // BN * BN)", low);
  }
  if (w->x.high) {
    const char *high = offset_by(k, "start", w->x.high);
    kernel_line(k, "end = (%s + 1) // BN * BN", high);
    kernel_line(k, "last = tl.minimum(last, %s + BM)", high);
  }
  kernel_line(k, w->x.low ? "begin = tl.minimum(begin, last)" : "begin = first");
  kernel_line(k, "end = tl.maximum(%s, begin)",
              w->x.high ? "tl.minimum(end, last // BN * BN)" : "last // BN * BN");
  if (w->x.low) emit_key_loop(w, "first", "begin", true);
  emit_key_loop(w, "begin", "end", false);
  if (w->x.high || w->ragged) emit_key_loop(w, "end", "last", true);
}

/* ---- results ---- */

/* A share's result, followed by the logarithm of its sum. */
static void store_share(Writer *w) {
  Kernel *k = w->k;
  Node *n = k->group->nodes.data[0];
  Dim index[GRAPH_RANK_MAX];
  memcpy(index, k->group->element, n->type.rank * sizeof *index);
  kernel_store(k, n, (Value){"acc", DT_F32});
  index[4] = w->x.columns;
  Dim at = linear_of_index(k->graph->dims, index, n->type.shape, n->type.rank);
  const char *log = w->added ? "most + tl.log(sum)" : "(most + tl.log2(sum)) * 0.6931471805599453";
  kernel_line(k, "log = tl.where(total == 0.0, float(\"-inf\"), %s)", log);
  kernel_line(k, "tl.store(%s + %s + m * 0, log[:, None], mask=mmask)", kernel_buffer(k, n),
              kernel_index(k, at, NULL));
}

/* The statements after the loop over keys. */
static const char *print_epilogue(Writer *w) {
  Kernel *k = w->k;
  if (w->may_see_nothing) kernel_line(k, "sum = tl.where(total == 0.0, 1.0, total)");
  kernel_line(k, "acc = acc / %s[:, None]", w->may_see_nothing ? "sum" : "total");
  if (w->x.splits > 1) store_share(w);
  else product_epilogue(w->k);
  const char *text = k->body.data;
  k->body = text_new(k->arena);
  return text;
}

/* ---- the kernel ---- */

static Writer writer_new(Kernel *k, const AttentionShape *shape) {
  Writer w = {.k = k, .x = attention_of(k->graph, k->group->nodes.data[0]), .shape = shape};
  w.rows = kernel_index(k, w.x.rows, NULL);
  w.keys = kernel_index(k, w.x.keys, NULL);
  w.added = w.x.mask && w.x.mask->type.dtype != DT_I1;
  w.ragged = is_within_axis(k, "n", w.x.keys, shape->bn) != NULL;
  bool some = attention_limits_leave(k->graph->dims, w.x.low, w.x.high, w.x.rows, w.x.keys);
  w.may_see_nothing = w.x.mask || w.x.splits > 1 || !some;
  return w;
}

static void reserve_names(Kernel *k) {
  static const char *const names[] = {
      "query", "key",   "value", "scores", "most", "total", "older", "higher",
      "shift", "p",     "start", "first",  "last", "begin", "end",   "share",
      "sum",   "log",   "batch", "blocks", "d",    "e",     "s",     "mmask",
      "nmask", "emask", "BM",    "BN",     "BD",   "BE",    "EDGE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

void kernel_attention(Text *out, Kernel *k, const AttentionShape *shape) {
  reserve_names(k);
  Writer w = writer_new(k, shape);
  const Attention *x = &w.x;
  bind_axes(&w);
  Dim dq = bind_index(&w, "dq", x->width, "d", AXIS_N),
      dk = bind_index(&w, "dk", x->width, "d", AXIS_M);
  Dim s = bind_index(&w, "s", x->keys, "s", AXIS_M);
  const char *width = is_within_axis(k, "d", x->width, shape->bd);
  const char *columns = is_within_axis(k, "e", x->columns, shape->be);
  const char *n_ends = w.ragged ? arena_printf(k->arena, "(n < %s)", w.keys) : NULL;
  const char *s_ends = w.ragged ? arena_printf(k->arena, "(s < %s)", w.keys) : NULL;
  const char *query = operand_pointers(&w, x->query, w.row, dq, "m", "d");
  const char *key = operand_pointers(&w, x->key, w.key, dk, "d", "n");
  const char *value = operand_pointers(&w, x->value, s, w.column, "s", "e");
  const char *mask = mask_text(&w);
  set_attention_masks(k, "mmask", columns ? "emask" : NULL);
  const char *end = print_epilogue(&w);
  /* All parameters are known by now, and those who walk pass them on. */
  if (x->high || x->low || x->splits > 1) walk_some(&w);
  else walk_all(&w);
  text_puts(&k->body, end);
  /* Behind a lower limit, rows see nothing of the block's first keys. */
  const char *shift =
      w.may_see_nothing || x->low ? "tl.where(higher == float(\"-inf\"), 0.0, higher)" : "higher";
  Slot slots[] = {
      {"rows", w.rows},
      {"columns", kernel_index(k, x->columns, NULL)},
      {"block",
       x->high ? "(blocks - 1 - tl.program_id(0) % blocks)" : "(tl.program_id(0) % blocks)"},
      {"query", query},
      {"query_mask", width ? arena_printf(k->arena, " & %s", width) : ""},
      {"key", key},
      {"key_mask", masked_by(k, width)},
      {"key_edge", masked_by(k, and(k, n_ends, width))},
      {"value", value},
      {"value_mask", masked_by(k, columns)},
      {"value_edge", masked_by(k, and(k, s_ends, columns))},
      {"scale", float_literal(k, w.added ? x->scale : x->scale * M_LOG2E)},
      {"exp", w.added ? "tl.exp" : "tl.exp2"},
      {"mask", mask},
      {"seen", seen(&w)},
      {"shift", shift},
      {"precision", x->query->type.dtype == DT_F32 ? ", input_precision=\"ieee\"" : ""}};
  kernel_emit(out, k, "attention.py", slots, sizeof slots / sizeof *slots);
}
