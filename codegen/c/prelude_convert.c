/* Helpers: conversions from and to integers of 8 and 16 bits.  GCC converts vectors of bytes
 * element by element, and of 16 bits in several steps, where x86 has an instruction. */
#include "codegen/c/c.h"

#define SHORT "i8 i16 u8 u16"

/* To wider lanes: x86's instructions for 16, 8 and 4 lanes, without the closing parenthesis, and
 * what other machines do.  Operands of fewer than 16 bytes are the low part of a register. */
#define WIDEN(to, from, x512, x256, x128, others)                                  \
  {                                                                                \
    "vto_" to "_" from, NULL,                                                      \
        "INLINE v" to " vto_" to "_" from "(v" from " x) {\n"                      \
        "#if WIDENED == 16\n"                                                      \
        "  return __builtin_ia32_" x512 ", (v" to "){0}, -1);\n"                   \
        "#elif WIDENED == 8\n"                                                     \
        "  return __builtin_ia32_" x256 ");\n"                                     \
        "#elif WIDENED == 4\n"                                                     \
        "  return " x128 ";\n"                                                     \
        "#else\n"                                                                  \
        "  return " others ";\n"                                                   \
        "#endif\n"                                                                 \
        "}\n"                                                                      \
  }
#define ELSE(to) "__builtin_convertvector(x, v" to ")"

