#include "runtime/launch/start.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/messages.h"

/* ---- arrays ---- */

int start_slots(const nereid_kernel *k) {
  int most = 0;
  for (int i = 0; i < k->nloaded; i++)
    if (k->loaded[i].variant->nslots > most) most = k->loaded[i].variant->nslots;
  return most + LATE_SLOTS;
}

/* The most maps that a variant of the kernel has. */
static int start_maps(const nereid_kernel *k) {
  int most = 0;
  for (int i = 0; i < k->nloaded; i++) {
    int n = 0;
    const ImageVariant *v = k->loaded[i].variant;
    for (int s = 0; s < v->nslots; s++) n += v->slots[s].kind == SLOT_MAP;
    if (n > most) most = n;
  }
  return most + LATE_SLOTS;
}

/* Each array is one of items of 8 or 16 bytes. */
static void *take_array(char **at, size_t n, size_t size) {
  void *out = *at;
  *at += n * size;
  return out;
}

void start_init(Start *s, nereid_kernel *k, void *memory) {
  size_t n = (size_t)k->image->nparams, m = (size_t)start_slots(k);
  char *at = memory;
  s->kernel = k;
  s->extent = take_array(&at, n, sizeof *s->extent);
  s->reach = take_array(&at, n, sizeof *s->reach);
  s->bounds = take_array(&at, (size_t)image_nbound_names(k->image), sizeof *s->bounds);
  s->args = take_array(&at, n, sizeof *s->args);
  s->values = take_array(&at, (size_t)image_nnames(k->image), sizeof *s->values);
  s->slots = take_array(&at, m, sizeof *s->slots);
  s->pointers = take_array(&at, m, sizeof *s->pointers);
  for (size_t i = 0; i < m; i++) s->pointers[i] = &s->slots[i];
  s->maps = at + -(uintptr_t)at % MAP_ALIGNMENT;
}

size_t start_bytes(const nereid_kernel *k) {
  size_t n = (size_t)k->image->nparams;
  return n * (2 * sizeof(IntRange) + sizeof(uint64_t)) +
         (size_t)image_nbound_names(k->image) * sizeof(IntRange) +
         (size_t)image_nnames(k->image) * sizeof(int64_t) +
         (size_t)start_slots(k) * (sizeof(uint64_t) + sizeof(void *)) +
         (size_t)start_maps(k) * MAP_BYTES + MAP_ALIGNMENT;
}

/* ---- the runtime alias check ----
 *
 * Is the memory of a launch's arguments disjoint where the code takes that for granted?  Through an
 * argument a kernel reaches the bytes of its bounds expression, and none outside of the tensor, or
 * of the device's allocation, that contains the argument. */

static bool is_bounded(IntRange x) { return x.lo != INT64_MIN || x.hi != INT64_MAX; }

