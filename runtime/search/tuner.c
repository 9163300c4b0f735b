#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compile/code_key.h"
#include "runtime/compile/compilation.h"
#include "runtime/compile/estimate_request.h"
#include "runtime/device/device.h"
#include "runtime/search/tuner.h"
#include "runtime/store/tool_version.h"
#include "runtime/support/parallel.h"

/* Results of compiling candidates, kept in the cache: a graph has hundreds of them, and none is
 * compiled again where records answer. */

/* What is known of each candidate; zeros: unknown. */
typedef struct {
  CacheKey ir;
  Estimate predicted;
} Seen;

/* The device's peaks are part of the key. */
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

static CacheId candidates_id(const Search *s, const SearchProblem *p) {
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
  e->id = candidates_id(s, p);
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

/* The entry's new contents; NULL: unchanged. */
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

/* Records of earlier runs, and for later ones. */

/* ---- names ---- */

/* Sizes are classes of at most an eighth of their number: rounded up to three bits after the first.
 * The fastest configuration of one size is the fastest of its neighbours. */
static int64_t size_class(int64_t v) {
  uint64_t n = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, step = 1;
  while (n / step >= 16) step *= 2;
  uint64_t up = n > UINT64_MAX - step ? n : (n + step - 1) / step * step;
  return up > INT64_MAX ? v : v < 0 ? -(int64_t)up : (int64_t)up;
}

void tuner_print_size(Text *out, const char *name, int64_t v, bool exact) {
  text_printf(out, "%s%s=%" PRId64, out->len ? " " : "", name, exact ? v : size_class(v));
}

void tuner_print_shape(Text *out, const char *name, const int64_t *shape, int rank, bool exact) {
  text_printf(out, "%s%s=[", out->len ? " " : "", name);
  for (int i = 0; i < rank; i++)
    text_printf(out, "%s%" PRId64, i ? "," : "", exact ? shape[i] : size_class(shape[i]));
  text_puts(out, "]");
}

/* The versions of the tools that compile our code: the driver, and ptxas if it is used; or the C
 * compiler.  Paths differ from machine to machine, and say nothing of the code. */
const char *tuner_driver(Arena *a, const nereid_device *d) {
  char tool[TOOL_PATH], options[TOOL_PATH], version[TOOL_VERSION];
  Text text = text_new(a);
  if (device_kind(d) == NEREID_PTX) {
    text_printf(&text, "%d", d->info.driver_version);
    if (!tool_find_ptxas(tool)) return text.data;
    tool_version(version, tool, "", "release");
    text_printf(&text, ", %s", version);
  } else if (tool_find_cc(tool, options)) {
    tool_version(version, tool, options, NULL);
    text_printf(&text, "%s%s", version, options);
  }
  return text.data ? text.data : "";
}

static const char *driver_of(const Search *s) {
  return s->driver ? s->driver : tuner_driver(s->arena, s->device);
}

/* ---- the kernel as it is for a candidate ---- */

static bool has_key(const CacheKey *k) {
  static const CacheKey none;
  return memcmp(k, &none, sizeof none) != 0;
}

/* Candidates that can't be elaborated have no key. */
static void hash_one(void *context, size_t i) {
  const Memory *m = context;
  MemoryEntry *e = &m->entries.data[i];
  nereid_request r = e->candidate->request;
  if (has_key(&e->candidate->ir)) return;
  r.target = m->target;
  r.on_message = NULL;
  deterministic_failure_keep(&e->failure, request_ir_key(&e->candidate->ir, &r));
}

/* Candidates that can't be elaborated have failed, without any process that measures. */
static void hash_all(const Search *s, Memory *m) {
  parallel_for(m->entries.len, hash_one, m);
  for (size_t i = 0; i < m->entries.len; i++)
    deterministic_failure_apply(&m->entries.data[i].failure, s->arena,
                                m->entries.data[i].candidate);
}

/* ---- recalling ---- */

static bool entry_is_open(const MemoryEntry *e) {
  return !e->candidate->known && has_key(&e->candidate->ir);
}

static void take_record(Candidate *c, const Record *r) {
  c->known = c->recorded = true;
  c->status = r->status;
  c->reason = r->reason;
  c->median_us = r->median_us;
  c->spread_us = r->spread_us;
  c->runs = r->runs;
  c->expected_us = r->predicted_us;
}

static const Record *find_record(const Memory *m, const MemoryEntry *e, const CacheKey *code) {
  const Candidate *c = e->candidate;
  return records_find(&m->lists[e->problem], c->config, &c->ir, nereid_build_id(), code);
}

static void recall_by_ir(const Memory *m) {
  for (size_t i = 0; i < m->entries.len; i++) {
    MemoryEntry *e = &m->entries.data[i];
    const Record *r = entry_is_open(e) ? find_record(m, e, NULL) : NULL;
    if (r) take_record(e->candidate, r);
  }
}

static bool has_config(const RecordList *list, const char *config) {
  for (size_t i = 0; i < list->len; i++)
    if (has_key(&list->data[i].code) && !strcmp(list->data[i].config, config)) return true;
  return false;
}

/* Candidates that can't be compiled fail again where that is reported. */
static void find_by_code(void *context, size_t i) {
  const Memory *m = context;
  MemoryEntry *e = &m->entries.data[i];
  nereid_request r = e->candidate->request;
  nereid_image *image;
  if (!entry_is_open(e) || !has_config(&m->lists[e->problem], e->candidate->config)) return;
  r.target = m->target;
  r.on_message = NULL;
  if (nereid_compile(&image, &r, m->kind)) return;
  CacheKey code = code_key(image);
  e->by_code = find_record(m, e, &code);
  nereid_image_free(image);
}

/* Another version of the compiler, or of the kernel, may have made the same code.  Compiling to
 * PTX or C tells, in milliseconds, before anything is assembled or measured. */
static void recall_by_code(Memory *m) {
  parallel_for(m->entries.len, find_by_code, m);
  for (size_t i = 0; i < m->entries.len; i++) {
    MemoryEntry *e = &m->entries.data[i];
    if (e->by_code) take_record(e->candidate, e->by_code);
  }
}

static RecordProblem problem_of(const Search *s, const SearchProblem *p, const char *driver) {
  return (RecordProblem){p->kernel, p->signature, p->sizes, s->device->description, driver};
}

void tuner_recorded(const Search *s, const SearchProblem *p, RecordList *out) {
  RecordProblem problem = problem_of(s, p, driver_of(s));
  Records *records = records_open(s->note, s->context);
  records_get(records, s->arena, &problem, out);
  records_close(records);
}

static void open_memory(Search *s, Memory *m) {
  const char *driver = driver_of(s);
  *m = (Memory){.records = records_open(s->note, s->context),
                .target = device_target(s->device),
                .kind = device_kind(s->device),
                .problems = ARENA_ARRAY(s->arena, RecordProblem, s->nproblems),
                .lists = ARENA_ARRAY(s->arena, RecordList, s->nproblems)};
  for (size_t i = 0; i < s->nproblems; i++) {
    const SearchProblem *p = &s->problems[i];
    m->problems[i] = problem_of(s, p, driver);
    for (size_t j = 0; j < p->n; j++)
      if (!p->candidates[j].known)
        vec_push(s->arena, &m->entries, ((MemoryEntry){i, &p->candidates[j], NULL, {0}}));
  }
}

void tuner_recall(Search *s, Memory *m) {
  open_memory(s, m);
  if (records_are_off(m->records)) return;
  hash_all(s, m);
  if (s->remeasure) return;
  for (size_t i = 0; i < s->nproblems; i++)
    records_get(m->records, s->arena, &m->problems[i], &m->lists[i]);
  recall_by_ir(m);
  recall_by_code(m);
}

/* ---- remembering ---- */

static Record record_of(const Search *s, const Memory *m, const MemoryEntry *e) {
  const char *shape = s->problems[e->problem].shape;
  const Candidate *c = e->candidate;
  return (Record){.problem = &m->problems[e->problem],
                  .config = c->config,
                  .ir = c->ir,
                  .version = nereid_build_id(),
                  .code = c->code,
                  .status = c->status,
                  .reason = c->reason ? c->reason : "",
                  .median_us = c->median_us,
                  .spread_us = c->spread_us,
                  .runs = c->runs,
                  .shape = shape ? shape : "",
                  .predicted_us = timing_rounded(c->predicted.us),
                  .taken = time(NULL)};
}

/* A record that holds for this version as well: with it, the next run need not compile. */
static Record copy_for_version(const MemoryEntry *e) {
  Record r = *e->by_code;
  r.ir = e->candidate->ir;
  r.version = nereid_build_id();
  return r;
}

void tuner_remember(Search *s, Memory *m) {
  RecordList list = {0};
  for (size_t i = 0; i < m->entries.len; i++) {
    const MemoryEntry *e = &m->entries.data[i];
    const Candidate *c = e->candidate;
    bool found_out = !c->recorded && !c->passing && c->status != NEREID_TUNE_PRUNED;
    if (!has_key(&c->ir) || !(found_out || e->by_code)) continue;
    Record r = found_out ? record_of(s, m, e) : copy_for_version(e);
    vec_push(s->arena, &list, r);
  }
  if (!list.len) return;
  if (s->remeasure) records_replace(m->records, list.data, list.len);
  else records_put(m->records, list.data, list.len, NULL);
}

void tuner_forget(Memory *m) {
  records_close(m->records);
  m->records = NULL;
}

/* Records of devices that need not be here. */

/* A device and driver with measurements. */
typedef struct {
  const char *device, *driver;
} Site;

typedef VEC(Site) Sites;

/* ---- which sites there are ---- */

static bool problem_is_asked(const Search *s, const RecordProblem *r) {
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
    if (problem_is_asked(s, r)) add_site(s, out, r);
  }
}

