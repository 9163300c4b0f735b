/* Pass build: scalars, control flow, and the walk.  See lower/build/build.h. */
#include "lower/build/build.h"

#include <string.h>

#include "lang/interp/device_print.h"
#include "lower/messages.h"
#include "lower/passes.h"

/* ======== device_print ======== */

/* An element as it is printed. */
static Ref convert_printed(Build *s, Ref x, DType t, const PrintCast *casts, int n) {
  for (int i = 0; i < n; t = casts[i++].to) {
    Ref to = ref_var(build_temp(s, casts[i].to, DT_NONE));
    nest_op(&s->b, casts[i].op, t, to, x, ref_none(), ref_none())->to = casts[i].to;
    x = to;
  }
  return x;
}

static NestStmt *build_print_stmt(Build *s, const PrintLine *line, uint32_t nsrcs) {
  NestStmt *st = nest_stmt(&s->b, NEST_PRINT, 0, nsrcs);
  Text shape = text_new(s->scratch);
  for (int a = 0; a < line->rank; a++) text_printf(&shape, "%s%d", a ? "x" : "", line->shape[a]);
  st->type = line->type;
  nest_set_str(s->nest, st, NA_message, line->message);
  if (line->rank) nest_set_str(s->nest, st, NA_shape, shape.data);
  if (line->digits) nest_set_int(s->nest, st, NA_digits, line->digits);
  return st;
}

static void build_print_operand(Build *s, const TileOp *op, uint32_t k, PrintLine line) {
  const TileValue *v = op->args[k];
  const Type *t = &v->type;
  PrintCast casts[PRINT_CASTS];
  int ncasts = print_casts(&line, (DType)t->dtype, tile_int(op, TA_hex, 0) != 0, casts);
  line.message = print_message(s->scratch, line.message, k, op->nargs);
  line.rank = t->rank;
  for (int a = 0; a < t->rank; a++) line.shape[a] = t->shape[a];
  Layout l = t->rank ? build_layout_of(s, v) : build_whole_program(s);
  Open o = build_open(s, &l);
  Ref x = t->rank ? build_value_at(s, v, o.axes, &l) : build_scalar(s, v);
  x = convert_printed(s, x, (DType)t->dtype, casts, ncasts);
  NestStmt *st = build_print_stmt(s, &line, t->rank + 1);
  st->srcs[0] = x;
  for (int a = 0; a < t->rank; a++) st->srcs[a + 1] = ref_affine(o.axes[a]);
  build_close(s, &o);
}

static void build_print(Build *s, const TileOp *op) {
  PrintLine line = {.message = tile_str(op, TA_message, "")};
  for (uint32_t k = 0; k < op->nargs; k++) build_print_operand(s, op, k, line);
  if (op->nargs) return;
  Layout l = build_whole_program(s);
  Open o = build_open(s, &l);
  build_print_stmt(s, &line, 0);
  build_close(s, &o);
}

/* ======== inline assembly ======== */

static Ref asm_scalar(Build *s, const TileValue *v) {
  Ref r = build_scalar(s, v);
  if (r.kind == REF_VAR) return r;
  NestVar *t = nest_var(s->nest, v->name, (DType)v->type.dtype, (DType)v->type.elem, 1, true);
  nest_mov(&s->b, ref_var(t), r, t->dtype);
  return ref_var(t);
}

/* Scalars, or tiles in the layout of the first result. */
static void build_asm(Build *s, const TileOp *op) {
  const TileValue *first = op->results[0];
  bool tiles = first->type.rank > 0;
  Layout l = tiles ? build_layout_of(s, first) : (Layout){0};
  Ref *srcs = ARENA_ARRAY(s->scratch, Ref, op->nargs);
  NestVar **made = ARENA_ARRAY(s->scratch, NestVar *, op->nresults);
  for (uint32_t i = 0; i < op->nargs; i++)
    srcs[i] = tiles ? ref_var(build_held(s, op->args[i], &l)) : asm_scalar(s, op->args[i]);
  for (uint32_t i = 0; i < op->nresults; i++) {
    const TileValue *r = op->results[i];
    made[i] = tiles ? nest_tile_var(s->nest, r->name, r->type, &l) : build_result(s, r);
  }
  build_asm_stmt(s, op, srcs, made);
  for (uint32_t i = 0; i < op->nresults && tiles; i++) {
    Layout own = build_layout_of(s, op->results[i]);
    bool same = layout_eq(&own, &l);
    s->var[op->results[i]->id] =
        same ? made[i] : build_relayout(s, made[i], &op->results[i]->type, &own);
  }
}

