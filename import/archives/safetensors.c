/* safetensors: the length of a JSON object, the object, bytes.  Its members are tensors by name:
 * their dtype, shape, and the range of their bytes; there are no gaps. */
#include <stdlib.h>
#include <string.h>

#include "import/archives/tensor_directory.h"
#include "import/messages.h"
#include "import/text/json.h"

enum { LENGTH_BYTES = 8, HEADER_MAX = 100000000 };

static const struct {
  const char *name;
  DType dtype;
} dtypes[] = {{"BOOL", DT_I1}, {"U8", DT_U8},        {"I8", DT_I8},         {"U16", DT_U16},
              {"I16", DT_I16}, {"U32", DT_U32},      {"I32", DT_I32},       {"U64", DT_U64},
              {"I64", DT_I64}, {"F16", DT_F16},      {"BF16", DT_BF16},     {"F32", DT_F32},
              {"F64", DT_F64}, {"F8_E5M2", DT_F8E5}, {"F8_E4M3", DT_F8E4NV}};

static DType dtype_of(const char *name) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (!strcmp(dtypes[i].name, name)) return dtypes[i].dtype;
  return DT_NONE;
}

/* A list of integers that are not negative; false: it is none. */
static bool read_numbers(const Json *list, uint32_t most, int64_t *out) {
  if (!json_is(list, JSON_ARRAY) || list->n > most) return false;
  for (uint32_t i = 0; i < list->n; i++) {
    const Json *v = json_item(list, i);
    if (!json_is(v, JSON_INTEGER) || v->integer < 0) return false;
    out[i] = v->integer;
  }
  return true;
}

static bool read_tensor(TensorFile *f, size_t data, const JsonMember *m) {
  Name name = pool_name(f->names, m->key);
  const Json *type = json_get(&m->value, "dtype"), *shape = json_get(&m->value, "shape");
  const Json *place = json_get(&m->value, "data_offsets");
  int64_t range[2] = {0, 0};
  TensorEntry e = {.name = name};
  if (!json_is(type, JSON_STRING) || !read_numbers(place, 2, range) || place->n != 2)
    return tensor_entry_fail(f, name, "it has no dtype, or no range of bytes");
  if (json_length(shape) > GRAPH_RANK_MAX)
    return tensor_entry_fail(f, name, "it has too many axes");
  if (!read_numbers(shape, GRAPH_RANK_MAX, e.shape))
    return tensor_entry_fail(f, name, "it has no shape");
  if (range[0] > range[1] || (uint64_t)range[1] > f->size - data)
    return tensor_entry_fail(f, name, "its bytes are beyond the end of the file");
  e.rank = shape->n;
  e.type = arena_printf(f->arena, "%s", type->string);
  e.dtype = dtype_of(type->string);
  e.offset = data + (size_t)range[0];
  e.size = (size_t)(range[1] - range[0]);
  return tensor_entry_add(f, e);
}

static bool read_header(TensorFile *f, Arena *scratch, size_t length) {
  JsonError error;
  const Json *root = json_read(scratch, (const char *)f->bytes + LENGTH_BYTES, length, &error);
  if (!root)
    return tensor_file_fail(f, arena_printf(f->arena, "line %d, column %d of its header: %s",
                                            error.line, error.column, error.what));
  if (!json_is(root, JSON_OBJECT)) return tensor_file_fail(f, "its header is no object");
  for (size_t i = 0; i < json_length(root); i++) {
    const JsonMember *m = json_member(root, i);
    if (strcmp(m->key, "__metadata__") != 0 && !read_tensor(f, LENGTH_BYTES + length, m))
      return false;
  }
  return true;
}

bool safetensors_read(TensorFile *f) {
  uint64_t length = 0;
  if (f->size < LENGTH_BYTES) return tensor_file_fail(f, "it ends in its header");
  for (int i = 0; i < LENGTH_BYTES; i++) length |= (uint64_t)f->bytes[i] << 8 * i;
  if (length > HEADER_MAX) return tensor_file_fail(f, "its header would have over 100 MB");
  if (length > f->size - LENGTH_BYTES) return tensor_file_fail(f, "it ends in its header");
  Arena *scratch = arena_child(f->arena);
  bool ok = read_header(f, scratch, (size_t)length);
  arena_free(scratch);
  return ok;
}
