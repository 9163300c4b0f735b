/* The implementation of nereid_graph.h.
 *
 * model/api owns models between the calls of a user: it takes files and options, and gives models
 * that run (model/execute), C projects (model/aot) and texts. */
#ifndef NEREID_MODEL_API_API_H
#define NEREID_MODEL_API_API_H

#include "model/api/model_api.h"
#include "model/execute/execute.h"
#include "model/execute/library_records.h"
#include "model/execute/tune_plan.h"
#include "planner/compile/compile_plan.h"
#include "runtime/device/peaks.h"
#include "runtime/store/cache.h"

struct nereid_graph {
  nereid_graph_source source; /* its strings are copies */
  Model *model; /* as read; NULL: taken by who changed it, to be read again when it is needed */
};

/* A file that is mapped. */
typedef struct {
  void *data;
  size_t size;
} ApiMapping;

/* Plans for the sizes of single runs (api_sizes.c), and one of them. */
typedef struct SizedPlans SizedPlans;
typedef struct SizedPlan SizedPlan;

struct nereid_executable {
  Model *model;
  nereid_device *device;
  Executable *e;
  Execution *main; /* of e */
  const char *mode;
  ReplayUse replay;
  nereid_graph_value *inputs, *outputs;
  int noutputs;
  bool tunes; /* before kernels are compiled */
  TuneProgress progress;
  VEC(ApiMapping) mappings; /* files of weights, of an executable that was bytes */
  char *stored; /* what the cache had of it, malloc'ed; NULL: it was compiled */
  SizedPlans *sized; /* where the plan does not hold for a run; NULL: there are none */
};

/* Is there no plan for open sizes?  `e` then has a plan that returns the inputs, for their
 * descriptions. */
static inline bool api_is_sized(const nereid_executable *e) { return e->model->refused != NULL; }

/* The order is that of NEREID_GRAPH_LIBRARIES. */
typedef enum { LIBRARIES_BY_RECORDS, LIBRARIES_ALWAYS, LIBRARIES_NONE } LibraryUse;

typedef struct {
  CompileOptions compile;
  LibraryUse use;
  LibraryChooser chooser; /* compile.libraries points here where there is one */
  bool measures;          /* mode max-autotune */
  ExecuteOptions execute;
  DevicePeaks gpu; /* that it is for; compile.gpu points here where it is known */
} ModeOptions;

/* `gpu`: what is compiled for. */
int api_options(ModeOptions *out, const nereid_graph_options *o, bool gpu);
/* The model as the options want it, to be changed further and freed by the caller. */
int api_take_model(Model **out, nereid_graph *g, const nereid_graph_options *o);
/* Applies the options to a model that was read. */
int api_fit_model(Model *m, const nereid_graph_options *o);
/* Reads the source of g, or where sizes and values decide too much, its inputs alone. */
int api_read(Model **out, const nereid_graph *g);
/* The message of a model of which there are the inputs alone; 0: there is all of it. */
int api_check_whole(const Model *m);

/* Measures the products whose times with libraries records do not know.  What fails is a note. */
void api_measure_libraries(nereid_executable *e, nereid_graph *g, const nereid_graph_options *o,
                           const ModeOptions *mode, LibraryRecords *records);
/* Chooses the fastest tiles, once, if the mode asks for it. */
int api_tune(nereid_executable *e);
/* Fills in the description that the API gives of the executable. */
int api_describe(nereid_executable *e);
void api_unmap(nereid_executable *e);

/* "input 3": there are n. */
int api_no_such(const char *what, int i, uint32_t n);
/* The outputs of x, an execution of e, after it was checked or prepared. */
int api_describe_outputs(const nereid_executable *e, const Execution *x, nereid_tensor *outputs,
                         int noutputs);
nereid_executable_info api_info(const Execution *x);
/* Does another plan take inputs that x, an execution of e, failed to take?  An executable without a
 * plan for open sizes has only looked at them. */
bool api_needs_sized(const nereid_executable *e, const Execution *x, int code);

/* Does the plan of the first run's sizes take these inputs?  It is made if they are the first. */
bool api_fixes_sizes(const nereid_executable *e, Execution *x, const nereid_tensor *inputs,
                     int ninputs);

/* Makes e->sized, for a model that is still as it was read but for its options.  `fixes`: the sizes
 * of the first run have a plan as long as no run has others. */
int sized_new(nereid_executable *e, const nereid_graph_options *o, bool fixes);
void sized_free(SizedPlans *s);
/* nereid_executable_set_static for all present and later plans. */
void sized_set_static(SizedPlans *s, int i);
nereid_executable *sized_executable(const SizedPlan *p);
/* The facts of the plan that was used last; false: there is none. */
bool sized_info(SizedPlans *s, nereid_executable_info *out);
/* Uses a plan as a run would; values that are computed first are among its inputs.  *refused: it is
 * not for these inputs (execution_refused). */
typedef int SizedUse(SizedPlan *p, const nereid_tensor *inputs, int n, void *context,
                     bool *refused);
/* Calls `use` with the plan for these inputs, which is made if there is none. */
int sized_use(SizedPlans *s, const nereid_tensor *inputs, int n, SizedUse *use, void *context);
/* The sizes of these inputs and those of the first run: those have no plan of their own (any more);
 * there was no run; they are the same; they are others. */
typedef enum { SIZES_OPEN, SIZES_NEW, SIZES_SAME, SIZES_OTHER } FirstSizes;
FirstSizes sized_compare(SizedPlans *s, const nereid_tensor *inputs, int n);
/* Frees the plan of the first run's sizes: there are others. */
void sized_open(SizedPlans *s);
/* Makes the plan of the first run's sizes; false: there can be none, or runs differ in sizes. */
bool sized_make_first(SizedPlans *s, const nereid_tensor *inputs, int n);
/* A plan that is held is not freed. */
void sized_hold(SizedPlans *s, SizedPlan *p, bool held);

/* nereid_executable_bytes() with the code of kernels as the cache has it, before the driver or the
 * C compiler.  NULL in *out: the cache lacks one of them. */
int api_bytes_of_stored(char **out, size_t *size, nereid_executable *e);

/* Where the cache has the executable of a graph. */
typedef struct {
  bool known; /* false: more decides it than the key has */
  CacheKey key;
} StoredKey;

StoredKey api_stored_key(const nereid_graph *g, nereid_device *d,
                         const nereid_graph_options *o);
/* The executable that an earlier compile left there; NULL: there is none that can be used. */
nereid_executable *api_stored_find(const StoredKey *k, nereid_device *d);
/* Leaves it there, unless it has weights. */
void api_stored_keep(nereid_executable *e, const StoredKey *k);
/* Might a compile on this machine, by its records and libraries, give another plan? */
bool api_may_choose_otherwise(const nereid_executable *e);

#endif
