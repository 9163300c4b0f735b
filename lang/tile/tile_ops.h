/* The op table of the tile IR.  Enum, printer, reader, verifier and docs/tile-ops.md derive from
 * it.
 *
 * X(id, args, results, rule, flags, "attributes", "meaning")
 *
 * The printed name is the id in lower case.
 *
 * args: letters, one an operand: v value; ? before a letter: may be absent (NULL in args[]);
 *   * after: any number.  Absent operands keep their slot: args[1] of LOAD is always the mask.
 *   V: a view: base, ?mask, ?other/value..., then rank offsets, rank sizes, rank strides (all
 *   scalar integers, offsets/sizes/strides in elements).
 * results: number, * for any.
 * rule: how the result type follows
 *   given     stated by the op, checked by a function of its own
 *   same      all operands and the result have one type (shape and dtype)
 *   compare   operands of one type, result i1 of that shape
 *   float     same, floats only;  int: same, integers (i1 too) only
 * flags: PURE (no effect; may be moved, merged, removed), ELEM (elementwise: result element i
 *   depends on operand elements i alone; operands have the result's shape), COMM (commutes),
 *   READ, WRITE (global memory), REGION (has regions), TERM (ends a block), APPROX (executors may
 *   differ by the stated ULPs)
 *
 * Integers wrap.  Floats are IEEE with round to nearest even in the op's own dtype: f16, bf16 and
 * f8 operands are widened, the op is done in f32, and the result is rounded.  Denormals are kept.
 */
#ifndef NEREID_LANG_TILE_TILE_OPS_H
#define NEREID_LANG_TILE_TILE_OPS_H

