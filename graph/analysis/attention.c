#include "graph/analysis/attention.h"

#include <math.h>
#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/attention_blocks.h"
#include "lower/target/device_peaks.h"
#include "lower/target/machine.h"

/* The most columns of keys and values in a kernel of any attention. */
enum { WIDTH_MOST = 256 };

enum { FEW_KEYS = 64 }; /* of a block, where there are few in all */

static int64_t rows_fitting(Dim rows, int64_t most) {
  if (!dim_is_int(rows)) return most;
  int64_t p = power_of_2(rows->value, 16);
  return p < most ? p : most;
}

/* How many programs there are with blocks of that many rows; INT64_MAX: sizes leave it open. */
static int64_t programs(const Attention *x, int64_t bm) {
  if (!dim_is_int(x->own_rows) || !dim_is_int(x->batches)) return INT64_MAX;
  int64_t blocks = (x->own_rows->value + bm - 1) / bm, n;
  return __builtin_mul_overflow(blocks, x->batches->value, &n) ? INT64_MAX : n;
}

/* Do so many programs, fewer than two waves, leave a tenth of the multiprocessors without work? */
static bool leaves_idle(int64_t programs, int processors) {
  enum { PARTS = 10 };
  int64_t waves = programs > processors ? 2 : 1;
  return PARTS * programs < (PARTS - 1) * waves * processors;
}

/* Keys of a block of narrow heads' few keys: those that fill their blocks best.  197 keys of 64
 * columns took 47.0 us on an H200 by 80, 53.1 by 64, 49.2 by 112, and 60.1 at once. */
static int keys_filling_blocks(int64_t keys) {
  enum { MORE = 80 };
  int64_t few = (keys + FEW_KEYS - 1) / FEW_KEYS * FEW_KEYS, more = (keys + MORE - 1) / MORE * MORE;
  return more < few ? MORE : FEW_KEYS;
}

/* Keys of a block: more of them where there are many, so that a block's maximum costs less, but not
 * with dropout, which takes registers for each number of a tile. */
static int keys_of_block(const Attention *x) {
  enum { MANY = 512 };
  if (x->seed) return FEW_KEYS;
  return !dim_is_int(x->keys) || x->keys->value >= MANY ? 2 * FEW_KEYS : FEW_KEYS;
}

/* Two slots of keys and values, and the query, fit in shared memory; sums, scores and shares in
 * registers: on an H200 160 columns took 0.574 ms with 96 keys, and 0.687 with 112.  Heads of 256
 * columns were fastest with 80 keys, though some are spilled. */
static int64_t keys_of_wide(const AttentionShape *s) {
  enum { KEYS = 128, LEAST = 64, WIDEST = 80, UNIT = 16, HALF = 2 };
  enum { BYTES = 220 << 10, REGISTERS = 160 };
  int64_t keys = KEYS;
  if (s->be == WIDTH_MOST) return WIDEST;
  for (; keys > LEAST; keys -= UNIT) {
    int64_t bytes = HALF * (2 * keys * (s->bd + s->be) + s->bm * s->bd);
    if (bytes <= BYTES && s->be / 2 + keys / 2 + keys / 4 <= REGISTERS) break;
  }
  return keys;
}

/* Blocks that were best on an H200 of those with 64 and 128 rows: several programs with few rows
 * each overlap, where a row's output fits their registers.  A program of few rows that is the only
 * one of its multiprocessor asks for more keys at once: 16 x 8 heads of 1,025 keys 25.0 us, and
 * 27.8 (28.2 in two shares, with their sum). */
static void shape_of_halves(const Attention *x, int64_t width, int processors, bool groups,
                            AttentionShape *s) {
  enum { NARROW = 64, WIDE = 128 };
  s->bm = rows_fitting(x->own_rows, 64);
  s->bn = 64;
  if (width > WIDTH_MOST) s->bn = 32, s->warps = 8;
  bool alone = x->splits == 1 && programs(x, s->bm) <= processors;
  if (s->bm < 64 && width <= WIDE && alone && !x->block_rows) s->bn = keys_of_block(x);
  if (s->bm < 64 || width > WIDTH_MOST) return;
  if (width <= NARROW) {
    s->bn = keys_of_block(x);
    bool few = groups && !x->seed && !x->block_rows && s->bn == FEW_KEYS;
    if (few) s->bn = keys_filling_blocks(x->keys->value);
  } else if ((width <= WIDE || (groups && !x->seed)) && programs(x, 128) >= processors) {
    s->bm = 128, s->warps = 8;
    if (width <= WIDE && !x->seed) s->bn = 128;
    if (width > WIDE && !x->block_rows) s->bn = keys_of_wide(s);
  }
}

