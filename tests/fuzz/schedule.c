/* Tile IR with its schedule: layouts, atoms, and what the passes make of schedules that nobody
 * would choose. */
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

static const char *const corpus[] = {"tests/fuzz/schedule/*", "tests/lower/passes/build/*.tile",
                                     "tests/lower/passes/schedule/*.out", "tests/codegen/*.tile",
                                     "tests/codegen/*/*.tile", NULL};
static const char *const words[] = {"reg",
                                    "lane",
                                    "warp",
                                    "byte",
                                    "serial",
                                    "@reg:1",
                                    "@lane:1",
                                    "@warp:1",
                                    "@reg:2",
                                    "@lane:4",
                                    "2@",
                                    "4@",
                                    "8@",
                                    "32@",
                                    "1@",
                                    "3@",
                                    " * 2@warp:1",
                                    " * 4@lane:8",
                                    " xor 3,4,3",
                                    " xor 1,1,1",
                                    "atom m16n8k16.f16",
                                    "atom m16n8k8.tf32",
                                    "store 0: [64 = 2@reg:1 32@lane:1]",
                                    ": reg [",
                                    "]",
                                    "[64]",
                                    "[64 = 2@reg:1 32@lane:1]",
                                    "schedule @k {",
                                    "}",
                                    "{",
                                    "=",
                                    ",",
                                    "@",
                                    ":",
                                    "*",
                                    NULL};

const FuzzTarget fuzz_target = {"schedule", corpus, words, 7000, 300};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_ir(data, size);
  return 0;
}
