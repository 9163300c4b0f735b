#include "graph/ir/namemap.h"

/* The slot of the name, or the free slot in which it would be. */
static NameSlot *name_slot(const NameMap *m, Name name) {
  uint64_t hash = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;
  uint32_t i = (uint32_t)(hash >> 32) & (m->cap - 1);
  while (m->slots[i].name && m->slots[i].name != name) i = (i + 1) & (m->cap - 1);
  return &m->slots[i];
}

void **namemap_find(const NameMap *m, Name name) {
  if (!m->n) return NULL;
  NameSlot *s = name_slot(m, name);
  return s->name ? &s->value : NULL;
}

static void grow_namemap(Arena *a, NameMap *m) {
  NameMap bigger = {.n = m->n, .cap = m->cap ? 2 * m->cap : 16};
  bigger.slots = ARENA_ARRAY(a, NameSlot, bigger.cap);
  for (uint32_t i = 0; i < m->cap; i++)
    if (m->slots[i].name) *name_slot(&bigger, m->slots[i].name) = m->slots[i];
  *m = bigger;
}

void **namemap_put(Arena *a, NameMap *m, Name name) {
  if (2 * m->n >= m->cap) grow_namemap(a, m);
  NameSlot *s = name_slot(m, name);
  if (!s->name) {
    s->name = name;
    m->n++;
  }
  return &s->value;
}
