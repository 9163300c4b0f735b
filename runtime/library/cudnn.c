/* Convolutions on GPUs by cuDNN's graph interface, with the channels last: a graph of one
 * operation, for which cuDNN's heuristics name configurations of engines, the fastest first.
 *
 * A handle has one stream at a time, so that calls of a device's threads take turns to start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cuda_state.h"
#include "runtime/library/cudnn_api.h"
#include "runtime/library/library_rows.h"
#include "runtime/support/error.h"

enum { WORKSPACE = 64 << 20, CONFIGS = 64, ALIGNMENT = 16 };

/* 91900 is 9.19.0; before version 9, 8907 was 8.9.7. */
static void write_version(Library *l) {
  size_t v = library_version_number(l, "cudnnGetVersion"), major = v >= 90000 ? 10000 : 1000;
  snprintf(l->version, sizeof l->version, "cudnn %zu.%zu.%zu", v / major, v % major / 100, v % 100);
}

/* ---- one convolution ---- */

enum { TENSOR_W, TENSOR_X, TENSOR_Y, TENSORS }; /* in the order of an operation's attributes */

typedef struct {
  DnnDesc tensors[TENSORS], conv, operation, graph, config, plan, pack;
  LibraryPointers at; /* of `pack` */
  DnnStatus status;   /* the first failure of a function */
  const char *failed; /* its name */
} Convolution;

static const DnnApi *api_of(const LibraryCall *c) { return (const DnnApi *)c->library->functions; }

static int type_of(DType t) {
  return t == DT_F32 ? DNN_FLOAT : t == DT_F16 ? DNN_HALF : t == DT_BF16 ? DNN_BF16 : -1;
}

static bool convolves(DType t) { return type_of(t) >= 0; }

/* ---- descriptors: after a failure there are no more ---- */

static bool goes_on(Convolution *m, DnnStatus s, const char *what) {
  if (m->status == DNN_OK && s != DNN_OK) m->failed = what;
  if (m->status == DNN_OK) m->status = s;
  return m->status == DNN_OK;
}

static void create(const LibraryCall *c, DnnDesc *out, int type) {
  Convolution *m = c->state;
  if (m->status == DNN_OK) goes_on(m, api_of(c)->create(type, out), "cudnnBackendCreateDescriptor");
}

static void set(const LibraryCall *c, DnnDesc d, int name, int type, int count,
                const void *values) {
  Convolution *m = c->state;
  if (m->status == DNN_OK)
    goes_on(m, api_of(c)->set(d, name, type, count, values), "cudnnBackendSetAttribute");
}

static void finish(const LibraryCall *c, DnnDesc d) {
  Convolution *m = c->state;
  if (m->status == DNN_OK) goes_on(m, api_of(c)->finish(d), "cudnnBackendFinalize");
}

static void destroy(const LibraryCall *c, DnnDesc *d) {
  if (*d) api_of(c)->destroy(*d);
  *d = NULL;
}

static int failure(const LibraryCall *c) {
  const Convolution *m = c->state;
  char why[128];
  snprintf(why, sizeof why, "%s failed with status %d", m->failed, m->status);
  return library_refused(c, why);
}

/* ---- the graph ---- */

/* Sizes in cuDNN's order: images or features, channels, height, width. */
static void make_tensor(const LibraryCall *c, int which, int64_t n, int64_t channels,
                        const int64_t size[2]) {
  DnnDesc *d = &((Convolution *)c->state)->tensors[which];
  int64_t sizes[] = {n, channels, size[0], size[1]}, id = which + 1, alignment = ALIGNMENT;
  int64_t strides[] = {channels * size[0] * size[1], 1, channels * size[1], channels};
  int type = type_of(c->shape.convolution.dtype);
  create(c, d, DNN_TENSOR);
  set(c, *d, DNN_TENSOR_ID, DNN_T_INT, 1, &id);
  set(c, *d, DNN_TENSOR_TYPE, DNN_T_TYPE, 1, &type);
  set(c, *d, DNN_TENSOR_SIZES, DNN_T_INT, 4, sizes);
  set(c, *d, DNN_TENSOR_STRIDES, DNN_T_INT, 4, strides);
  set(c, *d, DNN_TENSOR_ALIGNMENT, DNN_T_INT, 1, &alignment);
  finish(c, *d);
}

