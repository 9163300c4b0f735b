/* The functions of nereid_graph.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "graph/analysis/attention.h"
#include "model/api/api.h"
#include "model/execute/library_calls.h"
#include "model/execute/tune_plan.h"
#include "model/messages.h"
#include "runtime/device/device.h"
#include "runtime/device/timing.h"
#include "runtime/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/error.h"

/* ---- graphs ---- */

static int copy_source(nereid_graph *g, const nereid_graph_source *s) {
  g->source = *s;
  g->source.path = s->path ? strdup(s->path) : NULL;
  g->source.weights = s->weights ? strdup(s->weights) : NULL;
  bool failed = (s->path && !g->source.path) || (s->weights && !g->source.weights);
  return failed ? error_out_of_memory() : 0;
}

int nereid_graph_open(nereid_graph **out, const nereid_graph_source *source,
                      nereid_message_fn on_message, void *context) {
  REQUIRE_OUT(out);
  REQUIRE(source);
  if (!source->path && !source->data) return error_set(NEREID_E_USAGE, E_GRAPH_NO_SOURCE);
  if (source->nitems > 0) REQUIRE(source->items);
  for (int i = 0; i < source->nitems; i++) REQUIRE(source->items[i].input);
  nereid_graph *g = calloc(1, sizeof *g);
  if (!g) return error_out_of_memory();
  int code = copy_source(g, source);
  if (!code) code = api_read(&g->model, g);
  if (code) {
    nereid_graph_free(g);
    return code;
  }
  error_tell_kept(on_message, context, g->model->lacks);
  if (onnx_has_texts(&g->model->found.texts))
    error_tell_note(on_message, context, N_GRAPH_STRINGS);
  *out = g;
  return 0;
}

void nereid_graph_free(nereid_graph *g) {
  if (!g) return;
  model_free(g->model);
  free((char *)(uintptr_t)g->source.path);
  free((char *)(uintptr_t)g->source.weights);
  free(g);
}

int nereid_graph_has_operator(const char *name) {
  return name ? ops_find(name) != NULL : error_null(__func__, "name");
}

int nereid_graph_attention_widths(int64_t *keys, int64_t *values, int capability, unsigned bits,
                                  int gradients) {
  if (!keys || !values) return error_null(__func__, keys ? "values" : "keys");
  AttentionWidths most = attention_widths(capability, bits, gradients != 0);
  *keys = most.keys;
  *values = most.values;
  return 0;
}

/* ---- stages ---- */

/* The plan for the device that the options name. */
static int plan_for(Model *m, const nereid_graph_options *o) {
  ModeOptions options;
  bool cpu = o->device && strncmp(o->device, "cuda", 4) != 0;
  int code = api_options(&options, o, !cpu);
  bool interprets = o->device && (!strcmp(o->device, "interp") || !strcmp(o->device, "nest"));
  if (interprets) options.compile.libraries = NULL;
  return code ? code : model_plan(m, &options.compile);
}

static int emit_model(Model *m, const nereid_graph_options *o, nereid_graph_kind kind, Text *out) {
  if (kind == NEREID_GRAPH_STRINGS) return model_print(m, kind, out);
  int code = api_check_whole(m);
  if (code) return code;
  bool planned = kind != NEREID_GRAPH_TEXT && !(kind == NEREID_GRAPH_DOT && o->run_passes);
  if (!planned) {
    if (o->run_passes || o->dump_after)
      code = model_run_passes(m, o->run_passes ? o->run_passes : "");
  } else {
    code = plan_for(m, o);
  }
  if (code) return code;
  if (kind != NEREID_GRAPH_EXPLAIN) return model_print(m, kind, out);
  return model_explain(m, o->device ? o->device : "cuda", o->mode ? o->mode : "default", out);
}

int nereid_graph_emit(char **text, size_t *size, nereid_graph *g, const nereid_graph_options *o,
                      nereid_graph_kind kind) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  REQUIRE(g);
  static const nereid_graph_options defaults = {0};
  if ((unsigned)kind >= NEREID_GRAPH_KIND_COUNT)
    return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_KIND, (int)kind);
  Model *m;
  Text out;
  if (!o) o = &defaults;
  bool stays = kind == NEREID_GRAPH_STRINGS && g->model;
  int code = stays ? 0 : api_take_model(&m, g, o);
  if (stays) m = g->model;
  if (!code) code = emit_model(m, o, kind, &out);
  if (!code) code = owned_copy(text, size, out.data, out.len);
  if (!stays) model_free(m);
  return code;
}

