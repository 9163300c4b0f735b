#include "import/archives/tensor_directory.h"

#include <stdlib.h>
#include <string.h>

#include "import/messages.h"

/* ---- messages ---- */

bool tensor_file_fail(TensorFile *f, const char *fault) {
  diag_error(f->diags, f->location, E_TENSORS_FILE, f->format, fault);
  return false;
}

bool tensor_entry_fail(TensorFile *f, Name tensor, const char *fault) {
  diag_error(f->diags, f->location, E_TENSORS_ENTRY, tensor, f->format, fault);
  return false;
}

/* ---- the directory ---- */

int64_t tensor_entry_elements(const TensorEntry *e) {
  int64_t n = 1;
  bool empty = false;
  for (uint32_t i = 0; i < e->rank; i++) {
    empty |= !e->shape[i];
    if (e->shape[i] && __builtin_mul_overflow(n, e->shape[i], &n)) return -1;
  }
  return empty ? 0 : n;
}

bool tensor_entry_add(TensorFile *f, TensorEntry e) {
  int64_t n = tensor_entry_elements(&e), bytes = 0;
  void **slot = namemap_put(f->arena, &f->by_name, e.name);
  if (*slot) return tensor_entry_fail(f, e.name, "it is there twice");
  bool fits = n >= 0;
  if (fits && e.dtype)
    fits = !__builtin_mul_overflow(n, (int64_t)dtype_bytes(e.dtype), &bytes) &&
           (uint64_t)bytes == e.size;
  if (!fits) return tensor_entry_fail(f, e.name, "its bytes are not as many as its elements take");
  TensorEntry *added = *slot = ARENA_NEW(f->arena, TensorEntry);
  *added = e;
  vec_push(f->arena, &f->entries, added);
  return true;
}

static int compare_places(const void *a, const void *b) {
  const TensorEntry *const *x = a, *const *y = b;
  return ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

/* No two tensors have a byte in common. */
bool tensor_directory_check(TensorFile *f) {
  size_t n = f->entries.len, end = 0;
  TensorEntry **list = ARENA_ARRAY(f->arena, TensorEntry *, n);
  if (n) memcpy(list, f->entries.data, n * sizeof *list);
  qsort(list, n, sizeof *list, compare_places);
  for (size_t i = 0; i < n; i++) {
    if (!list[i]->size) continue;
    if (list[i]->offset < end)
      return tensor_entry_fail(f, list[i]->name, "another tensor has some of its bytes");
    end = list[i]->offset + list[i]->size;
  }
  return true;
}
