/* The tuner's API: from a request to candidates, and back. */
#include "runtime/nereid_tune.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compilation.h"
#include "runtime/messages.h"
#include "runtime/search/search_progress.h"
#include "runtime/support/host_machine.h"
#include "runtime/tune/tuning.h"

struct nereid_tuning {
  Arena *arena;
  const char *kernel, *device, *source;
  const nereid_candidate **candidates; /* the best first */
  double bandwidth, flops;
  size_t n;
};

/* ---- the device ---- */

static int find_tuned_device(Tuning *t) {
  const char *name = t->request->device;
  if (name && strncmp(name, "cuda", 4) && strcmp(name, "cpu"))
    return error_set(NEREID_E_USAGE, E_TUNE_DEVICE, name);
  int code = device_describe(&t->device, name ? name : "cuda");
  bool none = code && !name && nereid_device_count("cuda") == 0;
  return none ? device_describe(&t->device, "cpu") : code;
}

/* ---- results ---- */

/* Nothing is measured: records or the model choose. */
static void leave_rest(Tuning *t) {
  for (size_t i = 0; i < t->configs.len; i++) {
    Candidate *c = &t->candidates[i];
    if (c->known) continue;
    c->status = NEREID_TUNE_PRUNED;
    c->reason = E_TUNE_UNMEASURED;
  }
}

static const char *keep_text(Arena *a, const char *text) {
  return arena_strndup(a, text, strlen(text));
}

/* Its texts are the decorators' and the caller's. */
static void keep_texts(Arena *a, nereid_candidate *c) {
  nereid_setting *settings = ARENA_ARRAY(a, nereid_setting, (size_t)c->nsettings);
  for (int i = 0; i < c->nsettings; i++)
    settings[i] =
        (nereid_setting){keep_text(a, c->settings[i].name), keep_text(a, c->settings[i].value)};
  c->settings = settings;
}

/* Candidates that ran come first, then pruned ones, then failed ones. */
static int rank_group(const nereid_candidate *c) {
  return c->status == NEREID_TUNE_OK ? 0 : c->status == NEREID_TUNE_PRUNED ? 1 : 1 + (int)c->status;
}

/* Measured candidates by their time, others by their prediction. */
static double rank_time(const nereid_candidate *c) {
  return c->median_us > 0 ? c->median_us : c->predicted_us > 0 ? c->predicted_us : 1e300;
}

/* Equals stay in the space's order, so that all runs choose alike. */
static int faster_first(const void *a, const void *b) {
  const nereid_candidate *x = *(nereid_candidate *const *)a, *y = *(nereid_candidate *const *)b;
  if (x->status != y->status) return rank_group(x) < rank_group(y) ? -1 : 1;
  double fx = rank_time(x), fy = rank_time(y);
  if (fx != fy) return fx < fy ? -1 : 1;
  return x < y ? -1 : 1;
}

/* A candidate that fails before it can run, or is pruned, is not measured. */
static bool has_run(const Candidate *c) {
  return !c->recorded &&
         (c->runs || c->status == NEREID_TUNE_TIMEOUT || c->status == NEREID_TUNE_FAULT);
}

static const char *result_source(const Tuning *t) {
  if (t->request->model_only) return "model";
  for (size_t i = 0; i < t->configs.len; i++)
    if (has_run(&t->candidates[i])) return "measured";
  return "records";
}

/* The roof is that of matrix units if any candidate uses them. */
static double roof_of(const Tuning *t) {
  const DevicePeaks *r = &t->peaks;
  for (size_t i = 0; i < t->configs.len; i++)
    if (t->candidates[i].predicted.tensor_flops > 0) return r->f16 * r->processors * r->clock;
  return r->operations;
}

/* Puts the candidate first that others would choose by the records: the fastest that is not
 * uncertain. */
