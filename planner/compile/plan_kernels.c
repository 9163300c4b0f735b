#include "planner/compile/plan_kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lower/target/machine.h"
#include "planner/compile/stages.h"
#include "planner/messages.h"
#include "runtime/compile/code_key.h"
#include "runtime/device/device.h"
#include "runtime/store/cache.h"
#include "runtime/support/parallel.h"

/* ---- the cache on disk ----
 *
 * Kernels' code from before the driver or the C compiler: a model that is
 * compiled again finds its kernels there, by all that they are made from. */

static void key_add_text(KeyMaker *key, const char *text) { cache_key_text(key, text ? text : ""); }

static CacheId kernel_cache_id(const nereid_device *d, const PlanKernel *p) {
  KeyMaker *key = cache_key_start();
  cache_key_text(key, "kernel of a graph");
  cache_key_text(key, nereid_build_id());
  key_add_text(key, nereid_kind_name(device_kind(d)));
  const Machine *m = machine_find(device_target(d)); /* "cpu" is several */
  key_add_text(key, m ? m->name : device_target(d));
  cache_key_add(key, p->request.source.text, p->request.source.size);
  request_key_add(key, &p->request);
  if (p->aligned.kernel) request_key_add(key, &p->aligned);
  return (CacheId){cache_key_end(key), CACHE_KERNEL, p->request.symbol, device_target(d)};
}

/* Opens it where the device runs code that is worth keeping. */
static void kernel_cache_open(PlanKernels *k) {
  nereid_kind kind = device_kind(k->device);
  if (!k->cache && (kind == NEREID_PTX || kind == NEREID_C))
    k->cache = cache_open(k->device->on_message, k->device->context);
}

static bool is_kernel_cached(const PlanKernels *k, const PlanKernel *p) {
  return k->cache && p->whole;
}

/* NULL: not there, or never cached: kernels of a file that may import others. */
static nereid_image *kernel_cache_get(const PlanKernels *k, const PlanKernel *p) {
  nereid_image *image = NULL;
  char *data;
  size_t size;
  if (!is_kernel_cached(k, p)) return NULL;
  CacheId id = kernel_cache_id(k->device, p);
  if (!cache_get(k->cache, &id, &data, &size)) return NULL;
  if (nereid_image_from_bytes(&image, data, size)) image = NULL;
  free(data);
  return image;
}

/* Keeps the images that were made (others are NULL): those of p[i] that the cache takes and did not
 * have. */
static void kernel_cache_put(const PlanKernels *k, PlanKernel *const *p,
                             nereid_image *const *images, size_t n) {
  CacheEntry *entries = calloc(n + 1, sizeof *entries);
  size_t used = 0;
  for (size_t i = 0; entries && i < n; i++) {
    char *data;
    size_t size;
    if (!images[i] || !is_kernel_cached(k, p[i]) || p[i]->from_cache) continue;
    if (nereid_image_bytes(&data, &size, images[i])) continue;
    entries[used++] = (CacheEntry){kernel_cache_id(k->device, p[i]), data, size};
  }
  if (used) cache_put_all(k->cache, entries, used);
  for (size_t i = 0; i < used; i++) nereid_text_free((char *)(uintptr_t)entries[i].data);
  free(entries);
}

/* An executable lives long, and an open database is a descriptor. */
static void kernel_cache_close(PlanKernels *k) {
  cache_close(k->cache);
  k->cache = NULL;
}

static int open_module(PlanKernels *k) {
  if (k->module || !k->plan->nsteps) return 0;
  return nereid_module_open(&k->module, &k->source, NULL, NULL);
}

/* The source as it was read is larger than all else that an executable keeps.  It is read again
 * where kernels are wanted that depend on sizes. */
static void close_module(PlanKernels *k) {
  nereid_module_free(k->module);
  k->module = NULL;
}

int kernels_open(PlanKernels *k, Arena *a, const Plan *p, nereid_device *d) {
  *k = (PlanKernels){.arena = a, .names = pool_new(a), .plan = p, .device = d};
  /* C compilers take all the time there is, and CPUs load from any address. */
  k->aligns = d && device_kind(d) != NEREID_C;
  k->pdl = d && device_kind(d) == NEREID_PTX;
  k->source.path = arena_printf(a, "<kernels of %s>", p->graph->class_name);
  k->source.text = p->source;
  k->source.size = strlen(p->source);
  k->asserts = strstr(p->source, "tl.device_assert(") != NULL;
  k->of_step = ARENA_ARRAY(a, PlanKernel *, p->nsteps);
  return open_module(k);
}

