/* Arrays that become scalars once the loops that used them are one. */
#include "lower/thread/fuse_parts.h"

typedef struct {
  const NestBlock *block; /* that holds all references */
  const Affine *sub;      /* of all of them */
  NestStmt *load;         /* the first reference, if that is a load with a guard */
  bool scalar, seen;
} Local;

static void local_ref(Local *locals, const Ref *r, const NestBlock *b, int64_t n, bool defines) {
  if (r->kind != REF_VAR) return;
  Local *x = &locals[r->var->id];
  if (!x->seen) *x = (Local){b, &r->sub, NULL, defines && r->var->count > 1, true};
  if (x->block != b || n != 1 || !affine_eq(x->sub, &r->sub)) x->scalar = false;
}

/* Where the guard of its first load is false, a variable holds nothing, unless a loop that is no
 * chain comes here again. */
static void local_dst(Local *locals, NestStmt *st, const NestBlock *b, bool again) {
  Local *x = &locals[st->dsts[0].var->id];
  bool first = st->code == NEST_LD && st->guard.kind && !x->seen;
  local_ref(locals, &st->dsts[0], b, nest_int(st, NA_n, 1), first ? !again : !st->guard.kind);
  if (first) x->load = st;
}

/* A variable is seen first where its first reference is; if that is no complete write, it holds
 * something from before. */
static void find_locals(Local *locals, const NestBlock *b, bool again) {
  for (NestStmt *st = b->first; st; st = st->next) {
    int64_t n = nest_int(st, NA_n, 1);
    local_ref(locals, &st->guard, b, 1, false);
    for (uint32_t i = 0; i < st->nsrcs; i++) local_ref(locals, &st->srcs[i], b, n, false);
    for (uint32_t i = 0; i < st->nmems; i++) local_ref(locals, &st->mems[i].base, b, 1, false);
    if (st->ndsts) local_dst(locals, st, b, again);
    bool loop = st->code == NEST_FOR || st->code == NEST_WHILE;
    for (uint32_t r = 0; r < st->nregions; r++) find_locals(locals, st->regions[r], again || loop);
  }
}

/* What an element of the array was before its load, the scalar is before each. */
static void undefine(Nest *n, const NestVar *v, NestStmt *load) {
  NestBuilder b = {n, load->parent, load, load->span};
  nest_op(&b, TILE_UNDEF, v->dtype, load->dsts[0], ref_none(), ref_none(), ref_none())->elem =
      v->elem;
}

static void scalar_ref(const Local *locals, Ref *r) {
  if (r->kind == REF_VAR && locals[r->var->id].scalar) r->sub = affine_const(0);
}

static void make_scalars(const Local *locals, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) scalar_ref(locals, &st->dsts[i]);
    for (uint32_t i = 0; i < st->nsrcs; i++) scalar_ref(locals, &st->srcs[i]);
    for (uint32_t i = 0; i < st->nmems; i++) scalar_ref(locals, &st->mems[i].base);
    scalar_ref(locals, &st->guard);
    for (uint32_t r = 0; r < st->nregions; r++) make_scalars(locals, st->regions[r]);
  }
}

void fuse_contract(const Fuse *f) {
  Local *locals = ARENA_ARRAY(f->scratch, Local, f->nest->nvars);
  find_locals(locals, f->nest->body, false);
  make_scalars(locals, f->nest->body);
  for (uint32_t i = 0; i < f->nest->nvars; i++) {
    if (!locals[i].scalar) continue;
    f->nest->vars[i]->count = 1;
    if (locals[i].load) undefine(f->nest, f->nest->vars[i], locals[i].load);
  }
}
