/* Loop nests of both levels. */
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

static const char *const corpus[] = {"tests/fuzz/nest/*",
                                     "tests/lower/nest/*.nest",
                                     "tests/lower/nest/*.thread",
                                     "tests/lower/nest/*/*.nest",
                                     "tests/lower/nest/*/*.thread",
                                     "tests/lower/passes/*/*.nest",
                                     "tests/lower/passes/*/*.thread",
                                     "tests/lower/passes/build/*.out",
                                     "tests/codegen/*.nest",
                                     "tests/codegen/*.thread",
                                     "tests/codegen/*/*.nest",
                                     "tests/codegen/*/*.thread",
                                     NULL};
static const char *const words[] = {
#define X(id, levels, dsts, srcs, mems, regions, flags, attrs, doc) #id,
    NEST_OPS(X)
#undef X
#define X(name, kind) "{" #name " 1}",
        NEST_ATTRS(X)
#undef X
#define X(id, name, kind, bits, lang, aliases) ": " name, ": *" name,
            DTYPES(X)
#undef X
                "var %v : f32[8]",
    "var %t : f32[64] [64 = 2@reg:1 32@lane:1]",
    "uniform",
    "buffer @b : shared 1024 {align 16}",
    "unroll a:4 {",
    "serial s:3 {",
    "}",
    "{",
    "[",
    "]",
    "[@b + 4*a]",
    "%v[a]",
    "(2*a + 1)",
    " if %p",
    " to ",
    "level nest",
    "level thread",
    "_",
    "bar",
    "bar {id 1, warps 2}",
    "else {",
    "step",
    "num_warps 8",
    "lanes 8",
    "target \"cpu\"",
    "target \"sm_80\"",
    "\"xor\"",
    "\"add\"",
    "\"m16n8k16.f16\"",
    "inf",
    "nan",
    "-",
    NULL};

const FuzzTarget fuzz_target = {"nest", corpus, words, 12000, 500};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_ir(data, size);
  return 0;
}
