#include "model/execute/library_records.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "graph/ir/namemap.h"
#include "runtime/records/records.h"
#include "runtime/support/version.h"

struct LibraryRecords {
  Arena *arena;
  Pool *names;
  nereid_device *device;
  Records *records;
  bool opened;
  NameMap known; /* by problem: LibraryTimes */
};

LibraryRecords *library_records_new(Arena *a, nereid_device *d) {
  LibraryRecords *r = ARENA_NEW(a, LibraryRecords);
  *r = (LibraryRecords){.arena = a, .names = pool_new(a), .device = d};
  return r;
}

void library_records_close(LibraryRecords *r) {
  if (r && r->opened) records_close(r->records);
}

static Records *records_of(LibraryRecords *r) {
  if (!r->opened) r->records = records_open(r->device->on_message, r->device->context);
  r->opened = true;
  return r->records;
}

static RecordProblem record_problem(const LibraryRecords *r, const LibraryProblem *p) {
  return (RecordProblem){"library product", p->signature, p->sizes, r->device->description, ""};
}

static const char KERNELS[] = "kernels";

static void take_time(double *to, const Record *r) {
  if (*to == 0 || r->median_us < *to) *to = r->median_us;
}

static LibraryTimes find_in_database(LibraryRecords *r, const LibraryProblem *p, bool current) {
  LibraryTimes t = {0};
  RecordList list = {0};
  RecordProblem problem = record_problem(r, p);
  if (records_get(records_of(r), r->arena, &problem, &list) != RECORDS_OK || !list.len) return t;
  const char *version = library_version(r->device, p->function);
  for (size_t i = 0; i < list.len && version; i++) {
    const Record *x = &list.data[i];
    bool ours = !strcmp(x->config, KERNELS);
    if (x->status != NEREID_TUNE_OK) continue;
    if (ours && (!current || !strcmp(x->version, nereid_build_id()))) take_time(&t.kernels, x);
    bool its = !strcmp(x->config, library_name(p->function)) && !strcmp(x->version, version);
    if (its) take_time(&t.library, x);
  }
  return t;
}

static Name key_of(LibraryRecords *r, const LibraryProblem *p) {
  return pool_name(r->names, arena_printf(r->arena, "%s %s %s", library_name(p->function),
                                          p->signature, p->sizes));
}

LibraryTimes library_records_find(LibraryRecords *r, const LibraryProblem *p, bool current) {
  const LibraryTimes *known = namemap_get(&r->known, key_of(r, p));
  return known ? *known : find_in_database(r, p, current);
}

static void remember(LibraryRecords *r, const LibraryProblem *p, LibraryTimes t) {
  LibraryTimes *kept = ARENA_NEW(r->arena, LibraryTimes);
  *kept = t;
  *namemap_put(r->arena, &r->known, key_of(r, p)) = kept;
}

void library_records_refuse(LibraryRecords *r, const LibraryProblem *p) {
  remember(r, p, (LibraryTimes){.kernels = 1, .library = INFINITY});
}

void library_records_put(LibraryRecords *r, const LibraryProblem *p, LibraryTimes t) {
  RecordProblem problem = record_problem(r, p);
  const char *version = library_version(r->device, p->function);
  remember(r, p, t);
  Record list[2] = {{.problem = &problem, .config = KERNELS, .version = nereid_build_id()},
                    {.problem = &problem,
                     .config = library_name(p->function),
                     .version = version ? version : ""}};
  for (int i = 0; i < 2; i++) {
    list[i].reason = list[i].shape = "";
    list[i].status = NEREID_TUNE_OK;
    list[i].median_us = i ? t.library : t.kernels;
    list[i].runs = t.runs;
    list[i].taken = (int64_t)time(NULL);
  }
  records_replace(records_of(r), list, 2);
}

/* ---- without records ---- */

static const double LAUNCH_US = 2; /* of a kernel after or before a call */
static const double REACHED = 0.7; /* of the peak of memory, by such a kernel */
static const double MARGIN = 0.95; /* an expected time must be so much shorter */
static const double LARGE_OPERATIONS = 1e10, LARGE_FLOAT8 = 1e11; /* at least */
static const double SMALL_SHARE = 0.1, OPERATIONS_US = 6e8;

/* On a GPU of which nothing was measured: convolutions of 16 bits and large products, unless what
 * is moved besides takes longer than a tenth of them. */
static bool is_large(const LibraryProblem *p, double besides) {
  const TimedProblem *t = &p->timed;
  double operations = 2 * t->batch * t->m * t->n * t->k;
  if (t->dtype == DT_F32) return false;
  if (library_work(p->function) != LIBRARY_PRODUCT) return true;
  double least = dtype_bits(t->dtype) == 8 ? LARGE_FLOAT8 : LARGE_OPERATIONS;
  return operations >= least && besides < SMALL_SHARE * operations / OPERATIONS_US;
}

/* Bytes a microsecond of a core's pointwise kernel, from memory and from its second cache. */
static const double CORE_MEMORY = 8e3, CORE_CACHED = 24e3, CORE_CACHE = 1 << 20;

/* On a CPU one thread has a library of which that is known.  On more, its threads wait for work
 * while ours compute, and the other way round. */
static bool is_faster_on_core(const LibraryRecords *r, const LibraryProblem *p) {
  if (p->open || p->packed || library_threads(r->device, p->function) != 1) return false;
  ExpectedTimes t = library_times_of_core(&p->timed);
  double besides = p->copied / (p->copied > CORE_CACHE ? CORE_MEMORY : CORE_CACHED);
  if (p->copied > 0) besides += LAUNCH_US;
  LOG(r->device->log, LOG_TUNE, "%s, %s: %.1f us by kernels are expected, %.1f + %.1f us by %s",
      p->signature, p->sizes, t.kernels, t.library, besides, library_name(p->function));
  return t.library + besides < MARGIN * t.kernels;
}

static bool is_expected_faster(const LibraryRecords *r, const LibraryProblem *p) {
  if (library_kind(p->function) != NEREID_PTX) return is_faster_on_core(r, p);
  ExpectedTimes t = library_times(p->capability, &p->timed);
  double besides = p->copied > 0 ? LAUNCH_US + p->copied / (REACHED * p->speed) : 0;
  LOG(r->device->log, LOG_TUNE, "%s, %s: %.1f us by kernels are expected, %.1f + %.1f us by %s",
      p->signature, p->sizes, t.kernels, t.library, besides, library_name(p->function));
  t.kernels *= p->slower;
  return t.kernels > 0 ? t.library + besides < MARGIN * t.kernels : is_large(p, besides);
}

bool library_records_want(void *context, const LibraryProblem *p) {
  LibraryRecords *r = context;
  LibraryTimes t = library_records_find(r, p, false);
  if (t.kernels > 0 && t.library > 0) return t.library < t.kernels;
  return is_expected_faster(r, p) && library_version(r->device, p->function);
}
