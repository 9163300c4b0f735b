#include "lower/target/machine.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024 };

/* Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
 * A CPU's lanes are 32-bit elements of one SIMD register: 16 (AVX-512), 8 (AVX2), 4 (Neon, SSE). */
enum {
  AMPERE = HAS_ASYNC_COPIES | HAS_EXPANDED_LOOPS | HAS_VECTOR_ACCESSES | HAS_COALESCING |
           HAS_BANKED_SHARED,
  ADA = AMPERE | HAS_F8_CONVERSIONS,
  HOPPER = ADA | HAS_BF16_ARITHMETIC | HAS_ASYNC_PROXY | HAS_REGISTER_SHIFTS | HAS_EXTREMA_OF_THREE,
  CPU = HAS_LOCKSTEP | HAS_SERIAL_PROGRAMS
};

static const Machine machines[] = {
    /* name     kind         sm  ptx f8_ptx lanes warps regs shared vector has */
    {"sm_80", MACHINE_GPU, 80, 70, 0, 32, 32, 255, 163 * KIB, 16, AMPERE},
    {"sm_86", MACHINE_GPU, 86, 71, 0, 32, 32, 255, 99 * KIB, 16, AMPERE},
    {"sm_89", MACHINE_GPU, 89, 78, 81, 32, 32, 255, 99 * KIB, 16, ADA},
    {"sm_90a", MACHINE_GPU, 90, 80, 78, 32, 32, 255, 227 * KIB, 16, HOPPER},
    {"sm_100a", MACHINE_GPU, 100, 86, 78, 32, 32, 255, 227 * KIB, 16, HOPPER},
    {"sm_103a", MACHINE_GPU, 103, 88, 78, 32, 32, 255, 227 * KIB, 16, HOPPER},
    {"sm_120a", MACHINE_GPU, 120, 87, 78, 32, 32, 255, 99 * KIB, 16, HOPPER},
    {"cpu:4", MACHINE_CPU, 0, 0, 0, 4, 1, 16, 4096 * KIB, 16, CPU},
    {"cpu:8", MACHINE_CPU, 0, 0, 0, 8, 1, 16, 4096 * KIB, 32, CPU},
    {"cpu:16", MACHINE_CPU, 0, 0, 0, 16, 1, 32, 4096 * KIB, 64, CPU},
};

static const char *host_cpu(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return "cpu:16";
  if (__builtin_cpu_supports("avx2")) return "cpu:8";
#endif
  return "cpu:4";
}

const Machine *machine_find(const char *target) {
  if (!strcmp(target, "cpu")) target = host_cpu();
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (!strcmp(machines[i].name, target)) return &machines[i];
  return NULL;
}

const Machine *machine_list(int *n) {
  *n = (int)(sizeof machines / sizeof *machines);
  return machines;
}
