/* Dots: by matrix instructions on fragments, or by multiply-add. */
#include <string.h>

#include "lower/bind/bind.h"
#include "lower/schedule/schedule.h"
#include "lower/target/atoms.h"

/* ---- matrix instructions ---- */

typedef struct {
  const NestStmt *st;
  const Atom *atom;
  int wm, wn, wb, reps_m, reps_n, reps_k, batch;
  int ra, rb, rc; /* elements of a fragment a lane holds */
  NestIndex *im, *in, *ik, *ib;
} Mma;

static void push_dim(Bind *s, HwDim hw, int32_t extent, int32_t stride, NestIndex *index) {
  if (s->ndims == MAX_DIMS) bind_refuse(s, bind_too_many_digits);
  s->dims[s->ndims++] = (Dim){0, 0, extent, hw, stride, index};
}

/* Bytes from one element to the next along matrix axis 0 or 1 of an operand's buffer. */
static int64_t byte_stride(const NestBuffer *b, int axis) {
  for (int i = 0; i < b->layout.ndigits; i++)
    if (b->layout.d[i].axis == b->tile.rank - 2 + axis) return b->layout.d[i].stride;
  return 0;
}

/* The axis of an operand's buffer that has its matrix axis 0 or 1. */
static int axis_of_buffer(const NestStmt *dot, int which, int axis) {
  return nest_int(dot, NA_turned, 0) >> which & 1 ? 1 - axis : axis;
}

/* How long an operand in a buffer is along matrix axis 0 or 1. */
static int32_t operand_size(const NestStmt *dot, int which, int axis) {
  const Type *t = &dot->mems[which].buffer->tile;
  return t->shape[t->rank - 2 + axis_of_buffer(dot, which, axis)];
}

static int64_t batch_stride(const NestBuffer *b) {
  for (int i = 0; b->tile.rank == 3 && i < b->layout.ndigits; i++)
    if (b->layout.d[i].axis == 0) return b->layout.d[i].stride;
  return 0;
}

/* An operand in a ring of buffers is at the offset of its slot. */
static void add_ring_slot(const Bind *s, Form *f, const Mem *m) {
  if (!m->base.kind) return;
  Form slot = form_var(m->base.var);
  if (!form_add(f, &slot, 1)) bind_refuse(s, "an address has too many terms");
}

/* An operand's fragments for one k step, which ldmatrix loads from shared memory. */
typedef struct {
  NestVar *frag;
  Ref base; /* subscripts: what base_mask says */
  Affine bytes;
  NestIndex *outer; /* repetitions along M or N; of pairs for B */
  int count;        /* matrices at a time */
  bool trans;
  int regs; /* elements per load */
} Loader;

/* Dims: the lane's row within 8, its bit 3, its bit 4; the warp; then the unrolled indices.  `row`,
 * `bit3`, `bit4` are their weights in bytes. */
static void loader_address(Bind *s, Loader *x, const NestBuffer *b, const Mma *m, int64_t row,
                           int64_t bit3, int64_t bit4, int64_t warp, int warps, int warp_stride,
                           int64_t rep, int64_t k) {
  s->ndims = 0;
  s->stmt = NULL;
  s->id++;
  Form f = form_const(0);
  const struct {
    HwDim hw;
    int32_t extent, stride;
    NestIndex *index;
    int64_t coef;
  } rows[] = {{HW_LANE, 8, 1, NULL, row},
              {HW_LANE, 2, 8, NULL, bit3},
              {HW_LANE, 2, 16, NULL, bit4},
              {HW_WARP, warps, warp_stride, NULL, warp},
              {HW_REG, x->outer ? x->outer->extent : 1, 1, x->outer, rep},
              {HW_REG, m->ik ? m->ik->extent : 1, 1, m->ik, k},
              {HW_WARP, m->wb, m->wm * m->wn, NULL, batch_stride(b)},
              {HW_REG, m->ib ? m->ib->extent : 1, 1, m->ib, m->wb * batch_stride(b)}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].extent == 1) continue;
    push_dim(s, rows[i].hw, rows[i].extent, rows[i].stride, rows[i].index);
    f.g[0].coef[s->ndims - 1] = rows[i].coef;
  }
  DimMask mask;
  add_ring_slot(s, &f, &m->st->mems[b == m->st->mems[0].buffer ? 0 : 1]);
  if (b->layout.xor_bits) {
    x->base = bind_swizzle(s, &f, &b->layout, &x->bytes, &mask);
  } else {
    x->base = form_base(s, &f, DT_I32, DT_NONE, &mask);
    x->bytes = form_immediate(s, &f);
  }
}

