#include "model/execute/recordings.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/support/array.h"

void recordings_new(Recordings *r, nereid_device *d, ReplayUse use, uint32_t nsizes,
                    ReplayItem *items) {
  *r = (Recordings){.device = d, .use = use, .nsizes = nsizes, .items = items};
}

static void recording_free(Recording *one) {
  replay_free(one->replay);
  free(one->sizes);
  *one = (Recording){0};
}

void recordings_free(Recordings *r) {
  for (int i = 0; i < RECORDINGS_MAX; i++) recording_free(&r->list[i]);
}

/* ---- of which sizes ---- */

static size_t size_bytes(const Recordings *r) { return r->nsizes * sizeof(int64_t); }

static bool is_for(const Recordings *r, const Recording *one, const int64_t *sizes) {
  return one->sizes && (!r->nsizes || !memcmp(one->sizes, sizes, size_bytes(r)));
}

static int recording_new(const Recordings *r, Recording *one, const int64_t *sizes) {
  recording_free(one);
  one->sizes = malloc(size_bytes(r) + 1);
  if (!one->sizes) return error_out_of_memory();
  if (r->nsizes) memcpy(one->sizes, sizes, size_bytes(r));
  return 0;
}

/* The recording of these sizes, or a new one in place of the one that makes way. */
static int find_recording(Recordings *r, const int64_t *sizes, Recording **out) {
  Recording *oldest = *out = &r->list[0];
  for (int i = 0; i < RECORDINGS_MAX; i++, ++*out) {
    if (is_for(r, *out, sizes)) return 0;
    if ((*out)->used < oldest->used) oldest = *out;
  }
  *out = oldest;
  if (r->last == oldest) r->last = NULL;
  return recording_new(r, oldest, sizes);
}

/* ---- when ---- */

/* A recording of 100 to 400 launches takes the host of an H100 one to three milliseconds to make: a
 * run that comes a third time is likely to come more often.  A single launch leaves nothing to
 * save. */
enum { RUNS_BEFORE = 2, LEAST_ITEMS = 2 };

/* Where memory moves with each run, to change most nodes would cost more than the launches: the
 * recording stays as it is until memory does, which is tried after more runs each time. */
enum { FIRST_PATIENCE = 4, MOST_PATIENCE = 1 << 12 };

static int is_cheap(const Recordings *r, const Recording *one, bool *cheap) {
  int effort;
  *cheap = true;
  if (!one->replay || !replay_fits(one->replay, r->items, r->nitems)) return 0;
  int code = replay_effort(one->replay, r->items, r->nitems, &effort);
  *cheap = effort <= r->nitems;
  return code;
}

/* Is the run one that is replayed?  `current`: its recording is as the items are. */
static int choose_repeated(const Recordings *r, Recording *one, bool current, bool *replays) {
  bool cheap = true;
  *replays = !r->refused && r->nitems >= LEAST_ITEMS && one->runs > RUNS_BEFORE;
  int code = *replays && !current ? is_cheap(r, one, &cheap) : 0;
  if (!*replays || code) return code;
  if (cheap) {
    one->patience = FIRST_PATIENCE;
    one->waited = 0;
  } else if (one->waited++ < one->patience) {
    *replays = false;
  } else {
    if (one->patience < MOST_PATIENCE) one->patience *= 2;
    one->waited = 0;
  }
  return 0;
}

/* ---- running ---- */

static int record(Recordings *r, Recording *one) {
  replay_free(one->replay);
  one->replay = NULL;
  return replay_new(&one->replay, r->device, r->items, r->nitems);
}

static int bring_up_to_date(Recordings *r, Recording *one) {
  bool fits = one->replay && replay_fits(one->replay, r->items, r->nitems);
  return fits ? replay_set(one->replay, r->items, r->nitems) : record(r, one);
}

int recordings_run(Recordings *r, const int64_t *sizes, bool moved, nereid_stream *s,
                   bool *started) {
  Recording *one;
  int code = find_recording(r, sizes, &one);
  *started = r->use == REPLAY_ALWAYS;
  if (code) return code;
  bool current = one == r->last && !moved;
  one->used = ++r->clock;
  one->runs++;
  r->last = NULL;
  if (!*started) code = choose_repeated(r, one, current, started);
  if (code || !*started) return code;
  if (!current) code = bring_up_to_date(r, one);
  if (code && r->use == REPLAY_REPEATED) {
    r->refused = true;
    *started = false;
    return 0;
  }
  if (code) return code;
  r->last = one;
  return replay_run(one->replay, s);
}
