/* {{summary}}
 *
 * One thread at a time may use a model; several models are independent.  A function that returns
 * int returns 0 or a negative code, and keeps a message for this thread, model_error(). */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of outputs there are fewer than returned values where the model returns None. */
enum {
  MODEL_INPUTS = {{inputs}},
  MODEL_OUTPUTS = {{outputs}},
  MODEL_PLACES = {{places}},
  MODEL_RANK = {{rank}}
};

enum {
  MODEL_OK = 0,
  MODEL_E_USAGE = -1,  /* arguments do not fit the model */
  MODEL_E_FILE = -2,   /* weights.bin is missing, or not this model's */
  MODEL_E_MEMORY = -3, /* the message says how much is needed */
  MODEL_E_DEVICE = -4, /* no driver, no GPU that fits, or it failed */
  MODEL_E_INDEX = -5,  /* an index in the inputs is out of range */
  MODEL_E_DATA = -6    /* the data is what an operator refuses: a divisor of integers that is 0 */
};

typedef struct model model;

/* The message of this thread's last failure, "" before the first. */
const char *model_error(void);

/* ---- inputs and outputs of the model ---- */

typedef enum {
  MODEL_I1, /* a byte, 0 or 1 */
  MODEL_I8,
  MODEL_I16,
  MODEL_I32,
  MODEL_I64,
  MODEL_U8,
  MODEL_U16,
  MODEL_U32,
  MODEL_U64,
  MODEL_F8E5,
  MODEL_F8E4NV,
  MODEL_F8E4B15,
  MODEL_F16,
  MODEL_BF16,
  MODEL_F32,
  MODEL_F64
} model_dtype;

const char *model_dtype_name(model_dtype t); /* "f32" */
size_t model_dtype_bytes(model_dtype t);

typedef struct {
  const char *name; /* NULL: an input that the model does not use */
  const char *type; /* "f32[s0, 64]": sizes that the model leaves open have names */
  model_dtype dtype;
  int ndim;
  int is_number; /* an integer of Python's: an i64 without axes, in host memory */
  int place;     /* of an output: its position among all that the model returns; None has one,
                    and no output */
} model_value;

/* In the model's order; NULL if there is no such one. */
const model_value *model_input(int i);
const model_value *model_output(int i);

/* ---- models ---- */

/* Zeros are the defaults. */
typedef struct {
  const char *weights; /* the path of weights.bin; NULL: beside the program that runs */
  int skip_checksum;   /* of weights.bin; its size and its head are looked at in any case */
  int device;          /* which GPU */
  int threads;         /* of a CPU: 0 for all its cores */
  int graphs;          /* of a GPU: 1: runs whose tensors stay where they are become a CUDA graph,
                          which starts faster; -1: they do not; 0: as the model was built */
} model_options;

/* Loads the weights and the kernels.  o may be NULL. */
int model_create(model **out, const model_options *o);
void model_destroy(model *m); /* also of NULL */

/* Elements are in row-major order, without gaps. */
typedef struct {
  void *data;
  model_dtype dtype;
  int ndim;
  int64_t shape[MODEL_RANK];
  int on_device; /* data is in the GPU's memory, not in the host's */
} model_tensor;

/* The outputs' dtypes and shapes for inputs of these shapes (no data is looked at); their data
 * becomes NULL. */
int model_describe(model *m, const model_tensor *inputs, model_tensor *outputs);

/* Runs the model on MODEL_INPUTS inputs, with MODEL_OUTPUTS outputs.
 *
 * An output with data is written there; it must have the dtype and shape that model_describe()
 * says, and overlap neither inputs nor other outputs.  One without is filled in, and is in memory
 * of the model, on its device, until the next run.  The model's writes to an input go to the
 * caller's tensor.  Buffers of the model that it updates (a cache, running means) keep their values
 * for the next run.
 *
 * Of a GPU, `stream` is a CUstream of the device's primary context, NULL for the default one.  The
 * call is complete on return if something is copied to the host, else when the stream is
 * synchronized.  On a CPU it is always complete, and `stream` is not looked at.
 *
 * An index that is out of range (of an embedding, a gather, a cache's position) touches no memory
 * of others.  The run that is complete on return fails with MODEL_E_INDEX, else model_sync() does,
 * or the next run; the outputs are worth nothing then, and buffers that the run updated may have
 * changed.  Other data that the model refuses fails likewise, with MODEL_E_DATA. */
int model_run(model *m, const model_tensor *inputs, model_tensor *outputs, void *stream);
/* Waits for the stream. */
int model_sync(model *m, void *stream);
/* Gives the buffers that the model updates the values back that they have in the file. */
int model_reset(model *m);

typedef struct {
  const char *target; /* "cpu:8", "sm_90a": of the code that runs */
  int64_t weights;    /* bytes of the file that are in use, of which a GPU has a copy */
  int64_t state;      /* of buffers that are updated */
  int64_t constants;  /* of values that the first run computes from weights for all later ones */
  int64_t pool;       /* of memory for temporaries and copies, as much as runs needed so far */
  int kernels, steps; /* compiled; of a run */
} model_info;

void model_get_info(model_info *out, const model *m);

#ifdef __cplusplus
}
#endif

#endif
