/* The model that chooses tiles of products, and the blocks of attention. */

#include "tiling/tiling.h"
#include "graph/analysis/attention.h"
#include "lower/target/machine.h"
#include "tiling/panels.h"
#include "tests/support/tally.h"

static DevicePeaks gpu;

static Product product(DType t, int64_t m, int64_t n, int64_t k) {
  return (Product){.gpu = &gpu, .dtype = t, .batch = 1, .m = m, .n = n, .k = k};
}

static Tile first(const Product *p) {
  Tile list[TILING_MAX];
  int n = tiling_list(p->dtype, p, list);
  check(n > 0 && n <= TILING_MAX, "there are tiles");
  return list[0];
}

/* What is chosen depends on how many multiprocessors there are, and what they do. */
static void test_gpus(void) {
  Product p = product(DT_BF16, 2048, 2048, 2048), cut = product(DT_BF16, 128, 1024, 16384);
  peaks_of_target(&gpu, "sm_80");
  check(gpu.processors == 108 && peaks_of_processor(&gpu, DT_BF16) == 0.5, "an A100");
  peaks_of_target(&gpu, "sm_90a");
  check(gpu.processors == 132 && peaks_of_processor(&gpu, DT_BF16) == 1, "an H200");
  Tile many = first(&p);
  int parts = tiling_parts(&cut);
  gpu.processors = 8;
  Tile few = first(&p);
  check(few.bm * few.bn >= many.bm * many.bn && tiling_parts(&cut) < parts,
        "few multiprocessors have work enough");
  peaks_of_target(&gpu, "sm_42");
  check(gpu.sm == 90, "what is not known counts as an H200");
}

/* Measured on an H200: 2048x1024x1024 by threads took 119 us in 128x64, 32x4096x1024 21 in 32x32
 * and 44 in 64x64. */
static void test_threads(void) {
  Product p = product(DT_F32, 2048, 1024, 1024), few = product(DT_F32, 32, 4096, 1024);
  Tile many = first(&p), rows = first(&few);
  check(many.bm * many.bn >= 64 * 64, "many products by threads");
  check(rows.bm <= 32 && rows.bn <= 64, "products of few rows by threads");
}

/* Matrix units take longer steps of f32 than threads do, which hold their operands. */
static void test_rounded(void) {
  Product p = product(DT_F32, 25088, 128, 1152);
  Tile alone = first(&p);
  p.rounds = true;
  Tile by_units = first(&p);
  check(by_units.bk > alone.bk, "products in TF32");
  p.m = 64;
  Tile few = first(&p);
  check(few.bm * few.bn < by_units.bm * by_units.bn, "few of their rows take smaller tiles");
}

/* Convolutions of 320 and 1280 channels: fewer columns in vain, and a program a multiprocessor. */
static void test_images(void) {
  Product wide = product(DT_BF16, 32768, 320, 2880), deep = product(DT_BF16, 2048, 1280, 11520);
  Product other = product(DT_BF16, 32768, 256, 2304);
  wide.images = deep.images = other.images = true;
  check(first(&wide).bn == 160 && first(&deep).bn == 160, "tiles of 160 columns");
  check(first(&other).bn != 160, "of other channels they are none");
  Product narrow = product(DT_BF16, 262144, 64, 576), tall = product(DT_BF16, 65536, 128, 1152);
  narrow.images = tall.images = true;
  check(first(&narrow).stages == 3, "three programs of 64 columns a multiprocessor");
  check(first(&tall).bm == 256, "256 rows of 128 columns");
  wide.images = false;
  check(first(&wide).bn != 160, "products have none");
}

/* Measured on an H200: 12608x768x3072 took 98 us in 128x128 and 79.5 in a loop over 128x192, four
 * stages; 8192x30528x768 720 in a loop over 192x192, 615 to 641 in the tiles that stay. */
static void test_loops(void) {
  Tile large = {128, 256, 64, 8, 4}, wide = {128, 192, 64, 8, 5}, square = {192, 192, 64, 8, 4};
  Tile small = {128, 128, 64, 8, 5}, high = {192, 128, 64, 8, 5};
  check(tiling_persistent_stages(&large) == 3 && tiling_persistent_stages(&wide) == 4 &&
            !tiling_persistent_stages(&square) && !tiling_persistent_stages(&small) &&
            !tiling_persistent_stages(&high),
        "stages of a program of several tiles");
  Product gradient = product(DT_BF16, 12608, 768, 3072), head = product(DT_BF16, 8192, 30528, 768);
  gradient.persists = head.persists = true;
  head.columns = true;
  check(first(&gradient).bm == 128 && first(&gradient).bn == 192, "a gradient's tile");
  check(first(&head).bm * first(&head).bn < 192 * 192, "a head's tile");
}

