/* Records: their orders and their text; the database with many processes, after kills, when it
 * cannot grow or be written, damaged, replaced, or of a newer version. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/records/doubt.h"
#include "runtime/records/records.h"
#include "runtime/support/tool.h"
#include "tests/support/tally.h"

static TempFolder folder;
static char path[TOOL_PATH + 64]; /* of the database */

/* ---- records to play with ---- */

static const RecordProblem add = {"add", "*f32, i32", "n=4096", "a device", "1"};
static const RecordProblem copy = {"copy", "*f32", "n=4096", "a device", "1"};

static CacheKey key_of(int i) {
  CacheKey k = {{(unsigned char)(i >> 8), (unsigned char)i}};
  return k;
}

static Record record_of(const RecordProblem *p, const char *config, double us, int runs) {
  return (Record){.problem = p,
                  .config = config,
                  .ir = key_of(1),
                  .version = "v1",
                  .code = key_of(2),
                  .median_us = us,
                  .runs = runs,
                  .reason = "",
                  .shape = "",
                  .taken = 1000};
}

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* Few values each, so that keys meet often. */
static Record random_record(uint64_t *state) {
  static const RecordProblem *const problems[] = {&add, &copy};
  static const char *const texts[] = {"", "a", "B=1 \"x\"", "\n\\\t\x01\x7f\xff", "\xc3\xa4 # //"};
  Record r = {.problem = problems[next(state) % 2]};
  r.config = texts[next(state) % 5];
  r.ir = key_of((int)(next(state) % 3));
  r.version = texts[next(state) % 2];
  r.code = key_of((int)(next(state) % 3));
  r.status = (nereid_tune_status)(next(state) % NEREID_TUNE_PRUNED);
  r.reason = texts[next(state) % 5];
  r.runs = 1 + (int)(next(state) % 3);
  r.median_us = (double)(1 + next(state) % 1000) / 7;
  r.spread_us = next(state) % 2 ? 0 : 1e-300 * (double)next(state);
  r.taken = (int64_t)(next(state) % 4) * 84434100000;
  r.shape = texts[next(state) % 5];
  r.predicted_us = (double)(next(state) % 3) / 7;
  return r;
}

static RecordList random_list(Arena *a, uint64_t seed) {
  RecordList l = {0};
  for (int i = 0; i < 60; i++) vec_push(a, &l, random_record(&seed));
  return l;
}

/* Lists as one, sorted. */
static RecordList join(Arena *a, const RecordList *x, const RecordList *y) {
  RecordList l = {0};
  for (size_t i = 0; i < x->len; i++) vec_push(a, &l, x->data[i]);
  for (size_t i = 0; i < y->len; i++) vec_push(a, &l, y->data[i]);
  records_sort(&l);
  return l;
}

static const char *print(Arena *a, const RecordList *l) {
  Text out = text_new(a);
  records_print(&out, l);
  return out.data;
}

static bool same(Arena *a, const RecordList *x, const RecordList *y) {
  return !strcmp(print(a, x), print(a, y));
}

static bool read_back(Arena *a, const char *text, RecordList *out) {
  Pool *names = pool_new(a);
  Diags *d = diags_new(a);
  uint32_t file = diag_source(d, "x.records", text, strlen(text));
  return records_read(a, names, d, file, out);
}

/* ---- orders and text ---- */

static void test_orders(void) {
  Record base = record_of(&add, "B=1", 10, 5), other = base;
  other.runs = 6;
  check(record_compare(&other, &base) < 0, "more runs");
  base.taken = 2000;
  check(record_compare(&other, &base) < 0, "more runs, though earlier");
  base.status = NEREID_TUNE_WRONG;
  check(record_compare(&base, &other) < 0, "what is wrong stays wrong");
  base = other = record_of(&add, "B=1", 10, 5);
  other.taken++;
  check(record_compare(&other, &base) < 0, "the later one");
  base = other = record_of(&add, "B=1", 10, 5);
  other.median_us = 9;
  check(record_compare(&other, &base) < 0 && !record_compare(&base, &base), "the faster one");
}

