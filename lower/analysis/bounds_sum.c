/* Addresses and comparisons as sums of products of symbols.  Where a comparison says L + c < 0, and
 * an address contains s * L, this part of it is at most s * (-c - 1), however the symbols of L
 * depend on each other. */
#include "lower/analysis/bounds.h"

#include <string.h>

#include "lower/analysis/values.h"

enum { MOST_SYMBOLS = 24, MOST_FACTORS = 3, MOST_TERMS = 12, MOST_ORDERS = 8, MOST_WHOLE = 12 };

/* A number that one instance of the access has: a value's element, or a loop's iteration. */
typedef struct {
  const TileValue *value; /* of an iteration: the loop's index */
  uint32_t axes;
  bool turn;
} Symbol;

/* coef * symbols, by number from 1 on, the largest first, 0 at the end */
typedef struct {
  int64_t coef;
  uint8_t of[MOST_FACTORS];
} Term;

typedef struct {
  int n;
  Term t[MOST_TERMS];
} Sum;

/* What must fit into a type for the sums to be the numbers that the kernel computes. */
typedef struct {
  Sum sum;
  unsigned bits;
  bool offset; /* a part of the address: by itself, no comparison depends on it */
} Whole;

typedef struct {
  Bounds *b;
  int nsymbols, norders, nwhole;
  Symbol symbols[MOST_SYMBOLS + 1];
  Sum orders[MOST_ORDERS]; /* each is less than 0 */
  bool met[MOST_ORDERS];   /* intervals of single values say the same */
  Whole whole[MOST_WHOLE];
} Sums;

/* ---- arithmetic ---- */

static bool same_symbols(const Term *x, const Term *y) {
  return !memcmp(x->of, y->of, sizeof x->of);
}

static int find_term(const Sum *s, const Term *t) {
  for (int i = 0; i < s->n; i++)
    if (same_symbols(&s->t[i], t)) return i;
  return -1;
}

static bool add_term(Sum *s, Term t) {
  int i = find_term(s, &t);
  if (i < 0 && s->n == MOST_TERMS) return false;
  if (i < 0) s->t[i = s->n++] = (Term){.of = {t.of[0], t.of[1], t.of[2]}};
  if (__builtin_add_overflow(s->t[i].coef, t.coef, &s->t[i].coef)) return false;
  if (!s->t[i].coef) s->t[i] = s->t[--s->n];
  return true;
}

static bool multiply_terms(Term *out, const Term *x, const Term *y) {
  int i = 0, k = 0, n = 0;
  *out = (Term){0};
  while ((i < MOST_FACTORS && x->of[i]) || (k < MOST_FACTORS && y->of[k])) {
    uint8_t a = i < MOST_FACTORS ? x->of[i] : 0, c = k < MOST_FACTORS ? y->of[k] : 0;
    if (n == MOST_FACTORS) return false;
    out->of[n++] = a >= c ? a : c;
    if (a >= c) i++;
    else k++;
  }
  return !__builtin_mul_overflow(x->coef, y->coef, &out->coef);
}

/* to += by * s */
static bool add_product(Sum *to, const Sum *s, const Term *by) {
  Term t;
  for (int i = 0; i < s->n; i++)
    if (!multiply_terms(&t, &s->t[i], by) || !add_term(to, t)) return false;
  return true;
}

static bool add_sum(Sum *to, const Sum *s, int64_t by) {
  return add_product(to, s, &(Term){.coef = by});
}

static bool multiply_sums(Sum *out, const Sum *x, const Sum *y) {
  *out = (Sum){0};
  for (int i = 0; i < y->n; i++)
    if (!add_product(out, x, &y->t[i])) return false;
  return true;
}

/* x = s * y */
static bool divide_terms(Term *s, const Term *x, const Term *y) {
  Term again;
  int k = 0, n = 0;
  if (!y->coef || x->coef == INT64_MIN || x->coef % y->coef) return false;
  *s = (Term){.coef = x->coef / y->coef};
  for (int i = 0; i < MOST_FACTORS && x->of[i]; i++) {
    if (k < MOST_FACTORS && x->of[i] == y->of[k]) k++;
    else s->of[n++] = x->of[i];
  }
  return multiply_terms(&again, s, y) && same_symbols(&again, x) && again.coef == x->coef;
}

/* ---- expanding ---- */

