/* The stages of a compilation: the time of each, for --trace, and the text after each, as numbered
 * files in a folder, for --dump-dir. */
#ifndef NEREID_PLANNER_COMPILE_STAGES_H
#define NEREID_PLANNER_COMPILE_STAGES_H

#include "planner/passes.h"
#include "planner/plan/plan.h"
#include "runtime/support/log.h"

typedef struct {
  const char *name;
  double begin, end; /* stages_now() */
} StageTime;

typedef struct {
  Arena *arena; /* the owner of its memory */
  Log log;
  VEC(StageTime) list;
  const char *folder; /* NULL: no files are written */
  unsigned files;     /* written so far */
  const char *dump_after; /* a pass's name, or "all": on_pass gets the graph; NULL: none */
  void (*on_pass)(void *context, const char *pass, const char *ir, double seconds);
  void *context;
  bool dumped; /* on_pass was called */
  int code;           /* of the first file that could not be written, with its message */
} Stages;

Stages *stages_new(Arena *a);
/* The folder for files; made if it is not there. */
int stages_dump_to(Stages *s, const char *folder);

/* Microseconds from some moment on. */
double stages_now(void);
/* A stage that began then is over now.  `s` may be NULL here and below. */
void stages_done(Stages *s, const char *name, double begin);
/* What the IR of passes is: how they run on it, its text, and the first thing that is wrong with it
 * (NULL: nothing). */
typedef struct {
  bool (*run)(const Pass *p, void *ir);
  void (*print)(Text *out, Level level, void *ir);
  const char *(*fault)(Arena *scratch, Level level, void *ir);
} StageLevel;

/* Runs a pass: its time, its line of the log and its dump.  Where NEREID_VERIFY is set, a fault of
 * what it leaves is an internal error. */
bool stages_run(Stages *s, const Pass *p, const StageLevel *level, void *ir);
/* The same of a graph, with its file. */
bool stages_run_pass(Stages *s, const Pass *p, Graph *g);
/* NEREID_E_USAGE: there is no pass of that name in the list. */
int stages_unknown_pass(Arena *a, PassList of, const char *name, size_t len);
/* NEREID_E_USAGE if dump_after names no pass, or none that was run; `names` are of those that
 * were, with commas between. */
int stages_check_dumped(const Stages *s, const char *names);
/* The stage is no more than its passes: a line of the log. */
void stages_log(const Stages *s, const char *name, double begin);

/* The next file, "03_NAME". */
void stages_write(Stages *s, const char *name, const char *text, size_t size);
/* A graph as it is: "03_NAME.py". */
void stages_write_graph(Stages *s, const char *name, const Graph *g);

#endif
