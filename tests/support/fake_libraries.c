/* Libraries for tests, which compute on the host: a BLAS, oneDNN's dnnl_sgemm, and cuBLASLt and
 * cuDNN as far as products and convolutions need them, of f32, f16 and bf16.
 *
 * FAKE_LIBRARIES_LOG names the file to which calls are written.  FAKE_LIBRARIES=lacks makes
 * cuBLASLt and cuDNN find no algorithm, =fails calls fail, =idle products of the BLAS end at once,
 * without a result, and =slow after 20 ms.  FAKE_LIBRARIES_VERSION is the BLAS's. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

static void write_call(const char *name, const char *what) {
  const char *path = getenv("FAKE_LIBRARIES_LOG");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, "%s %s\n", name, what);
  fclose(f);
}

static int setting_is(const char *word) {
  const char *s = getenv("FAKE_LIBRARIES");
  return s && !strcmp(s, word);
}

/* ---- numbers: types as cuBLAS counts them ---- */

enum { F32 = 0, F16 = 2, BF16 = 14 };

static float of_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float x;
  return memcpy(&x, &wide, sizeof x), x;
}

static uint16_t to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (isnan(x)) return 0x7fc0;
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float get(int type, const void *at, int64_t i) {
  if (type == F32) return ((const float *)at)[i];
  uint16_t bits = ((const uint16_t *)at)[i];
  if (type == BF16) return of_bf16(bits);
  _Float16 half;
  return memcpy(&half, &bits, sizeof half), (float)half;
}

static void put(int type, void *at, int64_t i, float x) {
  if (type == F32) ((float *)at)[i] = x;
  else if (type == BF16) ((uint16_t *)at)[i] = to_bf16(x);
  else ((_Float16 *)at)[i] = (_Float16)x;
}

/* ---- the driver, which refuses that memory is allocated while a stream is captured ---- */

static void *driver_function(const char *name) {
  const char *path = getenv("NEREID_LIBCUDA");
  void *driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  return driver ? dlsym(driver, name) : NULL;
}

/* Of calls that allocate: handles, and the first start of an algorithm, whose code is loaded. */
static int cannot_allocate(void) {
  int (*allocate)(uint64_t *, size_t), (*release)(uint64_t), code;
  uint64_t memory;
  *(void **)&allocate = driver_function("cuMemAlloc_v2");
  *(void **)&release = driver_function("cuMemFree_v2");
  if (!allocate || !release) return 0;
  if ((code = allocate(&memory, 64))) return code;
  return release(memory);
}

/* ---- BLAS and oneDNN: row-major ---- */

static void sgemm(int ta, int tb, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                  const float *b, int64_t ldb, float *c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t x = 0; x < k; x++)
        sum += (double)a[ta ? x * lda + i : i * lda + x] * b[tb ? j * ldb + x : x * ldb + j];
      c[i * ldc + j] = (float)sum;
    }
}

#ifndef WITHOUT_BLAS
API const char *openblas_get_config(void) {
  const char *version = getenv("FAKE_LIBRARIES_VERSION");
  return version ? version : "OpenBLAS 0.0.1 a fake one";
}

API void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                     int lda, const float *b, int ldb, float beta, float *c, int ldc) {
  char what[64];
  if (order != 101 || alpha != 1 || beta != 0) abort();
  snprintf(what, sizeof what, "%d %d %d %d%d", m, n, k, ta == 112, tb == 112);
  write_call("cblas_sgemm", what);
  if (setting_is("slow")) usleep(20000);
  if (setting_is("idle")) return;
  sgemm(ta == 112, tb == 112, m, n, k, a, lda, b, ldb, c, ldc);
}
#endif

typedef struct {
  int major, minor, patch;
} Version;

API const Version *dnnl_version(void) {
  static const Version v = {3, 0, 1};
  return &v;
}

API int dnnl_sgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                   int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  char what[64];
  snprintf(what, sizeof what, "%d %d %d", (int)m, (int)n, (int)k);
  write_call("dnnl_sgemm", what);
  if (alpha != 1 || beta != 0 || setting_is("fails")) return 1;
  sgemm(ta == 'T', tb == 'T', m, n, k, a, lda, b, ldb, c, ldc);
  return 0;
}

