/* nereid graph: compiles a model, runs it, and writes or compares what it gives. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/arguments/graph_options.h"
#include "cli/arguments/items.h"
#include "cli/arguments/launch_request.h"
#include "cli/arguments/model_values.h"
#include "cli/arguments/values.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/args.h"
#include "cli/terminal/array_text.h"
#include "cli/terminal/diagnostics.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "model/messages.h"
#include "model/nereid_graph.h"
#include "runtime/launch/model_value.h"
#include "runtime/messages.h"
#include "runtime/nereid.h"
#include "runtime/support/files.h"

/* Functions on it that return an int return a status, after a message if it is not STATUS_OK. */
typedef struct {
  nereid_graph_source source;
  GraphSettings settings;
  Items items;
  const char *device_name, *emit, *output, *out_dir, *compare, *trace;
  double tolerance; /* negative: what fits the output's dtype */
  bool time, explain, draw;
  bool describes; /* neither inputs nor an option that needs them: prints what the model takes */
  Progress *progress;    /* of compiling, while it lasts */
  Strings files;         /* of inputs, in the model's order */
  Strings named;         /* x=FILE.npy: inputs by their names */
  Strings numbers;       /* n=5: inputs that are no tensors */
  nereid_value **values; /* what they hold; NULL: moved to `inputs` */
  nereid_tensor *given;  /* of these values */
  const char **names;    /* of those that are named; NULL: of the others */
  nereid_device *device;
  nereid_graph *graph;
  nereid_executable *e;
  int ninputs, noutputs;
  nereid_value **inputs, **outputs;
  nereid_value **expected; /* of each output, with --compare */
  nereid_tensor *in, *out; /* of these values */
} Graphs;

enum { GRAPHS_SIZES = 1024 };

/* ---- inputs: from files, numbers, or drawn ---- */

/* NumPy has no such dtypes: their numbers come as others. */
static bool numpy_has(const nereid_graph_value *v) {
  return strcmp(v->dtype, "bf16") != 0 && strncmp(v->dtype, "f8", 2) != 0;
}

/* Parses the text of a value, and frees it; NULL: out of memory. */
static int graphs_parse(nereid_value **out, char *text) {
  if (!text) return args_out_of_memory();
  int code = value_parse_complex(out, text);
  free(text);
  return code ? args_failed(code) : STATUS_OK;
}

static bool is_float_code(nereid_dl_dtype t) { return t.code == 2 || t.code == 4 || t.code >= 10; }
static bool is_complex_code(nereid_dl_dtype t) { return t.code == 5; }

/* Floats of a file become what the model takes: where NumPy lacks it, and with --dtype. */
static bool needs_cast(const Graphs *g, const nereid_graph_value *v, const nereid_value *file) {
  nereid_tensor t;
  if (!v->name || nereid_value_tensor(&t, file)) return false;
  return is_float_code(t.dtype) && is_float_code(v->dl_dtype) &&
         (g->settings.options.dtype || !numpy_has(v));
}

/* The path of value i: a file, or what is named. */
static const char *path_of(const Graphs *g, int i) {
  if (i < g->files.len) return g->files.data[i];
  return strchr(g->named.data[i - g->files.len], '=') + 1;
}

static int load_graph_input(Graphs *g, int i) {
  char *text;
  int n = asprintf(&text, "@%s", path_of(g, i));
  int status = graphs_parse(&g->values[i], n < 0 ? NULL : text);
  if (status) return status;
  nereid_value_tensor(&g->given[i], g->values[i]);
  if (i < g->files.len) return STATUS_OK;
  const char *named = g->named.data[i - g->files.len];
  g->names[i] = strndup(named, (size_t)(strchr(named, '=') - named));
  return g->names[i] ? STATUS_OK : args_out_of_memory();
}

/* The files' arrays: the model may need their values when it is read. */
static int graphs_load(Graphs *g) {
  int status = STATUS_OK, count = g->files.len + g->named.len;
  g->values = calloc((size_t)count + 1, sizeof *g->values);
  g->given = calloc((size_t)count + 1, sizeof *g->given);
  g->names = calloc((size_t)count + 1, sizeof *g->names);
  if (!g->values || !g->given || !g->names) return args_out_of_memory();
  for (int i = 0; i < count && !status; i++) status = load_graph_input(g, i);
  g->source.inputs = g->given;
  g->source.ninputs = count;
  g->source.input_names = g->names;
  return status;
}

