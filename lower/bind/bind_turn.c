/* A tile of shared memory that is turned there: where one axis was contiguous, the other one is.
 *
 * Lanes read what is next to each other and write what is next to each other, in different banks
 * each time, whatever the swizzle.  Of words, a lane reads four rows of one column, and writes them
 * as 16 bytes:
 *
 *   for a warp's units of 4 rows by 32 columns { 4 times: ld ; st of 4 }
 *
 * Bytes go through ldmatrix, which gives a lane 4 rows of two columns, next to each other.  Half of
 * the lanes write the second one first:
 *
 *   for a warp's units of 32 rows by 16 columns { ldmatrix ; 4 times: select ; st of a word }
 */
#include "lower/bind/bind.h"
#include "lower/target/wgmma_layout.h"

enum { MOST_DIGITS = 8, LANE_BITS = 5 };

/* A digit of the units that a warp turns. */
typedef struct {
  NestIndex *index;
  int axis;
  int64_t elements; /* along the axis */
} UnitDigit;

typedef struct {
  const NestStmt *st;
  WgmmaTurn how;
  WgmmaOperand x[2]; /* to, from */
  UnitDigit digit[MOST_DIGITS];
  int ndigits;
} Turn;

/* An address: the thread's part, swizzled; what digits of registers exchange of its chunks, and
 * what they add. */
typedef struct {
  Ref thread;
  Affine flips, bytes;
} Place;

static Turn plan_turn(const NestStmt *st, int warps) {
  Turn t = {.st = st};
  BUG_IF(!wgmma_turn_of(st, warps, &t.how), "a turn of other layouts");
  for (int i = 0; i < 2; i++)
    t.x[i] = (WgmmaOperand){st->mems[i].buffer->tile, st->mems[i].buffer->layout};
  int64_t bytes;
  if (t.how.pairs) t.x[0].layout = wgmma_layout(&t.x[0].tile, 0, &bytes);
  return t;
}

static void push_units(Bind *s, Turn *t, int axis, int64_t elements, int32_t extent) {
  if (extent == 1) return;
  if (t->ndigits == MOST_DIGITS) bind_refuse(s, bind_too_many_digits);
  t->digit[t->ndigits++] = (UnitDigit){nest_index(s->nest, "u", extent), axis, elements};
}

/* A power of two goes bit by bit, since rows end after some. */
static void push_all_units(Bind *s, Turn *t) {
  for (int i = 0; i < 2; i++) {
    int64_t elements = (int64_t)t->how.step[i] * t->how.warps[i];
    int32_t left = t->how.units[i];
    for (; left % 2 == 0; left /= 2, elements *= 2) push_units(s, t, t->how.axis[i], elements, 2);
    push_units(s, t, t->how.axis[i], elements, left);
  }
}

static void push_thread(Bind *s, Form *f, HwDim hw, int bit, int64_t bytes) {
  f->g[0].coef[s->ndims] = bytes;
  s->dims[s->ndims++] = (Dim){0, 0, 2, hw, 1 << bit, NULL};
}

static Form start_form(Bind *s) {
  s->ndims = 0;
  s->stmt = NULL;
  s->id++;
  return form_const(0);
}

static void push_warps(Bind *s, Form *f, const WgmmaTurn *how, const WgmmaOperand *x) {
  int bit = 0;
  for (int i = 0; i < 2; i++)
    for (int64_t w = 1; w < how->warps[i]; w *= 2)
      push_thread(s, f, HW_WARP, bit++, wgmma_step(x, how->axis[i], w * how->step[i]));
}

/* Adds a digit of registers, whose bits the thread's part has not. */
static void add_digit(Place *p, const Layout *l, NestIndex *index, int64_t bytes) {
  int64_t chunk = INT64_C(1) << l->xor_base, row = chunk << l->xor_bits;
  int64_t flips = bytes < chunk ? 0 : bytes < row ? bytes : (bytes >> l->xor_shift) & (row - chunk);
  bind_add_index(&p->flips, index, flips);
  if (bytes < chunk || bytes >= row) bind_add_index(&p->bytes, index, bytes);
}

