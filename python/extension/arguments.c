/* Tensors of PyTorch, NumPy and others as addresses with a type. */
#include <string.h>

#include "python/extension/dlpack.h"
#include "python/extension/extension.h"

/* ---- types of elements ---- */

const char *dtype_text(nereid_dl_dtype t) {
  static const struct {
    uint8_t code, bits;
    const char *text;
  } table[] = {
      {2, 32, "fp32"},     {4, 16, "bf16"},    {2, 16, "fp16"},  {0, 64, "i64"},
      {0, 32, "i32"},      {6, 8, "i1"},       {1, 8, "u8"},     {0, 8, "i8"},
      {0, 16, "i16"},      {2, 64, "fp64"},    {1, 16, "u16"},   {1, 32, "u32"},
      {1, 64, "u64"},      {10, 8, "fp8e4nv"}, {12, 8, "fp8e5"}, {11, 8, "fp8e4b8"},
      {13, 8, "fp8e5b16"}, {14, 8, "u8"},      {17, 8, "u8"},    {240, 8, "fp8e4b15"}, /* ours */
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].code == t.code && table[i].bits == t.bits) return table[i].text;
  /* Two fp4 in a byte. */
  if (t.code == 17 && t.bits * t.lanes == 8) return "u8";
  return NULL;
}

/* ---- through DLPack's table ---- */

/* The table of a type of tensors; NULL if it has none. */
static const DlExchange *exchange_of(State *s, PyTypeObject *type) {
  for (int i = 0; i < 2; i++)
    if (s->tensors[i].type == type) return s->tensors[i].exchange;
  PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
  const DlExchange *x = NULL;
  if (capsule && PyCapsule_CheckExact(capsule))
    x = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_XDECREF(capsule);
  PyErr_Clear();
  while (x && x->header.version.major != 1) x = x->header.previous;
  if (!x || !x->tensor_of) return NULL;
  Py_XDECREF(s->tensors[1].type);
  s->tensors[1] = s->tensors[0];
  Py_INCREF(type);
  s->tensors[0].type = type;
  s->tensors[0].exchange = x;
  return x;
}

static nereid_extent extent_of(const nereid_tensor *t) {
  int64_t first = 0, last = 0, compact = 1;
  int64_t size = (t->dtype.bits * t->dtype.lanes + 7) / 8;
  for (int32_t i = t->ndim - 1; i >= 0; i--) {
    if (t->shape[i] == 0) return (nereid_extent){1, 0}; /* none */
    int64_t reach = (t->shape[i] - 1) * (t->strides ? t->strides[i] : compact);
    *(reach < 0 ? &first : &last) += reach;
    compact *= t->shape[i];
  }
  return (nereid_extent){first * size, (last + 1) * size};
}

static int read_exchanged(const DlExchange *x, PyObject *v, Tensor *out) {
  nereid_tensor t;
  if (x->tensor_of(v, &t)) return -1;
  out->address = (uint64_t)(uintptr_t)t.data + t.byte_offset;
  out->extent = extent_of(&t);
  out->device = t.device;
  out->dtype = t.dtype;
  out->read_only = false;
  return 1;
}

int read_exchanged_tensor(State *s, PyObject *v, nereid_tensor *out) {
  const DlExchange *x = exchange_of(s, Py_TYPE(v));
  if (!x) return 0;
  return x->tensor_of(v, out) ? -1 : 1;
}

/* ---- through Python: nereid.runtime.arguments ---- */

static PyObject *import_function(PyObject **kept, const char *module, const char *name) {
  if (*kept) return *kept;
  PyObject *m = PyImport_ImportModule(module);
  *kept = m ? PyObject_GetAttrString(m, name) : NULL;
  Py_XDECREF(m);
  return *kept;
}

static int read_described(State *s, PyObject *v, Tensor *out) {
  PyObject *describe = import_function(&s->describe, "nereid.runtime.arguments", "describe");
  PyObject *d = describe ? PyObject_CallFunctionObjArgs(describe, v, NULL) : NULL;
  if (!d) return -1;
  int found = d == Py_None ? 0 : 1;
  unsigned long long address;
  long long lo, hi;
  int code, bits, type, id, read_only = 0;
  if (found && PyArg_ParseTuple(d, "K(LL)(ii)(ii)|p", &address, &lo, &hi, &type, &id, &code, &bits,
                                &read_only))
    *out = (Tensor){.address = address,
                    .extent = {lo, hi},
                    .device = {type, id},
                    .dtype = {(uint8_t)code, (uint8_t)bits, 1},
                    .read_only = read_only};
  else if (found) found = -1;
  Py_DECREF(d);
  return found;
}

int read_tensor(State *s, PyObject *v, Tensor *out) {
  const DlExchange *x = exchange_of(s, Py_TYPE(v));
  return x ? read_exchanged(x, v, out) : read_described(s, v, out);
}

int current_stream(State *s, nereid_dl_device device, void **out) {
  const DlExchange *x = s->tensors[0].exchange;
  *out = NULL;
  if (x && x->current_stream) return x->current_stream(device.device_type, device.device_id, out);
  PyObject *find = import_function(&s->stream, "nereid.runtime.driver", "current_stream");
  PyObject *stream = find ? PyObject_CallFunction(find, "i", (int)device.device_id) : NULL;
  if (!stream) return -1;
  *out = PyLong_AsVoidPtr(stream);
  Py_DECREF(stream);
  return PyErr_Occurred() ? -1 : 0;
}
