#include "runtime/store/database.h"
#include "runtime/messages.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the folder ---- */

static bool find_folder(char *out, size_t size) {
  const char *own = getenv("NEREID_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  int n;
  if (own) n = snprintf(out, size, "%s", own);
  else if (xdg && *xdg == '/') n = snprintf(out, size, "%s/nereid", xdg);
  else n = home && *home ? snprintf(out, size, "%s/.cache/nereid", home) : 0;
  return n > 0 && (size_t)n < size;
}

bool database_path(char *out, size_t size, const DatabaseKind *kind) {
  enum { SUFFIX = 48 }; /* SQLite's, and that of a damaged one */
  char folder[DATABASE_PATH];
  out[0] = 0;
  if (!find_folder(folder, sizeof folder)) return false;
  if (strlen(folder) + strlen(kind->file) + SUFFIX > size) return false;
  snprintf(out, size, "%s/%s", folder, kind->file);
  return true;
}

/* Makes every folder of the path.  A failure shows when the database is opened. */
static void make_folders(const char *path) {
  char part[DATABASE_PATH];
  snprintf(part, sizeof part, "%s", path);
  for (char *p = part + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    mkdir(part, 0700);
    *p = '/';
  }
}

/* ---- notes ---- */

__attribute__((format(printf, 2, 3))) static void note_database(Database *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  error_vtell_note(d->note, d->context, fmt, ap);
  va_end(ap);
}

static void tell_unusable(Database *d, const char *why) {
  if (!d->noted)
    note_database(d, N_RUN_DATABASE_UNUSABLE, d->kind->what, d->path, why, d->kind->without);
  d->noted = true;
}

static void tell_read_only(Database *d) {
  if (!d->noted) note_database(d, N_RUN_DATABASE_READ_ONLY, d->kind->what, d->path);
  d->noted = true;
}

/* ---- opening ---- */

static void disconnect(Database *d) {
  sqlite3_close(d->db);
  d->db = NULL;
}

static bool cannot_write(int rc) {
  return (rc & 0xff) == SQLITE_READONLY || (rc & 0xff) == SQLITE_CANTOPEN;
}

static bool is_damage(int rc) { return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB; }

static int read_version(sqlite3 *db, int *version) {
  sqlite3_stmt *s = NULL;
  int rc = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(s);
  if (rc == SQLITE_ROW) *version = sqlite3_column_int(s, 0);
  sqlite3_finalize(s);
  return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Runs text of sqlite3_mprintf, and frees it. */
static int run_text(sqlite3 *db, char *sql) {
  int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  return rc;
}

static int make_tables(sqlite3 *db, const DatabaseKind *kind) {
  int rc = SQLITE_OK;
  for (const char *const *t = kind->tables; *t && rc == SQLITE_OK; t++)
    rc = run_text(db, sqlite3_mprintf("CREATE TABLE IF NOT EXISTS %s", *t));
  if (rc == SQLITE_OK) rc = sqlite3_exec(db, kind->probe, NULL, NULL, NULL);
  return rc == SQLITE_OK ? run_text(db, sqlite3_mprintf("PRAGMA user_version = %d", kind->version))
                         : rc;
}

static int make_in_transaction(sqlite3 *db, const DatabaseKind *kind) {
  int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (rc != SQLITE_OK) return rc;
  rc = make_tables(db, kind);
  if (rc == SQLITE_OK) rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  if (rc != SQLITE_OK) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return rc;
}

/* Without waiting for the disk, as the first call of a kernel would: the file has nothing to lose,
 * and one that a power failure damages is set aside.  The first commit writes all of it. */
static int make_database(sqlite3 *db, const DatabaseKind *kind) {
  int rc = sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
  if (rc == SQLITE_OK && kind->created) rc = sqlite3_exec(db, kind->created, NULL, NULL, NULL);
  if (rc == SQLITE_OK) rc = make_in_transaction(db, kind);
  if (rc == SQLITE_OK) rc = sqlite3_exec(db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
  return rc == SQLITE_OK ? sqlite3_exec(db, kind->settings, NULL, NULL, NULL) : rc;
}

/* SQLITE_CORRUPT: there is a table of another text, or none. */
static int check_tables(sqlite3 *db, const DatabaseKind *kind) {
  static const char query[] = "SELECT 1 FROM sqlite_master WHERE sql = 'CREATE TABLE ' || ?1";
  sqlite3_stmt *s = NULL;
  int rc = sqlite3_prepare_v2(db, query, -1, &s, NULL);
  for (const char *const *t = kind->tables; *t && rc == SQLITE_OK; t++) {
    sqlite3_bind_text(s, 1, *t, -1, SQLITE_STATIC);
    rc = sqlite3_step(s);
    sqlite3_reset(s);
    rc = rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
  }
  sqlite3_finalize(s);
  return rc;
}

/* The file as it is now: no lock is taken, and a journal that a killed process has left is not
 * looked at, which would have to be written back. */
static int open_immutable(Database *d) {
  char uri[3 * DATABASE_PATH + 32] = "file:";
  size_t n = strlen(uri);
  for (const char *p = d->path; *p; p++) {
    bool plain = isalnum((unsigned char)*p) || strchr("/._-", *p);
    n += (size_t)snprintf(uri + n, sizeof uri - n, plain ? "%c" : "%%%02x", (unsigned char)*p);
  }
  snprintf(uri + n, sizeof uri - n, "?immutable=1");
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI;
  return sqlite3_open_v2(uri, &d->db, flags, NULL);
}

typedef enum { CONNECT_EXISTING, CONNECT_CREATE, CONNECT_IMMUTABLE } ConnectMode;

/* Step by step, in a transaction, unless another process does it.  Tables that it does not fit are
 * not ours: SQLITE_CORRUPT. */
static int upgrade(sqlite3 *db, const DatabaseKind *kind, int *version) {
  int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (rc != SQLITE_OK) return rc;
  rc = read_version(db, version);
  while (rc == SQLITE_OK && *version < kind->version) {
    rc = sqlite3_exec(db, kind->upgrades[*version - 1], NULL, NULL, NULL);
    ++*version;
    if (rc == SQLITE_OK) rc = run_text(db, sqlite3_mprintf("PRAGMA user_version = %d", *version));
  }
  if (rc == SQLITE_OK) rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
  if (rc != SQLITE_OK) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc;
}

/* A database of an older version is upgraded to this one, or read as if it were. */
static int check_schema_version(sqlite3 *db, const DatabaseKind *kind, int *version) {
  int old = *version, rc = SQLITE_OK;
  if (old < kind->version) rc = upgrade(db, kind, version);
  if (rc == SQLITE_OK) return check_tables(db, kind);
  if (is_damage(rc) || rc == SQLITE_BUSY) return rc;
  rc = sqlite3_exec(db, kind->views[old - 1], NULL, NULL, NULL);
  *version = kind->version;
  return rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc;
}

/* SQLITE_MISMATCH: it is of a newer version. */
static int connect_once(Database *d, ConnectMode mode, int *version) {
  struct stat st;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX |
              (mode == CONNECT_CREATE ? SQLITE_OPEN_CREATE : 0);
  bool there = stat(d->path, &st) == 0;
  int rc =
      mode == CONNECT_IMMUTABLE ? open_immutable(d) : sqlite3_open_v2(d->path, &d->db, flags, NULL);
  d->inode = there || !stat(d->path, &st) ? st.st_ino : 0;
  if (rc != SQLITE_OK) return rc;
  sqlite3_busy_timeout(d->db, d->kind->busy_ms);
  rc = sqlite3_exec(d->db, d->kind->settings, NULL, NULL, NULL);
  if (rc == SQLITE_OK) rc = read_version(d->db, version);
  if (rc == SQLITE_OK && *version > d->kind->version) return SQLITE_MISMATCH;
  if (rc != SQLITE_OK) return rc;
  if (!*version) return make_database(d->db, d->kind);
  rc = check_schema_version(d->db, d->kind, version);
  return rc == SQLITE_OK ? sqlite3_exec(d->db, d->kind->probe, NULL, NULL, NULL) : rc;
}

/* The journal goes first and by the same name: a remaining journal would be taken for one of the
 * next database. */
static bool rename_all(const Database *d, const char *aside) {
  char from[DATABASE_PATH + 16], to[DATABASE_PATH + 80];
  snprintf(from, sizeof from, "%s-journal", d->path);
  snprintf(to, sizeof to, "%s-journal", aside);
  rename(from, to);
  return rename(d->path, aside) == 0;
}

/* Renames the database, unless another process has replaced it already: one at a time looks, where
 * folders can be locked.  False: it was another process. */
static bool set_aside(Database *d) {
  char aside[DATABASE_PATH + 64], folder[DATABASE_PATH];
  struct stat now;
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(d->path, '/') - d->path), d->path);
  int fd = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) flock(fd, LOCK_EX);
  snprintf(aside, sizeof aside, "%s.damaged-%ld-%ld", d->path, (long)time(NULL), (long)getpid());
  bool ours = stat(d->path, &now) == 0 && now.st_ino == d->inode;
  if (ours && !rename_all(d, aside)) tell_unusable(d, "it is damaged");
  else if (ours) note_database(d, N_RUN_DATABASE_DAMAGED, d->kind->what, d->path, aside);
  if (fd >= 0) close(fd);
  return ours;
}