/* A: rows m = lane % 16 and two k halves; matrices in the order of the fragment's registers. */
static Loader load_a(Bind *s, const Mma *m) {
  const NestBuffer *b = m->st->mems[0].buffer;
  int64_t sm = byte_stride(b, 0), sk = byte_stride(b, 1);
  Loader x = {.outer = m->im, .count = 4, .regs = m->ra, .trans = sm < sk};
  x.frag = bind_var(s, "fa", m->st->type, DT_NONE, (uint32_t)(m->ra * m->reps_m), false);
  int64_t row = x.trans ? sk : sm, bit3 = 8 * sm, bit4 = 8 * sk;
  loader_address(s, &x, b, m, row, bit3, bit4, m->atom->m * sm, m->wm, 1,
                 (int64_t)m->atom->m * m->wm * sm, m->atom->k * sk);
  return x;
}

/* B: two k halves, and two fragments along N at a time where there are two. */
static Loader load_b(Bind *s, const Mma *m) {
  const NestBuffer *b = m->st->mems[1].buffer;
  int64_t sk = byte_stride(b, 0), sn = byte_stride(b, 1);
  bool pairs = m->reps_n % 2 == 0;
  Loader x = {.count = pairs ? 4 : 2, .regs = m->rb * (pairs ? 2 : 1), .trans = sn < sk};
  x.frag = bind_var(s, "fb", m->st->type, DT_NONE, (uint32_t)(m->rb * m->reps_n), false);
  int reps = pairs ? m->reps_n / 2 : m->reps_n;
  x.outer = reps > 1 ? nest_index(s->nest, "n", reps) : NULL;
  int64_t row = x.trans ? sk : sn, step = (int64_t)m->atom->n * m->wn * sn;
  loader_address(s, &x, b, m, row, 8 * sk, pairs ? step : 0, m->atom->n * sn, m->wn, m->wm,
                 pairs ? 2 * step : step, m->atom->k * sk);
  return x;
}

static void emit_loads(Bind *s, const Mma *m, const Loader *x, int which) {
  NestBuilder outer = s->b;
  bind_unroll(s, x->outer);
  Affine sub = affine_const(0);
  bind_add_index(&sub, x->outer, x->regs);
  NestStmt *ld = nest_stmt(&s->b, NEST_LDMATRIX, 1, 0);
  ld->dsts[0] = ref_sub(x->frag, sub);
  ld->type = m->st->type;
  ld->mems[0] = (Mem){m->st->mems[which].buffer, x->base, x->bytes};
  nest_set_int(s->nest, ld, NA_n, x->count);
  if (x->trans) nest_set_int(s->nest, ld, NA_trans, 1);
  s->b = outer;
}

static NestIndex *new_mma_index(Bind *s, const char *name, int extent) {
  return extent > 1 ? nest_index(s->nest, name, extent) : NULL;
}

/* The warps that a batch is divided among. */
static int batch_warps(const Layout *acc) {
  int n = 1;
  for (int i = 0; acc->rank == 3 && i < acc->ndigits; i++)
    if (acc->d[i].axis == 0 && acc->d[i].hw == HW_WARP) n *= acc->d[i].extent;
  return n;
}

