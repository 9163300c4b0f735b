/* nereid graph: compiles a model, runs it, and writes or compares what it gives. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/launch.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/ranges.h"
#include "cli/report.h"
#include "graph/nereid_graph.h"

enum {
  OPT_WEIGHTS = 1,
  OPT_OUT_DIR,
  OPT_DEVICE,
  OPT_MODE,
  OPT_EMIT,
  OPT_OUTPUT,
  OPT_RUN_PASSES,
  OPT_TIME,
  OPT_COMPARE,
  OPT_TOL,
  OPT_DTYPE,
  OPT_RANGE,
  OPT_REWRITE,
  OPT_EXPLAIN,
  OPT_TRACE,
  OPT_DUMP_DIR
};

static const Option options[] = {
    {OPT_WEIGHTS, "--weights", "MODEL", "where a graph as text has its parameters from"},
    {OPT_OUT_DIR, "--out-dir", "DIR", "writes output_0.npy ... there instead of printing"},
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu"},
    {OPT_MODE, "--mode", "M",
     "default; eager: a kernel for each operator; reduce-overhead: CUDA graphs; "
     "max-autotune: tiles measured as well"},
    {OPT_EMIT, "--emit", "STAGE",
     "prints instead of running: graph, fused, kernels, plan, explain, or dot for Graphviz"},
    {OPT_OUTPUT, "-o", "FILE", "where --emit prints; standard output if there is none"},
    {OPT_RUN_PASSES, "--run-passes", "P,...",
     "of --emit graph and dot: passes to run before it prints"},
    {OPT_TIME, "--time", NULL, "measures the model, and says what memory it takes"},
    {OPT_COMPARE, "--compare", "DIR", "compares outputs with output_0.npy ... there"},
    {OPT_TOL, "--tol", "E",
     "the error that is allowed, relative to the norm; 1e-4, f16 4e-3, bf16 2e-2"},
    {OPT_DTYPE, "--dtype", "T", "fp32, bf16 or fp16: casts weights and float inputs on load"},
    {OPT_RANGE, "--range", "SYMBOL=LO..HI",
     "a narrower range of a size that the model leaves open"},
    {OPT_REWRITE, "--rewrite", "RULES.py", "rewrite rules of one's own; may be given often"},
    {OPT_EXPLAIN, "--explain", NULL,
     "says what each kernel does, and at least takes; with inputs or --time, what it took"},
    {OPT_TRACE, "--trace", "FILE",
     "writes when what was compiled and ran there, for chrome://tracing or Perfetto"},
    {OPT_DUMP_DIR, "--dump-dir", "DIR",
     "writes what each stage of compiling leaves there, numbered"},
    {0},
};

typedef struct {
  nereid_graph_source source;
  nereid_graph_options options;
  Ranges ranges;
  const char *device_name, *emit, *output, *out_dir, *compare, *trace;
  double tolerance; /* negative: what fits the output's dtype */
  bool time, explain;
  Strings files;         /* of inputs */
  Strings rules;         /* files of rewrite rules */
  Strings numbers;       /* n=5: inputs that are no tensors */
  nereid_value **values; /* what they hold; NULL: moved to `inputs` */
  nereid_tensor *given;  /* of these values */
  nereid_device *device;
  nereid_graph *graph;
  nereid_executable *e;
  int ninputs, noutputs;
  nereid_value **inputs, **outputs;
  nereid_tensor *in, *out; /* of these values */
} Graphs;

/* ---- the command line ---- */

static int read_tolerance(Graphs *g, const char *text) {
  char *end;
  g->tolerance = strtod(text, &end);
  if (end != text && !*end && g->tolerance >= 0) return STATUS_OK;
  return args_error(E_CLI_TOLERANCE, text);
}

static int take_rules(Graphs *g, const char *path) {
  return strings_add(&g->rules, path, strlen(path)) ? STATUS_OK : STATUS_PROBLEM;
}

static int take_positional(Graphs *g, const char *value) {
  if (!*value) return args_error(E_CLI_NO_MODEL);
  if (g->source.path)
    return strings_add(number_is(value) ? &g->numbers : &g->files, value, strlen(value))
               ? STATUS_OK
               : STATUS_PROBLEM;
  g->source.path = value;
  return STATUS_OK;
}