static bool same_attr(const TileAttr *x, const TileAttr *y) {
  return x->key == y->key && x->i == y->i && x->f == y->f && x->s == y->s && x->len == y->len &&
         (!x->len || !memcmp(x->list, y->list, x->len * sizeof *x->list));
}

/* Are they computed alike from the same values? */
static bool same_value(Sums *x, const TileValue *v, const TileValue *w) {
  const TileOp *p = v->def, *q = w->def;
  if (v == w) return true;
  if (!p || !q || p->code != q->code || p->code == TILE_UNDEF || --x->b->steps < 0) return false;
  bool pure = tile_op_flags(p->code) & TILE_PURE && !p->nregions && p->nresults == 1;
  bool alike = pure && v->type.dtype == w->type.dtype && type_same_shape(v->type, w->type) &&
               p->nargs == q->nargs && p->nattrs == q->nattrs;
  for (uint32_t i = 0; alike && i < p->nattrs; i++) alike = same_attr(&p->attrs[i], &q->attrs[i]);
  for (uint32_t i = 0; alike && i < p->nargs; i++)
    alike = p->args[i] && q->args[i] && same_value(x, p->args[i], q->args[i]);
  return alike;
}

static bool add_symbol(Sums *x, Sum *out, const TileValue *v, bool turn) {
  Symbol s = {v, turn ? 0 : x->b->axes, turn};
  int i = 1;
  while (i <= x->nsymbols && (x->symbols[i].turn != turn || x->symbols[i].axes != s.axes ||
                              !same_value(x, x->symbols[i].value, v)))
    i++;
  if (i > MOST_SYMBOLS) return false;
  if (i > x->nsymbols) x->symbols[x->nsymbols = i] = s;
  *out = (Sum){1, {{1, {(uint8_t)i}}}};
  return true;
}

/* The sum is a number of the type as the kernel computes it, if it fits. */
static bool note_whole(Sums *x, const Sum *s, DType type, bool offset) {
  bool plain = !s->n || (s->n == 1 && s->t[0].coef == 1 && !s->t[0].of[1]);
  if (plain || dtype_bits(type) == 64) return true;
  if (x->nwhole == MOST_WHOLE) return false;
  x->whole[x->nwhole++] = (Whole){*s, dtype_bits(type), offset};
  return true;
}

static bool expand(Sums *x, const TileValue *v, Sum *out);

static bool expand_op(Sums *x, const TileOp *op, Sum *out) {
  Sum a, b = {0};
  if (!expand(x, op->args[0], &a) || (op->code != TILE_NEG && !expand(x, op->args[1], &b)))
    return false;
  if (op->code == TILE_MUL) return multiply_sums(out, &a, &b);
  *out = (Sum){0};
  return add_sum(out, &a, op->code == TILE_NEG ? -1 : 1) &&
         add_sum(out, &b, op->code == TILE_SUB ? -1 : 1);
}

/* Is the sum one number in all iterations of the loop? */
static bool is_invariant(const Sums *x, const Sum *s, const TileOp *loop) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < MOST_FACTORS && s->t[i].of[k]; k++) {
      const TileValue *v = x->symbols[s->t[i].of[k]].value;
      const TileBlock *in = v->def ? v->def->parent : v->block;
      bool fixed = v->def && v->def->code == TILE_ARANGE;
      for (; in && !fixed; in = in->owner ? in->owner->parent : NULL)
        if (in->owner == loop) return false;
    }
  return true;
}

/* out += the iteration's number * step */
static bool add_turns(Sums *x, const TileOp *loop, const Sum *step, Sum *out) {
  Sum turn, turns;
  return is_invariant(x, step, loop) && add_symbol(x, &turn, loop->regions[0]->params[0], true) &&
         multiply_sums(&turns, step, &turn) && add_sum(out, &turns, 1);
}

/* What an iteration adds to a carried value. */
static bool expand_step(Sums *x, const TileValue *param, Sum *out) {
  const TileOp *loop = param->block->owner;
  uint32_t axes = x->b->axes;
  const TileValue *v = bounds_root(x->b, loop->regions[0]->last->args[param->index - 1]);
  *out = (Sum){0};
  while (v != param) {
    const TileOp *op = v->def;
    Sum by;
    bool adds = op && (op->code == TILE_ADD || op->code == TILE_SUB || op->code == TILE_PTR_ADD);
    if (!adds) return false;
    bool swapped = op->code == TILE_ADD && tile_root_value(op->args[1]) == param;
    if (!expand(x, op->args[!swapped], &by) || !add_sum(out, &by, op->code == TILE_SUB ? -1 : 1))
      return false;
    bool offset = op->code == TILE_PTR_ADD;
    if (offset && !note_whole(x, &by, (DType)tile_root_value(op->args[1])->type.dtype, false))
      return false;
    v = bounds_root(x->b, op->args[swapped]);
  }
  return x->b->axes == axes; /* else from other elements */
}

