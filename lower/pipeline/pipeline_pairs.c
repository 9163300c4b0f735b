/* Which loads can become asynchronous copies, and which statements their addresses need. */
#include "lower/pipeline/pipeline_parts.h"

/* ---- pairs of a load and a store ---- */

static uint32_t count_reads(const NestBlock *b, const NestVar *v) {
  uint32_t n = 0;
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nsrcs; i++)
      n += st->srcs[i].kind == REF_VAR && st->srcs[i].var == v;
    for (uint32_t i = 0; i < st->nmems; i++)
      n += st->mems[i].base.kind == REF_VAR && st->mems[i].base.var == v;
    n += st->guard.kind == REF_VAR && st->guard.var == v;
    for (uint32_t r = 0; r < st->nregions; r++) n += count_reads(st->regions[r], v);
  }
  return n;
}

static bool zero(const Ref *r) {
  return (r->kind == REF_AFFINE && !r->sub.n && !r->sub.c) || (r->kind == REF_FLOAT && r->f == 0);
}

enum { ASYNC_MIN = 4 };

/* The LD of a nest that loads a tile from global memory and does nothing else; what is masked off
 * must be zero, as an asynchronous copy fills it. */
static NestStmt *plain_load(const NestStmt *nest) {
  NestStmt *ld = NULL;
  for (NestStmt *st = nest->regions[0]->first; st; st = st->next) {
    if (st->code == NEST_OP && !st->dsts[0].var->tile.rank) continue;
    if (st->code == NEST_MOV && st->dsts[0].var->tile.rank && zero(&st->srcs[0]) && !ld) continue;
    if (st->code != NEST_LD || ld || st->mems[0].buffer) return NULL;
    ld = st;
  }
  if (!ld || !ld->dsts[0].var->tile.rank || nest_int(ld, NA_volatile, 0)) return NULL;
  if (nest_int(ld, NA_pinned, 0)) return NULL;
  int64_t bytes = nest_int(ld, NA_width, 1) * dtype_bytes(ld->type);
  return bytes >= ASYNC_MIN ? ld : NULL;
}

static void note_tiles(const NestBlock *b, bool *assigned) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++)
      if (st->dsts[i].var->tile.rank) assigned[st->dsts[i].var->id] = true;
    for (uint32_t r = 0; r < st->nregions; r++) note_tiles(st->regions[r], assigned);
  }
}

static bool is_assigned(const bool *assigned, const Ref *r) {
  return r->kind == REF_VAR && assigned[r->var->id];
}

/* True if the address or the mask comes from a tile that an iteration sets: it is not there yet
 * when the load runs ahead. */
static bool reads_tiles(const NestStmt *nest, const bool *assigned) {
  bool found = false;
  for (const NestStmt *st = nest->regions[0]->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->nsrcs; i++) found |= is_assigned(assigned, &st->srcs[i]);
    for (uint32_t i = 0; i < st->nmems; i++) found |= is_assigned(assigned, &st->mems[i].base);
    found |= is_assigned(assigned, &st->guard);
  }
  return found;
}

static NestStmt *plain_store(const NestStmt *nest, const NestVar *v) {
  NestStmt *st = nest->regions[0]->first;
  if (!st || st->next || st->code != NEST_ST || !st->mems[0].buffer || st->guard.kind) return NULL;
  bool same = st->srcs[0].kind == REF_VAR && st->srcs[0].var == v &&
              st->mems[0].buffer->tile.rank && !st->mems[0].base.kind;
  return same ? st : NULL;
}

static bool writes_global(const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_ST && !st->mems[0].buffer) return true;
    if (st->code == NEST_ATOM || st->code == NEST_ATOM_CAS || st->code == NEST_RED) return true;
    for (uint32_t r = 0; r < st->nregions; r++)
      if (writes_global(st->regions[r])) return true;
  }
  return false;
}

bool pipe_writes(const NestStmt *st, const NestVar *v) {
  for (uint32_t i = 0; i < st->ndsts; i++)
    if (st->dsts[i].kind == REF_VAR && st->dsts[i].var == v) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (pipe_writes(x, v)) return true;
  return false;
}

