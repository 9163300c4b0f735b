/* Dots: the layout of their operands, in fragments or in shared memory, and the statement. */
#include <string.h>

#include "lower/build/build.h"
#include "lower/target/wgmma_layout.h"

/* The axis along which a variable's neighbours are in one thread, or in neighbouring lanes;
 * `lanes`: in lanes alone, as memory's are in the layout of a load. */
static int fast_axis(const Layout *l, bool lanes) {
  for (int p = lanes ? HW_LANE : HW_REG; p >= HW_LANE; p--)
    for (int i = 0; i < l->ndigits; i++)
      if (l->d[i].hw == p && l->d[i].stride == 1 && l->d[i].axis >= 0) return l->d[i].axis;
  return l->rank - 1;
}

/* A thread's neighbors along an axis, those of the digits of the least weight, as far as they are
 * registers; `lanes`: with those of its warp after these, which then are in other banks. */
static int64_t run_along(const Layout *l, int axis, bool lanes) {
  int64_t run = 1;
  HwDim dim = HW_REG;
  for (int i = l->ndigits; i-- > 0;) {
    if (l->d[i].axis != axis) continue;
    if (lanes && l->d[i].hw == HW_LANE) dim = HW_LANE;
    if (l->d[i].hw != dim) break;
    run *= l->d[i].extent;
  }
  return run;
}

/* The run along the axis whose registers follow each other. */
static int64_t run_in_order(const Layout *l, int axis) {
  int64_t run = 1;
  for (int i = l->ndigits; i-- > 0;) {
    if (l->d[i].axis != axis) continue;
    if (l->d[i].hw != HW_REG || l->d[i].stride != run) break;
    run *= l->d[i].extent;
  }
  return run;
}

/* The layout with registers in the order of the axis first. */
static Layout in_order_along(const Layout *l, int axis) {
  Layout r = *l;
  int32_t next = 1;
  for (int i = r.ndigits; i-- > 0;)
    if (r.d[i].axis == axis && r.d[i].hw == HW_REG) {
      r.d[i].stride = next;
      next *= r.d[i].extent;
    }
  for (int32_t from = 1, span = (int32_t)layout_span(l, HW_REG); from < span;) {
    int i = 0;
    while (i < l->ndigits && (l->d[i].hw != HW_REG || l->d[i].stride != from)) i++;
    if (i == l->ndigits) return *l; /* a register for padding */
    from *= l->d[i].extent;
    if (l->d[i].axis == axis) continue;
    r.d[i].stride = next;
    next *= l->d[i].extent;
  }
  return r;
}

static int log2_exact(int64_t n) {
  return n > 0 && !(n & (n - 1)) ? __builtin_ctzll((unsigned long long)n) : -1;
}

enum { CHUNK = 16 };

static int64_t odd_chunks(int64_t row_bytes) {
  return ((row_bytes + CHUNK - 1) / CHUNK | 1) * CHUNK;
}

/* Rows of 16-byte chunks: rows of a power of two are swizzled (8 rows of one column are in
 * different banks), others are padded to an odd number of chunks. */
static int64_t swizzle(Layout *l, int64_t row_bytes) {
  enum { CHUNK_BITS = 4, BANK_BITS = 7 };
  int bits = log2_exact(row_bytes);
  if (bits > CHUNK_BITS) {
    l->xor_base = CHUNK_BITS;
    l->xor_bits = (uint8_t)(bits - CHUNK_BITS < 3 ? bits - CHUNK_BITS : 3);
    l->xor_shift = (uint8_t)(bits > BANK_BITS ? bits - CHUNK_BITS : BANK_BITS - CHUNK_BITS);
    return row_bytes;
  }
  return odd_chunks(row_bytes);
}

/* Lanes read vectors of rows of their own from banks: an odd number of chunks puts 8 rows in
 * different banks.  Past half of shared memory no rows are padded: operands that fit without do.
 * If shared memory is cached, the k loop walks down a column of cache lines.  Were rows a multiple
 * of some lines long, those would share a few sets of the cache. */
static int64_t spread_rows(const Build *s, int64_t row_bytes, int64_t rows) {
  enum { LINE = 64, FEW = 4 };
  if (!machine_has(s->u->machine, HAS_BANKED_SHARED))
    return row_bytes % (FEW * LINE) == 0 ? row_bytes + LINE : row_bytes;
  int64_t padded = odd_chunks(row_bytes), all = padded * rows;
  for (uint32_t i = 0; i < s->nest->nbuffers; i++) all += s->nest->buffers[i]->bytes;
  return 2 * all <= s->u->machine->shared ? padded : row_bytes;
}

