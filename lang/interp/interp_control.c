/* Frames, and the ops that move between them. */
#include <string.h>

#include "lang/interp/interp_run.h"
#include "lang/messages.h"

/* After so many iterations of loops the others get a turn. */
enum { ITERATIONS_A_TURN = 1024 };

void interp_push(Prog *p, const Inst *owner, const Code *code) {
  Frame f = {.code = code, .owner = owner};
  vec_push(p->run->arena, &p->frames, f);
}

static void drop_vals(Prog *p, Val *vals, uint32_t n) {
  if (!vals) return;
  for (uint32_t i = 0; i < n; i++) interp_clear(p->run, &vals[i]);
  interp_drop(p->run, vals);
}

static void interp_pop(Prog *p) {
  Frame f = p->frames.data[--p->frames.len];
  if (f.carried) drop_vals(p, f.carried, f.owner->op->nargs);
}

/* the values that die after `in` */
static void interp_bury(Prog *p, const Inst *in) {
  for (uint32_t i = 0; i < in->ndead; i++) interp_clear(p->run, &p->vals[in->dead[i]]);
}

/* Ends the launch with a message about a limit. */
static _Noreturn void interp_stop(Run *r, Span at, const char *message, uint64_t count) {
  diag_error(r->diags, at, message, (unsigned long long)count);
  longjmp(r->stop, 1);
}

void interp_go(Prog *p, size_t depth, bool may_yield) {
  Run *r = p->run;
  while (p->frames.len > depth && !(may_yield && p->yields)) {
    Frame *f = &vec_last(&p->frames);
    const Inst *in = &f->code->insts[f->next++];
    in->exec(p, in);
    if (!in->transfers) interp_bury(p, in);
    if (++r->steps == r->options.steps) interp_stop(r, r->fn->span, E_INTERP_STEPS, r->steps);
  }
}

/* ---- handing values on ---- */

/* The operands from `first` on, with references of their own. */
static Val *share_args(Prog *p, const Inst *in, uint32_t first) {
  uint32_t n = in->op->nargs - first;
  Val *vals = interp_alloc(p->run, n * sizeof *vals);
  for (uint32_t i = 0; i < n; i++) vals[i] = interp_share(interp_arg(p, in, first + i));
  return vals;
}

static void set_all(Prog *p, TileValue *const *to, const Val *vals, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) interp_set(p, to[i], vals[i]);
}

/* The op `owner` is done, with these results. */
static void finish_region_op(Prog *p, const Inst *owner, Val *vals) {
  set_all(p, owner->op->results, vals, owner->op->nresults);
  interp_drop(p->run, vals);
  interp_bury(p, owner);
}

static void count_loop_iteration(Prog *p) {
  if (++p->iterations < ITERATIONS_A_TURN) return;
  p->iterations = 0;
  p->yields = true;
}

/* A scalar i1 that control flow depends on. */
static bool interp_truth(Prog *p, const Inst *in, uint32_t arg) {
  const Val *v = interp_arg(p, in, arg);
  interp_is_undef(p, in, v, 0, "the condition");
  return v->x[0].i != 0;
}

/* ---- if ---- */

void interp_if(Prog *p, const Inst *in) {
  uint32_t taken = !interp_truth(p, in, 0);
  if (taken < in->op->nregions) interp_push(p, in, in->regions[taken]);
  else interp_bury(p, in);
}

/* ---- for ---- */

static uint64_t loop_trip_count(int64_t lo, int64_t hi, int64_t step, bool is_signed) {
  uint64_t size = step < 0 && is_signed ? 0 - (uint64_t)step : (uint64_t)step;
  if (is_signed && step < 0) return lo > hi ? ((uint64_t)lo - (uint64_t)hi - 1) / size + 1 : 0;
  bool some = is_signed ? lo < hi : (uint64_t)lo < (uint64_t)hi;
  return some ? ((uint64_t)hi - (uint64_t)lo - 1) / size + 1 : 0;
}

static int64_t loop_bound(Prog *p, const Inst *in, uint32_t arg) {
  const Val *v = interp_arg(p, in, arg);
  interp_is_undef(p, in, v, 0, "a bound of the loop");
  return v->x[0].i;
}

