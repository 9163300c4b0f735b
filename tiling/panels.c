#include "tiling/panels.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/prims.h"
#include "graph/ops/window.h"
#include "lower/target/machine.h"
#include "tiling/few_rows.h"
#include "tiling/tiling.h"

enum { LEAST_DEPTH = 64 };
enum { PANEL_AXES = 4 };

/* Numbers of a vector: of words, however short the elements are, or of 64 bits. */
static int lanes_of(DType t) {
  return machine_find("cpu")->lanes * (int)sizeof(float) /
         (t == DT_F64 ? (int)sizeof(double) : (int)sizeof(float));
}

int panels_width(DType t) {
  const Machine *m = machine_find("cpu");
  return lanes_of(t) * machine_block_vectors(m);
}

int panels_vectors(int width, DType t) { return width / lanes_of(t); }

/* Has a product that sums up k elements steps that are worth it? */
static bool has_depth(int64_t k, int width) {
  int depth = tiling_panels(&(PanelProduct){.k = k, .run = k, .width = width}).bk;
  return depth == k || depth >= LEAST_DEPTH;
}

/* A matrix y[rows, columns], whose columns may be open, as a view of its panels of so many columns.
 */
static Node *pack_columns(Build *b, Node *y, int width) {
  Dim rows = y->type.shape[0], columns = y->type.shape[1], each = build_const(b, width);
  Dims *d = b->in.g->dims;
  int64_t word = strided_word(y->type.dtype);
  Dim count = dim_floordiv(d, dim_add(d, columns, build_const(b, width - 1)), each);
  Dim padded = dim_mul(d, count, each);
  if (padded != columns) {
    Arg lengths = arg_dims(b->in.g, 2, (Dim[]){build_const(b, 0), dim_sub(d, padded, columns)});
    y = build(b, OP_aten_constant_pad_nd_default, 2, (Arg[]){arg_node(y), lengths});
  }
  Dim words = build_const(b, rows->value / word), of_word = build_const(b, word);
  Node *cut = build_view(b, y, PANEL_AXES, (Dim[]){words, of_word, count, each});
  Node *panels =
      build_op1(b, OP_aten_clone_default, build_permute(b, cut, (uint32_t[]){2, 0, 3, 1}));
  Node *back = build_permute(b, panels, (uint32_t[]){1, 3, 0, 2});
  back = build_view(b, back, 2, (Dim[]){rows, padded});
  return padded == columns ? back : build_slice(b, back, 1, build_const(b, 0), columns, 1);
}

/* A batch of matrices likewise: their panels follow each other. */
static Node *pack_batch(Build *b, Node *y, int width) {
  const Dim *shape = y->type.shape;
  Dim batch = shape[0], rows = shape[1], columns = shape[2];
  Dim word = build_const(b, strided_word(y->type.dtype)), each = build_const(b, width);
  Dim words = build_const(b, rows->value / word->value);
  Dim count = build_const(b, (columns->value + width - 1) / width);
  Dim padded = build_const(b, count->value * width);
  if (padded != columns) {
    Arg lengths =
        arg_dims(b->in.g, 2, (Dim[]){build_const(b, 0), dim_sub(b->in.g->dims, padded, columns)});
    y = build(b, OP_aten_constant_pad_nd_default, 2, (Arg[]){arg_node(y), lengths});
  }
  Node *cut = build_view(b, y, 5, (Dim[]){batch, words, word, count, each});
  cut = build_permute(b, cut, (uint32_t[]){0, 3, 1, 4, 2});
  Dim all = build_const(b, batch->value * count->value);
  cut = build_view(b, cut, PANEL_AXES, (Dim[]){all, words, each, word});
  Node *back = build_op1(b, OP_aten_clone_default, cut);
  back = build_view(b, back, 5, (Dim[]){batch, count, words, each, word});
  back = build_permute(b, back, (uint32_t[]){0, 2, 4, 1, 3});
  back = build_view(b, back, 3, (Dim[]){batch, rows, padded});
  return padded == columns ? back : build_slice(b, back, 2, build_const(b, 0), columns, 1);
}