static Layout rows_layout(const Build *s, const Type *t, int fast, bool plain, int64_t *total) {
  Layout l = layout_new(t);
  int64_t bytes = dtype_bytes((DType)t->dtype), row = t->shape[fast] * bytes;
  row = plain ? spread_rows(s, row, type_numel(*t) / t->shape[fast]) : swizzle(&l, row);
  int slow = t->rank - 1 == fast ? t->rank - 2 : t->rank - 1;
  *total = row * t->shape[slow];
  if (t->rank == 3) layout_push(&l, 0, HW_BYTE, t->shape[0], (int32_t)*total);
  for (int a = t->rank - 2; a < t->rank; a++)
    layout_push(&l, a, HW_BYTE, t->shape[a], (int32_t)(a == fast ? bytes : row));
  if (t->rank == 3) *total *= t->shape[0];
  return l;
}

/* A buffer for a dot's operand of type t, `fast` its contiguous axis. */
static NestBuffer *operand_buffer(Build *s, const Type *t, int fast, OperandForm form) {
  enum { ALIGN = 1024 };
  int64_t total;
  Layout l = form == OPERAND_PANELS ? wgmma_layout(t, fast, &total)
                                    : rows_layout(s, t, fast, form == OPERAND_PLAIN, &total);
  NestBuffer *buf = nest_buffer(s->nest, "operand", (DType)t->dtype, total, ALIGN);
  buf->tile = *t;
  buf->layout = l;
  return buf;
}

/* May pass pipeline copy the operand by boxes, whose strides a launch checks? */
static bool may_be_box(const Build *s, const Staged *g) {
  const Options *o = &s->nest->options;
  return g->form == OPERAND_PANELS && g->stored->def && g->stored->def->code == TILE_LOAD &&
         machine_has(s->u->machine, HAS_ASYNC_PROXY) && !o->no_tensor_maps && !o->known_rows &&
         o->alias != NEREID_ALIAS_ORDERED;
}

/* The axis along which the operand will be contiguous in shared memory: memory's, or where threads
 * store single elements the one that puts them in different banks. */
static int buffer_axis(const Build *s, const Staged *g, const NestVar *held) {
  int last = g->stored->type.rank - 1;
  if (g->fast >= 0) return g->fast;
  bool banked = machine_has(s->u->machine, HAS_BANKED_SHARED);
  if (g->form == OPERAND_PLAIN && !banked) return last;
  bool box = may_be_box(s, g);
  int fast = fast_axis(held->layout, box), other = 2 * last - 1 - fast;
  if (fast >= last - 1 && run_in_order(held->layout, fast) == 1 && !box &&
      run_along(held->layout, other, false) > 1 &&
      run_along(held->layout, other, true) >= run_along(held->layout, fast, true))
    fast = other;
  if (g->swapped) fast = last - fast;
  return fast < last - 1 ? last : fast;
}

/* The tile with registers in the order in which it is stored: several elements at once. */
static NestVar *in_order(Build *s, const Staged *g, NestVar *held) {
  int axis = g->swapped ? held->tile.rank - 1 - g->fast : g->fast;
  const Layout *l = held->layout;
  int64_t most = CHUNK / dtype_bytes(held->dtype), now = run_in_order(l, axis);
  if (now >= most || now >= run_along(l, axis, false)) return held;
  Layout ordered = in_order_along(l, axis);
  return build_held(s, g->stored, &ordered);
}

/* A buffer with g's tile, where its other axis is contiguous. */
static void turn_operand(Build *s, Staged *g) {
  NestBuffer *from = g->buffer;
  g->fast = 1 - g->fast;
  g->buffer = operand_buffer(s, &g->room, g->fast, g->form);
  Layout pairs;
  if (g->pairs && wgmma_pairs(&g->buffer->layout, 0, &pairs)) g->buffer->layout = pairs;
  NestStmt *st = nest_stmt(&s->b, NEST_TURN, 0, 0);
  st->nmems = 2;
  st->mems[0] = (Mem){g->buffer, ref_none(), affine_const(0)};
  st->mems[1] = (Mem){from, ref_none(), affine_const(0)};
}

