/* Runs in a stream that is captured, against a fake driver that refuses what the driver does: what
 * the graph has, what is ready afterwards, and what can't be captured. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/execute/execute_state.h"
#include "model/nereid_graph.h"
#include "planner/plan/plan.h"
#include "runtime/support/array.h"
#include "runtime/support/tool.h"
#include "tests/support/calls.h"

#define ADD                                                   \
  "source\n"                                                  \
  "import triton\n"                                           \
  "import triton.language as tl\n"                            \
  "@triton.jit\n"                                             \
  "def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):\n" \
  "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"  \
  "    x = tl.load(x_ptr + i, mask=i < n)\n"                  \
  "    y = tl.load(y_ptr + i, mask=i < n)\n"                  \
  "    tl.store(out_ptr + i, x + y, mask=i < n)\n"

/* out = x + (w + w), the inner sum once, and x becomes out; %s: an input more. */
static const char SUM[] =
    "plan Sum\n"
    "input %%x 0 \"f32[20]\"\n"
    "%s"
    "weight %%p_w \"w\" \"f32[20]\"\n"
    "constant %%c \"f32[20]\"\n"
    "temporary %%t \"f32[20]\" 1..2\n"
    "output %%out 0 \"f32[20]\"\n"
    "return %%out\n"
    "update %%x = %%out\n"
    "once add(x_ptr = %%p_w, y_ptr = %%p_w, out_ptr = %%c, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n"
    "step add(x_ptr = %%x, y_ptr = %%c, out_ptr = %%t, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n"
    "step add(x_ptr = %%x, y_ptr = %%t, out_ptr = %%out, n = 20, BLOCK: 32)"
    " grid 1, 1, 1 warps 1 stages 1\n" ADD;

static TempFolder folder;
static char log_path[TOOL_PATH + 64];

/* ---- the fake driver ---- */

static struct {
  int (*stream_new)(void **out, unsigned flags);
  int (*stream_free)(void *stream);
  int (*begin)(void *stream, int mode);
  int (*end)(void *stream, void **graph);
  int (*is_capturing)(void *stream, int *state);
  int (*launch)(void *graph, void *stream);
  int (*graph_free)(void *graph);
} driver;

static bool find_driver(void) {
  char cc[TOOL_PATH], options[TOOL_PATH], out[TOOL_PATH + 64], output[4096];
  temp_name(out, sizeof out, &folder, "fake.so");
  const char *argv[] = {cc,  "-shared", "-fPIC", "-O1", "-o", out, "tests/support/fake_cuda.c",
                        NULL};
  if (!tool_find_cc(cc, options)) return false;
  if (tool_run(argv, output, sizeof output)) return printf("%s\n", output), false;
  setenv("NEREID_LIBCUDA", out, 1);
  void *library = dlopen(out, RTLD_NOW);
  static const char *const names[] = {"cuStreamCreate",          "cuStreamDestroy_v2",
                                      "cuStreamBeginCapture_v2", "cuStreamEndCapture",
                                      "cuStreamIsCapturing",     "cuGraphLaunch",
                                      "cuGraphDestroy"};
  _Static_assert(sizeof driver == sizeof names, "a name each");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *f = library ? dlsym(library, names[i]) : NULL;
    memcpy((char *)&driver + i * sizeof f, &f, sizeof f);
  }
  return library;
}

/* How many lines of the log begin with `text`. */
static int count_logged(const char *text) {
  char line[1024];
  int n = 0;
  FILE *f = fopen(log_path, "r");
  while (f && fgets(line, sizeof line, f)) n += !strncmp(line, text, strlen(text));
  if (f) fclose(f);
  return n;
}

static void forget_log(void) { unlink(log_path); }

/* ---- a plan ---- */

typedef struct {
  Arena *arena;
  Plan *plan;
  Weights *weights;
  nereid_device *device;
  Executable *e;
  int ninputs;
  float *x, *out; /* of the device */
  void *stream;
} Case;

