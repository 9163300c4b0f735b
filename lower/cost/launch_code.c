#include "lower/cost/launch_code.h"

#include <string.h>

#include "lower/analysis/pointer_bounds.h"

enum { MAP_ALIGNMENT = 16 }; /* bytes: of strides of a tensor map */

/* Has the kernel one product, in a loop that no other loop repeats? */
static bool has_turns(Arena *a, const TileFunc *f) {
  const char **names = ARENA_ARRAY(a, const char *, f->nparams);
  for (uint32_t i = 0; i < f->nparams; i++) names[i] = f->params[i].value->name;
  return product_turns(f, names, a) != NULL;
}

int launch_deep_stages(Arena *a, const Unit *u) {
  enum { SLOT_MORE = 64, LEAST_MORE = 2, MOST = 12 }; /* SLOT_MORE: mbarriers and alignment */
  const Nest *n = u->nest;
  int64_t slot = 0, depth = 0;
  for (uint32_t i = 0; i < n->nbuffers; i++) {
    const NestBuffer *b = n->buffers[i];
    if (b->slots < 2) continue;
    if (depth && depth != b->slots) return 0;
    depth = b->slots;
    slot += b->bytes / b->slots;
  }
  if (!slot || !machine_has(u->machine, HAS_ASYNC_PROXY) || !has_turns(a, u->tile)) return 0;
  int64_t deep = depth + (u->machine->shared - n->shared_bytes) / (slot + SLOT_MORE);
  if (deep < depth + LEAST_MORE) return 0;
  return (int)(deep < MOST ? deep : MOST);
}

static const EstimateValue *value_of(const EstimateInput *in, const NestVar *param) {
  for (int i = 0; param && i < in->nvalues; i++)
    if (!strcmp(in->values[i].name, param->name)) return &in->values[i];
  return NULL;
}

/* Is the stride known to be one that no map takes? */
static bool is_refused(const EstimateInput *in, const LaunchValue *stride) {
  const EstimateValue *v = value_of(in, stride->param);
  return v && (uint64_t)stride->scale * (uint64_t)v->value % MAP_ALIGNMENT != 0;
}

static bool takes_strides(const Nest *n, const EstimateInput *in) {
  for (uint32_t i = 0; i < n->nmaps; i++)
    for (int axis = 1; axis < n->maps[i]->rank; axis++)
      if (is_refused(in, &n->maps[i]->axes[axis].stride)) return false;
  return true;
}

static bool is_used(const Nest *n, const NestVar *param) {
  for (uint32_t i = 0; i < n->nmaps; i++) {
    const TensorMap *m = n->maps[i];
    if (m->axes[0].extent.param == param) return true;
    for (int axis = 1; axis < m->rank; axis++)
      if (m->axes[axis].stride.param == param) return true;
  }
  return false;
}

static int divisor_of(int64_t x) {
  uint64_t bits = (uint64_t)x | MAP_ALIGNMENT;
  return (int)(bits & -bits);
}

const LaunchDivisor *launch_divisors(Arena *a, const Nest *n, const EstimateInput *in, int *count) {
  *count = 0;
  if (takes_strides(n, in)) return NULL;
  LaunchDivisor *out = ARENA_ARRAY(a, LaunchDivisor, n->nparams);
  for (uint32_t i = 0; i < n->nparams; i++) {
    const NestVar *p = n->params[i];
    const EstimateValue *v = value_of(in, p);
    int divisor = v && is_used(n, p) ? divisor_of(v->value) : 1;
    if (divisor > 1) out[(*count)++] = (LaunchDivisor){p->name, dtype_name(p->dtype), divisor};
  }
  return out;
}