/* ======== ops on tiles ======== */

/* Reads of a value by an op's expression, element by element. */
static uint32_t count_reads(const Build *s, const TileOp *op, const TileValue *v) {
  const ValuePlan *plan = s->u->schedule->values;
  uint32_t n = 0;
  if (!(tile_op_flags(op->code) & TILE_ELEM)) return 0;
  for (uint32_t i = 0; i < op->nargs; i++) {
    const TileValue *x = op->args[i];
    if (!x) continue;
    n += x == v;
    bool same = s->inlined[x->id] && layout_eq(&plan[x->id].layout, &plan[v->id].layout);
    if (same && x->def) n += count_reads(s, x->def, v);
  }
  return n;
}

/* The value that the next iteration of the loop has in its place, if that is its only use, at once
 * or as the accumulators of a dot. */
static const TileValue *next_carried(const Build *s, const TileValue *r) {
  const TileOp *user = s->uses[r->id] == 1 ? s->user[r->id] : NULL;
  if (!user || !r->def || user->parent != r->def->parent) return NULL;
  if (user->code == TILE_DOT && user->args[2] == r) return next_carried(s, user->results[0]);
  const TileOp *loop = user->code == TILE_YIELD ? user->parent->owner : NULL;
  if (!loop || loop->code != TILE_FOR) return NULL;
  for (uint32_t i = 0; i < user->nargs; i++)
    if (user->args[i] == r) return user->parent->params[i + 1];
  return NULL;
}

/* A carried tile that this op alone reads, as accumulators are, is updated in place. */
static NestVar *result_or_carried(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0], *v = next_carried(s, r);
  NestVar *own = v ? s->var[v->id] : NULL;
  bool in_place = own && type_eq(r->type, v->type) &&
                  layout_eq(own->layout, &s->u->schedule->values[r->id].layout) &&
                  count_reads(s, op, v) == s->uses[v->id];
  return in_place ? s->var[r->id] = own : build_result(s, r);
}

/* An elementwise op of its own: computed as an expression, whose last temp is the variable. */
static void build_expression(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  Layout l = build_layout_of(s, r);
  Open o = build_open(s, &l);
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) x[i] = build_value_at(s, op->args[i], o.axes, &l);
  NestVar *v = result_or_carried(s, op);
  build_elementwise(s, op, build_tile_ref(s, v, o.axes), x);
  build_close(s, &o);
}

static void build_tile_op(Build *s, const TileOp *op) {
  switch (op->code) {
    case TILE_REDUCE: build_fold_op(s, op, NEST_REDUCE); return;
    case TILE_SCAN: build_fold_op(s, op, NEST_SCAN); return;
    case TILE_RESHAPE:
    case TILE_SLICE:
    case TILE_CAT:
    case TILE_JOIN:
    case TILE_SPLIT:
    case TILE_GATHER:
    case TILE_HISTOGRAM: build_shape_op(s, op); return;
    case TILE_DOT: build_dot_op(s, op); return;
    default: build_expression(s, op); return;
  }
}

/* ======== control flow, and the kernel ======== */

/* Chains of inlined ops are expanded by recursion; longer ones get a variable in between. */
enum { INLINE_DEPTH = 48 };

static void build_block(Build *s, const TileBlock *b);

/* ---- which elementwise ops their one user computes ---- */

typedef struct {
  Build *s;
  uint8_t *depth;
  uint32_t store; /* number of the next store on a tile */
  uint32_t *store_of;
} Inline;

static void note_user_count(TileOp *op, void *ctx) {
  Inline *x = ctx;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (op->args[i]) x->s->user[op->args[i]->id] = op;
  bool store = (op->code == TILE_STORE || op->code == TILE_VIEW_STORE) && op->args[1]->type.rank;
  if (store) x->store_of[op->args[1]->id] = x->store++;
}