void kernels_close(PlanKernels *k) {
  for (size_t i = 0; i < k->list.len; i++) {
    nereid_kernel_free(k->list.data[i]->kernel);
    free(k->list.data[i]->message);
  }
  kernel_cache_close(k);
  close_module(k);
  *k = (PlanKernels){0};
}

/* ---- what a step is specialized on ---- */

typedef struct {
  PlanKernels *k;
  Arena *arena; /* of the texts */
  const PlanStep *step;
  const Sizes *sizes;
  bool aligned; /* for rows that begin at multiples of 16 */
  const nereid_kernel_info *info;
  nereid_arg *args;
  int nargs;
  int steady; /* bits of parameters */
  Text key;
} Specialize;

static const nereid_param *find_kernel_param(const Specialize *s, const char *name) {
  for (int i = 0; i < s->info->nparams; i++)
    if (!strcmp(s->info->params[i].name, name)) return &s->info->params[i];
  return NULL;
}

static bool shares_symbol(Dim a, Dim b) {
  if (a->kind == DIM_SYMBOL && b->kind == DIM_SYMBOL) return a == b;
  Dim inner = a->kind == DIM_SYMBOL ? b : a, other = inner == a ? b : a;
  for (uint32_t i = 0; i < inner->n; i++)
    if (shares_symbol(inner->args[i], other)) return true;
  return false;
}

/* Does x decide at which addresses rows of the step's buffers begin? */
static bool tiles_follow_rows(const Specialize *s, Dim x) {
  for (uint32_t i = 0; i < s->step->nargs; i++) {
    const StepArg *a = &s->step->args[i];
    if (a->kind != STEP_BUFFER) continue;
    const PlanBuffer *b = &s->k->plan->buffers[a->buffer];
    if (b->rank > 1 && shares_symbol(x, b->shape[b->rank - 1])) return true;
  }
  return false;
}

/* An integer argument: a number as Triton specializes it, an expression for all its values. */
static const char *int_type(Specialize *s, const StepArg *a) {
  const nereid_param *p = find_kernel_param(s, a->name);
  DimRange r = dim_range(s->k->plan->graph->dims, a->value);
  bool narrow = r.lo >= INT32_MIN && r.hi <= INT32_MAX;
  const char *type = narrow ? "i32" : "i64";
  if (p && p->do_not_specialize) return type;
  if (dim_is(a->value, 1)) return arena_printf(s->arena, "%s:1", type);
  bool aligned = s->aligned && !dim_is_int(a->value) && tiles_follow_rows(s, a->value);
  if (aligned || dim_divisible(a->value, 16)) return arena_printf(s->arena, "%s:16", type);
  return type;
}

static const char *step_arg_type(Specialize *s, const StepArg *a) {
  switch (a->kind) {
    case STEP_BUFFER:
      return arena_printf(s->arena, "*%s:16", dtype_name(s->k->plan->buffers[a->buffer].dtype));
    case STEP_INT: return int_type(s, a);
    default: return "f32";
  }
}

static void add_kernel_argument(Specialize *s, const char *name, const char *type,
                                const char *value) {
  s->args[s->nargs++] = (nereid_arg){name, type, value};
  text_printf(&s->key, " %s%s%s", name, type ? ":" : "=", type ? type : value);
}

static int add_kernel_constexpr(Specialize *s, const StepConstexpr *c) {
  int64_t value = dim_is_int(c->value) ? c->value->value : 0;
  if (!dim_is_int(c->value) && !sizes_eval(s->sizes, c->value, &value))
    return error_set(NEREID_E_USAGE, E_GRAPH_STEP_VALUE, s->step->kernel, c->name);
  add_kernel_argument(s, c->name, NULL, arena_printf(s->arena, "%" PRId64, value));
  return 0;
}

/* The bits of parameters whose loads run before the kernel's wait. */
static int steady_parameters(const Specialize *s) {
  enum { BITS = 31 };
  unsigned bits = 0;
  for (uint32_t i = 0; i < s->step->nargs && s->k->pdl; i++) {
    const nereid_param *p = find_kernel_param(s, s->step->args[i].name);
    if (!s->step->args[i].steady || !p) continue;
    if (p - s->info->params < BITS) bits |= 1u << (p - s->info->params);
  }
  return (int)bits;
}

