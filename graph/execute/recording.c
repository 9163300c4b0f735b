#include "graph/execute/recording.h"

#include <stdlib.h>
#include <string.h>

void recordings_new(Recordings *r, nereid_device *d, uint32_t nsizes, ReplayItem *items) {
  *r = (Recordings){.device = d, .nsizes = nsizes, .items = items};
}

static void forget(Recording *one) {
  replay_free(one->replay);
  free(one->sizes);
  *one = (Recording){0};
}

void recordings_free(Recordings *r) {
  for (int i = 0; i < RECORDINGS_MAX; i++) forget(&r->list[i]);
}

int recordings_count(const Recordings *r) {
  int n = 0;
  for (int i = 0; i < RECORDINGS_MAX; i++) n += r->list[i].sizes != NULL;
  return n;
}

static size_t size_bytes(const Recordings *r) { return r->nsizes * sizeof(int64_t); }

static bool is_for(const Recordings *r, const Recording *one, const int64_t *sizes) {
  return one->sizes && (!r->nsizes || !memcmp(one->sizes, sizes, size_bytes(r)));
}

/* The recording for these sizes, or the one that makes way. */
static Recording *find_recording(Recordings *r, const int64_t *sizes) {
  Recording *oldest = &r->list[0];
  for (int i = 0; i < RECORDINGS_MAX; i++) {
    if (is_for(r, &r->list[i], sizes)) return &r->list[i];
    if (r->list[i].used < oldest->used) oldest = &r->list[i];
  }
  return oldest;
}

static int record(Recordings *r, Recording *one, const int64_t *sizes) {
  forget(one);
  one->sizes = malloc(size_bytes(r) + 1);
  if (!one->sizes) return error_out_of_memory();
  if (r->nsizes) memcpy(one->sizes, sizes, size_bytes(r));
  int code = replay_new(&one->replay, r->device, r->items, r->nitems);
  if (code) forget(one);
  return code;
}

int recordings_run(Recordings *r, const int64_t *sizes, bool moved, nereid_stream *s) {
  Recording *one = find_recording(r, sizes);
  int code = 0;
  if (!is_for(r, one, sizes)) {
    code = record(r, one, sizes);
  } else if (moved || one != r->last) {
    bool fits = replay_fits(one->replay, r->items, r->nitems);
    code = fits ? replay_set(one->replay, r->items, r->nitems) : record(r, one, sizes);
  }
  r->last = code ? NULL : one;
  if (code) return code;
  one->used = ++r->clock;
  return replay_run(one->replay, s);
}
