/* nereid estimate: how long a launch will take, by the model, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/launch_request.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/report/tune_view.h"
#include "cli/terminal/progress.h"
#include "runtime/compile/estimate_request.h"
#include "runtime/launch/decorators.h"
#include "runtime/messages.h"
#include "runtime/search/deterministic_failure.h"
#include "runtime/support/parallel.h"

enum { OPT_GRID = REQUEST_OPTIONS_END, OPT_DEVICE, RANKED_MOST = 20 };

static const Option options[] = {
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    {OPT_DEVICE, "--device", "D", "cuda (the default; an H200 if there is no GPU) or cpu",
     .choices = "cuda cpu"},
    REQUEST_OPTIONS,
    {0},
};

/* The kernel with one configuration. */
typedef struct {
  Config config;   /* as decorators give it */
  Config complete; /* with the constexprs that heuristics add */
  nereid_request request;
  const nereid_binding *ints;
  int nints;
  char *failure; /* one line, malloc'ed; NULL: none */
  Estimate found;
} Guess;

typedef struct {
  Request request;
  const char *grid, *device;
  Settings values;
  nereid_module *module;
  const nereid_kernel_info *kernel;
  Arguments args;
  Decorators *decorators;
  nereid_device *machine; /* NULL: the device is not here */
  Arena *arena;
  DevicePeaks peaks;
  Guess *guesses;
  size_t n;
  int status;
} Estimation;

static int take_estimate_option(Estimation *e, int id, const char *value) {
  switch (id) {
    case OPT_GRID: e->grid = value; return STATUS_OK;
    case OPT_DEVICE: e->device = value; return STATUS_OK;
    case ARGS_POSITIONAL:
      if (!e->request.file) return request_file(&e->request, value);
      return request_add_value(&e->request, &e->values, value);
    default: return request_option(&e->request, id, value);
  }
}

static bool is_cpu(const char *target) { return target && !strncmp(target, "cpu", 3); }

/* The device determines the target if that is not given. */
static int choose_target(Estimation *e) {
  const char **target = &e->request.api.target;
  if (e->device && *target && is_cpu(e->device) != is_cpu(*target))
    return args_error(E_CLI_DEVICE_TARGET, e->device, *target);
  if (is_cpu(e->device) && !*target) *target = "cpu";
  return STATUS_OK;
}

/* ---- configurations ---- */

static bool has_open_constexpr(const Estimation *e) {
  for (int i = 0; i < e->kernel->nparams; i++) {
    const nereid_param *p = &e->kernel->params[i];
    bool constexpr = p->kind == NEREID_PARAM_CONSTEXPR || p->tuned;
    if (constexpr && !p->has_default && !request_has(&e->request, p->name)) return true;
  }
  return false;
}

static Guess *add_guess(Estimation *e, const Config *c, const Config *complete) {
  Guess *g = &e->guesses[e->n++];
  nereid_request r = decorators_request(e->arena, &e->request.api, e->kernel, complete);
  nereid_binding *ints = ARENA_ARRAY(e->arena, nereid_binding, (size_t)(e->args.len + r.nargs) + 1);
  *g = (Guess){*c, *complete, r, ints, 0, NULL, {0}};
  g->nints = arguments_bind(ints, &e->args, &r);
  return g;
}

/* A configuration that heuristics can't complete is one that fails. */
static void add_config(Estimation *e, const Config *c) {
  Config full;
  int code = decorators_complete(&full, e->decorators, c);
  Guess *g = add_guess(e, c, code ? c : &full);
  if (code) g->failure = failure_first_line(nereid_error_message());
}

/* Configurations that the kernel's decorators give; where a constexpr has no value, also those that
 * are derived from the kernel. */
static int add_space(Estimation *e, bool open) {
  DecoratorSpace s;
  int code = open ? decorators_space(&s, e->decorators) : decorators_declared(&s, e->decorators);
  if (code) return open ? args_failed(code) : STATUS_OK;
  e->guesses = ARENA_ARRAY(e->arena, Guess, s.configs.len + 1);
  for (size_t i = 0; i < s.configs.len; i++) add_config(e, &s.configs.data[i]);
  if (!e->n) add_config(e, &(Config){0});
  return STATUS_OK;
}

