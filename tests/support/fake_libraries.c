/* Libraries for tests, which compute on the host: a BLAS, oneDNN's dnnl_sgemm, and cuBLASLt and
 * cuDNN as far as products and convolutions need them, of f32, f16 and bf16.
 *
 * FAKE_LIBRARIES_LOG names the file to which calls are written.  FAKE_LIBRARIES=lacks makes
 * cuBLASLt and cuDNN find no algorithm, =refuses make no context, =fails calls fail, =idle products
 * end at once, without a result, and =slow those of the BLAS after 20 ms; =frugal makes cuBLASLt
 * need no workspace.
 * FAKE_LIBRARIES_VERSION is the BLAS's, FAKE_LIBRARIES_THREADS the number of MKL's threads. */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
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

enum { F32 = 0, F16 = 2, BF16 = 14, E4M3 = 28, E5M2 = 29 };

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

/* e4m3 without infinities, or e5m2. */
static float of_float8(int bits, int mantissa) {
  int exponent = bits >> mantissa & ((1 << (7 - mantissa)) - 1);
  int part = bits & ((1 << mantissa) - 1);
  int bias = (1 << (6 - mantissa)) - 1;
  if (mantissa == 3 && (bits & 127) == 127) return NAN;
  if (mantissa == 2 && exponent == 31) return part ? NAN : bits & 128 ? -INFINITY : INFINITY;
  float x = ldexpf((float)(part + (exponent ? 1 << mantissa : 0)),
                   (exponent ? exponent : 1) - bias - mantissa);
  return bits & 128 ? -x : x;
}

static float get(int type, const void *at, int64_t i) {
  if (type == F32) return ((const float *)at)[i];
  const uint8_t *bytes = at;
  if (type == E4M3 || type == E5M2) return of_float8(bytes[i], type == E4M3 ? 3 : 2);
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

/* Checks calls that allocate: handles, and the first start of an algorithm, whose code is
 * loaded. */
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

/* MKL's, which PyTorch's library has. */
API int mkl_get_max_threads(void) {
  const char *threads = getenv("FAKE_LIBRARIES_THREADS");
  return threads ? atoi(threads) : 1;
}

/* Fortran's, which PyTorch's library has: columns are in memory. */
API void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
                const float *beta, float *c, const int *ldc) {
  char what[64];
  if (*alpha != 1 || *beta != 0 || *ldc < *m) abort();
  snprintf(what, sizeof what, "%d %d %d", *m, *n, *k);
  write_call("sgemm_", what);
  sgemm(*tb == 'T', *ta == 'T', *n, *m, *k, b, *ldb, a, *lda, c, *ldc);
}

API void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                const double *alpha, const double *a, const int *lda, const double *b,
                const int *ldb, const double *beta, double *c, const int *ldc) {
  char what[64];
  if (*alpha != 1 || *beta != 0 || *ldc < *m) abort();
  snprintf(what, sizeof what, "%d %d %d", *m, *n, *k);
  write_call("dgemm_", what);
  for (int64_t i = 0; i < *n; i++)
    for (int64_t j = 0; j < *m; j++) {
      double sum = 0;
      for (int64_t x = 0; x < *k; x++)
        sum += (*tb == 'T' ? b[x * *ldb + i] : b[i * *ldb + x]) *
               (*ta == 'T' ? a[j * *lda + x] : a[x * *lda + j]);
      c[i * *ldc + j] = sum;
    }
}

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
  int transpose_a, transpose_b, epilogue, bias_type, tf32, mode_a, mode_b;
  int8_t fast;
  const void *bias;
  const float *scale_a, *scale_b;
} Desc;

typedef struct {
  int type, batches;
  int64_t rows, columns, ld, stride;
} Layout;

typedef struct {
  uint64_t workspace;
  uint32_t alignment[4], sums;
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

static size_t workspace_needed(void) { return setting_is("frugal") ? 0 : 1024; }

API size_t cublasLtGetVersion(void) { return 130102; }
API int cublasLtCreate(void **out) {
  if (setting_is("refuses")) return 1;
  return *out = malloc(1), cannot_allocate();
}
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
             : attribute == 17 ? (void *)&d->scale_a
             : attribute == 18 ? (void *)&d->scale_b
             : attribute == 25 ? (void *)&d->fast
             : attribute == 26 ? (void *)&d->bias_type
             : attribute == 31 ? (void *)&d->mode_a
             : attribute == 32 ? (void *)&d->mode_b
                               : NULL;
  bool pointer = attribute == 8 || attribute == 17 || attribute == 18;
  if (!to || size != (pointer ? 8 : attribute == 25 ? 1 : 4)) return 7;
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
  if (attribute == 3 && size == 4) return memcpy(&p->sums, value, size), 0;
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
  if (!fits(d, a, b, c) || c != out || most < 1) return 7;
  if (p->workspace < workspace_needed() || p->sums != 2) return 7;
  *n = !setting_is("lacks");
  results[0] = (Result){.workspace = workspace_needed(), .waves = 1};
  return 0;
}