/* On a CPU blocks may have any number of rows: few rows have a block of their own (one row, 512
 * keys of 64 columns and 12 heads took 456 us of a core in a block of 16, and 80).  More have as
 * few blocks as with `most`, as equal as those can be that are cut into register blocks. */
static int64_t even_rows(Dim rows, int64_t most) {
  enum { LEAST = 16 };
  if (!dim_is_int(rows)) return most;
  if (rows->value <= LEAST) return rows->value > 0 ? rows->value : 1;
  int64_t blocks = (rows->value + most - 1) / most, bm = (rows->value + blocks - 1) / blocks;
  while (bm % 4 && bm % 5 && bm % 6) bm++;
  return bm;
}

/* Doubles take twice the registers and the shared memory of f32, and their unit's instructions more
 * operands: small tiles, of several warps where heads are wide. */
static AttentionShape shape_of_doubles(const Attention *x, int64_t width, AttentionShape s) {
  enum { NARROW = 64, WIDE = 128 };
  s.bm = rows_fitting(x->own_rows, width > WIDE ? 16 : 32);
  s.bn = 16;
  s.warps = width > NARROW ? 8 : 4;
  s.stages = width > WIDE ? 1 : 2;
  return s;
}

enum {
  GRADIENT_ROWS = 32,     /* of f32 in a step of a CPU's kernel of keys */
  GRADIENT_ROWS_ONCE = 64 /* which takes as many in one step */
};

/* Rows that a step of the kernel of keys takes. */
static int64_t rows_of_gradient(Dim rows, int processors, int64_t most) {
  bool once = !processors && dim_is_int(rows) && rows->value <= GRADIENT_ROWS_ONCE;
  return rows_fitting(rows, once ? GRADIENT_ROWS_ONCE : most);
}

/* The shape of gradients, which keep more tiles at a time: rows or keys of a program, and those of
 * a step.  The sums of two products in the kernel of values take 2 * bm * width numbers, and
 * dropout a few registers for each number of a tile.  Narrow heads have several programs of one
 * warpgroup on a multiprocessor, whose warpgroups don't wait for each other.  Gradients of keys
 * have them for wide heads, too, but where several products need no barrier: of 128 columns on an
 * H200 0.866 ms with two warpgroups, and 0.940; of 256 columns gradients of queries take 1.563 ms
 * with one, and 1.747, and those of keys 2.5 ms with 64 rows, of which each warpgroup multiplies
 * half, and 4.9 with 32. */
static AttentionShape shape_of_gradient(const Attention *x, int64_t width, bool f32, int processors,
                                        bool groups, AttentionShape s) {
  enum { NARROW = 64, WIDE = 128 };
  int64_t n = programs(x, 128);
  bool few = processors && n < 2 * (int64_t)processors;
  bool full = width > WIDE || (x->seed && width > NARROW && x->kind == ATTENTION_GRAD_VALUE);
  bool large = width > WIDE && x->kind == ATTENTION_GRAD_VALUE;
  bool of_values = x->kind == ATTENTION_GRAD_VALUE;
  bool halves = of_values && !x->seed && !groups;
  bool narrow = processors && width <= (halves ? WIDE : NARROW);
  bool wide = groups && !f32 && !x->seed && width > WIDE, one_group = wide && !of_values;
  if (groups && !f32 && !x->seed && few) few = leaves_idle(n, processors);
  s.bm = f32 || large || few || narrow || one_group ? 64 : 128;
  s.bn = (f32 || full) && !wide ? 32 : 64;
  s.warps = s.bm > 64 || width > WIDE || (f32 && width > NARROW) ? 8 : 4;
  if (one_group) s.warps = 4;
  bool fours = processors || x->seed; /* random numbers are drawn for four keys */
  s.bm = fours ? rows_fitting(x->own_rows, s.bm) : even_rows(x->own_rows, s.bm);
  s.bn = rows_of_gradient(x->walked, processors, s.bn);
  if (s.bm < 64) s.warps = 4;
  return s;
}

/* On a CPU both operands are read in place: rows are those of the steps that kept them. */
static AttentionShape shape_of_kept_on_cpu(const Attention *x, AttentionShape s) {
  enum { KEYS_MOST = 256, KEYS = 64 };
  s.bm = rows_of_gradient(x->own_rows, 0, GRADIENT_ROWS);
  bool all = dim_is_int(x->walked) && x->walked->value > 0 && x->walked->value <= KEYS_MOST;
  s.bn = all ? x->walked->value : KEYS;
  return s;
}

/* The product of kept gradients of scores and keys, which reads as much as memory gives, and keys
 * from the L2 cache once a program: 32 heads of 4,096 tokens of 128 columns took 1,344 us on an
 * H200 with 256 rows a program, and 1,378 with 128.  Causal rows have kept ones in tiles of 128. */