/* Decorators that can't be evaluated are no failure if the constexprs are known. */
static int ask_decorators(Estimation *e, const nereid_device_info *machine) {
  bool open = has_open_constexpr(e);
  DecoratorArg *given = ARENA_ARRAY(e->arena, DecoratorArg, (size_t)e->args.len + 1);
  nereid_request *r = ARENA_NEW(e->arena, nereid_request); /* outlives the decorators */
  for (int i = 0; i < e->args.len; i++) given[i] = decorator_arg(&e->args.data[i]);
  *r = e->request.api;
  if (!open) r->on_message = NULL;
  int code = decorators_open(&e->decorators, r, given, e->args.len, machine);
  if (code) return open ? args_failed(code) : STATUS_OK;
  return add_space(e, open);
}

/* Questions of the file about the machine are answered for the device, if it is here. */
static int add_configs(Estimation *e) {
  nereid_device_info info;
  const char *target = e->request.api.target;
  if (nereid_module_is_ir(e->module)) return STATUS_OK;
  if (!has_open_constexpr(e) && !e->kernel->is_decorated) return STATUS_OK;
  if (is_cpu(target)) nereid_device_open(&e->machine, "cpu");
  else if (!target && nereid_device_count("cuda") > 0) nereid_device_open(&e->machine, "cuda");
  if (!e->machine) return ask_decorators(e, NULL);
  nereid_device_get_info(&info, e->machine);
  return ask_decorators(e, &info);
}

/* ---- estimates ---- */

static int estimate_guess(const Estimation *e, Guess *g, nereid_message_fn on_message) {
  nereid_request r = g->request;
  r.on_message = on_message;
  EstimateLaunch l = {&r, &e->peaks, {0}, g->ints, g->nints};
  int code = arguments_grid(l.grid, e->grid, g->ints, g->nints);
  return code ? code : estimate_launch(&g->found, &l);
}

static void estimate_one(void *context, size_t i) {
  const Estimation *e = context;
  Guess *g = &e->guesses[i];
  if (!g->failure && estimate_guess(e, g, NULL))
    g->failure = failure_first_line(nereid_error_message());
}

/* The failed guess is made again, in this thread, for its diagnostics: of the first time only a
 * line was kept. */
static int print_failure(const Estimation *e, Guess *g) {
  Config full;
  int code = decorators_complete(&full, e->decorators, &g->config);
  if (!code) code = estimate_guess(e, g, e->request.api.on_message);
  return args_failed(code ? code : error_set(NEREID_E_KERNEL, "%s", g->failure));
}

static void print_parts(const Estimation *e, const Guess *g) {
  Text config = text_new(e->arena), parts = text_new(e->arena);
  config_print(&config, &g->complete);
  estimate_print(&parts, &g->found);
  if (g->complete.n) printf("%-18s %s\n", "configuration", config.data);
  printf("%-18s %s\n%s", "device", e->peaks.device, parts.data);
}

/* This thread does it, since its last failure is the message. */
static int estimate_only(Estimation *e) {
  Guess *g = &e->guesses[0];
  if (g->failure) return print_failure(e, g);
  int code = estimate_guess(e, g, e->request.api.on_message);
  if (code) return args_failed(code);
  print_parts(e, g);
  return STATUS_OK;
}

/* ---- several configurations ---- */

static double rank_of(const Guess *g) {
  return g->failure ? 2e300 : g->found.us > 0 ? g->found.us : 1e300;
}

/* Equals stay in the order of the configurations. */
static int faster_first(const void *a, const void *b) {
  const Guess *x = *(Guess *const *)a, *y = *(Guess *const *)b;
  double fx = rank_of(x), fy = rank_of(y);
  return fx < fy ? -1 : fx > fy ? 1 : x < y ? -1 : 1;
}

