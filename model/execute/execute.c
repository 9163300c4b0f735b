#include "model/execute/execute.h"

#include <stdlib.h>
#include <string.h>

#include "model/execute/execute_state.h"
#include "model/execute/library_calls.h"
#include "model/messages.h"
#include "model/report/dump.h"
#include "planner/messages.h"
#include "runtime/device/device.h"
#include "runtime/launch/pools.h"
#include "runtime/support/array.h"

static int execute_resize(Execution *e, uint32_t first);

/* ---- from buffers to running launches ----
 *
 * Launches keep their arguments.  A run looks only at inputs and outputs, which may have other
 * addresses than in the run before, and changes the launches that take those. */

/* ---- pointers ---- */

/* Once: which arguments each buffer is. */
static void execute_find_uses(Execution *e) {
  const Plan *p = e->plan;
  for (uint32_t i = 0; i < p->nsteps; i++)
    for (uint32_t j = 0; j < p->steps[i].nargs; j++)
      if (p->steps[i].args[j].kind == STEP_BUFFER) e->buffers[p->steps[i].args[j].buffer].nuses++;
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    e->buffers[i].uses = ARENA_ARRAY(e->arena, BufferUse, e->buffers[i].nuses);
    e->buffers[i].nuses = 0;
  }
  for (uint32_t i = 0; i < p->nsteps; i++)
    for (uint32_t j = 0; j < p->steps[i].nargs; j++) {
      if (p->steps[i].args[j].kind != STEP_BUFFER) continue;
      BufferState *b = &e->buffers[p->steps[i].args[j].buffer];
      b->uses[b->nuses++] = (BufferUse){i, j};
    }
}

static void call_point(StepState *s, const PlanStep *step, uint32_t arg, char *data) {
  s->replay.version++;
  switch (call_arg_find(step->args[arg].name)) {
    case CALL_A: s->at.a = data; return;
    case CALL_B: s->at.b = data; return;
    case CALL_BIAS: s->at.bias = data; return;
    case CALL_SCALE_A: s->at.scale_a = data; return;
    case CALL_SCALE_B: s->at.scale_b = data; return;
    case CALL_OUT: s->at.out = data; return;
    default: s->at.workspace = data; return;
  }
}

static int point(Execution *e, BufferState *b) {
  int code = 0;
  if (b->pointed == b->data) return 0;
  for (uint32_t i = 0; i < b->nuses && !code; i++) {
    StepState *s = &e->steps[b->uses[i].step];
    const PlanStep *step = &e->plan->steps[b->uses[i].step];
    if (step->library) {
      call_point(s, step, b->uses[i].arg, b->data);
      continue;
    }
    int at = s->launch && !s->empty ? s->param[b->uses[i].arg] : -1;
    if (at >= 0) code = nereid_launch_set_pointer(s->launch, at, b->data);
  }
  b->pointed = code ? NULL : b->data;
  e->moved = true;
  return code;
}

/* After launches were made: each gets the addresses of all buffers that have one. */
static int execute_point_all(Execution *e) {
  int code = 0;
  e->moved = true;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    e->buffers[i].pointed = NULL;
    code = point(e, &e->buffers[i]);
  }
  return code;
}

static int point_moved(Execution *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->sizes->ninputs && !code; i++) {
    const PlanBuffer *b = e->sizes->inputs[i];
    if (b) code = point(e, &e->buffers[b - e->plan->buffers]);
  }
  for (uint32_t i = 0; e->pool_moved && i < e->plan->nbuffers && !code; i++)
    if (e->buffers[i].plan->kind == BUFFER_TEMPORARY) code = point(e, &e->buffers[i]);
  e->pool_moved = e->pool_moved && code;
  for (uint32_t i = 0; i < e->plan->noutputs && !code; i++) code = point(e, execute_output(e, i));
  return code;
}

/* ---- one by one ---- */

static int record_mark(Execution *e, uint32_t i, nereid_stream *s) {
  return e->marks ? nereid_event_record(e->marks[i], s) : 0;
}

static int run_step(StepState *step, nereid_stream *s) {
  return step->call ? library_run(step->call, &step->at, device_stream(s))
                    : nereid_launch_run(step->launch, s);
}