static void put_sure_first(nereid_tuning *t) {
  size_t i = 0;
  while (i < t->n && t->candidates[i]->status == NEREID_TUNE_OK && t->candidates[i]->uncertain) i++;
  if (i == t->n || t->candidates[i]->status != NEREID_TUNE_OK) return;
  const nereid_candidate *sure = t->candidates[i];
  memmove(t->candidates + 1, t->candidates, i * sizeof *t->candidates);
  t->candidates[0] = sure;
}

static void make_results(const Tuning *t, nereid_tuning *out) {
  out->n = t->configs.len;
  nereid_candidate *all = ARENA_ARRAY(out->arena, nereid_candidate, out->n);
  out->candidates = ARENA_ARRAY(out->arena, const nereid_candidate *, out->n);
  for (size_t i = 0; i < out->n; i++) {
    candidate_show(&all[i], &t->candidates[i], &t->configs.data[i]);
    keep_texts(out->arena, &all[i]);
    out->candidates[i] = &all[i];
  }
  qsort(out->candidates, out->n, sizeof *out->candidates, faster_first);
  put_sure_first(out);
  out->source = result_source(t);
  out->bandwidth = t->peaks.bandwidth;
  out->flops = roof_of(t);
  out->kernel = keep_text(out->arena, t->problem.info->name);
  out->device = keep_text(out->arena, t->device->description);
}

static void pass_note(void *context, const char *text) {
  const nereid_request *r = &((const Tuning *)context)->request->kernel;
  if (r->on_message) r->on_message(r->context, text);
}

static int count_of(const nereid_tuning *o, nereid_tune_status status) {
  int n = 0;
  for (size_t i = 0; i < o->n; i++) n += o->candidates[i]->status == status;
  return n;
}

/* Each reason once, with the number of candidates that it ended. */
static int none_runs(const nereid_tuning *o) {
  Text text = text_new(o->arena);
  bool *told = ARENA_ARRAY(o->arena, bool, o->n);
  for (size_t i = 0; i < o->n; i++) {
    const nereid_candidate *c = o->candidates[i];
    int count = 0;
    for (size_t j = i; j < o->n && !told[i]; j++) {
      const nereid_candidate *other = o->candidates[j];
      if (other->status != c->status || strcmp(other->reason, c->reason)) continue;
      if (j != i) told[j] = true;
      count++;
    }
    if (count)
      text_printf(&text, "\n  %d %s: %s", count, nereid_tune_status_name(c->status), c->reason);
  }
  if (count_of(o, NEREID_TUNE_FAULT)) text_printf(&text, "\n  hint: %s", H_TUNE_CHECK);
  return error_set(NEREID_E_KERNEL, E_TUNE_NONE, o->kernel, text.data);
}

static void tell_doubt(const nereid_tuning *o, Tuning *t) {
  const char *doubt = search_doubt(o->arena, &t->found, "`nereid tune`");
  if (doubt && !t->request->model_only) pass_note(t, doubt);
}

/* If no answer has a majority, the best is right by chance. */
static void tell_disagreement(const nereid_tuning *o, Tuning *t) {
  int right = count_of(o, NEREID_TUNE_OK), wrong = count_of(o, NEREID_TUNE_WRONG);
  if (wrong < right || !wrong) return;
  pass_note(t, arena_printf(o->arena, N_TUNE_DISAGREE, wrong, right + wrong, o->kernel));
}

/* ---- all ---- */

/* A search without candidates. */
static void make_search(Tuning *t) {
  const nereid_tune_request *r = t->request;
  tune_name(t);
  t->search = (Search){.arena = t->arena,
                       .device = t->device,
                       .problems = &t->found,
                       .nproblems = 1,
                       .remeasure = r->remeasure,
                       .begin = t->begin,
                       .end = r->budget_s > 0 ? t->begin + r->budget_s : 0,
                       .on_progress = r->on_progress,
                       .on_progress_context = r->context,
                       .note = pass_note,
                       .context = t};
}

static int search_configs(Tuning *t) {
  int code = search_run(&t->search);
  const char *failure = t->found.failure;
  return code || !failure ? code : error_again(NEREID_E_MEMORY, failure);
}

