/* nereid bench: times a kernel over sizes, and draws that beside what was measured elsewhere. */
#include <stdio.h>
#include <string.h>

#include "cli/arguments/launch_request.h"
#include "cli/commands/commands.h"
#include "cli/commands/sweep.h"
#include "cli/messages.h"
#include "cli/report/chart.h"
#include "cli/report/series.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "runtime/messages.h"
#include "runtime/support/files.h"

enum {
  OPT_GRID = REQUEST_OPTIONS_END,
  OPT_X,
  OPT_BYTES,
  OPT_FLOPS,
  OPT_PEER,
  OPT_LABEL,
  OPT_JSON,
  OPT_PLOT,
  OPT_DEVICE,
  OPT_TUNE
};

static const Option options[] = {
    {OPT_X, "--x", "NAME=V1,V2,...", "the sizes: values of an argument, a constexpr or a new name"},
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    REQUEST_OPTIONS,
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu",
     .choices = CHOICES_DEVICE},
    {OPT_TUNE, "--tune", NULL,
     "finds the best constexprs of each size first, unless that is known"},
    {OPT_BYTES, "--bytes", "EXPR", "bytes moved: GB/s instead of us"},
    {OPT_FLOPS, "--flops", "EXPR", "operations computed: TFLOP/s instead of us"},
    {OPT_PEER, "--peer", "FILE.json", "adds a series that --json wrote, here or elsewhere",
     .repeats = true},
    {OPT_LABEL, "--label", "TEXT", "the name of this series; the kernel's is the default"},
    {OPT_JSON, "--json", "FILE.json", "writes the points"},
    {OPT_PLOT, "-o", "FILE.svg", "draws a chart of them"},
    {0},
};

enum { SIZES_MOST = 1000 };

typedef struct {
  Request request;
  Sweep sweep;
  const char *device_name, *label, *json, *plot;
  Settings values, defines;
  Settings x; /* what --x says */
  Strings peers;
  int64_t sizes[SIZES_MOST];
  int nsizes;
  bool left_out;               /* a size that could not be measured */
  Series series[CHART_SERIES]; /* this kernel's, if one is named, then the peers' */
  int nseries;
  int status;
} Bench;

/* ---- the command line ---- */

static int take(Bench *b, int id, const char *value) {
  switch (id) {
    case OPT_X: return settings_add(&b->x, value, "V1,V2,...");
    case OPT_GRID: b->sweep.grid = value; return STATUS_OK;
    case OPT_DEVICE: b->device_name = value; return STATUS_OK;
    case OPT_TUNE: b->sweep.tune = true; return STATUS_OK;
    case OPT_BYTES: b->sweep.bytes = value; return STATUS_OK;
    case OPT_FLOPS: b->sweep.flops = value; return STATUS_OK;
    case OPT_LABEL: b->label = value; return STATUS_OK;
    case OPT_JSON: b->json = value; return STATUS_OK;
    case OPT_PLOT: b->plot = value; return STATUS_OK;
    case OPT_PEER: return strings_add(&b->peers, value, strlen(value)) ? 0 : STATUS_PROBLEM;
    case OPT_DEFINE: return settings_add_value(&b->defines, value);
    case ARGS_POSITIONAL:
      if (!b->request.file) return request_file(&b->request, value);
      return settings_add_value(&b->values, value);
    default: return request_option(&b->request, id, value);
  }
}

/* Sorted, so that points come in the order in which they are drawn. */
static int add_size(Bench *b, const char *text) {
  int64_t v;
  int at = b->nsizes;
  if (at == SIZES_MOST || !sweep_integer(text, &v))
    return args_error(E_CLI_BENCH_SIZE, SIZES_MOST, text);
  for (; at > 0 && b->sizes[at - 1] >= v; at--) {
    if (b->sizes[at - 1] == v) return args_error(E_CLI_BENCH_SIZE, SIZES_MOST, text);
    b->sizes[at] = b->sizes[at - 1];
  }
  b->sizes[at] = v;
  b->nsizes++;
  return STATUS_OK;
}

static bool is_given(const Settings *s, const char *name) {
  for (int i = 0; i < s->len; i++)
    if (!strcmp(s->data[i].name, name)) return true;
  return false;
}

static int read_sizes(Bench *b) {
  Strings parts = {0};
  if (!b->x.len) return args_error(E_CLI_BENCH_SIZES);
  const char *name = b->sweep.x_name = b->x.data[0].name;
  if (is_given(&b->values, name) || is_given(&b->defines, name))
    return args_error(E_RUN_ARG_TWICE, name);
  if (b->sweep.bytes && b->sweep.flops) return args_error(E_CLI_BENCH_UNITS);
  int status = args_split(&parts, b->x.data[0].value) ? STATUS_OK : STATUS_PROBLEM;
  for (int i = 0; i < parts.len && !status; i++) status = add_size(b, parts.data[i]);
  strings_free(&parts);
  return status;
}

/* Without a kernel, what others measured is drawn. */
static int check_no_kernel(const Bench *b) {
  if (b->json) return args_error(E_CLI_NEEDS, "--json", "a kernel file");
  if (b->x.len || !b->peers.len) return args_error(E_CLI_NO_FILE);
  return STATUS_OK;
}

/* Before anything is measured. */
static int check_outputs(const Bench *b) {
  const char *const paths[] = {b->json, b->plot};
  for (int i = 0; i < 2; i++)
    if (paths[i] && strcmp(paths[i], "-") && files_check(paths[i]))
      return args_failed(nereid_error_code());
  return STATUS_OK;
}

