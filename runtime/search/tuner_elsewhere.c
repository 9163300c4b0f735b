/* Records of devices that need not be here. */
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/search/tuner.h"

/* Where something was measured. */
typedef struct {
  const char *device, *driver;
} Site;

typedef VEC(Site) Sites;

/* ---- which sites there are ---- */

static bool is_asked(const Search *s, const RecordProblem *r) {
  for (size_t i = 0; i < s->nproblems; i++) {
    const SearchProblem *p = &s->problems[i];
    if (!strcmp(p->kernel, r->kernel) && !strcmp(p->sizes, r->sizes) &&
        !strcmp(p->signature, r->signature))
      return true;
  }
  return false;
}

static void add_site(const Search *s, Sites *sites, const RecordProblem *r) {
  for (size_t i = 0; i < sites->len; i++) {
    const Site *p = &sites->data[i];
    if (!strcmp(p->device, r->device) && !strcmp(p->driver, r->driver)) return;
  }
  vec_push(s->arena, sites, ((Site){r->device, r->driver}));
}

/* Records are sorted, and so are sites. */
static void find_sites(const Search *s, Sites *out) {
  RecordList all = {0};
  Records *records = records_open(s->note, s->context);
  records_get(records, s->arena, NULL, &all);
  records_close(records);
  for (size_t i = 0; i < all.len; i++) {
    const RecordProblem *r = all.data[i].problem;
    if (i && r == all.data[i - 1].problem) continue;
    if (is_asked(s, r)) add_site(s, out, r);
  }
}

/* ---- what is known there ---- */

/* Code names its target, and so does the IR: records of other GPUs do not answer. */
static size_t recall(Search *s, const Site *p) {
  Memory memory;
  size_t n = 0;
  snprintf(s->device->description, sizeof s->device->description, "%s", p->device);
  s->driver = p->driver;
  tuner_recall(s, &memory);
  tuner_forget(&memory);
  for (size_t i = 0; i < memory.entries.len; i++) n += memory.entries.data[i].candidate->recorded;
  return n;
}

static void take_back(const Search *s) {
  for (size_t i = 0; i < s->nproblems; i++)
    for (size_t j = 0; j < s->problems[i].n; j++) {
      Candidate *c = &s->problems[i].candidates[j];
      if (!c->recorded) continue;
      c->known = c->recorded = false;
      c->status = NEREID_TUNE_OK;
      c->median_us = c->spread_us = c->runs = 0;
    }
}

void tuner_recall_elsewhere(Search *s) {
  Sites sites = {0};
  size_t most = 0, best = 0;
  find_sites(s, &sites);
  for (size_t i = 0; i < sites.len; i++) {
    size_t n = recall(s, &sites.data[i]);
    if (n > most) {
      most = n;
      best = i;
    }
    take_back(s);
  }
  if (most) recall(s, &sites.data[best]);
}
