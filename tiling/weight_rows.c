#include "tiling/weight_rows.h"

#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "lower/target/machine.h"

enum { VECTOR = 16, WINDOWS_LEAST = 2, WINDOWS_MOST = 1024, WIDTH_MOST = 64, ROWS_MOST = 96 };

bool weight_row_is_whole(const Window *w) {
  return dim_is(w->dilation[w->n - 1], 1) || dim_is(w->size[w->n - 1], 1);
}

int64_t weight_row(const Window *w) {
  int64_t channels = size_from_end(w->input, 1)->value;
  return weight_row_is_whole(w) ? w->size[w->n - 1]->value * channels : channels;
}

bool weight_rows_suit(const ValueType *grad, const Window *w) {
  Dim channels = size_from_end(w->input, 1), windows = grad->shape[w->n];
  bool suits = grad->dtype == DT_F32 && grad->rank <= STRIDED_RANK_MAX && dim_is_int(channels) &&
               dim_is_int(grad->shape[w->n + 1]) && dim_is_int(windows) &&
               windows->value >= WINDOWS_LEAST && windows->value <= WINDOWS_MOST;
  for (uint32_t i = 0; i < w->n && suits; i++)
    suits = dim_is_int(w->size[i]) && dim_is_int(w->stride[i]) && dim_is_int(w->dilation[i]) &&
            dim_is_int(w->before[i]) && w->before[i]->value >= 0 && w->size[i]->value > 0 &&
            !dim_is(grad->shape[i], 0); /* without steps there is no kernel */
  return suits && grad->shape[w->n + 1]->value > 0 && weight_row(w) > 0;
}

int64_t weight_channels_more(const ValueType *grad) {
  return -grad->shape[grad->rank - 1]->value & (VECTOR - 1);
}

/* Are a vector's channels, which begin at multiples of vectors, in memory? */
static bool has_whole_channels(const ValueType *grad, const Strided *s) {
  uint32_t last = grad->rank - 1;
  int64_t read = grad->shape[last]->value + weight_channels_more(grad);
  bool next = dim_is(s->stride[last], 1) || dim_is(grad->shape[last], 1);
  return next && dim_is_int(s->stride[last - 1]) && s->stride[last - 1]->value >= read;
}

bool weight_has_rows(Graph *g, const Node *n) {
  if (!graph_is(n, OP_nereid_conv_weight_default) || !window_outputs_last(g, n)) return false;
  Window w = window_of(g, n);
  Node *grad = n->args[0].node;
  Strided s, of_grad;
  if (!weight_rows_suit(&grad->type, &w)) return false;
  for (uint32_t i = 0; i < w.n; i++)
    if (!dim_is(w.before[i], 0)) return false;
  Dim channels = size_from_end(w.input, 1);
  return strided_of(g, w.input, &s) && strided_of(g, grad, &of_grad) &&
         has_whole_channels(&grad->type, &of_grad) &&
         (dim_is(channels, 1) || dim_is(s.stride[w.n + 1], 1)) &&
         (dim_is(w.size[w.n - 1], 1) || s.stride[w.n] == channels || !weight_row_is_whole(&w));
}

/* The most rows of a block, of so many vectors, that divide a tile's. */
static int64_t block_of(int64_t rows, int vectors) {
  int64_t block = machine_block_rows(machine_find("cpu"), vectors);
  while (rows % block) block--;
  return block;
}

/* Rows of a tile: those of the window's row in equal parts, if their blocks have SUMS or more, for
 * which no multiply-add waits; else whole blocks, of which the last ones repeat rows. */
static int64_t rows_for(int64_t row, int vectors) {
  enum { SUMS = 8, TILES_MORE = 8 };
  int64_t tiles = (row + ROWS_MOST - 1) / ROWS_MOST, block = block_of(0, vectors);
  for (int64_t n = tiles; n <= tiles + TILES_MORE; n++)
    if (row % n == 0 && block_of(row / n, vectors) * vectors >= SUMS) return row / n;
  int64_t rows = (row + tiles - 1) / tiles;
  return (rows + block - 1) / block * block;
}

Tile weight_rows_tile(int64_t outputs, const Window *w, int64_t windows_of_row) {
  int64_t width = WIDTH_MOST, whole = (outputs + VECTOR - 1) / VECTOR * VECTOR;
  while (whole % width) width -= VECTOR;
  const Machine *m = machine_find("cpu");
  int vectors = machine_block_vectors(m);
  while (width / m->lanes % vectors) vectors--;
  int64_t rows = rows_for(weight_row(w), vectors);
  return (Tile){(int)rows, (int)width, (int)windows_of_row, 1, 1};
}

int weight_rows_parts(int64_t bytes, int64_t tiles, int64_t result) {
  enum { CACHE = 1 << 19, PROCESSORS = 16, MOST = 16 };
  int64_t parts = bytes / CACHE;
  if (parts * result > bytes) parts = bytes / result;
  if (parts * tiles < PROCESSORS) parts = (PROCESSORS + tiles - 1) / tiles;
  return parts < 1 ? 1 : parts > MOST ? MOST : (int)parts;
}