static void add_digits(Place *p, const Turn *t, int which) {
  const WgmmaOperand *x = &t->x[which];
  for (int i = 0; i < t->ndigits; i++)
    add_digit(p, &x->layout, t->digit[i].index,
              wgmma_step(x, t->digit[i].axis, t->digit[i].elements));
}

static Place place_of(Bind *s, const Turn *t, int which, const Form *f, Ref also) {
  Place p = {.flips = affine_const(0), .bytes = t->st->mems[which].bytes};
  Affine none;
  DimMask mask;
  p.thread = bind_swizzle_with(s, f, also, &t->x[which].layout, &none, &mask);
  add_digits(&p, t, which);
  return p;
}

/* The address as the base of an access, to which p->bytes are added. */
static Ref base_at(Bind *s, const Place *p, const Mem *m) {
  Ref r = p->thread;
  if (p->flips.n) r = bind_op(s, TILE_XOR, DT_I32, r, ref_affine(p->flips));
  return m->base.kind ? bind_op(s, TILE_ADD, DT_I32, r, m->base) : r;
}

static NestBuilder open_units(Bind *s, const Turn *t) {
  NestBuilder outer = s->b;
  for (int i = 0; i < t->ndigits; i++) bind_unroll(s, t->digit[i].index);
  return outer;
}

/* ---- words ---- */

static void turn_words(Bind *s, Turn *t) {
  enum { ROWS = 4 };
  int rows = t->how.axis[0], columns = t->how.axis[1];
  Place at[2];
  push_all_units(s, t);
  NestIndex *row = nest_index(s->nest, "r", ROWS);
  for (int i = 0; i < 2; i++) {
    Form f = start_form(s);
    for (int bit = 0; bit < LANE_BITS; bit++)
      push_thread(s, &f, HW_LANE, bit, wgmma_step(&t->x[i], columns, INT64_C(1) << bit));
    push_warps(s, &f, &t->how, &t->x[i]);
    at[i] = place_of(s, t, i, &f, ref_none());
  }
  add_digit(&at[1], &t->x[1].layout, row, wgmma_step(&t->x[1], rows, 1));
  const Mem *to = &t->st->mems[0], *from = &t->st->mems[1];
  DType type = from->buffer->dtype;
  NestBuilder outer = open_units(s, t);
  NestVar *words = bind_var(s, "w", type, DT_NONE, ROWS, false);
  NestBuilder inner = s->b;
  bind_unroll(s, row);
  bind_ld_shared(s, ref_sub(words, affine_index(row, 1)), type, from->buffer,
                 base_at(s, &at[1], from), at[1].bytes, 1);
  s->b = inner;
  Ref base = base_at(s, &at[0], to);
  NestStmt *st = nest_stmt(&s->b, NEST_ST, 0, 1);
  st->type = type;
  st->srcs[0] = ref_var(words);
  st->mems[0] = (Mem){to->buffer, base, at[0].bytes};
  nest_set_int(s->nest, st, NA_n, ROWS);
  s->b = outer;
}

/* ---- bytes ---- */

static Ref lane_bits(Bind *s, int first, int bits) {
  ThreadForm f = {.n = 0};
  Dim d = {0, 0, 1 << bits, HW_LANE, 1 << first, NULL};
  thread_form_add(&f, &d, 1);
  return bind_thread_const(s, &f);
}

Ref bind_matrix_row(Bind *s, int64_t row_bytes) {
  static const struct {
    int bit, rows;
  } linear[] = {{0, 1}, {1, 4}, {2, 8}, {4, 16}};
  ThreadForm f = {.n = 0};
  for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
    Dim d = {0, 0, 2, HW_LANE, 1 << linear[i].bit, NULL};
    thread_form_add(&f, &d, linear[i].rows * row_bytes);
  }
  Ref late = bind_op(s, TILE_XOR, DT_I32, lane_bits(s, 2, 1), lane_bits(s, 3, 1));
  Ref two = bind_op(s, TILE_MUL, DT_I32, late, ref_int(2 * row_bytes));
  return bind_op(s, TILE_ADD, DT_I32, bind_thread_const(s, &f), two);
}

