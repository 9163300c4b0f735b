/* The machines, a row each.  A new target is a row.
 *
 * X(name, kind, sm, ptx, f8_ptx, lanes, max_warps, regs, shared, vector_bytes, has,
 *   device, processors, clock, bandwidth, f32, f16, f8, cache, multiprocessor's shared, threads)
 *
 * The columns of the second line are peaks of one device of the target (lower/target/machine.h):
 * launches are predicted with them where no such device is at hand.
 *
 * Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".  Peaks:
 * data sheets and NVIDIA's white papers.  A CPU's lanes are 32-bit elements of one SIMD register:
 * 16 (AVX-512, with and without AMX's tiles), 8 (AVX2), 4 (Neon, SSE); its peaks are measured.  Of
 * kernels of 64-bit data on AVX-512 they are 8, in registers as many and as wide (cpu:8w). */
#ifndef NEREID_LOWER_TARGET_MACHINE_TABLE_H
#define NEREID_LOWER_TARGET_MACHINE_TABLE_H

#define MACHINES(X) \
X("sm_80", MACHINE_GPU, 80, 70, 0, 32, 32, 255, 163 * KIB, 16, AMPERE, \
  "A100", 108, 1.41e9, 1.555e12, 128, 2048, 2048, 40 * MIB, 164 * KIB, 2048) \
X("sm_86", MACHINE_GPU, 86, 71, 0, 32, 32, 255, 99 * KIB, 16, AMPERE, \
  "A10", 72, 1.695e9, 6e11, 256, 512, 512, 6 * MIB, 100 * KIB, 1536) \
X("sm_89", MACHINE_GPU, 89, 78, 81, 32, 32, 255, 99 * KIB, 16, ADA, \
  "L40S", 142, 2.52e9, 8.64e11, 256, 1024, 2048, 96 * MIB, 100 * KIB, 1536) \
X("sm_90a", MACHINE_GPU, 90, 80, 78, 32, 32, 255, 227 * KIB, 16, HOPPER, \
  "H200", 132, 1.83e9, 4.8e12, 256, 4096, 8192, 50 * MIB, 228 * KIB, 2048) \
X("sm_100a", MACHINE_GPU, 100, 86, 78, 32, 32, 255, 227 * KIB, 16, HOPPER, \
  "B200", 148, 1.85e9, 8e12, 256, 8192, 16384, 126 * MIB, 228 * KIB, 2048) \
X("sm_103a", MACHINE_GPU, 103, 88, 78, 32, 32, 255, 227 * KIB, 16, HOPPER, \
  "B300", 148, 1.85e9, 8e12, 256, 8192, 16384, 126 * MIB, 228 * KIB, 2048) \
X("sm_120a", MACHINE_GPU, 120, 87, 78, 32, 32, 255, 99 * KIB, 16, HOPPER, \
  "GeForce RTX 5090", 170, 2.41e9, 1.79e12, 256, 1024, 2048, 96 * MIB, 100 * KIB, 1536) \
X("cpu:4", MACHINE_CPU, 0, 0, 0, 4, 1, 16, 4 * MIB, 16, CPU, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0) \
X("cpu:8", MACHINE_CPU, 0, 0, 0, 8, 1, 16, 4 * MIB, 32, CPU, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0) \
X("cpu:8w", MACHINE_CPU, 0, 0, 0, 8, 1, 32, 4 * MIB, 64, CPU, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0) \
X("cpu:16", MACHINE_CPU, 0, 0, 0, 16, 1, 32, 4 * MIB, 64, CPU, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0) \
X("cpu:amx", MACHINE_CPU, 0, 0, 0, 16, 1, 32, 4 * MIB, 64, CPU | HAS_FAR_STREAMS | HAS_MATRIX_TILES, \
  NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#endif
