/* Sessions, static inputs, memory of the caller's, numbers that a model returns, and executables as
 * bytes, on the interpreters and on the CPU. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model/nereid_graph.h"
#include "runtime/support/tool.h"
#include "tests/support/tally.h"

/* Two sums with a temporary between them, which is too large for one kernel's registers to keep. */
static const char SUMS[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, p_w: \"f32[4, 4]\", x: \"f32[s0, 4]\"):\n"
    "        sym_size: \"Sym(s0)\" = torch.ops.aten.sym_size.int(x, 0)\n"
    "        mul_1: \"Sym(2*s0)\" = sym_size * 2\n"
    "        mm: \"f32[s0, 4]\" = torch.ops.aten.mm.default(x, p_w)\n"
    "        mm_1: \"f32[s0, 4]\" = torch.ops.aten.mm.default(mm, p_w)\n"
    "        return (mm_1, mul_1)\n";

static const char FIXED[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[8]\"):\n"
    "        add: \"f32[8]\" = torch.ops.aten.add.Tensor(x, 1.0)\n"
    "        return (add, None, 7)\n";

static nereid_tensor floats(float *data, int ndim, int64_t *shape) {
  return (nereid_tensor){
      .data = data, .device = {1, 0}, .ndim = ndim, .dtype = {2, 32, 1}, .shape = shape};
}

static nereid_executable *make_with(nereid_device *d, const char *text,
                                    const nereid_graph_options *o) {
  nereid_graph *g = NULL;
  nereid_executable *e = NULL;
  nereid_graph_source s = {.data = text, .size = strlen(text)};
  int code = nereid_graph_open(&g, &s, NULL, NULL);
  if (!code) code = nereid_executable_new(&e, g, d, o);
  check_got(!code, "an executable", nereid_error_message());
  nereid_graph_free(g);
  return e;
}

static nereid_executable *make(nereid_device *d, const char *text, const char *mode) {
  return make_with(d, text, &(nereid_graph_options){.mode = mode});
}

static nereid_device *open_device(const char *name) {
  nereid_device *d;
  check_got(!nereid_device_open(&d, name), name, nereid_error_message());
  return d;
}

enum { ROWS = 40 };

/* w is 2 times the identity, so that the result is 4 x. */
static _Alignas(16) float W[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};
static int64_t WS[] = {4, 4};

typedef struct {
  nereid_session *session; /* NULL: of the executable */
  nereid_executable *e;
  nereid_session_options options;
  float from;
} Runner;

/* The outputs are right, for these rows. */
static bool run_rows(const Runner *r, int64_t rows) {
  _Alignas(16) float x[ROWS * 4], out[ROWS * 4];
  int64_t xs[] = {rows, 4}, twice = 0;
  for (int i = 0; i < rows * 4; i++) x[i] = r->from + (float)i;
  nereid_tensor in[] = {floats(W, 2, WS), floats(x, 2, xs)};
  nereid_tensor results[] = {floats(out, 2, xs),
                             {.data = &twice, .device = {1, 0}, .dtype = {0, 64, 1}}};
  int code = r->session ? nereid_session_run(r->session, in, 2, results, 2, &r->options)
                        : nereid_executable_run(r->e, in, 2, results, 2, NULL);
  bool right = !code && twice == 2 * rows;
  for (int i = 0; i < rows * 4; i++) right &= out[i] == 4 * x[i];
  return right;
}

/* ---- many threads ---- */

enum { THREADS = 4, RUNS = 12 };

typedef struct {
  nereid_executable *e;
  int number;
  bool right;
} Thread;

static void *run_thread(void *thread) {
  Thread *t = thread;
  Runner r = {.e = t->e, .from = (float)(100 * t->number)};
  t->right = !nereid_session_new(&r.session, t->e);
  for (int i = 0; i < RUNS && t->right; i++)
    t->right = run_rows(&r, 1 + (t->number * 7 + i * 3) % ROWS);
  nereid_session_free(r.session);
  return NULL;
}

static void threads(const char *device, const char *mode) {
  nereid_device *d = open_device(device);
  nereid_executable *e = make(d, SUMS, mode);
  pthread_t threads[THREADS];
  Thread all[THREADS];
  for (int i = 0; i < THREADS && e; i++) {
    all[i] = (Thread){e, i, false};
    pthread_create(&threads[i], NULL, run_thread, &all[i]);
  }
  for (int i = 0; i < THREADS && e; i++) {
    pthread_join(threads[i], NULL);
    check_got(all[i].right, "the runs of a thread", device);
  }
  check_got(run_rows(&(Runner){.e = e, .from = 3}, 5), "a run of the executable itself", device);
  nereid_executable_free(e);
  nereid_device_close(d);
}

/* ---- memory of the caller's ---- */

static void memory(const char *device) {
  nereid_device *d = open_device(device);
  nereid_executable *e = make(d, SUMS, "eager");
  nereid_executable_info info;
  Runner r = {.e = e, .from = 1};
  _Alignas(16) float x[ROWS * 4];
  int64_t xs[] = {ROWS, 4};
  nereid_tensor in[] = {floats(W, 2, WS), floats(x, 2, xs)}, out[2];
  check_got(!nereid_session_new(&r.session, e), "a session", nereid_error_message());
  check_got(!nereid_session_prepare(r.session, in, 2, out, 2) && out[0].shape[0] == ROWS,
            "its outputs", nereid_error_message());
  check_got(out[1].ndim == 0 && out[1].device.device_type == 1 && out[1].dtype.bits == 64,
            "a number is in host memory", "");
  check_got(!nereid_session_get_info(&info, r.session), "its memory", nereid_error_message());
  check_got(!nereid_session_writes(r.session, 1), "no input is written", nereid_error_message());
  check_got(nereid_session_writes(r.session, 2) == NEREID_E_USAGE, "no such input", "");
  bool pool = !strcmp(device, "cpu");
  check_got((info.pool >= ROWS * 16) == pool, "the workspace's size", device);
  unsigned char *space = NULL;
  size_t size = (size_t)info.pool + 256;
  check(!posix_memalign((void **)&space, 256, size), "memory");
  for (int i = 0; i < 3; i++) {
    bool large = i != 1;
    memset(space, 0x55, size);
    r.options = (nereid_session_options){.workspace = space,
                                         .workspace_size = large ? info.pool : info.pool - 1};
    check_got(run_rows(&r, ROWS), "a run", nereid_error_message());
    bool used = false;
    for (size_t j = 0; j < size; j++) used |= space[j] != 0x55;
    check_got(used == (pool && large), "the workspace, where there is room", device);
  }
  free(space);
  r.options = (nereid_session_options){0};
  check_got(run_rows(&r, 3), "fewer rows", nereid_error_message());
  nereid_session_free(r.session);
  nereid_executable_free(e);
  nereid_device_close(d);
}

/* ---- memory that is lent step by step ---- */

/* A temporary of 2 MiB, a result twice, a copy of an input, and an input that nothing reads. */
static const char LENT[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[4096, 128]\", w: \"f32[128, 128]\", y: \"f32[4]\", "
    "z: \"f32[4]\"):\n"
    "        mm: \"f32[4096, 128]\" = torch.ops.aten.mm.default(x, w)\n"
    "        mm_1: \"f32[4096, 128]\" = torch.ops.aten.mm.default(mm, w)\n"
    "        add: \"f32[4]\" = torch.ops.aten.add.Tensor(y, 1.0)\n"
    "        return (mm_1, mm_1, add, y)\n";

/* The plan has a constant part, whose temporary and result are as large. */
static const char LENT_CONSTANT[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[4096, 128]\", w: \"f32[128, 128]\", y: \"f32[4]\", "
    "z: \"f32[4]\"):\n"
    "        zeros: \"f32[4096, 128]\" = torch.ops.aten.full.default([4096, 128], 0.0)\n"
    "        cat: \"f32[4096, 256]\" = torch.ops.aten.cat.default([zeros, zeros], 1)\n"
    "        sums: \"f32[4096, 256]\" = torch.ops.aten.cumsum.default(cat, 0)\n"
    "        half: \"f32[4096, 128]\" = torch.ops.aten.slice.Tensor(sums, 1, 0, 128)\n"
    "        product: \"f32[4096, 128]\" = torch.ops.aten.mm.default(x, w)\n"
    "        mm: \"f32[4096, 128]\" = torch.ops.aten.add.Tensor(product, half)\n"
    "        mm_1: \"f32[4096, 128]\" = torch.ops.aten.mm.default(mm, w)\n"
    "        add: \"f32[4]\" = torch.ops.aten.add.Tensor(y, 1.0)\n"
    "        return (mm_1, mm_1, add, y)\n";

/* A product, and a kernel that writes the result over it where memory matters. */
static const char LENT_OVER[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[4096, 128]\", w: \"f32[128, 128]\", y: \"f32[4]\", "
    "z: \"f32[4]\"):\n"
    "        mm: \"f32[4096, 128]\" = torch.ops.aten.mm.default(x, w)\n"
    "        sums: \"f32[4096, 1]\" = torch.ops.aten.sum.dim_IntList(mm, [1], True)\n"
    "        zeros: \"f32[4096, 1]\" = torch.ops.aten.mul.Tensor(sums, 0.0)\n"
    "        double: \"f32[4096, 128]\" = torch.ops.aten.mul.Tensor(mm, 2.0)\n"
    "        mm_1: \"f32[4096, 128]\" = torch.ops.aten.add.Tensor(double, zeros)\n"
    "        add: \"f32[4]\" = torch.ops.aten.add.Tensor(y, 1.0)\n"
    "        return (mm_1, mm_1, add, y)\n";

/* The number of rows is open. */
static const char LENT_OPEN[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s0, 128]\", w: \"f32[128, 128]\", y: \"f32[4]\", "
    "z: \"f32[4]\"):\n"
    "        mm: \"f32[s0, 128]\" = torch.ops.aten.mm.default(x, w)\n"
    "        mm_1: \"f32[s0, 128]\" = torch.ops.aten.mm.default(mm, w)\n"
    "        add: \"f32[4]\" = torch.ops.aten.add.Tensor(y, 1.0)\n"
    "        return (mm_1, mm_1, add, y)\n";

enum { LENT_ROWS = 4096, LENT_WIDTH = 128, LENT_INPUTS = 4, LENT_OUTPUTS = 4 };

typedef struct {
  int taken, held, outputs, done[LENT_INPUTS];
  bool refuses, refuses_outputs;
  void *made[LENT_OUTPUTS];
} Lender;

static void *take(void *context, int64_t bytes, void **handle) {
  Lender *l = context;
  if (l->refuses || posix_memalign(handle, 64, (size_t)bytes)) return NULL;
  memset(*handle, 0x55, (size_t)bytes);
  l->taken++;
  l->held++;
  return *handle;
}

static void give_back(void *context, void *handle) {
  Lender *l = context;
  l->held--;
  free(handle);
}

static int make_output(void *context, int i, nereid_tensor *out) {
  Lender *l = context;
  size_t size = 4;
  for (int32_t j = 0; j < out->ndim; j++) size *= (size_t)out->shape[j];
  if (l->refuses_outputs || posix_memalign(&out->data, 64, size)) return 1;
  l->made[i] = out->data;
  l->outputs++;
  return 0;
}

static void input_done(void *context, int i) { ((Lender *)context)->done[i]++; }

static int run_lent(nereid_session *session, Lender *l, float *x, float *w) {
  _Alignas(16) float y[] = {1, 2, 3, 4}, z[4] = {0};
  int64_t xs[] = {LENT_ROWS, LENT_WIDTH}, ws[] = {LENT_WIDTH, LENT_WIDTH}, ys[] = {4};
  nereid_tensor in[] = {floats(x, 2, xs), floats(w, 2, ws), floats(y, 1, ys), floats(z, 1, ys)};
  nereid_tensor out[LENT_OUTPUTS] = {{0}};
  int code = nereid_session_prepare(session, in, LENT_INPUTS, out, LENT_OUTPUTS);
  if (!code) code = nereid_session_run(session, in, LENT_INPUTS, out, LENT_OUTPUTS, NULL);
  const float *a = l->made[0], *b = l->made[1], *c = l->made[2], *d = l->made[3];
  bool right = !code && a && b && c && d && a != b && c[3] == 5 && d[3] == 4;
  for (int i = 0; i < LENT_ROWS * LENT_WIDTH && right; i++)
    right = a[i] == 4 * x[i] && b[i] == a[i];
  for (int i = 0; i < LENT_OUTPUTS; i++) free(l->made[i]), l->made[i] = NULL;
  return code ? code : right ? 0 : -1;
}

typedef struct {
  const char *text, *device, *mode;
  bool saves; /* saves_memory */
  bool lends; /* the device takes memory step by step */
  int taken;  /* temporaries */
  bool pooled; /* temporaries are in the workspace */
} LentCase;

static void lent(LentCase c) {
  bool lends = c.lends;
  nereid_device *d = open_device(c.device);
  nereid_graph_options o = {.mode = c.mode, .saves_memory = c.saves};
  nereid_executable *e = make_with(d, c.text, &o);
  nereid_session *session = NULL;
  Lender l = {0};
  nereid_run_memory m = {&l, take, give_back, make_output, input_done};
  if (c.pooled) m.take = NULL, m.give_back = NULL;
  float *x = NULL, *w = NULL;
  check(!posix_memalign((void **)&x, 64, LENT_ROWS * LENT_WIDTH * 4) &&
            !posix_memalign((void **)&w, 64, LENT_WIDTH * LENT_WIDTH * 4),
        "memory");
  for (int i = 0; i < LENT_ROWS * LENT_WIDTH; i++) x[i] = (float)(i % 97);
  for (int i = 0; i < LENT_WIDTH * LENT_WIDTH; i++) w[i] = i % (LENT_WIDTH + 1) ? 0 : 2;
  check_got(!nereid_session_new(&session, e), "a session", nereid_error_message());
  check_got(!nereid_session_set_memory(session, &m), "its memory", nereid_error_message());
  m = (nereid_run_memory){0}; /* the session has a copy */
  for (int i = 0; i < 2; i++) {
    l = (Lender){0};
    check_got(!run_lent(session, &l, x, w), "a run on lent memory", nereid_error_message());
    check_got(l.taken == c.taken && l.held == 0 && l.outputs == LENT_OUTPUTS, "what it took",
              c.device);
    for (int j = 0; j < LENT_INPUTS; j++)
      check_got(l.done[j] == lends, "an input that is left", c.device);
  }
  l = (Lender){.refuses = true};
  int code = run_lent(session, &l, x, w);
  const char *message = nereid_error_message();
  check_got(code == (c.taken ? NEREID_E_MEMORY : 0), "a temporary without memory", message);
  check_got(!c.taken || strstr(message, "the caller lends no memory for 'mm'"), "why", message);
  l = (Lender){.refuses_outputs = true};
  code = run_lent(session, &l, x, w);
  message = nereid_error_message();
  check_got(code == NEREID_E_MEMORY && l.held == 0, "an output without memory", message);
  l = (Lender){0};
  check_got(!run_lent(session, &l, x, w), "a run after failures", nereid_error_message());
  free(x);
  free(w);
  nereid_session_free(session);
  nereid_executable_free(e);
  nereid_device_close(d);
}

/* The weight is at its first place in all runs, whatever is passed later. */
static void static_inputs(const char *device) {
  nereid_device *d = open_device(device);
  nereid_executable *e = make(d, SUMS, NULL);
  check_got(!nereid_executable_set_static(e, 0), "a static input", nereid_error_message());
  check_got(nereid_executable_set_static(e, 2) == NEREID_E_USAGE, "no such input", "");
  Runner r = {.e = e, .from = 1};
  check_got(!nereid_session_new(&r.session, e), "a session", nereid_error_message());
  check_got(run_rows(&r, 4), "the first run", nereid_error_message());
  _Alignas(16) float other[16] = {0}, x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
  int64_t xs[] = {2, 4};
  nereid_tensor in[] = {floats(other, 2, WS), floats(x, 2, xs)}, results[2] = {floats(out, 2, xs)};
  check_got(!nereid_session_run(r.session, in, 2, results, 2, NULL) && out[7] == 32,
            "the tensor of the first run", nereid_error_message());
  check_got(results[1].data && *(int64_t *)results[1].data == 4, "a number of the session's", "");
  check_got(run_rows(&r, 4), "another run", nereid_error_message());
  nereid_session_free(r.session);
  nereid_executable_free(e);
  nereid_device_close(d);
}

static void numbers(const char *device) {
  nereid_device *d = open_device(device);
  nereid_executable *e = make(d, SUMS, NULL), *fixed = make(d, FIXED, NULL);
  nereid_graph_value v;
  check_got(!nereid_executable_output(&v, e, 1) && v.is_number && v.place == 1, "a number", "");
  check_got(v.type && !strcmp(v.type, "Sym(2*s0)"), "its type", v.type ? v.type : "");
  check_got(!nereid_executable_output(&v, e, 0) && !v.is_number, "a tensor", "");
  check_got(!nereid_executable_output(&v, fixed, 1) && v.is_number && v.place == 2, "an int", "");
  _Alignas(16) float x[8] = {0};
  int64_t xs[] = {8};
  nereid_tensor in = floats(x, 1, xs), out[2] = {{0}};
  check_got(!nereid_executable_run(fixed, &in, 1, out, 2, NULL) && *(int64_t *)out[1].data == 7,
            "its value", nereid_error_message());
  nereid_executable_free(e);
  nereid_executable_free(fixed);
  nereid_device_close(d);
}

/* ---- bytes ---- */

static void bytes(const char *device, const char *mode) {
  nereid_device *d = open_device(device);
  nereid_executable *e = make(d, SUMS, mode), *again = NULL;
  char *data;
  size_t size;
  check_got(!nereid_executable_bytes(&data, &size, e, NULL), "bytes", nereid_error_message());
  nereid_executable_free(e);
  nereid_executable_source s = {.data = data, .size = size};
  check_got(!nereid_executable_from_bytes(&again, &s, d), "from bytes", nereid_error_message());
  if (again) {
    nereid_graph_value v;
    check_got(!nereid_executable_input(&v, again, 1) && !strcmp(v.type, "f32[s0, 4]"), "types", "");
    check_got(!nereid_executable_output(&v, again, 1) && v.is_number, "a number", "");
    check_got(run_rows(&(Runner){.e = again, .from = 2}, 6), "a run", nereid_error_message());
    check_got(run_rows(&(Runner){.e = again, .from = 2}, 17), "another", nereid_error_message());
  }
  nereid_executable_free(again);
  nereid_text_free(data);
  nereid_device_close(d);
}

static void refuse(nereid_executable_source s, nereid_device *d, const char *message) {
  nereid_executable *e;
  check_got(nereid_executable_from_bytes(&e, &s, d) == NEREID_E_FILE && !e &&
                strstr(nereid_error_message(), message),
            message, nereid_error_message());
}

/* The number in front of text i after the hash is its length. */
static char *text_at(char *data, int i) {
  uint64_t n;
  char *at = data + 28;
  for (;; at += n + 9) {
    memcpy(&n, at, sizeof n);
    if (!i--) return at + 8;
  }
}

static void broken_bytes(void) {
  nereid_device *d = open_device("interp"), *nest = open_device("nest");
  nereid_executable *e = make(d, FIXED, NULL);
  char *data;
  size_t size;
  check_got(!nereid_executable_bytes(&data, &size, e, NULL), "bytes", nereid_error_message());
  nereid_executable_free(e);
  nereid_executable_source s = {.data = data, .size = size};
  refuse(s, nest, "the executable was made for interp, not for nest; make it again there");
  for (size_t n = 0; n < size; n += 1 + size / 40)
    refuse((nereid_executable_source){.data = data, .size = n}, d,
           "these bytes are no executable, or are damaged; make the executable again");
  for (size_t at = 0; at < size; at += 1 + size / 40) {
    data[at] ^= 4;
    refuse(s, d, "these bytes are no executable, or are damaged; make the executable again");
    data[at] ^= 4;
  }
  check(!strcmp(text_at(data, 1), nereid_build_id()), "the place of the build's number");
  text_at(data, 1)[0] ^= 1;
  uint64_t hash = XXH3_64bits(data + 28, size - 28);
  memcpy(data + 20, &hash, sizeof hash);
  char want[256];
  snprintf(want, sizeof want,
           "the executable was made by another build of Nereid (%s); make it again with this one "
           "(%s)",
           nereid_version(), nereid_version());
  refuse(s, d, want);
  nereid_text_free(data);
  nereid_device_close(d);
  nereid_device_close(nest);
}

/* KB of mappings of files of that name that the process has in memory; -1: the system does not
 * say. */
static long resident(const char *name) {
  FILE *f = fopen("/proc/self/smaps", "r");
  char line[512];
  unsigned long long from, end;
  bool here = false;
  long all = f ? 0 : -1, kb;
  while (f && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%llx-%llx ", &from, &end) == 2) here = strstr(line, name) != NULL;
    else if (here && sscanf(line, "Rss: %ld kB", &kb) == 1) all += kb;
  }
  if (f) fclose(f);
  return all;
}

/* Weights of a file: by reference to it, which may have moved, or embedded. */
static void weights(const char *device) {
  nereid_device *d = open_device(device);
  nereid_graph *g = NULL;
  nereid_executable *e = NULL, *again = NULL;
  nereid_graph_source s = {.path = "tests/models/mlp/model.pt2"};
  int code = nereid_graph_open(&g, &s, NULL, NULL);
  if (!code) code = nereid_executable_new(&e, g, d, NULL);
  check_got(!code, "a model of a file", nereid_error_message());
  nereid_graph_free(g);
  char *data[2] = {NULL};
  size_t size[2] = {0};
  for (int i = 0; i < 2 && e; i++) {
    nereid_bytes_options o = {.embed_weights = i};
    check_got(!nereid_executable_bytes(&data[i], &size[i], e, &o), "bytes", nereid_error_message());
  }
  nereid_executable_free(e);
  check_got(size[1] > size[0], "weights take room", "");
  for (int i = 0; i < 2 && data[i]; i++) {
    nereid_executable_source from = {.data = data[i], .size = size[i]};
    nereid_tensor out[1] = {{0}};
    int64_t shape[8];
    check_got(!nereid_executable_from_bytes(&again, &from, d), "from bytes",
              nereid_error_message());
    if (!again) continue;
    nereid_graph_value v;
    nereid_executable_input(&v, again, 0);
    nereid_executable_input_shape(shape, again, NULL, 0, 0);
    float *x = calloc(1 << 16, sizeof *x);
    nereid_tensor in = floats(x, v.ndim, shape);
    check_got(!nereid_executable_run(again, &in, 1, out, 1, NULL), "a run", nereid_error_message());
    free(x);
    const long most = 600; /* of 1,700, which are packed */
    bool packed = !strcmp(device, "cpu") && !i;
    check(!packed || resident("mlp/model.pt2") < most, "a file's weights are given back");
    nereid_executable_free(again);
  }
  if (data[0]) {
    nereid_executable_source from = {
        .data = data[0], .size = size[0], .weights = "tests/models/chain/model.pt2"};
    refuse(from, d,
           "model.pt2 has changed since the executable was made, which has its weights there; make "
           "it again");
    from.weights = "none.pt2";
    refuse(from, d, "can't open none.pt2");
  }
  nereid_text_free(data[0]);
  nereid_text_free(data[1]);
  nereid_device_close(d);
}

/* ---- a C compiler that is counted ---- */

/* Twenty kernels, without fusion. */
enum { STEPS = 20 };

static nereid_executable *make_steps(nereid_device *d, int size) {
  char text[STEPS * 96 + 256];
  int n = snprintf(text, sizeof text,
                   "class GraphModule(torch.nn.Module):\n"
                   "    def forward(self, x0: \"f32[%d]\"):\n",
                   size);
  for (int i = 0; i < STEPS; i++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "        x%d: \"f32[%d]\" = torch.ops.aten.%s.default(x%d)\n", i + 1, size,
                  i % 2 ? "neg" : "relu", i);
  snprintf(text + n, sizeof text - (size_t)n, "        return (x%d,)\n", STEPS);
  return make(d, text, "eager");
}

/* A kernel that takes long, and one beside it that takes little of the call's time. */
static nereid_executable *make_unequal(nereid_device *d) {
  return make(d,
              "class GraphModule(torch.nn.Module):\n"
              "    def forward(self, x: \"f32[1048576]\", y: \"f32[512]\"):\n"
              "        a: \"f32[1048576]\" = torch.ops.aten.exp.default(x)\n"
              "        b: \"f32[512]\" = torch.ops.aten.tanh.default(y)\n"
              "        return (a, b)\n",
              "eager");
}

/* Its first kernel runs once, before all calls, and takes longer than a call. */
static nereid_executable *make_once(nereid_device *d) {
  return make(d,
              "class GraphModule(torch.nn.Module):\n"
              "    def forward(self, x: \"f32[65536]\"):\n"
              "        i: \"f32[65536]\" = torch.ops.aten.arange.start_step(0, 65536, 1, "
              "dtype = torch.float32)\n"
              "        s: \"f32[65536]\" = torch.ops.aten.cumsum.default(i, 0)\n"
              "        a: \"f32[65536]\" = torch.ops.aten.add.Tensor(x, s)\n"
              "        return (a,)\n",
              NULL);
}

/* A product of f32, whose loop over k is a function. */
static nereid_executable *make_product(nereid_device *d) {
  return make(d,
              "class GraphModule(torch.nn.Module):\n"
              "    def forward(self, x: \"f32[64, 256]\", w: \"f32[256, 256]\"):\n"
              "        a: \"f32[64, 256]\" = torch.ops.aten.mm.default(x, w)\n"
              "        return (a,)\n",
              NULL);
}

/* The lines of the file `calls` with a word; the file is empty afterwards. */
static int compilations(const TempFolder *t, const char *word) {
  char *data, *rest = NULL;
  size_t size;
  int n = 0;
  if (temp_read(t, "calls", &data, &size)) return 0;
  char *text = calloc(1, size + 1);
  memcpy(text, data, size);
  for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
    n += strstr(l, word) != NULL;
  free(text);
  free(data);
  check(!temp_write(t, "calls", "", 0), "an empty file");
  return n;
}

/* A compiler that leaves lines in the folder's file `calls`, its arguments and each kernel's entry;
 * else $CC's or cc. */
static void count_compilations(const TempFolder *t) {
  const char *cc = getenv("CC");
  char script[3 * TOOL_PATH + 256], path[TOOL_PATH + 32];
  snprintf(script, sizeof script,
           "#!/bin/sh\necho \"$@\" >> '%s/calls'\n"
           "for f; do case $f in *.c) grep -o '^void [a-z0-9_]*_launch(' \"$f\" >> '%s/calls';; "
           "esac; done\nexec %s \"$@\"\n",
           t->path, t->path, cc && *cc ? cc : "cc");
  check(!temp_write(t, "counted", script, strlen(script)), "a compiler");
  temp_name(path, sizeof path, t, "counted");
  chmod(path, 0700);
  setenv("CC", path, 1);
}

static void run_steps(nereid_executable *e) {
  float x[8] = {-1, 2, -3, 4, -5, 6, -7, 8}, y[8];
  int64_t shape[1] = {8};
  nereid_tensor in = floats(x, 1, shape), out = floats(y, 1, shape);
  check_got(!nereid_executable_run(e, &in, 1, &out, 1, NULL), "a run", nereid_error_message());
  check(((float *)out.data)[0] == 0, "a value");
}

/* The code that runs is what the bytes have; who reads them needs no compiler.  Before, each kernel
 * was compiled again for them, alone. */
static void compiled_once(void) {
  TempFolder t;
  nereid_executable *again = NULL;
  char *data = NULL;
  size_t size = 0;
  if (temp_new(&t)) abort();
  count_compilations(&t);
  setenv("NEREID_CACHE_DIR", "", 1);
  nereid_device *d = open_device("cpu");
  nereid_executable *e = make_steps(d, 1 << 20);
  check(compilations(&t, "-Og") == 0, "what takes long is optimized");
  nereid_executable_free(e);
  nereid_executable_free(make_unequal(d));
  check(compilations(&t, "-O2 -march=native") == 2, "two kernels that are not alike");
  nereid_executable_free(make_unequal(d));
  check(compilations(&t, "-Og") == 1, "one of two takes little of a call's time");
  nereid_executable_free(make_once(d));
  check(compilations(&t, "-Og") == 1, "one that runs once is compiled quickly");
  nereid_executable_free(make_product(d));
  check(compilations(&t, "-O1") > 0, "the rest of a product takes less effort");
  e = make_steps(d, 8);
  int made = compilations(&t, "-Og");
  check(made > 0 && made < STEPS, "brief kernels are compiled together, and quickly");
  check_got(!nereid_executable_bytes(&data, &size, e, NULL), "bytes", nereid_error_message());
  check(compilations(&t, "") == 0, "each kernel is compiled once");
  nereid_executable_free(e);
  nereid_device_close(d);
  setenv("CC", "no-compiler", 1);
  d = open_device("cpu");
  nereid_executable_source s = {.data = data, .size = size};
  check_got(!nereid_executable_from_bytes(&again, &s, d), "without a compiler",
            nereid_error_message());
  if (again) run_steps(again);
  char *copy = NULL;
  size_t copied = 0;
  int code = again ? nereid_executable_bytes(&copy, &copied, again, NULL) : 1;
  check_got(!code, "bytes of what was read", nereid_error_message());
  check(copied == size && !memcmp(copy, data, size), "the same bytes");
  nereid_executable_free(again);
  nereid_text_free(copy);
  nereid_text_free(data);
  nereid_device_close(d);
  temp_free(&t);
}

/* A kernel that runs once, before all calls, and is soon over, with an op of the caller's. */
static nereid_executable *make_once_briefly(nereid_device *d, const char *op) {
  char text[1024];
  snprintf(text, sizeof text,
           "class GraphModule(torch.nn.Module):\n"
           "    def forward(self, x: \"f32[8]\"):\n"
           "        i: \"f32[8]\" = torch.ops.aten.arange.start_step(0, 8, 1, "
           "dtype = torch.float32)\n"
           "        s: \"f32[8]\" = torch.ops.aten.%s.default(i)\n"
           "        f: \"f32[8]\" = torch.ops.aten.flip.default(s, [0])\n"
           "        a: \"f32[8]\" = torch.ops.aten.cumsum.default(x, 0)\n"
           "        b: \"f32[8]\" = torch.ops.aten.mul.Tensor(a, f)\n"
           "        return (b,)\n",
           op);
  return make(d, text, NULL);
}

static void run_roots(nereid_executable *e) {
  float x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, y[8];
  int64_t shape[1] = {8};
  nereid_tensor in = floats(x, 1, shape), out = floats(y, 1, shape);
  check_got(!nereid_executable_run(e, &in, 1, &out, 1, NULL), "a run", nereid_error_message());
  for (int i = 0; i < 8; i++) check(y[i] == (float)(i + 1) * sqrtf((float)(7 - i)), "a root");
}

/* No compiler makes a brief kernel that runs once, and the executable's bytes have it nevertheless.
 * A kernel with an approximation is compiled: calls would depend on where it ran. */
static void interpreted_once(void) {
  TempFolder t;
  nereid_executable *again = NULL;
  char *data = NULL;
  size_t size = 0;
  if (temp_new(&t)) abort();
  unsetenv("CC");
  count_compilations(&t);
  setenv("NEREID_CACHE_DIR", "", 1);
  nereid_device *d = open_device("cpu");
  nereid_executable_free(make_once_briefly(d, "exp"));
  check(compilations(&t, "_launch(") == 2, "an approximation is compiled");
  nereid_executable *e = make_once_briefly(d, "sqrt");
  check(compilations(&t, "_launch(") == 1, "a kernel of calls alone is compiled");
  run_roots(e);
  check_got(!nereid_executable_bytes(&data, &size, e, NULL), "bytes", nereid_error_message());
  nereid_executable_free(e);
  nereid_device_close(d);
  setenv("CC", "no-compiler", 1);
  d = open_device("cpu");
  nereid_executable_source s = {.data = data, .size = size};
  check_got(!nereid_executable_from_bytes(&again, &s, d), "without a compiler",
            nereid_error_message());
  if (again) run_roots(again);
  nereid_executable_free(again);
  nereid_text_free(data);
  nereid_device_close(d);
  temp_free(&t);
}

/* A kernel of open length, alone or after another one, where its size has another name. */
static nereid_executable *make_alike(nereid_device *d, bool more) {
  return make(d,
              more ? "class GraphModule(torch.nn.Module):\n"
                     "    def forward(self, y: \"f32[s5]\", x: \"f32[s7]\"):\n"
                     "        a: \"f32[s5]\" = torch.ops.aten.tanh.default(y)\n"
                     "        b: \"f32[s7]\" = torch.ops.aten.cumsum.default(x, 0)\n"
                     "        return (b, a)\n"
                   : "class GraphModule(torch.nn.Module):\n"
                     "    def forward(self, x: \"f32[s0]\"):\n"
                     "        b: \"f32[s0]\" = torch.ops.aten.cumsum.default(x, 0)\n"
                     "        return (b,)\n",
              "eager");
}

static void run_alike(nereid_executable *e, int inputs) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0, 0, 0, 0}, sums[4] = {0}, zeros[4] = {1, 1, 1, 1};
  int64_t shape[1] = {4};
  nereid_tensor in[2] = {floats(inputs > 1 ? y : x, 1, shape), floats(x, 1, shape)};
  nereid_tensor out[2] = {floats(sums, 1, shape), floats(zeros, 1, shape)};
  check_got(!nereid_executable_run(e, in, (size_t)inputs, out, (size_t)inputs, NULL), "a run",
            nereid_error_message());
  for (int i = 0; i < 4; i++) check(sums[i] == (float)((i + 1) * (i + 2) / 2), "a sum");
  for (int i = 0; i < 4; i++) check(zeros[i] == (inputs > 1 ? 0 : 1), "a tangent");
}

/* A kernel that is loaded already, under another name, is not compiled again; an executable that
 * has its code outlives the one that brought it, and has it among its bytes. */
static void alike_once(void) {
  TempFolder t;
  nereid_executable *again = NULL;
  char *data = NULL;
  size_t size = 0;
  if (temp_new(&t)) abort();
  unsetenv("CC");
  count_compilations(&t);
  setenv("NEREID_CACHE_DIR", "", 1);
  nereid_device *d = open_device("cpu");
  nereid_executable *first = make_alike(d, false);
  check(compilations(&t, "_launch(") == 1, "the first one is compiled");
  nereid_executable *second = make_alike(d, true);
  check(compilations(&t, "_launch(") == 1, "the other one's other kernel is compiled");
  run_alike(first, 1);
  nereid_executable_free(first);
  run_alike(second, 2);
  check_got(!nereid_executable_bytes(&data, &size, second, NULL), "bytes", nereid_error_message());
  nereid_executable_free(second);
  nereid_executable_free(make_alike(d, false));
  check(compilations(&t, "_launch(") == 1, "what is unloaded is compiled again");
  nereid_device_close(d);
  setenv("CC", "no-compiler", 1);
  d = open_device("cpu");
  nereid_executable_source s = {.data = data, .size = size};
  check_got(!nereid_executable_from_bytes(&again, &s, d), "from bytes", nereid_error_message());
  if (again) run_alike(again, 2);
  nereid_executable_free(again);
  nereid_text_free(data);
  nereid_device_close(d);
  temp_free(&t);
}

int main(void) {
  static const char *const devices[] = {"interp", "nest", "cpu"};
  for (int i = 0; i < 3; i++) {
    threads(devices[i], NULL);
    threads(devices[i], "eager");
    memory(devices[i]);
    static_inputs(devices[i]);
    numbers(devices[i]);
    bytes(devices[i], NULL);
    bytes(devices[i], "eager");
    weights(devices[i]);
  }
  lent((LentCase){LENT, "cpu", NULL, false, true, 1});
  lent((LentCase){LENT, "cpu", NULL, true, true, 1});
  lent((LentCase){LENT, "cpu", "eager", false, true, 1});
  lent((LentCase){LENT, "cpu", NULL, true, true, 0, true});
  lent((LentCase){LENT_OVER, "cpu", NULL, true, true, 0, true});
  lent((LentCase){LENT_OPEN, "cpu", NULL, true, true, 0, true});
  lent((LentCase){LENT, "interp", NULL, false, false, 0});
  lent((LentCase){LENT_CONSTANT, "cpu", NULL, false, true, 1});
  lent((LentCase){LENT_OVER, "cpu", NULL, false, true, 1});
  lent((LentCase){LENT_OVER, "cpu", NULL, true, true, 0});
  lent((LentCase){LENT_OVER, "interp", NULL, true, false, 0});
  broken_bytes();
  compiled_once();
  interpreted_once();
  alike_once();
  return report();
}
