/* Tensor descriptors through the C API: a tensor sets the base with its extents and strides. */
#include <string.h>

#include "tests/support/calls.h"

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def double(d, e):\n"
    "    e.store([0, 0], d.load([0, 0]) * 2)\n";

typedef struct {
  nereid_device *device;
  nereid_image *image;
  nereid_kernel *kernel;
  nereid_launch *launch;
  float *x; /* 8 x 8 */
} Fixture;

/* The image as a file would hold it. */
static int reload_image(Fixture *f) {
  char *bytes;
  size_t size;
  int code = nereid_image_bytes(&bytes, &size, f->image);
  nereid_image_free(f->image);
  f->image = NULL;
  if (!code) code = nereid_image_from_bytes(&f->image, bytes, size);
  nereid_text_free(bytes);
  return code;
}

static void fixture_open(Fixture *f) {
  const nereid_arg args[] = {{"d", "tensordesc<fp32[4, 4]>", NULL},
                             {"e", "tensordesc<fp32[4, 4]>", NULL},
                             {"e.shape.0", "i32:1", NULL}};
  nereid_request r = {.source = {.text = source, .size = strlen(source)}, .args = args, .nargs = 3};
  bool ok = !nereid_device_open(&f->device, "interp") &&
            !nereid_compile_for(&f->image, f->device, &r) && !reload_image(f) &&
            !nereid_kernel_load(&f->kernel, f->device, f->image) &&
            !nereid_launch_new(&f->launch, f->kernel, (uint32_t[]){1, 1, 1}) &&
            !nereid_alloc((void **)&f->x, f->device, 64 * sizeof(float));
  float ones[64];
  for (int i = 0; i < 64; i++) ones[i] = 1;
  ok = ok && !nereid_copy_in(f->device, f->x, ones, sizeof ones, NULL);
  check_call(ok, "a kernel of descriptors");
}

static void fixture_close(Fixture *f) {
  nereid_launch_free(f->launch);
  nereid_kernel_free(f->kernel);
  nereid_image_free(f->image);
  nereid_free(f->device, f->x);
  nereid_device_close(f->device);
}

static nereid_tensor tensor_of(float *x, int rank, int64_t *shape, int64_t *strides) {
  return (nereid_tensor){.data = x,
                         .device = {1, 0},
                         .ndim = rank,
                         .dtype = {2, 32, 1},
                         .shape = shape,
                         .strides = strides};
}

static void test_tensors(Fixture *f) {
  int64_t shape[] = {1, 3}, strides[] = {8, 1}, odd[] = {6, 1}, apart[] = {8, 2};
  int e = nereid_image_find_param(f->image, "e");
  nereid_tensor t = tensor_of(f->x, 2, shape, strides);
  check(e == 5 && nereid_image_nparams(f->image) == 10, "each part is a parameter");
  check_call(!nereid_launch_set_tensor(f->launch, 0, &t), "a tensor with strides");
  t.data = f->x + 32;
  check_call(!nereid_launch_set_tensor(f->launch, e, &t), "another");
  check_call(!nereid_launch_run(f->launch, NULL), "a launch");
  check(f->x[32] == 2 && f->x[34] == 2 && f->x[35] == 1 && f->x[40] == 1, "a part is written");
  t.strides = odd;
  check_call(!nereid_launch_set_tensor(f->launch, e, &t), "strides are checked by the launch");
  X(nereid_launch_run(f->launch, NULL), NEREID_E_USAGE,
    "kernel double was specialized for e.strides.0 % 4 == 0*");
  t.strides = apart;
  check_call(!nereid_launch_set_tensor(f->launch, e, &t), "so is the last");
  X(nereid_launch_run(f->launch, NULL), NEREID_E_USAGE,
    "kernel double was specialized for e.strides.1 == 1*");
  t.ndim = 1;
  X(nereid_launch_set_tensor(f->launch, e, &t), NEREID_E_USAGE,
    "the tensor descriptor e has 2 axes, the tensor for it 1");
}

/* A value sets all parts as well. */
static void test_value(Fixture *f) {
  nereid_value *v;
  check_call(!nereid_value_parse(&v, "tensordesc<f32[4,4]>:shape=[1,4]:zeros:f32[2,4]"), "a value");
  char type[64];
  check_call(!nereid_value_type(type, sizeof type, v, 1), "its type");
  check(!strcmp(type, "tensordesc<f32[4,4]>"), "its type as text");
  int e = nereid_image_find_param(f->image, "e");
  check_call(!nereid_launch_set_value(f->launch, e, v, f->x + 32), "a value for a descriptor");
  check_call(!nereid_launch_run(f->launch, NULL), "a launch with it");
  check(f->x[32] == 2 && f->x[35] == 0 && f->x[36] == 1, "its shape counts");
  nereid_value_free(v);
}

int main(void) {
  Fixture f;
  fixture_open(&f);
  test_tensors(&f);
  test_value(&f);
  fixture_close(&f);
  return report();
}
