#include "tiling/tiling.h"

#include <math.h>
#include <stdbool.h>

/* Times of tiles that rings feed are the cost model's (tiling_ring.c).  For others these figures,
 * fitted to tiles of this list measured on an H200 (all times in us), are the model; other GPUs
 * have other numbers of multiprocessors, which do other shares of that in a clock.  A
 * multiprocessor holds several programs; a step of one, BK deep, takes at least its latency, and
 * all steps together no less than the multiprocessor's rate allows. */
typedef struct {
  Tile tile;
  double rate;  /* flops a us of one multiprocessor that runs this tile alone */
  int resident; /* programs that fit one multiprocessor */
} Candidate;

static const double REACHED = 4.0 / 4.8; /* of the bandwidth */

/* Parameters that the tiles of an operand type share. */
typedef struct {
  const Candidate *tiles;
  int count; /* of those with figures */
  double launch, epilogue, epilogue_area; /* us: of a kernel; of a program, and of its 128x128 */
  double latency, overlap;                /* of a step: us of 64 in k; the share of its work */
} Family;

/* The first of each list is taken where sizes are open. */
static const Candidate halves[] = {
    {{64, 128, 64, 4, 3}, 4.16e6, 3},  {{128, 128, 64, 4, 3}, 5.69e6, 2},
    {{128, 256, 64, 8, 3}, 7.79e6, 1}, {{128, 64, 64, 4, 4}, 3.84e6, 2},
    {{64, 128, 128, 4, 3}, 8.1e6, 1},  {{64, 64, 64, 4, 4}, 2.81e6, 3},
    {{64, 32, 128, 4, 4}, 2.6e6, 2},   {{32, 64, 64, 4, 4}, 1.62e6, 4},
    {{32, 32, 128, 4, 4}, 0.9e6, 3},   {{16, 64, 64, 4, 5}, 0.8e6, 4},
    {{16, 32, 128, 4, 4}, 0.5e6, 3},
    /* Without figures: where rings feed them. */
    {{64, 128, 64, 4, 5}, 0, 0},       {{64, 256, 64, 8, 4}, 0, 0},
    {{128, 128, 64, 8, 5}, 0, 0},
    {{128, 256, 64, 8, 4}, 0, 0},      {{128, 192, 64, 8, 5}, 0, 0},
    /* Not of parts of images, whose rows are powers of two. */
    {{192, 128, 64, 8, 5}, 0, 0},
    /* Each warpgroup has 96 columns, no whole panels of rows of a right operand. */
    {{192, 192, 64, 8, 4}, 0, 0},
};
enum { HALVES_WITHOUT = 7, HALVES_OF_ROWS = 2, HALVES_OF_COLUMNS = 1 };
/* Convolutions' too: channels are often multiples of 160 and not of 128.  A multiprocessor holds
 * three programs of 64 columns in three stages; 256 rows read weights half as often. */
static const Candidate image_halves[] = {
    {{128, 160, 64, 8, 5}, 6.6e6, 1}, {{128, 64, 64, 4, 3}, 3.84e6, 3},
    {{256, 128, 64, 8, 3}, 0, 0},
};
/* 8-bit elements: 64 rows at least, as many as Hopper's units multiply at once. */
static const Candidate bytes[] = {
    {{64, 128, 128, 4, 4}, 8.7e6, 2},   {{128, 128, 128, 8, 4}, 11.0e6, 1},
    {{128, 256, 128, 8, 3}, 11.2e6, 1}, {{64, 64, 128, 4, 5}, 7.1e6, 2},
    {{64, 32, 128, 4, 6}, 4.0e6, 3},
};
/* Candidates where the sum is in groups: few steps a tile, and results of all groups to store.
 * 128x256 by eight warps was slower at 512 and at 2,048 of K a group (bench/history.md). */
static const Candidate byte_sums[] = {
    {{128, 128, 128, 4, 3}, 8.0e6, 2}, {{64, 128, 128, 4, 4}, 5.4e6, 2},
    {{64, 64, 128, 4, 5}, 3.5e6, 2},   {{64, 32, 128, 4, 6}, 2.0e6, 3},
};
/* f32 is multiplied without tensor cores: figures of 4096 cubed in four orders (an H200). */
static const Candidate singles[] = {
    {{64, 64, 32, 4, 3}, 0.268e6, 4},  {{128, 64, 16, 4, 3}, 0.283e6, 3},
    {{64, 128, 16, 4, 3}, 0.286e6, 3}, {{64, 64, 16, 4, 3}, 0.272e6, 4},
    {{32, 64, 32, 4, 3}, 0.243e6, 4},  {{32, 32, 32, 4, 3}, 0.190e6, 4},
    {{16, 64, 32, 4, 3}, 0.184e6, 4},
};

