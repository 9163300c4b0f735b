/* All shapes of tiles that mode max-autotune may choose give the model's outputs: on the reference
 * interpreter, which also finds accesses out of bounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api/model_api.h"
#include "model/execute/execute.h"
#include "runtime/support/array.h"
#include "tests/support/tally.h"

static void check_choice(bool ok, const char *what, uint32_t choice, const char *got) {
  if (ok) passed++;
  else failed++, printf("FAIL %s, choice %u: %s\n", what, choice, got);
}

typedef struct {
  const char *folder;
  nereid_device *device;
  nereid_value *inputs[2], *expected;
  int ninputs;
} Case;

static nereid_value *load(const char *folder, const char *what, int i) {
  char text[256];
  nereid_value *v;
  snprintf(text, sizeof text, "@%s/%s_%d.npy", folder, what, i);
  return nereid_value_parse(&v, text) ? NULL : v;
}

static bool is_close(const nereid_tensor *got, const nereid_value *expected) {
  nereid_tensor e;
  double error = 0, whole = 0;
  if (nereid_value_tensor(&e, expected) || got->ndim != e.ndim) return false;
  int64_t n = 1;
  for (int i = 0; i < e.ndim; i++) n *= e.shape[i];
  for (int64_t i = 0; i < n; i++) {
    double x = nereid_value_element(expected, i), d = ((const float *)got->data)[i] - x;
    error += d * d;
    whole += x * x;
  }
  return error <= 1e-8 * whole;
}

static void run(const Case *c, const Model *m, uint32_t choice) {
  ExecuteOptions options = {0};
  Executable *e;
  nereid_tensor in[2], out[1] = {{0}};
  for (int i = 0; i < c->ninputs; i++) nereid_value_tensor(&in[i], c->inputs[i]);
  int code = executable_new(&e, m->plan, m->weights, c->device, &options);
  if (!code)
    code = execution_run(
        executable_main(e),
        &(ExecutionCall){.inputs = in, .ninputs = c->ninputs, .outputs = out, .noutputs = 1});
  check_choice(!code && is_close(&out[0], c->expected), c->folder, choice,
               code ? nereid_error_message() : "other outputs");
  executable_free(e);
}

/* Every step runs its choice of that number, or its last. */
static bool choose(Plan *p, uint32_t choice) {
  bool any = false;
  for (uint32_t i = 0; i < p->nsteps; i++) {
    PlanStep *s = &p->steps[i];
    any |= choice < s->nchoices;
    if (s->nchoices) plan_choose(s, choice < s->nchoices ? choice : s->nchoices - 1);
  }
  return any;
}

static void all_choices(const char *folder, int ninputs) {
  char path[256];
  Case c = {.folder = folder, .expected = load(folder, "output", 0), .ninputs = ninputs};
  CompileOptions options = {.target = TARGET_GPU, .fuse = true, .tune = true};
  Model *m;
  for (int i = 0; i < ninputs; i++) c.inputs[i] = load(folder, "input", i);
  snprintf(path, sizeof path, "%s/model.pt2", folder);
  nereid_graph_source source = {.path = path};
  if (nereid_device_open(&c.device, "interp") || model_read(&m, &source)) abort();
  check_choice(!model_plan(m, &options), folder, 0, nereid_error_message());
  uint32_t n = 0;
  for (; m->plan && choose(m->plan, n); n++) run(&c, m, n);
  check_choice(n > 2, folder, n, "so many choices");
  model_free(m);
  nereid_device_close(c.device);
  nereid_value_free(c.expected);
  for (int i = 0; i < ninputs; i++) nereid_value_free(c.inputs[i]);
}

int main(void) {
  all_choices("tests/models/mlp", 1);
  all_choices("tests/models/kv_decode", 2);
  all_choices("tests/models/dyn_mlp", 1);
  all_choices("tests/models/hf_llama", 1);
  return report();
}