int nereid_graph_memory(nereid_planned_memory *out, nereid_graph *g,
                        const nereid_graph_options *o) {
  REQUIRE(out);
  *out = (nereid_planned_memory){0};
  REQUIRE(g);
  static const nereid_graph_options defaults = {0};
  Model *m;
  if (!o) o = &defaults;
  int code = api_take_model(&m, g, o);
  if (!code) code = api_check_whole(m);
  if (!code) code = plan_for(m, o);
  if (!code) code = model_memory(m, o, out);
  model_free(m);
  return code;
}

/* ---- executables ---- */

static nereid_graph_value buffer_value(Arena *a, const PlanBuffer *b) {
  if (!b) return (nereid_graph_value){0};
  ValueType t = plan_type(b);
  Text text = text_new(a);
  Dim number = b->value ? b->value : b->number_of;
  if (number) t = (ValueType){.kind = VALUE_INT, .value = number};
  value_type_print(&text, &t);
  return (nereid_graph_value){
      plan_passed_name(b), text.data, plan_dtype_name(b), plan_dl_dtype(b), (int)plan_rank(b),
      number != NULL, 0};
}

/* The value as the file declares it. */
static nereid_graph_value declared_value(const OnnxOutput *o, int place) {
  return (nereid_graph_value){
      o->name, o->type, dtype_name(o->dtype), array_dl_dtype(o->dtype), o->rank, 0, place};
}

static int describe_body(void *arg) {
  nereid_executable *e = arg;
  Arena *a = e->model->arena;
  e->mode = e->mode ? arena_strndup(a, e->mode, strlen(e->mode)) : "default";
  uint32_t in = executable_inputs(e->e), out = executable_outputs(e->e);
  bool declared = api_is_sized(e);
  if (declared) out = (uint32_t)e->model->found.outputs.len;
  e->noutputs = (int)out;
  e->inputs = ARENA_ARRAY(a, nereid_graph_value, in);
  e->outputs = ARENA_ARRAY(a, nereid_graph_value, out);
  for (uint32_t i = 0; i < in; i++) e->inputs[i] = buffer_value(a, executable_input(e->e, i));
  for (uint32_t i = 0; i < out; i++) {
    if (declared) e->outputs[i] = declared_value(&e->model->found.outputs.data[i], (int)i);
    else e->outputs[i] = buffer_value(a, executable_output(e->e, i));
    if (!declared) e->outputs[i].place = (int)e->model->plan->positions[i];
  }
  return 0;
}

int api_describe(nereid_executable *e) { return error_guard(e->model->arena, describe_body, e); }

int api_tune(nereid_executable *e) {
  double begin = stages_now();
  if (!e->tunes) return 0;
  int code = tune_plan(e->model->plan, e->device, &e->progress);
  if (code) return code;
  stages_done(e->model->stages, "tune", begin);
  e->tunes = false;
  return 0;
}

/* Tuning waits for inputs that are right. */
static int begin_run(nereid_executable *e, const nereid_tensor *inputs, int ninputs, bool data) {
  int code = e->tunes ? execution_check(e->main, inputs, ninputs, data) : 0;
  return code ? code : api_tune(e);
}

typedef struct {
  nereid_executable *e;
  LibraryRecords *records;
} Recording;

static int open_library_records(void *arg) {
  Recording *r = arg;
  r->records = library_records_new(r->e->model->arena, r->e->device);
  return 0;
}

typedef struct {
  nereid_executable *e;
  LibraryRecords *records;
  bool refused; /* a call of the plan was */
} Checking;

static int check_calls_body(void *arg) {
  Checking *c = arg;
  Model *m = c->e->model;
  const PlanStep *step;
  int code = calls_refused(&step, m->arena, m->plan, c->e->device);
  c->refused = step != NULL;
  if (code || !step) return code;
  LibraryProblem p = library_problem(m->graph, step->nodes[0]);
  library_records_refuse(c->records, &p);
  LOG(c->e->device->log, LOG_TUNE, "%s, %s: by kernels, since %s", p.signature, p.sizes,
      nereid_error_message());
  return 0;
}

