/* Device cpu with C written by hand: compiling, caching, running, and what may be missing.
 *
 * tests/run: all cores */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

static const char SOURCE[] =
    "#include <stdint.h>\n"
    "void k(const void *args, const uint32_t grid[3], uint32_t begin, uint32_t end) {\n"
    "  const uint64_t *a = args;\n"
    "  for (uint32_t i = begin; i < end; i++) ((int *)a[0])[i] = (int)a[1] + (int)i + grid[1];\n"
    "}\n"
    "void k_launch(const void *args, const uint32_t grid[3], void *team) {\n"
    "  (void)team;\n"
    "  k(args, grid, 0, grid[0] * grid[1] * grid[2]);\n"
    "}\n";

static nereid_image *make_image(const char *entry) {
  ImageParam params[] = {{"out", type_ptr(DT_I32), true}, {"n", type_scalar(DT_I32), false}};
  ImageSlot slots[] = {{.kind = SLOT_ARG, .param = 0}, {.kind = SLOT_ARG, .param = 1}};
  ImageVariant v = {.target = "cpu",
                    .entry = entry,
                    .kind = NEREID_C,
                    .code = SOURCE,
                    .size = sizeof SOURCE - 1,
                    .threads = 1,
                    .slots = slots,
                    .nslots = 2};
  nereid_image *image;
  if (image_new(&image, "k", params, 2) || image_add_variant(image, &v, true)) abort();
  return image;
}

static int load(nereid_device *d, const char *entry, nereid_kernel **out) {
  nereid_image *image = make_image(entry);
  int code = nereid_kernel_load(out, d, image);
  nereid_image_free(image);
  return code;
}

/* Opens the device anew: it looks for a compiler then. */
static int load_with(const char *cc, const char *entry) {
  nereid_device *d;
  nereid_kernel *k;
  setenv("CC", cc, 1);
  if (nereid_device_open(&d, "cpu")) abort();
  int code = load(d, entry, &k);
  if (!code) nereid_kernel_free(k);
  nereid_device_close(d);
  return code;
}

static void make_script(const TempFolder *t, char *path, size_t size, const char *text) {
  if (temp_write(t, "mycc", text, strlen(text))) abort();
  temp_name(path, size, t, "mycc");
  chmod(path, 0755);
}

static void test_running(void) {
  nereid_device *d;
  nereid_kernel *k, *again;
  nereid_launch *l;
  nereid_kernel_resources r;
  if (nereid_device_open(&d, "cpu")) abort();
  check_call(!load(d, "k", &k) && !nereid_kernel_get_resources(&r, k) && !r.from_cache, "compiled");
  check_call(!load(d, "k", &again) && !nereid_kernel_get_resources(&r, again) && r.from_cache,
             "from the cache");
  nereid_kernel_free(k);
  int *out;
  if (nereid_alloc((void **)&out, d, 600 * sizeof *out)) abort();
  if (nereid_launch_new(&l, again, (uint32_t[]){300, 2, 1})) abort();
  nereid_launch_set_pointer(l, 0, out);
  nereid_launch_set_int(l, 1, 1000);
  check_call(!nereid_launch_run(l, NULL) && out[0] == 1002 && out[599] == 1601,
             "the right numbers");
  nereid_timing t;
  nereid_time_options o = {.runs = 7};
  check_call(!nereid_launch_time(&t, l, NULL, &o) && t.runs == 7 && t.min_us <= t.low_us &&
                 t.low_us <= t.median_us && t.median_us <= t.high_us && t.high_us <= t.max_us,
             "timing");
  nereid_launch_set_grid(l, (uint32_t[]){65536, 65536, 1});
  X(nereid_launch_run(l, NULL), NEREID_E_RESOURCES,
    "the grid 65536 x 65536 x 1 has more programs than this device can count (2147483647)");
  nereid_resource need;
  check_call(!nereid_error_resource(&need) && !strcmp(need.name, "grid") &&
                 need.required == INT64_C(1) << 32 && need.limit == INT32_MAX,
             "the resource");
  check_call(*nereid_error_kernel() != 0, "and the kernel");
  int64_t shape[] = {600};
  nereid_tensor tensor = {
      .data = out, .device = {1, 0}, .ndim = 1, .dtype = {0, 32, 1}, .shape = shape};
  check_call(!nereid_launch_set_tensor(l, 0, &tensor), "a tensor on the host");
  nereid_launch_free(l);
  nereid_kernel_free(again);
  nereid_device_close(d);
}

