/* Inline assembly: its program (lang/asm/asm_program.h), lane by lane. */
#include "lang/asm/asm_program.h"

#include <string.h>

#include "codegen/c/c.h"
#include "codegen/messages.h"
#include "lang/messages.h"

typedef struct {
  Gen *g;
  const NestStmt *s;
  AsmTypes types;
  AsmCall call;
  AsmProgram program;
  int64_t n;    /* elements that are there */
  bool uniform; /* all lanes compute the same */
} Inline;

static Ref element_of(const Ref *r, uint32_t e) {
  Ref at = *r;
  at.sub.c += e;
  return at;
}

/* An element's bits as a number of 64 bits. */
static const char *element_bits(Inline *x, const Ref *r, DType t) {
  Gen *g = x->g;
  const char *v = x->uniform ? c_scalar(g, r, t) : c_text(g, "(%s)[l$]", c_vector(g, r, t));
  if (t == DT_I1) return c_text(g, "(uint64_t)((%s) != 0)", v);
  if (t == DT_F32) return c_text(g, "(uint64_t)bits_f32(%s)", v);
  if (t == DT_F64) return c_text(g, "asm_bits(%s)", v);
  if (c_is_narrow(t)) return c_text(g, "(uint64_t)encode_%s(%s)", dtype_name(t), v);
  unsigned bits = dtype_bits(t);
  if (bits < 64) return c_text(g, "(uint64_t)(uint%u_t)(%s)", bits, v);
  return c_text(g, "(uint64_t)(%s)", v);
}

/* A number's low bits as an element; i1 is a mask in vectors. */
static const char *bits_element(Inline *x, DType t, const char *v) {
  Gen *g = x->g;
  if (t == DT_I1) return c_text(g, x->uniform ? "(%s & 1) != 0" : "-(int32_t)(%s & 1)", v);
  if (t == DT_F32) return c_text(g, "from_bits_f32((uint32_t)(%s))", v);
  if (t == DT_F64) return c_text(g, "from_bits_f64(%s)", v);
  if (c_is_narrow(t))
    return c_text(g, "decode_%s((uint%u_t)(%s))", dtype_name(t), dtype_bits(t), v);
  return c_text(g, "(%s)(%s)", c_scalar_type(t), v);
}

static const char *input_text(Inline *x, const AsmRegister *r) {
  Gen *g = x->g;
  unsigned bits = dtype_bits(r->type), width = asm_register_bits(r->letter);
  Text t = text_new(g->arena);
  for (uint32_t e = 0; e < r->elements && r->first + e < x->n; e++) {
    Ref at = element_of(&x->s->srcs[r->value], r->first + e);
    const char *one = element_bits(x, &at, r->type);
    text_printf(&t, e ? " | %s << %u" : "%s", one, e * bits);
  }
  if (!t.len) text_puts(&t, "0");
  if (r->elements > 1 || !dtype_is_signed(r->type) || bits >= width) return t.data;
  return c_text(g, "asm_low(asm_sext(%s, %u), %u)", t.data, bits, width);
}

static const char *node_text(Inline *x, const AsmNode *n) {
  Gen *g = x->g;
  if (n->fn == ASM_FN_CONST) return c_text(g, "0x%llxu", (unsigned long long)n->bits);
  if (n->fn == ASM_FN_INPUT) return input_text(x, &x->call.registers[n->bits]);
  Text t = text_new(g->arena);
  text_printf(&t, "asm_%s(", asm_fn_name((AsmFn)n->fn));
  for (int i = 0; i < asm_fn_arity((AsmFn)n->fn); i++) {
    const AsmNode *a = &x->program.nodes[n->arg[i]];
    text_puts(&t, i ? ", " : "");
    if (a->fn == ASM_FN_CONST) text_puts(&t, node_text(x, a));
    else text_printf(&t, "v$%u", n->arg[i]);
  }
  text_puts(&t, ")");
  return t.data;
}

static void mark_needed(const AsmProgram *p, bool *needed) {
  for (uint32_t i = 0; i < p->noutputs; i++) needed[p->outputs[i]] = true;
  for (uint32_t i = p->nnodes; i-- > 0;)
    for (int k = 0; needed[i] && k < asm_fn_arity((AsmFn)p->nodes[i].fn); k++)
      needed[p->nodes[i].arg[k]] = true;
}

static void put_nodes(Inline *x) {
  const AsmProgram *p = &x->program;
  bool *needed = ARENA_ARRAY(x->g->arena, bool, p->nnodes);
  mark_needed(p, needed);
  for (uint32_t i = 0; i < p->nnodes; i++)
    if (needed[i] && p->nodes[i].fn != ASM_FN_CONST)
      c_line(x->g, "const uint64_t v$%u = %s;", i, node_text(x, &p->nodes[i]));
}

/* Results are of variables that are vectors, or uniform. */
static void put_output(Inline *x, uint32_t i) {
  Gen *g = x->g;
  const AsmRegister *r = &x->call.registers[i];
  uint32_t node = x->program.outputs[i];
  const AsmNode *n = &x->program.nodes[node];
  const char *v = n->fn == ASM_FN_CONST ? node_text(x, n) : c_text(g, "v$%u", node);
  for (uint32_t e = 0; e < r->elements && r->first + e < x->n; e++) {
    Ref at = element_of(&x->s->dsts[r->value], r->first + e);
    const char *bits = e ? c_text(g, "(%s >> %u)", v, e * dtype_bits(r->type)) : v;
    c_line(g, "%s%s = %s;", c_ref_name(g, &at), x->uniform ? "" : "[l$]",
           bits_element(x, r->type, bits));
  }
}

void c_inline_asm(Gen *g, const NestStmt *s) {
  Inline x = {.g = g, .s = s, .n = nest_int(s, NA_n, 1)};
  x.uniform = s->dsts[0].var->uniform;
  nest_asm_types(g->arena, s, &x.types);
  const char *error = asm_parse(g->arena, nest_str(s, NA_asm, ""), nest_str(s, NA_constraints, ""),
                                &x.types, &x.call);
  if (!error) error = asm_read_program(g->arena, &x.call, &x.program);
  if (error) {
    diag_error(g->d, s->span, E_ASM_RUN, error);
    if (x.program.gpu_only) diag_hint(g->d, H_ASM_RUN, asm_known_opcodes(g->arena));
    g->failed = true;
    return;
  }
  c_line(g, x.uniform ? "{" : "EACH_LANE(l$) {");
  g->depth++;
  put_nodes(&x);
  for (uint32_t i = 0; i < x.call.noutputs; i++) put_output(&x, i);
  g->depth--;
  c_line(g, "}");
}