static int take(Graphs *g, int id, const char *value) {
  switch (id) {
    case ARGS_POSITIONAL: return take_positional(g, value);
    case OPT_WEIGHTS: g->source.weights = value; return STATUS_OK;
    case OPT_OUT_DIR: g->out_dir = value; return STATUS_OK;
    case OPT_DEVICE: g->device_name = value; return STATUS_OK;
    case OPT_MODE: g->options.mode = value; return STATUS_OK;
    case OPT_DTYPE: g->options.dtype = value; return STATUS_OK;
    case OPT_EMIT: g->emit = value; return STATUS_OK;
    case OPT_OUTPUT: g->output = value; return STATUS_OK;
    case OPT_RUN_PASSES: g->options.run_passes = value; return STATUS_OK;
    case OPT_TIME: g->time = true; return STATUS_OK;
    case OPT_EXPLAIN: g->explain = true; return STATUS_OK;
    case OPT_TRACE: g->trace = value; return STATUS_OK;
    case OPT_DUMP_DIR: g->options.dump_dir = value; return STATUS_OK;
    case OPT_COMPARE: g->compare = value; return STATUS_OK;
    case OPT_RANGE: return ranges_add(&g->ranges, value);
    case OPT_TOL: return read_tolerance(g, value);
    default: return take_rules(g, value);
  }
}

static int check_options(Graphs *g) {
  g->options.ranges = g->ranges.data;
  g->options.nranges = g->ranges.n;
  g->options.rewrites = (const char *const *)g->rules.data;
  g->options.nrewrites = g->rules.len;
  if (!g->source.path) return args_error(E_CLI_NO_MODEL);
  bool graph = g->emit && (!strcmp(g->emit, "graph") || !strcmp(g->emit, "dot"));
  if (g->options.run_passes && !graph)
    return args_error(E_CLI_NEEDS, "--run-passes", "--emit graph or dot");
  if (g->output && !g->emit) return args_error(E_CLI_NEEDS, "-o", "--emit");
  if (g->trace && g->emit) return args_error(E_CLI_NEEDS, "--trace", "runs without --emit");
  return STATUS_OK;
}

/* ---- --emit ---- */

static int emit(Graphs *g) {
  static const char *const names[] = {"graph", "kernels", "plan", "dot", "fused", "explain"};
  int kind = 0;
  while (kind < NEREID_GRAPH_KIND_COUNT && strcmp(g->emit, names[kind])) kind++;
  char hint[96], *text;
  size_t size;
  if (kind == NEREID_GRAPH_KIND_COUNT)
    return args_error(
        E_CLI_GRAPH_EMIT, g->emit,
        error_suggest(hint, sizeof hint, g->emit, names, sizeof names / sizeof *names));
  g->options.device = g->device_name;
  int code = nereid_graph_emit(&text, &size, g->graph, &g->options, (nereid_graph_kind)kind);
  if (code) return args_failed(code);
  int status = output_write(g->output, text, size);
  nereid_text_free(text);
  return status;
}

/* ---- inputs ---- */

/* NumPy has no such dtypes: their numbers come as others. */
static bool numpy_has(const nereid_graph_value *v) {
  return strcmp(v->dtype, "bf16") != 0 && strncmp(v->dtype, "f8", 2) != 0;
}

static int parse(nereid_value **out, char *text) {
  if (!text) return args_out_of_memory();
  int code = nereid_value_parse(out, text);
  free(text);
  return code ? args_failed(code) : STATUS_OK;
}

static bool is_float(nereid_dl_dtype t) { return t.code == 2 || t.code == 4 || t.code >= 10; }

/* Floats of a file become what the model takes: where NumPy lacks it, and with --dtype. */
static bool is_cast(const Graphs *g, const nereid_graph_value *v, const nereid_value *file) {
  nereid_tensor t;
  if (!v->name || nereid_value_tensor(&t, file)) return false;
  return is_float(t.dtype) && is_float(v->dl_dtype) && (g->options.dtype || !numpy_has(v));
}

/* The files' arrays: the model may need their values when it is read. */
static int load_values(Graphs *g) {
  int status = STATUS_OK;
  g->values = calloc((size_t)g->files.len + 1, sizeof *g->values);
  g->given = calloc((size_t)g->files.len + 1, sizeof *g->given);
  if (!g->values || !g->given) return args_out_of_memory();
  for (int i = 0; i < g->files.len && !status; i++) {
    char *text;
    int n = asprintf(&text, "@%s", g->files.data[i]);
    status = parse(&g->values[i], n < 0 ? NULL : text);
    if (!status) nereid_value_tensor(&g->given[i], g->values[i]);
  }
  g->source.inputs = g->given;
  g->source.ninputs = g->files.len;
  return status;
}

