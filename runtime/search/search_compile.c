#include "runtime/search/search_compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compile/code_key.h"
#include "runtime/device/assembler.h"
#include "runtime/support/host_machine.h"
#include "runtime/support/parallel.h"

enum { THREADS_MOST = 64 };

/* A problem's candidates to compile. */
typedef struct {
  const SearchProblem *problem;
  CompiledCandidate *done; /* a queue: none is taken before it is there */
  Assembled *assembled;    /* of each candidate */
  size_t next;             /* index in the order of the next candidate */
  size_t ndone, taken;
  int running;     /* that are being compiled */
  double limit_us; /* 0: none */
} Share;

struct SearchCompiler {
  const Search *search;
  nereid_device *host; /* a CPU's kernels are loaded here, which leaves their code in the cache */
  bool assembles;      /* there is ptxas */
  Assembler assembler;
  pthread_t threads[THREADS_MOST];
  int nthreads;
  pthread_mutex_t lock; /* of the fields below */
  pthread_cond_t ready;
  Share *shares;  /* of each problem */
  size_t current; /* the first that has candidates left */
  bool begun;     /* one was taken */
  bool stopped;   /* atomic too: an assembler is ended */
};

/* ---- one candidate ---- */

/* The machine code of the image, whose names it outlives. */
static int assemble_kept(SearchCompiler *c, Assembled *kept, const ImageVariant *ptx) {
  int failed = assembler_run(&c->assembler, kept, ptx, ptx->target, &c->stopped);
  kept->id.target = device_target(c->search->device);
  kept->id.name = strdup(ptx->entry); /* free_share() */
  return failed || kept->id.name ? failed : error_out_of_memory();
}

/* Replaces the image by one with machine code, which is kept. */
static int assemble_image(SearchCompiler *c, Assembled *kept, nereid_image **image) {
  const ImageVariant *ptx = (*image)->variants[0];
  nereid_image *out = NULL;
  ImageVariant v = *ptx;
  int failed = assemble_kept(c, kept, ptx);
  v.kind = NEREID_CUBIN;
  v.code = kept->code;
  v.size = kept->size;
  if (!failed) failed = image_like(&out, *image);
  if (!failed) failed = image_add_variant(out, &v, true);
  nereid_image_free(failed ? out : *image);
  if (!failed) *image = out;
  return failed;
}

static int compile_candidate_code(SearchCompiler *c, Share *s, CompiledCandidate *out) {
  nereid_image *image = NULL;
  nereid_kernel *kernel = NULL;
  nereid_request request = s->problem->candidates[out->candidate].request;
  request.on_message = NULL;
  request.target = device_target(c->search->device);
  int code = nereid_compile(&image, &request, c->host ? NEREID_C : NEREID_PTX);
  if (!code) out->key = code_key(image);
  if (!code && c->host) code = nereid_kernel_load(&kernel, c->host, image);
  if (!code && c->assembles) code = assemble_image(c, &s->assembled[out->candidate], &image);
  if (!code) code = nereid_image_bytes(&out->code, &out->size, image);
  nereid_kernel_free(kernel);
  nereid_image_free(image);
  return code;
}

/* Late, nothing is begun but the first one, so that there is one. */
static bool is_over(const SearchCompiler *c) {
  double end = c->search->end;
  return c->stopped || (c->begun && end > 0 && host_now() >= end);
}

/* Takes the share's next candidate that is to be compiled.  False: there is none. */
static bool take_of(Share *s, CompiledCandidate *out) {
  const SearchProblem *p = s->problem;
  while (s->next < p->n) {
    size_t i = p->order ? p->order[s->next] : s->next;
    const Candidate *candidate = &p->candidates[i];
    s->next++;
    if (candidate->known && !candidate->witness) continue;
    *out = (CompiledCandidate){.candidate = i};
    out->pruned =
        !candidate->witness && s->limit_us > 0 && candidate->predicted.low_us > s->limit_us;
    s->running++;
    return true;
  }
  return false;
}

