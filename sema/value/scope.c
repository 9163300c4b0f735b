/* The variables of the running functions: frames, and the trail of changes that undoes them. */
#include <stdlib.h>

#include "sema/value/context.h"

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

static void insert_key(NameMap *m, Name key, uint32_t value) {
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
      if (old.slots[i].key) insert_key(m, old.slots[i].key, old.slots[i].value);
  }
  insert_key(m, key, value);
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

void frame_change(Sema *S, uint32_t var, Var now) {
  Frame *f = S->frame;
  TrailEntry e = {var, f->vars.data[var]};
  vec_push(S->arena, &f->trail, e);
  now.name = e.old.name;
  f->vars.data[var] = now;
}

void frame_set_slot(Sema *S, uint32_t var, Value v, Span at) {
  Var now = {.value = v, .at = at, .state = VAR_SET};
  frame_change(S, var, now);
}

void frame_set(Sema *S, Name name, Value v, Span at) {
  Var *var = frame_slot(S, S->frame, name);
  frame_set_slot(S, (uint32_t)(var - S->frame->vars.data), v, at);
}

void frame_forget(Sema *S, uint32_t var, VarState state, Span at) {
  Var now = S->frame->vars.data[var];
  now.state = (uint8_t)state;
  now.other = at;
  frame_change(S, var, now);
}

/* ---- what changed ---- */

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

const Var *changed_var(const Changes *changes, uint32_t var) {
  Change key = {.var = var};
  const Change *c =
      changes->len ? bsearch(&key, changes->data, changes->len, sizeof(Change), by_var) : NULL;
  return c ? &c->after : NULL;
}
