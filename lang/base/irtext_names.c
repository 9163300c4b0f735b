/* Maps from names to things, and names for values that have none of their own. */
#include <stdio.h>
#include <string.h>

#include "lang/base/irtext.h"

/* ---- maps ---- */

typedef struct IrSlot {
  Name name;
  void *thing;
} IrSlot;

enum { FIRST_SLOTS = 64 };

IrMap ir_map_new(Arena *a) { return (IrMap){.arena = a}; }

/* The slot of a name, or the free one where it belongs.  Names are interned: addresses differ. */
static IrSlot *map_slot_of(IrSlot *slots, uint32_t nslots, Name name) {
  uint64_t h = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t i = (uint32_t)(h >> 32);; i++) {
    IrSlot *s = &slots[i & (nslots - 1)];
    if (!s->name || s->name == name) return s;
  }
}

void *ir_map_get(const IrMap *m, Name name) {
  return m->nslots ? map_slot_of(m->slots, m->nslots, name)->thing : NULL;
}

static void grow_ir_map(IrMap *m) {
  uint32_t n = m->nslots ? m->nslots * 2 : FIRST_SLOTS;
  IrSlot *slots = ARENA_ARRAY(m->arena, IrSlot, n);
  for (uint32_t i = 0; i < m->nslots; i++)
    if (m->slots[i].name) *map_slot_of(slots, n, m->slots[i].name) = m->slots[i];
  m->slots = slots;
  m->nslots = n;
}

bool ir_map_put(IrMap *m, Name name, void *thing) {
  if (m->count * 2 >= m->nslots) grow_ir_map(m);
  IrSlot *s = map_slot_of(m->slots, m->nslots, name);
  if (s->name) return false;
  *s = (IrSlot){name, thing};
  m->count++;
  return true;
}

/* ---- names for values ---- */

IrNamer ir_namer_new(Arena *a, Pool *names) {
  return (IrNamer){.names = names, .taken = ir_map_new(a), .counters = ir_map_new(a)};
}

/* The hint without a `.12` that made it unique in an earlier text. */
static Name hint_without_number(IrNamer *n, Name hint) {
  const char *dot = strrchr(hint, '.');
  if (!dot || strspn(dot + 1, "0123456789") != strlen(dot + 1)) return hint;
  return pool_namen(n->names, hint, (size_t)(dot - hint));
}

static Name numbered_name(IrNamer *n, Name base, uint32_t i) {
  char digits[16];
  Arena *a = n->taken.arena;
  int len = snprintf(digits, sizeof digits, "%s%u", *base ? "." : "", i);
  size_t size = strlen(base) + (size_t)len;
  char *s = arena_alloc(a, size + 1);
  memcpy(s, base, strlen(base));
  memcpy(s + strlen(base), digits, (size_t)len + 1);
  return pool_namen(n->names, s, size);
}

Name ir_namer_give(IrNamer *n, Name hint) {
  Arena *a = n->taken.arena;
  Name name = pool_name(n->names, ir_clean_name(a, hint));
  if (*name && ir_map_put(&n->taken, name, n)) return name;
  Name base = hint_without_number(n, name);
  if (!*base) {
    /* Numbers clash with no hint: those begin with no digit. */
    return numbered_name(n, base, n->next++);
  }
  uint32_t *count = ir_map_get(&n->counters, base);
  if (!count) ir_map_put(&n->counters, base, count = ARENA_NEW(a, uint32_t));
  do name = numbered_name(n, base, ++*count);
  while (!ir_map_put(&n->taken, name, n));
  return name;
}
