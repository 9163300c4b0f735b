/* Libraries: the table, the layouts of operands, and what is told where there is none. */
#include <stdlib.h>
#include <string.h>

#include "runtime/library/library_rows.h"
#include "runtime/library/library_times.h"
#include "tests/support/calls.h"

static LibraryLayout layout(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  LibraryLayout l = {0};
  LibraryMatrix x = {.dtype = DT_F32, .row = row, .column = column};
  if (!library_layout(&x, rows, columns, &l)) l.ld = 0;
  return l;
}

static void check_layout(LibraryLayout got, bool transposed, int64_t ld) {
  char text[64];
  snprintf(text, sizeof text, "transposed %d, ld %lld", got.transposed, (long long)got.ld);
  check_got(got.transposed == transposed && got.ld == ld, "a layout", text);
}

static void layouts(void) {
  check_layout(layout(3, 5, 5, 1), false, 5);
  check_layout(layout(3, 5, 9, 1), false, 9);
  check_layout(layout(3, 5, 1, 3), true, 3);
  check_layout(layout(1, 5, 0, 1), false, 5);
  check_layout(layout(3, 1, 1, 0), false, 1);
  check_layout(layout(3, 1, 7, 0), false, 7);
  check_layout(layout(1, 1, 0, 0), false, 1);
  check_call(layout(3, 5, 0, 1).ld == 0, "rows that are one are no matrix");
  check_call(layout(3, 5, 10, 2).ld == 0, "gaps in both axes");
}

static void table(void) {
  int n = 0;
  for (nereid_kind kind = 0; kind < NEREID_KIND_COUNT; kind++) {
    const LibraryFunction *f;
    for (int i = 0; (f = library_of_kind(kind, i)); i++, n++) {
      check(library_find(library_name(f)) == f, library_name(f));
      check(library_kind(f) == kind, library_name(f));
      bool product = library_work(f) == LIBRARY_PRODUCT;
      check(library_takes(f, DT_F32, DT_F32, DT_NONE, ACTIVATION_NONE) == product, library_name(f));
      check(library_convolves(f, DT_F32) != product, library_name(f));
      check(!library_convolves(f, DT_I32), library_name(f));
      check(!library_takes(f, DT_I32, DT_I32, DT_NONE, ACTIVATION_NONE), library_name(f));
    }
  }
  check(n == 7, "seven functions");
  check_call(!library_find("cublas"), "a name that is none");
}

static void messages(nereid_device *d) {
  const LibraryFunction *cublas = library_find("cublas.matmul");
  LibraryCall *c;
  LibraryShape p = {.product = {.a = {.dtype = DT_F32}, .batch = 1, .m = 2, .n = 3, .k = 4}};
  LibraryShape v = {.convolution = {.dtype = DT_F16, .images = 1, .size = {4, 5}}};
  v.convolution.channels = v.convolution.features = 8;
  v.convolution.window[0] = v.convolution.window[1] = 3;
  check_call(library_prepare(&c, d, cublas, &p, 0) == NEREID_E_TOOL && !c, "cuBLAS on a CPU");
  check_call(
      strstr(
          nereid_error_message(),
          "cublas.matmul: the library cuBLASLt is not here, or can't be used on cpu: install "
          "it, name its folder in NEREID_LIBRARY_PATH, or compile the model without libraries") !=
          NULL,
      "a message");
  check_call(!library_version(d, cublas), "its version");
  check_call(!nereid_device_library_version(d, "cublas.matmul"), "its version, by name");
  check_call(!nereid_device_library_version(d, "cublas"), "the version of no function");
  check_call(nereid_device_library_path(d, "nowhere:/dev/null") == 0, "folders");
  check_call(nereid_device_library_path(d, NULL) == NEREID_E_USAGE, "no folders");
  LibraryCall made = {.function = cublas, .shape = p};
  check_call(library_refused(&made, "why") == NEREID_E_TOOL, "a refusal");
  check_call(
      strstr(nereid_error_message(),
             "cublas.matmul has no product of 1 x [2, 3] by k = 4 in f32: why; compile the model "
             "without libraries") != NULL,
      "a message");
  made = (LibraryCall){.function = library_find("cudnn.convolution"), .shape = v};
  check_call(library_refused(&made, "why") == NEREID_E_TOOL, "a refusal of a convolution");
  check_call(strstr(nereid_error_message(),
                    "cudnn.convolution has no convolution of [1, 8, 4, 5] by 8 windows of 3 x 3 in "
                    "f16: why; compile the model without libraries") != NULL,
             "a message");
}

