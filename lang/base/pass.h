/* A pass over any IR, as a row of data.
 *
 * A room that has passes lists them in order in one table: lower/passes.h for the tile IR and
 * nests, planner/passes.h for graphs.  The table makes the declarations, the list that runs, the
 * names that --run-passes and --dump-after accept, the rows of timing, and docs/passes.md.  Its
 * columns:
 *
 *   name     as users write it; each has its own
 *   takes    the level of the IR that it reads; it is skipped at any other
 *   gives    the level that it leaves
 *   function runs it
 *   needs    conditions that must hold for the list to include it, 0 for none: capabilities of the
 *            machine (lower/target/machine.h), or options of the compilation of a graph.
 *            PASS_ON_REQUEST never holds: --run-passes alone runs such a pass
 *   without  conditions of which none may hold
 *   doc      its meaning in one line */
#ifndef NEREID_LANG_BASE_PASS_H
#define NEREID_LANG_BASE_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include "lang/base/strings.h"

#define LEVELS(X) \
X(TILE,      "tile IR without a schedule") \
X(SCHEDULED, "tile IR with its schedule") \
X(NEST,      "level nest") \
X(THREAD,    "level thread") \
X(CALLS,     "graph of operators") \
X(PRIMS,     "graph of primitives") \
X(FUSED,     "groups of nodes that share a kernel") \
X(STEPS,     "plan with the text of its kernels") \
X(PLAN,      "plan whose temporaries have places in the pool")

#define X(name, text) LEVEL_##name,
typedef enum { LEVELS(X) } Level;
#undef X

enum { PASS_ON_REQUEST = 1 << 30 };

struct Unit;  /* lower/lower.h */
struct Graph; /* graph/ir/graph.h */
struct PlanCompiler; /* planner/compile/compile_plan.c */

typedef struct {
  const char *name;
  Level takes, gives;
  union { /* by the levels; false after errors, which are in the unit's or the graph's diags */
    bool (*on_unit)(struct Unit *u);
    bool (*on_graph)(struct Graph *g);
    bool (*on_plan)(struct PlanCompiler *c);
  } run;
  unsigned needs, without;
  const char *doc;
} Pass;

typedef struct {
  const Pass *rows;
  int n;
} PassList;

/* For the columns of a table: ", dce" of the help, and " dce" of a shell's completion. */
#define PASS_LISTED(name, ...) ", " #name
#define PASS_CHOICE(name, ...) " " #name

const char *level_text(Level l);
/* True if the list includes the pass where exactly these conditions hold. */
bool pass_included(const Pass *p, unsigned conditions);
/* The pass of that name; NULL if there is none. */
const Pass *pass_find(PassList l, const char *name, size_t len);
/* The names of passes that the list includes under these conditions: "dce, schedule, ...". */
void pass_print_names(Text *out, PassList l, unsigned conditions);
/* Cuts the next name off a list with commas between; false at its end. */
bool pass_next_name(const char **names, const char **name, size_t *len);

#endif