static IntRange intersect_ranges(IntRange x, IntRange y) {
  return (IntRange){x.lo > y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
}

/* Sets the values of integer parameters, and the ranges of program indices. */
static void fill_names(const Start *s) {
  const nereid_image *image = s->kernel->image;
  for (int i = 0; i < image->nparams; i++) s->bounds[i] = (IntRange){s->values[i], s->values[i]};
  IntRange *programs = s->bounds + image->nparams;
  for (int i = 0; i < 3; i++) {
    programs[i] = (IntRange){0, (int64_t)s->grid[i] - 1};
    programs[3 + i] = (IntRange){s->grid[i], s->grid[i]};
  }
}

/* Bounds depend on integers and the grid, which change less often than addresses. */
static void find_reach(Start *s, const ImageVariant *v) {
  if (s->reach_of == v) return;
  fill_names(s);
  for (int i = 0; i < s->kernel->image->nparams; i++)
    s->reach[i] = v->bounds && v->bounds[i].text ? intexpr_range(&v->bounds[i], s->bounds)
                                                 : (IntRange){INT64_MIN, INT64_MAX};
  s->reach_of = v;
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
static bool argument_reach(const Start *s, int i, IntRange *out) {
  IntRange bytes = intersect_ranges(s->reach[i], s->extent[i]);
  if (!is_bounded(bytes)) bytes = allocation_extent(s->kernel->device, s->values[i]);
  if (!is_bounded(bytes)) return false;
  if (bytes.lo > bytes.hi) {
    *out = bytes;
    return true;
  }
  return !__builtin_add_overflow(bytes.lo, s->values[i], &out->lo) &&
         !__builtin_add_overflow(bytes.hi, s->values[i], &out->hi);
}

/* The extents of both tensors alone prove it, without the kernel's bounds. */
static bool are_apart(const Start *s, int i, int j) {
  IntRange a = s->extent[i], b = s->extent[j];
  if (a.lo == INT64_MIN || b.lo == INT64_MIN) return false;
  __int128 from_a = s->values[i], from_b = s->values[j]; /* sums of 64 bits may not fit */
  return from_a + a.hi < from_b + b.lo || from_b + b.hi < from_a + a.lo;
}

/* Do the launch's arguments meet the conditions of the variant's code?  False with a pair that does
 * not. */
static bool noalias_holds(Start *s, const ImageVariant *v, const ImageNoAlias **pair) {
  for (int i = 0; i < v->nnoalias; i++) {
    *pair = &v->noalias[i];
    const ImageNoAlias *x = *pair;
    if (x->or_same && s->values[x->a] == s->values[x->b]) continue;
    if (are_apart(s, x->a, x->b)) continue;
    find_reach(s, v);
    IntRange a, b;
    if (!argument_reach(s, x->a, &a) || !argument_reach(s, x->b, &b)) return false;
    bool disjoint = a.lo > a.hi || b.lo > b.hi || a.hi < b.lo || b.hi < a.lo;
    if (!disjoint) return false;
  }
  return true;
}

/* ---- tensor maps ---- */

_Static_assert(IMAGE_MAP_RANK <= (int)BOXED_RANK, "an image's maps are tensors");

static int boxed_tensor(const Start *s, const ImageSlot *slot, BoxedTensor *out) {
  const ImageMap *m = slot->map;
  int code = 0;
  *out = (BoxedTensor){
      .address = s->args[slot->param], .bytes = (uint32_t)m->bytes, .rank = (uint32_t)m->rank};
  for (int i = 0; i < m->rank && !code; i++) {
    int64_t extent = 0, stride = 0;
    code = intexpr_eval(&extent, &m->extent[i], s->values);
    if (!code) code = intexpr_eval(&stride, &m->stride[i], s->values);
    out->box[i] = (uint32_t)m->box[i];
    out->extent[i] = (uint64_t)extent;
    out->stride[i] = (uint64_t)stride;
  }
  return code;
}

/* The largest power of two up to 16 that divides x. */
static uint8_t divisor_of(int64_t x) {
  uint64_t bits = (uint64_t)x | BOXED_ALIGNMENT;
  return (uint8_t)(bits & -bits);
}

/* Divisors of the integers that a map depends on: its strides, and the length of its rows, which
 * the masks of wide accesses depend on. */
static void find_map_divisors(const Start *s, const ImageMap *m, uint8_t *divisors) {
  for (int p = 0; p < s->kernel->image->nparams; p++) {
    bool used = intexpr_uses(&m->extent[0], p);
    for (int axis = 1; axis < m->rank; axis++) used |= intexpr_uses(&m->stride[axis], p);
    if (used) divisors[p] = divisor_of(s->values[p]);
  }
}

static bool has_naturals(const Start *s, const ImageMap *m) {
  bool natural = true;
  for (int i = 0; i < m->nnatural; i++) natural &= boxed_natural(s->values[m->natural[i]]);
  return natural;
}

static bool has_aligned_strides(const Start *s, const ImageMap *m) {
  bool aligned = true;
  for (int axis = 1; axis < m->rank && aligned; axis++) {
    int64_t stride;
    aligned = !intexpr_eval(&stride, &m->stride[axis], s->values) && stride % BOXED_ALIGNMENT == 0;
  }
  return aligned;
}

/* The divisors, by parameter, on which code for a launch depends that has strides, or signs, which
 * maps of the variant don't take; false if they take all. */
static bool find_divisors(const Start *s, const ImageVariant *v, uint8_t *divisors) {
  bool aligned = true;
  memset(divisors, 1, (size_t)s->kernel->image->nparams);
  for (int i = 0; i < v->nslots; i++) {
    if (v->slots[i].kind != SLOT_MAP) continue;
    aligned = aligned && has_aligned_strides(s, v->slots[i].map) &&
              has_naturals(s, v->slots[i].map);
    find_map_divisors(s, v->slots[i].map, divisors);
  }
  return !aligned;
}

/* Has the device maps of all tensors of the variant? */
static bool maps_fit(const Start *s, const ImageVariant *v) {
  for (int i = 0; i < v->nslots; i++) {
    BoxedTensor t;
    if (v->slots[i].kind != SLOT_MAP) continue;
    if (!s->kernel->device->ops->make_map || !has_naturals(s, v->slots[i].map)) return false;
    if (boxed_tensor(s, &v->slots[i], &t) || !boxed_tensor_fits(&t)) return false;
  }
  return true;
}

static int fill_map(Start *s, int slot, char *map) {
  BoxedTensor t;
  nereid_device *d = s->kernel->device;
  int code = boxed_tensor(s, &s->chosen->variant->slots[slot], &t);
  if (!code) code = d->ops->make_map(d, map, &t);
  s->pointers[slot] = map;
  s->slots[slot] = XXH64(map, MAP_BYTES, 0);
  return code;
}

/* ---- choosing ---- */

/* The guard that fails, NULL if all hold. */
static const IntExpr *failing_guard(const ImageVariant *v, const int64_t *values) {
  for (int i = 0; i < v->nguards; i++)
    if (!intexpr_holds(&v->guards[i], values)) return &v->guards[i];
  return NULL;
}

/* Takes late code of variant i if there is such code for the launch. */
static int try_late(Start *s, int i, LateKind kind, const uint8_t *divisors, bool *taken) {
  const ImageNoAlias *pair;
  const Loaded *late;
  int code = kernel_load_late(&late, s->kernel, i, kind, divisors);
  if (code || !late) return code;
  *taken = noalias_holds(s, late->variant, &pair) && maps_fit(s, late->variant);
  if (*taken) s->chosen = late;
  return 0;
}

/* The code of variant i, whose maps can't be made for the launch. */
static int choose_without_maps(Start *s, int i, bool *taken) {
  uint8_t divisors[IMAGE_MAX_PARAMS];
  int code = 0;
  if (find_divisors(s, s->chosen->variant, divisors))
    code = try_late(s, i, LATE_DIVIDED, divisors, taken);
  if (!code && !*taken) code = try_late(s, i, LATE_PLAIN, NULL, taken);
  return code;
}

/* Variant i has code with deeper rings, for a launch of which a multiprocessor has one program at
 * most, and a loop that fills them; and code with a loop over programs, for one of which it has
 * several, and whose time is in large part that of starts and ends. */
static int choose_by_programs(Start *s, int i) {
  enum { FEW_TURNS = 32, LEAST_WAVES = 2 };
  const ImageVariant *v = s->chosen->variant;
  uint64_t programs = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
  uint64_t processors = (uint64_t)s->kernel->device->info.processors;
  bool few = v->deep && programs <= processors, taken;
  bool many = v->loops && programs == s->grid[0] && programs >= LEAST_WAVES * processors;
  if (!few && !(many && !s->flags)) return 0;
  fill_names(s);
  IntRange turns = intexpr_range(&v->turns, s->bounds);
  if (!is_bounded(turns)) return 0;
  if (few) return turns.hi >= v->deep ? try_late(s, i, LATE_DEEP, NULL, &taken) : 0;
  return turns.hi <= FEW_TURNS ? try_late(s, i, LATE_LOOPS, NULL, &taken) : 0;
}

/* Variant i, or code of it for launches whose arguments overlap, or have no maps. */
static int choose_code(Start *s, int i) {
  nereid_kernel *k = s->kernel;
  const ImageVariant *v = k->loaded[i].variant;
  const ImageNoAlias *pair;
  bool taken = false;
  s->chosen = &k->loaded[i];
  bool apart = noalias_holds(s, v, &pair);
  if (apart && maps_fit(s, v)) return choose_by_programs(s, i);
  int code = apart && v->ordered ? choose_without_maps(s, i, &taken) : 0;
  if (code || taken) return code;
  if (v->ordered) return kernel_load_late(&s->chosen, k, i, LATE_ORDERED, NULL);
  if (apart) return error_set(NEREID_E_USAGE, E_RUN_MAP, k->image->name);
  return error_set(NEREID_E_USAGE, E_RUN_ALIAS, k->image->params[pair->a].name,
                   k->image->params[pair->b].name, k->image->name);
}

static int choose_variant(Start *s) {
  const nereid_kernel *k = s->kernel;
  const IntExpr *failed = NULL;
  for (int i = 0; i < k->nloaded; i++) {
    const IntExpr *guard = failing_guard(k->loaded[i].variant, s->values);
    if (!guard) return choose_code(s, i);
    failed = guard;
  }
  return error_set(NEREID_E_USAGE, E_RUN_GUARD, k->image->name, failed->text);
}

static int map_grid(Start *s) {
  const ImageVariant *v = s->chosen->variant;
  memcpy(s->launched, s->grid, sizeof s->grid);
  for (int i = 0; i < 3 && v->has_grid; i++) {
    int64_t extent;
    int code = intexpr_eval(&extent, &v->grid[i], s->values);
    if (code) return code;
    if (extent < 1 || extent > UINT32_MAX)
      return error_set(NEREID_E_USAGE, E_RUN_GRID_MAP, v->grid[i].text, (long long)extent);
    s->launched[i] = (uint32_t)extent;
  }
  return 0;
}

/* Fills a slot that is no argument. */
static int fill_slot(Start *s, int i, ProvideScratch *provide, void *context) {
  const ImageSlot *slot = &s->chosen->variant->slots[i];
  int64_t value;
  int code = intexpr_eval(&value, &slot->expr, s->values);
  s->slots[i] = (uint64_t)value;
  if (code || slot->kind == SLOT_VALUE) return code;
  if (value < 0 || value > (int64_t)1 << 46)
    return error_set(NEREID_E_USAGE, E_RUN_SCRATCH, (long long)value);
  void *scratch = NULL;
  code = provide(context, &scratch, i, (size_t)value, slot->kind == SLOT_ZEROED);
  s->slots[i] = (uintptr_t)scratch;
  return code;
}

static int fill_slots(Start *s, ProvideScratch *provide, void *context) {
  int code = 0;
  const ImageVariant *v = s->chosen->variant;
  char *map = s->maps;
  for (int i = 0; i < v->nslots && !code; i++) {
    s->pointers[i] = &s->slots[i];
    if (v->slots[i].kind == SLOT_ARG) {
      s->slots[i] = s->args[v->slots[i].param];
    } else if (v->slots[i].kind == SLOT_MAP) {
      code = fill_map(s, i, map);
      map += MAP_BYTES;
    } else {
      code = fill_slot(s, i, provide, context);
    }
  }
  return code;
}

/* Variant I of N, or late code of it. */
static void log_launch(const Start *s) {
  nereid_kernel *k = s->kernel;
  int i;
  const char *why = kernel_late_reason(k, s->chosen, &i);
  if (!why) i = (int)(s->chosen - k->loaded);
  log_print(LOG_LAUNCH, "%s on %s: grid %u x %u x %u, variant %d of %d%s", k->image->name,
            k->device->name, s->launched[0], s->launched[1], s->launched[2], i + 1, k->nloaded,
            why ? why : "");
}

/* Device cpu has no memory protection: a launch that certainly leaves an argument's extent is
 * refused, unless the caller knows better. */
static int check_certain_reach(const Start *s) {
  const ImageVariant *v = s->chosen->variant;
  const nereid_image *image = s->kernel->image;
  if (!v->certain || s->part_of_model) return 0;
  for (int i = 0; i < image->nparams; i++) {
    int64_t bytes, has = s->extent[i].hi + 1;
    bool unknown = !v->certain[i].text || s->extent[i].lo == INT64_MIN;
    if (unknown || intexpr_eval(&bytes, &v->certain[i], s->values) || bytes <= has) continue;
    if (s->outside && !s->outside(s->context, i, bytes)) continue;
    return error_set(NEREID_E_FINDINGS, E_RUN_OUTSIDE, image->name, (long long)bytes,
                     image->params[i].name, (long long)(has > 0 ? has : 0));
  }
  return 0;
}

int start_prepare(Start *s, ProvideScratch *provide, void *context) {
  int64_t *extra = s->values + s->kernel->image->nparams;
  for (int i = 0; i < 3; i++) extra[i] = s->grid[i];
  extra[3] = s->kernel->device->info.processors;
  int code = choose_variant(s);
  if (!code) code = map_grid(s);
  if (!code) code = check_certain_reach(s);
  if (!code) code = fill_slots(s, provide, context);
  if (!code) code = s->kernel->device->ops->check(s);
  if (!code && log_has(s->kernel->device->log, LOG_LAUNCH)) log_launch(s);
  return code;
}

/* ---- one start, with nothing kept ---- */

/* The scratch memory of one start. */
typedef struct {
  const Start *start;
  void *stream;
  const nereid_run_options *options;
  int n; /* slots below it have theirs */
} Scratch;

static bool is_callers(const Scratch *x) {
  return x->options->scratch && !device_checks_accesses(x->start->kernel->device);
}

static int take_scratch(const Scratch *x, void **out, size_t bytes) {
  enum { ALIGNMENT = 256 };
  nereid_device *d = x->start->kernel->device;
  if (!is_callers(x))
    return d->ops->alloc_scratch ? d->ops->alloc_scratch(d, out, bytes, x->stream)
                                 : nereid_alloc(out, d, bytes);
  *out = x->options->scratch(x->options->context, bytes, ALIGNMENT, x->stream);
  return *out || !bytes ? 0 : error_set(NEREID_E_MEMORY, E_RUN_NO_SCRATCH, bytes);
}

static int provide_scratch(void *context, void **out, int slot, size_t bytes, bool zeroed) {
  Scratch *x = context;
  nereid_device *d = x->start->kernel->device;
  int code = take_scratch(x, out, bytes);
  if (code) return code;
  x->n = slot + 1;
  return zeroed ? d->ops->fill(d, *out, 0, bytes, x->stream) : 0;
}

static void give_scratch_back(const Scratch *x) {
  nereid_device *d = x->start->kernel->device;
  if (is_callers(x)) return;
  for (int i = 0; i < x->n; i++) {
    SlotKind kind = x->start->chosen->variant->slots[i].kind;
    void *p = (void *)(uintptr_t)x->start->slots[i];
    if (kind != SLOT_SCRATCH && kind != SLOT_ZEROED) continue;
    if (d->ops->free_scratch) d->ops->free_scratch(d, p, x->stream);
    else nereid_free(d, p);
  }
}

static IntRange extent_range(nereid_extent e) {
  if (!e.lo && !e.hi) return (IntRange){INT64_MIN, INT64_MAX};
  return (IntRange){e.lo, e.hi - 1};
}

static void set_arguments(Start *s, const uint64_t *args, const nereid_extent *extents) {
  const nereid_image *image = s->kernel->image;
  for (int i = 0; i < image->nparams; i++) {
    DType t = (DType)image->params[i].type.dtype;
    s->args[i] = args[i];
    s->values[i] = dtype_is_float(t) ? 0 : (int64_t)args[i];
    s->extent[i] = extent_range(extents && t == DT_PTR ? extents[i] : (nereid_extent){0, 0});
  }
}

static int run_once(Start *s, void *stream, const nereid_run_options *o) {
  Scratch scratch = {.start = s, .stream = stream, .options = o};
  int code = start_prepare(s, provide_scratch, &scratch);
  if (!code) code = s->kernel->device->ops->launch(s, stream);
  if (scratch.n) give_scratch_back(&scratch);
  return code;
}

int nereid_kernel_run(nereid_kernel *k, void *native_stream, const uint32_t grid[3],
                      const uint64_t *args, const nereid_extent *extents,
                      const nereid_run_options *o) {
  enum { MOST_ON_STACK = 4096 };
  static const nereid_run_options none;
  _Alignas(16) char memory[MOST_ON_STACK];
  REQUIRE(k);
  REQUIRE(grid);
  if (k->image->nparams) REQUIRE(args);
  if (!o) o = &none;
  if (!grid[0] || !grid[1] || !grid[2]) return 0;
  if (o->flags & ~LAUNCH_FLAGS) return error_set(NEREID_E_USAGE, E_RUN_LAUNCH_FLAGS, o->flags);
  size_t bytes = start_bytes(k);
  void *more = bytes > sizeof memory ? malloc(bytes) : NULL;
  if (bytes > sizeof memory && !more) return error_out_of_memory();
  Start s = {.flags = o->flags,
             .borrows = true,
             .interrupted = o->interrupted,
             .outside = o->outside,
             .context = o->context};
  start_init(&s, k, more ? more : memory);
  memcpy(s.grid, grid, sizeof s.grid);
  set_arguments(&s, args, extents);
  int code = run_once(&s, native_stream, o);
  free(more);
  return code;
}
