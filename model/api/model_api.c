#include "model/api/model_api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/messages.h"
#include "graph/ops/graph_text.h"
#include "graph/ops/infer.h"
#include "import/onnx/onnx.h"
#include "import/pt2/pt2.h"
#include "import/text/text_forms.h"
#include "model/api/api.h"
#include "model/api/graph_options.h"
#include "model/messages.h"
#include "model/report/dot.h"
#include "model/report/dump.h"
#include "model/report/explain.h"
#include "planner/messages.h"
#include "planner/passes.h"
#include "planner/plan/memory_report.h"
#include "planner/plan/plan.h"
#include "runtime/messages.h"
#include "runtime/support/array.h"
#include "runtime/support/error.h"
#include "runtime/support/files.h"

/* ---- messages ---- */

static int report_model_errors(Model *m) {
  return error_set_diags(NEREID_E_FILE, m->arena, m->diags);
}

/* ---- reading ---- */

typedef enum { READ_MODEL, READ_SIZED, READ_INPUTS } ReadingKind;

typedef struct {
  Model *m;
  const nereid_graph_source *source;
  ReadingKind kind;
  const Model *of; /* which has the file open; NULL: it is opened */
  const ModelStages *stages; /* of READ_SIZED */
  OnnxWish *wanted;
} Reading;

/* The file's name decides too, for an archive whose first bytes were cut off. */
static bool is_archive(const char *path, const char *start, size_t len) {
  size_t n = strlen(path);
  bool named = n > 4 && !strcmp(path + n - 4, ".pt2") && !access(path, F_OK);
  return named || (len >= 4 && !memcmp(start, "PK\3\4", 4));
}

enum { START_BYTES = 16 };

/* The first bytes of a file: none if it is empty, or can't be read. */
static size_t file_start(const char *path, char start[START_BYTES]) {
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(start, 1, START_BYTES, f) : 0;
  if (f) fclose(f);
  return n;
}

static Graph *read_archive(Model *m, const char *path, const void *data, size_t size,
                           Archive **archive) {
  *archive = data ? archive_of_bytes(m->arena, m->names, m->diags, path, data, size)
                  : archive_open(m->arena, m->names, m->diags, path);
  m->weights = weights_new(m->arena);
  return *archive ? pt2_read(m->arena, m->names, m->diags, *archive, m->weights) : NULL;
}

static bool read_text(Model *m, const char *path, const char *text, size_t len) {
  uint32_t file = diag_source(m->diags, pool_name(m->names, path), text, len);
  if (plan_is_text(text, len)) m->plan = plan_read(m->arena, m->names, m->diags, file);
  else m->graph = graph_read_text(m->arena, m->names, m->diags, file);
  return m->plan || m->graph;
}

/* ---- the text form's weights ---- */

static void bind_weight(Model *m, Node *n, const char *path) {
  const Weight *w = n->input.tensor ? weights_find(m->weights, n->input.tensor) : NULL;
  if (!w) w = weights_find_input(m->weights, n->input.target);
  if (!w) {
    const char *name = n->input.tensor ? n->input.tensor : n->input.target;
    diag_error(m->diags, n->location, E_GRAPH_WEIGHTS_LACK, path, name);
    return;
  }
  if (n->type.kind != VALUE_UNKNOWN && !weight_has_type(w, &n->type)) {
    Text t = text_new(m->arena);
    value_type_print(&t, &n->type);
    diag_error(m->diags, n->location, E_GRAPH_WEIGHT_TYPE, w->name, n->name, t.data);
  }
  n->input.tensor = w->name;
}

/* Parameters and buffers of the text become weights, or without a file that has them inputs. */
static void bind_weights(Model *m, const char *path) {
  for (Node *n = m->graph->first; n; n = n->next) {
    if (n->kind != NODE_INPUT || n->input.kind == INPUT_USER) continue;
    if (m->weights) bind_weight(m, n, path);
    else n->input.kind = INPUT_USER;
  }
}

/* ---- types that the text does not have ---- */

static ValueType type_of_weight(Model *m, const Weight *w) {
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < w->rank; i++) shape[i] = dim_int(m->graph->dims, w->shape[i]);
  ValueType t = value_tensor(m->graph, w->dtype, w->rank - w->is_complex, shape);
  t.is_complex = w->is_complex;
  return t;
}

static ValueType type_of_value(Model *m, const nereid_tensor *t) {
  Dim shape[GRAPH_RANK_MAX];
  DType part = array_complex_part(t->dtype), dtype = part ? part : array_dtype(t->dtype);
  bool good = dtype != DT_NONE && t->ndim >= 0 && t->ndim <= GRAPH_RANK_MAX;
  if (!good) return (ValueType){0};
  for (int32_t i = 0; i < t->ndim; i++) {
    if (t->shape[i] < 0) return (ValueType){0};
    shape[i] = dim_int(m->graph->dims, t->shape[i]);
  }
  ValueType type = value_tensor(m->graph, dtype, (uint32_t)t->ndim, shape);
  type.is_complex = part != DT_NONE;
  return type;
}

/* The tensor that is given for an input, by its position or its name; NULL: none. */
static const nereid_tensor *given_for(const nereid_graph_source *s, const Node *n, int number) {
  for (int i = 0; i < s->ninputs; i++) {
    const char *name = s->input_names ? s->input_names[i] : NULL;
    if (name ? !strcmp(name, graph_passed_name(n)) : i == number) return &s->inputs[i];
  }
  return NULL;
}

