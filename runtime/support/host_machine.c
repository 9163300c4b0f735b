#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/messages.h"
#include "runtime/support/cores.h"
#include "runtime/support/host_machine.h"

enum { ALIGNMENT = 256 };

/* Memory that the machine can give without ending a process.  Linux promises more, and kills
 * later. */
static size_t available(void) {
  char line[256];
  unsigned long long kib = 0;
  FILE *f = fopen("/proc/meminfo", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  if (f) fclose(f);
  return kib ? (size_t)kib << 10 : SIZE_MAX / 4;
}

static int check_available_memory(size_t size) {
  enum { WORTH_A_LOOK = 1 << 28 };
  size_t most = size > WORTH_A_LOOK ? available() : SIZE_MAX;
  return size <= most ? 0 : error_set(NEREID_E_MEMORY, E_RUN_HOST_MEMORY, size >> 20, most >> 20);
}

#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE 14
#endif

/* Where the system gives pages of 2 MiB on request, memory is read faster in them: on a Sapphire
 * Rapids a core sums up 14.7 GB/s, and 11.4 in pages of 4 KiB.  Others ignore it.  Pages are whole
 * ones of the block, so that it takes no more memory. */
static void ask_for_large_pages(char *p, size_t size) {
  enum { PAGE = 1 << 21, PAGES_LEAST = 4 };
  size_t skipped = (PAGE - (uintptr_t)p % PAGE) % PAGE;
  if (size < (size_t)PAGES_LEAST * PAGE) return;
  madvise(p + skipped, (size - skipped) / PAGE * PAGE, MADV_HUGEPAGE);
}

int host_alloc(nereid_device *d, void **out, size_t size) {
  (void)d;
  *out = NULL;
  int code = check_available_memory(size);
  if (code) return code;
  size_t room = size > SIZE_MAX - ALIGNMENT ? 0 : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  *out = size && !room ? NULL : aligned_alloc(ALIGNMENT, room ? room : ALIGNMENT);
  if (*out) ask_for_large_pages(*out, size);
  return *out ? 0 : error_out_of_memory();
}

void host_free(nereid_device *d, void *p) {
  (void)d;
  free(p);
}

enum { FENCE = 1 << 16 }; /* a multiple of any page */

static size_t fenced_size(size_t size) { return (size + FENCE - 1) / FENCE * FENCE + FENCE; }

static size_t fenced_offset(size_t size) {
  return fenced_size(size) - FENCE - (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int host_alloc_fenced(void **out, size_t size) {
  *out = NULL;
  int code = check_available_memory(size);
  if (code) return code;
  if (size > SIZE_MAX / 2) return error_out_of_memory();
  size_t all = fenced_size(size);
  char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return error_out_of_memory();
  if (mprotect(p + all - FENCE, FENCE, PROT_NONE)) {
    munmap(p, all);
    return error_out_of_memory();
  }
  *out = p + fenced_offset(size);
  return 0;
}

void host_free_fenced(void *p, size_t size) {
  if (p) munmap((char *)p - fenced_offset(size), fenced_size(size));
}

static int64_t waited_ns(const char *thread) {
  char path[64];
  long long ran, waited = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.16s/schedstat", thread);
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "%lld %lld", &ran, &waited) != 2) waited = 0;
  if (f) fclose(f);
  return waited;
}

int64_t host_waited_ns(void) {
  int64_t sum = 0;
  DIR *threads = opendir("/proc/self/task");
  for (const struct dirent *e; threads && (e = readdir(threads));)
    if (e->d_name[0] != '.') sum += waited_ns(e->d_name);
  if (threads) closedir(threads);
  return sum;
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Kernels before 4.14 don't wipe it: then a fork looks like the process itself. */
const char *host_fork_mark(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  madvise(p, size, MADV_WIPEONFORK);
  *p = 1;
  return p;
}

void host_free_fork_mark(const char *mark) {
  if (mark) munmap((void *)(uintptr_t)mark, (size_t)sysconf(_SC_PAGESIZE));
}

int host_cores(void) { return cores_usable(); }

double host_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
