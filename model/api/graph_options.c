#include "model/api/graph_options.h"

#include <stdio.h>
#include <string.h>

#include "runtime/support/error.h"

enum { PLAN = 1, SIZES = 2, UNSTORED = 4, ASIDE = 8 };

#define ROWS(X) NEREID_GRAPH_OPTIONS(X, X, X)

#define X(kind, name, uses, ...)                                                   \
  _Static_assert((((uses) & (PLAN | UNSTORED)) != 0) != (((uses) & ASIDE) != 0), \
                 "an option is in the key, or the row says why not: " #name);
ROWS(X)
#undef X

/* ---- lists without elements ---- */

#define MISSING(name) \
  if (o->n##name && !o->name) return #name;
#define MISSING_WORD(name)
#define MISSING_TEXT(name)
#define MISSING_FLAG(name)
#define MISSING_BITS(name)
#define MISSING_REPLAY(name)
#define MISSING_RANGES(name) MISSING(name)
#define MISSING_PLACES(name) MISSING(name)
#define MISSING_FILES(name) MISSING(name)
#define MISSING_PASS_CALL(name)
#define MISSING_TUNE_CALL(name)
#define MISSING_COMPILE_CALL(name)

const char *graph_options_missing(const nereid_graph_options *o) {
#define X(kind, name, ...) MISSING_##kind(name)
  ROWS(X)
#undef X
  return NULL;
}

/* ---- what the cache may have ---- */

bool graph_options_are_stored(const nereid_graph_options *o) {
#define X(kind, name, uses, ...) \
  if (((uses) & UNSTORED) && o->name) return false;
  ROWS(X)
#undef X
  return o->keep != 0;
}

static void key_text(KeyMaker *k, const char *text) { cache_key_text(k, text ? text : ""); }

static void key_number(KeyMaker *k, int64_t x) { cache_key_add(k, &x, sizeof x); }

static void key_ranges(KeyMaker *k, const nereid_graph_range *ranges, int n) {
  key_number(k, n);
  for (int i = 0; i < n; i++) {
    key_text(k, ranges[i].symbol);
    key_number(k, ranges[i].lo);
    key_number(k, ranges[i].hi);
    key_number(k, ranges[i].likely);
  }
}

static void key_places(KeyMaker *k, const int *places, int n) {
  key_number(k, n);
  for (int i = 0; i < n; i++) key_number(k, places[i]);
}

#define KEY_WORD(name) key_text(k, o->name)
#define KEY_TEXT(name) key_text(k, o->name)
#define KEY_FLAG(name) key_number(k, o->name)
#define KEY_BITS(name) key_number(k, o->name)
#define KEY_REPLAY(name) key_number(k, o->name)
#define KEY_RANGES(name) key_ranges(k, o->name, o->n##name)
#define KEY_PLACES(name) key_places(k, o->name, o->n##name)
/* What is UNSTORED alone: the content of files, and functions. */
#define KEY_FILES(name) (void)0
#define KEY_PASS_CALL(name) (void)0
#define KEY_TUNE_CALL(name) (void)0
#define KEY_COMPILE_CALL(name) (void)0

void graph_options_key(KeyMaker *k, const nereid_graph_options *o) {
#define X(kind, name, uses, ...) \
  if (((uses) & (PLAN | UNSTORED)) == PLAN) KEY_##kind(name);
  ROWS(X)
#undef X
}

/* ---- what decides a plan ---- */

#define COPY(name) to.name = o->name
#define COPY_LIST(name) (to.name = o->name, to.n##name = o->n##name)
#define COPY_WORD COPY
#define COPY_TEXT COPY
#define COPY_FLAG COPY
#define COPY_BITS COPY
#define COPY_REPLAY COPY
#define COPY_RANGES COPY_LIST
#define COPY_PLACES COPY_LIST
#define COPY_FILES COPY_LIST
#define COPY_PASS_CALL COPY
#define COPY_TUNE_CALL COPY
#define COPY_COMPILE_CALL COPY

nereid_graph_options graph_options_of_plan(const nereid_graph_options *o) {
  nereid_graph_options to = {0};
#define X(kind, name, uses, ...) \
  if ((uses) & PLAN) COPY_##kind(name);
  ROWS(X)
#undef X
  return to;
}

static const char *kept_text(Arena *a, const char *text) {
  return text ? arena_strndup(a, text, strlen(text)) : NULL;
}

static const char *const *kept_texts(Arena *a, const char *const *from, int n) {
  const char **to = ARENA_ARRAY(a, const char *, n);
  for (int i = 0; i < n; i++) to[i] = kept_text(a, from[i]);
  return to;
}

#define OWN_WORD(name) to.name = kept_text(a, to.name)
#define OWN_TEXT(name) to.name = kept_text(a, to.name)
#define OWN_FLAG(name) (void)0
#define OWN_BITS(name) (void)0
#define OWN_REPLAY(name) (void)0
#define OWN_FILES(name) to.name = to.n##name ? kept_texts(a, to.name, to.n##name) : NULL
/* They are of open sizes. */
#define OWN_RANGES(name) (to.name = NULL, to.n##name = 0)
#define OWN_PLACES(name) (to.name = NULL, to.n##name = 0)
#define OWN_PASS_CALL(name) (void)0
#define OWN_TUNE_CALL(name) (void)0
#define OWN_COMPILE_CALL(name) (void)0

nereid_graph_options graph_options_of_sizes(Arena *a, const nereid_graph_options *o) {
  nereid_graph_options to = graph_options_of_plan(o);
#define X(kind, name, uses, ...) OWN_##kind(name);
  ROWS(X)
#undef X
  return to;
}

/* ---- words ---- */

int graph_option_choice(const char *choices, const char *word, char *hint, size_t size) {
  enum { CHOICES = 8, LENGTH = 32 };
  char texts[CHOICES][LENGTH];
  const char *names[CHOICES];
  int n = 0;
  if (!word) return 0;
  for (const char *at = choices; *at && n < CHOICES; at += strspn(at, " ")) {
    size_t len = strcspn(at, " ");
    snprintf(texts[n], LENGTH, "%.*s", (int)len, at);
    names[n] = texts[n];
    if (!strcmp(word, names[n++])) return n - 1;
    at += len;
  }
  error_suggest(hint, size, word, names, (size_t)n);
  return -1;
}
