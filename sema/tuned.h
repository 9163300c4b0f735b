/* Configurations that a kernel file declares, and those derived from the kernel itself.
 *
 * sema/autotune, which this header belongs to, owns decorators and the host code in them.  It takes
 * a kernel, with its arguments and a device as far as they are known, and gives configurations.
 *
 *   @triton.autotune(configs=[...], key=[...])   tuned_space()
 *   @triton.heuristics({"EVEN": lambda args: ...}) tuned_heuristics()
 *   neither                                      tuned_automatic()
 *
 * Decorators are host code, which sema's evaluator computes as it does constexprs: lists, loops,
 * comprehensions and functions of the file (and of the files that it imports).  Questions about the
 * machine (is_cuda(), torch.cuda.get_device_capability(), driver.active...) answer for the device
 * of the query; a CPU answers as an NVIDIA GPU of capability 9.0 does, since kernels that ask have
 * no list for CPUs.  A decorator is recognized by its arguments (`configs=`), not by its name. */
#ifndef NEREID_SEMA_TUNED_H
#define NEREID_SEMA_TUNED_H

#include "sema/sema.h"

enum { TUNED_CONFIGS_MAX = 4096 };

typedef struct {
  const char *target;      /* "sm_90a", "cpu:8" */
  const char *description; /* "NVIDIA H200"; NULL: unknown, as the zeros below are */
  int processors;
  int64_t shared_bytes, memory;
} TunedDevice;

/* A fact about an argument.  ARG_TYPE of a pointer is a tensor, ARG_TYPE of a number one whose
 * value is not known. */
typedef struct {
  KernelArg arg;
  const int64_t *shape; /* of a tensor, with `rank` extents; NULL: not known */
  const int64_t *strides; /* of a tensor descriptor, in elements; NULL: not known */
  int rank;
} TunedArg;

typedef struct {
  TunedDevice device;
  const TunedArg *args; /* run-time arguments and fixed constexprs */
  uint32_t nargs;
} TunedQuery;

/* Values of constexprs in the kernel's order, then the options num_warps, num_stages, num_ctas and
 * maxnreg.  On a CPU there are no options, unless the kernel has a constexpr of that name. */
typedef VEC(KernelArg) TunedConfig;
bool tuned_is_option(Name name);
/* Writes the text that spec_constexpr reads: "128", "True", "tl.float16", "fn:NAME". */
const char *tuned_text(Arena *a, const KernelArg *value);

typedef VEC(TunedConfig) TunedConfigs;
typedef VEC(Name) TunedNames;

typedef struct {
  bool decorated; /* a decorator gives configurations; else there are none */
  TunedConfigs configs;
  VEC(TunedNames) zeroed; /* for each: tensors that its pre_hook zeroes before a launch */
  TunedNames key;
  TunedNames reset_to_zero, restore_value; /* between runs that are measured; all of zeroed too */
} TunedSpace;

/* False after errors, which are in the program's Diags.  Fixed constexprs are left out of
 * configurations, and configurations that are equal then are one. */
bool tuned_space(Program *p, const Kernel *k, const TunedQuery *q, TunedSpace *out);

/* Settings that heuristics add to `config` (NULL: none): constexprs and options that have no value
 * yet, in the decorators' order.  False after errors. */
bool tuned_heuristics(Program *p, const Kernel *k, const TunedQuery *q, const TunedConfig *config,
                      TunedConfig *out);
/* Computes what it can, without errors: for compiling. */
void tuned_known(Program *p, const Kernel *k, const TunedQuery *q, TunedConfig *out);

/* A space for the constexprs that have neither value nor default.  False after errors: one of them
 * can't be guessed, or nothing is to be chosen. */
bool tuned_automatic(Program *p, const Kernel *k, const TunedQuery *q, TunedSpace *out);

#endif
