/* Parts of sessions: plans for the sizes of single runs of an ONNX file, which a session makes in a
 * later run.  They lend memory by the functions that the session was given, of which it has a
 * copy. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/onnx.pb-c.h"
#include "model/nereid_graph.h"
#include "tests/support/tally.h"

enum { COLUMNS = 4, MOST_ROWS = 8, FLOAT = 1, OPSET = 17 };

/* A matrix with as many rows as `size` says. */
typedef struct {
  Onnx__Dimension rows, columns;
  Onnx__Dimension *dims[2];
  Onnx__Shape shape;
  Onnx__TensorType tensor;
  Onnx__Type type;
  Onnx__ValueInfo info;
} Matrix;

static Onnx__ValueInfo *matrix(Matrix *m, const char *name, const char *size) {
  m->rows = m->columns = (Onnx__Dimension)ONNX__DIMENSION__INIT;
  m->rows.dim_param = (char *)(uintptr_t)size;
  m->columns.has_dim_value = 1;
  m->columns.dim_value = COLUMNS;
  m->dims[0] = &m->rows;
  m->dims[1] = &m->columns;
  m->shape = (Onnx__Shape)ONNX__SHAPE__INIT;
  m->shape.n_dim = 2;
  m->shape.dim = m->dims;
  m->tensor = (Onnx__TensorType)ONNX__TENSOR_TYPE__INIT;
  m->tensor.has_elem_type = 1;
  m->tensor.elem_type = FLOAT;
  m->tensor.shape = &m->shape;
  m->type = (Onnx__Type)ONNX__TYPE__INIT;
  m->type.tensor_type = &m->tensor;
  m->info = (Onnx__ValueInfo)ONNX__VALUE_INFO__INIT;
  m->info.name = (char *)(uintptr_t)name;
  m->info.type = &m->type;
  return &m->info;
}

/* z = x + y, where either may have one row: no plan holds for all sizes. */
static size_t sum_model(unsigned char **data) {
  char x[] = "x", y[] = "y", z[] = "z", add[] = "Add", *operands[] = {x, y}, *results[] = {z};
  Matrix mx, my, mz;
  Onnx__ValueInfo *in[] = {matrix(&mx, x, "n"), matrix(&my, y, "m")};
  Onnx__ValueInfo *out[] = {matrix(&mz, z, "k")};
  Onnx__Node node = ONNX__NODE__INIT, *nodes[] = {&node};
  Onnx__Graph graph = ONNX__GRAPH__INIT;
  Onnx__OperatorSet opset = ONNX__OPERATOR_SET__INIT, *opsets[] = {&opset};
  Onnx__Model model = ONNX__MODEL__INIT;
  node.op_type = add;
  node.n_input = 2, node.input = operands;
  node.n_output = 1, node.output = results;
  graph.n_node = 1, graph.node = nodes;
  graph.n_input = 2, graph.input = in;
  graph.n_output = 1, graph.output = out;
  opset.has_version = 1, opset.version = OPSET;
  model.has_ir_version = 1, model.ir_version = 8;
  model.graph = &graph;
  model.n_opset_import = 1, model.opset_import = opsets;
  *data = malloc(onnx__model__get_packed_size(&model));
  if (!*data) abort();
  return onnx__model__pack(&model, *data);
}

typedef struct {
  int taken, held, outputs, done[2];
  float *made;
} Lender;

static void *take(void *context, int64_t bytes, void **handle) {
  Lender *l = context;
  if (posix_memalign(handle, 64, (size_t)bytes)) return NULL;
  l->taken++, l->held++;
  return *handle;
}

static void give_back(void *context, void *handle) {
  ((Lender *)context)->held--;
  free(handle);
}

static int make_output(void *context, int i, nereid_tensor *out) {
  Lender *l = context;
  int64_t bytes = out->shape[0] * out->shape[1] * (int64_t)sizeof(float);
  if (i || posix_memalign(&out->data, 64, (size_t)bytes)) return 1;
  l->made = out->data;
  l->outputs++;
  return 0;
}

static void input_done(void *context, int i) { ((Lender *)context)->done[i]++; }

/* A run with so many rows is right, in memory of the lender's. */
static void run_rows(nereid_session *session, Lender *l, int64_t n, int64_t m) {
  _Alignas(64) float x[MOST_ROWS * COLUMNS], y[MOST_ROWS * COLUMNS];
  int64_t xs[] = {n, COLUMNS}, ys[] = {m, COLUMNS}, rows = n > m ? n : m;
  for (int i = 0; i < MOST_ROWS * COLUMNS; i++) x[i] = (float)i, y[i] = (float)(100 * i);
  nereid_tensor in[2] = {{.data = x, .shape = xs}, {.data = y, .shape = ys}}, out = {0};
  for (int i = 0; i < 2; i++) {
    in[i].device.device_type = 1;
    in[i].ndim = 2;
    in[i].dtype = (nereid_dl_dtype){2, 32, 1};
  }
  *l = (Lender){0};
  int code = nereid_session_prepare(session, in, 2, &out, 1);
  if (!code) code = nereid_session_run(session, in, 2, &out, 1, NULL);
  check_got(!code, "a run", nereid_error_message());
  check(l->outputs == 1 && l->made && l->held == 0, "its output is the lender's");
  check(l->done[0] == 1 && l->done[1] == 1, "its inputs are left");
  bool right = !code && l->made;
  for (int64_t i = 0; i < rows && right; i++)
    for (int64_t j = 0; j < COLUMNS && right; j++)
      right = l->made[i * COLUMNS + j] ==
              x[(n > 1 ? i : 0) * COLUMNS + j] + y[(m > 1 ? i : 0) * COLUMNS + j];
  check(right, "its values");
  free(l->made);
}

int main(void) {
  unsigned char *data;
  size_t size = sum_model(&data);
  nereid_graph_source s = {.data = (const char *)data, .size = size};
  nereid_device *d = NULL;
  nereid_graph *g = NULL;
  nereid_executable *e = NULL;
  nereid_session *session = NULL;
  Lender l = {0};
  nereid_run_memory memory = {&l, take, give_back, make_output, input_done};
  int code = nereid_device_open(&d, "cpu");
  if (!code) code = nereid_graph_open(&g, &s, NULL, NULL);
  if (!code) code = nereid_executable_new(&e, g, d, NULL);
  if (!code) code = nereid_session_new(&session, e);
  if (!code) code = nereid_session_set_memory(session, &memory);
  check_got(!code, "a session on lent memory", nereid_error_message());
  memset(&memory, 0, sizeof memory); /* the session has a copy, from which its parts have theirs */
  static const int64_t rows[][2] = {{3, 3}, {5, 5}, {3, 1}, {1, 7}, {3, 3}, {1, 1}, {8, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows && !code; i++)
    run_rows(session, &l, rows[i][0], rows[i][1]);
  nereid_session_free(session);
  nereid_executable_free(e);
  nereid_graph_free(g);
  nereid_device_close(d);
  free(data);
  return report();
}
