/* The options of compiling a graph, each once.  From a row come the field of nereid_graph_options,
 * its part of the cache's keys, the key of Python's dict, the option of `nereid graph` and
 * `nereid build` with its help, and docs/options.md.
 *
 * X(kind, name, uses, "--flag", "value", "choices", "meaning")
 *
 * G instead of X: of `nereid graph` alone.  Y: not on command lines, or in another form there.
 * kind: WORD (one of the choices), TEXT, FLAG, BITS, REPLAY, lists (RANGES, PLACES, FILES), whose
 *   length is the field nNAME, and functions (PASS_CALL, TUNE_CALL, COMPILE_CALL) with a context of
 *   their own.  Zeros are the defaults.
 * uses: PLAN (it decides what is compiled), SIZES (of open sizes: a plan for fixed ones has none),
 *   UNSTORED (an executable with it is neither taken from the cache nor left there), ASIDE (it
 *   changes nothing of an executable).  A PLAN that is not UNSTORED is part of the key. */
#ifndef NEREID_GRAPH_OPTIONS_H
#define NEREID_GRAPH_OPTIONS_H

#include <stdint.h>

/* A narrower range of a size that the model leaves open; both ends belong to it. */
typedef struct {
  const char *symbol; /* "s0": as in the types of inputs; "x[0]": axis 0 of input x; "n": an input
                         that is a number */
  int64_t lo, hi;
  int64_t likely; /* what it is in most runs, for which kernels are made fast; 0: not known */
} nereid_graph_range;

typedef enum {
  NEREID_TF32_PRODUCTS = 1, /* of matrices, and attention: PyTorch's set_float32_matmul_precision */
  NEREID_TF32_CONVOLUTIONS = 2 /* torch.backends.cudnn.allow_tf32 */
} nereid_graph_tf32;

/* Which runs on a GPU start all of their launches at once, as a CUDA graph. */
typedef enum {
  NEREID_REPLAY_BY_MODE,
  NEREID_REPLAY_NEVER,
  NEREID_REPLAY_REPEATED /* the third one of its sizes, and those that follow */
} nereid_graph_replay;

/* `done` of `total` kernels are compiled.  Any thread may call it, and several at once. */
typedef void (*nereid_compile_progress_fn)(void *context, int done, int total);

/* A pass has run.  `graph` is the graph after it, as text, or NULL where the pass changed nothing;
 * `seconds` it took. */
typedef void (*nereid_graph_pass_fn)(void *context, const char *pass, const char *graph,
                                     double seconds);

#define NEREID_GRAPH_MODES "default eager reduce-overhead max-autotune"
#define NEREID_GRAPH_DTYPES "fp32 bf16 fp16"
#define NEREID_GRAPH_LIBRARIES "records always none"
/* Names of passes: the program has them for its help and completions. */
#define NEREID_GRAPH_PASSES 0
#define NEREID_GRAPH_PASSES_LISTED ""

/* Other names on command lines: S("--flag", option, "value") */
#define NEREID_GRAPH_SHORTHANDS(S) S("--no-libraries", libraries, "none")

/* clang-format off */
#define NEREID_GRAPH_OPTIONS(X, G, Y) \
/* "default": on a GPU, runs whose sizes come again start all of their launches at once, as a CUDA \
 * graph that is kept for each combination of sizes (the last 16).  "reduce-overhead" does so from \
 * the first run on, and so does "max-autotune", which tunes a few shapes of tiles for each kernel \
 * on a GPU when the executable is made: by records (nereid_tune.h), and by measuring what they do \
 * not know. */ \
X(WORD, mode, PLAN, "--mode", "M", NEREID_GRAPH_MODES, "default; eager: a kernel for each operator; reduce-overhead: CUDA graphs; max-autotune: tiles measured as well") \
X(WORD, dtype, PLAN, "--dtype", "T", NEREID_GRAPH_DTYPES, "fp32, bf16 or fp16: of weights, inputs and the computation; the file's own is the default") \
X(RANGES, ranges, PLAN|SIZES, "--range", "SIZE=LO..HI", 0, "a narrower range of a size that the model leaves open: s0, or x[0] for axis 0 of input x") \
/* The caller has proven indices in range. */ \
X(FLAG, no_checks, PLAN, "--no-checks", 0, 0, "assumes that no operator refuses its data") \
/* For a comparison: kernels still start before those before them have ended, and wait. */ \
X(FLAG, no_early_loads, PLAN, "--no-early-loads", 0, 0, "on a GPU, kernels load nothing before the one before them has ended") \
/* "records": as records say, or, on a GPU without them, a table of times; max-autotune measures \
 * both ways and keeps what it finds.  Mode eager, devices `interp` and `nest` and built projects \
 * have none. */ \
