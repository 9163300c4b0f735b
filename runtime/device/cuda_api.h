/* The part of NVIDIA's driver API that device cuda and built projects use, from its documentation.
 * The library is loaded at run time, so a build needs neither its headers nor the library.
 * Projects of `nereid build` contain this file as cuda.h. */
#ifndef NEREID_RUNTIME_DEVICE_CUDA_API_H
#define NEREID_RUNTIME_DEVICE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CuResult;
typedef int CuDevice;
typedef struct CuContext_ *CuContext;
typedef struct CuModule_ *CuModule;
typedef struct CuFunction_ *CuFunction;
typedef struct CuStream_ *CuStream;
typedef struct CuEvent_ *CuEvent;
typedef struct CuLink_ *CuLink;
typedef struct CuGraph_ *CuGraph;
typedef struct CuGraphNode_ *CuGraphNode;
typedef struct CuGraphExec_ *CuGraphExec;
typedef uint64_t CuPointer;

enum {
  CU_OK = 0,
  CU_OUT_OF_MEMORY = 2,
  CU_STUB_LIBRARY = 34,
  CU_NEWER_DRIVER_NEEDED = 36,
  CU_UNAVAILABLE = 46,
  CU_NO_DEVICE = 100,
  CU_INVALID_DEVICE = 101,
  CU_INVALID_IMAGE = 200,
  CU_NO_BINARY = 209,
  CU_ECC = 214,
  CU_INVALID_PTX = 218,
  CU_NO_JIT = 221,
  CU_UNSUPPORTED_PTX = 222,
  CU_ILLEGAL_ADDRESS = 700,
  CU_OUT_OF_RESOURCES = 701,
  CU_TIMEOUT = 702,
  CU_CONTEXT_DESTROYED = 709,
  CU_ASSERT = 710,
  CU_HARDWARE_STACK = 714,
  CU_ILLEGAL_INSTRUCTION = 715,
  CU_MISALIGNED = 716,
  CU_INVALID_SPACE = 717,
  CU_INVALID_PC = 718,
  CU_LAUNCH_FAILED = 719,
  CU_NOT_READY = 802,
  CU_DRIVER_MISMATCH = 803,
  CU_COMPAT_NOT_SUPPORTED = 804
};

enum { /* device attributes */
  CU_MAX_THREADS = 1, CU_MAX_GRID_X = 5, CU_MAX_GRID_Y = 6, CU_MAX_GRID_Z = 7, CU_CLOCK = 13,
  CU_PROCESSORS = 16, CU_MEMORY_CLOCK = 36, CU_BUS_WIDTH = 37, CU_L2_SIZE = 38,
  CU_PROCESSOR_THREADS = 39, CU_MAJOR = 75, CU_MINOR = 76, CU_PROCESSOR_SHARED = 81,
  CU_PROCESSOR_REGISTERS = 82, CU_MAX_SHARED_OPTIN = 97, CU_RESERVED_SHARED = 111
};

enum { CU_EVENT_NO_TIMING = 2 };

enum { /* function attributes */
  CU_FUNC_MAX_THREADS = 0, CU_FUNC_SHARED = 1, CU_FUNC_LOCAL = 3, CU_FUNC_REGS = 4,
  CU_FUNC_MAX_DYNAMIC_SHARED = 8
};

enum { /* options of the linker */
  CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_SIZE = 6, CU_JIT_TARGET = 9, CU_JIT_LINE_INFO = 13
};
enum { CU_INPUT_PTX = 1 };
/* Added to a target such as 90 for sm_90a. */
enum { CU_TARGET_EXACT = 0x10000 };