/* Stores g's tile, swapped or not, to a buffer of its own. */
static void store_operand(Build *s, Staged *g) {
  NestVar *held = build_own(s, g->stored);
  bool turned = g->form == OPERAND_PANELS && g->fast >= 0 &&
                s->u->schedule->values[g->stored->id].turned;
  g->fast = turned ? 1 - g->fast : buffer_axis(s, g, held);
  if (g->form != OPERAND_PLAIN) held = in_order(s, g, held);
  NestBuffer *buf = g->buffer = operand_buffer(s, &g->room, g->fast, g->form);
  Open o = build_open(s, held->layout);
  Affine at[MAX_RANK];
  memcpy(at, o.axes, sizeof at);
  if (g->swapped) at[0] = o.axes[1], at[1] = o.axes[0];
  build_st_shared(s, build_tile_ref(s, held, o.axes), held->dtype, buf, ref_none(),
                  nest_buffer_bytes(&buf->layout, at));
  build_close(s, &o);
  if (turned) turn_operand(s, g);
  if (g->form == OPERAND_PANELS) /* it is read through the asynchronous proxy */
    nest_set_str(s->nest, nest_stmt(&s->b, NEST_FENCE, 0, 0), NA_kind, "proxy");
}

/* True if block b is the builder's, or around it. */
static bool around(const Build *s, const NestBlock *b) {
  const NestBlock *at = s->b.block;
  while (at && at != b) at = at->owner ? at->owner->parent : NULL;
  return at == b;
}

static bool is_turned(const Type *a, const Type *b) {
  return a->rank == 2 && a->shape[0] == b->shape[1] && a->shape[1] == b->shape[0];
}

/* Can a dot read it where its transpose is stored? */
static bool reads_both(const Staged *g) {
  return g->form == OPERAND_PANELS || (g->form == OPERAND_PLAIN && g->fast >= 0);
}

/* The operand where it has been stored already.  A warpgroup's dot also reads it where a dot has
 * its transpose: descriptors know both, as do addresses of numbers that are taken one by one.
 * *turned: the buffer found holds the transpose. */
static const Staged *find_staged(const Build *s, const Staged *like, bool *turned) {
  *turned = false;
  for (size_t i = 0; i < s->staged.len; i++) {
    const Staged *g = &s->staged.data[i];
    bool alike = g->form == like->form && g->pairs == like->pairs;
    if (!alike || !around(s, g->block)) continue;
    bool same_room = type_eq(g->room, like->room), any = like->fast < 0;
    if (g->value == like->value && same_room && (any || g->fast == like->fast)) return g;
    if (!reads_both(like) || g->stored != like->stored) continue;
    /* The room of a square tile doesn't tell it from its transpose. */
    if (g->swapped == like->swapped && same_room && (any || g->fast == like->fast)) return g;
    if (g->swapped != like->swapped && is_turned(&g->room, &like->room) &&
        (any || g->fast == 1 - like->fast)) {
      *turned = true;
      return g;
    }
  }
  return NULL;
}

/* An operand in shared memory: a transposed tile is stored as it is held, and read across; one that
 * does not change in a loop is stored before it.  `room` is the operand's shape as the
 * accumulator's layout pads it; `fast` the axis that must be contiguous, or -1.  *turned: the
 * buffer holds its transpose. */
static NestBuffer *stage_operand(Build *s, const TileValue *v, const Type *room, OperandForm form,
                                 int fast, bool pairs, bool *turned) {
  Staged g = {.value = v, .stored = v, .room = *room, .form = form, .fast = fast, .pairs = pairs};
  for (const TileOp *def; (def = g.stored->def) && def->code == TILE_TRANS;) {
    if (g.stored->type.rank != 2 || s->var[g.stored->id]) break;
    g.stored = def->args[0];
    g.swapped = !g.swapped;
  }
  const Staged *old = find_staged(s, &g, turned);
  if (old) return old->buffer;
  NestBuilder was = build_at_definition(s, g.stored);
  store_operand(s, &g);
  g.block = s->b.block;
  s->b = was;
  vec_push(s->scratch, &s->staged, g);
  return g.buffer;
}