static int load_input(Graphs *g, int i, int file, const nereid_graph_value *v) {
  char *text;
  if (!needs_cast(g, v, g->values[file])) {
    g->inputs[i] = g->values[file];
    g->values[file] = NULL;
    return STATUS_OK;
  }
  int n = asprintf(&text, "@%s:%s", path_of(g, file), v->dtype);
  return graphs_parse(&g->inputs[i], n < 0 ? NULL : text);
}

/* "2,3,4" */
static void graphs_print_sizes(char out[GRAPHS_SIZES], const int64_t *shape, int ndim) {
  size_t at = 0;
  out[0] = 0;
  for (int i = 0; i < ndim && at < GRAPHS_SIZES - 32; i++)
    at +=
        (size_t)snprintf(out + at, GRAPHS_SIZES - at, "%s%lld", i ? "," : "", (long long)shape[i]);
}

static char *draw_text(const nereid_graph_value *v, const int64_t *shape, int seed) {
  char sizes[GRAPHS_SIZES], *text;
  graphs_print_sizes(sizes, shape, v->ndim);
  bool drawn = is_float_code(v->dl_dtype) || is_complex_code(v->dl_dtype);
  int n = drawn ? asprintf(&text, "randn:%s[%s]:%d", v->dtype, sizes, seed)
                : asprintf(&text, "zeros:%s[%s]", v->dtype, sizes);
  return n < 0 ? NULL : text;
}

/* Floats are normal, integers zeros: any of them is an index that a table has. */
static int draw_input(Graphs *g, int i, const nereid_graph_value *v) {
  int64_t shape[64];
  if (!v->name) return graphs_parse(&g->inputs[i], strdup("zeros:f32[]"));
  int code = nereid_executable_input_shape(shape, g->e, g->in, g->ninputs, i);
  if (code) return args_failed(code);
  return v->is_number ? number_of(&g->inputs[i], shape[0])
                      : graphs_parse(&g->inputs[i], draw_text(v, shape, i));
}

/* Whoever sees results shall see of which values they are. */
static void tell_drawn(const Graphs *g, int i, const nereid_graph_value *v) {
  char sizes[GRAPHS_SIZES], values[96];
  const nereid_tensor *t = &g->in[i];
  graphs_print_sizes(sizes, t->shape, t->ndim);
  if (v->is_number) snprintf(values, sizeof values, "%lld", (long long)*(int64_t *)t->data);
  else if (!is_float_code(v->dl_dtype) && !is_complex_code(v->dl_dtype))
    snprintf(values, sizeof values, "zeros");
  else snprintf(values, sizeof values, "normal numbers of mean 0 and deviation 1, seed %d", i);
  message_print("note", N_CLI_DRAWN, i, v->name, v->dtype, sizes, values);
}

static int take_number_input(Graphs *g, const char *text) {
  nereid_graph_value v;
  for (int i = 0; i < g->ninputs; i++) {
    if (nereid_executable_input(&v, g->e, i) || !v.name || !number_is_for(text, v.name)) continue;
    if (v.is_number && !g->inputs[i]) return number_make(&g->inputs[i], text);
  }
  return args_error(E_CLI_INPUT_NUMBER, text);
}

/* Known inputs; unknown ones have no dtype. */
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

/* The model's input of that name; -1: none. */
static int find_input(const Graphs *g, const char *name) {
  nereid_graph_value v;
  for (int i = 0; i < g->ninputs; i++)
    if (!nereid_executable_input(&v, g->e, i) && v.name && !strcmp(v.name, name)) return i;
  return -1;
}

static int no_such_name(const Graphs *g, const char *name) {
  char hint[96];
  const char **names = calloc((size_t)g->ninputs + 1, sizeof *names);
  nereid_graph_value v;
  size_t n = 0;
  if (!names) return args_out_of_memory();
  for (int i = 0; i < g->ninputs; i++)
    if (!nereid_executable_input(&v, g->e, i) && v.name) names[n++] = v.name;
  int status = args_error(E_CLI_INPUT_NAME, name, error_suggest(hint, sizeof hint, name, names, n));
  free(names);
  return status;
}

