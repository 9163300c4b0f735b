/* Pointers and the arguments from which they are computed.  Option `debug` checks that each access
 * through an argument is within its memory, whose size the launch provides (REACH); addresses of
 * other origins, such as tables of pointers, are not checked. */
#include "codegen/c/c.h"

typedef enum { OWNER_UNSEEN, OWNER_PARAM, OWNER_OTHER } OwnerKind;

static Owner meet_owners(Owner a, Owner b) {
  if (a.kind == OWNER_UNSEEN) return b;
  if (b.kind == OWNER_UNSEEN) return a;
  if (a.kind == OWNER_PARAM && b.kind == OWNER_PARAM && a.param == b.param) return a;
  return (Owner){OWNER_OTHER, 0};
}

static Owner owner_of(const Gen *g, const Ref *r) {
  if (r->kind != REF_VAR || r->var->dtype != DT_PTR) return (Owner){OWNER_OTHER, 0};
  return g->owners[r->var->id];
}

static Owner owner_of_result(const Gen *g, const NestStmt *s) {
  bool op = s->code == NEST_OP;
  if (op && s->op == TILE_SELECT)
    return meet_owners(owner_of(g, &s->srcs[1]), owner_of(g, &s->srcs[2]));
  bool moves = s->code == NEST_MOV || s->code == NEST_SHFL ||
               (op && (s->op == TILE_PTR_ADD || s->op == TILE_HINT));
  return moves ? owner_of(g, &s->srcs[0]) : (Owner){OWNER_OTHER, 0};
}

static bool owners_of_block(Gen *g, const NestBlock *b) {
  bool changed = false;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->ndsts; i++) {
      if (s->dsts[i].var->dtype != DT_PTR) continue;
      Owner *to = &g->owners[s->dsts[i].var->id];
      Owner met = meet_owners(*to, owner_of_result(g, s));
      changed |= met.kind != to->kind || met.param != to->param;
      *to = met;
    }
    for (uint32_t i = 0; i < s->nregions; i++) changed |= owners_of_block(g, s->regions[i]);
  }
  return changed;
}

void c_find_owners(Gen *g) {
  const Nest *n = g->nest;
  if (!n->options.debug) return;
  g->owners = ARENA_ARRAY(g->arena, Owner, n->nvars);
  for (uint32_t i = 0; i < n->nparams; i++)
    if (n->params[i]->dtype == DT_PTR)
      g->owners[n->params[i]->id] = (Owner){OWNER_PARAM, (uint16_t)i};
  while (owners_of_block(g, n->body)) continue;
}

int c_owner(const Gen *g, const Mem *m) {
  if (!g->owners || m->buffer) return -1;
  Owner o = owner_of(g, &m->base);
  return o.kind == OWNER_PARAM ? o.param : -1;
}
