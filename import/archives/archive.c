/* Minizip walks the directory, reading from the mapping through its callbacks. */
#include "import/archives/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <minizip/unzip.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/archives/map.h"
#include "import/messages.h"

enum { NAME_MAX_BYTES = 1024, ENTRIES_MAX = 1 << 20 };

struct Archive {
  Diags *diags;
  Pool *names;
  Span location;
  const uint8_t *bytes;
  size_t size;
  bool mapped;
  const char *path; /* of the mapping */
  VEC(ArchiveEntry) entries;
};

/* ---- minizip's view of memory ---- */

typedef struct {
  const Archive *file;
  size_t at;
} Cursor;

static voidpf cursor_open(voidpf cursor, const void *name, int mode) {
  (void)name, (void)mode;
  return cursor;
}

static uLong cursor_read(voidpf opaque, voidpf stream, void *to, uLong n) {
  Cursor *c = stream;
  (void)opaque;
  if (n > c->file->size - c->at) n = c->file->size - c->at;
  memcpy(to, c->file->bytes + c->at, n);
  c->at += n;
  return n;
}

static uLong cursor_write(voidpf opaque, voidpf stream, const void *from, uLong n) {
  (void)opaque, (void)stream, (void)from, (void)n;
  return 0;
}

static ZPOS64_T cursor_tell(voidpf opaque, voidpf stream) {
  (void)opaque;
  return ((Cursor *)stream)->at;
}

static long cursor_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin) {
  Cursor *c = stream;
  size_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? c->at
                : origin == ZLIB_FILEFUNC_SEEK_END ? c->file->size
                                                   : 0;
  (void)opaque;
  if (offset > c->file->size - base) return -1;
  c->at = base + (size_t)offset;
  return 0;
}

static int cursor_close(voidpf opaque, voidpf stream) {
  (void)opaque, (void)stream;
  return 0;
}

/* ---- the directory ---- */

static bool fail_entry(const Archive *f, const char *entry, const char *what) {
  diag_error(f->diags, f->location, E_GRAPH_ZIP_ENTRY, entry, what);
  return false;
}

/* A relative path without steps upwards, of printable characters. */
static bool plain_name(const char *name) {
  for (const char *p = name; *p; p++)
    if ((unsigned char)*p < ' ' || *p == '\\' || *p == 127) return false;
  for (const char *part = name;; part++) {
    const char *end = strchrnul(part, '/');
    if (end == name || (end - part == 2 && !memcmp(part, "..", 2))) return false;
    if (!*end) return true;
    part = end;
  }
}

/* The offset of the current entry's bytes, from its local header. */
static bool entry_data(Archive *f, Arena *a, unzFile zip, const unz_file_info64 *info,
                       ArchiveEntry *e) {
  int method, level;
  int status = unzOpenCurrentFile2(zip, &method, &level, 1);
  if (status == UNZ_INTERNALERROR) arena_out_of_memory(a);
  if (status != UNZ_OK) return fail_entry(f, e->name, "its header is damaged");
  ZPOS64_T at = unzGetCurrentFileZStreamPos64(zip);
  unzCloseCurrentFile(zip);
  if (at > f->size || info->uncompressed_size > f->size - at)
    return fail_entry(f, e->name, "it reaches past the end of the file, which may be truncated");
  e->data = f->bytes + at;
  e->size = (size_t)info->uncompressed_size;
  return true;
}

static bool read_entry(Archive *f, Arena *a, unzFile zip) {
  char name[NAME_MAX_BYTES];
  unz_file_info64 info;
  if (unzGetCurrentFileInfo64(zip, &info, name, sizeof name, NULL, 0, NULL, 0) != UNZ_OK)
    return fail_entry(f, "of the directory", "it is damaged");
  if (info.size_filename >= sizeof name)
    return fail_entry(f, "of the directory", "its name is too long");
  if (strlen(name) != info.size_filename || !plain_name(name)) {
    Text quoted = text_new(a);
    text_quote(&quoted, name);
    return fail_entry(f, quoted.data, "its name is no plain relative path");
  }
  ArchiveEntry e = {.name = pool_name(f->names, name)};
  if (info.flag & 1) return fail_entry(f, name, "it is encrypted");
  if (info.compression_method) return fail_entry(f, name, "it is compressed");
  if (info.compressed_size != info.uncompressed_size)
    return fail_entry(f, name, "it has two sizes");
  if (!entry_data(f, a, zip, &info, &e)) return false;
  vec_push(a, &f->entries, e);
  return true;
}