/* ---- cuBLASLt: column-major ---- */

typedef struct {
  int transpose_a, transpose_b, epilogue, bias_type, tf32;
  const void *bias;
} Desc;

typedef struct {
  int type, batches;
  int64_t rows, columns, ld, stride;
} Layout;

typedef struct {
  uint64_t workspace;
  uint32_t alignment[4];
} Preference;

typedef struct {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Result;

typedef struct {
  Desc desc;
  Layout al, bl, cl;
  const void *a, *b;
  void *c;
} Product;

enum { WORKSPACE = 1024 };

API size_t cublasLtGetVersion(void) { return 130102; }
API int cublasLtCreate(void **out) { return *out = malloc(1), cannot_allocate(); }
API int cublasLtDestroy(void *h) { return free(h), 0; }

API int cublasLtMatmulDescCreate(Desc **out, int compute, int scale) {
  *out = calloc(1, sizeof **out);
  (*out)->epilogue = 1;
  (*out)->tf32 = compute == 77;
  return (compute != 68 && compute != 77) || scale != F32;
}
API int cublasLtMatmulDescDestroy(Desc *d) { return free(d), 0; }
API int cublasLtMatmulDescSetAttribute(Desc *d, int attribute, const void *value, size_t size) {
  void *to = attribute == 3    ? (void *)&d->transpose_a
             : attribute == 4  ? (void *)&d->transpose_b
             : attribute == 7  ? (void *)&d->epilogue
             : attribute == 8  ? (void *)&d->bias
             : attribute == 26 ? (void *)&d->bias_type
                               : NULL;
  if (!to || size != (attribute == 8 ? 8 : 4)) return 7;
  return memcpy(to, value, size), 0;
}

API int cublasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows, uint64_t columns,
                                   int64_t ld) {
  *out = malloc(sizeof **out);
  **out = (Layout){type, 1, (int64_t)rows, (int64_t)columns, ld, 0};
  return ld < (int64_t)rows ? 7 : 0;
}
API int cublasLtMatrixLayoutDestroy(Layout *l) { return free(l), 0; }
API int cublasLtMatrixLayoutSetAttribute(Layout *l, int attribute, const void *value, size_t size) {
  if (attribute == 5 && size == 4) return memcpy(&l->batches, value, size), 0;
  if (attribute == 6 && size == 8) return memcpy(&l->stride, value, size), 0;
  return 7;
}

API int cublasLtMatmulPreferenceCreate(Preference **out) {
  return *out = calloc(1, sizeof **out), 0;
}
API int cublasLtMatmulPreferenceDestroy(Preference *p) { return free(p), 0; }
API int cublasLtMatmulPreferenceSetAttribute(Preference *p, int attribute, const void *value,
                                             size_t size) {
  if (attribute == 1 && size == 8) return memcpy(&p->workspace, value, size), 0;
  if (attribute < 5 || attribute > 8 || size != 4) return 7;
  return memcpy(&p->alignment[attribute - 5], value, size), 0;
}

/* Do the sizes of a product fit each other? */
static int fits(const Desc *d, const Layout *a, const Layout *b, const Layout *c) {
  int64_t m = d->transpose_a ? a->columns : a->rows, ka = d->transpose_a ? a->rows : a->columns;
  int64_t n = d->transpose_b ? b->rows : b->columns, kb = d->transpose_b ? b->columns : b->rows;
  return m == c->rows && n == c->columns && ka == kb && a->batches == c->batches &&
         b->batches == c->batches;
}

API int cublasLtMatmulAlgoGetHeuristic(void *h, const Desc *d, const Layout *a, const Layout *b,
                                       const Layout *c, const Layout *out, const Preference *p,
                                       int most, Result *results, int *n) {
  (void)h;
  if (!fits(d, a, b, c) || c != out || most < 1 || p->workspace < WORKSPACE) return 7;
  *n = !setting_is("lacks");
  results[0] = (Result){.workspace = WORKSPACE, .waves = 1};
  return 0;
}