static Mma plan_mma(Bind *s, const NestStmt *st) {
  Mma m = {.st = st, .atom = atom_find(nest_str(st, NA_atom, ""))};
  const Layout *acc = st->dsts[0].var->layout;
  int r = acc->rank;
  int64_t k = st->mems[0].buffer ? st->mems[0].buffer->tile.shape[r - 1]
                                 : st->srcs[0].var->tile.shape[r - 1];
  schedule_warp_split(m.atom, acc, &m.wm, &m.wn);
  m.reps_m = (int)(layout_padded(acc, r - 2) / (m.atom->m * m.wm));
  m.reps_n = (int)(layout_padded(acc, r - 1) / (m.atom->n * m.wn));
  m.reps_k = (int)((k + m.atom->k - 1) / m.atom->k);
  m.wb = m.atom->warps > 1 ? 1 : batch_warps(acc);
  m.batch = r == 3 ? acc->shape[0] / m.wb : 1;
  m.ra = atom_registers(m.atom, 0);
  m.rb = atom_registers(m.atom, 1);
  m.rc = atom_registers(m.atom, 2);
  m.im = new_mma_index(s, "m", m.reps_m);
  m.in = new_mma_index(s, "n", m.reps_n);
  m.ik = new_mma_index(s, "k", m.reps_k);
  m.ib = new_mma_index(s, "b", m.batch);
  return m;
}

/* The registers of an operand's fragment: of the one that was loaded for this k, or of the whole
 * operand in registers, in which schedule_fragment makes rows outermost. */
static Ref fragment_operand(const Mma *m, int which, const Loader *x) {
  Affine sub = affine_const(0);
  if (x->frag) {
    bind_add_index(&sub, which ? m->in : m->im, which ? m->rb : m->ra);
    return ref_sub(x->frag, sub);
  }
  int64_t regs = which ? m->rb : m->ra;
  int cols = which ? m->reps_n : m->reps_k, rows = which ? m->reps_k : m->reps_m;
  bind_add_index(&sub, which ? m->ik : m->im, regs * cols);
  bind_add_index(&sub, which ? m->in : m->ik, regs);
  bind_add_index(&sub, m->ib, regs * rows * cols);
  return ref_sub(m->st->srcs[which].var, sub);
}

static void emit_mma(Bind *s, const Mma *m, const Loader *a, const Loader *b) {
  NestBuilder outer = s->b;
  bind_unroll(s, m->im);
  bind_unroll(s, m->in);
  Affine sub = affine_const(0);
  bind_add_index(&sub, m->im, (int64_t)m->rc * m->reps_n);
  bind_add_index(&sub, m->in, m->rc);
  bind_add_index(&sub, m->ib, (int64_t)m->rc * m->reps_n * m->reps_m);
  NestStmt *st = nest_stmt(&s->b, NEST_MMA, 1, 3);
  st->dsts[0] = ref_sub(m->st->dsts[0].var, sub);
  st->srcs[0] = fragment_operand(m, 0, a);
  st->srcs[1] = fragment_operand(m, 1, b);
  st->srcs[2] = st->dsts[0];
  st->type = m->st->type;
  nest_set_str(s->nest, st, NA_atom, m->atom->name);
  s->b = outer;
}

static void dot_mma(Bind *s, const NestStmt *st) {
  Mma m = plan_mma(s, st);
  Loader a = {0}, b = {0};
  if (st->mems[0].buffer) a = load_a(s, &m);
  if (st->mems[1].buffer) b = load_b(s, &m);
  NestBuilder outer = s->b;
  bind_unroll(s, m.ib);
  bind_unroll(s, m.ik);
  if (a.frag) emit_loads(s, &m, &a, 0);
  if (b.frag) emit_loads(s, &m, &b, 1);
  emit_mma(s, &m, &a, &b);
  s->b = outer;
}

/* ---- multiply-add ---- */

/* Register blocks: so many rows by so many vectors of columns stay in registers over the k loop. */
typedef struct {
  DimMask rows, cols; /* register dims inside the block */
  DimMask outer;      /* the rest */
} Block;

enum { TILED_ROWS = 2 * MACHINE_TILE };

/* Does C compute the dot by the unit for tiles (codegen/c/products.c)?  Blocks are more rows. */
static bool is_tiled(const Bind *s, const NestStmt *st) {
  return machine_has(s->u->machine, HAS_MATRIX_TILES) &&
         tile_dot_of_words(nest_str(st, NA_precision, "")) != TILE_DOT &&
         operand_size(st, 0, 0) >= MACHINE_TILED_ROWS && operand_size(st, 0, 1) >= MACHINE_TILE;
}

