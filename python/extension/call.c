/* From Python arguments to a key and leaves. */
#include "python/extension/call.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "python/extension/dlpack.h"

/* ---- binding arguments to parameters ---- */

/* Raises `kind` with `format`, whose first %S is the function's name. */
static int refuse_call(PyObject *kind, PyObject *function, const char *format, ...) {
  PyObject *name = PyObject_GetAttrString(function, "__name__");
  va_list ap;
  va_start(ap, format);
  PyObject *rest = name ? PyUnicode_FromFormatV(format, ap) : NULL;
  va_end(ap);
  if (rest) PyErr_Format(kind, "%S() %U", name, rest);
  Py_XDECREF(rest);
  Py_XDECREF(name);
  return -1;
}

/* The number of the parameter of that name; -1: there is none; -2: an exception.  Equal names are
 * one object as a rule, and `first` is the first parameter without a value by position. */
static long find_param(const Call *c, PyObject *index, PyObject *name, Py_ssize_t first) {
  for (Py_ssize_t i = first; i < c->nparams; i++)
    if (c->params[i].name == name) return (long)i;
  PyObject *at = PyDict_GetItemWithError(index, name);
  if (!at) return PyErr_Occurred() ? -2 : -1;
  return PyLong_AsLong(at);
}

static int bind_keyword(Call *c, PyObject *index, PyObject *function, PyObject *name,
                        PyObject *value, Py_ssize_t first) {
  long i = find_param(c, index, name, first);
  if (i == -2) return -1;
  if (i < 0) {
    if (!c->options) c->options = PyDict_New();
    return c->options ? PyDict_SetItem(c->options, name, value) : -1;
  }
  if (c->bound[i])
    return refuse_call(PyExc_TypeError, function, "got multiple values for argument '%U'", name);
  Py_INCREF(value);
  c->bound[i] = value;
  return 0;
}

/* "; `BLOK` is no parameter, did you mean `BLOCK`?", of arguments that are no options either, or an
 * empty text. */
static PyObject *unknown_arguments(const Call *c) {
  if (!c->options) return PyUnicode_FromString("");
  PyObject *module = PyImport_ImportModule("nereid.compiler"), *names = PyList_New(0), *text = NULL;
  for (int i = 0; names && i < c->nparams; i++)
    if (PyList_Append(names, c->params[i].name)) Py_CLEAR(names);
  if (module && names)
    text = PyObject_CallMethod(module, "unknown_arguments", "OO", c->options, names);
  Py_XDECREF(names);
  Py_XDECREF(module);
  return text;
}

static int refuse_missing(const Call *c, PyObject *function) {
  PyObject *names = PyUnicode_FromString(""), *next;
  int n = 0;
  for (int i = 0; i < c->nparams; i++) {
    if (c->bound[i]) continue;
    next =
        names ? PyUnicode_FromFormat(n++ ? "%U, '%U'" : "%U'%U'", names, c->params[i].name) : NULL;
    Py_XDECREF(names);
    names = next;
  }
  PyObject *unknown = names ? unknown_arguments(c) : NULL;
  if (unknown)
    refuse_call(PyExc_TypeError, function, "missing %d required argument%s: %U%U", n,
                n == 1 ? "" : "s", names, unknown);
  Py_XDECREF(unknown);
  Py_XDECREF(names);
  return -1;
}

static int open_call(Call *c, State *s, const Param *params, int nparams) {
  c->state = s;
  c->params = params;
  c->nparams = nparams;
  c->options = c->others = c->device_of = c->reading = NULL;
  c->leaves = c->few_leaves;
  c->key = c->short_key;
  c->bound = c->few_bound;
  c->nleaves = 0;
  c->key_size = 0;
  c->leaves_capacity = sizeof c->few_leaves / sizeof *c->few_leaves;
  c->key_capacity = sizeof c->short_key;
  c->device = (nereid_dl_device){0, 0};
  c->mixed = false;
  if ((size_t)nparams > sizeof c->few_bound / sizeof *c->few_bound)
    c->bound = malloc((size_t)nparams * sizeof *c->bound);
  if (!c->bound) {
    c->nparams = 0;
    return PyErr_NoMemory(), -1;
  }
  for (int i = 0; i < nparams; i++) c->bound[i] = NULL;
  return 0;
}