/* Steps `from` to `to`, which know their buffers. */
static int execute_steps(Execution *e, uint32_t from, uint32_t to, nereid_stream *s) {
  int code = record_mark(e, from, s);
  for (uint32_t i = from; i < to && !code; i++) {
    if (e->lends) code = execute_lend_step(e, i, point);
    if (!code && !e->steps[i].empty) code = run_step(&e->steps[i], s);
    if (e->lends && !code) execute_lend_end_step(e, i);
    if (!code) code = record_mark(e, i + 1, s);
  }
  return code;
}

/* Update i as a copy; false if there is nothing to do. */
static bool update_of(const Execution *e, uint32_t i, ReplayItem *out) {
  const BufferState *to = &e->buffers[e->plan->updates[i].to];
  const BufferState *from = &e->buffers[e->plan->updates[i].from];
  *out = (ReplayItem){.to = to->data, .from = from->data, .size = (size_t)from->bytes};
  return from->bytes && to->data != from->data;
}

static int check_updates(const Execution *e) {
  for (uint32_t i = 0; i < e->plan->nupdates; i++) {
    const BufferState *to = &e->buffers[e->plan->updates[i].to];
    const BufferState *from = &e->buffers[e->plan->updates[i].from];
    if (to->bytes != from->bytes)
      return error_set(NEREID_E_USAGE, E_GRAPH_UPDATE_SIZE, to->plan->name, (long long)to->bytes,
                       from->plan->name, (long long)from->bytes);
  }
  return 0;
}

static int run_updates(const Execution *e, nereid_stream *s) {
  ReplayItem copy;
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nupdates && !code; i++)
    if (update_of(e, i, &copy)) code = device_copy(e->device, copy.to, copy.from, copy.size, s);
  return code;
}

/* ---- all at once ---- */

static ReplayItem replay_item_of(const StepState *s) {
  return s->call ? (ReplayItem){.call = &s->replay} : (ReplayItem){.launch = s->launch};
}

static void list_replay_items(Execution *e) {
  Recordings *r = &e->recordings;
  r->nitems = 0;
  for (uint32_t i = plan_once(e->plan); i < e->plan->nsteps; i++)
    if (!e->steps[i].empty) r->items[r->nitems++] = replay_item_of(&e->steps[i]);
  for (uint32_t i = 0; i < e->plan->nupdates; i++)
    r->nitems += update_of(e, i, &r->items[r->nitems]);
}

static bool may_replay(const Execution *e) {
  return e->of->replay && !e->lends && !e->marks && !e->capturing;
}

static int start_recorded(Execution *e, nereid_stream *s, bool *started) {
  if (e->moved || !e->recordings.last) list_replay_items(e);
  int code = recordings_run(&e->recordings, e->sizes->values, e->moved, s, started);
  if (!code) e->moved = false;
  return code;
}

/* ---- sizes that data decides ---- */

static int read_data_size(Execution *e, const PlanRead *r, nereid_stream *s) {
  int64_t value = 0;
  const BufferState *b = &e->buffers[r->buffer];
  int code = b->data ? nereid_copy_out(e->device, &value, b->data, sizeof value, s) : 0;
  return code ? code : sizes_read(e->sizes, r, value);
}

/* ---- loops that data ends ---- */

static int execute_range(Execution *e, uint32_t from, uint32_t to, uint32_t loop, uint32_t past,
                         nereid_stream *s);

static int copy_next_values(const Execution *e, const PlanLoop *loop, nereid_stream *s) {
  int code = 0;
  for (uint32_t i = 0; i < loop->ncopies && !code; i++) {
    const BufferState *to = &e->buffers[loop->copies[i].to];
    const BufferState *from = &e->buffers[loop->copies[i].from];
    if (to->bytes != from->bytes)
      code = error_set(NEREID_E_USAGE, E_GRAPH_UPDATE_SIZE, to->plan->name, (long long)to->bytes,
                       from->plan->name, (long long)from->bytes);
    else if (to->bytes) code = device_copy(e->device, to->data, from->data, (size_t)to->bytes, s);
  }
  return code;
}

/* An iteration of loop number i; *more: its condition was true. */
static int execute_iteration(Execution *e, uint32_t i, bool *more, nereid_stream *s) {
  const PlanLoop *loop = &e->plan->loops[i];
  const uint32_t past = i + 1 + loop->inside;
  uint32_t inner = i + 1;
  while (inner < past && e->plan->loops[inner].past <= loop->body) inner++;
  int code = execute_range(e, loop->first, loop->body, i + 1, inner, s);
  if (!code)
    code = nereid_copy_out(e->device, more, e->buffers[loop->condition].data, sizeof *more, s);
  if (code || !*more) return code;
  code = execute_range(e, loop->body, loop->past, inner, past, s);
  return code ? code : copy_next_values(e, loop, s);
}

