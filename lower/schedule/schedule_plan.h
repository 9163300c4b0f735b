/* Choosing layouts: what the schedule_*.c files share.  See lower/schedule/schedule.h. */
#ifndef NEREID_LOWER_SCHEDULE_SCHEDULE_PLAN_H
#define NEREID_LOWER_SCHEDULE_SCHEDULE_PLAN_H

#include "lower/schedule/schedule.h"

/* How sure an anchor is of its choice; the surest of a group wins. */
enum { RANK_NONE, RANK_DERIVED, RANK_STORE, RANK_LOAD, RANK_DOT };

typedef struct {
  int rank;
  int64_t weight; /* among equals: elements a thread moves at once */
  Layout layout;
  const Atom *atom;
} Choice;

typedef struct {
  Unit *u;
  Arena *scratch;
  const TileFunc *f;
  AxisInfo *axis;
  bool *index_only;
  uint32_t *parent;   /* union-find over value ids */
  Choice *choice;     /* by group root */
  const TileOp **dot; /* by group root: a dot whose result is in the group, or NULL */
  bool chained;       /* a dot's result feeds a reduction or another dot: warps go along M */
} Plan;

/* ---- schedule_groups.c: values that share a layout ---- */
uint32_t plan_find(Plan *p, uint32_t v); /* the root of a value's group */
bool plan_held(const Plan *p, const TileValue *v);
void plan_groups(Plan *p);
/* Offers a layout to a value's group, which takes the surest. */
void plan_offer(Plan *p, const TileValue *v, Choice c);

/* ---- schedule_anchors.c: accesses to memory, and dots ---- */
void plan_anchors(Plan *p);
/* The layout that an access through pointers, or to a view, would like best. */
Choice plan_pointer_choice(const Plan *p, const TileValue *ptr, const TileValue *mask, int rank);
Choice plan_view_choice(const Plan *p, const TileOp *op, const Type *t, int rank);
/* The matrix instruction that computes a dot; NULL: multiply-adds. */
const Atom *plan_dot_atom(const Plan *p, const TileOp *op);

#endif
