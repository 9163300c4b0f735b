#include "runtime/support/tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/messages.h"
#include "runtime/support/host_machine.h"
#include "runtime/support/log.h"

extern char **environ;

/* ---- finding ---- */

static bool is_executable(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool tool_find(char out[TOOL_PATH], const char *name) {
  if (strchr(name, '/'))
    return snprintf(out, TOOL_PATH, "%s", name) < TOOL_PATH && is_executable(out);
  const char *path = getenv("PATH");
  for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
    size_t n = strcspn(p, ":");
    int len = snprintf(out, TOOL_PATH, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
    if (len < TOOL_PATH && is_executable(out)) return true;
    p += n + (p[n] == ':');
  }
  out[0] = 0;
  return false;
}

bool tool_find_cc(char out[TOOL_PATH], char options[TOOL_PATH]) {
  static const char *const names[] = {"cc", "gcc", "clang"};
  const char *own = getenv("CC");
  options[0] = 0;
  if (own && *own) {
    char name[TOOL_PATH];
    size_t n = strcspn(own, " ");
    snprintf(name, sizeof name, "%.*s", (int)n, own);
    snprintf(options, TOOL_PATH, "%s", own + n);
    return tool_find(out, name);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tool_find(out, names[i])) return true;
  return false;
}

bool tool_find_ptxas(char out[TOOL_PATH]) {
  const char *own = getenv("NEREID_PTXAS"), *home = getenv("CUDA_HOME");
  if (own) return *own && tool_find(out, own);
  if (tool_find(out, "ptxas")) return true;
  if (home) {
    snprintf(out, TOOL_PATH, "%s/bin/ptxas", home);
    if (is_executable(out)) return true;
  }
  return tool_find(out, "/usr/local/cuda/bin/ptxas");
}

int nereid_find_tool(char *out, size_t size, const char *tool) {
  REQUIRE(out);
  REQUIRE(tool);
  char path[TOOL_PATH], options[TOOL_PATH];
  bool found = !strcmp(tool, "ptxas") ? tool_find_ptxas(path)
               : !strcmp(tool, "cc")  ? tool_find_cc(path, options)
                                      : tool_find(path, tool);
  snprintf(out, size, "%s", found ? path : "");
  return 0;
}

/* ---- running ---- */

static bool is_stopped(const bool *stop) { return stop && __atomic_load_n(stop, __ATOMIC_RELAXED); }

/* There is something to read, or the other end is closed.  False: it was stopped before. */
static bool wait_for_output(int fd, const bool *stop) {
  enum { LOOK_AGAIN_MS = 20 };
  struct pollfd p = {.fd = fd, .events = POLLIN};
  while (!is_stopped(stop))
    if (poll(&p, 1, stop ? LOOK_AGAIN_MS : -1) > 0) return true;
  return false;
}

/* All that comes out of the pipe, unless it is stopped; what is too much is read and dropped. */
static void read_tool_output(int fd, char *output, size_t size, const bool *stop) {
  char buffer[4096];
  size_t n = 0;
  ssize_t got;
  while (wait_for_output(fd, stop) &&
         ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))) {
    if (got < 0) continue;
    size_t take = (size_t)got < size - 1 - n ? (size_t)got : size - 1 - n;
    memcpy(output + n, buffer, take);
    n += take;
  }
  while (n && output[n - 1] == '\n') n--;
  output[n] = 0;
}

static int spawn(pid_t *pid, const char *const *argv, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, out, 2);
  posix_spawnattr_init(&attributes);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char *const *words = (char *const *)(uintptr_t)argv;
  int rc = posix_spawn(pid, argv[0], &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return rc;
}

static int run_argv(const char *const *argv, char *output, size_t size, const bool *stop) {
  int pipes[2], status;
  pid_t pid;
  output[0] = 0;
  if (pipe2(pipes, O_CLOEXEC)) return -1;
  int rc = spawn(&pid, argv, pipes[1]);
  close(pipes[1]);
  if (rc == 0) read_tool_output(pipes[0], output, size, stop);
  if (rc == 0 && is_stopped(stop)) kill(pid, SIGKILL);
  close(pipes[0]);
  if (rc) {
    snprintf(output, size, "%s: %s", argv[0], strerror(rc));
    return -1;
  }
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The words of a command line. */
static void join_words(char *out, size_t size, const char *const *argv) {
  size_t n = 0;
  for (; *argv && n < size; argv++) {
    int more = snprintf(out + n, size - n, "%s%s", n ? " " : "", *argv);
    if (more < 0) return;
    n += (size_t)more;
  }
}

int tool_run_until(const char *const *argv, char *output, size_t size, const bool *stop) {
  Log log = log_read();
  if (!log_has(log, LOG_TOOL)) return run_argv(argv, output, size, stop);
  char words[3072];
  double begin = host_now();
  int status = run_argv(argv, output, size, stop);
  join_words(words, sizeof words, argv);
  log_print(LOG_TOOL, "%s: status %d, %.0f ms", words, status, (host_now() - begin) * 1e3);
  return status;
}

int tool_run(const char *const *argv, char *output, size_t size) {
  return tool_run_until(argv, output, size, NULL);
}

/* ---- the program nereid ---- */

extern char **environ;

static bool is_nereid_program(const char *path) {
  const char *slash = strrchr(path, '/');
  return !strcmp(slash ? slash + 1 : path, "nereid") && !access(path, X_OK);
}

static bool this_program(char out[TOOL_PATH]) {
  ssize_t n = readlink("/proc/self/exe", out, TOOL_PATH - 1);
  out[n < 0 ? 0 : n] = 0;
  return is_nereid_program(out);
}

/* Beside the file that holds this function, or in a folder near it. */
static bool beside_library(char out[TOOL_PATH]) {
  static const char *const places[] = {"nereid", "bin/nereid", "../bin/nereid"};
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)beside_library, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  int folder = slash ? (int)(slash - info.dli_fname) : 1;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    int n = snprintf(out, TOOL_PATH, "%.*s/%s", folder, slash ? info.dli_fname : ".", places[i]);
    if (n < TOOL_PATH && is_nereid_program(out)) return true;
  }
  return false;
}

bool program_find(char out[TOOL_PATH]) {
  const char *own = getenv("NEREID_PROGRAM");
  bool found = own && *own ? tool_find(out, own)
                           : this_program(out) || beside_library(out) || tool_find(out, "nereid");
  if (!found) out[0] = 0;
  return found;
}

int program_start(pid_t *pid, const char *program, int fd) {
  char *argv[] = {(char *)(uintptr_t) "nereid", (char *)(uintptr_t) "worker", NULL};
  posix_spawn_file_actions_t files;
  int failed = posix_spawn_file_actions_init(&files);
  if (failed) return error_set(NEREID_E_MEMORY, E_TUNE_WORKER_START, strerror(failed));
  posix_spawn_file_actions_adddup2(&files, fd, PROGRAM_SOCKET);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  failed = posix_spawn(pid, program, &files, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  return failed ? error_set(NEREID_E_TOOL, E_TUNE_WORKER_START, strerror(failed)) : 0;
}
