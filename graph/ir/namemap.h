/* A table from interned names to pointers. */
#ifndef NEREID_GRAPH_IR_NAMEMAP_H
#define NEREID_GRAPH_IR_NAMEMAP_H

#include <stdint.h>

#include "lang/base/strings.h"

typedef struct {
  Name name;
  void *value;
} NameSlot;

/* Zeroed, it is empty. */
typedef struct {
  NameSlot *slots; /* open addressing; a power of two of them, at most half used */
  uint32_t n, cap;
} NameMap;

/* The address of the name's value, NULL if there is none. */
void **namemap_find(const NameMap *m, Name name);
/* Finds a name, or adds it with a slot that holds NULL. */
void **namemap_put(Arena *a, NameMap *m, Name name);

static inline void *namemap_get(const NameMap *m, Name name) {
  void **value = namemap_find(m, name);
  return value ? *value : NULL;
}

#endif