/* X(name, symbol, parameters) */
#define CUDA_FUNCTIONS(X)                                                                         \
  X(init, cuInit, (unsigned flags))                                                               \
  X(error_name, cuGetErrorName, (CuResult r, const char **out))                                   \
  X(error_string, cuGetErrorString, (CuResult r, const char **out))                               \
  X(driver_version, cuDriverGetVersion, (int *out))                                               \
  X(device_count, cuDeviceGetCount, (int *out))                                                   \
  X(device_get, cuDeviceGet, (CuDevice *out, int ordinal))                                        \
  X(device_name, cuDeviceGetName, (char *out, int size, CuDevice d))                              \
  X(device_memory, cuDeviceTotalMem_v2, (size_t *out, CuDevice d))                                \
  X(device_attribute, cuDeviceGetAttribute, (int *out, int attribute, CuDevice d))                \
  X(context_retain, cuDevicePrimaryCtxRetain, (CuContext *out, CuDevice d))                       \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (CuDevice d))                                  \
  X(context_current, cuCtxGetCurrent, (CuContext *out))                                           \
  X(context_set, cuCtxSetCurrent, (CuContext c))                                                  \
  X(context_sync, cuCtxSynchronize, (void))                                                       \
  X(memory_info, cuMemGetInfo_v2, (size_t *free, size_t *total))                                  \
  X(memory_alloc, cuMemAlloc_v2, (CuPointer *out, size_t size))                                   \
  X(memory_free, cuMemFree_v2, (CuPointer p))                                                     \
  X(pinned_alloc, cuMemHostAlloc, (void **out, size_t size, unsigned flags))                      \
  X(pinned_free, cuMemFreeHost, (void *p))                                                        \
  X(copy_in, cuMemcpyHtoDAsync_v2, (CuPointer to, const void *from, size_t n, CuStream s))        \
  X(copy_out, cuMemcpyDtoHAsync_v2, (void *to, CuPointer from, size_t n, CuStream s))             \
  X(copy, cuMemcpyDtoDAsync_v2, (CuPointer to, CuPointer from, size_t n, CuStream s))             \
  X(fill, cuMemsetD8Async, (CuPointer to, unsigned char byte, size_t n, CuStream s))              \
  X(stream_new, cuStreamCreate, (CuStream *out, unsigned flags))                                  \
  X(stream_free, cuStreamDestroy_v2, (CuStream s))                                                \
  X(stream_sync, cuStreamSynchronize, (CuStream s))                                               \
  X(event_new, cuEventCreate, (CuEvent *out, unsigned flags))                                     \
  X(event_free, cuEventDestroy_v2, (CuEvent e))                                                   \
  X(event_record, cuEventRecord, (CuEvent e, CuStream s))                                         \
  X(event_sync, cuEventSynchronize, (CuEvent e))                                                  \
  X(event_elapsed, cuEventElapsedTime, (float *ms, CuEvent from, CuEvent to))                     \
  X(link_new, cuLinkCreate_v2, (unsigned n, int *options, void **values, CuLink *out))            \
  X(link_add, cuLinkAddData_v2, (CuLink l, int type, void *data, size_t size, const char *name,   \
                                 unsigned n, int *options, void **values))                        \
  X(link_complete, cuLinkComplete, (CuLink l, void **cubin, size_t *size))                        \
  X(link_free, cuLinkDestroy, (CuLink l))                                                         \
  X(module_load, cuModuleLoadDataEx, (CuModule *out, const void *image, unsigned n, int *options, \
                                      void **values))                                             \
  X(module_unload, cuModuleUnload, (CuModule m))                                                  \
  X(module_function, cuModuleGetFunction, (CuFunction *out, CuModule m, const char *name))        \
  X(function_get, cuFuncGetAttribute, (int *out, int attribute, CuFunction f))                    \
  X(function_set, cuFuncSetAttribute, (CuFunction f, int attribute, int value))                   \
  X(launch, cuLaunchKernel, (CuFunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,    \
                             unsigned by, unsigned bz, unsigned shared, CuStream s,               \
                             void **params, void **extra))

typedef struct {
#define X(name, symbol, params) CuResult(*name) params;
  CUDA_FUNCTIONS(X)
#undef X
} CudaApi;

/* ---- launches with attributes ---- */

/* CUlaunchAttribute; the value is a union of 64 bytes, of which these attributes use an int. */
enum { CU_LAUNCH_COOPERATIVE = 2, CU_LAUNCH_PDL = 6 };
typedef struct {
  int id, pad;
  int value[16];
} CuLaunchAttribute;

/* CUlaunchConfig. */
typedef struct {
  unsigned grid[3], block[3], shared;
  CuStream stream;
  CuLaunchAttribute *attributes;
  unsigned nattributes;
} CuLaunchConfig;

/* cuLaunchKernelEx; drivers before CUDA 11.8 lack it. */
typedef CuResult CuLaunchEx(const CuLaunchConfig *c, CuFunction f, void **params, void **extra);

/* ---- graphs ---- */

/* CUDA_KERNEL_NODE_PARAMS, version 1. */
typedef struct {
  CuFunction function;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
} CuKernelNode;

/* CUgraphEdgeData. */
typedef struct {
  unsigned char from_port, to_port, type, reserved[5];
} CuEdge;

/* The second kernel may start once all blocks of the first have let it, or have ended. */
#define CU_EDGE_PROGRAMMATIC ((CuEdge){.from_port = 1, .type = 1})

/* cuGraphAddDependencies_v2; drivers before CUDA 12.3 lack it. */
typedef CuResult CuAddDependencies(CuGraph g, const CuGraphNode *from, const CuGraphNode *to,
                                   const CuEdge *edges, size_t n);

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

#define CUDA_GRAPH_FUNCTIONS(X)                                                                   \
  X(graph_new, cuGraphCreate, (CuGraph * out, unsigned flags))                                    \
  X(graph_free, cuGraphDestroy, (CuGraph g))                                                      \
  X(add_kernel, cuGraphAddKernelNode, (CuGraphNode * out, CuGraph g, const CuGraphNode *before,   \
                                       size_t nbefore, const CuKernelNode *node))                 \
  X(add_copy, cuGraphAddMemcpyNode, (CuGraphNode * out, CuGraph g, const CuGraphNode *before,     \
                                     size_t nbefore, const CuCopyNode *node, CuContext c))        \
  X(instantiate, cuGraphInstantiateWithFlags, (CuGraphExec * out, CuGraph g,                      \
                                               unsigned long long flags))                         \
  X(exec_free, cuGraphExecDestroy, (CuGraphExec e))                                               \
  X(graph_launch, cuGraphLaunch, (CuGraphExec e, CuStream s))                                     \
  X(set_kernel, cuGraphExecKernelNodeSetParams, (CuGraphExec e, CuGraphNode n,                    \
                                                 const CuKernelNode *node))                       \
  X(set_copy, cuGraphExecMemcpyNodeSetParams, (CuGraphExec e, CuGraphNode n,                      \
                                               const CuCopyNode *node, CuContext c))

typedef struct {
#define X(name, symbol, params) CuResult(*name) params;
  CUDA_GRAPH_FUNCTIONS(X)
#undef X
} CudaGraphApi;

#endif
