/* nereid build: a model as a C project of its own. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/ranges.h"
#include "cli/arguments/values.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/progress.h"
#include "graph/nereid_graph.h"

enum {
  OPT_OUTPUT = 1,
  OPT_TARGET,
  OPT_WEIGHTS,
  OPT_MODE,
  OPT_DTYPE,
  OPT_RANGE,
  OPT_NAME,
  OPT_EMBED,
  OPT_PTX,
  OPT_NO_CHECKS
};

static const Option options[] = {
    {OPT_OUTPUT, "-o", "DIR", "the folder: a new one, an empty one, or one of an earlier build"},
    {OPT_TARGET, "--target", "T,...",
     "GPUs, as sm_90a,sm_80, or cpu; this machine's is the default"},
    {OPT_WEIGHTS, "--weights", "MODEL", "parameters of a graph as text"},
    {OPT_MODE, "--mode", "M",
     "default; eager: a kernel for each operator; reduce-overhead: CUDA graphs; "
     "max-autotune: tiles measured as well, on the GPU that is here",
     .choices = CHOICES_MODE},
    {OPT_DTYPE, "--dtype", "T", "fp32, bf16 or fp16: of weights, inputs and the computation",
     .choices = CHOICES_DTYPE},
    {OPT_RANGE, "--range", "SIZE=LO..HI",
     "a narrower range of a size that the model leaves open: s0, or x[0] for axis 0 of input x",
     .repeats = true},
    {OPT_NAME, "--name", "NAME", "functions are NAME_run() ...: for programs with several models"},
    {OPT_EMBED, "--embed-weights", NULL, "weights.bin becomes part of the program"},
    {OPT_PTX, "--ptx-only", NULL, "PTX only, without machine code, even if ptxas is found"},
    {OPT_NO_CHECKS, "--no-checks", NULL, "assumes that indices in the data are in range"},
    {0},
};

typedef struct {
  nereid_graph_source source;
  nereid_graph_options options;
  nereid_build_options build;
  Ranges ranges;
} Build;

static int take_model(Build *b, const char *path) {
  if (!*path) return args_error(E_CLI_NO_MODEL);
  if (b->source.path) return args_error(E_CLI_BUILD_ONE, b->source.path, path);
  b->source.path = path;
  return STATUS_OK;
}

static int take_build_option(Build *b, int id, const char *value) {
  switch (id) {
    case OPT_OUTPUT: b->build.dir = value; return STATUS_OK;
    case OPT_TARGET: b->build.targets = value; return STATUS_OK;
    case OPT_WEIGHTS: b->source.weights = value; return STATUS_OK;
    case OPT_MODE: b->options.mode = value; return STATUS_OK;
    case OPT_DTYPE: b->options.dtype = value; return STATUS_OK;
    case OPT_RANGE: return ranges_add(&b->ranges, value);
    case OPT_NAME: b->build.name = value; return STATUS_OK;
    case OPT_EMBED: b->build.embed_weights = 1; return STATUS_OK;
    case OPT_PTX: b->build.ptx_only = 1; return STATUS_OK;
    case OPT_NO_CHECKS: b->options.no_checks = 1; return STATUS_OK;
    default: return take_model(b, value);
  }
}

static int build_model(Build *b) {
  nereid_graph *graph = NULL;
  if (!b->source.path) return args_error(E_CLI_NO_MODEL);
  if (!b->build.dir || !*b->build.dir) return args_error(E_CLI_BUILD_DIR);
  b->options.ranges = b->ranges.data;
  b->options.nranges = b->ranges.n;
  b->build.on_message = args_on_message;
  Progress *p = progress_start("building", b->source.path);
  b->options.on_progress = progress_tuner;
  b->options.on_compile = progress_kernels;
  b->options.context = b->options.on_compile_context = p;
  int code = nereid_graph_open(&graph, &b->source, NULL, NULL);
  if (!code) code = nereid_graph_build(graph, &b->options, &b->build);
  progress_stop(p);
  nereid_graph_free(graph);
  return code ? args_failed(code) : STATUS_OK;
}

static int run_build(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Build b = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_build_option(&b, id, value);
  if (!status) status = build_model(&b);
  ranges_free(&b.ranges);
  return status;
}

static const Operand operands[] = {OPERAND_MODEL, {0}};

const Command command_build = {
    "build",
    "MODEL -o DIR [--target sm_90a,sm_80|cpu] [OPTION]...",
    "Writes a model as a C project, which `make` builds without Nereid.",
    options,
    run_build,
    operands,
};