static int bind_by_position(Call *c, PyObject *function, const Given *g, Py_ssize_t n) {
  if (n > c->nparams)
    return refuse_call(PyExc_TypeError, function,
                       "takes %d positional argument%s but %zd were given", c->nparams,
                       c->nparams == 1 ? "" : "s", n);
  for (Py_ssize_t i = 0; i < n; i++) {
    c->bound[i] = g->values ? g->values[i] : PyTuple_GetItem(g->args, i);
    Py_INCREF(c->bound[i]);
  }
  return 0;
}

/* How many there are; -1: an exception. */
static Py_ssize_t bind_by_name(Call *c, PyObject *index, PyObject *function, const Given *g,
                               Py_ssize_t first) {
  PyObject *name, *value;
  Py_ssize_t at = 0, n = g->names ? PyTuple_Size(g->names) : 0;
  for (Py_ssize_t i = 0; i < n; i++)
    if (bind_keyword(c, index, function, PyTuple_GetItem(g->names, i), g->values[first + i], first))
      return -1;
  while (g->kwargs && PyDict_Next(g->kwargs, &at, &name, &value)) {
    if (bind_keyword(c, index, function, name, value, first)) return -1;
    n++;
  }
  return n;
}

/* Parameters without a value get their defaults. */
static int bind_defaults(Call *c, PyObject *function) {
  bool missing = false;
  for (int i = 0; i < c->nparams; i++) {
    if (!c->bound[i]) {
      c->bound[i] = c->params[i].value;
      Py_XINCREF(c->bound[i]);
    }
    missing |= !c->bound[i];
  }
  return missing ? refuse_missing(c, function) : 0;
}

int call_bind(Call *c, State *s, const Param *params, int nparams, PyObject *index,
              PyObject *function, const Given *g) {
  Py_ssize_t n = g->values ? g->n : PyTuple_Size(g->args);
  if (open_call(c, s, params, nparams) || bind_by_position(c, function, g, n)) return -1;
  Py_ssize_t named = bind_by_name(c, index, function, g, n);
  if (named < 0) return -1;
  return n + named == nparams && !c->options ? 0 : bind_defaults(c, function);
}

void call_close(Call *c) {
  for (int i = 0; i < c->nparams; i++) Py_XDECREF(c->bound[i]);
  if (c->leaves != c->few_leaves) free(c->leaves);
  if (c->key != c->short_key) free(c->key);
  if (c->bound != c->few_bound) free(c->bound);
  Py_XDECREF(c->options);
  Py_XDECREF(c->others);
}

/* ---- keys and leaves grow ---- */

static int key_reserve(Call *c, size_t n) {
  size_t capacity = 2 * (c->key_size + n);
  unsigned char *key = malloc(capacity);
  if (!key) return PyErr_NoMemory(), -1;
  memcpy(key, c->key, c->key_size);
  if (c->key != c->short_key) free(c->key);
  c->key = key;
  c->key_capacity = capacity;
  return 0;
}

/* Inlined, so that the compiler knows most sizes. */
static inline int key_put(Call *c, char tag, const void *data, size_t n) {
  if (c->key_size + n + 1 > c->key_capacity && key_reserve(c, n + 1)) return -1;
  c->key[c->key_size++] = (unsigned char)tag;
  if (n) memcpy(c->key + c->key_size, data, n);
  c->key_size += n;
  return 0;
}

