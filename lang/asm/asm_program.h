/* PTX as a program of functions, for executors that are no GPU.
 *
 * A program has no control flow: a node for each value, in order, which is a constant, an input
 * register, or a function of nodes before it (asm_functions.h).  An instruction under `@p` becomes
 * a choice between its result and the value before. */
#ifndef NEREID_LANG_ASM_ASM_PROGRAM_H
#define NEREID_LANG_ASM_ASM_PROGRAM_H

#include "lang/asm/asm_call.h"
#include "lang/asm/asm_functions.h"

typedef enum {
  ASM_FN_CONST, /* bits */
  ASM_FN_INPUT, /* register `bits` of the call, an input */
#define F(name, arity, params, ...) ASM_FN_##name,
#define G(name, type, params, ...)
  ASM_FUNCTIONS(F, G)
#undef F
#undef G
  ASM_FN_COUNT
} AsmFn;

enum { ASM_MAX_ARGS = 4 };

typedef struct {
  uint8_t fn; /* AsmFn */
  uint64_t bits;
  uint32_t arg[ASM_MAX_ARGS]; /* nodes */
} AsmNode;

typedef struct {
  const AsmNode *nodes;
  uint32_t nnodes;
  const uint32_t *outputs; /* node of each output register */
  uint32_t noutputs;
  bool gpu_only; /* after an error: it was an instruction that runs on GPUs only */
} AsmProgram;

/* The text as a program.  NULL; or the error in words, with the instruction that is unknown and its
 * place. */
const char *asm_read_program(Arena *a, const AsmCall *call, AsmProgram *out);
/* The outputs for inputs by register of the call.  `values` is scratch for nnodes numbers. */
void asm_evaluate(const AsmProgram *p, const uint64_t *registers, uint64_t *values, uint64_t *out);

int asm_fn_arity(AsmFn fn);
const char *asm_fn_name(AsmFn fn);
uint64_t asm_apply(AsmFn fn, const uint64_t *x);
/* The function of that name; ASM_FN_COUNT if there is none. */
AsmFn asm_fn_find(const char *name, size_t len);
/* The opcodes that asm_read_program knows, in words. */
const char *asm_known_opcodes(Arena *a);

#endif
