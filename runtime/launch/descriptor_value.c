/* Tensor descriptors of the command line: an array with a block's shape, and perhaps with extents
 * and strides of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/spec.h"
#include "runtime/launch/argument_value.h"
#include "runtime/messages.h"

/* ---- reading ---- */

static const char *skip_blanks(const char *s) { return s + strspn(s, " "); }

/* "[300,200]" at *s: as many numbers as the block has axes. */
static const char *read_extents(int64_t *out, int rank, const char **s) {
  static const char form[] = "write shape=[300,200] and strides=[512,1], a number for each axis";
  const char *at = *s;
  if (*at++ != '[') return form;
  for (int i = 0; i < rank; i++) {
    char *end;
    errno = 0;
    out[i] = strtoll(at, &end, 10);
    if (end == at || errno) return form;
    at = skip_blanks(end);
    if (*at != (i + 1 < rank ? ',' : ']')) return form;
    at = skip_blanks(at + 1);
  }
  *s = at;
  return NULL;
}

static const char *read_parts(DescriptorValue *d, const char **array, const char *text) {
  const char *s = text;
  size_t len;
  const char *why = spec_descriptor(text, &d->block, &d->padding, &len);
  for (s += why ? 0 : len; !why;) {
    if (*s++ != ':') return "the array is missing: tensordesc<bf16[64,64]>:@x.npy";
    bool shape = !strncmp(s, "shape=", 6), strides = !strncmp(s, "strides=", 8);
    if (!shape && !strides) break;
    s += shape ? 6 : 8;
    why = read_extents(shape ? d->shape : d->strides, d->block.rank, &s);
    *(shape ? &d->has_shape : &d->has_strides) = true;
  }
  *array = s;
  return why;
}

int descriptor_read(DescriptorValue *out, const char **array, const char *text) {
  const char *why = read_parts(out, array, text);
  return why ? error_set(NEREID_E_USAGE, E_RUN_BAD_VALUE, text, why) : 0;
}

/* ---- completing ---- */

static void set_compact(int64_t *strides, const int64_t *shape, int rank) {
  int64_t stride = 1;
  for (int i = rank; i-- > 0;) {
    strides[i] = stride;
    if (__builtin_mul_overflow(stride, shape[i], &stride)) stride = INT64_MAX;
  }
}

/* The extents that are not given are the array's.  Its strides are those of all of it, also of a
 * part of its rows and columns; an array of another rank has none. */
static int add_missing(DescriptorValue *d, const Array *array, size_t offset) {
  int rank = d->block.rank;
  bool same = array->rank == rank;
  if (!d->has_shape && (!same || offset))
    return error_set(NEREID_E_USAGE, offset ? E_RUN_DESCRIPTOR_OFFSET : E_RUN_DESCRIPTOR_RANK,
                     array->rank, rank);
  for (int i = 0; i < rank && !d->has_shape; i++) d->shape[i] = array->shape[i];
  if (!d->has_strides) set_compact(d->strides, same ? array->shape : d->shape, rank);
  d->has_shape = d->has_strides = true;
  return 0;
}

static int check_strides(const DescriptorValue *d) {
  int last = d->block.rank - 1;
  int64_t size = (int64_t)dtype_bytes((DType)d->block.dtype);
  if (d->strides[last] != 1)
    return error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_LAST, (long long)d->strides[last]);
  for (int i = 0; i < last; i++)
    if (d->strides[i] < 0 || d->strides[i] > INT64_MAX / size ||
        d->strides[i] * size % DESCRIPTOR_ALIGNMENT)
      return error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_STRIDE, (long long)d->strides[i],
                       dtype_name((DType)d->block.dtype));
  return 0;
}

/* The descriptor's last element is one of the array. */
static int check_extents(const DescriptorValue *d, const Array *array, size_t offset) {
  int64_t size = (int64_t)dtype_bytes((DType)d->block.dtype);
  int64_t rest = (int64_t)(array->bytes - offset) / size - 1;
  for (int i = 0; i < d->block.rank; i++) {
    if (d->shape[i] < 1 || d->shape[i] > INT32_MAX)
      return error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_EXTENT, (long long)d->shape[i]);
    if (d->strides[i] && d->shape[i] - 1 > rest / d->strides[i])
      return error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_BEYOND);
    rest -= (d->shape[i] - 1) * d->strides[i];
  }
  return rest < 0 ? error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_BEYOND) : 0;
}

int descriptor_complete(DescriptorValue *d, const Array *array, size_t offset) {
  if (array->dtype != (DType)d->block.dtype)
    return error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_DTYPE, dtype_name((DType)d->block.dtype),
                     dtype_name(array->dtype));
  if (offset % DESCRIPTOR_ALIGNMENT)
    return error_set(NEREID_E_USAGE, E_RUN_DESCRIPTOR_BASE, (long long)offset);
  int code = add_missing(d, array, offset);
  if (!code) code = check_strides(d);
  return code ? code : check_extents(d, array, offset);
}