static int load_input(Graphs *g, int i, int file, const nereid_graph_value *v) {
  char *text;
  if (!is_cast(g, v, g->values[file])) {
    g->inputs[i] = g->values[file];
    g->values[file] = NULL;
    return STATUS_OK;
  }
  int n = asprintf(&text, "@%s:%s", g->files.data[file], v->dtype);
  return parse(&g->inputs[i], n < 0 ? NULL : text);
}

static char *draw_text(const nereid_graph_value *v, const int64_t *shape, int seed) {
  char sizes[1024] = "";
  size_t at = 0;
  for (int j = 0; j < v->ndim && at < sizeof sizes - 32; j++)
    at += (size_t)snprintf(sizes + at, sizeof sizes - at, "%s%lld", j ? "," : "",
                           (long long)shape[j]);
  char *text;
  int n = is_float(v->dl_dtype) ? asprintf(&text, "randn:%s[%s]:%d", v->dtype, sizes, seed)
                                : asprintf(&text, "zeros:%s[%s]", v->dtype, sizes);
  return n < 0 ? NULL : text;
}

/* Floats are normal, integers zeros: any of them is an index that a table has. */
static int draw_input(Graphs *g, int i, const nereid_graph_value *v) {
  int64_t shape[64];
  if (!v->name) return parse(&g->inputs[i], strdup("zeros:f32[]"));
  int code = nereid_executable_input_shape(shape, g->e, g->in, g->ninputs, i);
  if (code) return args_failed(code);
  if (v->is_number) return number_of(&g->inputs[i], shape[0]);
  return parse(&g->inputs[i], draw_text(v, shape, i));
}

static int take_number(Graphs *g, const char *text) {
  nereid_graph_value v;
  for (int i = 0; i < g->ninputs; i++) {
    if (nereid_executable_input(&v, g->e, i) || !v.name || !number_is_for(text, v.name)) continue;
    if (v.is_number && !g->inputs[i]) return number_make(&g->inputs[i], text);
  }
  return args_error(E_CLI_INPUT_NUMBER, text);
}

/* What is known of the inputs so far: those that are not have no dtype. */
static void note_inputs(Graphs *g) {
  for (int i = 0; i < g->ninputs; i++)
    if (g->inputs[i]) nereid_value_tensor(&g->in[i], g->inputs[i]);
}

/* Files are inputs in the model's order, but for numbers that are named. */
static int take_files(Graphs *g) {
  int status = STATUS_OK, file = 0;
  for (int i = 0; i < g->ninputs && file < g->files.len && !status; i++) {
    nereid_graph_value v;
    if (g->inputs[i]) continue;
    int code = nereid_executable_input(&v, g->e, i);
    status = code ? args_failed(code) : load_input(g, i, file++, &v);
  }
  if (status || file == g->files.len) return status;
  return args_error(E_CLI_INPUTS, g->ninputs, g->files.len + g->numbers.len);
}

static int draw_rest(Graphs *g) {
  int status = STATUS_OK;
  for (int i = 0; i < g->ninputs && !status; i++) {
    nereid_graph_value v;
    if (g->inputs[i]) continue;
    int code = nereid_executable_input(&v, g->e, i);
    status = code ? args_failed(code) : draw_input(g, i, &v);
    if (!status) nereid_value_tensor(&g->in[i], g->inputs[i]);
  }
  return status;
}

static int make_inputs(Graphs *g) {
  int status = STATUS_OK;
  for (int i = 0; i < g->numbers.len && !status; i++) status = take_number(g, g->numbers.data[i]);
  if (!status) status = take_files(g);
  note_inputs(g);
  return status ? status : draw_rest(g);
}

/* ---- outputs ---- */

static int make_output(Graphs *g, int i) {
  nereid_graph_value v;
  int code = nereid_executable_output(&v, g->e, i);
  if (code) return args_failed(code);
  char sizes[1024] = "", *text;
  size_t at = 0;
  for (int j = 0; j < g->out[i].ndim && at < sizeof sizes - 32; j++)
    at += (size_t)snprintf(sizes + at, sizeof sizes - at, "%s%lld", j ? "," : "",
                           (long long)g->out[i].shape[j]);
  int n = asprintf(&text, "empty:%s[%s]", v.dtype, sizes);
  int status = parse(&g->outputs[i], n < 0 ? NULL : text);
  if (!status) nereid_value_tensor(&g->out[i], g->outputs[i]);
  return status;
}