/* Does a function compute blocks of the dot?  Their sums then stay where they are. */
static bool is_called(const Bind *s, const NestStmt *st) {
  const NestBuffer *left = st->mems[0].buffer, *right = st->mems[1].buffer;
  bool widens = left->dtype != st->to || right->dtype != st->to;
  bool words = tile_dot_of_words(nest_str(st, NA_precision, "")) != TILE_DOT;
  bool adds = st->to == DT_F32 || st->to == DT_F64 || words;
  int32_t least = words ? MACHINE_CALLED_WORDS : MACHINE_CALLED_STEPS;
  return machine_has(s->u->machine, HAS_LOCKSTEP) && !widens && adds &&
         operand_size(st, 0, 1) >= least;
}

/* Does the nearest cache hold the right operand, so that one call takes all rows and columns? */
static bool is_near(const NestStmt *st) {
  enum { NEAR_BYTES = 1 << 14, WORD = 4 };
  const Type *t = &st->mems[1].buffer->tile;
  return (int64_t)t->shape[t->rank - 2] * t->shape[t->rank - 1] * WORD <= NEAR_BYTES;
}

static int32_t largest_divisor(int32_t n, int32_t most) {
  while (n % most) most--;
  return most;
}

/* An axis's innermost register digit; -1: it has none. */
static int registers_of(const Bind *s, int axis) {
  for (int d = s->ndims - 1; d >= 0; d--)
    if (s->dims[d].axis == axis && hw_in_thread(s->dims[d].hw)) return d;
  return -1;
}

/* A CPU's block is cut from that digit; a GPU unrolls all. */
static DimMask block_axis(Bind *s, int axis, int32_t want) {
  int d = registers_of(s, axis), before = s->ndims;
  if (d < 0) return 0;
  bind_split_dim(s, d, largest_divisor(s->dims[d].extent, want));
  return (DimMask)1 << (s->ndims > before ? d + 1 : d);
}

static int extent_of(const Bind *s, int axis) {
  int d = registers_of(s, axis);
  return d < 0 ? 1 : s->dims[d].extent;
}

static DimMask shift_mask(DimMask m, int at) {
  DimMask low = ((DimMask)1 << at) - 1;
  return (m & low) | (m & ~low) << 1;
}

/* The most rows and columns of a block; 0: as suits the machine. */
static Block plan_block(Bind *s, int rank, int32_t rows, int32_t columns) {
  Block b = {0, 0, 0};
  const Machine *m = s->u->machine;
  bool expands = machine_has(m, HAS_EXPANDED_LOOPS);
  if (!expands) {
    int vectors = extent_of(s, rank - 1);
    MachineBlock own = {rows, columns ? columns : machine_vectors_of(m, vectors)};
    if (!rows) own = machine_block_of(m, extent_of(s, rank - 2), vectors);
    b.cols = block_axis(s, rank - 1, own.vectors);
    int before = s->ndims;
    b.rows = block_axis(s, rank - 2, own.rows);
    if (s->ndims > before) b.cols = shift_mask(b.cols, __builtin_ctzll(b.rows));
  }
  for (int d = 0; d < s->ndims; d++) {
    DimMask bit = (DimMask)1 << d;
    if (!hw_in_thread(s->dims[d].hw) || (b.rows | b.cols) & bit) continue;
    if (!expands) b.outer |= bit;
    else if (s->dims[d].axis == rank - 2) b.rows |= bit;
    else if (s->dims[d].axis == rank - 1) b.cols |= bit;
    else b.outer |= bit;
  }
  return b;
}

static Block plan_tiles(Bind *s, const NestStmt *st, int rank) {
  if (!is_near(st)) return plan_block(s, rank, TILED_ROWS, 0);
  return plan_block(s, rank, operand_size(st, 0, 0), operand_size(st, 1, 1));
}

/* The byte offset of an operand's element: row or column digits of the accumulator, the batch, and
 * k by the index of its loop. */
static Form operand_form(const Bind *s, const NestBuffer *b, int axis, int matrix_axis) {
  Form f = form_const(0);
  for (int d = 0; d < s->ndims; d++) {
    if (s->dims[d].axis == axis) f.g[0].coef[d] = s->dims[d].weight * byte_stride(b, matrix_axis);
    else if (b->tile.rank == 3 && s->dims[d].axis == 0)
      f.g[0].coef[d] = s->dims[d].weight * batch_stride(b);
  }
  return f;
}

