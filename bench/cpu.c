/* Times the example kernels on device cpu, beside what the same machine gives others.
 *
 *     cpu [--busy] [NAME...]       only cases whose name contains a NAME
 *
 * --busy: processor time instead of the clock's, for a machine that others use; one thread then
 * (NEREID_THREADS=1).
 *
 * Memory-bound kernels, on arrays of 256 MiB: the share of STREAM's copy (each thread copies its
 * part of an array with memcpy, which is what compilers make of STREAM's loop).  Both count each
 * array once, read or written.  memcpy and our kernels write past the caches where they can; a
 * store that does not costs the memory one read more, which nobody counts.
 *
 * Matrix multiplication: the share of OpenBLAS's sgemm, loaded at run time where it is installed.
 *
 * A case and its peer take turns, and the best times count, as in STREAM.  Results are checked
 * against plain loops in double precision, at some thousand elements drawn from all over. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/nereid.h"
#include "runtime/support/cores.h"

enum { THREADS_MAX = 256, ARGS_MAX = 24, RUNS = 11, CHECKS = 2000, SIZE_N = 1 << 26 };

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void must(int code, const char *what) {
  if (code) fail(what, nereid_error_message());
}

static double read_clock_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The least times of a and b, taken in turns; STREAM, too, reports its best. */
static void race(clockid_t clock, void (*a)(void *), void *actx, void (*b)(void *), void *bctx,
                 double us[2]) {
  us[0] = us[1] = INFINITY;
  for (int i = -1; i < RUNS; i++) {
    double start = read_clock_us(clock);
    a(actx);
    double middle = read_clock_us(clock);
    if (b) b(bctx);
    double end = read_clock_us(clock);
    if (i < 0) continue; /* the first touches pages and caches */
    us[0] = fmin(us[0], middle - start);
    us[1] = fmin(us[1], end - middle);
  }
}

/* ---- threads ---- */

typedef struct {
  void (*body)(size_t from, size_t to, void *ctx);
  void *ctx;
  size_t from, to;
} Part;

static void *run_part(void *p) {
  Part *part = p;
  part->body(part->from, part->to, part->ctx);
  return NULL;
}

/* body over 0 to n, cut into one part a thread. */
static void in_parallel(int threads, size_t n, void (*body)(size_t, size_t, void *), void *ctx) {
  pthread_t id[THREADS_MAX];
  Part part[THREADS_MAX];
  for (int i = 0; i < threads; i++) {
    part[i] =
        (Part){body, ctx, n * (size_t)i / (size_t)threads, n * ((size_t)i + 1) / (size_t)threads};
    if (pthread_create(&id[i], NULL, run_part, &part[i])) fail("pthread_create", "failed");
  }
  for (int i = 0; i < threads; i++) pthread_join(id[i], NULL);
}

typedef struct {
  float *to;
  const float *from;
  size_t n;
  int threads;
} Copy;

static void copy_part(size_t from, size_t to, void *ctx) {
  const Copy *c = ctx;
  memcpy(c->to + from, c->from + from, (to - from) * sizeof(float));
}

static void stream_copy(void *ctx) {
  const Copy *c = ctx;
  in_parallel(c->threads, c->n, copy_part, ctx);
}

/* Numbers from -1 to 1 that depend on their place alone. */
static float number_at(size_t i) {
  uint64_t x = (uint64_t)i * 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return (float)(int32_t)(x >> 32) * 0x1p-31f;
}

static void fill_part(size_t from, size_t to, void *ctx) {
  for (size_t i = from; i < to; i++) ((float *)ctx)[i] = number_at(i);
}

/* ---- our kernels ---- */

typedef struct {
  nereid_image *image;
  nereid_kernel *kernel;
  nereid_launch *launch;
} Ours;

typedef struct {
  nereid_arg args[ARGS_MAX];
  int n;
} Args;

static void add_arg(Args *a, const char *name, const char *type, const char *value) {
  a->args[a->n++] = (nereid_arg){name, type, value};
}

static Ours load(nereid_device *d, const char *file, const char *kernel, const Args *a,
                 uint32_t grid) {
  Ours o;
  char path[256];
  snprintf(path, sizeof path, "examples/kernels/%s", file);
  nereid_request r = {.source.path = path, .kernel = kernel, .args = a->args, .nargs = a->n};
  must(nereid_compile_for(&o.image, d, &r), file);
  must(nereid_kernel_load(&o.kernel, d, o.image), file);
  must(nereid_launch_new(&o.launch, o.kernel, (uint32_t[]){grid, 1, 1}), file);
  return o;
}

static int param(const Ours *o, const char *name) {
  return nereid_image_find_param(o->image, name);
}

