/* A loop whose copies run ahead: see pipeline.c for what it becomes. */
#include <string.h>

#include "lower/pipeline/pipeline_parts.h"

static Ref ahead_ref(const Pipe *p, Ref r) {
  if (r.kind == REF_VAR && r.var->id < p->nvars && p->ahead[r.var->id]) r.var = p->ahead[r.var->id];
  return r;
}

static NestStmt *clone(const Pipe *p, NestBuilder *b, const NestStmt *st) {
  NestStmt *c = nest_copy(b, st);
  for (uint32_t i = 0; i < st->ndsts; i++) c->dsts[i] = ahead_ref(p, st->dsts[i]);
  for (uint32_t i = 0; i < st->nsrcs; i++) c->srcs[i] = ahead_ref(p, st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) c->mems[i].base = ahead_ref(p, st->mems[i].base);
  c->guard = ahead_ref(p, st->guard);
  for (uint32_t r = 0; r < st->nregions; r++) {
    NestBuilder in = {p->n, nest_block(p->n, c), NULL, st->span};
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next) clone(p, &in, x);
  }
  return c;
}

typedef struct {
  NestVar *index;           /* the loop's index, ahead */
  NestVar *slot_w, *slot_r; /* the slot to fill, the slot to read */
  NestVar *in_range;
} Ahead;

static Ref make(NestBuilder *b, TileCode op, DType t, Ref dst, Ref x, Ref y) {
  nest_op(b, op, t, dst, x, y, ref_none());
  return dst;
}

static Ref fresh(Pipe *p, const char *name, DType t) {
  return ref_var(nest_var(p->n, name, t, DT_NONE, 1, true));
}

static Ref slot_bytes(Pipe *p, NestBuilder *b, NestVar *slot, const NestBuffer *buf) {
  NestVar *v = nest_var(p->n, "at", DT_I32, DT_NONE, 1, true);
  v->div = buf->bytes / p->depth;
  v->div &= -v->div;
  return make(b, TILE_MUL, DT_I32, ref_var(v), ref_var(slot), ref_int(buf->bytes / p->depth));
}

/* slot := (slot + 1) % depth */
static void advance_slot(Pipe *p, NestBuilder *b, NestVar *slot) {
  Ref next = make(b, TILE_ADD, DT_I32, fresh(p, NULL, DT_I32), ref_var(slot), ref_int(1));
  Ref wrap = make(b, TILE_EQ, DT_I32, fresh(p, NULL, DT_I1), next, ref_int(p->depth));
  nest_op(b, TILE_SELECT, DT_I32, ref_var(slot), wrap, ref_int(0), next);
}

/* A NEST of the pair's load becomes a COPY that stores where the pair's store did. */
static void copy_ahead(Pipe *p, NestBuilder *b, const Pair *pair, const Ahead *a) {
  Ref at = slot_bytes(p, b, a->slot_w, pair->st->mems[0].buffer);
  NestStmt *c = clone(p, b, pair->load);
  c->code = NEST_COPY;
  c->attrs = NULL;
  c->nattrs = 0;
  NestStmt *ld = NULL;
  for (NestStmt *st = c->regions[0]->first, *next; st; st = next) {
    next = st->next;
    if (st->code == NEST_MOV) nest_remove(st);
    if (st->code == NEST_LD) ld = st;
  }
  NestBuilder in = {p->n, c->regions[0], ld, ld->span};
  Ref inside = ref_var(nest_var(p->n, NULL, DT_I1, DT_NONE, 1, false));
  if (ld->guard.kind) {
    nest_op(&in, TILE_AND, DT_I1, inside, ld->guard, ref_var(a->in_range), ref_none());
    ld->guard = inside;
  } else {
    ld->guard = ref_var(a->in_range);
  }
  NestVar *t = nest_var(p->n, NULL, ld->dsts[0].var->dtype, ld->dsts[0].var->elem, 1, false);
  ld->dsts[0] = ref_var(t);
  in.before = NULL;
  NestStmt *st = clone(p, &in, pair->st);
  /* the store's axes are those of its own nest: the same tile, so axis by axis the same */
  for (int x = 0; x < pair->store->layout->rank; x++)
    affine_rename(&st->mems[0].bytes, pair->store->axes[x], pair->load->axes[x]);
  st->srcs[0] = ref_var(t);
  st->mems[0].base = at;
}

static void issue(Pipe *p, NestBuilder *b, const Ahead *a) {
  make(b, TILE_LT, p->loop->type, ref_var(a->in_range), ref_var(a->index), p->loop->srcs[1]);
  size_t next = 0;
  for (size_t i = 0; i < p->slice.len; i++) {
    NestStmt *st = p->slice.data[i];
    if (st->code == NEST_NEST) {
      copy_ahead(p, b, &p->pairs.data[next++], a);
      continue;
    }
    NestStmt *c = clone(p, b, st);
    if (c->code == NEST_LD) c->guard = ref_var(a->in_range);
  }
  nest_stmt(b, NEST_RING_COMMIT, 0, 0);
  make(b, TILE_ADD, p->loop->type, ref_var(a->index), ref_var(a->index), p->loop->srcs[2]);
  advance_slot(p, b, a->slot_w);
}

