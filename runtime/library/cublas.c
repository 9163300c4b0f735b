/* Products of matrices on GPUs by cuBLASLt.
 *
 * Its matrices are column-major: what is here in rows is there a transposed matrix, so that it
 * computes out^T = b^T by a^T. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/device/cuda_state.h"
#include "runtime/library/cublas_api.h"
#include "runtime/library/library_rows.h"
#include "runtime/support/error.h"

/* 120804 is 12.8.4; before 12, 111103 was 11.11.3 all the same. */
static void write_version(Library *l) {
  size_t v = library_version_number(l, "cublasLtGetVersion");
  snprintf(l->version, sizeof l->version, "cublasLt %zu.%zu.%zu", v / 10000, v / 100 % 100,
           v % 100);
}

/* ---- one product ---- */

typedef struct {
  LtDesc desc;
  LtLayout a, b, out; /* a and b as ours: cuBLASLt's second and first */
  LtPreference preference;
  LtAlgorithm algorithm;
  const void *bias, *scale_a, *scale_b; /* that the description has */
} Matmul;

static const LtApi *api_of(const LibraryCall *c) { return (const LtApi *)c->library->functions; }

static int type_of(DType t) {
  switch (t) {
    case DT_F32: return LT_R_32F;
    case DT_F16: return LT_R_16F;
    case DT_BF16: return LT_R_16BF;
    case DT_F8E4NV: return LT_R_8F_E4M3;
    case DT_F8E5: return LT_R_8F_E5M2;
    default: return -1;
  }
}

static bool is_float8(DType t) { return t == DT_F8E4NV || t == DT_F8E5; }

static bool takes_matmul(DType operands, DType out, DType bias, LibraryActivation activation) {
  if (is_float8(operands))
    return (out == DT_BF16 || out == DT_F16 || (out == DT_F32 && !bias)) && !activation &&
           (bias == DT_NONE || bias == out);
  bool same = type_of(operands) >= 0 && (out == operands || out == DT_F32);
  return same && (bias == DT_NONE || bias == out);
}

static int call_failed(const LibraryCall *c, LtStatus s, const char *what) {
  char why[128];
  if (s == LT_OK) return 0;
  snprintf(why, sizeof why, "%s failed with status %d", what, s);
  return library_refused(c, why);
}

/* `rows` by `columns` as we count them: the other way round in memory's order, so that its first
 * size is the contiguous one. */
static LtStatus make_layout(const LibraryCall *c, LtLayout *out, DType t, int64_t rows,
                            int64_t columns, const LibraryLayout *l, int64_t batch_stride) {
  const LtApi *lt = api_of(c);
  uint64_t inner = (uint64_t)(l->transposed ? rows : columns);
  uint64_t outer = (uint64_t)(l->transposed ? columns : rows);
  LtStatus s = lt->layout_create(out, type_of(t), inner, outer, l->ld);
  int32_t batches = (int32_t)c->shape.product.batch;
  if (s != LT_OK || batches == 1) return s;
  s = lt->layout_set(*out, LT_BATCH_COUNT, &batches, sizeof batches);
  return s != LT_OK ? s : lt->layout_set(*out, LT_BATCH_STRIDE, &batch_stride, sizeof batch_stride);
}

static LtStatus set_epilogue(const LibraryCall *c, Matmul *m) {
  static const int of[] = {[ACTIVATION_NONE] = 0,
                           [ACTIVATION_RELU] = LT_EPILOGUE_RELU,
                           [ACTIVATION_GELU_TANH] = LT_EPILOGUE_GELU};
  const LibraryProduct *p = &c->shape.product;
  int epilogue = of[p->activation] | (p->bias ? LT_EPILOGUE_BIAS : 0);
  if (!epilogue) return LT_OK;
  LtStatus s = api_of(c)->desc_set(m->desc, LT_EPILOGUE, &epilogue, sizeof epilogue);
  int type = type_of(p->bias);
  if (s != LT_OK || !p->bias) return s;
  return api_of(c)->desc_set(m->desc, LT_BIAS_TYPE, &type, sizeof type);
}

