/* The databases of compiled code and of records, damaged in any way. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/records/records.h"
#include "runtime/store/cache.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/cache/*", NULL};
static const char *const words[] = {
    "SQLite format 3",
    "CREATE TABLE code(key, kind, name, target, size, used, hash, data)",
    "CREATE VIEW code AS SELECT 1",
    "CREATE TRIGGER t",
    "code",
    "data",
    "BLOB",
    "INTEGER",
    "sqlite_autoindex_code_1",
    "sqlite_autoindex_problem_1",
    "CREATE TABLE record(problem, config, ir, version",
    "a device",
    "B=fuzz",
    "timeout",
    NULL};

const FuzzTarget fuzz_target = {"cache", corpus, words, 1 << 15, 120};

enum { PATH_SIZE = 600, FILE_SIZE = 400 };

/* A damaged database is renamed: everything in the folder goes. */
static void empty_folder(const char *folder) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[PATH_SIZE + 260];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (e->d_name[0] != '.') unlink(path);
  }
  if (d) closedir(d);
}

static void put_database(const char *folder, const char *name, const uint8_t *data, size_t size) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  if (f) fwrite(data, 1, size, f);
  if (f) fclose(f);
}

static CacheId id_of(int i) {
  KeyMaker *k = cache_key_start();
  cache_key_add(k, &i, sizeof i);
  return (CacheId){cache_key_end(k), CACHE_CUBIN, "fuzz", "sm_90a"};
}

/* What is put and then got is what was put, or nothing. */
static void use(Cache *c) {
  enum { KEYS = 4, SIZE = 3000 };
  static const char data[SIZE] = "data";
  for (int i = 0; i < 2 * KEYS; i++) {
    CacheId id = id_of(i % KEYS);
    char *got;
    size_t size;
    if (cache_get(c, &id, &got, &size)) {
      if (i >= KEYS && (size != SIZE || memcmp(got, data, SIZE))) fuzz_fail("other data");
      free(got);
    }
    if (i < KEYS) cache_put(c, &id, data, SIZE);
  }
}

static const RecordProblem problem = {"add", "*f32", "n=1", "a device", "1"};

/* What is put of records is there then, or nothing is, and all that is read is valid. */
static void use_records(Records *r) {
  Arena *a = arena_new();
  RecordList all = {0}, own = {0};
  Record record = {.problem = &problem, .config = "B=fuzz", .version = "1", .reason = ""};
  record.status = NEREID_TUNE_TIMEOUT;
  records_get(r, a, NULL, &all);
  for (size_t i = 0; i < all.len; i++)
    if (!record_is_valid(&all.data[i])) fuzz_fail("a record that is none");
  bool put = records_put(r, &record, 1, NULL);
  RecordsResult got = records_get(r, a, &problem, &own);
  bool there = records_find(&own, "B=fuzz", &record.ir, "1", NULL) != NULL;
  if (put && got == RECORDS_OK && !there) fuzz_fail("what was put is not there");
  Text out = text_new(a);
  records_print(&out, &all);
  arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char folder[FILE_SIZE];
  snprintf(folder, sizeof folder, "%s-cache", fuzz_file());
  mkdir(folder, 0700);
  setenv("NEREID_CACHE_DIR", folder, 1);
  put_database(folder, CACHE_FILE, data, size);
  put_database(folder, "records.db", data, size);
  for (int i = 0; i < 2; i++) {
    Cache *c = cache_open(NULL, NULL);
    if (c) use(c);
    cache_close(c);
    Records *r = records_open(NULL, NULL);
    if (r) use_records(r);
    records_close(r);
  }
  empty_folder(folder);
  rmdir(folder);
  return 0;
}
