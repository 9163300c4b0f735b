/* The PTX instructions that run without a GPU, a row each: what both interpreters evaluate and C is
 * printed from.  Moves, conversions and `set` are code of asm_instruction.c, by ASM_CODED.
 *
 * X(name, types, operands, flags, meaning)
 *
 * name: the opcode and modifiers that are part of the meaning; flags: modifiers that may be there
 *   (rn is the rounding anyway; ftz, sat and relu act on operands and result).
 * types: of the instruction, one or more; f16x2 and the like are done half by half.
 * operands: a letter each, the result first: t the instruction's type (T: bits of it, whatever
 *   they mean), u 32 bits, w twice as wide, p predicate.
 * meaning: calls of ASM_FUNCTIONS on numbers and a, b, c, d, the bits of operands, and A, B, C, D,
 *   their values: signed ones extended to 64 bits, floats as doubles.  W is the type's width, S is
 *   1 for a signed one. */
#ifndef NEREID_LANG_ASM_ASM_TABLE_H
#define NEREID_LANG_ASM_ASM_TABLE_H

#define ASM_UNSIGNED "u16 u32 u64"
#define ASM_SIGNED "s16 s32 s64"
#define ASM_INTEGERS "u16 s16 u32 s32 u64 s64"
#define ASM_NARROW "u16 s16 u32 s32"
#define ASM_BITS "b16 b32 b64"
#define ASM_ANY "b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64"
#define ASM_FLOATS "f16 f16x2 bf16 bf16x2 f32 f32x2 f64"

