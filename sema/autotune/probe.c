#include "sema/autotune/probe.h"

#include "sema/autotune/tuned_read.h"
#include "sema/messages.h"

/* ---- compiling ---- */

/* The type that a number is compiled for, specialized as values are. */
static KernelArg type_of_number_arg(const KernelArg *a, const KernelParam *param) {
  KernelArg out = {.name = a->name, .kind = ARG_TYPE, .div = 1};
  bool wide = a->i != (int32_t)a->i;
  DType t = a->kind == ARG_FLOAT ? DT_F32 : a->kind == ARG_BOOL ? DT_I1 : wide ? DT_I64 : DT_I32;
  out.type = type_scalar(param->declared != DT_NONE ? param->declared : t);
  if (a->kind != ARG_INT || param->do_not_specialize) return out;
  if (a->i == 1) out.kind = ARG_ONE;
  else if (a->i % 16 == 0) out.div = 16;
  return out;
}

static KernelArg compile_arg(const Kernel *k, const TunedArg *t) {
  const KernelParam *param = sema_param_of(k, t->arg.name);
  const KernelArg *a = &t->arg;
  bool number = a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
  if (param && param->kind == KP_RUNTIME && !param->tuned && number)
    return type_of_number_arg(a, param);
  KernelArg out = *a;
  if (out.kind == ARG_TYPE && out.type.dtype == DT_PTR && t->shape) out.div = 16;
  return out;
}

static void collect_op(TileOp *op, void *ctx) {
  Probe *p = ctx;
  vec_push(p->fn->arena, &p->ops, op);
}

static void first_error(const Diags *d, size_t from, Probe *out) {
  for (size_t i = from; i < diag_count(d) && !out->why; i++) {
    const Diag *m = diag_get(d, i);
    if (m->severity != DIAG_ERROR) continue;
    out->why = m->text;
    out->why_at = m->span;
  }
}

void probe_compile(Program *p, const Kernel *k, const TunedQuery *q, const TunedConfig *values,
                   Probe *out) {
  *out = (Probe){0};
  size_t before = diag_count(p->diags);
  KernelArg *args = ARENA_ARRAY(p->arena, KernelArg, q->nargs + values->len);
  uint32_t n = 0;
  for (uint32_t i = 0; i < q->nargs; i++)
    if (sema_param_of(k, q->args[i].arg.name)) args[n++] = compile_arg(k, &q->args[i]);
  for (size_t i = 0; i < values->len; i++) args[n++] = values->data[i];
  Options options = options_default();
  if (q->device.target) options.target = q->device.target;
  out->fn = sema_compile(p, k, args, n, options);
  out->heavy = values->len && p->steps > PROBE_STEPS_MAX;
  if (out->heavy) {
    out->fn = NULL;
    out->why = arena_printf(p->arena, E_SEMA_UNROLL_MAX, PROBE_STEPS_MAX);
    out->why_at = k->span;
  } else if (out->fn) {
    tile_walk(out->fn->body, collect_op, out);
  } else {
    first_error(p->diags, before, out);
  }
  diag_rewind(p->diags, before);
}

/* ---- where values come from ---- */

static const TileOp *def_of(const TileValue *v) { return v ? v->def : NULL; }

/* Past what only changes the form of a value. */
static const TileValue *core_of(const TileValue *v) {
  for (const TileOp *op; (op = def_of(v)) != NULL; v = op->args[0]) switch (op->code) {
      case TILE_SPLAT:
      case TILE_EXPAND_DIMS:
      case TILE_BROADCAST:
      case TILE_RESHAPE:
      case TILE_CAST:
      case TILE_HINT: break;
      default: return v;
    }
  return v;
}

static int64_t const_of(const TileValue *v) {
  int64_t i = 0;
  return v && tile_const_value(v, &i) ? i : 0;
}

/* The value of the argument that `v` is, or is a sum or difference of, as in n - k * BLOCK; 0:
 * unknown.  `direct`: only an argument itself. */
static int64_t argument_size(const Kernel *k, const TunedQuery *q, const TileFunc *f,
                             const TileValue *v, bool direct) {
  v = core_of(v);
  const TileOp *op = def_of(v);
  bool sum = op && (op->code == TILE_SUB || op->code == TILE_ADD);
  if (sum && !direct) return argument_size(k, q, f, op->args[0], false);
  for (uint32_t i = 0; !op && i < f->nparams; i++) {
    if (f->params[i].value != v) continue;
    const TunedArg *a = tuned_given(q, k->params[f->params[i].arg].name);
    return a && a->arg.kind == ARG_INT ? a->arg.i : 0;
  }
  return 0;
}

