/* Arenas: every object of a compilation lives in one, and dies with it.
 *
 * A compilation owns one Arena; a pass that needs scratch space makes a child of it and frees that
 * before it returns.  Nothing is freed singly.  Memory comes zeroed and aligned to 16 bytes.
 *
 * Running out of memory is not checked at call sites: the arena jumps to the place that was set
 * with arena_catch() (the compile entry points do so), which reports and frees the arena.  A child
 * jumps to its parent's place, and is freed with its parent at the latest.
 *
 * Arenas are not thread-safe; one thread uses one arena.
 */
#ifndef NEREID_LANG_BASE_ARENA_H
#define NEREID_LANG_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/base/bug.h"

typedef struct Arena Arena;

/* A new arena; NULL when out of memory. */
Arena *arena_new(void);
/* An arena for scratch, which lives as long as `parent` at most; memory is the parent's matter. */
Arena *arena_child(Arena *parent);
void arena_free(Arena *a);
/* The bytes that it has of the system, without those of its children. */
size_t arena_size(const Arena *a);

/* Resource limits of an arena with its children: bytes of the system, and steps of work, 0 for any
 * number.  Past one of them the arenas are out of memory, and arena_excess tells which.  Steps are
 * counted instead of time, so that a compilation has one outcome on every machine. */
typedef struct {
  size_t bytes;
  uint64_t steps;
} ArenaUse;
typedef enum { ARENA_WITHIN, ARENA_BYTES, ARENA_STEPS } ArenaExcess;
void arena_limit(Arena *a, ArenaUse most);
ArenaExcess arena_excess(const Arena *a);
ArenaUse arena_use(const Arena *a); /* so far */
/* Counts steps of work, of 5 to 50 ns each.  Allocations are counted by the arena; passes count
 * statements that they visit and pairs that they compare, where these may be more than linear. */
void arena_work(Arena *a, uint64_t steps);

/* From now on `a`, when an allocation fails, jumps to the place with JUMP_MEMORY, and the thread's
 * internal errors do with JUMP_BUG. */
void arena_catch(Arena *a, JumpPlace *place);
/* No longer: both go where they went before. */
void arena_release(Arena *a, JumpPlace *place);
/* Jumps there, for allocations that are made elsewhere. */
_Noreturn void arena_out_of_memory(const Arena *a);
/* f(ctx), for a caller that holds memory outside of arenas: if f runs out of memory, or ends by an
 * internal error, release(ctx) is called before the jump goes on. */
bool arena_guard(Arena *a, bool (*f)(void *ctx), void (*release)(void *ctx), void *ctx);

/* Zeroed memory of `size` bytes (0 is allowed). */
void *arena_alloc(Arena *a, size_t size);
/* `n * size` zeroed bytes; an overflow counts as out of memory. */
void *arena_array(Arena *a, size_t n, size_t size);
/* The block `p` of `old` bytes copied into a new one of `size` bytes (size >= old). */
void *arena_grow(Arena *a, const void *p, size_t old, size_t size);

char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_array((a), (n), sizeof(T)))

/* Growable arrays: VEC(int) v = {0}; vec_push(a, &v, 3); v.data[0]; v.len. */
#define VEC(T)   \
  struct {       \
    T *data;     \
    size_t len;  \
    size_t cap;  \
  }
#define vec_reserve(a, v, n)                                                                    \
  ((v)->cap >= (n) ? (void)0                                                                    \
                   : (void)((v)->data = vec_grow_((a), (v)->data, (v)->len * sizeof *(v)->data, \
                                                  sizeof *(v)->data, &(v)->cap, (n))))
#define vec_push(a, v, x) (vec_reserve((a), (v), (v)->len + 1), (void)((v)->data[(v)->len++] = (x)))
#define vec_last(v) ((v)->data[(v)->len - 1])
void *vec_grow_(Arena *a, const void *data, size_t used, size_t item, size_t *cap, size_t need);

#endif