/* The next one of all; the lock is held.  NULL: there is none. */
static Share *take_candidate(SearchCompiler *c, CompiledCandidate *out) {
  for (; !is_over(c) && c->current < c->search->nproblems; c->current++) {
    if (!take_of(&c->shares[c->current], out)) continue;
    c->begun = true;
    return &c->shares[c->current];
  }
  return NULL;
}

/* Compiles one; the lock is held, but not meanwhile. */
static void compile_unlocked(SearchCompiler *c, Share *s, CompiledCandidate *one) {
  pthread_mutex_unlock(&c->lock);
  if (!one->pruned) one->failure = compile_candidate_code(c, s, one);
  if (one->failure) one->message = strdup(nereid_error_message());
  pthread_mutex_lock(&c->lock);
  s->done[s->ndone++] = *one;
  s->running--;
  pthread_cond_signal(&c->ready);
}

static void *compile_in_thread(void *arg) {
  SearchCompiler *c = arg;
  CompiledCandidate one;
  Share *s;
  pthread_mutex_lock(&c->lock);
  while ((s = take_candidate(c, &one))) compile_unlocked(c, s, &one);
  pthread_cond_signal(&c->ready);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* Runs on as many threads as there are cores, while nothing is measured: a measurement has the CPU
 * for itself. */
static void compile_some(void *arg, size_t i) {
  SearchCompiler *c = arg;
  CompiledCandidate one;
  (void)i;
  pthread_mutex_lock(&c->lock);
  Share *s = take_candidate(c, &one);
  if (s) compile_unlocked(c, s, &one);
  pthread_mutex_unlock(&c->lock);
}

/* ---- all ---- */

/* If there is ptxas, machine code is made here, on all cores; otherwise the driver makes it in the
 * process that measures. */
static int choose_way(SearchCompiler *c) {
  nereid_device *d = c->search->device;
  if (device_kind(d) == NEREID_C) return nereid_device_open(&c->host, d->name);
  c->assembles = assembler_open(&c->assembler, c->search->note, c->search->context);
  return 0;
}

static void join_threads(SearchCompiler *c) {
  for (int i = 0; i < c->nthreads; i++) pthread_join(c->threads[i], NULL);
  c->nthreads = 0;
}

static int start_threads(SearchCompiler *c) {
  size_t wanted = 0;
  for (size_t i = 0; i < c->search->nproblems; i++) wanted += c->search->problems[i].n;
  int most = host_cores() < THREADS_MOST ? host_cores() : THREADS_MOST;
  while (c->nthreads < most && (size_t)c->nthreads < wanted) {
    if (pthread_create(&c->threads[c->nthreads], NULL, compile_in_thread, c)) break;
    c->nthreads++;
  }
  return c->nthreads || !wanted ? 0 : error_out_of_memory();
}

static int open_shares(SearchCompiler *c) {
  const Search *s = c->search;
  c->shares = calloc(s->nproblems + 1, sizeof *c->shares);
  bool good = c->shares;
  for (size_t i = 0; i < s->nproblems && good; i++) {
    const SearchProblem *p = &s->problems[i];
    c->shares[i] = (Share){.problem = p,
                           .done = calloc(p->n + 1, sizeof(CompiledCandidate)),
                           .assembled = calloc(p->n + 1, sizeof(Assembled))};
    good = c->shares[i].done && c->shares[i].assembled;
  }
  return good ? 0 : error_out_of_memory();
}

int search_compiler_start(SearchCompiler **out, const Search *s) {
  SearchCompiler *c = *out = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory();
  c->search = s;
  pthread_mutex_init(&c->lock, NULL);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&c->ready, &clock);
  pthread_condattr_destroy(&clock);
  int code = open_shares(c);
  if (!code) code = choose_way(c);
  if (!code && !c->host) code = start_threads(c);
  if (!code) return 0;
  search_compiler_free(c);
  *out = NULL;
  return code;
}

