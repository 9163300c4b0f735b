#include "runtime/device/cpu_code.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/support/error.h"

enum { BUCKETS = 1024 };

struct CpuKnown {
  CpuKnown *next; /* in its bucket */
  CpuCode *code;
  CpuKnown *of_code; /* the library's next one */
  CacheKey key;
  int effort;
  char *entry;
};

struct CpuCode {
  CpuCodes *codes;
  int users; /* kernels, and who makes it; under the lock, as what is known */
  CpuKnown *known;
  void *handle; /* of dlopen */
  char *data;
  size_t size;
};

void cpu_codes_open(CpuCodes *codes) { pthread_mutex_init(&codes->lock, NULL); }

void cpu_codes_close(CpuCodes *codes) {
  pthread_mutex_destroy(&codes->lock);
  free(codes->buckets);
}

int cpu_code_new(CpuCode **out, CpuCodes *codes, char *data, size_t size) {
  CpuCode *c = *out = calloc(1, sizeof *c);
  if (!c) {
    free(data);
    return error_out_of_memory();
  }
  *c = (CpuCode){.codes = codes, .users = 1, .data = data, .size = size};
  return 0;
}

void cpu_code_hold(CpuCode *c) {
  pthread_mutex_lock(&c->codes->lock);
  c->users++;
  pthread_mutex_unlock(&c->codes->lock);
}

static CpuKnown **bucket_of(const CpuCodes *codes, CacheKey key) {
  return &codes->buckets[(key.bytes[0] | key.bytes[1] << 8) % BUCKETS];
}

/* Nobody finds it from then on. */
static void forget(CpuCode *c) {
  for (const CpuKnown *k = c->known; k; k = k->of_code) {
    CpuKnown **at = bucket_of(c->codes, k->key);
    while (*at != k) at = &(*at)->next;
    *at = k->next;
  }
}

static void code_free(CpuCode *c) {
  if (c->handle) dlclose(c->handle);
  for (CpuKnown *k = c->known, *next; k; k = next) {
    next = k->of_code;
    free(k->entry);
    free(k);
  }
  free(c->data);
  free(c);
}

void cpu_code_release(CpuCode *c) {
  if (!c) return;
  pthread_mutex_t *lock = &c->codes->lock;
  pthread_mutex_lock(lock);
  bool last = --c->users == 0;
  if (last) forget(c);
  pthread_mutex_unlock(lock);
  if (last) code_free(c);
}

bool cpu_code_open(CpuCode *c, const char *path) {
  c->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return c->handle != NULL;
}

void *cpu_code_symbol(const CpuCode *c, const char *name) { return dlsym(c->handle, name); }

const char *cpu_code_bytes(size_t *size, const CpuCode *c) {
  *size = c->size;
  return c->data;
}

/* Without memory it is not known. */
void cpu_code_know(CpuCode *c, CacheKey key, int effort, const char *entry) {
  CpuCodes *codes = c->codes;
  CpuKnown *k = malloc(sizeof *k);
  char *name = strdup(entry);
  pthread_mutex_lock(&codes->lock);
  if (!codes->buckets) codes->buckets = calloc(BUCKETS, sizeof(CpuKnown *));
  bool fits = k && name && codes->buckets;
  if (fits) {
    CpuKnown **bucket = bucket_of(codes, key);
    *k = (CpuKnown){*bucket, c, c->known, key, effort, name};
    *bucket = c->known = k;
  }
  pthread_mutex_unlock(&codes->lock);
  if (fits) return;
  free(k);
  free(name);
}

bool cpu_code_find(CpuCodes *codes, CacheKey key, int effort, CpuCode **out, const char **entry) {
  bool found = false;
  pthread_mutex_lock(&codes->lock);
  CpuKnown *k = codes->buckets ? *bucket_of(codes, key) : NULL;
  while (k && (k->effort > effort || memcmp(&k->key, &key, sizeof key) != 0)) k = k->next;
  if (k) {
    found = true;
    k->code->users++;
    *out = k->code;
    *entry = k->entry;
  }
  pthread_mutex_unlock(&codes->lock);
  return found;
}
