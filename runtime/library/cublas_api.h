/* The part of cuBLASLt that products use, from its documentation. */
#ifndef NEREID_RUNTIME_LIBRARY_CUBLAS_API_H
#define NEREID_RUNTIME_LIBRARY_CUBLAS_API_H

#include <stddef.h>
#include <stdint.h>

typedef int LtStatus;
typedef struct LtHandle_ *LtHandle;
typedef struct LtDesc_ *LtDesc;
typedef struct LtLayout_ *LtLayout;
typedef struct LtPreference_ *LtPreference;

enum { LT_OK = 0 };
/* cudaDataType */
enum { LT_R_32F = 0, LT_R_16F = 2, LT_R_16BF = 14, LT_R_8F_E4M3 = 28, LT_R_8F_E5M2 = 29 };
enum { LT_COMPUTE_32F = 68, LT_COMPUTE_TF32 = 77 };  /* cublasComputeType_t */
enum { LT_TRANSPOSE = 1 };                           /* cublasOperation_t */
/* cublasLtMatmulDescAttributes_t, and cublasLtEpilogue_t of LT_EPILOGUE */
enum { LT_TRANSPOSE_A = 3, LT_TRANSPOSE_B = 4, LT_EPILOGUE = 7, LT_BIAS = 8, LT_BIAS_TYPE = 26 };
enum {
  LT_SCALE_A = 17,
  LT_SCALE_B = 18,
  LT_FAST_SUMS = 25,
  LT_SCALE_MODE_A = 31,
  LT_SCALE_MODE_B = 32
};
/* cublasLtMatmulMatrixScale_t, of f32 */
enum { LT_SCALE_WHOLE = 0, LT_SCALE_ROWS = 3, LT_SCALE_1X128 = 4, LT_SCALE_128X128 = 5 };
enum { LT_EPILOGUE_DEFAULT = 1, LT_EPILOGUE_RELU = 2, LT_EPILOGUE_BIAS = 4, LT_EPILOGUE_GELU = 32 };
enum { LT_BATCH_COUNT = 5, LT_BATCH_STRIDE = 6 }; /* cublasLtMatrixLayoutAttribute_t */
/* cublasLtMatmulPreferenceAttributes_t; the alignments of B, C and D follow that of A */
enum { LT_WORKSPACE = 1, LT_SUMS = 3, LT_ALIGNMENT_A = 5, LT_ALIGNMENTS = 4 };
enum { LT_SUMS_OF_COMPUTE_TYPE = 2 }; /* cublasLtReductionScheme_t: of parts of k */

typedef struct {
  uint64_t data[8];
} LtAlgorithm;

/* cublasLtMatmulHeuristicResult_t */
typedef struct {
  LtAlgorithm algorithm;
  size_t workspace;
  LtStatus state;
  float waves;
  int reserved[4];
} LtResult;

/* X(name, symbol, parameters) */
#define CUBLASLT_FUNCTIONS(X)                                                                     \
  X(create, cublasLtCreate, (LtHandle * out))                                                     \
  X(destroy, cublasLtDestroy, (LtHandle h))                                                       \
  X(desc_create, cublasLtMatmulDescCreate, (LtDesc * out, int compute, int scale))                \
  X(desc_destroy, cublasLtMatmulDescDestroy, (LtDesc d))                                          \
  X(desc_set, cublasLtMatmulDescSetAttribute,                                                     \
    (LtDesc d, int attribute, const void *value, size_t size))                                    \
  X(layout_create, cublasLtMatrixLayoutCreate,                                                    \
    (LtLayout * out, int type, uint64_t rows, uint64_t columns, int64_t ld))                      \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, (LtLayout l))                                    \
  X(layout_set, cublasLtMatrixLayoutSetAttribute,                                                 \
    (LtLayout l, int attribute, const void *value, size_t size))                                  \
  X(preference_create, cublasLtMatmulPreferenceCreate, (LtPreference * out))                      \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, (LtPreference p))                        \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute,                                         \
    (LtPreference p, int attribute, const void *value, size_t size))                              \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                    \
    (LtHandle h, LtDesc d, LtLayout a, LtLayout b, LtLayout c, LtLayout out, LtPreference p,      \
     int most, LtResult *results, int *n))                                                        \
  X(matmul, cublasLtMatmul,                                                                       \
    (LtHandle h, LtDesc d, const void *alpha, const void *a, LtLayout al, const void *b,          \
     LtLayout bl, const void *beta, const void *c, LtLayout cl, void *out, LtLayout ol,           \
     const LtAlgorithm *algorithm, void *workspace, size_t size, void *stream))

typedef struct {
#define X(name, symbol, params) LtStatus(*name) params;
  CUBLASLT_FUNCTIONS(X)
#undef X
} LtApi;

#endif
