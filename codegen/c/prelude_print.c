/* Helpers: lines of device_print.  They are C text, see Helper.
 * printf is the compiler's builtin, so that a unit needs no header whose names kernels could have
 * too, and it is called here alone: a call for each statement would be expanded for each lane.  A
 * loader may define PRINTF before the unit, to have the lines itself. */
#include "codegen/c/c.h"

#define PRINT(types, plain)                                                                      \
  {                                                                                              \
    "vprint_$t", types,                                                                          \
        "#ifndef PRINTF\n"                                                                       \
        "#define PRINTF __builtin_printf\n"                                                      \
        "#endif\n"                                                                               \
        "/* A line for each lane of m, as a whole: the program, the lane of each of the axes'\n" \
        " * indices, and the value, which a format may leave out. */\n"                          \
        "RARE void vprint_$t(const char *format, uint32_t x, uint32_t y, uint32_t z, vi32 m,\n"  \
        "    int axes, const vi32 *index, $V v) {\n"                                             \
        "  EACH_LANE(l) if (m[l]) {\n"                                                           \
        "    $T value = v[l];\n" plain                                                           \
        "    int i[8];\n"                                                                        \
        "    for (int a = 0; a < axes; a++) i[a] = index[a][l];\n"                               \
        "#define LINE(...) PRINTF(format, x, y, z, __VA_ARGS__)\n"                               \
        "    switch (axes) {\n"                                                                  \
        "    case 0: LINE(value); break;\n"                                                      \
        "    case 1: LINE(i[0], value); break;\n"                                                \
        "    case 2: LINE(i[0], i[1], value); break;\n"                                          \
        "    case 3: LINE(i[0], i[1], i[2], value); break;\n"                                    \
        "    case 4: LINE(i[0], i[1], i[2], i[3], value); break;\n"                              \
        "    case 5: LINE(i[0], i[1], i[2], i[3], i[4], value); break;\n"                        \
        "    case 6: LINE(i[0], i[1], i[2], i[3], i[4], i[5], value); break;\n"                  \
        "    case 7: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], value); break;\n"            \
        "    default: LINE(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], value); break;\n"     \
        "    }\n"                                                                                \
        "#undef LINE\n"                                                                          \
        "  }\n"                                                                                  \
        "}\n"                                                                                    \
  }

/* The sign of a NaN means nothing. */
const Helper c_helpers_print[] = {
    PRINT("i32 u32 i64 u64", ""),
    PRINT("f64", "    if (value != value) value = __builtin_fabs(value);\n"),
    {"FAILED", NULL,
     "#ifndef FAILED\n"
     "#define FAILED(text, x, y, z) \\\n"
     "  (__builtin_printf(\"%s\\n\", text), __builtin_abort())\n"
     "#endif\n"},
    {"vfails", NULL,
     "/* Is x false in a lane of m? */\n"
     "INLINE bool vfails(vi32 m, vi32 x) {\n"
     "  bool fails = false;\n"
     "  EACH_LANE(l) fails |= m[l] && !x[l];\n"
     "  return fails;\n"
     "}\n"},
    {0},
};
