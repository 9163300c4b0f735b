/* Failures of the C API as Python exceptions. */
#include <string.h>

#include "python/extension/extension.h"

static PyObject *errors_module(State *s) {
  if (!s->errors) s->errors = PyImport_ImportModule("nereid.errors");
  return s->errors;
}

static PyObject *decode(const char *text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* (severity, file, line, column, length, text, source, id) */
static PyObject *part_of_message(int i) {
  nereid_diagnostic d;
  if (nereid_error_diagnostic(&d, i)) return PyErr_NoMemory();
  return Py_BuildValue("(iNiiiNNs)", (int)d.severity, decode(d.file), d.line, d.column, d.length,
                       decode(d.text), decode(d.source), d.id);
}

static PyObject *message_parts(void) {
  int n = nereid_error_count();
  PyObject *out = PyList_New(n);
  for (int i = 0; out && i < n; i++) {
    PyObject *part = part_of_message(i);
    if (!part || PyList_SetItem(out, i, part)) Py_CLEAR(out);
  }
  return out;
}

/* The arguments of nereid.errors.from_failure(). */
static PyObject *describe_failure(int code) {
  nereid_resource need;
  if (nereid_error_resource(&need)) return PyErr_NoMemory();
  long long required = need.required, limit = need.limit;
  PyObject *message = decode(nereid_error_message()), *kernel = decode(nereid_error_kernel());
  PyObject *parts = message && kernel ? message_parts() : NULL;
  PyObject *out =
      parts ? Py_BuildValue("(iOO(sLL)O)", code, message, kernel, need.name, required, limit, parts)
            : NULL;
  Py_XDECREF(message);
  Py_XDECREF(kernel);
  Py_XDECREF(parts);
  return out;
}

PyObject *raise_failure(State *s, int code) {
  if (PyErr_Occurred()) return NULL;     /* a callback's own */
  if (PyErr_CheckSignals()) return NULL; /* Ctrl-C, which may have stopped a tool too */
  PyObject *about = describe_failure(code), *errors = about ? errors_module(s) : NULL;
  PyObject *make = errors ? PyObject_GetAttrString(errors, "from_failure") : NULL;
  PyObject *error = make ? PyObject_CallObject(make, about) : NULL;
  if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
  Py_XDECREF(make);
  Py_XDECREF(about);
  return NULL;
}
