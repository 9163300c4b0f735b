/* Devices, images and loaded kernels. */
#include <limits.h>
#include <string.h>

#include "python/extension/extension.h"

/* A text of the C API, NULL as "". */
static PyObject *text_of(const char *s) {
  return s ? PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "replace") : PyUnicode_FromString("");
}

State *state_of(PyObject *module) { return PyModule_GetState(module); }

State *state_of_type(PyTypeObject *type) {
  for (PyTypeObject *t = type; t; t = (PyTypeObject *)PyType_GetSlot(t, Py_tp_base)) {
    PyObject *module = PyType_GetModule(t);
    if (module && PyModule_GetDef(module) == &module_definition) return PyModule_GetState(module);
    PyErr_Clear();
  }
  return NULL;
}

void free_object(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

PyObject *new_object(PyTypeObject *type) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  return alloc(type, 0);
}

/* ---- devices ---- */

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"name", NULL};
  const char *name;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s:Device", names, &name)) return NULL;
  DeviceObject *self = (DeviceObject *)new_object(type);
  if (!self) return NULL;
  queue_open(&self->printed);
  queue_open(&self->messages);
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_device_open(&self->device, name);
  Py_END_ALLOW_THREADS if (code) {
    raise_failure(state_of_type(type), code);
    Py_DECREF(self);
    return NULL;
  }
  nereid_device_on_print(self->device, queue_line, &self->printed);
  nereid_device_on_message(self->device, queue_message, &self->messages);
  if (!strcmp(name, "cpu")) nereid_device_tell_faults(self->device);
  return (PyObject *)self;
}

static void device_dealloc(PyObject *self) {
  DeviceObject *d = (DeviceObject *)self;
  nereid_device_close(d->device);
  queue_close(&d->printed);
  queue_close(&d->messages);
  free_object(self);
}

static PyObject *device_info(PyObject *self, PyObject *unused) {
  (void)unused;
  nereid_device_info i;
  int code = nereid_device_get_info(&i, ((DeviceObject *)self)->device);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  return Py_BuildValue("{s:s,s:s,s:s,s:s,s:L,s:L,s:L,s:i,s:i,s:i,s:i,s:i}", "name", i.name,
                       "description", i.description, "target", i.target ? i.target : "", "kind",
                       nereid_kind_name(i.kind), "memory", (long long)i.memory, "l2_bytes",
                       (long long)i.l2_bytes, "shared_bytes", (long long)i.shared_bytes,
                       "processors", i.processors, "clock_khz", i.clock_khz, "memory_clock_khz",
                       i.memory_clock_khz, "memory_bus_bits", i.memory_bus_bits, "driver_version",
                       i.driver_version);
}

static PyObject *device_sync(PyObject *self, PyObject *unused) {
  (void)unused;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_device_sync(((DeviceObject *)self)->device);
  Py_END_ALLOW_THREADS if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  Py_RETURN_NONE;
}

static PyObject *device_set_threads(PyObject *self, PyObject *threads) {
  const long n = PyLong_AsLong(threads);
  if (n == -1 && PyErr_Occurred()) return NULL;
  const int code =
      nereid_device_set_threads(((DeviceObject *)self)->device, n > INT_MAX ? INT_MAX : (int)n);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  Py_RETURN_NONE;
}

static PyObject *device_take_messages(PyObject *self, PyObject *unused) {
  (void)unused;
  return queue_messages(&((DeviceObject *)self)->messages);
}

static PyObject *device_print(PyObject *self, PyObject *unused) {
  (void)unused;
  if (queue_print(&((DeviceObject *)self)->printed)) return NULL;
  Py_RETURN_NONE;
}

/* The kernels of a list of images, loaded together. */
static PyObject *load_images(PyObject *self, PyObject *images, Py_ssize_t n,
                             nereid_kernel **kernels, const nereid_image **from) {
  State *s = state_of_type(Py_TYPE(self));
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *image = PyList_GetItem(images, i);
    if (!PyObject_TypeCheck(image, s->image_type)) {
      PyErr_SetString(PyExc_TypeError, "load_all() takes a list of images");
      return NULL;
    }
    from[i] = ((ImageObject *)image)->image;
  }
  int code;
  Py_BEGIN_ALLOW_THREADS code =
      nereid_kernel_load_all(kernels, ((DeviceObject *)self)->device, from, (int)n);
  Py_END_ALLOW_THREADS if (code) return raise_failure(s, code);
  PyObject *out = PyList_New(n);
  for (Py_ssize_t i = 0; i < n; i++) {
    KernelObject *k = out ? (KernelObject *)new_object(s->kernel_type) : NULL;
    if (!k) {
      nereid_kernel_free(kernels[i]);
      continue;
    }
    k->kernel = kernels[i];
    k->device = self;
    Py_INCREF(self);
    PyList_SetItem(out, i, (PyObject *)k);
  }
  if (PyErr_Occurred()) Py_CLEAR(out);
  return out;
}