/* ---- comparing ---- */

typedef struct {
  const Probe *base, *other;
  const Kernel *k;
  const TunedQuery *q;
  ProbeFacts *out;
  bool *tainted;  /* by value id of base: it depends on the changed constexpr */
  bool *programs; /* it depends on the program's index */
  bool divides, remains, least;
} Comparison;

static bool types_have_same_shape(Type a, Type b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; i++)
    if (a.shape[i] != b.shape[i]) return false;
  return true;
}

static bool reshaped(const TileOp *a, const TileOp *b, uint32_t arg) {
  return arg < a->nargs && a->args[arg] && b->args[arg] &&
         !types_have_same_shape(a->args[arg]->type, b->args[arg]->type);
}

static bool in(const bool *set, const TileValue *v) { return v && set[v->id]; }

static bool any_in(const bool *set, const TileOp *op) {
  for (uint32_t i = 0; i < op->nargs; i++)
    if (in(set, op->args[i])) return true;
  return false;
}

static void taint_results(bool *set, const TileOp *op) {
  for (uint32_t i = 0; i < op->nresults; i++) set[op->results[i]->id] = true;
  for (uint32_t r = 0; r < op->nregions; r++)
    for (uint32_t i = 0; i < op->regions[r]->nparams; i++)
      set[op->regions[r]->params[i]->id] = true;
}

static void offer_size(Comparison *c, int64_t size) {
  if (size > c->out->size) c->out->size = size;
}

static void compare_shapes(Comparison *c, const TileOp *a, const TileOp *b) {
  ProbeFacts *out = c->out;
  for (uint32_t i = 0; i < a->nresults; i++) {
    Type s = a->results[i]->type;
    if (types_have_same_shape(s, b->results[i]->type)) continue;
    out->shapes = true;
    if (s.rank > out->rank) out->rank = s.rank;
  }
  if (a->code != TILE_DOT) return;
  bool left = reshaped(a, b, 0), right = reshaped(a, b, 1);
  out->dot |= left || right;
  out->dot_k |= left && right;
}

/* arange(0, BLOCK), as it is. */
static bool is_axis(const TileValue *v) {
  const TileOp *op = def_of(core_of(v));
  return op && op->code == TILE_ARANGE && tile_int(op, TA_start, 0) == 0;
}

/* A mask: an index of the axis against a size. */
static void compare_masks(Comparison *c, const TileOp *a, const TileOp *b) {
  bool order = a->code >= TILE_LT && a->code <= TILE_GE, rest = a->code == TILE_REM;
  if (!(order || rest) || !reshaped(a, b, 0)) return;
  for (int side = 0; side < 2; side++) {
    int64_t size = argument_size(c->k, c->q, c->base->fn, a->args[!side], false);
    int64_t whole = argument_size(c->k, c->q, c->base->fn, a->args[!side], true);
    c->out->covers |= order && is_axis(a->args[side]) && whole > 0;
    offer_size(c, size);
  }
}

/* ---- stepping ---- */

/* The op's operand `i` is a scalar that depends on the changed constexpr. */
static bool scalar_use(const Comparison *c, const TileOp *op, uint32_t i) {
  return i < op->nargs && in(c->tainted, op->args[i]) && !op->args[i]->type.rank;
}

/* pid * BLOCK, or the index of a loop that steps by BLOCK. */
static bool is_origin(const Comparison *c, const TileValue *v) {
  v = core_of(v);
  const TileOp *op = def_of(v);
  if (!op && v && v->block && v->block->owner) {
    const TileOp *loop = v->block->owner;
    return loop->code == TILE_FOR && v->index == 0 && in(c->tainted, loop->args[2]);
  }
  return op && op->code == TILE_MUL && !op->results[0]->type.rank &&
         (scalar_use(c, op, 0) || scalar_use(c, op, 1));
}

