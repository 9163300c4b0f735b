/* Plans on a device: kernels, and the state that all executions share. */
#include <stdlib.h>

#include "model/execute/execute_state.h"
#include "model/messages.h"
#include "model/report/dump.h"

/* Devices that take one launch as well as many run as in mode default. */
static void choose_replay(Executable *e, const ExecuteOptions *o) {
  bool reads = e->plan->nreads || e->plan->nloops; /* on the host, between launches */
  if (reads) return;
  if (replay_is_supported(e->device)) e->replay = o->replay;
  else if (o->replay == REPLAY_ALWAYS && !e->on_host) device_note(e->device, N_GRAPH_NO_REPLAY);
}

/* Compiles the kernels that do not depend on sizes. */
static int compile_kernels(Executable *e) {
  PlanKernel *found;
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nsteps && !code; i++)
    if (!e->plan->steps[i].library)
      code = kernels_find(&e->kernels, &e->plan->steps[i], NULL, &found);
  double begin = stages_now();
  bool waiting = e->kernels.compiled < e->kernels.list.len;
  if (!code) code = kernels_compile(&e->kernels);
  return code || !waiting ? code : dump_kernels(e->stages, &e->kernels, begin);
}

typedef struct {
  Executable *e;
  const ExecuteOptions *options;
} Making;

/* Interpreters define what is right: they call no library, nor does a device another's. */
static int check_calls(const Executable *e) {
  for (uint32_t i = 0; i < e->plan->nsteps; i++) {
    const PlanStep *s = &e->plan->steps[i];
    if (s->library && library_kind(s->library) != device_kind(e->device))
      return error_set(NEREID_E_USAGE, E_GRAPH_CALL_DEVICE, s->kernel, e->device->name);
  }
  return 0;
}

static int make_executable_body(void *arg) {
  const Making *m = arg;
  Executable *e = m->e;
  int unfit = check_calls(e);
  if (unfit) return unfit;
  e->kept = ARENA_ARRAY(e->arena, KeptMemory, e->plan->nbuffers);
  e->borrowed = ARENA_ARRAY(e->arena, const void *, e->plan->nbuffers);
  choose_replay(e, m->options);
  int code = execution_new(&e->main, e);
  if (code) return code;
  e->is_static = ARENA_ARRAY(e->arena, bool, e->main->sizes->ninputs);
  code = kernels_open(&e->kernels, e->arena, e->plan, e->device);
  e->kernels.count = m->options->count;
  e->kernels.images = m->options->images;
  return code || m->options->defer ? code : compile_kernels(e);
}

int executable_new(Executable **out, const Plan *p, const Weights *weights, nereid_device *d,
                   const ExecuteOptions *options) {
  *out = NULL;
  Executable *e = calloc(1, sizeof *e);
  if (!e) return error_out_of_memory();
  *e = (Executable){.arena = arena_new(), .plan = p, .weights = weights, .device = d};
  pthread_mutex_init(&e->lock, NULL);
  e->stages = options->stages;
  e->on_host = d->ops != &device_cuda;
  e->interprets = d->ops == &device_interp || d->ops == &device_nest;
  Making m = {e, options};
  int code = e->arena ? error_guard_stage(e->arena, "load", make_executable_body, &m)
                      : error_out_of_memory();
  if (code) executable_free(e);
  else *out = e;
  return code;
}

void executable_free(Executable *e) {
  if (!e) return;
  execution_free(e->main);
  kernels_close(&e->kernels);
  for (uint32_t i = 0; e->kept && i < e->plan->nbuffers; i++)
    nereid_free(e->device, e->kept[i].own);
  for (uint32_t i = 0; e->borrowed && i < e->plan->nbuffers; i++)
    if (e->borrowed[i]) device_return(e->device, e->borrowed[i]);
  pthread_mutex_destroy(&e->lock);
  arena_free(e->arena);
  free(e);
}

void executable_lock(Executable *e) { pthread_mutex_lock(&e->lock); }
void executable_unlock(Executable *e) { pthread_mutex_unlock(&e->lock); }
PlanKernels *executable_kernels(Executable *e) { return &e->kernels; }
void executable_forget_images(Executable *e) { e->kernels.images = NULL; }

static int compile_body(void *executable) { return compile_kernels(executable); }

int executable_compile(Executable *e) { return error_guard(e->arena, compile_body, e); }

Execution *executable_main(const Executable *e) { return e->main; }

void executable_set_static(Executable *e, uint32_t i) { e->is_static[i] = true; }

uint32_t executable_inputs(const Executable *e) { return e->main->sizes->ninputs; }
uint32_t executable_outputs(const Executable *e) { return e->plan->noutputs; }

const PlanBuffer *executable_input(const Executable *e, uint32_t i) {
  return i < executable_inputs(e) ? e->main->sizes->inputs[i] : NULL;
}

const PlanBuffer *executable_output(const Executable *e, uint32_t i) {
  return i < e->plan->noutputs ? &e->plan->buffers[e->plan->outputs[i]] : NULL;
}
