/* Execution plans: the steps that run for a graph, in order.
 *
 * planner/plan owns plans: their text, sizes, tiles and memory.  It takes kernels and the buffers
 * of a graph from planner/compile, and gives a plan, which model/execute runs and model/aot writes
 * as C.
 *
 * A plan has the kernels' source (one file in the kernel language), buffers, and steps; sizes are
 * expressions of the graph's symbols, which the inputs' shapes give when it runs.  It prints, and
 * what it printed reads back (planner/plan/plan_text.c).
 *
 * The first steps may be its *constant part*: they depend on weights alone, run once before the
 * first run, and leave what later steps read in constants. */
#ifndef NEREID_PLANNER_PLAN_PLAN_H
#define NEREID_PLANNER_PLAN_PLAN_H

#include "graph/ir/graph.h"
#include "runtime/library/library.h"
#include "runtime/nereid.h"

typedef enum {
  BUFFER_INPUT,    /* what the caller passes */
  BUFFER_WEIGHT,   /* parameters, buffers and constants of the file */
  BUFFER_CONSTANT, /* computed from weights alone, once; lives as long as the executable */
  BUFFER_OUTPUT,   /* what the caller gets */
  BUFFER_TEMPORARY, /* lives between two steps, in the pool at `offset` */
  BUFFER_RECORDS    /* what a step's checks of indices found; the host reads it after a run */
} BufferKind;

/* Numbers of a record: PLAN_NO_RECORD as long as all indices were in range.  Both begin with the
 * linear index of the first that was not, and end with 32 bits of the index that is checked, the
 * lower and the upper ones. */
enum { PLAN_RECORD = 2 };
#define PLAN_NO_RECORD INT64_MAX

/* A check of indices: those of `index`, in the node `node`, are to be least ... size - 1; or of
 * truth values, each of which stands for the text `fault` and is to be 0. */
typedef struct {
  Name node, index;
  uint32_t rank;
  const Dim *shape; /* of the indices */
  Dim least, size;
  Name fault; /* NULL: of indices */
} PlanCheck;

typedef struct {
  BufferKind kind;
  Name name; /* the node's */
  DType dtype;
  uint32_t rank;
  const Dim *shape;        /* row-major, without gaps */
  bool is_complex;         /* INPUT, OUTPUT: complex to the caller; the last axis has the parts */
  Name tensor;             /* WEIGHT, INPUT: its name in the file; NULL: that of an input */
  uint32_t number;         /* INPUT, OUTPUT: which of the caller's */
  const InputValue *fixed; /* INPUT: the plan is for this value alone; NULL: for all */
  bool overwritten;        /* INPUT: a value is written over it, which no caller looks at */
  Dim value;               /* INPUT: a number in Python, a size: what it is.  NULL: a tensor */
  Dim number_of;           /* OUTPUT: a number in Python: its value, also in the buffer */
  Dim offset;              /* TEMPORARY: bytes from the pool's start; NULL: found when it runs */
  uint32_t first, last;    /* TEMPORARY: the steps that write it first and read it last */
  const PlanCheck *checks; /* RECORDS: in their order */
  uint32_t nchecks;
} PlanBuffer;

/* The name by which a caller passes an input. */
static inline Name plan_passed_name(const PlanBuffer *b) {
  return b->kind != BUFFER_WEIGHT && b->tensor ? b->tensor : b->name;
}
/* The axes that the caller sees. */
static inline uint32_t plan_rank(const PlanBuffer *b) { return b->rank - b->is_complex; }
/* The number of sizes that an input decides, and each of them: a number decides one. */
static inline uint32_t plan_axes(const PlanBuffer *b) { return b->value ? 1 : plan_rank(b); }
static inline Dim plan_axis_size(const PlanBuffer *b, uint32_t axis) {
  return b->value ? b->value : b->shape[axis];
}

typedef enum { STEP_BUFFER, STEP_INT, STEP_FLOAT } StepArgKind;

typedef struct {
  Name name; /* the kernel's parameter */
  StepArgKind kind;
  bool steady; /* the step's kernel loads the buffer before the step before it has ended */
  uint32_t buffer;
  Dim value;
  double number;
} StepArg;

/* The kernel only reads the buffer: its name is in0_ptr, in1_ptr, ... */
static inline bool plan_arg_is_read(const StepArg *a) {
  return a->name[0] == 'i' && a->name[1] == 'n' && a->name[2] >= '0' && a->name[2] <= '9';
}

typedef struct {
  Name name;
  Dim value;
} StepConstexpr;

/* A step that comes before another and writes what that reads: why they are two kernels. */
typedef struct {
  uint32_t from; /* the step */
  const Node *value;
  const Node *at;  /* the node that stops */
  const char *why; /* NULL: it also needs step `later` */
  uint32_t later;
} StepStop;

