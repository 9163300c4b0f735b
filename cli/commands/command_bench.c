/* nereid bench: times a kernel over sizes, and draws that beside what was measured elsewhere. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/launch_request.h"
#include "cli/arguments/request.h"
#include "cli/arguments/tuned_constexprs.h"
#include "cli/commands/commands.h"
#include "cli/messages.h"
#include "cli/report/chart.h"
#include "cli/report/series.h"
#include "cli/terminal/args.h"
#include "cli/terminal/diagnostics.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "lang/base/arena.h"
#include "lang/base/strings.h"
#include "runtime/messages.h"
#include "runtime/nereid.h"
#include "runtime/support/files.h"

/* A kernel measured over sizes: what the command line says, with a name that takes value after
 * value.
 *
 * The name is an argument, a constexpr, or a new one.  The text in braces in NAME=VALUE and -D
 * NAME=VALUE is an expression over it and over settings that are integers; so are sizes in
 * brackets, and the grid.  Functions on it that return an int return a status, after a message. */
typedef struct {
  Arena *arena;
  Request *request; /* without arguments: they are made for each size */
  const Settings *values, *defines;
  const char *x_name, *grid;
  const char *bytes, *flops; /* one at most is given: a rate is measured, not a time */
  nereid_device *device;
  nereid_module *module;
  const nereid_kernel_info *kernel;
  bool tune; /* measure what no run has measured of constexprs without a value */
} Sweep;

/* ---- one size ---- */

typedef struct {
  const nereid_binding *data;
  int n;
} Bindings;

typedef struct {
  Text out;
  const char *name, *text;
  const Bindings *names;
} Substitution;

static int put_expression_value(Substitution *s, const char *from, size_t len) {
  int64_t value;
  const char *expr = arena_strndup(s->out.arena, from, len);
  int code = nereid_expr_eval(&value, expr, s->names->data, s->names->n);
  if (code) return args_failed(error_within("%s: %s", s->name, nereid_error_message()));
  text_printf(&s->out, "%lld", (long long)value);
  return STATUS_OK;
}

static int no_end(const Substitution *s, char end) {
  return args_error(E_CLI_SUBSTITUTE, s->name, s->text, end);
}

/* The text with each {EXPRESSION} replaced by its value. */
static int substitute_braces(Arena *a, const char **out, const char *name, const char *text,
                             const Bindings *b) {
  Substitution s = {text_new(a), name, text, b};
  const char *at = text;
  for (;;) {
    size_t plain = strcspn(at, "{");
    text_putn(&s.out, at, plain);
    at += plain;
    if (!*at) break;
    const char *end = strchr(at, '}');
    if (!end) return no_end(&s, '}');
    int status = put_expression_value(&s, at + 1, (size_t)(end - at) - 1);
    if (status) return status;
    at = end + 1;
  }
  *out = s.out.data;
  return STATUS_OK;
}

/* The first comma or bracket outside of parentheses. */
static const char *entry_end(const char *at) {
  for (int depth = 0; *at && (depth > 0 || (*at != ',' && *at != ']')); at++)
    depth += (*at == '(') - (*at == ')');
  return at;
}

/* Substitutes the entries of shapes.  Names of files are not changed. */
static int substitute_shape(Arena *a, const char **out, const char *name, const char *text,
                            const Bindings *b) {
  Substitution s = {text_new(a), name, text, b};
  const char *at = strchr(text, '[');
  *out = text;
  if (*text == '@' || !at || at[1] == ']') return STATUS_OK;
  text_putn(&s.out, text, (size_t)(at - text));
  do {
    const char *from = at + 1;
    text_putn(&s.out, at, 1);
    at = entry_end(from);
    if (!*at) return no_end(&s, ']');
    int status = put_expression_value(&s, from, (size_t)(at - from));
    if (status) return status;
  } while (*at == ',');
  text_puts(&s.out, at);
  *out = s.out.data;
  return STATUS_OK;
}

