/* GGUF's blocks: so many elements of few bits that share scales, as the format's documents define
 * them. */
#ifndef NEREID_IMPORT_ARCHIVES_GGUF_BLOCKS_H
#define NEREID_IMPORT_ARCHIVES_GGUF_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t type; /* its number in the file */
  const char *name;
  uint32_t elements, bytes; /* of a block */
  void (*decode)(const uint8_t *block, float *out);
} BlockKind;

/* NULL: there is none of that number. */
const BlockKind *gguf_block_kind(uint32_t type);

#endif
