/* Device cpu: C compiled by the system's compiler, loaded, and run by a team of threads. */
#include "runtime/device/cpu_device.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "lower/target/machine.h"
#include "runtime/messages.h"
#include "runtime/support/cores.h"
#include "runtime/support/host_machine.h"
#include "runtime/support/parallel.h"
#include "runtime/support/team.h"

/* Loading kernels on the CPU.
 *
 * The C of many kernels is joined into a few units, and compilers that run side by side make a
 * library of each: what a run of a compiler costs, however small the kernel, is paid once a core.
 * Libraries are kept in the cache, by all that they were made from. */

enum { NAME_MAX_SHOWN = 96, OPTIONS_MAX = 64, OUTPUT_MAX = 8192, WORDS_MAX = TOOL_PATH + 512 };

/* More libraries than cores tell how far it is, and the last ones keep all cores busy.  Each costs
 * 50 ms for the compiler's start, the common text and the launch, and the functions that its
 * kernels share with those of others (decision 934). */
enum { LIBRARY_KERNELS = 16, BRIEF_LIBRARY_KERNELS = 32 };

/* Kernels that together take no more of a call than this, by estimate, are compiled quickly: at -Og
 * GCC takes half the time, and they run 2.6 times as long.  A call that takes 15 us from Python
 * takes at most 1.6 us more, and any other 1.6% (decision 390). */
#define BRIEF_NS 1000.0
#define BRIEF_SHARE 0.01

/* A kernel that runs once, on weights, is compiled quickly too if it takes no longer than this: it
 * loses then what GCC gains, 50 ms on a core (decision 627). */
#define ONCE_NS 20e6

/* How much the C compiler optimizes a library's kernels.  GCC takes 0.5 to 0.7 of its time with the
 * flags of LIGHT, and calls take no longer: loops of products are functions, which are compiled at
 * -O2 in any library; others need the vectorizer of -O2, sums and depthwise convolutions
 * -ftree-pre.  Kernels that add products of a matrix by themselves, or of bf16, take up to twice as
 * long (decisions 772 and 840). */
typedef enum { FULL, LIGHT, BRIEF, EFFORTS } Effort;
static const char *const effort_options[EFFORTS] = {
    "", "-O1 -ftree-vectorize -ftree-vrp -ftree-pre", "-Og"};

typedef struct {
  LoadItem **items;
  int n;
  Effort effort;
  size_t bytes;              /* of the kernels' texts: how long compiling them takes */
  char name[NAME_MAX_SHOWN]; /* "softmax and 3 more" */
  Text text;
  CpuCode *made; /* NULL: not yet */
  int code;
  char *message; /* of a failure, malloc'ed */
} Library;

/* A kernel that has the code of another one of those that are loaded with it. */
typedef struct {
  LoadItem item;
  CacheKey key;
  Effort effort;
} Twin;

typedef struct {
  nereid_device *device;
  Arena *arena;
  const LoadItem *given;
  LoadItem *items; /* of those given, the ones that are compiled */
  int n;
  Effort *efforts; /* of each item */
  CacheKey *keys;  /* of the C of each, but for names */
  Twin *twins;
  int ntwins;
  Library *libraries;
  int nlibraries;
} Loading;

/* Kernels without an entry are interpreted. */
static bool is_interpreted(const Loaded *l) { return !l->entry; }

const CpuCode *cpu_code(const Loaded *l) { return is_interpreted(l) ? NULL : l->code; }

/* ---- compiling ---- */

/* The flags that the kernels' text needs, then those of a shared library; -Bsymbolic, since the
 * program may have a function of a kernel's name. */
static const char FLAGS[] = C_FLAGS " -std=gnu11 -fPIC -shared -Wl,-Bsymbolic -w";

/* The linker takes 15 ms to read the C library, which each process has. */
static const char LEAN_LINK[] = "-nodefaultlibs";

/* Options that take units from -march=native where NEREID_CPU asks for a narrower CPU. */
static const char *left_out(void) {
#if defined(__x86_64__)
  enum { AVX2 = 8, SSE = 4 };
  const Machine *m = getenv("NEREID_CPU") ? machine_find("cpu") : NULL;
  if (m && m->lanes <= SSE) return "-mno-avx";
  if (m && m->lanes <= AVX2) return "-mno-avx512f -mno-avxvnni";
#endif
  return "";
}

static Cache *cache_of(nereid_device *d) {
  Cpu *cpu = d->state;
  pthread_mutex_lock(&d->lock);
  if (!cpu->cache) cpu->cache = cache_open(d->on_message, d->context);
  pthread_mutex_unlock(&d->lock);
  return cpu->cache;
}