/* Inputs without a type take that of the caller's tensor. */
static void take_types(Model *m, const nereid_graph_source *s) {
  int number = 0;
  for (Node *n = m->graph->first; n; n = n->next) {
    bool open = n->type.kind == VALUE_UNKNOWN;
    if (n->kind != NODE_INPUT || !(open || n->type.kind == VALUE_TENSOR)) continue;
    if (n->input.kind == INPUT_USER) {
      const nereid_tensor *given = open ? given_for(s, n, number) : NULL;
      if (given) n->type = type_of_value(m, given);
      number++;
    } else if (open && m->weights) {
      const Weight *w = weights_find(m->weights, n->input.tensor);
      if (w && w->rank <= GRAPH_RANK_MAX) n->type = type_of_weight(m, w);
    }
  }
}

/* ---- all of it ---- */

static OnnxGiven given_of(const Model *m, const nereid_graph_source *s) {
  uint32_t nitems = s->nitems > 0 ? (uint32_t)s->nitems : 0;
  OnnxItems *items = ARENA_ARRAY(m->arena, OnnxItems, nitems);
  for (uint32_t i = 0; i < nitems; i++) items[i] = (OnnxItems){s->items[i].input, s->items[i].n};
  return (OnnxGiven){.tensors = s->inputs,
                     .n = s->ninputs > 0 ? (uint32_t)s->ninputs : 0,
                     .names = s->input_names,
                     .items = items,
                     .nitems = nitems};
}

static Graph *read_onnx(Model *m, const nereid_graph_source *s, const char *path, const void *data,
                        OnnxFile **file) {
  *file = data ? onnx_of_bytes(m->arena, m->names, m->diags, path, data, s->size)
               : onnx_open(m->arena, m->names, m->diags, path);
  m->weights = weights_new(m->arena);
  if (!*file) return NULL;
  return onnx_read(m->arena, m->names, m->diags, *file, given_of(m, s), m->weights, &m->found);
}

static int read_sized_body(void *arg) {
  const Reading *r = arg;
  Model *m = r->m;
  OnnxGiven given = given_of(m, r->source);
  given.fixes_sizes = true;
  given.stages = r->stages->of;
  given.nstages = r->stages->n;
  given.absent = r->stages->absent;
  if (r->stages->has_result) given.result = &r->stages->of[r->stages->n];
  m->onnx = onnx_again(m->arena, m->names, m->diags, r->of->onnx);
  m->weights = weights_new(m->arena);
  m->graph = onnx_read(m->arena, m->names, m->diags, m->onnx, given, m->weights, &m->found);
  const OnnxWish *w = &m->found.wanted;
  if (!m->graph && w->value) *r->wanted = (OnnxWish){strdup(w->value), strdup(w->place)};
  return m->graph ? 0 : report_model_errors(m);
}

/* Sizes that the caller's tensors have, else some. */
static nereid_tensor *chosen_tensors(Model *m, const nereid_graph_source *s, int64_t chosen,
                                     uint32_t *n) {
  VEC(nereid_tensor) all = {0};
  for (const Node *x = m->graph->first; x->kind == NODE_INPUT; x = x->next) {
    const nereid_tensor *given = given_for(s, x, (int)all.len);
    nereid_tensor t = {.ndim = (int32_t)x->type.rank};
    t.shape = ARENA_ARRAY(m->arena, int64_t, x->type.rank);
    bool fits = given && given->ndim == t.ndim;
    for (uint32_t i = 0; i < x->type.rank; i++) {
      Dim size = x->type.shape[i];
      t.shape[i] = dim_is_int(size) ? size->value : fits ? given->shape[i] : chosen;
    }
    if (fits) t.data = given->data, t.device = given->device, t.dtype = given->dtype;
    vec_push(m->arena, &all, t);
  }
  *n = (uint32_t)all.len;
  return all.data;
}

static bool has_numbers(const Model *m) {
  bool found = false;
  for (const Node *x = m->graph->first; x->kind == NODE_INPUT; x = x->next)
    found |= !dtype_is_float(x->type.dtype);
  return found;
}

/* Dtypes that the file does not declare are those that `g` has, for some sizes. */
static bool complete_outputs(Model *m, const Graph *g) {
  const Arg *list = g ? &g->last->args[0] : NULL;
  bool all = true;
  for (size_t i = 0; i < m->found.outputs.len; i++) {
    OnnxOutput *o = &m->found.outputs.data[i];
    bool known = list && list->n == m->found.outputs.len && list->items[i].kind == ARG_NODE;
    if (!o->dtype && known) {
      o->dtype = list->items[i].node->type.dtype;
      o->type = dtype_name(o->dtype);
    }
    all &= o->dtype != DT_NONE;
  }
  return all;
}

/* Can there be a plan where open sizes are all `chosen`?  Not where something is lacking as well:
 * values of numbers may bring what sizes don't. */
