/* Memory of a device: what is checked on copies lives there. */
#include "python/extension/extension.h"

typedef struct {
  PyObject_HEAD PyObject *device; /* outlives the memory */
  void *data;
  size_t size;
} MemoryObject;

static nereid_device *device_of(const MemoryObject *m) {
  return ((DeviceObject *)m->device)->device;
}

/* Memory(device, size) */
static PyObject *memory_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"device", "size", NULL};
  State *s = state_of_type(type);
  PyObject *device;
  Py_ssize_t size;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!n:Memory", names, s->device_type, &device,
                                   &size))
    return NULL;
  if (size < 0) return PyErr_Format(PyExc_ValueError, "%zd bytes are no size", size);
  MemoryObject *m = (MemoryObject *)new_object(type);
  if (!m) return NULL;
  Py_INCREF(device);
  m->device = device;
  m->size = (size_t)size;
  int code = nereid_alloc(&m->data, device_of(m), m->size);
  if (!code) return (PyObject *)m;
  raise_failure(s, code);
  Py_DECREF(m);
  return NULL;
}

static void memory_dealloc(PyObject *self) {
  MemoryObject *m = (MemoryObject *)self;
  if (m->data) nereid_free(device_of(m), m->data);
  Py_XDECREF(m->device);
  free_object(self);
}

static int check_range(const MemoryObject *m, Py_ssize_t at, Py_ssize_t size) {
  if (at >= 0 && size >= 0 && (size_t)at <= m->size && (size_t)size <= m->size - (size_t)at)
    return 0;
  PyErr_Format(PyExc_IndexError, "%zd bytes from %zd on are not in a memory of %zu", size, at,
               m->size);
  return -1;
}

/* write(offset, address, size): from the host's memory. */
static PyObject *memory_write(PyObject *self, PyObject *args) {
  MemoryObject *m = (MemoryObject *)self;
  Py_ssize_t at, size;
  unsigned long long address;
  if (!PyArg_ParseTuple(args, "nKn", &at, &address, &size) || check_range(m, at, size)) return NULL;
  int code = nereid_copy_in(device_of(m), (char *)m->data + at, (void *)(uintptr_t)address,
                            (size_t)size, NULL);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  Py_RETURN_NONE;
}

static PyObject *memory_read(PyObject *self, PyObject *args) {
  MemoryObject *m = (MemoryObject *)self;
  Py_ssize_t at, size;
  if (!PyArg_ParseTuple(args, "nn", &at, &size) || check_range(m, at, size)) return NULL;
  PyObject *out = PyBytes_FromStringAndSize(NULL, size);
  int code = !out ? 0
                  : nereid_copy_out(device_of(m), PyBytes_AsString(out), (char *)m->data + at,
                                    (size_t)size, NULL);
  if (!code) return out;
  Py_DECREF(out);
  return raise_failure(state_of_type(Py_TYPE(self)), code);
}

static PyObject *memory_address(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr(((MemoryObject *)self)->data);
}

static PyMethodDef methods[] = {
    {"write", memory_write, METH_VARARGS, "write(offset, address, size): from host memory."},
    {"read", memory_read, METH_VARARGS, "read(offset, size): bytes."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef members[] = {{"address", memory_address, NULL, "Its first byte's.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, memory_new},
    {Py_tp_dealloc, memory_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_tp_doc, "Memory(device, size): bytes of a device, whose contents count as unwritten."},
    {0, NULL}};

static PyType_Spec spec = {
    .name = "nereid._nereid.Memory",
    .basicsize = sizeof(MemoryObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int add_memory(PyObject *module) {
  PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
  int code = type ? PyModule_AddObjectRef(module, "Memory", type) : -1;
  Py_XDECREF(type);
  return code;
}
