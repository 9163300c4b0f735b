/* NumPy's array files: a magic string, a header that is a Python dict, then the elements.
 *
 *   \x93NUMPY, major, minor, header length (2 bytes in version 1, 4 in 2 and 3, little-endian),
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lang/interp/interp.h"
#include "lang/messages.h"
#include "runtime/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/files.h"

enum { HEADER_MAX = 1 << 16 };

static const struct {
  const char *descr;
  DType dtype;
} descrs[] = {{"|b1", DT_I1},  {"|i1", DT_I8},  {"|u1", DT_U8},  {"<i2", DT_I16},
              {"<u2", DT_U16}, {"<i4", DT_I32}, {"<u4", DT_U32}, {"<i8", DT_I64},
              {"<u8", DT_U64}, {"<f2", DT_F16}, {"<f4", DT_F32}, {"<f8", DT_F64}};
enum { DESCRS = sizeof descrs / sizeof *descrs };

/* ---- reading ---- */

typedef struct {
  const char *path;
  const char *at;
  bool fortran, has_descr, has_order, has_shape;
  Array *out;
} Header;

static int bad_header(const Header *h) {
  return error_set(NEREID_E_FILE, E_RUN_NPY_HEADER, h->path);
}

static void skip_space(Header *h) {
  while (*h->at == ' ' || *h->at == '\n') h->at++;
}

static bool accept(Header *h, const char *token) {
  skip_space(h);
  size_t n = strlen(token);
  if (strncmp(h->at, token, n)) return false;
  h->at += n;
  return true;
}

/* A quoted string into `out`; false if it is none or too long. */
static bool read_string(Header *h, char *out, size_t size) {
  skip_space(h);
  char quote = *h->at;
  if (quote != '\'' && quote != '"') return false;
  const char *start = ++h->at;
  while (*h->at && *h->at != quote) h->at++;
  size_t n = (size_t)(h->at - start);
  if (!*h->at || n >= size) return false;
  memcpy(out, start, n);
  out[n] = 0;
  h->at++;
  return true;
}

static int read_descr(Header *h) {
  char text[32];
  if (!read_string(h, text, sizeof text))
    return error_set(NEREID_E_FILE, E_RUN_NPY_DTYPE, h->path, "(structured)");
  for (int i = 0; i < DESCRS; i++)
    if (!strcmp(text, descrs[i].descr)) {
      h->out->dtype = descrs[i].dtype;
      h->has_descr = true;
      return 0;
    }
  if (text[0] == '>') return error_set(NEREID_E_FILE, E_RUN_NPY_BIG_ENDIAN, h->path, text);
  return error_set(NEREID_E_FILE, E_RUN_NPY_DTYPE, h->path, text);
}

static int read_shape(Header *h) {
  if (!accept(h, "(")) return bad_header(h);
  while (!accept(h, ")")) {
    char *end;
    skip_space(h);
    errno = 0;
    long long v = *h->at >= '0' && *h->at <= '9' ? strtoll(h->at, &end, 10) : -1;
    if (v < 0 || errno || h->out->rank == ARRAY_MAX_RANK) return bad_header(h);
    h->at = end;
    h->out->shape[h->out->rank++] = v;
    if (!accept(h, ",") && strspn(h->at, " ") != strcspn(h->at, ")")) return bad_header(h);
  }
  h->has_shape = true;
  return 0;
}

static int read_entry(Header *h) {
  char key[32];
  if (!read_string(h, key, sizeof key) || !accept(h, ":")) return bad_header(h);
  if (!strcmp(key, "descr") && !h->has_descr) return read_descr(h);
  if (!strcmp(key, "shape") && !h->has_shape) return read_shape(h);
  if (strcmp(key, "fortran_order") || h->has_order) return bad_header(h);
  h->has_order = true;
  h->fortran = accept(h, "True");
  return h->fortran || accept(h, "False") ? 0 : bad_header(h);
}

static int read_dict(Header *h) {
  if (!accept(h, "{")) return bad_header(h);
  while (!accept(h, "}")) {
    int code = read_entry(h);
    if (code) return code;
    if (!accept(h, ",") && *h->at != '}') return bad_header(h);
  }
  skip_space(h);
  if (*h->at || !h->has_descr || !h->has_shape || !h->has_order) return bad_header(h);
  if (h->fortran && h->out->rank > 1) return error_set(NEREID_E_FILE, E_RUN_NPY_FORTRAN, h->path);
  return 0;
}

