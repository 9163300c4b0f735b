/* The time of a product whose operands go through rings, before its kernel exists: statistics of
 * its launch that follow from the tile, for the cost model that predicts kernels (lower/cost). */
#include <math.h>

#include "lower/cost/launch_stats.h"
#include "tiling/tiling.h"

/* What kernels of such tiles have beside products and copies: clocks, and registers. */
enum {
  GROUP_ROWS = 64, WARPGROUP = 4, /* a warpgroup multiplies so many, single warps fewer */
  STEP_CLOCKS = 27, STEP_CLOCKS_OF_WARPS = 120,
  BOXES_CLOCKS = 290, /* a step takes so long at least, whose boxes one thread copies */
  ENDS_CLOCKS = 500,
  REGISTERS = 40, REGISTERS_OF_WARPS = 60,
  BARRIERS_BYTES = 1024
};
static const double STORED_CLOCKS = 6.5; /* of a line of the result */
/* Warpgroups side by side, each of which reads all rows: 192x192 took 1528 us of 8192 cubed and 139
 * of a k of 512, where 128x256 took 1373 and 124, and the products alone 1.05 times as long. */
static const double BESIDE_LOSS = 1.06;

static double ceil_div(int64_t a, int b) { return ceil((double)a / b); }

static void set_resources(LaunchStats *f, const Tile *t, double bytes, bool group) {
  enum { MOST = 255, LANES = 32 };
  int registers = t->bm * t->bn / (LANES * t->warps) + (group ? REGISTERS : REGISTERS_OF_WARPS);
  f->warps = t->warps;
  f->stages = t->stages;
  f->registers = registers < MOST ? registers : MOST;
  f->shared = (int64_t)bytes * t->stages + BARRIERS_BYTES;
}

/* Clocks of a step, if the ring's copies come as late as that. */
static double step_clocks(const Tile *t, double products, double copies, bool group) {
  double least = fmax(products, copies / (t->stages - 1));
  return fmax(least + (group ? STEP_CLOCKS : STEP_CLOCKS_OF_WARPS), group ? BOXES_CLOCKS : 0);
}

/* Each program makes so many tiles, one after another. */
static void repeat(LaunchStats *f, double tiles) {
  if (tiles <= 1) return;
  double turns = ceil(tiles);
  f->programs /= tiles;
  f->loaded *= turns;
  f->waits *= turns;
  f->early *= turns;
  f->clocks *= turns;
  f->counts.tensor *= turns;
  f->counts.sent *= turns;
}

bool tiling_has_rings(const Product *p) {
  bool units = dtype_is_half(p->dtype) || (p->rounds && (p->images || p->before));
  return sim_synchronous_share(p->gpu) < 1 && units && !p->elements;
}

static double ring_time(const Tile *t, const Product *p, bool persists) {
  enum { LINE = 128 };
  bool group = t->bm >= GROUP_ROWS;
  double element = dtype_bytes(p->dtype), steps = ceil_div(p->k, t->bk);
  double bytes = (double)(t->bm + t->bn) * t->bk * element;
  enum { HALF = 2 }; /* bytes; words take twice the time */
  double rate = p->gpu->f16 * HALF / element * (group ? 1 : sim_synchronous_share(p->gpu));
  bool beside = group && t->bm % (GROUP_ROWS * t->warps / WARPGROUP) != 0;
  double products = 2.0 * t->bm * t->bn * t->bk / rate * (beside ? BESIDE_LOSS : 1);
  double result = p->result ? p->result : element;
  double lines = (double)t->bm * t->bn * result / LINE, end = ENDS_CLOCKS + STORED_CLOCKS * lines;
  LaunchStats f = {
      .programs = (double)p->batch * ceil_div(p->m, t->bm) * ceil_div(p->n, t->bn),
      .loaded = steps * bytes,
      .waits = steps,
      .counts = {.tensor = steps * products, .sent = lines},
      .read = element * (double)p->batch * (double)p->k * (double)(p->m + p->n) /
              (p->again ? p->again : 1),
      .written = result * (double)p->batch * (double)p->m * (double)p->n,
  };
  set_resources(&f, t, bytes, group);
  f.occupancy = launch_stats_occupancy(&f, p->gpu);
  double copies = sim_copy_clocks(p->gpu, f.programs, bytes, group);
  if (persists) end *= TILING_PERSISTENT_END;
  f.clocks = steps * step_clocks(t, products, copies, group) + end;
  f.early = steps * fmax(0, products * (t->stages - 1) - copies);
  if (persists) repeat(&f, f.programs / p->gpu->processors);
  f.clocks_most = f.clocks;
  f.busy = f.read + f.written;
  return estimate_stats(&f, p->gpu).us;
}

int tiling_persistent_stages(const Tile *t) {
  enum { SMALL = 128 * 128, LARGE = 128 * 256, ROWS = 128, STAGES = 4, STAGES_OF_LARGE = 3 };
  int area = t->bm * t->bn;
  if (area <= SMALL || area > LARGE || t->bm > ROWS) return 0;
  return area < LARGE ? STAGES : STAGES_OF_LARGE;
}

/* Launches of no more programs than processors run code with rings that fill shared memory
 * (launch_deep_stages), if the loop fills these. */
static int launched_stages(const Tile *t, const Product *p, double programs) {
  enum { SLOT_MORE = 64, LEAST_MORE = 2, MOST = 12, WIDE = 64 * 128 };
  int64_t slot = (int64_t)(t->bm + t->bn) * t->bk * dtype_bytes(p->dtype) + SLOT_MORE;
  int deep = (int)((p->gpu->shared - BARRIERS_BYTES) / slot);
  if (deep > MOST) deep = MOST;
  bool much = !p->deep_least || (t->bm * t->bn >= WIDE && programs >= p->deep_least);
  bool runs = much && programs <= p->gpu->processors && deep >= t->stages + LEAST_MORE &&
              t->bm >= GROUP_ROWS;
  return runs && ceil_div(p->k, t->bk) >= deep ? deep : t->stages;
}

double tiling_ring_time(const Tile *t, const Product *p) {
  Tile own = *t;
  double tiles = (double)p->batch * ceil_div(p->m, t->bm) * ceil_div(p->n, t->bn);
  int stages = tiling_persistent_stages(t);
  bool persists = p->persists && stages && tiles > p->gpu->processors;
  own.stages = persists ? stages : launched_stages(t, p, tiles);
  return ring_time(&own, p, persists);
}
