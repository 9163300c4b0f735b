/* Measures every configuration of many problems on one device: what a model of their times is
 * fitted to, and judged by.
 *
 *     tune_sweep PROBLEMS [--device cuda] [--from N] [--only TEXT] [--predict TARGET]
 *
 * PROBLEMS is what bench/tune_problems.py prints.  A line for each candidate, as soon as it is
 * known, in columns parted by tabs: problem, configuration, median in us (or "fail"), fastest run,
 * registers, spilled bytes, shared bytes, runs (or the reason), and which code the launch took
 * where that is not the first one.  Candidates that have the same code are measured once.  A
 * candidate that is far behind the best of its problem has few runs.  Code of the next problems is
 * made while those before are measured.  When one breaks the device's context, the program starts
 * anew with the next problem.
 *
 * --predict needs no device: it prints the model's predictions for a target, and what they are made
 * from, as problem, configuration, NAME=VALUE... */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/compile/estimate_request.h"
#include "runtime/device/device.h"
#include "runtime/store/cache.h"
#include "runtime/support/parallel.h"

enum { PAIRS_MAX = 32, CONFIGS_MAX = 256, BATCH_CONFIGS = 192, TEXT_MAX = 64 };
static const double FAR_BEHIND = 1.4;
static const size_t PATTERN_BYTES = (size_t)32 << 20;

typedef struct {
  const char *name, *value;
} Pair;

typedef struct {
  Pair pairs[PAIRS_MAX];
  int n;
} Pairs;

typedef struct {
  char text[256];
  Pairs pairs;
  nereid_image *image;
  nereid_kernel *kernel;
  char *why; /* it has no kernel */
  uint32_t grid[3];
  nereid_launch *launch;
  nereid_timing timing; /* runs: 0 if it was not measured */
  Estimate estimate;
  CacheKey code; /* of a prediction */
  int place;     /* in the order in which the tuner tries them */
  LaunchStats stats;
} Config;

typedef struct {
  const char *name, *grid;
  char *file, *kernel;
  Pairs args, fixed;
  Config *configs;
  int nconfigs;
  void *data[PAIRS_MAX]; /* arrays among the arguments, on the device */
} Problem;

typedef struct {
  nereid_device *device;
  nereid_device_info info;
  Problem *problems;
  int nproblems;
  void *patterns[3];   /* normal numbers in 32, 16 and 8 bits, on the device */
  const char *predict; /* the target to predict for; NULL: measure */
  DevicePeaks peaks;
} Sweep;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "tune_sweep: %s: %s\n", what, why);
  exit(1);
}

static void must(int code, const char *what) {
  if (code) fail(what, nereid_error_message());
}

static void *must_have(void *p) {
  if (!p) fail("memory", "there is no more");
  return p;
}

/* ---- problems ---- */

static char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) fail(path, "can't be read");
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *text = must_have(calloc((size_t)n + 1, 1));
  if (fread(text, 1, (size_t)n, f) != (size_t)n) fail(path, "can't be read");
  fclose(f);
  return text;
}

/* "NAME=VALUE NAME=VALUE", cut in place. */
static void read_pairs(Pairs *out, char *text) {
  char *rest = NULL;
  for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
    char *eq = strchr(w, '=');
    if (!eq || out->n == PAIRS_MAX) fail(w, "no NAME=VALUE, or too many");
    *eq = 0;
    out->pairs[out->n++] = (Pair){w, eq + 1};
  }
}

static void add_config(Problem *p, char *text) {
  if (p->nconfigs == CONFIGS_MAX) fail(p->name, "too many configurations");
  if (!p->configs) p->configs = must_have(calloc(CONFIGS_MAX, sizeof *p->configs));
  Config *c = &p->configs[p->nconfigs++];
  snprintf(c->text, sizeof c->text, "%s", text);
  read_pairs(&c->pairs, text);
}

