/* Tiles of products of matrices, of convolutions and of the gradients of their weights. */
#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/window.h"
#include "planner/plan/step_choices.h"
#include "planner/plan/tiles.h"
#include "tiling/few_rows.h"
#include "tiling/near_columns.h"
#include "tiling/panels.h"
#include "tiling/tiling.h"
#include "tiling/weight_rows.h"

/* No more than the extent takes; 16 at least, which the units that multiply want, or fewer in a
 * smaller block. */
static int64_t fitting(Dim n, int64_t block) {
  int64_t p = block_within(n, block), least = block < 16 ? block : 16;
  return p < least ? least : p;
}

static int64_t product_word(Graph *g, const Node *n) {
  return strided_sums_words(g, n) ? strided_word(n->args[0].node->type.dtype) : 1;
}

/* The elements that one step sums up; of convolutions whole blocks of channels. */
static int64_t depth(const Tiles *t, const Group *g, int64_t most_wanted) {
  const Node *n = g->nodes.data[0];
  int64_t block = prim_kind(n->op) == PRIM_CONVOLUTION ? convolution_block(t->graph, n) : 0;
  if (block) return block < most_wanted ? block : most_wanted;
  int64_t each = product_word(t->graph, n);
  Dim all = g->extent[3];
  bool whole = !t->gpu && each == 1 && dim_is_int(all) && all->value > 0 &&
               all->value <= most_wanted;
  return whole ? all->value : fitting(all, each * most_wanted) / each;
}

/* The axis whose parts are the first node's groups. */
static ProductGroups groups_of(const Group *g) {
  const Node *n = g->nodes.data[0];
  return prim_kind(n->op) == PRIM_MATMUL ? prim_groups(n) : GROUPS_NONE;
}

static Dim group_count(const Group *g) {
  const Node *n = g->nodes.data[0];
  return graph_is(n, OP_nereid_parted_mm_default) ? g->extent[0] : n->args[2].node->type.shape[0];
}

/* Blocks of an axis; of one that is made of groups as many as there may be: the last block of each
 * of them, and of what is after the last one, may have a single element. */
static Dim product_blocks(const Tiles *t, const Group *g, int axis, int64_t block) {
  Dim n = blocks_of_size(t, g->extent[axis], block);
  bool groups = groups_of(g) == (axis == 1 ? GROUPS_OF_ROWS : GROUPS_OF_COLUMNS);
  return groups ? dim_add(t->graph->dims, n, group_count(g)) : n;
}

/* Rows of a tile: no more than there are, but as many as a warpgroup multiplies of 8-bit floats. */
static int64_t tile_rows(const Tiles *t, const Group *g, int64_t most) {
  enum { WARPGROUP_ROWS = 64 };
  if (!t->gpu) return most;
  bool group = dtype_bits(g->nodes.data[0]->args[0].node->type.dtype) == 8 &&
               device_has_warpgroups(t->graph->gpu) && most >= WARPGROUP_ROWS;
  int64_t rows = fitting(g->extent[1], most);
  return group && rows < WARPGROUP_ROWS ? WARPGROUP_ROWS : rows;
}

/* The sides of a part of images with so many positions; the result: how many such parts there
 * are. */
static Dim add_part_sides(const Tiles *t, const Dim *images, uint32_t axes, int64_t rows,
                          StepChoice *c) {
  ImagePart part = image_part(t->graph, images, axes, rows);
  Dim count = blocks_of_size(t, images[0], part.images);
  add_choice_constexpr(t, c, "BI", part.images);
  for (uint32_t i = 0; i < axes; i++) {
    add_choice_constexpr(t, c, image_side(i), part.side[i]);
    Dim parts = blocks_of_size(t, images[axes - i], part.side[i]);
    count = dim_mul(t->graph->dims, count, parts);
  }
  return count;
}

/* The rows of a convolution's tile. */
static Dim add_image_sides(const Tiles *t, const Group *g, int64_t rows, StepChoice *c) {
  enum { WARPGROUP_ROWS = 64 };
  const Node *n = g->nodes.data[0];
  uint32_t axes = n->type.rank - 2;
  Dim images[IMAGE_SIDES + 1] = {n->type.shape[0]};
  for (uint32_t i = 1; i <= axes; i++) images[i] = image_extent(t->graph, n, i);
  return add_part_sides(t, images, axes, rows < WARPGROUP_ROWS ? WARPGROUP_ROWS : rows, c);
}

