/* The op table of the loop-nest IR.  Enum, printer, reader and verifier derive from it.
 *
 * X(id, levels, dsts, srcs, mems, regions, flags, "attributes", "meaning")
 *
 * The printed name is the id in lower case with '_' as '.'.
 * levels: N level nest, T level thread, NT both.
 * dsts, srcs: how many references (-1: any number); mems: how many addresses.
 * All but control statements may carry a guard (`if %p`): where it is false nothing happens.
 *
 * flags, of which nest_flags() drops those that a statement's attributes take back:
 *   PURE      the results follow from the operands and from the thread's place in the launch
 *   READ      reads memory, WRITE writes it; of two addresses WRITE is the first, READ the second
 *   ATOMIC    another thread sees the whole access or nothing of it
 *   ORDERED   no other access moves over it: it waits, orders accesses, or its time matters.  An
 *             asm is ORDERED if `volatile`, and so is a load
 *   EFFECT    does more than its results and the accesses: never removed.  Of an asm, if `volatile`
 *   TOGETHER  the lanes of a warp compute it together: a guard is uniform
 *   ALWAYS    has no guard
 *   VARIES    a result differs between lanes, whatever the operands are
 *   PRODUCT   a product of matrices
 *   LOOP      runs its regions any number of times, one after the other
 */
#ifndef NEREID_LOWER_NEST_NEST_OPS_H
#define NEREID_LOWER_NEST_NEST_OPS_H