static void read_line(Sweep *s, char *line) {
  char *rest = strchr(line, ' ');
  if (!rest) return; /* end */
  *rest++ = 0;
  if (!strcmp(line, "problem")) {
    s->problems = must_have(realloc(s->problems, (size_t)++s->nproblems * sizeof *s->problems));
    s->problems[s->nproblems - 1] = (Problem){.name = rest};
  }
  if (!s->nproblems) fail(line, "stands before any problem");
  Problem *p = &s->problems[s->nproblems - 1];
  if (!strcmp(line, "kernel")) {
    p->file = rest;
    p->kernel = strrchr(rest, ':');
    if (!p->kernel) fail(rest, "no FILE:KERNEL");
    *p->kernel++ = 0;
  }
  if (!strcmp(line, "grid")) p->grid = rest;
  if (!strcmp(line, "args")) read_pairs(&p->args, rest);
  if (!strcmp(line, "fixed")) read_pairs(&p->fixed, rest);
  if (!strcmp(line, "config")) add_config(p, rest);
}

static void read_problems(Sweep *s, const char *path) {
  char *rest = NULL, *text = read_file(path);
  for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) read_line(s, l);
}

/* ---- compiling ---- */

/* An array's text: "randn:bf16[4,8]". */
static bool is_array(const char *value) { return strchr(value, '[') && strchr(value, ':'); }

/* The dtype of an array, its bytes, and how it is filled. */
typedef struct {
  char dtype[16];
  size_t bytes;
  bool drawn;
} Array;

static size_t element_bytes(const char *dtype) {
  size_t n = strlen(dtype);
  if (n > 1 && !strcmp(dtype + n - 2, "64")) return 8;
  if (n > 1 && !strcmp(dtype + n - 2, "32")) return 4;
  return n > 1 && !strcmp(dtype + n - 2, "16") ? 2 : 1;
}

static Array read_array(const char *value) {
  Array a = {.drawn = !strncmp(value, "rand", 4)};
  const char *dtype = strchr(value, ':') + 1, *dims = strchr(value, '[') + 1;
  snprintf(a.dtype, sizeof a.dtype, "%.*s", (int)(dims - 1 - dtype), dtype);
  a.bytes = element_bytes(a.dtype);
  for (char *end; *dims && *dims != ']'; dims = *end == ',' ? end + 1 : end)
    a.bytes *= (size_t)strtoll(dims, &end, 10);
  return a;
}

/* The type that a value gives its parameter; of an array, of one that lies as ours will. */
static void type_of(char out[TEXT_MAX], const char *value) {
  char text[TEXT_MAX];
  nereid_value *v;
  snprintf(text, sizeof text, "empty:%s[1]", is_array(value) ? read_array(value).dtype : "");
  must(nereid_value_parse(&v, is_array(value) ? text : value), value);
  must(nereid_value_type(out, TEXT_MAX, v, 1), value);
  nereid_value_free(v);
}

static bool take_option(nereid_request *r, const Pair *p) {
  int *option = !strcmp(p->name, "num_warps")    ? &r->num_warps
                : !strcmp(p->name, "num_stages") ? &r->num_stages
                                                 : NULL;
  if (option) *option = atoi(p->value);
  return option != NULL;
}

static void add_constexprs(nereid_request *r, nereid_arg *args, const Pairs *pairs) {
  for (int i = 0; i < pairs->n; i++)
    if (!take_option(r, &pairs->pairs[i]))
      args[r->nargs++] = (nereid_arg){.name = pairs->pairs[i].name, .value = pairs->pairs[i].value};
}

typedef struct {
  Sweep *sweep;
  int from, end;      /* problems */
  Problem **problems; /* of the configuration in the same place */
  Config **configs;
  int n;
} Batch;

/* What to compile a configuration by; the request points into the words. */
typedef struct {
  nereid_request request;
  nereid_arg args[3 * PAIRS_MAX];
  char types[PAIRS_MAX][TEXT_MAX];
} Words;

