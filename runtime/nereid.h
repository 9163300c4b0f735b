/* Nereid's C API: compile kernels written in Triton's language, and launch them.
 *
 * Five kinds of object, each made by a function and freed by one:
 *   nereid_module   what a kernel file holds
 *   nereid_image    a compiled kernel as data: for one or several targets, savable as one file
 *   nereid_device   a GPU, the CPU, or one of two interpreters that check what a kernel does
 *   nereid_kernel   an image loaded on a device
 *   nereid_launch   a kernel with its arguments and grid, ready to start any number of times
 *
 *     nereid_device *dev;  nereid_image *image;  nereid_kernel *k;  nereid_launch *l;
 *     nereid_arg args[] = {{"x_ptr", "*fp32:16", 0}, {"n", "i32", 0}, {"BLOCK", 0, "1024"}};
 *     nereid_request r = {.source.path = "scale.py", .args = args, .nargs = 3};
 *     nereid_device_open(&dev, "cuda");
 *     nereid_compile_for(&image, dev, &r);
 *     nereid_kernel_load(&k, dev, image);
 *     nereid_launch_new(&l, k, (uint32_t[]){grid, 1, 1});
 *     nereid_launch_set_pointer(l, 0, x);
 *     nereid_launch_set_int(l, 1, n);
 *     nereid_launch_run(l, NULL);
 *
 * Rules:
 *   - Out-parameters come first.  A function that can fail returns 0 or a negative code
 *     (nereid_code); the message is kept for the calling thread until its next failure:
 *     nereid_error_message().  After a failure the out-parameters are NULL or 0.
 *   - A pointer is NULL only where that is said; else the function gives NEREID_E_USAGE, or, where
 *     it returns no code, NULL or 0.  Functions that free do nothing with NULL.
 *   - Strings and arrays that are passed in are copied if they are kept.  The result of a function
 *     belongs to the object it was asked of and lives as long, except where stated.
 *   - Structs that are filled by the caller start from zeros ({0}): zero means the default.
 *   - Threads: different objects may be used by different threads at the same time, and a device,
 *     an image and a kernel by several threads at once (freeing excepted).  A module, a launch and
 *     a value are used by one thread at a time.  Compiling is independent of any device and runs on
 *     as many threads as the caller likes.
 *   - Callbacks that a function is given are called before it returns, by the thread that called
 *     it; several threads call those of nereid_compile_all(), each for its request.  Callbacks of a
 *     device are called by any thread that is in a function of the device, or that works for one,
 *     and by several at a time.  A callback calls no function of the object it is about; one that
 *     needs a lock which a caller may hold (Python's) queues what it is told.
 *   - Fork: while no other thread is in a function of the library, a process may fork.  The child
 *     compiles, loads and launches with the objects that it has inherited, and has threads and
 *     open databases of its own; a GPU that was open before works in the other process alone, as
 *     CUDA requires, and says so (NEREID_E_DEVICE).  Tunings under way belong to the process that
 *     began them.
 *   - An image may be freed once it is loaded.  Launches must be freed before their kernel, and
 *     kernels, streams, events and memory before their device.
 */
#ifndef NEREID_H
#define NEREID_H

#include <stddef.h>
#include <stdint.h>

#include "nereid_options.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEREID_API __attribute__((visibility("default")))

typedef struct nereid_module nereid_module;
typedef struct nereid_image nereid_image;
typedef struct nereid_device nereid_device;
typedef struct nereid_kernel nereid_kernel;
typedef struct nereid_launch nereid_launch;
typedef struct nereid_stream nereid_stream;
typedef struct nereid_event nereid_event;
typedef struct nereid_value nereid_value;

/* ---- errors ---- */

typedef enum {
  NEREID_OK = 0,
  NEREID_E_KERNEL = -1,    /* the kernel or its arguments are wrong; the message has the place */
  NEREID_E_USAGE = -2,     /* a function was called wrongly: an unknown name, a malformed value */
  NEREID_E_MEMORY = -3,    /* out of host or device memory */
  NEREID_E_DEVICE = -4,    /* no such device, no driver, or the driver refused */
  NEREID_E_LOST = -5,      /* a kernel broke the device's context: close the device, open it anew */
  NEREID_E_TOOL = -6,      /* no C compiler or ptxas, or it failed */
  NEREID_E_FILE = -7,      /* a file can't be read or written, or is not what it should be */
  NEREID_E_RESOURCES = -8, /* past a limit of the device: shared memory, threads, grid */
  NEREID_E_FINDINGS = -9,  /* an interpreter ran the kernel and found it at fault */
  NEREID_E_INDEX = -10,    /* a model was run with an index that is out of range (nereid_graph.h) */
  NEREID_E_CALLER = -11,   /* a callback of the caller's failed */
  NEREID_E_INTERNAL = -12, /* a fault of Nereid, whose message is a report to send: stage, place,
                              version, what repeats it.  Nothing else is affected */
  NEREID_E_DATA = -13      /* a model was run with data that an operator refuses (the same) */
} nereid_code;

