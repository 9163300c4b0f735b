/* Pass peel_masks: mask peeling and early exit of loops over a row that is shorter than its block.
 *
 * The elements of a row are the iterations of chains (lower/thread/chain.h), and its mask is true
 * in the first of them:
 *
 *   unroll a:512 {
 *     %c = add %lane, (8*a)
 *     %in[a] = lt %c, %n
 *     %x[a] = mov 0.0
 *     %x[a] = ld [%p + 32*a] if %in[a]
 *   }
 *
 * Such a loop becomes an unmasked one over the full vectors and a masked remainder.  Bounds are a
 * multiple of `unit` iterations, the same for all loops over the row.
 *
 * Most often all loops over the row may also exit early, soon after its last element (the first
 * part of this file): values computed there are the same in every iteration, only other such loops
 * read them, and a reduction that has seen such a value once has seen it all, or adds zeros. */
#include <string.h>

#include "lower/lower.h"
#include "lower/passes.h"
#include "lower/thread/chain.h"

/* A loop over the row. */
typedef struct {
  NestStmt *st;
  Chain chain;
  int64_t inner; /* iterations in one of the outermost loop */
  bool masked;   /* the mask is a guard or decides a select */
  bool ends;     /* exits after the row's last element */
} RowPart;

typedef struct {
  Nest *nest;
  Arena *scratch;
  uint32_t nvars;
  NestStmt **def;         /* by variable id; of several definitions the last */
  uint32_t *ndefs, *refs; /* by variable id; refs: definitions too */
  /* the row at hand */
  Ref length;
  int64_t total; /* iterations of each part */
  int64_t unit;
  bool *mask;         /* by variable id */
  VEC(RowPart) parts; /* in order, all in one block */
} Row;

enum { STMT_REFS = 16 };

/* acc = op acc, x, for an acc that all iterations of the outermost loop share. */
typedef enum {
  FOLD_NONE,
  FOLD_ONCE, /* the same x once more changes nothing */
  FOLD_ADDS  /* nor does a zero, once there was one */
} FoldKind;

static uint32_t row_refs(const NestStmt *st, const Ref *refs[STMT_REFS]);
static bool row_is_mask(const Row *r, const Chain *c, const Ref *x);

/* ======== early exit ======== */

/* The loops over a row that may end after its last element.  After it the mask is false.  A loop
 * may end there if all that it does is
 *
 *   storing           under the mask, which is nothing
 *   computing arrays  an element an iteration, that only loops read which end as well
 *   reducing          values that are the same in each of these iterations and lanes: those that
 *                     the mask keeps, and those computed from them, from constants and from
 *                     scalars that the program shares
 *
 * All loops are assumed to end at first; those that must not are dropped, and with them others, up
 * to the fixed point. */

typedef struct {
  const Row *r;
  bool *same;       /* by variable id: in all lanes of all iterations after the row */
  bool *seen;       /* by variable id */
  bool *begun;      /* the first reference is a definition of every element */
  uint32_t *inside; /* references of elements by their iteration, in loops that end */
} EarlyExit;

static FoldKind fold_kind(const Chain *c, const NestStmt *st) {
  if (st->code != NEST_OP || st->nsrcs != 2 || st->guard.kind || st->type == DT_I1)
    return FOLD_NONE;
  const Ref *acc = &st->dsts[0], *x = &st->srcs[0];
  bool updates = x->kind == REF_VAR && x->var == acc->var && affine_eq(&x->sub, &acc->sub);
  bool itself = st->srcs[1].kind == REF_VAR && st->srcs[1].var == acc->var;
  if (!updates || itself || chain_coefficient(&acc->sub, c, 0)) return FOLD_NONE;
  switch (st->op) {
    case TILE_MIN:
    case TILE_MAX:
    case TILE_MIN_NAN:
    case TILE_MAX_NAN:
    case TILE_AND:
    case TILE_OR: return FOLD_ONCE;
    case TILE_ADD: return FOLD_ADDS;
    default: return FOLD_NONE;
  }
}

static uint32_t refs_in(const NestBlock *body, const NestVar *v) {
  uint32_t found = 0;
  for (const NestStmt *st = body->first; st; st = st->next) {
    const Ref *refs[STMT_REFS];
    uint32_t n = row_refs(st, refs);
    for (uint32_t i = 0; i < n; i++) found += refs[i]->kind == REF_VAR && refs[i]->var == v;
  }
  return found;
}