static void make_request(Words *w, const Problem *p, const Config *c) {
  nereid_request *r = &w->request;
  *r = (nereid_request){.source.path = p->file, .kernel = p->kernel, .args = w->args};
  for (int k = 0; k < p->args.n; k++) {
    type_of(w->types[k], p->args.pairs[k].value);
    w->args[r->nargs++] = (nereid_arg){.name = p->args.pairs[k].name, .type = w->types[k]};
  }
  add_constexprs(r, w->args, &p->fixed);
  add_constexprs(r, w->args, &c->pairs);
}

static void compile(void *context, size_t i) {
  const Batch *b = context;
  Config *c = b->configs[i];
  Words w;
  make_request(&w, b->problems[i], c);
  if (nereid_compile_for(&c->image, b->sweep->device, &w.request))
    c->why = strdup(nereid_error_message());
}

static bool fits(const Sweep *s, const Config *c) {
  nereid_variant v;
  if (!c->image || nereid_image_get_variant(&v, c->image, 0)) return false;
  return v.kind != NEREID_PTX || v.shared_bytes <= s->info.shared_bytes;
}

static void load_alone(const Batch *b, Config *c) {
  if (nereid_kernel_load(&c->kernel, b->sweep->device, c->image))
    c->why = strdup(nereid_error_message());
}

static void load(const Batch *b) {
  const nereid_image **images = must_have(calloc((size_t)b->n + 1, sizeof *images));
  nereid_kernel **kernels = must_have(calloc((size_t)b->n + 1, sizeof *kernels));
  Config **of = must_have(calloc((size_t)b->n + 1, sizeof *of));
  int n = 0;
  for (int i = 0; i < b->n; i++) {
    Config *c = b->configs[i];
    if (!fits(b->sweep, c)) {
      if (!c->why) c->why = strdup("too much shared memory");
      continue;
    }
    of[n] = c;
    images[n++] = c->image;
  }
  int code = n ? nereid_kernel_load_all(kernels, b->sweep->device, images, n) : 0;
  for (int i = 0; i < n; i++) {
    of[i]->kernel = kernels[i];
    if (code) load_alone(b, of[i]);
  }
  free(images);
  free(kernels);
  free(of);
}

/* ---- measuring ---- */

/* A number as a float8_e4m3's bits, rounded to zero; what is too small is 0. */
static uint8_t float8_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  int exponent = (int)(bits >> 23 & 255) - 127 + 7;
  if (exponent < 1) return 0;
  return (uint8_t)(bits >> 24 & 128) | (uint8_t)(exponent << 3) | (uint8_t)(bits >> 20 & 7);
}

/* Sums of four numbers of a simple generator: the bits of products matter to a GPU's clock. */
static void make_patterns(Sweep *s) {
  size_t n = PATTERN_BYTES / 4;
  float *f = must_have(malloc(PATTERN_BYTES));
  uint16_t *h = must_have(malloc(PATTERN_BYTES));
  uint8_t *q = must_have(malloc(PATTERN_BYTES));
  uint64_t state = 1;
  for (size_t i = 0; i < n; i++) {
    float sum = 0;
    state = state * 6364136223846793005u + 1442695040888963407u;
    for (int k = 0; k < 4; k++) sum += (float)(state >> (16 * k) & 0xffff) / 65536.0f - 0.5f;
    f[i] = sum * 1.7f;
    uint32_t bits;
    memcpy(&bits, &f[i], sizeof bits);
    h[i] = h[n + i] = (uint16_t)(bits >> 16);
    q[i] = q[n + i] = q[2 * n + i] = q[3 * n + i] = float8_of(f[i]);
  }
  const void *from[3] = {f, h, q};
  for (int i = 0; i < 3; i++) {
    must(nereid_alloc(&s->patterns[i], s->device, PATTERN_BYTES), "memory");
    must(nereid_copy_in(s->device, s->patterns[i], from[i], PATTERN_BYTES, NULL), "copying");
  }
  free(f);
  free(h);
  free(q);
}

