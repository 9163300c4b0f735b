/* What a tuner knows from earlier runs, and keeps for later ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compile/code_key.h"
#include "runtime/compile/compilation.h"
#include "runtime/search/tuner.h"
#include "runtime/store/tool_version.h"
#include "runtime/support/parallel.h"

/* ---- names ---- */

/* Sizes are classes of at most an eighth of their number: rounded up to three bits behind the
 * first.  What is fastest of one is fastest of its neighbours. */
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

/* What makes code of ours run: the driver, and ptxas where that is used; or the C compiler.  Paths
 * differ from machine to machine, and say nothing of the code. */
static const char *driver_of(const Search *s) {
  if (s->driver) return s->driver;
  char tool[TOOL_PATH], options[TOOL_PATH], version[TOOL_VERSION];
  Text text = text_new(s->arena);
  if (device_kind(s->device) == NEREID_PTX) {
    text_printf(&text, "%d", s->device->info.driver_version);
    if (!tool_find_ptxas(tool)) return text.data;
    tool_version(version, tool, "", "release");
    text_printf(&text, ", %s", version);
  } else if (tool_find_cc(tool, options)) {
    tool_version(version, tool, options, NULL);
    text_printf(&text, "%s%s", version, options);
  }
  return text.data ? text.data : "";
}

/* ---- the kernel as it is for a candidate ---- */

typedef struct {
  Compilation compilation;
  CacheKey *key;
} Hash;

static int hash_body(void *arg) {
  Hash *h = arg;
  const Compilation *c = &h->compilation;
  Text text = text_new(c->arena);
  /* Without places in the file, which comments move. */
  tile_print(&text, c->unit->tile, diags_new(c->arena));
  KeyMaker *k = cache_key_start();
  cache_key_add(k, text.data, text.len);
  *h->key = cache_key_end(k);
  return 0;
}

static bool has_key(const CacheKey *k) {
  static const CacheKey none;
  return memcmp(k, &none, sizeof none) != 0;
}

/* What can't be elaborated has no key. */
static void hash_one(void *context, size_t i) {
  const Memory *m = context;
  MemoryEntry *e = &m->entries.data[i];
  Hash h = {.key = &e->candidate->ir};
  nereid_request r = e->candidate->request;
  if (has_key(&e->candidate->ir)) return;
  r.target = m->target;
  r.symbol = "kernel"; /* its own name is the problem's */
  int code = compile_open(&h.compilation, &r.source, false);
  if (!code) code = compile_specialize(&h.compilation, &r);
  if (!code && h.compilation.unit->tile) compile_guard(&h.compilation, COMPILE_CODE, hash_body, &h);
  code = compile_report(&h.compilation, code, NULL, NULL);
  refusal_keep(&e->refusal, code);
  compile_close(&h.compilation);
}

/* Those that can't be elaborated have failed, without any process that measures. */
static void hash_all(const Search *s, Memory *m) {
  parallel_for(m->entries.len, hash_one, m);
  for (size_t i = 0; i < m->entries.len; i++)
    refusal_apply(&m->entries.data[i].refusal, s->arena, m->entries.data[i].candidate);
}

/* ---- recalling ---- */

static bool is_asked(const MemoryEntry *e) {
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
    const Record *r = is_asked(e) ? find_record(m, e, NULL) : NULL;
    if (r) take_record(e->candidate, r);
  }
}

static bool has_config(const RecordList *list, const char *config) {
  for (size_t i = 0; i < list->len; i++)
    if (has_key(&list->data[i].code) && !strcmp(list->data[i].config, config)) return true;
  return false;
}

/* What can't be compiled is found out again where it is reported. */
static void find_by_code(void *context, size_t i) {
  const Memory *m = context;
  MemoryEntry *e = &m->entries.data[i];
  nereid_request r = e->candidate->request;
  nereid_image *image;
  if (!is_asked(e) || !has_config(&m->lists[e->problem], e->candidate->config)) return;
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

/* What holds for this version as well, so that the next run need not compile. */
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
