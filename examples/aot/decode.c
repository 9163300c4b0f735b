/* A model that was built ahead of time, in a program of one's own: steps of a decoder, whose cache
 * of keys and values is in the model.
 *
 *   nereid build tests/models/kv_decode/model.pt2 -o decoder --target cpu
 *   make -C decoder
 *   cc -Idecoder examples/aot/decode.c decoder/libmodel.a $(make -s -C decoder libs) -o decode
 *   ./decode decoder/weights.bin
 *
 * For a GPU it is the same with --target sm_90a,sm_80.
 */
#include <model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, WIDTH = 64 };

/* Every function returns 0 or a negative code, and keeps a message for this thread. */
static void must(int code) {
  if (code == MODEL_OK) return;
  fprintf(stderr, "%s\n", model_error());
  exit(1);
}

/* One step: the token's vector x, at its position. */
static void step(model *m, const float *x, int64_t position, float *y) {
  const model_tensor inputs[MODEL_INPUTS] = {
      {.data = (void *)x, .dtype = MODEL_F32, .ndim = 3, .shape = {1, 1, WIDTH}},
      {.data = &position, .dtype = MODEL_I64, .ndim = 1, .shape = {1}}};
  model_tensor outputs[MODEL_OUTPUTS];
  must(model_describe(m, inputs, outputs));
  outputs[0].data = y;
  must(model_run(m, inputs, outputs, NULL));
}

static void decode(model *m, float y[STEPS][WIDTH]) {
  float x[WIDTH];
  for (int i = 0; i < WIDTH; i++) x[i] = (float)(i % 7) - 3;
  for (int i = 0; i < STEPS; i++) {
    step(m, x, i, y[i]);
    memcpy(x, y[i], sizeof x);
  }
}

int main(int argc, char **argv) {
  model *m;
  must(model_create(&m, &(model_options){.weights = argc > 1 ? argv[1] : NULL}));

  float first[STEPS][WIDTH], again[STEPS][WIDTH];
  decode(m, first);
  for (int i = 0; i < STEPS; i++) printf("step %d: %g %g ...\n", i, first[i][0], first[i][1]);

  /* The cache is empty again, and so all is as it was. */
  must(model_reset(m));
  decode(m, again);
  printf("%s\n", memcmp(first, again, sizeof first) ? "not the same" : "the same again");

  model_destroy(m);
  return memcmp(first, again, sizeof first) != 0;
}
