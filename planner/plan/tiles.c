#include "planner/plan/tiles.h"

#include "graph/builders/node_builder.h"
#include "graph/ops/attention_blocks.h"
#include "graph/ops/window.h"
#include "lower/target/device_peaks.h"
#include "lower/target/machine.h"
#include "planner/fuse/strips.h"
#include "planner/plan/cpu_rows.h"
#include "planner/plan/step_choices.h"
#include "tiling/parked_rows.h"

/* ---- lists ---- */

/* A tile of elements that are computed one by one: their number. */
typedef struct {
  int64_t elements;
  uint32_t warps;
} FlatTile;

static const FlatTile flat_tiles[] = {{1024, 4}, {512, 4}, {2048, 8}, {256, 4}, {512, 2}};

/* Tiles of rows that stay on chip: elements of rows together, and warps. */
static const FlatTile row_tiles[] = {{2048, 4}, {4096, 8}, {1024, 4}, {2048, 8}, {1024, 2}};

/* Tiles of elements for each of which a sequence is searched: each waits for memory several times,
 * so that few elements are for many processors.  On an H100 a merge of 16,384 numbers takes 80 us
 * by tiles of 1024. */
static const FlatTile search_tiles[] = {{128, 4}, {64, 2}, {256, 4}, {512, 4}, {32, 1}};
enum { SEARCHED_MAX = 1 << 18 };

/* Tiles of elements that are made of many others each. */
static const FlatTile window_tiles[] = {{512, 4}, {1024, 4}, {256, 4}, {256, 2}, {1024, 8}};

/* Tiles whose rows are those of memory: on a GPU a thread then loads 16 bytes at once. */
static const FlatTile row_window_tiles[] = {{1024, 4}, {512, 4}, {2048, 8}, {256, 2}, {1024, 8}};

/* A tile of rows by columns. */
typedef struct {
  uint32_t x, r, warps;
} CrossTile;

/* Tiles of strips, where larger tiles would be too few.  On an H100, windows of 7 x 7 at 3136
 * positions of 384 channels take 11 us, and by tiles of 1024 elements 15. */
static const FlatTile strip_tiles[] = {{512, 4}, {1024, 4}, {512, 2}, {2048, 8}, {256, 2}};
enum { STRIP_PROGRAMS = 512 };

/* How many rows are summed up together on a CPU: they share what is computed of columns alone. */
enum { SUM_ROWS = 16 };

/* Tiles of rows that a loop processes: elements at a time. */
static const FlatTile loop_tiles[] = {{2048, 4}, {4096, 8}, {1024, 4}, {8192, 16}, {2048, 8}};

/* Tiles of columns in a loop: rows at a time.  Open rows have the least, since they may be longer
 * than the likely value. */
enum { LOOP_ROWS = 64, OPEN_ROW = 128 };

/* Into how many blocks the rows of one are cut, warps and stages. */
typedef struct {
  uint32_t cuts, warps, stages;
} AttentionWay;

static const AttentionWay attention_ways[] = {{1, 4, 2}, {1, 8, 2}, {2, 4, 2}, {2, 4, 3},
                                              {1, 4, 3}, {1, 8, 3}, {2, 2, 2}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- loops ---- */

enum {
  VALUES_MAX = 1 << 18,  /* of all nodes, for a tile */
  COLUMNS_VALUES_MAX = 1 << 21,
  BRANCHING_VALUES = 16, /* that a branch takes which is for few elements */
  VALUES_OF_MANY_WARPS = 48,
  THREAD_ELEMENTS = 16,
  WARP_LANES = 32
};

static int64_t branch_values(const Node *n) { return prim_branches(n) ? BRANCHING_VALUES : 1; }

static int64_t values_of(const Group *g, const StepCost *cost) {
  int64_t values = 0;
  for (size_t i = 0; i < g->nodes.len; i++) values += branch_values(g->nodes.data[i]);
  for (uint32_t i = 0; i < cost->ninlined; i++) values += branch_values(cost->inlined[i]);
  return values;
}

/* Elements of a tile, `most` or so few that all values fit. */
static int64_t elements_within(const Group *g, const StepCost *cost, int64_t most) {
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (n->op->id == OP_nereid_sort_default) return most;
    if (prim_does_rows(n)) return 1;
  }
  int64_t values = values_of(g, cost);
  while (most * values > VALUES_MAX && most > 1) most /= 2;
  return most;
}