/* Its first operand is our second. */
static LtStatus set_scales(const LibraryCall *c, Matmul *m) {
  static const int modes[][2] = {[SCALES_WHOLE] = {LT_SCALE_WHOLE, LT_SCALE_WHOLE},
                                 [SCALES_ROWS] = {LT_SCALE_ROWS, LT_SCALE_ROWS},
                                 [SCALES_BLOCKS] = {LT_SCALE_128X128, LT_SCALE_1X128}};
  const LtApi *lt = api_of(c);
  const LibraryProduct *p = &c->shape.product;
  int8_t fast = p->fast;
  if (!is_float8(p->a.dtype)) return LT_OK;
  LtStatus s = lt->desc_set(m->desc, LT_FAST_SUMS, &fast, sizeof fast);
  for (int i = 0; i < 2 && s == LT_OK && p->scales > SCALES_WHOLE; i++)
    s = lt->desc_set(m->desc, LT_SCALE_MODE_A + i, &modes[p->scales][i], sizeof(int));
  return s;
}

/* Memory that is transposed to us is as it shall be to cuBLASLt, and the other way round. */
static LtStatus make_desc(const LibraryCall *c, Matmul *m, const LibraryLayout *a,
                          const LibraryLayout *b) {
  const LtApi *lt = api_of(c);
  int transpose = LT_TRANSPOSE;
  bool rounds = c->shape.product.tf32 && c->shape.product.a.dtype == DT_F32;
  LtStatus s = lt->desc_create(&m->desc, rounds ? LT_COMPUTE_TF32 : LT_COMPUTE_32F, LT_R_32F);
  if (s == LT_OK && b->transposed)
    s = lt->desc_set(m->desc, LT_TRANSPOSE_A, &transpose, sizeof transpose);
  if (s == LT_OK && a->transposed)
    s = lt->desc_set(m->desc, LT_TRANSPOSE_B, &transpose, sizeof transpose);
  if (s == LT_OK) s = set_scales(c, m);
  return s == LT_OK ? set_epilogue(c, m) : s;
}

/* Algorithms depend on there being scales; the pointers come with a call. */
static LtStatus set_pointer(const LtApi *lt, Matmul *m, int attribute, const void *to,
                            const void **had) {
  LtStatus s = to == *had ? LT_OK : lt->desc_set(m->desc, attribute, &to, sizeof to);
  *had = to;
  return s;
}

static LtStatus set_scale_pointers(const LibraryCall *c, Matmul *m, const LibraryPointers *at) {
  const LtApi *lt = api_of(c);
  if (!c->shape.product.scales) return LT_OK;
  LtStatus s = set_pointer(lt, m, LT_SCALE_A, at->scale_b, &m->scale_b);
  return s == LT_OK ? set_pointer(lt, m, LT_SCALE_B, at->scale_a, &m->scale_a) : s;
}

/* Buffers begin at multiples of 16 bytes; offsets in them may not. */
static uint32_t alignment_of(const LibraryMatrix *x) {
  uint64_t at = (uint64_t)x->offset * dtype_bytes(x->dtype) | 16;
  return (uint32_t)(at & -at);
}

static LtStatus make_preference(const LibraryCall *c, Matmul *m) {
  const LtApi *lt = api_of(c);
  const LibraryProduct *p = &c->shape.product;
  uint64_t workspace = (uint64_t)c->workspace;
  uint32_t alignments[LT_ALIGNMENTS] = {alignment_of(&p->b), alignment_of(&p->a), 16, 16};
  uint32_t sums = LT_SUMS_OF_COMPUTE_TYPE; /* parts of k are not rounded before they are added */
  LtStatus s = lt->preference_create(&m->preference);
  if (s == LT_OK) s = lt->preference_set(m->preference, LT_SUMS, &sums, sizeof sums);
  if (s == LT_OK) s = lt->preference_set(m->preference, LT_WORKSPACE, &workspace, sizeof workspace);
  for (int i = 0; i < LT_ALIGNMENTS && s == LT_OK; i++)
    s = lt->preference_set(m->preference, LT_ALIGNMENT_A + i, &alignments[i], sizeof *alignments);
  return s;
}

static LtStatus make_matmul(const LibraryCall *c, Matmul *m, const LibraryLayout *a,
                            const LibraryLayout *b) {
  const LibraryProduct *p = &c->shape.product;
  const LibraryLayout rows = {.ld = p->n};
  LtStatus s = make_desc(c, m, a, b);
  if (s == LT_OK) s = make_layout(c, &m->a, p->a.dtype, p->m, p->k, a, p->a.batch);
  if (s == LT_OK) s = make_layout(c, &m->b, p->b.dtype, p->k, p->n, b, p->b.batch);
  if (s == LT_OK) s = make_layout(c, &m->out, p->out, p->m, p->n, &rows, p->m * p->n);
  return s == LT_OK ? make_preference(c, m) : s;
}

