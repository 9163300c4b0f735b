#include "graph/compile/stages.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "graph/ops/graph_text.h"
#include "runtime/messages.h"
#include "runtime/support/files.h"

Stages *stages_new(Arena *a) {
  Stages *s = ARENA_NEW(a, Stages);
  s->arena = a;
  s->log = log_read();
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

static void record(Stages *s, LogTopic topic, const char *name, double begin) {
  if (!s) return;
  double end = stages_now();
  vec_push(s->arena, &s->list, ((StageTime){name, begin, end}));
  LOG(s->log, topic, "%s, %.1f ms", name, (end - begin) * 1e-3);
}

void stages_done(Stages *s, const char *name, double begin) { record(s, LOG_GRAPH, name, begin); }

void stages_pass_done(Stages *s, const char *name, double begin) {
  record(s, LOG_PASS, name, begin);
}

void stages_log(const Stages *s, const char *name, double begin) {
  if (s) LOG(s->log, LOG_GRAPH, "%s, %.1f ms", name, (stages_now() - begin) * 1e-3);
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