static StepChoice product_choice(const Tiles *t, const Group *g, const Tile *tile) {
  StepChoice c = choice_new(t);
  bool row = tile->bm == 1; /* no unit multiplies */
  int64_t bm = row ? tile->bm : tile_rows(t, g, tile->bm);
  int64_t bn = row ? block_within(g->extent[2], tile->bn) : fitting(g->extent[2], tile->bn);
  bool images = convolution_reads_images(t->fusion, g);
  Dim rows = images ? add_image_sides(t, g, tile->bm, &c) : product_blocks(t, g, 1, bm);
  if (!images) add_choice_constexpr(t, &c, "BM", bm);
  add_choice_constexpr(t, &c, "BN", bn);
  add_choice_constexpr(t, &c, "BK", depth(t, g, tile->bk));
  c.grid[0] = dim_mul(t->graph->dims, rows, product_blocks(t, g, 2, bn));
  c.grid[1] = g->extent[0];
  if (images) c.grid[2] = image_phases(t->graph, g->nodes.data[0]);
  c.warps = (uint32_t)tile->warps;
  c.stages = (uint32_t)tile->stages;
  Tile own = {(int)bm, (int)bn, tile->bk, tile->warps, tile->stages};
  int stages = tiling_persistent_stages(&own);
  if (t->gpu && stages && product_persists(t->fusion, g)) {
    Dim tiles = c.grid[0], most = dim_int(t->graph->dims, t->graph->gpu->processors);
    c.grid[0] = dim_min(t->graph->dims, tiles, most);
    if (c.grid[0] != tiles) c.stages = (uint32_t)stages;
  }
  return c;
}

/* A convolution keeps several numbers for each of its rows. */
enum { ROWS_MAX = 128, CONVOLUTION_ROWS_MAX = 64 };

static StepChoice cpu_choice(const Tiles *t, const Group *g, const Product *p) {
  bool convolution = prim_kind(g->nodes.data[0]->op) == PRIM_CONVOLUTION;
  Tile tile = tiling_cpu(p, convolution ? CONVOLUTION_ROWS_MAX : ROWS_MAX);
  return product_choice(t, g, &tile);
}

static StepChoice panels_choice(const Tiles *t, const Group *g) {
  const Dim *e = g->extent;
  const Node *n = g->nodes.data[0];
  int64_t word = strided_word(n->args[1].node->type.dtype);
  bool convolution = prim_kind(n->op) == PRIM_CONVOLUTION;
  Dim run = convolution ? panels_run(t->graph, n) : e[3];
  const ValueType *panels = &panels_of(n->args[1].node)->type;
  int width = (int)panels->shape[2]->value;
  PanelProduct p = {.batch = dim_is_int(e[0]) ? e[0]->value : 1,
                    .m = dim_is_int(e[1]) ? e[1]->value : 0,
                    .n = e[2]->value,
                    .k = e[3]->value / word,
                    .run = run->value / word,
                    .width = width,
                    .vectors = panels_vectors(width, panels->dtype),
                    .tiles = tiling_has_tiles(word),
                    .follow = !convolution,
                    .bytes = word == STRIDED_WORD && !convolution && !tiling_has_tiles(word)};
  Tile tile = tiling_panels(&p);
  StepChoice c = choice_new(t);
  add_choice_constexpr(t, &c, "BM", tile.bm);
  add_choice_constexpr(t, &c, "BN", tile.bn);
  add_choice_constexpr(t, &c, "BK", tile.bk);
  Dim own = convolution ? size_from_end(n->args[0].node, 1) : run;
  int64_t bytes = dim_is_int(own) ? own->value * dtype_bytes(n->args[0].node->type.dtype) : 0;
  add_choice_constexpr(t, &c, "BAND", tiling_panel_band(tile.bm, bytes));
  c.grid[0] =
      dim_mul(t->graph->dims, blocks_of_size(t, e[1], tile.bm), blocks_of_size(t, e[2], tile.bn));
  c.grid[1] = e[0];
  return c;
}