/* clang-format off */
#define TILE_OPS(X) \
/* -- sources -- */ \
X(CONST,       "",      "1", given,   PURE|ELEM,        "value",       "the constant, in every element of a tile") \
X(UNDEF,       "",      "1", given,   PURE|ELEM,        "",            "some value; reading it is the user's error") \
X(PROGRAM_ID,  "",      "1", given,   PURE,             "axis",        "i32: the program's index on a grid axis") \
X(NUM_PROGRAMS,"",      "1", given,   PURE,             "axis",        "i32: the grid's extent on an axis") \
X(CLUSTER_RANK,"",      "1", given,   PURE,             "",            "i32: the thread block's number among those of its program, of which the kernel's `cluster` says how many there are") \
X(SPECIAL,     "",      "1", given,   READ,             "kind",        "a number of the machine: kind globaltimer, ns of a clock, each time anew (i64); smid, the multiprocessor, or a number below that of programs that no other running program has (i32): a CPU's thread of the launch") \
X(ARANGE,      "",      "1", given,   PURE,             "start end",   "i32[end-start]: start, start+1, ...") \
/* -- shape -- */ \
X(SPLAT,       "v",     "1", given,   PURE,             "",            "a scalar in every element of a tile") \
X(EXPAND_DIMS, "v",     "1", given,   PURE,             "axis",        "a new axis of extent 1 at `axis`") \
X(BROADCAST,   "v",     "1", given,   PURE,             "",            "axes of extent 1 are repeated; ranks are equal") \
X(RESHAPE,     "v",     "1", given,   PURE,             "",            "row-major reshape; a scalar counts as one element") \
X(TRANS,       "v",     "1", given,   PURE,             "perm",        "result axis i is operand axis perm[i]") \
X(JOIN,        "vv",    "1", given,   PURE,             "",            "a new last axis of extent 2: [..., 0] is the first") \
X(SPLIT,       "v",     "2", given,   PURE,             "",            "the two halves of a last axis of extent 2") \
X(CAT,         "vv",    "1", given,   PURE,             "",            "concatenation along axis 0") \
X(SLICE,       "v",     "1", given,   PURE,             "starts strides", "result[i,..] = operand[starts[0]+i*strides[0],..]; strides may be negative") \
X(GATHER,      "vv",    "1", given,   PURE,             "axis",        "result[..,i,..] = operand[..,index[..,i,..],..] along axis") \
/* -- elementwise: arithmetic -- */ \
X(ADD,         "vv",    "1", same,    PURE|ELEM|COMM,   "",            "sum") \
X(SUB,         "vv",    "1", same,    PURE|ELEM,        "",            "difference") \
X(MUL,         "vv",    "1", same,    PURE|ELEM|COMM,   "",            "product") \
X(DIV,         "vv",    "1", same,    PURE|ELEM|APPROX, "",            "quotient; integers: towards zero; f32: div.full (2 ulp), other floats: rounded") \
X(DIV_RN,      "vv",    "1", float,   PURE|ELEM,        "",            "quotient, correctly rounded") \
X(REM,         "vv",    "1", same,    PURE|ELEM,        "",            "remainder with the dividend's sign (C's %, fmod)") \
X(MULHI,       "vv",    "1", int,     PURE|ELEM|COMM,   "",            "high half of the full product") \
X(FMA,         "vvv",   "1", float,   PURE|ELEM,        "",            "a*b+c, rounded once") \
X(DOT4,        "vvv",   "1", int,     PURE|ELEM,        "",            "c plus the products of the four signed bytes of a and b; i32, which wraps") \
X(DOT2,        "vvv",   "1", int,     PURE|ELEM,        "",            "c, the bits of an f32, plus the products of the two bf16 of a and b; i32. A CPU may take denormal bf16 and sums for 0") \
X(NEG,         "v",     "1", same,    PURE|ELEM,        "",            "negation") \
X(ABS,         "v",     "1", same,    PURE|ELEM,        "",            "absolute value") \
X(MIN,         "vv",    "1", same,    PURE|ELEM|COMM,   "",            "minimum; of a number and a NaN the number") \
X(MAX,         "vv",    "1", same,    PURE|ELEM|COMM,   "",            "maximum; of a number and a NaN the number") \
X(MIN_NAN,     "vv",    "1", float,   PURE|ELEM|COMM,   "",            "minimum; NaN if an operand is NaN") \
X(MAX_NAN,     "vv",    "1", float,   PURE|ELEM|COMM,   "",            "maximum; NaN if an operand is NaN") \
X(AND,         "vv",    "1", int,     PURE|ELEM|COMM,   "",            "bitwise and") \
X(OR,          "vv",    "1", int,     PURE|ELEM|COMM,   "",            "bitwise or") \
X(XOR,         "vv",    "1", int,     PURE|ELEM|COMM,   "",            "bitwise exclusive or") \
X(NOT,         "v",     "1", int,     PURE|ELEM,        "",            "bitwise complement (i1: logical)") \
X(SHL,         "vv",    "1", int,     PURE|ELEM,        "",            "shift left; 0 for amounts of the width and more") \
X(SHR,         "vv",    "1", int,     PURE|ELEM,        "",            "shift right, arithmetic for signed; amounts past the width give the sign or 0") \
/* -- elementwise: functions with an instruction of their own; the rest is in lang/std -- */ \
X(RCP,         "v",     "1", float,   PURE|ELEM|APPROX, "",            "1/x (1 ulp); f32: may be 0 for |x| > 2^126, infinite for |x| < 2^-126") \
X(SQRT,        "v",     "1", float,   PURE|ELEM|APPROX, "",            "square root; f32 approximate (1 ulp)") \
X(SQRT_RN,     "v",     "1", float,   PURE|ELEM,        "",            "square root, correctly rounded") \
X(RSQRT,       "v",     "1", float,   PURE|ELEM|APPROX, "",            "1/sqrt(x) (2 ulp)") \
X(EXP2,        "v",     "1", float,   PURE|ELEM|APPROX, "",            "2^x, f32 (2 ulp); may be 0 for x < -126") \
X(LOG2,        "v",     "1", float,   PURE|ELEM|APPROX, "",            "lg2.approx: base-2 logarithm, f32, absolute error 2^-22 near 1") \
X(SIN,         "v",     "1", float,   PURE|ELEM|APPROX, "",            "sin.approx, f32, for |x| <= pi") \
X(COS,         "v",     "1", float,   PURE|ELEM|APPROX, "",            "cos.approx, f32, for |x| <= pi") \
X(TANH,        "v",     "1", float,   PURE|ELEM|APPROX, "",            "tanh.approx, f32 (relative error 2^-11)") \
X(FLOOR,       "v",     "1", float,   PURE|ELEM,        "",            "largest integer not above") \
X(CEIL,        "v",     "1", float,   PURE|ELEM,        "",            "smallest integer not below") \
X(TRUNC,       "v",     "1", float,   PURE|ELEM,        "",            "towards zero") \
X(RINT,        "v",     "1", float,   PURE|ELEM,        "",            "nearest integer, ties to even") \
X(POPC,        "v",     "1", int,     PURE|ELEM,        "",            "number of one bits (32- and 64-bit)") \
X(CLZ,         "v",     "1", int,     PURE|ELEM,        "",            "number of leading zero bits (32- and 64-bit)") \
X(BREV,        "v",     "1", int,     PURE|ELEM,        "",            "bits in reverse order (32- and 64-bit)") \
/* -- elementwise: comparison, choice, conversion -- */ \
X(LT,          "vv",    "1", compare, PURE|ELEM,        "",            "a < b; false with a NaN") \
X(LE,          "vv",    "1", compare, PURE|ELEM,        "",            "a <= b; false with a NaN") \
X(GT,          "vv",    "1", compare, PURE|ELEM,        "",            "a > b; false with a NaN") \
X(GE,          "vv",    "1", compare, PURE|ELEM,        "",            "a >= b; false with a NaN") \
X(EQ,          "vv",    "1", compare, PURE|ELEM|COMM,   "",            "a == b; false with a NaN") \
X(NE,          "vv",    "1", compare, PURE|ELEM|COMM,   "",            "a != b; true with a NaN") \
X(SELECT,      "vvv",   "1", given,   PURE|ELEM,        "",            "cond ? a : b, cond i1 of the same shape") \
X(CAST,        "v",     "1", given,   PURE|ELEM,        "rounding",    "numeric conversion; float to float rounds to nearest even (rounding \"rtz\": towards zero); float to integer truncates, saturating on overflow, NaN to 0; to i1: x != 0") \
X(BITCAST,     "v",     "1", given,   PURE|ELEM,        "",            "the same bits as another dtype of that width (pointers: 64)") \
X(PTR_ADD,     "vv",    "1", given,   PURE|ELEM,        "",            "pointer plus an integer number of elements") \
X(HINT,        "v",     "1", given,   PURE|ELEM,        "div contig constancy", "the operand, with the user's hints for each axis") \
/* -- tiles as a whole -- */ \
X(DOT,         "vvv",   "1", given,   PURE,             "precision max_imprecise", "a[..,M,K] x b[..,K,N] + c[..,M,N]; k ascending, products exact, sums in c's dtype (f32 for f16 c); precision ieee tf32 tf32x3 bf16x3 bf16x6; of i32, bytes: each element is four signed bytes, as of dot4; pairs: two bf16, as of dot2") \
X(REDUCE,      "v*",    "*", given,   PURE|REGION,      "axis combine joins","combine along axis; results lack that axis (a scalar if it was the last); `joins`: the results of all thread blocks of the program, in their order, are combined, too, and each has the result") \
X(SCAN,        "v*",    "*", given,   PURE|REGION,      "axis reverse combine", "inclusive scan along axis") \
X(HISTOGRAM,   "v?v",   "1", given,   PURE,             "",            "i32[bins]: how often each value 0..bins-1 occurs (where mask); others are not counted") \
/* -- memory -- */ \
X(LOAD,        "v?v?v", "1", given,   READ,             "cache evict volatile", "elements at pointers, where mask; elsewhere `other`, or undefined") \
X(STORE,       "vv?v",  "0", given,   WRITE,            "cache evict part", "pointers, value, mask; all stores of one `part` are to elements apart") \
X(VIEW_LOAD,   "V?v?v", "1", given,   READ,             "check pad cache evict volatile", "element i at base + sum (offset+i)*stride; a checked axis outside 0..size gives `other`, else pad (zero or nan)") \
X(VIEW_STORE,  "Vv?v",  "0", given,   WRITE,            "check cache evict", "value; elements outside a checked axis are not written") \
X(ATOMIC_RMW,  "vv?v",  "1", given,   READ|WRITE,       "kind sem scope", "kind add and or xor xchg max min, store, load (memory stays, the value has no meaning); result the value before; once an element") \
X(ATOMIC_CAS,  "vvv",   "1", given,   READ|WRITE,       "sem scope",   "pointer, compare, value; result the value before") \
X(PARK,        "vv?v",  "0", given,   READ|WRITE,       "slot count ends",  "copies the elements at pointers, zeros where the mask is false, to the slot of shared memory from element i (the first operand, i32) on; done at PARK_WAIT.  A slot has `count` elements of one dtype; `ends`: it is the last copy of a group") \
X(PARK_WAIT,   "",      "0", given,   READ|WRITE,       "pending",     "until what is parked is there, but for so many groups, the last ones") \
X(UNPARK,      "v",     "1", given,   READ,             "slot count",  "a tile of the slot's elements from element i on") \
X(BARRIER,     "",      "0", given,   READ|WRITE,       "",            "debug_barrier: memory operations do not move across") \
X(GRID_DEPENDENCY, "",  "0", given,   READ|WRITE,       "kind",        "programmatic dependent launch: kind wait, until the grids that this one depends on have ended; launch, those that depend on it may start.  Without effect but on a GPU") \
X(ASSERT,      "v?v",   "0", given,   WRITE,            "message",     "device_assert, checked by the interpreters only") \
X(PRINT,       "v*",    "0", given,   WRITE,            "message hex", "device_print: for each operand a line for each element, without operands one line (lang/interp/device_print.h)") \
X(ASM,         "v*",    "*", given,   PURE,             "asm constraints pack", "PTX (lang/asm/asm_call.h) on scalars or tiles of one shape: `pack` elements of each at a time; which elements share a call is open, and so are the inputs of the last call after the last element") \
X(ASM_IMPURE,  "v*",    "*", given,   READ|WRITE,       "asm constraints pack", "the same for PTX with other effects than its results: each thread executes it, once for `pack` of its elements") \
X(NOALIAS,     "",      "0", given,   WRITE,            "params or_same", "a pass has changed the order of accesses through the pointer parameters of these two numbers: the bytes that the kernel accesses through them are disjoint or, with `or_same`, both are one address, which a launch checks") \
X(ASSUME,      "v",     "0", given,   WRITE,            "",            "the user promises that the scalar i1 holds") \
/* -- control -- */ \
X(FOR,         "vvvv*", "*", given,   REGION,           "num_stages unroll flatten warp_specialize disallow_acc_multi_buffer disable_licm", "lower, upper, step, initial values; region (index, carried...) yields the next values; a step that is not positive runs down; bounds are read once") \
X(WHILE,       "v*",    "*", given,   REGION,           "",            "initial values; region 0 (carried...) ends in CONDITION, region 1 (carried...) in YIELD") \
X(IF,          "v",     "*", given,   REGION,           "",            "scalar i1; region 0 then, region 1 else, both yield the results") \
X(YIELD,       "v*",    "0", given,   TERM,             "",            "the values a region hands on") \
X(CONDITION,   "vv*",   "0", given,   TERM,             "",            "goes on while the i1 is true; the values go to the body, or out") \
X(RETURN,      "",      "0", given,   TERM,             "",            "the end of the kernel")
/* clang-format on */

/* Attributes: X(name, kind): int, bool, str, ints (a list), num (a constant of the result's dtype).
 * They are kept and printed in this order, which is that of the rows above as well. */
#define TILE_ATTRS(X)                                                                           \
  X(value, num) X(axis, int) X(start, int) X(end, int) X(perm, ints) X(starts, ints)            \
  X(strides, ints) X(rounding, str) X(div, ints) X(contig, ints) X(constancy, ints)             \
  X(precision, str) X(max_imprecise, int) X(reverse, bool) X(combine, str) X(joins, bool) X(check, ints) \
  X(pad, str) X(cache, str) X(evict, str) X(volatile, bool) X(kind, str) X(sem, str)            \
  X(scope, str) X(part, int) X(slot, int) X(count, int) X(ends, bool) X(pending, int) X(message, str) X(hex, bool) X(params, ints) X(or_same, bool) \
  X(asm, str) X(constraints, str) X(pack, int) X(num_stages, int) X(unroll, int)                \
  X(flatten, bool) X(warp_specialize, bool) X(disallow_acc_multi_buffer, bool)                  \
  X(disable_licm, bool)

#endif
