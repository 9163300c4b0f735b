#include "runtime/device/replay.h"

#include <stdlib.h>
#include <string.h>

/* An item as its node has it. */
typedef struct {
  const nereid_kernel *kernel; /* NULL: a call or a copy */
  const ReplayCall *call;      /* NULL: a copy */
  uint64_t version;            /* of the call */
  const void *to, *from;
  size_t size;
  const Loaded *chosen;
  uint32_t grid[3];
  uint64_t *slots;
} Noted;

struct Replay {
  nereid_device *device;
  void *handle; /* the device's own */
  Noted *noted;
  int n;
};

bool replay_is_supported(const nereid_device *d) {
  return d->ops->replay_supported && d->ops->replay_supported(d);
}

/* ---- what nodes have ---- */

static size_t slot_bytes(const Start *s) {
  return (size_t)s->chosen->variant->nslots * sizeof *s->slots;
}

static bool is_noted(const Noted *n, const ReplayItem *item) {
  const Start *s = item->launch ? &item->launch->start : NULL;
  if (item->call) return n->version == item->call->version;
  if (!s) return n->to == item->to && n->from == item->from;
  return n->chosen == s->chosen && !memcmp(n->grid, s->launched, sizeof n->grid) &&
         !memcmp(n->slots, s->slots, slot_bytes(s));
}

static int note_item(Noted *n, const ReplayItem *item) {
  const Start *s = item->launch ? &item->launch->start : NULL;
  n->kernel = s ? s->kernel : NULL;
  n->call = item->call;
  n->version = item->call ? item->call->version : 0;
  n->to = item->to;
  n->from = item->from;
  n->size = item->size;
  if (!s) return 0;
  uint64_t *slots = realloc(n->slots, slot_bytes(s) + sizeof *slots);
  if (!slots) return error_out_of_memory();
  n->slots = slots;
  n->chosen = s->chosen;
  memcpy(n->grid, s->launched, sizeof n->grid);
  memcpy(slots, s->slots, slot_bytes(s));
  return 0;
}

/* ---- making ---- */

static int make_ready(const ReplayItem *items, int n) {
  int code = 0;
  for (int i = 0; i < n && !code; i++)
    if (items[i].launch) code = launch_ready(items[i].launch);
  return code;
}

static int note_items(Replay *r, const ReplayItem *items) {
  int code = make_ready(items, r->n);
  for (int i = 0; i < r->n && !code; i++) code = note_item(&r->noted[i], &items[i]);
  return code ? code : r->device->ops->replay_new(r->device, &r->handle, items, r->n);
}

int replay_new(Replay **out, nereid_device *d, const ReplayItem *items, int n) {
  *out = NULL;
  Replay *r = calloc(1, sizeof *r);
  if (!r) return error_out_of_memory();
  *r = (Replay){.device = d, .n = n, .noted = calloc((size_t)n + 1, sizeof *r->noted)};
  int code = r->noted ? note_items(r, items) : error_out_of_memory();
  if (code) replay_free(r);
  else *out = r;
  return code;
}

void replay_free(Replay *r) {
  if (!r) return;
  if (r->handle) r->device->ops->replay_free(r->device, r->handle);
  for (int i = 0; r->noted && i < r->n; i++) free(r->noted[i].slots);
  free(r->noted);
  free(r);
}

/* ---- running ---- */

static bool fits_node(const Noted *n, const ReplayItem *item) {
  if (item->call) return n->call == item->call;
  if (!item->launch) return !n->kernel && !n->call && n->size == item->size;
  return n->kernel == item->launch->start.kernel;
}

bool replay_fits(const Replay *r, const ReplayItem *items, int n) {
  if (n != r->n) return false;
  for (int i = 0; i < n; i++)
    if (!fits_node(&r->noted[i], &items[i])) return false;
  return true;
}

int replay_set(Replay *r, const ReplayItem *items, int n) {
  int code = make_ready(items, n);
  for (int i = 0; i < n && !code; i++) {
    if (is_noted(&r->noted[i], &items[i])) continue;
    code = r->device->ops->replay_set(r->device, r->handle, i, &items[i]);
    if (!code) code = note_item(&r->noted[i], &items[i]);
  }
  return code;
}

/* A kernel's node is changed in a fraction of a launch; a call is captured again, which takes 20 to
 * 50 us on the host of an H100, where a launch takes 2 to 4. */
int replay_effort(const Replay *r, const ReplayItem *items, int n, int *out) {
  enum { LAUNCH = 1, CALL = 10 };
  int code = make_ready(items, n);
  *out = 0;
  for (int i = 0; i < n && !code; i++)
    if (!is_noted(&r->noted[i], &items[i])) *out += items[i].call ? CALL : LAUNCH;
  return code;
}

int replay_run(Replay *r, nereid_stream *s) {
  return r->device->ops->replay_run(r->device, r->handle, device_stream(s));
}
