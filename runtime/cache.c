#include "runtime/cache.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* A new version of the table gets a new file, so that versions of the program don't disturb each
 * other. */
static const char FILE_NAME[] = "code-1.db";
static const sqlite3_int64 LIMIT = 1LL << 30;
enum { BUSY_MS = 5000, PATH_SIZE = 4096 };

struct Cache {
  sqlite3 *db; /* NULL: unusable */
  char path[PATH_SIZE];
  nereid_message_fn note;
  void *context;
  bool noted; /* that nothing can be written */
  pthread_mutex_t lock;
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

static void tell(Cache *c, const char *fmt, ...) {
  char text[PATH_SIZE + 512];
  if (!c->note) return;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  c->note(c->context, text);
}

static bool cache_folder(char *out, size_t size) {
  const char *own = getenv("NEREID_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  int n;
  if (own) n = snprintf(out, size, "%s", own);
  else if (xdg && *xdg == '/') n = snprintf(out, size, "%s/nereid", xdg);
  else n = home && *home ? snprintf(out, size, "%s/.cache/nereid", home) : 0;
  return n > 0 && (size_t)n + sizeof FILE_NAME + 32 < size;
}

bool cache_path(char *out, size_t size) {
  char folder[PATH_SIZE];
  out[0] = 0;
  if (!cache_folder(folder, sizeof folder)) return false;
  return snprintf(out, size, "%s/%s", folder, FILE_NAME) < (int)size;
}

/* Every folder on the way.  What fails shows when the database is opened. */
static void make_folders(const char *path) {
  char part[PATH_SIZE];
  snprintf(part, sizeof part, "%s", path);
  for (char *p = part + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    mkdir(part, 0700);
    *p = '/';
  }
}

static int open_once(Cache *c) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  int rc = sqlite3_open_v2(c->path, &c->db, flags, NULL);
  if (rc != SQLITE_OK) return rc;
  sqlite3_busy_timeout(c->db, BUSY_MS);
  return sqlite3_exec(c->db,
                      "PRAGMA synchronous = NORMAL;"
                      "CREATE TABLE IF NOT EXISTS code(key BLOB PRIMARY KEY, size INTEGER,"
                      " used INTEGER, hash INTEGER, data BLOB);"
                      "SELECT count(*) FROM code WHERE key = x'00';",
                      NULL, NULL, NULL);
}

static void close_database(Cache *c) {
  sqlite3_close(c->db);
  c->db = NULL;
}

static bool is_damage(int rc) { return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB; }

/* Renames the database, unless another process has replaced it already. */
static void set_aside(Cache *c, const struct stat *opened) {
  char aside[PATH_SIZE + 64];
  struct stat now;
  if (stat(c->path, &now) || now.st_ino != opened->st_ino) return;
  snprintf(aside, sizeof aside, "%s.damaged-%ld-%ld", c->path, (long)time(NULL), (long)getpid());
  if (rename(c->path, aside) == 0) tell(c, N_RUN_CACHE_DAMAGED, c->path, aside);
}

static void open_database(Cache *c) {
  struct stat st = {0};
  make_folders(c->path);
  stat(c->path, &st);
  int rc = open_once(c);
  if (is_damage(rc)) {
    close_database(c);
    set_aside(c, &st);
    rc = open_once(c);
  }
  if (rc == SQLITE_OK) return;
  tell(c, N_RUN_CACHE_UNUSABLE, c->path, c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
  close_database(c);
}

Cache *cache_open(nereid_message_fn note, void *context) {
  Cache *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->note = note;
  c->context = context;
  pthread_mutex_init(&c->lock, NULL);
  if (cache_path(c->path, sizeof c->path)) open_database(c);
  return c;
}

void cache_close(Cache *c) {
  if (!c) return;
  sqlite3_close(c->db);
  pthread_mutex_destroy(&c->lock);
  free(c);
}

/* ---- entries ---- */

/* A statement with the key as its first parameter; NULL on failure. */
static sqlite3_stmt *prepare(Cache *c, const char *sql, const CacheKey *key) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) != SQLITE_OK) return NULL;
  sqlite3_bind_blob(s, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
  return s;
}

/* After a failure: a database that is damaged is not used any more in this process; it is set
 * aside by the next one that opens it. */
