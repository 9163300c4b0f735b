/* Device cpu: C compiled by the system's compiler, loaded, and run by OpenMP's threads. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "runtime/cache.h"
#include "runtime/device.h"
#include "runtime/tool.h"

enum { OPTIONS_MAX = 64, OUTPUT_MAX = 8192, WORDS_MAX = TOOL_PATH + 512 };

typedef struct {
  Cache *cache;
  int threads;
  bool found; /* a compiler */
  char cc[TOOL_PATH], options[TOOL_PATH];
  unsigned char processor[16]; /* a hash of what -march=native depends on */
} Cpu;

/* ---- opening ---- */

/* A hash of the lines that tell processors apart. */
static void identify_processor(Cpu *cpu, char *description, size_t size) {
  char line[8192];
  FILE *f = fopen("/proc/cpuinfo", "r");
  KeyMaker *k = cache_key_start();
  snprintf(description, size, "%d cores", host_cores());
  while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
    bool model = !strncmp(line, "model name", 10), flags = !strncmp(line, "flags", 5);
    if (model || flags || !strncmp(line, "Features", 8)) cache_key_text(k, line);
    char *name = model ? strchr(line, ':') : NULL;
    if (!name) continue;
    name[strcspn(name, "\n")] = 0;
    snprintf(description, size, "%s, %d cores", name + 2, host_cores());
  }
  if (f) fclose(f);
  CacheKey key = cache_key_end(k);
  memcpy(cpu->processor, key.bytes, sizeof cpu->processor);
}

static int threads_wanted(void) {
  const char *text = getenv("OMP_NUM_THREADS");
  int n = text ? atoi(text) : 0;
  return n > 0 ? n : host_cores();
}

static int open_cpu(nereid_device *d, int ordinal) {
  (void)ordinal;
  Cpu *cpu = calloc(1, sizeof *cpu);
  if (!cpu) return error_out_of_memory();
  cpu->found = tool_find_cc(cpu->cc, cpu->options);
  cpu->threads = threads_wanted();
  identify_processor(cpu, d->description, sizeof d->description);
  snprintf(d->target, sizeof d->target, "cpu");
  d->info.processors = host_cores();
  d->state = cpu;
  return 0;
}

static void close_cpu(nereid_device *d) {
  Cpu *cpu = d->state;
  cache_close(cpu->cache);
  free(cpu);
}

static Cache *cache_of(nereid_device *d) {
  Cpu *cpu = d->state;
  pthread_mutex_lock(&d->lock);
  if (!cpu->cache) cpu->cache = cache_open(d->on_message, d->context);
  pthread_mutex_unlock(&d->lock);
  return cpu->cache;
}

static bool fits(const nereid_device *d, const ImageVariant *v) {
  (void)d;
  return v->kind == NEREID_C;
}

/* ---- compiling ---- */

/* What the kernel's text asks for, then what makes it a library. */
static const char FLAGS[] = C_FLAGS " -std=gnu11 -fPIC -shared -w";

/* A compiler that was replaced is another one. */
static CacheKey key_of(const Cpu *cpu, const ImageVariant *v) {
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
  cache_key_add(k, v->code, v->size);
  return cache_key_end(k);
}

/* $CC's own options, ours, and the files.  `words` holds what argv points to. */
static void command_line(const char **argv, char *words, const Cpu *cpu, bool openmp,
                         const char *in, const char *out) {
  int n = 0;
  argv[n++] = cpu->cc;
  snprintf(words, WORDS_MAX, "%s %s%s", cpu->options, FLAGS, openmp ? " -fopenmp" : "");
  char *rest = NULL;
  for (char *w = strtok_r(words, " ", &rest); w && n < OPTIONS_MAX - 5;
       w = strtok_r(NULL, " ", &rest))
    argv[n++] = w;
  argv[n++] = "-o";
  argv[n++] = out;
  argv[n++] = in;
  argv[n++] = "-lm";
  argv[n] = NULL;
}

