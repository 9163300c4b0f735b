/* The API as a program uses it that has its kernels in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nereid_tune.h"
#include "tests/support/calls.h"

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"

static const char store_past[] = HEAD
    "def f(x):\n"
    "    tl.store(x + tl.arange(0, 8), 1.0)\n";

/* ---- messages of text in memory ---- */

static void refuse(const char *path, const char *text, int code, const char *message) {
  char *out;
  size_t size;
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  nereid_request r = {.source = {.path = path, .text = text}, .args = args, .nargs = 1};
  check_call(
      nereid_emit(&out, &size, &r, NEREID_PTX) == code && !strcmp(nereid_error_message(), message),
      nereid_error_message());
}

static void test_messages(void) {
  refuse(NULL, HEAD "def f(x):\n    tl.store(x, y)\n", NEREID_E_KERNEL,
         "<text>:5:17: error: 'y' is not defined\n"
         "        tl.store(x, y)\n"
         "                    ^\n");
  /* Each cause has one message: the kernel is in the part that could not be read. */
  refuse("mine.py", HEAD "def f(x:\n    tl.store(x, 1.0)\n", NEREID_E_KERNEL,
         "mine.py:4:6: error: '(' is not closed in the file\n"
         "    def f(x:\n"
         "         ^\n");
  refuse(NULL, "x = 1\n", NEREID_E_KERNEL, "error: <text> has no function under `jit`\n");
  refuse(NULL, NULL, NEREID_E_USAGE, "the source has neither a path nor text in memory");
}

/* A kernel that is asked for twice wrongly: each message is its own. */
static void test_find(void) {
  nereid_module *m;
  const nereid_kernel_info *k;
  nereid_source s = {.text = store_past};
  if (nereid_module_open(&m, &s, NULL, NULL)) abort();
  nereid_module_find(&k, m, "g");
  check_call(
      nereid_module_find(&k, m, "h") == NEREID_E_USAGE && !strstr(nereid_error_message(), "'g'"),
      nereid_error_message());
  check_call(!nereid_module_find(&k, m, "f") && k, "found");
  nereid_module_free(m);
}

/* ---- findings ---- */

/* Runs the kernel on 4 floats, those of the device or the caller's own; the image is written to a
 * file's bytes and read again before. */
static int run(const char *device, bool own) {
  nereid_device *d;
  nereid_image *image, *again;
  nereid_kernel *k;
  nereid_launch *l;
  void *p;
  static float memory[8];
  char *bytes;
  size_t size;
  nereid_arg args[] = {{"x", "*fp32", NULL}};
  nereid_request r = {.source = {.text = store_past}, .args = args, .nargs = 1};
  if (nereid_device_open(&d, device) || nereid_compile_for(&image, d, &r)) abort();
  if (nereid_image_bytes(&bytes, &size, image)) abort();
  if (nereid_image_from_bytes(&again, bytes, size)) abort();
  if (nereid_kernel_load(&k, d, again) || nereid_alloc(&p, d, 16)) abort();
  nereid_image_free(image);
  nereid_image_free(again);
  nereid_text_free(bytes);
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1})) abort();
  if (nereid_launch_set_pointer(l, 0, own ? (void *)memory : p)) abort();
  int code = nereid_launch_run(l, NULL);
  if (!code) code = nereid_device_sync(d);
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_free(d, p);
  nereid_device_close(d);
  return code;
}

static void expect_finding(const char *device, bool own, const char *words) {
  static const char line[] = "    tl.store(x + tl.arange(0, 8), 1.0)\n        ^";
  check_call(run(device, own) == NEREID_E_FINDINGS && strstr(nereid_error_message(), line) &&
                 strstr(nereid_error_message(), words),
             nereid_error_message());
}

static void test_findings(void) {
  static const char foreign[] =
      "store of 4 bytes through 'x', which points to memory unknown to the device";
  expect_finding("interp", false, "past the end of 'x'");
  expect_finding("nest", false, "past the end of 'x'");
  expect_finding("interp", true, foreign);
  expect_finding("nest", true, foreign);
  expect_finding("interp", true, "get the memory by nereid_alloc()");
}

/* ---- printed lines ---- */

static const char print_three[] = HEAD
    "def f(n):\n"
    "    tl.device_print('100% n', n + tl.arange(0, 2))\n"
    "    tl.device_print('done')\n";

typedef struct {
  char text[512];
  int lines;
} Printed;

static void keep_printed(void *context, const char *line) {
  Printed *p = context;
  size_t n = strlen(p->text);
  p->lines++;
  snprintf(p->text + n, sizeof p->text - n, "%s", line);
}

static void expect_printed(const char *device) {
  nereid_device *d;
  nereid_image *image;
  nereid_kernel *k;
  nereid_launch *l;
  Printed p = {0};
  nereid_arg args[] = {{"n", "i32", NULL}};
  nereid_request r = {.source = {.text = print_three}, .args = args, .nargs = 1};
  if (nereid_device_open(&d, device)) abort();
  nereid_device_on_print(d, keep_printed, &p);
  if (nereid_compile_for(&image, d, &r) || nereid_kernel_load(&k, d, image)) abort();
  nereid_image_free(image);
  if (nereid_launch_new(&l, k, (uint32_t[]){1, 1, 1}) || nereid_launch_set_int(l, 0, 7)) abort();
  check_call(!nereid_launch_run(l, NULL) && !nereid_device_sync(d), nereid_error_message());
  check_call(p.lines == 3, device);
  check_call(!strcmp(p.text,
                     "pid (0, 0, 0) idx (0) 100% n: 7\n"
                     "pid (0, 0, 0) idx (1) 100% n: 8\n"
                     "pid (0, 0, 0) done\n"),
             p.text);
  nereid_launch_free(l);
  nereid_kernel_free(k);
  nereid_device_close(d);
}

static void test_printed(void) {
  expect_printed("interp");
  expect_printed("nest");
  expect_printed("cpu");
}

/* ---- structs with NULL where there must be something ---- */

static void test_structs(void) {
  char *out;
  size_t size;
  nereid_tuning *t = (nereid_tuning *)&size;
  nereid_request r = {.source = {.text = store_past}, .nargs = 1};
  nereid_tune_request tune = {.kernel = {.source = {.text = store_past}}, .nargs = 1, .grid = "1"};
  nereid_arg unnamed = {NULL, "*fp32", NULL};
  X(nereid_emit(&out, &size, &r, NEREID_PTX), NEREID_E_USAGE,
    "nereid_request: argument args is NULL");
  r.args = &unnamed;
  check_call(nereid_emit(&out, &size, &r, NEREID_PTX) == NEREID_E_USAGE, "name");
  r.nargs = 0, r.source.n_import_path = 1;
  check_call(nereid_emit(&out, &size, &r, NEREID_PTX) == NEREID_E_USAGE, "import_path");
  check_call(nereid_tune(&t, &tune) == NEREID_E_USAGE && !t, "settings");
}

int main(void) {
  test_messages();
  test_find();
  test_findings();
  test_printed();
  test_structs();
  return report();
}