/* A compiler that was replaced is another one. */
static CacheId library_id(const Cpu *cpu, const Library *l) {
  struct stat st = {0};
  stat(cpu->cc, &st);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "shared object");
  cache_key_text(k, nereid_build_id());
  cache_key_text(k, cpu->cc);
  cache_key_text(k, cpu->options);
  cache_key_add(k, &st.st_size, sizeof st.st_size);
  cache_key_add(k, &st.st_mtime, sizeof st.st_mtime);
  cache_key_add(k, cpu->processor, sizeof cpu->processor);
  cache_key_text(k, FLAGS);
  cache_key_text(k, left_out());
  cache_key_text(k, effort_options[l->effort]);
  cache_key_add(k, l->text.data, l->text.len);
  return (CacheId){cache_key_end(k), CACHE_LIBRARY, l->name, l->items[0]->variant->target};
}

/* $CC's own options, ours, and the files.  `words` holds what argv points to. */
static void command_line(const char **argv, char *words, const Cpu *cpu, const char *more,
                         Effort effort, const char *in, const char *out) {
  const bool lean = strstr(more, LEAN_LINK) != NULL;
  int n = 0;
  argv[n++] = cpu->cc;
  snprintf(words, WORDS_MAX, "%s %s %s %s %s", cpu->options, FLAGS, left_out(),
           effort_options[effort], more);
  char *rest = NULL;
  for (char *w = strtok_r(words, " ", &rest); w && n < OPTIONS_MAX - 6;
       w = strtok_r(NULL, " ", &rest))
    argv[n++] = w;
  argv[n++] = "-o";
  argv[n++] = out;
  argv[n++] = in;
  argv[n++] = "-lm";
  if (lean) argv[n++] = "-lgcc";
  argv[n] = NULL;
}

static bool broke_down(const char *output) {
  return strstr(output, "unrecognizable insn") || strstr(output, "internal compiler error");
}

/* Options to try in turn.  GCC breaks down over some code: version 13 over conversions between
 * vectors of 512 bits and of 256, version 12 over masks of vectors of few lanes, which its
 * vectorizer makes.  Without vectors of 512 bits all kernels of the unit take three times as long.
 * A compiler with options of its own, such as sanitizers, may need its libraries. */
typedef enum { ALWAYS, PLAIN_COMPILER, WHEN_BROKEN } AttemptWhen;
static const struct {
  const char *more;
  AttemptWhen when;
} attempts[] = {
    {LEAN_LINK, PLAIN_COMPILER},
    {"", ALWAYS},
    {"-fno-tree-vectorize", WHEN_BROKEN},
    {"-mno-avx512f", WHEN_BROKEN},
    {"-O1", WHEN_BROKEN}};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static bool is_tried(AttemptWhen when, const Cpu *cpu, const char *output) {
  switch (when) {
    case PLAIN_COMPILER: return !cpu->options[0];
    case WHEN_BROKEN: return broke_down(output);
    default: return !broke_down(output);
  }
}

static int run_compiler(nereid_device *d, const TempFolder *t, const Library *l) {
  const Cpu *cpu = d->state;
  char in[TOOL_PATH + 64], out[TOOL_PATH + 64], words[WORDS_MAX];
  char output[OUTPUT_MAX] = "", ignored[OUTPUT_MAX];
  const char *argv[OPTIONS_MAX];
  temp_name(in, sizeof in, t, "kernel.c");
  temp_name(out, sizeof out, t, "kernel.so");
  for (int i = 0; i < ATTEMPTS; i++) {
    if (!is_tried(attempts[i].when, cpu, output)) continue;
    command_line(argv, words, cpu, attempts[i].more, l->effort, in, out);
    if (tool_run(argv, i > 1 ? ignored : output, OUTPUT_MAX)) continue;
    if (!access(out, F_OK)) return 0;
    return error_set(NEREID_E_TOOL, E_RUN_TOOL_NOTHING, cpu->cc, "a C compiler, as CC should name");
  }
  return error_set(NEREID_E_TOOL, E_RUN_CC_FAILED, cpu->cc, l->items[0]->image->name, output);
}

static void note_cached(const Library *l) {
  for (int i = 0; i < l->n; i++) l->items[i]->out->resources.from_cache = 1;
}

bool cpu_is_library(const ImageVariant *v) {
  static const char magic[] = {0x7F, 'E', 'L', 'F'};
  return v->kind == NEREID_C && v->size > sizeof magic && !memcmp(v->code, magic, sizeof magic);
}

static int copy_library(CpuCodes *codes, Library *l) {
  const ImageVariant *v = l->items[0]->variant;
  char *data = malloc(v->size);
  if (!data) return error_out_of_memory();
  memcpy(data, v->code, v->size);
  note_cached(l);
  return cpu_code_new(&l->made, codes, data, v->size);
}

