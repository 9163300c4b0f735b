/* Models, which three files share: a graph (graph.c) compiles to an executable (executable.c), and
 * that runs (run.c).  Each uses the next. */
#ifndef NEREID_PYTHON_EXTENSION_MODELS_H
#define NEREID_PYTHON_EXTENSION_MODELS_H

#include "model/nereid_graph.h"
#include "python/extension/extension.h"

/* ---- run.c: tensors of a run, runs ---- */

enum { RANK_MAX = 16 };

/* A tensor with its sizes, which other objects may own. */
typedef struct {
  nereid_tensor t;
  int64_t sizes[2 * RANK_MAX]; /* where they are not the object's own */
  int64_t number;
} WholeTensor;

/* The first n objects of a list; NULL with an exception. */
WholeTensor *read_all(State *s, PyObject *list, Py_ssize_t n);

/* A session that no run has, and the stream of its last run. */
typedef struct Idle {
  struct Idle *next;
  nereid_session *session;
  void *stream;
  struct Running *lender; /* whose memory its run takes */
} Idle;

typedef struct {
  PyObject_HEAD nereid_executable *e;
  PyObject *device; /* outlives it */
  PyObject *keep;   /* bytes that it was loaded from */
  Idle *idle;
  Idle *lent;     /* the same, of runs that take memory step by step */
  Idle *captured; /* graphs of the caller's have their memory: no run takes these again */
} ExecutableObject;

/* run(inputs, outputs or None, allocate, workspace or None, stream); without allocate, which
 * outputs need that are not given, there are no results. */
PyObject *executable_run(PyObject *self, PyObject *args);
/* call(inputs, makers, lends, workspace, stream, threads): a run whose outputs are made for it. */
PyObject *executable_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
/* explain(inputs): a table with the time of each kernel.  Only one thread at a time may call it. */
PyObject *executable_explain(PyObject *self, PyObject *inputs);

/* A text of the library as Python's; the library's is freed. */
PyObject *text_and_free(char *text, size_t size);

/* ---- executable.c ---- */

/* Takes `e`, also on failure; keeps the device, and `keep` if that is not NULL. */
PyObject *executable_wrap(State *s, nereid_executable *e, PyObject *device, PyObject *keep);

/* Adds the type to the module; negative with an exception on failure. */
int add_executables(PyObject *module);

#endif
