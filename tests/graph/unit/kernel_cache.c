/* Kernels of plans that are compiled again: their code is in the cache, and is the same. */
#include <stdlib.h>
#include <string.h>

#include "model/api/model_api.h"
#include "planner/compile/plan_kernels.h"
#include "runtime/device/device.h"
#include "runtime/support/tool.h"
#include "tests/support/tally.h"

static TempFolder folder;

#define MODEL(x, n)                                           \
  "class M(torch.nn.Module):\n"                               \
  "    def forward(self, " x ": \"f32[" n                     \
  "]\"):\n"                                                   \
  "        y: \"f32[" n "]\" = torch.ops.aten.exp.default(" x \
  ")\n"                                                       \
  "        return (y,)\n"

/* How many kernels a model has, and how many of them were in the cache. */
typedef struct {
  size_t kernels, cached;
} Found;

static Found compile(const char *device, const char *text) {
  nereid_graph_source s = {.path = "m.py", .data = text, .size = strlen(text)};
  CompileOptions o = {.target = TARGET_CPU, .fuse = true};
  Found found = {0, 0};
  nereid_device *d;
  Model *m;
  PlanKernels k;
  PlanKernel *kernel;
  if (nereid_device_open(&d, device) || model_read(&m, &s) || model_plan(m, &o)) abort();
  check(!kernels_open(&k, m->arena, m->plan, d), "kernels");
  for (uint32_t i = 0; i < m->plan->nsteps; i++)
    check(!kernels_find(&k, &m->plan->steps[i], NULL, &kernel), "a step's kernel");
  check(!kernels_compile(&k), "compiling");
  for (size_t i = 0; i < k.list.len; i++) {
    found.kernels++;
    found.cached += k.list.data[i]->from_cache;
    check(k.list.data[i]->kernel != NULL, "a kernel is there");
  }
  kernels_close(&k);
  model_free(m);
  nereid_device_close(d);
  return found;
}

/* ---- a kernel that can't be made ---- */

#define TWO                                                                             \
  "class M(torch.nn.Module):\n"                                                         \
  "    def forward(self, x: \"f32[64]\", w: \"f32[9, 9]\"):\n"                           \
  "        n: \"f32[64]\" = torch.ops.aten.neg.default(x)\n"                            \
  "        y: \"f32[64]\" = torch.ops.aten.exp.default(n)\n"                            \
  "        z: \"f32[9, 9]\" = torch.ops.aten.cumsum.default(w, 0)\n"                    \
  "        return (y, z)\n"

/* The step of cumsum passes what its kernel does not take. */
static void misname(Model *m) {
  for (uint32_t i = 0; i < m->plan->nsteps; i++)
    if (strstr(m->plan->steps[i].kernel, "cumsum"))
      m->plan->steps[i].args[0].name = pool_name(m->plan->graph->names, "in7_ptr");
}

/* The plan's text with another name for cumsum, which is none: as if the compiler refused it. */
static void spoil(Model *m) {
  char *text = arena_strndup(m->arena, m->plan->source, strlen(m->plan->source));
  char *at = strstr(text, "tl.cumsum(");
  check(at != NULL, "a kernel of cumsum");
  if (at) memcpy(at, "tl.cumsux(", strlen("tl.cumsux("));
  m->plan->source = text;
}

/* Notes of m.py in the last failure, and the line of the last of them. */
static int count_notes(int *line) {
  int notes = 0;
  for (int i = 0; i < nereid_error_count(); i++) {
    nereid_diagnostic d;
    check(!nereid_error_diagnostic(&d, i), "a part");
    if (d.severity != NEREID_SEVERITY_NOTE || strcmp(d.file, "m.py")) continue;
    check(!strcmp(d.id, "N_GRAPH_KERNEL_FAILED"), "a note of a node");
    *line = d.line;
    notes++;
  }
  return notes;
}

static void named(void (*break_cumsum)(Model *), int code) {
  nereid_graph_source source = {.path = "m.py", .data = TWO, .size = strlen(TWO)};
  CompileOptions o = {.target = TARGET_CPU, .fuse = true};
  nereid_device *d;
  Model *m;
  PlanKernels k;
  PlanKernel *kernel;
  int line = 0;
  if (nereid_device_open(&d, "cpu") || model_read(&m, &source) || model_plan(m, &o)) abort();
  break_cumsum(m);
  check(!kernels_open(&k, m->arena, m->plan, d), "kernels");
  for (uint32_t i = 0; i < m->plan->nsteps; i++)
    check(!kernels_find(&k, &m->plan->steps[i], NULL, &kernel), "a step's kernel");
  check(k.list.len == 2, "two kernels");
  check(kernels_compile(&k) == code, "one of them is refused");
  check(count_notes(&line) == 1 && line == 5, "the nodes of that kernel, and no other's");
  kernels_close(&k);
  model_free(m);
  nereid_device_close(d);
}

static void cached(void) {
  Found first = compile("cpu", MODEL("x", "64")), again = compile("cpu", MODEL("x", "64"));
  check(first.kernels == 1 && !first.cached, "compiled");
  check(again.kernels == 1 && again.cached == 1, "from the cache");
  check(!compile("cpu", MODEL("x", "65")).cached, "another source");
  check(!compile("interp", MODEL("x", "64")).cached, "interpreters keep nothing");
  setenv("NEREID_CACHE_DIR", "", 1);
  check(!compile("cpu", MODEL("x", "64")).cached, "a cache that is turned off");
  setenv("NEREID_CACHE_DIR", folder.path, 1);
  check(compile("cpu", MODEL("x", "64")).cached == 1, "and on again");
}

int main(void) {
  if (temp_new(&folder)) abort();
  setenv("NEREID_CACHE_DIR", folder.path, 1);
  cached();
  named(spoil, NEREID_E_KERNEL);
  named(misname, NEREID_E_USAGE);
  temp_free(&folder);
  return report();
}
