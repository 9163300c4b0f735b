/* nereid_kernel_run(): threads that share a kernel, overlapping arguments, borrowed memory, scratch
 * memory, and wrong calls.  Device cuda is in cuda.c. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device.h"
#include "tests/support/calls.h"

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"

static const char SCALE[] = HEAD
    "def scale(x, o, n, f, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(o + i, tl.load(x + i, mask=i < n) * f, mask=i < n)\n";

/* Indices that are loaded: the bounds are not known. */
static const char GATHER[] = HEAD
    "def gather(x, o, n, f, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    for k in range(0, n):\n"
    "        tl.store(o + k * B + i, tl.load(x + tl.load(x + i).to(tl.int32)) * f)\n";

static nereid_image *compile(const nereid_device *d, const char *text) {
  nereid_arg args[] = {{"x", "*fp32", NULL},
                       {"o", "*fp32", NULL},
                       {"n", "i32", NULL},
                       {"f", "fp32", NULL},
                       {"B", NULL, "128"}};
  nereid_request r = {.source = {.text = text}, .args = args, .nargs = 5};
  nereid_image *image;
  if (!nereid_compile_for(&image, d, &r)) return image;
  printf("%s\n", nereid_error_message());
  abort();
}

typedef struct {
  nereid_device *device;
  nereid_kernel *kernel;
} Case;

static Case start_case(const char *device, const char *text) {
  Case c;
  if (nereid_device_open(&c.device, device)) abort();
  nereid_image *image = compile(c.device, text);
  check_call(!nereid_kernel_load(&c.kernel, c.device, image), device);
  nereid_image_free(image);
  return c;
}

static void end_case(Case *c) {
  nereid_kernel_free(c->kernel);
  nereid_device_close(c->device);
}

static uint64_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

/* o = x * f, on n elements that are each tensor's all. */
static int scale(nereid_kernel *k, const float *x, float *o, int n, float f) {
  const uint64_t args[] = {(uintptr_t)x, (uintptr_t)o, (uint64_t)n, float_bits(f)};
  const nereid_extent bytes = {0, 4 * (int64_t)n}, extents[4] = {bytes, bytes};
  return nereid_kernel_run(k, NULL, (uint32_t[]){(uint32_t)(n + 127) / 128, 1, 1}, args, extents,
                           NULL);
}

/* ---- threads ---- */

enum { THREADS = 8, TURNS = 200, N = 500 };

typedef struct {
  nereid_kernel *kernel;
  float factor;
  int turns;
  bool right;
} Worker;

static void *work(void *context) {
  Worker *w = context;
  float x[N], o[N];
  w->right = true;
  for (int turn = 0; turn < w->turns; turn++) {
    int n = 1 + (turn * 37 + (int)w->factor) % N;
    for (int i = 0; i < n; i++) x[i] = (float)(turn + i);
    w->right &= !scale(w->kernel, x, o, n, w->factor);
    for (int i = 0; i < n; i++) w->right &= o[i] == w->factor * (float)(turn + i);
  }
  return NULL;
}

static void test_threads(const char *device, int turns) {
  Case c = start_case(device, SCALE);
  pthread_t threads[THREADS];
  Worker workers[THREADS];
  bool right = true;
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){c.kernel, (float)(i + 2), turns, false};
    if (pthread_create(&threads[i], NULL, work, &workers[i])) abort();
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    right &= workers[i].right;
  }
  check(right, "threads that share a kernel");
  check(!c.device->allocations, "no memory of theirs is kept");
  end_case(&c);
}

/* ---- overlapping arguments ---- */