static int take_named_inputs(Graphs *g) {
  int status = STATUS_OK;
  for (int k = g->files.len; k < g->files.len + g->named.len && !status; k++) {
    nereid_graph_value v;
    int i = find_input(g, g->names[k]);
    if (i < 0) return no_such_name(g, g->names[k]);
    if (g->inputs[i]) return args_error(E_CLI_INPUT_TWICE, i, g->names[k]);
    int code = nereid_executable_input(&v, g->e, i);
    status = code ? args_failed(code) : load_input(g, i, k, &v);
  }
  return status;
}

/* An input for which nothing is given: one that is not used may be anything, and a number may
 * follow from the others. */
static int fill_missing_input(Graphs *g, int i) {
  nereid_graph_value v;
  int code = nereid_executable_input(&v, g->e, i);
  if (code) return args_failed(code);
  int follows = v.name ? nereid_executable_input_follows(g->e, g->in, g->ninputs, i) : 0;
  if (follows < 0) return args_failed(follows);
  if (v.name && !follows && !g->draw)
    return args_error(E_CLI_INPUT_MISSING, i, v.name, v.dtype, g->ninputs, v.name);
  int status = draw_input(g, i, &v);
  if (status) return status;
  nereid_value_tensor(&g->in[i], g->inputs[i]);
  if (v.name && !follows) tell_drawn(g, i, &v);
  return STATUS_OK;
}

/* Inputs from files in the model's order and by name; the missing ones are drawn if
 * --random-inputs asks for that. */
static int graphs_make_inputs(Graphs *g) {
  int status = STATUS_OK;
  for (int i = 0; i < g->numbers.len && !status; i++)
    status = take_number_input(g, g->numbers.data[i]);
  if (!status) status = take_files(g);
  if (!status) status = take_named_inputs(g);
  note_inputs(g);
  for (int i = 0; i < g->ninputs && !status; i++)
    if (!g->inputs[i]) status = fill_missing_input(g, i);
  return status;
}

/* ---- outputs: written, printed, compared ---- */

static int make_output(Graphs *g, int i) {
  nereid_graph_value v;
  int code = nereid_executable_output(&v, g->e, i);
  if (code) return args_failed(code);
  char sizes[GRAPHS_SIZES], *text;
  graphs_print_sizes(sizes, g->out[i].shape, g->out[i].ndim);
  int n = asprintf(&text, "empty:%s[%s]", v.dtype, sizes);
  int status = graphs_parse(&g->outputs[i], n < 0 ? NULL : text);
  if (!status) nereid_value_tensor(&g->out[i], g->outputs[i]);
  return status;
}

/* Makes outputs of the shapes that the executable has described. */
static int graphs_make_outputs(Graphs *g) {
  int status = STATUS_OK;
  for (int i = 0; i < g->noutputs && !status; i++) status = make_output(g, i);
  return status;
}

static char *output_path(const char *dir, int i) {
  char *path;
  return asprintf(&path, "%s/output_%d.npy", dir, i) < 0 ? NULL : path;
}

/* The index of output i among all values that the model returns. */
static int output_index(const Graphs *g, int i) {
  nereid_graph_value v;
  return nereid_executable_output(&v, g->e, i) ? i : v.place;
}

/* The folder of --out-dir, in which files can be made then. */
static int graphs_make_out_dir(const Graphs *g) {
  bool made = !mkdir(g->out_dir, 0777);
  struct stat st;
  if (!made && errno == EEXIST && !stat(g->out_dir, &st) && !S_ISDIR(st.st_mode)) errno = ENOTDIR;
  else if (made || (errno == EEXIST && !access(g->out_dir, W_OK | X_OK))) return STATUS_OK;
  args_error(E_RUN_FILE_WRITE, g->out_dir, strerror(errno));
  return STATUS_PROBLEM;
}

static int graphs_write_outputs(const Graphs *g) {
  for (int i = 0; i < g->noutputs; i++) {
    char *path = output_path(g->out_dir, output_index(g, i));
    if (!path) return args_out_of_memory();
    int code = nereid_value_save(g->outputs[i], path);
    free(path);
    if (code) return args_failed(code);
  }
  return STATUS_OK;
}