static float activate(int epilogue, float x) {
  if (epilogue & 2) return x > 0 ? x : 0;
  double cube = 0.044715 * x * x * x;
  return epilogue & 32 ? (float)(0.5 * x * (1 + tanh(0.7978845608028654 * (x + cube)))) : x;
}

static void compute(const Product *p, int64_t batch) {
  const Desc *d = &p->desc;
  int64_t k = d->transpose_a ? p->al.rows : p->al.columns;
  for (int64_t i = 0; i < p->cl.rows; i++)
    for (int64_t j = 0; j < p->cl.columns; j++) {
      double sum = 0;
      for (int64_t x = 0; x < k; x++)
        sum += (double)get(p->al.type, p->a,
                           batch * p->al.stride +
                               (d->transpose_a ? i * p->al.ld + x : x * p->al.ld + i)) *
               get(p->bl.type, p->b,
                   batch * p->bl.stride +
                       (d->transpose_b ? x * p->bl.ld + j : j * p->bl.ld + x));
      if (d->epilogue & 4) sum += get(d->bias_type, d->bias, i);
      put(p->cl.type, p->c, batch * p->cl.stride + j * p->cl.ld + i,
          activate(d->epilogue, (float)sum));
    }
}

static void run_product(const void *arg) {
  Product p;
  memcpy(&p, arg, sizeof p);
  for (int64_t i = 0; i < p.cl.batches; i++) compute(&p, i);
}

/* The fake driver keeps the work of a stream that is being captured. */
static int capture_work(void *stream, void (*run)(const void *), const void *work, size_t size) {
  int (*capture)(void *, void (*)(const void *), const void *, size_t) = NULL;
  *(void **)&capture = driver_function("fake_capture");
  return capture && capture(stream, run, work, size);
}

API int cublasLtMatmul(void *h, const Desc *d, const float *alpha, const void *a, const Layout *al,
                       const void *b, const Layout *bl, const float *beta, const void *c,
                       const Layout *cl, void *out, const Layout *ol, const void *algorithm,
                       void *workspace, size_t size, void *stream) {
  char what[128];
  (void)h;
  if (*alpha != 1 || *beta != 0 || c != out || cl != ol || !algorithm || !workspace) return 7;
  if (setting_is("fails")) return 13;
  if (size != WORKSPACE || (uintptr_t)workspace % 256) return 7;
  if (cannot_allocate()) return 14;
  snprintf(what, sizeof what, "%dx %d %d %d %s%s %d%s", ol->batches, (int)ol->columns,
           (int)ol->rows, (int)(d->transpose_a ? al->rows : al->columns),
           d->transpose_b ? "T" : "N", d->transpose_a ? "T" : "N", d->epilogue,
           d->tf32 ? " tf32" : "");
  write_call("cublasLtMatmul", what);
  Product p = {*d, *al, *bl, *ol, a, b, out};
  if (!capture_work(stream, run_product, &p, sizeof p)) run_product(&p);
  return 0;
}

/* ---- cuDNN: channels last ---- */

enum { CUDNN_BF16 = 9, NHWC = 1, FMA = 3, MEMORY = 512 };

static int type_of_cudnn(int type) { return type == CUDNN_BF16 ? BF16 : type; }

typedef struct {
  int type, n, c, h, w; /* of a filter: k, c, h, w */
} Tensor;

typedef struct {
  int pad[2], stride[2], dilation[2], groups, math;
} Conv;

enum { FORWARD, OF_INPUT, OF_WEIGHT };

typedef struct {
  Tensor x, w, y;
  Conv conv;
  int work;
  const void *a, *b;
  void *out;
} Convolution;

typedef struct {
  int algorithm, status;
  float time;
  size_t memory;
  int deterministic, math, reserved[3];
} Found;

static void *current_stream;