/* What a library refuses is planned anew, as kernels; the model with which it began is the
 * caller's. */
static int plan_until_taken(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o,
                            ModeOptions *options, LibraryRecords *records) {
  enum { TRIES = 8 };
  const Model *first = e->model;
  Checking c = {e, records, false};
  int code = model_plan(e->model, &options->compile);
  for (int i = 0; i < TRIES && !code; i++) {
    code = error_guard(e->model->arena, check_calls_body, &c);
    if (code || !c.refused) return code;
    Model *before = e->model;
    if (i == TRIES - 1) options->compile.libraries = NULL;
    code = api_take_model(&e->model, g, o);
    if (before != first) model_free(before);
    if (!code) code = model_plan(e->model, &options->compile);
  }
  return code;
}

/* Records say which products libraries compute, once they were measured. */
static int plan_by_records(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o,
                           ModeOptions *options) {
  Recording r = {.e = e};
  int code = error_guard(e->model->arena, open_library_records, &r);
  if (code) return code;
  if (options->measures) api_measure_libraries(e, g, o, options, r.records);
  options->chooser.wants = library_records_want;
  options->chooser.context = r.records;
  options->compile.libraries = &options->chooser;
  Model *first = e->model;
  code = plan_until_taken(e, g, o, options, r.records);
  library_records_close(r.records);
  if (e->model != first) model_free(first);
  return code;
}

/* The first function of CPUs whose library is here; if none is, the first of all, whose call names
 * the library that is missing. */
static bool is_first_here(void *context, const LibraryProblem *p) {
  nereid_device *d = context;
  const LibraryFunction *f;
  for (int i = 0; (f = library_of_kind(NEREID_C, i)); i++)
    if (library_version(d, f)) return f == p->function;
  return p->function == library_of_kind(NEREID_C, 0);
}

/* Interpreters define what is right, and call no library. */
static int plan_model(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o,
                      ModeOptions *options) {
  bool calls = e->device->ops == &device_cuda || e->device->ops == &device_cpu;
  if (!calls) options->compile.libraries = NULL;
  if (e->device->ops == &device_cpu && options->use == LIBRARIES_ALWAYS) {
    options->chooser.wants = is_first_here;
    options->chooser.context = e->device;
  }
  if (calls && options->use == LIBRARIES_BY_RECORDS && !e->model->plan)
    return plan_by_records(e, g, o, options);
  return model_plan(e->model, &options->compile);
}

/* Where no plan holds the open sizes: a plan with the inputs alone, for their descriptions. */
static int plan_inputs_alone(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o,
                             ModeOptions *options, int code) {
  if (api_is_sized(e)) return code;
  Model *whole = e->model;
  code = model_read_inputs(&e->model, &g->source, code);
  if (code) return code;
  model_free(whole);
  code = api_fit_model(e->model, o);
  options->compile.libraries = NULL;
  return code ? code : model_plan(e->model, &options->compile);
}

/* Where constants make kernels faster, and a plan's tiles are not measured. */
static bool fixes_sizes(const nereid_executable *e, const ModeOptions *options) {
  return device_kind(e->device) == NEREID_C && !options->compile.tune;
}

static int make_executable(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o) {
  ModeOptions options;
  bool gpu = e->device->ops == &device_cuda;
  int code = api_options(&options, o, gpu);
  e->mode = o->mode;
  e->progress = (TuneProgress){o->on_progress, o->context};
  e->replay = options.execute.replay;
  if (gpu) {
    peaks_of_device(&options.gpu, e->device);
    options.compile.gpu = &options.gpu;
  }
  if (!code) code = api_take_model(&e->model, g, o);
  bool open = !code && model_is_open(e->model);
  if (!code) code = plan_model(e, g, o, &options);
  if (code == NEREID_E_FILE && open) code = plan_inputs_alone(e, g, o, &options, code);
  bool whole = !code && !api_is_sized(e);
  e->tunes = options.compile.tune && whole;
  options.execute.count = (CompileCount){.fn = o->on_compile, .context = o->on_compile_context};
  bool fixes = open && whole && e->model->onnx && fixes_sizes(e, &options);
  options.execute.defer = o->defer_compile != 0 || !whole || fixes;
  if (!code && !options.execute.defer) code = api_tune(e);
  if (!code) options.execute.stages = e->model->stages;
  if (!code)
    code = executable_new(&e->e, e->model->plan, e->model->weights, e->device, &options.execute);
  if (!code && open && e->model->onnx) code = sized_new(e, o, fixes);
  if (code) return code;
  e->main = executable_main(e->e);
  return api_describe(e);
}

