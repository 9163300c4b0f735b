/* The options of compiling a kernel, each once.  From a row come the field of nereid_request, the
 * compiler's own option, its name in IR text and in Python, its part of all cache keys, the option
 * of the command line with its help, the command that repeats a compilation, and docs/options.md.
 *
 * X(kind, name, default, least, most, uses, "--flag", "value", "choices", "meaning")
 *
 * Y instead of X: not on command lines.
 * kind: INT, FLAG, WORD (a text, which is NULL by default), ALIAS.  In a request 0 is the default.
 * uses: TUNED (a configuration of a tuner may set it), SCHEDULE (fixed in IR text that has a
 *   schedule), IR (IR text has it: stages after sema depend on it), 0
 */
#ifndef NEREID_OPTIONS_H
#define NEREID_OPTIONS_H

/* May the arguments of a launch overlap in memory?  Accesses through two pointers, one of them
 * writing, are in the order of the text by the language's rules. */
typedef enum {
  NEREID_ALIAS_GUARDED, /* they may: a launch checks it, and one of overlapping arguments runs code
                           that keeps the order, which is compiled when it is first needed */
  NEREID_ALIAS_ORDERED, /* they may: all code keeps the order, and no launch checks anything */
  NEREID_ALIAS_DISJOINT /* they don't, but for memory that is only read: the caller vouches */
} nereid_alias;

#define NEREID_PRECISIONS "ieee tf32 tf32_rounded tf32x3 bf16x3 bf16x6"

/* clang-format off */
#define NEREID_KERNEL_OPTIONS(X, Y) \
X(INT,   num_warps,      4, 1, 32,   TUNED|SCHEDULE|IR, "--num-warps",  "N", "1 2 4 8 16 32", "warps a program: 1, 2, 4 (the default) ... 32") \
X(INT,   num_stages,     3, 1, 64,   TUNED|SCHEDULE|IR, "--num-stages", "N", NULL, "depth of pipelined loops; 3 is the default") \
/* Upstream a program is spread over a cluster of thread blocks, each with num_warps warps. */ \
X(INT,   num_ctas,       1, 1, 16,   TUNED|SCHEDULE|IR, "--num-ctas",   "N", "1 2 4 8 16", "thread blocks of a program that Triton would spread over a cluster: one block here, with as many warps in all, 32 at most") \
X(INT,   maxnreg,        0, 1, 1024, TUNED|SCHEDULE|IR, "--maxnreg",    "N", NULL, "registers a thread at most; no limit is the default") \
X(FLAG,  no_fp_fusion,   0, 0, 1,    IR, "--no-fp-fusion",    NULL, NULL, "products and sums are not fused to one operation") \
X(FLAG,  no_tensor_maps, 0, 0, 1,    IR, "--no-tensor-maps",  NULL, NULL, "on a GPU: threads copy the operands of products, where the hardware could copy boxes of tensors (TMA)") \
/* Without it a kernel takes boxes of tensors whose strides may be multiples of 16 bytes, and a \
 * launch of others runs code that is compiled for them when it is first needed. */ \
Y(FLAG,  known_rows,     0, 0, 1,    IR, NULL,                NULL, NULL, "boxes of tensors only where all rows are known to begin at multiples of 16 bytes") \
/* A launch of many programs starts as many as the device runs at once. */ \
Y(FLAG,  loops,          0, 0, 1,    IR, NULL,                NULL, NULL, "a program of a product's kernel does the work of several") \
/* A device_assert that fails ends the launch; so does a sum, a difference or a product of \
 * integers below 64 bits that overflows. */ \
X(FLAG,  debug,          0, 0, 1,    IR, "--debug",           NULL, NULL, "checks assertions and overflow, on device cpu each access of an array, too") \
X(FLAG,  allow_overflow, 0, 0, 1,    0,  "--allow-overflow",  NULL, NULL, "with --debug: sums, differences and products of integers may overflow") \
X(FLAG,  denormals,      0, 0, 1,    IR, "--denormals",       NULL, NULL, "exp2 of f32 takes and gives denormal numbers on a GPU, too") \
/* Begins with gdc_wait() and, if it has none, gdc_launch_dependents(), where the target has \
 * them: for launches with NEREID_LAUNCH_PDL. */ \
X(FLAG,  pdl,            0, 0, 1,    IR, "--pdl",             NULL, NULL, "on a GPU: starts before the kernel before it ends, and waits for that (dependent launch)") \
/* Bit i is set if, with `pdl`, kernels that may still run when this one starts write nothing of \
 * parameter i's memory.  Its loads may come before the wait. */ \
Y(INT,   steady,         0, 0, 0x7fffffff, IR, NULL,          "M",  NULL, "bits of parameters whose loads need not wait for the kernel before, which does not write there (with pdl)") \
/* Whatever the allow_tf32 of a dot says; NULL: tf32, or ieee by allow_tf32. */ \
X(WORD,  dot_precision,  0, 0, 0,    0,  "--input-precision", "P",  NEREID_PRECISIONS, "of products of f32 that name none; tf32 is the default") \
Y(ALIAS, alias,          0, 0, 2,    IR, NULL,                "A",  "guarded ordered disjoint", "arguments may overlap in memory: guarded (a launch checks it, the default), ordered (all code keeps the order); or they don't: disjoint")
/* clang-format on */

#define NEREID_OPTION_INT int
#define NEREID_OPTION_FLAG int
#define NEREID_OPTION_WORD const char *
#define NEREID_OPTION_ALIAS nereid_alias
#define NEREID_OPTION_FIELD(kind, name, ...) NEREID_OPTION_##kind name;

#endif