/* ---- what is the same ---- */

static bool same_ref(const EarlyExit *t, const Chain *c, const Ref *x) {
  if (x->kind == REF_AFFINE) return !x->sub.n;
  if (x->kind != REF_VAR) return true;
  const NestVar *v = x->var;
  if (row_is_mask(t->r, c, x)) return true;
  bool from_outside = !t->r->def[v->id] || t->r->def[v->id]->parent != c->body;
  if (v->uniform && v->count == 1 && from_outside) return true;
  return t->same[v->id] && (v->count == 1 || chain_linear(&x->sub, c, 1));
}

static bool same_result(const EarlyExit *t, const Chain *c, const NestStmt *st) {
  if (st->code == NEST_OP && st->op == TILE_UNDEF) return false;
  if (row_is_mask(t->r, c, &st->dsts[0])) return true;
  if (st->code != NEST_OP && st->code != NEST_MOV) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (!same_ref(t, c, &st->srcs[i])) return false;
  return true;
}

/* Can the statement be left out after the row?  Notes which of its results are then uniform. */
static bool is_skippable(EarlyExit *t, const Chain *c, const NestStmt *st) {
  bool off = row_is_mask(t->r, c, &st->guard);
  if (nest_int(st, NA_n, 1) != 1) return false;
  unsigned flags = nest_flags(st);
  if (st->code == NEST_PREFETCH) return true;
  if (flags & NEST_IS_WRITE) return off;
  if (!nest_is_removable(st) || (flags & NEST_IS_PRODUCT)) return false;
  if (fold_kind(c, st)) return same_ref(t, c, &st->srcs[1]);
  if (!off) t->same[st->dsts[0].var->id] = !st->guard.kind && same_result(t, c, st);
  return true;
}

/* ---- who reads it ---- */

static void note_refs(EarlyExit *t, const Chain *c, const NestStmt *st) {
  const Ref *refs[STMT_REFS];
  uint32_t n = row_refs(st, refs);
  for (uint32_t i = 0; i < n; i++) {
    if (refs[i]->kind != REF_VAR || !chain_linear(&refs[i]->sub, c, 1)) continue;
    uint32_t id = refs[i]->var->id;
    if (!t->seen[id]) t->begun[id] = i + st->ndsts >= n && !st->guard.kind;
    t->seen[id] = true;
    t->inside[id]++;
  }
}

static bool stays_inside(const EarlyExit *t, const Chain *c) {
  for (const NestStmt *st = c->body->first; st; st = st->next) {
    if (!st->ndsts) continue;
    const NestVar *v = st->dsts[0].var;
    uint32_t refs = t->r->refs[v->id];
    if (fold_kind(c, st) ? refs_in(c->body, v) != 2
        : v->count == 1  ? refs_in(c->body, v) != refs
                         : t->inside[v->id] != refs || !t->begun[v->id])
      return false;
  }
  return true;
}

/* ---- all parts ---- */

/* Marks those that must not end; false if there are none. */
static bool drop_parts(EarlyExit *t) {
  Row *r = (Row *)t->r;
  size_t bytes = r->nvars * sizeof(bool);
  memset(t->same, 0, bytes);
  memset(t->seen, 0, bytes);
  memset(t->inside, 0, r->nvars * sizeof *t->inside);
  bool dropped = false;
  for (size_t i = 0; i < r->parts.len; i++) {
    RowPart *p = &r->parts.data[i];
    for (const NestStmt *st = p->chain.body->first; st && p->ends; st = st->next) {
      note_refs(t, &p->chain, st);
      if (!is_skippable(t, &p->chain, st)) p->ends = false, dropped = true;
    }
  }
  for (size_t i = 0; i < r->parts.len && !dropped; i++) {
    RowPart *p = &r->parts.data[i];
    if (p->ends && !stays_inside(t, &p->chain)) p->ends = false, dropped = true;
  }
  return dropped;
}

