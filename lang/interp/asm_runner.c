#include "lang/interp/asm_runner.h"

#include <string.h>

#include "lang/messages.h"

struct AsmRunner {
  AsmCall call;
  AsmProgram program;
  AsmTypes types;
  uint64_t *registers, *values, *outputs;
  Scalar *turned, *results; /* of the second order */
};

AsmRunner *asm_runner_new(Arena *a, Diags *d, Span at, const char *text, const char *constraints,
                          const AsmTypes *types) {
  AsmRunner *r = ARENA_NEW(a, AsmRunner);
  r->types = *types;
  const char *error = asm_parse(a, text, constraints, types, &r->call);
  if (!error) error = asm_read_program(a, &r->call, &r->program);
  if (error) {
    diag_error(d, at, E_ASM_RUN, error);
    if (r->program.gpu_only) diag_hint(d, H_ASM_RUN, asm_known_opcodes(a));
    return NULL;
  }
  r->registers = ARENA_ARRAY(a, uint64_t, r->call.nregisters);
  r->values = ARENA_ARRAY(a, uint64_t, r->program.nnodes);
  r->outputs = ARENA_ARRAY(a, uint64_t, r->call.noutputs);
  r->turned = ARENA_ARRAY(a, Scalar, types->nargs * (size_t)types->pack);
  r->results = ARENA_ARRAY(a, Scalar, types->nresults * (size_t)types->pack);
  return r;
}

/* An integer alone in a wider register is extended as its type says. */
static uint64_t register_bits(const AsmRegister *x, const Scalar *elements) {
  unsigned bits = dtype_bits(x->type), width = asm_register_bits(x->letter);
  uint64_t r = 0;
  for (uint32_t i = 0; i < x->elements; i++) {
    uint64_t one = 0;
    scalar_store(x->type, elements[i], &one);
    r |= one << (i * bits);
  }
  if (x->elements > 1 || !dtype_is_signed(x->type) || bits >= width) return r;
  r = (uint64_t)((int64_t)(r << (64 - bits)) >> (64 - bits));
  return width < 64 ? r & ((UINT64_C(1) << width) - 1) : r;
}

static void run_once(const AsmRunner *r, const Scalar *in, Scalar *out) {
  uint32_t pack = r->types.pack;
  for (uint32_t i = r->call.noutputs; i < r->call.nregisters; i++) {
    const AsmRegister *x = &r->call.registers[i];
    r->registers[i] = register_bits(x, in + x->value * pack + x->first);
  }
  asm_evaluate(&r->program, r->registers, r->values, r->outputs);
  for (uint32_t i = 0; i < r->call.noutputs; i++) {
    const AsmRegister *x = &r->call.registers[i];
    unsigned bits = dtype_bits(x->type);
    for (uint32_t e = 0; e < x->elements; e++) {
      uint64_t one = r->outputs[i] >> (e * bits);
      if (x->type == DT_I1) one &= 1;
      out[x->value * pack + x->first + e] = scalar_load(x->type, &one);
    }
  }
}

static bool same_element(DType t, Scalar x, Scalar y) {
  return dtype_is_float(t) ? x.f == y.f || (x.f != x.f && y.f != y.f) : x.i == y.i;
}

bool asm_runner_call(const AsmRunner *r, const Scalar *in, Scalar *out, uint32_t n) {
  uint32_t pack = r->types.pack;
  run_once(r, in, out);
  if (pack == 1) return true;
  for (uint32_t i = 0; i < r->types.nargs * pack; i++)
    r->turned[i / pack * pack + (i % pack + 1) % pack] = i % pack < n ? in[i] : in[i / pack * pack];
  run_once(r, r->turned, r->results);
  for (uint32_t k = 0; k < r->types.nresults; k++)
    for (uint32_t e = 0; e < n; e++) {
      Scalar other = r->results[k * pack + (e + 1) % pack];
      if (!same_element(r->types.results[k], out[k * pack + e], other)) return false;
    }
  return true;
}
