/* Helpers: memory and atomics. */
#include "codegen/c/c.h"

#define PLAIN "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64"
#define NARROW "bf16 f16 f8e5 f8e4nv f8e4b15"

const Helper c_helpers_memory[] = {
    /* ---- checks: whoever loads the unit may define REACH before it ---- */
    {"REACH", NULL,
     "/* Where each argument's memory begins and ends, 0 and 0 if unknown; or NULL. */\n"
     "#ifndef REACH\n"
     "#define REACH(args) NULL\n"
     "#endif\n"},
    {"outside", NULL,
     "/* Of argument i. */\n"
     "INLINE bool outside(const uint64_t *reach, int i, uint64_t at, uint64_t bytes) {\n"
     "  if (!reach || !reach[2 * i + 1]) return false;\n"
     "  return at < reach[2 * i] || at + bytes > reach[2 * i + 1] || at + bytes < at;\n"
     "}\n"},
    {"voutside", NULL,
     "/* Is an address outside in a lane of m? */\n"
     "RARE bool voutside(const uint64_t *reach, int i, vi32 m, vu64 at, uint64_t bytes) {\n"
     "  bool some = false;\n"
     "  EACH_LANE(l) some |= m[l] && outside(reach, i, at[l], bytes);\n"
     "  return some;\n"
     "}\n"},

    /* ---- one element ---- */
    {"load_$t", PLAIN,
     "INLINE $T load_$t(const char *p) {\n"
     "  $T x;\n"
     "  memcpy(&x, p, sizeof x);\n"
     "  return x;\n"
     "}\n"},
    {"load_$t", NARROW, "INLINE float load_$t(const char *p) { return decode_$t(load_$u(p)); }\n"},
    {"load_$t", "i1", "INLINE bool load_$t(const char *p) { return *p != 0; }\n"},
    {"load_volatile_$t", PLAIN,
     "INLINE $T load_volatile_$t(const char *p) {\n"
     "  $T x;\n"
     "  __atomic_load(($T *)p, &x, __ATOMIC_RELAXED);\n"
     "  return x;\n"
     "}\n"},
    {"load_volatile_$t", NARROW,
     "INLINE float load_volatile_$t(const char *p) { return decode_$t(load_volatile_$u(p)); }\n"},
    {"load_volatile_$t", "i1",
     "INLINE bool load_volatile_$t(const char *p) { return load_volatile_u8(p) != 0; }\n"},
    {"store_$t", PLAIN, "INLINE void store_$t(char *p, $T x) { memcpy(p, &x, sizeof x); }\n"},
    {"store_$t", NARROW, "INLINE void store_$t(char *p, float x) { store_$u(p, encode_$t(x)); }\n"},
    {"store_$t", "i1", "INLINE void store_$t(char *p, bool x) { *p = x; }\n"},

    /* ---- neighbours ---- */
    {"vload_$t", PLAIN,
     "INLINE $V vload_$t(const char *p) {\n"
     "  $V v;\n"
     "  memcpy(&v, p, sizeof v);\n"
     "  return v;\n"
     "}\n"},
    {"vload_$t", NARROW,
     "INLINE vf32 vload_$t(const char *p) { return vdecode_$t(vload_$u(p)); }\n"},
    {"vload_$t", "i1",
     "INLINE vi32 vload_$t(const char *p) { return vto_i32_u8(vload_u8(p)) != 0; }\n"},
    {"vload_kept_$t", "i32 u32 f32 f64",
     "/* In a register from here on: gcc would rather load it again at each use. */\n"
     "INLINE $V vload_kept_$t(const char *p) {\n"
     "  $V v = vload_$t(p);\n"
     "#if LANES * $b == 512 && defined(__AVX512F__)\n"
     "  __asm__(\"\" : \"+v\"(v));\n"
     "#elif (LANES * $b == 128 && defined(__SSE2__)) || (LANES * $b == 256 && defined(__AVX__))\n"
     "  __asm__(\"\" : \"+x\"(v));\n"
     "#endif\n"
     "  return v;\n"
     "}\n"},
    /* memcpy() of a constant vector is a store of a long integer, of which GCC 12 takes the lower
     * half for all of it where there is AVX-512. */
    {"vstore_$t", PLAIN,
     "INLINE void vstore_$t(char *p, $V v) {\n"
     "  typedef $V anywhere __attribute__((aligned(1), may_alias));\n"
     "  *(anywhere *)p = v;\n"
     "}\n"},
    {"vstore_$t", NARROW,
     "INLINE void vstore_$t(char *p, vf32 v) { vstore_$u(p, vencode_$t(v)); }\n"},
    {"vstore_$t", "i1",
     "INLINE void vstore_$t(char *p, vi32 v) { vstore_u8(p, vto_u8_i32(v & 1)); }\n"},

    /* ---- neighbours, around the caches ---- */
    {"stream_bytes", NULL,
     "/* n bytes to an address that n divides. */\n"
     "INLINE void stream_bytes(char *p, const char *from, int n) {\n"
     "#if defined(__AVX__)\n"
     "  typedef long long part __attribute__((vector_size(32)));\n"
     "#elif defined(__SSE2__)\n"
     "  typedef long long part __attribute__((vector_size(16)));\n"
     "#endif\n"
     "#ifdef __SSE2__\n"
     "  UNROLL(16) for (; n >= (int)sizeof(part); n -= sizeof(part)) {\n"
     "    part x;\n"
     "    memcpy(&x, from, sizeof x);\n"
     "#if defined(__clang__)\n"
     "    __builtin_nontemporal_store(x, (part *)p);\n"
     "#elif defined(__AVX__)\n"
     "    __builtin_ia32_movntdq256((part *)p, x);\n"
     "#else\n"
     "    __builtin_ia32_movntdq((part *)p, x);\n"
     "#endif\n"
     "    p += sizeof(part);\n"
     "    from += sizeof(part);\n"
     "  }\n"
     "#endif\n"
     "  memcpy(p, from, n);\n"
     "}\n"},
    {"stream_end", NULL,
     "/* Streamed stores come before all that follows. */\n"
     "INLINE void stream_end(void) {\n"
     "#ifdef __SSE2__\n"
     "  __builtin_ia32_sfence();\n"
     "#endif\n"
     "}\n"},
    {"vstream_$t", PLAIN,
     "INLINE void vstream_$t(char *p, $V v, bool stream) {\n"
     "#if LANES * $b == 512 && defined(__AVX512F__) && !defined(__clang__)\n"
     "#define STREAM __builtin_ia32_movntdq512\n"
     "#elif LANES * $b == 256 && defined(__AVX__) && !defined(__clang__)\n"
     "#define STREAM __builtin_ia32_movntdq256\n"
     "#elif LANES * $b == 128 && defined(__SSE2__) && !defined(__clang__)\n"
     "#define STREAM __builtin_ia32_movntdq\n"
     "#endif\n"
     "#ifdef STREAM\n"
     "  typedef long long whole __attribute__((vector_size(sizeof v), may_alias));\n"
     "  if (stream && (uintptr_t)p % sizeof v == 0) STREAM((whole *)p, (whole)v);\n"
     "#undef STREAM\n"
     "#else\n"
     "  if (stream && (uintptr_t)p % sizeof v == 0) stream_bytes(p, (const char *)&v, sizeof v);\n"
     "#endif\n"
     "  else vstore_$t(p, v);\n"
     "}\n"},
    {"vstream_$t", NARROW,
     "INLINE void vstream_$t(char *p, vf32 v, bool stream) {\n"
     "  vstream_$u(p, vencode_$t(v), stream);\n"
     "}\n"},
    {"vstream_$t", "i1",
     "INLINE void vstream_$t(char *p, vi32 v, bool stream) {\n"
     "  vstream_u8(p, vto_u8_i32(v & 1), stream);\n"
     "}\n"},

    /* ---- neighbours, in the first n lanes ---- */
    {"vload_first_$t", PLAIN " " NARROW " i1",
     "INLINE $V vload_first_$t(const char *p, int n, $V v) {\n"
     "  return n > 0 ? vload_some_$t(p, n, v) : v;\n"
     "}\n"},
    {"vload_upto_$t", "f32 i32 u32",
     "#if LANE_SETS && defined(__AVX512VL__) && defined(LOAD_32)\n"
     "INLINE $V vload_upto_$t(const char *p, int n, $V v) {\n"
     "  return ($V)LOAD_32(p, v, FIRST_SET(n > 0 ? n : 0));\n"
     "}\n"
     "#else\n"
     "INLINE $V vload_upto_$t(const char *p, int n, $V v) {\n"
     "  return n == LANES ? vload_$t(p) : vload_first_$t(p, n, v);\n"
     "}\n"
     "#endif\n"},
    {"vstore_first_$t", PLAIN " " NARROW " i1",
     "INLINE void vstore_first_$t(char *p, int n, $V v) {\n"
     "  if (n > 0) vstore_some_$t(p, n, v);\n"
     "}\n"},
    {"LANE_SETS", NULL,
     "/* Sets of lanes; loads and stores of elements of so many bits, if there are any. */\n"
     "#define LANE_SETS 1\n"
     "typedef char SET_BYTES VECTOR(char);\n"
     "typedef long long SET_LONGS VECTOR(long long);\n"
     "#if defined(__clang__)\n"
     "#elif LANES == 16 && defined(__AVX512VL__) && defined(__AVX512BW__)\n"
     "#define FIRST_SET(n) (uint16_t)((1u << (n)) - 1)\n"
     "#define MASK_SET(m) (uint16_t)__builtin_ia32_ptestmd512(m, m, -1)\n"
     "#define LOAD_8(p, v, s) __builtin_ia32_loaddquqi128_mask(p, (SET_BYTES)v, s)\n"
     "#define STORE_8(p, v, s) __builtin_ia32_storedquqi128_mask(p, (SET_BYTES)v, s)\n"
     "#define LOAD_16(p, v, s) __builtin_ia32_loaddquhi256_mask((const short *)p, (vi16)v, s)\n"
     "#define STORE_16(p, v, s) __builtin_ia32_storedquhi256_mask((short *)p, (vi16)v, s)\n"
     "#define LOAD_32(p, v, s) __builtin_ia32_loaddqusi512_mask((const int *)p, (vi32)v, s)\n"
     "#define STORE_32(p, v, s) __builtin_ia32_storedqusi512_mask((int *)p, (vi32)v, s)\n"
     "#elif LANES == 8 && defined(__AVX512VL__) && defined(__AVX512BW__)\n"
     "#define FIRST_SET(n) (uint8_t)((1u << (n)) - 1)\n"
     "#define MASK_SET(m) (uint8_t)__builtin_ia32_ptestmd256(m, m, -1)\n"
     "#define LOAD_16(p, v, s) __builtin_ia32_loaddquhi128_mask((const short *)p, (vi16)v, s)\n"
     "#define STORE_16(p, v, s) __builtin_ia32_storedquhi128_mask((short *)p, (vi16)v, s)\n"
     "#define LOAD_32(p, v, s) __builtin_ia32_loaddqusi256_mask((const int *)p, (vi32)v, s)\n"
     "#define STORE_32(p, v, s) __builtin_ia32_storedqusi256_mask((int *)p, (vi32)v, s)\n"
     "#define LOAD_64(p, v, s) \\\n"
     "  __builtin_ia32_loaddqudi512_mask((const long long *)p, (SET_LONGS)v, s)\n"
     "#define STORE_64(p, v, s) \\\n"
     "  __builtin_ia32_storedqudi512_mask((long long *)p, (SET_LONGS)v, s)\n"
     "#elif LANES == 8 && defined(__AVX2__)\n"
     "#define FIRST_SET(n) vfirst(n)\n"
     "#define MASK_SET(m) m\n"
     "#define LOAD_32(p, v, s) \\\n"
     "  vselect_i32(s, __builtin_ia32_maskloadd256((const vi32 *)p, s), (vi32)v)\n"
     "#define STORE_32(p, v, s) __builtin_ia32_maskstored256((vi32 *)p, s, (vi32)v)\n"
     "#endif\n"},
    {"vload_some_$t", PLAIN,
     "#if LANE_SETS && defined(LOAD_$b)\n"
     "INLINE $V vload_some_$t(const char *p, int n, $V v) {\n"
     "  return ($V)LOAD_$b(p, v, FIRST_SET(n));\n"
     "}\n"
     "#else\n"
     "RARE $V vload_some_$t(const char *p, int n, $V v) {\n"
     "  $T x[LANES];\n"
     "  memcpy(x, &v, sizeof v);\n"
     "  for (int i = 0; i < n; i++) x[i] = load_$t(p + i * sizeof *x);\n"
     "  memcpy(&v, x, sizeof v);\n"
     "  return v;\n"
     "}\n"
     "#endif\n"},
    {"vload_some_$t", NARROW,
     "#if LANE_SETS && defined(LOAD_$b)\n"
     "INLINE $V vload_some_$t(const char *p, int n, $V v) {\n"
     "  return vselect_f32(vfirst(n), vdecode_$t(vload_some_$u(p, n, (v$u){0})), v);\n"
     "}\n"
     "#else\n"
     "RARE $V vload_some_$t(const char *p, int n, $V v) {\n"
     "  for (int i = 0; i < n; i++) v[i] = load_$t(p + i * sizeof($S));\n"
     "  return v;\n"
     "}\n"
     "#endif\n"},
    {"vload_some_$t", "i1",
     "RARE $V vload_some_$t(const char *p, int n, $V v) {\n"
     "  for (int i = 0; i < n; i++) v[i] = VALUE_$t(load_$t(p + i * sizeof($S)));\n"
     "  return v;\n"
     "}\n"},
    {"VALUE_$t", "i1", "#define VALUE_$t(x) -(int32_t)(x)\n"},
    {"VALUE_$t", PLAIN " " NARROW, "#define VALUE_$t(x) (x)\n"},
    {"vstore_some_$t", PLAIN,
     "#if LANE_SETS && defined(STORE_$b)\n"
     "INLINE void vstore_some_$t(char *p, int n, $V v) { STORE_$b(p, v, FIRST_SET(n)); }\n"
     "#else\n"
     "RARE void vstore_some_$t(char *p, int n, $V v) {\n"
     "  for (int i = 0; i < n; i++) store_$t(p + i * sizeof($S), v[i]);\n"
     "}\n"
     "#endif\n"},
    {"vstore_some_$t", NARROW " i1",
     "RARE void vstore_some_$t(char *p, int n, $V v) {\n"
     "  for (int i = 0; i < n; i++) store_$t(p + i * sizeof($S), v[i]);\n"
     "}\n"},

    /* ---- neighbours, in the lanes of a mask ---- */
    {"vload_mask_$t", PLAIN,
     "#if LANE_SETS && defined(LOAD_$b)\n"
     "INLINE $V vload_mask_$t(const char *p, vi32 m, $V v) {\n"
     "  return ($V)LOAD_$b(p, v, MASK_SET(m));\n"
     "}\n"
     "#else\n"
     "RARE $V vload_mask_$t(const char *p, vi32 m, $V v) {\n"
     "  EACH_LANE(i) if (m[i]) v[i] = load_$t(p + i * sizeof($S));\n"
     "  return v;\n"
     "}\n"
     "#endif\n"},
    {"vload_mask_$t", NARROW " i1",
     "RARE $V vload_mask_$t(const char *p, vi32 m, $V v) {\n"
     "  EACH_LANE(i) if (m[i]) v[i] = VALUE_$t(load_$t(p + i * sizeof($S)));\n"
     "  return v;\n"
     "}\n"},
    {"vstore_mask_$t", PLAIN,
     "#if LANE_SETS && defined(STORE_$b)\n"
     "INLINE void vstore_mask_$t(char *p, vi32 m, $V v) { STORE_$b(p, v, MASK_SET(m)); }\n"
     "#else\n"
     "RARE void vstore_mask_$t(char *p, vi32 m, $V v) {\n"
     "  EACH_LANE(i) if (m[i]) store_$t(p + i * sizeof($S), v[i]);\n"
     "}\n"
     "#endif\n"},
    {"vstore_mask_$t", NARROW " i1",
     "RARE void vstore_mask_$t(char *p, vi32 m, $V v) {\n"
     "  EACH_LANE(i) if (m[i]) store_$t(p + i * sizeof($S), v[i]);\n"
     "}\n"},

    /* ---- lanes that are `step` bytes apart ---- */
    {"vruns_$t", PLAIN,
     "/* Elements of n neighbours at p and n at p + more, in the order given. */\n"
     "#define vruns_$t(n, p, more, ...) ({ \\\n"
     "  typedef $T RUN __attribute__((vector_size((n) * sizeof($T)), aligned(1), may_alias)); \\\n"
     "  const uint64_t RUN_AT = p; \\\n"
     "  const RUN RUN_1 = *(const RUN *)RUN_AT, RUN_2 = *(const RUN *)(RUN_AT + (more)); \\\n"
     "  __builtin_shufflevector(RUN_1, RUN_2, __VA_ARGS__); \\\n"
     "})\n"},
    {"vwords_$t", PLAIN,
     "/* Elements of the words of so many bits at p and at p + more, in the order given: from "
     "LANES\n"
     " * on they are of the second.  All of a vector is its word: a shorter vector would go "
     "through\n"
     " * memory to become as long. */\n"
     "#define vwords_$t(bits, p, more, ...) ({ \\\n"
     "  typedef uint##bits##_t WORD __attribute__((aligned(1), may_alias)); \\\n"
     "  typedef WORD WORDS __attribute__((vector_size(LANES * sizeof($T)))); \\\n"
     "  typedef $T RUNS __attribute__((vector_size(LANES * sizeof($T)))); \\\n"
     "  const uint64_t WORDS_AT = p; \\\n"
     "  const RUNS RUN_1 = (RUNS)((WORDS){0} + *(const WORD *)WORDS_AT); \\\n"
     "  const RUNS RUN_2 = (RUNS)((WORDS){0} + *(const WORD *)(WORDS_AT + (more))); \\\n"
     "  __builtin_shufflevector(RUN_1, RUN_2, __VA_ARGS__); \\\n"
     "})\n"},
    {"vpick_$t", "f32 i32",
     "/* Elements of a vector at p in an order; it reads those of the bits alone. */\n"
     "#define vpick_$t(p, bits, ...) ({ \\\n"
     "  const $V PICKED = vload_bits_$t((const char *)(p), bits); \\\n"
     "  __builtin_shufflevector(PICKED, PICKED, __VA_ARGS__); \\\n"
     "})\n"},
    {"vload_bits_$t", "f32 i32",
     "INLINE $V vload_bits_$t(const char *p, uint64_t bits) {\n"
     "#if LANE_SETS && defined(LOAD_32) && LANES == 16\n"
     "  return ($V)LOAD_32(p, ($V){0}, (uint16_t)bits);\n"
     "#elif LANE_SETS && defined(LOAD_32)\n"
     "  const vi32 lane = vramp_i32(0, 1);\n"
     "  const vi32 read = ((vsplat_i32((int32_t)bits) >> lane) & 1) != 0;\n"
     "  return ($V)LOAD_32(p, ($V){0}, MASK_SET(read));\n"
     "#else\n"
     "  $V v = {0};\n"
     "  EACH_LANE(i) if (bits >> i & 1) v[i] = load_$t(p + i * sizeof($S));\n"
     "  return v;\n"
     "#endif\n"
     "}\n"},
    {"vsecond_first_$t", "i16 u16",
     "/* Every second element in the first n lanes, elements of v in the others. */\n"
     "INLINE $V vsecond_first_$t(const char *p, int n, $V v) {\n"
     "  if (n <= 0) return v;\n"
     "  const vi32 last = vramp_i32(0, 1) == vsplat_i32(n - 1);\n"
     "  vi32 words = vload_bits_i32(p, (UINT64_C(1) << (n - 1)) - 1);\n"
     "  words = vselect_i32(last, vsplat_i32(load_$t(p + 4 * (n - 1))), words);\n"
     "  return vselect_$t(vfirst(n), vto_$t_i32(words), v);\n"
     "}\n"},
    {"vgather_step_$t", PLAIN " i1",
     "INLINE $V vgather_step_$t(const char *p, int64_t step) {\n"
     "  $V v;\n"
     "  EACH_LANE(i) v[i] = VALUE_$t(load_$t(p + i * step));\n"
     "  return v;\n"
     "}\n"},
    {"vgather_step_$t", NARROW,
     "INLINE vf32 vgather_step_$t(const char *p, int64_t step) {\n"
     "  return vdecode_$t(vgather_step_$u(p, step));\n"
     "}\n"},
    {"vscatter_step_$t", PLAIN " i1",
     "INLINE void vscatter_step_$t(char *p, int64_t step, $V v) {\n"
     "  EACH_LANE(i) store_$t(p + i * step, v[i]);\n"
     "}\n"},
    {"vscatter_step_$t", NARROW,
     "INLINE void vscatter_step_$t(char *p, int64_t step, vf32 v) {\n"
     "  vscatter_step_$u(p, step, vencode_$t(v));\n"
     "}\n"},
    {"vturn_rows_$t", "i32 i64 u32 u64 f32 f64",
     "/* Lane l of vector i and lane i of vector l change places. */\n"
     "INLINE void vturn_rows_$t($V *v) {\n"
     "#if !defined(__clang__)\n"
     "  UNROLL(4) for (int by = 1; by < LANES; by *= 2)\n"
     "    UNROLL(16) for (int i = 0; i < LANES; i++) {\n"
     "      if (i & by) continue;\n"
     "      const vi$b lane = vramp_i$b(0, 1);\n"
     "      const vi$b low = lane + (((lane & by) != 0) & (LANES - by));\n"
     "      const $V a = v[i], b = v[i + by];\n"
     "      v[i] = __builtin_shuffle(a, b, low);\n"
     "      v[i + by] = __builtin_shuffle(a, b, low + by);\n"
     "    }\n"
     "#else\n"
     "  for (int i = 0; i < LANES; i++)\n"
     "    for (int l = 0; l < i; l++) {\n"
     "      const $T x = v[i][l];\n"
     "      v[i][l] = v[l][i];\n"
     "      v[l][i] = x;\n"
     "    }\n"
     "#endif\n"
     "}\n"},
    {"vsum_rows_$t", "f32",
     "/* Lane i is the sum of the lanes of vector i.  Each step adds lanes of two vectors: half\n"
     " * of them are where they were, and half exchanged. */\n"
     "INLINE $V vsum_rows_$t($V *v) {\n"
     "#if LANES * $b <= REGISTER_BITS && !defined(__clang__)\n"
     "  UNROLL(4) for (int by = 1; by < LANES; by *= 2)\n"
     "    UNROLL(16) for (int i = 0; i < LANES; i += 2 * by) {\n"
     "      const vi$b lane = vramp_i$b(0, 1), second = (lane & by) != 0;\n"
     "      const $V a = v[i], b = v[i + by];\n"
     "      const $V there = __builtin_shuffle(a, b, lane + (second & LANES));\n"
     "#ifdef __AVX512F__\n"
     "      v[i] = there + __builtin_shuffle(a, b, (lane ^ by) + (second & LANES));\n"
     "#else\n"
     "      const $V here = __builtin_shuffle(b, a, lane + (second & LANES));\n"
     "      v[i] = there + __builtin_shuffle(here, lane ^ by);\n"
     "#endif\n"
     "    }\n"
     "  return v[0];\n"
     "#else\n"
     "  $V sums = {0};\n"
     "  for (int i = 0; i < LANES; i++)\n"
     "    for (int l = 0; l < LANES; l++) sums[i] += v[i][l];\n"
     "  return sums;\n"
     "#endif\n"
     "}\n"},
    {"vstore_rows_$t", "i32 i64 u32 u64 f32 f64",
     "/* Lane l of vector i goes to element i of row l; rows are `step` bytes apart. */\n"
     "INLINE void vstore_rows_$t(char *p, int64_t step, $V *v) {\n"
     "#if LANES * $b <= REGISTER_BITS && !defined(__clang__)\n"
     "  vturn_rows_$t(v);\n"
     "  UNROLL(16) for (int i = 0; i < LANES; i++) vstore_$t(p + i * step, v[i]);\n"
     "#else\n"
     "  for (int i = 0; i < LANES; i++)\n"
     "    EACH_LANE(l) store_$t(p + l * step + i * sizeof($T), v[i][l]);\n"
     "#endif\n"
     "}\n"},
    {"vstore_first_rows_$t", "i32 i64 u32 u64 f32 f64",
     "/* vstore_rows for the first n rows. */\n"
     "INLINE void vstore_first_rows_$t(char *p, int64_t step, int n, $V *v) {\n"
     "#if LANES * $b <= REGISTER_BITS && !defined(__clang__)\n"
     "  vturn_rows_$t(v);\n"
     "  UNROLL(16) for (int i = 0; i < LANES; i++)\n"
     "    if (i < n) vstore_$t(p + i * step, v[i]);\n"
     "#else\n"
     "  for (int i = 0; i < LANES; i++)\n"
     "    EACH_LANE(l) if (l < n) store_$t(p + l * step + i * sizeof($T), v[i][l]);\n"
     "#endif\n"
     "}\n"},
    {"vload_rows_$t", "i32 i64 u32 u64 f32 f64",
     "/* Element i of row l becomes lane l of vector i for the first n rows; others are 0. */\n"
     "INLINE void vload_rows_$t(const char *p, int64_t step, int n, $V *v) {\n"
     "#if LANES * $b <= REGISTER_BITS && !defined(__clang__)\n"
     "  UNROLL(16) for (int i = 0; i < LANES; i++) {\n"
     "    v[i] = ($V){0};\n"
     "    if (i < n) v[i] = vload_$t(p + i * step);\n"
     "  }\n"
     "  vturn_rows_$t(v);\n"
     "#else\n"
     "  for (int i = 0; i < LANES; i++) {\n"
     "    v[i] = ($V){0};\n"
     "    EACH_LANE(l) if (l < n) v[i][l] = load_$t(p + l * step + i * sizeof($T));\n"
     "  }\n"
     "#endif\n"
     "}\n"},
    {"vturn_half_rows_$t", "i32 i64 u32 u64 f32 f64",
     "/* vturn_rows of the first half of the lanes, and of the second one. */\n"
     "INLINE void vturn_half_rows_$t($V *v) {\n"
     "  UNROLL(4) for (int by = 1; by < LANES / 2; by *= 2)\n"
     "    UNROLL(16) for (int i = 0; i < LANES / 2; i++) {\n"
     "      if (i & by) continue;\n"
     "      const vi$b lane = vramp_i$b(0, 1);\n"
     "      const vi$b low = lane + (((lane & by) != 0) & (LANES - by));\n"
     "      const $V a = v[i], b = v[i + by];\n"
     "      v[i] = SHUFFLE_$t(a, b, low);\n"
     "      v[i + by] = SHUFFLE_$t(a, b, low + by);\n"
     "    }\n"
     "}\n"},
    {"vload_half_rows_$t", "i32 i64 u32 u64 f32 f64",
     "/* Row l has LANES / 2 elements for lane l, and as many for lane l + LANES / 2. */\n"
     "INLINE void vload_half_rows_$t(const char *p, int64_t step, int64_t apart, $V *v) {\n"
     "  (void)apart;\n"
     "  UNROLL(16) for (int i = 0; i < LANES / 2; i++) v[i] = vload_$t(p + i * step);\n"
     "  vturn_half_rows_$t(v);\n"
     "}\n"},
    {"vload_half_pairs_$t", "i32 i64 u32 u64 f32 f64",
     "/* LANES / 2 pairs at p, and as many `apart` bytes from there. */\n"
     "INLINE void vload_half_pairs_$t(const char *p, int64_t apart, $V *v) {\n"
     "  const vi$b even = vramp_i$b(0, 2);\n"
     "  const $V a = vload_$t(p), b = vload_$t(p + apart);\n"
     "  v[0] = SHUFFLE_$t(a, b, even);\n"
     "  v[1] = SHUFFLE_$t(a, b, even + 1);\n"
     "}\n"},
    {"vload_half_pairs_back_$t", "i32 i64 u32 u64 f32 f64",
     "/* LANES / 2 pairs that end with the one at p, the last one first, and as many `apart`. */\n"
     "INLINE void vload_half_pairs_back_$t(const char *p, int64_t apart, $V *v) {\n"
     "  const vi$b lane = vramp_i$b(0, 1);\n"
     "  const vi$b even = LANES - 2 - 2 * lane + ((lane >= LANES / 2) & (2 * LANES));\n"
     "  p -= (LANES - 2) * sizeof($T);\n"
     "  const $V a = vload_$t(p), b = vload_$t(p + apart);\n"
     "  v[0] = SHUFFLE_$t(a, b, even);\n"
     "  v[1] = SHUFFLE_$t(a, b, even + 1);\n"
     "}\n"},
    {"vstore_half_pairs_$t", "i32 i64 u32 u64 f32 f64",
     "INLINE void vstore_half_pairs_$t(char *p, int64_t apart, $V *v) {\n"
     "  const vi$b lane = vramp_i$b(0, 1);\n"
     "  const vi$b low = (lane >> 1) + (lane & 1) * LANES, high = low + LANES / 2;\n"
     "  vstore_$t(p, SHUFFLE_$t(v[0], v[1], low));\n"
     "  vstore_$t(p + apart, SHUFFLE_$t(v[0], v[1], high));\n"
     "}\n"},
    {"vstore_halves_$t", "f32 f64",
     "INLINE void vstore_halves_$t(char *p, int64_t apart, $V v) {\n"
     "  typedef $T half __attribute__((vector_size(sizeof($V) / 2), aligned(1), may_alias));\n"
     "  const half *const x = (const half *)&v;\n"
     "  *(half *)p = x[0];\n"
     "  *(half *)(p + apart) = x[1];\n"
     "}\n"},
    {"vload_pairs_$t", "i32 i64 u32 u64 f32 f64",
     "/* The first n pairs at p go to the lanes of both vectors; other lanes are 0. */\n"
     "INLINE void vload_pairs_$t(const char *p, int n, $V *v) {\n"
     "  if (n < 0) n = 0;\n"
     "  const vi$b even = vramp_i$b(0, 2);\n"
     "  const int whole = LANES * sizeof($T);\n"
     "  $V a = {0}, b = {0};\n"
     "  if (n >= LANES) a = vload_$t(p), b = vload_$t(p + whole);\n"
     "  else {\n"
     "    const int tail = 2 * n - LANES;\n"
     "    a = tail >= 0 ? vload_$t(p) : vload_first_$t(p, 2 * n, a);\n"
     "    if (tail > 0) b = vload_some_$t(p + whole, tail, b);\n"
     "  }\n"
     "  v[0] = SHUFFLE_$t(a, b, even);\n"
     "  v[1] = SHUFFLE_$t(a, b, even + 1);\n"
     "}\n"},
    {"vstore_pairs_$t", "i32 i64 u32 u64 f32 f64",
     "/* Pairs of both vectors' first n lanes. */\n"
     "INLINE void vstore_pairs_$t(char *p, int n, $V *v) {\n"
     "  if (n < 0) n = 0;\n"
     "  const vi$b lane = vramp_i$b(0, 1);\n"
     "  const vi$b low = (lane >> 1) + (lane & 1) * LANES, high = low + LANES / 2;\n"
     "  const int whole = LANES * sizeof($T);\n"
     "  const $V a = SHUFFLE_$t(v[0], v[1], low), b = SHUFFLE_$t(v[0], v[1], high);\n"
     "  if (n >= LANES) {\n"
     "    vstore_$t(p, a);\n"
     "    vstore_$t(p + whole, b);\n"
     "    return;\n"
     "  }\n"
     "  const int tail = 2 * n - LANES;\n"
     "  if (tail >= 0) vstore_$t(p, a);\n"
     "  else vstore_first_$t(p, 2 * n, a);\n"
     "  if (tail > 0) vstore_some_$t(p + whole, tail, b);\n"
     "}\n"},
    {"SHUFFLE_$t", "i32 i64 u32 u64 f32 f64",
     "#ifdef __clang__\n"
     "#define SHUFFLE_$t(a, b, i) ({ \\\n"
     "  $V SHUFFLED; \\\n"
     "  EACH_LANE(l) SHUFFLED[l] = (i)[l] < LANES ? (a)[(i)[l]] : (b)[(i)[l] - LANES]; \\\n"
     "  SHUFFLED; \\\n"
     "})\n"
     "#else\n"
     "#define SHUFFLE_$t(a, b, i) __builtin_shuffle(a, b, i)\n"
     "#endif\n"},

    /* ---- any addresses ---- */
    {"vgather_$t", PLAIN " i1",
     "INLINE $V vgather_$t(vu64 p) {\n"
     "  $V v;\n"
     "  EACH_LANE(i) v[i] = VALUE_$t(load_$t((const char *)p[i]));\n"
     "  return v;\n"
     "}\n"},
    {"vgather_pairs_$t", "u16 i16",
     "/* Lanes 2*i and 2*i + 1 are neighbours. */\n"
     "INLINE $V vgather_pairs_$t(vu64 p) {\n"
     "  uint32_t w[LANES / 2];\n"
     "  $V v;\n"
     "  for (int i = 0; i < LANES / 2; i++) memcpy(&w[i], (const char *)p[2 * i], sizeof w[i]);\n"
     "  memcpy(&v, w, sizeof v);\n"
     "  return v;\n"
     "}\n"},
    {"vgather_$t", NARROW,
     "INLINE vf32 vgather_$t(vu64 p) { return vdecode_$t(vgather_$u(p)); }\n"},
    {"vgather_mask_$t", PLAIN " " NARROW " i1",
     "INLINE $V vgather_mask_$t(vu64 p, vi32 m, $V v) {\n"
     "  EACH_LANE(i) if (m[i]) v[i] = VALUE_$t(load_$t((const char *)p[i]));\n"
     "  return v;\n"
     "}\n"},
    {"vgather_near_$t", PLAIN,
     "/* Lanes whose mask holds are mostly neighbours.  A compiler compares numbers of two\n"
     " * registers one by one. */\n"
     "INLINE $V vgather_near_$t(vu64 p, vi32 m, $V v) {\n"
     "  const vu64 apart = p - vramp_u64(p[0], sizeof($S));\n"
     "  const vi32 other = __builtin_convertvector(apart | apart >> 32, vi32) != 0;\n"
     "  if (vany(m & other)) return vgather_mask_$t(p, m, v);\n"
     "  return vall(m) ? vload_$t((const char *)p[0]) : vload_mask_$t((const char *)p[0], m, v);\n"
     "}\n"},
    {"vgather_near_$t", NARROW,
     "INLINE vf32 vgather_near_$t(vu64 p, vi32 m, vf32 v) {\n"
     "  return vselect_f32(m, vdecode_$t(vgather_near_$u(p, m, vsplat_$u(0))), v);\n"
     "}\n"},
    {"vscatter_$t", PLAIN " i1",
     "INLINE void vscatter_$t(vu64 p, $V v) { EACH_LANE(i) store_$t((char *)p[i], v[i]); }\n"},
    {"vscatter_$t", NARROW,
     "INLINE void vscatter_$t(vu64 p, vf32 v) { vscatter_$u(p, vencode_$t(v)); }\n"},
    {"vscatter_mask_$t", PLAIN " " NARROW " i1",
     "INLINE void vscatter_mask_$t(vu64 p, vi32 m, $V v) {\n"
     "  EACH_LANE(i) if (m[i]) store_$t((char *)p[i], v[i]);\n"
     "}\n"},

    /* ---- atomics: the value before ---- */
    {"combine_add_$t", PLAIN, "#define combine_add_$t(a, b) ((a) + (b))\n"},
    {"combine_add_$t", NARROW, "#define combine_add_$t(a, b) round_$t((a) + (b))\n"},
    {"combine_add_$t", "i1", "#define combine_add_$t(a, b) ((a) ^ (b))\n"},
    {"combine_and_$t", PLAIN " i1", "#define combine_and_$t(a, b) ((a) & (b))\n"},
    {"combine_or_$t", PLAIN " i1", "#define combine_or_$t(a, b) ((a) | (b))\n"},
    {"combine_xor_$t", PLAIN " i1", "#define combine_xor_$t(a, b) ((a) ^ (b))\n"},
    {"combine_min_$t", PLAIN, "#define combine_min_$t(a, b) min_$t(a, b)\n"},
    {"combine_min_$t", NARROW, "#define combine_min_$t(a, b) min_f32(a, b)\n"},
    {"combine_min_$t", "i1", "#define combine_min_$t(a, b) ((a) & (b))\n"},
    {"combine_max_$t", PLAIN, "#define combine_max_$t(a, b) max_$t(a, b)\n"},
    {"combine_max_$t", NARROW, "#define combine_max_$t(a, b) max_f32(a, b)\n"},
    {"combine_max_$t", "i1", "#define combine_max_$t(a, b) ((a) | (b))\n"},
    {"combine_xchg_$t", PLAIN " " NARROW " i1", "#define combine_xchg_$t(a, b) (b)\n"},
    {"failure_order", NULL,
     "#define failure_order(order) ((order) == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : \\\n"
     "  (order) == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : (order))\n"},
#define ATOMIC(kind)                                                            \
  {"atomic_" kind "_$t", PLAIN " " NARROW " i1",                                \
   "INLINE $T atomic_" kind                                                     \
   "_$t(char *p, $T x, int order) {\n"                                          \
   "  $M old = __atomic_load_n(($M *)p, __ATOMIC_RELAXED), new;\n"              \
   "  $T before;\n"                                                             \
   "  do {\n"                                                                   \
   "    before = load_$t((char *)&old);\n"                                      \
   "    store_$t((char *)&new, combine_" kind                                   \
   "_$t(before, x));\n"                                                         \
   "  } while (!__atomic_compare_exchange_n(($M *)p, &old, new, true, order,\n" \
   "                                        failure_order(order)));\n"          \
   "  return before;\n"                                                         \
   "}\n"},                                                                      \
  {                                                                             \
    "vatomic_" kind "_$t", PLAIN " " NARROW " i1",                              \
        "INLINE $V vatomic_" kind                                               \
        "_$t(vu64 p, vi32 m, $V x, int order) {\n"                              \
        "  $V before = x;\n"                                                    \
        "  EACH_LANE(i) if (m[i])\n"                                            \
        "    before[i] = VALUE_$t(atomic_" kind                                 \
        "_$t((char *)p[i], x[i], order));\n"                                    \
        "  return before;\n"                                                    \
        "}\n"                                                                   \
  }
#define FETCH(kind)                                        \
  {                                                        \
    "atomic_" kind "_$t", "i8 i16 i32 i64 u8 u16 u32 u64", \
        "INLINE $T atomic_" kind                           \
        "_$t(char *p, $T x, int order) {\n"                \
        "  return __atomic_fetch_" kind                    \
        "(($T *)p, x, order);\n"                           \
        "}\n"                                              \
  }
    {"atomic_load_$t", PLAIN " " NARROW " i1",
     "INLINE $T atomic_load_$t(char *p, $T x, int order) {\n"
     "  (void)x;\n"
     "  const int o = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;\n"
     "  $M now = __atomic_load_n(($M *)p, o);\n"
     "  return load_$t((char *)&now);\n"
     "}\n"},
    {"atomic_store_$t", PLAIN " " NARROW " i1",
     "INLINE $T atomic_store_$t(char *p, $T x, int order) {\n"
     "  const int o = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;\n"
     "  $M now;\n"
     "  store_$t((char *)&now, x);\n"
     "  __atomic_store_n(($M *)p, now, o);\n"
     "  return x;\n"
     "}\n"},
    FETCH("add"),
    FETCH("and"),
    FETCH("or"),
    FETCH("xor"),
    ATOMIC("add"),
    ATOMIC("and"),
    ATOMIC("or"),
    ATOMIC("xor"),
    ATOMIC("min"),
    ATOMIC("max"),
    ATOMIC("xchg"),
    ATOMIC("load"),
    ATOMIC("store"),
    {"vatomic_cas_$t", PLAIN " " NARROW " i1",
     "INLINE $V vatomic_cas_$t(vu64 p, vi32 m, $V expected, $V x, int order) {\n"
     "  $V before = x;\n"
     "  EACH_LANE(i) if (m[i]) {\n"
     "    $M old, new;\n"
     "    store_$t((char *)&old, expected[i]);\n"
     "    store_$t((char *)&new, x[i]);\n"
     "    __atomic_compare_exchange_n(($M *)p[i], &old, new, false, order, failure_order(order));\n"
     "    before[i] = VALUE_$t(load_$t((char *)&old));\n"
     "  }\n"
     "  return before;\n"
     "}\n"},
    {0},
};
