/* GGUF's blocks: so many elements of few bits that share scales, as the format's documents define
 * them. */
#ifndef NEREID_IMPORT_ARCHIVES_GGUF_BLOCKS_H
#define NEREID_IMPORT_ARCHIVES_GGUF_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BlockGrid BlockGrid; /* a codebook */

typedef struct {
  uint32_t type; /* its number in the file */
  const char *name;
  uint32_t elements, bytes; /* of a block */
  void (*decode)(const uint8_t *block, float *out);
  const BlockGrid *grid; /* NULL, or that of the function that follows, in place of `decode` */
  void (*decode_points)(const uint8_t *block, const int8_t *points, float *out);
} BlockKind;

/* NULL: there is none of that number. */
const BlockKind *gguf_block_kind(uint32_t type);
/* The elements of n blocks that follow each other. */
void gguf_decode(const BlockKind *k, const uint8_t *blocks, size_t n, float *out);

#endif
