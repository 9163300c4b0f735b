#include "cli/commands/sweep.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/launch_request.h"
#include "cli/arguments/tuned_constexprs.h"
#include "cli/messages.h"
#include "cli/terminal/args.h"
#include "cli/terminal/diagnostics.h"
#include "lang/base/arena.h"
#include "lang/base/strings.h"
#include "runtime/nereid.h"

typedef struct {
  const nereid_binding *data;
  int n;
} Bindings;

typedef struct {
  Text out;
  const char *name, *text;
  const Bindings *names;
} Substitution;

static int put_value(Substitution *s, const char *from, size_t len) {
  int64_t value;
  const char *expr = arena_strndup(s->out.arena, from, len);
  int code = nereid_expr_eval(&value, expr, s->names->data, s->names->n);
  if (code) {
    message_print("error", "%s: %s", s->name, nereid_error_message());
    return code == NEREID_E_USAGE ? STATUS_USAGE : STATUS_PROBLEM;
  }
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
    int status = put_value(&s, at + 1, (size_t)(end - at) - 1);
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

/* The same for entries of shapes.  Names of files are left as they are. */
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
    int status = put_value(&s, from, (size_t)(at - from));
    if (status) return status;
  } while (*at == ',');
  text_puts(&s.out, at);
  *out = s.out.data;
  return STATUS_OK;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The name's first occurrence as a word, from `at` on; NULL: nowhere. */
static const char *find_word(const char *text, const char *at, const char *name) {
  size_t n = strlen(name);
  for (; (at = strstr(at, name)); at++)
    if ((at == text || !is_word(at[-1])) && !is_word(at[n])) return at;
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

bool sweep_integer(const char *text, int64_t *out) {
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

static int add_value(Sweep *s, Point *p, const char *name, const char *text) {
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
    if (!status) status = add_value(s, p, name, text);
  }
  return status;
}

static int add_x(Sweep *s, Point *p) {
  const nereid_param *param = x_param(s);
  const char *text = arena_printf(s->arena, "%lld", (long long)p->x);
  if (!param) return STATUS_OK;
  if (param->kind == NEREID_PARAM_CONSTEXPR) return request_add(s->request, s->x_name, NULL, text);
  return add_value(s, p, s->x_name, text);
}

static int settle(Sweep *s, Point *p) {
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
static int bind_all(Sweep *s, Point *p) {
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
static int add_tuned(Sweep *s, Point *p) {
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

static int prepare(Sweep *s, Point *p) {
  uint32_t grid[3];
  request_clear(s->request);
  int status = settle(s, p);
  if (!status) status = request_args(&p->args, s->kernel, &p->values);
  if (!status) status = add_tuned(s, p);
  if (!status) status = bind_all(s, p);
  if (!status) status = request_extents(grid, s->grid, p->names.data, (int)p->names.len);
  if (!status) status = request_check_args(s->request, &p->args);
  if (!status) status = request_add_types(s->request, &p->args, s->module);
  if (!status) status = request_finish(s->request);
  if (!status) status = launch_open(&p->launch, s->device, &s->request->api, grid);
  return status ? status : launch_place(&p->launch, &p->args);
}

/* What a rate counts of, per microsecond and in its unit. */
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

int sweep_measure(Sweep *s, int64_t x, SeriesPoint *out) {
  Point p = {.x = x};
  nereid_request given = s->request->api; /* without what heuristics set for this size */
  int status = prepare(s, &p);
  if (!status) status = time_point(s, &p, out);
  launch_free(&p.launch, &p.args);
  arguments_free(&p.args);
  settings_free(&p.values);
  s->request->api = given;
  return status;
}

int sweep_check(const Sweep *s) {
  bool used = x_param(s) || (s->grid && substitute_mentions(s->grid, s->x_name));
  for (int i = 0; i < s->values->len; i++)
    used |= substitute_mentions(s->values->data[i].value, s->x_name);
  for (int i = 0; i < s->defines->len; i++)
    used |= substitute_mentions(s->defines->data[i].value, s->x_name);
  return used ? STATUS_OK : args_error(E_CLI_BENCH_UNUSED, s->x_name, s->kernel->name);
}