static bool sorts(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i]->op->id == OP_nereid_sort_default) return true;
  return false;
}

static bool descends_trees(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (graph_is(g->nodes.data[i], OP_nereid_tree_leaf_default)) return true;
  return false;
}

int64_t tiles_most(const Tiles *t, const Group *g, const StepCost *cost) {
  if (!t->gpu && descends_trees(g)) return TILES_TREES;
  return sorts(g) ? TILES_SORTED_MAX : elements_within(g, cost, TILES_ROW_MAX);
}

static int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* Warps of a program that selects elements of a row, which its registers hold. */
static uint32_t selecting_warps(const Node *n, uint32_t warps) {
  enum { OF_THREAD = 32, WARPS_MAX = 32 };
  if (!graph_is(n, OP_nereid_matrix_default)) return warps;
  Dim row = n->args[2].node->type.shape[1];
  int64_t all = dim_is_int(row) ? power_of_2(row->value, 1) : 1;
  while (warps < WARPS_MAX && warps * WARP_LANES * OF_THREAD < all) warps *= 2;
  return warps;
}

static StepChoice flat_choice(const Tiles *t, const Group *g, int64_t most, const FlatTile *tile) {
  StepChoice c = choice_new(t);
  int64_t xblock = block_within(g->x, smaller_of(tile->elements, most));
  add_choice_constexpr(t, &c, "XBLOCK", xblock);
  c.grid[0] = blocks_of_size(t, g->x, xblock);
  c.warps = tile->warps;
  for (size_t i = 0; i < g->nodes.len; i++) c.warps = selecting_warps(g->nodes.data[i], c.warps);
  return c;
}

/* Rows of rblock elements, or pieces of them. */
static StepChoice rows_choice(const Tiles *t, const Group *g, int64_t rblock, int64_t most,
                              const FlatTile *tile) {
  StepChoice c = choice_new(t);
  int64_t elements = smaller_of(tile->elements, most);
  int64_t xblock = block_within(g->x, rblock >= elements ? 1 : elements / rblock);
  add_choice_constexpr(t, &c, "RBLOCK", rblock);
  add_choice_constexpr(t, &c, "XBLOCK", xblock);
  c.grid[0] = blocks_of_size(t, g->x, xblock);
  if (g->plane) c.grid[1] = g->planes;
  if (group_planes_first(g)) {
    c.grid[1] = c.grid[0];
    c.grid[0] = g->planes;
  }
  c.warps = rblock >= 4096 && tile->warps < 8 ? 8 : tile->warps;
  return c;
}

static bool group_is_window(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (prim_kind(g->nodes.data[i]->op) == PRIM_WINDOW) return true;
  return false;
}

/* Does it search for a few elements, in sequences that may be long? */
static bool searches_few(const Tiles *t, const Group *g) {
  bool searches = false;
  for (size_t i = 0; i < g->nodes.len; i++)
    searches |= graph_is_any(g->nodes.data[i], OP_nereid_merge_default, OP_nereid_search_default);
  return t->gpu && searches && dim_is_int(g->x) && g->x->value <= SEARCHED_MAX;
}

static bool has_few_strips(const Group *g) {
  if (g->strip <= 1) return false;
  return g->x->value * power_of_2(g->r->value, 1) < STRIP_PROGRAMS * row_window_tiles[0].elements;
}

static void tiles_window(const Tiles *t, const Group *g, int64_t most, PlanStep *s) {
  bool flat = dim_is(g->r, 1), more = true;
  const FlatTile *tiles = !t->gpu || flat     ? window_tiles
                          : has_few_strips(g) ? strip_tiles
                                              : row_window_tiles;
  for (size_t i = 0; i < COUNT(window_tiles) && more; i++) {
    const FlatTile *tile = &tiles[i];
    more = add_step_choice(t, s,
                           flat ? flat_choice(t, g, most, tile)
                                : rows_choice(t, g, power_of_2(g->r->value, 1), most, tile));
  }
}

/* Does it do nothing with a row but to load and to reduce it? */
static bool is_sum(const Tiles *t, const Group *g) {
  bool reduces = false;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (t->fusion->role[n->id] == ROLE_FULL && t->fusion->stored[n->id]) return false;
    reduces |= prim_kind(n->op) == PRIM_REDUCE;
  }
  return reduces;
}

