#include "import/onnx/onnx_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/archives/map.h"
#include "import/messages.h"
#include "import/onnx/onnx.pb-c.h"

typedef struct {
  Name location;
  const uint8_t *bytes;
  size_t size;
} Mapping;

/* A copy of bytes of a file. */
typedef struct {
  const void *bytes;
  size_t size;
} Aligned;

struct OnnxFile {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Span location;
  const char *name; /* in messages */
  const uint8_t *bytes;
  size_t size;
  bool mapped;
  const char *path;   /* of the mapping */
  const char *folder; /* with its last slash; "": the working directory.  NULL: there is none */
  VEC(Mapping) externals;
  OnnxFile *first;  /* of those that are open again: it has the copies */
  NameMap aligned;  /* by the address of bytes in the file: a copy of them */
};

/* ---- mapping ---- */

static OnnxFile *file_new(Arena *a, Pool *names, Diags *d, const char *name) {
  OnnxFile *f = ARENA_NEW(a, OnnxFile);
  *f = (OnnxFile){.arena = a, .names = names, .diags = d, .name = pool_name(names, name)};
  f->first = f;
  f->location.file = diag_source(d, pool_name(names, name), NULL, 0);
  return f;
}

OnnxFile *onnx_of_bytes(Arena *a, Pool *names, Diags *d, const char *name, const void *bytes,
                        size_t size) {
  OnnxFile *f = file_new(a, names, d, name);
  f->bytes = bytes;
  f->size = size;
  return f;
}

OnnxFile *onnx_open(Arena *a, Pool *names, Diags *d, const char *path) {
  OnnxFile *f = file_new(a, names, d, path);
  const char *slash = strrchr(path, '/');
  f->folder = arena_strndup(a, path, slash ? (size_t)(slash + 1 - path) : 0);
  f->bytes = map_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), &f->size);
  f->mapped = f->bytes;
  f->path = pool_name(names, path);
  if (f->mapped) return f;
  diag_error(d, f->location, E_GRAPH_OPEN, strerror(errno));
  return NULL;
}

OnnxFile *onnx_again(Arena *a, Pool *names, Diags *d, const OnnxFile *of) {
  OnnxFile *f = onnx_of_bytes(a, names, d, of->name, of->bytes, of->size);
  f->folder = of->folder;
  f->first = of->first;
  return f;
}

const void *onnx_aligned(OnnxFile *f, const void *data, size_t size, size_t unit) {
  OnnxFile *first = f->first;
  const uint8_t *bytes = data;
  if ((uintptr_t)data % unit == 0) return data;
  bool of_file = bytes >= first->bytes && size <= (size_t)(first->bytes + first->size - bytes);
  if (!of_file) return memcpy(arena_alloc(f->arena, size + !size), data, size);
  void **slot = namemap_put(first->arena, &first->aligned, (const char *)data);
  const Aligned *known = *slot;
  if (known && known->size >= size) return known->bytes;
  Aligned *copy = ARENA_NEW(first->arena, Aligned);
  *copy = (Aligned){memcpy(arena_alloc(first->arena, size + !size), data, size), size};
  if (first->mapped) map_give_back(bytes, size); /* the copy is read from now on */
  *slot = copy;
  return copy->bytes;
}

void onnx_close(OnnxFile *f) {
  if (!f) return;
  for (size_t i = 0; i < f->externals.len; i++)
    munmap((void *)f->externals.data[i].bytes,
           f->externals.data[i].size + !f->externals.data[i].size);
  f->externals.len = 0;
  if (f->mapped) munmap((void *)f->bytes, f->size + !f->size);
  f->mapped = false;
}

bool onnx_is_mapped(const OnnxFile *f, const void *data) {
  const OnnxFile *first = f->first;
  const uint8_t *at = data;
  if (first->mapped && at >= first->bytes && at < first->bytes + first->size) return true;
  for (size_t i = 0; i < f->externals.len; i++) {
    const Mapping *m = &f->externals.data[i];
    if (at >= m->bytes && at < m->bytes + m->size) return true;
  }
  return false;
}

bool onnx_mapped(const OnnxFile *f, size_t i, MappedFile *out) {
  if (!f->mapped || i > f->externals.len) return false;
  *out = (MappedFile){f->path, f->bytes, f->size};
  if (!i) return true;
  const Mapping *m = &f->externals.data[i - 1];
  *out = (MappedFile){arena_printf(f->arena, "%s%s", f->folder, m->location), m->bytes, m->size};
  return true;
}