static bool has_plan_of(Model *m, const nereid_graph_source *s, int64_t chosen) {
  OnnxFindings found = {0};
  OnnxGiven given = {.items = m->found.items.data, .nitems = (uint32_t)m->found.items.len};
  Pool *names = pool_new(m->arena);
  Diags *d = diags_new(m->arena);
  OnnxFile *f = onnx_again(m->arena, names, d, m->onnx);
  given.tensors = chosen_tensors(m, s, chosen, &given.n);
  given.fixes_sizes = true;
  const Graph *g = onnx_read(m->arena, names, d, f, given, weights_new(m->arena), &found);
  onnx_close(f);
  if (found.texts.tables.len) return false; /* which the inputs alone don't have */
  m->found.texts = found.texts;
  m->found.wanted = found.wanted;
  m->found.needs_value = found.needs_value;
  bool values = found.wanted.value || found.needs_value || has_numbers(m);
  return !found.unknown && (!found.lacks || values) && complete_outputs(m, g);
}

/* Sizes that no model can have are tried in vain: of coordinates there are few. */
static bool has_sized_plans(Model *m, const nereid_graph_source *s) {
  static const int64_t sizes[] = {16, 1, 2};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (has_plan_of(m, s, sizes[i])) return true;
  return false;
}

/* A file that can be read twice, and looks like a model of ONNX's. */
static bool is_onnx_file(const nereid_graph_source *s, const char *path) {
  char start[START_BYTES];
  struct stat st;
  if (s->data) return onnx_is_model(path, s->data, s->size) && !is_archive(path, s->data, s->size);
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return false;
  size_t n = file_start(path, start);
  return onnx_is_model(path, start, n) && !is_archive(path, start, n);
}

static int read_inputs_body(void *arg) {
  const Reading *r = arg;
  Model *m = r->m;
  const nereid_graph_source *s = r->source;
  const char *path = s->path ? s->path : "<model>";
  if (s->weights || !is_onnx_file(s, path)) return NEREID_E_FILE;
  m->onnx = s->data ? onnx_of_bytes(m->arena, m->names, m->diags, path, s->data, s->size)
                    : onnx_open(m->arena, m->names, m->diags, path);
  if (!m->onnx) return NEREID_E_FILE;
  m->weights = weights_new(m->arena);
  m->graph = onnx_read_inputs(m->arena, m->names, m->diags, m->onnx, given_of(m, s), &m->found);
  return m->graph && has_sized_plans(m, s) && model_is_open(m) ? 0 : NEREID_E_FILE;
}

/* What the model's file has itself for an input that is no parameter. */
static void keep_own(Model *m, const Weights *own, const Node *n) {
  Weight *w = n->input.tensor ? weights_find(own, n->input.tensor) : NULL;
  if (!w) w = weights_find_input(own, n->input.target);
  if (w && !weights_find(m->weights, w->name))
    weights_add(m->weights, m->diags, n->location, *w, 0,
                (WeightBytes){w->data, SIZE_MAX >> 1, w->name});
}

/* Parameters and buffers of the graph become tensors of the file. */
static int take_tensors(Model *m, const char *path) {
  const Weights *own = m->weights;
  m->weights = weights_new(m->arena);
  for (Node *n = m->graph ? m->graph->first : NULL; n; n = n->next) {
    if (n->kind != NODE_INPUT || n->input.kind == INPUT_USER) continue;
    Name name = tensor_file_name(m->tensors, n->input.tensor, n->input.target);
    if (name && !tensor_file_find(m->tensors, m->weights, &name, n->type.dtype))
      return report_model_errors(m);
    if (name) n->input.tensor = name;
    if (own && n->input.kind != INPUT_PARAMETER) keep_own(m, own, n);
    if (own) bind_weight(m, n, path);
  }
  return diag_errors(m->diags) ? report_model_errors(m) : 0;
}

/* A pipe and a terminal can be read only once: *data has what comes, NULL if it is a file. */
static int read_pipe(Model *m, const char *path, const char **data, size_t *size) {
  struct stat st;
  *data = NULL;
  if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return 0;
  return files_read_most(m->arena, path, "a model of a pipe", 64, data, size);
}

static TensorFile *read_tensors(Model *m, const char *path, const void *data, size_t size) {
  return data ? tensor_file_of_bytes(m->arena, m->names, m->diags, path, data, size)
              : tensor_file_open(m->arena, m->names, m->diags, path);
}

static int read_weights(Model *m, const nereid_graph_source *s) {
  char begin[START_BYTES];
  const char *data;
  nereid_graph_source given = *s;
  int code = read_pipe(m, s->weights, &data, &given.size);
  if (code) return code;
  size_t n = data ? given.size < START_BYTES ? given.size : START_BYTES
                  : file_start(s->weights, begin);
  const char *start = data ? data : begin;
  if (!access(s->weights, F_OK) && tensor_file_is(s->weights, start, n)) {
    m->tensors = read_tensors(m, s->weights, data, given.size);
    if (!m->tensors) return report_model_errors(m);
    return m->graph ? take_tensors(m, s->weights) : 0;
  }
  if (is_archive(s->weights, start, n))
    return read_archive(m, s->weights, data, given.size, &m->weights_file) ? 0
                                                                           : report_model_errors(m);
  if (n && onnx_is_model(s->weights, start, n))
    return read_onnx(m, &given, s->weights, data, &m->weights_onnx) ? 0 : report_model_errors(m);
  FILE *f = data ? NULL : fopen(s->weights, "rb");
  if (f) fclose(f);
  return f || data ? error_set(NEREID_E_FILE, E_GRAPH_WEIGHTS_FILE, s->weights)
           : error_set(NEREID_E_FILE, E_RUN_FILE_OPEN, s->weights, strerror(errno));
}