/* What planning and compiling a large model took goes back to the system: the C library keeps the
 * ends of its heaps, in each thread's one, which first runs would not use. */
static void return_memory(const Model *m) {
  enum { LARGE = 4 << 20 };
#ifdef __GLIBC__
  if (m && arena_size(m->arena) >= LARGE) malloc_trim(0);
#else
  (void)m;
#endif
}

int nereid_executable_new(nereid_executable **out, nereid_graph *g, nereid_device *d,
                          const nereid_graph_options *o) {
  REQUIRE_OUT(out);
  REQUIRE(g);
  REQUIRE(d);
  static const nereid_graph_options defaults = {0};
  if (!o) o = &defaults;
  StoredKey key = api_stored_key(g, d, o);
  *out = api_stored_find(&key, d);
  if (*out) return 0;
  nereid_executable *e = calloc(1, sizeof *e);
  if (!e) return error_out_of_memory();
  e->device = d;
  int code = make_executable(e, g, o);
  if (!code) api_stored_keep(e, &key);
  return_memory(e->model);
  if (code) nereid_executable_free(e);
  else *out = e;
  return code;
}

void nereid_executable_free(nereid_executable *e) {
  if (!e) return;
  sized_free(e->sized);
  executable_free(e->e);
  api_unmap(e);
  model_free(e->model);
  free(e->stored);
  free(e);
}

int nereid_executable_ninputs(const nereid_executable *e) {
  REQUIRE(e);
  return (int)executable_inputs(e->e);
}
int nereid_executable_nplaces(const nereid_executable *e) {
  REQUIRE(e);
  return api_is_sized(e) ? e->noutputs : (int)e->model->plan->nreturned;
}

int nereid_executable_noutputs(const nereid_executable *e) {
  REQUIRE(e);
  return e->noutputs;
}

int api_no_such(const char *what, int i, uint32_t n) {
  return error_set(NEREID_E_USAGE, E_GRAPH_NUMBER, what, i, n);
}

int nereid_executable_input(nereid_graph_value *out, const nereid_executable *e, int i) {
  REQUIRE_OUT(out);
  REQUIRE(e);
  uint32_t n = executable_inputs(e->e);
  if (i < 0 || (uint32_t)i >= n) return api_no_such("input", i, n);
  *out = e->inputs[i];
  return 0;
}

int nereid_executable_output(nereid_graph_value *out, const nereid_executable *e, int i) {
  REQUIRE_OUT(out);
  REQUIRE(e);
  uint32_t n = (uint32_t)e->noutputs;
  if (i < 0 || (uint32_t)i >= n) return api_no_such("output", i, n);
  *out = e->outputs[i];
  return 0;
}

int nereid_executable_input_shape(int64_t *shape, nereid_executable *e, const nereid_tensor *given,
                                  int ngiven, int i) {
  REQUIRE(shape);
  REQUIRE(e);
  if (ngiven) REQUIRE(given);
  uint32_t n = executable_inputs(e->e);
  if (i < 0 || (uint32_t)i >= n) return api_no_such("input", i, n);
  if (!executable_input(e->e, (uint32_t)i)) return 0;
  return execution_input_shape(e->main, given, ngiven, (uint32_t)i, shape);
}

int nereid_executable_input_follows(nereid_executable *e, const nereid_tensor *given, int ngiven,
                                    int i) {
  REQUIRE(e);
  if (ngiven) REQUIRE(given);
  uint32_t n = executable_inputs(e->e);
  if (i < 0 || (uint32_t)i >= n) return api_no_such("input", i, n);
  if (!executable_input(e->e, (uint32_t)i)) return 0;
  return execution_input_follows(e->main, given, ngiven, (uint32_t)i);
}