/* The name's first occurrence as a word, from `at` on; NULL: nowhere. */
static const char *find_word(const char *text, const char *at, const char *name) {
  size_t n = strlen(name);
  for (; (at = strstr(at, name)); at++)
    if ((at == text || !text_is_name_char(at[-1])) && !text_is_name_char(at[n])) return at;
  return NULL;
}

/* The text with the value for each word that is the name. */
static const char *substitute_word(Arena *a, const char *text, const char *name, int64_t value) {
  Text out = text_new(a);
  const char *from = text, *at;
  for (; (at = find_word(text, from, name)); from = at + strlen(name)) {
    text_putn(&out, from, (size_t)(at - from));
    text_printf(&out, "%lld", (long long)value);
  }
  text_puts(&out, from);
  return out.data;
}

/* Does the name stand in the text, as a word? */
static bool substitute_mentions(const char *text, const char *name) {
  return find_word(text, text, name);
}

/* Is all of the text an integer? */
static bool sweep_integer(const char *text, int64_t *out) {
  char *end;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return end > text && !*end && !errno;
}

/* ---- what the command line says for one size ---- */

typedef struct {
  int64_t x;
  Settings values;
  Arguments args;
  Launch launch;
  VEC(nereid_binding) names; /* integers among the settings, and x */
} Point;

static const nereid_param *x_param(const Sweep *s) { return arguments_param(s->kernel, s->x_name); }

static void bind_integer(Sweep *s, Point *p, const char *name, const char *text) {
  int64_t v;
  if (sweep_integer(text, &v)) vec_push(s->arena, &p->names, ((nereid_binding){name, v}));
}

static Bindings bindings(const Point *p) { return (Bindings){p->names.data, (int)p->names.len}; }

/* Braces know x and the integers that are written as such; sizes of shapes know what became of
 * braces, too. */
static int settle_braces(Sweep *s, Point *p, const Settings *from, const char **texts) {
  Bindings names = bindings(p);
  int status = STATUS_OK;
  for (int i = 0; i < from->len && !status; i++)
    status =
        substitute_braces(s->arena, &texts[i], from->data[i].name, from->data[i].value, &names);
  return status;
}

static int add_point_value(Sweep *s, Point *p, const char *name, const char *text) {
  return settings_add(&p->values, arena_printf(s->arena, "%s=%s", name, text), "VALUE");
}

static int add_settled(Sweep *s, Point *p, const char **values, const char **defines) {
  int status = STATUS_OK;
  for (int i = 0; i < s->defines->len && !status; i++) {
    bind_integer(s, p, s->defines->data[i].name, defines[i]);
    status = request_add(s->request, s->defines->data[i].name, NULL, defines[i]);
  }
  for (int i = 0; i < s->values->len; i++) bind_integer(s, p, s->values->data[i].name, values[i]);
  Bindings names = bindings(p);
  for (int i = 0; i < s->values->len && !status; i++) {
    const char *name = s->values->data[i].name, *text;
    status = substitute_shape(s->arena, &text, name, values[i], &names);
    if (!status) status = add_point_value(s, p, name, text);
  }
  return status;
}

static int add_x(Sweep *s, Point *p) {
  const nereid_param *param = x_param(s);
  const char *text = arena_printf(s->arena, "%lld", (long long)p->x);
  if (!param) return STATUS_OK;
  if (param->kind == NEREID_PARAM_CONSTEXPR) return request_add(s->request, s->x_name, NULL, text);
  return add_point_value(s, p, s->x_name, text);
}

static int substitute_values(Sweep *s, Point *p) {
  const char **values = ARENA_ARRAY(s->arena, const char *, (size_t)s->values->len);
  const char **defines = ARENA_ARRAY(s->arena, const char *, (size_t)s->defines->len);
  vec_push(s->arena, &p->names, ((nereid_binding){s->x_name, p->x}));
  for (int i = 0; i < s->values->len; i++)
    bind_integer(s, p, s->values->data[i].name, s->values->data[i].value);
  for (int i = 0; i < s->defines->len; i++)
    bind_integer(s, p, s->defines->data[i].name, s->defines->data[i].value);
  int status = settle_braces(s, p, s->values, values);
  if (!status) status = settle_braces(s, p, s->defines, defines);
  if (!status) status = add_x(s, p);
  return status ? status : add_settled(s, p, values, defines);
}

