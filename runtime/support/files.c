#include "runtime/support/files.h"
#include "lang/messages.h"
#include "runtime/messages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void files_abandon(FileWriter *w);

/* Other than regular files may have no end. */
enum { STREAM_MIB = 64 };

typedef struct {
  Arena *arena;
  FILE *file;
  const char *path, *what;
  int mib;
  size_t size; /* that it is said to have */
  const char **text;
  size_t *len;
} Reading;

static int too_large(const Reading *r) {
  return error_set(NEREID_E_FILE, E_RUN_FILE_LARGE, r->path, r->what, r->mib);
}

static int read_file_body(void *arg) {
  const Reading *r = arg;
  if (r->size >> 20 >= (size_t)r->mib) return too_large(r);
  size_t cap = r->size + 2, n = 0, got;
  char *data = arena_alloc(r->arena, cap);
  /* A terminal may be read on after its end. */
  while (!feof(r->file) && (got = fread(data + n, 1, cap - n - 1, r->file)) > 0) {
    n += got;
    if (n >> 20 >= (size_t)r->mib) return too_large(r);
    if (n + 1 == cap) {
      data = arena_grow(r->arena, data, n, cap * 2);
      cap *= 2;
    }
  }
  if (ferror(r->file)) return error_set(NEREID_E_FILE, E_LANG_FILE_READ, r->path, strerror(errno));
  data[n] = 0;
  *r->text = data;
  *r->len = n;
  return 0;
}

static const char SOURCE[] = "a kernel file";

/* Files of kernels and models, by their names' ends. */
static bool is_of_interest(const char *name) {
  static const char *const ends[] = {".py", ".pt2", ".onnx", ".tile", ".nest", ".thread"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends && *name != '.'; i++) {
    size_t m = strlen(ends[i]);
    if (n > m && !strcmp(name + n - m, ends[i])) return true;
  }
  return false;
}

/* Refuses a folder; the message for kernels and models names the first file in it that the user may
 * have meant. */
static int refuse_folder(const char *path, bool source) {
  struct dirent **names = NULL;
  char found[300] = "";
  int n = source ? scandir(path, &names, NULL, alphasort) : 0;
  if (!source) return error_set(NEREID_E_FILE, E_RUN_FILE_FOLDER, path, "");
  for (int i = 0; i < n; i++) {
    if (!*found && is_of_interest(names[i]->d_name))
      snprintf(found, sizeof found, H_RUN_FILE_FOLDER, names[i]->d_name);
    free(names[i]);
  }
  free(names);
  return error_set(NEREID_E_FILE, E_RUN_FILE_FOLDER, path, *found ? found : H_RUN_FILE_KINDS);
}

int files_read(Arena *a, const char *path, const char **text, size_t *len) {
  return files_read_most(a, path, SOURCE, 64, text, len);
}

int files_read_most(Arena *a, const char *path, const char *what, int mib, const char **text,
                    size_t *len) {
  struct stat st = {0};
  FILE *f = fopen(path, "rb");
  if (!f) return error_set(NEREID_E_FILE, E_RUN_FILE_OPEN, path, strerror(errno));
  if (!fstat(fileno(f), &st) && S_ISDIR(st.st_mode)) {
    fclose(f);
    return refuse_folder(path, !strcmp(what, SOURCE));
  }
  bool regular = S_ISREG(st.st_mode);
  Reading r = {.arena = a, .file = f, .path = path, .what = what, .text = text, .len = len};
  r.mib = regular || mib < STREAM_MIB ? mib : STREAM_MIB;
  r.size = regular ? (size_t)st.st_size : (size_t)1 << 16;
  int code = error_guard(a, read_file_body, &r);
  fclose(f);
  return code;
}

bool files_is_npy(const char *start, size_t len) {
  static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
  return len >= sizeof magic && !memcmp(start, magic, sizeof magic);
}

/* Opens a new file beside the target, so that renaming stays within one file system. */
static int open_temporary(FileWriter *w) {
  size_t n = strlen(w->path);
  for (int i = 0; i < 1000; i++) {
    snprintf(w->temporary, n + 40, "%s.%ld-%d", w->path, (long)getpid(), i);
    int fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      w->file = fdopen(fd, "wb");
      if (!w->file) close(fd);
      if (!w->file) unlink(w->temporary);
    }
    if (fd >= 0 || errno != EEXIST) break;
  }
  if (w->file) return 0;
  return errno == ENOENT ? error_set(NEREID_E_FILE, E_RUN_FILE_NO_FOLDER, w->path)
                         : error_set(NEREID_E_FILE, E_RUN_FILE_WRITE, w->path, strerror(errno));
}

/* Devices and pipes are written directly. */
static int open_direct(FileWriter *w) {
  free(w->temporary);
  w->temporary = NULL;
  w->file = fopen(w->path, "wb");
  return w->file ? 0 : error_set(NEREID_E_FILE, E_RUN_FILE_WRITE, w->path, strerror(errno));
}

int files_create(FileWriter *w, const char *path) {
  struct stat st;
  *w = (FileWriter){.path = strdup(path), .temporary = malloc(strlen(path) + 40)};
  int code;
  if (!w->path || !w->temporary) code = error_out_of_memory();
  else if (!stat(path, &st) && !S_ISREG(st.st_mode)) code = open_direct(w);
  else code = open_temporary(w);
  if (code) files_abandon(w);
  return code;
}

int files_check(const char *path) {
  struct stat st;
  if (!stat(path, &st) && S_ISDIR(st.st_mode))
    return error_set(NEREID_E_FILE, E_RUN_FILE_FOLDER, path, "");
  if (!stat(path, &st) && !S_ISREG(st.st_mode)) return 0;
  FileWriter w;
  int code = files_create(&w, path);
  files_abandon(&w);
  return code;
}

int files_commit(FileWriter *w) {
  bool bad = ferror(w->file) != 0;
  bad |= fflush(w->file) != 0;
  if (!bad && w->temporary) bad = rename(w->temporary, w->path) != 0;
  int code = bad ? error_set(NEREID_E_FILE, E_RUN_FILE_WRITE, w->path, strerror(errno)) : 0;
  if (!bad) {
    free(w->temporary);
    w->temporary = NULL;
  }
  files_abandon(w);
  return code;
}

/* Drops what was written; after files_commit it does nothing. */
static void files_abandon(FileWriter *w) {
  if (w->file) {
    fclose(w->file);
    if (w->temporary) unlink(w->temporary);
  }
  free(w->temporary);
  free(w->path);
  *w = (FileWriter){0};
}