static int run_compiler(nereid_device *d, const TempFolder *t, const char *name) {
  const Cpu *cpu = d->state;
  char in[TOOL_PATH + 64], out[TOOL_PATH + 64], words[WORDS_MAX], output[OUTPUT_MAX];
  const char *argv[OPTIONS_MAX];
  temp_name(in, sizeof in, t, "kernel.c");
  temp_name(out, sizeof out, t, "kernel.so");
  command_line(argv, words, cpu, true, in, out);
  if (tool_run(argv, output, sizeof output) == 0) return 0;
  char ignored[OUTPUT_MAX];
  command_line(argv, words, cpu, false, in, out);
  if (tool_run(argv, ignored, sizeof ignored) == 0) {
    device_note(d, N_RUN_NO_OPENMP, cpu->cc);
    return 0;
  }
  return error_set(NEREID_E_TOOL, E_RUN_CC_FAILED, cpu->cc, name, output);
}

/* kernel.so in the folder: from the cache, or compiled and put there. */
static int provide(nereid_device *d, const TempFolder *t, const nereid_image *image,
                   const ImageVariant *v, Loaded *out) {
  Cpu *cpu = d->state;
  char *data;
  size_t size;
  if (!cpu->found) return error_set(NEREID_E_TOOL, E_RUN_NO_CC);
  CacheKey key = key_of(cpu, v);
  if (cache_get(cache_of(d), &key, &data, &size)) {
    int code = temp_write(t, "kernel.so", data, size);
    free(data);
    out->resources.from_cache = 1;
    return code;
  }
  int code = temp_write(t, "kernel.c", v->code, v->size);
  if (!code) code = run_compiler(d, t, image->name);
  if (!code) code = temp_read(t, "kernel.so", &data, &size);
  if (code) return code;
  cache_put(cache_of(d), &key, data, size);
  free(data);
  return 0;
}

/* ---- loading ---- */

static int open_library(const TempFolder *t, const ImageVariant *v, Loaded *out) {
  char path[TOOL_PATH + 64], symbol[1024];
  temp_name(path, sizeof path, t, "kernel.so");
  snprintf(symbol, sizeof symbol, "%s_all", v->entry);
  out->code = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!out->code) return error_set(NEREID_E_TOOL, E_RUN_DLOPEN, dlerror());
  /* OpenMP's threads outlive the kernel that started them, and so must their code. */
  dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  dlopen("libomp.so.5", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  out->entry = dlsym(out->code, symbol);
  if (out->entry) return 0;
  dlclose(out->code);
  return error_set(NEREID_E_TOOL, E_RUN_DLOPEN, symbol);
}

static int load(nereid_device *d, const nereid_image *image, const ImageVariant *v, Loaded *out) {
  TempFolder t;
  out->resources = (nereid_kernel_resources){.threads = v->threads, .shared_bytes = v->shared};
  int code = temp_new(&t);
  if (!code) code = provide(d, &t, image, v, out);
  if (!code) code = open_library(&t, v, out);
  temp_free(&t);
  return code;
}

static void unload(nereid_device *d, Loaded *l) {
  (void)d;
  if (l->code) dlclose(l->code);
}

/* ---- launching ---- */

static int check(const nereid_launch *l) {
  uint64_t programs = (uint64_t)l->launched[0] * l->launched[1];
  if (programs > INT32_MAX || programs * l->launched[2] > INT32_MAX)
    return error_set(NEREID_E_RESOURCES, E_RUN_GRID_PROGRAMS, l->launched[0], l->launched[1],
                     l->launched[2], (unsigned)INT32_MAX);
  return 0;
}

static int launch(const nereid_launch *l, void *stream) {
  (void)stream;
  const Cpu *cpu = l->kernel->device->state;
  void (*run)(const void *args, const uint32_t grid[3], int threads);
  memcpy(&run, &l->chosen->entry, sizeof run);
  run(l->slots, l->launched, cpu->threads);
  return 0;
}

const DeviceOps device_cpu = {.name = "cpu",
                              .kind = NEREID_C,
                              .open = open_cpu,
                              .close = close_cpu,
                              .fits = fits,
                              .load = load,
                              .unload = unload,
                              .check = check,
                              .launch = launch,
                              HOST_EVENTS_AND_COPIES,
                              .alloc = host_alloc};
