/* The header of NumPy's array files:
 *
 *   \x93NUMPY, major, minor, header length (2 bytes in version 1, 4 in 2 and 3, little-endian),
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The elements follow.  All functions are static and include nothing of Nereid: projects that
 * `nereid build` writes hold this file, too. */
#ifndef NEREID_RUNTIME_SUPPORT_NPY_HEADER_H
#define NEREID_RUNTIME_SUPPORT_NPY_HEADER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NPY_RANK_MAX = 32, NPY_HEADER_MAX = 1 << 16 };

typedef struct {
  char descr[32]; /* "<f4" */
  bool fortran;   /* the first index changes fastest; false where the rank makes no difference */
  int rank;
  int64_t shape[NPY_RANK_MAX]; /* 0 or more each */
} NpyHeader;

typedef enum {
  NPY_OK,
  NPY_MAGIC,      /* the file is not a .npy file */
  NPY_MALFORMED,  /* its dict lacks an entry, has an unknown one, or too many axes */
  NPY_STRUCTURED, /* its elements have fields */
  NPY_MEMORY
} NpyProblem;

/* ---- dtypes ---- */

static const struct {
  const char *dtype, *descr;
} npy_dtypes[] = {{"i1", "|b1"},  {"i8", "|i1"},  {"i16", "<i2"}, {"i32", "<i4"},
                  {"i64", "<i8"}, {"u8", "|u1"},  {"u16", "<u2"}, {"u32", "<u4"},
                  {"u64", "<u8"}, {"f16", "<f2"}, {"f32", "<f4"}, {"f64", "<f8"}};
enum { NPY_DTYPES = sizeof npy_dtypes / sizeof *npy_dtypes };

/* NULL: NumPy has no such dtype. */
static inline const char *npy_descr_of(const char *dtype) {
  for (int i = 0; i < NPY_DTYPES; i++)
    if (!strcmp(dtype, npy_dtypes[i].dtype)) return npy_dtypes[i].descr;
  return NULL;
}

/* NULL: the dtype is NumPy's alone, or big-endian. */
static inline const char *npy_dtype_of(const char *descr) {
  for (int i = 0; i < NPY_DTYPES; i++)
    if (!strcmp(descr, npy_dtypes[i].descr)) return npy_dtypes[i].dtype;
  return NULL;
}

/* ---- reading ---- */

static inline bool npy_accept(const char **at, const char *token) {
  const size_t n = strlen(token);
  *at += strspn(*at, " \n");
  if (strncmp(*at, token, n) != 0) return false;
  *at += n;
  return true;
}

/* A quoted string into `out`; false if it is none or too long. */
static inline bool npy_read_string(const char **at, char *out, size_t size) {
  *at += strspn(*at, " \n");
  const char quote = **at, *start = *at + 1;
  if (quote != '\'' && quote != '"') return false;
  const char *end = strchr(start, quote);
  if (!end || (size_t)(end - start) >= size) return false;
  memcpy(out, start, (size_t)(end - start));
  out[end - start] = 0;
  *at = end + 1;
  return true;
}

static inline bool npy_read_shape(NpyHeader *h, const char **at) {
  if (!npy_accept(at, "(")) return false;
  while (!npy_accept(at, ")")) {
    char *end;
    *at += strspn(*at, " \n");
    errno = 0;
    const long long size = **at >= '0' && **at <= '9' ? strtoll(*at, &end, 10) : -1;
    if (size < 0 || errno || h->rank == NPY_RANK_MAX) return false;
    *at = end;
    h->shape[h->rank++] = size;
    if (!npy_accept(at, ",")) return npy_accept(at, ")");
  }
  return true;
}

/* Adds the entry's bit to *seen: 1 descr, 2 fortran_order, 4 shape. */
static inline NpyProblem npy_read_entry(NpyHeader *h, const char **at, int *seen) {
  char key[32];
  int entry = 0;
  if (!npy_read_string(at, key, sizeof key) || !npy_accept(at, ":")) return NPY_MALFORMED;
  if (!strcmp(key, "descr")) {
    if (!npy_read_string(at, h->descr, sizeof h->descr)) return NPY_STRUCTURED;
    entry = 1;
  } else if (!strcmp(key, "fortran_order")) {
    h->fortran = npy_accept(at, "True");
    entry = h->fortran || npy_accept(at, "False") ? 2 : 0;
  } else if (!strcmp(key, "shape") && !(*seen & 4)) {
    entry = npy_read_shape(h, at) ? 4 : 0;
  }
  if (!entry || *seen & entry) return NPY_MALFORMED;
  *seen |= entry;
  return NPY_OK;
}

static inline NpyProblem npy_read_dict(NpyHeader *h, const char *at) {
  int seen = 0;
  if (!npy_accept(&at, "{")) return NPY_MALFORMED;
  while (!npy_accept(&at, "}")) {
    const NpyProblem problem = npy_read_entry(h, &at, &seen);
    if (problem) return problem;
    if (!npy_accept(&at, ",") && *at != '}') return NPY_MALFORMED;
  }
  h->fortran = h->fortran && h->rank > 1;
  return at[strspn(at, " \n")] || seen != 7 ? NPY_MALFORMED : NPY_OK;
}

/* Of the dict; 0 if the file begins in another way. */
static inline size_t npy_header_length(FILE *f) {
  unsigned char start[12];
  if (fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) return 0;
  if (start[6] == 1) return start[8] | (size_t)start[9] << 8;
  if (start[6] < 1 || start[6] > 3 || fread(start + 10, 1, 2, f) != 2) return 0;
  return start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
}

/* Leaves the file at its first element. */
static inline NpyProblem npy_read_header(NpyHeader *h, FILE *f) {
  *h = (NpyHeader){.rank = 0};
  const size_t n = npy_header_length(f);
  if (n == 0 || n > NPY_HEADER_MAX) return NPY_MAGIC;
  char *text = (char *)calloc(n + 1, 1);
  if (!text) return NPY_MEMORY;
  const bool whole = fread(text, 1, n, f) == n && strlen(text) == n;
  const NpyProblem problem = whole ? npy_read_dict(h, text) : NPY_MALFORMED;
  free(text);
  return problem;
}

/* Of all elements; INT64_MAX if they are more. */
static inline int64_t npy_bytes(const NpyHeader *h, int64_t element) {
  int64_t bytes = element;
  for (int i = 0; i < h->rank; i++)
    if (__builtin_mul_overflow(bytes, h->shape[i], &bytes)) return INT64_MAX;
  return bytes;
}

/* From here to the file's end; -1 if it is not a regular file. */
static inline int64_t npy_bytes_left(FILE *f) {
  struct stat st;
  const long at = ftell(f);
  return fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || at < 0 ? -1 : (int64_t)st.st_size - at;
}

/* ---- writing ---- */

/* The first element is at a multiple of 64 bytes, after spaces and a newline. */
static inline void npy_write_header(FILE *f, const char *descr, int rank, const int64_t *shape) {
  char text[1024];
  int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int i = 0; i < rank; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld%s", i ? ", " : "", (long long)shape[i],
                  rank == 1 ? "," : "");
  n += snprintf(text + n, sizeof text - (size_t)n, "), }");
  const int length = (10 + n + 1 + 63) / 64 * 64 - 10;
  fwrite("\x93NUMPY\x01\x00", 1, 8, f);
  fputc(length & 255, f);
  fputc(length >> 8, f);
  fprintf(f, "%s%*s\n", text, length - n - 1, "");
}

#endif
