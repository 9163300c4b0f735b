/* nereid run: compiles a kernel, runs it on real arrays, and shows what it wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/request.h"
#include "runtime/files.h"

enum { OPT_GRID = REQUEST_OPTIONS_END, OPT_DEVICE, OPT_OUT, OPT_TIME };

static const Option options[] = {
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    REQUEST_OPTIONS,
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu"},
    {OPT_OUT, "--out", "NAME=FILE.npy", "writes an array to a file instead of printing"},
    {OPT_TIME, "--time", NULL, "measures the kernel"},
    {0},
};

/* An argument of the kernel. */
typedef struct {
  const char *name;
  nereid_value *value;
  const nereid_value *array; /* its own, or another argument's; NULL for numbers */
  void *data;                /* of the array, on the device */
} Argument;

typedef struct {
  Request request;
  const char *device_name, *grid;
  Strings pairs, outs;   /* NAME=VALUE, NAME=FILE: split in place */
  char **texts, **files; /* what stands behind the = */
  bool time;
  Argument *args;
  int nargs;
  uint32_t extents[3];
  nereid_device *device;
  nereid_module *module;
  const nereid_kernel_info *info;
  nereid_image *image;
  nereid_kernel *kernel;
  nereid_launch *launch;
} Run;

/* ---- the command line ---- */

static int take(Run *r, int id, const char *value) {
  switch (id) {
    case OPT_GRID: r->grid = value; return STATUS_OK;
    case OPT_DEVICE: r->device_name = value; return STATUS_OK;
    case OPT_TIME: r->time = true; return STATUS_OK;
    case OPT_OUT: return strings_add(&r->outs, value, strlen(value)) ? STATUS_OK : STATUS_PROBLEM;
    case ARGS_POSITIONAL:
      if (!r->request.file) return request_file(&r->request, value);
      return strings_add(&r->pairs, value, strlen(value)) ? STATUS_OK : STATUS_PROBLEM;
    default: return request_option(&r->request, id, value);
  }
}

static char **split_pairs(const Strings *pairs, const char *what, int *status) {
  char **texts = calloc((size_t)pairs->len + 1, sizeof *texts);
  if (!texts) *status = args_out_of_memory();
  for (int i = 0; texts && i < pairs->len && !*status; i++) {
    texts[i] = args_value(pairs->data[i], what);
    if (!texts[i]) *status = STATUS_USAGE;
  }
  return texts;
}

/* ---- arguments ---- */

static const nereid_param *find_param(const Run *r, const char *name) {
  for (int i = 0; i < r->info->nparams; i++)
    if (!strcmp(r->info->params[i].name, name)) return &r->info->params[i];
  return NULL;
}

static int unknown_param(const Run *r, const char *name) {
  const char *names[256];
  size_t n = 0;
  for (int i = 0; i < r->info->nparams && n < 256; i++) names[n++] = r->info->params[i].name;
  char hint[128];
  return args_error(E_RUN_UNKNOWN_PARAM, r->info->name, name,
                    error_suggest(hint, sizeof hint, name, names, n));
}

static Argument *find_argument(Run *r, const char *name) {
  for (int i = 0; i < r->nargs; i++)
    if (!strcmp(r->args[i].name, name)) return &r->args[i];
  return NULL;
}

static int failed_for(const char *name, int code) {
  const char *text = nereid_error_message();
  fprintf(stderr, "nereid: error: %s: %s\n", name, text);
  return code == NEREID_E_USAGE ? STATUS_USAGE : STATUS_PROBLEM;
}

static bool is_number(const nereid_value *v) {
  nereid_value_kind k = nereid_value_get_kind(v);
  return k == NEREID_VALUE_INT || k == NEREID_VALUE_FLOAT || k == NEREID_VALUE_BOOL;
}