static float activate(int epilogue, float x) {
  if (epilogue & 2) return x > 0 ? x : 0;
  double cube = 0.044715 * x * x * x;
  return epilogue & 32 ? (float)(0.5 * x * (1 + tanh(0.7978845608028654 * (x + cube)))) : x;
}

static bool is_float8(int type) { return type == E4M3 || type == E5M2; }

/* The scale of element x of k of a line of an operand: of the whole, of lines, of 1x128 elements
 * with lines next to each other, of 128x128 with k next to each other. */
static double scale_of(int mode, const float *scale, int64_t line, int64_t lines, int64_t x,
                       int64_t k) {
  if (!scale) return 1;
  return mode == 0   ? scale[0]
         : mode == 3 ? scale[line]
         : mode == 4 ? scale[x / 128 * lines + line]
                     : scale[line / 128 * (k / 128) + x / 128];
}

static void compute(const Product *p, int64_t batch) {
  const Desc *d = &p->desc;
  int64_t k = d->transpose_a ? p->al.rows : p->al.columns;
  for (int64_t i = 0; i < p->cl.rows; i++)
    for (int64_t j = 0; j < p->cl.columns; j++) {
      double sum = 0;
      for (int64_t x = 0; x < k; x++)
        sum += scale_of(d->mode_a, d->scale_a, i, p->cl.rows, x, k) *
               scale_of(d->mode_b, d->scale_b, j, p->cl.columns, x, k) *
               get(p->al.type, p->a,
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
  if (*alpha != 1 || *beta != 0 || c != out || cl != ol || !algorithm) return 7;
  if (setting_is("fails")) return 13;
  if (size != workspace_needed() || (size && !workspace) || (uintptr_t)workspace % 256) return 7;
  if (cannot_allocate()) return 14;
  snprintf(what, sizeof what, "%dx %d %d %d %s%s %d%s", ol->batches, (int)ol->columns,
           (int)ol->rows, (int)(d->transpose_a ? al->rows : al->columns),
           d->transpose_b ? "T" : "N", d->transpose_a ? "T" : "N", d->epilogue,
           d->tf32 ? " tf32" : "");
  if (is_float8(al->type) && (!d->transpose_a || d->transpose_b || !d->scale_a || !d->scale_b))
    return 15;
  if (is_float8(al->type))
    snprintf(what + strlen(what), sizeof what - strlen(what), " %d by %d%s", d->mode_b, d->mode_a,
             d->fast ? " fast" : "");
  write_call("cublasLtMatmul", what);
  if (setting_is("idle")) return 0;
  Product p = {*d, *al, *bl, *ol, a, b, out};
  if (!capture_work(stream, run_product, &p, sizeof p)) run_product(&p);
  return 0;
}

/* ---- cuDNN: channels last ---- */

enum { CUDNN_BF16 = 9, MEMORY = 512 };

static int type_of_cudnn(int64_t type) { return type == CUDNN_BF16 ? BF16 : (int)type; }

typedef struct {
  int type, n, c, h, w; /* of a filter: k, c, h, w */
} Tensor;

typedef struct {
  int pad[2], stride[2], dilation[2], groups;
} Conv;

enum { FORWARD, OF_INPUT, OF_WEIGHT };

typedef struct {
  Tensor x, w, y;
  Conv conv;
  int work;
  void *at[3]; /* w, x, y */
} Convolution;

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
                  sums[yi] += (double)get(x->type, p->at[1], xi) * get(w->type, p->at[0], wi);
                else if (p->work == OF_INPUT)
                  sums[xi] += (double)get(y->type, p->at[2], yi) * get(w->type, p->at[0], wi);
                else sums[wi] += (double)get(x->type, p->at[1], xi) * get(y->type, p->at[2], yi);
              }
}

static void run_convolution(const void *arg) {
  Convolution p;
  memcpy(&p, arg, sizeof p);
  const Tensor *out = p.work == FORWARD ? &p.y : p.work == OF_INPUT ? &p.x : &p.w;
  void *to = p.at[p.work == FORWARD ? 2 : p.work == OF_INPUT];
  int64_t count = (int64_t)out->n * out->c * out->h * out->w;
  double *sums = calloc((size_t)count + 1, sizeof *sums);
  convolve(&p, sums);
  for (int64_t i = 0; i < count; i++) put(out->type, to, i, (float)sums[i]);
  free(sums);
}

/* ---- cuDNN's descriptors: attributes by name, numbers as they came ---- */