static int add_leaf(Call *c, const Leaf *leaf) {
  if (c->nleaves == c->leaves_capacity) {
    Leaf *more = malloc(2 * sizeof *more * (size_t)c->nleaves);
    if (!more) return PyErr_NoMemory(), -1;
    memcpy(more, c->leaves, sizeof *more * (size_t)c->nleaves);
    if (c->leaves != c->few_leaves) free(c->leaves);
    c->leaves = more;
    c->leaves_capacity *= 2;
  }
  c->leaves[c->nleaves++] = *leaf;
  /* The texts of types are literals or the parameter's own, so that addresses tell them apart. */
  struct {
    const char *type;
    unsigned char what[8];
  } key = {leaf->type, {(unsigned char)leaf->kind, leaf->one, leaf->aligned}};
  return key_put(c, 'L', &key, sizeof key);
}

/* ---- constants ---- */

/* Values that are nested deeper than Python's stack may be are refused. */
static const char NESTED[] = " while the arguments of a kernel were read";

static int add_constant(Call *c, PyObject *v);

/* The text of a value, cut where it is long. */
static PyObject *short_text(PyObject *v) {
  enum { MOST = 60 };
  PyObject *all = PyObject_Repr(v), *cut, *out;
  if (!all || PyUnicode_GetLength(all) <= MOST) return all;
  cut = PyUnicode_Substring(all, 0, MOST);
  out = cut ? PyUnicode_FromFormat("%U...", cut) : NULL;
  Py_XDECREF(cut);
  Py_DECREF(all);
  return out;
}

/* A list, a dict, a set, or what holds one: it may change, and can't be hashed. */
static void refuse_constant(const Call *c, PyObject *v) {
  PyErr_Clear();
  PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(v), "__name__");
  PyObject *text = type ? short_text(v) : NULL;
  if (text && c->reading)
    PyErr_Format(PyExc_TypeError,
                 "argument `%U` is of type %U, which can't be hashed: %U; kernels take tensors, "
                 "NumPy's arrays, numbers, strings, and tuples of them",
                 c->reading, type, text);
  else if (text)
    PyErr_Format(PyExc_TypeError, "an option is of type %U, which can't be hashed: %U", type, text);
  Py_XDECREF(text);
  Py_XDECREF(type);
}

/* Objects of two types may be equal, and yet mean different code. */
static int add_constant_object(Call *c, PyObject *v) {
  const void *type = Py_TYPE(v);
  if (PyObject_Hash(v) == -1) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) refuse_constant(c, v);
    return -1;
  }
  if (!c->others) c->others = PyList_New(0);
  if (!c->others || PyList_Append(c->others, v)) return -1;
  return key_put(c, 'O', &type, sizeof type);
}

static int add_constant_int(Call *c, PyObject *v) {
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(v, &overflow);
  return overflow ? add_constant_object(c, v) : key_put(c, 'I', &value, sizeof value);
}

static int add_constant_text(Call *c, PyObject *v) {
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(v, &size);
  if (!text) return -1;
  if (key_put(c, 'S', &size, sizeof size)) return -1;
  return key_put(c, '"', text, (size_t)size);
}

static int add_constant_tuple(Call *c, PyObject *v) {
  Py_ssize_t n = PyTuple_Size(v);
  if (key_put(c, 'T', &n, sizeof n) || Py_EnterRecursiveCall(NESTED)) return -1;
  int code = 0;
  for (Py_ssize_t i = 0; i < n && !code; i++) code = add_constant(c, PyTuple_GetItem(v, i));
  Py_LeaveRecursiveCall();
  return code;
}

static bool is_constexpr(const State *s, PyObject *v) {
  return s->constexpr_ && (PyObject *)Py_TYPE(v) == s->constexpr_;
}