static void make_conv(const LibraryCall *c) {
  const LibraryConvolution *p = &c->shape.convolution;
  DnnDesc *d = &((Convolution *)c->state)->conv;
  int type = DNN_FLOAT, mode = DNN_CROSS_CORRELATION;
  int64_t axes = 2;
  create(c, d, DNN_CONVOLUTION);
  set(c, *d, DNN_CONV_AXES, DNN_T_INT, 1, &axes);
  set(c, *d, DNN_CONV_TYPE, DNN_T_TYPE, 1, &type);
  set(c, *d, DNN_CONV_MODE, DNN_T_MODE, 1, &mode);
  set(c, *d, DNN_CONV_PADDING_BEFORE, DNN_T_INT, 2, p->padding);
  set(c, *d, DNN_CONV_PADDING_AFTER, DNN_T_INT, 2, p->padding);
  set(c, *d, DNN_CONV_DILATIONS, DNN_T_INT, 2, p->dilation);
  set(c, *d, DNN_CONV_STRIDES, DNN_T_INT, 2, p->stride);
  finish(c, *d);
}

static const struct {
  int desc, attributes;
} operations[] = {[LIBRARY_CONVOLUTION] = {DNN_FORWARD, DNN_FORWARD_ALPHA},
                  [LIBRARY_INPUT_GRADIENT] = {DNN_BACKWARD_INPUT, DNN_BACKWARD_INPUT_ALPHA},
                  [LIBRARY_WEIGHT_GRADIENT] = {DNN_BACKWARD_WEIGHT, DNN_BACKWARD_WEIGHT_ALPHA}};

/* The number of groups is what the channels of x are of those of w. */
static void make_graph(const LibraryCall *c) {
  const LibraryConvolution *p = &c->shape.convolution;
  Convolution *m = c->state;
  int at = operations[c->function->work].attributes;
  float one = 1, zero = 0;
  make_tensor(c, TENSOR_W, p->features, p->channels / p->groups, p->window);
  make_tensor(c, TENSOR_X, p->images, p->channels, p->size);
  make_tensor(c, TENSOR_Y, p->images, p->features, p->out);
  make_conv(c);
  create(c, &m->operation, operations[c->function->work].desc);
  set(c, m->operation, at, DNN_T_FLOAT, 1, &one);
  set(c, m->operation, at + 1, DNN_T_FLOAT, 1, &zero);
  set(c, m->operation, at + 2, DNN_T_DESC, 1, &m->conv);
  for (int i = 0; i < TENSORS; i++) set(c, m->operation, at + 3 + i, DNN_T_DESC, 1, &m->tensors[i]);
  finish(c, m->operation);
  create(c, &m->graph, DNN_GRAPH);
  set(c, m->graph, DNN_GRAPH_HANDLE, DNN_T_HANDLE, 1, &c->library->context);
  set(c, m->graph, DNN_GRAPH_OPERATIONS, DNN_T_DESC, 1, &m->operation);
  finish(c, m->graph);
}

/* ---- the algorithm ---- */

/* Bit i: the engine has note i. */
static uint32_t notes_of(const LibraryCall *c, DnnDesc engine, int name, int type) {
  int notes[DNN_NOTES_MOST] = {0};
  int64_t n = 0;
  uint32_t bits = 0;
  if (api_of(c)->get(engine, name, type, DNN_NOTES_MOST, &n, notes) != DNN_OK) return 0;
  for (int64_t i = 0; i < n && i < DNN_NOTES_MOST; i++) bits |= 1u << (notes[i] & 31);
  return bits;
}

