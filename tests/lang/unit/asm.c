/* Inline assembly: what instructions compute, against numbers from the PTX manual's definitions;
 * every row of the table on every type; and texts that are broken at random. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/asm/asm_program.h"
#include "lang/asm/asm_table.h"
#include "lang/base/diag.h"
#include "tests/support/tally.h"

static void verdict(bool ok, const char *what, const char *why) {
  if (ok) passed++;
  else if (failed++ < 50) printf("FAIL %s: %s\n", what, why);
}

static DType type_of(char letter) {
  switch (letter) {
    case 'b': return DT_I1;
    case 'h': return DT_U16;
    case 'l': return DT_U64;
    case 'f': return DT_F32;
    case 'd': return DT_F64;
    default: return DT_U32;
  }
}

/* The letters: results, then arguments. */
static const char *prepare(Arena *a, const char *text, const char *letters, AsmCall *call,
                           AsmProgram *program) {
  Text constraints = text_new(a);
  DType *types = ARENA_ARRAY(a, DType, strlen(letters));
  uint32_t n = 0, results = 0;
  for (const char *s = letters; *s; s++) {
    if (*s == '=') {
      results = n;
      continue;
    }
    types[n++] = type_of(*s);
    text_printf(&constraints, "%s%s%c", n > 1 ? "," : "", strchr(s, '=') ? "=" : "", *s);
  }
  AsmTypes t = {types, types + results, results, n - results, 1};
  const char *error = asm_parse(a, text, constraints.data, &t, call);
  return error ? error : asm_read_program(a, call, program);
}

static void evaluate(Arena *a, const AsmCall *call, const AsmProgram *program, const uint64_t *in,
                     uint64_t *out) {
  uint64_t *values = ARENA_ARRAY(a, uint64_t, program->nnodes);
  uint64_t *registers = ARENA_ARRAY(a, uint64_t, call->nregisters);
  for (uint32_t i = call->noutputs; i < call->nregisters; i++)
    registers[i] = in[i - call->noutputs];
  asm_evaluate(program, registers, values, out);
}

/* ======== values ======== */

