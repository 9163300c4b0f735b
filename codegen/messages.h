/* Code as PTX and C: E_GEN_. */
#ifndef NEREID_CODEGEN_MESSAGES_H
#define NEREID_CODEGEN_MESSAGES_H

#define E_GEN_C_WARPS "a program in C has one warp, not %d: set num_warps 1"
#define E_GEN_C_ARRAYS \
  "the kernel's register arrays take %lld bytes; a thread has %d for them"
#define H_GEN_C_ARRAYS "use smaller blocks"
#define E_GEN_C_STATEMENT "`%s` has no translation to C"
#define E_GEN_OP \
  "`%s` on %s has no instruction on %s; cast to float32, or use the function of libdevice"
#define E_GEN_ATOM \
  "matrix instruction %s needs sm_%d; the target is %s: cast the operands to float16"
#define E_GEN_GRID_DEPENDENCY \
  "gdc_wait and gdc_launch_dependents need sm_90 or later; the target is %s"
#define E_GEN_BULK "copies of tensors need sm_90 or later; the target is %s"
#define E_GEN_BOUNDS "a `serial` loop with bounds has no translation to PTX"
#define E_GEN_UNPLACED "buffer `@%s` has no offset in shared memory: run pass allocate_shared first"
#define E_GEN_LANES "a warp of %s has 32 lanes, not %d"
#define E_GEN_SHARED "the kernel takes %lld bytes of shared memory; %s has %lld"
#define E_GEN_PARAMETERS "the kernel's parameters take %lld bytes; a launch passes %d at most"
#define H_GEN_PARAMETERS \
  "pass an array of addresses, and load each: tl.load(p + i).to(tl.pointer_type(tl.float32))"
#define W_GEN_BUDGET \
  "the kernel has %d PTX instructions, more than %d; one unrolled loop or tile makes %d of them"

#endif