static Case start(int ninputs, bool replay, unsigned stream_flags) {
  static float elements[20];
  Case c = {.arena = arena_new()};
  Pool *names = pool_new(c.arena);
  Diags *diags = diags_new(c.arena);
  c.weights = weights_new(c.arena);
  Weight w = {.name = pool_name(names, "w"), .dtype = DT_F32, .rank = 1};
  w.shape = (int64_t[]){20};
  w.strides = (int64_t[]){1};
  weights_add(c.weights, diags, (Span){0}, w, 0,
              (WeightBytes){(const uint8_t *)elements, sizeof elements, w.name});
  Text text = text_new(c.arena);
  c.ninputs = ninputs;
  text_printf(&text, SUM, ninputs == 2 ? "input %n 1 \"i64[1]\" is (3)\n" : "");
  uint32_t file = diag_source(diags, pool_name(names, "p.plan"), text.data, text.len);
  c.plan = plan_read(c.arena, names, diags, file);
  if (!c.plan || nereid_device_open(&c.device, "cuda")) abort();
  ExecuteOptions o = {.replay = replay};
  check_call(!executable_new(&c.e, c.plan, c.weights, c.device, &o), "compiling");
  if (nereid_alloc((void **)&c.x, c.device, 80) || nereid_alloc((void **)&c.out, c.device, 80))
    abort();
  driver.stream_new(&c.stream, stream_flags);
  return c;
}

static void finish(Case *c) {
  driver.stream_free(c->stream);
  nereid_free(c->device, c->x);
  nereid_free(c->device, c->out);
  executable_free(c->e);
  nereid_device_close(c->device);
  arena_free(c->arena);
}

typedef struct {
  int x, n, out; /* DLPack's types of the tensors' devices */
} Places;

static const Places WANTED = {2, 1, 2};

/* Runs in the case's stream, or the default one. */
static int run_at(const Case *c, Execution *e, bool in_stream, Places at) {
  static int64_t twenty[] = {20}, one[] = {1}, three = 3;
  nereid_stream stream = {c->device, c->stream, false};
  nereid_tensor x = {.data = c->x, .device = {at.x, 0}, .ndim = 1, .shape = twenty};
  x.dtype = array_dl_dtype(DT_F32);
  nereid_tensor in[] = {x, x}, out = x;
  in[1].data = &three;
  in[1].device.device_type = at.n;
  in[1].dtype = array_dl_dtype(DT_I64);
  in[1].shape = one;
  out.data = c->out;
  out.device.device_type = at.out;
  ExecutionCall call = {.inputs = in,
                        .ninputs = c->ninputs,
                        .outputs = &out,
                        .noutputs = 1,
                        .stream = in_stream ? &stream : NULL};
  return execution_run(e, &call);
}

/* ---- tests ---- */

enum { NON_BLOCKING = 1 };

/* The graph has two launches and the copy back. */
static void replay_graph(const Case *c) {
  void *graph = NULL;
  forget_log();
  check_call(driver.end(c->stream, &graph) == 0, "the capture's end");
  check_call(count_logged("replayed") == 0, "nothing ran so far");
  for (int i = 0; i < 2 && graph; i++) driver.launch(graph, c->stream);
  check_call(count_logged("replayed") == 4 && count_logged("copied") == 2, "the graph runs twice");
  if (graph) driver.graph_free(graph);
}

static void captured_run(const char *what, bool replay, bool ran_before, int mode) {
  Case c = start(2, replay, NON_BLOCKING);
  Execution *e = NULL;
  if (ran_before)
    check_call(!run_at(&c, executable_main(c.e), false, WANTED), "a run before the capture");
  driver.begin(c.stream, mode);
  check_call(!execution_new(&e, c.e), "another execution");
  forget_log();
  check_call(!run_at(&c, e, true, WANTED), what);
  check_call(count_logged("launch ") == (ran_before ? 0 : 1), "but the constant part nothing runs");
  replay_graph(&c);
  check_call(!run_at(&c, executable_main(c.e), false, WANTED), "a run after the capture");
  execution_free(e);
  finish(&c);
}

