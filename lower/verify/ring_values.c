/* Integers of a state: ranges, facts about two of them, assignments.  See ring.h. */
#include <string.h>

#include "lower/verify/ring.h"

static const int64_t LIMITLESS = INT64_C(1) << 60;

/* All bits up to the highest one of `v`. */
static int64_t filled(int64_t v) {
  for (int by = 1; by < 64; by *= 2) v |= v >> by;
  return v;
}

static Range range(int64_t lo, int64_t hi) {
  bool small = lo >= 0 && hi <= UINT32_MAX;
  uint32_t bits = small ? (uint32_t)(lo == hi ? hi : filled(hi)) : UINT32_MAX;
  return (Range){lo, hi, NO_SYMBOL, bits, 0, 0};
}

/* A range where other bits than these are known to be 0. */
static Range range_bits(int64_t lo, int64_t hi, uint32_t bits) {
  Range r = range(lo, hi < bits ? hi : bits);
  r.bits &= bits;
  return r;
}

static Range anything(void) { return range(-LIMITLESS, LIMITLESS); }
static Range relative(int32_t symbol, int64_t by) {
  return (Range){by, by, symbol, UINT32_MAX, 0, 0};
}
Range range_const(int64_t v) { return range(v, v); }
Range range_indices(const NestIndex *i) { return range(0, i->extent - 1); }

static bool is_number(const Range *r) { return r->symbol >= NO_SYMBOL; }
static bool is_single(const Range *r) { return is_number(r) && r->lo == r->hi; }
bool range_is_const(const Range *r, int64_t v) {
  return r->symbol == NO_SYMBOL && r->lo == v && r->hi == v;
}

static int64_t limited(__int128 v) {
  return v > LIMITLESS ? LIMITLESS : v < -LIMITLESS ? -LIMITLESS : (int64_t)v;
}

static Range multiply(Range x, Range y);

Range range_affine(const Check *c, const Affine *a) {
  Range r = range_const(a->c);
  for (int i = 0; i < a->n; i++)
    r = range_add(r, multiply(c->index[a->t[i].index->id], range_const(a->t[i].coef)));
  return r;
}

Range range_of(const Check *c, const State *s, const Ref *r) {
  if (r->kind == REF_AFFINE) return range_affine(c, &r->sub);
  if (r->kind != REF_VAR) return anything();
  int32_t place = c->place[r->var->id];
  if (place >= 0) return s->values[place];
  bool symbol = r->var->is_param && dtype_is_int(r->var->dtype);
  return symbol ? relative((int32_t)r->var->id, 0) : anything();
}

static bool is_natural(const Range *r) {
  return r->symbol == NO_SYMBOL && r->lo >= 0 && r->hi <= UINT32_MAX;
}

Range range_add(Range x, Range y) {
  if (!is_number(&x) || !is_number(&y) || (x.symbol >= 0 && y.symbol >= 0)) return anything();
  int64_t lo = limited((__int128)x.lo + y.lo), hi = limited((__int128)x.hi + y.hi);
  if (is_natural(&x) && is_natural(&y) && !(x.bits & y.bits))
    return range_bits(lo, hi, x.bits | y.bits);
  Range r = range(lo, hi);
  r.symbol = x.symbol >= 0 ? x.symbol : y.symbol;
  if (r.symbol >= 0) r.bits = UINT32_MAX;
  return r;
}

/* ---- facts ---- */

static Fact *find_fact(State *s, int32_t a, int32_t b) {
  for (uint32_t i = 0; i < s->nfacts; i++)
    if (s->facts[i].a == a && s->facts[i].b == b) return &s->facts[i];
  return NULL;
}

static void remove_fact(State *s, Fact *f) {
  Fact *last = &s->facts[--s->nfacts];
  memmove(f, f + 1, (size_t)((char *)last - (char *)f));
  memset(last, 0, sizeof *last);
}

/* b - a, in either order. */
static Range difference(State *s, int32_t a, int32_t b) {
  if (a == b) return range_const(0);
  const Fact *f = find_fact(s, a < b ? a : b, a < b ? b : a);
  if (!f) return anything();
  return a < b ? range(f->lo, f->hi) : range(-f->hi, -f->lo);
}