/* The library: from the cache, or compiled and put there.  It is kernel.so in the folder. */
static int provide(nereid_device *d, const TempFolder *t, Library *l) {
  Cpu *cpu = d->state;
  char *data;
  size_t size;
  if (cpu_is_library(l->items[0]->variant)) return copy_library(&cpu->codes, l);
  if (!cpu->found) return error_set(NEREID_E_TOOL, E_RUN_NO_CC);
  CacheId id = library_id(cpu, l);
  if (cache_get(cache_of(d), &id, &data, &size)) {
    note_cached(l);
    return cpu_code_new(&l->made, &cpu->codes, data, size);
  }
  int code = temp_write(t, "kernel.c", l->text.data, l->text.len);
  if (!code) code = run_compiler(d, t, l);
  if (!code) code = temp_read(t, "kernel.so", &data, &size);
  if (code) return code;
  cache_put(cache_of(d), &id, data, size);
  return cpu_code_new(&l->made, &cpu->codes, data, size);
}

/* ---- printed lines ---- */

/* Before a unit that prints: the lines go to the device that loaded it. */
static const char PRINT_HEAD[] =
    "int (*nereid_print)(void *device, const char *format, ...);\n"
    "void *nereid_print_device;\n"
    "#define PRINTF(...) nereid_print(nereid_print_device, __VA_ARGS__)\n";

/* Before a unit with assertions: the device is told of the first one that fails. */
static const char ASSERT_HEAD[] =
    "#include <stdint.h>\n"
    "void (*nereid_failed)(void *device, const char *text, uint32_t, uint32_t, uint32_t);\n"
    "void *nereid_failed_device;\n"
    "#define FAILED(text, x, y, z) nereid_failed(nereid_failed_device, text, x, y, z)\n";

typedef void AssertFailed(void *device, const char *text, uint32_t x, uint32_t y, uint32_t z);

/* The launch that is running reports it, or where several are, one of them. */
static void note_failure(void *device, const char *text, uint32_t x, uint32_t y, uint32_t z) {
  nereid_device *d = device;
  Cpu *cpu = d->state;
  pthread_mutex_lock(&d->lock);
  if (!cpu->failed) snprintf(cpu->failure, sizeof cpu->failure, E_RUN_ASSERT, text, x, y, z);
  __atomic_store_n(&cpu->failed, true, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&d->lock);
}

static int report_failure(nereid_device *d) {
  Cpu *cpu = d->state;
  char text[sizeof cpu->failure];
  if (__builtin_expect(!__atomic_load_n(&cpu->failed, __ATOMIC_ACQUIRE), 1)) return 0;
  pthread_mutex_lock(&d->lock);
  memcpy(text, cpu->failure, sizeof text);
  cpu->failed = false;
  pthread_mutex_unlock(&d->lock);
  error_set(NEREID_E_FINDINGS, "%s", text);
  return error_format(E_RUN_ASSERT);
}

static void connect_asserts(nereid_device *d, const CpuCode *library) {
  AssertFailed **failed = cpu_code_symbol(library, "nereid_failed");
  void **device = cpu_code_symbol(library, "nereid_failed_device");
  if (!failed || !device) return;
  *failed = note_failure;
  *device = d;
}

typedef int PrintLine(void *device, const char *format, ...);

static int print_line(void *device, const char *format, ...) {
  const nereid_device *d = device;
  va_list ap;
  va_start(ap, format);
  char *line = NULL;
  int n = d->on_print ? vasprintf(&line, format, ap) : vprintf(format, ap);
  va_end(ap);
  if (line && n >= 0) d->on_print(d->print_context, line);
  free(line);
  return n;
}

static void connect_print(nereid_device *d, const CpuCode *library) {
  PrintLine **print = cpu_code_symbol(library, "nereid_print");
  void **device = cpu_code_symbol(library, "nereid_print_device");
  if (!print || !device) return;
  *print = print_line;
  *device = d;
}

/* ---- checked accesses ---- */

/* Before a unit whose accesses are checked: the device tells where each argument's memory is. */
static const char REACH_HEAD[] =
    "#include <stdint.h>\n"
    "const uint64_t *(*nereid_reach)(void *device, const void *args);\n"
    "void *nereid_reach_device;\n"
    "#define REACH(args) nereid_reach(nereid_reach_device, args)\n";

/* A launch that runs: for each slot its first address and the one after the last; 0, 0: unknown. */
typedef struct Reach {
  struct Reach *next;
  const void *args;
  uint64_t *addresses;
} Reach;

typedef const uint64_t *FindReach(void *device, const void *args);

static const uint64_t *find_reach(void *device, const void *args) {
  nereid_device *d = device;
  const Cpu *cpu = d->state;
  pthread_mutex_lock(&d->lock);
  const Reach *r = cpu->reaches;
  while (r && r->args != args) r = r->next;
  pthread_mutex_unlock(&d->lock);
  return r ? r->addresses : NULL;
}

