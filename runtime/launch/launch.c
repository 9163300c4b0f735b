/* Launches: choosing a variant, and handing its parameters over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/device/device.h"
#include "runtime/messages.h"
#include "sema/sema.h"

/* ---- making a launch ---- */

static int check_grid_extents(const uint32_t grid[3]) {
  if (grid[0] && grid[1] && grid[2]) return 0;
  return error_set(NEREID_E_USAGE, E_RUN_GRID_ZERO, grid[0], grid[1], grid[2]);
}

static int most_slots(const nereid_kernel *k) {
  int most = 0;
  for (int i = 0; i < k->nloaded; i++)
    if (k->loaded[i].variant->nslots > most) most = k->loaded[i].variant->nslots;
  return most;
}

int nereid_launch_new(nereid_launch **out, nereid_kernel *k, const uint32_t grid[3]) {
  REQUIRE_OUT(out);
  REQUIRE(k);
  REQUIRE(grid);
  int code = check_grid_extents(grid);
  if (code) return code;
  nereid_launch *l = calloc(1, sizeof *l);
  if (!l) return error_out_of_memory();
  size_t n = (size_t)k->image->nparams, m = (size_t)most_slots(k);
  l->kernel = k;
  l->stale = true;
  memcpy(l->grid, grid, sizeof l->grid);
  l->set = calloc(n + 1, sizeof *l->set);
  l->args = calloc(n + 1, sizeof *l->args);
  l->values = calloc((size_t)image_nnames(k->image), sizeof *l->values);
  l->extent = calloc(n + 1, sizeof *l->extent);
  l->bounds = calloc((size_t)image_nbound_names(k->image), sizeof *l->bounds);
  l->reach = calloc(n + 1, sizeof *l->reach);
  l->slots = calloc(m + 1, sizeof *l->slots);
  l->pointers = calloc(m + 1, sizeof *l->pointers);
  l->scratch = calloc(m + 1, sizeof *l->scratch);
  l->scratch_size = calloc(m + 1, sizeof *l->scratch_size);
  bool ok = l->set && l->args && l->values && l->extent && l->bounds && l->reach && l->slots &&
            l->pointers && l->scratch && l->scratch_size;
  if (!ok) {
    nereid_launch_free(l);
    return error_out_of_memory();
  }
  for (size_t i = 0; i < m; i++) l->pointers[i] = &l->slots[i];
  *out = l;
  return 0;
}

void nereid_launch_free(nereid_launch *l) {
  if (!l) return;
  for (int i = 0, n = l->scratch ? most_slots(l->kernel) : 0; i < n; i++)
    nereid_free(l->kernel->device, l->scratch[i]);
  free(l->set);
  free(l->args);
  free(l->values);
  free(l->extent);
  free(l->bounds);
  free(l->reach);
  free(l->slots);
  free(l->pointers);
  free(l->scratch);
  free(l->scratch_size);
  free(l);
}

/* ---- arguments ---- */

int nereid_launch_set_grid(nereid_launch *l, const uint32_t grid[3]) {
  REQUIRE(l);
  REQUIRE(grid);
  int code = check_grid_extents(grid);
  if (code) return code;
  memcpy(l->grid, grid, sizeof l->grid);
  l->reach_of = NULL;
  l->stale = true;
  return 0;
}

int nereid_launch_set_flags(nereid_launch *l, unsigned flags) {
  REQUIRE(l);
  if (flags & ~(unsigned)(NEREID_LAUNCH_PDL | NEREID_LAUNCH_COOPERATIVE))
    return error_set(NEREID_E_USAGE, E_RUN_LAUNCH_FLAGS, flags);
  l->flags = flags;
  return 0;
}

/* The parameter, NULL (with a message) if there is none or it is of another sort. */
static const ImageParam *find_launch_param(const nereid_launch *l, int i, const char *given,
                                           bool (*accepts)(DType)) {
  const nereid_image *image = l->kernel->image;
  if (i < 0 || i >= image->nparams) {
    error_set(NEREID_E_USAGE, E_RUN_NO_PARAM, i, image->name);
    return NULL;
  }
  const ImageParam *p = &image->params[i];
  if (accepts((DType)p->type.dtype)) return p;
  nereid_image_param info;
  nereid_image_get_param(&info, image, i);
  error_set(NEREID_E_USAGE, E_RUN_ARG_KIND, p->name, info.type, given);
  return NULL;
}

static bool is_pointer_dtype(DType t) { return t == DT_PTR; }