/* Which time is believed. */
static void test_doubt(Arena *a) {
  static const struct {
    TimeTaken t;
    Doubt doubt;
  } cases[] = {{{10, 1, 5, 0}, DOUBT_NONE},        {{10, 0, 4, 0}, DOUBT_FEW},
               {{10, 5.1, 50, 0}, DOUBT_SPREAD},   {{10, 1, 5, 0.7}, DOUBT_NONE},
               {{10, 1, 5, 0.6}, DOUBT_FAR},       {{10, 1, 5, 151}, DOUBT_FAR},
               {{10, 1, 20, 151}, DOUBT_NONE},     {{3e5, 1, 5, 1}, DOUBT_NONE},
               {{0.07, 0.01, 10, 1.2}, DOUBT_NONE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char why[128];
    doubt_print(why, sizeof why, &cases[i].t);
    check(doubt_of(&cases[i].t) == cases[i].doubt, "a doubt");
    check(!*why == (cases[i].doubt == DOUBT_NONE), "and its reason");
    TimeTaken more = cases[i].t;
    more.runs += doubt_runs(&more);
    check(doubt_of(&more) == DOUBT_NONE || more.spread_us > 5, "that runs may end");
  }
  Record sure = record_of(&add, "B=1", 10, 5), doubtful = sure;
  doubtful.runs = 50;
  doubtful.spread_us = 9;
  check(record_compare(&sure, &doubtful) < 0, "what is sure stays, with fewer runs");
  RecordList l = {0};
  vec_push(a, &l, record_of(&add, "B=1", 1, 2));
  records_rank(&l);
  check(records_best(&l) == l.data, "the best of what is doubtful");
  vec_push(a, &l, record_of(&add, "B=2", 10, 5));
  vec_push(a, &l, record_of(&add, "B=3", 11, 5));
  records_rank(&l);
  check(!strcmp(records_best(&l)->config, "B=2"), "the best of what is sure");
}

static void test_merging(Arena *a) {
  for (uint64_t i = 0; i < 50; i++) {
    RecordList x = random_list(a, 3 * i), y = random_list(a, 3 * i + 1);
    RecordList z = random_list(a, 3 * i + 2);
    RecordList xy = join(a, &x, &y), yx = join(a, &y, &x), yz = join(a, &y, &z);
    RecordList left = join(a, &xy, &z), right = join(a, &x, &yz), twice = join(a, &xy, &xy);
    check(xy.len < x.len + y.len && same(a, &xy, &yx), "merging commutes");
    check(same(a, &left, &right), "merging is associative");
    check(same(a, &xy, &twice), "merging with itself changes nothing");
    RecordList back = {0};
    check(read_back(a, print(a, &xy), &back) && same(a, &xy, &back), "text is read back");
  }
}

static void test_ranking(Arena *a) {
  RecordList l = {0};
  vec_push(a, &l, record_of(&add, "B=4", 10, 5));
  vec_push(a, &l, record_of(&add, "B=2", 10, 9));
  vec_push(a, &l, record_of(&add, "B=3", 9, 5));
  vec_push(a, &l, record_of(&add, "B=1", 1, 5));
  vec_last(&l).status = NEREID_TUNE_WRONG;
  records_rank(&l);
  bool good = !strcmp(l.data[0].config, "B=3") && !strcmp(l.data[1].config, "B=2");
  check(good && !strcmp(l.data[2].config, "B=4"), "the fastest first, ties by their text");
  check(!strcmp(l.data[3].config, "B=1"), "what is wrong comes last");
}

static void test_finding(Arena *a) {
  RecordList l = {0};
  CacheKey one = key_of(1), two = key_of(2), three = key_of(3), none = key_of(0);
  vec_push(a, &l, record_of(&add, "B=1", 10, 5));
  vec_push(a, &l, record_of(&add, "B=1", 20, 50));
  vec_last(&l).version = "v0";
  vec_push(a, &l, record_of(&add, "B=2", 30, 5));
  vec_last(&l).code = none;
  check(records_find(&l, "B=1", &one, "v1", NULL) == &l.data[0], "by IR and version");
  check(!records_find(&l, "B=1", &one, "v2", NULL), "another version");
  check(!records_find(&l, "B=1", &three, "v1", NULL), "another IR");
  check(records_find(&l, "B=1", &three, "v2", &two) == &l.data[1], "the best by its code");
  check(!records_find(&l, "B=1", &three, "v2", &three), "other code");
  check(!records_find(&l, "B=2", &three, "v2", &none), "no code is not the same code");
  check(!records_find(&l, "B=3", &one, "v1", &two), "another configuration");
}

static void test_validity(void) {
  Record r = record_of(&add, "B=1", 10, 5);
  check(record_is_valid(&r), "a valid record");
#define REFUSED(change) \
  r = record_of(&add, "B=1", 10, 5), change, check(!record_is_valid(&r), #change)
  REFUSED(r.status = NEREID_TUNE_PRUNED);
  REFUSED(r.status = (nereid_tune_status)77);
  REFUSED(r.runs = -1);
  REFUSED(r.runs = 0);
  REFUSED(r.median_us = 0);
  REFUSED(r.median_us = -0.0);
  REFUSED(r.median_us = -1);
  REFUSED(r.spread_us = 1.0 / 0.0);
  REFUSED(r.spread_us = 0.0 / 0.0);
  REFUSED(r.taken = -1);
  REFUSED(r.taken = INT64_MAX);
}

/* ---- the database ---- */

static int notes;
static char last_note[1 << 14];

static void on_note(void *context, const char *text) {
  (void)context;
  notes++;
  snprintf(last_note, sizeof last_note, "%s", text);
}

static bool noted(const char *words) {
  bool good = notes == 1 && strstr(last_note, words);
  if (!good) printf("%d notes: %s\n", notes, last_note);
  notes = 0;
  return good;
}

/* An empty folder of its own for each test. */
static void use_folder(const char *name) {
  char dir[TOOL_PATH + 32];
  temp_name(dir, sizeof dir, &folder, name);
  setenv("NEREID_CACHE_DIR", dir, 1);
  snprintf(path, sizeof path, "%s/records.db", dir);
  notes = 0;
}

static size_t count(Records *r, const RecordProblem *p) {
  Arena *a = arena_new();
  RecordList l = {0};
  records_get(r, a, p, &l);
  size_t n = l.len;
  arena_free(a);
  return n;
}

static size_t count_all(void) {
  Records *r = records_open(NULL, NULL);
  size_t n = count(r, NULL);
  records_close(r);
  return n;
}

static bool put(Records *r, const char *config, double us, int runs) {
  Record one = record_of(&add, config, us, runs);
  return records_put(r, &one, 1, NULL);
}

static void test_database(Arena *a) {
  RecordsChange change;
  RecordList l = {0};
  use_folder("database");
  Records *r = records_open(on_note, NULL);
  check(records_get(r, a, &add, &l) == RECORDS_NONE, "no database yet");
  check(access(path, F_OK) != 0, "asking makes none");
  Record list[] = {record_of(&add, "B=1", 10, 5), record_of(&copy, "B=1", 20, 5),
                   record_of(&add, "B=2", 5, 5), record_of(&add, "B=3", 0, 0)};
  check(records_put(r, list, 4, &change) && change.added == 3, "all that are valid are put");
  check(records_put(r, list, 4, &change) && !change.added && !change.replaced, "known");
  list[0].runs = 4, list[1].runs = 6;
  check(records_put(r, list, 2, &change) && change.replaced == 1, "the better one stays");
  list[1].runs = 1;
  check(records_replace(r, &list[1], 1), "measured anew");
  records_get(r, a, &copy, &l);
  check(l.len == 1 && l.data[0].runs == 1, "what was there goes");
  l.len = 0;
  records_close(r);
  r = records_open(on_note, NULL);
  check(records_get(r, a, &add, &l) == RECORDS_OK && l.len == 2, "those of one problem");
  check(l.len == 2 && !strcmp(l.data[0].config, "B=2") && l.data[0].median_us == 5, "ranked");
  check(l.len == 2 && l.data[1].runs == 5 && !record_compare(&l.data[0], &list[2]), "as put");
  check(count(r, NULL) == 3 && notes == 0, "all of them");
  records_close(r);
}

/* What the database holds is what merging the lists gives, in whatever order they were put. */
static void test_same_rule(Arena *a) {
  for (uint64_t i = 0; i < 4; i++) {
    char name[16];
    RecordList x = random_list(a, 100 + i), y = random_list(a, 200 + i), l = {0};
    RecordList want = join(a, &x, &y);
    snprintf(name, sizeof name, "rule%d", (int)i);
    use_folder(name);
    Records *r = records_open(on_note, NULL);
    const RecordList *first = i % 2 ? &x : &y, *second = i % 2 ? &y : &x;
    check(records_put(r, first->data, first->len, NULL), "putting");
    check(records_put(r, second->data, second->len, NULL), "putting more");
    check(records_get(r, a, NULL, &l) == RECORDS_OK && same(a, &l, &want), "one rule everywhere");
    records_close(r);
  }
}

enum { PROCESSES = 16, PUTS = 12 };

/* Each process puts records of its own, and those that all of them put. */
static int write_shared(int process) {
  Records *r = records_open(NULL, NULL);
  bool good = true;
  for (int i = 0; i < PUTS; i++) {
    char own[32];
    snprintf(own, sizeof own, "P=%d B=%d", process, i);
    Record list[] = {record_of(&add, own, 10, 5), record_of(&copy, "B=1", 10 + process, 1 + i)};
    good &= records_put(r, list, 2, NULL);
  }
  records_close(r);
  return good ? 0 : 1;
}

/* How many of the processes end well. */
static int run_processes(int (*body)(int process)) {
  int good = 0, status;
  fflush(stdout);
  for (int p = 0; p < PROCESSES; p++)
    if (fork() == 0) _exit(body(p));
  while (wait(&status) > 0) good += status == 0;
  return good;
}

static void test_processes(Arena *a) {
  use_folder("processes");
  check(run_processes(write_shared) == PROCESSES, "no process fails");
  check(count_all() == PROCESSES * PUTS + 1, "sixteen processes lose nothing");
  Records *r = records_open(NULL, NULL);
  RecordList l = {0};
  records_get(r, a, &copy, &l);
  check(l.len == 1 && l.data[0].runs == PUTS && l.data[0].median_us == 10, "the best of all stays");
  records_close(r);
}

/* Puts three records at a time for ever, and says each time that it has. */
static _Noreturn void write_until_killed(int fd, int round) {
  Records *r = records_open(NULL, NULL);
  for (int i = 0;; i++) {
    char names[3][32];
    Record list[3];
    for (int j = 0; j < 3; j++) {
      snprintf(names[j], sizeof names[j], "R=%d I=%d J=%d", round, i, j);
      list[j] = record_of(&add, names[j], 10, 5);
    }
    if (!records_put(r, list, 3, NULL) || write(fd, "x", 1) != 1) _exit(1);
  }
}

/* How many puts had been told when the process was killed, after `us` microseconds. */
static size_t run_and_kill(int round, long us) {
  int fds[2], status;
  char said[256];
  if (pipe(fds)) abort();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) write_until_killed(fds[1], round);
  close(fds[1]);
  size_t n = read(fds[0], said, 1) == 1;
  struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
  kill(child, SIGKILL);
  for (ssize_t got; (got = read(fds[0], said, sizeof said)) > 0;) n += (size_t)got;
  close(fds[0]);
  waitpid(child, &status, 0);
  check(WIFSIGNALED(status), "it was at work when it was killed");
  return n;
}

static void test_kill(void) {
  enum { ROUNDS = 12 };
  size_t told = 0;
  use_folder("kill");
  for (int i = 0; i < ROUNDS; i++) {
    told += run_and_kill(i, 700L * i + 13);
    size_t there = count_all();
    check(there >= 3 * told && there % 3 == 0, "what was put is there, whole transactions");
    check(there <= 3 * (told + (size_t)i + 1), "and nothing else");
  }
}

static void *put_many(void *context) {
  void **args = context;
  for (int i = 0; i < 20; i++) {
    char name[32];
    snprintf(name, sizeof name, "T=%s B=%d", (const char *)args[1], i);
    if (!put(args[0], name, 10, 5)) return args;
    if (!count(args[0], &add)) return args;
  }
  return NULL;
}

static void test_threads(void) {
  use_folder("threads");
  Records *r = records_open(on_note, NULL);
  void *args[4][2] = {{r, "a"}, {r, "b"}, {r, "c"}, {r, "d"}}, *result;
  pthread_t threads[4];
  bool good = true;
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, put_many, args[i]);
  for (int i = 0; i < 4; i++) good &= !pthread_join(threads[i], &result) && !result;
  check(good && count(r, &add) == 80, "threads share a database");
  records_close(r);
}