/* What the caller says of its memory, or the device knows of it. */
static void slot_reach(const Start *s, int slot, uint64_t out[2]) {
  const ImageSlot *of = &s->chosen->variant->slots[slot];
  const uint64_t at = s->slots[slot];
  out[0] = out[1] = 0;
  bool pointer = of->kind == SLOT_ARG && s->kernel->image->params[of->param].type.dtype == DT_PTR;
  if (!pointer) return;
  IntRange bytes = s->extent[of->param];
  const Allocation *a = bytes.lo == INT64_MIN ? device_find(s->kernel->device, (void *)at) : NULL;
  if (a) bytes = (IntRange){a->data - (char *)at, a->data + a->size - (char *)at - 1};
  if (bytes.lo == INT64_MIN) return;
  if (bytes.lo > bytes.hi) { /* no byte at all */
    out[0] = out[1] = at ? at : 1;
    return;
  }
  out[0] = at + (uint64_t)bytes.lo;
  out[1] = at + (uint64_t)bytes.hi + 1;
}

static void add_reach(const Start *s, Reach *r) {
  nereid_device *d = s->kernel->device;
  Cpu *cpu = d->state;
  int n = s->chosen->variant->nslots;
  *r = (Reach){.args = s->slots, .addresses = malloc(2 * sizeof *r->addresses * (size_t)(n + 1))};
  if (!r->addresses) return;
  pthread_mutex_lock(&d->lock);
  for (int i = 0; i < n; i++) slot_reach(s, i, r->addresses + 2 * i);
  r->next = cpu->reaches;
  cpu->reaches = r;
  pthread_mutex_unlock(&d->lock);
}

static void remove_reach(nereid_device *d, Reach *r) {
  Cpu *cpu = d->state;
  if (!r->addresses) return;
  pthread_mutex_lock(&d->lock);
  Reach **at = &cpu->reaches;
  while (*at != r) at = &(*at)->next;
  *at = r->next;
  pthread_mutex_unlock(&d->lock);
  free(r->addresses);
}

static void connect_reach(nereid_device *d, const CpuCode *library) {
  FindReach **reach = cpu_code_symbol(library, "nereid_reach");
  void **device = cpu_code_symbol(library, "nereid_reach_device");
  Cpu *cpu = d->state;
  if (!reach || !device) return;
  *reach = find_reach;
  *device = d;
  __atomic_store_n(&cpu->checks, true, __ATOMIC_RELEASE);
}

/* ---- loading ---- */

static int open_code(nereid_device *d, const TempFolder *t, CpuCode *c) {
  char path[TOOL_PATH + 64];
  size_t size;
  const char *data = cpu_code_bytes(&size, c);
  temp_name(path, sizeof path, t, "kernel.so");
  int code = access(path, F_OK) ? temp_write(t, "kernel.so", data, size) : 0;
  if (code) return code;
  if (!cpu_code_open(c, path)) return error_set(NEREID_E_TOOL, E_RUN_DLOPEN, dlerror());
  connect_print(d, c);
  connect_asserts(d, c);
  connect_reach(d, c);
  return 0;
}

/* The kernel is a user of the library, or holds it already. */
static int connect_kernel(const LoadItem *item, CpuCode *c, const char *entry) {
  char symbol[1024];
  snprintf(symbol, sizeof symbol, "%s_launch", entry);
  item->out->entry = cpu_code_symbol(c, symbol);
  if (!item->out->entry) return error_set(NEREID_E_TOOL, E_RUN_DLOPEN, symbol);
  item->out->code = c;
  return 0;
}

static int open_kernels(const Loading *w, const TempFolder *t, const Library *l) {
  int code = open_code(w->device, t, l->made);
  for (int i = 0; i < l->n && !code; i++) {
    const LoadItem *item = l->items[i];
    code = connect_kernel(item, l->made, item->variant->entry);
    if (code) break;
    cpu_code_hold(l->made);
    if (l->text.data)
      cpu_code_know(l->made, w->keys[item - w->items], (int)l->effort, item->variant->entry);
  }
  return code;
}

static void build_library(void *context, size_t i) {
  const Loading *loading = context;
  Library *l = &loading->libraries[i];
  TempFolder t;
  Log log = loading->device->log;
  double begin = host_now();
  l->code = temp_new(&t);
  if (!l->code) l->code = provide(loading->device, &t, l);
  if (!l->code) l->code = open_kernels(loading, &t, l);
  cpu_code_release(l->made);
  temp_free(&t);
  if (!l->code)
    LOG(log, LOG_COMPILE, "library %s for %s: %s, %.0f ms", l->name, l->items[0]->variant->target,
        l->items[0]->out->resources.from_cache ? "from the cache" : "by the C compiler",
        (host_now() - begin) * 1e3);
  for (int k = 0; k < l->n && !l->code; k++) load_ready(l->items[k]);
  /* The message is this thread's, and shall be the caller's. */
  if (l->code) l->message = error_keep();
}

static void cpu_unload(nereid_device *d, Loaded *l) {
  (void)d;
  if (is_interpreted(l)) interp_unload_ordered(l);
  else cpu_code_release(l->code);
  l->code = NULL;
}

/* ---- which kernels are compiled quickly ---- */

/* Nanoseconds of a kernel in a call of all that is loaded with it, or in the one run that it has
 * before all calls; 0: unknown. */