/* Sets `ends` of the parts. */
static void find_early_exits(Row *r) {
  EarlyExit t = {r, ARENA_ARRAY(r->scratch, bool, r->nvars),
                 ARENA_ARRAY(r->scratch, bool, r->nvars), ARENA_ARRAY(r->scratch, bool, r->nvars),
                 ARENA_ARRAY(r->scratch, uint32_t, r->nvars)};
  for (size_t i = 0; i < r->parts.len; i++) r->parts.data[i].ends = true;
  while (drop_parts(&t)) continue;
}

/* ======== mask peeling ======== */

enum {
  LEAST_ITERATIONS = 64, /* of a chain: shorter ones gain little */
  MOST_INNER = 8,        /* iterations in one of the outermost loop */
  MOST_BODY = 32         /* statements: they are printed twice */
};

/* ---- references ---- */

/* The references of a statement, reads first; returns how many. */
static uint32_t row_refs(const NestStmt *st, const Ref *refs[STMT_REFS]) {
  uint32_t n = 0;
  BUG_IF(st->nsrcs + st->nmems + st->ndsts >= STMT_REFS, "a statement of many operands");
  for (uint32_t i = 0; i < st->nsrcs; i++) refs[n++] = &st->srcs[i];
  for (uint32_t i = 0; i < st->nmems; i++) refs[n++] = &st->mems[i].base;
  if (st->guard.kind) refs[n++] = &st->guard;
  for (uint32_t i = 0; i < st->ndsts; i++) refs[n++] = &st->dsts[i];
  return n;
}

static void count_refs(Row *r, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    const Ref *refs[STMT_REFS];
    uint32_t n = row_refs(st, refs);
    for (uint32_t i = 0; i < n; i++)
      if (refs[i]->kind == REF_VAR) r->refs[refs[i]->var->id]++;
    for (uint32_t i = 0; i < st->ndsts; i++) {
      r->def[st->dsts[i].var->id] = st;
      r->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t k = 0; k < st->nregions; k++) count_refs(r, st->regions[k]);
  }
}

static const NestStmt *row_definition(const Row *r, const Ref *x) {
  bool scalar = x->kind == REF_VAR && x->var->count == 1;
  return scalar && r->ndefs[x->var->id] == 1 ? r->def[x->var->id] : NULL;
}

/* ---- masks ---- */

/* lane + lanes * iteration */
static bool is_position(const Row *r, const Chain *c, const Ref *x) {
  const NestStmt *d = row_definition(r, x);
  if (!d || d->parent != c->body || d->code != NEST_OP || d->op != TILE_ADD || d->guard.kind)
    return false;
  bool first = d->srcs[0].kind == REF_VAR;
  const NestStmt *lane = row_definition(r, &d->srcs[!first]);
  const Ref *offset = &d->srcs[first];
  return lane && lane->code == NEST_LANE && offset->kind == REF_AFFINE &&
         chain_linear(&offset->sub, c, r->nest->lanes);
}

static bool is_length(const Row *r, const Ref *x) {
  if (x->kind == REF_AFFINE) return !x->sub.n;
  return x->kind == REF_VAR && x->var->count == 1 && x->var->uniform && r->ndefs[x->var->id] <= 1;
}

static bool is_same_length(const Ref *a, const Ref *b) {
  return a->kind == b->kind && a->var == b->var && affine_eq(&a->sub, &b->sub);
}

/* The length in a statement that defines a row's mask, NULL in others. */
static const Ref *length_in(const Row *r, const Chain *c, const NestStmt *st) {
  bool up = st->op == TILE_LT;
  if (st->code != NEST_OP || (!up && st->op != TILE_GT) || st->type != DT_I32 || st->guard.kind)
    return NULL;
  const Ref *dst = &st->dsts[0], *length = &st->srcs[up];
  bool whole = dst->var->count == 1 || chain_linear(&dst->sub, c, 1);
  bool found = whole && r->ndefs[dst->var->id] == 1 && is_length(r, length) &&
               is_position(r, c, &st->srcs[!up]);
  return found ? length : NULL;
}

static bool row_is_mask(const Row *r, const Chain *c, const Ref *x) {
  return x->kind == REF_VAR && x->var->id < r->nvars && r->mask[x->var->id] &&
         (x->var->count == 1 || chain_linear(&x->sub, c, 1));
}