static int specialize(Specialize *s) {
  const PlanStep *step = s->step;
  int code = open_module(s->k);
  if (!code) code = nereid_module_find(&s->info, s->k->module, step->kernel);
  if (code) return code;
  s->nargs = 0;
  s->args = ARENA_ARRAY(s->arena, nereid_arg, (size_t)step->nargs + step->nconstexprs);
  s->key = text_new(s->arena);
  text_printf(&s->key, "%s warps %u stages %u", step->kernel, step->warps, step->stages);
  for (uint32_t i = 0; i < step->nargs; i++)
    add_kernel_argument(s, step->args[i].name, step_arg_type(s, &step->args[i]), NULL);
  for (uint32_t i = 0; i < step->nconstexprs && !code; i++)
    code = add_kernel_constexpr(s, &step->constexprs[i]);
  s->steady = steady_parameters(s);
  if (s->steady) text_printf(&s->key, " steady %d", s->steady);
  return code;
}

/* ---- finding ---- */

bool kernels_depend(const PlanStep *s) {
  for (uint32_t i = 0; i < s->nconstexprs; i++)
    if (!dim_is_int(s->constexprs[i].value)) return true;
  return false;
}

/* Code is compiled together: each kernel has a name of its own there, k3_add, k3_add_v2 ... */
static const char *symbol_for(PlanKernels *k, const char *kernel) {
  void **count = namemap_put(k->arena, &k->symbols, pool_name(k->names, kernel));
  uintptr_t n = (uintptr_t)*count + 1;
  *count = (void *)n;
  return n == 1 ? kernel : arena_printf(k->arena, "%s_v%zu", kernel, (size_t)n);
}

static const PlanFunction *function_of(const Plan *p, Name kernel) {
  for (uint32_t i = 0; i < p->nfunctions; i++)
    if (p->functions[i].kernel == kernel) return &p->functions[i];
  return NULL;
}

/* The text before all functions, and f; empty lines replace the others, so that line numbers
 * hold. */
static char *part_of_source(PlanKernels *k, const PlanFunction *f) {
  const PlanFunction *first = &k->plan->functions[0];
  size_t head = first->begin, lines = f->line - first->line, own = f->end - f->begin;
  char *part = ARENA_ARRAY(k->arena, char, head + lines + own + 1);
  memcpy(part, k->plan->source, head);
  memset(part + head, '\n', lines);
  memcpy(part + head + lines, k->plan->source + f->begin, own);
  return part;
}

/* A kernel of ours calls no other.  So the time that many take does not grow with the square. */
static nereid_source kernel_source(PlanKernels *k, Name kernel) {
  nereid_source s = k->source;
  const PlanFunction *f = function_of(k->plan, kernel);
  if (!f) return s;
  void **part = namemap_put(k->arena, &k->sources, kernel);
  if (!*part) *part = part_of_source(k, f);
  s.text = *part;
  s.size = strlen(s.text);
  return s;
}

/* Level thread of a plan for CPUs is a CPU's, whose panels in place would be copies in the shared
 * memory of a GPU. */
static const char *interpreted_target(const PlanKernels *k) {
  bool interprets = k->device && device_kind(k->device) == NEREID_THREAD;
  return interprets && k->plan->graph->host ? "cpu" : NULL;
}

static nereid_request request_of(const Specialize *s) {
  return (nereid_request){.source = kernel_source(s->k, s->step->kernel),
                          .kernel = s->step->kernel,
                          .args = s->args,
                          .nargs = s->nargs,
                          .target = interpreted_target(s->k),
                          .num_warps = (int)s->step->warps,
                          .num_stages = (int)s->step->stages,
                          .alias = NEREID_ALIAS_DISJOINT,
                          .debug = s->k->asserts,
                          .allow_overflow = s->k->asserts,
                          .pdl = s->k->pdl,
                          .steady = s->steady,
                          .symbol = symbol_for(s->k, s->step->kernel)};
}

static int add_aligned(PlanKernel *made, Specialize s) {
  s.aligned = true;
  int code = specialize(&s);
  if (!code && strcmp(s.key.data, made->key)) made->aligned = request_of(&s);
  return code;
}

static int make_kernel(PlanKernels *k, Specialize s, Name key, PlanKernel **out) {
  s.arena = k->arena;
  int code = specialize(&s);
  if (code) return code;
  PlanKernel *made = ARENA_NEW(k->arena, PlanKernel);
  made->key = key;
  made->request = request_of(&s);
  made->whole = made->request.source.text != k->source.text;
  if (k->aligns) code = add_aligned(made, s);
  vec_push(k->arena, &k->list, made);
  *namemap_put(k->arena, &k->by_key, key) = *out = made;
  return code;
}