static int read_graph_of_archive(Model *m, const nereid_graph_source *s) {
  const char *path = s->path ? s->path : "<model>";
  m->graph = read_archive(m, path, s->data, s->size, &m->file);
  if (!m->graph) return report_model_errors(m);
  bool known = ops_all_known(m->graph);
  if (!known || diag_errors(m->diags)) m->lacks = error_keep_diags(m->arena, m->diags);
  return s->weights ? read_weights(m, s) : 0;
}

static int read_graph_of_onnx(Model *m, const nereid_graph_source *s, const char *path) {
  if (s->weights) return error_set(NEREID_E_USAGE, E_GRAPH_ONNX_WEIGHTS, path, s->weights);
  m->graph = read_onnx(m, s, path, s->data, &m->onnx);
  return m->graph ? 0 : report_model_errors(m);
}

static int read_source_stream(Model *m, nereid_graph_source *s) {
  const char *text;
  int code = s->data || !s->path ? 0 : read_pipe(m, s->path, &text, &s->size);
  if (!s->data && s->path && !code) s->data = text;
  return code;
}

static int read_by_content(Model *m, const nereid_graph_source *s) {
  const char *path = s->path ? s->path : "<model>", *text = s->data;
  size_t len = s->size;
  char start[START_BYTES];
  size_t nstart = text ? (len < START_BYTES ? len : START_BYTES) : file_start(path, start);
  const char *first = text ? text : start;
  if (files_is_npy(first, nstart)) return error_set(NEREID_E_FILE, E_GRAPH_NPY, path);
  bool archive = is_archive(path, first, nstart);
  if (!archive && onnx_is_model(path, first, nstart)) return read_graph_of_onnx(m, s, path);
  if (!archive && nstart && tensor_file_is(path, first, nstart))
    return error_set(NEREID_E_FILE, E_GRAPH_TENSORS_ONLY, path);
  if (s->nitems > 0) return error_set(NEREID_E_USAGE, E_GRAPH_NO_ITEMS, path, s->items[0].input);
  if (archive) return read_graph_of_archive(m, s);
  int code = text ? 0 : files_read(m->arena, path, &text, &len);
  if (!code && s->weights) code = read_weights(m, s);
  if (code) return code;
  if (!read_text(m, path, text, len)) return report_model_errors(m);
  if (m->graph && m->tensors && (code = take_tensors(m, s->weights))) return code;
  if (m->graph) bind_weights(m, s->weights);
  if (m->graph) take_types(m, s);
  if (diag_errors(m->diags)) return report_model_errors(m);
  if (m->graph && !ops_all_known(m->graph)) m->lacks = error_keep_diags(m->arena, m->diags);
  return 0;
}

static int read_source_body(void *arg) {
  const Reading *r = arg;
  nereid_graph_source s = *r->source;
  int code = read_source_stream(r->m, &s);
  return code ? code : read_by_content(r->m, &s);
}

static int read_model_body(void *arg) {
  static int (*const bodies[])(void *) = {read_source_body, read_sized_body, read_inputs_body};
  const Reading *r = arg;
  Model *m = r->m;
  double begin = stages_now();
  m->names = pool_new(m->arena);
  m->diags = diags_new(m->arena);
  m->stages = stages_new(m->arena);
  int code = bodies[r->kind](arg);
  if (!code) stages_done(m->stages, "read", begin);
  return code;
}

enum { LIMIT_MIB = 1024, LIMIT_MILLION_STEPS = 400 };

static int read_model(Model **out, Reading r) {
  *out = NULL;
  Model *m = r.m = calloc(1, sizeof *m);
  if (!m) return error_out_of_memory();
  m->arena = arena_new();
  m->limits = (ArenaUse){(size_t)LIMIT_MIB << 20, (uint64_t)LIMIT_MILLION_STEPS * 1000000};
  int code =
      m->arena ? error_guard_stage(m->arena, "read", read_model_body, &r) : error_out_of_memory();
  if (code) model_free(m);
  else *out = m;
  return code;
}

int model_read(Model **out, const nereid_graph_source *source) {
  return read_model(out, (Reading){.source = source, .kind = READ_MODEL});
}

int model_read_sized(Model **out, const nereid_graph_source *source, const ModelStages *stages,
                     const Model *of, OnnxWish *wanted) {
  Reading r = {.source = source, .kind = READ_SIZED, .of = of, .stages = stages, .wanted = wanted};
  *wanted = (OnnxWish){0};
  return read_model(out, r);
}

/* The sizes that ranges leave alone; false: a range leaves more. */
static bool narrowed_shape(const Model *m, const Node *x, nereid_tensor *out) {
  if (x->type.kind != VALUE_TENSOR) return false;
  out->ndim = (int32_t)x->type.rank;
  out->shape = ARENA_ARRAY(m->arena, int64_t, x->type.rank);
  for (uint32_t i = 0; i < x->type.rank; i++) {
    DimRange r = dim_range(m->graph->dims, x->type.shape[i]);
    if (r.lo != r.hi) return false;
    out->shape[i] = r.lo;
  }
  return true;
}

