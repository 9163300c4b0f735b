/* The database of compiled code, damaged in any way. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cache.h"
#include "tests/fuzz/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/cache/*", NULL};
static const char *const words[] = {"SQLite format 3",
                                    "CREATE TABLE code(key, size, used, hash, data)",
                                    "CREATE VIEW code AS SELECT 1",
                                    "CREATE TRIGGER t",
                                    "code",
                                    "data",
                                    "BLOB",
                                    "INTEGER",
                                    "sqlite_autoindex_code_1",
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

static void put_database(const char *folder, const uint8_t *data, size_t size) {
  char path[PATH_SIZE];
  mkdir(folder, 0700);
  setenv("NEREID_CACHE_DIR", folder, 1);
  if (!cache_path(path, sizeof path)) fuzz_fail("no path");
  FILE *f = fopen(path, "wb");
  if (f) fwrite(data, 1, size, f);
  if (f) fclose(f);
}

static CacheKey key_of(int i) {
  KeyMaker *k = cache_key_start();
  cache_key_add(k, &i, sizeof i);
  return cache_key_end(k);
}

/* What is put and then got is what was put, or nothing. */
static void use(Cache *c) {
  enum { KEYS = 4, SIZE = 3000 };
  static const char data[SIZE] = "data";
  for (int i = 0; i < 2 * KEYS; i++) {
    CacheKey key = key_of(i % KEYS);
    char *got;
    size_t size;
    if (cache_get(c, &key, &got, &size)) {
      if (i >= KEYS && (size != SIZE || memcmp(got, data, SIZE))) fuzz_fail("other data");
      free(got);
    }
    if (i < KEYS) cache_put(c, &key, data, SIZE);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char folder[FILE_SIZE];
  snprintf(folder, sizeof folder, "%s-cache", fuzz_file());
  put_database(folder, data, size);
  for (int i = 0; i < 2; i++) {
    Cache *c = cache_open(NULL, NULL);
    if (c) use(c);
    cache_close(c);
  }
  empty_folder(folder);
  rmdir(folder);
  return 0;
}
