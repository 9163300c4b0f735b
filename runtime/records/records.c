/* Lists of records, with the orders that decide what is kept and what is chosen; the database. */
#include "runtime/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/records/doubt.h"
#include "runtime/store/database.h"

/* ---- statuses ---- */

static const char *const names[] = {"ok",    "compile", "resources", "timeout",
                                    "fault", "wrong",   "pruned"};
enum { COUNT = sizeof names / sizeof *names };
_Static_assert(COUNT == NEREID_TUNE_PRUNED + 1, "one name a status");

const char *nereid_tune_status_name(nereid_tune_status s) {
  return (unsigned)s < COUNT ? names[s] : "?";
}

bool tune_status_read(nereid_tune_status *out, const char *word) {
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(names[i], word)) {
      *out = (nereid_tune_status)i;
      return true;
    }
  return false;
}

/* ---- records for people: the best of each problem ---- */

static void print_best(Text *out, const Record *r) {
  char doubt[128];
  TimeTaken t = {r->median_us, r->spread_us, r->runs, r->predicted_us};
  doubt_print(doubt, sizeof doubt, &t);
  text_printf(out, "  %.4g us  %s\n", r->median_us, r->config);
  text_printf(out, "  spread %.4g us, %d run%s%s%s\n", r->spread_us, r->runs,
              r->runs == 1 ? "" : "s", *r->shape ? ", of " : "", r->shape);
  if (*doubt) text_printf(out, "  uncertain: %s\n", doubt);
}

/* The records [from, to) are those of one problem. */
static void print_problem_group(Text *out, const RecordList *l, size_t from, size_t to) {
  RecordList own = {l->data + from, to - from, 0};
  const RecordProblem *p = own.data->problem;
  records_rank(&own);
  const Record *best = records_best(&own);
  text_printf(out, "%s(%s)\n  class %s, %s, %s: %zu record%s\n", p->kernel, p->signature, p->sizes,
              p->device, p->driver, own.len, own.len == 1 ? "" : "s");
  if (best) print_best(out, best);
  else text_puts(out, "  none of them ran\n");
}

void records_summarize(Text *out, RecordList *l) {
  for (size_t i = 0, end; i < l->len; i = end) {
    for (end = i + 1; end < l->len; end++)
      if (record_compare_problems(l->data[i].problem, l->data[end].problem)) break;
    print_problem_group(out, l, i, end);
  }
}

/* Did it run, and is its time to be trusted (runtime/records/doubt.h)? */
static bool record_is_sure(const Record *r) {
  TimeTaken t = {r->median_us, r->spread_us, r->runs, r->predicted_us};
  return r->status == NEREID_TUNE_OK && doubt_of(&t) == DOUBT_NONE;
}

bool record_is_valid(const Record *r) {
  static const int64_t LAST = 253402300799; /* of the year 9999 */
  if ((unsigned)r->status >= NEREID_TUNE_PRUNED || r->runs < 0) return false;
  const double us[] = {r->median_us, r->spread_us, r->predicted_us};
  for (size_t i = 0; i < sizeof us / sizeof *us; i++)
    if (!isfinite(us[i]) || signbit(us[i])) return false;
  if (r->status == NEREID_TUNE_OK && (r->median_us == 0 || r->runs == 0)) return false;
  return r->taken >= 0 && r->taken <= LAST;
}

