/* Pass field_tables.  A weight of four bits is shifted and masked, converted to a float, and its
 * zero point is subtracted: four instructions an element.  It has one of sixteen values, which are
 * as many as a vector has lanes.  So where statements read a field and numbers that all lanes
 * share, and nothing else,
 *
 *   %q = shr %word, 4; %f = and %q, 15; %x = cast %f : i32 to f32; %w = sub %x, 8.0
 *
 * the same statements make a table before the loop, of the lanes' own numbers, and each lane takes
 * its value from the lane that its field says, a shuffle:
 *
 *   %q = shr %word, 4; %w = shfl %table, %q {mode "idx"} : f32
 *
 * A shuffle takes a lane's number modulo the lanes, so that a field as wide needs no mask, nor does
 * the byte of a word in which it is: w >> 12 remains of ((w >> 8) & 255) >> 4.  A field with a
 * sign, the top of a word shifted right, is read likewise.
 *
 * Where a number is known in the fields' own block, as the zero point of a group is, its table is
 * made there for several fields: for two it took more time than it saved. */
#include "lower/passes.h"

#include <string.h>

enum { FIELD_BITS = 4, TABLE_LANES = 1 << FIELD_BITS, WORD_BITS = 32, STEPS_MOST = 8 };

/* Statements that follow from each other, the first one giving the field. */
typedef struct {
  NestStmt *step[STEPS_MOST];
  int n;
  Ref index;       /* the lane of a lane's value */
  bool is_signed;
  bool near;       /* it may read numbers that are known in its own block */
  NestStmt *after; /* the definition before which the table can't be; NULL: it is of constants */
} FieldChain;

typedef struct {
  FieldChain chain;
  NestVar *values;
} FieldTable;

typedef struct {
  Nest *nest;
  NestStmt **def;  /* by variable id, as all that follows: the one that defines it, */
  NestStmt **user; /* ... and one that reads it */
  uint32_t *ndefs, *nuses;
  VEC(FieldTable) tables;
  Arena *scratch;
} Fields;

static void note_use(Fields *f, const Ref *r, NestStmt *st) {
  if (r->kind != REF_VAR) return;
  f->user[r->var->id] = st;
  f->nuses[r->var->id]++;
}

static void note_all(Fields *f, const NestBlock *b) {
  for (NestStmt *st = b->first; st; st = st->next) {
    for (uint32_t i = 0; i < st->ndsts; i++) {
      f->def[st->dsts[i].var->id] = st;
      f->ndefs[st->dsts[i].var->id]++;
    }
    for (uint32_t i = 0; i < st->nsrcs; i++) note_use(f, &st->srcs[i], st);
    for (uint32_t i = 0; i < st->nmems; i++) note_use(f, &st->mems[i].base, st);
    note_use(f, &st->guard, st);
    for (uint32_t r = 0; r < st->nregions; r++) note_all(f, st->regions[r]);
  }
}

/* ---- the form ---- */

static bool is_number(const Ref *r, int64_t *value) {
  bool is = r->kind == REF_AFFINE && !r->sub.n;
  if (is) *value = r->sub.c;
  return is;
}

static bool is_step(const Fields *f, const NestStmt *st) {
  return st->code == NEST_OP && !st->guard.kind && st->ndsts == 1 &&
         st->dsts[0].kind == REF_VAR && st->dsts[0].var->count == 1 &&
         f->ndefs[st->dsts[0].var->id] == 1 && !st->dsts[0].var->uniform;
}

static NestStmt *def_of(const Fields *f, const Ref *r) {
  bool one = r->kind == REF_VAR && r->var->count == 1 && f->ndefs[r->var->id] == 1;
  return one ? f->def[r->var->id] : NULL;
}

/* x & mask, of fields as wide as a lane's number at most. */
static bool begins_masked(NestStmt *st, FieldChain *c) {
  int64_t mask;
  if (st->op != TILE_AND || st->type != DT_I32 || !is_number(&st->srcs[1], &mask)) return false;
  if (mask <= 0 || mask >= TABLE_LANES || st->srcs[0].kind != REF_VAR) return false;
  c->index = mask == TABLE_LANES - 1 ? st->srcs[0] : st->dsts[0];
  return true;
}

/* x >> 28, of a field with a sign. */
static bool begins_signed(NestStmt *st, FieldChain *c) {
  int64_t by;
  if (st->op != TILE_SHR || st->type != DT_I32 || !is_number(&st->srcs[1], &by)) return false;
  if (by != WORD_BITS - FIELD_BITS || st->srcs[0].kind != REF_VAR) return false;
  c->index = st->dsts[0];
  c->is_signed = true;
  return true;
}

static bool is_inside_block(const NestStmt *st, const NestBlock *b) {
  for (const NestBlock *at = st->parent; at; at = at->owner ? at->owner->parent : NULL)
    if (at == b) return true;
  return false;
}

