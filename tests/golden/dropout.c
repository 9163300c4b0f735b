/* Kernel dropout of ../../examples/kernels/dropout.py for cpu:8.  The meaning depends on these options:
 *   cc -O2 -march=native -ffp-contract=off -fwrapv -fno-math-errno -fno-trapping-math -Wno-psabi -fopenmp -fPIC -shared -lm */
#ifndef LANES
#define LANES 8
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define VECTOR(T) __attribute__((vector_size(LANES * sizeof(T))))
typedef int8_t vi8 VECTOR(int8_t);
typedef int16_t vi16 VECTOR(int16_t);
typedef int32_t vi32 VECTOR(int32_t);
typedef int64_t vi64 VECTOR(int64_t);
typedef uint8_t vu8 VECTOR(uint8_t);
typedef uint16_t vu16 VECTOR(uint16_t);
typedef uint32_t vu32 VECTOR(uint32_t);
typedef uint64_t vu64 VECTOR(uint64_t);
typedef float vf32 VECTOR(float);
typedef double vf64 VECTOR(double);
#define EACH_LANE(i) for (int i = 0; i < LANES; i++)
#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline, cold))
#ifdef __clang__
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#else
#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(GCC unroll n)
#endif
#endif
#ifndef NEREID_lanes_below
#define NEREID_lanes_below
/* In how many of the first lanes does x + lane < n hold? */
INLINE int lanes_below(int64_t x, int64_t n) {
  return n <= x ? 0 : n - x < LANES ? (int)(n - x) : LANES;
}
#endif
#ifndef NEREID_vload_f32
#define NEREID_vload_f32
INLINE vf32 vload_f32(const char *p) {
  vf32 v;
  memcpy(&v, p, sizeof v);
  return v;
}
#endif
#ifndef NEREID_load_f32
#define NEREID_load_f32
INLINE float load_f32(const char *p) {
  float x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_vload_first_f32
#define NEREID_vload_first_f32
RARE vf32 vload_first_f32(const char *p, int n, vf32 v) {
  float x[LANES];
  memcpy(x, &v, sizeof v);
  for (int i = 0; i < n; i++) x[i] = load_f32(p + i * sizeof *x);
  memcpy(&v, x, sizeof v);
  return v;
}
#endif
#ifndef NEREID_mulhi_u32
#define NEREID_mulhi_u32
INLINE uint32_t mulhi_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b >> 32; }
#endif
#ifndef NEREID_vmulhi_u32
#define NEREID_vmulhi_u32
INLINE vu32 vmulhi_u32(vu32 a, vu32 b) {
  vu32 r;
  EACH_LANE(i) r[i] = mulhi_u32(a[i], b[i]);
  return r;
}
#endif
#ifndef NEREID_vramp_u32
#define NEREID_vramp_u32
/* x, x + step, ... */
INLINE vu32 vramp_u32(uint32_t x, uint32_t step) {
  vu32 v;
  EACH_LANE(i) v[i] = x + i * step;
  return v;
}
#endif
#ifndef NEREID_vsplat_u32
#define NEREID_vsplat_u32
INLINE vu32 vsplat_u32(uint32_t x) {
  vu32 v;
  EACH_LANE(i) v[i] = x;
  return v;
}
#endif
#ifndef NEREID_vselect_i32
#define NEREID_vselect_i32
INLINE vi32 vselect_i32(vi32 m, vi32 a, vi32 b) {
  vi32 r;
  EACH_LANE(i) r[i] = m[i] ? a[i] : b[i];
  return r;
}
#endif
#ifndef NEREID_vto_f32
#define NEREID_vto_f32
#define vto_f32(v) __builtin_convertvector(v, vf32)
#endif
#ifndef NEREID_vselect_f32
#define NEREID_vselect_f32
INLINE vf32 vselect_f32(vi32 m, vf32 a, vf32 b) {
  vf32 r;
  EACH_LANE(i) r[i] = m[i] ? a[i] : b[i];
  return r;
}
#endif
#ifndef NEREID_vsplat_f32
#define NEREID_vsplat_f32
INLINE vf32 vsplat_f32(float x) {
  vf32 v;
  EACH_LANE(i) v[i] = x;
  return v;
}
#endif
#ifndef NEREID_vstore_f32
#define NEREID_vstore_f32
INLINE void vstore_f32(char *p, vf32 v) { memcpy(p, &v, sizeof v); }
#endif
#ifndef NEREID_store_f32
#define NEREID_store_f32
INLINE void store_f32(char *p, float x) { memcpy(p, &x, sizeof x); }
#endif
#ifndef NEREID_vstore_first_f32
#define NEREID_vstore_first_f32
RARE void vstore_first_f32(char *p, int n, vf32 v) {
  for (int i = 0; i < n; i++) store_f32(p + i * sizeof(float), v[i]);
}
#endif
#ifndef NEREID_load_u64
#define NEREID_load_u64
INLINE uint64_t load_u64(const char *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif
#ifndef NEREID_load_i32
#define NEREID_load_i32
INLINE int32_t load_i32(const char *p) {
  int32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}
#endif

/* One program; its lanes run together. */
static void dropout_program(char *x_ptr, char *out_ptr, int32_t n, float p, int32_t seed,
    const uint32_t *grid, uint32_t pid_0, uint32_t pid_1, uint32_t pid_2, char *shared) {
  vf32 x[32];
  uint32_t t15[32];
  vu32 t21[32];
  vu32 t30[32];
  vu32 t36[32];
  vu32 t42[32];
  vu32 t46[32];
  vu32 t52[32];
  vu32 t56[32];
  vu32 t62[32];
  vu32 t66[32];
  vu32 t72[32];
  vu32 t76[32];
  vu32 t82[32];
  vu32 t86[32];
  vu32 t92[32];
  vu32 t96[32];
  vu32 t106[32];
  vi32 t121[32];
  int32_t t136[32];
  int t137[32];
  uint32_t t146[32];
  uint32_t t147[32];
  uint32_t t148[32];
  uint32_t t149[32];
  vu32 t153[32];
  vu32 t155[32];
  vu32 t156[32];
  uint32_t t161[32];
  vu32 t162[32];
  uint32_t t163[32];
  uint32_t t167[32];
  vu32 t168[32];
  vu32 t169[32];
  vu32 t170[32];
  vu32 t171[32];
  vu32 t172[32];
  uint32_t t173[32];
  vu32 t174[32];
  vu32 t175[32];
  vu32 t176[32];
  vu32 t177[32];
  vu32 t178[32];
  vu32 t179[32];
  vu32 t180[32];
  vu32 t181[32];
  vu32 t182[32];
  vu32 t183[32];
  vu32 t184[32];
  vu32 t185[32];
  vu32 t186[32];
  vu32 t187[32];
  vu32 t188[32];
  vu32 t189[32];
  vu32 t190[32];
  vu32 t191[32];
  vu32 t192[32];
  vu32 t193[32];
  vu32 t194[32];
  vu32 t195[32];
  vu32 t196[32];
  vu32 t197[32];
  vu32 t198[32];
  vu32 t199[32];
  vu32 t200[32];
  vu32 t201[32];
  vu32 t202[32];
  vu32 t203[32];
  vu32 t204[32];
  vu32 t208[32];
  vu32 t209[32];
  vu32 t210[32];
  vu32 t214[32];
  vu32 t215[32];
  vu32 t216[32];
  vu32 t217[32];
  vi32 t221[32];
  vi32 t222[32];
  vi32 t223[32];
  vi32 t224[32];
  vf32 t225[32];
  vf32 t226[32];
  vi32 t227[32];
  vf32 t228[32];
  vf32 t229[32];
  const int32_t lane = 0; /* ../../examples/kernels/dropout.py:13 */
  const int32_t t138 = lane * 4;
  const int32_t t0 = (int32_t)pid_0; /* ../../examples/kernels/dropout.py:14 */
  const int32_t t1 = t0 * 256;
  const int32_t t135 = lane + t1; /* ../../examples/kernels/dropout.py:16 */
  UNROLL(32) for (int a = 0; a < 32; a++) {
    t136[a] = t135 + (8*a);
    t137[a] = lanes_below(t136[a], n);
  }
  const int64_t t139 = (int64_t)t138;
  char *t140 = x_ptr + t139;
  const int64_t t141 = (int64_t)t1;
  const int64_t t142 = t141 * 4;
  char *t143 = t140 + t142;
  UNROLL(32) for (int a = 0; a < 32; a++) {
    if (t137[a] == LANES) x[a] = vload_f32(t143 + 32*a);
    else x[a] = vload_first_f32(t143 + 32*a, t137[a], x[a]);
  }
  const uint64_t t5 = (uint64_t)seed; /* ../../examples/kernels/dropout.py:17 */
  const uint64_t t6 = t5 >> 32u;
  const uint32_t t7 = (uint32_t)t6;
  const uint64_t t8 = t5 & 4294967295u;
  const uint32_t t9 = (uint32_t)t8;
  const uint32_t t22 = t9 + 2654435769u;
  const uint32_t t23 = t7 + 3144134277u;
  const uint32_t t37 = t22 + 2654435769u;
  const uint32_t t38 = t23 + 3144134277u;
  const uint32_t t47 = t37 + 2654435769u;
  const uint32_t t48 = t38 + 3144134277u;
  const uint32_t t57 = t47 + 2654435769u;
  const uint32_t t58 = t48 + 3144134277u;
  const uint32_t t67 = t57 + 2654435769u;
  const uint32_t t68 = t58 + 3144134277u;
  const uint32_t t77 = t67 + 2654435769u;
  const uint32_t t78 = t68 + 3144134277u;
  UNROLL(32) for (int a = 0; a < 32; a++) {
    t146[a] = (uint32_t)t136[a];
    t147[a] = t146[a] * 0u;
    t148[a] = mulhi_u32(t147[a], 3449720151u);
    t149[a] = t148[a] ^ t147[a];
    t15[a] = t149[a] ^ t9;
    t153[a] = vmulhi_u32(vramp_u32(t146[a], 1), vsplat_u32(3528531795u));
    t155[a] = t153[a] ^ t147[a];
    t21[a] = t155[a] ^ t7;
    t156[a] = vmulhi_u32(t21[a], vsplat_u32(3449720151u));
    t161[a] = t147[a] * 3449720151u;
    t162[a] = t156[a] ^ t161[a];
    t30[a] = t162[a] ^ t22;
    t163[a] = mulhi_u32(t15[a], 3528531795u);
    t167[a] = t146[a] * 3528531795u;
    t168[a] = t163[a] ^ vramp_u32(t167[a], 3528531795);
    t36[a] = t168[a] ^ t23;
    t169[a] = vmulhi_u32(t36[a], vsplat_u32(3449720151u));
    t170[a] = t21[a] * 3449720151u;
    t171[a] = t169[a] ^ t170[a];
    t42[a] = t171[a] ^ t37;
    t172[a] = vmulhi_u32(t30[a], vsplat_u32(3528531795u));
    t173[a] = t15[a] * 3528531795u;
    t174[a] = t172[a] ^ t173[a];
    t46[a] = t174[a] ^ t38;
    t175[a] = vmulhi_u32(t46[a], vsplat_u32(3449720151u));
    t176[a] = t36[a] * 3449720151u;
    t177[a] = t175[a] ^ t176[a];
    t52[a] = t177[a] ^ t47;
    t178[a] = vmulhi_u32(t42[a], vsplat_u32(3528531795u));
    t179[a] = t30[a] * 3528531795u;
    t180[a] = t178[a] ^ t179[a];
    t56[a] = t180[a] ^ t48;
    t181[a] = vmulhi_u32(t56[a], vsplat_u32(3449720151u));
    t182[a] = t46[a] * 3449720151u;
    t183[a] = t181[a] ^ t182[a];
    t62[a] = t183[a] ^ t57;
    t184[a] = vmulhi_u32(t52[a], vsplat_u32(3528531795u));
    t185[a] = t42[a] * 3528531795u;
    t186[a] = t184[a] ^ t185[a];
    t66[a] = t186[a] ^ t58;
    t187[a] = vmulhi_u32(t66[a], vsplat_u32(3449720151u));
    t188[a] = t56[a] * 3449720151u;
    t189[a] = t187[a] ^ t188[a];
    t72[a] = t189[a] ^ t67;
    t190[a] = vmulhi_u32(t62[a], vsplat_u32(3528531795u));
    t191[a] = t52[a] * 3528531795u;
    t192[a] = t190[a] ^ t191[a];
    t76[a] = t192[a] ^ t68;
    t193[a] = vmulhi_u32(t76[a], vsplat_u32(3449720151u));
    t194[a] = t66[a] * 3449720151u;
    t195[a] = t193[a] ^ t194[a];
    t82[a] = t195[a] ^ t77;
  }
  const uint32_t t87 = t77 + 2654435769u;
  const uint32_t t88 = t78 + 3144134277u;
  const uint32_t t97 = t87 + 2654435769u;
  const uint32_t t98 = t88 + 3144134277u;
  const uint32_t t107 = t97 + 2654435769u;
  const float t122 = 1.0f - p; /* ../../examples/kernels/dropout.py:18 */
  char *t231 = out_ptr + t139;
  char *t234 = t231 + t142;
  UNROLL(32) for (int a = 0; a < 32; a++) { /* ../../examples/kernels/dropout.py:17 */
    t196[a] = vmulhi_u32(t72[a], vsplat_u32(3528531795u));
    t197[a] = t62[a] * 3528531795u;
    t198[a] = t196[a] ^ t197[a];
    t86[a] = t198[a] ^ t78;
    t199[a] = vmulhi_u32(t86[a], vsplat_u32(3449720151u));
    t200[a] = t76[a] * 3449720151u;
    t201[a] = t199[a] ^ t200[a];
    t92[a] = t201[a] ^ t87;
    t202[a] = vmulhi_u32(t82[a], vsplat_u32(3528531795u));
    t203[a] = t72[a] * 3528531795u;
    t204[a] = t202[a] ^ t203[a];
    t96[a] = t204[a] ^ t88;
    t208[a] = vmulhi_u32(t92[a], vsplat_u32(3528531795u));
    t209[a] = t82[a] * 3528531795u;
    t210[a] = t208[a] ^ t209[a];
    t106[a] = t210[a] ^ t98;
    t214[a] = vmulhi_u32(t106[a], vsplat_u32(3449720151u));
    t215[a] = t96[a] * 3449720151u;
    t216[a] = t214[a] ^ t215[a];
    t217[a] = t216[a] ^ t107;
    t121[a] = (vi32)t217[a];
    t221[a] = t121[a] < 0; /* ../../examples/kernels/dropout.py:18 */
    t222[a] = -t121[a];
    t223[a] = t222[a] - 1;
    t224[a] = vselect_i32(t221[a], t223[a], t121[a]);
    t225[a] = vto_f32(t224[a]);
    t226[a] = t225[a] * 4.6566126e-10f;
    t227[a] = t226[a] >= p;
    t228[a] = x[a] / t122;
    t229[a] = vselect_f32(t227[a], t228[a], vsplat_f32(0.0f));
    if (t137[a] == LANES) vstore_f32(t234 + 32*a, t229[a]);
    else vstore_first_f32(t234 + 32*a, t137[a], t229[a]);
  }
}

static void dropout_range(const char *args, const uint32_t *grid, uint64_t begin,
                     uint64_t end, char *shared) {
  char *x_ptr = (char *)load_u64(args + 0);
  char *out_ptr = (char *)load_u64(args + 8);
  int32_t n = load_i32(args + 16);
  float p = load_f32(args + 24);
  int32_t seed = load_i32(args + 32);
  for (uint64_t i = begin; i < end; i++)
    dropout_program(x_ptr, out_ptr, n, p, seed,
        grid, i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1], shared);
}

/* The programs begin <= i < end of the linear grid. */
void dropout(const void *args, const uint32_t grid[3], uint32_t begin, uint32_t end) {
  char *const shared = NULL;
  dropout_range(args, grid, begin, end, shared);
}

/* All programs, begun in order. */
void dropout_all(const void *args, const uint32_t grid[3], int threads) {
  const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
  const uint64_t part = n / (32 * (uint64_t)threads) + 1;
#pragma omp parallel num_threads(threads)
  {
    char *const shared = NULL;
#pragma omp for schedule(dynamic)
    for (uint64_t i = 0; i < n; i += part)
      dropout_range(args, grid, i, i + part < n ? i + part : n, shared);
  }
}
