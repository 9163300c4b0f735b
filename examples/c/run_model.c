/* Loads a model, runs it on inputs of zeros, and prints the first element of each output.
 *
 *   cc run_model.c $(pkg-config --cflags --libs nereid) -o run_model
 *   ./run_model [tests/models/mlp/model.pt2]
 */
#include <nereid_graph.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANK_MAX = 16 };

/* Every function returns 0 or a negative code, and keeps a message for this thread. */
static void must(int code) {
  if (code == NEREID_OK) return;
  fprintf(stderr, "%s\n", nereid_error_message());
  exit(1);
}

/* A compact tensor of zeros in host memory, of the model's input i; the inputs before it may
 * decide sizes that the model leaves open. */
static nereid_tensor zeros(nereid_executable *e, const nereid_tensor *before, int i) {
  nereid_graph_value v;
  must(nereid_executable_input(&v, e, i));
  int64_t *shape = calloc(RANK_MAX, sizeof *shape), n = 1;
  must(nereid_executable_input_shape(shape, e, before, i, i));
  for (int j = 0; j < v.ndim; j++) n *= shape[j];
  return (nereid_tensor){.data = calloc((size_t)n + 1, v.dl_dtype.bits / 8u),
                         .device = {1, 0},
                         .ndim = v.ndim,
                         .dtype = v.dl_dtype,
                         .shape = shape};
}

int main(int argc, char **argv) {
  nereid_device *device;
  must(nereid_device_open(&device, nereid_device_count("cuda") > 0 ? "cuda" : "cpu"));

  nereid_graph_source source = {.path = argc > 1 ? argv[1] : "tests/models/mlp/model.pt2"};
  nereid_graph *graph;
  must(nereid_graph_open(&graph, &source, NULL, NULL));
  nereid_executable *model;
  must(nereid_executable_new(&model, graph, device, NULL));
  nereid_graph_free(graph);

  int ninputs = nereid_executable_ninputs(model), noutputs = nereid_executable_noutputs(model);
  nereid_tensor *inputs = calloc((size_t)ninputs, sizeof *inputs);
  nereid_tensor *outputs = calloc((size_t)noutputs, sizeof *outputs);
  for (int i = 0; i < ninputs; i++) inputs[i] = zeros(model, inputs, i);

  /* Outputs without data become memory of the executable, on its device. */
  must(nereid_executable_run(model, inputs, ninputs, outputs, noutputs, NULL));
  for (int i = 0; i < noutputs; i++) {
    nereid_graph_value v;
    float first = 0;
    must(nereid_executable_output(&v, model, i));
    if (v.dl_dtype.code == 2 && v.dl_dtype.bits == 32)
      must(nereid_copy_out(device, &first, outputs[i].data, sizeof first, NULL));
    printf("%s %s: %g ...\n", v.name, v.type, first);
  }

  for (int i = 0; i < ninputs; i++) {
    free(inputs[i].data);
    free(inputs[i].shape);
  }
  free(inputs);
  free(outputs);
  nereid_executable_free(model);
  nereid_device_close(device);
  return 0;
}