static bool comes_after(const Fact *x, const Fact *y) {
  return x->a != y->a ? x->a > y->a : x->b > y->b;
}

static void learn(State *s, int32_t a, int32_t b, int64_t lo, int64_t hi) {
  if (a == b) return;
  Fact f = a < b ? (Fact){lo, hi, a, b} : (Fact){-hi, -lo, b, a};
  Fact *old = find_fact(s, f.a, f.b);
  if (old) remove_fact(s, old);
  if (f.lo <= -LIMITLESS && f.hi >= LIMITLESS) return;
  if (s->nfacts == MOST_FACTS) remove_fact(s, s->facts);
  uint32_t at = s->nfacts++;
  for (; at && comes_after(&s->facts[at - 1], &f); at--) s->facts[at] = s->facts[at - 1];
  s->facts[at] = f;
}

/* `yes` and `no`, if given, learn the outcome that is theirs. */
static int decide_less(State *now, State *yes, State *no, Range x, Range y) {
  if (!is_number(&x) || !is_number(&y)) return -1;
  if (x.symbol == y.symbol) return x.hi < y.lo ? 1 : x.lo >= y.hi ? 0 : -1;
  if (!is_single(&x) || !is_single(&y)) return -1;
  int64_t more_than = x.lo - y.lo;
  Range d = difference(now, x.symbol, y.symbol);
  if (d.lo > more_than) return 1;
  if (d.hi <= more_than) return 0;
  if (!yes || !no) return -1;
  learn(yes, x.symbol, y.symbol, more_than + 1, d.hi);
  learn(no, x.symbol, y.symbol, d.lo, more_than);
  return -1;
}

static int decide_equal(State *s, Range x, Range y) {
  if (!is_number(&x) || !is_number(&y)) return -1;
  Range d = difference(s, x.symbol, y.symbol);
  int64_t least = limited((__int128)d.lo + y.lo - x.hi);
  int64_t most = limited((__int128)d.hi + y.hi - x.lo);
  if (least > 0 || most < 0) return 0;
  return least == 0 && most == 0 ? 1 : -1;
}

static int opposite(int outcome) { return outcome < 0 ? outcome : !outcome; }

int ring_decide(State *s, State *other, TileCode op, Range x, Range y) {
  switch (op) {
    case TILE_LT: return decide_less(s, s, other, x, y);
    case TILE_GT: return decide_less(s, s, other, y, x);
    case TILE_LE: return opposite(decide_less(s, other, s, y, x));
    case TILE_GE: return opposite(decide_less(s, other, s, x, y));
    case TILE_EQ: return decide_equal(s, x, y);
    case TILE_NE: return opposite(decide_equal(s, x, y));
    default: return -1;
  }
}

/* ---- what is relative to a variable ---- */

static Range unknown_value(const Check *c, int32_t place) {
  int32_t id = c->symbols[place];
  const NestVar *v = c->n->vars[id];
  return v->uniform && v->count == 1 ? relative(id, 0) : anything();
}

static void forget_facts(State *s, int32_t symbol) {
  for (uint32_t i = 0; i < s->nfacts;)
    if (s->facts[i].a == symbol || s->facts[i].b == symbol) remove_fact(s, &s->facts[i]);
    else i++;
}

void ring_forget(Check *c, State *s, int32_t symbol) {
  for (uint32_t i = 0; i < c->nvalues; i++)
    if (s->values[i].symbol == symbol) s->values[i] = unknown_value(c, (int32_t)i);
  forget_facts(s, symbol);
}

static int64_t within(int64_t v, int64_t low, int64_t high) {
  return v < low ? low : v > high ? high : v;
}