static const struct {
  const char *text, *letters; /* "r=rr": a result, two arguments */
  uint64_t in[4], out;
} expected[] = {
    {"add.sat.s32 $0, $1, $2;", "r=rr", {0x7fffffff, 5}, 0x7fffffff},
    {"sub.sat.s32 $0, $1, $2;", "r=rr", {0x80000000, 5}, 0x80000000},
    {"mul.hi.u32 $0, $1, $2;", "r=rr", {0xffffffff, 0xffffffff}, 0xfffffffe},
    {"mul.hi.s64 $0, $1, $2;", "l=ll", {UINT64_MAX, 5}, UINT64_MAX},
    {"mul.wide.s32 $0, $1, $2;", "l=rr", {0xffffffff, 7}, (uint64_t)-7},
    {"mad.wide.u32 $0, $1, $2, $3;", "l=rrl", {0xffffffff, 2, 5}, 0x200000003},
    {"mul24.hi.u32 $0, $1, $2;", "r=rr", {0xffffff, 0xffffff}, 0xfffffe00},
    {"div.s32 $0, $1, $2;", "r=rr", {(uint32_t)-7, 2}, (uint32_t)-3},
    {"rem.s32 $0, $1, $2;", "r=rr", {(uint32_t)-7, 2}, (uint32_t)-1},
    {"div.s64 $0, $1, $2;", "l=ll", {1ull << 63, UINT64_MAX}, 1ull << 63},
    {"min.s32 $0, $1, $2;", "r=rr", {(uint32_t)-7, 2}, (uint32_t)-7},
    {"min.u32 $0, $1, $2;", "r=rr", {(uint32_t)-7, 2}, 2},
    {"max.s16x2 $0, $1, $2;", "r=rr", {0x8000ffff, 0x00010000}, 0x00010000},
    {"add.u16x2 $0, $1, $2;", "r=rr", {0xffffffff, 0x00010001}, 0},
    {"shl.b32 $0, $1, $2;", "r=rr", {5, 32}, 0},
    {"shr.s32 $0, $1, $2;", "r=rr", {0x80000000, 77}, 0xffffffff},
    {"shr.u16 $0, $1, 3;", "h=h", {0xff00}, 0x1fe0},
    {"shf.l.wrap.b32 $0, $1, $2, 36;", "r=rr", {0x12345678, 0xabcdef01}, 0xbcdef011},
    {"shf.l.clamp.b32 $0, $1, $2, 36;", "r=rr", {0x12345678, 0xabcdef01}, 0x12345678},
    {"shf.r.clamp.b32 $0, $1, $2, 36;", "r=rr", {0x12345678, 0xabcdef01}, 0xabcdef01},
    {"bfe.s32 $0, $1, 28, 8;", "r=r", {0x90000000}, 0xfffffff9},
    {"bfe.u32 $0, $1, 40, 8;", "r=r", {0xffffffff}, 0},
    {"bfe.s32 $0, $1, 0, 0;", "r=r", {0xffffffff}, 0},
    {"bfi.b32 $0, $1, $2, 28, 8;", "r=rr", {0x12, 0xffffffff}, 0x2fffffff},
    {"bfind.u32 $0, $1;", "r=r", {0}, 0xffffffff},
    {"clz.b64 $0, $1;", "r=l", {1}, 63},
    {"popc.b64 $0, $1;", "r=l", {UINT64_MAX}, 64},
    {"prmt.b32 $0, $1, $2, 0xba98;", "r=rr", {0x80007f00, 0}, 0xff000000},
    {"lop3.b32 $0, $1, $2, $3, 0xe8;", "r=rrr", {12, 10, 6}, 14},
    {"dp4a.s32.s32 $0, $1, $2, 1;", "r=rr", {0xff02ff01, 0x01020304}, 4 - 3 + 4 - 1 + 1},
    {"add.f32 $0, $1, $2;", "f=ff", {0x3f800000, 0x33800000}, 0x3f800000},
    {"add.ftz.f32 $0, $1, $2;", "f=ff", {1, 0x80000001}, 0},
    {"add.sat.f32 $0, $1, $2;", "f=ff", {0x3f800000, 0x40a00000}, 0x3f800000},
    {"sub.f32 $0, $1, $2;", "f=ff", {0x7f800000, 0x7f800000}, 0x7fffffff},
    {"fma.rn.f32 $0, $1, $1, $2;", "f=ff", {0x3f800800, 0xbf800000}, 0x3a000400},
    {"fma.rn.relu.f16x2 $0, $1, $2, $3;",
     "r=rrr",
     {0x3c00bc00, 0x40004000, 0x3c003c00},
     0x42000000},
    {"add.f16 $0, $1, $2;", "h=hh", {0x7bff, 0x7bff}, 0x7c00},
    {"mul.bf16x2 $0, $1, $2;", "r=rr", {0x3f8040c0, 0x40004000}, 0x40004140},
    {"min.f32 $0, $1, $2;", "f=ff", {0x7fc00000, 0x40000000}, 0x40000000},
    {"min.NaN.f32 $0, $1, $2;", "f=ff", {0x7fc00000, 0x40000000}, 0x7fffffff},
    {"max.f32 $0, $1, $2;", "f=ff", {0x80000000, 0}, 0},
    {"abs.f16x2 $0, $1;", "r=r", {0xbc008000}, 0x3c000000},
    {"neg.bf16 $0, $1;", "h=h", {0x3f80}, 0xbf80},
    {"copysign.f32 $0, $1, $2;", "f=ff", {0xbf800000, 0x40400000}, 0xc0400000},
    {"rcp.rn.f32 $0, $1;", "f=f", {0x40400000}, 0x3eaaaaab},
    {"sqrt.rn.f64 $0, $1;", "d=d", {0x4000000000000000}, 0x3ff6a09e667f3bcd},
    {"ex2.approx.f16 $0, $1;", "h=h", {0x4000}, 0x4400},
    {"lg2.approx.f32 $0, $1;", "f=f", {0x41000000}, 0x40400000},
    {"rsqrt.approx.f32 $0, $1;", "f=f", {0x41800000}, 0x3e800000},
    {"tanh.approx.f32 $0, $1;", "f=f", {0x42c80000}, 0x3f800000},
    {"cvt.rn.f16x2.f32 $0, $1, $2;", "r=ff", {0x3f800000, 0x40000000}, 0x3c004000},
    {"cvt.rn.bf16x2.f32 $0, $1, $2;", "r=ff", {0x3f808000, 0x3f818000}, 0x3f803f82},
    {"cvt.rz.bf16x2.f32 $0, $1, $2;", "r=ff", {0x3f808000, 0x3f818000}, 0x3f803f81},
    {"cvt.rn.relu.bf16x2.f32 $0, $1, $2;", "r=ff", {0xbf800000, 0x40000000}, 0x4000},
    {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h=ff", {0xce6e6b28, 0x3d800000}, 0xfe18},
    {"cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;", "h=ff", {0x7fc00000, 0x4788b800}, 0x7f7b},
    {"cvt.rn.f16x2.e4m3x2 $0, $1;", "r=h", {0x7f38}, 0x7fff3c00},
    {"cvt.rn.f16x2.e5m2x2 $0, $1;", "r=h", {0xfc3c}, 0xfc003c00},
    {"cvt.rn.satfinite.e4m3x2.f16x2 $0, $1;", "h=r", {0x7c003c00}, 0x7e38},
    {"{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, $1, $2; cvt.u32.u8 $0, t; }",
     "r=ff",
     {0xc0200000, 0x42c60000},
     0xc7},
    {"cvt.rn.bf16x2.ue8m0x2 $0, $1;", "r=h", {0x807f}, 0x40003f80},
    {"cvt.rp.satfinite.ue8m0x2.f32 $0, $1, $2;", "h=ff", {0x40400000, 0x3f800000}, 0x817f},
    {"cvt.rna.tf32.f32 $0, $1;", "r=f", {0x3f801000}, 0x3f802000},
    {"cvt.rzi.s32.f32 $0, $1;", "r=f", {0xbfe00000}, (uint32_t)-1},
    {"cvt.rni.s32.f32 $0, $1;", "r=f", {0x40200000}, 2},
    {"cvt.rpi.u8.f32 $0, $1;", "r=f", {0x43964000}, 255},
    {"cvt.rzi.s32.f32 $0, $1;", "r=f", {0x7fc00000}, 0},
    {"cvt.rzi.s64.f64 $0, $1;", "l=d", {0x7e37e43c8800759c}, INT64_MAX},
    {"cvt.rn.f32.s32 $0, $1;", "f=r", {16777217}, 0x4b800000},
    {"cvt.rn.f32.u64 $0, $1;", "f=l", {UINT64_MAX}, 0x5f800000},
    {"cvt.f64.f32 $0, $1;", "d=f", {0x3dcccccd}, 0x3fb99999a0000000},
    {"cvt.rn.f16.f32 $0, $1;", "h=f", {0x477ff000}, 0x7c00},
    {"cvt.rz.f16.f32 $0, $1;", "h=f", {0x477ff000}, 0x7bff},
    {"cvt.rmi.f32.f32 $0, $1;", "f=f", {0xbf000000}, 0xbf800000},
    {"cvt.s32.s8 $0, $1;", "r=r", {0x1ff}, (uint32_t)-1},
    {"cvt.sat.s8.s32 $0, $1;", "r=r", {(uint32_t)-300}, (uint32_t)-128},
    {"cvt.sat.u8.s32 $0, $1;", "r=r", {(uint32_t)-300}, 0},
    {"mov.b32 {_, $0}, $1;", "h=r", {0x12345678}, 0x1234},
    {"mov.b64 $0, {$1, $2};", "l=rr", {1, 2}, 0x200000001},
    {"{ .reg .b8 x, y; mov.b16 {x, y}, $1; mov.b32 $0, {y, x, x, y}; }",
     "r=h",
     {0x1234},
     0x12343412},
    {"mov.f32 $0, 1.5;", "f=r", {0}, 0x3fc00000},
    {"mov.b32 $0, -2;", "r=r", {0}, (uint32_t)-2},
    {"mov.u32 $0, 0b101U;", "r=r", {0}, 5},
    {"mov.u32 $0, 017;", "r=r", {0}, 15},
    {"set.lt.u32.f32 $0, $1, $2;", "r=ff", {0x3f800000, 0x40000000}, 0xffffffff},
    {"set.gt.f32.s32 $0, $1, $2;", "f=rr", {1, (uint32_t)-2}, 0x3f800000},
    {"setp.ltu.f32 $0, $1, $2;", "b=ff", {0x7fc00000, 0x40000000}, 1},
    {"setp.ne.f32 $0, $1, $2;", "b=ff", {0x7fc00000, 0x40000000}, 0},
    {"setp.lt.and.u32 $0, $1, $2, $3;", "b=rrb", {1, 2, 0}, 0},
    {"{ .reg .pred p, q; setp.eq.s32 p|q, $1, 3; selp.u32 $0, 5, 6, q; }", "r=r", {3}, 6},
    {"{ .reg .pred p; setp.lo.u32 p, $1, 3; mov.u32 $0, 7; @!p mov.u32 $0, 8; }", "r=r", {3}, 8},
    {"{ .reg .u32 a; mov.u32 a, 1; { .reg .u32 a; mov.u32 a, 2; } add.u32 $0, a, $1; }",
     "r=r",
     {3},
     4},
    {"{ .reg .u32 %r<3>; // %r2\n add.u32 %r2, $1, 1; /* ; */ mov.u32 $0, %r2 }", "r=r", {3}, 4},
};

static void check_values(void) {
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    Arena *a = arena_new();
    AsmCall call;
    AsmProgram program;
    uint64_t out = 0;
    const char *error = prepare(a, expected[i].text, expected[i].letters, &call, &program);
    if (!error) {
      evaluate(a, &call, &program, expected[i].in, &out);
      if (out != expected[i].out)
        error = arena_printf(a, "%llx, expected %llx", (unsigned long long)out,
                             (unsigned long long)expected[i].out);
    }
    verdict(!error, expected[i].text, error ? error : "");
    arena_free(a);
  }
}

