/* Copies into the device's memory through pinned memory of the host.
 *
 * From other memory the driver copies by one thread of its own, at a fraction of the bus's rate:
 * weights mapped from a file came at 6 GB/s.  Here several threads fill pinned slots, each while
 * the one before it is on its way. */
#include <pthread.h>
#include <string.h>

#include "runtime/device/cuda_state.h"
#include "runtime/support/parallel.h"

enum {
  SLOT_BYTES = 1 << 20,
  THREADS = 4,
  SLOTS = 2,              /* of a thread */
  WORTH_BYTES = 16 << 20, /* below, making pinned memory takes longer than it saves */
};

typedef struct {
  nereid_device *device;
  const Upload *uploads;
  int n;
  pthread_mutex_t lock; /* of the fields below */
  int next;             /* the upload that is being handed out, and its bytes that are */
  size_t taken;
  CuResult result; /* the first failure; nothing is handed out after one */
  char *pinned;    /* THREADS x SLOTS x SLOT_BYTES */
} Copying;

/* A piece of one upload, and its offset in a slot. */
typedef struct {
  Upload part;
  size_t at;
} Piece;

static bool take_piece(Copying *c, size_t room, Upload *part) {
  while (c->next < c->n && c->taken == c->uploads[c->next].size) c->next++, c->taken = 0;
  if (c->next == c->n || room == 0) return false;
  const Upload *u = &c->uploads[c->next];
  size_t left = u->size - c->taken, size = left < room ? left : room;
  *part = (Upload){(char *)u->to + c->taken, (const char *)u->from + c->taken, size};
  c->taken += size;
  return true;
}

enum { PIECES_MAX = 64 };

/* Takes as many pieces as fill a slot; 0: none are left. */
static int take_pieces(Copying *c, Piece pieces[PIECES_MAX]) {
  int n = 0;
  size_t at = 0;
  pthread_mutex_lock(&c->lock);
  while (c->result == CU_OK && n < PIECES_MAX && take_piece(c, SLOT_BYTES - at, &pieces[n].part)) {
    pieces[n].at = at;
    at += pieces[n++].part.size;
  }
  pthread_mutex_unlock(&c->lock);
  return n;
}

static void note_result(Copying *c, CuResult r) {
  if (r == CU_OK) return;
  pthread_mutex_lock(&c->lock);
  if (c->result == CU_OK) c->result = r;
  pthread_mutex_unlock(&c->lock);
}

static CuResult send(const CudaApi *api, const Piece *pieces, int n, char *slot, CuEvent sent) {
  CuResult r = CU_OK;
  for (int i = 0; i < n && r == CU_OK; i++) {
    const Upload *part = &pieces[i].part;
    char *from = memcpy(slot + pieces[i].at, part->from, part->size);
    r = api->copy_in((uintptr_t)part->to, from, part->size, NULL);
  }
  return r == CU_OK ? api->event_record(sent, NULL) : r;
}

/* Runs one thread's turns, one after the other; it doesn't wait for an event that was not recorded
 * yet. */
static CuResult copy_in_turns(Copying *c, const CudaApi *api, char *slots, CuEvent sent[SLOTS]) {
  Piece pieces[PIECES_MAX];
  CuResult r = CU_OK;
  for (int turn = 0, n; r == CU_OK && (n = take_pieces(c, pieces)) > 0; turn = (turn + 1) % SLOTS) {
    r = api->event_sync(sent[turn]);
    if (r == CU_OK) r = send(api, pieces, n, slots + (size_t)turn * SLOT_BYTES, sent[turn]);
  }
  return r;
}

static void copy_by_thread(void *context, size_t thread) {
  Copying *c = context;
  CUDA_ENTER_OR(c->device, );
  CUDA_RELAX(c->device);
  CuEvent sent[SLOTS] = {NULL};
  CuResult r = CU_OK;
  for (int i = 0; i < SLOTS && r == CU_OK; i++) r = api->event_new(&sent[i], CU_EVENT_NO_TIMING);
  if (r == CU_OK) r = copy_in_turns(c, api, c->pinned + thread * SLOTS * SLOT_BYTES, sent);
  note_result(c, r);
  for (int i = 0; i < SLOTS; i++)
    if (sent[i]) api->event_free(sent[i]);
}

static CuResult copy_unpinned(const CudaApi *api, const Upload *uploads, int n) {
  CuResult r = CU_OK;
  for (int i = 0; i < n && r == CU_OK; i++)
    if (uploads[i].size)
      r = api->copy_in((uintptr_t)uploads[i].to, uploads[i].from, uploads[i].size, NULL);
  return r;
}

static CuResult copy_through(const CudaApi *api, Copying *c) {
  pthread_mutex_init(&c->lock, NULL);
  parallel_for(THREADS, copy_by_thread, c);
  pthread_mutex_destroy(&c->lock);
  CuResult r = c->result == CU_OK ? api->stream_sync(NULL) : c->result;
  api->pinned_free(c->pinned);
  return r;
}

int cuda_upload(nereid_device *d, const Upload *uploads, int n) {
  CUDA_ENTER(d);
  CUDA_RELAX(d);
  Copying c = {.device = d, .uploads = uploads, .n = n};
  size_t bytes = 0;
  void *pinned = NULL;
  for (int i = 0; i < n && bytes < WORTH_BYTES; i++) bytes += uploads[i].size;
  bool through = bytes >= WORTH_BYTES &&
                 api->pinned_alloc(&pinned, (size_t)THREADS * SLOTS * SLOT_BYTES, 0) == CU_OK;
  c.pinned = pinned;
  return cuda_failed(api, through ? copy_through(api, &c) : copy_unpinned(api, uploads, n),
                     "copying memory");
}
