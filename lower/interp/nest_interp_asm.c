/* Inline assembly. */
#include "lang/messages.h"
#include "lower/interp/nest_interp_run.h"

static void call_lane(Warp *w, const Inst *in, uint32_t lane) {
  const NestAsm *x = in->inline_asm;
  uint32_t pack = x->types.pack;
  for (uint32_t i = 0; i < x->types.nargs; i++)
    for (uint32_t e = 0; e < pack; e++) {
      uint32_t reg = operand_reg(w, &in->srcs[i]) + e;
      x->in[i * pack + e] = e < in->n ? reg_lanes(w, reg)[lane] : (Scalar){0};
    }
  if (!asm_runner_call(x->runner, x->in, x->out, in->n) &&
      nest_found(w, FOUND_PLACE, in->stmt->span, in->stmt))
    findings_text(w->prog->run->findings, E_ASM_PLACE);
  for (uint32_t k = 0; k < x->types.nresults * pack; k++)
    x->lanes[k * MOST_LANES + lane] = x->out[k];
}

/* Element e of a result is as good as those of the arguments. */
void nest_exec_asm(Warp *w, const Inst *in) {
  const NestAsm *x = in->inline_asm;
  uint32_t lanes = guard_lanes(w, in), all = in->uniform ? 1 : w->prog->run->lanes;
  for (uint32_t lane = 0; lane < all; lane++) call_lane(w, in, lane);
  uint32_t bad[ASM_MAX_PACK] = {0};
  const Inst *why[ASM_MAX_PACK] = {0};
  for (uint32_t i = 0; i < x->types.nargs; i++)
    for (uint32_t e = 0; e < in->n; e++) {
      Vec v = operand_vec(w, &in->srcs[i], e, 0);
      bad[e] |= v.bad;
      if (v.bad) why[e] = v.why;
    }
  for (uint32_t k = 0; k < x->types.nresults; k++) {
    Inst one = *in;
    one.dsts = &in->dsts[k];
    for (uint32_t e = 0; e < in->n; e++)
      set_reg(w, &one, e, x->lanes + (k * x->types.pack + e) * MOST_LANES, lanes, bad[e], why[e]);
  }
}