const Helper c_helpers_convert[] = {
    {"WIDENED", NULL,
     "/* How many lanes x86 widens, and a register that begins with x. */\n"
     "typedef char REGISTER_BYTES __attribute__((vector_size(16)));\n"
     "typedef char LANE_BYTES VECTOR(char);\n"
     "typedef short REGISTER_WORDS __attribute__((vector_size(16)));\n"
     "typedef short LANE_WORDS VECTOR(short);\n"
     "#define NO_4 -1, -1, -1, -1\n"
     "#if defined(__clang__)\n"
     "#define WIDENED 0\n"
     "#elif LANES == 16 && defined(__AVX512BW__) && defined(__AVX512VL__)\n"
     "#define WIDENED 16\n"
     "#define LOW_BYTES(x) (REGISTER_BYTES)x\n"
     "#elif LANES == 8 && defined(__AVX2__)\n"
     "#define WIDENED 8\n"
     "#define LOW_BYTES(x) \\\n"
     "  __builtin_shufflevector((LANE_BYTES)x, (LANE_BYTES)x, FIRST_LANES, NO_4, NO_4)\n"
     "#elif LANES == 4 && defined(__SSE4_1__)\n"
     "#define WIDENED 4\n"
     "#define LOW_BYTES(x) \\\n"
     "  __builtin_shufflevector((LANE_BYTES)x, (LANE_BYTES)x, FIRST_LANES, NO_4, NO_4, NO_4)\n"
     "#define LOW_WORDS(x) \\\n"
     "  __builtin_shufflevector((LANE_WORDS)x, (LANE_WORDS)x, FIRST_LANES, NO_4)\n"
     "#else\n"
     "#define WIDENED 0\n"
     "#endif\n"
     "#if LANES == 4 && WIDENED == 0 && !defined(__clang__) && defined(__ARM_NEON) && \\\n"
     "    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__\n"
     "/* Each lane after a zero, or before one. */\n"
     "#define UPPER(x) (vu32)__builtin_shufflevector((vu16){0}, x, 0, 4, 1, 5, 2, 6, 3, 7)\n"
     "#define LOWER(x) (vu32)__builtin_shufflevector(x, (vu16){0}, 0, 4, 1, 5, 2, 6, 3, 7)\n"
     "#else\n"
     "#define UPPER(x) (__builtin_convertvector(x, vu32) << 16)\n"
     "#define LOWER(x) __builtin_convertvector(x, vu32)\n"
     "#endif\n"},
    WIDEN("i16", "i8", "pmovsxbw256_mask(LOW_BYTES(x)", "pmovsxbw128(LOW_BYTES(x)", ELSE("i16"),
          ELSE("i16")),
    WIDEN("i16", "u8", "pmovzxbw256_mask(LOW_BYTES(x)", "pmovzxbw128(LOW_BYTES(x)", ELSE("i16"),
          ELSE("i16")),
    WIDEN("i32", "i8", "pmovsxbd512_mask(LOW_BYTES(x)", "pmovsxbd256(LOW_BYTES(x)",
          "__builtin_ia32_pmovsxbd128(LOW_BYTES(x))", ELSE("i32")),
    WIDEN("i32", "u8", "pmovzxbd512_mask(LOW_BYTES(x)", "pmovzxbd256(LOW_BYTES(x)",
          "__builtin_ia32_pmovzxbd128(LOW_BYTES(x))", ELSE("i32")),
    WIDEN("i32", "i16", "pmovsxwd512_mask(x", "pmovsxwd256(x",
          "__builtin_ia32_pmovsxwd128(LOW_WORDS(x))", "(vi32)UPPER((vu16)x) >> 16"),
    WIDEN("i32", "u16", "pmovzxwd512_mask((vi16)x", "pmovzxwd256((vi16)x",
          "__builtin_ia32_pmovzxwd128(LOW_WORDS(x))", "(vi32)LOWER(x)"),
    {"vto_$t_$q", "u16 from i8 u8", "#define vto_$t_$q(x) ((vu16)vto_i16_$q(x))\n"},
    {"vto_$t_$q", "u32 from " SHORT, "#define vto_$t_$q(x) ((vu32)vto_i32_$q(x))\n"},
    {"vto_$t_$q", "i64 u64 f32 f64 from " SHORT,
     "#define vto_$t_$q(x) __builtin_convertvector(vto_i32_$q(x), $V)\n"},

    /* ---- to narrower lanes ---- */
    {"vto_$t_$q", "i8 u8 from i32 u32",
     "INLINE $V vto_$t_$q($W x) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  typedef char bytes VECTOR(char);\n"
     "  return ($V)__builtin_ia32_pmovdb512_mask((vi32)x, (bytes){0}, -1);\n"
     "#elif LANES <= 8 && defined(__SSE2__) && !defined(__clang__)\n"
     "  typedef $T bytes __attribute__((vector_size(4 * LANES)));\n"
     "#if LANES == 8\n"
     "  return __builtin_shufflevector((bytes)x, (bytes)x, 0, 4, 8, 12, 16, 20, 24, 28);\n"
     "#else\n"
     "  return __builtin_shufflevector((bytes)x, (bytes)x, 0, 4, 8, 12);\n"
     "#endif\n"
     "#else\n"
     "  return __builtin_convertvector(x, $V);\n"
     "#endif\n"
     "}\n"},
    {"vto_$t_$q", "i16 u16 from i32 u32",
     "INLINE $V vto_$t_$q($W x) {\n"
     "#if LANES == 16 && defined(__AVX512F__) && !defined(__clang__)\n"
     "  return ($V)__builtin_ia32_pmovdw512_mask((vi32)x, (vi16){0}, -1);\n"
     "#elif LANES <= 8 && defined(__SSE2__) && !defined(__clang__)\n"
     "  typedef $T words __attribute__((vector_size(4 * LANES)));\n"
     "#if LANES == 8\n"
     "  return __builtin_shufflevector((words)x, (words)x, 0, 2, 4, 6, 8, 10, 12, 14);\n"
     "#else\n"
     "  return __builtin_shufflevector((words)x, (words)x, 0, 2, 4, 6);\n"
     "#endif\n"
     "#else\n"
     "  return __builtin_convertvector(x, $V);\n"
     "#endif\n"
     "}\n"},
    {"vto_$t_$q", SHORT " from i64 u64",
     "#define vto_$t_$q(x) vto_$t_i32(__builtin_convertvector(x, vi32))\n"},

    /* ---- from floats ---- */
    {"vtruncate_$t_$q", SHORT,
     "/* Towards zero, saturating; NaN gives 0. */\n"
     "INLINE $V vtruncate_$t_$q($W x) {\n"
     "  const bool is_signed = ($T)-1 < 0;\n"
     "  const $Q max = ($Q)((1 << ($b - is_signed)) - 1), min = is_signed ? -max - 1 : 0;\n"
     "  x = vselect_$q(vlt_$q(x, vsplat_$q(max)), x, vselect_$q(veq_$q(x, x), vsplat_$q(max),\n"
     "                                                         vsplat_$q(0)));\n"
     "  x = vselect_$q(vgt_$q(x, vsplat_$q(min)), x, vsplat_$q(min));\n"
     "  return vto_$t_i32(__builtin_convertvector(x, vi32));\n"
     "}\n"},
    {0},
};
