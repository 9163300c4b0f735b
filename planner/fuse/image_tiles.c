/* Which convolutions have tiles that are parts of images.  See planner/fuse/fuse.h. */
#include "graph/ops/prims.h"
#include "graph/ops/window.h"
#include "lower/target/device_peaks.h"
#include "planner/fuse/fuse.h"

enum { WARPGROUP_ROWS = 64 };

/* All but the number of images. */
static bool has_known_sizes(const ValueType *t) {
  for (uint32_t i = 1; i < t->rank; i++)
    if (!dim_is_int(t->shape[i]) || t->shape[i]->value < 1) return false;
  return true;
}

/* Do tensor copies take parts of the images? */
static bool meets_images(Graph *g, const Node *n, const Window *w) {
  if (g->host || !g->gpu || !device_has_warpgroups(g->gpu)) return false;
  bool units = dtype_is_half(w->input->type.dtype) || window_rounded(g, n);
  return units && has_known_sizes(&w->input->type) && has_known_sizes(&n->type) &&
         window_meets_boxes(w);
}

/* The block that a group's channels fill in part; 0: tensor copies do not take them. */
static int64_t partial_block(Graph *g, const Node *n) {
  enum { LEAST = 8, MOST = 64, BLOCK_MIN = 16, COPY_BITS = 128 };
  Window w = window_of(g, n);
  Dim channels = w.weight->type.shape[w.n];
  bool fits = dim_is_int(channels) && channels->value >= LEAST && channels->value < MOST &&
              channels == w.input->type.shape[w.n + 1] && meets_images(g, n, &w);
  for (uint32_t i = 0; i <= w.n && fits; i++) {
    int64_t stride = view_stride(g, w.input, i);
    fits = stride > 0 && stride * dtype_bits(w.input->type.dtype) % COPY_BITS == 0;
  }
  int64_t block = BLOCK_MIN;
  while (fits && block < channels->value) block *= 2;
  return fits ? block : 0;
}

int64_t convolution_block(Graph *g, const Node *n) {
  int64_t block = window_block(n);
  return block ? block : partial_block(g, n);
}

bool convolution_reads_images(const Fusion *f, const Group *g) {
  const Node *n = g->nodes.data[0];
  if (prim_kind(n->op) != PRIM_CONVOLUTION || !convolution_block(f->graph, n)) return false;
  Window w = window_of(f->graph, n);
  int64_t rows = dim_likely(f->graph->dims, g->extent[1]);
  return meets_images(f->graph, n, &w) && (!rows || rows >= WARPGROUP_ROWS);
}

Dim image_extent(Graph *g, const Node *n, uint32_t axis) {
  Window w = window_of(g, n);
  Dim spread = w.spread[axis - 1], more = dim_sub(g->dims, spread, dim_int(g->dims, 1));
  return dim_floordiv(g->dims, dim_add(g->dims, n->type.shape[axis], more), spread);
}

Dim image_phases(Graph *g, const Node *n) {
  Window w = window_of(g, n);
  Dim all = dim_int(g->dims, 1);
  for (uint32_t i = 0; i < w.n; i++) all = dim_mul(g->dims, all, w.spread[i]);
  return all;
}

const char *image_side(uint32_t axis) {
  static const char *const sides[] = {"BW", "BH", "BD"};
  return sides[axis];
}

static int64_t divided_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* The tiles of that part, which is one of `rows` positions. */
static int64_t count_tiles(const ImagePart *p, const int64_t *extent, uint32_t axes) {
  int64_t n = divided_up(extent[axes], p->images);
  for (uint32_t i = 0; i < axes; i++) n *= divided_up(extent[i], p->side[i]);
  return n;
}

static bool is_wider(const ImagePart *a, const ImagePart *b, uint32_t axes) {
  for (uint32_t i = 0; i < axes; i++)
    if (a->side[i] != b->side[i]) return a->side[i] > b->side[i];
  return false;
}

/* Tries all sides from `axis` on; `rows` are left for these and the images. */
static void try_sides(ImagePart *best, ImagePart at, const int64_t *extent, uint32_t axes,
                      uint32_t axis, int64_t rows) {
  enum { WIDEST = 16 };
  if (axis < axes) {
    for (int64_t side = 1; side <= rows; side *= 2) {
      if (side > WIDEST && side > extent[axis]) return;
      at.side[axis] = side;
      try_sides(best, at, extent, axes, axis + 1, rows / side);
    }
    return;
  }
  at.images = rows;
  int64_t now = count_tiles(&at, extent, axes);
  int64_t least = best->images ? count_tiles(best, extent, axes) : INT64_MAX;
  if (now < least || (now == least && is_wider(&at, best, axes))) *best = at;
}

ImagePart image_part(const Graph *g, const Dim *images, uint32_t axes, int64_t rows) {
  enum { IMAGES = 8 };
  int64_t extent[WINDOW_AXES + 1], count = dim_likely(g->dims, images[0]);
  for (uint32_t i = 0; i < axes; i++) extent[i] = images[axes - i]->value;
  extent[axes] = count ? count : IMAGES;
  ImagePart best = {0};
  try_sides(&best, best, extent, axes, 0, rows);
  return best;
}
