/* The plan of layouts that pass schedule makes: groups of values, and the surest choice for each.
 * Private to this folder. */
#ifndef NEREID_LOWER_SCHEDULE_PLAN_H
#define NEREID_LOWER_SCHEDULE_PLAN_H

#include "lower/schedule/schedule.h"

/* How sure an anchor is of its choice; the surest of a group wins. */
enum { RANK_NONE, RANK_DERIVED, RANK_SCAN, RANK_STORE, RANK_LOAD, RANK_DOT };

typedef struct {
  int rank;
  int64_t weight; /* among equals: elements a thread moves at once */
  bool adjacent;  /* then: lanes that follow each other access neighbors in memory */
  bool scattered; /* it is that of a load through pointers of which no two are neighbors */
  bool crossed;   /* accesses go along two axes, of both of which a thread has vectors */
  Layout layout;
  const Atom *atom;
} Choice;

typedef struct {
  Unit *u;
  Arena *scratch;
  const TileFunc *f;
  AxisInfo *axis;
  bool *index_only;
  unsigned *data_axes; /* by value id: axes along which a held value is any function of data */
  uint32_t *parent;    /* union-find over value ids */
  Choice *choice;      /* by group root */
  const TileOp **dot;  /* by group root: a dot whose result is in the group, or NULL */
  bool *ahead;         /* by value id: loads that run ahead of their loop */
  bool *turned;        /* by value id: loads that are turned in shared memory */
  bool *broadcast;     /* by group root: larger tiles are made of a value in the group */
  bool follows;        /* users of such loads take their layouts, for want of others */
  bool chained;        /* a dot's result feeds a reduction or another dot: warps go along M */
} Plan;

/* ---- plan_groups.c ---- */

/* The root of a value's group. */
uint32_t plan_find(Plan *p, uint32_t v);
/* Do registers hold it, if it is a tile? */
bool plan_held(const Plan *p, const TileValue *v);
/* Offers a layout to a value's group, which takes the surest. */
void plan_offer(Plan *p, const TileValue *v, Choice c);
/* Ties values that share a layout. */
void plan_groups(Plan *p);

/* ---- plan_runs.c ---- */

/* Elements that an access can take at once, along an axis. */
typedef struct {
  int axis;
  int64_t n;
} Run;

/* The axis along which neighbors are in memory: the one with the longest runs. */
int plan_memory_axis(const Plan *p, const TileValue *ptr);
unsigned plan_elem_bytes(const TileValue *ptr);
Run plan_pointer_run(const Plan *p, const TileValue *ptr, const TileValue *mask);
Run plan_view_run(const Plan *p, const TileOp *op);
/* The axis along which a loaded operand, or the transpose of one, has neighbors in memory; -1: it
 * is none, or no axis is known to have any. */
int plan_neighbor_axis(const Plan *p, const TileValue *v);

/* ---- plan_memory.c ---- */

Choice plan_memory_choice(const Plan *p, const Type *t, int axis, int64_t vector, int rank);
/* Visitor of ops, in order: notes along which axes data decides. */
void plan_note_data_axes(TileOp *op, void *ctx);
bool plan_is_scattered(const Plan *p, const TileValue *ptr);
/* Is it in a loop of several products on a machine with bulk copies, which writes memory by plain
 * stores alone? */
bool plan_is_among_products(const Plan *p, const TileOp *op);
/* Visitor: notes which loads shall run ahead. */
void plan_note_ahead(TileOp *op, void *ctx);
/* The layout that an access through pointers, or to a view, would like best. */
Choice plan_pointer_choice(const Plan *p, const TileValue *ptr, const TileValue *mask, int rank);
Choice plan_view_choice(const Plan *p, const TileOp *op, const Type *t, int rank);

/* ---- plan_atoms.c ---- */

/* How many of the warps go along rows of a dot's result, and along columns. */
void plan_split_warps(const Plan *p, const Atom *atom, const Type *t, int warps, int *wm, int *wn);
/* The matrix instruction that computes a dot; NULL: multiply-adds. */
const Atom *plan_dot_atom(const Plan *p, const TileOp *op);
/* Chooses it for a first operand that is contiguous along M (`across`), or is not. */
const Atom *plan_atom_of(const Plan *p, const TileOp *op, bool across);

/* ---- plan_dots.c ---- */

/* Offers the layouts of a dot's result and of operands that are computed for it. */
void plan_anchor_dot(Plan *p, const TileOp *op);
/* Visitor: notes whether a dot's operand is computed. */
void plan_note_chain(TileOp *op, void *ctx);
void plan_invert(const TileAttr *perm, int64_t *out);
/* Broadcast axes keep one element: their digits in warps and lanes replicate it. */
Layout plan_unbroadcast(const Layout *l, const Type *from);

/* ---- plan_anchors.c ---- */

/* Is the stored value a product's result whose positions got other names, in a loop of several
 * products?  It keeps the product's layout: a thread's values may be neighbours by new names. */
bool plan_is_renamed_product(Plan *p, const TileOp *store);
/* Visitor: a small load that got no suitable layout chooses one as other loads do. */
void plan_settle_small_load(TileOp *op, void *ctx);
/* Visitor: notes of which groups larger tiles are made. */
void plan_note_broadcast(TileOp *op, void *ctx);
/* All offers. */
void plan_anchors(Plan *p);

#endif
