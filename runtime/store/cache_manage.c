/* Listing, clearing and limiting the cache. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/messages.h"
#include "runtime/messages.h"
#include "runtime/store/cache_store.h"

/* ---- the database ---- */

static void keep_note(void *context, const char *text) {
  snprintf(context, 3 * DATABASE_PATH, "%s", text);
}

typedef struct {
  Database database;
  char note[3 * DATABASE_PATH];
} Managed;

/* *ready: it is open.  Must be closed in any case. */
static int open_database(Managed *m, bool create, bool *ready) {
  m->note[0] = 0;
  database_init(&m->database, &cache_database, keep_note, m->note);
  *ready = false;
  if (!*m->database.path) return error_set(NEREID_E_USAGE, E_RUN_CACHE_OFF);
  DatabaseState state = database_use(&m->database, create);
  *ready = state == DATABASE_READY;
  return state == DATABASE_FAILED ? error_set(NEREID_E_FILE, "%s", m->note) : 0;
}

/* A failure between opening and closing; the note says why, if the database told it. */
static int failed(Managed *m) {
  Database *d = &m->database;
  database_failed(d);
  if (*m->note) return error_set(NEREID_E_FILE, "%s", m->note);
  return error_set(NEREID_E_FILE, E_LANG_FILE_READ, d->path, sqlite3_errmsg(d->db));
}

/* ---- listing ---- */

#define OF_FILTER " FROM code WHERE (?1 IS NULL OR kind = ?1) AND (?2 = 0 OR used < ?2)"

static sqlite3_stmt *prepare(Database *d, const char *sql, const CacheFilter *f) {
  sqlite3_stmt *s = database_prepare(d, sql);
  if (s && f) sqlite3_bind_text(s, 1, f->kind, -1, SQLITE_STATIC);
  if (s) sqlite3_bind_int64(s, 2, f ? f->before : 0);
  return s;
}

static const char *text_at(sqlite3_stmt *s, int column) {
  const unsigned char *text = sqlite3_column_text(s, column);
  return text ? (const char *)text : "";
}

int cache_list(const CacheFilter *filter, CacheListFn each, void *context) {
  Managed m;
  bool ready;
  int code = open_database(&m, false, &ready), rc = SQLITE_DONE;
  sqlite3_stmt *s = NULL;
  if (ready) {
    s = prepare(&m.database,
                "SELECT kind, name, target, size, used" OF_FILTER " ORDER BY used DESC, rowid DESC",
                filter);
    rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  }
  for (; rc == SQLITE_ROW; rc = sqlite3_step(s)) {
    CacheListed e = {text_at(s, 0), text_at(s, 1), text_at(s, 2), sqlite3_column_int64(s, 3),
                     sqlite3_column_int64(s, 4)};
    each(context, &e);
  }
  sqlite3_finalize(s);
  if (rc != SQLITE_DONE) code = failed(&m);
  database_close(&m.database);
  return code;
}

/* ---- files that are left ---- */

static size_t digits(const char *text) {
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
    size_t n = digits(s), m = n && s[n] == '-' ? digits(s + n + 1) : 0;
    if (!m) return false;
    s += n + 1 + m;
  }
  return !*s || !strcmp(s, "-journal");
}

/* Is it the name of a cache of an earlier version, or of one that was set aside?  Those of newer
 * versions, and all other files, are not ours to remove. */
static bool is_left(const char *name) {
  static const char prefix[] = "code-", suffix[] = ".db";
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
  const char *number = name + sizeof prefix - 1, *rest = number + digits(number);
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
    if (!is_left(e->d_name)) continue;
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
  database_close(&m.database);
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
  sqlite3_stmt *s = prepare(c->database, "SELECT count(*), sum(size)" OF_FILTER, c->filter);
  int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
  if (rc == SQLITE_ROW)
    *c->removed = (CacheSum){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
  sqlite3_finalize(s);
  if (rc != SQLITE_ROW) return SQLITE_ERROR;
  s = prepare(c->database, "DELETE" OF_FILTER, c->filter);
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
  if (ready && database_transact(&m.database, clear_body, &c) != SQLITE_OK) code = failed(&m);
  if (!code && !filter) {
    CacheSum left = visit_left(m.database.path, true);
    removed->count += left.count, removed->bytes += left.bytes;
  }
  database_close(&m.database);
  return code;
}

/* ---- the limit ---- */

typedef struct {
  Database *database;
  int64_t limit;
  CacheSum *evicted;
} Limiting;

static int limit_body(void *context) {
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
  if (ready && database_transact(&m.database, limit_body, &l) != SQLITE_OK) code = failed(&m);
  database_close(&m.database);
  return code;
}