static AttentionShape shape_of_kept(const Attention *x, int64_t width, int processors,
                                    AttentionShape s) {
  enum { WIDE = 128, MANY = 256 };
  if (!processors) return shape_of_kept_on_cpu(x, s);
  bool many = width <= WIDE && !x->high && !x->block_rows &&
              programs(x, MANY) >= 2 * (int64_t)processors;
  s.bm = rows_fitting(x->own_rows, many ? MANY : ATTENTION_KEPT_TILE);
  s.bn = rows_fitting(x->walked, 64);
  s.warps = s.bm > 64 ? 8 : 4;
  s.stages = 4;
  return s;
}

/* Columns in vectors that blocks of registers have two or three of. */
static int64_t whole_vectors(int64_t columns) {
  enum { LANES = 16 };
  int64_t n = (columns + LANES - 1) / LANES;
  if (n > 1 && n % 2 && n % 3) n++;
  return n * LANES;
}

/* All gradients by one kernel of a CPU: keys are lanes.  The last keys are a tile of their own
 * where that saves a tenth of the products. */
static AttentionShape shape_of_parts(const Attention *x, AttentionShape s) {
  enum { LANES = 16, KEYS = 64, ROWS = 64, MANY = 512, WIDE = 64, SAVED = 10 };
  int64_t lanes = x->in_words ? 2 * LANES : LANES; /* of keys: words have two, of both halves */
  s.words = x->in_words;
  s.bd = whole_vectors(x->width->value);
  s.be = whole_vectors(x->columns->value);
  s.bm = s.words ? 2 * KEYS : KEYS;
  s.bn = s.bd > WIDE || s.be > WIDE ? ROWS / 2 : ROWS;
  if (!dim_is_int(x->keys)) return s;
  bool many = x->keys->value >= MANY && !x->low && !x->high;
  if (many) s.bm = s.words ? ATTENTION_PART_WORDS : ATTENTION_PART_KEYS;
  int64_t keys = (x->keys->value + lanes - 1) / lanes * lanes, parts = x->parts;
  if (keys < s.bm) s.bm = keys ? keys : lanes;
  int64_t each = (keys + parts - 1) / parts;
  if (parts > 1) s.part = (each + s.bm - 1) / s.bm * s.bm;
  int64_t rest = keys % s.bm;
  if (rest && SAVED * (s.bm - rest) > keys) s.rest = rest;
  return s;
}

/* Keys that add the gradient of the query to memory: the more of them a program has, the less it
 * adds, and large products read less shared memory. */
static AttentionShape shape_that_adds(AttentionShape s) {
  enum { KEYS = 128, ROWS = 128 };
  s.bm = KEYS;
  s.bn = ROWS;
  s.warps = 8;
  return s;
}

static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }

static int64_t tile_in_block(int64_t tile, int64_t block) {
  int64_t most = attention_tiles_divide(block) ? attention_block_unit(block)
                                               : power_of_2(block, ATTENTION_BLOCK_LEAST);
  return at_most(power_of_2(tile, ATTENTION_BLOCK_LEAST), most);
}

/* Gradients of wide heads' queries take programs of one warpgroup: with tables of 128 columns on an
 * H200 0.642 ms of a causal mask, not 0.726, and 0.141 of documents, not 0.159. */
static AttentionShape shape_in_blocks(const Attention *x, int processors, AttentionShape s) {
  enum { NARROW = 64, WIDE = 128 };
  if (!x->block_rows) return s;
  int64_t width = s.bd > s.be ? s.bd : s.be;
  bool halves = x->query->type.dtype != DT_F32 && x->wide != DT_F64;
  bool of_query = x->kind == ATTENTION_GRAD_QUERY && !x->kept;
  if (processors && halves && of_query && width > NARROW && width <= WIDE && s.bm > 64)
    s.bm = 64, s.warps = 4;
  if (x->own_block) s.bm = tile_in_block(s.bm, x->own_block);
  s.bn = tile_in_block(s.bn, x->walked_block);
  if (s.bm < 64 && x->wide != DT_F64) s.warps = 4;
  return s;
}

/* Under a causal mask programs have unequal work.  Multiprocessors end at the same time if those
 * with the most begin first; of as many results as fill the GPU a few times, so that what their
 * programs share stays in the L2 cache: once, where one loop takes what they share faster (4,096
 * tokens of 64 heads of 128 on an H200, TFLOP/s of four heads in turn 577, of twelve 449, of one
 * 553).  Narrow heads have small programs, several on a
 * multiprocessor, which lose more by keys of different heads than they gain (on an H200, tables of
 * a causal mask and 64 columns, 0.365 ms, and 0.400 in turns). */
