#include "runtime/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/database.h"

/* A new version of the table gets a new file, so that versions of the program don't disturb each
 * other. */
static const char *const tables[] = {
    "code(key BLOB PRIMARY KEY, size INTEGER, used INTEGER, hash INTEGER, data BLOB)", NULL};

static const DatabaseKind kind = {
    .file = "code-1.db",
    .what = "the cache",
    .without = "kernels are compiled each time",
    .busy_ms = 5000,
    .settings = "PRAGMA synchronous = NORMAL",
    .tables = tables,
    .probe = "SELECT count(*) FROM code WHERE key = x'00'",
};
static const sqlite3_int64 LIMIT = 1LL << 30;

struct Cache {
  Database database;
};

/* ---- keys ---- */

struct KeyMaker {
  XXH3_state_t state;
};

KeyMaker *cache_key_start(void) {
  KeyMaker *k = aligned_alloc(64, (sizeof *k + 63) / 64 * 64);
  if (k) XXH3_128bits_reset(&k->state);
  return k;
}

void cache_key_add(KeyMaker *k, const void *data, size_t size) {
  uint64_t n = size;
  if (!k) return;
  XXH3_128bits_update(&k->state, &n, sizeof n);
  XXH3_128bits_update(&k->state, data, size);
}

void cache_key_text(KeyMaker *k, const char *text) { cache_key_add(k, text, strlen(text)); }

CacheKey cache_key_end(KeyMaker *k) {
  CacheKey key = {{0}};
  if (!k) return key;
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&k->state));
  memcpy(key.bytes, canonical.digest, sizeof key.bytes);
  free(k);
  return key;
}

/* ---- the file ---- */

bool cache_path(char *out, size_t size) { return database_path(out, size, &kind); }

Cache *cache_open(nereid_message_fn note, void *context) {
  Cache *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  database_init(&c->database, &kind, note, context);
  database_use(&c->database, true);
  return c;
}

void cache_close(Cache *c) {
  if (!c) return;
  database_close(&c->database);
  free(c);
}

/* ---- entries ---- */

/* A statement with the key as its first parameter; NULL on failure. */
static sqlite3_stmt *prepare(Database *d, const char *sql, const CacheKey *key) {
  sqlite3_stmt *s = database_prepare(d, sql);
  if (s) sqlite3_bind_blob(s, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
  return s;
}

/* The entry of a row; false if it is not what was stored. */
static bool take_row(sqlite3_stmt *s, char **data, size_t *size) {
  const void *bytes = sqlite3_column_blob(s, 0);
  size_t n = (size_t)sqlite3_column_bytes(s, 0);
  if (!bytes || (sqlite3_int64)XXH64(bytes, n, 0) != sqlite3_column_int64(s, 1)) return false;
  *data = malloc(n + 1);
  if (!*data) return false;
  memcpy(*data, bytes, n);
  (*data)[n] = 0;
  *size = n;
  return true;
}

static void touch(Database *d, const CacheKey *key) {
  sqlite3_stmt *s = prepare(d, "UPDATE code SET used = ?2 WHERE key = ?1", key);
  if (!s) return;
  sqlite3_bind_int64(s, 2, (sqlite3_int64)time(NULL));
  sqlite3_step(s);
  sqlite3_finalize(s);
}

static bool get(Database *d, const CacheKey *key, char **data, size_t *size) {
  enum { DAY = 24 * 60 * 60 };
  bool found = false, old = false;
  sqlite3_stmt *s = prepare(d, "SELECT data, hash, used FROM code WHERE key = ?1", key);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  if (rc == SQLITE_ROW) {
    found = take_row(s, data, size);
    /* A write for each use would make readers wait for each other. */
    old = sqlite3_column_int64(s, 2) + DAY < (sqlite3_int64)time(NULL);
  }
  sqlite3_finalize(s);
  if (found && old) touch(d, key);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) database_failed(d);
  return found;
}

bool cache_get(Cache *c, const CacheKey *key, char **data, size_t *size) {
  if (!c) return false;
  pthread_mutex_lock(&c->database.lock);
  bool found = c->database.db && get(&c->database, key, data, size);
  pthread_mutex_unlock(&c->database.lock);
  return found;
}

/* The least recently used half goes when the limit is passed. */
static void evict(Database *d) {
  sqlite3_int64 total = 0;
  sqlite3_stmt *s = database_prepare(d, "SELECT sum(size) FROM code");
  if (s && sqlite3_step(s) == SQLITE_ROW) total = sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  if (total <= LIMIT) return;
  sqlite3_exec(d->db,
               "DELETE FROM code WHERE rowid IN (SELECT rowid FROM code ORDER BY used"
               " LIMIT (SELECT count(*) / 2 FROM code))",
               NULL, NULL, NULL);
}

static int put(Database *d, const CacheEntry *e) {
  sqlite3_stmt *s = prepare(d, "INSERT OR REPLACE INTO code VALUES(?1, ?2, ?3, ?4, ?5)", &e->key);
  if (!s) return SQLITE_ERROR;
  sqlite3_bind_int64(s, 2, (sqlite3_int64)e->size);
  sqlite3_bind_int64(s, 3, (sqlite3_int64)time(NULL));
  sqlite3_bind_int64(s, 4, (sqlite3_int64)XXH64(e->data, e->size, 0));
  sqlite3_bind_blob64(s, 5, e->data, e->size, SQLITE_STATIC);
  int rc = sqlite3_step(s);
  sqlite3_finalize(s);
  return rc == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
}

typedef struct {
  Database *database;
  const CacheEntry *entries;
  size_t n;
} Putting;

static int put_all(void *context) {
  const Putting *p = context;
  int rc = SQLITE_OK;
  for (size_t i = 0; i < p->n && rc == SQLITE_OK; i++)
    if (p->entries[i].size <= (size_t)LIMIT / 4) rc = put(p->database, &p->entries[i]);
  return rc;
}

void cache_put_all(Cache *c, const CacheEntry *entries, size_t n) {
  if (!c) return;
  Database *d = &c->database;
  Putting p = {d, entries, n};
  pthread_mutex_lock(&d->lock);
  if (d->db && database_transact(d, put_all, &p) == SQLITE_OK) evict(d);
  pthread_mutex_unlock(&d->lock);
}

void cache_put(Cache *c, const CacheKey *key, const void *data, size_t size) {
  CacheEntry e = {*key, data, size};
  cache_put_all(c, &e, 1);
}

/* ---- the API ---- */

int nereid_cache_describe(char *out, size_t size) {
  REQUIRE(out);
  database_describe(out, size, &kind);
  return 0;
}