/* A parameter whose type is known takes numbers of that type. */
static int fit_param(const Argument *a, const nereid_param *p) {
  char type[64];
  if (!p->type) return STATUS_OK;
  if (is_number(a->value) && !p->is_pointer) {
    if (nereid_value_is_typed(a->value) || !strcmp(p->type, nereid_value_dtype(a->value)))
      return STATUS_OK;
    int code = nereid_value_cast(a->value, p->type);
    return code ? failed_for(a->name, code) : STATUS_OK;
  }
  if (!p->is_pointer || !a->array) return STATUS_OK;
  nereid_value_type(type, sizeof type, a->array, 0);
  if (strcmp(type, p->type)) return args_error(E_CLI_ARG_TYPE, a->name, p->type, type);
  return STATUS_OK;
}

static int add_argument(Run *r, const char *name, const char *text) {
  const nereid_param *p = find_param(r, name);
  if (!p) return unknown_param(r, name);
  if (p->kind == NEREID_PARAM_CONSTEXPR) return args_error(E_CLI_CONSTEXPR_ARG, name, name, text);
  if (find_argument(r, name)) return args_error(E_RUN_ARG_TWICE, name);
  Argument *a = &r->args[r->nargs];
  a->name = name;
  int code = nereid_value_parse(&a->value, text);
  if (code) return failed_for(name, code);
  r->nargs++;
  if (nereid_value_get_kind(a->value) == NEREID_VALUE_ARRAY) a->array = a->value;
  return STATUS_OK;
}

/* &OTHER: the other one's array. */
static int resolve_alias(Run *r, Argument *a) {
  if (nereid_value_get_kind(a->value) != NEREID_VALUE_ALIAS) return STATUS_OK;
  const char *other = nereid_value_alias(a->value);
  Argument *b = find_argument(r, other);
  if (!b || nereid_value_get_kind(b->value) != NEREID_VALUE_ARRAY)
    return args_error(E_CLI_ALIAS, a->name, other);
  a->array = b->array;
  return STATUS_OK;
}

static int read_arguments(Run *r) {
  int status = STATUS_OK;
  r->args = calloc((size_t)r->pairs.len + 1, sizeof *r->args);
  if (!r->args) return args_out_of_memory();
  for (int i = 0; i < r->pairs.len && !status; i++)
    status = add_argument(r, r->pairs.data[i], r->texts[i]);
  for (int i = 0; i < r->nargs && !status; i++) status = resolve_alias(r, &r->args[i]);
  for (int i = 0; i < r->nargs && !status; i++)
    status = fit_param(&r->args[i], find_param(r, r->args[i].name));
  for (int i = 0; i < r->outs.len && !status; i++) {
    Argument *a = find_argument(r, r->outs.data[i]);
    if (!a || !a->array) status = args_error(E_CLI_OUT, r->outs.data[i]);
    else if (files_check(r->files[i])) status = args_failed(nereid_error_code());
  }
  return status;
}

static bool is_defined(const Run *r, const char *name) {
  for (int i = 0; i < r->request.names.len; i++)
    if (!strcmp(r->request.names.data[i], name)) return true;
  return false;
}

/* Constexprs are for the compiler to miss: it knows their defaults. */
static int check_complete(Run *r) {
  for (int i = 0; i < r->info->nparams; i++) {
    const nereid_param *p = &r->info->params[i];
    if (p->kind == NEREID_PARAM_CONSTEXPR || p->has_default || p->tuned) continue;
    if (!find_argument(r, p->name) && !is_defined(r, p->name))
      return args_error(E_CLI_MISSING_ARG, r->info->name, p->name, p->name);
  }
  return STATUS_OK;
}

/* The types that the kernel is compiled for follow from the values. */
static int add_types(Run *r) {
  char type[64];
  int status = STATUS_OK;
  if (nereid_module_is_ir(r->module)) return STATUS_OK;
  for (int i = 0; i < r->nargs && !status; i++) {
    const Argument *a = &r->args[i];
    const nereid_param *p = find_param(r, a->name);
    int code =
        nereid_value_type(type, sizeof type, a->array ? a->array : a->value, !p->do_not_specialize);
    status = code ? failed_for(a->name, code) : request_add(&r->request, a->name, type, NULL);
  }
  return status;
}