/* Numbers of 16 bits are bfloat16s: as float16s the same bits are small numbers, and as random. */
static void fill_array(const Sweep *s, const Array *a, void *p) {
  must(nereid_fill(s->device, p, 0, a->bytes, NULL), "filling");
  size_t element = element_bytes(a->dtype);
  const void *pattern = s->patterns[element == 1 ? 2 : element == 2];
  for (size_t at = 0; a->drawn && at < a->bytes; at += PATTERN_BYTES) {
    size_t left = a->bytes - at;
    must(nereid_copy(s->device, (char *)p + at, pattern,
                     left < PATTERN_BYTES ? left : PATTERN_BYTES, NULL),
         "copying");
  }
}

static void fill_arrays(const Sweep *s, const Problem *p) {
  for (int i = 0; i < p->args.n; i++) {
    if (!p->data[i]) continue;
    Array a = read_array(p->args.pairs[i].value);
    fill_array(s, &a, p->data[i]);
  }
}

static void allocate_arrays(const Sweep *s, Problem *p) {
  for (int i = 0; i < p->args.n; i++) {
    if (!is_array(p->args.pairs[i].value)) continue;
    must(nereid_alloc(&p->data[i], s->device, read_array(p->args.pairs[i].value).bytes), "memory");
  }
}

static int bind(nereid_binding *out, const Pairs *pairs) {
  int n = 0;
  for (int i = 0; i < pairs->n; i++) {
    char *end;
    long long v = strtoll(pairs->pairs[i].value, &end, 10);
    if (!*end) out[n++] = (nereid_binding){pairs->pairs[i].name, v};
  }
  return n;
}

/* "X, Y, Z": commas in parentheses part arguments. */
static void eval_grid(uint32_t grid[3], const Problem *p, const Config *c) {
  nereid_binding names[3 * PAIRS_MAX];
  int n = bind(names, &p->args);
  n += bind(names + n, &p->fixed);
  n += bind(names + n, &c->pairs);
  char text[256], *start = text;
  int axis = 0, depth = 0;
  snprintf(text, sizeof text, "%s", p->grid);
  grid[0] = grid[1] = grid[2] = 1;
  for (char *q = text;; q++) {
    bool end = !*q;
    depth += (*q == '(') - (*q == ')');
    if (!end && (*q != ',' || depth)) continue;
    int64_t v;
    *q = 0;
    must(nereid_expr_eval(&v, start, names, n), p->name);
    grid[axis++] = (uint32_t)v;
    if (end || axis == 3) return;
    start = q + 1;
  }
}

static int set_args(nereid_launch *l, const Problem *p, const nereid_image *image) {
  int code = 0;
  for (int i = 0; i < p->args.n && !code; i++) {
    int at = nereid_image_find_param(image, p->args.pairs[i].name);
    nereid_value *v;
    if (at < 0) continue;
    if (p->data[i]) {
      code = nereid_launch_set_pointer(l, at, p->data[i]);
      l->start.extent[at] = (IntRange){0, (int64_t)read_array(p->args.pairs[i].value).bytes - 1};
      continue;
    }
    code = nereid_value_parse(&v, p->args.pairs[i].value);
    if (code) break;
    code = nereid_launch_set_value(l, at, v, NULL);
    nereid_value_free(v);
  }
  return code;
}

/* Chooses the code of a launch, and compiles it if it is not the kernel's first one. */
static void make_ready(void *context, size_t i) {
  const Batch *b = context;
  Config *c = b->configs[i];
  if (!c->kernel) return;
  int code = nereid_launch_new(&c->launch, c->kernel, c->grid);
  if (!code) code = set_args(c->launch, b->problems[i], c->image);
  if (!code) code = launch_ready(c->launch);
  if (!code) return;
  c->why = strdup(nereid_error_message());
  nereid_launch_free(c->launch);
  c->launch = NULL;
}

