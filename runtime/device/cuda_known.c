/* Properties of a GPU, cached by an earlier run: its driver takes a fifth of a second to be asked.
 *
 * The answer of the driver is kept in the cache under all that it can depend on: the driver's
 * version, the GPUs and their partitions as the system lists them in /proc/driver/nvidia, and the
 * variables that choose among them.  Where there is no such list, nothing is known. */
#include "runtime/device/device.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/store/cache.h"

/* A folder of /proc/driver/nvidia with one folder a GPU, and the file of each that matters. */
static const char GPUS[] = "/proc/driver/nvidia/gpus", INFORMATION[] = "information";
static const char PARTS[] = "/proc/driver/nvidia/capabilities";
static const char VERSION[] = "/proc/driver/nvidia/version";

enum { PATH_MOST = 1024, DEPTH_MOST = 4 };

typedef struct {
  nereid_device_info info; /* its texts are those that follow */
  char name[sizeof((nereid_device *)0)->name];
  char description[sizeof((nereid_device *)0)->description];
  char target[sizeof((nereid_device *)0)->target];
} Known;

/* ---- the key ---- */

/* False: there is no such file. */
static bool add_file(KeyMaker *k, const char *path) {
  char data[4096];
  FILE *f = fopen(path, "r");
  if (!f) return false;
  for (size_t n; (n = fread(data, 1, sizeof data, f)) > 0;) cache_key_add(k, data, n);
  fclose(f);
  return true;
}

static int is_visible(const struct dirent *e) { return e->d_name[0] != '.'; }

/* The information of each GPU; how many there are. */
static int add_gpus(KeyMaker *k) {
  struct dirent **list;
  char path[PATH_MOST];
  int n = scandir(GPUS, &list, is_visible, alphasort), found = 0;
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s/%s", GPUS, list[i]->d_name, INFORMATION);
    found += add_file(k, path);
    free(list[i]);
  }
  if (n >= 0) free(list);
  return found;
}

/* The names of all partitions. */
static void key_add_file_names(KeyMaker *k, const char *folder, int depth) {
  struct dirent **list;
  char path[PATH_MOST];
  int n = depth < DEPTH_MOST ? scandir(folder, &list, is_visible, alphasort) : -1;
  for (int i = 0; i < n; i++) {
    cache_key_text(k, list[i]->d_name);
    int len = snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
    if (len < PATH_MOST && list[i]->d_type == DT_DIR) key_add_file_names(k, path, depth + 1);
    free(list[i]);
  }
  if (n >= 0) free(list);
}

static void add_variable(KeyMaker *k, const char *name) {
  const char *value = getenv(name);
  cache_key_text(k, value ? value : "");
}

static bool gpu_id(CacheId *out, int ordinal) {
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "gpu");
  cache_key_text(k, nereid_build_id());
  cache_key_add(k, &ordinal, sizeof ordinal);
  add_variable(k, "CUDA_VISIBLE_DEVICES");
  add_variable(k, "CUDA_DEVICE_ORDER");
  add_variable(k, "NEREID_LIBCUDA");
  bool listed = add_file(k, VERSION) && add_gpus(k) > 0;
  key_add_file_names(k, PARTS, 0);
  *out = (CacheId){.key = cache_key_end(k), .kind = CACHE_DEVICE, .name = "cuda"};
  return listed;
}

/* ---- what is kept ---- */

bool cuda_known(nereid_device *d, int ordinal) {
  CacheId id;
  char *data = NULL;
  size_t size = 0;
  if (!gpu_id(&id, ordinal)) return false;
  Cache *cache = cache_open(d->on_message, d->context);
  bool found = cache_get(cache, &id, &data, &size) && size == sizeof(Known);
  cache_close(cache);
  if (found) {
    const Known *known = (const Known *)(void *)data;
    d->info = known->info;
    memcpy(d->name, known->name, sizeof d->name);
    memcpy(d->description, known->description, sizeof d->description);
    memcpy(d->target, known->target, sizeof d->target);
  }
  free(data);
  return found;
}

void cuda_know(const nereid_device *d, int ordinal) {
  CacheId id;
  Known known;
  if (!gpu_id(&id, ordinal)) return;
  memset(&known, 0, sizeof known);
  known.info = d->info;
  known.info.name = known.info.description = known.info.target = NULL;
  memcpy(known.name, d->name, sizeof known.name);
  memcpy(known.description, d->description, sizeof known.description);
  memcpy(known.target, d->target, sizeof known.target);
  Cache *cache = cache_open(d->on_message, d->context);
  cache_put(cache, &id, &known, sizeof known);
  cache_close(cache);
}