/* ---- where it cannot be used ---- */

static void write_file(const char *text) {
  FILE *f = fopen(path, "r+b");
  if (!f) f = fopen(path, "wb");
  if (!f || fputs(text, f) < 0 || fclose(f)) abort();
}

static void sql(const char *text) {
  sqlite3 *db;
  if (sqlite3_open(path, &db) || sqlite3_exec(db, text, NULL, NULL, NULL)) abort();
  sqlite3_close(db);
}

static void test_damaged(Arena *a) {
  RecordList l = {0};
  use_folder("damaged");
  Records *r = records_open(on_note, NULL);
  check(put(r, "B=1", 10, 5), "put");
  write_file("this is no database");
  records_close(r);
  r = records_open(on_note, NULL);
  check(records_get(r, a, NULL, &l) == RECORDS_FAILED && noted("it was renamed to"), "damaged");
  check(records_get(r, a, NULL, &l) == RECORDS_NONE && notes == 0, "then there is none");
  check(put(r, "B=2", 10, 5) && count(r, NULL) == 1, "goes on with a new one");
  for (int i = 0; i < 200; i++) {
    char name[32];
    snprintf(name, sizeof name, "B=%d", i);
    put(r, name, 10, 5);
  }
  records_close(r);
  /* Damage that shows only when the record's page is needed. */
  r = records_open(on_note, NULL);
  check(records_get(r, a, &copy, &l) == RECORDS_OK, "opened");
  FILE *f = fopen(path, "r+b");
  for (long page = 2; page < 12; page++)
    if (!fseek(f, page * 4096, SEEK_SET)) fputs("damage", f);
  fclose(f);
  sql("PRAGMA user_version = 2"); /* so that what is in memory is not believed */
  Record more[] = {record_of(&add, "B=77", 9, 50), record_of(&copy, "B=1", 10, 5)};
  check(records_put(r, more, 2, NULL) && noted("it was renamed to"), "damaged while it is open");
  check(count(r, NULL) == 2, "what was to be put is not lost");
  records_close(r);
}

