/* The exchange table of DLPack 1.2 and later: how a library of tensors lets others read them from
 * C.  A type of tensors has it as the capsule `__dlpack_c_exchange_api__`.
 * Source of the layout: DLPack's specification, https://dmlc.github.io/dlpack/latest/c_api.html. */
#ifndef NEREID_PYTHON_DLPACK_H
#define NEREID_PYTHON_DLPACK_H

#include <stdint.h>

#include "runtime/nereid.h"

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

typedef struct {
  uint32_t major, minor;
} DlVersion;

/* Versions with another `major` have another layout from here on. */
typedef struct DlExchange {
  struct {
    DlVersion version;
    struct DlExchange *previous;
  } header;
  void *allocate;
  void *from_object; /* gives a tensor that is owned */
  void *to_object;
  /* Borrows: valid while the object is not changed.  May be NULL. */
  int (*tensor_of)(void *object, nereid_tensor *out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} DlExchange;

#endif
