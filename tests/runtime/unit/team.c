/* Teams of threads: what a launch on a CPU asks of them, and what they cost when there is none. */
#include "runtime/support/team.h"

#include <sys/wait.h>

#include "runtime/support/cores.h"
#include "runtime/support/tool.h"
#include "tests/support/tally.h"

enum { PROGRAMS = 1000, LAUNCHES = 300 };
#define LARGE_NS 1e9 /* worth all threads */
#define TINY_NS 10.0

/* A launch whose programs note that they ran, and wait for the one before if they are to. */
typedef struct {
  uint64_t n;
  bool waits;
  uint32_t ran[PROGRAMS]; /* atomic */
  uint32_t threads;       /* atomic: bits of those that ran some */
} Job;

static void run_program(Job *j, uint64_t i) {
  while (j->waits && i && !__atomic_load_n(&j->ran[i - 1], __ATOMIC_ACQUIRE)) sched_yield();
  __atomic_add_fetch(&j->ran[i], 1, __ATOMIC_RELEASE);
}

/* Takes programs as generated code does: its own part first, then those after it. */
static void body(void *context, Part *parts, int self, int threads) {
  Job *j = context;
  __atomic_or_fetch(&j->threads, 1u << self % 32, __ATOMIC_RELAXED);
  for (int helped = 0; helped < threads; helped++) {
    const uint64_t part = (uint64_t)((self + helped) % threads);
    const uint64_t first = j->n * part / (uint64_t)threads;
    const uint64_t end = j->n * (part + 1) / (uint64_t)threads;
    uint64_t *begun = &parts[part].begun;
    for (uint64_t at; (at = first + __atomic_fetch_add(begun, 1, __ATOMIC_RELAXED)) < end;)
      run_program(j, at);
  }
}

static bool each_ran_once(const Job *j) {
  for (uint64_t i = 0; i < PROGRAMS; i++)
    if (j->ran[i] != (i < j->n)) return false;
  return true;
}

static bool launch(Team *team, uint64_t n, double ns, bool waits) {
  Job j = {.n = n, .waits = waits};
  team->run(team, n, ns, body, &j);
  return each_ran_once(&j);
}

/* Launches of any size, one after the other, with costs that wake all, some or no threads. */
static void test_running(int threads) {
  static const double costs[] = {LARGE_NS, TINY_NS, 9000, 60000};
  Team *team = team_new(threads);
  bool right = true, waiting = true;
  for (int i = 0; i < LAUNCHES; i++) {
    right &= launch(team, 1 + (uint64_t)(i * 37) % PROGRAMS, costs[i % 4], false);
    waiting &= launch(team, 1 + (uint64_t)(i * 7) % 50, costs[i % 4], true);
  }
  check(right, "each program runs once");
  check(waiting, "programs that wait for the ones before them end");
  team_free(team);
}

static void test_size(void) {
  Team *team = team_new(8);
  const Crew *c = (const Crew *)team;
  check(team_size(c, 100, TINY_NS, false) == 1, "a small launch runs alone");
  check(team_size(c, 100, 9000, false) == 1, "nobody is woken for a launch of some us");
  check(team_size(c, 100, LARGE_NS, true) == 8, "a large launch has all");
  check(team_size(c, 3, LARGE_NS, true) == 3, "no more threads than programs");
  check(team_size(c, 100, 60000, true) > 1, "a launch that repays waking others is shared");
  check(team_size(c, 100, __builtin_nan(""), true) == 8, "of unknown cost: all");
  check(c->started == 1, "no thread is made before it is wanted");
  team_free(team);
}

/* ---- between launches ---- */

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_sleep(void) {
  Team *team = team_new(4);
  for (int i = 0; i < 20; i++) launch(team, PROGRAMS, LARGE_NS, false);
  const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  check(seconds(CLOCK_PROCESS_CPUTIME_ID) - before < 0.02, "threads without a launch sleep");
  check(launch(team, PROGRAMS, LARGE_NS, true), "and wake for the next one");
  team_free(team);
}

static int32_t spin_after(Team *team, long pause_ns) {
  nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
  launch(team, PROGRAMS, LARGE_NS, false);
  return ((const Crew *)team)->spin_ns;
}