static void refusals(void) {
  Case c = start(2, false, NON_BLOCKING);
  Execution *e = executable_main(c.e);
  check_call(!run_at(&c, e, false, WANTED), "a run before the capture");
  driver.begin(c.stream, 0);
  X(run_at(&c, e, true, (Places){1, 1, 2}), NEREID_E_USAGE,
    "input 0 (x) is in host memory, which a captured stream does not copy; pass a tensor on the "
    "device");
  X(run_at(&c, e, true, (Places){2, 2, 2}), NEREID_E_USAGE,
    "input 1 (n) decides sizes, and the host can't read it while the stream is captured; pass it "
    "in host memory");
  X(run_at(&c, e, true, (Places){2, 1, 1}), NEREID_E_USAGE,
    "output 0 (out) is in host memory, to which a captured stream does not copy; pass a tensor on "
    "the device");
  check_call(!run_at(&c, e, true, WANTED), "the capture goes on");
  replay_graph(&c);
  finish(&c);
}

/* The default stream waits for one that is captured, and the driver refuses that. */
static void blocking_stream(void) {
  void *graph;
  Case c = start(1, false, 0);
  driver.begin(c.stream, 0);
  check_call(run_at(&c, executable_main(c.e), true, WANTED) == NEREID_E_DEVICE &&
                 strstr(nereid_error_message(), "run once before the capture"),
             "a first run in a blocking stream");
  check_call(driver.end(c.stream, &graph) == 901, "the capture is over");
  check_call(!run_at(&c, executable_main(c.e), true, WANTED), "a run without");
  driver.begin(c.stream, 0);
  check_call(!run_at(&c, executable_main(c.e), true, WANTED), "and then a captured one");
  replay_graph(&c);
  finish(&c);
}

static nereid_executable *open_model(const Case *c, const char *text, size_t size) {
  nereid_graph *g;
  nereid_executable *e = NULL;
  nereid_graph_source source = {.data = text, .size = size};
  check_call(!nereid_graph_open(&g, &source, NULL, NULL), "reading");
  check_call(!nereid_executable_new(&e, g, c->device, NULL), "compiling");
  nereid_graph_free(g);
  if (!e) abort();
  return e;
}

/* A model whose data the host must read refuses a captured stream, and the capture goes on. */
static void refuse_capture(const char *text, const char *message) {
  Case c = start(2, false, NON_BLOCKING);
  nereid_executable *e = open_model(&c, text, strlen(text));
  nereid_session *session = NULL;
  check_call(!nereid_session_new(&session, e), "a session");
  int64_t shape[] = {20};
  nereid_tensor x = {.data = c.x, .device = {2, 0}, .ndim = 1, .shape = shape}, out = {0};
  x.dtype = array_dl_dtype(DT_F32);
  nereid_session_options o = {.native_stream = c.stream};
  driver.begin(c.stream, 0);
  check_call(nereid_device_is_capturing(c.device, c.stream) == 1, "the stream is captured");
  check_call(nereid_device_is_capturing(c.device, NULL) == 0, "the default one is not");
  X(nereid_session_run(session, &x, 1, &out, 1, &o), NEREID_E_USAGE, message);
  void *graph = NULL;
  check_call(driver.end(c.stream, &graph) == 0, "the capture goes on");
  driver.graph_free(graph);
  check_call(nereid_device_is_capturing(c.device, c.stream) == 0, "it is not captured any more");
  nereid_session_free(session);
  nereid_executable_free(e);
  finish(&c);
}

static void data_sizes(void) {
  refuse_capture(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[s0]\"):\n"
      "        nonzero: \"i64[u0, 1]\" = torch.ops.aten.nonzero.default(x)\n"
      "        return nonzero\n",
      "the model can't run in a stream that is captured: its data ('*') decides sizes, which the "
      "host reads between its kernels");
  refuse_capture(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[s0]\"):\n"
      "        c = nereid.carried.default(x, 1)\n"
      "        sum_1 = torch.ops.aten.sum.default(c)\n"
      "        lt = torch.ops.aten.lt.Scalar(sum_1, 9.0)\n"
      "        test = nereid.loop_test.default(lt, 2)\n"
      "        next = torch.ops.aten.add.Tensor(c, 1.0)\n"
      "        end = nereid.loop_end.default(test, [c], [next])\n"
      "        result = nereid.loop_result.default(c, end)\n"
      "        return result\n",
      "the model can't run in a stream that is captured: its data ('*') decides how often a loop "
      "runs, which the host reads in each iteration");
}

