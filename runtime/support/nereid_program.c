#include "runtime/support/nereid_program.h"
#include "runtime/messages.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
  static const char *const places[] = {"nereid", "../bin/nereid"};
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
