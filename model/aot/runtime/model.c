/* Models: made, reset, destroyed; and messages. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* ---- messages ---- */

static _Thread_local char message[1024];

int model_fail(int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return code;
}

const char *model_error(void) { return message; }

/* ---- types ---- */

static const struct {
  const char *name;
  size_t bytes;
} dtypes[] = {
    [MODEL_I1] = {"i1", 1},     [MODEL_I8] = {"i8", 1},         [MODEL_I16] = {"i16", 2},
    [MODEL_I32] = {"i32", 4},   [MODEL_I64] = {"i64", 8},       [MODEL_U8] = {"u8", 1},
    [MODEL_U16] = {"u16", 2},   [MODEL_U32] = {"u32", 4},       [MODEL_U64] = {"u64", 8},
    [MODEL_F8E5] = {"f8e5", 1}, [MODEL_F8E4NV] = {"f8e4nv", 1}, [MODEL_F8E4B15] = {"f8e4b15", 1},
    [MODEL_F16] = {"f16", 2},   [MODEL_BF16] = {"bf16", 2},     [MODEL_F32] = {"f32", 4},
    [MODEL_F64] = {"f64", 8},
};

static bool is_dtype(model_dtype t) { return (size_t)t < sizeof dtypes / sizeof *dtypes; }
const char *model_dtype_name(model_dtype t) { return is_dtype(t) ? dtypes[t].name : "unknown"; }
size_t model_dtype_bytes(model_dtype t) { return is_dtype(t) ? dtypes[t].bytes : 0; }

const model_value *model_input(int i) {
  return i >= 0 && i < MODEL_INPUTS ? &model_plan.inputs[i] : NULL;
}

const model_value *model_output(int i) {
  return i >= 0 && i < MODEL_OUTPUTS ? &model_plan.outputs[i] : NULL;
}

/* ---- making ---- */

static int allocate(model *m) {
  const size_t symbols = 2 * (size_t)model_plan.nsymbols, buffers = (size_t)model_plan.nbuffers;
  m->size = calloc(symbols + 1, sizeof *m->size);
  m->bytes = calloc(buffers + 1, sizeof *m->bytes);
  m->offset = calloc(buffers + 1, sizeof *m->offset);
  m->data = calloc(buffers + 1, sizeof *m->data);
  m->last_data = calloc(buffers + 1, sizeof *m->last_data);
  const bool all = m->size && m->bytes && m->offset && m->data && m->last_data;
  return all ? 0 : model_fail(MODEL_E_MEMORY, "out of memory");
}

static int upload(model *m, char **out, int64_t from, int64_t to) {
  if (from == to) return 0;
  const int code = model_device_alloc(m->device, out, to - from, "weights");
  return code ? code
              : model_device_copy(m->device, *out, m->file.data + from, to - from, COPY_IN, NULL);
}

/* A GPU has copies of the file's parts; on the host it is used where it is. */
static int load_weights(model *m) {
  const int64_t kept = model_plan.weights_kept;
  if (model_device_is_host()) {
    m->weights = (char *)(uintptr_t)m->file.data;
    m->first = m->weights + kept;
    return 0;
  }
  const int code = upload(m, &m->weights, 0, kept);
  return code ? code : upload(m, &m->first, kept, model_plan.weights_bytes);
}

static int make(model *m, const model_options *o) {
  int code = allocate(m);
  if (!code) code = model_device_open(&m->device, o);
  if (!code && !model_plan.nloops && model_device_replays(m->device))
    m->replays = o->graphs > 0 || (o->graphs == 0 && model_plan.replay);
  if (!code) code = model_weights_open(&m->file, o);
  if (!code) code = load_weights(m);
  if (!code && model_plan.state)
    code = model_device_alloc(m->device, &m->state, model_plan.state, "buffers that are updated");
  if (!code && model_plan.constants)
    code = model_device_alloc(m->device, &m->constants, model_plan.constants, "constants");
  if (!code) code = model_records_open(m);
  return code ? code : model_reset(m);
}

int model_create(model **out, const model_options *o) {
  static const model_options defaults = {0};
  *out = NULL;
  model *m = calloc(1, sizeof *m);
  if (!m) return model_fail(MODEL_E_MEMORY, "out of memory");
  const int code = make(m, o ? o : &defaults);
  if (code) model_destroy(m);
  else *out = m;
  return code;
}

void model_destroy(model *m) {
  if (!m) return;
  if (m->device) {
    model_device_free(m->device, m->pool);
    model_device_free(m->device, m->state);
    model_device_free(m->device, m->constants);
    model_device_free_shared(m->device, m->records);
    if (!model_device_is_host()) {
      model_device_free(m->device, m->weights);
      model_device_free(m->device, m->first);
    }
    model_device_close(m->device);
  }
  model_weights_close(&m->file);
  free(m->size);
  free(m->bytes);
  free(m->offset);
  free(m->data);
  free(m->last_data);
  free(m);
}

int model_reset(model *m) {
  int code = 0;
  for (int i = 0; i < model_plan.nbuffers && !code; i++) {
    const Buffer *b = &model_plan.buffers[i];
    if (b->kind != STATE) continue;
    code = model_device_copy(m->device, m->state + b->state, m->weights + b->at, b->bytes,
                             COPY_WITHIN, NULL);
  }
  return code ? code : model_device_sync(m->device, NULL);
}

int model_sync(model *m, void *stream) {
  const int code = model_device_sync(m->device, stream);
  return code ? code : model_check(m, stream);
}

void model_get_info(model_info *out, const model *m) {
  *out = (model_info){.target = model_device_target(m->device),
                      .weights = m->settled ? model_plan.weights_kept : model_plan.weights_bytes,
                      .state = model_plan.state,
                      .constants = model_plan.constants,
                      .pool = m->pool_bytes,
                      .kernels = model_plan.nkernels,
                      .steps = model_plan.nsteps - model_plan.nonce};
}
