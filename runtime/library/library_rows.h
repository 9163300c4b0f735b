/* What a library's file gives to the table of functions: shared by runtime/library. */
#ifndef NEREID_RUNTIME_LIBRARY_LIBRARY_ROWS_H
#define NEREID_RUNTIME_LIBRARY_LIBRARY_ROWS_H

#include "runtime/library/library.h"

enum { LIBRARY_SYMBOLS_MOST = 24 };

/* A library that is loaded on a device. */
typedef struct {
  nereid_device *device;
  void *handle;                          /* of dlopen */
  void *functions[LIBRARY_SYMBOLS_MOST]; /* those of LibraryFile.symbols */
  void *context;                         /* of a library of GPUs; NULL: no call was prepared yet */
  pthread_mutex_t lock;                  /* of the context */
  char version[128];                     /* "cublasLt 12.8.4" */
  bool tried;                            /* and if there is no handle, not found */
} Library;

/* Where a library is, and what is asked of it. */
typedef struct {
  const char *name;
  const char *const *files; /* sonames, the newest first; the last is NULL */
  const char *const *wheels; /* folders of Python's packages that have it; the last is NULL */
  /* Functions that it must have; the last is NULL.  The functions of a library of GPUs begin with
   * one that makes a context, int create(void **), and one that ends it, int destroy(void *). */
  const char *const *symbols;
  bool has_context;
  bool loaded; /* only a process that has it uses it */
  void (*write_version)(Library *l);
} LibraryFile;

struct LibraryFunction {
  const char *name;
  LibraryWork work;
  const LibraryFile *file;
  nereid_kind kind;
  int64_t workspace;
  bool (*convolves)(DType dtype); /* NULL: it computes products */
  bool (*takes)(DType operands, DType out, DType bias, LibraryActivation activation);
  int (*threads)(const Library *l); /* library_threads; NULL: its times are not known */
  int (*prepare)(LibraryCall *c);
  int (*run)(LibraryCall *c, const LibraryPointers *at, void *stream);
  void (*end)(LibraryCall *c);
};

struct LibraryCall {
  const LibraryFunction *function;
  Library *library;
  LibraryShape shape;
  int64_t workspace; /* bytes that it may have; once it is prepared, those that it needs */
  void *state; /* the function's own; NULL: there is none */
};

/* A matrix in memory as BLAS takes it. */
typedef struct {
  bool transposed; /* rows of memory are its columns */
  int64_t ld;      /* elements from one row of memory to the next */
} LibraryLayout;

/* Makes the context with which calls are prepared and run, if it was not made yet: a library takes
 * memory of the GPU for it.  False: it can't. */
bool library_start(Library *l);
/* Ends that context. */
void library_stop(Library *l);

/* Result of a function size_t f(void) of the library; 0: it has none of that name. */
size_t library_version_number(const Library *l, const char *symbol);

/* False: no axis of it is contiguous. */
bool library_layout(const LibraryMatrix *x, int64_t rows, int64_t columns, LibraryLayout *out);
/* Reports that the function can't compute it. */
int library_refused(const LibraryCall *c, const char *why);

extern const LibraryFile library_cublas, library_cudnn, library_blas, library_dnnl, library_torch;
extern const LibraryFunction library_cublas_matmul, library_blas_gemm, library_dnnl_gemm,
    library_torch_gemm;
extern const LibraryFunction library_cudnn_convolution, library_cudnn_input_gradient,
    library_cudnn_weight_gradient;

#endif