static bool takes_expression(const Inline *x, const TileOp *user, const TileValue *v) {
  const ValuePlan *plan = x->s->u->schedule->values;
  if (user->code == TILE_STORE || user->code == TILE_VIEW_STORE) {
    const Layout *l = &x->s->u->schedule->stores[x->store_of[user->args[1]->id]];
    return layout_eq(l, &plan[v->id].layout);
  }
  /* An address and a mask that are known by their terms, not as values of registers, can be those
   * of several elements. */
  if (user->code == TILE_LOAD && (user->args[0] == v || user->args[1] == v))
    return layout_eq(&plan[user->results[0]->id].layout, &plan[v->id].layout);
  if (user->code == TILE_SPLAT || user->code == TILE_EXPAND_DIMS || user->code == TILE_BROADCAST)
    return true;
  if (!(tile_op_flags(user->code) & TILE_ELEM)) return false;
  const ValuePlan *to = &plan[user->results[0]->id];
  return !to->held || layout_eq(&to->layout, &plan[v->id].layout);
}

static void choose_inlined(TileOp *op, void *ctx) {
  Inline *x = ctx;
  Build *s = x->s;
  if (op->nresults != 1 || !(tile_op_flags(op->code) & TILE_ELEM) || !op->nargs) return;
  const TileValue *v = op->results[0];
  uint8_t depth = 1;
  for (uint32_t i = 0; i < op->nargs; i++)
    if (x->depth[op->args[i]->id] >= depth) depth = (uint8_t)(x->depth[op->args[i]->id] + 1);
  bool renames = schedule_renames(v) && !s->u->schedule->values[v->id].held;
  x->depth[v->id] = renames ? x->depth[op->args[0]->id] : 0;
  if (!v->type.rank || s->uses[v->id] != 1) return;
  const TileOp *user = s->user[v->id];
  if (!user || user->parent != op->parent || depth > INLINE_DEPTH) return;
  if (!takes_expression(x, user, v)) return;
  s->inlined[v->id] = true;
  x->depth[v->id] = depth;
}

static void plan_inlining(Build *s) {
  const TileFunc *f = s->u->tile;
  Inline x = {s, ARENA_ARRAY(s->scratch, uint8_t, f->nvalues), 0,
              ARENA_ARRAY(s->scratch, uint32_t, f->nvalues)};
  tile_walk(f->body, note_user_count, &x);
  tile_walk(f->body, choose_inlined, &x);
}

/* ---- scalars ---- */

static Layout scalar_layout(const Build *s) {
  Layout l = {0};
  layout_push(&l, -1, HW_WARP, s->nest->warps, 1);
  layout_push(&l, -1, HW_LANE, s->nest->lanes, 1);
  return l;
}

/* Reported by interpreters where x, an i1, is false. */
static void assert_scalar(Build *s, Ref x, const char *kind, const char *message) {
  Layout l = scalar_layout(s);
  Open o = build_open(s, &l);
  NestStmt *st = nest_stmt(&s->b, NEST_ASSERT, 0, 1);
  st->srcs[0] = x;
  st->type = DT_I1;
  nest_set_str(s->nest, st, NA_kind, kind);
  nest_set_str(s->nest, st, NA_message, message);
  build_close(s, &o);
}

/* multiple_of of a scalar, whose other hints say nothing. */
static void assert_multiple(Build *s, const TileOp *op) {
  const TileAttr *div = tile_attr(op, TA_div);
  DType t = (DType)op->results[0]->type.dtype;
  if (!div || !div->len || div->list[0] < 2 || !dtype_is_int(t)) return;
  Ref x = s->scalar[op->args[0]->id];
  Ref rest = build_op(s, TILE_REM, t, x, ref_int(div->list[0]), ref_none());
  Ref holds = build_op(s, TILE_EQ, t, rest, ref_int(0), ref_none());
  const char *hint = arena_printf(s->nest->arena, "multiple_of(%lld)", (long long)div->list[0]);
  assert_scalar(s, holds, "hint", hint);
}

