/* Executables in the cache: a graph as text that is compiled again is loaded, without passes and
 * plan.
 *
 * An entry is the executable as bytes, whose kernels have the code that the cache has of each, so
 * machine code is in it once.  The key is all that decides the plan: text, options, device, build,
 * and, for the choice between libraries and kernels, the state of the database of records.  What
 * can't be loaded is compiled anew. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/api/api.h"
#include "model/api/graph_options.h"
#include "runtime/device/cpu_device.h"
#include "runtime/records/records.h"
#include "runtime/store/database.h"

/* ---- keys ---- */

/* A graph as text has no bytes of 0, and nothing comes from other files. */
static bool is_text_alone(const nereid_graph_source *s) {
  return s->data && !s->weights && !s->ninputs && !memchr(s->data, 0, s->size);
}

/* Nobody wants to see how it is compiled, and nothing is measured. */
static bool is_plain(const nereid_graph_options *o) {
  bool measured = o->mode && !strcmp(o->mode, "max-autotune");
  return graph_options_are_stored(o) && !measured && !graph_options_missing(o);
}

static void add_text(KeyMaker *k, const char *text) { cache_key_text(k, text ? text : ""); }

static void add_number(KeyMaker *k, int64_t x) { cache_key_add(k, &x, sizeof x); }

static void add_device(KeyMaker *k, const nereid_device *d) {
  add_text(k, d->ops->name);
  add_text(k, device_target(d));
  add_text(k, d->description);
  if (d->ops == &device_cpu) cache_key_add(k, ((const Cpu *)d->state)->processor, CPU_IDENTITY);
}

/* Another library may be found elsewhere, and has other threads. */
static void add_libraries(KeyMaker *k, nereid_device *d) {
  add_text(k, getenv("NEREID_LIBRARY_PATH"));
  add_number(k, (int64_t)library_places(d));
  const LibraryFunction *f;
  for (int i = 0; (f = library_of_kind(device_kind(d), i)); i++)
    add_number(k, library_threads(d, f));
}

/* The file's size and the time of its last change. */
static void add_records(KeyMaker *k) {
  char path[DATABASE_PATH];
  struct stat s;
  if (!records_path(path, sizeof path) || stat(path, &s)) return;
  add_number(k, s.st_size);
  add_number(k, s.st_mtim.tv_sec);
  add_number(k, s.st_mtim.tv_nsec);
}

StoredKey api_stored_key(const nereid_graph *g, nereid_device *d, const nereid_graph_options *o) {
  bool compiles = d->ops == &device_cuda || d->ops == &device_cpu;
  if (!compiles || !is_text_alone(&g->source) || !is_plain(o)) return (StoredKey){0};
  KeyMaker *k = cache_key_start();
  if (!k) return (StoredKey){0};
  cache_key_text(k, "executable of a graph");
  cache_key_text(k, nereid_build_id());
  add_device(k, d);
  graph_options_key(k, o);
  add_text(k, g->source.path);
  cache_key_add(k, g->source.data, g->source.size);
  add_records(k);
  add_libraries(k, d);
  return (StoredKey){true, cache_key_end(k)};
}

static CacheId cache_id(const StoredKey *k, const nereid_device *d, const char *name) {
  return (CacheId){k->key, CACHE_EXECUTABLE, name, device_target(d)};
}

/* ---- finding and keeping ---- */

/* Libraries may have gone since. */
static bool has_libraries(const Plan *p, nereid_device *d) {
  for (uint32_t i = 0; i < p->nsteps; i++)
    if (p->steps[i].library && !library_is_usable(d, p->steps[i].library)) return false;
  return true;
}

bool api_may_choose_otherwise(const nereid_executable *e) {
  char path[DATABASE_PATH];
  bool has_records = records_path(path, sizeof path) && !access(path, F_OK);
  return has_records || !has_libraries(e->model->plan, e->device);
}

nereid_executable *api_stored_find(const StoredKey *k, nereid_device *d) {
  nereid_executable *e = NULL;
  nereid_executable_source s = {0};
  char *data;
  if (!k->known) return NULL;
  Cache *cache = cache_open(d->on_message, d->context);
  CacheId id = cache_id(k, d, "");
  bool found = cache_get(cache, &id, &data, &s.size);
  cache_close(cache);
  if (!found) return NULL;
  s.data = data;
  if (nereid_executable_from_bytes(&e, &s, d)) {
    free(data);
    return NULL;
  }
  e->stored = data;
  if (has_libraries(e->model->plan, d)) return e;
  nereid_executable_free(e);
  return NULL;
}

static bool is_kept(const Plan *p) {
  for (uint32_t i = 0; i < p->nbuffers; i++)
    if (p->buffers[i].kind == BUFFER_WEIGHT) return false;
  return true;
}

void api_stored_keep(nereid_executable *e, const StoredKey *k) {
  char *data;
  size_t size;
  if (!k->known || !is_kept(e->model->plan)) return;
  if (api_bytes_of_stored(&data, &size, e) || !data) return;
  Cache *cache = cache_open(e->device->on_message, e->device->context);
  CacheId id = cache_id(k, e->device, e->model->plan->graph->class_name);
  cache_put(cache, &id, data, size);
  cache_close(cache);
  nereid_text_free(data);
}
