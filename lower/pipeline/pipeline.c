/* Pass pipeline: software pipelining of loops around a dot.
 *
 * Operands that are loaded from global memory and stored to shared memory as they are become
 * asynchronous copies that run ahead: their buffers become rings, and the statements that compute
 * their addresses run ahead with them, on variables of their own.  A loop of D stages, for
 * iteration i, after the pass:
 *
 *   D-1 times: copy(ahead) ; commit ; advance          the first D-1 iterations' operands
 *   for i { wait until D-2 groups are open ; bar
 *           copy(ahead) if there is such an iteration ; commit ; advance
 *           the rest of the body, on slot i % D }
 *   wait for all
 *
 * The barrier shows iteration i's operands to all threads, and tells that all are done with the
 * slot of iteration i-1, which is the one that the copy then fills.
 *
 * A warpgroup's dot that alone makes up the rest of the body still runs in the next iteration, so
 * that the matrix units have work while threads wait: it returns when only its own group is open.
 * Then all are done with the slot of iteration i-1, which a second barrier tells, and the copies
 * come after it. */
#include "lower/passes.h"

#include "lower/pipeline/pipeline_parts.h"
#include "lower/target/atoms.h"

static bool has_dot(const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next)
    if (st->code == NEST_DOT) return true;
  return false;
}

static int64_t pair_bytes(const Pipe *p) {
  int64_t n = 0;
  for (size_t i = 0; i < p->pairs.len; i++) n += p->pairs.data[i].st->mems[0].buffer->bytes;
  return n;
}

static bool in_ring(const Pipe *p, const NestBuffer *b) {
  for (size_t i = 0; b && i < p->pairs.len; i++)
    if (p->pairs.data[i].st->mems[0].buffer == b) return true;
  return false;
}

/* Where a buffer is used, seen from the loop. */
enum { BEFORE = 1, INSIDE = 2, AFTER = 4 };

typedef struct {
  const Pipe *p;
  uint8_t *where; /* by buffer id */
  uint8_t now;
  bool combines; /* a reduction inside: bind may give it a buffer */
} Uses;

static void note_uses(Uses *u, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    bool loop = st == u->p->loop;
    if (loop) u->now = INSIDE;
    if (u->now == INSIDE) u->combines |= st->code == NEST_REDUCE || st->code == NEST_SCAN;
    for (uint32_t i = 0; i < st->nmems; i++)
      if (st->mems[i].buffer) u->where[st->mems[i].buffer->id] |= u->now;
    for (uint32_t r = 0; r < st->nregions; r++) note_uses(u, st->regions[r]);
    if (loop) u->now = AFTER;
  }
}

/* Shared memory that others than the rings need while the loop runs. */
static int64_t other_bytes(const Pipe *p) {
  enum { COMBINE_BYTES = 16384 };
  Uses u = {p, ARENA_ARRAY(p->scratch, uint8_t, p->n->nbuffers + 1), BEFORE, false};
  note_uses(&u, p->n->body);
  int64_t sum = 0, most = p->u->machine->shared / 2;
  for (uint32_t i = 0; i < p->n->nbuffers; i++) {
    bool alive = u.where[i] & INSIDE || u.where[i] == (BEFORE | AFTER) ||
                 (u.where[i] && pipe_is_repeated(p->loop));
    if (alive && !in_ring(p, p->n->buffers[i])) sum += p->n->buffers[i]->bytes;
  }
  if (u.combines) sum += COMBINE_BYTES;
  return sum < most ? sum : most;
}

static bool is_group_dot(const NestStmt *st) {
  const Atom *atom = st->code == NEST_DOT ? atom_find(nest_str(st, NA_atom, "")) : NULL;
  return atom && atom->warps > 1;
}

static bool is_pair(const Pipe *p, const NestStmt *st) {
  for (size_t i = 0; i < p->pairs.len; i++)
    if (p->pairs.data[i].load == st || p->pairs.data[i].store == st) return true;
  return false;
}

static bool touches(const NestStmt *st, const NestVar *v) {
  if (pipe_writes(st, v)) return true;
  for (uint32_t i = 0; i < st->nsrcs; i++)
    if (st->srcs[i].kind == REF_VAR && st->srcs[i].var == v) return true;
  for (uint32_t r = 0; r < st->nregions; r++)
    for (const NestStmt *x = st->regions[r]->first; x; x = x->next)
      if (touches(x, v)) return true;
  return false;
}

/* The body's one dot, if it reads rings alone and nothing else in the loop touches its result. */
static NestStmt *lone_dot(const Pipe *p) {
  NestStmt *dot = NULL;
  const NestBlock *body = p->loop->regions[0];
  for (NestStmt *st = body->first; st; st = st->next) {
    if (st->code != NEST_DOT) continue;
    if (dot || !is_group_dot(st)) return NULL;
    dot = st;
  }
  if (!dot || !in_ring(p, dot->mems[0].buffer) || !in_ring(p, dot->mems[1].buffer)) return NULL;
  for (const NestStmt *st = body->first; st; st = st->next)
    if (st != dot && !is_pair(p, st) && touches(st, dot->dsts[0].var)) return NULL;
  return dot;
}

static bool reads_by_proxy(const Pipe *p) {
  for (const NestStmt *st = p->loop->regions[0]->first; st; st = st->next)
    if (is_group_dot(st) && (in_ring(p, st->mems[0].buffer) || in_ring(p, st->mems[1].buffer)))
      return true;
  return false;
}

/* A loop that counts up by a constant; fewer stages where shared memory would not hold them. */
static bool plan(Pipe *p) {
  const Ref *step = &p->loop->srcs[2];
  if (step->kind != REF_AFFINE || step->sub.c <= 0 || !has_dot(p->loop->regions[0])) return false;
  p->depth = (int)nest_int(p->loop, NA_stages, p->n->options.num_stages);
  pipe_find_pairs(p);
  if (!p->pairs.len || !pipe_collect_slice(p) || !pipe_defs_are_on_top(p)) return false;
  int64_t others = other_bytes(p);
  while (p->depth > 1 && pair_bytes(p) * p->depth + others > p->u->machine->shared) p->depth--;
  p->through_proxy = reads_by_proxy(p);
  p->dot = p->depth >= 3 ? lone_dot(p) : NULL;
  return p->depth >= 2;
}

static void visit(Unit *u, NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t r = 0; r < st->nregions; r++) visit(u, st->regions[r]);
    if (st->code != NEST_FOR) continue;
    Pipe p = {.u = u,
              .n = u->nest,
              .scratch = arena_child(u->arena),
              .loop = st,
              .nvars = u->nest->nvars};
    p.needed = ARENA_ARRAY(p.scratch, bool, p.nvars);
    p.ahead = ARENA_ARRAY(p.scratch, NestVar *, p.nvars);
    if (plan(&p)) pipe_transform(&p);
    arena_free(p.scratch);
  }
}

bool pass_pipeline(Unit *u) {
  if (machine_has(u->machine, HAS_ASYNC_COPIES)) visit(u, u->nest->body);
  return true;
}
