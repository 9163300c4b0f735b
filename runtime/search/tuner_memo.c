/* What compiling candidates has told, kept in the cache: a graph has hundreds of them, and none is
 * compiled where records answer. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/request_key.h"
#include "runtime/device/device.h"
#include "runtime/search/tuner.h"

/* Of each candidate; zeros: unknown. */
typedef struct {
  CacheKey ir;
  Estimate predicted;
} Seen;

/* What the model knows of a device is part of it. */
static void add_device(KeyMaker *k, const nereid_device *d) {
  const nereid_device_info *i = &d->info;
  const int64_t numbers[] = {i->processors, i->clock_khz, i->l2_bytes};
  cache_key_text(k, d->description);
  cache_key_text(k, device_target(d) ? device_target(d) : "");
  cache_key_add(k, numbers, sizeof numbers);
}

static void add_candidate(KeyMaker *k, const Candidate *c) {
  cache_key_add(k, c->request.source.text, c->request.source.size);
  request_key_add(k, &c->request);
  cache_key_add(k, c->grid, sizeof c->grid);
  for (int i = 0; i < c->nints; i++) {
    cache_key_text(k, c->ints[i].name);
    cache_key_add(k, &c->ints[i].value, sizeof c->ints[i].value);
  }
}

static CacheId id_of(const Search *s, const SearchProblem *p) {
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "candidates");
  cache_key_text(k, nereid_build_id());
  add_device(k, s->device);
  for (size_t i = 0; i < p->n; i++) add_candidate(k, &p->candidates[i]);
  return (CacheId){cache_key_end(k), CACHE_TUNING, p->candidates[0].request.kernel,
                   device_target(s->device)};
}

/* ---- looking up ---- */

static void look_up(const Search *s, Memo *m, size_t i) {
  const SearchProblem *p = &s->problems[i];
  MemoEntry *e = &m->entries[i];
  char *data = NULL;
  size_t size = 0;
  e->id = id_of(s, p);
  if (!cache_get(m->cache, &e->id, &data, &size)) return;
  e->found = size == p->n * sizeof(Seen) ? arena_array(s->arena, p->n, sizeof(Seen)) : NULL;
  if (e->found) memcpy(e->found, data, size);
  free(data);
  for (size_t j = 0; j < p->n && e->found; j++) {
    const Seen *seen = (const Seen *)e->found + j;
    p->candidates[j].ir = seen->ir;
    p->candidates[j].predicted = seen->predicted;
  }
}

void tuner_look_up(const Search *s, Memo *m) {
  *m = (Memo){.cache = cache_open(s->note, s->context),
              .entries = ARENA_ARRAY(s->arena, MemoEntry, s->nproblems)};
  for (size_t i = 0; i < s->nproblems; i++)
    if (s->problems[i].whole) look_up(s, m, i);
}

/* ---- keeping ---- */

/* What is known now; NULL: the same as before. */
static const Seen *seen_of(const Search *s, const SearchProblem *p, const MemoEntry *e) {
  Seen *all = ARENA_ARRAY(s->arena, Seen, p->n);
  for (size_t i = 0; i < p->n; i++) {
    all[i].ir = p->candidates[i].ir;
    all[i].predicted = p->candidates[i].predicted;
  }
  return e->found && !memcmp(e->found, all, p->n * sizeof *all) ? NULL : all;
}

void tuner_keep(const Search *s, Memo *m) {
  CacheEntry *entries = ARENA_ARRAY(s->arena, CacheEntry, s->nproblems);
  size_t n = 0;
  for (size_t i = 0; i < s->nproblems; i++) {
    const SearchProblem *p = &s->problems[i];
    const Seen *seen = p->whole ? seen_of(s, p, &m->entries[i]) : NULL;
    if (seen) entries[n++] = (CacheEntry){m->entries[i].id, seen, p->n * sizeof *seen};
  }
  if (n) cache_put_all(m->cache, entries, n);
  cache_close(m->cache);
  m->cache = NULL;
}