/* ---- what is known there ---- */

/* Code names its target, and so does the IR: records of other GPUs do not answer. */
static size_t recall_problems(Search *s, const Site *p) {
  Memory memory;
  size_t n = 0;
  snprintf(s->device->description, sizeof s->device->description, "%s", p->device);
  s->driver = p->driver;
  tuner_recall(s, &memory);
  tuner_forget(&memory);
  for (size_t i = 0; i < memory.entries.len; i++) n += memory.entries.data[i].candidate->recorded;
  return n;
}

static void restore_unmeasured(const Search *s) {
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
    size_t n = recall_problems(s, &sites.data[i]);
    if (n > most) {
      most = n;
      best = i;
    }
    restore_unmeasured(s);
  }
  if (most) recall_problems(s, &sites.data[best]);
}

/* Predictions of the cost model. */

typedef struct {
  Candidate *candidate;
  DeterministicFailure failure;
} Predicted;

typedef struct {
  const char *target;
  const DevicePeaks *peaks;
  VEC(Predicted) list; /* of all problems */
} Prediction;

static void predict_one(void *context, size_t i) {
  const Prediction *p = context;
  Candidate *c = p->list.data[i].candidate;
  nereid_request r = c->request;
  r.target = p->target;
  r.on_message = NULL;
  EstimateLaunch launch = {.request = &r,
                           .peaks = p->peaks,
                           .grid = {c->grid[0], c->grid[1], c->grid[2]},
                           .ints = c->ints,
                           .nints = c->nints};
  int code = estimate_launch(&c->predicted, &launch);
  if (!code) return;
  c->predicted = (Estimate){0};
  deterministic_failure_keep(&p->list.data[i].failure, code);
}

