/* References of the nest as operands of instructions. */
#include "codegen/ptx/ptx.h"
#include "lang/interp/interp.h"

/* ---- affine forms ---- */

int64_t ptx_affine(const Ptx *p, const Affine *a, bool *runtime) {
  uint64_t sum = (uint64_t)a->c;
  *runtime = false;
  for (int i = 0; i < a->n; i++) {
    uint32_t id = a->t[i].index->id;
    if (p->index_reg[id]) *runtime = true;
    else sum += (uint64_t)a->t[i].coef * (uint64_t)p->index[id];
  }
  return (int64_t)sum;
}

int32_t ptx_subscript(const Ptx *p, const Ref *r) {
  bool runtime;
  int64_t at = ptx_affine(p, &r->sub, &runtime);
  BUG_IF(runtime || at < 0 || at >= r->var->count, "subscript of %s", r->var->name);
  return (int32_t)at;
}

static Operand index_register(const Ptx *p, const NestIndex *i) {
  return (Operand){PO_REG, RC_B32, 3, p->index_reg[i->id] - 1, "%$i", 0};
}

Operand ptx_add_runtime(Ptx *p, const Affine *a, Operand sum, bool wide) {
  for (int i = 0; i < a->n; i++) {
    if (!p->index_reg[a->t[i].index->id]) continue;
    Operand next = ptx_temp(p, wide ? RC_B64 : RC_B32);
    ptx_emit(p, wide ? "mad.wide.s32 $d, $a, $b, $c" : "mad.lo.s32 $d, $a, $b, $c", next,
             index_register(p, a->t[i].index), ptx_int(a->t[i].coef), sum);
    sum = next;
  }
  return sum;
}

/* ---- constants ---- */

static int64_t wrap_constant(DType t, int64_t v) {
  unsigned bits = dtype_bits(t);
  if (t == DT_I1) return v & 1;
  if (bits >= 64) return v;
  uint64_t low = (uint64_t)v << (64 - bits);
  return dtype_is_signed(t) ? (int64_t)low >> (64 - bits) : (int64_t)(low >> (64 - bits));
}

uint64_t ptx_const_bits(const Ref *r, DType t) {
  uint64_t bits = 0;
  Scalar v = {.i = r->sub.c};
  if (dtype_is_float(t)) v.f = scalar_round(t, r->kind == REF_FLOAT ? r->f : (double)r->sub.c);
  else if (r->kind == REF_FLOAT) v.i = (int64_t)r->f;
  scalar_store(t, v, &bits);
  return bits;
}

static Operand float_constant(const Ref *r, DType t) {
  Operand o = {.kind = PO_INT, .cls = (uint8_t)ptx_class(t), .num = -1};
  if (t == DT_F32) o.kind = PO_F32;
  if (t == DT_F64) o.kind = PO_F64;
  o.bits = (int64_t)ptx_const_bits(r, t);
  return o;
}

/* A predicate has no constants. */
static Operand predicate(Ptx *p, bool value) {
  Operand o = ptx_temp(p, RC_PRED);
  ptx_emit2(p, "setp.ne.b32 $d, $a, 0", o, ptx_int(value));
  return o;
}

static Operand constant_operand(Ptx *p, const Ref *r, DType t) {
  if (dtype_is_float(t)) return float_constant(r, t);
  if (r->kind == REF_FLOAT) return ptx_int(wrap_constant(t, (int64_t)r->f));
  bool runtime;
  int64_t v = ptx_affine(p, &r->sub, &runtime);
  if (t == DT_I1) return predicate(p, v & 1);
  if (!runtime) return ptx_int(wrap_constant(t, v));
  Operand o = ptx_add_runtime(p, &r->sub, ptx_int(v), dtype_bits(t) == 64);
  if (dtype_bits(t) > 16) return o;
  Operand narrow = ptx_temp(p, RC_B32);
  ptx_emit2(p, ptx_extend(t), narrow, o);
  return narrow;
}

Operand ptx_in_register(Ptx *p, Operand o, RegClass cls) {
  static const char *const movs[RC_COUNT] = {
      [RC_B16] = "mov.b16 $d, $a", [RC_B32] = "mov.b32 $d, $a", [RC_F32] = "mov.b32 $d, $a",
      [RC_B64] = "mov.b64 $d, $a", [RC_F64] = "mov.b64 $d, $a", [RC_PRED] = "mov.pred $d, $a",
  };
  if (o.kind == PO_REG) return o;
  Operand r = ptx_temp(p, cls);
  ptx_emit2(p, movs[cls], r, o);
  return r;
}

/* ---- variables ---- */

Operand ptx_element(Ptx *p, const NestVar *v, int32_t i) {
  const Reg *g = ptx_reg(p, v);
  Operand o = {PO_REG, g->cls, g->len, g->array ? i : -1, g->name, 0};
  if (g->per == 1) return o;
  o.name = g->element;
  o.len = g->element_len;
  ptx_read_element(p, v, i);
  return o;
}

Operand ptx_source(Ptx *p, const Ref *r, DType t) {
  if (r->kind == REF_VAR) return ptx_element(p, r->var, ptx_subscript(p, r));
  return constant_operand(p, r, t);
}

Operand ptx_source_reg(Ptx *p, const Ref *r, DType t) {
  return ptx_in_register(p, ptx_source(p, r, t), ptx_class(t));
}

/* A shared address that was computed from the register is out of date. */
static void drop_bases(Ptx *p, const NestVar *v, int32_t i) {
  size_t n = 0;
  for (size_t k = 0; k < p->bases.len; k++)
    if (p->bases.data[k].var != v || p->bases.data[k].at != i)
      p->bases.data[n++] = p->bases.data[k];
  p->bases.len = n;
}

Operand ptx_dest(Ptx *p, const Ref *r, int32_t plus) {
  int32_t i = ptx_subscript(p, r) + plus;
  Reg *g = ptx_reg(p, r->var);
  if (g->is_base) drop_bases(p, r->var, i);
  if (g->pending) ptx_release(p, r->var, i);
  Operand o = {PO_REG, g->cls, g->len, g->array ? i : -1, g->name, 0};
  if (g->per == 1) return o;
  o.name = g->element;
  o.len = g->element_len;
  ptx_wrote_element(p, r->var, i);
  return o;
}