/* ======== rows ======== */

static char letter_of(unsigned bits) {
  return bits == 1 ? 'b' : bits == 16 ? 'h' : bits == 32 ? 'r' : 'l';
}

static unsigned bits_of_operand(char operand, const char *type) {
  if (operand == 'p' || !strcmp(type, "pred")) return 1;
  unsigned bits = (unsigned)strtoul(type + strcspn(type, "0123456789"), NULL, 10);
  if (operand == 'u') return 32;
  return operand == 'w' || strstr(type, "x2") ? 2 * bits : bits;
}

static void check_row(const AsmRow *row, const char *type) {
  Arena *a = arena_new();
  Text text = text_new(a), letters = text_new(a);
  text_printf(&text, "%s.%s", row->name, type);
  for (size_t i = 0; row->operands[i]; i++) {
    text_printf(&text, "%s $%zu", i ? "," : "", i);
    text_printf(&letters, "%c%s", letter_of(bits_of_operand(row->operands[i], type)), i ? "" : "=");
  }
  AsmCall call;
  AsmProgram program;
  const char *error = prepare(a, text.data, letters.data, &call, &program);
  for (uint64_t k = 0; k < 64 && !error; k++) {
    uint64_t in[4], out;
    for (int i = 0; i < 4; i++) in[i] = k * (uint64_t)(2654435761 + i * 40503) << (k % 40);
    for (int i = 1; row->operands[i]; i++) {
      unsigned bits = bits_of_operand(row->operands[i], type);
      if (bits < 64) in[i - 1] &= (UINT64_C(1) << bits) - 1;
    }
    evaluate(a, &call, &program, in, &out);
    unsigned bits = bits_of_operand(row->operands[0], type);
    if (bits < 64 && out >> bits) error = "the result has more bits than its register";
  }
  verdict(!error, text.data, error ? error : "");
  arena_free(a);
}