static int time_launch(nereid_timing *t, nereid_launch *l, double best) {
  nereid_time_options few = {.warm_up = 1, .runs = 3};
  int code = nereid_launch_time(t, l, NULL, &few);
  if (code || (best > 0 && t->median_us > FAR_BEHIND * best)) return code;
  nereid_time_options many = {.warm_up = 2, .runs = t->median_us < 50 ? 30 : 12};
  return nereid_launch_time(t, l, NULL, &many);
}

/* The message ends with the first line of the reason. */
static void print_failure(const Problem *p, const Config *c, const char *why) {
  if (!why) why = "?";
  printf("%s\t%s\tfail\t0\t0\t0\t0\t%.*s\n", p->name, c->text, (int)strcspn(why, "\n"), why);
}

static void print_times(const Problem *p, const Config *c, const nereid_timing *t) {
  int variant;
  const Loaded *code = c->launch->start.chosen;
  const nereid_kernel_resources *r = &code->resources;
  const char *late = kernel_late_reason(c->kernel, code, &variant);
  printf("%s\t%s\t%.2f\t%.2f\t%d\t%d\t%lld\t%d\t%s\n", p->name, c->text, t->median_us,
         t->min_us, r->registers, r->spill_bytes, (long long)r->shared_bytes, t->runs,
         late ? late + strspn(late, ", ") : "");
}

static bool is_same(const Config *a, const Config *b) {
  nereid_variant v = {0}, w = {0};
  bool both =
      !nereid_image_get_variant(&v, a->image, 0) && !nereid_image_get_variant(&w, b->image, 0);
  return both && v.size == w.size && !memcmp(v.code, w.code, v.size) &&
         !memcmp(a->grid, b->grid, sizeof a->grid);
}

/* One before it that has the same code and was measured; else NULL. */
static const Config *find_same(const Problem *p, const Config *c) {
  for (const Config *d = p->configs; d < c; d++)
    if (d->timing.runs && is_same(d, c)) return d;
  return NULL;
}

static int measure(const Problem *p, Config *c, double best) {
  const Config *same = find_same(p, c);
  if (!same) return time_launch(&c->timing, c->launch, best);
  c->timing = same->timing;
  return 0;
}

/* False: the device's context is broken. */
static bool measure_config(const Problem *p, Config *c, double *best) {
  if (!c->launch) {
    print_failure(p, c, c->why);
    return true;
  }
  int code = measure(p, c, *best);
  if (code) {
    c->timing.runs = 0;
    print_failure(p, c, nereid_error_message());
    return code != NEREID_E_LOST;
  }
  if (*best <= 0 || c->timing.median_us < *best) *best = c->timing.median_us;
  print_times(p, c, &c->timing);
  return true;
}

/* False: the device's context is broken. */
static bool measure_problem(const Sweep *s, Problem *p) {
  double best = 0;
  bool lost = false;
  fill_arrays(s, p);
  for (int i = 0; i < p->nconfigs && !lost; i++)
    lost = !measure_config(p, &p->configs[i], &best);
  fflush(stdout);
  return !lost;
}

/* ---- predicting ---- */

/* Candidates of one code are one candidate to the tuner. */
static CacheKey code_of(const nereid_request *r) {
  char *text;
  size_t size;
  KeyMaker *k = cache_key_start();
  must(nereid_emit(&text, &size, r, NEREID_PTX), "code");
  cache_key_add(k, text, size);
  nereid_text_free(text);
  return cache_key_end(k);
}