/* ---- running ---- */

int api_describe_outputs(const nereid_executable *e, const Execution *x, nereid_tensor *outputs,
                         int noutputs) {
  if (noutputs != nereid_executable_noutputs(e))
    return error_set(NEREID_E_USAGE, E_GRAPH_OUTPUT_COUNT, (uint32_t)e->noutputs, noutputs);
  for (int i = 0; i < noutputs; i++) execution_describe(x, (uint32_t)i, &outputs[i]);
  return 0;
}

bool api_needs_sized(const nereid_executable *e, const Execution *x, int code) {
  return e->sized && (code ? execution_refused(x) : api_is_sized(e));
}

bool api_fixes_sizes(const nereid_executable *e, Execution *x, const nereid_tensor *inputs,
                     int ninputs) {
  if (!e->sized) return false;
  FirstSizes found = sized_compare(e->sized, inputs, ninputs);
  if (found == SIZES_OPEN || found == SIZES_SAME) return found == SIZES_SAME;
  if (execution_check(x, inputs, ninputs, false)) return false; /* the run reports it */
  if (found == SIZES_OTHER) sized_open(e->sized);
  return found == SIZES_NEW && sized_make_first(e->sized, inputs, ninputs);
}

typedef int Call(nereid_executable *e, const ExecutionCall *c, void *context);

typedef struct {
  Call *call;
  const ExecutionCall *of;
  void *context;
} SizedCall;

static int call_sized(SizedPlan *p, const nereid_tensor *inputs, int n, void *context,
                      bool *refused) {
  const SizedCall *c = context;
  nereid_executable *e = sized_executable(p);
  ExecutionCall of = *c->of;
  of.inputs = inputs;
  of.ninputs = n;
  int code = c->call(e, &of, c->context);
  *refused = code && execution_refused(e->main);
  return code;
}

static int call_with(nereid_executable *e, const ExecutionCall *of, Call *call, void *context) {
  const nereid_tensor *inputs = of->inputs;
  int ninputs = of->ninputs;
  SizedCall c = {call, of, context};
  if (api_fixes_sizes(e, e->main, inputs, ninputs))
    return sized_use(e->sized, inputs, ninputs, call_sized, &c);
  int code = api_is_sized(e) ? execution_check(e->main, inputs, ninputs, true)
                             : call(e, of, context);
  return api_needs_sized(e, e->main, code) ? sized_use(e->sized, inputs, ninputs, call_sized, &c)
                                           : code;
}

static int check_call(nereid_executable *e, const ExecutionCall *c, void *unused) {
  (void)unused;
  int code = execution_check(e->main, c->inputs, c->ninputs, true);
  return code ? code : api_describe_outputs(e, e->main, c->outputs, c->noutputs);
}

int nereid_executable_check(nereid_executable *e, const nereid_tensor *inputs, int ninputs,
                            nereid_tensor *outputs, int noutputs) {
  REQUIRE(e);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  ExecutionCall c = {inputs, ninputs, outputs, noutputs, NULL, {0}};
  return call_with(e, &c, check_call, NULL);
}

static int prepare_call(nereid_executable *e, const ExecutionCall *c, void *unused) {
  (void)unused;
  int code = begin_run(e, c->inputs, c->ninputs, false);
  if (!code) code = execution_prepare(e->main, c->inputs, c->ninputs);
  return code ? code : api_describe_outputs(e, e->main, c->outputs, c->noutputs);
}

int nereid_executable_prepare(nereid_executable *e, const nereid_tensor *inputs, int ninputs,
                              nereid_tensor *outputs, int noutputs) {
  REQUIRE(e);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  ExecutionCall c = {inputs, ninputs, outputs, noutputs, NULL, {0}};
  return call_with(e, &c, prepare_call, NULL);
}

static int run_call(nereid_executable *e, const ExecutionCall *c, void *unused) {
  (void)unused;
  int code = begin_run(e, c->inputs, c->ninputs, true);
  return code ? code : execution_run(e->main, c);
}