G(WORD, libraries, PLAN, "--libraries", "WHICH", NEREID_GRAPH_LIBRARIES, "products by cuBLAS, BLAS or oneDNN: those that `records` say to be faster so (the default), `always`, `none`") \
/* Sums that may round their operands of f32 to TF32, which has 10 bits after the point. */ \
Y(BITS, tf32, PLAN, 0, "BITS", 0, "on a GPU, sums in TF32: bits of nereid_graph_tf32") \
X(FLAG, deterministic, PLAN, "--deterministic", 0, 0, "the same results in each run: sums that many programs add to memory, at indices or in gradients of attention, have one order, which takes longer") \
Y(REPLAY, replay, PLAN, 0, "R", 0, "runs that are CUDA graphs, other than by the mode (nereid_graph_replay)") \
/* As CUDA's assert() does: the driver prints the operator, and all later calls fail. */ \
Y(FLAG, assert_indices, PLAN, 0, 0, 0, "an index out of range ends the launch on a GPU") \
/* Kernels run in an order in which less memory is in use at once, and write results over \
 * temporaries, which then move as results do. */ \
Y(FLAG, saves_memory, PLAN, 0, 0, 0, "runs take memory step by step (nereid_run_memory)") \
Y(PLACES, released, PLAN|SIZES, 0, "I,...", 0, "with saves_memory: positions of inputs whose memory is free after their last use, as far as the caller knows") \
/* A value of the same size takes the input's memory, by the order of the run's kernels. */ \
Y(PLACES, overwritten, PLAN|SIZES, 0, "I,...", 0, "positions of inputs whose elements the caller does not look at after a run: values may be written over them") \
G(FILES, rewrites, PLAN|UNSTORED, "--rewrite", "RULES.py", 0, "user-defined rewrite rules") \
/* By the first call that prepares or runs, after it has checked the inputs. */ \
Y(FLAG, defer_compile, UNSTORED, 0, 0, 0, "kernels are compiled by the first run, not when the executable is made") \
Y(FLAG, keep, ASIDE, 0, 0, 0, "an executable of a graph as text is taken from the cache, or left there for later; one that is taken explains less of its kernels") \
/* Of nereid_graph_emit; an executable is compiled for its own device. */ \
Y(TEXT, device, ASIDE, 0, "D", 0, "of texts: what is compiled for, cuda (the default) or cpu") \
/* Of nereid_graph_emit with NEREID_GRAPH_TEXT or NEREID_GRAPH_DOT; "" is no passes. */ \
G(TEXT, run_passes, UNSTORED, "--run-passes", "P,...", 0, "of --emit graph and dot: passes to run before it prints") \
G(TEXT, dump_after, UNSTORED, "--dump-after", "PASS", NEREID_GRAPH_PASSES, "prints the graph after a pass to stderr: all" NEREID_GRAPH_PASSES_LISTED) \
/* Made if it is not there: 00_imported.py, 01_imported.dot, 02_functionalize.py ... */ \
G(TEXT, dump_dir, UNSTORED, "--dump-dir", "DIR", 0, "writes the result of each compile stage there, numbered") \
Y(PASS_CALL, on_pass, UNSTORED, 0, 0, 0, "called with the graph after each pass that dump_after says") \
Y(TUNE_CALL, on_progress, UNSTORED, 0, 0, 0, "of max-autotune: called while it measures") \
Y(COMPILE_CALL, on_compile, UNSTORED, 0, 0, 0, "called while kernels are compiled")
/* clang-format on */

#define NEREID_GRAPH_FIELD_WORD(name) const char *name;
#define NEREID_GRAPH_FIELD_TEXT(name) const char *name;
#define NEREID_GRAPH_FIELD_FLAG(name) int name;
#define NEREID_GRAPH_FIELD_BITS(name) int name;
#define NEREID_GRAPH_FIELD_REPLAY(name) nereid_graph_replay name;
#define NEREID_GRAPH_FIELD_RANGES(name) const nereid_graph_range *name; int n##name;
#define NEREID_GRAPH_FIELD_PLACES(name) const int *name; int n##name;
#define NEREID_GRAPH_FIELD_FILES(name) const char *const *name; int n##name;
#define NEREID_GRAPH_FIELD_PASS_CALL(name) nereid_graph_pass_fn name; void *name##_context;
#define NEREID_GRAPH_FIELD_TUNE_CALL(name) nereid_tune_progress_fn name; void *context;
#define NEREID_GRAPH_FIELD_COMPILE_CALL(name) nereid_compile_progress_fn name; void *name##_context;
#define NEREID_GRAPH_FIELD(kind, name, ...) NEREID_GRAPH_FIELD_##kind(name)

#endif