int model_read_narrowed(Model **out, const nereid_graph_source *source, const Model *of) {
  static const ModelStages none = {0};
  nereid_graph_source s = *source;
  VEC(nereid_tensor) all = {0};
  OnnxWish wanted;
  *out = NULL;
  for (const Node *x = of->graph->first; x->kind == NODE_INPUT; x = x->next) {
    nereid_tensor t = {0};
    if (!narrowed_shape(of, x, &t)) return 0;
    vec_push(of->arena, &all, t);
  }
  s.inputs = all.data;
  s.ninputs = (int)all.len;
  s.input_names = NULL;
  int code = model_read_sized(out, &s, &none, of, &wanted);
  free((char *)wanted.value);
  free((char *)wanted.place);
  return code;
}

int model_read_inputs(Model **out, const nereid_graph_source *source, int code) {
  char *message = error_keep();
  if (!message) return error_out_of_memory();
  bool failed = read_model(out, (Reading){.source = source, .kind = READ_INPUTS}) != 0;
  error_again(code, message);
  if (!failed) (*out)->refused = error_keep_in((*out)->arena);
  free(message);
  return failed ? code : 0;
}

/* Sizes, and numbers that may decide sizes. */
bool model_is_open(const Model *m) {
  bool open = m->onnx && (m->found.wanted.value || m->found.needs_value);
  for (const Node *n = m->onnx && m->graph ? m->graph->first : NULL; n; n = n->next) {
    if (n->kind != NODE_INPUT || n->input.kind != INPUT_USER) continue;
    open |= !dtype_is_float(n->type.dtype);
    for (uint32_t i = 0; i < n->type.rank; i++) open |= !dim_is_int(n->type.shape[i]);
  }
  return open;
}

void model_free(Model *m) {
  if (!m) return;
  archive_close(m->file);
  archive_close(m->weights_file);
  tensor_file_close(m->tensors);
  onnx_close(m->onnx);
  onnx_close(m->weights_onnx);
  arena_free(m->arena);
  free(m);
}

/* ---- passes and plans ---- */

typedef struct {
  Model *m;
  const char *passes;
  const char *path;
  const CompileOptions *options;
  DType dtype;
  const nereid_graph_range *range;
  nereid_graph_kind kind;
  Text *out;
} Task;

static int check_complete(const Model *m) {
  return m->lacks ? error_again(NEREID_E_FILE, m->lacks) : 0;
}

static int passes_body(void *arg) {
  const Task *t = arg;
  Model *m = t->m;
  if (!m->graph) return error_set(NEREID_E_USAGE, E_GRAPH_PLAN_ONLY);
  int code = check_complete(m);
  if (!code && !infer_graph(m->graph)) code = report_model_errors(m);
  size_t len;
  for (const char *rest = t->passes, *name; !code && pass_next_name(&rest, &name, &len);) {
    const Pass *pass = pass_find(graph_passes(), name, len);
    if (!pass) code = stages_unknown_pass(m->arena, graph_passes(), name, len);
    else if (!stages_run_pass(m->stages, pass, m->graph)) code = report_model_errors(m);
  }
  return code ? code : stages_check_dumped(m->stages, t->passes);
}

static const Graph *graph_of(const Model *m) { return m->graph ? m->graph : m->plan->graph; }

/* ---- open sizes ---- */

/* An input of the caller's: a node of the graph, or a buffer of the plan. */
typedef struct {
  const char *name;
  Dim value; /* of a number; NULL: a tensor */
  uint32_t rank;
  const Dim *shape;
} OpenInput;

typedef VEC(OpenInput) OpenInputs;

static OpenInputs inputs_of(Model *m) {
  OpenInputs all = {0};
  for (const Node *n = m->graph ? m->graph->first : NULL; n; n = n->next) {
    if (n->kind != NODE_INPUT || n->input.kind != INPUT_USER) continue;
    bool tensor = n->type.kind == VALUE_TENSOR, number = n->type.kind == VALUE_INT;
    OpenInput x = {graph_passed_name(n), number ? n->type.value : NULL, tensor ? n->type.rank : 0,
                   n->type.shape};
    vec_push(m->arena, &all, x);
  }
  for (uint32_t i = 0; !m->graph && i < m->plan->nbuffers; i++) {
    const PlanBuffer *b = &m->plan->buffers[i];
    OpenInput x = {plan_passed_name(b), b->value, plan_rank(b), b->shape};
    if (b->kind == BUFFER_INPUT) vec_push(m->arena, &all, x);
  }
  return all;
}

/* "x[0]", or of a number "n": which input the symbol is a size of; NULL: none. */
static const char *symbol_input(Model *m, const OpenInputs *inputs, Dim symbol) {
  for (size_t i = 0; i < inputs->len; i++) {
    const OpenInput *x = &inputs->data[i];
    if (x->value == symbol) return x->name;
    for (uint32_t axis = 0; axis < x->rank; axis++)
      if (x->shape[axis] == symbol) return arena_printf(m->arena, "%s[%u]", x->name, axis);
  }
  return NULL;
}

