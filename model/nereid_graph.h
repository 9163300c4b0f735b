/* Nereid's C API for tensor graphs: load a model, compile it for a device, run it.
 *
 * Three kinds of object beside those of nereid.h, each made by a function and freed by one:
 *   nereid_graph        a model file that was read
 *   nereid_executable   the model on a device: kernels and weights loaded, memory planned
 *   nereid_session      what runs of an executable change, for one of several threads
 *
 *     nereid_device *dev;  nereid_graph *g;  nereid_executable *e;
 *     nereid_graph_source s = {.path = "model.pt2"};
 *     nereid_device_open(&dev, "cuda");
 *     nereid_graph_open(&g, &s, NULL, NULL);
 *     nereid_executable_new(&e, g, dev, NULL);
 *     nereid_tensor x = {.data = data, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1},
 *                        .shape = (int64_t[]){8, 64}};
 *     nereid_tensor y = {0};
 *     nereid_executable_run(e, &x, 1, &y, 1, NULL);
 *
 * The rules of nereid.h hold: out-parameters come first, a failure is a negative nereid_code with
 * its message in nereid_error_message(), structs that the caller fills start from zeros.  Further:
 *   - An executable keeps nothing of its graph, which may be freed before it.  It must be freed
 *     before its device.
 *   - Where a plan of a model of ONNX's can't hold an open size, the model is compiled for the
 *     sizes of the run, and for values of inputs that decide shapes; this is kept for the next run
 *     of the same ones (the last 64).
 *   - A graph and a session are used by one thread at a time, and so are the functions that run an
 *     executable itself.  Any number of threads run an executable at once, each with a session.
 */
#ifndef NEREID_GRAPH_H
#define NEREID_GRAPH_H

#include "nereid_tune.h"

#include "nereid_graph_options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nereid_graph nereid_graph;
typedef struct nereid_executable nereid_executable;
typedef struct nereid_session nereid_session;

/* ---- models ---- */

/* How many tensors an input of an ONNX model has that is a sequence, or optional.  A sequence `x`
 * of 3 is three inputs, x_0, x_1 and x_2.  It is 1 for an optional tensor, or NEREID_ABSENT. */
enum { NEREID_ABSENT = -1 };
typedef struct {
  const char *input;
  int64_t n;
} nereid_graph_items;

/* The kind of a file is read from its content:
 *   - an exported program of PyTorch (`torch.export.save`, usually NAME.pt2)
 *   - a model in ONNX's format (NAME.onnx)
 *   - a graph as text: the Python that FX's print_readable writes, or what print(graph) does
 *   - a plan as text: what nereid_graph_emit wrote for NEREID_GRAPH_PLAN
 * A graph as text has no weights of its own: its parameters p_*, its buffers b_* and its constants
 * c_* are taken from `weights`, the file of the same model (.pt2 or .onnx), or, where that is NULL,
 * are inputs as the others. */
typedef struct {
  const char *path;    /* the file; with `data`, what messages call it */
  const void *data;    /* NULL: the file is read.  Must outlive the graph and its executables */
  size_t size;
  const char *weights; /* a path; NULL: the file's own */
  /* Values of inputs, in the model's order and in host memory, which must outlive the graph.  A
   * model of ONNX's needs those that decide shapes, and is then for these values alone: a run
   * with others compiles it anew.  Inputs of a graph as text that have no type there take that of
   * their value.  The rest is not looked at. */
  const nereid_tensor *inputs;
  int ninputs;
  const char *const *input_names; /* of `inputs`; NULL, here or in it: the input at that position */
  /* Items of sequences whose tensors `input_names` does not name, and of optional inputs that are
   * absent.  They must outlive the graph, as all names must. */
  const nereid_graph_items *items;
  int nitems;
} nereid_graph_source;

/* A model with operators that are not supported is read too: all of them are named in one message
 * that goes to `on_message` (which may be NULL), and again when it is to be compiled. */