/* The index of a loop, or a value that it carries. */
static bool expand_param(Sums *x, const TileValue *v, Sum *out) {
  const TileOp *loop = v->block ? v->block->owner : NULL;
  Sum step;
  if (!loop || loop->code != TILE_FOR) return false;
  bool index = !v->index;
  return (index ? expand(x, loop->args[2], &step) : expand_step(x, v, &step)) &&
         expand(x, loop->args[index ? 0 : v->index + 2], out) && add_turns(x, loop, &step, out) &&
         note_whole(x, out, (DType)v->type.dtype, false);
}

static bool wraps(TileCode c) {
  return c == TILE_ADD || c == TILE_SUB || c == TILE_MUL || c == TILE_NEG;
}

static bool expand(Sums *x, const TileValue *v, Sum *out) {
  uint32_t axes = x->b->axes;
  DType wide = (DType)v->type.dtype;
  v = bounds_root(x->b, v);
  DType type = (DType)v->type.dtype;
  int64_t c;
  bool done = --x->b->steps >= 0 && dtype_is_int(type);
  if (done && tile_const_value(v, &c)) {
    *out = (Sum){c != 0, {{.coef = c}}};
  } else if (done) {
    bool exact = dtype_is_signed(type);
    bool parts = exact && (v->def ? wraps(v->def->code) && expand_op(x, v->def, out)
                                  : expand_param(x, v, out));
    done = (parts && (wide == type || note_whole(x, out, type, false))) ||
           add_symbol(x, out, v, false);
  }
  x->b->axes = axes;
  return done;
}

/* The elements between the address and its parameter. */
static bool expand_pointer(Sums *x, const TileValue *v, Sum *out) {
  *out = (Sum){0};
  for (v = bounds_root(x->b, v); --x->b->steps >= 0; v = bounds_root(x->b, v)) {
    Sum by;
    if (v->def && v->def->code == TILE_PTR_ADD) {
      const TileValue *offset = v->def->args[1];
      if (!expand(x, offset, &by) || !add_sum(out, &by, 1)) return false;
      DType type = (DType)tile_root_value(offset)->type.dtype;
      if (!note_whole(x, &by, type, true)) return false;
      v = v->def->args[0];
      continue;
    }
    const TileOp *loop = v->def || !v->block ? NULL : v->block->owner;
    if (!v->def && !loop) return true;
    if (!loop || loop->code != TILE_FOR || !v->index) return false;
    if (!expand_step(x, v, &by) || !add_turns(x, loop, &by, out)) return false;
    v = loop->args[v->index + 2];
  }
  return false;
}

static void expand_orders(Sums *x) {
  for (const Order *o = x->b->orders; o && x->norders < MOST_ORDERS; o = o->next) {
    Sum less, more, *to = &x->orders[x->norders];
    int nwhole = x->nwhole;
    x->b->axes = o->axes;
    bool done = expand(x, o->less, &less) && expand(x, o->more, &more) &&
                note_whole(x, &less, (DType)o->less->type.dtype, false) &&
                note_whole(x, &more, (DType)o->more->type.dtype, false);
    *to = less;
    if (done) done = add_sum(to, &more, -1) && (!o->equal || add_term(to, (Term){.coef = -1}));
    x->met[x->norders] = (o->limits[0] && o->limits[0]->used && bounds_parameter(o->more)) ||
                         (o->limits[1] && o->limits[1]->used && bounds_parameter(o->less));
    if (done) x->norders++;
    else x->nwhole = nwhole;
  }
}

/* ---- texts ---- */

static const char *symbol_text(Sums *x, const Symbol *s) {
  x->b->axes = s->axes;
  if (!s->turn) return bounds_interval(x->b, s->value);
  return bounds_pair(x->b, "span(%s, %s)", "0", bounds_trips(x->b, s->value->block->owner));
}