/* The accumulator is updated in place where the old value has no other use. */
static NestVar *result_accumulator(Build *s, const TileOp *op) {
  const TileValue *c = op->args[2], *r = op->results[0];
  NestVar *own = s->var[c->id];
  if (own && s->uses[c->id] == 1 && layout_eq(own->layout, &s->u->schedule->values[r->id].layout))
    return s->var[r->id] = own;
  NestVar *v = build_result(s, r);
  build_copy_tile(s, v, c);
  return v;
}

/* Products that a warpgroup's instructions may add up before they are added in full precision; -1:
 * all of them. */
static int64_t imprecise_products(const TileOp *op, const Atom *atom) {
  const Type *a = &op->args[0]->type;
  bool counts = atom && atom->warps > 1 && dtype_is_float(atom->a) && dtype_bits(atom->a) == 8;
  int64_t n = counts ? tile_int(op, TA_max_imprecise, -1) : -1;
  return n > a->shape[a->rank - 1] ? -1 : n;
}

/* ldmatrix moves whole 8 x 8 matrices of 16-bit elements. */
static bool by_ldmatrix(const Atom *atom, int which, const Type *t, int wm, int wn) {
  int rows = t->shape[t->rank - 2], cols = t->shape[t->rank - 1];
  int row_step = which ? atom->k : atom->m * wm, col_step = which ? atom->n * wn : atom->k;
  return dtype_is_half(atom->a) && rows % row_step == 0 && cols % col_step == 0;
}

/* Fragments read from shared memory element by element, zeros where the operand ends. */
static NestVar *fragment_from(Build *s, NestBuffer *buf, const Type *t, const Layout *l) {
  NestVar *v = nest_tile_var(s->nest, NULL, *t, l);
  bool is_padded = false;
  for (int a = 0; a < t->rank; a++) is_padded |= layout_has_padding(l, a);
  Open o = build_open(s, l);
  Ref at = ref_var(v); /* build_tile_ref would leave out the padding of an axis of extent 1 */
  at.axes = ARENA_ARRAY(s->nest->arena, Affine, t->rank);
  memcpy(at.axes, o.axes, sizeof *at.axes * t->rank);
  if (is_padded) nest_mov(&s->b, at, ref_zero(v->dtype), v->dtype);
  build_ld_shared(s, at, v->dtype, buf, ref_none(), nest_buffer_bytes(&buf->layout, o.axes));
  build_close(s, &o);
  return v;
}

typedef struct {
  NestVar *var;
  NestBuffer *buffer;
  bool turned; /* the buffer holds its transpose */
} Operand;

/* True if x's own registers serve as the fragment `want`.  Padding along k is refused: registers
 * hold arbitrary values there, and an infinity or NaN times zero is NaN.  Padding along m and n
 * only reaches padding of the result. */
static bool is_fragment(const Build *s, const TileValue *x, const Layout *want, int which) {
  int k = which ? want->rank - 2 : want->rank - 1;
  if (x->def && x->def->code == TILE_BROADCAST && !s->inlined[x->id])
    return !layout_has_padding(want, k);
  return s->var[x->id] && build_same_threads(s->var[x->id]->layout, want) &&
         !layout_has_padding(want, k);
}

/* The axis of a warpgroup's operand that must be contiguous in shared memory; -1: any may be.  What
 * is loaded is copied as memory has it where that can be read by the `wn` groups along columns. */
static int needed_axis(const TileOp *dot, const Atom *atom, int which, int wn) {
  const TileValue *v = dot->args[which];
  if (which && !schedule_has_panels(&dot->results[0]->type, wn)) return 0;
  while (v->def && v->def->code == TILE_TRANS) v = v->def->args[0];
  bool loaded = v->def && (v->def->code == TILE_LOAD || v->def->code == TILE_VIEW_LOAD);
  bool whole = imprecise_products(dot, atom) < 0;
  DType t = (DType)v->type.dtype;
  return loaded && whole && wgmma_takes_any_axis(t, which) ? -1 : wgmma_fast_axis(t, which);
}

/* Can the registers of the first operand, which a product's sums became, be its fragments if the
 * second operand is turned in the order of wgmma_pairs? */
static bool takes_pairs(const Build *s, const TileOp *dot, const Atom *atom, const Layout *acc) {
  const TileValue *a = dot->args[0], *b = dot->args[1];
  int wm, wn;
  Layout pairs;
  if (!atom || atom->warps == 1 || dtype_bytes(atom->a) != 1) return false;
  while (b->def && b->def->code == TILE_TRANS) b = b->def->args[0];
  if (!s->u->schedule->values[b->id].turned || b != dot->args[1]) return false;
  schedule_warp_split(atom, acc, &wm, &wn);
  Layout plain = schedule_fragment(atom, 0, &a->type, wm, wn, s->nest->warps);
  return !is_fragment(s, a, &plain, 0) && wgmma_pairs(&plain, 1, &pairs) &&
         is_fragment(s, a, &pairs, 0);
}