/* Each run gives the same bits, sums are of f32, and so are operands of f32, unless TF32 may be. */
static bool is_right(const LibraryCall *c, uint32_t notes) {
  const LibraryConvolution *p = &c->shape.convolution;
  uint32_t never = 1u << DNN_NONDETERMINISTIC | 1u << DNN_REDUCED_SUMS;
  if (p->dtype == DT_F32 && !p->tf32) never |= 1u << DNN_TENSOR_CORE | 1u << DNN_CONVERTS;
  return !(notes & never);
}

/* Engines that are compiled now take seconds. */
static bool is_usable(const LibraryCall *c, DnnDesc config, bool compiles) {
  const DnnApi *dnn = api_of(c);
  DnnDesc engine = NULL;
  int64_t n = 0;
  if (dnn->create(DNN_ENGINE, &engine) != DNN_OK) return false;
  bool usable = dnn->get(config, DNN_CONFIG_ENGINE, DNN_T_DESC, 1, &n, &engine) == DNN_OK;
  if (usable)
    usable = is_right(c, notes_of(c, engine, DNN_ENGINE_NUMERICAL_NOTES, DNN_T_NUMERICAL_NOTE)) &&
             (notes_of(c, engine, DNN_ENGINE_BEHAVIOR_NOTES, DNN_T_BEHAVIOR_NOTE) >> DNN_COMPILES &
              1) == compiles;
  dnn->destroy(engine);
  return usable;
}

/* False: the engine does not take these sizes, or needs too much memory. */
static bool make_plan(LibraryCall *c, DnnDesc config) {
  const DnnApi *dnn = api_of(c);
  Convolution *m = c->state;
  int64_t workspace = 0, n = 0;
  if (dnn->create(DNN_PLAN, &m->plan) != DNN_OK) return false;
  if (dnn->set(m->plan, DNN_PLAN_HANDLE, DNN_T_HANDLE, 1, &c->library->context) == DNN_OK &&
      dnn->set(m->plan, DNN_PLAN_CONFIG, DNN_T_DESC, 1, &config) == DNN_OK &&
      dnn->finish(m->plan) == DNN_OK &&
      dnn->get(m->plan, DNN_PLAN_WORKSPACE, DNN_T_INT, 1, &n, &workspace) == DNN_OK &&
      workspace <= c->workspace) {
    c->workspace = workspace;
    return true;
  }
  destroy(c, &m->plan);
  return false;
}

/* What a way of the heuristics names, the fastest first; returns how many. */
static int find_configs(const LibraryCall *c, int mode, DnnDesc configs[CONFIGS]) {
  const DnnApi *dnn = api_of(c);
  const Convolution *m = c->state;
  DnnDesc heuristic = NULL;
  int64_t n = 0, made = 0;
  DnnStatus s = dnn->create(DNN_HEURISTIC, &heuristic);
  if (s == DNN_OK) s = dnn->set(heuristic, DNN_HEURISTIC_GRAPH, DNN_T_DESC, 1, &m->graph);
  if (s == DNN_OK) s = dnn->set(heuristic, DNN_HEURISTIC_MODE, DNN_T_HEURISTIC, 1, &mode);
  if (s == DNN_OK) s = dnn->finish(heuristic);
  while (s == DNN_OK && made < CONFIGS && dnn->create(DNN_CONFIG, &configs[made]) == DNN_OK) made++;
  if (s == DNN_OK) s = dnn->get(heuristic, DNN_HEURISTIC_RESULTS, DNN_T_DESC, made, &n, configs);
  if (heuristic) dnn->destroy(heuristic);
  n = s != DNN_OK ? 0 : n < made ? n : made;
  while (made > n) destroy(c, &configs[--made]);
  return (int)n;
}

static bool choose_of_mode(LibraryCall *c, int mode) {
  Convolution *m = c->state;
  DnnDesc configs[CONFIGS];
  int n = find_configs(c, mode, configs);
  for (int compiles = 0; compiles < 2; compiles++)
    for (int i = 0; i < n && !m->plan; i++) {
      if (!is_usable(c, configs[i], compiles) || !make_plan(c, configs[i])) continue;
      m->config = configs[i];
      configs[i] = NULL;
    }
  for (int i = 0; i < n; i++) destroy(c, &configs[i]);
  return m->plan;
}

