#include "import/archives/tensor_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "import/archives/tensor_directory.h"
#include "import/messages.h"

/* ---- files ---- */

static bool is_named(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n > m && !strcmp(path + n - m, end);
}

bool tensor_file_is(const char *path, const char *start, size_t n) {
  bool header =
      n >= TENSOR_FILE_START && start[8] == '{' && !start[4] && !start[5] && !start[6] && !start[7];
  return header || (n >= 4 && !memcmp(start, "GGUF", 4)) || is_named(path, ".safetensors") ||
         is_named(path, ".gguf");
}

static TensorFile *read_file(TensorFile *f) {
  bool gguf = f->size >= 4 && !memcmp(f->bytes, "GGUF", 4);
  gguf |= is_named(f->path, ".gguf");
  f->format = gguf ? "GGUF" : "safetensors";
  f->location = (Span){.file = diag_source(f->diags, pool_name(f->names, f->path), NULL, 0)};
  if (gguf && (f->size < 4 || memcmp(f->bytes, "GGUF", 4)))
    return tensor_file_fail(f, "it does not begin with GGUF"), NULL;
  return (gguf ? gguf_read(f) : safetensors_read(f)) && tensor_directory_check(f) ? f : NULL;
}

TensorFile *tensor_file_of_bytes(Arena *a, Pool *names, Diags *d, const char *path,
                                 const void *bytes, size_t size) {
  TensorFile *f = ARENA_NEW(a, TensorFile);
  *f = (TensorFile){.arena = a, .names = names, .diags = d, .path = arena_printf(a, "%s", path)};
  f->bytes = bytes;
  f->size = size;
  return read_file(f);
}

TensorFile *tensor_file_open(Arena *a, Pool *names, Diags *d, const char *path) {
  size_t size = 0;
  const uint8_t *bytes = map_descriptor(open(path, O_RDONLY | O_CLOEXEC), &size);
  if (!bytes) {
    const char *fault = strerror(errno);
    diag_error(d, (Span){.file = diag_source(d, pool_name(names, path), NULL, 0)}, E_TENSORS_FILE,
               is_named(path, ".gguf") ? "GGUF" : "safetensors", fault);
    return NULL;
  }
  TensorFile *f = tensor_file_of_bytes(a, names, d, path, bytes, size);
  if (!f) munmap((void *)(uintptr_t)bytes, size ? size : 1);
  else f->mapped = true;
  return f;
}

void tensor_file_close(TensorFile *f) {
  if (!f) return;
  for (size_t i = 0; i < f->made.len; i++) free(f->made.data[i]);
  if (f->mapped) munmap((void *)(uintptr_t)f->bytes, f->size ? f->size : 1);
}

bool tensor_file_mapped(const TensorFile *f, MappedFile *out) {
  *out = (MappedFile){f->path, f->bytes, f->size};
  return f->mapped;
}

/* ---- tensors ---- */

/* Memory that the file owns. */
static void *new_memory(TensorFile *f, size_t n) {
  void *p = malloc(n ? n : 1);
  if (p) vec_push(f->arena, &f->made, p);
  return p;
}

static Weight weight_of(const TensorEntry *e, Name name, DType t, int64_t *strides) {
  int64_t step = 1;
  for (uint32_t i = e->rank; i--;) {
    strides[i] = step;
    step *= e->shape[i] ? e->shape[i] : 1;
  }
  return (Weight){
      .name = name, .dtype = t, .rank = e->rank, .shape = e->shape, .strides = strides};
}

/* Decoded blocks are not. */
static bool is_mapped(const TensorFile *f, const uint8_t *data) {
  return f->mapped && data >= f->bytes && data < f->bytes + f->size;
}

static bool add_weight(TensorFile *f, Weights *w, const TensorEntry *e, Name name, DType t,
                       const void *data, size_t size) {
  int64_t strides[GRAPH_RANK_MAX];
  Weight added = weight_of(e, name, t, strides);
  added.mapped = is_mapped(f, data);
  return weights_add(w, f->diags, f->location, added, 0, (WeightBytes){data, size, f->path});
}

/* The floats of blocks, in dtype t. */
static bool add_decoded(TensorFile *f, Weights *w, const TensorEntry *e, Name name, DType t) {
  const BlockKind *k = e->kind;
  size_t n = (size_t)tensor_entry_elements(e), strides_bytes = n * dtype_bytes(t);
  int64_t strides[GRAPH_RANK_MAX];
  float *x = n > SIZE_MAX / 8 ? NULL : new_memory(f, n * sizeof *x);
  void *y = t == DT_F32 || !x ? x : new_memory(f, strides_bytes);
  if (!y) return tensor_entry_fail(f, e->name, "there is no memory for it");
  gguf_decode(k, f->bytes + e->offset, n / k->elements, x);
  Weight floats = weight_of(e, name, DT_F32, strides);
  floats.data = x;
  if (y != x && !weight_convert(y, t, &floats))
    return tensor_entry_fail(f, e->name, "there is no memory for it");
  return add_weight(f, w, e, name, t, y, strides_bytes);
}

/* Parameters that share a tensor of blocks may have two dtypes: it is another weight in each. */
static bool find_decoded(TensorFile *f, Weights *w, const TensorEntry *e, DType t, Name *name) {
  const Weight *other = weights_find(w, e->name);
  if (!other || other->dtype == t) return other || add_decoded(f, w, e, e->name, t);
  *name = pool_name(f->names, arena_printf(f->arena, "%s (%s)", e->name, dtype_name(t)));
  return weights_find(w, *name) || add_decoded(f, w, e, *name, t);
}

/* Is it the name with characters that Python's names lack replaced? */
static bool is_mangled(const char *mangled, const char *name) {
  for (; *name && *mangled; name++, mangled++) {
    bool plain = isalnum((unsigned char)*name) || *name == '_';
    if (*mangled != (plain ? *name : '_')) return false;
  }
  return !*name && !*mangled;
}

Name tensor_file_name(const TensorFile *f, Name name, Name parameter) {
  if (name && namemap_get(&f->by_name, name)) return name;
  bool prefixed = strchr("pbc", *parameter) && *parameter && parameter[1] == '_';
  Name found = NULL;
  for (size_t i = 0; prefixed && i < f->entries.len; i++) {
    if (!is_mangled(parameter + 2, f->entries.data[i]->name)) continue;
    if (found) return NULL;
    found = f->entries.data[i]->name;
  }
  return found;
}

bool tensor_file_find(TensorFile *f, Weights *w, Name *name, DType t) {
  const TensorEntry *e = namemap_get(&f->by_name, *name);
  if (!e) return true;
  if (e->kind)
    return find_decoded(f, w, e, dtype_is_float(t) && dtype_bits(t) > 8 ? t : DT_F32, name);
  if (weights_find(w, *name)) return true;
  if (!e->dtype) {
    diag_error(f->diags, f->location, E_TENSORS_DTYPE, e->name, e->type);
    return false;
  }
  const uint8_t *data = f->bytes + e->offset;
  if (e->size && (uintptr_t)data % dtype_bytes(e->dtype)) {
    void *copy = new_memory(f, e->size);
    if (!copy) return tensor_entry_fail(f, e->name, "there is no memory for it");
    data = memcpy(copy, data, e->size);
  }
  return add_weight(f, w, e, e->name, e->dtype, data, e->size);
}
