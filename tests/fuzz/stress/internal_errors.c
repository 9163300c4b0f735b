/* Part of `make stress`: lets every assertion that a command executes fail, and allocations where a
 * failure may meet anything.  Commands run in this process, one after the other.  Each failure must
 * end its command with the status of internal errors and a report of the place; the same command
 * must then give what it gave before.  Leaks are the address sanitizer's matter. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/terminal/args.h"
#include "lang/base/bug.h"
#include "tests/fuzz/stress/failing.h"

enum { SITES_MOST = 256, WORDS_MOST = 32, ALLOCATIONS_TRIED = 60, TEXT_SIZE = 1 << 16 };
enum { SECONDS_A_COMMAND = 120, COMMANDS_MOST = 64, COMMAND_SIZE = 2048 };

/* ---- which assertion fails ---- */

typedef struct {
  const char *file;
  int line;
  long executed;
} Site;

static Site sites[SITES_MOST];
static int nsites;
/* The sites of all commands, whose processes share them. */
static struct {
  int n;
  char places[SITES_MOST][96];
} * reached;
static struct {
  const Site *site; /* NULL: none, and executions are counted */
  long number;      /* of its executions, from 1 */
  long executed;
} wanted;

static Site *site_of(const char *file, int line) {
  for (int i = 0; i < nsites; i++)
    if (sites[i].line == line && !strcmp(sites[i].file, file)) return &sites[i];
  if (nsites == SITES_MOST) abort();
  sites[nsites] = (Site){file, line, 0};
  return &sites[nsites++];
}

static bool demands(const char *file, int line) {
  if (!wanted.site) return site_of(file, line)->executed++, false;
  if (wanted.site->line != line || strcmp(wanted.site->file, file)) return false;
  return ++wanted.executed == wanted.number;
}

/* ---- a command, and what it says ---- */

typedef struct {
  int status;
  char out[TEXT_SIZE], err[TEXT_SIZE];
} Outcome;

static int to_file(int descriptor, FILE *f) {
  int before = dup(descriptor);
  fflush(NULL);
  dup2(fileno(f), descriptor);
  alarm(SECONDS_A_COMMAND); /* a lock that nobody lets go ends the process */
  return before;
}

static void take_back(int descriptor, int before, FILE *f, char *text) {
  fflush(NULL);
  dup2(before, descriptor);
  close(before);
  rewind(f);
  text[fread(text, 1, TEXT_SIZE - 1, f)] = 0;
  fclose(f);
}

static int dispatch(char **words, int n) {
  JumpPlace place;
  int status;
  const Command *command = commands_find(words[0]);
  if (!command) abort();
  bug_catch(&place);
  if (!setjmp(place.jump)) status = command->run(n - 1, words + 1);
  else status = args_failed(error_internal());
  bug_release(&place);
  return status;
}

static void run(const char *line, Outcome *o) {
  char *copy = strdup(line), *words[WORDS_MOST + 1], *rest = NULL;
  int n = 0;
  for (char *w = strtok_r(copy, " ", &rest); w && n < WORDS_MOST; w = strtok_r(NULL, " ", &rest))
    words[n++] = w;
  words[n] = NULL;
  FILE *out = tmpfile(), *err = tmpfile();
  int stdout_before = to_file(STDOUT_FILENO, out), stderr_before = to_file(STDERR_FILENO, err);
  o->status = dispatch(words, n);
  take_back(STDOUT_FILENO, stdout_before, out, o->out);
  take_back(STDERR_FILENO, stderr_before, err, o->err);
  free(copy);
}

/* ---- the checks ---- */

static int passed, failed;
static Outcome good, now;

static void check(bool ok, const char *line, const Site *s, long number, const char *what) {
  passed += ok;
  failed += !ok;
  if (!ok)
    printf("FAIL %s:%d, execution %ld, of `%s`: %s (status %d)\n%.600s\n", s->file, s->line, number,
           line, what, now.status, now.err);
  fflush(stdout);
}