static void scalar_op_stmt(Build *s, const TileOp *op) {
  const TileValue *r = op->results[0];
  if (op->code == TILE_CONST || op->code == TILE_UNDEF) {
    const TileAttr *c = tile_attr(op, TA_value);
    bool floats = dtype_is_float((DType)r->type.dtype);
    s->scalar[r->id] = floats ? ref_float(c ? c->f : 0) : ref_int(c ? c->i : 0);
    return;
  }
  if (op->code == TILE_HINT || tile_is_same_scalar(op)) {
    s->scalar[r->id] = s->scalar[op->args[0]->id];
    if (op->code == TILE_HINT && s->nest->options.checked) assert_multiple(s, op);
    return;
  }
  if (op->code == TILE_PROGRAM_ID || op->code == TILE_NUM_PROGRAMS) {
    NestVar *v = build_result(s, r);
    NestStmt *st = nest_stmt(&s->b, op->code == TILE_PROGRAM_ID ? NEST_PID : NEST_NPROG, 1, 0);
    st->dsts[0] = ref_var(v);
    st->type = DT_I32;
    nest_set_int(s->nest, st, NA_axis, tile_int(op, TA_axis, 0));
    return;
  }
  if (op->code == TILE_CLUSTER_RANK) {
    NestStmt *st = nest_stmt(&s->b, NEST_CLUSTER_RANK, 1, 0);
    st->dsts[0] = ref_var(build_result(s, r));
    st->type = DT_I32;
    return;
  }
  if (op->code == TILE_SPECIAL) {
    NestVar *v = build_result(s, r);
    NestStmt *st = nest_stmt(&s->b, NEST_SPECIAL, 1, 0);
    st->dsts[0] = ref_var(v);
    st->type = (DType)r->type.dtype;
    nest_set_str(s->nest, st, NA_kind, tile_str(op, TA_kind, ""));
    return;
  }
  Ref x[3] = {ref_none(), ref_none(), ref_none()};
  for (uint32_t i = 0; i < op->nargs; i++) x[i] = build_scalar(s, op->args[i]);
  NestVar *v = build_result(s, r);
  build_elementwise(s, op, ref_var(v), x);
}

/* ---- control flow ---- */

/* v := from, whichever of scalar or tile they are. */
static void assign_value(Build *s, const TileValue *v, const TileValue *from) {
  if (v->type.rank) {
    NestVar *to = s->var[v->id];
    if (s->var[from->id] != to) build_copy_tile(s, to, from);
    return;
  }
  Ref r = s->scalar[from->id], to = s->scalar[v->id];
  if (r.kind == REF_VAR && r.var == to.var) return;
  nest_mov(&s->b, to, r, to.var->dtype);
}

static bool held_in(const Build *s, const TileValue *v, const TileValue *carried) {
  if (v->type.rank) return s->var[v->id] && s->var[v->id] == s->var[carried->id];
  return s->scalar[v->id].kind == REF_VAR && s->scalar[v->id].var == s->scalar[carried->id].var;
}

/* carried[i] := from[i] for all at once: a source that another assignment overwrites is copied
 * first. */
static void assign_all(Build *s, TileValue *const *carried, TileValue *const *from, uint32_t n) {
  Ref *scalar = ARENA_ARRAY(s->scratch, Ref, n);
  NestVar **tile = ARENA_ARRAY(s->scratch, NestVar *, n);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++) {
      if (i == j || !held_in(s, from[i], carried[j]) || held_in(s, from[i], carried[i])) continue;
      const TileValue *v = from[i];
      if (v->type.rank) {
        tile[i] = nest_tile_var(s->nest, v->name, v->type, s->var[v->id]->layout);
        build_copy_tile(s, tile[i], v);
      } else {
        NestVar *t = nest_var(s->nest, v->name, (DType)v->type.dtype, (DType)v->type.elem, 1, true);
        nest_mov(&s->b, ref_var(t), s->scalar[v->id], t->dtype);
        scalar[i] = ref_var(t);
      }
      break;
    }
  /* Tiles first: their expressions may read carried scalars. */
  for (int scalars = 0; scalars < 2; scalars++)
    for (uint32_t i = 0; i < n; i++) {
      if ((carried[i]->type.rank == 0) != (scalars == 1)) continue;
      const TileValue *v = from[i];
      NestVar *old_var = s->var[v->id];
      Ref old_ref = s->scalar[v->id];
      if (tile[i]) s->var[v->id] = tile[i];
      if (scalar[i].kind) s->scalar[v->id] = scalar[i];
      assign_value(s, carried[i], v);
      s->var[v->id] = old_var;
      s->scalar[v->id] = old_ref;
    }
}

