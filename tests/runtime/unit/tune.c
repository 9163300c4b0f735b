/* The tuner's parts: messages between its processes, when results are the same, and what a search
 * makes of candidates that are slow, wrong, alike or late. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/launch/argument_value.h"
#include "runtime/measure/wire.h"
#include "runtime/measure/worker.h"
#include "runtime/search/deterministic_failure.h"
#include "runtime/search/tuner.h"
#include "runtime/support/tool.h"
#include "tests/support/tally.h"

static void check_text(const char *got, const char *wanted, const char *what) {
  if (!got) got = "(none)";
  check(!strcmp(got, wanted), what);
  if (strcmp(got, wanted)) printf("  got    %s\n  wanted %s\n", got, wanted);
}

/* ---- the policy ---- */

enum { TIMED = 4 };

/* The runs of a round, and whether there is one. */
static void check_timings(int round, const nereid_tune_timing t[TIMED], const int wanted[TIMED],
                          int goes_on) {
  int runs[TIMED];
  double limit = 0;
  check(nereid_tune_round(runs, &limit, t, TIMED, round) == goes_on, "a round, or the end");
  check(!goes_on || !memcmp(runs, wanted, sizeof runs), "the runs of a round");
}

/* Of times without doubt. */
static void check_round(int round, const double us[TIMED], const int wanted[TIMED], int goes_on) {
  nereid_tune_timing t[TIMED] = {{0}};
  for (int i = 0; i < TIMED; i++) t[i] = (nereid_tune_timing){.median_us = us[i], .runs = 10};
  check_timings(round, t, wanted, goes_on);
}

static void test_rounds(void) {
  const double none[TIMED] = {0, 0, -1, 0}, near[TIMED] = {100, 105, -1, 125};
  const double clear[TIMED] = {100, 120, 300, 1000}, slow[TIMED] = {1e5, 1.01e5, 9e6, -1};
  check_round(0, none, (int[TIMED]){3, 3, 0, 3}, 1);
  check_round(0, near, (int[TIMED]){0}, 0);
  check_round(1, near, (int[TIMED]){7, 7, 0, 7}, 1);
  check_round(2, near, (int[TIMED]){15, 15, 0, 0}, 1);
  check_round(3, near, (int[TIMED]){0}, 0);
  check_round(1, clear, (int[TIMED]){7, 7, 0, 0}, 1);
  check_round(2, clear, (int[TIMED]){0}, 0);
  check_round(4, slow, (int[TIMED]){3, 3, 0, 0}, 1);
  check_round(5, near, (int[TIMED]){0}, 0);
  check_round(-1, near, (int[TIMED]){0}, 0);
  double limit = 0;
  int runs[TIMED];
  const nereid_tune_timing one = {.median_us = 100, .runs = 10};
  nereid_tune_round(runs, &limit, &one, 1, 1);
  check(limit == 300, "a run of three times the best is the last one");
}

/* What the cost model expects, times that are known, and times that are doubtful. */
static void test_policy(void) {
  const nereid_tune_timing wide = {.median_us = 100, .spread_us = 80, .runs = 10};
  const nereid_tune_timing sure = {.median_us = 120, .spread_us = 1, .runs = 10};
  const nereid_tune_timing open = {.median_us = 0};
  nereid_tune_timing known = sure, doubtful = wide, fast = {.low_us = 170}, slow = {.low_us = 190};
  known.known = doubtful.known = 1;
  check_timings(0, (nereid_tune_timing[TIMED]){sure, fast, slow, open}, (int[TIMED]){0, 3, 0, 3},
                1);
  check_timings(0, (nereid_tune_timing[TIMED]){known, slow, slow, slow}, (int[TIMED]){0}, 0);
  check_timings(0, (nereid_tune_timing[TIMED]){doubtful, known}, (int[TIMED]){3, 0, 3, 3}, 1);
  nereid_tune_timing late = doubtful;
  late.median_us = 130;
  check_timings(0, (nereid_tune_timing[TIMED]){late, known, slow, slow}, (int[TIMED]){0}, 0);
  check_timings(1, (nereid_tune_timing[TIMED]){known, sure}, (int[TIMED]){0, 7, 0, 0}, 1);
  const nereid_tune_timing out = {.median_us = -1};
  check_timings(2, (nereid_tune_timing[TIMED]){wide, out, out, out}, (int[TIMED]){10}, 1);
  check_timings(16, (nereid_tune_timing[TIMED]){wide, sure, out, out}, (int[TIMED]){10}, 1);
  check_timings(17, (nereid_tune_timing[TIMED]){wide, sure, out, out}, (int[TIMED]){0}, 0);
  check_timings(5, (nereid_tune_timing[TIMED]){doubtful, sure, out, out}, (int[TIMED]){0}, 0);
  double limit = 0;
  int runs;
  nereid_tune_round(&runs, &limit, &wide, 1, 5);
  check(limit > 1e9, "a slow run of the best tells as much as a fast one");
}

