/* Loops that may wait for other programs: a `while` that reads memory which others write, by
 * atomics, by volatile loads, or by loads for its condition.  A kernel with one needs each of its
 * programs to be begun, and its waiting programs to leave the core now and then. */
#include "codegen/c/c.h"

static bool reads_what_others_write(const NestBlock *b, bool condition) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    unsigned flags = nest_flags(s), now = NEST_IS_ATOMIC | NEST_IS_ORDERED;
    bool reads = (flags & NEST_IS_READ) && ((flags & NEST_IS_ATOMIC) || !s->mems[0].buffer);
    if (reads && (condition || (flags & now))) return true;
    for (uint32_t i = 0; i < s->nregions; i++)
      if (reads_what_others_write(s->regions[i], condition)) return true;
  }
  return false;
}

bool c_is_waiting_loop(const NestStmt *s) {
  return s->code == NEST_WHILE && (reads_what_others_write(s->regions[0], true) ||
                                   reads_what_others_write(s->regions[1], false));
}

static bool has_waiting_loop(const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (c_is_waiting_loop(s)) return true;
    for (uint32_t i = 0; i < s->nregions; i++)
      if (has_waiting_loop(s->regions[i])) return true;
  }
  return false;
}

void c_find_waits(Gen *g) { g->waits = has_waiting_loop(g->nest->body); }