/* ---- orders ---- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

int record_compare_problems(const RecordProblem *a, const RecordProblem *b) {
  if (a == b) return 0;
  int c = strcmp(a->kernel, b->kernel);
  if (!c) c = strcmp(a->signature, b->signature);
  if (!c) c = strcmp(a->sizes, b->sizes);
  if (!c) c = strcmp(a->device, b->device);
  return c ? c : strcmp(a->driver, b->driver);
}

static int record_compare_keys(const Record *a, const Record *b) {
  int c = record_compare_problems(a->problem, b->problem);
  if (!c) c = strcmp(a->config, b->config);
  if (!c) c = memcmp(a->ir.bytes, b->ir.bytes, sizeof a->ir.bytes);
  return c ? c : strcmp(a->version, b->version);
}

int record_compare(const Record *a, const Record *b) {
  int c = (b->status == NEREID_TUNE_WRONG) - (a->status == NEREID_TUNE_WRONG);
  if (!c) c = record_is_sure(b) - record_is_sure(a);
  if (!c) c = COMPARE(b->runs, a->runs);
  if (!c) c = COMPARE(b->taken, a->taken);
  if (!c) c = COMPARE(a->median_us, b->median_us);
  if (!c) c = COMPARE(a->spread_us, b->spread_us);
  if (!c) c = COMPARE(a->predicted_us, b->predicted_us);
  if (!c) c = COMPARE(a->status, b->status);
  if (!c) c = memcmp(a->code.bytes, b->code.bytes, sizeof a->code.bytes);
  if (!c) c = strcmp(a->reason, b->reason);
  return c ? c : strcmp(a->shape, b->shape);
}

static int by_key(const void *a, const void *b) {
  int c = record_compare_keys(a, b);
  return c ? c : record_compare(a, b);
}

/* Orders records that are ok first, by their time; equal times in the order of keys. */
static int by_rank(const void *a, const void *b) {
  const Record *x = a, *y = b;
  int c = (x->status != NEREID_TUNE_OK) - (y->status != NEREID_TUNE_OK);
  if (!c && x->status == NEREID_TUNE_OK) c = COMPARE(x->median_us, y->median_us);
  return c ? c : by_key(a, b);
}

void records_sort(RecordList *l) {
  size_t n = 0;
  if (l->len) qsort(l->data, l->len, sizeof *l->data, by_key);
  for (size_t i = 0; i < l->len; i++)
    if (!n || record_compare_keys(&l->data[n - 1], &l->data[i])) l->data[n++] = l->data[i];
  l->len = n;
}

void records_rank(RecordList *l) {
  if (l->len) qsort(l->data, l->len, sizeof *l->data, by_rank);
}

const Record *records_best(const RecordList *l) {
  const Record *first = l->len && l->data[0].status == NEREID_TUNE_OK ? l->data : NULL;
  for (size_t i = 0; i < l->len; i++)
    if (record_is_sure(&l->data[i])) return &l->data[i];
  return first;
}

/* ---- finding ---- */