/* f32 that is rounded to TF32, which single warps multiply. */
static const Candidate rounded[] = {
    {{64, 128, 32, 4, 3}, 1.10e6, 3}, {{32, 128, 32, 4, 3}, 0.78e6, 3},
    {{64, 64, 32, 4, 3}, 0.80e6, 4},  {{32, 64, 32, 4, 3}, 0.60e6, 4},
    {{32, 32, 32, 4, 3}, 0.42e6, 4},  {{16, 64, 32, 4, 3}, 0.35e6, 4},
};

/* Tiles of parts of images whose operands are rounded in memory. */
static const Candidate rounded_images[] = {
    {{64, 128, 32, 4, 4}, 0, 0}, {{128, 128, 32, 8, 4}, 0, 0}, {{64, 64, 32, 4, 6}, 0, 0},
    {{128, 64, 32, 4, 4}, 0, 0}, {{256, 128, 32, 8, 3}, 0, 0}, {{64, 256, 32, 8, 4}, 0, 0},
};

/* Tiles of products whose operands are rounded in memory. */
static const Candidate rounded_products[] = {
    {{64, 128, 32, 4, 4}, 0, 0},  {{128, 128, 32, 8, 4}, 0, 0}, {{64, 64, 32, 4, 6}, 0, 0},
    {{128, 64, 32, 4, 4}, 0, 0},  {{128, 256, 32, 8, 3}, 0, 0}, {{128, 192, 32, 8, 3}, 0, 0},
};

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const Family half_tiles = {halves, COUNT(halves) - HALVES_WITHOUT, 4, 0, 2, 0.21, 0.77};
static const Family byte_tiles = {bytes, COUNT(bytes), 4, 0, 2, 0.105, 0.77};
static const Family byte_sum_tiles = {byte_sums, COUNT(byte_sums), 4, 0, 2.55, 0.105, 0.77};
static const Family single_tiles = {singles, COUNT(singles), 3, 1, 0, 0.54, 1.07};
static const Family rounded_tiles = {rounded, COUNT(rounded), 4, 0, 2, 0.4, 0.67};
static const Family rounded_image_tiles = {
    rounded_images, COUNT(rounded_images), 4, 0, 2, 0.2, 0.77};
static const Family rounded_product_tiles = {
    rounded_products, COUNT(rounded_products), 4, 0, 2, 0.2, 0.77};

/* p NULL: sizes are open. */
static const Family *family_of(DType t, const Product *p) {
  if (dtype_bits(t) == 8) return p && p->sums ? &byte_sum_tiles : &byte_tiles;
  if (dtype_bits(t) <= 16) return &half_tiles;
  if (p && p->rounds && p->images) return &rounded_image_tiles;
  if (p && p->rounds && p->before) return &rounded_product_tiles;
  return p && p->rounds ? &rounded_tiles : &single_tiles;
}

static const Family *family(const Product *p) { return family_of(p->dtype, p); }

enum { MAX_PARTS = 16, LEAST_STEPS = 4 };

static double ceil_div(double a, double b) { return ceil(a / b); }

static double larger_of(double a, double b) { return a > b ? a : b; }

/* The time of a step of `n` programs on one multiprocessor. */
static double step_time(const Candidate *c, const Product *p, double n) {
  double rate = c->rate * peaks_of_processor(p->gpu, p->dtype);
  double work = 2.0 * c->tile.bm * c->tile.bn * c->tile.bk / rate;
  const Family *f = family(p);
  return larger_of(f->latency * c->tile.bk / 64 + f->overlap * work, n * work);
}

static double memory_time(const Product *p, double bytes) {
  return bytes / (1e-6 * REACHED * p->gpu->bandwidth);
}

static double product_bytes(const Product *p) {
  double element = dtype_bits(p->dtype) / 8;
  return (double)p->batch * element *
         ((double)p->m * (double)p->k + (double)p->k * (double)p->n + (double)p->m * (double)p->n);
}

static int count_tiles(const Family *f, const Product *p) {
  if (!p || f != &half_tiles || !tiling_has_rings(p)) return f->count;
  return f->count + HALVES_WITHOUT -
         (p->images ? HALVES_OF_ROWS : p->columns ? 0 : HALVES_OF_COLUMNS);
}