/* Counts the step's programs, if the plan alone tells them. */
static void count_programs(const PlanKernels *k, const PlanStep *s, PlanKernel *p) {
  uint64_t n = 1;
  for (int i = 0; i < 3; i++) {
    bool known = dim_is_int(s->grid[i]) && s->grid[i]->value >= 0 && s->grid[i]->value < INT32_MAX;
    if (!known || k->plan->nloops) p->varies = true;
    else if (n < INT32_MAX) n *= (uint64_t)s->grid[i]->value;
  }
  p->programs += n;
  p->called |= !s->once;
}

int kernels_find(PlanKernels *k, const PlanStep *s, const Sizes *sizes, PlanKernel **out) {
  bool depends = kernels_depend(s);
  PlanKernel **known = &k->of_step[s - k->plan->steps];
  *out = depends ? NULL : *known;
  if (*out || (!sizes && depends)) return 0;
  Specialize spec = {.k = k, .arena = arena_child(k->arena), .step = s, .sizes = sizes};
  int code = specialize(&spec);
  if (!code) {
    Name key = pool_name(k->names, spec.key.data);
    *out = namemap_get(&k->by_key, key);
    if (!*out) code = make_kernel(k, (Specialize){.k = k, .step = s, .sizes = sizes}, key, out);
    if (!code) count_programs(k, s, *out);
    if (!code && !depends) *known = *out;
  }
  arena_free(spec.arena);
  return code;
}

int kernels_request(PlanKernels *k, const PlanStep *s, const Sizes *sizes, nereid_request *out) {
  Specialize spec = {.k = k, .arena = k->arena, .step = s, .sizes = sizes, .aligned = k->aligns};
  int code = specialize(&spec);
  if (code) return code;
  *out = request_of(&spec);
  out->symbol = s->kernel;
  return 0;
}

/* ---- which nodes a failure is about ---- */

/* The lines that have a note. */
typedef struct {
  Arena *arena;
  VEC(Span) lines;
} Noted;

static bool is_noted(const Noted *d, Span at) {
  for (size_t i = 0; i < d->lines.len; i++)
    if (d->lines.data[i].file == at.file && d->lines.data[i].line == at.line) return true;
  return false;
}

/* Notes have lines of their own. */
static void end_line(void) {
  const char *text = nereid_error_message();
  size_t n = strlen(text);
  if (n && text[n - 1] != '\n') error_add("\n");
}

static void note_node(Noted *d, const PlanKernels *k, const PlanStep *s, const Node *n) {
  const Source *file = diag_file(k->plan->graph->diags, n->location.file);
  if (!file || !n->location.line || is_noted(d, n->location)) return;
  vec_push(d->arena, &d->lines, n->location);
  end_line();
  error_add("%s:%u:%u: ", file->name, n->location.line, n->location.col);
  error_add_note(N_GRAPH_KERNEL_FAILED, n->name, s->kernel);
  error_add("\n");
}

static bool runs(const PlanKernels *k, const PlanStep *s, const PlanKernel *p) {
  const PlanKernel *known = k->of_step[s - k->plan->steps];
  return known ? known == p : s->kernel == p->request.kernel;
}

static bool is_about_kernel(int code) {
  return code == NEREID_E_KERNEL || code == NEREID_E_USAGE || code == NEREID_E_RESOURCES ||
         code == NEREID_E_INTERNAL || code == NEREID_E_TOOL;
}

/* Adds to the last failure a note for each line of the graph that a kernel computes which could not
 * be made.  A failure of another kind than the kernel's own, such as of memory, gets no note.
 * Returns the failure's code. */
static int note_failures(const PlanKernels *k, size_t first) {
  Noted d = {.arena = arena_child(k->arena)};
  for (size_t i = first; i < k->list.len; i++) {
    const PlanKernel *p = k->list.data[i];
    for (uint32_t at = 0; is_about_kernel(p->code) && at < k->plan->nsteps; at++) {
      const PlanStep *s = &k->plan->steps[at];
      for (uint32_t n = 0; n < s->nnodes && runs(k, s, p); n++) note_node(&d, k, s, s->nodes[n]);
    }
  }
  arena_free(d.arena);
  return nereid_error_code();
}

/* ---- compiling ---- */

typedef struct {
  PlanKernels *k;
  nereid_image **images; /* of those from number `first` on */
  size_t first;
} Work;

/* The aligned kernel's image comes before the general one's: guards are tried in order. */
static int compile_image(nereid_image **out, nereid_device *d, const PlanKernel *p) {
  nereid_image *general;
  if (!p->aligned.kernel) return nereid_compile_for(out, d, &p->request);
  int code = nereid_compile_for(out, d, &p->aligned);
  if (code) return code;
  code = nereid_compile_for(&general, d, &p->request);
  if (!code) code = nereid_image_add(*out, general);
  nereid_image_free(general);
  return code;
}

