/* What a tuner knows from earlier runs, and keeps for later ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/code_key.h"
#include "runtime/compile.h"
#include "runtime/parallel.h"
#include "runtime/tool_version.h"
#include "runtime/tuning.h"

/* ---- the problem's names ---- */

static const char *signature_of(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.nargs; i++)
    text_printf(&text, "%s%s=%s", i ? ", " : "", t->problem.args[i].name, t->problem.args[i].type);
  return text.data;
}

/* Sizes are classes of at most an eighth of their number: rounded up to three bits behind the
 * first.  What is fastest of one is fastest of its neighbours. */
static int64_t size_class(int64_t v) {
  uint64_t n = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, step = 1;
  while (n / step >= 16) step *= 2;
  uint64_t up = n > UINT64_MAX - step ? n : (n + step - 1) / step * step;
  return up > INT64_MAX ? v : v < 0 ? -(int64_t)up : (int64_t)up;
}

static void print_sizes(Text *out, const ProblemArg *a) {
  nereid_value_kind k = nereid_value_get_kind(a->value);
  if (k == NEREID_VALUE_INT || k == NEREID_VALUE_BOOL)
    text_printf(out, "%s%s=%" PRId64, out->len ? " " : "", a->name,
                size_class(nereid_value_int(a->value)));
  nereid_tensor tensor;
  if (k != NEREID_VALUE_ARRAY || nereid_value_tensor(&tensor, a->value)) return;
  text_printf(out, "%s%s=[", out->len ? " " : "", a->name);
  for (int i = 0; i < tensor.ndim; i++)
    text_printf(out, "%s%" PRId64, i ? "," : "", size_class(tensor.shape[i]));
  text_puts(out, "]");
}

static const char *sizes_of(const Tuning *t) {
  Text text = text_new(t->arena);
  for (int i = 0; i < t->problem.nargs; i++) print_sizes(&text, &t->problem.args[i]);
  text_printf(&text, "%sgrid=%s", text.len ? " " : "", t->problem.grid);
  return text.data ? text.data : "";
}

/* What makes code of ours run: the driver, and ptxas where that is used; or the C compiler.  Paths
 * differ from machine to machine, and say nothing of the code. */
