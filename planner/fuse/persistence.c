/* Which products are kernels whose programs make several tiles.  See planner/fuse/fuse.h. */
#include "graph/ops/window.h"
#include "lower/target/device_peaks.h"
#include "planner/fuse/fuse.h"

/* The tile that gains, in 16 bits, and the least sum that is worth it. */
enum { PERSISTENT_ROWS = 128, PERSISTENT_COLUMNS = 256, PERSISTENT_SUM = 64 };

/* All sizes are known, and rows of 16-bit elements begin at multiples of the 16 bytes that the
 * copies take, whichever axis is contiguous. */
static bool has_copied_rows(const Group *g) {
  enum { ROW = 8 };
  const Node *n = g->nodes.data[0];
  for (int i = 1; i < 4; i++) {
    if (!dim_is_int(g->extent[i])) return false;
    int64_t size = g->extent[i]->value;
    if (size < 1 || size > INT32_MAX || size % ROW) return false;
  }
  return dtype_is_half(n->args[0].node->type.dtype) &&
         dtype_is_half(n->args[1].node->type.dtype);
}

typedef struct {
  const Fusion *f;
  const Group *g;
  bool found;
} Wholes;

static void note_whole(Node *x, const Dim *index, void *ctx) {
  Wholes *w = ctx;
  (void)index;
  if (w->f->of[x->id] == w->g || x->type.kind != VALUE_TENSOR) return;
  Dims *d = w->f->graph->dims;
  w->found |= value_numel(w->f->graph, &x->type) == dim_mul(d, w->g->extent[1], w->g->extent[2]);
}

/* Do the nodes after the product read as many elements as it has?  The plan may store the result
 * over these, and then the copies that store a tile were not apart from loads. */
static bool reads_as_much(const Fusion *f, const Group *g) {
  Wholes w = {f, g, false};
  for (size_t i = 1; i < g->nodes.len; i++) each_operand(f, g->nodes.data[i], note_whole, &w);
  return w.found;
}

/* Convolutions whose windows are one element have few steps, as products with a short sum do. */
static bool has_loop(const Fusion *f, const Group *g) {
  const Node *n = g->nodes.data[0];
  if (prim_kind(n->op) == PRIM_MATMUL)
    return prim_groups(n) == GROUPS_NONE && !prim_unpacks(n) && !prim_scales_blocks(n);
  if (prim_kind(n->op) != PRIM_CONVOLUTION || !convolution_reads_images(f, g)) return false;
  Window w = window_of(f->graph, n);
  return dim_is(window_count(f->graph, &w), 1) && dim_is(image_phases(f->graph, n), 1);
}

bool product_persists(const Fusion *f, const Group *g) {
  const Graph *graph = f->graph;
  if (graph->host || !device_has_warpgroups(graph->gpu) || !has_loop(f, g)) return false;
  if (!dim_is(g->extent[0], 1) || !has_copied_rows(g)) return false;
  if (g->extent[3]->value < PERSISTENT_SUM) return false;
  int64_t rows = g->extent[1]->value, columns = g->extent[2]->value;
  int64_t tiles = (rows + PERSISTENT_ROWS - 1) / PERSISTENT_ROWS *
                  ((columns + PERSISTENT_COLUMNS - 1) / PERSISTENT_COLUMNS);
  return tiles > graph->gpu->processors && !reads_as_much(f, g);
}
