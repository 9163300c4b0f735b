/* Pass prefetch_steps.  A product copies tiles of its operands in each step of its loop.  Where a
 * step is a part of rows that are far apart, processors do not foresee the next part, and the copy
 * waits for each row.  So where a loop's chain (lower/thread/chain.h) copies to shared memory
 *
 *   for %start = 0 to 1024 step 64 {
 *     ...
 *     unroll a:128 { %x = ld [%p + 4096*a]; st [@X + 4*a], %x }
 *
 * and %p is 4*%start + a number that the loop leaves alone, each load comes after a prefetch of
 * what the next step loads there: 256 bytes on, less than from row to row.
 *
 * So does each load that leaves caches first in a loop within one over rows: it comes after a
 * prefetch of what the next row has there. */
#include <stdlib.h>
#include <string.h>

#include "lower/passes.h"
#include "lower/thread/chain.h"

enum {
  DEPTH_MOST = 16, /* definitions gone through for how an address grows */
  LINE_BYTES = 64
};

typedef struct {
  Nest *nest;
  NestStmt **def; /* by variable id, as `ndefs` */
  uint32_t *ndefs;
  uint32_t nvars;
} Steps;

static void find_step_defs(Steps *s, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      s->def[st->dsts[i].var->id] = st;
      s->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t r = 0; r < st->nregions; r++) find_step_defs(s, st->regions[r]);
  }
}

/* ---- growth: how much more a value is where the loop's index is one more, or without a loop the
 * lane ---- */

static bool growth_of(const Steps *s, const NestStmt *loop, const Ref *x, int depth, int64_t *by);

static bool growth_of_op(const Steps *s, const NestStmt *loop, const NestStmt *st, int depth,
                         int64_t *by) {
  int64_t part[3] = {0, 0, 0};
  for (uint32_t i = 0; i < st->nsrcs && i < 3; i++)
    if (!growth_of(s, loop, &st->srcs[i], depth, &part[i])) return false;
  *by = 0;
  if (!part[0] && !part[1] && !part[2]) return true;
  int64_t bytes = dtype_bytes(st->elem);
  const Ref *factor = &st->srcs[1];
  switch (st->op) {
    case TILE_CAST:
    case TILE_HINT: *by = part[0]; return true;
    case TILE_ADD: *by = part[0] + part[1]; return true;
    case TILE_PTR_ADD: *by = part[0] + part[1] * (bytes ? bytes : 1); return true;
    case TILE_MUL:
      return factor->kind == REF_AFFINE && !factor->sub.n &&
             !__builtin_mul_overflow(part[0], factor->sub.c, by);
    default: return false;
  }
}

static bool is_in_loop(const NestStmt *st, const NestStmt *loop) {
  while (st && st != loop) st = st->parent->owner;
  return st != NULL;
}

static bool growth_of(const Steps *s, const NestStmt *loop, const Ref *x, int depth, int64_t *by) {
  *by = 0;
  if (x->kind != REF_VAR || x->var->is_param) return true;
  if (x->var->id >= s->nvars || s->ndefs[x->var->id] != 1) return false;
  const NestStmt *st = s->def[x->var->id];
  if (loop ? st == loop : st->code == NEST_LANE) return *by = 1, true;
  if (loop ? !is_in_loop(st, loop) : st->code == NEST_PID) return true;
  if (st->code == NEST_FOR) return growth_of(s, loop, &st->srcs[0], depth, by); /* a loop within */
  return st->code == NEST_OP && !st->guard.kind && depth < DEPTH_MOST &&
         growth_of_op(s, loop, st, depth + 1, by);
}

/* ---- prefetches ---- */

static bool is_stored_to_shared(const NestBlock *body, const NestVar *v) {
  for (const NestStmt *st = body->first; st; st = st->next)
    if (st->code == NEST_ST && st->mems[0].buffer && st->srcs[0].kind == REF_VAR &&
        st->srcs[0].var == v)
      return true;
  return false;
}

/* The bytes from what the load reads in one step to what it reads in the next; 0: not known. */
static int64_t step_bytes(const Steps *s, const NestStmt *loop, const NestStmt *ld) {
  const Ref *step = &loop->srcs[2];
  int64_t by, bytes;
  bool copies = ld->code == NEST_LD && !ld->mems[0].buffer && nest_int(ld, NA_n, 1) == 1 &&
                !nest_int(ld, NA_volatile, 0) && ld->mems[0].base.kind == REF_VAR;
  if (!copies || step->kind != REF_AFFINE || step->sub.n) return 0;
  if (!growth_of(s, loop, &ld->mems[0].base, 0, &by)) return 0;
  return __builtin_mul_overflow(by, step->sub.c, &bytes) ? 0 : bytes;
}

/* Are rows further apart than a step goes on in them? */
static bool passes_rows(const Mem *m, const Chain *c, int64_t bytes) {
  bool passes = false;
  for (int i = 0; i < c->depth; i++)
    passes |= llabs(chain_coefficient(&m->bytes, c, i)) > llabs(bytes);
  return passes;
}

static void prefetch_copy(const Steps *s, const NestStmt *loop, const Chain *c) {
  for (NestStmt *ld = c->body->first; ld; ld = ld->next) {
    int64_t bytes = step_bytes(s, loop, ld);
    if (!bytes || !passes_rows(&ld->mems[0], c, bytes)) continue;
    if (!is_stored_to_shared(c->body, ld->dsts[0].var)) continue;
    NestBuilder b = {s->nest, c->body, ld, ld->span};
    Mem *m = &nest_stmt(&b, NEST_PREFETCH, 0, 0)->mems[0];
    *m = ld->mems[0];
    m->bytes.c += bytes;
  }
}

