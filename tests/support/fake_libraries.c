/* Libraries for tests, which compute on the host: a BLAS, oneDNN's dnnl_sgemm, and cuBLASLt as far
 * as products need it, of f32, f16 and bf16.  FAKE_LIBRARIES_LOG names the file to which calls are
 * written; FAKE_LIBRARIES=lacks makes cuBLASLt find no algorithm, =fails products fail,
 * =idle products end at once, without a result, and =slow after 20 ms.  FAKE_LIBRARIES_VERSION is
 * the BLAS's. */
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
  int transpose_a, transpose_b, epilogue, bias_type;
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
API int cublasLtCreate(void **out) { return *out = malloc(1), 0; }
API int cublasLtDestroy(void *h) { return free(h), 0; }

API int cublasLtMatmulDescCreate(Desc **out, int compute, int scale) {
  *out = calloc(1, sizeof **out);
  (*out)->epilogue = 1;
  return compute != 68 || scale != F32;
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
static int is_captured(void *stream, const Product *p) {
  int (*capture)(void *, void (*)(const void *), const void *, size_t) = NULL;
  const char *path = getenv("NEREID_LIBCUDA");
  void *driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  if (driver) *(void **)&capture = dlsym(driver, "fake_capture");
  return capture && capture(stream, run_product, p, sizeof *p);
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
  snprintf(what, sizeof what, "%dx %d %d %d %s%s %d", ol->batches, (int)ol->columns, (int)ol->rows,
           (int)(d->transpose_a ? al->rows : al->columns), d->transpose_b ? "T" : "N",
           d->transpose_a ? "T" : "N", d->epilogue);
  write_call("cublasLtMatmul", what);
  Product p = {*d, *al, *bl, *ol, a, b, out};
  if (!is_captured(stream, &p)) run_product(&p);
  return 0;
}
