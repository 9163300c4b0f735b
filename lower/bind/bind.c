/* Pass bind: the walk over statements, and relayouts.  See lower/bind/bind.h. */
#include "lower/bind/bind_fold.h"

#include <stdlib.h>
#include <string.h>

#include "lower/analysis/box_access.h"
#include "lower/bind/bind_nest.h"
#include "lower/messages.h"
#include "lower/passes.h"

static void bind_block(Bind *s, NestBlock *from, NestBlock *to);

/* ---- how deep in loops each variable changes ---- */

static void note_depth(Bind *s, const NestBlock *b, uint8_t depth) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    bool loop = st->code == NEST_FOR || st->code == NEST_WHILE;
    uint8_t inner = (uint8_t)(depth + (loop && depth < 255));
    for (uint32_t i = 0; i < st->ndsts; i++) {
      uint8_t d = st->code == NEST_FOR ? inner : depth;
      uint32_t id = st->dsts[i].var->id;
      if (s->depth[id] < d) s->depth[id] = d;
    }
    for (uint32_t r = 0; r < st->nregions; r++) note_depth(s, st->regions[r], inner);
  }
}

/* ---- relayouts within a thread: moves between registers ---- */

/* The row-major position of every register's element, lanes and warps at 0. */
static int64_t *positions(Arena *a, const Layout *l, int32_t *count) {
  *count = layout_registers(l);
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)*count), below = 1;
  for (int axis = l->rank - 1; axis >= 0; axis--) {
    for (int i = 0; i < l->ndigits; i++) {
      const Digit *d = &l->d[i];
      if (d->axis != axis || !hw_in_thread((HwDim)d->hw)) continue;
      int64_t w = layout_weight(l, i) * below;
      for (int32_t r = 0; r < *count; r++) at[r] += r / d->stride % d->extent * w;
    }
    below *= layout_padded(l, axis);
  }
  return at;
}

typedef struct {
  int64_t at;
  int32_t reg;
} Element;

static int by_position(const void *a, const void *b) {
  const Element *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at ? 1 : x->reg - y->reg;
}

static Element *elements_by_position(Arena *a, const Layout *l, int32_t *n) {
  int64_t *at = positions(a, l, n);
  Element *p = ARENA_ARRAY(a, Element, (size_t)*n);
  for (int32_t i = 0; i < *n; i++) p[i] = (Element){at[i], i};
  qsort(p, (size_t)*n, sizeof *p, by_position);
  return p;
}

static void bind_relayout(Bind *s, const NestStmt *st) {
  NestVar *from = st->srcs[0].var, *to = st->dsts[0].var;
  int32_t nf, nt;
  Element *f = elements_by_position(s->scratch, from->layout, &nf),
          *t = elements_by_position(s->scratch, to->layout, &nt);
  int32_t *source = ARENA_ARRAY(s->scratch, int32_t, (size_t)nt);
  for (int32_t i = 0, k = 0; i < nt; i++) {
    while (k + 1 < nf && f[k].at < t[i].at) k++;
    source[t[i].reg] = f[k].reg;
  }
  for (int32_t i = 0, n; i < nt; i += n) {
    for (n = 1; i + n < nt && source[i + n] == source[i] + n;) n++;
    bind_mov_run(s, to, i, from, source[i], n);
  }
}

/* ---- flips: digit d of the axis becomes extent - 1 - d ---- */

static void bind_flip(Bind *s, const NestStmt *st) {
  NestVar *from = st->srcs[0].var, *to = st->dsts[0].var;
  const Layout l = *from->layout;
  int axis = (int)nest_int(st, NA_axis, 0), lanes = 0;
  if (layout_has_padding(&l, axis) || layout_spelled_by(&l, axis, HW_WARP))
    bind_refuse(s, "warps or padding spell the axis of a flip");
  bind_start(s, NULL, &l);
  Affine at = affine_const(0), mirrored = affine_const(0);
  DimMask registers = 0;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    bool turned = x->axis == axis;
    if (turned && x->hw == HW_LANE) lanes |= (x->extent - 1) * x->stride;
    if (!x->index) continue;
    registers |= (DimMask)1 << d;
    bind_add_index(&at, x->index, x->stride);
    bind_add_index(&mirrored, x->index, turned ? -x->stride : x->stride);
    if (turned) mirrored.c += (int64_t)(x->extent - 1) * x->stride;
  }
  NestBuilder outer = bind_open_loops(s, registers);
  if (lanes) bind_shuffle(s, ref_sub(to, at), ref_sub(from, mirrored), "xor", lanes, to->dtype);
  else nest_mov(&s->b, ref_sub(to, at), ref_sub(from, mirrored), to->dtype);
  bind_close(s, outer);
}

