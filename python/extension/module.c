#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/nereid.h"

static PyObject *version(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(nereid_version());
}

static PyObject *build_id(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(nereid_build_id());
}

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, "The version, as in \"0.1.0\"."},
    {"build_id", build_id, METH_NOARGS, "A number that differs with any change of the compiler."},
    {0},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "nereid._nereid",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__nereid(void) { return PyModuleDef_Init(&definition); }