int nereid_executable_run(nereid_executable *e, const nereid_tensor *inputs, int ninputs,
                          nereid_tensor *outputs, int noutputs, nereid_stream *s) {
  REQUIRE(e);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  ExecutionCall c = {inputs, ninputs, outputs, noutputs, s, {0}};
  return call_with(e, &c, run_call, NULL);
}

typedef struct {
  nereid_executable *e;
  const nereid_tensor *inputs;
  int ninputs;
  nereid_tensor *outputs;
  int noutputs;
  nereid_stream *stream;
} Run;

static int start_run(void *context) {
  const Run *r = context;
  return nereid_executable_run(r->e, r->inputs, r->ninputs, r->outputs, r->noutputs, r->stream);
}

int nereid_executable_time(nereid_timing *out, nereid_executable *e, const nereid_tensor *inputs,
                           int ninputs, nereid_tensor *outputs, int noutputs, nereid_stream *s,
                           const nereid_time_options *o) {
  REQUIRE_OUT(out);
  REQUIRE(e);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  Run r = {e, inputs, ninputs, outputs, noutputs, s};
  return timing_measure(out, &(TimedRun){start_run, &r, e->device, s, NULL}, o);
}

typedef int PrintRun(nereid_executable *e, const ExecutionCall *c, Text *out);

typedef struct {
  PrintRun *print;
  Text *out;
} Printing;

static int print_call(nereid_executable *e, const ExecutionCall *c, void *printing) {
  const Printing *p = printing;
  int code = begin_run(e, c->inputs, c->ninputs, true);
  return code ? code : p->print(e, c, p->out);
}

static int print_runs(char **text, size_t *size, PrintRun *print, nereid_executable *e,
                      ExecutionCall c) {
  *text = NULL;
  *size = 0;
  Arena *a = arena_new();
  if (!a) return error_out_of_memory();
  Text out = text_new(a);
  Printing p = {print, &out};
  int code = call_with(e, &c, print_call, &p);
  if (!code) code = owned_copy(text, size, out.data, out.len);
  arena_free(a);
  return code;
}

static int print_time_table(nereid_executable *e, const ExecutionCall *c, Text *out) {
  return execution_explain(e->main, c, e->mode, out);
}

static int print_run_trace(nereid_executable *e, const ExecutionCall *c, Text *out) {
  return execution_trace(e->main, c, out);
}

int nereid_executable_explain(char **text, size_t *size, nereid_executable *e,
                              const nereid_tensor *inputs, int ninputs, nereid_tensor *outputs,
                              int noutputs, nereid_stream *s) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  REQUIRE(e);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  ExecutionCall c = {inputs, ninputs, outputs, noutputs, s, {0}};
  return print_runs(text, size, print_time_table, e, c);
}

int nereid_executable_trace(char **text, size_t *size, nereid_executable *e,
                            const nereid_tensor *inputs, int ninputs, nereid_tensor *outputs,
                            int noutputs, nereid_stream *s) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  REQUIRE(e);
  if (ninputs) REQUIRE(inputs);
  if (noutputs) REQUIRE(outputs);
  ExecutionCall c = {inputs, ninputs, outputs, noutputs, s, {0}};
  return print_runs(text, size, print_run_trace, e, c);
}

nereid_executable_info api_info(const Execution *x) {
  ExecutionStatistics s = execution_statistics(x);
  return (nereid_executable_info){s.pool,    s.temporaries,  s.weights,       s.mapped, s.inputs,
                                  s.outputs, (int)s.kernels, (int)s.launches, 0};
}

int nereid_executable_get_info(nereid_executable_info *out, const nereid_executable *e) {
  REQUIRE_OUT(out);
  REQUIRE(e);
  bool sized = e->sized && !execution_is_ready(e->main) && sized_info(e->sized, out);
  if (!sized) *out = api_info(e->main);
  out->stored = e->stored != NULL;
  return 0;
}

int nereid_executable_set_static(nereid_executable *e, int i) {
  REQUIRE(e);
  uint32_t n = executable_inputs(e->e);
  if (i < 0 || (uint32_t)i >= n) return api_no_such("input", i, n);
  executable_set_static(e->e, (uint32_t)i);
  if (e->sized) sized_set_static(e->sized, i);
  return 0;
}
