#include "runtime/support/temp.h"
#include "lang/messages.h"
#include "runtime/messages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "nereid-"
#define LOCK "lock"

static const char *temp_base(void) {
  const char *base = getenv("TMPDIR");
  return base && *base ? base : "/tmp";
}

/* ---- one folder ---- */

/* The lock is taken before it has its name, so that a lock by that name which nobody holds is one
 * that is left. */
static int hold(const TempFolder *t) {
  char unnamed[TEMP_PATH + 16], named[TEMP_PATH + 16];
  temp_name(unnamed, sizeof unnamed, t, LOCK ".new");
  temp_name(named, sizeof named, t, LOCK);
  int fd = open(unnamed, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || rename(unnamed, named))) {
    close(fd);
    unlink(unnamed);
    fd = -1;
  }
  return fd;
}

int temp_new(TempFolder *t) {
  snprintf(t->path, sizeof t->path, "%s/" PREFIX "XXXXXX", temp_base());
  if (mkdtemp(t->path)) {
    t->lock = hold(t); /* without it the folder is merely not removed by others */
    return 0;
  }
  int code = error_set(NEREID_E_FILE, E_RUN_TEMP, temp_base(), strerror(errno));
  t->path[0] = 0;
  return code;
}

/* The files in an open folder, which is closed; the lock is the last. */
static void remove_files(int fd) {
  DIR *dir = fdopendir(fd);
  if (!dir) {
    close(fd);
    return;
  }
  for (struct dirent *e; (e = readdir(dir));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, LOCK))
      unlinkat(fd, e->d_name, 0);
  unlinkat(fd, LOCK, 0);
  closedir(dir);
}

void temp_free(TempFolder *t) {
  if (!t->path[0]) return;
  int fd = open(t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) remove_files(fd);
  rmdir(t->path);
  if (t->lock >= 0) close(t->lock);
  t->path[0] = 0;
}

/* ---- those that are left ---- */

/* Whoever made it holds its lock as long as he lives. */
static bool is_leftover_folder(int folder) {
  struct stat st;
  if (fstat(folder, &st) || st.st_uid != geteuid()) return false;
  int lock = openat(folder, LOCK, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  bool left = lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB);
  if (lock >= 0) close(lock);
  return left;
}

void temp_sweep(void) {
  DIR *dir = opendir(temp_base());
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (strncmp(e->d_name, PREFIX, strlen(PREFIX))) continue;
    int fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    bool left = is_leftover_folder(fd);
    if (left) remove_files(fd);
    else close(fd);
    if (left) unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
  }
  if (dir) closedir(dir);
}

/* ---- files ---- */

void temp_name(char *out, size_t size, const TempFolder *t, const char *name) {
  snprintf(out, size, "%s/%s", t->path, name);
}

int temp_write(const TempFolder *t, const char *name, const void *data, size_t size) {
  char path[TEMP_PATH + 64];
  temp_name(path, sizeof path, t, name);
  FILE *f = fopen(path, "wb");
  bool ok = f && fwrite(data, 1, size, f) == size;
  if (f) ok &= fclose(f) == 0;
  return ok ? 0 : error_set(NEREID_E_FILE, E_RUN_FILE_WRITE, path, strerror(errno));
}

int temp_read(const TempFolder *t, const char *name, char **data, size_t *size) {
  char path[TEMP_PATH + 64];
  struct stat st;
  temp_name(path, sizeof path, t, name);
  FILE *f = fopen(path, "rb");
  *data = f && fstat(fileno(f), &st) == 0 ? malloc((size_t)st.st_size + 1) : NULL;
  bool ok = *data && fread(*data, 1, (size_t)st.st_size, f) == (size_t)st.st_size;
  if (f) fclose(f);
  if (ok) {
    *size = (size_t)st.st_size;
    (*data)[*size] = 0;
    return 0;
  }
  free(*data);
  *data = NULL;
  return error_set(NEREID_E_FILE, E_LANG_FILE_READ, path, strerror(errno));
}