/* ---- inline assembly ---- */

static void bind_asm_call(Bind *s, const NestStmt *st, Affine at, int64_t n) {
  NestStmt *out = nest_copy(&s->b, st);
  for (uint32_t i = 0; i < out->ndsts; i++) out->dsts[i] = ref_sub(st->dsts[i].var, at);
  for (uint32_t i = 0; i < out->nsrcs; i++) out->srcs[i] = ref_sub(st->srcs[i].var, at);
  if (n > 1) nest_set_int(s->nest, out, NA_n, n);
}

/* A call for each `pack` registers of a thread, and one for the rest. */
static void bind_asm(Bind *s, const NestStmt *st) {
  enum { UNROLLED_MOST = 16 };
  const NestVar *v = st->dsts[0].var;
  int64_t pack = nest_int(st, NA_pack, 1), count = v->tile.rank ? layout_registers(v->layout) : 1;
  int32_t calls = (int32_t)(count / pack);
  if (calls == 1) bind_asm_call(s, st, affine_const(0), pack);
  if (calls > 1) {
    bool expand = machine_has(s->u->machine, HAS_EXPANDED_LOOPS) || calls <= UNROLLED_MOST;
    NestIndex *index = nest_index(s->nest, "g", calls);
    NestBuilder outer = s->b;
    bind_loop(s, expand ? NEST_UNROLL : NEST_SERIAL, index);
    bind_asm_call(s, st, affine_index(index, pack), pack);
    bind_close(s, outer);
  }
  if (count % pack) bind_asm_call(s, st, affine_const(calls * pack), count % pack);
}

/* ---- statements ---- */

static void control(Bind *s, const NestStmt *st) {
  NestStmt *c = nest_copy(&s->b, st);
  bool loop = st->code == NEST_FOR || st->code == NEST_WHILE;
  s->loops = (uint8_t)(s->loops + loop);
  for (uint32_t r = 0; r < st->nregions; r++) bind_block(s, st->regions[r], nest_block(s->nest, c));
  s->once_if = NULL;
  s->loops = (uint8_t)(s->loops - loop);
}

/* A statement of the program, which one thread executes.  Statements that follow one another share
 * a guard, by which code for the others can skip them all. */
static void bind_once(Bind *s, const NestStmt *st) {
  Ref here = bind_leader(s);
  if (st->guard.kind && st->guard.var != s->once_if) {
    s->once = bind_op(s, TILE_AND, DT_I1, here, st->guard).var;
    s->once_if = st->guard.var;
  }
  if (st->guard.kind) here = ref_var(s->once);
  nest_copy(&s->b, st)->guard = here;
}

/* Does the statement leave the guard of those before it as it was? */
static void forget_once(Bind *s, const NestStmt *st) {
  bool sets = st->nregions > 0;
  for (uint32_t i = 0; i < st->ndsts; i++) sets |= st->dsts[i].var == s->once_if;
  if (sets) s->once_if = NULL;
}

static void bind_stmt(Bind *s, const NestStmt *st) {
  s->b.span = st->span;
  s->joined |= st->code == NEST_CLUSTER_WAIT;
  forget_once(s, st);
  switch (st->code) {
    case NEST_NEST: bind_nest(s, st); return;
    case NEST_REDUCE: bind_reduce(s, st); return;
    case NEST_SCAN: bind_scan(s, st); return;
    case NEST_RELAYOUT: bind_relayout(s, st); return;
    case NEST_FLIP: bind_flip(s, st); return;
    case NEST_ASM: bind_asm(s, st); return;
    case NEST_DOT: bind_dot(s, st); return;
    case NEST_TURN: bind_turn(s, st); return;
    case NEST_COPY: bind_copy(s, st); return;
    case NEST_MBAR_INIT:
    case NEST_MBAR_EXPECT:
    case NEST_BULK_COPY:
    case NEST_BULK_STORE:
    case NEST_BULK_COMMIT:
    case NEST_BULK_WAIT: bind_once(s, st); return;
    case NEST_MBAR_ARRIVE: nest_copy(&s->b, st)->guard = bind_first_lane(s); return;
    case NEST_MBAR_WAIT:
      if (st->guard.kind) bind_once(s, st);
      else nest_copy(&s->b, st);
      return;
    case NEST_RING_COMMIT: nest_stmt(&s->b, NEST_CP_COMMIT, 0, 0); return;
    case NEST_RING_WAIT:
      nest_set_int(s->nest, nest_stmt(&s->b, NEST_CP_WAIT, 0, 0), NA_groups,
                   nest_int(st, NA_groups, 0));
      return;
    default: break;
  }
  if (st->nregions) control(s, st);
  else nest_copy(&s->b, st);
}

