/* Tensors of which the hardware copies boxes, and their descriptors (CUtensorMap).
 *
 * Projects of `nereid build` contain this file. */
#ifndef NEREID_RUNTIME_DEVICE_BOXED_TENSOR_H
#define NEREID_RUNTIME_DEVICE_BOXED_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
  BOXED_RANK = 5,
  BOXED_ALIGNMENT = 16, /* bytes: of a tensor and of its strides */
  MAP_BYTES = 128,
  MAP_ALIGNMENT = 64
};

/* A tensor in numbers, innermost axis first: extents in elements, strides in bytes. */
typedef struct {
  uint64_t address, extent[BOXED_RANK], stride[BOXED_RANK];
  uint32_t bytes, rank, box[BOXED_RANK];
  uint32_t zero; /* no padding: tensors are compared by their bytes */
} BoxedTensor;

/* cuTensorMapEncodeTiled; drivers before CUDA 12.0 lack it. */
typedef int MakeMap(void *out, int dtype, unsigned rank, void *address, const uint64_t *extents,
                    const uint64_t *strides, const unsigned *box, const unsigned *steps,
                    int interleave, int swizzle, int promotion, int fill);

/* May an argument be a part of coordinates, of which none may be negative, or exceed 31 bits? */
static inline bool boxed_natural(int64_t x) { return x >= 0 && x <= INT64_C(1) << 30; }

/* Does the hardware take it?  CUDA's driver API, cuTensorMapEncodeTiled. */
static inline bool boxed_tensor_fits(const BoxedTensor *t) {
  const uint64_t most = UINT64_C(1) << 40;
  bool fits = t->address % BOXED_ALIGNMENT == 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    uint64_t stride = i ? t->stride[i] : BOXED_ALIGNMENT;
    fits = fits && t->extent[i] - 1 <= INT32_MAX; /* coordinates are i32 */
    fits = fits && stride && stride < most && stride % BOXED_ALIGNMENT == 0;
  }
  return fits;
}

/* The descriptor, of MAP_BYTES at a multiple of MAP_ALIGNMENT; the driver's result. */
static inline int boxed_tensor_map(MakeMap *make, void *out, const BoxedTensor *t) {
  enum { PROMOTE_128 = 2 };
  static const unsigned ones[BOXED_RANK] = {1, 1, 1, 1, 1};
  /* CUtensorMapDataType by bytes of an element: what is copied has no other meaning. */
  int type = t->bytes == 4 ? 2 : t->bytes == 2 ? 1 : 0;
  /* CUtensorMapSwizzle by bytes of a row. */
  uint32_t row = t->box[0] * t->bytes;
  int swizzle = row == 128 ? 3 : row == 64 ? 2 : row == 32 ? 1 : 0;
  return make(out, type, t->rank, (void *)(uintptr_t)t->address, t->extent, t->stride + 1, t->box,
              ones, 0, swizzle, PROMOTE_128, 0);
}

#endif