static StepChoice near_choice(const Tiles *t, const Group *g, const NearColumns *near) {
  const Dim *e = g->extent;
  const Tile *tile = &near->tile;
  StepChoice c = choice_new(t);
  add_choice_constexpr(t, &c, "BM", tile->bm);
  add_choice_constexpr(t, &c, "BN", tile->bn);
  add_choice_constexpr(t, &c, "ROWS", near->rows);
  c.grid[0] = dim_mul(t->graph->dims, blocks_of_size(t, e[1], near->rows),
                      blocks_of_size(t, e[2], tile->bn));
  c.grid[1] = e[0];
  return c;
}

/* Steps of a turned product: 2 KiB of a row at most, or `most`, where few steps divide k. */
static int64_t turned_steps(int64_t k, int64_t bytes, int64_t most) {
  enum { BYTES = 2048, LEAST = 64 };
  int64_t steps = BYTES / bytes;
  if (k <= steps) return k;
  while (k % steps) steps--;
  return steps >= LEAST ? steps : most;
}

/* Steps of weights that a program makes: parts of rows that are shorter than a KiB wait for memory,
 * 2.5 to 3.5 ms for 1.8. */
static int64_t unpacked_steps(int64_t k) {
  int64_t steps = 1024;
  while (k % steps) steps--;
  return steps;
}

/* Columns of turned products are rows of blocks of any number of vectors, and lanes of what is
 * stored. */
static StepChoice turned_choice(const Tiles *t, const Group *g, const Node *panels) {
  enum { ROWS = 48, UNIT_ROWS = 64, UNPACKED_ROWS = 32 };
  const Dim *e = g->extent;
  int64_t word = strided_word(g->nodes.data[0]->args[1].node->type.dtype);
  bool unit = tiling_has_tiles(word);
  int64_t k = e[3]->value / word;
  int width = (int)panels->type.shape[2]->value;
  PanelProduct p = {
      .batch = 1, .n = e[2]->value, .k = k, .run = k, .width = width, .tiles = unit};
  Tile tile = tiling_panels(&p);
  StepChoice c = choice_new(t);
  bool unpacks = prim_unpacks(g->nodes.data[0]);
  int64_t bm = unpacks ? UNPACKED_ROWS : unit ? UNIT_ROWS : ROWS;
  add_choice_constexpr(t, &c, "BM", bm);
  add_choice_constexpr(t, &c, "BN", tile.bn);
  int64_t bytes = word * dtype_bytes(g->nodes.data[0]->args[1].node->type.dtype);
  int64_t steps = turned_steps(e[3]->value / word, bytes, tile.bk);
  if (unpacks) steps = unpacked_steps(k);
  add_choice_constexpr(t, &c, "BK", steps);
  add_choice_constexpr(t, &c, "BAND", tiling_turned_band((int)bm, e[3]->value * bytes / word));
  c.grid[0] =
      dim_mul(t->graph->dims, blocks_of_size(t, e[2], bm), blocks_of_size(t, e[1], tile.bn));
  c.grid[1] = e[0];
  return c;
}

static StepChoice few_rows_choice(const Tiles *t, const Group *g) {
  StepChoice c = choice_new(t);
  add_choice_constexpr(t, &c, "BM", g->extent[1]->value);
  FewRows f = few_rows_of(g->nodes.data[0]);
  int64_t columns = f.across ? f.width : FEW_ROWS_COLUMNS;
  add_choice_constexpr(t, &c, "BN", columns);
  c.grid[0] = blocks_of_size(t, g->extent[2], columns);
  c.grid[1] = g->extent[0];
  return c;
}

/* An extent as tiles are chosen for it: an open one is not taken for a small one, since tiles of
 * few rows are slow for many.  0: nothing is known. */
static int64_t tiled_extent(const Tiles *t, Dim n) {
  enum { OPEN_LEAST = 64 };
  int64_t likely = dim_likely(t->graph->dims, n);
  return dim_is_int(n) || !likely || likely > OPEN_LEAST ? likely : OPEN_LEAST;
}

