/* ptxas, and the cache of the machine code that it has made before. */
#ifndef NEREID_RUNTIME_DEVICE_ASSEMBLER_H
#define NEREID_RUNTIME_DEVICE_ASSEMBLER_H

#include "runtime/store/cache.h"
#include "runtime/image/image.h"
#include "runtime/support/log.h"
#include "runtime/support/tool.h"

typedef struct {
  char ptxas[TOOL_PATH];
  Cache *cache;
  Log log;
} Assembler;

typedef struct {
  CacheId id;
  char *code; /* malloc'ed; NULL: there is none */
  size_t size;
  bool from_cache;
} Assembled;

/* False: there is no ptxas. */
bool assembler_open(Assembler *a, nereid_message_fn note, void *context);
void assembler_close(Assembler *a);
/* The machine code of a variant of PTX if it was made before; false if it was not. */
bool assembler_find(const Assembler *a, Assembled *out, const ImageVariant *ptx,
                    const char *target);
/* The machine code of a variant of PTX, which many threads may ask for; given up when *stop is true
 * (tool_run_until). */
int assembler_run(const Assembler *a, Assembled *out, const ImageVariant *ptx, const char *target,
                  const bool *stop);
/* Keeps what is new of n of them, all at once; those without code are left out. */
void assembler_keep(const Assembler *a, const Assembled *list, size_t n);

/* PTX to machine code, by ptxas where it is found, else by the driver.  *out is malloc'ed.
 * `target` is a machine's name, such as sm_90a.  fn may be NULL. */
int cubin_assemble(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   nereid_message_fn fn, void *context);

#endif
