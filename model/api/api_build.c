/* nereid_graph_build(): a model ahead of time. */
#include <stdio.h>
#include <string.h>

#include "model/aot/project.h"
#include "model/api/api.h"
#include "model/execute/tune_plan.h"
#include "model/messages.h"
#include "runtime/device/device.h"

/* The target of the GPU that is here, else the CPU. */
static int choose_target(char *out, size_t size) {
  nereid_device *d;
  nereid_device_info info;
  snprintf(out, size, "cpu");
  if (nereid_device_count("cuda") <= 0) return 0;
  int code = nereid_device_open(&d, "cuda");
  if (code) return code;
  if (!nereid_device_get_info(&info, d)) snprintf(out, size, "%s", info.target);
  nereid_device_close(d);
  return 0;
}

/* The last part of the file's path. */
static const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return !path ? "a model" : slash ? slash + 1 : path;
}

/* The GPU that is here, if it is of that target; else NULL. */
static nereid_device *find_here(const char *target) {
  nereid_device *d;
  if (nereid_device_count("cuda") <= 0 || device_describe(&d, "cuda")) return NULL;
  if (!strcmp(d->target, target)) return d;
  nereid_device_close(d);
  return NULL;
}

/* Chooses tiles by records, and on request by measuring on the GPU of this machine. */
static int choose_tiles(Plan *p, const char *target, bool measure, const nereid_graph_options *o,
                        const nereid_build_options *b) {
  TuneProgress progress = {o->on_progress, o->context};
  nereid_device *here = measure ? find_here(target) : NULL;
  if (!here) {
    if (measure) error_tell_note(b->on_message, b->context, N_BUILD_ELSEWHERE, target);
    return tune_plan_recorded(p, target, b->on_message, b->context);
  }
  nereid_device_on_message(here, b->on_message, b->context);
  int code = tune_plan(p, here, &progress);
  nereid_device_close(here);
  return code;
}

enum { TARGET_SIZE = 32 };

/* The first of several is what tiles are chosen for. */
static void first_target(char out[TARGET_SIZE], const char *targets) {
  snprintf(out, TARGET_SIZE, "%.*s", (int)strcspn(targets, ","), targets);
}

/* The model, unless it was refused with open sizes: then for the ones that ranges leave. */
static int take_whole(Model **out, Model **open, nereid_graph *g, const nereid_graph_options *o,
                      const nereid_build_options *b) {
  nereid_graph_options fixed = *o;
  fixed.nranges = 0;
  int code = api_take_model(out, g, o);
  if (code || !(*out)->refused) return code;
  *open = *out;
  code = model_read_narrowed(out, &g->source, *open);
  if (!code && *out) return api_fit_model(*out, &fixed);
  if (code) return code;
  error_tell_note(b->on_message, b->context, N_BUILD_SIZES);
  return api_check_whole(*open);
}

static int build_project(nereid_graph *g, const nereid_graph_options *o,
                         const nereid_build_options *b, const char *targets) {
  Model *m = NULL, *open = NULL;
  bool gpu;
  char first[TARGET_SIZE];
  ModeOptions options = {0};
  int code = project_targets(targets, &gpu);
  if (!code) code = api_options(&options, o, gpu);
  options.compile.libraries = NULL;
  bool measure = options.compile.tune;
  if (!code && gpu) {
    first_target(first, targets);
    peaks_of_target(&options.gpu, first);
    options.compile.gpu = &options.gpu;
    options.compile.tune = options.compile.fuse;
  }
  if (!code) code = take_whole(&m, &open, g, o, b);
  if (!code) code = model_plan(m, &options.compile);
  ProjectOptions p = {.dir = b->dir ? b->dir : "",
                      .targets = targets,
                      .model = base_name(g->source.path),
                      .name = b->name,
                      .replay = options.execute.replay == REPLAY_ALWAYS,
                      .embed_weights = b->embed_weights,
                      .ptx_only = b->ptx_only,
                      .count = {.fn = o->on_compile, .context = o->on_compile_context}};
  Project *project = NULL;
  if (!code && onnx_has_texts(&m->found.texts))
    error_tell_note(b->on_message, b->context, N_GRAPH_STRINGS);
  if (!code) code = project_new(&project, m->plan, m->weights, &p);
  if (!code && options.compile.tune) code = choose_tiles(m->plan, first, measure, o, b);
  if (!code) code = project_write(project);
  project_free(project);
  model_free(m);
  model_free(open);
  return code;
}

int nereid_graph_build(nereid_graph *g, const nereid_graph_options *o,
                       const nereid_build_options *b) {
  REQUIRE(g);
  REQUIRE(b);
  static const nereid_graph_options defaults = {0};
  char here[32];
  int code = b->targets ? 0 : choose_target(here, sizeof here);
  return code ? code : build_project(g, o ? o : &defaults, b, b->targets ? b->targets : here);
}