/* ---- messages ---- */

static void test_fields(void) {
  Message m = {0};
  size_t size;
  message_start(&m, 7);
  message_put_int(&m, -5);
  message_put_double(&m, 0.25);
  message_put_text(&m, "");
  message_put_text(&m, "text");
  message_put_bytes(&m, "a\0b", 3);
  check(message_int(&m) == -5 && message_double(&m) == 0.25, "numbers of a message");
  check(!*message_text(&m) && !strcmp(message_text(&m), "text"), "texts of a message");
  const void *bytes = message_bytes(&m, &size);
  check(bytes && size == 3 && !memcmp(bytes, "a\0b", 3), "bytes of a message");
  check(!m.failed && m.at == m.size, "the whole message was read");
  check(!message_int(&m) && m.failed, "a number past the end");
  check(!message_double(&m) && !*message_text(&m), "what follows a failure is nothing");
  message_start(&m, 8);
  check(!m.failed && !m.size, "a message is used again");
  message_free(&m);
}

/* A text of that length, and these bytes. */
static bool reads_text(int64_t length, const char *bytes, size_t size) {
  Message m = {0};
  message_start(&m, 1);
  message_put_int(&m, length);
  for (size_t i = 0; i + 8 <= size; i += 8) {
    int64_t word;
    memcpy(&word, bytes + i, 8);
    message_put_int(&m, word);
  }
  message_text(&m);
  bool good = !m.failed;
  message_free(&m);
  return good;
}

static void test_lengths(void) {
  static const char bytes[16] = "abcdefg\0ijklmno";
  check(reads_text(8, bytes, 8), "a text");
  check(!reads_text(7, bytes, 8), "a text without its end");
  check(!reads_text(0, bytes, 8), "a text of no bytes");
  check(!reads_text(9, bytes, 8), "a text that is longer than the message");
  check(!reads_text(-1, bytes, 16) && !reads_text(INT64_MIN, bytes, 16), "a length below 0");
  check(!reads_text(INT64_MAX, bytes, 16), "a length past all memory");
}

static void test_wire(void) {
  int pair[2];
  Message out = {0}, in = {0};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
  message_start(&out, 3);
  message_put_text(&out, "over the wire");
  check(wire_send(pair[0], &out) && wire_receive(pair[1], &in, 5) == WIRE_OK, "a message arrives");
  check(in.kind == 3 && !strcmp(message_text(&in), "over the wire"), "as it was sent");
  check(wire_receive(pair[1], &in, 0.01) == WIRE_TIMEOUT, "nothing was sent");
  uint32_t head[] = {3, 100};
  check(write(pair[0], head, sizeof head) == sizeof head, "a head without fields");
  check(wire_receive(pair[1], &in, 0.01) == WIRE_TIMEOUT, "the rest does not come in time");
  uint32_t large[] = {3, UINT32_MAX};
  check(write(pair[0], large, sizeof large) == sizeof large, "a head of an impossible size");
  check(wire_receive(pair[1], &in, 5) == WIRE_CLOSED, "such a message is the last one");
  check(write(pair[0], head, sizeof *head) == sizeof *head, "half a head");
  close(pair[0]);
  check(wire_receive(pair[1], &in, 5) == WIRE_CLOSED, "a message that was cut off");
  check(!wire_send(pair[1], &out), "nobody listens");
  close(pair[1]);
  message_free(&in);
  message_free(&out);
}

/* ---- the process that measures, as a thread ---- */

static void *serve(void *fd) {
  worker_serve(*(int *)fd);
  close(*(int *)fd);
  return NULL;
}

