#include "runtime/launch/pools.h"

#include <stdlib.h>

#include "runtime/support/error.h"

struct DevicePool {
  DevicePool *next;
  char *data;
  int64_t size;
};

static void free_pools(nereid_device *d, DevicePool *p) {
  for (DevicePool *next; p; p = next) {
    next = p->next;
    nereid_free(d, p->data);
    free(p);
  }
}

void pools_join(nereid_device *d) {
  pthread_mutex_lock(&d->lock);
  d->pool_users++;
  pthread_mutex_unlock(&d->lock);
}

void pools_leave(nereid_device *d) {
  pthread_mutex_lock(&d->lock);
  DevicePool *all = --d->pool_users ? NULL : d->pools;
  if (all) d->pools = NULL;
  pthread_mutex_unlock(&d->lock);
  free_pools(d, all);
}

/* The smallest one with room, else the largest, out of the list; NULL: there is none. */
static DevicePool *find_pool(nereid_device *d, int64_t size) {
  DevicePool **best = NULL;
  pthread_mutex_lock(&d->lock);
  for (DevicePool **p = &d->pools; *p; p = &(*p)->next) {
    bool has = best && (*best)->size >= size, fits = (*p)->size >= size;
    bool smaller = best && (*p)->size < (*best)->size;
    if (!best || (has ? fits && smaller : !smaller)) best = p;
  }
  DevicePool *found = best ? *best : NULL;
  if (found) *best = found->next;
  pthread_mutex_unlock(&d->lock);
  return found;
}

int pools_take(nereid_device *d, int64_t size, char **out, int64_t *has) {
  DevicePool *p = find_pool(d, size);
  *out = NULL;
  if (p && p->size >= size) {
    *out = p->data;
    *has = p->size;
  } else if (p) {
    nereid_free(d, p->data);
  }
  free(p);
  if (*out) return 0;
  *has = size ? size : 1;
  return nereid_alloc((void **)out, d, (size_t)*has);
}

void pools_give_back(nereid_device *d, char *data, int64_t has) {
  DevicePool *p = data ? malloc(sizeof *p) : NULL;
  if (!p) {
    nereid_free(d, data);
    return;
  }
  pthread_mutex_lock(&d->lock);
  *p = (DevicePool){d->pools, data, has};
  d->pools = p;
  pthread_mutex_unlock(&d->lock);
}