/* The message of the last failure in this thread; "" if there was none.  Messages about a kernel
 * have the form
 *   FILE:LINE:COL: error: text
 * with the source line and a caret below, and end in a newline; others are one line without. */
NEREID_API const char *nereid_error_message(void);
NEREID_API int nereid_error_code(void);

typedef enum {
  NEREID_SEVERITY_ERROR,
  NEREID_SEVERITY_WARNING,
  NEREID_SEVERITY_NOTE, /* notes and hints belong to the error or warning before them */
  NEREID_SEVERITY_HINT
} nereid_severity;

/* A part of a message.  Strings are never NULL. */
typedef struct {
  nereid_severity severity;
  const char *file;   /* as it was named; "": the message is about no file */
  int line, column;   /* from 1, the column in bytes; 0: about a whole file, or none */
  const char *text;   /* of one or several lines, without a newline at the end */
  const char *source; /* the line of the file, cut if it is very long; "": it is not at hand */
  int caret, length;  /* characters of `source` before those it is about, and the number of these */
  const char *id;     /* "E_SEMA_UNDEFINED" (docs/messages.md); "": not known, as it is of all parts
                         that nereid_message_next() reads */
} nereid_diagnostic;

/* The message of the last failure in this thread as data: its first part is the error.  Results
 * are valid until the thread's next failure. */
NEREID_API int nereid_error_count(void);
NEREID_API int nereid_error_diagnostic(nereid_diagnostic *out, int i);
/* The kernel that the last failure is about; "": none, or not known. */
NEREID_API const char *nereid_error_kernel(void);

/* After NEREID_E_RESOURCES: what the kernel needs more of than there is. */
typedef struct {
  const char *name;        /* "shared memory", "registers", "threads", "grid" ...; "": not known */
  int64_t required, limit; /* in bytes, registers, ...; 0: not known */
} nereid_resource;

NEREID_API int nereid_error_resource(nereid_resource *out);

/* The first part of a text that a nereid_message_fn was given, or of a copy of
 * nereid_error_message(): `*text` is cut into strings in place and moves on to the next part, at
 * the end to "".  Returns 1, 0 at the end, or a negative code. */
NEREID_API int nereid_message_next(nereid_diagnostic *out, char **text);

/* "0.1.0", and a number that differs with any change of the compiler. */
NEREID_API const char *nereid_version(void);
NEREID_API const char *nereid_build_id(void);

/* ---- kernel files ---- */

typedef struct nereid_name nereid_name;

/* Answers for `name` in `scope`, one of the caller's: fills *out, which is zeros before, and
 * returns 0; any other number ends the compilation, which fails with NEREID_E_CALLER.  It is asked
 * once for a name of a scope, by the thread that compiles.  Strings live until the function that
 * was given the source returns. */
typedef int (*nereid_lookup_fn)(void *context, const void *scope, const char *name,
                                nereid_name *out);

/* The origin of source text.  IR text (what nereid_emit wrote) is told by its content.
 *
 * `text` may be a part of the file: then `line` and `column` say where, and all messages have
 * places of the file.  If there is a `lookup`, it may be the kernel alone, from its `def` on,
 * without decorators; names that the text does not bind (neither by statements nor as parameters)
 * are looked up in `scope`.  A name that is not found there is one of Python's own, or not defined.
 * Where a call leaves out a parameter `p` of a function that was looked up, "p=" is looked up in
 * the function's scope: its default, as it was when the function was defined.  If that is not
 * found, the default's expression is evaluated.  A call with constants of a function of kind
 * NEREID_NAME_HOST is looked up in the same scope, as "log2(8,base=2,)": its result.  If that is
 * not found, its text is evaluated. */
typedef struct {
  const char *path;               /* the file; with `text`, what messages call it */
  const char *text;               /* NULL: the file is read */
  size_t size;                    /* 0: as far as the first NUL */
  const char *const *import_path; /* folders for absolute imports */
  int n_import_path;
  int line;                       /* of the file, where `text` begins; 0: 1 */
  int column;                     /* how many columns were cut from each line of `text` */
  nereid_lookup_fn lookup;        /* NULL: all names are bound by the text */
  void *lookup_context;
  const void *scope;              /* handed to `lookup` for names in `text`; may be NULL */
} nereid_source;