static nereid_image *open_given_image(const KernelImage *x) {
  nereid_image *image;
  if (nereid_image_from_bytes(&image, x->data, x->size)) return NULL;
  for (int i = 0; i < image->nvariants && x->code; i++) {
    image->variants[i]->code = x->code->data;
    image->variants[i]->size = x->code->size;
  }
  return image;
}

/* The image that was made before; NULL: there is none. */
static nereid_image *find_given_image(const PlanKernels *k, const PlanKernel *p) {
  nereid_image *image = NULL;
  for (size_t i = 0; k->images && i < k->images->n && !image; i++)
    if (!strcmp(k->images->list[i].key, p->key)) image = open_given_image(&k->images->list[i]);
  return image;
}

static void compile_kernel_at(void *context, size_t i) {
  const Work *w = context;
  PlanKernel *p = w->k->list.data[w->first + i];
  free(p->message);
  p->message = NULL;
  p->begin = stages_now();
  w->images[i] = find_given_image(w->k, p);
  if (!w->images[i]) w->images[i] = kernel_cache_get(w->k, p);
  p->from_cache = w->images[i] != NULL;
  p->code = p->from_cache ? 0 : compile_image(&w->images[i], w->k->device, p);
  /* The message is this thread's, and shall be the caller's. */
  if (p->code) p->message = error_keep();
  p->end = stages_now();
}

static int first_kernel_failure(const PlanKernels *k, size_t first) {
  for (size_t i = first; i < k->list.len; i++) {
    const PlanKernel *p = k->list.data[i];
    if (p->code) return error_again(p->code, p->message);
  }
  return 0;
}

static void count_loaded(void *kernels) { compile_count_add(&((PlanKernels *)kernels)->count); }

/* A failure of all is no kernel's: the machine lacks a compiler. */
static void note_unloaded(const Work *w, const int *codes, size_t n) {
  size_t failed = 0;
  for (size_t i = 0; i < n; i++) failed += codes[i] != 0;
  for (size_t i = 0; i < n && failed < n; i++) w->k->list.data[w->first + i]->code = codes[i];
}

static int load_all(const Work *w, size_t n) {
  nereid_kernel **made = ARENA_ARRAY(w->k->arena, nereid_kernel *, n);
  LoadUse *uses = ARENA_ARRAY(w->k->arena, LoadUse, n);
  int *codes = ARENA_ARRAY(w->k->arena, int, n);
  const LoadWatch watch = {count_loaded, w->k};
  for (size_t i = 0; i < n; i++) {
    const PlanKernel *p = w->k->list.data[w->first + i];
    uses[i] = (LoadUse){.programs = p->varies ? 0 : p->programs, .once = !p->called};
  }
  int code = device_load_all(made, w->k->device, (const nereid_image *const *)w->images, uses,
                             (int)n, w->k->count.fn ? &watch : NULL, codes);
  for (size_t i = 0; i < n && !code; i++) w->k->list.data[w->k->compiled + i]->kernel = made[i];
  if (code) note_unloaded(w, codes, n);
  return code;
}

int kernels_compile(PlanKernels *k) {
  size_t n = k->list.len - k->compiled;
  Work w = {k, ARENA_ARRAY(k->arena, nereid_image *, n), k->compiled};
  if (n == 0) return 0;
  close_module(k);
  kernel_cache_open(k);
  compile_count_start(&k->count, n);
  parallel_for(n, compile_kernel_at, &w);
  int code = first_kernel_failure(k, k->compiled);
  if (!code) code = load_all(&w, n);
  if (code) code = note_failures(k, k->compiled);
  /* After a failure too: what is left of the graph is compiled again. */
  kernel_cache_put(k, k->list.data + k->compiled, w.images, n);
  kernel_cache_close(k);
  for (size_t i = 0; i < n; i++) nereid_image_free(w.images[i]);
  if (!code) k->compiled = k->list.len;
  return code;
}

int kernels_images(PlanKernels *k, nereid_image **out) {
  Work w = {.k = k, .images = out};
  kernel_cache_open(k);
  parallel_for(k->list.len, compile_kernel_at, &w);
  kernel_cache_close(k);
  return first_kernel_failure(k, 0);
}

bool kernels_cached_images(PlanKernels *k, nereid_image **out) {
  bool all = true;
  kernel_cache_open(k);
  for (size_t i = 0; i < k->list.len && all; i++) {
    out[i] = kernel_cache_get(k, k->list.data[i]);
    all = out[i] != NULL;
  }
  kernel_cache_close(k);
  return all;
}
