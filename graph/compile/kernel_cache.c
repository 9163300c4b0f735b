#include "graph/compile/kernel_cache.h"

#include <stdlib.h>

#include "runtime/compile/request_key.h"
#include "runtime/device/device.h"
#include "runtime/store/cache.h"

static void add_text(KeyMaker *key, const char *text) { cache_key_text(key, text ? text : ""); }

static CacheId id_of(const nereid_device *d, const PlanKernel *p) {
  KeyMaker *key = cache_key_start();
  cache_key_text(key, "kernel of a graph");
  cache_key_text(key, nereid_build_id());
  add_text(key, nereid_kind_name(device_kind(d)));
  add_text(key, device_target(d));
  cache_key_add(key, p->request.source.text, p->request.source.size);
  request_key_add(key, &p->request);
  if (p->aligned.kernel) request_key_add(key, &p->aligned);
  return (CacheId){cache_key_end(key), CACHE_KERNEL, p->request.symbol, device_target(d)};
}

void kernel_cache_open(PlanKernels *k) {
  nereid_kind kind = device_kind(k->device);
  if (!k->cache && (kind == NEREID_PTX || kind == NEREID_C))
    k->cache = cache_open(k->device->on_message, k->device->context);
}

static bool is_kept(const PlanKernels *k, const PlanKernel *p) { return k->cache && p->whole; }

nereid_image *kernel_cache_get(const PlanKernels *k, const PlanKernel *p) {
  nereid_image *image = NULL;
  char *data;
  size_t size;
  if (!is_kept(k, p)) return NULL;
  CacheId id = id_of(k->device, p);
  if (!cache_get(k->cache, &id, &data, &size)) return NULL;
  if (nereid_image_from_bytes(&image, data, size)) image = NULL;
  free(data);
  return image;
}

void kernel_cache_put(const PlanKernels *k, PlanKernel *const *p, nereid_image *const *images,
                      size_t n) {
  CacheEntry *entries = calloc(n + 1, sizeof *entries);
  size_t used = 0;
  for (size_t i = 0; entries && i < n; i++) {
    char *data;
    size_t size;
    if (!is_kept(k, p[i]) || p[i]->from_cache) continue;
    if (nereid_image_bytes(&data, &size, images[i])) continue;
    entries[used++] = (CacheEntry){id_of(k->device, p[i]), data, size};
  }
  if (used) cache_put_all(k->cache, entries, used);
  for (size_t i = 0; i < used; i++) nereid_text_free((char *)(uintptr_t)entries[i].data);
  free(entries);
}