static bool keys_equal(const CacheKey *a, const CacheKey *b) {
  return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

const Record *records_find(const RecordList *l, const char *config, const CacheKey *ir,
                           const char *version, const CacheKey *code) {
  static const CacheKey none;
  const Record *found = NULL;
  bool by_code = code && !keys_equal(code, &none);
  for (size_t i = 0; i < l->len; i++) {
    const Record *r = &l->data[i];
    if (strcmp(r->config, config)) continue;
    if (keys_equal(&r->ir, ir) && !strcmp(r->version, version)) return r;
    if (by_code && keys_equal(&r->code, code) && (!found || record_compare(r, found) < 0))
      found = r;
  }
  return found;
}

/* ---- the tables ---- */

#define RECORD_COLUMNS                                                       \
  "problem INTEGER NOT NULL REFERENCES problem,"                             \
  " config TEXT NOT NULL, ir BLOB NOT NULL, version TEXT NOT NULL,"          \
  " code BLOB NOT NULL, status TEXT NOT NULL, median_us REAL NOT NULL,"      \
  " spread_us REAL NOT NULL, runs INTEGER NOT NULL, taken INTEGER NOT NULL," \
  " reason TEXT NOT NULL, shape TEXT NOT NULL, predicted_us REAL NOT NULL,"  \
  " PRIMARY KEY(problem, config, ir, version)"
#define RECORD_TABLE "record(" RECORD_COLUMNS ") WITHOUT ROWID"

static const char *const tables[] = {
    "problem(id INTEGER PRIMARY KEY NOT NULL,"
    " kernel TEXT NOT NULL, signature TEXT NOT NULL, sizes TEXT NOT NULL, device TEXT NOT NULL,"
    " driver TEXT NOT NULL, UNIQUE(kernel, signature, sizes, device, driver))",
    RECORD_TABLE, NULL};

/* From version 1, whose records did not say what they were measured of, and what was expected. */
#define OF_VERSION_1 \
  "SELECT problem, config, ir, version, code, status, median_us, spread_us, runs, taken, reason,"
static const char *const upgrades[] = {
    "ALTER TABLE record RENAME TO record_1;"
    "CREATE TABLE " RECORD_TABLE
    ";"
    "INSERT INTO record " OF_VERSION_1
    " '', 0.0 FROM record_1;"
    "DROP TABLE record_1"};
static const char *const views[] = {"CREATE TEMP VIEW record AS " OF_VERSION_1
                                    " '' AS shape, 0.0 AS predicted_us FROM main.record"};

/* The file has no number: what a version of the program finds there it reads, or brings into its
 * own form, and raises user_version; an older one then leaves it alone.  A minute is what sixteen
 * processes with a slow disk may need. */
static const DatabaseKind kind = {
    .file = RECORDS_FILE,
    .what = "the database of records",
    .without = "measurements are not kept",
    .version = 2,
    .busy_ms = 60000,
    .settings = "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON",
    .tables = tables,
    .upgrades = upgrades,
    .views = views,
    .probe = "SELECT count(*) FROM record JOIN problem ON problem = id WHERE problem = 0",
};

bool records_path(char *out, size_t size) { return database_path(out, size, &kind); }

struct Records {
  Database database;
};

Records *records_open(nereid_message_fn note, void *context) {
  Records *r = calloc(1, sizeof *r);
  if (r) database_init(&r->database, &kind, note, context);
  return r;
}

void records_close(Records *r) {
  if (!r) return;
  database_close(&r->database);
  free(r);
}

bool records_are_off(const Records *r) { return !r || !*r->database.path; }

int nereid_records_describe(char *out, size_t size) {
  REQUIRE(out);
  database_describe(out, size, &kind);
  return 0;
}

/* ---- rows ---- */

/* The columns of a record in the order of all statements below. */
#define COLUMNS "code, status, median_us, spread_us, runs, taken, reason, shape, predicted_us"

static const char *record_text_at(sqlite3_stmt *s, int column) {
  const char *text = (const char *)sqlite3_column_text(s, column);
  return text ? text : "";
}

static CacheKey key_at(sqlite3_stmt *s, int column) {
  CacheKey key = {{0}};
  const void *bytes = sqlite3_column_blob(s, column);
  if (bytes && sqlite3_column_bytes(s, column) == sizeof key.bytes)
    memcpy(key.bytes, bytes, sizeof key.bytes);
  return key;
}

/* From column `at` on; texts last until the statement's next step.  False if it is no record. */
static bool take_values(sqlite3_stmt *s, int at, Record *r) {
  sqlite3_int64 runs = sqlite3_column_int64(s, at + 4);
  r->code = key_at(s, at);
  r->median_us = sqlite3_column_double(s, at + 2);
  r->spread_us = sqlite3_column_double(s, at + 3);
  r->runs = runs == (int)runs ? (int)runs : -1;
  r->taken = sqlite3_column_int64(s, at + 5);
  r->reason = record_text_at(s, at + 6);
  r->shape = record_text_at(s, at + 7);
  r->predicted_us = sqlite3_column_double(s, at + 8);
  return tune_status_read(&r->status, record_text_at(s, at + 1)) && record_is_valid(r);
}

static void bind_text(sqlite3_stmt *s, int i, const char *text) {
  sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

static void bind_key(sqlite3_stmt *s, int i, const CacheKey *k) {
  sqlite3_bind_blob(s, i, k->bytes, sizeof k->bytes, SQLITE_STATIC);
}

static void bind_problem(sqlite3_stmt *s, const RecordProblem *p) {
  bind_text(s, 1, p->kernel);
  bind_text(s, 2, p->signature);
  bind_text(s, 3, p->sizes);
  bind_text(s, 4, p->device);
  bind_text(s, 5, p->driver);
}

/* ---- reading ---- */

#define SELECT_RECORDS                                                             \
  "SELECT kernel, signature, sizes, device, driver, config, ir, version, " COLUMNS \
  " FROM"                                                                          \
  " problem JOIN record ON problem = id"
#define OF_PROBLEM \
  " WHERE kernel = ?1 AND signature = ?2 AND sizes = ?3 AND device = ?4 AND driver = ?5"

typedef struct {
  Database *database;
  sqlite3_stmt *statement;
  Arena *arena;
  const RecordProblem *problem; /* NULL: all */
  RecordList *out;
} Getting;

static const char *copy_at(const Getting *g, int column) {
  const char *text = record_text_at(g->statement, column);
  return arena_strndup(g->arena, text, strlen(text));
}

/* The problem of a row, which is mostly that of the row before. */
static const RecordProblem *problem_at(const Getting *g, const RecordProblem *last) {
  RecordProblem here = {record_text_at(g->statement, 0), record_text_at(g->statement, 1),
                        record_text_at(g->statement, 2), record_text_at(g->statement, 3),
                        record_text_at(g->statement, 4)};
  if (last && !record_compare_problems(last, &here)) return last;
  RecordProblem *p = ARENA_NEW(g->arena, RecordProblem);
  *p = (RecordProblem){copy_at(g, 0), copy_at(g, 1), copy_at(g, 2), copy_at(g, 3), copy_at(g, 4)};
  return p;
}

static void read_record_row(Getting *g) {
  Record r = {.ir = key_at(g->statement, 6)};
  if (!take_values(g->statement, 8, &r)) return;
  r.reason = copy_at(g, 14);
  r.shape = copy_at(g, 15);
  r.problem =
      g->problem ? g->problem : problem_at(g, g->out->len ? vec_last(g->out).problem : NULL);
  r.config = copy_at(g, 5);
  r.version = copy_at(g, 7);
  vec_push(g->arena, g->out, r);
}

static bool get_rows(void *context) {
  Getting *g = context;
  int rc;
  if (g->problem) bind_problem(g->statement, g->problem);
  while ((rc = sqlite3_step(g->statement)) == SQLITE_ROW) read_record_row(g);
  return rc == SQLITE_DONE;
}

static void stop_getting(void *context) {
  Getting *g = context;
  sqlite3_finalize(g->statement);
  pthread_mutex_unlock(&g->database->lock);
}

RecordsResult records_get(Records *r, Arena *a, const RecordProblem *problem, RecordList *out) {
  if (!r) return RECORDS_NONE;
  Database *d = &r->database;
  pthread_mutex_lock(&d->lock);
  DatabaseState state = database_use(d, false);
  Getting g = {.database = d, .arena = a, .problem = problem, .out = out};
  if (state == DATABASE_READY)
    g.statement = database_prepare(d, problem ? SELECT_RECORDS OF_PROBLEM : SELECT_RECORDS);
  bool good = g.statement && arena_guard(a, get_rows, stop_getting, &g);
  sqlite3_finalize(g.statement);
  if (!good) database_failed(d);
  pthread_mutex_unlock(&d->lock);
  if (problem) records_rank(out);
  else records_sort(out);
  return good ? RECORDS_OK : state == DATABASE_ABSENT ? RECORDS_NONE : RECORDS_FAILED;
}

/* ---- writing ---- */

enum { FIND_PROBLEM, ADD_PROBLEM, FIND_RECORD, PUT_RECORD, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [FIND_PROBLEM] = "SELECT id FROM problem" OF_PROBLEM,
    [ADD_PROBLEM] =
        "INSERT INTO problem(kernel, signature, sizes, device, driver)"
        " VALUES(?1, ?2, ?3, ?4, ?5)",
    [FIND_RECORD] = "SELECT " COLUMNS
                    " FROM record"
                    " WHERE problem = ?1 AND config = ?2 AND ir = ?3 AND version = ?4",
    [PUT_RECORD] = "INSERT OR REPLACE INTO record(problem, config, ir, version, " COLUMNS
                   ")"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
};

typedef struct {
  Database *database;
  const Record *list;
  size_t n;
  bool anew; /* what is there is not asked for */
  sqlite3_stmt *statements[STATEMENTS];
  sqlite3_int64 problem; /* of the record before */
  RecordsChange change;
} Putting;

/* Runs a statement whose values are bound, up to its first row. */
static int step_statement(sqlite3_stmt *s) {
  int rc = sqlite3_step(s);
  if (rc != SQLITE_ROW) sqlite3_reset(s);
  return rc;
}

static int find_problem(Putting *p, const RecordProblem *problem) {
  sqlite3_stmt *find = p->statements[FIND_PROBLEM], *add = p->statements[ADD_PROBLEM];
  bind_problem(find, problem);
  int rc = step_statement(find);
  if (rc == SQLITE_ROW) {
    p->problem = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    return SQLITE_OK;
  }
  if (rc != SQLITE_DONE) return rc;
  bind_problem(add, problem);
  rc = step_statement(add);
  p->problem = sqlite3_last_insert_rowid(p->database->db);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static void bind_record(const Putting *p, sqlite3_stmt *s, const Record *r) {
  sqlite3_bind_int64(s, 1, p->problem);
  bind_text(s, 2, r->config);
  bind_key(s, 3, &r->ir);
  bind_text(s, 4, r->version);
}

/* Is there a record that stays?  Its problem must be found. */
static int find_better(Putting *p, const Record *r, bool *there, bool *better) {
  sqlite3_stmt *s = p->statements[FIND_RECORD];
  Record old = {0};
  bind_record(p, s, r);
  int rc = step_statement(s);
  *there = rc == SQLITE_ROW;
  *better = *there && !p->anew && take_values(s, 0, &old) && record_compare(&old, r) <= 0;
  if (*there) sqlite3_reset(s);
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int write_record(Putting *p, const Record *r) {
  sqlite3_stmt *s = p->statements[PUT_RECORD];
  bind_record(p, s, r);
  bind_key(s, 5, &r->code);
  bind_text(s, 6, nereid_tune_status_name(r->status));
  sqlite3_bind_double(s, 7, r->median_us);
  sqlite3_bind_double(s, 8, r->spread_us);
  sqlite3_bind_int(s, 9, r->runs);
  sqlite3_bind_int64(s, 10, r->taken);
  bind_text(s, 11, r->reason);
  bind_text(s, 12, r->shape);
  sqlite3_bind_double(s, 13, r->predicted_us);
  int rc = step_statement(s);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int put_one(Putting *p, const Record *r, const Record *before) {
  bool there = false, better = false;
  int rc = before && before->problem == r->problem ? SQLITE_OK : find_problem(p, r->problem);
  if (rc == SQLITE_OK) rc = find_better(p, r, &there, &better);
  if (rc != SQLITE_OK || better) return rc;
  p->change.added += !there;
  p->change.replaced += there;
  return write_record(p, r);
}

static int put_each(Putting *p) {
  const Record *before = NULL;
  int rc = SQLITE_OK;
  for (size_t i = 0; i < p->n && rc == SQLITE_OK; i++) {
    if (!record_is_valid(&p->list[i])) continue;
    rc = put_one(p, &p->list[i], before);
    before = &p->list[i];
  }
  return rc;
}

static int put_list(void *context) {
  Putting *p = context;
  int rc = SQLITE_OK;
  p->change = (RecordsChange){0};
  for (int i = 0; i < STATEMENTS && rc == SQLITE_OK; i++) {
    p->statements[i] = database_prepare(p->database, texts[i]);
    if (!p->statements[i]) rc = SQLITE_ERROR;
  }
  if (rc == SQLITE_OK) rc = put_each(p);
  for (int i = 0; i < STATEMENTS; i++) {
    sqlite3_finalize(p->statements[i]);
    p->statements[i] = NULL;
  }
  return rc;
}

static bool put_once(Putting *p) {
  return database_use(p->database, true) == DATABASE_READY &&
         database_transact(p->database, put_list, p) == SQLITE_OK;
}

static bool put_records(Records *r, Putting *p) {
  if (!r || !p->n) return !p->n;
  p->database = &r->database;
  pthread_mutex_lock(&p->database->lock);
  /* Again, if the database was damaged, or replaced under its name: then it is not open. */
  bool good = put_once(p) || (!p->database->db && put_once(p));
  pthread_mutex_unlock(&p->database->lock);
  if (!good) p->change = (RecordsChange){0};
  return good;
}

bool records_put(Records *r, const Record *list, size_t n, RecordsChange *change) {
  Putting p = {.list = list, .n = n};
  bool good = put_records(r, &p);
  if (change) *change = p.change;
  return good;
}

bool records_replace(Records *r, const Record *list, size_t n) {
  Putting p = {.list = list, .n = n, .anew = true};
  return put_records(r, &p);
}