NEREID_API int nereid_graph_open(nereid_graph **out, const nereid_graph_source *source,
                                 nereid_message_fn on_message, void *context);
NEREID_API void nereid_graph_free(nereid_graph *g);

/* 1 if there is an operator of that name ("aten.add.Tensor"), else 0.  A call of it may be refused
 * nonetheless, for its arguments. */
NEREID_API int nereid_graph_has_operator(const char *name);

/* The most columns of keys and of values that a kernel of attention has on a GPU of that compute
 * capability (90: Hopper; 0: a CPU), of operands of so many bits, with gradients or without. */
NEREID_API int nereid_graph_attention_widths(int64_t *keys, int64_t *values, int capability,
                                             unsigned bits, int gradients);

/* How a model is compiled: nereid_graph_options.h has all options.  NULL for a pointer to this, or
 * zeros in it, are the defaults. */
typedef struct {
  NEREID_GRAPH_OPTIONS(NEREID_GRAPH_FIELD, NEREID_GRAPH_FIELD, NEREID_GRAPH_FIELD)
} nereid_graph_options;

/* Stages of a model.  Graph, kernels and plan can be read back. */
typedef enum {
  NEREID_GRAPH_TEXT,    /* the graph, as FX prints it */
  NEREID_GRAPH_KERNELS, /* the kernel file that was generated for it */
  NEREID_GRAPH_PLAN,    /* the execution plan: buffers and launches, then the kernel file */
  NEREID_GRAPH_DOT,     /* a drawing for Graphviz: the nodes after all passes, in boxes by kernel;
                           with run_passes, after these alone */
  NEREID_GRAPH_FUSED,   /* the groups of nodes that share a kernel, one a line; ! marks what is
                           written to memory */
  NEREID_GRAPH_EXPLAIN, /* a table for people: what each kernel covers, must move and compute, how
                           long that takes at least, and why it is not one with those before it */
  NEREID_GRAPH_STRINGS, /* JSON: which tensors of an ONNX model have numbers in place of strings,
                           the list of its strings, the inputs that functions of strings fill */
  NEREID_GRAPH_KIND_COUNT
} nereid_graph_kind;

/* *text is NUL-terminated after *size bytes; the caller frees it with nereid_text_free(). */
NEREID_API int nereid_graph_emit(char **text, size_t *size, nereid_graph *g,
                                 const nereid_graph_options *o, nereid_graph_kind kind);

/* The memory of a run, in bytes, by the plan for `o->device`; sizes that the model leaves open are
 * taken from their ranges. */
typedef struct {
  int64_t inputs, outputs;
  int64_t peak; /* the most that inputs, outputs and temporaries take at once, as runs with these
                   options take it: with saves_memory step by step */
} nereid_planned_memory;

/* No kernel is compiled. */
NEREID_API int nereid_graph_memory(nereid_planned_memory *out, nereid_graph *g,
                                   const nereid_graph_options *o);

/* ---- compiled models ---- */

/* Compiles all kernels, unless `defer_compile` says otherwise; what depends on sizes that the model
 * leaves open waits for its first inputs.  On CPUs an ONNX model with open sizes waits for them,
 * too: its first kernels are for the sizes of the first run, and the first run of other sizes
 * compiles those for open ones. */
NEREID_API int nereid_executable_new(nereid_executable **out, nereid_graph *g, nereid_device *d,
                                     const nereid_graph_options *o);
NEREID_API void nereid_executable_free(nereid_executable *e);

/* An input or an output of the model. */
typedef struct {
  const char *name;
  const char *type;      /* "f32[s0, 64]": where sizes are open, by their symbols */
  const char *dtype;     /* "f32" */
  nereid_dl_dtype dl_dtype;
  int ndim;              /* -1: of an output whose axes depend on the sizes of the run */
  int is_number; /* an integer in Python, which decides sizes or follows from them: type "Sym(s1)".
                    It is passed as an i64 tensor without axes, in host memory; an output is there
                    when the run returns, not when it is over */
  int place;     /* of an output: its position among all that the model returns.  Floats and bools
                    that it returns are tensors without axes; None has a position, and no output */
} nereid_graph_value;

