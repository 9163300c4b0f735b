/* The registers that an assembler gives a kernel.
 *
 * ptxas wants several programs on a multiprocessor.  Of some large kernels it therefore takes few
 * registers, and spills the rest to local memory.  `.minnctapersm 1` says that one program is
 * enough; then it takes what the kernel needs.  Kernels that load in loops have it in their text
 * (put_registers of codegen/ptx/print.c).  Another is assembled a second time with it only if it
 * spills although registers are left, and the code that spills less is kept.
 *
 * Projects of `nereid build` contain this file. */
#ifndef NEREID_RUNTIME_DEVICE_PTX_REGISTERS_H
#define NEREID_RUNTIME_DEVICE_PTX_REGISTERS_H

#include <stdlib.h>
#include <string.h>

static inline int ptx_registers_most(int threads) {
  enum { MULTIPROCESSOR = 65536, GRANULE = 8, THREAD = 255 };
  int share = threads > 0 ? MULTIPROCESSOR / threads / GRANULE * GRANULE : THREAD;
  return share < THREAD ? share : THREAD;
}

static inline int ptx_line_begins(const char *line, const char *end, const char *word) {
  size_t len = strlen(word);
  return (size_t)(end - line) > len && !memcmp(line, word, len);
}

/* Text for the second time, malloc'ed and of the size *out_len with its NUL left out.  NULL: the
 * kernel, which took so many registers and so many bytes of local memory, can't gain by it, or the
 * PTX states a limit itself, or has the directive. */
static inline char *ptx_for_one_program(const char *ptx, size_t len, int registers, int spill_bytes,
                                        size_t *out_len) {
  static const char threads[] = "\n.reqntid ", one[] = "\n.minnctapersm 1";
  const char *end = ptx + len, *at = NULL, *line;
  if (spill_bytes <= 0) return NULL;
  for (const char *p = ptx; !at && end - p >= (long)sizeof threads; p++)
    if (!memcmp(p, threads, sizeof threads - 1)) at = p + sizeof threads - 1;
  line = at ? (const char *)memchr(at, '\n', (size_t)(end - at)) : NULL;
  if (!line || registers >= ptx_registers_most(atoi(at))) return NULL;
  if (ptx_line_begins(line, end, "\n.maxnreg") || ptx_line_begins(line, end, one)) return NULL;
  char *out = (char *)malloc(len + sizeof one);
  if (!out) return NULL;
  size_t head = (size_t)(line - ptx);
  memcpy(out, ptx, head);
  memcpy(out + head, one, sizeof one - 1);
  memcpy(out + head + sizeof one - 1, line, len - head);
  *out_len = len + sizeof one - 1;
  out[*out_len] = 0;
  return out;
}

#endif