static void test_overlap(void) {
  Case c = start_case("cpu", SCALE);
  const nereid_kernel *k = c.kernel;
  float x[300], want[300];
  for (int i = 0; i < 300; i++) x[i] = (float)i;
  check_call(!scale(c.kernel, x, x, 100, 1) && !k->late, "in place");
  check_call(!scale(c.kernel, x, x + 100, 100, 1) && !k->late, "side by side");
  /* Both tensors are all of x; the kernel's own bounds tell that it reaches parts of them. */
  const uint64_t args[] = {(uintptr_t)x, (uintptr_t)(x + 150), 150, float_bits(1)};
  const nereid_extent whole[4] = {{0, 1200}, {-600, 600}};
  const uint32_t grid[] = {2, 1, 1};
  check_call(!nereid_kernel_run(c.kernel, NULL, grid, args, whole, NULL) && !k->late,
             "parts of one tensor");
  check_call(!nereid_kernel_run(c.kernel, NULL, grid, args, NULL, NULL) && !k->late,
             "unknown tensors, by the bounds");
  const nereid_extent half[4] = {{0, 600}, {0, 0}};
  check_call(!nereid_kernel_run(c.kernel, NULL, grid, args, half, NULL) && !k->late,
             "one of them unknown");
  memcpy(want, x, sizeof want);
  check_call(!scale(c.kernel, x, x + 1, 100, 1) && k->late, "an element further");
  check(!memcmp(x + 1, want, 100 * sizeof *x), "in the order of the program");
  end_case(&c);
}

static int run_gather(nereid_kernel *k, const float *x, float *o, bool known) {
  const uint64_t args[] = {(uintptr_t)x, (uintptr_t)o, 1, float_bits(1)};
  const nereid_extent extents[4] = {{0, 512}, {0, 512}};
  return nereid_kernel_run(k, NULL, (uint32_t[]){1, 1, 1}, args, known ? extents : NULL, NULL);
}

static void test_unknown_bounds(void) {
  Case c = start_case("nest", GATHER);
  float x[128] = {0}, o[128];
  check_call(!run_gather(c.kernel, x, o, true) && !c.kernel->late,
             "extents where the kernel has no bounds");
  X(run_gather(c.kernel, x, o, false), NEREID_E_FINDINGS, "*");
  check(c.kernel->late != NULL, "without them they count as overlapping");
  end_case(&c);
}

/* ---- memory that interpreters check ---- */

static void test_borrowed(const char *device) {
  Case c = start_case(device, SCALE);
  static float x[256], o[256];
  const uint64_t args[] = {(uintptr_t)x, (uintptr_t)o, 200, float_bits(2)};
  const uint32_t grid[] = {2, 1, 1};
  const nereid_extent right[4] = {{0, 800}, {0, 800}}, less[4] = {{0, 800}, {0, 796}};
  check_call(!nereid_kernel_run(c.kernel, NULL, grid, args, right, NULL), "tensors that suffice");
  X(nereid_kernel_run(c.kernel, NULL, grid, args, less, NULL), NEREID_E_FINDINGS,
    "*store of 4 bytes at o[199], right past the end of*");
  X(nereid_kernel_run(c.kernel, NULL, grid, args, NULL, NULL), NEREID_E_FINDINGS, "*");
  const nereid_extent none[4] = {{0, 800}, {1, 0}};
  X(nereid_kernel_run(c.kernel, NULL, grid, args, none, NULL), NEREID_E_FINDINGS, "*");
  check(!c.device->allocations, "no memory of the caller's is kept");
  void *p;
  if (nereid_alloc(&p, c.device, 800)) abort();
  const uint64_t own[] = {(uintptr_t)p, (uintptr_t)o, 200, float_bits(2)};
  X(nereid_kernel_run(c.kernel, NULL, grid, own, right, NULL), NEREID_E_FINDINGS,
    "*reads x[*], which is uninitialized*");
  nereid_fill(c.device, p, 0, 800, NULL);
  check_call(!nereid_kernel_run(c.kernel, NULL, grid, own, right, NULL), "memory of the device");
  nereid_free(c.device, p);
  end_case(&c);
}

/* ---- wrong and empty calls ---- */

