/* Times a model from its file to the end of its first run, stage by stage: with empty caches, and
 * with those that this filled.
 *
 *     graph_start [--device D] [--runs N] [MODEL...]
 *
 * Each run is a process of its own, which has opened the device before the clock starts.  Caches,
 * ours and the driver's, are folders that go away.  Of warm runs (5) each stage's least time
 * counts.  MODEL: tests/models/hf_bert/model.pt2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model/nereid_graph.h"
#include "runtime/support/tool.h"

enum { STAGES_MAX = 8, RANK_MAX = 16 };

typedef struct {
  const char *device, *model;
  int runs;
} Options;

typedef struct {
  char name[32];
  double wall, processor; /* ms */
} Stage;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---- one run: a line for each stage ---- */

typedef struct {
  double wall, processor;
} Moment;

static Moment moment(void) { return (Moment){now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)}; }

static void must(int code, const char *what) {
  if (!code) return;
  fprintf(stderr, "%s: %s\n", what, nereid_error_message());
  exit(1);
}

static void done(const char *stage, Moment *since) {
  Moment m = moment();
  printf("%.3f %.3f %s\n", m.wall - since->wall, m.processor - since->processor, stage);
  *since = moment();
}

/* Zeros in host memory, which are right for tokens as well. */
static nereid_tensor *inputs_of(nereid_executable *e, int n) {
  nereid_tensor *in = calloc((size_t)n + 1, sizeof *in);
  for (int i = 0; i < n; i++) {
    nereid_graph_value v;
    int64_t *shape = calloc(RANK_MAX, sizeof *shape), elements = 1;
    must(nereid_executable_input(&v, e, i), "an input");
    if (!v.name) continue;
    must(nereid_executable_input_shape(shape, e, in, i, i), "a shape");
    for (int k = 0; k < v.ndim; k++) elements *= shape[k];
    void *data = calloc((size_t)elements + 1, (size_t)v.dl_dtype.bits / 8);
    if (v.is_number) *(int64_t *)data = shape[0];
    in[i] = (nereid_tensor){
        .data = data, .device = {1, 0}, .ndim = v.ndim, .dtype = v.dl_dtype, .shape = shape};
  }
  return in;
}

static int run_once(const Options *o) {
  nereid_graph_source source = {.path = o->model};
  nereid_device *d;
  nereid_graph *g;
  nereid_executable *e;
  must(nereid_device_open(&d, o->device), "the device");
  Moment start = moment(), since = start;
  must(nereid_graph_open(&g, &source, NULL, NULL), "reading");
  done("read", &since);
  must(nereid_executable_new(&e, g, d, NULL), "compiling");
  done("compile", &since);
  int n = nereid_executable_ninputs(e), nout = nereid_executable_noutputs(e);
  nereid_tensor *in = inputs_of(e, n), *out = calloc((size_t)nout + 1, sizeof *out);
  must(nereid_executable_prepare(e, in, n, out, nout), "preparing");
  done("weights", &since);
  must(nereid_executable_run(e, in, n, out, nout, NULL), "running");
  must(nereid_device_sync(d), "running");
  done("run", &since);
  done("all", &start);
  nereid_executable_free(e);
  nereid_graph_free(g);
  nereid_device_close(d);
  return 0;
}

/* ---- all runs ---- */

/* Runs this program once; the least times of each stage, if there are some already. */
static int measure(const char *self, const Options *o, Stage *stages, int n) {
  char command[2 * TOOL_PATH], name[32];
  double wall, processor;
  snprintf(command, sizeof command, "'%s' --once --device '%s' '%s'", self, o->device, o->model);
  FILE *f = popen(command, "r");
  int i = 0;
  for (; f && i < STAGES_MAX && fscanf(f, "%lf %lf %31s", &wall, &processor, name) == 3; i++) {
    Stage *s = &stages[i];
    if (i >= n) *s = (Stage){.wall = wall, .processor = processor};
    snprintf(s->name, sizeof s->name, "%s", name);
    if (wall < s->wall) s->wall = wall;
    if (processor < s->processor) s->processor = processor;
  }
  return f && pclose(f) == 0 ? i : 0;
}

static int measure_model(const char *self, const Options *o) {
  TempFolder ours, drivers;
  Stage cold[STAGES_MAX], warm[STAGES_MAX];
  if (temp_new(&ours) || temp_new(&drivers)) return 1;
  setenv("NEREID_CACHE_DIR", ours.path, 1);
  setenv("CUDA_CACHE_PATH", drivers.path, 1);
  int n = measure(self, o, cold, 0), nwarm = 0;
  for (int i = 0; i < o->runs && n; i++) nwarm = measure(self, o, warm, nwarm);
  printf("%s on %s, ms\n%-12s %21s %21s\n", o->model, o->device, "", "cold (processor)",
         "warm (processor)");
  for (int i = 0; i < n && i < nwarm; i++)
    printf("%-12s %10.1f %10.1f %10.1f %10.1f\n", cold[i].name, cold[i].wall, cold[i].processor,
           warm[i].wall, warm[i].processor);
  temp_free(&ours);
  temp_free(&drivers);
  return n && nwarm ? 0 : 1;
}

int main(int argc, char **argv) {
  Options o = {.device = nereid_device_count("cuda") > 0 ? "cuda" : "cpu", .runs = 5};
  bool once = false;
  int status = 0, models = 0;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--once")) once = true;
    else if (!strcmp(argv[i], "--device")) o.device = value, i++;
    else if (!strcmp(argv[i], "--runs")) o.runs = atoi(value), i++;
    else {
      o.model = argv[i];
      models++;
      status |= once ? run_once(&o) : measure_model(argv[0], &o);
    }
  }
  o.model = "tests/models/hf_bert/model.pt2";
  return models ? status : measure_model(argv[0], &o);
}
