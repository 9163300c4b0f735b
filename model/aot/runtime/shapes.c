/* Sizes: read from the inputs' shapes, which are checked against the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* ---- inputs ---- */

static int check_kind(const model_tensor *t, int i) {
  const model_value *v = &model_plan.inputs[i];
  if (!v->name) return 0;
  if (t->dtype != v->dtype)
    return model_fail(MODEL_E_USAGE, "input %d (%s) is of dtype %s, not %s", i, v->name,
                      model_dtype_name(t->dtype), model_dtype_name(v->dtype));
  if (t->ndim != v->ndim)
    return model_fail(MODEL_E_USAGE, "input %d (%s) has %d axes, but is %s", i, v->name, t->ndim,
                      v->type);
  if (v->is_number && (!t->data || t->on_device))
    return model_fail(MODEL_E_USAGE, "input %d (%s) is a number, which must be in host memory", i,
                      v->name);
  for (int j = 0; j < v->ndim; j++)
    if (t->shape[j] < 0 || t->shape[j] > MEMORY_LIMIT)
      return model_fail(MODEL_E_USAGE, "input %d (%s): axis %d is %lld", i, v->name, j,
                        (long long)t->shape[j]);
  return 0;
}

/* The size of an axis, or the value of an input that is a number. */
static int64_t given_at(const model_tensor *t, int i, int axis) {
  return model_plan.inputs[i].is_number ? number_of(t) : t->shape[axis];
}

static int axes_of(int i) {
  const model_value *v = &model_plan.inputs[i];
  return v->is_number ? 1 : v->ndim;
}

enum { AXIS_TEXT_MAX = 256 };

/* "input 0 (x): axis 1 is 5", or "input 1 (n) is 5". */
static const char *what_is(char out[AXIS_TEXT_MAX], const model_tensor *t, int i, int axis) {
  const model_value *v = &model_plan.inputs[i];
  const long long given = given_at(t, i, axis);
  if (v->is_number) snprintf(out, AXIS_TEXT_MAX, "input %d (%.200s) is %lld", i, v->name, given);
  else snprintf(out, AXIS_TEXT_MAX, "input %d (%.200s): axis %d is %lld", i, v->name, axis, given);
  return out;
}

static int bind_symbols(model *m, const model_tensor *inputs, int64_t *size) {
  char given[AXIS_TEXT_MAX];
  for (int i = 0; i < model_plan.nsymbols; i++) {
    const Symbol *s = &model_plan.symbols[i];
    const int64_t value = model_plan.bind(i, inputs, size);
    if (value < s->least || value > s->most)
      return model_fail(MODEL_E_USAGE, "%s, but %s of %s is from %lld to %lld",
                        what_is(given, &inputs[s->input], s->input, s->axis), s->name,
                        model_plan.inputs[s->input].type, (long long)s->least, (long long)s->most);
    size[i] = value;
    m->prepared &= m->size[i] == value;
  }
  return 0;
}

static int check_shape(const model_tensor *t, int i, const int64_t *shape) {
  const model_value *v = &model_plan.inputs[i];
  char given[AXIS_TEXT_MAX];
  for (int j = 0; v->name && j < axes_of(i); j++)
    if (given_at(t, i, j) != shape[j])
      return model_fail(MODEL_E_USAGE, "%s, but must be %lld in %s", what_is(given, t, i, j),
                        (long long)shape[j], v->type);
  return 0;
}

static int check_inputs(const model_tensor *inputs, const int64_t *size) {
  int64_t shapes[MODEL_INPUTS + 1][MODEL_RANK];
  int code = 0;
  model_plan.input_shapes(size, shapes);
  for (int i = 0; i < MODEL_INPUTS && !code; i++) code = check_shape(&inputs[i], i, shapes[i]);
  return code;
}

static int check_relations(const int64_t *size) {
  for (int i = 0; i < model_plan.nrelations; i++) {
    const Relation *r = &model_plan.relations[i];
    int64_t pair[2];
    model_plan.relation_pair(i, size, pair);
    bool equal = pair[0] == pair[1];
    if (r->kind == EQUAL ? equal : r->kind == DIFFER ? !equal : pair[0] >= pair[1]) continue;
    static const char *const messages[] = {
        [EQUAL] = "node %s takes %s and %s to be equal; for these inputs they are %lld and %lld",
        [AT_LEAST] = "node %s takes %s to be at least %s; for these inputs it is %lld, below %lld",
        [DIFFER] = "node %s takes %s and %s to differ; for these inputs they are %lld and %lld"};
    return model_fail(MODEL_E_USAGE, messages[r->kind], r->node, r->a, r->b, (long long)pair[0],
                      (long long)pair[1]);
  }
  return 0;
}

/* ---- buffers ---- */