static void test_calls(void) {
  Case c = start_case("cpu", SCALE);
  const uint64_t args[] = {0, 0, 128, 0};
  nereid_run_options o = {.flags = 8};
  const uint32_t grid[] = {1, 1, 1};
  for (int i = 0; i < 3; i++) {
    uint32_t empty[] = {1, 1, 1};
    empty[i] = 0;
    check_call(!nereid_kernel_run(c.kernel, NULL, empty, args, NULL, NULL), "an empty grid");
  }
  X(nereid_kernel_run(c.kernel, NULL, grid, NULL, NULL, NULL), NEREID_E_USAGE, "*args*");
  X(nereid_kernel_run(c.kernel, NULL, NULL, args, NULL, NULL), NEREID_E_USAGE, "*grid*");
  X(nereid_kernel_run(NULL, NULL, grid, args, NULL, NULL), NEREID_E_USAGE, "*k*");
  X(nereid_kernel_run(c.kernel, NULL, grid, args, NULL, &o), NEREID_E_USAGE,
    "8 has flags that no launch has");
  X(nereid_kernel_run(c.kernel, NULL, (uint32_t[]){65536, 65536, 1}, args, NULL, NULL),
    NEREID_E_RESOURCES, "*");
  end_case(&c);
}

/* More parameters than the stack has room for. */
static void test_many_parameters(void) {
  enum { MANY = 300 };
  static char text[1 << 15], names[MANY][8];
  static nereid_arg given[MANY];
  static uint64_t args[MANY];
  char *at = text + snprintf(text, sizeof text, "%s", HEAD "def many(");
  for (int i = 0; i < MANY; i++) {
    snprintf(names[i], sizeof names[i], "a%d", i);
    given[i] = (nereid_arg){names[i], i ? "i32" : "*i32", NULL};
    at += snprintf(at, (size_t)(text + sizeof text - at), "%s%s", i ? ", " : "", names[i]);
  }
  at += snprintf(at, (size_t)(text + sizeof text - at), "):\n    tl.store(a0, a1");
  for (int i = 2; i < MANY; i++) at += snprintf(at, (size_t)(text + sizeof text - at), " + a%d", i);
  snprintf(at, (size_t)(text + sizeof text - at), ")\n");
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  int32_t out = 0;
  args[0] = (uintptr_t)&out;
  for (int i = 1; i < MANY; i++) args[i] = (uint64_t)i;
  nereid_request r = {.source = {.text = text}, .args = given, .nargs = MANY};
  if (nereid_device_open(&d, "cpu")) abort();
  check_call(!nereid_compile_for(&image, d, &r) && !nereid_kernel_load(&k, d, image), "many");
  check_call(!nereid_kernel_run(k, NULL, (uint32_t[]){1, 1, 1}, args, NULL, NULL) &&
                 out == MANY * (MANY - 1) / 2,
             "a kernel of many parameters");
  nereid_kernel_free(k);
  nereid_image_free(image);
  nereid_device_close(d);
}

/* ---- scratch memory ---- */

/* A kernel whose second parameter is n bytes of scratch memory; its C counts in them. */
static nereid_kernel *scratch_kernel(nereid_device *d, SlotKind kind) {
  static const char code[] =
      "void k_launch(const void *args, const unsigned grid[3], void *team) {\n"
      "  unsigned long long *const *a = args;\n"
      "  (void)grid, (void)team;\n"
      "  ++*a[1];\n"
      "  *a[0] = *a[1];\n"
      "}\n";
  ImageParam params[] = {{"x", type_ptr(DT_I64), true}, {"n", type_scalar(DT_I32), false}};
  ImageSlot slots[] = {{.kind = SLOT_ARG, .param = 0}, {.kind = kind, .expr.text = "n"}};
  ImageVariant v = {.target = "cpu",
                    .entry = "k",
                    .kind = NEREID_C,
                    .code = code,
                    .size = sizeof code - 1,
                    .threads = 1,
                    .slots = slots,
                    .nslots = 2};
  nereid_image *image;
  nereid_kernel *k;
  if (image_new(&image, "k", params, 2) || image_add_variant(image, &v, true)) abort();
  check_call(!nereid_kernel_load(&k, d, image), "a kernel with scratch memory");
  nereid_image_free(image);
  return k;
}

typedef struct {
  int calls;
  size_t size, alignment;
  uint64_t memory[64];
} Lender;

static void *lend(void *context, size_t size, size_t alignment, void *stream) {
  Lender *l = context;
  l->calls++;
  l->size = size;
  l->alignment = alignment;
  return size > sizeof l->memory || stream ? NULL : l->memory;
}