void ring_move(Check *c, State *s, int32_t symbol, int64_t by, Near near) {
  for (uint32_t i = 0; i < c->nvalues; i++) {
    Range *v = &s->values[i];
    if (v->symbol != symbol || c->symbols[i] == symbol) continue;
    v->lo -= by;
    v->hi -= by;
  }
  Fact old[MOST_FACTS];
  uint32_t n = s->nfacts;
  memcpy(old, s->facts, sizeof old);
  forget_facts(s, symbol);
  for (uint32_t i = 0; i < n; i++) {
    bool first = old[i].a == symbol;
    if (!first && old[i].b != symbol) continue;
    bool limit = is_single(&near.limit) && (first ? old[i].b : old[i].a) == near.limit.symbol;
    int64_t to = !limit ? 0 : first ? -near.limit.lo : near.limit.lo;
    int64_t least = to - near.most, most = to + near.most;
    int64_t lo = limited((__int128)old[i].lo + (first ? -by : by));
    int64_t hi = limited((__int128)old[i].hi + (first ? -by : by));
    lo = lo < least ? -LIMITLESS : within(lo, least, most);
    hi = hi > most ? LIMITLESS : within(hi, least, most);
    learn(s, old[i].a, old[i].b, lo, hi);
  }
}

void ring_rebase_fact(State *s, Range from, Range limit, int32_t to) {
  if (!is_single(&from) || !is_single(&limit)) return;
  Range d = difference(s, from.symbol, limit.symbol);
  learn(s, to, limit.symbol, limited((__int128)d.lo - from.lo), limited((__int128)d.hi - from.lo));
}

void ring_link(State *s, int32_t place, Range from, int32_t to) {
  Range *v = &s->values[place];
  if (is_single(v) && is_single(&from) && v->symbol == from.symbol)
    *v = relative(to, v->lo - from.lo);
}

/* ---- operations ---- */

static Range join_ranges(Range x, Range y) {
  if (x.symbol == UNSET) return y;
  if (y.symbol == UNSET) return x;
  if (x.symbol < NO_SYMBOL || y.symbol < NO_SYMBOL)
    return x.symbol == y.symbol ? x : range(0, 1);
  if (x.symbol != y.symbol) return anything();
  x.lo = x.lo < y.lo ? x.lo : y.lo;
  x.hi = x.hi > y.hi ? x.hi : y.hi;
  x.bits |= y.bits;
  if (!y.split || x.shift != y.shift) x.split = 0;
  if (!x.split) x.shift = 0;
  return x;
}

static Range multiply(Range x, Range y) {
  if (range_is_const(&y, 1)) return x;
  if (range_is_const(&x, 1)) return y;
  if (x.symbol != NO_SYMBOL || y.symbol != NO_SYMBOL) return anything();
  Range r = range(LIMITLESS, -LIMITLESS);
  for (int i = 0; i < 4; i++) {
    int64_t v = limited((__int128)(i & 1 ? x.lo : x.hi) * (i & 2 ? y.lo : y.hi));
    r.lo = v < r.lo ? v : r.lo;
    r.hi = v > r.hi ? v : r.hi;
  }
  r = range(r.lo, r.hi);
  bool power = is_single(&y) && y.lo > 0 && !(y.lo & (y.lo - 1)) && is_natural(&x);
  return power && is_natural(&r) ? range_bits(r.lo, r.hi, (uint32_t)(x.bits * (uint64_t)y.lo)) : r;
}

static Range subtract(Range x, Range y) {
  if (is_single(&x) && is_single(&y) && x.symbol == y.symbol) return range_const(x.lo - y.lo);
  if (!is_number(&y) || y.symbol >= 0) return anything();
  return range_add(x, range(-y.hi, -y.lo));
}

static Range of_bits(TileCode op, Range x, Range y) {
  if (!is_natural(&x) || !is_natural(&y)) {
    const Range *mask = is_natural(&y) ? &y : &x;
    return op == TILE_AND && is_natural(mask) ? range_bits(0, mask->hi, mask->bits) : anything();
  }
  if (is_single(&x) && is_single(&y))
    return range_const(op == TILE_AND  ? x.lo & y.lo
                       : op == TILE_OR ? x.lo | y.lo
                                       : x.lo ^ y.lo);
  if (op == TILE_AND) return range_bits(0, x.hi < y.hi ? x.hi : y.hi, x.bits & y.bits);
  return range_bits(0, filled(x.hi | y.hi), x.bits | y.bits);
}

static Range of_truth(TileCode op, Range x, Range y) {
  bool is_and = op == TILE_AND;
  if (op == TILE_XOR) return range_is_const(&y, 0) ? x : range(0, 1);
  if (range_is_const(&x, !is_and) || range_is_const(&y, !is_and)) return range_const(!is_and);
  if (range_is_const(&x, is_and)) return y;
  if (range_is_const(&y, is_and)) return x;
  bool alike = x.symbol == y.symbol && (x.symbol == LEADER || x.symbol == EACH_WARP);
  return alike ? x : range(0, 1);
}

