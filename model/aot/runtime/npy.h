/* NumPy's array files. */
#ifndef MODEL_NPY_H
#define MODEL_NPY_H

#include "model.h"

/* Reads an array of the dtype and number of axes that `value` has; its data is malloc'ed.  NumPy
 * has no bf16: those come from and go to files of f32.  Returns 0, or prints what is wrong. */
int npy_read(model_tensor *out, const char *path, const model_value *value);
int npy_write(const model_tensor *t, const char *path);

#endif