static int write_one(int process) {
  char name[32];
  snprintf(name, sizeof name, "P=%d", process);
  Records *r = records_open(NULL, NULL);
  bool good = put(r, name, 10, 5);
  records_close(r);
  return good ? 0 : 1;
}

/* A table whose columns mean other things: here `id` would not be what a new row is found by. */
static void test_damaged_tables(Arena *a) {
  RecordList l = {0};
  use_folder("tables");
  check(!write_one(0) && !unlink(path), "a folder");
  sql("CREATE TABLE problem(id INT PRIMARY KEY NOT NULL,"
      " kernel TEXT NOT NULL, signature TEXT NOT NULL, sizes TEXT NOT NULL, device TEXT NOT NULL,"
      " driver TEXT NOT NULL, UNIQUE(kernel, signature, sizes, device, driver));"
      "CREATE TABLE record(problem, config, ir, version, code, status, median_us, spread_us, runs,"
      " taken, reason); PRAGMA user_version = 1");
  Records *r = records_open(on_note, NULL);
  check(records_get(r, a, NULL, &l) == RECORDS_FAILED && noted("it was renamed to"), "damaged");
  check(put(r, "B=1", 10, 5) && count(r, NULL) == 1, "then what is put is there");
  records_close(r);
}

/* All find the damage, one sets it aside. */
static void test_damaged_for_all(void) {
  use_folder("all");
  check(!write_one(0), "put");
  write_file("this is no database");
  check(run_processes(write_one) == PROCESSES, "all go on");
  check(count_all() == PROCESSES, "with one new database");
}

