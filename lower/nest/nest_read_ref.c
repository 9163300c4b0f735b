/* Reading operands of loop nests: affine forms, references, places in memory. */
#include <math.h>
#include <string.h>

#include "lang/messages.h"
#include "lower/messages.h"
#include "lower/nest/nest_read.h"

static bool is_word(const IrToken *t, const char *s) {
  return t->len == strlen(s) && !memcmp(t->text, s, t->len);
}

/* ---- affine forms ---- */

static NestIndex *find_index(NestReader *p, const IrToken *t) {
  for (size_t i = p->open.len; i-- > 0;)
    if (is_word(t, p->open.data[i]->name)) return p->open.data[i];
  ir_error(&p->r, t->span, E_NEST_NO_INDEX, (int)t->len, t->text);
  return NULL;
}

/* `4`, `a` or `4*a`. */
static Affine read_term(NestReader *p, bool minus) {
  IrReader *r = &p->r;
  Affine none = {0};
  int64_t k = minus ? -1 : 1;
  if (ir_at_kind(r, IT_INT)) {
    IrToken t = ir_next(r);
    if (t.i > (uint64_t)INT64_MAX + minus) {
      ir_error(r, t.span, E_TILE_INT_RANGE, (long long)INT64_MIN, (long long)INT64_MAX);
      return none;
    }
    k = (int64_t)(minus ? -t.i : t.i);
    if (!ir_accept(r, "*")) return affine_const(k);
  }
  if (!ir_at_kind(r, IT_WORD)) {
    ir_expected(r, "an integer or an index");
    return none;
  }
  IrToken t = ir_next(r);
  NestIndex *index = find_index(p, &t);
  return index ? affine_index(index, k) : none;
}

static void add_term(NestReader *p, Affine *sum, bool minus) {
  Span span = p->r.token.span;
  Affine term = read_term(p, minus);
  if (!affine_add(sum, &term)) ir_error(&p->r, span, E_NEST_TERMS, MAX_TERMS);
}

/* The sign in front of a further term; false if there is none. */
static bool accept_sign(NestReader *p, bool *minus) {
  *minus = ir_accept(&p->r, "-");
  return *minus || ir_accept(&p->r, "+");
}

Affine nest_read_affine(NestReader *p) {
  Affine sum = {0};
  bool minus = ir_accept(&p->r, "-");
  do add_term(p, &sum, minus);
  while (accept_sign(p, &minus));
  return sum;
}

/* ---- references ---- */

NestVar *nest_read_var_name(NestReader *p) {
  Span span = p->r.token.span;
  Name name = ir_value(&p->r);
  NestVar *v = name ? ir_map_get(&p->vars, name) : NULL;
  if (name && !v) ir_error(&p->r, span, E_NEST_UNKNOWN, arena_printf(p->r.arena, "%%%s", name));
  return v;
}

static void read_axes(NestReader *p, Ref *ref) {
  Affine axes[MAX_RANK];
  int n = 0, rank = ref->var->tile.rank;
  do {
    Affine a = nest_read_affine(p);
    if (n < rank) axes[n] = a;
    n++;
  } while (ir_accept(&p->r, ","));
  if (n != rank && !p->r.failed)
    ir_error(&p->r, p->r.token.span, E_NEST_RANK, ref->var->name, rank, n);
  if (p->r.failed) return;
  ref->axes = ARENA_ARRAY(p->n->arena, Affine, (size_t)rank);
  memcpy(ref->axes, axes, sizeof *axes * (size_t)rank);
}

Ref nest_read_var(NestReader *p) {
  NestVar *v = nest_read_var_name(p);
  if (!v) return ref_none();
  Ref ref = ref_var(v);
  if (!ir_accept(&p->r, "[")) return ref;
  if (v->tile.rank) read_axes(p, &ref);
  else ref.sub = nest_read_affine(p);
  ir_expect(&p->r, "]");
  return ref;
}

static Ref read_number(NestReader *p) {
  IrReader *r = &p->r;
  IrReader bookmark = *r;
  bool minus = ir_accept(r, "-");
  double sign = minus ? -1 : 1;
  if (ir_accept(r, "inf")) return ref_float(sign * INFINITY);
  if (ir_accept(r, "nan")) return ref_float(NAN);
  if (ir_at_kind(r, IT_FLOAT)) return ref_float(sign * ir_next(r).f);
  if (!ir_at_kind(r, IT_INT)) {
    ir_expected(r, "a variable, a number or an affine form in parentheses");
    return ref_none();
  }
  *r = bookmark;
  return ref_int(ir_int(r));
}

Ref nest_read_ref(NestReader *p) {
  if (ir_accept(&p->r, "_")) return ref_none();
  if (ir_at_kind(&p->r, IT_VALUE)) return nest_read_var(p);
  if (!ir_accept(&p->r, "(")) return read_number(p);
  Ref ref = ref_affine(nest_read_affine(p));
  ir_expect(&p->r, ")");
  return ref;
}

Mem nest_read_mem(NestReader *p) {
  IrReader *r = &p->r;
  Mem m = {0};
  bool minus = false;
  ir_expect(r, "[");
  Span span = r->token.span;
  if (ir_at_kind(r, IT_SYMBOL)) {
    Name name = ir_symbol(r);
    m.buffer = name ? ir_map_get(&p->buffers, name) : NULL;
    if (!m.buffer) ir_error(r, span, E_NEST_UNKNOWN, arena_printf(r->arena, "@%s", name));
  } else if (!ir_accept(r, "_")) {
    m.base = nest_read_var(p);
  }
  while (!r->failed && accept_sign(p, &minus)) {
    if (m.buffer && !m.base.kind && !minus && ir_at_kind(r, IT_VALUE)) m.base = nest_read_var(p);
    else add_term(p, &m.bytes, minus);
  }
  ir_expect(r, "]");
  return m;
}
