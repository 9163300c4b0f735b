/* Machine descriptions: what lowering needs to know of a target, as data only. */
#ifndef NEREID_LOWER_TARGET_MACHINE_H
#define NEREID_LOWER_TARGET_MACHINE_H

#include "lang/base/options.h"
#include "lower/nest/nest.h"

typedef enum { MACHINE_GPU, MACHINE_CPU } MachineKind;

typedef struct {
  const char *name;      /* "sm_90a", "cpu" */
  MachineKind kind;
  int sm;                /* 80, 86, 89, 90, 100, 103, 120; 0 for a CPU */
  int lanes;             /* 32; on a CPU: 32-bit elements of a SIMD register, see machine_find */
  int max_warps;         /* a program */
  int regs;              /* 32-bit registers a thread at most */
  int64_t shared;        /* bytes of shared memory a program can have */
  int vector_bytes;      /* widest access of a thread */
  bool cp_async;
  bool expands;          /* code has a copy of an unrolled loop's body for each of its values */
  bool lockstep;         /* all lanes of a program run each statement before the next one */
} Machine;

/* NULL if there is no such target.  "cpu" gives the CPU at hand; "cpu:8" one of 8 lanes. */
const Machine *machine_find(const char *target);
const Machine *machine_list(int *n); /* all, for `nereid info` and messages */

#endif
