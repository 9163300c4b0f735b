/* Convolutions on GPUs by cuDNN, with the channels last.
 *
 * A handle has one stream at a time, so that calls of a device's threads take turns to start. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/device/cuda_state.h"
#include "runtime/library/cudnn_api.h"
#include "runtime/library/library_rows.h"
#include "runtime/support/error.h"

enum { WORKSPACE = 64 << 20, RESULTS = 16 };

typedef struct {
  DnnApi api;
  DnnHandle handle;
  pthread_mutex_t lock; /* of the handle's stream */
} Cudnn;

/* ---- loading ---- */

static bool find_functions(Library *l, DnnApi *api) {
  static const char *const symbols[] = {
#define X(name, symbol, params) #symbol,
      CUDNN_FUNCTIONS(X)
#undef X
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *f = dlsym(l->handle, symbols[i]);
    if (!f) return false;
    ((void **)api)[i] = f;
  }
  return true;
}

/* 91900 is 9.19.0; before version 9, 8907 was 8.9.7. */
static void write_version(Library *l) {
  size_t (*get)(void) = NULL;
  *(void **)&get = dlsym(l->handle, "cudnnGetVersion");
  size_t v = get ? get() : 0, major = v >= 90000 ? 10000 : 1000;
  snprintf(l->version, sizeof l->version, "cudnn %zu.%zu.%zu", v / major, v % major / 100, v % 100);
}

static bool create_handle(Library *l, Cudnn *c) {
  CUDA_ENTER_OR(l->device, false);
  CUDA_RELAX(l->device);
  (void)api;
  return c->api.create(&c->handle) == DNN_OK;
}

static bool open_cudnn(Library *l) {
  Cudnn *c = l->state = calloc(1, sizeof *c);
  if (c && find_functions(l, &c->api) && create_handle(l, c)) {
    pthread_mutex_init(&c->lock, NULL);
    write_version(l);
    return true;
  }
  free(c);
  l->state = NULL;
  return false;
}

static void close_cudnn(Library *l) {
  Cudnn *c = l->state;
  {
    CUDA_ENTER_OR(l->device, );
    CUDA_RELAX(l->device);
    (void)api;
    c->api.destroy(c->handle);
  }
  pthread_mutex_destroy(&c->lock);
  free(c);
}

/* ---- one convolution ---- */

typedef struct {
  DnnTensor x, y;
  DnnFilter w;
  DnnConv conv;
  int algorithm;
  size_t workspace;
} Convolution;

static int type_of(DType t) {
  return t == DT_F32 ? DNN_FLOAT : t == DT_F16 ? DNN_HALF : t == DT_BF16 ? DNN_BF16 : -1;
}

static bool convolves(DType t) { return type_of(t) >= 0; }

static int call_failed(const LibraryCall *c, DnnStatus s, const char *what) {
  char why[128];
  if (s == DNN_OK) return 0;
  snprintf(why, sizeof why, "%s failed with status %d", what, s);
  return library_refused(c, why);
}

/* Of f32; the default is TF32. */
static bool is_exact(const LibraryConvolution *p) { return p->dtype == DT_F32 && !p->tf32; }

static DnnStatus describe_tensors(const DnnApi *dnn, Convolution *m, const LibraryConvolution *p) {
  int type = type_of(p->dtype);
  DnnStatus s = dnn->tensor_create(&m->x);
  if (s == DNN_OK) s = dnn->tensor_create(&m->y);
  if (s == DNN_OK) s = dnn->filter_create(&m->w);
  if (s == DNN_OK)
    s = dnn->tensor_set(m->x, DNN_NHWC, type, (int)p->images, (int)p->channels, (int)p->size[0],
                        (int)p->size[1]);
  if (s == DNN_OK)
    s = dnn->tensor_set(m->y, DNN_NHWC, type, (int)p->images, (int)p->features, (int)p->out[0],
                        (int)p->out[1]);
  if (s != DNN_OK) return s;
  return dnn->filter_set(m->w, type, DNN_NHWC, (int)p->features, (int)(p->channels / p->groups),
                         (int)p->window[0], (int)p->window[1]);
}

static DnnStatus describe(const DnnApi *dnn, Convolution *m, const LibraryConvolution *p) {
  DnnStatus s = describe_tensors(dnn, m, p);
  if (s == DNN_OK) s = dnn->conv_create(&m->conv);
  if (s == DNN_OK)
    s = dnn->conv_set(m->conv, (int)p->padding[0], (int)p->padding[1], (int)p->stride[0],
                      (int)p->stride[1], (int)p->dilation[0], (int)p->dilation[1],
                      DNN_CROSS_CORRELATION, DNN_FLOAT);
  if (s == DNN_OK) s = dnn->conv_groups(m->conv, (int)p->groups);
  if (s != DNN_OK) return s;
  return dnn->conv_math(m->conv, is_exact(p)          ? DNN_FMA
                                 : p->dtype == DT_F32 ? DNN_DEFAULT
                                                      : DNN_TENSOR_OP);
}

static DnnStatus find(const LibraryCall *c, const Convolution *m, DnnResult *results, int *n) {
  const Cudnn *lib = c->library->state;
  const DnnApi *dnn = &lib->api;
  switch (c->function->work) {
    case LIBRARY_CONVOLUTION:
      return dnn->find(lib->handle, m->x, m->w, m->conv, m->y, RESULTS, n, results);
    case LIBRARY_INPUT_GRADIENT:
      return dnn->find_input(lib->handle, m->w, m->y, m->conv, m->x, RESULTS, n, results);
    default: return dnn->find_weight(lib->handle, m->x, m->y, m->conv, m->w, RESULTS, n, results);
  }
}

