/* Files that hold tensors alone, by name: safetensors and GGUF, mapped read-only.
 *
 * The directory is checked before use: each tensor is within the file, none has bytes of another,
 * names differ, and nothing is larger than the file can say.  Tensors are used in place; those of
 * GGUF's blocks of few bits become floats when they are asked for. */
#ifndef NEREID_IMPORT_ARCHIVES_TENSOR_FILE_H
#define NEREID_IMPORT_ARCHIVES_TENSOR_FILE_H

#include "graph/ir/weight_list.h"
#include "import/archives/map.h"

typedef struct TensorFile TensorFile;

/* Is it such a file, by its name and first bytes? */
enum { TENSOR_FILE_START = 9 };
bool tensor_file_is(const char *path, const char *start, size_t n);

/* NULL after an error, which was reported.  Its directory is allocated in `a`; the mapping and
 * floats made of blocks are not: they are valid until tensor_file_close. */
TensorFile *tensor_file_open(Arena *a, Pool *names, Diags *d, const char *path);
/* The same of bytes in memory; messages call them `path`. */
TensorFile *tensor_file_of_bytes(Arena *a, Pool *names, Diags *d, const char *path,
                                 const void *bytes, size_t size);
void tensor_file_close(TensorFile *f); /* may be NULL */

/* The tensor for a parameter of forward: that of the name, which may be NULL, or as PyTorch names
 * parameters: p_layers_0_weight takes layers.0.weight.  NULL if there is none, or several. */
Name tensor_file_name(const TensorFile *f, Name name, Name parameter);

/* Puts the tensor of that name into `w`, if the file has it; one of blocks in dtype `t`, if that is
 * a float's, else in f32, and *name is then what it is called there.  False after an error. */
bool tensor_file_find(TensorFile *f, Weights *w, Name *name, DType t);

/* False if it is in the caller's memory. */
bool tensor_file_mapped(const TensorFile *f, MappedFile *out);

#endif
