/* Blocks of scores that attention visits, by tables (nereid.attention). */
#ifndef NEREID_GRAPH_OPS_ATTENTION_BLOCKS_H
#define NEREID_GRAPH_OPS_ATTENTION_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/dtype.h"

enum {
  ATTENTION_BLOCK_LEAST = 16,  /* rows and keys of a tile */
  ATTENTION_SHARE_COLUMNS = 4, /* that a share of a row has after its own */
  ATTENTION_KEPT_ROWS = 32,    /* rows whose kept gradients are in another order; they are padded */
  ATTENTION_KEPT_TILE = 128,   /* rows of a tile of them */
  ATTENTION_PART_KEYS = 128,   /* parts of the keys have multiples of them, */
  ATTENTION_PART_WORDS = 256,  /* where products are of words of these */
};

/* The largest power of 2 that divides a block of so many rows or keys. */
static inline int64_t attention_block_unit(int64_t size) { return size & -size; }

/* Do tiles divide a block?  The last tile of other blocks is cut where the block ends. */
static inline bool attention_tiles_divide(int64_t size) {
  return attention_block_unit(size) >= ATTENTION_BLOCK_LEAST;
}

/* The dtype in which scores are computed and summed up for operands of dtype t. */
static inline DType attention_wide(DType t) { return t == DT_F64 ? DT_F64 : DT_F32; }

#endif
