/* The shapes of the tiles in which a kernel goes through its elements.
 *
 * For each template there is one short list of shapes, the best guess first; a kernel gets those of
 * them that fit its extents, each once.  Mode max-autotune measures them
 * (model/execute/tune_plan.h); the others take the first. */
#ifndef NEREID_PLANNER_PLAN_TILES_H
#define NEREID_PLANNER_PLAN_TILES_H

#include "graph/analysis/attention.h"
#include "planner/fuse/fuse.h"
#include "planner/plan/plan.h"

typedef struct {
  Graph *graph;
  const Fusion *fusion;
  bool all; /* the whole list, not the first alone */
  bool gpu;
} Tiles;

enum {
  TILES_ROW_MAX = 8192,    /* elements of a row that stays on chip */
  TILES_TREES = 32,
  TILES_SORTED_MAX = 16384 /* ... of one that a program sorts */
};

/* How many elements a tile may have: registers hold only so many values, and each node gives one
 * for each element.  Rows that are sorted stay on chip whatever else is computed of them; nodes of
 * which a program does a row have one element in a tile.  Trees of a tile on a CPU are so few that
 * their leaves are about as deep: 16, 32, 64 and 128 of 100 trees of LightGBM take 40, 30, 35 and
 * 37 us for 16 rows on a Zen 5. */
int64_t tiles_most(const Tiles *t, const Group *g, const StepCost *cost);

/* Is a row that is longer than a tile so short that its loop is written out, as loads of a few
 * blocks that a thread waits for together? */
bool tiles_unroll(const Tiles *t, const Group *g, const StepCost *cost);
/* Are sums of many rows better made block by block, by fewer warps, than of a whole row?  A thread
 * that multiplies 16 bytes of a weight and takes part in the row's sum has several instructions for
 * each element: on an H200, a product of a vector by 128,256 rows of 4,096 in 8 bits takes 170 us
 * by 8 warps a row, and 140 by 4. */
bool tiles_sum_blocks(const Tiles *t, const Group *g, const StepCost *cost);
/* Are rows that are longer than a tile, of which several loops would read all elements, better a
 * tile that compiles to loops over strips of it in shared memory (pass strip_rows of kernels)? */
bool tiles_park_rows(const Tiles *t, const Group *g, const StepCost *cost);
/* Each fills s->choices and takes the first.  looped: rows are longer than a tile may be. */
void tiles_loops(const Tiles *t, const Group *g, bool looped, int64_t most, PlanStep *s);
/* Fills them for vectors that slide (group_slides). */
void tiles_slides(const Tiles *t, const Group *g, PlanStep *s);
void tiles_matmul(const Tiles *t, const Group *g, PlanStep *s);
/* The kernel's text is for one shape; warps and stages are open. */
void tiles_attention(const Tiles *t, const Attention *x, const AttentionShape *shape, PlanStep *s);

#endif