static Range by_constant(TileCode op, Range x, Range y) {
  bool small = is_single(&y) && y.symbol == NO_SYMBOL && is_natural(&x) && y.lo >= 0;
  if (!small || ((op == TILE_SHL || op == TILE_SHR) && y.lo > 62)) return anything();
  if ((op == TILE_DIV || op == TILE_REM) && !y.lo) return anything();
  switch (op) {
    case TILE_SHR:
      return range_bits(x.lo >> y.lo, x.hi >> y.lo, y.lo < 32 ? x.bits >> y.lo : 0);
    case TILE_SHL: return multiply(x, range_const(INT64_C(1) << y.lo));
    case TILE_DIV: return range(x.lo / y.lo, x.hi / y.lo);
    default: return x.hi < y.lo ? x : is_single(&x) ? range_const(x.lo % y.lo) : range(0, y.lo - 1);
  }
}

static Range of_extremum(TileCode op, Range x, Range y) {
  if (!is_number(&x) || !is_number(&y) || x.symbol != y.symbol) return anything();
  bool least = op == TILE_MIN;
  Range r = x;
  r.lo = (x.lo < y.lo) == least ? x.lo : y.lo;
  r.hi = (x.hi < y.hi) == least ? x.hi : y.hi;
  r.bits |= y.bits;
  return r;
}

static Range of_choice(Range condition, Range x, Range y) {
  if (range_is_const(&condition, 1)) return x;
  if (range_is_const(&condition, 0)) return y;
  return join_ranges(x, y);
}

/* The operand of a sum: what all threads have alike is the sum's shift. */
static Range with_shift(const Ref *r, Range v) {
  if (r->kind != REF_VAR || !r->var->uniform || !is_single(&v) || !is_natural(&v)) return v;
  v.split = 1;
  v.shift = (int32_t)v.lo;
  return v;
}

static Range sum(const NestStmt *st, Range x, Range y) {
  x = with_shift(&st->srcs[0], x);
  y = with_shift(&st->srcs[1], y);
  Range r = range_add(x, y);
  if (st->dsts[0].var->uniform || !is_natural(&r)) return r;
  r.split = x.split | y.split;
  r.shift = x.shift + y.shift;
  return r;
}

static Range computed(const Check *c, const State *s, const NestStmt *st) {
  Range x = st->nsrcs > 0 ? range_of(c, s, &st->srcs[0]) : anything();
  Range y = st->nsrcs > 1 ? range_of(c, s, &st->srcs[1]) : anything();
  if (st->code == NEST_MOV) return x;
  if (st->code == NEST_LANE) return range(0, c->n->lanes - 1);
  if (st->code == NEST_WARP) return range(0, c->n->warps - 1);
  if (st->code == NEST_CLUSTER_RANK) return range(0, c->n->cluster - 1);
  if (st->code != NEST_OP || dtype_is_float(st->type)) return anything();
  switch (st->op) {
    case TILE_ADD: return sum(st, x, y);
    case TILE_SUB: return subtract(x, y);
    case TILE_MUL: return multiply(x, y);
    case TILE_AND: case TILE_OR: case TILE_XOR:
      return st->type == DT_I1 ? of_truth(st->op, x, y) : of_bits(st->op, x, y);
    case TILE_SHR: case TILE_SHL: case TILE_DIV: case TILE_REM: return by_constant(st->op, x, y);
    case TILE_MIN: case TILE_MAX: return of_extremum(st->op, x, y);
    case TILE_SELECT: return of_choice(x, y, range_of(c, s, &st->srcs[2]));
    case TILE_CAST: return dtype_represents(st->to, st->type) || is_natural(&x) ? x : anything();
    default: return anything();
  }
}

/* ---- assignments ---- */

State *ring_copy(Check *c, const State *s) {
  bool again = c->spare.len;
  State *copy = again ? c->spare.data[--c->spare.len] : arena_alloc(c->arena, c->state_bytes);
  return memcpy(copy, s, c->state_bytes);
}

