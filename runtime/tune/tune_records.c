/* The C API of records for callers that measure themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compile/code_key.h"
#include "runtime/compile/compilation.h"
#include "runtime/device/device.h"
#include "runtime/messages.h"
#include "runtime/search/tuner.h"

_Static_assert(sizeof(nereid_key) == sizeof(CacheKey), "a key of the API is one of ours");

static CacheKey key_of(const nereid_key *key) {
  CacheKey out;
  memcpy(out.bytes, key->bytes, sizeof out.bytes);
  return out;
}

int nereid_request_key(nereid_key *out, const nereid_device *d, const nereid_request *r) {
  REQUIRE_OUT(out);
  REQUIRE(d);
  REQUIRE(r);
  nereid_request request = *r;
  if (!r->target) request.target = device_target(d);
  int code = compile_check(r);
  CacheKey key = {{0}};
  if (!code) code = request_ir_key(&key, &request);
  memcpy(out->bytes, key.bytes, sizeof key.bytes);
  return code;
}

/* ---- measurements as records ---- */

typedef struct {
  Arena *arena;
  const nereid_device *device;
  const char *driver;
  nereid_measurement *found;      /* of find */
  const nereid_measurement *list; /* of store */
  size_t n;
  bool replace;
  Records *records;
  RecordList put; /* records to store */
  char *note;     /* the last one, kept; NULL: none */
} Work;

static void keep_note(void *context, const char *text) {
  Work *w = context;
  free(w->note);
  w->note = error_keep_told(text);
}

static const char *text_or_empty(const char *text) { return text ? text : ""; }

static RecordProblem problem_of(const Work *w, const nereid_measurement *m) {
  return (RecordProblem){text_or_empty(m->kernel), text_or_empty(m->signature),
                         text_or_empty(m->problem), w->device->description, w->driver};
}

/* Reuses the problem of the previous measurement if the two are equal. */
static const RecordProblem *next_problem(const Work *w, const RecordProblem *before,
                                         const nereid_measurement *m) {
  RecordProblem here = problem_of(w, m);
  if (before && !record_compare_problems(before, &here)) return before;
  RecordProblem *p = ARENA_NEW(w->arena, RecordProblem);
  *p = here;
  return p;
}

/* ---- looking up ---- */

/* A record that was found by its code is valid for this key and version as well. */
static void keep_for_key(Work *w, const Record *found, const CacheKey *key) {
  static const CacheKey none;
  bool same = !memcmp(&found->ir, key, sizeof *key) && !strcmp(found->version, nereid_build_id());
  if (same || !memcmp(key, &none, sizeof none)) return;
  Record r = *found;
  r.ir = *key;
  r.version = nereid_build_id();
  vec_push(w->arena, &w->put, r);
}

static void find_one(Work *w, nereid_measurement *m, const RecordList *known) {
  CacheKey key = key_of(&m->key), code;
  if (m->image) code = code_key(m->image);
  const Record *r = records_find(known, text_or_empty(m->config), &key, nereid_build_id(),
                                 m->image ? &code : NULL);
  m->found = r != NULL;
  if (!r) return;
  m->status = r->status;
  m->median_us = r->median_us;
  m->spread_us = r->spread_us;
  m->runs = r->runs;
  keep_for_key(w, r, &key);
}

static int find_body(void *arg) {
  Work *w = arg;
  const RecordProblem *problem = NULL, *before = NULL;
  RecordList known = {0};
  w->driver = tuner_driver(w->arena, w->device);
  for (size_t i = 0; i < w->n; i++, before = problem) {
    problem = next_problem(w, before, &w->found[i]);
    if (problem != before) {
      known = (RecordList){0};
      records_get(w->records, w->arena, problem, &known);
    }
    find_one(w, &w->found[i], &known);
  }
  records_put(w->records, w->put.data, w->put.len, NULL);
  return 0;
}

/* ---- storing ---- */

static Record record_of(const nereid_measurement *m, const RecordProblem *problem) {
  return (Record){.problem = problem,
                  .config = text_or_empty(m->config),
                  .ir = key_of(&m->key),
                  .version = nereid_build_id(),
                  .code = m->image ? code_key(m->image) : (CacheKey){{0}},
                  .status = m->status,
                  .reason = "",
                  .median_us = m->median_us,
                  .spread_us = m->spread_us,
                  .runs = m->runs,
                  .shape = "",
                  .taken = time(NULL)};
}

static int store_body(void *arg) {
  Work *w = arg;
  const RecordProblem *problem = NULL;
  w->driver = tuner_driver(w->arena, w->device);
  for (size_t i = 0; i < w->n; i++) {
    problem = next_problem(w, problem, &w->list[i]);
    Record r = record_of(&w->list[i], problem);
    if (!record_is_valid(&r)) return error_set(NEREID_E_USAGE, E_RUN_MEASUREMENT, r.config);
    vec_push(w->arena, &w->put, r);
  }
  bool good = w->replace ? records_replace(w->records, w->put.data, w->put.len)
                         : records_put(w->records, w->put.data, w->put.len, NULL);
  return good || records_are_off(w->records) ? 0 : error_again(NEREID_E_FILE, w->note);
}

/* ---- the API ---- */

static int work_with_records(Work *w, int (*body)(void *)) {
  w->arena = arena_new();
  w->records = records_open(keep_note, w);
  int code = w->arena && w->records ? error_guard(w->arena, body, w) : error_out_of_memory();
  records_close(w->records);
  arena_free(w->arena);
  free(w->note);
  return code;
}

int nereid_records_find(nereid_measurement *list, int n, const nereid_device *d) {
  if (n) REQUIRE(list);
  REQUIRE(d);
  for (int i = 0; i < n; i++) list[i].found = 0;
  Work w = {.device = d, .found = list, .n = (size_t)(n > 0 ? n : 0)};
  return work_with_records(&w, find_body);
}

int nereid_records_store(const nereid_measurement *list, int n, const nereid_device *d,
                         int replace) {
  static const nereid_key none;
  if (n) REQUIRE(list);
  REQUIRE(d);
  for (int i = 0; i < n; i++)
    if (!memcmp(&list[i].key, &none, sizeof none))
      return error_set(NEREID_E_USAGE, E_RUN_MEASUREMENT_KEY, text_or_empty(list[i].config));
  Work w = {.device = d, .list = list, .n = (size_t)(n > 0 ? n : 0), .replace = replace};
  return work_with_records(&w, store_body);
}
