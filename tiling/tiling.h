/* The tiles by which products of matrices are computed, chosen by a cost model.
 *
 * tiling owns the cost models.  It takes the sizes and dtypes of a product and the peaks of
 * a device, and gives tiles, the best first. */
#ifndef NEREID_TILING_TILING_H
#define NEREID_TILING_TILING_H

#include <stdbool.h>
#include <stdint.h>

#include "lower/target/machine.h"
#include "runtime/device/peaks.h"

/* `batch` products of [m, k] by [k, n], operands of one dtype, on that GPU. */
typedef struct {
  const DevicePeaks *gpu;
  DType dtype;
  int64_t batch, m, n, k;
  bool across; /* a packed right operand's words are along columns */
  int bits;    /* of its weights; 0: not known */
  bool images;   /* a convolution whose rows are parts of images, of 16 bits or rounded before */
  bool elements; /* a convolution whose steps are no blocks of channels: no ring copies them */
  bool persists; /* a program makes several tiles, and copies the next one's operands ahead */
  bool rounds; /* f32 whose operands matrix units round to TF32 */
  bool before; /* of a product: they were rounded in memory */
  bool sums; /* what is summed up is in groups, of which `batch` there are */
  bool columns; /* the right operand's columns are contiguous in memory: its transpose's rows */
  bool beside; /* neighboring words of a packed right operand are of neighboring columns */
  double deep_least; /* programs of a launch of wide tiles whose rings may be deeper; 0: of any */
  bool tiles; /* words that a CPU's unit for tiles multiplies */
  int result;  /* bytes of an element of the result; 0: as many as of an operand's */
  bool uneven; /* parts of k may differ in length */
  int again; /* operands are in memory once for so many times that they are read; 0: once */
} Product;

typedef struct {
  int bm, bn, bk, warps, stages;
} Tile;

/* The most tiles of a list. */
enum { TILING_MAX = 20 };

/* For a GPU: all tiles for operands of dtype t, the one with the least time first; p NULL: sizes
 * are open, and the first is one for all of them.  Returns how many. */
int tiling_list(DType t, const Product *p, Tile out[TILING_MAX]);

/* Do operands of that product go through rings?  Then the time of a tile, in us, by the cost model
 * of kernels (tiling_ring.c). */
bool tiling_has_rings(const Product *p);
double tiling_ring_time(const Tile *t, const Product *p);
/* How many stages a program has that makes several such tiles; 0: it makes one. */
int tiling_persistent_stages(const Tile *t);
/* The end of a tile while the next one's operands are copied: 1.5 us of 3.4, of 128x256 by hand. */
static const double TILING_PERSISTENT_END = 0.44;

/* Into how many parts to cut k, each of which a program of its own sums up, so that the whole takes
 * least, adding the parts included: a divisor of k, 1 for none. */
int tiling_parts(const Product *p);
/* The tile with the steps and stages of a product of few columns and a short sum. */
Tile tiling_of_short_sum(const Product *p, Tile t);

/* The gradient of a convolution's weight, m by n channels at each of `taps` positions of the
 * window, whose windows are summed up in so many parts. */
Product tiling_weight(const DevicePeaks *gpu, DType t, int64_t m, int64_t n, int64_t windows,
                      int64_t taps, int parts);
/* The parts for which it takes least, adding them included. */
int tiling_weight_parts(const DevicePeaks *gpu, DType t, int64_t m, int64_t n, int64_t windows,
                        int64_t taps);

/* The most that `bk` (axis 0) or `bn` (1) of tiling_packed is where an axis of that size is made of
 * whole tiles then; 0: it is not.  Tiles are powers of two. */
int tiling_packed_most(int64_t size, int axis);
/* Rows that are few: one tile has them. */
enum { TILING_FEW_ROWS = 16 };
/* For a GPU, where a kernel computes the right operand from packed weights: the same.  Of one row
 * of 32-bit floats `bm` is 1, and threads have parts of the sum. */
int tiling_packed(const Product *p, Tile out[TILING_MAX]);
/* Into how many parts to cut k there. */
int tiling_packed_parts(const Product *p);

/* For a CPU: the tile with the least time, of no more than so many rows; p NULL: sizes are open. */
Tile tiling_cpu(const Product *p, int most_rows);
/* Into how many parts to cut k there, where sums are in f32: a power of two, 1 for none.  Where
 * another length has more parts, `*whole` becomes that, and the rest of k is one more; NULL: all of
 * k. */
int tiling_cpu_parts(const Product *p, int64_t *whole);
/* Does the CPU at hand multiply words of so many elements by a unit for tiles? */
bool tiling_has_tiles(int64_t word);
/* Rows that the unit multiplies at once. */
enum { TILING_UNIT_ROWS = 2 * MACHINE_TILE };
/* Blocks of so many rows that programs next to each other take for each panel, where a row of the
 * left operand is so many bytes that others do not have. */
int tiling_panel_band(int rows, int64_t bytes);
/* Rows that blocks of a panel of so many vectors compute for each of so many rows; 0 rows: 1. */
double tiling_rows_done(int64_t rows, int vectors);
int tiling_turned_band(int rows, int64_t bytes);
/* Bytes of a left operand that a core's caches hold beside a panel. */
int64_t tiling_near_bytes(void);
/* What a multiply-add costs in blocks of so many vectors, five at most, of one in blocks of four:
 * those of few have fewer sums for each load. */
double tiling_vectors_cost(int vectors);
/* A product whose right operand is packed in panels of `width` columns, which are so many vector
 * registers; m 0: open. */
typedef struct {
  int64_t batch, m, n, k;
  int64_t run; /* the elements of the sum that are next to each other in the left operand */
  int width, vectors;
  bool tiles; /* the unit for tiles multiplies */
  bool follow; /* panels follow each other in memory */
  bool bytes;  /* words of the operands are of four bytes, and vectors multiply them */
} PanelProduct;

/* Elements of the sum that a step of panels has, which divide it. */
int tiling_panel_depth(int64_t k);
/* `bn` is the width, and `bk` divides `run`. */
Tile tiling_panels(const PanelProduct *p);

/* Neighbours of the result that a block of a nereid.turned_pairs has. */
enum { TURNED_LANES = 16 };
/* Columns that a program of a nereid.scatter_rows has, of so many; 0: these are open. */
int tiling_scattered_columns(int64_t columns);

#endif
