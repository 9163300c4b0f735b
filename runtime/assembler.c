#include "runtime/assembler.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "runtime/cubin.h"
#include "runtime/timing.h"

bool assembler_open(Assembler *a, nereid_message_fn note, void *context) {
  *a = (Assembler){.log = log_read()};
  if (!tool_find_ptxas(a->ptxas)) return false;
  a->cache = cache_open(note, context);
  return true;
}

void assembler_close(Assembler *a) {
  cache_close(a->cache);
  a->cache = NULL;
}

/* An assembler that was replaced is another one. */
static CacheId id_of(const Assembler *a, const ImageVariant *ptx, const char *target) {
  struct stat st = {0};
  stat(a->ptxas, &st);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "cubin");
  cache_key_text(k, a->ptxas);
  cache_key_add(k, &st.st_size, sizeof st.st_size);
  cache_key_add(k, &st.st_mtime, sizeof st.st_mtime);
  cache_key_text(k, target);
  cache_key_add(k, ptx->code, ptx->size);
  return (CacheId){cache_key_end(k), CACHE_CUBIN, ptx->entry, target};
}

int assembler_run(const Assembler *a, Assembled *out, const ImageVariant *ptx, const char *target,
                  const bool *stop) {
  *out = (Assembled){.id = id_of(a, ptx, target)};
  out->from_cache = cache_get(a->cache, &out->id, &out->code, &out->size);
  if (out->from_cache) {
    LOG(a->log, LOG_COMPILE, "cubin %s for %s: from the cache", ptx->entry, target);
    return 0;
  }
  double begin = timing_now();
  int code = cubin_by_ptxas(&out->code, &out->size, ptx->code, ptx->size, target, a->ptxas, stop);
  if (code) out->code = NULL;
  else
    LOG(a->log, LOG_COMPILE, "cubin %s for %s: by ptxas, %.0f ms", ptx->entry, target,
        (timing_now() - begin) * 1e3);
  return code;
}

void assembler_keep(const Assembler *a, const Assembled *list, size_t n) {
  CacheEntry *entries = calloc(n + 1, sizeof *entries);
  size_t used = 0;
  for (size_t i = 0; entries && i < n; i++)
    if (list[i].code && !list[i].from_cache)
      entries[used++] = (CacheEntry){list[i].id, list[i].code, list[i].size};
  if (used) cache_put_all(a->cache, entries, used);
  free(entries);
}
