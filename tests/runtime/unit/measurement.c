/* What a caller that tunes by itself needs: many compilations at once, timers, and records that are
 * found by keys. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/nereid_tune.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"
static const char fill[] = HEAD
    "def fill(x, BLOCK: tl.constexpr):\n"
    "    tl.store(x + tl.arange(0, BLOCK), 1.0)\n";
/* The code of `moved` is the same, the next one's differs. */
static const char moved[] = HEAD
    "def fill2(x, BLOCK: tl.constexpr):\n"
    "    # a comment\n"
    "    tl.store(x + tl.arange(0, BLOCK),\n        1.0)\n";
static const char edited[] = HEAD
    "def fill(x, BLOCK: tl.constexpr):\n"
    "    tl.store(x + tl.arange(0, BLOCK), 2.0)\n";

enum { BLOCKS = 4 };

static nereid_request request_of(nereid_arg args[2], const char *text, const char *block) {
  args[0] = (nereid_arg){"x", "*fp32:16", 0};
  args[1] = (nereid_arg){"BLOCK", 0, block};
  return (nereid_request){.source = {.path = "fill.py", .text = text}, .args = args, .nargs = 2};
}

static void test_compile_all(nereid_device *d) {
  static const char *const blocks[BLOCKS] = {"64", "0", "128", "256"};
  nereid_arg args[BLOCKS][2];
  nereid_request requests[BLOCKS];
  nereid_compiled out[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) requests[i] = request_of(args[i], fill, blocks[i]);
  check_call(!nereid_compile_all(out, d, requests, BLOCKS), "many");
  for (int i = 0; i < BLOCKS; i++) {
    if (i == 1)
      check_call(
          !out[i].image && out[i].code == NEREID_E_KERNEL && strstr(out[i].message, "fill.py:5:"),
          "one that fails");
    else check_call(out[i].image && !out[i].code && !out[i].message, "one of many");
    nereid_image_free(out[i].image);
    nereid_text_free(out[i].message);
  }
  check_call(!nereid_compile_all(NULL, d, NULL, 0), "none");
}

static nereid_key request_key(nereid_device *d, const char *text, const char *block) {
  nereid_arg args[2];
  nereid_request r = request_of(args, text, block);
  nereid_key key;
  check_call(!nereid_request_key(&key, d, &r), "a key");
  return key;
}

static bool keys_equal(nereid_key a, nereid_key b) { return !memcmp(&a, &b, sizeof a); }

static void test_keys(nereid_device *d) {
  static const nereid_key none;
  nereid_key key = request_key(d, fill, "64");
  check_call(!keys_equal(key, none), "there is a key");
  check_call(keys_equal(key, request_key(d, moved, "64")), "names and comments don't count");
  check_call(!keys_equal(key, request_key(d, edited, "64")), "another kernel");
  check_call(!keys_equal(key, request_key(d, fill, "128")), "another block");
  nereid_arg args[2];
  nereid_request r = request_of(args, fill, "0");
  X(nereid_request_key(&key, d, &r), NEREID_E_KERNEL, "fill.py:*");
  check_call(keys_equal(key, none), "no key");
}

static nereid_measurement measurement(nereid_key key, const char *problem, const char *config,
                                      double us) {
  return (nereid_measurement){.kernel = "fill",
                              .signature = "*f32",
                              .problem = problem,
                              .config = config,
                              .key = key,
                              .median_us = us,
                              .spread_us = us / 10,
                              .runs = us > 0 ? 20 : 0};
}

static bool is_found(nereid_device *d, nereid_measurement m, double us) {
  int code = nereid_records_find(&m, 1, d);
  check_call(!code, "looking up");
  return us > 0 ? m.found && m.median_us == us : !m.found;
}

static nereid_image *compile(nereid_device *d, const char *text) {
  nereid_arg args[2];
  nereid_request r = request_of(args, text, "64");
  nereid_image *image = NULL;
  check_call(!nereid_compile_for(&image, d, &r), "compiling");
  return image;
}

static void test_records(nereid_device *d) {
  nereid_key key = request_key(d, fill, "64"), other = request_key(d, edited, "64");
  nereid_measurement list[] = {measurement(key, "n=1", "BLOCK=64", 3),
                               measurement(key, "n=1", "BLOCK=128", 2),
                               measurement(key, "n=2", "BLOCK=64", 5)};
  check_call(is_found(d, list[0], 0), "nothing yet");
  check_call(!nereid_records_store(list, 3, d, 0), "storing");
  nereid_measurement ask[] = {
      measurement(key, "n=1", "BLOCK=64", 0), measurement(key, "n=1", "BLOCK=256", 0),
      measurement(key, "n=2", "BLOCK=64", 0), measurement(other, "n=1", "BLOCK=64", 0)};
  check_call(!nereid_records_find(ask, 4, d), "looking up several");
  check_call(ask[0].found && ask[0].median_us == 3 && ask[0].runs == 20, "the first");
  check_call(!ask[1].found, "a configuration that was added");
  check_call(ask[2].found && ask[2].median_us == 5, "another problem");
  check_call(!ask[3].found, "a kernel that was edited");
  nereid_measurement slower = measurement(key, "n=1", "BLOCK=64", 9);
  slower.runs = 10;
  check_call(!nereid_records_store(&slower, 1, d, 0) && is_found(d, slower, 3), "the better stays");
  check_call(!nereid_records_store(&slower, 1, d, 1) && is_found(d, slower, 9), "unless replaced");
}