static int set_bits(nereid_launch *l, int i, uint64_t bits, int64_t value) {
  l->args[i] = bits;
  l->values[i] = value;
  l->extent[i] = (IntRange){INT64_MIN, INT64_MAX};
  if (l->kernel->image->params[i].type.dtype != DT_PTR) l->reach_of = NULL;
  l->set[i] = true;
  l->stale = true;
  return 0;
}

static bool fits_integer(DType t, int64_t v) {
  unsigned bits = dtype_bits(t);
  if (bits == 64) return true;
  if (bits == 1) return v == 0 || v == 1;
  int64_t most = ((int64_t)1 << (bits - (dtype_is_signed(t) ? 1 : 0))) - 1;
  return v <= most && v >= (dtype_is_signed(t) ? -most - 1 : 0);
}

int nereid_launch_set_int(nereid_launch *l, int i, int64_t value) {
  REQUIRE(l);
  const ImageParam *p = find_launch_param(l, i, "an integer", dtype_is_int);
  if (!p) return NEREID_E_USAGE;
  if (!fits_integer((DType)p->type.dtype, value))
    return error_set(NEREID_E_USAGE, E_RUN_ARG_RANGE, p->name, (long long)value,
                     dtype_name((DType)p->type.dtype));
  return set_bits(l, i, (uint64_t)value, value);
}

int nereid_launch_set_float(nereid_launch *l, int i, double value) {
  REQUIRE(l);
  const ImageParam *p = find_launch_param(l, i, "a float", dtype_is_float);
  if (!p) return NEREID_E_USAGE;
  DType t = (DType)p->type.dtype;
  uint64_t bits = 0;
  scalar_store(t, (Scalar){.f = scalar_round(t, value)}, &bits);
  return set_bits(l, i, bits, 0);
}

int nereid_launch_set_pointer(nereid_launch *l, int i, const void *p) {
  REQUIRE(l);
  if (!find_launch_param(l, i, "a pointer", is_pointer_dtype)) return NEREID_E_USAGE;
  return set_bits(l, i, (uintptr_t)p, (int64_t)(uintptr_t)p);
}

/* ---- tensors ---- */

static bool same_dtype(nereid_dl_dtype d, DType t) {
  switch (dtype_kind(t)) {
    case DK_BOOL: return d.code == 6 || (d.code <= 1 && d.bits == 8);
    case DK_INT:
    case DK_UINT: return d.code <= 1 && d.bits == dtype_bits(t);
    case DK_FLOAT:
      if (d.bits != dtype_bits(t)) return false;
      return t == DT_BF16 ? d.code == 4 : d.bits == 8 || d.code == 2;
    default: return false;
  }
}

/* The bytes of a tensor's elements, counted from its first one. */
static IntRange tensor_extent(const nereid_tensor *t) {
  int64_t first = 0, last = 0, compact = 1, size = t->dtype.bits / 8u;
  for (int32_t i = t->ndim - 1; i >= 0; i--) {
    if (t->shape[i] == 0) return (IntRange){0, -1};
    int64_t reach = (t->shape[i] - 1) * (t->strides ? t->strides[i] : compact);
    *(reach < 0 ? &first : &last) += reach;
    compact *= t->shape[i];
  }
  return (IntRange){first * size, (last + 1) * size - 1};
}

/* "d.shape.1" or "d.strides.1"; negative if the kernel does not take it. */
static int find_descriptor_item(const nereid_launch *l, int i, const char *list, int axis) {
  char name[256];
  const nereid_image *image = l->kernel->image;
  snprintf(name, sizeof name, "%s.%s.%d", image->params[i].name, list, axis);
  return nereid_image_find_param(image, name);
}

/* Extents and strides follow the base. */
static bool is_descriptor_base(const nereid_image *image, int i) {
  if (i + 1 == image->nparams) return false;
  const char *name = image->params[i].name, *next = image->params[i + 1].name;
  size_t n = strlen(name);
  return !strncmp(next, name, n) && !strncmp(next + n, ".s", 2);
}

/* The axes of a tensor descriptor; 0 of a pointer that is none. */
static int count_descriptor_axes(const nereid_launch *l, int i) {
  if (!is_descriptor_base(l->kernel->image, i)) return 0;
  for (int axis = DESCRIPTOR_RANK; axis > 0; axis--)
    if (find_descriptor_item(l, i, "shape", axis - 1) >= 0 ||
        find_descriptor_item(l, i, "strides", axis - 1) >= 0)
      return axis;
  return 0;
}