/* The builder's state outside of a block. */
typedef struct {
  NestBuilder outer;
  size_t converted;
} Scope;

/* The builder goes to the end of a block; what it converts there is known only there. */
static Scope begin_scope(Build *s, NestBlock *b) {
  Scope scope = {s->b, s->converted.len};
  s->b.block = b;
  s->b.before = NULL;
  return scope;
}

static void end_scope(Build *s, Scope scope) {
  s->converted.len = scope.converted;
  s->b = scope.outer;
}

/* `loop`: the region begins an iteration of it; NULL: it does not. */
static void region(Build *s, NestStmt *owner, const TileBlock *b, const TileOp *loop) {
  Scope scope = begin_scope(s, nest_block(s->nest, owner));
  if (loop) build_loop_barrier(s, loop);
  build_block(s, b);
  end_scope(s, scope);
}

static bool joins_blocks(const TileBlock *b) {
  for (const TileOp *op = b->first; op; op = op->next) {
    if (op->code == TILE_REDUCE && tile_int(op, TA_joins, 0)) return true;
    for (uint32_t r = 0; op->code != TILE_REDUCE && r < op->nregions; r++)
      if (joins_blocks(op->regions[r])) return true;
  }
  return false;
}

/* The loop's reductions join thread blocks, all of which have begun then; a reduction before it
 * waits for that itself. */
static void meet_before_loop(Build *s, const TileOp *loop) {
  if (s->met || loop->parent->owner || !joins_blocks(loop->regions[0])) return;
  s->met = true;
  for (const TileOp *op = loop->prev; op; op = op->prev)
    if (op->code == TILE_REDUCE && tile_int(op, TA_joins, 0)) return;
  nest_stmt(&s->b, NEST_CLUSTER_WAIT, 0, 0);
}

static void build_for(Build *s, const TileOp *op) {
  const TileBlock *body = op->regions[0];
  uint32_t n = op->nargs - 3;
  for (uint32_t i = 0; i < n; i++) {
    build_result(s, body->params[i + 1]);
    assign_value(s, body->params[i + 1], op->args[i + 3]);
  }
  NestVar *index = build_result(s, body->params[0]);
  build_plan_ahead(s, op);
  meet_before_loop(s, op);
  NestStmt *st = nest_stmt(&s->b, NEST_FOR, 1, 3);
  st->dsts[0] = ref_var(index);
  for (int i = 0; i < 3; i++) st->srcs[i] = build_scalar(s, op->args[i]);
  st->type = index->dtype;
  int64_t stages = tile_int(op, TA_num_stages, 0), unroll = tile_int(op, TA_unroll, 0);
  if (stages) nest_set_int(s->nest, st, NA_stages, stages);
  if (unroll) nest_set_int(s->nest, st, NA_unroll, unroll);
  Scope scope = begin_scope(s, nest_block(s->nest, st));
  PendingMark before = build_pending(s);
  build_loop_barrier(s, op);
  build_block(s, body);
  assign_all(s, body->params + 1, body->last->args, n);
  end_scope(s, scope);
  build_join_pending(s, before);
  for (uint32_t i = 0; i < n; i++) {
    s->var[op->results[i]->id] = s->var[body->params[i + 1]->id];
    s->scalar[op->results[i]->id] = s->scalar[body->params[i + 1]->id];
  }
}