/* A record of another key, as of another version of the compiler, is found by the same code. */
static void test_records_by_code(nereid_device *d) {
  nereid_key key = request_key(d, fill, "64"), unknown = {{7}};
  nereid_image *image = compile(d, fill), *changed = compile(d, edited);
  nereid_measurement m = measurement(key, "n=3", "BLOCK=64", 4);
  m.image = image;
  check_call(!nereid_records_store(&m, 1, d, 0), "storing with code");
  m.key = unknown;
  m.image = NULL;
  check_call(is_found(d, m, 0), "another key");
  m.image = changed;
  check_call(is_found(d, m, 0), "other code");
  m.image = image;
  check_call(is_found(d, m, 4), "the same code");
  m.image = NULL;
  check_call(is_found(d, m, 4), "kept for the other key");
  nereid_image_free(image);
  nereid_image_free(changed);
}

static void test_bad_records(nereid_device *d) {
  nereid_measurement m = measurement((nereid_key){{0}}, "n=1", "BLOCK=64", 1);
  X(nereid_records_store(&m, 1, d, 0), NEREID_E_USAGE,
    "the measurement of configuration `BLOCK=64` has no key");
  m.key.bytes[0] = 1;
  m.median_us = 0;
  X(nereid_records_store(&m, 1, d, 0), NEREID_E_USAGE,
    "the measurement of configuration `BLOCK=64` is none: status ok needs a time above 0 and one "
    "run "
    "or more; none is negative, and pruned is no result");
  m.status = NEREID_TUNE_COMPILE;
  m.config = NULL;
  check_call(!nereid_records_store(&m, 1, d, 0), "a failure, and no name");
}

/* Records of one thread, which others read meanwhile. */
static void *work(void *arg) {
  nereid_device *d = arg;
  nereid_key key = {{9}};
  char problem[64];
  bool good = true;
  for (int i = 0; i < 8; i++) {
    snprintf(problem, sizeof problem, "thread %p, %d", (void *)&key, i);
    nereid_measurement m = measurement(key, problem, "BLOCK=64", i + 1);
    good &= !nereid_records_store(&m, 1, d, 0) && !nereid_records_find(&m, 1, d) && m.found &&
            m.median_us == i + 1;
  }
  return good ? arg : NULL;
}

static void test_threads(nereid_device *d) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, d);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    check(result != NULL, "a thread's records");
  }
}

static void test_timer(nereid_device *d) {
  enum { PIECES = 450 };
  nereid_timer *t;
  const double *us;
  int n;
  check_call(!nereid_timer_new(&t, d, 0), "a timer");
  X(nereid_timer_end(t, NULL), NEREID_E_USAGE, "nereid_timer_end: there was no nereid_timer_begin");
  for (int i = 0; i < PIECES; i++) {
    bool good = !nereid_timer_begin(t, NULL);
    if (i == 7) usleep(2000);
    if (!good || nereid_timer_end(t, NULL)) check_call(false, "a piece");
  }
  check_call(!nereid_timer_read(&us, &n, t) && n == PIECES, "all pieces");
  check_call(us[7] >= 2000 && us[8] < us[7], "their times");
  check_call(!nereid_timer_read(&us, &n, t) && n == 0, "read once");
  nereid_timer_free(t);
}

int main(void) {
  TempFolder folder;
  nereid_device *d;
  if (temp_new(&folder)) return 1;
  setenv("NEREID_CACHE_DIR", folder.path, 1);
  check_call(!nereid_device_open(&d, "cpu"), "a device");
  test_compile_all(d);
  test_keys(d);
  test_records(d);
  test_records_by_code(d);
  test_bad_records(d);
  test_threads(d);
  test_timer(d);
  setenv("NEREID_CACHE_DIR", "", 1);
  nereid_measurement m = measurement((nereid_key){{1}}, "n=1", "BLOCK=64", 1);
  check_call(!nereid_records_store(&m, 1, d, 0) && is_found(d, m, 0), "records that are off");
  nereid_device_close(d);
  const char *argv[] = {"/bin/rm", "-rf", folder.path, NULL};
  char output[256];
  tool_run(argv, output, sizeof output);
  temp_free(&folder);
  return report();
}
