/* Kernels of GROUP_MATMUL: one product of matrices, with the pointwise nodes after it computed on
 * its tiles.  Operands are read through views, whatever their strides. */
#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/window.h"
#include "planner/kernels/kernel_product.h"
#include "tiling/near_columns.h"
#include "tiling/panels.h"
#include "tiling/tiling.h"

DType product_sums(const Node *n) {
  DType t = n->args[0].node->type.dtype;
  return t == DT_I8 ? DT_I32 : t == DT_F64 ? DT_F64 : DT_F32;
}

const char *product_indented(Kernel *k, const char *lines, int columns) {
  Text t = text_new(k->arena);
  while (*lines) {
    size_t n = strcspn(lines, "\n");
    text_printf(&t, "%*s%.*s\n", columns, "", (int)n, lines);
    lines += n + (lines[n] == '\n');
  }
  return t.data ? t.data : "";
}

/* ---- words: see strided.h ---- */

/* Elements in a word of the product's operands, if it reads words. */
static int64_t word_of(const Kernel *k) {
  const Node *n = k->group->nodes.data[0];
  return strided_sums_words(k->graph, n) ? strided_word(n->args[0].node->type.dtype) : 1;
}

static const char *word_precision(int64_t word) {
  return word == 1 ? "ieee" : word == 2 ? "pairs" : "bytes";
}

/* Sums of pairs of bf16 are bits of floats in the loop. */
static DType loop_dtype(const Node *n, int64_t word) {
  return word == 2 ? DT_I32 : product_sums(n);
}

static const char *after_sums(int64_t word) {
  return word == 2 ? "    acc = acc.to(tl.float32, bitcast=True)" : "";
}

/* ---- right operands in panels: see panels.h ---- */

static int64_t word_of_panels(const Kernel *k) {
  return strided_word(k->group->nodes.data[0]->args[1].node->type.dtype);
}

/* The buffer of a step's words; *offset, of elements, becomes one of words.  Where it is not whole
 * words the pointers, not the buffer, are to be cast, and kernels compute each of them. */
static const char *words_of(Kernel *k, Node *n, Dim *offset, const char **cast) {
  const char *buffer = kernel_buffer(k, n);
  Dim word = dim_int(k->graph->dims, strided_word(n->type.dtype));
  *cast = "";
  if (dim_is(word, 1)) return buffer;
  if (!dim_divisible(*offset, word->value)) {
    *cast = ".to(tl.pointer_type(tl.int32))";
    return buffer;
  }
  *offset = dim_floordiv(k->graph->dims, *offset, word);
  return arena_printf(k->arena, "%s.to(tl.pointer_type(tl.int32))", buffer);
}

/* An element of the left operand. */
typedef struct {
  Node *memory;
  Dim offset;
} Left;

/* Terms that depend on the row alone come first: so each row has one address in all steps. */
static const char *left_pointers(Kernel *k, Left left) {
  Dims *d = k->graph->dims;
  const char *cast;
  Dim offset = left.offset;
  const char *buffer = words_of(k, left.memory, &offset, &cast);
  Dim of_row = dim_int(d, 0), rest = of_row;
  uint32_t terms = offset->kind == DIM_SUM ? offset->n : 1;
  for (uint32_t i = 0; i < terms; i++) {
    Dim term = offset->kind == DIM_SUM ? offset->args[i] : offset;
    unsigned axes = 0;
    kernel_index(k, term, &axes);
    Dim *to = axes == AXIS_M ? &of_row : &rest;
    *to = dim_add(d, *to, term);
  }
  if (offset->kind == DIM_SUM) rest = dim_add(d, rest, dim_int(d, offset->value));
  unsigned axes = 0;
  kernel_index(k, offset, &axes);
  const char *text = arena_printf(k->arena, "%s + %s + (%s)", buffer,
                                  kernel_index(k, of_row, NULL), kernel_index(k, rest, NULL));
  text = product_pointers(k, text, axes, "row", "ka");
  return *cast ? arena_printf(k->arena, "(%s)%s", text, cast) : text;
}

/* Element (panel, row, column) of the panels, of which a row may have words. */
static const char *right_pointers(Kernel *k, Node *panels, Dim panel, Dim row, Dim column) {
  const char *cast;
  unsigned axes = 0;
  const ValueType *t = &panels->type;
  Dim at[] = {panel, row, column, dim_int(k->graph->dims, 0)};
  Dim offset = linear_of_index(k->graph->dims, at, t->shape, t->rank);
  const char *buffer = words_of(k, panels, &offset, &cast);
  const char *index = kernel_index(k, offset, &axes);
  const char *text = arena_printf(k->arena, "%s + %s", buffer, index);
  text = product_pointers(k, text, axes, "kb", "column");
  return *cast ? arena_printf(k->arena, "(%s)%s", text, cast) : text;
}

/* Rows of the left operand.  Where tiles divide them, the index stays a plain one. */
static const char *row_lines(Kernel *k) {
  Dim m = k->group->extent[1];
  const char *rows = kernel_index(k, m, NULL);
  if (!dim_is_int(m)) return arena_printf(k->arena, "    row = tl.minimum(m, %s - 1)\n", rows);
  return arena_printf(k->arena,
                      "    row = m\n"
                      "    if %s %% BM != 0:\n"
                      "        row = tl.minimum(m, %s - 1)\n",
                      rows, rows);
}

static Left matrix_left(Kernel *k, Dim row, Dim left_k) {
  Dims *d = k->graph->dims;
  Node *left = k->group->nodes.data[0]->args[0].node;
  ConcatSource p = {.operand = left, .index = {k->group->index[0]}};
  uint32_t matrix = left->type.rank - 2;
  p.index[matrix] = row;
  p.index[matrix + 1] = dim_mul(d, left_k, dim_int(d, word_of_panels(k)));
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  return (Left){p.operand, linear_of_index(d, p.index, t->shape, t->rank)};
}

void product_limit(Kernel *k, Text *t, const char *x, Dim lo, Dim hi) {
  if (lo && hi && dim_is(lo, 0)) {
    text_printf(t, " & ((%s).to(tl.uint32) < %s)", x, kernel_index(k, hi, NULL));
    return;
  }
  if (lo) text_printf(t, " & (%s >= %s)", x, kernel_index(k, lo, NULL));
  if (hi) text_printf(t, " & (%s < %s)", x, kernel_index(k, hi, NULL));
}