static void build_while(Build *s, const TileOp *op) {
  const TileBlock *head = op->regions[0], *body = op->regions[1];
  for (uint32_t i = 0; i < op->nargs; i++) {
    build_result(s, head->params[i]);
    assign_value(s, head->params[i], op->args[i]);
  }
  for (uint32_t i = 0; i < body->nparams; i++) build_result(s, body->params[i]);
  NestVar *cond = nest_var(s->nest, "cond", DT_I1, DT_NONE, 1, true);
  NestStmt *st = nest_stmt(&s->b, NEST_WHILE, 0, 1);
  st->srcs[0] = ref_var(cond);
  st->type = DT_I1;
  PendingMark before = build_pending(s);
  region(s, st, head, op);
  build_join_pending(s, before);
  before = build_pending(s);
  Scope scope = begin_scope(s, st->regions[0]);
  assign_all(s, body->params, head->last->args + 1, body->nparams);
  nest_mov(&s->b, ref_var(cond), build_scalar(s, head->last->args[0]), cond->dtype);
  end_scope(s, scope);
  region(s, st, body, NULL);
  build_join_pending(s, before);
  scope = begin_scope(s, st->regions[1]);
  assign_all(s, head->params, body->last->args, op->nargs);
  end_scope(s, scope);
  for (uint32_t i = 0; i < op->nresults; i++) {
    s->var[op->results[i]->id] = s->var[body->params[i]->id];
    s->scalar[op->results[i]->id] = s->scalar[body->params[i]->id];
  }
}

static void build_branch(Build *s, const TileOp *op) {
  for (uint32_t i = 0; i < op->nresults; i++) build_result(s, op->results[i]);
  NestStmt *st = nest_stmt(&s->b, NEST_IF, 0, 1);
  st->srcs[0] = build_scalar(s, op->args[0]);
  st->type = DT_I1;
  PendingMark before = build_pending(s);
  PendingSide then = {0};
  for (int r = 0; r < 2; r++) {
    if (r) then = build_pending_else(s, before);
    region(s, st, op->regions[r], NULL);
    Scope scope = begin_scope(s, st->regions[r]);
    assign_all(s, op->results, op->regions[r]->last->args, op->nresults);
    end_scope(s, scope);
  }
  build_join_sides(s, &then);
}

/* ---- the walk ---- */

static void build_assert(Build *s, const TileOp *op) {
  const TileValue *c = op->args[0];
  Layout l = c->type.rank ? build_layout_of(s, c) : scalar_layout(s);
  Open o = build_open(s, &l);
  Ref x = build_value_at(s, c, o.axes, &l);
  Ref guard = build_guard_at(s, op->args[1], o.axes, &l);
  NestStmt *st = nest_stmt(&s->b, NEST_ASSERT, 0, 1);
  st->srcs[0] = x;
  st->type = DT_I1;
  st->guard = guard;
  nest_set_str(s->nest, st, NA_message, tile_str(op, TA_message, ""));
  build_close(s, &o);
}

static bool computed_at_use(const Build *s, const TileOp *op) {
  if (op->nresults != 1 || !op->results[0]->type.rank) return false;
  const TileValue *v = op->results[0];
  return s->inlined[v->id] || !s->u->schedule->values[v->id].held;
}

static void build_dependency(Build *s, const char *kind) {
  nest_set_str(s->nest, nest_stmt(&s->b, NEST_GRID_DEPENDENCY, 0, 0), NA_kind, kind);
}

static void build_noalias(Build *s, const TileOp *op) {
  const int64_t *number = tile_attr(op, TA_params)->list;
  bool or_same = tile_int(op, TA_or_same, 0);
  nest_assume_noalias(s->nest, s->nest->params[number[0]], s->nest->params[number[1]], or_same);
}

