/* What the assembler notes in a kernel's machine code, which is an ELF file. */
#ifndef NEREID_RUNTIME_IMAGE_CUBIN_H
#define NEREID_RUNTIME_IMAGE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int registers;   /* a thread */
  int spill_bytes; /* local memory a thread */
} CubinUse;

/* False, and zeros, if the bytes are no such file or say nothing of the kernel. */
bool cubin_use(CubinUse *out, const void *code, size_t size, const char *entry);

#endif