static double call_ns(const LoadItem *item) {
  if (!item->use.programs || cpu_is_library(item->variant)) return 0;
  double ns = (double)item->use.programs * c_program_ns(item->variant->code);
  return isinf(ns) ? 0 : ns;
}

typedef struct {
  int item;
  double ns;
} CallTime;

static int less_time_first(const void *a, const void *b) {
  const CallTime *x = a, *y = b;
  if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
  return x->item < y->item ? -1 : 1;
}

static Effort least_effort(const LoadItem *item) {
  const bool full = cpu_is_library(item->variant) || c_adds_products(item->variant->code);
  return full ? FULL : LIGHT;
}

/* Kernels that take least of a call, and of those that run once the ones that are soon over; never
 * ones whose time is unknown. */
static void find_efforts(Loading *w) {
  CallTime *times = ARENA_ARRAY(w->arena, CallTime, (size_t)w->n);
  double call = 0, sum = 0;
  int n = 0;
  w->efforts = ARENA_ARRAY(w->arena, Effort, (size_t)w->n);
  for (int i = 0; i < w->n; i++) {
    const double ns = call_ns(&w->items[i]);
    w->efforts[i] = least_effort(&w->items[i]);
    if (!w->items[i].use.once) times[n++] = (CallTime){i, ns};
    else if (ns > 0 && ns <= ONCE_NS) w->efforts[i] = BRIEF;
    if (!w->items[i].use.once) call += ns;
  }
  qsort(times, (size_t)n, sizeof *times, less_time_first);
  for (int i = 0; i < n; i++) {
    sum += times[i].ns;
    if (times[i].ns > 0 && sum <= fmax(BRIEF_NS, BRIEF_SHARE * call))
      w->efforts[times[i].item] = BRIEF;
  }
}

/* ---- which kernels are interpreted ---- */

/* A kernel that is soon over, and a kernel whose code was left out of an executable's bytes, since
 * it was interpreted before. */
static bool may_be_interpreted(const LoadItem *item) {
  if (!item->variant->size) return true;
  const double ns = item->use.once ? call_ns(item) : 0;
  return ns > 0 && ns <= INTERPRETED_NS;
}

/* Loads them, and leaves the others. */
static void take_interpreted(Loading *w) {
  int left = 0;
  w->items = ARENA_ARRAY(w->arena, LoadItem, (size_t)w->n);
  for (int i = 0; i < w->n; i++) {
    const LoadItem *item = &w->given[i];
    const bool done = may_be_interpreted(item) &&
                      interp_load_ordered(item->image, item->variant, item->out);
    if (done) load_ready(item);
    else w->items[left++] = *item;
  }
  w->n = left;
}

/* ---- which kernels have the code of others ---- */

static CacheKey key_of(const Loading *w, const LoadItem *item) {
  Text text = text_new(w->arena);
  c_canonical(&text, w->arena, item->variant->code, item->variant->entry);
  KeyMaker *k = cache_key_start();
  cache_key_add(k, text.data, text.len);
  return cache_key_end(k);
}

/* Is there such a kernel?  Then this one's image names that one's entry. */
static bool take_known(const Loading *w, const LoadItem *item, CacheKey key, Effort effort) {
  Cpu *cpu = w->device->state;
  CpuCode *code;
  const char *entry;
  if (!cpu_code_find(&cpu->codes, key, (int)effort, &code, &entry)) return false;
  if (connect_kernel(item, code, entry)) {
    cpu_code_release(code);
    return false;
  }
  LOG(w->device->log, LOG_COMPILE, "kernel %s has the code of %s", item->image->name, entry);
  item->own->entry = entry;
  item->out->resources.from_cache = 1;
  load_ready(item);
  return true;
}

/* The one of the first n items that has the key, or -1. */
static int item_with_key(const Loading *w, int n, CacheKey key) {
  for (int i = 0; i < n; i++)
    if (!memcmp(&w->keys[i], &key, sizeof key)) return i;
  return -1;
}

/* Leaves one of those that are the same, optimized as much as any of them should be. */
static void find_twins(Loading *w) {
  int left = 0;
  w->keys = ARENA_ARRAY(w->arena, CacheKey, (size_t)w->n);
  w->twins = ARENA_ARRAY(w->arena, Twin, (size_t)w->n);
  for (int i = 0; i < w->n; i++) {
    const LoadItem item = w->items[i];
    const Effort effort = w->efforts[i];
    const bool text = !cpu_is_library(item.variant);
    const CacheKey key = text ? key_of(w, &item) : (CacheKey){0};
    if (text && take_known(w, &item, key, effort)) continue;
    const int same = text ? item_with_key(w, left, key) : -1;
    if (same >= 0) {
      w->twins[w->ntwins++] = (Twin){item, key, effort};
      if (effort < w->efforts[same]) w->efforts[same] = effort;
      continue;
    }
    w->items[left] = item;
    w->efforts[left] = effort;
    w->keys[left++] = key;
  }
  w->n = left;
}

