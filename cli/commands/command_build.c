/* nereid build: a model as a C project of its own, or a kernel as a C source and header. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/arguments/graph_options.h"
#include "cli/arguments/items.h"
#include "cli/arguments/request.h"
#include "cli/arguments/values.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "model/nereid_graph.h"

enum {
  OPT_OUTPUT = REQUEST_OPTIONS_END,
  OPT_SIG,
  OPT_DISJOINT,
  OPT_WEIGHTS,
  OPT_ITEMS,
  OPT_NAME,
  OPT_EMBED,
  OPT_PTX
};

static const Option options[] = {
    {OPT_OUTPUT, "-o", "DIR", "the folder: a new one, an empty one, or one of an earlier build"},
    {OPT_TARGET, "--target", "T,...",
     "GPUs, as sm_90a,sm_80; cpu; or several of cpu:4, cpu:8 (AVX2) and cpu:16 (AVX-512), of which "
     "a run takes the widest that its processor has; this machine's is the default"},
    {OPT_WEIGHTS, "--weights", "FILE", "parameters: of a model, of safetensors or GGUF"},
    BUILD_OPTIONS_OF_GRAPHS
    {OPT_ITEMS, "--items", "NAME=N",
     "of ONNX: the number of tensors of a sequence; none: an optional input is absent",
     .repeats = true},
    {OPT_NAME, "--name", "NAME",
     "functions are NAME_run() ..., files NAME.h and libNAME.a: for programs with several models; "
     "of a kernel NAME_launch() ..."},
    {OPT_EMBED, "--embed-weights", NULL, "weights.bin becomes part of the program"},
    {OPT_PTX, "--ptx-only", NULL, "PTX only, without machine code, even if ptxas is found"},
    {OPT_SIG, "--sig", "NAME=TYPE,...",
     "of a kernel: types of arguments: *fp32, *bf16:16, i32:16, none, (i32,*u8)", .repeats = true},
    {OPT_DEFINE, "-D", "NAME=VALUE", "of a kernel: a constexpr", .repeats = true},
#define OPTION_OF_BUILT(kind, name, dflt, least, most, uses, flag, value, words, help) \
  {OPT_##name, flag, value, "of a kernel: " help, .choices = words},
    NEREID_KERNEL_OPTIONS(OPTION_OF_BUILT, OPTION_HIDDEN)
    {OPT_DISJOINT, "--disjoint", NULL, "of a kernel: its arguments never overlap in memory"},
    {OPT_LANGUAGE, "--language", "V", "of a kernel: Triton's version", .choices = "3.6 3.9"},
    OPTION_IMPORT_PATH,
    {0},
};

typedef struct {
  nereid_graph_source source;
  GraphSettings graph;
  nereid_build_options build;
  Items items;
  Request request; /* of a kernel */
  bool is_kernel, disjoint;
  const char *of_model; /* an option that no kernel has; NULL: none was given */
} Build;

static int take_model(Build *b, const char *path) {
  if (!*path) return args_error(E_CLI_NO_MODEL);
  if (b->source.path) return args_error(E_CLI_BUILD_ONE, b->source.path, path);
  b->source.path = path;
  return STATUS_OK;
}

static int take_kernel_option(Build *b, int id, const char *value) {
  b->is_kernel = true;
  switch (id) {
    case OPT_SIG: return request_signature(&b->request, value);
    case OPT_DISJOINT: b->disjoint = true; return STATUS_OK;
    default: return request_option(&b->request, id, value);
  }
}

static int take_model_option(Build *b, int id, const char *value) {
  b->of_model = args_option_name(options, id);
  switch (id) {
    case OPT_WEIGHTS: b->source.weights = value; return STATUS_OK;
    case OPT_ITEMS: return items_add(&b->items, value);
    case OPT_EMBED: b->build.embed_weights = 1; return STATUS_OK;
    default: return graph_settings_take(&b->graph, id, value);
  }
}

static int take_build_option(Build *b, int id, const char *value) {
  if (id > GRAPH_OPTIONS_BEFORE) return take_model_option(b, id, value);
  switch (id) {
    case ARGS_POSITIONAL: return take_model(b, value);
    case OPT_OUTPUT: b->build.dir = value; return STATUS_OK;
    case OPT_TARGET: b->build.targets = value; return STATUS_OK;
    case OPT_NAME: b->build.name = value; return STATUS_OK;
    case OPT_PTX: b->build.ptx_only = 1; return STATUS_OK;
    case OPT_WEIGHTS:
    case OPT_ITEMS:
    case OPT_EMBED: return take_model_option(b, id, value);
    default: return take_kernel_option(b, id, value);
  }
}

static int build_model(Build *b) {
  nereid_graph *graph = NULL;
  if (!b->source.path) return args_error(E_CLI_NO_MODEL);
  if (!b->build.dir || !*b->build.dir) return args_error(E_CLI_BUILD_DIR);
  b->source.path = graph_source_path(b->source.path);
  graph_settings_finish(&b->graph);
  b->source.items = b->items.data;
  b->source.nitems = b->items.n;
  b->build.on_message = args_on_message;
  Progress *p = progress_start("building", b->source.path);
  b->graph.options.on_progress = progress_tuner;
  b->graph.options.on_compile = progress_kernels;
  b->graph.options.context = b->graph.options.on_compile_context = p;
  int code = nereid_graph_open(&graph, &b->source, NULL, NULL);
  if (!code) code = nereid_graph_build(graph, &b->graph.options, &b->build);
  progress_stop(p);
  nereid_graph_free(graph);
  return code ? args_failed(code) : STATUS_OK;
}

