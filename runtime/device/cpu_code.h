/* Shared libraries of kernels, in memory, and which kernels they have: one whose C is the same, but
 * for names (c_canonical), runs the code of one that is loaded. */
#ifndef NEREID_RUNTIME_DEVICE_CPU_CODE_H
#define NEREID_RUNTIME_DEVICE_CPU_CODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/store/cache.h"

typedef struct CpuCode CpuCode;
typedef struct CpuKnown CpuKnown;

/* The libraries of a device. */
typedef struct {
  pthread_mutex_t lock;
  CpuKnown **buckets; /* of known kernels, by key; NULL until there is one */
} CpuCodes;

/* A library with one user, who makes it.  Takes the malloc'ed data, also after a failure. */
int cpu_code_new(CpuCode **out, CpuCodes *codes, char *data, size_t size);
void cpu_code_hold(CpuCode *c);
void cpu_code_release(CpuCode *c); /* NULL is allowed */

/* Loads the library's file; a failure is dlerror's. */
bool cpu_code_open(CpuCode *c, const char *path);
void *cpu_code_symbol(const CpuCode *c, const char *name);
const char *cpu_code_bytes(size_t *size, const CpuCode *c);

/* A kernel's key, how little the compiler has optimized it, and the name of its entry. */
void cpu_code_know(CpuCode *c, CacheKey key, int effort, const char *entry);
/* A library that has such a kernel, optimized as much at least; the caller is a user of it.  The
 * entry's name lives as long as the library. */
bool cpu_code_find(CpuCodes *codes, CacheKey key, int effort, CpuCode **out, const char **entry);

void cpu_codes_open(CpuCodes *codes);
void cpu_codes_close(CpuCodes *codes); /* its libraries are released */

#endif