static int make_outputs(Graphs *g) {
  int code = nereid_executable_prepare(g->e, g->in, g->ninputs, g->out, g->noutputs);
  int status = code ? args_failed(code) : STATUS_OK;
  for (int i = 0; i < g->noutputs && !status; i++) status = make_output(g, i);
  return status;
}

static char *output_path(const char *dir, int i) {
  char *path;
  return asprintf(&path, "%s/output_%d.npy", dir, i) < 0 ? NULL : path;
}

static int write_outputs(const Graphs *g) {
  if (mkdir(g->out_dir, 0777) && errno != EEXIST)
    return args_error(E_RUN_FILE_WRITE, g->out_dir, strerror(errno)), STATUS_PROBLEM;
  for (int i = 0; i < g->noutputs; i++) {
    char *path = output_path(g->out_dir, i);
    if (!path) return args_out_of_memory();
    int code = nereid_value_save(g->outputs[i], path);
    free(path);
    if (code) return args_failed(code);
  }
  return STATUS_OK;
}

static void print_outputs(const Graphs *g) {
  for (int i = 0; i < g->noutputs; i++) {
    char name[32];
    snprintf(name, sizeof name, "output_%d", i);
    report_array(name, g->outputs[i]);
  }
}

/* ---- --compare ---- */

static bool is_integer(const nereid_value *v) {
  nereid_tensor t;
  return !nereid_value_tensor(&t, v) && (t.dtype.code <= 1 || t.dtype.code == 6);
}

static double tolerance_for(const char *dtype) {
  if (!strcmp(dtype, "bf16")) return 2e-2;
  return !strcmp(dtype, "f16") || !strcmp(dtype, "fp16") ? 4e-3 : 1e-4;
}

/* An output in f32 was computed in what --dtype says. */
static double tolerance_of(const Graphs *g, const nereid_value *v) {
  if (g->tolerance >= 0) return g->tolerance;
  double own = tolerance_for(nereid_value_dtype(v));
  double computed = g->options.dtype ? tolerance_for(g->options.dtype) : 0;
  return own > computed ? own : computed;
}

static int other_shape(const nereid_value *output, int i, const nereid_value *expected) {
  char a[COMPARE_SHAPE_SIZE], b[COMPARE_SHAPE_SIZE];
  compare_shape(a, output);
  compare_shape(b, expected);
  args_error(E_CLI_COMPARE_SHAPE, i, a, b);
  return STATUS_PROBLEM;
}

static int compare_output(const Graphs *g, int i, const nereid_value *expected) {
  Difference d;
  double tolerance = tolerance_of(g, g->outputs[i]);
  if (!compare_arrays(&d, g->outputs[i], expected)) return other_shape(g->outputs[i], i, expected);
  printf("output_%d: largest error %.3g, relative %.3g, of the norm %.3g\n", i, d.absolute,
         d.relative, d.norm);
  if (is_integer(g->outputs[i]) ? d.exact : d.norm <= tolerance) return STATUS_OK;
  if (is_integer(g->outputs[i])) args_error(E_CLI_COMPARE_EXACT, i);
  else args_error(E_CLI_COMPARE, i, tolerance);
  return STATUS_PROBLEM;
}

static int compare_outputs(const Graphs *g) {
  int worst = STATUS_OK;
  for (int i = 0; i < g->noutputs; i++) {
    char *text;
    nereid_value *expected = NULL;
    int n = asprintf(&text, "@%s/output_%d.npy", g->compare, i);
    int status = parse(&expected, n < 0 ? NULL : text);
    if (!status) status = compare_output(g, i, expected);
    nereid_value_free(expected);
    if (status) worst = status;
  }
  return worst;
}

/* ---- running ---- */

static int time_runs(const Graphs *g) {
  nereid_timing t;
  nereid_executable_info m;
  int code = nereid_executable_time(&t, g->e, g->in, g->ninputs, g->out, g->noutputs, NULL, NULL);
  if (!code) code = nereid_executable_get_info(&m, g->e);
  if (code) return args_failed(code);
  printf("time %.2f us  min %.2f  max %.2f  runs %d\n", t.median_us, t.min_us, t.max_us, t.runs);
  printf("kernels %d  launches %d\n", m.kernels, m.launches);
  printf("memory %lld bytes of temporaries (%lld without reuse)  %lld of weights (%lld mapped)\n",
         (long long)m.pool, (long long)m.temporaries, (long long)(m.weights + m.mapped),
         (long long)m.mapped);
  return STATUS_OK;
}