static const char *term_text(Sums *x, const Term *t) {
  bool plain = t->coef == 1 && t->of[0];
  const char *out = plain ? symbol_text(x, &x->symbols[t->of[0]])
                          : arena_printf(x->b->arena, "(%lld)", (long long)t->coef);
  for (int k = plain; k < MOST_FACTORS && t->of[k]; k++)
    out = bounds_pair(x->b, "(%s) * (%s)", out, symbol_text(x, &x->symbols[t->of[k]]));
  return out;
}

static const char *sum_text(Sums *x, const Sum *s) {
  const char *out = s->n ? term_text(x, &s->t[0]) : "0";
  for (int i = 1; i < s->n; i++) out = bounds_pair(x->b, "%s + %s", out, term_text(x, &s->t[i]));
  return out;
}

/* The comparison without the part, which it has `by` times; false if it has not all of it so. */
static bool rest_of_order(Sum *rest, const Sum *order, const Sum *part, int64_t by) {
  *rest = *order;
  if (!add_sum(rest, part, -by)) return false;
  for (int i = 0; i < part->n; i++)
    if (find_term(rest, &part->t[i]) >= 0) return false;
  return true;
}

/* A part of an address, held to all comparisons that are about it. */
static const char *held_text(Sums *x, const Sum *part) {
  const char *text = sum_text(x, part);
  for (int i = 0; i < x->norders && text; i++) {
    Sum rest;
    const char *held = NULL;
    if (rest_of_order(&rest, &x->orders[i], part, 1))
      held = bounds_pair(x->b, "below(%s, 0 - (%s))", text, sum_text(x, &rest));
    else if (rest_of_order(&rest, &x->orders[i], part, -1))
      held = bounds_pair(x->b, "above(%s, %s)", text, sum_text(x, &rest));
    if (held) text = held;
  }
  return text;
}

/* The terms of the order that the address has `by` times. */
static Sum common_part(const Sum *address, const Sum *order, const Term *by) {
  Sum part = {0};
  for (int i = 0; i < order->n; i++) {
    Term t;
    if (!multiply_terms(&t, &order->t[i], by)) continue;
    int at = find_term(address, &t);
    if (at >= 0 && address->t[at].coef == t.coef) part.t[part.n++] = order->t[i];
  }
  return part;
}

/* The largest part of a comparison in the address, how often it is there, and whether the
 * comparison says more by it. */
static Sum largest_part(const Sums *x, const Sum *address, Term *by, bool *more) {
  Sum best = {0};
  *more = false;
  for (int o = 0; o < x->norders; o++)
    for (int i = 0; i < x->orders[o].n; i++)
      for (int k = 0; k < address->n; k++) {
        Term times;
        if (!x->orders[o].t[i].of[0] || !divide_terms(&times, &address->t[k], &x->orders[o].t[i]))
          continue;
        Sum part = common_part(address, &x->orders[o], &times);
        if (part.n > 1) *more |= !x->met[o];
        if (part.n > best.n) best = part, *by = times;
      }
  return best;
}

static const char *bounded_text(Sums *x, Sum sum) {
  const char *text = NULL;
  for (;;) {
    Term by;
    bool unused;
    Sum part = largest_part(x, &sum, &by, &unused);
    if (!part.n) break;
    const char *held = held_text(x, &part);
    if (by.coef != 1 || by.of[0]) held = bounds_pair(x->b, "(%s) * (%s)", term_text(x, &by), held);
    text = text ? bounds_pair(x->b, "%s + %s", text, held) : held;
    by.coef = -by.coef;
    if (!text || !add_product(&sum, &part, &by)) return NULL;
  }
  if (!text || !sum.n) return text ? text : sum_text(x, &sum);
  return bounds_pair(x->b, "%s + %s", text, sum_text(x, &sum));
}

const char *bounds_sum(Bounds *b, const TileValue *pointer) {
  Sums x = {.b = b};
  Sum address;
  Term by;
  bool more;
  if (!b->orders || !expand_pointer(&x, pointer, &address)) return NULL;
  expand_orders(&x);
  largest_part(&x, &address, &by, &more);
  const char *text = more ? bounded_text(&x, address) : NULL;
  if (!text) return NULL;
  for (int i = 0; i < x.nwhole; i++) {
    const Whole *w = &x.whole[i];
    const char *fmt = arena_printf(b->arena, "given(%%s, whole(%%s, %u))", w->bits);
    text = bounds_pair(b, fmt, text, w->offset ? bounded_text(&x, w->sum) : sum_text(&x, &w->sum));
  }
  return text;
}