static int64_t results_in_turns(const Attention *x, const AttentionShape *s, int processors) {
  enum { OF_OPEN = 8, NARROW = 64 };
  int64_t waves = x->kind == ATTENTION_FORWARD && s->one_loop ? 1 : 3;
  if (!processors || !(x->high || x->block_rows)) return 1;
  if (x->kind == ATTENTION_FORWARD && s->bd <= NARROW && s->be <= NARROW) return 1;
  if (!dim_is_int(x->own_rows)) return OF_OPEN;
  int64_t blocks = (x->own_rows->value + s->bm - 1) / s->bm;
  return blocks > 1 ? power_of_2(waves * (int64_t)processors / blocks, 1) : 1;
}

/* Columns of a tile.  On Hopper rows of 64 bytes and more are boxes that products read without
 * conflicts; elsewhere loads are by powers of 2. */
static int64_t tile_width(const Attention *x, Dim width, bool groups) {
  enum { UNIT = 32, NARROW = 64 };
  bool boxes = groups && x->kind == ATTENTION_FORWARD && dtype_is_half(x->query->type.dtype);
  if (!boxes || width->value <= NARROW) return power_of_2(width->value, 16);
  return (width->value + UNIT - 1) / UNIT * UNIT;
}

/* How much longer a row of a block takes than one of several that share registers. */
static double row_cost(int64_t rows, int vectors) {
  enum { MANY = 4 };
  static const double costs[MANY + 1] = {0, 3, 1.6, 1.2, 1}, halved = 1.1;
  const Machine *m = machine_find("cpu");
  MachineBlock block = machine_block_of(m, (int)rows, vectors);
  double cost = costs[block.rows < MANY ? block.rows : MANY];
  return block.vectors < machine_vectors_of(m, vectors) ? cost * halved : cost;
}

/* Keys of a block of turned tiles: so that scores stay in the first cache, and neither blocks nor
 * the rest are cut into single rows. */
static int64_t keys_of_turned(const Attention *x, int64_t rows) {
  enum { ROWS = 64, MOST = 128, OPEN = 64, EACH = 4, REST = 8 };
  if (!dim_is_int(x->walked) || x->walked->value <= 0 || x->high || x->low) return OPEN;
  int64_t keys = x->walked->value, most = rows > ROWS ? OPEN : MOST;
  int64_t best = keys < most ? keys : most;
  int vectors = (int)(rows / machine_find("cpu")->lanes);
  double least = INFINITY;
  if (vectors < 1) vectors = 1;
  for (int64_t n = best; n > 0 && n > best / 2; n--) {
    int64_t blocks = keys / n, rest = keys - blocks * n;
    double time = (double)(blocks * n) * row_cost(n, vectors) + (double)(EACH * blocks);
    if (rest) time += (double)rest * row_cost(rest, vectors) + REST;
    if (time >= least) continue;
    least = time;
    best = n;
  }
  return best;
}

/* Rows of turned tiles, which are lanes: those that fill their blocks best.  Blocks of one or two
 * vectors load more for each product.  Values are turned for each block of rows, so that many rows
 * are few blocks where these are enough for the threads: 8 heads of 1,024 rows by 128 columns took
 * 60 ms of a Sapphire Rapids' core, and 41. */
static int64_t rows_of_turned(const Attention *x) {
  enum { MANY = 128, PROGRAMS = 32 };
  static const struct {
    int64_t rows;
    double cost;
  } ways[] = {{32, 1.03}, {48, 1}, {64, 1}, {16, 1.15}, {MANY, 0.96}};
  int64_t best = ways[0].rows;
  double least = INFINITY;
  if (!dim_is_int(x->own_rows)) return best;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    int64_t n = ways[i].rows, rows = x->own_rows->value;
    if (n == MANY && (x->high || x->low || programs(x, n) < PROGRAMS)) continue;
    double time = (double)((rows + n - 1) / n * n) * ways[i].cost;
    if (time >= least) continue;
    least = time;
    best = n;
  }
  return best;
}

/* Are there as many columns as half vectors hold, so that few lanes of rows that are loaded have
 * none?  Heads of 40 and 72 columns take 0.7 of their time as tiles of powers of two, which end
 * within vectors, and in words 0.3 (Zen 5). */
static bool has_even_columns(const Attention *x) {
  enum { HALF = 8 };
  return x->width->value % HALF == 0 && x->columns->value % HALF == 0;
}

/* Rows of the query as lanes of a CPU: 64 keys of 32 columns took 193 us of a Zen 4's core for 16
 * heads with keys as lanes, whose maxima and sums are of lanes, and so. */
static bool is_turned(const Attention *x, int processors) {
  enum { LANES = 16 };
  bool many = !dim_is_int(x->own_rows) || x->own_rows->value >= LANES;
  bool plain = x->kind == ATTENTION_FORWARD && !x->seed && !x->block_rows;
  return !processors && plain && x->wide == DT_F32 && many && has_even_columns(x);
}

