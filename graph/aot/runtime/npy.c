/* \x93NUMPY, major, minor, header length (2 bytes in version 1, 4 in 2 and 3), then a Python dict,
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * and the elements. */
#include "npy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 1 << 16, ALIGNMENT = 64 };

static const char *const descrs[] = {
    [MODEL_I1] = "|b1",  [MODEL_I8] = "|i1",   [MODEL_I16] = "<i2", [MODEL_I32] = "<i4",
    [MODEL_I64] = "<i8", [MODEL_U8] = "|u1",   [MODEL_U16] = "<u2", [MODEL_U32] = "<u4",
    [MODEL_U64] = "<u8", [MODEL_BF16] = "<f4", [MODEL_F16] = "<f2", [MODEL_F32] = "<f4",
    [MODEL_F64] = "<f8",
};

/* NULL: NumPy has nothing like it. */
static const char *descr_of(model_dtype t) {
  return (size_t)t < sizeof descrs / sizeof *descrs ? descrs[t] : NULL;
}

static size_t file_bytes(model_dtype t) { return t == MODEL_BF16 ? 4 : model_dtype_bytes(t); }

static int problem(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int problem(const char *path, const char *format, ...) {
  va_list args;
  fprintf(stderr, "%s: ", path);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return -1;
}

/* ---- bf16 ---- */

static uint16_t bf16_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (x != x) return (uint16_t)(bits >> 16 | 64);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float float_of(uint16_t x) {
  const uint32_t bits = (uint32_t)x << 16;
  float out;
  memcpy(&out, &bits, sizeof out);
  return out;
}

/* ---- the header ---- */

typedef struct {
  const char *at;
  char descr[32];
  bool fortran;
  int ndim;
  int64_t shape[MODEL_RANK];
} Header;

static void skip_space(Header *h) {
  while (*h->at == ' ' || *h->at == '\n') h->at++;
}

static bool accept(Header *h, const char *token) {
  skip_space(h);
  const size_t n = strlen(token);
  if (strncmp(h->at, token, n) != 0) return false;
  h->at += n;
  return true;
}

static bool read_string(Header *h, char *out, size_t size) {
  skip_space(h);
  const char quote = *h->at;
  if (quote != '\'' && quote != '"') return false;
  const char *start = ++h->at, *end = strchr(start, quote);
  if (!end || (size_t)(end - start) >= size) return false;
  memcpy(out, start, (size_t)(end - start));
  out[end - start] = 0;
  h->at = end + 1;
  return true;
}

static bool read_shape(Header *h) {
  if (!accept(h, "(")) return false;
  while (!accept(h, ")")) {
    char *end;
    skip_space(h);
    errno = 0;
    const long long v = *h->at >= '0' && *h->at <= '9' ? strtoll(h->at, &end, 10) : -1;
    if (v < 0 || errno || h->ndim == MODEL_RANK) return false;
    h->at = end;
    h->shape[h->ndim++] = v;
    if (!accept(h, ",")) return accept(h, ")");
  }
  return true;
}

/* Bits of what has been read: 1 descr, 2 fortran_order, 4 shape; 0 for what can't be. */
static int read_entry(Header *h) {
  char key[32];
  if (!read_string(h, key, sizeof key) || !accept(h, ":")) return 0;
  if (!strcmp(key, "descr")) return read_string(h, h->descr, sizeof h->descr) ? 1 : 0;
  if (!strcmp(key, "shape")) return read_shape(h) ? 4 : 0;
  if (strcmp(key, "fortran_order") != 0) return 0;
  h->fortran = accept(h, "True");
  return h->fortran || accept(h, "False") ? 2 : 0;
}

static bool read_dict(Header *h) {
  int seen = 0;
  if (!accept(h, "{")) return false;
  while (!accept(h, "}")) {
    const int entry = read_entry(h);
    if (!entry || seen & entry) return false;
    seen |= entry;
    if (!accept(h, ",") && *h->at != '}') return false;
  }
  skip_space(h);
  return !*h->at && seen == 7;
}

static size_t header_length(FILE *f) {
  unsigned char start[12];
  if (fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) return 0;
  if (start[6] == 1) return start[8] | (size_t)start[9] << 8;
  if (start[6] < 1 || start[6] > 3 || fread(start + 10, 1, 2, f) != 2) return 0;
  return start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
}

static int read_header(Header *h, FILE *f, const char *path) {
  const size_t n = header_length(f);
  if (n == 0 || n > HEADER_MAX) return problem(path, "it is no NumPy file");
  char *text = calloc(n + 1, 1);
  if (!text) return problem(path, "out of memory");
  h->at = text;
  const bool good = fread(text, 1, n, f) == n && strlen(text) == n && read_dict(h);
  free(text);
  return good ? 0
              : problem(path, "its header is not NumPy's, or has more than %d axes", MODEL_RANK);
}

static int check_header(const Header *h, const model_value *v, const char *path) {
  const char *descr = descr_of(v->dtype);
  if (!descr) return problem(path, "NumPy has no %s, which %s is", v->type, v->name);
  if (strcmp(h->descr, descr) != 0)
    return problem(path, "its dtype is %s, but %s, which is %s, needs %s", h->descr, v->name,
                   v->type, descr);
  if (h->ndim != v->ndim)
    return problem(path, "it has %d axes, but %s is %s", h->ndim, v->name, v->type);
  if (h->fortran && h->ndim > 1)
    return problem(path, "it is in Fortran's order; save np.ascontiguousarray(x)");
  return 0;
}

/* ---- reading ---- */

static void *read_narrow(FILE *f, size_t count) {
  uint16_t *data = malloc(2 * count + 1);
  float x;
  for (size_t i = 0; data && i < count; i++) {
    if (fread(&x, sizeof x, 1, f) != 1) {
      free(data);
      return NULL;
    }
    data[i] = bf16_of(x);
  }
  return data;
}

static void *read_plain(FILE *f, size_t bytes) {
  const size_t room = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void *data = aligned_alloc(ALIGNMENT, room);
  if (data && fread(data, 1, bytes, f) == bytes) return data;
  free(data);
  return NULL;
}

static int read_file(model_tensor *out, FILE *f, const char *path, const model_value *v) {
  Header h = {0};
  if (!v->name) return 0;
  int code = read_header(&h, f, path);
  if (!code) code = check_header(&h, v, path);
  if (code) return code;
  int64_t bytes = (int64_t)file_bytes(v->dtype);
  for (int i = 0; i < h.ndim; i++)
    if (__builtin_mul_overflow(bytes, h.shape[i], &bytes))
      return problem(path, "it would be too large");
  const long at = ftell(f);
  if (at < 0 || fseek(f, 0, SEEK_END)) return problem(path, "can't read it: %s", strerror(errno));
  const int64_t left = (int64_t)ftell(f) - at;
  if (left != bytes)
    return problem(path, "its header says %lld bytes of elements, but there are %lld",
                   (long long)bytes, (long long)left);
  if (fseek(f, at, SEEK_SET)) return problem(path, "can't read it: %s", strerror(errno));
  *out = (model_tensor){.dtype = v->dtype, .ndim = h.ndim};
  memcpy(out->shape, h.shape, sizeof h.shape);
  out->data =
      v->dtype == MODEL_BF16 ? read_narrow(f, (size_t)bytes / 4) : read_plain(f, (size_t)bytes);
  return out->data ? 0 : problem(path, "can't read %lld bytes of it", (long long)bytes);
}

int npy_read(model_tensor *out, const char *path, const model_value *value) {
  *out = (model_tensor){0};
  FILE *f = fopen(path, "rb");
  if (!f) return problem(path, "can't open it: %s", strerror(errno));
  const int code = read_file(out, f, path, value);
  fclose(f);
  return code;
}

/* ---- writing ---- */

static void write_header(FILE *f, const model_tensor *t) {
  char text[1024];
  int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                   descr_of(t->dtype));
  for (int i = 0; i < t->ndim; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld%s", i ? ", " : "",
                  (long long)t->shape[i], t->ndim == 1 ? "," : "");
  n += snprintf(text + n, sizeof text - (size_t)n, "), }");
  /* Elements start at a multiple of 64, behind spaces and a newline. */
  const int length = (10 + n + 1 + 63) / 64 * 64 - 10;
  fwrite("\x93NUMPY\x01\x00", 1, 8, f);
  fputc(length & 255, f);
  fputc(length >> 8, f);
  fprintf(f, "%s%*s\n", text, length - n - 1, "");
}

static void write_elements(FILE *f, const model_tensor *t) {
  size_t count = 1;
  for (int i = 0; i < t->ndim; i++) count *= (size_t)t->shape[i];
  if (t->dtype != MODEL_BF16) {
    if (count) fwrite(t->data, model_dtype_bytes(t->dtype), count, f);
    return;
  }
  for (size_t i = 0; i < count && !ferror(f); i++) {
    const float x = float_of(((const uint16_t *)t->data)[i]);
    fwrite(&x, sizeof x, 1, f);
  }
}

int npy_write(const model_tensor *t, const char *path) {
  if (!descr_of(t->dtype)) return problem(path, "NumPy has no %s", model_dtype_name(t->dtype));
  FILE *f = fopen(path, "wb");
  if (!f) return problem(path, "can't write it: %s", strerror(errno));
  write_header(f, t);
  write_elements(f, t);
  bool bad = ferror(f) != 0;
  bad |= fclose(f) != 0;
  if (!bad) return 0;
  const int code = problem(path, "can't write it: %s", strerror(errno));
  remove(path);
  return code;
}
