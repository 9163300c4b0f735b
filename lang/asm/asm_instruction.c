/* The instructions that are understood: rows of asm_table.h, and those that are code. */
#include <stdlib.h>
#include <string.h>

#include "lang/asm/asm_state.h"
#include "lang/asm/asm_table.h"
#include "lang/base/diag.h"
#include "lang/messages.h"

static const AsmRow rows[] = {
#define X(name, types, operands, flags, meaning) {name, types, operands, flags, meaning},
    ASM_INSTRUCTIONS(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ======== errors ======== */

static void fail_at(Ptx *p, const char *at, const char *what) {
  if (p->error) return;
  size_t offset = (size_t)(at - p->text), origin = 0;
  for (size_t i = 0; i < p->starts.len; i++)
    if (p->starts.data[i] <= offset) origin = p->origins.data[i] + offset - p->starts.data[i];
  p->error = arena_printf(p->arena, "%s (%s)", what, asm_place(p->arena, p->call->text, origin));
}

void asm_fail(Ptx *p, const char *at, const char *format, const char *s, size_t len) {
  if (p->error) return;
  char *quoted = arena_strndup(p->arena, s, len);
  for (char *c = quoted; *c; c++)
    if (*c == 1) *c = '$';
    else if (*c == 2) *c = ' ';
  Text t = text_new(p->arena);
  const char *hole = strstr(format, "%s");
  text_putn(&t, format, (size_t)(hole - format));
  text_puts(&t, quoted);
  text_puts(&t, hole + 2);
  fail_at(p, at, t.data);
}

/* ======== types ======== */

static const PtxType ptx_types[] = {
    {"pred", KIND_BITS, 1, 1, 0, 0},     {"b8", KIND_BITS, 8, 1, 0, 0},
    {"b16", KIND_BITS, 16, 1, 0, 0},     {"b32", KIND_BITS, 32, 1, 0, 0},
    {"b64", KIND_BITS, 64, 1, 0, 0},     {"u8", KIND_UNSIGNED, 8, 1, 0, 0},
    {"u16", KIND_UNSIGNED, 16, 1, 0, 0}, {"u32", KIND_UNSIGNED, 32, 1, 0, 0},
    {"u64", KIND_UNSIGNED, 64, 1, 0, 0}, {"s8", KIND_SIGNED, 8, 1, 0, 0},
    {"s16", KIND_SIGNED, 16, 1, 0, 0},   {"s32", KIND_SIGNED, 32, 1, 0, 0},
    {"s64", KIND_SIGNED, 64, 1, 0, 0},   {"u16x2", KIND_UNSIGNED, 16, 2, 0, 0},
    {"s16x2", KIND_SIGNED, 16, 2, 0, 0}, {"f16", KIND_FLOAT, 16, 1, 5, 10},
    {"bf16", KIND_FLOAT, 16, 1, 8, 7},   {"f32", KIND_FLOAT, 32, 1, 8, 23},
    {"f64", KIND_FLOAT, 64, 1, 11, 52},  {"f16x2", KIND_FLOAT, 16, 2, 5, 10},
    {"bf16x2", KIND_FLOAT, 16, 2, 8, 7}, {"f32x2", KIND_FLOAT, 32, 2, 8, 23},
    {"tf32", KIND_FLOAT, 32, 1, 8, 10},  {"e5m2x2", KIND_FLOAT, 8, 2, 5, 2},
    {"e4m3x2", KIND_FINITE, 8, 2, 4, 3}, {"e2m1x2", KIND_FINITE, 4, 2, 2, 1},
    {"ue8m0x2", KIND_BITS, 8, 2, 8, 0},
};

static bool same_word(const char *word, const char *s, size_t len) {
  return !strncmp(word, s, len) && !word[len];
}

const PtxType *asm_find_type(const char *s, size_t len) {
  for (size_t i = 0; i < sizeof ptx_types / sizeof *ptx_types; i++)
    if (same_word(ptx_types[i].name, s, len)) return &ptx_types[i];
  return NULL;
}

unsigned asm_type_bits(const PtxType *t) { return (unsigned)t->bits * t->lanes; }

/* Is it a word of the list? */
static bool lists(const char *list, const char *s, size_t len) {
  for (const char *at = list; *at;) {
    size_t n = strcspn(at, " ");
    if (n == len && !strncmp(at, s, len)) return true;
    at += n + (at[n] != 0);
  }
  return false;
}
/* ======== nodes ======== */

uint32_t asm_constant(Ptx *p, uint64_t bits) {
  AsmNode n = {.fn = ASM_FN_CONST, .bits = bits};
  vec_push(p->arena, &p->nodes, n);
  return (uint32_t)p->nodes.len - 1;
}

/* The function of nodes; of constants a constant. */
static uint32_t apply(Ptx *p, AsmFn fn, const uint32_t *args) {
  AsmNode n = {.fn = (uint8_t)fn};
  uint64_t x[ASM_MAX_ARGS] = {0};
  bool known = true;
  for (int i = 0; i < asm_fn_arity(fn); i++) {
    n.arg[i] = args[i];
    known &= p->nodes.data[args[i]].fn == ASM_FN_CONST;
    x[i] = p->nodes.data[args[i]].bits;
  }
  if (known) return asm_constant(p, asm_apply(fn, x));
  vec_push(p->arena, &p->nodes, n);
  return (uint32_t)p->nodes.len - 1;
}

static uint32_t call1(Ptx *p, AsmFn fn, uint32_t a) { return apply(p, fn, (uint32_t[]){a}); }
static uint32_t call2(Ptx *p, AsmFn fn, uint32_t a, uint64_t b) {
  return apply(p, fn, (uint32_t[]){a, asm_constant(p, b)});
}
static uint32_t call3(Ptx *p, AsmFn fn, uint32_t a, uint64_t b, uint64_t c) {
  return apply(p, fn, (uint32_t[]){a, asm_constant(p, b), asm_constant(p, c)});
}
static uint32_t call4(Ptx *p, AsmFn fn, uint32_t a, uint64_t b, uint64_t c, uint64_t d) {
  return apply(p, fn, (uint32_t[]){a, asm_constant(p, b), asm_constant(p, c), asm_constant(p, d)});
}
static uint32_t both(Ptx *p, AsmFn fn, uint32_t a, uint32_t b) {
  return apply(p, fn, (uint32_t[]){a, b});
}

/* ---- numbers of types ---- */

/* Bits of one lane as a number: an integer of 64 bits, or a double. */
static uint32_t number_of(Ptx *p, const PtxType *t, uint32_t bits) {
  if (t->kind == KIND_SIGNED) return call2(p, ASM_FN_sext, bits, t->bits);
  if (t->kind == KIND_FINITE) return call3(p, ASM_FN_unpack_finite, bits, t->exponent, t->mantissa);
  if (t->kind != KIND_FLOAT || t->bits == 64) return bits;
  if (t->bits == 32) return call1(p, ASM_FN_from_f32, bits);
  return call3(p, ASM_FN_unpack, bits, t->exponent, t->mantissa);
}

static uint32_t flushed(Ptx *p, const PtxType *t, uint32_t bits) {
  if (!p->flush || t->kind != KIND_FLOAT || t->bits > 32) return bits;
  uint64_t exponent = ((UINT64_C(1) << t->exponent) - 1) << t->mantissa;
  return call3(p, ASM_FN_flush, bits, exponent, UINT64_C(1) << (t->bits - 1));
}

/* The number in the type's bits, rounded to nearest even. */
static uint32_t bits_of(Ptx *p, const PtxType *t, uint32_t number) {
  if (t->kind != KIND_FLOAT) return call2(p, ASM_FN_low, number, t->bits);
  if (t->bits == 64) return number;
  if (t->bits == 32) return flushed(p, t, call1(p, ASM_FN_to_f32, number));
  return flushed(p, t, call4(p, ASM_FN_pack, number, t->exponent, t->mantissa, 0));
}

static uint32_t lane_of(Ptx *p, const PtxType *t, uint32_t bits, int lane) {
  if (t->lanes == 1) return bits;
  return call2(p, ASM_FN_low, call2(p, ASM_FN_shr, bits, (uint64_t)(lane * t->bits)), t->bits);
}

static uint32_t join_lanes(Ptx *p, const PtxType *t, uint32_t low, uint32_t high) {
  return both(p, ASM_FN_or, low, call2(p, ASM_FN_shl, high, t->bits));
}

/* ======== meanings ======== */

/* A row's operands in one lane. */
typedef struct {
  const PtxType *type;
  uint32_t raw[ASM_MAX_ARGS], value[ASM_MAX_ARGS];
  const char *s;
} Meaning;

static uint32_t meaning(Ptx *p, Meaning *m);

static uint32_t meaning_call(Ptx *p, Meaning *m, const char *name, size_t len) {
  AsmFn fn = asm_fn_find(name, len);
  uint32_t args[ASM_MAX_ARGS] = {0};
  int n = 0;
  BUG_IF(fn == ASM_FN_COUNT, "meaning of an instruction: %s", name);
  while (*m->s++ != ')') { /* past `(` or `,` */
    m->s += *m->s == ' ';
    args[n++] = meaning(p, m);
  }
  BUG_IF(n != asm_fn_arity(fn), "meaning of an instruction: %s", name);
  return apply(p, fn, args);
}

static uint32_t meaning(Ptx *p, Meaning *m) {
  const char *s = m->s;
  if (*s >= '0' && *s <= '9') return asm_constant(p, strtoull(s, (char **)&m->s, 0));
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  m->s += n;
  if (n > 1) return meaning_call(p, m, s, n);
  if (*s == 'W') return asm_constant(p, m->type->bits);
  bool raw = *s >= 'a' && *s <= 'd', value = *s >= 'A' && *s <= 'D';
  BUG_IF(!raw && !value, "meaning of an instruction: %s", s);
  return raw ? m->raw[*s - 'a'] : m->value[*s - 'A'];
}

/* ======== operands ======== */

static const char *operand_name(const Ptx *p, uint32_t reg, size_t *len) {
  const Register *r = &p->registers.data[reg];
  *len = r->len;
  return r->name;
}

/* The bits of an operand, `bits` wide; a register may be wider if `wider`. */
static uint32_t fetch_bits(Ptx *p, const Op *o, unsigned bits, const PtxType *t, bool wider) {
  if (o->kind == OP_REGISTER) {
    const Register *r = &p->registers.data[o->reg];
    bool fits = r->bits == bits || (wider && r->bits > bits && r->bits > 1);
    if (o->other || (o->negated && bits > 1)) {
      asm_fail(p, o->at, E_ASM_OPERAND_KIND, p->now->name, p->now->len);
      return asm_constant(p, 0);
    }
    if (!fits) {
      size_t len;
      const char *name = operand_name(p, o->reg, &len);
      asm_fail(p, o->at,
               arena_printf(p->arena, E_ASM_OPERAND_WIDTH, "%s", r->bits, (int)p->now->len,
                            p->now->name, bits),
               name, len);
      return asm_constant(p, 0);
    }
    uint32_t v = r->node;
    if (r->bits > bits) v = call2(p, ASM_FN_low, v, bits);
    return o->negated ? both(p, ASM_FN_xor, v, asm_constant(p, 1)) : v;
  }
  if (o->kind == OP_INTEGER && (!t || t->kind != KIND_FLOAT))
    return call2(p, ASM_FN_low, asm_constant(p, o->bits), bits);
  if (o->kind == OP_BITS && (!t || bits == 32 || bits == 64)) {
    bool wide = o->number != 0; /* written by 16 digits */
    if (wide == (bits == 64)) return asm_constant(p, o->bits);
    if (bits == 64) return call1(p, ASM_FN_from_f32, asm_constant(p, o->bits));
  }
  if (o->kind == OP_DECIMAL && t && t->kind == KIND_FLOAT && t->bits >= 32 && t->lanes == 1) {
    uint64_t u;
    memcpy(&u, &o->number, sizeof u);
    bool flush = p->flush;
    p->flush = false;
    uint32_t v = bits_of(p, t, asm_constant(p, u));
    p->flush = flush;
    return v;
  }
  asm_fail(p, o->at, E_ASM_OPERAND_KIND, p->now->name, p->now->len);
  return asm_constant(p, 0);
}

static uint32_t fetch(Ptx *p, const Op *o, const PtxType *t, bool wider) {
  return fetch_bits(p, o, asm_type_bits(t), t, wider);
}

/* Writes a register, under the instruction's guard. */
static void write_register(Ptx *p, uint32_t reg, const char *at, uint32_t node, unsigned bits,
                           bool wider) {
  Register *r = &p->registers.data[reg];
  if (r->bits != bits && !(wider && r->bits > bits && r->bits > 1)) {
    asm_fail(p, at,
             arena_printf(p->arena, E_ASM_OPERAND_WIDTH, "%s", r->bits, (int)p->now->len,
                          p->now->name, bits),
             r->name, r->len);
    return;
  }
  if (p->now->guarded) {
    uint32_t go = fetch_bits(p, &p->now->guard, 1, NULL, false);
    node = apply(p, ASM_FN_sel, (uint32_t[]){go, node, p->registers.data[reg].node});
  }
  p->registers.data[reg].node = node;
}

static void write_op(Ptx *p, const Op *o, uint32_t node, unsigned bits, bool wider) {
  if (o->kind == OP_SINK) return;
  if (o->kind != OP_REGISTER || o->negated) {
    asm_fail(p, o->at, E_ASM_RESULT, p->now->name, p->now->len);
    return;
  }
  write_register(p, o->reg, o->at, node, bits, wider);
}

/* ======== instructions of the table ======== */

static bool has_flag(const Instruction *in, const char *flag) {
  for (uint32_t i = 1; i < in->nparts; i++)
    if (same_word(flag, in->parts[i].s, in->parts[i].len)) return true;
  return false;
}

/* Denormals are flushed, and results saturated, in f16 and f32; of bf16 ex2 alone flushes. */
static bool suits_type(const AsmRow *row, const Part *x, const PtxType *t) {
  bool plain = !strncmp(t->name, "f16", 3) || !strncmp(t->name, "f32", 3);
  bool exponential = !strncmp(row->name, "ex2", 3);
  if (same_word("ftz", x->s, x->len) && exponential) return strncmp(t->name, "f16", 3) != 0;
  bool saturates = same_word("sat", x->s, x->len);
  if (saturates && !strcmp(t->name, "f32x2")) return false;
  return plain || (!same_word("ftz", x->s, x->len) && !saturates);
}

static bool is_flag_of(const AsmRow *row, const Part *x, const PtxType *t) {
  if (lists(row->flags, x->s, x->len)) return suits_type(row, x, t);
  bool combines = lists("and or xor", x->s, x->len);
  return combines && !strncmp(row->name, "setp.", 5);
}

/* Are the row's words the instruction's, in order, and all others flags? */
static bool row_matches(const AsmRow *row, const Instruction *in, const PtxType *t) {
  if (!lists(row->types, t->name, strlen(t->name))) return false;
  const char *want = row->name;
  const PtxType *const *types = in->types;
  uint32_t ntypes = in->ntypes;
  for (uint32_t i = 0; i < in->nparts; i++) {
    size_t n = strcspn(want, ".");
    if (n && n == in->parts[i].len && !strncmp(want, in->parts[i].s, n)) want += n + (want[n] != 0);
    else if (!i || !is_flag_of(row, &in->parts[i], t)) return false;
  }
  if (*want && ntypes == 2 && !strcmp(want, types[0]->name)) return true; /* dp4a.u32 */
  return !*want && ntypes == 1;
}

static const AsmRow *find_row(const Instruction *in) {
  if (!in->ntypes) return NULL;
  for (size_t i = 0; i < ROWS; i++)
    if (row_matches(&rows[i], in, in->types[in->ntypes - 1])) return &rows[i];
  return NULL;
}

static unsigned operand_bits(char letter, const PtxType *t) {
  return letter == 'p' ? 1 : letter == 'u' ? 32 : letter == 'w' ? 2u * t->bits : asm_type_bits(t);
}

/* Evaluates one lane of the row's result. */
static uint32_t row_lane(Ptx *p, const AsmRow *row, const Instruction *in, const PtxType *t,
                         const uint32_t *raw, int lane) {
  Meaning m = {.type = t, .s = row->meaning};
  for (uint32_t i = 1; row->operands[i]; i++) {
    bool typed = row->operands[i] == 't';
    uint32_t x = typed ? flushed(p, t, lane_of(p, t, raw[i - 1], lane)) : raw[i - 1];
    m.raw[i - 1] = x;
    m.value[i - 1] = typed ? number_of(p, t, x) : x;
  }
  uint32_t r = meaning(p, &m);
  switch (row->operands[0]) {
    case 'p': return call2(p, ASM_FN_low, r, 1);
    case 'u': return call2(p, ASM_FN_low, r, 32);
    case 'w': return call2(p, ASM_FN_low, r, 2u * t->bits);
    case 'T': return call2(p, ASM_FN_low, r, t->bits);
    default: break;
  }
  if (has_flag(in, "sat") && t->kind == KIND_FLOAT) r = call1(p, ASM_FN_saturate, r);
  if (has_flag(in, "relu")) r = call1(p, ASM_FN_relu, r);
  return bits_of(p, t, r);
}

static uint32_t row_result(Ptx *p, const AsmRow *row, const Instruction *in, const PtxType *t,
                           const uint32_t *raw) {
  uint32_t low = row_lane(p, row, in, t, raw, 0);
  return t->lanes == 1 ? low : join_lanes(p, t, low, row_lane(p, row, in, t, raw, 1));
}

/* A comparison's result, combined with one more predicate. */
static uint32_t combine_predicate(Ptx *p, const Instruction *in, uint32_t x, uint32_t at) {
  if (in->nops <= at) return x;
  uint32_t y = fetch_bits(p, &in->ops[at], 1, NULL, false);
  AsmFn fn = has_flag(in, "and") ? ASM_FN_and : has_flag(in, "or") ? ASM_FN_or : ASM_FN_xor;
  return both(p, fn, x, y);
}

static void write_comparison(Ptx *p, const Instruction *in, uint32_t r, uint32_t at) {
  const Op *d = &in->ops[0];
  uint32_t q = combine_predicate(p, in, both(p, ASM_FN_xor, r, asm_constant(p, 1)), at);
  r = combine_predicate(p, in, r, at);
  Op first = *d;
  first.other = 0;
  write_op(p, &first, r, 1, false);
  if (d->other) write_register(p, d->other - 1, d->at, q, 1, false);
}

static void run_row(Ptx *p, const AsmRow *row, const Instruction *in) {
  const PtxType *t = in->types[in->ntypes - 1];
  uint32_t raw[ASM_MAX_ARGS] = {0}, n = (uint32_t)strlen(row->operands);
  bool compares = !strncmp(row->name, "setp.", 5);
  bool combines = compares && (has_flag(in, "and") || has_flag(in, "or") || has_flag(in, "xor"));
  if (in->nops != n + combines) {
    asm_fail(p, in->name, E_ASM_OPERANDS, in->name, in->len);
    return;
  }
  for (uint32_t i = 1; i < n; i++) {
    const PtxType *as = row->operands[i] == 't' ? t : NULL;
    raw[i - 1] = fetch_bits(p, &in->ops[i], operand_bits(row->operands[i], t), as, false);
  }
  uint32_t r = row_result(p, row, in, t, raw);
  if (compares) write_comparison(p, in, r, n);
  else write_op(p, &in->ops[0], r, operand_bits(row->operands[0], t), false);
}

/* ======== instructions that are code ======== */

void asm_fail_unknown(Ptx *p, const Instruction *in) {
  p->gpu_only = true;
  asm_fail(p, in->name, E_ASM_UNKNOWN, in->name, in->len);
}

/* ---- set ---- */

/* set.lt.u32.f32: setp.lt.f32, as all ones or as 1.0. */
static void run_set(Ptx *p, const Instruction *in) {
  Instruction compare = *in;
  const char *to = in->ntypes == 2 ? in->types[0]->name : "";
  compare.parts[0] = (Part){"setp", 4};
  compare.types[0] = in->ntypes == 2 ? in->types[1] : NULL;
  compare.ntypes = 1;
  const AsmRow *row = compare.types[0] ? find_row(&compare) : NULL;
  bool is_float = !strcmp(to, "f32");
  if (!row || in->nops != 3 || (!is_float && strcmp(to, "u32") && strcmp(to, "s32"))) {
    asm_fail_unknown(p, in);
    return;
  }
  uint32_t raw[ASM_MAX_ARGS] = {0};
  for (uint32_t i = 1; i < 3; i++) raw[i - 1] = fetch(p, &in->ops[i], compare.types[0], false);
  uint32_t r = row_result(p, row, &compare, compare.types[0], raw);
  uint32_t yes = asm_constant(p, is_float ? 0x3f800000 : 0xffffffff);
  write_op(p, &in->ops[0], apply(p, ASM_FN_sel, (uint32_t[]){r, yes, asm_constant(p, 0)}), 32,
           false);
}

/* ---- mov ---- */

/* {a, b, ...} := d, the first in the low bits. */
static void move_apart(Ptx *p, const Op *vector, uint32_t from, unsigned bits) {
  unsigned each = bits / vector->nitems;
  for (uint32_t i = 0; i < vector->nitems; i++) {
    uint32_t x = call2(p, ASM_FN_low, call2(p, ASM_FN_shr, from, i * each), each);
    write_op(p, &vector->items[i], x, each, false);
  }
}

static uint32_t move_together(Ptx *p, const Op *vector, unsigned bits) {
  unsigned each = bits / vector->nitems;
  uint32_t r = asm_constant(p, 0);
  for (uint32_t i = 0; i < vector->nitems; i++) {
    uint32_t x = fetch_bits(p, &vector->items[i], each, NULL, false);
    r = both(p, ASM_FN_or, r, call2(p, ASM_FN_shl, x, i * each));
  }
  return r;
}

static bool splits(const Op *o, unsigned bits) {
  return o->kind != OP_VECTOR || (bits % o->nitems == 0 && bits / o->nitems >= 8);
}

static void run_mov(Ptx *p, const Instruction *in) {
  const PtxType *t = in->ntypes == 1 ? in->types[0] : NULL;
  if (!t || in->nparts != 1 || t->lanes != 1 || t->bits == 8) {
    asm_fail_unknown(p, in);
    return;
  }
  if (in->nops != 2 || !splits(&in->ops[0], t->bits) || !splits(&in->ops[1], t->bits)) {
    asm_fail(p, in->name, E_ASM_OPERANDS, in->name, in->len);
    return;
  }
  const Op *d = &in->ops[0], *a = &in->ops[1];
  uint32_t x = a->kind == OP_VECTOR ? move_together(p, a, t->bits) : fetch(p, a, t, false);
  if (d->kind == OP_VECTOR) move_apart(p, d, x, t->bits);
  else write_op(p, d, x, t->bits, false);
}

/* ---- cvt ---- */

enum { NEAREST, TO_ZERO, DOWN, UP, AWAY, NO_ROUNDING };

typedef struct {
  int rounding; /* of floats; NO_ROUNDING: not said */
  int integral; /* of .rni and the like */
  bool sat, relu, satfinite;
} Conversion;

static bool read_conversion(const Instruction *in, Conversion *c) {
  static const char *const roundings[] = {"rn", "rz", "rm", "rp", "rna"};
  static const char *const integrals[] = {"rni", "rzi", "rmi", "rpi"};
  *c = (Conversion){NO_ROUNDING, NO_ROUNDING, has_flag(in, "sat"), has_flag(in, "relu"),
                    has_flag(in, "satfinite")};
  uint32_t known = (uint32_t)c->sat + c->relu + c->satfinite + has_flag(in, "ftz");
  for (int i = 0; i < 5; i++)
    if (has_flag(in, roundings[i])) c->rounding = i, known++;
  for (int i = 0; i < 4; i++)
    if (has_flag(in, integrals[i])) c->integral = i, known++;
  return known + 1 == in->nparts;
}

static bool is_integer(const PtxType *t) {
  return t->kind == KIND_SIGNED || t->kind == KIND_UNSIGNED;
}

/* The largest finite number. */
static uint64_t largest(const PtxType *t) {
  uint64_t all = (UINT64_C(1) << (t->exponent + t->mantissa)) - 1;
  if (t->kind == KIND_FINITE) return t->bits == 8 ? all - 1 : all;
  return all - (UINT64_C(1) << t->mantissa);
}

/* A double as a lane of a float type. */
static uint32_t narrow(Ptx *p, const PtxType *t, const Conversion *c, uint32_t x) {
  int mode = c->rounding == NO_ROUNDING ? NEAREST : c->rounding;
  if (c->relu) x = call1(p, ASM_FN_relu, x);
  if (c->sat) x = call1(p, ASM_FN_saturate, x);
  if (t->kind == KIND_FINITE || (t->bits == 8 && c->satfinite))
    return call4(p, ASM_FN_pack_finite, x, t->exponent, t->mantissa, largest(t));
  if (t->bits == 64) return x;
  if (t->bits == 32 && t->mantissa == 23 && mode == NEAREST) return bits_of(p, t, x);
  uint32_t r = call4(p, ASM_FN_pack, x, t->exponent, t->mantissa, (uint64_t)mode);
  if (c->satfinite) {
    uint64_t infinity = largest(t) + 1, sign = UINT64_C(1) << (t->exponent + t->mantissa);
    uint32_t size = call2(p, ASM_FN_and, r, sign - 1);
    uint32_t over = both(p, ASM_FN_eq, size, asm_constant(p, infinity));
    r = apply(p, ASM_FN_sel, (uint32_t[]){over, call2(p, ASM_FN_sub, r, 1), r});
  }
  if (t->mantissa != 10 || t->bits != 32) return flushed(p, t, r);
  /* tf32 */
  uint32_t wide = call2(p, ASM_FN_shl, r, 13);
  uint32_t nan = call1(p, ASM_FN_isnan, x);
  return apply(p, ASM_FN_sel, (uint32_t[]){nan, asm_constant(p, 0x7fffffff), wide});
}

/* To integers: with the rounding, within the range. */
static uint32_t float_to_integer(Ptx *p, const PtxType *to, const PtxType *from,
                                 const Conversion *c, uint32_t x) {
  bool is_signed = to->kind == KIND_SIGNED;
  bool zero = from->bits != 64 && to->bits != 64;
  x = call2(p, ASM_FN_integral, x, (uint64_t)c->integral);
  uint32_t r =
      call4(p, ASM_FN_to_int, x, to->bits, is_signed, zero ? 0 : UINT64_C(1) << (to->bits - 1));
  return call2(p, ASM_FN_low, r, to->bits);
}

static uint32_t integer_to_integer(Ptx *p, const PtxType *to, const PtxType *from,
                                   const Conversion *c, uint32_t x) {
  if (!c->sat) return call2(p, ASM_FN_low, x, to->bits);
  bool is_signed = to->kind == KIND_SIGNED;
  uint64_t most = (UINT64_C(1) << (is_signed ? to->bits - 1 : to->bits == 64 ? 63 : to->bits)) - 1;
  if (to->bits == 64 && !is_signed) most = UINT64_MAX;
  if (from->kind == KIND_UNSIGNED) return call2(p, ASM_FN_min_u, x, most);
  if (to->bits == 64) return is_signed ? x : call2(p, ASM_FN_max_s, x, 0);
  return call2(p, ASM_FN_low, call3(p, ASM_FN_clamp, x, to->bits, is_signed), to->bits);
}

static uint32_t integer_to_float(Ptx *p, const PtxType *to, const PtxType *from,
                                 const Conversion *c, uint32_t x) {
  bool is_signed = from->kind == KIND_SIGNED, wide = from->bits == 64 && to->bits < 64;
  AsmFn fn = is_signed ? wide ? ASM_FN_s64_to_f32 : ASM_FN_from_s
             : wide    ? ASM_FN_u64_to_f32
                       : ASM_FN_from_u;
  return narrow(p, to, c, call1(p, fn, x));
}

/* Conversions of one number; false if it is none. */
static bool convert_number(Ptx *p, const Instruction *in, const Conversion *c) {
  const PtxType *to = in->types[0], *from = in->types[1];
  bool tf32 = !strcmp(to->name, "tf32"), to_float = to->kind == KIND_FLOAT;
  if (in->nops != 2 || to->lanes != 1 || from->lanes != 1 || !strcmp(from->name, "tf32"))
    return false;
  bool from_float = from->kind == KIND_FLOAT;
  if ((!to_float && !is_integer(to)) || (!from_float && !is_integer(from))) return false;
  if ((c->relu || c->satfinite) && !(to_float && from_float)) return false;
  bool rounds = to_float && (!from_float || to->mantissa < from->mantissa);
  bool same = to == from;
  if (from_float && !to_float && (c->integral == NO_ROUNDING || c->rounding != NO_ROUNDING))
    return false;
  if (to_float && !rounds && c->rounding != NO_ROUNDING) return false;
  if (to_float && c->integral != NO_ROUNDING && !same) return false;
  if (rounds && c->rounding == NO_ROUNDING) return false;
  if (!from_float && to_float && c->rounding != NEAREST) return false;
  if (!from_float && from->bits == 64 && to_float && to->bits < 32) return false;
  if (c->rounding == AWAY && !tf32) return false;
  if (!to_float && !from_float && (c->rounding != NO_ROUNDING || c->integral != NO_ROUNDING))
    return false;
  uint32_t x = number_of(p, from, flushed(p, from, fetch(p, &in->ops[1], from, true))), r;
  if (same && c->integral != NO_ROUNDING) x = call2(p, ASM_FN_integral, x, (uint64_t)c->integral);
  if (to_float) r = from_float ? narrow(p, to, c, x) : integer_to_float(p, to, from, c, x);
  else r = from_float ? float_to_integer(p, to, from, c, x) : integer_to_integer(p, to, from, c, x);
  if (is_integer(to) && in->ops[0].kind == OP_REGISTER) { /* extended to a wider register */
    unsigned have = p->registers.data[in->ops[0].reg].bits;
    if (have > to->bits && to->kind == KIND_SIGNED)
      r = call2(p, ASM_FN_low, call2(p, ASM_FN_sext, r, to->bits), have);
    write_op(p, &in->ops[0], r, have < to->bits ? to->bits : have, false);
    return true;
  }
  write_op(p, &in->ops[0], r, to->bits, to->bits < 32 || tf32);
  return true;
}

/* Two f32 as one register: the first operand in the high half. */
static bool convert_pair(Ptx *p, const Instruction *in, const Conversion *c) {
  const PtxType *to = in->types[0], *from = in->types[1];
  bool scale = !strcmp(to->name, "ue8m0x2"), half = to->bits == 16;
  if (in->nops != 3 || to->lanes != 2 || strcmp(from->name, "f32") || is_integer(to)) return false;
  if (scale ? c->rounding != TO_ZERO && c->rounding != UP
            : c->rounding != NEAREST && !(half && c->rounding == TO_ZERO))
    return false;
  if (!half && !scale && !c->satfinite) return false;
  uint32_t lanes[2];
  for (int i = 0; i < 2; i++) {
    uint32_t x = number_of(p, from, flushed(p, from, fetch(p, &in->ops[2 - i], from, false)));
    lanes[i] = scale ? call2(p, ASM_FN_to_ue8, x, c->rounding == UP) : narrow(p, to, c, x);
  }
  write_op(p, &in->ops[0], join_lanes(p, to, lanes[0], lanes[1]), asm_type_bits(to), false);
  return true;
}

/* Two numbers of one register, to a wider or narrower one. */
static bool convert_packed(Ptx *p, const Instruction *in, const Conversion *c) {
  const PtxType *to = in->types[0], *from = in->types[1];
  bool scale = !strcmp(from->name, "ue8m0x2");
  bool widens = to->bits == 16 && from->bits <= 8 && !is_integer(to);
  bool narrows =
      to->bits == 8 && !strcmp(from->name, "f16x2") && c->satfinite && strcmp(to->name, "ue8m0x2");
  bool known = widens ? !strcmp(to->name, scale ? "bf16x2" : "f16x2") : narrows;
  if (in->nops != 2 || to->lanes != 2 || from->lanes != 2 || !known || c->rounding != NEAREST)
    return false;
  uint32_t bits = fetch(p, &in->ops[1], from, false), lanes[2];
  for (int i = 0; i < 2; i++) {
    uint32_t x = lane_of(p, from, bits, i);
    x = scale ? call1(p, ASM_FN_from_ue8, x) : number_of(p, from, x);
    lanes[i] = narrow(p, to, c, x);
  }
  write_op(p, &in->ops[0], join_lanes(p, to, lanes[0], lanes[1]), asm_type_bits(to), false);
  return true;
}

static void run_cvt(Ptx *p, const Instruction *in) {
  Conversion c;
  bool good = in->ntypes == 2 && read_conversion(in, &c);
  good =
      good && (convert_number(p, in, &c) || convert_pair(p, in, &c) || convert_packed(p, in, &c));
  if (!good) asm_fail_unknown(p, in);
}
/* ======== all instructions ======== */

static bool is_opcode(const Instruction *in, const char *name) {
  return same_word(name, in->parts[0].s, in->parts[0].len);
}

bool asm_is_known(const Instruction *in) {
  return lists(ASM_CODED, in->parts[0].s, in->parts[0].len) || find_row(in);
}
void asm_run(Ptx *p, const Instruction *in) {
  p->flush = has_flag(in, "ftz");
  if (is_opcode(in, "mov")) run_mov(p, in);
  else if (is_opcode(in, "cvt")) run_cvt(p, in);
  else if (is_opcode(in, "set")) run_set(p, in);
  else run_row(p, find_row(in), in);
}

const char *asm_known_opcodes(Arena *a) {
  Text t = text_new(a);
  const char *last = "";
  for (size_t i = 0; i < ROWS; i++) {
    size_t n = strcspn(rows[i].name, ".");
    if (n == strcspn(last, ".") && !strncmp(last, rows[i].name, n)) continue;
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again |= strcspn(rows[k].name, ".") == n && !strncmp(rows[k].name, rows[i].name, n);
    last = rows[i].name;
    if (!again) text_printf(&t, "%.*s ", (int)n, rows[i].name);
  }
  text_puts(&t, ASM_CODED);
  return t.data;
}