void pipe_find_pairs(Pipe *p) {
  NestBlock *body = p->loop->regions[0];
  bool *assigned = ARENA_ARRAY(p->scratch, bool, p->n->nvars);
  note_tiles(body, assigned);
  for (NestStmt *st = body->first; st; st = st->next) {
    NestStmt *ld = st->code == NEST_NEST ? plain_load(st) : NULL;
    if (!ld || count_reads(p->n->body, ld->dsts[0].var) != 1) continue;
    if (reads_tiles(st, assigned)) continue;
    for (NestStmt *to = st->next; to && !pipe_writes(to, ld->dsts[0].var); to = to->next) {
      NestStmt *s = to->code == NEST_NEST ? plain_store(to, ld->dsts[0].var) : NULL;
      if (!s) continue;
      Pair pair = {st, to, ld, s};
      vec_push(p->scratch, &p->pairs, pair);
      break;
    }
  }
}

/* ---- what the addresses need ---- */

static void need(Pipe *p, const Ref *r) {
  if (r->kind == REF_VAR && r->var->uniform && !r->var->is_param) p->needed[r->var->id] = true;
}

static void need_stmt(Pipe *p, const NestStmt *st) {
  for (uint32_t i = 0; i < st->nsrcs; i++) need(p, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) need(p, &st->mems[i].base);
  need(p, &st->guard);
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) need_stmt(p, x);
}

static bool can_run_ahead(const NestStmt *st) {
  bool simple =
      st->code == NEST_OP || st->code == NEST_MOV || (st->code == NEST_LD && !st->mems[0].buffer);
  return simple && !st->guard.kind && st->dsts[0].var->uniform && !nest_int(st, NA_pinned, 0);
}

/* Collects the body's statements that define needed variables, until none is missing.  False if one
 * of them can't run ahead. */
bool pipe_collect_slice(Pipe *p) {
  for (size_t i = 0; i < p->pairs.len; i++) need_stmt(p, p->pairs.data[i].load);
  NestBlock *body = p->loop->regions[0];
  bool loads = false;
  for (bool again = true; again;) {
    again = false;
    p->slice.len = 0;
    for (NestStmt *st = body->first; st; st = st->next) {
      bool wanted = false;
      for (uint32_t i = 0; i < st->ndsts; i++) wanted |= p->needed[st->dsts[i].var->id];
      for (size_t i = 0; i < p->pairs.len; i++) wanted |= p->pairs.data[i].load == st;
      if (!wanted) continue;
      vec_push(p->scratch, &p->slice, st);
      bool pair = st->code == NEST_NEST;
      if (pair) continue;
      if (!can_run_ahead(st)) return false;
      loads |= st->code == NEST_LD;
      for (uint32_t i = 0; i < st->nsrcs; i++) {
        const Ref *r = &st->srcs[i];
        if (r->kind == REF_VAR && !r->var->is_param && !p->needed[r->var->id])
          again = p->needed[r->var->id] = true;
      }
      const Ref *b = &st->mems[0].base;
      if (st->code == NEST_LD && b->kind == REF_VAR && !b->var->is_param && !p->needed[b->var->id])
        again = p->needed[b->var->id] = true;
    }
  }
  /* A needed variable set inside a nested region of the body would be missed. */
  return !(loads && writes_global(body));
}

static void nested_defs(const Pipe *p, const NestBlock *b, bool *bad) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++)
      if (st->dsts[i].var->id < p->nvars && p->needed[st->dsts[i].var->id]) *bad = true;
    for (uint32_t r = 0; r < st->nregions; r++) nested_defs(p, st->regions[r], bad);
  }
}

bool pipe_defs_are_on_top(const Pipe *p) {
  bool bad = false;
  for (const NestStmt *st = p->loop->regions[0]->first; st; st = st->next)
    for (uint32_t r = 0; r < st->nregions; r++) nested_defs(p, st->regions[r], &bad);
  return !bad;
}
