/* How many cores this process may use, and how many threads the user wants on them.
 *
 * All functions are static: projects that `nereid build` writes hold this file, too. */
#ifndef NEREID_RUNTIME_SUPPORT_CORES_H
#define NEREID_RUNTIME_SUPPORT_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CORES_PATH = 4096, CORES_THREADS_MOST = 1024 };

/* Of a group of processes: cores' time as a number of cores, rounded up; 0: there is no limit. */
static inline int cores_read_quota(const char *folder) {
  char path[2 * CORES_PATH];
  long long quota = 0, period = 0;
  snprintf(path, sizeof path, "%s/cpu.max", folder); /* version 2: "max 100000" is no limit */
  FILE *f = fopen(path, "r");
  if (f) {
    if (fscanf(f, "%lld %lld", &quota, &period) != 2) quota = 0;
    fclose(f);
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
  }
  snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
  if (!(f = fopen(path, "r"))) return 0;
  if (fscanf(f, "%lld", &quota) != 1) quota = 0;
  fclose(f);
  snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
  if ((f = fopen(path, "r"))) {
    if (fscanf(f, "%lld", &period) != 1) period = 0;
    fclose(f);
  }
  return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

/* The least quota of a group and of those around it, as far as they can be seen from here. */
static inline int cores_quota_within(const char *mount, const char *group, int least) {
  char folder[2 * CORES_PATH];
  snprintf(folder, sizeof folder, "%s%s", mount, group);
  for (;;) {
    const int quota = cores_read_quota(folder);
    if (quota && (!least || quota < least)) least = quota;
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= strlen(mount) || !slash) return least;
    *slash = 0;
  }
}

/* Does the list "cpu,cpuacct" name the controller cpu? */
static inline bool cores_is_cpu(const char *list) {
  for (const char *p = list; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
    if (strcspn(p, ",") == 3 && !strncmp(p, "cpu", 3)) return true;
  return false;
}

/* By a list as in /proc/self/cgroup, of groups below `mount`; 0: no limit. */
static inline int cores_quota(const char *list, const char *mount) {
  char line[CORES_PATH], v1[CORES_PATH + 8];
  int least = 0;
  FILE *f = fopen(list, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    char *names = strchr(line, ':'), *group = names ? strchr(++names, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    snprintf(v1, sizeof v1, "%s/cpu", mount);
    if (!*names) least = cores_quota_within(mount, group, least);
    else if (cores_is_cpu(names)) least = cores_quota_within(v1, group, least);
  }
  if (f) fclose(f);
  return least;
}

/* Those that the process may run on, no more than its groups' quotas give it time for. */
static inline int cores_usable(void) {
  cpu_set_t set;
  int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) n = CPU_COUNT(&set);
  const int quota = cores_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  if (quota && quota < n) n = quota;
  return n > 0 ? n : 1;
}

/* NEREID_THREADS, else the first number of OMP_NUM_THREADS, else `usual`.  Returns 0 where
 * NEREID_THREADS is no number of threads. */
static inline int cores_threads(int usual) {
  const char *own = getenv("NEREID_THREADS"), *openmp = getenv("OMP_NUM_THREADS");
  char *end;
  if (own && *own) {
    const long n = strtol(own, &end, 10);
    return *end || n < 1 || n > CORES_THREADS_MOST ? 0 : (int)n;
  }
  const long n = openmp ? strtol(openmp, &end, 10) : 0;
  return n < 1 ? usual : n > CORES_THREADS_MOST ? CORES_THREADS_MOST : (int)n;
}

#endif
