#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/aot/project_state.h"
#include "model/messages.h"
#include "runtime/messages.h"

/* The list of files of a build, by which a later build recognizes its folder. */
static const char LIST[] = "nereid-build.txt";
static const char LIST_HEAD[] = "nereid build 1";
enum { LINE_MAX_ = 256 };

/* ---- contents of a folder ---- */

static bool is_listed(const char *dir, Arena *a, const char *name) {
  char line[LINE_MAX_];
  bool found = !strcmp(name, LIST), head = false;
  FILE *f = fopen(arena_printf(a, "%s/%s", dir, LIST), "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    if (!head && strcmp(line, LIST_HEAD) != 0) break;
    found |= head && !strcmp(line, name);
    head = true;
  }
  if (f) fclose(f);
  return found && head;
}

/* An entry that no build made, NULL if there is none. */
static const char *foreign_entry(const char *dir, Arena *a) {
  DIR *d = opendir(dir);
  const char *found = NULL;
  for (struct dirent *e; d && !found && (e = readdir(d));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !is_listed(dir, a, e->d_name))
      found = arena_printf(a, "%s", e->d_name);
  if (d) closedir(d);
  return found;
}

/* Removes a folder that holds nothing but files. */
static void remove_folder(Arena *a, const char *dir) {
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
      unlink(arena_printf(a, "%s/%s", dir, e->d_name));
  if (d) closedir(d);
  rmdir(dir);
}

static int cannot(const char *path) {
  return error_set(NEREID_E_FILE, E_RUN_FILE_WRITE, path, strerror(errno));
}

static int check_target(ProjectFolder *f) {
  struct stat st;
  if (lstat(f->dir, &st)) return errno == ENOENT ? 0 : cannot(f->dir);
  if (!S_ISDIR(st.st_mode)) return error_set(NEREID_E_FILE, E_BUILD_NO_FOLDER, f->dir);
  const char *entry = foreign_entry(f->dir, f->arena);
  return entry ? error_set(NEREID_E_USAGE, E_BUILD_FOREIGN, f->dir, entry) : 0;
}

/* ---- writing ---- */

/* Without slashes at its end. */
static const char *trimmed(Arena *a, const char *dir) {
  size_t n = strlen(dir);
  while (n > 1 && dir[n - 1] == '/') n--;
  return arena_strndup(a, dir, n);
}

/* The folder's lock, which its process holds as long as it lives; -1 if another does, or where the
 * file system has none. */
static int lock_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB)) return fd;
  close(fd);
  return -1;
}

/* Removes temporary folders of builds of the same folder that were killed: `parent` is their parent
 * folder, `stem` the prefix of their names. */
static void remove_abandoned(Arena *a, const char *parent, const char *stem) {
  DIR *d = opendir(*parent ? parent : ".");
  for (struct dirent *e; d && (e = readdir(d));) {
    if (strncmp(e->d_name, stem, strlen(stem)) != 0) continue;
    const char *path = arena_printf(a, "%s%s", parent, e->d_name);
    int lock = lock_folder(path);
    if (lock >= 0) remove_folder(a, path), close(lock);
  }
  if (d) closedir(d);
}

/* Another build may take a new folder for one that was left, until it is locked. */
static bool make_temporary(ProjectFolder *f, const char *path) {
  struct stat st;
  if (mkdir(path, 0777)) return false;
  f->lock = lock_folder(path);
  if (!stat(path, &st)) f->temporary = path;
  else if (f->lock >= 0) close(f->lock);
  return true;
}

int project_folder_open(ProjectFolder *f, Arena *a, const char *dir) {
  *f = (ProjectFolder){.arena = a, .dir = trimmed(a, dir), .lock = -1};
  const char *slash = strrchr(f->dir, '/'), *last = slash ? slash + 1 : f->dir;
  if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
    return error_set(NEREID_E_USAGE, E_BUILD_DOT, dir);
  int code = check_target(f);
  if (code) return code;
  const char *parent = arena_strndup(a, f->dir, (size_t)(last - f->dir));
  const char *stem = arena_printf(a, ".%s.nereid-", last);
  remove_abandoned(a, parent, stem);
  for (int i = 0; i < 1000 && !f->temporary; i++) {
    if (make_temporary(f, arena_printf(a, "%s%s%ld-%d", parent, stem, (long)getpid(), i))) continue;
    if (errno == ENOENT) return error_set(NEREID_E_FILE, E_RUN_FILE_NO_FOLDER, f->dir);
    if (errno != EEXIST) break;
  }
  return f->temporary ? 0 : cannot(f->dir);
}

int project_file_open(FILE **out, ProjectFolder *f, const char *name) {
  BUG_IF(f->n == PROJECT_FILES_MAX, "a project of %d files", PROJECT_FILES_MAX);
  f->names[f->n++] = name;
  *out = fopen(arena_printf(f->arena, "%s/%s", f->temporary, name), "wb");
  return *out ? 0 : cannot(arena_printf(f->arena, "%s/%s", f->dir, name));
}

int project_file_close(ProjectFolder *f, FILE *file) {
  bool bad = ferror(file) != 0;
  bad |= fclose(file) != 0;
  return bad ? cannot(arena_printf(f->arena, "%s/%s", f->dir, f->names[f->n - 1])) : 0;
}

int project_file_write(ProjectFolder *f, const char *name, const char *text, size_t len) {
  FILE *file;
  int code = project_file_open(&file, f, name);
  if (code) return code;
  fwrite(text, 1, len, file);
  return project_file_close(f, file);
}

static int write_list(ProjectFolder *f, const char *const *products) {
  Text t = text_new(f->arena);
  text_printf(&t, "%s\n", LIST_HEAD);
  for (uint32_t i = 0; i < f->n; i++) {
    const char *dot = strrchr(f->names[i], '.');
    text_printf(&t, "%s\n", f->names[i]);
    if (dot && !strcmp(dot, ".c"))
      text_printf(&t, "%.*s.o\n", (int)(dot - f->names[i]), f->names[i]);
  }
  for (; *products; products++) text_printf(&t, "%s\n", *products);
  return project_file_write(f, LIST, t.data, t.len);
}

/* The old folder, if there is one, steps aside until the new one is in its place. */
static int put_in_place(ProjectFolder *f) {
  const char *old = arena_printf(f->arena, "%s-old", f->temporary);
  bool had = rename(f->dir, old) == 0;
  if (!had && errno != ENOENT) return cannot(f->dir);
  if (rename(f->temporary, f->dir)) {
    int code = cannot(f->dir);
    if (had) rename(old, f->dir);
    return code;
  }
  f->temporary = NULL;
  if (had) remove_folder(f->arena, old);
  return 0;
}

int project_folder_commit(ProjectFolder *f, const char *const *products) {
  int code = write_list(f, products);
  /* Again: it may have been filled since. */
  if (!code) code = check_target(f);
  return code ? code : put_in_place(f);
}

void project_folder_abandon(ProjectFolder *f) {
  if (f->temporary) remove_folder(f->arena, f->temporary);
  f->temporary = NULL;
  if (f->dir && f->lock >= 0) close(f->lock);
  f->lock = -1;
}
