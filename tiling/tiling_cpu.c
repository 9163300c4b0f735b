/* The tiles by which a CPU computes products of matrices.
 *
 * A program copies its tiles of both operands into its nearest cache, step by step along k, and
 * multiplies there, a few rows at a time: as many as divide BM, up to six.  If there are panels, it
 * reads both in place. */
#include <math.h>

#include "lower/target/machine.h"
#include "tiling/tiling.h"

/* The model's figures, in cycles of a core with two multiply-adds of 8 floats a cycle; fitted to
 * products of one thread on a Zen 3.  They are for one vector of 8 elements. */
static const double MULTIPLY_ADD = 0.6, COPY = 4, CARRY = 2 /* of sums, a step */, FINISH = 20;
/* Cycles that a block of few rows waits for each of its multiply-adds. */
static const double WAITS[] = {0, 4, 2, 1.2, 1, 1, 1};

/* Programs are spread over as many processors as this, whatever machine compiles. */
enum { PROCESSORS = 16, LANES = 8, ROWS_IN_BLOCK = 6, DEPTH = 64 };

static const int row_counts[] = {128, 120, 112, 108, 100, 96, 84, 80, 72, 64, 60, 56,
                                 50,  48,  44,  40,  36,  32, 28, 24, 20, 16, 12, 8,  4};
static const int column_counts[] = {64, 128, 48, 32, 16};

/* ---- the unit for tiles ---- */

bool tiling_has_tiles(int64_t word) {
  return word > 1 && machine_has(machine_find("cpu"), HAS_MATRIX_TILES);
}

/* Cycles, for 16 words of a sum and of each of 16 columns: to load these from the second cache and
 * to multiply a tile of 16 rows, or fewer, by them; to copy a row's words; to turn the columns'.  A
 * block of 32 rows, for all words of a program, to begin and to end. */
enum { UNIT_ROWS = TILING_UNIT_ROWS, UNIT_DEPTH = 256 };
static const double UNIT_LOAD = 12, UNIT_TILE = 18, UNIT_COPY = 3, UNIT_TURN = 100,
                    UNIT_BLOCK = 400;

static const int unit_rows[] = {128, 96, 64, 48, 32, 16};
static const int unit_columns[] = {64, 32};

static double unit_step(int rows, double columns) {
  double blocks = ceil(rows / (double)UNIT_ROWS), tiles = ceil(rows / (double)MACHINE_TILE);
  return columns / MACHINE_TILE * (UNIT_LOAD * blocks + UNIT_TILE * tiles);
}

static double unit_tile_time(const Tile *t, const Product *p) {
  double steps = ceil((double)p->k / MACHINE_TILE), tiles = t->bn / (double)MACHINE_TILE;
  double step = unit_step(t->bm, t->bn) + UNIT_COPY * t->bm + UNIT_TURN * tiles;
  double parts = ceil((double)p->k / t->bk) * ceil(t->bm / (double)UNIT_ROWS);
  double programs = (double)p->batch * ceil((double)p->m / t->bm) * ceil((double)p->n / t->bn);
  return ceil(programs / PROCESSORS) * (steps * step + parts * UNIT_BLOCK);
}

static Tile unit_tile(const Product *p, int most_rows) {
  Tile best = {MACHINE_TILE, unit_columns[0], UNIT_DEPTH, 1, 1};
  double least = INFINITY;
  for (size_t i = 0; i < sizeof unit_rows / sizeof *unit_rows; i++)
    for (size_t j = 0; j < sizeof unit_columns / sizeof *unit_columns; j++) {
      Tile t = {unit_rows[i], unit_columns[j], UNIT_DEPTH, 1, 1};
      double time = unit_tile_time(&t, p);
      if (t.bm > most_rows || time >= least) continue;
      best = t;
      least = time;
    }
  return best;
}

/* ---- vectors ---- */

static int rows_in_block(int bm) {
  int n = ROWS_IN_BLOCK;
  while (bm % n) n--;
  return n;
}

static double cpu_tile_time(const Tile *t, const Product *p) {
  double acc = t->bm * t->bn / (double)LANES, depth = t->bk;
  double step = acc * depth * MULTIPLY_ADD * WAITS[rows_in_block(t->bm)] + acc * CARRY;
  step += COPY * depth * (t->bm + t->bn) / LANES;
  double programs = (double)p->batch * ceil((double)p->m / t->bm) * ceil((double)p->n / t->bn);
  double rounds = ceil(programs / PROCESSORS);
  return rounds * (ceil((double)p->k / depth) * step + acc * FINISH);
}