static void try_one(const char *line, const Site *s, long number) {
  wanted.site = s;
  wanted.number = number;
  wanted.executed = 0;
  run(line, &now);
  char place[256];
  snprintf(place, sizeof place, "%s:%d:", s->file, s->line);
  bool reached = wanted.executed >= number;
  bool told =
      now.status == STATUS_INTERNAL && strstr(now.err, "internal error") && strstr(now.err, place);
  check(told || !reached, line, s, number, "the status or the report is another");
  wanted.number = 0;
  run(line, &now);
  check(now.status == STATUS_OK && !strcmp(now.out, good.out), line, s, number,
        "the command after it gives something else");
}

static void note_reached(const Site *s) {
  char place[sizeof reached->places[0]];
  int i = 0;
  snprintf(place, sizeof place, "%s:%d", s->file, s->line);
  while (i < reached->n && strcmp(reached->places[i], place)) i++;
  if (i < SITES_MOST) memcpy(reached->places[i], place, sizeof place);
  if (i == reached->n && i < SITES_MOST) reached->n++;
}

static bool is_allocation(const Site *s) { return strstr(s->file, "arena.c") != NULL; }

/* All of one command; the exit status of its process. */
static int try_command(const char *line) {
  nsites = 0;
  wanted.site = NULL;
  stress_demands = demands;
  run(line, &good);
  now = good;
  check(good.status == STATUS_OK, line, &(Site){"no assertion", 0, 0}, 0, "the command fails");
  static Site found[SITES_MOST];
  int n = nsites;
  memcpy(found, sites, sizeof found);
  for (int i = 0; i < n && !failed; i++) {
    long all = found[i].executed;
    note_reached(&found[i]);
    long step = is_allocation(&found[i]) ? all / ALLOCATIONS_TRIED + 1 : all > 1 ? all - 1 : 1;
    for (long number = 1; number <= all; number += step) try_one(line, &found[i], number);
  }
  printf("%s: %d assertions, %d checks\n", line, n, passed + failed);
  return failed > 0;
}

/* Reads the file's commands, without comments.  It is closed before processes share its offset. */
static int read_commands(const char *path, char lines[COMMANDS_MOST][COMMAND_SIZE]) {
  FILE *f = fopen(path, "r");
  int n = 0;
  while (f && n < COMMANDS_MOST && fgets(lines[n], COMMAND_SIZE, f)) {
    lines[n][strcspn(lines[n], "\n")] = 0;
    n += *lines[n] && *lines[n] != '#';
  }
  if (f) fclose(f);
  return n;
}

int main(int argc, char **argv) {
  static char lines[COMMANDS_MOST][COMMAND_SIZE];
  setenv("NEREID_CACHE_DIR", "", 1);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("NEREID_VERIFY", "1", 1);
  reached = mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (reached == MAP_FAILED) return perror("mmap"), 2;
  int n = read_commands(argc > 1 ? argv[1] : "tests/fuzz/stress/commands.txt", lines), bad = !n;
  for (int i = 0; i < n; i++) {
    fflush(NULL);
    pid_t child = fork();
    if (!child) exit(try_command(lines[i]));
    int status;
    waitpid(child, &status, 0);
    if (status) printf("FAIL `%s`: its process ends with %#x\n", lines[i], (unsigned)status);
    bad += status != 0;
  }
  const char *all = getenv("ASSERTIONS"); /* of the sources: each must be reached */
  bool missed = all && atoi(all) != reached->n;
  if (missed) printf("FAIL the sources have %s assertions: commands must reach each\n", all);
  bad += missed;
  printf("%d assertions were reached, and failed in turn\n", reached->n);
  for (int i = 0; getenv("NEREID_STRESS_LIST") && i < reached->n; i++)
    printf("  %s\n", reached->places[i]);
  printf("%d passed, %d failed\n", n + 1 > bad ? n + 1 - bad : 0, bad);
  return bad > 0;
}