/* The header's length; 0 if there is no proper one. */
static size_t header_length(FILE *f) {
  unsigned char start[12];
  if (fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6)) return 0;
  if (start[6] == 1) return start[8] | (size_t)start[9] << 8;
  if (start[6] < 1 || start[6] > 3 || fread(start + 10, 1, 2, f) != 2) return 0;
  return start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
}

static int read_header(Array *out, FILE *f, const char *path) {
  size_t n = header_length(f);
  if (n == 0 || n > HEADER_MAX) return error_set(NEREID_E_FILE, E_RUN_NPY_MAGIC, path);
  char *text = calloc(n + 1, 1);
  if (!text) return error_out_of_memory();
  Header h = {.path = path, .at = text, .out = out};
  int code = fread(text, 1, n, f) == n && strlen(text) == n ? read_dict(&h) : bad_header(&h);
  free(text);
  return code;
}

/* The rest of a regular file must have the size that the header declares. */
static int check_size(const Array *a, FILE *f, const char *path) {
  struct stat st;
  long at = ftell(f);
  if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || at < 0) return 0;
  long long left = (long long)st.st_size - at;
  int64_t need = (int64_t)dtype_bytes(a->dtype);
  for (int i = 0; i < a->rank; i++)
    if (__builtin_mul_overflow(need, a->shape[i], &need)) need = INT64_MAX;
  if (left == need) return 0;
  return error_set(NEREID_E_FILE, left < need ? E_RUN_NPY_SHORT : E_RUN_NPY_LONG, path,
                   (long long)need, left);
}

static int read_file(Array *out, FILE *f, const char *path) {
  int code = read_header(out, f, path);
  if (!code) code = check_size(out, f, path);
  if (!code) code = array_new(out);
  if (code) return code;
  if (fread(out->data, 1, out->bytes, f) != out->bytes) {
    free(out->data);
    return ferror(f) ? error_set(NEREID_E_FILE, E_LANG_FILE_READ, path, strerror(errno))
                     : error_set(NEREID_E_FILE, E_RUN_NPY_SHORT, path, (long long)out->bytes, 0LL);
  }
  return 0;
}

int npy_read(Array *out, const char *path) {
  *out = (Array){0};
  FILE *f = fopen(path, "rb");
  if (!f) return error_set(NEREID_E_FILE, E_RUN_FILE_OPEN, path, strerror(errno));
  struct stat st;
  bool folder = !fstat(fileno(f), &st) && S_ISDIR(st.st_mode);
  int code = folder ? error_set(NEREID_E_FILE, E_RUN_FILE_FOLDER, path) : read_file(out, f, path);
  fclose(f);
  return code;
}

/* ---- writing ---- */

static void write_header(FILE *f, DType t, const Array *a) {
  char text[1024];
  const char *descr = "";
  for (int i = 0; i < DESCRS; i++)
    if (descrs[i].dtype == t) descr = descrs[i].descr;
  int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int i = 0; i < a->rank; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld%s", i ? ", " : "",
                  (long long)a->shape[i], a->rank == 1 ? "," : "");
  n += snprintf(text + n, sizeof text - (size_t)n, "), }");
  /* Elements start at a multiple of 64, behind spaces and a newline. */
  int length = (10 + n + 1 + 63) / 64 * 64 - 10;
  fwrite("\x93NUMPY\x01\x00", 1, 8, f);
  fputc(length & 255, f);
  fputc(length >> 8, f);
  fprintf(f, "%s%*s\n", text, length - n - 1, "");
}

static void write_widened(FILE *f, const Array *a) {
  for (int64_t i = 0; i < a->count && !ferror(f); i++) {
    float v = (float)array_get(a, i);
    fwrite(&v, sizeof v, 1, f);
  }
}

int npy_write(const Array *a, const char *path) {
  FileWriter w;
  int code = files_create(&w, path);
  if (code) return code;
  bool widen = a->dtype == DT_BF16 || (dtype_is_float(a->dtype) && dtype_bits(a->dtype) == 8);
  write_header(w.file, widen ? DT_F32 : a->dtype, a);
  if (widen) write_widened(w.file, a);
  else fwrite(a->data, 1, a->bytes, w.file);
  return files_commit(&w);
}
