#include "planner/tiling/weight_rows.h"

#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"

/* A dot reads shorter rows of its operands from copies.  Rows of the window and parts of the sum
 * make so many PROGRAMS of a block of channels, or more. */
enum { VECTOR = 16, WINDOWS_LEAST = 9, WINDOWS_MOST = 1024, WIDTH_MOST = 64, PROGRAMS = 16 };

int64_t weight_row(const Window *w) {
  return w->size[w->n - 1]->value * size_from_end(w->input, 1)->value;
}

bool weight_rows_suit(const ValueType *grad, const Window *w) {
  Dim channels = size_from_end(w->input, 1), windows = grad->shape[w->n];
  bool suits = grad->dtype == DT_F32 && grad->rank <= STRIDED_RANK_MAX && dim_is_int(channels) &&
               dim_is_int(grad->shape[w->n + 1]) && dim_is_int(windows) &&
               windows->value >= WINDOWS_LEAST && windows->value <= WINDOWS_MOST &&
               dim_is(w->dilation[w->n - 1], 1);
  for (uint32_t i = 0; i < w->n && suits; i++)
    suits = dim_is_int(w->size[i]) && dim_is_int(w->stride[i]) && dim_is_int(w->dilation[i]) &&
            dim_is_int(w->before[i]) && w->before[i]->value >= 0 && w->size[i]->value > 0 &&
            !dim_is(grad->shape[i], 0); /* without steps there is no kernel */
  return suits && grad->shape[w->n + 1]->value > 0 && weight_row(w) > 0;
}

int64_t weight_row_read(const Window *w) {
  return (weight_row(w) + VECTOR - 1) / VECTOR * VECTOR;
}

/* Is what is read of the last window of a row of the image within the row? */
static bool row_has_room(const Window *w, const Strided *s, Dim windows) {
  uint32_t last = w->n - 1;
  int64_t channels = size_from_end(w->input, 1)->value;
  int64_t begin = (windows->value - 1) * w->stride[last]->value * channels;
  Dim pitch = s->stride[last]; /* of the axis before the last size */
  bool whole = weight_row(w) % VECTOR == 0;
  return whole || (dim_is_int(pitch) && begin + weight_row_read(w) <= pitch->value);
}

bool weight_has_rows(Graph *g, const Node *n) {
  if (!g->host || !graph_is(n, OP_nereid_conv_weight_default)) return false;
  Window w = window_of(g, n);
  Node *grad = n->args[0].node;
  Strided s, of_grad;
  if (!weight_rows_suit(&grad->type, &w)) return false;
  for (uint32_t i = 0; i < w.n; i++)
    if (!dim_is(w.before[i], 0)) return false;
  Dim channels = size_from_end(w.input, 1);
  return strided_of(g, w.input, &s) && strided_of(g, grad, &of_grad) &&
         row_has_room(&w, &s, grad->type.shape[w.n]) &&
         (dim_is(channels, 1) || dim_is(s.stride[w.n + 1], 1)) &&
         (dim_is(w.size[w.n - 1], 1) || s.stride[w.n] == channels);
}

Tile weight_rows_tile(int64_t m, const Window *w, int64_t windows_of_row) {
  int64_t width = WIDTH_MOST, row = weight_row_read(w);
  while (row % width) width -= VECTOR;
  Tile t =
      tiling_panels(m, row * PROGRAMS, windows_of_row, windows_of_row, (int)width, false);
  t.bk = (int)windows_of_row;
  return t;
}

int weight_rows_parts(int64_t bytes, int64_t tiles, int64_t result) {
  enum { CACHE = 1 << 19, PROCESSORS = 16, MOST = 16 };
  int64_t parts = bytes / CACHE;
  if (parts * result > bytes) parts = bytes / result;
  if (parts * tiles < PROCESSORS) parts = (PROCESSORS + tiles - 1) / tiles;
  return parts < 1 ? 1 : parts > MOST ? MOST : (int)parts;
}