/* The left operand of a convolution, at one of `outer` rows of the window, or positions
 * (panels_run).  `within`: which rows are within the image there, if windows are clipped. */
static Left window_left(Kernel *k, Dim row, Dim position, Dim left_k, Dim *outer, Text *within) {
  Dims *d = k->graph->dims;
  const Node *n = k->group->nodes.data[0];
  Window w = window_of(k->graph, n);
  Dim at[WINDOW_AXES], index[GRAPH_RANK_MAX], channels = w.weight->type.shape[w.n];
  uint32_t axes = w.n - (panels_run(k->graph, n) != channels);
  bool clip = panels_clip(k->graph, n);
  *outer = dim_int(d, 1);
  for (uint32_t i = 0; i < axes; i++) *outer = dim_mul(d, *outer, w.size[i]);
  index_of_linear(d, position, w.size, axes, at);
  index_of_linear(d, row, n->type.shape, w.n + 1, index);
  for (uint32_t i = 0; i < w.n; i++) {
    index[i + 1] = dim_sub(d, dim_mul(d, index[i + 1], w.stride[i]), w.before[i]);
    if (i < axes) index[i + 1] = dim_add(d, index[i + 1], dim_mul(d, at[i], w.dilation[i]));
    if (clip) product_limit(k, within, kernel_index(k, index[i + 1], NULL), dim_int(d, 0),
                            w.input->type.shape[i + 1]);
  }
  left_k = dim_mul(d, left_k, dim_int(d, word_of_panels(k)));
  index[w.n + 1] = dim_add(d, dim_mul(d, k->group->index[0], channels), left_k);
  Strided s;
  BUG_IF(!strided_of(k->graph, w.input, &s), "an image of panels is not in memory");
  Dim offset = dim_add(d, s.offset, index[w.n + 1]); /* one channel has no stride */
  for (uint32_t i = 0; i <= w.n; i++)
    offset = dim_add(d, offset, dim_mul(d, index[i], s.stride[i]));
  return (Left){s.memory, offset};
}

/* Groups that are joined: where a sum is no number, it is made again, a group at a time, since 0
 * times a number that is not finite is NaN, also where the number is of another group. */
static const char *groups_again(Kernel *k, const char *outer, const char *run, const char *left,
                                const char *right) {
  const Node *n = k->group->nodes.data[0];
  long long joined = window_joined(k->graph, n);
  if (joined == 1 || n->type.dtype == DT_I32) return "";
  Window w = window_of(k->graph, n);
  long long channels = w.weight->type.shape[w.n]->value, each = channels / joined;
  long long features = k->group->extent[2]->value / joined;
  const char *wide = kernel_wide(k);
  const char *turns = arena_printf(k->arena, "%s * (%s // BK)", outer, run);
  return arena_printf(k->arena,
                      "    if tl.max((acc != acc).to(tl.int32)) > 0:\n"
                      "        acc = tl.zeros([BM, BN], dtype=tl.float32)\n"
                      "        for again in range(0, %lld * %s):\n"
                      "            group, turn = again // (%s), again %% (%s)\n"
                      "            position = turn // (%s // BK)\n"
                      "            start = turn %% (%s // BK) * BK\n"
                      "            ka = start + tl.arange(0, BK)[None, :]%s\n"
                      "            kb = start + tl.arange(0, BK)[:, None]%s\n"
                      "            left = tl.load(%s)\n"
                      "            left = tl.where(ka %% %lld // %lld == group, left, 0.0)\n"
                      "            own = tl.dot(left, tl.load(%s), input_precision=\"ieee\")\n"
                      "            acc = tl.where(n // %lld == group, acc + own, acc)\n",
                      joined, turns, turns, turns, run, run, wide, wide, left, channels, each,
                      right, features);
}

/* The load's mask where windows are clipped: `within` are limits, each after an `&`.  Blocks of
 * rows behind the last one are left out, as those of the padding are. */
static const char *left_mask(Kernel *k, const Text *within) {
  if (!within->len) return "";
  return arena_printf(k->arena, ", mask=mmask%s, other=0.0", within->data);
}

/* The matrix of a batch. */
static const char *batch_line(Kernel *k) {
  if (dim_is_int(k->group->index[0])) return "";
  return arena_printf(k->arena, "    batch = tl.program_id(1)%s\n", kernel_wide(k));
}

/* Element (batch, row, n) of a right operand that is in no panels; `word`: as so many of the sum's
 * elements, which are next to each other in memory. */
static const char *near_right(Kernel *k, Dim row, int64_t word) {
  Dims *d = k->graph->dims;
  const Group *g = k->group;
  Node *right = g->nodes.data[0]->args[1].node;
  ConcatSource p = {.operand = right, .index = {g->index[0]}};
  uint32_t matrix = right->type.rank - 2;
  unsigned axes = 0;
  const char *cast = "";
  p.index[matrix] = row;
  p.index[matrix + 1] = g->index[2];
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  Dim offset = linear_of_index(d, p.index, t->shape, t->rank);
  const char *buffer = word > 1 ? words_of(k, p.operand, &offset, &cast)
                                : kernel_buffer(k, p.operand);
  const char *index = kernel_index(k, offset, &axes);
  const char *text = arena_printf(k->arena, "%s + %s", buffer, index);
  text = product_pointers(k, text, axes, "kb", "n");
  return *cast ? arena_printf(k->arena, "(%s)%s", text, cast) : text;
}

/* The pointers of element (batch, row, column) of an operand. */
static const char *element_text(Kernel *k, Node *operand, Dim row, Dim column) {
  ConcatSource p = {.operand = operand, .index = {k->group->index[0]}};
  uint32_t matrix = operand->type.rank - 2;
  p.index[matrix] = row;
  p.index[matrix + 1] = column;
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  Dim offset = linear_of_index(k->graph->dims, p.index, t->shape, t->rank);
  return arena_printf(k->arena, "%s + %s", kernel_buffer(k, p.operand),
                      kernel_index(k, offset, NULL));
}

