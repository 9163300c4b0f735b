/* Pickles, Python's format of objects: read as plain data, of which nothing is ever called.
 *
 * A pickle is a program that names functions and calls them.  Here a name stays a name and a call
 * is a record of who would be called with which arguments, so that reading has no effect.  Opcodes
 * that need more than that, and names that the caller does not know, are refused. */
#ifndef NEREID_IMPORT_ARCHIVES_PICKLE_H
#define NEREID_IMPORT_ARCHIVES_PICKLE_H

#include <stdint.h>

#include "lang/base/arena.h"

/* Bytes: one of a tensor has some thousand, and each may become 64 in memory. */
enum { PICKLE_SIZE_MAX = 1 << 20 };

typedef enum {
  PICKLE_NONE,
  PICKLE_BOOL,
  PICKLE_INT,
  PICKLE_FLOAT,
  PICKLE_STRING,
  PICKLE_GLOBAL,    /* `string` is "torch._utils._rebuild_tensor_v2" */
  PICKLE_LIST,      /* a list or a tuple */
  PICKLE_DICT,      /* keys and values, taking turns */
  PICKLE_OBJECT,    /* what is called, its arguments; its state, if there is one */
  PICKLE_REFERENCE  /* to data outside of the pickle: its key */
} PickleKind;

typedef struct PickleValue PickleValue;
struct PickleValue {
  PickleKind kind;
  int64_t integer; /* INT, BOOL */
  double real;     /* FLOAT */
  const char *string;
  VEC(const PickleValue *) items; /* those of LIST, DICT, OBJECT and REFERENCE */
};

/* The value of the pickle; NULL if it is refused: *why says it.  `known` says whether a name may
 * stand in it. */
const PickleValue *pickle_read(Arena *a, const uint8_t *bytes, size_t size,
                               bool (*known)(const char *name), const char **why);

/* These take NULL, and values of another kind. */
static inline bool pickle_is(const PickleValue *v, PickleKind kind) { return v && v->kind == kind; }
/* Item i; NULL: there is none. */
static inline const PickleValue *pickle_item(const PickleValue *v, size_t i) {
  return v && i < v->items.len ? v->items.data[i] : NULL;
}
/* The integers of a list of at most `most`, and how many; -1 if it is no such list. */
int pickle_integers(const PickleValue *v, int64_t *out, int most);
/* Is it a record of a call of that name? */
bool pickle_calls(const PickleValue *v, const char *name);

#endif