static int connect_twins(const Loading *w) {
  for (int i = 0; i < w->ntwins; i++) {
    const Twin *t = &w->twins[i];
    if (!take_known(w, &t->item, t->key, t->effort)) return error_out_of_memory();
  }
  return 0;
}

/* ---- which kernels make a library together ---- */

/* Kernels of as many lanes are next to each other, and of these the largest text comes first. */
static int by_lanes_and_size(const void *a, const void *b) {
  const LoadItem *x = *(LoadItem *const *)a, *y = *(LoadItem *const *)b;
  int lanes = c_lanes(y->variant->code) - c_lanes(x->variant->code);
  if (lanes) return lanes;
  if (x->variant->size != y->variant->size) return x->variant->size < y->variant->size ? 1 : -1;
  return x < y ? -1 : 1;
}

/* Is `name` the entry's, or another function's that comes with it? */
static bool is_export_of(const char *name, const char *entry) {
  size_t n = strlen(entry);
  if (strncmp(name, entry, n) != 0) return false;
  const char *rest = name + n;
  static const char *const others[] = {C_FUNCTIONS};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(rest, others[i])) return true;
  return false;
}

/* May the kernel join the library: has it as many lanes, and a name that is free? */
static bool may_join(const Library *l, const ImageVariant *v) {
  const char *entry = v->entry;
  if (l->n && c_lanes(l->items[0]->variant->code) != c_lanes(v->code)) return false;
  for (int i = 0; i < l->n; i++) {
    const char *other = l->items[i]->variant->entry;
    if (is_export_of(entry, other) || is_export_of(other, entry)) return false;
  }
  return true;
}

static Library *add_library(Loading *w, Effort effort) {
  Library *l = &w->libraries[w->nlibraries++];
  l->effort = effort;
  l->items = ARENA_ARRAY(w->arena, LoadItem *, (size_t)w->n);
  return l;
}

/* The smallest of the libraries that the kernel may join. */
static Library *library_for(Loading *w, const LoadItem *item) {
  const Effort effort = w->efforts[item - w->items];
  Library *least = NULL;
  for (int i = 0; i < w->nlibraries; i++) {
    Library *l = &w->libraries[i];
    if (l->effort != effort || (least && l->bytes >= least->bytes)) continue;
    if (may_join(l, item->variant)) least = l;
  }
  return least ? least : add_library(w, effort);
}

static void library_add_item(Library *l, LoadItem *item) {
  l->items[l->n++] = item;
  l->bytes += item->variant->size + 1;
}

/* Kernels that were of one library before, which are the same bytes, are of one again. */
static void add_made(Loading *w, int first, LoadItem *item) {
  for (int i = first; i < w->nlibraries; i++) {
    Library *l = &w->libraries[i];
    if (l->items[0]->variant->code != item->variant->code) continue;
    library_add_item(l, item);
    return;
  }
  library_add_item(add_library(w, FULL), item);
}

/* Kernels with the same number of lanes, which may be one library: so many that each core has one,
 * if all `of` kernels of this effort have `wanted`. */
static void divide_lanes(Loading *w, LoadItem **items, int n, int wanted, int of) {
  const Effort effort = w->efforts[items[0] - w->items];
  const int each = effort == BRIEF ? BRIEF_LIBRARY_KERNELS : LIBRARY_KERNELS;
  const int share = (wanted * n + of - 1) / of;
  for (int i = 0; i < n && (i < share || i * each < n); i++) add_library(w, effort);
  for (int i = 0; i < n; i++) library_add_item(library_for(w, items[i]), items[i]);
}

/* Texts to compile with so much effort.  Brief ones are not cut for cores that have others. */
static void divide_texts(Loading *w, Effort effort) {
  LoadItem **sorted = ARENA_ARRAY(w->arena, LoadItem *, (size_t)w->n);
  const int busy = effort == BRIEF ? w->nlibraries : 0;
  const int wanted = host_cores() > busy ? host_cores() - busy : 0;
  int n = 0;
  for (int i = 0; i < w->n; i++)
    if (!cpu_is_library(w->items[i].variant) && w->efforts[i] == effort)
      sorted[n++] = &w->items[i];
  qsort(sorted, (size_t)n, sizeof *sorted, by_lanes_and_size);
  for (int i = 0, end; i < n; i = end) {
    const int lanes = c_lanes(sorted[i]->variant->code);
    for (end = i; end < n && c_lanes(sorted[end]->variant->code) == lanes; end++) continue;
    divide_lanes(w, sorted + i, end - i, wanted, n);
  }
}

static void divide_into_libraries(Loading *w) {
  w->libraries = ARENA_ARRAY(w->arena, Library, 2 * (size_t)w->n);
  for (Effort effort = 0; effort < EFFORTS; effort++) divide_texts(w, effort);
  for (int i = 0, first = w->nlibraries; i < w->n; i++)
    if (cpu_is_library(w->items[i].variant)) add_made(w, first, &w->items[i]);
}

/* ---- texts ---- */