/* What a graph's run finds out of range is told by the next run of the model's. */
static void indices(void) {
  static const char LOOKUP[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, w: \"f32[8, 4]\", i: \"i64[20]\"):\n"
      "        got: \"f32[20, 4]\" = torch.ops.aten.embedding.default(w, i)\n"
      "        return got\n";
  Case c = start(2, false, NON_BLOCKING);
  nereid_executable *e = open_model(&c, LOOKUP, sizeof LOOKUP - 1);
  nereid_session *sessions[2] = {NULL};
  static float w[32];
  static int64_t i[20], rows[] = {8, 4}, count[] = {20};
  nereid_tensor in[] = {{.data = w, .device = {2, 0}, .ndim = 2, .shape = rows},
                        {.data = i, .device = {2, 0}, .ndim = 1, .shape = count}};
  in[0].dtype = array_dl_dtype(DT_F32);
  in[1].dtype = array_dl_dtype(DT_I64);
  nereid_tensor out[2] = {{0}};
  nereid_session_options o = {.native_stream = c.stream};
  for (int s = 0; s < 2; s++) check_call(!nereid_session_new(&sessions[s], e), "a session");
  driver.begin(c.stream, 0);
  check_call(!nereid_session_run(sessions[0], in, 2, out, 1, &o), "a run that is captured");
  void *graph = NULL;
  check_call(driver.end(c.stream, &graph) == 0, "the capture's end");
  check_call(!nereid_session_run(sessions[1], in, 2, out + 1, 1, &o), "no index is out of range");
  setenv("FAKE_CUDA", "index=5", 1);
  driver.launch(graph, c.stream);
  setenv("FAKE_CUDA", "", 1);
  check_call(nereid_session_run(sessions[1], in, 2, out + 1, 1, &o) == NEREID_E_INDEX,
             "the graph's run found one");
  check_call(!nereid_session_run(sessions[1], in, 2, out + 1, 1, &o), "which is told once");
  nereid_session_free(sessions[0]);
  check_call(!nereid_session_run(sessions[1], in, 2, out + 1, 1, &o), "the graph is gone");
  driver.graph_free(graph);
  nereid_session_free(sessions[1]);
  nereid_executable_free(e);
  finish(&c);
}

/* Libraries allocate memory for their handles and for code that they load. */
static bool make_library(void) {
  char cc[TOOL_PATH], options[TOOL_PATH], out[TOOL_PATH + 64], output[4096];
  temp_name(out, sizeof out, &folder, "libcublasLt.so.12");
  const char *argv[] = {
      cc, "-shared", "-fPIC", "-O1", "-o", out, "tests/support/fake_libraries.c", "-lm", NULL};
  if (tool_find_cc(cc, options)) setenv("NEREID_LIBRARY_PATH", folder.path, 1);
  return !tool_run(argv, output, sizeof output);
}

/* sums = x by y, [4, 8] by [8, 4], by the library. */
typedef struct {
  nereid_executable *e;
  nereid_session *session;
  nereid_tensor t[3];
  float sums[16];
} LibraryRun;

static void library_start(LibraryRun *r, const Case *c) {
  static const char PRODUCT[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4, 8]\", y: \"f32[8, 4]\"):\n"
      "        mm: \"f32[4, 4]\" = torch.ops.aten.mm.default(x, y)\n"
      "        return mm\n";
  static float x[32], y[32];
  static int64_t shapes[][2] = {{4, 8}, {8, 4}, {4, 4}};
  nereid_graph *g = NULL;
  nereid_graph_source source = {.data = PRODUCT, .size = sizeof PRODUCT - 1};
  nereid_graph_options options = {.libraries = "always"};
  check_call(!nereid_graph_open(&g, &source, NULL, NULL), "reading");
  check_call(!nereid_executable_new(&r->e, g, c->device, &options), "compiling");
  nereid_graph_free(g);
  check_call(!nereid_session_new(&r->session, r->e), "a session");
  float *data[] = {x, y, r->sums};
  for (int i = 0; i < 3; i++)
    r->t[i] = (nereid_tensor){.data = data[i],
                              .device = {2, 0},
                              .ndim = 2,
                              .shape = shapes[i],
                              .dtype = array_dl_dtype(DT_F32)};
  for (int i = 0; i < 32; i++) x[i] = y[i] = r->sums[i / 2] = 1;
}

static void library_finish(LibraryRun *r) {
  nereid_session_free(r->session);
  nereid_executable_free(r->e);
}

static void library_call(int mode) {
  LibraryRun r = {0};
  Case c = start(2, false, NON_BLOCKING);
  void *graph = NULL;
  library_start(&r, &c);
  nereid_session_options o = {.native_stream = c.stream};
  driver.begin(c.stream, mode);
  check_call(!nereid_session_run(r.session, r.t, 2, r.t + 2, 1, &o), "a first run with a library");
  check_call(driver.end(c.stream, &graph) == 0, "the capture goes on");
  if (graph) driver.launch(graph, c.stream);
  check_call(r.sums[0] == 8, "the graph has the library's call");
  if (graph) driver.graph_free(graph);
  library_finish(&r);
  finish(&c);
}

/* ---- memory that is lent ---- */

static void *take(void *taken, int64_t bytes, void **handle) {
  *(int64_t *)taken += bytes;
  return posix_memalign(handle, 256, (size_t)bytes) ? NULL : *handle;
}

static void give_back(void *taken, void *handle) {
  (void)taken;
  free(handle);
}

static int no_output(void *taken, int i, nereid_tensor *out) {
  (void)taken, (void)i, (void)out;
  return 1;
}

static void no_input(void *taken, int i) { (void)taken, (void)i; }

/* A call may have 32 MiB, and takes what its algorithm needs. */
static void lent_workspace(const char *algorithm, int64_t needs) {
  LibraryRun r = {0};
  Case c = start(2, false, NON_BLOCKING);
  int64_t taken = 0;
  nereid_run_memory m = {&taken, take, give_back, no_output, no_input};
  setenv("FAKE_LIBRARIES", algorithm, 1);
  library_start(&r, &c);
  check_call(!nereid_session_set_memory(r.session, &m), "its memory");
  check_call(!nereid_session_run(r.session, r.t, 2, r.t + 2, 1, NULL), "a run on lent memory");
  check_call(r.sums[0] == 8, "the product");
  if (taken != needs) printf("%lld bytes were taken\n", (long long)taken);
  check_call(taken == needs, "a workspace of what the algorithm needs");
  setenv("FAKE_LIBRARIES", "", 1);
  library_finish(&r);
  finish(&c);
}

int main(void) {
  if (temp_new(&folder)) abort();
  temp_name(log_path, sizeof log_path, &folder, "log");
  setenv("FAKE_CUDA_LOG", log_path, 1);
  setenv("NEREID_PTXAS", "", 1); /* the driver's machine code is PTX */
  setenv("NEREID_CACHE_DIR", folder.path, 1);
  if (find_driver()) {
    for (int mode = 0; mode < 3; mode++) {
      captured_run("a run that is captured", false, true, mode);
      captured_run("a first run that is captured", false, false, mode);
      captured_run("in mode reduce-overhead", true, true, mode);
    }
    refusals();
    blocking_stream();
    data_sizes();
    indices();
    if (make_library()) {
      for (int mode = 0; mode < 3; mode++) library_call(mode);
      lent_workspace("", 1024);
      lent_workspace("frugal", 0);
    }
  } else {
    printf("1 skipped: no C compiler for tests/support/fake_cuda.c\n");
  }
  temp_free(&folder);
  return report();
}
