/* A run: the memory of all buffers, the steps, copies to the caller. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

typedef struct {
  model *m;
  const model_tensor *inputs;
  model_tensor *outputs;
  void *stream;
  int64_t pool; /* bytes that this run needs */
} Call;

/* ---- memory of tensors ---- */

/* Can kernels use the tensor where it is? */
static bool usable(const model_tensor *t) {
  const bool here = model_device_is_host() ? !t->on_device : t->on_device;
  return here && t->data && (uintptr_t)t->data % KERNEL_ALIGNMENT == 0;
}

static int64_t stage(Call *c, int64_t bytes) {
  const int64_t at = c->pool;
  c->pool += memory_aligned(bytes);
  return at;
}

static int check_tensor(const model_tensor *t, int64_t bytes, const char *what, int i,
                        const char *name) {
  if (bytes && !t->data) return model_fail(MODEL_E_USAGE, "%s %d (%s) has no data", what, i, name);
  if (t->on_device && model_device_is_host())
    return model_fail(MODEL_E_USAGE, "%s %d (%s) is on a GPU, but the model runs on a CPU", what, i,
                      name);
  return 0;
}

/* Tensors that kernels can't use in place are copied to memory after the temporaries. */
static int stage_input(Call *c, int i) {
  const int b = model_plan.input_buffers[i];
  if (b < 0) return 0;
  const model_tensor *t = &c->inputs[i];
  const int code = check_tensor(t, c->m->bytes[b], "input", i, model_plan.inputs[i].name);
  if (code) return code;
  c->m->offset[b] = usable(t) ? -1 : stage(c, c->m->bytes[b]);
  return 0;
}

/* Of outputs that are one buffer, the first one decides where it is. */
static bool decides(int i) {
  const int b = model_plan.output_buffers[i];
  return model_plan.buffers[b].kind == OUTPUT && model_plan.buffers[b].number == i;
}

static int stage_output(Call *c, int i) {
  const int b = model_plan.output_buffers[i];
  const model_tensor *t = &c->outputs[i];
  int code = 0;
  if (t->data) code = model_check_output(c->m, i, t);
  if (t->data && !code)
    code = check_tensor(t, c->m->bytes[b], "output", i, model_plan.outputs[i].name);
  if (!code && decides(i)) c->m->offset[b] = usable(t) ? -1 : stage(c, c->m->bytes[b]);
  return code;
}

static int grow_pool(model *m, int64_t bytes) {
  if (m->pool && bytes <= m->pool_bytes) return 0;
  model_device_free(m->device, m->pool);
  m->pool = NULL;
  m->pool_bytes = 0;
  const int code = model_device_alloc(m->device, &m->pool, bytes, "temporaries");
  if (!code) m->pool_bytes = bytes;
  return code;
}

/* NULL for weights that are not there any more. */
static char *buffer_data(const Call *c, int b) {
  const model *m = c->m;
  const Buffer *buffer = &model_plan.buffers[b];
  switch (buffer->kind) {
    case WEIGHT:
      if (buffer->at < model_plan.weights_kept) return m->weights + buffer->at;
      return m->first ? m->first + (buffer->at - model_plan.weights_kept) : NULL;
    case STATE: return m->state + buffer->state;
    case CONSTANT: return m->constants + buffer->at;
    case RECORDS: return (char *)m->records + buffer->at;
    case INPUT:
      if (m->offset[b] < 0) return c->inputs[buffer->number].data;
      break;
    case OUTPUT:
      if (m->offset[b] < 0) return c->outputs[buffer->number].data;
      break;
    case TEMPORARY: break;
  }
  return m->pool + m->offset[b];
}

static void find_data(const Call *c) {
  for (int b = 0; b < model_plan.nbuffers; b++) c->m->data[b] = buffer_data(c, b);
}

