#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lang/base/bug.h"
#include "tests/fuzz/common/fuzz.h"

enum { SECONDS_AN_INPUT = 60, SECONDS_WAITED = 600, MOST_FAILURES = 20, PATH_SIZE = 512 };

typedef struct {
  double seconds; /* 0: as many inputs as the target says */
  unsigned long runs;
  uint64_t seed;
  const char *out; /* folder for inputs that are kept; NULL: none is */
} Options;

/* What parent and child share. */
typedef struct {
  unsigned long runs, kept;
  size_t len; /* of the input that is running */
  uint8_t data[];
} Shared;

static char file_path[PATH_SIZE];

/* Sanitizers: what can't be had is NULL, as it may be anywhere. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:max_allocation_size_mb=512:detect_leaks=1:"
         "detect_stack_use_after_return=0:quarantine_size_mb=32";
}

/* What the driver of a GPU allocates when it starts is its own. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libcuda.so"; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void die(const char *what) {
  printf("%s: %s\n0 passed, 1 failed\n", what, strerror(errno));
  exit(1);
}

void fuzz_fail(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fputc('\n', stderr);
  abort();
}

const char *fuzz_file(void) { return file_path; }

void fuzz_write(const void *data, size_t size) {
  FILE *f = fopen(file_path, "wb");
  if (!f || fwrite(data, 1, size, f) != size || fclose(f)) die(file_path);
}

/* ---- the child ---- */

/* An input counts the time of the processor, so that a busy machine changes nothing; one that
 * waits for what never comes is ended too. */
static void limit_time(int seconds, int waited) {
  struct itimerval t = {.it_value = {.tv_sec = seconds}}, wait = {.it_value = {.tv_sec = waited}};
  setitimer(ITIMER_PROF, &t, NULL);
  setitimer(ITIMER_REAL, &wait, NULL);
}

/* An internal error is an answer of the library's to its user, and a finding here. */
static void run_target(const uint8_t *data, size_t len) {
  LLVMFuzzerTestOneInput(data, len);
  const BugReport *bug = bug_report();
  if (bug->file) fuzz_fail("internal error at %s:%d: %s", bug->file, bug->line, bug->text);
}

static void run_input(Shared *s, const uint8_t *data, size_t len) {
  memcpy(s->data, data, len);
  s->len = len;
  if (ftruncate(STDERR_FILENO, 0)) die("stderr");
  limit_time(SECONDS_AN_INPUT, SECONDS_WAITED);
  cover_start();
  run_target(s->data, len);
  limit_time(0, 0);
  s->runs++;
}

static void keep(const Options *o, Shared *s) {
  char path[PATH_SIZE];
  s->kept++;
  if (!o->out) return;
  snprintf(path, sizeof path, "%s/%s-%06lu-%ld", o->out, fuzz_target.name, s->kept, (long)getpid());
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(s->data, 1, s->len, f) != s->len || fclose(f)) die(path);
}

static void read_corpus(Corpus *c, const Options *o) {
  char pattern[PATH_SIZE];
  for (const char *const *p = fuzz_target.corpus; *p; p++) corpus_read(c, *p, fuzz_target.largest);
  snprintf(pattern, sizeof pattern, "%s/%s-[0-9]*", o->out ? o->out : "", fuzz_target.name);
  if (o->out) corpus_read(c, pattern, fuzz_target.largest);
  c->seeds = c->n;
}

/* New ones are likelier to lead on. */
static const Bytes *choose(const Corpus *c, Random *r) {
  size_t recent = c->n < 64 ? c->n : 64;
  if (random_below(r, 3) == 0) return &c->items[c->n - 1 - random_below(r, recent)];
  return &c->items[random_below(r, c->n)];
}

static _Noreturn void child(const Options *o, Shared *s, double end, unsigned long number) {
  Corpus c = {0};
  Random random = {o->seed + number};
  Bytes b = {malloc(fuzz_target.largest), 0};
  read_corpus(&c, o);
  if (!c.n || !b.data) _exit(3);
  for (size_t i = 0; i < c.seeds && number == 0; i++) {
    run_input(s, c.items[i].data, c.items[i].len);
    cover_is_new();
  }
  while (o->seconds > 0 ? now() < end : s->runs < o->runs) {
    const Bytes *from = choose(&c, &random);
    memcpy(b.data, from->data, b.len = from->len);
    mutate(&b, fuzz_target.largest, &c, fuzz_target.words, &random);
    run_input(s, b.data, b.len);
    if (!cover_is_new()) continue;
    keep(o, s);
    corpus_add(&c, b.data, b.len);
  }
  s->len = 0;
  for (size_t i = 0; i < c.n; i++) free(c.items[i].data);
  free(c.items);
  free(b.data);
  exit(0);
}

