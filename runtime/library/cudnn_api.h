/* The part of cuDNN's graph interface that convolutions use, from its documentation: descriptors
 * with attributes, which versions 8 and 9 have. */
#ifndef NEREID_RUNTIME_LIBRARY_CUDNN_API_H
#define NEREID_RUNTIME_LIBRARY_CUDNN_API_H

#include <stddef.h>
#include <stdint.h>

typedef int DnnStatus;
typedef struct DnnDesc_ *DnnDesc;

enum { DNN_OK = 0 };
enum { DNN_FLOAT = 0, DNN_HALF = 2, DNN_BF16 = 9 };            /* cudnnDataType_t */
enum { DNN_CROSS_CORRELATION = 1 };                            /* cudnnConvolutionMode_t */
enum { DNN_HEURISTIC_FALLBACK = 2, DNN_HEURISTIC_A = 3 };      /* cudnnBackendHeurMode_t */
/* cudnnBackendNumericalNote_t and cudnnBackendBehaviorNote_t */
enum { DNN_TENSOR_CORE, DNN_CONVERTS, DNN_REDUCED_SUMS, DNN_FFT, DNN_NONDETERMINISTIC };
enum { DNN_COMPILES = 0, DNN_NOTES_MOST = 16 };

/* cudnnBackendDescriptorType_t */
enum {
  DNN_CONVOLUTION = 1,
  DNN_ENGINE = 2,
  DNN_CONFIG = 3,
  DNN_HEURISTIC = 4,
  DNN_PLAN = 5,
  DNN_FORWARD = 10,
  DNN_BACKWARD_WEIGHT = 11,
  DNN_BACKWARD_INPUT = 12,
  DNN_GRAPH = 15,
  DNN_PACK = 16,
  DNN_TENSOR = 17
};

/* cudnnBackendAttributeType_t */
enum {
  DNN_T_HANDLE = 0,
  DNN_T_TYPE = 1,
  DNN_T_BOOL = 2,
  DNN_T_INT = 3,
  DNN_T_FLOAT = 4,
  DNN_T_POINTER = 6,
  DNN_T_MODE = 7,
  DNN_T_HEURISTIC = 8,
  DNN_T_NUMERICAL_NOTE = 11,
  DNN_T_DESC = 15,
  DNN_T_BEHAVIOR_NOTE = 19
};

/* cudnnBackendAttributeName_t */
enum {
  DNN_CONV_TYPE = 100,
  DNN_CONV_MODE,
  DNN_CONV_DILATIONS,
  DNN_CONV_STRIDES,
  DNN_CONV_PADDING_AFTER,
  DNN_CONV_PADDING_BEFORE,
  DNN_CONV_AXES,
  DNN_HEURISTIC_MODE = 200,
  DNN_HEURISTIC_GRAPH,
  DNN_HEURISTIC_RESULTS,
  DNN_CONFIG_ENGINE = 300,
  DNN_PLAN_HANDLE = 400,
  DNN_PLAN_CONFIG,
  DNN_PLAN_WORKSPACE,
  DNN_FORWARD_ALPHA = 700, /* then beta, the convolution, w, x, y */
  DNN_BACKWARD_INPUT_ALPHA = 706, /* then beta, the convolution, w, x, y */
  DNN_BACKWARD_WEIGHT_ALPHA = 712, /* then beta, the convolution, w, x, y */
  DNN_GRAPH_HANDLE = 800,
  DNN_GRAPH_OPERATIONS,
  DNN_TENSOR_ALIGNMENT = 900,
  DNN_TENSOR_TYPE,
  DNN_TENSOR_SIZES,
  DNN_TENSOR_STRIDES,
  DNN_TENSOR_ID = 906,
  DNN_PACK_IDS = 1000,
  DNN_PACK_POINTERS,
  DNN_PACK_WORKSPACE = 1003,
  DNN_ENGINE_NUMERICAL_NOTES = 1303,
  DNN_ENGINE_BEHAVIOR_NOTES = 1305
};

/* X(name, symbol, parameters) */
#define CUDNN_FUNCTIONS(X)                                                                      \
  X(create_handle, cudnnCreate, (void **out))                                                   \
  X(destroy_handle, cudnnDestroy, (void *handle))                                               \
  X(set_stream, cudnnSetStream, (void *handle, void *stream))                                   \
  X(create, cudnnBackendCreateDescriptor, (int type, DnnDesc * out))                            \
  X(destroy, cudnnBackendDestroyDescriptor, (DnnDesc d))                                        \
  X(finish, cudnnBackendFinalize, (DnnDesc d))                                                  \
  X(set, cudnnBackendSetAttribute,                                                              \
    (DnnDesc d, int name, int type, int64_t count, const void *values))                         \
  X(get, cudnnBackendGetAttribute,                                                              \
    (DnnDesc d, int name, int type, int64_t most, int64_t *count, void *values))                \
  X(run, cudnnBackendExecute, (void *handle, DnnDesc plan, DnnDesc pack))

typedef struct {
#define X(name, symbol, params) DnnStatus(*name) params;
  CUDNN_FUNCTIONS(X)
#undef X
} DnnApi;

#endif