/* Lines that compute a right operand that is in no memory. */
static const char *near_computed(Kernel *k, Dim right_k) {
  const Group *g = k->group;
  Node *right = g->nodes.data[0]->args[1].node;
  Dim at[] = {g->index[0], right_k, g->index[2]};
  Text before = k->body;
  int indent = k->indent;
  size_t memo = k->memo.len;
  k->body = text_new(k->arena);
  k->indent = 4;
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = axes & AXIS_N ? "nmask" : NULL;
  k->loads_all = true;
  Value v = kernel_value(k, right, at + (right->type.rank == 2));
  k->loads_all = false;
  const char *value = kernel_cast(k, v, right->type.dtype);
  kernel_line(k, "right = tl.broadcast_to(%s, [%s, BN])", value,
              kernel_index(k, g->extent[3], NULL));
  const char *lines = k->body.data;
  k->body = before;
  k->indent = indent;
  k->memo.len = memo; /* but its names stay taken: a loop follows */
  product_bind(k);
  return lines;
}

/* Lines that make words of the operand's elements, which follow each other along axis `along` of
 * its rows and columns; `at`: the word's index there. */
static const char *words_of_parts(Kernel *k, const char *to, Node *operand, Dim at[2], int along,
                                  const char *mask) {
  Dims *d = k->graph->dims;
  Text out = text_new(k->arena);
  int64_t word = strided_word(operand->type.dtype);
  int bits = 32 / (int)word;
  for (int64_t i = 0; i < word; i++) {
    Dim part[] = {at[0], at[1]};
    part[along] = dim_add(d, dim_mul(d, at[along], dim_int(d, word)), dim_int(d, i));
    text_printf(&out,
                "    %s_part = tl.load((%s).to(tl.pointer_type(tl.uint%d))%s)\n"
                "    %s = %s(%s_part.to(tl.int32)%s)\n",
                to, element_text(k, operand, part[0], part[1]), bits, mask, to,
                i ? arena_printf(k->arena, "%s | ", to) : "", to,
                i ? arena_printf(k->arena, " << %d", (int)i * bits) : "");
  }
  return out.data;
}

/* The lines that load the right operand of a program that copies it, or make its words of elements
 * of several rows. */
static const char *near_lines(Kernel *k, const NearColumns *near, Dim right_k, int64_t word) {
  Dims *d = k->graph->dims;
  if (near->order == NEAR_COMPUTED) return near_computed(k, right_k);
  if (near->order != NEAR_WORDS) {
    Dim row = dim_mul(d, right_k, dim_int(d, word));
    const char *mask = near->in_place ? "" : ", mask=nmask, other=0";
    return arena_printf(k->arena, "    right = tl.load(%s%s)\n", near_right(k, row, word), mask);
  }
  Dim at[] = {right_k, k->group->index[2]};
  Node *right = k->group->nodes.data[0]->args[1].node;
  return words_of_parts(k, "right", right, at, 0, ", mask=nmask, other=0");
}

/* The lines that load a block of rows, or make their words where memory has these at any byte. */
static const char *near_left(Kernel *k, Dim row, Dim left_k, int64_t word) {
  Left left = matrix_left(k, row, left_k);
  if (dim_divisible(left.offset, word))
    return arena_printf(k->arena, "        left = tl.load(%s)\n", left_pointers(k, left));
  Dim at[] = {row, left_k};
  Node *operand = k->group->nodes.data[0]->args[0].node;
  return product_indented(k, words_of_parts(k, "left", operand, at, 1, ""), 4);
}

/* Indices of a left operand's row, and of the sum in both operands. */
typedef struct {
  Dim row, left_k, right_k;
} PanelAxes;

static PanelAxes bind_panel_axes(Kernel *k, Dim rows, Dim run) {
  Dims *d = k->graph->dims;
  PanelAxes x = {dim_shared_index(d, "row", rows), dim_shared_index(d, "ka", run),
                 dim_shared_index(d, "kb", run)};
  product_bind(k);
  kernel_bind(k, x.row, "row", AXIS_M);
  kernel_bind(k, x.left_k, "ka", AXIS_N);
  kernel_bind(k, x.right_k, "kb", AXIS_M);
  return x;
}

/* Lines that add the products of elements after the last whole word, which the left operand's rows
 * end with. */
static const char *near_rest(Kernel *k, Dim row, int64_t word) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Text out = text_new(k->arena);
  Node *n = g->nodes.data[0];
  const char *sums = dtype_lang_name(product_sums(n));
  int64_t depth = g->extent[3]->value;
  for (int64_t i = depth / word * word; i < depth; i++) {
    Dim at = dim_int(d, i);
    text_printf(&out,
                "        last = tl.load(%s).to(tl.%s)\n"
                "        acc += last * tl.load(%s, mask=nmask, other=0).to(tl.%s)\n",
                element_text(k, n->args[0].node, row, at), sums,
                element_text(k, n->args[1].node, at, g->index[2]), sums);
  }
  return out.data ? out.data : "";
}