/* What a name of the caller's is. */
typedef enum {
  NEREID_NAME_NONE,  /* there is no such name */
  NEREID_NAME_VALUE, /* the value of `text`, an expression over literals and the language's full
                        names: "128", "'tf32'", "(1, None)", "triton.language",
                        "triton.language.float16", "triton.language.load", "math.pi".  `nereid` is
                        the same as `triton` there.  Other names in it are looked up in
                        source.scope, if that is not NULL */
  NEREID_NAME_SCOPE, /* a module or class called `text`: its attributes are looked up in
                        source.scope */
  NEREID_NAME_JIT,   /* a jit function called `text`.  `source` has its text, path, line, column and
                        scope; its text begins with `def`, its other fields are not used */
  NEREID_NAME_HOST,  /* a function evaluated at compile time (constexpr_function), likewise */
  NEREID_NAME_CLASS, /* a class likewise, from `class` or its decorators on: a NamedTuple; without
                        one as its base an aggregate */
  NEREID_NAME_OTHER  /* nothing that a kernel can use; `text` says what it is: "a torch.Tensor" */
} nereid_name_kind;

struct nereid_name {
  nereid_name_kind kind;
  const char *text;
  nereid_source source;
};

typedef enum {
  NEREID_PARAM_RUNTIME = 0,
  NEREID_PARAM_CONSTEXPR = 1
} nereid_param_kind;

typedef struct {
  const char *name;
  nereid_param_kind kind;
  int has_default;
  int tuned;             /* an autotune or heuristics decorator would set it */
  int do_not_specialize; /* its value must not be specialized on */
  int is_pointer;        /* of IR text: the type is known */
  const char *type;      /* "i64" where the file fixes the type, else NULL */
  int64_t divisor;       /* of IR text: what the argument must be divisible by; else 1 */
  const char *annotation;/* as written; "" if none */
} nereid_param;

typedef struct {
  const char *name;   /* NAME or Class.NAME */
  const char *file;
  int line;
  int is_helper;      /* called by another kernel of the file */
  int is_shadowed;    /* another definition has the name at the end of the file: it is reached by
                         NAME@LINE only */
  const nereid_param *params;
  int nparams;
  int is_decorated;   /* by more than jit: autotune, heuristics, or what nobody here knows */
} nereid_kernel_info;

/* Gets warnings and notes: whatever is no failure.  May be NULL. */
typedef void (*nereid_message_fn)(void *context, const char *text);

NEREID_API int nereid_module_open(nereid_module **out, const nereid_source *source,
                                  nereid_message_fn on_message, void *context);
NEREID_API void nereid_module_free(nereid_module *m);
NEREID_API int nereid_module_count(const nereid_module *m);
/* NULL if `i` is out of range. */
NEREID_API const nereid_kernel_info *nereid_module_kernel(const nereid_module *m, int i);
/* `which` is NAME, Class.NAME, NAME@LINE, or NULL for the only kernel of the file. */
NEREID_API int nereid_module_find(const nereid_kernel_info **out, nereid_module *m,
                                  const char *which);
/* True if the module is IR text. */
NEREID_API int nereid_module_is_ir(const nereid_module *m);

/* ---- compiling ---- */

/* An argument by name, or an item of a tuple as "shape.0" (in a tuple in it "shape.0.1"): each is a
 * parameter of the image.  Either `type` or `value` is given.
 *   type    of a run-time argument: "*fp32", "*bf16:16" (divisible by 16), "i32", "i32:16",
 *           "i32:1" (known to be 1), "fp32", "i1", "*u8", "none"; of a tensor descriptor `d`
 *           "tensordesc<bf16[64,64]>" or "tensordesc<bf16[64,64],padding=nan>": a pointer that the
 *           i32 "d.shape.0", "d.shape.1" ... and the i64 "d.strides.0", "d.strides.1" ... follow,
 *           parameters of the image that may have a type of their own ("d.shape.1" = "i32:16")
 *   value   of a constexpr: a number, "True", "False", "None", "tl.float16", "fn:NAME" for a jit
 *           function of the file, "name:NAME" for any other value that it has (both are looked up
 *           as names in `source.text` are), or else a string, which may be in quotes
 * Parameters that are left out take their defaults. */
typedef struct {
  const char *name;
  const char *type;
  const char *value;
} nereid_arg;

/* Kinds of code.  Each stage can be printed, and compiling may go on from TILE, NEST and
 * THREAD text. */
typedef enum {
  NEREID_AST,    /* the syntax tree of the file */
  NEREID_TILE,   /* what a program computes, with its schedule once it has one */
  NEREID_NEST,   /* how: loop nests */
  NEREID_THREAD, /* the same, for one thread */
  NEREID_PTX,
  NEREID_C,
  NEREID_CUBIN,  /* machine code of an NVIDIA GPU */
  NEREID_KIND_COUNT
} nereid_kind;

NEREID_API const char *nereid_kind_name(nereid_kind k); /* "ptx" */

