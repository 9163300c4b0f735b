/* Mode max-autotune against a fake driver: what is measured, chosen, kept and left out.
 * tests/run: sleeps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/nereid_graph.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

/* ---- the fake driver ---- */

static TempFolder folder;
static char log_path[TOOL_PATH + 64], program[TOOL_PATH];
static char note[512]; /* the last one */

static bool build(const char *name) {
  char cc[TOOL_PATH], options[TOOL_PATH], out[TOOL_PATH + 64], output[4096];
  if (!tool_find_cc(cc, options)) return false;
  temp_name(out, sizeof out, &folder, name);
  const char *argv[] = {
      cc, "-shared", "-fPIC", "-O1", "-DWITH_ALL", "-o", out, "tests/support/fake_cuda.c", NULL};
  setenv("NEREID_LIBCUDA", out, 1);
  if (tool_run(argv, output, sizeof output) == 0) return true;
  printf("%s\n", output);
  return false;
}

/* How many kernels were loaded, were launched, and had 32 programs; the grid of the last replay. */
typedef struct {
  int loaded, launched, tried, grid;
} Log;

static Log take_log(void) {
  Log l = {0};
  char line[1024];
  FILE *f = fopen(log_path, "r");
  while (f && fgets(line, sizeof line, f)) {
    l.loaded += !strncmp(line, "module", 6);
    l.launched += !strncmp(line, "launch ", 7);
    l.tried += !strncmp(line, "launch 32 ", 10);
    if (!strncmp(line, "replayed ", 9)) l.grid = atoi(line + 9);
  }
  if (f) fclose(f);
  unlink(log_path);
  return l;
}

/* ---- choosing ---- */

/* 2^16 elements: tiles of 1024 make 64 programs, of 2048 32, of 256 256. */
#define MODEL(x, y)                                               \
  "class GraphModule(torch.nn.Module):\n"                         \
  "    def forward(self, " x                                      \
  ": \"f32[65536]\"):\n"                                          \
  "        " y ": \"f32[65536]\" = torch.ops.aten.exp.default(" x \
  ")\n"                                                           \
  "        return (" y ",)\n"

static void take_note(void *context, const char *text) {
  (void)context;
  snprintf(note, sizeof note, "%s", text);
}

/* Makes the executable, which is measured then, and runs it: the log of both. */
static Log tune(const char *settings, const char *text, Log *running) {
  nereid_device *d;
  nereid_graph *g;
  nereid_executable *e = NULL;
  nereid_graph_source s = {.path = "m.py", .data = text, .size = strlen(text)};
  nereid_graph_options o = {.mode = "max-autotune"};
  int64_t shape[] = {65536};
  void *data;
  setenv("FAKE_CUDA", settings, 1);
  if (nereid_device_open(&d, "cuda")) abort();
  nereid_device_on_message(d, take_note, NULL);
  note[0] = 0;
  take_log();
  check_call(!nereid_graph_open(&g, &s, NULL, NULL), "reading");
  check_call(!nereid_executable_new(&e, g, d, &o), "compiling");
  Log making = take_log();
  if (nereid_alloc(&data, d, 65536 * 4)) abort();
  nereid_tensor in = {
      .data = data, .device = {2, 0}, .ndim = 1, .dtype = {2, 32, 1}, .shape = shape};
  nereid_tensor out = {0};
  check_call(e && !nereid_executable_run(e, &in, 1, &out, 1, NULL), "running");
  *running = take_log();
  nereid_free(d, data);
  nereid_executable_free(e);
  nereid_graph_free(g);
  nereid_device_close(d);
  return making;
}

static void forget(void) {
  char path[TOOL_PATH + 64];
  temp_name(path, sizeof path, &folder, "cache.db");
  unlink(path);
  setenv("NEREID_CACHE_DIR", "", 1);
}

static void remember(void) { setenv("NEREID_CACHE_DIR", folder.path, 1); }

static void choosing(void) {
  Log run, make;
  forget();
  make = tune("", MODEL("x", "y"), &run);
  check_call(make.loaded == 6 && make.launched >= 5 * 18,
             "five choices, and the one that is taken");
  check_call(run.grid == 64 && !run.launched, "the first, where all are alike");
  tune("cost=1", MODEL("x", "y"), &run);
  check_call(run.grid == 32, "the fastest");
  tune("cost=1,wrong=32", MODEL("x", "y"), &run);
  check_call(run.grid == 64, "not one that gives something else");
  tune("cost=-65536", MODEL("x", "y"), &run);
  check_call(run.grid == 256, "the fastest, of more programs");
  tune("launch=701", MODEL("x", "y"), &run);
  check_call(run.grid == 64 && !*note, "where none can be launched, the first");
}

/* The fastest of all would be the one of 32 programs. */
static void planting(void) {
  static const char *const bad[] = {"cost=1,wrong=32", "cost=1,fault=32", "cost=1,crash=32",
                                    "hang=32"};
  Log run;
  forget();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Log make = tune(bad[i], MODEL("x", "y"), &run);
    check_call(make.tried && run.grid == 64 && !*note, bad[i]);
  }
}

/* What keeps all from being measured, and what it leaves. */
static void measuring_none(void) {
  Log run;
  forget();
  setenv("NEREID_PROGRAM", "/bin/false", 1);
  tune("cost=1", MODEL("x", "y"), &run);
  check_call(run.grid == 64, "without a process that measures, the first");
  check_call(strstr(note, "could not be measured") != NULL, "and a note");
  setenv("NEREID_PROGRAM", program, 1);
}

static void keeping(void) {
  Log run, make;
  remember();
  make = tune("cost=1", MODEL("x", "y"), &run);
  check_call(run.grid == 32 && make.launched, "measured");
  make = tune("cost=-65536", MODEL("a", "b"), &run);
  check_call(run.grid == 32 && !make.launched && make.loaded == 1,
             "and kept, for other names as well");
  setenv("NEREID_PROGRAM", "/bin/false", 1);
  tune("cost=1", MODEL("x", "y"), &run);
  check_call(run.grid == 32 && !*note, "no process is started for what is known");
  setenv("NEREID_PROGRAM", program, 1);
}

int main(void) {
  if (temp_new(&folder)) abort();
  temp_name(log_path, sizeof log_path, &folder, "log");
  setenv("FAKE_CUDA_LOG", log_path, 1);
  setenv("NEREID_PTXAS", "", 1); /* the driver's machine code is PTX */
  const char *nereid = getenv("NEREID");
  snprintf(program, sizeof program, "%s", nereid && *nereid ? nereid : "build/nereid");
  setenv("NEREID_PROGRAM", program, 1);
  if (build("fake.so")) {
    choosing();
    planting();
    measuring_none();
    keeping();
  } else {
    printf("1 skipped: no C compiler for tests/support/fake_cuda.c\n");
  }
  temp_free(&folder);
  return report();
}