static void check_rows(void) {
  static const AsmRow rows[] = {
#define X(name, types, operands, flags, meaning) {name, types, operands, flags, meaning},
      ASM_INSTRUCTIONS(X)
#undef X
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (const char *s = rows[i].types; *s; s += strspn(s, " ")) {
      char type[8] = {0};
      size_t n = strcspn(s, " ");
      memcpy(type, s, n);
      check_row(&rows[i], type);
      s += n;
    }
}

/* ======== broken texts ======== */

static uint64_t seed = 1;
static uint32_t random32(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

/* Characters deleted, doubled, replaced, or a piece of another text put in. */
static char *broken(Arena *a, const char *text) {
  static const char characters[] = "{}$@!|,;:.%<>[]()+-0x1fd_ \n/*abcrz";
  size_t n = strlen(text), other = random32() % (sizeof expected / sizeof *expected);
  const char *from = expected[other].text;
  Text out = text_new(a);
  size_t at = random32() % (n + 1), skip = random32() % 4, take = random32() % 12;
  text_putn(&out, text, at);
  switch (random32() % 4) {
    case 0: text_putn(&out, &characters[random32() % (sizeof characters - 1)], 1); break;
    case 1: {
      size_t start = random32() % strlen(from), left = strlen(from) - start;
      text_putn(&out, from + start, take < left ? take : left);
      break;
    }
    case 2: text_putn(&out, text + at / 2, at - at / 2); break;
    default: break;
  }
  text_puts(&out, text + (at + skip < n ? at + skip : n));
  return out.data;
}

static void check_broken(long rounds) {
  long good = 0;
  for (long i = 0; i < rounds; i++) {
    Arena *a = arena_new();
    size_t k = random32() % (sizeof expected / sizeof *expected);
    const char *text = expected[k].text;
    for (uint32_t times = random32() % 4 + 1; times; times--) text = broken(a, text);
    AsmCall call;
    AsmProgram program;
    if (!prepare(a, text, expected[k].letters, &call, &program)) {
      uint64_t out[4];
      evaluate(a, &call, &program, expected[k].in, out);
      good++;
    }
    arena_free(a);
  }
  verdict(good > 0 && good < rounds, "broken texts", "all or none of them are right");
}

int main(int argc, char **argv) {
  check_values();
  check_rows();
  check_broken(argc > 1 ? atol(argv[1]) : 20000);
  return report();
}
