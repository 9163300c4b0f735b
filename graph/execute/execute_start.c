/* What a run does between its inputs and its outputs.
 *
 * Launches keep their arguments.  A run looks only at inputs and outputs, which may lie elsewhere
 * than in the run before, and changes the launches that take those. */
#include "graph/execute/execute_state.h"
#include "graph/messages.h"

/* ---- pointers ---- */

void execute_find_uses(Executable *e) {
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

static int point(Executable *e, BufferState *b) {
  int code = 0;
  if (b->pointed == b->data) return 0;
  for (uint32_t i = 0; i < b->nuses && !code; i++) {
    const StepState *s = &e->steps[b->uses[i].step];
    int at = s->launch && !s->empty ? s->at[b->uses[i].arg] : -1;
    if (at >= 0) code = nereid_launch_set_pointer(s->launch, at, b->data);
  }
  b->pointed = code ? NULL : b->data;
  e->moved = true;
  return code;
}

int execute_point_all(Executable *e) {
  int code = 0;
  e->moved = true;
  for (uint32_t i = 0; i < e->plan->nbuffers && !code; i++) {
    e->buffers[i].pointed = NULL;
    code = point(e, &e->buffers[i]);
  }
  return code;
}

static int point_moved(Executable *e) {
  int code = 0;
  for (uint32_t i = 0; i < e->sizes->ninputs && !code; i++) {
    const PlanBuffer *b = e->sizes->inputs[i];
    if (b) code = point(e, &e->buffers[b - e->plan->buffers]);
  }
  for (uint32_t i = 0; i < e->plan->noutputs && !code; i++) code = point(e, execute_output(e, i));
  return code;
}

/* ---- one by one ---- */

static int mark(Executable *e, uint32_t i, nereid_stream *s) {
  return e->marks ? nereid_event_record(e->marks[i], s) : 0;
}

int execute_steps(Executable *e, uint32_t from, uint32_t to, nereid_stream *s) {
  int code = mark(e, from, s);
  for (uint32_t i = from; i < to && !code; i++) {
    if (!e->steps[i].empty) code = nereid_launch_run(e->steps[i].launch, s);
    if (!code) code = mark(e, i + 1, s);
  }
  return code;
}

/* Update i as a copy; false if there is nothing to do. */
static bool update_of(const Executable *e, uint32_t i, ReplayItem *out) {
  const BufferState *to = &e->buffers[e->plan->updates[i].to];
  const BufferState *from = &e->buffers[e->plan->updates[i].from];
  *out = (ReplayItem){.to = to->data, .from = from->data, .size = (size_t)from->bytes};
  return from->bytes && to->data != from->data;
}

static int check_updates(const Executable *e) {
  for (uint32_t i = 0; i < e->plan->nupdates; i++) {
    const BufferState *to = &e->buffers[e->plan->updates[i].to];
    const BufferState *from = &e->buffers[e->plan->updates[i].from];
    if (to->bytes != from->bytes)
      return error_set(NEREID_E_USAGE, E_GRAPH_UPDATE_SIZE, to->plan->name, (long long)to->bytes,
                       from->plan->name, (long long)from->bytes);
  }
  return 0;
}

static int run_updates(const Executable *e, nereid_stream *s) {
  ReplayItem copy;
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nupdates && !code; i++)
    if (update_of(e, i, &copy)) code = device_copy(e->device, copy.to, copy.from, copy.size, s);
  return code;
}

/* ---- all at once ---- */

static void list_items(Executable *e) {
  Recordings *r = &e->recordings;
  r->nitems = 0;
  for (uint32_t i = plan_once(e->plan); i < e->plan->nsteps; i++)
    if (!e->steps[i].empty) r->items[r->nitems++] = (ReplayItem){.launch = e->steps[i].launch};
  for (uint32_t i = 0; i < e->plan->nupdates; i++)
    r->nitems += update_of(e, i, &r->items[r->nitems]);
}

static int start_recorded(Executable *e, nereid_stream *s) {
  if (e->moved) list_items(e);
  int code = recordings_run(&e->recordings, e->sizes->values, e->moved, s);
  if (!code) e->moved = false;
  return code;
}

/* ---- sizes that data decides ---- */

static int read_size(Executable *e, const PlanRead *r, nereid_stream *s) {
  int64_t value = 0;
  const BufferState *b = &e->buffers[r->buffer];
  int code = b->data ? nereid_copy_out(e->device, &value, b->data, sizeof value, s) : 0;
  return code ? code : sizes_read(e->sizes, r, value);
}

/* The steps, with those that come behind a size made ready when it is read. */
static int run_steps(Executable *e, nereid_stream *s) {
  uint32_t from = plan_once(e->plan);
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nreads && !code; i++) {
    const PlanRead *r = &e->plan->reads[i];
    uint32_t to = r->step < e->plan->nsteps ? r->step : e->plan->nsteps;
    if (to > from) code = execute_steps(e, from, to, s);
    if (to > from) from = to;
    if (!code) code = read_size(e, r, s);
    if (!code) code = execute_resize(e, from);
  }
  return code ? code : execute_steps(e, from, e->plan->nsteps, s);
}

int execute_start(Executable *e, nereid_stream *s) {
  bool open = e->plan->nreads > 0; /* sizes are known behind the steps */
  int code = point_moved(e);
  if (!code && !open) code = check_updates(e);
  if (code) return code;
  if (e->replays && !e->marks) return start_recorded(e, s);
  code = run_steps(e, s);
  if (!code && open) code = check_updates(e);
  if (!code) code = run_updates(e, s);
  return code ? code : mark(e, e->plan->nsteps + 1, s);
}
