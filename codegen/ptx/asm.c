/* Inline assembly: its operands are put into registers of the letters that constraints name, and
 * the text is passed on, in a block of its own, so that its declarations are local. */
#include "lang/asm/asm_call.h"

#include "codegen/ptx/ptx.h"

/* ---- the version of PTX ---- */

/* Words that came with a version.  What is not here is as old as the target. */
static const struct {
  const char *word;
  int version;
} versions[] = {
    {"createpolicy", 74}, {"L2::cache_hint", 74}, {"applypriority", 74},  {"discard", 74},
    {"stmatrix", 78},     {"movmatrix", 78},      {"griddepcontrol", 78}, {"cluster", 78},
    {"mapa", 78},         {"getctarank", 78},     {"bf16x2", 78},         {".bf16", 78},
    {"e4m3x2", 81},       {"e5m2x2", 81},         {"multimem", 81},       {"st.async", 81},
    {"red.async", 81},    {"cp.async.bulk", 80},  {"fence.proxy", 80},    {"mbarrier", 80},
    {"elect.sync", 80},   {"setmaxnreg", 80},     {"wgmma", 80},          {"tf32", 81},
    {".b128", 83},        {"tensormap", 83},      {"e2m1x2", 86},         {"e2m3x2", 86},
    {"e3m2x2", 86},       {"ue8m0x2", 86},        {"tcgen05", 86},        {"f32x2", 86},
    {"cvt.rs", 87},
};

static void need_version(Ptx *p, const char *text) {
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    if (strstr(text, versions[i].word)) ptx_needs(p, versions[i].version);
}

/* ---- registers ---- */

static RegClass letter_class(char letter) {
  switch (asm_register_bits(letter)) {
    case 1: return RC_PRED;
    case 16: return RC_B16;
    case 32: return RC_B32;
    default: return RC_B64;
  }
}

static unsigned class_bits(RegClass c) {
  return c == RC_PRED ? 1 : c == RC_B16 ? 16 : c == RC_B32 || c == RC_F32 ? 32 : 64;
}

/* A register of class `from` in one of class `to`; of more bits: extended. */
static void convert(Ptx *p, Operand d, Operand a, RegClass to, RegClass from, bool is_signed) {
  static const char *const moves[] = {[1] = "mov.pred $d, $a",
                                      [16] = "mov.b16 $d, $a",
                                      [32] = "mov.b32 $d, $a",
                                      [64] = "mov.b64 $d, $a"};
  unsigned wide = class_bits(to), narrow = class_bits(from);
  if (wide == narrow) {
    ptx_emit2(p, moves[wide], d, a);
  } else if (narrow == 1) {
    ptx_emit2(p, arena_printf(p->arena, "selp.b%u $d, 1, 0, $a", wide), d, a);
  } else if (wide == 1) {
    const char *text = narrow == 16   ? "and.b16 $0h, $a, 1; setp.ne.b16 $d, $0h, 0"
                       : narrow == 32 ? "and.b32 $0r, $a, 1; setp.ne.b32 $d, $0r, 0"
                                      : "and.b64 $0l, $a, 1; setp.ne.b64 $d, $0l, 0";
    ptx_emit2(p, text, d, a);
  } else {
    char sign = is_signed && wide > narrow ? 's' : 'u';
    ptx_emit2(p, arena_printf(p->arena, "cvt.%c%u.%c%u $d, $a", sign, wide, sign, narrow), d, a);
  }
}

static bool fits_letter(Operand x, char letter) {
  RegClass c = (RegClass)x.cls, want = letter_class(letter);
  if (x.kind != PO_REG || class_bits(c) != class_bits(want)) return false;
  return c == want || letter == 'f' || letter == 'd';
}

/* ---- a statement ---- */

typedef struct {
  const NestStmt *s;
  AsmTypes types;
  AsmCall call;
  int64_t n;   /* elements that are there */
  bool copies; /* operands are in registers of their own: the text declares %names, which may be
                  those of variables, or a result is in an argument's */
  Operand *registers;
} Inline;

static Ref elements_from(const Ref *r, uint32_t first) {
  Ref at = *r;
  at.sub.c += first;
  return at;
}

