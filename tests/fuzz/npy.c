/* NumPy files. */
#include <stdlib.h>

#include "runtime/support/array.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/npy/*", NULL};
static const char *const words[] = {"'descr': '<f4'",
                                    "'fortran_order': False",
                                    "'shape': (3, 4)",
                                    "'shape': ()",
                                    "(1,)",
                                    "(0,)",
                                    "(9223372036854775807, 2)",
                                    ">i4",
                                    "<f2",
                                    "<f8",
                                    "|b1",
                                    "<V2",
                                    "True",
                                    "\x93NUMPY\x01",
                                    "\x02",
                                    "\x03",
                                    "{",
                                    "}",
                                    "\n",
                                    " ",
                                    "[('a', '<f4')]",
                                    NULL};

const FuzzTarget fuzz_target = {"npy", corpus, words, 4096, 4000};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Array a;
  fuzz_write(data, size);
  if (npy_read(&a, fuzz_file())) return 0;
  for (int64_t i = 0; i < a.count; i++) array_get(&a, i);
  for (DType t = DT_I1; t < DT_PTR; t++) {
    Array copy;
    if (npy_read(&copy, fuzz_file())) fuzz_fail("a file that is read only once");
    array_convert(&copy, t);
    free(copy.data);
  }
  if (npy_write(&a, fuzz_file())) fuzz_fail("what was read is not written");
  free(a.data);
  if (npy_read(&a, fuzz_file())) fuzz_fail("what was written is not read");
  free(a.data);
  return 0;
}
