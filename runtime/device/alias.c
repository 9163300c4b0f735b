/* The runtime alias check: whether the memory of a launch's arguments is disjoint where the code
 * takes that for granted.
 *
 * Through an argument a kernel reaches the bytes of its bounds expression, and none outside of the
 * tensor, or of the device's allocation, that contains the argument. */
#include "runtime/device/device.h"

static bool is_bounded(IntRange x) { return x.lo != INT64_MIN || x.hi != INT64_MAX; }

static IntRange intersect_ranges(IntRange x, IntRange y) {
  return (IntRange){x.lo > y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
}

/* Of integers their value, of programs their least and greatest index. */
static void fill_names(const nereid_launch *l) {
  const nereid_image *image = l->kernel->image;
  for (int i = 0; i < image->nparams; i++) l->bounds[i] = (IntRange){l->values[i], l->values[i]};
  IntRange *programs = l->bounds + image->nparams;
  for (int i = 0; i < 3; i++) {
    programs[i] = (IntRange){0, (int64_t)l->grid[i] - 1};
    programs[3 + i] = (IntRange){l->grid[i], l->grid[i]};
  }
}

/* Bounds depend on integers and the grid, which change less often than addresses. */
static void find_reach(nereid_launch *l, const ImageVariant *v) {
  if (l->reach_of == v) return;
  fill_names(l);
  for (int i = 0; i < l->kernel->image->nparams; i++)
    l->reach[i] = v->bounds && v->bounds[i].text ? intexpr_range(&v->bounds[i], l->bounds)
                                                 : (IntRange){INT64_MIN, INT64_MAX};
  l->reach_of = v;
}

/* The allocation around an address, in bytes from it. */
static IntRange allocation_extent(nereid_device *d, int64_t address) {
  IntRange out = {INT64_MIN, INT64_MAX};
  pthread_mutex_lock(&d->lock);
  const Allocation *a = device_find(d, (void *)(uintptr_t)address);
  if (a) {
    int64_t start = (int64_t)(uintptr_t)a->data - address;
    out = (IntRange){start, start + (int64_t)a->size - 1};
  }
  pthread_mutex_unlock(&d->lock);
  return out;
}

/* The addresses that the kernel may reach through argument i; false if they may be any. */
static bool argument_reach(const nereid_launch *l, int i, IntRange *out) {
  IntRange bytes = intersect_ranges(l->reach[i], l->extent[i]);
  if (!is_bounded(bytes)) bytes = allocation_extent(l->kernel->device, l->values[i]);
  if (!is_bounded(bytes)) return false;
  if (bytes.lo > bytes.hi) {
    *out = bytes;
    return true;
  }
  return !__builtin_add_overflow(bytes.lo, l->values[i], &out->lo) &&
         !__builtin_add_overflow(bytes.hi, l->values[i], &out->hi);
}

bool launch_noalias_holds(nereid_launch *l, const ImageVariant *v, const ImageNoAlias **pair) {
  if (v->nnoalias) find_reach(l, v);
  for (int i = 0; i < v->nnoalias; i++) {
    *pair = &v->noalias[i];
    const ImageNoAlias *x = *pair;
    if (x->or_same && l->values[x->a] == l->values[x->b]) continue;
    IntRange a, b;
    if (!argument_reach(l, x->a, &a) || !argument_reach(l, x->b, &b)) return false;
    bool disjoint = a.lo > a.hi || b.lo > b.hi || a.hi < b.lo || b.hi < a.lo;
    if (!disjoint) return false;
  }
  return true;
}
