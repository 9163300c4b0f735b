/* Many kernels at once.
 *
 * The driver assembles PTX one kernel after the other, whoever calls it: a model's kernels take
 * seconds.  Where there is ptxas, it assembles them on all cores before the driver loads them, and
 * what it made is kept in the cache.  Whatever goes wrong on this way, the driver gets the PTX. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/cache.h"
#include "runtime/cubin.h"
#include "runtime/cuda_state.h"
#include "runtime/parallel.h"
#include "runtime/tool.h"

/* Of one kernel the driver makes code as fast. */
enum { ASSEMBLED_MIN = 2 };

typedef struct {
  LoadItem *item;
  CacheKey key;
  char *cubin; /* malloc'ed; NULL: there is none */
  size_t size;
  bool from_cache;
} Job;

typedef struct {
  nereid_device *device;
  char ptxas[TOOL_PATH]; /* "": none */
  Cache *cache;
  Job *jobs;
  size_t n;
} Loading;

/* An assembler that was replaced is another one. */
static CacheKey key_of(const Loading *l, const ImageVariant *v) {
  struct stat st = {0};
  stat(l->ptxas, &st);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "cubin");
  cache_key_text(k, l->ptxas);
  cache_key_add(k, &st.st_size, sizeof st.st_size);
  cache_key_add(k, &st.st_mtime, sizeof st.st_mtime);
  cache_key_text(k, l->device->target);
  cache_key_add(k, v->code, v->size);
  return cache_key_end(k);
}

static void assemble(void *context, size_t i) {
  const Loading *l = context;
  Job *job = &l->jobs[i];
  const ImageVariant *v = job->item->variant;
  if (v->kind != NEREID_PTX) return;
  job->key = key_of(l, v);
  job->from_cache = cache_get(l->cache, &job->key, &job->cubin, &job->size);
  if (job->from_cache) return;
  if (cubin_by_ptxas(&job->cubin, &job->size, v->code, v->size, l->device->target, l->ptxas, NULL))
    job->cubin = NULL;
}

static void keep(const Loading *l) {
  CacheEntry *entries = calloc(l->n + 1, sizeof *entries);
  size_t used = 0;
  for (size_t i = 0; entries && i < l->n; i++) {
    const Job *job = &l->jobs[i];
    if (!job->cubin || job->from_cache) continue;
    entries[used++] = (CacheEntry){job->key, job->cubin, job->size};
  }
  if (used) cache_put_all(l->cache, entries, used);
  free(entries);
}

/* An older driver may refuse what a newer ptxas has made. */
static int load_job(nereid_device *d, const Job *job) {
  const LoadItem *item = job->item;
  ImageVariant assembled = *item->variant;
  assembled.kind = NEREID_CUBIN;
  assembled.code = job->cubin;
  assembled.size = job->size;
  int code = job->cubin ? cuda_load(d, item->image, &assembled, item->out) : NEREID_E_TOOL;
  if (code) return cuda_load(d, item->image, item->variant, item->out);
  item->out->resources.from_cache = job->from_cache;
  return 0;
}

static void load(void *context, size_t i) {
  const Loading *l = context;
  LoadItem *item = l->jobs[i].item;
  item->code = load_job(l->device, &l->jobs[i]);
  /* The message is this thread's, and shall be the caller's. */
  if (item->code) item->message = strdup(nereid_error_message());
}

static int larger_first(const void *a, const void *b) {
  const LoadItem *x = ((const Job *)a)->item, *y = ((const Job *)b)->item;
  if (x->variant->size != y->variant->size) return x->variant->size < y->variant->size ? 1 : -1;
  return x < y ? -1 : 1;
}

int cuda_load_all(nereid_device *d, LoadItem *items, int n) {
  Loading l = {.device = d, .n = (size_t)n};
  l.jobs = calloc(l.n + 1, sizeof *l.jobs);
  if (!l.jobs) return error_out_of_memory();
  for (int i = 0; i < n; i++) l.jobs[i].item = &items[i];
  qsort(l.jobs, l.n, sizeof *l.jobs, larger_first);
  if (n >= ASSEMBLED_MIN && tool_find_ptxas(l.ptxas)) {
    l.cache = cache_open(d->on_message, d->context);
    parallel_for(l.n, assemble, &l);
    keep(&l);
    cache_close(l.cache);
  }
  parallel_for(l.n, load, &l);
  for (size_t i = 0; i < l.n; i++) free(l.jobs[i].cubin);
  free(l.jobs);
  return 0;
}
