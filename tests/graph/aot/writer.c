/* The library of writes.py: an input that the model writes to, an output that is this input, a size
 * that follows from an expression, an input that nothing reads. */
#include <model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failures;

static void check(int ok, const char *what) {
  if (ok) passed++;
  else failures++, printf("FAIL %s: %s\n", what, model_error());
}

enum { ROWS = 7 };

static model_tensor rows(float *data, int n) {
  return (model_tensor){.data = data, .dtype = MODEL_F32, .ndim = 2, .shape = {n, 4}};
}

/* `x` may lie where kernels can't use it. */
static void test_run(model *m, float *x, const char *what) {
  float y[ROWS * 4], mul[ROWS * 4], add[4];
  int64_t unused = 5;
  for (int i = 0; i < ROWS * 4; i++) y[i] = (float)i;
  for (int i = 0; i < 4; i++) x[i] = (float)i;
  const model_tensor inputs[MODEL_INPUTS] = {
      rows(y, ROWS),
      {.data = x, .dtype = MODEL_F32, .ndim = 1, .shape = {4}},
      {.data = &unused, .dtype = MODEL_I64, .ndim = 1, .shape = {1}}};
  model_tensor outputs[MODEL_OUTPUTS];
  check(model_describe(m, inputs, outputs) == 0 && outputs[0].shape[0] == ROWS, what);
  outputs[0].data = mul;
  outputs[1].data = add;
  check(model_run(m, inputs, outputs, NULL) == 0, what);
  int right = 1;
  for (int i = 0; i < 4; i++) right &= x[i] == (float)i + 1 && add[i] == (float)i + 1;
  for (int i = 0; i < ROWS * 4; i++) right &= mul[i] == (float)i * (float)(i % 4 + 1);
  check(right, what);
}

static void test_sizes(model *m) {
  float y[4 * 8] = {0}, x[4] = {0};
  int64_t unused = 5;
  model_tensor outputs[MODEL_OUTPUTS];
  model_tensor inputs[MODEL_INPUTS] = {
      rows(y, 6),
      {.data = x, .dtype = MODEL_F32, .ndim = 1, .shape = {4}},
      {.data = &unused, .dtype = MODEL_I64, .ndim = 1, .shape = {1}}};
  const int code = model_describe(m, inputs, outputs);
  check(code == MODEL_E_USAGE && strstr(model_error(), "axis 0 is 6, but must be 5 in f32[2*s0"),
        "an even number of rows");
}

int main(int argc, char **argv) {
  model *m;
  float *memory = aligned_alloc(64, 128);
  check(argc == 2 && model_create(&m, &(model_options){.weights = argv[1]}) == 0, "a model");
  if (failures || !memory) return 1;
  test_run(m, memory, "written in place");
  test_run(m, memory + 1, "written through a copy");
  test_sizes(m);
  model_destroy(m);
  free(memory);
  printf("%d passed, %d failed\n", passed, failures);
  return failures != 0;
}