/* The first iteration's steps have marks; the last of them is where the loop ends. */
static int execute_loop(Execution *e, uint32_t i, nereid_stream *s) {
  const PlanLoop *loop = &e->plan->loops[i];
  nereid_event **marks = e->marks;
  bool more = false;
  int code = execute_iteration(e, i, &more, s);
  for (uint32_t k = loop->body; !more && !code && k < loop->past; k++)
    code = record_mark(e, k + 1, s);
  e->marks = NULL;
  while (more && !code) code = execute_iteration(e, i, &more, s);
  e->marks = marks;
  return code;
}

/* Steps `from` to `to`, in which loops `loop` to `past` are. */
static int execute_range(Execution *e, uint32_t from, uint32_t to, uint32_t loop, uint32_t past,
                         nereid_stream *s) {
  int code = 0;
  while (loop < past && !code) {
    const PlanLoop *l = &e->plan->loops[loop];
    code = execute_steps(e, from, l->first, s);
    if (!code) code = execute_loop(e, loop, s);
    from = l->past;
    loop += 1 + l->inside;
  }
  return code ? code : execute_steps(e, from, to, s);
}

/* The loops from number `loop` on that end before step `to`. */
static uint32_t loops_until(const Plan *p, uint32_t loop, uint32_t to) {
  while (loop < p->nloops && p->loops[loop].past <= to) loop += 1 + p->loops[loop].inside;
  return loop;
}

/* Runs the steps; those that depend on a size of the data are prepared once it is read. */
static int run_steps(Execution *e, nereid_stream *s) {
  uint32_t from = plan_once(e->plan), loop = 0;
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nreads && !code; i++) {
    const PlanRead *r = &e->plan->reads[i];
    uint32_t to = r->step < e->plan->nsteps ? r->step : e->plan->nsteps;
    uint32_t past = loops_until(e->plan, loop, to);
    if (to > from) code = execute_range(e, from, to, loop, past, s);
    if (to > from) from = to, loop = past;
    if (!code) code = read_data_size(e, r, s);
    if (!code) code = execute_resize(e, from);
  }
  return code ? code : execute_range(e, from, e->plan->nsteps, loop, e->plan->nloops, s);
}

/* All that a run does between its inputs and its outputs. */
static int execute_start(Execution *e, nereid_stream *s) {
  bool open = e->plan->nreads > 0; /* sizes are known after the steps */
  int code = point_moved(e);
  if (!code && !open) code = check_updates(e);
  if (code) return code;
  bool started = false;
  if (may_replay(e)) code = start_recorded(e, s, &started);
  if (code || started) return code;
  code = run_steps(e, s);
  if (!code && open) code = check_updates(e);
  if (!code) code = run_updates(e, s);
  return code ? code : record_mark(e, e->plan->nsteps + 1, s);
}

/* ---- making ---- */

static void allocate_state(Execution *e) {
  const Plan *p = e->plan;
  e->buffers = ARENA_ARRAY(e->arena, BufferState, p->nbuffers);
  e->steps = ARENA_ARRAY(e->arena, StepState, p->nsteps);
  e->items = ARENA_ARRAY(e->arena, MemoryItem, p->nbuffers);
  for (uint32_t i = 0; i < p->nbuffers; i++) {
    e->buffers[i].plan = &p->buffers[i];
    e->buffers[i].shape = ARENA_ARRAY(e->arena, int64_t, p->buffers[i].rank);
  }
  for (uint32_t i = 0; i < p->nsteps; i++)
    e->steps[i].param = ARENA_ARRAY(e->arena, int, p->steps[i].nargs);
  e->sizes = sizes_new(e->arena, p);
  e->prepared = ARENA_ARRAY(e->arena, int64_t, e->sizes->nsymbols);
  execute_find_uses(e);
  ReplayItem *items = ARENA_ARRAY(e->arena, ReplayItem, p->nsteps + p->nupdates);
  recordings_new(&e->recordings, e->device, e->of->replay, e->sizes->nsymbols, items);
}

