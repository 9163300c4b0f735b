#include "runtime/search_compile.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/tool.h"

enum { THREADS_MOST = 64 };

struct SearchCompiler {
  const Search *search;
  nereid_device *host; /* a CPU's kernels are loaded here, which leaves their code in the cache */
  nereid_kind kind;    /* of code that is measured */
  const char *target;  /* NULL: each request's own */
  pthread_t threads[THREADS_MOST];
  int nthreads;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t ready;
  CompiledCandidate *done; /* a queue: none is taken before it is there */
  size_t next, ndone, taken;
  bool stopped;
  double end;      /* of timing_now(): nothing is begun later, but for the first; 0: none */
  double limit_us; /* 0: none */
  int running;
};

/* ---- one candidate ---- */

static int compile(SearchCompiler *c, const nereid_request *r, CompiledCandidate *out) {
  nereid_image *image = NULL;
  nereid_kernel *kernel = NULL;
  nereid_request request = *r;
  request.on_message = NULL;
  request.target = c->search->target;
  int code = nereid_compile(&image, &request, c->kind);
  if (!code && c->host) code = nereid_kernel_load(&kernel, c->host, image);
  if (!code) code = nereid_image_bytes(&out->code, &out->size, image);
  nereid_kernel_free(kernel);
  nereid_image_free(image);
  return code;
}

static bool is_over(const SearchCompiler *c) {
  bool late = c->next && c->end > 0 && timing_now() >= c->end;
  return c->stopped || late || c->next == c->search->n;
}

static void *work(void *arg) {
  SearchCompiler *c = arg;
  pthread_mutex_lock(&c->lock);
  while (!is_over(c)) {
    const Search *s = c->search;
    size_t i = s->order ? s->order[c->next] : c->next;
    CompiledCandidate out = {.candidate = i};
    c->next++;
    const Candidate *candidate = &s->candidates[i];
    if (candidate->known && !candidate->witness) continue;
    out.pruned =
        !candidate->witness && c->limit_us > 0 && candidate->predicted.low_us > c->limit_us;
    pthread_mutex_unlock(&c->lock);
    if (!out.pruned) out.failure = compile(c, &candidate->request, &out);
    if (out.failure) out.message = strdup(nereid_error_message());
    pthread_mutex_lock(&c->lock);
    c->done[c->ndone++] = out;
    pthread_cond_signal(&c->ready);
  }
  c->running--;
  pthread_cond_signal(&c->ready);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* ---- all ---- */

/* Where ptxas is, it makes the code here, on all cores; else the driver makes it where it runs. */
static int choose_kind(SearchCompiler *c) {
  char ptxas[TOOL_PATH];
  bool cpu = !strncmp(c->search->device, "cpu", 3);
  c->kind = cpu ? NEREID_C : tool_find_ptxas(ptxas) ? NEREID_CUBIN : NEREID_PTX;
  return cpu ? nereid_device_open(&c->host, c->search->device) : 0;
}

/* What is measured on the CPU has it for itself, after compiling; each gets half of the time. */
static double end_of(const SearchCompiler *c) {
  double end = c->search->end;
  return end > 0 && c->host ? (timing_now() + end) / 2 : end;
}

static void join(SearchCompiler *c) {
  for (int i = 0; i < c->nthreads; i++) pthread_join(c->threads[i], NULL);
  c->nthreads = 0;
}

int search_compiler_start(SearchCompiler **out, const Search *s) {
  SearchCompiler *c = *out = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory();
  c->search = s;
  c->done = calloc(s->n + 1, sizeof *c->done);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->ready, NULL);
  int code = c->done ? choose_kind(c) : error_out_of_memory();
  c->end = end_of(c);
  int most = host_cores() < THREADS_MOST ? host_cores() : THREADS_MOST;
  for (int i = 0; i < most && (size_t)i < s->n && !code; i++) {
    c->running++;
    if (!pthread_create(&c->threads[c->nthreads], NULL, work, c)) {
      c->nthreads++;
    } else {
      c->running--;
      if (!c->nthreads) code = error_out_of_memory();
      break;
    }
  }
  if (!code && c->host) join(c);
  if (!code) return 0;
  search_compiler_free(c);
  *out = NULL;
  return code;
}

bool search_compiler_next(SearchCompiler *c, CompiledCandidate *out) {
  pthread_mutex_lock(&c->lock);
  while (c->taken == c->ndone && c->running) pthread_cond_wait(&c->ready, &c->lock);
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
  c->stopped = true;
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