static void predict(void *context, size_t i) {
  const Batch *b = context;
  const Problem *p = b->problems[i];
  Config *c = b->configs[i];
  Words w;
  nereid_binding names[PAIRS_MAX];
  make_request(&w, p, c);
  w.request.target = b->sweep->predict;
  EstimateLaunch l = {.request = &w.request, .peaks = &b->sweep->peaks, .ints = names};
  l.nints = bind(names, &p->args);
  eval_grid(l.grid, p, c);
  if (estimate_explain(&c->estimate, &c->stats, &l)) c->why = strdup(nereid_error_message());
  else c->code = code_of(&w.request);
}

static void put_in_order(Problem *p) {
  const Estimate *estimates[CONFIGS_MAX];
  size_t order[CONFIGS_MAX];
  for (int i = 0; i < p->nconfigs; i++) estimates[i] = &p->configs[i].estimate;
  estimate_order(order, estimates, (size_t)p->nconfigs);
  for (int i = 0; i < p->nconfigs; i++) p->configs[order[i]].place = i;
}

static void print_prediction(const Problem *p, const Config *c) {
  const Estimate *e = &c->estimate;
  const LaunchStats *f = &c->stats;
  const SimCounts *n = &f->counts;
  if (c->why) {
    print_failure(p, c, c->why);
    return;
  }
  printf("%s\t%s\tplace=%d us=%.3f low=%.3f high=%.3f bound=%s", p->name, c->text, c->place, e->us,
         e->low_us, e->high_us, estimate_bound_name(e->bound));
  printf(" programs=%.0f warps=%d registers=%d spilled=%d shared=%lld occupancy=%d stages=%d",
         f->programs, f->warps, f->registers, f->spilled, (long long)f->shared, f->occupancy,
         f->stages);
  printf(" waits=%.1f early=%.1f", f->waits, f->early);
  printf(" clocks=%.1f most=%.1f loaded=%.0f stored=%.0f read=%.0f written=%.0f busy=%.0f",
         f->clocks, f->clocks_most, f->loaded, f->stored, f->read, f->written, f->busy);
  printf(" issued=%.1f f32=%.1f alu=%.1f special=%.1f convert=%.1f shuffle=%.1f", n->issued, n->f32,
         n->alu, n->special, n->convert, n->shuffle);
  printf(" banks=%.1f banks_least=%.1f lines=%.1f lines_least=%.1f tensor=%.1f operands=%.1f",
         n->shared, n->shared_least, n->lines, n->lines_least, n->tensor, n->operands);
  printf(" sent=%.1f barriers=%.1f atomics=%.1f narrow=%.1f unwanted=%.1f rounds=%.1f code=",
         n->sent, n->barriers, n->atomics, n->narrow_copies, n->unwanted, n->rounds);
  for (size_t i = 0; i < sizeof c->code.bytes; i++) printf("%02x", c->code.bytes[i]);
  printf("\n");
}

static void forget(const Sweep *s, Problem *p) {
  for (int i = 0; i < p->args.n; i++)
    if (p->data[i]) nereid_free(s->device, p->data[i]);
  for (int i = 0; i < p->nconfigs; i++) {
    Config *c = &p->configs[i];
    nereid_launch_free(c->launch);
    nereid_kernel_free(c->kernel);
    nereid_image_free(c->image);
    free(c->why);
    c->launch = NULL;
    c->kernel = NULL;
    c->image = NULL;
    c->why = NULL;
  }
}

/* ---- all of them ---- */

/* The problems from `at` on that make up a batch. */
static Batch batch_at(Sweep *s, int at) {
  Batch b = {.sweep = s, .from = at, .end = at};
  int n = 0;
  if (at < s->nproblems) do n += s->problems[b.end++].nconfigs;
  while (b.end < s->nproblems && n + s->problems[b.end].nconfigs <= BATCH_CONFIGS);
  b.problems = must_have(calloc((size_t)n + 1, sizeof *b.problems));
  b.configs = must_have(calloc((size_t)n + 1, sizeof *b.configs));
  for (int i = at; i < b.end; i++)
    for (int k = 0; k < s->problems[i].nconfigs; k++) {
      b.problems[b.n] = &s->problems[i];
      b.configs[b.n++] = &s->problems[i].configs[k];
    }
  return b;
}

