/* Failures of the C API as Python exceptions. */
#include "python/extension/extension.h"

static PyObject *errors_module(State *s) {
  if (!s->errors) s->errors = PyImport_ImportModule("nereid.errors");
  return s->errors;
}

PyObject *raise_failure(State *s, int code) {
  if (PyErr_Occurred()) return NULL; /* a callback's own */
  PyObject *message = PyUnicode_DecodeUTF8(nereid_error_message(),
                                           (Py_ssize_t)strlen(nereid_error_message()), "replace");
  PyObject *errors = message ? errors_module(s) : NULL;
  PyObject *error =
      errors ? PyObject_CallMethod(errors, "from_failure", "iO", code, message) : NULL;
  if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
  Py_XDECREF(message);
  return NULL;
}