static bool join_texts(const Loading *w, Library *l) {
  const char **units = ARENA_ARRAY(w->arena, const char *, (size_t)l->n);
  for (int i = 0; i < l->n; i++) units[i] = l->items[i]->variant->code;
  l->text = text_new(w->arena);
  return c_join(&l->text, w->arena, units, (size_t)l->n);
}

/* The text of a single kernel is compiled as it is. */
static void take_text(const Loading *w, Library *l) {
  l->text = text_new(w->arena);
  text_putn(&l->text, l->items[0]->variant->code, l->items[0]->variant->size);
}

/* Images may hold any text: what can't be joined becomes libraries of one kernel. */
static void write_texts(Loading *w) {
  for (int i = 0, n = w->nlibraries; i < n; i++) {
    Library *l = &w->libraries[i];
    if (cpu_is_library(l->items[0]->variant) || (l->n > 1 && join_texts(w, l))) continue;
    while (l->n > 1) {
      Library *alone = add_library(w, l->effort);
      library_add_item(alone, l->items[--l->n]);
      take_text(w, alone);
    }
    take_text(w, l);
  }
}

/* How long the compiler takes for a library, in units of its own (decision 936). */
static size_t effort_of_text(const Library *l) {
  static const size_t weights[EFFORTS] = {[FULL] = 20, [LIGHT] = 12, [BRIEF] = 10};
  return l->text.len * weights[l->effort];
}

/* The last libraries to begin are the shortest ones: cores end together. */
static int longest_first(const void *a, const void *b) {
  const size_t x = effort_of_text(a), y = effort_of_text(b);
  return x != y ? (x < y ? 1 : -1) : 0;
}

static void add_heads(const Loading *w, Library *l) {
  if (!l->text.data) return;
  bool prints = strstr(l->text.data, "PRINTF("), asserts = strstr(l->text.data, "FAILED(");
  bool checks = strstr(l->text.data, "REACH(");
  if (!prints && !asserts && !checks) return;
  Text text = text_new(w->arena);
  if (prints) text_puts(&text, PRINT_HEAD);
  if (asserts) text_puts(&text, ASSERT_HEAD);
  if (checks) text_puts(&text, REACH_HEAD);
  text_putn(&text, l->text.data, l->text.len);
  l->text = text;
}

static void name_library(Library *l) {
  const char *first = l->items[0]->image->name;
  int more = l->n - 1;
  if (more) snprintf(l->name, sizeof l->name, "%.*s and %d more", NAME_MAX_SHOWN - 32, first, more);
  else snprintf(l->name, sizeof l->name, "%s", first);
}

/* ---- all together ---- */

static int load_libraries_body(void *arg) {
  Loading *w = arg;
  take_interpreted(w);
  find_efforts(w);
  find_twins(w);
  divide_into_libraries(w);
  write_texts(w);
  qsort(w->libraries, (size_t)w->nlibraries, sizeof *w->libraries, longest_first);
  for (int i = 0; i < w->nlibraries; i++) {
    add_heads(w, &w->libraries[i]);
    name_library(&w->libraries[i]);
  }
  parallel_for((size_t)w->nlibraries, build_library, w);
  return 0;
}

static int first_library_failure(Loading *w) {
  int code = 0;
  for (int i = 0; i < w->nlibraries; i++) {
    Library *l = &w->libraries[i];
    if (l->code && !code) code = error_again(l->code, l->message);
    free(l->message);
  }
  return code;
}

/* The device's load_all and unload. */
static int cpu_load(nereid_device *d, LoadItem *items, int n) {
  Loading w = {.device = d, .arena = arena_new(), .n = n};
  if (!w.arena) return error_out_of_memory();
  for (int i = 0; i < n; i++) {
    const ImageVariant *v = items[i].variant;
    items[i].out->resources =
        (nereid_kernel_resources){.threads = v->threads, .shared_bytes = v->shared};
  }
  w.given = items;
  int code = error_guard_stage(w.arena, "load", load_libraries_body, &w);
  if (!code) code = first_library_failure(&w);
  if (!code) code = connect_twins(&w);
  for (int i = 0; i < n && code; i++) cpu_unload(d, items[i].out);
  arena_free(w.arena);
  return code;
}

/* ---- opening ---- */

void cpu_identify(unsigned char processor[CPU_IDENTITY], char *description, size_t size) {
  char line[8192];
  FILE *f = fopen("/proc/cpuinfo", "r");
  KeyMaker *k = cache_key_start();
  const char *own = getenv("NEREID_CPU");
  if (own) cache_key_text(k, own);
  snprintf(description, size, "%d cores", host_cores());
  while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
    bool model = !strncmp(line, "model name", 10), flags = !strncmp(line, "flags", 5);
    if (model || flags || !strncmp(line, "Features", 8)) cache_key_text(k, line);
    char *name = model ? strchr(line, ':') : NULL;
    if (!name) continue;
    name[strcspn(name, "\n")] = 0;
    snprintf(description, size, "%s%s%s, %d cores", name + 2, own ? " as " : "", own ? own : "",
             host_cores());
  }
  if (f) fclose(f);
  CacheKey key = cache_key_end(k);
  memcpy(processor, key.bytes, CPU_IDENTITY);
}