static void note_failure(Cache *c, int rc) {
  if (!c->noted) tell(c, N_RUN_CACHE_UNUSABLE, c->path, sqlite3_errmsg(c->db));
  c->noted = true;
  if (!is_damage(rc)) return;
  struct stat st;
  bool there = stat(c->path, &st) == 0;
  close_database(c);
  if (there) set_aside(c, &st);
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

static void touch(Cache *c, const CacheKey *key) {
  sqlite3_stmt *s = prepare(c, "UPDATE code SET used = ?2 WHERE key = ?1", key);
  if (!s) return;
  sqlite3_bind_int64(s, 2, (sqlite3_int64)time(NULL));
  sqlite3_step(s);
  sqlite3_finalize(s);
}

bool cache_get(Cache *c, const CacheKey *key, char **data, size_t *size) {
  enum { DAY = 24 * 60 * 60 };
  if (!c || !c->db) return false;
  pthread_mutex_lock(&c->lock);
  bool found = false, old = false;
  sqlite3_stmt *s =
      c->db ? prepare(c, "SELECT data, hash, used FROM code WHERE key = ?1", key) : NULL;
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  if (rc == SQLITE_ROW) {
    found = take_row(s, data, size);
    /* A write for each use would make readers wait for each other. */
    old = sqlite3_column_int64(s, 2) + DAY < (sqlite3_int64)time(NULL);
  }
  sqlite3_finalize(s);
  if (found && old) touch(c, key);
  if (c->db && rc != SQLITE_ROW && rc != SQLITE_DONE) note_failure(c, sqlite3_errcode(c->db));
  pthread_mutex_unlock(&c->lock);
  return found;
}

/* The least recently used half goes when the limit is passed. */
static void evict(Cache *c) {
  sqlite3_int64 total = 0;
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(c->db, "SELECT sum(size) FROM code", -1, &s, NULL) == SQLITE_OK &&
      sqlite3_step(s) == SQLITE_ROW)
    total = sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  if (total <= LIMIT) return;
  sqlite3_exec(c->db,
               "DELETE FROM code WHERE rowid IN (SELECT rowid FROM code ORDER BY used"
               " LIMIT (SELECT count(*) / 2 FROM code))",
               NULL, NULL, NULL);
}

static int put(Cache *c, const CacheEntry *e) {
  sqlite3_stmt *s = prepare(c, "INSERT OR REPLACE INTO code VALUES(?1, ?2, ?3, ?4, ?5)", &e->key);
  if (!s) return SQLITE_ERROR;
  sqlite3_bind_int64(s, 2, (sqlite3_int64)e->size);
  sqlite3_bind_int64(s, 3, (sqlite3_int64)time(NULL));
  sqlite3_bind_int64(s, 4, (sqlite3_int64)XXH64(e->data, e->size, 0));
  sqlite3_bind_blob64(s, 5, e->data, e->size, SQLITE_STATIC);
  int rc = sqlite3_step(s);
  sqlite3_finalize(s);
  return rc == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
}

/* One transaction; what it has put goes again if something fails. */
static int put_all(Cache *c, const CacheEntry *entries, size_t n) {
  int rc = sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
    if (entries[i].size <= (size_t)LIMIT / 4) rc = put(c, &entries[i]);
  if (rc == SQLITE_OK) rc = sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL);
  if (rc != SQLITE_OK) {
    note_failure(c, sqlite3_errcode(c->db));
    if (c->db) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  }
  return rc;
}

void cache_put_all(Cache *c, const CacheEntry *entries, size_t n) {
  if (!c || !c->db) return;
  pthread_mutex_lock(&c->lock);
  if (c->db && put_all(c, entries, n) == SQLITE_OK) evict(c);
  pthread_mutex_unlock(&c->lock);
}

void cache_put(Cache *c, const CacheKey *key, const void *data, size_t size) {
  CacheEntry e = {*key, data, size};
  cache_put_all(c, &e, 1);
}

/* ---- the API ---- */

int nereid_cache_describe(char *out, size_t size) {
  char path[PATH_SIZE];
  if (!cache_path(path, sizeof path)) {
    snprintf(out, size, "off");
    return 0;
  }
  Cache *c = cache_open(NULL, NULL);
  bool usable = c && c->db;
  bool writable = usable && sqlite3_db_readonly(c->db, "main") == 0;
  snprintf(out, size, "%s%s", path,
           !usable    ? " (can't be used)"
           : writable ? ""
                      : " (can only be read)");
  cache_close(c);
  return 0;
}