static int graphs_print_outputs(const Graphs *g) {
  int code = 0;
  for (int index = 0, i = 0; index < nereid_executable_nplaces(g->e) && !code; index++) {
    char name[32];
    snprintf(name, sizeof name, "output_%d", index);
    if (i < g->noutputs && output_index(g, i) == index) code = report_array(name, g->outputs[i++]);
    else printf("%s None\n", name);
  }
  return code ? args_failed(code) : STATUS_OK;
}

/* ---- --compare ---- */

static bool is_integer_tensor(const nereid_value *v) {
  nereid_tensor t;
  return !nereid_value_tensor(&t, v) && (t.dtype.code <= 1 || t.dtype.code == 6);
}

static double tolerance_for(const char *dtype) {
  if (!strcmp(dtype, "bf16")) return 2e-2;
  return !strcmp(dtype, "f16") || !strcmp(dtype, "fp16") ? 4e-3 : 1e-4;
}

/* An output in f32 was computed in the dtype of --dtype. */
static double tolerance_of(const Graphs *g, const nereid_value *v) {
  if (g->tolerance >= 0) return g->tolerance;
  double own = tolerance_for(nereid_value_dtype(v));
  double computed = g->settings.options.dtype ? tolerance_for(g->settings.options.dtype) : 0;
  return own > computed ? own : computed;
}

static int other_shape(const nereid_value *output, int index, const nereid_value *expected) {
  char a[COMPARE_SHAPE_SIZE], b[COMPARE_SHAPE_SIZE];
  compare_shape(a, output);
  compare_shape(b, expected);
  args_error(E_CLI_COMPARE_SHAPE, index, a, b);
  return STATUS_PROBLEM;
}

static int compare_output(const Graphs *g, int i, const nereid_value *expected) {
  Difference d;
  int index = output_index(g, i);
  double tolerance = tolerance_of(g, g->outputs[i]);
  int code = compare_arrays(&d, g->outputs[i], expected);
  if (code) return args_failed(code);
  if (d.of_shapes) return other_shape(g->outputs[i], index, expected);
  printf("output_%d: largest error %.3g, relative %.3g, of the norm %.3g\n", index, d.absolute,
         d.relative, d.norm);
  if (is_integer_tensor(g->outputs[i]) ? d.exact : d.norm <= tolerance) return STATUS_OK;
  if (is_integer_tensor(g->outputs[i])) args_error(E_CLI_COMPARE_EXACT, index);
  else args_error(E_CLI_COMPARE, index, tolerance);
  return STATUS_PROBLEM;
}

/* The files that --compare names. */
static int graphs_load_expected(Graphs *g) {
  int worst = STATUS_OK;
  for (int i = 0; i < g->noutputs; i++) {
    char *text;
    int n = asprintf(&text, "@%s/output_%d.npy", g->compare, output_index(g, i));
    int status = graphs_parse(&g->expected[i], n < 0 ? NULL : text);
    if (status) worst = status;
  }
  return worst;
}

/* Compares the outputs with the expected ones. */
static int graphs_compare_outputs(const Graphs *g) {
  int worst = STATUS_OK;
  for (int i = 0; i < g->noutputs; i++) {
    int status = compare_output(g, i, g->expected[i]);
    if (status) worst = status;
  }
  return worst;
}

/* ---- the command ---- */

enum {
  OPT_WEIGHTS = 1,
  OPT_INPUT,
  OPT_RANDOM,
  OPT_OUT_DIR,
  OPT_DEVICE,
  OPT_EMIT,
  OPT_OUTPUT,
  OPT_TIME,
  OPT_COMPARE,
  OPT_TOL,
  OPT_ITEMS,
  OPT_EXPLAIN,
  OPT_TRACE
};

