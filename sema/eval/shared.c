/* Gluon's shared memory.
 *
 * Its loads and stores have the order of the program, so that it is a variable: each allocation is
 * one, with a tile as its value, and a load gives the tile of the last store.  (lang/std/gluon.py
 * makes views of parts of it into such loads and stores.)  The lowering decides what is in shared
 * memory in fact.  Every frame has these variables under names of their own; a call hands them to
 * the function and takes them back, and run-time loops carry them.
 */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

static const char prefix[] = "<shared ";

Name shared_name(Sema *S, uint32_t i) {
  return pool_name(S->names, arena_printf(S->arena, "%s%u>", prefix, (unsigned)i));
}

bool is_shared_name(Name name) { return !strncmp(name, prefix, sizeof prefix - 1); }

static void hand_over(Sema *S, Frame *from) {
  for (uint32_t i = 0; i < S->shared; i++) {
    Name name = shared_name(S, i);
    const Var *v = from ? frame_var(from, name) : NULL, *old = frame_var(S->frame, name);
    if (!v || v->state != VAR_SET) continue;
    if (old && old->state == VAR_SET && value_same(old->value, v->value)) continue;
    frame_set(S, name, v->value, v->at);
  }
}

void shared_enter(Sema *S) { hand_over(S, S->frame->caller); }

void shared_leave(Sema *S, Frame *callee) {
  if (S->frame) hand_over(S, callee);
}

/* False, and an error, where a function sees single elements. */
static bool sees_tiles(Sema *S, const Call *c) {
  bool ok = !S->elementwise && !S->combining;
  if (!ok) sema_error(S, c->at, E_SEMA_SHARED_ELEMENTS);
  return ok && can_emit(S);
}

Value builtin_shared_new(Sema *S, Call *c) {
  DTypeValue d;
  Type shape;
  if (!sees_tiles(S, c) || !want_dtype(S, c->args[0], c->spans[0], &d) ||
      !want_shape(S, c->args[1], c->spans[1], &shape))
    return value_error();
  Value fresh = emit1(S, TILE_UNDEF, type_like(d.type, shape), NULL, NULL, NULL, c->at);
  if (fresh.kind != V_TILE) return fresh;
  frame_set(S, shared_name(S, S->shared), fresh, c->at);
  return value_int(S->shared++);
}

/* The variable of the memory that the first argument is; NULL after an error. */
static Var *memory_arg(Sema *S, const Call *c) {
  int64_t i;
  if (!sees_tiles(S, c) || !want_int(S, c->args[0], "shared memory", c->spans[0], &i)) return NULL;
  Var *v = frame_var(S->frame, shared_name(S, (uint32_t)i));
  return v && v->state == VAR_SET && v->value.kind == V_TILE ? v : NULL;
}

Value builtin_shared_load(Sema *S, Call *c) {
  const Var *v = memory_arg(S, c);
  return v ? v->value : value_error();
}

Value builtin_shared_store(Sema *S, Call *c) {
  Value v;
  const Var *memory = memory_arg(S, c);
  if (!memory || !tile_arg(S, c, 1, &v)) return value_error();
  /* The library has reported a tile of another type. */
  if (!type_eq(value_type(memory->value), value_type(v))) return value_error();
  frame_set(S, memory->name, value_tile(materialize(S, v, c->at)), c->at);
  return value_none();
}