static int check_bytes(const int64_t *bytes) {
  for (int i = 0; i < model_plan.nbuffers; i++)
    if (bytes[i] < 0 || bytes[i] > MEMORY_LIMIT)
      return model_fail(MODEL_E_MEMORY, "%s would take more than 2^48 bytes",
                        model_plan.buffers[i].name);
  return 0;
}

int64_t model_bytes(const int64_t *bytes, int buffer) {
  const Buffer *b = &model_plan.buffers[buffer];
  return b->kind == WEIGHT || b->kind == STATE ? b->bytes : bytes[buffer];
}

static int check_updates(const int64_t *bytes) {
  for (int i = 0; i < model_plan.nupdates; i++) {
    const Update *u = &model_plan.updates[i];
    const int64_t to = model_bytes(bytes, u->to), from = model_bytes(bytes, u->from);
    if (to != from)
      return model_fail(MODEL_E_USAGE,
                        "%s has %lld bytes, and %s, which it is updated from, %lld for inputs of "
                        "these shapes",
                        model_plan.buffers[u->to].name, (long long)to,
                        model_plan.buffers[u->from].name, (long long)from);
  }
  return 0;
}

/* The pool of temporaries whose sizes follow from the inputs. */
static int find_offsets(model *m) {
  const size_t most = (size_t)model_plan.nbuffers + 1;
  MemoryItem *items = malloc(most * sizeof *items);
  void *scratch = malloc(memory_scratch((uint32_t)most));
  uint32_t n = 0, at = 0;
  m->temporaries = -1;
  for (int i = 0; i < model_plan.nbuffers && items; i++) {
    const Buffer *b = &model_plan.buffers[i];
    if (b->kind == TEMPORARY)
      items[n++] = (MemoryItem){m->bytes[i], (uint32_t)b->first, (uint32_t)b->last, 0};
  }
  if (items && scratch) m->temporaries = memory_offsets(items, n, scratch);
  for (int i = 0; i < model_plan.nbuffers && m->temporaries >= 0; i++)
    if (model_plan.buffers[i].kind == TEMPORARY) m->offset[i] = items[at++].offset;
  const bool memory = items && scratch;
  free(items);
  free(scratch);
  if (m->temporaries >= 0) return 0;
  return model_fail(MODEL_E_MEMORY,
                    memory ? "the temporaries would take more than 2^48 bytes" : "out of memory");
}

static int assign_offsets(model *m) {
  if (model_plan.pool < 0) return find_offsets(m);
  m->temporaries = model_plan.pool;
  for (int i = 0; i < model_plan.nbuffers; i++) m->offset[i] = model_plan.buffers[i].at;
  return 0;
}

int model_prepare(model *m, const model_tensor *inputs) {
  int64_t *size = m->size + model_plan.nsymbols; /* until all is checked */
  int code = 0;
  for (int i = 0; i < MODEL_INPUTS && !code; i++) code = check_kind(&inputs[i], i);
  if (!code) code = bind_symbols(m, inputs, size);
  if (!code) code = check_inputs(inputs, size);
  if (!code) code = check_relations(size);
  if (code || m->prepared) return code;
  if (model_plan.nsymbols) memcpy(m->size, size, (size_t)model_plan.nsymbols * sizeof *size);
  model_plan.bytes(m->size, m->bytes);
  m->recorded = false;
  code = check_bytes(m->bytes);
  if (!code) code = check_updates(m->bytes);
  if (!code) code = assign_offsets(m);
  m->prepared = !code;
  return code;
}

/* ---- outputs ---- */

int model_describe(model *m, const model_tensor *inputs, model_tensor *outputs) {
  int64_t shapes[MODEL_OUTPUTS + 1][MODEL_RANK];
  int code = model_prepare(m, inputs);
  if (code) return code;
  model_plan.output_shapes(m->size, shapes);
  for (int i = 0; i < MODEL_OUTPUTS; i++) {
    const model_value *v = &model_plan.outputs[i];
    outputs[i] = (model_tensor){.dtype = v->dtype, .ndim = v->ndim};
    memcpy(outputs[i].shape, shapes[i], (size_t)v->ndim * sizeof *shapes[i]);
  }
  return 0;
}

int model_check_output(const model *m, int i, const model_tensor *t) {
  int64_t shapes[MODEL_OUTPUTS + 1][MODEL_RANK];
  const model_value *v = &model_plan.outputs[i];
  model_plan.output_shapes(m->size, shapes);
  bool same = t->dtype == v->dtype && t->ndim == v->ndim;
  for (int j = 0; j < v->ndim && same; j++) same = t->shape[j] == shapes[i][j];
  if (same) return 0;
  return model_fail(MODEL_E_USAGE, "output %d (%s) is not %s as model_describe() says", i, v->name,
                    v->type);
}
