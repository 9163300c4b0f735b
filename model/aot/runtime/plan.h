/* The inside of the library.
 *
 * plan.c holds the plan: which buffers there are and which kernels run, as data and as functions of
 * the sizes that inputs have.  kernels*.c hold the kernels, device.c runs them, model.c, shapes.c,
 * run.c and weights.c do all that is the same for every model. */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include <stdbool.h>
#include <string.h>

#include "buffer_offsets.h"
#include "model.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weights and arguments of kernels are little-endian"
#endif

enum { KERNEL_ALIGNMENT = 16 }; /* of arguments of kernels */

/* Keeps the message and returns `code`. */
int model_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the plan: plan.c ---- */

typedef enum {
  WEIGHT,   /* in weights.bin */
  STATE,    /* a weight that is written */
  CONSTANT, /* computed from weights in the first run */
  INPUT,
  OUTPUT,
  TEMPORARY,
  RECORDS /* of checks: kernels write them, the host reads them */
} BufferKind;

typedef struct {
  BufferKind kind;
  const char *name;
  int number;      /* INPUT, OUTPUT: which of the caller's */
  int64_t at;      /* WEIGHT, STATE: in weights.bin; CONSTANT, RECORDS: among these; TEMPORARY of a
                      plan with fixed sizes: in the pool */
  int64_t state;   /* STATE: where its copy is among all of these */
  int64_t bytes;   /* WEIGHT, STATE */
  int first, last; /* TEMPORARY: the steps that write it first and use it last */
  bool written;    /* INPUT: by the model */
} Buffer;

/* A size that the model leaves open. */
typedef struct {
  const char *name;
  int64_t least, most;
  int input, axis; /* which decides it */
} Symbol;

/* A relation that a node relies on: a equals b, is at least b, or differs from it (expressions of
 * symbols). */
typedef enum { EQUAL, AT_LEAST, DIFFER } RelationKind;

typedef struct {
  const char *node, *a, *b;
  RelationKind kind;
} Relation;

/* Indices that a kernel checks, or truth values that say that data is wrong.  Its record is two
 * numbers, NO_RECORD as long as all were in range.  Both begin with the linear index of the first
 * that was not, and end with 32 bits of the index that is checked, the lower and the upper ones. */
typedef struct {
  const char *node, *index;
  int ndim;          /* of the indices */
  const char *fault; /* what is wrong with data; NULL: indices */
} Check;

enum { RECORD = 2, CHECK_RANK = 16 };
#define NO_RECORD INT64_MAX

typedef struct Run Run;

/* After the last step, `from` is copied to `to`. */
typedef struct {
  int to, from;
} Update;

/* Steps from `first` on, then `condition` is read; while it is true, those from `body` on and
 * copies, and again.  `inside` loops that follow in the list are within it. */
typedef struct {
  int first, body, past, inside, condition;
  const Update *copies; /* the last one's `to` is -1 */
} Loop;

typedef struct {
  const Buffer *buffers;
  const Symbol *symbols;
  const Update *updates;
  const Relation *relations;
  int (*const *steps)(Run *r);
  const char *const *kernels; /* their names */
  int nbuffers, nsymbols, nupdates, nrelations, nsteps, nkernels;
  int nonce; /* steps before the others, for the first run alone */
  const model_value *inputs, *outputs;
  const unsigned char *const *fixed; /* the one value that an input may have; NULL: any */
  const int *input_buffers;          /* -1: the model does not use it */
  const int *output_buffers;
  bool replay;              /* graphs, unless the options say otherwise */
  int64_t pool;             /* bytes of all temporaries; -1: sizes decide */
  int64_t state, constants; /* bytes of all of that kind */
  int64_t weights_bytes;
  int64_t weights_kept; /* after it are weights that the first run alone reads */
  uint64_t weights_sum;
  /* The value of `symbol`; those before it are in `size`. */
  int64_t (*bind)(int symbol, const model_tensor *inputs, int64_t *size);
  void (*input_shapes)(const int64_t *size, int64_t (*shape)[MODEL_RANK]);
  void (*output_shapes)(const int64_t *size, int64_t (*shape)[MODEL_RANK]);
  void (*bytes)(const int64_t *size, int64_t *bytes); /* of buffers */
  void (*relation_pair)(int i, const int64_t *size, int64_t *pair);
  const Loop *loops; /* in the order in which they begin */
  int nloops;
  const Check *checks;
  int nchecks;
  /* Of check i the least index, the size of the axis, and the indices' shape. */
  void (*check_sizes)(int i, const int64_t *size, int64_t *out);
} Plan;

