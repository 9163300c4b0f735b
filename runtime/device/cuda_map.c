/* Descriptors of tensors (CUtensorMap).  The driver takes about as long for one as a launch for all
 * else, so those of the last tensors are kept. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/device/cuda_state.h"
#include "runtime/messages.h"

static int encode(const nereid_device *d, void *out, const BoxedTensor *t) {
  _Alignas(MAP_ALIGNMENT) char map[MAP_BYTES];
  const Cuda *c = d->state;
  if (!c->make_map) return error_set(NEREID_E_DEVICE, E_RUN_NO_MAPS);
  CudaEntry e = cuda_enter(d);
  CuResult r = boxed_tensor_map(c->make_map, map, t);
  cuda_leave(&e);
  memcpy(out, map, sizeof map);
  return cuda_failed(&c->api, r, "describing a tensor");
}

int cuda_make_map(nereid_device *d, void *out, const BoxedTensor *t) {
  Cuda *c = d->state;
  size_t at = XXH64(t, sizeof *t, 0) % KNOWN_MAPS;
  pthread_mutex_lock(&c->map_lock);
  if (!c->known_maps) c->known_maps = calloc(KNOWN_MAPS, sizeof *c->known_maps);
  KnownMap *k = c->known_maps ? &c->known_maps[at] : NULL;
  bool known = k && !memcmp(&k->tensor, t, sizeof *t);
  int code = known ? 0 : encode(d, out, t);
  if (known) memcpy(out, k->map, sizeof k->map);
  if (!known && !code && k) {
    k->tensor = *t;
    memcpy(k->map, out, sizeof k->map);
  }
  pthread_mutex_unlock(&c->map_lock);
  return code;
}