static void test_scratch(void) {
  nereid_device *d;
  int64_t x = 0;
  if (nereid_device_open(&d, "cpu")) abort();
  nereid_kernel *k = scratch_kernel(d, SLOT_ZEROED);
  const uint32_t grid[] = {1, 1, 1};
  uint64_t args[] = {(uintptr_t)&x, 64};
  for (int i = 0; i < 3; i++)
    check_call(!nereid_kernel_run(k, NULL, grid, args, NULL, NULL) && x == 1, "zeroed memory");
  check(!d->allocations, "which is given back");
  Lender lender = {.memory = {7}};
  nereid_run_options o = {.scratch = lend, .context = &lender};
  check_call(!nereid_kernel_run(k, NULL, grid, args, NULL, &o) && x == 1 && lender.calls == 1 &&
                 lender.size == 64 && lender.alignment == 256 && lender.memory[0] == 1,
             "zeroed memory of the caller's");
  args[1] = 1000;
  X(nereid_kernel_run(k, NULL, grid, args, NULL, &o), NEREID_E_MEMORY,
    "the caller's allocator gave no memory for 1000 bytes of scratch");
  args[1] = (uint64_t)-4;
  X(nereid_kernel_run(k, NULL, grid, args, NULL, NULL), NEREID_E_USAGE,
    "-4 bytes of scratch memory can't be allocated");
  nereid_kernel_free(k);
  k = scratch_kernel(d, SLOT_SCRATCH);
  args[1] = 8;
  lender.memory[0] = 41;
  check_call(!nereid_kernel_run(k, NULL, grid, args, NULL, &o) && x == 42, "as the caller left it");
  nereid_kernel_free(k);
  nereid_device_close(d);
}

/* ---- memory that a device knows ---- */

static const Allocation *known_at(nereid_device *d, const void *p) {
  pthread_mutex_lock(&d->lock);
  const Allocation *a = device_find(d, p);
  pthread_mutex_unlock(&d->lock);
  return a;
}

/* A file is mapped where a tensor was, of which the device has not heard that it is gone. */
static void test_lasting_memory(void) {
  nereid_device *d;
  void *own;
  if (nereid_device_open(&d, "interp")) abort();
  check_call(!nereid_alloc(&own, d, 256), "memory of the device");
  static char tensor[256];
  char *file = tensor + 64;
  device_borrow(d, tensor, sizeof tensor);
  device_borrow_lasting(d, file, 64);
  check_call(known_at(d, file)->lasting, "a file's memory within a tensor's");
  device_borrow(d, tensor, sizeof tensor);
  device_borrow(d, file - 8, 80);
  check_call(known_at(d, file) != NULL, "tensors around it");
  device_borrow_lasting(d, file, 64);
  device_return(d, file);
  check_call(known_at(d, file)->data == file, "two files of one memory");
  device_return(d, file);
  check_call(known_at(d, file)->data != file, "memory that was returned");
  nereid_free(d, own);
  nereid_device_close(d);
}

/* A tensor lies where a larger one was, a part of which is the device's own memory now. */
static void test_whole_memory(void) {
  nereid_device *d;
  void *own, *again;
  if (nereid_device_open(&d, "interp")) abort();
  check_call(!nereid_alloc(&own, d, 4096), "memory of the device");
  nereid_free(d, own);
  char *gone = (char *)own - 2048, *tensor = gone + 512;
  device_borrow(d, gone, 2048 + 64);
  device_borrow_whole(d, tensor, 256);
  check_call(!nereid_alloc(&again, d, 4096), "the same once more");
  const Allocation *a = known_at(d, tensor);
  check_call(a && a->data == tensor && a->size == 256, "a tensor where a larger one was");
  check_call(again != own || known_at(d, gone) == NULL, "which is no more");
  nereid_free(d, again);
  nereid_device_close(d);
}

int main(void) {
  test_threads("cpu", TURNS);
  test_threads("interp", 20);
  test_threads("nest", 3);
  test_overlap();
  test_unknown_bounds();
  test_borrowed("interp");
  test_borrowed("nest");
  test_calls();
  test_many_parameters();
  test_scratch();
  test_lasting_memory();
  test_whole_memory();
  return report();
}
