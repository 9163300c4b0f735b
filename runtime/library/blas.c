/* Products on CPUs: of f32 cblas_sgemm of any BLAS, dnnl_sgemm of oneDNN, and of f32 and f64 those
 * of the BLAS in PyTorch, where a process has that. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/target/machine.h"
#include "runtime/library/library_rows.h"
#include "runtime/support/error.h"

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

typedef void Sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef int DnnlSgemm(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                      float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                      float beta, float *c, int64_t ldc);

/* Fortran keeps columns of matrices in memory. */
typedef void FortranSgemm(const char *transpose_a, const char *transpose_b, const int *m,
                          const int *n, const int *k, const float *alpha, const float *a,
                          const int *lda, const float *b, const int *ldb, const float *beta,
                          float *c, const int *ldc);
typedef void FortranDgemm(const char *transpose_a, const char *transpose_b, const int *m,
                          const int *n, const int *k, const double *alpha, const double *a,
                          const int *lda, const double *b, const int *ldb, const double *beta,
                          double *c, const int *ldc);

/* dnnl_version_t, as far as it is looked at. */
typedef struct {
  int major, minor, patch;
} DnnlVersion;

static bool takes_f32(DType operands, DType out, DType bias, LibraryActivation activation) {
  return operands == DT_F32 && out == DT_F32 && bias == DT_NONE && activation == ACTIVATION_NONE;
}

static bool takes_f32_or_f64(DType operands, DType out, DType bias, LibraryActivation activation) {
  bool wide = operands == DT_F64 && out == DT_F64 && bias == DT_NONE && !activation;
  return wide || takes_f32(operands, out, bias, activation);
}

/* ---- loading ---- */

/* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
static void write_blas(Library *l) {
  const char *(*config)(void) = NULL;
  *(void **)&config = dlsym(l->handle, "openblas_get_config");
  const char *text = config ? config() : "unknown";
  const char *second = strchr(text, ' ');
  size_t len = second ? (size_t)(second + 1 - text) + strcspn(second + 1, " ") : strlen(text);
  snprintf(l->version, sizeof l->version, "blas %.*s", (int)len, text);
}

static void write_dnnl(Library *l) {
  const DnnlVersion *(*version)(void) = NULL;
  *(void **)&version = l->functions[1];
  const DnnlVersion *v = version();
  snprintf(l->version, sizeof l->version, "dnnl %d.%d.%d", v->major, v->minor, v->patch);
}

/* "torch Version 2024.2-Product Build 20240605".  MKL leaves out the text's first character. */
static void write_torch(Library *l) {
  enum { LEN = 100, KEPT = 44 };
  char text[LEN + 1] = "";
  void (*version)(char *, int) = NULL;
  *(void **)&version = dlsym(l->handle, "MKL_Get_Version_String");
  if (version) version(text, LEN);
  text[LEN] = 0;
  const char *at = strstr(text + 1, "Version");
  snprintf(l->version, sizeof l->version, "torch %.*s", KEPT, at ? at : "BLAS");
}

/* ---- calls ---- */

static bool host_is_intel(void) {
#ifdef __x86_64__
  enum { AVX512 = 16 }; /* lanes */
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") && machine_find("cpu")->lanes == AVX512;
#else
  return false;
#endif
}

typedef struct {
  LibraryLayout a, b;
} Layouts;

static bool fits_int(int64_t x) { return x <= INT_MAX; }

static int prepare_gemm(LibraryCall *c) {
  const LibraryProduct *p = &c->shape.product;
  Layouts *l = c->state = calloc(1, sizeof *l);
  if (!l) return error_out_of_memory();
  if (!library_layout(&p->a, p->m, p->k, &l->a) || !library_layout(&p->b, p->k, p->n, &l->b))
    return library_refused(c, "no axis of an operand is contiguous");
  bool small =
      fits_int(p->m) && fits_int(p->n) && fits_int(p->k) && fits_int(l->a.ld) && fits_int(l->b.ld);
  return small ? 0 : library_refused(c, "sizes exceed 32 bits");
}

static void end_gemm(LibraryCall *c) { free(c->state); }

typedef struct {
  const float *a, *b;
  float *out;
} Operands;

/* The operands of one matrix of the batch. */
static Operands operands_of(const LibraryProduct *p, const LibraryPointers *at, int64_t batch) {
  return (Operands){(const float *)at->a + p->a.offset + batch * p->a.batch,
                    (const float *)at->b + p->b.offset + batch * p->b.batch,
                    (float *)at->out + batch * p->m * p->n};
}

static int run_blas(LibraryCall *c, const LibraryPointers *at, void *stream) {
  (void)stream;
  const LibraryProduct *p = &c->shape.product;
  const Layouts *l = c->state;
  Sgemm *sgemm;
  *(void **)&sgemm = c->library->functions[0];
  for (int64_t i = 0; i < p->batch; i++) {
    Operands x = operands_of(p, at, i);
    sgemm(ROW_MAJOR, l->a.transposed ? TRANSPOSE : NO_TRANSPOSE,
          l->b.transposed ? TRANSPOSE : NO_TRANSPOSE, (int)p->m, (int)p->n, (int)p->k, 1, x.a,
          (int)l->a.ld, x.b, (int)l->b.ld, 0, x.out, (int)p->n);
  }
  return 0;
}

/* Threads of the MKL that PyTorch's wheels for x86 hold, on a processor of Intel's whose vectors
 * have 512 bits; 0 elsewhere, where no times are known. */