typedef struct {
  nereid_source source;
  const char *kernel;      /* NAME, Class.NAME, NAME@LINE; NULL: the only one */
  const nereid_arg *args;
  int nargs;
  const char *target;      /* NULL: "sm_90a", or what IR text says */
  const char *symbol;      /* what the code calls the kernel; NULL: by its name */
  const char *run_passes;  /* nereid_emit: apply only these, comma-separated, and print */
  /* After pass `dump_after`, or after each if it is "all": its IR, or NULL where the pass changed
   * nothing, and the time it took. */
  const char *dump_after;
  void (*on_pass)(void *context, const char *pass, const char *ir, double seconds);
  nereid_message_fn on_message;
  void *context;           /* for both callbacks */
  const char *language;    /* Triton's version, "3.6" or "3.9"; NULL: the one that the nearest
                              pyproject.toml of the file requires, or 3.6 */
  /* num_warps, debug and others: nereid_options.h has them all.  0 and NULL are the defaults. */
  NEREID_KERNEL_OPTIONS(NEREID_OPTION_FIELD, NEREID_OPTION_FIELD)
} nereid_request;

/* An error, with its message, if the option of that name is one of configurations (num_warps,
 * num_stages, num_ctas, maxnreg) and has no such value. */
NEREID_API int nereid_check_option(const char *name, int value);

/* The text (or, for NEREID_CUBIN, the bytes) of one stage.  *text is NUL-terminated after *size
 * bytes; the caller frees it with nereid_text_free(). */
NEREID_API int nereid_emit(char **text, size_t *size, const nereid_request *r, nereid_kind kind);
NEREID_API void nereid_text_free(char *text);

/* An image with code of `kind` for r->target.  The caller frees it. */
NEREID_API int nereid_compile(nereid_image **out, const nereid_request *r, nereid_kind kind);
/* Compiles to the kind of code that a device runs, for its target unless r->target or scheduled IR
 * text names another. */
NEREID_API int nereid_compile_for(nereid_image **out, const nereid_device *d,
                                  const nereid_request *r);

/* The result of one of several requests: an image, or the code of a failure and its message. */
typedef struct {
  nereid_image *image; /* the caller's; NULL after a failure */
  int code;
  char *message; /* freed with nereid_text_free(); NULL: none */
} nereid_compiled;

/* Compiles n requests, into out[0] ... out[n - 1], on as many threads as there are cores. Callbacks
 * of the requests are called on these threads, several at a time.  A request that fails is no
 * failure of the call. */
NEREID_API int nereid_compile_all(nereid_compiled *out, const nereid_device *d,
                                  const nereid_request *requests, int n);

/* ---- images ---- */

/* An image holds variants, tried in order: the first one whose target fits the device and whose
 * guards hold for the arguments is launched. */
NEREID_API void nereid_image_free(nereid_image *image);
NEREID_API int nereid_image_load(nereid_image **out, const char *path);
NEREID_API int nereid_image_from_bytes(nereid_image **out, const void *data, size_t size);
/* Written to a temporary name and renamed. */
NEREID_API int nereid_image_save(const nereid_image *image, const char *path);
/* The bytes that save writes; freed with nereid_text_free(). */
NEREID_API int nereid_image_bytes(char **out, size_t *size, const nereid_image *image);
/* Appends copies of `other`'s variants: of other targets, or with other guards.  Both must have the
 * same run-time parameters. */
NEREID_API int nereid_image_add(nereid_image *image, const nereid_image *other);

/* An image with machine code (NEREID_CUBIN) for `target`, such as "sm_90a", in place of PTX, or for
 * each variant's own target (NULL).  ptxas makes it, or the cache has it: this needs no GPU and no
 * driver.  Variants for other targets, and of other kinds, are left out; if none is left the result
 * is NEREID_E_USAGE.  Variants are assembled on all cores. */
NEREID_API int nereid_image_assemble(nereid_image **out, const nereid_image *image,
                                     const char *target);
/* A C source and a header with the image's code for GPUs (PTX or machine code) in it, and with
 * functions NAME_load, NAME_launch and NAME_unload, whose arguments have C's types.  They need the
 * driver (-lcuda) and nothing of Nereid.  `name`, a name in C, is that of the functions and of the
 * files, NAME.c and NAME.h; NULL: the kernel's.  Images that are compiled with alias GUARDED are
 * refused if their code has anything to check.  Both texts are freed with nereid_text_free(). */
NEREID_API int nereid_image_source(char **source, char **header, const nereid_image *image,
                                   const char *name);
/* A hash of the image's code and of how it is launched, as 32 hexadecimal digits, of which at most
 * `size` - 1 are written, and a NUL: images with equal keys do the same.  It is the same in every
 * process and on every machine.  Places in the source, which debuggers show, are left out of it,
 * but for machine code, which contains them. */
