#include "runtime/search_compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/code_key.h"
#include "runtime/cubin.h"
#include "runtime/parallel.h"
#include "runtime/tool.h"

enum { THREADS_MOST = 64 };

struct SearchCompiler {
  const Search *search;
  nereid_device *host;   /* a CPU's kernels are loaded here, which leaves their code in the cache */
  char ptxas[TOOL_PATH]; /* \"\": none */
  const char *target;    /* NULL: each request's own */
  pthread_t threads[THREADS_MOST];
  int nthreads;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t ready;
  CompiledCandidate *done; /* a queue: none is taken before it is there */
  size_t next, ndone, taken;
  bool stopped;    /* atomic too: an assembler is ended */
  double limit_us; /* 0: none */
  int running;
};

/* ---- one candidate ---- */

/* The same image with machine code. */
static int assemble(SearchCompiler *c, nereid_image **image) {
  const ImageVariant *ptx = (*image)->variants[0];
  nereid_image *out = NULL;
  char *code = NULL;
  ImageVariant v = *ptx;
  v.kind = NEREID_CUBIN;
  int failed =
      cubin_by_ptxas(&code, &v.size, ptx->code, ptx->size, ptx->target, c->ptxas, &c->stopped);
  v.code = code;
  if (!failed) failed = image_like(&out, *image);
  if (!failed) failed = image_add_variant(out, &v, true);
  free(code);
  nereid_image_free(failed ? out : *image);
  if (!failed) *image = out;
  return failed;
}

static int compile(SearchCompiler *c, const nereid_request *r, CompiledCandidate *out) {
  nereid_image *image = NULL;
  nereid_kernel *kernel = NULL;
  nereid_request request = *r;
  request.on_message = NULL;
  request.target = c->search->target;
  int code = nereid_compile(&image, &request, c->host ? NEREID_C : NEREID_PTX);
  if (!code) out->key = code_key(image);
  if (!code && c->host) code = nereid_kernel_load(&kernel, c->host, image);
  if (!code && *c->ptxas) code = assemble(c, &image);
  if (!code) code = nereid_image_bytes(&out->code, &out->size, image);
  nereid_kernel_free(kernel);
  nereid_image_free(image);
  return code;
}

/* Late, nothing is begun but the first one, so that there is one. */
static bool is_over(const SearchCompiler *c) {
  double end = c->search->end;
  bool late = c->next && end > 0 && timing_now() >= end;
  return c->stopped || late || c->next == c->search->n;
}

/* Takes the next candidate that is to be compiled; the lock is held.  False: there is none. */
static bool take(SearchCompiler *c, CompiledCandidate *out) {
  const Search *s = c->search;
  while (!is_over(c)) {
    size_t i = s->order ? s->order[c->next] : c->next;
    const Candidate *candidate = &s->candidates[i];
    c->next++;
    if (candidate->known && !candidate->witness) continue;
    *out = (CompiledCandidate){.candidate = i};
    out->pruned =
        !candidate->witness && c->limit_us > 0 && candidate->predicted.low_us > c->limit_us;
    return true;
  }
  return false;
}

/* Compiles one; the lock is held, but not meanwhile. */
static void compile_one(SearchCompiler *c, CompiledCandidate *one) {
  pthread_mutex_unlock(&c->lock);
  if (!one->pruned) one->failure = compile(c, &c->search->candidates[one->candidate].request, one);
  if (one->failure) one->message = strdup(nereid_error_message());
  pthread_mutex_lock(&c->lock);
  c->done[c->ndone++] = *one;
  pthread_cond_signal(&c->ready);
}

static void *work(void *arg) {
  SearchCompiler *c = arg;
  CompiledCandidate one;
  pthread_mutex_lock(&c->lock);
  while (take(c, &one)) compile_one(c, &one);
  c->running--;
  pthread_cond_signal(&c->ready);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* As many as there are cores, while nothing is measured: what runs on a CPU has it for itself. */
static void compile_some(void *arg, size_t i) {
  SearchCompiler *c = arg;
  CompiledCandidate one;
  (void)i;
  pthread_mutex_lock(&c->lock);
  if (take(c, &one)) compile_one(c, &one);
  pthread_mutex_unlock(&c->lock);
}

/* ---- all ---- */

/* Where ptxas is, it makes the code here, on all cores; else the driver makes it where it runs. */
static int choose_way(SearchCompiler *c) {
  if (!strncmp(c->search->device, "cpu", 3)) return nereid_device_open(&c->host, c->search->device);
  if (!tool_find_ptxas(c->ptxas)) c->ptxas[0] = 0;
  return 0;
}

static void join(SearchCompiler *c) {
  for (int i = 0; i < c->nthreads; i++) pthread_join(c->threads[i], NULL);
  c->nthreads = 0;
}

static int start_threads(SearchCompiler *c) {
  int most = host_cores() < THREADS_MOST ? host_cores() : THREADS_MOST;
  for (int i = 0; i < most && (size_t)i < c->search->n; i++) {
    c->running++;
    if (pthread_create(&c->threads[i], NULL, work, c)) {
      c->running--;
      break;
    }
    c->nthreads++;
  }
  return c->nthreads || !c->search->n ? 0 : error_out_of_memory();
}

int search_compiler_start(SearchCompiler **out, const Search *s) {
  SearchCompiler *c = *out = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory();
  c->search = s;
  c->done = calloc(s->n + 1, sizeof *c->done);
  pthread_mutex_init(&c->lock, NULL);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&c->ready, &clock);
  pthread_condattr_destroy(&clock);
  int code = c->done ? choose_way(c) : error_out_of_memory();
  if (!code && !c->host) code = start_threads(c);
  if (!code) return 0;
  search_compiler_free(c);
  *out = NULL;
  return code;
}

static void stop(SearchCompiler *c) { __atomic_store_n(&c->stopped, true, __ATOMIC_RELAXED); }

/* With time for no more, what is begun is ended, unless it is the first. */
static void wait_for_one(SearchCompiler *c) {
  double end = c->search->end;
  struct timespec until = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};
  if (end <= 0 || c->stopped || !c->ndone) pthread_cond_wait(&c->ready, &c->lock);
  else if (pthread_cond_timedwait(&c->ready, &c->lock, &until) == ETIMEDOUT) stop(c);
}

bool search_compiler_next(SearchCompiler *c, CompiledCandidate *out) {
  if (c->host && c->taken == c->ndone) parallel_for((size_t)host_cores(), compile_some, c);
  pthread_mutex_lock(&c->lock);
  while (c->taken == c->ndone && c->running) wait_for_one(c);
  bool any = c->taken < c->ndone;
  if (any) *out = c->done[c->taken++];
  pthread_mutex_unlock(&c->lock);
  return any;
}

void search_compiler_limit(SearchCompiler *c, double us) {
  pthread_mutex_lock(&c->lock);
  c->limit_us = us;
  pthread_mutex_unlock(&c->lock);
}

void search_compiler_stop(SearchCompiler *c) {
  pthread_mutex_lock(&c->lock);
  stop(c);
  pthread_mutex_unlock(&c->lock);
}

void search_compiler_free(SearchCompiler *c) {
  if (!c) return;
  search_compiler_stop(c);
  join(c);
  for (; c->done && c->taken < c->ndone; c->taken++) {
    nereid_text_free(c->done[c->taken].code);
    free(c->done[c->taken].message);
  }
  nereid_device_close(c->host);
  pthread_mutex_destroy(&c->lock);
  pthread_cond_destroy(&c->ready);
  free(c->done);
  free(c);
}