static int threads_of_torch(const Library *l) {
  int (*threads)(void) = NULL;
  *(void **)&threads = dlsym(l->handle, "mkl_get_max_threads");
  return threads && host_is_intel() ? threads() : 0;
}

/* A product as a call of Fortran's takes it: a row of ours is a column of theirs, y^T = b^T a^T. */
typedef struct {
  const char *turn_a, *turn_b;
  int m, n, k, lda, ldb;
} FortranGemm;

static void call_sgemm(const Library *l, const FortranGemm *g, const float *a, const float *b,
                       float *out) {
  FortranSgemm *sgemm;
  *(void **)&sgemm = l->functions[0];
  const float one = 1, zero = 0;
  sgemm(g->turn_b, g->turn_a, &g->n, &g->m, &g->k, &one, b, &g->ldb, a, &g->lda, &zero, out, &g->n);
}

static void call_dgemm(const Library *l, const FortranGemm *g, const double *a, const double *b,
                       double *out) {
  FortranDgemm *dgemm;
  *(void **)&dgemm = l->functions[1];
  const double one = 1, zero = 0;
  dgemm(g->turn_b, g->turn_a, &g->n, &g->m, &g->k, &one, b, &g->ldb, a, &g->lda, &zero, out, &g->n);
}

/* It has PyTorch's threads. */
static int run_torch(LibraryCall *c, const LibraryPointers *at, void *stream) {
  (void)stream;
  const LibraryProduct *p = &c->shape.product;
  const Layouts *l = c->state;
  FortranGemm g = {l->a.transposed ? "T" : "N", l->b.transposed ? "T" : "N", (int)p->m, (int)p->n,
                   (int)p->k, (int)l->a.ld, (int)l->b.ld};
  if (!g.m || !g.n) return 0; /* leading dimensions of 0 are refused */
  for (int64_t i = 0; i < p->batch; i++) {
    int64_t a = p->a.offset + i * p->a.batch, b = p->b.offset + i * p->b.batch;
    int64_t out = i * p->m * p->n;
    if (p->a.dtype == DT_F64)
      call_dgemm(c->library, &g, (const double *)at->a + a, (const double *)at->b + b,
                 (double *)at->out + out);
    else
      call_sgemm(c->library, &g, (const float *)at->a + a, (const float *)at->b + b,
                 (float *)at->out + out);
  }
  return 0;
}

static int run_dnnl(LibraryCall *c, const LibraryPointers *at, void *stream) {
  (void)stream;
  const LibraryProduct *p = &c->shape.product;
  const Layouts *l = c->state;
  DnnlSgemm *sgemm;
  *(void **)&sgemm = c->library->functions[0];
  for (int64_t i = 0; i < p->batch; i++) {
    Operands x = operands_of(p, at, i);
    int status = sgemm(l->a.transposed ? 'T' : 'N', l->b.transposed ? 'T' : 'N', p->m, p->n, p->k,
                       1, x.a, l->a.ld, x.b, l->b.ld, 0, x.out, p->n);
    if (status) return library_refused(c, "dnnl_sgemm failed");
  }
  return 0;
}

/* ---- rows ---- */

static const char *const no_wheels[] = {NULL};
static const char *const blas_files[] = {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2",
                                         "libblis.so.4",     "libblas.so.3",   NULL};
static const char *const dnnl_files[] = {"libdnnl.so.3", "libdnnl.so.2", NULL};

static const char *const torch_files[] = {"libtorch_cpu.so", NULL};

static const char *const blas_symbols[] = {"cblas_sgemm", NULL};
static const char *const dnnl_symbols[] = {"dnnl_sgemm", "dnnl_version", NULL};
static const char *const torch_symbols[] = {"sgemm_", "dgemm_", NULL};

const LibraryFile library_blas = {.name = "BLAS",
                                  .files = blas_files,
                                  .wheels = no_wheels,
                                  .symbols = blas_symbols,
                                  .write_version = write_blas};
const LibraryFile library_dnnl = {.name = "oneDNN",
                                  .files = dnnl_files,
                                  .wheels = no_wheels,
                                  .symbols = dnnl_symbols,
                                  .write_version = write_dnnl};

const LibraryFile library_torch = {.name = "PyTorch's BLAS",
                                   .files = torch_files,
                                   .wheels = no_wheels,
                                   .symbols = torch_symbols,
                                   .loaded = true,
                                   .write_version = write_torch};

const LibraryFunction library_blas_gemm = {.name = "blas.gemm",
                                           .file = &library_blas,
                                           .kind = NEREID_C,
                                           .takes = takes_f32,
                                           .prepare = prepare_gemm,
                                           .run = run_blas,
                                           .end = end_gemm};
const LibraryFunction library_dnnl_gemm = {.name = "dnnl.gemm",
                                           .file = &library_dnnl,
                                           .kind = NEREID_C,
                                           .takes = takes_f32,
                                           .prepare = prepare_gemm,
                                           .run = run_dnnl,
                                           .end = end_gemm};
const LibraryFunction library_torch_gemm = {.name = "torch.gemm",
                                            .file = &library_torch,
                                            .kind = NEREID_C,
                                            .takes = takes_f32_or_f64,
                                            .threads = threads_of_torch,
                                            .prepare = prepare_gemm,
                                            .run = run_torch,
                                            .end = end_gemm};