static void test_newer(void) {
  use_folder("newer");
  Records *r = records_open(on_note, NULL);
  put(r, "B=1", 10, 5);
  records_close(r);
  sql("PRAGMA user_version = 3; CREATE TABLE more(x)");
  r = records_open(on_note, NULL);
  check(!put(r, "B=2", 10, 5) && noted("was written by a newer version of Nereid"), "newer");
  check(!count(r, NULL) && !put(r, "B=2", 10, 5) && notes == 0, "told once");
  records_close(r);
  sql("PRAGMA user_version = 2");
  check(count_all() == 1, "and left as it is");
}

/* Makes a database as the first version did. */
static void make_first_version(void) {
  mkdir(getenv("NEREID_CACHE_DIR"), 0755);
  sql("CREATE TABLE problem(id INTEGER PRIMARY KEY NOT NULL,"
      " kernel TEXT NOT NULL, signature TEXT NOT NULL, sizes TEXT NOT NULL, device TEXT NOT NULL,"
      " driver TEXT NOT NULL, UNIQUE(kernel, signature, sizes, device, driver));"
      "CREATE TABLE record(problem INTEGER NOT NULL REFERENCES problem,"
      " config TEXT NOT NULL, ir BLOB NOT NULL, version TEXT NOT NULL,"
      " code BLOB NOT NULL, status TEXT NOT NULL, median_us REAL NOT NULL,"
      " spread_us REAL NOT NULL, runs INTEGER NOT NULL, taken INTEGER NOT NULL,"
      " reason TEXT NOT NULL, PRIMARY KEY(problem, config, ir, version)) WITHOUT ROWID;"
      "PRAGMA user_version = 1;"
      "INSERT INTO problem VALUES(1, 'add', '*f32, i32', 'n=4096', 'a device', '1');"
      "INSERT INTO record VALUES(1, 'B=1', zeroblob(16), 'v1', zeroblob(16), 'ok', 10.0, 1.0, 5,"
      " 1000, 'spills')");
}