/* Columns of a panel for the least work: a narrow panel has fewer sums for each load, and a wide
 * one more columns that are none, and blocks of fewer rows, of which the last one has some that
 * are none: 32 rows are six blocks of six by four vectors, or four of eight by three. */
int panels_width_for(int64_t rows, int64_t columns, DType t) {
  int lanes = lanes_of(t), most = panels_width(t) / lanes, best = most;
  double least = 0;
  for (int vectors = most; vectors > 0; vectors--) {
    int width = vectors * lanes;
    double cost = tiling_vectors_cost(vectors) * (double)((columns + width - 1) / width * width);
    cost *= tiling_rows_done(rows, vectors);
    if (vectors < most && cost >= least) continue;
    best = vectors;
    least = cost;
  }
  return best * lanes;
}

enum { COLUMNS_LEAST = 8 };

/* Narrow panels compute less in vain where few of an open number of columns come, and many take 1
 * to 4% longer: 512 rows of 768x768 3.2 and 3.3 ms, two rows 180 and 330 us. */
static int open_width(DType t) { return 2 * lanes_of(t); }

/* y in panels of so many columns; 0: as many as suit a product of m rows, 0: any number. */
static Node *pack_matrix(Build *b, Node *y, int width, int64_t m) {
  const ValueType *t = &y->type;
  int64_t word = strided_word(t->dtype);
  bool batch = t->rank == 3, known = !batch || dim_is_int(t->shape[0]);
  Dim rows = t->shape[batch], columns = t->shape[1 + batch];
  known &= dim_is_int(rows) && (dim_is_int(columns) || !batch);
  if ((t->dtype != DT_F32 && t->dtype != DT_F64 && word == 1) || !known) return NULL;
  if (!rows->value || rows->value % word) return NULL;
  if (dim_is_int(columns) && columns->value < COLUMNS_LEAST) return NULL;
  if (!width) width = panels_width_for(m, dim_likely(b->in.g->dims, columns), t->dtype);
  if (!dim_is_int(columns) && width > open_width(t->dtype)) width = open_width(t->dtype);
  if (!has_depth(rows->value / word, width)) return NULL;
  return batch ? pack_batch(b, y, width) : pack_columns(b, y, width);
}

/* Words of 16 bits fill whole panels: fewer columns are no panel. */
static Node *pack_words(Build *b, Node *y, int64_t rows) {
  const ValueType *t = &y->type;
  bool pairs = strided_word(t->dtype) == 2;
  Dim columns = size_from_end(y, 1);
  if (pairs && dim_is_int(columns) && columns->value < panels_width(t->dtype)) return NULL;
  return pack_matrix(b, y, pairs ? panels_width(t->dtype) : 0, rows);
}

Node *panels_pack(Build *b, Node *y, int64_t rows) {
  return dim_is_int(size_from_end(y, 1)) ? pack_words(b, y, rows) : NULL;
}

/* The product of all sizes but the last; 0: they are open, or it is too large. */
static int64_t rows_of(const ValueType *t) {
  enum { MOST = 1 << 28 };
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < t->rank; i++) {
    if (!dim_is_int(t->shape[i])) return 0;
    rows *= t->shape[i]->value;
    if (rows < 1 || rows > MOST) return 0;
  }
  return rows;
}

/* A panel has columns of one group; 0: a vector would have those of two. */
static int width_of_group(int64_t columns) {
  int lanes = lanes_of(DT_F32), width = panels_width(DT_F32);
  while (width && columns % width) width -= lanes;
  return width;
}

/* A dot reads shorter rows of its left operand from a copy. */
enum { RUN_LEAST = 9 };

/* The width of panels of a convolution's weight, of elements of that dtype; 0: it does not suit. */
static int width_of_window(Graph *g, const Node *convolution, DType of) {
  Window w = window_of(g, convolution);
  const ValueType *t = &w.weight->type;
  Dim columns = t->shape[t->rank - 1], run = panels_run(g, convolution);
  int64_t groups = graph_arg(g, convolution, "groups").dim->value;
  if (!rows_of(t) || !dim_is_int(columns) || groups < 1 || columns->value < groups) return 0;
  int width = groups > 1 ? width_of_group(columns->value / groups)
                         : panels_width_for(0, columns->value, of);
  int64_t word = strided_word(of), steps = run->value / word;
  if (run->value % word || t->shape[t->rank - 2]->value % word) return 0;
  bool reads = !dtype_is_float(of) || steps >= RUN_LEAST;
  return width && reads && has_depth(steps, width) ? width : 0;
}

