/* Recordings against a fake driver: what is recorded, changed and forgotten in mode
 * reduce-overhead, and in mode default, where sizes come again; and on a GPU, if there is one, that
 * runs give what they give in mode eager, which records none. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/nereid_graph.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

/* ---- the fake driver ---- */

static TempFolder folder;
static char log_path[TOOL_PATH + 64];

static bool build(const char *name, const char *source, const char *define) {
  char cc[TOOL_PATH], options[TOOL_PATH], out[TOOL_PATH + 64], output[4096];
  if (!tool_find_cc(cc, options)) return false;
  temp_name(out, sizeof out, &folder, name);
  const char *argv[] = {cc, "-shared", "-fPIC", "-O1", define, "-o", out, source, "-lm", NULL};
  if (tool_run(argv, output, sizeof output) == 0) return true;
  printf("%s\n", output);
  return false;
}

static void use(const char *library, const char *settings) {
  char path[TOOL_PATH + 64];
  temp_name(path, sizeof path, &folder, library);
  setenv("NEREID_LIBCUDA", path, 1);
  setenv("FAKE_CUDA", settings, 1);
}

/* Lines of the log that begin with `text`, since it was last asked; the log is emptied. */
typedef struct {
  int recorded, forgotten, set, replayed, copied, launched, overlapping, called;
  char last[1024]; /* of replayed */
} Log;

static Log take_log(void) {
  Log l = {0};
  char line[1024];
  FILE *f = fopen(log_path, "r");
  while (f && fgets(line, sizeof line, f)) {
    l.recorded += !strncmp(line, "recorded", 8);
    l.forgotten += !strncmp(line, "forgotten", 9);
    l.set += !strncmp(line, "set ", 4);
    l.copied += !strncmp(line, "copied", 6);
    l.launched += !strncmp(line, "launch ", 7);
    l.called += !strncmp(line, "called", 6);
    l.overlapping += !strcmp(line, "edge 1 port 1\n") || !strcmp(line, "attribute 6 1\n");
    if (strncmp(line, "replayed", 8)) continue;
    l.replayed++;
    snprintf(l.last, sizeof l.last, "%s", line);
  }
  if (f) fclose(f);
  unlink(log_path);
  return l;
}

/* ---- a model: two kernels, and an input that it writes to ---- */

static const char MODEL[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s0, 64]\", cache: \"f32[s0, 64]\"):\n"
    "        t: \"f32[64, s0]\" = torch.ops.aten.t.default(x)\n"
    "        mm: \"f32[64, 64]\" = torch.ops.aten.mm.default(t, x)\n"
    "        add: \"f32[s0, 64]\" = torch.ops.aten.mm.default(x, mm)\n"
    "        sum: \"f32[s0, 64]\" = torch.ops.aten.add.Tensor(x, add)\n"
    "        copy_: \"f32[s0, 64]\" = torch.ops.aten.copy_.default(cache, sum)\n"
    "        return (add, sum)\n";

typedef struct {
  nereid_device *device;
  nereid_executable *e;
  char *memory;
} Case;

enum { ROWS_MAX = 64, ROOM = ROWS_MAX * 64 * 4 };

static void on_message(void *context, const char *text) { snprintf(context, 256, "%s", text); }

static Case start_with(const nereid_graph_options *o, char message[256]) {
  Case c = {0};
  nereid_graph *g;
  nereid_graph_source s = {.path = "m.py", .data = MODEL, .size = sizeof MODEL - 1};
  void *memory;
  if (nereid_device_open(&c.device, "cuda")) abort();
  nereid_device_on_message(c.device, on_message, message);
  check_call(!nereid_graph_open(&g, &s, NULL, NULL), "reading");
  check_call(!nereid_executable_new(&c.e, g, c.device, o), "compiling");
  nereid_graph_free(g);
  if (nereid_alloc(&memory, c.device, 4 * ROOM)) abort();
  c.memory = memory;
  return c;
}