enum {
  CONVOLUTION = 1,
  ENGINE = 2,
  CONFIG = 3,
  HEURISTIC = 4,
  PLAN = 5,
  OPERATION = 10, /* forward, of the weight, of the input */
  GRAPH = 15,
  PACK = 16,
  TENSOR = 17
};
enum { T_HANDLE, T_TYPE, T_BOOL, T_INT, T_FLOAT, T_POINTER = 6, T_DESC = 15 };
enum { VALUES = 4, ATTRIBUTES = 12 };

typedef struct {
  int name, type;
  int64_t n;
  union {
    int64_t i[VALUES];
    int e[VALUES];
    float f[VALUES];
    void *p[VALUES];
  };
} Attribute;

typedef struct Descriptor {
  int type, n, finished;
  Attribute attributes[ATTRIBUTES];
  int config; /* of a configuration and its engine: its number */
  int exact;  /* and it is for operands of f32 */
  const struct Descriptor *graph; /* of a configuration */
} Descriptor;

static void *current_stream;

API size_t cudnnGetVersion(void) { return 91900; }
API int cudnnCreate(void **out) {
  if (setting_is("refuses")) return 1;
  return *out = malloc(1), cannot_allocate();
}
API int cudnnDestroy(void *h) { return free(h), 0; }
API int cudnnSetStream(void *h, void *stream) { return (void)h, current_stream = stream, 0; }

API int cudnnBackendCreateDescriptor(int type, Descriptor **out) {
  *out = calloc(1, sizeof **out);
  (*out)->type = type;
  return 0;
}
API int cudnnBackendDestroyDescriptor(Descriptor *d) { return free(d), 0; }

API int cudnnBackendSetAttribute(Descriptor *d, int name, int type, int64_t n, const void *values) {
  size_t size = type == T_HANDLE || type == T_INT || type == T_POINTER || type == T_DESC ? 8 : 4;
  Attribute *a = &d->attributes[d->n++];
  if (n < 1 || n > VALUES || d->n > ATTRIBUTES || d->finished) return 2000;
  *a = (Attribute){.name = name, .type = type, .n = n};
  memcpy(a->i, values, size * (size_t)n);
  if (type != T_DESC) return 0;
  for (int64_t i = 0; i < n; i++)
    if (!((const Descriptor *)a->p[i])->finished) return 2004;
  return 0;
}

/* The attribute; one of another type or number of values is a mistake. */
static const Attribute *find(const Descriptor *d, int name, int type, int64_t n) {
  for (int i = 0; i < d->n; i++)
    if (d->attributes[i].name == name && d->attributes[i].type == type && d->attributes[i].n == n)
      return &d->attributes[i];
  fprintf(stderr, "descriptor %d has no attribute %d of type %d\n", d->type, name, type);
  abort();
}

static const Descriptor *part(const Descriptor *d, int name) {
  return find(d, name, T_DESC, 1)->p[0];
}

static Tensor tensor_of(const Descriptor *d) {
  const int64_t *size = find(d, 902, T_INT, 4)->i, *stride = find(d, 903, T_INT, 4)->i;
  if (stride[1] != 1 || stride[3] != size[1] || stride[2] != size[3] * stride[3]) abort();
  if (stride[0] != size[2] * stride[2] || find(d, 900, T_INT, 1)->i[0] != 16) abort();
  return (Tensor){type_of_cudnn(find(d, 901, T_TYPE, 1)->e[0]), (int)size[0], (int)size[1],
                  (int)size[2], (int)size[3]};
}

static void read_axes(const Descriptor *d, int name, int to[2]) {
  for (int i = 0; i < 2; i++) to[i] = (int)find(d, name, T_INT, 2)->i[i];
}

static Convolution convolution_of(const Descriptor *graph) {
  const Descriptor *o = part(graph, 801);
  int work = o->type == OPERATION ? FORWARD : o->type == OPERATION + 1 ? OF_WEIGHT : OF_INPUT;
  int base = work == FORWARD ? 700 : work == OF_INPUT ? 706 : 712, after[2];
  const Descriptor *c = part(o, base + 2);
  Convolution p = {.w = tensor_of(part(o, base + 3)), .x = tensor_of(part(o, base + 4)),
                   .y = tensor_of(part(o, base + 5)), .work = work};
  if (find(o, base, T_FLOAT, 1)->f[0] != 1 || find(o, base + 1, T_FLOAT, 1)->f[0] != 0) abort();
  if (find(c, 100, T_TYPE, 1)->e[0] != F32 || find(c, 101, 7, 1)->e[0] != 1) abort();
  if (find(c, 106, T_INT, 1)->i[0] != 2) abort();
  read_axes(c, 102, p.conv.dilation);
  read_axes(c, 103, p.conv.stride);
  read_axes(c, 104, after);
  read_axes(c, 105, p.conv.pad);
  if (memcmp(after, p.conv.pad, sizeof after)) abort();
  p.conv.groups = p.x.c / p.w.c;
  return p;
}

