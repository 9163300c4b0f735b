#include <stdlib.h>
#include <string.h>

#include "lang/messages.h"
#include "sema/context.h"

/* ---- tables by name ---- */

static uint32_t hash_name(Name key) {
  uintptr_t k = (uintptr_t)key >> 4;
  return (uint32_t)(k ^ k >> 15) * 2654435761u;
}

bool map_get(const NameMap *m, Name key, uint32_t *value) {
  if (!m->nslots) return false;
  for (uint32_t i = hash_name(key);; i++) {
    uint32_t at = i & (m->nslots - 1);
    if (!m->slots[at].key) return false;
    if (m->slots[at].key != key) continue;
    *value = m->slots[at].value;
    return true;
  }
}

static void insert(NameMap *m, Name key, uint32_t value) {
  uint32_t i = hash_name(key);
  while (m->slots[i & (m->nslots - 1)].key && m->slots[i & (m->nslots - 1)].key != key) i++;
  i &= m->nslots - 1;
  if (!m->slots[i].key) m->count++;
  m->slots[i].key = key;
  m->slots[i].value = value;
}

void map_set(Arena *a, NameMap *m, Name key, uint32_t value) {
  if (2 * (m->count + 1) > m->nslots) {
    NameMap old = *m;
    m->nslots = old.nslots ? old.nslots * 2 : 16;
    m->count = 0;
    m->slots = arena_array(a, m->nslots, sizeof *m->slots);
    for (uint32_t i = 0; i < old.nslots; i++)
      if (old.slots[i].key) insert(m, old.slots[i].key, old.slots[i].value);
  }
  insert(m, key, value);
}

/* ---- frames ---- */

Frame *frame_new(Sema *S, const Func *func, Span call) {
  Frame *f = ARENA_NEW(S->arena, Frame);
  f->caller = S->frame;
  f->func = func;
  f->call = call;
  if (func) {
    f->name = func->def ? func->def->name : pool_name(S->names, "lambda");
    f->module = func->module;
    f->closure = func->closure;
    f->scope = func->scope;
    f->host = !func->jit;
    f->is_std = func->module && func->module->is_std;
  }
  static const char *const reserved[VAR_FIRST_NAMED] = {"<state>", "<return>", "<result>"};
  for (int i = 0; i < VAR_FIRST_NAMED; i++) frame_slot(S, f, pool_name(S->names, reserved[i]));
  f->vars.data[VAR_STATE].value = value_int(STATE_RUN);
  f->vars.data[VAR_STATE].state = VAR_SET;
  return f;
}

Var *frame_var(Frame *f, Name name) {
  uint32_t i;
  return map_get(&f->index, name, &i) ? &f->vars.data[i] : NULL;
}

Var *frame_slot(Sema *S, Frame *f, Name name) {
  Var *v = frame_var(f, name);
  if (v) return v;
  Var fresh = {.name = name, .value = value_of(V_ABSENT)};
  map_set(S->arena, &f->index, name, (uint32_t)f->vars.len);
  vec_push(S->arena, &f->vars, fresh);
  return &vec_last(&f->vars);
}

static void change(Sema *S, uint32_t var, Var now) {
  Frame *f = S->frame;
  TrailEntry e = {var, f->vars.data[var]};
  vec_push(S->arena, &f->trail, e);
  now.name = e.old.name;
  f->vars.data[var] = now;
}

void frame_set_slot(Sema *S, uint32_t var, Value v, Span at) {
  Var now = {.value = v, .at = at, .state = VAR_SET};
  change(S, var, now);
}

void frame_set(Sema *S, Name name, Value v, Span at) {
  Var *var = frame_slot(S, S->frame, name);
  frame_set_slot(S, (uint32_t)(var - S->frame->vars.data), v, at);
}

void frame_forget(Sema *S, uint32_t var, VarState state, Span at) {
  Var now = S->frame->vars.data[var];
  now.state = (uint8_t)state;
  now.other = at;
  change(S, var, now);
}

/* ---- joining two values ---- */

static void conflict(Sema *S, Join *j, Value a, Value b) {
  if (j->conflict) return;
  j->conflict =
      arena_printf(S->arena, "%s and %s", value_describe(S->arena, a), value_describe(S->arena, b));
}

static void add_slot(Sema *S, Join *j, Type type, Value a, Value b, Value *into) {
  JoinSlot slot = {type, {a, b}, into};
  vec_push(S->arena, &j->slots, slot);
}