/* Does a CPU multiply words? */
static bool is_of_words(const Attention *x) {
  return x->in_words && !x->seed && !x->block_rows && has_even_columns(x);
}

/* Blocks of keys in words: halves of them are whole tiles of a unit (HAS_MATRIX_TILES).  Values are
 * turned for each block of rows, so that many rows are few blocks, but not of rows that see half of
 * the keys of their own block, nor of wide heads: 8 of 1,024 rows by 128 columns took 16.9 ms of a
 * Sapphire Rapids' core with 128 rows, and 13.1. */
static AttentionShape shape_of_words(const Attention *x, AttentionShape s) {
  enum { ROWS = 128, LANES = 16, KEYS = 64, MORE_KEYS = 128, MANY = 512, WIDE = 96 };
  s.words = true;
  s.bd = x->width->value;
  s.be = x->columns->value;
  s.bn = KEYS;
  if (!s.turned) return s;
  bool cut = (x->low || x->high) && dim_is_int(x->rows) && x->rows->value < MANY;
  bool wide = s.bd > WIDE || s.be > WIDE;
  s.bm = even_rows(x->own_rows, cut || wide ? ROWS / 2 : ROWS);
  s.bm = (s.bm + LANES - 1) / LANES * LANES;
  if ((s.bm <= ROWS / 2 || !wide) && !cut) s.bn = MORE_KEYS;
  return s;
}

static AttentionShape shape_of_turned(const Attention *x, AttentionShape s) {
  s.turned = true;
  s.bd = x->width->value;
  s.be = x->columns->value;
  s.bm = rows_of_turned(x);
  s.bn = keys_of_turned(x, s.bm);
  return is_of_words(x) ? shape_of_words(x, s) : s;
}

/* Are keys and values more than a core's second cache has? */
static bool leaves_caches(const Attention *x) {
  enum { CACHE_BYTES = 1 << 20 };
  int64_t bytes = (x->width->value + x->columns->value) * dtype_bytes(x->query->type.dtype);
  Dim sizes[] = {x->keys, x->batches};
  for (int i = 0; i < 2; i++) bytes *= dim_is_int(sizes[i]) ? sizes[i]->value : CACHE_BYTES;
  return bytes > CACHE_BYTES;
}

static AttentionShape shape_of_any(const Attention *x, int processors, bool groups) {
  enum { FEW_ROWS = 16, FEW_COLUMNS = 64 };
  AttentionShape s = {.bd = tile_width(x, x->width, groups),
                      .be = tile_width(x, x->columns, groups),
                      .warps = 4,
                      .stages = 2};
  int64_t width = s.bd > s.be ? s.bd : s.be;
  bool f32 = x->query->type.dtype == DT_F32;
  if (x->wide == DT_F64) return shape_of_doubles(x, width, s);
  if (x->kept) return shape_of_kept(x, width, processors, s);
  if (x->adds) return shape_that_adds(s);
  if (x->parts) return shape_of_parts(x, s);
  if (is_turned(x, processors)) return shape_of_turned(x, s);
  if (x->kind != ATTENTION_FORWARD) return shape_of_gradient(x, width, f32, processors, groups, s);
  int64_t most = f32 || width > 128 ? 64 : 128;
  s.bm = processors ? rows_fitting(x->own_rows, most) : even_rows(x->own_rows, most);
  bool few = !processors && s.bm < FEW_ROWS;
  s.bn = (f32 && !(few && width <= FEW_COLUMNS)) || width > 128 ? 32 : 64;
  if (processors && !f32) shape_of_halves(x, width, processors, groups, &s);
  if (s.bm <= 32) s.stages = 3;
  if (few && is_of_words(x)) s = shape_of_words(x, s);
  s.streams = !processors && s.bm < FEW_ROWS && leaves_caches(x);
  return s;
}

/* Do tiles of keys divide their blocks? */
static bool divide_blocks(const Attention *x) { return attention_tiles_divide(x->walked_block); }

AttentionShape attention_shape(const Attention *x, int processors, bool groups) {
  AttentionShape s = shape_in_blocks(x, processors, shape_of_any(x, processors, groups));
  bool several = x->kind != ATTENTION_FORWARD && !x->kept;
  bool tables = x->block_rows && (several || !divide_blocks(x));
  s.one_loop = groups && dtype_is_half(x->query->type.dtype) && s.bm >= 64 && !tables &&
               (!x->kept || x->block_rows);
  s.turns = results_in_turns(x, &s, processors);
  return s;
}