/* Groups as products of their mean size; false: it is open how many there are. */
static bool mean_group(const Tiles *t, const Group *g, Product *p) {
  ProductGroups groups = groups_of(g);
  if (groups == GROUPS_NONE) return true;
  int64_t n = tiled_extent(t, group_count(g));
  int64_t *parted = groups == GROUPS_OF_ROWS ? &p->m : groups == GROUPS_OF_SUM ? &p->k : &p->n;
  if (n < 1) return false;
  p->batch = n;
  *parted = (*parted + n - 1) / n;
  return true;
}

static bool rounds_to_tf32(const Graph *g, const Node *n) {
  if (!g->gpu || g->host) return false;
  return graph_rounds(g, prim_kind(n->op) == PRIM_CONVOLUTION ? ROUNDS_AS_CONVOLUTION : n->rounds);
}

/* Is a product's right operand contiguous along the axis that is summed up? */
static bool has_contiguous_columns(Graph *g, Node *right) {
  return view_stride(g, right, right->type.rank - 2) == 1;
}

/* Phases are batches, which share the rows and the positions of the window; an element is read at
 * each of these. */
static void share_phases(const Tiles *t, const Node *n, Product *p) {
  int64_t phases = image_phases(t->graph, n)->value;
  p->batch *= phases;
  p->m = (p->m + phases - 1) / phases;
  p->k = (p->k + phases - 1) / phases;
  Window w = window_of(t->graph, n);
  p->again = (int)dim_likely(t->graph->dims, window_count(t->graph, &w));
}

/* False: sizes are open. */
static bool group_product(const Tiles *t, const Group *g, Product *p) {
  int64_t e[4];
  bool known = true;
  for (int i = 0; i < 4; i++) {
    e[i] = tiled_extent(t, g->extent[i]);
    known &= e[i] || dim_is_int(g->extent[i]);
  }
  DType dtype = g->nodes.data[0]->args[0].node->type.dtype;
  *p = (Product){t->graph->gpu, dtype, e[0], e[1], e[2], e[3], .persists = false};
  p->persists = t->gpu && product_persists(t->fusion, g);
  const Node *first = g->nodes.data[0];
  p->images = t->gpu && convolution_reads_images(t->fusion, g);
  if (p->images) share_phases(t, first, p);
  p->elements = prim_kind(first->op) == PRIM_CONVOLUTION && !convolution_block(t->graph, first);
  p->result = prim_kind(first->op) == PRIM_MATMUL ? (int)dtype_bytes(first->type.dtype) : 0;
  p->sums = groups_of(g) == GROUPS_OF_SUM;
  int64_t word = product_word(t->graph, first);
  p->k /= word;
  p->tiles = !t->gpu && tiling_has_tiles(word);
  p->rounds = dtype == DT_F32 && rounds_to_tf32(t->graph, first);
  p->before = first->rounds == ROUNDS_BEFORE;
  p->columns = prim_kind(first->op) == PRIM_MATMUL && !prim_unpacks(first) &&
               has_contiguous_columns(t->graph, first->args[1].node);
  return known && mean_group(t, g, p);
}

/* A step's sums are apart from the others if their scales are of blocks, of which a tile is a
 * part. */
static bool sums_fit_twice(const Group *g, const Tile *tile) {
  enum { LANES = 32, MOST = 64, BLOCK = 128 };
  if (!prim_scales_blocks(g->nodes.data[0])) return true;
  bool inside = tile->bm <= BLOCK && tile->bn <= BLOCK;
  return inside && tile->bm * tile->bn <= MOST * LANES * tile->warps;
}

/* A program that adds the sums of a block to the others leaves the units to other programs.  Of
 * 64 rows and 128 columns a processor has room for three with three stages, for two with four:
 * 8192 x 4096 x 14336 took 1137 and 1302 us on an H200. */
static Tile tile_of_group(const Group *g, const Tile *tile) {
  enum { STAGES = 3 };
  Tile r = *tile;
  if (prim_scales_blocks(g->nodes.data[0]) && r.stages > STAGES) r.stages = STAGES;
  return r;
}

