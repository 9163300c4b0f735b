/* References of the nest as operands of instructions.
 *
 * Packed variables: elements of 16 and 8 bits in 32-bit words.
 *
 * Vector accesses and matrix instructions work on words, all else on elements.  A word and its
 * elements' own registers are like a cache line: `have` says which elements are in registers of
 * their own, `stale` which of those the word does not have yet.  Words are taken apart and put
 * together only where that is needed, and nothing is left apart where control flow joins. */
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

const char *ptx_extend(DType t) {
  static const char *const texts[DT_COUNT] = {
      [DT_I8] = "cvt.s32.s8 $d, $a", [DT_U8] = "and.b32 $d, $a, 0xff",
      [DT_I16] = "cvt.s32.s16 $d, $a", [DT_U16] = "and.b32 $d, $a, 0xffff",
  };
  BUG_IF(!texts[t], "%s is not extended", dtype_name(t));
  return texts[t];
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

Operand ptx_guard(Ptx *p, const NestStmt *s) {
  if (!s->guard.kind) return (Operand){0};
  return ptx_source(p, &s->guard, DT_I1);
}

Operand ptx_dest_of(Ptx *p, const NestStmt *s, Operand d) {
  return d.kind ? d : ptx_dest(p, &s->dsts[0], 0);
}

/* ---- words ---- */

static Word *word_of(const Ptx *p, const NestVar *v, int32_t i) {
  const Reg *g = ptx_reg(p, v);
  return &g->words[i / g->per];
}

static void mark_word_touched(Ptx *p, const NestVar *v, int32_t word) {
  Word *w = &ptx_reg(p, v)->words[word];
  if (w->touched) return;
  w->touched = true;
  WordRef r = {v, word};
  vec_push(p->arena, &p->touched, r);
}

Operand ptx_word_register(const Ptx *p, const NestVar *v, int32_t word) {
  const Reg *g = ptx_reg(p, v);
  return (Operand){PO_REG, RC_B32, g->len, word, g->name, 0};
}

static Operand element_register(const Ptx *p, const NestVar *v, int32_t i) {
  const Reg *g = ptx_reg(p, v);
  return (Operand){PO_REG, g->cls, g->element_len, i, g->element, 0};
}

/* ---- conversions that were held back ---- */

/* Instructions that round a number, and two that make a word, or its first and second half. */
typedef struct {
  const char *one, *pair[2];
} Rounding;

static const Rounding roundings[DT_COUNT] = {
    [DT_F16] = {"cvt.rn.f16.f32 $d, $a", {"cvt.rn.f16x2.f32 $d, $a, $b"}},
    [DT_BF16] = {"cvt.rn.bf16.f32 $d, $a", {"cvt.rn.bf16x2.f32 $d, $a, $b"}},
    [DT_F8E5] = {"cvt.rn.satfinite.e5m2x2.f32 $0h, 0f00000000, $a; cvt.u32.u16 $d, $0h",
                 {"mov.b32 {$0h, $1h}, $d; cvt.rn.satfinite.e5m2x2.f32 $0h, $a, $b;"
                  "mov.b32 $d, {$0h, $1h}",
                  "mov.b32 {$0h, $1h}, $d; cvt.rn.satfinite.e5m2x2.f32 $1h, $a, $b;"
                  "mov.b32 $d, {$0h, $1h}"}},
    [DT_F8E4NV] = {"cvt.rn.satfinite.e4m3x2.f32 $0h, 0f00000000, $a; cvt.u32.u16 $d, $0h",
                 {"mov.b32 {$0h, $1h}, $d; cvt.rn.satfinite.e4m3x2.f32 $0h, $a, $b;"
                  "mov.b32 $d, {$0h, $1h}",
                  "mov.b32 {$0h, $1h}, $d; cvt.rn.satfinite.e4m3x2.f32 $1h, $a, $b;"
                  "mov.b32 $d, {$0h, $1h}"}},
};

const char *ptx_rounding(Ptx *p, DType t) {
  bool bytes = dtype_bytes(t) == 1;
  if (bytes && !machine_has(p->machine, HAS_F8_CONVERSIONS)) return NULL;
  if (bytes && roundings[t].one) ptx_needs(p, p->machine->f8_ptx);
  return roundings[t].one;
}

static void convert_pending(Ptx *p, const Pending *c) {
  ptx_emit2(p, ptx_rounding(p, c->to->dtype), element_register(p, c->to, c->element), c->source);
}

static void drop_pending(Ptx *p, Pending *c) {
  word_of(p, c->to, c->element)->pending = 0;
  if (c->from) ptx_reg(p, c->from)->pending--;
  c->to = NULL;
  while (p->npending && !p->pending[p->npending - 1].to) p->npending--;
}

/* The guard of the statement at hand is not that of the conversion. */
static void settle_word(Ptx *p, Word *w) {
  if (!w->pending) return;
  Operand guard = p->guard;
  p->guard.kind = PO_NONE;
  Pending *c = &p->pending[w->pending - 1];
  convert_pending(p, c);
  drop_pending(p, c);
  p->guard = guard;
}

void ptx_release(Ptx *p, const NestVar *v, int32_t i) {
  for (uint32_t k = 0; k < p->npending; k++) {
    Pending *c = &p->pending[k];
    if (!c->to || c->from != v || c->at != i) continue;
    Operand copy = {PO_REG, RC_F32, 3, (int32_t)k, "%$c", 0}, guard = p->guard;
    p->guard.kind = PO_NONE;
    ptx_emit2(p, "mov.b32 $d, $a", copy, c->source);
    p->guard = guard;
    ptx_reg(p, v)->pending--;
    c->source = copy;
    c->from = NULL;
    p->uses_copies = true;
  }
}

static Pending *free_slot(Ptx *p) {
  for (uint32_t k = 0; k < p->npending; k++)
    if (!p->pending[k].to) return &p->pending[k];
  if (p->npending < MAX_PENDING) return &p->pending[p->npending++];
  Pending *first = &p->pending[0];
  settle_word(p, word_of(p, first->to, first->element));
  return first;
}

static void hold_back(Ptx *p, const NestStmt *s, Operand source, int32_t i) {
  const NestVar *to = s->dsts[0].var;
  Pending *c = free_slot(p);
  if (p->npending <= (uint32_t)(c - p->pending)) p->npending = (uint32_t)(c - p->pending) + 1;
  *c = (Pending){.source = source, .to = to, .element = i};
  if (s->srcs[0].kind == REF_VAR) {
    c->from = s->srcs[0].var;
    c->at = ptx_subscript(p, &s->srcs[0]);
    ptx_reg(p, c->from)->pending++;
  }
  Word *w = word_of(p, to, i);
  int per = ptx_reg(p, to)->per;
  mark_word_touched(p, to, i / per);
  w->pending = (uint16_t)(c - p->pending + 1);
  w->have |= (uint8_t)(1 << i % per);
  w->stale |= (uint8_t)(1 << i % per);
}

bool ptx_convert_pair(Ptx *p, const NestStmt *s) {
  const Reg *g = ptx_reg(p, s->dsts[0].var);
  bool packed = g->per > 1 && s->type == DT_F32 && !s->rtz && !s->guard.kind;
  if (!packed || !roundings[s->to].one || !ptx_rounding(p, s->to)) return false;
  int32_t i = ptx_subscript(p, &s->dsts[0]);
  Word *w = word_of(p, s->dsts[0].var, i);
  Operand source = ptx_source(p, &s->srcs[0], DT_F32);
  if (i % 2 == 0) {
    bool same = w->pending && p->pending[w->pending - 1].element == i;
    if (same) drop_pending(p, &p->pending[w->pending - 1]);
    settle_word(p, w);
    hold_back(p, s, source, i);
    return true;
  }
  if (!w->pending || p->pending[w->pending - 1].element != i - 1) return false;
  Pending *c = &p->pending[w->pending - 1];
  Operand low = c->source;
  drop_pending(p, c);
  uint8_t rest = (uint8_t)~(3 << (i - 1) % g->per);
  w->have &= rest;
  w->stale &= rest;
  const char *pair = roundings[s->to].pair[i % g->per / 2];
  ptx_emit(p, pair, ptx_word_register(p, s->dsts[0].var, i / g->per),
           ptx_in_register(p, source, RC_F32), ptx_in_register(p, low, RC_F32), low);
  return true;
}

/* ---- taking words apart ---- */

/* Element i of a word into a register of its class. */
static void extract(Ptx *p, DType t, Operand d, Operand word, int i) {
  if (ptx_class(t) == RC_B16) {
    ptx_emit2(p, i ? "mov.b32 {$0h, $d}, $a" : "mov.b32 {$d, $0h}, $a", d, word);
    return;
  }
  unsigned bits = dtype_bits(t);
  ptx_emit(p, dtype_is_signed(t) ? "bfe.s32 $d, $a, $b, $c" : "bfe.u32 $d, $a, $b, $c", d, word,
           ptx_int(i * (int)bits), ptx_int(bits));
}

void ptx_read_element(Ptx *p, const NestVar *v, int32_t i) {
  const Reg *g = ptx_reg(p, v);
  Word *w = word_of(p, v, i);
  int at = i % g->per, first = i - at;
  Operand guard = p->guard;
  if (at % 2 == 0) settle_word(p, w);
  if (w->have >> at & 1) return;
  p->guard.kind = PO_NONE;
  Operand word = ptx_word_register(p, v, i / g->per);
  mark_word_touched(p, v, i / g->per);
  if (g->cls == RC_B16 && !w->have) {
    ptx_emit(p, "mov.b32 {$d, $b}, $a", element_register(p, v, first), word,
             element_register(p, v, first + 1), word);
    w->have = 3;
  } else {
    extract(p, v->dtype, element_register(p, v, i), word, at);
    w->have |= (uint8_t)(1 << at);
  }
  p->guard = guard;
}

void ptx_wrote_element(Ptx *p, const NestVar *v, int32_t i) {
  const Reg *g = ptx_reg(p, v);
  Word *w = word_of(p, v, i);
  int at = i % g->per;
  if (w->pending && p->pending[w->pending - 1].element == i)
    drop_pending(p, &p->pending[w->pending - 1]);
  mark_word_touched(p, v, i / g->per);
  w->have |= (uint8_t)(1 << at);
  w->stale |= (uint8_t)(1 << at);
}

/* ---- putting words together ---- */

static void combine_elements(Ptx *p, DType t, Operand word, const Operand *x) {
  if (ptx_class(t) == RC_B16) {
    ptx_emit(p, "mov.b32 $d, {$a, $b}", word, x[0], x[1], x[1]);
  } else if (dtype_bits(t) == 16) {
    ptx_emit(p, "prmt.b32 $d, $a, $b, 0x5410", word, x[0], x[1], x[1]);
  } else {
    Operand low = ptx_temp(p, RC_B32), high = ptx_temp(p, RC_B32);
    ptx_emit(p, "prmt.b32 $d, $a, $b, 0x0040", low, x[0], x[1], x[1]);
    ptx_emit(p, "prmt.b32 $d, $a, $b, 0x0040", high, x[2], x[3], x[3]);
    ptx_emit(p, "prmt.b32 $d, $a, $b, 0x5410", word, low, high, high);
  }
}

/* The word, with all elements in it. */
static Operand complete_word(Ptx *p, const NestVar *v, int32_t word) {
  const Reg *g = ptx_reg(p, v);
  Word *w = &g->words[word];
  Operand o = ptx_word_register(p, v, word), x[4], guard = p->guard;
  settle_word(p, w);
  if (!w->stale) return o;
  p->guard.kind = PO_NONE;
  for (int i = 0; i < g->per; i++) {
    ptx_read_element(p, v, word * g->per + i);
    x[i] = element_register(p, v, word * g->per + i);
  }
  combine_elements(p, v->dtype, o, x);
  w->stale = 0;
  p->guard = guard;
  return o;
}

/* about to be written as a whole */
static Operand ptx_new_word(Ptx *p, const NestVar *v, int32_t word) {
  Word *w = &ptx_reg(p, v)->words[word];
  if (p->guard.kind) complete_word(p, v, word);
  if (w->pending) drop_pending(p, &p->pending[w->pending - 1]);
  w->have = w->stale = 0;
  return ptx_word_register(p, v, word);
}

void ptx_flush_words(Ptx *p) {
  for (size_t i = 0; i < p->touched.len; i++) {
    WordRef r = p->touched.data[i];
    Word *w = &ptx_reg(p, r.var)->words[r.word];
    complete_word(p, r.var, r.word);
    w->have = 0;
    w->touched = false;
  }
  p->touched.len = 0;
}

/* ---- words of any variable ---- */

bool ptx_in_word(const Ptx *p, const NestVar *v, int32_t i) {
  const Reg *g = ptx_reg(p, v);
  return g->per > 1 && !(g->words[i / g->per].have >> (i % g->per) & 1);
}

bool ptx_whole_words(const Ptx *p, const NestVar *v, int32_t i, int n) {
  const Reg *g = ptx_reg(p, v);
  return g->per > 1 && i % g->per == 0 && n % g->per == 0;
}

/* A word of equal elements. */
static uint32_t repeat_element(uint64_t bits, unsigned size) {
  uint32_t w = (uint32_t)bits;
  if (size == 1) w = (w & 0xff) * 0x01010101u;
  else if (size == 2) w = (w & 0xffff) * 0x00010001u;
  return w;
}

int ptx_source_words(Ptx *p, const Ref *r, DType t, int n, Operand *out) {
  int per = 4 / (int)dtype_bytes(t), words = n / per;
  if (r->kind != REF_VAR) {
    Operand c = ptx_int(repeat_element(ptx_const_bits(r, t), dtype_bytes(t)));
    for (int i = 0; i < words; i++) out[i] = c;
    return words;
  }
  int32_t at = ptx_subscript(p, r);
  bool whole = ptx_whole_words(p, r->var, at, n);
  for (int i = 0; i < words; i++) {
    Operand x[4];
    if (per == 1 || whole) {
      out[i] = whole ? complete_word(p, r->var, at / per + i) : ptx_element(p, r->var, at + i);
      continue;
    }
    for (int k = 0; k < per; k++) x[k] = ptx_element(p, r->var, at + i * per + k);
    out[i] = ptx_temp(p, RC_B32);
    combine_elements(p, t, out[i], x);
  }
  return words;
}

int ptx_dest_words(Ptx *p, const Ref *r, int n, Operand *out) {
  DType t = r->var->dtype;
  int per = 4 / (int)dtype_bytes(t), words = n / per;
  int32_t at = ptx_subscript(p, r);
  bool whole = ptx_whole_words(p, r->var, at, n);
  for (int i = 0; i < words; i++)
    out[i] = whole      ? ptx_new_word(p, r->var, at / per + i)
             : per == 1 ? ptx_dest(p, r, i)
                        : ptx_temp(p, RC_B32);
  return words;
}

void ptx_end_words(Ptx *p, const Ref *r, int n, const Operand *words) {
  DType t = r->var->dtype;
  int per = 4 / (int)dtype_bytes(t);
  int32_t at = ptx_subscript(p, r);
  if (per == 1 || ptx_whole_words(p, r->var, at, n)) return;
  for (int i = 0; i < n; i++) {
    if (p->guard.kind) ptx_element(p, r->var, at + i); /* it may keep its value */
    extract(p, t, ptx_dest(p, r, i), words[i / per], i % per);
  }
}