static const char *unit_of(const Sweep *s) {
  return s->bytes ? "GB/s" : s->flops ? "TFLOP/s" : "us";
}

/* ---- peers ---- */

static int read_peer(Bench *b, const char *path) {
  if (b->nseries == CHART_SERIES) return args_error(E_CLI_PEERS, CHART_SERIES);
  Series *s = &b->series[b->nseries++];
  const Series *first = &b->series[0];
  int status = series_read(b->sweep.arena, s, path);
  if (status || (!strcmp(s->unit, first->unit) && !strcmp(s->x_name, first->x_name))) return status;
  args_error(E_CLI_PEER_OTHER, path, s->unit, s->x_name, first->unit, first->x_name);
  return STATUS_PROBLEM;
}

static int read_peers(Bench *b) {
  int status = STATUS_OK;
  for (int i = 0; i < b->peers.len && !status; i++) status = read_peer(b, b->peers.data[i]);
  return status;
}

/* ---- measuring ---- */

static void show_progress(const Bench *b, int i) {
  char line[128];
  snprintf(line, sizeof line, "%d of %d  %s=%lld", i + 1, b->nsizes, b->sweep.x_name,
           (long long)b->sizes[i]);
  progress_show(line);
}

/* A size that fails is told and left out; others may do better. */
static int measure_size(Bench *b, int64_t x) {
  SeriesPoint p;
  int status = sweep_measure(&b->sweep, x, &p);
  if (!status) vec_push(b->sweep.arena, &b->series[0].points, p);
  if (!status || status == STATUS_USAGE || nereid_error_code() == NEREID_E_LOST) return status;
  args_error(E_CLI_BENCH_POINT, b->sweep.x_name, (long long)x);
  b->left_out = true;
  return STATUS_OK;
}

static int measure(Bench *b) {
  int status = STATUS_OK;
  for (int i = 0; i < b->nsizes && !status; i++) {
    show_progress(b, i);
    status = measure_size(b, b->sizes[i]);
  }
  progress_end();
  return status || b->series[0].points.len ? status : STATUS_PROBLEM;
}

static int open_kernel(Bench *b) {
  Sweep *s = &b->sweep;
  int status = request_finish(&b->request);
  if (!status) status = launch_device(&s->device, b->device_name);
  if (!status) status = launch_module(&s->module, &s->kernel, &b->request);
  if (!status && !b->label) b->series[0].label = s->kernel->name;
  return status ? status : sweep_check(s);
}

/* ---- results ---- */

typedef void Print(Text *out, const void *what);

static void print_json(Text *out, const void *series) { series_json(out, series); }
static void print_table(Text *out, const void *group) { series_table(out, group); }
static void print_plot(Text *out, const void *group) { series_plot(out, group); }

static const char *title_of(const Sweep *s) {
  nereid_device_info info;
  if (!s->kernel) return "";
  nereid_device_get_info(&info, s->device);
  return arena_printf(s->arena, "%s on %s", s->kernel->name, info.description);
}

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

static int write_results(const Bench *b) {
  SeriesGroup group = {title_of(&b->sweep), b->series, b->nseries};
  int status = STATUS_OK;
  if (b->json) status = output_print(b->json, print_json, &b->series[0]);
  if (!status && b->plot) status = output_print(b->plot, print_plot, &group);
  if (!status && !is_stdout(b->json) && !is_stdout(b->plot))
    status = output_print(NULL, print_table, &group);
  return !status && b->left_out ? STATUS_PROBLEM : status;
}

/* ---- all of it ---- */

static int bench_all(Bench *b) {
  Sweep *s = &b->sweep;
  bool measures = b->request.file;
  int status = measures ? read_sizes(b) : check_no_kernel(b);
  if (!status) status = check_outputs(b);
  if (measures) b->series[b->nseries++] = (Series){b->label, s->x_name, unit_of(s), {0}};
  if (!status) status = read_peers(b);
  if (!status && measures) status = open_kernel(b);
  if (!status && measures) status = measure(b);
  return status ? status : write_results(b);
}

static int bench_body(void *bench) {
  Bench *b = bench;
  b->status = bench_all(b);
  return 0;
}

static void free_all(Bench *b) {
  launch_device_close(b->sweep.device);
  nereid_module_free(b->sweep.module);
  settings_free(&b->values);
  settings_free(&b->defines);
  settings_free(&b->x);
  strings_free(&b->peers);
  request_free(&b->request);
  arena_free(b->sweep.arena);
}

static int run_bench(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Bench b = {.sweep.arena = arena_new()};
  const char *value;
  int id;
  if (!b.sweep.arena) return args_out_of_memory();
  b.sweep.request = &b.request, b.sweep.values = &b.values, b.sweep.defines = &b.defines;
  while (b.status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    b.status = id == ARGS_ERROR ? STATUS_USAGE : take(&b, id, value);
  if (b.status == STATUS_OK) {
    int code = error_guard(b.sweep.arena, bench_body, &b);
    if (code) b.status = args_failed(code);
  }
  free_all(&b);
  return b.status;
}

static const Operand operands[] = {OPERAND_KERNEL, OPERAND_VALUES, {0}};

const Command command_bench = {
    "bench",
    "[FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --x NAME=V1,V2,... --grid X[,Y[,Z]]] "
    "[OPTION]...",
    "Times a kernel over sizes, and draws a chart of it and of earlier measurements.",
    options,
    run_bench,
    operands,
};