/* The first field of a model is its ir_version; no text begins with that byte. */
bool onnx_is_model(const char *path, const char *start, size_t len) {
  size_t n = strlen(path);
  return (n > 5 && !strcmp(path + n - 5, ".onnx")) || (len && *start == 8);
}

Span onnx_location(const OnnxFile *f) { return f->location; }

/* ---- tensors' bytes ---- */

bool onnx_bytes(const OnnxFile *f, uint64_t at, uint64_t size, WeightBytes *out) {
  if (at > f->size || size > f->size - at) return false;
  *out = (WeightBytes){f->bytes + at, (size_t)size, "the model"};
  return true;
}

/* A relative path that stays in its folder. */
static bool is_relative_path(const char *path) {
  if (!*path || *path == '/') return false;
  for (const char *part = path;; part++) {
    const char *end = strchrnul(part, '/');
    if (end - part == 2 && !memcmp(part, "..", 2)) return false;
    if (!*end) return true;
    part = end;
  }
}

/* Opens it step by step, so that no symbolic link leads out of the folder. */
static int open_inside(const OnnxFile *f, const char *path) {
  char *rest = arena_strndup(f->arena, path, strlen(path)), *part;
  int fd = open(*f->folder ? f->folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd >= 0 && (part = strsep(&rest, "/"))) {
    if (!*part) continue;
    int next = openat(fd, part, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    int error = errno;
    close(fd);
    errno = error;
    fd = next;
  }
  return fd;
}

static bool external_error(const OnnxFile *f, const char *tensor, const char *location,
                           const char *why) {
  Text quoted = text_new(f->arena);
  text_quote(&quoted, location);
  diag_error(f->diags, f->location, E_ONNX_EXTERNAL, tensor, quoted.data, why);
  return false;
}

static const Mapping *find_external(OnnxFile *f, const char *tensor, const char *location) {
  Name name = pool_name(f->names, location);
  for (size_t i = 0; i < f->externals.len; i++)
    if (f->externals.data[i].location == name) return &f->externals.data[i];
  if (!f->folder) {
    external_error(f, tensor, location, "a model in memory has no folder");
  } else if (!is_relative_path(location)) {
    external_error(f, tensor, location, "it is no path below the model's folder");
  } else {
    vec_reserve(f->arena, &f->externals, f->externals.len + 1);
    Mapping m = {.location = name};
    m.bytes = map_descriptor(open_inside(f, location), &m.size);
    if (!m.bytes) return external_error(f, tensor, location, strerror(errno)), NULL;
    vec_push(f->arena, &f->externals, m);
    return &f->externals.data[f->externals.len - 1];
  }
  return NULL;
}

bool onnx_external(OnnxFile *f, const char *tensor, const char *location, uint64_t at,
                   uint64_t size, WeightBytes *out) {
  const Mapping *m = find_external(f, tensor, location);
  if (!m) return false;
  if (at <= m->size && size == UINT64_MAX) size = m->size - at;
  if (at > m->size || size > m->size - at)
    return external_error(f, tensor, location, "its bytes lie behind the end of that file");
  *out = (WeightBytes){m->bytes + at, (size_t)size, m->location};
  return true;
}

/* ---- unpacking ---- */

/* A walk over a message, which writes it again without the bytes of large tensors and without
 * fields that are unknown.  Lengths are written in five bytes each, so that they can be filled in
 * when they are known. */
typedef struct {
  const uint8_t *file;
  Arena *arena;
  VEC(uint8_t) out;
  uint32_t messages, depth;
  const char *wrong; /* NULL: nothing so far */
} Walk;

typedef struct {
  const uint8_t *at, *end;
} Bytes;

static bool report_file_error(Walk *w, const char *what) {
  w->wrong = what;
  return false;
}

static bool read_varint(Bytes *b, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 64 && b->at < b->end; shift += 7) {
    uint8_t byte = *b->at++;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

static void put_field_bytes(Walk *w, const uint8_t *bytes, size_t n) {
  vec_reserve(w->arena, &w->out, w->out.len + n);
  if (n) memcpy(w->out.data + w->out.len, bytes, n);
  w->out.len += n;
}

static void put_fixed64(Walk *w, uint32_t field, uint64_t value) {
  uint8_t bytes[16];
  size_t n = 0;
  for (uint64_t key = (uint64_t)field << 3 | PROTOBUF_C_WIRE_TYPE_64BIT; key; key >>= 7)
    bytes[n++] = (uint8_t)((key & 127) | (key > 127) << 7);
  for (int i = 0; i < 8; i++) bytes[n++] = (uint8_t)(value >> 8 * i);
  put_field_bytes(w, bytes, n);
}

enum { LENGTH_BYTES = 5, RAW_DATA = 9, RAW_AT = 1001, RAW_SIZE = 1002, OUR_FIELDS = 1000 };

static void fill_length(Walk *w, size_t at, size_t length) {
  for (int i = 0; i < LENGTH_BYTES; i++, length >>= 7)
    w->out.data[at + i] = (uint8_t)((length & 127) | (i + 1 < LENGTH_BYTES) << 7);
}

static bool walk_message(Walk *w, Bytes b, const ProtobufCMessageDescriptor *type);

/* The value of a field, which begins with its key at `start`. */
static bool walk_length(Walk *w, Bytes *b, const uint8_t *start, const ProtobufCFieldDescriptor *f,
                        const ProtobufCMessageDescriptor *type) {
  uint64_t length;
  const uint8_t *key_end = b->at;
  if (!read_varint(b, &length) || length > (uint64_t)(b->end - b->at))
    return report_file_error(w, "it is truncated");
  Bytes inner = {b->at, b->at + length};
  b->at = inner.end;
  if (!f) return true;
  if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
    put_field_bytes(w, start, (size_t)(key_end - start));
    size_t at = w->out.len;
    put_field_bytes(w, (const uint8_t[LENGTH_BYTES]){0}, LENGTH_BYTES);
    if (!walk_message(w, inner, f->descriptor)) return false;
    fill_length(w, at, w->out.len - at - LENGTH_BYTES);
  } else if (type == &onnx__tensor__descriptor && f->id == RAW_DATA && length > ONNX_INLINE_MAX) {
    put_fixed64(w, RAW_AT, (uint64_t)(inner.at - w->file));
    put_fixed64(w, RAW_SIZE, length);
  } else {
    put_field_bytes(w, start, (size_t)(inner.end - start));
  }
  return true;
}

static bool walk_field(Walk *w, Bytes *b, const ProtobufCMessageDescriptor *type) {
  const uint8_t *start = b->at;
  uint64_t key, value;
  if (!read_varint(b, &key)) return report_file_error(w, "it is truncated");
  if (key >> 3 == 0 || key >> 3 >= 1u << 29)
    return report_file_error(w, "a field has no valid number");
  uint32_t number = (uint32_t)(key >> 3);
  const ProtobufCFieldDescriptor *f =
      number < OUR_FIELDS ? protobuf_c_message_descriptor_get_field(type, number) : NULL;
  size_t fixed = 0;
  switch (key & 7) {
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED: return walk_length(w, b, start, f, type);
    case PROTOBUF_C_WIRE_TYPE_VARINT:
      if (!read_varint(b, &value)) return report_file_error(w, "it is truncated");
      break;
    case PROTOBUF_C_WIRE_TYPE_64BIT: fixed = 8; break;
    case PROTOBUF_C_WIRE_TYPE_32BIT: fixed = 4; break;
    default: return report_file_error(w, "a field has no valid type");
  }
  if (fixed > (size_t)(b->end - b->at)) return report_file_error(w, "it is truncated");
  b->at += fixed;
  if (f) put_field_bytes(w, start, (size_t)(b->at - start));
  return true;
}

static bool walk_message(Walk *w, Bytes b, const ProtobufCMessageDescriptor *type) {
  if (++w->messages > ONNX_MESSAGES_MAX) return report_file_error(w, "it has too many parts");
  if (++w->depth > ONNX_DEPTH_MAX) return report_file_error(w, "it is nested too deeply");
  while (b.at < b.end)
    if (!walk_field(w, &b, type)) return false;
  w->depth--;
  return true;
}

static void *protobuf_allocate(void *arena, size_t size) { return arena_alloc(arena, size); }

static void protobuf_release(void *arena, void *p) { (void)arena, (void)p; }

Onnx__Model *onnx_unpack(OnnxFile *f, Arena *a) {
  Walk w = {.file = f->bytes, .arena = a};
  ProtobufCAllocator allocator = {protobuf_allocate, protobuf_release, a};
  Onnx__Model *m = NULL;
  if (walk_message(&w, (Bytes){f->bytes, f->bytes + f->size}, &onnx__model__descriptor)) {
    w.wrong = "it is no model";
    if (w.out.len < INT32_MAX) m = onnx__model__unpack(&allocator, w.out.len, w.out.data);
  }
  if (m && m->graph) return m;
  diag_error(f->diags, f->location, E_ONNX_FILE, w.wrong);
  return NULL;
}