static bool is_problem_open(const SearchProblem *p) {
  for (size_t i = 0; i < p->n; i++)
    if (!p->candidates[i].known) return true;
  return false;
}

static void add_candidates(const Search *s, const SearchProblem *p, Prediction *out) {
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[i];
    bool runs = c->status != NEREID_TUNE_COMPILE && c->status != NEREID_TUNE_RESOURCES;
    if (runs && c->predicted.us <= 0) vec_push(s->arena, &out->list, ((Predicted){c, {0}}));
  }
}

/* ---- the order ---- */

static void put_in_order(const Search *s, SearchProblem *p) {
  const Estimate **predicted = ARENA_ARRAY(s->arena, const Estimate *, p->n);
  size_t *order = ARENA_ARRAY(s->arena, size_t, p->n);
  for (size_t i = 0; i < p->n; i++) predicted[i] = &p->candidates[i].predicted;
  estimate_order(order, predicted, p->n);
  p->order = order;
}

void tuner_predict(Search *s, DevicePeaks *peaks, bool all) {
  Prediction p = {.target = device_target(s->device), .peaks = peaks};
  for (size_t i = 0; i < s->nproblems; i++)
    if (all || is_problem_open(&s->problems[i])) add_candidates(s, &s->problems[i], &p);
  if (p.list.len) peaks_of_device(peaks, s->device);
  parallel_for(p.list.len, predict_one, &p);
  for (size_t i = 0; i < p.list.len; i++)
    deterministic_failure_apply(&p.list.data[i].failure, s->arena, p.list.data[i].candidate);
  for (size_t i = 0; i < s->nproblems; i++) put_in_order(s, &s->problems[i]);
}

/* ---- choosing by it alone ---- */

/* The model has seen the kernel at level thread; code may yet be refused. */
static int compile_chosen(const Search *s, const Candidate *c) {
  nereid_request r = c->request;
  nereid_image *image;
  r.target = device_target(s->device);
  r.on_message = NULL;
  int code = nereid_compile(&image, &r, device_kind(s->device));
  nereid_image_free(image);
  return code;
}

static int choose_predicted(const Search *s, const SearchProblem *p) {
  for (size_t i = 0; i < p->n; i++) {
    Candidate *c = &p->candidates[p->order ? p->order[i] : i];
    if (c->status != NEREID_TUNE_OK) continue;
    DeterministicFailure failure = {0};
    int code = compile_chosen(s, c);
    deterministic_failure_keep(&failure, code);
    if (!failure.code) return code;
    deterministic_failure_apply(&failure, s->arena, c);
  }
  return 0;
}

int tuner_choose(Search *s) {
  int code = 0;
  for (size_t i = 0; i < s->nproblems && !code; i++) code = choose_predicted(s, &s->problems[i]);
  return code;
}

int tuner_run(Search *s) {
  Memory memory;
  Memo memo;
  DevicePeaks peaks;
  tuner_look_up(s, &memo);
  tuner_recall(s, &memory);
  tuner_predict(s, &peaks, false);
  tuner_keep(s, &memo);
  int code = search_run(s);
  tuner_remember(s, &memory);
  tuner_forget(&memory);
  return code;
}