/* clang-format off */
#define ASM_INSTRUCTIONS(X) \
/* -- integers -- */ \
X("add.sat",    "s32", "ttt", "", "clamp(add(A, B), 32, 1)") \
X("sub.sat",    "s32", "ttt", "", "clamp(sub(A, B), 32, 1)") \
X("add",        ASM_INTEGERS " u16x2 s16x2", "ttt", "", "add(A, B)") \
X("sub",        ASM_INTEGERS, "ttt", "", "sub(A, B)") \
X("mul.lo",     ASM_INTEGERS, "ttt", "", "mul(A, B)") \
X("mul.hi",     ASM_NARROW, "ttt", "", "shr(mul(A, B), W)") \
X("mul.hi",     "u64", "ttt", "", "mulhi_u(A, B)") \
X("mul.hi",     "s64", "ttt", "", "mulhi_s(A, B)") \
X("mul.wide",   ASM_NARROW, "wtt", "", "mul(A, B)") \
X("mul24.lo",   "u32", "ttt", "", "mul(low(a, 24), low(b, 24))") \
X("mul24.lo",   "s32", "ttt", "", "mul(sext(a, 24), sext(b, 24))") \
X("mul24.hi",   "u32", "ttt", "", "shr(mul(low(a, 24), low(b, 24)), 16)") \
X("mul24.hi",   "s32", "ttt", "", "shr(mul(sext(a, 24), sext(b, 24)), 16)") \
X("mad.lo",     ASM_INTEGERS, "tttt", "", "add(mul(A, B), C)") \
X("mad.hi",     ASM_NARROW, "tttt", "", "add(shr(mul(A, B), W), C)") \
X("mad.hi",     "u64", "tttt", "", "add(mulhi_u(A, B), C)") \
X("mad.hi",     "s64", "tttt", "", "add(mulhi_s(A, B), C)") \
X("mad.wide",   ASM_NARROW, "wttw", "", "add(mul(A, B), c)") \
X("mad24.lo",   "u32", "tttt", "", "add(mul(low(a, 24), low(b, 24)), c)") \
X("mad24.lo",   "s32", "tttt", "", "add(mul(sext(a, 24), sext(b, 24)), c)") \
X("sad",        ASM_UNSIGNED, "tttt", "", "add(c, sub(max_u(a, b), min_u(a, b)))") \
X("sad",        ASM_SIGNED, "tttt", "", "add(c, sub(max_s(A, B), min_s(A, B)))") \
X("div",        ASM_UNSIGNED, "ttt", "", "div_u(a, b)") \
X("div",        ASM_SIGNED, "ttt", "", "div_s(A, B)") \
X("rem",        ASM_UNSIGNED, "ttt", "", "rem_u(a, b)") \
X("rem",        ASM_SIGNED, "ttt", "", "rem_s(A, B)") \
X("abs",        ASM_SIGNED, "tt", "", "max_s(A, sub(0, A))") \
X("neg",        ASM_SIGNED, "tt", "", "sub(0, A)") \
X("min",        ASM_UNSIGNED " u16x2", "ttt", "", "min_u(a, b)") \
X("min",        ASM_SIGNED " s16x2", "ttt", "", "min_s(A, B)") \
X("max",        ASM_UNSIGNED " u16x2", "ttt", "", "max_u(a, b)") \
X("max",        ASM_SIGNED " s16x2", "ttt", "", "max_s(A, B)") \
X("dp4a.u32",   "u32", "tttt", "", "add(dot4(a, b, 0, 0), c)") \
X("dp4a.u32",   "s32", "tttt", "", "add(dot4(a, b, 0, 1), c)") \
X("dp4a.s32",   "u32", "tttt", "", "add(dot4(a, b, 1, 0), c)") \
X("dp4a.s32",   "s32", "tttt", "", "add(dot4(a, b, 1, 1), c)") \
/* -- bits -- */ \
X("and",        ASM_BITS " pred", "Ttt", "", "and(a, b)") \
X("or",         ASM_BITS " pred", "Ttt", "", "or(a, b)") \
X("xor",        ASM_BITS " pred", "Ttt", "", "xor(a, b)") \
X("not",        ASM_BITS " pred", "Tt", "", "not(a)") \
X("cnot",       ASM_BITS, "Tt", "", "eq(a, 0)") \
X("shl",        ASM_BITS, "Ttu", "", "shl(a, b)") \
X("shr",        ASM_BITS " " ASM_UNSIGNED, "Ttu", "", "shr(a, b)") \
X("shr",        ASM_SIGNED, "Ttu", "", "sar(A, b)") \
X("shf.l.wrap", "b32", "Tttu", "", "shf_l(a, b, low(c, 5))") \
X("shf.l.clamp", "b32", "Tttu", "", "shf_l(a, b, min_u(c, 32))") \
X("shf.r.wrap", "b32", "Tttu", "", "shf_r(a, b, low(c, 5))") \
X("shf.r.clamp", "b32", "Tttu", "", "shf_r(a, b, min_u(c, 32))") \
X("popc",       "b32 b64", "ut", "", "popc(a)") \
X("clz",        "b32 b64", "ut", "", "clz(a, W)") \
X("brev",       "b32 b64", "Tt", "", "brev(a, W)") \
X("bfind",      "u32 u64", "ut", "", "bfind(a)") \
X("bfe",        "u32 u64", "Ttuu", "", "bfe_u(a, b, c, W)") \
X("bfe",        "s32 s64", "Ttuu", "", "bfe_s(a, b, c, W)") \
X("bfi",        "b32 b64", "Tttuu", "", "bfi(a, b, c, d)") \
X("lop3",       "b32", "Ttttu", "", "lop3(a, b, c, d)") \
X("prmt",       "b32", "Tttu", "", "prmt(a, b, c)") \
X("selp",       ASM_ANY, "Tttp", "", "sel(c, a, b)") \
/* -- floats -- */ \
X("add",        ASM_FLOATS, "ttt", "rn ftz sat", "fadd(A, B)") \
X("sub",        ASM_FLOATS, "ttt", "rn ftz sat", "fsub(A, B)") \
X("mul",        ASM_FLOATS, "ttt", "rn ftz sat", "fmul(A, B)") \
X("fma.rn",     "f16 f16x2 bf16 bf16x2", "tttt", "ftz sat relu", "fma(A, B, C)") \
X("fma.rn",     "f64", "tttt", "", "fma(A, B, C)") \
X("fma.rn",     "f32 f32x2", "tttt", "ftz sat", "fma_f32(A, B, C)") \
X("mad.rn",     "f32", "tttt", "ftz sat", "fma_f32(A, B, C)") \
X("mad.rn",     "f64", "tttt", "", "fma(A, B, C)") \
X("div.rn",     "f32 f64", "ttt", "ftz", "fdiv(A, B)") \
X("div.full",   "f32", "ttt", "ftz", "fdiv(A, B)") \
X("div.approx", "f32", "ttt", "ftz", "fdiv(A, B)") \
X("min.NaN",    "f16 f16x2 bf16 bf16x2 f32", "ttt", "ftz", "fmin_nan(A, B)") \
X("min",        "f16 f16x2 bf16 bf16x2 f32 f64", "ttt", "ftz", "fmin(A, B)") \
X("max.NaN",    "f16 f16x2 bf16 bf16x2 f32", "ttt", "ftz", "fmax_nan(A, B)") \
X("max",        "f16 f16x2 bf16 bf16x2 f32 f64", "ttt", "ftz", "fmax(A, B)") \
X("abs",        "f16 f16x2 bf16 bf16x2 f32 f64", "Tt", "ftz", "low(a, sub(W, 1))") \
X("neg",        "f16 f16x2 bf16 bf16x2 f32 f64", "Tt", "ftz", "xor(a, shl(1, sub(W, 1)))") \
X("copysign",   "f32 f64", "Ttt", "", "or(shl(shr(a, sub(W, 1)), sub(W, 1)), low(b, sub(W, 1)))") \
X("rcp.rn",     "f32 f64", "tt", "ftz", "rcp(A)") \
X("rcp.approx", "f32", "tt", "ftz", "rcp(A)") \
X("sqrt.rn",    "f32 f64", "tt", "ftz", "sqrt(A)") \
X("sqrt.approx", "f32", "tt", "ftz", "sqrt(A)") \
X("rsqrt.approx", "f32 f64", "tt", "ftz", "rsqrt(A)") \
X("ex2.approx", "f32 f16 f16x2 bf16 bf16x2", "tt", "ftz", "exp2(A)") \
X("lg2.approx", "f32", "tt", "ftz", "log2(A)") \
X("sin.approx", "f32", "tt", "ftz", "sin(A)") \
X("cos.approx", "f32", "tt", "ftz", "cos(A)") \
X("tanh.approx", "f32 f16 f16x2 bf16 bf16x2", "tt", "", "tanh(A)") \
X("testp.notanumber", "f32 f64", "pt", "", "isnan(A)") \
X("testp.number", "f32 f64", "pt", "", "not(isnan(A))") \
X("testp.finite", "f32", "pt", "", "lt_u(low(a, 31), 0x7f800000)") \
X("testp.infinite", "f32", "pt", "", "eq(low(a, 31), 0x7f800000)") \
/* -- comparison: `and`, `or`, `xor` with one more predicate, and `p|q`, are added to each -- */ \
X("setp.eq",    ASM_INTEGERS " " ASM_BITS, "ptt", "", "eq(a, b)") \
X("setp.ne",    ASM_INTEGERS " " ASM_BITS, "ptt", "", "not(eq(a, b))") \
X("setp.lt",    ASM_UNSIGNED, "ptt", "", "lt_u(a, b)") \
X("setp.le",    ASM_UNSIGNED, "ptt", "", "not(lt_u(b, a))") \
X("setp.gt",    ASM_UNSIGNED, "ptt", "", "lt_u(b, a)") \
X("setp.ge",    ASM_UNSIGNED, "ptt", "", "not(lt_u(a, b))") \
X("setp.lo",    ASM_UNSIGNED, "ptt", "", "lt_u(a, b)") \
X("setp.ls",    ASM_UNSIGNED, "ptt", "", "not(lt_u(b, a))") \
X("setp.hi",    ASM_UNSIGNED, "ptt", "", "lt_u(b, a)") \
X("setp.hs",    ASM_UNSIGNED, "ptt", "", "not(lt_u(a, b))") \
X("setp.lt",    ASM_SIGNED, "ptt", "", "lt_s(A, B)") \
X("setp.le",    ASM_SIGNED, "ptt", "", "not(lt_s(B, A))") \
X("setp.gt",    ASM_SIGNED, "ptt", "", "lt_s(B, A)") \
X("setp.ge",    ASM_SIGNED, "ptt", "", "not(lt_s(A, B))") \
X("setp.eq",    "f16 bf16 f32 f64", "ptt", "ftz", "feq(A, B)") \
X("setp.ne",    "f16 bf16 f32 f64", "ptt", "ftz", "or(flt(A, B), flt(B, A))") \
X("setp.lt",    "f16 bf16 f32 f64", "ptt", "ftz", "flt(A, B)") \
X("setp.le",    "f16 bf16 f32 f64", "ptt", "ftz", "or(flt(A, B), feq(A, B))") \
X("setp.gt",    "f16 bf16 f32 f64", "ptt", "ftz", "flt(B, A)") \
X("setp.ge",    "f16 bf16 f32 f64", "ptt", "ftz", "or(flt(B, A), feq(A, B))") \
X("setp.equ",   "f16 bf16 f32 f64", "ptt", "ftz", "not(or(flt(A, B), flt(B, A)))") \
X("setp.neu",   "f16 bf16 f32 f64", "ptt", "ftz", "not(feq(A, B))") \
X("setp.ltu",   "f16 bf16 f32 f64", "ptt", "ftz", "not(or(flt(B, A), feq(A, B)))") \
X("setp.leu",   "f16 bf16 f32 f64", "ptt", "ftz", "not(flt(B, A))") \
X("setp.gtu",   "f16 bf16 f32 f64", "ptt", "ftz", "not(or(flt(A, B), feq(A, B)))") \
X("setp.geu",   "f16 bf16 f32 f64", "ptt", "ftz", "not(flt(A, B))") \
X("setp.num",   "f16 bf16 f32 f64", "ptt", "ftz", "not(or(isnan(A), isnan(B)))") \
X("setp.nan",   "f16 bf16 f32 f64", "ptt", "ftz", "or(isnan(A), isnan(B))")
/* clang-format on */

/* Opcodes that are code, for lists of supported instructions. */
#define ASM_CODED "cvt mov set"

typedef struct {
  const char *name, *types, *operands, *flags, *meaning;
} AsmRow;

#endif