NEREID_API int nereid_image_key(char *out, size_t size, const nereid_image *image);

typedef struct {
  const char *name;
  const char *type; /* "f32", "*f32" */
  int is_pointer;
  int is_float;
  int written;      /* the kernel may write through it */
} nereid_image_param;

typedef struct {
  const char *target;
  nereid_kind kind;
  const char *entry; /* the symbol */
  const char *code;
  size_t size;
  int threads;       /* of a program */
  int64_t shared_bytes; /* of a GPU's code: the least dynamic shared memory of a launch */
  int nguards;
  int registers;     /* a thread, as machine code says (NEREID_CUBIN); 0: not known */
  int spill_bytes;   /* local memory a thread, likewise: spilled registers, and arrays */
} nereid_variant;

NEREID_API const char *nereid_image_name(const nereid_image *image);
NEREID_API int nereid_image_nparams(const nereid_image *image);
/* Run-time parameters in their declared order; those known to be 1 are among them. */
NEREID_API int nereid_image_get_param(nereid_image_param *out, const nereid_image *image, int i);
/* The place of a run-time parameter, negative if there is none of that name (no message). */
NEREID_API int nereid_image_find_param(const nereid_image *image, const char *name);
NEREID_API int nereid_image_nvariants(const nereid_image *image);
NEREID_API int nereid_image_get_variant(nereid_variant *out, const nereid_image *image, int i);
/* A condition of a variant, such as "n % 16 == 0"; NULL past the end. */
NEREID_API const char *nereid_image_guard(const nereid_image *image, int variant, int i);

/* ---- devices ---- */

/* "cuda" or "cuda:1": a GPU.  "cpu": compiled C on all cores.  "interp": the reference interpreter.
 * "nest": the interpreter of the loop nests that GPU code is printed from; it finds races and
 * deadlocks. */
NEREID_API int nereid_device_open(nereid_device **out, const char *name);
NEREID_API void nereid_device_close(nereid_device *d);

typedef struct {
  const char *name;        /* "cuda:0" */
  const char *description; /* "NVIDIA H100 80GB HBM3", "16 cores" */
  const char *target;      /* "sm_90a" */
  nereid_kind kind;        /* the code it runs */
  int64_t memory;          /* bytes; 0: the host's */
  int64_t l2_bytes;        /* of a GPU */
  int64_t shared_bytes;    /* that a program may have */
  int processors;          /* multiprocessors or cores */
  int clock_khz, memory_clock_khz, memory_bus_bits; /* of a GPU; 0 if not known */
  int driver_version;      /* 12040: 12.4 */
} nereid_device_info;

NEREID_API int nereid_device_get_info(nereid_device_info *out, const nereid_device *d);
/* How many of "cuda", "cpu", ... there are.  0 for cuda without a driver: nereid_error_message()
 * then says why. */
NEREID_API int nereid_device_count(const char *kind);
/* Notes that are no failures (a cache that can't be used, registers that spill), and the findings
 * of interpreters, go there. */
NEREID_API void nereid_device_on_message(nereid_device *d, nereid_message_fn fn, void *context);
/* Makes a fault (SIGSEGV, SIGBUS) in a kernel of device cpu print a line on standard error, before
 * it reaches the handler that was installed earlier.  The last device counts. */
NEREID_API int nereid_device_tell_faults(nereid_device *d);
/* The lines of device_print go to `fn`, each with its newline, from any of the threads that run a
 * kernel, several at a time; NULL: to C's stdout.  A GPU's driver always prints to C's stdout. */
NEREID_API void nereid_device_on_print(nereid_device *d, nereid_message_fn fn, void *context);
/* From now on a launch on device cpu has no more threads than this, and no more than the device had
 * when it was opened.  Other devices have none. */
NEREID_API int nereid_device_set_threads(nereid_device *d, int threads);
/* Waits for all that was started on the device. */
NEREID_API int nereid_device_sync(nereid_device *d);

/* 1 if the stream, a CUstream, is being captured: its work is recorded in a CUDA graph, and runs
 * when that does; else 0. */
NEREID_API int nereid_device_is_capturing(nereid_device *d, void *native);

/* The context (CUcontext) of a cuda device, NULL for others. */
NEREID_API void *nereid_device_native(nereid_device *d);

/* Libraries that models may call (nereid_graph.h): cuBLAS, cuDNN, a BLAS, oneDNN.  They are looked
 * for, when they are needed first, in these folders (with colons between), those of
 * NEREID_LIBRARY_PATH, the process, beside PyTorch, and in the system. */
NEREID_API int nereid_device_library_path(nereid_device *d, const char *folders);
/* The version of the library that has a function such as "cublas.matmul", "cublasLt 12.8.4", valid
 * as long as the device; NULL: it is not here, or not for this device. */