int launch_set_extents(nereid_launch *l, int i, int rank, const int64_t *shape,
                       const int64_t *strides) {
  int axes = count_descriptor_axes(l, i), code = 0;
  if (!axes) return 0;
  if (rank != axes)
    return error_set(NEREID_E_USAGE, E_RUN_TENSOR_RANK, l->kernel->image->params[i].name, axes,
                     rank);
  int64_t compact = 1;
  for (int axis = rank; axis-- > 0 && !code; compact *= shape[axis]) {
    int extent = find_descriptor_item(l, i, "shape", axis);
    int stride = find_descriptor_item(l, i, "strides", axis);
    if (extent >= 0) code = nereid_launch_set_int(l, extent, shape[axis]);
    if (!code && stride >= 0)
      code = nereid_launch_set_int(l, stride, strides ? strides[axis] : compact);
  }
  return code;
}

int nereid_launch_set_tensor(nereid_launch *l, int i, const nereid_tensor *t) {
  REQUIRE(l);
  REQUIRE(t);
  enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_MANAGED = 13 };
  const ImageParam *p = find_launch_param(l, i, "a tensor", is_pointer_dtype);
  if (!p) return NEREID_E_USAGE;
  nereid_device *d = l->kernel->device;
  bool on_gpu = t->device.device_type == DL_CUDA || t->device.device_type == DL_CUDA_MANAGED;
  if (on_gpu != (d->ops == &device_cuda) || (!on_gpu && t->device.device_type != DL_CPU))
    return error_set(NEREID_E_USAGE, E_RUN_TENSOR_DEVICE, p->name, d->name);
  if (t->dtype.lanes != 1 || (p->type.elem != DT_PTR && !same_dtype(t->dtype, p->type.elem)))
    return error_set(NEREID_E_USAGE, E_RUN_TENSOR_DTYPE, p->name, dtype_name((DType)p->type.elem));
  char *data = (char *)t->data + t->byte_offset;
  IntRange extent = tensor_extent(t);
  int code = on_gpu ? 0 : device_borrow(d, data + extent.lo, (size_t)(extent.hi + 1 - extent.lo));
  if (!code) code = nereid_launch_set_pointer(l, i, data);
  if (!code) code = launch_set_extents(l, i, t->ndim, t->shape, t->strides);
  if (!code) l->extent[i] = extent;
  return code;
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

/* Do the launch's arguments meet the conditions of the variant's code?  False with a pair that does
 * not. */