/* Do the elements fill a word, so that packed variables have it as it is? */
static bool is_word(const Inline *x, const AsmRegister *r) {
  return !x->copies && r->elements > 1 && r->elements * dtype_bits(r->type) == 32 &&
         r->first + r->elements <= x->n && letter_class(r->letter) == RC_B32;
}

static Operand widened_element(Ptx *p, const NestVar *v, int32_t i) {
  Operand e = ptx_element(p, v, i);
  if (e.cls != RC_B16) return e;
  Operand wide = ptx_temp(p, RC_B32);
  convert(p, wide, e, RC_B32, RC_B16, false);
  return wide;
}

/* The elements of a register, the first in the low bits; those that lack are zeros. */
static Operand join_elements(Ptx *p, const Inline *x, const AsmRegister *r, const Ref *at) {
  unsigned bits = dtype_bits(r->type);
  Operand sum = ptx_temp(p, RC_B32);
  ptx_emit2(p, "mov.b32 $d, $a", sum, ptx_int(0));
  int32_t i = ptx_subscript(p, at);
  for (uint32_t e = 0; e < r->elements && r->first + e < x->n; e++) {
    Operand one = widened_element(p, at->var, i + (int32_t)e);
    ptx_emit(p, arena_printf(p->arena, "bfi.b32 $d, $a, $b, $c, %u", bits), sum, one, sum,
             ptx_int(e * bits));
  }
  return sum;
}

static Operand input(Ptx *p, const Inline *x, const AsmRegister *r) {
  Ref at = elements_from(&x->s->srcs[r->value], r->first);
  RegClass want = letter_class(r->letter);
  Operand in = {.kind = PO_NONE};
  if (r->first >= x->n) {
    in = ptx_temp(p, want);
    const char *zero = want == RC_PRED ? "setp.ne.b32 $d, $a, 0"
                                       : arena_printf(p->arena, "mov.b%u $d, $a", class_bits(want));
    ptx_emit2(p, zero, in, ptx_int(0));
    return in;
  }
  if (is_word(x, r)) ptx_source_words(p, &at, r->type, (int)r->elements, &in);
  else if (r->elements > 1) in = join_elements(p, x, r, &at);
  else in = ptx_element(p, at.var, ptx_subscript(p, &at));
  if (!x->copies && fits_letter(in, r->letter)) return in;
  Operand out = ptx_temp(p, want);
  convert(p, out, in, want, (RegClass)in.cls, r->elements == 1 && dtype_is_signed(r->type));
  return out;
}

/* Before the text: where it writes a result. */
static Operand output(Ptx *p, const Inline *x, const AsmRegister *r) {
  Ref at = elements_from(&x->s->dsts[r->value], r->first);
  Operand out;
  if (!is_word(x, r)) return ptx_temp(p, letter_class(r->letter));
  ptx_dest_words(p, &at, (int)r->elements, &out);
  return out;
}

/* Element e of a register that has several. */
static void take_element(Ptx *p, const AsmRegister *r, const Ref *at, uint32_t e, Operand word) {
  unsigned bits = dtype_bits(r->type);
  Operand d = ptx_dest(p, at, (int32_t)e), b = ptx_int(e * bits), c = ptx_int(bits);
  if (d.cls != RC_B16) {
    const char *how =
        dtype_is_signed(r->type) ? "bfe.s32 $d, $a, $b, $c" : "bfe.u32 $d, $a, $b, $c";
    ptx_emit(p, how, d, word, b, c);
    return;
  }
  Operand low = ptx_temp(p, RC_B32);
  ptx_emit(p, "bfe.u32 $d, $a, $b, $c", low, word, b, c);
  convert(p, d, low, RC_B16, RC_B32, false);
}