static int tune_problem_body(void *arg) {
  Tuning *t = arg;
  Memory memory = {0};
  bool model = t->request->model_only, records = t->request->records_only;
  int code = find_tuned_device(t);
  if (!code) code = problem_open(&t->problem, t->arena, t->request);
  if (!code) make_search(t);
  if (!code) code = tune_candidates(t);
  if (!code && !model) tuner_recall(&t->search, &memory);
  if (!code && !records) tuner_predict(&t->search, &t->peaks, true);
  if (!code && model) code = tuner_choose(&t->search);
  if (!code && (model || records)) leave_rest(t);
  if (!code && !model && !records) code = search_configs(t);
  if (!code && !model) tuner_remember(&t->search, &memory);
  tuner_forget(&memory);
  return code;
}

static void log_best(const nereid_tuning *o, const nereid_candidate *best) {
  Text text = text_new(o->arena);
  config_print(&text, &(Config){(nereid_setting *)(uintptr_t)best->settings, best->nsettings});
  double us = best->median_us > 0 ? best->median_us : best->predicted_us;
  log_print(LOG_TUNE, "%s: %s, %.2f us (%s), the best of %zu", o->kernel, text.data, us, o->source,
            o->n);
}

typedef struct {
  Tuning *tuning;
  nereid_tuning *out;
} Finish;

static int finish_body(void *arg) {
  const Finish *f = arg;
  make_results(f->tuning, f->out);
  const nereid_candidate *best = nereid_tuning_candidate(f->out, 0);
  if (best && log_has(f->tuning->device->log, LOG_TUNE)) log_best(f->out, best);
  tell_disagreement(f->out, f->tuning);
  tell_doubt(f->out, f->tuning);
  bool measures = !f->tuning->request->model_only && !f->tuning->request->records_only;
  bool chosen = best && !measures && best->status == NEREID_TUNE_PRUNED;
  return chosen || (best && best->status == NEREID_TUNE_OK) ? 0 : none_runs(f->out);
}

int nereid_tune(nereid_tuning **out, const nereid_tune_request *r) {
  REQUIRE_OUT(out);
  REQUIRE(r);
  int code = compile_check(&r->kernel);
  if (code) return code;
  nereid_tuning *made = *out = calloc(1, sizeof *made);
  if (!made) return error_out_of_memory();
  made->arena = arena_new();
  Tuning t = {.request = r, .arena = made->arena, .begin = host_now()};
  code = made->arena ? error_guard(made->arena, tune_problem_body, &t) : error_out_of_memory();
  if (!code) code = error_guard(made->arena, finish_body, &(Finish){&t, made});
  if (t.arena) problem_close(&t.problem);
  decorators_free(t.decorators);
  nereid_device_close(t.device);
  if (!code) return 0;
  nereid_tuning_free(made);
  *out = NULL;
  return code;
}

void nereid_tuning_free(nereid_tuning *t) {
  if (!t) return;
  arena_free(t->arena);
  free(t);
}

int nereid_tuning_count(const nereid_tuning *t) {
  REQUIRE(t);
  return (int)t->n;
}

const nereid_candidate *nereid_tuning_candidate(const nereid_tuning *t, int i) {
  REQUIRE_OR(t, NULL);
  return i < 0 || (size_t)i >= t->n ? NULL : t->candidates[i];
}

const char *nereid_tuning_source(const nereid_tuning *t) {
  REQUIRE_OR(t, NULL);
  return t->source;
}
const char *nereid_tuning_kernel(const nereid_tuning *t) {
  REQUIRE_OR(t, NULL);
  return t->kernel;
}
const char *nereid_tuning_device(const nereid_tuning *t) {
  REQUIRE_OR(t, NULL);
  return t->device;
}

void nereid_tuning_roof(double *bandwidth, double *flops, const nereid_tuning *t) {
  if (!t) error_null(__func__, "t");
  if (bandwidth) *bandwidth = t ? t->bandwidth : 0;
  if (flops) *flops = t ? t->flops : 0;
}