static int make_execution_body(void *arg) {
  Execution *e = arg;
  allocate_state(e);
  return execute_find_weights(e);
}

int execution_new(Execution **out, Executable *of) {
  *out = NULL;
  Execution *e = calloc(1, sizeof *e);
  if (!e) return error_out_of_memory();
  *e = (Execution){.of = of, .arena = arena_new(), .plan = of->plan, .device = of->device};
  e->on_host = of->on_host;
  e->interprets = of->interprets;
  if (e->on_host) pools_join(e->device);
  int code = e->arena ? error_guard(e->arena, make_execution_body, e) : error_out_of_memory();
  if (code) execution_free(e);
  else *out = e;
  return code;
}

void execution_set_memory(Execution *e, const nereid_run_memory *m) {
  e->memory = *m;
  e->lends = execute_may_lend(e);
}

void execution_free(Execution *e) {
  if (!e) return;
  recordings_free(&e->recordings);
  for (uint32_t i = 0; e->steps && i < e->plan->nsteps; i++) {
    nereid_launch_free(e->steps[i].launch);
    library_end(e->steps[i].call);
  }
  execute_free_memory(e);
  arena_free(e->arena);
  free(e);
}

/* ---- preparing: what depends on sizes ---- */

/* Without `sizes`: of the steps whose kernels do not depend on them.  Under the lock. */
static int find_step_kernels(Execution *e, const Sizes *sizes) {
  Executable *x = e->of;
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nsteps && !code; i++)
    if (!e->plan->steps[i].library && (!e->steps[i].kernel || kernels_depend(&e->plan->steps[i])))
      code = kernels_find(&x->kernels, &e->plan->steps[i], sizes, &e->steps[i].kernel);
  bool waiting = x->kernels.compiled < x->kernels.list.len;
  double begin = stages_now();
  if (!code) code = kernels_compile(&x->kernels);
  return code || !waiting ? code : dump_kernels(x->stages, &x->kernels, begin);
}

static int find_kernels_body(void *execution) {
  Execution *e = execution;
  return find_step_kernels(e, e->sizes);
}

/* Their arena is the executable's. */
static int find_kernels(Execution *e) { return error_guard(e->of->arena, find_kernels_body, e); }

static const nereid_image *image_of(const StepState *s) { return s->kernel->kernel->image; }

static bool writes_argument(const Execution *e, uint32_t step, uint32_t arg) {
  const PlanStep *s = &e->plan->steps[step];
  if (s->library) return call_writes(call_arg_find(s->args[arg].name));
  const nereid_image *image = image_of(&e->steps[step]);
  int at = nereid_image_find_param(image, s->args[arg].name);
  return at >= 0 && image->params[at].written;
}

static void note_written_buffers(Execution *e) {
  for (uint32_t i = 0; i < e->plan->nupdates; i++)
    e->buffers[e->plan->updates[i].to].written = true;
  for (uint32_t i = 0; i < e->plan->nsteps; i++) {
    const PlanStep *step = &e->plan->steps[i];
    for (uint32_t j = 0; j < step->nargs; j++)
      if (step->args[j].kind == STEP_BUFFER && writes_argument(e, i, j))
        e->buffers[step->args[j].buffer].written = true;
  }
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    const BufferState *b = &e->buffers[i];
    e->writes_inputs |= b->written && b->plan->kind == BUFFER_INPUT;
  }
}

/* Does a kernel make it, and neither the caller nor a file? */
static bool is_made(const BufferState *b) {
  return b->plan->kind != BUFFER_INPUT && b->plan->kind != BUFFER_WEIGHT &&
         b->plan->kind != BUFFER_RECORDS;
}

/* A buffer that a step reads or the plan returns must have been written. */
static int check_buffer_written(const Execution *e, uint32_t i) {
  const BufferState *b = &e->buffers[i];
  if (!is_made(b) || b->written || b->bytes == 0) return 0;
  return error_set(NEREID_E_FILE, E_GRAPH_NOT_WRITTEN, b->plan->name);
}

static int check_all_written(const Execution *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->noutputs && !code; i++)
    code = check_buffer_written(e, e->plan->outputs[i]);
  for (uint32_t i = 0; i < e->plan->nsteps && !code; i++)
    for (uint32_t j = 0; j < e->plan->steps[i].nargs && !code; j++) {
      const StepArg *a = &e->plan->steps[i].args[j];
      if (a->kind == STEP_BUFFER) code = check_buffer_written(e, a->buffer);
    }
  return code;
}