static const Option options[] = {
    {OPT_WEIGHTS, "--weights", "FILE", "parameters: of a model, of safetensors or GGUF"},
    {OPT_INPUT, "--input", "NAME=FILE", "an input by its name: an array, or an integer",
     .repeats = true},
    {OPT_RANDOM, "--random-inputs", NULL,
     "draws inputs that are not given: normal floats, zeros for integers and truth values"},
    {OPT_OUT_DIR, "--out-dir", "DIR", "writes output_0.npy ... there instead of printing"},
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu",
     .choices = CHOICES_DEVICE},
    {OPT_EMIT, "--emit", "STAGE",
     "prints instead of running: graph, fused, kernels, plan, explain, or dot for Graphviz",
     .choices = "graph fused kernels plan explain dot"},
    {OPT_OUTPUT, "-o", "FILE", "the output file of --emit; standard output is the default"},
    {OPT_TIME, "--time", NULL, "measures time and memory of the model"},
    {OPT_COMPARE, "--compare", "DIR", "compares outputs with output_0.npy ... there"},
    {OPT_TOL, "--tol", "E",
     "the error that is allowed, relative to the norm; 1e-4, f16 4e-3, bf16 2e-2"},
    GRAPH_OPTIONS_OF_GRAPHS
    {OPT_ITEMS, "--items", "NAME=N",
     "of ONNX: the number of tensors of a sequence; none: an optional input is absent",
     .repeats = true},
    {OPT_EXPLAIN, "--explain", NULL,
     "explains each kernel: its work, its least time and, with inputs or --time, its time"},
    {OPT_TRACE, "--trace", "FILE",
     "writes a trace of compiles and runs there, for chrome://tracing or Perfetto"},
    {0},
};

/* ---- the command line ---- */

static int read_tolerance(Graphs *g, const char *text) {
  char *end;
  g->tolerance = strtod(text, &end);
  if (end != text && !*end && g->tolerance >= 0) return STATUS_OK;
  return args_error(E_CLI_TOLERANCE, text);
}

static int take_positional(Graphs *g, const char *value) {
  if (!*value) return args_error(E_CLI_NO_MODEL);
  if (g->source.path)
    return strings_add(number_is(value) ? &g->numbers : &g->files, value, strlen(value))
               ? STATUS_OK
               : STATUS_PROBLEM;
  g->source.path = graph_source_path(value);
  return STATUS_OK;
}

static int take_input(Graphs *g, const char *value) {
  const char *equals = strchr(value, '=');
  if (!equals || equals == value || !equals[1]) return args_error(E_CLI_INPUT_FORM, value);
  return strings_add(number_is(value) ? &g->numbers : &g->named, value, strlen(value))
             ? STATUS_OK
             : STATUS_PROBLEM;
}

static int take_graph_option(Graphs *g, int id, const char *value) {
  switch (id) {
    case ARGS_POSITIONAL: return take_positional(g, value);
    case OPT_WEIGHTS: g->source.weights = value; return STATUS_OK;
    case OPT_INPUT: return take_input(g, value);
    case OPT_RANDOM: g->draw = true; return STATUS_OK;
    case OPT_OUT_DIR: g->out_dir = value; return STATUS_OK;
    case OPT_DEVICE: g->device_name = value; return STATUS_OK;
    case OPT_EMIT: g->emit = value; return STATUS_OK;
    case OPT_OUTPUT: g->output = value; return STATUS_OK;
    case OPT_TIME: g->time = true; return STATUS_OK;
    case OPT_EXPLAIN: g->explain = true; return STATUS_OK;
    case OPT_TRACE: g->trace = value; return STATUS_OK;
    case OPT_COMPARE: g->compare = value; return STATUS_OK;
    case OPT_ITEMS: return items_add(&g->items, value);
    case OPT_TOL: return read_tolerance(g, value);
    default: return graph_settings_take(&g->settings, id, value);
  }
}

static int check_graph_options(Graphs *g) {
  graph_settings_finish(&g->settings);
  g->source.items = g->items.data;
  g->source.nitems = g->items.n;
  if (!g->source.path) return args_error(E_CLI_NO_MODEL);
  bool graph = g->emit && (!strcmp(g->emit, "graph") || !strcmp(g->emit, "dot"));
  if (g->settings.options.run_passes && !graph)
    return args_error(E_CLI_NEEDS, "--run-passes", "--emit graph or dot");
  if (g->output && !g->emit) return args_error(E_CLI_NEEDS, "-o", "--emit");
  if (g->trace && g->emit) return args_error(E_CLI_NEEDS, "--trace", "runs without --emit");
  return STATUS_OK;
}

/* ---- --emit ---- */