/* ---- the grid ---- */

/* Integers among arguments and constexprs. */
static int bind_names(const Run *r, nereid_binding *names) {
  int n = 0;
  for (int i = 0; i < r->nargs; i++) {
    nereid_value_kind k = nereid_value_get_kind(r->args[i].value);
    if (k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL)
      names[n++] = (nereid_binding){r->args[i].name, nereid_value_int(r->args[i].value)};
  }
  for (int i = 0; i < r->request.names.len; i++) {
    nereid_value *v;
    if (r->request.typed[i] || nereid_value_parse(&v, r->request.texts.data[i])) continue;
    if (nereid_value_get_kind(v) == NEREID_VALUE_INT)
      names[n++] = (nereid_binding){r->request.names.data[i], nereid_value_int(v)};
    nereid_value_free(v);
  }
  return n;
}

static int eval_extent(const nereid_binding *names, int n, const char *text, uint32_t *out) {
  int64_t v;
  int code = nereid_expr_eval(&v, text, names, n);
  if (code) return args_failed(code);
  if (v < 1 || v > UINT32_MAX) {
    args_error(E_CLI_GRID_EXTENT, text, (long long)v);
    return STATUS_PROBLEM;
  }
  *out = (uint32_t)v;
  return STATUS_OK;
}

static int read_grid(Run *r) {
  Strings parts = {0};
  if (!r->grid) return args_error(E_CLI_NO_GRID);
  nereid_binding *names = calloc((size_t)(r->nargs + r->request.names.len) + 1, sizeof *names);
  if (!names) return args_out_of_memory();
  int status = args_split(&parts, r->grid) ? STATUS_OK : STATUS_PROBLEM;
  int n = status ? 0 : bind_names(r, names);
  if (!status && parts.len > 3) status = args_error(E_CLI_GRID_AXES, r->grid);
  for (int i = 0; i < 3; i++) r->extents[i] = 1;
  for (int i = 0; i < parts.len && !status; i++)
    status = eval_extent(names, n, parts.data[i], &r->extents[i]);
  strings_free(&parts);
  free(names);
  return status;
}

/* ---- the device ---- */

static bool interprets(const Run *r) {
  nereid_device_info info;
  nereid_device_get_info(&info, r->device);
  return info.kind == NEREID_TILE || info.kind == NEREID_THREAD;
}

static int place_arrays(Run *r) {
  int code = 0;
  for (int i = 0; i < r->nargs && !code; i++) {
    Argument *a = &r->args[i];
    if (a->array != a->value) continue;
    size_t bytes = nereid_value_bytes(a->value);
    nereid_tensor t;
    nereid_value_tensor(&t, a->value);
    code = nereid_alloc(&a->data, r->device, bytes);
    /* Interpreters know memory that was never written. */
    if (!code && !(nereid_value_is_empty(a->value) && interprets(r)))
      code = nereid_copy_in(r->device, a->data, t.data, bytes, NULL);
  }
  for (int i = 0; i < r->nargs; i++)
    for (int j = 0; j < r->nargs; j++)
      if (r->args[i].array && r->args[i].array == r->args[j].value)
        r->args[i].data = r->args[j].data;
  return code ? args_failed(code) : STATUS_OK;
}

static int set_arguments(Run *r) {
  int code = 0;
  for (int i = 0; i < r->nargs && !code; i++) {
    int at = nereid_image_find_param(r->image, r->args[i].name);
    if (at >= 0) code = nereid_launch_set_value(r->launch, at, r->args[i].value, r->args[i].data);
  }
  return code;
}

/* Back to where the values were, for those that were written or are asked for. */
static int fetch_arrays(Run *r) {
  for (int i = 0; i < r->nargs; i++) {
    const Argument *a = &r->args[i];
    if (a->array != a->value || !a->data) continue;
    nereid_tensor t;
    nereid_value_tensor(&t, a->array);
    int code = nereid_copy_out(r->device, t.data, a->data, nereid_value_bytes(a->array), NULL);
    if (code) return args_failed(code);
  }
  return STATUS_OK;
}

