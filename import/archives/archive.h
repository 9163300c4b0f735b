/* import owns the readers of model files: .pt2 (import/pt2/pt2.h), .onnx
 * (import/onnx/onnx.h) and the text of graphs.  It takes the bytes of a file, which it does
 * not trust, and gives a graph without inferred types, and its weights.
 *
 * Here: zip archives whose entries are stored, not compressed, as model files are: mapped
 * read-only, so that weights are used in place.
 *
 * The directory is checked before use: each entry is within the file, its name is a plain relative
 * path, and no two have the same name.  Nothing is ever unpacked. */
#ifndef NEREID_IMPORT_ARCHIVES_ARCHIVE_H
#define NEREID_IMPORT_ARCHIVES_ARCHIVE_H

#include "import/archives/map.h"
#include "lang/base/diag.h"

typedef struct {
  Name name; /* "model/models/model.json" */
  const uint8_t *data;
  size_t size;
} ArchiveEntry;

typedef struct Archive Archive;

/* NULL after an error, which was reported.  The archive is allocated in `a`, the mapping is not:
 * entries are valid until archive_close. */
Archive *archive_open(Arena *a, Pool *names, Diags *d, const char *path);
/* Opens a file that is in memory already; messages call it `name`. */
Archive *archive_of_bytes(Arena *a, Pool *names, Diags *d, const char *name, const void *bytes,
                          size_t size);
/* The archive may be NULL. */
void archive_close(Archive *f);

/* False if it is in the caller's memory. */
bool archive_is_mapped(const Archive *f);
bool archive_mapped(const Archive *f, MappedFile *out);

/* The location of messages about this file. */
Span archive_location(const Archive *f);
size_t archive_count(const Archive *f);
/* Entries are in the order of names. */
const ArchiveEntry *archive_at(const Archive *f, size_t i);
/* NULL if there is none. */
const ArchiveEntry *archive_find(const Archive *f, const char *name);

#endif