typedef struct {
  const NestBuffer *buffer;
  Ref base;
  Affine bytes;
  DimMask mask; /* of the block's dims that it depends on */
  bool uniform;
} Feed;

/* `step`: of the steps that one k has, if it has several. */
static Feed operand_feed(Bind *s, const NestStmt *st, int which, NestIndex *k, NestIndex *step,
                         DimMask mask) {
  int rank = st->dsts[0].var->tile.rank;
  const NestBuffer *b = st->mems[which].buffer;
  Feed x = {.buffer = b, .mask = mask};
  int own = axis_of_buffer(st, which, which);
  Form f = operand_form(s, b, rank - 2 + which, own);
  add_ring_slot(s, &f, &st->mems[which]);
  DimMask base_mask;
  x.base = form_base(s, &f, DT_I32, DT_NONE, &base_mask);
  x.bytes = form_immediate(s, &f);
  bind_add_index(&x.bytes, k, byte_stride(b, 1 - own) * (step ? step->extent : 1));
  bind_add_index(&x.bytes, step, byte_stride(b, 1 - own));
  x.uniform = !x.base.kind;
  return x;
}

/* Loads an operand's elements of one k, widened to the accumulator's dtype. */
static Ref load_source(Bind *s, const NestStmt *st, const Feed *x, Affine *sub) {
  DType t = x->buffer->dtype, acc = st->to; /* the operands may be 8-bit floats of two types */
  NestVar *v = bind_array(s, x->uniform ? "a" : "b", acc, DT_NONE, x->mask, sub);
  NestBuilder outer = bind_open(s, x->mask);
  NestVar *raw = t == acc ? v : bind_var(s, NULL, t, DT_NONE, 1, false);
  Ref to = t == acc ? ref_sub(v, *sub) : ref_var(raw);
  bind_ld_shared(s, to, t, (NestBuffer *)x->buffer, x->base, x->bytes, 1);
  if (t != acc)
    nest_op(&s->b, TILE_CAST, t, ref_sub(v, *sub), to, ref_none(), ref_none())->to = acc;
  bind_close(s, outer);
  return ref_sub(v, *sub);
}

static void multiply_add(Bind *s, const NestStmt *st, Ref acc, Ref a, Ref b) {
  DType t = st->to;
  TileCode words = tile_dot_of_words(nest_str(st, NA_precision, ""));
  if (words != TILE_DOT) {
    nest_op(&s->b, words, t, acc, a, b, acc);
    return;
  }
  if (dtype_is_float(t)) {
    nest_op(&s->b, TILE_FMA, t, acc, a, b, acc);
    return;
  }
  NestVar *p = bind_var(s, NULL, t, DT_NONE, 1, false);
  nest_op(&s->b, TILE_MUL, t, ref_var(p), a, b, ref_none());
  nest_op(&s->b, TILE_ADD, t, acc, acc, ref_var(p), ref_none());
}

static Affine register_subscript(const Bind *s, DimMask mask) {
  Affine sub = affine_const(0);
  for (int d = 0; d < s->ndims; d++)
    if (mask >> d & 1) bind_add_index(&sub, s->dims[d].index, s->dims[d].stride);
  return sub;
}

static void open_serial_loop(Bind *s, NestIndex *ix) {
  NestStmt *u = nest_stmt(&s->b, NEST_SERIAL, 0, 0);
  u->index = ix;
  s->b.block = nest_block(s->nest, u);
  s->b.before = NULL;
}

/* Batches outermost, then columns: B's part for them stays in the nearest cache while rows pass. */
static void open_outer(Bind *s, DimMask outer, int rank) {
  for (int round = 0; round < 3; round++)
    for (int d = 0; d < s->ndims; d++) {
      int axis = s->dims[d].axis;
      int turn = axis == rank - 1 ? 1 : axis == rank - 2 ? 2 : 0;
      if (outer >> d & 1 && turn == round) open_serial_loop(s, s->dims[d].index);
    }
}

/* The loop over k of one block, whose sums are sums[sub]. */
static void emit_steps(Bind *s, const NestStmt *st, const Feed *a, const Feed *b, NestIndex *k,
                       Ref sums) {
  Affine sa, sb;
  open_serial_loop(s, k);
  Ref ra = load_source(s, st, a, &sa), rb = load_source(s, st, b, &sb);
  bind_open(s, a->mask | b->mask);
  multiply_add(s, st, sums, ra, rb);
}