static void test_older(Arena *a) {
  RecordList l = {0};
  use_folder("older");
  make_first_version();
  Records *r = records_open(on_note, NULL);
  check(records_get(r, a, &add, &l) == RECORDS_OK && l.len == 1 && notes == 0, "an older one");
  const Record *x = l.data;
  check(l.len && x->runs == 5 && x->median_us == 10 && !strcmp(x->reason, "spills") && !*x->shape,
        "has what it had, and no shape");
  Record more = record_of(&add, "B=2", 9, 7);
  more.shape = "n=4000";
  more.predicted_us = 8.5;
  l = (RecordList){0};
  check(records_put(r, &more, 1, NULL) && count(r, &add) == 2, "and gets what is new");
  records_close(r);
  r = records_open(on_note, NULL);
  records_get(r, a, &add, &l);
  check(l.len == 2 && !strcmp(l.data->shape, "n=4000") && l.data->predicted_us == 8.5,
        "which has shape and prediction");
  records_close(r);
}

/* A database of somebody else's under this name. */
static void test_foreign(void) {
  use_folder("foreign");
  mkdir(getenv("NEREID_CACHE_DIR"), 0700);
  sql("CREATE TABLE record(mine); INSERT INTO record VALUES(1)");
  Records *r = records_open(on_note, NULL);
  check(!put(r, "B=1", 10, 5) && noted("can't be used"), "other tables");
  records_close(r);
}