static bool selects(const Row *r, const Chain *c, const NestStmt *st) {
  return st->code == NEST_OP && st->op == TILE_SELECT && row_is_mask(r, c, &st->srcs[0]);
}

/* ---- finding a row ---- */

static void add_masks(Row *r, const RowPart *p) {
  for (const NestStmt *st = p->chain.body->first; st; st = st->next) {
    const Ref *length = length_in(r, &p->chain, st);
    if (length && is_same_length(length, &r->length)) r->mask[st->dsts[0].var->id] = true;
  }
}

static bool is_masked(const Row *r, const RowPart *p) {
  bool masked = false;
  int n = 0;
  for (const NestStmt *st = p->chain.body->first; st; st = st->next, n++)
    masked |= row_is_mask(r, &p->chain, &st->guard) || selects(r, &p->chain, st);
  return masked && n <= MOST_BODY;
}

/* The chains from st on that go over the row; false if no mask could be left out of them. */
static bool find_masked_row(Row *r, NestStmt *st, const Ref *length, int64_t total) {
  r->length = *length;
  r->total = total;
  r->unit = 1;
  r->parts.len = 0;
  memset(r->mask, 0, r->nvars * sizeof *r->mask);
  bool masked = false;
  for (; st; st = st->next) {
    RowPart p = {.st = st, .chain = chain_of(st)};
    if (!p.chain.depth || chain_extent(&p.chain, 0) != total) continue;
    p.inner = chain_extent(&p.chain, 1);
    if (p.inner > MOST_INNER || (p.inner % r->unit && r->unit % p.inner)) continue;
    if (p.inner > r->unit) r->unit = p.inner;
    add_masks(r, &p);
    p.masked = is_masked(r, &p);
    masked |= p.masked;
    vec_push(r->scratch, &r->parts, p);
  }
  return masked;
}

/* ---- copies ---- */

/* Loops of a part without their body, at the builder, which then is inside. */
static NestStmt *copy_loops(NestBuilder *b, const RowPart *p, Ref from, Ref to) {
  NestStmt *outermost = nest_stmt(b, NEST_SERIAL, 0, 2);
  outermost->srcs[0] = from;
  outermost->srcs[1] = to;
  for (int i = 0; i < p->chain.depth; i++) {
    NestStmt *loop = i ? nest_stmt(b, NEST_UNROLL, 0, 0) : outermost;
    loop->index = p->chain.index[i];
    b->block = nest_block(b->nest, loop);
    b->before = NULL;
  }
  return outermost;
}

/* ---- loops over full vectors ---- */

static bool stmt_reads(const NestStmt *st, const NestVar *v) {
  const Ref *refs[STMT_REFS];
  uint32_t n = row_refs(st, refs);
  for (uint32_t i = 0; i + st->ndsts < n; i++)
    if (refs[i]->kind == REF_VAR && refs[i]->var == v) return true;
  return false;
}

/* Removes the default that a load overwrites, now that it has no guard. */
static void drop_before(NestStmt *load) {
  const Ref *dst = &load->dsts[0];
  if (load->code != NEST_LD || stmt_reads(load, dst->var)) return;
  for (NestStmt *st = load->prev; st && !stmt_reads(st, dst->var); st = st->prev) {
    if (!st->ndsts || st->dsts[0].var != dst->var) continue;
    bool value = st->code == NEST_MOV || st->code == NEST_OP;
    if (value && affine_eq(&st->dsts[0].sub, &dst->sub) && nest_int(st, NA_n, 1) == 1)
      nest_remove(st);
    return;
  }
}

static void without_mask(const Row *r, const Chain *c, NestStmt *st) {
  if (selects(r, c, st)) {
    st->code = NEST_MOV;
    st->srcs[0] = st->srcs[1];
    st->nsrcs = 1;
  }
  if (!row_is_mask(r, c, &st->guard)) return;
  st->guard = ref_none();
  drop_before(st);
}

/* Is every use of a mask, wherever, one that its full loops do without? */
static bool mask_goes(const Row *r, const NestVar *v) {
  uint32_t uses = 1;
  for (size_t i = 0; i < r->parts.len; i++) {
    const RowPart *p = &r->parts.data[i];
    for (const NestStmt *st = p->chain.body->first; st && p->masked; st = st->next) {
      bool guard = row_is_mask(r, &p->chain, &st->guard) && st->guard.var == v;
      bool select = selects(r, &p->chain, st) && st->srcs[0].var == v;
      uses += (uint32_t)guard + (uint32_t)select;
    }
  }
  return uses == r->refs[v->id];
}