/* Sets the parameters of the next iteration: the index and what is carried. */
static void for_iteration(Prog *p, const Inst *in, int64_t index, Val *carried) {
  const TileBlock *b = in->op->regions[0];
  DType t = (DType)b->params[0]->type.dtype;
  Val i = interp_new(p->run, 1);
  i.x[0] = scalar_op(TILE_CAST, DT_I64, t, &(Scalar){.i = index}, false);
  interp_set(p, b->params[0], i);
  set_all(p, b->params + 1, carried, b->nparams - 1);
  interp_drop(p->run, carried);
}

void interp_for(Prog *p, const Inst *in) {
  int64_t lo = loop_bound(p, in, 0), hi = loop_bound(p, in, 1), step = loop_bound(p, in, 2);
  bool is_signed = dtype_is_signed((DType)in->op->args[0]->type.dtype);
  uint64_t trips = step ? loop_trip_count(lo, hi, step, is_signed) : 0;
  if (!step && interp_found(p, FOUND_STEP, in->op->span, in->op))
    findings_text(p->run->findings, E_INTERP_STEP);
  Val *carried = share_args(p, in, 3);
  if (!trips) {
    finish_region_op(p, in, carried);
    return;
  }
  interp_push(p, in, in->regions[0]);
  Frame *f = &vec_last(&p->frames);
  f->left = trips - 1;
  f->index = lo;
  f->step = step;
  for_iteration(p, in, lo, carried);
}

static void for_next(Prog *p, Frame *f, Val *vals) {
  const Inst *owner = f->owner;
  if (!f->left) {
    interp_pop(p);
    finish_region_op(p, owner, vals);
    return;
  }
  f->left--;
  f->index = (int64_t)((uint64_t)f->index + (uint64_t)f->step);
  f->next = 0;
  for_iteration(p, owner, f->index, vals);
  count_loop_iteration(p);
}

/* ---- while ---- */

static bool same_vals(const Val *x, const Val *y, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    if (x[k].x == y[k].x) continue;
    if (x[k].n != y[k].n || memcmp(x[k].x, y[k].x, x[k].n * sizeof *x[k].x)) return false;
  }
  return true;
}

/* Enters region 0 with `vals`, and remembers what some of the iterations began with: the first, the
 * second, the fourth and so on, so that values that come again after any number of iterations are
 * seen (Brent's algorithm). */
static void while_iteration(Prog *p, Frame *f, Val *vals) {
  const Inst *owner = f->owner;
  uint32_t n = owner->op->nargs;
  for (uint32_t i = 0; i < n; i++)
    interp_set(p, owner->op->regions[0]->params[i], interp_share(&vals[i]));
  uint64_t changes = memory_changes(p->run->memory);
  f->iterations = changes == f->changes ? f->iterations + 1 : 1;
  bool noted = (f->iterations & (f->iterations - 1)) == 0;
  Val *old = noted ? f->carried : vals;
  if (noted) f->carried = vals;
  if (old) drop_vals(p, old, n);
  f->changes = changes;
  f->code = owner->regions[0];
  f->next = 0;
}

void interp_while(Prog *p, const Inst *in) {
  Val *vals = share_args(p, in, 0);
  interp_push(p, in, in->regions[0]);
  while_iteration(p, &vec_last(&p->frames), vals);
}

void interp_condition(Prog *p, const Inst *in) {
  bool goes_on = interp_truth(p, in, 0);
  Val *vals = share_args(p, in, 1);
  interp_bury(p, in);
  Frame *f = &vec_last(&p->frames);
  const Inst *owner = f->owner;
  if (!goes_on) {
    interp_pop(p);
    finish_region_op(p, owner, vals);
    return;
  }
  const TileBlock *body = owner->op->regions[1];
  set_all(p, body->params, vals, body->nparams);
  interp_drop(p->run, vals);
  f->code = owner->regions[1];
  f->next = 0;
}

/* A loop whose values come again, while memory stood still, goes on so until another program
 * changes memory: that is what it waits for. */