/* How often this process has waited for the disk: SQLite's library calls these in place of the C
 * library's. */
static int waits;
#define SEEN __attribute__((visibility("default")))

SEEN int fdatasync(int fd) { return (void)fd, waits++, 0; }
SEEN int fsync(int fd) { return (void)fd, waits++, 0; }

/* A new database waits for the disk at its first commit, not while its tables are made. */
static void test_made(void) {
  use_folder("made");
  Records *r = records_open(on_note, NULL);
  waits = 0;
  check(put(r, "B=1", 10, 5), "put into a new database");
  int first = waits;
  waits = 0;
  check(put(r, "B=2", 10, 5), "put once more");
  check(waits > 0 && first == waits, "making tables waits for nothing");
  records_close(r);
}

static void test_replaced(void) {
  use_folder("replaced");
  Records *r = records_open(on_note, NULL);
  check(put(r, "B=1", 10, 5), "put");
  unlink(path);
  check(put(r, "B=2", 10, 5) && notes == 0, "removed while it is open");
  check(count_all() == 1 && count(r, NULL) == 1, "a new one is made");
  records_close(r);
}

static void test_rows(void) {
  use_folder("rows");
  Records *r = records_open(on_note, NULL);
  put(r, "B=1", 10, 5);
  put(r, "B=2", 20, 5);
  sql("UPDATE record SET status = 'great', runs = 1 << 40 WHERE config = 'B=1'");
  check(count(r, &add) == 1 && notes == 0, "a row that is no record");
  check(put(r, "B=1", 30, 1) && count(r, &add) == 2, "is replaced");
  records_close(r);
}

static void test_unusable(void) {
  use_folder("unusable");
  setenv("NEREID_CACHE_DIR", "/dev/null/x", 1);
  Records *r = records_open(on_note, NULL);
  check(!count(r, &add) && notes == 0, "nothing is missed before there is something to keep");
  check(!put(r, "B=1", 10, 5) && !put(r, "B=1", 10, 5) && noted("can't be used"), "no folder");
  records_close(r);
  setenv("NEREID_CACHE_DIR", "", 1);
  r = records_open(on_note, NULL);
  check(!put(r, "B=1", 10, 5) && !count(r, &add) && notes == 0, "turned off");
  check(records_are_off(r), "and says so");
  records_close(r);
  check(!put(NULL, "B=1", 10, 5) && !count(NULL, &add), "no memory for it");
}

/* The rest runs in a process of its own, whose rights and limits are changed. */
static void in_child(int (*body)(void), const char *what) {
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(body());
  waitpid(child, &status, 0);
  if (status) printf("(check number %d)\n", WEXITSTATUS(status));
  check(status == 0, what);
}

#define EXPECT(condition) \
  if (!(condition)) return __COUNTER__ + 1

/* A file that must not grow stands for a full disk. */
static int full_disk(void) {
  Records *r = records_open(on_note, NULL);
  EXPECT(put(r, "B=0", 10, 5));
  struct stat st;
  EXPECT(stat(path, &st) == 0);
  struct rlimit limit = {(rlim_t)st.st_size + 8192, RLIM_INFINITY};
  signal(SIGXFSZ, SIG_IGN);
  EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  int n = 1;
  char name[512];
  do snprintf(name, sizeof name, "B=%d %0400d", n, 0);
  while (put(r, name, 10, 5) && ++n < 1000);
  EXPECT(n > 1 && n < 1000);
  EXPECT(noted("can't be used"));
  EXPECT(!put(r, name, 10, 5) && notes == 0);
  EXPECT((int)count(r, &add) == n);
  records_close(r);
  EXPECT((int)count_all() == n);
  limit.rlim_cur = RLIM_INFINITY;
  EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  r = records_open(on_note, NULL);
  EXPECT(put(r, name, 10, 5) && notes == 0);
  records_close(r);
  EXPECT((int)count_all() == n + 1);
  return 0;
}