/* After the text. */
static void take_output(Ptx *p, const Inline *x, const AsmRegister *r, Operand out) {
  Ref at = elements_from(&x->s->dsts[r->value], r->first);
  RegClass have = letter_class(r->letter);
  if (r->first >= x->n) return;
  if (is_word(x, r)) {
    ptx_end_words(p, &at, (int)r->elements, &out);
    return;
  }
  bool narrow = dtype_is_int(r->type) && dtype_bits(r->type) < 32 && r->type != DT_I1;
  narrow |= dtype_bits(r->type) == 8;
  if ((r->elements > 1 || narrow) && have != RC_B32) {
    Operand word = ptx_temp(p, RC_B32);
    convert(p, word, out, RC_B32, have, false);
    out = word;
    have = RC_B32;
  }
  for (uint32_t e = 0; e < r->elements && r->elements > 1 && r->first + e < x->n; e++)
    take_element(p, r, &at, e, out);
  if (r->elements > 1) return;
  Operand d = ptx_dest(p, &at, 0);
  if (narrow && dtype_is_int(r->type)) ptx_emit2(p, ptx_extend(r->type), d, out);
  else if (narrow) ptx_emit2(p, "and.b32 $d, $a, 255", d, out);
  else convert(p, d, out, (RegClass)d.cls, have, false);
}

/* The last character of the text that is no space and in no comment. */
static char last_character(const char *s) {
  char last = ';';
  while (*s) {
    if (s[0] == '/' && s[1] == '/') {
      s += strcspn(s, "\n");
    } else if (s[0] == '/' && s[1] == '*') {
      s = strstr(s + 2, "*/") + 2;
    } else {
      if (*s != ' ' && *s != '\t' && *s != '\n' && *s != '\r') last = *s;
      s++;
    }
  }
  return last;
}

static void put_text(Ptx *p, const Inline *x) {
  int32_t uid = -1;
  ptx_puts(p, "\t{ // inline assembly\n\t");
  for (uint32_t i = 0; i < x->call.npieces; i++) {
    const AsmPiece *piece = &x->call.pieces[i];
    if (piece->kind == ASM_OPERAND) {
      const AsmRegister *r = &x->call.registers[piece->operand];
      ptx_put_operand(p, &x->registers[r->tied >= 0 ? (uint32_t)r->tied : piece->operand]);
    } else if (piece->kind == ASM_UID) {
      if (uid < 0) uid = ptx_label(p);
      ptx_put_int(p, uid);
    } else {
      ptx_puts(p, arena_strndup(p->arena, piece->text, piece->len));
    }
  }
  char last = last_character(x->call.text);
  ptx_puts(p, last == ';' || last == '}' ? "\n\t}\n" : "\n\t;\n\t}\n");
  for (const char *s = x->call.text; *s; s++) p->instructions += *s == ';';
}

static bool overwrites_operand(const NestStmt *s) {
  for (uint32_t i = 0; i < s->ndsts; i++)
    for (uint32_t k = 0; k < s->nsrcs; k++)
      if (s->dsts[i].var == s->srcs[k].var) return true;
  return false;
}

void ptx_inline_asm(Ptx *p, const NestStmt *s) {
  Inline x = {.s = s, .n = nest_int(s, NA_n, 1)};
  nest_asm_types(p->arena, s, &x.types);
  const char *text = nest_str(s, NA_asm, "");
  const char *error = asm_parse(p->arena, text, nest_str(s, NA_constraints, ""), &x.types, &x.call);
  BUG_IF(error, "inline assembly: %s", error);
  need_version(p, text);
  x.copies = (strstr(text, ".reg") && strchr(text, '%')) || overwrites_operand(s);
  x.registers = ARENA_ARRAY(p->arena, Operand, x.call.nregisters);
  for (uint32_t i = x.call.noutputs; i < x.call.nregisters; i++)
    x.registers[i] = input(p, &x, &x.call.registers[i]);
  for (uint32_t i = 0; i < x.call.noutputs; i++)
    x.registers[i] = output(p, &x, &x.call.registers[i]);
  for (uint32_t i = x.call.noutputs; i < x.call.nregisters; i++) {
    const AsmRegister *r = &x.call.registers[i];
    if (r->tied < 0) continue;
    RegClass c = letter_class(r->letter);
    convert(p, x.registers[r->tied], x.registers[i], c, c, false);
  }
  put_text(p, &x);
  for (uint32_t i = 0; i < x.call.noutputs; i++)
    take_output(p, &x, &x.call.registers[i], x.registers[i]);
}
