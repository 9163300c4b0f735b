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
  temp_free(&folder);
  return report();
}
