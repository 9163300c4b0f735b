/* Places of temporaries in the pool, where their sizes follow from the inputs. */
#include <stdlib.h>

#include "plan.h"

typedef struct {
  int64_t at, end;
  int last;
} Live;

static int by_first(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  const int p = model_plan.buffers[x].first, q = model_plan.buffers[y].first;
  return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

static int drop_dead(Live *live, int n, int step) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (live[i].last >= step) live[kept++] = live[i];
  return kept;
}

/* Where the smallest gap is that holds `size` bytes; *before: the live one behind it.  The pool's
 * end is a gap without end. */
static int64_t find_gap(const Live *live, int n, int64_t size, int *before) {
  int64_t best = -1, best_size = 0, at = 0;
  for (int i = 0; i < n; i++) {
    const int64_t gap = live[i].at - at;
    if (gap >= size && (best < 0 || gap < best_size)) {
      best = at;
      best_size = gap;
      *before = i;
    }
    at = live[i].end;
  }
  if (best >= 0) return best;
  *before = n;
  return at;
}

/* Live ones are kept in the order of their places. */
static void insert(Live *live, int n, int before, Live one) {
  for (int i = n; i > before; i--) live[i] = live[i - 1];
  live[before] = one;
}

static int64_t place_all(const int *order, int count, const int64_t *bytes, int64_t *offset,
                         Live *live) {
  int64_t end = 0;
  int n = 0;
  for (int i = 0; i < count; i++) {
    const Buffer *b = &model_plan.buffers[order[i]];
    const int64_t size = (bytes[order[i]] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    int before;
    offset[order[i]] = 0;
    if (size == 0) continue;
    n = drop_dead(live, n, b->first);
    const int64_t at = find_gap(live, n, size, &before);
    insert(live, n++, before, (Live){at, at + size, b->last});
    offset[order[i]] = at;
    end = max(end, at + size);
    if (end > BYTES_MAX) return -1;
  }
  return end;
}

int64_t model_place(const int64_t *bytes, int64_t *offset) {
  const size_t room = (size_t)model_plan.nbuffers + 1;
  int *order = malloc(room * sizeof *order), count = 0;
  Live *live = malloc(room * sizeof *live);
  int64_t end = -1;
  if (order && live) {
    for (int i = 0; i < model_plan.nbuffers; i++)
      if (model_plan.buffers[i].kind == TEMPORARY) order[count++] = i;
    qsort(order, (size_t)count, sizeof *order, by_first);
    end = place_all(order, count, bytes, offset, live);
  }
  free(order);
  free(live);
  return end;
}
