/* As much of NVIDIA's driver API as is needed, from its documentation: the library is loaded when
 * a model is made, so that neither headers nor the library are needed to build. */
#ifndef MODEL_CUDA_H
#define MODEL_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CuResult;
typedef int CuDevice;
typedef struct CuContext_ *CuContext;
typedef struct CuModule_ *CuModule;
typedef struct CuFunction_ *CuFunction;
typedef struct CuStream_ *CuStream;
typedef struct CuGraph_ *CuGraph;
typedef struct CuGraphNode_ *CuGraphNode;
typedef struct CuGraphExec_ *CuGraphExec;
typedef uint64_t CuPointer;

enum { CU_OK = 0, CU_OUT_OF_MEMORY = 2 };

enum { /* device attributes */
  CU_MAX_GRID_X = 5,
  CU_MAJOR = 75,
  CU_MINOR = 76,
  CU_MAX_SHARED_OPTIN = 97
};

enum { CU_FUNC_SHARED = 1, CU_FUNC_MAX_DYNAMIC_SHARED = 8 }; /* function attributes */
enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_SIZE = 6 };    /* options of the assembler */

/* X(name, symbol, parameters) */
#define CUDA_FUNCTIONS(X)                                                                      \
  X(init, cuInit, (unsigned flags))                                                            \
  X(error_name, cuGetErrorName, (CuResult r, const char **out))                                \
  X(error_string, cuGetErrorString, (CuResult r, const char **out))                            \
  X(device_count, cuDeviceGetCount, (int *out))                                                \
  X(device_get, cuDeviceGet, (CuDevice * out, int ordinal))                                    \
  X(device_name, cuDeviceGetName, (char *out, int size, CuDevice d))                           \
  X(device_attribute, cuDeviceGetAttribute, (int *out, int attribute, CuDevice d))             \
  X(context_retain, cuDevicePrimaryCtxRetain, (CuContext * out, CuDevice d))                   \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (CuDevice d))                               \
  X(context_current, cuCtxGetCurrent, (CuContext * out))                                       \
  X(context_set, cuCtxSetCurrent, (CuContext c))                                               \
  X(memory_info, cuMemGetInfo_v2, (size_t *free, size_t *total))                               \
  X(memory_alloc, cuMemAlloc_v2, (CuPointer * out, size_t size))                               \
  X(memory_free, cuMemFree_v2, (CuPointer p))                                                  \
  X(pinned_alloc, cuMemHostAlloc, (void **out, size_t n, unsigned flags))                      \
  X(pinned_free, cuMemFreeHost, (void *p))                                                     \
  X(copy_in, cuMemcpyHtoDAsync_v2, (CuPointer to, const void *from, size_t n, CuStream s))     \
  X(copy_out, cuMemcpyDtoHAsync_v2, (void *to, CuPointer from, size_t n, CuStream s))          \
  X(copy, cuMemcpyDtoDAsync_v2, (CuPointer to, CuPointer from, size_t n, CuStream s))          \
  X(stream_sync, cuStreamSynchronize, (CuStream s))                                            \
  X(module_load, cuModuleLoadDataEx,                                                           \
    (CuModule * out, const void *image, unsigned n, int *options, void **values))              \
  X(module_unload, cuModuleUnload, (CuModule m))                                               \
  X(module_function, cuModuleGetFunction, (CuFunction * out, CuModule m, const char *name))    \
  X(function_get, cuFuncGetAttribute, (int *out, int attribute, CuFunction f))                 \
  X(function_set, cuFuncSetAttribute, (CuFunction f, int attribute, int value))                \
  X(launch, cuLaunchKernel,                                                                    \
    (CuFunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,            \
     unsigned bz, unsigned shared, CuStream s, void **params, void **extra))

typedef struct {
#define X(name, symbol, params) CuResult(*name) params;
  CUDA_FUNCTIONS(X)
#undef X
} CudaApi;

/* ---- graphs ---- */

/* CUDA_KERNEL_NODE_PARAMS, version 1. */
typedef struct {
  CuFunction function;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
} CuKernelNode;

enum { CU_MEMORY_DEVICE = 2 };

/* CUDA_MEMCPY3D, version 2; a copy of bytes in a row has height and depth 1. */
typedef struct {
  size_t from_x, from_y, from_z, from_lod;
  int from_type;
  const void *from_host;
  CuPointer from;
  void *from_array, *reserved0;
  size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_lod;
  int to_type;
  void *to_host;
  CuPointer to;
  void *to_array, *reserved1;
  size_t to_pitch, to_height;
  size_t width, height, depth;
} CuCopyNode;

#define CUDA_GRAPH_FUNCTIONS(X)                                                                \
  X(graph_new, cuGraphCreate, (CuGraph * out, unsigned flags))                                 \
  X(graph_free, cuGraphDestroy, (CuGraph g))                                                   \
  X(add_kernel, cuGraphAddKernelNode,                                                          \
    (CuGraphNode * out, CuGraph g, const CuGraphNode *before, size_t nbefore,                  \
     const CuKernelNode *node))                                                                \
  X(add_copy, cuGraphAddMemcpyNode,                                                            \
    (CuGraphNode * out, CuGraph g, const CuGraphNode *before, size_t nbefore,                  \
     const CuCopyNode *node, CuContext c))                                                     \
  X(instantiate, cuGraphInstantiateWithFlags,                                                  \
    (CuGraphExec * out, CuGraph g, unsigned long long flags))                                  \
  X(exec_free, cuGraphExecDestroy, (CuGraphExec e))                                            \
  X(graph_launch, cuGraphLaunch, (CuGraphExec e, CuStream s))

typedef struct {
#define X(name, symbol, params) CuResult(*name) params;
  CUDA_GRAPH_FUNCTIONS(X)
#undef X
} CudaGraphApi;

#endif