static double tile_time(const Candidate *c, const Product *p) {
  if (tiling_has_rings(p)) return tiling_ring_time(&c->tile, p);
  double programs =
      (double)p->batch * ceil_div((double)p->m, c->tile.bm) * ceil_div((double)p->n, c->tile.bn);
  double steps = ceil_div((double)p->k, c->tile.bk), rest = ceil_div(programs, p->gpu->processors);
  const Family *f = family(p);
  double full = floor(rest / c->resident), time = f->launch;
  double end = f->epilogue + f->epilogue_area * c->tile.bm * c->tile.bn / (128 * 128);
  if (p->persists && c->resident == 1) end *= TILING_PERSISTENT_END;
  time += full * (steps * step_time(c, p, c->resident) + end);
  rest -= full * c->resident;
  if (rest > 0) time += steps * step_time(c, p, rest) + end;
  return larger_of(time, f->launch + memory_time(p, product_bytes(p)));
}

static const Candidate *best(const Product *p, double *time) {
  const Family *f = family(p);
  const Candidate *list = f->tiles, *found = list;
  *time = tile_time(list, p);
  for (int i = 1; i < count_tiles(f, p); i++) {
    double t = tile_time(&list[i], p);
    if (t >= *time) continue;
    *time = t;
    found = &list[i];
  }
  return found;
}

/* Adds a tile to `n` in order of time, before others of the same, which have fewer stages; of a
 * large tile three stages are no slower. */
static void insert_tile(const Candidate *c, const Product *p, double *times, Tile *out, int n) {
  double time = p ? tile_time(c, p) : n;
  int at = n;
  bool before = p && (p->images || c->tile.bm * c->tile.bn < 128 * 256);
  for (; at > 0 && (times[at - 1] > time || (before && times[at - 1] == time)); at--) {
    times[at] = times[at - 1];
    out[at] = out[at - 1];
  }
  times[at] = time;
  out[at] = c->tile;
}

int tiling_list(DType t, const Product *p, Tile out[TILING_MAX]) {
  double times[TILING_MAX];
  const Family *f = family_of(t, p);
  int n = 0;
  for (; n < count_tiles(f, p); n++) insert_tile(&f->tiles[n], p, times, out, n);
  for (int i = 0; p && p->images && f == &half_tiles && i < COUNT(image_halves); i++)
    insert_tile(&image_halves[i], p, times, out, n++);
  return n;
}

/* The parts are written in f32, and read by the kernel that adds them.  Where they fill less than
 * half of the cache that takes ADDING and, for ADDED of the bytes, as long as memory does: 2.4, 2.9
 * and 3.1 us of two, four and five parts of 768x768 (an H200). */
static double adding(const Product *p, int parts) {
  static const double ADDING = 1.9, ADDED = 0.38;
  double elements = (double)p->batch * (double)p->m * (double)p->n;
  if (tiling_has_rings(p) && 8 * elements * parts <= (double)p->gpu->cache)
    return ADDING + ADDED * memory_time(p, elements * (4.0 * parts + 2));
  return family(p)->launch + memory_time(p, elements * (8.0 * parts + 2));
}

/* Programs of a launch from which on deep rings of wide tiles gain as much as the model says, on an
 * H200: launches that leave a tenth of the processors idle are slower than more parts (768x768x4096
 * 15.7 us for 13.7 in three), and so are those whose rows begin between lines, which smaller tiles
 * read more often (1000x1000x5000 40 for 31), and narrow tiles (64x2048x8192 17.5 for 11.6). */
static double deep_least(const Product *p) {
  enum { LINE = 64, ROWS = 64 };
  static const double BUSY = 0.9;
  bool whole = p->m % LINE == 0 && p->n % LINE == 0 && p->k % LINE == 0;
  return whole && p->m >= ROWS ? BUSY * p->gpu->processors : HUGE_VAL;
}

int tiling_parts(const Product *of) {
  double time;
  int parts = 1;
  Product own = *of, *p = &own;
  own.deep_least = deep_least(of);
  const Candidate *whole = best(p, &time);
  if (p->k < 2 * LEAST_STEPS * whole->tile.bk) return 1;
  for (int n = 2; n <= MAX_PARTS; n++) {
    double t;
    Product part = *p;
    if ((n & (n - 1) || p->k % n) && !p->uneven) continue;
    part.batch *= n;
    part.k = (p->k + n - 1) / n;
    part.result = sizeof(float);
    const Candidate *c = best(&part, &t);
    if (part.k < LEAST_STEPS * c->tile.bk) break;
    t += adding(p, n);
    if (t >= 0.95 * time) continue;
    time = t;
    parts = n;
  }
  return parts;
}