static int prepare_convolution(LibraryCall *c) {
  CUDA_ENTER(c->library->device);
  CUDA_RELAX(c->library->device);
  (void)api;
  Convolution *m = c->state = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  pthread_mutex_lock(&c->library->lock);
  make_graph(c);
  bool found = m->status == DNN_OK &&
               (choose_of_mode(c, DNN_HEURISTIC_A) || choose_of_mode(c, DNN_HEURISTIC_FALLBACK));
  pthread_mutex_unlock(&c->library->lock);
  if (m->status != DNN_OK) return failure(c);
  return found ? 0 : library_refused(c, "cuDNN has no algorithm for it");
}

/* ---- runs ---- */

static void make_pack(const LibraryCall *c, const LibraryPointers *at) {
  Convolution *m = c->state;
  LibraryWork work = c->function->work;
  const void *x = work == LIBRARY_INPUT_GRADIENT ? at->out : at->a;
  const void *w = work == LIBRARY_WEIGHT_GRADIENT ? at->out : at->b;
  const void *y = work == LIBRARY_CONVOLUTION      ? at->out
                  : work == LIBRARY_INPUT_GRADIENT ? at->a
                                                   : at->b;
  const void *pointers[TENSORS] = {[TENSOR_W] = w, [TENSOR_X] = x, [TENSOR_Y] = y};
  int64_t ids[TENSORS] = {TENSOR_W + 1, TENSOR_X + 1, TENSOR_Y + 1};
  destroy(c, &m->pack);
  create(c, &m->pack, DNN_PACK);
  set(c, m->pack, DNN_PACK_POINTERS, DNN_T_POINTER, TENSORS, pointers);
  set(c, m->pack, DNN_PACK_IDS, DNN_T_INT, TENSORS, ids);
  set(c, m->pack, DNN_PACK_WORKSPACE, DNN_T_POINTER, 1, &at->workspace);
  finish(c, m->pack);
  m->at = *at;
}

static int run_convolution(LibraryCall *c, const LibraryPointers *at, void *stream) {
  Library *l = c->library;
  const DnnApi *dnn = api_of(c);
  Convolution *m = c->state;
  CUDA_ENTER(l->device);
  CUDA_RELAX(l->device); /* it may load code, and allocate memory for it */
  (void)api;
  m->status = DNN_OK;
  if (!m->pack || memcmp(at, &m->at, sizeof *at)) make_pack(c, at);
  if (m->status != DNN_OK) return failure(c);
  pthread_mutex_lock(&l->lock);
  if (goes_on(m, dnn->set_stream(l->context, stream), "cudnnSetStream"))
    goes_on(m, dnn->run(l->context, m->plan, m->pack), "cudnnBackendExecute");
  pthread_mutex_unlock(&l->lock);
  return m->status == DNN_OK ? 0 : failure(c);
}

static void end_convolution(LibraryCall *c) {
  Convolution *m = c->state;
  destroy(c, &m->pack);
  destroy(c, &m->plan);
  destroy(c, &m->config);
  destroy(c, &m->graph);
  destroy(c, &m->operation);
  destroy(c, &m->conv);
  for (int i = 0; i < TENSORS; i++) destroy(c, &m->tensors[i]);
  free(m);
}

/* ---- rows ---- */

static const char *const files[] = {"libcudnn.so.9", "libcudnn.so.8", NULL};
static const char *const wheels[] = {"nvidia/cudnn/lib", NULL};
static const char *const symbols[] = {
#define X(name, symbol, params) #symbol,
    CUDNN_FUNCTIONS(X)
#undef X
        NULL};
_Static_assert(sizeof(DnnApi) <= sizeof(((Library *)0)->functions), "each has a place");

const LibraryFile library_cudnn = {.name = "cuDNN",
                                   .files = files,
                                   .wheels = wheels,
                                   .symbols = symbols,
                                   .has_context = true,
                                   .write_version = write_version};

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