/* Another process may come between two launches, but not each time. */
static void test_looking_out(void) {
  Team *team = team_new(3);
  bool near = false;
  check(spin_after(team, 0) == TEAM_SPIN_NS, "the first launch is near no other");
  for (int i = 0; i < LAUNCHES && !near; i++) near = spin_after(team, 0) == TEAM_NEAR_NS;
  check(near, "members look out for longer where launches follow each other");
  check(spin_after(team, 10L * TEAM_NEAR_NS) == TEAM_SPIN_NS, "and not after a pause");
  team_free(team);
}

/* ---- other threads, other processes ---- */

static void *launch_often(void *team) {
  bool right = true;
  for (int i = 0; i < LAUNCHES; i++) right &= launch(team, 100, LARGE_NS, i % 2);
  return right ? team : NULL;
}

static void test_together(void) {
  pthread_t threads[3];
  void *right[3];
  Team *team = team_new(3);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, launch_often, team);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], &right[i]);
  check(right[0] && right[1] && right[2], "several threads launch at a time");
  team_free(team);
}

static void test_fork(void) {
  Team *team = team_new(3);
  int status = 1;
  launch(team, PROGRAMS, LARGE_NS, false);
  pid_t child = fork();
  if (!child) {
    bool right = launch(team, PROGRAMS, LARGE_NS, true) && ((Crew *)team)->started == 3;
    for (int i = 0; i < LAUNCHES; i++) right &= launch(team, PROGRAMS, LARGE_NS, false);
    team_free(team);
    _exit(!right);
  }
  waitpid(child, &status, 0);
  check(status == 0, "a forked process launches with members of its own");
  check(launch(team, PROGRAMS, LARGE_NS, false), "and the other one with its own");
  team_free(team);
}

/* ---- cores ---- */

static void put(const TempFolder *t, const char *name, const char *text) {
  char path[TOOL_PATH + 64];
  temp_name(path, sizeof path, t, name);
  FILE *f = fopen(path, "w");
  if (!f) abort();
  fputs(text, f);
  fclose(f);
}

static int quota(const TempFolder *t, const char *list) {
  char path[TOOL_PATH + 64];
  put(t, "list", list);
  temp_name(path, sizeof path, t, "list");
  return cores_quota(path, t->path);
}

static void test_quota(void) {
  TempFolder t;
  if (temp_new(&t)) abort();
  check(quota(&t, "0::/some/group\n") == 0, "no file: no limit");
  put(&t, "cpu.max", "max 100000\n");
  check(quota(&t, "0::/\n") == 0, "max: no limit");
  put(&t, "cpu.max", "250000 100000\n");
  check(quota(&t, "0::/\n") == 3, "two and a half cores are three");
  check(quota(&t, "0::/some/group\n") == 3, "of a group around it");
  check(quota(&t, "4:memory:/\n0::/\n") == 3, "among other controllers");
  check(quota(&t, "nothing\n") == 0 && quota(&t, "") == 0, "a list that is none");
  temp_free(&t);
}

static int threads_by(const char *own, const char *openmp) {
  setenv("NEREID_THREADS", own, 1);
  setenv("OMP_NUM_THREADS", openmp, 1);
  return cores_threads(7);
}

static void test_wanted(void) {
  check(threads_by("", "") == 7, "nothing is said");
  check(threads_by("3", "5") == 3, "NEREID_THREADS comes first");
  check(threads_by("", "5") == 5, "then OMP_NUM_THREADS");
  check(threads_by("", "4,2") == 4, "its first number");
  check(threads_by("", "many") == 7 && threads_by("", "-1") == 7, "if it is one");
  check(!threads_by("0", "") && !threads_by("2x", "") && !threads_by("9999", ""),
        "NEREID_THREADS that is none");
}

int main(void) {
  for (int threads = 1; threads <= 12; threads += threads > 3 ? 4 : 1) test_running(threads);
  test_size();
  test_sleep();
  test_looking_out();
  test_together();
  test_fork();
  test_quota();
  test_wanted();
  return report();
}
