/* Calls of inline assembly on elements, for both interpreters.
 *
 * It is undefined which `pack` elements share a call, so an element's result must not depend on it.
 * Each call runs twice, the second time with its elements in another order and with other values
 * for missing elements; a result that differs is reported. */
#ifndef NEREID_LANG_INTERP_ASM_RUNNER_H
#define NEREID_LANG_INTERP_ASM_RUNNER_H

#include "lang/asm/asm_program.h"
#include "lang/tile/scalar.h"

typedef struct AsmRunner AsmRunner;

/* NULL after an error, which is reported at `at`: `types` must outlive the runner. */
AsmRunner *asm_runner_new(Arena *a, Diags *d, Span at, const char *text, const char *constraints,
                          const AsmTypes *types);
/* Element e of argument i is in[i * pack + e]; so are results in `out`.  False if one of the first
 * `n` elements' results depends on its place in the call. */
bool asm_runner_call(const AsmRunner *r, const Scalar *in, Scalar *out, uint32_t n);

#endif