/* A number beside a typed value takes its dtype, if it can hold numbers of that kind. */
static Value number_like(Sema *S, Value n, Value like) {
  Span nowhere = {0};
  DType t = (DType)value_type(like).dtype;
  if (dtype_is_float(t) || (dtype_is_int(t) && n.kind != V_FLOAT))
    return cast_dtype(S, n, t, nowhere);
  return typed(S, n, nowhere);
}

static void join_numbers(Sema *S, Join *j, Value a, Value b, Value *into) {
  Span nowhere = {0};
  Value x = a, y = b;
  if (value_is_number(a)) x = value_is_typed(b) ? number_like(S, a, b) : typed(S, a, nowhere);
  if (value_is_number(b)) y = value_is_typed(a) ? number_like(S, b, a) : typed(S, b, nowhere);
  if (value_is_typed(x) && value_is_typed(y) && type_eq(value_type(x), value_type(y)))
    add_slot(S, j, value_type(x), x, y, into);
  else conflict(S, j, a, b);
}

static void join_tuples(Sema *S, Join *j, Value a, Value b, Value *into) {
  const Tuple *x = a.u.tuple, *y = b.u.tuple;
  if (x->len != y->len) {
    conflict(S, j, a, b);
    return;
  }
  *into = value_tuple(S->arena, x->data, x->len);
  into->u.tuple->fields = x->fields;
  for (uint32_t i = 0; i < x->len; i++)
    join_values(S, j, x->data[i], y->data[i], &into->u.tuple->data[i]);
}

static void join_blocks(Sema *S, Join *j, Value a, Value b, Value *into) {
  const BlockPtr *x = a.u.block, *y = b.u.block;
  if (!blocks_alike(x, y)) {
    conflict(S, j, a, b);
    return;
  }
  BlockPtr *r = ARENA_NEW(S->arena, BlockPtr);
  *r = *x;
  *into = (Value){.kind = V_BLOCKPTR, .u.block = r};
  join_values(S, j, x->base, y->base, &r->base);
  for (int i = 0; i < x->type.rank; i++) {
    join_values(S, j, x->sizes[i], y->sizes[i], &r->sizes[i]);
    join_values(S, j, x->strides[i], y->strides[i], &r->strides[i]);
    join_values(S, j, x->offsets[i], y->offsets[i], &r->offsets[i]);
  }
}

void join_values(Sema *S, Join *j, Value a, Value b, Value *into) {
  *into = a;
  if (value_same(a, b) || a.kind == V_ERROR) return;
  if (b.kind == V_ERROR) *into = b;
  else if (value_is_operand(a) && value_is_operand(b)) join_numbers(S, j, a, b, into);
  else if (a.kind == V_TUPLE && b.kind == V_TUPLE) join_tuples(S, j, a, b, into);
  else if (a.kind == V_BLOCKPTR && b.kind == V_BLOCKPTR) join_blocks(S, j, a, b, into);
  else conflict(S, j, a, b);
}

static void leaf_slot(Sema *S, Join *j, Value v, Value *into) {
  *into = v;
  if (v.kind == V_TILE) add_slot(S, j, value_type(v), v, value_of(V_ABSENT), into);
}

void join_leaves(Sema *S, Join *j, Value v, Value *into) {
  leaf_slot(S, j, v, into);
  if (v.kind == V_TUPLE) {
    *into = value_tuple(S->arena, v.u.tuple->data, v.u.tuple->len);
    into->u.tuple->fields = v.u.tuple->fields;
    for (uint32_t i = 0; i < v.u.tuple->len; i++)
      join_leaves(S, j, v.u.tuple->data[i], &into->u.tuple->data[i]);
  } else if (v.kind == V_BLOCKPTR) {
    BlockPtr *r = ARENA_NEW(S->arena, BlockPtr);
    *r = *v.u.block;
    *into = (Value){.kind = V_BLOCKPTR, .u.block = r};
    leaf_slot(S, j, r->base, &r->base);
    for (int i = 0; i < r->type.rank; i++) {
      leaf_slot(S, j, r->sizes[i], &r->sizes[i]);
      leaf_slot(S, j, r->strides[i], &r->strides[i]);
      leaf_slot(S, j, r->offsets[i], &r->offsets[i]);
    }
  }
}

/* ---- branches ---- */

typedef struct {
  Changes changes;
  bool gone; /* no statement of this function is reached from this side any more */
  TileBlock *block;
} Side;

static int by_var(const void *a, const void *b) {
  uint32_t x = ((const Change *)a)->var, y = ((const Change *)b)->var;
  return (x > y) - (x < y);
}