/* clang-format off */
#define NEST_OPS(X) \
/* -- scalars and elements -- */ \
X(OP,             NT, 1,  -1, 0, 0, PURE,                "axis contig constancy div", "an elementwise op of the tile table, by its name: `%d = add %a, %b : f32`.  `hint`, of level nest, gives its operand, of which the kernel promises that in aligned groups of `contig` elements along `axis` each is one more than the last, in such of `constancy` all are equal, and the first of those that follow one another is divisible by `div`") \
X(MOV,            NT, 1,  1,  0, 0, PURE,                "n",                         "a copy of n consecutive registers (1)") \
X(PID,            NT, 1,  0,  0, 0, PURE,                "axis",                      "the program's index on a grid axis (i32)") \
X(NPROG,          NT, 1,  0,  0, 0, PURE,                "axis",                      "the grid's extent on an axis (i32)") \
X(CLUSTER_RANK,   NT, 1,  0,  0, 0, PURE,                "",                          "the thread block's number among the nest's `cluster` ones, which execute a program together, each with shared memory of its own (i32)") \
X(SPECIAL,        NT, 1,  0,  0, 0, ORDERED,             "kind",                      "a number of the machine, as the tile op") \
X(LANE,           T,  1,  0,  0, 0, PURE|VARIES,         "",                          "the lane's number in its warp (i32)") \
X(WARP,           T,  1,  0,  0, 0, PURE,                "",                          "the warp's number in its role (i32)") \
/* -- memory: `n` elements from consecutive registers to consecutive addresses -- */ \
X(LD,             NT, 1,  0,  1, 0, READ,                "n cache evict volatile width pinned hinted ahead run", "load; registers whose guard is false keep their value; `run`: so many words of an unrolled access are neighbors in memory, from multiples of their bytes on.  Level nest: `width` elements a thread can take at once; `pinned`: no iteration of its loop runs it ahead; `ahead`: it shall be copied to shared memory for that; `hinted`: its address is divisible by `width` elements, as the kernel promises") \
X(ST,             NT, 0,  1,  1, 0, WRITE,               "n cache evict width hinted everywhere", "store; `width` and `hinted` as of a load; `everywhere`: at that place of the shared memory of each block of the cluster") \
X(PREFETCH,       T,  0,  0,  1, 0, READ,                "",                          "asks for the global memory there, which is loaded soon, perhaps; no effect otherwise, wherever it is") \
X(ATOM,           NT, 1,  1,  1, 0, READ|WRITE|ATOMIC|VARIES, "kind sem scope",            "read-modify-write; the value before") \
X(ATOM_CAS,       NT, 1,  2,  1, 0, READ|WRITE|ATOMIC|VARIES, "sem scope",                 "compare (src 0) and swap (src 1); the value before") \
X(RED,            NT, 0,  1,  1, 0, WRITE|ATOMIC,        "kind sem scope run",        "read-modify-write without a result; `run` as of a load") \
X(CP_ASYNC,       T,  0,  -1, 2, 0, READ|WRITE|ORDERED,  "bytes cache",               "shared (first) from global (second), 4, 8 or 16 bytes, done at CP_WAIT; zeros where src 0, an i1 that may be left out, is false") \
X(CP_COMMIT,      T,  0,  0,  0, 0, ORDERED|ALWAYS,      "",                          "this thread's copies since the last one become a group") \
X(CP_WAIT,        T,  0,  0,  0, 0, ORDERED|ALWAYS,      "groups",                    "until at most that many of this thread's groups are open") \
X(MBAR_INIT,      NT, 0,  0,  1, 0, WRITE|ORDERED,       "count",                     "makes an mbarrier of 8 bytes in shared memory, each of whose phases ends after `count` arrivals and all bytes that they expect.  Level nest: this, MBAR_EXPECT and BULK_COPY are executed by one thread of the program") \
X(MBAR_EXPECT,    NT, 0,  0,  1, 0, READ|WRITE|ORDERED,  "tx",                        "expects `tx` more bytes of BULK_COPYs in the mbarrier's phase, and arrives") \
X(MBAR_ARRIVE,    NT, 0,  0,  1, 0, READ|WRITE|ORDERED,  "",                          "arrives at the mbarrier; level nest: one thread of each warp does") \
X(BULK_COPY,      NT, 0,  -1, 2, 0, READ|WRITE|ORDERED,  "map",                       "the box of tensor map `map` (a declaration) whose first element has the coordinates srcs (i32, innermost axis first) to shared memory (first), rows swizzled as in lower/target/wgmma_layout.h; zeros outside of the tensor.  It arrives with its bytes at the mbarrier (second), through the asynchronous proxy") \
X(BULK_STORE,     NT, 0,  -1, 1, 0, READ|ORDERED|EFFECT, "map",                       "the box of tensor map `map` whose first element has the coordinates srcs (i32, innermost axis first) from shared memory, rows swizzled as a BULK_COPY's; elements outside of the tensor go nowhere.  It has read its bytes when its thread has waited for its group, and written its tensor when that thread has waited for this, too, or the kernel ends.  Level nest: this and the next two are executed by one thread of the program") \
X(BULK_COMMIT,    NT, 0,  0,  0, 0, ORDERED|EFFECT,      "",                          "this thread's BULK_STOREs since the last one become a group") \
X(BULK_WAIT,      NT, 0,  0,  0, 0, ORDERED|EFFECT,      "groups written",            "until at most that many of this thread's groups of BULK_STOREs have not read their bytes or, if `written`, not written their tensor") \
X(MBAR_WAIT,      NT, 0,  1,  1, 0, READ|ORDERED,        "",                          "until the mbarrier's phase of that parity (i32, 0 the first one's) has ended; every thread executes it, and sees what was copied; with a guard, level nest, one thread of the program") \
X(LDMATRIX,       T,  1,  0,  1, 0, READ|TOGETHER|VARIES, "n trans pairs",                  "n (1 2 4) 8x8 matrices of 16-bit elements; lane 8*i+r gives row r of matrix i; each register pair holds a fragment.  `trans` of 1-byte elements, or of words (i32) of four: matrices 2*i and 2*i+1 are 16 rows of 16 bytes, of which lane 8*m+r gives row 4*(r/2) + r%2 + 2*((m + r/4)%2); a lane gets rows 4*(lane%4) to the third after it of column 2*(lane/4), then of the next one; of `pairs` lane 8*m+r gives row 8*m+r, and a lane gets rows 2*(lane%4), the one after it, and those 8 further") \
/* -- threads together -- */ \
X(SHFL,           T,  1,  1,  0, 0, TOGETHER,            "mode by same",              "from lane xor `by` (mode xor), lane-by (up), lane+by (down); outside the warp: own value.  Mode idx: from lane src 1; then srcs is 2.  `same`: all warps hold the same there") \
X(MMA,            T,  1,  3,  0, 0, PRODUCT|TOGETHER|VARIES, "atom",                      "dst = a*b + c, fragments by the atom's row (lower/target/atoms.h); srcs a, b, c") \
X(WGMMA,          T,  1,  3,  2, 0, READ|PRODUCT|ORDERED|ALWAYS|VARIES, "atom columns turned",       "dst += a*b by the four warps of a warpgroup, so many columns; srcs a (a fragment, or `_` and then mem 0), `_`, c = dst, or `_`, zero; mem 1: b, both in layouts of lower/target/wgmma_layout.h, `turned` as of DOT.  Reads and writes until MMA_WAIT") \
X(MMA_COMMIT,     NT, 0,  0,  0, 0, ORDERED|ALWAYS,      "",                          "this warp's WGMMAs since the last one become a group") \
X(MMA_WAIT,       NT, 0,  0,  0, 0, ORDERED|ALWAYS,      "groups",                    "until at most that many of its groups are open") \
X(BAR,            NT, 0,  0,  0, 0, ORDERED|ALWAYS,      "id warps",                  "barrier of `warps` warps (0: of the role); orders their shared and global accesses") \
X(CLUSTER_ARRIVE, NT, 0,  0,  0, 0, ORDERED|ALWAYS,      "",                          "arrives at the barrier of all warps of the cluster: what this thread accessed before comes before what others do after CLUSTER_WAIT") \
X(CLUSTER_WAIT,   NT, 0,  0,  0, 0, ORDERED|ALWAYS,      "",                          "until all warps have arrived that often") \
X(EXCHANGE,       T,  0,  -1, 2, 0, WRITE|ORDERED,       "open",                      "stores 4 or 8 bytes (src 0) at that place (first) of the shared memory of each block of the cluster, and waits until every warp of the cluster has done so, each to a place of its own: what was stored may be read, all else is in no order.  After the first CLUSTER_WAIT; the mbarrier (second) is of this statement and of those just before it that are `open`, which do not wait.  Executed once, or in a loop: then there are two mbarriers, and two places, in turns, and src 1 (i32) is 0, 0, 1, 1 and so on") \
X(FENCE,          NT, 0,  0,  0, 0, ORDERED,             "kind",                      "memory fence: kind cta, gpu, sys; proxy: what this thread wrote to shared memory may be read by WGMMA; mma: the registers of WGMMA are as they shall be") \
X(GRID_DEPENDENCY,NT, 0,  0,  0, 0, ORDERED,             "kind",                      "as the tile op; each thread executes it") \
X(ASSERT,         NT, 0,  1,  0, 0, EFFECT,              "message kind",              "reported by the interpreter if the i1 is false; code for `assert` alone, with option `debug`.  kind: whose promise it is, `assert`, `assume` or `hint`") \
X(PRINT,          NT, 0,  -1, 0, 0, EFFECT|ORDERED,      "message shape digits",      "a line on standard output (lang/interp/device_print.h), once an element.  srcs: the value (i32, u32, i64, u64 or f64), then its index (i32) in a tile of this `shape`; none: the message alone.  `digits`: in hexadecimal, so many at least") \
X(ASM,            NT, -1, -1, 0, 0, EFFECT|ORDERED|ALWAYS, "n volatile asm constraints pack", "inline assembly (lang/asm/asm_call.h).  Level thread: one call, on n registers from each reference on, at most `pack`; it gets some value for those that lack.  Level nest: tiles of one layout, or scalars.  `volatile`: it has other effects than its results") \
/* -- structure -- */ \
X(UNROLL,         T,  0,  0,  0, 1, LOOP,                "",                          "`unroll a:4 { }`: index a = 0..3, expanded by the printer") \
X(SERIAL,         NT, 0,  -1, 0, 1, LOOP,                "",                          "`serial s:16 { }`: a loop that stays a loop, over constants.  `serial s:16 from %lo to %hi { }`, for CPUs alone: those of 0..15 that are in lo..hi-1 (i32, uniform)") \
X(FOR,            NT, 1,  3,  0, 1, LOOP,                "stages unroll",             "dst: the index; srcs lower, upper, step; down if step is not positive; vars are updated in place") \
X(WHILE,          NT, 0,  1,  0, 2, LOOP|ORDERED,        "",                          "region 0 computes src 0 (i1, uniform); while it is true, region 1") \
X(IF,             NT, 0,  1,  0, 2, 0,                   "",                          "uniform i1: region 0, else region 1") \
X(ROLE,           NT, 0,  0,  0, 1, ORDERED,             "warps regs",                "these warps alone run the region; roles are siblings") \
/* -- level nest: statements over tiles -- */ \
X(NEST,           N,  0,  0,  0, 1, 0,                   "",                          "for every element of a layout: the region's statements; axes are indices") \
X(REDUCE,         N,  -1, -1, 0, 1, 0,                   "axis combine joins",        "as the tile op; the region combines (params: accumulators, then elements)") \
X(SCAN,           N,  -1, -1, 0, 1, 0,                   "axis reverse combine",      "as the tile op") \
X(RELAYOUT,       N,  1,  1,  0, 0, 0,                   "",                          "the same tile in another layout, through registers and shuffles") \
X(FLIP,           N,  1,  1,  0, 0, 0,                   "axis",                      "the same tile in reverse order along `axis`, in the same layout, through registers and shuffles: no warp digit spells the axis, and it has no padding") \
X(DOT,            N,  1,  3,  2, 0, PRODUCT,             "atom precision groups open turned max_imprecise", "dst = a*b + c (srcs a, b, c); a warpgroup's c may be `_`, zero.  a and b are vars in the atom's layouts, or `_`, and then mems 0 and 1 say the operand's address in shared memory, in the buffer's layout (else the mem is `[_]`).  Of a warpgroup's dot bit i of `turned` says that the buffer of mem i holds the operand's transpose.  No atom: multiply-add.  A warpgroup's returns when at most `groups` (0) of its groups are open, or as soon as its own one is `open`, and adds the products of `max_imprecise` of k at most before it adds to dst") \
X(TURN,           N,  0,  0,  2, 0, READ|WRITE,          "",                          "a matrix of elements of 1 or 4 bytes to shared memory (first) from shared memory (second), where another axis is contiguous; both in layouts of lower/target/wgmma_layout.h") \
X(COPY,           N,  0,  0,  0, 1, ORDERED,             "ring",                      "a NEST whose one LD from global and one ST to shared are asynchronous") \
X(RING_COMMIT,    N,  0,  0,  0, 0, ORDERED,             "",                          "the COPYs since the last commit become a group") \
X(RING_WAIT,      N,  0,  0,  0, 0, ORDERED,             "groups",                    "until at most that many groups are in flight")
/* clang-format on */

#define NEST_ATTRS(X)                                                                          \
  X(n, int) X(axis, int) X(cache, str) X(evict, str) X(volatile, bool) X(kind, str) X(sem, str) \
  X(scope, str) X(bytes, int) X(groups, int) X(trans, bool) X(pairs, bool) X(mode, str) X(by, int)             \
  X(atom, str) X(id, int) X(warps, int) X(regs, int) X(message, str) X(stages, int)             \
  X(unroll, int) X(combine, str) X(reverse, bool) X(precision, str) X(ring, int) X(width, int)     \
  X(same, bool) X(columns, int) X(pinned, bool) X(hinted, bool) X(ahead, bool) X(contig, int)                  \
  X(constancy, int) X(div, int) X(shape, str) X(digits, int)          \
  X(asm, str) X(constraints, str) X(pack, int) X(turned, int) \
  X(run, int) X(joins, bool) X(everywhere, bool) X(max_imprecise, int) X(open, bool) X(count, int) X(tx, int) X(map, str) X(written, bool)

#endif