/* Of nereid_executable_explain and nereid_executable_trace. */
typedef int PrintRun(char **text, size_t *size, nereid_executable *e, const nereid_tensor *inputs,
                     int ninputs, nereid_tensor *outputs, int noutputs, nereid_stream *s);

static int print_run(const Graphs *g, PrintRun *print, const char *path) {
  char *text;
  size_t size;
  int code = print(&text, &size, g->e, g->in, g->ninputs, g->out, g->noutputs, NULL);
  if (code) return args_failed(code);
  int status = output_write(path, text, size);
  nereid_text_free(text);
  return status;
}

static int run_once(const Graphs *g) {
  int code = nereid_executable_run(g->e, g->in, g->ninputs, g->out, g->noutputs, NULL);
  if (!code) code = nereid_device_sync(g->device);
  return code ? args_failed(code) : STATUS_OK;
}

static int allocate(Graphs *g) {
  g->ninputs = nereid_executable_ninputs(g->e);
  g->noutputs = nereid_executable_noutputs(g->e);
  g->inputs = calloc((size_t)g->ninputs + 1, sizeof *g->inputs);
  g->in = calloc((size_t)g->ninputs + 1, sizeof *g->in);
  g->outputs = calloc((size_t)g->noutputs + 1, sizeof *g->outputs);
  g->out = calloc((size_t)g->noutputs + 1, sizeof *g->out);
  return g->inputs && g->in && g->outputs && g->out ? STATUS_OK : args_out_of_memory();
}

static int run_model(Graphs *g) {
  int status = launch_device(&g->device, g->device_name);
  if (status) return status;
  g->options.on_progress = progress_of_tuner();
  int code = nereid_executable_new(&g->e, g->graph, g->device, &g->options);
  progress_end();
  status = code ? args_failed(code) : allocate(g);
  if (!status) status = make_inputs(g);
  if (!status) status = make_outputs(g);
  if (!status) status = run_once(g);
  if (!status && g->out_dir) status = write_outputs(g);
  if (!status && g->compare) status = compare_outputs(g);
  if (!status && g->time) status = time_runs(g);
  if (!status && g->explain) status = print_run(g, nereid_executable_explain, NULL);
  if (!status && g->trace) status = print_run(g, nereid_executable_trace, g->trace);
  bool quiet = g->out_dir || g->compare || g->time || g->explain || g->trace;
  if (!status && !quiet) print_outputs(g);
  return status;
}

static void free_all(Graphs *g) {
  nereid_executable_free(g->e);
  launch_device_close(g->device);
  nereid_graph_free(g->graph);
  for (int i = 0; g->inputs && i < g->ninputs; i++) nereid_value_free(g->inputs[i]);
  for (int i = 0; g->values && i < g->files.len; i++) nereid_value_free(g->values[i]);
  for (int i = 0; g->outputs && i < g->noutputs; i++) nereid_value_free(g->outputs[i]);
  free(g->inputs);
  free(g->values);
  free(g->given);
  free(g->outputs);
  free(g->in);
  free(g->out);
  strings_free(&g->files);
  strings_free(&g->rules);
  strings_free(&g->numbers);
  ranges_free(&g->ranges);
}

/* What is not supported is told once: here where the graph is only printed, else by compiling. */
static int open_and_run(Graphs *g) {
  int status = load_values(g);
  if (status) return status;
  int code = nereid_graph_open(&g->graph, &g->source, NULL, NULL);
  if (code) return args_failed(code);
  if (g->emit) return emit(g);
  if (!g->device_name) g->device_name = nereid_device_count("cuda") > 0 ? "cuda" : "cpu";
  /* Without a run to measure there is nothing to compile for. */
  bool runs = g->files.len || g->time || g->trace || g->out_dir || g->compare;
  bool only_explain = g->explain && !runs;
  if (only_explain) g->emit = "explain";
  return only_explain ? emit(g) : run_model(g);
}

static int run(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Graphs g = {.tolerance = -1};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take(&g, id, value);
  if (status == STATUS_OK) status = check_options(&g);
  if (status == STATUS_OK) status = open_and_run(&g);
  free_all(&g);
  return status;
}

const Command command_graph = {
    "graph",
    "MODEL [INPUT.npy | NAME=INTEGER]... [OPTION]...",
    "Compiles a model (.pt2, .onnx, a graph or plan as text), runs it, and prints its outputs.",
    options,
    run,
};