/* Are results next to each other in memory, and what is reduced for one of them is not? */
static bool reduces_columns(const Group *g) {
  return g->rank && g->columns && !(g->columns >> (g->rank - 1) & 1);
}

bool tiles_unroll(const Tiles *t, const Group *g, const StepCost *cost) {
  enum { ROW_MAX = 1 << 14, VALUES_FEW = 16 };
  bool few = g->nodes.len + cost->ninlined <= VALUES_FEW && !(g->strip > 1);
  bool known = t->gpu && dim_is_int(g->r) && g->r->value <= ROW_MAX;
  return known && few && is_sum(t, g) && !reduces_columns(g);
}

typedef struct {
  const Tiles *t;
  const Group *g;
  bool found;
} SumSearch;

static bool group_has(const Group *g, const Node *n) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i] == n) return true;
  return false;
}

/* Is an operand made of a sum of the group? */
static void find_sum(Node **operand, void *ctx) {
  SumSearch *s = ctx;
  Node *n = *operand;
  bool own = group_has(s->g, n);
  if (s->found || n->kind != NODE_CALL || (s->t->fusion->stored[n->id] && !own)) return;
  s->found = own && prim_kind(n->op) == PRIM_REDUCE;
  if (!s->found) graph_each_use(n, find_sum, ctx);
}

/* Sums of which none is made of another. */
static bool sums_once(const Tiles *t, const Group *g) {
  SumSearch s = {t, g, false};
  for (size_t i = 0; i < g->nodes.len; i++) {
    Node *n = g->nodes.data[i];
    if (prim_kind(n->op) != PRIM_REDUCE) continue;
    if (!graph_is(n, OP_aten_sum_dim_IntList)) return false;
    graph_each_use(n, find_sum, &s);
  }
  return !s.found;
}

bool tiles_sum_blocks(const Tiles *t, const Group *g, const StepCost *cost) {
  enum { ROWS_MANY = 1024 };
  int64_t block = loop_tiles[0].elements;
  bool rows = dim_is_int(g->x) && g->x->value >= ROWS_MANY;
  bool blocks = dim_is_int(g->r) && g->r->value > block && g->r->value % block == 0;
  return rows && blocks && tiles_unroll(t, g, cost) && sums_once(t, g);
}

static bool is_strip_op(const Node *n) {
  PrimKind k = prim_kind(n->op);
  return k == PRIM_POINTWISE || k == PRIM_REDUCE;
}

bool tiles_park_rows(const Tiles *t, const Group *g, const StepCost *cost) {
  if (!t->gpu || g->crossed || g->strip > 1 || !rows_park(t->graph, g->x, g->r)) return false;
  if (reduces_columns(g)) return false;
  if (is_sum(t, g) && sums_once(t, g)) return false;
  bool reduces = false;
  for (size_t i = 0; i < g->nodes.len; i++) {
    if (!is_strip_op(g->nodes.data[i])) return false;
    reduces |= prim_kind(g->nodes.data[i]->op) == PRIM_REDUCE;
  }
  for (uint32_t i = 0; i < cost->ninlined; i++) {
    PrimKind k = prim_kind(cost->inlined[i]->op);
    if (k != PRIM_POINTWISE && k != PRIM_VIEW && k != PRIM_CREATE) return false;
  }
  return reduces;
}

/* A program is the only one of its multiprocessor, or one of a few. */
static FlatTile park_tile(int64_t row) {
  enum { WARPS = 16 };
  return (FlatTile){row, WARPS};
}

/* Rows that are made of many values each need more warps, or a thread runs out of registers. */
static FlatTile row_tile(const Tiles *t, const Group *g, const StepCost *cost, FlatTile tile) {
  bool many = t->gpu && g->nodes.len + cost->ninlined >= VALUES_OF_MANY_WARPS;
  if (many && tile.elements / tile.warps >= THREAD_ELEMENTS * WARP_LANES) tile.warps *= 2;
  return tile;
}

/* Do rows fill a GPU's processors twice with threads of 32 elements? */
static bool rows_stream(const Tiles *t, const Group *g) {
  enum { ELEMENTS = 2 * 1024 * 32 };
  if (!t->gpu || !dim_is_int(g->x) || is_sum(t, g) || reduces_columns(g)) return false;
  int64_t row = power_of_2(g->r->value, 1);
  return g->x->value >= (int64_t)t->graph->gpu->processors * ELEMENTS / row;
}