/* Latent attention's keys are 512 columns of values and 64 of positions. */
AttentionWidths attention_widths(int sm, uint32_t bits, bool gradients) {
  enum { LATENT_VALUES = 512, LATENT_KEYS = LATENT_VALUES + 64 };
  DevicePeaks device = {.sm = sm};
  if (!gradients && bits == 16 && device_has_warpgroups(&device))
    return (AttentionWidths){LATENT_KEYS, LATENT_VALUES};
  return (AttentionWidths){WIDTH_MOST, WIDTH_MOST};
}

static bool width_fits(const Node *x, int64_t most) {
  Dim w = x->type.shape[x->type.rank - 1];
  return dim_is_int(w) && w->value >= 1 && w->value <= most;
}

static bool fits(const Graph *g, const Node *query, const Node *value, bool gradients) {
  DType t = query->type.dtype;
  bool dtype = t == DT_F64 || t == DT_F32 || t == DT_F16 || t == DT_BF16;
  int sm = g && !g->host && g->gpu ? g->gpu->sm : 0;
  AttentionWidths most = attention_widths(sm, dtype_bits(t), gradients);
  return dtype && width_fits(query, most.keys) && width_fits(value, most.values);
}

bool attention_fits(const Node *query, const Node *value) {
  return fits(NULL, query, value, true);
}

bool attention_fits_forward(const Graph *g, const Node *query, const Node *value) {
  return fits(g, query, value, false);
}

static Dim given(Graph *g, const Node *n, const char *param) {
  Arg a = graph_arg(g, n, param);
  if (a.kind == ARG_NODE) return a.node->type.value;
  return a.kind == ARG_INT ? a.dim : NULL;
}

static double literal_value(const Arg *a) {
  return a->kind == ARG_FLOAT ? a->number : (double)a->dim->value;
}

static Node *tensor_argument(Graph *g, const Node *n, const char *param) {
  Arg a = graph_arg(g, n, param);
  return a.kind == ARG_NODE ? a.node : NULL;
}

static AttentionKind kind_of(const Node *n) {
  if (graph_is(n, OP_nereid_attention_grad_query_default)) return ATTENTION_GRAD_QUERY;
  if (graph_is(n, OP_nereid_attention_grad_value_default)) return ATTENTION_GRAD_VALUE;
  return ATTENTION_FORWARD;
}

static void find_own_sizes(Graph *g, Attention *x) {
  bool of_values = x->kind == ATTENTION_GRAD_VALUE;
  x->sharing = dim_floordiv(g->dims, x->heads, x->key_heads);
  x->packed = x->kind == ATTENTION_FORWARD && x->heads != x->key_heads;
  x->own_heads = of_values || x->packed ? x->key_heads : x->heads;
  x->own_rows = of_values ? x->keys : x->rows;
  if (x->packed) x->own_rows = dim_mul(g->dims, x->sharing, x->rows);
  x->own_columns = x->kind == ATTENTION_GRAD_QUERY ? x->width : x->columns;
  x->walked = of_values ? x->rows : x->keys;
  x->batches = dim_mul(g->dims, x->query->type.shape[0], x->own_heads);
}

static void find_blocks(Graph *g, const Node *n, Attention *x) {
  static const char *const counts[] = {"counts", "full_counts"};
  static const char *const indices[] = {"indices", "full_indices"};
  x->scores = tensor_argument(g, n, "scores");
  if (x->kind != ATTENTION_FORWARD) x->chain = tensor_argument(g, n, "chain");
  x->block_rows = graph_arg(g, n, "block_rows").dim->value;
  x->block_keys = graph_arg(g, n, "block_keys").dim->value;
  for (int i = 0; i < 2; i++) {
    x->counts[i] = tensor_argument(g, n, counts[i]);
    x->indices[i] = tensor_argument(g, n, indices[i]);
  }
  bool of_values = x->kind == ATTENTION_GRAD_VALUE;
  x->own_block = of_values ? x->block_keys : x->block_rows;
  if (x->packed) x->own_block = 0; /* all rows are in one block */
  x->walked_block = of_values ? x->block_rows : x->block_keys;
}

enum { WORD = 2 };

/* The place in memory of an element of the operand; *memory becomes what has it. */
static Dim place_of(Graph *g, Node *operand, const Dim *index, Node **memory) {
  Dim at[GRAPH_RANK_MAX], from[GRAPH_RANK_MAX];
  memcpy(at, index, operand->type.rank * sizeof *at);
  for (; prim_is_view(operand); operand = view_operand(operand)) {
    view_index(g, operand, at, from);
    memcpy(at, from, view_operand(operand)->type.rank * sizeof *at);
  }
  *memory = operand;
  return linear_of_index(g->dims, at, operand->type.shape, operand->type.rank);
}

/* Are the operand's columns next to each other, `each` of them aligned together?  Heads may be
 * repeated. */