static int choose_algorithm(LibraryCall *c, Matmul *m) {
  LtResult found = {0};
  int n = 0;
  LtStatus s = api_of(c)->heuristic(c->library->context, m->desc, m->b, m->a, m->out, m->out,
                                    m->preference, 1, &found, &n);
  if (s == LT_OK && n > 0) s = found.state;
  if (s != LT_OK || n < 1) return library_refused(c, "cuBLAS has no algorithm for it");
  m->algorithm = found.algorithm;
  c->workspace = (int64_t)found.workspace;
  return 0;
}

static int prepare_matmul(LibraryCall *c) {
  const LibraryProduct *p = &c->shape.product;
  LibraryLayout a, b;
  CUDA_ENTER(c->library->device);
  CUDA_RELAX(c->library->device);
  (void)api;
  Matmul *m = c->state = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  if (!library_layout(&p->a, p->m, p->k, &a) || !library_layout(&p->b, p->k, p->n, &b))
    return library_refused(c, "no axis of an operand is contiguous");
  if (p->batch > INT_MAX) return library_refused(c, "its batches exceed 32 bits");
  int code = call_failed(c, make_matmul(c, m, &a, &b), "describing it");
  static const _Alignas(16) float one[4] = {1};
  const LibraryPointers some = {.scale_a = (const char *)one, .scale_b = (const char *)one};
  if (!code) code = call_failed(c, set_scale_pointers(c, m, &some), "describing its scales");
  return code ? code : choose_algorithm(c, m);
}

static const char *element(const char *base, const LibraryMatrix *x) {
  return base + x->offset * (int64_t)dtype_bytes(x->dtype);
}

static int run_matmul(LibraryCall *c, const LibraryPointers *at, void *stream) {
  static const float one = 1, zero = 0;
  const LtApi *lt = api_of(c);
  Matmul *m = c->state;
  CUDA_ENTER(c->library->device);
  CUDA_RELAX(c->library->device); /* it may load code, and allocate memory for it */
  (void)api;
  LtStatus s = set_pointer(lt, m, LT_BIAS, at->bias, &m->bias);
  if (s == LT_OK) s = set_scale_pointers(c, m, at);
  if (s == LT_OK)
    s = lt->matmul(c->library->context, m->desc, &one, element(at->b, &c->shape.product.b), m->b,
                   element(at->a, &c->shape.product.a), m->a, &zero, at->out, m->out, at->out,
                   m->out, &m->algorithm, at->workspace, (size_t)c->workspace, stream);
  return call_failed(c, s, "cublasLtMatmul");
}

static void end_matmul(LibraryCall *c) {
  const LtApi *lt = api_of(c);
  Matmul *m = c->state;
  if (m->preference) lt->preference_destroy(m->preference);
  if (m->out) lt->layout_destroy(m->out);
  if (m->b) lt->layout_destroy(m->b);
  if (m->a) lt->layout_destroy(m->a);
  if (m->desc) lt->desc_destroy(m->desc);
  free(m);
}

/* ---- rows ---- */

static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11",
                                    NULL};
static const char *const wheels[] = {"nvidia/cublas/lib", "nvidia/cu13/lib", NULL};

static const char *const symbols[] = {
#define X(name, symbol, params) #symbol,
    CUBLASLT_FUNCTIONS(X)
#undef X
        NULL};
_Static_assert(sizeof(LtApi) <= sizeof(((Library *)0)->functions), "each has a place");

const LibraryFile library_cublas = {.name = "cuBLASLt",
                                    .files = files,
                                    .wheels = wheels,
                                    .symbols = symbols,
                                    .has_context = true,
                                    .write_version = write_version};

const LibraryFunction library_cublas_matmul = {.name = "cublas.matmul",
                                               .file = &library_cublas,
                                               .kind = NEREID_PTX,
                                               .workspace = (int64_t)32 << 20,
                                               .takes = takes_matmul,
                                               .prepare = prepare_matmul,
                                               .run = run_matmul,
                                               .end = end_matmul};