static int add_constant(Call *c, PyObject *v) {
  if (v == Py_None) return key_put(c, 'n', NULL, 0);
  if (PyBool_Check(v)) return key_put(c, v == Py_True ? 't' : 'f', NULL, 0);
  if (PyLong_CheckExact(v)) return add_constant_int(c, v);
  if (PyUnicode_CheckExact(v)) return add_constant_text(c, v);
  if (PyTuple_CheckExact(v)) return add_constant_tuple(c, v);
  if (PyFloat_CheckExact(v)) {
    double value = PyFloat_AsDouble(v);
    return key_put(c, 'F', &value, sizeof value);
  }
  if (is_constexpr(c->state, v)) {
    PyObject *value = PyObject_GetAttr(v, c->state->s_value);
    int code = value && !Py_EnterRecursiveCall(NESTED) ? 0 : -1;
    if (!code) {
      code = add_constant(c, value);
      Py_LeaveRecursiveCall();
    }
    Py_XDECREF(value);
    return code;
  }
  return add_constant_object(c, v);
}

/* ---- numbers ---- */

static int add_int(Call *c, const Param *p, PyObject *v) {
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(v, &overflow);
  if (value == -1 && PyErr_Occurred()) return -1;
  Leaf leaf = {.kind = LEAF_INT, .type = p->declared};
  leaf.bits = (uint64_t)value;
  if (overflow) {
    leaf.bits = PyLong_AsUnsignedLongLong(v);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      PyErr_Format(PyExc_OverflowError, "argument `%U` is %S, which no integer of 64 bits can hold",
                   p->name, v);
      return -1;
    }
  }
  if (!leaf.type) leaf.type = overflow ? "u64" : value == (int32_t)value ? "i32" : "i64";
  if (!(p->flags & PARAM_GENERIC)) {
    leaf.one = leaf.bits == 1;
    leaf.aligned = leaf.bits % 16 == 0 && !(p->flags & PARAM_UNALIGNED);
  }
  return add_leaf(c, &leaf);
}

/* Rounded as Python's struct module does. */
static int pack_half(double value, uint64_t *bits) {
  PyObject *module = PyImport_ImportModule("struct");
  PyObject *bytes = module ? PyObject_CallMethod(module, "pack", "sd", "<e", value) : NULL;
  const char *data = bytes ? PyBytes_AsString(bytes) : NULL;
  uint16_t half = 0;
  if (data) memcpy(&half, data, sizeof half);
  *bits = half;
  Py_XDECREF(bytes);
  Py_XDECREF(module);
  return data ? 0 : -1;
}

/* To nearest, ties to even. */
static uint64_t pack_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value) return 0x7fc0;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static int add_float(Call *c, const Param *p, double value) {
  Leaf leaf = {.kind = LEAF_FLOAT, .type = p->declared ? p->declared : "fp32"};
  float single = (float)value;
  if (!strcmp(leaf.type, "fp64")) memcpy(&leaf.bits, &value, sizeof value);
  else if (!strcmp(leaf.type, "bf16")) leaf.bits = pack_bf16(single);
  else if (strcmp(leaf.type, "fp16")) memcpy(&leaf.bits, &single, sizeof single);
  else if (pack_half(value, &leaf.bits)) return -1;
  return add_leaf(c, &leaf);
}

static int add_bool(Call *c, const Param *p, PyObject *v) {
  Leaf leaf = {.kind = LEAF_INT, .type = p->declared ? p->declared : "i1"};
  leaf.bits = v == Py_True;
  return add_leaf(c, &leaf);
}

static bool declared_float(const Param *p) {
  return p->declared && (p->declared[0] == 'f' || p->declared[0] == 'b');
}

/* ---- tensors ---- */

/* On a GPU a tensor in the host's memory is fine if it is pinned, which a later look finds out. */
static int take_device(Call *c, const Param *p, const Tensor *t) {
  nereid_dl_device d = t->device;
  if (d.device_type == DL_CUDA_HOST) return 0;
  if (d.device_type == DL_CUDA_MANAGED) d.device_type = DL_CUDA;
  if (d.device_type != DL_CPU && d.device_type != DL_CUDA) {
    PyErr_Format(PyExc_ValueError,
                 "tensor `%U` is on a device of DLPack's type %d, which is neither a CPU nor an "
                 "NVIDIA GPU",
                 p->name, (int)d.device_type);
    return -1;
  }
  if (!c->device.device_type || (c->device.device_type == DL_CPU && d.device_type == DL_CUDA)) {
    c->mixed |= c->device.device_type != 0;
    c->device = d;
    c->device_of = p->name;
    return 0;
  }
  if (d.device_type == c->device.device_type &&
      (d.device_id == c->device.device_id || d.device_type == DL_CPU))
    return 0;
  if (d.device_type == DL_CPU) {
    c->mixed = true;
    return 0;
  }
  PyErr_Format(PyExc_ValueError,
               "tensor `%U` is on cuda:%d, but `%U` is on cuda:%d: all tensors of a launch must be "
               "on one device",
               p->name, (int)d.device_id, c->device_of, (int)c->device.device_id);
  return -1;
}