static void test_tools(const TempFolder *t) {
  char cc[TOOL_PATH + 64];
  setenv("NEREID_CACHE_DIR", "", 1);
  X(load_with("/tmp/no/such/cc", "k"), NEREID_E_TOOL,
    "no C compiler found for device cpu: install gcc or clang, or set CC to one");
  make_script(t, cc, sizeof cc, "#!/bin/sh\necho no space left >&2\nexit 1\n");
  X(load_with(cc, "k"), NEREID_E_TOOL, "*mycc could not compile kernel k:\nno space left");
  make_script(t, cc, sizeof cc, "#!/bin/sh\nwhile [ $1 != -o ]; do shift; done\necho x >$2\n");
  X(load_with(cc, "k"), NEREID_E_TOOL, "the compiled kernel can't be loaded: *");
#ifdef __x86_64__
  {
    make_script(t, cc, sizeof cc,
                "#!/bin/sh\ncase \"$*\" in *-mno-avx512f*) exec gcc \"$@\";; esac\n"
                "echo unrecognizable insn >&2\nexit 1\n");
    check_call(!load_with(cc, "k"), "a compiler that breaks down over wide vectors");
    make_script(t, cc, sizeof cc,
                "#!/bin/sh\ncase \"$*\" in *-mno-avx512f*) exit 1;;\n"
                "*-fno-tree-vectorize*) exec gcc \"$@\";; esac\n"
                "echo internal compiler error >&2\nexit 1\n");
    check_call(!load_with(cc, "k"), "a compiler whose vectorizer breaks down");
  }
#endif
  X(load_with("gcc -O1", "missing"), NEREID_E_TOOL,
    "the compiled kernel can't be loaded: missing_launch");
  setenv("TMPDIR", "/tmp/no/such", 1);
  X(load_with("gcc", "k"), NEREID_E_FILE,
    "can't create a folder in /tmp/no/such: *; set TMPDIR to another folder");
  unsetenv("TMPDIR");
}

/* ---- threads ---- */