/* The axis of an operand without fragments that must be contiguous; -1: buffer_axis chooses.  Where
 * lanes are vectors, a row's numbers are taken one by one, so that a transposed left operand that
 * is computed stays as it is, and its columns are read across: of so many steps, the nearest cache
 * has their lines until the next rows of the block take them.  A unit for tiles takes rows. */
static int plain_axis(const Build *s, const TileOp *dot, const TileValue *x, int which) {
  enum { STEPS_MOST = 128 };
  if (machine_has(s->u->machine, HAS_BANKED_SHARED) || x->type.rank != 2) return -1;
  if (machine_has(s->u->machine, HAS_MATRIX_TILES) && tile_dots_words(dot)) return -1;
  bool turned = x->def && x->def->code == TILE_TRANS && !s->var[x->id];
  return !which && turned && x->type.shape[1] <= STEPS_MOST ? 0 : 1;
}

static Operand dot_operand(Build *s, const TileOp *dot, const Atom *atom, const Layout *acc,
                           int which) {
  const TileValue *x = dot->args[which];
  int wm = 1, wn = 1;
  Type room = atom ? x->type : schedule_operand_room(x, acc, which);
  Operand in = {0};
  if (!atom) {
    int fast = plain_axis(s, dot, x, which);
    in.buffer = stage_operand(s, x, &room, OPERAND_PLAIN, fast, false, &in.turned);
    return in;
  }
  schedule_warp_split(atom, acc, &wm, &wn);
  bool group = atom->warps > 1;
  Layout want = {0};
  if (!group || !which) want = schedule_fragment(atom, which, &x->type, wm, wn, s->nest->warps);
  bool pairs = takes_pairs(s, dot, atom, acc);
  Layout plain = want;
  if (pairs && !which) wgmma_pairs(&plain, 1, &want);
  if (want.rank && is_fragment(s, x, &want, which)) {
    in.var = build_held(s, x, &want);
    return in;
  }
  OperandForm form = group ? OPERAND_PANELS : OPERAND_ROWS;
  int fast = group ? needed_axis(dot, atom, which, wn) : -1;
  in.buffer = stage_operand(s, x, &room, form, fast, pairs, &in.turned);
  if (group || by_ldmatrix(atom, which, &x->type, wm, wn)) return in;
  in.var = fragment_from(s, in.buffer, &x->type, &want);
  in.buffer = NULL;
  return in;
}

void build_dot_op(Build *s, const TileOp *op) {
  const ValuePlan *plan = &s->u->schedule->values[op->results[0]->id];
  Operand in[2];
  for (int i = 0; i < 2; i++) in[i] = dot_operand(s, op, plan->atom, &plan->layout, i);
  bool zero = plan->atom && plan->atom->warps > 1 && tile_is_zero(op->args[2]);
  NestVar *d = zero ? build_result(s, op->results[0]) : result_accumulator(s, op);
  NestStmt *st = nest_stmt(&s->b, NEST_DOT, 1, 3);
  st->type = (DType)op->args[0]->type.dtype;
  st->to = d->dtype;
  st->nmems = 2;
  st->dsts[0] = ref_var(d);
  st->srcs[2] = zero ? ref_none() : ref_var(d);
  for (int i = 0; i < 2; i++) {
    if (in[i].var) st->srcs[i] = ref_var(in[i].var);
    else st->mems[i] = (Mem){in[i].buffer, ref_none(), affine_const(0)};
  }
  if (plan->atom) nest_set_str(s->nest, st, NA_atom, plan->atom->name);
  int64_t imprecise = imprecise_products(op, plan->atom);
  if (imprecise >= 0) nest_set_int(s->nest, st, NA_max_imprecise, imprecise);
  if (tile_dots_words(op))
    nest_set_str(s->nest, st, NA_precision, tile_str(op, TA_precision, ""));
  int turned = in[0].turned | in[1].turned << 1;
  if (turned) nest_set_int(s->nest, st, NA_turned, turned);
}