Tile tiling_cpu(const Product *p, int most_rows) {
  Tile best = {64, 64, DEPTH / 2, 1, 1};
  double least = INFINITY;
  if (p && p->tiles) return unit_tile(p, most_rows);
  for (size_t i = 0; p && i < sizeof row_counts / sizeof *row_counts; i++)
    for (size_t j = 0; j < sizeof column_counts / sizeof *column_counts; j++) {
      Tile t = {row_counts[i], column_counts[j], DEPTH, 1, 1};
      double time = cpu_tile_time(&t, p);
      if (t.bm > most_rows || t.bm * t.bn > most_rows * 64 || time >= least) continue;
      best = t;
      least = time;
    }
  return best;
}

enum { DEPTH_LEAST = 1024 }; /* of a part */

static int parts_of(const Product *p, int64_t k) {
  enum { SIDE = 64 };
  int64_t tiles = p->batch * ((p->m + SIDE - 1) / SIDE) * ((p->n + SIDE - 1) / SIDE), parts = 1;
  bool wide = dtype_bits(p->dtype) > 32;
  while (!wide && tiles * parts < PROCESSORS && k % (2 * parts) == 0 &&
         k / (2 * parts) >= DEPTH_LEAST)
    parts *= 2;
  return (int)parts;
}

/* Gradients of weights sum up all positions of all images, for a few tiles, and those of logits a
 * vocabulary, whose length is odd. */
int tiling_cpu_parts(const Product *p, int64_t *whole) {
  int64_t even = p->k / DEPTH_LEAST * DEPTH_LEAST;
  int parts = parts_of(p, p->k), most = whole ? parts_of(p, even) : parts;
  if (most > parts) *whole = even;
  return most > parts ? most : parts;
}

/* ---- panels ---- */

double tiling_vectors_cost(int vectors) {
  static const double costs[] = {1.4, 1.1, 1.03, 1, 1};
  return costs[vectors - 1];
}

/* A program of few rows has one block of registers, so that an open number is not computed as if
 * they were many.  A panel comes from the second cache or beyond. */
enum { PANEL_DEPTH = 1024, ROWS_MOST = 8 /* which divides rows of images more often than 9 */ };
static const double PANEL_LOAD = 2;

int tiling_panel_depth(int64_t k) {
  int64_t depth = k < PANEL_DEPTH ? k : PANEL_DEPTH;
  while (k % depth) depth--;
  return (int)depth;
}

double tiling_rows_done(int64_t rows, int vectors) {
  int64_t block = machine_block_rows(machine_find("cpu"), vectors);
  if (block > ROWS_MOST) block = ROWS_MOST;
  return rows < block ? 1 : (double)((rows + block - 1) / block * block) / (double)rows;
}

static double panel_time(int bm, const PanelProduct *p) {
  double vectors = p->vectors * machine_find("cpu")->lanes / (double)LANES;
  double rows = bm * vectors * MULTIPLY_ADD * (bm < ROWS_IN_BLOCK ? WAITS[bm] : 1);
  double programs = (double)p->batch * ceil((double)p->m / bm) * ceil((double)p->n / p->width);
  return ceil(programs / PROCESSORS) *
         ((double)p->k * (rows + vectors * PANEL_LOAD) + bm * vectors * FINISH);
}

/* The second cache of processors with such vectors and units: Sapphire Rapids' has 2 MiB, others'
 * with 512 bits at least 1.  A core of it reads the third one at 10 to 15 GB/s, so that panels that
 * were read for each 256 KiB of rows were half of the time of products of 64 bits. */
static int64_t second_cache(void) {
  enum { SMALL = 1 << 19, LARGE = 1 << 20, LANES_LARGE = 16 };
  const Machine *m = machine_find("cpu");
  if (machine_has(m, HAS_MATRIX_TILES)) return 2 * LARGE;
  return m->lanes >= LANES_LARGE ? LARGE : SMALL;
}

int64_t tiling_near_bytes(void) { return second_cache() / 2; }

/* Rows of a band stay in the second cache beside a panel, or panels are read once more for few
 * rows: 49 rows of 4,608 by 512 columns took a third more by bands of 40. */
int tiling_panel_band(int rows, int64_t bytes) {
  enum { LEAST = 8, MOST = 64 };
  int64_t blocks = bytes > 0 ? tiling_near_bytes() / (rows * bytes) : MOST;
  return blocks < LEAST ? LEAST : blocks > MOST ? MOST : (int)blocks;
}

/* blocks_of_program of blocks of many rows, which may be one. */
int tiling_turned_band(int rows, int64_t bytes) {
  int64_t blocks = bytes > 0 ? tiling_near_bytes() / (rows * bytes) : 1;
  return blocks < 1 ? 1 : (int)blocks;
}