static const char ADD[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def add(x, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\n";

static double process_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int count_tasks(void) {
  DIR *tasks = opendir("/proc/self/task");
  int n = -2; /* . and .. */
  while (tasks && readdir(tasks)) n++;
  if (tasks) closedir(tasks);
  return n;
}

/* A launch that all threads share, then none. */
static void run_and_wait(nereid_device *d, nereid_launch *l, int64_t n, int *x) {
  nereid_launch_set_pointer(l, 0, x);
  nereid_launch_set_int(l, 1, n);
  for (int i = 0; i < 3; i++)
    if (nereid_launch_run(l, NULL)) abort();
  check_call(!nereid_device_sync(d) && x[0] == 3 && x[n - 1] == 3, "threads share a launch");
  double before = process_seconds();
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  check(process_seconds() - before < 0.02, "threads without a launch take no core's time");
}

/* ---- programs that wait ---- */

static const char WAIT[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def dead(x):\n"
    "    while tl.load(x + tl.program_id(0), volatile=True) == 0:\n"
    "        pass\n"
    "    tl.store(x, 2)\n";

static int ask(void *context) { return ++*(int *)context > 2; }

static void test_interruption(void) {
  nereid_arg args[] = {{"x", "*i32", NULL}};
  nereid_request r = {.source = {.text = WAIT, .size = strlen(WAIT)}, .args = args, .nargs = 1};
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  int x[2] = {0}, asked = 0;
  if (nereid_device_open(&d, "cpu") || nereid_compile_for(&image, d, &r)) abort();
  if (nereid_kernel_load(&k, d, image)) abort();
  uint64_t slots[] = {(uintptr_t)x};
  nereid_run_options o = {.interrupted = ask, .context = &asked};
  for (unsigned flags = 0; flags <= NEREID_LAUNCH_COOPERATIVE; flags += NEREID_LAUNCH_COOPERATIVE) {
    asked = 0;
    o.flags = flags;
    X(nereid_kernel_run(k, NULL, (uint32_t[]){2, 1, 1}, slots, NULL, &o), NEREID_E_CALLER,
      "kernel dead was interrupted: its programs waited for others");
    check(asked == 3 && !x[0], "the launching thread is asked until it ends the launch");
  }
  x[0] = x[1] = 1;
  asked = -1000000;
  check_call(!nereid_kernel_run(k, NULL, (uint32_t[]){2, 1, 1}, slots, NULL, &o) && x[0] == 2,
             "the kernel runs again");
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* ---- faults ---- */

/* What handled the signal before, which the handler goes on to, is not a sanitizer's own report. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "handle_segv=0"; }

/* The child's kernel writes to an address that is no memory's. */
static void fault_in_child(int to) {
  nereid_device *d;
  nereid_kernel *k;
  dup2(to, STDERR_FILENO);
  if (nereid_device_open(&d, "cpu") || load(d, "k", &k) || nereid_device_tell_faults(d)) _exit(3);
  uint64_t slots[] = {16, 1};
  nereid_kernel_run(k, NULL, (uint32_t[]){1, 1, 1}, slots, NULL, NULL);
  _exit(4);
}

static void test_fault(void) {
  int ends[2], status = 0;
  char said[512] = "";
  if (pipe(ends)) abort();
  pid_t child = fork();
  if (!child) fault_in_child(ends[1]);
  close(ends[1]);
  for (size_t n = 0; n < sizeof said - 1;) {
    ssize_t got = read(ends[0], said + n, sizeof said - 1 - n);
    if (got <= 0) break;
    n += (size_t)got;
  }
  waitpid(child, &status, 0);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the fault goes on");
  const char *message =
      "nereid: a fault while kernel k ran on device cpu: NEREID_DEBUG=1 (debug=True) checks each "
      "access, and device interp names the element\n";
  check_got(!strcmp(said, message), "the fault is told", said);
}

/* A narrower CPU has code of its own, and says so. */
static void test_narrower(void) {
  enum { N = 1000 };
  nereid_arg args[] = {{"x", "*i32", NULL}, {"n", "i32", NULL}, {"B", NULL, "1024"}};
  nereid_request r = {.source = {.text = ADD, .size = strlen(ADD)}, .args = args, .nargs = 3};
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  nereid_launch *l;
  static int x[N];
  setenv("NEREID_CPU", "cpu:4", 1);
  if (nereid_device_open(&d, "cpu") || nereid_compile_for(&image, d, &r)) abort();
  nereid_device_info info;
  check(!nereid_device_get_info(&info, d) && strstr(info.description, " as cpu:4, "),
        "the device says what it is");
  if (nereid_kernel_load(&k, d, image)) abort();
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  run_and_wait(d, l, N, x);
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
  static const char REFUSED[] =
      "NEREID_CPU=sm_90a is no CPU that this machine can be: write cpu:4, or up to cpu:";
  setenv("NEREID_CPU", "sm_90a", 1);
  check(nereid_device_open(&d, "cpu") == NEREID_E_USAGE, "a machine that is no part of this one");
  check(!strncmp(nereid_error_message(), REFUSED, strlen(REFUSED)), "what could be asked for");
  unsetenv("NEREID_CPU");
}

static void test_threads(void) {
  enum { N = 4000000, BLOCK = 1024 };
  nereid_arg args[] = {{"x", "*i32", NULL}, {"n", "i32", NULL}, {"B", NULL, "1024"}};
  nereid_request r = {.source = {.text = ADD, .size = strlen(ADD)}, .args = args, .nargs = 3};
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  nereid_launch *l;
  int *x;
  setenv("NEREID_THREADS", "many", 1);
  X(nereid_device_open(&d, "cpu"), NEREID_E_USAGE,
    "NEREID_THREADS=many is not a number of threads: write 1 to 1024");
  setenv("NEREID_THREADS", "4", 1);
  if (nereid_device_open(&d, "cpu") || nereid_compile_for(&image, d, &r)) abort();
  if (nereid_kernel_load(&k, d, image)) abort();
  if (nereid_alloc((void **)&x, d, N * sizeof *x)) abort();
  memset(x, 0, N * sizeof *x);
  if (nereid_launch_new(&l, k, (uint32_t[]){(N + BLOCK - 1) / BLOCK, 1, 1})) abort();
  const int before = count_tasks();
  check(!nereid_device_set_threads(d, 0), "one thread at least");
  run_and_wait(d, l, N, x);
  check(count_tasks() == before, "a launch with one thread makes no others");
  check(!nereid_device_set_threads(d, 2), "two threads");
  memset(x, 0, N * sizeof *x);
  run_and_wait(d, l, N, x);
  check(count_tasks() == before + 1, "a launch with two threads makes one more");
  check(!nereid_device_set_threads(d, 100), "as many as the device has");
  memset(x, 0, N * sizeof *x);
  run_and_wait(d, l, N, x);
  check(count_tasks() == before + 3, "a launch has no more threads than the device");
  nereid_launch_free(l);
  nereid_free(d, x);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
  unsetenv("NEREID_THREADS");
}

/* ---- assertions ---- */

/* The launch that fails tells of it, and the next one is as any. */
static void test_assertions(void) {
  static const char CHECKED[] =
      "import triton\nimport triton.language as tl\n"
      "@triton.jit\n"
      "def k(x, n):\n"
      "    tl.device_assert(n < 3, 'n is large')\n"
      "    tl.store(x + tl.program_id(0), n)\n";
  nereid_arg args[] = {{"x", "*i32", NULL}, {"n", "i32", NULL}};
  nereid_request r = {.source = {.text = CHECKED, .size = strlen(CHECKED)}, .args = args};
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  int *x;
  r.nargs = 2;
  r.debug = 1;
  if (nereid_device_open(&d, "cpu") || nereid_compile_for(&image, d, &r)) abort();
  if (nereid_kernel_load(&k, d, image)) abort();
  if (nereid_alloc((void **)&x, d, 8 * sizeof *x)) abort();
  memset(x, 0, 8 * sizeof *x);
  uint64_t values[] = {(uintptr_t)x, 2};
  const uint32_t grid[] = {4, 1, 1}, one[] = {1, 1, 1};
  check_call(!nereid_kernel_run(k, NULL, grid, values, NULL, NULL) && x[3] == 2, "it holds");
  values[1] = 3;
  X(nereid_kernel_run(k, NULL, one, values, NULL, NULL), NEREID_E_FINDINGS,
    "*:5: assertion failed: n is large, in program (0, 0, 0)");
  check_call(x[0] == 2, "the program has ended there");
  values[1] = 1;
  check_call(!nereid_kernel_run(k, NULL, grid, values, NULL, NULL) && x[0] == 1, "the next launch");
  nereid_free(d, x);
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* ---- many kernels at once ---- */

static const char PUT[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def put(out, V: tl.constexpr):\n"
    "    tl.store(out + tl.program_id(0), V)\n";

/* A kernel that stores `value`, and is called `symbol` in its C. */
static nereid_image *put_image(nereid_device *d, int value, const char *symbol) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  nereid_arg args[] = {{"out", "*i32", NULL}, {"V", NULL, text}};
  nereid_request r = {
      .source = {.text = PUT, .size = strlen(PUT)}, .args = args, .nargs = 2, .symbol = symbol};
  nereid_image *image;
  if (nereid_compile_for(&image, d, &r)) abort();
  return image;
}

static int value_of(nereid_device *d, nereid_kernel *k) {
  nereid_launch *l;
  int *out, value;
  if (nereid_alloc((void **)&out, d, sizeof *out)) abort();
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  nereid_launch_set_pointer(l, 0, out);
  if (nereid_launch_run(l, NULL)) abort();
  value = *out;
  nereid_launch_free(l);
  nereid_free(d, out);
  return value;
}

enum { MANY_MAX = 512 };

/* Loads them together and checks what they store; returns how often the compiler ran. */
static size_t load_many(const TempFolder *t, nereid_device *d, nereid_image **images, int n) {
  nereid_kernel *kernels[MANY_MAX];
  char *log;
  size_t size = 0;
  if (temp_write(t, "log", "", 0)) abort();
  int code = nereid_kernel_load_all(kernels, d, (const nereid_image *const *)images, n);
  check_call(!code, "many kernels load");
  bool right = !code;
  for (int i = 0; i < n && !code; i++) {
    if (!strcmp(nereid_image_name(images[i]), "put")) right &= value_of(d, kernels[i]) == i;
    nereid_kernel_free(kernels[i]);
  }
  check_call(right, "each is the right one");
  for (int i = 0; i < n; i++) nereid_image_free(images[i]);
  if (temp_read(t, "log", &log, &size)) abort();
  free(log);
  return size;
}

static void test_together(const TempFolder *t) {
  char cc[TOOL_PATH + 64], script[TOOL_PATH + 128], symbol[32];
  nereid_image *images[MANY_MAX];
  nereid_device *d;
  int cores = host_cores(), n = 2 * cores + 1;
  if (n > MANY_MAX) n = MANY_MAX;
  snprintf(script, sizeof script, "#!/bin/sh\nprintf x >> %s/log\nexec gcc \"$@\"\n", t->path);
  make_script(t, cc, sizeof cc, script);
  setenv("CC", cc, 1);
  if (nereid_device_open(&d, "cpu")) abort();
  for (int i = 0; i < n; i++) {
    snprintf(symbol, sizeof symbol, "put_%d", i);
    images[i] = put_image(d, i, symbol);
  }
  check_call(load_many(t, d, images, n) == (size_t)(cores < n ? cores : n),
             "a library for each core");
  for (int i = 0; i < 3; i++) images[i] = put_image(d, i, NULL);
  check_call(load_many(t, d, images, 3) == 3, "kernels of one name are apart");
  for (int i = 0; i < n; i++) {
    snprintf(symbol, sizeof symbol, "put_%d", i);
    images[i] = i ? put_image(d, i, symbol) : make_image("k");
  }
  load_many(t, d, images, n); /* one of them can't be joined */
  nereid_kernel *kernels[2];
  images[0] = put_image(d, 0, "zero");
  images[1] = make_image("missing");
  X(nereid_kernel_load_all(kernels, d, (const nereid_image *const *)images, 2), NEREID_E_TOOL,
    "the compiled kernel can't be loaded: missing_launch");
  check_call(!kernels[0] && !kernels[1], "all or none");
  for (int i = 0; i < 2; i++) nereid_image_free(images[i]);
  nereid_device_close(d);
}

static const char LONG[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def put_long(out, V: tl.constexpr):\n"
    "    i = tl.arange(0, 256)\n"
    "    x = tl.load(out + i)\n"
    "    tl.store(out + i, (x * V + tl.cumsum(x, 0)).to(tl.int64))\n";

/* A kernel of eight lanes, whose text is longer than those of put_image(). */
static nereid_image *long_image(nereid_device *d, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  nereid_arg args[] = {{"out", "*i64", NULL}, {"V", NULL, text}};
  nereid_request r = {.source = {.text = LONG, .size = strlen(LONG)},
                      .args = args, .nargs = 2, .symbol = value ? "long_1" : "long_0"};
  nereid_image *image;
  if (nereid_compile_for(&image, d, &r)) abort();
  return image;
}

/* Kernels of one number of lanes leave libraries to others. */
static void test_lanes(const TempFolder *t) {
  enum { PUTS = 40, MOST = 32 };
  char cc[TOOL_PATH + 64], script[TOOL_PATH + 256], symbol[32], *log;
  nereid_image *images[PUTS + 2];
  nereid_device *d;
  snprintf(script, sizeof script,
           "#!/bin/sh\nfor f; do case $f in *.c) grep -c '^void put.*_launch(' $f >> %s/log;; esac;"
           " done\nexec gcc \"$@\"\n", t->path);
  make_script(t, cc, sizeof cc, script);
  setenv("CC", cc, 1);
  if (nereid_device_open(&d, "cpu")) abort();
  for (int i = 0; i < PUTS; i++) {
    snprintf(symbol, sizeof symbol, "put_%d", i);
    images[i] = put_image(d, i, symbol);
  }
  for (int i = 0; i < 2; i++) images[PUTS + i] = long_image(d, i);
  load_many(t, d, images, PUTS + 2);
  size_t size;
  int most = 0, all = 0;
  if (temp_read(t, "log", &log, &size)) abort();
  for (char *at = log, *end; *at; at = *end ? end + 1 : end) {
    int n = (int)strtol(at, &end, 10);
    if (end == at) break;
    all += n;
    if (n > most) most = n;
  }
  free(log);
  check_call(all == PUTS && most > 0 && most <= MOST, "libraries are of like sizes");
  nereid_device_close(d);
}

/* Is the address in a mapping that is to have large pages?  -1: the system does not say. */
static int has_large_pages(const char *p) {
  FILE *f = fopen("/proc/self/smaps", "r");
  char line[512];
  unsigned long long from, end;
  bool here = false;
  int found = -1;
  while (f && found < 0 && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%llx-%llx ", &from, &end) == 2)
      here = (uintptr_t)p >= from && (uintptr_t)p < end;
    else if (here && !strncmp(line, "VmFlags:", 8)) found = strstr(line, " hg") != NULL;
  }
  if (f) fclose(f);
  return found;
}

static void test_large_pages(void) {
  enum { MIB = 1 << 20, LARGE = 16 * MIB, SMALL = MIB };
  nereid_device *d;
  char *large, *small;
  if (nereid_device_open(&d, "cpu")) abort();
  if (nereid_alloc((void **)&large, d, LARGE) || nereid_alloc((void **)&small, d, SMALL)) abort();
  if (access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
    printf("1 skipped: no transparent huge pages\n");
  } else {
    check_call(has_large_pages(large + LARGE / 2) == 1, "much memory has large pages");
    check_call(has_large_pages(small + SMALL / 2) == 0, "little has none");
  }
  memset(large, 1, LARGE);
  memset(small, 1, SMALL);
  nereid_free(d, large);
  nereid_free(d, small);
  nereid_device_close(d);
}

int main(void) {
  TempFolder t;
  char cc[TOOL_PATH], options[TOOL_PATH];
  if (temp_new(&t)) abort();
  setenv("NEREID_CACHE_DIR", t.path, 1);
  test_large_pages();
  if (tool_find_cc(cc, options) && tool_find(cc, "gcc")) {
    test_running();
    test_threads();
  test_narrower();
    test_interruption();
    test_fault();
    test_tools(&t);
    test_together(&t);
    test_lanes(&t);
    test_assertions();
  } else {
    printf("1 skipped: no gcc\n");
  }
  temp_free(&t);
  return report();
}
