/* Sources and elementwise ops. */
#include <string.h>
#include <time.h>

#include "lang/interp/interp_run.h"

/* ---- sources ---- */

static uint32_t result_size(Prog *p, const Inst *in) {
  return (uint32_t)type_numel(interp_type(in, 0)) * p->lanes;
}

static void fill_with_scalar(Val *v, Scalar x) {
  for (uint32_t i = 0; i < v->n; i++) v->x[i] = x;
}

void interp_const(Prog *p, const Inst *in) {
  const TileAttr *a = tile_attr(in->op, TA_value);
  bool is_float = dtype_is_float((DType)interp_type(in, 0).dtype);
  Val *r = interp_result(p, in, 0, result_size(p, in));
  fill_with_scalar(r, is_float ? (Scalar){.f = a ? a->f : 0} : (Scalar){.i = a ? a->i : 0});
}

void interp_undefined(Prog *p, const Inst *in) {
  Val *r = interp_result(p, in, 0, result_size(p, in));
  fill_with_scalar(r, interp_poison((DType)interp_type(in, 0).dtype));
  memset(interp_flags(p->run, r), FLAG_UNDEF, r->n);
  r->undef = in->op;
}

/* The value of an axis attribute: absent ones are 0. */
static unsigned grid_axis(const Inst *in) {
  int64_t axis = tile_int(in->op, TA_axis, 0);
  return axis >= 0 && axis < 3 ? (unsigned)axis : 0;
}

void interp_program_id(Prog *p, const Inst *in) {
  fill_with_scalar(interp_result(p, in, 0, p->lanes), (Scalar){.i = (int32_t)p->id[grid_axis(in)]});
}

void interp_cluster_rank(Prog *p, const Inst *in) {
  fill_with_scalar(interp_result(p, in, 0, p->lanes), (Scalar){.i = p->rank});
}

void interp_num_programs(Prog *p, const Inst *in) {
  fill_with_scalar(interp_result(p, in, 0, p->lanes),
                   (Scalar){.i = (int32_t)p->run->grid[grid_axis(in)]});
}