/* Launches of few programs have rings that fill shared memory: 16 images of 512 channels at 7x7
 * took 24.5 us in tiles of 64x32 and 15.4 in 64x64. */
static void test_deep_rings(void) {
  Product few = product(DT_BF16, 784, 512, 4608);
  few.images = true;
  few.again = 9;
  Tile t = first(&few);
  check(t.bm == 64 && t.bn == 64, "a tile of few programs");
}

/* Measured on an H200, us whole and in two and three parts: 1024x1024x4096 18.4, 19.5, 25.0,
 * 2048x512x4096 17.2, 20.7, 21.6, 128x4096x14336 44.4, 37.4, 45.9, 256x4096x14336 -, 48.1, 49.6;
 * whole and in these parts 1000x1000x5000 40.2, 30.9, 768x768x4096 15.7, 13.7, 128x4096x4096 14.0,
 * 11.4, 64x2048x8192 17.5, 11.6. */
static void test_parts_of_few(void) {
  static const struct {
    int64_t m, n, k;
    int parts;
  } measured[] = {
      {1024, 1024, 4096, 1},  {2048, 512, 4096, 1}, {128, 4096, 14336, 2},
      {256, 4096, 14336, 2},
      {1000, 1000, 5000, 2}, {768, 768, 4096, 3},  {128, 4096, 4096, 2},  {64, 2048, 8192, 4}};
  peaks_of_target(&gpu, "sm_90a");
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    Product p = product(DT_BF16, measured[i].m, measured[i].n, measured[i].k);
    p.uneven = p.columns = true;
    check(tiling_parts(&p) == measured[i].parts, "the fastest parts");
  }
}

/* Parts of the windows fill the processors, but for those of much work. */
static void test_weight_parts(void) {
  check(tiling_weight_parts(&gpu, DT_BF16, 128, 128, 100352, 9) > 1, "windows are in parts");
  check(tiling_weight_parts(&gpu, DT_BF16, 4096, 4096, 6272, 9) == 1, "many tiles are in none");
  check(tiling_weight_parts(&gpu, DT_BF16, 64, 64, 100, 9) == 1, "few windows are in none");
}

/* Patches of 4x4 with 3 channels, 96 of the result: 64x128 took 28 us, the rings' best tile 100. */
static void test_elements(void) {
  Product patches = product(DT_BF16, 100352, 96, 48);
  patches.elements = true;
  Tile t = first(&patches);
  check(t.bm == 64 && t.bn == 128 && t.stages == 3, "no ring copies single elements");
}

/* The best tiles of one H200 (bench/tune.md); those chosen by figures of tiles took 1.09 times
 * their time and more. */
static void test_measured(void) {
  static const struct {
    int64_t m, n, k;
    Tile best;
  } measured[] = {
      {512, 4096, 4096, {128, 128, 64, 8, 5}},
      {1024, 1024, 11008, {64, 128, 64, 4, 5}},
      {256, 3072, 11008, {64, 128, 64, 4, 5}},
      {256, 4096, 5120, {64, 128, 64, 4, 5}},
  };
  peaks_of_target(&gpu, "sm_90a");
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    Product p = product(DT_BF16, measured[i].m, measured[i].n, measured[i].k);
    Tile t = first(&p), best = measured[i].best;
    bool same = t.bm == best.bm && t.bn == best.bn && t.bk == best.bk && t.stages == best.stages;
    check(same, "the best tile");
    if (!same) printf("  %d x %d x %d, %d warps, %d stages\n", t.bm, t.bn, t.bk, t.warps, t.stages);
  }
}

/* Groups of a sum of 8-bit floats take tiles of four warps, whether sums are long or short. */
static void test_sums(void) {
  const int64_t steps[] = {2048, 256}, groups[] = {8, 32};
  for (int i = 0; i < 2; i++) {
    Product p = product(DT_F8E4NV, 4096, 2048, steps[i]);
    p.sums = true;
    p.batch = groups[i];
    Tile t = first(&p);
    check(t.bm == 128 && t.bn == 128 && t.warps == 4, "sums in groups");
  }
}

/* Words of neighboring columns take deeper steps where rows are 16. */
static void test_packed(void) {
  Tile list[TILING_MAX];
  Product p = product(DT_BF16, 16, 14336, 4096);
  p.bits = 4;
  check(tiling_packed(&p, list) > 0 && list[0].bn == 64 && list[0].bk == 128, "tile-packed words");
  p.beside = true;
  check(tiling_packed(&p, list) > 0 && list[0].bn == 64 && list[0].bk == 256, "words beside");
}

/* Products of one row and few columns give each multiprocessor several warps. */
static void test_packed_warps(void) {
  Tile list[TILING_MAX];
  for (int64_t k = 4096; k <= 14336; k += 14336 - 4096) {
    Product p = product(DT_BF16, 1, 4096, k);
    p.bits = 4;
    check(tiling_packed(&p, list) > 0, "tiles of one row");
    int64_t warps = p.n / list[0].bn * list[0].warps;
    check(warps >= 4 * p.gpu->processors, "warps of one row");
  }
}