/* "s0 or x[0] (1..16), s1 or n (2..)" */
static const char *open_sizes(Model *m, const Dims *d) {
  Text t = text_new(m->arena);
  OpenInputs inputs = inputs_of(m);
  for (uint32_t i = 0; i < dims_symbols(d); i++) {
    Dim s = dims_symbol_at(d, i);
    DimRange r = dim_range(d, s);
    if (dim_is_index(s)) continue;
    const char *input = symbol_input(m, &inputs, s);
    bool named = input && strcmp(input, s->name) != 0;
    text_printf(&t, "%s%s%s%s (%lld..", t.len ? ", " : "", s->name, named ? " or " : "",
                named ? input : "", (long long)r.lo);
    if (r.hi != INT64_MAX) text_printf(&t, "%lld", (long long)r.hi);
    text_puts(&t, ")");
  }
  return t.len ? t.data : NULL;
}

static Dim find_symbol_name(const Dims *d, const char *name) {
  for (uint32_t i = 0; i < dims_symbols(d); i++) {
    Dim s = dims_symbol_at(d, i);
    if (!dim_is_index(s) && !strcmp(s->name, name)) return s;
  }
  return NULL;
}

/* The size named by "x[0]" or by a number's name; NULL: no input has it. */
static Dim find_input_size(Model *m, const char *name) {
  OpenInputs inputs = inputs_of(m);
  size_t len = strcspn(name, "[");
  char *end = NULL;
  unsigned long axis = name[len] ? strtoul(name + len + 1, &end, 10) : 0;
  bool whole = !name[len], indexed = end && end > name + len + 1 && !strcmp(end, "]");
  for (size_t i = 0; i < inputs.len; i++) {
    const OpenInput *x = &inputs.data[i];
    if (strncmp(x->name, name, len) != 0 || x->name[len]) continue;
    if (whole) return x->value;
    return indexed && axis < x->rank ? x->shape[axis] : NULL;
  }
  return NULL;
}

static int set_limits_body(void *arg) {
  const Task *t = arg;
  const nereid_graph_range *r = t->range;
  Dims *d = graph_of(t->m)->dims;
  const char *sizes = open_sizes(t->m, d);
  if (!sizes) return error_set(NEREID_E_USAGE, E_GRAPH_RANGE_FIXED, r->symbol);
  Dim symbol = find_symbol_name(d, r->symbol);
  if (!symbol) symbol = find_input_size(t->m, r->symbol);
  if (!symbol) return error_set(NEREID_E_USAGE, E_GRAPH_RANGE_SYMBOL, r->symbol, sizes);
  if (symbol->kind != DIM_SYMBOL) {
    Text text = text_new(t->m->arena);
    dim_print(&text, symbol);
    return error_set(NEREID_E_USAGE, E_GRAPH_RANGE_DERIVED, r->symbol, text.data, sizes);
  }
  DimRange whole = dim_range(d, symbol);
  if (r->lo > r->hi || r->lo < whole.lo || r->hi > whole.hi)
    return error_set(NEREID_E_USAGE, E_GRAPH_RANGE, r->symbol, (long long)r->lo, (long long)r->hi,
                     sizes);
  dim_limit(d, symbol, (DimRange){r->lo, r->hi});
  if (r->likely >= r->lo && r->likely <= r->hi) dim_set_likely(d, symbol, r->likely);
  return 0;
}

/* Narrows the range of a symbol, of a graph or a plan. */
static int model_limit(Model *m, const nereid_graph_range *r) {
  Task t = {.m = m, .range = r};
  return error_guard(m->arena, set_limits_body, &t);
}

/* The input that a caller passes at that position; NULL after an error, which names the option. */
static Node *input_at(const Model *m, const char *option, int position) {
  int number = 0;
  for (Node *n = m->graph->first; n; n = n->next) {
    bool passed = n->kind == NODE_INPUT && n->input.kind == INPUT_USER;
    passed = passed && n->type.kind != VALUE_NONE; /* that has no position */
    if (passed && number++ == position) return n;
  }
  error_set(NEREID_E_USAGE, E_GRAPH_RELEASED, option, position, number);
  return NULL;
}

/* A plan has its order and its memory already. */
static int model_release(Model *m, const nereid_graph_options *o) {
  if (!m->graph) return 0;
  for (int i = 0; i < o->nreleased; i++) {
    Node *n = input_at(m, "released", o->released[i]);
    if (!n) return NEREID_E_USAGE;
    n->input.released = true;
  }
  for (int i = 0; i < o->noverwritten; i++) {
    Node *n = input_at(m, "overwritten", o->overwritten[i]);
    if (!n) return NEREID_E_USAGE;
    n->input.overwritten = true;
  }
  return 0;
}

static int retype_body(void *arg) {
  const Task *t = arg;
  Model *m = t->m;
  if (!m->graph) return error_set(NEREID_E_USAGE, E_GRAPH_PLAN_DTYPE);
  int code = check_complete(m);
  if (!code && (!infer_graph(m->graph) || !graph_retype(m->graph, t->dtype)))
    code = report_model_errors(m);
  return code;
}

/* Makes the graph one in another floating dtype. */
static int model_retype(Model *m, DType dtype) {
  Task t = {.m = m, .dtype = dtype};
  return error_guard(m->arena, retype_body, &t);
}

