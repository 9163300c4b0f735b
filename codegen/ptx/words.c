/* Packed variables: elements of 16 and 8 bits in 32-bit words.
 *
 * Vector accesses and matrix instructions work on words, all else on elements.  A word and its
 * elements' own registers are like a cache line: `have` says which elements are in registers of
 * their own, `stale` which of those the word does not have yet.  Words are taken apart and put
 * together only where that is needed, and nothing is left apart where control flow joins. */
#include "codegen/ptx/ptx.h"

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

static void convert_pending(Ptx *p, const Pending *c) {
  const Reg *g = ptx_reg(p, c->to);
  ptx_emit2(p, c->bf16 ? "cvt.rn.bf16.f32 $d, $a" : "cvt.rn.f16.f32 $d, $a",
            element_register(p, c->to, c->word * g->per), c->source);
}

static void drop_pending(Ptx *p, Pending *c) {
  ptx_reg(p, c->to)->words[c->word].pending = 0;
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
  settle_word(p, &ptx_reg(p, first->to)->words[first->word]);
  return first;
}

static void hold_back(Ptx *p, const NestStmt *s, Operand source, int32_t i) {
  const NestVar *to = s->dsts[0].var;
  Pending *c = free_slot(p);
  if (p->npending <= (uint32_t)(c - p->pending)) p->npending = (uint32_t)(c - p->pending) + 1;
  *c = (Pending){.source = source, .to = to, .word = i / 2, .bf16 = s->to == DT_BF16};
  if (s->srcs[0].kind == REF_VAR) {
    c->from = s->srcs[0].var;
    c->at = ptx_subscript(p, &s->srcs[0]);
    ptx_reg(p, c->from)->pending++;
  }
  Word *w = word_of(p, to, i);
  mark_word_touched(p, to, i / 2);
  w->pending = (uint16_t)(c - p->pending + 1);
  w->have |= 1;
  w->stale |= 1;
}

bool ptx_convert_pair(Ptx *p, const NestStmt *s) {
  const Reg *g = ptx_reg(p, s->dsts[0].var);
  bool half = s->to == DT_F16 || s->to == DT_BF16;
  if (g->per != 2 || !half || s->type != DT_F32 || s->rtz || s->guard.kind) return false;
  int32_t i = ptx_subscript(p, &s->dsts[0]);
  Word *w = word_of(p, s->dsts[0].var, i);
  Operand source = ptx_source(p, &s->srcs[0], DT_F32);
  if (i % 2 == 0) {
    if (w->pending) drop_pending(p, &p->pending[w->pending - 1]);
    hold_back(p, s, source, i);
    return true;
  }
  if (!w->pending) return false;
  Pending *c = &p->pending[w->pending - 1];
  Operand low = c->source;
  drop_pending(p, c);
  w->have = w->stale = 0;
  ptx_emit(p, s->to == DT_BF16 ? "cvt.rn.bf16x2.f32 $d, $a, $b" : "cvt.rn.f16x2.f32 $d, $a, $b",
           ptx_word_register(p, s->dsts[0].var, i / 2), source, low, low);
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
  if (at == 0) settle_word(p, w);
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
  if (at == 0 && w->pending) drop_pending(p, &p->pending[w->pending - 1]);
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