/* ---- kernels ---- */

/* Takes the image, or adds it to the ones before. */
static int add_image(nereid_image **out, nereid_image *image) {
  if (!*out) {
    *out = image;
    return 0;
  }
  int code = nereid_image_add(*out, image);
  nereid_image_free(image);
  return code;
}

static int same_code(bool *same, const nereid_image *x, const nereid_image *y) {
  nereid_variant v, w;
  int code = nereid_image_get_variant(&v, x, 0);
  if (!code) code = nereid_image_get_variant(&w, y, 0);
  *same = !code && v.size == w.size && !memcmp(v.code, w.code, v.size);
  return code;
}

/* The kernel's code for a target, and that without tensor maps for arguments of which there are
 * none, if it is another. */
static int compile_target(nereid_image **out, const nereid_request *like) {
  nereid_request r = *like;
  nereid_image *image, *plain;
  bool same = false;
  int code = nereid_compile(&image, &r, NEREID_PTX);
  if (code) return code;
  r.no_tensor_maps = 1;
  code = nereid_compile(&plain, &r, NEREID_PTX);
  if (!code) code = same_code(&same, image, plain);
  if (!code) code = add_image(out, image);
  if (!code && !same) code = add_image(out, plain);
  else nereid_image_free(plain);
  return code;
}

/* The kernel's code for each of the targets. */
static int compile_targets(nereid_image **out, Build *b) {
  const char *list = b->build.targets ? b->build.targets : "sm_90a";
  nereid_request *r = &b->request.api;
  Strings targets = {0};
  int code = 0, status = args_split(&targets, list) ? STATUS_OK : STATUS_PROBLEM;
  r->alias = b->disjoint ? NEREID_ALIAS_DISJOINT : NEREID_ALIAS_ORDERED;
  for (int i = 0; i < targets.len && !status && !code; i++) {
    r->target = targets.data[i];
    code = compile_target(out, r);
  }
  strings_free(&targets);
  return code ? args_failed(code) : status;
}

/* Machine code in place of PTX, where there is ptxas. */
static int assemble_targets(nereid_image **image, const Build *b) {
  char ptxas[4096] = "";
  nereid_image *machine;
  if (b->build.ptx_only || nereid_find_tool(ptxas, sizeof ptxas, "ptxas") || !*ptxas)
    return STATUS_OK;
  int code = nereid_image_assemble(&machine, *image, NULL);
  if (code) return args_failed(code);
  nereid_image_free(*image);
  *image = machine;
  return STATUS_OK;
}

static int write_file(const Build *b, const char *name, const char *suffix, const char *text) {
  size_t size = strlen(b->build.dir) + strlen(name) + strlen(suffix) + 2;
  char *path = malloc(size);
  if (!path) return args_out_of_memory();
  snprintf(path, size, "%s/%s%s", b->build.dir, name, suffix);
  int status = output_write(path, text, strlen(text));
  free(path);
  return status;
}

static int write_kernel(const Build *b, const nereid_image *image) {
  char *source, *header;
  const char *name = b->build.name ? b->build.name : nereid_image_name(image);
  int code = nereid_image_source(&source, &header, image, b->build.name);
  if (code) return args_failed(code);
  int status = STATUS_OK;
  if (mkdir(b->build.dir, 0777) && errno != EEXIST)
    status = args_error(E_CLI_BUILD_FOLDER, b->build.dir, strerror(errno));
  if (!status) status = write_file(b, name, ".c", source);
  if (!status) status = write_file(b, name, ".h", header);
  nereid_text_free(source);
  nereid_text_free(header);
  return status;
}

static int build_kernel(Build *b) {
  nereid_image *image = NULL;
  if (b->of_model) return args_error(E_CLI_BUILD_OPTION, b->of_model);
  int status = b->source.path ? request_file(&b->request, b->source.path) : STATUS_OK;
  if (!status) status = request_finish(&b->request);
  if (!status && (!b->build.dir || !*b->build.dir)) status = args_error(E_CLI_BUILD_DIR);
  if (status) return status;
  Progress *p = progress_start("building", b->source.path);
  status = compile_targets(&image, b);
  if (!status) status = assemble_targets(&image, b);
  progress_stop(p);
  if (!status) status = write_kernel(b, image);
  nereid_image_free(image);
  return status;
}

static int run_build(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Build b = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_build_option(&b, id, value);
  if (!status) status = b.is_kernel ? build_kernel(&b) : build_model(&b);
  graph_settings_free(&b.graph);
  items_free(&b.items);
  request_free(&b.request);
  return status;
}

static const Operand operands[] = {OPERAND_MODEL, OPERAND_KERNEL, {0}};

const Command command_build = {
    "build",
    "MODEL|FILE[:KERNEL] -o DIR [--sig NAME=TYPE,...] [--target sm_90a,sm_80|cpu] [OPTION]...",
    "Writes a model as a C project that needs no Nereid, or a kernel as a C source and header.",
    options,
    run_build,
    operands,
};
