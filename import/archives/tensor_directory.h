/* The directory of a file of tensors, which its readers fill. */
#ifndef NEREID_IMPORT_ARCHIVES_TENSOR_DIRECTORY_H
#define NEREID_IMPORT_ARCHIVES_TENSOR_DIRECTORY_H

#include "import/archives/gguf_blocks.h"
#include "import/archives/tensor_file.h"

typedef struct {
  Name name;
  DType dtype;           /* DT_NONE: of blocks, or of no type of ours */
  const BlockKind *kind; /* NULL: its elements are of the dtype */
  const char *type;      /* what the file calls it */
  uint32_t rank;
  int64_t shape[GRAPH_RANK_MAX];
  size_t offset, size; /* bytes of the file */
} TensorEntry;

struct TensorFile {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Span location;
  const char *path, *format;
  const uint8_t *bytes;
  size_t size;
  bool mapped;
  NameMap by_name; /* of entries */
  VEC(TensorEntry *) entries;
  VEC(void *) made; /* floats of blocks, and copies that are aligned */
};

/* An error of the file, or of one of its tensors; false. */
bool tensor_file_fail(TensorFile *f, const char *fault);
bool tensor_entry_fail(TensorFile *f, Name tensor, const char *fault);
/* Adds what the file says of a tensor, whose sizes are not negative: its bytes must be as many as
 * its elements take.  False after an error. */
bool tensor_entry_add(TensorFile *f, TensorEntry e);

/* -1: they are too many, or would be if no axis were empty, as strides count them. */
int64_t tensor_entry_elements(const TensorEntry *e);
/* False after an error: tensors have bytes in common. */
bool tensor_directory_check(TensorFile *f);

/* ---- safetensors.c, gguf.c ---- */

/* Both fill the directory; false after an error. */
bool safetensors_read(TensorFile *f);
bool gguf_read(TensorFile *f);

#endif