static int add_tensor(Call *c, const Param *p, const Tensor *t) {
  if (take_device(c, p, t)) return -1;
  Leaf leaf = {
      .kind = LEAF_POINTER, .bits = t->address, .extent = t->extent, .type = dtype_text(t->dtype)};
  if (!leaf.type) {
    PyErr_Format(PyExc_TypeError,
                 "the elements of tensor `%U` have a type that kernels don't have (DLPack's code "
                 "%d of %d bits); pass a view of another type, of complex numbers "
                 "torch.view_as_real()",
                 p->name, t->dtype.code, t->dtype.bits);
    return -1;
  }
  leaf.read_only = t->read_only;
  leaf.aligned = t->address % 16 == 0 && !(p->flags & (PARAM_GENERIC | PARAM_UNALIGNED));
  return add_leaf(c, &leaf);
}

/* ---- run-time arguments ---- */

static int add_argument(Call *c, const Param *p, PyObject *v);

/* A tuple whose items have names: of a NamedTuple class, unlike torch.Size. */
static bool is_named(PyObject *v) {
  return !PyTuple_CheckExact(v) && PyObject_HasAttrString(v, "_fields");
}

static int add_tuple(Call *c, const Param *p, PyObject *v) {
  Py_ssize_t n = PyTuple_Size(v);
  if (key_put(c, 'T', &n, sizeof n)) return -1;
  if (is_named(v) && add_constant_object(c, (PyObject *)Py_TYPE(v))) return -1;
  Param item = *p;
  item.declared = NULL;
  if (Py_EnterRecursiveCall(NESTED)) return -1;
  int code = 0;
  for (Py_ssize_t i = 0; i < n && !code; i++) code = add_argument(c, &item, PyTuple_GetItem(v, i));
  Py_LeaveRecursiveCall();
  return code;
}

/* The i32 extents and the i64 strides of a tensor descriptor. */
static int add_extents(Call *c, const Param *p, PyObject *list, const char *type) {
  Param item = {.name = p->name, .declared = type, .flags = PARAM_GENERIC};
  Py_ssize_t n = list ? PySequence_Size(list) : -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *v = PySequence_GetItem(list, i);
    int code = v ? add_int(c, &item, v) : -1;
    Py_XDECREF(v);
    if (code) return -1;
  }
  return n < 0 ? -1 : 0;
}

static int add_descriptor(Call *c, const Param *p, PyObject *v) {
  const State *s = c->state;
  /* None is asked for after a failure. */
  PyObject *base = PyObject_GetAttr(v, s->s_base);
  PyObject *shape = base ? PyObject_GetAttr(v, s->s_shape) : NULL;
  PyObject *strides = shape ? PyObject_GetAttr(v, s->s_strides) : NULL;
  PyObject *block = strides ? PyObject_GetAttr(v, s->s_block_shape) : NULL;
  PyObject *padding = block ? PyObject_GetAttr(v, s->s_padding) : NULL;
  bool is_list = padding && (PyTuple_Check(block) || PyList_Check(block));
  if (padding && !is_list)
    PyErr_Format(PyExc_TypeError, "the block_shape of descriptor `%U` is no list", p->name);
  PyObject *sizes = is_list ? PySequence_Tuple(block) : NULL;
  int code = sizes && !key_put(c, 'D', NULL, 0) && !add_constant(c, sizes) &&
                     !add_constant(c, padding) && !add_argument(c, p, base) &&
                     !add_extents(c, p, shape, "i32") && !add_extents(c, p, strides, "i64")
                 ? 0
                 : -1;
  Py_XDECREF(sizes);
  Py_XDECREF(padding);
  Py_XDECREF(block);
  Py_XDECREF(strides);
  Py_XDECREF(shape);
  Py_XDECREF(base);
  return code;
}

