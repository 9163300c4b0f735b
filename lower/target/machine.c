#include "lower/target/machine.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "lower/target/machine_table.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

enum {
  AMPERE = HAS_ASYNC_COPIES | HAS_EXPANDED_LOOPS | HAS_VECTOR_ACCESSES | HAS_COALESCING |
           HAS_BANKED_SHARED,
  ADA = AMPERE | HAS_F8_CONVERSIONS,
  HOPPER = ADA | HAS_BF16_ARITHMETIC | HAS_ASYNC_PROXY | HAS_REGISTER_SHIFTS |
           HAS_GRID_DEPENDENCIES | HAS_CLUSTERS | HAS_EXTREMA_OF_THREE,
  CPU = HAS_LOCKSTEP | HAS_SERIAL_PROGRAMS
};

#define X(name, kind, sm, ptx, f8_ptx, lanes, warps, regs, shared, vector, has, ...) \
  {name, kind, sm, ptx, f8_ptx, lanes, warps, regs, shared, vector, has, {__VA_ARGS__}},
static const Machine machines[] = {MACHINES(X)};
#undef X

#if defined(__x86_64__) && defined(__linux__)
/* Linux gives a process the state of tiles on request, or refuses it.  GCC before 11 and Clang 14
 * do not know AMX's names. */
static bool has_tiles(void) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18, LEAF = 7 };
  const unsigned bf16_tiles_bytes = 1u << 22 | 1u << 24 | 1u << 25;
  unsigned a, b, c, d;
  return __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) &&
         (d & bf16_tiles_bytes) == bf16_tiles_bytes &&
         syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
}
#else
static bool has_tiles(void) { return false; }
#endif

bool machine_multiplies_pairs(const Machine *m) {
#if defined(__x86_64__) && defined(__linux__)
  enum { LEAF = 7, SECOND = 1, LANES_OF_PAIRS = 16 };
  const unsigned avx512_bf16 = 1u << 5;
  unsigned a, b, c, d;
  if (m->lanes < LANES_OF_PAIRS) return false;
  return machine_has(m, HAS_MATRIX_TILES) ||
         (__get_cpuid_count(LEAF, SECOND, &a, &b, &c, &d) && (a & avx512_bf16));
#else
  (void)m;
  return false;
#endif
}

static const char *host_cpu(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return has_tiles() ? "cpu:amx" : "cpu:16";
  if (__builtin_cpu_supports("avx2")) return "cpu:8";
#endif
  return "cpu:4";
}

static const Machine *find(const char *target) {
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (!strcmp(machines[i].name, target)) return &machines[i];
  return NULL;
}

const Machine *machine_asked(const char *name) {
  const Machine *m = find(name), *here = find(host_cpu());
  bool fits = m && m->kind == MACHINE_CPU && m->lanes <= here->lanes && m->regs <= here->regs &&
              (m->has & ~here->has) == 0;
  return fits ? m : NULL;
}

const Machine *machine_find(const char *target) {
  if (strcmp(target, "cpu")) return find(target);
  const char *own = getenv("NEREID_CPU");
  const Machine *m = own ? machine_asked(own) : NULL;
  return m ? m : find(host_cpu());
}

const Machine *machine_of_sm(int sm) {
  for (size_t i = 0; sm && i < sizeof machines / sizeof *machines; i++)
    if (machines[i].sm == sm) return &machines[i];
  return NULL;
}

const Machine *machine_of_half(const Machine *m) {
  enum { LANES_WIDE = 8 }; /* fewer have one row for all registers */
  for (size_t i = 0; m->kind == MACHINE_CPU && i < sizeof machines / sizeof *machines; i++)
    if (machines[i].kind == MACHINE_CPU && 2 * machines[i].lanes == m->lanes &&
        (machines[i].regs == m->regs || machines[i].lanes < LANES_WIDE))
      return &machines[i];
  return NULL;
}

int machine_block_vectors(const Machine *m) {
  enum { MANY_REGISTERS = 32, OF_MANY = 4, OF_FEW = 2 };
  return m->regs >= MANY_REGISTERS ? OF_MANY : OF_FEW;
}

int machine_vectors_of(const Machine *m, int vectors) {
  enum { FIVE = 5, FEW = 3 };
  int most = machine_block_vectors(m), n = most;
  while (vectors % n) n--;
  return n < FEW && most > FEW && vectors % FIVE == 0 ? FIVE : n;
}

/* A row has an address, so more rows than these do without registers for addresses. */
int machine_block_rows(const Machine *m, int vectors) {
  enum { MOST = 9 };
  int rows = (m->regs - vectors - 1) / vectors;
  return rows < 1 ? 1 : rows < MOST ? rows : MOST;
}

static MachineBlock block_with(const Machine *m, int rows, int vectors) {
  int n = machine_block_rows(m, vectors);
  while (rows % n) n--;
  return (MachineBlock){n, vectors};
}

/* The time of each of a block's products: a core begins two additions and two loads at a time, and
 * the next addition to a sum waits for the last one. */
static double cost_of_block(MachineBlock b) {
  enum { WAIT = 8 };
  int sums = b.rows * b.vectors, loads = b.rows + b.vectors;
  int time = sums > loads ? sums : loads;
  return (double)(time > WAIT ? time : WAIT) / sums;
}

/* 49 rows, windows of 7 by 7, are blocks of seven with two vectors each, not of one with four. */
MachineBlock machine_block_of(const Machine *m, int rows, int vectors) {
  enum { HALF = 2 };
  static const double MUCH = 0.75;
  MachineBlock block = block_with(m, rows, machine_vectors_of(m, vectors));
  if (block.vectors % HALF) return block;
  MachineBlock narrow = block_with(m, rows, block.vectors / HALF);
  return cost_of_block(narrow) < MUCH * cost_of_block(block) ? narrow : block;
}

const Machine *machine_list(int *n) {
  *n = (int)(sizeof machines / sizeof *machines);
  return machines;
}