/* ---- measuring ---- */

/* All integers: of arguments, of constexprs that a heuristic or a tuner may have set, and x. */
static int bind_point(Sweep *s, Point *p) {
  nereid_binding *known;
  int n;
  int status = request_bind(&known, &n, s->request, &p->args);
  p->names.len = 0;
  for (int i = 0; i < n; i++) vec_push(s->arena, &p->names, known[i]);
  if (!x_param(s)) vec_push(s->arena, &p->names, ((nereid_binding){s->x_name, p->x}));
  free(known);
  return status;
}

/* A name that is no argument's is unknown to the tuner. */
static int add_tuned_to_point(Sweep *s, Point *p) {
  bool own = s->grid && !x_param(s);
  return tuned_add(&(Tuned){
      .request = s->request,
      .values = &p->values,
      .args = &p->args,
      .module = s->module,
      .device = s->device,
      .grid = own ? substitute_word(s->arena, s->grid, s->x_name, p->x) : s->grid,
      .tune = s->tune,
  });
}

static int prepare_point(Sweep *s, Point *p) {
  uint32_t grid[3];
  request_clear(s->request);
  int status = substitute_values(s, p);
  if (!status) status = request_args(&p->args, s->kernel, &p->values);
  if (!status) status = add_tuned_to_point(s, p);
  if (!status) status = bind_point(s, p);
  if (!status) status = request_extents(grid, s->grid, p->names.data, (int)p->names.len);
  if (!status) status = request_check_args(s->request, &p->args);
  if (!status) status = request_add_types(s->request, &p->args, s->module);
  if (!status) status = request_finish(s->request);
  if (!status) status = launch_open(&p->launch, s->device, &s->request->api, grid);
  return status ? status : launch_upload(&p->launch, &p->args);
}

/* The bytes or operations of a launch, scaled so that divided by its microseconds they give GB/s or
 * TFLOP/s. */
static int read_work(const Sweep *s, const Point *p, double *work) {
  const char *option = s->bytes ? "--bytes" : "--flops", *text = s->bytes ? s->bytes : s->flops;
  Bindings names = bindings(p);
  int64_t v;
  int code = nereid_expr_eval(&v, text, names.data, names.n);
  if (code) return args_failed(code);
  if (v <= 0)
    return args_error(E_CLI_BENCH_WORK, option, text, (long long)v, s->x_name, (long long)p->x);
  *work = (double)v / (s->bytes ? 1e3 : 1e6);
  return STATUS_OK;
}

static int time_point(const Sweep *s, const Point *p, SeriesPoint *out) {
  nereid_timing t;
  double work = 0;
  bool is_rate = s->bytes || s->flops;
  int status = is_rate ? read_work(s, p, &work) : STATUS_OK;
  int code = status ? 0 : nereid_launch_time(&t, p->launch.launch, NULL, NULL);
  if (code) status = args_failed(code);
  if (status) return status;
  *out = (SeriesPoint){(double)p->x, t.median_us, t.low_us, t.high_us};
  if (is_rate)
    *out = (SeriesPoint){(double)p->x, work / t.median_us, work / t.high_us, work / t.low_us};
  return STATUS_OK;
}

static int sweep_measure(Sweep *s, int64_t x, SeriesPoint *out) {
  Point p = {.x = x};
  nereid_request given = s->request->api; /* without what heuristics set for this size */
  int status = prepare_point(s, &p);
  if (!status) status = time_point(s, &p, out);
  launch_free(&p.launch, &p.args);
  arguments_free(&p.args);
  settings_free(&p.values);
  s->request->api = given;
  return status;
}

