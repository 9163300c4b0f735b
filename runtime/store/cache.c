#include "runtime/store/cache.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lang/messages.h"
#include "runtime/messages.h"
#include "runtime/store/database.h"
#include "runtime/support/log.h"

/* A new version of the tables gets a new file, so that versions of the program don't disturb each
 * other.  Blobs come last: reading the columns before them touches no page of theirs. */
static const char *const tables[] = {
    "code(key BLOB PRIMARY KEY, kind TEXT, name TEXT, target TEXT, size INTEGER, used INTEGER,"
    " hash INTEGER, data BLOB)",
    "setting(name TEXT PRIMARY KEY, value INTEGER)", NULL};

static const DatabaseKind cache_database = {
    .file = CACHE_FILE,
    .what = "the cache",
    .without = "kernels are compiled each time",
    .version = 1,
    .busy_ms = 5000,
    .settings = "PRAGMA synchronous = NORMAL",
    .created = "PRAGMA auto_vacuum = INCREMENTAL",
    .tables = tables,
    .probe = "SELECT count(*) FROM code WHERE key = x'00'",
};

#define KIND_NAME(id, name, doc) name,
static const char *const kind_names[] = {CACHE_KINDS(KIND_NAME)};
#undef KIND_NAME

struct Cache {
  Database database;
  CacheKey *used; /* keys of entries whose use is to be recorded */
  size_t nused;
  Log log;
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

bool cache_path(char *out, size_t size) { return database_path(out, size, &cache_database); }

Cache *cache_open(nereid_message_fn note, void *context) {
  Cache *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->log = log_read();
  database_init(&c->database, &cache_database, note, context);
  database_use(&c->database, true);
  return c;
}

/* ---- entries ---- */

/* A statement with the key as its first parameter; NULL on failure. */
static sqlite3_stmt *prepare_by_key(Database *d, const char *sql, const CacheKey *key) {
  sqlite3_stmt *s = database_prepare(d, sql);
  if (s) sqlite3_bind_blob(s, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
  return s;
}

/* The entry of a row; false if it is not what was stored. */
static bool read_code_row(sqlite3_stmt *s, char **data, size_t *size) {
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

/* Without memory its use goes unrecorded. */
static void note_entry_use(Cache *c, const CacheKey *key) {
  CacheKey *more = realloc(c->used, (c->nused + 1) * sizeof *more);
  if (!more) return;
  c->used = more;
  c->used[c->nused++] = *key;
}

/* A write for each use would make readers wait for each other. */
enum { USE_SECONDS = 60 };

static bool get(Cache *c, const CacheKey *key, char **data, size_t *size) {
  Database *d = &c->database;
  bool found = false;
  sqlite3_stmt *s = prepare_by_key(d, "SELECT data, hash, used FROM code WHERE key = ?1", key);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  if (rc == SQLITE_ROW) {
    found = read_code_row(s, data, size);
    bool old = sqlite3_column_int64(s, 2) + USE_SECONDS <= (sqlite3_int64)time(NULL);
    if (found && old) note_entry_use(c, key);
  }
  sqlite3_finalize(s);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) database_failed(d);
  return found;
}

bool cache_get(Cache *c, const CacheId *id, char **data, size_t *size) {
  if (!c) return false;
  pthread_mutex_lock(&c->database.lock);
  bool found = database_is_open(&c->database) && get(c, &id->key, data, size);
  pthread_mutex_unlock(&c->database.lock);
  LOG(c->log, LOG_CACHE, "%s %s %s", found ? "hit:" : "miss:", kind_names[id->kind], id->name);
  return found;
}

/* ---- use ---- */

static void record_uses(Cache *c) {
  sqlite3_stmt *s = database_prepare(&c->database, "UPDATE code SET used = ?2 WHERE key = ?1");
  for (size_t i = 0; s && i < c->nused; i++) {
    sqlite3_bind_blob(s, 1, c->used[i].bytes, sizeof c->used[i].bytes, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)time(NULL));
    sqlite3_step(s);
    sqlite3_reset(s);
  }
  sqlite3_finalize(s);
  c->nused = 0;
}

/* Records uses only if the database can be written at once; a failure does not matter. */
static void record_last_uses(Cache *c) {
  enum { PATIENCE_MS = 50 };
  sqlite3 *db = database_is_open(&c->database) ? c->database.db : NULL;
  if (!db || !c->nused || sqlite3_db_readonly(db, "main")) return;
  sqlite3_busy_timeout(db, PATIENCE_MS);
  if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) return;
  record_uses(c);
  if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

void cache_close(Cache *c) {
  if (!c) return;
  record_last_uses(c);
  database_close(&c->database);
  free(c->used);
  free(c);
}

/* ---- the limit ---- */

static const struct {
  char letter;
  int shift;
} units[] = {{'K', 10}, {'M', 20}, {'G', 30}, {'T', 40}};

bool cache_read_size(int64_t *bytes, const char *text) {
  char *end;
  double number = strtod(text, &end);
  *bytes = 0;
  if (!isdigit((unsigned char)*text) || !(number >= 0 && number < 1e6)) return false;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (toupper((unsigned char)*end) != units[i].letter) continue;
    *bytes = (int64_t)(number * (double)(1LL << units[i].shift));
    bool plain = !end[1] || !strcasecmp(end + 1, "B") || !strcasecmp(end + 1, "iB");
    return plain && (*bytes > 0) == (number > 0);
  }
  return !*end && number == 0;
}