static int compare_entry_names(const void *a, const void *b) {
  return strcmp(((const ArchiveEntry *)a)->name, ((const ArchiveEntry *)b)->name);
}

static bool sort_entries(Archive *f) {
  if (!f->entries.len) return true;
  qsort(f->entries.data, f->entries.len, sizeof *f->entries.data, compare_entry_names);
  for (size_t i = 1; i < f->entries.len; i++)
    if (f->entries.data[i].name == f->entries.data[i - 1].name)
      return fail_entry(f, f->entries.data[i].name, "another one has the same name");
  return true;
}

typedef struct {
  Archive *file;
  Arena *arena;
  unzFile zip;
} Walk;

static bool walk_directory(void *walk) {
  const Walk *w = walk;
  int status = unzGoToFirstFile(w->zip);
  for (; status == UNZ_OK; status = unzGoToNextFile(w->zip)) {
    if (w->file->entries.len == ENTRIES_MAX)
      return fail_entry(w->file, "of the directory", "there are too many");
    if (!read_entry(w->file, w->arena, w->zip)) return false;
  }
  if (status != UNZ_END_OF_LIST_OF_FILE)
    return fail_entry(w->file, "of the directory", "it is damaged");
  return sort_entries(w->file);
}

static void close_zip(void *walk) { unzClose(((Walk *)walk)->zip); }

static bool read_directory(Archive *f, Arena *a) {
  Cursor cursor = {f, 0};
  zlib_filefunc64_def calls = {.zopen64_file = cursor_open,
                               .zread_file = cursor_read,
                               .zwrite_file = cursor_write,
                               .ztell64_file = cursor_tell,
                               .zseek64_file = cursor_seek,
                               .zclose_file = cursor_close,
                               .zerror_file = cursor_close,
                               .opaque = &cursor};
  Walk w = {f, a, unzOpen2_64("", &calls)};
  if (!w.zip) {
    diag_error(f->diags, f->location, E_GRAPH_ZIP);
    return false;
  }
  bool ok = arena_guard(a, walk_directory, close_zip, &w);
  close_zip(&w);
  return ok;
}

/* ---- files ---- */

typedef struct {
  Archive *file;
  Arena *arena;
  const char *name;
} Opening;

static bool open_bytes(void *opening) {
  const Opening *o = opening;
  o->file->location.file = diag_source(o->file->diags, pool_name(o->file->names, o->name), NULL, 0);
  return read_directory(o->file, o->arena);
}

Archive *archive_of_bytes(Arena *a, Pool *names, Diags *d, const char *name, const void *bytes,
                          size_t size) {
  Archive *f = ARENA_NEW(a, Archive);
  *f = (Archive){.diags = d, .names = names, .bytes = bytes, .size = size};
  Opening o = {f, a, name};
  return open_bytes(&o) ? f : NULL;
}

static void unmap(void *opening) { archive_close(((Opening *)opening)->file); }

Archive *archive_open(Arena *a, Pool *names, Diags *d, const char *path) {
  Archive *f = ARENA_NEW(a, Archive);
  *f = (Archive){.diags = d, .names = names, .path = pool_name(names, path)};
  f->bytes = map_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), &f->size);
  f->mapped = f->bytes;
  if (!f->bytes) {
    const char *why = strerror(errno);
    Span location = {.file = diag_source(d, pool_name(names, path), NULL, 0)};
    diag_error(d, location, E_GRAPH_OPEN, why);
    return NULL;
  }
  Opening o = {f, a, path};
  if (arena_guard(a, open_bytes, unmap, &o)) return f;
  archive_close(f);
  return NULL;
}

void archive_close(Archive *f) {
  if (!f || !f->mapped) return;
  munmap((void *)f->bytes, f->size ? f->size : 1);
  f->mapped = false;
  f->entries.len = 0;
}

bool archive_is_mapped(const Archive *f) { return f->mapped; }

bool archive_mapped(const Archive *f, MappedFile *out) {
  *out = (MappedFile){f->path, f->bytes, f->size};
  return f->mapped;
}

Span archive_location(const Archive *f) { return f->location; }
size_t archive_count(const Archive *f) { return f->entries.len; }
const ArchiveEntry *archive_at(const Archive *f, size_t i) { return &f->entries.data[i]; }

const ArchiveEntry *archive_find(const Archive *f, const char *name) {
  ArchiveEntry key = {.name = name};
  if (!f->entries.len) return NULL;
  return bsearch(&key, f->entries.data, f->entries.len, sizeof key, compare_entry_names);
}
