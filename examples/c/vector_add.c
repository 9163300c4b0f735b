/* Compiles a kernel and launches it, on the GPU if there is one, else on the CPU.
 *
 *   cc vector_add.c $(pkg-config --cflags --libs nereid) -o vector_add
 *   ./vector_add [examples/kernels/vector_add.py]
 */
#include <math.h>
#include <nereid.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, BLOCK = 1024, BYTES = N * sizeof(float) };

/* Every function returns 0 or a negative code, and keeps a message for this thread. */
static void must(int code) {
  if (code == NEREID_OK) return;
  fprintf(stderr, "%s\n", nereid_error_message());
  exit(1);
}

int main(int argc, char **argv) {
  nereid_device *device;
  must(nereid_device_open(&device, nereid_device_count("cuda") > 0 ? "cuda" : "cpu"));

  /* The types of run-time arguments and the values of constexprs specialize the kernel.  Memory
   * from nereid_alloc is aligned, so its pointers may promise divisibility by 16. */
  nereid_arg args[] = {{"x_ptr", "*fp32:16", NULL},
                       {"y_ptr", "*fp32:16", NULL},
                       {"out_ptr", "*fp32:16", NULL},
                       {"n", "i32", NULL},
                       {"BLOCK", NULL, "1024"}};
  nereid_request request = {.source.path = argc > 1 ? argv[1] : "examples/kernels/vector_add.py",
                            .kernel = "vector_add",
                            .args = args,
                            .nargs = sizeof args / sizeof *args};
  nereid_image *image;
  must(nereid_compile_for(&image, device, &request));
  nereid_kernel *kernel;
  must(nereid_kernel_load(&kernel, device, image));
  nereid_image_free(image);

  static float x[N], y[N], out[N];
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 0.5f;
  void *dx, *dy, *dout;
  must(nereid_alloc(&dx, device, BYTES));
  must(nereid_alloc(&dy, device, BYTES));
  must(nereid_alloc(&dout, device, BYTES));
  must(nereid_copy_in(device, dx, x, BYTES, NULL));
  must(nereid_copy_in(device, dy, y, BYTES, NULL));

  /* A launch is prepared once and may be run many times. */
  nereid_launch *launch;
  must(nereid_launch_new(&launch, kernel, (uint32_t[]){(N + BLOCK - 1) / BLOCK, 1, 1}));
  must(nereid_launch_set_pointer(launch, 0, dx));
  must(nereid_launch_set_pointer(launch, 1, dy));
  must(nereid_launch_set_pointer(launch, 2, dout));
  must(nereid_launch_set_int(launch, 3, N));
  must(nereid_launch_run(launch, NULL));
  must(nereid_copy_out(device, out, dout, BYTES, NULL));

  double error = 0;
  for (int i = 0; i < N; i++) error = fmax(error, fabs(out[i] - (i + 0.5)));
  nereid_device_info info;
  must(nereid_device_get_info(&info, device));
  printf("%s: added %d elements, largest error %g\n", info.name, N, error);

  nereid_launch_free(launch);
  nereid_kernel_free(kernel);
  nereid_free(device, dx);
  nereid_free(device, dy);
  nereid_free(device, dout);
  nereid_device_close(device);
  return error != 0;
}
