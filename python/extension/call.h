/* The arguments of one call of a kernel: what they are called in a key, and what the kernel gets.
 *
 * A leaf is a run-time argument, or an item of one that is a tuple or a tensor descriptor.  A key
 * has all that a compiled kernel depends on: types, divisibility by 16 and equality to 1 of leaves,
 * constants, options and the device; calls with equal keys run the same code. */
#ifndef NEREID_PYTHON_CALL_H
#define NEREID_PYTHON_CALL_H

#include "python/extension/extension.h"

enum {
  PARAM_CONSTEXPR = 1,   /* annotated tl.constexpr */
  PARAM_GENERIC = 2,     /* do_not_specialize: its value is not looked at */
  PARAM_UNALIGNED = 4,   /* do_not_specialize_on_alignment */
  PARAM_HAS_DEFAULT = 8
};

typedef struct {
  PyObject *name; /* interned */
  PyObject *value; /* the default; NULL: none */
  const char *declared; /* "i64": the type that an annotation gives; NULL: that of the value */
  unsigned char flags;
} Param;

typedef enum { LEAF_POINTER, LEAF_INT, LEAF_FLOAT, LEAF_NONE } LeafKind;

typedef struct {
  uint64_t bits; /* as nereid_kernel_run() takes it */
  nereid_extent extent;
  const char *type; /* of a pointer its elements': "fp32"; else "i32" */
  LeafKind kind;
  bool one, aligned; /* known to be 1; divisible by 16 */
  bool read_only; /* of a pointer: the memory must not be written */
} Leaf;

typedef struct {
  State *state;
  const Param *params;
  int nparams;
  PyObject **bound; /* the argument of each parameter */
  PyObject *reading; /* the name of the parameter whose argument is read; NULL: none */
  PyObject *options; /* a dict of keyword arguments that are no parameters; NULL: none */
  Leaf *leaves;
  int nleaves, leaves_capacity;
  unsigned char *key;
  size_t key_size, key_capacity;
  PyObject *others; /* a list: constants that are in the key as objects; NULL: none */
  nereid_dl_device device; /* of the tensors; device_type 0: there are none yet */
  PyObject *device_of; /* the name of the parameter that `device` is from */
  bool mixed; /* tensors of a CPU beside those of a GPU */
  Leaf few_leaves[32];
  unsigned char short_key[512];
  PyObject *few_bound[32];
} Call;

/* Arguments of a call as Python's vectorcall protocol has them: `n` values by position, then one
 * for each name of the tuple `names` (NULL: none).  A tuple `args` and a dict `kwargs`, or NULL,
 * may replace `values`. */
typedef struct {
  PyObject *const *values;
  Py_ssize_t n;
  PyObject *names;
  PyObject *args, *kwargs;
} Given;

/* Each gives 0, or -1 with an exception.  call_close() is due in either case. */
int call_bind(Call *c, State *s, const Param *params, int nparams, PyObject *index,
              PyObject *function, const Given *given);
int call_read(Call *c);
void call_close(Call *c);

/* The key as an object that can be looked up in a dict. */
PyObject *call_key(const Call *c);
/* [(name, type or None, constant)] for each leaf, whose constant is None, and for each constant; a
 * tuple of a class of its own has (name, "class", class) before its items.  The leaves come in the
 * order of c->leaves. */
PyObject *call_describe(const Call *c);
/* {name: argument} of all parameters, as functions for grids and hooks get it. */
PyObject *call_bound(const Call *c);

#endif