bool panels_suit_window(Graph *g, const Node *convolution, DType of) {
  return width_of_window(g, convolution, of) > 0;
}

Node *panels_pack_window(Build *b, Node *convolution) {
  Node *w = convolution->args[1].node;
  const ValueType *t = &w->type;
  Dim shape[] = {build_const(b, rows_of(t)), t->shape[t->rank - 1]};
  int width = width_of_window(b->in.g, convolution, t->dtype);
  Node *y = pack_columns(b, build_view(b, w, 2, shape), width);
  return build_view(b, y, t->rank, t->shape);
}

static Node *operand_of(const Node *n, OpId op) {
  bool is = n && graph_is(n, op);
  return is ? n->args[0].node : NULL;
}

static bool is_width(const Dim width, DType t) {
  return dim_is_int(width) && width->value % lanes_of(t) == 0 && width->value <= panels_width(t);
}

/* Are its columns the first ones of its operand? */
static bool begins_columns(const Node *y) {
  const Arg *a = y->args;
  return graph_is(y, OP_aten_slice_Tensor) && y->nargs == 4 && a[1].kind == ARG_INT &&
         dim_is(a[1].dim, y->type.rank - 1) && a[2].kind == ARG_INT && dim_is(a[2].dim, 0);
}

/* Does each panel have a known size?  How many there are may be open. */
static bool has_known_panels(const ValueType *panels) {
  for (uint32_t i = 1; i < panels->rank; i++)
    if (!dim_is_int(panels->shape[i]) || panels->shape[i]->value < 1) return false;
  return true;
}

/* The panels of the matrix, as pack_columns made them. */
static Node *panels_of_matrix(const Node *y) {
  const Node *whole = begins_columns(y) ? y->args[0].node : NULL;
  const Node *view = whole ? whole : y, *back = operand_of(view, OP_aten_view_default);
  Node *panels = operand_of(back, OP_aten_permute_default);
  if (!operand_of(panels, OP_aten_clone_default) || panels->type.rank != PANEL_AXES) return NULL;
  const Dim *shape = panels->type.shape;
  bool are = has_known_panels(&panels->type) && is_width(shape[2], y->type.dtype) &&
             view->type.rank == 2 && dim_is(shape[3], strided_word(y->type.dtype)) &&
             view->type.shape[0] == y->type.shape[0] && back->type.shape[0] == shape[1] &&
             back->type.shape[1] == shape[3] &&
             dim_is(y->type.shape[0], shape[1]->value * shape[3]->value);
  return are ? panels : NULL;
}

/* The panels of the batch of matrices, as pack_batch made them. */
static Node *panels_of_batch(const Node *y) {
  const Node *whole = begins_columns(y) ? y->args[0].node : NULL;
  const Node *view = whole ? whole : y, *back = operand_of(view, OP_aten_view_default);
  const Node *cut = operand_of(back, OP_aten_permute_default);
  Node *panels = operand_of(cut, OP_aten_view_default);
  if (!operand_of(panels, OP_aten_clone_default) || panels->type.rank != PANEL_AXES) return NULL;
  if (back->type.rank != 5 || view->type.rank != 3 || !rows_of(&panels->type)) return NULL;
  const Dim *shape = panels->type.shape, *to = back->type.shape;
  bool are = is_width(shape[2], y->type.dtype) && to[4] == shape[2] && to[1] == shape[1] &&
             to[2] == shape[3] && dim_is(shape[3], strided_word(y->type.dtype)) &&
             to[0] == y->type.shape[0] && view->type.shape[0] == to[0] &&
             dim_is(y->type.shape[1], shape[1]->value * shape[3]->value) &&
             view->type.shape[1] == y->type.shape[1];
  return are ? panels : NULL;
}

