/* The cache of compiled code on disk: a database that many processes share
 * (runtime/store/database.h).
 *
 * It is never needed: whatever goes wrong is told once, as a note, and the caller compiles.
 * Entries are checked by a hash when they are read.  A write that makes them larger than the limit
 * evicts those that were used least recently, in the same transaction. */
#ifndef NEREID_RUNTIME_STORE_CACHE_H
#define NEREID_RUNTIME_STORE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/support/error.h"

#define CACHE_FILE "code-2.db"

/* Kinds of entries: their names in the database and in lists, and their contents. */
#define CACHE_KINDS(X)                                                             \
  X(CACHE_LIBRARY, "library", "kernels of device cpu, as the C compiler made them") \
  X(CACHE_CUBIN, "cubin", "machine code of a kernel for a GPU, as ptxas made it")   \
  X(CACHE_KERNEL, "kernel", "PTX or C of a model's kernel")                         \
  X(CACHE_EXECUTABLE, "executable", "the plan and kernels of a graph without weights")  \
  X(CACHE_TUNING, "tuning", "keys and predictions of a tuner's candidates")         \
  X(CACHE_DEVICE, "device", "properties and peaks of a device")                     \
  X(CACHE_TOOL, "tool", "the version of a compiler")

#define CACHE_KIND(id, name, doc) id,
typedef enum { CACHE_KINDS(CACHE_KIND) CACHE_KIND_COUNT } CacheKind;
#undef CACHE_KIND

typedef struct Cache Cache;

typedef struct {
  unsigned char bytes[16];
} CacheKey;

/* A key of everything that matters: text by text, each with its length. */
typedef struct KeyMaker KeyMaker;
KeyMaker *cache_key_start(void); /* NULL: out of memory; the others take NULL */
void cache_key_add(KeyMaker *k, const void *data, size_t size);
void cache_key_text(KeyMaker *k, const char *text);
CacheKey cache_key_end(KeyMaker *k); /* and frees it */

/* An entry's key, and its description for people. */
typedef struct {
  CacheKey key;
  CacheKind kind;
  const char *name;   /* of kernels, a device, a tool */
  const char *target; /* NULL: none */
} CacheId;

/* Never fails: without a usable place the cache holds nothing. */
Cache *cache_open(nereid_message_fn note, void *context);
/* Records which entries were used, and closes; NULL is allowed. */
void cache_close(Cache *c);
/* True if it is there; *data is malloc'ed. */
bool cache_get(Cache *c, const CacheId *id, char **data, size_t *size);
void cache_put(Cache *c, const CacheId *id, const void *data, size_t size);

typedef struct {
  CacheId id;
  const void *data;
  size_t size;
} CacheEntry;

/* Many at once: the file is written to once. */
void cache_put_all(Cache *c, const CacheEntry *entries, size_t n);
/* The path of the database, in `out`; false if it is turned off. */
bool cache_path(char *out, size_t size);

/* ---- what `nereid cache` shows and does ----
 *
 * They return 0, NEREID_E_USAGE if the cache is turned off, or NEREID_E_FILE if it can't be used;
 * a cache that is not there yet is empty. */

/* Entries that are shown or removed; the least is none of these: all. */
typedef struct {
  const char *kind; /* NULL: any */
  int64_t before;   /* last used before this time, in seconds since 1970; 0: any time */
} CacheFilter;

typedef struct {
  const char *kind, *name, *target; /* "" where it has none */
  int64_t size;                     /* bytes */
  int64_t used;                     /* last, to the minute; in seconds since 1970 */
} CacheListed;

typedef void (*CacheListFn)(void *context, const CacheListed *entry);
/* Calls `each` with the entries, the most recently used first. */
int cache_list(const CacheFilter *filter, CacheListFn each, void *context);

/* A number of things, and their bytes. */
typedef struct {
  int64_t count, bytes;
} CacheSum;

typedef struct {
  CacheSum left; /* files of earlier versions, and damaged ones that were set aside */
  int64_t file;  /* bytes of the database's file */
  int64_t limit; /* bytes of entries; 0: none */
  bool limit_is_variable; /* NEREID_CACHE_LIMIT, not the database, says so */
} CacheFacts;
int cache_facts(CacheFacts *out);

/* Removes entries; without a filter (NULL) all, and the files that are left.  *removed is their
 * sum. */
int cache_clear(CacheSum *removed, const CacheFilter *filter);
/* Keeps the limit in the database, and evicts what is too much.  0: no limit. */
int cache_set_limit(CacheSum *evicted, int64_t bytes);

/* Bytes of a text as 500M or 2GiB, in powers of 1024; without a unit 0 alone.  False: it is no
 * size. */
bool cache_read_size(int64_t *bytes, const char *text);

#endif
