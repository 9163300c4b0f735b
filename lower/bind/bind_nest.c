/* NESTs: the statements of their bodies.  See lower/bind/bind.h. */
#include "lower/bind/bind_nest.h"

#include <string.h>

typedef struct {
  Ref base;
  Affine bytes;
  DimMask mask; /* of base and bytes */
  DimMask base_mask;
  int64_t align;
} Address;

/* ======== addresses: a uniform part, the thread's part, and constants ======== */

/* The address as a form in bytes (pointers) or a byte offset in a buffer. */
static Value mem_address(Bind *s, const Mem *m) {
  Value v = {.is_form = true, .type = m->buffer ? DT_I32 : DT_PTR, .form = form_const(0)};
  if (m->base.kind) v = bind_eval(s, m->base, v.type, true);
  if (m->buffer && bind_has_rest(&v)) v = bind_materialized(s, v);
  if (!v.is_form) return v;
  v.type = m->buffer ? DT_I32 : DT_PTR;
  Form more = m->buffer ? bind_buffer_form(s, m) : bind_affine_form(s, &m->bytes);
  if (!form_add(&v.form, &more, 1)) bind_refuse(s, "an address has too many terms");
  return v;
}

static Address bind_split_address(Bind *s, const NestStmt *st) {
  const Mem *m = &st->mems[0];
  Value v = mem_address(s, m);
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

/* A power of two that divides each term of the address, some dims left out. */
static int64_t alignment_of_terms(const NestStmt *st, const Value *v, DimMask skip) {
  if (!v->is_form || bind_has_rest(v)) return dtype_bytes(st->type);
  int64_t n = form_divisor(&v->form, skip), power = n & -n;
  const NestBuffer *b = st->mems[0].buffer;
  return b && power > b->align ? b->align : power;
}

/* A power of two that divides the address, some dims left out: by its terms, or by a hint. */
static int64_t alignment(Bind *s, const NestStmt *st, DimMask skip) {
  Value v = mem_address(s, &st->mems[0]);
  int64_t known = nest_int(st, NA_width, 1) * dtype_bytes(st->type);
  if (v.is_form && bind_has_rest(&v)) return known;
  int64_t power = alignment_of_terms(st, &v, skip);
  bool hinted = v.is_form && !st->mems[0].buffer && nest_int(st, NA_hinted, 0);
  return hinted && known > power ? known : power;
}

/* The register dim whose values are neighbours both in memory and in registers (sub NULL: in memory
 * is enough), and how many of them an access can take at once; 1 if there is none. */
static int64_t bind_vector_dim(Bind *s, const NestStmt *st, const Address *a, const Value *guard,
                               const Affine *sub, int *dim) {
  int64_t bytes = dtype_bytes(st->type);
  if (!machine_has(s->u->machine, HAS_VECTOR_ACCESSES)) return 1;
  for (int d = 0; d < s->ndims; d++) {
    const Dim *x = &s->dims[d];
    if (x->hw != HW_REG || affine_coef(&a->bytes, x->index) != bytes ||
        (sub && affine_coef(sub, x->index) != 1) || a->base_mask >> d & 1 || guard->mask >> d & 1)
      continue;
    int64_t n = x->extent & -x->extent, align = alignment(s, st, (DimMask)1 << d);
    while (n > 1 && (n * bytes > s->u->machine->vector_bytes || align % (n * bytes))) n /= 2;
    for (int k = 0; sub && k < sub->n; k++)
      while (n > 1 && sub->t[k].index != x->index && sub->t[k].coef % n) n /= 2;
    while (n > 1 && sub && sub->c % n) n /= 2;
    *dim = d;
    return n;
  }
  return 1;
}

/* Loads, and sums of f32 that memory adds to, which order no others. */
static bool may_be_runs(const Bind *s, const NestStmt *st) {
  if (st->mems[0].buffer || !machine_has(s->u->machine, HAS_VECTOR_ACCESSES)) return false;
  if (st->code == NEST_LD) return !nest_int(st, NA_volatile, 0);
  bool vectors = machine_has(s->u->machine, HAS_ASYNC_PROXY) && st->type == DT_F32;
  return st->code == NEST_RED && vectors && !strcmp(nest_str(st, NA_kind, "add"), "add") &&
         !strcmp(nest_str(st, NA_sem, ""), "relaxed");
}

/* The dim of registers, none of `done`, along which memory has steps of so many bytes; -1: none. */
static int dim_of_step(const Bind *s, const Address *a, DimMask done, int64_t bytes) {
  for (int d = 0; d < s->ndims; d++) {
    bool free = s->dims[d].hw == HW_REG && !((done | a->base_mask) >> d & 1);
    if (free && affine_coef(&a->bytes, s->dims[d].index) == bytes) return d;
  }
  return -1;
}

/* An access takes n elements of dim d, which are a word: how many words are neighbors in memory,
 * since other dims of registers go on there.  The elements' registers are apart, so that they are
 * no vector of the IR; 1: there are none.  A run begins where the constant term is a multiple of
 * its bytes, so that all terms must be: a hint tells of their sum alone. */
static int64_t words_of_run(Bind *s, const NestStmt *st, const Address *a, int d, int64_t n) {
  enum { WORD = 4 };
  DimMask done = n > 1 ? (DimMask)1 << d : 0;
  int64_t words = 1;
  if (!may_be_runs(s, st) || n * dtype_bytes(st->type) != WORD) return 1;
  if (n > 1 && s->dims[d].extent != n) return 1;
  for (int e; (e = dim_of_step(s, a, done, words * WORD)) >= 0;) {
    int64_t extent = s->dims[e].extent, more = extent & -extent;
    while (words * more * WORD > s->u->machine->vector_bytes) more /= 2;
    words *= more;
    done |= (DimMask)1 << e;
    if (more != extent || words * WORD >= s->u->machine->vector_bytes) break;
  }
  Value v = mem_address(s, &st->mems[0]);
  int64_t align = alignment_of_terms(st, &v, done);
  while (words > 1 && align % (words * WORD)) words /= 2;
  return words;
}

/* Unroll loops over a mask, dim d in steps of n; the subscripts are rewritten to match. */
static NestBuilder bind_open_vector(Bind *s, DimMask mask, int d, int64_t n, Affine *subs[],
                                    int nsubs) {
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

/* All but `width`. */
static void bind_copy_attrs(Bind *s, NestStmt *to, const NestStmt *from) {
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
  return bind_swizzle_with(s, at, ref_none(), l, bytes, base_mask);
}

Ref bind_swizzle_with(Bind *s, const Form *at, Ref also, const Layout *l, Affine *bytes,
                      DimMask *base_mask) {
  int64_t high = INT64_C(1) << (l->xor_base + l->xor_shift + l->xor_bits);
  Form base = {.n = 1, .g = {at->g[0]}}, rest = form_const(0), slot = *at;
  if (base.g[0].var) bind_refuse(s, "a swizzled buffer is addressed by computed offsets");
  slot.g[0] = (Group){0}; /* a ring's slot: a multiple of the highest bit too */
  /* Terms that are multiples of the highest bit, or below the lowest, do not take part. */
  for (int d = 0; d < s->ndims; d++) {
    int64_t c = base.g[0].coef[d];
    if (!c || !bind_unrolled(&s->dims[d])) continue;
    if (c % high == 0 || c * s->dims[d].extent <= INT64_C(1) << l->xor_base) {
      rest.g[0].coef[d] = c;
      base.g[0].coef[d] = 0;
    }
  }
  Value v = bind_materialized(s, (Value){.is_form = true, .form = base, .type = DT_I32});
  if (also.kind) v.ref = bind_add_scalar(s, also, v.ref, v.mask);
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

static void bind_swizzle_address(Bind *s, const NestStmt *st, Address *a) {
  Value v = mem_address(s, &st->mems[0]);
  if (!v.is_form) bind_refuse(s, "a swizzled buffer is addressed by computed offsets");
  a->base = bind_swizzle(s, &v.form, &st->mems[0].buffer->layout, &a->bytes, &a->base_mask);
}

/* ---- shared memory ---- */

DType bind_stored(DType t) { return t == DT_PTR ? DT_I64 : t; }

NestStmt *bind_st_shared(Bind *s, Ref src, DType t, NestBuffer *buf, Ref base, Affine bytes,
                         Ref guard) {
  NestStmt *st = nest_stmt(&s->b, NEST_ST, 0, 1);
  st->srcs[0] = src;
  st->type = bind_stored(t);
  st->mems[0] = (Mem){buf, base, bytes};
  st->guard = guard;
  return st;
}

NestStmt *bind_ld_shared(Bind *s, Ref dst, DType t, NestBuffer *buf, Ref base, Affine bytes,
                         int64_t n) {
  NestStmt *st = nest_stmt(&s->b, NEST_LD, 1, 0);
  st->dsts[0] = dst;
  st->type = bind_stored(t);
  st->mems[0] = (Mem){buf, base, bytes};
  if (n > 1) nest_set_int(s->nest, st, NA_n, n);
  return st;
}

/* ======== nests ======== */

/* An OP or MOV into a variable. */
static void bind_assign(Bind *s, const NestStmt *st) {
  Value x[3];
  uint32_t n = 0;
  bool address = st->code == NEST_OP && st->op == TILE_PTR_ADD;
  if (address) x[n++] = bind_materialized(s, bind_eval_op(s, st, false));
  for (; !address && n < st->nsrcs && st->srcs[n].kind; n++)
    x[n] = bind_value_of(s, st->srcs[n],
                         st->code == NEST_OP && st->op == TILE_SELECT && n == 0 ? DT_I1 : st->type);
  DimMask mask;
  Ref dst = bind_destination(s, st->dsts[0], &mask);
  if (!st->dsts[0].var->tile.rank && st->dsts[0].var->uniform) dst = st->dsts[0], mask = 0;
  NestBuilder outer = bind_open(s, mask);
  bool mov = st->code == NEST_MOV || address;
  NestStmt *out = nest_stmt(&s->b, mov ? NEST_MOV : NEST_OP, 1, n);
  out->op = st->op;
  out->type = st->type;
  out->to = st->to;
  out->elem = st->elem;
  out->rtz = st->rtz;
  out->dsts[0] = dst;
  for (uint32_t i = 0; i < n; i++) out->srcs[i] = x[i].ref;
  bind_close(s, outer);
}

/* ---- memory ---- */

/* The dims of a load's registers on which neither its address nor its guard depends: it is made
 * once for all of their elements. */
static DimMask repeated_dims(const Bind *s, const NestStmt *st, const Ref *dst, DimMask needed) {
  DimMask repeated = 0;
  if (st->code != NEST_LD || st->mems[0].buffer || nest_int(st, NA_volatile, 0)) return 0;
  if (dst->kind != REF_VAR || dst->sub.n == 0) return 0;
  for (int d = 0; d < s->ndims; d++)
    if (s->dims[d].hw == HW_REG && !(needed >> d & 1) && affine_coef(&dst->sub, s->dims[d].index))
      repeated |= (DimMask)1 << d;
  return repeated;
}

static Affine first_of_dims(const Bind *s, Affine at, DimMask dims) {
  for (int d = 0; d < s->ndims; d++)
    if (dims >> d & 1) affine_drop(&at, s->dims[d].index);
  return at;
}

/* Is it one number for all elements?  Indices of registers, which loops count, are several. */
static bool is_number(const Ref *r) {
  return r->kind != REF_VAR && r->kind != REF_NONE && !(r->kind == REF_AFFINE && r->sub.n);
}

/* A number in n registers, for stores of so many elements at once. */
static Ref repeat_number(Bind *s, Ref number, DType t, int64_t n) {
  NestVar *v = bind_var(s, "same", t, DT_NONE, (uint32_t)n, false);
  for (int64_t i = 0; i < n; i++) nest_mov(&s->b, ref_sub(v, affine_const(i)), number, t);
  return ref_sub(v, affine_const(0));
}

static void access_memory(Bind *s, const NestStmt *st) {
  bool has_dst = st->ndsts > 0, has_src = st->nsrcs > 0;
  Value guard = bind_guard_of(s, st), src[2] = {{.ref = ref_none()}, {.ref = ref_none()}};
  for (uint32_t i = 0; i < st->nsrcs; i++) src[i] = bind_value_of(s, st->srcs[i], st->type);
  Address a = bind_split_address(s, st);
  if (st->mems[0].buffer && st->mems[0].buffer->layout.xor_bits) bind_swizzle_address(s, st, &a);
  DimMask mask = a.mask | guard.mask | src[0].mask | src[1].mask, dst_mask = 0;
  Ref dst = ref_none();
  if (has_dst && !(st->dsts[0].var->uniform && !st->dsts[0].var->tile.rank))
    dst = bind_destination(s, st->dsts[0], &dst_mask);
  else if (has_dst) dst = st->dsts[0];
  DimMask repeated = has_dst ? repeated_dims(s, st, &dst, mask) : 0;
  Ref all = dst;
  if (repeated) dst.sub = first_of_dims(s, dst.sub, repeated);
  mask |= dst_mask & ~repeated;
  if (st->code != NEST_ST && st->code != NEST_LD) mask |= bind_reg_dims(s); /* once an element */
  int d = 0;
  int64_t n = 1;
  Affine none = affine_const(0);
  Affine *reg = st->code == NEST_LD ? &dst.sub : st->code == NEST_ST ? &src[0].ref.sub : &none;
  bool registers = st->code == NEST_LD ? dst.kind == REF_VAR && dst.var->count != 1
                                       : st->code == NEST_ST && src[0].ref.kind == REF_VAR;
  if (st->code == NEST_LD && dst.kind == REF_VAR && dst.var->tile.rank) registers = true;
  bool number = st->code == NEST_ST && is_number(&src[0].ref);
  if (registers || number) n = bind_vector_dim(s, st, &a, &guard, number ? NULL : reg, &d);
  if (number && n > 1) src[0].ref = repeat_number(s, src[0].ref, st->type, n);
  int64_t run = guard.ref.kind ? 1 : words_of_run(s, st, &a, d, n);
  Affine *subs[] = {&a.bytes, number ? &none : reg};
  NestBuilder outer = bind_open_vector(s, mask, d, n, subs, 2);
  NestStmt *out = nest_stmt(&s->b, st->code, st->ndsts, st->nsrcs);
  bind_copy_attrs(s, out, st);
  out->type = st->type;
  if (has_dst) out->dsts[0] = dst;
  if (has_src) out->srcs[0] = src[0].ref;
  if (st->nsrcs > 1) out->srcs[1] = src[1].ref;
  out->mems[0] = (Mem){st->mems[0].buffer, a.base, a.bytes};
  out->guard = guard.ref;
  if (n > 1) nest_set_int(s->nest, out, NA_n, n);
  if (run > 1) nest_set_int(s->nest, out, NA_run, run);
  bind_close(s, outer);
  if (!repeated) return;
  outer = bind_open(s, dst_mask);
  nest_mov(&s->b, all, ref_sub(all.var, first_of_dims(s, all.sub, repeated)), st->type);
  bind_close(s, outer);
}

static void body_stmt(Bind *s, const NestStmt *st);

/* ---- asynchronous copies ---- */

static Address copy_target(Bind *s, const NestStmt *st) {
  Address a = bind_split_address(s, st);
  if (st->mems[0].buffer->layout.xor_bits) bind_swizzle_address(s, st, &a);
  return a;
}

/* The width that both sides of a copy allow along one register dim; 1 if there is none. */
static int64_t copy_width(Bind *s, const NestStmt *ld, const NestStmt *st, const Address *from,
                          const Address *to, DimMask guards, int *dim) {
  int d2 = 0;
  Value guard = {.mask = guards};
  int64_t n = bind_vector_dim(s, ld, from, &guard, NULL, dim);
  int64_t m = bind_vector_dim(s, st, to, &guard, NULL, &d2);
  if (n > 1 && m > 1 && *dim != d2) return 1;
  return n < m ? n : m;
}

void bind_copy(Bind *s, const NestStmt *nest) {
  bind_start(s, nest, nest->layout);
  NestStmt *ld = NULL, *st = NULL;
  for (NestStmt *x = nest->regions[0]->first; x; x = x->next) {
    if (x->code == NEST_LD) ld = x;
    else if (x->code == NEST_ST) st = x;
    else body_stmt(s, x);
  }
  s->b.span = ld->span;
  Value inside = bind_own_guard(s, ld);
  Value guard = bind_and_first_replica(s, bind_and_padding(s, (Value){.ref = ref_none()}));
  Address from = bind_split_address(s, ld), to = copy_target(s, st);
  int d = 0;
  int64_t n = copy_width(s, ld, st, &from, &to, guard.mask | inside.mask, &d);
  int64_t bytes = dtype_bytes(ld->type);
  if (n * bytes < MACHINE_COPY_LEAST) { /* too narrow: loaded and stored at once */
    Ref zero = ref_zero(ld->type);
    NestStmt fill = {.code = NEST_MOV,
                     .type = ld->type,
                     .span = ld->span,
                     .ndsts = 1,
                     .nsrcs = 1,
                     .dsts = ld->dsts,
                     .srcs = &zero};
    body_stmt(s, &fill);
    body_stmt(s, ld);
    body_stmt(s, st);
    return;
  }
  Affine *subs[] = {&from.bytes, &to.bytes};
  NestBuilder outer = bind_open_vector(s, bind_reg_dims(s), d, n, subs, 2);
  NestStmt *cp = nest_stmt(&s->b, NEST_CP_ASYNC, 0, inside.ref.kind != REF_NONE);
  cp->type = ld->type;
  cp->nmems = 2;
  cp->mems[0] = (Mem){st->mems[0].buffer, to.base, to.bytes};
  cp->mems[1] = (Mem){NULL, from.base, from.bytes};
  if (cp->nsrcs) cp->srcs[0] = inside.ref;
  cp->guard = guard.ref;
  nest_set_int(s->nest, cp, NA_bytes, n * bytes);
  bind_close(s, outer);
}

static void bind_assert(Bind *s, const NestStmt *st) {
  Value guard = bind_guard_of(s, st), x = bind_value_of(s, st->srcs[0], DT_I1);
  NestBuilder outer = bind_open(s, guard.mask | x.mask);
  NestStmt *out = nest_stmt(&s->b, NEST_ASSERT, 0, 1);
  bind_copy_attrs(s, out, st);
  out->type = DT_I1;
  out->srcs[0] = x.ref;
  out->guard = guard.ref;
  bind_close(s, outer);
}

static void printing(Bind *s, const NestStmt *st) {
  Value guard = bind_guard_of(s, st), x[MAX_RANK + 1];
  for (uint32_t i = 0; i < st->nsrcs; i++)
    x[i] = bind_value_of(s, st->srcs[i], i ? DT_I32 : st->type);
  NestBuilder outer = bind_open(s, bind_reg_dims(s)); /* once an element */
  NestStmt *out = nest_stmt(&s->b, NEST_PRINT, 0, st->nsrcs);
  bind_copy_attrs(s, out, st);
  out->type = st->type;
  for (uint32_t i = 0; i < st->nsrcs; i++) out->srcs[i] = x[i].ref;
  out->guard = guard.ref;
  bind_close(s, outer);
}

/* Temps are evaluated at each use, by recursion over their operands.  This bounds the recursion: a
 * temp with a chain of so many operands below it is computed into registers. */
enum { CHAIN_TEMPS = 96 };

static int chain_below(const Bind *s, const NestStmt *st) {
  int longest = 0;
  for (uint32_t i = 0; i < st->nsrcs; i++) {
    const NestVar *x = st->srcs[i].kind == REF_VAR ? st->srcs[i].var : NULL;
    bool temp = x && !x->tile.rank && s->def_nest[x->id] == s->id;
    if (temp && s->chain[x->id] > longest) longest = s->chain[x->id];
  }
  return longest;
}

/* `below`: the temps on its longest way down. */
static bool is_temp(const Bind *s, const NestStmt *st, int below) {
  const NestVar *v = st->dsts[0].var;
  if (v->tile.rank || v->uniform || s->array_nest[v->id] == s->id) return false;
  return st->op == TILE_HINT || below < CHAIN_TEMPS;
}

static void body_stmt(Bind *s, const NestStmt *st) {
  s->b.span = st->span;
  switch (st->code) {
    case NEST_OP: {
      NestVar *v = st->dsts[0].var;
      int below = chain_below(s, st);
      if (is_temp(s, st, below)) {
        s->def[v->id] = (NestStmt *)st;
        s->def_nest[v->id] = s->id;
        s->chain[v->id] = (uint8_t)(below < UINT8_MAX ? below + 1 : UINT8_MAX);
        return;
      }
      bind_assign(s, st);
      return;
    }
    case NEST_MOV: bind_assign(s, st); return;
    case NEST_ASSERT: bind_assert(s, st); return;
    case NEST_PID:
    case NEST_NPROG: bind_refuse(s, "the program's index is computed inside a nest");
    case NEST_PRINT: printing(s, st); return;
    default: access_memory(s, st); return;
  }
}

/* Serial digits are loops around all of a nest's statements. */
static NestBuilder open_serial_dims(Bind *s) {
  NestBuilder outer = s->b;
  for (int d = 0; d < s->ndims; d++) {
    if (s->dims[d].hw != HW_SERIAL) continue;
    NestStmt *u = nest_stmt(&s->b, NEST_SERIAL, 0, 0);
    u->index = s->dims[d].index;
    s->b.block = nest_block(s->nest, u);
    s->b.before = NULL;
  }
  return outer;
}

void bind_nest(Bind *s, const NestStmt *st) {
  bind_start(s, st, st->layout);
  NestBuilder outer = open_serial_dims(s);
  for (const NestStmt *x = st->regions[0]->first; x; x = x->next) body_stmt(s, x);
  bind_close(s, outer);
}
