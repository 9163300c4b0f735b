/* JSON documents, as RFC 8259 has them: the text of a .pt2 file's graph, megabytes of it.
 *
 * A document is a tree in one arena; its strings are copies, so the text may go.  Integers that
 * fit 64 bits stay integers.  Refused are keys that stand twice in an object, integers and
 * numbers out of range, text that is no UTF-8, the character U+0000, and what is nested deeper
 * than JSON_DEPTH_MAX. */
#ifndef NEREID_IMPORT_TEXT_JSON_H
#define NEREID_IMPORT_TEXT_JSON_H

#include <stdint.h>

#include "lang/base/arena.h"

enum { JSON_SIZE_MAX = 1 << 30, JSON_DEPTH_MAX = 1000 };

typedef enum {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_INTEGER,
  JSON_REAL,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} JsonKind;

typedef struct Json Json;
typedef struct JsonTable JsonTable;
struct Json {
  JsonKind kind;
  uint32_t n; /* ARRAY, OBJECT: items or members */
  union {
    int64_t integer;
    double real;
    const char *string;
    const Json *items;
    const JsonTable *members;
  };
};

typedef struct {
  const char *key;
  Json value;
} JsonMember;

/* The position and kind of a document's error: one of the messages E_JSON_... */
typedef struct {
  int line, column; /* from 1 */
  const char *what;
} JsonError;

/* `size` is at most JSON_SIZE_MAX.  NULL after an error. */
const Json *json_read(Arena *a, const char *text, size_t size, JsonError *error);

/* All take NULL, and values of another kind: these have no items. */
static inline bool json_is(const Json *v, JsonKind kind) { return v && v->kind == kind; }
static inline size_t json_length(const Json *v) { return v && v->kind >= JSON_ARRAY ? v->n : 0; }
/* i is less than the length of an array. */
static inline const Json *json_item(const Json *array, size_t i) {
  return json_is(array, JSON_ARRAY) && i < array->n ? &array->items[i] : NULL;
}
/* Members are in the order of the text. */
const JsonMember *json_member(const Json *object, size_t i);
/* The value of the key, NULL if there is none. */
const Json *json_get(const Json *object, const char *key);

#endif