/* Does a block of rows read a panel from beyond the second cache, of which the next one follows in
 * memory?  The program's blocks ask for its lines. */
static bool asks_for_next(const PanelProduct *p, int64_t panels) {
  enum { WORD = 4, PANEL_LEAST = 1 << 13 };
  int64_t panel = p->k * p->width;
  return p->follow && panel >= PANEL_LEAST && panel * panels > second_cache() / WORD;
}

/* As many blocks as compute the fewest rows in vain, while processors have something to do. */
static int64_t blocks_that_share(int64_t blocks, int64_t panels) {
  enum { MOST = 12 };
  int64_t best = 1, least = 0, rounds = (blocks * panels + PROCESSORS - 1) / PROCESSORS;
  for (int64_t n = 2; n <= MOST; n++) {
    int64_t programs = (blocks + n - 1) / n, all = programs * n;
    int64_t own = (programs * panels + PROCESSORS - 1) / PROCESSORS * n;
    if (all > blocks + blocks / 8 || programs * panels < PROCESSORS) continue;
    if (own > rounds + rounds / 8 || (best > 1 && all > least)) continue;
    best = n;
    least = all;
  }
  return best;
}

/* How many blocks of rows a program has, which share a step's part of a panel: several where the
 * second cache does not hold the panel, unless processors would have nothing to do.  A program
 * takes as long as its blocks, and one more to read the panel; the last one may have blocks that
 * are none.  Blocks ask for the next panel, or share what bytes take off their sums (1038), too. */
static int64_t blocks_of_program(int64_t blocks, int64_t panels, const PanelProduct *p) {
  enum { PANEL_LARGE = 1 << 17, MOST = 8 };
  int64_t best = 1, least = INT64_MAX;
  if (asks_for_next(p, panels) || p->bytes) return blocks_that_share(blocks, panels);
  for (int64_t n = 1; p->k * p->width >= PANEL_LARGE && n <= MOST; n++) {
    int64_t programs = (blocks + n - 1) / n, time = programs * (n + 1);
    if (n > 1 && programs * panels < PROCESSORS) break;
    if (time > least) continue;
    best = n;
    least = time;
  }
  return best;
}

/* Blocks without a rest take less: the rows of a last block that repeats one are copied.  Two
 * blocks of many share a panel. */
static Tile unit_panels(const PanelProduct *p) {
  Tile best = {MACHINE_TILE, p->width, tiling_panel_depth(p->run), 1, 1};
  double least = INFINITY;
  for (int bm = UNIT_ROWS; p->m && bm > 0; bm--) {
    double steps = ceil((double)p->k / MACHINE_TILE);
    double programs = (double)p->batch * ceil((double)p->m / bm) * ceil((double)p->n / p->width);
    double each = steps * unit_step(bm, p->width) + UNIT_BLOCK;
    double time = ceil(programs / PROCESSORS) * each;
    if (p->m % bm) time += steps * UNIT_COPY * bm; /* of the last block, in parallel */
    if (time >= least) continue;
    best.bm = bm;
    least = time;
  }
  int64_t blocks = (p->m + UNIT_ROWS - 1) / UNIT_ROWS, panels = (p->n + p->width - 1) / p->width;
  panels *= p->batch;
  if (best.bm == UNIT_ROWS && blocks % 2 == 0 && blocks / 2 * panels >= PROCESSORS) best.bm *= 2;
  return best;
}

Tile tiling_panels(const PanelProduct *p) {
  Tile best = {ROWS_IN_BLOCK, p->width, tiling_panel_depth(p->run), 1, 1};
  double least = INFINITY;
  if (p->tiles && best.bk >= MACHINE_TILE) return unit_panels(p);
  int64_t most = p->m ? machine_block_rows(machine_find("cpu"), p->vectors) : 0;
  if (most > ROWS_MOST) most = ROWS_MOST;
  if (p->m < most) most = p->m;
  for (int bm = (int)most; p->m && bm > 0; bm--) {
    double time = panel_time(bm, p);
    if (time >= least) continue;
    best.bm = bm;
    least = time;
  }
  int64_t blocks = (p->m + best.bm - 1) / best.bm;
  int64_t panels = p->batch * ((p->n + p->width - 1) / p->width);
  best.bm *= (int)blocks_of_program(blocks, panels, p);
  return best;
}

int tiling_scattered_columns(int64_t columns) {
  enum { MOST = 64 }; /* so that threads share wide rows, of which each reads its columns alone */
  int block = columns ? 1 : MOST;
  while (block < columns && block < MOST) block *= 2;
  return block;
}