void ring_drop(Check *c, State *s) { vec_push(c->arena, &c->spare, s); }

void ring_set(Check *c, State *s, int32_t place, Range v) {
  int32_t self = c->symbols[place];
  if (v.symbol == self && v.lo == v.hi) {
    ring_move(c, s, self, v.lo, (Near){.limit = anything(), .most = LIMITLESS});
    v = relative(self, 0);
  } else {
    ring_forget(c, s, self);
    bool vague = is_number(&v) && (v.lo < -LIMITLESS / 2 || v.hi > LIMITLESS / 2);
    if (vague || v.symbol == self) v = unknown_value(c, place);
  }
  s->values[place] = v;
}

void ring_set_unknown(Check *c, State *s, int32_t place) {
  s->values[place] = unknown_value(c, place);
}

/* A comparison of the lane with 0, or of the lane and the warp together; NO_SYMBOL: another one. */
static int32_t few_threads(const Check *c, const NestStmt *st) {
  const Ref *x = &st->srcs[0], *y = &st->srcs[1];
  if (st->op != TILE_EQ || x->kind != REF_VAR || y->kind != REF_AFFINE || y->sub.n || y->sub.c)
    return NO_SYMBOL;
  const NestStmt *both = c->def[x->var->id];
  if (both && both->code == NEST_LANE) return EACH_WARP;
  if (!both || both->code != NEST_OP || both->op != TILE_OR) return NO_SYMBOL;
  const NestStmt *parts[2] = {0};
  for (int i = 0; i < 2; i++)
    if (both->srcs[i].kind == REF_VAR) parts[i] = c->def[both->srcs[i].var->id];
  if (!parts[0] || !parts[1]) return NO_SYMBOL;
  bool found = (parts[0]->code == NEST_LANE && parts[1]->code == NEST_WARP) ||
               (parts[0]->code == NEST_WARP && parts[1]->code == NEST_LANE);
  return found ? LEADER : NO_SYMBOL;
}

static bool is_comparison(const NestStmt *st) {
  if (st->code != NEST_OP) return false;
  switch (st->op) {
    case TILE_LT: case TILE_LE: case TILE_GT:
    case TILE_GE: case TILE_EQ: case TILE_NE: return true;
    default: return false;
  }
}

/* The outcomes of a comparison that a state does not decide: two states, if all threads have the
 * same outcome. */
static void compare(Check *c, State *s, const NestStmt *st, int32_t place, States *forks) {
  Range x = range_of(c, s, &st->srcs[0]), y = range_of(c, s, &st->srcs[1]);
  bool uniform = st->dsts[0].var->uniform && st->dsts[0].var->count == 1;
  bool natural = dtype_is_signed(st->type) || (is_natural(&x) && is_natural(&y));
  bool known = dtype_is_int(st->type) && natural;
  State *other = uniform ? ring_copy(c, s) : NULL;
  int outcome = known ? ring_decide(s, other, st->op, x, y) : -1;
  Range result = outcome < 0 ? range(0, 1) : range_const(outcome);
  int32_t few = few_threads(c, st);
  if (few != NO_SYMBOL) result = (Range){.symbol = few};
  if (!other || outcome >= 0) {
    if (other) ring_drop(c, other);
    ring_set(c, s, place, result);
    return;
  }
  ring_set(c, s, place, range_const(1));
  ring_set(c, other, place, range_const(0));
  vec_push(c->arena, forks, other);
}

void ring_assign(Check *c, State *s, const Step *step, States *forks) {
  const NestStmt *st = step->st;
  for (uint32_t i = 0; i < st->ndsts; i++) {
    if (st->dsts[i].kind != REF_VAR || c->place[st->dsts[i].var->id] < 0) continue;
    int32_t place = c->place[st->dsts[i].var->id];
    bool all = !st->guard.kind && (step->covers || step->st->dsts[i].var->count == 1);
    if (c->mixed[st->dsts[i].var->id]) {
      ring_set_unknown(c, s, place);
      continue;
    }
    if (all && is_comparison(st)) compare(c, s, st, place, forks);
    else if (all) ring_set(c, s, place, computed(c, s, st));
    else ring_set(c, s, place, join_ranges(s->values[place], computed(c, s, st)));
  }
}