/* Is `v` of a class that is called bool or bool_, as NumPy's is? */
static bool is_foreign_bool(PyObject *v) {
  PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(v), "__name__");
  const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  bool yes = text && (!strcmp(text, "bool_") || !strcmp(text, "bool"));
  Py_XDECREF(name);
  PyErr_Clear();
  return yes;
}

/* A number of another library, such as numpy.int64: 1 if it was added, 0 if it is none. */
static int add_foreign_number(Call *c, const Param *p, PyObject *v) {
  PyObject *number = NULL;
  if (is_foreign_bool(v)) {
    int truth = PyObject_IsTrue(v);
    return truth < 0 || add_bool(c, p, truth ? Py_True : Py_False) ? -1 : 1;
  }
  if (PyIndex_Check(v) && !PyObject_HasAttrString(v, "data_ptr")) number = PyNumber_Index(v);
  else if (PyObject_HasAttrString(v, "__float__") && !PyObject_HasAttrString(v, "__len__"))
    number = PyNumber_Float(v);
  if (!number) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    return 0;
  }
  int code = PyFloat_Check(number) || declared_float(p) ? add_float(c, p, PyFloat_AsDouble(number))
                                                        : add_int(c, p, number);
  Py_DECREF(number);
  return code ? code : 1;
}

static int add_other(Call *c, const Param *p, PyObject *v) {
  Tensor t;
  int found = read_tensor(c->state, v, &t);
  if (found) return found < 0 ? -1 : add_tensor(c, p, &t);
  found = add_foreign_number(c, p, v);
  /* A function, a dtype, a text: a constant, as if its parameter were annotated so. */
  return found ? (found < 0 ? -1 : 0) : key_put(c, 'C', NULL, 0) || add_constant(c, v) ? -1 : 0;
}

/* Is it of a type whose values were tensors before?  Then no other kind needs to be asked for. */
static bool is_known_tensor(const State *s, PyObject *v) {
  return Py_TYPE(v) == s->tensors[0].type || Py_TYPE(v) == s->tensors[1].type;
}

static int add_argument(Call *c, const Param *p, PyObject *v) {
  if (is_known_tensor(c->state, v)) return add_other(c, p, v);
  if (PyLong_CheckExact(v) && !declared_float(p)) return add_int(c, p, v);
  if (PyFloat_Check(v) || (PyLong_CheckExact(v) && declared_float(p))) {
    double value = PyFloat_AsDouble(v);
    return value == -1 && PyErr_Occurred() ? -1 : add_float(c, p, value);
  }
  if (PyBool_Check(v)) return add_bool(c, p, v);
  if (v == Py_None) return add_leaf(c, &(Leaf){.kind = LEAF_NONE, .type = "none"});
  if (PyTuple_Check(v)) return add_tuple(c, p, v);
  if (c->state->descriptor && (PyObject *)Py_TYPE(v) == c->state->descriptor)
    return add_descriptor(c, p, v);
  if (PyUnicode_Check(v) || is_constexpr(c->state, v))
    return key_put(c, 'C', NULL, 0) || add_constant(c, v) ? -1 : 0;
  return add_other(c, p, v);
}

/* ---- the whole call ---- */