/* Does anything depend on the name? */
static int sweep_check(const Sweep *s) {
  bool used = x_param(s) || (s->grid && substitute_mentions(s->grid, s->x_name));
  for (int i = 0; i < s->values->len; i++)
    used |= substitute_mentions(s->values->data[i].value, s->x_name);
  for (int i = 0; i < s->defines->len; i++)
    used |= substitute_mentions(s->defines->data[i].value, s->x_name);
  return used ? STATUS_OK : args_error(E_CLI_BENCH_UNUSED, s->x_name, s->kernel->name);
}

/* ---- the command ---- */

enum {
  OPT_GRID = REQUEST_OPTIONS_END,
  OPT_X,
  OPT_BYTES,
  OPT_FLOPS,
  OPT_PEER,
  OPT_LABEL,
  OPT_JSON,
  OPT_PLOT,
  OPT_DEVICE,
  OPT_TUNE
};

static const Option options[] = {
    {OPT_X, "--x", "NAME=V1,V2,...", "the sizes: values of an argument, a constexpr or a new name"},
    {OPT_GRID, "--grid", "X[,Y[,Z]]", "programs on each axis: expressions such as cdiv(n, BLOCK)"},
    REQUEST_OPTIONS,
    {OPT_DEVICE, "--device", "D", "cuda, cpu, nest or interp; cuda if there is a GPU, else cpu",
     .choices = CHOICES_DEVICE},
    {OPT_TUNE, "--tune", NULL,
     "finds the best constexprs of each size first, unless that is known"},
    {OPT_BYTES, "--bytes", "EXPR", "bytes moved: GB/s instead of us"},
    {OPT_FLOPS, "--flops", "EXPR", "operations computed: TFLOP/s instead of us"},
    {OPT_PEER, "--peer", "FILE.json", "adds a series that --json wrote, here or elsewhere",
     .repeats = true},
    {OPT_LABEL, "--label", "TEXT", "the name of this series; the kernel's is the default"},
    {OPT_JSON, "--json", "FILE.json", "writes the points"},
    {OPT_PLOT, "-o", "FILE.svg", "draws a chart of them"},
    {0},
};

enum { SIZES_MOST = 1000 };

typedef struct {
  Request request;
  Sweep sweep;
  const char *device_name, *label, *json, *plot;
  Settings values, defines;
  Settings x; /* what --x says */
  Strings peers;
  int64_t sizes[SIZES_MOST];
  int nsizes;
  bool left_out;               /* a size that could not be measured */
  Series series[CHART_SERIES]; /* this kernel's, if one is named, then the peers' */
  int nseries;
  int status;
} Bench;

/* ---- the command line ---- */

static int take_bench_option(Bench *b, int id, const char *value) {
  switch (id) {
    case OPT_X: return settings_add(&b->x, value, "V1,V2,...");
    case OPT_GRID: b->sweep.grid = value; return STATUS_OK;
    case OPT_DEVICE: b->device_name = value; return STATUS_OK;
    case OPT_TUNE: b->sweep.tune = true; return STATUS_OK;
    case OPT_BYTES: b->sweep.bytes = value; return STATUS_OK;
    case OPT_FLOPS: b->sweep.flops = value; return STATUS_OK;
    case OPT_LABEL: b->label = value; return STATUS_OK;
    case OPT_JSON: b->json = value; return STATUS_OK;
    case OPT_PLOT: b->plot = value; return STATUS_OK;
    case OPT_PEER: return strings_add(&b->peers, value, strlen(value)) ? 0 : STATUS_PROBLEM;
    case OPT_DEFINE: return settings_add_value(&b->defines, value);
    case ARGS_POSITIONAL:
      if (!b->request.file) return request_file(&b->request, value);
      return settings_add_value(&b->values, value);
    default: return request_option(&b->request, id, value);
  }
}