/* Operands of a removed mask alone are removed too. */
static bool is_removed(const Row *r, const Chain *c, const NestStmt *st) {
  if (!st->ndsts) return false;
  const NestVar *v = st->dsts[0].var;
  if (row_is_mask(r, c, &st->dsts[0])) return mask_goes(r, v);
  if (r->refs[v->id] != 2 || !is_position(r, c, &st->dsts[0])) return false;
  for (const NestStmt *x = st->next; x; x = x->next)
    if (stmt_reads(x, v)) return x->ndsts && row_is_mask(r, c, &x->dsts[0]) && is_removed(r, c, x);
  return false;
}

/* Scalars that live in one iteration get names of their own in the copy. */
typedef struct {
  NestVar **fresh; /* by variable id */
  uint32_t *inside;
} Renames;

static void find_local_vars(const Row *r, Renames *x, const NestBlock *body) {
  for (const NestStmt *st = body->first; st; st = st->next) {
    const Ref *refs[STMT_REFS];
    uint32_t n = row_refs(st, refs);
    for (uint32_t i = 0; i < n; i++) {
      const NestVar *v = refs[i]->kind == REF_VAR ? refs[i]->var : NULL;
      bool begins = i + st->ndsts >= n && !st->guard.kind;
      if (v && v->count == 1 && (begins || x->inside[v->id])) x->inside[v->id]++;
    }
  }
  for (const NestStmt *st = body->first; st; st = st->next) {
    NestVar *v = st->ndsts ? st->dsts[0].var : NULL;
    if (v && x->inside[v->id] == r->refs[v->id] && !x->fresh[v->id])
      x->fresh[v->id] = nest_var(r->nest, v->name, v->dtype, v->elem, 1, v->uniform);
  }
}

static void rename_local_ref(const Row *r, const Renames *x, Ref *ref) {
  if (ref->kind != REF_VAR || ref->var->id >= r->nvars || !x->fresh[ref->var->id]) return;
  ref->var = x->fresh[ref->var->id];
}

static void rename_local_stmt(const Row *r, const Renames *x, NestStmt *st) {
  for (uint32_t i = 0; i < st->ndsts; i++) rename_local_ref(r, x, &st->dsts[i]);
  for (uint32_t i = 0; i < st->nsrcs; i++) rename_local_ref(r, x, &st->srcs[i]);
  for (uint32_t i = 0; i < st->nmems; i++) rename_local_ref(r, x, &st->mems[i].base);
  rename_local_ref(r, x, &st->guard);
}

static void full_loop(const Row *r, const RowPart *p, Ref to) {
  Renames x = {ARENA_ARRAY(r->scratch, NestVar *, r->nvars),
               ARENA_ARRAY(r->scratch, uint32_t, r->nvars)};
  find_local_vars(r, &x, p->chain.body);
  NestBuilder b = {r->nest, p->st->parent, p->st, p->st->span};
  copy_loops(&b, p, ref_int(0), to);
  for (const NestStmt *st = p->chain.body->first; st; st = st->next)
    if (!is_removed(r, &p->chain, st)) without_mask(r, &p->chain, nest_copy(&b, st));
  for (NestStmt *st = b.block->first; st; st = st->next) rename_local_stmt(r, &x, st);
}

/* ---- sums after the row ---- */

/* The loop st has ended, its last iteration after the row: what it added there is added as often
 * as the row has more iterations, unless it is zero. */