/* Opens a device, if it shall. */
static bool open_worker(int fd) {
  Message m = {0};
  message_start(&m, WORKER_OPEN);
  message_put_text(&m, nereid_build_id());
  message_put_text(&m, "cpu");
  message_put_int(&m, 0);
  bool good = wire_send(fd, &m) && wire_receive(fd, &m, 60) == WIRE_OK && !message_int(&m);
  message_free(&m);
  return good;
}

/* What it answers to the message, as the first one or with a device: a code, and
 * nereid_error_message()'s text. */
static int64_t ask(const Message *m, bool opened, char *text, size_t size) {
  int pair[2];
  pthread_t thread;
  Message in = {0};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
  if (pthread_create(&thread, NULL, serve, &pair[1])) abort();
  check(!opened || open_worker(pair[0]), "a device is opened");
  bool answered = wire_send(pair[0], m) && wire_receive(pair[0], &in, 60) == WIRE_OK;
  check(answered && in.kind == WORKER_ANSWER, "an answer to each message");
  int64_t code = message_int(&in);
  snprintf(text, size, "%s", message_text(&in));
  close(pair[0]);
  pthread_join(thread, NULL);
  message_free(&in);
  return code;
}

static void test_worker(void) {
  char text[512], wanted[512];
  Message m = {0};
  message_start(&m, WORKER_OPEN);
  message_put_text(&m, "another build");
  check(ask(&m, false, text, sizeof text) == NEREID_E_USAGE, "a program of another version");
  snprintf(wanted, sizeof wanted,
           "the worker that measures kernels has another version than %s: "
           "set NEREID_PROGRAM to a program of this version",
           nereid_build_id());
  check_text(text, wanted, "why it does not measure");
  for (uint32_t kind = 0; kind < 8; kind++) {
    message_start(&m, kind);
    check(ask(&m, false, text, sizeof text) != 0, "a message before the device is open");
    message_put_int(&m, INT64_MAX);
    check(ask(&m, false, text, sizeof text) != 0, "with a number, too");
  }
  for (uint32_t kind = WORKER_OPEN; kind <= WORKER_DROP; kind++) {
    message_start(&m, kind);
    check(ask(&m, true, text, sizeof text) != 0, "a message without its fields");
    message_put_int(&m, INT64_MAX);
    check(ask(&m, true, text, sizeof text) != 0, "an id that no trial has, and too many arguments");
  }
  message_free(&m);
}

/* ---- results ---- */

static bool same(const char *dtype, double x, double y) {
  unsigned char a[64 * 8], b[64 * 8];
  DType t = dtype_parse(dtype, strlen(dtype));
  for (int i = 0; i < 64; i++) {
    float fx = i == 63 ? (float)x : 1, fy = i == 63 ? (float)y : 1;
    double dx = i == 63 ? x : 1, dy = i == 63 ? y : 1;
    if (t == DT_F64) memcpy(a + 8 * i, &dx, 8), memcpy(b + 8 * i, &dy, 8);
    else memcpy(a + 4 * i, &fx, 4), memcpy(b + 4 * i, &fy, 4);
  }
  return results_same(t, a, b, 64);
}

static void test_results(void) {
  check(same("f32", 1, 1) && same("f32", 1.0015, 1), "f32 that was rounded otherwise");
  check(!same("f32", 1.01, 1) && !same("f32", -1, 1), "f32 that differs");
  check(same("f32", 1e-5, 0), "nearly nothing, beside the rest");
  check(same("f64", 1 + 1e-10, 1) && !same("f64", 1 + 1e-7, 1), "f64 is nearer");
  check(same("f32", NAN, NAN) && !same("f32", NAN, 1) && !same("f32", 1, NAN), "no number");
  check(same("f32", INFINITY, INFINITY) && !same("f32", INFINITY, -INFINITY), "infinite");
  check(!same("f32", INFINITY, 1) && !same("f32", 1, INFINITY), "infinite and finite");
  check(!same("f32", INFINITY, NAN) && !same("f32", NAN, INFINITY), "infinite and no number");
  const uint16_t one = 0x3c00, near = 0x3c04, far = 0x3c20; /* in f16 */
  check(results_same(DT_F16, &one, &near, 1) && !results_same(DT_F16, &one, &far, 1), "f16");
  const uint16_t bone = 0x3f80, bnear = 0x3f83, bfar = 0x3f90;
  check(results_same(DT_BF16, &bone, &bnear, 1) && !results_same(DT_BF16, &bone, &bfar, 1), "bf16");
  const int32_t i = 1000000, j = 1000001;
  check(results_same(DT_I32, &i, &i, 1) && !results_same(DT_I32, &i, &j, 1), "integers");
  check(results_same(DT_F32, NULL, NULL, 0), "nothing at all");
}