/* The kernel of a product whose programs copy their columns (near_columns.h). */
static void kernel_near_columns(Text *out, Kernel *k, const NearColumns *near) {
  const Group *g = k->group;
  const Node *n = g->nodes.data[0];
  int64_t word = word_of_panels(k);
  Dim run = dim_floordiv(k->graph->dims, g->extent[3], dim_int(k->graph->dims, word));
  PanelAxes x = bind_panel_axes(k, g->extent[1], run);
  const char *right = near_lines(k, near, x.right_k, word);
  Slot slots[] = {{"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"k", kernel_index(k, run, NULL)},
                  {"row", product_indented(k, row_lines(k), 4)},
                  {"batch", batch_line(k)},
                  {"sums", dtype_lang_name(loop_dtype(n, word))},
                  {"precision", word_precision(word)},
                  {"after", product_indented(k, after_sums(word), 4)},
                  {"rest", near_rest(k, x.row, word)},
                  {"left", near_left(k, x.row, x.left_k, word)},
                  {"copied", near->in_place ? "" : right},
                  {"in_place", near->in_place ? product_indented(k, right, 4) : ""}};
  product_epilogue(k);
  const char *body = product_indented(k, k->body.data, 4);
  k->body = text_new(k->arena);
  text_puts(&k->body, body);
  kernel_emit(out, k, "near_columns.py", slots, sizeof slots / sizeof *slots);
}

/* A sum of one step has no loop. */
static const char *steps_of_panels(Dim k) {
  return tiling_panel_depth(k->value) == k->value ? "tl.static_range" : "range";
}

/* The kernel of a product whose right operand is packed in panels (panels.h). */
static void kernel_panels(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  const Node *n = g->nodes.data[0];
  bool windows = prim_kind(n->op) == PRIM_CONVOLUTION;
  Node *panels = panels_of(n->args[1].node);
  int64_t word = word_of_panels(k);
  Dim width = panels->type.shape[2], length_of_panel = panels->type.shape[1];
  Dim run = length_of_panel;
  if (windows) run = dim_floordiv(d, panels_run(k->graph, n), dim_int(d, word));
  Dim count = dim_floordiv(d, dim_add(d, g->extent[2], dim_sub(d, width, dim_int(d, 1))), width);
  PanelAxes x = bind_panel_axes(k, g->extent[1], run);
  Dim panel = dim_shared_index(d, "panel", count), column = dim_shared_index(d, "column", width);
  Dim position = dim_shared_index(d, "position", dim_floordiv(d, length_of_panel, run));
  kernel_bind(k, panel, "panel", 0);
  kernel_bind(k, position, "position", 0);
  kernel_bind(k, column, "column", AXIS_N);
  Dim outer = dim_int(d, 1);
  Text within = text_new(k->arena);
  Left left = windows ? window_left(k, x.row, position, x.left_k, &outer, &within)
                      : matrix_left(k, x.row, x.left_k);
  Dim step = windows ? dim_add(d, dim_mul(d, position, run), x.right_k) : x.right_k;
  Dim own = dim_add(d, dim_mul(d, g->index[0], count), panel);
  const char *left_text = left_pointers(k, left), *length = kernel_index(k, run, NULL);
  const char *right_text = right_pointers(k, panels, own, step, column);
  const char *turns = kernel_index(k, outer, NULL);
  Slot slots[] = {{"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"k", length},
                  {"outer", turns},
                  {"range", steps_of_panels(run)},
                  {"again", windows ? groups_again(k, turns, length, left_text, right_text) : ""},
                  {"row", row_lines(k)},
                  {"batch", batch_line(k)},
                  {"sums", dtype_lang_name(loop_dtype(n, word))},
                  {"precision", word_precision(word)},
                  {"after", after_sums(word)},
                  {"left", left_text},
                  {"mask", left_mask(k, &within)},
                  {"right", right_text}};
  product_epilogue(k);
  kernel_emit(out, k, windows ? "panels_of_windows.py" : "panels.py", slots,
              sizeof slots / sizeof *slots);
}

/* Columns of the product, which are the right operand's rows in memory. */
static const char *turned_rows(Kernel *k) {
  Dim n = k->group->extent[2];
  const char *columns = kernel_index(k, n, NULL);
  if (!dim_is_int(n)) return arena_printf(k->arena, "    row = tl.minimum(row, %s - 1)", columns);
  return arena_printf(k->arena, "    if %s %% BM != 0:\n        row = tl.minimum(row, %s - 1)",
                      columns, columns);
}

static Left turned_left(Kernel *k, Dim row, Dim left_k) {
  Dims *d = k->graph->dims;
  ConcatSource p = {.operand = k->group->nodes.data[0]->args[1].node,
                    .index = {dim_mul(d, left_k, dim_int(d, word_of_panels(k))), row}};
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  return (Left){p.operand, linear_of_index(d, p.index, t->shape, t->rank)};
}

/* Lines that compute words of columns of the right operand, whose elements the kernel has from less
 * memory.  There are no masks, since all rows are. */
static const char *computed_columns(Kernel *k, Dim column, Dim word_at, int64_t word) {
  Node *right = k->group->nodes.data[0]->args[1].node;
  Dims *d = k->graph->dims;
  DType t = right->type.dtype;
  Text before = k->body, out = text_new(k->arena);
  int indent = k->indent;
  size_t taken = k->taken.len, memo = k->memo.len;
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = NULL;
  k->body = text_new(k->arena);
  k->indent = 8;
  for (int64_t i = 0; i < word; i++) {
    Dim *at = ARENA_ARRAY(k->arena, Dim, 2);
    at[0] = dim_add(d, dim_mul(d, word_at, dim_int(d, word)), dim_int(d, i));
    at[1] = column;
    const char *value = kernel_cast(k, kernel_value(k, right, at), t);
    if (word == 1) kernel_line(k, "left = tl.broadcast_to(%s, [BM, BK])", value);
    else kernel_line(k, "%s (%s).to(tl.uint16, bitcast=True).to(tl.int32)%s",
                     i ? "left = left |" : "left =", value, i ? " << 16" : "");
  }
  if (word > 1) kernel_line(k, "left = tl.broadcast_to(left, [BM, BK])");
  text_puts(&out, k->body.data);
  k->body = before;
  k->indent = indent;
  k->memo.len = memo;
  kernel_forget(k, taken);
  product_bind(k);
  return out.data;
}

/* The kernel of a product that is computed as its transpose (panels.h). */
static void kernel_turned(Text *out, Kernel *k, Node *panels) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  int64_t word = word_of_panels(k);
  Dim width = panels->type.shape[2], run = panels->type.shape[1];
  PanelAxes x = bind_panel_axes(k, g->extent[2], run);
  Dim panel = dim_shared_index(d, "panel", panels->type.shape[0]);
  Dim column = dim_shared_index(d, "column", width);
  kernel_bind(k, panel, "panel", 0);
  kernel_bind(k, column, "column", AXIS_N);
  bool computes = prim_unpacks(g->nodes.data[0]);
  const char *left = computes ? computed_columns(k, x.row, x.left_k, word)
                              : arena_printf(k->arena, "        left = tl.load(%s)\n",
                                             left_pointers(k, turned_left(k, x.row, x.left_k)));
  const char *right = right_pointers(k, panels, panel, x.right_k, column);
  Slot slots[] = {{"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"k", kernel_index(k, run, NULL)},
                  {"row", turned_rows(k)},
                  {"sums", dtype_lang_name(loop_dtype(g->nodes.data[0], word))},
                  {"precision", word_precision(word)},
                  {"after", after_sums(word)},
                  {"left", left},
                  {"right", right}};
  product_epilogue(k);
  kernel_emit(out, k, "panels_turned.py", slots, sizeof slots / sizeof *slots);
}

void product_source(Kernel *k, ConcatSource *p) {
  Dim from[GRAPH_RANK_MAX];
  while (!k->f->of[p->operand->id] && p->operand->kind != NODE_INPUT) {
    if (prim_kind(p->operand->op) == PRIM_GATHER) {
      kernel_gathered(k, p);
      continue;
    }
    view_index(k->graph, p->operand, p->index, from);
    p->operand = view_operand(p->operand);
    for (uint32_t i = 0; i < p->operand->type.rank; i++) p->index[i] = from[i];
  }
}

const char *product_pointers(Kernel *k, const char *pointers, unsigned axes, const char *first,
                             const char *second) {
  if (!(axes & AXIS_M)) pointers = arena_printf(k->arena, "%s + %s * 0", pointers, first);
  if (!(axes & AXIS_N)) pointers = arena_printf(k->arena, "%s + %s * 0", pointers, second);
  return pointers;
}

Access kernel_access(Kernel *k, ConcatSource *p, const char *first, const char *second) {
  const Node *given = p->operand;
  product_source(k, p);
  const Node *n = p->operand;
  Dim offset = linear_of_index(k->graph->dims, p->index, n->type.shape, n->type.rank);
  unsigned axes = 0;
  const bool plain = word_of(k) == 1;
  const char *cast = "", *buffer = plain ? kernel_buffer(k, p->operand)
                                         : words_of(k, p->operand, &offset, &cast);
  const char *index = kernel_load_index(k, n, offset, plain && n != given, &axes);
  const char *text = arena_printf(k->arena, "%s + %s", buffer, index);
  text = product_pointers(k, text, axes, first, second);
  if (*cast) text = arena_printf(k->arena, "(%s)%s", text, cast);
  const char *limits = kernel_limits(k, p);
  return (Access){text, *limits ? arena_printf(k->arena, " & %s", limits) : ""};
}

/* Element (batch, row, column) of an operand of mm or bmm. */
static Access matrix(Kernel *k, Node *n, Dim batch, Dim row, Dim column, bool left) {
  ConcatSource p = {.operand = n, .index = {batch, row, column}};
  if (n->type.rank == 2) {
    p.index[0] = row;
    p.index[1] = column;
  }
  return kernel_access(k, &p, left ? "m" : "kb", left ? "ka" : "n");
}

/* ---- the kernel ---- */

static void bind_axes(Kernel *k, Dim row, Dim column) {
  kernel_bind(k, k->group->index[0], "batch", AXIS_B);
  kernel_bind(k, row, "m", AXIS_M);
  kernel_bind(k, column, "n", AXIS_N);
  static const char *const masks[] = {NULL, "mmask", "nmask", "mmask & nmask"};
  for (unsigned axes = 0; axes < 8; axes++) k->masks[axes] = masks[axes & 3];
}

void product_bind(Kernel *k) { bind_axes(k, k->group->index[1], k->group->index[2]); }

void product_bind_turned(Kernel *k) { bind_axes(k, k->group->index[2], k->group->index[1]); }

void product_epilogue(Kernel *k) {
  const Group *g = k->group;
  Dim index[GRAPH_RANK_MAX];
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    if (prim_of_kernel(n)) continue;
    group_index(k->f, g, n, index);
    if (i == 0) kernel_remember(k, n, index, (Value){"acc", product_sums(n)});
    Value v = kernel_value(k, n, index);
    if (k->f->stored[n->id]) kernel_store(k, n, v);
  }
}

/* Rounded as the libraries round: cut operands are all too small, by which errors add up over a
 * model's layers to ten times theirs. */
const char *product_precision(const Graph *g, DType t, ProductRounding rounds) {
  if (t != DT_F32) return "";
  if (rounds == ROUNDS_BEFORE) return ", input_precision=\"tf32\"";
  return graph_rounds(g, rounds) ? ", input_precision=\"tf32_rounded\""
                                 : ", input_precision=\"ieee\"";
}

/* ---- groups ---- */

/* The slots of the template that say where a tile is. */
typedef struct {
  const char *groups, *more_rows, *more_columns, *row, *column, *batch, *row_end, *column_end;
  const char *first, *last, *step; /* the steps along k */
  const char *least, *k;           /* the limits of indices; NULL: none */
  struct {
    const char *loop, *width, *least, *k;
  } rest[2]; /* loops over further steps, of that width; NULL: none */
  Dim group;                    /* of the matrices, or of the result, as a subscript */
} Tiling;

/* The elements of the sum, in steps' units: on a CPU words of several. */
static Dim steps_extent(const Kernel *k) {
  Dim all = k->group->extent[3];
  return dim_floordiv(k->graph->dims, all, dim_int(k->graph->dims, word_of(k)));
}

static Tiling plain_tiling(Kernel *k) {
  const Group *g = k->group;
  const char *wide = kernel_wide(k);
  return (Tiling){.groups = "",
                  .more_rows = "",
                  .more_columns = "",
                  .row = "(band + pid % (8 * columns) % height) * BM",
                  .column = "pid % (8 * columns) // height * BN",
                  .batch = arena_printf(k->arena, "tl.program_id(1)%s", wide),
                  .row_end = kernel_extent(k, g->extent[1]),
                  .column_end = kernel_extent(k, g->extent[2]),
                  .first = "0",
                  .last = kernel_index(k, steps_extent(k), NULL),
                  .step = "BK",
                  .k = kernel_index(k, steps_extent(k), NULL),
                  .group = g->index[0]};
}

/* The pointers of ends of groups; `at`: their text as an index.  They are as many as that has
 * elements, also where there is one group. */
static const char *end_pointers(Kernel *k, const char *name, const char *at) {
  Node *ends = k->group->nodes.data[0]->args[2].node;
  Dims *d = k->graph->dims;
  Dim index = dim_shared_index(d, name, ends->type.shape[0]);
  ConcatSource p = {.operand = ends, .index = {index}};
  product_source(k, &p);
  unsigned axes = 0;
  kernel_bind(k, index, at, AXIS_M);
  Dim offset = linear_of_index(d, p.index, p.operand->type.shape, p.operand->type.rank);
  const char *text = kernel_index(k, offset, &axes);
  return arena_printf(k->arena, axes ? "%s + %s" : "%s + %s + %s * 0", kernel_buffer(k, p.operand),
                      text, at);
}

static const char *end_cast(Kernel *k) {
  return *kernel_wide(k) ? ".to(tl.int64)" : ".to(tl.int32)";
}

/* How many ends are loaded at once. */
static const char *ends_width(Kernel *k, Dim groups) {
  enum { WIDTH = 128, LEAST = 16 };
  int64_t n = dim_is_int(groups) && groups->value < WIDTH ? groups->value : WIDTH, width = LEAST;
  while (width < n) width *= 2;
  return arena_printf(k->arena, "%lld", (long long)width);
}

/* Tiles of rows, or of columns, of the groups that they are parted into. */
static void tile_parted_axis(Kernel *k, Tiling *t, bool rows) {
  const Group *g = k->group;
  Dim count = g->nodes.data[0]->args[2].node->type.shape[0];
  const char *groups = kernel_operand(k, count), *block = rows ? "BM" : "BN";
  Slot slots[] = {{"tile", rows ? "band + pid % (8 * columns) % height"
                                : "pid % (8 * columns) // height"},
                  {"size", kernel_operand(k, g->extent[rows ? 1 : 2])},
                  {"count", groups},
                  {"width", ends_width(k, count)},
                  {"ends", end_pointers(k, "end", "index")},
                  {"cast", end_cast(k)},
                  {"block", block},
                  {"k", kernel_index(k, g->extent[3], NULL)}};
  Text text = text_new(k->arena);
  template_fill(&text, "groups_of_axis.py", slots, sizeof slots / sizeof *slots);
  const char *more = arena_printf(k->arena, " + %s", groups);
  t->groups = text.data;
  /* Copies of boxes want to know that it is not negative. */
  t->batch = arena_printf(k->arena, "tl.maximum(tl.minimum(group, %s - 1), 0)%s", groups,
                          kernel_wide(k));
  t->last = "depth";
  *(rows ? &t->more_rows : &t->more_columns) = more;
  *(rows ? &t->row : &t->column) = "first";
  *(rows ? &t->row_end : &t->column_end) = "end";
  t->group = dim_shared_index(k->graph->dims, "group", count);
  kernel_bind(k, t->group, "batch", AXIS_B);
}

/* Parts of the sum as long as each other, but for the last one, in whole steps. */
static void tile_cut_sum(Kernel *k, Tiling *t) {
  const Group *g = k->group;
  int64_t size = g->extent[3]->value, parts = g->extent[0]->value;
  t->groups = arena_printf(k->arena,
                           "    depth = tl.cdiv(%lld, BK) * BK\n"
                           "    begin = tl.program_id(1)%s * depth\n"
                           "    end = tl.minimum(begin + depth, %lld)\n",
                           (long long)((size + parts - 1) / parts), kernel_wide(k),
                           (long long)size);
  t->first = "begin";
  t->last = "end";
}

/* Each group of what is summed up is a batch.  8-bit elements are copied by 16 from multiples of
 * 16, where groups begin; what the last group has after such a multiple is a step of its own.
 * Whole steps begin at multiples of a step, so that a row of a box is whole lines of memory, and
 * have no mask along k; steps that other groups have a part of, two at most, are in a loop of their
 * own. */
static void tile_parted_sum(Kernel *k, Tiling *t) {
  bool bytes = dtype_bits(k->group->nodes.data[0]->args[0].node->type.dtype) == 8;
  const char *parts = "    begin = begin // 16 * 16\n"
                      "    whole = end // 16 * 16\n"
                      "    low = begin // BK * BK\n"
                      "    high = whole // BK * BK\n"
                      "    starts = (begin > low) | (low == high)\n"
                      "    ends = (whole > high) & (low != high)\n"
                      "    first = tl.where(starts, 0, 1)\n"
                      "    last = tl.where(starts & (begin < whole), 1, first)\n"
                      "    last = tl.where(ends, 2, last)\n";
  const char *size = kernel_operand(k, k->group->extent[3]), *cast = end_cast(k);
  Slot slots[] = {{"before", end_pointers(k, "before", "(group - 1)")},
                  {"end", end_pointers(k, "end", "group")},
                  {"cast", cast},
                  {"size", size},
                  {"parts", bytes ? parts : ""},
                  {"wide", kernel_wide(k)}};
  Text text = text_new(k->arena);
  template_fill(&text, "group_of_sum.py", slots, sizeof slots / sizeof *slots);
  t->groups = text.data;
  t->first = "begin";
  t->last = t->k = "end";
  if (!bytes) return;
  t->first = "tl.cdiv(begin, BK) * BK";
  t->last = "high";
  t->k = NULL;
  t->rest[0].loop = "for edge in range(first, last):\n"
                    "        start = tl.where(edge == 0, low, high)";
  t->rest[0].width = "BK";
  t->rest[0].least = "begin";
  t->rest[0].k = "whole";
  t->rest[1].loop = "for start in range(whole, end, 32):"; /* as few as units multiply */
  t->rest[1].width = "32";
  t->rest[1].k = "end";
}

/* Tiles from the end of a batch's rows on have no steps. */
static void tile_ended_rows(Kernel *k, Tiling *t) {
  t->groups = arena_printf(k->arena,
                           "    end = tl.load(%s)\n"
                           "    last = tl.where(%s < end, %s, 0)\n",
                           end_pointers(k, "batch_end", t->batch), t->row, t->last);
  t->last = "last";
}

/* Tiles of a packed weight by themselves where one has all rows: the assembler would compute their
 * places again in each step. */
static void tile_one_row(Kernel *k, Tiling *t) {
  Dim rows = k->group->extent[1];
  if (!dim_is_int(rows)) return;
  long long n = rows->value;
  t->row = arena_printf(k->arena, "(0 if %lld <= BM else %s)", n, t->row);
  t->column = arena_printf(k->arena, "(pid * BN if %lld <= BM else %s)", n, t->column);
}

static Tiling tiling_of(Kernel *k) {
  Tiling t = plain_tiling(k);
  ProductGroups groups = prim_groups(k->group->nodes.data[0]);
  if (prim_unpacks(k->group->nodes.data[0]) && groups == GROUPS_NONE) tile_one_row(k, &t);
  bool cut = graph_is(k->group->nodes.data[0], OP_nereid_parted_mm_default);
  if (cut) tile_cut_sum(k, &t);
  else if (groups == GROUPS_OF_SUM) tile_parted_sum(k, &t);
  else if (groups != GROUPS_NONE) tile_parted_axis(k, &t, groups == GROUPS_OF_ROWS);
  else if (graph_is(k->group->nodes.data[0], OP_nereid_ended_bmm_default)) tile_ended_rows(k, &t);
  return t;
}

/* ---- scales of blocks ---- */

/* The load of a step's scales for the tile's rows (`axis` 0) or columns.  A scale of 128 of them is
 * one for the tile, which on a GPU has no more: `first` is the text of its first. */
static const char *scale_load(Kernel *k, Node *scale, int axis, int64_t shared, const char *first,
                              Dim step) {
  Dims *d = k->graph->dims;
  Dim position = k->group->index[axis + 1];
  if (shared > 1 && k->graph->host) {
    position = dim_floordiv(d, position, dim_int(d, shared));
  } else if (shared > 1) {
    Dim count = scale->type.shape[axis];
    position = dim_shared_index(d, axis ? "column_block" : "row_block", count);
    kernel_bind(k, position, arena_printf(k->arena, "(%s // 128)", first), 0);
  }
  ConcatSource p = {.operand = scale, .index = {axis ? step : position, axis ? position : step}};
  product_source(k, &p);
  const ValueType *t = &p.operand->type;
  unsigned axes = 0;
  const char *index = kernel_index(k, linear_of_index(d, p.index, t->shape, t->rank), &axes);
  const char *buffer = kernel_buffer(k, p.operand);
  if (!axes) return arena_printf(k->arena, "tl.load(%s + %s)", buffer, index);
  return arena_printf(k->arena, "tl.load(%s + %s, mask=%s, other=0.0)", buffer, index,
                      axis ? "nmask" : "mmask");
}

/* The line that adds a step's products.  8-bit floats may have scales of blocks, whose sums begin
 * at zero; others leave the units' own precision if they are to be exact. */
static const char *sum_lines(Kernel *k, Node *n, const Tiling *t) {
  enum { BLOCK = 128 };
  Graph *g = k->graph;
  Dims *d = g->dims;
  const char *precision = product_precision(g, n->args[0].node->type.dtype, n->rounds);
  if (strided_sums_words(g, n))
    return arena_printf(k->arena, "        acc = tl.dot(left, right, acc, input_precision=\"%s\")",
                        word_precision(word_of(k)));
  if (dtype_bits(n->args[0].node->type.dtype) != 8)
    return arena_printf(k->arena, "        acc = tl.dot(left, right, acc%s)", precision);
  bool takes = graph_is_any(n, OP_nereid_float8_mm_default, OP_nereid_grouped_mm_default);
  bool promotes = takes && graph_arg(g, n, "promotes").flag;
  precision = promotes ? ", max_num_imprecise_acc=BK" : "";
  if (!prim_scales_blocks(n))
    return arena_printf(k->arena, "        acc = tl.dot(left, right, acc%s)", precision);
  Dim blocks = dim_floordiv(d, dim_add(d, k->group->extent[3], dim_int(d, BLOCK - 1)),
                            dim_int(d, BLOCK));
  Dim step = dim_shared_index(d, "step", blocks);
  kernel_bind(k, step, "(start // 128)", 0);
  int64_t rows = graph_arg(g, n, "rows").dim->value;
  int64_t columns = graph_arg(g, n, "columns").dim->value;
  return arena_printf(k->arena,
                      "        left_scale = %s\n"
                      "        right_scale = %s\n"
                      "        acc += tl.dot(left, right) * (left_scale * right_scale)",
                      scale_load(k, n->args[2].node, 0, rows, t->row, step),
                      scale_load(k, n->args[3].node, 1, columns, t->column, step));
}

/* ---- operands ---- */

/* The slots of the template that say how a step multiplies. */
typedef struct {
  const char *before, *shape; /* lines before the loop; of the sums */
  const char *left, *right;   /* lines that make the operands */
  const char *multiply;       /* lines that add to the sums */
  const char *after;          /* lines that make a tile of them after the loop */
} Operands;

static const char *zero_of(const Kernel *k) {
  return loop_dtype(k->group->nodes.data[0], word_of(k)) == DT_I32 ? "0" : "0.0";
}

/* The place along the sum of step x, which may be of a word, and pointers to words there. */
static Dim place_of_step(const Kernel *k, Dim x) {
  Dims *d = k->graph->dims;
  return dim_mul(d, x, dim_int(d, word_of(k)));
}

/* The condition that an index along the sum is within its limits, before or after another. */
static const char *within_limits(Kernel *k, const Tiling *t, const char *index, bool before) {
  const char *parts[] = {"", ""}, *form = before ? "(%s %s %s) & " : " & (%s %s %s)";
  if (t->least) parts[0] = arena_printf(k->arena, form, index, ">=", t->least);
  if (t->k) parts[1] = arena_printf(k->arena, form, index, "<", t->k);
  return arena_printf(k->arena, "%s%s", parts[0], parts[1]);
}

static const char *loaded_left(Kernel *k, const Tiling *t, Dim left_k) {
  const Group *g = k->group;
  Dim place = place_of_step(k, left_k);
  Access a = matrix(k, g->nodes.data[0]->args[0].node, t->group, g->index[1], place, true);
  return arena_printf(k->arena, "        left = tl.load(%s, mask=mmask%s%s, other=%s)\n",
                      a.pointers, within_limits(k, t, "ka", false), a.condition,
                      zero_of(k));
}

static Operands loaded_operands(Kernel *k, const Tiling *t, Dim left_k, Dim right_k) {
  const Group *g = k->group;
  Node *n = g->nodes.data[0];
  const char *left = loaded_left(k, t, left_k);
  Access b = matrix(k, n->args[1].node, t->group, place_of_step(k, right_k), g->index[2], false);
  const char *right =
      arena_printf(k->arena, "        right = tl.load(%s, mask=%snmask, other=%s)\n", b.pointers,
                   within_limits(k, t, "kb", true), zero_of(k));
  return (Operands){"", "[BM, BN]", left, right, sum_lines(k, n, t), ""};
}

/* The loops over the rests, as far as there are any. */
static const char *rest_lines(Kernel *k, const Tiling *t, Dim left_k, Dim right_k) {
  Text out = text_new(k->arena);
  Tiling part = *t;
  for (int i = 0; i < 2 && t->rest[i].loop; i++) {
    const char *width = t->rest[i].width, *wide = kernel_wide(k);
    part.least = t->rest[i].least;
    part.k = t->rest[i].k;
    Operands o = loaded_operands(k, &part, left_k, right_k);
    text_printf(&out,
                "    %s\n"
                "        ka = start + tl.arange(0, %s)[None, :]%s\n"
                "        kb = start + tl.arange(0, %s)[:, None]%s\n"
                "%s%s%s\n",
                t->rest[i].loop, width, wide, width, wide, o.left, o.right, o.multiply);
  }
  return out.data;
}

/* The left operand's only row. */
static const char *loaded_row(Kernel *k, const Tiling *t, Dim left_k) {
  Node *left = k->group->nodes.data[0]->args[0].node;
  ConcatSource p = {.operand = left, .index = {t->group, dim_int(k->graph->dims, 0), left_k}};
  if (left->type.rank == 2) {
    p.index[0] = p.index[1];
    p.index[1] = left_k;
  }
  Access a = kernel_access(k, &p, "start", "ka");
  return arena_printf(k->arena, "        left = tl.load(%s, mask=(ka < %s)%s, other=0.0)\n",
                      a.pointers, t->k, a.condition);
}

/* Do a tile's rows fit one instruction, of groups those of the mean one? */
static bool has_few_rows(const Group *g) {
  const Node *n = g->nodes.data[0];
  if (!dim_is_int(g->extent[1])) return false;
  int64_t rows = g->extent[1]->value;
  if (prim_groups(n) == GROUPS_NONE) return rows <= TILING_FEW_ROWS;
  Dim groups = n->args[2].node->type.shape[0];
  return dim_is_int(groups) && rows <= TILING_FEW_ROWS * groups->value;
}

/* The right operand is computed from packed weights.  A row of 32-bit floats times it is no product
 * of tiles, but a sum of products in registers. */
static Operands packed_operands(Kernel *k, Tiling *t, Dim left_k, Dim right_k) {
  const Group *g = k->group;
  Node *n = g->nodes.data[0];
  DType held = n->args[0].node->type.dtype;
  bool whole = prim_groups(n) == GROUPS_NONE;
  PackedRows rows = {.few = has_few_rows(g) && dtype_is_half(held),
                     .one = whole && dim_is(g->extent[1], 1)};
  if (rows.one && kernel_held(held) == held) rows.row = n->args[0].node;
  PackedTile p = packed_tile(k, &rows, n->args[1].node, t->group, right_k, g->index[2]);
  const char *before = arena_printf(k->arena,
                                    "    tl.assume(pid < rows * columns)\n"
                                    "    column = %s\n%s",
                                    t->column, p.before);
  if (rows.row)
    return (Operands){before, p.sums, "", p.right, "        acc += left * weight", p.after};
  const char *left = p.few && rows.one ? loaded_row(k, t, left_k) : loaded_left(k, t, left_k);
  if (p.left) left = arena_printf(k->arena, "%s%s", left, p.left);
  const char *multiply = p.multiply ? p.multiply : sum_lines(k, n, t);
  return (Operands){before, p.sums, left, p.right, multiply, p.after};
}

/* ---- programs of several tiles ---- */

void product_loop(Text *out, const char *one, const char *wide) {
  const char *pid = strstr(one, "    pid = "), *band = strstr(one, "    band = ");
  BUG_IF(!pid || !band, "the template has no tile");
  text_putn(out, one, (size_t)(pid - one));
  const char *rows = strchr(pid, '\n') + 1;
  text_putn(out, rows, (size_t)(band - rows));
  text_printf(out, "    for pid in tl.range(tl.program_id(0)%s, rows * columns,", wide);
  text_puts(out, " tl.num_programs(0)):\n");
  for (const char *line = band; *line;) {
    const char *end = strchr(line, '\n');
    size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
    if (n > 1) text_puts(out, "    ");
    text_putn(out, line, n);
    line += n;
  }
}

/* The kernel of a product with a template of its own for CPUs; false: it has none. */
static bool kernel_on_host(Text *out, Kernel *k) {
  Node *n = k->group->nodes.data[0], *turned = panels_turned(k->graph, n);
  bool panels = k->graph->host && panels_of(n->args[1].node);
  NearColumns near = {0};
  if (turned) kernel_turned(out, k, turned);
  else if (panels) kernel_panels(out, k);
  else if (!near_columns_of(k->graph, n, &near)) return false;
  else kernel_near_columns(out, k, &near);
  return true;
}

void kernel_matmul(Text *out, Kernel *k) {
  const Group *g = k->group;
  Dims *d = k->graph->dims;
  Node *n = g->nodes.data[0];
  if (kernel_on_host(out, k)) return;
  Dim left_k = dim_shared_index(d, "ka", steps_extent(k));
  Dim right_k = dim_shared_index(d, "kb", steps_extent(k));
  product_bind(k);
  kernel_bind(k, left_k, "ka", AXIS_N);
  kernel_bind(k, right_k, "kb", AXIS_M);
  Tiling t = tiling_of(k);
  Operands o = prim_unpacks(n) ? packed_operands(k, &t, left_k, right_k)
                               : loaded_operands(k, &t, left_k, right_k);
  if (word_of(k) == 2) o.after = after_sums(2);
  if (t.rest[0].loop) o.after = rest_lines(k, &t, left_k, right_k);
  if (graph_is(n, OP_nereid_ended_bmm_default)) o.after = "    acc = tl.where(m < end, acc, 0.0)\n";
  /* What operands are gathered by is loaded before the loop. */
  o.before = arena_printf(k->arena, "%s%s", o.before, k->body.len ? k->body.data : "");
  k->body = text_new(k->arena);
  Slot slots[] = {{"m", kernel_extent(k, g->extent[1])},
                  {"n", kernel_extent(k, g->extent[2])},
                  {"more_rows", t.more_rows},
                  {"more_columns", t.more_columns},
                  {"groups", t.groups},
                  {"row", t.row},
                  {"column", t.column},
                  {"batch", t.batch},
                  {"row_end", t.row_end},
                  {"column_end", t.column_end},
                  {"sums", dtype_lang_name(loop_dtype(n, word_of(k)))},
                  {"first", t.first},
                  {"last", t.last},
                  {"step", t.step},
                  {"before", o.before},
                  {"shape", o.shape},
                  {"left", o.left},
                  {"right", o.right},
                  {"multiply", o.multiply},
                  {"after", o.after}};
  product_epilogue(k);
  Text one = text_new(k->arena);
  kernel_emit(&one, k, "matmul.py", slots, sizeof slots / sizeof *slots);
  if (product_persists(k->f, g)) product_loop(out, one.data, kernel_wide(k));
  else text_puts(out, one.data);
}