static void bind_block(Bind *s, NestBlock *from, NestBlock *to) {
  NestBuilder outer = s->b;
  s->b.block = to;
  s->b.before = NULL;
  for (const NestStmt *st = from->first; st; st = st->next) bind_stmt(s, st);
  s->b = outer;
}

/* Tile variables become register arrays. */
static void flatten_vars(Nest *n) {
  for (uint32_t i = 0; i < n->nvars; i++) {
    NestVar *v = n->vars[i];
    if (!v->tile.rank) continue;
    v->count = (uint32_t)layout_registers(v->layout);
    v->tile = (Type){0};
    v->layout = nest_layout(n, &(Layout){0});
  }
}

static void allocate_tables(Bind *s) {
  uint32_t n = s->var_room = s->nest->nvars * 4 + 64;
  s->def = ARENA_ARRAY(s->scratch, NestStmt *, n);
  s->def_nest = ARENA_ARRAY(s->scratch, uint32_t, n);
  s->known = ARENA_ARRAY(s->scratch, Known, n);
  s->chain = ARENA_ARRAY(s->scratch, uint8_t, n);
  s->array = ARENA_ARRAY(s->scratch, NestVar *, n);
  s->array_nest = ARENA_ARRAY(s->scratch, uint32_t, n);
  s->depth = ARENA_ARRAY(s->scratch, uint8_t, n);
}

/* ---- indices: constants that were added up must fit, whatever masks leave out ---- */

static bool fits_terms(const Affine *a) {
  int64_t lo = a->c, hi = a->c, last;
  for (int i = 0; i < a->n; i++) {
    if (__builtin_mul_overflow(a->t[i].coef, (int64_t)a->t[i].index->extent - 1, &last))
      return false;
    int64_t *end = last < 0 ? &lo : &hi;
    if (__builtin_add_overflow(*end, last, end)) return false;
  }
  return true;
}

static bool all_fit(const NestStmt *st) {
  bool good = true;
  for (uint32_t i = 0; i < st->nsrcs; i++) good &= fits_terms(&st->srcs[i].sub);
  for (uint32_t i = 0; i < st->nmems; i++) good &= fits_terms(&st->mems[i].bytes);
  return good;
}

static void check_indices(Bind *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    s->b.span = st->span;
    if (!all_fit(st)) bind_refuse(s, "its indices do not fit 64 bits");
    for (uint32_t r = 0; r < st->nregions; r++) check_indices(s, st->regions[r]);
  }
}

/* ---- quotients of a vector's lanes ---- */

static void find_lane_cuts(Bind *s, const NestBlock *b) {
  for (const NestStmt *st = b->first; st; st = st->next) {
    int64_t power = bind_dividing_power(st);
    if (power > 1 && power < s->nest->lanes) s->lane_cuts |= power;
    for (uint32_t r = 0; r < st->nregions; r++) find_lane_cuts(s, st->regions[r]);
  }
}

static void bind_body(Bind *s) {
  NestBlock *old = s->nest->body;
  allocate_tables(s);
  note_depth(s, old, 0);
  if (machine_has(s->u->machine, HAS_LOCKSTEP)) find_lane_cuts(s, old);
  s->nest->level = NEST_LEVEL_THREAD;
  s->nest->body = nest_block(s->nest, NULL);
  s->b = (NestBuilder){s->nest, s->nest->body, NULL, s->nest->span};
  /* Thread constants go before a marker at the head of the kernel. */
  NestStmt *marker = nest_stmt(&s->b, NEST_BAR, 0, 0);
  s->entry = s->b;
  s->entry.before = marker;
  bind_block(s, old, s->nest->body);
  nest_remove(marker);
  flatten_vars(s->nest);
  check_indices(s, s->nest->body);
}

bool pass_bind(Unit *u) {
  jmp_buf refused;
  Bind s = {.u = u, .scratch = arena_child(u->arena), .nest = u->nest, .refused = &refused};
  s.nsigned = u->nest->nvars;
  s.not_negative = not_negative(s.scratch, u->nest, NULL, NULL);
  bool done = !setjmp(refused);
  if (done) bind_body(&s);
  arena_free(s.scratch);
  return done;
}
