/* What a compilation goes through: how long each stage took, for --trace, and what it left, as
 * numbered files in a folder, for --dump-dir. */
#ifndef NEREID_GRAPH_COMPILE_STAGES_H
#define NEREID_GRAPH_COMPILE_STAGES_H

#include "graph/plan/plan.h"
#include "runtime/support/log.h"

typedef struct {
  const char *name;
  double begin, end; /* stages_now() */
} StageTime;

typedef struct {
  Arena *arena; /* in which it lies */
  Log log;
  VEC(StageTime) list;
  const char *folder; /* NULL: no files are written */
  unsigned files;     /* written so far */
  int code;           /* of the first file that could not be written, with its message */
} Stages;

Stages *stages_new(Arena *a);
/* The folder for files; made if it is not there. */
int stages_dump_to(Stages *s, const char *folder);

/* Microseconds from some moment on. */
double stages_now(void);
/* A stage that began then is over now.  `s` may be NULL here and below. */
void stages_done(Stages *s, const char *name, double begin);
/* The same of a pass on graphs, which is a part of a stage. */
void stages_pass_done(Stages *s, const char *name, double begin);
/* The stage is no more than its passes: a line of the log. */
void stages_log(const Stages *s, const char *name, double begin);

/* The next file, "03_NAME". */
void stages_write(Stages *s, const char *name, const char *text, size_t size);
/* A graph as it is: "03_NAME.py". */
void stages_write_graph(Stages *s, const char *name, const Graph *g);

#endif
