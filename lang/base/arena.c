#include "lang/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/base/diag.h"

enum { ALIGN = 16, ALLOCATION_STEPS = 4 };

/* `make stress`: chunks so small that sanitizers see the edges of most objects. */
#ifdef ARENA_STRESS
enum { CHUNK_MIN = 32, CHUNK_MAX = 32 };
#else
/* Each chunk is four times the last, and so larger than all before it: malloc then learns to keep
 * as much between compilations, instead of giving it back to the system to fault it in anew. */
enum { CHUNK_MIN = 1 << 12, CHUNK_MAX = 1 << 26 };
#endif

/* The address sanitizer poisons the gaps between objects. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = ALIGN };
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
enum { GAP = 0 };
#endif

typedef struct Chunk {
  struct Chunk *next;
  size_t size;
} Chunk;

struct Arena {
  Chunk *chunks;
  char *at;
  size_t left, size;
  Arena *root;
  ArenaUse use, most; /* of a root: with its children, and the limits */
  ArenaExcess excess;
  JumpPlace *oom;
  Arena *parent, *children;
  Arena *sibling, *before; /* among the children of the parent */
};

Arena *arena_new(void) {
  Arena *a = calloc(1, sizeof(Arena));
  if (a) a->root = a;
  return a;
}

_Noreturn void arena_out_of_memory(const Arena *a) {
  while (!a->oom && a->parent) a = a->parent;
  if (a->oom) longjmp(a->oom->jump, JUMP_MEMORY);
  BUG("out of memory, and the arena has no place to jump to"); /* it takes two faults at once */
}

Arena *arena_child(Arena *parent) {
  Arena *a = arena_new();
  if (!a) arena_out_of_memory(parent);
  a->parent = parent;
  a->root = parent->root;
  a->sibling = parent->children;
  if (a->sibling) a->sibling->before = a;
  parent->children = a;
  return a;
}

/* ---- limits ---- */

void arena_limit(Arena *a, ArenaUse most) {
  a->root->most = most;
  a->root->excess = ARENA_WITHIN;
}

ArenaExcess arena_excess(const Arena *a) { return a->root->excess; }

ArenaUse arena_use(const Arena *a) { return a->root->use; }

/* A limit that is passed stays so. */
static _Noreturn void exceed(const Arena *a, ArenaExcess excess) {
  a->root->excess = excess;
  arena_out_of_memory(a);
}

/* Counts bytes that an arena is about to take. */
static void count_bytes(Arena *a, size_t size) {
  size_t most = a->root->most.bytes;
  if (most && (size > most || a->root->use.bytes > most - size)) exceed(a, ARENA_BYTES);
  a->root->use.bytes += size;
}

void arena_work(Arena *a, uint64_t steps) {
  Arena *root = a->root;
  root->use.steps += steps;
  if (root->most.steps && root->use.steps > root->most.steps) exceed(a, ARENA_STEPS);
}

static void unlink_from_parent(Arena *a) {
  if (a->sibling) a->sibling->before = a->before;
  if (a->before) a->before->sibling = a->sibling;
  else if (a->parent) a->parent->children = a->sibling;
}

void arena_free(Arena *a) {
  if (!a) return;
  while (a->children) arena_free(a->children);
  a->root->use.bytes -= a->size;
  unlink_from_parent(a);
  for (Chunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    ASAN_UNPOISON_MEMORY_REGION(c, c->size); /* malloc's memory again */
    free(c);
  }
  free(a);
}

size_t arena_size(const Arena *a) { return a->size; }

void arena_catch(Arena *a, JumpPlace *place) {
  place->outer = a->oom;
  a->oom = place;
  bug_catch(place);
}

void arena_release(Arena *a, JumpPlace *place) {
  a->oom = place->outer;
  bug_release(place);
}

