#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "runtime/files.h"

/* A reader that has gone away, as `head` does, needs no message. */
int output_failed(int error) {
  if (error != EPIPE) args_error(E_RUN_FILE_WRITE, "standard output", strerror(error));
  return STATUS_PROBLEM;
}

int output_write(const char *path, const char *data, size_t size) {
  if (!path || !strcmp(path, "-")) {
    if (fwrite(data, 1, size, stdout) == size && !fflush(stdout)) return STATUS_OK;
    return output_failed(errno);
  }
  FileWriter w;
  int code = files_create(&w, path);
  if (code) return args_failed(code);
  if (size) fwrite(data, 1, size, w.file);
  code = files_commit(&w);
  return code ? args_failed(code) : STATUS_OK;
}
