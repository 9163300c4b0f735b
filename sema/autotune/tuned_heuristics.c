/* @triton.heuristics: constexprs that functions of the arguments give. */
#include "sema/autotune/tuned_read.h"
#include "sema/messages.h"
#include "sema/tuned.h"

typedef struct {
  TunedReader reader;
  TunedConfig known; /* the configuration, and what heuristics have given so far */
  TunedConfig *out;
  bool strict; /* what can't be computed is an error */
} Heuristics;

static bool refuse_heuristic(Heuristics *h, Span at, const char *text, Name subject, Name wanted) {
  TunedReader *r = &h->reader;
  if (!h->strict) return true;
  diag_error(r->p->diags, at, text, subject);
  tuned_explain(r, r->host.why_at, r->host.why);
  diag_hint(r->p->diags, H_SEMA_GLOBAL, wanted);
  return false;
}

static Span function_span(Value fn, Span at) {
  if (fn.kind != V_FUNC) return at;
  return fn.u.func->def ? fn.u.func->def->span : fn.u.func->lambda->span;
}

/* Heuristics may give num_warps and the other options as well. */
static bool is_wanted(const TunedReader *r, Name name) {
  return tuned_param(r->k, name) || (tuned_is_option(name) && tuned_for_gpu(r->q));
}

static bool compute_heuristic(Heuristics *h, const Decorator *d, Name name, Value fn) {
  TunedReader *r = &h->reader;
  KernelArg arg;
  if (!is_wanted(r, name) || tuned_given(r->q, name) || tuned_find(&h->known, name)) return true;
  tuned_forget(r);
  Value args = tuned_arguments(r, &h->known);
  Value v = call_with(&r->S, fn, &args, 1, d->at);
  if (r->S.failed || !tuned_arg(r, name, v, &arg))
    return refuse_heuristic(h, function_span(fn, d->at), E_SEMA_HEURISTIC, name, name);
  vec_push(r->p->arena, &h->known, arg);
  vec_push(r->p->arena, h->out, arg);
  return true;
}

/* A dict that can't be evaluated matters if a constexpr is without a value. */
static bool unknown(Heuristics *h, const Decorator *d) {
  TunedReader *r = &h->reader;
  for (uint32_t i = 0; i < r->k->nparams; i++) {
    const KernelParam *p = &r->k->params[i];
    if (p->kind != KP_CONSTEXPR || p->has_default || tuned_given(r->q, p->name) ||
        tuned_find(&h->known, p->name))
      continue;
    r->host.why = d->why;
    r->host.why_at = d->why_at;
    return refuse_heuristic(h, d->at, E_SEMA_HEURISTICS, r->k->name, p->name);
  }
  return true;
}

static bool compute_all(Heuristics *h, const Decorator *d) {
  if (d->values.kind != V_DICT) return unknown(h, d);
  const Dict *values = d->values.u.dict;
  for (uint32_t i = 0; i < values->len; i++)
    if (values->data[2 * i].kind == V_STR &&
        !compute_heuristic(h, d, values->data[2 * i].u.s, values->data[2 * i + 1]))
      return false;
  return true;
}

static bool run_heuristics(Program *p, const Kernel *k, const TunedQuery *q,
                           const TunedConfig *config, bool strict, TunedConfig *out) {
  Heuristics *h = ARENA_NEW(p->arena, Heuristics);
  *out = (TunedConfig){0};
  h->out = out;
  h->strict = strict;
  for (size_t i = 0; config && i < config->len; i++) vec_push(p->arena, &h->known, config->data[i]);
  tuned_read(&h->reader, p, k, q, DECOR_HEURISTICS);
  for (size_t i = 0; i < h->reader.list.len; i++)
    if (!compute_all(h, &h->reader.list.data[i])) return false;
  return true;
}

bool tuned_heuristics(Program *p, const Kernel *k, const TunedQuery *q, const TunedConfig *config,
                      TunedConfig *out) {
  return run_heuristics(p, k, q, config, true, out);
}

void tuned_known(Program *p, const Kernel *k, const TunedQuery *q, TunedConfig *out) {
  run_heuristics(p, k, q, NULL, false, out);
}