/* What the table says of problems that it has, of ones between them, and of others. */
static void times(void) {
  TimedProblem p = {TIMED_TN, DT_BF16, false, 1, 768, 768, 8192, 1, 1};
  ExpectedTimes t = library_times(90, &p);
  check_call(t.library > 0 && t.library < t.kernels, "a gradient of a weight");
  p.m = p.n = 960;
  ExpectedTimes larger = library_times(90, &p);
  check_call(larger.library > t.library && larger.kernels > t.kernels, "more takes longer");
  p.dtype = DT_F16;
  check_call(library_times(90, &p).library == larger.library, "f16 is as bf16");
  p = (TimedProblem){TIMED_NT, DT_BF16, false, 1, 8192, 30522, 768, 1, 1};
  t = library_times(90, &p);
  check_call(t.kernels > 0 && t.kernels < t.library, "rows that are not aligned");
  check_call(library_times(75, &p).kernels == 0, "another GPU");
  p.tf32 = true;
  check_call(library_times(90, &p).kernels == 0, "other numbers");
  p = (TimedProblem){TIMED_WEIGHT, DT_BF16, false, 1, 1605632, 64, 147, 49, 2};
  t = library_times(90, &p);
  check_call(t.kernels > 0 && t.kernels < t.library, "the gradient of a window");
  p.m = 1;
  p.batch = 1e5;
  check_call(library_times(90, &p).kernels == 0, "sizes that are far from all");
  p = (TimedProblem){TIMED_FORWARD, DT_BF16, false, 96, 50176, 1, 49, 49, 1};
  t = library_times(90, &p);
  check_call(t.kernels > 0 && t.kernels < t.library, "a convolution of each channel");
  p.work = TIMED_WEIGHT;
  t = library_times(90, &p);
  check_call(t.library > 0 && t.library < t.kernels, "the gradient of its weight");
}

static bool is_faster_on_core(double batch, double m, double n, double k) {
  TimedProblem p = {TIMED_NT, DT_F32, false, batch, m, n, k, 1, 1};
  ExpectedTimes t = library_times_of_core(&p);
  return t.kernels > 0 && t.library < t.kernels;
}

/* The comments are the shares of each other's time that both ways took on an Intel processor. */
static void times_of_core(void) {
  check_call(is_faster_on_core(1, 1024, 768, 3072), "1.1");
  check_call(is_faster_on_core(1, 98, 2304, 768), "1.1, of many rows");
  check_call(is_faster_on_core(1, 64, 512, 512), "1.6, of a small b");
  check_call(is_faster_on_core(8, 128, 256, 512), "1.35, of batches");
  check_call(!is_faster_on_core(1, 32, 4096, 1024), "0.6, of few rows");
  check_call(!is_faster_on_core(1, 1792, 16, 3424), "0.8, of few columns");
  check_call(!is_faster_on_core(16, 64, 64, 64), "0.7, of small matrices");
  TimedProblem p = {TIMED_NN, DT_BF16, false, 1, 1024, 1024, 1024, 1, 1};
  check_call(library_times_of_core(&p).kernels == 0, "other numbers");
  p.dtype = DT_F32;
  ExpectedTimes one = library_times_of_core(&p);
  p.batch = 2;
  check_call(library_times_of_core(&p).library == 2 * one.library, "two take twice as long");
  p.dtype = DT_F64;
  ExpectedTimes wide = library_times_of_core(&p);
  check_call(wide.kernels > 0 && wide.library < wide.kernels, "1.3, of 64 bits");
  check_call(wide.library > 2 * one.library, "which take longer");
}

int main(void) {
  nereid_device *d;
  layouts();
  table();
  times();
  times_of_core();
  if (nereid_device_open(&d, "cpu")) return 1;
  messages(d);
  nereid_device_close(d);
  return report();
}