static int eval_step_grid(const Execution *e, const PlanStep *step, bool *empty, uint32_t grid[3]) {
  *empty = false;
  for (int i = 0; i < 3; i++) {
    int64_t extent;
    if (!sizes_eval(e->sizes, step->grid[i], &extent) || extent < 0 || extent > UINT32_MAX)
      return error_set(NEREID_E_USAGE, E_GRAPH_STEP_GRID, step->kernel, i, (long long)extent);
    grid[i] = (uint32_t)extent;
    if (extent == 0) *empty = true;
  }
  return 0;
}

static int make_launch(const PlanStep *step, StepState *s, const uint32_t grid[3]) {
  if (s->launched == s->kernel) return nereid_launch_set_grid(s->launch, grid);
  nereid_launch_free(s->launch);
  s->launch = NULL;
  s->launched = NULL;
  int code = nereid_launch_new(&s->launch, s->kernel->kernel, grid);
  if (code) return code;
  s->launched = s->kernel;
  s->launch->start.part_of_model = true;
  if (s->kernel->request.pdl) code = nereid_launch_set_flags(s->launch, NEREID_LAUNCH_PDL);
  if (code) return code;
  for (uint32_t i = 0; i < step->nargs; i++)
    s->param[i] = nereid_image_find_param(image_of(s), step->args[i].name);
  return 0;
}

static int set_number(Execution *e, const PlanStep *step, StepState *s, uint32_t i) {
  const StepArg *a = &step->args[i];
  int64_t value;
  if (s->param[i] < 0 || a->kind == STEP_BUFFER) return 0;
  if (a->kind == STEP_FLOAT) return nereid_launch_set_float(s->launch, s->param[i], a->number);
  if (!sizes_eval(e->sizes, a->value, &value))
    return error_set(NEREID_E_USAGE, E_GRAPH_STEP_VALUE, step->kernel, a->name);
  return nereid_launch_set_int(s->launch, s->param[i], value);
}

/* A kernel's indices have 64 bits only where a tensor that it reads or writes has more elements
 * than others count whatever its symbols are. */
static int check_index_limit(const Execution *e, const PlanStep *step, const BufferState *b) {
  double least = 1;
  int64_t n = b->bytes / (int64_t)dtype_bytes(b->plan->dtype);
  if (n <= INT32_MAX) return 0;
  for (uint32_t axis = 0; axis < b->plan->rank; axis++)
    least *= (double)dim_range(e->plan->graph->dims, b->plan->shape[axis]).lo;
  if (least > INT32_MAX) return 0;
  return error_set(NEREID_E_USAGE, E_GRAPH_STEP_LARGE, step->kernel, b->plan->name, (long long)n);
}

/* Does the step make nothing but numbers that the model returns?  The host knows them. */
static bool makes_numbers(const Execution *e, const PlanStep *step) {
  bool numbers = false;
  for (uint32_t i = 0; i < step->nargs; i++) {
    if (step->args[i].kind != STEP_BUFFER) continue;
    if (!execute_is_number(&e->buffers[step->args[i].buffer])) return false;
    numbers = true;
  }
  return numbers;
}

/* ---- calls of libraries ---- */

static int start_call(void *context, void *stream) {
  StepState *s = context;
  return library_run(s->call, &s->at, stream);
}

/* A call keeps its algorithm while the sizes are the same. */
static int prepare_call(Execution *e, const PlanStep *step, StepState *s) {
  CallSizes x;
  int code = call_sizes(&x, e->plan, step, e->sizes);
  if (code) return code;
  s->empty = s->empty || x.empty;
  if (s->empty || (s->call && !memcmp(s->numbers, x.numbers, sizeof x.numbers))) return 0;
  LibraryCall *made;
  code = library_prepare(&made, e->device, step->library, &x.shape, x.workspace);
  if (code) return code;
  library_end(s->call);
  s->call = made;
  memcpy(s->numbers, x.numbers, sizeof x.numbers);
  s->replay.start = start_call;
  s->replay.context = s;
  s->replay.version++;
  return 0;
}