static int open_team(Cpu *cpu) {
  int threads = cores_threads(host_cores());
  if (!threads)
    return error_set(NEREID_E_USAGE, E_RUN_NEREID_THREADS, getenv("NEREID_THREADS"),
                     CORES_THREADS_MOST);
  cpu->team = team_new(threads);
  return cpu->team ? 0 : error_out_of_memory();
}

static int open_cpu(nereid_device *d, int ordinal) {
  (void)ordinal;
  const char *own = getenv("NEREID_CPU");
  if (own && !machine_asked(own))
    return error_set(NEREID_E_USAGE, E_RUN_NEREID_CPU, own, machine_find("cpu")->name);
  Cpu *cpu = calloc(1, sizeof *cpu);
  if (!cpu) return error_out_of_memory();
  cpu->found = tool_find_cc(cpu->cc, cpu->options);
  int code = open_team(cpu);
  if (code) {
    free(cpu);
    return code;
  }
  cpu_codes_open(&cpu->codes);
  cpu_identify(cpu->processor, d->description, sizeof d->description);
  snprintf(d->target, sizeof d->target, "cpu");
  d->info.processors = host_cores();
  d->state = cpu;
  return 0;
}

int nereid_device_set_threads(nereid_device *d, int threads) {
  REQUIRE(d);
  if (d->ops != &device_cpu) return 0;
  const Cpu *cpu = d->state;
  team_set_most(cpu->team, threads);
  return 0;
}

static void close_cpu(nereid_device *d) {
  Cpu *cpu = d->state;
  cache_close(cpu->cache);
  cpu_codes_close(&cpu->codes);
  team_free(cpu->team);
  free(cpu);
}

static bool runs_c_code(const nereid_device *d, const ImageVariant *v) {
  (void)d;
  return v->kind == NEREID_C;
}

/* ---- launching ---- */

static int refuse_at_once(const Start *s) {
  const uint32_t *n = s->launched;
  return error_set(NEREID_E_RESOURCES, E_RUN_COOPERATIVE, s->kernel->image->name, n[0], n[1], n[2],
                   TEAM_AT_ONCE_MOST);
}

static int check_cpu_launch(const Start *s) {
  int code = host_check_programs(s, INT32_MAX);
  const uint64_t n = (uint64_t)s->launched[0] * s->launched[1] * s->launched[2];
  if (code || !(s->flags & NEREID_LAUNCH_COOPERATIVE) || n <= TEAM_AT_ONCE_MOST) return code;
  return refuse_at_once(s);
}

/* May be called by any thread. */
static void tell_waiting(void *context, const char *where, const uint32_t program[3], int seconds) {
  const Start *s = context;
  device_note(s->kernel->device, W_RUN_WAITS, s->kernel->image->name, program[0], program[1],
              program[2], seconds, where);
}

static bool is_interrupted(void *context) {
  const Start *s = context;
  return s->interrupted && s->interrupted(s->context);
}

static int launch_on_cpu(const Start *s, void *stream) {
  (void)stream;
  if (is_interpreted(s->chosen)) return interp_launch_ordered(s);
  nereid_device *d = s->kernel->device;
  const Cpu *cpu = d->state;
  const TeamHooks hooks = {.at_once = s->flags & NEREID_LAUNCH_COOPERATIVE,
                           .tell = tell_waiting,
                           .interrupted = is_interrupted,
                           .context = (void *)s};
  HookedTeam team = team_hooked(cpu->team, hooks);
  void (*run)(const void *args, const uint32_t grid[3], Team *team);
  memcpy(&run, &s->chosen->entry, sizeof run);
  __atomic_store_n(&d->running, s->kernel->image->name, __ATOMIC_RELAXED);
  const bool checks = __atomic_load_n(&cpu->checks, __ATOMIC_ACQUIRE);
  Reach reach;
  if (checks) add_reach(s, &reach);
  run(s->slots, s->launched, &team.team);
  if (checks) remove_reach(d, &reach);
  __atomic_store_n(&d->running, NULL, __ATOMIC_RELAXED);
  if (team.hooks.failed) return refuse_at_once(s);
  if (team.hooks.stopped)
    return error_set(NEREID_E_CALLER, E_RUN_INTERRUPTED, s->kernel->image->name);
  return report_failure(d);
}

const DeviceOps device_cpu = {.name = "cpu",
                              .kind = NEREID_C,
                              .open = open_cpu,
                              .close = close_cpu,
                              .fits = runs_c_code,
                              .load_all = cpu_load,
                              .unload = cpu_unload,
                              .check = check_cpu_launch,
                              .launch = launch_on_cpu,
                              HOST_EVENTS_AND_COPIES,
                              .alloc = host_alloc};
