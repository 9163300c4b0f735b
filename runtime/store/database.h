/* SQLite databases that many processes share, all in one folder: $NEREID_CACHE_DIR, else
 * $XDG_CACHE_HOME/nereid, else ~/.cache/nereid.  NEREID_CACHE_DIR set to nothing turns them off.
 *
 * runtime/store owns these files: the databases, and in one of them the cache (cache.h).  It takes
 * keys and bytes, and gives the bytes again, or nothing.
 *
 * Whatever goes wrong is told once, as a note, and the program goes on without.  A damaged
 * database is set aside under another name, never deleted; one of a newer version of the program
 * is left as it is.  They have rollback journals, not write-ahead logs: those need shared memory,
 * which folders on a network do not have, and files that a folder without write access lacks. */
#ifndef NEREID_RUNTIME_STORE_DATABASE_H
#define NEREID_RUNTIME_STORE_DATABASE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/types.h>

#include "runtime/support/error.h"

enum { DATABASE_PATH = 4096 };

typedef struct {
  const char *file;
  const char *what;            /* in notes: "the cache" */
  const char *without;         /* what holds without it: "kernels are compiled each time" */
  int version;                 /* the greatest user_version that this program knows */
  int busy_ms;                 /* how long one process waits for others */
  const char *settings;        /* SQL for each connection */
  const char *created;         /* SQL for a new one, before its tables are made; may be NULL */
  const char *const *tables;   /* what follows CREATE TABLE; NULL ends.  In a database that says
                                    by its user_version that it is ours, another text is damage */
  const char *const *upgrades; /* SQL from version i + 1 to the next; NULL: there is none older */
  const char *const *views;    /* where that can't be written: SQL of the same effect for a reader
                                    of version i + 1, on the connection alone */
  const char *probe;           /* a query that shows whether it can be used */
} DatabaseKind;

typedef struct {
  const DatabaseKind *kind;
  sqlite3 *db;              /* NULL: not open */
  char path[DATABASE_PATH]; /* "": turned off */
  ino_t inode;              /* of the open file, or of the last one */
  pid_t process;            /* the one that opened it: a fork of it opens its own */
  nereid_message_fn note;   /* may be NULL */
  void *context;
  bool noted;           /* that it cannot be used */
  pthread_mutex_t lock; /* held by the caller while it uses `db` */
} Database;

typedef enum { DATABASE_READY, DATABASE_ABSENT, DATABASE_FAILED } DatabaseState;

/* Nothing is opened or made yet. */
void database_init(Database *d, const DatabaseKind *kind, nereid_message_fn note, void *context);
void database_close(Database *d);
/* Opens it if it is not open.  ABSENT: it is turned off, or not there and not to be made. */
DatabaseState database_use(Database *d, bool create);
/* Is it open, in a process that was forked since after opening it anew? */
bool database_is_open(Database *d);
/* After a call that failed, before another one: tells why, and closes what is damaged or was
 * replaced under its name, so that database_use() opens the one that is there then. */
void database_failed(Database *d);
/* body(context) between BEGIN and COMMIT, or ROLLBACK and database_failed().  All of them give
 * codes of SQLite. */
int database_transact(Database *d, int (*body)(void *context), void *context);
/* NULL on failure. */
sqlite3_stmt *database_prepare(Database *d, const char *sql);

/* The database's path; false if it is disabled. */
bool database_path(char *out, size_t size, const DatabaseKind *kind);
/* "PATH", "PATH (can't be used)", "off" ... */
void database_describe(char *out, size_t size, const DatabaseKind *kind);

#endif