static int prepare_step(Execution *e, uint32_t i) {
  const PlanStep *step = &e->plan->steps[i];
  StepState *s = &e->steps[i];
  uint32_t grid[3];
  int code = eval_step_grid(e, step, &s->empty, grid);
  s->empty = s->empty || makes_numbers(e, step);
  if (!code && step->library) return prepare_call(e, step, s);
  if (code || s->empty) return code;
  code = make_launch(step, s, grid);
  for (uint32_t j = 0; j < step->nargs && !code; j++) {
    if (step->args[j].kind == STEP_BUFFER && s->param[j] >= 0)
      code = check_index_limit(e, step, &e->buffers[step->args[j].buffer]);
    if (!code) code = set_number(e, step, s, j);
  }
  return code;
}

/* ---- checking: before kernels are compiled ---- */

/* The first step that has a buffer writes it, if no caller and no file does. */
static int check_plan_step(const Execution *e, uint32_t i) {
  const PlanStep *step = &e->plan->steps[i];
  bool empty = step->library;
  uint32_t grid[3];
  int code = step->library ? 0 : eval_step_grid(e, step, &empty, grid);
  for (uint32_t j = 0; j < step->nargs && !code && !empty; j++) {
    if (step->args[j].kind != STEP_BUFFER) continue;
    const BufferState *b = &e->buffers[step->args[j].buffer];
    if (!is_made(b) || b->uses[0].step == i) code = check_index_limit(e, step, b);
  }
  return code;
}

/* Sizes that were read have changed since. */
static bool same_sizes(const Execution *e) {
  return e->ready && !e->plan->nreads &&
         !memcmp(e->prepared, e->sizes->values, e->sizes->nsymbols * sizeof *e->prepared);
}

static int check_all_inputs(Execution *e, const nereid_tensor *inputs, int n) {
  int code = sizes_bind(e->sizes, inputs, n);
  if (code || same_sizes(e)) return code;
  e->ready = false;
  code = execute_measure(e);
  for (uint32_t i = 0; i < e->plan->nsteps && !code; i++) code = check_plan_step(e, i);
  return code;
}

/* The constant part, before the first run of all. */
static int run_constant_part(Execution *e) {
  uint32_t once = plan_once(e->plan);
  if (e->settled) return 0;
  int code = once ? execute_place_temporaries(e, (ExecutionMemory){0}) : 0;
  if (!code && once) code = execute_point_all(e);
  if (!code) code = execute_steps(e, 0, once, NULL);
  if (!code && once) code = device_wait(e->device);
  if (!code && once) code = execute_check_records(e); /* each run is told of its indices */
  if (code) return code;
  execute_release(e);
  execute_keep(e);
  return 0;
}

/* Only steps that still run. */
static int prepare_steps(Execution *e) {
  int code = 0;
  uint32_t first = e->settled ? plan_once(e->plan) : 0;
  for (uint32_t i = first; i < e->plan->nsteps && !code; i++) code = prepare_step(e, i);
  return code;
}

/* A call's algorithm is known now, and so is what it needs of its workspace. */
static void measure_workspaces(Execution *e) {
  for (uint32_t i = plan_once(e->plan); i < e->plan->nsteps; i++) {
    const PlanStep *step = &e->plan->steps[i];
    const StepState *s = &e->steps[i];
    for (uint32_t j = 0; j < step->nargs && step->library; j++) {
      if (call_arg_find(step->args[j].name) != CALL_WORKSPACE) continue;
      BufferState *b = &e->buffers[step->args[j].buffer];
      bool alone = b->lent && b->nuses == 1;
      if (alone) b->bytes = s->empty ? 0 : library_call_workspace(s->call);
    }
  }
}

static int prepare_memory(void *execution) {
  Execution *e = execution;
  note_written_buffers(e);
  int code = execute_allocate_buffers(e);
  if (!code) code = check_all_written(e);
  if (!code) code = prepare_steps(e);
  if (!code) measure_workspaces(e);
  if (!code) code = execute_point_all(e);
  return code ? code : run_constant_part(e);
}

/* The first execution that gets here loads the weights, and the others wait for it. */
static int prepare_sizes(Execution *e) {
  pthread_mutex_lock(&e->of->lock);
  int code = find_kernels(e);
  execute_take_kept(e);
  bool first = !e->settled;
  if (!first) pthread_mutex_unlock(&e->of->lock);
  if (!code) code = error_guard(e->arena, prepare_memory, e);
  if (first) pthread_mutex_unlock(&e->of->lock);
  return code;
}