extern const Plan model_plan;

/* ---- the device: device.c ---- */

typedef struct Device Device;
typedef enum { COPY_IN, COPY_OUT, COPY_WITHIN } CopyWay;

int model_device_open(Device **out, const model_options *o);
void model_device_close(Device *d);
const char *model_device_target(const Device *d);
/* Is its memory the host's? */
bool model_device_is_host(void);
int model_device_alloc(Device *d, char **out, int64_t bytes, const char *what);
void model_device_free(Device *d, char *p);
/* Memory of the host that kernels write to as well, at the same address. */
int model_device_alloc_shared(Device *d, void **out, int64_t bytes);
void model_device_free_shared(Device *d, void *p);
int model_device_copy(Device *d, void *to, const void *from, int64_t bytes, CopyWay way,
                      void *stream);
int model_device_sync(Device *d, void *stream);
/* Can it record launches, to start them all at once? */
bool model_device_replays(const Device *d);
/* Launches and copies within the device from here on are recorded, and do not start. */
int model_device_record(Device *d);
/* Ends it; `code` is the first failure, which drops the recording. */
int model_device_record_end(Device *d, int code);
/* Starts the last recording. */
int model_device_replay(Device *d, void *stream);

/* A run of a model. */
struct Run {
  const int64_t *size; /* of symbols */
  char *const *data;   /* of buffers */
  Device *device;
  void *stream;
};

/* Starts a kernel; each argument has 8 bytes.  A grid with an axis of 0 does nothing. */
int model_launch(const Run *r, int kernel, const uint64_t *args, int nargs, int64_t x, int64_t y,
                 int64_t z);

/* ---- weights.c ---- */

typedef struct {
  const char *data; /* aligned to MEMORY_ALIGNMENT */
  void *mapped;     /* NULL: they are part of the program */
  size_t size;
} WeightsFile;

int model_weights_open(WeightsFile *w, const model_options *o);
void model_weights_close(WeightsFile *w);

/* ---- models: model.c ---- */

struct model {
  Device *device;
  WeightsFile file;
  char *weights; /* on the device; file.data where that is the host */
  char *first;   /* those of the first run alone; NULL after it */
  char *state, *constants;
  int64_t *records; /* of all checks; NULL: there are none */
  bool settled;     /* constants are computed */
  char *pool;
  int64_t pool_bytes;
  int64_t temporaries; /* bytes of the pool's begin */
  int64_t *size;       /* of symbols */
  int64_t *bytes;      /* of buffers */
  int64_t *offset;     /* of temporaries */
  char **data;         /* of buffers, in this run */
  bool prepared;       /* for `size` */
  bool replays;        /* runs whose tensors stay where they are become a graph */
  bool recorded;       /* such a run, with the addresses of `last_data` */
  char **last_data;    /* `data` of the run before */
};

/* ---- shapes.c ---- */

/* Finds all sizes from the inputs' shapes, which must fit the model. */
int model_prepare(model *m, const model_tensor *inputs);
/* Of a buffer of any kind. */
int64_t model_bytes(const int64_t *bytes, int buffer);
/* Is t of the type that output i has now? */
int model_check_output(const model *m, int i, const model_tensor *t);

/* ---- checks.c ---- */

int model_records_open(model *m);
/* Reports the first index that runs since the last report found out of range; of a GPU, `stream` is
 * waited for where there is one. */
int model_check(model *m, void *stream);

/* ---- functions that plan.c calls ---- */

static inline int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
/* Towards minus infinity; 0 where b is. */
static inline int64_t floor_div(int64_t a, int64_t b) {
  return b ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0;
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return b ? a - floor_div(a, b) * b : 0; }

/* The value of an input that is a number. */
static inline int64_t number_of(const model_tensor *t) {
  int64_t number;
  memcpy(&number, t->data, sizeof number);
  return number;
}

/* The symbol for which axis(size) is `value`, where axis is linear in it; -1 if there is none. */
static inline int64_t solve(int64_t (*axis)(const int64_t *), int64_t *size, int symbol,
                            int64_t value) {
  size[symbol] = 0;
  const int64_t rest = axis(size);
  size[symbol] = 1;
  const int64_t slope = axis(size) - rest;
  return slope ? (value - rest) / slope : -1;
}

#endif