static void while_next(Prog *p, Frame *f, Val *vals) {
  Run *r = p->run;
  const TileOp *loop = f->owner->op;
  if (++r->iterations == r->options.iterations)
    interp_stop(r, loop->span, E_INTERP_ITERATIONS, r->iterations);
  uint64_t changes = memory_changes(r->memory);
  if (changes == f->changes && same_vals(f->carried, vals, loop->nargs)) {
    p->state = PROG_WAITS;
    p->waits_at = changes;
    p->waits_in = loop;
    p->yields = true;
  }
  while_iteration(p, f, vals);
  count_loop_iteration(p);
}

/* ---- ends of blocks ---- */

/* The end of a REDUCE's or SCAN's region; a scalar from outside is broadcast to all lanes. */
static void return_region_values(Prog *p, Val *vals, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    p->returned[k] = vals[k];
    if (vals[k].n == p->lanes) continue;
    Val all = interp_new(p->run, p->lanes);
    for (uint32_t i = 0; i < p->lanes; i++) all.x[i] = vals[k].x[0];
    if (vals[k].flags) memset(interp_flags(p->run, &all), vals[k].flags[0], all.n);
    interp_blame(&all, &vals[k]);
    interp_clear(p->run, &vals[k]);
    p->returned[k] = all;
  }
  interp_drop(p->run, vals);
  interp_pop(p);
}

void interp_yield(Prog *p, const Inst *in) {
  Frame *f = &vec_last(&p->frames);
  const Inst *owner = f->owner;
  Val *vals = share_args(p, in, 0);
  interp_bury(p, in);
  switch (owner->op->code) {
    case TILE_FOR: for_next(p, f, vals); break;
    case TILE_WHILE: while_next(p, f, vals); break;
    case TILE_IF:
      interp_pop(p);
      finish_region_op(p, owner, vals);
      break;
    default: return_region_values(p, vals, in->op->nargs); break;
  }
}

void interp_return(Prog *p, const Inst *in) {
  (void)in;
  while (p->frames.len) interp_pop(p);
}

/* ---- regions of reduce and scan ---- */

static void run_region(Prog *p, const Inst *in, const Val *ins, Val *outs, uint32_t lanes) {
  const Code *code = in->regions[0];
  for (uint32_t i = 0; i < code->block->nparams; i++)
    interp_set(p, code->block->params[i], interp_share(&ins[i]));
  size_t depth = p->frames.len;
  p->lanes = lanes;
  p->returned = outs;
  interp_push(p, in, code);
  interp_go(p, depth, false);
}

static Val lane_of(Prog *p, const Val *v, uint32_t lane) {
  Val r = interp_new(p->run, 1);
  r.x[0] = v->x[lane];
  if (v->flags) interp_flags(p->run, &r)[0] = v->flags[lane];
  interp_blame(&r, v);
  return r;
}

/* Control flow in the region: one lane after the other. */
static void run_lanes(Prog *p, const Inst *in, const Val *ins, Val *outs, uint32_t lanes) {
  uint32_t nin = in->regions[0]->block->nparams, nout = in->op->nargs;
  Val *one = interp_alloc(p->run, (nin + nout) * sizeof *one), *got = one + nin;
  for (uint32_t k = 0; k < nout; k++) outs[k] = interp_new(p->run, lanes);
  for (uint32_t i = 0; i < lanes; i++) {
    for (uint32_t k = 0; k < nin; k++) one[k] = lane_of(p, &ins[k], i);
    run_region(p, in, one, got, 1);
    for (uint32_t k = 0; k < nout; k++) {
      outs[k].x[i] = got[k].x[0];
      if (got[k].flags) interp_flags(p->run, &outs[k])[i] = got[k].flags[0];
      interp_blame(&outs[k], &got[k]);
      interp_clear(p->run, &got[k]);
    }
    for (uint32_t k = 0; k < nin; k++) interp_clear(p->run, &one[k]);
  }
  interp_drop(p->run, one);
}

void interp_region(Prog *p, const Inst *in, const Val *ins, Val *outs, uint32_t lanes) {
  uint32_t lanes_before = p->lanes;
  Val *returned_before = p->returned;
  if (in->regions[0]->elementwise) run_region(p, in, ins, outs, lanes);
  else run_lanes(p, in, ins, outs, lanes);
  p->lanes = lanes_before;
  p->returned = returned_before;
}
