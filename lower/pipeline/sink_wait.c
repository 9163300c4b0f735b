/* Pass sink_wait: a kernel that starts before the one before it has ended waits as late as it can:
 * before its first access to memory that is not steady, and before all that others see.  The wait
 * is in the kernel's body, so that each thread waits whatever it does: the kernel after this one
 * waits for this one alone.
 *
 * The next kernel may start after the wait: then what came before this one has ended, on which what
 * is steady for the next one rests. */
#include <string.h>

#include "lower/nest/steady.h"
#include "lower/passes.h"

static void move_to(Nest *n, NestStmt *st, NestStmt *place) {
  if (place) nest_move_before(st, place);
  else nest_move_into(st, n->body);
}

bool pass_sink_wait(Unit *u) {
  Nest *n = u->nest;
  NestStmt *wait = n->options.steady ? steady_wait(n) : NULL;
  if (!wait) return true;
  Arena *scratch = arena_child(u->arena);
  const bool *steady = steady_pointers(scratch, n);
  NestStmt *launch = wait->next;
  if (launch && launch->code != NEST_GRID_DEPENDENCY) launch = NULL;
  NestStmt *place = launch ? launch->next : wait->next;
  while (place && steady_alone(n, steady, place)) place = place->next;
  move_to(n, wait, place);
  if (launch) move_to(n, launch, place);
  arena_free(scratch);
  return true;
}
