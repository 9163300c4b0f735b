#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "runtime/files.h"

int output_write(const char *path, const char *data, size_t size) {
  if (!path || !strcmp(path, "-")) {
    if (fwrite(data, 1, size, stdout) == size && !fflush(stdout)) return STATUS_OK;
    args_error(E_RUN_FILE_WRITE, "standard output", strerror(errno));
    return STATUS_PROBLEM;
  }
  FileWriter w;
  int code = files_create(&w, path);
  if (code) return args_failed(code);
  if (size) fwrite(data, 1, size, w.file);
  code = files_commit(&w);
  return code ? args_failed(code) : STATUS_OK;
}
