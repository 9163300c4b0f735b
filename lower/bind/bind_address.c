/* Addresses: what threads have in common, their own part, and constants.  See lower/bind/bind.h. */
#include <string.h>

#include "lower/bind/bind_nest.h"

/* The address as a form in bytes (pointers) or a byte offset in a buffer. */
static Value address_of(Bind *s, const Mem *m) {
  Value v = {.is_form = true, .type = m->buffer ? DT_I32 : DT_PTR, .form = form_const(0)};
  if (m->base.kind) v = bind_eval(s, m->base, v.type, true);
  if (m->buffer && bind_has_rest(&v)) v = bind_materialized(s, v);
  if (!v.is_form) return v;
  v.type = m->buffer ? DT_I32 : DT_PTR;
  Form more = m->buffer ? bind_buffer_form(s, m) : bind_affine_form(s, &m->bytes);
  if (!form_add(&v.form, &more, 1)) bind_refuse(s, "an address has too many terms");
  return v;
}

Address bind_split_address(Bind *s, const NestStmt *st) {
  const Mem *m = &st->mems[0];
  Value v = address_of(s, m);
  Address a = {.align = dtype_bytes(st->type)};
  if (v.is_form) {
    DType elem = m->base.kind == REF_VAR ? m->base.var->elem : DT_NONE;
    a.base = form_base(s, &v.form, m->buffer ? DT_I32 : DT_PTR, elem, &a.base_mask);
    a.bytes = form_immediate(s, &v.form);
    a.mask = form_mask(s, &v.form, true);
    if (bind_has_rest(&v)) {
      Value base = bind_add_bytes(s, bind_ref_value(a.base, a.base_mask, DT_PTR), v.ref, v.mask);
      a.base = base.ref;
      a.base_mask = base.mask;
      a.mask |= base.mask;
    }
    return a;
  }
  a.base = v.ref;
  a.base_mask = a.mask = v.mask;
  a.bytes = affine_const(0);
  if (m->buffer || m->bytes.c || m->bytes.n) {
    Form f = m->buffer ? bind_buffer_form(s, m) : bind_affine_form(s, &m->bytes);
    DimMask mask;
    Ref part = form_base(s, &f, m->buffer ? DT_I32 : DT_I64, DT_NONE, &mask);
    a.bytes = form_immediate(s, &f);
    a.mask |= form_mask(s, &f, true);
    if (part.kind) {
      Affine sub;
      NestVar *sum = bind_array(s, NULL, v.type, v.ref.var->elem, a.base_mask, &sub);
      NestBuilder outer = bind_open(s, a.base_mask);
      nest_op(&s->b, m->buffer ? TILE_ADD : TILE_PTR_ADD, m->buffer ? DT_I32 : DT_PTR,
              ref_sub(sum, sub), a.base, part, ref_none())
          ->elem = DT_U8;
      bind_close(s, outer);
      a.base = ref_sub(sum, sub);
    }
  }
  return a;
}

/* A power of two that divides the address, dim d left out: by its terms, or by a hint. */
static int64_t alignment(Bind *s, const NestStmt *st, int d) {
  Value v = address_of(s, &st->mems[0]);
  int64_t known = nest_int(st, NA_width, 1) * dtype_bytes(st->type);
  if (!v.is_form) return dtype_bytes(st->type);
  if (bind_has_rest(&v)) return known;
  int64_t n = form_divisor(&v.form, (DimMask)1 << d), power = n & -n;
  const NestBuffer *b = st->mems[0].buffer;
  if (b) return power > b->align ? b->align : power;
  return nest_int(st, NA_hinted, 0) && known > power ? known : power;
}

/* The register dim whose values are neighbours both in memory and in registers (sub NULL: in memory
 * is enough), and how many of them an access can take at once; 1 if there is none. */
int64_t bind_vector_dim(Bind *s, const NestStmt *st, const Address *a, const Value *guard,
                        const Affine *sub, int *dim) {
  int64_t bytes = dtype_bytes(st->type);
  if (!machine_has(s->u->machine, HAS_VECTOR_ACCESSES)) return 1;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->place != PLACE_REG || affine_coef(&a->bytes, x->index) != bytes ||
        (sub && affine_coef(sub, x->index) != 1) || a->base_mask >> d & 1 || guard->mask >> d & 1)
      continue;
    int64_t n = x->extent & -x->extent, align = alignment(s, st, d);
    while (n > 1 && (n * bytes > s->u->machine->vector_bytes || align % (n * bytes))) n /= 2;
    for (int k = 0; sub && k < sub->n; k++)
      while (n > 1 && sub->t[k].index != x->index && sub->t[k].coef % n) n /= 2;
    while (n > 1 && sub && sub->c % n) n /= 2;
    *dim = d;
    return n;
  }
  return 1;
}