int64_t interp_special_number(const char *kind, const uint32_t id[3], const uint32_t grid[3]) {
  uint64_t program = id[0] + grid[0] * (id[1] + (uint64_t)grid[1] * id[2]);
  if (strcmp(kind, "globaltimer")) return (int32_t)program;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void interp_special(Prog *p, const Inst *in) {
  memory_changed(p->run->memory); /* a loop may wait for it */
  fill_with_scalar(interp_result(p, in, 0, p->lanes),
                   (Scalar){.i = interp_special_number(tile_str(in->op, TA_kind, ""), p->id,
                                                p->run->grid)});
}

void interp_arange(Prog *p, const Inst *in) {
  Val *r = interp_result(p, in, 0, (uint32_t)type_numel(interp_type(in, 0)));
  int64_t start = tile_int(in->op, TA_start, 0);
  for (uint32_t i = 0; i < r->n; i++) r->x[i].i = start + i;
}

/* ---- operands ---- */

/* The operands of an elementwise op, each with `n` elements: scalars from outside a region are
 * repeated for its lanes. */
typedef struct {
  const Val *v[3];
  const Scalar *x[3];
  Scalar *made[3];
  uint32_t count, n;
} Operands;

static Operands elem_operands(Prog *p, const Inst *in) {
  Operands o = {.count = in->op->nargs < 3 ? in->op->nargs : 3, .n = 1};
  for (uint32_t k = 0; k < o.count; k++) {
    o.v[k] = interp_arg(p, in, k);
    if (o.v[k]->n > o.n) o.n = o.v[k]->n;
  }
  for (uint32_t k = 0; k < o.count; k++) {
    o.x[k] = o.v[k]->x;
    if (o.v[k]->n == o.n) continue;
    o.made[k] = interp_alloc(p->run, o.n * sizeof(Scalar));
    for (uint32_t i = 0; i < o.n; i++) o.made[k][i] = o.v[k]->x[0];
    o.x[k] = o.made[k];
  }
  return o;
}

static void release_operands(Prog *p, Operands *o) {
  for (uint32_t k = 0; k < o->count; k++) interp_drop(p->run, o->made[k]);
}

static uint8_t operand_flag(const Operands *o, uint32_t k, uint32_t i) {
  const Val *v = o->v[k];
  return v->flags ? v->flags[v->n == o->n ? i : 0] : 0;
}

static bool any_flags(const Operands *o) {
  for (uint32_t k = 0; k < o->count; k++)
    if (o->v[k]->flags) return true;
  return false;
}

/* ---- flags ---- */

/* Bits of a defined operand that settle the result whatever the other one is. */
static bool settles(TileCode code, DType t, Scalar x) {
  uint64_t ones = UINT64_MAX >> (64 - dtype_bits(t));
  if (code == TILE_AND) return x.i == 0;
  return code == TILE_OR && ((uint64_t)x.i & ones) == ones;
}

static uint8_t merged_flag(const Operands *o, const TileOp *op, DType t, uint32_t i) {
  uint8_t flag = 0;
  for (uint32_t k = 0; k < o->count; k++) flag |= operand_flag(o, k, i);
  if (!(flag & FLAG_UNDEF) || (op->code != TILE_AND && op->code != TILE_OR)) return flag;
  for (uint32_t k = 0; k < o->count; k++)
    if (!(operand_flag(o, k, i) & FLAG_UNDEF) && settles(op->code, t, o->x[k][i])) return 0;
  return flag;
}

/* Does an overflow of an operand mean one of the result?  Narrowing and bit operations, after
 * which a wrapped value is as good as any, say no. */
static bool keeps_wrap(const TileOp *op) {
  switch (op->code) {
    case TILE_ADD:
    case TILE_SUB:
    case TILE_MUL:
    case TILE_NEG:
    case TILE_HINT:
    case TILE_SELECT:
    case TILE_PTR_ADD: return true;
    case TILE_CAST: {
      DType from = (DType)op->args[0]->type.dtype, to = (DType)op->results[0]->type.dtype;
      return dtype_is_int(from) && dtype_is_int(to) && dtype_bits(to) >= dtype_bits(from);
    }
    default: return false;
  }
}

static void merge_flags(Prog *p, const Inst *in, const Operands *o, Val *r) {
  if (!any_flags(o)) return;
  uint8_t keep = keeps_wrap(in->op) ? FLAG_UNDEF | FLAG_WRAPPED : FLAG_UNDEF, all = 0;
  DType t = (DType)in->op->args[0]->type.dtype;
  uint8_t *flags = interp_flags(p->run, r);
  for (uint32_t i = 0; i < r->n; i++) all |= flags[i] = merged_flag(o, in->op, t, i) & keep;
  for (uint32_t k = 0; k < o->count; k++) interp_blame(r, o->v[k]);
  if (all) return;
  interp_drop(p->run, r->flags);
  r->flags = NULL;
}

/* Some element overflowed: finds which by doing the op again in 128 bits. */
static void mark_wrapped(Prog *p, const Inst *in, const Operands *o, Val *r) {
  if (!p->run->feeds_address[in->op->results[0]->id]) return;
  uint8_t *flags = interp_flags(p->run, r);
  for (uint32_t i = 0; i < r->n; i++) {
    int64_t a = o->x[0][i].i, b = o->x[1][i].i, exact = 0;
    bool over = in->op->code == TILE_ADD   ? __builtin_add_overflow(a, b, &exact)
                : in->op->code == TILE_SUB ? __builtin_sub_overflow(a, b, &exact)
                                           : __builtin_mul_overflow(a, b, &exact);
    if (over || exact != r->x[i].i) flags[i] |= FLAG_WRAPPED;
  }
  r->wrapped = in->op;
}

/* ---- ops ---- */

void interp_elementwise(Prog *p, const Inst *in) {
  const TileOp *op = in->op;
  Operands o = elem_operands(p, in);
  DType t = (DType)op->args[0]->type.dtype, to = (DType)interp_type(in, 0).dtype;
  Name rounding = op->code == TILE_CAST ? tile_str(op, TA_rounding, NULL) : NULL;
  bool rtz = rounding && !strcmp(rounding, "rtz");
  Val *r = interp_result(p, in, 0, o.n);
  bool wrapped = scalar_ops(op->code, t, to, rtz, o.n, r->x, o.x[0], o.x[1], o.x[2]);
  if (to == DT_PTR && t == DT_PTR) r->arg = o.v[0]->arg;
  merge_flags(p, in, &o, r);
  if (wrapped) mark_wrapped(p, in, &o, r);
  release_operands(p, &o);
}

/* An element is as good as the condition and the chosen operand. */
static void select_flags(Prog *p, const Operands *o, Val *r) {
  if (!any_flags(o)) return;
  uint8_t *flags = interp_flags(p->run, r), all = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    uint8_t cond = operand_flag(o, 0, i) & FLAG_UNDEF;
    all |= flags[i] = cond | operand_flag(o, o->x[0][i].i ? 1 : 2, i);
  }
  for (uint32_t k = 0; k < 3; k++) interp_blame(r, o->v[k]);
  if (all) return;
  interp_drop(p->run, r->flags);
  r->flags = NULL;
}

void interp_select(Prog *p, const Inst *in) {
  Operands o = elem_operands(p, in);
  Val *r = interp_result(p, in, 0, o.n);
  for (uint32_t i = 0; i < o.n; i++) r->x[i] = o.x[0][i].i ? o.x[1][i] : o.x[2][i];
  if (o.v[1]->arg == o.v[2]->arg) r->arg = o.v[1]->arg;
  select_flags(p, &o, r);
  release_operands(p, &o);
}

void interp_ptr_add(Prog *p, const Inst *in) {
  Operands o = elem_operands(p, in);
  uint64_t size = dtype_bytes((DType)interp_type(in, 0).elem);
  Val *r = interp_result(p, in, 0, o.n);
  for (uint32_t i = 0; i < o.n; i++)
    r->x[i].i = (int64_t)((uint64_t)o.x[0][i].i + size * (uint64_t)o.x[1][i].i);
  r->arg = o.v[0]->arg;
  merge_flags(p, in, &o, r);
  release_operands(p, &o);
}
