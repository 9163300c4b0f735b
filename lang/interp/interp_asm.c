/* Inline assembly. */
#include "lang/interp/asm_runner.h"
#include "lang/interp/interp_run.h"
#include "lang/messages.h"

const void *interp_asm_code(Run *r, const TileOp *op) {
  DType *types = ARENA_ARRAY(r->arena, DType, op->nresults + op->nargs);
  for (uint32_t i = 0; i < op->nresults; i++) types[i] = (DType)op->results[i]->type.dtype;
  for (uint32_t i = 0; i < op->nargs; i++) types[op->nresults + i] = (DType)op->args[i]->type.dtype;
  AsmTypes t = {types, types + op->nresults, op->nresults, op->nargs,
                (uint32_t)tile_int(op, TA_pack, 1)};
  const AsmRunner *runner = asm_runner_new(r->arena, r->diags, op->span, tile_str(op, TA_asm, ""),
                                           tile_str(op, TA_constraints, ""), &t);
  if (!runner) longjmp(r->stop, 1);
  return runner;
}

typedef struct {
  Val **args, **results;
  Scalar *in, *out;
  uint32_t nargs, nresults, pack, count;
} AsmGroup;

/* Runs one call; elements past the tile's end are zero. */
static void run_group(Prog *p, const Inst *in, AsmGroup *g, uint32_t first) {
  uint32_t n = g->count - first < g->pack ? g->count - first : g->pack;
  uint8_t undefined = 0;
  for (uint32_t i = 0; i < g->nargs; i++)
    for (uint32_t e = 0; e < g->pack; e++) {
      uint32_t at = g->args[i]->n == 1 ? 0 : first + e; /* a scalar from outside a region */
      g->in[i * g->pack + e] = e < n ? g->args[i]->x[at] : (Scalar){0};
    }
  if (!asm_runner_call(in->data, g->in, g->out, n) &&
      interp_found(p, FOUND_ASM, in->op->span, in->op))
    findings_text(p->run->findings, E_ASM_PLACE);
  for (uint32_t k = 0; k < g->nresults; k++)
    for (uint32_t e = 0; e < n; e++) {
      undefined = 0;
      for (uint32_t i = 0; i < g->nargs; i++)
        undefined |= interp_flag(g->args[i], g->args[i]->n == 1 ? 0 : first + e) & FLAG_UNDEF;
      g->results[k]->x[first + e] = g->out[k * g->pack + e];
      if (undefined) interp_flags(p->run, g->results[k])[first + e] = undefined;
    }
}

void interp_asm(Prog *p, const Inst *in) {
  const TileOp *op = in->op;
  Arena *scratch = arena_child(p->run->arena);
  AsmGroup g = {
      .nargs = op->nargs, .nresults = op->nresults, .pack = (uint32_t)tile_int(op, TA_pack, 1)};
  g.args = ARENA_ARRAY(scratch, Val *, g.nargs);
  g.results = ARENA_ARRAY(scratch, Val *, g.nresults);
  g.in = ARENA_ARRAY(scratch, Scalar, g.nargs * (size_t)g.pack);
  g.out = ARENA_ARRAY(scratch, Scalar, g.nresults * (size_t)g.pack);
  g.count = (uint32_t)type_numel(interp_type(in, 0)) * p->lanes;
  for (uint32_t i = 0; i < g.nresults; i++) g.results[i] = interp_result(p, in, i, g.count);
  for (uint32_t i = 0; i < g.nargs; i++) g.args[i] = interp_arg(p, in, i);
  for (uint32_t first = 0; first < g.count; first += g.pack) run_group(p, in, &g, first);
  for (uint32_t k = 0; k < g.nresults; k++)
    for (uint32_t i = 0; i < g.nargs; i++) interp_blame(g.results[k], g.args[i]);
  arena_free(scratch);
}