static int emit_graph(Graphs *g) {
  static const char *const names[] = {"graph", "kernels", "plan",   "dot",
                                      "fused", "explain", "strings"};
  int kind = 0;
  while (kind < NEREID_GRAPH_KIND_COUNT && strcmp(g->emit, names[kind])) kind++;
  char hint[96], *text;
  size_t size;
  if (kind == NEREID_GRAPH_KIND_COUNT)
    return args_error(
        E_CLI_GRAPH_EMIT, g->emit,
        error_suggest(hint, sizeof hint, g->emit, names, sizeof names / sizeof *names));
  g->settings.options.device = g->device_name;
  int code = nereid_graph_emit(&text, &size, g->graph, &g->settings.options,
                               (nereid_graph_kind)kind);
  if (code) return args_failed(code);
  int status = output_write(g->output, text, size);
  nereid_text_free(text);
  return status;
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

/* The type of nereid_executable_explain and nereid_executable_trace. */
typedef int PrintRun(char **text, size_t *size, nereid_executable *e, const nereid_tensor *inputs,
                     int ninputs, nereid_tensor *outputs, int noutputs, nereid_stream *s);

static int print_graph_run(const Graphs *g, PrintRun *print, const char *path) {
  char *text;
  size_t size;
  int code = print(&text, &size, g->e, g->in, g->ninputs, g->out, g->noutputs, NULL);
  if (code) return args_failed(code);
  int status = output_write(path, text, size);
  nereid_text_free(text);
  return status;
}

static void on_compile(void *context, int done, int total) {
  progress_kernels(((Graphs *)context)->progress, done, total);
}

static void on_tune(void *context, const nereid_tune_progress *t) {
  progress_tuner(((Graphs *)context)->progress, t);
}

static int prepare_executable(Graphs *g) {
  g->progress = progress_start("compiling", g->source.path);
  int code = nereid_executable_prepare(g->e, g->in, g->ninputs, g->out, g->noutputs);
  progress_stop(g->progress);
  g->progress = NULL;
  return code ? args_failed(code) : STATUS_OK;
}

static int run_executable(const Graphs *g) {
  Progress *p = progress_start("running", g->source.path);
  int code = nereid_executable_run(g->e, g->in, g->ninputs, g->out, g->noutputs, NULL);
  if (!code) code = nereid_device_sync(g->device);
  progress_stop(p);
  return code ? args_failed(code) : STATUS_OK;
}

static int allocate_values(Graphs *g) {
  g->ninputs = nereid_executable_ninputs(g->e);
  g->noutputs = nereid_executable_noutputs(g->e);
  g->inputs = calloc((size_t)g->ninputs + 1, sizeof *g->inputs);
  g->in = calloc((size_t)g->ninputs + 1, sizeof *g->in);
  g->outputs = calloc((size_t)g->noutputs + 1, sizeof *g->outputs);
  g->expected = calloc((size_t)g->noutputs + 1, sizeof *g->expected);
  g->out = calloc((size_t)g->noutputs + 1, sizeof *g->out);
  bool all = g->inputs && g->in && g->outputs && g->expected && g->out;
  return all ? STATUS_OK : args_out_of_memory();
}

/* Does an input need a value that only the caller can give? */
static bool takes_inputs(const Graphs *g) {
  nereid_graph_value v;
  for (int i = 0; i < g->ninputs; i++)
    if (!nereid_executable_input(&v, g->e, i) && v.name) return true;
  return false;
}

/* All that can be refused is, before kernels are compiled. */
static int plan_run(Graphs *g) {
  g->settings.options.on_progress = on_tune;
  g->settings.options.on_compile = on_compile;
  g->settings.options.context = g->settings.options.on_compile_context = g;
  g->settings.options.defer_compile = 1;
  Progress *p = progress_start("planning", g->source.path);
  int code = nereid_executable_new(&g->e, g->graph, g->device, &g->settings.options);
  progress_stop(p);
  int status = code ? args_failed(code) : allocate_values(g);
  g->describes = g->describes && !status && takes_inputs(g);
  if (g->describes) return STATUS_OK;
  if (!status) status = graphs_make_inputs(g);
  if (status) return status;
  code = nereid_executable_check(g->e, g->in, g->ninputs, g->out, g->noutputs);
  status = code ? args_failed(code) : STATUS_OK;
  if (!status && g->out_dir) status = graphs_make_out_dir(g);
  if (!status && g->compare) status = graphs_load_expected(g);
  if (status || !g->trace) return status;
  code = files_check(g->trace);
  return code ? args_failed(code) : STATUS_OK;
}

static int run_model(Graphs *g) {
  int status = launch_device(&g->device, g->device_name);
  if (status) return status;
  status = plan_run(g);
  if (!status && g->describes) {
    model_interface_print(g->e, g->source.path);
    return STATUS_OK;
  }
  if (!status) status = prepare_executable(g);
  if (!status) status = graphs_make_outputs(g);
  if (!status) status = run_executable(g);
  if (!status && g->out_dir) status = graphs_write_outputs(g);
  if (!status && g->compare) status = graphs_compare_outputs(g);
  if (!status && g->time) status = time_runs(g);
  if (!status && g->explain) status = print_graph_run(g, nereid_executable_explain, NULL);
  if (!status && g->trace) status = print_graph_run(g, nereid_executable_trace, g->trace);
  bool quiet = g->out_dir || g->compare || g->time || g->explain || g->trace;
  if (!status && !quiet) status = graphs_print_outputs(g);
  return status;
}

static void graphs_free(Graphs *g) {
  nereid_executable_free(g->e);
  launch_device_close(g->device);
  nereid_graph_free(g->graph);
  for (int i = 0; g->inputs && i < g->ninputs; i++) nereid_value_free(g->inputs[i]);
  for (int i = 0; g->values && i < g->files.len + g->named.len; i++)
    nereid_value_free(g->values[i]);
  for (int i = 0; g->outputs && i < g->noutputs; i++) nereid_value_free(g->outputs[i]);
  for (int i = 0; g->expected && i < g->noutputs; i++) nereid_value_free(g->expected[i]);
  free(g->inputs);
  free(g->expected);
  free(g->values);
  free(g->given);
  for (int i = 0; g->names && i < g->named.len; i++) free((char *)g->names[g->files.len + i]);
  free(g->names);
  free(g->outputs);
  free(g->in);
  free(g->out);
  strings_free(&g->files);
  strings_free(&g->named);
  strings_free(&g->numbers);
  graph_settings_free(&g->settings);
  items_free(&g->items);
}

/* The program takes and gives numbers in place of strings. */
static void note_strings(const Graphs *g) {
  char *text;
  size_t size;
  if (nereid_graph_emit(&text, &size, g->graph, NULL, NEREID_GRAPH_STRINGS)) return;
  if (strcmp(text, "{}\n") != 0) message_print("note", N_GRAPH_STRINGS);
  nereid_text_free(text);
}

/* Unsupported operators are reported once: here if the graph is only printed, else by compiling. */
static int open_and_run(Graphs *g) {
  int status = graphs_load(g);
  if (status) return status;
  int code = nereid_graph_open(&g->graph, &g->source, NULL, NULL);
  if (code) return args_failed(code);
  if (g->emit) return emit_graph(g);
  if (!g->device_name) g->device_name = nereid_device_count("cuda") > 0 ? "cuda" : "cpu";
  /* Without a run to measure there is nothing to compile for. */
  bool given = g->files.len || g->named.len || g->numbers.len || g->draw;
  bool runs = given || g->time || g->trace || g->out_dir || g->compare;
  bool only_explain = g->explain && !runs;
  note_strings(g);
  g->describes = !runs;
  if (only_explain) g->emit = "explain";
  return only_explain ? emit_graph(g) : run_model(g);
}

static int run_graph(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Graphs g = {.tolerance = -1, .settings.options.on_pass = output_pass};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_graph_option(&g, id, value);
  if (status == STATUS_OK) status = check_graph_options(&g);
  if (status == STATUS_OK) status = open_and_run(&g);
  graphs_free(&g);
  return status;
}

static const Operand operands[] = {
    OPERAND_MODEL,
    {"INPUT.npy", "an input, in the order of the model's"},
    {"NAME=INTEGER", "an input that is a number"},
    {0},
};

const Command command_graph = {
    "graph",
    "MODEL [INPUT.npy | NAME=INTEGER]... [OPTION]...",
    "Compiles a model (.pt2, .onnx, a graph or plan as text), runs it, and prints its outputs.",
    options,
    run_graph,
    operands,
};