Changes frame_undo(Sema *S, size_t mark) {
  Frame *f = S->frame;
  Changes changes = {0};
  vec_reserve(S->arena, &f->stamps, f->vars.len);
  while (f->stamps.len < f->vars.len) f->stamps.data[f->stamps.len++] = 0;
  f->captures++;
  for (size_t i = f->trail.len; i-- > mark;) {
    uint32_t var = f->trail.data[i].var;
    if (f->stamps.data[var] == f->captures) continue;
    f->stamps.data[var] = f->captures;
    Change c = {var, f->vars.data[var]};
    vec_push(S->arena, &changes, c);
  }
  while (f->trail.len > mark) {
    f->trail.len--;
    f->vars.data[f->trail.data[f->trail.len].var] = f->trail.data[f->trail.len].old;
  }
  if (changes.len) qsort(changes.data, changes.len, sizeof(Change), by_var);
  return changes;
}

static const Var *changed(const Side *side, uint32_t var) {
  Change key = {.var = var};
  const Change *c = side->changes.len ? bsearch(&key, side->changes.data, side->changes.len,
                                                sizeof(Change), by_var)
                                      : NULL;
  return c ? &c->after : NULL;
}

/* The slots of one side of which the other has no value: it gives an undefined one. */
static void only_side(Sema *S, Join *j, int side, const Var *v, Var *out) {
  size_t first = j->slots.len;
  *out = *v;
  join_leaves(S, j, v->value, &out->value);
  for (size_t i = first; side == 1 && i < j->slots.len; i++) {
    JoinSlot *slot = &j->slots.data[i];
    slot->sides[1] = slot->sides[0];
    slot->sides[0] = value_of(V_ABSENT);
  }
}

static void both_sides(Sema *S, Join *j, const Var *a, const Var *b, Var *out) {
  *out = *b;
  const char *outer = j->conflict;
  j->conflict = NULL;
  size_t first = j->slots.len;
  join_values(S, j, a->value, b->value, &out->value);
  if (j->conflict) {
    j->slots.len = first;
    out->state = VAR_CONFLICT;
    out->types = j->conflict;
    out->at = a->at;
    out->other = b->at;
  }
  j->conflict = outer;
}

static void join_var(Sema *S, Join *j, uint32_t var, const Side sides[2], Var *out) {
  const Var *before = &S->frame->vars.data[var];
  const Var *a = changed(&sides[0], var), *b = changed(&sides[1], var);
  bool in_a = a, in_b = b;
  if (!a) a = before;
  if (!b) b = before;
  bool set_a = a->state == VAR_SET, set_b = b->state == VAR_SET;
  if (var == VAR_STATE) both_sides(S, j, a, b, out);
  else if (sides[0].gone && var != VAR_RETURN && set_b && in_b) only_side(S, j, 1, b, out);
  else if (sides[0].gone && var != VAR_RETURN) *out = *b;
  else if (sides[1].gone && var != VAR_RETURN && set_a && in_a) only_side(S, j, 0, a, out);
  else if (sides[1].gone && var != VAR_RETURN) *out = *a;
  else if (set_a && set_b) both_sides(S, j, a, b, out);
  else if (var == VAR_RETURN && (set_a || set_b)) only_side(S, j, set_b, set_a ? a : b, out);
  else if (set_a || set_b) {
    *out = set_a ? *a : *b;
    out->state = VAR_PARTIAL;
  } else {
    *out = a->state > b->state ? *a : *b;
  }
}

static TileValue *side_value(Sema *S, const JoinSlot *slot, int side, Span at) {
  Value v = slot->sides[side];
  if (v.kind != V_ABSENT) return materialize(S, v, at);
  return emit1(S, TILE_UNDEF, slot->type, NULL, NULL, NULL, at).u.tile;
}

/* Without a statement on either side, values are chosen, not branched to. */
static bool is_choice(const Join *j, const Side sides[2]) {
  enum { CHOICES_MAX = 4 };
  if (sides[0].block->first || sides[1].block->first || j->slots.len > CHOICES_MAX) return false;
  for (size_t i = 0; i < j->slots.len; i++)
    if (j->slots.data[i].type.rank) return false;
  return true;
}

static void choose(Sema *S, Join *j, Value cond, Span at) {
  for (size_t i = 0; i < j->slots.len; i++) {
    JoinSlot *slot = &j->slots.data[i];
    int known = slot->sides[0].kind == V_ABSENT ? 1 : slot->sides[1].kind == V_ABSENT ? 0 : -1;
    if (known >= 0) {
      *slot->into = slot->sides[known];
      continue;
    }
    Value args[] = {cond, slot->sides[0], slot->sides[1]};
    *slot->into = emit_elementwise(S, TILE_SELECT, args, 3, (DType)slot->type.dtype, at);
  }
}

