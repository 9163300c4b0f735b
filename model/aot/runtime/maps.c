/* Descriptors of the tensors of which kernels copy boxes.  The driver takes about as long for one
 * as a launch for all else, so a kernel keeps those of its last launch. */
#include <stdlib.h>

#include "device.h"

int model_maps_open(Loaded *l, const Kernel *k) {
  if (!k->nmaps) return 0;
  const size_t bytes = (size_t)k->nmaps * sizeof *l->maps;
  l->maps = aligned_alloc(MAP_ALIGNMENT, bytes);
  if (!l->maps) return model_fail(MODEL_E_MEMORY, "out of memory");
  memset(l->maps, 0, bytes);
  return 0;
}

static uint64_t value(const MapNumber *x, const uint64_t *args) {
  return (uint64_t)x->scale * (x->arg < 0 ? 1 : args[x->arg]);
}

static BoxedTensor tensor_of(const Map *m, const uint64_t *args) {
  BoxedTensor t;
  memset(&t, 0, sizeof t);
  t.address = args[m->pointer];
  t.bytes = (uint32_t)m->bytes;
  t.rank = (uint32_t)m->rank;
  for (int i = 0; i < m->rank; i++) {
    t.box[i] = m->box[i];
    t.extent[i] = value(&m->extent[i], args);
    t.stride[i] = value(&m->stride[i], args);
  }
  return t;
}

static bool has_naturals(const Map *m, const uint64_t *args) {
  bool natural = true;
  for (int i = 0; i < m->nnatural; i++) natural &= boxed_natural((int64_t)args[m->natural[i]]);
  return natural;
}

bool model_maps_fill(const Device *d, const Loaded *l, const Kernel *k, const uint64_t *args) {
  bool filled = !k->nmaps || d->make_map;
  for (int i = 0; i < k->nmaps && filled; i++) {
    LaunchMap *m = &l->maps[i];
    const BoxedTensor t = tensor_of(&k->maps[i], args);
    if (!has_naturals(&k->maps[i], args)) return false;
    if (!memcmp(&m->tensor, &t, sizeof t)) continue;
    filled = boxed_tensor_fits(&t) && boxed_tensor_map(d->make_map, m->map, &t) == CU_OK;
    m->tensor = t;
    if (!filled) m->tensor.rank = 0;
  }
  return filled;
}