static bool has_columns(Graph *g, Node *operand, int64_t each) {
  Dim at[GRAPH_RANK_MAX], size = dim_int(g->dims, each);
  const ValueType *t = &operand->type;
  uint32_t last = t->rank - 1;
  Node *memory;
  if (!dim_divisible(t->shape[last], each)) return false;
  for (uint32_t i = 0; i < last; i++) at[i] = dim_index(g->dims, "i", t->shape[i]);
  Dim group = dim_index(g->dims, "group", dim_floordiv(g->dims, t->shape[last], size));
  at[last] = dim_mul(g->dims, group, size);
  Dim first = place_of(g, operand, at, &memory);
  at[last] = dim_add(g->dims, at[last], dim_int(g->dims, 1));
  Dim next = place_of(g, operand, at, &memory);
  bool found = memory->kind != NODE_CALL || prim_kind(memory->op) != PRIM_GATHER;
  return found && dim_divisible(first, each) && dim_is(dim_sub(g->dims, next, first), 1);
}

static bool is_in_words(Graph *g, const Attention *x) {
  return g->host && x->query->type.dtype == DT_BF16 && strided_word(DT_BF16) == WORD &&
         has_columns(g, x->query, WORD) && has_columns(g, x->key, WORD) &&
         has_columns(g, x->value, 1);
}

bool attention_grads_in_words(Graph *g, Node *const operands[4]) {
  enum { HALF = 8, OPERANDS = 4 };
  if (!g->host || !machine_multiplies_pairs(machine_find("cpu"))) return false;
  for (int i = 0; i < OPERANDS; i++) {
    const ValueType *t = &operands[i]->type;
    if (t->dtype != DT_BF16 || !dim_divisible(t->shape[t->rank - 1], HALF)) return false;
    if (!has_columns(g, operands[i], WORD)) return false;
  }
  return true;
}

Attention attention_of(Graph *g, const Node *n) {
  Arg scale = graph_arg(g, n, "scale"), dropout = graph_arg(g, n, "dropout");
  Attention x = {.kind = kind_of(n),
                 .query = graph_arg(g, n, "query").node,
                 .key = graph_arg(g, n, "key").node,
                 .value = graph_arg(g, n, "value").node,
                 .mask = tensor_argument(g, n, "mask"),
                 .scale = literal_value(&scale),
                 .dropout = literal_value(&dropout),
                 .low = given(g, n, "low"),
                 .high = given(g, n, "high"),
                 .heads_first = graph_arg(g, n, "heads_first").flag,
                 .splits = 1};
  if (x.dropout > 0) x.seed = tensor_argument(g, n, "seed");
  if (x.kind == ATTENTION_FORWARD) {
    x.splits = graph_arg(g, n, "splits").dim->value;
  } else {
    x.grad = graph_arg(g, n, "grad").node;
    x.sums = graph_arg(g, n, "sums").node;
    x.delta = graph_arg(g, n, "delta").node;
  }
  if (x.kind == ATTENTION_GRAD_QUERY) x.kept = tensor_argument(g, n, "kept");
  x.wide = attention_wide(x.query->type.dtype);
  const Dim *q = x.query->type.shape, *v = x.value->type.shape;
  x.heads = q[1];
  x.key_heads = v[1];
  x.rows = q[2];
  x.keys = v[2];
  x.width = q[3];
  x.columns = v[3];
  find_own_sizes(g, &x);
  Node *const operands[] = {x.query, x.key, x.value, x.grad};
  x.in_words = x.kind == ATTENTION_FORWARD      ? is_in_words(g, &x)
               : x.kind == ATTENTION_GRAD_VALUE && attention_grads_in_words(g, operands);
  find_blocks(g, n, &x);
  if (x.kept) x.mask = x.scores = x.chain = x.seed = NULL;
  return x;
}

/* ---- keys and values of few bits ---- */

/* The sources of a tensor: operands of the views and pointwise operators that compute it. */
typedef struct {
  Graph *g;
  int64_t elements; /* of the tensor */
  bool narrow;      /* as many elements of a byte each are read, */
  bool wide;        /* or many of more bytes */
  int depth;
} Sources;

static void find_sources(Node **operand, void *ctx) {
  enum { FEW = 16, DEPTH_MOST = 8 };
  Sources *x = ctx;
  Node *n = *operand;
  if (n->type.kind != VALUE_TENSOR || x->wide) return;
  bool passes = prim_is_view(n) || (n->kind == NODE_CALL && prim_kind(n->op) == PRIM_POINTWISE);
  Dim size = value_numel(x->g, &n->type);
  int64_t elements = dim_is_int(size) ? size->value : INT64_MAX;
  if (passes && x->depth < DEPTH_MOST) {
    x->depth++;
    graph_each_use(n, find_sources, x);
    x->depth--;
  } else if (elements == x->elements && dtype_bytes(n->type.dtype) == 1) {
    x->narrow = true;
  } else if (elements > x->elements / FEW) {
    x->wide = true;
  }
}