NEREID_API int nereid_executable_ninputs(const nereid_executable *e);
NEREID_API int nereid_executable_noutputs(const nereid_executable *e);
/* How many values the model returns, with those that are None. */
NEREID_API int nereid_executable_nplaces(const nereid_executable *e);
/* Values are in the model's order.  An input that a plan does not use has name NULL and may be
 * anything. */
NEREID_API int nereid_executable_input(nereid_graph_value *out, const nereid_executable *e, int i);
NEREID_API int nereid_executable_output(nereid_graph_value *out, const nereid_executable *e,
                                        int i);

/* The sizes of input i into `shape`, as many as it has axes, or of a number the number, where the
 * first `ngiven` inputs are as given; of these, one whose dtype is zeros is not given.  Data is not
 * looked at but for numbers.  Sizes that are left open are chosen: small, and the same in every
 * call. */
NEREID_API int nereid_executable_input_shape(int64_t *shape, nereid_executable *e,
                                             const nereid_tensor *given, int ngiven, int i);

/* 1 if input i is a number that the given inputs decide, such as a size of one of them; else 0. */
NEREID_API int nereid_executable_input_follows(nereid_executable *e, const nereid_tensor *given,
                                               int ngiven, int i);

/* ---- running ---- */

/* Checks the inputs as a run would, their data included, and compiles nothing.  Fills `outputs` as
 * nereid_executable_prepare() does.  If `defer_compile` is set, wrong inputs are reported before
 * any kernel is compiled. */
NEREID_API int nereid_executable_check(nereid_executable *e, const nereid_tensor *inputs,
                                       int ninputs, nereid_tensor *outputs, int noutputs);

/* Makes all ready for inputs of these shapes (their data is not looked at but for numbers), and
 * fills `outputs`: dtypes, shapes, NULL for data.  The shapes are valid until the executable runs
 * with others.  Calling it is optional: a run prepares what was not. */
NEREID_API int nereid_executable_prepare(nereid_executable *e, const nereid_tensor *inputs,
                                         int ninputs, nereid_tensor *outputs, int noutputs);

/* Runs the model on a stream (NULL: the device's default one); it is over when the stream is
 * synchronized.
 *
 * Inputs are in host memory or in the device's.  Where a kernel can use them they are, else they
 * are copied: from the host to a GPU, strided ones, ones that do not begin at a multiple of 16
 * bytes.  What the model writes to an input, it writes to the caller's tensor.
 *
 * An output whose data is not NULL is written there; it must have the right dtype and shape and no
 * gaps.  One whose data is NULL is described by the call, and is in memory of the executable, on
 * its device, until the next run.  Where data decides a size (nonzero), nereid_executable_prepare()
 * says the shape for the largest; the call writes the one that is to the tensor's shape.
 *
 * Buffers of the model that it updates (a cache, running means) keep their values from one run to
 * the next; each executable has its own.
 *
 * Indices in the data (of embedding, gather, index_put, ...) are checked as PyTorch checks them,
 * unless `no_checks` says otherwise.  One that is out of range touches no memory of others; the
 * outputs of its run are worth nothing, and buffers that it updates may have changed.  On a CPU the
 * run fails with NEREID_E_INDEX.  On a GPU the call that waits for the run does: this one, if it
 * copies an output to the host on the default stream, else nereid_stream_sync(),
 * nereid_event_sync(), nereid_device_sync() or nereid_copy_out(); a later run reports what nobody
 * waited for.  With `assert_indices` no call can use the outputs: the device is lost.
 *
 * Other data that PyTorch refuses (a divisor of integers that is 0, on a CPU; a probability that is
 * none; what the model asserts) is checked likewise, and fails with NEREID_E_DATA. */
