/* The part of cuDNN that convolutions use, from its documentation: functions of version 7, which
 * version 9 has as well. */
#ifndef NEREID_RUNTIME_LIBRARY_CUDNN_API_H
#define NEREID_RUNTIME_LIBRARY_CUDNN_API_H

#include <stddef.h>

typedef int DnnStatus;
typedef struct DnnHandle_ *DnnHandle;
typedef struct DnnTensor_ *DnnTensor;
typedef struct DnnFilter_ *DnnFilter;
typedef struct DnnConv_ *DnnConv;

enum { DNN_OK = 0 };
enum { DNN_FLOAT = 0, DNN_HALF = 2, DNN_BF16 = 9 };  /* cudnnDataType_t */
enum { DNN_NHWC = 1 };                               /* cudnnTensorFormat_t */
enum { DNN_CROSS_CORRELATION = 1 };                  /* cudnnConvolutionMode_t */
enum { DNN_DEFAULT = 0, DNN_TENSOR_OP = 1, DNN_CONVERTS = 2, DNN_FMA = 3 }; /* cudnnMathType_t */
enum { DNN_DETERMINISTIC = 1 };                      /* cudnnDeterminism_t */

/* cudnnConvolutionFwdAlgoPerf_t, and those of the gradients, which look the same. */
typedef struct {
  int algorithm;
  DnnStatus status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
} DnnResult;

/* X(name, symbol, parameters) */
#define CUDNN_FUNCTIONS(X)                                                                        \
  X(create, cudnnCreate, (DnnHandle * out))                                                       \
  X(destroy, cudnnDestroy, (DnnHandle h))                                                         \
  X(set_stream, cudnnSetStream, (DnnHandle h, void *stream))                                      \
  X(tensor_create, cudnnCreateTensorDescriptor, (DnnTensor * out))                                \
  X(tensor_destroy, cudnnDestroyTensorDescriptor, (DnnTensor t))                                  \
  X(tensor_set, cudnnSetTensor4dDescriptor,                                                       \
    (DnnTensor t, int format, int type, int n, int c, int h, int w))                              \
  X(filter_create, cudnnCreateFilterDescriptor, (DnnFilter * out))                                \
  X(filter_destroy, cudnnDestroyFilterDescriptor, (DnnFilter f))                                  \
  X(filter_set, cudnnSetFilter4dDescriptor,                                                       \
    (DnnFilter f, int type, int format, int k, int c, int h, int w))                              \
  X(conv_create, cudnnCreateConvolutionDescriptor, (DnnConv * out))                               \
  X(conv_destroy, cudnnDestroyConvolutionDescriptor, (DnnConv c))                                 \
  X(conv_set, cudnnSetConvolution2dDescriptor,                                                    \
    (DnnConv c, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, \
     int mode, int type))                                                                         \
  X(conv_groups, cudnnSetConvolutionGroupCount, (DnnConv c, int groups))                          \
  X(conv_math, cudnnSetConvolutionMathType, (DnnConv c, int math))                                \
  X(find, cudnnGetConvolutionForwardAlgorithm_v7,                                                 \
    (DnnHandle h, DnnTensor x, DnnFilter w, DnnConv c, DnnTensor y, int most, int *n,             \
     DnnResult *results))                                                                         \
  X(find_input, cudnnGetConvolutionBackwardDataAlgorithm_v7,                                      \
    (DnnHandle h, DnnFilter w, DnnTensor y, DnnConv c, DnnTensor x, int most, int *n,             \
     DnnResult *results))                                                                         \
  X(find_weight, cudnnGetConvolutionBackwardFilterAlgorithm_v7,                                   \
    (DnnHandle h, DnnTensor x, DnnTensor y, DnnConv c, DnnFilter w, int most, int *n,             \
     DnnResult *results))                                                                         \
  X(run, cudnnConvolutionForward,                                                                 \
    (DnnHandle h, const void *alpha, DnnTensor xd, const void *x, DnnFilter wd, const void *w,    \
     DnnConv c, int algorithm, void *workspace, size_t size, const void *beta, DnnTensor yd,      \
     void *y))                                                                                    \
  X(run_input, cudnnConvolutionBackwardData,                                                      \
    (DnnHandle h, const void *alpha, DnnFilter wd, const void *w, DnnTensor yd, const void *y,    \
     DnnConv c, int algorithm, void *workspace, size_t size, const void *beta, DnnTensor xd,      \
     void *x))                                                                                    \
  X(run_weight, cudnnConvolutionBackwardFilter,                                                   \
    (DnnHandle h, const void *alpha, DnnTensor xd, const void *x, DnnTensor yd, const void *y,    \
     DnnConv c, int algorithm, void *workspace, size_t size, const void *beta, DnnFilter wd,      \
     void *w))

typedef struct {
#define X(name, symbol, params) DnnStatus(*name) params;
  CUDNN_FUNCTIONS(X)
#undef X
} DnnApi;

#endif