/* Unroll loops over a mask, dim d in steps of n; the subscripts are rewritten to match. */
NestBuilder bind_open_vector(Bind *s, DimMask mask, int d, int64_t n, Affine *subs[], int nsubs) {
  if (n <= 1) return bind_open(s, mask);
  NestIndex *old = s->dims[d].index, *step = NULL;
  int32_t steps = (int32_t)(s->dims[d].extent / n);
  if (steps > 1) step = nest_index(s->nest, old->name, steps);
  for (int i = 0; i < nsubs; i++) {
    int64_t c = affine_drop(subs[i], old);
    if (!step || !c) continue;
    Affine x = affine_index(step, c * n);
    affine_add(subs[i], &x);
  }
  NestBuilder outer = bind_open(s, mask & ~((DimMask)1 << d));
  bind_unroll(s, step);
  return outer;
}

void bind_copy_attrs(Bind *s, NestStmt *to, const NestStmt *from) {
  to->attrs = ARENA_ARRAY(s->nest->arena, NestAttr, from->nattrs + 1);
  for (uint32_t i = 0; i < from->nattrs; i++)
    if (from->attrs[i].key != NA_width) to->attrs[to->nattrs++] = from->attrs[i];
}

/* sum + x for every element over a mask. */
Ref bind_add_scalar(Bind *s, Ref sum, Ref x, DimMask mask) {
  Affine sub;
  NestVar *v = bind_array(s, NULL, DT_I32, DT_NONE, mask, &sub);
  NestBuilder outer = bind_open(s, mask);
  nest_op(&s->b, TILE_ADD, DT_I32, ref_sub(v, sub), sum, x, ref_none());
  bind_close(s, outer);
  return ref_sub(v, sub);
}

Ref bind_swizzle(Bind *s, const Form *at, const Layout *l, Affine *bytes, DimMask *base_mask) {
  int64_t high = INT64_C(1) << (l->xor_base + l->xor_shift + l->xor_bits);
  Form base = {.n = 1, .g = {at->g[0]}}, rest = form_const(0), slot = *at;
  if (base.g[0].var) bind_refuse(s, "a swizzled buffer is addressed by computed offsets");
  slot.g[0] = (Group){0}; /* a ring's slot: a multiple of the highest bit too */
  /* What is a multiple of the highest bit, or lies below the lowest, does not take part. */
  for (int d = 0; d < s->ndims; d++) {
    int64_t c = base.g[0].coef[d];
    if (!c || !bind_unrolled(&s->dims[d])) continue;
    if (c % high == 0 || c * s->dims[d].extent <= INT64_C(1) << l->xor_base) {
      rest.g[0].coef[d] = c;
      base.g[0].coef[d] = 0;
    }
  }
  Value v = bind_materialized(s, (Value){.is_form = true, .form = base, .type = DT_I32});
  Affine sub;
  NestVar *out = bind_array(s, NULL, DT_I32, DT_NONE, v.mask, &sub);
  NestBuilder outer = bind_open(s, v.mask);
  Ref row = bind_op(s, TILE_SHR, DT_I32, v.ref, ref_int(l->xor_shift));
  Ref bits = bind_op(s, TILE_AND, DT_I32, row, ref_int(((1 << l->xor_bits) - 1) << l->xor_base));
  nest_op(&s->b, TILE_XOR, DT_I32, ref_sub(out, sub), v.ref, bits, ref_none());
  bind_close(s, outer);
  *bytes = form_immediate(s, &rest);
  *base_mask = v.mask;
  DimMask none;
  Ref first = form_base(s, &slot, DT_I32, DT_NONE, &none);
  return first.kind ? bind_add_scalar(s, ref_sub(out, sub), first, v.mask) : ref_sub(out, sub);
}

void bind_swizzle_address(Bind *s, const NestStmt *st, Address *a) {
  Value v = address_of(s, &st->mems[0]);
  if (!v.is_form) bind_refuse(s, "a swizzled buffer is addressed by computed offsets");
  a->base = bind_swizzle(s, &v.form, &st->mems[0].buffer->layout, &a->bytes, &a->base_mask);
}

/* ---- shared memory ---- */

DType bind_stored(DType t) { return t == DT_PTR ? DT_I64 : t; }

void bind_st_shared(Bind *s, Ref src, DType t, NestBuffer *buf, Ref base, Affine bytes, Ref guard) {
  NestStmt *st = nest_stmt(&s->b, NEST_ST, 0, 1);
  st->srcs[0] = src;
  st->type = bind_stored(t);
  st->mems[0] = (Mem){buf, base, bytes};
  st->guard = guard;
}

void bind_ld_shared(Bind *s, Ref dst, DType t, NestBuffer *buf, Ref base, Affine bytes, int64_t n) {
  NestStmt *st = nest_stmt(&s->b, NEST_LD, 1, 0);
  st->dsts[0] = dst;
  st->type = bind_stored(t);
  st->mems[0] = (Mem){buf, base, bytes};
  if (n > 1) nest_set_int(s->nest, st, NA_n, n);
}