/* Do the sizes fit each other? */
static int is_convolution(const Convolution *p) {
  const Conv *c = &p->conv;
  int oh = (p->x.h + 2 * c->pad[0] - c->dilation[0] * (p->w.h - 1) - 1) / c->stride[0] + 1;
  int ow = (p->x.w + 2 * c->pad[1] - c->dilation[1] * (p->w.w - 1) - 1) / c->stride[1] + 1;
  return oh == p->y.h && ow == p->y.w && p->y.c == p->w.n && p->y.n == p->x.n &&
         p->w.c * c->groups == p->x.c;
}

/* The configurations: the first takes too much memory, the second's sums have no order, the third
 * rounds f32, the fourth is compiled when it is planned, the fifth does not take the sizes. */
enum { BIG, UNORDERED, ROUNDING, COMPILED, REFUSED, CHOSEN, CONFIGURATIONS };

API int cudnnBackendFinalize(Descriptor *d) {
  d->finished = 1;
  if (d->type == TENSOR) tensor_of(d);
  if (d->type == GRAPH) {
    Convolution p = convolution_of(d);
    return is_convolution(&p) && find(d, 800, T_HANDLE, 1)->p[0] ? 0 : 2000;
  }
  if (d->type == PLAN) return part(d, 401)->config == REFUSED ? 3000 : 0;
  return 0;
}

static int give_configs(const Descriptor *d, int64_t most, int64_t *count, Descriptor **out) {
  Convolution p = convolution_of(part(d, 201));
  int fallback = find(d, 200, 8, 1)->e[0] == 2, last = CHOSEN;
  if (setting_is("lacks")) last = p.x.type == F32 ? ROUNDING : UNORDERED;
  *count = 0;
  for (int i = 0; i < CONFIGURATIONS && *count < most; i++) {
    if (fallback ? i != UNORDERED : i > last) continue;
    out[*count]->finished = 1;
    out[*count]->exact = p.x.type == F32;
    out[*count]->graph = part(d, 201);
    out[(*count)++]->config = i;
  }
  return 0;
}

API int cudnnBackendGetAttribute(const Descriptor *d, int name, int type, int64_t most,
                                 int64_t *count, void *values) {
  *count = 1;
  if (most < 1) return 2000;
  if (name == 202 && type == T_DESC) return give_configs(d, most, count, values);
  if (name == 300 && type == T_DESC) {
    Descriptor *engine = *(Descriptor **)values;
    engine->config = d->config;
    engine->exact = d->exact;
    return 0;
  }
  if (name == 402 && type == T_INT) {
    *(int64_t *)values = part(d, 401)->config == BIG ? (int64_t)1 << 40 : MEMORY;
    return 0;
  }
  int *notes = values, at = 0;
  if (name == 1303 && type == 11) {
    if (d->config == UNORDERED) notes[at++] = 4;
    if (!d->exact || d->config == ROUNDING) notes[at++] = 0;
  } else if (name == 1305 && type == 19) {
    if (d->config == COMPILED) notes[at++] = 0;
  } else {
    return 2000;
  }
  *count = at;
  return 0;
}

API int cudnnBackendExecute(void *h, const Descriptor *plan, const Descriptor *pack) {
  static const char *const names[] = {"cudnnConvolutionForward", "cudnnConvolutionBackwardData",
                                      "cudnnConvolutionBackwardFilter"};
  static const int configs[] = {ROUNDING, CHOSEN};
  char what[128];
  const Descriptor *config = part(plan, 401);
  const Attribute *ids = find(pack, 1000, T_INT, 3), *pointers = find(pack, 1001, T_POINTER, 3);
  if (!h || find(plan, 400, T_HANDLE, 1)->p[0] != h || setting_is("fails")) return 5000;
  if (config->config != configs[config->exact]) return 5001;
  if (!find(pack, 1003, T_POINTER, 1)->p[0]) return 5002;
  if (cannot_allocate()) return 5003;
  Convolution p = convolution_of(config->graph);
  const Descriptor *operation = part(config->graph, 801);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int base = p.work == FORWARD ? 703 : p.work == OF_INPUT ? 709 : 715;
      const Descriptor *tensor = part(operation, base + i);
      if (find(tensor, 906, T_INT, 1)->i[0] == ids->i[j]) p.at[i] = pointers->p[j];
    }
  snprintf(what, sizeof what, "%dx%dx%dx%d by %dx%dx%d groups %d", p.x.n, p.x.h, p.x.w, p.x.c,
           p.w.n, p.w.h, p.w.w, p.conv.groups);
  write_call(names[p.work], what);
  if (!capture_work(current_stream, run_convolution, &p, sizeof p)) run_convolution(&p);
  return 0;
}
