#define _GNU_SOURCE
#include "npy.h"

#include <stdarg.h>

#include "npy_header.h"

enum { ALIGNMENT = 64 };

/* NULL: NumPy has no such dtype. */
static const char *descr_of(model_dtype t) {
  return npy_descr_of(model_dtype_name(t == MODEL_BF16 ? MODEL_F32 : t));
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

/* ---- reading ---- */

static int read_header(NpyHeader *h, FILE *f, const char *path) {
  switch (npy_read_header(h, f)) {
    case NPY_OK: return 0;
    case NPY_MAGIC: return problem(path, "it is no NumPy file");
    case NPY_STRUCTURED: return problem(path, "its dtype is structured");
    case NPY_MEMORY: return problem(path, "out of memory");
    case NPY_MALFORMED: break;
  }
  return problem(path, "its header is not NumPy's, or has more than %d axes", NPY_RANK_MAX);
}

static int check_header(const NpyHeader *h, const model_value *v, const char *path) {
  const char *descr = descr_of(v->dtype);
  if (!descr) return problem(path, "NumPy has no %s, which %s is", v->type, v->name);
  if (strcmp(h->descr, descr) != 0)
    return problem(path, "its dtype is %s, but %s, which is %s, needs %s", h->descr, v->name,
                   v->type, descr);
  if (h->rank != v->ndim)
    return problem(path, "it has %d axes, but %s is %s", h->rank, v->name, v->type);
  if (h->fortran) return problem(path, "it is in Fortran's order; save np.ascontiguousarray(x)");
  return 0;
}

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
  NpyHeader h;
  if (!v->name) return 0;
  int code = read_header(&h, f, path);
  if (!code) code = check_header(&h, v, path);
  if (code) return code;
  const int64_t bytes = npy_bytes(&h, (int64_t)file_bytes(v->dtype)), left = npy_bytes_left(f);
  if (bytes == INT64_MAX) return problem(path, "it would be too large");
  if (left < 0) return problem(path, "it is not a regular file");
  if (left != bytes)
    return problem(path, "its header says %lld bytes of elements, but there are %lld",
                   (long long)bytes, (long long)left);
  *out = (model_tensor){.dtype = v->dtype, .ndim = h.rank};
  memcpy(out->shape, h.shape, (size_t)h.rank * sizeof *h.shape);
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
  npy_write_header(f, descr_of(t->dtype), t->ndim, t->shape);
  write_elements(f, t);
  bool bad = ferror(f) != 0;
  bad |= fclose(f) != 0;
  if (!bad) return 0;
  const int code = problem(path, "can't write it: %s", strerror(errno));
  remove(path);
  return code;
}