/* Many rows that are made of rows: a warp for 1,024 elements, so that few wait for each other, and
 * two warps at least: an H200 starts a program of a plan in 1.24 ns.  There layer norm of 768 and
 * 2,560 columns takes 0.90 and 0.72 of the time of tiles of half as many elements a thread. */
static StepChoice stream_choice(const Tiles *t, const Group *g, const StepCost *cost, int64_t row,
                                int64_t most) {
  enum { OF_WARP = 1024, LEAST = 2 * OF_WARP };
  int64_t elements = row < LEAST ? LEAST : row;
  FlatTile tile = row_tile(t, g, cost, (FlatTile){elements, (uint32_t)(elements / OF_WARP)});
  StepChoice c = rows_choice(t, g, row, most, &tile);
  c.warps = tile.warps;
  return c;
}

/* A thread has 16 elements, which it orders in registers (tl.sort). */
static FlatTile sort_tile(int64_t row) {
  enum { LEAST = 1024, WARP_ELEMENTS = 512, WARPS_MAX = 32 };
  int64_t elements = row < LEAST ? LEAST : row, warps = elements / WARP_ELEMENTS;
  return (FlatTile){(uint32_t)elements, warps > WARPS_MAX ? WARPS_MAX : (uint32_t)warps};
}

/* Elements of a thread in a tile of columns, by the number of values that each is made into. */
enum { FEW_VALUES = 12, OF_FEW = 64, SOME_VALUES = 30, OF_SOME = 32, OF_MANY = 16 };

/* Tiles of columns are wide: then a thread has several elements of each of its columns, which it
 * reduces without a word to others.  Columns are as many as its registers hold, and leave programs
 * for all processors; rows of a tile are as long as memory's sectors.  On an H200 statistics of
 * 401408 rows of 256 channels take 29 instructions an element by tiles of 32 columns and 64 rows,
 * 11 by tiles of 128.  Few rows want programs, which are over soon: the sum of 8 shares of
 * 32,768 numbers ended 5.8 us after their kernel by tiles of 256 columns, and 3.1 by 64. */
static FlatTile column_tile(const Dims *d, const Group *g, const StepCost *cost, int64_t rows) {
  enum { PROGRAMS = 1024, LEAST = 2048, SECTORS = 32, WARPS = 4, WARPS_MAX = 16 };
  enum { SHORT = 16, LEAST_OF_SHORT = 512 };
  size_t values = g->nodes.len + cost->ninlined;
  uint32_t of_thread = values <= FEW_VALUES ? OF_FEW : values <= SOME_VALUES ? OF_SOME : OF_MANY;
  uint32_t elements = WARPS * WARP_LANES * of_thread;
  int64_t all = dim_likely(d, g->x) * rows;
  uint32_t least = rows <= SHORT ? LEAST_OF_SHORT : LEAST;
  while (elements > least && all / elements < PROGRAMS) elements /= 2;
  while (elements < SECTORS * rows && elements < WARPS_MAX * WARP_LANES * of_thread &&
         all / elements / 2 >= PROGRAMS)
    elements *= 2;
  uint32_t warps = elements / (WARP_LANES * of_thread);
  return (FlatTile){elements, warps < WARPS ? WARPS : warps};
}

/* Elements of a row that are taken at a time, no more than a row is likely to have. */
static int64_t loop_block(const Tiles *t, const Group *g, int64_t most) {
  int64_t row = t->gpu ? dim_likely(t->graph->dims, g->r) : 0;
  if (t->gpu && !dim_is(g->x, 1) && reduces_columns(g)) most = smaller_of(most, LOOP_ROWS);
  return row ? smaller_of(most, power_of_2(row, OPEN_ROW)) : most;
}

/* ---- tiles of two axes, each of which is next to each other in some memory ---- */

/* A thread has vectors along both, so that tiles are large where there are enough of them. */
static const CrossTile cross_tiles[] = {
    {128, 128, 4}, {64, 64, 2}, {64, 64, 4}, {32, 32, 2}, {128, 64, 4}};
enum { CROSS_PROGRAMS = 512, CROSS_VALUES = 16 };