static int connect_anew(Database *d, bool create, int *version) {
  ConnectMode mode = create ? CONNECT_CREATE : CONNECT_EXISTING;
  if (create) make_folders(d->path);
  int rc = connect_once(d, mode, version);
  struct stat st;
  if (cannot_write(rc) && !stat(d->path, &st) && S_ISREG(st.st_mode)) {
    disconnect(d);
    rc = connect_once(d, CONNECT_IMMUTABLE, version);
  }
  if (!is_damage(rc)) return rc;
  disconnect(d);
  return set_aside(d) && !create ? SQLITE_CORRUPT : connect_once(d, mode, version);
}

/* A connection that was made before a fork belongs to the other process: here it must be neither
 * used nor closed, by SQLite's rules.  Its memory stays allocated. */
static bool is_inherited(const Database *d) { return d->db && d->process != getpid(); }

DatabaseState database_use(Database *d, bool create) {
  int version = 0;
  if (is_inherited(d)) d->db = NULL;
  d->process = getpid();
  if (d->db) return DATABASE_READY;
  if (!*d->path || (!create && access(d->path, F_OK))) return DATABASE_ABSENT;
  int rc = connect_anew(d, create, &version);
  if (rc == SQLITE_OK) return DATABASE_READY;
  if (rc == SQLITE_MISMATCH && !d->noted)
    note_database(d, N_RUN_DATABASE_NEWER, d->kind->what, d->path, version, d->kind->version);
  else if (d->db || !is_damage(rc))
    tell_unusable(d, d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(rc));
  d->noted |= rc == SQLITE_MISMATCH;
  disconnect(d);
  return DATABASE_FAILED;
}

