/* A process that is forked from one that has a device open: it compiles, loads and launches, both
 * use the cache, and neither disturbs the other.  Teams of threads are in team.c, GPUs in
 * cuda.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "runtime/store/cache.h"
#include "tests/support/calls.h"

static const char PUT[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def put(out, n, V: tl.constexpr, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(out + i, i + V, mask=i < n)\n";

enum { N = 1 << 20, BLOCK = 1024, TURNS = 20 };

static nereid_kernel *load(nereid_device *d, const char *value) {
  nereid_arg args[] = {
      {"out", "*i32", NULL}, {"n", "i32", NULL}, {"V", NULL, value}, {"B", NULL, "1024"}};
  nereid_request r = {.source = {.text = PUT}, .args = args, .nargs = 4};
  nereid_image *image;
  nereid_kernel *k;
  if (nereid_compile_for(&image, d, &r)) return NULL;
  if (nereid_kernel_load(&k, d, image)) k = NULL;
  nereid_image_free(image);
  return k;
}

static bool stores(nereid_kernel *k, int *out, int value) {
  const uint64_t args[] = {(uintptr_t)out, N};
  memset(out, 0, N * sizeof *out);
  if (!k || nereid_kernel_run(k, NULL, (uint32_t[]){N / BLOCK, 1, 1}, args, NULL, NULL))
    return false;
  return out[0] == value && out[N - 1] == value + N - 1;
}

static bool status_of(pid_t child) {
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0;
}

/* ---- devices ---- */

/* The kernel from before the fork, and one that the device compiles and loads since. */
static bool use_in_child(nereid_device *d, nereid_kernel *k, int *out) {
  bool right = stores(k, out, 3);
  nereid_kernel *own = load(d, "4");
  right &= stores(own, out, 4);
  nereid_kernel_free(own);
  nereid_kernel_free(k);
  nereid_device_close(d);
  return right;
}

static void test_device(void) {
  nereid_device *d;
  int *out = malloc(N * sizeof *out);
  if (nereid_device_open(&d, "cpu")) abort();
  nereid_kernel *k = load(d, "3"), *other;
  check_call(stores(k, out, 3), "before the fork");
  pid_t child = fork();
  if (!child) _exit(!use_in_child(d, k, out));
  bool right = stores(k, out, 3);
  check(status_of(child), "a forked process");
  other = load(d, "4");
  nereid_kernel_resources r = {0};
  check_call(right && stores(k, out, 3) && stores(other, out, 4), "the one it was forked from");
  check(!nereid_kernel_get_resources(&r, other) && r.from_cache,
        "which finds in the cache what the other compiled");
  nereid_kernel_free(other);
  nereid_kernel_free(k);
  nereid_device_close(d);
  free(out);
}

/* ---- the cache ---- */

static CacheId id_of(int process, int turn) {
  KeyMaker *k = cache_key_start();
  const int numbers[] = {process, turn};
  cache_key_add(k, numbers, sizeof numbers);
  return (CacheId){cache_key_end(k), CACHE_TOOL, "entry", NULL};
}

static bool has_entry(Cache *c, int process, int turn) {
  char *data = NULL;
  size_t size;
  CacheId id = id_of(process, turn);
  bool found =
      cache_get(c, &id, &data, &size) && size == sizeof turn && !memcmp(data, &turn, sizeof turn);
  free(data);
  return found;
}

static bool put_entries(Cache *c, int process) {
  bool right = true;
  for (int turn = 0; turn < TURNS; turn++) {
    CacheId id = id_of(process, turn);
    cache_put(c, &id, &turn, sizeof turn);
    right &= has_entry(c, process, turn);
  }
  return right;
}

static void count_note(void *context, const char *text) {
  printf("%s\n", text);
  ++*(int *)context;
}

/* Two processes write by the connection that one of them has opened. */
static void test_cache(void) {
  int notes = 0;
  Cache *c = cache_open(count_note, &notes);
  check(put_entries(c, 0), "before the fork");
  pid_t child = fork();
  if (!child) {
    bool right = put_entries(c, 1) && has_entry(c, 0, 0);
    cache_close(c);
    _exit(!right || notes);
  }
  bool right = put_entries(c, 2);
  check(status_of(child), "a forked process that uses an open cache");
  for (int turn = 0; turn < TURNS; turn++)
    for (int process = 0; process < 3; process++) right &= has_entry(c, process, turn);
  check(right && !notes, "all that both have put");
  cache_close(c);
}

int main(void) {
  TempFolder t;
  if (temp_new(&t)) abort();
  setenv("NEREID_CACHE_DIR", t.path, 1);
  setenv("NEREID_THREADS", "4", 1);
  test_device();
  test_cache();
  temp_free(&t);
  return report();
}
