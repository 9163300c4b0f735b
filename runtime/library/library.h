/* Libraries of others: on GPUs products of matrices by cuBLAS and convolutions by cuDNN, on CPUs
 * products by a BLAS or oneDNN.
 *
 * runtime/library owns the table of their functions, where their files are, and calls of them.  It
 * takes the shapes and addresses of a call, and gives results in memory, in the order of a stream.
 *
 * Libraries are loaded at run time, when the first call is prepared, and need no headers: what is
 * declared of them is from their documentation.  A function is a row of `library_functions`, and a
 * library one of `library_files`; a new one is a row, and a file with its functions. */
#ifndef NEREID_RUNTIME_LIBRARY_LIBRARY_H
#define NEREID_RUNTIME_LIBRARY_LIBRARY_H

#include "lang/base/dtype.h"
#include "runtime/device/device.h"

typedef enum { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_GELU_TANH } LibraryActivation;

/* An operand's element (batch, row, column) is `offset` + the sum of indices times strides, in
 * elements. */
typedef struct {
  DType dtype;
  int64_t offset, batch, row, column;
} LibraryMatrix;

/* What operands of 8-bit floats are multiplied by, numbers in f32: one for each operand; one for
 * each row of a and each column of b; or blocks, [k / 128, m] for 1x128 of a and [n / 128, k / 128]
 * for 128x128 of b, row-major. */
typedef enum { SCALES_NONE, SCALES_WHOLE, SCALES_ROWS, SCALES_BLOCKS } LibraryScales;

/* out[batch, m, n] = activation(a[batch, m, k] by b[batch, k, n] + bias[n]); `out` is row-major. */
typedef struct {
  LibraryMatrix a, b;
  DType out, bias; /* bias DT_NONE: there is none */
  LibraryScales scales;
  bool fast; /* sums of 8-bit floats may stay in the units' own precision */
  int64_t batch, m, n, k;
  LibraryActivation activation;
  bool tf32; /* operands of f32 may be rounded to TF32 */
} LibraryProduct;

typedef enum {
  LIBRARY_PRODUCT,
  LIBRARY_CONVOLUTION, /* y of x and w */
  LIBRARY_INPUT_GRADIENT, /* x of y and w, whose convolution has y's gradient */
  LIBRARY_WEIGHT_GRADIENT /* w of x and y */
} LibraryWork;

/* A convolution of x[images, height, width, channels] and w[features, window, channels / groups],
 * row-major, to y[images, out, features]; axes are height and width. */
typedef struct {
  DType dtype;
  int64_t images, size[2], channels, features, window[2], out[2];
  int64_t stride[2], padding[2], dilation[2], groups;
  bool tf32;
} LibraryConvolution;

typedef union {
  LibraryProduct product;
  LibraryConvolution convolution;
} LibraryShape;

/* The pointers of a call.  The operands `a` and `b` of convolutions have the order in which
 * LibraryWork names them. */
typedef struct {
  const char *a, *b, *bias, *scale_a, *scale_b;
  char *out;
  char *workspace; /* of library_call_workspace bytes */
} LibraryPointers;

typedef struct LibraryFunction LibraryFunction;
typedef struct LibraryCall LibraryCall;

/* The function of that name, "cublas.matmul"; NULL: there is none. */
const LibraryFunction *library_find(const char *name);
/* The functions for a kind of code, in the order of preference: the i-th; NULL: there are no more.
 * NEREID_PTX: GPUs; NEREID_C: CPUs. */
const LibraryFunction *library_of_kind(nereid_kind kind, int i);

/* The activation of that name, "none", "relu", "gelu_tanh"; the names are those of operators. */
LibraryActivation library_activation(const char *name);
const char *library_activation_name(LibraryActivation a);

/* The scales of that name: "none", "whole", "rows", "blocks". */
LibraryScales library_scales(const char *name);
const char *library_scales_name(LibraryScales s);

const char *library_name(const LibraryFunction *f);
nereid_kind library_kind(const LibraryFunction *f);
/* Bytes of memory that calls get beside their operands, at least. */
int64_t library_workspace(const LibraryFunction *f);
LibraryWork library_work(const LibraryFunction *f);
/* Does it compute convolutions in that dtype? */
bool library_convolves(const LibraryFunction *f, DType dtype);
/* Is there such a product, whatever its sizes are?  `bias` DT_NONE: without one. */
bool library_takes(const LibraryFunction *f, DType operands, DType out, DType bias,
                   LibraryActivation activation);

/* The version of the library that the device would use, "cublasLt 12.8.4"; NULL: it is not here.
 * Loads it; the text lives as long as the device. */
const char *library_version(nereid_device *d, const LibraryFunction *f);
/* The threads by which it computes products on this CPU, if library_times.h knows how long they
 * take on such a machine; else 0.  Loads the library. */
int library_threads(nereid_device *d, const LibraryFunction *f);
/* Can calls of it be prepared?  Loads the library, and makes its context on a GPU. */
bool library_is_usable(nereid_device *d, const LibraryFunction *f);
/* A number that changes when libraries of the device's kind come into the process, or folders are
 * named for them: those that are found may be others then.  Loads none. */
uint64_t library_places(nereid_device *d);
/* A call of these sizes: its algorithm is chosen now, one that needs at most `workspace` bytes.
 * NEREID_E_TOOL: the library is not here, or has no such function. */
int library_prepare(LibraryCall **out, nereid_device *d, const LibraryFunction *f,
                    const LibraryShape *shape, int64_t workspace);
/* Bytes that its algorithm needs of that workspace; 0: it takes none. */
int64_t library_call_workspace(const LibraryCall *c);
/* `stream` is the device's handle.  May be captured in a CUDA graph. */
int library_run(LibraryCall *c, const LibraryPointers *at, void *stream);
/* The call may be NULL. */
void library_end(LibraryCall *c);

#endif