static void set_pointer(const Ours *o, const char *name, const void *p) {
  must(nereid_launch_set_pointer(o->launch, param(o, name), p), name);
}

static void set_int(const Ours *o, const char *name, int64_t v) {
  must(nereid_launch_set_int(o->launch, param(o, name), v), name);
}

static void launch(void *ctx) {
  const Ours *o = ctx;
  must(nereid_launch_run(o->launch, NULL), "launch");
}

static void unload(Ours *o) {
  nereid_launch_free(o->launch);
  nereid_kernel_free(o->kernel);
  nereid_image_free(o->image);
}

/* ---- memory-bound kernels ---- */

typedef struct {
  nereid_device *device;
  clockid_t clock;
  char **names; /* of the cases wanted, none: all */
  int nnames;
  int threads;
  float *x, *y, *w, *out, *few;
} Bench;

typedef enum { ADD, SOFTMAX, LAYER_NORM, RMS_NORM } Kind;

static const struct {
  const char *name, *file, *kernel;
} kinds[] = {{"vector add", "vector_add.py", "vector_add"},
             {"softmax", "softmax.py", "softmax"},
             {"layer norm", "layer_norm.py", "layer_norm_forward"},
             {"RMS norm", "rms_norm.py", "rms_norm"}};

static double row_sum(const float *x, int n, double (*f)(double, double), double with) {
  double s = 0;
  for (int i = 0; i < n; i++) s += f(x[i], with);
  return s;
}

static double itself(double x, double with) { return x + 0 * with; }
static double squared_from(double x, double mean) { return (x - mean) * (x - mean); }
static double exp_from(double x, double most) { return exp(x - most); }

/* Element i of a result, from the definition. */
static double expected(const Bench *b, Kind kind, size_t i, int cols) {
  const float *row = cols ? b->x + i / (size_t)cols * (size_t)cols : NULL;
  double x = b->x[i];
  size_t c = cols ? i % (size_t)cols : 0;
  if (kind == ADD) return x + (double)b->y[i];
  if (kind == SOFTMAX) return exp(x) / row_sum(row, cols, exp_from, 0);
  if (kind == RMS_NORM)
    return x / sqrt(row_sum(row, cols, squared_from, 0) / cols + 1e-6) * b->w[c];
  double mean = row_sum(row, cols, itself, 0) / cols;
  double var = row_sum(row, cols, squared_from, mean) / cols;
  return (x - mean) / sqrt(var + 1e-5) * b->w[c] + b->y[c];
}

static double largest_error(const Bench *b, Kind kind, size_t n, int cols) {
  double most = 0;
  for (size_t k = 0; k < CHECKS; k++) {
    size_t i = (size_t)((double)k * 0.6180339887 * (double)n) % n;
    double e = fabs(b->out[i] - expected(b, kind, i, cols));
    if (!(e <= most)) most = e;
  }
  return most;
}

static Args memory_args(Kind kind, char *block) {
  Args a = {0};
  add_arg(&a, "x_ptr", "*fp32:16", NULL);
  add_arg(&a, "out_ptr", "*fp32:16", NULL);
  if (kind == ADD) add_arg(&a, "y_ptr", "*fp32:16", NULL);
  if (kind >= LAYER_NORM) add_arg(&a, "w_ptr", "*fp32:16", NULL);
  if (kind >= LAYER_NORM) add_arg(&a, "eps", "fp32", NULL);
  for (int i = 0; kind == LAYER_NORM && i < 3; i++)
    add_arg(&a, (const char *[]){"b_ptr", "mean_ptr", "rstd_ptr"}[i], "*fp32:16", NULL);
  add_arg(&a, "BLOCK", NULL, block);
  return a;
}

static void set_memory_args(const Bench *b, const Ours *o, Kind kind) {
  set_pointer(o, "x_ptr", b->x);
  set_pointer(o, "out_ptr", b->out);
  if (kind == ADD) set_pointer(o, "y_ptr", b->y);
  if (kind < LAYER_NORM) return;
  set_pointer(o, "w_ptr", b->w);
  double eps = kind == LAYER_NORM ? 1e-5 : 1e-6;
  must(nereid_launch_set_float(o->launch, param(o, "eps"), eps), "eps");
  if (kind == RMS_NORM) return;
  set_pointer(o, "b_ptr", b->y);
  set_pointer(o, "mean_ptr", b->few);
  set_pointer(o, "rstd_ptr", b->few + SIZE_N / 512);
}

static bool wanted(const Bench *b, const char *name) {
  for (int i = 0; i < b->nnames; i++)
    if (strstr(name, b->names[i])) return true;
  return b->nnames == 0;
}

