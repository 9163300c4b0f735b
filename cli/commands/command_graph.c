/* nereid graph: compiles a model, runs it, and writes or compares what it gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/launch_request.h"
#include "cli/arguments/numbers.h"
#include "cli/arguments/values.h"
#include "cli/commands/commands.h"
#include "cli/commands/graphs.h"
#include "cli/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "runtime/support/files.h"

enum {
  OPT_WEIGHTS = 1,
  OPT_INPUT,
  OPT_RANDOM,
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
  OPT_DUMP_DIR,
  OPT_NO_CHECKS
};

static const Option options[] = {
    {OPT_WEIGHTS, "--weights", "MODEL", "parameters of a graph as text"},
    {OPT_INPUT, "--input", "NAME=FILE", "an input by its name: an array, or an integer",
     .repeats = true},
    {OPT_RANDOM, "--random-inputs", NULL,
     "draws inputs that are not given: normal floats, zeros for integers and truth values"},
    {OPT_OUT_DIR, "--out-dir", "DIR", "writes output_0.npy ... there instead of printing"},
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu",
     .choices = CHOICES_DEVICE},
    {OPT_MODE, "--mode", "M",
     "default; eager: a kernel for each operator; reduce-overhead: CUDA graphs; "
     "max-autotune: tiles measured as well",
     .choices = CHOICES_MODE},
    {OPT_EMIT, "--emit", "STAGE",
     "prints instead of running: graph, fused, kernels, plan, explain, or dot for Graphviz",
     .choices = "graph fused kernels plan explain dot"},
    {OPT_OUTPUT, "-o", "FILE", "the output file of --emit; standard output is the default"},
    {OPT_RUN_PASSES, "--run-passes", "P,...",
     "of --emit graph and dot: passes to run before it prints"},
    {OPT_TIME, "--time", NULL, "measures time and memory of the model"},
    {OPT_COMPARE, "--compare", "DIR", "compares outputs with output_0.npy ... there"},
    {OPT_TOL, "--tol", "E",
     "the error that is allowed, relative to the norm; 1e-4, f16 4e-3, bf16 2e-2"},
    {OPT_DTYPE, "--dtype", "T", "fp32, bf16 or fp16: casts weights and float inputs on load",
     .choices = CHOICES_DTYPE},
    {OPT_RANGE, "--range", "SIZE=LO..HI",
     "a narrower range of a size that the model leaves open: s0, or x[0] for axis 0 of input x",
     .repeats = true},
    {OPT_REWRITE, "--rewrite", "RULES.py", "user-defined rewrite rules", .repeats = true},
    {OPT_EXPLAIN, "--explain", NULL,
     "explains each kernel: its work, its least time and, with inputs or --time, its time"},
    {OPT_TRACE, "--trace", "FILE",
     "writes a trace of compiles and runs there, for chrome://tracing or Perfetto"},
    {OPT_DUMP_DIR, "--dump-dir", "DIR", "writes the result of each compile stage there, numbered"},
    {OPT_NO_CHECKS, "--no-checks", NULL, "assumes that indices in the data are in range"},
    {0},
};

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

static int take_input(Graphs *g, const char *value) {
  const char *equals = strchr(value, '=');
  if (!equals || equals == value || !equals[1]) return args_error(E_CLI_INPUT_FORM, value);
  return strings_add(number_is(value) ? &g->numbers : &g->named, value, strlen(value))
             ? STATUS_OK
             : STATUS_PROBLEM;
}

static int take(Graphs *g, int id, const char *value) {
  switch (id) {
    case ARGS_POSITIONAL: return take_positional(g, value);
    case OPT_WEIGHTS: g->source.weights = value; return STATUS_OK;
    case OPT_INPUT: return take_input(g, value);
    case OPT_RANDOM: g->draw = true; return STATUS_OK;
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
    case OPT_NO_CHECKS: g->options.no_checks = 1; return STATUS_OK;
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

static void on_compile(void *context, int done, int total) {
  progress_kernels(((Graphs *)context)->progress, done, total);
}

static void on_tune(void *context, const nereid_tune_progress *t) {
  progress_tuner(((Graphs *)context)->progress, t);
}

static int compile(Graphs *g) {
  g->progress = progress_start("compiling", g->source.path);
  int code = nereid_executable_prepare(g->e, g->in, g->ninputs, g->out, g->noutputs);
  progress_stop(g->progress);
  g->progress = NULL;
  return code ? args_failed(code) : STATUS_OK;
}

static int run_once(const Graphs *g) {
  Progress *p = progress_start("running", g->source.path);
  int code = nereid_executable_run(g->e, g->in, g->ninputs, g->out, g->noutputs, NULL);
  if (!code) code = nereid_device_sync(g->device);
  progress_stop(p);
  return code ? args_failed(code) : STATUS_OK;
}

static int allocate(Graphs *g) {
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

/* All that can be refused is, before kernels are compiled. */
static int plan_run(Graphs *g) {
  g->options.on_progress = on_tune;
  g->options.on_compile = on_compile;
  g->options.context = g->options.on_compile_context = g;
  g->options.defer_compile = 1;
  Progress *p = progress_start("planning", g->source.path);
  int code = nereid_executable_new(&g->e, g->graph, g->device, &g->options);
  progress_stop(p);
  int status = code ? args_failed(code) : allocate(g);
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
  if (!status) status = compile(g);
  if (!status) status = graphs_make_outputs(g);
  if (!status) status = run_once(g);
  if (!status && g->out_dir) status = graphs_write_outputs(g);
  if (!status && g->compare) status = graphs_compare_outputs(g);
  if (!status && g->time) status = time_runs(g);
  if (!status && g->explain) status = print_run(g, nereid_executable_explain, NULL);
  if (!status && g->trace) status = print_run(g, nereid_executable_trace, g->trace);
  bool quiet = g->out_dir || g->compare || g->time || g->explain || g->trace;
  if (!status && !quiet) graphs_print_outputs(g);
  return status;
}

static void free_all(Graphs *g) {
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
  strings_free(&g->rules);
  strings_free(&g->numbers);
  ranges_free(&g->ranges);
}

/* What is not supported is told once: here where the graph is only printed, else by compiling. */
static int open_and_run(Graphs *g) {
  int status = graphs_load(g);
  if (status) return status;
  int code = nereid_graph_open(&g->graph, &g->source, NULL, NULL);
  if (code) return args_failed(code);
  if (g->emit) return emit(g);
  if (!g->device_name) g->device_name = nereid_device_count("cuda") > 0 ? "cuda" : "cpu";
  /* Without a run to measure there is nothing to compile for. */
  bool given = g->files.len || g->named.len || g->numbers.len || g->draw;
  bool runs = given || g->time || g->trace || g->out_dir || g->compare;
  bool only_explain = g->explain && !runs;
  if (only_explain) g->emit = "explain";
  return only_explain ? emit(g) : run_model(g);
}

static int run_graph(int argc, char **argv) {
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