static void build_statement(Build *s, const TileOp *op) {
  s->b.span = op->span;
  switch (op->code) {
    case TILE_FOR: build_for(s, op); return;
    case TILE_WHILE: build_while(s, op); return;
    case TILE_IF: build_branch(s, op); return;
    case TILE_BARRIER: build_barrier(s); return;
    case TILE_GRID_DEPENDENCY:
      build_dependency(s, tile_str(op, TA_kind, ""));
      return;
    case TILE_NOALIAS: build_noalias(s, op); return;
    case TILE_ASSERT: build_assert(s, op); return;
    case TILE_PRINT: build_print(s, op); return;
    case TILE_ASM:
    case TILE_ASM_IMPURE: build_asm(s, op); return;
    case TILE_ASSUME:
      if (s->nest->options.checked) assert_scalar(s, build_scalar(s, op->args[0]), "assume", "");
      return;
    case TILE_YIELD:
    case TILE_CONDITION:
    case TILE_RETURN: return;
    case TILE_LOAD:
    case TILE_STORE:
    case TILE_VIEW_LOAD:
    case TILE_VIEW_STORE:
    case TILE_ATOMIC_RMW:
    case TILE_ATOMIC_CAS: build_memory(s, op); return;
    case TILE_PARK:
    case TILE_PARK_WAIT:
    case TILE_UNPARK: build_slot(s, op); return;
    default: break;
  }
  if (computed_at_use(s, op)) return;
  bool tiles = op->nresults && op->results[0]->type.rank;
  for (uint32_t i = 0; i < op->nargs; i++) tiles |= op->args[i] && op->args[i]->type.rank;
  if (tiles) build_tile_op(s, op);
  else scalar_op_stmt(s, op);
}

static void build_block(Build *s, const TileBlock *b) {
  BlockPair pair = {b, s->b.block};
  vec_push(s->scratch, &s->blocks, pair);
  for (const TileOp *op = b->first; op && !s->failed; op = op->next) build_statement(s, op);
}

static void build_params(Build *s) {
  const TileFunc *f = s->u->tile;
  for (uint32_t i = 0; i < f->nparams; i++) {
    const TileParam *p = &f->params[i];
    const Type *t = &p->value->type;
    NestVar *v = nest_param(s->nest, p->value->name ? p->value->name : "arg", (DType)t->dtype,
                            (DType)t->elem, p->arg, p->div);
    s->scalar[p->value->id] = ref_var(v);
  }
}

/* ---- grids that overlap ---- */

static void find_launch(TileOp *op, void *ctx) {
  bool *found = ctx;
  *found |= op->code == TILE_GRID_DEPENDENCY && !strcmp(tile_str(op, TA_kind, ""), "launch");
}

/* The wait comes first of all, since any access may be to memory that the grid before writes.  The
 * next grid starts once all programs of this one have, and takes no place of theirs (decision 155);
 * a kernel that says itself when knows better. */
static void build_overlap(Build *s, const TileFunc *f) {
  bool own = false;
  if (!f->options.pdl || !machine_has(s->u->machine, HAS_GRID_DEPENDENCIES)) return;
  tile_walk(f->body, find_launch, &own);
  build_dependency(s, "wait");
  if (!own) build_dependency(s, "launch");
}

bool pass_build(Unit *u) {
  const TileFunc *f = u->tile;
  Build s = {.u = u, .scratch = arena_child(u->arena)};
  s.nest = nest_new(u->arena, u->names, f->name, f->options, NEST_LEVEL_NEST);
  s.nest->span = f->span;
  s.nest->lanes = u->machine->lanes;
  s.nest->warps = schedule_warps(u);
  if (f->cluster) s.nest->cluster = f->cluster;
  if (f->cluster && !machine_has(u->machine, HAS_CLUSTERS)) {
    diag_error(u->diags, f->span, E_NEST_CLUSTER_TARGET, u->machine->name);
    s.failed = true;
  }
  s.b = (NestBuilder){s.nest, s.nest->body, NULL, f->span};
  s.axis = axis_analyze(f, s.scratch);
  s.uses = tile_count_uses(f, s.scratch);
  s.user = ARENA_ARRAY(s.scratch, TileOp *, f->nvalues);
  s.inlined = ARENA_ARRAY(s.scratch, bool, f->nvalues);
  s.scalar = ARENA_ARRAY(s.scratch, Ref, f->nvalues);
  s.var = ARENA_ARRAY(s.scratch, NestVar *, f->nvalues);
  s.memo = ARENA_ARRAY(s.scratch, Memo, f->nvalues);
  plan_inlining(&s);
  build_params(&s);
  build_plan_order(&s);
  build_overlap(&s, f);
  if (f->cluster) nest_stmt(&s.b, NEST_CLUSTER_ARRIVE, 0, 0);
  build_block(&s, f->body);
  u->nest = s.nest;
  bool ok = !s.failed;
  arena_free(s.scratch);
  return ok;
}