static void stop(SearchCompiler *c) { __atomic_store_n(&c->stopped, true, __ATOMIC_RELAXED); }

static Share *share_of(SearchCompiler *c, const SearchProblem *p) {
  return &c->shares[p - c->search->problems];
}

/* When time is up, compilations in progress are ended, except the first. */
static void wait_for_one(SearchCompiler *c, const Share *s) {
  double end = c->search->end;
  struct timespec until = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};
  if (end <= 0 || c->stopped || !s->ndone) pthread_cond_wait(&c->ready, &c->lock);
  else if (pthread_cond_timedwait(&c->ready, &c->lock, &until) == ETIMEDOUT) stop(c);
}

/* Is there, or will there be, one that was not taken?  The lock is held. */
static bool has_more(const SearchCompiler *c, const Share *s) {
  return s->taken < s->ndone || s->running || (!is_over(c) && s->next < s->problem->n);
}

/* On a CPU it is made here. */
static void wait_or_make(SearchCompiler *c, const Share *s) {
  if (!c->host) {
    wait_for_one(c, s);
    return;
  }
  pthread_mutex_unlock(&c->lock);
  parallel_for((size_t)host_cores(), compile_some, c);
  pthread_mutex_lock(&c->lock);
}

bool search_compiler_next(SearchCompiler *c, const SearchProblem *p, CompiledCandidate *out) {
  Share *s = share_of(c, p);
  size_t number = (size_t)(p - c->search->problems);
  pthread_mutex_lock(&c->lock);
  if (c->current < number) c->current = number; /* those before were given up */
  while (s->taken == s->ndone && has_more(c, s)) wait_or_make(c, s);
  bool any = s->taken < s->ndone;
  if (any) *out = s->done[s->taken++];
  pthread_mutex_unlock(&c->lock);
  return any;
}

void search_compiler_limit(SearchCompiler *c, const SearchProblem *p, double us) {
  pthread_mutex_lock(&c->lock);
  share_of(c, p)->limit_us = us;
  pthread_mutex_unlock(&c->lock);
}

void search_compiler_stop(SearchCompiler *c) {
  pthread_mutex_lock(&c->lock);
  stop(c);
  pthread_mutex_unlock(&c->lock);
}

/* The one that will be loaded again, most likely. */
static const Assembled *best_of(const Share *s) {
  const Candidate *best = search_best(s->problem->candidates, s->problem->n);
  return best ? &s->assembled[best - s->problem->candidates] : NULL;
}

void search_compiler_keep(SearchCompiler *c) {
  Assembled *list = calloc(c->search->nproblems + 1, sizeof *list);
  size_t n = 0;
  for (size_t i = 0; list && c->assembles && i < c->search->nproblems; i++) {
    const Assembled *best = best_of(&c->shares[i]);
    if (best) list[n++] = *best;
  }
  if (n) assembler_keep(&c->assembler, list, n);
  free(list);
}

static void free_share(Share *s) {
  for (; s->taken < s->ndone; s->taken++) {
    nereid_text_free(s->done[s->taken].code);
    free(s->done[s->taken].message);
  }
  for (size_t i = 0; s->assembled && i < s->problem->n; i++) {
    free((char *)s->assembled[i].id.name);
    free(s->assembled[i].code);
  }
  free(s->assembled);
  free(s->done);
}

void search_compiler_free(SearchCompiler *c) {
  if (!c) return;
  search_compiler_stop(c);
  join_threads(c);
  if (c->assembles) assembler_close(&c->assembler);
  for (size_t i = 0; c->shares && i < c->search->nproblems; i++) free_share(&c->shares[i]);
  free(c->shares);
  nereid_device_close(c->host);
  pthread_mutex_destroy(&c->lock);
  pthread_cond_destroy(&c->ready);
  free(c);
}