API size_t cudnnGetVersion(void) { return 91900; }
API int cudnnCreate(void **out) { return *out = malloc(1), cannot_allocate(); }
API int cudnnDestroy(void *h) { return free(h), 0; }
API int cudnnSetStream(void *h, void *stream) { return (void)h, current_stream = stream, 0; }
API int cudnnCreateTensorDescriptor(Tensor **out) { return *out = malloc(sizeof **out), 0; }
API int cudnnDestroyTensorDescriptor(Tensor *t) { return free(t), 0; }
API int cudnnSetTensor4dDescriptor(Tensor *t, int format, int type, int n, int c, int h, int w) {
  *t = (Tensor){type_of_cudnn(type), n, c, h, w};
  return format != NHWC;
}
API int cudnnCreateFilterDescriptor(Tensor **out) { return *out = malloc(sizeof **out), 0; }
API int cudnnDestroyFilterDescriptor(Tensor *t) { return free(t), 0; }
API int cudnnSetFilter4dDescriptor(Tensor *t, int type, int format, int k, int c, int h, int w) {
  *t = (Tensor){type_of_cudnn(type), k, c, h, w};
  return format != NHWC;
}
API int cudnnCreateConvolutionDescriptor(Conv **out) { return *out = calloc(1, sizeof **out), 0; }
API int cudnnDestroyConvolutionDescriptor(Conv *c) { return free(c), 0; }
API int cudnnSetConvolution2dDescriptor(Conv *c, int ph, int pw, int sh, int sw, int dh, int dw,
                                        int mode, int type) {
  *c = (Conv){{ph, pw}, {sh, sw}, {dh, dw}, 1, 0};
  return mode != 1 || type != 0;
}
API int cudnnSetConvolutionGroupCount(Conv *c, int groups) { return c->groups = groups, 0; }
API int cudnnSetConvolutionMathType(Conv *c, int math) { return c->math = math, 0; }

/* The first takes too much memory, the second one's sums have no order. */
static int find_algorithms(const Tensor *x, const Tensor *w, const Tensor *y, const Conv *c,
                           int most, int *n, Found *found) {
  int oh = (x->h + 2 * c->pad[0] - c->dilation[0] * (w->h - 1) - 1) / c->stride[0] + 1;
  int ow = (x->w + 2 * c->pad[1] - c->dilation[1] * (w->w - 1) - 1) / c->stride[1] + 1;
  if (oh != y->h || ow != y->w || y->c != w->n || y->n != x->n) return 3;
  if (w->c * c->groups != x->c) return 3;
  if (most < 3 || (x->type == F32) != (c->math == FMA)) return 3;
  for (int i = 0; i < 3; i++)
    found[i] = (Found){.algorithm = i, .memory = i ? MEMORY : (size_t)1 << 40, .math = c->math,
                       .deterministic = i != 1};
  *n = setting_is("lacks") ? 2 : 3;
  return 0;
}

API int cudnnGetConvolutionForwardAlgorithm_v7(void *h, const Tensor *x, const Tensor *w,
                                               const Conv *c, const Tensor *y, int most, int *n,
                                               Found *found) {
  return (void)h, find_algorithms(x, w, y, c, most, n, found);
}
API int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *h, const Tensor *w, const Tensor *y,
                                                    const Conv *c, const Tensor *x, int most,
                                                    int *n, Found *found) {
  return (void)h, find_algorithms(x, w, y, c, most, n, found);
}
API int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *h, const Tensor *x, const Tensor *y,
                                                      const Conv *c, const Tensor *w, int most,
                                                      int *n, Found *found) {
  return (void)h, find_algorithms(x, w, y, c, most, n, found);
}

static int64_t at(const Tensor *t, int n, int h, int w, int c) {
  return (((int64_t)n * t->h + h) * t->w + w) * t->c + c;
}