static int64_t numel_known(const ValueType *t) {
  int64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= dim_is_int(t->shape[i]) ? t->shape[i]->value : 0;
  return n;
}

/* The tensor of most elements that the expression of a packed weight reads. */
static void find_words(Node **operand, void *ctx) {
  const Node **most = ctx;
  Node *n = *operand;
  const ValueType *t = &n->type;
  if (t->kind != VALUE_TENSOR) return;
  if (n->kind == NODE_CALL) {
    graph_each_use(n, find_words, ctx);
    return;
  }
  int64_t now = *most ? numel_known(&(*most)->type) : 0;
  if (numel_known(t) > now) *most = n;
}

static void note_words(const Group *g, Product *p) {
  Node *right = g->nodes.data[0]->args[1].node;
  const Node *words = NULL;
  find_words(&right, &words);
  if (!words) return;
  const ValueType *t = &words->type;
  double weights = (double)p->batch * (double)p->n * (double)p->k;
  p->beside = t->rank == 2 && t->shape[1] == g->extent[2];
  p->across = t->rank == 2 && t->shape[0] == g->extent[3] && t->shape[1] != g->extent[2];
  p->bits = (int)((double)numel_known(t) * dtype_bits(t->dtype) / weights);
}

/* ---- gradients of convolutions' weights ---- */

static StepChoice weight_choice(const Tiles *t, const Node *n, const Tile *tile) {
  StepChoice c = choice_new(t);
  Dims *d = t->graph->dims;
  Window w = window_of(t->graph, n);
  const ValueType *grad = &n->args[0].node->type;
  Dim channels = w.input->type.shape[w.n + 1], outputs = grad->shape[w.n + 1];
  int64_t bm = fitting(outputs, tile->bm), bn = fitting(channels, tile->bn);
  add_part_sides(t, grad->shape, w.n, tile->bk, &c);
  add_choice_constexpr(t, &c, "BM", bm);
  add_choice_constexpr(t, &c, "BN", bn);
  Dim columns = dim_mul(d, window_count(t->graph, &w), blocks_of_size(t, channels, bn));
  c.grid[0] = dim_mul(d, blocks_of_size(t, outputs, bm), columns);
  c.grid[1] = n->type.shape[0];
  c.warps = (uint32_t)tile->warps;
  c.stages = (uint32_t)tile->stages;
  return c;
}

/* Parts and positions of the window are batches. */
static bool weight_product(const Tiles *t, const Group *g, Product *p) {
  const Node *n = g->nodes.data[0];
  Window w = window_of(t->graph, n);
  int64_t parts = tiled_extent(t, n->type.shape[0]), windows = tiled_extent(t, g->extent[3]);
  int64_t m = tiled_extent(t, n->args[0].node->type.shape[w.n + 1]);
  int64_t taps = tiled_extent(t, window_count(t->graph, &w));
  int64_t columns = tiled_extent(t, w.input->type.shape[w.n + 1]);
  if (!parts || !m || !windows || !taps || !columns) return false;
  *p = tiling_weight(t->graph->gpu, w.input->type.dtype, m, columns, windows, taps, (int)parts);
  return true;
}

static StepChoice weight_rows_choice(const Tiles *t, const Group *g) {
  StepChoice c = choice_new(t);
  const Node *n = g->nodes.data[0];
  Window w = window_of(t->graph, n);
  int64_t windows = weight_rows_step(&n->args[0].node->type, &w);
  bool last = window_outputs_last(t->graph, n);
  Dim outputs = g->extent[last ? 2 : 1], elements = g->extent[last ? 1 : 2];
  Tile tile = weight_rows_tile(outputs->value, &w, windows, last);
  add_choice_constexpr(t, &c, "BM", tile.bm);
  add_choice_constexpr(t, &c, "BN", tile.bn);
  add_choice_constexpr(t, &c, "BK", tile.bk);
  Dims *d = t->graph->dims;
  Dim row = dim_int(d, weight_row(&w)), rows = dim_floordiv(d, elements, row);
  Dim tiles = dim_mul(d, rows, blocks_of_size(t, row, last ? tile.bm : tile.bn));
  c.grid[0] = dim_mul(d, blocks_of_size(t, outputs, last ? tile.bn : tile.bm), tiles);
  c.grid[1] = g->extent[0];
  return c;
}