static int prepare_run(Execution *e, const nereid_tensor *inputs, int n) {
  int code = check_all_inputs(e, inputs, n);
  if (code || e->ready) return code;
  code = prepare_sizes(e);
  if (code) return code;
  e->ready = true;
  memcpy(e->prepared, e->sizes->values, e->sizes->nsymbols * sizeof *e->prepared);
  return 0;
}

/* Makes the steps from `first` on ready for sizes that have changed; memory stays where it is. */
static int execute_resize(Execution *e, uint32_t first) {
  int code = execute_measure_again(e);
  pthread_mutex_lock(&e->of->lock);
  if (!code) code = find_kernels(e);
  pthread_mutex_unlock(&e->of->lock);
  for (uint32_t i = first; i < e->plan->nsteps && !code; i++) code = prepare_step(e, i);
  return code ? code : execute_point_all(e);
}

/* ---- running ---- */

typedef struct {
  Execution *e;
  const ExecutionCall *call;
} Run;

/* A static input has its memory since the first run. */
static bool has_memory(const Execution *e, uint32_t i) { return e->bound && e->of->is_static[i]; }

static int bind_tensors(const Run *r) {
  Execution *e = r->e;
  const ExecutionCall *c = r->call;
  int code = execute_place_temporaries(e, c->memory);
  for (uint32_t i = 0; i < e->plan->noutputs; i++) execute_output(e, i)->aimed = false;
  for (uint32_t i = 0; i < e->sizes->ninputs && !code; i++)
    if (!has_memory(e, i)) code = execute_take_input(e, i, &c->inputs[i], c->stream);
  if (!code && e->memory.output) code = execute_lend_begin(e, c->outputs);
  for (uint32_t i = 0; i < e->plan->noutputs && !code; i++)
    if (!execute_output(e, i)->lent) code = execute_aim_output(e, i, &c->outputs[i]);
  return code;
}

static int finish_tensors(const Run *r) {
  Execution *e = r->e;
  const ExecutionCall *c = r->call;
  int code = 0;
  for (uint32_t i = 0; i < e->plan->noutputs && !code; i++)
    code = execute_give_output(e, i, &c->outputs[i], c->stream);
  for (uint32_t i = 0; e->writes_inputs && i < e->sizes->ninputs && !code; i++)
    code = execute_write_back(e, i, &c->inputs[i], c->stream);
  return code;
}

/* A first run tells of data that it can't use before it compiles. */
static int check_data(const Run *r) {
  const ExecutionCall *c = r->call;
  int code = check_all_inputs(r->e, c->inputs, c->ninputs);
  for (int i = 0; i < c->ninputs && !code; i++)
    code = execute_check_input(r->e, (uint32_t)i, &c->inputs[i]);
  return code;
}

/* Nothing is read on the host in a stream that is captured. */
static int check_capture(const Run *r) {
  const Plan *p = r->e->plan;
  if (p->nreads)
    return error_set(NEREID_E_USAGE, E_GRAPH_CAPTURE_READS, p->buffers[p->reads[0].buffer].name);
  if (p->nloops)
    return error_set(NEREID_E_USAGE, E_GRAPH_CAPTURE_LOOPS, p->buffers[p->loops[0].condition].name);
  for (int i = 0; i < r->call->noutputs && (uint32_t)i < p->noutputs; i++) {
    const nereid_tensor *t = &r->call->outputs[i];
    bool copied = t->data && !execute_is_number(execute_output(r->e, (uint32_t)i));
    if (copied && execute_is_on_host(t))
      return error_set(NEREID_E_USAGE, E_GRAPH_CAPTURE_OUTPUT, i, p->buffers[p->outputs[i]].name);
  }
  return 0;
}

static int start_run_body(void *arg) {
  const Run *r = arg;
  Execution *e = r->e;
  const ExecutionCall *c = r->call;
  e->capturing = device_is_capturing(e->device, c->stream);
  int code = e->capturing ? check_capture(r) : execute_check_records(e);
  if (!code && !e->capturing) code = execute_check_captured(e);
  if (!code && !e->ready) code = check_data(r);
  if (!code) code = prepare_run(e, c->inputs, c->ninputs);
  if (code) return code;
  if (c->noutputs < 0 || (uint32_t)c->noutputs != e->plan->noutputs)
    return error_set(NEREID_E_USAGE, E_GRAPH_OUTPUT_COUNT, e->plan->noutputs, c->noutputs);
  code = bind_tensors(r);
  if (!code) code = execute_start(e, c->stream);
  if (!code) code = finish_tensors(r);
  execute_lend_finish(e);
  if (e->capturing) execute_note_captured(e);
  if (!code && e->on_host) code = execute_check_records(e);
  e->bound = !code;
  return code;
}