NEREID_API const char *nereid_device_library_version(nereid_device *d, const char *function);

/* The path of the cache of compiled code, "" if it is off, and its usability. */
NEREID_API int nereid_cache_describe(char *out, size_t size);

/* ---- memory (simple programs; any pointer the device can reach will do) ---- */

/* At least 256-byte aligned.  Free and large fills wait for nothing; copies without a stream are
 * complete on return. */
NEREID_API int nereid_alloc(void **out, nereid_device *d, size_t size);
NEREID_API void nereid_free(nereid_device *d, void *p);
NEREID_API int nereid_copy_in(nereid_device *d, void *to, const void *from, size_t size,
                              nereid_stream *s);
NEREID_API int nereid_copy_out(nereid_device *d, void *to, const void *from, size_t size,
                               nereid_stream *s);
NEREID_API int nereid_copy(nereid_device *d, void *to, const void *from, size_t size,
                           nereid_stream *s);
NEREID_API int nereid_fill(nereid_device *d, void *to, int byte, size_t size, nereid_stream *s);

/* ---- streams and events.  NULL is the device's default stream ---- */

NEREID_API int nereid_stream_new(nereid_stream **out, nereid_device *d);
/* A stream (CUstream) of the caller's, who keeps it. */
NEREID_API int nereid_stream_wrap(nereid_stream **out, nereid_device *d, void *native);
NEREID_API void nereid_stream_free(nereid_stream *s);
NEREID_API int nereid_stream_sync(nereid_stream *s);
NEREID_API void *nereid_stream_native(const nereid_stream *s);
NEREID_API int nereid_event_new(nereid_event **out, nereid_device *d);
NEREID_API void nereid_event_free(nereid_event *e);
NEREID_API int nereid_event_record(nereid_event *e, nereid_stream *s);
NEREID_API int nereid_event_sync(nereid_event *e);
NEREID_API int nereid_event_elapsed_us(double *out, const nereid_event *from,
                                       const nereid_event *to);

/* ---- kernels and launches ---- */

/* Loads the variants that fit the device, compiling them to machine code where they are not in the
 * cache.  The image is copied as far as it is needed. */
NEREID_API int nereid_kernel_load(nereid_kernel **out, nereid_device *d, const nereid_image *image);
/* Loads n images, into out[0] ... out[n - 1], on all cores; after a failure there is none.  On a
 * CPU this is far faster than one by one: their code is compiled together. */
NEREID_API int nereid_kernel_load_all(nereid_kernel **out, nereid_device *d,
                                      const nereid_image *const *images, int n);
NEREID_API void nereid_kernel_free(nereid_kernel *k);

typedef struct {
  int registers;     /* a thread */
  int spill_bytes;   /* local memory a thread */
  int64_t shared_bytes;
  int threads;
  int from_cache; /* was compiled before; of PTX that the driver assembles, and keeps, always 0 */
} nereid_kernel_resources;

/* The resources of the first variant that was loaded; zeros where the device has no such thing. */
NEREID_API int nereid_kernel_get_resources(nereid_kernel_resources *out, const nereid_kernel *k);

/* A tensor, laid out as DLPack's DLTensor is. */
typedef struct {
  int32_t device_type; /* 1 CPU, 2 CUDA, as in DLPack */
  int32_t device_id;
} nereid_dl_device;

typedef struct {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 e4m3fn, 12 e5m2 */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} nereid_dl_dtype;

typedef struct {
  void *data;
  nereid_dl_device device;
  int32_t ndim;
  nereid_dl_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: compact, row-major */
  uint64_t byte_offset;
} nereid_tensor;

/* A launch with every argument unset.  The grid's extents are at least 1. */
NEREID_API int nereid_launch_new(nereid_launch **out, nereid_kernel *k, const uint32_t grid[3]);
NEREID_API void nereid_launch_free(nereid_launch *l);
NEREID_API int nereid_launch_set_grid(nereid_launch *l, const uint32_t grid[3]);
typedef enum {
  NEREID_LAUNCH_PDL = 1,        /* programmatic dependent launch: it may start before the kernel
                                   before it in the stream has ended, and waits by gdc_wait() */
  NEREID_LAUNCH_COOPERATIVE = 2 /* all programs run at once, or the launch fails: on device cpu
                                   by a thread for each */
} nereid_launch_flag;

/* How a GPU starts the kernel: flags, 0 at first.  Other devices, and GPUs before sm_90, start it
 * when the one before has ended. */
