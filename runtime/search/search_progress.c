#include "runtime/search/search_progress.h"
#include "runtime/support/host_machine.h"

void candidate_show(nereid_candidate *out, const Candidate *c, const Config *config) {
  TimeTaken t = search_time(c);
  *out = (nereid_candidate){.settings = config->settings,
                            .nsettings = config->n,
                            .status = c->status,
                            .reason = c->reason ? c->reason : "",
                            .predicted_us = c->predicted.us,
                            .predicted_low_us = c->predicted.low_us,
                            .predicted_high_us = c->predicted.high_us,
                            .bytes = c->predicted.memory_bytes,
                            .flops = c->predicted.tensor_flops + c->predicted.f32_flops,
                            .median_us = c->median_us,
                            .spread_us = c->spread_us,
                            .runs = c->runs,
                            .recorded = c->recorded,
                            .uncertain = c->runs && doubt_of(&t) != DOUBT_NONE};
}

static void show_best(nereid_candidate *out, const Search *s, const Candidate *best, Told *told) {
  if (told->best != best && !config_read(&told->config, s->arena, best->config))
    told->config = (Config){0};
  told->best = best;
  candidate_show(out, best, &told->config);
}

void progress_tell(const Search *s, const SearchProblem *p, size_t done, size_t measured,
                   Told *told) {
  nereid_candidate candidate;
  if (!s->on_progress) return;
  const Candidate *best = search_best(p->candidates, p->n);
  if (best) show_best(&candidate, s, best, told);
  nereid_tune_progress all = {.done = (int)done,
                              .measured = (int)measured,
                              .kernels = (int)s->nproblems,
                              .kernels_done = (int)(p - s->problems),
                              .kernel = p->kernel,
                              .best = best ? &candidate : NULL,
                              .seconds = host_now() - s->begin,
                              .budget_s = s->end > 0 ? s->end - s->begin : 0};
  for (size_t i = 0; i < s->nproblems; i++) all.candidates += (int)s->problems[i].n;
  s->on_progress(s->on_progress_context, &all);
}
