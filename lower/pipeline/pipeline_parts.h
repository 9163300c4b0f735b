/* What the files of pass pipeline share: pipeline.c, pipeline_pairs.c, pipeline_ahead.c. */
#ifndef NEREID_LOWER_PIPELINE_PIPELINE_PARTS_H
#define NEREID_LOWER_PIPELINE_PIPELINE_PARTS_H

#include "lower/lower.h"

typedef struct {
  NestStmt *load, *store; /* NESTs: global to a variable, the variable to a buffer */
  NestStmt *ld, *st;      /* their LD and ST */
} Pair;

typedef struct {
  Unit *u;
  Nest *n;
  Arena *scratch;
  NestStmt *loop;
  VEC(Pair) pairs;
  VEC(NestStmt *) slice; /* statements of the body that the copies' addresses need, in order */
  bool *needed;          /* by var id */
  NestVar **ahead;       /* by var id: the variable that runs ahead */
  uint32_t nvars;        /* size of these two */
  int depth;
  NestStmt *dot;      /* the one that runs on into the next iteration; NULL: none does */
  bool through_proxy; /* some dot reads a ring through a descriptor */
} Pipe;

/* ---- pipeline_pairs.c: what can be copied ahead, and what that needs ---- */
void pipe_find_pairs(Pipe *p);
bool pipe_writes(const NestStmt *st, const NestVar *v); /* or something inside it does */
/* The statements that the copies' addresses need; false if some can't run ahead. */
bool pipe_collect_slice(Pipe *p);
/* No variable of the slice is defined in a block inside the body. */
bool pipe_defs_are_on_top(const Pipe *p);

/* ---- pipeline_ahead.c: the loop becomes one whose copies run ahead ---- */
void pipe_transform(Pipe *p);
bool pipe_is_repeated(const NestStmt *loop); /* it stands in another loop */

#endif