/* Bytes that all entries may have together: of NEREID_CACHE_LIMIT, else of the database, else
 * 1 GiB; 0: no limit.  NULL: there is no database. */
static int64_t cache_limit(Database *d, bool *is_variable) {
  static const int64_t USUAL = 1LL << 30;
  const char *own = getenv("NEREID_CACHE_LIMIT");
  int64_t limit = USUAL;
  *is_variable = own && cache_read_size(&limit, own);
  if (*is_variable) return limit;
  limit = USUAL;
  sqlite3_stmt *s =
      d ? database_prepare(d, "SELECT value FROM setting WHERE name = 'limit'") : NULL;
  if (s && sqlite3_step(s) == SQLITE_ROW) limit = sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  return limit < 0 ? USUAL : limit;
}

/* ---- eviction ---- */

/* Gives the pages of removed entries back to the file system. */
static int cache_shrink(Database *d) {
  return sqlite3_exec(d->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
}

static int read_sum(Database *d, const char *sql, CacheSum *out) {
  sqlite3_stmt *s = database_prepare(d, sql);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  if (rc == SQLITE_ROW) *out = (CacheSum){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
  sqlite3_finalize(s);
  return rc == SQLITE_ROW ? SQLITE_OK : SQLITE_ERROR;
}

/* Reads the index below alone, if there is one: rows have their blobs between them. */
static int sum_entries(Database *d, CacheSum *out) {
  return read_sum(d, "SELECT count(*), sum(size) FROM code", out);
}

/* Can the entries be larger than `limit`?  Not in a file whose used pages are not, which takes no
 * time to ask. */
static bool may_exceed(Database *d, int64_t limit) {
  CacheSum pages = {0};
  int rc = read_sum(d, "SELECT 1, (c.page_count - f.freelist_count) * s.page_size FROM"
                       " pragma_page_count c, pragma_freelist_count f, pragma_page_size s",
                    &pages);
  return rc != SQLITE_OK || pages.bytes > limit;
}

/* The index for the sum and the order of eviction.  A database gets it when it is nearly full. */
static int index_entries(Database *d) {
  return sqlite3_exec(d->db, "CREATE INDEX IF NOT EXISTS code_used ON code(used, size)", NULL,
                      NULL, NULL);
}

/* A tenth of the limit becomes free, so that not each write evicts. */
static int evict_to(Database *d, int64_t keep) {
  sqlite3_stmt *s = database_prepare(
      d,
      "DELETE FROM code WHERE rowid IN (SELECT rowid FROM (SELECT rowid,"
      " sum(size) OVER (ORDER BY used DESC, rowid DESC) AS upto FROM code) WHERE upto > ?1)");
  if (s) sqlite3_bind_int64(s, 1, keep);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  sqlite3_finalize(s);
  return rc == SQLITE_DONE ? cache_shrink(d) : SQLITE_ERROR;
}

/* Removes the least recently used entries if all are larger than `limit` (0: none), and gives their
 * pages back.  Within a transaction; *evicted may be NULL.  A code of SQLite. */
static int cache_evict(Database *d, int64_t limit, CacheSum *evicted) {
  CacheSum before = {0}, after = {0};
  if (!limit || !may_exceed(d, limit)) return SQLITE_OK;
  int rc = index_entries(d);
  if (rc == SQLITE_OK) rc = sum_entries(d, &before);
  bool full = before.bytes > limit;
  if (rc == SQLITE_OK && full) rc = evict_to(d, limit - limit / 10);
  if (rc == SQLITE_OK && full) rc = sum_entries(d, &after);
  if (evicted && full && rc == SQLITE_OK)
    *evicted = (CacheSum){before.count - after.count, before.bytes - after.bytes};
  return rc;
}

/* ---- putting ---- */

static int insert_entry(Database *d, const CacheEntry *e) {
  sqlite3_stmt *s = prepare_by_key(
      d, "INSERT OR REPLACE INTO code VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", &e->id.key);
  if (!s) return SQLITE_ERROR;
  sqlite3_bind_text(s, 2, kind_names[e->id.kind], -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 3, e->id.name, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 4, e->id.target ? e->id.target : "", -1, SQLITE_STATIC);
  sqlite3_bind_int64(s, 5, (sqlite3_int64)e->size);
  sqlite3_bind_int64(s, 6, (sqlite3_int64)time(NULL));
  sqlite3_bind_int64(s, 7, (sqlite3_int64)XXH64(e->data, e->size, 0));
  sqlite3_bind_blob64(s, 8, e->data, e->size, SQLITE_STATIC);
  int rc = sqlite3_step(s);
  sqlite3_finalize(s);
  return rc == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
}

typedef struct {
  Cache *cache;
  const CacheEntry *entries;
  size_t n;
  int64_t limit;
  CacheSum evicted;
} Putting;

/* An entry that would be evicted at once is not put. */
static bool fits_limit(const Putting *p, const CacheEntry *e) {
  return !p->limit || e->size <= (uint64_t)(p->limit - p->limit / 10);
}

static int put_all(void *context) {
  Putting *p = context;
  Database *d = &p->cache->database;
  bool is_variable;
  int rc = SQLITE_OK;
  p->limit = cache_limit(d, &is_variable);
  record_uses(p->cache);
  for (size_t i = 0; i < p->n && rc == SQLITE_OK; i++)
    if (fits_limit(p, &p->entries[i])) rc = insert_entry(d, &p->entries[i]);
  return rc == SQLITE_OK ? cache_evict(d, p->limit, &p->evicted) : rc;
}

static void log_put(const Putting *p, bool done) {
  for (size_t i = 0; i < p->n; i++) {
    const CacheEntry *e = &p->entries[i];
    log_print(LOG_CACHE, "%s: %s %s, %zu bytes",
              !done               ? "not put"
              : !fits_limit(p, e) ? "not put, beyond the limit"
                                  : "put",
              kind_names[e->id.kind], e->id.name, e->size);
  }
  if (p->evicted.count)
    log_print(LOG_CACHE, "evicted: %lld entries, %lld bytes", (long long)p->evicted.count,
              (long long)p->evicted.bytes);
}

void cache_put_all(Cache *c, const CacheEntry *entries, size_t n) {
  if (!c) return;
  Database *d = &c->database;
  Putting p = {.cache = c, .entries = entries, .n = n};
  pthread_mutex_lock(&d->lock);
  bool done = database_is_open(d) && database_transact(d, put_all, &p) == SQLITE_OK;
  pthread_mutex_unlock(&d->lock);
  if (log_has(c->log, LOG_CACHE)) log_put(&p, done);
}

void cache_put(Cache *c, const CacheId *id, const void *data, size_t size) {
  CacheEntry e = {*id, data, size};
  cache_put_all(c, &e, 1);
}

/* ---- the API ---- */

int nereid_cache_describe(char *out, size_t size) {
  REQUIRE(out);
  database_describe(out, size, &cache_database);
  return 0;
}

/* ---- listing, clearing and limiting ---- */

static void keep_note(void *context, const char *text) {
  char **note = context;
  free(*note);
  *note = error_keep_told(text);
}

typedef struct {
  Database database;
  char *note; /* kept; NULL: none */
} Managed;

static void close_managed(Managed *m) {
  database_close(&m->database);
  free(m->note);
}

/* *ready: it is open.  Must be closed in any case. */
static int open_database(Managed *m, bool create, bool *ready) {
  m->note = NULL;
  database_init(&m->database, &cache_database, keep_note, &m->note);
  *ready = false;
  if (!*m->database.path) return error_set(NEREID_E_USAGE, E_RUN_CACHE_OFF);
  DatabaseState state = database_use(&m->database, create);
  *ready = state == DATABASE_READY;
  return state == DATABASE_FAILED ? error_again(NEREID_E_FILE, m->note) : 0;
}

/* A failure between opening and closing; the note says why, if the database told it. */
static int cache_failure(Managed *m) {
  Database *d = &m->database;
  database_failed(d);
  if (m->note) return error_again(NEREID_E_FILE, m->note);
  return error_set(NEREID_E_FILE, E_LANG_FILE_READ, d->path, sqlite3_errmsg(d->db));
}

/* ---- listing ---- */

#define OF_FILTER " FROM code WHERE (?1 IS NULL OR kind = ?1) AND (?2 = 0 OR used < ?2)"

static sqlite3_stmt *prepare_filtered(Database *d, const char *sql, const CacheFilter *f) {
  sqlite3_stmt *s = database_prepare(d, sql);
  if (s && f) sqlite3_bind_text(s, 1, f->kind, -1, SQLITE_STATIC);
  if (s) sqlite3_bind_int64(s, 2, f ? f->before : 0);
  return s;
}

static const char *cache_text_at(sqlite3_stmt *s, int column) {
  const unsigned char *text = sqlite3_column_text(s, column);
  return text ? (const char *)text : "";
}

int cache_list(const CacheFilter *filter, CacheListFn each, void *context) {
  Managed m;
  bool ready;
  int code = open_database(&m, false, &ready), rc = SQLITE_DONE;
  sqlite3_stmt *s = NULL;
  if (ready) {
    s = prepare_filtered(&m.database,
                         "SELECT kind, name, target, size, used" OF_FILTER
                         " ORDER BY used DESC, rowid DESC",
                         filter);
    rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  }
  for (; rc == SQLITE_ROW; rc = sqlite3_step(s)) {
    CacheListed e = {cache_text_at(s, 0), cache_text_at(s, 1), cache_text_at(s, 2),
                     sqlite3_column_int64(s, 3), sqlite3_column_int64(s, 4)};
    each(context, &e);
  }
  sqlite3_finalize(s);
  if (rc != SQLITE_DONE) code = cache_failure(&m);
  close_managed(&m);
  return code;
}

/* ---- files that are left ---- */

static size_t count_digits(const char *text) {
  size_t n = 0;
  while (isdigit((unsigned char)text[n])) n++;
  return n;
}

/* "", "-journal", or ".damaged-TIME-PROCESS" with or without "-journal". */
static bool is_suffix(const char *s, bool *aside) {
  static const char mark[] = ".damaged-";
  *aside = !strncmp(s, mark, sizeof mark - 1);
  if (*aside) {
    s += sizeof mark - 1;
    size_t n = count_digits(s), m = n && s[n] == '-' ? count_digits(s + n + 1) : 0;
    if (!m) return false;
    s += n + 1 + m;
  }
  return !*s || !strcmp(s, "-journal");
}

/* Is it the name of a cache of an earlier version, or of one that was set aside?  Those of newer
 * versions, and all other files, are not ours to remove. */
static bool is_leftover_file(const char *name) {
  static const char prefix[] = "code-", suffix[] = ".db";
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
  const char *number = name + sizeof prefix - 1, *rest = number + count_digits(number);
  bool aside;
  if (rest == number || strncmp(rest, suffix, sizeof suffix - 1) != 0) return false;
  if (!is_suffix(rest + sizeof suffix - 1, &aside)) return false;
  return aside || strtol(number, NULL, 10) < strtol(CACHE_FILE + sizeof prefix - 1, NULL, 10);
}

/* The sum of the files that are left in the folder, which are removed if `remove` says so.  A link
 * is none of them, wherever it leads. */
static CacheSum visit_left(const char *path, bool remove) {
  CacheSum sum = {0};
  char folder[DATABASE_PATH];
  struct stat st;
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  DIR *d = opendir(*folder ? folder : "/");
  for (struct dirent *e; d && (e = readdir(d));) {
    if (!is_leftover_file(e->d_name)) continue;
    if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) continue;
    if (remove && unlinkat(dirfd(d), e->d_name, 0)) continue;
    sum = (CacheSum){sum.count + 1, sum.bytes + st.st_size};
  }
  if (d) closedir(d);
  return sum;
}

int cache_facts(CacheFacts *out) {
  Managed m;
  struct stat st;
  bool ready;
  *out = (CacheFacts){.file = 0};
  int code = open_database(&m, false, &ready);
  if (*m.database.path) out->left = visit_left(m.database.path, false);
  if (ready && !stat(m.database.path, &st)) out->file = st.st_size;
  out->limit = cache_limit(ready ? &m.database : NULL, &out->limit_is_variable);
  close_managed(&m);
  return code;
}

/* ---- removing ---- */

typedef struct {
  Database *database;
  const CacheFilter *filter;
  CacheSum *removed;
} Clearing;

static int clear_body(void *context) {
  const Clearing *c = context;
  sqlite3_stmt *s =
      prepare_filtered(c->database, "SELECT count(*), sum(size)" OF_FILTER, c->filter);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  if (rc == SQLITE_ROW)
    *c->removed = (CacheSum){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
  sqlite3_finalize(s);
  if (rc != SQLITE_ROW) return SQLITE_ERROR;
  s = prepare_filtered(c->database, "DELETE" OF_FILTER, c->filter);
  rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  sqlite3_finalize(s);
  return rc == SQLITE_DONE ? cache_shrink(c->database) : SQLITE_ERROR;
}

int cache_clear(CacheSum *removed, const CacheFilter *filter) {
  Managed m;
  bool ready;
  *removed = (CacheSum){0};
  int code = open_database(&m, false, &ready);
  Clearing c = {&m.database, filter, removed};
  if (ready && database_transact(&m.database, clear_body, &c) != SQLITE_OK)
    code = cache_failure(&m);
  if (!code && !filter) {
    CacheSum left = visit_left(m.database.path, true);
    removed->count += left.count, removed->bytes += left.bytes;
  }
  close_managed(&m);
  return code;
}

/* ---- the limit ---- */

typedef struct {
  Database *database;
  int64_t limit;
  CacheSum *evicted;
} Limiting;

static int set_limit_body(void *context) {
  const Limiting *l = context;
  sqlite3_stmt *s =
      database_prepare(l->database, "INSERT OR REPLACE INTO setting VALUES('limit', ?1)");
  if (s) sqlite3_bind_int64(s, 1, l->limit);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  sqlite3_finalize(s);
  bool is_variable;
  if (rc != SQLITE_DONE) return SQLITE_ERROR;
  return cache_evict(l->database, cache_limit(l->database, &is_variable), l->evicted);
}

int cache_set_limit(CacheSum *evicted, int64_t bytes) {
  Managed m;
  bool ready;
  *evicted = (CacheSum){0};
  int code = open_database(&m, true, &ready);
  Limiting l = {&m.database, bytes, evicted};
  if (ready && database_transact(&m.database, set_limit_body, &l) != SQLITE_OK)
    code = cache_failure(&m);
  close_managed(&m);
  return code;
}
