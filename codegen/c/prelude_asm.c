/* Helpers: the functions of PTX instructions, in the text that both interpreters run. */
#include "lang/asm/asm_functions.h"

#include "codegen/c/c.h"

const Helper c_helpers_asm[] = {
#define F(name, arity, params, ...) \
  {"asm_" #name, NULL, "INLINE uint64_t asm_" #name TEXT(params) #__VA_ARGS__ "\n"},
#define G(name, type, params, ...) \
  {"asm_" #name, NULL, "INLINE " #type " asm_" #name TEXT(params) #__VA_ARGS__ "\n"},
#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x
    ASM_FUNCTIONS(F, G){0},
};
