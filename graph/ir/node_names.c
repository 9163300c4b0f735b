/* Nodes by name: a hash table whose keys are interned, with open addressing. */
#include <ctype.h>
#include <string.h>

#include "graph/ir/graph.h"

typedef struct {
  Name name;
  Node *node;
  uint32_t next; /* the suffix to try first for a fresh name_N */
} Entry;

typedef struct NodeTable {
  Entry *entries;
  uint32_t mask, used;
} NodeTable;

static uint64_t hash_node_name(Name name) {
  uint64_t x = (uint64_t)(uintptr_t)name * 0x9E3779B97F4A7C15u;
  return x >> 20;
}

static Entry *name_entry(const NodeTable *t, Name name) {
  for (uint64_t i = hash_node_name(name);; i++) {
    Entry *e = &t->entries[i & t->mask];
    if (!e->name || e->name == name) return e;
  }
}

static NodeTable *node_table_new(Arena *a, uint32_t size) {
  NodeTable *t = ARENA_NEW(a, NodeTable);
  t->entries = ARENA_ARRAY(a, Entry, size);
  t->mask = size - 1;
  return t;
}

/* An entry for the name, added if there is none. */
static Entry *intern_node_name(Graph *g, Name name) {
  NodeTable *t = g->by_name;
  if (!t || t->used * 2 > t->mask) {
    NodeTable *bigger = node_table_new(g->arena, t ? 2 * (t->mask + 1) : 64);
    for (uint32_t i = 0; t && i <= t->mask; i++)
      if (t->entries[i].name) *name_entry(bigger, t->entries[i].name) = t->entries[i];
    bigger->used = t ? t->used : 0;
    g->by_name = t = bigger;
  }
  Entry *e = name_entry(t, name);
  if (e->name) return e;
  e->name = name;
  e->next = 1;
  t->used++;
  return e;
}

bool graph_set_name(Graph *g, Node *n, Name name) {
  Entry *e = intern_node_name(g, name);
  if (e->node && e->node != n) return false;
  e->node = n;
  n->name = name;
  return true;
}

void graph_forget_name(Graph *g, const Node *n) {
  Entry *e = intern_node_name(g, n->name);
  if (e->node == n) e->node = NULL;
}

Node *graph_find(const Graph *g, Name name) {
  return g->by_name ? name_entry(g->by_name, name)->node : NULL;
}

/* FX takes a suffix _3 off before it counts on from 4. */
static size_t stem_length(const char *base) {
  size_t n = strlen(base), end = n;
  while (end > 1 && isdigit((unsigned char)base[end - 1])) end--;
  return end < n && end > 1 && base[end - 1] == '_' ? end - 1 : n;
}

static bool set_free_name(Graph *g, Node *n, const char *text) {
  Name name = pool_name(g->names, text);
  return !dims_symbol_named(g->dims, name) && graph_set_name(g, n, name);
}

void graph_fresh_name(Graph *g, Node *n, const char *base) {
  if (set_free_name(g, n, base)) return;
  Name stem = pool_namen(g->names, base, stem_length(base));
  char *text;
  do {
    text = arena_printf(g->arena, "%s_%u", stem, intern_node_name(g, stem)->next++);
  } while (!set_free_name(g, n, text));
}

void graph_part_names(Graph *g) {
  for (Node *n = g->first; n; n = n->next) {
    if (!n->name || !dims_symbol_named(g->dims, n->name)) continue;
    Name taken = n->name;
    graph_forget_name(g, n);
    graph_fresh_name(g, n, taken);
  }
}