static StepChoice cross_choice(const Tiles *t, const Group *g, const CrossTile *tile) {
  StepChoice c = choice_new(t);
  int64_t rblock = block_within(g->r, tile->r), xblock = block_within(g->x, tile->x);
  add_choice_constexpr(t, &c, "RBLOCK", rblock);
  add_choice_constexpr(t, &c, "XBLOCK", xblock);
  c.grid[0] = dim_mul(t->graph->dims, blocks_of_size(t, g->x, xblock),
                      blocks_of_size(t, g->r, rblock));
  if (g->plane) c.grid[1] = g->planes;
  c.warps = tile->warps;
  return c;
}

/* A row's parts are read in order, and a few rows go to parts of lines of each panel. */
static CrossTile tile_of_rows(Dims *d, const Group *g) {
  enum { ROW = 1024, ELEMENTS = 4096, ROWS_MOST = 64, OPEN_LEAST = 16, OPEN = 64 };
  int64_t likely = dim_likely(d, g->r);
  if (!dim_is_int(g->r)) likely = !likely ? OPEN : likely < OPEN_LEAST ? OPEN_LEAST : likely;
  uint32_t row = (uint32_t)smaller_of(power_of_2(likely, 1), ROW);
  return (CrossTile){(uint32_t)smaller_of(ELEMENTS / row, ROWS_MOST), row, 2};
}

static void tiles_crossed(const Tiles *t, const Group *g, PlanStep *s) {
  Dims *d = t->graph->dims;
  CrossTile rows = g->rows ? tile_of_rows(d, g) : (CrossTile){0};
  if (g->rows) {
    add_step_choice(t, s, cross_choice(t, g, &rows));
    return;
  }
  int64_t all = dim_likely(d, dim_mul(d, g->x, g->r));
  bool along = g->columns >> (g->rank - 1) & 1; /* fields of words, which are several values each */
  bool many = along || g->nodes.len + s->cost->ninlined > CROSS_VALUES, more = true;
  for (size_t i = 0; i < COUNT(cross_tiles) && more; i++) {
    const CrossTile *tile = &cross_tiles[i];
    int64_t elements = (int64_t)tile->x * tile->r, threads = (int64_t)tile->warps * WARP_LANES;
    bool fits = all / elements >= CROSS_PROGRAMS && (!many || elements <= OF_SOME * threads);
    bool last = i + 2 == COUNT(cross_tiles);
    if (fits || s->nchoices || last) more = add_step_choice(t, s, cross_choice(t, g, tile));
  }
}

/* Channels of a window over images, whose sums are in memory between rows of an image, or along one
 * axis, which has no rows: lines next to each other are read ahead by the processor, and written
 * together.  With 512 channels of 14x14 the gradient of a 3x3 weight took 290 us by 32 channels,
 * 155 by 64 and 112 by 128. */
static int64_t columns_of_lines(const Group *g, int64_t columns) {
  enum { MOST = 128, PROGRAMS = 8 };
  if (!dim_is_int(g->x) || !dim_is_int(g->planes)) return columns;
  while (columns < MOST && g->x->value % (2 * columns) == 0 &&
         g->x->value / (2 * columns) * g->planes->value >= PROGRAMS)
    columns *= 2;
  return columns;
}

/* The sums of a strip's parts and the weights of a row of the window are in registers. */
static void tiles_row_strips(const Tiles *t, const Group *g, PlanStep *s) {
  const Machine *m = machine_find("cpu");
  int64_t columns = m->lanes, held = smaller_of(g->r->value, STRIP_MAX);
  bool lines = true;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (prim_kind(n->op) != PRIM_WINDOW) continue;
    Window w = window_of(t->graph, n);
    held += w.of_images ? STRIP_AT_A_TIME : w.size[w.n - 1]->value;
    lines &= w.of_images || w.n == 1;
  }
  /* Two vectors of 5x5 took 189 us for 175, of 3x3 67 us for 87 (32 registers). */
  if (dim_divisible(g->x, 2 * columns) && 2 * held <= m->regs * 3 / 4) columns *= 2;
  if (lines) columns = columns_of_lines(g, columns);
  FlatTile tile = {(uint32_t)columns, 4};
  add_step_choice(t, s, rows_choice(t, g, 1, columns, &tile));
}

