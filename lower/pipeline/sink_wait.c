/* Pass sink_wait: a kernel that starts before the one before it has ended waits as late as it can:
 * before its first access to memory that is not steady, and before all that others see.  The wait
 * is in the kernel's body, so that each thread waits whatever it does: the kernel after this one
 * waits for this one alone.
 *
 * The next kernel may start after the wait.  Where the wait moves over a loop, the next one may
 * start before that: what it reads before its own wait is steady as well, and it takes no place of
 * this kernel's programs, all of which have started then. */
#include <string.h>

#include "lower/nest/steady.h"
#include "lower/passes.h"

static void move_to(Nest *n, NestStmt *st, NestStmt *place) {
  if (place) nest_move_before(st, place);
  else nest_move_into(st, n->body);
}

static bool is_loop(const NestStmt *st) { return nest_flags(st) & NEST_IS_LOOP; }

bool pass_sink_wait(Unit *u) {
  Nest *n = u->nest;
  NestStmt *wait = n->options.steady ? steady_wait(n) : NULL;
  if (!wait) return true;
  Arena *scratch = arena_child(u->arena);
  const bool *steady = steady_pointers(scratch, n);
  NestStmt *launch = wait->next, *loop = NULL;
  if (launch && launch->code != NEST_GRID_DEPENDENCY) launch = NULL;
  NestStmt *place = launch ? launch->next : wait->next;
  for (; place && steady_alone(n, steady, place); place = place->next)
    if (!loop && is_loop(place)) loop = place;
  move_to(n, wait, place);
  if (launch) move_to(n, launch, loop ? loop : place);
  arena_free(scratch);
  return true;
}
