#include "planner/compile/stages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/verify_graph.h"
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

static void add_stage_time(Stages *s, LogTopic topic, const char *name, double begin) {
  if (!s) return;
  double end = stages_now();
  vec_push(s->arena, &s->list, ((StageTime){name, begin, end}));
  LOG(s->log, topic, "%s, %.1f ms", name, (end - begin) * 1e-3);
}

void stages_done(Stages *s, const char *name, double begin) {
  add_stage_time(s, LOG_GRAPH, name, begin);
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

static bool is_dumped(const Stages *s, const Pass *p) {
  if (!s || !s->dump_after || !s->on_pass) return false;
  return !strcmp(s->dump_after, "all") || !strcmp(s->dump_after, p->name);
}

static const char *text_of(Arena *scratch, const StageLevel *level, Level l, void *ir) {
  Text t = text_new(scratch);
  level->print(&t, l, ir);
  return t.data ? t.data : "";
}

static bool verifies(void) {
  const char *text = getenv("NEREID_VERIFY");
  return text && *text && strcmp(text, "0");
}

/* Without stages what a fault leaves has no owner. */
static void verify(const Stages *s, const Pass *p, const StageLevel *level, void *ir) {
  Arena *scratch = s ? arena_child(s->arena) : arena_new();
  const char *fault = level->fault(scratch, p->gives, ir);
  char text[256];
  snprintf(text, sizeof text, "%s", fault ? fault : "");
  arena_free(scratch);
  BUG_IF(*text, "after pass %s: %s", p->name, text);
}

bool stages_run(Stages *s, const Pass *p, const StageLevel *level, void *ir) {
  Arena *scratch = is_dumped(s, p) ? arena_child(s->arena) : NULL;
  const char *before = scratch ? text_of(scratch, level, p->takes, ir) : NULL;
  double begin = stages_now();
  bug_stage(p->name);
  bool good = level->run(p, ir);
  double seconds = 1e-6 * (stages_now() - begin);
  add_stage_time(s, p->gives <= LEVEL_PRIMS ? LOG_PASS : LOG_GRAPH, p->name, begin);
  if (good && scratch) {
    const char *after = text_of(scratch, level, p->gives, ir);
    s->on_pass(s->context, p->name, strcmp(before, after) ? after : NULL, seconds);
    s->dumped = true;
  }
  if (scratch) arena_free(scratch);
  if (good && verifies()) verify(s, p, level, ir);
  return good;
}

static bool run_graph_pass(const Pass *p, void *g) { return p->run.on_graph(g); }
static void print_graph(Text *out, Level level, void *g) { (void)level, graph_print(out, g); }
static const char *fault_of_graph(Arena *scratch, Level level, void *g) {
  return (void)level, graph_fault(scratch, g);
}

bool stages_run_pass(Stages *s, const Pass *p, Graph *g) {
  static const StageLevel level = {run_graph_pass, print_graph, fault_of_graph};
  bool good = stages_run(s, p, &level, g);
  if (good) stages_write_graph(s, p->name, g);
  return good;
}

int stages_unknown_pass(Arena *a, PassList of, const char *name, size_t len) {
  Text all = text_new(a);
  pass_print_names(&all, of, ~0u);
  return error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_PASS, (int)len, name, all.data);
}

int stages_check_dumped(const Stages *s, const char *names) {
  const char *name = s->dump_after;
  if (!name || !s->on_pass || s->dumped || !strcmp(name, "all")) return 0;
  if (pass_find(planner_passes(), name, strlen(name)))
    return error_set(NEREID_E_USAGE, E_RUN_PASS_NOT_RUN, name, "this graph",
                     *names ? names : "none");
  return stages_unknown_pass(s->arena, planner_passes(), name, strlen(name));
}