NEREID_API int nereid_executable_run(nereid_executable *e, const nereid_tensor *inputs,
                                     int ninputs, nereid_tensor *outputs, int noutputs,
                                     nereid_stream *s);

/* Times runs as nereid_launch_time() does launches.  `o` may be NULL. */
NEREID_API int nereid_executable_time(nereid_timing *out, nereid_executable *e,
                                      const nereid_tensor *inputs, int ninputs,
                                      nereid_tensor *outputs, int noutputs, nereid_stream *s,
                                      const nereid_time_options *o);

/* The table of NEREID_GRAPH_EXPLAIN for inputs of these shapes, with the time that each kernel
 * takes: for that the model runs some times, kernel by kernel.  Freed with nereid_text_free(). */
NEREID_API int nereid_executable_explain(char **text, size_t *size, nereid_executable *e,
                                         const nereid_tensor *inputs, int ninputs,
                                         nereid_tensor *outputs, int noutputs, nereid_stream *s);

/* Writes the same runs, and the compilation before them, in Chrome's trace format (JSON), which
 * chrome://tracing and Perfetto show. */
NEREID_API int nereid_executable_trace(char **text, size_t *size, nereid_executable *e,
                                       const nereid_tensor *inputs, int ninputs,
                                       nereid_tensor *outputs, int noutputs, nereid_stream *s);

/* The memory of a run, in bytes; known once the executable is prepared. */
typedef struct {
  int64_t pool;        /* temporaries: exactly the most that is in use at once */
  int64_t temporaries; /* what they would take without reuse */
  int64_t weights;     /* copied to the device, or computed from weights once */
  int64_t mapped;      /* weights that are used where their file is mapped */
  int64_t inputs, outputs;
  int kernels;         /* compiled */
  int launches;        /* of a run */
  int stored;          /* 1 if the cache had the executable of an earlier compile */
} nereid_executable_info;

NEREID_API int nereid_executable_get_info(nereid_executable_info *out, const nereid_executable *e);

/* ---- several threads, and memory of the caller's ---- */

/* A session shares kernels, weights, and the buffers that a model updates, with its executable, and
 * must be freed before it.  Runs of a model that updates buffers are ordered by the caller; so are
 * runs of one session on several streams, but for those with a workspace. */
NEREID_API int nereid_session_new(nereid_session **out, nereid_executable *e);
NEREID_API void nereid_session_free(nereid_session *s);

/* Prepares a session as nereid_executable_prepare() does; the shapes are valid until the session
 * runs with others. */
NEREID_API int nereid_session_prepare(nereid_session *s, const nereid_tensor *inputs, int ninputs,
                                      nereid_tensor *outputs, int noutputs);

/* 1 if the model may write to input i, else 0; known once the session is prepared. */
NEREID_API int nereid_session_writes(const nereid_session *s, int i);

/* Memory of the caller's that a session takes as its steps need it, in the order of the run's
 * stream: a run then has no more at once than what is alive.  Called by the thread that runs the
 * session, before nereid_session_run() returns. */
typedef struct {
  void *context;
  /* `bytes` of the device, at a multiple of 16, and in *handle what give_back() gets; NULL: there
   * are none, and the run fails with NEREID_E_MEMORY.  Small temporaries are in the workspace.  All
   * are where it is NULL, as give_back() is then. */
  void *(*take)(void *context, int64_t bytes, void **handle);
  void (*give_back)(void *context, void *handle);
  /* The data of output i, which had none when the run began; `out` has its shape.  0, or not 0 if
   * there is no memory. */
  int (*output)(void *context, int i, nereid_tensor *out);
  /* No later step has input i.  Not called for those that the run writes or returns. */
  void (*input_done)(void *context, int i);
} nereid_run_memory;

/* Copies *m, whose other functions are needed.  Before the session is prepared.  Models whose data
 * decides sizes, recordings (mode reduce-overhead) and interpreters have all memory from the
 * beginning to the end of a run. */
NEREID_API int nereid_session_set_memory(nereid_session *s, const nereid_run_memory *m);