/* ---- searching, with candidates made by hand ---- */

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def scale(x, y, n, BLOCK: tl.constexpr, MODE: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    v = tl.load(x + i, i < n)\n"
    "    if MODE == 1:\n"
    "        while tl.load(x, volatile=True) < 2:\n"
    "            tl.debug_barrier()\n"
    "    if MODE == 2:\n"
    "        v += 1\n"
    "    tl.store(y + i, 2 * v, i < n)\n";

enum { MOST = 8, ARGS = 5 };

typedef struct {
  Arena *arena;
  Candidate candidates[MOST];
  size_t n, measured;
  const size_t *order; /* in which they are tried; NULL: as they are added */
} Case;

static const MeasuredArg measured_args[] = {{"x", "rand:f32[4096]", "", WORKER_KEEP, 0},
                                            {"y", "zeros:f32[4096]", "", WORKER_KEEP, 0},
                                            {"n", "4096", "i32", WORKER_KEEP, 0}};

static Candidate *add(Case *c, const char *block, const char *mode) {
  nereid_arg *args = ARENA_ARRAY(c->arena, nereid_arg, ARGS);
  args[0] = (nereid_arg){.name = "x", .type = "*f32"};
  args[1] = (nereid_arg){.name = "y", .type = "*f32"};
  args[2] = (nereid_arg){.name = "n", .type = "i32"};
  args[3] = (nereid_arg){.name = "BLOCK", .value = block};
  args[4] = (nereid_arg){.name = "MODE", .value = mode};
  Candidate *made = &c->candidates[c->n++];
  *made = (Candidate){.grid = {(uint32_t)(4096 / atoi(block)), 1, 1}};
  made->request.source =
      (nereid_source){.path = "scale.py", .text = source, .size = strlen(source)};
  made->request.args = args;
  made->request.nargs = ARGS;
  made->config = arena_printf(c->arena, "BLOCK=%s MODE=%s", block, mode);
  return made;
}

static void count(void *context, const nereid_tune_progress *p) {
  Case *c = context;
  check(p->done <= p->candidates && p->kernels_done < p->kernels, "no more is done than there is");
  check(!p->best || p->best->median_us > 0, "the best has run");
  c->measured = (size_t)p->measured;
}

static SearchProblem problem_of(Case *c, const MeasuredArg *args) {
  return (SearchProblem){
      .args = args, .nargs = 3, .candidates = c->candidates, .n = c->n, .order = c->order};
}

static int run_all(Case *c, SearchProblem *problems, size_t n, double seconds) {
  nereid_device *d;
  if (device_describe(&d, "cpu")) abort();
  Search s = {.arena = c->arena,
              .device = d,
              .problems = problems,
              .nproblems = n,
              .end = seconds > 0 ? host_now() + seconds : 0,
              .begin = host_now(),
              .on_progress = count,
              .on_progress_context = c};
  int code = search_run(&s);
  nereid_device_close(d);
  return code;
}

static int run(Case *c, double seconds) {
  SearchProblem p = problem_of(c, measured_args);
  return run_all(c, &p, 1, seconds);
}

static bool ran(const Candidate *c) { return c->status == NEREID_TUNE_OK && c->median_us > 0; }

static void test_slow(Arena *a) {
  Case c = {.arena = a};
  Candidate *first = add(&c, "256", "0"), *slow = add(&c, "512", "0");
  first->known = true;
  first->median_us = 1000;
  slow->predicted.low_us = 1e6;
  check(!run(&c, 0) && ran(first), "a search with a known best");
  check(slow->status == NEREID_TUNE_PRUNED && !slow->runs, "one that cannot win is not measured");
  check_text(slow->reason, "pruned by the cost model", "why it was not measured");
  check(!first->code.bytes[0] && !memcmp(&first->code, &slow->code, sizeof slow->code),
        "nothing is compiled for it");
}

/* A model that puts all too high does not drop what it puts as high as the best. */
static void test_high(Arena *a) {
  Case c = {.arena = a};
  for (int i = 0; i < 3; i++) {
    Candidate *one = add(&c, i == 0 ? "128" : i == 1 ? "256" : "512", "0");
    one->predicted = (Estimate){.us = 2e9, .low_us = 1e9, .high_us = 3e9};
  }
  check(!run(&c, 0), "a model that is far off");
  check(ran(&c.candidates[0]) && ran(&c.candidates[1]) && ran(&c.candidates[2]), "drops nothing");
}

static void test_late(Arena *a) {
  Case c = {.arena = a};
  Candidate *first = add(&c, "256", "0"), *late = add(&c, "512", "0");
  check(!run(&c, 1e-6) && ran(first), "there is time for one");
  check(late->status == NEREID_TUNE_PRUNED && !late->runs, "and for no more");
  check_text(late->reason, "the budget is used up", "why it was not measured");
  Case known = {.arena = a};
  first = add(&known, "256", "0"), late = add(&known, "512", "0");
  first->known = true;
  first->median_us = 1000;
  check(!run(&known, 1e-6) && ran(first) && first->median_us == 1000, "what is known stays known");
  check(late->status == NEREID_TUNE_PRUNED, "nothing else is measured");
}

static void test_alike(Arena *a) {
  Case c = {.arena = a};
  Candidate *one = add(&c, "256", "0"), *two = add(&c, "256", "0"), *other = add(&c, "64", "0");
  check(!run(&c, 0) && ran(one) && ran(two) && ran(other), "candidates of the same code");
  check(c.measured == 2, "are measured once");
  check(one->median_us == two->median_us && one->runs == two->runs, "and have the same time");
}

static void check_wrong(const Candidate *c, const char *what) {
  check(c->status == NEREID_TUNE_WRONG, what);
  check_text(c->reason, "its results differ from those of most others", what);
}

static void test_answers(Arena *a) {
  Case most = {.arena = a};
  Candidate *bad = add(&most, "256", "2"), *good = add(&most, "256", "0");
  add(&most, "512", "0");
  check(!run(&most, 0) && ran(good) && ran(&most.candidates[2]), "what most compute is right");
  check_wrong(bad, "the first one is wrong");
  Case tie = {.arena = a};
  good = add(&tie, "256", "0"), bad = add(&tie, "512", "2");
  check(!run(&tie, 0) && ran(good), "of two, the first is right");
  check_wrong(bad, "the second one is wrong");
  static const size_t order[] = {2, 1, 0};
  Case twice = {.arena = a, .order = order};
  good = add(&twice, "256", "0"), bad = add(&twice, "512", "2"), add(&twice, "256", "0");
  check(!run(&twice, 0) && ran(good), "so it is where its code is measured as that of a later one");
  check_wrong(bad, "and counts once");
}

/* What earlier runs found to be right outvotes all others, and keeps its time. */
static void test_witness(Arena *a) {
  Case c = {.arena = a};
  Candidate *known = add(&c, "256", "0"), *failed_before = add(&c, "64", "1");
  known->known = known->recorded = failed_before->known = failed_before->recorded = true;
  known->median_us = 1e6;
  known->runs = 9;
  failed_before->status = NEREID_TUNE_TIMEOUT;
  add(&c, "512", "2");
  add(&c, "128", "2");
  check(!run(&c, 0) && known->median_us == 1e6 && known->runs == 9, "a recorded time stays");
  check(failed_before->status == NEREID_TUNE_TIMEOUT, "so does a recorded failure");
  check_wrong(&c.candidates[2], "a new one is wrong");
  check_wrong(&c.candidates[3], "though most of the new ones agree");
  Case all = {.arena = a};
  add(&all, "256", "1")->known = true;
  check(!run(&all, 0) && !all.measured, "nothing is left to measure");
}

/* Each has its arguments: what is right of one says nothing of another. */
static void test_problems(Arena *a) {
  static const MeasuredArg others[] = {{"x", "randn:f32[4096]:3", "", WORKER_KEEP, 0},
                                       {"y", "zeros:f32[4096]", "", WORKER_KEEP, 0},
                                       {"n", "4096", "i32", WORKER_KEEP, 0}},
                           large[] = {{"x", "zeros:f32[70368744177664]", "", WORKER_KEEP, 0},
                                      {"y", "zeros:f32[4096]", "", WORKER_KEEP, 0},
                                      {"n", "4096", "i32", WORKER_KEEP, 0}};
  Case all = {.arena = a, .n = 7}, one = {.arena = a}, none = {.arena = a}, two = {.arena = a};
  add(&one, "256", "0"), add(&one, "512", "2"), add(&one, "128", "0");
  add(&none, "256", "0");
  add(&two, "256", "2"), add(&two, "512", "0"), add(&two, "128", "2");
  SearchProblem list[] = {problem_of(&one, measured_args), problem_of(&none, large),
                          problem_of(&two, others)};
  check(!run_all(&all, list, 3, 0), "a search of three problems");
  check(ran(&one.candidates[0]) && ran(&one.candidates[2]), "right ones of the first");
  check_wrong(&one.candidates[1], "a wrong one of the first");
  check(list[1].failure && !list[0].failure && !list[2].failure, "no memory for the second");
  check(none.candidates[0].status == NEREID_TUNE_PRUNED, "which is not measured");
  check(ran(&two.candidates[0]) && ran(&two.candidates[2]), "what is right of the third");
  check_wrong(&two.candidates[1], "a wrong one of the third");
}

/* The hang is in a thread, which continues: this is the last test. */
static void test_hang(Arena *a) {
  Case c = {.arena = a};
  add(&c, "4096", "0");
  add(&c, "2048", "1");
  check(run(&c, 0) == NEREID_E_LOST, "a kernel that hangs in this process");
  check_text(nereid_error_message(),
             "a kernel hangs in this process, which can't continue: "
             "terminate it",
             "what to do about it");
}

/* ---- arrays that repeat ---- */

static bool same_element(const nereid_value *a, int64_t i, const nereid_value *b, int64_t j) {
  return nereid_value_element(a, i) == nereid_value_element(b, j);
}

static void test_repeat(void) {
  nereid_value *whole, *parts, *zeros;
  if (nereid_value_parse(&whole, "randn:f16[10,10]:7")) abort();
  if (value_repeat(&parts, "randn:f16[10,10]:7", 7) || value_repeat(&zeros, "zeros:f32[9]", 2))
    abort();
  bool begins = true, repeats = true;
  for (int64_t i = 0; i < 100; i++) {
    begins &= same_element(parts, i % 7, whole, i % 7);
    repeats &= same_element(parts, i, parts, i % 7);
  }
  check(begins && repeats, "drawn elements repeat");
  check(!same_element(whole, 0, whole, 7) && !same_element(parts, 0, parts, 1), "and only these");
  check(nereid_value_element(zeros, 8) == 0, "nothing is drawn of zeros");
  nereid_value_free(parts);
  if (value_repeat(&parts, "randn:f16[10,10]:7", 0)) abort();
  check(same_element(parts, 99, whole, 99), "without a period nothing repeats");
  nereid_value_free(whole);
  nereid_value_free(parts);
  nereid_value_free(zeros);
}

/* ---- what compiling has told ---- */

/* Compiles what is not kept, if it may be; how many candidates were known before? */
static size_t look_up(Case *c, bool whole) {
  nereid_device *d;
  if (device_describe(&d, "cpu")) abort();
  SearchProblem p = problem_of(c, measured_args);
  Search s = {.arena = c->arena, .device = d, .problems = &p, .nproblems = 1};
  Memo memo;
  DevicePeaks peaks;
  size_t known = 0;
  p.whole = whole;
  p.kernel = p.signature = p.sizes = "";
  tuner_look_up(&s, &memo);
  for (size_t i = 0; i < c->n; i++) known += c->candidates[i].predicted.us > 0;
  tuner_predict(&s, &peaks, true);
  tuner_keep(&s, &memo);
  nereid_device_close(d);
  return known;
}

static void test_memo(Arena *a) {
  TempFolder folder;
  if (temp_new(&folder)) abort();
  setenv("NEREID_CACHE_DIR", folder.path, 1);
  Case first = {.arena = a}, again = {.arena = a}, other = {.arena = a}, fewer = {.arena = a};
  Case files = {.arena = a}, more = {.arena = a};
  add(&first, "256", "0"), add(&first, "512", "0");
  check(look_up(&first, true) == 0 && first.candidates[1].predicted.us > 0, "nothing is kept");
  add(&again, "256", "0"), add(&again, "512", "0");
  check(look_up(&again, true) == 2, "what the model said is kept");
  check(again.candidates[1].predicted.us == first.candidates[1].predicted.us, "as it was said");
  add(&other, "256", "0"), add(&other, "512", "2");
  check(look_up(&other, true) == 0, "of these values of constexprs");
  add(&fewer, "256", "0"), add(&fewer, "512", "0");
  fewer.candidates[0].grid[0]++;
  check(look_up(&fewer, true) == 0, "of these grids");
  add(&more, "256", "0"), add(&more, "512", "0");
  more.candidates[1].request.num_warps = 8;
  check(look_up(&more, true) == 0, "of these options");
  add(&files, "256", "0"), add(&files, "512", "0");
  check(look_up(&files, false) == 0, "sources that import files may have changed");
  Case none = {.arena = a};
  setenv("NEREID_CACHE_DIR", "", 1);
  add(&none, "256", "0"), add(&none, "512", "0");
  check(look_up(&none, true) == 0, "and without a cache nothing is kept");
  temp_free(&folder);
}

/* ---- reasons ---- */

static void check_line(const char *message, const char *wanted) {
  char *line = failure_first_line(message);
  check_text(line, wanted, "a reason in one line");
  free(line);
}

static void test_lines(void) {
  check_line("", "");
  check_line("x.py:1:1: error: no\n    x\n    ^\n", "x.py:1:1: error: no");
  check_line("cc could not compile k:\nk.c: In function 'k':\nk.c:1: error: no\n  1 | x\n",
             "cc could not compile k: k.c:1: error: no");
  check_line("cc could not compile k:\nterminated\n", "cc could not compile k: terminated");
  check_line("cc could not compile k:", "cc could not compile k:");
  check_line("cc could not compile k:\n", "cc could not compile k:");
  check_line("x.py:1:1: error: no\n    x\n    ^\nx.py:2:1: note: here\n    y\n    ^\n   hint: do\n",
             "x.py:1:1: error: no; do");
  check_line("x.py:1:1: error: no\nx.py:2:1: error: nor this\n   hint: do\n",
             "x.py:1:1: error: no");
}

/* ---- the API ---- */

static void test_model_only(void) {
  const char *blocks[] = {"128", "256", "128"}, *modes[] = {"0"}; /* one of them twice */
  nereid_tune_axis axes[] = {{"BLOCK", blocks, 3}, {"MODE", modes, 1}};
  nereid_setting args[] = {{"x", "rand:f32[4096]"}, {"y", "zeros:f32[4096]"}, {"n", "4096"}};
  nereid_tune_request r = {.args = args, .nargs = 3, .grid = "cdiv(n, BLOCK)", .device = "cpu"};
  r.kernel.source = (nereid_source){.path = "scale.py", .text = source, .size = strlen(source)};
  r.axes = axes;
  r.naxes = 2;
  r.model_only = 1;
  nereid_tuning *t;
  if (nereid_tune(&t, &r)) {
    check(false, nereid_error_message());
    return;
  }
  const nereid_candidate *best = nereid_tuning_candidate(t, 0);
  check_text(nereid_tuning_source(t), "model", "where a choice without measuring comes from");
  check(nereid_tuning_count(t) == 2 && best->predicted_us > 0 && !best->runs, "it is predicted");
  check_text(best->reason, "not measured", "and not measured");
  check(!nereid_tuning_candidate(t, -1) && !nereid_tuning_candidate(t, 2), "no such candidate");
  nereid_tuning_free(t);
}

int main(void) {
  Arena *a = arena_new();
  if (!a) abort();
  /* All is measured in a thread of this process. */
  setenv("NEREID_PROGRAM", "/dev/null/no-program", 1);
  test_rounds();
  test_policy();
  test_fields();
  test_lengths();
  test_wire();
  test_worker();
  test_results();
  test_slow(a);
  test_high(a);
  test_late(a);
  test_alike(a);
  test_answers(a);
  test_witness(a);
  test_problems(a);
  test_repeat();
  test_memo(a);
  test_lines();
  test_model_only();
  test_hang(a);
  int status = report();
  fflush(stdout);
  _exit(status); /* beside the thread that hangs */
}