/* Are rows lanes, in blocks whose rests are no single rows where that can be? */
static bool is_turned(Dims *d, int64_t rows, int64_t keys, int64_t bm, int64_t bn) {
  Node query = {.type = {.kind = VALUE_TENSOR, .dtype = DT_BF16}};
  Attention x = {.query = &query, .wide = DT_F32, .batches = dim_int(d, 12), .splits = 1};
  x.rows = x.own_rows = dim_int(d, rows);
  x.keys = x.walked = dim_int(d, keys);
  x.width = x.columns = dim_int(d, 64);
  AttentionShape s = attention_shape(&x, 0, false);
  return s.turned && s.bm == bm && s.bn == bn;
}

static int64_t block_of(Dims *d, int64_t rows, int processors) {
  Node query = {.type = {.kind = VALUE_TENSOR, .dtype = DT_F32}};
  Attention x = {.query = &query,
                 .batches = dim_int(d, 12),
                 .rows = dim_int(d, rows),
                 .own_rows = dim_int(d, rows),
                 .keys = dim_int(d, rows),
                 .width = dim_int(d, 64),
                 .columns = dim_int(d, 64)};
  return attention_shape(&x, processors, false).bm;
}

static void test_attention(void) {
  Arena *a = arena_new();
  Dims *d = dims_new(a, pool_new(a));
  check(block_of(d, 197, 132) == 64 && block_of(d, 7, 132) == 16, "a GPU's blocks are powers of 2");
  check(block_of(d, 197, 0) == 50 && block_of(d, 128, 0) == 64, "a CPU's are as equal as can be");
  check(block_of(d, 65, 0) == 35 && block_of(d, 43, 0) == 44, "and have register blocks");
  check(is_turned(d, 64, 64, 64, 64) && is_turned(d, 197, 128, 32, 128), "rows of a CPU are lanes");
  check(is_turned(d, 49, 49, 64, 49) && is_turned(d, 16, 1, 16, 1), "rests of few keys");
  check(!is_turned(d, 15, 64, 15, 64), "few rows are not lanes");
  check(block_of(d, 7, 0) == 7 && block_of(d, 1, 0) == 1, "few rows have a block of their number");
  arena_free(a);
}

/* The tile of a product with panels of f32, or of words. */
static Tile of_panels(int64_t m, int64_t n, int64_t k, int64_t run, int width, bool tiles) {
  PanelProduct p = {.batch = 1, .m = m, .n = n, .k = k, .run = run, .width = width,
                    .vectors = panels_vectors(width, DT_F32), .tiles = tiles};
  return tiling_panels(&p);
}

/* Blocks of rows share a program where they ask for the next panel, or what bytes take off. */
static void test_shared_panels(void) {
  const int width = panels_width(DT_F32), vectors = panels_vectors(width, DT_F32);
  const int block = machine_block_rows(machine_find("cpu"), vectors);
  PanelProduct p = {.batch = 1, .m = 8 * block, .n = 8000, .k = 2048, .run = 2048, .width = width,
                    .vectors = vectors, .follow = true};
  check(tiling_panels(&p).bm > block, "blocks of few rows ask for the next panel");
  check(tiling_panels(&p).bm <= p.m + p.m / 8 + block, "and compute few rows in vain");
  p.n = 2 * width;
  check(tiling_panels(&p).bm <= block, "but not where a cache holds all panels");
  p.m = 1024, p.bytes = true;
  check(tiling_panels(&p).bm > block, "unless blocks of bytes share what they take off");
}

/* Sums of 64 bits take twice the registers: blocks of 8 rows by 4 vectors were 32 registers. */
static void test_wide_panels(void) {
  const Machine *m = machine_find("cpu");
  int width = panels_width(DT_F64), vectors = panels_vectors(width, DT_F64);
  PanelProduct p = {.batch = 1, .m = 1024, .n = 1024, .k = 1024, .run = 1024, .width = width,
                    .vectors = vectors};
  Tile t = tiling_panels(&p);
  check(vectors == machine_block_vectors(m), "panels of 64 bits are as many registers");
  check(t.bm <= machine_block_rows(m, vectors), "whose sums registers hold");
}

static bool block_is(const Machine *m, int tile_rows, int tile_vectors, int rows, int vectors) {
  MachineBlock b = machine_block_of(m, tile_rows, tile_vectors);
  return b.rows == rows && b.vectors == vectors;
}

