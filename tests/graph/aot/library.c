/* The library of a built model, dyn_mlp on a CPU: what it refuses, and how it takes tensors.
 *
 *   library WEIGHTS INPUT.npy OUTPUT.npy FOLDER      FOLDER: where files may be written */
#include <math.h>
#include <model.h>
#include <npy.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failures;

static void check(int ok, const char *what) {
  if (ok) passed++;
  else failures++, printf("FAIL %s: %s\n", what, model_error());
}

/* The call failed, with a message that has these words. */
static void refused(int code, const char *words) {
  check(code < 0 && strstr(model_error(), words) != NULL, words);
}

/* ---- weights ---- */

static char *read_all(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  char *data = malloc(1 << 20);
  *size = f && data ? fread(data, 1, 1 << 20, f) : 0;
  if (f) fclose(f);
  return data;
}

static int create_with(const char *folder, const char *data, size_t size, int skip) {
  char path[4096];
  model *m;
  snprintf(path, sizeof path, "%s/weights.bin", folder);
  FILE *f = fopen(path, "wb");
  if (f) {
    fwrite(data, 1, size, f);
    fclose(f);
  }
  const int code = model_create(&m, &(model_options){.weights = path, .skip_checksum = skip});
  model_destroy(m);
  return code;
}

static void test_weights(const char *weights, const char *folder) {
  size_t size;
  char *data = read_all(weights, &size);
  model *m;
  refused(model_create(&m, &(model_options){.weights = "no/such"}), "can't open the weights");
  refused(model_create(&m, &(model_options){.weights = folder}), "is no file of weights");
  check(create_with(folder, data, size, 0) == 0, "a copy");
  refused(create_with(folder, data, 0, 0), "is no file of weights");
  refused(create_with(folder, data, 40, 0), "is no file of weights");
  refused(create_with(folder, data, size - 8, 0), "was not copied in full");
  data[size / 2] ^= 1;
  refused(create_with(folder, data, size, 0), "is damaged");
  check(create_with(folder, data, size, 1) == 0, "damaged, but not looked at");
  data[25] ^= 1;
  refused(create_with(folder, data, size, 1), "the weights of another model");
  free(data);
}

/* ---- inputs ---- */

static void test_inputs(model *m, const model_tensor *good) {
  model_tensor out, t = *good;
  t.dtype = MODEL_F16;
  refused(model_describe(m, &t, &out), "is of dtype f16, not f32");
  t = *good;
  t.ndim = 1;
  refused(model_describe(m, &t, &out), "has 1 axes, but is f32[");
  t = *good;
  t.shape[0] = 0;
  refused(model_describe(m, &t, &out), "axis 0 is 0, but s");
  t.shape[0] = (int64_t)1 << 45;
  refused(model_describe(m, &t, &out), "axis 0 is 35184372088832, but s");
  t.shape[0] = -1;
  refused(model_describe(m, &t, &out), "axis 0 is -1");
  t = *good;
  t.shape[1]++;
  refused(model_describe(m, &t, &out), "but must be");
  t = *good;
  t.data = NULL;
  out.data = NULL;
  refused(model_run(m, &t, &out, NULL), "has no data");
  t = *good;
  t.on_device = 1;
  refused(model_run(m, &t, &out, NULL), "is on a GPU");
}

/* ---- runs ---- */

static int64_t count_of(const model_tensor *t) {
  int64_t n = 1;
  for (int i = 0; i < t->ndim; i++) n *= t->shape[i];
  return n;
}

static int close_to(const float *got, const model_tensor *expected) {
  double most = 0;
  for (int64_t i = 0; i < count_of(expected); i++)
    most = fmax(most, fabs((double)got[i] - (double)((const float *)expected->data)[i]));
  return most < 1e-4;
}

/* Tensors that kernels can't use where they are. */
static void test_places(model *m, const model_tensor *in, const model_tensor *expected) {
  const size_t in_bytes = 4 * (size_t)count_of(in), out_bytes = 4 * (size_t)count_of(expected);
  char *from = malloc(in_bytes + 4), *to = malloc(out_bytes + 4);
  model_tensor moved = *in, out;
  memcpy(from + 4, in->data, in_bytes);
  moved.data = from + 4;
  check(model_describe(m, &moved, &out) == 0 && out.data == NULL, "describe");
  check(model_run(m, &moved, &out, NULL) == 0 && close_to(out.data, expected), "an output's place");
  out.data = to + 4;
  check(model_run(m, &moved, &out, NULL) == 0, "places at odd addresses");
  check(close_to((const float *)(to + 4), expected), "results at odd addresses");
  out.shape[0]++;
  refused(model_run(m, &moved, &out, NULL), "as model_describe() says");
  free(from);
  free(to);
}

/* Other sizes between two runs of the same. */
static void test_sizes(model *m, const model_tensor *in, const model_tensor *expected) {
  model_tensor small = *in, out = {.data = NULL};
  small.shape[0] = in->shape[0] > 2 ? in->shape[0] - 1 : in->shape[0];
  check(model_run(m, &small, &out, NULL) == 0 && out.shape[0] == small.shape[0], "another size");
  out.data = NULL;
  check(model_run(m, in, &out, NULL) == 0 && close_to(out.data, expected), "the first size again");
}

int main(int argc, char **argv) {
  model_tensor in, expected;
  model *m, *other;
  if (argc != 5) return 2;
  if (npy_read(&in, argv[2], model_input(0)) || npy_read(&expected, argv[3], model_output(0)))
    return 2;
  check(model_input(1) == NULL && model_output(1) == NULL && model_input(-1) == NULL, "values");
  test_weights(argv[1], argv[4]);
  check(model_create(&m, &(model_options){.weights = argv[1]}) == 0, "a model");
  check(model_create(&other, &(model_options){.weights = argv[1], .threads = 2}) == 0, "another");
  test_inputs(m, &in);
  test_places(m, &in, &expected);
  test_sizes(other, &in, &expected);
  check(model_reset(m) == 0 && model_sync(m, NULL) == 0, "reset");
  model_destroy(m);
  model_destroy(other);
  model_destroy(NULL);
  free(in.data);
  free(expected.data);
  printf("%d passed, %d failed\n", passed, failures);
  return failures != 0;
}
