/* nereid run: compiles a kernel, runs it on real arrays, and shows what it wrote. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments/launch_request.h"
#include "cli/arguments/tuned_constexprs.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/array_text.h"
#include "cli/terminal/progress.h"
#include "runtime/support/files.h"

enum {
  OPT_GRID = REQUEST_OPTIONS_END,
  OPT_DEVICE,
  OPT_OUT,
  OPT_TIME,
  OPT_TUNE,
  OPT_PDL,
  OPT_COOPERATIVE
};

static const Option options[] = {
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    REQUEST_OPTIONS,
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu",
     .choices = CHOICES_DEVICE},
    {OPT_OUT, "--out", "NAME=FILE.npy", "writes an array to a file instead of printing",
     .repeats = true},
    {OPT_TIME, "--time", NULL, "measures the kernel"},
    {OPT_TUNE, "--tune", NULL, "finds the best constexprs first, unless records have them"},
    {OPT_PDL, "--launch-pdl", NULL, "it may start before the kernel before it ends (gdc_wait)"},
    {OPT_COOPERATIVE, "--launch-cooperative-grid", NULL, "all programs run at once, or none"},
    {0},
};

typedef struct {
  Request request;
  const char *device_name, *grid;
  Settings values, outs;
  bool time, tune;
  unsigned flags; /* of the launch */
  nereid_device *device;
  nereid_module *module;
  const nereid_kernel_info *info;
  Arguments args;
  Launch launch;
} Run;

/* ---- the command line ---- */

static int take_run_option(Run *r, int id, const char *value) {
  switch (id) {
    case OPT_GRID: r->grid = value; return STATUS_OK;
    case OPT_DEVICE: r->device_name = value; return STATUS_OK;
    case OPT_TIME: r->time = true; return STATUS_OK;
    case OPT_TUNE: r->tune = true; return STATUS_OK;
    case OPT_PDL: r->flags |= NEREID_LAUNCH_PDL; return STATUS_OK;
    case OPT_COOPERATIVE: r->flags |= NEREID_LAUNCH_COOPERATIVE; return STATUS_OK;
    case OPT_OUT: return settings_add(&r->outs, value, "FILE.npy");
    case ARGS_POSITIONAL:
      if (!r->request.file) return request_file(&r->request, value);
      return request_add_value(&r->request, &r->values, value);
    default: return request_option(&r->request, id, value);
  }
}

static int check_outs(const Run *r) {
  for (int i = 0; i < r->outs.len; i++) {
    const Argument *a = arguments_find(&r->args, r->outs.data[i].name);
    if (!a || !a->array) return args_error(E_CLI_OUT, r->outs.data[i].name);
    for (int j = 0; j < i; j++)
      if (!strcmp(r->outs.data[j].name, a->name))
        return args_error(E_CLI_NAME_TWICE, "--out", a->name);
    int code = files_check(r->outs.data[i].value);
    if (code) return args_failed(code);
  }
  return STATUS_OK;
}

/* ---- results ---- */

static int write_run_outputs(Run *r) {
  int status = STATUS_OK;
  for (int i = 0; i < r->outs.len; i++) {
    const nereid_setting *out = &r->outs.data[i];
    int code = nereid_value_save(arguments_find(&r->args, out->name)->array, out->value);
    if (code) status = args_failed(code);
  }
  for (int i = 0; i < r->args.len && !r->outs.len; i++) {
    const nereid_image *image = r->launch.image;
    const Argument *a = &r->args.data[i];
    int at = a->array ? nereid_image_find_param(image, a->name) : -1;
    nereid_image_param p;
    if (at < 0 || nereid_image_get_param(&p, image, at) || !p.written) continue;
    int code = report_array(a->name, a->array);
    if (code) return args_failed(code);
  }
  return status;
}

static int time_launch(Run *r) {
  nereid_timing t;
  int code = nereid_launch_time(&t, r->launch.launch, NULL, NULL);
  if (code) return args_failed(code);
  printf("time %.2f us  min %.2f  max %.2f  runs %d\n", t.median_us, t.min_us, t.max_us, t.runs);
  return STATUS_OK;
}

/* A kernel that faults ends the process: the lines that it printed are out by then. */
static int run_kernel(Run *r) {
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  Progress *p = progress_start("running", r->info->name);
  int code = nereid_launch_set_flags(r->launch.launch, r->flags);
  if (!code) code = nereid_launch_run(r->launch.launch, NULL);
  if (!code) code = nereid_device_sync(r->device);
  progress_stop(p);
  if (!isatty(STDOUT_FILENO)) setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
  return code;
}

/* Findings of interpreters are reported at the end, with the results. */
static int launch_and_fetch(Run *r) {
  int code = run_kernel(r);
  int status = code ? args_failed(code) : STATUS_OK;
  if (code && code != NEREID_E_FINDINGS) return status;
  int fetched = launch_fetch(&r->launch, &r->args);
  if (!fetched) fetched = write_run_outputs(r);
  if (!fetched && !status && r->time) fetched = time_launch(r);
  return status ? status : fetched;
}

/* ---- all of it ---- */

static int add_tuned_to_run(Run *r) {
  return tuned_add(&(Tuned){.request = &r->request,
                            .values = &r->values,
                            .args = &r->args,
                            .module = r->module,
                            .device = r->device,
                            .grid = r->grid,
                            .tune = r->tune,
                            .first = true});
}

static int run_request(Run *r) {
  uint32_t grid[3];
  int status = request_finish(&r->request);
  if (!status) status = launch_device(&r->device, r->device_name);
  if (!status) status = launch_module(&r->module, &r->info, &r->request);
  if (!status) status = request_args(&r->args, r->info, &r->values);
  if (!status) status = check_outs(r);
  if (!status) status = add_tuned_to_run(r);
  if (!status) status = request_grid(grid, r->grid, &r->request, &r->args);
  if (!status) status = request_check_args(&r->request, &r->args);
  if (!status) status = request_add_types(&r->request, &r->args, r->module);
  if (!status) status = request_finish(&r->request);
  Progress *p = status ? NULL : progress_start("compiling", r->info->name);
  if (!status) status = launch_open(&r->launch, r->device, &r->request.api, grid);
  progress_stop(p);
  if (!status) status = launch_upload(&r->launch, &r->args);
  return status ? status : launch_and_fetch(r);
}

static void run_free(Run *r) {
  launch_free(&r->launch, &r->args);
  launch_device_close(r->device);
  nereid_module_free(r->module);
  arguments_free(&r->args);
  settings_free(&r->values);
  settings_free(&r->outs);
  request_free(&r->request);
}

static int run_run(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Run r = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_run_option(&r, id, value);
  if (status == STATUS_OK) status = run_request(&r);
  run_free(&r);
  return status;
}

static const Operand operands[] = {OPERAND_KERNEL, OPERAND_VALUES, {0}};

const Command command_run = {
    "run",
    "FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --grid X[,Y[,Z]] [OPTION]...",
    "Compiles a kernel, runs it, and prints the arrays that it wrote.",
    options,
    run_run,
    operands,
};
