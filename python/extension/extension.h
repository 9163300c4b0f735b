/* The extension module nereid._nereid: the C API as Python objects, and the call of a kernel.
 *
 * python/extension owns what has to be quick or has to be C: reading arguments, the table from
 * arguments to compiled kernels, and calls of the public headers with the interpreter's lock
 * released.  It takes Python objects, and gives Python objects or exceptions; what a kernel file,
 * a decorator or an option means is the matter of the package above it (python/nereid).
 *
 * It uses the limited API of Python 3.10, so that one file serves each version from there on.
 * All that it keeps hangs on the module: two interpreters of a process share nothing.
 */
#ifndef NEREID_PYTHON_EXTENSION_H
#define NEREID_PYTHON_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/nereid.h"

/* ---- the module's state ---- */

typedef struct {
  PyObject *errors;     /* nereid.errors, once it was needed */
  PyObject *describe;   /* nereid.runtime.arguments.describe(): tensors of other libraries */
  PyObject *stream;     /* nereid.runtime.driver.current_stream() */
  PyObject *enter_hook, *exit_hook; /* of launches; NULL: none */
  PyObject *allocator;  /* of scratch memory; NULL: the device's own */
  int debug;            /* kernels check their assertions */
  PyObject *descriptor; /* the class of host tensor descriptors; NULL: none was made yet */
  PyObject *constexpr_; /* the class of constants of the language; NULL: likewise */
  PyTypeObject *device_type, *image_type, *kernel_type, *launcher_type, *specialization_type;
  PyTypeObject *executable_type;
  PyObject *spare_launcher; /* memory of one that was deleted, without a type; NULL: none */
  /* The last two types of tensors that were seen, with their table of DLPack. */
  struct {
    PyTypeObject *type;
    const void *exchange;
  } tensors[2];
  /* Interned names. */
  PyObject *s_base, *s_shape, *s_strides, *s_block_shape, *s_padding, *s_value;
} State;

extern struct PyModuleDef module_definition;
State *state_of(PyObject *module);
/* The state of the module that defined `type` or a class that it is derived from. */
State *state_of_type(PyTypeObject *type);

/* ---- errors.c ---- */

/* Raises the thread's last failure (nereid_error_message()) as nereid.errors has it for `code`.
 * Returns NULL. */
PyObject *raise_failure(State *s, int code);

/* ---- output.c: what comes while the interpreter's lock is released ---- */

typedef struct {
  pthread_mutex_t lock;
  char *text; /* lines one after the other, or messages that each end in a NUL */
  size_t size, capacity;
} Queue;

void queue_open(Queue *q);
void queue_close(Queue *q);
/* Each a nereid_message_fn, whose context is the queue. */
void queue_line(void *queue, const char *text);
void queue_message(void *queue, const char *text);
/* Writes all to sys.stdout: -1 with an exception if that fails.  An exception that is set stays. */
int queue_print(Queue *q);
/* A list of all. */
PyObject *queue_messages(Queue *q);

/* ---- objects.c: devices, images, kernels ---- */

typedef struct {
  PyObject_HEAD
  nereid_device *device;
  Queue printed, messages;
} DeviceObject;

typedef struct {
  PyObject_HEAD
  nereid_image *image;
} ImageObject;

typedef struct {
  PyObject_HEAD
  nereid_kernel *kernel;
  PyObject *device; /* outlives the kernel */
} KernelObject;

/* An object of a type of ours, all zeros; and the end of it in its tp_dealloc. */
PyObject *new_object(PyTypeObject *type);
void free_object(PyObject *self);

/* Adds the types to the module; negative with an exception on failure. */
int add_objects(PyObject *module);
PyObject *image_wrap(State *s, nereid_image *image);

/* ---- memory.c: memory of devices ---- */

int add_memory(PyObject *module);

/* ---- request.c: compiling ---- */

PyObject *py_compile(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *py_tuned_options(PyObject *module, PyObject *none);
PyObject *py_refusal(PyObject *module, PyObject *args);
PyObject *py_graph_options(PyObject *module, PyObject *none);
PyObject *py_emit(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *py_estimate(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *py_request_key(PyObject *module, PyObject *args, PyObject *kwargs);

/* ---- records.c: measurements and timers ---- */

int add_records(PyObject *module);
PyObject *py_records_find(PyObject *module, PyObject *args);
PyObject *py_tune_round(PyObject *module, PyObject *args);
PyObject *py_records_store(PyObject *module, PyObject *args);

/* ---- arguments.c: tensors ---- */

/* A tensor or a pointer among the arguments of a call. */
typedef struct {
  uint64_t address;
  nereid_extent extent; /* the bytes that belong to it, counted from `address` */
  nereid_dl_device device;
  nereid_dl_dtype dtype;
  bool read_only;
} Tensor;

/* Name of a pointer's elements in types of arguments: "fp32"; NULL if kernels have no such type. */
const char *dtype_text(nereid_dl_dtype t);
/* 1: `v` is a tensor; 0: it is none; -1: an exception. */
int read_tensor(State *s, PyObject *v, Tensor *out);
/* Reads sizes and strides too, of a tensor with a table of DLPack; 0 for any other. */
int read_exchanged_tensor(State *s, PyObject *v, nereid_tensor *out);
/* The stream (CUstream) that the library of the tensors works on; -1: an exception. */
int current_stream(State *s, nereid_dl_device device, void **out);

/* ---- graph.c: models (models.h) ---- */

/* Adds the types to the module; negative with an exception on failure. */
int add_graphs(PyObject *module);

/* ---- dispatch.c: calls of jit functions ---- */

int add_dispatch(PyObject *module);
PyObject *py_set_launch_hooks(PyObject *module, PyObject *args);
PyObject *py_set_allocator(PyObject *module, PyObject *allocator);
PyObject *py_set_debug(PyObject *module, PyObject *flag);
PyObject *py_register(PyObject *module, PyObject *args);

#endif