static int compile(Run *r) {
  int code = nereid_compile_for(&r->image, r->device, &r->request.api);
  if (!code) code = nereid_kernel_load(&r->kernel, r->device, r->image);
  if (!code) code = nereid_launch_new(&r->launch, r->kernel, r->extents);
  return code ? args_failed(code) : STATUS_OK;
}

/* ---- results ---- */

static int write_results(Run *r) {
  int status = STATUS_OK;
  for (int i = 0; i < r->outs.len; i++) {
    int code = nereid_value_save(find_argument(r, r->outs.data[i])->array, r->files[i]);
    if (code) status = args_failed(code);
  }
  for (int i = 0; i < r->info->nparams && !r->outs.len; i++) {
    const Argument *a = find_argument(r, r->info->params[i].name);
    int at = a && a->array ? nereid_image_find_param(r->image, a->name) : -1;
    nereid_image_param p;
    if (at < 0 || nereid_image_get_param(&p, r->image, at) || !p.written) continue;
    report_array(a->name, a->array);
  }
  return status;
}

static int time_launch(Run *r) {
  nereid_timing t;
  int code = nereid_launch_time(&t, r->launch, NULL, NULL);
  if (code) return args_failed(code);
  printf("time %.2f us  min %.2f  max %.2f  runs %d\n", t.median_us, t.min_us, t.max_us, t.runs);
  return STATUS_OK;
}

static int launch(Run *r) {
  int code = set_arguments(r);
  if (!code) code = nereid_launch_run(r->launch, NULL);
  if (!code) code = nereid_device_sync(r->device);
  int status = code ? args_failed(code) : STATUS_OK;
  if (code && code != NEREID_E_FINDINGS) return status;
  int fetched = fetch_arrays(r);
  if (!fetched) fetched = write_results(r);
  if (!fetched && !status && r->time) fetched = time_launch(r);
  return status ? status : fetched;
}

/* ---- all of it ---- */

static int open_all(Run *r) {
  if (!r->device_name) r->device_name = nereid_device_count("cuda") > 0 ? "cuda" : "cpu";
  int code = nereid_device_open(&r->device, r->device_name);
  if (code) return args_failed(code);
  nereid_device_on_message(r->device, args_on_message, NULL);
  code = nereid_module_open(&r->module, &r->request.api.source, NULL, NULL);
  if (!code) code = nereid_module_find(&r->info, r->module, r->request.api.kernel);
  return code ? args_failed(code) : STATUS_OK;
}

static int run_all(Run *r) {
  int status = request_finish(&r->request);
  r->texts = split_pairs(&r->pairs, "VALUE", &status);
  r->files = split_pairs(&r->outs, "FILE.npy", &status);
  if (!status) status = open_all(r);
  if (!status) status = read_arguments(r);
  if (!status) status = read_grid(r);
  if (!status) status = check_complete(r);
  if (!status) status = add_types(r);
  if (!status) status = request_finish(&r->request);
  if (!status) status = compile(r);
  if (!status) status = place_arrays(r);
  return status ? status : launch(r);
}

static void free_all(Run *r) {
  nereid_launch_free(r->launch);
  nereid_kernel_free(r->kernel);
  nereid_image_free(r->image);
  nereid_device_close(r->device); /* and the arrays there */
  nereid_module_free(r->module);
  for (int i = 0; i < r->nargs; i++) nereid_value_free(r->args[i].value);
  free(r->args);
  free(r->texts);
  free(r->files);
  strings_free(&r->pairs);
  strings_free(&r->outs);
  request_free(&r->request);
}

static int run(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Run r = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take(&r, id, value);
  if (status == STATUS_OK) status = run_all(&r);
  free_all(&r);
  return status;
}

const Command command_run = {
    "run",
    "FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --grid X[,Y[,Z]] [OPTION]...",
    "Compiles a kernel, runs it, and prints the arrays that it wrote.",
    options,
    run,
};