/* Sums of columns go through memory in order: a tile is a row where there are programs for other
 * cores (split_columns), else a piece of one.  Gradients of GELU of 1,024 rows of 3,072 with their
 * sum by tiles of 8x32, 1x128, 1x256, 1x512, 1x3,072 take 19.5, 14.7, 8.6, 6.4, 5.3 ms on one core
 * of a Sapphire Rapids, by 4x128 18.7.  One sum adds so many rows at most. */
enum { WIDE_PIECE = 256, WIDE_ROW = 4096, WIDE_ROWS = 4096, WIDE_LEAST = 64 };

/* Columns of such a tile, pieces as equal as may be; 0: it has other rows. */
static int64_t wide_columns(const Group *g, int64_t most) {
  enum { VECTOR = 16 };
  if (!dim_is_int(g->x) || g->x->value < WIDE_LEAST) return 0;
  if (g->r->value > smaller_of(WIDE_ROWS, most) || group_is_window(g)) return 0;
  bool rows = g->planes && !dim_is(g->planes, 1);
  int64_t each = rows ? WIDE_ROW : WIDE_PIECE, pieces = (g->x->value + each - 1) / each;
  int64_t columns = (g->x->value + pieces - 1) / pieces;
  return (columns + VECTOR - 1) / VECTOR * VECTOR;
}

/* A CPU's vectors are neighbours among the columns; a loop takes a few rows at a time, and what is
 * held of whole rows is in a cache. */
static void tiles_vector_columns(const Tiles *t, const Group *g, bool looped, int64_t most,
                                 PlanStep *s) {
  enum { ROWS = 8, VECTOR = 16, TWO = 2 * VECTOR };
  if (looped && group_row_strip(t->fusion, g)) {
    tiles_row_strips(t, g, s);
    return;
  }
  int64_t row = looped ? ROWS : power_of_2(g->r->value, 1);
  int64_t columns = looped && dim_divisible(g->x, TWO) ? TWO : VECTOR;
  int64_t wide = looped ? wide_columns(g, most) : 0;
  if (wide) row = 1, columns = wide;
  /* Whole rows of many values, with indices of their own, are more than a nest may have. */
  while (!looped && columns > 1 && columns * row * values_of(g, s->cost) > COLUMNS_VALUES_MAX)
    columns /= 2;
  FlatTile tile = {(uint32_t)(columns * row), 4};
  add_step_choice(t, s, rows_choice(t, g, row, columns * row, &tile));
}

/* Rows of open length: a tile of more elements than a row has computes them, too, and several rows
 * do not wait for each other.  On one core of a Zen 5, softmax of 3,200 rows of 50 elements takes
 * 118 us by 8 rows of 16 elements, 194 by one, 155 by 8 of 64, 140 by 128 of 16 and 3,611 by one of
 * 2,048; of 160 rows of 1,000 66, 101, 88, 131 and 188; sums of these 10, 12, 8, 23 and 40. */
static const FlatTile open_tile = {8 * 16, 4}, open_columns = {16 * 64, 4};
enum { OPEN_ELEMENTS = 16 };

/* Tiles of rows that a CPU reduces; false: it has none of its own. */
static bool tiles_cpu_rows(const Tiles *t, const Group *g, bool looped, int64_t most, PlanStep *s) {
  if (looped && !dim_is_int(g->r)) {
    const FlatTile *tile = reduces_columns(g) ? &open_columns : &open_tile;
    return add_step_choice(t, s, rows_choice(t, g, OPEN_ELEMENTS, most, tile)), true;
  }
  int64_t row = power_of_2(g->r->value, 1), rows = 1;
  bool single = cpu_rows_are_single(g), sum = !looped && is_sum(t, g);
  if (looped) row = single ? cpu_rows_block(g, s->cost) : 0;
  else if (sum) rows = SUM_ROWS;
  if (!row || !(single || sum)) return false;
  FlatTile tile = {(uint32_t)(rows * row), 4};
  int64_t within = sum ? elements_within(g, s->cost, rows * row) : most;
  return add_step_choice(t, s, rows_choice(t, g, row, within, &tile)), true;
}

void tiles_slides(const Tiles *t, const Group *g, PlanStep *s) {
  StepChoice c = choice_new(t);
  c.grid[0] = g->plane ? g->planes : g->x;
  c.warps = 4;
  add_step_choice(t, s, c);
}