/* pid * BLOCK + arange(0, BLOCK): tiles of neighbouring programs or iterations are adjacent. */
static bool tiles_side_by_side(const Comparison *c, const TileOp *a, const TileOp *b) {
  if (a->code == TILE_ADD && reshaped(a, b, 0))
    return (is_origin(c, a->args[0]) && is_axis(a->args[1])) ||
           (is_origin(c, a->args[1]) && is_axis(a->args[0]));
  if (a->code != TILE_VIEW_LOAD && a->code != TILE_VIEW_STORE) return false;
  Type s = a->code == TILE_VIEW_LOAD ? a->results[0]->type : a->args[1]->type;
  Type t = b->code == TILE_VIEW_LOAD ? b->results[0]->type : b->args[1]->type;
  for (uint32_t i = 0; i < tile_view_rank(a); i++)
    if (s.shape[i] != t.shape[i] && is_origin(c, tile_view_offset(a, i))) return true;
  return false;
}

/* cdiv(n, BLOCK) or n // BLOCK: how many there are. */
static bool counts_blocks(const Comparison *c, const TileOp *op) {
  if (op->code != TILE_DIV || !scalar_use(c, op, 1)) return false;
  return argument_size(c->k, c->q, c->base->fn, op->args[0], false) > 0;
}

static void compare_scalars(Comparison *c, const TileOp *a, const TileOp *b) {
  ProbeFacts *out = c->out;
  if (a->code == TILE_FOR && const_of(a->args[2]) != const_of(b->args[2])) {
    out->steps = true;
    offer_size(c, argument_size(c->k, c->q, c->base->fn, a->args[1], false));
  }
  if (counts_blocks(c, a)) {
    out->steps = true;
    offer_size(c, argument_size(c->k, c->q, c->base->fn, a->args[0], false));
  }
  out->steps |= tiles_side_by_side(c, a, b);
  bool one = scalar_use(c, a, 0), two = scalar_use(c, a, 1);
  if (a->code == TILE_DIV && two) c->divides |= in(c->programs, a->args[0]);
  if (a->code == TILE_REM && two) c->remains |= in(c->programs, a->args[0]);
  if (a->code == TILE_MIN && (one || two)) c->least = true;
}

static void compare_ops(Comparison *c, const TileOp *a, const TileOp *b) {
  bool constant = a->code == TILE_CONST && const_of(a->results[0]) != const_of(b->results[0]);
  if (constant || any_in(c->tainted, a)) taint_results(c->tainted, a);
  if (a->code == TILE_PROGRAM_ID || any_in(c->programs, a)) taint_results(c->programs, a);
  c->out->differs |= constant;
  compare_shapes(c, a, b);
  compare_masks(c, a, b);
  compare_scalars(c, a, b);
}

static bool are_alike(const Probe *a, const Probe *b) {
  if (a->ops.len != b->ops.len) return false;
  for (size_t i = 0; i < a->ops.len; i++) {
    const TileOp *x = a->ops.data[i], *y = b->ops.data[i];
    if (x->code != y->code || x->nresults != y->nresults || x->nargs != y->nargs) return false;
  }
  return true;
}

void probe_compare(const Probe *base, const Probe *other, const Kernel *k, const TunedQuery *q,
                   ProbeFacts *out) {
  *out = (ProbeFacts){.alike = are_alike(base, other)};
  if (!out->alike) {
    out->differs = true;
    return;
  }
  Comparison c = {.base = base, .other = other, .k = k, .q = q, .out = out};
  c.tainted = ARENA_ARRAY(base->fn->arena, bool, base->fn->nvalues);
  c.programs = ARENA_ARRAY(base->fn->arena, bool, base->fn->nvalues);
  for (size_t i = 0; i < base->ops.len; i++) compare_ops(&c, base->ops.data[i], other->ops.data[i]);
  out->differs |= out->shapes;
  out->groups = !out->shapes && c.divides && c.remains && c.least;
}

/* ---- loops ---- */

static bool has_op(const TileBlock *b, TileCode code) {
  for (const TileOp *op = b->first; op; op = op->next) {
    if (op->code == code) return true;
    for (uint32_t r = 0; r < op->nregions; r++)
      if (has_op(op->regions[r], code)) return true;
  }
  return false;
}

bool probe_pipelines(const Probe *p) {
  for (size_t i = 0; i < p->ops.len; i++) {
    const TileOp *op = p->ops.data[i];
    if (op->code != TILE_FOR) continue;
    const TileBlock *body = op->regions[0];
    if (has_op(body, TILE_DOT) && (has_op(body, TILE_LOAD) || has_op(body, TILE_VIEW_LOAD)))
      return true;
  }
  return false;
}