/* An input that decided shapes when the model was built must have that value still. */
static int check_value(const Call *c, int i) {
  const model_tensor *t = &c->inputs[i];
  const int b = model_plan.input_buffers[i];
  const int64_t bytes = b < 0 ? 0 : c->m->bytes[b];
  if (!model_plan.fixed[i] || bytes == 0) return 0;
  char *copy = t->on_device ? malloc((size_t)bytes) : NULL;
  int code = 0;
  if (copy) code = model_device_copy(c->m->device, copy, t->data, bytes, COPY_OUT, c->stream);
  if (copy && !code) code = model_device_sync(c->m->device, c->stream);
  if (t->on_device && !copy) code = model_fail(MODEL_E_MEMORY, "out of memory");
  if (!code && memcmp(copy ? copy : t->data, model_plan.fixed[i], (size_t)bytes) != 0)
    code = model_fail(MODEL_E_USAGE,
                      "input %d (%s) decides shapes, and was another when the model was built", i,
                      model_plan.inputs[i].name);
  free(copy);
  return code;
}

static int bind_tensors(Call *c) {
  int code = 0;
  c->pool = c->m->temporaries;
  for (int i = 0; i < MODEL_INPUTS && !code; i++) code = stage_input(c, i);
  for (int i = 0; i < MODEL_INPUTS && !code; i++) code = check_value(c, i);
  for (int i = 0; i < MODEL_OUTPUTS && !code; i++) code = stage_output(c, i);
  if (!code && c->pool > MEMORY_LIMIT)
    code = model_fail(MODEL_E_MEMORY, "inputs and outputs would take more than 2^48 bytes");
  if (!code) code = grow_pool(c->m, c->pool);
  if (!code) find_data(c);
  return code;
}

/* ---- copies ---- */

static CopyWay way_in(const model_tensor *t) { return t->on_device ? COPY_WITHIN : COPY_IN; }
static CopyWay way_out(const model_tensor *t) { return t->on_device ? COPY_WITHIN : COPY_OUT; }

static int copy_inputs(const Call *c) {
  int code = 0;
  for (int i = 0; i < MODEL_INPUTS && !code; i++) {
    const int b = model_plan.input_buffers[i];
    const model_tensor *t = &c->inputs[i];
    if (b >= 0 && c->m->data[b] != t->data)
      code = model_device_copy(c->m->device, c->m->data[b], t->data, c->m->bytes[b], way_in(t),
                               c->stream);
  }
  return code;
}

static int update(const Call *c) {
  const model *m = c->m;
  int code = 0;
  for (int i = 0; i < model_plan.nupdates && !code; i++) {
    const Update *u = &model_plan.updates[i];
    code = model_device_copy(m->device, m->data[u->to], m->data[u->from],
                             model_bytes(m->bytes, u->from), COPY_WITHIN, c->stream);
  }
  return code;
}

/* Inputs that the model writes to; *host: something was copied to the host. */
static int give_inputs(const Call *c, bool *host) {
  int code = 0;
  for (int i = 0; i < MODEL_INPUTS && !code; i++) {
    const int b = model_plan.input_buffers[i];
    const model_tensor *t = &c->inputs[i];
    if (b < 0 || !model_plan.buffers[b].written || c->m->data[b] == t->data) continue;
    *host |= !t->on_device;
    code = model_device_copy(c->m->device, t->data, c->m->data[b], c->m->bytes[b], way_out(t),
                             c->stream);
  }
  return code;
}

static int give_outputs(const Call *c, bool *host) {
  int code = 0;
  for (int i = 0; i < MODEL_OUTPUTS && !code; i++) {
    const int b = model_plan.output_buffers[i];
    model_tensor *t = &c->outputs[i];
    if (t->data && c->m->data[b] != t->data) {
      *host |= !t->on_device;
      code = model_device_copy(c->m->device, t->data, c->m->data[b], c->m->bytes[b], way_out(t),
                               c->stream);
    }
  }
  return code;
}

/* Outputs without data are told where they are. */
static int fill_in(const Call *c) {
  model_tensor all[MODEL_OUTPUTS + 1];
  const int code = model_describe(c->m, c->inputs, all);
  for (int i = 0; i < MODEL_OUTPUTS && !code; i++) {
    if (c->outputs[i].data) continue;
    c->outputs[i] = all[i];
    c->outputs[i].data = c->m->data[model_plan.output_buffers[i]];
    c->outputs[i].on_device = !model_device_is_host();
  }
  return code;
}