static Guess **rank(const Estimation *e) {
  Guess **out = ARENA_ARRAY(e->arena, Guess *, e->n);
  for (size_t i = 0; i < e->n; i++) out[i] = &e->guesses[i];
  qsort(out, e->n, sizeof *out, faster_first);
  return out;
}

static void print_row(const Estimation *e, const Guess *g) {
  Text config = text_new(e->arena);
  config_print(&config, &g->config);
  if (g->failure) printf("%10s  %s: %s\n", "-", config.data, g->failure);
  else printf("%10.2f  %s\n", g->found.us, config.data);
}

static int print_ranking(const Estimation *e) {
  Guess **ranked = rank(e), *best = ranked[0];
  if (best->failure) return print_failure(e, best);
  printf("%s: %zu configurations, by predicted time\n%10s  configuration\n", e->kernel->name, e->n,
         "time us");
  for (size_t i = 0; i < e->n && i < RANKED_MOST; i++) print_row(e, ranked[i]);
  if (e->n > RANKED_MOST) printf("%10s  and %zu more\n", "...", e->n - RANKED_MOST);
  tune_use_print(best->config.settings, best->config.n);
  puts("\nthe first of them:");
  print_parts(e, best);
  return STATUS_OK;
}

static int estimate_each(Estimation *e) {
  Progress *p = progress_start("estimating", e->kernel->name);
  parallel_for(e->n, estimate_one, e);
  progress_stop(p);
  return print_ranking(e);
}

/* ---- all of it ---- */

/* Arrays have a type and a shape, and no elements: nothing runs. */
static int read_arguments(Estimation *e) {
  int code = arguments_read(&e->args, e->kernel, e->values.data, e->values.len, true);
  if (code) return args_failed(code);
  int status = e->grid ? STATUS_OK : args_error(E_RUN_GRID_NONE);
  if (!status) status = request_check_args(&e->request, &e->args);
  if (!status) status = request_add_types(&e->request, &e->args, e->module);
  return status ? status : request_finish(&e->request);
}

static int estimate_all(Estimation *e) {
  int status = request_finish(&e->request);
  if (!status) status = choose_target(e);
  if (!status) status = launch_module(&e->module, &e->kernel, &e->request);
  if (!status) status = read_arguments(e);
  if (!status) status = add_configs(e);
  if (status) return status;
  if (!e->n) {
    e->guesses = ARENA_ARRAY(e->arena, Guess, 1);
    add_guess(e, &(Config){0}, &(Config){0});
  }
  estimate_peaks(&e->peaks, e->request.api.target);
  return e->n > 1 ? estimate_each(e) : estimate_only(e);
}

static int estimate_body(void *arg) {
  Estimation *e = arg;
  e->status = estimate_all(e);
  return 0;
}

static int estimate_in_arena(Estimation *e) {
  e->arena = arena_new();
  int code = e->arena ? error_guard(e->arena, estimate_body, e) : error_out_of_memory();
  return code ? args_failed(code) : e->status;
}

static void estimation_free(Estimation *e) {
  for (size_t i = 0; i < e->n; i++) free(e->guesses[i].failure);
  decorators_free(e->decorators);
  nereid_device_close(e->machine);
  nereid_module_free(e->module);
  arguments_free(&e->args);
  settings_free(&e->values);
  request_free(&e->request);
  arena_free(e->arena);
}

static int run_estimate(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Estimation e = {0};
  const char *value;
  int id, status = STATUS_OK;
  while (status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    status = id == ARGS_ERROR ? STATUS_USAGE : take_estimate_option(&e, id, value);
  if (status == STATUS_OK) status = estimate_in_arena(&e);
  estimation_free(&e);
  return status;
}

static const Operand operands[] = {OPERAND_KERNEL, OPERAND_VALUES, {0}};

const Command command_estimate = {
    "estimate",
    "FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --grid X[,Y[,Z]] [OPTION]...",
    "Predicts the time of a launch on a device and its causes, without a run.",
    options,
    run_estimate,
    operands,
};