static void tiles_weight(const Tiles *t, const Group *g, PlanStep *s) {
  if (weight_has_rows(t->graph, g->nodes.data[0])) {
    add_step_choice(t, s, weight_rows_choice(t, g));
    return;
  }
  static const Tile plain = {32, 64, 64, 4, 3};
  Product p;
  Tile list[TILING_MAX] = {plain};
  bool known = t->gpu && weight_product(t, g, &p);
  int n = known ? tiling_list(p.dtype, &p, list) : 1;
  for (int i = 0; i < n; i++)
    if (!add_step_choice(t, s, weight_choice(t, g->nodes.data[0], &list[i]))) return;
}

/* The rows of all tiles of bm rows, which are parts of images: some are outside of these. */
static int64_t rows_of_parts(const Tiles *t, const Node *n, int64_t bm) {
  enum { IMAGES = 8 };
  uint32_t axes = n->type.rank - 2;
  Dim images[IMAGE_SIDES + 1] = {n->type.shape[0]};
  for (uint32_t i = 1; i <= axes; i++) images[i] = image_extent(t->graph, n, i);
  ImagePart part = image_part(t->graph, images, axes, bm);
  int64_t count = dim_likely(t->graph->dims, images[0]), rows = bm;
  rows *= ((count ? count : IMAGES) + part.images - 1) / part.images;
  for (uint32_t i = 0; i < axes; i++)
    rows *= (images[axes - i]->value + part.side[i] - 1) / part.side[i];
  return rows;
}

/* The tile with the least time first. */
static void order_by_parts(const Tiles *t, const Node *n, const Product *p, Tile *list, int count) {
  double times[TILING_MAX];
  for (int i = 0; i < count; i++) {
    Tile tile = list[i];
    Product own = *p;
    own.m = rows_of_parts(t, n, tile.bm);
    double time = tiling_ring_time(&tile, &own);
    int at = i;
    for (; at > 0 && times[at - 1] > time; at--) {
      times[at] = times[at - 1];
      list[at] = list[at - 1];
    }
    times[at] = time;
    list[at] = tile;
  }
}

void tiles_matmul(const Tiles *t, const Group *g, PlanStep *s) {
  Product p;
  if (prim_kind(g->nodes.data[0]->op) == PRIM_CONVOLUTION_WEIGHT) {
    tiles_weight(t, g, s);
    return;
  }
  bool known = group_product(t, g, &p);
  if (!t->gpu) {
    const Node *right = g->nodes.data[0]->args[1].node;
    if (t->graph->host && few_rows_suit(g->nodes.data[0])) {
      add_step_choice(t, s, few_rows_choice(t, g));
      return;
    }
    const Node *turned = panels_turned(t->graph, g->nodes.data[0]);
    bool panels = panels_of(right) != NULL;
    if (turned) {
      add_step_choice(t, s, turned_choice(t, g, turned));
      return;
    }
    NearColumns near;
    StepChoice c = panels ? panels_choice(t, g)
                   : near_columns_of(t->graph, g->nodes.data[0], &near)
                       ? near_choice(t, g, &near) : cpu_choice(t, g, known ? &p : NULL);
    add_step_choice(t, s, c);
    return;
  }
  Tile list[TILING_MAX];
  bool packed = prim_unpacks(g->nodes.data[0]) && t->graph->gpu;
  if (packed) note_words(g, &p);
  int n = packed ? tiling_packed(&p, list) : tiling_list(p.dtype, known ? &p : NULL, list);
  if (known && !packed && p.images && tiling_has_rings(&p))
    order_by_parts(t, g->nodes.data[0], &p, list, n);
  for (int i = 0; i < n; i++) {
    Tile tile = tile_of_group(g, &list[i]);
    if (known && !packed) tile = tiling_of_short_sum(&p, tile);
    if (sums_fit_twice(g, &tile) && !add_step_choice(t, s, product_choice(t, g, &tile))) return;
  }
}