/* Is the operand the same for all lanes, and known before the statement, or a loop around it? */
static bool is_fixed(const Fields *f, const Ref *r, const NestStmt *st, FieldChain *c) {
  if (r->kind != REF_VAR) return !r->sub.n;
  if (r->var->is_param) return true;
  NestStmt *def = def_of(f, r);
  bool before = def && r->var->uniform && (c->near || def->parent != st->parent) &&
                is_inside_block(st, def->parent);
  if (!before) return false;
  bool deeper = !c->after || is_inside_block(def, c->after->parent);
  if (deeper && c->after && def->parent == c->after->parent) {
    const NestStmt *x = def;
    while (x && x != c->after) x = x->next;
    deeper = !x; /* it comes after what was last */
  }
  if (deeper) c->after = def;
  return true;
}

/* Are the last statement's value and fixed numbers the statement's only operands? */
static bool follows(const Fields *f, const NestStmt *st, FieldChain *c) {
  const NestVar *last = c->step[c->n - 1]->dsts[0].var;
  FieldChain tried = *c;
  if (!is_step(f, st) || st->parent != c->step[0]->parent) return false;
  DType t = st->dsts[0].var->dtype;
  if (t == DT_I1 || dtype_bits(t) > WORD_BITS) return false;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    const Ref *r = &st->srcs[i];
    if (r->kind == REF_NONE || (r->kind == REF_VAR && r->var == last)) continue;
    if (!is_fixed(f, r, st, &tried)) return false;
  }
  *c = tried;
  return true;
}

/* The longest chain from the statement to a float of 32 bits; false: there is none. */
static bool find_chain_of(const Fields *f, NestStmt *st, bool near, FieldChain *best) {
  FieldChain c = {.n = 1, .step = {st}, .near = near};
  if (!is_step(f, st) || (!begins_masked(st, &c) && !begins_signed(st, &c))) return false;
  best->n = 0;
  while (c.n < STEPS_MOST) {
    NestVar *last = c.step[c.n - 1]->dsts[0].var;
    NestStmt *next = f->user[last->id];
    if (f->nuses[last->id] != 1 || !follows(f, next, &c)) break;
    c.step[c.n++] = next;
    if (next->dsts[0].var->dtype == DT_F32) *best = c;
  }
  return best->n > 1;
}

/* ---- tables ---- */

static bool same_ref(const FieldChain *a, const FieldChain *b, int i, uint32_t k) {
  const Ref *x = &a->step[i]->srcs[k], *y = &b->step[i]->srcs[k];
  bool of_last = i > 0 && x->kind == REF_VAR && x->var == a->step[i - 1]->dsts[0].var;
  if (of_last) return y->kind == REF_VAR && y->var == b->step[i - 1]->dsts[0].var;
  if (x->kind != y->kind) return false;
  if (x->kind == REF_FLOAT) return !memcmp(&x->f, &y->f, sizeof x->f);
  return x->kind == REF_VAR ? x->var == y->var : affine_eq(&x->sub, &y->sub);
}

static bool same_chain(const FieldChain *a, const FieldChain *b) {
  bool same = a->n == b->n && a->is_signed == b->is_signed && a->after == b->after;
  for (int i = 1; same && i < a->n; i++) {
    const NestStmt *x = a->step[i], *y = b->step[i];
    same = x->op == y->op && x->type == y->type && x->to == y->to && x->rtz == y->rtz &&
           x->nsrcs == y->nsrcs;
    for (uint32_t k = 0; same && k < x->nsrcs; k++) same = same_ref(a, b, i, k);
  }
  return same;
}

static Ref new_value(Fields *f, DType t) {
  return ref_var(nest_var(f->nest, NULL, t, DT_NONE, 1, false));
}

/* The lane's number as a field: it and the steps that follow give the lane's value. */
static Ref begin_table(Fields *f, NestBuilder *b, const FieldChain *c) {
  Ref lane = new_value(f, DT_I32);
  NestStmt *st = nest_stmt(b, NEST_LANE, 1, 0);
  st->dsts[0] = lane;
  st->type = DT_I32;
  if (!c->is_signed) return lane;
  Ref high = new_value(f, DT_I32), low = new_value(f, DT_I32), by = ref_int(WORD_BITS - FIELD_BITS);
  nest_op(b, TILE_SHL, DT_I32, high, lane, by, ref_none());
  nest_op(b, TILE_SHR, DT_I32, low, high, by, ref_none());
  return low;
}

static NestVar *make_table(Fields *f, const FieldChain *c) {
  NestBlock *block = c->after ? c->after->parent : f->nest->body;
  NestStmt *before = c->after ? c->after->next : block->first;
  NestBuilder b = {f->nest, block, before, c->step[0]->span};
  Ref value = begin_table(f, &b, c);
  for (int i = 1; i < c->n; i++) {
    const NestVar *last = c->step[i - 1]->dsts[0].var;
    NestStmt *st = nest_copy(&b, c->step[i]);
    for (uint32_t k = 0; k < st->nsrcs; k++)
      if (st->srcs[k].kind == REF_VAR && st->srcs[k].var == last) st->srcs[k] = value;
    st->dsts[0] = value = new_value(f, c->step[i]->dsts[0].var->dtype);
  }
  return value.var;
}

