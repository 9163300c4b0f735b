/* The cache of compiled code on disk: a database that many processes share (runtime/database.h).
 *
 * It is never needed: whatever goes wrong is told once, as a note, and the caller compiles.
 * Entries are checked by a hash when they are read; the oldest go when there is too much. */
#ifndef NEREID_RUNTIME_CACHE_H
#define NEREID_RUNTIME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/error.h"

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

/* Never fails: without a usable place the cache holds nothing. */
Cache *cache_open(nereid_message_fn note, void *context);
void cache_close(Cache *c);
/* True if it is there; *data is malloc'ed. */
bool cache_get(Cache *c, const CacheKey *key, char **data, size_t *size);
void cache_put(Cache *c, const CacheKey *key, const void *data, size_t size);

typedef struct {
  CacheKey key;
  const void *data;
  size_t size;
} CacheEntry;

/* Many at once: the file is written to once. */
void cache_put_all(Cache *c, const CacheEntry *entries, size_t n);
/* Where the database lies, in `out`; false if it is turned off. */
bool cache_path(char *out, size_t size);

#endif