/* ---- multiply-add by vectors of shared memory ---- */

/* An operand whose elements are loaded by vectors along `vector`, a dim of its own axis or the
 * steps of k; -1: one by one. */
typedef struct {
  Feed feed;
  int vector;
  bool along_k;
  NestVar *values;
  Affine at; /* the subscript of `values` */
} VectorFeed;

static bool takes_vectors(const Bind *s, const NestStmt *st) {
  bool same = st->mems[0].buffer->dtype == st->to && st->mems[1].buffer->dtype == st->to;
  return machine_has(s->u->machine, HAS_EXPANDED_LOOPS) && same &&
         machine_has(s->u->machine, HAS_BANKED_SHARED) &&
         (int)dtype_bytes(st->to) < s->u->machine->vector_bytes;
}

/* Are the buffer's elements together along a matrix axis, in rows that begin at vectors? */
static bool lies_along(const Bind *s, const NestBuffer *b, int matrix_axis) {
  const Layout *l = &b->layout;
  int64_t vector = s->u->machine->vector_bytes, size = dtype_bytes(b->dtype);
  for (int i = 0; i < l->ndigits; i++) {
    bool own = l->d[i].axis == b->tile.rank - 2 + matrix_axis;
    if (own ? l->d[i].stride != size : l->d[i].stride % vector != 0) return false;
  }
  return !l->xor_bits;
}

/* Cuts a vector from the thread's neighbors along the operand's own axis; NULL: shared memory or
 * the thread has them apart. */
static NestIndex *cut_vector(Bind *s, const NestBuffer *b, int which, int rank) {
  int32_t elements = s->u->machine->vector_bytes / (int32_t)dtype_bytes(b->dtype);
  int d = s->ndims - 1, axis = rank - 2 + which;
  while (d >= 0 && (s->dims[d].axis != axis || s->dims[d].weight != 1)) d--;
  if (d < 0 || s->dims[d].hw != HW_REG || s->dims[d].extent % elements) return NULL;
  if (!lies_along(s, b, which)) return NULL;
  bool whole = s->dims[d].extent == elements;
  bind_split_dim(s, d, elements);
  return s->dims[whole ? d : d + 1].index;
}

/* Steps of k that are one vector of an operand; 1: none has them together. */
static int32_t steps_of_vector(const Bind *s, const NestStmt *st) {
  const NestBuffer *a = st->mems[0].buffer, *b = st->mems[1].buffer;
  int32_t steps = s->u->machine->vector_bytes / (int32_t)dtype_bytes(st->to);
  bool along = lies_along(s, a, 1) || lies_along(s, b, 0);
  return along && a->tile.shape[a->tile.rank - 1] % steps == 0 ? steps : 1;
}

/* The dim of an index, if it comes first among the registers of the mask; -1: none. */
static int first_in_registers(const Bind *s, const NestIndex *index, DimMask mask) {
  int found = -1;
  for (int d = 0; d < s->ndims; d++)
    if (index && s->dims[d].index == index) found = d;
  for (int d = 0; found >= 0 && d < s->ndims; d++)
    if (mask >> d & 1 && s->dims[d].hw == HW_REG && s->dims[d].stride < s->dims[found].stride)
      return -1;
  return found;
}

static VectorFeed vector_feed(Bind *s, const NestStmt *st, int which, NestIndex *k,
                              NestIndex *step, const NestIndex *own, DimMask mask) {
  VectorFeed x = {.along_k = step && lies_along(s, st->mems[which].buffer, 1 - which)};
  x.vector = first_in_registers(s, x.along_k ? step : own, mask);
  if (x.along_k) mask |= (DimMask)1 << x.vector;
  x.feed = operand_feed(s, st, which, k, step, mask);
  return x;
}

