/* nereid estimate: how long a launch will take, by the model, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/launch_request.h"
#include "cli/commands/commands.h"
#include "cli/terminal/progress.h"
#include "runtime/compile/estimate_request.h"

enum { OPT_GRID = REQUEST_OPTIONS_END };

static const Option options[] = {
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    REQUEST_OPTIONS,
    {0},
};

typedef struct {
  Request request;
  const char *grid;
  Settings values;
  nereid_module *module;
  const nereid_kernel_info *kernel;
  Arguments args;
} Estimation;

static int take_estimate_option(Estimation *e, int id, const char *value) {
  switch (id) {
    case OPT_GRID: e->grid = value; return STATUS_OK;
    case ARGS_POSITIONAL:
      if (!e->request.file) return request_file(&e->request, value);
      return request_add_value(&e->request, &e->values, value);
    default: return request_option(&e->request, id, value);
  }
}

static int print_device_estimate(const char *device, const Estimate *e) {
  Arena *a = arena_new();
  Text t = text_new(a);
  estimate_print(&t, e);
  printf("%-18s %s\n%s", "device", device, t.data);
  arena_free(a);
  return STATUS_OK;
}

static int print_estimate_of(Estimation *e, const uint32_t grid[3]) {
  DevicePeaks peaks;
  Estimate found;
  nereid_binding *names;
  EstimateLaunch l = {.request = &e->request.api, .peaks = &peaks};
  int status = request_bind(&names, &l.nints, &e->request, &e->args);
  if (status) return status;
  memcpy(l.grid, grid, sizeof l.grid);
  l.ints = names;
  estimate_peaks(&peaks, e->request.api.target);
  Progress *p = progress_start("estimating", e->kernel->name);
  int code = estimate_launch(&found, &l);
  progress_stop(p);
  free(names);
  return code ? args_failed(code) : print_device_estimate(peaks.device, &found);
}

static int estimate_all(Estimation *e) {
  uint32_t grid[3];
  int status = request_finish(&e->request);
  if (!status) status = launch_module(&e->module, &e->kernel, &e->request);
  if (!status) status = request_args(&e->args, e->kernel, &e->values);
  if (!status) status = request_grid(grid, e->grid, &e->request, &e->args);
  if (!status) status = request_check_args(&e->request, &e->args);
  if (!status) status = request_add_types(&e->request, &e->args, e->module);
  if (!status) status = request_finish(&e->request);
  return status ? status : print_estimate_of(e, grid);
}

static int run_estimate(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Estimation e = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_estimate_option(&e, id, value);
  if (status == STATUS_OK) status = estimate_all(&e);
  nereid_module_free(e.module);
  arguments_free(&e.args);
  settings_free(&e.values);
  request_free(&e.request);
  return status;
}

static const Operand operands[] = {OPERAND_KERNEL, OPERAND_VALUES, {0}};

const Command command_estimate = {
    "estimate",
    "FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --grid X[,Y[,Z]] [OPTION]...",
    "Predicts the time of a launch on a device and its causes, without a run.",
    options,
    run_estimate,
    operands,
};
