#include "graph/stages.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "graph/text.h"
#include "runtime/files.h"

Stages *stages_new(Arena *a) {
  Stages *s = ARENA_NEW(a, Stages);
  s->arena = a;
  return s;
}

int stages_dump_to(Stages *s, const char *folder) {
  s->folder = arena_strndup(s->arena, folder, strlen(folder));
  if (mkdir(folder, 0777) && errno != EEXIST)
    return error_set(NEREID_E_FILE, E_RUN_FILE_WRITE, folder, strerror(errno));
  return 0;
}

double stages_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

void stages_done(Stages *s, const char *name, double begin) {
  if (s) vec_push(s->arena, &s->list, ((StageTime){name, begin, stages_now()}));
}

static int write_file(const char *path, const char *text, size_t size) {
  FileWriter w;
  int code = files_create(&w, path);
  if (code) return code;
  if (size) fwrite(text, 1, size, w.file);
  return files_commit(&w);
}

void stages_write(Stages *s, const char *name, const char *text, size_t size) {
  if (!s || !s->folder || s->code) return;
  s->code =
      write_file(arena_printf(s->arena, "%s/%02u_%s", s->folder, s->files++, name), text, size);
}

void stages_write_graph(Stages *s, const char *name, const Graph *g) {
  if (!s || !s->folder || s->code) return;
  Arena *scratch = arena_child(s->arena);
  Text t = text_new(scratch);
  graph_print(&t, g);
  stages_write(s, arena_printf(scratch, "%s.py", name), t.data, t.len);
  arena_free(scratch);
}