bool arena_guard(Arena *a, bool (*f)(void *ctx), void (*release)(void *ctx), void *ctx) {
  JumpPlace here;
  arena_catch(a, &here);
  switch (setjmp(here.jump)) {
    case 0: break;
    case JUMP_BUG:
      arena_release(a, &here);
      release(ctx);
      bug_again();
    default:
      arena_release(a, &here);
      release(ctx);
      arena_out_of_memory(a);
  }
  bool ok = f(ctx);
  arena_release(a, &here);
  return ok;
}

static size_t chunk_size(const Arena *a, size_t need) {
  size_t size = a->chunks ? a->chunks->size * 4 : CHUNK_MIN;
  if (size > CHUNK_MAX) size = CHUNK_MAX;
  return size > need ? size : need;
}

static void add_chunk(Arena *a, size_t need) {
  size_t head = (sizeof(Chunk) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  size_t size = chunk_size(a, need);
  if (size > SIZE_MAX - head) arena_out_of_memory(a);
  arena_work(a, 0);
  count_bytes(a, size);
  Chunk *c = malloc(head + size);
  if (!c) arena_out_of_memory(a);
  c->next = a->chunks;
  c->size = size;
  a->chunks = c;
  a->size += size;
  a->at = (char *)c + head;
  a->left = size;
  ASAN_POISON_MEMORY_REGION(a->at, size);
}

/* Memory that is not zeroed. */
static char *take_bytes(Arena *a, size_t size) {
  BUG_IF(false, "on demand, at an allocation"); /* `make stress` */
  if (size > SIZE_MAX - ALIGN - GAP) arena_out_of_memory(a);
  a->root->use.steps += ALLOCATION_STEPS;
  size_t room = ((size + ALIGN - 1) & ~(size_t)(ALIGN - 1)) + GAP;
  if (room > a->left || !a->at) add_chunk(a, room);
  char *p = a->at;
  a->at += room;
  a->left -= room;
  ASAN_UNPOISON_MEMORY_REGION(p, size);
  return p;
}

/* Zeroed as it is handed out, not by chunks: what is used soon is then in the cache. */
void *arena_alloc(Arena *a, size_t size) { return memset(take_bytes(a, size), 0, size); }

void *arena_array(Arena *a, size_t n, size_t size) {
  if (size && n > SIZE_MAX / size) arena_out_of_memory(a);
  return arena_alloc(a, n * size);
}

void *arena_grow(Arena *a, const void *p, size_t old, size_t size) {
  char *q = take_bytes(a, size);
  if (old) memcpy(q, p, old);
  memset(q + old, 0, size - old);
  return q;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
  char *p = take_bytes(a, n + 1);
  memcpy(p, s, n);
  p[n] = 0;
  return p;
}

/* Formats into the free end of the chunk, and a second time only if the text does not fit there.
 * Little of the chunk is opened for it: sanitizers pay for each byte. */
char *arena_vprintf(Arena *a, const char *fmt, va_list ap) {
  enum { GUESS_MAX = 1024 };
  va_list again;
  va_copy(again, ap);
  char *guess = a->at;
  size_t left = a->left < GUESS_MAX ? a->left : GUESS_MAX;
  ASAN_UNPOISON_MEMORY_REGION(guess, left);
  int n = vsnprintf(guess, left, fmt, ap);
  ASAN_POISON_MEMORY_REGION(guess, left);
  char *p = take_bytes(a, (size_t)n + 1);
  if (p != guess || (size_t)n >= left) vsnprintf(p, (size_t)n + 1, fmt, again);
  va_end(again);
  return p;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *p = arena_vprintf(a, fmt, ap);
  va_end(ap);
  return p;
}

void *vec_grow_(Arena *a, const void *data, size_t used, size_t item, size_t *cap, size_t need) {
  size_t n = *cap ? *cap * 2 : 8;
  if (n < need) n = need;
  if (item && n > SIZE_MAX / item) arena_out_of_memory(a);
  *cap = n;
  return arena_grow(a, data, used, n * item);
}