/* Variables that run ahead start from what their originals have before the loop. */
static Ahead make_ahead(Pipe *p, NestBuilder *b) {
  Ahead a;
  NestVar *ix = p->loop->dsts[0].var;
  a.index = nest_var(p->n, ix->name, ix->dtype, DT_NONE, 1, true);
  a.index->div = ix->div;
  a.slot_w = nest_var(p->n, "fill", DT_I32, DT_NONE, 1, true);
  a.slot_r = nest_var(p->n, "slot", DT_I32, DT_NONE, 1, true);
  a.in_range = nest_var(p->n, "more", DT_I1, DT_NONE, 1, true);
  nest_mov(b, ref_var(a.index), p->loop->srcs[0], a.index->dtype);
  nest_mov(b, ref_var(a.slot_w), ref_int(0), a.slot_w->dtype);
  nest_mov(b, ref_var(a.slot_r), ref_int(0), a.slot_r->dtype);
  p->ahead[ix->id] = a.index;
  for (size_t i = 0; i < p->slice.len; i++) {
    const NestStmt *st = p->slice.data[i];
    if (st->code == NEST_NEST || p->ahead[st->dsts[0].var->id]) continue;
    NestVar *v = st->dsts[0].var;
    NestVar *t = nest_var(p->n, v->name, v->dtype, v->elem, 1, true);
    t->div = v->div;
    p->ahead[v->id] = t;
  }
  /* Carried ones: read in the body before they are set there, so they have a value now. */
  for (size_t i = 0; i < p->slice.len; i++) {
    const NestStmt *st = p->slice.data[i];
    if (st->code != NEST_MOV || st->dsts[0].var == ix) continue;
    NestVar *v = st->dsts[0].var;
    nest_mov(b, ref_var(p->ahead[v->id]), ref_var(v), v->dtype);
  }
  return a;
}

static void ring_wait(Pipe *p, NestBuilder *b, int groups) {
  nest_set_int(p->n, nest_stmt(b, NEST_RING_WAIT, 0, 0), NA_groups, groups);
}

static void reads_slot(Pipe *p, const Ahead *a, NestStmt *dot) {
  for (uint32_t i = 0; i < dot->nmems; i++)
    for (size_t k = 0; k < p->pairs.len; k++)
      if (dot->mems[i].buffer && dot->mems[i].buffer == p->pairs.data[k].st->mems[0].buffer) {
        NestBuilder b = {p->n, dot->parent, dot, dot->span};
        dot->mems[i].base = slot_bytes(p, &b, a->slot_r, dot->mems[i].buffer);
      }
}

/* Readers of a ring's buffer outside dots (fragments element by element) add the slot too. */
static void redirect_reads(Pipe *p, const Ahead *a, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_DOT) reads_slot(p, a, st);
    if (st->code != NEST_NEST) continue;
    for (NestStmt *x = st->regions[0]->first; x; x = x->next)
      for (size_t k = 0; k < p->pairs.len && x->code == NEST_LD; k++)
        if (x->mems[0].buffer && x->mems[0].buffer == p->pairs.data[k].st->mems[0].buffer) {
          NestBuilder before = {p->n, b, st, st->span};
          x->mems[0].base = slot_bytes(p, &before, a->slot_r, x->mems[0].buffer);
        }
  }
}

/* The fence behind a store that has become a copy: the copies have their own. */
static void remove_fence(const NestStmt *store) {
  NestStmt *st = store->next;
  if (st && st->code == NEST_FENCE && !strcmp(nest_str(st, NA_kind, ""), "proxy")) nest_remove(st);
}

bool pipe_is_repeated(const NestStmt *st) {
  for (st = st->parent->owner; st; st = st->parent->owner)
    if (st->code == NEST_FOR || st->code == NEST_WHILE) return true;
  return false;
}

static void fence_proxy(Pipe *p, NestBuilder *b) {
  nest_set_str(p->n, nest_stmt(b, NEST_FENCE, 0, 0), NA_kind, "proxy");
}

void pipe_transform(Pipe *p) {
  NestBlock *body = p->loop->regions[0];
  NestBuilder before = {p->n, p->loop->parent, p->loop, p->loop->span};
  for (size_t i = 0; i < p->pairs.len; i++) {
    NestBuffer *buf = p->pairs.data[i].st->mems[0].buffer;
    buf->bytes *= p->depth;
    buf->slots = p->depth;
  }
  Ahead a = make_ahead(p, &before);
  for (int i = 0; i + 1 < p->depth; i++) issue(p, &before, &a);
  redirect_reads(p, &a, body);
  NestStmt *first = body->first;
  NestBuilder head = {p->n, body, first, p->loop->span};
  ring_wait(p, &head, p->depth - 2);
  if (p->through_proxy) fence_proxy(p, &head);
  nest_stmt(&head, NEST_BAR, 0, 0);
  NestBuilder tail = {p->n, body, NULL, p->loop->span};
  if (p->dot) nest_stmt(&tail, NEST_BAR, 0, 0);
  issue(p, p->dot ? &tail : &head, &a);
  advance_slot(p, &tail, a.slot_r);
  for (size_t i = 0; i < p->pairs.len; i++) {
    remove_fence(p->pairs.data[i].store);
    nest_remove(p->pairs.data[i].load);
    nest_remove(p->pairs.data[i].store);
  }
  NestBuilder after = {p->n, p->loop->parent, p->loop->next, p->loop->span};
  if (p->dot) {
    nest_set_int(p->n, p->dot, NA_groups, 1);
    nest_set_int(p->n, nest_stmt(&after, NEST_MMA_WAIT, 0, 0), NA_groups, 0);
  }
  ring_wait(p, &after, 0);
  if (pipe_is_repeated(p->loop)) nest_stmt(&after, NEST_BAR, 0, 0); /* the slots are filled again */
}