static void build_if(Sema *S, Join *j, Side sides[2], Value cond, Span at) {
  uint32_t n = (uint32_t)j->slots.len;
  TileValue **values = ARENA_ARRAY(S->arena, TileValue *, n);
  Type *types = ARENA_ARRAY(S->arena, Type, n);
  TileBuilder outer = S->b;
  for (int side = 0; side < 2; side++) {
    S->b.block = sides[side].block;
    S->b.before = NULL;
    for (uint32_t i = 0; i < n; i++) {
      values[i] = side_value(S, &j->slots.data[i], side, at);
      types[i] = j->slots.data[i].type;
    }
    emit(S, TILE_YIELD, values, n, NULL, 0, at);
  }
  S->b = outer;
  TileValue *arg = cond.u.tile;
  TileOp *op = emit(S, TILE_IF, &arg, 1, types, n, at);
  op->regions = ARENA_ARRAY(S->arena, TileBlock *, 2);
  op->nregions = 2;
  for (int side = 0; side < 2; side++) {
    op->regions[side] = sides[side].block;
    sides[side].block->owner = op;
  }
  for (uint32_t i = 0; i < n; i++) *j->slots.data[i].into = value_tile(op->results[i]);
}

static void join_sides(Sema *S, Side sides[2], Value cond, bool select, Span at) {
  Join j = {0};
  VEC(uint32_t) vars = {0};
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < sides[side].changes.len; i++) {
      uint32_t var = sides[side].changes.data[i].var;
      if (side == 0 || !changed(&sides[0], var)) vec_push(S->arena, &vars, var);
    }
  Var *results = ARENA_ARRAY(S->arena, Var, vars.len);
  for (size_t i = 0; i < vars.len; i++) join_var(S, &j, vars.data[i], sides, &results[i]);
  if (select || is_choice(&j, sides)) choose(S, &j, cond, at);
  else build_if(S, &j, sides, cond, at);
  for (size_t i = 0; i < vars.len; i++) {
    change(S, vars.data[i], results[i]);
    Var *v = &S->frame->vars.data[vars.data[i]];
    bool unnamed = v->state == VAR_SET && v->value.kind == V_TILE && !v->value.u.tile->name;
    if (unnamed && v->name[0] != '<' && !S->frame->is_std) v->value.u.tile->name = v->name;
  }
  Var *ret = &S->frame->vars.data[VAR_RETURN];
  if (ret->state == VAR_CONFLICT) {
    sema_error(S, ret->at, E_SEMA_RETURN_TYPES, S->frame->name, ret->types);
    sema_note(S, ret->other, N_SEMA_OTHER_RETURN);
    frame_set_slot(S, VAR_RETURN, value_error(), at);
  }
}

static void run_side(Sema *S, BranchSide run, void *ctx, Side *side, bool select) {
  size_t mark = S->frame->trail.len;
  TileBuilder outer = S->b;
  side->block = select ? S->b.block : tile_block_new(S->fn, NULL);
  S->b.block = side->block;
  S->b.before = NULL;
  if (run) run(S, ctx);
  if (!select) S->b = outer;
  side->gone = state_now(S) == STATE_RETURN; /* what a `break` leaves behind is still read */
  side->changes = frame_undo(S, mark);
}

Value refuse_tile_condition(Sema *S, Span at, Value cond) {
  sema_error(S, at, E_SEMA_TILE_CONDITION, type_text(S->arena, value_type(cond)));
  sema_hint(S, H_SEMA_TILE_CONDITION);
  return value_error();
}

void branch(Sema *S, Span at, Value cond, BranchSide then_side, BranchSide else_side, void *ctx) {
  bool truth;
  if (cond.kind == V_ERROR) return;
  if (value_truth(cond, &truth)) {
    BranchSide run = truth ? then_side : else_side;
    if (run) run(S, ctx);
    return;
  }
  bool select = value_is_block(cond);
  if (select && (!S->elementwise || value_type(cond).rank == 0)) {
    refuse_tile_condition(S, at, cond);
    return;
  }
  cond = as_condition(S, cond, at);
  if (cond.kind != V_TILE || !can_emit(S)) return;
  Side sides[2] = {0};
  run_side(S, then_side, ctx, &sides[0], select);
  run_side(S, else_side, ctx, &sides[1], select);
  join_sides(S, sides, cond, select, at);
}