static int64_t padded(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/* Memory limits products of few columns whose sum takes two steps: the more programs a
 * multiprocessor holds the better, and no step shall copy what is beyond the sum.  200,704 rows of
 * 96 and 24 columns took 18.9 us by steps of 64 in four stages, 16.4 in two, and 14.7 by steps of
 * 32 in two (an H200; cuDNN 15.4). */
Tile tiling_of_short_sum(const Product *p, Tile t) {
  enum { COLUMNS = 32, STEPS = 2, LEAST = 32, STAGES = 2 };
  bool few = tiling_has_rings(p) && !p->images && p->n <= COLUMNS && p->m > p->n;
  if (!few || (p->k + t.bk - 1) / t.bk != STEPS) return t;
  t.stages = STAGES;
  if (padded(p->k, LEAST) < padded(p->k, t.bk)) t.bk = LEAST;
  return t;
}

/* ---- gradients of convolutions' weights ---- */

Product tiling_weight(const DevicePeaks *gpu, DType t, int64_t m, int64_t n, int64_t windows,
                      int64_t taps, int parts) {
  return (Product){.gpu = gpu,
                   .dtype = t,
                   .batch = taps * parts,
                   .m = m,
                   .n = n,
                   .k = (windows + parts - 1) / parts,
                   .again = (int)taps};
}

int tiling_weight_parts(const DevicePeaks *gpu, DType t, int64_t m, int64_t n, int64_t windows,
                        int64_t taps) {
  enum { MOST = 128 };
  double least = 0;
  int parts = 1;
  for (int i = 1; i <= MOST; i++) {
    double time;
    Product p = tiling_weight(gpu, t, m, n, windows, taps, i);
    const Candidate *c = best(&p, &time);
    if (i > 1 && p.k < LEAST_STEPS * c->tile.bk) break;
    Product whole = p;
    whole.batch = taps;
    if (i > 1) time += adding(&whole, i);
    if (i > 1 && time >= least) continue;
    least = time;
    parts = i;
  }
  return parts;
}

/* ---- packed weights ---- */

/* A thread computes some 64 weights a step, of words that it loaded before.  `time`: of a tile of
 * rows, in us, of 4096 by 14336 weights of 4 bits on an H200 of which no multiprocessor is idle
 * (bench/compile.md), of 8 bits, and of words that are next to those of the next columns, where it
 * differs; of one row as the cost model predicts it.  Memory is busy if each multiprocessor has
 * some programs of some warps: a warp takes at least PACKED_STEP and PACKED_OF_WEIGHT, in ns, for
 * its part of a step, half of which others' loads hide. */
typedef struct {
  Tile tile;
  double time[3]; /* of 4 bits, of 8, of 4 beside; 0: as the first */
} PackedTile;

enum {
  ACROSS_LEAST = 128, /* columns of a tile whose words are along columns: sectors of memory, ... */
  ACROSS_LOSS = 2,    /* ... of which fewer take so many times as long */
  PACKED_DEPTH = 512, /* of a part of a sum, at least */
  PACKED_SUM_MOST = 1024, PACKED_COLUMNS_MOST = 256
};

static const double PACKED_STEP = 130, PACKED_OF_WEIGHT[2] = {0.066, 0.083}; /* of 4 bits, of 8 */

/* Tiles of one row, and of more. */
static const PackedTile packed_rows[] = {
    {{1, 32, 256, 4, 1}, {15}}, {{1, 16, 512, 4, 1}, {16}}, {{1, 8, 1024, 4, 1}, {17}},
    {{1, 16, 256, 4, 1}, {18}}, {{1, 32, 128, 4, 1}, {19}}, {{1, 64, 128, 4, 1}, {20}},
    {{1, 8, 512, 4, 1}, {20}},  {{1, 32, 512, 8, 1}, {21}}, {{1, 16, 1024, 8, 1}, {22}},
    {{1, 64, 64, 4, 1}, {30}},
};
/* A tile of 16 rows and of few columns loads more bytes of rows than of weights. */
static const PackedTile packed_tiles[] = {
    {{8, 32, 256, 2, 4}, {14, 21}}, {{8, 64, 256, 2, 4}, {15, 21}},
    {{8, 16, 512, 4, 3}, {13.6, 18.5, 15}}, {{8, 32, 512, 4, 4}, {14.1, 20, 13.5}},
    {{8, 64, 128, 4, 4}, {18, 19}}, {{8, 128, 256, 4, 3}, {16, 19}},
    {{16, 64, 128, 4, 4}, {20, 28}}, {{16, 64, 256, 4, 3}, {21, 29, 18.5}},
    {{16, 128, 256, 4, 3}, {18, 24}}, {{16, 128, 128, 8, 3}, {18.2, 21.6}},
    {{16, 32, 256, 2, 4}, {28, 40}}, {{64, 64, 128, 4, 3}, {33, 36}},
    {{64, 128, 128, 8, 3}, {30, 30}}, {{64, 64, 64, 4, 4}, {41, 36}},
    {{64, 32, 128, 4, 3}, {42, 42}}, {{128, 128, 64, 4, 3}, {39, 31}},
    {{256, 128, 64, 8, 4}, {58, 51}}, {{256, 64, 64, 8, 4}, {88, 75}},
};

static double programs_of(const Product *p, const Tile *t) {
  return (double)p->batch * ceil_div((double)p->m, t->bm) * ceil_div((double)p->n, t->bn);
}

/* A row of 32-bit floats, whose products no matrix instruction adds up exactly. */
static bool is_packed_row(const Product *p) { return p->m == 1 && dtype_bits(p->dtype) > 16; }

static double programs_wanted(const Product *p) {
  return p->gpu->processors * (is_packed_row(p) ? 2.0 : 1.0);
}

/* The wait of a tile's warps, in us, if each has its own part of a step. */
static double packed_waits(double k, const Tile *t, bool wide) {
  double weights = (double)t->bn * t->bk / t->warps;
  return 0.5e-3 * ceil_div(k, t->bk) * (PACKED_STEP + weights * PACKED_OF_WEIGHT[wide]);
}

static double packed_time(const Product *p, const PackedTile *t) {
  enum { WIDE = 8, K = 4096, N = 14336 }; /* measured */
  double share = (double)p->batch * (double)p->k * (double)p->n / ((double)K * N);
  double idle = programs_wanted(p) / programs_of(p, &t->tile);
  bool wide = p->bits >= WIDE;
  double time = t->time[wide ? 1 : p->beside ? 2 : 0];
  if (time <= 0) time = t->time[0];
  time *= share * (idle > 1 ? idle : 1);
  double waits = packed_waits((double)p->k, &t->tile, wide);
  if (!is_packed_row(p)) time += larger_of(0, waits - share * packed_waits(K, &t->tile, wide));
  return ceil_div((double)p->m, t->tile.bm) * time;
}

int tiling_packed_most(int64_t size, int axis) {
  enum { LEAST = 64 };
  int most = axis ? PACKED_COLUMNS_MOST : PACKED_SUM_MOST;
  while (most >= LEAST && size % most) most /= 2;
  return most >= LEAST ? most : 0;
}

/* Has it no parts of tiles where it need not? */
static bool is_packed_whole(const Product *p, const Tile *t) {
  int sum = tiling_packed_most(p->k, 0), columns = tiling_packed_most(p->n, 1);
  return (!sum || t->bk <= sum) && (!columns || t->bn <= columns);
}

int tiling_packed(const Product *p, Tile out[TILING_MAX]) {
  double times[TILING_MAX];
  bool row = is_packed_row(p);
  const PackedTile *list = row ? packed_rows : packed_tiles;
  int count = row ? COUNT(packed_rows) : COUNT(packed_tiles), n = 0;
  for (int i = 0; i < count; i++) {
    if (!is_packed_whole(p, &list[i].tile)) continue;
    double time = packed_time(p, &list[i]);
    bool few = !row && p->m <= TILING_FEW_ROWS;
    if (p->across && few && list[i].tile.bn < ACROSS_LEAST) time *= ACROSS_LOSS;
    int at = n++;
    for (; at > 0 && times[at - 1] > time; at--) {
      times[at] = times[at - 1];
      out[at] = out[at - 1];
    }
    times[at] = time;
    out[at] = list[i].tile;
  }
  return n;
}

int tiling_packed_parts(const Product *p) {
  Tile list[TILING_MAX];
  int parts = 1;
  tiling_packed(p, list);
  double programs = programs_of(p, list);
  /* Some idle multiprocessors cost less than the addition of parts. */
  while (parts < MAX_PARTS && 2 * programs * parts <= programs_wanted(p) &&
         p->k % (2 * parts * PACKED_DEPTH) == 0)
    parts *= 2;
  return parts;
}