/* The least work of a step (planner/compile/step_cost.h), as expressions of symbols. */
typedef struct {
  Dim read, written; /* bytes */
  Dim given;         /* of them, those that any plan moves: inputs, the first time, and results */
  Dim operations;
  DType product;        /* of the operands of a product of matrices; DT_NONE: there is none */
  const Node **inlined; /* computed within it, beside the nodes that it covers */
  uint32_t ninlined;
  StepStop *stops;
  uint32_t nstops;
} StepCost;

/* A way to run a step's kernel. */
typedef struct {
  StepConstexpr *constexprs;
  uint32_t nconstexprs;
  Dim grid[3];
  uint32_t warps, stages;
} StepChoice;

typedef struct {
  Name kernel; /* a function of the plan's source, or of a library */
  const LibraryFunction *library; /* the step is a call of it (planner/plan/call.h), which has
                                            no grid and no choices; NULL: a kernel */
  bool once;   /* of the constant part */
  StepArg *args;
  uint32_t nargs;
  StepConstexpr *constexprs;
  uint32_t nconstexprs;
  Dim grid[3];
  uint32_t warps, stages;
  Node **nodes; /* of the graph, that it covers */
  uint32_t nnodes;
  const StepCost *cost; /* NULL in a plan that was read */
  StepChoice *choices;  /* ways that are worth a trial; none in a plan that was read */
  uint32_t nchoices;
  const char *measured; /* how it was found that this way is the fastest; NULL: it is a guess */
} PlanStep;

/* An update of an input or a weight: after the last step, `from` is copied to `to`. */
typedef struct {
  uint32_t to, from; /* buffers of one type */
} PlanUpdate;

/* A size that data decides: before step `step` runs, the number in a buffer is read, which is at
 * most `most`; until then the symbol's value is `most`. */
typedef struct {
  Dim symbol, most;
  uint32_t buffer; /* i64[] */
  uint32_t step;
} PlanRead;

/* A loop whose data decides how often it runs: steps from `first` on, then the bool in `condition`
 * is read; if it is true the steps from `body` on and the copies, and the loop begins again.
 * Otherwise step `past` is next. */
typedef struct {
  uint32_t first, body, past;
  uint32_t inside;    /* loops that are within it: those that follow in the list */
  uint32_t condition; /* i1[] */
  PlanUpdate *copies; /* next values to the memory of carried ones */
  uint32_t ncopies;
} PlanLoop;

/* The position of a kernel in the source.  The text before the first is common to all of them. */
typedef struct {
  Name kernel;
  size_t begin, end;
  uint32_t line; /* how many come before */
} PlanFunction;

typedef struct {
  Graph *graph;
  Name source;             /* the kernel file */
  PlanFunction *functions; /* in their order; none in a plan that was read */
  uint32_t nfunctions;
  Name fused; /* which nodes share a kernel, as text; NULL in a plan that was read */
  PlanBuffer *buffers;
  uint32_t nbuffers;
  PlanStep *steps;
  uint32_t nsteps;
  uint32_t *outputs; /* buffers, in the order of the graph's user outputs */
  uint32_t noutputs;
  uint32_t *positions; /* of these among what the graph returns; the others are None */
  uint32_t nreturned;  /* with those that are None */
  PlanUpdate *updates;
  uint32_t nupdates;
  PlanRead *reads; /* in the order of their steps */
  uint32_t nreads;
  PlanLoop *loops; /* in the order in which they begin */
  uint32_t nloops;
  Dim pool; /* bytes of all temporaries together; NULL: found when it runs */
} Plan;

/* The type that the caller sees. */
ValueType plan_type(const PlanBuffer *b);
const char *plan_dtype_name(const PlanBuffer *b); /* "f32", "c64" */
const char *plan_relation_name(RelationKind kind); /* the word that begins its line */
nereid_dl_dtype plan_dl_dtype(const PlanBuffer *b);
/* Is that the dtype of the tensor that the caller gives? */
bool plan_takes_dtype(const PlanBuffer *b, nereid_dl_dtype dtype);

void plan_print(Text *out, const Plan *p);

/* The step runs in that way from now on. */
void plan_choose(PlanStep *s, uint32_t choice);

/* The number of steps of the constant part, which come first. */
uint32_t plan_once(const Plan *p);

/* ---- verify_plan.c ---- */

/* The first fault, in `a`; NULL: there is none. */
const char *plan_fault(Arena *a, const Plan *p, bool has_places);

/* ---- plan_text.c ---- */

/* True if the text is a plan: its first word, after comments, is `plan`. */
bool plan_is_text(const char *text, size_t len);
/* Reads a plan from a source of `d`; NULL after errors.  Its graph has the nodes that steps cover,
 * by name and operator, without arguments. */
Plan *plan_read(Arena *a, Pool *names, Diags *d, uint32_t file);

#endif
