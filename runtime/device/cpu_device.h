/* Device cpu: what opening it found, and loading kernels. */
#ifndef NEREID_RUNTIME_DEVICE_CPU_DEVICE_H
#define NEREID_RUNTIME_DEVICE_CPU_DEVICE_H

#include "runtime/device/cpu_code.h"
#include "runtime/device/device.h"
#include "runtime/support/tool.h"

enum { CPU_IDENTITY = 16 };

typedef struct {
  Cache *cache; /* under the device's lock: NULL until the first load */
  struct Team *team;
  CpuCodes codes;
  bool found; /* a compiler */
  char cc[TOOL_PATH], options[TOOL_PATH];
  unsigned char processor[CPU_IDENTITY];
  bool failed; /* an assertion, which no launch has reported yet; under the device's lock */
  char failure[1024];
  bool checks; /* atomic: some kernel was loaded that asks for the reach of its arguments */
  struct Reach *reaches; /* of the launches of such kernels that run; under the device's lock */
} Cpu;

/* A hash of the lines that tell processors apart, which -march=native depends on; and the
 * processor's name, as people know it. */
void cpu_identify(unsigned char processor[CPU_IDENTITY], char *description, size_t size);

/* The variant's code is a shared library. */
bool cpu_is_library(const ImageVariant *v);

/* The shared library that a kernel was loaded from, which kernels that were compiled together
 * share.  Its bytes are there while one of them is loaded. */
const CpuCode *cpu_code(const Loaded *l);

#endif
