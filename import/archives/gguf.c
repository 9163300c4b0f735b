/* GGUF, versions 2 and 3: pairs of names and values, of which only the alignment counts here, then
 * names, types, sizes and places of tensors, then their bytes. */
#include <stdlib.h>
#include <string.h>

#include "import/archives/tensor_directory.h"
#include "import/messages.h"

enum { ALIGNMENT = 32, ALIGNMENT_MAX = 1 << 20, NESTED_MAX = 4, NAME_BYTES_MAX = 65535 };
enum { VALUE_U32 = 4, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUES = 13 };

/* Bytes of a value by its type; 0: a string or an array. */
static const uint8_t value_bytes[VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static const struct {
  uint32_t type;
  DType dtype;
} dtypes[] = {{0, DT_F32},  {1, DT_F16},  {24, DT_I8},  {25, DT_I16},
              {26, DT_I32}, {27, DT_I64}, {28, DT_F64}, {30, DT_BF16}};

typedef struct {
  TensorFile *f;
  size_t at;
  bool ended; /* more was wanted than there is */
} Cursor;

static size_t left(const Cursor *c) { return c->f->size - c->at; }

static const uint8_t *take(Cursor *c, uint64_t n) {
  if (n > left(c)) c->ended = true;
  if (c->ended) return NULL;
  c->at += (size_t)n;
  return c->f->bytes + c->at - n;
}

static uint64_t take_number(Cursor *c, uint32_t bytes) {
  const uint8_t *p = take(c, bytes);
  uint64_t x = 0;
  for (uint32_t i = 0; p && i < bytes; i++) x |= (uint64_t)p[i] << 8 * i;
  return x;
}

static const char *take_text(Cursor *c, uint64_t *n) {
  *n = take_number(c, 8);
  return (const char *)take(c, *n);
}

static void skip_value(Cursor *c, uint32_t type, uint32_t depth) {
  uint64_t n;
  if (type >= VALUES || depth > NESTED_MAX) {
    c->ended = true;
  } else if (value_bytes[type]) {
    take(c, value_bytes[type]);
  } else if (type == VALUE_STRING) {
    take_text(c, &n);
  } else {
    uint32_t item = (uint32_t)take_number(c, 4);
    n = take_number(c, 8);
    if (item < VALUES && value_bytes[item]) {
      if (n > left(c) / value_bytes[item]) c->ended = true;
      take(c, n * value_bytes[item]);
    } else {
      for (uint64_t i = 0; i < n && !c->ended; i++) skip_value(c, item, depth + 1);
    }
  }
}

/* Values are skipped but for the alignment of tensors. */
static bool read_values(Cursor *c, uint64_t count, uint64_t *alignment) {
  static const char key[] = "general.alignment";
  for (uint64_t i = 0; i < count && !c->ended; i++) {
    uint64_t n;
    const char *name = take_text(c, &n);
    uint32_t type = (uint32_t)take_number(c, 4);
    bool aligns = name && n == sizeof key - 1 && !memcmp(name, key, n) && type == VALUE_U32;
    if (aligns) *alignment = take_number(c, 4);
    else skip_value(c, type, 0);
  }
  if (c->ended) return tensor_file_fail(c->f, "it ends in its values, or one has no known type");
  if (!*alignment || *alignment % 8 || *alignment > ALIGNMENT_MAX)
    return tensor_file_fail(c->f, "its alignment is no multiple of 8 up to 1 MiB");
  return true;
}

static void set_type(TensorFile *f, TensorEntry *e, uint32_t type) {
  e->kind = gguf_block_kind(type);
  e->type = e->kind ? e->kind->name : arena_printf(f->arena, "%u", type);
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (dtypes[i].type == type) e->dtype = dtypes[i].dtype;
}

/* Elements, then bytes; false: they are too many. */
static bool count_bytes(const TensorEntry *e, size_t *bytes) {
  int64_t n = 1;
  for (uint32_t i = 0; i < e->rank; i++)
    if (__builtin_mul_overflow(n, e->shape[i], &n)) return false;
  int64_t per = e->kind ? e->kind->bytes : e->dtype ? (int64_t)dtype_bytes(e->dtype) : 0;
  int64_t last = e->rank ? e->shape[e->rank - 1] : 1;
  if (e->kind && last % e->kind->elements) return false;
  if (e->kind) n /= e->kind->elements;
  return !__builtin_mul_overflow(n, per, (int64_t *)bytes);
}

/* Sizes in the file begin with that of the last axis. */
static bool read_tensor(Cursor *c, TensorEntry *e) {
  uint64_t n;
  const char *name = take_text(c, &n);
  uint32_t rank = (uint32_t)take_number(c, 4);
  if (!name || c->ended) return tensor_file_fail(c->f, "it ends in its list of tensors");
  if (!n || n > NAME_BYTES_MAX || memchr(name, 0, n))
    return tensor_file_fail(c->f, "the name of a tensor is empty or too long");
  *e = (TensorEntry){.name = pool_namen(c->f->names, name, n), .rank = rank};
  if (rank > GRAPH_RANK_MAX) return tensor_entry_fail(c->f, e->name, "it has too many axes");
  for (uint32_t i = rank; i--;) {
    uint64_t size = take_number(c, 8);
    if (size > INT64_MAX) return tensor_entry_fail(c->f, e->name, "it has no shape");
    e->shape[i] = (int64_t)size;
  }
  set_type(c->f, e, (uint32_t)take_number(c, 4));
  e->offset = (size_t)take_number(c, 8);
  if (c->ended) return tensor_file_fail(c->f, "it ends in its list of tensors");
  if (!count_bytes(e, &e->size))
    return tensor_entry_fail(c->f, e->name, "its sizes are no whole blocks, or too large");
  return true;
}

static bool read_tensors(Cursor *c, uint64_t count, uint64_t alignment) {
  enum { LEAST = 24 }; /* bytes for a tensor */
  if (count > left(c) / LEAST) return tensor_file_fail(c->f, "it ends in its list of tensors");
  TensorEntry *list = ARENA_ARRAY(c->f->arena, TensorEntry, count);
  for (uint64_t i = 0; i < count; i++)
    if (!read_tensor(c, &list[i])) return false;
  size_t data = (c->at + (size_t)alignment - 1) / (size_t)alignment * (size_t)alignment;
  for (uint64_t i = 0; i < count; i++) {
    TensorEntry *e = &list[i];
    if (data > c->f->size || e->offset > c->f->size - data || e->offset % alignment ||
        e->size > c->f->size - data - e->offset)
      return tensor_entry_fail(c->f, e->name, "its bytes are beyond the end of the file");
    e->offset += data;
    if (!tensor_entry_add(c->f, *e)) return false;
  }
  return true;
}

bool gguf_read(TensorFile *f) {
  enum { MAGIC = 4, PAIR = 13 }; /* bytes for a pair, at least */
  Cursor c = {.f = f, .at = MAGIC};
  if (f->size < MAGIC) return tensor_file_fail(f, "it ends in its header");
  uint64_t version = take_number(&c, 4), tensors = take_number(&c, 8), pairs = take_number(&c, 8);
  uint64_t alignment = ALIGNMENT;
  if (c.ended) return tensor_file_fail(f, "it ends in its header");
  if (version != 2 && version != 3)
    return tensor_file_fail(f, "its version is not 2 or 3, or its bytes are big-endian");
  if (pairs > left(&c) / PAIR) return tensor_file_fail(f, "it ends in its values");
  return read_values(&c, pairs, &alignment) && read_tensors(&c, tensors, alignment);
}