/* ---- the parent ---- */

static void print_end(int fd) {
  enum { SHOWN = 6000 };
  char text[SHOWN];
  ssize_t n = pread(fd, text, sizeof text, 0);
  if (n > 0) fwrite(text, 1, (size_t)n, stdout);
}

static void report(const Options *o, const Shared *s, int status, int err, int number) {
  char path[PATH_SIZE];
  const char *folder = o->out ? o->out : getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/fail-%s-%ld-%d", folder ? folder : "/tmp", fuzz_target.name,
           (long)getpid(), number);
  FILE *f = fopen(path, "wb");
  if (f) fwrite(s->data, 1, s->len, f);
  if (f) fclose(f);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
    printf("FAIL %s: over %d s of processor time\n", path, SECONDS_AN_INPUT);
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    printf("FAIL %s: waits for over %d s\n", path, SECONDS_WAITED);
  else if (WIFSIGNALED(status)) printf("FAIL %s: %s\n", path, strsignal(WTERMSIG(status)));
  else printf("FAIL %s: status %d\n", path, WEXITSTATUS(status));
  print_end(err);
  fflush(stdout);
}

/* What the child prints goes nowhere, except for its last words. */
static int start(const Options *o, Shared *s, double end, unsigned long number, int err) {
  int status;
  fflush(stdout);
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    child(o, s, end, number);
  }
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) die("waitpid");
  return status;
}

/* How many patterns of the corpus no file has. */
static int check_corpus(void) {
  int missing = 0;
  for (const char *const *p = fuzz_target.corpus; *p; p++) {
    Corpus c = {0};
    if (corpus_read(&c, *p, 0)) continue;
    printf("FAIL no file is %s\n", *p);
    missing++;
  }
  return missing;
}

static int campaign(const Options *o) {
  Shared *s = mmap(NULL, sizeof *s + fuzz_target.largest, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FILE *err = tmpfile();
  if (s == MAP_FAILED || !err || !cover_open()) die("start");
  fcntl(fileno(err), F_SETFL, O_APPEND);
  double begin = now(), end = begin + o->seconds;
  int failures = check_corpus();
  for (unsigned long number = 0; failures < MOST_FAILURES; number++) {
    int status = start(o, s, end, number, fileno(err));
    if (status == 0) break;
    report(o, s, status, fileno(err), failures++);
    if (o->seconds > 0 ? now() >= end : s->runs >= o->runs) break;
    s->runs++;
  }
  if (o->seconds > 0)
    printf("%s: %.0f s, %lu inputs, %lu kept, %zu edges\n", fuzz_target.name, now() - begin,
           s->runs, s->kept, cover_edges());
  printf("%lu passed, %d failed\n", s->runs, failures);
  return failures != 0;
}

static int run_files(char **files, int n) {
  for (int i = 0; i < n; i++) {
    Corpus c = {0};
    corpus_read(&c, files[i], fuzz_target.largest);
    if (!c.n) die(files[i]);
    run_target(c.items[0].data, c.items[0].len);
    printf("%s: done\n", files[i]);
    fflush(stdout);
    free(c.items[0].data);
    free(c.items);
  }
  return 0;
}

static void choose_file(void) {
  const char *folder = access("/dev/shm", W_OK) ? getenv("TMPDIR") : "/dev/shm";
  snprintf(file_path, sizeof file_path, "%s/nereid-fuzz-%ld", folder ? folder : "/tmp",
           (long)getpid());
}

int main(int argc, char **argv) {
  Options o = {.runs = fuzz_target.checked, .seed = 1};
  int i = 1;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (!strcmp(argv[i], "-seconds")) o.seconds = atof(argv[i + 1]);
    else if (!strcmp(argv[i], "-runs")) o.runs = strtoul(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "-seed")) o.seed = strtoull(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "-out")) o.out = argv[i + 1];
    else break;
  }
  if (o.out) mkdir(o.out, 0777);
  choose_file();
  int status = i < argc ? run_files(argv + i, argc - i) : campaign(&o);
  unlink(file_path);
  return status;
}
