/* Launch objects: their arguments, which stay set from one start to the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/launch/start.h"
#include "runtime/messages.h"
#include "sema/sema.h"

/* ---- making a launch ---- */

static int check_grid_extents(const uint32_t grid[3]) {
  if (grid[0] && grid[1] && grid[2]) return 0;
  return error_set(NEREID_E_USAGE, E_RUN_GRID_ZERO, grid[0], grid[1], grid[2]);
}

int nereid_launch_new(nereid_launch **out, nereid_kernel *k, const uint32_t grid[3]) {
  REQUIRE_OUT(out);
  REQUIRE(k);
  REQUIRE(grid);
  int code = check_grid_extents(grid);
  if (code) return code;
  size_t n = (size_t)k->image->nparams, m = (size_t)start_slots(k);
  nereid_launch *l = calloc(1, sizeof *l + start_bytes(k));
  if (!l) return error_out_of_memory();
  start_init(&l->start, k, l + 1);
  memcpy(l->start.grid, grid, sizeof l->start.grid);
  l->stale = true;
  l->set = calloc(n + 1, sizeof *l->set);
  l->scratch = calloc(m + 1, sizeof *l->scratch);
  l->scratch_size = calloc(m + 1, sizeof *l->scratch_size);
  if (!l->set || !l->scratch || !l->scratch_size) {
    nereid_launch_free(l);
    return error_out_of_memory();
  }
  *out = l;
  return 0;
}

void nereid_launch_free(nereid_launch *l) {
  if (!l) return;
  const nereid_kernel *k = l->start.kernel;
  for (int i = 0, n = l->scratch ? start_slots(k) : 0; i < n; i++)
    nereid_free(k->device, l->scratch[i]);
  free(l->set);
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
  memcpy(l->start.grid, grid, sizeof l->start.grid);
  l->start.reach_of = NULL;
  l->stale = true;
  return 0;
}

int nereid_launch_set_flags(nereid_launch *l, unsigned flags) {
  REQUIRE(l);
  if (flags & ~LAUNCH_FLAGS) return error_set(NEREID_E_USAGE, E_RUN_LAUNCH_FLAGS, flags);
  l->start.flags = flags;
  return 0;
}

/* The parameter, NULL (with a message) if there is none or it is of another sort. */
static const ImageParam *find_launch_param(const nereid_launch *l, int i, const char *given,
                                           bool (*accepts)(DType)) {
  const nereid_image *image = l->start.kernel->image;
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
  l->start.args[i] = bits;
  l->start.values[i] = value;
  l->start.extent[i] = (IntRange){INT64_MIN, INT64_MAX};
  if (l->start.kernel->image->params[i].type.dtype != DT_PTR) l->start.reach_of = NULL;
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
  const nereid_image *image = l->start.kernel->image;
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
  if (!is_descriptor_base(l->start.kernel->image, i)) return 0;
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
    return error_set(NEREID_E_USAGE, E_RUN_TENSOR_RANK, l->start.kernel->image->params[i].name,
                     axes, rank);
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
  nereid_device *d = l->start.kernel->device;
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
  if (!code) l->start.extent[i] = extent;
  return code;
}

/* ---- running ---- */

/* The scratch memory of a slot grows when it has to; zeroed memory starts anew then. */
static int keep_scratch(void *context, void **out, int slot, size_t bytes, bool zeroed) {
  nereid_launch *l = context;
  nereid_device *d = l->start.kernel->device;
  if (!l->scratch[slot] || l->scratch_size[slot] < bytes) {
    nereid_free(d, l->scratch[slot]);
    l->scratch[slot] = NULL;
    int code = nereid_alloc(&l->scratch[slot], d, bytes);
    if (!code && zeroed) code = nereid_fill(d, l->scratch[slot], 0, bytes, NULL);
    if (!code && zeroed) code = device_wait(d);
    if (code) return code;
    l->scratch_size[slot] = bytes;
  }
  *out = l->scratch[slot];
  return 0;
}

static int check_all_set(const nereid_launch *l) {
  const nereid_image *image = l->start.kernel->image;
  for (int i = 0; i < image->nparams; i++)
    if (!l->set[i])
      return error_set(NEREID_E_USAGE, E_RUN_ARG_MISSING, image->params[i].name, image->name);
  return 0;
}

static int prepare_launch(nereid_launch *l) {
  int code = check_all_set(l);
  if (!code) code = start_prepare(&l->start, keep_scratch, l);
  if (!code) l->stale = false;
  return code;
}

int launch_ready(nereid_launch *l) { return __builtin_expect(l->stale, 0) ? prepare_launch(l) : 0; }

int nereid_launch_run(nereid_launch *l, nereid_stream *s) {
  REQUIRE(l);
  int code = launch_ready(l);
  if (code) return code;
  return l->start.kernel->device->ops->launch(&l->start, device_stream(s));
}

int nereid_launch_run_with(nereid_launch *l, nereid_stream *s, const uint64_t *args,
                           const uint32_t *grid) {
  REQUIRE(l);
  if (l->start.kernel->image->nparams) REQUIRE(args);
  const nereid_image *image = l->start.kernel->image;
  if (grid && memcmp(l->start.grid, grid, sizeof l->start.grid)) {
    int code = nereid_launch_set_grid(l, grid);
    if (code) return code;
  }
  for (int i = 0; i < image->nparams; i++) {
    if (l->set[i] && l->start.args[i] == args[i]) continue;
    bool is_float = dtype_is_float((DType)image->params[i].type.dtype);
    set_bits(l, i, args[i], is_float ? 0 : (int64_t)args[i]);
  }
  return nereid_launch_run(l, s);
}