/* Adds to `sums`, which are elements of what is computed, for each pair of the others. */
static void convolve(const Convolution *p, double *sums) {
  const Tensor *x = &p->x, *w = &p->w, *y = &p->y;
  int features = w->n / p->conv.groups;
  for (int n = 0; n < y->n; n++)
    for (int oh = 0; oh < y->h; oh++)
      for (int ow = 0; ow < y->w; ow++)
        for (int k = 0; k < w->n; k++)
          for (int r = 0; r < w->h; r++)
            for (int s = 0; s < w->w; s++)
              for (int c = 0; c < w->c; c++) {
                int ih = oh * p->conv.stride[0] + r * p->conv.dilation[0] - p->conv.pad[0];
                int iw = ow * p->conv.stride[1] + s * p->conv.dilation[1] - p->conv.pad[1];
                if (ih < 0 || ih >= x->h || iw < 0 || iw >= x->w) continue;
                int64_t xi = at(x, n, ih, iw, k / features * w->c + c), wi = at(w, k, r, s, c);
                int64_t yi = at(y, n, oh, ow, k);
                if (p->work == FORWARD)
                  sums[yi] += (double)get(x->type, p->a, xi) * get(w->type, p->b, wi);
                else if (p->work == OF_INPUT)
                  sums[xi] += (double)get(y->type, p->a, yi) * get(w->type, p->b, wi);
                else sums[wi] += (double)get(x->type, p->a, xi) * get(y->type, p->b, yi);
              }
}

static void run_convolution(const void *arg) {
  Convolution p;
  memcpy(&p, arg, sizeof p);
  const Tensor *out = p.work == FORWARD ? &p.y : p.work == OF_INPUT ? &p.x : &p.w;
  int64_t count = (int64_t)out->n * out->c * out->h * out->w;
  double *sums = calloc((size_t)count + 1, sizeof *sums);
  convolve(&p, sums);
  for (int64_t i = 0; i < count; i++) put(out->type, p.out, i, (float)sums[i]);
  free(sums);
}

typedef struct {
  const float *alpha, *beta;
  int algorithm;
  const void *workspace;
  size_t size;
} How;

static int start_convolution(const char *name, const Convolution *p, How how) {
  char what[128];
  if (*how.alpha != 1 || *how.beta != 0 || how.algorithm != 2) return 3;
  if (how.size != MEMORY || !how.workspace || setting_is("fails")) return 3;
  if (cannot_allocate()) return 4;
  snprintf(what, sizeof what, "%dx%dx%dx%d by %dx%dx%d groups %d", p->x.n, p->x.h, p->x.w, p->x.c,
           p->w.n, p->w.h, p->w.w, p->conv.groups);
  write_call(name, what);
  if (!capture_work(current_stream, run_convolution, p, sizeof *p)) run_convolution(p);
  return 0;
}

API int cudnnConvolutionForward(void *h, const void *alpha, const Tensor *xd, const void *x,
                                const Tensor *wd, const void *w, const Conv *c, int algorithm,
                                void *workspace, size_t size, const void *beta, const Tensor *yd,
                                void *y) {
  Convolution p = {*xd, *wd, *yd, *c, FORWARD, x, w, y};
  (void)h;
  return start_convolution("cudnnConvolutionForward", &p,
                           (How){alpha, beta, algorithm, workspace, size});
}
API int cudnnConvolutionBackwardData(void *h, const void *alpha, const Tensor *wd, const void *w,
                                     const Tensor *yd, const void *y, const Conv *c, int algorithm,
                                     void *workspace, size_t size, const void *beta,
                                     const Tensor *xd, void *x) {
  Convolution p = {*xd, *wd, *yd, *c, OF_INPUT, y, w, x};
  (void)h;
  return start_convolution("cudnnConvolutionBackwardData", &p,
                           (How){alpha, beta, algorithm, workspace, size});
}
API int cudnnConvolutionBackwardFilter(void *h, const void *alpha, const Tensor *xd, const void *x,
                                       const Tensor *yd, const void *y, const Conv *c,
                                       int algorithm, void *workspace, size_t size,
                                       const void *beta, const Tensor *wd, void *w) {
  Convolution p = {*xd, *wd, *yd, *c, OF_WEIGHT, x, y, w};
  (void)h;
  return start_convolution("cudnnConvolutionBackwardFilter", &p,
                           (How){alpha, beta, algorithm, workspace, size});
}