/* cols 0: a vector. */
static void measure_memory(const Bench *b, Kind kind, int cols) {
  char block[16], name[64];
  if (cols) snprintf(name, sizeof name, "%s, rows of %d", kinds[kind].name, cols);
  else snprintf(name, sizeof name, "%s", kinds[kind].name);
  if (!wanted(b, name)) return;
  int size = 1024;
  while (size < cols) size *= 2;
  snprintf(block, sizeof block, "%d", size);
  size_t rows = cols ? SIZE_N / (size_t)cols : SIZE_N / (size_t)size;
  size_t n = cols ? rows * (size_t)cols : SIZE_N;
  Args a = memory_args(kind, block);
  const char *count = cols ? "n_cols" : "n";
  add_arg(&a, count, !cols || cols % 16 == 0 ? "i32:16" : "i32", NULL);
  Ours o = load(b->device, kinds[kind].file, kinds[kind].kernel, &a, (uint32_t)rows);
  set_memory_args(b, &o, kind);
  set_int(&o, count, cols ? cols : (int64_t)n);
  double us[2], arrays = kind == ADD ? 3 : 2;
  Copy c = {b->out, b->x, SIZE_N, b->threads};
  race(b->clock, launch, &o, stream_copy, &c, us);
  launch(&o);
  double ours = 4e-3 * arrays * (double)n / us[0], theirs = 8e-3 * (double)SIZE_N / us[1];
  printf("| %s | %.1f | %.1f | %.1f | %.0f%% | %.1e |\n", name, us[0] * 1e-3, ours, theirs,
         100 * ours / theirs, largest_error(b, kind, n, cols));
  fflush(stdout);
  unload(&o);
}

/* ---- matrix multiplication ---- */

