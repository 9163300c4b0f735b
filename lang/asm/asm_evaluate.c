/* The functions of instructions, compiled, and the evaluation of programs. */
#include <string.h>

#include "lang/asm/asm_program.h"
#include "lang/base/diag.h"

#define F(name, arity, params, ...) static uint64_t asm_##name params __VA_ARGS__
#define G(name, type, params, ...) static type asm_##name params __VA_ARGS__
ASM_FUNCTIONS(F, G)
#undef F
#undef G

static const struct {
  const char *name;
  int arity;
} functions[ASM_FN_COUNT] = {[ASM_FN_CONST] = {"", 0},
                             [ASM_FN_INPUT] = {"", 0},
#define F(name, arity, params, ...) [ASM_FN_##name] = {#name, arity},
#define G(name, type, params, ...)
                             ASM_FUNCTIONS(F, G)
#undef F
#undef G
};

int asm_fn_arity(AsmFn fn) { return functions[fn].arity; }
const char *asm_fn_name(AsmFn fn) { return functions[fn].name; }

AsmFn asm_fn_find(const char *name, size_t len) {
  for (int i = 0; i < ASM_FN_COUNT; i++)
    if (len && strlen(functions[i].name) == len && !memcmp(functions[i].name, name, len))
      return (AsmFn)i;
  return ASM_FN_COUNT;
}

#define CALL_1(f) f(x[0])
#define CALL_2(f) f(x[0], x[1])
#define CALL_3(f) f(x[0], x[1], x[2])
#define CALL_4(f) f(x[0], x[1], x[2], x[3])

uint64_t asm_apply(AsmFn fn, const uint64_t *x) {
  BUG_IF(fn >= ASM_FN_COUNT, "not a function of PTX: %d", fn);
  switch (fn) {
/* clang-format off */
#define F(name, arity, params, ...) case ASM_FN_##name: return CALL_##arity(asm_##name);
#define G(name, type, params, ...)
    /* clang-format on */
    ASM_FUNCTIONS(F, G)
#undef F
#undef G
    default: return 0;
  }
}

void asm_evaluate(const AsmProgram *p, const uint64_t *registers, uint64_t *values, uint64_t *out) {
  for (uint32_t i = 0; i < p->nnodes; i++) {
    const AsmNode *n = &p->nodes[i];
    uint64_t x[ASM_MAX_ARGS] = {0};
    if (n->fn == ASM_FN_CONST) values[i] = n->bits;
    else if (n->fn == ASM_FN_INPUT) values[i] = registers[n->bits];
    else {
      for (int k = 0; k < asm_fn_arity((AsmFn)n->fn); k++) x[k] = values[n->arg[k]];
      values[i] = asm_apply((AsmFn)n->fn, x);
    }
  }
  for (uint32_t i = 0; i < p->noutputs; i++) out[i] = values[p->outputs[i]];
}