Node *panels_of(const Node *y) {
  Node *batch = y->type.rank == 3 ? panels_of_batch(y) : NULL;
  if (batch) return batch;
  const Node *matrix = y->type.rank == 2 ? y : operand_of(y, OP_aten_view_default);
  return matrix && matrix->type.rank == 2 ? panels_of_matrix(matrix) : NULL;
}

/* ---- products that are computed as their transposes ---- */

/* Are the right operand's columns rows in memory, of the left one's dtype? */
static bool has_rows_of_right(Graph *g, const Node *product) {
  Strided s;
  Node *left = product->args[0].node, *right = product->args[1].node;
  const ValueType *t = &right->type;
  bool same = t->dtype == left->type.dtype && t->rank == 2 && left->type.rank == 2;
  if (!same || !strided_of(g, right, &s) || !dim_is(s.stride[0], 1)) return false;
  bool gathered = s.memory->kind == NODE_CALL && prim_kind(s.memory->op) == PRIM_GATHER;
  return !gathered && dim_divisible(t->shape[0], strided_word(t->dtype));
}

static const uint32_t swapped[] = {1, 0};

bool panels_turn_suits(const Node *product) {
  const ValueType *left = &product->args[0].node->type, *right = &product->args[1].node->type;
  bool known = left->rank == 2 && dim_is_int(left->shape[0]) && dim_is_int(left->shape[1]);
  bool suits = build_wide(left->dtype) == DT_F32 && dtype_bits(left->dtype) >= 16;
  if (!known || !suits || right->dtype != left->dtype) return false;
  int64_t word = strided_word(left->dtype), k = left->shape[1]->value;
  return k > 0 && k % word == 0 && has_depth(k / word, lanes_of(left->dtype));
}

/* Does the kernel compute the right operand of rows that are not few? */
static bool computes_right(const Node *product) {
  return prim_unpacks(product) && prim_groups(product) == GROUPS_NONE &&
         !few_rows_suit(product) && panels_turn_suits(product);
}

/* Few rows whose right operand the kernel reads itself have an order of their own (few_rows.h). */
Node *panels_turn(Build *b, const Node *product) {
  bool computes = computes_right(product);
  if (!computes && (prim_unpacks(product) || !has_rows_of_right(b->in.g, product))) return NULL;
  Node *turned = build_permute(b, product->args[0].node, swapped);
  Node *packed = computes ? pack_matrix(b, turned, 0, 0) : pack_words(b, turned, 0);
  return packed ? build_permute(b, packed, swapped) : NULL;
}

Node *panels_turned(Graph *g, const Node *product) {
  bool multiplies = graph_is_any(product, OP_aten_mm_default, OP_nereid_int8_mm_default);
  bool computes = computes_right(product);
  if (!g->host || (!multiplies && !computes)) return NULL;
  uint32_t axes[GRAPH_RANK_MAX];
  Node *x = product->args[0].node, *y = strided_unpermuted(x, axes);
  bool swaps = y != x && x->type.rank == 2 && axes[0] == 1;
  return swaps && (computes || has_rows_of_right(g, product)) ? panels_of(y) : NULL;
}

/* Rows of fewer channels are too short for a step each. */
enum { CLIPPED_LEAST = 32 };

bool panels_clip(Graph *g, const Node *convolution) {
  Window w = window_of(g, convolution);
  Dim channels = w.weight->type.shape[w.n];
  Arg padding = graph_arg(g, convolution, "padding");
  bool any = false;
  for (uint32_t i = 0; i < padding.n; i++) any |= !dim_is(padding.items[i].dim, 0);
  return any && dim_is(graph_arg(g, convolution, "groups").dim, 1) && dim_is_int(channels) &&
         channels->value >= CLIPPED_LEAST && window_joined(g, convolution) == 1;
}

Dim panels_run(Graph *g, const Node *convolution) {
  Window w = window_of(g, convolution);
  Dim channels = w.weight->type.shape[w.n];
  bool row = dim_is(w.dilation[w.n - 1], 1) && channels == size_from_end(w.input, 1) &&
             !panels_clip(g, convolution);
  return row ? dim_mul(g->dims, channels, w.size[w.n - 1]) : channels;
}
