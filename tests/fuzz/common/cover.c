/* Edges of the program, as -fsanitize-coverage=trace-pc reports them. */
#include <string.h>
#include <sys/mman.h>

#include "tests/fuzz/common/fuzz.h"

/* Some times as many as the program has, so that few share a place. */
enum { EDGES = 1 << 18, WORD = sizeof(uint64_t) };

static _Alignas(WORD) uint8_t taken[EDGES]; /* how often, in this input */
static uint8_t *known; /* bits: in which power of two of times; shared with the parent */
/* The previous block of this thread: an edge leads from it to the current one. */
static _Thread_local uintptr_t previous;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  uintptr_t here = (uintptr_t)__builtin_return_address(0) * UINT64_C(0x9e3779b97f4a7c15) >> 44;
  uint8_t *count = &taken[(here ^ previous) & (EDGES - 1)];
  *count = (uint8_t)(*count + (*count != UINT8_MAX));
  previous = here >> 1;
}

bool cover_open(void) {
  known = mmap(NULL, EDGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return known != MAP_FAILED;
}

void cover_start(void) {
  memset(taken, 0, sizeof taken);
  previous = 0;
}

static bool edge_is_new(size_t i) {
  if (!taken[i]) return false;
  uint8_t bit = (uint8_t)(1u << (31 - __builtin_clz(taken[i])));
  bool is_new = !(known[i] & bit);
  known[i] |= bit;
  return is_new;
}

bool cover_is_new(void) {
  bool is_new = false;
  for (size_t i = 0; i < EDGES; i += WORD) {
    uint64_t any; /* most of them are 0 */
    memcpy(&any, &taken[i], WORD);
    for (size_t k = 0; any && k < WORD; k++) is_new |= edge_is_new(i + k);
  }
  return is_new;
}

size_t cover_edges(void) {
  size_t n = 0;
  for (size_t i = 0; i < EDGES; i++) n += known[i] != 0;
  return n;
}
