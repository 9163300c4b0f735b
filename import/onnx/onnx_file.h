/* The bytes of an ONNX model: its file, mapped read-only, and the files beside it that hold
 * tensors.
 *
 * A model is one protobuf message, whose nesting and whose numbers of messages are bounded here,
 * before protobuf-c, which recurses and trusts, unpacks it.  The bytes of large tensors are not
 * unpacked: they stay where the file is mapped. */
#ifndef NEREID_IMPORT_ONNX_ONNX_FILE_H
#define NEREID_IMPORT_ONNX_ONNX_FILE_H

#include "graph/ir/weight_list.h"
#include "import/archives/map.h"
#include "lang/base/diag.h"

enum {
  ONNX_DEPTH_MAX = 100,         /* of messages in messages */
  ONNX_MESSAGES_MAX = 20000000, /* nodes, attributes, tensors, ... */
  ONNX_INLINE_MAX = 64          /* longer bytes of tensors stay in the file */
};

typedef struct OnnxFile OnnxFile;

/* NULL after an error, which was reported.  The file is allocated in `a`, its mappings are not:
 * they are valid until onnx_close. */
OnnxFile *onnx_open(Arena *a, Pool *names, Diags *d, const char *path);
/* Opens a file that is in memory already; messages call it `name`. */
OnnxFile *onnx_of_bytes(Arena *a, Pool *names, Diags *d, const char *name, const void *bytes,
                        size_t size);
/* Opens the same file again, for another reader; `of` must outlive it. */
OnnxFile *onnx_again(Arena *a, Pool *names, Diags *d, const OnnxFile *of);
/* The file may be NULL. */
void onnx_close(OnnxFile *f);

/* Bytes of the file, or others, at an address that `unit` divides: a copy where theirs is none.
 * All readers of a file share its copies. */
const void *onnx_aligned(OnnxFile *f, const void *data, size_t size, size_t unit);

/* Is the byte in the mapping of the model's file, or of one beside it? */
bool onnx_is_mapped(const OnnxFile *f, const void *data);
/* The model's file (0), and those beside it that were opened; false past the last one, and for a
 * model in memory. */
bool onnx_mapped(const OnnxFile *f, size_t i, MappedFile *out);

/* Does a file that begins so look like a model? */
bool onnx_is_model(const char *path, const char *start, size_t len);

/* The location of messages about this file. */
Span onnx_location(const OnnxFile *f);

/* The message Model without the bytes of large tensors: `raw_at` and `raw_size` are their offset
 * and size in the file.  NULL after an error.  It is allocated in `a`. */
struct Onnx__Model *onnx_unpack(OnnxFile *f, Arena *a);
/* The bytes of the file from `at` on; false if it has no so many. */
bool onnx_bytes(const OnnxFile *f, uint64_t at, uint64_t size, WeightBytes *out);
/* Bytes of the file `location` in the model's folder or below.  False after an error, which names
 * the tensor; `size` UINT64_MAX: up to the end. */
bool onnx_external(OnnxFile *f, const char *tensor, const char *location, uint64_t at,
                   uint64_t size, WeightBytes *out);

#endif