static NestVar *table_of(Fields *f, const FieldChain *c) {
  for (size_t i = 0; i < f->tables.len; i++)
    if (same_chain(&f->tables.data[i].chain, c)) return f->tables.data[i].values;
  FieldTable t = {*c, make_table(f, c)};
  vec_push(f->scratch, &f->tables, t);
  return t.values;
}

/* Do enough chains of the block have the table, if that is made in the block? */
static bool table_pays(const Fields *f, const FieldChain *c) {
  enum { USERS_LEAST = 4 };
  const NestBlock *b = c->step[0]->parent;
  int users = 0;
  if (!c->after || c->after->parent != b) return true;
  for (size_t i = 0; i < f->tables.len; i++)
    if (same_chain(&f->tables.data[i].chain, c)) return true;
  for (NestStmt *st = b->first; st && users < USERS_LEAST; st = st->next) {
    FieldChain other;
    users += find_chain_of(f, st, true, &other) && same_chain(c, &other);
  }
  return users == USERS_LEAST;
}

static bool find_chain(const Fields *f, NestStmt *st, FieldChain *c) {
  return (find_chain_of(f, st, true, c) && table_pays(f, c)) || find_chain_of(f, st, false, c);
}

/* ---- fields of words ---- */

/* x, by which bits *by and up count FIELD_BITS of which are wanted: where x is another value
 * shifted or masked, that value, and *by counts its bits. */
static Ref source_of_bits(const Fields *f, Ref x, const NestBlock *in, int64_t *by) {
  for (;;) {
    int64_t number;
    const NestStmt *st = def_of(f, &x);
    if (!st || !is_step(f, st) || st->parent != in || st->type != DT_I32 || st->nsrcs < 2 ||
        st->srcs[0].kind != REF_VAR || !is_number(&st->srcs[1], &number))
      return x;
    bool shifts = st->op == TILE_SHR && number >= 0 && *by + number <= WORD_BITS - FIELD_BITS;
    bool keeps = st->op == TILE_AND && (number >> *by & (TABLE_LANES - 1)) == TABLE_LANES - 1;
    if (!shifts && !keeps) return x;
    if (shifts) *by += number;
    x = st->srcs[0];
  }
}

/* A lane's field by one shift, if it takes more. */
static Ref of_word(Fields *f, NestBuilder *b, Ref index) {
  int64_t by = 0;
  Ref word = source_of_bits(f, index, b->block, &by);
  const NestStmt *st = def_of(f, &index);
  bool one = st && st->op == TILE_SHR && st->srcs[0].kind == REF_VAR && st->srcs[0].var == word.var;
  if (word.var == index.var || one) return index;
  if (!by) return word;
  Ref shifted = new_value(f, DT_I32);
  nest_op(b, TILE_SHR, DT_I32, shifted, word, ref_int(by), ref_none());
  return shifted;
}

static void look_up(Fields *f, const FieldChain *c) {
  NestStmt *last = c->step[c->n - 1];
  NestVar *table = table_of(f, c);
  NestBuilder b = {f->nest, last->parent, last, last->span};
  Ref index = c->is_signed ? c->index : of_word(f, &b, c->index);
  NestStmt *st = nest_stmt(&b, NEST_SHFL, 1, 2);
  st->dsts[0] = last->dsts[0];
  st->srcs[0] = ref_var(table);
  st->srcs[1] = index;
  st->type = DT_F32;
  nest_set_str(f->nest, st, NA_mode, "idx");
  bool masked = c->index.var == c->step[0]->dsts[0].var;
  for (int i = masked; i < c->n; i++) nest_remove(c->step[i]);
}

/* Fields in loops. */
static void look_up_all(Fields *f, NestBlock *b) {
  for (NestStmt *st = b->first, *next; st; st = next) {
    FieldChain c;
    for (uint32_t r = 0; r < st->nregions; r++) look_up_all(f, st->regions[r]);
    next = st->next;
    if (!b->owner || !find_chain(f, st, &c)) continue;
    while (next && next != c.step[c.n - 1]) next = next->next;
    next = next ? next->next : st->next;
    look_up(f, &c);
  }
}

bool pass_field_tables(Unit *u) {
  if (u->nest->lanes != TABLE_LANES) return true;
  Arena *scratch = arena_child(u->arena);
  uint32_t n = u->nest->nvars;
  Fields f = {.nest = u->nest,
              .def = ARENA_ARRAY(scratch, NestStmt *, n),
              .user = ARENA_ARRAY(scratch, NestStmt *, n),
              .ndefs = ARENA_ARRAY(scratch, uint32_t, n),
              .nuses = ARENA_ARRAY(scratch, uint32_t, n),
              .scratch = scratch};
  note_all(&f, u->nest->body);
  look_up_all(&f, u->nest->body);
  arena_free(scratch);
  return true;
}