static void add_remainder(const Row *r, const RowPart *p, NestStmt *fold, Ref end) {
  DType t = fold->type;
  Ref last = ref_var(nest_var(r->nest, "last", t, DT_NONE, 1, false));
  Ref x = ref_var(nest_var(r->nest, NULL, t, DT_NONE, 1, true));
  Ref more = ref_var(nest_var(r->nest, NULL, DT_I1, DT_NONE, 1, true));
  Ref from = ref_var(nest_var(r->nest, "from", DT_I32, DT_NONE, 1, true));
  Ref extent = ref_int(p->chain.index[0]->extent);

  NestBuilder b = {r->nest, p->st->parent, p->st, fold->span};
  nest_mov(&b, last, ref_zero(t), t);
  b = (NestBuilder){r->nest, fold->parent, fold->next, fold->span};
  nest_mov(&b, last, fold->srcs[1], t);

  b = (NestBuilder){r->nest, p->st->parent, p->st->next, fold->span};
  NestStmt *shfl = nest_stmt(&b, NEST_SHFL, 1, 2);
  shfl->dsts[0] = x, shfl->srcs[0] = last, shfl->srcs[1] = ref_int(0), shfl->type = t;
  nest_set_str(r->nest, shfl, NA_mode, "idx");
  nest_op(&b, TILE_NE, t, more, x, ref_zero(t), ref_none());
  nest_op(&b, TILE_SELECT, DT_I32, from, more, end, extent);
  copy_loops(&b, p, from, extent);
  nest_copy(&b, fold)->srcs[1] = last;
}

/* ---- splitting ---- */

static Ref uniform_op(NestBuilder *b, TileCode op, Ref x, int64_t y) {
  Ref dst = ref_var(nest_var(b->nest, NULL, DT_I32, DT_NONE, 1, true));
  nest_op(b, op, DT_I32, dst, x, ref_int(y), ref_none());
  return dst;
}

/* A loop that ends has the unit with the last element after the full ones, and at least one that
 * is all after the row. */
static void split_part(const Row *r, const RowPart *p, Ref units) {
  if (!p->masked && !p->ends) return;
  int64_t by = r->unit / p->inner;
  NestBuilder b = {r->nest, p->st->parent, p->st, p->st->span};
  Ref full = by == 1 ? units : uniform_op(&b, TILE_MUL, units, by);
  Ref from = p->masked ? full : ref_int(0), to = ref_int(p->chain.index[0]->extent);
  if (p->ends) to = uniform_op(&b, TILE_ADD, full, 2 * by);
  if (p->masked) full_loop(r, p, full);
  for (NestStmt *st = p->chain.body->first; st && p->ends; st = st->next)
    if (fold_kind(&p->chain, st) == FOLD_ADDS) add_remainder(r, p, st, to);
  p->st->code = NEST_SERIAL;
  p->st->srcs = ARENA_ARRAY(r->nest->arena, Ref, 2);
  p->st->nsrcs = 2;
  p->st->srcs[0] = from;
  p->st->srcs[1] = to;
}

static void split_row(Row *r) {
  find_early_exits(r);
  NestStmt *first = r->parts.data[0].st;
  NestBuilder b = {r->nest, first->parent, first, first->span};
  Ref length = uniform_op(&b, TILE_MAX, r->length, 0);
  Ref units = uniform_op(&b, TILE_DIV, length, r->nest->lanes * r->unit);
  for (size_t i = 0; i < r->parts.len; i++) split_part(r, &r->parts.data[i], units);
}

static void split_block(Row *r, NestBlock *b) {
  for (NestStmt *st = b->first, *next; st; st = next) {
    next = st->next;
    Chain c = chain_of(st);
    int64_t total = c.depth ? chain_extent(&c, 0) : 0;
    for (const NestStmt *x = total >= LEAST_ITERATIONS ? c.body->first : NULL; x; x = x->next) {
      const Ref *length = length_in(r, &c, x);
      if (!length || !find_masked_row(r, st, length, total)) continue;
      split_row(r);
      break;
    }
    for (uint32_t k = 0; k < st->nregions && st->code != NEST_UNROLL; k++)
      split_block(r, st->regions[k]);
  }
}

bool pass_peel_masks(Unit *u) {
  Nest *n = u->nest;
  Arena *scratch = arena_child(u->arena);
  Row r = {.nest = n,
           .scratch = scratch,
           .nvars = n->nvars,
           .def = ARENA_ARRAY(scratch, NestStmt *, n->nvars),
           .ndefs = ARENA_ARRAY(scratch, uint32_t, n->nvars),
           .refs = ARENA_ARRAY(scratch, uint32_t, n->nvars),
           .mask = ARENA_ARRAY(scratch, bool, n->nvars)};
  count_refs(&r, n->body);
  split_block(&r, n->body);
  arena_free(scratch);
  return true;
}
