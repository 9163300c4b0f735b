/* nereid tune: finds the fastest configuration of a kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/request.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/report/tune_view.h"
#include "cli/terminal/args.h"
#include "cli/terminal/progress.h"
#include "runtime/nereid_tune.h"
#include "runtime/support/files.h"
#include "runtime/support/host_machine.h"

typedef struct {
  nereid_tune_axis *data;
  int len;
} Axes;

enum { RANGE_MOST = 1024 };

/* 1..5; numbers that are no long make an empty one. */
static bool is_range(const char *text, long *lo, long *hi) {
  char *end;
  errno = 0;
  *lo = strtol(text, &end, 10);
  if (end == text || strncmp(end, "..", 2)) return false;
  const char *from = end + 2;
  *hi = strtol(from, &end, 10);
  if (errno) *lo = 1, *hi = 0;
  return end != from && !*end;
}

static int add_item(Strings *out, const char *item) {
  long lo, hi;
  if (!*item) return STATUS_OK;
  if (!is_range(item, &lo, &hi)) return strings_add(out, item, strlen(item)) ? 0 : STATUS_PROBLEM;
  unsigned long more = (unsigned long)hi - (unsigned long)lo;
  if (lo > hi || more >= RANGE_MOST) return args_error(E_CLI_AXIS_RANGE, item, RANGE_MOST);
  for (unsigned long i = 0; i <= more; i++) {
    char text[32];
    int n = snprintf(text, sizeof text, "%ld", lo + (long)i);
    if (!strings_add(out, text, (size_t)n)) return STATUS_PROBLEM;
  }
  return STATUS_OK;
}

static int add_axis(Axes *a, const char *name, const Strings *values) {
  nereid_tune_axis *data = realloc(a->data, (size_t)(a->len + 1) * sizeof *data);
  if (!data) return args_out_of_memory();
  a->data = data;
  char *copy = strdup(name);
  if (!copy) return args_out_of_memory();
  data[a->len++] = (nereid_tune_axis){copy, (const char *const *)values->data, values->len};
  return STATUS_OK;
}

/* Each returns a status, after a message if it is not STATUS_OK. */
static int axes_add(Axes *a, const char *name, const char *values) {
  Strings items = {0}, all = {0};
  int status = args_split(&items, values) ? STATUS_OK : STATUS_PROBLEM;
  for (int i = 0; i < items.len && !status; i++)
    status = items.len > 1 && !*items.data[i] ? args_error(E_CLI_AXIS_VALUE, values)
                                              : add_item(&all, items.data[i]);
  if (!status) status = add_axis(a, name, &all);
  if (status) strings_free(&all);
  strings_free(&items);
  return status;
}

static int axes_add_pair(Axes *a, const char *pair) {
  char *copy = strdup(pair);
  if (!copy) return args_out_of_memory();
  char *values = args_value(copy, "V1,V2,...");
  int status = values ? axes_add(a, copy, values) : STATUS_USAGE;
  free(copy);
  return status;
}

static void axes_free(Axes *a) {
  for (int i = 0; i < a->len; i++) {
    Strings values = {(char **)(uintptr_t)a->data[i].values, a->data[i].n};
    strings_free(&values);
    free((char *)(uintptr_t)a->data[i].name);
  }
  free(a->data);
  *a = (Axes){0};
}

enum {
  OPT_GRID = REQUEST_OPTIONS_END,
  OPT_SPACE,
  OPT_WARPS,
  OPT_STAGES,
  OPT_BUDGET,
  OPT_DEVICE,
  OPT_SEED,
  OPT_FRESH,
  OPT_JSON,
  OPT_REPORT
};

static const Option options[] = {
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    {OPT_SPACE, "--space", "NAME=V1,V2,...", "values to try of a constexpr; LO..HI is a range",
     .repeats = true},
    {OPT_WARPS, "--num-warps", "N1,N2,...", "warps a program to try"},
    {OPT_STAGES, "--num-stages", "N1,N2,...", "depths of pipelined loops to try"},
    {OPT_BUDGET, "--budget", "SECONDS", "time limit; 0: the cost model chooses, without measuring"},
    {OPT_DEVICE, "--device", "D", "cuda or cpu; cuda if there is a GPU, else cpu",
     .choices = "cuda cpu"},
    {OPT_SEED, "--seed", "N", "the seed of random choices"},
    {OPT_FRESH, "--fresh", NULL, "ignores measurements of earlier runs"},
    {OPT_JSON, "--json", "FILE", "writes all candidates; - is standard output"},
    {OPT_REPORT, "--report", "FILE.html", "writes a page with the ranking and pictures of it"},
    {OPT_DEFINE, "-D", "NAME=VALUE", "a constexpr that is not tuned", .repeats = true},
    OPTION_IMPORT_PATH,
    {0},
};

typedef struct {
  Request request;
  Settings values; /* of run-time arguments */
  Axes axes;
  nereid_tune_request api;
  const char *json, *report;
  Text text;
} Tune;

/* ---- the command line ---- */

