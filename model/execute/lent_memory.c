/* Memory that the caller lends step by step (nereid_run_memory).
 *
 * Large temporaries and outputs get memory in front of the first step that has them.  Temporaries
 * give it back after their last step, and inputs are left there, so that a run has no more at once
 * than what is alive. */
#include <string.h>

#include "model/execute/execute_state.h"
#include "model/messages.h"

/* Sizes that data decides, and loops, need all of the memory before the steps. */
bool execute_may_lend(const Execution *e) {
  return e->memory.output && !e->plan->nreads && !e->plan->nloops && !e->interprets &&
         e->of->replay != REPLAY_ALWAYS;
}

static uint32_t first_step(const BufferState *b) { return b->uses[0].step; }
static uint32_t last_step(const BufferState *b) { return b->uses[b->nuses - 1].step; }

/* ---- what is lent ---- */

static bool is_lent_output(const Execution *e, const BufferState *b) {
  return b->plan->kind == BUFFER_OUTPUT && b->nuses && first_step(b) >= plan_once(e->plan) &&
         b->bytes && !execute_is_number(b);
}

/* Each output without memory that a kernel writes, once; others are copies of it. */
static void note_outputs(Execution *e, const nereid_tensor *outputs) {
  for (uint32_t i = 0; i < e->plan->noutputs && e->lends; i++) {
    BufferState *b = execute_output(e, i);
    if (b->lent || outputs[i].data || !is_lent_output(e, b)) continue;
    b->lent = true;
    b->caller = i;
  }
}

/* An input that the run returns or writes is the caller's to the end. */
static void note_inputs(Execution *e) {
  for (uint32_t i = 0; i < e->sizes->ninputs && e->lends; i++) {
    const PlanBuffer *plan = e->sizes->inputs[i];
    BufferState *b = plan ? &e->buffers[plan - e->plan->buffers] : NULL;
    if (!b || (b->written && !plan->overwritten) || e->of->is_static[i]) continue;
    b->lent = true;
    b->caller = i;
  }
  for (uint32_t i = 0; i < e->plan->noutputs; i++) {
    BufferState *b = execute_output(e, i);
    if (b->plan->kind == BUFFER_INPUT) b->lent = false;
  }
  for (uint32_t i = 0; i < e->plan->nupdates; i++)
    e->buffers[e->plan->updates[i].from].lent &=
        e->buffers[e->plan->updates[i].from].plan->kind != BUFFER_INPUT;
}

static void input_done(Execution *e, BufferState *b) {
  b->lent = false;
  b->data = NULL; /* what gets this memory next overlaps no input */
  e->memory.input_done(e->memory.context, (int)b->caller);
}

static int take_output(Execution *e, uint32_t i, nereid_tensor *t) {
  int code = e->memory.output(e->memory.context, (int)i, t);
  if (code) return error_set(NEREID_E_MEMORY, E_GRAPH_LENT, execute_output(e, i)->plan->name);
  return 0;
}

int execute_lend_begin(Execution *e, nereid_tensor *outputs) {
  int code = 0;
  for (uint32_t i = 0; i < e->plan->nbuffers; i++)
    if (e->buffers[i].plan->kind != BUFFER_TEMPORARY) e->buffers[i].lent = false;
  note_outputs(e, outputs);
  note_inputs(e);
  for (uint32_t i = 0; i < e->plan->noutputs && !code; i++) {
    const BufferState *b = execute_output(e, i);
    bool later = b->lent && b->plan->kind == BUFFER_OUTPUT && b->caller == i;
    if (!later && !outputs[i].data && !execute_is_number(b)) code = take_output(e, i, &outputs[i]);
  }
  for (uint32_t i = 0; i < e->plan->nbuffers && e->lends; i++) {
    BufferState *b = &e->buffers[i];
    if (b->plan->kind == BUFFER_INPUT && b->lent && !b->nuses) input_done(e, b);
  }
  e->outputs = outputs;
  return code;
}

/* ---- step by step ---- */

static int lend(Execution *e, BufferState *b) {
  if (b->plan->kind == BUFFER_OUTPUT) {
    int code = take_output(e, b->caller, &e->outputs[b->caller]);
    b->lent = false;
    return code ? code : execute_aim_output(e, b->caller, &e->outputs[b->caller]);
  }
  if (!b->bytes) return 0; /* workspace of a call that needs none */
  b->data = e->memory.take(e->memory.context, b->bytes, &b->handle);
  return b->data ? 0 : error_set(NEREID_E_MEMORY, E_GRAPH_LENT, b->plan->name);
}

static void give_back(Execution *e, BufferState *b) {
  if (b->handle) e->memory.give_back(e->memory.context, b->handle);
  b->handle = NULL;
}

static BufferState *buffer_of(const Execution *e, const PlanStep *step, uint32_t arg) {
  if (step->args[arg].kind != STEP_BUFFER) return NULL;
  BufferState *b = &e->buffers[step->args[arg].buffer];
  return b->lent ? b : NULL;
}

int execute_lend_step(Execution *e, uint32_t i, LentMoved *moved) {
  const PlanStep *step = &e->plan->steps[i];
  int code = 0;
  for (uint32_t j = 0; j < step->nargs && !code; j++) {
    BufferState *b = buffer_of(e, step, j);
    if (!b || b->plan->kind == BUFFER_INPUT || first_step(b) != i || b->handle) continue;
    code = lend(e, b);
    if (!code) code = moved(e, b);
  }
  return code;
}

void execute_lend_end_step(Execution *e, uint32_t i) {
  const PlanStep *step = &e->plan->steps[i];
  for (uint32_t j = 0; j < step->nargs; j++) {
    BufferState *b = buffer_of(e, step, j);
    if (!b || last_step(b) != i) continue;
    if (b->plan->kind == BUFFER_INPUT) input_done(e, b);
    else give_back(e, b);
  }
}

/* It is called after a failure too. */
void execute_lend_finish(Execution *e) {
  for (uint32_t i = 0; i < e->plan->nbuffers; i++) give_back(e, &e->buffers[i]);
  e->outputs = NULL;
}