/* How a session runs.  Zeros are the defaults. */
typedef struct {
  nereid_stream *stream;
  void *native_stream; /* a CUstream, where `stream` is NULL; NULL: the device's default one */
  /* Memory of the device for temporaries, at a multiple of 256 bytes, which the caller takes back
   * when the stream has gone past the run.  If it has fewer bytes than nereid_executable_info.pool,
   * and for the interpreters, the session's own memory is used. */
  void *workspace;
  int64_t workspace_size;
} nereid_session_options;

/* Runs as nereid_executable_run() does, but an output whose data is NULL is in memory of the
 * session until its next run.  `o` may be NULL.
 *
 * If the stream is captured (nereid_device_is_capturing()), the graph has the session's memory: it
 * must run nothing else, and live as long as the graph.  Tensors have to be in the device's memory;
 * numbers are those of the capture.  A model whose data decides sizes is refused. */
NEREID_API int nereid_session_run(nereid_session *s, const nereid_tensor *inputs, int ninputs,
                                  nereid_tensor *outputs, int noutputs,
                                  const nereid_session_options *o);

NEREID_API int nereid_session_get_info(nereid_executable_info *out, const nereid_session *s);

/* Input i is the same tensor in all later runs of a session, or of the executable itself: the first
 * of them checks it, and copies it where a run must; the others don't look at it.  Parameters that
 * a caller passes are so, and need nothing of a recording (mode reduce-overhead) to be changed. */
NEREID_API int nereid_executable_set_static(nereid_executable *e, int i);

/* ---- executables as bytes ---- */

typedef struct {
  int embed_weights; /* the bytes have the weights; 0: the path of their file, if it is one, and
                        where they are in it.  Those of a model in memory are embedded */
} nereid_bytes_options;

/* The plan and the machine code of all kernels that do not depend on sizes that the model leaves
 * open, for this device and this build of Nereid.  *out is freed with nereid_text_free().  `o` may
 * be NULL. */
NEREID_API int nereid_executable_bytes(char **out, size_t *size, nereid_executable *e,
                                       const nereid_bytes_options *o);

typedef struct {
  const void *data;    /* of nereid_executable_bytes(); must outlive the executable */
  size_t size;
  const char *weights; /* where the file of weights is now; NULL: where it was */
  int no_choices;      /* fail where this machine might choose another plan: it has records of
                          measurements, or lacks a library that the plan calls */
} nereid_executable_source;

/* The executable without its model: no compiler is needed, and no graph.  NEREID_E_FILE for bytes
 * that are damaged, of another build, for another kind of device or processor, or whose file of
 * weights has changed, and where `no_choices` says so: then the model is to be compiled again.
 * Bytes are trusted as a program is:
 * they must be the caller's own. */
NEREID_API int nereid_executable_from_bytes(nereid_executable **out,
                                            const nereid_executable_source *source,
                                            nereid_device *d);

/* ---- ahead of time ---- */

typedef struct {
  const char *dir;     /* the folder, which is new, empty, or what an earlier build made */
  const char *targets; /* "sm_90a,sm_80" or "cpu"; NULL: the GPU of this machine, else its CPU */
  const char *name;    /* "bert": bert_run() and so on, bert.h, libbert.a; NULL: model_run() */
  int embed_weights;   /* the project's Makefile links weights.bin into the program */
  int ptx_only;        /* of a GPU: no machine code beside the PTX, even where there is ptxas */
  nereid_message_fn on_message; /* notes; may be NULL */
  void *context;                /* of on_message */
} nereid_build_options;

/* Writes a C project that needs no Nereid: `make -C DIR` builds libmodel.a, whose functions model.h
 * tells, and a program `model`.  The folder appears when it is complete. */
NEREID_API int nereid_graph_build(nereid_graph *g, const nereid_graph_options *o,
                                  const nereid_build_options *b);

#ifdef __cplusplus
}
#endif

#endif