static void *prepare_batch(void *arg) {
  Batch *b = arg;
  Sweep *s = b->sweep;
  parallel_for((size_t)b->n, s->predict ? predict : compile, b);
  for (int i = b->from; i < b->end && s->predict; i++) put_in_order(&s->problems[i]);
  if (s->predict) return NULL;
  for (int i = b->from; i < b->end; i++) allocate_arrays(s, &s->problems[i]);
  for (int i = 0; i < b->n; i++) eval_grid(b->configs[i]->grid, b->problems[i], b->configs[i]);
  load(b);
  parallel_for((size_t)b->n, make_ready, b);
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start_anew(char **argv, int from) {
  char number[16];
  char *args[] = {argv[0], argv[1], "--from", number, NULL};
  snprintf(number, sizeof number, "%d", from);
  fprintf(stderr, "tune_sweep: the device's context is lost; starting anew\n");
  execv("/proc/self/exe", args);
  fail("/proc/self/exe", "can't be started");
}

/* Prints the results of a batch, and forgets it. */
static void finish_batch(Batch *b, char **argv) {
  Sweep *s = b->sweep;
  for (int i = 0; i < b->n && s->predict; i++) print_prediction(b->problems[i], b->configs[i]);
  for (int i = b->from; i < b->end; i++) {
    if (!s->predict && !measure_problem(s, &s->problems[i])) start_anew(argv, i + 1);
    forget(s, &s->problems[i]);
  }
  free(b->problems);
  free(b->configs);
}

static void sweep(Sweep *s, int from, char **argv) {
  double start = now(), measuring = 0;
  Batch b = batch_at(s, from);
  prepare_batch(&b);
  while (b.n) {
    pthread_t thread;
    Batch next = batch_at(s, b.end);
    if (pthread_create(&thread, NULL, prepare_batch, &next)) fail("threads", "there are no more");
    double begin = now();
    finish_batch(&b, argv);
    measuring += now() - begin;
    fprintf(stderr, "%d of %d problems, %.1f s, %.1f of it measuring\n", b.end, s->nproblems,
            now() - start, measuring);
    pthread_join(thread, NULL);
    b = next;
  }
  free(b.problems);
  free(b.configs);
}

static void keep_only(Sweep *s, const char *only) {
  int n = 0;
  for (int i = 0; i < s->nproblems; i++)
    if (strstr(s->problems[i].name, only)) s->problems[n++] = s->problems[i];
  s->nproblems = n;
}

int main(int argc, char **argv) {
  const char *device = "cuda", *only = NULL;
  int from = 0;
  Sweep s = {0};
  for (int i = 2; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--device")) device = argv[i + 1];
    else if (!strcmp(argv[i], "--from")) from = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--only")) only = argv[i + 1];
    else if (!strcmp(argv[i], "--predict")) s.predict = argv[i + 1];
    else fail(argv[i], "unknown option");
  }
  if (argc < 2 || (!s.predict && !nereid_device_count(device))) {
    printf("skipped: %s\n", argc < 2 ? "no file of problems" : nereid_error_message());
    return 0;
  }
  read_problems(&s, argv[1]);
  if (only) keep_only(&s, only);
  if (s.predict) {
    if (!strncmp(s.predict, "cpu", 3)) peaks_of_cpu(&s.peaks);
    else peaks_of_target(&s.peaks, s.predict);
    sweep(&s, from, argv);
    return 0;
  }
  must(nereid_device_open(&s.device, device), device);
  must(nereid_device_get_info(&s.info, s.device), device);
  make_patterns(&s);
  if (!from) printf("# %s, driver %d\n", s.info.description, s.info.driver_version);
  sweep(&s, from, argv);
  return 0;
}
