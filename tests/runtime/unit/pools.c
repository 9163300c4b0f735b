/* Memory that runs have in turn: who gives back is followed, nobody shares, and the last user takes
 * all of it along. */
#include "runtime/launch/pools.h"

#include <string.h>

#include "tests/support/tally.h"

enum { THREADS = 4, TURNS = 200 };

static char *take(nereid_device *d, int64_t size, int64_t *has) {
  char *p = NULL;
  check(!pools_take(d, size, &p, has) && p && *has >= size, "memory");
  return p;
}

static void in_turn(nereid_device *d) {
  int64_t a_has, b_has, has;
  char *a = take(d, 1000, &a_has), *b = take(d, 200, &b_has);
  check(a != b && a_has == 1000 && b_has == 200, "two at once");
  pools_give_back(d, a, a_has);
  pools_give_back(d, b, b_has);
  char *again = take(d, 150, &has);
  check(again == b && has == 200, "the smallest that has room");
  pools_give_back(d, again, has);
  again = take(d, 600, &has);
  check(again == a && has == 1000, "the only one that has room");
  pools_give_back(d, again, has);
  char *large = take(d, 5000, &has);
  check(has == 5000, "none has room");
  again = take(d, 1, &b_has);
  check(again == b, "the largest gave way to a larger one");
  pools_give_back(d, again, b_has);
  pools_give_back(d, large, has);
  pools_give_back(d, NULL, 0);
}

static void *use(void *device) {
  static int wrong;
  for (int i = 0; i < TURNS; i++) {
    int64_t has, size = 64 + i % 7 * 100;
    char *p = NULL;
    if (pools_take(device, size, &p, &has)) return &wrong;
    memset(p, i % 100, (size_t)size);
    for (int64_t j = 0; j < size; j++)
      if (p[j] != i % 100) return &wrong;
    pools_give_back(device, p, has);
  }
  return NULL;
}

static void threads(nereid_device *d) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, use, d);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(t[i], &wrong);
    check(!wrong, "memory of two threads");
  }
}

int main(void) {
  nereid_device *d;
  check(!nereid_device_open(&d, "cpu"), "a device");
  pools_join(d);
  pools_join(d);
  in_turn(d);
  threads(d);
  pools_leave(d);
  check(d->pools && d->allocations, "memory that is kept while one is left");
  pools_leave(d);
  check(!d->pools && !d->allocations, "all is returned");
  nereid_device_close(d);
  return report();
}
