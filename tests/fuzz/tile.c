/* Tile IR without a schedule. */
#include "tests/fuzz/common/fuzz.h"
#include "tests/fuzz/common/pipeline.h"

static const char *const corpus[] = {"tests/fuzz/tile/*", "tests/lang/tile/*.tile",
                                     "tests/sema/constructs/*.tile", "tests/lower/passes/*/*.tile",
                                     NULL};
static const char *const words[] = {
#define X(id, args, results, rule, flags, attrs, doc) #id,
    TILE_OPS(X)
#undef X
#define X(name, kind) #name " 1",
        TILE_ATTRS(X)
#undef X
#define X(id, name, kind, bits, lang, aliases) name, name "[16]", "*" name,
            DTYPES(X)
#undef X
                "carry (",
    "mask ",
    "other ",
    "{",
    "}",
    "[",
    "]",
    "yield ",
    "condition ",
    "do (",
    "else {",
    "%x",
    "@7",
    "inf",
    "nan",
    "1e400",
    "-",
    "\"",
    "[32,32]",
    "{axis 0}",
    "{combine \"add\"}",
    "{combine \"max\"}",
    "**u8",
    "f32[1048576]",
    "f32[1,1,1,1,1,1,1,1]",
    "0x1p-3",
    "return",
    "f32[3,5]",
    NULL};

const FuzzTarget fuzz_target = {"tile", corpus, words, 8000, 250};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_ir(data, size);
  return 0;
}