static bool unpacks(Graph *g, const Attention *x, Node *operand) {
  enum { ROWS_MOST = 16 };
  Dim rows = x->own_rows, size = value_numel(g, &operand->type);
  bool few = x->kind == ATTENTION_FORWARD && dim_is_int(rows) && rows->value <= ROWS_MOST;
  if (!few || !dim_is_int(size) || dtype_bytes(operand->type.dtype) != 2) return false;
  Sources s = {.g = g, .elements = size->value};
  find_sources(&operand, &s);
  return s.narrow && !s.wide;
}

bool attention_unpacks(Graph *g, const Node *n, const Node *operand) {
  Attention x = attention_of(g, n);
  if (operand == x.query) return false;
  return (operand == x.key && unpacks(g, &x, x.key)) ||
         (operand == x.value && unpacks(g, &x, x.value));
}

uint32_t attention_operands(const Attention *x, Node **out) {
  bool again = !x->kept;
  Node *const read[ATTENTION_OPERANDS] = {again ? x->query : NULL,
                                          x->key,
                                          again ? x->value : NULL,
                                          x->seed,
                                          again ? x->grad : NULL,
                                          again ? x->sums : NULL,
                                          again ? x->delta : NULL,
                                          x->kept,
                                          x->counts[0],
                                          x->counts[1],
                                          x->indices[0],
                                          x->indices[1]};
  memcpy(out, read, sizeof read);
  return ATTENTION_OPERANDS;
}

bool attention_reads(Graph *g, const Node *n, const Node *operand) {
  Attention x = attention_of(g, n);
  Node *read[ATTENTION_OPERANDS];
  uint32_t count = attention_operands(&x, read);
  if (attention_unpacks(g, n, operand)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (read[i] == operand) return true;
  return false;
}

static void result_heads(Graph *g, const Attention *x, Dim batch, Dim *index) {
  Dim leading[] = {x->query->type.shape[0], x->own_heads};
  index_of_linear(g->dims, batch, leading, 2, index);
}

/* The query's head and row of a row that is packed. */
static void unpack_row(Graph *g, const Attention *x, Dim row, Dim *head, Dim *row_of_head) {
  Dims *d = g->dims;
  *head = dim_add(d, dim_mul(d, *head, x->sharing), dim_floordiv(d, row, x->rows));
  *row_of_head = dim_mod(d, row, x->rows);
}

void attention_query_index(Graph *g, const Attention *x, Dim batch, Dim head, Dim row, Dim column,
                           Dim *index) {
  result_heads(g, x, batch, index);
  if (x->kind == ATTENTION_GRAD_VALUE && x->heads != x->key_heads) {
    index[1] = dim_mul(g->dims, index[1], x->sharing);
    if (head) index[1] = dim_add(g->dims, index[1], head);
  }
  index[2] = row;
  if (x->packed) unpack_row(g, x, row, &index[1], &index[2]);
  if (column) index[3] = column;
}

void attention_key_index(Graph *g, const Attention *x, Dim batch, Dim row, Dim column, Dim *index) {
  result_heads(g, x, batch, index);
  if (x->kind == ATTENTION_GRAD_QUERY && x->heads != x->key_heads)
    index[1] = dim_floordiv(g->dims, index[1], x->sharing);
  index[2] = row;
  index[3] = column;
}

bool attention_limits_leave(Dims *d, Dim low, Dim high, Dim rows, Dim keys) {
  Dim zero = dim_int(d, 0);
  if (!dim_at_most(d, dim_int(d, 1), keys)) return false;
  if (high && !dim_at_most(d, zero, high)) return false;
  /* If there is a lower limit, the key at the row's own index must exist. */
  return !low || (dim_at_most(d, low, zero) && dim_at_most(d, rows, keys));
}

void attention_mask_index(Graph *g, const Node *mask, const Dim *at, Dim *index) {
  const ValueType *t = &mask->type;
  for (uint32_t i = 0; i < t->rank; i++)
    index[i] = dim_is(t->shape[i], 1) ? dim_int(g->dims, 0) : at[4 - t->rank + i];
}

void attention_result_index(Graph *g, const Attention *x, Dim split, Dim batch, Dim row, Dim column,
                            Dim *index) {
  Dim at[2];
  result_heads(g, x, batch, at);
  if (x->packed) unpack_row(g, x, row, &at[1], &row);
  if (split) *index++ = split;
  index[0] = at[0];
  index[1] = x->heads_first ? at[1] : row;
  index[2] = x->heads_first ? row : at[1];
  index[3] = column;
}