typedef void (*Sgemm)(int order, int transa, int transb, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

typedef struct {
  Sgemm sgemm;
  int m, n, k;
  const float *a, *b;
  float *c;
} Blas;

/* Function pointers by way of memcpy: ISO C has no cast from an object's. */
static void find_blas(Blas *x, int threads) {
  const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0"};
  void *lib = NULL;
  for (size_t i = 0; !lib && i < sizeof names / sizeof *names; i++)
    lib = dlopen(names[i], RTLD_NOW);
  void *f = lib ? dlsym(lib, "cblas_sgemm") : NULL;
  void *t = lib ? dlsym(lib, "openblas_set_num_threads") : NULL;
  memcpy(&x->sgemm, &f, sizeof f);
  void (*set_threads)(int);
  memcpy(&set_threads, &t, sizeof t);
  if (t) set_threads(threads);
  char *(*config)(void);
  void *g = lib ? dlsym(lib, "openblas_get_config") : NULL;
  memcpy(&config, &g, sizeof g);
  printf("\nPeer: %s\n\n", g ? config() : "OpenBLAS is not installed");
}

static void run_blas(void *ctx) {
  const Blas *x = ctx;
  x->sgemm(101, 111, 111, x->m, x->n, x->k, 1, x->a, x->k, x->b, x->n, 0, x->c, x->n);
}

typedef struct {
  int m, n, k;
} Tile;

static Ours load_matmul(const Bench *b, Tile size, Tile tile) {
  Args a = {0};
  char m[16], n[16], k[16];
  for (int i = 0; i < 3; i++)
    add_arg(&a, (const char *[]){"a_ptr", "b_ptr", "c_ptr"}[i], "*fp32:16", NULL);
  const struct {
    const char *name;
    int value;
  } ints[] = {{"M", size.m},         {"N", size.n},         {"K", size.k},
              {"stride_am", size.k}, {"stride_bk", size.n}, {"stride_cm", size.n}};
  for (int i = 0; i < 6; i++)
    add_arg(&a, ints[i].name, ints[i].value % 16 ? "i32" : "i32:16", NULL);
  for (int i = 0; i < 3; i++)
    add_arg(&a, (const char *[]){"stride_ak", "stride_bn", "stride_cn"}[i], "i32:1", NULL);
  snprintf(m, sizeof m, "%d", tile.m);
  snprintf(n, sizeof n, "%d", tile.n);
  snprintf(k, sizeof k, "%d", tile.k);
  add_arg(&a, "BLOCK_M", NULL, m);
  add_arg(&a, "BLOCK_N", NULL, n);
  add_arg(&a, "BLOCK_K", NULL, k);
  add_arg(&a, "GROUP_M", NULL, "8");
  int programs = ((size.m + tile.m - 1) / tile.m) * ((size.n + tile.n - 1) / tile.n);
  Ours o = load(b->device, "matmul.py", "matmul", &a, (uint32_t)programs);
  for (int i = 0; i < 6; i++) set_int(&o, ints[i].name, ints[i].value);
  for (int i = 0; i < 3; i++)
    set_int(&o, (const char *[]){"stride_ak", "stride_bn", "stride_cn"}[i], 1);
  set_pointer(&o, "a_ptr", b->x);
  set_pointer(&o, "b_ptr", b->y);
  set_pointer(&o, "c_ptr", b->out);
  return o;
}

static double matmul_error(const Bench *b, Tile size) {
  double most = 0;
  for (size_t t = 0; t < CHECKS; t++) {
    size_t total = (size_t)size.m * (size_t)size.n;
    size_t at = (size_t)((double)t * 0.6180339887 * (double)total) % total;
    size_t i = at / (size_t)size.n, j = at % (size_t)size.n;
    double s = 0;
    for (size_t k = 0; k < (size_t)size.k; k++)
      s += (double)b->x[i * (size_t)size.k + k] * b->y[k * (size_t)size.n + j];
    double e = fabs(b->out[at] - s);
    if (!(e <= most)) most = e;
  }
  return most;
}

static void measure_matmul(const Bench *b, Blas *blas, Tile size, Tile tile) {
  Ours o = load_matmul(b, size, tile);
  *blas = (Blas){blas->sgemm, size.m, size.n, size.k, b->x, b->y, b->out};
  double us[2], flops = 2.0 * size.m * size.n * size.k;
  race(b->clock, launch, &o, blas->sgemm ? run_blas : NULL, blas, us);
  launch(&o);
  printf("| %dx%dx%d | %dx%dx%d | %.2f | %.1f |", size.m, size.n, size.k, tile.m, tile.n, tile.k,
         us[0] * 1e-3, flops / us[0] * 1e-3);
  if (blas->sgemm) printf(" %.1f | %.0f%% |", flops / us[1] * 1e-3, 100 * us[1] / us[0]);
  else printf(" - | - |");
  printf(" %.1e |\n", matmul_error(b, size));
  fflush(stdout);
  unload(&o);
}

/* ---- all ---- */

static void memory_table(const Bench *b) {
  static const int cols[] = {1024, 4096, 5003, 16384};
  printf("| kernel | ms | GB/s | STREAM copy GB/s | share | largest error |\n");
  printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
  measure_memory(b, ADD, 0);
  for (Kind kind = SOFTMAX; kind <= RMS_NORM; kind++)
    for (size_t i = 0; i < sizeof cols / sizeof *cols; i++) measure_memory(b, kind, cols[i]);
}

static void matmul_table(const Bench *b) {
  static const Tile tiles[] = {{64, 64, 64},   {64, 128, 128}, {128, 128, 128},
                               {96, 128, 128}, {96, 256, 128}, {192, 128, 256}};
  static const Tile sizes[] = {{1000, 1000, 1000}, {2048, 2048, 2048}, {4096, 256, 512}};
  static const Tile cube = {1024, 1024, 1024};
  Blas blas = {0};
  find_blas(&blas, b->threads);
  printf("| fp32 M x N x K | blocks | ms | GFLOP/s | OpenBLAS GFLOP/s | share | largest error |\n");
  printf("| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
    measure_matmul(b, &blas, cube, tiles[i]);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    measure_matmul(b, &blas, sizes[i], tiles[2]);
}

int main(int argc, char **argv) {
  bool busy = argc > 1 && !strcmp(argv[1], "--busy");
  Bench b = {.clock = busy ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
             .names = argv + 1 + busy,
             .nnames = argc - 1 - busy};
  nereid_device_info info;
  must(nereid_device_open(&b.device, "cpu"), "cpu");
  must(nereid_device_get_info(&info, b.device), "cpu");
  b.threads = cores_threads((int)info.processors);
  if (b.threads > THREADS_MAX) b.threads = THREADS_MAX;
  printf("%s, %s, %d threads%s\n\n", info.description, info.target, b.threads,
         busy ? ", processor time" : "");
  float **arrays[] = {&b.x, &b.y, &b.w, &b.out, &b.few};
  for (int i = 0; i < 5; i++) {
    void *p;
    must(nereid_alloc(&p, b.device, SIZE_N * sizeof(float)), "memory");
    *arrays[i] = p;
    in_parallel(b.threads, SIZE_N, fill_part, p);
  }
  memory_table(&b);
  if (wanted(&b, "matmul")) matmul_table(&b);
  for (int i = 0; i < 5; i++) nereid_free(b.device, *arrays[i]);
  nereid_device_close(b.device);
  return 0;
}