static const char *driver_of(const Tuning *t) {
  char tool[TOOL_PATH], options[TOOL_PATH], version[TOOL_VERSION];
  Text text = text_new(t->arena);
  if (device_kind(t->device) == NEREID_PTX) {
    text_printf(&text, "%d", t->device->info.driver_version);
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
  const Tuning *tuning;
  CacheKey *keys;
  char **failures; /* why a candidate can't be elaborated, malloc'ed; NULL: it can */
} Hashing;

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

/* What can't be elaborated has no key. */
static void hash_one(void *context, size_t i) {
  const Hashing *all = context;
  const Candidate *candidate = &all->tuning->candidates[i];
  Hash h = {.key = &all->keys[i]};
  nereid_request r = candidate->request;
  if (candidate->known) return;
  r.target = device_target(all->tuning->device);
  int code = compile_open(&h.compilation, &r.source, false);
  if (!code) code = compile_specialize(&h.compilation, &r);
  if (!code && h.compilation.unit->tile) error_guard(h.compilation.arena, hash_body, &h);
  code = compile_report(&h.compilation, code, NULL, NULL);
  if (code == NEREID_E_KERNEL) all->failures[i] = strdup(nereid_error_message());
  compile_close(&h.compilation);
}

/* Such candidates have failed, without any process that measures. */
static void hash_all(Tuning *t, CacheKey *keys) {
  size_t n = t->configs.len;
  Hashing h = {t, keys, ARENA_ARRAY(t->arena, char *, n)};
  parallel_for(n, hash_one, &h);
  for (size_t i = 0; i < n; i++) {
    Candidate *c = &t->candidates[i];
    if (!h.failures[i]) continue;
    c->known = true;
    c->status = NEREID_TUNE_COMPILE;
    c->reason = arena_strndup(t->arena, h.failures[i], strcspn(h.failures[i], "\n"));
    free(h.failures[i]);
  }
}

/* ---- recalling ---- */

static const char *config_text(const Tuning *t, size_t i) {
  Text text = text_new(t->arena);
  config_print(&text, &t->configs.data[i]);
  return text.data ? text.data : "";
}

static bool has_key(const CacheKey *k) {
  static const CacheKey none;
  return memcmp(k, &none, sizeof none) != 0;
}

static void take_record(Candidate *c, const Record *r) {
  c->known = c->recorded = true;
  c->status = r->status;
  c->reason = r->reason;
  c->median_us = r->median_us;
  c->spread_us = r->spread_us;
  c->runs = r->runs;
}

static void recall_by_ir(Tuning *t, const Memory *m, const RecordList *list) {
  for (size_t i = 0; i < t->configs.len; i++) {
    Candidate *c = &t->candidates[i];
    if (c->known || !has_key(&m->ir[i])) continue;
    const Record *r = records_find(list, config_text(t, i), &m->ir[i], nereid_build_id(), NULL);
    if (r) take_record(c, r);
  }
}

typedef struct {
  const Tuning *tuning;
  const Memory *memory;
  const RecordList *list;
  const char **configs; /* of candidates whose code may be known; NULL: the others */
} ByCode;

/* What can't be compiled is found out again where it is reported. */
static void find_by_code(void *context, size_t i) {
  const ByCode *b = context;
  nereid_request r = b->tuning->candidates[i].request;
  nereid_image *image;
  if (!b->configs[i]) return;
  r.target = device_target(b->tuning->device);
  r.on_message = NULL;
  if (nereid_compile(&image, &r, device_kind(b->tuning->device))) return;
  CacheKey code = code_key(image);
  b->memory->by_code[i] =
      records_find(b->list, b->configs[i], &b->memory->ir[i], nereid_build_id(), &code);
  nereid_image_free(image);
}

static bool has_config(const RecordList *list, const char *config) {
  for (size_t i = 0; i < list->len; i++)
    if (has_key(&list->data[i].code) && !strcmp(list->data[i].config, config)) return true;
  return false;
}

/* Another version of the compiler, or of the kernel, may have made the same code.  Compiling to
 * PTX or C tells, in milliseconds, before anything is assembled or measured. */
static void recall_by_code(Tuning *t, const Memory *m, const RecordList *list) {
  size_t n = t->configs.len;
  ByCode b = {t, m, list, ARENA_ARRAY(t->arena, const char *, n)};
  for (size_t i = 0; i < n; i++) {
    if (t->candidates[i].known || !has_key(&m->ir[i])) continue;
    const char *config = config_text(t, i);
    if (has_config(list, config)) b.configs[i] = config;
  }
  parallel_for(n, find_by_code, &b);
  for (size_t i = 0; i < n; i++)
    if (m->by_code[i]) take_record(&t->candidates[i], m->by_code[i]);
}

int tune_recall(Tuning *t, Memory *m) {
  RecordList list = {0};
  *m = (Memory){.records = records_open(t->request->kernel.on_message, t->request->kernel.context)};
  m->problem = (RecordProblem){t->problem.info->name, signature_of(t), sizes_of(t),
                               t->device->description, driver_of(t)};
  m->ir = ARENA_ARRAY(t->arena, CacheKey, t->configs.len);
  m->by_code = ARENA_ARRAY(t->arena, const Record *, t->configs.len);
  if (records_are_off(m->records)) return 0;
  hash_all(t, m->ir);
  if (t->request->remeasure) return 0;
  records_get(m->records, t->arena, &m->problem, &list);
  recall_by_ir(t, m, &list);
  recall_by_code(t, m, &list);
  return 0;
}

/* ---- remembering ---- */

static Record record_of(const Tuning *t, const Memory *m, size_t i) {
  const Candidate *c = &t->candidates[i];
  return (Record){.problem = &m->problem,
                  .config = config_text(t, i),
                  .ir = m->ir[i],
                  .version = nereid_build_id(),
                  .code = c->code,
                  .status = c->status,
                  .reason = c->reason ? c->reason : "",
                  .median_us = c->median_us,
                  .spread_us = c->spread_us,
                  .runs = c->runs,
                  .taken = time(NULL)};
}

/* What holds for this version as well, so that the next run need not compile. */
static Record copy_for_version(const Memory *m, size_t i) {
  Record r = *m->by_code[i];
  r.ir = m->ir[i];
  r.version = nereid_build_id();
  return r;
}

void tune_remember(Tuning *t, Memory *m) {
  RecordList list = {0};
  for (size_t i = 0; i < t->configs.len; i++) {
    const Candidate *c = &t->candidates[i];
    bool measured = !c->known && c->status != NEREID_TUNE_PRUNED && has_key(&m->ir[i]);
    if (!measured && !m->by_code[i]) continue;
    Record r = measured ? record_of(t, m, i) : copy_for_version(m, i);
    vec_push(t->arena, &list, r);
  }
  if (!list.len) return;
  if (t->request->remeasure) records_replace(m->records, list.data, list.len);
  else records_put(m->records, list.data, list.len, NULL);
}

void tune_forget(Memory *m) {
  records_close(m->records);
  m->records = NULL;
}