/* Permissions do not bind root. */
static int be_nobody(void) { return geteuid() == 0 ? setgid(65534) || setuid(65534) : 0; }

static int read_only(void) {
  EXPECT(!be_nobody());
  Records *r = records_open(on_note, NULL);
  EXPECT(count(r, &add) == 1 && notes == 0);
  EXPECT(!put(r, "B=2", 10, 5) && !put(r, "B=3", 10, 5));
  EXPECT(noted("is read-only"));
  EXPECT(count(r, &add) == 1);
  records_close(r);
  return 0;
}

static int read_only_older(void) {
  Arena *a = arena_new();
  RecordList l = {0};
  EXPECT(a && !be_nobody());
  Records *r = records_open(on_note, NULL);
  EXPECT(records_get(r, a, &add, &l) == RECORDS_OK && l.len == 1 && notes == 0);
  EXPECT(!strcmp(l.data->config, "B=1") && !*l.data->shape);
  EXPECT(!put(r, "B=2", 10, 5));
  EXPECT(noted("can't be used"));
  EXPECT(count(r, &add) == 1);
  records_close(r);
  arena_free(a);
  return 0;
}

static int read_only_empty(void) {
  EXPECT(!be_nobody());
  Records *r = records_open(on_note, NULL);
  EXPECT(count(r, &add) == 0 && notes == 0);
  EXPECT(!put(r, "B=2", 10, 5));
  EXPECT(noted("can't be used"));
  records_close(r);
  return 0;
}

static int read_only_damaged(void) {
  EXPECT(!be_nobody());
  Records *r = records_open(on_note, NULL);
  EXPECT(count(r, &add) == 0 && noted("can't be used (it is damaged)"));
  EXPECT(!put(r, "B=2", 10, 5) && notes == 0);
  records_close(r);
  r = records_open(on_note, NULL);
  EXPECT(!put(r, "B=2", 10, 5) && noted("can't be used (it is damaged)"));
  records_close(r);
  return 0;
}

static void test_limits(void) {
  use_folder("full");
  in_child(full_disk, "a full disk loses nothing that was there");
  chmod(folder.path, 0755);
  use_folder("readonly");
  Records *r = records_open(on_note, NULL);
  put(r, "B=1", 10, 5);
  records_close(r);
  chmod(getenv("NEREID_CACHE_DIR"), 0555);
  chmod(path, 0444);
  in_child(read_only, "a database that can only be read");
  chmod(path, 0666);
  in_child(read_only, "a database in a folder that can only be read");
  write_file("this is no database");
  in_child(read_only_damaged, "a damaged database that cannot be renamed");
  unlink(path);
  in_child(read_only_empty, "a folder that can only be read");
  chmod(getenv("NEREID_CACHE_DIR"), 0755);
  use_folder("readonly-older");
  make_first_version();
  chmod(getenv("NEREID_CACHE_DIR"), 0555);
  in_child(read_only_older, "an older database in a folder that can only be read");
  chmod(path, 0444);
  in_child(read_only_older, "an older database that can only be read");
  chmod(getenv("NEREID_CACHE_DIR"), 0755);
}

int main(void) {
  Arena *a = arena_new();
  if (!a || temp_new(&folder)) abort();
  test_orders();
  test_merging(a);
  test_doubt(a);
  test_ranking(a);
  test_finding(a);
  test_validity();
  test_database(a);
  test_same_rule(a);
  test_processes(a);
  test_kill();
  test_threads();
  test_damaged(a);
  test_damaged_tables(a);
  test_damaged_for_all();
  test_newer();
  test_older(a);
  test_foreign();
  test_made();
  test_replaced();
  test_rows();
  test_unusable();
  test_limits();
  arena_free(a);
  const char *argv[] = {"/bin/rm", "-rf", folder.path, NULL};
  char output[256];
  tool_run(argv, output, sizeof output);
  temp_free(&folder);
  return report();
}
