/* Edges of the program, as -fsanitize-coverage=trace-pc reports them. */
#include <string.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"

enum { EDGES = 1 << 16 };

static uint8_t taken[EDGES]; /* how often, in this input */
static uint8_t *known;       /* bits: in which power of two of times; shared with the parent */
static uintptr_t previous;

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

bool cover_is_new(void) {
  bool is_new = false;
  for (size_t i = 0; i < EDGES; i++) {
    if (!taken[i]) continue;
    uint8_t bit = (uint8_t)(1u << (31 - __builtin_clz(taken[i])));
    if (known[i] & bit) continue;
    known[i] |= bit;
    is_new = true;
  }
  return is_new;
}

size_t cover_edges(void) {
  size_t n = 0;
  for (size_t i = 0; i < EDGES; i++) n += known[i] != 0;
  return n;
}