/* Sorted, so that points come in the order in which they are drawn. */
static int add_size(Bench *b, const char *text) {
  int64_t v;
  int at = b->nsizes;
  if (at == SIZES_MOST || !sweep_integer(text, &v))
    return args_error(E_CLI_BENCH_SIZE, SIZES_MOST, text);
  for (; at > 0 && b->sizes[at - 1] >= v; at--) {
    if (b->sizes[at - 1] == v) return args_error(E_CLI_BENCH_SIZE, SIZES_MOST, text);
    b->sizes[at] = b->sizes[at - 1];
  }
  b->sizes[at] = v;
  b->nsizes++;
  return STATUS_OK;
}

static bool has_setting(const Settings *s, const char *name) {
  for (int i = 0; i < s->len; i++)
    if (!strcmp(s->data[i].name, name)) return true;
  return false;
}

static int read_sizes(Bench *b) {
  Strings parts = {0};
  if (!b->x.len) return args_error(E_CLI_BENCH_SIZES);
  const char *name = b->sweep.x_name = b->x.data[0].name;
  if (has_setting(&b->values, name) || has_setting(&b->defines, name))
    return args_error(E_RUN_ARG_TWICE, name);
  if (b->sweep.bytes && b->sweep.flops) return args_error(E_CLI_BENCH_UNITS);
  int status = args_split(&parts, b->x.data[0].value) ? STATUS_OK : STATUS_PROBLEM;
  for (int i = 0; i < parts.len && !status; i++) status = add_size(b, parts.data[i]);
  strings_free(&parts);
  return status;
}

/* Without a kernel, what others measured is drawn. */
static int check_no_kernel(const Bench *b) {
  if (b->json) return args_error(E_CLI_NEEDS, "--json", "a kernel file");
  if (b->x.len || !b->peers.len) return args_error(E_CLI_NO_FILE);
  return STATUS_OK;
}

/* Before anything is measured. */
static int check_outputs(const Bench *b) {
  const char *const paths[] = {b->json, b->plot};
  for (int i = 0; i < 2; i++)
    if (paths[i] && strcmp(paths[i], "-") && files_check(paths[i]))
      return args_failed(nereid_error_code());
  return STATUS_OK;
}

static const char *unit_of(const Sweep *s) {
  return s->bytes ? "GB/s" : s->flops ? "TFLOP/s" : "us";
}

/* ---- peers ---- */

static int read_peer(Bench *b, const char *path) {
  if (b->nseries == CHART_SERIES) return args_error(E_CLI_PEERS, CHART_SERIES);
  Series *s = &b->series[b->nseries++];
  const Series *first = &b->series[0];
  int status = series_read(b->sweep.arena, s, path);
  if (status || (!strcmp(s->unit, first->unit) && !strcmp(s->x_name, first->x_name))) return status;
  args_error(E_CLI_PEER_OTHER, path, s->unit, s->x_name, first->unit, first->x_name);
  return STATUS_PROBLEM;
}

static int read_peers(Bench *b) {
  int status = STATUS_OK;
  for (int i = 0; i < b->peers.len && !status; i++) status = read_peer(b, b->peers.data[i]);
  return status;
}

/* ---- measuring ---- */

static void show_progress(const Bench *b, int i) {
  char line[128];
  snprintf(line, sizeof line, "%d of %d  %s=%lld", i + 1, b->nsizes, b->sweep.x_name,
           (long long)b->sizes[i]);
  progress_show(line);
}

/* A size that fails is told and left out; others may do better. */
static int measure_size(Bench *b, int64_t x) {
  SeriesPoint p;
  int status = sweep_measure(&b->sweep, x, &p);
  if (!status) vec_push(b->sweep.arena, &b->series[0].points, p);
  if (!status || status == STATUS_USAGE || nereid_error_code() == NEREID_E_LOST) return status;
  args_error(E_CLI_BENCH_POINT, b->sweep.x_name, (long long)x);
  b->left_out = true;
  return STATUS_OK;
}