static PyObject *device_load_all_images(PyObject *self, PyObject *images) {
  if (!PyList_Check(images)) {
    PyErr_SetString(PyExc_TypeError, "load_all() takes a list of images");
    return NULL;
  }
  Py_ssize_t n = PyList_Size(images);
  nereid_kernel **kernels = PyMem_Calloc((size_t)n + 1, sizeof *kernels);
  const nereid_image **from = PyMem_Calloc((size_t)n + 1, sizeof *from);
  PyObject *out = kernels && from ? load_images(self, images, n, kernels, from) : PyErr_NoMemory();
  PyMem_Free(kernels);
  PyMem_Free(from);
  return out;
}

static PyObject *device_load(PyObject *self, PyObject *image) {
  PyObject *images = Py_BuildValue("[O]", image);
  PyObject *kernels = images ? device_load_all_images(self, images) : NULL;
  PyObject *kernel = kernels ? PyList_GetItem(kernels, 0) : NULL;
  Py_XINCREF(kernel);
  Py_XDECREF(kernels);
  Py_XDECREF(images);
  return kernel;
}

static PyMethodDef device_methods[] = {
    {"info", device_info, METH_NOARGS, "What is known of the device, by name."},
    {"sync", device_sync, METH_NOARGS, "Waits for all that was started on the device."},
    {"set_threads", device_set_threads, METH_O,
     "Launches on a CPU have no more threads than this from now on."},
    {"load", device_load, METH_O, "Loads an image: a Kernel."},
    {"take_messages", device_take_messages, METH_NOARGS,
     "Remarks and notes, which are no failures, since the last time."},
    {"print", device_print, METH_NOARGS, "Writes what kernels have printed to sys.stdout."},
    {"load_all", device_load_all_images, METH_O, "Loads a list of images on all cores."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot device_slots[] = {
    {Py_tp_new, device_new},
    {Py_tp_dealloc, device_dealloc},
    {Py_tp_methods, device_methods},
    {Py_tp_doc, "Device(name): \"cuda\", \"cuda:1\", \"cpu\", \"interp\" or \"nest\"."},
    {0, NULL}};

static PyType_Spec device_spec = {
    .name = "nereid._nereid.Device",
    .basicsize = sizeof(DeviceObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = device_slots,
};

/* ---- images ---- */

PyObject *image_wrap(State *s, nereid_image *image) {
  ImageObject *self = (ImageObject *)new_object(s->image_type);
  if (self) self->image = image;
  else nereid_image_free(image);
  return (PyObject *)self;
}

static PyObject *image_from_bytes(PyObject *type, PyObject *bytes) {
  State *s = state_of_type((PyTypeObject *)type);
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size)) return NULL;
  nereid_image *image;
  int code = nereid_image_from_bytes(&image, data, (size_t)size);
  return code ? raise_failure(s, code) : image_wrap(s, image);
}

static void image_dealloc(PyObject *self) {
  nereid_image_free(((ImageObject *)self)->image);
  free_object(self);
}

static PyObject *image_bytes(PyObject *self, PyObject *unused) {
  (void)unused;
  char *data;
  size_t size;
  int code = nereid_image_bytes(&data, &size, ((ImageObject *)self)->image);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  PyObject *out = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  nereid_text_free(data);
  return out;
}

static PyObject *image_add(PyObject *self, PyObject *other) {
  State *s = state_of_type(Py_TYPE(self));
  if (!PyObject_TypeCheck(other, s->image_type)) {
    PyErr_SetString(PyExc_TypeError, "add() takes an image");
    return NULL;
  }
  int code = nereid_image_add(((ImageObject *)self)->image, ((ImageObject *)other)->image);
  if (code) return raise_failure(s, code);
  Py_RETURN_NONE;
}

static PyObject *image_assemble(PyObject *self, PyObject *unused) {
  (void)unused;
  State *s = state_of_type(Py_TYPE(self));
  nereid_image *image;
  int code;
  Py_BEGIN_ALLOW_THREADS code = nereid_image_assemble(&image, ((ImageObject *)self)->image, NULL);
  Py_END_ALLOW_THREADS return code ? raise_failure(s, code) : image_wrap(s, image);
}

static PyObject *image_source(PyObject *self, PyObject *name) {
  const char *wanted = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
  char *source, *header;
  if (!wanted && name != Py_None) return NULL;
  int code = nereid_image_source(&source, &header, ((ImageObject *)self)->image, wanted);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  PyObject *out = Py_BuildValue("(ss)", source, header);
  nereid_text_free(source);
  nereid_text_free(header);
  return out;
}

static PyObject *image_name(PyObject *self, void *unused) {
  (void)unused;
  return text_of(nereid_image_name(((ImageObject *)self)->image));
}

static PyObject *image_key(PyObject *self, void *unused) {
  (void)unused;
  char key[33];
  int code = nereid_image_key(key, sizeof key, ((ImageObject *)self)->image);
  return code ? raise_failure(state_of_type(Py_TYPE(self)), code) : text_of(key);
}

/* (name, type, is it written through) of each run-time parameter. */
static PyObject *image_params(PyObject *self, void *unused) {
  (void)unused;
  const nereid_image *image = ((ImageObject *)self)->image;
  int n = nereid_image_nparams(image);
  PyObject *out = PyList_New(n);
  for (int i = 0; out && i < n; i++) {
    nereid_image_param p;
    int code = nereid_image_get_param(&p, image, i);
    PyObject *item = code ? raise_failure(state_of_type(Py_TYPE(self)), code)
                          : Py_BuildValue("(ssO)", p.name, p.type, p.written ? Py_True : Py_False);
    if (!item || PyList_SetItem(out, i, item)) Py_CLEAR(out);
  }
  return out;
}

static PyObject *variant_object(const nereid_variant *v) {
  return Py_BuildValue("{s:s,s:s,s:s,s:y#,s:i,s:L}", "target", v->target ? v->target : "", "kind",
                       nereid_kind_name(v->kind), "entry", v->entry, "code", v->code,
                       (Py_ssize_t)v->size, "threads", v->threads, "shared_bytes",
                       (long long)v->shared_bytes);
}

static PyObject *image_variants(PyObject *self, void *unused) {
  (void)unused;
  const nereid_image *image = ((ImageObject *)self)->image;
  int n = nereid_image_nvariants(image);
  PyObject *out = PyList_New(n);
  for (int i = 0; out && i < n; i++) {
    nereid_variant v;
    int code = nereid_image_get_variant(&v, image, i);
    PyObject *item = code ? raise_failure(state_of_type(Py_TYPE(self)), code) : variant_object(&v);
    if (!item || PyList_SetItem(out, i, item)) Py_CLEAR(out);
  }
  return out;
}

static PyMethodDef image_methods[] = {
    {"bytes", image_bytes, METH_NOARGS, "The image as a file has it."},
    {"add", image_add, METH_O, "Appends the variants of another image."},
    {"assemble", image_assemble, METH_NOARGS, "The same image with machine code in place of PTX."},
    {"source", image_source, METH_O, "source(name or None): a C source and its header."},
    {"from_bytes", image_from_bytes, METH_O | METH_CLASS, "An image from what bytes() gave."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef image_members[] = {
    {"name", image_name, NULL, "The kernel's name.", NULL},
    {"key", image_key, NULL, "A hash of the code: equal keys do the same, in every process.", NULL},
    {"params", image_params, NULL, "(name, type, written) of each run-time parameter.", NULL},
    {"variants", image_variants, NULL, "Each variant: its target, kind, code, sizes.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot image_slots[] = {{Py_tp_dealloc, image_dealloc},
                                    {Py_tp_methods, image_methods},
                                    {Py_tp_getset, image_members},
                                    {Py_tp_doc, "A compiled kernel as data."},
                                    {0, NULL}};

static PyType_Spec image_spec = {
    .name = "nereid._nereid.Image",
    .basicsize = sizeof(ImageObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = image_slots,
};

/* ---- kernels ---- */

static void kernel_dealloc(PyObject *self) {
  KernelObject *k = (KernelObject *)self;
  nereid_kernel_free(k->kernel);
  Py_XDECREF(k->device);
  free_object(self);
}

static PyObject *kernel_resources(PyObject *self, void *unused) {
  (void)unused;
  nereid_kernel_resources r;
  int code = nereid_kernel_get_resources(&r, ((KernelObject *)self)->kernel);
  if (code) return raise_failure(state_of_type(Py_TYPE(self)), code);
  return Py_BuildValue("{s:i,s:i,s:L,s:i,s:i}", "registers", r.registers, "spill_bytes",
                       r.spill_bytes, "shared_bytes", (long long)r.shared_bytes, "threads",
                       r.threads, "from_cache", r.from_cache);
}

static PyGetSetDef kernel_members[] = {
    {"resources", kernel_resources, NULL, "Registers, shared memory and threads it takes.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot kernel_slots[] = {{Py_tp_dealloc, kernel_dealloc},
                                     {Py_tp_getset, kernel_members},
                                     {Py_tp_doc, "An image that is loaded on a device."},
                                     {0, NULL}};

static PyType_Spec kernel_spec = {
    .name = "nereid._nereid.Kernel",
    .basicsize = sizeof(KernelObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = kernel_slots,
};

/* ---- the module ---- */

static int add_type(PyObject *module, PyType_Spec *spec, const char *name, PyTypeObject **out) {
  *out = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
  if (!*out) return -1;
  return PyModule_AddObjectRef(module, name, (PyObject *)*out);
}

int add_objects(PyObject *module) {
  State *s = state_of(module);
  if (add_type(module, &device_spec, "Device", &s->device_type)) return -1;
  if (add_type(module, &image_spec, "Image", &s->image_type)) return -1;
  return add_type(module, &kernel_spec, "Kernel", &s->kernel_type);
}