/* Each run gives the same bits, and numbers are those of the dtype. */
static bool is_usable(const LibraryCall *c, const DnnResult *r) {
  bool rounds = r->math == DNN_TENSOR_OP || r->math == DNN_CONVERTS;
  bool fits = !is_exact(&c->shape.convolution) || !rounds;
  return r->status == DNN_OK && r->memory <= WORKSPACE && fits &&
         r->determinism == DNN_DETERMINISTIC;
}

/* They are ordered by the time that cuDNN expects. */
static int choose_algorithm(const LibraryCall *c, Convolution *m) {
  const DnnApi *dnn = &((const Cudnn *)c->library->state)->api;
  DnnResult results[RESULTS];
  int n = 0, i = 0, code = call_failed(c, find(c, m, results, &n), "finding an algorithm");
  while (!code && i < n && !is_usable(c, &results[i])) i++;
  if (code || i == n) return code ? code : library_refused(c, "cuDNN has no algorithm for it");
  m->algorithm = results[i].algorithm;
  m->workspace = results[i].memory;
  if (is_exact(&c->shape.convolution)) return 0;
  return call_failed(c, dnn->conv_math(m->conv, results[i].math), "choosing its math");
}

static bool fits_int(const LibraryConvolution *p) {
  return p->images <= INT_MAX && p->size[0] <= INT_MAX && p->size[1] <= INT_MAX &&
         p->channels <= INT_MAX && p->features <= INT_MAX && p->out[0] <= INT_MAX &&
         p->out[1] <= INT_MAX;
}

static int prepare_convolution(LibraryCall *c) {
  const LibraryConvolution *p = &c->shape.convolution;
  const Cudnn *lib = c->library->state;
  CUDA_ENTER(c->library->device);
  CUDA_RELAX(c->library->device);
  (void)api;
  Convolution *m = c->state = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  if (!fits_int(p)) return library_refused(c, "sizes exceed 32 bits");
  int code = call_failed(c, describe(&lib->api, m, p), "describing it");
  return code ? code : choose_algorithm(c, m);
}

static DnnStatus start(const LibraryCall *c, const LibraryPointers *at) {
  static const float one = 1, zero = 0;
  const Cudnn *lib = c->library->state;
  const Convolution *m = c->state;
  const DnnApi *dnn = &lib->api;
  switch (c->function->work) {
    case LIBRARY_CONVOLUTION:
      return dnn->run(lib->handle, &one, m->x, at->a, m->w, at->b, m->conv, m->algorithm,
                      at->workspace, m->workspace, &zero, m->y, at->out);
    case LIBRARY_INPUT_GRADIENT:
      return dnn->run_input(lib->handle, &one, m->w, at->b, m->y, at->a, m->conv, m->algorithm,
                            at->workspace, m->workspace, &zero, m->x, at->out);
    default:
      return dnn->run_weight(lib->handle, &one, m->x, at->a, m->y, at->b, m->conv, m->algorithm,
                             at->workspace, m->workspace, &zero, m->w, at->out);
  }
}

static int run_convolution(LibraryCall *c, const LibraryPointers *at, void *stream) {
  Cudnn *lib = c->library->state;
  CUDA_ENTER(c->library->device);
  CUDA_RELAX(c->library->device); /* it may load code, and allocate memory for it */
  (void)api;
  pthread_mutex_lock(&lib->lock);
  DnnStatus s = lib->api.set_stream(lib->handle, stream);
  if (s == DNN_OK) s = start(c, at);
  pthread_mutex_unlock(&lib->lock);
  return call_failed(c, s, "starting it");
}

static void end_convolution(LibraryCall *c) {
  const DnnApi *dnn = &((const Cudnn *)c->library->state)->api;
  Convolution *m = c->state;
  if (m->conv) dnn->conv_destroy(m->conv);
  if (m->w) dnn->filter_destroy(m->w);
  if (m->y) dnn->tensor_destroy(m->y);
  if (m->x) dnn->tensor_destroy(m->x);
  free(m);
}

/* ---- rows ---- */

static const char *const files[] = {"libcudnn.so.9", "libcudnn.so.8", NULL};
static const char *const wheels[] = {"nvidia/cudnn/lib", NULL};

const LibraryFile library_cudnn = {"cuDNN", files, wheels, open_cudnn, close_cudnn};

#define CONVOLUTION(function_name, function_work)                                             \
  {                                                                                           \
    .name = function_name, .work = function_work, .file = &library_cudnn, .kind = NEREID_PTX, \
    .workspace = WORKSPACE, .convolves = convolves, .prepare = prepare_convolution,           \
    .run = run_convolution, .end = end_convolution                                            \
  }
const LibraryFunction library_cudnn_convolution =
    CONVOLUTION("cudnn.convolution", LIBRARY_CONVOLUTION);
const LibraryFunction library_cudnn_input_gradient =
    CONVOLUTION("cudnn.input_gradient", LIBRARY_INPUT_GRADIENT);
const LibraryFunction library_cudnn_weight_gradient =
    CONVOLUTION("cudnn.weight_gradient", LIBRARY_WEIGHT_GRADIENT);