/* A launch on a GPU requires that each tensor of the host is pinned. */
static int check_pinned(const Call *c) {
  for (int i = 0; i < c->nparams; i++) {
    Tensor t;
    PyObject *v = c->bound[i];
    if (c->params[i].flags & PARAM_CONSTEXPR || !PyObject_HasAttrString(v, "is_pinned")) continue;
    if (read_tensor(c->state, v, &t) < 0) return -1;
    if (t.device.device_type != DL_CPU) continue;
    PyObject *pinned = PyObject_CallMethod(v, "is_pinned", NULL);
    int yes = pinned ? PyObject_IsTrue(pinned) : -1;
    Py_XDECREF(pinned);
    if (yes < 0) return -1;
    if (yes) continue;
    PyErr_Format(PyExc_ValueError,
                 "tensor `%U` is in the host's memory, but `%U` is on cuda:%d: move it there, or "
                 "pin it",
                 c->params[i].name, c->device_of, (int)c->device.device_id);
    return -1;
  }
  return 0;
}

/* A dict, such as extern_libs, counts as its items. */
static int add_option(Call *c, PyObject *value) {
  if (!PyDict_Check(value)) return add_constant(c, value);
  PyObject *items = PyDict_Items(value), *tuple = items ? PyList_AsTuple(items) : NULL;
  int code = tuple ? add_constant(c, tuple) : -1;
  Py_XDECREF(tuple);
  Py_XDECREF(items);
  return code;
}

static int add_options(Call *c) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (c->options && PyDict_Next(c->options, &at, &name, &value))
    if (key_put(c, 'K', NULL, 0) || add_constant(c, name) || add_option(c, value)) return -1;
  return 0;
}

int call_read(Call *c) {
  for (int i = 0; i < c->nparams; i++) {
    const Param *p = &c->params[i];
    c->reading = p->name;
    int code =
        p->flags & PARAM_CONSTEXPR ? add_constant(c, c->bound[i]) : add_argument(c, p, c->bound[i]);
    if (code) return -1;
  }
  c->reading = NULL;
  if (add_options(c) || (c->mixed && check_pinned(c))) return -1;
  if (c->state->debug && key_put(c, '!', NULL, 0)) return -1;
  return key_put(c, '@', &c->device, sizeof c->device);
}

PyObject *call_key(const Call *c) {
  PyObject *bytes = PyBytes_FromStringAndSize((const char *)c->key, (Py_ssize_t)c->key_size);
  if (!bytes || !c->others) return bytes;
  PyObject *others = PyList_AsTuple(c->others);
  PyObject *key = others ? PyTuple_Pack(2, bytes, others) : NULL;
  Py_XDECREF(others);
  Py_DECREF(bytes);
  return key;
}

/* ---- descriptions, for who compiles ---- */

typedef struct {
  const Call *call;
  PyObject *list;
  int next; /* leaf */
} Describing;

static int refuse_change(void) {
  PyErr_SetString(PyExc_RuntimeError, "an argument has changed while the call was made");
  return -1;
}

static int describe_leaf(Describing *d, PyObject *name, const char *before, const char *after) {
  if (d->next >= d->call->nleaves) return refuse_change();
  const Leaf *l = &d->call->leaves[d->next++];
  const char *hint = l->kind == LEAF_NONE ? "" : l->one ? ":1" : l->aligned ? ":16" : "";
  const char *star = l->kind == LEAF_POINTER && !*before ? "*" : "";
  PyObject *item = Py_BuildValue(
      "(ONO)", name,
      PyUnicode_FromFormat("%s%s%s%s%s", before, star, l->type, after, *before ? "" : hint),
      Py_None);
  int code = item ? PyList_Append(d->list, item) : -1;
  Py_XDECREF(item);
  return code;
}

static int describe_constant(Describing *d, PyObject *name, const char *type, PyObject *v) {
  PyObject *item = Py_BuildValue("(OzO)", name, type, v);
  int code = item ? PyList_Append(d->list, item) : -1;
  Py_XDECREF(item);
  return code;
}

static int describe(Describing *d, PyObject *name, PyObject *v);

static int describe_item(Describing *d, PyObject *name, const char *list, Py_ssize_t i,
                         PyObject *v) {
  PyObject *path = PyUnicode_FromFormat("%U%s.%zd", name, list, i);
  int code = !path ? -1 : v ? describe(d, path, v) : describe_leaf(d, path, "", "");
  Py_XDECREF(path);
  return code;
}