/* The row of a matrix whose address the lane has: pairs of rows of two matrices make words. */
static Ref matrix_row(Bind *s, const Turn *t) {
  int64_t row_bytes = wgmma_step(&t->x[1], t->how.axis[1], 1);
  if (!t->how.pairs) return bind_matrix_row(s, row_bytes);
  ThreadForm f = {.n = 0};
  Dim d = {0, 0, 1 << LANE_BITS, HW_LANE, 1, NULL};
  thread_form_add(&f, &d, row_bytes);
  return bind_thread_const(s, &f);
}

/* The thread's word of the two columns: of the second one first, in lanes 16 to 31. */
static Form word_form(Bind *s, const Turn *t, int turn) {
  int rows = t->how.axis[1], columns = t->how.axis[0];
  const WgmmaOperand *x = &t->x[0];
  Form f = start_form(s);
  int64_t next = wgmma_step(x, columns, 1);
  for (int bit = 0; bit < 2; bit++)
    push_thread(s, &f, HW_LANE, bit, wgmma_step(x, rows, INT64_C(4) << bit));
  for (int bit = 0; bit < 3; bit++)
    push_thread(s, &f, HW_LANE, bit + 2, wgmma_step(x, columns, INT64_C(2) << bit));
  f.g[0].coef[s->ndims - 1] += turn ? -next : next;
  f.g[0].c = turn ? next : 0;
  push_warps(s, &f, &t->how, x);
  return f;
}

static void turn_bytes(Bind *s, Turn *t) {
  enum { WORDS = 4, PAIRS = 2, ROWS = 16 };
  int rows = t->how.axis[1];
  const Mem *to = &t->st->mems[0], *from = &t->st->mems[1];
  push_all_units(s, t);
  NestIndex *half = nest_index(s->nest, "h", PAIRS);
  Form f = start_form(s);
  push_warps(s, &f, &t->how, &t->x[1]);
  Place source = place_of(s, t, 1, &f, matrix_row(s, t));
  Place word[2];
  for (int i = 0; i < 2; i++) {
    Form w = word_form(s, t, i);
    word[i] = place_of(s, t, 0, &w, ref_none());
    add_digit(&word[i], &t->x[0].layout, half, wgmma_step(&t->x[0], rows, ROWS));
  }
  Ref late = bind_op(s, TILE_NE, DT_I32, lane_bits(s, 4, 1), ref_int(0));
  NestBuilder outer = open_units(s, t);
  NestVar *words = bind_var(s, "w", DT_I32, DT_NONE, WORDS, false);
  Ref base = base_at(s, &source, from);
  NestStmt *ld = nest_stmt(&s->b, NEST_LDMATRIX, 1, 0);
  ld->dsts[0] = ref_var(words);
  ld->type = DT_I32;
  ld->mems[0] = (Mem){from->buffer, base, source.bytes};
  nest_set_int(s->nest, ld, NA_n, WORDS);
  nest_set_int(s->nest, ld, NA_trans, 1);
  if (t->how.pairs) nest_set_int(s->nest, ld, NA_pairs, 1);
  bind_unroll(s, half);
  Affine first = affine_index(half, 2), second = first;
  second.c = 1;
  for (int i = 0; i < 2; i++) {
    Ref a = ref_sub(words, i ? first : second), b = ref_sub(words, i ? second : first);
    NestVar *v = bind_var(s, NULL, DT_I32, DT_NONE, 1, false);
    nest_op(&s->b, TILE_SELECT, DT_I32, ref_var(v), late, a, b);
    bind_st_shared(s, ref_var(v), DT_I32, to->buffer, base_at(s, &word[i], to), word[i].bytes,
                   ref_none());
  }
  s->b = outer;
}

void bind_turn(Bind *s, const NestStmt *st) {
  Turn t = plan_turn(st, s->nest->warps);
  if (dtype_bytes(st->mems[0].buffer->dtype) == 1) turn_bytes(s, &t);
  else turn_words(s, &t);
}