static Case start(const char *mode, const char *libraries, char message[256]) {
  return start_with(&(nereid_graph_options){.mode = mode, .libraries = libraries}, message);
}

static void finish(Case *c) {
  nereid_free(c->device, c->memory);
  nereid_executable_free(c->e);
  nereid_device_close(c->device);
}

/* x lies `shift` bytes behind where it lay at first. */
static Log run(const Case *c, int64_t rows, size_t shift) {
  int64_t shape[] = {rows, 64};
  nereid_tensor t = {
      .data = c->memory + shift, .device = {2, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape};
  nereid_tensor in[] = {t, t}, out[] = {t, {0}};
  in[1].data = c->memory + ROOM;
  out[0].data = c->memory + 2 * ROOM;
  check_call(!nereid_executable_run(c->e, in, 2, out, 2, NULL), "a run");
  return take_log();
}

/* ---- tests ---- */

static void replaying(void) {
  char message[256] = "", pointer[32];
  use("fake.so", "");
  Case c = start("reduce-overhead", NULL, message);
  take_log();
  if (!c.e) return;
  Log l = run(&c, 4, 0);
  int kernels = l.replayed;
  check_call(l.recorded == 1 && kernels >= 2 && l.copied == 1 && !l.launched, "it is recorded");
  check_call(l.overlapping >= 1 && l.overlapping < kernels, "a kernel may overlap the one before");
  l = run(&c, 4, 0);
  check_call(!l.recorded && !l.set && l.replayed == kernels && l.copied == 1, "it is replayed");
  l = run(&c, 4, 256);
  snprintf(pointer, sizeof pointer, " %" PRIx64, (uint64_t)(uintptr_t)(c.memory + 256));
  check_call(!l.recorded && l.set >= 1 && l.set <= kernels && strstr(l.last, pointer),
             "an input elsewhere changes its nodes");
  l = run(&c, 5, 256);
  check_call(l.recorded == 1 && !l.forgotten, "other sizes are another recording");
  l = run(&c, 4, 256);
  check_call(!l.recorded && l.replayed == kernels, "which does not replace the first");
  for (int rows = 6; rows < 20; rows++) l = run(&c, rows, 256);
  check_call(l.recorded == 1 && !l.forgotten, "as many as are kept");
  l = run(&c, 20, 256);
  check_call(l.recorded == 1 && l.forgotten == 1, "one more makes one go");
  l = run(&c, 4, 256);
  check_call(!l.recorded, "not the one that was used since");
  l = run(&c, 5, 256);
  check_call(l.recorded == 1 && l.forgotten == 1, "but the oldest");
  check_call(!message[0], "without a message");
  finish(&c);
  check_call(take_log().forgotten == 16, "all go with the executable");
}

/* Mode default: what comes again is recorded. */
static void repeating(void) {
  char message[256] = "";
  use("fake.so", "");
  Case c = start("default", NULL, message);
  take_log();
  if (!c.e) return;
  Log l = run(&c, 4, 0);
  int kernels = l.launched;
  check_call(kernels >= 2 && !l.recorded, "a first run is none that comes again");
  l = run(&c, 5, 0);
  check_call(l.launched == kernels && !l.recorded, "nor is one of other sizes");
  l = run(&c, 4, 0);
  check_call(l.launched == kernels && !l.recorded, "a second run may be the last one");
  l = run(&c, 4, 256);
  check_call(l.recorded == 1 && l.replayed == kernels && !l.launched, "a third run is recorded");
  l = run(&c, 4, 512);
  check_call(!l.recorded && l.set >= 1 && l.replayed == kernels, "memory elsewhere is set");
  l = run(&c, 5, 512);
  check_call(!l.recorded && !l.replayed && l.launched == kernels, "each of its sizes");
  l = run(&c, 4, 512);
  check_call(!l.recorded && !l.set && l.replayed == kernels, "a recording is kept meanwhile");
  for (int rows = 6; rows < 40; rows++) l = run(&c, rows, 0);
  check_call(!l.recorded && !l.replayed && l.launched == kernels, "sizes that never come again");
  check_call(!message[0], message);
  finish(&c);
}

/* Whatever the mode, a caller may want none, or those that come again. */
static void asking(nereid_graph_replay replay, int recorded) {
  char message[256] = "";
  int n = 0;
  use("fake.so", "");
  nereid_graph_options o = {.mode = "reduce-overhead", .replay = replay};
  Case c = start_with(&o, message);
  take_log();
  for (int i = 0; i < 4 && c.e; i++) {
    Log l = run(&c, 4, 0);
    n += l.recorded;
    check_call(i || (l.launched && !l.replayed), "a first run that is not recorded");
  }
  check_call(n == recorded, "the recordings that were asked for");
  finish(&c);
}

/* A device that can't record runs as before, and is not asked again. */
static void refusing(void) {
  char message[256] = "";
  use("fake.so", "graph=2");
  Case c = start("default", NULL, message);
  take_log();
  for (int i = 0; i < 5 && c.e; i++) {
    Log l = run(&c, 4, 0);
    check_call(l.launched >= 2 && !l.replayed, "launches, where no recording can be made");
    if (i == 3) use("fake.so", "");
  }
  check_call(!message[0], message);
  finish(&c);
}

/* Calls of libraries are captured again where their memory moves, which launches are not worth. */
static void moving_calls(void) {
  char message[256] = "";
  use("fake.so", "");
  Case c = start("default", "always", message);
  take_log();
  if (!c.e) return;
  for (int i = 0; i < 2; i++) run(&c, 4, 0);
  Log l = run(&c, 4, 0);
  check_call(l.recorded == 1 && l.called == 1, "calls are recorded");
  l = run(&c, 4, 0);
  check_call(!l.recorded && !l.set && l.called == 1 && l.replayed, "and replayed");
  int replayed = 0, lasts[2] = {0};
  for (int i = 1; i <= 60; i++) {
    l = run(&c, 4, 256 * (size_t)i);
    if (l.replayed && i < 60) lasts[0] = lasts[1], lasts[1] = i, replayed++;
    check_call(l.replayed ? l.set >= 1 : l.launched >= 1, "a run whose memory moves");
  }
  check_call(replayed >= 2 && replayed <= 8 && lasts[1] - lasts[0] > 8, "they are set ever less");
  for (int i = 0; i < 100; i++) l = run(&c, 4, 0);
  check_call(l.replayed && !l.set && !l.launched, "until memory stays where it is");
  finish(&c);
}

static void plain(const char *library, const char *mode, const char *wanted) {
  char message[256] = "";
  use(library, "");
  Case c = start(mode, NULL, message);
  take_log();
  if (!c.e) return;
  Log l = run(&c, 4, 0);
  check_call(l.launched >= 2 && !l.recorded && !l.replayed, "launches one by one");
  check_call(l.overlapping == l.launched, "which may overlap");
  check_call(!strcmp(message, wanted), message[0] ? message : "no message");
  finish(&c);
}

static void failures(void) {
  char message[256] = "";
  int64_t shape[] = {4, 64};
  use("fake.so", "graph=2");
  Case c = start("reduce-overhead", NULL, message);
  nereid_tensor t = {
      .data = c.memory, .device = {2, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape};
  nereid_tensor in[] = {t, t}, out[2] = {{0}};
  check_call(nereid_executable_run(c.e, in, 2, out, 2, NULL) == NEREID_E_MEMORY &&
                 strstr(nereid_error_message(), "recording a CUDA graph: "),
             "recording fails");
  use("fake.so", "graph_launch=701");
  memset(out, 0, sizeof out);
  check_call(nereid_executable_run(c.e, in, 2, out, 2, NULL) == NEREID_E_RESOURCES &&
                 strstr(nereid_error_message(), "launching a CUDA graph: "),
             "launching fails");
  use("fake.so", "");
  memset(out, 0, sizeof out);
  check_call(!nereid_executable_run(c.e, in, 2, out, 2, NULL), "and goes on");
  finish(&c);
}

/* ---- on a GPU ---- */

/* Writes x, which lies `shift` bytes behind where it lay at first, and the cache; runs; reads what
 * came of all. */
static void run_real(const Case *c, int64_t rows, size_t shift, float *out) {
  int64_t shape[] = {rows, 64};
  size_t n = (size_t)rows * 64;
  float *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = (float)((i * 7 + (size_t)rows) % 11) / 16;
  check_call(!nereid_copy_in(c->device, c->memory + shift, x, n * 4, NULL) &&
                 !nereid_copy_in(c->device, c->memory + ROOM, x, n * 4, NULL),
             "copying in");
  nereid_tensor t = {
      .data = c->memory + shift, .device = {2, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape};
  nereid_tensor in[] = {t, t}, results[] = {t, {0}};
  in[1].data = c->memory + ROOM;
  results[0].data = c->memory + 2 * ROOM;
  check_call(!nereid_executable_run(c->e, in, 2, results, 2, NULL), "a run on the GPU");
  check_call(!nereid_copy_out(c->device, out, c->memory + 2 * ROOM, n * 4, NULL) &&
                 !nereid_copy_out(c->device, out + n, c->memory + ROOM, n * 4, NULL),
             "copying out");
  free(x);
}

static void same_as_eager(const char *mode) {
  static const int64_t rows[] = {4, 4, 32, 4, 64, 32, 4, 4, 32, 32};
  static const size_t shifts[] = {0, 256, 0, 256, 512, 0, 0, 256, 512, 512};
  enum { RUNS = sizeof rows / sizeof *rows };
  static float expected[2 * ROWS_MAX * 64], got[2 * ROWS_MAX * 64];
  char message[256] = "";
  Case plain_case = start("eager", NULL, message), c = start(mode, NULL, message);
  for (int i = 0; i < RUNS && c.e && plain_case.e; i++) {
    run_real(&plain_case, rows[i], shifts[i], expected);
    run_real(&c, rows[i], shifts[i], got);
    bool same = true;
    for (int64_t j = 0; j < 2 * rows[i] * 64; j++)
      same &= fabsf(expected[j] - got[j]) <= 1e-4f * fabsf(expected[j]);
    check_call(same, mode);
  }
  finish(&plain_case);
  finish(&c);
}

int main(void) {
  if (nereid_device_count("cuda") > 0) {
    same_as_eager("default");
    same_as_eager("reduce-overhead");
    same_as_eager("max-autotune");
  }
  if (temp_new(&folder)) abort();
  temp_name(log_path, sizeof log_path, &folder, "log");
  setenv("FAKE_CUDA_LOG", log_path, 1);
  setenv("NEREID_PTXAS", "", 1); /* the driver's machine code is PTX */
  setenv("NEREID_CACHE_DIR", folder.path, 1);
  static const char driver[] = "tests/support/fake_cuda.c";
  static const char blas[] = "tests/support/fake_libraries.c";
  setenv("NEREID_LIBRARY_PATH", folder.path, 1);
  if (build("fake.so", driver, "-DWITH_ALL") && build("old.so", driver, "-DWITHOUT_GRAPHS") &&
      build("libcublasLt.so.12", blas, "-DWITH_ALL")) {
    replaying();
    repeating();
    asking(NEREID_REPLAY_NEVER, 0);
    asking(NEREID_REPLAY_REPEATED, 1);
    refusing();
    moving_calls();
    plain("fake.so", NULL, "");
    plain("fake.so", "eager", "");
    plain("old.so", "reduce-overhead",
          "the driver has no CUDA graphs, so mode reduce-overhead runs as default; update it");
    failures();
  } else {
    printf("1 skipped: no C compiler for tests/support/fake_cuda.c\n");
  }
  temp_free(&folder);
  return report();
}