/* A stage of compiling, with its limits.  Weights of the file are in the arena before it. */
static int run_limited(Model *m, const char *stage, int (*body)(void *), void *arg) {
  ArenaUse had = arena_use(m->arena), may = m->limits;
  arena_limit(m->arena, (ArenaUse){had.bytes + may.bytes, had.steps + may.steps});
  int code = error_guard(m->arena, body, arg);
  ArenaExcess excess = arena_excess(m->arena);
  arena_limit(m->arena, (ArenaUse){0});
  if (code != NEREID_E_MEMORY || !excess) return code;
  if (excess == ARENA_BYTES)
    return error_set(NEREID_E_RESOURCES, E_GRAPH_LIMIT_MEMORY, stage, may.bytes >> 20);
  return error_set(NEREID_E_RESOURCES, E_GRAPH_LIMIT_STEPS, stage, (double)may.steps / 1e6);
}

static int rules_body(void *arg) {
  const Task *t = arg;
  Model *m = t->m;
  const char *text;
  size_t len;
  if (!m->graph) return error_set(NEREID_E_USAGE, E_GRAPH_PLAN_REWRITE);
  int code = files_read(m->arena, t->path, &text, &len);
  if (code) return code;
  uint32_t file = diag_source(m->diags, pool_name(m->names, t->path), text, len);
  vec_push(m->arena, &m->graph->rules, file);
  return 0;
}

/* Adds a file of rewrite rules. */
static int model_add_rules(Model *m, const char *path) {
  Task t = {.m = m, .path = path};
  return error_guard(m->arena, rules_body, &t);
}

int model_run_passes(Model *m, const char *passes) {
  Task t = {.m = m, .passes = passes};
  return run_limited(m, "passes", passes_body, &t);
}

static int plan_body(void *arg) {
  const Task *t = arg;
  Model *m = t->m;
  Plan *plan = ARENA_NEW(m->arena, Plan);
  double begin = stages_now();
  bug_stage("infer");
  int code = check_complete(m);
  if (!code && !infer_model(m->graph)) code = report_model_errors(m);
  if (code) return code;
  stages_done(m->stages, "infer", begin);
  dump_import(m->stages, m->graph);
  if (!graph_compile(m->graph, t->options, plan)) return report_model_errors(m);
  m->plan = plan;
  dump_plan(m->stages, plan);
  if (m->stages->code) return m->stages->code;
  return stages_check_dumped(m->stages, graph_pass_names(m->arena, t->options));
}

int model_plan(Model *m, const CompileOptions *o) {
  CompileOptions options = *o;
  Task t = {.m = m, .options = &options};
  options.stages = m->stages;
  return m->plan ? 0 : run_limited(m, "plan", plan_body, &t);
}

static int print_model_body(void *arg) {
  const Task *t = arg;
  *t->out = text_new(t->m->arena);
  if (t->kind == NEREID_GRAPH_TEXT) graph_print(t->out, t->m->graph);
  else if (t->kind == NEREID_GRAPH_DOT) graph_print_dot(t->out, t->m->graph, t->m->plan);
  else if (t->kind == NEREID_GRAPH_PLAN) plan_print(t->out, t->m->plan);
  else if (t->kind == NEREID_GRAPH_STRINGS) onnx_print_texts(t->out, &t->m->found.texts);
  else if (t->kind == NEREID_GRAPH_FUSED) text_puts(t->out, t->m->plan->fused);
  else text_puts(t->out, t->m->plan->source);
  return 0;
}

int model_print(Model *m, nereid_graph_kind kind, Text *out) {
  bool needs_graph = kind != NEREID_GRAPH_KERNELS && kind != NEREID_GRAPH_PLAN &&
                     kind != NEREID_GRAPH_STRINGS;
  if (needs_graph && !m->graph) return error_set(NEREID_E_USAGE, E_GRAPH_PLAN_ONLY);
  Task t = {.m = m, .kind = kind, .out = out};
  return error_guard(m->arena, print_model_body, &t);
}

typedef struct {
  Model *m;
  const char *device;
  Explanation x;
  Text *out;
} Explaining;

static int explain_body(void *arg) {
  Explaining *e = arg;
  Model *m = e->m;
  Sizes *sizes = sizes_new(m->arena, m->plan);
  int code = sizes_bind_some(sizes, NULL, 0);
  if (code) return code;
  peaks_of_name(&e->x.peaks, e->device);
  e->x.plan = m->plan;
  e->x.sizes = sizes;
  *e->out = text_new(m->arena);
  explain_print(e->out, &e->x);
  return 0;
}

int model_explain(Model *m, const char *device, const char *mode, Text *out) {
  Explaining e = {.m = m, .device = device, .x = {.mode = mode}, .out = out};
  return error_guard(m->arena, explain_body, &e);
}

typedef struct {
  Model *m;
  const nereid_graph_options *o;
  nereid_planned_memory *out;
} Measuring;

/* Their numbers are the index; those of options are positions. */
static bool *released_inputs(const Model *m, const nereid_graph_options *o, uint32_t n) {
  bool *released = ARENA_ARRAY(m->arena, bool, n + 1);
  for (int i = 0; i < o->nreleased; i++)
    if (o->released[i] >= 0 && (uint32_t)o->released[i] < n) released[o->released[i]] = true;
  return released;
}

static int memory_body(void *arg) {
  const Measuring *x = arg;
  const Model *m = x->m;
  Sizes *sizes = sizes_new(m->arena, m->plan);
  int code = sizes_bind_some(sizes, NULL, 0);
  if (code) return code;
  MemoryUse use;
  MemoryTaking taking = {.steps = x->o->saves_memory,
                         .released = released_inputs(m, x->o, sizes->ninputs)};
  if (!memory_use(m->plan, sizes, &use) || !memory_peak(m->plan, sizes, &taking, &x->out->peak))
    return error_set(NEREID_E_MEMORY, E_GRAPH_MEMORY);
  x->out->inputs = use.inputs;
  x->out->outputs = use.outputs;
  return 0;
}