/* ---- rows ---- */

static bool leaves_first(const NestStmt *st) {
  return st->code == NEST_LD && !st->mems[0].buffer && !st->guard.kind &&
         !strcmp(nest_str(st, NA_evict, ""), "evict_first");
}

/* Does y load the elements after those of x, so that both are pairs of neighbours? */
static bool are_pairs(const NestStmt *x, const NestStmt *y) {
  const Mem *m = &x->mems[0], *of = y ? &y->mems[0] : NULL;
  return y && leaves_first(y) && of->base.kind == REF_VAR && m->base.var == of->base.var &&
         !m->bytes.n && !of->bytes.n && of->bytes.c - m->bytes.c == dtype_bytes(x->type);
}

/* Asks for the lines of a load, or of a pair of them, `bytes` on. */
static void prefetch_row(const Steps *s, NestStmt *ld, int64_t bytes, bool pair) {
  int64_t vector = s->nest->lanes * dtype_bytes(ld->type);
  for (int64_t at = 0; at < (pair ? 2 : 1) * vector; at += LINE_BYTES) {
    NestBuilder b = {s->nest, ld->parent, ld, ld->span};
    Mem *m = &nest_stmt(&b, NEST_PREFETCH, 0, 0)->mems[0];
    *m = ld->mems[0];
    m->bytes.c += bytes + at;
  }
}

/* Bytes from lane to lane, if each is in another line; else 0. */
static int64_t lane_step(const Steps *s, const NestStmt *ld) {
  int64_t by;
  if (ld->mems[0].base.kind != REF_VAR || !growth_of(s, NULL, &ld->mems[0].base, 0, &by)) return 0;
  return by >= LINE_BYTES ? by : 0;
}

/* Loads of rows that are lanes, an element after each other, before which their next rows are asked
 * for, one for each load.  Gives the last one. */
static NestStmt *prefetch_lanes(const Steps *s, NestStmt *first, int64_t bytes, int64_t step) {
  NestStmt *last = first;
  for (int lane = 0;; lane++) {
    NestBuilder b = {s->nest, first->parent, first, first->span};
    Mem *m = &nest_stmt(&b, NEST_PREFETCH, 0, 0)->mems[0];
    *m = first->mems[0];
    m->bytes.c += bytes + lane * step;
    NestStmt *next = last->next;
    if (lane + 1 == s->nest->lanes || !are_pairs(last, next)) return last;
    last = next;
  }
}

/* Do the loops between step on in memory?  What a load reads after one that does not comes before
 * the next row. */
static bool follows_rows(const Steps *s, const NestStmt *rows, const NestStmt *ld) {
  int64_t by;
  for (const NestStmt *at = ld->parent->owner; at && at != rows; at = at->parent->owner)
    if (at->code == NEST_FOR && !growth_of(s, at, &ld->mems[0].base, 0, &by)) return false;
  return true;
}

/* Bytes from what a load in a loop over rows reads to what it reads in the next row, or 0. */
static int64_t row_bytes(const Steps *s, const NestStmt *rows, const NestStmt *ld) {
  int64_t bytes = step_bytes(s, rows, ld);
  return bytes && follows_rows(s, rows, ld) ? bytes : 0;
}

/* Takes away what pass prefetch asks for before loads whose next rows are known. */
static void remove_others(const Steps *s, const NestStmt *rows, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next)
    if (leaves_first(st) && st->prev && st->prev->code == NEST_PREFETCH && row_bytes(s, rows, st))
      nest_remove(st->prev);
}

/* Loads of loops in that over rows. */
static void prefetch_rows(const Steps *s, const NestStmt *rows, const NestBlock *b, bool looped) {
  if (looped) remove_others(s, rows, b);
  for (NestStmt *st = b->first; st; st = st->next) {
    if (st->code == NEST_FOR)
      for (uint32_t r = 0; r < st->nregions; r++) prefetch_rows(s, rows, st->regions[r], true);
    if (!looped || !leaves_first(st)) continue;
    int64_t bytes = row_bytes(s, rows, st), step = lane_step(s, st);
    bool pair = are_pairs(st, st->next);
    if (bytes && step) st = prefetch_lanes(s, st, bytes, step);
    else if (bytes) prefetch_row(s, st, bytes, pair);
    if (pair && !step) st = st->next;
  }
}

static void walk_loops(const Steps *s, const NestBlock *b, const NestStmt *loop) {
  for (NestStmt *st = b->first; st; st = st->next) {
    Chain c = chain_of(st);
    if (c.depth && loop) prefetch_copy(s, loop, &c);
    if (c.depth) continue;
    if (!loop && st->code == NEST_FOR) prefetch_rows(s, st, st->regions[0], false);
    for (uint32_t r = 0; r < st->nregions; r++)
      walk_loops(s, st->regions[r], st->code == NEST_FOR ? st : NULL);
  }
}

bool pass_prefetch_steps(Unit *u) {
  Arena *scratch = arena_child(u->arena);
  uint32_t n = u->nest->nvars;
  Steps s = {u->nest, ARENA_ARRAY(scratch, NestStmt *, n), ARENA_ARRAY(scratch, uint32_t, n), n};
  find_step_defs(&s, u->nest->body);
  walk_loops(&s, u->nest->body, NULL);
  arena_free(scratch);
  return true;
}