void database_init(Database *d, const DatabaseKind *kind, nereid_message_fn note, void *context) {
  *d = (Database){.kind = kind, .note = note, .context = context};
  pthread_mutex_init(&d->lock, NULL);
  database_path(d->path, sizeof d->path, kind);
}

bool database_is_open(Database *d) {
  return d->db && (!is_inherited(d) || database_use(d, true) == DATABASE_READY);
}

void database_close(Database *d) {
  if (!is_inherited(d)) disconnect(d);
  pthread_mutex_destroy(&d->lock);
}

/* ---- using ---- */

void database_failed(Database *d) {
  if (!d->db) return;
  int rc = sqlite3_errcode(d->db);
  bool moved = sqlite3_extended_errcode(d->db) == SQLITE_READONLY_DBMOVED;
  if (!is_damage(rc) && !moved && (rc & 0xff) == SQLITE_READONLY) tell_read_only(d);
  else if (!is_damage(rc) && !moved) tell_unusable(d, sqlite3_errmsg(d->db));
  if (!is_damage(rc) && !moved) return;
  disconnect(d);
  if (!moved) set_aside(d);
}

sqlite3_stmt *database_prepare(Database *d, const char *sql) {
  sqlite3_stmt *s = NULL;
  return sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) == SQLITE_OK ? s : NULL;
}

int database_transact(Database *d, int (*body)(void *context), void *context) {
  int rc = sqlite3_exec(d->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (rc == SQLITE_OK) rc = body(context);
  if (rc == SQLITE_OK) rc = sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
  if (rc == SQLITE_OK) return rc;
  database_failed(d);
  if (d->db) sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
  return rc;
}

void database_describe(char *out, size_t size, const DatabaseKind *kind) {
  Database d;
  database_init(&d, kind, NULL, NULL);
  DatabaseState state = database_use(&d, true);
  const char *about = state == DATABASE_FAILED ? " (can't be used)"
                      : state == DATABASE_READY && sqlite3_db_readonly(d.db, "main")
                          ? " (can only be read)"
                          : "";
  snprintf(out, size, "%s%s", *d.path ? d.path : "off", about);
  database_close(&d);
}