NEREID_API int nereid_launch_set_flags(nereid_launch *l, unsigned flags);
/* `i` counts the image's run-time parameters.  Integers must fit the parameter's type. */
NEREID_API int nereid_launch_set_int(nereid_launch *l, int i, int64_t value);
NEREID_API int nereid_launch_set_float(nereid_launch *l, int i, double value);
NEREID_API int nereid_launch_set_pointer(nereid_launch *l, int i, const void *p);
/* The dtype must be the parameter's (integers of either signedness), the device the launch's.  A
 * tensor descriptor takes its extents and strides from the tensor, too. */
NEREID_API int nereid_launch_set_tensor(nereid_launch *l, int i, const nereid_tensor *t);
/* Starts the kernel; it is over, and its printed lines are in C's stdout, when the stream is
 * synchronized.  Unless something was set since the last time, this is one call of the driver:
 * nothing is allocated, looked up or checked. */
NEREID_API int nereid_launch_run(nereid_launch *l, nereid_stream *s);
/* Starts a launch with the caller's arguments: 8 bytes for each run-time parameter (integers sign-
 * or zero-extended, floats as the bits of their own type, pointers as addresses), `grid` NULL for
 * the launch's own.  It is for executors that keep their arguments in tables. */
NEREID_API int nereid_launch_run_with(nereid_launch *l, nereid_stream *s, const uint64_t *args,
                                      const uint32_t *grid);

/* The bytes from a pointer on that belong to its tensor: lo <= byte < hi.  {0, 0}: unknown;
 * lo > hi: none. */
typedef struct {
  int64_t lo, hi;
} nereid_extent;

/* Memory of the caller's for one launch: `size` bytes at a multiple of `alignment`.  The kernel
 * uses it in the order of `stream`: an allocator that follows streams may have it back once
 * nereid_kernel_run() has returned.  NULL: there is none. */
typedef void *(*nereid_scratch_fn)(void *context, size_t size, size_t alignment, void *stream);

typedef struct {
  unsigned flags;            /* of nereid_launch_flag */
  nereid_scratch_fn scratch; /* NULL: the device's own memory, which it takes and gives back in the
                                order of the stream.  Interpreters, which check it, use theirs. */
  void *context;
  int (*interrupted)(void *context); /* of a kernel on device cpu whose programs wait for others,
                                        now and then by the calling thread: is the launch to end?
                                        It fails then; NULL: it never is */
  int (*outside)(void *context, int i, int64_t bytes); /* the launch is going to access so many
                                        bytes from argument i on, past its extent, on device cpu:
                                        is that wrong?  It fails then; NULL: always */
} nereid_run_options;

/* Starts a kernel without a launch object.  Nothing that is shared is written: any number of
 * threads may run one kernel, on one stream or several.
 *   native_stream  a CUstream of the device's primary context, NULL for the default stream;
 *                  other devices ignore it.  The stream may be capturing; then the first run on
 *                  overlapping arguments, which compiles and loads code for them, has to be before
 *   grid           with an extent of 0 nothing runs, and the result is 0
 *   args           8 bytes a run-time parameter, as of nereid_launch_run_with(); read before the
 *                  function returns
 *   extents        one a run-time parameter, read of pointers alone; NULL: all are unknown.  They
 *                  tell that arguments don't overlap without a look at what the kernel accesses,
 *                  and interpreters report accesses outside of them.  An unknown extent follows
 *                  from the bounds of the kernel's accesses, or is the block of nereid_alloc() that
 *                  contains the pointer;
 *                  else it counts as overlapping.  A driver's block is no such bound, since other
 *                  allocators put many tensors into one
 *   o              NULL: no flags, the device's memory
 * The context that is current in the calling thread is the same afterwards; a thread that had none
 * may keep GPU 0's. */
NEREID_API int nereid_kernel_run(nereid_kernel *k, void *native_stream, const uint32_t grid[3],
                                 const uint64_t *args, const nereid_extent *extents,
                                 const nereid_run_options *o);

typedef struct {
  int warm_up;      /* runs before timing; 0: 3 */
  int runs;         /* 0: as many as fill about 0.3 s, 5 to 200 */
  int keep_l2;      /* do not flush the cache between runs */
} nereid_time_options;

typedef struct {
  double median_us, min_us, max_us;
  int runs;
  double low_us, high_us; /* the quartiles */
} nereid_timing;

/* Times a launch: events on a GPU, wall-clock elsewhere.  `o` may be NULL. */
NEREID_API int nereid_launch_time(nereid_timing *out, nereid_launch *l, nereid_stream *s,
                                  const nereid_time_options *o);

/* Times pieces of work that the caller starts on a stream between begin and end, whatever they are:
 * by events on a GPU, wall-clock elsewhere.  A timer is used by one thread at a time. */
typedef struct nereid_timer nereid_timer;