/* ---- all ---- */

static int run_steps(const Call *c, int from, int to) {
  Run r = {c->m->size, c->m->data, c->m->device, c->stream};
  int code = 0;
  for (int i = from; i < to && !code; i++) code = model_plan.steps[i](&r);
  return code;
}

/* Computes constants once; then weights that no other step reads are freed on a GPU. */
static int settle(const Call *c) {
  model *m = c->m;
  if (m->settled) return 0;
  int code = run_steps(c, 0, model_plan.nonce);
  if (!code && model_plan.nonce) code = model_sync(m, c->stream);
  if (!code && model_plan.nonce) code = model_check(m, c->stream); /* each run is told */
  if (code) return code;
  m->settled = true;
  if (!model_device_is_host()) {
    model_device_free(m->device, m->first);
    m->first = NULL;
    find_data(c);
  }
  return 0;
}

static int copy_next_values(const Call *c, const Loop *l) {
  const model *m = c->m;
  int code = 0;
  for (const Update *u = l->copies; u->to >= 0 && !code; u++)
    code = model_device_copy(m->device, m->data[u->to], m->data[u->from],
                             model_bytes(m->bytes, u->from), COPY_WITHIN, c->stream);
  return code;
}

static int read_condition(const Call *c, const Loop *l, bool *more) {
  const char *data = c->m->data[l->condition];
  int code = model_device_copy(c->m->device, more, data, sizeof *more, COPY_OUT, c->stream);
  if (!code) code = model_device_sync(c->m->device, c->stream);
  return code;
}

/* Steps `from` to `to`, in which loops `loop` to `past` are: a loop is followed by those within it,
 * of which the first are in its condition. */
static int run_range(const Call *c, int from, int to, int loop, int past) {
  int code = 0;
  while (loop < past && !code) {
    const Loop *l = &model_plan.loops[loop];
    const int next = loop + 1 + l->inside;
    int inner = loop + 1;
    bool more = true;
    while (inner < next && model_plan.loops[inner].past <= l->body) inner++;
    code = run_steps(c, from, l->first);
    while (!code && more) {
      code = run_range(c, l->first, l->body, loop + 1, inner);
      if (!code) code = read_condition(c, l, &more);
      if (code || !more) break;
      code = run_range(c, l->body, l->past, inner, next);
      if (!code) code = copy_next_values(c, l);
    }
    from = l->past;
    loop = next;
  }
  return code ? code : run_steps(c, from, to);
}

static int start(const Call *c) {
  const int code = run_range(c, model_plan.nonce, model_plan.nsteps, 0, model_plan.nloops);
  return code ? code : update(c);
}

/* The second run with all buffers in the same memory is recorded. */
static int replay(const Call *c) {
  model *m = c->m;
  const size_t bytes = (size_t)model_plan.nbuffers * sizeof *m->last_data;
  if (memcmp(m->last_data, m->data, bytes)) {
    memcpy(m->last_data, m->data, bytes);
    m->recorded = false;
    return start(c);
  }
  if (!m->recorded) {
    int code = model_device_record(m->device);
    if (!code) code = model_device_record_end(m->device, start(c));
    if (code) return code;
    m->recorded = true;
  }
  return model_device_replay(m->device, c->stream);
}

int model_run(model *m, const model_tensor *inputs, model_tensor *outputs, void *stream) {
  Call c = {m, inputs, outputs, stream, 0};
  bool host = false;
  int code = model_check(m, stream);
  if (!code) code = model_prepare(m, inputs);
  if (!code) code = bind_tensors(&c);
  if (!code) code = copy_inputs(&c);
  if (!code) code = settle(&c);
  if (!code) code = m->replays ? replay(&c) : start(&c);
  if (!code) code = give_outputs(&c, &host);
  if (!code) code = give_inputs(&c, &host);
  if (!code && (host || model_device_is_host())) code = model_sync(m, stream);
  return code ? code : fill_in(&c);
}
