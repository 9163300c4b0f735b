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

/* Steps of an open number of windows. */
enum { STEP_MOST = 16, STEP_LEAST = 8, MOST_FROM = 32 };

int64_t weight_rows_step(const ValueType *grad, const Window *w) {
  Dim windows = grad->shape[w->n];
  if (dim_is_int(windows)) return windows->value;
  if (dim_divisible(windows, STEP_MOST)) return STEP_MOST;
  return dim_divisible(windows, STEP_LEAST) ? STEP_LEAST : 0;
}

Dim weight_windows_more(Dims *d, const ValueType *grad, const Window *w) {
  Dim windows = grad->shape[w->n];
  if (weight_rows_step(grad, w)) return dim_int(d, 0);
  int64_t likely = dim_likely(d, windows);
  int64_t step = likely && likely < MOST_FROM ? STEP_LEAST : STEP_MOST;
  Dim steps = dim_floordiv(d, dim_add(d, windows, dim_int(d, step - 1)), dim_int(d, step));
  return dim_sub(d, dim_mul(d, steps, dim_int(d, step)), windows);
}

static bool suits_windows(Dim windows) {
  if (!dim_is_int(windows)) return true;
  return windows->value >= WINDOWS_LEAST && windows->value <= WINDOWS_MOST;
}

bool weight_rows_suit(const ValueType *grad, const Window *w) {
  Dim channels = size_from_end(w->input, 1), windows = grad->shape[w->n];
  bool suits = grad->dtype == DT_F32 && grad->rank <= STRIDED_RANK_MAX && dim_is_int(channels) &&
               dim_is_int(grad->shape[w->n + 1]) && suits_windows(windows);
  for (uint32_t i = 0; i < w->n && suits; i++)
    suits = dim_is_int(w->size[i]) && dim_is_int(w->stride[i]) && dim_is_int(w->dilation[i]) &&
            dim_is_int(w->before[i]) && w->before[i]->value >= 0 && w->size[i]->value > 0 &&
            !dim_is(grad->shape[i], 0); /* without steps there is no kernel */
  return suits && grad->shape[w->n + 1]->value > 0 && weight_row(w) > 0;
}

int64_t weight_channels_more(const ValueType *grad) {
  return -grad->shape[grad->rank - 1]->value & (VECTOR - 1);
}

int64_t weight_row_more(const Window *w) { return -weight_row(w) & (VECTOR - 1); }

/* Are a vector's channels, which begin at multiples of vectors, in memory? */
static bool has_whole_channels(const ValueType *grad, const Strided *s, bool vectors) {
  uint32_t last = grad->rank - 1;
  int64_t read = grad->shape[last]->value + (vectors ? weight_channels_more(grad) : 0);
  bool next = dim_is(s->stride[last], 1) || dim_is(grad->shape[last], 1);
  return next && dim_is_int(s->stride[last - 1]) && s->stride[last - 1]->value >= read;
}

/* Are the elements in memory that vectors have behind the input's last row?  A slice of a buffer
 * that ends later has them. */
static bool has_rows_behind(Dims *d, const Window *w, const Strided *s) {
  Dim one = dim_int(d, 1), behind = dim_sub(d, dim_int(d, -1), s->offset), all = one;
  if (!weight_row_more(w)) return true;
  for (uint32_t i = 0; i < s->memory->type.rank; i++)
    all = dim_mul(d, all, s->memory->type.shape[i]);
  for (uint32_t i = 0; i < w->input->type.rank; i++)
    behind = dim_sub(d, behind,
                     dim_mul(d, dim_sub(d, w->input->type.shape[i], one), s->stride[i]));
  return dim_range(d, dim_add(d, all, behind)).lo >= weight_row_more(w);
}

bool weight_has_rows(Graph *g, const Node *n) {
  if (!g->host || !graph_is(n, OP_nereid_conv_weight_default)) return false;
  Window w = window_of(g, n);
  bool last = window_outputs_last(g, n);
  Node *grad = n->args[0].node;
  Strided s, of_grad;
  if (!weight_rows_suit(&grad->type, &w) || !weight_rows_step(&grad->type, &w)) return false;
  for (uint32_t i = 0; i < w.n; i++)
    if (!dim_is(w.before[i], 0)) return false;
  Dim channels = size_from_end(w.input, 1);
  return strided_of(g, w.input, &s) && strided_of(g, grad, &of_grad) &&
         has_whole_channels(&grad->type, &of_grad, last) &&
         (last || has_rows_behind(g->dims, &w, &s)) &&
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

/* Vectors of a block of columns of so many, which are whole ones. */
static int block_vectors(int64_t width) {
  const Machine *m = machine_find("cpu");
  return machine_vectors_of(m, (int)(width / m->lanes));
}

static int64_t whole_vectors(int64_t columns) { return (columns + VECTOR - 1) / VECTOR * VECTOR; }

/* A tile has as many output channels, ... */
static int64_t outputs_for(int64_t outputs) {
  int64_t width = WIDTH_MOST;
  while (whole_vectors(outputs) % width) width -= VECTOR;
  return width;
}

/* ... or elements of a row of the window: all of a short one, which are then read in place, or
 * equal parts that have the best blocks. */
static int64_t elements_for(int64_t row) {
  int64_t whole = whole_vectors(row), best = VECTOR;
  for (int64_t width = VECTOR; width <= ROWS_MOST; width += VECTOR)
    if (whole % width == 0 && block_vectors(width) >= block_vectors(best)) best = width;
  return best;
}

Tile weight_rows_tile(int64_t outputs, const Window *w, int64_t windows_of_row, bool last) {
  int64_t row = weight_row(w), width = last ? outputs_for(outputs) : elements_for(row);
  int64_t rows = rows_for(last ? row : outputs, block_vectors(width));
  return (Tile){(int)rows, (int)width, (int)windows_of_row, 1, 1};
}

/* What it costs to multiply by one of so many columns. */
static double columns_cost(int64_t columns, int64_t width) {
  double cost = tiling_vectors_cost(block_vectors(width));
  return (double)whole_vectors(columns) * cost / (double)columns;
}

bool weight_outputs_last(int64_t outputs, const Window *w, bool copied) {
  if (weight_row_more(w) && !copied) return true;
  int64_t row = weight_row(w);
  return columns_cost(outputs, outputs_for(outputs)) < columns_cost(row, elements_for(row));
}

int weight_rows_parts(int64_t bytes, int64_t tiles, int64_t result) {
  enum { CACHE = 1 << 19, PROCESSORS = 16, MOST = 16 };
  int64_t parts = bytes / CACHE;
  if (parts * result > bytes) parts = bytes / result;
  if (parts * tiles < PROCESSORS) parts = (PROCESSORS + tiles - 1) / tiles;
  return parts < 1 ? 1 : parts > MOST ? MOST : (int)parts;
}