int model_memory(Model *m, const nereid_graph_options *o, nereid_planned_memory *out) {
  Measuring x = {m, o, out};
  return error_guard(m->arena, memory_body, &x);
}

/* ---- a model as options want it ---- */

/* DT_NONE in *out: the model's own. */
static int read_dtype(DType *out, const char *dtype) {
  char hint[96];
  bool known = graph_option_choice(NEREID_GRAPH_DTYPES, dtype, hint, sizeof hint) >= 0;
  *out = dtype && known ? dtype_parse(dtype, strlen(dtype)) : DT_NONE;
  return known ? 0 : error_set(NEREID_E_USAGE, E_GRAPH_DTYPE, dtype, hint);
}

/* The order is that of NEREID_GRAPH_MODES. */
enum { MODE_DEFAULT, MODE_EAGER, MODE_REPLAY, MODE_TUNE };

/* NULL is the default; -1 after an error. */
static int find_mode(const char *mode) {
  char hint[96];
  int found = graph_option_choice(NEREID_GRAPH_MODES, mode, hint, sizeof hint);
  if (found < 0) error_set(NEREID_E_USAGE, E_GRAPH_MODE, mode, hint);
  return found;
}

static int find_library_use(LibraryUse *out, const char *use) {
  char hint[96];
  int found = graph_option_choice(NEREID_GRAPH_LIBRARIES, use, hint, sizeof hint);
  *out = found < 0 ? LIBRARIES_NONE : (LibraryUse)found;
  return found < 0 ? error_set(NEREID_E_USAGE, E_GRAPH_LIBRARIES, use, hint) : 0;
}

static ReplayUse replay_use(int mode, nereid_graph_replay asked) {
  if (mode == MODE_EAGER || asked == NEREID_REPLAY_NEVER) return REPLAY_NEVER;
  bool at_once = mode == MODE_REPLAY || mode == MODE_TUNE;
  return at_once && asked == NEREID_REPLAY_BY_MODE ? REPLAY_ALWAYS : REPLAY_REPEATED;
}

int api_options(ModeOptions *out, const nereid_graph_options *o, bool gpu) {
  int mode = find_mode(o->mode);
  bool fused = mode != MODE_EAGER, tuned = mode == MODE_TUNE && gpu;
  *out = (ModeOptions){.execute.replay = replay_use(mode, o->replay)};
  out->compile = (CompileOptions){.target = gpu ? TARGET_GPU : TARGET_CPU};
  out->compile.fuse = out->compile.freeze = fused;
  out->compile.tune = tuned;
  out->compile.unchecked = o->no_checks != 0;
  out->compile.deterministic = o->deterministic != 0;
  out->compile.asserts = gpu && o->assert_indices;
  out->compile.saves_memory = o->saves_memory != 0;
  out->compile.early_loads = !o->no_early_loads;
  out->compile.tf32 = (unsigned)o->tf32;
  out->measures = mode == MODE_TUNE;
  out->chooser = (LibraryChooser){.kind = gpu ? NEREID_PTX : NEREID_C};
  int code = mode < 0 ? NEREID_E_USAGE : find_library_use(&out->use, o->libraries);
  if (!fused) out->use = LIBRARIES_NONE;
  if (out->use == LIBRARIES_ALWAYS) out->compile.libraries = &out->chooser;
  return code;
}

/* The caller's folder and call-back for the stages. */
static int observe_stages(Stages *s, const nereid_graph_options *o) {
  s->dump_after = o->dump_after;
  s->on_pass = o->on_pass;
  s->context = o->on_pass_context;
  return o->dump_dir ? stages_dump_to(s, o->dump_dir) : 0;
}

int api_read(Model **out, const nereid_graph *g) {
  int code = model_read(out, &g->source);
  return code == NEREID_E_FILE ? model_read_inputs(out, &g->source, code) : code;
}

int api_check_whole(const Model *m) {
  return m->refused ? error_again(NEREID_E_FILE, m->refused) : 0;
}

int api_fit_model(Model *m, const nereid_graph_options *o) {
  DType dtype;
  int code = read_dtype(&dtype, o->dtype);
  if (!code) code = observe_stages(m->stages, o);
  for (int i = 0; i < o->nranges && !code; i++) code = model_limit(m, &o->ranges[i]);
  if (!code) code = model_release(m, o);
  if (!code && dtype != DT_NONE) code = model_retype(m, dtype);
  for (int i = 0; i < o->nrewrites && !code; i++) code = model_add_rules(m, o->rewrites[i]);
  return code;
}

int api_take_model(Model **out, nereid_graph *g, const nereid_graph_options *o) {
  DType dtype;
  *out = NULL;
  int code = read_dtype(&dtype, o->dtype);
  const char *missing = graph_options_missing(o);
  if (missing) code = error_null("nereid_graph_options", missing);
  if (code) return code;
  *out = g->model;
  g->model = NULL;
  if (!*out) code = api_read(out, g);
  return code ? code : api_fit_model(*out, o);
}
