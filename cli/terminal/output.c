#include "cli/terminal/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal/args.h"
#include "runtime/messages.h"
#include "runtime/support/files.h"

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

void output_pass(void *ignored, const char *pass, const char *ir, double seconds) {
  (void)ignored;
  fprintf(stderr, "# after %s, %.3f ms%s\n%s", pass, seconds * 1e3, ir ? "" : " (unchanged)",
          ir ? ir : "");
}

typedef struct {
  Text out;
  void (*print)(Text *out, const void *what);
  const void *what;
} Printing;

static int output_print_body(void *arg) {
  Printing *p = arg;
  p->out = text_new(p->out.arena);
  p->print(&p->out, p->what);
  return 0;
}

static int print_to_text(Arena *a, Text *out, void (*print)(Text *, const void *),
                         const void *what) {
  Printing p = {{.arena = a}, print, what};
  int code = error_guard(a, output_print_body, &p);
  *out = p.out;
  return code ? args_failed(code) : STATUS_OK;
}

int output_print(const char *path, void (*print)(Text *out, const void *what), const void *what) {
  Text text;
  Arena *a = arena_new();
  if (!a) return args_out_of_memory();
  int status = print_to_text(a, &text, print, what);
  if (!status) status = output_write(path, text.data, text.len);
  arena_free(a);
  return status;
}