/* Unless `keep_l2`, begin flushes a GPU's cache, untimed. */
NEREID_API int nereid_timer_new(nereid_timer **out, nereid_device *d, int keep_l2);
NEREID_API void nereid_timer_free(nereid_timer *t);
NEREID_API int nereid_timer_begin(nereid_timer *t, nereid_stream *s);
NEREID_API int nereid_timer_end(nereid_timer *t, nereid_stream *s);
/* Waits for all pieces so far, and forgets them: *us are their *n times in microseconds, in their
 * order, until the timer's next use. */
NEREID_API int nereid_timer_read(const double **us, int *n, nereid_timer *t);

/* ---- integer expressions: grids, guards ---- */

typedef struct {
  const char *name;
  int64_t value;
} nereid_binding;

/* + - * // % (Python's), cdiv, min, max, parentheses, comparisons, `and`, over names. */
NEREID_API int nereid_expr_eval(int64_t *out, const char *text, const nereid_binding *names,
                                int nnames);

/* ---- values: what the command line and tests pass to kernels, in host memory ---- */

typedef enum {
  NEREID_VALUE_INT,
  NEREID_VALUE_FLOAT,
  NEREID_VALUE_BOOL,
  NEREID_VALUE_ARRAY,
  NEREID_VALUE_ALIAS, /* "&OTHER": the array of another argument, or its end */
  NEREID_VALUE_NONE
} nereid_value_kind;

/* Reads a value:
 *   12   1.5   true   1e-6:fp64   none
 *   @x.npy   @x.npy:bf16                a NumPy file, converted on load
 *   &OTHER   &OTHER[16:]   the array of another argument, from its first or its 16th element on
 *   tensordesc<bf16[64,64]>:ARRAY       a tensor descriptor of one of the arrays here, which may
 *     have a shape and strides in elements, tensordesc<...>:shape=[300,200]:strides=[512,1]:ARRAY
 *   zeros:f32[128,64]  ones:T[..]  empty:T[..]
 *   rand:T[..]:SEED    uniform in [0, 1)
 *   randn:T[..]:SEED   standard normal
 *   randint:T[..]:LO:HI:SEED   LO <= x < HI
 * Seeds default to 0.  Element i of a drawn array depends on the seed and on i alone: words 0 and 1
 * of Philox4x32-10 with counter (i, i >> 32, 0, 0) and key (seed, seed >> 32); see
 * runtime/support/random.h.  Arrays are compact, row-major, 256-byte aligned. */
NEREID_API int nereid_value_parse(nereid_value **out, const char *text);
NEREID_API void nereid_value_free(nereid_value *v);
NEREID_API nereid_value_kind nereid_value_get_kind(const nereid_value *v);
NEREID_API int64_t nereid_value_int(const nereid_value *v);  /* of INT and BOOL */
NEREID_API double nereid_value_float(const nereid_value *v); /* of all numbers */
NEREID_API const char *nereid_value_alias(const nereid_value *v);
/* The tensor of an array, without a descriptor's shape; bf16 and fp8 have DLPack's codes. */
NEREID_API int nereid_value_tensor(nereid_tensor *out, const nereid_value *v);
NEREID_API size_t nereid_value_bytes(const nereid_value *v);
NEREID_API int nereid_value_is_empty(const nereid_value *v); /* made by empty: */
/* "f32": of a scalar or of an array's elements. */
NEREID_API const char *nereid_value_dtype(const nereid_value *v);
/* True if the value's text stated its type. */
NEREID_API int nereid_value_is_typed(const nereid_value *v);
/* Gives a scalar another dtype; fails if the number does not fit. */
NEREID_API int nereid_value_cast(nereid_value *v, const char *dtype);
/* The type to compile for, specialized as Triton does: "*f32:16", "i32:1".  `specialize` 0: only
 * the dtype.  Writes at most `size` bytes. */
NEREID_API int nereid_value_type(char *out, size_t size, const nereid_value *v, int specialize);
/* Sets an argument of a launch; arrays: `device_data` is the address of their data. */
NEREID_API int nereid_launch_set_value(nereid_launch *l, int i, const nereid_value *v,
                                       const void *device_data);
/* An element as a double (64-bit integers lose their low bits), and all of it as text. */
NEREID_API double nereid_value_element(const nereid_value *v, int64_t i);
NEREID_API int nereid_value_element_text(char *out, size_t size, const nereid_value *v, int64_t i);
/* Writes a NumPy file under a temporary name and renames it; bf16 and fp8 are widened to f32. */
NEREID_API int nereid_value_save(const nereid_value *v, const char *path);

/* ---- what there is ---- */

/* Targets by index; NULL past the end. */
NEREID_API const char *nereid_target(int i);
/* The C compiler and ptxas that would be used; "" if there is none. */
NEREID_API int nereid_find_tool(char *out, size_t size, const char *tool);

#ifdef __cplusplus
}
#endif

#endif
