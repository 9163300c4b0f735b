/* What a library's file gives to the table of functions: shared by runtime/library. */
#ifndef NEREID_RUNTIME_LIBRARY_LIBRARY_ROWS_H
#define NEREID_RUNTIME_LIBRARY_LIBRARY_ROWS_H

#include "runtime/library/library.h"

/* A library that is loaded on a device. */
typedef struct {
  nereid_device *device;
  void *handle;      /* of dlopen */
  void *state;       /* its own: functions, a handle */
  char version[128]; /* "cublasLt 12.8.4" */
  bool tried;        /* and if there is no handle, not found */
} Library;

/* Where a library is, and how it begins. */
typedef struct {
  const char *name;
  const char *const *files; /* sonames, the newest first; the last is NULL */
  const char *const *wheels; /* folders of Python's packages that have it; the last is NULL */
  /* Finds functions and makes `state` and `version`; false: it is not usable. */
  bool (*open)(Library *l);
  void (*close)(Library *l);
} LibraryFile;

struct LibraryFunction {
  const char *name;
  LibraryWork work;
  const LibraryFile *file;
  nereid_kind kind;
  int64_t workspace;
  bool (*convolves)(DType dtype); /* NULL: it computes products */
  bool (*takes)(DType operands, DType out, DType bias, LibraryActivation activation);
  int (*prepare)(LibraryCall *c);
  int (*run)(LibraryCall *c, const LibraryPointers *at, void *stream);
  void (*end)(LibraryCall *c);
};

struct LibraryCall {
  const LibraryFunction *function;
  Library *library;
  LibraryShape shape;
  void *state; /* the function's own; NULL: there is none */
};

/* A matrix in memory as BLAS takes it. */
typedef struct {
  bool transposed; /* rows of memory are its columns */
  int64_t ld;      /* elements from one row of memory to the next */
} LibraryLayout;

/* False: no axis of it is contiguous. */
bool library_layout(const LibraryMatrix *x, int64_t rows, int64_t columns, LibraryLayout *out);
/* Reports that the function can't compute it. */
int library_refused(const LibraryCall *c, const char *why);

extern const LibraryFile library_cublas, library_cudnn, library_blas, library_dnnl;
extern const LibraryFunction library_cublas_matmul, library_blas_gemm, library_dnnl_gemm;
extern const LibraryFunction library_cudnn_convolution, library_cudnn_input_gradient,
    library_cudnn_weight_gradient;

#endif