int execution_run(Execution *e, const ExecutionCall *c) {
  Run r = {e, c};
  e->sizes->refused = false;
  int code = error_guard_stage(e->arena, "run", start_run_body, &r);
  execute_leave_pool(e);
  return code;
}

static int prepare_run_body(void *arg) {
  const Run *r = arg;
  int code = prepare_run(r->e, r->call->inputs, r->call->ninputs);
  return code ? code : execute_check_values(r->e, r->call->inputs);
}

static int check_body(void *arg) {
  const Run *r = arg;
  return check_all_inputs(r->e, r->call->inputs, r->call->ninputs);
}

static int check_data_body(void *arg) { return check_data(arg); }

int execution_check(Execution *e, const nereid_tensor *inputs, int n, bool data) {
  Run r = {e, &(ExecutionCall){.inputs = inputs, .ninputs = n}};
  e->sizes->refused = false;
  return error_guard(e->arena, data ? check_data_body : check_body, &r);
}

int execution_prepare(Execution *e, const nereid_tensor *inputs, int n) {
  Run r = {e, &(ExecutionCall){.inputs = inputs, .ninputs = n}};
  e->sizes->refused = false;
  int code = error_guard(e->arena, prepare_run_body, &r);
  execute_leave_pool(e);
  return code;
}

/* ---- what there is ---- */

bool execution_is_ready(const Execution *e) { return e->ready; }

bool execution_refused(const Execution *e) { return e->sizes->refused; }

bool execution_writes(const Execution *e, uint32_t i) {
  const PlanBuffer *b = e->sizes->inputs[i];
  return b && e->buffers[b - e->plan->buffers].written;
}

typedef struct {
  Execution *e;
  const nereid_tensor *given;
  int n;
  uint32_t i;
  int64_t *shape;
} Choice;

static int choose_body(void *arg) {
  const Choice *c = arg;
  const Sizes *sizes = c->e->sizes;
  const PlanBuffer *b = sizes->inputs[c->i];
  int code = sizes_bind_some(c->e->sizes, c->given, c->n);
  if (code || !b->value) return code ? code : sizes_shape(sizes, b, c->shape);
  return sizes_eval(sizes, b->value, c->shape)
             ? 0
             : error_set(NEREID_E_USAGE, E_GRAPH_NO_SIZE, plan_passed_name(b), 0, "a number");
}

int execution_input_shape(Execution *e, const nereid_tensor *given, int n, uint32_t i,
                          int64_t *shape) {
  Choice c = {e, given, n, i, shape};
  return error_guard(e->arena, choose_body, &c);
}

static int follows_body(void *arg) {
  const Choice *c = arg;
  return sizes_follows(c->e->sizes, c->given, c->n, c->e->sizes->inputs[c->i]);
}

int execution_input_follows(Execution *e, const nereid_tensor *given, int n, uint32_t i) {
  Choice c = {e, given, n, i, NULL};
  return error_guard(e->arena, follows_body, &c);
}

ExecutionStatistics execution_statistics(const Execution *e) {
  ExecutionStatistics s = {.kernels = (uint32_t)e->of->kernels.list.len};
  s.pool = e->interprets ? 0 : e->pool_used;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) {
    const BufferState *b = &e->buffers[i];
    switch (b->plan->kind) {
      case BUFFER_INPUT: s.inputs += b->bytes; break;
      case BUFFER_OUTPUT: s.outputs += b->bytes; break;
      case BUFFER_TEMPORARY: s.temporaries += b->bytes; break;
      case BUFFER_CONSTANT: s.weights += b->bytes; break;
      case BUFFER_RECORDS: break;
      case BUFFER_WEIGHT:
        if (!b->released) *(b->mapped ? &s.mapped : &s.weights) += b->bytes;
        break;
    }
  }
  for (uint32_t i = plan_once(e->plan); i < e->plan->nsteps; i++) s.launches += !e->steps[i].empty;
  return s;
}