/* 10, 10s, 2.5s */
static int take_budget(Tune *t, const char *text) {
  char *end;
  double v = strtod(text, &end);
  bool number = end != text && (!*end || !strcmp(end, "s"));
  if (!number || !(v >= 0 && v <= 1e6)) return args_error(E_CLI_BUDGET, text);
  t->api.budget_s = v;
  t->api.model_only = v == 0;
  return STATUS_OK;
}

static int take_seed(Tune *t, const char *text) {
  int v;
  if (!args_number(&v, "--seed", text, 0, 2147483647)) return STATUS_USAGE;
  t->api.seed = (uint64_t)v;
  return STATUS_OK;
}

static int take_tune_option(Tune *t, int id, const char *value) {
  switch (id) {
    case OPT_GRID: t->api.grid = value; return STATUS_OK;
    case OPT_DEVICE: t->api.device = value; return STATUS_OK;
    case OPT_SPACE: return axes_add_pair(&t->axes, value);
    case OPT_WARPS: return axes_add(&t->axes, "num_warps", value);
    case OPT_STAGES: return axes_add(&t->axes, "num_stages", value);
    case OPT_BUDGET: return take_budget(t, value);
    case OPT_FRESH: t->api.remeasure = 1; return STATUS_OK;
    case OPT_JSON: t->json = value; return STATUS_OK;
    case OPT_REPORT: t->report = value; return STATUS_OK;
    case OPT_SEED: return take_seed(t, value);
    case ARGS_POSITIONAL:
      if (!t->request.file) return request_file(&t->request, value);
      return settings_add_value(&t->values, value);
    default: return request_option(&t->request, id, value);
  }
}

/* ---- all of it ---- */

/* Before any work whose result could not be written. */
static int check_files(const Tune *t) {
  int code = t->json && strcmp(t->json, "-") ? files_check(t->json) : 0;
  if (!code && t->report) code = files_check(t->report);
  return code ? args_failed(code) : STATUS_OK;
}

static TuneView tuning_view(const Tune *t, Arena *a, const nereid_tuning *tuning) {
  int n = nereid_tuning_count(tuning);
  const nereid_candidate **list = ARENA_ARRAY(a, const nereid_candidate *, (size_t)n);
  TuneView v = {.kernel = nereid_tuning_kernel(tuning),
                .device = nereid_tuning_device(tuning),
                .source = nereid_tuning_source(tuning),
                .args = t->values.data,
                .nargs = t->values.len,
                .candidates = list,
                .n = n};
  for (int i = 0; i < n; i++) list[i] = nereid_tuning_candidate(tuning, i);
  nereid_tuning_roof(&v.bandwidth, &v.flops, tuning);
  return v;
}

/* Standard output has the JSON alone, or the table. */
static int write_tuning(Tune *t, const TuneView *v, double spent) {
  int status = STATUS_OK;
  if (t->json) status = tune_json_write(t->json, v);
  if (!status && t->report) status = tune_report_write(t->report, v);
  if (!t->json || strcmp(t->json, "-")) tune_table_print(&t->text, v, spent);
  return status;
}

static int tune_and_report(Tune *t, Arena *a) {
  nereid_tuning *tuning;
  double begin = host_now();
  t->text = text_new(a);
  t->api.kernel = t->request.api;
  t->api.args = t->values.data;
  t->api.nargs = t->values.len;
  t->api.axes = t->axes.data;
  t->api.naxes = t->axes.len;
  Progress *p = progress_start("tuning", t->request.file);
  t->api.on_progress = progress_tuner;
  t->api.context = p;
  int code = nereid_tune(&tuning, &t->api);
  progress_stop(p);
  if (code) return args_failed(code);
  TuneView v = tuning_view(t, a, tuning);
  int status = write_tuning(t, &v, host_now() - begin);
  nereid_tuning_free(tuning);
  return status;
}

typedef struct {
  Tune *tune;
  Arena *arena;
  int status;
} Work;

static int tune_body_in_arena(void *arg) {
  Work *w = arg;
  w->status = tune_and_report(w->tune, w->arena);
  return 0;
}

static int tune_in_arena(Tune *t) {
  Work w = {t, arena_new(), STATUS_OK};
  int code = w.arena ? error_guard(w.arena, tune_body_in_arena, &w) : error_out_of_memory();
  arena_free(w.arena);
  return code ? args_failed(code) : w.status;
}

static int run_tune(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Tune t = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_tune_option(&t, id, value);
  if (!status) status = request_finish(&t.request);
  if (!status) status = check_files(&t);
  if (!status) status = tune_in_arena(&t);
  axes_free(&t.axes);
  settings_free(&t.values);
  request_free(&t.request);
  return status;
}

static const Operand operands[] = {OPERAND_KERNEL, OPERAND_VALUES, {0}};

const Command command_tune = {
    "tune",
    "FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --grid X[,Y[,Z]] [OPTION]...",
    "Finds the fastest configuration of a kernel on a device.",
    options,
    run_tune,
    operands,
};