/* A tuple without items is described by itself, one of a class of its own by the class, too. */
static int describe_tuple(Describing *d, PyObject *name, PyObject *v) {
  Py_ssize_t n = PyTuple_Size(v);
  bool plain = !is_named(v);
  if (!plain && describe_constant(d, name, "class", (PyObject *)Py_TYPE(v))) return -1;
  if (plain && n == 0 && describe_constant(d, name, NULL, v)) return -1;
  if (Py_EnterRecursiveCall(NESTED)) return -1;
  int code = 0;
  for (Py_ssize_t i = 0; i < n && !code; i++)
    code = describe_item(d, name, "", i, PyTuple_GetItem(v, i));
  Py_LeaveRecursiveCall();
  return code;
}

/* "tensordesc<bf16[64, 64],padding=nan>" */
static int describe_descriptor(Describing *d, PyObject *name, PyObject *v) {
  const State *s = d->call->state;
  PyObject *block = PyObject_GetAttr(v, s->s_block_shape);
  PyObject *sizes = block ? PySequence_List(block) : NULL;
  PyObject *padding = sizes ? PyObject_GetAttr(v, s->s_padding) : NULL;
  PyObject *after =
      sizes && padding ? PyUnicode_FromFormat("%S,padding=%S>", sizes, padding) : NULL;
  const char *text = after ? PyUnicode_AsUTF8AndSize(after, NULL) : NULL;
  int code = text ? describe_leaf(d, name, "tensordesc<", text) : -1;
  Py_ssize_t n = code ? 0 : PyList_Size(sizes);
  for (int list = 0; list < 2; list++)
    for (Py_ssize_t i = 0; i < n && !code; i++)
      code = describe_item(d, name, list ? ".strides" : ".shape", i, NULL);
  Py_XDECREF(after);
  Py_XDECREF(padding);
  Py_XDECREF(sizes);
  Py_XDECREF(block);
  return code;
}

/* Goes the way of add_argument(), which has made the leaves. */
static int describe(Describing *d, PyObject *name, PyObject *v) {
  if (v != Py_None && PyTuple_Check(v)) return describe_tuple(d, name, v);
  const State *s = d->call->state;
  if (s->descriptor && (PyObject *)Py_TYPE(v) == s->descriptor)
    return describe_descriptor(d, name, v);
  bool number = PyLong_Check(v) || PyFloat_Check(v) || v == Py_None;
  if (!number && (PyUnicode_Check(v) || is_constexpr(s, v)))
    return describe_constant(d, name, NULL, v);
  if (!number) {
    Tensor t;
    int found = read_tensor(d->call->state, v, &t);
    if (found < 0) return -1;
    bool foreign = PyIndex_Check(v) || (PyObject_HasAttrString(v, "__float__") &&
                                        !PyObject_HasAttrString(v, "__len__"));
    if (!found && !foreign) return describe_constant(d, name, NULL, v);
  }
  return describe_leaf(d, name, "", "");
}

PyObject *call_describe(const Call *c) {
  Describing d = {.call = c, .list = PyList_New(0)};
  for (int i = 0; d.list && i < c->nparams; i++) {
    const Param *p = &c->params[i];
    int code = p->flags & PARAM_CONSTEXPR ? describe_constant(&d, p->name, NULL, c->bound[i])
                                          : describe(&d, p->name, c->bound[i]);
    if (code) Py_CLEAR(d.list);
  }
  if (d.list && d.next != c->nleaves) {
    refuse_change();
    Py_CLEAR(d.list);
  }
  return d.list;
}

PyObject *call_bound(const Call *c) {
  PyObject *all = PyDict_New();
  for (int i = 0; all && i < c->nparams; i++)
    if (PyDict_SetItem(all, c->params[i].name, c->bound[i])) Py_CLEAR(all);
  return all;
}