/* Loads what one step of k, or all steps of a vector, need of the operand. */
static void load_vectors(Bind *s, VectorFeed *x, const char *name) {
  NestBuffer *b = (NestBuffer *)x->feed.buffer;
  DimMask open = x->feed.mask;
  x->values = bind_array(s, name, b->dtype, DT_NONE, open, &x->at);
  Affine first = x->at, bytes = x->feed.bytes;
  int64_t count = 1;
  if (x->vector >= 0) {
    const Dim *v = &s->dims[x->vector];
    affine_drop(&first, v->index);
    affine_drop(&bytes, v->index);
    open &= ~((DimMask)1 << x->vector);
    count = v->extent;
  }
  NestBuilder outer = bind_open(s, open);
  bind_ld_shared(s, ref_sub(x->values, first), b->dtype, b, x->feed.base, bytes, count);
  bind_close(s, outer);
}

/* All of the thread's sums stay in registers, and a vector's steps of k are unrolled, in order. */
static void dot_by_vectors(Bind *s, const NestStmt *st) {
  NestVar *d = st->dsts[0].var;
  const Layout l = *d->layout;
  bind_start(s, NULL, &l);
  NestIndex *own[2];
  for (int i = 0; i < 2; i++) own[i] = cut_vector(s, st->mems[i].buffer, i, l.rank);
  Block blk = plan_block(s, l.rank, 0, 0);
  DimMask both = blk.rows | blk.cols;
  Affine sums = register_subscript(s, both | blk.outer);
  int32_t steps = steps_of_vector(s, st);
  NestIndex *k = nest_index(s->nest, "k", st->mems[0].buffer->tile.shape[l.rank - 1] / steps);
  NestIndex *step = steps > 1 ? nest_index(s->nest, "step", steps) : NULL;
  if (step) push_dim(s, HW_REG, steps, 0, step);
  NestBuilder outer = s->b;
  open_outer(s, blk.outer, l.rank);
  VectorFeed x[2] = {vector_feed(s, st, 0, k, step, own[0], blk.rows),
                     vector_feed(s, st, 1, k, step, own[1], blk.cols)};
  static const char *const names[] = {"a", "b"};
  open_serial_loop(s, k);
  for (int i = 0; i < 2; i++)
    if (x[i].along_k) load_vectors(s, &x[i], names[i]);
  bind_unroll(s, step);
  for (int i = 0; i < 2; i++)
    if (!x[i].along_k) load_vectors(s, &x[i], names[i]);
  bind_open(s, both);
  multiply_add(s, st, ref_sub(d, sums), ref_sub(x[0].values, x[0].at),
               ref_sub(x[1].values, x[1].at));
  s->b = outer;
}

static void dot_fma(Bind *s, const NestStmt *st) {
  NestVar *d = st->dsts[0].var;
  int rank = d->tile.rank;
  const Layout l = *d->layout;
  DType t = st->to;
  bool tiled = is_tiled(s, st);
  bind_start(s, NULL, &l);
  Block blk = tiled ? plan_tiles(s, st, rank) : plan_block(s, rank, 0, 0);
  NestIndex *k = nest_index(s->nest, "k", operand_size(st, 0, 1));
  NestBuilder outer = s->b;
  open_outer(s, blk.outer, rank);
  Feed a = operand_feed(s, st, 0, k, NULL, blk.rows),
       b = operand_feed(s, st, 1, k, NULL, blk.cols);
  DimMask both = blk.rows | blk.cols;
  Affine sub;
  Affine whole = register_subscript(s, both | blk.outer);
  if (tiled || is_called(s, st)) {
    emit_steps(s, st, &a, &b, k, ref_sub(d, whole));
    s->b = outer;
    return;
  }
  NestVar *acc = bind_array(s, "acc", t, DT_NONE, both, &sub);
  NestBuilder at = bind_open(s, both);
  nest_mov(&s->b, ref_sub(acc, sub), ref_sub(d, whole), t);
  bind_close(s, at);
  emit_steps(s, st, &a, &b, k, ref_sub(acc, sub));
  s->b = at;
  at = bind_open(s, both);
  nest_mov(&s->b, ref_sub(d, whole), ref_sub(acc, sub), t);
  s->b = outer;
}

void bind_dot(Bind *s, const NestStmt *st) {
  const char *name = nest_str(st, NA_atom, NULL);
  const Atom *atom = name ? atom_find(name) : NULL;
  if (!atom && takes_vectors(s, st)) dot_by_vectors(s, st);
  else if (!atom) dot_fma(s, st);
  else if (atom->warps > 1) bind_group_dot(s, st, atom);
  else dot_mma(s, st);
}