static bool noalias_holds(nereid_launch *l, const ImageVariant *v, const ImageNoAlias **pair) {
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

/* ---- choosing ---- */

static int check_all_set(const nereid_launch *l) {
  const nereid_image *image = l->kernel->image;
  for (int i = 0; i < image->nparams; i++)
    if (!l->set[i])
      return error_set(NEREID_E_USAGE, E_RUN_ARG_MISSING, image->params[i].name, image->name);
  return 0;
}

/* The guard that fails, NULL if all hold. */
static const IntExpr *failing_guard(const ImageVariant *v, const int64_t *values) {
  for (int i = 0; i < v->nguards; i++) {
    int64_t holds;
    if (intexpr_eval(&holds, &v->guards[i], values) || !holds) return &v->guards[i];
  }
  return NULL;
}

/* Variant i, or its code for overlapping arguments. */
static int choose_order(nereid_launch *l, int i) {
  nereid_kernel *k = l->kernel;
  const ImageNoAlias *pair;
  l->chosen = &k->loaded[i];
  if (noalias_holds(l, l->chosen->variant, &pair)) return 0;
  if (l->chosen->variant->ordered) return kernel_load_ordered(&l->chosen, k, i);
  return error_set(NEREID_E_USAGE, E_RUN_ALIAS, k->image->params[pair->a].name,
                   k->image->params[pair->b].name, k->image->name);
}

static int choose_variant(nereid_launch *l) {
  const nereid_kernel *k = l->kernel;
  const IntExpr *failed = NULL;
  for (int i = 0; i < k->nloaded; i++) {
    const IntExpr *guard = failing_guard(k->loaded[i].variant, l->values);
    if (!guard) return choose_order(l, i);
    failed = guard;
  }
  return error_set(NEREID_E_USAGE, E_RUN_GUARD, k->image->name, failed->text);
}

static int map_grid(nereid_launch *l) {
  const ImageVariant *v = l->chosen->variant;
  memcpy(l->launched, l->grid, sizeof l->grid);
  for (int i = 0; i < 3 && v->has_grid; i++) {
    int64_t extent;
    int code = intexpr_eval(&extent, &v->grid[i], l->values);
    if (code) return code;
    if (extent < 1 || extent > UINT32_MAX)
      return error_set(NEREID_E_USAGE, E_RUN_GRID_MAP, v->grid[i].text, (long long)extent);
    l->launched[i] = (uint32_t)extent;
  }
  return 0;
}

/* The scratch memory of a slot grows when it has to; zeroed memory starts anew then. */
static int provide_scratch(nereid_launch *l, int i, bool zeroed, int64_t bytes) {
  nereid_device *d = l->kernel->device;
  if (bytes < 0 || bytes > (int64_t)1 << 46)
    return error_set(NEREID_E_USAGE, E_RUN_SCRATCH, (long long)bytes);
  if (!l->scratch[i] || l->scratch_size[i] < (size_t)bytes) {
    nereid_free(d, l->scratch[i]);
    l->scratch[i] = NULL;
    int code = nereid_alloc(&l->scratch[i], d, (size_t)bytes);
    if (!code && zeroed) code = nereid_fill(d, l->scratch[i], 0, (size_t)bytes, NULL);
    if (!code && zeroed) code = nereid_device_sync(d);
    if (code) return code;
    l->scratch_size[i] = (size_t)bytes;
  }
  l->slots[i] = (uintptr_t)l->scratch[i];
  return 0;
}

static int fill_slots(nereid_launch *l) {
  const ImageVariant *v = l->chosen->variant;
  for (int i = 0; i < v->nslots; i++) {
    const ImageSlot *s = &v->slots[i];
    if (s->kind == SLOT_ARG) {
      l->slots[i] = l->args[s->param];
      continue;
    }
    int64_t value;
    int code = intexpr_eval(&value, &s->expr, l->values);
    if (code) return code;
    l->slots[i] = (uint64_t)value;
    if (s->kind != SLOT_VALUE) code = provide_scratch(l, i, s->kind == SLOT_ZEROED, value);
    if (code) return code;
  }
  return 0;
}

/* Variant I of N, or the code of it that keeps the order of all accesses. */
static void log_launch(const nereid_launch *l) {
  const nereid_kernel *k = l->kernel;
  int i = 0;
  while (i < k->nloaded && l->chosen != &k->loaded[i] && l->chosen != &k->ordered[i]) i++;
  bool ordered = i < k->nloaded && l->chosen == &k->ordered[i];
  log_print(LOG_LAUNCH, "%s on %s: grid %u x %u x %u, variant %d of %d%s", k->image->name,
            k->device->name, l->launched[0], l->launched[1], l->launched[2], i + 1, k->nloaded,
            ordered ? ", in order: arguments overlap" : "");
}

static int prepare_launch(nereid_launch *l) {
  int64_t *extra = l->values + l->kernel->image->nparams;
  for (int i = 0; i < 3; i++) extra[i] = l->grid[i];
  extra[3] = l->kernel->device->info.processors;
  int code = check_all_set(l);
  if (!code) code = choose_variant(l);
  if (!code) code = map_grid(l);
  if (!code) code = fill_slots(l);
  if (!code) code = l->kernel->device->ops->check(l);
  if (!code) l->stale = false;
  if (!code && log_has(l->kernel->device->log, LOG_LAUNCH)) log_launch(l);
  return code;
}

/* ---- running ---- */

int launch_ready(nereid_launch *l) { return __builtin_expect(l->stale, 0) ? prepare_launch(l) : 0; }

int nereid_launch_run(nereid_launch *l, nereid_stream *s) {
  REQUIRE(l);
  int code = launch_ready(l);
  if (code) return code;
  return l->kernel->device->ops->launch(l, device_stream(s));
}

int nereid_launch_run_with(nereid_launch *l, nereid_stream *s, const uint64_t *args,
                           const uint32_t *grid) {
  REQUIRE(l);
  if (l->kernel->image->nparams) REQUIRE(args);
  const nereid_image *image = l->kernel->image;
  if (grid && memcmp(l->grid, grid, sizeof l->grid)) {
    int code = nereid_launch_set_grid(l, grid);
    if (code) return code;
  }
  for (int i = 0; i < image->nparams; i++) {
    if (l->set[i] && l->args[i] == args[i]) continue;
    bool is_float = dtype_is_float((DType)image->params[i].type.dtype);
    set_bits(l, i, args[i], is_float ? 0 : (int64_t)args[i]);
  }
  return nereid_launch_run(l, s);
}