/* Rows that blocks of four vectors leave one by one have blocks of two, if those divide them. */
static void test_blocks_of_dots(void) {
  const Machine *wide = machine_find("cpu:16"), *narrow = machine_find("cpu:8");
  check(block_is(wide, 48, 4, 6, 4) && block_is(wide, 45, 4, 5, 4), "blocks fill registers");
  check(block_is(wide, 49, 4, 7, 2) && block_is(wide, 77, 4, 7, 2), "sevens have half the vectors");
  check(block_is(wide, 47, 4, 1, 4) && block_is(wide, 14, 4, 2, 4), "others stay");
  check(block_is(wide, 13, 3, 1, 3), "so do vectors that no two divide");
  check(block_is(narrow, 49, 8, 7, 1) && block_is(narrow, 48, 8, 6, 2), "with half the registers");
}

/* Blocks of six rows by four vectors compute 36 of 32 rows, those of eight by three 32. */
static void test_widths(void) {
  const int lanes = 16;
  check(tiling_rows_done(0, 4) == 1 && tiling_rows_done(1, 1) == 1, "any rows are not counted");
  if (machine_find("cpu")->lanes != lanes) return;
  check(panels_width_for(0, 4096, DT_F32) == 4 * lanes, "any rows have wide panels");
  check(panels_width_for(36, 4096, DT_F32) == 4 * lanes, "so do rows of whole blocks of them");
  check(panels_width_for(32, 4096, DT_F32) == 3 * lanes, "others have narrow ones");
  check(panels_width_for(8, 4096, DT_F32) == 3 * lanes, "that are one block");
  check(panels_width_for(32, 64, DT_F32) == 2 * lanes, "without a rest of columns");
}

int main(void) {
  peaks_of_target(&gpu, "sm_90a");
  Product large = product(DT_BF16, 8192, 8192, 8192), row = product(DT_BF16, 7, 2048, 8192);
  Product narrow = product(DT_F32, 32, 1024, 4096), odd = product(DT_BF16, 7, 2048, 8191);
  Product huge = product(DT_F16, INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2);
  Product nothing = product(DT_F16, 0, 0, 0);
  Tile t = first(&large);
  check(t.bm * t.bn >= 128 * 64, "much work has large tiles");
  check(tiling_parts(&large) == 1, "much work is not cut");
  check(first(&row).bm <= 64, "few rows have low tiles");
  check(tiling_parts(&row) > 1 && row.k % tiling_parts(&row) == 0, "a long sum is cut");
  check(tiling_parts(&odd) == 1, "an odd sum cannot be cut");
  check(tiling_parts(&narrow) > 1, "so is one in f32");
  test_gpus();
  test_threads();
  test_rounded();
  test_images();
  test_loops();
  test_widths();
  test_deep_rings();
  test_parts_of_few();
  test_weight_parts();
  test_elements();
  test_measured();
  test_sums();
  test_packed();
  test_packed_warps();
  check(first(&huge).bm > 0 && first(&nothing).bm > 0, "any size has a tile");
  Product even = product(DT_F32, 256, 512, 512), many = product(DT_F32, 197, 4096, 512);
  t = tiling_cpu(&even, 128);
  check(256 % t.bm == 0 && 512 % t.bn == 0, "on a CPU, tiles divide what they can");
  t = tiling_cpu(&many, 128);
  check((197 + t.bm - 1) / t.bm * t.bm < 197 + 16, "few rows are computed in vain");
  check(tiling_cpu(&huge, 64).bm > 0 && tiling_cpu(&nothing, 64).bm > 0 &&
            tiling_cpu(NULL, 64).bm > 0,
        "any size has a tile there");
  t = of_panels(197, 768, 3072, 3072, 16, false);
  check(t.bn == 16 && 3072 % t.bk == 0 && t.bm <= 64, "a tile of panels");
  check(of_panels(1 << 20, 16, 1031, 1031, 16, false).bk == 1 &&
            of_panels(0, 16, 8, 8, 16, false).bm > 0,
        "and of any sizes");
  t = of_panels(49, 512, 4608, 1536, 64, false);
  check(t.bm > 6 && t.bm % 5 == 0 && 1536 % t.bk == 0, "rows share a panel that is large");
  check(of_panels(49, 64, 4608, 1536, 64, false).bm <= 6, "but not where processors are idle");
  check(tiling_panel_band(6, 256) > tiling_panel_band(6, 4096) && tiling_panel_band(6, 0) > 0,
        "bands of short rows are higher");
  check(of_panels(512, 4096, 1024, 1024, 64, true).bm == 64,
        "the unit for tiles takes 32 rows");
  check(33 % of_panels(33, 4096, 1024, 1024, 64, true).bm == 0, "and blocks without a rest");
  check(of_panels(7, 4096, 1024, 1024, 64, true).bm == 7, "or all rows");
  test_wide_panels();
  test_shared_panels();
  test_blocks_of_dots();
  even.tiles = true;
  check(tiling_cpu(&even, 128).bm == 128, "columns are turned for many of its rows");
  test_attention();
  return report();
}
