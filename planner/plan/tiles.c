#include "planner/plan/tiles.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/builders/node_builder.h"
#include "graph/ops/attention_blocks.h"
#include "graph/ops/window.h"
#include "lower/target/machine.h"
#include "planner/fuse/strips.h"
#include "planner/plan/cpu_rows.h"
#include "tiling/near_columns.h"
#include "tiling/panels.h"
#include "tiling/parked_rows.h"
#include "tiling/tiling.h"
#include "tiling/few_rows.h"
#include "tiling/weight_rows.h"

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
enum { CHOICES_MAX = 9, CONSTEXPRS_MAX = 6 };

/* ---- choices ---- */

static StepChoice choice_new(const Tiles *t) {
  Dim one = dim_int(t->graph->dims, 1);
  return (StepChoice){
      .constexprs = ARENA_ARRAY(t->graph->arena, StepConstexpr, CONSTEXPRS_MAX),
      .grid = {one, one, one},
      .warps = 4,
      .stages = 3,
  };
}

static void add_choice_constexpr(const Tiles *t, StepChoice *c, const char *name, int64_t value) {
  c->constexprs[c->nconstexprs++] =
      (StepConstexpr){pool_name(t->graph->names, name), dim_int(t->graph->dims, value)};
}

static bool same_choice(const StepChoice *a, const StepChoice *b) {
  bool same = a->warps == b->warps && a->stages == b->stages;
  for (uint32_t i = 0; i < a->nconstexprs && same; i++)
    same = a->constexprs[i].value == b->constexprs[i].value;
  return same;
}

/* False: no more are wanted. */
static bool add_step_choice(const Tiles *t, PlanStep *s, StepChoice c) {
  for (uint32_t i = 0; i < s->nchoices; i++)
    if (same_choice(&s->choices[i], &c)) return true;
  if (!s->choices) s->choices = ARENA_ARRAY(t->graph->arena, StepChoice, CHOICES_MAX);
  s->choices[s->nchoices++] = c;
  if (s->nchoices == 1) plan_choose(s, 0);
  return t->all && s->nchoices < CHOICES_MAX;
}

static Dim blocks_of_size(const Tiles *t, Dim n, int64_t block) {
  Dims *d = t->graph->dims;
  return dim_floordiv(d, dim_add(d, n, dim_int(d, block - 1)), dim_int(d, block));
}

/* ---- loops ---- */

enum {
  VALUES_MAX = 1 << 18,  /* of all nodes, for a tile */
  BRANCHING_VALUES = 16, /* that a branch takes which is for few elements */
  VALUES_OF_MANY_WARPS = 48,
  THREAD_ELEMENTS = 16,
  WARP_LANES = 32
};

static int64_t branch_values(const Node *n) { return prim_branches(n) ? BRANCHING_VALUES : 1; }

/* Elements of a tile, `most` or so few that all values fit. */
static int64_t elements_within(const Group *g, const StepCost *cost, int64_t most) {
  int64_t values = 0;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    if (n->op->id == OP_nereid_sort_default) return most;
    if (prim_does_rows(n)) return 1;
    values += branch_values(n);
  }
  for (uint32_t i = 0; i < cost->ninlined; i++) values += branch_values(cost->inlined[i]);
  while (most * values > VALUES_MAX && most > 1) most /= 2;
  return most;
}

static bool sorts(const Group *g) {
  for (size_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i]->op->id == OP_nereid_sort_default) return true;
  return false;
}

int64_t tiles_most(const Group *g, const StepCost *cost) {
  return sorts(g) ? TILES_SORTED_MAX : elements_within(g, cost, TILES_ROW_MAX);
}

static int64_t most_of(Dim n, int64_t block) {
  return dim_is_int(n) && power_of_2(n->value, 1) < block ? power_of_2(n->value, 1) : block;
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
  int64_t xblock = most_of(g->x, smaller_of(tile->elements, most));
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
  int64_t xblock = most_of(g->x, rblock >= elements ? 1 : elements / rblock);
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
  int64_t rblock = most_of(g->r, tile->r), xblock = most_of(g->x, tile->x);
  add_choice_constexpr(t, &c, "RBLOCK", rblock);
  add_choice_constexpr(t, &c, "XBLOCK", xblock);
  c.grid[0] = dim_mul(t->graph->dims, blocks_of_size(t, g->x, xblock),
                      blocks_of_size(t, g->r, rblock));
  if (g->plane) c.grid[1] = g->planes;
  c.warps = tile->warps;
  return c;
}

/* A row's parts are read in order, and a few rows go to parts of lines of each panel. */
static CrossTile tile_of_rows(const Group *g) {
  enum { ROW = 1024, ELEMENTS = 4096, ROWS_MOST = 64 };
  uint32_t row = (uint32_t)smaller_of(power_of_2(g->r->value, 1), ROW);
  return (CrossTile){(uint32_t)smaller_of(ELEMENTS / row, ROWS_MOST), row, 2};
}

static void tiles_crossed(const Tiles *t, const Group *g, PlanStep *s) {
  Dims *d = t->graph->dims;
  CrossTile rows = g->rows ? tile_of_rows(g) : (CrossTile){0};
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
  FlatTile tile = {(uint32_t)(columns * row), 4};
  add_step_choice(t, s, rows_choice(t, g, row, columns * row, &tile));
}

/* Tiles of rows that a CPU reduces; false: it has none of its own. */
static bool tiles_cpu_rows(const Tiles *t, const Group *g, bool looped, int64_t most, PlanStep *s) {
  int64_t row = power_of_2(g->r->value, 1), rows = 1;
  bool single = cpu_rows_are_single(g), sum = !looped && is_sum(t, g);
  if (looped) row = single ? cpu_rows_block(g, s->cost) : 0;
  else if (sum) rows = SUM_ROWS;
  if (!row || !(single || sum)) return false;
  FlatTile tile = {(uint32_t)(rows * row), 4};
  int64_t within = sum ? elements_within(g, s->cost, rows * row) : most;
  return add_step_choice(t, s, rows_choice(t, g, row, within, &tile)), true;
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

/* ---- products ---- */

/* No more than the extent takes; 16 at least, which the units that multiply want, or fewer in a
 * smaller block. */
static int64_t fitting(Dim n, int64_t block) {
  int64_t p = most_of(n, block), least = block < 16 ? block : 16;
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
  int64_t bn = row ? most_of(g->extent[2], tile->bn) : fitting(g->extent[2], tile->bn);
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
                    .tiles = tiling_has_tiles(word)};
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
  PanelProduct p = {1, 0, e[2]->value, k, k, width, 0, unit};
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
  int64_t windows = n->args[0].node->type.shape[w.n]->value;
  Tile tile = weight_rows_tile(g->extent[2]->value, &w, windows);
  add_choice_constexpr(t, &c, "BM", tile.bm);
  add_choice_constexpr(t, &c, "BN", tile.bn);
  add_choice_constexpr(t, &c, "BK", tile.bk);
  Dims *d = t->graph->dims;
  Dim row = dim_int(d, weight_row(&w)), rows = dim_floordiv(d, g->extent[1], row);
  Dim tiles = dim_mul(d, rows, blocks_of_size(t, row, tile.bm));
  c.grid[0] = dim_mul(d, blocks_of_size(t, g->extent[2], tile.bn), tiles);
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
  c.grid[0] = dim_mul(d, blocks_of_attention(t, x, bm), x->batches);
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