void tiles_loops(const Tiles *t, const Group *g, bool looped, int64_t most, PlanStep *s) {
  bool flat = dim_is(g->r, 1), more = true;
  if (g->crossed) {
    tiles_crossed(t, g, s);
    return;
  }
  if (g->plane) {
    tiles_vector_columns(t, g, looped, most, s);
    return;
  }
  if (group_is_window(g) && !looped) {
    tiles_window(t, g, most, s);
    return;
  }
  if (!t->gpu && !flat && tiles_cpu_rows(t, g, looped, most, s)) return;
  const FlatTile *tiles = searches_few(t, g) ? search_tiles : flat_tiles;
  _Static_assert(COUNT(search_tiles) == COUNT(flat_tiles), "one loop goes through either");
  for (size_t i = 0; i < COUNT(flat_tiles) && flat && more; i++)
    more = add_step_choice(t, s, flat_choice(t, g, most, &tiles[i]));
  bool sort = t->gpu && !flat && !looped && sorts(g);
  if (sort) {
    int64_t row = power_of_2(g->r->value, 1);
    FlatTile tile = sort_tile(row);
    add_step_choice(t, s, rows_choice(t, g, row, most, &tile));
  }
  bool parks = t->gpu && !flat && !looped && !sort && g->r->value > most;
  if (parks) {
    int64_t row = power_of_2(g->r->value, 1);
    FlatTile tile = park_tile(row);
    add_step_choice(t, s, rows_choice(t, g, row, row, &tile));
  }
  for (size_t i = 0; i < COUNT(row_tiles) && !sort && !parks && !flat && !looped && more; i++) {
    int64_t row = power_of_2(g->r->value, 1);
    bool columns = t->gpu && i == 0 && reduces_columns(g);
    FlatTile tile = columns ? column_tile(t->graph->dims, g, s->cost, row)
                            : row_tile(t, g, s->cost, row_tiles[i]);
    if (i == 0 && rows_stream(t, g))
      more = add_step_choice(t, s, stream_choice(t, g, s->cost, row, most));
    more = more &&
           add_step_choice(t, s, rows_choice(t, g, row, columns ? tile.elements : most, &tile));
  }
  for (size_t i = 0; i < COUNT(loop_tiles) && !flat && looped && more; i++)
    more = add_step_choice(
        t, s,
        rows_choice(t, g, loop_block(t, g, smaller_of(loop_tiles[i].elements, most)), most,
                    &loop_tiles[i]));
}

/* ---- attention ---- */

/* A tile is within a block of the mask. */
static Dim blocks_of_attention(const Tiles *t, const Attention *x, int64_t bm) {
  Dims *d = t->graph->dims;
  if (!x->own_block || attention_tiles_divide(x->own_block))
    return blocks_of_size(t, x->own_rows, bm);
  Dim tiles = blocks_of_size(t, dim_int(d, x->own_block), bm);
  return dim_mul(d, blocks_of_size(t, x->own_rows, x->own_block), tiles);
}

static StepChoice attention_choice(const Tiles *t, const Attention *x, const AttentionShape *shape,
                                   AttentionWay way) {
  Dims *d = t->graph->dims;
  StepChoice c = choice_new(t);
  int64_t bm = shape->bm / way.cuts;
  add_choice_constexpr(t, &c, "BM", bm);
  add_choice_constexpr(t, &c, "BN", shape->bn);
  add_choice_constexpr(t, &c, "BD", shape->bd);
  add_choice_constexpr(t, &c, "BE", shape->be);
  Dim blocks = x->parts ? dim_int(d, x->parts) : blocks_of_attention(t, x, bm);
  c.grid[0] = dim_mul(d, blocks, x->batches);
  c.grid[1] = dim_int(d, x->splits);
  c.warps = way.warps;
  c.stages = way.stages;
  return c;
}

void tiles_attention(const Tiles *t, const Attention *x, const AttentionShape *shape, PlanStep *s) {
  AttentionWay first = {1, shape->warps, shape->stages};
  bool more = add_step_choice(t, s, attention_choice(t, x, shape, first));
  for (size_t i = 0; i < COUNT(attention_ways) && more; i++)
    if (shape->bm / attention_ways[i].cuts >= 16)
      more = add_step_choice(t, s, attention_choice(t, x, shape, attention_ways[i]));
}