static int measure_sizes(Bench *b) {
  int status = STATUS_OK;
  for (int i = 0; i < b->nsizes && !status; i++) {
    show_progress(b, i);
    status = measure_size(b, b->sizes[i]);
  }
  progress_end();
  return status || b->series[0].points.len ? status : STATUS_PROBLEM;
}

static int open_benched_kernel(Bench *b) {
  Sweep *s = &b->sweep;
  int status = request_finish(&b->request);
  if (!status) status = launch_device(&s->device, b->device_name);
  if (!status) status = launch_module(&s->module, &s->kernel, &b->request);
  if (!status && !b->label) b->series[0].label = s->kernel->name;
  return status ? status : sweep_check(s);
}

/* ---- results ---- */

typedef void Print(Text *out, const void *what);

static void print_json(Text *out, const void *series) { series_json(out, series); }
static void print_series_table(Text *out, const void *group) { series_table(out, group); }
static void print_plot(Text *out, const void *group) { series_plot(out, group); }

static const char *title_of(const Sweep *s) {
  nereid_device_info info;
  if (!s->kernel) return "";
  nereid_device_get_info(&info, s->device);
  return arena_printf(s->arena, "%s on %s", s->kernel->name, info.description);
}

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

static int write_series(const Bench *b) {
  SeriesGroup group = {title_of(&b->sweep), b->series, b->nseries};
  int status = STATUS_OK;
  if (b->json) status = output_print(b->json, print_json, &b->series[0]);
  if (!status && b->plot) status = output_print(b->plot, print_plot, &group);
  if (!status && !is_stdout(b->json) && !is_stdout(b->plot))
    status = output_print(NULL, print_series_table, &group);
  return !status && b->left_out ? STATUS_PROBLEM : status;
}

/* ---- all of it ---- */

static int bench_all(Bench *b) {
  Sweep *s = &b->sweep;
  bool measures = b->request.file;
  int status = measures ? read_sizes(b) : check_no_kernel(b);
  if (!status) status = check_outputs(b);
  if (measures) b->series[b->nseries++] = (Series){b->label, s->x_name, unit_of(s), {0}};
  if (!status) status = read_peers(b);
  if (!status && measures) status = open_benched_kernel(b);
  if (!status && measures) status = measure_sizes(b);
  return status ? status : write_series(b);
}

static int bench_body(void *bench) {
  Bench *b = bench;
  b->status = bench_all(b);
  return 0;
}

static void bench_free(Bench *b) {
  launch_device_close(b->sweep.device);
  nereid_module_free(b->sweep.module);
  settings_free(&b->values);
  settings_free(&b->defines);
  settings_free(&b->x);
  strings_free(&b->peers);
  request_free(&b->request);
  arena_free(b->sweep.arena);
}

static int run_bench(int argc, char **argv) {
  Args args = {.options = options, .argv = argv, .argc = argc};
  Bench b = {.sweep.arena = arena_new()};
  const char *value;
  int id;
  if (!b.sweep.arena) return args_out_of_memory();
  b.sweep.request = &b.request, b.sweep.values = &b.values, b.sweep.defines = &b.defines;
  while (b.status == STATUS_OK && (id = args_next(&args, &value)) != ARGS_END)
    b.status = id == ARGS_ERROR ? STATUS_USAGE : take_bench_option(&b, id, value);
  if (b.status == STATUS_OK) {
    int code = error_guard(b.sweep.arena, bench_body, &b);
    if (code) b.status = args_failed(code);
  }
  bench_free(&b);
  return b.status;
}

static const Operand operands[] = {OPERAND_KERNEL, OPERAND_VALUES, {0}};

const Command command_bench = {
    "bench",
    "[FILE[:KERNEL] NAME=VALUE... [-D NAME=VALUE]... --x NAME=V1,V2,... --grid X[,Y[,Z]]] "
    "[OPTION]...",
    "Times a kernel over sizes, and draws a chart of it and of earlier measurements.",
    options,
    run_bench,
    operands,
};
