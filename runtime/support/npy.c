#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"
#include "runtime/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/files.h"
#include "runtime/support/npy_header.h"

_Static_assert((int)ARRAY_MAX_RANK == (int)NPY_RANK_MAX, "each array has a header");

/* ---- reading ---- */

static int fail_header(NpyProblem problem, const char *path) {
  if (problem == NPY_MEMORY) return error_out_of_memory();
  if (problem == NPY_STRUCTURED)
    return error_set(NEREID_E_FILE, E_RUN_NPY_DTYPE, path, "(structured)");
  return error_set(NEREID_E_FILE, problem == NPY_MAGIC ? E_RUN_NPY_MAGIC : E_RUN_NPY_HEADER, path);
}

/* The parts of complex numbers become a last axis. */
static const char *complex_part(Array *out, NpyHeader *h) {
  bool wide = !strcmp(h->descr, "<c16");
  if ((!wide && strcmp(h->descr, "<c8") != 0) || h->rank == NPY_RANK_MAX) return NULL;
  out->is_complex = true;
  h->shape[h->rank++] = 2;
  return wide ? "f64" : "f32";
}

static int read_header(Array *out, FILE *f, const char *path) {
  NpyHeader h;
  NpyProblem problem = npy_read_header(&h, f);
  if (problem) return fail_header(problem, path);
  const char *dtype = npy_dtype_of(h.descr);
  if (!dtype) dtype = complex_part(out, &h);
  if (!dtype && h.descr[0] == '>')
    return error_set(NEREID_E_FILE, E_RUN_NPY_BIG_ENDIAN, path, h.descr);
  if (!dtype) return error_set(NEREID_E_FILE, E_RUN_NPY_DTYPE, path, h.descr);
  if (h.fortran) return error_set(NEREID_E_FILE, E_RUN_NPY_FORTRAN, path);
  out->dtype = dtype_parse(dtype, strlen(dtype));
  out->rank = h.rank;
  memcpy(out->shape, h.shape, sizeof h.shape);
  int64_t need = npy_bytes(&h, (int64_t)dtype_bytes(out->dtype)), left = npy_bytes_left(f);
  if (left < 0 || left == need) return 0;
  return error_set(NEREID_E_FILE, left < need ? E_RUN_NPY_SHORT : E_RUN_NPY_LONG, path,
                   (long long)need, (long long)left);
}

static int read_file(Array *out, FILE *f, const char *path) {
  int code = read_header(out, f, path);
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
  int code =
      folder ? error_set(NEREID_E_FILE, E_RUN_FILE_FOLDER, path, "") : read_file(out, f, path);
  fclose(f);
  return code;
}

/* ---- writing ---- */

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
  const char *descr = npy_descr_of(dtype_name(a->dtype));
  if (a->is_complex) descr = a->dtype == DT_F32 ? "<c8" : "<c16";
  npy_write_header(w.file, descr ? descr : npy_descr_of("f32"), a->rank - a->is_complex, a->shape);
  if (descr) fwrite(a->data, 1, a->bytes, w.file);
  else write_widened(w.file, a);
  return files_commit(&w);
}
