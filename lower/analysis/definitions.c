#include "lower/analysis/box_access.h"

static void note_definitions(Definitions *d, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      uint32_t id = st->dsts[i].var->id;
      if (!d->count[id]++) d->first[id] = st;
      d->last[id] = st;
    }
    for (uint32_t r = 0; r < st->nregions; r++) note_definitions(d, st->regions[r]);
  }
}

void definitions_find(Definitions *d, Arena *a, const Nest *n) {
  *d = (Definitions){a, n, ARENA_ARRAY(a, uint32_t, n->nvars + 1),
                     ARENA_ARRAY(a, NestStmt *, n->nvars + 1),
                     ARENA_ARRAY(a, NestStmt *, n->nvars + 1)};
  note_definitions(d, n->body);
}
